//! A state: where the system is and how it moves, in every variable at once.

use crate::setting::legendre::{self, NewtonError};
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::system::{Energy, System};

/// A state of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    /// Positions q, then states z.
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

    /// A state given by positions, velocities, momenta and time; the rest is 0.
    pub fn of_items(setting: &Setting, items: &[(ExprId, ExprId)]) -> Result<State, NewtonError> {
        let exprs = &setting.model.exprs;
        let mut table = Table::default();
        let mut values = Vec::with_capacity(items.len());
        let mut take = |is_time: bool, table: &Table| {
            for &(left, right) in items {
                if let Some(symbol) = exprs.as_symbol(left)
                    && (symbol == Symbol::TIME) == is_time
                {
                    values.push((symbol, setting.number(right, table)));
                }
            }
            values.last().copied()
        };
        // The other values may depend on the time.
        let time = take(true, &table).map_or_else(|| setting.start_time(), |given| given.1);
        table.set(Symbol::TIME, time);
        take(false, &table);
        State::of_values(setting, &values)
    }

    /// The same of symbols and their values.
    pub fn of_values(setting: &Setting, items: &[(Symbol, f64)]) -> Result<State, NewtonError> {
        let system = &setting.model.system;
        let exprs = &setting.model.exprs;
        let n = system.n_coordinates();
        let time = items.iter().rev().find(|item| item.0 == Symbol::TIME);
        let t = time.map_or_else(|| setting.start_time(), |item| item.1);
        let mut table = Table::default();
        table.set(Symbol::TIME, t);
        let mut q = vec![0.0; n + system.states.len()];
        let (mut velocity, mut momentum) = (vec![None; n], vec![None; n]);
        for &(symbol, value) in items {
            if let Some(at) = system.states.iter().position(|z| z.symbol == symbol) {
                q[n + at] = value;
            }
            for (at, coordinate) in system.coordinates.iter().enumerate() {
                if symbol == coordinate.position {
                    q[at] = value;
                } else if symbol == coordinate.velocity {
                    velocity[at] = Some(value);
                } else if symbol == coordinate.momentum {
                    momentum[at] = Some(value);
                }
            }
        }
        // Unknowns are those of the model's own rates whose counterpart was given.
        let (own, other, relation, native) = match &system.energy {
            Energy::Lagrangian { momenta, .. } => {
                (&velocity, &momentum, momenta, system.velocities())
            }
            Energy::Hamiltonian { velocities, .. } => {
                (&momentum, &velocity, velocities, system.momenta())
            }
        };
        let unknown: Vec<usize> =
            (0..n).filter(|&i| own[i].is_none() && other[i].is_some()).collect();
        let mut rate: Vec<f64> = own.iter().map(|v| v.unwrap_or(0.0)).collect();
        if !unknown.is_empty() {
            table.set_all(&system.configuration(), &q);
            table.set_all(&native, &rate);
            let symbols: Vec<Symbol> = unknown.iter().map(|&i| native[i]).collect();
            let f: Vec<ExprId> = unknown.iter().map(|&i| relation[i]).collect();
            let y: Vec<f64> = unknown.iter().map(|&i| other[i].unwrap_or(0.0)).collect();
            let jacobian = exprs.jacobian(&f, &symbols);
            let found = legendre::solve(setting, &mut table, &symbols, &f, &jacobian, Some(&y))?;
            unknown.iter().zip(found).for_each(|(&i, x)| rate[i] = x);
        }
        match system.energy {
            Energy::Lagrangian { .. } => State::of_velocities(setting, t, q, rate),
            Energy::Hamiltonian { .. } => State::of_momenta(setting, t, q, rate),
        }
    }

    /// Values for the symbols of positions, velocities, momenta and time.
    pub fn table(&self, system: &System) -> Table {
        let mut table = Table::with_capacity(1 + 3 * self.q.len());
        table.set(Symbol::TIME, self.t);
        table.set_all(&system.configuration(), &self.q);
        table.set_all(&system.velocities(), &self.velocity);
        table.set_all(&system.momenta(), &self.momentum);
        table
    }

    /// Names and values: `x` and the states, `x'`, and in a model given by H `p_x`.
    pub fn named(&self, exprs: &Exprs, system: &System) -> Vec<(String, f64)> {
        let name = |s: Symbol| exprs.symbol_info(s).full_name();
        let mut list = Vec::new();
        for (at, symbol) in system.configuration().into_iter().enumerate() {
            list.push((name(symbol), self.q[at]));
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
    legendre::solve(setting, &mut table, symbols, f, &jacobian, Some(y))
}
