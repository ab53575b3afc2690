//! From decimal coefficients to exact ones.
//!
//! A rational number with a small denominator, or such a number times powers of
//! parameters. Which parameters enter a coefficient is found by changing them one
//! at a time and looking at what the coefficient does; whether the reading is right
//! is then decided on the expressions, not here.

use dalembert_expr::{ExprId, Exprs, Number, Symbol};

/// The rational with denominator up to 60 that a number is, to nine digits.
pub fn rational(value: f64) -> Option<(i64, i64)> {
    (1..=60i64).find_map(|denominator| {
        let numerator = (value * denominator as f64).round();
        let error = (value * denominator as f64 - numerator).abs();
        let close = error <= 1e-9 * (value * denominator as f64).abs().max(1e-3);
        (close && numerator.abs() < 1e6 && numerator != 0.0)
            .then_some((numerator as i64, denominator))
    })
}

/// A coefficient as an expression: a rational times powers of parameters.
///
/// `responses` are, for each parameter with its value, the factor by which it was
/// changed and the coefficient after that.
pub fn monomial(
    exprs: &Exprs,
    value: f64,
    responses: &[(Symbol, f64, f64, f64)],
) -> Option<ExprId> {
    let mut rest = value;
    let mut product = ExprId::ONE;
    for &(symbol, parameter, factor, changed) in responses {
        let exponent = (changed / value).ln() / factor.ln();
        if !exponent.is_finite() {
            return None;
        }
        let doubled = (2.0 * exponent).round();
        if (2.0 * exponent - doubled).abs() > 1e-5 || doubled.abs() > 8.0 {
            return None;
        }
        if doubled == 0.0 {
            continue;
        }
        rest /= parameter.abs().powf(doubled / 2.0);
        let base = exprs.of_symbol(symbol);
        let power = exprs.of_number(Number::ratio(doubled as i64, 2)?);
        product = exprs.product(&[product, exprs.pow(base, power)]);
        // An odd power of a negative parameter carries its sign.
        if parameter < 0.0 && doubled.rem_euclid(4.0) == 2.0 {
            rest = -rest;
        }
    }
    let (numerator, denominator) = rational(rest)?;
    let number = exprs.of_number(Number::ratio(numerator, denominator)?);
    Some(exprs.product(&[number, product]))
}
