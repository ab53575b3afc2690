//! Who opens, slips and sticks at a state, as a phase.

use crate::phases::Fault;
use crate::phases::facts::{FactsAt, Row};
use crate::phases::settle::{
    Deciding, Known, ROUNDS, Settled, Shown, Slow, along, largest, norm, reach,
};
use crate::phases::share::{Bearer, missing};
use crate::phases::strike::{loads_for, mobility};
use crate::setting::State;
use dalembert_gauss::contact::cone::{self, Trial, Tried};
use dalembert_gauss::contact::decide::{self, Found, Held, Verdict, decide_held};
use dalembert_gauss::contact::rub::{self, Rub};
use dalembert_gauss::contact::{self, Law, Slip, Space, Touch, Touches};
use dalembert_model::system::{Mode, Phase};
use std::f64::consts::TAU;
use std::ops::Range;

/// How far ahead ties are decided: a part of the time in which the motion changes.
const AHEAD: f64 = 1e-6;
/// How far velocities go ahead where a slip of several components begins: a part of that time.
const NUDGE: f64 = 1e-10;
/// They go as far as this part of what pulls takes them there, at least.
const LEAST: f64 = 1e-3;

/// Other motions are looked for from so many sides, up to so many rows.
const WAYS: usize = 6;
const WIDE: usize = 48;
/// Directions of a slip that is looked for all around, and how often two are halved.
const RING: usize = 64;
const BISECTIONS: usize = 60;
/// What begins is so many times as fast as what is at rest.
const MOVES: f64 = 4.0;
/// Where a slip begins it is off its direction by less than this part.
const STRAY: f64 = 0.1;
/// Forces are borne together up to this part.
const BEARS: f64 = 1e-9;

/// The elements of a decision: contacts and frictions with their rows in the space.
pub(super) struct Elements {
    touches: Touches,
    held: Vec<Held>,
    /// Of each element its contact, and its friction.
    of: Vec<(Option<usize>, Option<usize>)>,
    /// By friction, how a slip of several components is tried, and its rows.
    pub(super) trials: Vec<Option<Trial>>,
    rows: Vec<Range<usize>>,
    /// By friction, the bounds that go with the loads.
    bounds: Vec<[f64; 2]>,
    /// Whether it is proved that there is no other motion.
    pub(super) proved: bool,
}

/// What touches, and how it slips.
#[derive(Clone, Copy)]
struct Touching<'a> {
    at: &'a FactsAt,
    resting: &'a [bool],
    slips: &'a [Vec<f64>],
}

/// All modes of a motion.
type Tied = (Vec<Found>, Space, Elements);

impl Elements {
    /// Slips that other rows lead begin as these say: no friction has anything to decide there.
    fn led(&mut self, space: &Space) {
        for Held { touch, .. } in &mut self.held {
            let Some(row) = touch.slip.filter(|&row| space.is_led(row)) else { continue };
            let (rate, noise) = (space.free[row], space.noise[row]);
            if touch.moves == Slip::None && rate.abs() > noise {
                touch.moves = if rate > 0.0 { Slip::Forwards } else { Slip::Backwards };
            }
        }
    }
}

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

/// No state: of a phase that is only told.
fn nowhere() -> State {
    State { t: 0.0, q: Vec::new(), velocity: Vec::new(), momentum: Vec::new() }
}

