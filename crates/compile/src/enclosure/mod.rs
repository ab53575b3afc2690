//! A tape on intervals: bounds of functions and of their derivatives over a stretch of a motion.
//!
//! The variables are given as jets, intervals for their Taylor coefficients at all points of the
//! stretch; the outputs are such jets. So what is said of an output is true everywhere in between,
//! and not at samples only. Where a tape has linear solves or functions found by a search there is
//! no such thing. Source: R. Moore, R. Kearfott and M. Cloud, *Introduction to Interval Analysis*
//! (2009), chapters 5 and 9.
//!
//! ```
//! use dalembert_compile::{Tape, enclosure::{Enclosure, Interval, Jet}};
//! use dalembert_expr::Exprs;
//!
//! // sin x for x = s, s from 0.2 to 0.3
//! let exprs = Exprs::new();
//! let x = exprs.variable("x");
//! let tape = Tape::lower(&exprs, &[x.sin().id], &[], &[x.symbol().unwrap()]);
//! let mut enclosure = Enclosure::new(tape).unwrap();
//! enclosure.prepare(&[]);
//! let mut s = Jet::constant(Interval::new(0.2, 0.3));
//! s.0[1] = Interval::ONE;
//! enclosure.run(&[s]);
//! let sine = enclosure.output(0);
//! assert!(sine.0[0].has(0.25f64.sin()) && sine.0[1].has(0.25f64.cos()));
//! assert!(!sine.0[1].has(0.0));
//! ```

mod interval;
mod jet;

pub use interval::Interval;
pub use jet::{Jet, ORDER};

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use dalembert_expr::eval::{Arithmetic, Doubles};
use std::ops::Range;
use std::sync::Arc;

/// A tape made ready for intervals, and its registers.
#[derive(Clone, Debug)]
pub struct Enclosure {
    tape: Arc<Tape>,
    registers: Vec<Jet>,
    /// The same without derivatives.
    values: Vec<Jet<1>>,
}

impl Enclosure {
    /// Makes a tape ready; `None` if it has what is found by solving.
    pub fn new(tape: Tape) -> Option<Enclosure> {
        let is_solved = |i: &Instruction| {
            matches!(i, Instruction::Factor(_) | Instruction::Solve(_) | Instruction::Restricted(_))
        };
        if tape.instructions.iter().any(is_solved) {
            return None;
        }
        let registers = vec![Jet::constant(Interval::ZERO); tape.registers()];
        let values = vec![Jet::constant(Interval::ZERO); tape.registers()];
        Some(Enclosure { tape: Arc::new(tape), registers, values })
    }

    /// Sets the constants. Comes before the first [`run`](Enclosure::run).
    pub fn prepare(&mut self, constants: &[f64]) {
        let tape = &*self.tape;
        for (at, &value) in tape.numbers.iter().chain(constants).enumerate() {
            self.registers[at] = Jet::constant(Interval::of(value));
            self.values[at] = Jet::constant(Interval::of(value));
        }
        instructions(tape, &mut self.registers, 0..tape.prologue);
        instructions(tape, &mut self.values, 0..tape.prologue);
    }

    /// Takes the jets of the variables.
    pub fn run(&mut self, variables: &[Jet]) {
        run(&self.tape, &mut self.registers, variables);
    }

    /// The jet of an output.
    pub fn output(&self, at: usize) -> &Jet {
        &self.registers[self.tape.outputs[at] as usize]
    }

    /// Takes the values of the variables alone.
    pub fn run_values(&mut self, variables: &[Jet<1>]) {
        run(&self.tape, &mut self.values, variables);
    }

    /// The value of an output of these.
    pub fn value(&self, at: usize) -> Interval {
        self.values[self.tape.outputs[at] as usize].0[0]
    }

    /// Which variables are read.
    pub fn reads(&self) -> Vec<bool> {
        let first = self.tape.first_variable();
        let mut read = vec![false; self.tape.variables];
        let mut see = |register: Register| {
            let at = (register as usize).checked_sub(first);
            if let Some(place) = at.and_then(|at| read.get_mut(at)) {
                *place = true;
            }
        };
        self.tape.instructions.iter().for_each(|i| self.tape.reads(i, &mut see));
        self.tape.outputs.iter().for_each(|&output| see(output));
        read
    }
}

fn run<const N: usize>(tape: &Tape, registers: &mut [Jet<N>], variables: &[Jet<N>]) {
    let places = registers[tape.first_variable()..][..tape.variables].iter_mut();
    places.zip(variables).for_each(|(place, jet)| *place = *jet);
    instructions(tape, registers, tape.prologue..tape.instructions.len());
}

