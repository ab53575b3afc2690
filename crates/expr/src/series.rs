//! Truncated Taylor series along one direction, as an arithmetic.
//!
//! A value is x(h) = c₀ + c₁ h + … + c₄ h⁴ + O(h⁵), and beside each coefficient the size of the
//! terms that it was added up from: what it would be if nothing had cancelled. Both together
//! say over which distance a function changes by as much as it is made of, and which
//! coefficients are nothing but rounding.
//!
//! The recurrences are those of automatic differentiation (Griewank & Walther, *Evaluating
//! Derivatives*, chapter 13). Where a function has no derivative, its coefficients are not
//! numbers.

use crate::eval::{Arithmetic, Doubles};
use crate::function::Function;
use crate::number::Number;

/// Number of coefficients.
pub const TERMS: usize = 5;

/// A truncated series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Series {
    /// c₀ … c₄.
    pub coefficients: [f64; TERMS],
    /// The sizes of the terms of each.
    pub sizes: [f64; TERMS],
}

impl Series {
    /// A constant.
    pub fn constant(value: f64) -> Series {
        let mut coefficients = [0.0; TERMS];
        coefficients[0] = value;
        Series::of(coefficients)
    }

    /// The variable itself: value + h.
    pub fn variable(value: f64) -> Series {
        let mut coefficients = [0.0; TERMS];
        (coefficients[0], coefficients[1]) = (value, 1.0);
        Series::of(coefficients)
    }

    /// Whether a coefficient is more than what rounding leaves of its terms.
    pub fn is_significant(&self, order: usize) -> bool {
        let c = self.coefficients[order].abs();
        c.is_finite() && c > 64.0 * f64::EPSILON * self.sizes[order]
    }

    fn value(&self) -> f64 {
        self.coefficients[0]
    }

    fn of(coefficients: [f64; TERMS]) -> Series {
        Series { coefficients, sizes: coefficients.map(f64::abs) }
    }

    /// Whether only c₀ is there.
    fn is_constant(&self) -> bool {
        self.coefficients[1..].iter().all(|c| *c == 0.0)
    }

    fn plus(&self, other: &Series) -> Series {
        Series {
            coefficients: std::array::from_fn(|k| self.coefficients[k] + other.coefficients[k]),
            sizes: std::array::from_fn(|k| self.sizes[k] + other.sizes[k]),
        }
    }

    fn times(&self, other: &Series) -> Series {
        let product = |a: &[f64; TERMS], b: &[f64; TERMS]| {
            std::array::from_fn(|k| (0..=k).map(|i| a[i] * b[k - i]).sum())
        };
        Series {
            coefficients: product(&self.coefficients, &other.coefficients),
            sizes: product(&self.sizes, &other.sizes),
        }
    }

    fn scaled(&self, factor: f64) -> Series {
        Series {
            coefficients: self.coefficients.map(|c| c * factor),
            sizes: self.sizes.map(|s| s * factor.abs()),
        }
    }

    fn over(&self, other: &Series) -> Series {
        let first = other.value();
        let solve = |a: &[f64; TERMS], b: &[f64; TERMS], sign: f64| {
            let mut q = [0.0; TERMS];
            for k in 0..TERMS {
                let known: f64 = (1..=k).map(|i| b[i] * q[k - i]).sum();
                q[k] = (a[k] + sign * known) / if sign > 0.0 { first.abs() } else { first };
            }
            q
        };
        Series {
            coefficients: solve(&self.coefficients, &other.coefficients, -1.0),
            sizes: solve(&self.sizes, &other.sizes, 1.0),
        }
    }

    /// The series with value `first` whose derivative is `slope` · x′.
    fn integrate(&self, first: f64, slope: &Series) -> Series {
        let integral = |first: f64, x: &[f64; TERMS], slope: &[f64; TERMS]| {
            std::array::from_fn(|k| if k == 0 { first } else { moment(x, slope, k) })
        };
        Series {
            coefficients: integral(first, &self.coefficients, &slope.coefficients),
            sizes: integral(first.abs(), &self.sizes, &slope.sizes),
        }
    }

    fn exp(&self) -> Series {
        let first = self.value().exp();
        let solve = |x: &[f64; TERMS]| {
            let mut y = [0.0; TERMS];
            y[0] = first;
            (1..TERMS).for_each(|k| y[k] = moment(x, &y, k));
            y
        };
        Series { coefficients: solve(&self.coefficients), sizes: solve(&self.sizes) }
    }

