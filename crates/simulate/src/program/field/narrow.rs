//! What in the terms does not show in series at a state: exponentials, tanh, high powers and quotients, which
//! are next to nothing, or next to constant, until they are met ([`Narrow`]).

use super::Field;
use super::cost::LOW;
use dalembert_compile::{Backend, Function, Scratch, Tape, backends};
use dalembert_expr::{ExprId, Narrow, Symbol};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The arguments of what does not show, compiled, as functions of the variables of the terms and then the
/// parameters.
#[derive(Clone)]
pub(crate) struct Arguments {
    function: Arc<dyn Function>,
    pub(crate) kinds: Vec<Narrow>,
}

impl Arguments {
    /// Registers for calls.
    pub(crate) fn scratch(&self) -> Scratch {
        let mut scratch = self.function.scratch();
        self.function.prepare(&mut scratch, &[]);
        scratch
    }

    /// All arguments at an input.
    pub(crate) fn call(&self, scratch: &mut Scratch, input: &[f64], into: &mut [f64]) {
        self.function.call(scratch, input, into);
    }
}

impl Field {
    /// The arguments of what does not show in series; none if there is nothing such.
    pub(crate) fn narrow(&self) -> Option<&Arguments> {
        let found = self.narrow.get_or_init(|| {
            let (exprs, kept) = (&self.setting.model.exprs, &self.kept);
            let mut all = exprs.narrow(&kept.terms, f64::from(LOW));
            // Quotients by masses are none that a motion meets.
            let arguments: Vec<ExprId> = all.iter().map(|(_, argument)| *argument).collect();
            let variables: FxHashSet<Symbol> = kept.variables.iter().copied().collect();
            let moves = exprs.depend_on(&arguments, |symbol| variables.contains(&symbol));
            let mut moves = moves.into_iter();
            all.retain(|_| moves.next() == Some(true));
            let (kinds, roots): (Vec<Narrow>, Vec<ExprId>) = all.into_iter().unzip();
            if roots.is_empty() {
                return None;
            }
            let mut symbols = kept.variables.clone();
            symbols.extend(&kept.symbols);
            let tape = Tape::lower(exprs, &roots, &[], &symbols);
            let function = Arc::from(backends::interpreter::BACKEND.compile(tape));
            Some(Arguments { function, kinds })
        });
        found.as_ref()
    }

    /// The input of such arguments at a state, on the branches at hand.
    pub(crate) fn input_at(&self, t: f64, x: &[f64], input: &mut Vec<f64>) {
        let moving = self.n + self.size;
        input.clear();
        input.extend_from_slice(&self.work.input);
        input[0] = t;
        input[1..=moving].copy_from_slice(&x[..moving]);
        input.extend_from_slice(&self.constants);
    }
}
