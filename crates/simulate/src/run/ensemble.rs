//! The ends of many motions of one model.
//!
//! Steps at which nothing is to be decided are taken of several motions at once
//! ([`abreast`](crate::drive)); what else comes up in a motion is done by a
//! [`Traveller`](super::Traveller), and it goes on with the others. An end is the same to the bit
//! whatever motions are moved with it, and however many at once.
//!
//! Not for what a traveller is not for: events, charts, stiff motions.

use crate::drive::abreast::{Became, Ready, Traveling};
use crate::drive::{End, Statistics};
use crate::run::travel::{Traveller, own_state};
use crate::run::{Program, RunError, RunOptions};
use crate::setting::State;
use std::sync::Arc;

/// A motion that leaves is served for so many steps at first, and twice as many each time it
/// leaves again.
const SERVED: u64 = 8;
/// But not for more than two to the power of this times as many.
const MOST: u32 = 12;

/// What is compiled for the ends of many motions; threads may share it.
pub struct Ensemble {
    program: Program,
    options: RunOptions,
    /// None where all motions are moved one by one.
    ready: Option<Ready>,
    lanes: usize,
}

/// Moves many states to the end of a run, on one thread.
pub struct Worker {
    traveller: Traveller,
    ready: Option<Ready>,
    parameters: Arc<[f64]>,
    lanes: usize,
}

/// Threads may share an ensemble.
const _: fn() = || {
    fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Ensemble>();
};

/// Where a motion of an ensemble came to.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its number.
    pub id: usize,
    /// How it ended.
    pub end: End,
    /// When.
    pub t: f64,
    /// q and the velocities of the formulation.
    pub x: Vec<f64>,
    /// Steps, and those turned down.
    pub statistics: Statistics,
    /// How often it left the others.
    pub served: u32,
}

impl Program {
    /// An ensemble for runs as the options say; `None` where a run has more to do on the way.
    pub fn ensemble(&self, options: &RunOptions) -> Result<Option<Ensemble>, RunError> {
        let Some(mut traveller) = self.traveller(options)? else { return Ok(None) };
        let ready = traveller.abreast(self)?;
        let (program, options) = (self.clone(), options.clone());
        Ok(Some(Ensemble { program, options, ready, lanes: usize::MAX }))
    }
}

impl Ensemble {
    /// One who moves motions; `None` where a run has more to do on the way.
    pub fn worker(&self) -> Result<Option<Worker>, RunError> {
        let Some(traveller) = self.program.traveller(&self.options)? else { return Ok(None) };
        let parameters = self.program.field.constants().into();
        Ok(Some(Worker { traveller, ready: self.ready.clone(), parameters, lanes: self.lanes }))
    }

    /// Moves no more motions at once than this.
    pub fn set_lanes(&mut self, lanes: usize) {
        self.lanes = lanes.max(1);
    }

    /// Whether steps can be taken of several motions at once.
    pub fn is_abreast(&self) -> bool {
        self.ready.is_some()
    }
}

impl Worker {
    /// Moves states to the end. They are asked for one by one, as there is room; `took` is told
    /// of each when it is there, which need not be in their order.
    pub fn travel(
        &mut self,
        states: &mut dyn FnMut() -> Option<(usize, State)>,
        took: &mut dyn FnMut(Ended),
    ) {
        let Worker { traveller, ready, parameters, lanes } = self;
        let Traveller { setting, driver, end, own, .. } = traveller;
        let mut begin = || {
            let (id, state) = states()?;
            let mut x = Vec::new();
            own_state(setting, own.as_deref(), &state, &mut x);
            Some(Traveling {
                id,
                t: state.t,
                end: *end,
                x,
                parameters: parameters.clone(),
                sizes: [Vec::new(), Vec::new()],
                h: 0.0,
                steps: 0,
                rejected: 0,
                served: 0,
            })
        };
        let Some(ready) = ready else {
            while let Some(mut motion) = begin() {
                let ended = driver.serve(&mut motion, u64::MAX);
                took(told(motion, ended.unwrap_or(End::Interrupted)));
            }
            return;
        };
        ready.go(*lanes, &mut begin, &mut |became| {
            let mut motion = match became {
                Became::Arrived(motion) => {
                    took(told(motion, End::Finished));
                    return None;
                }
                Became::Leaves(motion) => motion,
            };
            let steps = SERVED << motion.served.min(MOST);
            match driver.serve(&mut motion, steps) {
                Some(end) => {
                    took(told(motion, end));
                    None
                }
                None => Some(motion),
            }
        });
    }
}

fn told(motion: Traveling, end: End) -> Ended {
    let Traveling { id, t, x, steps, rejected, served, .. } = motion;
    let statistics = Statistics { steps, rejected, ..Statistics::default() };
    Ended { id, end, t, x, statistics, served }
}
