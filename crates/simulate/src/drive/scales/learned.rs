//! Components whose errors do not fall with the step: told from those of the method by a step and a
//! much shorter one from the same state.

use crate::drive::Driver;
use crate::drive::pass::Pass;
use crate::drive::tolerances::scales::{FALLS, HARDLY, LOW, SHARE, SHORTER, SMALL};
use crate::integrators::Step;

/// After this many steps it is looked at again.
const VOUCHED: u32 = 16;

impl Driver {
    /// Whether a step was turned down for what is no error of the method: components whose
    /// errors do not get smaller with the step.
    pub(in crate::drive) fn learns(&mut self, h: f64, pass: &Pass) -> bool {
        if pass.errors.iter().any(|e| !e.is_finite()) {
            self.scales.rejected = None;
            return false;
        }
        let (t, longer, mut before) = match self.scales.rejected.take() {
            Some(last) if last.0 == self.t && h.abs() < last.1.abs() => last,
            last => {
                let mut errors = last.map_or_else(Vec::new, |last| last.2);
                errors.clone_from(&pass.errors);
                self.scales.rejected = Some((self.t, h, errors));
                return false;
            }
        };
        if (h / longer).abs() > SHORTER {
            self.scales.rejected = Some((t, longer, before));
            return false;
        }
        let learned = self.compare(pass, (longer, &before), (h, &pass.errors));
        before.clone_from(&pass.errors);
        self.scales.rejected = Some((self.t, h, before));
        learned
    }

    /// Learns from the errors of a step and a much shorter one from the same state.
    fn compare(&mut self, pass: &Pass, long: (f64, &[f64]), short: (f64, &[f64])) -> bool {
        let x = self.x.clone();
        // Beside a corner errors of the method fall no faster until steps are as short as its distance.
        let field = &mut self.field;
        if self.events.as_mut().is_some_and(|events| events.is_at_corner(field, self.t, &x)) {
            return false;
        }
        if let Some(metric) = self.metric_diagonal(&x) {
            self.scales.measure(metric, &x, &pass.rates, short.0);
        }
        let ratio = (short.0 / long.0).abs();
        let mut learned = false;
        for i in 0..x.len() - 1 {
            let (before, error) = (long.1[i], short.1[i]);
            if !(before * pass.weights[i] > LOW) || error < FALLS * ratio * ratio * before {
                continue;
            }
            let reach = self.reach(i, long.0);
            // Projections leave rounding errors of positions as large as positions are.
            let [far, _] = self.scales.joined(&x);
            let across = if i < self.field.n { self.scales.joint(i).back(far) } else { 0.0 };
            let most = SMALL * reach.max(self.scales.own[i]).max(across);
            let floor = (4.0 * error.max(before)).max(SHARE * self.control.tolerance * reach);
            if floor <= most && floor > self.scales.floor[i] {
                self.scales.floor[i] = floor;
                learned = true;
            }
        }
        learned
    }

    /// Where a component that hardly moves limits the steps, looks with a shorter one whether
    /// its errors are those of the method.
    pub(in crate::drive) fn suspect(&mut self, h: f64, pass: &mut Pass) {
        let Some(i) = self.scales.suspected.take() else { return };
        if self.scales.vouched > 0 {
            self.scales.vouched -= 1;
            return;
        }
        if self.scales.metric.is_empty() {
            let x = self.x.clone();
            if let Some(metric) = self.metric_diagonal(&x) {
                self.scales.measure(metric, &x, &pass.rates, h);
            }
        }
        if self.scales.own[i] > HARDLY * self.reach(i, h) {
            return;
        }
        self.scales.vouched = VOUCHED;
        let (tolerance, constant) = (self.control.tolerance, false);
        let mut tried = Vec::new();
        for h in [h, 0.25 * h] {
            let (rates, weights) = (&pass.rates, &pass.weights);
            let looks = true;
            let step =
                Step { t: self.t, h, x: &self.x, rates, weights, tolerance, constant, looks };
            if self.integrator.step(&mut self.field, step, &mut pass.next).is_err() {
                return;
            }
            let Some(errors) = self.integrator.errors() else { return };
            tried.push(errors.to_vec());
        }
        if self.compare(pass, (h, &tried[0]), (0.25 * h, &tried[1])) {
            self.scales.vouched = 0;
            self.weigh(&mut pass.weights, &pass.rates, h);
        }
    }

    /// Remembers which component limits the steps.
    pub(in crate::drive) fn limited_by(&mut self, pass: &Pass) {
        let errors = pass.errors.iter().zip(&pass.weights).map(|(e, w)| e * w);
        let mut most = LOW;
        self.scales.suspected = None;
        for (i, error) in errors.enumerate().take(self.x.len() - 1) {
            if error > LOW && error >= most {
                (self.scales.suspected, most) = (Some(i), error);
            }
        }
    }
}
