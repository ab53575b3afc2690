//! The rates in one go, where they are asked for often: the terms, their factorization and its
//! solution as one piece of code, without anything in between.
//!
//! What is left in the field is what was evaluated before, so that whatever needs the terms
//! themselves, multipliers, or the check by Gauss's principle, evaluates them. The numbers are the
//! same: the code has the operations of a frozen problem, one by one. It applies to small problems
//! that are solved as they are ([`Factored::straight`]), in the order that was decided, and where a
//! pivot falls its rates are no numbers; then the others take over.
//!
//! Large sparse problems with a diagonal Γ are taken as far as S λ = r of [`Factored::reduced`], which
//! is solved as it is, and from λ on.
//!
//! [`Factored::straight`]: dalembert_gauss::Factored::straight
//! [`Factored::reduced`]: dalembert_gauss::Factored::reduced

use super::{Feedback, Field, FieldError, are_finite, copy, is_same};
use dalembert_compile::backends::bulk::Staged;
use dalembert_compile::{
    Bound, Function, Problem, Scratch as Registers, SparseProblem, Tape, backends,
};
use dalembert_expr::{ExprId, Jacobian};
use dalembert_gauss::outcome::Verdict;
use std::sync::{Arc, Mutex};

/// By how many calls those for rates alone outnumber all others before code is made: as many as for
/// the terms alone.
const CALLS: u32 = backends::auto::CALLS;
/// For so many orders code is made.
const ORDERS: u32 = 4;
/// It rests for two calls to the power of this at most.
const LONGEST: u32 = 10;

/// What computes rates.
#[derive(Clone)]
enum Code {
    /// All of it.
    Whole(Bound),
    /// What is before and behind S λ = r, with S and r of the last call.
    Around(Staged, Vec<f64>),
}

/// The order of coordinates and the rows that code is made for.
pub(super) type Order = (Vec<usize>, Vec<usize>);

/// The code, once it is made, and the decision that it goes by.
#[derive(Clone, Default)]
pub(super) struct Direct {
    /// What was made by any run of the same program. The numbers are the same without it.
    known: Arc<Mutex<Vec<(Order, Code)>>>,
    /// Calls that code would have served, less those that it would not.
    calls: u32,
    made: u32,
    code: Option<Code>,
    registers: Registers,
    /// What it is made for.
    order: Order,
    /// The same of orders that were left: a motion may go to and fro between a few.
    aside: Vec<(Order, Option<Code>, Registers)>,
    /// The decision at hand, and whether it can be gone by.
    decision: Option<u64>,
    serves: bool,
    /// Those of the terms, then those of the decision.
    constants: Vec<f64>,
    own: Vec<f64>,
    /// Whether the last rates were found here, at the input that is loaded; or might have been.
    is_last: bool,
    was_missed: bool,
    /// How often in a row it did not serve, and for how many calls it is not asked therefore.
    failed: u32,
    rests: u32,
}

impl Direct {
    /// Forgets what depends on the values of parameters.
    pub(super) fn forget(&mut self) {
        (self.decision, self.is_last, self.was_missed) = (None, false, false);
    }

    /// The order of the decision at hand, and its constants.
    pub(super) fn order(&self) -> (&Order, &[f64]) {
        (&self.order, &self.own)
    }

    /// Takes code that another run made for the same order.
    fn look_up(&mut self) -> bool {
        let Ok(known) = self.known.lock() else { return false };
        let code =
            known.iter().find(|(order, _)| *order == self.order).map(|(_, code)| code.clone());
        drop(known);
        code.into_iter().for_each(|code| self.take(code));
        self.code.is_some()
    }

    fn take(&mut self, code: Code) {
        if let Code::Around(staged, _) = &code {
            self.registers = staged.scratch();
        }
        self.code = Some(code);
    }

