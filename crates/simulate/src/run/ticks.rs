//! Events that happen in time: at t₀ + k T, k = 0, 1, 2, …, exactly.
//!
//! A run is driven from one of these times to the next, so that each is the end of a step.

use crate::setting::{Setting, Table};

/// The times of the events that happen in time.
pub(super) struct Ticks {
    /// Which event, and how often.
    periods: Vec<(usize, f64)>,
    start: f64,
    end: f64,
}

impl Ticks {
    /// Those of a model, from a time to another.
    pub fn new(setting: &Setting, happen: bool, start: f64, end: f64) -> Ticks {
        let all = setting.model.system.events.iter().enumerate();
        let table = Table::default();
        let periods = all
            .filter(|_| happen)
            .filter_map(|(at, event)| Some((at, setting.number(event.period?, &table))))
            .filter(|(_, period)| *period > 0.0 && period.is_finite())
            .collect();
        Ticks { periods, start, end }
    }

    /// The time of a tick, and of the one after it, next to a time.
    fn times(&self, period: f64, t: f64) -> [f64; 2] {
        let forward = if self.end >= self.start { 1.0 } else { -1.0 };
        let count = (forward * (t - self.start) / period).round();
        [count, count + 1.0].map(|k| self.start + forward * k * period)
    }

    /// Where the motion stops next: at a tick, or at its end.
    pub fn next(&self, t: f64) -> f64 {
        let forward = if self.end >= self.start { 1.0 } else { -1.0 };
        let later = |time: &f64| forward * (time - t) > 0.0;
        let all = self.periods.iter().flat_map(|p| self.times(p.1, t)).filter(later);
        all.fold(self.end, |first, time| if forward * (first - time) > 0.0 { time } else { first })
    }

    /// Events, and those that happen at this very time, in order of declaration.
    pub fn join(&self, t: f64, mut events: Vec<usize>) -> Vec<usize> {
        let now = self.periods.iter().filter(|p| self.times(p.1, t)[0] == t).map(|p| p.0);
        events.extend(now);
        events.sort_unstable();
        events.dedup();
        events
    }
}
