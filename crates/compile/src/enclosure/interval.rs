//! Intervals of doubles, rounded outward.
//!
//! Every operation encloses the values of the exact one at all points of its operands. Sums,
//! products, quotients and roots are off by half a unit in the last place, so a unit
//! outward is a bound; elementary functions are off by [`LIBRARY`] units at most. What is not
//! defined on a whole operand is everything.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What elementary functions of the library may be off by, as a part of their value.
const LIBRARY: f64 = 4.0 * f64::EPSILON;

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Interval {
    /// 0.
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };
    /// 1.
    pub const ONE: Interval = Interval { low: 1.0, high: 1.0 };
    /// Every number.
    pub const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// From one number to another; everything if one of them is none.
    #[inline]
    pub fn new(low: f64, high: f64) -> Interval {
        if low.is_nan() || high.is_nan() { Interval::ALL } else { Interval { low, high } }
    }

    /// One number.
    pub fn of(x: f64) -> Interval {
        Interval::new(x, x)
    }

    /// All numbers that are no further from one than a radius.
    pub fn around(x: f64, radius: f64) -> Interval {
        Interval::new(x - radius, x + radius).wider()
    }

    /// Both ends moved outward by a unit in the last place, or two.
    #[inline]
    fn wider(self) -> Interval {
        let off = |x: f64| f64::EPSILON * x.abs() + f64::MIN_POSITIVE;
        Interval::new(self.low - off(self.low), self.high + off(self.high))
    }

    /// The same for what the library computes.
    fn loose(self) -> Interval {
        let off = |x: f64| LIBRARY * x.abs() + f64::MIN_POSITIVE;
        Interval::new(self.low - off(self.low), self.high + off(self.high)).wider()
    }

    /// Whether a number is in it.
    pub fn has(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The side of zero it is on, +1 or −1; 0 where it has zero.
    pub fn side(self) -> i8 {
        i8::from(self.low > 0.0) - i8::from(self.high < 0.0)
    }

    /// Whether it has ends.
    pub fn is_bounded(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The largest size in it.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The smallest size in it.
    pub fn least_size(self) -> f64 {
        if self.has(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) }
    }

    /// What is in both; the first where that is nothing, by rounding.
    pub fn and(self, other: Interval) -> Interval {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Interval { low, high } } else { self }
    }

    /// What is in one of them, and between them.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// a², of the same a.
    pub fn square(self) -> Interval {
        let (a, b) = (self.least_size(), self.size());
        Interval::new((a * a).next_down().max(0.0), (b * b).next_up())
    }

    /// √a.
    pub fn sqrt(self) -> Interval {
        if self.low < 0.0 {
            return Interval::ALL;
        }
        Interval::new(self.low.sqrt().next_down().max(0.0), self.high.sqrt().next_up())
    }

    /// A function that grows, with what its values are bounded by.
    pub fn growing(self, f: fn(f64) -> f64, range: Interval) -> Interval {
        Interval::new(f(self.low), f(self.high)).loose().and(range)
    }

    /// Sine and cosine.
    pub fn sin_cos(self) -> (Interval, Interval) {
        const TURN: f64 = std::f64::consts::TAU;
        let range = Interval { low: -1.0, high: 1.0 };
        // Beyond this quarters are not told apart, and a whole turn has all values.
        if self.size() > 1e8 || self.high - self.low >= TURN {
            return (range, range);
        }
        // A value 1 at phase + 2πk inside; a little more than that counts, which is safe.
        let passes = |phase: f64| {
            let from = (self.low - phase) / TURN;
            let to = (self.high - phase) / TURN;
            let slack = 1e-14 * (1.0 + from.abs().max(to.abs()));
            (to + slack).floor() >= (from - slack).ceil()
        };
        let quarter = 0.25 * TURN;
        let of = |f: fn(f64) -> f64, top: f64| {
            let ends = Interval::new(f(self.low).min(f(self.high)), f(self.low).max(f(self.high)));
            let mut found = ends.loose().and(range);
            if passes(top) {
                found.high = 1.0;
            }
            if passes(top + 2.0 * quarter) {
                found.low = -1.0;
            }
            found
        };
        (of(f64::sin, quarter), of(f64::cos, 0.0))
    }

    /// cosh a.
    pub fn cosh(self) -> Interval {
        Interval::new(self.least_size().cosh(), self.size().cosh()).loose()
    }

    /// The angle of the points (x, y), where none is at 0 and none on the cut.
    pub fn angle(y: Interval, x: Interval) -> Interval {
        if x.low <= 0.0 && y.has(0.0) {
            return Interval::ALL;
        }
        let corners = [(y.low, x.low), (y.low, x.high), (y.high, x.low), (y.high, x.high)];
        let angles = corners.map(|(y, x)| y.atan2(x));
        let low = angles.iter().copied().fold(f64::INFINITY, f64::min);
        let high = angles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if y.is_bounded() && x.is_bounded() {
            Interval::new(low, high).loose()
        } else {
            Interval::ALL
        }
    }
}

impl Add for Interval {
    type Output = Interval;
    #[inline]
    fn add(self, other: Interval) -> Interval {
        // What is 0 leaves no noise.
        if other == Interval::ZERO {
            return self;
        }
        if self == Interval::ZERO {
            return other;
        }
        Interval::new(self.low + other.low, self.high + other.high).wider()
    }
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Interval;
    #[inline]
    fn mul(self, other: Interval) -> Interval {
        if self == Interval::ZERO || other == Interval::ZERO {
            return Interval::ZERO;
        }
        let (a, b) = (self.low * other.low, self.low * other.high);
        let (c, d) = (self.high * other.low, self.high * other.high);
        if (a + b + c + d).is_nan() {
            return Interval::ALL;
        }
        Interval::new(a.min(b).min(c.min(d)), a.max(b).max(c.max(d))).wider()
    }
}

impl Div for Interval {
    type Output = Interval;
    fn div(self, other: Interval) -> Interval {
        if other.has(0.0) {
            return Interval::ALL;
        }
        if self == Interval::ZERO {
            return self;
        }
        let (a, b) = (self.low / other.low, self.low / other.high);
        let (c, d) = (self.high / other.low, self.high / other.high);
        if (a + b + c + d).is_nan() {
            return Interval::ALL;
        }
        Interval::new(a.min(b).min(c.min(d)), a.max(b).max(c.max(d))).wider()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_expr::Random;

    /// Values at random points of random intervals are in what is said of the whole.
    #[test]
    fn values_are_inside() {
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let mut pick = || 10f64.powf(3.0 * random.unit() - 2.0) * (random.unit() - 0.5);
            let (x, y, w, u) = (pick(), pick(), pick().abs(), pick().abs());
            let (a, b) = (Interval::around(x, w), Interval::around(y, u));
            let (s, t) = (2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0);
            let (p, q) = (x + s * w, y + t * u);
            let (sin, cos) = a.sin_cos();
            let all = Interval::ALL;
            let cases = [
                (a + b, p + q),
                (a - b, p - q),
                (a * b, p * q),
                (a / b, p / q),
                (a.square(), p * p),
                (a.square().sqrt(), p.abs()),
                (sin, p.sin()),
                (cos, p.cos()),
                (a.cosh(), p.cosh()),
                (a.growing(f64::exp, all), p.exp()),
                (a.growing(f64::tanh, all), p.tanh()),
                (Interval::angle(a, b), p.atan2(q)),
            ];
            for (at, (interval, value)) in cases.into_iter().enumerate() {
                assert!(interval.has(value), "{at}: {interval:?} has not {value}");
            }
        }
    }
}
