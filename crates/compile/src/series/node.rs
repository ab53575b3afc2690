//! What is done to series: recurrences, what each reads, and its slopes at order 0.

use super::{Jets, LANES};
use crate::tape::Register;

/// A series, by number.
pub(super) type Jet = u32;

/// The series of everything constant, from order 1 on.
pub(super) const STILL: Jet = 0;

/// How the coefficients of y follow. ȧ is the series of m a_m, of which most recurrences are
/// products: for y′ = c a′, m y_m = Σ ȧ_j c_{m−j}.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// a + b
    Add(Jet, Jet),
    /// a − b
    Sub(Jet, Jet),
    /// −a
    Neg(Jet),
    /// A constant times a.
    Scale(Register, Jet),
    /// A constant times a, plus c.
    ScaleAdd(Register, Jet, Jet),
    /// a over a constant.
    Over(Jet, Register),
    /// a b
    Mul(Jet, Jet),
    /// a b + c
    MulAdd(Jet, Jet, Jet),
    /// a / b
    Div(Jet, Jet),
    /// √a
    Sqrt(Jet),
    /// ȧ
    Derivative(Jet),
    /// y′ = y a′, by ȧ.
    Exp(Jet, Jet),
    /// a y′ = a′, by ẏ.
    Log(Jet, Jet),
    /// a y′ = e y a′ with a constant e, by ȧ and ẏ.
    Power(Jet, Jet, Jet, Register),
    /// Sine, and cosine in the last, by ȧ.
    SinCos(Jet, Jet, Jet),
    /// y′ = ±c a′, by ȧ.
    Slope(Jet, Jet, Jet, Sign),
    /// c y′ = ±a′, by ẏ.
    Quotient(Jet, Jet, Jet, Sign),
    /// c y′ = a b′ − b a′: the place among the angles.
    Angle(Angle),
    /// One of two, or with another sign: the place among the picks.
    Pick(Jet, Jet, u32),
    /// The components of a solution: the place of the right side.
    Solve(u32),
}

/// A sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    #[inline(always)]
    pub(super) fn of(self, x: f64) -> f64 {
        if self == Sign::Plus { x } else { -x }
    }
}

/// atan2(b, a) with their derivatives, c = a² + b², and ẏ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Angle {
    pub(super) b: Jet,
    pub(super) a: Jet,
    pub(super) b_dot: Jet,
    pub(super) a_dot: Jet,
    pub(super) c: Jet,
    pub(super) y_dot: Jet,
}

/// What decides between branches: the registers of the value and of both branches, and of what
/// chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// |a|
    Abs(Register),
    /// The one that has the value.
    Equal(Register, Register),
    /// The first where this is not 0.
    Select(Register),
}

impl Pick {
    /// The factors of both branches.
    pub(super) fn factors(self, value: &dyn Fn(Register) -> f64) -> [f64; 2] {
        let is_first = match self {
            Pick::Abs(a) => return [if value(a) < 0.0 { -1.0 } else { 1.0 }, 0.0],
            Pick::Equal(y, a) => value(y) == value(a),
            Pick::Select(c) => value(c) != 0.0,
        };
        if is_first { [1.0, 0.0] } else { [0.0, 1.0] }
    }
}

/// A `solve` node: K x = r.
#[derive(Clone, Debug)]
pub(super) struct Solve {
    pub(super) matrix: u32,
    /// Row, column and jet of the entries that are not constant.
    pub(super) entries: Vec<(u32, u32, Jet)>,
    pub(super) right: Vec<Jet>,
    pub(super) x: Vec<Jet>,
}

