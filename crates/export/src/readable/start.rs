//! Numbers at the start, for what a reader must know of it: on which branch of a
//! root the motion begins, and whether a closed form holds there.

use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{Assumption, ExprId, Exprs, Symbol};
use dalembert_model::system::Model;
use dalembert_simulate::points::start;
use dalembert_simulate::{Setting, State};
use std::collections::BTreeMap;

/// The values of symbols at the consistent start.
#[derive(Clone, Default)]
pub(crate) struct Numbers(BTreeMap<Symbol, f64>);

impl Numbers {
    /// Those of a model's start; `None` where it has none.
    pub fn new(model: &Model, equations: &EquationsOfMotion) -> Option<Numbers> {
        let setting = Setting::new(model).ok()?;
        let state = start::start(&setting).ok()?.state;
        let mut numbers = Numbers::of_state(&setting, &state);
        let own = setting.numbers(&equations.own, &state.table(&model.system));
        numbers.0.extend(equations.v.iter().copied().zip(own));
        Some(numbers)
    }

    /// Those of parameters and of a state.
    pub fn of_state(setting: &Setting, state: &State) -> Numbers {
        let system = &setting.model.system;
        let table = state.table(system);
        let (symbols, values) = setting.constants();
        let mut known: BTreeMap<Symbol, f64> = symbols.into_iter().zip(values).collect();
        known.insert(Symbol::TIME, state.t);
        let moving = system.coordinates.iter().flat_map(|c| [c.position, c.velocity, c.momentum]);
        for symbol in moving.chain(system.state_symbols()) {
            if let Some(value) = table.get(symbol) {
                known.insert(symbol, value);
            }
        }
        for input in &system.inputs {
            if let Some(value) = input.value {
                known.insert(input.symbol, setting.number(value, &table));
            }
        }
        Numbers(known)
    }

    /// Gives symbols the values of others.
    pub fn rename(&mut self, from: &[Symbol], to: &[Symbol]) {
        for (from, &to) in from.iter().zip(to) {
            if let Some(&value) = self.0.get(from) {
                self.0.insert(to, value);
            }
        }
    }

    /// The values of expressions, NaN where a symbol has none.
    pub fn of(&self, exprs: &Exprs, list: &[ExprId]) -> Vec<f64> {
        exprs.eval_f64(list, |s| self.0.get(&s).copied().unwrap_or(f64::NAN))
    }

    /// The expression with roots of squares as they are here.
    pub fn on_branch(&self, exprs: &Exprs, id: ExprId) -> (ExprId, Vec<Assumption>) {
        exprs.on_branch(id, |base| {
            let value = self.of(exprs, &[base])[0];
            (value.is_finite() && value != 0.0).then_some(value > 0.0)
        })
    }

    /// Gives a symbol a value.
    pub fn set(&mut self, symbol: Symbol, value: f64) {
        self.0.insert(symbol, value);
    }
}
