//! Impacts at a state, and the end of bounces.
//!
//! The impact of all contacts that touch, as the model says it is meant ([`strike_together`],
//! [`strike_in_turn`]), by the rows of a state. Slips of several components are tried and turned until
//! they hold ([`cone`]).

use crate::phases::Fault;
use crate::phases::facts::{FactsAt, Row};
use crate::phases::settle::{Deciding, ROUNDS, Struck, along, norm};
use crate::setting::State;
use dalembert_gauss::contact::cone::{self, Trial, Tried};
use dalembert_gauss::contact::impact::{in_turn, outcomes, strike_some};
use dalembert_gauss::contact::rub::{self, Rub};
use dalembert_gauss::contact::{
    self, Impact, ImpactError, Law, Slip, Space, Touch, Touches, nonneg,
};
use dalembert_model::system::Impacts;
use std::ops::Range;

/// Outcomes of impacts closer than this are one.
const SAME: f64 = 1e-9;
/// Gaps of closed contacts are 0 below this part of what they are made of.
const LAID: f64 = 4.0 * f64::EPSILON;
/// An impact gains if its energy grows by more than this part of what it exchanges.
const GAINS: f64 = 1e-9;

/// Velocities that an impact begins with: by contact those of gaps, by friction slips.
#[derive(Clone, Copy)]
struct Values<'a> {
    rates: &'a [f64],
    slips: &'a [Vec<f64>],
}

/// The impulses of some contacts, at the velocities that are the values of a space.
type Strike<'a> = &'a mut dyn FnMut(&Space, &[bool]) -> Result<Vec<f64>, Fault>;

impl From<ImpactError> for Fault {
    fn from(error: ImpactError) -> Fault {
        match error {
            ImpactError::None => Fault::ImpactNone,
            ImpactError::Several(_) => Fault::ImpactSeveral,
            ImpactError::Endless => Fault::ImpactDiffers { at_once: Vec::new(), in_turn: None },
        }
    }
}

/// What takes part in an impact, with its rows.
#[derive(Default)]
struct Strikes {
    touches: Touches,
    values: Vec<f64>,
    sizes: Vec<f64>,
    list: Vec<contact::Struck>,
    contacts: Vec<usize>,
    /// Slips of several components: the friction, its place in the list, its rows.
    vectors: Vec<(usize, usize, Range<usize>)>,
}

/// Loads of any sign on some rows that give these the rates `wanted`, up to `noise`.
pub(super) fn loads_for(
    space: &Space,
    rows: &[usize],
    wanted: &dyn Fn(usize) -> f64,
    noise: &dyn Fn(usize) -> f64,
) -> Vec<(usize, f64)> {
    let rows: Vec<usize> = rows.iter().copied().filter(|&row| space.moves(row)).collect();
    let column = |j: usize, way: f64| -> Vec<f64> {
        rows.iter().map(|&i| way * space.coupling(i, j)).collect()
    };
    let mut columns: Vec<Vec<f64>> = rows.iter().map(|&j| column(j, 1.0)).collect();
    columns.extend(rows.iter().map(|&j| column(j, -1.0)));
    let right: Vec<f64> = rows.iter().map(|&i| wanted(i)).collect();
    let noise: Vec<f64> = rows.iter().map(|&i| noise(i)).collect();
    let found = nonneg::solve(&columns, &right, &noise);
    let load = |(k, row): (usize, usize)| (row, found.x[k] - found.x[columns.len() / 2 + k]);
    rows.into_iter().enumerate().map(load).collect()
}

/// The largest rate that a load of 1 on one of these rows gives it.
pub(super) fn mobility(space: &Space, rows: Range<usize>) -> f64 {
    let own = |row: usize| space.value(row, space.coupling(row, row) * space.scaled(row, 1.0));
    rows.map(own).fold(0.0, f64::max)
}

impl Strikes {
    fn add(&mut self, row: &Row, value: f64) -> usize {
        self.touches.rows.push(row.entries.clone());
        self.touches.bias.push(0.0);
        self.values.push(value);
        self.sizes.push(row.size);
        self.values.len() - 1
    }

