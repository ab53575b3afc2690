//! When the chart of the velocities has to be changed.

use super::Driver;
use crate::drive::tolerances::charts::{FLIP, ILL_CONDITIONED, TOO_STEEP};
use dalembert_gauss::linalg;

impl Driver {
    /// Whether the chart of a formulation should be changed: S amplifies too much.
    pub(crate) fn chart_is_ill_conditioned(&mut self) -> bool {
        self.field.equations.chart.is_some() && {
            let x = self.x.clone();
            linalg::largest(self.field.chart_entries(self.t, &x)) > ILL_CONDITIONED
        }
    }

    /// Whether a step passes by the change of chart that was due on its way: it ends
    /// where S is too steep, or beyond a pole of S.
    pub(super) fn step_leaves_chart(&mut self, t: f64, next: &[f64]) -> bool {
        if self.field.equations.chart.is_none() {
            return false;
        }
        let x = self.x.clone();
        let before = self.field.chart_entries(self.t, &x).to_vec();
        let after = self.field.chart_entries(t, next);
        let steepest = linalg::largest(after);
        // A chart that was asked for may be steep from the start.
        let is_steep = steepest > TOO_STEEP && steepest > 2.0 * linalg::largest(&before);
        let beyond = |(a, b): (&f64, &f64)| a * b < 0.0 && a.abs().min(b.abs()) > FLIP;
        is_steep || before.iter().zip(after).any(beyond)
    }
}
