//! One pass: from the driver's state to an end time, step by step.
//!
//! ```text
//! attempt   a step, its turns, the projection, its error       → again, or arrival
//! deliver   the outputs inside of the step, from its polynomial
//! arrive    the new state, the rows in use from there on, the next step size
//! ```

use super::{Driver, End, Failure, Open, STANDSTILL, Sample, Stabilize, UNHELD, Undecided};
use crate::drive::events::land::EventsInStep;
use crate::drive::step_size::smallest_step;
use crate::drive::tolerances::constraints::{HELD, IMPLIED, ROUNDING, SHARE, WEAK};
use crate::integrators::Step;
use crate::program::field::{Field, FieldError};
use std::ops::ControlFlow;

/// Where time is in the forces, so many parts of a step are looked at.
const PARTS: u32 = 8;

/// What is called at each output and at each step.
pub(super) type Record<'r> = dyn FnMut(&mut Field, Sample<'_>) -> ControlFlow<()> + 'r;

/// What one pass carries from step to step.
pub(super) struct Pass<'o> {
    pub(super) end: f64,
    /// +1, or −1 for a run backwards.
    pub(super) forward: f64,
    pub(super) length: f64,
    /// Times of output that are still to come.
    pub(super) outputs: &'o [f64],
    /// The rates at the driver's state, and why there are none.
    pub(super) rates: Vec<f64>,
    failed: Option<FieldError>,
    pub(super) next: Vec<f64>,
    raw: Vec<f64>,
    /// The errors of the last step, component by component, as far as they are known.
    pub(super) errors: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// The step from the driver's state that the weights are for; 0 if they are for none.
    pub(super) weighed: f64,
    pub(super) between: Vec<f64>,
    /// Where a switch turned, on the polynomial of the step.
    turn: Vec<f64>,
    /// Rank of the constraints on the way.
    pub(super) rank: usize,
    dependent: Vec<usize>,
    pub(super) rejected_last: bool,
    recent_switches: u32,
    tiny_steps: u32,
    last_correction: f64,
    /// What is left of rows that are not in use, at the end of the step.
    unused: f64,
    /// Constant steps are counted from here, so that their sum does not round.
    origin: f64,
    taken: f64,
}

/// Where a step led that was good enough; the state is `next` of the pass.
pub(super) struct Arrival {
    pub(super) t: f64,
    /// The step that was taken; the state may be at a part of it.
    pub(super) h: f64,
    /// The whole step, before a turn cut it.
    pub(super) whole: f64,
    pub(super) error: f64,
    pub(super) turned: bool,
    /// Whether the polynomial of the step is ready.
    pub(super) is_dense: bool,
    /// The events at its end, and the whole step that was cut there.
    pub(super) events: Option<(Vec<usize>, f64)>,
    /// An event that came back to zero before it had left it.
    pub(super) piled_up: Option<usize>,
    /// How many evaluations there were when the rates at its end were found, `between` of the pass.
    pub(super) rated: Option<u64>,
}

impl Driver {
    pub(super) fn drive(
        &mut self,
        end: f64,
        outputs: &[f64],
        record: &mut Record<'_>,
    ) -> Result<End, Failure> {
        let mut pass = match self.begin(end, outputs) {
            Ok(pass) => pass,
            Err(failure) => return Err(self.singular_start(failure)),
        };
        if !self.stuck.is_empty() {
            return Ok(End::Sticks(self.sticking()));
        }
        while pass.forward * (end - self.t) > 0.0 {
            self.foresee(&mut pass);
            let flow = match self.approach(&mut pass, record)? {
                Some(flow) => flow,
                None => match self.step(&mut pass, record) {
                    Ok(Some(flow)) => flow,
                    Ok(None) => continue,
                    Err(failure) => self.recover(&mut pass, failure, record)?,
                },
            };
            if let ControlFlow::Break(end) = flow {
                return Ok(end);
            }
            if self.chart_is_ill_conditioned() && pass.forward * (end - self.t) > 0.0 {
                return Ok(End::ChartIllConditioned);
            }
            if self.is_stiff()
                && self.control.leaves_when_stiff
                && pass.forward * (end - self.t) > 0.0
            {
                return Ok(End::Stiff);
            }
            if let Some(error) = pass.failed.take() {
                return Err(Failure::Field(error));
            }
            self.mark(&pass);
            if self.gives_back() && pass.forward * (end - self.t) > 0.0 {
                return Ok(End::Interrupted);
            }
        }
        Ok(End::Finished)
    }

