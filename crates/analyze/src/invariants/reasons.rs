//! Why the energy and the momenta of ignorable coordinates are, or are not,
//! constant: each condition by itself, with the name of what breaks it.

use super::identity::Identity;
use super::symbolic::OnConstraints;
use dalembert_derive::formulations::{Formulation, lagrange};
use dalembert_derive::matrix;
use dalembert_expr::ExprId;
use dalembert_model::system::{Constraint, Force, Level};
use dalembert_simulate::{Reference, Setting, State, Tolerances, Verdict};
use std::sync::Arc;

/// A coordinate that does not occur in L, and what becomes of its momentum.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignorable {
    /// Its name.
    pub coordinate: String,
    /// Whether its momentum is constant by the conditions of (5.3).
    pub conserved: bool,
    /// Why, in words.
    pub reason: String,
}

/// What the energy E = q̇ᵀp − L does.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyVerdict {
    /// Whether it is constant by the conditions of (5.2).
    pub conserved: bool,
    /// Whether T + V is something else: L has parts of degree 1 or 0 in the velocities.
    pub differs_from_sum: bool,
    /// What changes it, in words; empty if nothing does.
    pub reasons: Vec<String>,
    /// The largest |dE/dt| seen at consistent states where a reason stands against it.
    pub rate: Option<f64>,
}

/// What reasons are found with.
pub struct Reasons<'a> {
    /// The identity.
    pub identity: &'a Identity<'a>,
    /// Parameters.
    pub setting: &'a Setting,
    /// The constraints, solved.
    pub on: &'a OnConstraints,
    /// Consistent states.
    pub states: &'a [State],
    /// Qᶜ at the first of them, where the motion is unique.
    pub constraint_forces: Vec<(usize, Vec<f64>)>,
}

/// Qᶜ at states, where the motion is unique.
pub fn constraint_forces(setting: &Setting, states: &[State]) -> Vec<(usize, Vec<f64>)> {
    let model = &*setting.model;
    let Ok(equations) =
        lagrange::FORMULATION.derive(&model.exprs, &model.system, &Default::default())
    else {
        return Vec::new();
    };
    let equations = Arc::new(equations);
    let force = |state: &State| {
        let reference = Reference::new(setting, &equations, state, &Tolerances::default()).ok()?;
        let numbers = &reference.numbers.clone().with_zeros();
        let outcome = &reference.outcome;
        if outcome.motion != Verdict::Unique || numbers.size != model.system.n_coordinates() {
            return None;
        }
        let mut force = numbers.nonideal.clone();
        for (row, lambda) in numbers.jacobian.chunks(numbers.size).zip(&outcome.multipliers) {
            force.iter_mut().zip(row).for_each(|(f, a)| *f += a * lambda);
        }
        Some(force)
    };
    let forces = states.iter().enumerate().take(4);
    forces.filter_map(|(at, state)| Some((at, force(state)?))).collect()
}

