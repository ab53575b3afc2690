//! Events that are zero at the start, or after the reset of another event.
//!
//! Balls that touch, a ball laid on a floor: g = 0, and whether the event happens is decided
//! by the side to which the motion leaves. With s = dg/dt along the motion, that is the sign
//! of
//!
//! ```text
//! g(τ) = ∫₀^τ s dt
//! ```
//!
//! for the smallest τ at which it counts, 10⁻¹³ of the largest: the sign of the first
//! derivative that does not vanish, unless what does not vanish is only rounding. τ grows by
//! doubling to a thousand first steps, or two of those that are known, along single steps of the
//! classical method of Runge, and on until g is above its rounding errors, as long as these steps
//! follow the motion: the integral of s is what g changes by. If g is not above them by then,
//! nothing is decided.
//!
//! An event happens if the motion leaves to the side to which its crossings count: up if it
//! is rising, down if it is falling, away from the side it came from if that is known. One
//! that counts both ways and never was on a side is not decided. What stops or records
//! happens here only after a reset: a motion that starts on a section is not yet back on
//! it. At the start it stops only what is at rest on it and is about to leave.

use crate::drive::events::functions::{EventFunctions, EventState, sign};
use crate::drive::tolerances::events::{COUNTS, FOLLOWS, STEEPEST};
use crate::drive::{Driver, Failure};
use crate::integrators::Problem;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::Action;
use dalembert_model::tree::Direction;

/// τ begins at this power of two of a step,
const FIRST: i32 = -44;
/// and ends at this one of a first step, if that is enough.
const LAST: i32 = 10;

/// An event that was zero, and that the motion did not decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undecided {
    /// Which.
    pub event: usize,
    /// When.
    pub t: f64,
    /// Why.
    pub why: Open,
}

/// Why an event at zero was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Its crossings count both ways, and it never was on a side.
    BothWays,
    /// It left zero later than the derivatives at zero could tell.
    Later,
    /// It stops a run, and the motion starts through it: taken to have happened.
    OnSection,
}

/// Where a function goes from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    /// +1 or −1; 0 if that is not decided.
    pub side: i8,
    /// Whether its first derivative is 0.
    pub is_at_rest: bool,
}

impl Driver {
    /// Finds the sides of the events at the driver's state, as at the start of a run to `end`. Returns
    /// those that happen there.
    pub fn begin_events(&mut self, end: f64) -> Result<Vec<usize>, Failure> {
        let (t, x) = (self.t, self.x.clone());
        let Some(functions) = &mut self.events else { return Ok(Vec::new()) };
        let at_zero = functions.begin(&mut self.field, t, &x);
        if at_zero.is_empty() || !self.look_ahead(end) {
            return Ok(Vec::new());
        }
        Ok(self.decide(&at_zero, true))
    }

    /// Goes on with events in another phase of the same motion: those that are at zero are on the side
    /// that they were on, and what has just happened there has happened.
    pub(crate) fn go_on_with_events(&mut self, old: Option<&EventFunctions>, end: f64) {
        let (t, x) = (self.t, self.x.clone());
        let Some(functions) = &mut self.events else { return };
        let at_zero = functions.begin(&mut self.field, t, &x);
        if let Some(old) = old {
            functions.inherit_at(old, &at_zero);
        }
        if !at_zero.is_empty() {
            self.look_ahead(end);
        }
    }

    /// Which way the run goes from here, and how far; false where there are no rates.
    fn look_ahead(&mut self, end: f64) -> bool {
        self.is_backward = end < self.t;
        self.longest = (end - self.t).abs();
        if self.h == 0.0 {
            let mut rates = vec![0.0; self.x.len()];
            if self.prepare_rates(&mut rates).is_err() {
                return false;
            }
            self.first = self.first_step(&rates, end);
        }
        true
    }

    /// What a driver in another chart has to know of this one: which way it runs, and the
    /// lengths of a first step and of the run.
    pub(crate) fn way(&self) -> (bool, f64, f64) {
        (self.is_backward, self.first, self.longest)
    }

