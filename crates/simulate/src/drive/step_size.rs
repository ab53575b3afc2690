//! Step sizes: the first one, and how they grow with the error.

use super::Driver;
use super::pass::Pass;
use super::tolerances::scales::ALIKE;
use crate::integrators::{Needs, Step};

impl Driver {
    /// The PI controller.
    pub(super) fn growth(&mut self, error: f64, rejected_last: bool) -> f64 {
        if let Some(factor) = self.integrator.growth(error) {
            return factor.clamp(0.1, if rejected_last { 1.0 } else { 8.0 });
        }
        let order = f64::from(self.integrator.estimate_order());
        // Errors far below the tolerance may be rounding: what follows must not depend on them.
        let factor = match error {
            e if e < 1e-5 => 3.5,
            e if e < 1e-4 => 0.9 * error.powf(-1.0 / order),
            _ => 0.9 * error.powf(-0.7 / order) * self.last_error.powf(0.4 / order),
        };
        self.last_error = error.max(1e-4);
        factor.clamp(0.2, if rejected_last { 1.0 } else { 6.0 })
    }

    /// Shortens the next step to what the method says that suits it, where it can tell before
    /// the step.
    pub(super) fn foresee(&mut self, pass: &mut Pass) {
        let is_known = self.control.step.is_some() || pass.rejected_last;
        if is_known || self.integrator.needs() != Needs::Series {
            return;
        }
        // What components may be off by goes by how far a step takes them.
        for round in 0..2 {
            let h = self.h;
            self.weigh_step(pass, h);
            let (rates, weights, tolerance) = (&pass.rates, &pass.weights, self.control.tolerance);
            let (constant, looks) = (false, false);
            let step =
                Step { t: self.t, h, x: &self.x, rates, weights, tolerance, constant, looks };
            let suited = match round {
                0 => self.integrator.length(&mut self.field, &step),
                _ => self.integrator.length_again(&step),
            };
            match suited {
                Some(suited) if suited < h.abs() => {
                    self.h = pass.forward * suited;
                }
                _ => return,
            }
        }
    }

    /// What components may be off by in a step h from the driver's state.
    pub(super) fn weigh_step(&mut self, pass: &mut Pass, h: f64) {
        self.weigh(&mut pass.weights, &pass.rates, h);
        pass.weighed = h;
    }

    /// The same, where it was not found for a step of about that length when the method told how
    /// long it may be.
    pub(super) fn weigh_attempt(&mut self, pass: &mut Pass, h: f64) {
        if !(is_alike(h, pass.weighed) && self.integrator.needs() == Needs::Series) {
            self.weigh_step(pass, h);
        }
    }

    /// A first step.
    pub(super) fn first_step(&mut self, rates: &[f64], end: f64) -> f64 {
        let longest = (end - self.t).abs();
        let shortest = (16.0 * smallest_step(self.t, end)).min(longest);
        // A power of two of the whole, so that times of a simple motion are exact.
        let part = self.first_length(rates, end) / longest;
        let length = if part > 0.0 { longest * part.log2().floor().exp2() } else { longest };
        length.clamp(shortest, longest)
    }
}

/// Whether what components may be off by is about the same in steps of these lengths.
fn is_alike(a: f64, b: f64) -> bool {
    a.abs() <= ALIKE * b.abs() && b.abs() <= ALIKE * a.abs()
}

/// Shorter steps are lost in the digits of time.
pub(super) fn smallest_step(t: f64, end: f64) -> f64 {
    16.0 * f64::EPSILON * t.abs().max(end.abs()).max(f64::MIN_POSITIVE)
}
