//! Gauss–Legendre collocation: nodes, weights and polynomials in Legendre's basis.
//!
//! With s nodes c_i in (0, 1), the rates f_i there and P_k Legendre's polynomials on
//! [0, 1],
//!
//! ```text
//! f(θ) = Σ f̂_k P_k(θ),    f̂_k = (2k + 1) Σ_j w_j P_k(c_j) f_j,    x(θ) = x₀ + h Σ f̂_k ∫₀^θ P_k
//! ```
//!
//! so that stages, end and dense output come from one formula, and the last f̂_k tell how
//! well the polynomial resolves the motion. Order 2s (Hairer, Lubich & Wanner,
//! *Geometric Numerical Integration*, II.1.3).

use std::sync::LazyLock;

/// The rule of a step across a singular position, with an even number of nodes: none in the
/// middle. Few runs need it.
pub(super) static RULE: LazyLock<Collocation> = LazyLock::new(|| Collocation::new(16));

/// Nodes and what is known about them.
pub struct Collocation {
    /// c, in (0, 1), rising.
    pub nodes: Vec<f64>,
    /// w, with sum 1.
    pub weights: Vec<f64>,
    /// P_k(c_j), by k.
    values: Vec<Vec<f64>>,
    /// a_ij = ∫₀^{c_i} of the j-th of Lagrange's polynomials.
    pub stages: Vec<Vec<f64>>,
}

/// P_0 … P_count on [0, 1] at θ.
fn legendre(theta: f64, count: usize) -> Vec<f64> {
    let z = 2.0 * theta - 1.0;
    let mut p = vec![1.0, z];
    for k in 1..count.max(1) {
        let a = k as f64;
        p.push(((2.0 * a + 1.0) * z * p[k] - a * p[k - 1]) / (a + 1.0));
    }
    p
}

/// ∫₀^θ P_k for k below `count`.
fn integrals(theta: f64, count: usize) -> Vec<f64> {
    let p = legendre(theta, count + 1);
    (0..count)
        .map(
            |k| {
                if k == 0 { theta } else { (p[k + 1] - p[k - 1]) / (2.0 * (2.0 * k as f64 + 1.0)) }
            },
        )
        .collect()
}