impl Deciding<'_> {
    /// What takes part in a decision.
    fn elements(
        &self,
        at: &FactsAt,
        resting: &[bool],
        slips: &[Vec<f64>],
        bounds: &[[f64; 2]],
        trials: &[Option<Trial>],
    ) -> Result<Elements, Fault> {
        let mut elements = Elements {
            touches: Touches::default(),
            held: Vec::new(),
            of: Vec::new(),
            trials: trials.to_vec(),
            rows: vec![0..0; trials.len()],
            bounds: bounds.to_vec(),
            proved: true,
        };
        let touches = &mut elements.touches;
        let mut add = |row: &Row| {
            touches.rows.push(row.entries.clone());
            touches.bias.push(row.bias);
            touches.rows.len() - 1
        };
        let moves = |f: usize| match slips[f][0] {
            _ if trials[f].is_some() => Slip::Forwards,
            v if v > 0.0 => Slip::Forwards,
            v if v < 0.0 => Slip::Backwards,
            _ => Slip::None,
        };
        let bound = |f: usize| match bounds[f] {
            [a, b] if !a.is_finite() || !b.is_finite() => Err(Fault::NoValue),
            [a, b] if a < 0.0 || b < 0.0 => Err(Fault::Negative { friction: f, bound: a.min(b) }),
            // What holds is not less than what it gives while it slips.
            [a, b] => Ok([a, b.max(a)]),
        };
        // The row of a slip, or those that are held.
        let mut slide = |f: usize, elements_rows: &mut Vec<Range<usize>>| {
            let rows = match &trials[f] {
                Some(Trial::Stick) => at.slips[f].held(),
                _ => &at.slips[f].rows,
            };
            let list: Vec<usize> = rows.iter().map(&mut add).collect();
            let range = list[0]..list[0] + list.len();
            elements_rows[f] = range.clone();
            match &trials[f] {
                None => (Some(range.start), None),
                Some(Trial::Stick) => (None, Some((range.start, range.end))),
                Some(Trial::Moves(d) | Trial::Begins(d)) => (Some(add(&along(rows, d))), None),
            }
        };
        let mut rows = std::mem::take(&mut elements.rows);
        let mut of = Vec::new();
        let mut held = Vec::new();
        for c in (0..at.gaps.len()).filter(|&c| resting[c]) {
            let friction = self.model.system.contacts[c].friction;
            let (slip, fixed) = friction.map_or((None, None), |f| slide(f, &mut rows));
            let [mu, at_rest] = friction.map_or(Ok([0.0; 2]), bound)?;
            let at_rest = if friction.is_some_and(|f| trials[f].is_some()) { mu } else { at_rest };
            let law = Law::Coefficient(mu);
            let moves = friction.map_or(Slip::None, moves);
            let touch = Touch { normal: None, slip, law, moves, must_slip: false, held: fixed };
            held.push(Held { touch, at_rest: Law::Coefficient(at_rest) });
            of.push((Some(c), friction));
        }
        for f in (0..at.slips.len()).filter(|&f| at.slips[f].contact.is_none()) {
            let (slip, fixed) = slide(f, &mut rows);
            let [own, at_rest] = bound(f)?;
            let at_rest = if trials[f].is_some() { own } else { at_rest };
            let law = Law::Bound(own);
            let touch =
                Touch { normal: None, slip, law, moves: moves(f), must_slip: false, held: fixed };
            held.push(Held { touch, at_rest: Law::Bound(at_rest) });
            of.push((None, Some(f)));
        }
        // Normals come last, so that `add` is free again.
        for (held, of) in held.iter_mut().zip(&of) {
            if let Some(c) = of.0 {
                held.touch.normal = Some(add(&at.gaps[c].row));
            }
        }
        (elements.rows, elements.of, elements.held) = (rows, of, held);
        Ok(elements)
    }

    /// The modes of what rests and slips; none if there is nothing to decide.
    pub(super) fn decide(
        &self,
        at: &FactsAt,
        state: &State,
        resting: &[bool],
        slips: &[Vec<f64>],
        known: &Known,
    ) -> Result<(Option<(Found, Space)>, Elements), Fault> {
        let first = |f: usize| {
            let length = norm(&slips[f]);
            let acts = at.slips[f].contact.is_none_or(|c| resting[c]);
            (slips[f].len() > 1 && acts).then(|| match length > 0.0 {
                true => Trial::Moves(slips[f].iter().map(|v| v / length).collect()),
                false => Trial::Stick,
            })
        };
        let start: Vec<Option<Trial>> = (0..at.slips.len()).map(first).collect();
        let touching = Touching { at, resting, slips };
        let (ties, space, elements) = self.searched(touching, start)?;
        if elements.held.is_empty() {
            return Ok((None, elements));
        }
        let trials = elements.trials.clone();
        let mut best = &ties[0];
        if ties.len() > 1 {
            let ahead = self.ahead(&space, best, state, known.span);
            let later = ahead.and_then(|state| {
                let at = self.facts.at_within(&state, known.sizes).ok()?;
                self.ties(&at, resting, slips, &trials).ok()
            });
            let agrees = |f: &&Found| match &later {
                Some((later, _, _)) => later.iter().any(|l| l.modes == f.modes),
                None => false,
            };
            let candidates: Vec<&Found> = ties.iter().filter(agrees).collect();
            let candidates = if candidates.is_empty() { ties.iter().collect() } else { candidates };
            let cost = |f: &&Found| {
                let begins = |(mode, held): (&contact::Mode, &Held)| {
                    held.touch.moves == Slip::None
                        && matches!(mode, contact::Mode::Forwards | contact::Mode::Backwards)
                        && (held.touch.coefficient() > 0.0 || held.touch.bound() > 0.0)
                };
                let begin = f.modes.iter().zip(&elements.held).filter(|p| begins(*p)).count();
                // What bears load in another of them is closed: only whose load it is, is open.
                let shares = |(mode, held): (&contact::Mode, &Held)| {
                    *mode == contact::Mode::Open && held.touch.normal.is_some_and(|row| f.open[row])
                };
                let shared = f.modes.iter().zip(&elements.held).filter(|p| shares(*p)).count();
                let held = f.modes.iter().filter(|m| **m != contact::Mode::Open).count();
                (begin, shared, held)
            };
            if let Some(first) = candidates.into_iter().min_by_key(cost) {
                best = first;
            }
        }
        Ok((Some((best.clone(), space)), elements))
    }

    /// The trials that hold, with all modes of the motion.
    fn searched(&self, touching: Touching<'_>, start: Vec<Option<Trial>>) -> Result<Tied, Fault> {
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
        for round in 0..=ROUNDS {
            let (ties, space, elements) = self.ties(at, resting, slips, &trials)?;
            let Some(next) = self.next_trials(at, &ties, &space, &elements, round) else {
                return Ok((ties, space, elements));
            };
            trials = next;
        }
        Err(Fault::Unsettled)
    }

    /// The trials that hold, where one slip of two components begins: its direction is looked for all
    /// around, between two of which one is to the left of what pulls and the other to the right.
    fn around(&self, touching: Touching<'_>, start: &[Option<Trial>]) -> Option<Tied> {
        let begins = |f: &usize| matches!(start[*f], Some(Trial::Stick));
        let mut which = (0..start.len()).filter(begins);
        let (f, other) = (which.next()?, which.next());
        if other.is_some() || touching.at.slips[f].rows.len() != 2 {
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
        let ring: Vec<Option<(f64, Tied)>> =
            (0..=RING).map(|k| at(TAU * k as f64 / RING as f64)).collect();
        for k in 0..RING {
            let (Some(a), Some(b)) = (&ring[k], &ring[k + 1]) else { continue };
            if a.0 * b.0 > 0.0 || a.1.0[0].modes != b.1.0[0].modes {
                continue;
            }
            let (mut from, mut to) =
                (k as f64 / RING as f64 * TAU, (k + 1) as f64 / RING as f64 * TAU);
            let side = a.0;
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (from + to);
                match at(middle) {
                    Some((off, _)) if off * side > 0.0 => from = middle,
                    Some(_) => to = middle,
                    None => break,
                }
            }
            let Some((_, (ties, space, elements))) = at(0.5 * (from + to)) else { continue };
            let (own, tried, _) = self.tried(touching.at, &ties[0], &space, &elements);
            if cone::next(&own, &tried, ROUNDS).is_none() {
                return Some((ties, space, elements));
            }
        }
        None
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

    /// All modes of the one motion there is.
    fn ties(
        &self,
        at: &FactsAt,
        resting: &[bool],
        slips: &[Vec<f64>],
        trials: &[Option<Trial>],
    ) -> Result<Tied, Fault> {
        let mut bounds = self.facts.bounds(at, None);
        for _ in 0..ROUNDS {
            let mut elements = self.elements(at, resting, slips, &bounds, trials)?;
            if elements.held.is_empty() {
                return Ok((Vec::new(), Space::default(), elements));
            }
            let space = at.space(&elements.touches).map_err(Fault::Space)?;
            elements.led(&space);
            let mut decision = decide_held(&space, &elements.held);
            self.sift(at, &mut decision.motions, &space, &elements);
            if decision.motions.is_empty() {
                return Err(Fault::None);
            }
            if decision.motions.len() > 1 {
                let phases = decision.motions.iter().map(|ties| {
                    let found = (ties[0].clone(), space.clone());
                    self.phase_of(nowhere(), Some(&found), &elements).phase
                });
                return Err(Fault::Several(phases.collect()));
            }
            elements.proved &= decision.verdict != Verdict::Found;
            let ties = decision.motions.swap_remove(0);
            if !self.facts.bounds_hold_unknowns() {
                return Ok((ties, space, elements));
            }
            // The bounds that go with these loads.
            let next = self.bounds_of(at, &ties[0], &space, &elements);
            let size = next.iter().flatten().fold(0f64, |m, b| m.max(b.abs()));
            let apart = next.iter().flatten().zip(bounds.iter().flatten());
            let apart = apart.fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            if apart <= 1e-13 * size {
                // Others may go with other loads.
                elements.proved = false;
                return Ok((ties, space, elements));
            }
            bounds = next;
        }
        Err(Fault::Unsettled)
    }

    /// The bounds that go with the loads of a decision.
    fn bounds_of(
        &self,
        at: &FactsAt,
        found: &Found,
        space: &Space,
        elements: &Elements,
    ) -> Vec<[f64; 2]> {
        let load = |row: usize| space.load(row, found.loads[row]);
        let mut normals = vec![0.0; at.gaps.len()];
        let mut force = vec![0.0; at.numbers.size];
        for (row, entries) in elements.touches.rows.iter().enumerate() {
            force.iter_mut().zip(entries).for_each(|(f, a)| *f += a * load(row));
        }
        for (held, of) in elements.held.iter().zip(&elements.of) {
            if let (Some(c), Some(row)) = (of.0, held.touch.normal) {
                normals[c] = load(row);
            }
        }
        self.facts.bounds(at, Some((&normals, &force)))
    }

    /// Trials of slips with several components, what they led to, and whose they are.
    fn tried(
        &self,
        at: &FactsAt,
        found: &Found,
        space: &Space,
        elements: &Elements,
    ) -> (Vec<Trial>, Vec<Tried>, Vec<usize>) {
        let bounds = &elements.bounds;
        let (mut own, mut tried, mut which) = (Vec::new(), Vec::new(), Vec::new());
        // Of forces that are not unique these are some, and others may hold.
        let holds = self.shares(at, found, space, elements, bounds);
        for (held, &(contact, friction)) in elements.held.iter().zip(&elements.of) {
            let Some(f) = friction else { continue };
            let Some(trial) = elements.trials[f].clone() else { continue };
            let load = |row: usize| space.load(row, found.loads[row]);
            let rows = || elements.rows[f].clone();
            let unit = match (contact, held.touch.normal) {
                (Some(_), Some(normal)) => load(normal),
                _ => 1.0,
            };
            let is_shared = holds && trial == Trial::Stick;
            let force = |row: usize| if is_shared { 0.0 } else { load(row) };
            tried.push(Tried {
                force: match trial {
                    Trial::Stick => at.slips[f].force(rows().map(force).collect()),
                    _ => rows().map(force).collect(),
                },
                bound: bounds[f][1].max(bounds[f][0]) * unit,
                rate: rows().map(|row| space.value(row, found.accelerations[row])).collect(),
                small: rows().map(|row| space.value(row, space.noise[row])).sum(),
                mobility: mobility(space, rows()),
            });
            own.push(trial);
            which.push(f);
        }
        (own, tried, which)
    }

    /// Of the motions that trials led to, those that are not against the law; if there is none, the one
    /// that is least so.
    fn sift(
        &self,
        at: &FactsAt,
        motions: &mut Vec<Vec<Found>>,
        space: &Space,
        elements: &Elements,
    ) {
        if motions.len() < 2 || elements.trials.iter().all(Option::is_none) {
            return;
        }
        let against = |ties: &Vec<Found>| {
            let (own, tried, _) = self.tried(at, &ties[0], space, elements);
            cone::against(&own, &tried)
        };
        let by: Vec<f64> = motions.iter().map(against).collect();
        let least = by.iter().copied().fold(f64::INFINITY, f64::min);
        let mut by = by.into_iter();
        motions.retain(|_| by.next().is_some_and(|by| by <= least));
    }

    /// The next trials of slips with several components; `None` if these hold.
    fn next_trials(
        &self,
        at: &FactsAt,
        ties: &[Found],
        space: &Space,
        elements: &Elements,
        round: usize,
    ) -> Option<Vec<Option<Trial>>> {
        let (own, tried, which) = self.tried(at, ties.first()?, space, elements);
        let next = cone::next(&own, &tried, round)?;
        let mut trials = elements.trials.clone();
        which.into_iter().zip(next).for_each(|(f, trial)| trials[f] = Some(trial));
        Some(trials)
    }

    /// Whether what is tried to stick holds together, where its forces are not unique.
    fn shares(
        &self,
        at: &FactsAt,
        found: &Found,
        space: &Space,
        elements: &Elements,
        bounds: &[[f64; 2]],
    ) -> bool {
        let is_open = |f: usize| {
            elements.trials[f] == Some(Trial::Stick)
                && elements.rows[f].clone().any(|row| found.open[row])
        };
        if !(0..elements.trials.len()).any(is_open) {
            return false;
        }
        let (n, entries) = (at.numbers.size, &elements.touches.rows);
        let (mut bearers, mut borne) = (Vec::new(), Vec::new());
        for (held, &(_, friction)) in elements.held.iter().zip(&elements.of) {
            let rows = match friction.map(|f| (f, &elements.trials[f])) {
                Some((f, Some(Trial::Stick))) => elements.rows[f].clone(),
                None => 0..0,
                // What slips is given, with the load it slips by.
                Some(_) => continue,
            };
            borne.extend(rows.clone().chain(held.touch.normal));
            let slips = rows.map(|row| entries[row].clone()).collect();
            let bound = friction.map_or(0.0, |f| bounds[f][1].max(bounds[f][0]));
            bearers.push(match held.touch.normal {
                Some(normal) => Bearer::Pushes(entries[normal].clone(), slips, bound),
                None => Bearer::Rubs(slips, bound),
            });
        }
        bearers.extend(at.numbers.jacobian.chunks(n.max(1)).map(|row| Bearer::Free(row.to_vec())));
        let (mut force, mut sizes) = (vec![0.0; n], vec![0f64; n]);
        let loads: Vec<f64> = borne.iter().map(|&row| space.load(row, found.loads[row])).collect();
        let largest = largest(&loads);
        for (&row, load) in borne.iter().zip(&loads) {
            for (i, a) in entries[row].iter().enumerate() {
                force[i] += load * a;
                sizes[i] = sizes[i].max(largest * a.abs());
            }
        }
        missing(&bearers, &force, &sizes) <= BEARS
    }

    /// The state with velocities of an instant later: slips that begin have a direction there.
    pub(super) fn nudged(
        &self,
        at: &FactsAt,
        (found, space, elements): (&Found, &Space, &Elements),
        state: &State,
        known: &Known,
    ) -> Result<State, Fault> {
        let span = known.span;
        let change = space.change(&found.loads);
        let acceleration: Vec<f64> = space.v_dot.iter().zip(&change).map(|(a, d)| a + d).collect();
        // Where friction leaves next to nothing of what pulls, as at the very instant it is overcome, it
        // turns what has no speed faster than times can be told.
        let (pull, left) = (largest(&space.v_dot), largest(&acceleration));
        let more = if left > 0.0 { (LEAST * pull / left).max(1.0) } else { 1.0 };
        let time = self.time(state, &acceleration, span);
        let dt = more * NUDGE * time;
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
                    let least = LEAST * NUDGE * pull * time.abs();
                    // What hardly begins would be at rest beside what is fast.
                    let wanted = match along.abs() < least {
                        true => {
                            let fast = largest(&state.velocity).max(known.sizes[1]);
                            let slow = Slow::of(&at.slips[f].rows).limit(fast);
                            least.max(MOVES * slow).copysign(span)
                        }
                        false => along,
                    };
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
        self.with_velocity(state, velocity)
    }

    /// A time in which the motion changes.
    fn time(&self, state: &State, acceleration: &[f64], span: f64) -> f64 {
        let (q, v, a) = (reach(state), largest(&state.velocity), largest(acceleration));
        let times = [v / a, (q / a).sqrt(), q / v].into_iter();
        let time = times.filter(|t| t.is_finite() && *t > 0.0).fold(span.abs(), f64::min);
        if span < 0.0 { -time } else { time }
    }

    /// The state a little ahead.
    fn ahead(&self, space: &Space, found: &Found, state: &State, span: f64) -> Option<State> {
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

    /// The phase of what was found.
    pub(super) fn phase_of(
        &self,
        state: State,
        found: Option<&(Found, Space)>,
        elements: &Elements,
    ) -> Settled {
        let (exprs, system) = (&self.model.exprs, &self.model.system);
        let (contacts, frictions) = (system.contacts.len(), system.frictions.len());
        let mut phase =
            Phase { closed: vec![false; contacts], modes: vec![Mode::Forward; frictions] };
        let mut shown = Shown {
            closed: vec![false; contacts],
            there: vec![true; contacts],
            sticks: vec![false; frictions],
            open_load: vec![false; contacts],
            open_force: vec![false; frictions],
        };
        let mut idle = Vec::new();
        if let Some((found, _)) = found {
            for (k, &(c, f)) in elements.of.iter().enumerate() {
                let (mode, bears) = (found.modes[k], found.support[k]);
                let touch = &elements.held[k].touch;
                if let Some(c) = c {
                    let is_open = |row: Option<usize>| row.is_some_and(|row| found.open[row]);
                    shown.closed[c] = mode != contact::Mode::Open;
                    shown.open_load[c] = is_open(touch.normal);
                    phase.closed[c] = bears != contact::Mode::Open;
                    if shown.closed[c] && !phase.closed[c] {
                        idle.push(c);
                    }
                }
                let Some(f) = f else { continue };
                shown.open_force[f] = touch.slip.is_some_and(|row| found.open[row]);
                if let Some(trial) = &elements.trials[f] {
                    let sticks = *trial == Trial::Stick;
                    let range = elements.rows[f].clone();
                    shown.open_force[f] = range.clone().any(|row| found.open[row]);
                    shown.sticks[f] = sticks && c.is_none_or(|c| shown.closed[c]);
                    phase.modes[f] = if sticks { Mode::Stick } else { Mode::Slip };
                    continue;
                }
                shown.sticks[f] = mode == contact::Mode::Stick;
                let is_held = shown.sticks[f] && c.is_some() && system.has_edges(exprs, f);
                phase.modes[f] = match bears {
                    contact::Mode::Stick => Mode::Stick,
                    contact::Mode::Backwards if is_held => Mode::HeldBackward,
                    contact::Mode::Forwards if is_held => Mode::HeldForward,
                    contact::Mode::Backwards => Mode::Backward,
                    // A load that moves nothing is borne by none, and yet acts.
                    contact::Mode::Open if mode == contact::Mode::Backwards => Mode::Backward,
                    contact::Mode::Forwards | contact::Mode::Open => match touch.moves {
                        Slip::Backwards => Mode::Backward,
                        _ => Mode::Forward,
                    },
                };
            }
        }
        let phase = phase.canonical(system);
        Settled {
            state,
            phase,
            shown,
            idle,
            grazing: Vec::new(),
            slow: Vec::new(),
            from: Vec::new(),
            fast: 0.0,
            proved: elements.proved,
            v_dot: Vec::new(),
            struck: None,
            changes: Vec::new(),
        }
    }
}
