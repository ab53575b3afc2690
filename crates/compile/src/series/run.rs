//! Running series: values, then coefficients order by order.

use super::node::{Angle, Jet, Op, Solve};
use super::{BLOCK, Correction, Jets, Node, Series, stride};
use crate::backends::interpreter::{Loops, fastest};
use crate::calls;
use crate::lu::Lu;
use crate::tape::{Instruction, Tape};
use std::ops::Range;

impl Series {
    /// Sets the constants and computes what depends on them only. Comes before the first
    /// [`begin`](Series::begin).
    pub fn prepare(&self, jets: &mut Jets, constants: &[f64]) {
        let tape = &*self.tape;
        jets.values[..tape.numbers.len()].copy_from_slice(&tape.numbers);
        let places = jets.values[tape.first_constant()..][..tape.constants].iter_mut();
        places.zip(constants).for_each(|(place, &value)| *place = value);
        fastest(Values { tape, jets, part: 0..tape.prologue });
    }

    /// Takes the values of the variables: coefficients of order 0 of everything, and 0 for all
    /// others.
    pub fn begin(&self, jets: &mut Jets, x: &[f64]) {
        let tape = &*self.tape;
        let places = jets.values[tape.first_variable()..][..tape.variables].iter_mut();
        places.zip(x).for_each(|(place, &value)| *place = value);
        fastest(Values { tape, jets, part: tape.prologue..tape.instructions.len() });
        jets.all.fill(0.0);
        for &(jet, register) in &self.begins {
            jets.put(jet, 0, jets.values[register as usize]);
        }
        let at = self.beside(jets.room);
        for (place, pick) in jets.beside[at.picks..].chunks_exact_mut(2).zip(&self.picks) {
            place.copy_from_slice(&pick.factors(&jets.values));
        }
        let mut first = at.slopes;
        for correction in self.phases.iter().flat_map(|phase| &phase.corrections) {
            if let Correction::Linear { y, op, .. } = correction {
                let slopes = op.slopes(*y, jets, at.picks);
                jets.beside[first..first + 3].copy_from_slice(&slopes);
            }
            first += 3;
        }
    }

    /// Brings what is run ahead in the first phase up to the stage 1: all coefficients that
    /// variables are ahead by have been set.
    pub fn catch_up(&self, jets: &mut Jets) {
        let Some(phase) = self.phases.first() else { return };
        for order in 1..=self.ahead {
            fastest(Orders { series: self, jets, nodes: &phase.nodes, at: At::Order(order) });
        }
    }

    /// Runs a phase of a stage.
    pub fn run(&self, jets: &mut Jets, phase: usize, stage: usize) {
        let Some(phase) = self.phases.get(phase) else { return };
        fastest(Orders { series: self, jets, nodes: &phase.nodes, at: At::Stage(stage) });
    }

    /// Corrects what was run by the coefficients that the unknowns of the phase have been set to.
    pub fn finish(&self, jets: &mut Jets, phase: usize, stage: usize) {
        let before = self.corrections_before(phase);
        fastest(Finish { series: self, jets, phase, stage, before });
    }

    /// How many corrections there are in the phases before one.
    pub(super) fn corrections_before(&self, phase: usize) -> usize {
        self.phases.iter().take(phase).map(|p| p.corrections.len()).sum()
    }
}

/// Values of instructions.
struct Values<'a> {
    tape: &'a Tape,
    jets: &'a mut Jets,
    part: Range<usize>,
}

impl Loops for Values<'_> {
    #[inline(always)]
    fn run(self) {
        let Values { tape, jets, part } = self;
        let Jets { values, factors, .. } = jets;
        let first = tape.first_instruction() + part.start;
        let instructions = tape.instructions[part].iter();
        for (into, instruction) in (first..).zip(instructions) {
            macro_rules! at {
                ($r:expr) => {
                    values[$r as usize]
                };
            }
            values[into] = match *instruction {
                Instruction::Add(a, b) => at!(a) + at!(b),
                Instruction::Sub(a, b) => at!(a) - at!(b),
                Instruction::Mul(a, b) => at!(a) * at!(b),
                Instruction::Div(a, b) => at!(a) / at!(b),
                Instruction::Neg(a) => -at!(a),
                Instruction::Fma(a, b, c) => at!(a).mul_add(at!(b), at!(c)),
                Instruction::Sqrt(a) => at!(a).sqrt(),
                Instruction::Pow(a, b) => at!(a).powf(at!(b)),
                Instruction::SinCos(a) => {
                    let (sin, cos) = at!(a).sin_cos();
                    values[into + 1] = cos;
                    sin
                }
                Instruction::Call1(f, a) => calls::one(f)(at!(a)),
                Instruction::Call2(f, a, b) => calls::two(f)(at!(a), at!(b)),
                Instruction::Select(c, a, b) => match at!(c) {
                    c if c.is_nan() => f64::NAN,
                    c if c != 0.0 => at!(a),
                    _ => at!(b),
                },
                Instruction::Factor(matrix) => {
                    let matrix = matrix as usize;
                    factors[matrix].factor(&tape.matrices[matrix], |r| values[r as usize]);
                    continue;
                }
                Instruction::Solve(right) => {
                    let right = &tape.rights[right as usize];
                    let lu = &mut factors[right.matrix as usize];
                    lu.solve(|i| values[right.entries[i] as usize]);
                    values[into..into + lu.solution.len()].copy_from_slice(&lu.solution);
                    continue;
                }
                Instruction::Follow => continue,
                Instruction::Restricted(_) => f64::NAN,
            };
        }
    }
}