    /// Whether the steps that were lent are taken, and no event or branch is between its sides.
    fn gives_back(&mut self) -> bool {
        let Some(left) = &mut self.lent else { return false };
        *left = left.saturating_sub(1);
        *left == 0
            && self.slack.is_empty()
            && self.events.as_ref().is_none_or(|events| events.are_armed())
    }

    /// Tries a step, and takes it if it is good. `None` if it was turned down.
    fn step(
        &mut self,
        pass: &mut Pass,
        record: &mut Record<'_>,
    ) -> Result<Option<ControlFlow<End>>, Failure> {
        let Some(arrival) = self.attempt(pass)? else { return Ok(None) };
        if let Some(event) = arrival.piled_up {
            return Ok(Some(ControlFlow::Break(End::PiledUp { event, t: self.t })));
        }
        let mut arrival = arrival;
        let is_wanted = self.dense.is_some() || self.count_inside(pass, &arrival) > 0;
        if !arrival.is_dense && is_wanted {
            match self.integrator.prepare_dense(&mut self.field) {
                Ok(()) => arrival.is_dense = true,
                // What it evaluates beside the step may not be defined.
                Err(_) if self.adapts() && self.reject(pass, arrival.h, 0.25).is_ok() => {
                    return Ok(None);
                }
                Err(error) => return Err(Failure::Field(error)),
            }
        }
        if let Some(dense) = &mut self.dense {
            let (from, h, integrator) = (self.t, arrival.h, &self.integrator);
            let degree = integrator.dense_order() as usize + 1;
            dense.keep((from, arrival.t), degree, &pass.next, &mut |t, x| {
                integrator.interpolate((t - from) / h, x)
            });
        }
        if self.deliver(pass, &arrival, record)?.is_break() {
            return Ok(Some(ControlFlow::Break(End::Interrupted)));
        }
        self.land_on(pass, arrival, record).map(Some)
    }