fn instructions<const N: usize>(tape: &Tape, registers: &mut [Jet<N>], range: Range<usize>) {
    let first = tape.first_instruction();
    for at in range {
        let instruction = tape.instructions[at];
        let of = |r: Register| &registers[r as usize];
        registers[first + at] = match instruction {
            Instruction::Add(a, b) => of(a).plus(of(b)),
            Instruction::Sub(a, b) => of(a).minus(of(b)),
            Instruction::Mul(a, b) if a == b => of(a).square(),
            Instruction::Mul(a, b) => of(a).times(of(b)),
            Instruction::Div(a, b) => of(a).over(of(b)),
            Instruction::Neg(a) => of(a).negated(),
            Instruction::Fma(a, b, c) if a == b => of(a).square().plus(of(c)),
            Instruction::Fma(a, b, c) => of(a).times(of(b)).plus(of(c)),
            Instruction::Sqrt(a) => of(a).sqrt(),
            Instruction::Pow(a, b) => of(a).power(of(b)),
            Instruction::SinCos(a) => {
                let (sin, cos) = of(a).sin_cos();
                registers[first + at + 1] = cos;
                sin
            }
            Instruction::Call1(f, a) => one(f, of(a)),
            Instruction::Call2(f, a, b) => two(f, of(a), of(b)),
            Instruction::Select(c, a, b) => {
                let condition = of(c).0[0];
                let is_first = match (condition.has(0.0), condition == Interval::ZERO) {
                    (false, _) => Some(true),
                    (_, true) => Some(false),
                    _ => None,
                };
                Jet::either(is_first, of(a), of(b))
            }
            Instruction::Follow => continue,
            // A tape with these was refused.
            Instruction::Factor(_) | Instruction::Solve(_) | Instruction::Restricted(_) => Jet::ALL,
        };
    }
}

/// A function of one argument.
fn one<const N: usize>(function: Function, a: &Jet<N>) -> Jet<N> {
    let number = |x: f64| Jet::constant(Interval::of(x));
    match function {
        Function::Sin => a.sin_cos().0,
        Function::Cos => a.sin_cos().1,
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Sinh => a.sinh_cosh().0,
        Function::Cosh => a.sinh_cosh().1,
        Function::Tanh => a.tanh(),
        Function::Exp => a.exp(),
        Function::Log => a.log(),
        Function::Abs => match side(a.0[0]) {
            Some(side) => Jet::either(Some(side > 0.0), a, &a.negated()),
            None => Jet::value(Interval { low: 0.0, high: a.0[0].size() }),
        },
        Function::Sign => side(a.0[0]).map_or(Jet::value(Interval::new(-1.0, 1.0)), number),
        Function::Negative => condition(a.0[0].high < 0.0, a.0[0].low >= 0.0),
        Function::NotPositive => condition(a.0[0].high <= 0.0, a.0[0].low > 0.0),
        Function::Floor => steps(a.0[0].low.floor(), a.0[0].high.floor()),
        _ => Jet::ALL,
    }
}

/// A function of two.
fn two<const N: usize>(function: Function, a: &Jet<N>, b: &Jet<N>) -> Jet<N> {
    let is_true = |jet: &Jet<N>| !jet.0[0].has(0.0);
    let is_false = |jet: &Jet<N>| jet.0[0] == Interval::ZERO;
    let is_less = match (a.0[0], b.0[0]) {
        (a, b) if a.high < b.low => Some(true),
        (a, b) if b.high < a.low => Some(false),
        _ => None,
    };
    match function {
        Function::Atan2 => Jet::angle(a, b),
        Function::Min => Jet::either(is_less, a, b),
        Function::Max => Jet::either(is_less, b, a),
        Function::And => condition(is_true(a) && is_true(b), is_false(a) || is_false(b)),
        Function::Or => condition(is_true(a) || is_true(b), is_false(a) && is_false(b)),
        // Numbers of a piece that is known.
        Function::Piece | Function::Entry => {
            let (key, low, high) = (a.0[0].low, b.0[0].low, b.0[0].high);
            let [low, high] = [low, high].map(|x| Doubles.call(function, &[key, x]));
            match a.0[0].low == a.0[0].high && (low == high || function == Function::Piece) {
                true => steps(low, high),
                false => Jet::ALL,
            }
        }
        _ => Jet::ALL,
    }
}

/// What rises by steps from one value to another.
fn steps<const N: usize>(low: f64, high: f64) -> Jet<N> {
    match (low, high) {
        _ if !(low.is_finite() && high.is_finite()) => Jet::ALL,
        _ if low == high => Jet::constant(Interval::of(low)),
        _ => Jet::value(Interval { low, high }),
    }
}

/// The sign of what has one.
fn side(a: Interval) -> Option<f64> {
    Some(a.side()).filter(|side| *side != 0).map(f64::from)
}

fn condition<const N: usize>(is_true: bool, is_false: bool) -> Jet<N> {
    match (is_true, is_false) {
        (true, _) => Jet::constant(Interval::ONE),
        (_, true) => Jet::constant(Interval::ZERO),
        _ => Jet::value(Interval { low: 0.0, high: 1.0 }),
    }
}