    /// Notes that the terms were evaluated, for whatever reason.
    pub(super) fn were_evaluated(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// Notes that rates were found by them where code might have served.
    pub(super) fn was_missed(&mut self) {
        self.was_missed = self.serves;
        self.calls = self.calls.saturating_add(2 * u32::from(self.serves));
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
        (self.direct.is_last, self.direct.was_missed) = (false, false);
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
        if self.direct.rests > 0 {
            self.direct.rests -= 1;
            return Ok(false);
        }
        if self.direct.code.is_none() {
            if self.direct.calls >= CALLS {
                self.compile_direct();
            }
            return Ok(false);
        }
        if let Some(Code::Whole(_)) = self.direct.code {
            self.load(t, x)?;
        }
        let (direct, work) = (&mut self.direct, &mut self.work);
        let is_found = match &mut direct.code {
            None => return Ok(false),
            Some(Code::Whole(function)) => {
                function.call(&work.input, dx);
                true
            }
            Some(Code::Around(staged, early)) => {
                let state = self.n + self.size;
                let given = [&[t], &x[..state], &work.input[1 + state..]];
                staged.begin(&mut direct.registers, &given, early);
                let count = early.len() - self.rows.len();
                let (schur, lambda) = early.split_at_mut(count);
                let is_solved = work.factored.solve_reduced(schur, lambda);
                staged.finish(&mut direct.registers, lambda, dx);
                is_solved
            }
        };
        if !is_found || !are_finite(dx) {
            // Where it is so at all states, as where entries vanish, it is asked less and less often.
            direct.failed = (direct.failed + 1).min(LONGEST);
            direct.rests = 1 << direct.failed;
            return Ok(false);
        }
        (direct.is_last, direct.failed) = (true, 0);
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

    /// Whether the last rates were found here at this state, of which more is asked now.
    pub(super) fn was_direct(&mut self, t: f64, x: &[f64]) -> bool {
        let was_missed = std::mem::take(&mut self.direct.was_missed);
        let was_direct = std::mem::take(&mut self.direct.is_last);
        if !was_missed && !was_direct {
            return false;
        }
        let Direct { code, registers, .. } = &mut self.direct;
        let input = match code {
            Some(Code::Around(staged, _)) if was_direct => staged.given(registers),
            _ => &self.work.input,
        };
        let last = 1 + self.n + self.size;
        if input.len() < last {
            return false;
        }
        let is_here = input[0].to_bits() == t.to_bits() && is_same(&input[1..last], &x[..last - 1]);
        if is_here && was_missed {
            // The terms are needed there in any case: code would have been of no use, but a loss.
            self.direct.calls = self.direct.calls.saturating_sub(2);
        }
        is_here && was_direct
    }

    /// Whether the problem is solved as it is, in an order of its own, by the decision at hand.
    pub(super) fn goes_by_order(&mut self) -> bool {
        if self.direct.decision != Some(self.work.factored.adopted()) {
            self.direct_decision();
        }
        self.direct.serves && self.work.factored.reduced().is_none()
    }

    /// Goes by the decision at hand, if it may.
    #[cold]
    fn direct_decision(&mut self) {
        let (direct, factored) = (&mut self.direct, &self.work.factored);
        direct.decision = Some(factored.adopted());
        direct.serves = false;
        if self.coupling.is_some() || direct.made > ORDERS {
            return;
        }
        if let Some(reduced) = factored.reduced() {
            direct.own.clear();
            direct.serves = reduced.jacobian.rows() == self.rows.len() && self.auxiliary.is_none();
            if direct.order.1 != self.rows {
                direct.order.1.clone_from(&self.rows);
                direct.code = None;
            }
            return self.prepare_direct();
        }
        let Some((columns, rows)) = factored.straight(self.elimination, &mut direct.own) else {
            return;
        };
        // Rows that depend on each other beside the constraints are decided about each time.
        direct.serves = rows.len() == self.rows.len();
        if !direct.serves {
            return;
        }
        let rows = rows.iter().map(|&row| self.rows[row]);
        if direct.order.0 != columns || !rows.clone().eq(direct.order.1.iter().copied()) {
            let Direct { aside, order, code, registers, .. } = direct;
            let is_it = |left: &Order| left.0 == columns && rows.clone().eq(left.1.iter().copied());
            if let Some(left) = aside.iter_mut().find(|left| is_it(&left.0)) {
                std::mem::swap(&mut left.0, order);
                std::mem::swap(&mut left.1, code);
                std::mem::swap(&mut left.2, registers);
            } else {
                if code.is_some() {
                    aside.push((order.clone(), code.take(), std::mem::take(registers)));
                }
                order.0.clear();
                order.0.extend_from_slice(columns);
                order.1.clear();
                order.1.extend(rows);
            }
        }
        self.prepare_direct();
    }

    fn prepare_direct(&mut self) {
        if self.direct.code.is_none() {
            self.direct.look_up();
        }
        let Direct { code, registers, constants, own, .. } = &mut self.direct;
        if let Some(code) = code {
            constants.clear();
            constants.extend(self.constants.iter().chain(&*own));
            match code {
                Code::Whole(function) => function.prepare(constants),
                Code::Around(staged, _) => staged.prepare(registers, constants),
            }
        }
    }

    #[cold]
    fn compile_direct(&mut self) {
        self.direct.made += 1;
        if self.direct.look_up() {
            return self.prepare_direct();
        }
        let code = match self.work.factored.reduced() {
            Some(_) => self.staged(),
            None => self.direct_tape().map(|tape| Code::Whole(Bound::new(tape))),
        };
        let Some(code) = code else {
            (self.direct.made, self.direct.serves) = (u32::MAX, false);
            return;
        };
        if let Ok(mut known) = self.direct.known.lock() {
            known.push((self.direct.order.clone(), code.clone()));
        }
        self.direct.take(code);
        self.prepare_direct();
    }

    /// The rates of a sparse problem around S λ = r. None if they are not mostly loops.
    fn staged(&self) -> Option<Code> {
        let (kept, normal) = (&self.kept, &self.layout.normal);
        let reduced = self.work.factored.reduced()?;
        let pattern = normal.jacobian.pattern()?;
        let all: Vec<usize> = (0..kept.terms.len()).collect();
        let own = normal.jacobian.entries(&all);
        let mut problem = SparseProblem {
            diagonal: self.metric_diagonal.iter().copied().collect::<Option<_>>()?,
            right: normal.force.clone().zip(normal.nonideal.clone()).map(|(f, c)| [f, c]).collect(),
            products: reduced.products.to_vec(),
            products_at: reduced.ends.to_vec(),
            kept: self.layout.kinematics.clone(),
            last: self.layout.power,
            ..SparseProblem::default()
        };
        for (place, &row) in self.rows.iter().enumerate() {
            let entries = pattern.row(row).iter().zip(&own[pattern.range(row)]);
            problem.entries.extend(entries.map(|(&i, &at)| (i, at)));
            problem.ends.push(problem.entries.len());
            problem.bias.push(normal.bias.start + row);
            let power = self.layout.row_power.start + row;
            if kept.terms[power] != ExprId::ZERO {
                problem.weights.push((place, power));
            }
        }
        let tape =
            Tape::lower(&self.setting.model.exprs, &kept.terms, &kept.symbols, &kept.variables);
        let (variables, early) = (tape.variables, problem.early());
        let staged = Staged::new(&tape.reduced(&problem), variables, early)?;
        staged.pays().then(|| Code::Around(staged, vec![0.0; early]))
    }

    /// The rates as one tape: q̇, v̇ and the power. None if Γ is not symmetric as it is written.
    fn direct_tape(&self) -> Option<Tape> {
        let kept = &self.kept;
        let problem = self.direct_problem(&self.direct.order.0, &self.direct.order.1)?;
        // The roots are all there are, so that they are written as in the tape of the terms.
        let exprs = &self.setting.model.exprs;
        let tape = Tape::lower(exprs, &kept.terms, &kept.symbols, &kept.variables);
        Some(tape.solved(&problem))
    }

    /// What is solved for v̇ by the outputs of the terms, with coordinates and rows in an order.
    /// None if Γ is not symmetric as it is written.
    pub(super) fn direct_problem(&self, columns: &[usize], rows: &[usize]) -> Option<Problem> {
        let (kept, normal, size) = (&self.kept, &self.layout.normal, self.size);
        let (roots, all) = (&kept.terms, (0..kept.terms.len()).collect::<Vec<usize>>());
        let dense = |matrix: &Jacobian, entries: &[usize]| {
            let pattern = matrix.rows.iter().enumerate();
            let places = pattern.flat_map(|(i, row)| row.iter().map(move |e| i * size + e.0));
            let mut full = vec![None; matrix.rows.len() * size];
            places.zip(entries).for_each(|(place, &entry)| full[place] = Some(entry));
            full
        };
        let metric = dense(&self.equations.metric, normal.metric.entries(&all));
        let root = |at: usize| metric[at].map(|at| roots[at]);
        if (0..size * size).any(|at| root(at) != root(at % size * size + at / size)) {
            return None;
        }
        let jacobian = dense(&self.equations.jacobian, normal.jacobian.entries(&all));
        let entry = |at: usize| (roots[at] != ExprId::ZERO).then_some(at);
        let mut problem = Problem {
            size,
            kept: self.layout.kinematics.clone(),
            last: self.layout.power,
            places: columns.to_vec(),
            ..Problem::default()
        };
        for &i in columns {
            problem.matrix.extend(columns.iter().map(|j| metric[i * size + j].and_then(entry)));
            problem.right.push([normal.force.start + i, normal.nonideal.start + i]);
        }
        for &row in rows {
            let entries = columns.iter().map(|i| jacobian[row * size + i].and_then(entry));
            problem.rows.extend(entries);
            problem.bias.push(entry(normal.bias.start + row));
        }
        // As they are summed up elsewhere: in the order of the rows in use.
        for row in &self.rows {
            let place = rows.iter().position(|r| r == row);
            problem.weights.extend(place.zip(entry(self.layout.row_power.start + row)));
        }
        Some(problem)
    }
}