impl Op {
    /// Calls `visit` for each jet whose coefficient m is read for that of y; with `true` where the
    /// coefficients below are not.
    pub(super) fn reads(&self, solves: &[Solve], visit: &mut dyn FnMut(Jet, bool)) {
        match *self {
            Op::Add(a, b) | Op::Sub(a, b) | Op::Pick(a, b, _) => {
                visit(a, true);
                visit(b, true);
            }
            Op::Neg(a) | Op::Scale(_, a) | Op::Over(a, _) => visit(a, true),
            Op::ScaleAdd(_, a, c) => {
                visit(a, true);
                visit(c, true);
            }
            Op::Mul(a, b) => {
                visit(a, false);
                visit(b, false);
            }
            Op::MulAdd(a, b, c) => {
                visit(a, false);
                visit(b, false);
                visit(c, true);
            }
            Op::Div(a, b) => {
                visit(a, true);
                visit(b, false);
            }
            // That ȧ is read below m is said where it is.
            Op::Sqrt(a) | Op::Derivative(a) => visit(a, true),
            Op::Quotient(a, ..) => visit(a, true),
            Op::Log(a, _) => visit(a, false),
            Op::Exp(a, dot) | Op::SinCos(a, dot, _) | Op::Slope(a, dot, ..) => {
                visit(a, true);
                visit(dot, false);
            }
            Op::Power(a, dot, ..) => {
                visit(a, false);
                visit(dot, false);
            }
            Op::Angle(Angle { a, b, a_dot, b_dot, .. }) => {
                [a, b, a_dot, b_dot].into_iter().for_each(|jet| visit(jet, false));
            }
            Op::Solve(at) => {
                let Solve { entries, right, .. } = &solves[at as usize];
                entries.iter().for_each(|entry| visit(entry.2, false));
                right.iter().for_each(|&jet| visit(jet, true));
            }
        }
    }

    /// Calls `visit` for each jet that is read below m only.
    pub(super) fn remembers(&self, visit: &mut dyn FnMut(Jet)) {
        match *self {
            Op::Log(_, y_dot) | Op::Power(_, _, y_dot, _) => visit(y_dot),
            Op::Slope(_, _, c, _) => visit(c),
            Op::Quotient(_, c, y_dot, _) => {
                visit(c);
                visit(y_dot);
            }
            Op::Angle(Angle { c, y_dot, .. }) => {
                visit(c);
                visit(y_dot);
            }
            _ => {}
        }
    }

    /// Whether the coefficients of y below m are read for the next.
    pub(super) fn remembers_itself(&self) -> bool {
        matches!(
            self,
            Op::Div(..) | Op::Sqrt(_) | Op::Exp(..) | Op::Power(..) | Op::SinCos(..) | Op::Solve(_)
        )
    }

