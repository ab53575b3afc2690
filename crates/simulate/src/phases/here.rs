//! The phase that one state is in, for what looks at a state: numbers, analyses, linear equations.
//!
//! ```text
//! state → decision → phase → model of part 1, state
//! ```
//!
//! Contacts that are closed and frictions that stick are rows of that model, also those whose load
//! others could bear: their multipliers are then not unique, and said to be so. Where the state is
//! struck the state is the one after the impact.
//!
//! Beside the decision a state has a distance to the edges of its phase: N of what is closed, gaps of
//! what is open, F − |f| of what sticks, |v| of what slips. On an edge there are no linear equations,
//! and beyond one there is another phase.

use crate::normal_form::Solved;
use crate::phases::facts::{Facts, FactsAt, Row};
use crate::phases::{Deciding, Fault, Known, Settled, Shown, Struck};
use crate::setting::legendre::NewtonError;
use crate::setting::{Setting, State};
use dalembert_expr::Symbol;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Mode, Model, Phase, System, Touched};

/// What is closer to an edge than this part of what it is made of is on it.
const EDGE: f64 = 1e-9;

/// By friction, where a slip begins to.
type Directions = Vec<Option<Vec<f64>>>;

/// The phase of a state, and its model.
#[derive(Clone)]
pub struct Here {
    /// The part 1 model of the phase.
    pub model: Model,
    /// The same with the values of the parameters.
    pub setting: Setting,
    /// The phase.
    pub phase: Phase,
    /// The state; that after the impact, if there is one.
    pub state: State,
    /// The impact that the state is at.
    pub struck: Option<Struck>,
    /// The accelerations that were decided on; empty where nothing touches.
    pub accelerations: Vec<f64>,
    /// Whether it is proved that there is no other motion.
    pub is_only: bool,
    shown: Shown,
    facts: Facts,
    /// The phase in which nothing is held that others bear, where that is another one.
    borne: Option<Phase>,
    directions: Directions,
    given: Setting,
}

impl std::fmt::Debug for Here {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Here").field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// An edge of a phase that a state is on, or beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Of what.
    pub of: Touched,
    /// Which.
    pub what: EdgeOf,
    /// Whether the state is beyond it.
    pub is_beyond: bool,
}

/// What is 0 at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOf {
    /// The load of a closed contact.
    Load,
    /// The gap of an open one.
    Gap,
    /// F − |f| of a friction that sticks.
    Bound,
    /// The slip of a friction that slips.
    Slip,
    /// The time to an impact.
    Impact,
}

/// What finds the phases of states of a model.
#[derive(Clone)]
pub struct Decider {
    given: Setting,
    facts: Facts,
}

impl Decider {
    /// `None` of a model without contacts and frictions, or in a phase already.
    pub fn new(setting: &Setting) -> Result<Option<Decider>, Vec<Diagnostic>> {
        let model = setting.given();
        if !model.system.wants_phase() {
            return Ok(None);
        }
        let facts = Facts::new(setting, model)?;
        Ok(Some(Decider { given: setting.clone(), facts }))
    }

    /// The model as it is given.
    pub fn model(&self) -> &Model {
        self.given.given()
    }

    /// The model without contacts and frictions.
    pub fn bare(&self) -> &Setting {
        self.facts.bare()
    }

    /// Other values of the parameters.
    pub fn set_values(&mut self, symbols: &[Symbol], values: &[f64]) {
        self.given.set_values(symbols, values);
        self.facts.set_values(symbols, values);
    }

    /// The phase of a state.
    pub fn at(&self, state: &State) -> Result<Here, Fault> {
        let Decider { given: setting, facts } = self;
        let model = setting.given();
        let impacts = model.system.run.impacts;
        let deciding = Deciding { facts, model, setting: facts.bare(), impacts };
        let known = Known { span: setting.duration().max(1.0), ..Known::default() };
        let settled = deciding.settle(state, &known)?;
        let (phase, directions) =
            shown_phase(facts, &model.system, state, &settled).map_err(Fault::State)?;
        let state = match settled.struck {
            Some(_) => settled.state,
            None => state.clone(),
        };
        let borne = with_directions(settled.phase, &directions);
        let mut here = Here {
            model: model.share(),
            setting: setting.clone(),
            phase: phase.clone(),
            state,
            struck: settled.struck,
            accelerations: settled.v_dot,
            is_only: settled.proved,
            shown: settled.shown,
            facts: facts.clone(),
            borne: (borne != phase).then_some(borne),
            directions,
            given: setting.clone(),
        };
        here.enter(phase);
        Ok(here)
    }
}

