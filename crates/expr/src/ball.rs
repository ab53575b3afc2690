//! Ball arithmetic: each value is a midpoint and a radius, and the exact value
//! lies within. Whatever is certified with balls holds for the exact value.
//!
//! For x in (m, r) and a smooth f
//!
//! ```text
//! |f(x) − f̃(m)| ≤ |f(m) − f̃(m)| + r · sup |f′| over the ball
//! ```
//!
//! where f̃(m) is what is computed; the first term is a rounding error, the
//! second follows from the mean value theorem. Products use
//! |xy − mₓm_y| ≤ |mₓ|r_y + |m_y|rₓ + rₓr_y.
//!
//! There are two kinds: [`Doubles`] for a quick look, and [`Extended`] with as
//! many bits as are asked for. What is common to both is here: an [`Enclose`]
//! knows its balls, and [`Balls`] makes an [`Arithmetic`] of it.
//!
//! A value may be missing, and a [`Gap`] says why. A gap makes every result a
//! gap that depends on it; a branch not taken does no harm.

mod double;
mod elimination;
mod extended;
mod magnitude;
mod surface;

pub use double::{DoubleBall, Doubles};
pub use extended::{Extended, ExtendedBall};
pub use magnitude::Magnitude;

use crate::arithmetic::{Arithmetic, Restriction};
use crate::function::Function;
use crate::number::Number;
use std::sync::Arc;

/// Why there is no ball around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// There is no value: a division by 0, the logarithm of a negative number.
    Undefined,
    /// The balls are too wide to tell whether there is one, or which branch is
    /// taken. More precision may help.
    Undecided,
}

/// A ball, or why there is none.
pub type Enclosed<B> = Result<B, Gap>;

/// What is known of the sign of all numbers of a ball.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BallSign {
    /// All are less than 0.
    Negative,
    /// The ball is the number 0 alone.
    Zero,
    /// All are greater than 0.
    Positive,
    /// It holds 0 and other numbers.
    Unclear,
}

/// A kind of ball. Results may be [`Gap::Undecided`] where a number is too
/// large or a ball too wide to go on.
pub trait Enclose {
    /// A midpoint and a radius.
    type Ball: Clone;
    /// The number.
    fn number(&self, number: &Number) -> Enclosed<Self::Ball>;
    /// π.
    fn pi(&self) -> Enclosed<Self::Ball>;
    /// a + b
    fn add(&self, a: &Self::Ball, b: &Self::Ball) -> Enclosed<Self::Ball>;
    /// a · b
    fn mul(&self, a: &Self::Ball, b: &Self::Ball) -> Enclosed<Self::Ball>;
    /// −a
    fn neg(&self, a: &Self::Ball) -> Self::Ball;
    /// |a|
    fn abs(&self, a: &Self::Ball) -> Self::Ball;
    /// 1/a, for a ball that does not hold 0.
    fn inverse(&self, a: &Self::Ball) -> Enclosed<Self::Ball>;
    /// √a, for a ball of positive numbers.
    fn sqrt(&self, a: &Self::Ball) -> Enclosed<Self::Ball>;
    /// sin, cos, atan, exp, sinh, cosh, tanh, or log of positive numbers.
    fn elementary(&self, function: Function, a: &Self::Ball) -> Enclosed<Self::Ball>;
    /// The lesser, or the greater.
    fn extreme(&self, greater: bool, a: &Self::Ball, b: &Self::Ball) -> Self::Ball;
    /// The sign of its numbers.
    fn sign(&self, a: &Self::Ball) -> BallSign;
    /// Whether a's midpoint is larger than b's, signs aside.
    fn larger(&self, a: &Self::Ball, b: &Self::Ball) -> bool;
    /// The integer, if the ball is one integer that is not large.
    fn integer(&self, a: &Self::Ball) -> Option<i64>;
    /// Whether an integer lies in the ball.
    fn holds_integer(&self, a: &Self::Ball) -> bool;
    /// Functions restricted to a surface; without digits to spare the functions themselves.
    fn restricted(
        balls: &Balls<Self>,
        of: &Restriction,
        arguments: &[Enclosed<Self::Ball>],
    ) -> Vec<Enclosed<Self::Ball>>
    where
        Self: Sized,
    {
        of.plain(balls, arguments)
    }
}