    /// Moves to the end of a step, where the run may end.
    pub(super) fn land_on(
        &mut self,
        pass: &mut Pass,
        arrival: Arrival,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<End>, Failure> {
        if self.arrive(pass, &arrival, record)?.is_break() {
            return Ok(ControlFlow::Break(End::Interrupted));
        }
        if let Some((events, whole)) = arrival.events {
            self.h = whole;
            return Ok(ControlFlow::Break(End::Events(events)));
        }
        if !self.stuck.is_empty() {
            return Ok(ControlFlow::Break(End::Sticks(self.sticking())));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn begin<'o>(&mut self, end: f64, outputs: &'o [f64]) -> Result<Pass<'o>, Failure> {
        let size = self.x.len();
        let forward = if end >= self.t { 1.0 } else { -1.0 };
        self.is_backward = forward < 0.0;
        self.until = end;
        self.settle_branches().map_err(Failure::Field)?;
        let x = self.x.clone();
        let mut rates = vec![0.0; size];
        match std::mem::take(&mut self.is_prepared) {
            true => self.settle_after_step(&mut rates).map(|_| ())?,
            false => self.settle(&x)?,
        }
        let pass = Pass {
            end,
            forward,
            length: (end - self.t).abs(),
            outputs,
            rank: self.field.outcome().rank.jacobian,
            dependent: self.dependent_rows(),
            rates,
            failed: None,
            next: vec![0.0; size],
            raw: vec![0.0; size],
            errors: vec![0.0; size],
            weights: vec![0.0; size],
            weighed: 0.0,
            between: vec![0.0; size],
            turn: vec![0.0; size],
            rejected_last: false,
            recent_switches: 0,
            tiny_steps: 0,
            last_correction: f64::INFINITY,
            unused: 0.0,
            origin: self.t,
            taken: 0.0,
        };
        let mut pass = pass;
        self.scales.begin(self.field.n, &x);
        self.scales.see(&x);
        self.weigh_masses();
        self.weigh_rest();
        self.field.certified_rates(self.t, &self.x, &mut pass.rates).map_err(Failure::Field)?;
        if self.adapts() && self.look_for_pushes(&pass) {
            self.field.certified_rates(self.t, &self.x, &mut pass.rates).map_err(Failure::Field)?;
        }
        if self.h == 0.0 {
            self.h = forward * self.first_step(&pass.rates, end);
        }
        self.scales.began.clear();
        // Without an estimate the first step is the step.
        if self.control.step.is_none() && !self.integrator.estimates() {
            let count = (pass.length / self.h.abs()).ceil().max(1.0);
            self.control.step = Some(pass.length / count);
            self.chooses_step = true;
        }
        self.forget();
        let h = self.h;
        self.weigh_step(&mut pass, h);
        self.mark(&pass);
        Ok(pass)
    }

    /// Whether step sizes follow the error.
    pub(super) fn adapts(&self) -> bool {
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

    /// Halves a constant step that nobody asked for, from here on; false if it is rounding.
    fn halve(&mut self, pass: &mut Pass) -> bool {
        let remaining = (pass.end - self.t).abs();
        let half = 0.5 * self.control.step.unwrap_or(remaining).min(remaining);
        if !(half > smallest_step(self.t, pass.end)) {
            return false;
        }
        self.statistics.rejected += 1;
        self.control.step = Some(remaining / (remaining / half).ceil());
        (pass.origin, pass.taken) = (self.t, 0.0);
        true
    }

    /// Tries a step. `None` if it was turned down.
    fn attempt(&mut self, pass: &mut Pass) -> Result<Option<Arrival>, Failure> {
        if self.statistics.steps + self.statistics.rejected >= self.control.most_steps {
            return Err(Failure::TooManySteps);
        }
        let remaining = pass.end - self.t;
        let mut h = self.control.step.map_or(self.h, |step| pass.forward * step.abs());
        if let Some(longest) = self.control.longest.filter(|_| self.control.step.is_none()) {
            h = pass.forward * h.abs().min(longest);
        }
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
        if let Some(events) = &mut self.events {
            let velocity = &pass.rates[..self.field.equations.n_coordinates()];
            events.widen(&mut self.field, self.t, &self.x, velocity);
        }
        self.weigh_attempt(pass, h);
        self.feed_back(usual);
        let adapts = self.adapts();
        let constant = self.control.step.is_some();
        if adapts {
            self.suspect(h, pass);
        }
        let (rates, weights) = (&pass.rates, &pass.weights);
        let tolerance = self.control.tolerance;
        let looks = self.looks_for_stiffness();
        let step = Step { t: self.t, h, x: &self.x, rates, weights, tolerance, constant, looks };
        let mut error = match self.integrator.step(&mut self.field, step, &mut pass.next) {
            Ok(error) if error.is_finite() && pass.next.iter().all(|x| x.is_finite()) => error,
            Ok(_) => f64::INFINITY,
            Err(_) if self.chooses_step && self.halve(pass) => return Ok(None),
            Err(failure) => {
                if self.control.step.is_some() || self.reject(pass, h, 0.25).is_err() {
                    return Err(Failure::Field(failure));
                }
                return Ok(None);
            }
        };
        pass.errors.fill(0.0);
        if let Some(errors) = self.integrator.errors() {
            pass.errors.copy_from_slice(errors);
        }
        let mut arrival = Arrival {
            t: match self.control.step {
                _ if is_last => pass.end,
                Some(_) => pass.origin + (pass.taken + 1.0) * h,
                None => self.t + h,
            },
            h,
            whole: h,
            error,
            turned: false,
            is_dense: false,
            events: None,
            piled_up: None,
            rated: None,
        };
        if adapts
            && error <= 1.0
            && let Some(theta) = self.goes_over(pass, h)
        {
            self.reject(pass, h, theta)?;
            return Ok(None);
        }
        if error <= 1.0 || !adapts {
            pass.raw.copy_from_slice(&pass.next);
            // A switch inside the step: its branches are frozen, so the step is
            // smooth beyond the turn, and the turn is a zero of a smooth function.
            let (guarded, watched) = (self.field.guards() > 0, self.events.is_some());
            if guarded || watched {
                if let Err(error) = self.integrator.prepare_dense(&mut self.field) {
                    return match adapts && self.reject(pass, h, 0.25).is_ok() {
                        true => Ok(None),
                        false => Err(Failure::Field(error)),
                    };
                }
                arrival.is_dense = true;
            }
            let turn = match if guarded { self.find_turn(h, &mut pass.between) } else { Ok(None) } {
                // Multipliers that guards depend on were not found beyond a turn.
                Err(failure) => {
                    return match adapts && self.reject(pass, h, 0.25).is_ok() {
                        true => Ok(None),
                        false => Err(failure),
                    };
                }
                Ok(turn) => turn,
            };
            match self.events_in_step(pass, h, turn.as_ref().map_or(1.0, |turn| turn.0)) {
                EventsInStep::Nothing => {}
                EventsInStep::PiledUp(event) => {
                    arrival.piled_up = Some(event);
                    return Ok(Some(arrival));
                }
                EventsInStep::Events(found) => {
                    let Some((part, landed)) = self.land(pass, h, &found) else {
                        self.reject(pass, h, 0.5)?;
                        return Ok(None);
                    };
                    (arrival.t, arrival.h, arrival.is_dense) = (self.t + part, part, false);
                    arrival.whole = part;
                    error = error.max(landed);
                    pass.raw.copy_from_slice(&pass.next);
                    arrival.events = Some((found.events, h));
                }
            }
            if let Some((theta, modes)) = turn.filter(|_| arrival.events.is_none()) {
                arrival.turned = true;
                let part = theta * h;
                arrival.t = self.t + part;
                self.integrator.interpolate(theta, &mut pass.turn);
                // The polynomial is less accurate than a step, so one is taken to there.
                match Some(part).filter(|p| p.abs() > smallest).and_then(|p| self.step_by(pass, p))
                {
                    Some(landed) => {
                        (arrival.h, arrival.is_dense) = (part, false);
                        error = error.max(landed);
                    }
                    None => pass.next.copy_from_slice(&pass.turn),
                }
                pass.raw.copy_from_slice(&pass.next);
                self.modes = modes;
            }
            match self.correct(pass, arrival.t, adapts && h.abs() > smallest)? {
                Some(correction) => error = error.max(correction),
                None => {
                    self.reject(pass, h, 0.25)?;
                    return Ok(None);
                }
            }
            // There must be rates at the end; they are needed next.
            if adapts && !arrival.turned && arrival.events.is_none() {
                if self.is_timed() {
                    let (integrator, field) = (&mut self.integrator, &mut self.field);
                    let inside = integrator.defect_inside(field, &pass.weights, PARTS);
                    error = error.max(inside.unwrap_or(f64::INFINITY));
                }
                let end = self.field.lasting_rates(arrival.t, &pass.next, &mut pass.between);
                if let Err(failure) = end {
                    return match self.reject(pass, h, 0.25) {
                        Ok(()) => Ok(None),
                        Err(_) => Err(Failure::Field(failure)),
                    };
                }
                error = error.max(self.weigh_new(pass, h));
                error = error.max(self.integrator.defect(&pass.between, &pass.weights));
                if error <= 1.0 && self.goes_over_a_push(pass, h) {
                    error = f64::INFINITY;
                }
                // What was evaluated last is the end of the step.
                arrival.rated = Some(self.field.evaluations);
            }
        }
        if adapts && error > 1.0 {
            let order = f64::from(self.integrator.estimate_order());
            let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / order) } else { 0.2 };
            let learns = self.learns(h, pass);
            let factor = if learns { 1.0 } else { factor.clamp(0.2, 0.9) };
            if learns {
                pass.weighed = 0.0;
            }
            self.reject(pass, h, factor)?;
            return Ok(None);
        }
        if adapts && self.step_leaves_chart(arrival.t, &pass.next) {
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
        let held = match self.integrator.properties().keeps_constraints {
            true => self.projection.violation(&mut self.field, t, &pass.next),
            false => self.hold(t, &mut pass.next),
        };
        let violation = match held {
            Ok(violation) => violation,
            // Too far off to find the way back: a shorter step is nearer.
            Err(_) if may_shorten => UNHELD,
            Err(error) => return Err(Failure::Field(error)),
        };
        let projects = self.control.stabilize == Stabilize::Projection;
        if adapts && projects && violation.position.max(violation.velocity) > HELD {
            return Ok(None);
        }
        pass.unused = if projects && adapts { violation.unused } else { 0.0 };
        self.violation.position = self.violation.position.max(violation.position);
        self.violation.velocity = self.violation.velocity.max(violation.velocity);
        // A step that leaves the constraints by more than the tolerance is not good
        // enough. A correction of the size of rounding says nothing of the step: a
        // shorter one leaves as much, near a position where the constraints hold only
        // weakly.
        let moved = || pass.next.iter().zip(&pass.raw).map(|(a, b)| SHARE * (a - b).abs());
        let correction = moved().zip(&pass.weights).fold(0f64, |m, (e, w)| m.max(e * w));
        let found = self.projection.found;
        let is_rounding = found.position.max(found.velocity) <= ROUNDING
            || (pass.rejected_last
                && correction >= 0.3 * pass.last_correction
                && found.position.max(found.velocity) <= WEAK);
        pass.last_correction = correction;
        if is_rounding {
            return Ok(Some(0.0));
        }
        for (error, moved) in pass.errors.iter_mut().zip(moved()) {
            *error = error.max(moved);
        }
        Ok(Some(correction))
    }

    /// How many outputs are inside of a step.
    fn count_inside(&self, pass: &Pass, arrival: &Arrival) -> usize {
        let inside = |t: &&f64| pass.forward * (**t - arrival.t) < 0.0;
        pass.outputs.iter().take_while(inside).count()
    }

    /// Records the outputs inside of a step.
    fn deliver(
        &mut self,
        pass: &mut Pass,
        arrival: &Arrival,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<()>, Failure> {
        let wanted = self.count_inside(pass, arrival);
        let (now, later) = pass.outputs.split_at(wanted);
        pass.outputs = later;
        for &t in now {
            self.integrator.interpolate((t - self.t) / arrival.h, &mut pass.between);
            self.hold(t, &mut pass.between).map_err(Failure::Field)?;
            let jumped = self.jumped;
            let x = &pass.between;
            let sample = Sample { t, x, rates: None, is_output: true, is_step: false, jumped };
            if record(&mut self.field, sample).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Moves to the end of a step.
    pub(super) fn arrive(
        &mut self,
        pass: &mut Pass,
        arrival: &Arrival,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<()>, Failure> {
        let h = arrival.whole;
        let ratio = std::mem::take(&mut pass.unused);
        self.statistics.steps += 1;
        pass.tiny_steps = if h.abs() < 1e-9 * pass.length { pass.tiny_steps + 1 } else { 0 };
        if pass.tiny_steps > STANDSTILL && self.control.step.is_none() {
            return Err(Failure::StepTooSmall { step: h });
        }
        let start = arrival.turned.then(|| (self.t, self.x.clone()));
        self.t = arrival.t;
        (pass.origin, pass.taken) =
            if arrival.turned { (self.t, 0.0) } else { (pass.origin, pass.taken + 1.0) };
        self.x.copy_from_slice(&pass.next);
        self.scales.see(&pass.next);
        pass.weighed = 0.0;
        if let Some(watch) = &mut self.events {
            let (t, why) = (self.t, Open::Later);
            let left = watch.commit().into_iter();
            self.undecided.extend(left.map(|event| Undecided { event, t, why }));
        }
        let mut turned_from = None;
        if let Some(start) = start {
            self.statistics.switches += 1;
            pass.recent_switches += 1;
            if pass.recent_switches > 60 {
                return Err(Failure::SwitchesPileUp);
            }
            let before = self.field.modes().to_vec();
            self.leave_turn(start.0 == self.t)?;
            let sizes = pass.rates.iter().map(|rate| (rate * h).abs());
            let step: Vec<f64> = std::iter::once(h.abs()).chain(sizes).collect();
            self.carry_over(&before, (start.0, &start.1), (self.t, &pass.turn), &step)?;
            self.forget();
            turned_from = Some(before);
        } else {
            pass.recent_switches = 0;
        }
        self.note_slack(turned_from.as_deref())?;
        let is_kept = match arrival.turned {
            true => self.settle_here().map(|()| false)?,
            // What was evaluated last is the end of the step, if nothing was since.
            false if arrival.rated == Some(self.field.evaluations) && self.keeps_rates() => {
                pass.rates.copy_from_slice(&pass.between);
                true
            }
            false => self.settle_after_step(&mut pass.rates)?,
        };
        let (expected, found) = (pass.rank, self.field.outcome().rank.jacobian);
        if found != expected {
            // Those that are dependent, be it from here on or until here.
            let constraints =
                if found < expected { self.dependent_rows() } else { pass.dependent.clone() };
            return Err(Failure::RankLost { expected, found, constraints });
        }
        // Rows that follow from those in use hold where these do.
        if ratio > IMPLIED {
            let constraints = self.dependent_rows();
            return Err(Failure::NearlyDependent { ratio, constraints });
        }
        let is_output = pass.outputs.first() == Some(&self.t);
        if is_output {
            pass.outputs = &pass.outputs[1..];
        }
        // Where there are none the run may still end for another reason.
        if !is_kept {
            pass.failed = self.field.certified_rates(self.t, &self.x, &mut pass.rates).err();
        }
        let rates = pass.failed.is_none().then_some(&*pass.rates);
        let (x, jumped) = (&*self.x, self.jumped);
        let sample = Sample { t: self.t, x, rates, is_output, is_step: true, jumped };
        if record(&mut self.field, sample).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.adapts() {
            self.weigh_noise();
            self.limited_by(pass);
            self.h = h * self.growth(arrival.error, pass.rejected_last);
            if arrival.turned {
                self.h = 0.3 * h;
            }
            pass.rejected_last = false;
        }
        Ok(ControlFlow::Continue(()))
    }
}
