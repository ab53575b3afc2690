//! The trials of slips with several components that hold: from where they are sought, and whether others
//! hold as well.
//!
//! The next trials follow from what those before led to. Where that does not end, or leads to nothing, they
//! are begun near loads of the whole cone problem ([`rub::seek`]), from several sides, and a direction that
//! is not found so is looked for all around.

use crate::phases::Fault;
use crate::phases::elements::{Elements, Tied, Touching};
use crate::phases::facts::FactsAt;
use crate::phases::settle::{Deciding, ROUNDS, norm};
use crate::phases::told::nowhere;
use dalembert_gauss::contact::cone::{self, Trial};
use dalembert_gauss::contact::decide::{self, Found, Held};
use dalembert_gauss::contact::rub::{self, Rub};
use dalembert_gauss::contact::{Mode, Slip, Space};
use dalembert_gauss::linalg::dot;
use std::f64::consts::TAU;

/// Other motions are looked for from so many sides, up to so many rows.
const WAYS: usize = 6;
const WIDE: usize = 48;
/// Directions of a slip that is looked for all around, where it is one of so few, and how often two are
/// halved.
const FEW: usize = 4;
const RING: usize = 64;
const BISECTIONS: usize = 60;

/// The trials that loads are near to.
fn trials_near(at: &FactsAt, elements: &Elements, loads: &[f64]) -> Vec<Option<Trial>> {
    let bounds = &elements.bounds;
    let mut trials = elements.trials.clone();
    for (held, &(_, friction)) in elements.held.iter().zip(&elements.of) {
        let Some(f) = friction else { continue };
        let Some(trial) = &trials[f] else { continue };
        let bound = bounds[f][0].max(bounds[f][1]) * held.touch.normal.map_or(1.0, |n| loads[n]);
        let force: Vec<f64> = elements.rows[f].clone().map(|row| loads[row]).collect();
        let force = match trial {
            Trial::Stick => at.slips[f].force(force),
            _ => force,
        };
        trials[f] = cone::trials_of(std::slice::from_ref(trial), &[bound], &[force]).pop();
    }
    trials
}

/// Loads far from those there are, on one side or another.
fn far_loads(space: &Space, way: usize) -> Vec<f64> {
    let size = |row: usize| space.load(row, norm(&space.free));
    let sign = |row: usize| if (row >> (way % 3)) & 1 == way / 3 { 1.0 } else { -1.0 };
    (0..space.rows()).map(|row| sign(row) * size(row)).collect()
}