/// The arithmetic of a kind of ball.
pub struct Balls<E>(pub E);

/// Both values; an undefined one matters more than an undecided one.
fn both<'a, B>(a: &'a Enclosed<B>, b: &'a Enclosed<B>) -> Enclosed<(&'a B, &'a B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Gap::Undefined), _) | (_, Err(Gap::Undefined)) => Err(Gap::Undefined),
        _ => Err(Gap::Undecided),
    }
}

/// All values, or the gap that matters most.
fn all<B>(values: &[Enclosed<B>]) -> Enclosed<Vec<&B>> {
    match values.iter().find(|v| matches!(v, Err(Gap::Undefined))) {
        Some(_) => Err(Gap::Undefined),
        None => values.iter().map(|v| v.as_ref().map_err(|&gap| gap)).collect(),
    }
}

impl<E: Enclose> Arithmetic for Balls<E> {
    type Value = Enclosed<E::Ball>;

    fn number(&self, number: &Number) -> Self::Value {
        self.0.number(number)
    }

    fn pi(&self) -> Self::Value {
        self.0.pi()
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let (a, b) = both(a, b)?;
        self.0.add(a, b)
    }

    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let (a, b) = both(a, b)?;
        self.0.mul(a, b)
    }

    fn power(&self, base: &Self::Value, exponent: &Number) -> Self::Value {
        self.rational_power(base.as_ref().map_err(|&gap| gap)?, exponent)
    }

    fn pow(&self, base: &Self::Value, exponent: &Self::Value) -> Self::Value {
        let (base, exponent) = both(base, exponent)?;
        self.ball_power(base, exponent)
    }

    fn call(&self, function: Function, x: &[Self::Value]) -> Self::Value {
        match (function, x) {
            (Function::If, [condition, yes, no]) => {
                let condition = condition.as_ref().map_err(|&gap| gap)?;
                match self.0.sign(condition) {
                    BallSign::Zero => no.clone(),
                    BallSign::Unclear => Err(Gap::Undecided),
                    _ => yes.clone(),
                }
            }
            (Function::And, _) => self.junction(x, false),
            (Function::Or, _) => self.junction(x, true),
            (Function::Min | Function::Max, [_, ..]) => {
                let balls = all(x)?;
                let greater = function == Function::Max;
                let first = balls[0].clone();
                Ok(balls[1..].iter().fold(first, |best, next| self.0.extreme(greater, &best, next)))
            }
            (Function::Atan2, [y, x]) => {
                let (y, x) = both(y, x)?;
                self.angle(y, x)
            }
            (_, [x]) => self.call_one(function, x.as_ref().map_err(|&gap| gap)?),
            (Function::Table | Function::Piece | Function::Entry | Function::Given, _) => {
                Err(Gap::Undecided)
            }
            _ => Err(Gap::Undefined),
        }
    }

    fn restricted(&self, of: &Arc<Restriction>, arguments: &[Self::Value]) -> Vec<Self::Value> {
        E::restricted(self, of, arguments)
    }

    fn solve(&self, k: &[Self::Value], r: &[Self::Value]) -> Vec<Self::Value> {
        let solution = match (all(k), all(r)) {
            (Ok(k), Ok(r)) => {
                let mut a: Vec<E::Ball> = k.into_iter().cloned().collect();
                let mut x: Vec<E::Ball> = r.into_iter().cloned().collect();
                self.eliminate(&mut a, &mut x).map(|()| x)
            }
            (Err(Gap::Undefined), _) | (_, Err(Gap::Undefined)) => Err(Gap::Undefined),
            _ => Err(Gap::Undecided),
        };
        match solution {
            Ok(x) => x.into_iter().map(Ok).collect(),
            Err(gap) => vec![Err(gap); r.len()],
        }
    }
}

