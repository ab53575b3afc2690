//! What a turn may not do: make positions, velocities or momenta jump.
//!
//! Where a switch turns, φ, ψ, the kinematics, p and E are held against each other on both
//! branches. A jump counts if it is above the rounding errors with which it was evaluated
//! and above what the two branches differ by within the step, 10⁻⁸ of it.
//!
//! ```text
//! φ jumps            no motion leads from one side to the other          the run ends
//! ψ jumps, by time   an impulse, by the principle of Gauss: q̇⁺ is next to q̇⁻ in the mass
//!                    metric among the velocities that satisfy ψ⁺ = 0     the run goes on
//! ψ jumps otherwise  a corner in a track: what happens there is another model, the run ends
//! p or q̇ jumps       masses that jump                                    the run ends
//! E jumps, by time   work from outside, a field that is switched on      the run goes on
//! E jumps otherwise  a step in a potential, an infinite force            the run ends
//! ```

use crate::drive::tolerances::switching::{NOISE, PART};
use crate::drive::{Driver, Failure, RANK};
use crate::program::field::FieldError;

/// What jumps at a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jumps {
    /// The position that a constraint demands.
    Position(usize),
    /// The velocity that a constraint demands.
    Velocity(usize),
    /// A momentum, or a velocity, by its masses; or velocities that a chart has solved for.
    Momentum,
    /// The potential energy.
    Energy,
}

/// An impulse of constraints whose velocities jump in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Jolt {
    /// When.
    pub t: f64,
    /// The constraints that jump.
    pub constraints: Vec<usize>,
    /// The energy it brought.
    pub energy: f64,
}

impl Driver {
    /// Holds both sides of a turn against each other, at the state where it was found, and
    /// carries the state over: from the branches `before` to those the field is on. `start`
    /// is where the step began, `step` by how much time and state change in the whole of it.
    pub(in crate::drive) fn carry_over(
        &mut self,
        before: &[f64],
        start: (f64, &[f64]),
        turn: (f64, &[f64]),
        step: &[f64],
    ) -> Result<(), Failure> {
        let Some(places) = self.field.continuous() else { return Ok(()) };
        let after = self.modes.clone();
        if before == after {
            return Ok(());
        }
        let (t, h) = (turn.0, turn.0 - start.0);
        let beyond: Vec<f64> =
            turn.1.iter().zip(start.1).map(|(x, first)| 2.0 * x - first).collect();
        let points = [turn, start, (t + h, &beyond[..])];
        let windings = self.field.windings().to_vec();
        self.field.set_modes(before);
        let first = self.values_at(&points);
        let here = (self.t, self.x.clone());
        let energy_before = self.field.continuous_values(here.0, &here.1);
        self.field.set_modes(&after);
        let turned = self.field.continuous_values(turn.0, turn.1).map_err(Failure::Field)?;
        // Angles go on where they are continued.
        let first = first.map_err(Failure::Field)?;
        let mut passed = windings;
        for (k, w) in places.angles.clone().zip(&mut passed) {
            *w -= ((turned[k] - first[0][k]) / std::f64::consts::TAU).round();
        }
        self.field.set_windings(&passed);
        let second = self.values_at(&points).map_err(Failure::Field)?;
        self.field.continuous_values(turn.0, turn.1).map_err(Failure::Field)?;
        let sizes: Vec<f64> = std::iter::once(t.abs().max(start.0.abs()))
            .chain(turn.1.iter().zip(start.1).map(|(x, y)| x.abs().max(y.abs())))
            .zip(step)
            .map(|(size, step)| size.max(*step))
            .take(1 + self.field.n + self.field.size)
            .collect();
        let noise = self.field.continuous_noise(&sizes);
        let jump = |k: usize| {
            let apart = |at: usize| (second[at][k] - first[at][k]).abs();
            let most = apart(1).max(apart(2)).max(apart(0));
            let jumps = apart(0) > PART * most && apart(0) > NOISE * noise[k];
            jumps.then(|| second[0][k] - first[0][k])
        };
        let equations = &self.field.equations;
        let rows = |list: &[(usize, _)], range: std::ops::Range<usize>| -> Vec<(usize, f64)> {
            let all = range.zip(list);
            all.filter_map(|(k, row)| Some((row.0, jump(k)?))).collect()
        };
        let positions = rows(&equations.configuration_residuals, places.positions.clone());
        if let Some(&(row, size)) = positions.first() {
            return Err(Failure::Jump { what: Jumps::Position(row), size });
        }
        let changed = (0..after.len()).filter(|&at| before[at] != after[at]);
        let is_timed = changed.into_iter().all(|at| self.field.is_timed(at));
        let velocities = rows(&equations.velocity_residuals, places.velocities.clone());
        if let Some(&(row, size)) = velocities.first().filter(|_| !is_timed) {
            return Err(Failure::Jump { what: Jumps::Velocity(row), size });
        }
        if let Some(size) = places.momenta.clone().find_map(jump) {
            return Err(Failure::Jump { what: Jumps::Momentum, size });
        }
        let energy = jump(places.energy);
        if let Some(size) = energy.filter(|_| !is_timed) {
            return Err(Failure::Jump { what: Jumps::Energy, size });
        }
        if velocities.is_empty() && energy.is_none() {
            return Ok(());
        }
        let energy_before = energy_before.map_err(Failure::Field)?[places.energy];
        let mut x = here.1;
        if !velocities.is_empty() {
            let projected = self.projection.project(&mut self.field, t, &mut x, RANK);
            projected.map_err(Failure::Field)?;
        }
        let energy_after =
            self.field.continuous_values(t, &x).map_err(Failure::Field)?[places.energy];
        let brought = energy_after - energy_before;
        if let Some(work) = x.last_mut() {
            *work += brought;
        }
        self.x = x;
        self.jumped += brought;
        if !velocities.is_empty() {
            let constraints = velocities.iter().map(|v| v.0).collect();
            self.jolts.push(Jolt { t, constraints, energy: brought });
        }
        Ok(())
    }

    /// Goes on with the angles that are continued where the branches of a state were found
    /// anew; `before` are those it was on, none at a start.
    pub(in crate::drive) fn keep_angles(&mut self, before: &[f64]) -> Result<(), FieldError> {
        let Some(places) = self.field.continuous() else { return Ok(()) };
        if before.len() != self.modes.len() || before == self.modes || places.angles.is_empty() {
            return Ok(());
        }
        let (t, x, after) = (self.t, self.x.clone(), self.modes.clone());
        self.field.set_modes(before);
        let first = self.field.continuous_values(t, &x)?;
        self.field.set_modes(&after);
        let second = self.field.continuous_values(t, &x)?;
        let mut windings = self.field.windings().to_vec();
        for (k, w) in places.angles.zip(&mut windings) {
            *w -= ((second[k] - first[k]) / std::f64::consts::TAU).round();
        }
        self.field.set_windings(&windings);
        Ok(())
    }

    fn values_at(&mut self, points: &[(f64, &[f64])]) -> Result<Vec<Vec<f64>>, FieldError> {
        points.iter().map(|(t, x)| self.field.continuous_values(*t, x)).collect()
    }
}
