//! Balls of extended precision: as many bits as are asked for.

use super::{BallSign, Balls, Enclose, Enclosed, Gap, Magnitude, all};
use crate::arithmetic::Restriction;
use crate::function::Function;
use crate::number::Number;
use astro_float::{BigFloat, Consts, Exponent, RoundingMode, Sign, WORD_BIT_SIZE, Word};
use num_bigint::BigInt;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Balls whose midpoints have a given number of bits.
///
/// Midpoints are numbers of the astro-float library, which rounds every result
/// correctly and tells whether it did. One unit in the last place is allowed for
/// rounded arithmetic, where half of one would do, and four for functions.
pub struct Extended {
    precision: usize,
    /// π, e and log 2, to the precision needed so far; none if there was no
    /// memory for them.
    constants: Rc<RefCell<Option<Consts>>>,
    reach: Cell<i64>,
}

/// All x with |x − middle| ≤ radius.
#[derive(Clone, Debug)]
pub struct ExtendedBall {
    middle: BigFloat,
    radius: Magnitude,
}

const ROUND: RoundingMode = RoundingMode::ToEven;
/// Exponents beyond are given up, well before the library's own limit.
const MAX_EXPONENT: Exponent = 1 << 28;
/// The argument of an angle may have this exponent: reducing it takes as many
/// digits of π.
const MAX_ANGLE: Exponent = 1 << 12;
/// The argument of an exponential may have this exponent.
const MAX_EXPONENTIAL: Exponent = 24;

impl ExtendedBall {
    /// Its radius.
    pub fn radius(&self) -> Magnitude {
        self.radius
    }

    /// A bound on the size of its numbers.
    pub fn bound(&self) -> Magnitude {
        upper(&self.middle).plus(self.radius)
    }

    /// Its midpoint, rounded.
    pub fn to_f64(&self) -> f64 {
        let Some((words, _, sign, exponent, _)) = self.middle.as_raw_parts() else {
            return f64::NAN;
        };
        let base = 2f64.powi(WORD_BIT_SIZE as i32);
        let fraction = words.iter().fold(0.0, |low, &word| (low + word as f64) / base);
        // In two steps: the power alone may overflow where the product does not.
        let half = exponent.clamp(-2200, 2200) / 2;
        let size = fraction * 2f64.powi(half) * 2f64.powi(exponent.clamp(-2200, 2200) - half);
        if sign == Sign::Neg { -size } else { size }
    }

    /// Its midpoint times 2^shift, rounded.
    pub fn to_f64_scaled(&self, shift: i64) -> f64 {
        let mut middle = self.middle.clone();
        let Some(exponent) = middle.exponent().filter(|_| !middle.is_zero()) else {
            return 0.0;
        };
        let shifted = (exponent as i64 + shift).clamp(-4000, 4000);
        middle.set_exponent(shifted as Exponent);
        ExtendedBall { middle, radius: Magnitude::ZERO }.to_f64()
    }

    /// The ball about the same midpoint, wider by some size.
    pub fn wider(mut self, by: Magnitude) -> ExtendedBall {
        self.radius = self.radius.plus(by);
        self
    }

    /// Its radius times 2^shift, as a double; infinite if it is too large for one.
    pub fn radius_scaled(&self, shift: i64) -> f64 {
        if self.radius.is_zero() { 0.0 } else { (self.radius.log2() + shift as f64).exp2() }
    }

    /// The ball that is its midpoint alone.
    pub fn middle(mut self) -> ExtendedBall {
        self.radius = Magnitude::ZERO;
        self
    }

    /// Whether the two have a number in common; they do if both enclose the
    /// same one.
    pub fn meets(&self, other: &ExtendedBall) -> bool {
        let difference = self.middle.sub_full_prec(&other.middle);
        lower(&difference) <= self.radius.plus(other.radius)
    }
}

/// At least |x|.
fn upper(x: &BigFloat) -> Magnitude {
    match leading(x) {
        Some((top, e)) => Magnitude::ONE.times(Magnitude::scaled(top + 1.0, e)),
        None => Magnitude::ZERO,
    }
}

/// At most |x|.
fn lower(x: &BigFloat) -> Magnitude {
    match leading(x) {
        // The conversion to a double may have rounded up.
        Some((top, e)) => Magnitude::scaled(top * (1.0 - f64::EPSILON), e),
        None => Magnitude::ZERO,
    }
}

/// The leading word of a mantissa and the exponent that goes with it.
fn leading(x: &BigFloat) -> Option<(f64, i64)> {
    let (words, _, _, exponent, _) = x.as_raw_parts()?;
    let &top = words.last().filter(|&&top| top != 0)?;
    Some((top as f64, exponent as i64 - WORD_BIT_SIZE as i64))
}

