//! Events that happen infinitely often in a finite time, such as those of a ball that bounces.

/// Intervals between an event that must shrink before it is said to pile up.
const SHRINKING: usize = 5;
/// So many times of one event within the resolution of time are one time.
const CROWD: usize = 256;

/// The times at which each event has reset the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accumulation {
    times: Vec<Vec<f64>>,
}

impl Accumulation {
    /// Adds a time of an event, and tells when its events accumulate if they do within
    /// `resolution` from there. Events that reset nothing (`acts` is false) follow those
    /// that do, and end no run unless they are many at one time.
    ///
    /// A ball that keeps the part r of its speed bounces after intervals d, d r, d r², …,
    /// which add up to d/(1 − r). If the last intervals all shrink, the rest of the sum is
    /// extrapolated from the last two; when it is below the resolution, the run is as near
    /// to the accumulation as times can tell.
    pub(crate) fn add(&mut self, event: usize, t: f64, acts: bool, resolution: f64) -> Option<f64> {
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
    pub(crate) fn limit(&self, event: usize, t: f64) -> f64 {
        let Some([a, b, c]) = self.times.get(event).and_then(|times| times.last_chunk()) else {
            return t;
        };
        let (before, now) = (b - a, c - b);
        let rest = now * now / (before - now);
        let is_small = rest.is_finite() && rest * now >= 0.0 && rest.abs() <= now.abs() * 1e3;
        if is_small { c + rest } else { t }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t = 1 + Σ 0.7ᵏ, which accumulates at 1 + 1/0.3.
    #[test]
    fn geometric_times_accumulate() {
        let mut accumulation = Accumulation::default();
        let (mut t, mut d) = (1.0, 1.0);
        let limit = 1.0 + 1.0 / 0.3;
        for count in 0..200 {
            if let Some(found) = accumulation.add(0, t, true, 1e-9) {
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
        let mut accumulation = Accumulation::default();
        for k in 0..2000 {
            assert_eq!(accumulation.add(0, f64::from(k) * 1e-4, true, 1e-9), None);
        }
        let mut t = 0.0;
        for k in 1..2000 {
            t += 1e-3 / f64::from(k);
            assert_eq!(accumulation.add(1, t, true, 1e-9), None);
        }
    }

    /// Times that crowd without an accumulation end too.
    #[test]
    fn a_crowd_is_one_time() {
        let mut accumulation = Accumulation::default();
        let found = (0..1000)
            .find_map(|k| accumulation.add(0, 1.0 + 1e-15 * f64::from(k % 7), false, 1e-9));
        assert!(found.is_some());
    }
}
