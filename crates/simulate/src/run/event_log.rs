//! What events did on a run, in order, and whether they pile up.

use crate::drive::{End, Failure};
use crate::program::observer::Observation;
use crate::run::{Journey, RunError};
use crate::setting::State;
use dalembert_model::system::Action;

/// An event that happened.
#[derive(Clone, Debug)]
pub struct Happening {
    /// When.
    pub t: f64,
    /// Which of the model's events.
    pub event: usize,
    /// The state before and after, if it changed it.
    pub change: Option<Box<(State, State)>>,
    /// By how much the energy changed.
    pub energy: f64,
}

/// Intervals between an event that must shrink before it is said to pile up.
const SHRINKING: usize = 5;
/// So many times of one event within the resolution of time are one time.
const CROWD: usize = 256;

/// The times at which each event has reset the state.
#[derive(Clone, Debug, Default)]
pub struct Rhythm {
    times: Vec<Vec<f64>>,
}

impl Rhythm {
    /// Adds a time of an event, and tells when its events accumulate if they do within
    /// `resolution` from there. Events that reset nothing (`acts` is false) follow those
    /// that do, and end no run unless they are many at one time.
    ///
    /// A ball that keeps the part r of its speed bounces after intervals d, d r, d r², …,
    /// which add up to d/(1 − r). If the last intervals all shrink, the rest of the sum is
    /// extrapolated from the last two; when it is below the resolution, the run is as near
    /// to the accumulation as times can tell.
    pub fn beat(&mut self, event: usize, t: f64, acts: bool, resolution: f64) -> Option<f64> {
        if self.times.len() <= event {
            self.times.resize(event + 1, Vec::new());
        }
        let times = &mut self.times[event];
        times.push(t);
        if times.len() > CROWD {
            times.remove(0);
            if (t - times[0]).abs() <= resolution {
                return Some(t);
            }
        }
        if !acts {
            return None;
        }
        let last: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let last = last.get(last.len().checked_sub(SHRINKING)?..)?;
        if !last.windows(2).all(|pair| pair[1] < pair[0]) {
            return None;
        }
        let (before, now) = (last[SHRINKING - 2], last[SHRINKING - 1]);
        let rest = now * now / (before - now);
        let forward = (times[times.len() - 1] - times[0]).signum();
        (rest <= resolution).then_some(t + forward * rest)
    }

    /// When the events of one accumulate, by its last intervals; `t` if these say nothing.
    pub fn limit(&self, event: usize, t: f64) -> f64 {
        let Some([a, b, c]) = self.times.get(event).and_then(|times| times.last_chunk()) else {
            return t;
        };
        let (before, now) = (b - a, c - b);
        let rest = now * now / (before - now);
        let is_small = rest.is_finite() && rest * now >= 0.0 && rest.abs() <= now.abs() * 1e3;
        if is_small { c + rest } else { t }
    }
}

/// Events accumulate when the rest of their times is below this part of the time.
const RESOLUTION: std::ops::RangeInclusive<f64> = 1e-11..=1e-9;

impl Journey<'_> {
    /// Lets events act at the driver's state, in order, each on the state after the former,
    /// and then those that happen because of that.
    /// `see` is given the state before and after a change, the former unless it was
    /// `recorded` already. Returns how the run ends, if it ends here.
    pub(crate) fn happen(
        &mut self,
        events: &[usize],
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Option<End>, RunError> {
        let system = &self.setting.model.system;
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
                let mut happening = Happening { t, event, change: None, energy: 0.0 };
                match (&system.events[event].action, &self.impulses) {
                    (Action::Reset(_), Some(impulses)) => {
                        if !moved && is_new {
                            see(&now);
                        }
                        moved = true;
                        let after = match impulses.after(event, &now.state, &now.table(system)) {
                            Ok(after) => after,
                            Err(error) => {
                                self.happenings.push(happening);
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
                        happening.energy = now.energy - before.energy;
                        happening.change = Some(Box::new((before.state, now.state.clone())));
                    }
                    (Action::Stop, _) => stopped = Some(event),
                    _ => {}
                }
                self.happenings.push(happening);
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
                if let Some(t) = self.rhythm.beat(event, t, acts, part * length) {
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
            events = match self.driver.rearm(&happened, moved.then_some(&x[..])) {
                Ok(events) => events,
                Err(failure) => return Ok(Some(End::Failed(failure))),
            };
            if moved && self.driver.is_worn() {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// t = 1 + Σ 0.7ᵏ, which accumulates at 1 + 1/0.3.
    #[test]
    fn geometric_times_accumulate() {
        let mut rhythm = Rhythm::default();
        let (mut t, mut d) = (1.0, 1.0);
        let limit = 1.0 + 1.0 / 0.3;
        for count in 0..200 {
            if let Some(found) = rhythm.beat(0, t, true, 1e-9) {
                assert!((found - limit).abs() < 1e-13 && (t - limit).abs() < 2e-9, "{found} {t}");
                assert!((40..80).contains(&count));
                return;
            }
            t += d;
            d *= 0.7;
        }
        panic!("not noticed");
    }

    /// Regular times do not, nor do harmonic ones, however small the intervals.
    #[test]
    fn other_times_do_not() {
        let mut rhythm = Rhythm::default();
        for k in 0..2000 {
            assert_eq!(rhythm.beat(0, f64::from(k) * 1e-4, true, 1e-9), None);
        }
        let mut t = 0.0;
        for k in 1..2000 {
            t += 1e-3 / f64::from(k);
            assert_eq!(rhythm.beat(1, t, true, 1e-9), None);
        }
    }

    /// Times that crowd without a rhythm end too.
    #[test]
    fn a_crowd_is_one_time() {
        let mut rhythm = Rhythm::default();
        let found =
            (0..1000).find_map(|k| rhythm.beat(0, 1.0 + 1e-15 * f64::from(k % 7), false, 1e-9));
        assert!(found.is_some());
    }
}
