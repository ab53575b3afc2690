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
use dalembert_gauss::DEFAULT;
use dalembert_gauss::contact::decide::{Found, Held, Verdict, decide_held};
use dalembert_gauss::contact::{
    self, Impact, ImpactError, Law, Slip, Space, SpaceError, Touch, Touches, nonneg,
    strike_in_turn, strike_together,
};
use dalembert_model::system::{Change, Impacts, Mode, Model, Phase, Touched};

/// A gap is 0 below this part of what it is made of,
const TOUCHES: f64 = 1e-11;
/// and below this part of the largest coordinates.
const NEAR: f64 = 1e-14;
/// A rate of a gap, or a slip, is 0 below this part of the terms it is made of,
const RESTS: f64 = 1e-10;
/// and below this part of the largest velocities.
const SLOW: f64 = 1e-14;
/// Outcomes of impacts closer than this are one.
const SAME: f64 = 1e-9;
/// An impact gains if its energy grows by more than this part of what it exchanges.
const GAINS: f64 = 1e-9;
/// How far ahead ties are decided: a part of the time in which the motion changes.
const AHEAD: f64 = 1e-6;
/// Bounds that hold unknowns are found together with these within so many rounds.
const ROUNDS: usize = 200;

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
    /// A slip has several components: only one is decided.
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
}

