//! Where events happen inside a step.
//!
//! [`Locator`] finds the first crossings on the polynomial of the step. That is less accurate
//! than a step, so the step is then taken once more to end at the zero, and again, with
//! Newton's correction of its length, until the function vanishes at its end, on the
//! constraints. The state at an event is as accurate as any end of a step.
//!
//! `rising` and `falling` are meant as the run meets them. A run backwards meets a crossing
//! from its later side; its events bounce it as they would in a film shown in reverse.

use crate::drive::events::functions::EventFunctions;
use crate::drive::events::locate::{EventCrossing, Locator, Sides};
use crate::drive::pass::Pass;
use crate::drive::singular::collocation::Passage;
use crate::drive::step_size::smallest_step;
use crate::drive::{Driver, Failure};
use crate::integrators::{Problem, Step};
use crate::program::field::FieldError;
use crate::setting::Setting;

/// Most steps to land on a zero.
const LANDINGS: usize = 5;

/// The first events in a step.
pub(in crate::drive) struct Found {
    /// Which, in order of declaration.
    pub events: Vec<usize>,
    pub theta: f64,
    /// dg/dθ of the first to happen, g.
    slope: f64,
    leader: usize,
}

/// What a step has in it.
pub(in crate::drive) enum EventsInStep {
    Nothing,
    Events(Found),
    /// An event came back to zero before it had left it.
    PiledUp(usize),
}

/// A crossing on the way.
struct Candidate {
    event: usize,
    theta: f64,
    /// Whether there is no slope.
    ends: bool,
}

impl Driver {
    /// Locates the zeros of these functions from here on.
    pub fn set_events(&mut self, events: Option<EventFunctions>) {
        self.events = events;
    }

    /// Gives the functions of the events other values of the parameters. False if there are none.
    pub(crate) fn set_event_parameters(&mut self, setting: &Setting) -> bool {
        self.events.iter_mut().for_each(|events| events.set_parameters(setting));
        self.events.is_some()
    }

    /// The functions of the events, which are located no longer.
    pub(crate) fn take_events(&mut self) -> Option<EventFunctions> {
        self.events.take()
    }

    /// Puts the driver at another state of the same time.
    pub fn place(&mut self, x: Vec<f64>) -> Result<(), Failure> {
        if x.iter().any(|x| !x.is_finite()) {
            let index = x.iter().position(|x| !x.is_finite()).unwrap_or(0);
            return Err(Failure::Field(FieldError::NotFinite { what: "rate", index }));
        }
        // At other positions angles are as they are written.
        if x[..self.field.n] != self.x[..self.field.n] {
            let none = vec![0.0; self.field.windings().len()];
            self.field.set_windings(&none);
            self.modes.clear();
        }
        self.x = x;
        self.settle_branches().map_err(Failure::Field)?;
        let x = self.x.clone();
        self.settle(&x)
    }

    /// Finds the sides of the events after some of them; `before` is what the state was, if these have
    /// changed it. Returns those that happen because of the change.
    pub fn after_events(
        &mut self,
        happened: &[usize],
        before: Option<&[f64]>,
    ) -> Result<Vec<usize>, Failure> {
        let (t, x) = (self.t, self.x.clone());
        let mut rates = vec![0.0; x.len()];
        self.field.rates(t, &x, &mut rates).map_err(Failure::Field)?;
        let moving = self.field.n + self.field.size;
        let Some(functions) = &mut self.events else { return Ok(Vec::new()) };
        let at_zero =
            functions.after_events(&mut self.field, (t, &x), &rates[..moving], happened, before);
        Ok(self.decide(&at_zero, false))
    }

    /// The first events in a part of the last step, whose polynomial is ready.
    pub(in crate::drive) fn events_in_step(
        &mut self,
        pass: &mut Pass,
        h: f64,
        until: f64,
    ) -> EventsInStep {
        let integrator = &*self.integrator;
        let curve = |theta: f64, x: &mut [f64]| integrator.interpolate(theta, x);
        let Some(functions) = &mut self.events else { return EventsInStep::Nothing };
        let state = &mut pass.between;
        let (field, step) = (&mut self.field, integrator.polynomial());
        let locator = Locator { functions, field, curve: &curve, step, t: self.t, h, state };
        first_events(locator, until, pass.end)
    }

    /// The first events on the way from here to a time inside of a crossing, which may have
    /// begun before.
    pub(in crate::drive) fn events_across(
        &mut self,
        pass: &mut Pass,
        along: &Passage,
        to: f64,
    ) -> EventsInStep {
        let (t, h) = (self.t, to - self.t);
        let curve = |theta: f64, x: &mut [f64]| {
            x.copy_from_slice(&along.state(along.theta(t + theta * h)));
        };
        let Some(functions) = self.events.as_mut().filter(|_| h != 0.0) else {
            return EventsInStep::Nothing;
        };
        let (field, state) = (&mut self.field, &mut pass.between);
        let step = None;
        first_events(Locator { functions, field, curve: &curve, step, t, h, state }, 1.0, pass.end)
    }