    /// Sine and cosine, or with `sign` = 1 their hyperbolic counterparts.
    fn waves(&self, (first, second): (f64, f64), sign: f64) -> (Series, Series) {
        let solve = |x: &[f64; TERMS], first: f64, second: f64, sign: f64| {
            let (mut s, mut c) = ([0.0; TERMS], [0.0; TERMS]);
            (s[0], c[0]) = (first, second);
            for k in 1..TERMS {
                (s[k], c[k]) = (moment(x, &c, k), sign * moment(x, &s, k));
            }
            (s, c)
        };
        let (s, c) = solve(&self.coefficients, first, second, sign);
        let sizes = solve(&self.sizes, first.abs(), second.abs(), 1.0);
        (Series { coefficients: s, sizes: sizes.0 }, Series { coefficients: c, sizes: sizes.1 })
    }

    /// x^e: x y′ = e y x′. Powers of 0 are products.
    fn raised(&self, e: f64, value: f64) -> Series {
        if e >= 0.0 && e.fract() == 0.0 && e <= 64.0 {
            let mut y = Series::constant(1.0);
            for _ in 0..e as u32 {
                y = y.times(self);
            }
            y.coefficients[0] = value;
            return y;
        }
        let (x, sizes) = (&self.coefficients, &self.sizes);
        let (mut y, mut of) = ([0.0; TERMS], [0.0; TERMS]);
        (y[0], of[0]) = (value, value.abs());
        for k in 1..TERMS {
            let factor = |i: usize| e * i as f64 - (k - i) as f64;
            let sum: f64 = (1..=k).map(|i| factor(i) * x[i] * y[k - i]).sum();
            let all: f64 = (1..=k).map(|i| factor(i).abs() * sizes[i] * of[k - i]).sum();
            (y[k], of[k]) = (sum / (k as f64 * x[0]), all / (k as f64 * x[0].abs()));
        }
        Series { coefficients: y, sizes: of }
    }
}

/// Coefficient k of ∫ x′ y.
fn moment(x: &[f64; TERMS], y: &[f64; TERMS], k: usize) -> f64 {
    (1..=k).map(|i| i as f64 * x[i] * y[k - i]).sum::<f64>() / k as f64
}

/// Arithmetic on [`Series`].
pub struct Along;

impl Arithmetic for Along {
    type Value = Series;

    fn number(&self, number: &Number) -> Series {
        Series::constant(number.to_f64())
    }

    fn pi(&self) -> Series {
        Series::constant(std::f64::consts::PI)
    }

    fn add(&self, a: &Series, b: &Series) -> Series {
        a.plus(b)
    }

    fn mul(&self, a: &Series, b: &Series) -> Series {
        a.times(b)
    }

    fn power(&self, base: &Series, exponent: &Number) -> Series {
        let value = Doubles.power(&base.value(), exponent);
        if base.is_constant() {
            return Series::constant(value);
        }
        base.raised(exponent.to_f64(), value)
    }

    fn pow(&self, base: &Series, exponent: &Series) -> Series {
        let value = base.value().powf(exponent.value());
        if exponent.is_constant() {
            if base.is_constant() {
                return Series::constant(value);
            }
            return base.raised(exponent.value(), value);
        }
        self.call(Function::Log, &[*base]).times(exponent).exp()
    }

    fn call(&self, function: Function, x: &[Series]) -> Series {
        let plain: Vec<f64> = x.iter().map(Series::value).collect();
        let value = Doubles.call(function, &plain);
        if x.iter().all(Series::is_constant) {
            return Series::constant(value);
        }
        let a = &x[0];
        let one = Series::constant(1.0);
        let square = |x: &Series| x.times(x);
        match function {
            Function::Sin => a.waves((value, a.value().cos()), -1.0).0,
            Function::Cos => a.waves((a.value().sin(), value), -1.0).1,
            Function::Tan => {
                let (s, c) = a.waves(a.value().sin_cos(), -1.0);
                s.over(&c)
            }
            Function::Sinh => a.waves((value, a.value().cosh()), 1.0).0,
            Function::Cosh => a.waves((a.value().sinh(), value), 1.0).1,
            Function::Tanh => {
                let (s, c) = a.waves((a.value().sinh(), a.value().cosh()), 1.0);
                // Beyond the range of cosh it is a constant.
                if c.value().is_finite() { s.over(&c) } else { Series::constant(value) }
            }
            Function::Exp => a.exp(),
            Function::Log => a.integrate(value, &one.over(a)),
            Function::Atan => a.integrate(value, &one.over(&one.plus(&square(a)))),
            Function::Asin | Function::Acos => {
                let sign = if function == Function::Asin { 1.0 } else { -1.0 };
                let rest = one.plus(&square(a).scaled(-1.0));
                let slope = rest.raised(-0.5, rest.value().powf(-0.5)).scaled(sign);
                a.integrate(value, &slope)
            }
            Function::Atan2 => {
                let (y, x) = (&x[0], &x[1]);
                let length = square(x).plus(&square(y));
                let by_y = y.integrate(0.0, &x.over(&length));
                let by_x = x.integrate(0.0, &y.over(&length));
                let mut angle = by_y.plus(&by_x.scaled(-1.0));
                (angle.coefficients[0], angle.sizes[0]) = (value, value.abs());
                angle
            }
            Function::Abs if a.value() < 0.0 => a.scaled(-1.0),
            Function::Abs => *a,
            Function::Min | Function::Max => {
                x.iter().copied().find(|s| s.value() == value).unwrap_or(Series::constant(value))
            }
            Function::If => {
                let chosen = if a.value() != 0.0 { x.get(1) } else { x.get(2) };
                chosen.copied().unwrap_or_default()
            }
            _ if function.is_step() => Series::constant(value),
            Function::Table | Function::Given => {
                // f + f′ δ + f″ δ²/2 + f‴ δ³/6 on the piece that x is on.
                let (key, mut delta) = (plain[0], x[1]);
                (delta.coefficients[0], delta.sizes[0]) = (0.0, 0.0);
                let order = |k: f64| Doubles.call(function, &[key + k, plain[1]]);
                let most = 3.0 - (key % 8.0);
                let mut sum = Series::constant(value);
                let (mut power, mut factor) = (Series::constant(1.0), 1.0);
                for k in 1..=most.max(0.0) as u32 {
                    power = power.times(&delta);
                    factor /= f64::from(k);
                    sum = sum.plus(&power.scaled(factor * order(f64::from(k))));
                }
                sum
            }
            // There is no other, and of none that there may be the slopes are known.
            _ => Series::constant(f64::NAN),
        }
    }