impl Extended {
    /// Balls of at least so many bits.
    pub fn new(precision: usize) -> Self {
        let constants = Rc::new(RefCell::new(Consts::new().ok()));
        Extended { precision: whole_words(precision), constants, reach: Cell::new(0) }
    }

    /// The same with another precision; what is known of π and e is shared.
    pub fn with_precision(&self, precision: usize) -> Self {
        Extended {
            precision: whole_words(precision),
            constants: Rc::clone(&self.constants),
            reach: Cell::new(0),
        }
    }

    /// How many bits midpoints have.
    pub fn bits(&self) -> usize {
        self.precision
    }

    /// The number x·2^shift, for a finite double x.
    pub fn double(&self, x: f64, shift: i64) -> ExtendedBall {
        let mut middle = BigFloat::from_f64(x, self.precision);
        middle.set_inexact(false);
        if let Some(exponent) = middle.exponent().filter(|_| !middle.is_zero()) {
            let limit = MAX_EXPONENT as i64;
            middle.set_exponent((exponent as i64 + shift).clamp(-limit, limit) as Exponent);
        }
        ExtendedBall { middle, radius: Magnitude::ZERO }
    }

    /// An e such that all values so far lie between 2^−e and 2^e, 0 aside, and so do the parts that
    /// long numbers are made of.
    pub fn reach(&self) -> i64 {
        self.reach.get()
    }

    fn note(&self, exponent: i64) {
        self.reach.set(self.reach.get().max(exponent.saturating_abs()));
    }

    /// A ball about the result of exact operands, which the library flags if it
    /// is rounded; `spread` comes from their radii.
    fn arithmetic(&self, mut middle: BigFloat, spread: Magnitude) -> Enclosed<ExtendedBall> {
        let ulps = middle.inexact() as i64;
        // For the next operation it is exact again. Told otherwise, the library
        // would look in vain for the digit that rounds √4.
        middle.set_inexact(false);
        self.ball(middle, spread, ulps)
    }

    /// A ball about a midpoint that is off by some units in the last place.
    fn ball(&self, middle: BigFloat, spread: Magnitude, ulps: i64) -> Enclosed<ExtendedBall> {
        let Some(exponent) = middle.exponent() else { return Err(Gap::Undecided) };
        if exponent.unsigned_abs() > MAX_EXPONENT as u32 || spread.exponent() > MAX_EXPONENT as i64
        {
            return Err(Gap::Undecided);
        }
        let mut radius = spread;
        if !middle.is_zero() && ulps > 0 {
            // 2^(e−1) ≤ |m| < 2^e
            let ulp = Magnitude::power_of_two(exponent as i64 - self.precision as i64);
            radius = radius.plus(ulp.times(Magnitude::scaled(ulps as f64, 0)));
        }
        if !middle.is_zero() && (radius.is_zero() || radius.exponent() < exponent as i64 - 1) {
            self.note(exponent as i64);
        }
        Ok(ExtendedBall { middle, radius })
    }
}

/// The integer, exactly.
fn integer(n: &BigInt) -> BigFloat {
    let (sign, digits) = n.to_u32_digits();
    // The library's words are as wide as a pointer.
    let words: Vec<Word> = digits
        .chunks(WORD_BIT_SIZE / 32)
        .map(|chunk| {
            chunk.iter().rev().fold(0, |word: Word, &digit| word << 16 << 16 | digit as Word)
        })
        .collect();
    let sign = if sign == num_bigint::Sign::Minus { Sign::Neg } else { Sign::Pos };
    BigFloat::from_words(&words, sign, (words.len() * WORD_BIT_SIZE) as Exponent)
}

fn whole_words(precision: usize) -> usize {
    precision.clamp(64, 1 << 20).next_multiple_of(64)
}

impl Enclose for Extended {
    type Ball = ExtendedBall;

    fn number(&self, number: &Number) -> Enclosed<ExtendedBall> {
        let p = self.precision;
        match number.as_small() {
            Some((n, 1)) => self.ball(BigFloat::from_i64(n, p), Magnitude::ZERO, 0),
            Some((n, d)) if d.unsigned_abs().is_power_of_two() => {
                let mut middle = BigFloat::from_i64(n, p);
                let exponent = middle.exponent().unwrap_or(0) - d.trailing_zeros() as Exponent;
                middle.set_exponent(exponent);
                self.ball(middle, Magnitude::ZERO, 0)
            }
            Some((n, d)) => {
                let quotient = BigFloat::from_i64(n, p).div(&BigFloat::from_i64(d, p), p, ROUND);
                self.arithmetic(quotient, Magnitude::ZERO)
            }
            None => {
                let (n, d) = number.big();
                // 1 + 10⁻²⁰⁰ is of the size of one, and differs from it by what takes these bits.
                self.note(n.bits().max(d.bits()) as i64);
                let quotient = integer(&n).div(&integer(&d), p, ROUND);
                self.arithmetic(quotient, Magnitude::ZERO)
            }
        }
    }

