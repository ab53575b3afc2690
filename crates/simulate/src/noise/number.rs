//! Doubles that carry a bound on their own rounding error, to first order.
//!
//! A number that should be zero is seldom exactly zero in floating point. Whether
//! a residual of 10⁻¹⁷ is nothing or a contradiction is told by comparing it with
//! what rounding can have done, and that depends on the expression and the state,
//! not on units.

use dalembert_expr::eval::{Arithmetic, Doubles};
use dalembert_expr::{Function, Number, Restriction};
use std::sync::Arc;

/// A value and a bound on its rounding error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noisy {
    /// The value: what plain doubles give.
    pub value: f64,
    /// The bound.
    pub noise: f64,
}

impl Noisy {
    /// A number taken as exact.
    pub fn exact(value: f64) -> Noisy {
        Noisy { value, noise: 0.0 }
    }

    fn rounded(value: f64, noise: f64) -> Noisy {
        // Below the smallest normal number digits are lost beside those of the mantissa.
        let is_subnormal = value != 0.0 && value.abs() < f64::MIN_POSITIVE;
        let underflow = if is_subnormal { f64::MIN_POSITIVE } else { 0.0 };
        Noisy { value, noise: noise + f64::EPSILON * value.abs() + underflow }
    }
}

/// Arithmetic on [`Noisy`] numbers.
pub struct Running;

impl Arithmetic for Running {
    type Value = Noisy;

    fn restricted(&self, of: &Arc<Restriction>, arguments: &[Noisy]) -> Vec<Noisy> {
        let mut x: Vec<f64> = arguments.iter().map(|a| a.value).collect();
        let mut found: Vec<Noisy> =
            of.at(&x).into_iter().map(|value| Noisy::rounded(value, 0.0)).collect();
        // What the arguments leave open, one by one: by their own errors, and since a double next
        // to the surface is on it as well as any other.
        for (at, argument) in arguments.iter().enumerate() {
            let open = argument.noise.max(f64::EPSILON * argument.value.abs());
            if open > 0.0 {
                x[at] = argument.value + open;
                for (place, moved) in found.iter_mut().zip(of.at(&x)) {
                    place.noise += (moved - place.value).abs();
                }
                x[at] = argument.value;
            }
        }
        found
    }

    fn number(&self, number: &Number) -> Noisy {
        let value = number.to_f64();
        // Integers of a double's size are exact.
        if value.fract() == 0.0 && value.abs() < 9.0e15 {
            Noisy::exact(value)
        } else {
            Noisy::rounded(value, 0.0)
        }
    }

    fn pi(&self) -> Noisy {
        Noisy::rounded(std::f64::consts::PI, 0.0)
    }

    fn add(&self, a: &Noisy, b: &Noisy) -> Noisy {
        Noisy::rounded(a.value + b.value, a.noise + b.noise)
    }

    fn mul(&self, a: &Noisy, b: &Noisy) -> Noisy {
        let noise = a.noise * b.value.abs() + b.noise * a.value.abs() + a.noise * b.noise;
        let value = a.value * b.value;
        let is_lost = value == 0.0 && a.value != 0.0 && b.value != 0.0;
        Noisy::rounded(value, noise + if is_lost { f64::MIN_POSITIVE } else { 0.0 })
    }

    fn power(&self, base: &Noisy, exponent: &Number) -> Noisy {
        let value = Doubles.power(&base.value, exponent);
        let e = exponent.to_f64();
        // |e x^(e−1)| δ; at 0 a root moves by the root of the error.
        let slope = (e * value / base.value).abs();
        let noise = if base.noise == 0.0 {
            0.0
        } else if e > 1.0 {
            // Near 0 the last term of the binomial counts for more than the first.
            let slope = if slope.is_finite() { slope } else { 0.0 };
            slope * base.noise + base.noise.powf(e)
        } else if base.value == 0.0 || !slope.is_finite() {
            base.noise.powf(e.abs().min(1.0))
        } else {
            slope * base.noise
        };
        Noisy::rounded(value, noise + e.abs() * f64::EPSILON * value.abs())
    }

    fn pow(&self, base: &Noisy, exponent: &Noisy) -> Noisy {
        let value = base.value.powf(exponent.value);
        let by_base = (exponent.value * value / base.value).abs() * base.noise;
        let by_exponent = (value * base.value.abs().ln()).abs() * exponent.noise;
        let clean = |x: f64| if x.is_finite() { x } else { 0.0 };
        Noisy::rounded(value, clean(by_base) + clean(by_exponent))
    }

