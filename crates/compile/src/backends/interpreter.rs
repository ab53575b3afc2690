//! The interpreter: a loop over instructions. Slow by the standard of machine code
//! and everywhere available; the reference for other backends.
//!
//! One loop serves single calls and lanes: registers are arrays of a length known
//! at compile time, one or [`LANES`].

use super::{Backend, Factors, Function, Scratch};
use crate::tape::{Instruction, Tape};
use dalembert_expr::Function as Elementary;
use dalembert_expr::eval::{Arithmetic, Doubles};

/// Sets of variables computed side by side.
pub const LANES: usize = 4;

/// The interpreter.
pub struct Interpreter;

/// The member of the list.
pub const BACKEND: Interpreter = Interpreter;

impl Backend for Interpreter {
    fn name(&self) -> &'static str {
        "interpreter"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        Box::new(Interpreted { tape })
    }
}

struct Interpreted {
    tape: Tape,
}

impl Function for Interpreted {
    fn constants(&self) -> usize {
        self.tape.constants
    }

    fn variables(&self) -> usize {
        self.tape.variables
    }

    fn outputs(&self) -> usize {
        self.tape.outputs.len()
    }

    fn scratch(&self) -> Scratch {
        let mut registers = vec![0.0; self.tape.registers()];
        registers[..self.tape.numbers.len()].copy_from_slice(&self.tape.numbers);
        let factors = self
            .tape
            .matrices
            .iter()
            .map(|matrix| Factors {
                lu: vec![0.0; matrix.size * matrix.size],
                order: vec![0; matrix.size],
                work: vec![0.0; matrix.size],
            })
            .collect();
        Scratch { registers, factors, ..Scratch::default() }
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        let first = self.tape.first_constant();
        scratch.registers[first..first + constants.len()].copy_from_slice(constants);
        scratch.constants = constants.to_vec();
        scratch.wide.clear();
        let (registers, factors) = (&mut scratch.registers, &mut scratch.factors);
        run(&self.tape, as_lanes(registers), factors, 0..self.tape.prologue);
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let first = self.tape.first_variable();
        scratch.registers[first..first + x.len()].copy_from_slice(x);
        let all = self.tape.prologue..self.tape.instructions.len();
        let (registers, factors) = (&mut scratch.registers, &mut scratch.factors);
        run(&self.tape, as_lanes(registers), factors, all);
        for (place, &register) in y.iter_mut().zip(&self.tape.outputs) {
            *place = scratch.registers[register as usize];
        }
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        let tape = &self.tape;
        if scratch.wide.len() != tape.registers() {
            // What the prologue computed is the same in every lane.
            scratch.wide = scratch.registers.iter().map(|&r| [r; LANES]).collect();
        }
        let first = tape.first_variable();
        let all = tape.prologue..tape.instructions.len();
        for start in (0..lanes).step_by(LANES) {
            let width = LANES.min(lanes - start);
            for variable in 0..tape.variables {
                let from = &x[variable * lanes + start..variable * lanes + start + width];
                let register = &mut scratch.wide[first + variable];
                // Lanes that are not asked for repeat the last one.
                register.fill(from[width - 1]);
                register[..width].copy_from_slice(from);
            }
            run(tape, &mut scratch.wide, &mut scratch.factors, all.clone());
            for (output, &register) in tape.outputs.iter().enumerate() {
                let to = &mut y[output * lanes + start..output * lanes + start + width];
                to.copy_from_slice(&scratch.wide[register as usize][..width]);
            }
        }
    }
}

/// Registers as lanes of one.
fn as_lanes(registers: &mut [f64]) -> &mut [[f64; 1]] {
    registers.as_chunks_mut::<1>().0
}

