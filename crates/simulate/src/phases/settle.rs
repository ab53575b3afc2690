//! From a state to its phase.
//!
//! 1. Who touches: closed contacts, those whose gap has just become 0, and those whose gap is 0 to
//!    rounding. 2. If any of these approaches, an impact, at once or in turn; without the model's word
//!    on which, only one on which both agree. 3. Who rests (gap' = 0) and which slips are 0. 4. The
//!    decision of all modes at acceleration level, which has to leave one motion.
//!
//! Where a load, or an acceleration, is 0 at the edge of a mode several modes have the same motion: as
//! at the very instant a contact opens or a friction breaks away. Then the one is taken that is decided
//! a little ahead along that motion (a step so short that nothing else changes, so long that a load
//! that grows is above rounding); if that tells nothing either, the one in which less slips and less
//! is held.

use crate::phases::facts::{Facts, FactsAt, Row};
use crate::setting::legendre::NewtonError;
use crate::setting::{Setting, State};
use dalembert_gauss::contact::cone::{self, Trial, Tried};
use dalembert_gauss::contact::decide::{Found, Held, Verdict, decide_held};
use dalembert_gauss::contact::{
    self, Impact, ImpactError, Law, Slip, Space, SpaceError, Touch, Touches, nonneg,
    strike_in_turn, strike_together,
};
use dalembert_model::system::{Change, Impacts, Mode, Model, Phase, Touched};
use std::ops::Range;

/// A gap is 0 below this part of what it is made of,
const TOUCHES: f64 = 1e-11;
/// and below this part of the largest coordinates.
const NEAR: f64 = 1e-14;
/// A rate of a gap, or a slip, is 0 below this part of the terms it is made of,
const RESTS: f64 = 1e-10;
/// and below this part of the largest velocities.
const SLOW: f64 = 1e-14;
/// A hop is lower than can be seen below this part of what its gap is made of.
const HOPS: f64 = 64.0 * f64::EPSILON;
/// Outcomes of impacts closer than this are one.
const SAME: f64 = 1e-9;
/// An impact gains if its energy grows by more than this part of what it exchanges.
const GAINS: f64 = 1e-9;
/// How far ahead ties are decided: a part of the time in which the motion changes.
const AHEAD: f64 = 1e-6;
/// Bounds that hold unknowns are found together with these within so many rounds.
const ROUNDS: usize = 200;

/// How far velocities go ahead where a slip of several components begins: a part of that time.
const NUDGE: f64 = 1e-10;
/// A slip of several components is at rest below this part of the velocities it is made of.
const SLOWEST: f64 = 1e-10;

/// Why a state has no phase to go on in.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Several motions are possible: their phases.
    Several(Vec<Phase>),
    /// None is; or none was found.
    None,
    /// Bounds that depend on what is solved for were not found together with it.
    Unsettled,
    /// The bound of a friction is below 0.
    Negative {
        /// Which.
        friction: usize,
        /// The bound.
        bound: f64,
    },
    /// A gap is below 0.
    Penetrates {
        /// Which contact.
        contact: usize,
        /// The gap.
        gap: f64,
    },
    /// Impacts at once and in turn differ: the velocities after both.
    ImpactDiffers {
        /// At once.
        at_once: Vec<f64>,
        /// In turn; none if that does not end.
        in_turn: Option<Vec<f64>>,
    },
    /// An impact has several outcomes.
    ImpactSeveral,
    /// It has none.
    ImpactNone,
    /// It would gain energy.
    ImpactGains {
        /// How much.
        energy: f64,
        /// Of what it exchanges.
        of: f64,
    },
    /// The motion without contacts is not there.
    Space(SpaceError),
    /// Velocities and momenta do not determine each other.
    State(NewtonError),
    /// Something has no value here.
    NoValue,
    /// Several contacts are struck in turn, and one slips in space.
    Vector {
        /// Which friction.
        friction: usize,
    },
    /// Phases change again and again at one time.
    Again,
}

/// An impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Struck {
    /// Normal impulses by contact; 0 where it does not take part.
    pub impulses: Vec<f64>,
    /// By how much the energy changes, as seen by the walls: not positive.
    pub energy: f64,
}

/// What a run knows of the state it is at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The phase so far; none at the start.
    pub before: Option<Shown>,
    /// Contacts whose gap has just become 0.
    pub hits: Vec<usize>,
    /// Frictions whose slip has just become 0.
    pub stops: Vec<usize>,
    /// Contacts whose impacts pile up here: they come to rest.
    pub rests: Vec<usize>,
    /// Whether velocities were set from outside since: what was closed may move.
    pub is_reset: bool,
    /// How long the run is.
    pub span: f64,
}

