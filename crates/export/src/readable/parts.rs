//! What F is made of:
//!
//! ```text
//! F = velocity terms + potential + dissipation + applied
//! ```
//!
//! Forces on coordinates become forces on v by the transpose of what velocities
//! become by v: Kᵀ of q̈ = K v̇ + κ, Sᵀ for momenta on a chart, nothing for p. The
//! velocity terms are F of the same system without potential and without forces.

use super::{Readable, derived};
use dalembert_derive::{Variables, matrix};
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_model::system::Energy;

/// One part of F.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is, in words.
    pub name: &'static str,
    /// Its components.
    pub values: Vec<ExprId>,
}

impl Readable {
    /// The parts that are not 0, or why they are not told.
    pub fn parts(&self) -> Result<Vec<Part>, String> {
        let exprs = self.exprs();
        let system = &self.model.system;
        let equations = &self.equations;
        let n = system.n_coordinates();
        let (q, velocities) = (system.positions(), system.velocities());
        let mut bare = self.model.share();
        bare.system.forces.clear();
        bare.system.dissipation = ExprId::ZERO;
        let at_rest = |id: ExprId, symbols: &[Symbol]| {
            let zero: Vec<(Symbol, ExprId)> = symbols.iter().map(|&s| (s, ExprId::ZERO)).collect();
            exprs.substitute(&[id], &zero)[0]
        };
        let potential = match &mut bare.system.energy {
            Energy::Lagrangian { potential, rest, lagrangian, momenta, kinetic } => {
                let still = at_rest(*rest, &velocities);
                let found = (exprs.at(*potential) - exprs.at(still)).id;
                *potential = ExprId::ZERO;
                *rest = (exprs.at(*rest) - exprs.at(still)).id;
                *lagrangian = (exprs.at(*kinetic) + exprs.at(*rest)).id;
                *momenta = exprs.gradient(*lagrangian, &velocities);
                found
            }
            Energy::Hamiltonian { .. } if equations.variables != Variables::Momenta => {
                return Err("of a model given by H, parts are told in p only: \
                    `--formulation hamilton`"
                    .to_owned());
            }
            Energy::Hamiltonian { hamiltonian, velocities } => {
                let p = system.momenta();
                let found = at_rest(*hamiltonian, &p);
                *hamiltonian = (exprs.at(*hamiltonian) - exprs.at(found)).id;
                *velocities = exprs.gradient(*hamiltonian, &p);
                found
            }
        };
        let Some(moving) = derived(&bare, equations) else {
            return Err("the formulation does not apply without the forces".to_owned());
        };
        // The same unknowns, under the names they were given before.
        let renamed: Vec<(Symbol, ExprId)> =
            moving.v.iter().zip(&equations.v).map(|(&a, &b)| (a, exprs.of_symbol(b))).collect();
        let moving = moving.on_constraints(exprs);
        let moving = match (&moving.canonical, equations.variables) {
            (Some(canonical), Variables::Momenta) => canonical.force.clone(),
            _ => moving.force.clone(),
        };
        let moving = exprs.substitute(&moving, &renamed);
        let total = |forces: &[dalembert_model::system::Force]| -> Vec<ExprId> {
            let mut sums = vec![ExprId::ZERO; n];
            for (at, value) in forces.iter().flat_map(|f| &f.components) {
                sums[*at] = exprs.sum(&[sums[*at], *value]);
            }
            sums
        };
        let slope = |id: ExprId, symbols: &[Symbol]| -> Vec<ExprId> {
            exprs.gradient(id, symbols).into_iter().map(|e| (-exprs.at(e)).id).collect()
        };
        let damping = slope(system.dissipation, &velocities);
        let applied: Vec<ExprId> = total(&system.forces)
            .into_iter()
            .zip(&damping)
            .map(|(all, &damping)| (exprs.at(all) - exprs.at(damping)).id)
            .collect();
        let on = |list: &[ExprId]| self.on_unknowns(list);
        let parts = [
            ("velocity terms", moving),
            ("potential", on(&slope(potential, &q))),
            ("dissipation", on(&damping)),
            ("applied", on(&applied)),
        ];
        let shown = parts.into_iter().map(|(name, values)| {
            let values = values.into_iter().map(|e| self.readable(e)).collect();
            Part { name, values }
        });
        Ok(shown.filter(|part| part.values.iter().any(|&e| e != ExprId::ZERO)).collect())
    }

    /// Forces on coordinates as forces on v.
    fn on_unknowns(&self, forces: &[ExprId]) -> Vec<ExprId> {
        let exprs = self.exprs();
        let equations = &self.equations;
        let map: Vec<(Symbol, ExprId)> = self
            .model
            .system
            .velocities()
            .into_iter()
            .zip(equations.kinematics.iter().copied())
            .collect();
        let identity = |list: &[ExprId]| exprs.substitute(list, &map);
        let by = |transform: &Jacobian| {
            matrix::times(exprs, &matrix::transposed(transform), &identity(forces))
        };
        match (equations.variables, &equations.chart) {
            (Variables::Momenta, _) => identity(forces),
            (Variables::ReducedMomenta, Some(chart)) => by(&chart.s),
            _ => by(&equations.lift),
        }
    }
}
