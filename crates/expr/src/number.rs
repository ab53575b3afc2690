//! Exact rational numbers: what a person types (`5/4`, `0.1`, `1e-3`) is held
//! as typed and rounded only when numbers are asked for.
//!
//! A number given as `f64` is taken to mean its shortest decimal form, which
//! rounds back to the same double: `0.1` is a tenth, and evaluates to `0.1`.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// An exact rational number in lowest terms, denominator positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Repr);

// `Small` whenever both parts fit, so that equal numbers have equal forms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64, i64),
    Big(Arc<Big>),
}

/// A ratio of large integers, and the nearest double once it was asked for: the same number is
/// evaluated at every state, and finding it takes a long division.
#[derive(Debug)]
struct Big(BigInt, BigInt, OnceLock<f64>);

impl PartialEq for Big {
    fn eq(&self, other: &Big) -> bool {
        self.0 == other.0 && self.1 == other.1
    }
}

impl Eq for Big {}

impl Hash for Big {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        self.1.hash(state);
    }
}

impl Repr {
    fn big(n: BigInt, d: BigInt) -> Repr {
        Repr::Big(Arc::new(Big(n, d, OnceLock::new())))
    }
}

/// More bits than any finite double's numerator or denominator needs.
const MAX_BITS: u64 = 1200;
/// Numbers of so few bits have products, of several, that are within the range of doubles.
const COMPACT_BITS: u64 = 128;
/// Digits beyond these cannot change the double a decimal rounds to.
const MAX_DIGITS: usize = 800;

impl Number {
    /// Zero.
    pub const ZERO: Number = Number(Repr::Small(0, 1));
    /// One.
    pub const ONE: Number = Number(Repr::Small(1, 1));
    /// Minus one.
    pub const MINUS_ONE: Number = Number(Repr::Small(-1, 1));

    /// The integer `n`.
    pub const fn integer(n: i64) -> Number {
        Number(Repr::Small(n, 1))
    }

    /// `numerator/denominator` in lowest terms; `None` for a zero denominator.
    pub fn ratio(numerator: i64, denominator: i64) -> Option<Number> {
        (denominator != 0).then(|| Self::from_i128(numerator.into(), denominator.into()))
    }

