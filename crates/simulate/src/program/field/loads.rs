//! Multipliers in one go, where functions of them are asked for often: the code of the rates
//! ([`direct`](super::direct)), with λ in place of v̇.
//!
//! It applies where that code does, to problems that are solved as they are in the order that was decided,
//! and nothing of what the field has evaluated changes by it.

use super::direct::Order;
use super::{Feedback, Field, are_finite};
use dalembert_compile::{Bound, Tape, backends};
use std::sync::{Arc, Mutex};

/// So many calls are worth the code.
const CALLS: u32 = backends::auto::CALLS;

/// The code, once it is made.
#[derive(Clone, Default)]
pub(super) struct DirectLoads {
    /// What was made by any run of the same program.
    known: Arc<Mutex<Vec<(Order, Bound)>>>,
    calls: u32,
    code: Option<(Order, Bound)>,
    /// The decision that it goes by.
    decision: Option<u64>,
    /// Whether there is none of the order at hand.
    is_none: bool,
    constants: Vec<f64>,
    input: Vec<f64>,
    /// What is no number where a pivot has fallen, then the multipliers, in the order of the rows.
    found: Vec<f64>,
}

impl DirectLoads {
    /// Forgets what depends on the values of parameters.
    pub(super) fn forget(&mut self) {
        self.decision = None;
    }
}

impl Field {
    /// Finds the multipliers of all rows at a state for [`load`](Field::load_of); false where the rates have
    /// to be found for them.
    pub(crate) fn find_loads(&mut self, t: f64, x: &[f64]) -> bool {
        let goes_by_decision = self.work.factored.is_decided()
            && self.feedback == Feedback::None
            && self.known_rates.is_none()
            && self.coupling.is_none()
            && self.auxiliary.is_none();
        if !goes_by_decision || !self.goes_by_order() {
            return false;
        }
        let decision = Some(self.work.factored.adopted());
        if self.loads.decision != decision {
            self.loads.decision = decision;
            self.prepare_loads();
        }
        if self.loads.code.is_none() && !self.loads.is_none {
            self.loads.calls += 1;
            if self.loads.calls >= CALLS {
                self.make_loads();
                self.prepare_loads();
            }
        }
        let loads = &mut self.loads;
        let Some((_, code)) = &mut loads.code else { return false };
        let state = self.n + self.size;
        loads.input.clear();
        loads.input.push(t);
        loads.input.extend_from_slice(&x[..state]);
        loads.input.extend_from_slice(&self.work.input[1 + state..]);
        loads.found.resize(1 + self.rows.len(), 0.0);
        code.call(&loads.input, &mut loads.found);
        self.evaluations += 1;
        are_finite(&loads.found)
    }

    /// A row's multiplier as found last.
    pub(crate) fn load_of(&self, row: usize) -> Option<f64> {
        let (order, _) = self.loads.code.as_ref()?;
        let place = order.1.iter().position(|own| *own == row)?;
        self.loads.found.get(1 + place).copied()
    }

    /// Takes the constants of the decision at hand, or leaves code of another order.
    fn prepare_loads(&mut self) {
        let (order, own) = self.direct.order();
        let loads = &mut self.loads;
        loads.is_none = false;
        let Some((known, code)) = &mut loads.code else { return };
        if known != order {
            loads.code = None;
            return;
        }
        loads.constants.clear();
        loads.constants.extend(self.constants.iter().chain(own));
        code.prepare(&loads.constants);
    }

    #[cold]
    fn make_loads(&mut self) {
        let order = self.direct.order().0.clone();
        let known = self.loads.known.lock();
        let known = known.ok().and_then(|list| list.iter().find(|own| own.0 == order).cloned());
        if known.is_some() {
            self.loads.code = known;
            return;
        }
        let made = self.loads_tape(&order).map(|tape| (order, Bound::new(tape)));
        if let (Some(made), Ok(mut known)) = (&made, self.loads.known.lock()) {
            known.push(made.clone());
        }
        self.loads.is_none = made.is_none();
        self.loads.code = made;
    }

    fn loads_tape(&self, order: &Order) -> Option<Tape> {
        let kept = &self.kept;
        let mut problem = self.direct_problem(&order.0, &order.1)?;
        (problem.kept, problem.has_multipliers) = (0..0, true);
        problem.weights.clear();
        let exprs = &self.setting.model.exprs;
        let tape = Tape::lower(exprs, &kept.terms, &kept.symbols, &kept.variables);
        // v̇, then what tells of pivots, then λ.
        let outputs = self.size..self.size + 1 + order.1.len();
        Some(tape.solved(&problem).with_outputs(outputs))
    }
}
