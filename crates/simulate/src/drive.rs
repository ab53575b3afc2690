//! The driver: step sizes, projection, switches and output, for any integrator.
//!
//! Steps are accepted if the error estimate and the projection's correction are
//! below the tolerance, local error relative to max(1, |x|). Step sizes follow a PI
//! controller (Hairer & Wanner II, IV.2). After an accepted step the state is
//! projected onto the constraints; states between steps come from the dense output
//! and are projected too.

use crate::field::{Feedback, Field, FieldError};
use crate::integrators::{Integrator, Motion, Step};
use crate::linalg;
use crate::outcome;
use crate::projection::{Drift, Projection};
use std::ops::ControlFlow;

/// How drift off the constraints is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stabilize {
    /// Projection after each step.
    #[default]
    Projection,
    /// Baumgarte's terms in b.
    Baumgarte,
    /// Feedback of the constraints into the rates.
    Ggl,
    /// Not at all.
    None,
}

impl Stabilize {
    /// The names.
    pub const NAMES: &'static [&'static str] = &["projection", "baumgarte", "ggl", "none"];

    /// By name.
    pub fn by_name(name: &str) -> Option<Stabilize> {
        Some(match name {
            "projection" => Stabilize::Projection,
            "baumgarte" => Stabilize::Baumgarte,
            "ggl" => Stabilize::Ggl,
            "none" => Stabilize::None,
            _ => return None,
        })
    }
}

/// What the driver is asked for.
#[derive(Clone, Debug)]
pub struct Control {
    /// Local error relative to max(1, |x|).
    pub tolerance: f64,
    /// A constant step instead.
    pub step: Option<f64>,
    /// How drift is held.
    pub stabilize: Stabilize,
    /// Most steps.
    pub most_steps: u64,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Turns of switching functions.
    pub switches: u64,
}

/// Why a run ended before its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There are no rates.
    Field(FieldError),
    /// The rank of the constraints changed.
    RankLost {
        /// The rank so far.
        expected: usize,
        /// The rank here.
        found: usize,
        /// Constraints that became dependent (or independent).
        constraints: Vec<usize>,
    },
    /// Steps became too small for the digits of time.
    StepTooSmall {
        /// The size.
        step: f64,
    },
    /// Switching functions turn again and again.
    SwitchesPileUp,
    /// More steps than allowed.
    TooManySteps,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// At its time.
    Finished,
    /// When it was asked to.
    Interrupted,
    /// The chart of the velocities is worn out; another serves from here on.
    ChartWorn,
    /// It could not go on.
    Failed(Failure),
}

/// A state to be recorded.
pub struct Sample<'a> {
    /// Time.
    pub t: f64,
    /// (q, v, W).
    pub x: &'a [f64],
    /// Whether it is one of the times asked for.
    pub is_output: bool,
    /// Whether it is the end of a step.
    pub is_step: bool,
}

/// A field on its way.
pub struct Driver<'m> {
    /// The rates.
    pub field: Field<'m>,
    /// Time.
    pub t: f64,
    /// (q, v, W).
    pub x: Vec<f64>,
    /// Counts.
    pub statistics: Statistics,
    /// What was left of the constraints at worst.
    pub drift: Drift,
    /// Smallest and largest rank seen.
    pub ranks: (usize, usize),
    integrator: Box<dyn Integrator>,
    projection: Projection,
    control: Control,
    /// Step size for the next step.
    pub h: f64,
    last_error: f64,
    modes: Vec<f64>,
    /// Rate of feedback.
    rate: Option<f64>,
    /// Rank and verdict at the first state.
    expected: Option<(usize, outcome::Motion)>,
}