    fn from_i128(numerator: i128, denominator: i128) -> Number {
        debug_assert!(denominator != 0);
        let g = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()) as i128;
        let sign = if denominator < 0 { -1 } else { 1 };
        let (n, d) = (sign * numerator / g, sign * denominator / g);
        match (i64::try_from(n), i64::try_from(d)) {
            // i64::MIN is kept out so that negation never overflows.
            (Ok(n), Ok(d)) if n != i64::MIN => Number(Repr::Small(n, d)),
            _ => Number(Repr::big(BigInt::from(n), BigInt::from(d))),
        }
    }

    fn from_big(numerator: BigInt, denominator: BigInt) -> Number {
        let g = numerator.gcd(&denominator);
        let sign = if denominator.is_negative() { -BigInt::one() } else { BigInt::one() };
        let (n, d) = (&sign * numerator / &g, sign * denominator / g);
        match (n.to_i64(), d.to_i64()) {
            (Some(n), Some(d)) if n != i64::MIN => Number(Repr::Small(n, d)),
            _ => Number(Repr::big(n, d)),
        }
    }

    /// The exact value of a decimal text such as `2`, `2.5`, `.5`, `2.` or
    /// `1e-3`, with an optional sign. `None` if it is no number, or too large
    /// or too small to be a finite nonzero double.
    pub fn from_decimal(text: &str) -> Option<Number> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let mut exponent = exponent.saturating_sub(fraction.len() as i64);
        let leading = digits.iter().take_while(|&&b| b == b'0').count();
        digits.drain(..leading);
        let trailing = digits.iter().rev().take_while(|&&b| b == b'0').count();
        digits.truncate(digits.len() - trailing);
        exponent = exponent.saturating_add(trailing as i64);
        if digits.is_empty() {
            return Some(Number::ZERO);
        }
        if digits.len() > MAX_DIGITS {
            exponent = exponent.saturating_add((digits.len() - MAX_DIGITS) as i64);
            digits.truncate(MAX_DIGITS);
        }
        let magnitude = exponent.saturating_add(digits.len() as i64);
        if !(-330..=310).contains(&magnitude) {
            return None;
        }
        let n = BigInt::parse_bytes(&digits, 10)?;
        let n = if negative { -n } else { n };
        let power = BigInt::from(10).pow(exponent.unsigned_abs() as u32);
        let value = if exponent >= 0 {
            Self::from_big(n * power, BigInt::one())
        } else {
            Self::from_big(n, power)
        };
        let double = value.to_f64();
        (double.is_finite() && double != 0.0).then_some(value)
    }

    /// The number that a double means: its shortest decimal form. `None` for
    /// NaN and the infinities.
    pub fn from_f64(x: f64) -> Option<Number> {
        if !x.is_finite() {
            return None;
        }
        if x == x.trunc() && x.abs() < 9e15 {
            return Some(Self::integer(x as i64));
        }
        Self::from_decimal(&format!("{x:e}"))
    }

    /// Numerator and denominator, if both are small.
    pub fn as_small(&self) -> Option<(i64, i64)> {
        match self.0 {
            Repr::Small(n, d) => Some((n, d)),
            Repr::Big(_) => None,
        }
    }

    /// The value, if it is a small integer.
    pub fn as_integer(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(n, 1) => Some(n),
            _ => None,
        }
    }

    /// Numerator and denominator as decimal text.
    pub fn parts(&self) -> (String, String) {
        match &self.0 {
            Repr::Small(n, d) => (n.to_string(), d.to_string()),
            Repr::Big(r) => (r.0.to_string(), r.1.to_string()),
        }
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0, _))
    }

    /// Whether it is 1.
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Small(1, 1))
    }

    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small(_, d) => *d == 1,
            Repr::Big(r) => r.1.is_one(),
        }
    }

    /// Whether it is an even integer.
    pub fn is_even(&self) -> bool {
        match &self.0 {
            Repr::Small(n, d) => *d == 1 && n % 2 == 0,
            Repr::Big(r) => r.1.is_one() && r.0.is_even(),
        }
    }

    /// Whether it is less than 0.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(n, _) => *n < 0,
            Repr::Big(r) => r.0.is_negative(),
        }
    }

    /// Numerator and denominator.
    /// Its decimal digits, without zeros before or behind them; `None` if they never end.
    pub fn decimal_digits(&self) -> Option<String> {
        let (mut n, mut d) = self.big();
        for prime in [2, 5] {
            let (prime, other) = (BigInt::from(prime), BigInt::from(10 / prime));
            while (&d % &prime).is_zero() {
                d /= &prime;
                n *= &other;
            }
        }
        d.is_one().then(|| n.magnitude().to_string().trim_end_matches('0').to_owned())
    }

    pub(crate) fn big(&self) -> (BigInt, BigInt) {
        match &self.0 {
            Repr::Small(n, d) => (BigInt::from(*n), BigInt::from(*d)),
            Repr::Big(r) => (r.0.clone(), r.1.clone()),
        }
    }

    /// The sum.
    pub fn add(&self, other: &Number) -> Number {
        if let (Repr::Small(a, b), Repr::Small(c, d)) = (&self.0, &other.0) {
            if *b == 1
                && *d == 1
                && let Some(sum) = a.checked_add(*c).filter(|&s| s != i64::MIN)
            {
                return Number(Repr::Small(sum, 1));
            }
            let (a, b, c, d) = (*a as i128, *b as i128, *c as i128, *d as i128);
            // Each product is below 2^126, so their sum fits.
            return Self::from_i128(a * d + c * b, b * d);
        }
        let ((a, b), (c, d)) = (self.big(), other.big());
        Self::from_big(a * &d + c * &b, b * d)
    }

    /// The product.
    pub fn mul(&self, other: &Number) -> Number {
        if let (Repr::Small(a, b), Repr::Small(c, d)) = (&self.0, &other.0) {
            return Self::from_i128(*a as i128 * *c as i128, *b as i128 * *d as i128);
        }
        let ((a, b), (c, d)) = (self.big(), other.big());
        Self::from_big(a * c, b * d)
    }

    /// The negative.
    pub fn neg(&self) -> Number {
        match &self.0 {
            Repr::Small(n, d) => Number(Repr::Small(-n, *d)),
            Repr::Big(r) => Self::from_big(-&r.0, r.1.clone()),
        }
    }

    /// The absolute value.
    pub fn abs(&self) -> Number {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// The reciprocal; `None` for 0.
    pub fn recip(&self) -> Option<Number> {
        match &self.0 {
            Repr::Small(0, _) => None,
            Repr::Small(n, d) => Some(Self::from_i128(*d as i128, *n as i128)),
            Repr::Big(r) => Some(Self::from_big(r.1.clone(), r.0.clone())),
        }
    }

    /// The integer power; `None` for a negative power of 0, or a result far
    /// outside the range of doubles.
    pub fn powi(&self, n: i64) -> Option<Number> {
        if n == 0 || self.is_one() {
            return Some(Number::ONE);
        }
        if self.is_zero() {
            return (n > 0).then_some(Number::ZERO);
        }
        let base = if n < 0 { self.recip()? } else { self.clone() };
        let n = n.unsigned_abs();
        if base == Number::MINUS_ONE {
            return Some(if n.is_multiple_of(2) { Number::ONE } else { Number::MINUS_ONE });
        }
        let (a, b) = base.big();
        if a.bits().max(b.bits()).saturating_sub(1).saturating_mul(n) > 4 * MAX_BITS {
            return None;
        }
        let n = n as u32;
        Some(Self::from_big(a.pow(n), b.pow(n)))
    }

    /// The exact `k`-th root of a nonnegative number, if it has one.
    pub fn root(&self, k: u32) -> Option<Number> {
        if self.is_negative() || k == 0 {
            return None;
        }
        let (a, b) = self.big();
        let (x, y) = (a.nth_root(k), b.nth_root(k));
        (x.pow(k) == a && y.pow(k) == b).then(|| Self::from_big(x, y))
    }

    /// Largest integer not above it, if small.
    pub fn floor(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(n, d) => Some(n.div_euclid(*d)),
            Repr::Big(r) => r.0.div_floor(&r.1).to_i64(),
        }
    }

    /// The greatest rational of which both are integer multiples; nonnegative.
    pub fn gcd(&self, other: &Number) -> Number {
        if let (Repr::Small(a, 1), Repr::Small(c, 1)) = (&self.0, &other.0) {
            return Self::from_i128(
                gcd(a.unsigned_abs().into(), c.unsigned_abs().into()) as i128,
                1,
            );
        }
        let ((a, b), (c, d)) = (self.big(), other.big());
        Self::from_big(a.gcd(&c), b.lcm(&d))
    }

    /// The nearest double, ties to even; ±∞ if it is too large.
    pub fn to_f64(&self) -> f64 {
        const EXACT: u64 = 1 << 53;
        match &self.0 {
            // Both parts are doubles, so the one division rounds correctly.
            Repr::Small(n, d) if n.unsigned_abs() <= EXACT && d.unsigned_abs() <= EXACT => {
                *n as f64 / *d as f64
            }
            Repr::Small(n, d) => small_ratio_to_f64(*n, *d),
            Repr::Big(r) => *r.2.get_or_init(|| ratio_to_f64(&r.0, &r.1)),
        }
    }

    /// Keeps a folded constant within bounds: a number whose parts outgrow every
    /// double is replaced by the nearest double, exactly. The flag tells that it
    /// was too large or too small for one.
    pub(crate) fn bounded(self) -> (Number, bool) {
        let Repr::Big(r) = &self.0 else { return (self, false) };
        let (n, d) = (r.0.bits() as i64, r.1.bits() as i64);
        if n - d > 1024 || (n - d > 1020 && self.to_f64().is_infinite()) {
            let limit = Self::exactly(f64::MAX);
            return (if self.is_negative() { limit.neg() } else { limit }, true);
        }
        if n - d < -1080 {
            return (Number::ZERO, true);
        }
        if r.0.bits() > MAX_BITS || r.1.bits() > MAX_BITS {
            return (Self::exactly(self.to_f64()), false);
        }
        (self, false)
    }

    /// Whether products of several such numbers are within the range of doubles.
    pub(crate) fn is_compact(&self) -> bool {
        match &self.0 {
            Repr::Small(..) => true,
            Repr::Big(r) => r.0.bits().max(r.1.bits()) <= COMPACT_BITS,
        }
    }

    /// The dyadic rational a finite double is.
    fn exactly(x: f64) -> Number {
        let bits = x.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let n = BigInt::from(mantissa) * if x < 0.0 { -1 } else { 1 };
        let power = BigInt::one() << exponent.unsigned_abs();
        if exponent >= 0 {
            Self::from_big(n * power, BigInt::one())
        } else {
            Self::from_big(n, power)
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    // Nearly all numbers are 64-bit; their division is much cheaper.
    if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
        let (mut x, mut y) = (x, y);
        while y != 0 {
            (x, y) = (y, x % y);
        }
        return x.max(1) as u128;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Correctly rounded n/d, d > 0: a quotient of 64 or 65 bits, whose last bit says whether there is a
/// rest, is rounded once; no such ratio is out of the range of normal doubles.
fn small_ratio_to_f64(n: i64, d: i64) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let (a, b) = (u128::from(n.unsigned_abs()), d.unsigned_abs() as u128);
    // At most 127 bits are left of the shifted n.
    let shift = 64 + a.leading_zeros() as i32 - b.leading_zeros() as i32;
    let a = a << shift;
    let quotient = (a / b) | u128::from(!a.is_multiple_of(b));
    let value = quotient as f64 * 2f64.powi(-shift);
    if n < 0 { -value } else { value }
}

/// Correctly rounded n/d: a quotient of at least 64 bits with a sticky last bit
/// is rounded once, at the place the result's exponent asks for.
fn ratio_to_f64(n: &BigInt, d: &BigInt) -> f64 {
    let negative = n.is_negative();
    let n = n.abs();
    if n.is_zero() {
        return 0.0;
    }
    let shift = 66 - (n.bits() as i64 - d.bits() as i64);
    let (a, b) = if shift >= 0 { (n << shift, d.clone()) } else { (n, d << -shift) };
    let (quotient, remainder) = a.div_rem(&b);
    let bits = quotient.bits() as i64;
    // value = quotient · 2^(−shift); its leading bit has weight `top`.
    let top = bits - 1 - shift;
    if top > 1023 {
        return if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let last = (top - 52).max(-1074);
    let drop = last + shift;
    let q = quotient.to_u128().unwrap_or(u128::MAX);
    let rounded = if drop <= 0 {
        q << (-drop)
    } else if drop >= 128 {
        0
    } else {
        let kept = q >> drop;
        let rest = q & ((1u128 << drop) - 1);
        let half = 1u128 << (drop - 1);
        let up = rest > half || (rest == half && (!remainder.is_zero() || kept & 1 == 1));
        kept + up as u128
    };
    let value = scale(rounded as f64, last);
    if negative { -value } else { value }
}

/// x·2^e, in two exact factors.
fn scale(x: f64, e: i64) -> f64 {
    let first = (e / 2) as i32;
    x * 2f64.powi(first) * 2f64.powi(e as i32 - first)
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small(a, b), Repr::Small(c, d)) = (&self.0, &other.0) {
            return (*a as i128 * *d as i128).cmp(&(*c as i128 * *b as i128));
        }
        let ((a, b), (c, d)) = (self.big(), other.big());
        (a * d).cmp(&(c * b))
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Self {
        Number::integer(n)
    }
}

impl std::fmt::Display for Number {
    /// `3`, `2/5`, `9.81`: a form that the language reads back exactly. Short
    /// fractions stay fractions; other terminating decimals are decimals.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, d) = self.parts();
        if d == "1" {
            return f.write_str(&n);
        }
        match self.decimal() {
            Some(text) if d.len() > 1 => f.write_str(&text),
            _ => write!(f, "{n}/{d}"),
        }
    }
}

