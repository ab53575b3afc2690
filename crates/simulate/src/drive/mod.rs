//! The driver: step sizes, projection, switches and output, for any integrator.
//!
//! Steps are accepted if the error estimate and the projection's correction are
//! below the tolerance, local error relative to the motion's own size in each component
//! (`scales`). Step sizes follow a PI
//! controller (Hairer & Wanner II, IV.2). After an accepted step the state is
//! projected onto the constraints; states between steps come from the dense output
//! and are projected too.

pub(crate) mod abreast;
mod charts;
pub mod dense;
mod events;
mod isolate;
mod narrow;
mod noise;
mod pass;
mod rows;
mod sample;
mod scales;
mod singular;
mod step_size;
mod stiffness;
mod switching;
mod tolerances;
pub mod words;

use crate::integrators::{self, Integrator, Problem, Stiffness};
use crate::phases::Fault;
use crate::points::impulse::ResetError;
use crate::program::field::{Feedback, Field, FieldError, FieldNoise};
use crate::program::projection::{Projection, RANK, Violation};
use dalembert_compile::enclosure::Enclosure;
use dalembert_gauss::outcome;
pub use dense::Dense;
pub use events::at_zero::{Open, Undecided};
use std::ops::ControlFlow;
pub use switching::departure::Stuck;
pub use switching::jump::{Jolt, Jumps};

pub(crate) use events::accumulation::Accumulation;
pub use events::functions::EventFunctions;
pub(crate) use events::functions::EventState;

pub use singular::change::{RankChange, Unresolved};

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
    /// Local error relative to the motion's own size in each component.
    pub tolerance: f64,
    /// A constant step instead.
    pub step: Option<f64>,
    /// How drift is held.
    pub stabilize: Stabilize,
    /// Most steps.
    pub most_steps: u64,
    /// Whether to end where the problem turns out to be stiff.
    pub leaves_when_stiff: bool,
    /// The time from the start to the end of the whole run.
    pub span: f64,
    /// The longest step.
    pub longest: Option<f64>,
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
    /// States at which units, ranks and verdict were decided.
    pub decisions: u64,
    /// Rates that went by a decision made before.
    pub frozen: u64,
    /// Rates for which they were decided once more.
    pub decided: u64,
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
    /// Rows nearly depend on each other, by more than rounding: left out they would be
    /// missed, taken they lose all their digits.
    NearlyDependent {
        /// The ratio of singular values.
        ratio: f64,
        /// The constraints.
        constraints: Vec<usize>,
    },
    /// The rank drops at a position from which the motion does not go on.
    Unresolved(RankChange),
    /// Steps became too small for the digits of time.
    StepTooSmall {
        /// The size.
        step: f64,
    },
    /// Switching functions turn again and again.
    SwitchesPileUp,
    /// Something jumps where a switch turns, and no motion leads across.
    Jump {
        /// What.
        what: Jumps,
        /// By how much.
        size: f64,
    },
    /// More steps than allowed.
    TooManySteps,
    /// Contacts and friction leave no phase, or several, to go on in.
    Phase(Fault),
    /// An event resets the state to what cannot be.
    Reset {
        /// Which event.
        event: usize,
        /// What is left of its equations and the constraints; NaN if they have no value.
        left: f64,
        /// The constraints that stand in the way.
        constraints: Vec<usize>,
    },
}

impl From<ResetError> for Failure {
    fn from(error: ResetError) -> Failure {
        let ResetError { event, left, constraints } = error;
        Failure::Reset { event, left, constraints }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// At its time.
    Finished,
    /// When it was asked to.
    Interrupted,
    /// A switch turns and both of its sides lead back: the motion sticks there.
    Sticks(Vec<Stuck>),
    /// The chart of the velocities is ill-conditioned; another serves from here on.
    ChartIllConditioned,
    /// At events, in order of declaration, which act before it goes on.
    Events(Vec<usize>),
    /// By an event.
    Stopped {
        /// Which.
        event: usize,
    },
    /// Where an event happens infinitely often.
    PiledUp {
        /// Which.
        event: usize,
        /// The time at which the events accumulate.
        t: f64,
    },
    /// It is stiff from here on, and was to end there.
    Stiff,
    /// It could not go on.
    Failed(Failure),
}

/// A state to be recorded.
pub struct Sample<'a> {
    /// Time.
    pub t: f64,
    /// (q, v, W).
    pub x: &'a [f64],
    /// Its rates, where they are known: at the ends of steps.
    pub rates: Option<&'a [f64]>,
    /// Whether it is one of the times asked for.
    pub is_output: bool,
    /// Whether it is the end of a step.
    pub is_step: bool,
    /// The energy that jumps in time have brought.
    pub jumped: f64,
}

