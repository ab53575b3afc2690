//! Balls of doubles: fast, and good for about thirteen digits.

use super::{BallSign, Enclose, Enclosed, Gap};
use crate::function::Function;
use crate::number::Number;

/// Balls with a double for the midpoint and one for the radius.
///
/// Sums, products, quotients and square roots are rounded as IEEE 754 asks.
/// The functions of the standard library are taken to be right to eight units
/// in the last place; those in use are right to one or two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubles;

/// All x with |x − middle| ≤ radius; both are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleBall {
    /// The midpoint.
    pub middle: f64,
    /// The radius.
    pub radius: f64,
}

/// Half a unit in the last place, relatively.
const HALF_ULP: f64 = f64::EPSILON / 2.0;

impl DoubleBall {
    fn exact(middle: f64) -> Self {
        DoubleBall { middle, radius: 0.0 }
    }

    /// A ball about a midpoint that is off by some units in the last place,
    /// with a radius that was computed in a few rounded steps.
    fn rounded(middle: f64, spread: f64, ulps: f64) -> Enclosed<Self> {
        // The last term is for results too small to be rounded relatively.
        let error = middle.abs() * (2.0 * HALF_ULP * ulps) + f64::MIN_POSITIVE;
        let radius = (spread + error) * (1.0 + 16.0 * f64::EPSILON);
        // Also when either is NaN.
        if middle.is_finite() && radius.is_finite() {
            Ok(DoubleBall { middle, radius })
        } else {
            Err(Gap::Undecided)
        }
    }
}

impl Doubles {
    /// The ball of a midpoint and a radius.
    pub fn about(&self, middle: f64, radius: f64) -> Enclosed<DoubleBall> {
        if middle.is_finite() && radius.is_finite() && radius >= 0.0 {
            Ok(DoubleBall { middle, radius })
        } else {
            Err(Gap::Undefined)
        }
    }
}

impl Enclose for Doubles {
    type Ball = DoubleBall;

    fn number(&self, number: &Number) -> Enclosed<DoubleBall> {
        let middle = number.to_f64();
        let exact = match number.as_small() {
            Some((n, d)) => n.unsigned_abs() < 1 << 53 && d.unsigned_abs().is_power_of_two(),
            None => false,
        };
        if exact { Ok(DoubleBall::exact(middle)) } else { DoubleBall::rounded(middle, 0.0, 0.5) }
    }

    fn pi(&self) -> Enclosed<DoubleBall> {
        DoubleBall::rounded(std::f64::consts::PI, 0.0, 0.5)
    }

    fn add(&self, a: &DoubleBall, b: &DoubleBall) -> Enclosed<DoubleBall> {
        let middle = a.middle + b.middle;
        let spread = a.radius + b.radius;
        // Small integers, as conditions have, stay exact.
        if spread == 0.0 && middle - a.middle == b.middle && middle - b.middle == a.middle {
            return Ok(DoubleBall::exact(middle));
        }
        DoubleBall::rounded(middle, spread, 0.5)
    }

    fn mul(&self, a: &DoubleBall, b: &DoubleBall) -> Enclosed<DoubleBall> {
        if *a == DoubleBall::exact(0.0) || *b == DoubleBall::exact(0.0) {
            return Ok(DoubleBall::exact(0.0));
        }
        let spread = a.middle.abs() * b.radius + b.middle.abs() * a.radius + a.radius * b.radius;
        DoubleBall::rounded(a.middle * b.middle, spread, 0.5)
    }

    fn neg(&self, a: &DoubleBall) -> DoubleBall {
        DoubleBall { middle: -a.middle, radius: a.radius }
    }

    fn abs(&self, a: &DoubleBall) -> DoubleBall {
        DoubleBall { middle: a.middle.abs(), radius: a.radius }
    }

    fn inverse(&self, a: &DoubleBall) -> Enclosed<DoubleBall> {
        let middle = 1.0 / a.middle;
        // |1/x − 1/m| ≤ r/(|m|(|m| − r))
        let gap = (a.middle.abs() - a.radius) * (1.0 - 2.0 * f64::EPSILON);
        DoubleBall::rounded(middle, middle.abs() * (a.radius / gap), 0.5)
    }

    fn sqrt(&self, a: &DoubleBall) -> Enclosed<DoubleBall> {
        let middle = a.middle.sqrt();
        // |√x − √m| ≤ r/√m
        DoubleBall::rounded(middle, a.radius / middle, 0.5)
    }

    fn elementary(&self, function: Function, a: &DoubleBall) -> Enclosed<DoubleBall> {
        let DoubleBall { middle: m, radius: r } = *a;
        // e^r ≤ 1 + 2r for r ≤ 1.
        let growth = if r <= 1.0 { r * (1.0 + 2.0 * r) } else { f64::INFINITY };
        let (middle, spread) = match function {
            Function::Sin => (m.sin(), r),
            Function::Cos => (m.cos(), r),
            Function::Atan => (m.atan(), r),
            Function::Tanh => (m.tanh(), r),
            Function::Exp => (m.exp(), m.exp() * growth),
            Function::Sinh => (m.sinh(), (m.sinh().abs() + 1.0) * growth),
            Function::Cosh => (m.cosh(), m.cosh() * growth),
            Function::Log => (m.ln(), r / ((m - r) * (1.0 - 2.0 * f64::EPSILON))),
            _ => return Err(Gap::Undecided),
        };
        // Once more the room that eight units give, for what the spread took
        // from the library.
        DoubleBall::rounded(middle, spread * (1.0 + 16.0 * f64::EPSILON), 8.0)
    }

    fn extreme(&self, greater: bool, a: &DoubleBall, b: &DoubleBall) -> DoubleBall {
        // |max(x, y) − max(m, n)| ≤ max(|x − m|, |y − n|); one that is certainly
        // chosen keeps its own radius.
        let (best, other) = if (a.middle > b.middle) == greater { (a, b) } else { (b, a) };
        let distance = (best.middle - other.middle).abs() * (1.0 - 2.0 * f64::EPSILON);
        let apart = distance > (best.radius + other.radius) * (1.0 + 2.0 * f64::EPSILON);
        let radius = if apart { best.radius } else { best.radius.max(other.radius) };
        DoubleBall { middle: best.middle, radius }
    }

    fn sign(&self, a: &DoubleBall) -> BallSign {
        if a.middle > a.radius {
            BallSign::Positive
        } else if -a.middle > a.radius {
            BallSign::Negative
        } else if a.radius == 0.0 {
            BallSign::Zero
        } else {
            BallSign::Unclear
        }
    }

    fn larger(&self, a: &DoubleBall, b: &DoubleBall) -> bool {
        a.middle.abs() > b.middle.abs()
    }

    fn integer(&self, a: &DoubleBall) -> Option<i64> {
        let exact = a.radius == 0.0 && a.middle == a.middle.trunc() && a.middle.abs() < 1e15;
        exact.then_some(a.middle as i64)
    }

    fn holds_integer(&self, a: &DoubleBall) -> bool {
        // One unit wider, so that rounding cannot lose an end.
        let width = a.radius + a.middle.abs() * f64::EPSILON;
        (a.middle + width).floor() >= (a.middle - width).ceil()
    }
}
