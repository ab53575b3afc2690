//! Turns of switching functions (`abs`, `sign`, `min`, `max`, `if`) inside a step.
//!
//! The branches are frozen while a step is taken, so the terms are smooth beyond a
//! turn, and the turn is a zero of a smooth function of time.

use super::{Driver, Failure};

impl Driver<'_> {
    /// The first turn of a switch in the last step: where, and the branches after.
    pub(super) fn find_turn(
        &mut self,
        h: f64,
        between: &mut [f64],
    ) -> Result<Option<(f64, Vec<f64>)>, Failure> {
        let (mut modes, mut guards) = (Vec::new(), Vec::new());
        let own = self.modes.clone();
        // A sign that is 0 is on neither branch: any side will do.
        let differs = |modes: &[f64]| modes.iter().zip(&own).any(|(a, b)| a != b && *a != 0.0);
        let mut low = 0.0;
        let mut high = None;
        for part in 1..=8 {
            let theta = f64::from(part) / 8.0;
            self.integrator.interpolate(theta, between);
            self.field
                .branches(self.t + theta * h, between, &mut modes, &mut guards)
                .map_err(Failure::Field)?;
            if differs(&modes) {
                high = Some((theta, modes.clone()));
                break;
            }
            low = theta;
        }
        let Some((mut high, mut after)) = high else { return Ok(None) };
        for _ in 0..60 {
            let theta = 0.5 * (low + high);
            if theta <= low || theta >= high {
                break;
            }
            self.integrator.interpolate(theta, between);
            self.field
                .branches(self.t + theta * h, between, &mut modes, &mut guards)
                .map_err(Failure::Field)?;
            if differs(&modes) {
                high = theta;
                after.clone_from(&modes);
            } else {
                low = theta;
            }
        }
        // Zeros keep the branch they came from.
        let after = after.iter().zip(&own).map(|(&a, &b)| if a == 0.0 { b } else { a }).collect();
        Ok(Some((high, after)))
    }
}
