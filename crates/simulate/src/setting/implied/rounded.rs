//! Numbers of a model that are rounded ones.
//!
//! Numbers of fifteen digits and more are mostly rounded ones, and then their last digit decides
//! nothing. Short decimals, 1 + 10⁻¹⁴, fractions, roots and functions of those mean what they say.

use dalembert_expr::ball::{Balls, Enclosed, Extended, ExtendedBall, Magnitude};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{Function, Number};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Decimals of so many digits are rounded numbers,
const DIGITS: usize = 15;
/// more than this no double needs.
const MOST_DIGITS: usize = 17;

/// The numbers of many digits that a model is written with.
///
/// Numbers of expressions are not all written: 0.1234567890123456² has 32 digits, and is known to 16.
#[derive(Default)]
pub(in crate::setting) struct Rounded {
    /// Their digits.
    written: FxHashSet<String>,
    /// What the coarsest of them leaves open, relative to it; 0 where none is a rounded one.
    coarsest: f64,
    /// What was found for numbers.
    known: RefCell<FxHashMap<Number, f64>>,
}

/// Numbers that are made of rounded ones are off by several of them.
const SEVERAL: f64 = 4.0;

impl Rounded {
    /// Those of texts, and numbers that were given beside them.
    pub fn new<'a>(
        texts: impl Iterator<Item = &'a str>,
        given: impl Iterator<Item = Number>,
    ) -> Rounded {
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
        let words = texts.flat_map(|text| text.split(move |c| !is_part(c)));
        let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
        let words = words.map(digits).filter_map(|digits| {
            let digits = digits.trim_start_matches('0');
            (digits.len() >= DIGITS).then(|| Number::from_decimal(&format!("0.{digits}")))?
        });
        let mut all = Rounded::default();
        for number in words.chain(given) {
            let Some(digits) = number.decimal_digits().filter(|d| d.len() >= DIGITS) else {
                continue;
            };
            all.coarsest = all.coarsest.max(as_written(&number, &digits));
            all.written.insert(digits);
        }
        all
    }

    /// Whether there is any.
    pub fn is_any(&self) -> bool {
        self.coarsest > 0.0
    }

    /// What a number leaves open, relative to it, if it is a rounded one or made of such.
    pub fn rounding(&self, number: &Number) -> f64 {
        if number.as_integer().is_some() || !self.is_any() {
            return 0.0;
        }
        if let Some(known) = self.known.borrow().get(number) {
            return *known;
        }
        let found = match number.decimal_digits() {
            Some(digits) if digits.len() < DIGITS => 0.0,
            Some(digits) if digits.len() <= MOST_DIGITS || self.written.contains(&digits) => {
                as_written(number, &digits)
            }
            Some(_) => SEVERAL * self.coarsest,
            None => {
                let (n, d) = number.parts();
                if n.len().max(d.len()) >= DIGITS { SEVERAL * self.coarsest } else { 0.0 }
            }
        };
        self.known.borrow_mut().insert(number.clone(), found);
        found
    }
}

/// What a number of many digits leaves open as it is written: nothing, if it is a short decimal or has
/// a pattern, unless it is off from a short one by the last digit of a double. 1.000000000001 is meant
/// as it is.
fn as_written(number: &Number, digits: &str) -> f64 {
    let has_pattern = ["000000", "999999"].iter().any(|run| digits.contains(run));
    let x = number.to_f64();
    let short: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    let is_off_by_a_digit = (x - short).abs() <= 2.0 * f64::EPSILON * x.abs();
    let is_double = digits.len() <= MOST_DIGITS;
    if has_pattern && !(is_double && is_off_by_a_digit) {
        return 0.0;
    }
    5.0 * 10f64.powi(-(digits.len() as i32))
}

/// Extended precision in which rounded numbers are balls about what is written.
pub(super) struct Measured<'a>(pub &'a Balls<Extended>, pub &'a Rounded);

impl Arithmetic for Measured<'_> {
    type Value = Enclosed<ExtendedBall>;

    fn number(&self, number: &Number) -> Self::Value {
        let ball = self.0.number(number)?;
        let size = self.1.rounding(number);
        if size == 0.0 {
            return Ok(ball);
        }
        let exponent = (size * number.to_f64().abs()).log2().ceil();
        Ok(ball.wider(Magnitude::power_of_two(exponent as i64)))
    }

    fn pi(&self) -> Self::Value {
        self.0.pi()
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.0.add(a, b)
    }

    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.0.mul(a, b)
    }

    fn power(&self, base: &Self::Value, exponent: &Number) -> Self::Value {
        self.0.power(base, exponent)
    }

    fn pow(&self, base: &Self::Value, exponent: &Self::Value) -> Self::Value {
        self.0.pow(base, exponent)
    }

    fn call(&self, function: Function, x: &[Self::Value]) -> Self::Value {
        self.0.call(function, x)
    }

    fn solve(&self, k: &[Self::Value], r: &[Self::Value]) -> Vec<Self::Value> {
        self.0.solve(k, r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_rounded_numbers_is_rounded() {
        let number = |text: &str| Number::from_decimal(text).expect("a number");
        let text = "let a = 0.1234567890123456, b = 0.31415926535897932384626433832795, c = 0.125";
        let rounded = Rounded::new([text].into_iter(), std::iter::empty());
        let long = number("0.1234567890123456");
        let square = rounded.rounding(&long.mul(&long));
        assert!(square > 1e-16 && square < 1e-14, "{square}");
        let part = rounded.rounding(&long.mul(&number("3").recip().expect("a third")));
        assert!(part > 1e-16 && part < 1e-14, "{part}");
        // All digits that are written count; short ones are meant.
        assert!(rounded.rounding(&number("0.31415926535897932384626433832795")) < 1e-30);
        assert_eq!(rounded.rounding(&number("0.125")), 0.0);
        assert_eq!(rounded.rounding(&number("1").mul(&number("3").recip().expect("a third"))), 0.0);
        let short = Rounded::new(["let a = 0.125"].into_iter(), std::iter::empty());
        assert_eq!(short.rounding(&long.mul(&long)), 0.0);
    }
}
