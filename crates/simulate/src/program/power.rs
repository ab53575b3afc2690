//! What changes the energy, in the variables of a formulation.
//!
//! ```text
//! dE/dt = −L_t − L_z ż + q̇·(Q′ + C) + λᵀA q̇
//! ```
//!
//! A q̇ vanishes with the constraint for rows that are catastatic and affine; what is
//! left of it is −a_t for affine rows.

use crate::setting::Setting;
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::{self, Picture};
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_model::system::Energy;
use rustc_hash::FxHashMap;

/// −L_t + q̇·(Q′ + C), for each row A q̇ where it does not vanish with the
/// constraint itself, and M: all in the variables of the equations. Without a picture of the
/// system nothing is known of them.
pub(crate) fn power_and_mass(
    setting: &Setting,
    picture: Option<&Picture>,
    equations: &EquationsOfMotion,
) -> (ExprId, Vec<ExprId>, Jacobian) {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let n = system.n_coordinates();
    let none = || {
        let rows = vec![ExprId::ZERO; equations.rows.len()];
        (ExprId::ZERO, rows, dalembert_derive::matrix::identity(n))
    };
    let Some(picture) = picture else { return none() };
    let by_time = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => {
            (-exprs.at(system.partial_rate(exprs, *lagrangian))).id
        }
        // p of H_t and of what states change by, where the variables are others.
        Energy::Hamiltonian { hamiltonian, .. } => {
            let momenta = system.momenta();
            let own = match equations.v == momenta {
                true => momenta.iter().map(|&p| exprs.of_symbol(p)).collect(),
                false => picture.momenta.clone(),
            };
            let map: Vec<(Symbol, ExprId)> = momenta.into_iter().zip(own).collect();
            exprs.substitute(&[system.partial_rate(exprs, *hamiltonian)], &map)[0]
        }
    };
    let mut terms = vec![by_time];
    for i in 0..n {
        let force = exprs.at(picture.impressed[i]) + exprs.at(picture.nonideal[i]);
        terms.push((force * exprs.at(exprs.of_symbol(picture.velocities[i]))).id);
    }
    let mut roots = vec![exprs.sum(&terms)];
    let residuals: FxHashMap<usize, usize> =
        picture.rows.velocity_residuals.iter().enumerate().map(|(at, r)| (r.0, at)).collect();
    let psi: Vec<ExprId> = picture.rows.velocity_residuals.iter().map(|r| r.1).collect();
    let at_rest = picture::at_zero(exprs, &psi, &picture.velocities);
    for &row in &equations.rows {
        let constraint = &system.constraints[row];
        roots.push(match residuals.get(&row) {
            // A q̇ = ψ − a_t, and ψ is 0.
            Some(&at) if picture.is_affine(system, row) => (-exprs.at(at_rest[at])).id,
            _ if constraint.catastatic.is_none() || !picture.is_affine(system, row) => {
                let velocities: Vec<ExprId> =
                    picture.velocities.iter().map(|&v| exprs.of_symbol(v)).collect();
                dalembert_derive::matrix::dot(exprs, &picture.rows.jacobian.rows[row], &velocities)
            }
            _ => ExprId::ZERO,
        });
    }
    // In the formulation's own variables.
    let map: Vec<(Symbol, ExprId)> =
        picture.velocities.iter().copied().zip(equations.kinematics.iter().copied()).collect();
    let rows = roots.len();
    roots.extend(picture.metric.rows.iter().flatten().map(|e| e.1));
    let mut roots = exprs.substitute(&roots, &map);
    let mut mass = picture.metric.clone();
    let entries = roots.split_off(rows);
    mass.rows.iter_mut().flatten().zip(entries).for_each(|(place, e)| place.1 = e);
    let power = roots.remove(0);
    (power, roots, mass)
}
