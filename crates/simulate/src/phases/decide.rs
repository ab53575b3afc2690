//! Who opens, slips and sticks at a state.

use crate::phases::Fault;
use crate::phases::elements::{Elements, Tied, Touching};
use crate::phases::facts::FactsAt;
use crate::phases::settle::{Deciding, Known, ROUNDS, largest, norm};
use crate::phases::share::{Bearer, missing};
use crate::phases::strike::mobility;
use crate::phases::told::nowhere;
use crate::setting::State;
use dalembert_gauss::contact::cone::{self, Trial, Tried};
use dalembert_gauss::contact::decide::{Found, Held, Verdict, decide_held};
use dalembert_gauss::contact::{self, Slip, Space};

/// Forces are borne together up to this part.
const BEARS: f64 = 1e-9;

impl Deciding<'_> {
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

    /// All modes of the one motion there is.
    pub(super) fn ties(
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
    pub(super) fn tried(
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
    pub(super) fn next_trials(
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
}
