//! Turns of switching functions (`abs`, `sign`, `min`, `max`, `if`) inside a step.
//!
//! The branches are frozen while a step is taken, so the terms are smooth beyond a
//! turn, and the turn is a zero of a smooth function of time.

use super::stick::Departure;
use super::{Driver, Failure};
use dalembert_expr::SwitchKind;

impl Driver<'_> {
    /// Goes on from a turn, on the branches that lead away from it; if none does, the
    /// motion sticks on those it came on.
    pub(super) fn leave_turn(&mut self) -> Result<(), Failure> {
        let (before, after) = (self.field.modes().to_vec(), self.modes.clone());
        let turned: Vec<usize> = (0..after.len()).filter(|&at| before[at] != after[at]).collect();
        match self.departure(&turned, &after).map_err(Failure::Field)? {
            Departure::On(modes) => self.modes = modes,
            Departure::Sticks(switches) => {
                self.stuck = switches;
                self.modes = before;
            }
            Departure::Open => {}
        }
        let modes = self.modes.clone();
        self.field.set_modes(&modes);
        Ok(())
    }

    /// The first turn of a switch in the last step: where, and the branches after.
    pub(super) fn find_turn(
        &mut self,
        h: f64,
        between: &mut [f64],
    ) -> Result<Option<(f64, Vec<f64>)>, Failure> {
        let (mut modes, mut guards) = (Vec::new(), Vec::new());
        let own = self.modes.clone();
        // A sign that is 0 is on neither branch: any side will do. A condition that is 0 is
        // false.
        let is_sign: Vec<bool> =
            (0..own.len()).map(|at| self.field.kind_of(at) == SwitchKind::Sign).collect();
        let settled = |at: usize, a: f64| if a == 0.0 && is_sign[at] { own[at] } else { a };
        let differs =
            |modes: &[f64]| modes.iter().enumerate().any(|(at, &a)| settled(at, a) != own[at]);
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
        let after = after.iter().enumerate().map(|(at, &a)| settled(at, a)).collect();
        Ok(Some((high, after)))
    }
}
