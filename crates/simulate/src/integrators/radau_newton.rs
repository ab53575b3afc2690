//! The Newton iterations of a step of [`Radau`], and when they have come to an end.
//!
//! Changes Δ that shrink by θ leave θ/(1 − θ) Δ; far below the tolerance that is an end. So is
//! what rounding leaves, which is measured: how far the stages move if their last digits do.
//! Small changes that do not get smaller are none, and unknowns w behind the velocities,
//! 0 = r(w; q, v, t), are only solved for where they belong to a state that is near.

use super::radau::{C, Jacobian, MOST, Radau};
use super::{ResidualForm, Step};
use crate::program::field::FieldError;
use dalembert_expr::Random;
use dalembert_gauss::linalg::lu;

/// Rounding that leaves as much of the tolerance is left alone: a shorter step leaves no less.
const HARMLESS: f64 = 1.0;
/// The unknowns w may belong to a state that is off by this part of the tolerance.
const NEAR: f64 = 0.1;
/// Changes up to so many times what rounding was seen to do may be rounding.
const OFTEN: f64 = 10.0;

/// The largest of some numbers; not finite if one of them is not.
#[derive(Default)]
pub(super) struct Largest(pub(super) f64);

impl Largest {
    pub(super) fn see(&mut self, value: f64) {
        self.0 = if value.is_nan() { f64::INFINITY } else { self.0.max(value.abs()) };
    }
}

/// A unit of the last digit, of either sign.
fn last_digit(random: &mut Random) -> f64 {
    if random.bits() >> 30 == 0 { f64::EPSILON } else { -f64::EPSILON }
}

/// How a Newton iteration ended.
pub(super) enum Newton {
    Solved,
    /// With an old Jacobian: a new one may help.
    Stuck,
}

impl Radau {
    pub(super) fn newton(
        &mut self,
        form: &mut dyn ResidualForm,
        step: &Step,
        power: &mut [f64; 3],
    ) -> Result<Newton, FieldError> {
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let Some(factors) = &self.factors else { return Ok(Newton::Stuck) };
        let (limit, rounding) = Radau::limits(step);
        let mut shaken = None;
        // Nothing else helps where the step must not change.
        let most = if step.constant { 5 * MOST } else { MOST };
        let mut before = f64::INFINITY;
        let mut eta = 1.0;
        let mut residuals = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for round in 0..most {
            self.residuals(form, step, &mut residuals, power);
            if residuals.iter().flatten().any(|r| !r.is_finite()) {
                return Ok(Newton::Stuck);
            }
            let changes = factors.changes(&residuals);
            let mut size = Largest::default();
            for (z, changes) in self.z.iter_mut().zip(&changes) {
                z.iter_mut().zip(changes).for_each(|(z, change)| *z += change);
                changes.iter().zip(&step.weights[..inside]).for_each(|(c, w)| size.see(c * w));
            }
            let size = size.0;
            if !size.is_finite() {
                return Ok(Newton::Stuck);
            }
            if round > 0 {
                let theta = size / before.max(f64::MIN_POSITIVE);
                self.contraction =
                    if round == 1 { theta } else { (theta * self.contraction).sqrt() };
                let left = (most - 1 - round) as i32;
                // As small as rounding allows is as good as solved. Changes that are small and
                // do not get smaller may also be those of a Jacobian that is too steep by far.
                if theta > 0.5 {
                    let solve = |r: &[Vec<f64>; 3]| factors.changes(r);
                    let is_rounding =
                        size <= rounding || size <= self.rounding(form, step, solve, &mut shaken);
                    if is_rounding {
                        let holds = self.is_behind(form, step, &mut residuals, power);
                        return Ok(if holds { Newton::Solved } else { Newton::Stuck });
                    }
                }
                if theta >= 0.99 {
                    return Ok(Newton::Stuck);
                }
                eta = theta / (1.0 - theta);
                if eta * size * theta.powi(left) > limit && round > 2 {
                    return Ok(Newton::Stuck);
                }
            }
            self.iterations = round + 1;
            let is_close = size == 0.0 || (round > 0 && eta * size <= limit);
            if is_close && self.is_behind(form, step, &mut residuals, power) {
                return Ok(Newton::Solved);
            }
            before = size;
        }
        Ok(Newton::Stuck)
    }