impl Collocation {
    /// With a number of nodes.
    pub fn new(count: usize) -> Collocation {
        let s = count as f64;
        let mut nodes = Vec::new();
        let mut weights = Vec::new();
        for i in 0..count {
            // Newton's method on P_s from the usual first guess.
            let mut z = -(std::f64::consts::PI * (i as f64 + 0.75) / (s + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..50 {
                let p = legendre(0.5 * (z + 1.0), count);
                slope = s * (z * p[count] - p[count - 1]) / (z * z - 1.0);
                let step = p[count] / slope;
                z -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            nodes.push(0.5 * (z + 1.0));
            weights.push(1.0 / ((1.0 - z * z) * slope * slope));
        }
        let mut values = vec![vec![0.0; count]; count];
        for (j, &node) in nodes.iter().enumerate() {
            for (k, p) in legendre(node, count).into_iter().take(count).enumerate() {
                values[k][j] = p;
            }
        }
        let stages = nodes
            .iter()
            .map(|&node| {
                let integrals = integrals(node, count);
                let entry = |j: usize| -> f64 {
                    let terms = integrals.iter().enumerate();
                    terms.map(|(k, i)| (2.0 * k as f64 + 1.0) * weights[j] * values[k][j] * i).sum()
                };
                (0..count).map(entry).collect()
            })
            .collect();
        Collocation { nodes, weights, values, stages }
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// f̂ of rates at the nodes.
    pub fn coefficients(&self, rates: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let size = rates.first().map_or(0, Vec::len);
        let of = |k: usize| {
            let mut sum = vec![0.0; size];
            for (j, rates) in rates.iter().enumerate() {
                let factor = (2.0 * k as f64 + 1.0) * self.weights[j] * self.values[k][j];
                sum.iter_mut().zip(rates).for_each(|(sum, f)| *sum += factor * f);
            }
            sum
        };
        (0..self.count()).map(of).collect()
    }

    /// Weights b with ∫ from θ₀ to θ₁ ≈ Σ b_i f(θ_i), exact for polynomials through the
    /// points.
    pub fn through(&self, points: &[f64], from: f64, to: f64) -> Vec<f64> {
        let basis = |at: usize, theta: f64| -> f64 {
            let others = points.iter().enumerate().filter(|(i, _)| *i != at);
            others.map(|(_, p)| (theta - p) / (points[at] - p)).product()
        };
        let length = to - from;
        (0..points.len())
            .map(|i| {
                let nodes = self.nodes.iter().zip(&self.weights);
                nodes.map(|(c, w)| w * length * basis(i, from + c * length)).sum()
            })
            .collect()
    }
}

/// A motion as a polynomial over one step.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Where it begins in time.
    pub t: f64,
    /// Its length.
    pub h: f64,
    /// The state there.
    pub start: Vec<f64>,
    /// f̂.
    pub coefficients: Vec<Vec<f64>>,
}

impl Passage {
    /// The state at a fraction θ of the step.
    pub fn state(&self, theta: f64) -> Vec<f64> {
        let mut x = self.start.clone();
        let integrals = integrals(theta, self.coefficients.len());
        for (integral, row) in integrals.iter().zip(&self.coefficients) {
            x.iter_mut().zip(row).for_each(|(x, f)| *x += self.h * integral * f);
        }
        x
    }

    /// The rates there.
    pub fn rates(&self, theta: f64) -> Vec<f64> {
        let mut dx = vec![0.0; self.start.len()];
        let p = legendre(theta, self.coefficients.len());
        for (p, row) in p.iter().zip(&self.coefficients) {
            dx.iter_mut().zip(row).for_each(|(dx, f)| *dx += p * f);
        }
        dx
    }

    /// The fraction of a time.
    pub fn theta(&self, t: f64) -> f64 {
        (t - self.t) / self.h
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_integrate_polynomials_of_twice_their_number() {
        for count in [1, 2, 6, 12, 16] {
            let rule = Collocation::new(count);
            for power in 0..2 * count {
                let nodes = rule.nodes.iter().zip(&rule.weights);
                let sum: f64 = nodes.map(|(c, w)| w * c.powi(power as i32)).sum();
                assert!((sum * (power as f64 + 1.0) - 1.0).abs() < 1e-13, "{count} {power} {sum}");
            }
        }
    }

    #[test]
    fn stages_integrate_up_to_their_nodes() {
        let rule = Collocation::new(12);
        for (row, &to) in rule.stages.iter().zip(&rule.nodes) {
            for power in 0..12 {
                let terms = row.iter().zip(&rule.nodes);
                let sum: f64 = terms.map(|(a, c)| a * c.powi(power)).sum();
                let exact = to.powi(power + 1) / f64::from(power + 1);
                assert!((sum - exact).abs() < 1e-15, "{power} {sum} {exact}");
            }
        }
    }

    #[test]
    fn a_polynomial_is_met_between_the_nodes() {
        let rule = Collocation::new(8);
        let rate = |t: f64| 1.0 + 3.0 * t - 5.0 * t.powi(6);
        let whole = |t: f64| 2.0 + t + 1.5 * t * t - 5.0 / 7.0 * t.powi(7);
        let (from, h) = (0.3, 0.5);
        let rates: Vec<Vec<f64>> = rule.nodes.iter().map(|c| vec![rate(from + c * h)]).collect();
        let start = vec![whole(from)];
        let passage = Passage { t: from, h, start, coefficients: rule.coefficients(&rates) };
        for theta in [0.0, 0.2, 0.77, 1.0] {
            let t = from + theta * h;
            assert!((passage.state(theta)[0] - whole(t)).abs() < 1e-14);
            assert!((passage.rates(theta)[0] - rate(t)).abs() < 1e-13);
            assert!((passage.theta(t) - theta).abs() < 1e-15);
        }
    }

    #[test]
    fn weights_through_points_integrate_what_goes_through_them() {
        let rule = Collocation::new(6);
        let points = [0.0, 0.1, 0.35];
        let f = |t: f64| 1.0 - 2.0 * t + 7.0 * t * t;
        let whole = |t: f64| t - t * t + 7.0 / 3.0 * t.powi(3);
        let b = rule.through(&points, 0.35, 0.5);
        let sum: f64 = b.iter().zip(points).map(|(b, p)| b * f(p)).sum();
        assert!((sum - (whole(0.5) - whole(0.35))).abs() < 1e-14);
    }
}