fn run<const L: usize>(
    tape: &Tape,
    registers: &mut [[f64; L]],
    factors: &mut [Factors],
    range: std::ops::Range<usize>,
) {
    let first = tape.first_instruction();
    // A matrix is factored lane by lane, so with several lanes the factors of one
    // lane only are kept, and each solve factors anew.
    for at in range {
        let into = first + at;
        let (before, after) = registers.split_at_mut(into);
        // Macros, not closures: each arm must be a loop over lanes of its own.
        macro_rules! one {
            ($a:expr, $f:expr) => {{
                let a = &before[$a as usize];
                std::array::from_fn(|l| $f(a[l]))
            }};
        }
        macro_rules! two {
            ($a:expr, $b:expr, $f:expr) => {{
                let (a, b) = (&before[$a as usize], &before[$b as usize]);
                std::array::from_fn(|l| $f(a[l], b[l]))
            }};
        }
        let get = |r: u32| before[r as usize];
        after[0] = match tape.instructions[at] {
            Instruction::Add(a, b) => two!(a, b, |a: f64, b: f64| a + b),
            Instruction::Sub(a, b) => two!(a, b, |a: f64, b: f64| a - b),
            Instruction::Mul(a, b) => two!(a, b, |a: f64, b: f64| a * b),
            Instruction::Div(a, b) => two!(a, b, |a: f64, b: f64| a / b),
            Instruction::Neg(a) => one!(a, |a: f64| -a),
            Instruction::Fma(a, b, c) => {
                let (a, b, c) = (get(a), get(b), get(c));
                std::array::from_fn(|l| a[l].mul_add(b[l], c[l]))
            }
            Instruction::Sqrt(a) => one!(a, |a: f64| a.sqrt()),
            Instruction::Pow(a, b) => two!(a, b, |a: f64, b: f64| a.powf(b)),
            Instruction::SinCos(a) => {
                let both = get(a).map(f64::sin_cos);
                after[1] = both.map(|x| x.1);
                both.map(|x| x.0)
            }
            Instruction::Follow => continue,
            Instruction::Call1(f, a) => one!(a, |a: f64| elementary(f, a)),
            Instruction::Call2(f, a, b) => two!(a, b, |a: f64, b: f64| Doubles.call(f, &[a, b])),
            Instruction::Select(c, a, b) => {
                let (c, a, b) = (get(c), get(a), get(b));
                std::array::from_fn(|l| match c[l] {
                    x if x.is_nan() => f64::NAN,
                    x if x != 0.0 => a[l],
                    _ => b[l],
                })
            }
            Instruction::Factor(matrix) => {
                if L == 1 {
                    factor(tape, before, factors, matrix as usize, 0);
                }
                [0.0; L]
            }
            Instruction::Solve(right) => {
                let data = &tape.rights[right as usize];
                let matrix = data.matrix as usize;
                for lane in 0..L {
                    if L > 1 {
                        factor(tape, before, factors, matrix, lane);
                    }
                    let Factors { lu, order, work } = &mut factors[matrix];
                    for (place, &r) in work.iter_mut().zip(order.iter()) {
                        *place = before[data.entries[r] as usize][lane];
                    }
                    back(lu, work);
                    work.iter().enumerate().for_each(|(i, &x)| after[i][lane] = x);
                }
                continue;
            }
        };
    }
}

fn elementary(f: Elementary, x: f64) -> f64 {
    match f {
        Elementary::Sin => x.sin(),
        Elementary::Cos => x.cos(),
        Elementary::Exp => x.exp(),
        Elementary::Abs => x.abs(),
        other => Doubles.call(other, &[x]),
    }
}

/// Gaussian elimination with row pivoting. A singular matrix gives infinities or
/// NaN in what is solved with it.
fn factor<const L: usize>(
    tape: &Tape,
    registers: &[[f64; L]],
    factors: &mut [Factors],
    matrix: usize,
    lane: usize,
) {
    let Factors { lu, order, .. } = &mut factors[matrix];
    let n = order.len();
    for (place, &r) in lu.iter_mut().zip(&tape.matrices[matrix].entries) {
        *place = registers[r as usize][lane];
    }
    order.iter_mut().enumerate().for_each(|(i, place)| *place = i);
    for column in 0..n {
        let mut pivot = column;
        for row in column + 1..n {
            if lu[row * n + column].abs() > lu[pivot * n + column].abs() {
                pivot = row;
            }
        }
        if pivot != column {
            order.swap(column, pivot);
            for j in 0..n {
                lu.swap(column * n + j, pivot * n + j);
            }
        }
        let inverse = 1.0 / lu[column * n + column];
        for row in column + 1..n {
            let factor = lu[row * n + column] * inverse;
            lu[row * n + column] = factor;
            for j in column + 1..n {
                lu[row * n + j] -= factor * lu[column * n + j];
            }
        }
    }
}

/// Solves with a factored matrix, in place, the right side already permuted.
fn back(lu: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for j in 0..i {
            x[i] -= lu[i * n + j] * x[j];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= lu[i * n + j] * x[j];
        }
        x[i] /= lu[i * n + i];
    }
}
