//! Rounding errors as they are measured: the same numbers with every operation off by a random part of
//! its last digit.
//!
//! Bounds that go along with each number forget that errors are turned together. A rotation of a vector
//! leaves the length of its error as it is, and its bound grows by |cos| + |sin|, so that along a chain
//! of n joints bounds grow like 2^(n/2) where errors grow like n: after a few hundred links everything
//! is within rounding of everything. Where
//!
//! ```text
//! ŷ = y + Σ_i s_i ε_i x_i        over all operations i
//! ```
//!
//! random ε_i give a value that is off by as much as rounding is, to first order and whatever the
//! s_i are (Parker, *Monte Carlo arithmetic*, 1997; Vignes, *Math. Comput. Simul.* 35 (1993) 233–261).
//! The largest of [`TRIES`] of them, times [`SAFETY`], is less than a rounding error of one deviation
//! in one case of a million.

use dalembert_expr::eval::{Arithmetic, Doubles};
use dalembert_expr::{Function, Number, Random, Restriction};
use std::cell::RefCell;
use std::sync::Arc;

/// How often values are computed.
pub const TRIES: u64 = 6;
/// What the largest difference is multiplied by.
pub const SAFETY: f64 = 8.0;

/// Arithmetic on doubles whose last digits are random.
pub struct Shaken(RefCell<Random>);

impl Shaken {
    /// The arithmetic of a number, the same on every machine.
    pub fn new(number: u64) -> Shaken {
        Shaken(RefCell::new(Random::new(0x2545_f491_4f6c_dd1d ^ (number + 1))))
    }

    fn shake(&self, value: f64) -> f64 {
        let by = f64::EPSILON * self.0.borrow_mut().signed();
        if value.is_finite() { value + by * value } else { value }
    }
}

/// Whether a factor only changes a sign.
fn is_unit(x: f64) -> bool {
    x.abs() == 1.0
}

impl Arithmetic for Shaken {
    type Value = f64;

    fn restricted(&self, of: &Arc<Restriction>, arguments: &[f64]) -> Vec<f64> {
        let moved: Vec<f64> = arguments.iter().map(|&x| self.shake(x)).collect();
        of.at(&moved).into_iter().map(|x| self.shake(x)).collect()
    }

    fn number(&self, number: &Number) -> f64 {
        let value = number.to_f64();
        if value.fract() == 0.0 && value.abs() < 9.0e15 { value } else { self.shake(value) }
    }

    fn pi(&self) -> f64 {
        self.shake(std::f64::consts::PI)
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        if *a == 0.0 || *b == 0.0 { a + b } else { self.shake(a + b) }
    }

    fn mul(&self, a: &f64, b: &f64) -> f64 {
        if is_unit(*a) || is_unit(*b) { a * b } else { self.shake(a * b) }
    }

    fn power(&self, base: &f64, exponent: &Number) -> f64 {
        self.shake(Doubles.power(base, exponent))
    }

    fn pow(&self, base: &f64, exponent: &f64) -> f64 {
        self.shake(Doubles.pow(base, exponent))
    }

    fn call(&self, function: Function, x: &[f64]) -> f64 {
        let value = Doubles.call(function, x);
        // What chooses makes no error of its own.
        let chooses =
            matches!(function, Function::Abs | Function::Min | Function::Max | Function::If)
                || function.is_step();
        if chooses { value } else { self.shake(value) }
    }

    fn solve(&self, k: &[f64], r: &[f64]) -> Vec<f64> {
        let shaken = |list: &[f64]| list.iter().map(|&x| self.shake(x)).collect::<Vec<f64>>();
        Doubles.solve(&shaken(k), &shaken(r)).into_iter().map(|x| self.shake(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noisy, Running};
    use dalembert_expr::{Expr, Exprs};

    /// The end of a chain of turns about crossed axes: bounds grow with every link like a power, what
    /// is measured like errors do, and is more than these.
    #[test]
    fn a_chain_is_known_to_its_digits() {
        let exprs = Exprs::new();
        let angles: Vec<_> = (0..400).map(|i| exprs.variable(&format!("a{i}"))).collect();
        let (zero, one) = (exprs.integer(0), exprs.integer(1));
        let mut frame = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
        let mut end = [zero; 3];
        for (i, angle) in angles.iter().enumerate() {
            let (s, c) = (angle.sin(), angle.cos());
            let turn: [[Expr; 3]; 3] = match i % 2 {
                0 => [[one, zero, zero], [zero, c, -s], [zero, s, c]],
                _ => [[c, zero, s], [zero, one, zero], [-s, zero, c]],
            };
            frame = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    frame[i][0] * turn[0][j] + frame[i][1] * turn[1][j] + frame[i][2] * turn[2][j]
                })
            });
            end = std::array::from_fn(|i| end[i] + frame[i][2]);
        }
        let roots = end.map(|e| e.id);
        let symbols = exprs.symbols_of(&roots);
        let at = |symbol| {
            let place = symbols.iter().position(|&other| other == symbol).unwrap_or(0);
            0.3 + 0.7 * (place as f64 * 1.7).sin()
        };
        let plain = exprs.eval_f64(&roots, at);
        let bounds = exprs.evaluate(&Running, &roots, |s| Noisy::exact(at(s)));
        let mut measured = [0f64; 3];
        for number in 0..TRIES {
            let found = exprs.evaluate(&Shaken::new(number), &roots, at);
            for (most, (a, b)) in measured.iter_mut().zip(found.iter().zip(&plain)) {
                *most = most.max(SAFETY * (a - b).abs());
            }
        }
        // In many digits, for the error itself.
        let exact = {
            use dalembert_expr::ball::{Balls, Extended};
            let balls = Balls(Extended::new(256));
            let values = exprs.evaluate(&balls, &roots, |s| Ok(balls.0.double(at(s), 0)));
            values.into_iter().map(|v| v.map_or(f64::NAN, |v| v.to_f64_scaled(0)))
        };
        for (((value, exact), bound), measured) in plain.iter().zip(exact).zip(bounds).zip(measured)
        {
            let error = (value - exact).abs();
            assert!(error <= measured, "{error:e} {measured:e}");
            assert!(measured < 1e-9, "{measured:e}");
            assert!(bound.noise > 1e6, "{bound:?}");
        }
    }
}