    fn call(&self, function: Function, x: &[Noisy]) -> Noisy {
        let plain: Vec<f64> = x.iter().map(|a| a.value).collect();
        let value = Doubles.call(function, &plain);
        let first = x.first().copied().unwrap_or_default();
        let a = first.value;
        let slope = match function {
            Function::Sin => a.cos(),
            Function::Cos => a.sin(),
            Function::Tan => 1.0 + value * value,
            Function::Asin | Function::Acos => 1.0 / (1.0 - a * a).max(f64::EPSILON).sqrt(),
            Function::Atan => 1.0 / (1.0 + a * a),
            Function::Sinh => a.cosh(),
            Function::Cosh => a.sinh(),
            Function::Tanh => 1.0 - value * value,
            Function::Exp => value,
            Function::Log => 1.0 / a,
            Function::Abs => 1.0,
            Function::Atan2 => {
                let size = plain.iter().map(|v| v * v).sum::<f64>().sqrt();
                let noise = x.iter().map(|v| v.noise).sum::<f64>();
                let noise = if size > 0.0 { noise / size } else { 0.0 };
                return Noisy::rounded(value, noise);
            }
            Function::Min | Function::Max => {
                let noise = x.iter().fold(0.0, |m: f64, v| m.max(v.noise));
                return Noisy { value, noise };
            }
            Function::If => {
                let chosen = if a != 0.0 { x.get(1) } else { x.get(2) };
                return chosen.copied().unwrap_or_default();
            }
            // Steps: exact on both sides of the jump.
            _ if function.is_step() => return Noisy::exact(value),
            Function::Given => {
                // Its slope may not be known: what the argument's noise makes of it is seen.
                let argument = x.get(1).copied().unwrap_or_default();
                let moved = match argument.noise {
                    0.0 => 0.0,
                    by => Doubles.call(function, &[a, argument.value + by]) - value,
                };
                return Noisy::rounded(value, moved.abs() + 4.0 * f64::EPSILON * value.abs());
            }
            Function::Table => {
                let argument = x.get(1).copied().unwrap_or_default();
                let slope = Doubles.call(function, &[a + 1.0, argument.value]);
                let noise = slope.abs() * argument.noise + 4.0 * f64::EPSILON * value.abs();
                return Noisy::rounded(value, noise);
            }
            // There is no other, and of none that there may be the slope is known.
            _ => f64::NAN,
        };
        // Slopes of sine and cosine at a turning point still see the argument's
        // own rounding to second order; one ulp of slack covers it.
        Noisy::rounded(value, slope.abs() * first.noise + f64::EPSILON * value.abs())
    }

    fn solve(&self, k: &[Noisy], r: &[Noisy]) -> Vec<Noisy> {
        let n = r.len();
        let matrix: Vec<f64> = k.iter().map(|a| a.value).collect();
        let right: Vec<f64> = r.iter().map(|a| a.value).collect();
        let x = Doubles.solve(&matrix, &right);
        if x.iter().any(|v| !v.is_finite()) {
            return x.into_iter().map(Noisy::exact).collect();
        }
        // |K⁻¹| (δr + δK|x| + n ε |K||x|)
        let mut moved = vec![0.0; n];
        for i in 0..n {
            moved[i] = r[i].noise + f64::EPSILON * r[i].value.abs();
            for j in 0..n {
                let entry = k[i * n + j];
                let own = n as f64 * f64::EPSILON * entry.value.abs();
                moved[i] += (entry.noise + own) * x[j].abs();
            }
        }
        let mut noise = vec![0.0; n];
        for (i, &size) in moved.iter().enumerate() {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            for (total, column) in noise.iter_mut().zip(Doubles.solve(&matrix, &unit)) {
                *total += column.abs() * size;
            }
        }
        x.into_iter().zip(noise).map(|(value, noise)| Noisy::rounded(value, noise)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_expr::Exprs;

    #[test]
    fn cancellation_is_seen() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let identity = x.sin().powi(2) + x.cos().powi(2) - exprs.integer(1);
        let at = |value: f64| exprs.evaluate(&Running, &[identity.id], |_| Noisy::exact(value))[0];
        for i in 0..200 {
            let result = at(0.37 * f64::from(i));
            assert!(result.value.abs() <= result.noise, "{result:?}");
            assert!(result.noise < 1e-14, "{result:?}");
        }
    }

    #[test]
    fn a_real_difference_is_not_noise() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let off = x.sin().powi(2) + x.cos().powi(2) - exprs.integer(1)
            + x / exprs.integer(1_000_000_000_000);
        let result = exprs.evaluate(&Running, &[off.id], |_| Noisy::exact(1.0))[0];
        assert!(result.value.abs() > result.noise, "{result:?}");
    }

    /// What is compiled can be run over these numbers too: the values agree within the bounds, and
    /// the bounds with each other but for the order of operations.
    #[test]
    fn a_tape_carries_the_same_bounds() {
        use dalembert_compile::conformance::graphs;
        use dalembert_compile::{Program, Through};
        let inputs = [0.4, 0.9, 0.3, 1.1, 0.7].map(|x| Noisy::rounded(x, 0.0));
        for graph in graphs(200) {
            let (program, values) = (Program::new(&graph.tape), Through(&Running));
            let mut room = program.room(&values);
            let mut by_tape = [Noisy::default(); 3];
            program.prepare(&values, &mut room, &inputs[..2]);
            program.call(&values, &mut room, &inputs[2..], &mut by_tape);
            let by_expression = graph.exprs.evaluate(&Running, &graph.roots, |symbol| {
                let place = graph.symbols.iter().position(|&other| other == symbol);
                inputs[place.expect("a symbol of the graph")]
            });
            for (a, b) in by_tape.iter().zip(&by_expression) {
                assert!((a.value - b.value).abs() <= a.noise + b.noise, "{a:?} {b:?}");
                assert!(a.noise <= 4.0 * b.noise && b.noise <= 4.0 * a.noise, "{a:?} {b:?}");
            }
        }
    }
}
