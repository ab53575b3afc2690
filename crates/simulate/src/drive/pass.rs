//! One pass: from the driver's state to an end time, step by step.
//!
//! ```text
//! attempt   a step, its turns, the projection, its error       → again, or arrival
//! deliver   the outputs inside of the step, from its polynomial
//! arrive    the new state, the rows in use from there on, the next step size
//! ```

use super::step_size::smallest_step;
use super::{Driver, End, Failure, HELD, ROUNDING, STANDSTILL, Sample, Stabilize, UNHELD};
use crate::field::Field;
use crate::integrators::{Motion, Step};
use std::ops::ControlFlow;

/// What is called at each output and at each step.
pub(super) type Record<'r, 'm> = dyn FnMut(&mut Field<'m>, Sample<'_>) -> ControlFlow<()> + 'r;

/// What one pass carries from step to step.
pub(super) struct Pass<'o> {
    end: f64,
    /// +1, or −1 for a run backwards.
    forward: f64,
    length: f64,
    /// Times of output that are still to come.
    outputs: &'o [f64],
    /// The rates at the driver's state.
    rates: Vec<f64>,
    next: Vec<f64>,
    raw: Vec<f64>,
    weights: Vec<f64>,
    between: Vec<f64>,
    /// Rank of the constraints at the beginning.
    rank: usize,
    dependent: Vec<usize>,
    rejected_last: bool,
    recent_switches: u32,
    tiny_steps: u32,
    last_correction: f64,
}

/// Where a step led that was good enough; the state is `next` of the pass.
struct Arrival {
    t: f64,
    /// The whole step, of which a part was taken if a branch turned.
    h: f64,
    error: f64,
    turned: bool,
    /// Whether the polynomial of the step is ready.
    is_dense: bool,
}

impl<'m> Driver<'m> {
    pub(super) fn drive(
        &mut self,
        end: f64,
        outputs: &[f64],
        record: &mut Record<'_, 'm>,
    ) -> Result<End, Failure> {
        let mut pass = self.begin(end, outputs)?;
        while pass.forward * (end - self.t) > 0.0 {
            let Some(arrival) = self.attempt(&mut pass)? else { continue };
            if self.deliver(&mut pass, &arrival, record)?.is_break() {
                return Ok(End::Interrupted);
            }
            if self.arrive(&mut pass, &arrival, record)?.is_break() {
                return Ok(End::Interrupted);
            }
            if self.is_worn() && pass.forward * (end - self.t) > 0.0 {
                return Ok(End::ChartWorn);
            }
            self.field.rates(self.t, &self.x, &mut pass.rates).map_err(Failure::Field)?;
        }
        Ok(End::Finished)
    }