impl<E: Enclose> Balls<E> {
    fn integer(&self, n: i64) -> Enclosed<E::Ball> {
        self.0.number(&Number::integer(n))
    }

    fn sub(&self, a: &E::Ball, b: &E::Ball) -> Enclosed<E::Ball> {
        self.0.add(a, &self.0.neg(b))
    }

    fn divide(&self, a: &E::Ball, b: &E::Ball) -> Enclosed<E::Ball> {
        self.0.mul(a, &self.reciprocal(b)?)
    }

    fn reciprocal(&self, a: &E::Ball) -> Enclosed<E::Ball> {
        match self.0.sign(a) {
            BallSign::Zero => Err(Gap::Undefined),
            BallSign::Unclear => Err(Gap::Undecided),
            _ => self.0.inverse(a),
        }
    }

    /// base^n by repeated squaring.
    fn integer_power(&self, base: &E::Ball, n: i64) -> Enclosed<E::Ball> {
        let mut square = if n < 0 { self.reciprocal(base)? } else { base.clone() };
        let mut rest = n.unsigned_abs();
        let mut result: Option<E::Ball> = None;
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(match result {
                    Some(result) => self.0.mul(&result, &square)?,
                    None => square.clone(),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.0.mul(&square, &square)?;
            }
        }
        result.map_or_else(|| self.integer(1), Ok)
    }

    fn rational_power(&self, base: &E::Ball, exponent: &Number) -> Enclosed<E::Ball> {
        let small = exponent.as_small();
        if let Some((n, 1)) = small {
            return self.integer_power(base, n);
        }
        match self.0.sign(base) {
            BallSign::Unclear => Err(Gap::Undecided),
            BallSign::Zero if exponent.is_negative() => Err(Gap::Undefined),
            BallSign::Zero => Ok(base.clone()),
            BallSign::Negative if !exponent.is_integer() => Err(Gap::Undefined),
            BallSign::Negative => {
                let size = self.exponential(&self.0.neg(base), &self.0.number(exponent)?)?;
                Ok(if exponent.is_even() { size } else { self.0.neg(&size) })
            }
            BallSign::Positive => match small {
                Some((n, 2)) => self.integer_power(&self.0.sqrt(base)?, n),
                _ => self.exponential(base, &self.0.number(exponent)?),
            },
        }
    }

    /// base^exponent = exp(exponent · log base) for a positive base.
    fn exponential(&self, base: &E::Ball, exponent: &E::Ball) -> Enclosed<E::Ball> {
        let log = self.0.elementary(Function::Log, base)?;
        self.0.elementary(Function::Exp, &self.0.mul(exponent, &log)?)
    }

    fn ball_power(&self, base: &E::Ball, exponent: &E::Ball) -> Enclosed<E::Ball> {
        if let Some(n) = self.0.integer(exponent) {
            return self.integer_power(base, n);
        }
        match (self.0.sign(base), self.0.sign(exponent)) {
            (BallSign::Positive, _) => self.exponential(base, exponent),
            (BallSign::Zero, BallSign::Positive) => Ok(base.clone()),
            (BallSign::Zero, BallSign::Negative) => Err(Gap::Undefined),
            (BallSign::Negative, _) if !self.0.holds_integer(exponent) => Err(Gap::Undefined),
            _ => Err(Gap::Undecided),
        }
    }

