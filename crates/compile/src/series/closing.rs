//! How a stage is closed: equations solved for the newest coefficients of unknowns.
//!
//! ```text
//! r_i = −(k+1)…(k+a_i) y_i[k+a_i]      of an output that is a_i ahead, with 0 for the unknowns
//! x[k] = S r                            S: the inverse of the matrix that the equations have in x
//! z[m] = x[m−1] (1/m)                   integrals of x, or of outputs of a later phase
//! ```
//!
//! Each stage waits for the one before, and these are what it waits for. So S r is two sums, of the
//! even equations and of the odd ones, and nothing is divided.
//!
//! S belongs to order 0 and is given ([`Series::set_inverse`]); everything else of a stage is here, so
//! that an expansion is one call.

use super::node::Jet;
use super::{Jets, LANES, Series, Variable, Wanted};
use dalembert_machine::{Wide, wide};

/// The longest list of unknowns, in fours, of which there are two sums.
const TWICE: usize = 7;

/// Equations and unknowns of the first phase, as many of these as of those, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The outputs that are 0 are the first so many. They are up to two ahead.
    pub equations: usize,
    /// The first of the unknowns, variables that are not ahead, one after the other.
    pub unknowns: usize,
    /// Variables that are integrals, in turn.
    pub integrals: Vec<Integral>,
}

/// Variables one after the other, each the integral of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integral {
    /// The first of them.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// Of what.
    pub of: Source,
}

/// What is integrated, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Variables, found in the first phase.
    Variables(usize),
    /// Outputs, of the phase in which the integrals are found.
    Outputs(usize),
}

impl Closing {
    /// The length of a column of S.
    pub(super) fn column(&self) -> usize {
        self.equations.next_multiple_of(LANES)
    }

    /// How many sums S r is, where there are registers for them.
    pub(super) fn sums(&self) -> usize {
        if self.equations.div_ceil(LANES) <= TWICE { 2 } else { 1 }
    }

    pub(super) fn room(&self) -> usize {
        self.equations * self.column()
    }
}

impl Series {
    /// Says how stages are closed. Nothing is said if that is not as [`Closing`] has it.
    pub fn close(&mut self, closing: Closing) {
        let (variables, outputs) = &self.when;
        let Closing { equations, unknowns, integrals } = &closing;
        let is_unknown = |v: &Variable| *v == Variable::Moving { phase: 0, ahead: 0 };
        let found = variables.get(*unknowns..*unknowns + *equations);
        let zero = outputs.get(..*equations);
        let fits = found.is_some_and(|all| all.iter().all(is_unknown))
            && zero.is_some_and(|all| all.iter().all(|w| w.phase == 0 && w.ahead <= 2))
            && integrals.iter().all(|integral| self.integrates(integral));
        self.closing = fits.then_some(closing);
    }

    fn integrates(&self, &Integral { first, count, of }: &Integral) -> bool {
        let (variables, outputs) = &self.when;
        let Some(to) = variables.get(first..first + count) else { return false };
        let Some(&Variable::Moving { phase, ahead }) = to.first() else { return count == 0 };
        let is_alike = to.iter().all(|v| *v == to[0]);
        let before =
            |v: &Variable| matches!(*v, Variable::Moving { phase: 0, ahead: a } if a + 1 == ahead);
        is_alike
            && match of {
                Source::Variables(from) => {
                    let from = variables.get(from..from + count);
                    phase == 0 && from.is_some_and(|all| all.iter().all(before))
                }
                Source::Outputs(from) => {
                    let from = outputs.get(from..from + count);
                    let is_there = |w: &Wanted| w.phase == phase && w.ahead + 1 == ahead;
                    phase > 0 && from.is_some_and(|all| all.iter().all(is_there))
                }
            }
    }

    /// Whether it was said how stages are closed.
    pub fn is_closed(&self) -> bool {
        self.closing.is_some()
    }

    /// Sets a column of S: what the unknowns are for 1 in an equation.
    pub fn set_inverse(&self, jets: &mut Jets, equation: usize, unknowns: &[f64]) {
        let Some(closing) = &self.closing else { return };
        let first = self.beside(jets.room).matrix + equation * closing.column();
        let column = jets.beside.as_mut_slice()[first..].iter_mut().take(closing.equations);
        column.zip(unknowns).for_each(|(place, &value)| *place = value);
    }

