//! When a slip of several components is 0, where it is slower than can be told from rest, and when it
//! has a direction again.
//!
//! |v| has a corner at 0, and a step does not pass it: a run meets |v|² = L, with L small. What is left
//! is so little that friction decelerates it evenly,
//!
//! ```text
//! g = |v|² ,   ġ(s) = ġ (1 − s/s₀) ,   s₀ = −2 g/ġ ,
//! ```
//!
//! and s₀ later the slip is 0. Where ġ does not fall so half way (a slip that dies out, or that turns as
//! it slows down) there is no such time, and what is slower than L has stopped.
//!
//! A slip that begins has the direction of what pulls, and no speed yet. It is begun with the velocities
//! of an instant later, and the positions and the time go with them.

use crate::drive::Driver;
use crate::drive::events::functions::EventFunctions;
use crate::integrators::Problem;
use crate::program::field::Field;

/// Half way ġ is half of what it was but for this part.
const EVEN: f64 = 0.15;

impl Driver {
    /// The time and the state at which the slip of a guard that has just happened is 0, within the
    /// times of this pass. `None` if there is none.
    pub(crate) fn at_rest(&mut self, event: usize) -> Option<(f64, Vec<f64>)> {
        let (t, x) = (self.t, &self.x);
        let functions = self.events.as_mut()?;
        let (square, slope, rates) = functions.square(&mut self.field, event, t, x)?;
        let later = -2.0 * square / slope;
        let remaining = self.until - t;
        if !(later / remaining > 0.0 && later / remaining < 1.0) {
            return None;
        }
        let along = |rates: &[f64], s: f64| -> Vec<f64> {
            x.iter().zip(rates).map(|(x, rate)| x + s * rate).collect()
        };
        let half = along(&rates, 0.5 * later);
        let (_, then, rates) = functions.square(&mut self.field, event, t + 0.5 * later, &half)?;
        let is_even = (then - 0.5 * slope).abs() <= EVEN * slope.abs();
        is_even.then(|| (t + later, along(&rates, later)))
    }
}

impl Driver {
    /// Moves positions on, where velocities are those of so much later: next to nothing, and not beyond
    /// a time.
    pub(crate) fn pass_by(&mut self, late: f64, stop: f64) {
        let part = late / (stop - self.t);
        let mut rates = vec![0.0; self.x.len()];
        if !(part > 0.0 && part < 0.5) || self.field.rates(self.t, &self.x, &mut rates).is_err() {
            return;
        }
        let n = self.field.n;
        self.x[..n].iter_mut().zip(&rates[..n]).for_each(|(x, rate)| *x += late * rate);
        self.t += late;
    }
}

impl EventFunctions {
    /// |v|² of a slip with a guard, its slope and the rates of a state; `None` if it has no such.
    fn square(
        &mut self,
        field: &mut Field,
        event: usize,
        t: f64,
        x: &[f64],
    ) -> Option<(f64, f64, Vec<f64>)> {
        let limit = self.limit(event)?;
        let mut rates = vec![0.0; x.len()];
        field.rates(t, x, &mut rates).ok()?;
        let square = self.value(field, event, t, x) + limit * limit;
        let slope = self.slope_at(field, event, (t, x), &rates[..field.n + field.size])?;
        Some((square, slope, rates))
    }
}