impl Reasons<'_> {
    fn vanish(&self, roots: &[ExprId]) -> bool {
        self.on.vanish(self.identity, self.setting, self.states, roots).is_some()
    }

    /// The energy and what changes it.
    pub fn energy(&self) -> EnergyVerdict {
        let identity = self.identity;
        let (exprs, system) = (identity.exprs, identity.system);
        let mut reasons = Vec::new();
        if !self.vanish(&[identity.l_t]) {
            reasons.push("L depends on time".to_owned());
        }
        for (forces, word) in [(&system.forces, "force"), (&system.nonideal, "non-ideal force")] {
            let total: Vec<ExprId> = forces.iter().map(|f| self.power(f)).collect();
            if self.vanish(&[exprs.sum(&total)]) {
                continue;
            }
            for (force, power) in forces.iter().zip(total) {
                if !self.vanish(&[power]) {
                    reasons.push(format!("the {word} on {} does work", self.targets(force)));
                }
            }
        }
        for (constraint, &drag) in system.constraints.iter().zip(&identity.drag) {
            if !self.vanish(&[drag]) {
                reasons.push(drives(constraint));
            }
        }
        let rate = (!reasons.is_empty()).then(|| self.largest_rate()).flatten();
        EnergyVerdict {
            conserved: reasons.is_empty(),
            differs_from_sum: self.differs_from_sum(),
            reasons,
            rate,
        }
    }

    /// F·q̇.
    fn power(&self, force: &Force) -> ExprId {
        let identity = self.identity;
        matrix::dot(identity.exprs, &force.components, &identity.velocities)
    }

    /// The coordinates a force acts on.
    fn targets(&self, force: &Force) -> String {
        let coordinates = &self.identity.system.coordinates;
        let names: Vec<String> = force
            .components
            .iter()
            .take(4)
            .map(|c| format!("`{}`", coordinates[c.0].name))
            .collect();
        let more = if force.components.len() > 4 { ", …" } else { "" };
        format!("{}{more}", names.join(", "))
    }

    /// E against T + V, where the model has both.
    fn differs_from_sum(&self) -> bool {
        use dalembert_model::system::Energy;
        let exprs = self.identity.exprs;
        match &self.identity.system.energy {
            Energy::Lagrangian { kinetic, potential, .. } => {
                let sum = exprs.at(*kinetic) + exprs.at(*potential);
                !exprs.is_zero((exprs.at(self.identity.energy) - sum).id).is_zero()
            }
            Energy::Hamiltonian { .. } => false,
        }
    }

    /// The largest |dE/dt| = |−L_t + q̇ᵀ(Q′ + Qᶜ)| at the states, of (5.2).
    fn largest_rate(&self) -> Option<f64> {
        let identity = self.identity;
        let mut largest: Option<f64> = None;
        for (at, force) in &self.constraint_forces {
            let state = &self.states[*at];
            let mut roots = vec![identity.l_t];
            roots.extend(&identity.velocities);
            roots.extend(&identity.impressed);
            let values = self.setting.numbers(&roots, &state.table(identity.system));
            let n = identity.q.len();
            let work: f64 = (0..n).map(|i| values[1 + i] * (values[1 + n + i] + force[i])).sum();
            let rate = (work - values[0]).abs();
            if rate.is_finite() {
                largest = Some(largest.map_or(rate, |l| l.max(rate)));
            }
        }
        largest
    }

    /// Coordinates that L does not hold, though it holds their velocities.
    pub fn ignorable(&self) -> Vec<Ignorable> {
        let identity = self.identity;
        let exprs = identity.exprs;
        let candidates = (0..identity.q.len()).filter(|&i| {
            exprs.is_zero(identity.l_q[i]).is_zero()
                && !exprs.is_zero(identity.momenta[i]).is_zero()
        });
        candidates.map(|i| self.judge(i)).collect()
    }

    fn judge(&self, i: usize) -> Ignorable {
        let identity = self.identity;
        let system = identity.system;
        let name = &system.coordinates[i].name;
        let momentum = identity.exprs.symbol_source(system.coordinates[i].momentum);
        let acting = |list: &[Force]| {
            let own: Vec<ExprId> = list
                .iter()
                .flat_map(|f| f.components.iter().filter(|c| c.0 == i).map(|c| c.1))
                .collect();
            !self.vanish(&[identity.exprs.sum(&own)])
        };
        let mut against = Vec::new();
        if acting(&system.forces) {
            against.push("a force".to_owned());
        }
        if acting(&system.nonideal) {
            against.push("a non-ideal force".to_owned());
        }
        for (row, constraint) in system.constraints.iter().enumerate() {
            let entry = identity.jacobian.get(row, i);
            if entry != ExprId::ZERO && !self.vanish(&[entry]) {
                against.push(format!("the constraint `{}`", constraint.name));
            }
        }
        let absent = format!("`{name}` does not occur in L");
        if against.is_empty() {
            let reason = format!("{absent} and nothing acts on it: {momentum} is constant");
            return Ignorable { coordinate: name.clone(), conserved: true, reason };
        }
        let verb = if against.len() == 1 { "acts" } else { "act" };
        // Rows may act and yet have no force on it.
        let forces = &self.constraint_forces;
        let idle = !forces.is_empty()
            && !against[0].contains("force")
            && forces
                .iter()
                .all(|(_, f)| f[i].abs() <= 1e-10 * f.iter().fold(0f64, |m, x| m.max(x.abs())));
        let end = if idle {
            format!(
                "at the states tried its force on it is 0, but that {momentum} is constant is not shown"
            )
        } else {
            format!("{momentum} changes")
        };
        let reason = format!("{absent}, but {} {verb} on it: {end}", against.join(" and "));
        Ignorable { coordinate: name.clone(), conserved: false, reason }
    }
}

/// Why a row does work.
fn drives(constraint: &Constraint) -> String {
    let name = &constraint.name;
    match (constraint.level, constraint.affine) {
        (Level::Acceleration, _) => {
            format!("the constraint `{name}` is one on accelerations, which may do work")
        }
        (Level::Position, _) => format!("the constraint `{name}` moves with time and drives"),
        (Level::Velocity, true) => format!("the constraint `{name}` is acatastatic and drives"),
        (Level::Velocity, false) => {
            format!("the constraint `{name}` is not homogeneous in the velocities and may drive")
        }
    }
}
