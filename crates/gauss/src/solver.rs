//! Problems that differ in their forces and right-hand sides only, by one elimination: Γ and A
//! are factored once if there is a decision to go by, and each problem is decided if there is none.

use crate::eliminations::factored::Factored;
use crate::eliminations::{Elimination, Scratch, SolveError};
use crate::outcome::{Outcome, Verdict};
use crate::terms::{Terms, Tolerances};

/// An elimination with its storage, for problems of one state.
pub struct Solver<'a> {
    elimination: &'a dyn Elimination,
    /// What counts as zero.
    pub(crate) tolerances: Tolerances,
    scratch: &'a mut Scratch,
    factored: Option<&'a mut Factored>,
    /// Whether Γ and A have been factored.
    is_ready: bool,
    /// How often there was a decision to go by, and how often not.
    pub counts: (u64, u64),
}

impl<'a> Solver<'a> {
    /// A solver that decides each time, unless it is given a decision.
    pub fn new(
        elimination: &'a dyn Elimination,
        tolerances: &Tolerances,
        scratch: &'a mut Scratch,
        factored: Option<&'a mut Factored>,
    ) -> Solver<'a> {
        let tolerances = *tolerances;
        Solver { elimination, tolerances, scratch, factored, is_ready: false, counts: (0, 0) }
    }

    /// Solves a problem, which has the Γ and A of those before.
    pub fn solve(&mut self, terms: &Terms, outcome: &mut Outcome) -> Result<(), SolveError> {
        if let Some(factored) = self.factored.as_mut().filter(|f| f.is_decided()) {
            self.is_ready = self.is_ready || factored.refactor(self.elimination, terms);
            let (v_dot, multipliers) = (&mut outcome.v_dot, &mut outcome.multipliers);
            if self.is_ready && factored.solve(self.elimination, terms, v_dot, multipliers) {
                outcome.motion = Verdict::Unique;
                self.counts.0 += 1;
                return Ok(());
            }
            factored.forget();
        }
        self.counts.1 += 1;
        self.elimination.solve(self.scratch, terms, &self.tolerances, outcome)
    }
}
