//! The state an instant later, by which ties are decided and slips that begin have a direction.

use crate::phases::Fault;
use crate::phases::elements::Elements;
use crate::phases::facts::{FactsAt, Row};
use crate::phases::settle::{Deciding, Known, Slow, largest, reach};
use crate::phases::strike::{loads_for, mobility};
use crate::setting::State;
use dalembert_gauss::contact::cone::Trial;
use dalembert_gauss::contact::decide::Found;
use dalembert_gauss::contact::{self, Space};

/// How far ahead ties are decided: a part of the time in which the motion changes.
const AHEAD: f64 = 1e-6;
/// How far velocities go ahead where a slip of several components begins: a part of that time,
const NUDGE: f64 = 1e-10;
/// but this part of the times of the run, in which steps can be told.
const TOLD: f64 = 256.0 * f64::EPSILON;
/// They go as far as this part of what pulls takes them there, at least.
const LEAST: f64 = 1e-3;
/// Where a slip begins it is off its direction by less than this part.
const STRAY: f64 = 0.1;

impl Deciding<'_> {
    /// The state with velocities of an instant later, and that instant: slips that begin have a direction
    /// there. It is 0 where what begins is hardly moved by then.
    pub(super) fn nudged(
        &self,
        at: &FactsAt,
        (found, space, elements): (&Found, &Space, &Elements),
        state: &State,
        known: &Known,
    ) -> Result<(State, f64), Fault> {
        let span = known.span;
        let change = space.change(&found.loads);
        let acceleration: Vec<f64> = space.v_dot.iter().zip(&change).map(|(a, d)| a + d).collect();
        // Where friction leaves next to nothing of what pulls, as at the very instant it is overcome, it
        // turns what has no speed faster than times can be told.
        let (pull, left) = (largest(&space.v_dot), largest(&acceleration));
        let more = if left > 0.0 { (LEAST * pull / left).max(1.0) } else { 1.0 };
        let time = self.time(state, &acceleration, span);
        let instant = (NUDGE * time.abs()).max(TOLD * state.t.abs().max(span.abs()));
        let dt = more * instant.copysign(span);
        let mut late = if more > 1.0 { 0.0 } else { dt };
        let velocity = state.velocity.iter().zip(&acceleration).map(|(v, a)| v + dt * a);
        let mut velocity: Vec<f64> = velocity.collect();
        // Each of them, by what pulls there; nothing else is left of what it came to rest with.
        let mut kicks: Vec<(usize, f64)> = Vec::new();
        let mut is_off = false;
        for (k, (held, &(_, friction))) in elements.held.iter().zip(&elements.of).enumerate() {
            if found.modes[k] == contact::Mode::Open {
                continue;
            }
            kicks.extend(held.touch.normal.map(|row| (row, 0.0)));
            let Some(f) = friction else { continue };
            match &elements.trials[f] {
                Some(Trial::Begins(direction)) => {
                    let later = |row: &Row| -> f64 {
                        let moved = velocity.iter().zip(&state.velocity).zip(&row.entries);
                        row.value + moved.map(|((v, before), a)| a * (v - before)).sum::<f64>()
                    };
                    let slip: Vec<f64> = at.slips[f].rows.iter().map(later).collect();
                    let rate = |row: usize| space.value(row, found.accelerations[row]);
                    let rates = elements.rows[f].clone().map(rate);
                    let along: f64 = dt * rates.zip(direction).map(|(s, d)| s * d).sum::<f64>();
                    let unit =
                        held.touch.normal.map_or(1.0, |row| space.load(row, found.loads[row]));
                    let rows = elements.rows[f].clone();
                    let pull = mobility(space, rows.clone()) * elements.bounds[f][0] * unit;
                    // What hardly begins would be rounding beside what is fast.
                    let fast = largest(&state.velocity).max(known.sizes[1]);
                    let least =
                        (LEAST * pull * instant).max(Slow::of(&at.slips[f].rows).least(fast));
                    let hardly = along.abs() < least;
                    if hardly {
                        late = 0.0;
                    }
                    let wanted = if hardly { least.copysign(span) } else { along };
                    for ((row, slip), d) in rows.zip(&slip).zip(direction) {
                        let kick = wanted * d - slip;
                        is_off |= kick.abs() > STRAY * wanted.abs();
                        kicks.push((row, kick / space.length[row]));
                    }
                }
                Some(Trial::Stick) => kicks.extend(elements.rows[f].clone().map(|row| (row, 0.0))),
                Some(Trial::Moves(_)) => {}
                None if found.modes[k] == contact::Mode::Stick => {
                    kicks.extend(held.touch.slip.map(|row| (row, 0.0)));
                }
                None => {}
            }
        }
        if is_off {
            let rows: Vec<usize> = kicks.iter().map(|kick| kick.0).collect();
            let of = |row: usize| kicks.iter().find(|k| k.0 == row).map_or(0.0, |kick| kick.1);
            let mut loads = vec![0.0; space.rows()];
            for (row, load) in loads_for(space, &rows, &of, &|_| 0.0) {
                loads[row] = load;
            }
            velocity.iter_mut().zip(space.change(&loads)).for_each(|(v, kick)| *v += kick);
        }
        Ok((self.with_velocity(state, velocity)?, late))
    }

    /// A time in which the motion changes.
    fn time(&self, state: &State, acceleration: &[f64], span: f64) -> f64 {
        let (q, v, a) = (reach(state), largest(&state.velocity), largest(acceleration));
        let times = [v / a, (q / a).sqrt(), q / v].into_iter();
        let time = times.filter(|t| t.is_finite() && *t > 0.0).fold(span.abs(), f64::min);
        if span < 0.0 { -time } else { time }
    }

    /// The state a little ahead.
    pub(super) fn ahead(
        &self,
        space: &Space,
        found: &Found,
        state: &State,
        span: f64,
    ) -> Option<State> {
        let change = space.change(&found.loads);
        let acceleration: Vec<f64> = space.v_dot.iter().zip(&change).map(|(a, d)| a + d).collect();
        let dt = AHEAD * self.time(state, &acceleration, span);
        let mut next = state.clone();
        next.t += dt;
        for i in 0..acceleration.len() {
            next.q[i] += dt * (state.velocity[i] + 0.5 * dt * acceleration[i]);
            next.velocity[i] += dt * acceleration[i];
        }
        State::of_velocities(self.setting, next.t, next.q, next.velocity).ok()
    }
}