    fn call_one(&self, function: Function, x: &E::Ball) -> Enclosed<E::Ball> {
        let sign = self.0.sign(x);
        let truth = |negative: bool, zero: bool| match sign {
            BallSign::Negative => self.integer(negative as i64),
            BallSign::Zero => self.integer(zero as i64),
            BallSign::Positive => self.integer(0),
            BallSign::Unclear => Err(Gap::Undecided),
        };
        match function {
            Function::Tan => {
                let cos = self.0.elementary(Function::Cos, x)?;
                self.divide(&self.0.elementary(Function::Sin, x)?, &cos)
            }
            Function::Asin => self.arcsine(x),
            Function::Acos => {
                let quarter = self.quarter_turn()?;
                self.sub(&quarter, &self.arcsine(x)?)
            }
            Function::Log => match sign {
                BallSign::Positive => self.0.elementary(Function::Log, x),
                BallSign::Unclear => Err(Gap::Undecided),
                _ => Err(Gap::Undefined),
            },
            Function::Abs => Ok(self.0.abs(x)),
            Function::Sign => match sign {
                BallSign::Positive => self.integer(1),
                _ => Ok(self.0.neg(&truth(true, false)?)),
            },
            Function::Negative => truth(true, false),
            Function::NotPositive => truth(true, true),
            Function::Sin
            | Function::Cos
            | Function::Atan
            | Function::Sinh
            | Function::Cosh
            | Function::Tanh
            | Function::Exp => self.0.elementary(function, x),
            // Of one argument, these are that argument.
            Function::Min | Function::Max => Ok(x.clone()),
            // Steps, and what is made of data: nothing is proved of them.
            Function::Floor => Err(Gap::Undecided),
            Function::Atan2
            | Function::If
            | Function::And
            | Function::Or
            | Function::Table
            | Function::Piece
            | Function::Entry
            | Function::Given => Err(Gap::Undefined),
        }
    }

    fn quarter_turn(&self) -> Enclosed<E::Ball> {
        let half = self.0.inverse(&self.integer(2)?)?;
        self.0.mul(&self.0.pi()?, &half)
    }

    /// asin x = atan(x/√(1 − x²)) inside (−1, 1).
    fn arcsine(&self, x: &E::Ball) -> Enclosed<E::Ball> {
        let one = self.integer(1)?;
        let (above, below) = (self.sub(&one, x)?, self.0.add(&one, x)?);
        match (self.0.sign(&above), self.0.sign(&below)) {
            (BallSign::Positive, BallSign::Positive) => {
                let root = self.0.sqrt(&self.0.mul(&above, &below)?)?;
                self.0.elementary(Function::Atan, &self.divide(x, &root)?)
            }
            (BallSign::Zero, _) => self.quarter_turn(),
            (_, BallSign::Zero) => Ok(self.0.neg(&self.quarter_turn()?)),
            (BallSign::Negative, _) | (_, BallSign::Negative) => Err(Gap::Undefined),
            _ => Err(Gap::Undecided),
        }
    }

    /// The angle of (x, y) in (−π, π].
    fn angle(&self, y: &E::Ball, x: &E::Ball) -> Enclosed<E::Ball> {
        let atan = |q: &E::Ball| self.0.elementary(Function::Atan, q);
        match (self.0.sign(y), self.0.sign(x)) {
            (_, BallSign::Positive) => atan(&self.divide(y, x)?),
            (BallSign::Positive, _) => self.sub(&self.quarter_turn()?, &atan(&self.divide(x, y)?)?),
            (BallSign::Negative, _) => {
                let turned = self.0.add(&self.quarter_turn()?, &atan(&self.divide(x, y)?)?)?;
                Ok(self.0.neg(&turned))
            }
            (BallSign::Zero, BallSign::Negative) => self.0.pi(),
            (BallSign::Zero, BallSign::Zero) => Err(Gap::Undefined),
            // On the cut, or about the origin.
            _ => Err(Gap::Undecided),
        }
    }

    /// Whether any (else: all) of the values are not 0; one that decides
    /// suffices.
    fn junction(&self, x: &[Enclosed<E::Ball>], any: bool) -> Enclosed<E::Ball> {
        let mut gap = None;
        for value in x {
            match value.as_ref().map(|ball| self.0.sign(ball)) {
                Ok(BallSign::Zero) if !any => return self.integer(0),
                Ok(BallSign::Negative | BallSign::Positive) if any => return self.integer(1),
                Ok(BallSign::Unclear) => gap = gap.or(Some(Gap::Undecided)),
                Ok(_) => {}
                Err(&Gap::Undefined) => gap = Some(Gap::Undefined),
                Err(&Gap::Undecided) => gap = gap.or(Some(Gap::Undecided)),
            }
        }
        gap.map_or_else(|| self.integer(!any as i64), Err)
    }
}