    /// How much ahead a variable is.
    pub(super) fn ahead_of(&self, variable: usize) -> usize {
        match self.when.0[variable] {
            Variable::Moving { ahead, .. } => ahead,
            _ => 0,
        }
    }

    pub(super) fn phase_of(&self, variable: usize) -> usize {
        match self.when.0[variable] {
            Variable::Moving { phase, .. } => phase,
            _ => 0,
        }
    }

    /// The numbers of variables or outputs, from one on.
    pub(super) fn ids(list: &[Jet], first: usize, count: usize) -> &[Jet] {
        &list[first..first + count]
    }

    /// Runs a stage and closes it. Nothing happens if it was not said how.
    pub fn stage(&self, jets: &mut Jets, stage: usize) {
        let Some(closing) = &self.closing else { return };
        if !self.has_room(jets, stage) {
            return;
        }
        self.run(jets, 0, stage);
        wide(Solving { series: self, closing, jets, stage });
        self.integrate(closing, jets, stage, 0);
        self.finish(jets, 0, stage);
        self.later_phases(closing, jets, stage);
    }

    /// Brings everything up to the stage 1, with what the variables of the first phase are ahead by
    /// set: [`catch_up`](Series::catch_up), then what of stage 0 comes after the first phase.
    pub fn start(&self, jets: &mut Jets) {
        self.catch_up(jets);
        if let Some(closing) = self.closing.as_ref().filter(|_| self.has_room(jets, 1)) {
            self.later_phases(closing, jets, 0);
        }
    }

    fn later_phases(&self, closing: &Closing, jets: &mut Jets, stage: usize) {
        for phase in 1..self.phases.len() {
            self.run(jets, phase, stage);
            self.integrate(closing, jets, stage, phase);
            self.finish(jets, phase, stage);
        }
    }

    /// Whether a stage finds nothing beyond the highest order.
    pub(super) fn has_room(&self, jets: &Jets, stage: usize) -> bool {
        let ahead = (0..self.variables.len()).map(|at| self.ahead_of(at)).max();
        stage > 0 && stage + ahead.unwrap_or(0).max(self.ahead) < jets.room
    }

    fn integrate(&self, closing: &Closing, jets: &mut Jets, stage: usize, phase: usize) {
        let at = self.beside(jets.room);
        for &Integral { first, count, of } in &closing.integrals {
            if count == 0 || self.phase_of(first) != phase {
                continue;
            }
            let m = stage + self.ahead_of(first);
            let from = match of {
                Source::Variables(from) => Series::ids(&self.variables, from, count),
                Source::Outputs(from) => Series::ids(&self.outputs, from, count),
            };
            let by = jets.beside.as_slice()[at.inverses + LANES * m];
            for (&to, &from) in Series::ids(&self.variables, first, count).iter().zip(from) {
                jets.put(to, m, jets.at(from, m - 1) * by);
            }
        }
    }
}

/// x[k] = S r
struct Solving<'a> {
    series: &'a Series,
    closing: &'a Closing,
    jets: &'a mut Jets,
    stage: usize,
}

impl Wide for Solving<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Solving { series, closing, jets, stage } = self;
        let at = series.beside(jets.room);
        let unknowns = Series::ids(&series.variables, closing.unknowns, closing.equations);
        for (lane, &unknown) in unknowns.iter().enumerate() {
            let mut sums = [0f64; 2];
            for equation in 0..closing.equations {
                let ahead = series.when.1[equation].ahead;
                let y = jets.at(series.outputs[equation], stage + ahead);
                let right = jets.beside.as_slice()[at.levels[ahead] + LANES * stage] * y;
                let s = jets.beside.as_slice()[at.matrix + equation * closing.column() + lane];
                let sum = &mut sums[equation % closing.sums()];
                *sum = right.mul_add(s, *sum);
            }
            jets.put(unknown, stage, if closing.sums() == 2 { sums[0] + sums[1] } else { sums[0] });
        }
    }
}
