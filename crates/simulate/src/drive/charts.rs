//! When the chart of the velocities has to be changed.

use super::Driver;
use dalembert_gauss::linalg;

/// Entries of S above this: the chart is ill-conditioned.
const ILL_CONDITIONED: f64 = 10.0;
/// No step may end where they are above this: S amplifies the errors of the velocities
/// it is applied to, which the error estimate does not see.
const TOO_STEEP: f64 = 4.0 * ILL_CONDITIONED;
/// Entries of S that change their sign in a step while they are above this did so at a
/// pole.
const FLIP: f64 = 0.5;

impl Driver {
    /// Whether the chart of a formulation should be changed: S amplifies too much.
    pub(crate) fn chart_is_ill_conditioned(&mut self) -> bool {
        self.field.equations.chart.is_some() && {
            let x = self.x.clone();
            linalg::largest(self.field.slopes(self.t, &x)) > ILL_CONDITIONED
        }
    }

    /// Whether a step passes by the change of chart that was due on its way: it ends
    /// where S is too steep, or beyond a pole of S.
    pub(super) fn step_leaves_chart(&mut self, t: f64, next: &[f64]) -> bool {
        if self.field.equations.chart.is_none() {
            return false;
        }
        let x = self.x.clone();
        let before = self.field.slopes(self.t, &x).to_vec();
        let after = self.field.slopes(t, next);
        let steepest = linalg::largest(after);
        // A chart that was asked for may be steep from the start.
        let is_steep = steepest > TOO_STEEP && steepest > 2.0 * linalg::largest(&before);
        let beyond = |(a, b): (&f64, &f64)| a * b < 0.0 && a.abs().min(b.abs()) > FLIP;
        is_steep || before.iter().zip(after).any(beyond)
    }
}
