//! What events did on a run, in order.

use crate::drive::{End, Failure};
use crate::program::observer::Observation;
use crate::run::{RunError, Simulation};
use crate::setting::State;
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

impl Simulation<'_> {
    /// Lets events act at the driver's state, in order, each on the state after the former,
    /// and then those that happen because of that.
    /// `see` is given the state before and after a change, the former unless it was
    /// `recorded` already. Returns how the run ends, if it ends here.
    pub(crate) fn act(
        &mut self,
        events: &[usize],
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Option<End>, RunError> {
        let model = std::sync::Arc::clone(&self.setting.model);
        let system = &model.system;
        let t = self.driver.t;
        let mut now = match self.observe() {
            Ok(observation) => observation,
            Err(failure) => return Ok(Some(End::Failed(failure))),
        };
        let mut is_new = recorded != t;
        let mut events = events.to_vec();
        // What some of them change may make others happen at the same time.
        while !events.is_empty() {
            let x = self.driver.x.clone();
            let (mut moved, mut stopped) = (false, None);
            let mut happened = Vec::new();
            // Where the motion goes after each reset.
            let mut headings: Vec<(usize, i8)> = Vec::new();
            for &event in &events {
                if moved && !self.driver.still_happens(event) {
                    continue;
                }
                happened.push(event);
                let mut record = EventRecord { t, event, change: None, energy: 0.0 };
                match (&system.events[event].action, &self.impulses) {
                    (Action::Reset(_), Some(impulses)) => {
                        if !moved && is_new {
                            see(&now);
                        }
                        moved = true;
                        let after = match impulses.after(event, &now.state, &now.table(system)) {
                            Ok(after) => after,
                            Err(error) => {
                                self.event_log.push(record);
                                return Ok(Some(End::Failed(error.into())));
                            }
                        };
                        let before = now;
                        now = match self.place(&after, before.energy) {
                            Ok(observation) => observation,
                            Err(failure) => return Ok(Some(End::Failed(failure))),
                        };
                        if events.len() > 1 {
                            headings.push((event, self.driver.heading(event).side));
                        }
                        record.energy = now.energy - before.energy;
                        record.change = Some(Box::new((before.state, now.state.clone())));
                    }
                    (Action::Stop, _) => stopped = Some(event),
                    _ => {}
                }
                self.event_log.push(record);
                if stopped.is_some() {
                    break;
                }
            }
            if moved || (stopped.is_some() && is_new) {
                see(&now);
            }
            is_new = false;
            if let Some(event) = stopped {
                return Ok(Some(End::Stopped { event }));
            }
            let length = (self.options.end - t).abs().max(t.abs());
            let part = self.options.tolerance.clamp(*RESOLUTION.start(), *RESOLUTION.end());
            for &event in &happened {
                let acts = matches!(system.events[event].action, Action::Reset(_));
                if let Some(t) = self.accumulation.add(event, t, acts, part * length) {
                    return Ok(Some(End::PiledUp { event, t }));
                }
            }
            // Those that a later reset has turned back on themselves may happen again.
            for (event, side) in headings {
                let from = self.driver.side_of(event);
                if side != -from && from != 0 && self.driver.heading(event).side == -from {
                    happened.retain(|&other| other != event);
                }
            }
            events = match self.driver.after_events(&happened, moved.then_some(&x[..])) {
                Ok(events) => events,
                Err(failure) => return Ok(Some(End::Failed(failure))),
            };
            if moved && self.driver.chart_is_ill_conditioned() {
                self.change_chart()?;
            }
        }
        Ok(None)
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
