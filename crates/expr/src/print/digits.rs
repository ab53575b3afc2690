//! Numbers in digits: integers, fractions, decimals and powers of ten.

use crate::number::Number;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// A nonnegative number as it is to be written.
pub(super) enum Digits {
    /// Digits, perhaps with a decimal point: one token.
    Plain(String),
    /// A fraction in lowest terms.
    Ratio(String, String),
    /// Digits times a power of ten.
    Scientific(String, i64),
}

/// Zeros on either side of the digits that are one too many to count.
const MANY_ZEROS: usize = 6;
/// Digits that tell any two doubles apart.
const DOUBLE_DIGITS: usize = 17;

impl Digits {
    /// The exact value of |number|, in the shortest of the three forms.
    pub fn exact(number: &Number) -> Digits {
        let number = number.abs();
        if let Some((digits, exponent)) = scientific(&number) {
            return Digits::Scientific(digits, exponent);
        }
        let text = number.to_string();
        match text.split_once('/') {
            Some((n, d)) => Digits::Ratio(n.to_owned(), d.to_owned()),
            None => Digits::Plain(text),
        }
    }

    /// For reading: exact unless that takes more digits than a double has.
    pub fn readable(number: &Number) -> Digits {
        match Self::exact(number) {
            Digits::Plain(text) if text.len() > DOUBLE_DIGITS + 3 => Self::rounded(number),
            Digits::Ratio(n, d) if n.len() + d.len() > DOUBLE_DIGITS + 3 => Self::rounded(number),
            exact => exact,
        }
    }

    fn rounded(number: &Number) -> Digits {
        let text = format!("{:e}", number.abs().to_f64());
        match text.split_once('e').and_then(|(m, e)| Some((m, e.parse::<i64>().ok()?))) {
            Some((mantissa, 0)) => Digits::Plain(mantissa.to_owned()),
            Some((mantissa, exponent)) => Digits::Scientific(mantissa.to_owned(), exponent),
            None => Digits::Plain(text),
        }
    }
}

/// Mantissa and exponent of a decimal with many zeros before or behind its
/// digits, if the language reads it back exactly.
fn scientific(number: &Number) -> Option<(String, i64)> {
    let (n, d) = number.parts();
    let zeros = |text: &str| text.len() - text.trim_end_matches('0').len();
    // Cheap tests first: nearly all numbers are small.
    if n.len() <= MANY_ZEROS && d.len() < MANY_ZEROS {
        return None;
    }
    let (digits, exponent) = if d == "1" {
        if zeros(&n) < MANY_ZEROS {
            return None;
        }
        let exponent = zeros(&n);
        (n[..n.len() - exponent].to_owned(), exponent as i64)
    } else {
        let (n, d) = (n.parse::<BigInt>().ok()?, d.parse::<BigInt>().ok()?);
        let (twos, rest) = divide_out(d, 2);
        let (fives, rest) = divide_out(rest, 5);
        if !rest.is_one() {
            return None;
        }
        let places = twos.max(fives);
        let scaled =
            n.abs() * BigInt::from(2).pow(places - twos) * BigInt::from(5).pow(places - fives);
        (scaled.to_string(), -(places as i64))
    };
    let point = digits.len() as i64 + exponent;
    if digits.len() > DOUBLE_DIGITS || (exponent < 0 && point > -(MANY_ZEROS as i64 - 3)) {
        return None;
    }
    let (first, rest) = digits.split_at(1);
    let mantissa = if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") };
    let exponent = point - 1;
    let read = Number::from_decimal(&format!("{mantissa}e{exponent}"))?;
    (read == *number).then_some((mantissa, exponent))
}

fn divide_out(mut number: BigInt, prime: u32) -> (u32, BigInt) {
    let prime = BigInt::from(prime);
    let mut count = 0;
    while !number.is_zero() {
        let (quotient, remainder) = number.div_rem(&prime);
        if !remainder.is_zero() {
            break;
        }
        number = quotient;
        count += 1;
    }
    (count, number)
}