    /// What trials of slips with several components led to.
    fn tried(&self, space: &Space, impact: &Impact, bounds: &[[f64; 2]]) -> Vec<Tried> {
        let of = |(f, at, rows): &(usize, usize, Range<usize>)| {
            let touch = &self.list[*at].touch;
            let load = |row: usize| space.load(row, impact.loads[row]);
            Tried {
                force: rows.clone().map(load).collect(),
                bound: bounds[*f][0] * touch.normal.map_or(0.0, load),
                rate: rows.clone().map(|row| space.value(row, impact.after[row])).collect(),
                small: rows.clone().map(|row| space.value(row, space.noise[row])).sum(),
                mobility: mobility(space, rows.clone()),
            }
        };
        self.vectors.iter().map(of).collect()
    }

    /// Trials near a solution.
    fn sought(&self, space: &Space, bounds: &[[f64; 2]]) -> Option<Vec<Trial>> {
        let mut space = space.clone();
        let mut rubs = Vec::new();
        for struck in &self.list {
            let Some(normal) = struck.touch.normal else { continue };
            if struck.restitution != 0.0 {
                space.free[normal] *= 1.0 + struck.restitution;
            }
            let own = self.vectors.iter().find(|v| std::ptr::eq(&self.list[v.1], struck));
            let (slips, bound) = match own {
                Some((f, _, rows)) => (rows.clone().collect(), bounds[*f][0]),
                None => (struck.slips().collect(), struck.touch.coefficient()),
            };
            rubs.push(Rub { normal: Some(normal), slips, bound, moves: None });
        }
        let loads = rub::seek(&space, &rubs, &vec![0.0; space.rows()])?;
        let of = |(f, at, rows): &(usize, usize, Range<usize>)| {
            let normal = self.list[*at].touch.normal.map_or(0.0, |row| loads[row]);
            (bounds[*f][0] * normal, rows.clone().map(|row| loads[row]).collect())
        };
        let (bounds, forces): (Vec<f64>, Vec<Vec<f64>>) = self.vectors.iter().map(of).unzip();
        Some(cone::trials_of(&vec![Trial::Stick; bounds.len()], &bounds, &forces))
    }

    /// Impulses of these by the rows of all, where every slip is held.
    fn in_rows_of(
        &self,
        all: &Strikes,
        space: &Space,
        whole: &Space,
        loads: &[f64],
        trials: &[Option<Trial>],
    ) -> Vec<f64> {
        let mut impulses = vec![0.0; whole.rows()];
        for (struck, c) in self.list.iter().zip(&self.contacts) {
            let Some(at) = all.contacts.iter().position(|other| other == c) else { continue };
            let of_all = &all.list[at];
            if let (Some(from), Some(to)) = (struck.touch.normal, of_all.touch.normal) {
                impulses[to] = loads[from];
            }
            let own = self.vectors.iter().find(|v| self.contacts[v.1] == *c);
            match own.map(|(f, _, rows)| (&trials[*f], rows.clone())) {
                Some((Some(Trial::Moves(d) | Trial::Begins(d)), _)) => {
                    let Some(slip) = struck.touch.slip else { continue };
                    let load = space.load(slip, loads[slip]);
                    for (to, d) in of_all.slips().zip(d) {
                        impulses[to] = whole.scaled(to, load * d);
                    }
                }
                Some((_, rows)) => {
                    of_all.slips().zip(rows).for_each(|(to, from)| impulses[to] = loads[from]);
                }
                None => {
                    let slips = of_all.slips().zip(struck.slips());
                    slips.for_each(|(to, from)| impulses[to] = loads[from]);
                }
            }
        }
        impulses
    }
}

