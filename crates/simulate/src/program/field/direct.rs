//! The rates in one go, where they are asked for often: the terms, their factorization and its
//! solution as one piece of code, without anything in between.
//!
//! What is left in the field is what was evaluated before, so that whatever needs the terms
//! themselves, or the check by Gauss's principle, evaluates them. The numbers are the same: the
//! code has the operations of a frozen problem, one by one. It applies to small problems without
//! rows in use, factored in the order of their coordinates ([`Factored::is_straight`]), and where
//! a pivot falls its rates are no numbers; then the others take over.
//!
//! [`Factored::is_straight`]: dalembert_gauss::Factored::is_straight

use super::{Feedback, Field, FieldError, are_finite, copy, is_same};
use dalembert_compile::{Backend, Function, Scratch as Registers, Symmetric, Tape, backends};
use dalembert_expr::ExprId;
use dalembert_gauss::eliminations::STRAIGHT;
use dalembert_gauss::outcome::Verdict;
use std::sync::Arc;

/// Calls before code is made: as many as for the terms alone.
const CALLS: u32 = backends::auto::CALLS;

/// The code, once it is made, and the decision that it goes by.
#[derive(Clone, Default)]
pub(super) struct Direct {
    calls: u32,
    function: Option<Arc<dyn Function>>,
    registers: Registers,
    /// The decision that the constants are of; none serves if it is not straight.
    decision: Option<u64>,
    serves: bool,
    /// Constants, then the least part of Γ_ii for each pivot.
    constants: Vec<f64>,
    least: Vec<f64>,
    /// Whether the last rates are from here, at the input that is loaded.
    is_last: bool,
}

impl Direct {
    /// Forgets what depends on the values of parameters.
    pub(super) fn forget(&mut self) {
        (self.decision, self.is_last) = (None, false);
    }
}

impl Field {
    /// The rates by the code, if there is one and it serves here.
    #[inline]
    pub(super) fn direct_rates(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
    ) -> Result<bool, FieldError> {
        self.direct.is_last = false;
        let decided = self.work.factored.is_decided();
        if !decided || self.feedback != Feedback::None || self.known_rates.is_some() {
            return Ok(false);
        }
        if self.direct.decision != Some(self.work.factored.adopted()) {
            self.direct_decision();
        }
        if !self.direct.serves {
            return Ok(false);
        }
        if self.direct.function.is_none() {
            self.direct.calls += 1;
            if self.direct.calls >= CALLS {
                self.compile_direct();
            }
            return Ok(false);
        }
        self.load(t, x)?;
        let (direct, work) = (&mut self.direct, &mut self.work);
        let Some(function) = &direct.function else { return Ok(false) };
        function.call(&mut direct.registers, &work.input, dx);
        if !are_finite(dx) {
            return Ok(false);
        }
        direct.is_last = true;
        let size = self.size;
        // What is solved is no longer that of the terms at hand.
        work.is_solved = false;
        if work.outcome.v_dot.len() == size {
            copy(&mut work.outcome.v_dot, &dx[self.n..self.n + size]);
        }
        work.outcome.motion = Verdict::Unique;
        work.is_frozen = true;
        self.evaluations += 1;
        self.counts.frozen += 1;
        self.counts.direct += 1;
        Ok(true)
    }

    /// Whether the last rates were found here at this state.
    pub(super) fn was_direct(&mut self, t: f64, x: &[f64]) -> bool {
        let last = 1 + self.n + self.size;
        let input = &self.work.input;
        std::mem::take(&mut self.direct.is_last)
            && input[0].to_bits() == t.to_bits()
            && is_same(&input[1..last], &x[..last - 1])
    }

    /// Goes by the decision at hand, if it may.
    #[cold]
    fn direct_decision(&mut self) {
        let (direct, factored) = (&mut self.direct, &self.work.factored);
        direct.decision = Some(factored.adopted());
        direct.serves = self.coupling.is_none()
            && self.equations.rows.is_empty()
            && self.layout.normal.bias.is_empty()
            && factored.is_straight(self.elimination, &mut direct.least);
        self.prepare_direct();
    }

    fn prepare_direct(&mut self) {
        let Direct { function, registers, constants, least, serves, .. } = &mut self.direct;
        if let Some(function) = function.as_ref().filter(|_| *serves) {
            constants.clear();
            constants.extend(self.constants.iter().chain(&*least));
            function.prepare(registers, constants);
        }
    }

    #[cold]
    fn compile_direct(&mut self) {
        let Some(tape) = self.direct_tape() else {
            (self.direct.calls, self.direct.serves) = (0, false);
            return;
        };
        let function: Arc<dyn Function> = backends::machine::BACKEND.compile(tape).into();
        self.direct.registers = function.scratch();
        self.direct.function = Some(function);
        self.prepare_direct();
    }

    /// The rates as one tape: q̇, v̇ and the power. None if Γ is not symmetric as it is written.
    fn direct_tape(&self) -> Option<Tape> {
        let (kept, normal, size) = (&self.kept, &self.layout.normal, self.size);
        if size > STRAIGHT {
            return None;
        }
        let pattern = self.equations.metric.rows.iter().enumerate();
        let places = pattern.flat_map(|(i, row)| row.iter().map(move |entry| (i, entry.0)));
        let mut full = vec![ExprId::ZERO; size * size];
        for ((i, j), &entry) in places.zip(normal.metric.entries(&kept.terms)) {
            full[i * size + j] = entry;
        }
        if (0..size * size).any(|at| full[at] != full[at % size * size + at / size]) {
            return None;
        }
        let mut roots = kept.terms[self.layout.kinematics.clone()].to_vec();
        let count = roots.len();
        let mut rows = vec![Vec::new(); size];
        for (i, row) in rows.iter_mut().enumerate() {
            for j in i..size {
                if full[i * size + j] != ExprId::ZERO {
                    row.push((j, roots.len()));
                    roots.push(full[i * size + j]);
                }
            }
        }
        let first = roots.len();
        roots.extend(&kept.terms[normal.force.clone()]);
        roots.extend(&kept.terms[normal.nonideal.clone()]);
        let right = (0..size).map(|i| [first + i, first + size + i]).collect();
        let last = roots.len();
        roots.push(kept.terms[self.layout.power]);
        let exprs = &self.setting.model.exprs;
        let tape = Tape::lower(exprs, &roots, &kept.symbols, &kept.variables);
        Some(tape.solved(&Symmetric { rows, right, kept: 0..count, last }))
    }
}