    /// The same with other numbers for the jets.
    pub(super) fn renumbered(self, id: &dyn Fn(Jet) -> Jet) -> Op {
        match self {
            Op::Add(a, b) => Op::Add(id(a), id(b)),
            Op::Sub(a, b) => Op::Sub(id(a), id(b)),
            Op::Neg(a) => Op::Neg(id(a)),
            Op::Scale(c, a) => Op::Scale(c, id(a)),
            Op::ScaleAdd(c, a, b) => Op::ScaleAdd(c, id(a), id(b)),
            Op::Over(a, c) => Op::Over(id(a), c),
            Op::Mul(a, b) => Op::Mul(id(a), id(b)),
            Op::MulAdd(a, b, c) => Op::MulAdd(id(a), id(b), id(c)),
            Op::Div(a, b) => Op::Div(id(a), id(b)),
            Op::Sqrt(a) => Op::Sqrt(id(a)),
            Op::Derivative(a) => Op::Derivative(id(a)),
            Op::Exp(a, dot) => Op::Exp(id(a), id(dot)),
            Op::Log(a, dot) => Op::Log(id(a), id(dot)),
            Op::Power(a, dot, y_dot, e) => Op::Power(id(a), id(dot), id(y_dot), e),
            Op::SinCos(a, dot, cos) => Op::SinCos(id(a), id(dot), id(cos)),
            Op::Slope(a, dot, c, sign) => Op::Slope(id(a), id(dot), id(c), sign),
            Op::Quotient(a, c, y_dot, sign) => Op::Quotient(id(a), id(c), id(y_dot), sign),
            Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot }) => Op::Angle(Angle {
                b: id(b),
                a: id(a),
                b_dot: id(b_dot),
                a_dot: id(a_dot),
                c: id(c),
                y_dot: id(y_dot),
            }),
            Op::Pick(a, b, place) => Op::Pick(id(a), id(b), place),
            Op::Solve(at) => Op::Solve(at),
        }
    }

    /// The jets by which y is corrected, beside [`Op::slopes`].
    pub(super) fn sources(&self) -> [Jet; 3] {
        match *self {
            Op::Add(a, b) | Op::Sub(a, b) | Op::Pick(a, b, _) | Op::Mul(a, b) | Op::Div(a, b) => {
                [a, b, STILL]
            }
            Op::Neg(a) | Op::Scale(_, a) | Op::Over(a, _) | Op::Sqrt(a) => [a, STILL, STILL],
            Op::Exp(a, _) | Op::Log(a, _) | Op::Power(a, ..) | Op::SinCos(a, ..) => {
                [a, STILL, STILL]
            }
            Op::Slope(a, ..) | Op::Quotient(a, ..) => [a, STILL, STILL],
            Op::ScaleAdd(_, a, c) => [a, c, STILL],
            Op::MulAdd(a, b, c) => [a, b, c],
            Op::Angle(Angle { a, b, .. }) => [a, b, STILL],
            Op::Derivative(_) | Op::Solve(_) => [STILL; 3],
        }
    }

    /// ∂y/∂a at order 0, for each of the [sources](Op::sources).
    #[inline(always)]
    pub(super) fn slopes(&self, y: Jet, jets: &Jets, picks: usize) -> [f64; 3] {
        let at = |jet: Jet| jets.at(jet, 0);
        let value = |register: Register| jets.values[register as usize];
        match *self {
            Op::Add(..) => [1.0, 1.0, 0.0],
            Op::Sub(..) => [1.0, -1.0, 0.0],
            Op::Neg(_) => [-1.0, 0.0, 0.0],
            Op::Scale(c, _) => [value(c), 0.0, 0.0],
            Op::ScaleAdd(c, ..) => [value(c), 1.0, 0.0],
            Op::Over(_, c) => [1.0 / value(c), 0.0, 0.0],
            Op::Mul(a, b) => [at(b), at(a), 0.0],
            Op::MulAdd(a, b, _) => [at(b), at(a), 1.0],
            Op::Div(_, b) => [1.0 / at(b), -at(y) / at(b), 0.0],
            Op::Sqrt(_) => [0.5 / at(y), 0.0, 0.0],
            Op::Exp(..) => [at(y), 0.0, 0.0],
            Op::Log(a, _) => [1.0 / at(a), 0.0, 0.0],
            Op::Power(a, _, _, e) => [value(e) * at(y) / at(a), 0.0, 0.0],
            Op::SinCos(_, _, cos) => [at(cos), 0.0, 0.0],
            Op::Slope(_, _, c, sign) => [sign.of(at(c)), 0.0, 0.0],
            Op::Quotient(_, c, _, sign) => [sign.of(1.0 / at(c)), 0.0, 0.0],
            Op::Angle(Angle { a, b, c, .. }) => [-at(b) / at(c), at(a) / at(c), 0.0],
            Op::Pick(_, _, place) => {
                let factors = &jets.beside.as_slice()[picks + 2 * place as usize..];
                [factors[0], factors[1], 0.0]
            }
            Op::Derivative(_) | Op::Solve(_) => [0.0; 3],
        }
    }
}

/// What a stage does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Products of four pairs of series, the results side by side; with other ends where the
    /// unknowns are given, at the beginning.
    Products { y: Jet, a: Factor, b: Factor, ends: Ends, given: Ends },
    /// Four series side by side: of the newest coefficients, or of those before.
    Pack { to: Jet, from: [Jet; LANES], before: bool },
    /// One series.
    Last(Last, Jet),
}

/// Four factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// All the same.
    Same(Jet),
    /// Side by side from one on.
    Quad {
        first: Jet,
        /// Whether the newest coefficients have just been found, one by one.
        is_fresh: bool,
    },
}

/// Which of the newest coefficients m enter a product Σ a_j b_{m−j}. Those of unknowns are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ends {
    /// Those of both.
    Both,
    /// That of a: b_m is found by the product, or stands beside a₀ = 0.
    First,
    /// Of neither.
    None,
}

/// How a coefficient follows once products (p, q, r) are there. All is of order m, but what has
/// index 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Last {
    Add(Jet, Jet),
    Sub(Jet, Jet),
    Neg(Jet),
    Scale(Register, Jet),
    ScaleAdd(Register, Jet, Jet),
    Over(Jet, Register),
    Derivative(Jet),
    Pick(Jet, Jet, u32),
    /// (a − p) / b₀
    Div(Jet, Jet, Jet),
    /// (a − p) / 2y₀
    Sqrt(Jet, Jet),
    /// ±p / m
    Integral(Jet, Sign),
    /// (±a − p/m) / c₀
    Quotient(Jet, Jet, Jet, Sign),
    /// (e p − q) / m a₀
    Power(Jet, Jet, Jet, Register),
    /// (p − q − r) / m c₀
    Angle([Jet; 3], Jet),
    /// The components of a solution.
    Solve(u32),
}
