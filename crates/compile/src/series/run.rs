//! Running series: values, then coefficients order by order.

use super::node::{Angle, Jet, Op, Solve};
use super::{BLOCK, Correction, Jets, Node, Series, stride};
use crate::backends::interpreter::{Loops, fastest};
use crate::calls;
use crate::tape::{Instruction, Register, Tape};
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
        for (place, pick) in jets.picks.iter_mut().zip(&self.picks) {
            *place = pick.factors(&jets.values);
        }
        let mut at = 0;
        for correction in self.phases.iter().flat_map(|phase| &phase.corrections) {
            if let Correction::Linear { y, op, .. } = correction {
                jets.slopes[at] = op.slopes(*y, jets);
            }
            at += 1;
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
        let before = self.phases.iter().take(phase).map(|p| p.corrections.len()).sum();
        fastest(Finish { series: self, jets, phase, stage, slopes: before });
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
            let at = |r: Register| values[r as usize];
            values[into] = match *instruction {
                Instruction::Add(a, b) => at(a) + at(b),
                Instruction::Sub(a, b) => at(a) - at(b),
                Instruction::Mul(a, b) => at(a) * at(b),
                Instruction::Div(a, b) => at(a) / at(b),
                Instruction::Neg(a) => -at(a),
                Instruction::Fma(a, b, c) => at(a).mul_add(at(b), at(c)),
                Instruction::Sqrt(a) => at(a).sqrt(),
                Instruction::Pow(a, b) => at(a).powf(at(b)),
                Instruction::SinCos(a) => {
                    let (sin, cos) = at(a).sin_cos();
                    values[into + 1] = cos;
                    sin
                }
                Instruction::Call1(f, a) => calls::one(f)(at(a)),
                Instruction::Call2(f, a, b) => calls::two(f)(at(a), at(b)),
                Instruction::Select(c, a, b) => match at(c) {
                    c if c.is_nan() => f64::NAN,
                    c if c != 0.0 => at(a),
                    _ => at(b),
                },
                Instruction::Factor(matrix) => {
                    let matrix = matrix as usize;
                    factors[matrix].factor(&tape.matrices[matrix], at);
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
        for &Node { op, y, ahead } in nodes {
            let m = match at {
                At::Stage(k) => k + ahead as usize,
                At::Order(m) if m <= ahead as usize => m,
                At::Order(_) => continue,
            };
            step(series, jets, op, y, m);
        }
    }
}

/// Σ a_j b_{m−j}, j = 0 … m.
#[inline(always)]
fn product(jets: &Jets, a: Jet, b: Jet, m: usize) -> f64 {
    let (room, stride) = (jets.room, stride(jets.room));
    let length = (m + 1).next_multiple_of(BLOCK);
    // Behind b_0 are zeros.
    let a = &jets.all[a as usize * stride..][..length];
    let b = &jets.all[b as usize * stride + 2 * room - 1 - m..][..length];
    let mut sums = [0.0; BLOCK];
    for (a, b) in a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)) {
        for i in 0..BLOCK {
            sums[i] = a[i].mul_add(b[i], sums[i]);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Coefficient m of a node.
#[inline(always)]
fn step(series: &Series, jets: &mut Jets, op: Op, y: Jet, m: usize) {
    let stride = stride(jets.room);
    let at = |jet: Jet, order: usize| jets.all[jet as usize * stride + order];
    let constant = |register: Register| jets.values[register as usize];
    let product = |a: Jet, b: Jet| product(jets, a, b, m);
    // What is not found yet is 0, so that sums may go over it.
    let value = match op {
        Op::Add(a, b) => at(a, m) + at(b, m),
        Op::Sub(a, b) => at(a, m) - at(b, m),
        Op::Neg(a) => -at(a, m),
        Op::Scale(c, a) => constant(c) * at(a, m),
        Op::ScaleAdd(c, a, b) => constant(c).mul_add(at(a, m), at(b, m)),
        Op::Over(a, c) => at(a, m) / constant(c),
        Op::Mul(a, b) => product(a, b),
        Op::MulAdd(a, b, c) => product(a, b) + at(c, m),
        Op::Div(a, b) => (at(a, m) - product(b, y)) / at(b, 0),
        Op::Sqrt(a) => (at(a, m) - product(y, y)) / (2.0 * at(y, 0)),
        Op::Derivative(a) => m as f64 * at(a, m),
        Op::Exp(_, dot) => product(dot, y) / m as f64,
        Op::Log(a, y_dot) => (at(a, m) - product(y_dot, a) / m as f64) / at(a, 0),
        Op::Power(a, a_dot, y_dot, e) => {
            let sum = constant(e) * product(a_dot, y) - product(y_dot, a);
            sum / (m as f64 * at(a, 0))
        }
        Op::SinCos(_, dot, cos) => {
            let sin = product(dot, cos) / m as f64;
            let next = -product(dot, y) / m as f64;
            jets.put(cos, m, next);
            sin
        }
        Op::Slope(_, dot, c, sign) => sign.of(product(dot, c) / m as f64),
        Op::Quotient(a, c, y_dot, sign) => {
            (sign.of(at(a, m)) - product(y_dot, c) / m as f64) / at(c, 0)
        }
        Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot }) => {
            let sum = product(b_dot, a) - product(a_dot, b) - product(y_dot, c);
            sum / (m as f64 * at(c, 0))
        }
        Op::Pick(a, b, place) => {
            let [first, second] = jets.picks[place as usize];
            first * at(a, m) + second * at(b, m)
        }
        Op::Solve(right) => return solve(&series.solves[right as usize], jets, m),
    };
    jets.put(y, m, value);
}