/// Contacts and frictions as they are seen: also those that bear no load of their own, since others
/// bear it for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// By contact, whether it is closed.
    pub closed: Vec<bool>,
    /// By friction, whether it sticks.
    pub sticks: Vec<bool>,
    /// By contact, whether its load is not unique.
    pub open_load: Vec<bool>,
    /// By friction, the same.
    pub open_force: Vec<bool>,
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

impl Strikes {
    fn add(&mut self, row: &Row, value: f64) -> usize {
        self.touches.rows.push(row.entries.clone());
        self.touches.bias.push(0.0);
        self.values.push(value);
        self.sizes.push(row.size);
        self.values.len() - 1
    }
}

/// A slip of several components along a direction.
fn along(rows: &[Row], direction: &[f64]) -> Row {
    let mut sum = Row { entries: vec![0.0; rows[0].entries.len()], ..Row::default() };
    for (row, d) in rows.iter().zip(direction) {
        sum.value += d * row.value;
        sum.size += (d * row.size).abs();
        sum.bias += d * row.bias;
        sum.entries.iter_mut().zip(&row.entries).for_each(|(s, a)| *s += d * a);
    }
    sum
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// The state, after an impact if there was one.
    pub state: State,
    /// The phase in which it goes on. Contacts whose load others bear are open in it.
    pub phase: Phase,
    /// As it is seen.
    pub shown: Shown,
    /// Contacts that are closed by the rows of others: their gaps stay 0.
    pub idle: Vec<usize>,
    /// For slips of several components, how slow is at rest.
    pub slow: Vec<f64>,
    /// The impact.
    pub struck: Option<Struck>,
    /// What changed.
    pub changes: Vec<(Touched, Change)>,
}

/// The decision of a model.
pub(crate) struct Deciding<'a> {
    pub facts: &'a Facts,
    pub model: &'a Model,
    /// The setting of the model.
    pub setting: &'a Setting,
    /// What the model says of impacts.
    pub impacts: Option<Impacts>,
}

/// The elements of a decision: contacts and frictions with their rows in the space.
struct Elements {
    touches: Touches,
    held: Vec<Held>,
    /// Of each element its contact, and its friction.
    of: Vec<(Option<usize>, Option<usize>)>,
    /// By friction, how a slip of several components is tried, and its rows.
    trials: Vec<Option<Trial>>,
    rows: Vec<Range<usize>>,
}

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

