//! Which way is down: where things fall to.
//!
//! `gravity` says it. Elsewhere the energies may: for a place of three coordinates, ∂L/∂r (or −∂H/∂r)
//! is the force of a uniform field where it holds neither coordinates nor velocities.

use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Energy, Model};
use rustc_hash::FxHashSet;

/// A direction in parameters and time; none where the model does not tell.
pub(super) fn down(model: &Model) -> Option<Vec<ExprId>> {
    let (exprs, system) = (&model.exprs, &model.system);
    if let Some(gravity) = &system.gravity {
        return Some(gravity.clone());
    }
    let (energy, sign) = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => (*lagrangian, 1),
        Energy::Hamiltonian { hamiltonian, .. } => (*hamiltonian, -1),
    };
    let constant: FxHashSet<Symbol> =
        system.parameters.iter().map(|p| p.symbol).chain([Symbol::TIME]).collect();
    system.places.iter().filter(|place| place.position.len() == 3).find_map(|place| {
        let r: Vec<Symbol> =
            place.position.iter().map(|&id| exprs.as_symbol(id)).collect::<Option<_>>()?;
        let field: Vec<ExprId> =
            exprs.gradient(energy, &r).into_iter().map(|g| (exprs.at(g) * sign).id).collect();
        let is_uniform = exprs.symbols_of(&field).iter().all(|s| constant.contains(s));
        (is_uniform && field.iter().any(|&f| f != ExprId::ZERO)).then_some(field)
    })
}