/// K₀ x_m = r_m − Σ K_j x_{m−j}
fn solve(solve: &Solve, jets: &mut Jets, m: usize) {
    let stride = stride(jets.room);
    for (i, &r) in solve.right.iter().enumerate() {
        jets.right[i] = jets.all[r as usize * stride + m];
    }
    for &(row, column, entry) in &solve.entries {
        jets.right[row as usize] -= product(jets, entry, solve.x[column as usize], m);
    }
    let Jets { factors, right, .. } = jets;
    factors[solve.matrix as usize].solve(|i| right[i]);
    for (i, &x) in solve.x.iter().enumerate() {
        jets.put(x, m, jets.factors[solve.matrix as usize].solution[i]);
    }
}

/// Corrections of a phase.
struct Finish<'a> {
    series: &'a Series,
    jets: &'a mut Jets,
    phase: usize,
    stage: usize,
    /// Where its slopes begin.
    slopes: usize,
}

impl Loops for Finish<'_> {
    #[inline(always)]
    fn run(self) {
        let Finish { series, jets, phase, stage, slopes } = self;
        let Some(phase) = series.phases.get(phase) else { return };
        let stride = stride(jets.room);
        for &(jet, ahead) in &phase.unknowns {
            jets.changes[jet as usize] = jets.all[jet as usize * stride + stage + ahead as usize];
        }
        for (at, correction) in (slopes..).zip(&phase.corrections) {
            let (y, ahead, change) = match *correction {
                Correction::Linear { y, ahead, of, .. } => {
                    let [a, b, c] = of.map(|jet| jets.changes[jet as usize]);
                    let [p, q, r] = jets.slopes[at];
                    (y, ahead, p.mul_add(a, q.mul_add(b, r * c)))
                }
                Correction::Derivative { y, ahead, of } => {
                    let order = stage + ahead as usize;
                    (y, ahead, order as f64 * jets.changes[of as usize])
                }
                Correction::Solve { at, ahead } => {
                    correct_solve(&phase.solves[at as usize], jets, stage + ahead as usize);
                    continue;
                }
            };
            jets.changes[y as usize] = change;
            let order = stage + ahead as usize;
            let value = jets.all[y as usize * stride + order] + change;
            jets.put(y, order, value);
        }
    }
}

/// K₀ δx = δr − δK x₀
fn correct_solve(solve: &Solve, jets: &mut Jets, m: usize) {
    let stride = stride(jets.room);
    for (i, &r) in solve.right.iter().enumerate() {
        jets.right[i] = jets.changes[r as usize];
    }
    for &(row, column, entry) in &solve.entries {
        let x = jets.all[solve.x[column as usize] as usize * stride];
        jets.right[row as usize] -= jets.changes[entry as usize] * x;
    }
    let Jets { factors, right, .. } = jets;
    factors[solve.matrix as usize].solve(|i| right[i]);
    for (i, &x) in solve.x.iter().enumerate() {
        let change = jets.factors[solve.matrix as usize].solution[i];
        jets.changes[x as usize] = change;
        jets.put(x, m, jets.all[x as usize * stride + m] + change);
    }
}