impl Deciding<'_> {
    /// Velocities after an impact of the contacts that touch, the impact, and the rates of gaps after
    /// it.
    pub(super) fn strike(
        &self,
        at: &FactsAt,
        state: &State,
        touching: &[bool],
        rates: &[f64],
        rests: &[usize],
    ) -> Result<(Vec<f64>, Struck, Vec<f64>), Fault> {
        let bounds = self.facts.bounds(at, None);
        let trials = self.held(at);
        let slips: Vec<Vec<f64>> =
            at.slips.iter().map(|s| s.rows.iter().map(|row| row.value).collect()).collect();
        let values = Values { rates, slips: &slips };
        let struck = self.strikes(at, touching, values, rests, &bounds, &trials);
        let space = at.space(&struck.touches).map_err(Fault::Space)?;
        let space = space.with_free(&struck.values, &struck.sizes);
        let impact = match struck.vectors.is_empty() {
            true => self.blow(&space, &struck, state, rests, &mut |now, act| {
                strike_some(now, &struck.list, act).map_err(Fault::from)
            }),
            false => self.blow(&space, &struck, state, rests, &mut |now, act| {
                self.turned(at, now, (&struck, act), rests, &bounds)
            }),
        };
        self.struck(at, state, rates, rests, (&space, &struck, impact?))
    }

    /// Slips of several components, tried to stick.
    fn held(&self, at: &FactsAt) -> Vec<Option<Trial>> {
        at.slips.iter().map(|slip| (slip.rows.len() > 1).then_some(Trial::Stick)).collect()
    }

    /// The impulses of some contacts, where slips have several components: by the rows of all of them, at
    /// the velocities that are the values of the space.
    fn turned(
        &self,
        at: &FactsAt,
        now: &Space,
        (all, act): (&Strikes, &[bool]),
        rests: &[usize],
        bounds: &[[f64; 2]],
    ) -> Result<Vec<f64>, Fault> {
        let mut touching = vec![false; at.gaps.len()];
        let mut rates = vec![0.0; at.gaps.len()];
        let mut slips: Vec<Vec<f64>> = at.slips.iter().map(|s| vec![0.0; s.rows.len()]).collect();
        let value = |row: usize| now.value(row, now.free[row]);
        for ((struck, &c), &acts) in all.list.iter().zip(&all.contacts).zip(act) {
            let Some(normal) = struck.touch.normal else { continue };
            (touching[c], rates[c]) = (acts, value(normal));
            if let Some(f) = self.model.system.contacts[c].friction {
                slips[f] = struck.slips().map(value).collect();
            }
        }
        let values = Values { rates: &rates, slips: &slips };
        let mut trials = self.held(at);
        let mut is_sought = false;
        let mut round = 0;
        loop {
            let struck = self.strikes(at, &touching, values, rests, bounds, &trials);
            let space = at.space(&struck.touches).map_err(Fault::Space)?;
            let space = space.with_free(&struck.values, &struck.sizes);
            let everyone = vec![true; struck.list.len()];
            let own = struck.vectors.iter().filter_map(|v| trials[v.0].clone());
            let own: Vec<Trial> = own.collect();
            // Of what these trials lead to, that which is not against the law.
            let found = outcomes(&space, &struck.list, &everyone).into_iter().map(|one| {
                let after = Impact::of(&space, one.loads.clone(), 1);
                let tried = struck.tried(&space, &after, bounds);
                (cone::against(&own, &tried), one.loads, tried)
            });
            let mut found: Vec<(f64, Vec<f64>, Vec<Tried>)> = found.collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            let is_told = found.get(1).is_none_or(|second| second.0 > 0.0);
            let fault = match (found.is_empty(), is_told) {
                (true, _) => Fault::ImpactNone,
                (_, false) => Fault::ImpactSeveral,
                _ => Fault::Unsettled,
            };
            let next = match found.first().filter(|_| is_told) {
                Some((_, loads, tried)) => {
                    let Some(next) = cone::next(&own, tried, round) else {
                        return Ok(struck.in_rows_of(all, &space, now, loads, &trials));
                    };
                    (round < ROUNDS).then_some(next)
                }
                None => None,
            };
            let next = match next {
                Some(next) => next,
                // It does not end, or came to where there is nothing: once more, from nearby.
                None if !is_sought => {
                    (is_sought, round) = (true, 0);
                    struck.sought(&space, bounds).ok_or(fault)?
                }
                None => return Err(fault),
            };
            for (vector, next) in struck.vectors.iter().zip(next) {
                trials[vector.0] = Some(next);
            }
            round += 1;
        }
    }

    /// The state with what is closed at gaps of 0, and nothing that touches below: contacts touch
    /// where their gaps are 0 to what states are known to, and to close one as it is must not press
    /// another into its surface. The shortest way there in the metric.
    pub(super) fn laid(
        &self,
        at: &FactsAt,
        state: State,
        touching: &[bool],
        closed: &[bool],
    ) -> Result<State, Fault> {
        let list: Vec<usize> = (0..at.gaps.len()).filter(|&c| touching[c]).collect();
        let is_off = |&c: &usize| closed[c] && at.gaps[c].gap.abs() > LAID * at.gaps[c].size;
        if !list.iter().any(is_off) {
            return Ok(state);
        }
        let mut touches = Touches::default();
        for &c in &list {
            touches.rows.push(at.gaps[c].row.entries.clone());
            touches.bias.push(0.0);
        }
        let gaps: Vec<f64> = list.iter().map(|&c| at.gaps[c].gap).collect();
        let sizes: Vec<f64> = list.iter().map(|&c| at.gaps[c].size).collect();
        let space = at.space(&touches).map_err(Fault::Space)?.with_free(&gaps, &sizes);
        let small = |row: usize| LAID * sizes[row] / space.length[row];
        let mut rows: Vec<usize> = (0..list.len()).filter(|&row| closed[list[row]]).collect();
        loop {
            let mut loads = vec![0.0; list.len()];
            for (row, load) in loads_for(&space, &rows, &|row| -space.free[row], &small) {
                loads[row] = load;
            }
            let after = space.accelerations(&loads);
            let is_below = |&row: &usize| !rows.contains(&row) && after[row] < -small(row);
            let below: Vec<usize> = (0..list.len()).filter(is_below).collect();
            if below.is_empty() {
                let mut state = state;
                let moved = state.q.iter_mut().zip(space.change(&loads));
                moved.for_each(|(q, change)| *q += change);
                let velocity = state.velocity.clone();
                return self.with_velocity(&state, velocity);
            }
            rows.extend(below);
        }
    }

    /// What takes part in an impact.
    fn strikes(
        &self,
        at: &FactsAt,
        touching: &[bool],
        values: Values<'_>,
        rests: &[usize],
        bounds: &[[f64; 2]],
        trials: &[Option<Trial>],
    ) -> Strikes {
        let mut strikes = Strikes::default();
        for c in (0..at.gaps.len()).filter(|&c| touching[c]) {
            let gap = &at.gaps[c];
            let normal = strikes.add(&gap.row, values.rates[c]);
            let friction = self.model.system.contacts[c].friction;
            let mu = friction.map_or(0.0, |f| bounds[f][0]);
            let law = Law::Coefficient(if mu.is_finite() { mu.max(0.0) } else { 0.0 });
            let mut touch = Touch {
                normal: Some(normal),
                slip: None,
                law,
                moves: Slip::None,
                must_slip: false,
                held: None,
            };
            if let Some(f) = friction {
                let rows = &at.slips[f].rows;
                let first = strikes.values.len();
                for (row, &value) in rows.iter().zip(&values.slips[f]) {
                    strikes.add(row, value);
                }
                let last = strikes.values.len();
                match &trials[f] {
                    None => touch.slip = Some(first),
                    Some(Trial::Stick) => touch.held = Some((first, last)),
                    Some(Trial::Moves(d) | Trial::Begins(d)) => {
                        let value = d.iter().zip(&values.slips[f]).map(|(d, v)| d * v).sum();
                        touch.slip = Some(strikes.add(&along(rows, d), value));
                        (touch.moves, touch.must_slip) = (Slip::Forwards, true);
                    }
                }
                if trials[f].is_some() {
                    strikes.vectors.push((f, strikes.list.len(), first..last));
                }
            }
            let restitution = if rests.contains(&c) { 0.0 } else { gap.restitution };
            strikes.list.push(contact::Struck { touch, restitution });
            strikes.contacts.push(c);
        }
        strikes
    }

    /// The impulses of an impact, by the model's word.
    fn blow(
        &self,
        space: &Space,
        strikes: &Strikes,
        state: &State,
        rests: &[usize],
        strike: Strike<'_>,
    ) -> Result<Impact, Fault> {
        let list = &strikes.list;
        let velocity = |loads: &[f64]| -> Vec<f64> {
            state.velocity.iter().zip(space.change(loads)).map(|(v, d)| v + d).collect()
        };
        let all = vec![true; list.len()];
        let at_once = |strike: Strike<'_>| strike(space, &all).map(|p| Impact::of(space, p, 1));
        Ok(match self.impacts {
            Some(Impacts::InTurn) => in_turn(space, list, strike)?,
            Some(Impacts::AtOnce) => at_once(strike)?,
            None => {
                let together = at_once(strike)?;
                if list.len() > 1 && rests.is_empty() {
                    let turn = in_turn(space, list, strike).ok();
                    let apart = turn.as_ref().map_or(f64::INFINITY, |turn| {
                        let (a, b) = (space.motion(&together.loads), space.motion(&turn.loads));
                        let size = norm(&a).max(norm(&b));
                        let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                        if size > 0.0 { norm(&apart) / size } else { 0.0 }
                    });
                    if !(apart <= SAME) {
                        let at_once = velocity(&together.loads);
                        let in_turn = turn.map(|turn| velocity(&turn.loads));
                        return Err(Fault::ImpactDiffers { at_once, in_turn });
                    }
                }
                together
            }
        })
    }

    /// The state after an impact.
    fn struck(
        &self,
        at: &FactsAt,
        state: &State,
        rates: &[f64],
        rests: &[usize],
        (space, strikes, impact): (&Space, &Strikes, Impact),
    ) -> Result<(Vec<f64>, Struck, Vec<f64>), Fault> {
        let (list, contacts) = (&strikes.list, &strikes.contacts);
        let velocity = |loads: &[f64]| -> Vec<f64> {
            state.velocity.iter().zip(space.change(loads)).map(|(v, d)| v + d).collect()
        };
        let of: f64 = norm(&space.motion(&impact.loads)).powi(2);
        if impact.energy > GAINS * of {
            return Err(Fault::ImpactGains { energy: impact.energy, of });
        }
        let mut loads = impact.loads;
        if !rests.is_empty() {
            self.bring_to_rest(space, strikes, rests, &mut loads);
        }
        let after = space.accelerations(&loads);
        let mut impulses = vec![0.0; at.gaps.len()];
        let mut gap_rates = rates.to_vec();
        for (struck, &c) in list.iter().zip(contacts) {
            let Some(row) = struck.touch.normal else { continue };
            impulses[c] = space.load(row, loads[row]);
            let is_zero = after[row].abs() <= space.noise[row] || rests.contains(&c);
            gap_rates[c] = if is_zero { 0.0 } else { space.value(row, after[row]) };
        }
        let energy: f64 = loads
            .iter()
            .zip(space.free.iter().zip(&after))
            .map(|(f, (a, b))| 0.5 * f * (a + b))
            .sum();
        Ok((velocity(&loads), Struck { impulses, energy }, gap_rates))
    }

    /// Adds the impulses that leave no rate to gaps that come to rest, nor to what rests beside them,
    /// whatever their sign: what is left of bounces without end. Slips that are 0 stay 0, and what would
    /// be pushed into others comes to rest with them.
    fn bring_to_rest(&self, space: &Space, strikes: &Strikes, rests: &[usize], loads: &mut [f64]) {
        let (first, before) = (space.accelerations(loads), loads.to_vec());
        let is_zero = |row: usize| first[row].abs() <= space.noise[row];
        let mut comes: Vec<bool> = strikes.contacts.iter().map(|c| rests.contains(c)).collect();
        loop {
            let mut rows: Vec<usize> = Vec::new();
            for (struck, &comes) in strikes.list.iter().zip(&comes) {
                let touch = &struck.touch;
                let Some(normal) = touch.normal.filter(|&row| comes || is_zero(row)) else {
                    continue;
                };
                let slips = struck.slips();
                let rubs = !matches!(touch.law, Law::Coefficient(0.0));
                rows.push(normal);
                rows.extend(slips.filter(|&row| rubs && is_zero(row)));
            }
            let (left, noise) = (|row: usize| -first[row], |row: usize| 1e-3 * space.noise[row]);
            loads.copy_from_slice(&before);
            for (row, load) in loads_for(space, &rows, &left, &noise) {
                loads[row] += load;
            }
            let after = space.accelerations(loads);
            let mut is_new = false;
            for (struck, comes) in strikes.list.iter().zip(&mut comes) {
                let Some(row) = struck.touch.normal.filter(|_| !*comes) else { continue };
                if after[row] < -space.noise[row] {
                    (*comes, is_new) = (true, true);
                }
            }
            if !is_new {
                return;
            }
        }
    }
}