    fn begin<'o>(&mut self, end: f64, outputs: &'o [f64]) -> Result<Pass<'o>, Failure> {
        let size = self.x.len();
        let forward = if end >= self.t { 1.0 } else { -1.0 };
        self.settle_branches().map_err(Failure::Field)?;
        let x = self.x.clone();
        self.settle(&x)?;
        let pass = Pass {
            end,
            forward,
            length: (end - self.t).abs(),
            outputs,
            rank: self.field.outcome().rank.jacobian,
            dependent: self.dependent_rows(),
            rates: vec![0.0; size],
            next: vec![0.0; size],
            raw: vec![0.0; size],
            weights: vec![0.0; size],
            between: vec![0.0; size],
            rejected_last: false,
            recent_switches: 0,
            tiny_steps: 0,
            last_correction: f64::INFINITY,
        };
        let mut pass = pass;
        self.field.rates(self.t, &self.x, &mut pass.rates).map_err(Failure::Field)?;
        if self.h == 0.0 {
            self.h = forward * self.first_step(&pass.rates, end)?;
        }
        Ok(pass)
    }

    /// Whether step sizes follow the error.
    fn adapts(&self) -> bool {
        self.control.step.is_none() && self.integrator.estimates()
    }

    /// Turns a step down; the next is shorter by a factor.
    fn reject(&mut self, pass: &mut Pass, h: f64, factor: f64) -> Result<(), Failure> {
        self.statistics.rejected += 1;
        self.h = h * factor;
        pass.rejected_last = true;
        if self.h.abs() < smallest_step(self.t, pass.end) {
            return Err(Failure::StepTooSmall { step: self.h });
        }
        Ok(())
    }

    /// Tries a step. `None` if it was turned down.
    fn attempt(&mut self, pass: &mut Pass) -> Result<Option<Arrival>, Failure> {
        if self.statistics.steps + self.statistics.rejected >= self.control.most_steps {
            return Err(Failure::TooManySteps);
        }
        let remaining = pass.end - self.t;
        let mut h = self.control.step.map_or(self.h, |step| pass.forward * step.abs());
        // Feedback goes by this one: what is left at the end may be tiny.
        let usual = h;
        // Constant steps add up with rounding; a step of what it leaves is no step.
        let is_last = h.abs() >= remaining.abs() * (1.0 - 1e-9);
        if is_last {
            h = remaining;
        } else if self.control.step.is_none() && h.abs() > 0.5 * remaining.abs() {
            h = 0.5 * remaining;
        }
        let smallest = smallest_step(self.t, pass.end);
        if h.abs() < smallest && !is_last {
            return Err(Failure::StepTooSmall { step: h });
        }
        self.weigh(&mut pass.weights);
        self.feed_back(usual);
        let adapts = self.adapts();
        let step = Step { t: self.t, h, x: &self.x, rates: &pass.rates, weights: &pass.weights };
        let mut error = match self.integrator.step(&mut self.field, step, &mut pass.next) {
            Ok(error) if error.is_finite() && pass.next.iter().all(|x| x.is_finite()) => error,
            Ok(_) => f64::INFINITY,
            Err(failure) => {
                if self.control.step.is_some() || self.reject(pass, h, 0.25).is_err() {
                    return Err(Failure::Field(failure));
                }
                return Ok(None);
            }
        };
        let mut arrival = Arrival {
            t: if is_last { pass.end } else { self.t + h },
            h,
            error,
            turned: false,
            is_dense: false,
        };
        if error <= 1.0 || !adapts {
            pass.raw.copy_from_slice(&pass.next);
            // A switch inside the step: its branches are frozen, so the step is
            // smooth beyond the turn, and the turn is a zero of a smooth function.
            if self.field.guards() > 0 {
                self.integrator.prepare_dense(&mut self.field).map_err(Failure::Field)?;
                arrival.is_dense = true;
                if let Some((theta, modes)) = self.find_turn(h, &mut pass.between)? {
                    arrival.turned = true;
                    arrival.t = self.t + theta * h;
                    self.integrator.interpolate(theta, &mut pass.next);
                    pass.raw.copy_from_slice(&pass.next);
                    self.modes = modes;
                }
            }
            match self.correct(pass, arrival.t, adapts && h.abs() > smallest)? {
                Some(correction) => error = error.max(correction),
                None => {
                    self.reject(pass, h, 0.25)?;
                    return Ok(None);
                }
            }
        }
        if adapts && error > 1.0 {
            let order = f64::from(self.integrator.order());
            let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / order) } else { 0.2 };
            self.reject(pass, h, factor.clamp(0.2, 0.9))?;
            return Ok(None);
        }
        if adapts && self.is_torn(arrival.t, &pass.next) {
            self.reject(pass, h, 0.5)?;
            return Ok(None);
        }
        arrival.error = error;
        Ok(Some(arrival))
    }

    /// Brings the end of a step back onto the constraints. The correction is part of
    /// its error, and returned in units of the tolerance; `None` if the way back was
    /// not found from there.
    fn correct(
        &mut self,
        pass: &mut Pass,
        t: f64,
        may_shorten: bool,
    ) -> Result<Option<f64>, Failure> {
        let adapts = self.adapts();
        let drift = match self.hold(t, &mut pass.next) {
            Ok(drift) => drift,
            // Too far off to find the way back: a shorter step is nearer.
            Err(_) if may_shorten => UNHELD,
            Err(error) => return Err(Failure::Field(error)),
        };
        let projects = self.control.stabilize == Stabilize::Projection;
        if adapts && projects && drift.position.max(drift.velocity) > HELD {
            return Ok(None);
        }
        self.drift.position = self.drift.position.max(drift.position);
        self.drift.velocity = self.drift.velocity.max(drift.velocity);
        let size = pass.next.len();
        let moved: f64 =
            (0..size).map(|i| ((pass.next[i] - pass.raw[i]) * pass.weights[i]).powi(2)).sum();
        // A step that leaves the constraints by more than the tolerance is not good
        // enough. A correction of the size of rounding says nothing of the step: a
        // shorter one leaves as much, near a position where the constraints hold only
        // weakly.
        let correction = 0.25 * (moved / size as f64).sqrt();
        let found = self.projection.found;
        let is_rounding = found.position.max(found.velocity) <= ROUNDING
            || (pass.rejected_last && correction >= 0.3 * pass.last_correction);
        pass.last_correction = correction;
        Ok(Some(if is_rounding { 0.0 } else { correction }))
    }

    /// Records the outputs inside of a step.
    fn deliver(
        &mut self,
        pass: &mut Pass,
        arrival: &Arrival,
        record: &mut Record<'_, 'm>,
    ) -> Result<ControlFlow<()>, Failure> {
        let inside = |t: &&f64| pass.forward * (**t - arrival.t) < 0.0;
        let wanted = pass.outputs.iter().take_while(inside).count();
        if wanted > 0 && !arrival.is_dense {
            self.integrator.prepare_dense(&mut self.field).map_err(Failure::Field)?;
        }
        let (now, later) = pass.outputs.split_at(wanted);
        pass.outputs = later;
        for &t in now {
            self.integrator.interpolate((t - self.t) / arrival.h, &mut pass.between);
            self.hold(t, &mut pass.between).map_err(Failure::Field)?;
            let sample = Sample { t, x: &pass.between, is_output: true, is_step: false };
            if record(&mut self.field, sample).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Moves to the end of a step.
    fn arrive(
        &mut self,
        pass: &mut Pass,
        arrival: &Arrival,
        record: &mut Record<'_, 'm>,
    ) -> Result<ControlFlow<()>, Failure> {
        let h = arrival.h;
        self.statistics.steps += 1;
        pass.tiny_steps = if h.abs() < 1e-9 * pass.length { pass.tiny_steps + 1 } else { 0 };
        if pass.tiny_steps > STANDSTILL && self.control.step.is_none() {
            return Err(Failure::StepTooSmall { step: h });
        }
        self.t = arrival.t;
        self.x.copy_from_slice(&pass.next);
        if arrival.turned {
            self.statistics.switches += 1;
            pass.recent_switches += 1;
            if pass.recent_switches > 60 {
                return Err(Failure::SwitchesPileUp);
            }
            self.field.set_modes(&self.modes.clone());
        } else {
            pass.recent_switches = 0;
        }
        let x = self.x.clone();
        self.settle(&x)?;
        let (expected, found) = (pass.rank, self.field.outcome().rank.jacobian);
        if found != expected {
            // Those that are dependent, be it from here on or until here.
            let constraints =
                if found < expected { self.dependent_rows() } else { pass.dependent.clone() };
            return Err(Failure::RankLost { expected, found, constraints });
        }
        let is_output = pass.outputs.first() == Some(&self.t);
        if is_output {
            pass.outputs = &pass.outputs[1..];
        }
        let sample = Sample { t: self.t, x: &self.x, is_output, is_step: true };
        if record(&mut self.field, sample).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.adapts() {
            self.h = h * self.growth(arrival.error, pass.rejected_last);
            if arrival.turned {
                self.h = 0.3 * h;
            }
            pass.rejected_last = false;
        }
        Ok(ControlFlow::Continue(()))
    }
}
