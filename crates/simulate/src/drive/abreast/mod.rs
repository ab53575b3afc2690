//! Motions moved abreast: one in each lane of a vector, each with its own time and step.
//!
//! Most steps of most motions are alike: nothing is to be decided, no constraint comes near
//! another, the series are long enough. Such steps are taken here, of as many motions at once as
//! there are lanes, and of one alone by the same code:
//!
//! ```text
//! expand    the series at (t, q, v), with v̇, λ and S there
//! length    by the last two terms, in the weights of the driver
//! evaluate  q, v and their rates at the end
//! hold      δq = −S_b φ ,   δv = −S_b ψ
//! rate      v̇, λ and S at the end, with the pivots watched
//! judge     corrections and rates at the end against the weights
//! ```
//!
//! Where something else is to be done a motion *leaves*, with the state that it had before the
//! step: it is served by the driver, step by step, and may come back. When it leaves depends on
//! nothing but itself, and every lane's operations are the same whatever the others are; so a
//! motion has the same bits in any company, and alone.
//!
//! The decision (order of coordinates and rows, units) is that of the model's own start for all
//! motions; where it does not serve, as the pivots tell, a motion leaves. So it does ahead of singular
//! positions: with the distance σ of rows from each other going to 0, entries of S grow as 1/σ², and
//! their growth in the last step, or in a glance ahead of a first one, tells how far that is. The
//! driver crosses it. What is lost so late that a step ahead does not show it would be crossed on the
//! motion's own series, which converge there, and not told.
//!
//! Events and turns of branches are the driver's as well: a motion leaves ahead of each ([`guards`]). So it does
//! ahead of what its series do not show ([`unseen`]).

mod engine;
mod group;
mod guards;
mod length;
mod unseen;
mod weights;

pub(in crate::drive) use weights::{Measure, Measures};

use self::engine::{Engine, Many, One};
use self::group::Group;
use super::{Accumulation, Driver, EventState, Stabilize};
use crate::integrators::Needs;
use crate::integrators::taylor::{self, MEANT};
use crate::program::field::{Abreast, FieldError};
use crate::program::projection::Violation;
use crate::setting::{Setting, State};
use dalembert_compile::series::{SeriesCode, Wide};
use std::sync::Arc;

/// What a step costs beside series and terms, in operations.
const STEP: f64 = 700.0;
/// Orders that are looked at.
const ORDERS: std::ops::RangeInclusive<usize> = 6..=36;

/// Up to so many instructions of the terms one motion alone is moved so too.
const ALONE: usize = 8000;

/// A number of each motion.
type Lane<const W: usize> = [f64; W];

/// A number of each lane. Not by functions of the library: what is not inlined is not compiled for
/// the processor's instructions.
#[inline(always)]
fn each<const W: usize>(f: impl Fn(usize) -> f64) -> Lane<W> {
    let mut all = [0.0; W];
    for (lane, place) in all.iter_mut().enumerate() {
        *place = f(lane);
    }
    all
}

/// What is compiled for motions abreast at a tolerance: shared by threads.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(super) parts: Arc<Abreast>,
    pub(super) measures: Arc<Measures>,
    pub(super) order: usize,
    /// What is meant of the last term and of the one before, in units of what is allowed.
    meant: [f64; 2],
    code: Arc<Option<SeriesCode>>,
    /// For four and for eight at once; none where there is no code for it.
    four: Option<Arc<Wide<4>>>,
    eight: Option<Arc<Wide<8>>>,
    most_steps: u64,
    /// Whether time is in the forces or the constraints: what does not move may be moved later.
    is_timed: bool,
}

/// A motion to be moved.
#[derive(Clone)]
pub(crate) struct Traveling {
    /// Its number.
    pub(crate) id: usize,
    pub(crate) t: f64,
    pub(crate) end: f64,
    /// q and v.
    pub(crate) x: Vec<f64>,
    pub(crate) parameters: Arc<[f64]>,
    /// The same with what they are parameters of, where they are its own.
    pub(crate) setting: Option<Setting>,
    /// Whether it may be moved abreast at all.
    pub(crate) is_quiet: bool,
    /// Where positions began, and how far each component has been; empty at the start.
    pub(crate) sizes: [Vec<f64>; 2],
    /// The last step; 0 at the start.
    pub(crate) h: f64,
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    /// How often it was served.
    pub(crate) served: u32,
    /// Steps abreast since it came, and whether it left because of what it is to meet.
    pub(crate) abreast: u64,
    pub(crate) meets: bool,
    /// How often it did not pay to come back, less how often it did.
    pub(crate) stays: u32,
    /// Where its events stand; none at the start.
    pub(crate) events: Option<EventState>,
    /// When events happened, and which.
    pub(crate) happened: Vec<(f64, usize)>,
    pub(crate) accumulation: Accumulation,
    /// Singular positions that the driver has crossed with it.
    pub(crate) crossed: usize,
    /// The energy that events and jumps in time have brought.
    pub(crate) jumped: f64,
    /// Where it began, for what is searched for beside v.
    pub(crate) guess: State,
}

/// The order that is soonest at the end, by counted operations: ends are all that is asked for here.
fn soonest(parts: &Abreast, tolerance: f64) -> usize {
    let fixed = STEP + 2.0 * parts.instructions as f64 + parts.series.cost_of_values();
    taylor::soonest(tolerance, ORDERS, |order| fixed + parts.series.cost(order - 1))
}

/// What is told of motions; it may give back one that left.
pub(crate) type Took<'a> = dyn FnMut(Became) -> Option<Traveling> + 'a;