    /// The smallest change that ends an iteration, and what rounding leaves, in units of the
    /// tolerance.
    fn limits(step: &Step) -> (f64, f64) {
        let inside = step.x.len() - 1;
        // Solved far better than the step's error, but not beyond rounding.
        let tolerance = step.tolerance;
        let sizes = step.x[..inside].iter().zip(step.weights).map(|(x, w)| (x * w).abs());
        let rounding = 10.0 * f64::EPSILON * sizes.fold(1.0 / tolerance, f64::max);
        let limit = match step.constant {
            true => 0.02 * rounding,
            false => rounding.max(0.03f64.min(tolerance.sqrt())),
        };
        (limit, rounding)
    }

    /// What rounding of the stages and of their slopes does to the stages, in units of the
    /// tolerance, where `solve` brings residuals to changes; no more than is left alone. Slopes
    /// are differences of positions by the step, so that it may be more than the rounding of
    /// the positions. It is seen by stages that differ in their last digits.
    fn rounding(
        &self,
        form: &mut dyn ResidualForm,
        step: &Step,
        mut solve: impl FnMut(&[Vec<f64>; 3]) -> [Vec<f64>; 3],
        seen: &mut Option<f64>,
    ) -> f64 {
        if step.constant {
            return 0.0;
        }
        if let Some(seen) = seen {
            return *seen;
        }
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let mut random = Random::new(1);
        let mut most = Largest::default();
        let mut plain = vec![0.0; n];
        for _ in 0..2 {
            let mut differences = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
            for (i, difference) in differences.iter_mut().enumerate() {
                let t = step.t + C[i] * step.h;
                let mut stage: Vec<f64> =
                    self.y.iter().zip(&self.z[i]).map(|(y, z)| y + z).collect();
                let mut rates = self.rates(i, inside, step.h);
                form.residual(t, &stage, &rates, &mut plain);
                stage.iter_mut().for_each(|y| *y += last_digit(&mut random) * *y);
                let row = &self.inverse[i];
                for (at, rate) in rates.iter_mut().enumerate() {
                    let parts = (0..3).map(|j| (row[j] * self.z[j][at]).abs()).sum::<f64>();
                    *rate += last_digit(&mut random) * parts / step.h;
                }
                form.residual(t, &stage, &rates, difference);
                difference.iter_mut().zip(&plain).for_each(|(d, p)| *d -= p);
            }
            for changes in solve(&differences) {
                changes.iter().zip(&step.weights[..inside]).for_each(|(c, w)| most.see(c * w));
            }
        }
        let found = if most.0.is_finite() { HARMLESS.min(OFTEN * most.0) } else { 0.0 };
        *seen = Some(found);
        found
    }

    /// Whether the unknowns w are those behind v at the stages, and the powers there. Where w
    /// hardly depends on v (near the speed of light on momenta), a w that belongs to another
    /// v moves by next to nothing in each iteration. What counts is how far off the state is
    /// that w belongs to: r = 0 holds for one that differs by r/(∂r/∂y).
    fn is_behind(
        &self,
        form: &mut dyn ResidualForm,
        step: &Step,
        residuals: &mut [Vec<f64>; 3],
        power: &mut [f64; 3],
    ) -> bool {
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let first = inside + self.rows.0.len() + self.rows.1.len();
        // A large problem has none.
        if first == n {
            return true;
        }
        let Some(Jacobian { by, .. }) = &self.jacobian else { return true };
        self.residuals(form, step, residuals, power);
        let mut shaken = vec![0.0; n];
        for i in 0..3 {
            // In units of the tolerance, of the component that has the least of it.
            let off = |r: f64, row: usize| -> f64 {
                let slopes = by[row * n..row * n + inside].iter().zip(step.weights);
                let parts = slopes.filter(|(s, w)| **s != 0.0 && **w > 0.0);
                let off = parts.map(|(s, w)| (r / s).abs() * w).fold(f64::INFINITY, f64::min);
                if off.is_finite() { off } else { 0.0 }
            };
            if (first..n).all(|row| off(residuals[i][row], row) <= NEAR) {
                continue;
            }
            // It may be that w has not more digits; beyond its last one there may be nothing.
            let rates = self.rates(i, inside, step.h);
            for digits in [OFTEN, -OFTEN] {
                let pairs = self.y.iter().zip(&self.z[i]).map(|(y, z)| y + z);
                let mut stage: Vec<f64> = pairs.collect();
                stage[first..].iter_mut().for_each(|w| *w += digits * f64::EPSILON * *w);
                form.residual(step.t + C[i] * step.h, &stage, &rates, &mut shaken);
                if shaken[first..].iter().all(|r| r.is_finite()) {
                    break;
                }
            }
            for (row, shaken) in shaken.iter().enumerate().skip(first) {
                let own = residuals[i][row];
                // Where rounding leaves what is not defined, nothing can be asked.
                let noise = (shaken - own).abs();
                if off(own, row) > NEAR && noise.is_finite() && own.abs() > noise {
                    return false;
                }
            }
        }
        true
    }