    /// Takes the step again so that it ends where the first event is. Leaves the state in
    /// `next` of the pass, unprojected, and returns the step's length and error; `None` if
    /// the step could not be taken.
    pub(in crate::drive) fn land(
        &mut self,
        pass: &mut Pass,
        h: f64,
        found: &Found,
    ) -> Option<(f64, f64)> {
        let rate = found.slope / h;
        let smallest = smallest_step(self.t, pass.end);
        let mut part = found.theta * h;
        let mut best = (f64::INFINITY, part);
        let mut error = self.step_by(pass, part)?;
        for landing in 0..LANDINGS {
            pass.between.copy_from_slice(&pass.next);
            let t = self.t + part;
            self.hold(t, &mut pass.between).ok()?;
            let functions = self.events.as_mut()?;
            let value = functions.value(&mut self.field, found.leader, t, &pass.between);
            // Of |v|² − L the slope vanishes close by; that of |v| is even: with l² = L it is ġ/2l.
            let value = match functions.limit(found.leader) {
                Some(limit) => 2.0 * limit * ((value + limit * limit).max(0.0).sqrt() - limit),
                None => value,
            };
            let off = -value / rate;
            if off.abs() < best.0 {
                best = (off.abs(), part);
            }
            let is_there = !(off.abs() > f64::EPSILON * t.abs().max(part.abs()));
            let next = part + off;
            let is_near = off.abs() <= 0.05 * h.abs() && next / h > 0.0 && next.abs() >= smallest;
            let goes_on = is_near && landing + 1 < LANDINGS && (best.1 == part || landing < 2);
            if is_there || (!goes_on && best.1 == part) {
                break;
            }
            part = if goes_on { next } else { best.1 };
            error = self.step_by(pass, part)?;
            if !goes_on {
                break;
            }
        }
        Some((part, error))
    }

    /// Takes a step of a length; its error, or `None` if there is no such step.
    pub(in crate::drive) fn step_by(&mut self, pass: &mut Pass, h: f64) -> Option<f64> {
        let (rates, weights) = (&pass.rates, &pass.weights);
        let (tolerance, constant) = (self.control.tolerance, false);
        let looks = true;
        let step = Step { t: self.t, h, x: &self.x, rates, weights, tolerance, constant, looks };
        let error = self.integrator.step(&mut self.field, step, &mut pass.next).ok()?;
        (error.is_finite() && pass.next.iter().all(|x| x.is_finite())).then_some(error)
    }
}

/// The first events in a part of a step; the run goes to `end`.
fn first_events(mut locator: Locator<'_>, until: f64, end: f64) -> EventsInStep {
    let count = locator.functions.sides.len();
    locator.functions.lost.fill(false);
    let samples = locator.sample(until);
    let mut sides: Vec<Sides> = Vec::new();
    let mut crossings: Vec<Candidate> = Vec::new();
    let mut piled: Option<(f64, usize)> = None;
    for event in 0..count {
        let (way, end) = locator.first_crossing(event, &samples);
        sides.push(way);
        match end {
            EventCrossing::Through => {}
            EventCrossing::Crosses(theta) => {
                crossings.push(Candidate { event, theta, ends: false })
            }
            EventCrossing::Ends(theta) => crossings.push(Candidate { event, theta, ends: true }),
            EventCrossing::Returns(theta) if piled.is_none_or(|p| theta < p.0) => {
                piled = Some((theta, event));
            }
            EventCrossing::Returns(_) => {}
        }
    }
    // Times closer than this are one instant.
    let instant = 64.0 * smallest_step(locator.t, end) / locator.h.abs();
    // What is at zero at the end of the run, to rounding, has not passed it.
    let last = (end - locator.t) / locator.h - instant;
    crossings.retain(|crossing| crossing.theta < last);
    let first = crossings.iter().min_by(|a, b| a.theta.total_cmp(&b.theta));
    let (theta, leader) = match (first, piled) {
        (None, None) => (f64::INFINITY, 0),
        (Some(first), Some((theta, _))) if first.theta < theta => (first.theta, first.event),
        (_, Some((_, event))) => return EventsInStep::PiledUp(event),
        (Some(first), None) => (first.theta, first.event),
    };
    for (pending, way) in locator.functions.pending.iter_mut().zip(&sides) {
        *pending = way.iter().take_while(|s| s.0 <= theta).last().map_or(0, |s| s.1);
    }
    if !theta.is_finite() {
        return EventsInStep::Nothing;
    }
    locator.functions.lost.fill(false);
    let together = crossings.iter().filter(|c| c.theta <= theta + instant);
    let mut events: Vec<usize> = together.map(|c| c.event).collect();
    events.sort_unstable();
    let ends = crossings.iter().any(|c| c.event == leader && c.ends);
    let around = (1e-5 * until).min(0.5 * theta).max(f64::MIN_POSITIVE);
    let ahead = locator.one(leader, theta + around) - locator.one(leader, theta - around);
    let theta = theta.max(smallest_step(locator.t, end) / locator.h.abs());
    // Where it ends there is nothing to be corrected by.
    let slope = if ends { f64::INFINITY } else { ahead / (2.0 * around) };
    EventsInStep::Events(Found { events, theta, slope, leader })
}