    fn pi(&self) -> Enclosed<ExtendedBall> {
        let mut constants = self.constants.borrow_mut();
        let constants = constants.as_mut().ok_or(Gap::Undecided)?;
        let mut pi = constants.pi(self.precision, ROUND);
        pi.set_inexact(false);
        self.ball(pi, Magnitude::ZERO, 1)
    }

    fn add(&self, a: &ExtendedBall, b: &ExtendedBall) -> Enclosed<ExtendedBall> {
        self.arithmetic(a.middle.add(&b.middle, self.precision, ROUND), a.radius.plus(b.radius))
    }

    fn mul(&self, a: &ExtendedBall, b: &ExtendedBall) -> Enclosed<ExtendedBall> {
        let crossed = upper(&a.middle).times(b.radius).plus(upper(&b.middle).times(a.radius));
        let spread = crossed.plus(a.radius.times(b.radius));
        self.arithmetic(a.middle.mul(&b.middle, self.precision, ROUND), spread)
    }

    fn neg(&self, a: &ExtendedBall) -> ExtendedBall {
        ExtendedBall { middle: a.middle.neg(), radius: a.radius }
    }

    fn abs(&self, a: &ExtendedBall) -> ExtendedBall {
        ExtendedBall { middle: a.middle.abs(), radius: a.radius }
    }

    fn inverse(&self, a: &ExtendedBall) -> Enclosed<ExtendedBall> {
        // |1/x − 1/m| ≤ r/(|m|(|m| − r))
        let least = lower(&a.middle);
        let spread = if a.radius.is_zero() {
            a.radius
        } else {
            a.radius.over(least).over(least.minus(a.radius))
        };
        self.arithmetic(a.middle.reciprocal(self.precision, ROUND), spread)
    }

    fn sqrt(&self, a: &ExtendedBall) -> Enclosed<ExtendedBall> {
        // |√x − √m| ≤ r/√m
        let middle = a.middle.sqrt(self.precision, ROUND);
        let spread = if a.radius.is_zero() { a.radius } else { a.radius.over(lower(&middle)) };
        self.arithmetic(middle, spread)
    }

    fn elementary(&self, function: Function, a: &ExtendedBall) -> Enclosed<ExtendedBall> {
        let (x, r, p) = (&a.middle, a.radius, self.precision);
        let exponent = x.exponent().ok_or(Gap::Undecided)?;
        let (limit, steep) = match function {
            Function::Sin | Function::Cos => (MAX_ANGLE, false),
            Function::Exp | Function::Sinh | Function::Cosh | Function::Tanh => {
                (MAX_EXPONENTIAL, true)
            }
            _ => (MAX_EXPONENT, false),
        };
        if exponent > limit || (steep && r > Magnitude::ONE) {
            return Err(Gap::Undecided);
        }
        let mut constants = self.constants.borrow_mut();
        let constants = constants.as_mut().ok_or(Gap::Undecided)?;
        // e^r ≤ 1 + 2r ≤ 3 for r ≤ 1.
        let growth = r.times(Magnitude::scaled(3.0, 0));
        let (mut middle, spread) = match function {
            Function::Sin => (x.sin(p, ROUND, constants), r),
            Function::Cos => (x.cos(p, ROUND, constants), r),
            Function::Atan => (x.atan(p, ROUND, constants), r),
            Function::Tanh => (x.tanh(p, ROUND, constants), r),
            Function::Exp => {
                let value = x.exp(p, ROUND, constants);
                let spread = upper(&value).times(growth);
                (value, spread)
            }
            Function::Sinh => {
                // cosh ≤ 1 + |sinh|
                let value = x.sinh(p, ROUND, constants);
                let spread = upper(&value).plus(Magnitude::ONE).times(growth);
                (value, spread)
            }
            Function::Cosh => {
                let value = x.cosh(p, ROUND, constants);
                let spread = upper(&value).times(growth);
                (value, spread)
            }
            Function::Log => {
                let spread = if r.is_zero() { r } else { r.over(lower(x).minus(r)) };
                (x.ln(p, ROUND, constants), spread)
            }
            _ => return Err(Gap::Undecided),
        };
        if steep && exponent > 0 {
            // Both e^x and e^−x are near: 1 − tanh x is as small as e^−2x.
            self.note((upper(x).log2().exp2() * 3.0) as i64);
        }
        middle.set_inexact(false);
        // At 0 all of them are exact.
        self.ball(middle, spread, if x.is_zero() { 0 } else { 4 })
    }