impl Here {
    /// The phase of a state; `None` of a model without contacts and frictions, or in a phase already.
    pub fn of(setting: &Setting, state: &State) -> Result<Option<Here>, Fault> {
        // What has no picture has no equations either, and is told by these.
        let Ok(Some(decider)) = Decider::new(setting) else { return Ok(None) };
        decider.at(state).map(Some)
    }

    /// The directions of slips that begin, as values of their parameters.
    pub fn directions(&self) -> Vec<(String, f64)> {
        let frictions = self.model.system.frictions.iter().zip(&self.directions);
        let named = frictions.filter_map(|(f, d)| Some((f, d.as_ref()?))).flat_map(|(f, d)| {
            let name = |k: usize| format!("{}.toward[{}]", f.name, k + 1);
            d.iter().enumerate().map(move |(k, &x)| (name(k), x)).collect::<Vec<_>>()
        });
        named.collect()
    }

    /// The same where only what bears a load is held; `None` where that is so already.
    pub fn without_idle(&self) -> Option<Here> {
        let mut here = self.clone();
        let phase = here.borne.take()?;
        here.enter(phase);
        Some(here)
    }

    fn enter(&mut self, phase: Phase) {
        self.model = self.given.given().in_phase(&phase);
        self.setting = self.given.of_model(self.model.share());
        for (friction, direction) in self.model.system.frictions.iter().zip(&self.directions) {
            if let Some(direction) = direction.as_ref().filter(|_| !friction.toward.is_empty()) {
                self.setting.set_values(&friction.toward, direction);
            }
        }
        self.phase = phase;
    }

    /// By name, in the order of the text: contacts are `open`, `closed` (without friction), `slips` or
    /// `sticks`; frictions of their own `slips` or `sticks`.
    pub fn words(&self) -> Vec<(&str, &'static str)> {
        let system = &self.model.system;
        let moves = |f: usize| if self.shown.sticks[f] { "sticks" } else { "slips" };
        let contacts = system.contacts.iter().zip(&self.shown.closed).map(|(contact, &closed)| {
            let word = match (closed, contact.friction) {
                (false, _) => "open",
                (true, None) => "closed",
                (true, Some(f)) => moves(f),
            };
            (contact.name.as_str(), word)
        });
        let own = system.frictions.iter().enumerate().filter(|(_, f)| f.contact.is_none());
        contacts.chain(own.map(|(at, f)| (f.name.as_str(), moves(at)))).collect()
    }

    /// Contacts and frictions as they are seen.
    pub(crate) fn shown(&self) -> &Shown {
        &self.shown
    }

    /// The edges of the phase that a state with its solution is on or beyond.
    pub fn edges(&self, state: &State, solved: &Solved<'_>) -> Result<Vec<Edge>, NewtonError> {
        let system = &self.model.system;
        let at = self.facts.at(state)?;
        let mut table = state.table(system);
        solved.fill(system, &mut table);
        let known = |row: usize| match solved.indeterminate.get(row) {
            Some(false) => solved.multipliers.get(row).copied(),
            _ => None,
        };
        let mut edges = Vec::new();
        let mut see = |of: Touched, what: EdgeOf, room: f64, small: f64| {
            if room <= small {
                edges.push(Edge { of, what, is_beyond: room < -small });
            }
        };
        for (c, contact) in system.contacts.iter().enumerate() {
            let (gap, of) = (&at.gaps[c], Touched::Contact(c));
            match contact.held {
                Some(row) => {
                    if let Some(load) = known(row) {
                        let small = EDGE * pressing(&at, &gap.row, solved.constraint_force);
                        see(of, EdgeOf::Load, load, small);
                    }
                }
                None if self.shown.closed[c] || !self.shown.there[c] => {}
                None => see(of, EdgeOf::Gap, gap.gap, EDGE * gap.size),
            }
        }
        for (f, friction) in system.frictions.iter().enumerate() {
            let Some(mode) = self.phase.mode(system, f) else { continue };
            let of = friction.contact.map_or(Touched::Friction(f), Touched::Contact);
            let bound = self.setting.number(friction.bound, &table);
            match &friction.held {
                Some(held) => {
                    let forces: Option<Vec<f64>> = held.clone().map(known).collect();
                    let Some(forces) = forces else { continue };
                    let force = forces.iter().map(|f| f * f).sum::<f64>().sqrt();
                    let at_rest = friction.static_bound.map(|s| self.setting.number(s, &table));
                    let bound = at_rest.map_or(bound, |s| s.max(bound));
                    see(of, EdgeOf::Bound, bound - force, EDGE * bound.max(force));
                }
                // What cannot push may be at rest.
                None if bound == 0.0 => {}
                None => {
                    let rows = &at.slips[f].rows;
                    let speed = match mode {
                        Mode::Forward => rows[0].value,
                        Mode::Backward => -rows[0].value,
                        _ => length(rows),
                    };
                    see(of, EdgeOf::Slip, speed, EDGE * rows.iter().map(|r| r.size).sum::<f64>());
                }
            }
        }
        if let Some(struck) = &self.struck {
            for (c, _) in struck.impulses.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                edges.push(Edge { of: Touched::Contact(c), what: EdgeOf::Impact, is_beyond: true });
            }
        }
        Ok(edges)
    }
}

