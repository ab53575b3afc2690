//! What events did on a run, in order.

use crate::drive::{Accumulation, Driver, End, Failure};
use crate::points::impulse::Impulses;
use crate::program::observer::{Observation, Observer};
use crate::setting::{Setting, State};
use dalembert_model::system::Action;

/// An event that happened.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// When.
    pub t: f64,
    /// Which of the model's events.
    pub event: usize,
    /// The state before and after, if it changed it.
    pub change: Option<Box<(State, State)>>,
    /// By how much the energy changed.
    pub energy: f64,
}

/// Events accumulate when the rest of their times is below this part of the time.
const RESOLUTION: std::ops::RangeInclusive<f64> = 1e-11..=1e-9;

/// What events act on: a driver at its state, and what is kept of them.
pub(crate) struct Acting<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) driver: &'a mut Driver,
    pub(crate) observer: &'a mut Observer,
    pub(crate) impulses: Option<&'a Impulses>,
    pub(crate) log: &'a mut Vec<EventRecord>,
    pub(crate) accumulation: &'a mut Accumulation,
    /// The end of the run, and its tolerance.
    pub(crate) end: f64,
    pub(crate) tolerance: f64,
}

/// Events at one time that are still to act.
pub(crate) struct Pending {
    pub(crate) events: Vec<usize>,
    now: Observation,
    /// Whether the state was not told yet.
    is_new: bool,
}

impl Acting<'_> {
    /// Events at the driver's state; `recorded` is the time of the last state that was told.
    pub(crate) fn begin(&mut self, events: &[usize], recorded: f64) -> Result<Pending, Failure> {
        let (now, is_new) = (self.observe()?, recorded != self.driver.t);
        Ok(Pending { events: events.to_vec(), now, is_new })
    }

    /// Lets them act, in order, each on the state after the former; those that happen because of
    /// that are pending then. `see` is given the state before and after a change, the former unless
    /// it was told already. Returns whether the state changed, or how the run ends if it ends here.
    pub(crate) fn act(
        &mut self,
        pending: &mut Pending,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<bool, End> {
        let failed = End::Failed;
        let model = std::sync::Arc::clone(&self.setting.model);
        let system = &model.system;
        let t = self.driver.t;
        let x = self.driver.x.clone();
        let (mut moved, mut stopped) = (false, None);
        let mut happened = Vec::new();
        // Where the motion goes after each reset.
        let mut headings: Vec<(usize, i8)> = Vec::new();
        let Pending { events, now, is_new } = pending;
        for &event in &*events {
            if moved && !self.driver.still_happens(event) {
                continue;
            }
            happened.push(event);
            let mut record = EventRecord { t, event, change: None, energy: 0.0 };
            match (&system.events[event].action, self.impulses) {
                (Action::Reset(_), Some(impulses)) => {
                    if !moved && *is_new {
                        see(now);
                    }
                    moved = true;
                    let after = match impulses.after(event, &now.state, &now.table(system)) {
                        Ok(after) => after,
                        Err(error) => {
                            self.log.push(record);
                            return Err(failed(error.into()));
                        }
                    };
                    let placed = self.place(&after, now.energy).map_err(failed)?;
                    let before = std::mem::replace(now, placed);
                    if events.len() > 1 {
                        headings.push((event, self.driver.heading(event).side));
                    }
                    record.energy = now.energy - before.energy;
                    record.change = Some(Box::new((before.state, now.state.clone())));
                }
                (Action::Stop, _) => stopped = Some(event),
                _ => {}
            }
            self.log.push(record);
            if stopped.is_some() {
                break;
            }
        }
        if moved || (stopped.is_some() && *is_new) {
            see(now);
        }
        *is_new = false;
        if let Some(event) = stopped {
            return Err(End::Stopped { event });
        }
        let length = (self.end - t).abs().max(t.abs());
        let part = self.tolerance.clamp(*RESOLUTION.start(), *RESOLUTION.end());
        for &event in &happened {
            let acts = matches!(system.events[event].action, Action::Reset(_));
            if let Some(t) = self.accumulation.add(event, t, acts, part * length) {
                return Err(End::PiledUp { event, t });
            }
        }
        // Those that a later reset has turned back on themselves may happen again.
        for (event, side) in headings {
            let from = self.driver.side_of(event);
            if side != -from && from != 0 && self.driver.heading(event).side == -from {
                happened.retain(|&other| other != event);
            }
        }
        let next = self.driver.after_events(&happened, moved.then_some(&x[..]));
        *events = next.map_err(failed)?;
        Ok(moved)
    }

    fn observe(&mut self) -> Result<Observation, Failure> {
        let (t, x) = (self.driver.t, self.driver.x.clone());
        self.observer.observe(&mut self.driver.field, t, &x).map_err(Failure::Field)
    }

    /// Puts the driver at a state. The change of energy joins the work done so far.
    fn place(&mut self, state: &State, energy: f64) -> Result<Observation, Failure> {
        let system = &self.setting.model.system;
        let own = &self.driver.field.equations.own;
        let velocities = self.setting.numbers(own, &state.table(system));
        let work = self.driver.x.last().copied().unwrap_or(0.0);
        let mut x = state.q.clone();
        x.extend(velocities);
        x.push(work);
        self.driver.place(x)?;
        let mut observation = self.observe()?;
        let jump = observation.energy - energy;
        if let Some(work) = self.driver.x.last_mut() {
            *work += jump;
        }
        observation.work += jump;
        Ok(observation)
    }
}
