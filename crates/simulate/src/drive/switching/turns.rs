//! Turns of switching functions (`abs`, `sign`, `min`, `max`, `if`) inside a step.
//!
//! The branches are frozen while a step is taken, so the terms are smooth beyond a
//! turn, and the turn is a zero of a smooth function of time. Each of these functions is
//! followed through the whole step, so that none comes back unseen; since every comparison
//! is a switch of its own, neither does a condition made of several.

use crate::drive::isolate::{self, Functions, Isolated};
use crate::drive::sample::{DEEPEST, DEEPEST_DEAR, Sampler};
use crate::drive::switching::departure::Departure;
use crate::drive::tolerances::switching::{BESIDE, FADES, LEAVES, ROUNDED};
use crate::drive::{Driver, Failure};
use dalembert_expr::{SwitchKind, Table};

impl Driver {
    /// Goes on from a turn, on the branches that lead away from it; if none does, the
    /// motion sticks on those it came on. A turn at the very beginning of a step (`at_once`) is one
    /// that the motion could not leave on the branches it came on, whatever the rates of guards say:
    /// where a guard and its rate vanish together, that is rounding.
    pub(in crate::drive) fn leave_turn(&mut self, at_once: bool) -> Result<(), Failure> {
        let (before, after) = (self.field.modes().to_vec(), self.modes.clone());
        // One that had no value before, or has none now, has no side to choose.
        let turned: Vec<usize> = (0..after.len())
            .filter(|&at| before[at] != after[at] && !(before[at] + after[at]).is_nan())
            .collect();
        match self.departure(&turned, &after).map_err(Failure::Field)? {
            Departure::On(modes) if at_once && modes == before => {}
            Departure::On(modes) => self.modes = modes,
            Departure::Sticks(switches) => {
                self.stuck = switches;
                self.modes = before;
            }
            Departure::Open => {}
        }
        let mut modes = self.modes.clone();
        self.settle_nested(&mut modes, &turned).map_err(Failure::Field)?;
        self.modes = modes;
        Ok(())
    }

    /// Notes how far the guards of switches may be on the other side than their branches, at
    /// the state. Where they have just turned, from the branches `before`, they ought to be 0: what
    /// they are there is their noise, and until they have left it they have not turned again.
    pub(in crate::drive) fn note_slack(&mut self, before: Option<&[f64]>) -> Result<(), Failure> {
        if before.is_none() {
            self.guard_sizes.iter_mut().for_each(|size| *size *= FADES);
            if self.slack.is_empty() {
                return Ok(());
            }
        }
        let (mut modes, mut guards) = (Vec::new(), Vec::new());
        let (t, x) = (self.t, self.x.clone());
        self.field.branches(t, &x, &mut modes, &mut guards).map_err(Failure::Field)?;
        let old = std::mem::take(&mut self.slack);
        let slack: Vec<f64> = (0..modes.len())
            .map(|at| {
                let range = self.field.guards_of(at);
                let nearest = range.clone().fold(f64::INFINITY, |m, g| m.min(guards[g].abs()));
                let is_there = modes[at] == self.modes[at] || !nearest.is_finite();
                let old = old.get(at).copied().unwrap_or(0.0);
                let has_turned = before.is_some_and(|before| before[at] != self.modes[at]);
                if has_turned && nearest.is_finite() {
                    let size = |g: usize| self.guard_sizes.get(g).copied().unwrap_or(0.0);
                    let size = range.fold(0.0, |m, g| size(g).max(m));
                    // It jumped with another inside of it, and is on its side.
                    let has_jumped = is_there && nearest > BESIDE * nearest.max(size);
                    return if has_jumped { 0.0 } else { nearest.max(size * ROUNDED) };
                }
                match (is_there, before.is_some()) {
                    (true, _) if nearest <= LEAVES * old => old,
                    (true, _) => 0.0,
                    (false, true) => nearest.max(old),
                    (false, false) => old,
                }
            })
            .collect();
        if slack.iter().any(|&s| s > 0.0) {
            self.slack = slack;
        }
        Ok(())
    }

    /// Where the guards can be zero in the last step, as far as its polynomials tell.
    fn isolate_guards(&mut self) -> Isolated {
        let (field, integrator) = (&self.field, &*self.integrator);
        let Some(step) = integrator.polynomial() else { return Isolated::default() };
        let enclosure = self.guards.get_or_insert_with(|| field.enclose_guards());
        let Some((enclosure, held)) = enclosure.as_mut().zip(field.held()) else {
            return Isolated::default();
        };
        let mut variables = isolate::variables(self.t, &step, field.n + field.size, enclosure);
        variables.extend(held.iter().map(|&value| vec![value]));
        let outputs: Vec<Option<usize>> = (0..field.guards()).map(Some).collect();
        Functions { enclosure, outputs: &outputs, variables: &variables }.isolate(1.0)
    }