    fn extreme(&self, greater: bool, a: &ExtendedBall, b: &ExtendedBall) -> ExtendedBall {
        // |max(x, y) − max(m, n)| ≤ max(|x − m|, |y − n|); one that is certainly
        // chosen keeps its own radius.
        let (best, other) = if (a.middle > b.middle) == greater { (a, b) } else { (b, a) };
        let distance = lower(&best.middle.sub(&other.middle, 64, RoundingMode::ToZero));
        let apart = distance > best.radius.plus(other.radius);
        let radius = if apart || best.radius > other.radius { best.radius } else { other.radius };
        ExtendedBall { middle: best.middle.clone(), radius }
    }

    fn sign(&self, a: &ExtendedBall) -> BallSign {
        if a.middle.is_zero() && a.radius.is_zero() {
            BallSign::Zero
        } else if lower(&a.middle) <= a.radius {
            BallSign::Unclear
        } else if a.middle.is_negative() {
            BallSign::Negative
        } else {
            BallSign::Positive
        }
    }

    fn larger(&self, a: &ExtendedBall, b: &ExtendedBall) -> bool {
        a.middle.abs_cmp(&b.middle).is_some_and(|order| order > 0)
    }

    fn integer(&self, a: &ExtendedBall) -> Option<i64> {
        let exact = a.radius.is_zero() && a.middle.is_int() && a.middle.exponent()? <= 50;
        exact.then(|| a.to_f64() as i64)
    }

    fn restricted(
        balls: &Balls<Extended>,
        of: &Restriction,
        arguments: &[Enclosed<ExtendedBall>],
    ) -> Vec<Enclosed<ExtendedBall>> {
        match all(arguments) {
            Ok(x) => of.on_surface(balls, x.into_iter().cloned().collect()),
            Err(gap) => vec![Err(gap); of.len()],
        }
    }

    fn holds_integer(&self, a: &ExtendedBall) -> bool {
        if a.radius >= Magnitude::power_of_two(-1) {
            return true;
        }
        let below = a.middle.fract().abs();
        let above = BigFloat::from_word(1, 64).sub_full_prec(&below);
        lower(&below) <= a.radius || lower(&above) <= a.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Balls;
    use crate::eval::Arithmetic;

    fn ratio(n: i64, d: i64) -> Number {
        Number::ratio(n, d).unwrap()
    }

    #[test]
    fn exact_numbers_stay_exact() {
        let e = Extended::new(192);
        for n in [ratio(3, 1), ratio(-7, 8), ratio(0, 1), ratio(i64::MAX, 1), ratio(1, 1 << 62)] {
            let ball = e.number(&n).unwrap();
            assert!(ball.radius().is_zero());
            assert_eq!(ball.to_f64(), n.to_f64());
        }
        let third = e.number(&ratio(1, 3)).unwrap();
        assert!(!third.radius().is_zero() && third.radius().log2() < -190.0);
        let tiny = Number::from_decimal("1.25e-300").unwrap();
        assert_eq!(e.number(&tiny).unwrap().to_f64(), 1.25e-300);
        let huge = Number::from_decimal("-123456789012345678901234567890").unwrap();
        assert_eq!(e.number(&huge).unwrap().to_f64(), -1.2345678901234568e29);
    }

    #[test]
    fn known_values_lie_inside() {
        // e^π√163, Ramanujan's near integer, to 60 digits.
        let e = Balls(Extended::new(256));
        let root = e.power(&e.number(&Number::integer(163)), &ratio(1, 2));
        let value = e.call(Function::Exp, &[e.mul(&e.pi(), &root)]);
        let known = "262537412640768743.999999999999250072597198185688879353856337";
        let known = e.number(&Number::from_decimal(known).unwrap());
        let difference = e.add(&value, &e.mul(&known, &e.number(&Number::MINUS_ONE))).unwrap();
        // The digits given are right to half a unit in the last.
        assert!(difference.bound().log2() < -(42.0 * 10f64.log2()));
        assert!(value.unwrap().radius().log2() < -180.0);
    }

    #[test]
    fn integers_in_a_ball_are_seen() {
        let e = Extended::new(128);
        let wide = |n: i64, d: i64, r: i64| ExtendedBall {
            middle: e.number(&ratio(n, d)).unwrap().middle,
            radius: Magnitude::power_of_two(r),
        };
        assert!(e.holds_integer(&wide(63, 64, -6)));
        assert!(!e.holds_integer(&wide(63, 64, -7)));
        assert!(e.holds_integer(&wide(-129, 64, -6)));
        assert!(!e.holds_integer(&wide(-129, 64, -7)));
        assert_eq!(e.integer(&e.number(&ratio(-12, 1)).unwrap()), Some(-12));
        assert_eq!(e.integer(&e.number(&ratio(1, 2)).unwrap()), None);
    }
}