impl Number {
    /// Its terminating decimal form, if it has one that is not long.
    fn decimal(&self) -> Option<String> {
        let (n, mut d) = self.big();
        let mut places = 0u32;
        let mut twos = 0u32;
        let mut fives = 0u32;
        let (two, five) = (BigInt::from(2), BigInt::from(5));
        while d.is_even() && twos < 60 {
            d /= &two;
            twos += 1;
        }
        while (&d % &five).is_zero() && fives < 60 {
            d /= &five;
            fives += 1;
        }
        if !d.is_one() {
            return None;
        }
        places = places.max(twos).max(fives);
        if places > 24 {
            return None;
        }
        let scaled = n.abs() * two.pow(places - twos) * five.pow(places - fives);
        let digits = scaled.to_string();
        let width = places as usize + 1;
        let digits = format!("{digits:0>width$}");
        let (whole, fraction) = digits.split_at(digits.len() - places as usize);
        let sign = if n.is_negative() { "-" } else { "" };
        Some(format!("{sign}{whole}.{fraction}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(Number::from_decimal("0.1"), Number::ratio(1, 10));
        assert_eq!(Number::from_decimal(".5"), Number::ratio(1, 2));
        assert_eq!(Number::from_decimal("2."), Some(Number::integer(2)));
        assert_eq!(Number::from_decimal("1e-3"), Number::ratio(1, 1000));
        assert_eq!(Number::from_decimal("-25e1"), Some(Number::integer(-250)));
        assert_eq!(Number::from_decimal("0e999999999999999999999"), Some(Number::ZERO));
        for wrong in
            ["", ".", "e5", "1e", "1e+", "1.2.3", "1e400", "1e-400", "1e99999999999999999999"]
        {
            assert_eq!(Number::from_decimal(wrong), None, "{wrong}");
        }
        assert_eq!(Number::from_decimal("1.7976931348623157e308").unwrap().to_f64(), f64::MAX);
        assert_eq!(Number::from_decimal("5e-324").unwrap().to_f64(), 5e-324);
    }

    #[test]
    fn prints_as_people_write() {
        for (text, shown) in [
            ("0.4", "2/5"),
            ("9.81", "9.81"),
            ("0.125", "1/8"),
            ("0.0625", "0.0625"),
            ("-1.5", "-3/2"),
            ("7", "7"),
        ] {
            assert_eq!(Number::from_decimal(text).unwrap().to_string(), shown);
        }
        assert_eq!(Number::ratio(-22, 7).unwrap().to_string(), "-22/7");
    }

    #[test]
    fn powers_and_roots() {
        assert_eq!(Number::integer(2).powi(-3), Number::ratio(1, 8));
        assert_eq!(Number::ZERO.powi(-1), None);
        assert_eq!(Number::integer(10).powi(100_000), None);
        assert_eq!(Number::MINUS_ONE.powi(i64::MIN), Some(Number::ONE));
        assert_eq!(Number::ratio(9, 4).unwrap().root(2), Number::ratio(3, 2));
        assert_eq!(Number::integer(2).root(2), None);
    }

    proptest! {
        #[test]
        fn decimal_reading_rounds_like_the_standard_library(x in any::<f64>()) {
            prop_assume!(x.is_finite());
            let n = Number::from_f64(x).unwrap();
            prop_assert_eq!(n.to_f64(), x);
        }

        #[test]
        fn field_laws(a in any::<i64>(), b in 1..i64::MAX, c in any::<i64>(), d in 1..i64::MAX) {
            let x = Number::from_i128(a.into(), b.into());
            let y = Number::from_i128(c.into(), d.into());
            prop_assert_eq!(x.add(&y).add(&y.neg()), x.clone());
            prop_assert_eq!(x.mul(&y), y.mul(&x));
            if let Some(inverse) = y.recip() {
                prop_assert_eq!(x.mul(&y).mul(&inverse), x.clone());
            }
            prop_assert_eq!(x.cmp(&y), x.add(&y.neg()).cmp(&Number::ZERO));
        }

        #[test]
        fn small_ratios_round_like_large_ones(a in any::<i64>(), b in 1..i64::MAX, s in 0u32..62, u in 0u32..62) {
            let (a, b) = (a >> s, (b >> u).max(1));
            prop_assert_eq!(small_ratio_to_f64(a, b), ratio_to_f64(&a.into(), &b.into()));
        }

        #[test]
        fn rounding_of_large_ratios(a in any::<i64>(), e in -1100i64..1100) {
            let big = BigInt::from(a) << 1200u32;
            let d = BigInt::one() << (1200 - e);
            // 2^e scaled by hand: exact unless the result is subnormal.
            let got = ratio_to_f64(&big, &d);
            let want = scale(a as f64, e);
            if want.is_finite() && want.abs() > 1e-300 {
                prop_assert_eq!(got, want);
            }
        }
    }
}