    /// Goes the way of another.
    pub(crate) fn set_way(&mut self, way: (bool, f64, f64)) {
        (self.is_backward, self.first, self.longest) = way;
    }

    /// Where the events stand, if there are any.
    pub(crate) fn event_state(&self) -> Option<EventState> {
        let functions = self.events.as_ref()?;
        let (sides, usual) = (functions.sides.clone(), functions.usual.clone());
        Some(EventState { sides, usual, way: self.way() })
    }

    /// Goes on with events that stand as they did elsewhere.
    pub(crate) fn resume_events(&mut self, state: &EventState) {
        let Some(functions) = &mut self.events else { return };
        functions.sides.clone_from(&state.sides);
        functions.usual.clone_from(&state.usual);
        self.set_way(state.way);
    }

    /// Rates at the driver's state, before a run has chosen its rows.
    fn prepare_rates(&mut self, rates: &mut [f64]) -> Result<(), Failure> {
        let (t, x) = (self.t, self.x.clone());
        self.field.choose_rows(t, &x, crate::drive::RANK).map_err(Failure::Field)?;
        self.field.rates(t, &x, rates).map_err(Failure::Field)
    }

    /// Which of these events, all at zero, happen; they are armed on the side they come
    /// from.
    pub(in crate::drive) fn decide(&mut self, at_zero: &[usize], is_start: bool) -> Vec<usize> {
        let mut happen = Vec::new();
        for &event in at_zero {
            let resets = self.resets(event);
            let heading = self.heading(event);
            let Some(functions) = &mut self.events else { continue };
            let side = heading.side;
            if side == 0 {
                functions.sides[event].open = resets;
                continue;
            }
            let from = functions.sides_before[event];
            let counts = match (from, functions.direction(event)) {
                (0, Direction::Both) => {
                    if resets {
                        let why = Open::BothWays;
                        self.undecided.push(Undecided { event, t: self.t, why });
                    }
                    false
                }
                (0, _) => functions.counts(event, -side),
                (from, _) => side == -from && functions.counts(event, from),
            };
            if !counts {
                continue;
            }
            if is_start && !resets && !(heading.is_at_rest && self.stops(event)) {
                if self.stops(event) {
                    let why = Open::OnSection;
                    self.undecided.push(Undecided { event, t: self.t, why });
                }
                continue;
            }
            if let Some(functions) = &mut self.events {
                functions.sides[event].side = -side;
            }
            happen.push(event);
        }
        happen
    }

    /// Whether an event that others have acted before, at the same time, still happens: one that
    /// resets what it goes by itself, as a contact does, is done with if these have turned it back.
    /// Others happen because zero was reached.
    pub(crate) fn still_happens(&mut self, event: usize) -> bool {
        let Some(functions) = &self.events else { return true };
        let from = functions.sides[event].side;
        from == 0 || !self.acts_on_itself(event) || self.heading(event).side != from
    }

    /// Whether an event resets coordinates, or their rates, that its function depends on.
    fn acts_on_itself(&self, event: usize) -> bool {
        let model = self.field.model();
        let event = &model.system.events[event];
        let Action::Reset(list) = &event.action else { return false };
        let targets: Vec<ExprId> = list.iter().map(|reset| reset.0).collect();
        let of = |roots: &[ExprId]| model.exprs.symbols_of(roots);
        let (own, reset) = (of(&[event.function]), of(&targets));
        model.system.coordinates.iter().any(|c| {
            let is_in = |list: &[Symbol]| {
                [c.position, c.velocity, c.momentum].iter().any(|symbol| list.contains(symbol))
            };
            is_in(&own) && is_in(&reset)
        })
    }

    /// The side of zero on which an event was seen last.
    pub(crate) fn side_of(&self, event: usize) -> i8 {
        self.events.as_ref().map_or(0, |functions| functions.sides[event].side)
    }

