//! Random points, and a look at expressions there in balls of doubles.

use crate::ball::{BallSign, Balls, DoubleBall, Doubles, Enclose, Enclosed};
use crate::eval::Arithmetic;
use crate::function::Function;
use crate::modular::mix;
use crate::number::Number;
use crate::symbol::Symbol;
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// No more points than these for the sake of branches.
const MAX_PIECES: usize = 16;

/// One point after a look in doubles.
pub(crate) struct Looked {
    pub number: u32,
    /// How many expressions have a value there that may be 0.
    pub defined: usize,
    /// How many are not known to be undefined.
    pub possible: usize,
    /// Which way branches were taken.
    pub branches: u64,
}

/// The points where something may be defined: first one for each way that
/// branches were taken, of which it says how many there are.
pub(crate) fn in_order(mut points: Vec<Looked>) -> (Vec<u32>, usize) {
    points.retain(|point| point.possible > 0);
    // Where most are defined comes first; else ranges stay in turn.
    points.sort_by_key(|point| std::cmp::Reverse(point.defined));
    let mut seen = FxHashSet::default();
    let (pieces, others): (Vec<Looked>, Vec<Looked>) = points
        .into_iter()
        .partition(|point| seen.len() < MAX_PIECES && seen.insert(point.branches));
    let count = pieces.len();
    (pieces.into_iter().chain(others).map(|point| point.number).collect(), count)
}

/// Balls of doubles that remember which way branches are taken.
pub(crate) struct Traced {
    balls: Balls<Doubles>,
    branches: Cell<u64>,
}

impl Traced {
    pub fn new() -> Self {
        Traced { balls: Balls(Doubles), branches: Cell::new(0) }
    }

    /// The value of a symbol.
    pub fn coordinate(&self, seed: u64, point: u32, symbol: Symbol) -> Enclosed<DoubleBall> {
        Doubles.number(&coordinate(seed, point, symbol))
    }

    /// The value of a symbol at a point near 0.
    pub fn small_coordinate(&self, seed: u64, point: u32, symbol: Symbol) -> Enclosed<DoubleBall> {
        Doubles.about(small_coordinate(seed, point, symbol), 0.0)
    }

    pub fn sign(&self, ball: &DoubleBall) -> BallSign {
        Doubles.sign(ball)
    }

    /// A fingerprint of the branches taken; equal evaluations have equal ones.
    pub fn branches(&self) -> u64 {
        self.branches.get()
    }

    fn note(&self, branch: u64) {
        self.branches.set(mix(self.branches.get() ^ branch));
    }
}

impl Arithmetic for Traced {
    type Value = Enclosed<DoubleBall>;

    fn number(&self, number: &Number) -> Self::Value {
        self.balls.number(number)
    }

    fn pi(&self) -> Self::Value {
        self.balls.pi()
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.balls.add(a, b)
    }

    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.balls.mul(a, b)
    }

    fn power(&self, base: &Self::Value, exponent: &Number) -> Self::Value {
        self.balls.power(base, exponent)
    }

    fn pow(&self, base: &Self::Value, exponent: &Self::Value) -> Self::Value {
        self.balls.pow(base, exponent)
    }

    fn call(&self, function: Function, arguments: &[Self::Value]) -> Self::Value {
        match (function, arguments) {
            (Function::Abs | Function::Sign | Function::If, [Ok(x), ..]) => {
                self.note(Doubles.sign(x) as u64)
            }
            (Function::Min | Function::Max, all) => {
                let middle = |k: usize| all[k].map_or(f64::NAN, |ball| ball.middle);
                let least = (0..all.len()).min_by(|&i, &j| middle(i).total_cmp(&middle(j)));
                let most = (0..all.len()).max_by(|&i, &j| middle(i).total_cmp(&middle(j)));
                let chosen = if function == Function::Min { least } else { most };
                self.note(chosen.unwrap_or(0) as u64);
            }
            _ => {}
        }
        self.balls.call(function, arguments)
    }

    fn solve(&self, k: &[Self::Value], r: &[Self::Value]) -> Vec<Self::Value> {
        self.balls.solve(k, r)
    }
}

/// The value of a symbol at a point: a dyadic number of 61 random bits. Points
/// take ranges in turn, so that most expressions are defined somewhere, and
/// those that vanish for one sign only are found out.
pub(crate) fn coordinate(seed: u64, point: u32, symbol: Symbol) -> Number {
    let random = mix(mix(seed ^ mix(u64::from(point))) ^ symbol.index() as u64);
    // In (0, 1), odd, with the sign of a bit that is not used otherwise.
    let bits = (random >> 3 | 1) as i64;
    let mixed = if random & 4 == 0 { bits } else { -bits };
    // value = numerator / 2^shift
    let (numerator, shift) = match point % 8 {
        // (1/4, 9/4), as the parameters of a model are.
        0 => (bits + (1 << 58), 60),
        // (−2, 2)
        1 => (mixed, 60),
        // (−9/4, −1/4)
        2 => (-bits - (1 << 58), 60),
        // (0, 1), for arcsines and the like.
        3 => (bits, 61),
        // (−1/2, 1/2)
        4 => (mixed, 62),
        // (0, 8)
        5 => (bits, 58),
        // (−8, 8)
        6 => (mixed, 58),
        // (−64, 64)
        _ => (mixed, 55),
    };
    Number::ratio(numerator, 1 << shift).unwrap_or(Number::ONE)
}

/// How many points near 0 there are.
pub(crate) const SMALL_POINTS: u32 = 12;

/// The value of a symbol at a point near 0, but not at 0, which branches may take for
/// special: sizes down to 2^−192, of all symbols or of every other one. Functions of functions may be flat
/// to any number of digits nearly everywhere (what is drawn to a fixed point by
/// them), but not where they are repelled from one.
fn small_coordinate(seed: u64, point: u32, symbol: Symbol) -> f64 {
    const SIZES: [i32; 6] = [6, 12, 24, 48, 96, 192];
    let random = mix(mix(seed ^ mix(u64::from(point) | 1 << 32)) ^ symbol.index() as u64);
    // In ±(1/2, 3/2), with few digits.
    let part = 0.5 + (random >> 44) as f64 / (1u64 << 20) as f64;
    let value = if random & 1 == 0 { part } else { -part };
    let large = point >= SMALL_POINTS / 2 && random & 2 == 0;
    let size = SIZES[point as usize % SIZES.len()];
    if large { value } else { value * f64::from(-size).exp2() }
}