impl Edge {
    /// In words.
    pub fn words(&self, system: &System) -> String {
        let name = match self.of {
            Touched::Contact(c) => &system.contacts[c].name,
            Touched::Friction(f) => &system.frictions[f].name,
        };
        let why = match (self.what, self.is_beyond) {
            (EdgeOf::Load, false) => "is about to open: it is closed and bears no load",
            (EdgeOf::Load, true) => "would have to pull",
            (EdgeOf::Gap, false) => "touches and is not closed",
            (EdgeOf::Gap, true) => "is open, and its gap is below 0",
            (EdgeOf::Bound, false) => {
                "is about to slip: the force that holds it is as large as it can be"
            }
            (EdgeOf::Bound, true) => "sticks, and the force that holds it is beyond its bound",
            (EdgeOf::Slip, false) => "does not stick, and its slip is 0",
            (EdgeOf::Slip, true) => "slips the other way",
            (EdgeOf::Impact, _) => "is struck: velocities jump",
        };
        format!("`{name}` {why}")
    }
}

/// The phase in which all is held that is seen to be, and the directions of slips that begin.
fn shown_phase(
    facts: &Facts,
    system: &System,
    state: &State,
    settled: &Settled,
) -> Result<(Phase, Directions), NewtonError> {
    let mut phase = settled.phase.clone();
    let shown = &settled.shown;
    for (c, contact) in system.contacts.iter().enumerate() {
        // The loads that others share are not known one by one, and so is what slips by them.
        if shown.closed[c] && contact.friction.is_none_or(|f| shown.sticks[f]) {
            phase.closed[c] = true;
        }
    }
    for (f, friction) in system.frictions.iter().enumerate() {
        if shown.sticks[f] && friction.contact.is_none_or(|c| phase.closed[c]) {
            phase.modes[f] = Mode::Stick;
        }
    }
    // Slips of several components that begin have a direction an instant later.
    let mut directions = vec![None; system.frictions.len()];
    let begins = settled.struck.is_none() && settled.state.velocity != state.velocity;
    if begins {
        let (now, later) = (facts.at(state)?, facts.at(&settled.state)?);
        for (f, direction) in directions.iter_mut().enumerate() {
            let (now, later) = (&now.slips[f].rows, &later.slips[f].rows);
            let speed = length(later);
            let slips = phase.mode(system, f) == Some(Mode::Slip) && later.len() > 1;
            if slips && length(now) < 0.5 * speed {
                *direction = Some(later.iter().map(|row| row.value / speed).collect());
            }
        }
    }
    Ok((with_directions(phase, &directions), directions))
}

/// The phase with given directions.
fn with_directions(mut phase: Phase, directions: &[Option<Vec<f64>>]) -> Phase {
    for (mode, direction) in phase.modes.iter_mut().zip(directions) {
        if direction.is_some() && *mode == Mode::Slip {
            *mode = Mode::Toward;
        }
    }
    phase
}

fn length(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.value * row.value).sum::<f64>().sqrt()
}

/// The load with which all terms of forces together would press along a row, if none were against
/// another.
fn pressing(at: &FactsAt, row: &Row, constraint_force: &[f64]) -> f64 {
    let terms = at.numbers.terms();
    // The rounding of a force tells what it is the sum of.
    let size = |i: usize| match terms.noise {
        Some(noise) => terms.force[i].abs().max(noise.force[i] / f64::EPSILON),
        None => terms.force[i].abs(),
    };
    let (mut force, mut mass) = (0.0, 0.0);
    for (i, &a) in row.entries.iter().enumerate() {
        let inertia: f64 = terms.metric_row(i).filter(|e| e.0 == i).map(|e| e.1.abs()).sum();
        if a != 0.0 && inertia > 0.0 {
            let held = constraint_force.get(i).copied().unwrap_or(0.0);
            force += a.abs() * (size(i) + held.abs()) / inertia;
            mass += a * a / inertia;
        }
    }
    if mass > 0.0 { force / mass } else { 0.0 }
}
