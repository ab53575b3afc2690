//! What has no size where a step begins: measured where it ends, and looked for ahead where time is in
//! the forces, so that no step goes over all that moves it.

use super::larger;
use crate::drive::Driver;
use crate::drive::pass::Pass;
use crate::drive::tolerances::scales::{DIGITS, FAR_BELOW, RESTS, SHAKEN, STILL, TINY};
use dalembert_expr::ExprId;
use dalembert_expr::Symbol;

/// Where nothing moves, this many parts of a step are looked at for what would.
const GLANCES: u32 = 64;

impl Driver {
    /// Measures what had no size where a step began by what it has at its end, and tells the largest
    /// error of such components. What only rounding has moved still has none.
    pub(in crate::drive) fn weigh_new(&self, pass: &mut Pass, h: f64) -> f64 {
        let (scales, n) = (&self.scales, self.field.n);
        let Pass { next, between, weights, errors, weighed, .. } = pass;
        let components = &scales.components;
        if weights[..components.len()].iter().all(|weight| *weight > 0.0) {
            return 0.0;
        }
        let sizes: Vec<f64> =
            (0..components.len()).map(|i| scales.size(i, next, between, h)).collect();
        let mut most = [vec![0f64; n.max(1)], vec![0f64; n.max(1)]];
        for (i, (component, size)) in components.iter().zip(&sizes).enumerate() {
            let most = &mut most[usize::from(i >= n)][component.part];
            *most = larger(*most, component.unit.root * size);
        }
        let mut largest = 0f64;
        for (i, (component, &size)) in components.iter().zip(&sizes).enumerate() {
            if weights[i] > 0.0 || component.is_massless {
                continue;
            }
            let noise = match i.checked_sub(n) {
                Some(j) => scales.shaken.get(j).map_or(0.0, |noise| noise * h.abs()),
                None => scales.shaken.get(i).map_or(0.0, |noise| noise * h * h),
            };
            if !(size > SHAKEN * noise) {
                continue;
            }
            let among = component.unit.back(most[usize::from(i >= n)][component.part]);
            let size = larger(larger(size, among), scales.least(i));
            weights[i] = 1.0 / (self.control.tolerance * size + noise + DIGITS * next[i].abs());
            largest = largest.max(errors[i] * weights[i]);
            // The next try begins without.
            *weighed = 0.0;
        }
        largest
    }

    /// Of what does not move, where time is in the forces: looks ahead how large these become on the
    /// spot. What is far below what they make of a component in the time of the run is nothing, so
    /// that a push that begins as exp(−700) need not be followed from there; nor is it followed
    /// while it is what rounding makes of forces that balance, as 1 + tanh(−30). Whether it looked.
    pub(in crate::drive) fn look_for_pushes(&mut self, pass: &Pass) -> bool {
        self.scales.least.clear();
        let (n, moving) = (self.field.n, self.field.n + self.field.size);
        let is_still: Vec<bool> =
            (n..moving).map(|i| self.x[i].abs() < STILL && pass.rates[i].abs() < STILL).collect();
        if !is_still.contains(&true) || !self.is_timed() {
            return false;
        }
        let (x, way) = (self.x.clone(), pass.end - self.t);
        let (mut rates, mut most) = (pass.rates.clone(), vec![0f64; moving]);
        for k in 1..=GLANCES {
            let t = self.t + way * f64::from(k) / f64::from(GLANCES);
            if self.field.lasting_rates(t, &x, &mut rates).is_ok() {
                most.iter_mut().zip(&rates).for_each(|(most, rate)| *most = most.max(rate.abs()));
            }
        }
        let (span, tolerance) = (way.abs(), self.control.tolerance);
        let velocity = |j: usize| {
            let noise = self.scales.shaken.get(j).map_or(0.0, |noise| noise / tolerance);
            if is_still[j] { larger(FAR_BELOW * most[n + j], noise) * span } else { 0.0 }
        };
        let has_positions = self.scales.is_rate;
        let least = (0..moving).map(|i| match i.checked_sub(n) {
            Some(j) => velocity(j),
            None if has_positions && i < is_still.len() => velocity(i) * span,
            None => 0.0,
        });
        self.scales.least = least.map(|least| larger(least, TINY)).collect();
        true
    }

    /// Whether something without a size, or next to none, both where a step begins and at its end, is moved in between,
    /// as far as is seen at some times: a push that is over before the step is.
    pub(in crate::drive) fn goes_over_a_push(&mut self, pass: &mut Pass, h: f64) -> bool {
        let moving = self.x.len() - 1;
        if !self.is_timed() {
            return false;
        }
        let scales = &self.scales;
        let is_at_rest = |i: &usize| {
            let size = scales.size(*i, &pass.next, &pass.between, h);
            !(pass.weights[*i] > 0.0) || size <= RESTS * scales.least(*i)
        };
        let rests: Vec<usize> = (0..moving).filter(is_at_rest).collect();
        if rests.is_empty() {
            return false;
        }
        // Steps of what moves are not as long.
        let times = if rests.len() == moving { GLANCES } else { GLANCES / 8 };
        // The rates at the end are needed again.
        let mut rates = pass.between.clone();
        let is_moved = (1..times).any(|k| {
            let t = self.t + h * f64::from(k) / f64::from(times);
            let is_known = self.field.lasting_rates(t, &pass.next, &mut rates).is_ok();
            let scales = &self.scales;
            is_known && rests.iter().any(|&i| (rates[i] * h).abs() > RESTS * scales.least(i))
        });
        let t = self.t + h;
        is_moved || self.field.lasting_rates(t, &pass.next, &mut pass.between).is_err()
    }

    /// Whether time is in the forces or the constraints.
    pub(in crate::drive) fn is_timed(&mut self) -> bool {
        let field = &self.field;
        *self.scales.is_timed.get_or_insert_with(|| {
            let equations = &field.equations;
            let residuals = equations.configuration_residuals.iter();
            let residuals = residuals.chain(&equations.velocity_residuals).map(|row| row.1);
            let forces = equations.force.iter().chain(&equations.nonideal).copied();
            let all: Vec<ExprId> = forces.chain(residuals).collect();
            field.model().exprs.symbols_of(&all).contains(&Symbol::TIME)
        })
    }
}