    fn resets(&self, event: usize) -> bool {
        let events = &self.field.model().system.events;
        matches!(events[event].action, Action::Reset(_))
    }

    fn stops(&self, event: usize) -> bool {
        matches!(self.field.model().system.events[event].action, Action::Stop)
    }

    /// Where the function of an event that is zero goes.
    pub(crate) fn heading(&mut self, event: usize) -> Heading {
        let mut heading = Heading { side: 0, is_at_rest: true };
        let (t, x) = (self.t, self.x.clone());
        let forward = if self.is_backward { -1.0 } else { 1.0 };
        let length = if self.h == 0.0 { self.first } else { self.h.abs() };
        // The length of a step that was taken is known better than that of a first one.
        let last = if self.h == 0.0 { LAST } else { 1 };
        let longest = self.longest;
        let mut rates = vec![0.0; x.len()];
        if self.prepare_rates(&mut rates).is_err() {
            return heading;
        }
        let moving = self.field.n + self.field.size;
        let Some(functions) = &mut self.events else { return heading };
        let field = &mut self.field;
        let threshold = functions.threshold(field, event, t, &x);
        let first = functions.slope_at(field, event, (t, &x), &rates[..moving]);
        heading.is_at_rest = first.is_none_or(|slope| slope == 0.0);
        let value = functions.value(field, event, t, &x);
        let mut before = first.unwrap_or(0.0);
        let mut gone: Vec<f64> = Vec::new();
        let mut largest = 0f64;
        for power in FIRST.. {
            let (tau, is_beyond) = (length * 2f64.powi(power), power > last);
            if !(tau > 0.0 && tau <= longest) || is_beyond && largest > threshold {
                break;
            }
            let Some((ahead, rates)) = ahead(field, (t, &x), &rates, forward * tau) else { break };
            let now = t + forward * tau;
            let moved = match functions.slope_at(field, event, (now, &ahead), &rates[..moving]) {
                // Simpson's rule; at the first τ the middle is taken to be the mean.
                Some(slope) => {
                    let start = first.unwrap_or(0.0);
                    let middle = if gone.is_empty() { 0.5 * (start + slope) } else { before };
                    before = slope;
                    forward * tau * (start + 4.0 * middle + slope) / 6.0
                }
                None => functions.value(field, event, now, &ahead) - value,
            };
            if is_beyond {
                let change = functions.value(field, event, now, &ahead) - value;
                let off = (change - moved).abs();
                if !(off <= threshold.max(FOLLOWS * moved.abs())) {
                    break;
                }
            }
            // So long a step does not follow the motion: no function grows as fast.
            if largest > threshold && !(moved.abs() <= STEEPEST * largest) {
                break;
            }
            if moved.abs() > largest {
                largest = moved.abs();
            }
            gone.push(moved);
        }
        if largest > threshold {
            let first = gone.iter().find(|g| g.abs() > COUNTS * largest);
            heading.side = first.map_or(0, |g| sign(*g));
        }
        heading
    }
}

/// A state ahead, and the rates there.
fn ahead(
    field: &mut dyn Problem,
    (t, x): (f64, &[f64]),
    k1: &[f64],
    h: f64,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let at = |k: &[f64], part: f64| -> Vec<f64> {
        x.iter().zip(k).map(|(x, k)| x + part * h * k).collect()
    };
    let mut rates = |part: f64, x: &[f64]| -> Option<Vec<f64>> {
        let mut k = vec![0.0; x.len()];
        field.rates(t + part * h, x, &mut k).ok()?;
        Some(k)
    };
    let k2 = rates(0.5, &at(k1, 0.5))?;
    let k3 = rates(0.5, &at(&k2, 0.5))?;
    let k4 = rates(1.0, &at(&k3, 1.0))?;
    let mean: Vec<f64> =
        (0..x.len()).map(|i| (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0).collect();
    let end = at(&mean, 1.0);
    let there = rates(1.0, &end)?;
    Some((end, there))
}
