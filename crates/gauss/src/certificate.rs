//! Certificates of a solution: that it is the minimum of Gauss's problem, that the
//! constraint force is the shortest one that does the work.
//!
//! A v̇ = b together with Γv̇ − F − C ∈ range Aᵀ is necessary and sufficient for the
//! minimum of ½ v̇ᵀΓv̇ − v̇ᵀ(F + C) on A v̇ = b, Γ ⪰ 0. And Qᶜ − C ∈ range Aᵀ says
//! that no other force that enforces the constraints is shorter in the metric M⁻¹:
//! any other differs by one that is M⁻¹-orthogonal to range Aᵀ.

use crate::outcome::Outcome;
use crate::scale::Units;
use crate::terms::Terms;

/// How well a solution satisfies Gauss's principle. All numbers are relative to
/// the largest terms that should cancel, in equilibrated units, beyond what
/// rounding did to these terms. Not relative to each row's own terms: where these
/// vanish, all that is left of a row is the rounding of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauss {
    /// The largest of the following, and of the same in the formulation's own
    /// variables (quasi-accelerations).
    pub residual: f64,
    /// |A q̈ − b|.
    pub feasibility: f64,
    /// |M q̈ − Q − C − Aᵀλ|.
    pub stationarity: f64,
    /// Part of Qᶜ − C that is not along the constraints.
    pub minimality: f64,
    /// |M q̈ − Q − C − Aᵀλ| and the largest of its terms, to measure a whole run by.
    pub forces: (f64, f64),
    /// |A q̈ − b| and the largest of its terms.
    pub rows: (f64, f64),
}

impl Gauss {
    /// The certificate of accelerations and forces, in the units of the terms. Where all of them vanish, what is left is
    /// measured by the rounding of `natural` accelerations, of the size that velocities give.
    pub fn new(
        terms: &Terms,
        units: &Units,
        accelerations: &[f64],
        force: &[f64],
        outcome: &Outcome,
        natural: &[f64],
    ) -> Gauss {
        let n = terms.n;
        let Units { coordinates, rows, .. } = units;
        // Rounding of the largest is in all of them, in units of equal mass.
        let parts = natural.iter().zip(coordinates).map(|(a, c)| a / c);
        let most = parts.filter(|x| x.is_finite()).fold(0.0, f64::max);
        let natural: Vec<f64> = coordinates.iter().map(|c| c * most).collect();
        let lambda = &outcome.multipliers;
        let mut along = vec![(0.0, 0.0); n];
        for (j, l) in lambda.iter().enumerate() {
            for (i, a) in terms.jacobian_row(j) {
                let part = a * l;
                along[i].0 += part;
                along[i].1 += part.abs();
            }
        }
        let mut stationarity = Relative::default();
        let (mut outside, mut whole) = (0f64, 0f64);
        let natural = &natural;
        let of_bodies =
            terms.bodies().map(|_| [terms.spread(accelerations), terms.spread(natural)]);
        for i in 0..n {
            let row = || terms.metric_row(i);
            let (inertia, rounding) = match &of_bodies {
                Some([inertia, natural]) => (inertia[i], 4.0 * f64::EPSILON * natural[i]),
                None => (
                    row().map(|(k, m)| (m * accelerations[k]).abs()).sum::<f64>(),
                    rounding(row(), natural),
                ),
            };
            let (along, held) = along[i];
            let size = inertia + terms.force[i].abs() + terms.nonideal[i].abs() + held;
            let left = force[i] - terms.nonideal[i] - along;
            let noise = terms.noise.map_or(0.0, |noise| {
                let metric = terms.metric_noise(i);
                let moved: f64 = metric.map(|(k, m)| m * accelerations[k].abs()).sum();
                noise.force[i] + moved
            }) + rounding;
            stationarity.take(coordinates[i], left, noise, size);
            outside = outside.max(left.abs() - 16.0 * noise);
            whole = whole.max(size);
        }
        let mut feasibility = Relative::default();
        // Rows have unit length in these units, so that they measure accelerations.
        // At rest in equilibrium the size is that of what the forces alone would do.
        for (i, (a, c)) in accelerations.iter().zip(coordinates).enumerate() {
            feasibility.take(1.0, 0.0, 0.0, a / c);
            feasibility.take(1.0, 0.0, 0.0, c * (terms.force[i].abs() + terms.nonideal[i].abs()));
        }
        for j in 0..terms.m {
            let (left, noise, size) = row(terms, accelerations, j);
            let noise = noise + rounding(terms.jacobian_row(j), natural);
            feasibility.take(rows[j], left, noise, size);
        }
        let of_forces = (stationarity.residual, stationarity.size);
        let of_rows = (feasibility.residual, feasibility.size);
        let (feasibility, stationarity) = (feasibility.value(), stationarity.value());
        let minimality = if whole > 0.0 { outside.max(0.0) / whole } else { 0.0 };
        let own = outcome.stationarity.max(outcome.feasibility);
        Gauss {
            residual: own.max(feasibility).max(stationarity),
            feasibility,
            stationarity,
            minimality,
            forces: of_forces,
            rows: of_rows,
        }
    }

