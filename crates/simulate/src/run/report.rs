//! What a run came to: how it ended, what it counted, how far it went, and its certificate.

use crate::drive::{Dense, End, Jolt, Statistics, Undecided};
use crate::points::start::Start;
use crate::program::observer::Observation;
use crate::run::certificate::Certificate;
use crate::run::event_log::EventRecord;
use crate::run::going::PhaseReport;
use crate::run::method::Choice;
use crate::run::verify::Verification;
use crate::setting::State;
use dalembert_derive::Variables;

/// How long the stages took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Deriving the equations.
    pub derive: f64,
    /// Compiling them.
    pub compile: f64,
    /// Integrating.
    pub integrate: f64,
}

/// What a run came to.
#[non_exhaustive]
pub struct RunReport {
    /// How it ended.
    pub end: End,
    /// The last state, if it can be observed.
    pub last: Option<Observation>,
    /// Where it came to, also where nothing can be observed any more.
    pub stopped: State,
    /// Counts.
    pub statistics: Statistics,
    /// Evaluations of the rates.
    pub evaluations: u64,
    /// Times.
    pub seconds: Seconds,
    /// The certificate.
    pub certificate: Certificate,
    /// The start.
    pub start: Start,
    /// The integrator.
    pub method: &'static str,
    /// Why it was this one.
    pub choice: Choice,
    /// The formulation.
    pub formulation: &'static str,
    /// What its own velocities are.
    pub variables: Variables,
    /// How often the chart was changed.
    pub charts: u32,
    /// The tolerance.
    pub tolerance: f64,
    /// The largest |λ| of each constraint at the outputs, and when; NaN where it was
    /// never unique.
    pub largest_multipliers: Vec<(f64, f64)>,
    /// The events that happened, in order.
    pub event_log: Vec<EventRecord>,
    /// Events that were zero where the motion did not decide whether they happen.
    pub undecided: Vec<Undecided>,
    /// Impulses of constraints whose velocities jump in time.
    pub jolts: Vec<Jolt>,
    /// How far it went, coordinate by coordinate.
    pub sizes: Sizes,
    /// How far off it may be, if that was estimated.
    pub error: Verification,
    /// The motion between outputs, if it was to be kept.
    pub dense: Option<Dense>,
    /// What contacts and friction did, if there are any.
    pub phases: Option<PhaseReport>,
}

/// The sizes of a motion, coordinate by coordinate.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// The largest |q − q₀|.
    pub travel: Vec<f64>,
    /// The largest |q|.
    pub position: Vec<f64>,
    /// The largest |q̇|.
    pub speed: Vec<f64>,
    /// M_ii at the end.
    pub mass: Vec<f64>,
    /// What rounding errors of the forces do to each q̈, where these balance at the start and at
    /// the end; 0 elsewhere.
    pub rest: Vec<f64>,
}

impl Sizes {
    pub(super) fn new(q: &[f64]) -> Sizes {
        let zero = vec![0.0; q.len()];
        Sizes {
            travel: zero.clone(),
            position: zero.clone(),
            speed: zero.clone(),
            mass: zero.clone(),
            rest: zero,
        }
    }

    pub(super) fn see(&mut self, first: &[f64], x: &[f64], rates: &[f64]) {
        for (i, first) in first.iter().enumerate() {
            self.travel[i] = self.travel[i].max((x[i] - first).abs());
            self.position[i] = self.position[i].max(x[i].abs());
            // Where velocities are given, states have none.
            self.speed[i] = self.speed[i].max(rates.get(i).map_or(0.0, |rate| rate.abs()));
        }
    }
}

impl RunReport {
    /// The energy that events added.
    pub fn energy_of_events(&self) -> f64 {
        self.event_log.iter().fold(0.0, |sum, h| sum + h.energy)
    }

    /// `pass`, or what failed.
    pub fn verdict(&self) -> Result<(), Vec<String>> {
        let mut failed = self.certificate.verdict(self.tolerance).err().unwrap_or_default();
        match self.end {
            End::Failed(_) => failed.insert(0, "the run ended early".to_owned()),
            End::Interrupted => failed.insert(0, "the run was interrupted".to_owned()),
            _ => failed.extend(self.error.fault()),
        }
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}

/// Keeps the largest of each multiplier.
pub(super) fn keep_largest(largest: &mut Vec<(f64, f64)>, observation: &Observation) {
    largest.resize(observation.multipliers.len(), (f64::NAN, f64::NAN));
    let unique = observation.multipliers.iter().zip(&observation.indeterminate);
    for (own, (value, _)) in largest.iter_mut().zip(unique).filter(|(_, (_, open))| !**open) {
        if !(value.abs() <= own.0) {
            *own = (value.abs(), observation.state.t);
        }
    }
}
