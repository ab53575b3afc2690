//! Sizes of errors: a few digits, any exponent, rounded so that bounds stay
//! bounds.

use std::cmp::Ordering;

/// A number m·2^e, at least 0, for use as a bound. A double would not do: an
/// error of 2^−1500 is not 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude {
    /// 0, or in [1, 2).
    mantissa: f64,
    exponent: i64,
}

// One rounding is off by at most 2^−53 of the result; these factors make up
// for several, and for their own.
const UP: f64 = 1.0 + 1.0 / (1u64 << 50) as f64;
const DOWN: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;

impl Magnitude {
    /// 0
    pub const ZERO: Magnitude = Magnitude { mantissa: 0.0, exponent: 0 };
    /// 1
    pub const ONE: Magnitude = Magnitude { mantissa: 1.0, exponent: 0 };

    /// 2^e
    pub fn power_of_two(exponent: i64) -> Magnitude {
        Magnitude { mantissa: 1.0, exponent }
    }

    /// m·2^e for a normal double m > 0, or 0.
    pub(super) fn scaled(m: f64, e: i64) -> Magnitude {
        if m == 0.0 {
            return Magnitude::ZERO;
        }
        let bits = m.to_bits();
        let exponent = (bits >> 52) as i64 - 1023;
        let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        Magnitude { mantissa, exponent: e.saturating_add(exponent) }
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    /// Its binary logarithm, roughly; −∞ for 0.
    pub fn log2(self) -> f64 {
        self.exponent as f64 + self.mantissa.log2()
    }

    /// The exponent: 2^e ≤ self < 2^(e+1), unless it is 0.
    pub(super) fn exponent(self) -> i64 {
        self.exponent
    }

    /// At least a + b.
    pub fn plus(self, other: Magnitude) -> Magnitude {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = large.exponent.saturating_sub(small.exponent).min(60);
        let sum = large.mantissa + small.mantissa / (1u64 << shift) as f64;
        Magnitude::scaled(sum * UP, large.exponent)
    }

    /// At least a · b.
    pub fn times(self, other: Magnitude) -> Magnitude {
        Magnitude::scaled(
            self.mantissa * other.mantissa * UP,
            self.exponent.saturating_add(other.exponent),
        )
    }

    /// At least a / b, for b > 0.
    pub fn over(self, other: Magnitude) -> Magnitude {
        if other.is_zero() {
            return Magnitude::power_of_two(i64::MAX);
        }
        Magnitude::scaled(
            self.mantissa / other.mantissa * UP,
            self.exponent.saturating_sub(other.exponent),
        )
    }

    /// At most a − b, and at least 0.
    pub fn minus(self, other: Magnitude) -> Magnitude {
        if other.is_zero() {
            return self;
        }
        if self <= other {
            return Magnitude::ZERO;
        }
        let shift = self.exponent.saturating_sub(other.exponent).min(60);
        let difference = self.mantissa - other.mantissa / (1u64 << shift) as f64 * UP;
        // The subtraction of close numbers is exact; else DOWN covers it.
        if difference <= 0.0 {
            Magnitude::ZERO
        } else {
            Magnitude::scaled(difference * DOWN, self.exponent)
        }
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            _ => match self.exponent.cmp(&other.exponent) {
                Ordering::Equal => self.mantissa.partial_cmp(&other.mantissa),
                order => Some(order),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(x: f64) -> Magnitude {
        Magnitude::scaled(x, 0)
    }

    fn value(m: Magnitude) -> f64 {
        m.mantissa * 2f64.powi(m.exponent as i32)
    }

    proptest! {
        #[test]
        fn bounds_are_on_the_right_side(a in 1e-12..1e12f64, b in 1e-12..1e12f64) {
            // Doubles are exact to 2^−53, the margins are eight times that.
            prop_assert!(value(of(a).plus(of(b))) >= a + b);
            prop_assert!(value(of(a).times(of(b))) >= a * b);
            prop_assert!(value(of(a).over(of(b))) >= a / b);
            let difference = (a - b).max(0.0);
            prop_assert!(value(of(a).minus(of(b))) <= difference * (1.0 + 1e-15));
            prop_assert!(value(of(a).minus(of(b))) >= difference * (1.0 - 1e-12) - a * 1e-14);
            prop_assert_eq!(of(a) < of(b), a < b);
        }
    }

    #[test]
    fn far_exponents_do_not_vanish() {
        let tiny = Magnitude::power_of_two(-100_000);
        assert!(Magnitude::ONE.plus(tiny) > Magnitude::ONE);
        assert!(Magnitude::ONE.minus(tiny) < Magnitude::ONE);
        assert!(!tiny.times(tiny).is_zero());
        assert_eq!(tiny.log2(), -100_000.0);
    }
}