    /// The largest |A q̈ − b|, row by row relative to the terms in it: whether rows
    /// contradict each other, however small their terms are.
    pub fn feasibility(terms: &Terms, accelerations: &[f64]) -> f64 {
        if accelerations.len() != terms.n {
            return 0.0;
        }
        (0..terms.m).fold(0f64, |worst, j| {
            let (left, noise, size) = row(terms, accelerations, j);
            let left = (left.abs() - 16.0 * noise).max(0.0);
            if left == 0.0 { worst } else { worst.max(left / size.max(f64::MIN_POSITIVE)) }
        })
    }
}

/// A few rounding errors of a row times natural accelerations.
fn rounding(row: impl Iterator<Item = (usize, f64)>, natural: &[f64]) -> f64 {
    4.0 * f64::EPSILON * row.map(|(i, a)| (a * natural[i]).abs()).sum::<f64>()
}

/// A residual of row j, its noise, and the size of its terms.
fn row(terms: &Terms, accelerations: &[f64], j: usize) -> (f64, f64, f64) {
    let (mut value, mut size) = (0.0, 0.0);
    for (i, a) in terms.jacobian_row(j) {
        let part = a * accelerations[i];
        value += part;
        size += part.abs();
    }
    let noise = terms.noise.map_or(0.0, |noise| {
        let moved: f64 = terms.jacobian_noise(j).map(|(i, a)| a * accelerations[i].abs()).sum();
        noise.bias[j] + moved
    });
    (value - terms.bias[j], noise, size + terms.bias[j].abs())
}

/// The largest residual over the largest size.
#[derive(Default)]
struct Relative {
    residual: f64,
    size: f64,
}

impl Relative {
    /// Adds a residual beyond its noise, and the size of the terms in it.
    fn take(&mut self, unit: f64, residual: f64, noise: f64, size: f64) {
        self.residual = self.residual.max(unit * (residual.abs() - 16.0 * noise));
        self.size = self.size.max(unit * size.abs());
    }

    fn value(&self) -> f64 {
        if self.residual > 0.0 { self.residual / self.size.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRIC: &[f64] = &[2.0, 0.0, 0.0, 2.0];
    const TERMS: Terms = Terms {
        n: 2,
        m: 1,
        metric: METRIC,
        force: &[3.0, 0.0],
        nonideal: &[0.0, 0.0],
        jacobian: &[1.0, 0.0],
        bias: &[1.0],
        noise: None,
        inertia: &[],
        patterns: None,
    };

    fn certificate(accelerations: &[f64]) -> Gauss {
        let force: Vec<f64> =
            (0..2).map(|i| METRIC[3 * i] * accelerations[i] - TERMS.force[i]).collect();
        let outcome = Outcome { multipliers: vec![-1.0], ..Outcome::default() };
        Gauss::new(&TERMS, &Units::of(&TERMS), accelerations, &force, &outcome, &[])
    }

    #[test]
    fn rounding_in_a_row_of_zeros_is_no_fault() {
        let exact = certificate(&[1.0, 0.0]);
        assert_eq!((exact.residual, exact.minimality), (0.0, 0.0));
        let rounded = certificate(&[1.0, 1e-17]);
        assert!(rounded.residual < 1e-16, "{rounded:?}");
    }

    #[test]
    fn a_wrong_acceleration_shows_with_its_size() {
        let free = certificate(&[1.0, 1e-6]);
        assert!((1e-7..1e-6).contains(&free.stationarity), "{free:?}");
        assert_eq!(free.feasibility, 0.0);
        let held = certificate(&[1.0 + 1e-6, 0.0]);
        assert!((1e-7..1e-5).contains(&held.feasibility), "{held:?}");
    }
}