    /// R at the three stages, and the powers there.
    fn residuals(
        &self,
        form: &mut dyn ResidualForm,
        step: &Step,
        residuals: &mut [Vec<f64>; 3],
        power: &mut [f64; 3],
    ) {
        let inside = step.x.len() - 1;
        for i in 0..3 {
            let stage: Vec<f64> = self.y.iter().zip(&self.z[i]).map(|(y, z)| y + z).collect();
            let rates = self.rates(i, inside, step.h);
            power[i] = form.residual(step.t + C[i] * step.h, &stage, &rates, &mut residuals[i]);
        }
    }

    /// Newton's method for all stages at once, each with its own Jacobian.
    pub(super) fn whole_newton(
        &mut self,
        form: &mut dyn ResidualForm,
        step: &Step,
        power: &mut [f64; 3],
    ) -> Newton {
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let size = 3 * n;
        let (limit, rounding) = Radau::limits(step);
        let mut residuals = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        let (mut by_rate, mut by) = (vec![0.0; n * n], vec![0.0; n * n]);
        let (mut matrix, mut order) = (vec![0.0; size * size], vec![0; size]);
        let (mut scale, mut work) = (vec![0.0; size], vec![0.0; size]);
        let mut before = f64::INFINITY;
        for round in 0..MOST {
            self.residuals(form, step, &mut residuals, power);
            for i in 0..3 {
                let stage: Vec<f64> = self.y.iter().zip(&self.z[i]).map(|(y, z)| y + z).collect();
                let rates = self.rates(i, inside, step.h);
                let t = step.t + C[i] * step.h;
                form.derivatives(t, &stage, &rates, &mut by_rate, &mut by);
                for row in 0..n {
                    let line = &mut matrix[(i * n + row) * size..(i * n + row + 1) * size];
                    for j in 0..3 {
                        let factor = self.inverse[i][j] / step.h;
                        for column in 0..n {
                            let own = if i == j { by[row * n + column] } else { 0.0 };
                            line[j * n + column] = factor * by_rate[row * n + column] + own;
                        }
                    }
                    let largest = line.iter().fold(0f64, |m, v| m.max(v.abs()));
                    if !(largest > 0.0) || !largest.is_finite() {
                        return Newton::Stuck;
                    }
                    let factor = dalembert_gauss::linalg::power_of_two(-largest.log2());
                    line.iter_mut().for_each(|v| *v *= factor);
                    scale[i * n + row] = factor;
                }
            }
            if !lu::factor(&mut matrix, size, &mut order) {
                return Newton::Stuck;
            }
            let mut solve = |r: &[Vec<f64>; 3]| -> [Vec<f64>; 3] {
                let parts = r.iter().flatten().zip(&scale);
                let mut right: Vec<f64> = parts.map(|(r, scale)| -scale * r).collect();
                lu::solve(&matrix, size, &order, &mut right, &mut work);
                [0, 1, 2].map(|i| right[i * n..(i + 1) * n].to_vec())
            };
            let changes = solve(&residuals);
            let mut change = Largest::default();
            for (z, changes) in self.z.iter_mut().zip(&changes) {
                z.iter_mut().zip(changes).for_each(|(z, change)| *z += change);
                changes.iter().zip(&step.weights[..inside]).for_each(|(c, w)| change.see(c * w));
            }
            let change = change.0;
            if !change.is_finite() {
                return Newton::Stuck;
            }
            self.iterations = round + 1;
            // It converges quadratically, once it converges: what is left is far less than the
            // last change.
            let is_close = change == 0.0 || (change <= limit && change <= 0.5 * before);
            let is_rounding = || {
                change > 0.1 * before
                    && (change <= rounding || change <= self.rounding(form, step, solve, &mut None))
            };
            if ((round > 0 && is_close) || is_rounding())
                && self.is_behind(form, step, &mut residuals, power)
            {
                return Newton::Solved;
            }
            if round > 3 && change > before {
                return Newton::Stuck;
            }
            before = change;
        }
        Newton::Stuck
    }
}