    /// The first turn of a switch in the last step: where, and the branches after.
    pub(in crate::drive) fn find_turn(
        &mut self,
        h: f64,
        between: &mut [f64],
    ) -> Result<Option<(f64, Vec<f64>)>, Failure> {
        let own = self.modes.clone();
        let count = own.len();
        // A sign that is 0 is on neither branch: any side will do. A condition that is 0 is
        // false. What has no value is on the branch of what has none.
        let is_sign: Vec<bool> =
            (0..count).map(|at| self.field.kind_of(at) == SwitchKind::Sign).collect();
        let settled = |at: usize, a: f64| if a == 0.0 && is_sign[at] { own[at] } else { a };
        let turns = |at: usize, a: f64| {
            let a = settled(at, a);
            a != own[at] && !(a.is_nan() && own[at].is_nan())
        };
        let differs = |modes: &[f64]| modes.iter().enumerate().any(|(at, &a)| turns(at, a));
        let known = self.isolate_guards();
        let (t, field, integrator) = (self.t, &mut self.field, &*self.integrator);
        let ranges: Vec<_> = (0..count).map(|at| field.guards_of(at)).collect();
        let deepest = match field.follows_multipliers() {
            true => vec![DEEPEST_DEAR; field.guards()],
            false => vec![DEEPEST; field.guards()],
        };
        let guards = deepest.len();
        let mut failure = None;
        // The guards, then the modes.
        let mut at = |theta: f64| -> Vec<f64> {
            let (mut modes, mut values) = (Vec::new(), Vec::new());
            if failure.is_none() {
                integrator.interpolate(theta, between);
                failure = field.branches(t + theta * h, between, &mut modes, &mut values).err();
            }
            values.extend(modes);
            values.resize(guards + count, f64::NAN);
            values
        };
        let mut sampler = Sampler { at: &mut at, deepest: &deepest, boundaries: guards, known };
        let samples = sampler.sample(1.0);
        // Just behind a turn a guard is on either side of 0 by rounding, which goes by what it
        // was before, not by how far a short step takes it.
        let mut largest = if self.slack.is_empty() { Vec::new() } else { self.guard_sizes.clone() };
        largest.resize(guards, 0.0);
        for (_, values) in &samples {
            for (most, value) in largest.iter_mut().zip(values) {
                // The end that a piece of a table does not have is no size of where others end.
                let has_size = value.abs() < Table::NO_END;
                *most = if has_size { most.max(value.abs()) } else { *most };
            }
        }
        self.guard_sizes.clone_from(&largest);
        let slack = |at: usize| self.slack.get(at).copied().unwrap_or(0.0);
        // The branches, but for switches that have just turned and are still beside it.
        let branches = |values: &[f64]| -> Vec<f64> {
            let branch = |at: usize| {
                let is_beside = |g: usize| values[g].abs() <= 2.0 * slack(at);
                let stays = slack(at) > 0.0 && ranges[at].clone().any(is_beside);
                // Zeros keep the branch they came from.
                if stays { own[at] } else { settled(at, values[guards + at]) }
            };
            (0..count).map(branch).collect()
        };
        let has_turned = |values: &[f64]| {
            let modes = branches(values);
            (0..count).any(|at| {
                let is_away = |g: usize| !(values[g].abs() <= ROUNDED * largest[g]);
                turns(at, modes[at]) && ranges[at].clone().all(is_away)
            })
        };
        let first = samples.iter().position(|(_, values)| has_turned(values));
        let found = first.map(|first| {
            let before = samples[..first].iter().rev().find(|(_, v)| !differs(&branches(v)));
            let (mut low, mut high) = (before.map_or(0.0, |s| s.0), samples[first].0);
            let mut after = branches(&samples[first].1);
            for _ in 0..100 {
                let theta = 0.5 * (low + high);
                if theta <= low || theta >= high {
                    break;
                }
                let modes = branches(&at(theta));
                if differs(&modes) {
                    (high, after) = (theta, modes);
                } else {
                    low = theta;
                }
            }
            (high, after)
        });
        match failure {
            Some(error) => Err(Failure::Field(error)),
            None => Ok(found),
        }
    }
}
