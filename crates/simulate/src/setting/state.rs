//! A state: where the system is and how it moves, in every variable at once.

use crate::setting::legendre::{self as newton, NewtonError};
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::system::{Energy, System};

/// A state of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    /// Positions q.
    pub q: Vec<f64>,
    /// Velocities q̇.
    pub velocity: Vec<f64>,
    /// Momenta p = L_q̇.
    pub momentum: Vec<f64>,
}

impl State {
    /// The state of given velocities; in a model given by H, the momenta behind
    /// them are solved for.
    pub fn of_velocities(
        setting: &Setting,
        t: f64,
        q: Vec<f64>,
        velocity: Vec<f64>,
    ) -> Result<State, NewtonError> {
        let system = &setting.model.system;
        let mut state = State { t, q, velocity, momentum: vec![0.0; system.n_coordinates()] };
        match &system.energy {
            Energy::Lagrangian { momenta, .. } => {
                state.momentum = setting.numbers(momenta, &state.table(system));
            }
            Energy::Hamiltonian { velocities, .. } => {
                let symbols = system.momenta();
                state.momentum = invert(setting, &state, velocities, &symbols, &state.velocity)?;
            }
        }
        Ok(state)
    }

    /// The state of given momenta; in a model given by L, the velocities behind
    /// them are solved for.
    pub fn of_momenta(
        setting: &Setting,
        t: f64,
        q: Vec<f64>,
        momentum: Vec<f64>,
    ) -> Result<State, NewtonError> {
        let system = &setting.model.system;
        let mut state = State { t, q, velocity: vec![0.0; system.n_coordinates()], momentum };
        match &system.energy {
            Energy::Lagrangian { momenta, .. } => {
                let symbols = system.velocities();
                state.velocity = invert(setting, &state, momenta, &symbols, &state.momentum)?;
            }
            Energy::Hamiltonian { velocities, .. } => {
                state.velocity = setting.numbers(velocities, &state.table(system));
            }
        }
        Ok(state)
    }

    /// Values for the symbols of positions, velocities, momenta and time.
    pub fn table(&self, system: &System) -> Table {
        let mut table = Table::default();
        table.set(Symbol::TIME, self.t);
        table.set_all(&system.positions(), &self.q);
        table.set_all(&system.velocities(), &self.velocity);
        table.set_all(&system.momenta(), &self.momentum);
        table
    }

    /// Names and values: `x`, `x'`, and in a model given by H `p_x`.
    pub fn named(&self, exprs: &Exprs, system: &System) -> Vec<(String, f64)> {
        let name = |s: Symbol| exprs.symbol_info(s).full_name();
        let mut list = Vec::new();
        for (at, coordinate) in system.coordinates.iter().enumerate() {
            list.push((name(coordinate.position), self.q[at]));
        }
        for (at, coordinate) in system.coordinates.iter().enumerate() {
            list.push((name(coordinate.velocity), self.velocity[at]));
        }
        if matches!(system.energy, Energy::Hamiltonian { .. }) {
            for (at, coordinate) in system.coordinates.iter().enumerate() {
                list.push((name(coordinate.momentum), self.momentum[at]));
            }
        }
        list
    }
}

/// The w with f(q, w, t) = y.
fn invert(
    setting: &Setting,
    state: &State,
    f: &[ExprId],
    symbols: &[Symbol],
    y: &[f64],
) -> Result<Vec<f64>, NewtonError> {
    let exprs = &setting.model.exprs;
    let jacobian: Jacobian = exprs.jacobian(f, symbols);
    let mut table = state.table(&setting.model.system);
    newton::solve(setting, &mut table, symbols, f, &jacobian, Some(y))
}
