//! How fast a motion is beside its own size: the first step, the scale of time, the largest rates.

use super::larger;
use crate::drive::Driver;
use crate::drive::tolerances::scales::LEAST;
use crate::integrators::Needs;
use crate::integrators::Problem;
use dalembert_gauss::linalg::largest;

impl Driver {
    /// The first step: where accelerations change by a tenth or so, shortened by what the
    /// tolerance asks of the order.
    pub(in crate::drive) fn first_length(&mut self, rates: &[f64], end: f64) -> f64 {
        let n = self.field.n;
        let moving = n + self.field.size;
        let longest = (end - self.t).abs();
        let forward = if end >= self.t { 1.0 } else { -1.0 };
        let x = self.x.clone();
        let mut metric = std::mem::take(&mut self.scales.began);
        if metric.is_empty() {
            metric = self.metric_diagonal(&x).unwrap_or_default();
        }
        let weight = |j: usize| metric.get(j).copied().filter(|g| *g > 0.0).unwrap_or(0.0);
        let norm = |v: &[f64]| -> f64 {
            let by = |unit: f64| -> f64 {
                let squares =
                    v.iter().enumerate().map(|(j, a)| weight(j) * (a / unit) * (a / unit));
                unit * squares.sum::<f64>().sqrt()
            };
            let norm = by(1.0);
            // The squares may be too small for numbers.
            if norm.is_normal() { norm } else { by(larger(largest(v), f64::MIN_POSITIVE)) }
        };
        let (speed, force) = (norm(&x[n..moving]), norm(&rates[n..moving]));
        let mut length = 0.01 * longest;
        // What is so slow that it changes at once is at rest.
        let turns = 0.1 * speed / force;
        if turns > LEAST * longest {
            length = length.min(turns);
        }
        let mut there = vec![0.0; x.len()];
        // Shorter ones tell nothing where all begins at 0; rejections find them if need be.
        while length > LEAST * longest {
            let h = forward * length;
            let mut ahead: Vec<f64> = x.iter().zip(rates).map(|(x, d)| x + h * d).collect();
            let coordinates = self.field.equations.n_coordinates();
            if self.field.size == coordinates {
                for i in 0..coordinates {
                    ahead[i] += 0.5 * h * h * rates[n + i] * self.own_is_rate(i);
                }
            }
            let is_ok = self.field.rates(self.t + h, &ahead, &mut there).is_ok();
            let change: Vec<f64> =
                there[n..moving].iter().zip(&rates[n..moving]).map(|(a, b)| a - b).collect();
            let (change, whole) = (norm(&change), force.max(norm(&there[n..moving])));
            // What hardly changes the velocities is no time of the motion.
            let is_slow = speed > 0.0 && length * whole <= 0.1 * speed;
            if is_ok && (change <= 0.3 * whole || whole == 0.0 || is_slow) {
                break;
            }
            length *= 0.1;
        }
        // Nothing happens.
        if force == 0.0 && norm(&there[n..moving]) == 0.0 {
            return 0.125 * longest;
        }
        let order = f64::from(self.integrator.order());
        let part = (self.control.tolerance.min(1.0)).powf(1.0 / (order + 1.0));
        length * (2.0 * part).min(1.0)
    }

    /// What the energy could do to a component in a step; 0 for the position of a momentum,
    /// which is no rate.
    pub(super) fn reach(&self, i: usize, h: f64) -> f64 {
        let is_known = i >= self.field.n || self.own_is_rate(i) > 0.0;
        if is_known { self.scales.reach(i, h) } else { 0.0 }
    }

    /// 1 where an own velocity is the rate of its position.
    pub(super) fn own_is_rate(&self, i: usize) -> f64 {
        if self.field.is_rate(i) { 1.0 } else { 0.0 }
    }

    /// ‖q̇‖ over ‖q‖ where masses are equal.
    pub(in crate::drive) fn speed(&mut self, t: f64, x: &[f64], rates: &[f64]) -> f64 {
        let n = self.field.equations.n_coordinates();
        let is_known = self.field.residuals(t, x).is_ok();
        let (mut moved, mut length) = (0.0, 0.0);
        for i in 0..n {
            let mass = self.field.mass_of(i).filter(|_| is_known);
            let weight = mass.map_or(1.0, f64::abs);
            let far = x[i].abs().max(self.scales.own.get(i).copied().unwrap_or(0.0));
            moved += weight * rates[i] * rates[i];
            length += weight * far * far;
        }
        let (moved, length) = (moved.sqrt(), length.sqrt());
        // Coordinates that are all 0 have no length to go by, but the run has.
        if moved == 0.0 {
            0.0
        } else if length == 0.0 {
            10.0 / self.control.span
        } else {
            moved / length
        }
    }

    /// Whether steps go by residuals: what only the rates hold, such as work, does not limit them.
    pub fn goes_by_residuals(&self) -> bool {
        self.integrator.needs() == Needs::Residual
    }

    /// How often a state has changed by its own size, given the lengths of its components'
    /// paths; those that rounding moves do not count.
    pub fn times(&self, paths: &[f64]) -> f64 {
        let scales = &self.scales;
        let parts = paths.iter().zip(scales.own.iter().zip(&scales.floor));
        let counted = parts.filter(|(_, (own, floor))| self.control.tolerance * **own > **floor);
        let most = counted.fold(0f64, |m, (path, (own, _))| m.max(path / own));
        most / (2.0 * std::f64::consts::PI)
    }

    /// How fast the state changes by its own size, at most: 1 / a time.
    pub(in crate::drive) fn fastest(&self, x: &[f64], rates: &[f64]) -> f64 {
        let sizes = (0..x.len() - 1).map(|i| {
            let own = self.scales.own.get(i).copied().unwrap_or(0.0);
            (rates[i].abs(), x[i].abs().max(own))
        });
        let rates = sizes.filter(|s| s.1 > 0.0).map(|(rate, size)| rate / size);
        let own: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
        largest(&own).max(1.0 / self.control.span)
    }
}