impl Deciding<'_> {
    /// Finds the phase of a state.
    pub fn settle(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
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
        let slips: Vec<f64> = (0..at.slips.len())
            .map(|f| {
                let rows = &at.slips[f].rows;
                let sticks = known.before.as_ref().is_some_and(|b| b.sticks[f]) && !is_struck;
                let small: f64 = rows.iter().map(slow).sum();
                let length = rows.iter().map(|row| row.value * row.value).sum::<f64>().sqrt();
                let is_zero = sticks || (known.stops.contains(&f) && !is_struck) || length <= small;
                if is_zero { 0.0 } else { rows[0].value }
            })
            .collect();
        let (found, elements) = self.decide(&at, &state, &resting, &slips, known.span)?;
        let mut settled = self.phase_of(&at, state, found.as_ref(), &elements);
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
        if let Some(friction) = at.slips.iter().position(|s| s.rows.len() != 1) {
            return Err(Fault::Vector { friction });
        }
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
        let mut touches = Touches::default();
        let mut list = Vec::new();
        let mut contacts = Vec::new();
        let (mut values, mut sizes) = (Vec::new(), Vec::new());
        for c in (0..at.gaps.len()).filter(|&c| touching[c]) {
            let gap = &at.gaps[c];
            let mut add = |row: &Row, value: f64| {
                touches.rows.push(row.entries.clone());
                touches.bias.push(0.0);
                values.push(value);
                sizes.push(row.size);
                touches.rows.len() - 1
            };
            let normal = add(&gap.row, rates[c]);
            let friction = self.model.system.contacts[c].friction;
            let slip = friction.map(|f| add(&at.slips[f].rows[0], at.slips[f].rows[0].value));
            let mu = friction.map_or(0.0, |f| bounds[f][0]);
            let law = Law::Coefficient(if mu.is_finite() { mu.max(0.0) } else { 0.0 });
            let touch =
                Touch { normal: Some(normal), slip, law, moves: Slip::None, must_slip: false };
            let restitution = if rests.contains(&c) { 0.0 } else { gap.restitution };
            list.push(contact::Struck { touch, restitution });
            contacts.push(c);
        }
        let space = Space::new(&at.numbers.terms(), &touches, DEFAULT).map_err(Fault::Space)?;
        let space = space.with_free(&values, &sizes);
        let word = self.impacts;
        let fault = |error: ImpactError| match error {
            ImpactError::None => Fault::ImpactNone,
            ImpactError::Several(_) => Fault::ImpactSeveral,
            ImpactError::Endless => Fault::ImpactDiffers { at_once: Vec::new(), in_turn: None },
        };
        let velocity = |loads: &[f64]| -> Vec<f64> {
            state.velocity.iter().zip(space.change(loads)).map(|(v, d)| v + d).collect()
        };
        let impact: Impact = match word {
            Some(Impacts::InTurn) => strike_in_turn(&space, &list).map_err(fault)?,
            Some(Impacts::AtOnce) => strike_together(&space, &list).map_err(fault)?,
            None => {
                let together = strike_together(&space, &list).map_err(fault)?;
                if list.len() > 1 && rests.is_empty() {
                    let turn = strike_in_turn(&space, &list).ok();
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
        };
        let of: f64 = norm(&space.motion(&impact.loads)).powi(2);
        if impact.energy > GAINS * of {
            return Err(Fault::ImpactGains { energy: impact.energy, of });
        }
        let mut loads = impact.loads;
        if !rests.is_empty() {
            self.bring_to_rest(&space, &list, &contacts, rests, &mut loads);
        }
        let after = space.accelerations(&loads);
        let mut impulses = vec![0.0; at.gaps.len()];
        let mut gap_rates = rates.to_vec();
        for (struck, &c) in list.iter().zip(&contacts) {
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
        slips: &[f64],
        bounds: &[[f64; 2]],
    ) -> Result<Elements, Fault> {
        let mut elements =
            Elements { touches: Touches::default(), held: Vec::new(), of: Vec::new() };
        let touches = &mut elements.touches;
        let mut add = |row: &Row| {
            touches.rows.push(row.entries.clone());
            touches.bias.push(row.bias);
            touches.rows.len() - 1
        };
        let moves = |f: usize| match slips[f] {
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
        for c in (0..at.gaps.len()).filter(|&c| resting[c]) {
            let friction = self.model.system.contacts[c].friction;
            let normal = Some(add(&at.gaps[c].row));
            let slip = friction.map(|f| add(&at.slips[f].rows[0]));
            let [mu, at_rest] = friction.map_or(Ok([0.0; 2]), bound)?;
            let law = Law::Coefficient(mu);
            let moves = friction.map_or(Slip::None, moves);
            let touch = Touch { normal, slip, law, moves, must_slip: false };
            elements.held.push(Held { touch, at_rest: Law::Coefficient(at_rest) });
            elements.of.push((Some(c), friction));
        }
        for f in (0..at.slips.len()).filter(|&f| at.slips[f].contact.is_none()) {
            let slip = Some(add(&at.slips[f].rows[0]));
            let [own, at_rest] = bound(f)?;
            let law = Law::Bound(own);
            let touch = Touch { normal: None, slip, law, moves: moves(f), must_slip: false };
            elements.held.push(Held { touch, at_rest: Law::Bound(at_rest) });
            elements.of.push((None, Some(f)));
        }
        Ok(elements)
    }

    /// The modes of what rests and slips; none if there is nothing to decide.
    fn decide(
        &self,
        at: &FactsAt,
        state: &State,
        resting: &[bool],
        slips: &[f64],
        span: f64,
    ) -> Result<(Option<(Found, Space)>, Elements), Fault> {
        let (ties, space, elements) = self.ties(at, resting, slips)?;
        if elements.held.is_empty() {
            return Ok((None, elements));
        }
        let mut best = &ties[0];
        if ties.len() > 1 {
            let ahead = self.ahead(&space, best, state, span);
            let later = ahead.and_then(|state| {
                let at = self.facts.at(&state).ok()?;
                self.ties(&at, resting, slips).ok()
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
        slips: &[f64],
    ) -> Result<(Vec<Found>, Space, Elements), Fault> {
        let mut bounds = self.facts.bounds(at, None);
        for _ in 0..ROUNDS {
            let elements = self.elements(at, resting, slips, &bounds)?;
            if elements.held.is_empty() {
                return Ok((Vec::new(), Space::default(), elements));
            }
            let terms = at.numbers.terms();
            let space = Space::new(&terms, &elements.touches, DEFAULT).map_err(Fault::Space)?;
            let mut decision = decide_held(&space, &elements.held);
            match decision.verdict {
                Verdict::Unique | Verdict::Found => {}
                Verdict::Several => {
                    let phases = decision.motions.iter().map(|ties| {
                        self.phase_of(
                            at,
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

    /// The state a little ahead.
    fn ahead(&self, space: &Space, found: &Found, state: &State, span: f64) -> Option<State> {
        let change = space.change(&found.loads);
        let acceleration: Vec<f64> = space.v_dot.iter().zip(&change).map(|(a, d)| a + d).collect();
        let (q, v, a) = (largest(&state.q), largest(&state.velocity), largest(&acceleration));
        let times = [v / a, (q / a).sqrt(), q / v].into_iter();
        let time = times.filter(|t| t.is_finite() && *t > 0.0).fold(span.abs(), f64::min);
        let dt = AHEAD * time * if span < 0.0 { -1.0 } else { 1.0 };
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
        at: &FactsAt,
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
                shown.sticks[f] = mode == contact::Mode::Stick;
                phase.modes[f] = match bears {
                    contact::Mode::Stick => Mode::Stick,
                    contact::Mode::Backwards => Mode::Backward,
                    contact::Mode::Forwards | contact::Mode::Open => match touch.moves {
                        Slip::Backwards => Mode::Backward,
                        _ => Mode::Forward,
                    },
                };
            }
        }
        let _ = at;
        let phase = phase.canonical(system);
        Settled { state, phase, shown, idle, struck: None, changes: Vec::new() }
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
