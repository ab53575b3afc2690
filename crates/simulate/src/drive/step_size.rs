//! Step sizes: the first one, and how they grow with the error.

use super::{Driver, Failure};
use crate::integrators::Motion;

impl Driver<'_> {
    /// 1 / what each component may be off by.
    pub(super) fn weigh(&self, weights: &mut [f64]) {
        for (weight, x) in weights.iter_mut().zip(&self.x) {
            *weight = 1.0 / (self.control.tolerance * x.abs().max(1.0));
        }
    }

    /// The PI controller.
    pub(super) fn growth(&mut self, error: f64, rejected_last: bool) -> f64 {
        if let Some(factor) = self.integrator.growth(error) {
            return factor.clamp(0.1, if rejected_last { 1.0 } else { 8.0 });
        }
        let order = f64::from(self.integrator.estimate_order());
        let error = error.max(1e-10);
        let factor = 0.9 * error.powf(-0.7 / order) * self.last_error.powf(0.4 / order);
        self.last_error = error.max(1e-4);
        factor.clamp(0.2, if rejected_last { 1.0 } else { 6.0 })
    }

    /// A first step: Hairer, Nørsett & Wanner I, II.4.
    pub(super) fn first_step(&mut self, k1: &[f64], end: f64) -> Result<f64, Failure> {
        let size = self.x.len();
        let longest = (end - self.t).abs();
        let shortest = (16.0 * smallest_step(self.t, end)).min(longest);
        let mut weights = vec![0.0; size];
        self.weigh(&mut weights);
        let norm = |v: &[f64]| -> f64 {
            let sum: f64 = v.iter().zip(&weights).map(|(a, w)| (a * w).powi(2)).sum();
            (sum / size as f64).sqrt()
        };
        let (d0, d1) = (norm(&self.x), norm(k1));
        // What is below the tolerance everywhere has no size to go by.
        let guess = if d0 < 1.0 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
        let guess = guess.clamp(shortest, longest);
        let ahead: Vec<f64> = self.x.iter().zip(k1).map(|(x, k)| x + guess * k).collect();
        let mut k2 = vec![0.0; size];
        let d2 = match self.field.rates(self.t + guess, &ahead, &mut k2) {
            Ok(()) => {
                let change: Vec<f64> = k2.iter().zip(k1).map(|(a, b)| a - b).collect();
                norm(&change) / guess
            }
            Err(_) => 0.0,
        };
        let order = f64::from(self.integrator.order());
        let second = if d1.max(d2) <= 1e-15 {
            (1e-3 * guess).max(1e-6)
        } else {
            (0.01 / d1.max(d2)).powf(1.0 / (order + 1.0))
        };
        Ok((100.0 * guess).min(second).clamp(shortest, longest))
    }
}

/// Shorter steps are lost in the digits of time.
pub(super) fn smallest_step(t: f64, end: f64) -> f64 {
    16.0 * f64::EPSILON * t.abs().max(end.abs()).max(f64::MIN_POSITIVE)
}