    fn solve(&self, k: &[Series], r: &[Series]) -> Vec<Series> {
        // K₀ x_j = r_j − Σ K_i x_{j−i}, order by order.
        let n = r.len();
        let matrix: Vec<f64> = k.iter().map(Series::value).collect();
        let mut x = vec![Series::default(); n];
        for order in 0..TERMS {
            let right: Vec<f64> = (0..n)
                .map(|i| {
                    let known: f64 = (1..=order)
                        .flat_map(|p| (0..n).map(move |j| (p, j)))
                        .map(|(p, j)| k[i * n + j].coefficients[p] * x[j].coefficients[order - p])
                        .sum();
                    r[i].coefficients[order] - known
                })
                .collect();
            for (x, value) in x.iter_mut().zip(Doubles.solve(&matrix, &right)) {
                x.coefficients[order] = value;
            }
        }
        x.into_iter().map(|x| Series::of(x.coefficients)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exprs;

    /// Every function at a point, against its derivatives as expressions.
    #[test]
    fn coefficients_are_the_derivatives_over_factorials() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let symbol = x.symbol().unwrap();
        let two = exprs.integer(2);
        let half = exprs.integer(1) / two;
        let call = |function, of: crate::Expr| exprs.at(exprs.call(function, &[of.id]));
        let angle = exprs.call(Function::Atan2, &[x.id, (x * x + exprs.integer(1)).id]);
        let functions = [
            x.sin() * x.cos(),
            x.tan(),
            call(Function::Sinh, x) + call(Function::Cosh, x) * x,
            call(Function::Tanh, x),
            (x * x).exp(),
            x.log(),
            call(Function::Atan, x),
            call(Function::Asin, x * half),
            call(Function::Acos, x * half),
            x.powi(-3),
            (x + x * x).sqrt(),
            x.powi(5) - x * two,
            exprs.at(angle),
            x.pow(x),
        ];
        for f in functions {
            for at in [0.3, 1.1] {
                let value = |e: crate::Expr| exprs.eval_f64(&[e.id], |_| at)[0];
                let series = exprs.evaluate(&Along, &[f.id], |_| Series::variable(at))[0];
                let (mut d, mut factorial) = (f, 1.0);
                for k in 0..TERMS {
                    let right = value(d) / factorial;
                    let found = series.coefficients[k];
                    assert!(
                        (right - found).abs() <= 1e-11 * right.abs().max(1.0),
                        "order {k} of {f:?} at {at}: {found} for {right}"
                    );
                    d = d.d(symbol);
                    factorial *= (k + 1) as f64;
                }
            }
        }
    }

    #[test]
    fn powers_of_zero_are_products() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let f = x.powi(3) + x.powi(2);
        let series = exprs.evaluate(&Along, &[f.id], |_| Series::variable(0.0))[0];
        assert_eq!(series.coefficients, [0.0, 0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn size_is_what_cancelled() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let f = x.powi(2) - exprs.integer(1);
        let series = exprs.evaluate(&Along, &[f.id], |_| Series::variable(1.0))[0];
        assert_eq!((series.coefficients[0], series.sizes[0]), (0.0, 2.0));
    }
}