/// What becomes of a motion.
pub(crate) enum Became {
    /// It is at its end.
    Arrived(Traveling),
    /// It needs the driver.
    Leaves(Traveling),
}

impl Driver {
    /// What is compiled for motions abreast, with the decision and the sizes of the state at hand;
    /// none where steps need more than they have.
    pub(crate) fn abreast(&mut self) -> Option<Ready> {
        let control = &self.control;
        let is_plain = self.integrator.needs() == Needs::Series
            && control.step.is_none()
            && control.longest.is_none()
            && control.stabilize == Stabilize::Projection
            && self.dense.is_none();
        if !is_plain {
            return None;
        }
        let most_steps = control.most_steps;
        self.settle_branches().ok()?;
        self.prepare();
        let (functions, events) = match &self.events {
            Some(events) => (events.watched()?.to_vec(), events.count()),
            None => (Vec::new(), 0),
        };
        let parts = self.field.abreast(&functions, events)?;
        Some(Ready::new(parts, self.measures()?, most_steps, self.is_timed()))
    }

    /// What is left of the constraints at the state at hand, and the rank there.
    pub(crate) fn left_of_rows(&mut self, x: &[f64]) -> Result<(Violation, usize), FieldError> {
        let rank = self.field.outcome().rank.jacobian;
        let left = self.projection.violation(&mut self.field, self.t, x)?;
        Ok((left, rank))
    }

    /// About the kinetic energy that velocities of such sizes have, by the metric at hand.
    pub(crate) fn kinetic_energy(&mut self, speeds: &[f64]) -> f64 {
        let x = self.x.clone();
        let metric = self.metric_diagonal(&x).unwrap_or_default();
        0.5 * metric.iter().zip(speeds).map(|(g, v)| g * v * v).sum::<f64>()
    }

    /// Takes a motion up where it is, for so many steps or to its end.
    pub(crate) fn take_up(&mut self, motion: &mut Traveling, steps: u64) {
        if self.field.constants() != &*motion.parameters {
            let symbols = self.field.setting().constants().0;
            self.set_values(&symbols, &motion.parameters, true);
        }
        motion.x.push(0.0);
        if motion.steps == 0 {
            self.field.guess(&motion.guess);
        }
        self.restart(motion.t, &motion.x);
        self.h = motion.h;
        let [origin, own] = &motion.sizes;
        self.scales.resume(origin, own);
        self.set_way((false, 0.0, f64::INFINITY));
        self.lent = Some(steps).filter(|steps| motion.is_quiet && *steps < u64::MAX);
    }

    /// Gives it back as it is now.
    pub(crate) fn put_down(&mut self, motion: &mut Traveling) {
        self.lent = None;
        motion.t = self.t;
        motion.x.clear();
        motion.x.extend_from_slice(&self.x[..self.x.len() - 1]);
        motion.sizes = self.scales.so_far();
        motion.h = self.h;
        motion.steps += self.statistics.steps;
        motion.rejected += self.statistics.rejected;
        motion.events = self.event_state();
        motion.jumped += self.jumped;
        motion.crossed += self.rank_changes.len();
        motion.served += 1;
        (motion.abreast, motion.meets) = (0, false);
    }
}

/// Moves motions.
pub(crate) trait Moves: Send {
    /// Moves motions until there are none: `next` gives them, `took` is told what becomes of each,
    /// and may give back one that left.
    fn go(&mut self, next: &mut dyn FnMut() -> Option<Traveling>, took: &mut Took<'_>);
}

impl Ready {
    pub(in crate::drive) fn new(
        parts: Abreast,
        measures: Measures,
        most_steps: u64,
        is_timed: bool,
    ) -> Ready {
        let soonest = soonest(&parts, measures.tolerance);
        // What comes in time need not show in the series of a state: steps over it are as long as
        // those of a run.
        let order =
            if is_timed { soonest.min(taylor::order_of(measures.tolerance)) } else { soonest };
        let ratio = measures.tolerance.powf(1.0 / (order - 1) as f64).min(0.5);
        let meant = MEANT * (1.0 - ratio) / ratio;
        let code = Arc::new(parts.series.assemble(order + 1, order - 1));
        let (parts, measures) = (Arc::new(parts), Arc::new(measures));
        let meant = [meant, meant / ratio];
        let (four, eight) = (None, None);
        Ready { parts, measures, order, meant, code, four, eight, most_steps, is_timed }
    }

    /// The same with code for several motions at once, up to so many.
    pub(crate) fn side_by_side(mut self, lanes: usize) -> Ready {
        let (series, order) = (&self.parts.series, self.order);
        if lanes >= 8 {
            self.eight = Wide::new(series, order + 1, order - 1).map(Arc::new);
        } else if lanes >= 4 {
            self.four = Wide::new(series, order + 1, order - 1).map(Arc::new);
        }
        self
    }

    /// Whether one motion alone is sooner at its end so: the inverse of large matrices is found
    /// sooner by blocks than by instructions.
    pub(crate) fn pays_alone(&self) -> bool {
        self.parts.instructions <= ALONE
    }

    /// Whether there are rows that follow from others and are not in use.
    pub(crate) fn has_unused(&self) -> bool {
        !self.parts.unused.is_empty()
    }

    /// One who moves motions.
    pub(crate) fn mover(&self) -> Box<dyn Moves> {
        let (parts, order) = (&self.parts, self.order);
        if let Some(eight) = &self.eight {
            return Box::new(Group::new(self, Many::new(parts, eight, order)));
        }
        match &self.four {
            Some(four) => Box::new(Group::new(self, Many::new(parts, four, order))),
            None => Box::new(Group::new(self, One::new(parts, &self.code, order))),
        }
    }
}