impl Deciding<'_> {
    /// Finds the phase of a state.
    pub fn settle(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let settled = self.settled(state, known)?;
        let hops = self.hops(&settled)?;
        if hops.is_empty() {
            return Ok(settled);
        }
        let mut known = known.clone();
        known.rests.extend(hops);
        self.settled(state, &known)
    }

    /// Contacts that part so slowly, and come together again so soon, that their gaps are nothing
    /// but rounding all the while: no zero of them would be seen, and they are at rest.
    fn hops(&self, settled: &Settled) -> Result<Vec<usize>, Fault> {
        if settled.shown.closed.iter().all(|&closed| closed) {
            return Ok(Vec::new());
        }
        let at = self.facts.at(&settled.state).map_err(Fault::State)?;
        let mut hops = Vec::new();
        for (c, gap) in at.gaps.iter().enumerate() {
            let (row, small) = (&gap.row, HOPS * gap.size);
            if settled.shown.closed[c] || !gap.is_there || gap.gap.abs() > small || row.value <= 0.0
            {
                continue;
            }
            let space = at.space(&Touches::default());
            let v_dot = space.map_err(Fault::Space)?.v_dot;
            let second: f64 =
                row.entries.iter().zip(&v_dot).map(|(a, v)| a * v).sum::<f64>() - row.bias;
            if second < 0.0 && row.value * row.value <= -2.0 * second * small {
                hops.push(c);
            }
        }
        Ok(hops)
    }

    /// The same, if no contact hops.
    fn settled(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let mut state = state.clone();
        let mut at = self.facts.at(&state).map_err(Fault::State)?;
        self.check(&at)?;
        let touching = self.touching(&at, &state, known)?;
        let was_closed = |c: usize| known.before.as_ref().is_some_and(|b| b.closed[c]);
        let is_kept = |c: usize| was_closed(c) && !known.is_reset;
        // Velocities of gaps: what was closed is at rest.
        let speed = largest(&state.velocity);
        let slow = |row: &Row| RESTS * row.size + SLOW * total(&row.entries) * speed;
        let mut rates: Vec<f64> = (0..at.gaps.len())
            .map(|c| {
                let row = &at.gaps[c].row;
                if is_kept(c) || row.value.abs() <= slow(row) { 0.0 } else { row.value }
            })
            .collect();
        let mut struck = None;
        let approaches = (0..at.gaps.len()).any(|c| touching[c] && rates[c] < 0.0);
        let rests = known.rests.iter().any(|&c| touching[c]);
        if approaches || rests {
            let (velocity, record, after) =
                self.strike(&at, &state, &touching, &rates, &known.rests)?;
            state = self.with_velocity(&state, velocity)?;
            for c in (0..at.gaps.len()).filter(|&c| touching[c]) {
                let row = &at.gaps[c].row;
                let small = slow(row).max(RESTS * row.value.abs());
                rates[c] = if after[c].abs() <= small { 0.0 } else { after[c] };
            }
            struck = Some(record);
            at = self.facts.at(&state).map_err(Fault::State)?;
        }
        let is_struck = struck.is_some() || known.is_reset;
        let resting: Vec<bool> =
            (0..at.gaps.len()).map(|c| touching[c] && rates[c] == 0.0).collect();
        let slips: Vec<Vec<f64>> = (0..at.slips.len())
            .map(|f| {
                let rows = &at.slips[f].rows;
                let sticks = known.before.as_ref().is_some_and(|b| b.sticks[f]) && !is_struck;
                let small: f64 = rows.iter().map(slow).sum();
                let length = rows.iter().map(|row| row.value * row.value).sum::<f64>().sqrt();
                let is_zero = sticks || (known.stops.contains(&f) && !is_struck) || length <= small;
                rows.iter().map(|row| if is_zero { 0.0 } else { row.value }).collect()
            })
            .collect();
        let (found, elements) = self.decide(&at, &state, &resting, &slips, known.span)?;
        let begins = elements.trials.iter().any(|t| matches!(t, Some(Trial::Begins(_))));
        if let (Some((found, space)), true) = (&found, begins) {
            state = self.nudged(space, found, &state, known.span)?;
        }
        let slow = at.slips.iter().map(|slip| {
            let size: f64 = slip.rows.iter().map(|row| row.size).sum();
            SLOWEST * size.max(speed)
        });
        let slow = slow.collect();
        let mut settled = self.phase_of(state, found.as_ref(), &elements);
        settled.slow = slow;
        settled.struck = struck;
        settled.changes = changes(self.model, known.before.as_ref(), &settled);
        Ok(settled)
    }

    /// Whether all has a value, and bounds are not negative.
    fn check(&self, at: &FactsAt) -> Result<(), Fault> {
        let is_number =
            |row: &Row| row.value.is_finite() && row.entries.iter().all(|a| a.is_finite());
        let gaps = at.gaps.iter().all(|g| g.gap.is_finite() && is_number(&g.row));
        let slips = at.slips.iter().flat_map(|s| &s.rows).all(is_number);
        if gaps && slips { Ok(()) } else { Err(Fault::NoValue) }
    }

    /// Which contacts touch.
    fn touching(&self, at: &FactsAt, state: &State, known: &Known) -> Result<Vec<bool>, Fault> {
        let far = largest(&state.q);
        let mut touching = Vec::new();
        for (c, gap) in at.gaps.iter().enumerate() {
            let was_closed = known.before.as_ref().is_some_and(|b| b.closed[c]);
            let small = TOUCHES * gap.size + NEAR * total(&gap.row.entries) * far;
            let is_known = (was_closed && !known.is_reset)
                || known.hits.contains(&c)
                || known.rests.contains(&c);
            let touches = gap.is_there && (is_known || gap.gap.abs() <= small);
            if gap.is_there && !touches && gap.gap < 0.0 {
                return Err(Fault::Penetrates { contact: c, gap: gap.gap });
            }
            touching.push(touches);
        }
        Ok(touching)
    }

    /// Velocities after an impact of the contacts that touch, the impact, and the rates of gaps after
    /// it.
    fn strike(
        &self,
        at: &FactsAt,
        state: &State,
        touching: &[bool],
        rates: &[f64],
        rests: &[usize],
    ) -> Result<(Vec<f64>, Struck, Vec<f64>), Fault> {
        let bounds = self.facts.bounds(at, None);
        let is_vector = |f: usize| at.slips[f].rows.len() > 1;
        let mut trials: Vec<Option<Trial>> =
            (0..at.slips.len()).map(|f| is_vector(f).then_some(Trial::Stick)).collect();
        for round in 0..ROUNDS {
            let struck = self.strikes(at, touching, rates, rests, &bounds, &trials);
            let space = at.space(&struck.touches);
            let space = space.map_err(Fault::Space)?.with_free(&struck.values, &struck.sizes);
            let impact = self.blow(&space, &struck, state, rests)?;
            // Directions of slips with several components.
            let vectors: Vec<usize> = struck.vectors.iter().map(|v| v.0).collect();
            let tried: Vec<Tried> = struck
                .vectors
                .iter()
                .map(|(f, at, rows)| {
                    let touch = &struck.list[*at].touch;
                    let load = |row: usize| space.load(row, impact.loads[row]);
                    Tried {
                        force: rows.clone().map(load).collect(),
                        bound: bounds[*f][0] * touch.normal.map_or(0.0, load),
                        rate: rows.clone().map(|row| space.value(row, impact.after[row])).collect(),
                        small: rows.clone().map(|row| space.value(row, space.noise[row])).sum(),
                    }
                })
                .collect();
            let own: Vec<Trial> = vectors.iter().filter_map(|&f| trials[f].clone()).collect();
            let Some(next) = cone::next(&own, &tried, round) else {
                return self.struck(at, state, rates, rests, (&space, &struck, impact));
            };
            if struck.list.len() > 1 && self.impacts == Some(Impacts::InTurn) {
                return Err(Fault::Vector { friction: vectors[0] });
            }
            for (f, trial) in vectors.into_iter().zip(next) {
                trials[f] = Some(trial);
            }
        }
        Err(Fault::Unsettled)
    }

    /// What takes part in an impact.
    fn strikes(
        &self,
        at: &FactsAt,
        touching: &[bool],
        rates: &[f64],
        rests: &[usize],
        bounds: &[[f64; 2]],
        trials: &[Option<Trial>],
    ) -> Strikes {
        let mut strikes = Strikes::default();
        for c in (0..at.gaps.len()).filter(|&c| touching[c]) {
            let gap = &at.gaps[c];
            let normal = strikes.add(&gap.row, rates[c]);
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
                for row in rows {
                    strikes.add(row, row.value);
                }
                let last = strikes.values.len();
                match &trials[f] {
                    None => touch.slip = Some(first),
                    Some(Trial::Stick) => touch.held = Some((first, last)),
                    Some(Trial::Moves(d) | Trial::Begins(d)) => {
                        let row = along(rows, d);
                        touch.slip = Some(strikes.add(&row, row.value));
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
    ) -> Result<Impact, Fault> {
        let list = &strikes.list;
        let fault = |error: ImpactError| match error {
            ImpactError::None => Fault::ImpactNone,
            ImpactError::Several(_) => Fault::ImpactSeveral,
            ImpactError::Endless => Fault::ImpactDiffers { at_once: Vec::new(), in_turn: None },
        };
        let velocity = |loads: &[f64]| -> Vec<f64> {
            state.velocity.iter().zip(space.change(loads)).map(|(v, d)| v + d).collect()
        };
        Ok(match self.impacts {
            Some(Impacts::InTurn) => strike_in_turn(space, list).map_err(fault)?,
            Some(Impacts::AtOnce) => strike_together(space, list).map_err(fault)?,
            None => {
                let together = strike_together(space, list).map_err(fault)?;
                if list.len() > 1 && rests.is_empty() {
                    let turn = strike_in_turn(space, list).ok();
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
            self.bring_to_rest(space, list, contacts, rests, &mut loads);
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

    /// Adds the impulses that leave no rate to some gaps, whatever their sign: what is left of bounces
    /// without end.
    fn bring_to_rest(
        &self,
        space: &Space,
        list: &[contact::Struck],
        contacts: &[usize],
        rests: &[usize],
        loads: &mut [f64],
    ) {
        let rows: Vec<usize> = list
            .iter()
            .zip(contacts)
            .filter(|(_, c)| rests.contains(c))
            .filter_map(|(struck, _)| struck.touch.normal)
            .collect();
        let now = space.accelerations(loads);
        let column = |j: usize, way: f64| -> Vec<f64> {
            rows.iter().map(|&i| way * space.coupling(i, j)).collect()
        };
        let mut columns: Vec<Vec<f64>> = rows.iter().map(|&j| column(j, 1.0)).collect();
        columns.extend(rows.iter().map(|&j| column(j, -1.0)));
        let right: Vec<f64> = rows.iter().map(|&i| -now[i]).collect();
        let noise: Vec<f64> = rows.iter().map(|&i| 1e-3 * space.noise[i]).collect();
        let found = nonneg::solve(&columns, &right, &noise);
        for (k, &row) in rows.iter().enumerate() {
            loads[row] += found.x[k] - found.x[rows.len() + k];
        }
    }

    /// The same state with other velocities.
    fn with_velocity(&self, state: &State, velocity: Vec<f64>) -> Result<State, Fault> {
        State::of_velocities(self.setting, state.t, state.q.clone(), velocity).map_err(Fault::State)
    }

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
            let rows = &at.slips[f].rows;
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
    fn decide(
        &self,
        at: &FactsAt,
        state: &State,
        resting: &[bool],
        slips: &[Vec<f64>],
        span: f64,
    ) -> Result<(Option<(Found, Space)>, Elements), Fault> {
        let first = |f: usize| {
            let length = norm(&slips[f]);
            let acts = at.slips[f].contact.is_none_or(|c| resting[c]);
            (slips[f].len() > 1 && acts).then(|| match length > 0.0 {
                true => Trial::Moves(slips[f].iter().map(|v| v / length).collect()),
                false => Trial::Stick,
            })
        };
        let mut trials: Vec<Option<Trial>> = (0..at.slips.len()).map(first).collect();
        let mut round = 0;
        let (ties, space, elements) = loop {
            let (ties, space, elements) = self.ties(at, resting, slips, &trials)?;
            let Some(next) = self.next_trials(at, &ties, &space, &elements, round) else {
                break (ties, space, elements);
            };
            trials = next;
            round += 1;
            if round > ROUNDS {
                return Err(Fault::Unsettled);
            }
        };
        if elements.held.is_empty() {
            return Ok((None, elements));
        }
        let mut best = &ties[0];
        if ties.len() > 1 {
            let ahead = self.ahead(&space, best, state, span);
            let later = ahead.and_then(|state| {
                let at = self.facts.at(&state).ok()?;
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
                let held = f.modes.iter().filter(|m| **m != contact::Mode::Open).count();
                (begin, held)
            };
            if let Some(first) = candidates.into_iter().min_by_key(cost) {
                best = first;
            }
        }
        Ok((Some((best.clone(), space)), elements))
    }

    /// All modes of the one motion there is.
    fn ties(
        &self,
        at: &FactsAt,
        resting: &[bool],
        slips: &[Vec<f64>],
        trials: &[Option<Trial>],
    ) -> Result<(Vec<Found>, Space, Elements), Fault> {
        let mut bounds = self.facts.bounds(at, None);
        for _ in 0..ROUNDS {
            let mut elements = self.elements(at, resting, slips, &bounds, trials)?;
            if elements.held.is_empty() {
                return Ok((Vec::new(), Space::default(), elements));
            }
            let space = at.space(&elements.touches).map_err(Fault::Space)?;
            elements.led(&space);
            let mut decision = decide_held(&space, &elements.held);
            match decision.verdict {
                Verdict::Unique | Verdict::Found => {}
                Verdict::Several => {
                    let phases = decision.motions.iter().map(|ties| {
                        self.phase_of(
                            State {
                                t: 0.0,
                                q: Vec::new(),
                                velocity: Vec::new(),
                                momentum: Vec::new(),
                            },
                            Some(&(ties[0].clone(), space.clone())),
                            &elements,
                        )
                        .phase
                    });
                    return Err(Fault::Several(phases.collect()));
                }
                Verdict::None | Verdict::NotFound => return Err(Fault::None),
            }
            let ties = decision.motions.swap_remove(0);
            if !self.facts.bounds_hold_unknowns() {
                return Ok((ties, space, elements));
            }
            // The bounds that go with these loads.
            let loads = &ties[0].loads;
            let mut normals = vec![0.0; at.gaps.len()];
            let mut force = vec![0.0; at.numbers.size];
            for (row, entries) in elements.touches.rows.iter().enumerate() {
                let load = space.load(row, loads[row]);
                force.iter_mut().zip(entries).for_each(|(f, a)| *f += a * load);
            }
            for (held, of) in elements.held.iter().zip(&elements.of) {
                if let (Some(c), Some(row)) = (of.0, held.touch.normal) {
                    normals[c] = space.load(row, loads[row]);
                }
            }
            let next = self.facts.bounds(at, Some((&normals, &force)));
            let size = next.iter().flatten().fold(0f64, |m, b| m.max(b.abs()));
            let apart = next.iter().flatten().zip(bounds.iter().flatten());
            let apart = apart.fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            if apart <= 1e-13 * size {
                return Ok((ties, space, elements));
            }
            bounds = next;
        }
        Err(Fault::Unsettled)
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
        let found = ties.first()?;
        let bounds = self.facts.bounds(at, None);
        let (mut own, mut tried, mut which) = (Vec::new(), Vec::new(), Vec::new());
        for (held, &(contact, friction)) in elements.held.iter().zip(&elements.of) {
            let Some(f) = friction else { continue };
            let Some(trial) = elements.trials[f].clone() else { continue };
            let load = |row: usize| space.load(row, found.loads[row]);
            let rows = || elements.rows[f].clone();
            let unit = match (contact, held.touch.normal) {
                (Some(_), Some(normal)) => load(normal),
                _ => 1.0,
            };
            tried.push(Tried {
                force: rows().map(load).collect(),
                bound: bounds[f][1].max(bounds[f][0]) * unit,
                rate: rows().map(|row| space.value(row, found.accelerations[row])).collect(),
                small: rows().map(|row| space.value(row, space.noise[row])).sum(),
            });
            own.push(trial);
            which.push(f);
        }
        let next = cone::next(&own, &tried, round)?;
        let mut trials = elements.trials.clone();
        which.into_iter().zip(next).for_each(|(f, trial)| trials[f] = Some(trial));
        Some(trials)
    }

    /// The state with velocities of an instant later: slips that begin have a direction there.
    fn nudged(
        &self,
        space: &Space,
        found: &Found,
        state: &State,
        span: f64,
    ) -> Result<State, Fault> {
        let change = space.change(&found.loads);
        let acceleration: Vec<f64> = space.v_dot.iter().zip(&change).map(|(a, d)| a + d).collect();
        let dt = NUDGE * self.time(state, &acceleration, span);
        let velocity = state.velocity.iter().zip(&acceleration).map(|(v, a)| v + dt * a).collect();
        self.with_velocity(state, velocity)
    }

    /// A time in which the motion changes.
    fn time(&self, state: &State, acceleration: &[f64], span: f64) -> f64 {
        let (q, v, a) = (largest(&state.q), largest(&state.velocity), largest(acceleration));
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
    fn phase_of(
        &self,
        state: State,
        found: Option<&(Found, Space)>,
        elements: &Elements,
    ) -> Settled {
        let system = &self.model.system;
        let (contacts, frictions) = (system.contacts.len(), system.frictions.len());
        let mut phase =
            Phase { closed: vec![false; contacts], modes: vec![Mode::Forward; frictions] };
        let mut shown = Shown {
            closed: vec![false; contacts],
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
                phase.modes[f] = match bears {
                    contact::Mode::Stick => Mode::Stick,
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
        Settled { state, phase, shown, idle, slow: Vec::new(), struck: None, changes: Vec::new() }
    }
}

/// What is different from before.
fn changes(model: &Model, before: Option<&Shown>, settled: &Settled) -> Vec<(Touched, Change)> {
    let Some(before) = before else { return Vec::new() };
    let now = &settled.shown;
    let mut changes = Vec::new();
    for c in 0..now.closed.len() {
        let is_struck = settled.struck.as_ref().is_some_and(|s| s.impulses[c] > 0.0);
        if !before.closed[c] && (now.closed[c] || is_struck) {
            changes.push((Touched::Contact(c), Change::Closes));
        }
        if before.closed[c] && !now.closed[c] {
            changes.push((Touched::Contact(c), Change::Opens));
        }
    }
    for f in 0..now.sticks.len() {
        let contact = model.system.frictions[f].contact;
        let whose = contact.map_or(Touched::Friction(f), Touched::Contact);
        if !before.sticks[f] && now.sticks[f] {
            changes.push((whose, Change::Sticks));
        }
        let acts = contact.is_none_or(|c| now.closed[c]);
        if before.sticks[f] && !now.sticks[f] && acts {
            changes.push((whose, Change::Slips));
        }
    }
    changes
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn total(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
