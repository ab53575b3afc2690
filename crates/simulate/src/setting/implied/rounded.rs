//! Numbers of a model that are rounded ones.
//!
//! Numbers of fifteen digits and more are mostly rounded ones, and then their last digit decides
//! nothing. Short decimals, 1 + 10⁻¹⁴, fractions, roots and functions of those mean what they say.

use dalembert_expr::ball::{Balls, Enclosed, Extended, ExtendedBall, Magnitude};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{Function, Number};

/// Decimals of so many digits are rounded numbers,
const DIGITS: usize = 15;
/// more than this no double needs.
const MOST_DIGITS: usize = 17;

/// Whether a number of many digits is written in a text.
pub(super) fn has_long_number(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    text.split(|c| !is_part(c)).any(|word| {
        let digits = word.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0');
        digits.count() >= DIGITS
    })
}

/// What a number leaves open, relative to it, if it is a rounded one: a decimal of many digits
/// without a pattern, or a short one that is off by the last digit of a double. 1.000000000001 is
/// meant as it is.
pub(super) fn rounding(number: &Number) -> f64 {
    let Some(digits) = number.decimal_digits().filter(|d| d.len() >= DIGITS) else { return 0.0 };
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
pub(super) struct Measured<'a>(pub &'a Balls<Extended>);

impl Arithmetic for Measured<'_> {
    type Value = Enclosed<ExtendedBall>;

    fn number(&self, number: &Number) -> Self::Value {
        let ball = self.0.number(number)?;
        let size = rounding(number);
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