/// Rows are dependent below this, at projected states.
const RANK: f64 = 1e-9;
/// A projection that leaves more than this has not found the constraints.
const HELD: f64 = 1e-10;
/// What is left where there was no projection at all.
const UNHELD: Drift = Drift { position: f64::INFINITY, velocity: f64::INFINITY };
/// So many steps below a billionth of the run are a standstill.
const STANDSTILL: u32 = 3000;
/// Residuals below this, relative to the terms in their row, are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Entries of S above this wear a chart out.
const WORN: f64 = 10.0;
/// No step may end where they are above this: S amplifies the errors of the velocities
/// it is applied to, which the error estimate does not see.
const TORN: f64 = 4.0 * WORN;
/// Entries of S that change their sign in a step while they are above this did so at a
/// pole.
const FLIP: f64 = 0.5;

impl<'m> Driver<'m> {
    /// A driver from a state.
    pub fn new(
        field: Field<'m>,
        integrator: Box<dyn Integrator>,
        control: Control,
        t: f64,
        x: Vec<f64>,
    ) -> Driver<'m> {
        Driver {
            field,
            t,
            x,
            statistics: Statistics::default(),
            drift: Drift::default(),
            ranks: (usize::MAX, 0),
            integrator,
            projection: Projection::default(),
            control,
            h: 0.0,
            last_error: 1e-4,
            modes: Vec::new(),
            rate: None,
            expected: None,
        }
    }

    /// Puts the field on the branches of its state.
    pub fn settle_branches(&mut self) -> Result<(), FieldError> {
        let mut guards = Vec::new();
        let (t, x) = (self.t, self.x.clone());
        self.field.branches(t, &x, &mut self.modes, &mut guards)?;
        self.field.set_modes(&self.modes.clone());
        Ok(())
    }

    /// Moves to `end`, calling `record` at each time of `outputs` (in order, on the
    /// way) and at each step.
    pub fn run(
        &mut self,
        end: f64,
        outputs: &[f64],
        record: &mut dyn FnMut(&mut Field<'m>, Sample<'_>) -> ControlFlow<()>,
    ) -> End {
        match self.drive(end, outputs, record) {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        }
    }

    fn drive(
        &mut self,
        end: f64,
        outputs: &[f64],
        record: &mut dyn FnMut(&mut Field<'m>, Sample<'_>) -> ControlFlow<()>,
    ) -> Result<End, Failure> {
        let size = self.x.len();
        let forward = if end >= self.t { 1.0 } else { -1.0 };
        self.settle_branches().map_err(Failure::Field)?;
        let x = self.x.clone();
        self.settle(&x)?;
        let expected = self.field.outcome().rank.jacobian;
        let dependent = self.dependent_rows();
        let mut k1 = vec![0.0; size];
        self.field.rates(self.t, &self.x, &mut k1).map_err(Failure::Field)?;
        if self.h == 0.0 {
            self.h = forward * self.first_step(&k1, end)?;
        }
        let mut next_output = 0;
        let (mut next, mut weights, mut raw) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
        let mut between = vec![0.0; size];
        let mut rejected_last = false;
        let mut recent_switches = 0u32;
        let mut tiny_steps = 0u32;
        let mut last_correction = f64::INFINITY;
        let length = (end - self.t).abs();
        while forward * (end - self.t) > 0.0 {
            if self.statistics.steps + self.statistics.rejected >= self.control.most_steps {
                return Err(Failure::TooManySteps);
            }
            let remaining = end - self.t;
            let mut h = self.control.step.map_or(self.h, |step| forward * step.abs());
            // Feedback goes by this one: what is left at the end may be tiny.
            let usual = h;
            // Constant steps add up with rounding; a step of what it leaves is no step.
            let is_last = h.abs() >= remaining.abs() * (1.0 - 1e-9);
            if is_last {
                h = remaining;
            } else if self.control.step.is_none() && h.abs() > 0.5 * remaining.abs() {
                h = 0.5 * remaining;
            }
            let smallest = smallest_step(self.t, end);
            if h.abs() < smallest && !is_last {
                return Err(Failure::StepTooSmall { step: h });
            }
            self.weigh(&mut weights);
            self.feed_back(usual);
            let step = Step { t: self.t, h, x: &self.x, rates: &k1, weights: &weights };
            let tried = self.integrator.step(&mut self.field, step, &mut next);
            let mut error = match tried {
                Ok(error) if error.is_finite() && next.iter().all(|x| x.is_finite()) => error,
                Ok(_) => f64::INFINITY,
                Err(failure) => {
                    self.statistics.rejected += 1;
                    self.h = 0.25 * h;
                    if self.h.abs() < smallest || self.control.step.is_some() {
                        return Err(Failure::Field(failure));
                    }
                    rejected_last = true;
                    continue;
                }
            };
            let adapts = self.control.step.is_none() && self.integrator.estimates();
            let mut t_new = if is_last { end } else { self.t + h };
            // A switch inside the step: its branches are frozen, so the step is
            // smooth beyond the turn, and the turn is a zero of a smooth function.
            let mut turned = None;
            if error <= 1.0 || !adapts {
                raw.copy_from_slice(&next);
                if self.field.guards() > 0 {
                    self.integrator.prepare_dense(&mut self.field).map_err(Failure::Field)?;
                    turned = self.find_turn(h, &mut between)?;
                    if let Some((theta, modes)) = &turned {
                        t_new = self.t + theta * h;
                        self.integrator.interpolate(*theta, &mut next);
                        raw.copy_from_slice(&next);
                        self.modes.clone_from(modes);
                    }
                }
                let drift = match self.hold(t_new, &mut next) {
                    Ok(drift) => drift,
                    // Too far off to find the way back: a shorter step is nearer.
                    Err(_) if adapts && h.abs() > smallest => UNHELD,
                    Err(error) => return Err(Failure::Field(error)),
                };
                let projects = self.control.stabilize == Stabilize::Projection;
                if adapts && projects && drift.position.max(drift.velocity) > HELD {
                    self.statistics.rejected += 1;
                    self.h = 0.25 * h;
                    rejected_last = true;
                    if self.h.abs() < smallest {
                        return Err(Failure::StepTooSmall { step: self.h });
                    }
                    continue;
                }
                self.drift.position = self.drift.position.max(drift.position);
                self.drift.velocity = self.drift.velocity.max(drift.velocity);
                let moved: f64 = (0..size).map(|i| ((next[i] - raw[i]) * weights[i]).powi(2)).sum();
                // The correction is part of the error: a step that leaves the
                // constraints by more than the tolerance is not good enough. One of the
                // size of rounding says nothing of the step: a shorter one leaves as
                // much, near a position where the constraints hold only weakly.
                let correction = 0.25 * (moved / size as f64).sqrt();
                let found = self.projection.found;
                let is_rounding = found.position.max(found.velocity) <= ROUNDING
                    || (rejected_last && correction >= 0.3 * last_correction);
                if !is_rounding {
                    error = error.max(correction);
                }
                last_correction = correction;
            }
            if adapts && error > 1.0 {
                self.statistics.rejected += 1;
                let order = f64::from(self.integrator.order());
                let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / order) } else { 0.2 };
                self.h = h * factor.clamp(0.2, 0.9);
                rejected_last = true;
                if self.h.abs() < smallest {
                    return Err(Failure::StepTooSmall { step: self.h });
                }
                continue;
            }
            if adapts && self.is_torn(t_new, &next) {
                self.statistics.rejected += 1;
                self.h = 0.5 * h;
                rejected_last = true;
                if self.h.abs() < smallest {
                    return Err(Failure::StepTooSmall { step: self.h });
                }
                continue;
            }
            // Outputs inside of the step.
            let wanted =
                outputs[next_output..].iter().take_while(|t| forward * (*t - t_new) < 0.0).count();
            if wanted > 0 && self.field.guards() == 0 {
                self.integrator.prepare_dense(&mut self.field).map_err(Failure::Field)?;
            }
            for &t in &outputs[next_output..next_output + wanted] {
                self.integrator.interpolate((t - self.t) / h, &mut between);
                self.hold(t, &mut between).map_err(Failure::Field)?;
                let sample = Sample { t, x: &between, is_output: true, is_step: false };
                if record(&mut self.field, sample).is_break() {
                    return Ok(End::Interrupted);
                }
            }
            next_output += wanted;
            self.statistics.steps += 1;
            tiny_steps = if h.abs() < 1e-9 * length { tiny_steps + 1 } else { 0 };
            if tiny_steps > STANDSTILL && self.control.step.is_none() {
                return Err(Failure::StepTooSmall { step: h });
            }
            self.t = t_new;
            self.x.copy_from_slice(&next);
            if turned.is_some() {
                self.statistics.switches += 1;
                recent_switches += 1;
                if recent_switches > 60 {
                    return Err(Failure::SwitchesPileUp);
                }
                self.field.set_modes(&self.modes.clone());
            } else {
                recent_switches = 0;
            }
            let x = self.x.clone();
            self.settle(&x)?;
            let found = self.field.outcome().rank.jacobian;
            if found != expected {
                // Those that are dependent, be it from here on or until here.
                let constraints = if found < expected { self.dependent_rows() } else { dependent };
                return Err(Failure::RankLost { expected, found, constraints });
            }
            let here = next_output < outputs.len() && outputs[next_output] == self.t;
            if here {
                next_output += 1;
            }
            let sample = Sample { t: self.t, x: &self.x, is_output: here, is_step: true };
            if record(&mut self.field, sample).is_break() {
                return Ok(End::Interrupted);
            }
            if adapts {
                self.h = h * self.growth(error, rejected_last);
                if turned.is_some() {
                    self.h = 0.3 * h;
                }
                rejected_last = false;
            }
            if self.is_worn() && forward * (end - self.t) > 0.0 {
                return Ok(End::ChartWorn);
            }
            self.field.rates(self.t, &self.x, &mut k1).map_err(Failure::Field)?;
        }
        Ok(End::Finished)
    }

    /// 1 / what each component may be off by.
    fn weigh(&self, weights: &mut [f64]) {
        for (weight, x) in weights.iter_mut().zip(&self.x) {
            *weight = 1.0 / (self.control.tolerance * x.abs().max(1.0));
        }
    }

    /// The PI controller.
    fn growth(&mut self, error: f64, rejected_last: bool) -> f64 {
        let order = f64::from(self.integrator.order());
        let error = error.max(1e-10);
        let factor = 0.9 * error.powf(-0.7 / order) * self.last_error.powf(0.4 / order);
        self.last_error = error.max(1e-4);
        factor.clamp(0.2, if rejected_last { 1.0 } else { 6.0 })
    }

    /// Rates of feedback, tied to the first step so that they stay stable.
    fn feed_back(&mut self, h: f64) {
        // One rate for the whole run: a rate that followed the step would turn the
        // noise of small steps into forces.
        let rate = *self.rate.get_or_insert(0.2 / h.abs());
        self.field.feedback = match self.control.stabilize {
            Stabilize::Baumgarte => Feedback::Baumgarte(rate),
            Stabilize::Ggl => Feedback::Invariant(rate),
            _ => Feedback::None,
        };
    }

    /// Projects, if that is how drift is held; else tells what is left.
    fn hold(&mut self, t: f64, x: &mut [f64]) -> Result<Drift, FieldError> {
        match self.control.stabilize {
            Stabilize::Projection => self.projection.project(&mut self.field, t, x, RANK),
            _ => self.projection.drift(&mut self.field, t, x),
        }
    }

    /// Chooses the rows for what comes, at a state that satisfies them.
    fn settle(&mut self, x: &[f64]) -> Result<(), Failure> {
        if self.expected.is_none() {
            self.field.refresh_noise(self.t, x).map_err(Failure::Field)?;
        }
        let mut found = self.choose(x)?;
        // Before a change is believed, the noise is looked at where it happens.
        if self.expected.is_some_and(|e| e != found) {
            self.field.refresh_noise(self.t, x).map_err(Failure::Field)?;
            found = self.choose(x)?;
        }
        self.expected.get_or_insert(found);
        let (rank, motion) = found;
        if self.control.stabilize == Stabilize::Projection {
            self.projection.choose(&mut self.field, self.t, x, RANK).map_err(Failure::Field)?;
        }
        self.ranks = (self.ranks.0.min(rank), self.ranks.1.max(rank));
        match motion {
            outcome::Motion::Unique => Ok(()),
            // Off the constraints, where nothing holds them, dependent rows disagree.
            outcome::Motion::Inconsistent if self.control.stabilize != Stabilize::Projection => {
                Ok(())
            }
            motion => Err(Failure::Field(FieldError::NoMotion(motion))),
        }
    }

    /// Rank and verdict at a state, and the rows in use from there on.
    fn choose(&mut self, x: &[f64]) -> Result<(usize, outcome::Motion), Failure> {
        let outcome = self.field.choose_rows(self.t, x, RANK).map_err(Failure::Field)?;
        Ok((outcome.rank.jacobian, outcome.motion))
    }

    fn dependent_rows(&self) -> Vec<usize> {
        let flags = &self.field.outcome().indeterminate;
        let rows = self.field.equations.rows.iter().zip(flags);
        rows.filter(|(_, open)| **open).map(|(row, _)| *row).collect()
    }

    /// The first turn of a switch in the last step: where, and the branches after.
    fn find_turn(
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

    /// Whether the chart of a formulation should be changed.
    fn is_worn(&mut self) -> bool {
        self.field.equations.chart.is_some() && {
            let x = self.x.clone();
            linalg::largest(self.field.slopes(self.t, &x)) > WORN
        }
    }

    /// Whether a step passes by the change of chart that was due on its way: it ends
    /// where S is too steep, or beyond a pole of S.
    fn is_torn(&mut self, t: f64, next: &[f64]) -> bool {
        if self.field.equations.chart.is_none() {
            return false;
        }
        let x = self.x.clone();
        let before = self.field.slopes(self.t, &x).to_vec();
        let after = self.field.slopes(t, next);
        let steepest = linalg::largest(after);
        // A chart that was asked for may be steep from the start.
        let is_steep = steepest > TORN && steepest > 2.0 * linalg::largest(&before);
        let beyond = |(a, b): (&f64, &f64)| a * b < 0.0 && a.abs().min(b.abs()) > FLIP;
        is_steep || before.iter().zip(after).any(beyond)
    }

    /// A first step: Hairer, Nørsett & Wanner I, II.4.
    fn first_step(&mut self, k1: &[f64], end: f64) -> Result<f64, Failure> {
        let size = self.x.len();
        let longest = (end - self.t).abs();
        let shortest = (16.0 * smallest_step(self.t, end)).min(longest);
        let mut weights = vec![0.0; size];
        self.weigh(&mut weights);
        let norm = |v: &[f64]| -> f64 {
            let sum: f64 = v.iter().zip(&weights).map(|(a, w)| (a * w).powi(2)).sum();
            (sum / size as f64).sqrt()
        };
        let (d0, d1) = (norm(&self.x), norm(k1));
        // What is below the tolerance everywhere has no size to go by.
        let guess = if d0 < 1.0 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
        let guess = guess.clamp(shortest, longest);
        let ahead: Vec<f64> = self.x.iter().zip(k1).map(|(x, k)| x + guess * k).collect();
        let mut k2 = vec![0.0; size];
        let d2 = match self.field.rates(self.t + guess, &ahead, &mut k2) {
            Ok(()) => {
                let change: Vec<f64> = k2.iter().zip(k1).map(|(a, b)| a - b).collect();
                norm(&change) / guess
            }
            Err(_) => 0.0,
        };
        let order = f64::from(self.integrator.order());
        let second = if d1.max(d2) <= 1e-15 {
            (1e-3 * guess).max(1e-6)
        } else {
            (0.01 / d1.max(d2)).powf(1.0 / (order + 1.0))
        };
        Ok((100.0 * guess).min(second).clamp(shortest, longest))
    }
}

/// Shorter steps are lost in the digits of time.
fn smallest_step(t: f64, end: f64) -> f64 {
    16.0 * f64::EPSILON * t.abs().max(end.abs()).max(f64::MIN_POSITIVE)
}