#[derive(Clone, Copy)]
enum At {
    Stage(usize),
    /// One order of everything that is at least so much ahead.
    Order(usize),
}

/// Coefficients of nodes.
struct Orders<'a> {
    series: &'a Series,
    jets: &'a mut Jets,
    nodes: &'a [Node],
    at: At,
}

impl Loops for Orders<'_> {
    #[inline(always)]
    fn run(self) {
        let Orders { series, jets, nodes, at } = self;
        let Jets { values, all, room, beside, factors, right, .. } = jets;
        let picks = &beside[series.beside(*room).picks..];
        let mut rows = Rows { all, room: *room, stride: stride(*room) };
        for &Node { op, y, ahead } in nodes {
            let m = match at {
                At::Stage(k) => k + ahead as usize,
                At::Order(m) if m <= ahead as usize => m,
                At::Order(_) => continue,
            };
            if let Op::Solve(at) = op {
                let solve = &series.solves[at as usize];
                solve_order(solve, &mut rows, &mut factors[solve.matrix as usize], right, m);
            } else {
                let value = coefficient(&mut rows, values, picks, op, y, m);
                rows.put(y, m, value);
            }
        }
    }
}

/// All coefficients, with what is known of their places at hand.
struct Rows<'a> {
    all: &'a mut [f64],
    room: usize,
    stride: usize,
}

impl Rows<'_> {
    #[inline(always)]
    fn at(&self, jet: Jet, order: usize) -> f64 {
        self.all[jet as usize * self.stride + order]
    }

    #[inline(always)]
    fn put(&mut self, jet: Jet, order: usize, value: f64) {
        let row = &mut self.all[jet as usize * self.stride..][..2 * self.room];
        row[order] = value;
        row[2 * self.room - 1 - order] = value;
    }

    /// Σ a_j b_{m−j}, j = 0 … m.
    #[inline(always)]
    fn product(&self, a: Jet, b: Jet, m: usize) -> f64 {
        let length = (m + 1).next_multiple_of(BLOCK);
        // Behind b_0 are zeros.
        let a = &self.all[a as usize * self.stride..][..length];
        let b = &self.all[b as usize * self.stride + 2 * self.room - 1 - m..][..length];
        let mut sums = [0.0; BLOCK];
        let mut first = 0;
        // By places, not by iterators: these are calls where they are not inlined.
        while first < length {
            let (a, b) = (&a[first..first + BLOCK], &b[first..first + BLOCK]);
            for i in 0..BLOCK {
                sums[i] = a[i].mul_add(b[i], sums[i]);
            }
            first += BLOCK;
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3])
    }
}

