//! Where states are at the start.
//!
//! A state z has no place that constraints could move it from. `start z = …` gives its value,
//! `start z' = 0` an equation f(q, q̇, z, t) = 0 for it, and without either it is 0. Positions and
//! velocities are found with the states held; then states that have equations are found with the
//! motion held. Where the motion depends on them the two take turns.

use crate::normal_form::Matrix;
use crate::points::nearest::NearestPoint;
use crate::points::start::{self, StartError};
use crate::setting::{Setting, State, Table};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Start as Item;
use dalembert_model::tree::StartRelation;

/// Most turns between states and motion.
const MOST: usize = 60;

/// The states of a start, and the items of `start` that are about them.
pub(super) struct States<'s> {
    values: Vec<f64>,
    /// Places of the states that equations determine.
    open: Vec<usize>,
    /// Items that give a state its value, or are equations for open ones.
    taken: Vec<bool>,
    equations: Vec<&'s Item>,
    turns: usize,
}

impl<'s> States<'s> {
    /// Takes what `start` says of states.
    pub fn new(setting: &'s Setting, t: f64, guess: &[f64], given: bool) -> States<'s> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let symbols = system.state_symbols();
        let mut values = guess.to_vec();
        let mut taken = vec![false; system.start.len()];
        let mut is_fixed = vec![false; symbols.len()];
        let mut table = Table::default();
        table.set(Symbol::TIME, t);
        let moving: Vec<Symbol> =
            [system.configuration(), system.velocities(), system.momenta()].concat();
        let is_equation = |item: &Item| given && item.relation == StartRelation::Equals;
        for (at, item) in system.start.iter().enumerate() {
            let left = exprs.as_symbol(item.left);
            let place = left.and_then(|s| symbols.iter().position(|z| *z == s));
            let (Some(place), true) = (place, is_equation(item)) else { continue };
            let held = exprs.symbols_of(&[item.right]);
            if !is_fixed[place] && !held.iter().any(|s| moving.contains(s)) {
                (is_fixed[place], taken[at]) = (true, true);
                values[place] = setting.number(item.right, &table);
            }
        }
        let mut equations = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (at, item) in system.start.iter().enumerate() {
            if taken[at] || !is_equation(item) {
                continue;
            }
            let held = exprs.symbols_of(&[item.left, item.right]);
            let own = (0..symbols.len()).filter(|&i| !is_fixed[i] && held.contains(&symbols[i]));
            let own: Vec<usize> = own.collect();
            if !own.is_empty() {
                taken[at] = true;
                equations.push(item);
                open.extend(own);
            }
        }
        open.sort_unstable();
        open.dedup();
        States { values, open, taken, equations, turns: 0 }
    }

    /// Their values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether an item of `start` is about states alone, seen from the motion.
    pub fn takes(&self, item: usize) -> bool {
        self.taken[item]
    }

    /// Finds the states that equations determine beside a motion. Whether they were that already.
    pub fn settle(&mut self, setting: &Setting, state: &State) -> Result<bool, StartError> {
        if self.open.is_empty() {
            return Ok(true);
        }
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let symbols = system.state_symbols();
        let equations: Vec<ExprId> =
            self.equations.iter().map(|item| start::equation(exprs, item)).collect();
        let n = self.open.len();
        let identity = |_: &Table| Some(Matrix::identity(n, false));
        let problem = NearestPoint {
            setting,
            table: state.table(system),
            unknowns: self.open.iter().map(|&i| symbols[i]).collect(),
            guess: self.open.iter().map(|&i| self.values[i]).collect(),
            equations,
            nearest: true,
            metric: &identity,
            scales: Default::default(),
        };
        let found = problem.solve().map_err(|_| self.clash(setting))?;
        let mut is_settled = true;
        for (&place, &value) in self.open.iter().zip(&found.x) {
            let before = std::mem::replace(&mut self.values[place], value);
            is_settled &= (before - value).abs() <= 4.0 * f64::EPSILON * value.abs();
        }
        self.turns += 1;
        match self.turns > MOST {
            true => Err(self.clash(setting)),
            false => Ok(is_settled),
        }
    }

    fn clash(&self, setting: &Setting) -> StartError {
        let states = &setting.model.system.states;
        let names: Vec<String> =
            self.open.iter().map(|&i| format!("`{}`", states[i].name)).collect();
        let span = self.equations.first().map_or_else(Default::default, |item| item.span);
        let message = format!("no value of {} goes with the rest of the start", names.join(", "));
        StartError::Clash(vec![
            Diagnostic::fault(Code::ContradictoryStart, span, message)
                .hint("give the state a value, `start z = …`"),
        ])
    }
}
