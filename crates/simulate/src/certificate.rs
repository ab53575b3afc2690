//! Certificates of a solution: that it is the minimum of Gauss's problem, that the
//! constraint force is the shortest one that does the work.
//!
//! A v̇ = b together with Γv̇ − F − C ∈ range Aᵀ is necessary and sufficient for the
//! minimum of ½ v̇ᵀΓv̇ − v̇ᵀ(F + C) on A v̇ = b, Γ ⪰ 0. And Qᶜ − C ∈ range Aᵀ says
//! that no other force that enforces the constraints is shorter in the metric M⁻¹:
//! any other differs by one that is M⁻¹-orthogonal to range Aᵀ.

use crate::linalg;
use crate::outcome::Outcome;
use crate::terms::Terms;

/// How well a solution satisfies Gauss's principle. All numbers are relative to
/// the terms that should cancel, beyond what rounding did to these terms.
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
    /// |A q̈ − b| and the largest of its terms, rows of unit length.
    pub rows: (f64, f64),
}

impl Gauss {
    /// The certificate of accelerations and forces.
    pub fn new(terms: &Terms, accelerations: &[f64], force: &[f64], outcome: &Outcome) -> Gauss {
        let feasibility = Gauss::feasibility(terms, accelerations);
        let n = terms.n;
        let lambda = &outcome.multipliers;
        let (mut stationarity, mut outside, mut whole) = (0f64, 0f64, 0f64);
        for i in 0..n {
            let row = &terms.metric[i * n..(i + 1) * n];
            let inertia: f64 = row.iter().zip(accelerations).map(|(m, a)| (m * a).abs()).sum();
            let mut along = 0.0;
            let mut size = inertia + terms.force[i].abs() + terms.nonideal[i].abs();
            for (j, l) in lambda.iter().enumerate() {
                let part = terms.jacobian[j * n + i] * l;
                along += part;
                size += part.abs();
            }
            let left = force[i] - terms.nonideal[i] - along;
            let noise = terms.noise.map_or(0.0, |noise| {
                let metric = &noise.metric[i * n..(i + 1) * n];
                let moved: f64 = metric.iter().zip(accelerations).map(|(m, a)| m * a.abs()).sum();
                noise.force[i] + moved
            });
            if terms.noise.is_some() {
                stationarity = stationarity.max(beyond(left, noise, size));
            }
            outside = outside.max(left.abs() - 16.0 * noise);
            whole = whole.max(size);
        }
        // Without bounds on rounding, a component of noise cannot be told from one
        // that is wrong; the largest terms are the measure then.
        if terms.noise.is_none() && whole > 0.0 {
            stationarity = outside / whole;
        }
        let minimality = if whole > 0.0 { outside.max(0.0) / whole } else { 0.0 };
        let own = outcome.stationarity.max(outcome.feasibility);
        Gauss {
            residual: own.max(feasibility).max(stationarity),
            feasibility,
            stationarity,
            minimality,
            forces: (outside.max(0.0), whole),
            rows: row_sizes(terms, accelerations),
        }
    }

    /// The largest |A q̈ − b|, row by row relative to the terms in it.
    pub fn feasibility(terms: &Terms, accelerations: &[f64]) -> f64 {
        let n = terms.n;
        let mut worst = 0f64;
        if accelerations.len() != n {
            return 0.0;
        }
        for j in 0..terms.m {
            let row = &terms.jacobian[j * n..(j + 1) * n];
            let value = linalg::dot(row, accelerations);
            let size: f64 = row.iter().zip(accelerations).map(|(a, x)| (a * x).abs()).sum();
            let noise = terms.noise.map_or(0.0, |noise| {
                let entries = &noise.jacobian[j * n..(j + 1) * n];
                let moved: f64 = entries.iter().zip(accelerations).map(|(a, x)| a * x.abs()).sum();
                noise.drift[j] + moved
            });
            let scale = size + terms.drift[j].abs();
            let length = linalg::largest(row) * linalg::largest(accelerations);
            let scale = if terms.noise.is_some() { scale } else { scale.max(length) };
            worst = worst.max(beyond(value - terms.drift[j], noise, scale));
        }
        worst
    }
}

/// The largest |A q̈ − b| of rows of unit length, and the largest term in them.
fn row_sizes(terms: &Terms, accelerations: &[f64]) -> (f64, f64) {
    let n = terms.n;
    let (mut left, mut whole) = (0f64, 0f64);
    for j in 0..terms.m {
        let row = &terms.jacobian[j * n..(j + 1) * n];
        let length = linalg::norm(row);
        if length > 0.0 {
            let value = linalg::dot(row, accelerations) - terms.drift[j];
            left = left.max(value.abs() / length);
            let size: f64 = row.iter().zip(accelerations).map(|(a, x)| (a * x).abs()).sum();
            whole = whole.max((size + terms.drift[j].abs()) / length);
        }
    }
    (left, whole)
}

/// What is left of a residual beyond its noise, relative to a size.
fn beyond(residual: f64, noise: f64, size: f64) -> f64 {
    let left = (residual.abs() - 16.0 * noise).max(0.0);
    if left == 0.0 { 0.0 } else { left / size.max(f64::MIN_POSITIVE) }
}