/// The directions of slips that begin, from round to round. Each round is a step of a fixed point, d ← g(d),
/// which may come near slowly: the change of its residual r = g(d) − d tells how slowly (Anderson's method
/// with one step before, *J. ACM* 12 (1965)),
///
/// ```text
/// d ← g − θ (g − g₀) ,   θ = r·(r − r₀)/|r − r₀|² .
/// ```
#[derive(Default)]
struct Sequence {
    /// r₀ and g₀.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

/// Directions that still turn by more come near by themselves.
const NEAR: f64 = 0.1;
/// A step is not longer than so many of the fixed point.
const LONGEST: f64 = 1e3;

impl Sequence {
    /// The trials to go on with, where the fixed point leads from some to others.
    fn next(&mut self, from: &[Option<Trial>], to: Vec<Option<Trial>>) -> Vec<Option<Trial>> {
        let pairs = || from.iter().zip(&to);
        let is_same = |(a, b): (&Option<Trial>, &Option<Trial>)| match (a, b) {
            (Some(Trial::Begins(_)), Some(Trial::Begins(_))) => true,
            (a, b) => a == b,
        };
        let list = |trials: &[Option<Trial>]| -> Vec<f64> {
            let begins = trials.iter().filter_map(|trial| match trial {
                Some(Trial::Begins(direction)) => Some(direction),
                _ => None,
            });
            begins.flatten().copied().collect()
        };
        if !pairs().all(is_same) {
            self.last = None;
            return to;
        }
        let image = list(&to);
        let left: Vec<f64> = image.iter().zip(list(from)).map(|(g, d)| g - d).collect();
        let Some((left_before, before)) = self.last.replace((left.clone(), image.clone())) else {
            return to;
        };
        let change: Vec<f64> = left.iter().zip(&left_before).map(|(a, b)| a - b).collect();
        let part = dot(&left, &change) / dot(&change, &change);
        if !(norm(&left) < NEAR && part.abs() < LONGEST) {
            return to;
        }
        let mut next = image.iter().zip(&before).map(|(g, before)| g - part * (g - before));
        let mut turned = to;
        for trial in turned.iter_mut().flatten() {
            let Trial::Begins(direction) = trial else { continue };
            let moved: Vec<f64> = next.by_ref().take(direction.len()).collect();
            let length = norm(&moved);
            *direction = moved.into_iter().map(|d| d / length).collect();
        }
        turned
    }
}

/// A direction that was tried, by how much what pulls is off it, and the modes it has.
type Tried = (f64, f64, Vec<Mode>);

impl Deciding<'_> {
    /// The trials that hold, with all modes of the motion.
    pub(super) fn searched(
        &self,
        touching: Touching<'_>,
        start: Vec<Option<Trial>>,
    ) -> Result<Tied, Fault> {
        let begins = |t: &Option<Trial>| t.is_some() && !matches!(t, Some(Trial::Moves(_)));
        let is_sought = start.iter().any(begins);
        let tied = match self.settled_trials(touching, start.clone()) {
            // It does not end, or came to where there is nothing: once more, from nearby.
            Err(fault @ (Fault::Unsettled | Fault::None | Fault::Several(_))) if is_sought => {
                let (space, elements) = self.held_space(touching, &start)?;
                let rubs = self.rubs(&space, &elements);
                let none = vec![0.0; space.rows()];
                let from_loads = |first: &[f64]| {
                    let trials =
                        trials_near(touching.at, &elements, &rub::seek(&space, &rubs, first)?);
                    self.settled_trials(touching, trials).ok()
                };
                let sides = (0..WAYS).map(|way| far_loads(&space, way));
                let mut starts = std::iter::once(none).chain(sides);
                let tied = starts.find_map(|first| from_loads(&first));
                tied.or_else(|| self.around(touching, &start)).ok_or(fault)?
            }
            tied => tied?,
        };
        let (ties, space, mut elements) = tied;
        if elements.held.is_empty() || (elements.proved && !is_sought) {
            return Ok((ties, space, elements));
        }
        if self.facts.bounds_hold_unknowns() {
            return Ok((ties, space, elements));
        }
        // Modes were tried with the directions that were found: others are another matter.
        let (whole, all) = self.held_space(touching, &start)?;
        let rubs = self.rubs(&whole, &all);
        elements.proved = rub::is_only(&whole, &rubs);
        if !elements.proved && is_sought && whole.rows() <= WIDE {
            self.look_for_others(touching, (&ties[0], &space, &elements), (&whole, &all, &rubs))?;
        }
        Ok((ties, space, elements))
    }

    /// The trials that hold, from some others on.
    fn settled_trials(
        &self,
        Touching { at, resting, slips }: Touching<'_>,
        mut trials: Vec<Option<Trial>>,
    ) -> Result<Tied, Fault> {
        let mut sequence = Sequence::default();
        for round in 0..=ROUNDS {
            let (ties, space, elements) = self.ties(at, resting, slips, &trials)?;
            let Some(next) = self.next_trials(at, &ties, &space, &elements, round) else {
                return Ok((ties, space, elements));
            };
            trials = sequence.next(&trials, next);
        }
        Err(Fault::Unsettled)
    }

    /// The trials that hold, where one slip of two components begins, and others that could stick: its
    /// direction is looked for all around, between two of which one is to the left of what pulls and the other to the right.
    fn around(&self, touching: Touching<'_>, start: &[Option<Trial>]) -> Option<Tied> {
        let begins = |f: &usize| matches!(start[*f], Some(Trial::Stick));
        let which: Vec<usize> = (0..start.len()).filter(begins).collect();
        if which.len() > FEW {
            return None;
        }
        which.into_iter().find_map(|f| self.around_one(touching, start, f))
    }