/// Coefficient m of a node that has one series.
#[inline(always)]
fn coefficient(rows: &mut Rows, values: &[f64], picks: &[f64], op: Op, y: Jet, m: usize) -> f64 {
    // No closures: what is not inlined is not compiled for the processor's instructions.
    macro_rules! constant {
        ($register:expr) => {
            values[$register as usize]
        };
    }
    macro_rules! at {
        ($jet:expr) => {
            rows.at($jet, m)
        };
    }
    macro_rules! first {
        ($jet:expr) => {
            rows.at($jet, 0)
        };
    }
    macro_rules! product {
        ($a:expr, $b:expr) => {
            rows.product($a, $b, m)
        };
    }
    // What is not found yet is 0, so that sums may go over it.
    match op {
        Op::Add(a, b) => at!(a) + at!(b),
        Op::Sub(a, b) => at!(a) - at!(b),
        Op::Neg(a) => -at!(a),
        Op::Scale(c, a) => constant!(c) * at!(a),
        Op::ScaleAdd(c, a, b) => constant!(c).mul_add(at!(a), at!(b)),
        Op::Over(a, c) => at!(a) / constant!(c),
        Op::Mul(a, b) => product!(a, b),
        Op::MulAdd(a, b, c) => product!(a, b) + at!(c),
        Op::Div(a, b) => (at!(a) - product!(b, y)) / first!(b),
        Op::Sqrt(a) => (at!(a) - product!(y, y)) / (2.0 * first!(y)),
        Op::Derivative(a) => m as f64 * at!(a),
        Op::Exp(_, dot) => product!(dot, y) / m as f64,
        Op::Log(a, y_dot) => (at!(a) - product!(y_dot, a) / m as f64) / first!(a),
        Op::Power(a, a_dot, y_dot, e) => {
            let sum = constant!(e) * product!(a_dot, y) - product!(y_dot, a);
            sum / (m as f64 * first!(a))
        }
        Op::SinCos(_, dot, cos) => {
            let sin = product!(dot, cos) / m as f64;
            let next = -product!(dot, y) / m as f64;
            rows.put(cos, m, next);
            sin
        }
        Op::Slope(_, dot, c, sign) => sign.of(product!(dot, c) / m as f64),
        Op::Quotient(a, c, y_dot, sign) => {
            (sign.of(at!(a)) - product!(y_dot, c) / m as f64) / first!(c)
        }
        Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot }) => {
            let sum = product!(b_dot, a) - product!(a_dot, b) - product!(y_dot, c);
            sum / (m as f64 * first!(c))
        }
        Op::Pick(a, b, place) => {
            let (by_first, by_second) = (picks[2 * place as usize], picks[2 * place as usize + 1]);
            by_first * at!(a) + by_second * at!(b)
        }
        // These have several.
        Op::Solve(_) => f64::NAN,
    }
}

/// K₀ x_m = r_m − Σ K_j x_{m−j}
#[inline(always)]
fn solve_order(solve: &Solve, rows: &mut Rows, lu: &mut Lu, right: &mut [f64], m: usize) {
    for (place, &r) in right.iter_mut().zip(&solve.right) {
        *place = rows.at(r, m);
    }
    for &(row, column, entry) in &solve.entries {
        right[row as usize] -= rows.product(entry, solve.x[column as usize], m);
    }
    lu.solve(|i| right[i]);
    for (&x, &value) in solve.x.iter().zip(&lu.solution) {
        rows.put(x, m, value);
    }
}

/// Corrections of a phase.
struct Finish<'a> {
    series: &'a Series,
    jets: &'a mut Jets,
    phase: usize,
    stage: usize,
    /// How many corrections there are in those before it.
    before: usize,
}

impl Loops for Finish<'_> {
    #[inline(always)]
    fn run(self) {
        let Finish { series, jets, phase, stage, before } = self;
        let Some(phase) = series.phases.get(phase) else { return };
        let Jets { all, room, beside, factors, right, .. } = jets;
        let at = series.beside(*room);
        let (changes, slopes) = beside[at.changes..].split_at_mut(at.slopes - at.changes);
        let slopes = slopes[3 * before..].chunks_exact(3);
        let mut rows = Rows { all, room: *room, stride: stride(*room) };
        for &(jet, ahead) in &phase.unknowns {
            changes[jet as usize] = rows.at(jet, stage + ahead as usize);
        }
        for (slopes, correction) in slopes.zip(&phase.corrections) {
            let (y, order, change) = match *correction {
                Correction::Linear { y, ahead, of: [a, b, c], .. } => {
                    let (p, q, r) = (slopes[0], slopes[1], slopes[2]);
                    let rest = q.mul_add(changes[b as usize], r * changes[c as usize]);
                    let sum = p.mul_add(changes[a as usize], rest);
                    (y, stage + ahead as usize, sum)
                }
                Correction::Derivative { y, ahead, of } => {
                    let order = stage + ahead as usize;
                    (y, order, order as f64 * changes[of as usize])
                }
                Correction::Solve { at, ahead } => {
                    let solve = &phase.solves[at as usize];
                    let lu = &mut factors[solve.matrix as usize];
                    correct_solve(solve, &mut rows, changes, lu, right, stage + ahead as usize);
                    continue;
                }
            };
            changes[y as usize] = change;
            let value = rows.at(y, order) + change;
            rows.put(y, order, value);
        }
    }
}

/// K₀ δx = δr − δK x₀
fn correct_solve(
    solve: &Solve,
    rows: &mut Rows,
    changes: &mut [f64],
    lu: &mut Lu,
    right: &mut [f64],
    m: usize,
) {
    for (place, &r) in right.iter_mut().zip(&solve.right) {
        *place = changes[r as usize];
    }
    for &(row, column, entry) in &solve.entries {
        right[row as usize] -= changes[entry as usize] * rows.at(solve.x[column as usize], 0);
    }
    lu.solve(|i| right[i]);
    for (&x, &change) in solve.x.iter().zip(&lu.solution) {
        changes[x as usize] = change;
        rows.put(x, m, rows.at(x, m) + change);
    }
}