/// A field on its way.
pub struct Driver {
    /// The rates.
    pub field: Field,
    /// Time.
    pub t: f64,
    /// (q, v, W).
    pub x: Vec<f64>,
    /// Counts.
    pub statistics: Statistics,
    /// What was left of the constraints at worst.
    pub violation: Violation,
    /// Smallest and largest rank seen.
    pub ranks: (usize, usize),
    integrator: Box<dyn Integrator>,
    projection: Box<Projection>,
    control: Control,
    /// Whether the constant step was not asked for, but chosen for a method without an estimate.
    chooses_step: bool,
    /// Step size for the next step.
    pub h: f64,
    /// The end of the pass.
    until: f64,
    last_error: f64,
    modes: Vec<f64>,
    /// For each switch that has just turned, how far its guards may be on the old side: the
    /// turn was found on a polynomial, and the state was projected.
    slack: Vec<f64>,
    /// How large guards were in the last steps.
    guard_sizes: Vec<f64>,
    /// The guards on intervals, once they were asked for; none where they have no such.
    guards: Option<Option<Enclosure>>,
    /// Switches the motion sticks at.
    stuck: Vec<usize>,
    is_backward: bool,
    /// Rate of feedback.
    rate: Option<f64>,
    /// Rank and verdict at the first state.
    expected: Option<(usize, outcome::Verdict)>,
    /// Whether positions are held by the rows of the motion; see [`rows`].
    is_one_choice: bool,
    /// Whether the rows were chosen ahead of a pass.
    is_prepared: bool,
    events: Option<EventFunctions>,
    /// How many steps looked stiff, and how many since then did not.
    looks: (u32, u32),
    /// Where it was found to be stiff.
    pub stiff: Option<(f64, Stiffness)>,
    /// Noise of the terms from rounding alone.
    rounding: FieldNoise,
    /// Changes of rank so far.
    pub rank_changes: Vec<RankChange>,
    crossings: singular::cross::Crossings,
    /// The length of a first step.
    first: f64,
    /// The length of the run, for what is looked at beyond a step.
    longest: f64,
    /// Events at zero that the motion did not decide.
    pub undecided: Vec<Undecided>,
    /// Impulses of constraints whose velocities jump in time.
    pub jolts: Vec<Jolt>,
    /// The energy that jumps in time have brought.
    pub jumped: f64,
    scales: scales::Scales,
    look: narrow::Look,
    /// The motion between outputs, if it is to be kept.
    pub(crate) dense: Option<Dense>,
    /// After so many steps it ends as soon as nothing is pending.
    pub(crate) lent: Option<u64>,
}

/// What is left where there was no projection at all.
const UNHELD: Violation =
    Violation { position: f64::INFINITY, velocity: f64::INFINITY, unused: 0.0 };
/// So many steps below a billionth of the run are a standstill.
const STANDSTILL: u32 = 3000;
impl Driver {
    /// A driver from a state.
    pub fn new(
        field: Field,
        integrator: Box<dyn Integrator>,
        control: Control,
        t: f64,
        x: Vec<f64>,
    ) -> Driver {
        Driver {
            field,
            t,
            x,
            statistics: Statistics::default(),
            violation: Violation::default(),
            ranks: (usize::MAX, 0),
            integrator,
            projection: Box::default(),
            control,
            chooses_step: false,
            h: 0.0,
            until: t,
            last_error: 1e-4,
            modes: Vec::new(),
            slack: Vec::new(),
            guard_sizes: Vec::new(),
            guards: None,
            stuck: Vec::new(),
            is_backward: false,
            rate: None,
            expected: None,
            is_one_choice: true,
            is_prepared: false,
            events: None,
            looks: (0, 0),
            stiff: None,
            rounding: FieldNoise::default(),
            rank_changes: Vec::new(),
            crossings: singular::cross::Crossings::default(),
            first: 0.0,
            longest: f64::INFINITY,
            undecided: Vec::new(),
            jolts: Vec::new(),
            jumped: 0.0,
            scales: scales::Scales::default(),
            look: narrow::Look::default(),
            dense: None,
            lent: None,
        }
    }

    /// Goes back to a state, as if nothing had been moved. The rows that were chosen are kept if
    /// they would be chosen there again.
    pub fn restart(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.x.clear();
        self.x.extend_from_slice(x);
        self.statistics = Statistics::default();
        self.violation = Violation::default();
        self.ranks = (usize::MAX, 0);
        (self.h, self.last_error) = (0.0, 1e-4);
        if std::mem::take(&mut self.chooses_step) {
            self.control.step = None;
        }
        self.modes.clear();
        self.slack.clear();
        self.guard_sizes.clear();
        self.stuck.clear();
        self.rate = None;
        (self.looks, self.stiff) = ((0, 0), None);
        self.rank_changes.clear();
        self.forget_crossings();
        self.undecided.clear();
        self.jolts.clear();
        self.jumped = 0.0;
        self.scales.restart();
        self.is_prepared = self.expected.is_some();
    }

    /// Forgets all motions so far, with a field that has not moved yet: nothing that was learned of
    /// them is there for the next.
    pub(crate) fn renew(&mut self, field: Field) {
        let size = field.state_length();
        if let Some(integrator) = integrators::by_name(self.integrator.name(), size) {
            self.integrator = integrator;
        }
        self.field = field;
        self.look = narrow::Look::default();
        self.prepare_guards();
        *self.projection = Projection::default();
        (self.expected, self.is_one_choice) = (None, true);
        self.rounding = FieldNoise::default();
        self.crossings = singular::cross::Crossings::default();
    }

    /// Hands the parameters to the guards of branches.
    fn prepare_guards(&mut self) {
        let constants = self.field.constants();
        self.guards.iter_mut().flatten().for_each(|guards| guards.prepare(constants));
    }

    /// Goes on with another integrator.
    pub fn change_integrator(&mut self, integrator: Box<dyn Integrator>) {
        self.integrator = integrator;
        self.control.leaves_when_stiff = false;
        self.last_error = 1e-4;
    }

    /// The constant step, if there is one.
    pub fn constant_step(&self) -> Option<f64> {
        self.control.step
    }

    /// Moves to `end`, calling `record` at each time of `outputs` (in order, on the
    /// way) and at each step.
    pub fn run(
        &mut self,
        end: f64,
        outputs: &[f64],
        record: &mut dyn FnMut(&mut Field, Sample<'_>) -> ControlFlow<()>,
    ) -> End {
        match self.drive(end, outputs, record) {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        }
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
}