    /// The same for one of them, where the others stick or are open.
    fn around_one(
        &self,
        touching: Touching<'_>,
        start: &[Option<Trial>],
        f: usize,
    ) -> Option<Tied> {
        if touching.at.slips[f].rows.len() != 2 {
            return None;
        }
        let at = |way: f64| -> Option<(f64, Tied)> {
            let mut trials = start.to_vec();
            let (s, k) = way.sin_cos();
            trials[f] = Some(Trial::Begins(vec![k, s]));
            let tied = self.ties(touching.at, touching.resting, touching.slips, &trials).ok()?;
            let (found, space, rows) = (&tied.0[0], &tied.1, &tied.2.rows[f]);
            let rate = |row: usize| space.value(row, found.accelerations[row]);
            let (x, y) = (rate(rows.start), rate(rows.start + 1));
            Some((k * y - s * x, tied))
        };
        // Between two directions of which one is off to one side and the other to the other.
        let between = |a: &Tried, b: &Tried| -> Option<Tied> {
            let (mut from, mut to) = (a.0, b.0);
            if a.1 * b.1 > 0.0 {
                return None;
            }
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (from + to);
                match at(middle) {
                    Some((off, _)) if off * a.1 > 0.0 => from = middle,
                    Some(_) => to = middle,
                    None => break,
                }
            }
            let (_, (ties, space, elements)) = at(0.5 * (from + to))?;
            let (own, tried, _) = self.tried(touching.at, &ties[0], &space, &elements);
            cone::next(&own, &tried, ROUNDS).is_none().then_some((ties, space, elements))
        };
        let modes = |tied: &Tied| tied.0[0].modes.clone();
        let seen = |way: f64| at(way).map(|(off, tied)| (way, off, modes(&tied)));
        // The last direction with these modes before another one, where loads may grow beyond all bounds.
        let last = |a: &Tried, to: f64| -> Option<Tried> {
            let (mut inside, mut outside) = (a.0, to);
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (inside + outside);
                match seen(middle).is_some_and(|seen| seen.2 == a.2) {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            seen(inside)
        };
        let ring: Vec<Option<Tried>> =
            (0..=RING).map(|k| seen(TAU * k as f64 / RING as f64)).collect();
        (0..RING).find_map(|k| {
            let way = |k: usize| TAU * k as f64 / RING as f64;
            match (&ring[k], &ring[k + 1]) {
                (Some(a), Some(b)) if a.2 == b.2 => between(a, b),
                (a, b) => {
                    let below = a.as_ref().and_then(|a| between(a, &last(a, way(k + 1))?));
                    below.or_else(|| b.as_ref().and_then(|b| between(b, &last(b, way(k))?)))
                }
            }
        })
    }

    /// The space in which every slip has all of its rows.
    fn held_space(
        &self,
        Touching { at, resting, slips }: Touching<'_>,
        trials: &[Option<Trial>],
    ) -> Result<(Space, Elements), Fault> {
        let bounds = self.facts.bounds(at, None);
        let mut elements = self.elements(at, resting, slips, &bounds, trials)?;
        let space = at.space(&elements.touches).map_err(Fault::Space)?;
        elements.led(&space);
        Ok((space, elements))
    }

    /// Contacts and frictions by their rows, with the bounds that hold at rest.
    fn rubs(&self, space: &Space, elements: &Elements) -> Vec<Rub> {
        let bounds = &elements.bounds;
        let of = |(held, &(_, friction)): (&Held, &(Option<usize>, Option<usize>))| {
            let touch = &held.touch;
            let (slips, bound) =
                friction.map_or((0..0, [0.0; 2]), |f| (elements.rows[f].clone(), bounds[f]));
            let moves = match (friction.and_then(|f| elements.trials[f].as_ref()), touch.moves) {
                (Some(Trial::Moves(d)), _) => Some(d.clone()),
                (Some(_), _) | (None, Slip::None) => None,
                (None, Slip::Forwards) => Some(vec![1.0]),
                (None, Slip::Backwards) => Some(vec![-1.0]),
            };
            let bound = if moves.is_some() { bound[0] } else { bound[0].max(bound[1]) };
            let slips = slips.filter(|&row| space.moves(row)).collect();
            Rub { normal: touch.normal, slips, bound, moves }
        };
        elements.held.iter().zip(&elements.of).map(of).collect()
    }

    /// Other motions, from loads that are far from those of this one: a fault if there is one.
    fn look_for_others(
        &self,
        touching: Touching<'_>,
        (one, space, elements): (&Found, &Space, &Elements),
        (whole, all, rubs): (&Space, &Elements, &[Rub]),
    ) -> Result<(), Fault> {
        let bounds = &elements.bounds;
        // What holds more at rest sticks where it can: it is no other motion that it could slip.
        let holds_more = |f: usize| elements.trials[f].is_some() && bounds[f][1] > bounds[f][0];
        if (0..elements.trials.len()).any(holds_more) {
            return Ok(());
        }
        for way in 0..WAYS {
            let Some(loads) = rub::seek(whole, rubs, &far_loads(whole, way)) else { continue };
            let trials = trials_near(touching.at, all, &loads);
            let Ok((ties, other_space, other)) = self.settled_trials(touching, trials) else {
                continue;
            };
            if !decide::is_same(space, one, &ties[0]) {
                let phase = |found: &Found, space: &Space, elements: &Elements| {
                    self.phase_of(nowhere(), Some(&(found.clone(), space.clone())), elements).phase
                };
                let (a, b) = (phase(one, space, elements), phase(&ties[0], &other_space, &other));
                return Err(Fault::Several(vec![a, b]));
            }
        }
        Ok(())
    }
}
