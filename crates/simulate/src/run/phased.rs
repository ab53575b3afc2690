//! A run through phases: the programs of each, kept, and the guards that end them.
//!
//! Each phase is a model of part 1 ([`System::in_phase`]) and is moved as any such model is. To its
//! events come guards, which end it:
//!
//! ```text
//! open     gap ↓ 0                 closed   N ↓ 0
//! there    condition ↓ 0           away     condition ↑ 0
//! stick    F_s ∓ f ↓ 0             slip     |v| ↓ 0
//! ```
//!
//! |v|² of several components is not seen to pass 0 by steps that pass all of it; v·d is, with d the
//! direction of the slip where the phase began. A slip that has turned from d goes on with another d.
//!
//! They are located as events are. What comes then is decided by [`Deciding`]; the next phase is
//! derived and compiled once, and kept, for all settings of the model: parameters are constants of what
//! is compiled. Nothing that is kept depends on who came to a phase first.
//!
//! [`System::in_phase`]: dalembert_model::system::System::in_phase

use crate::at_state::report::EvalError;
use crate::phases::facts::Facts;
use crate::phases::lift::lifted;
use crate::phases::{Deciding, Fault, Known, Settled, Slow, rows};
use crate::run::{Program, RunError, RunOptions};
use crate::setting::{Setting, State};
use dalembert_expr::{ExprId, Exprs, Symbol, SymbolKind};
use dalembert_model::span::Span;
use dalembert_model::system::{
    Action, Event, Friction, Mode, Model, Parameter, Phase, System, Unknown,
};
use dalembert_model::tree::Direction;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a guard tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The gap of an open contact is 0.
    Gap(usize),
    /// A contact begins or ceases to be there.
    Condition(usize),
    /// The load of a closed contact is 0.
    Load(usize),
    /// A friction is at its bound.
    Bound(usize),
    /// A slip is 0.
    Slip(usize),
    /// A slip of several components has turned by a right angle: it has passed 0, or nearly, or has gone
    /// around.
    Turn(usize),
    /// The bound of a friction becomes negative.
    Negative(usize),
}

/// Symbols that stand for multipliers of least norm, with their rows.
type Least = Vec<(Symbol, usize)>;

/// A phase as it is moved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    phase: Phase,
    /// Contacts whose gaps stay 0 by the rows of others.
    idle: Vec<usize>,
    /// Frictions that slip by their force but do not move.
    still: Vec<usize>,
    /// Contacts that are not there.
    away: Vec<usize>,
}

/// A phase with its program.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub program: Program,
    /// The guards, in the order of the events behind the model's own.
    pub guards: Arc<Vec<Guard>>,
}

/// The phases of a model, as far as they were met.
pub(crate) struct Phases {
    setting: Setting,
    facts: Facts,
    options: RunOptions,
    known: Mutex<FxHashMap<Key, Compiled>>,
    family: Arc<Family>,
}

/// The programs that all settings of a model share.
struct Family {
    /// The one with whose parameters they were compiled.
    setting: Setting,
    known: Mutex<FxHashMap<Key, Compiled>>,
}

/// Whether programs are for any state: charts, and whether there are momenta, are decided at the first
/// state of a phase.
fn shares(options: &RunOptions) -> bool {
    !options.formulation.has_chart() && !options.formulation.needs_regular_mass()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Phases {
    /// Of a setting whose model has contacts or frictions.
    pub fn new(setting: &Setting, options: &RunOptions) -> Result<Phases, RunError> {
        // Guards are events too: where the model's own do not happen, these still do.
        let mut options = options.clone();
        let setting = if options.events {
            setting.clone()
        } else {
            options.events = true;
            let mut model = setting.given().share();
            model.system.events.clear();
            setting.of_model(model)
        };
        let facts = Facts::new(&setting, setting.given()).map_err(RunError::Formulation)?;
        let family = Arc::new(Family { setting: setting.clone(), known: Mutex::default() });
        Ok(Phases { setting, facts, options, known: Mutex::default(), family })
    }

    /// The same with other values of the parameters.
    pub fn with(&self, setting: &Setting) -> Phases {
        // A model without its events is one of its own.
        let setting = setting.of_given(self.setting.given());
        let (facts, options) = (self.facts.with(&setting), self.options.clone());
        let family = match shares(&options) {
            false => Arc::new(Family { setting: setting.clone(), known: Mutex::default() }),
            true => Arc::clone(&self.family),
        };
        Phases { setting, facts, options, known: Mutex::default(), family }
    }

    /// The same where motions stick at switches of forces: with these as frictions. `None` where they
    /// are none.
    pub fn lifted(
        setting: &Setting,
        options: &RunOptions,
        switches: &[(ExprId, Option<Span>)],
    ) -> Option<Phases> {
        let model = lifted(setting.given(), switches)?;
        Phases::new(&setting.of_model(model), options).ok()
    }

    /// The setting of the model as written.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The model as written.
    pub fn model(&self) -> &Model {
        self.setting.given()
    }

    /// How many events the model has of its own.
    pub fn own_events(&self) -> usize {
        self.model().system.events.len()
    }

    /// Where a state goes on.
    pub fn settle(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let impacts = self.model().system.run.impacts;
        let (facts, model) = (&self.facts, self.model());
        Deciding { facts, model, setting: self.facts.bare(), impacts }.settle(state, known)
    }

    /// The phase in which everything is open and nothing has stopped: for a run that has none.
    pub fn free(&self, state: &State) -> Result<Compiled, RunError> {
        let phase = Phase::free(&self.model().system);
        self.compiled(Key { phase, idle: Vec::new(), still: Vec::new(), away: Vec::new() }, state)
    }

    /// The phase in which nothing is held, for states that events set: no slip has a direction.
    pub fn loose(&self, state: &State) -> Result<Compiled, RunError> {
        let system = &self.model().system;
        let mut phase = Phase::free(system);
        for (mode, friction) in phase.modes.iter_mut().zip(&system.frictions) {
            *mode = if friction.slip.len() > 1 { Mode::Toward } else { Mode::Forward };
        }
        let phase = phase.canonical(system);
        let key = Key { phase, idle: Vec::new(), still: Vec::new(), away: Vec::new() };
        self.compiled(key, state)
    }

    /// The program of what was decided.
    pub fn program(&self, settled: &Settled) -> Result<Compiled, RunError> {
        let is_still = |f: &usize| settled.shown.sticks[*f] && !settled.phase.modes[*f].sticks();
        let still = (0..settled.phase.modes.len()).filter(is_still).collect();
        let there = &settled.shown.there;
        let away = (0..there.len()).filter(|&c| !there[c]).collect();
        let key = Key { phase: settled.phase.clone(), idle: settled.idle.clone(), still, away };
        let mut compiled = self.compiled(key, &settled.state)?;
        compiled.set_slow(&settled.slow, &settled.from, settled.fast);
        Ok(compiled)
    }

    fn compiled(&self, key: Key, state: &State) -> Result<Compiled, RunError> {
        let found = lock(&self.known).get(&key).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        let compiled = self.compile(&key, state)?;
        lock(&self.known).insert(key, compiled.clone());
        Ok(compiled)
    }

    /// The program of a phase with the parameters of the setting.
    fn compile(&self, key: &Key, state: &State) -> Result<Compiled, RunError> {
        let anew = |setting: &Setting, state: Option<&State>| -> Result<Compiled, RunError> {
            let (model, guards, least) = guarded(setting.given(), key);
            let setting = setting.of_model(model);
            let mut program = Program::of_phase(&setting, &self.options, state)
                .map_err(|error| as_written(error, &setting))?;
            if let Some(functions) = &mut program.functions {
                functions.guard_from(self.own_events());
                functions.set_least(least);
            }
            Ok(Compiled { program, guards: Arc::new(guards) })
        };
        if !shares(&self.options) {
            return anew(&self.setting, Some(state));
        }
        let found = lock(&self.family.known).get(key).cloned();
        let common = match found {
            Some(found) => found,
            None => {
                let compiled = anew(&self.family.setting, None)?;
                lock(&self.family.known).insert(key.clone(), compiled.clone());
                compiled
            }
        };
        let compiled = match self.setting.is_same(&self.family.setting) {
            true => common,
            false => {
                let setting = self.setting.of_model(common.program.setting().given().share());
                match common.program.with(&setting) {
                    Some(program) => Compiled { program, ..common },
                    // With these values other rows are held.
                    None => return anew(&self.setting, Some(state)),
                }
            }
        };
        let setting = compiled.program.setting();
        compiled.program.check(state).map_err(|error| as_written(error, setting))?;
        Ok(compiled)
    }
}

/// An error that speaks of the rows of a phase, for who reads the model as written.
fn as_written(error: RunError, setting: &Setting) -> RunError {
    let number = |row| rows::as_written(&setting.model.system, row);
    match error {
        RunError::Refused(refusal) => RunError::Refused(refusal.renumbered(&number)),
        RunError::Eval(EvalError::Refused(refusal)) => {
            RunError::Eval(EvalError::Refused(refusal.renumbered(&number)))
        }
        other => other,
    }
}

impl Compiled {
    /// How slow is at rest, for slips of several components, and their directions.
    fn set_slow(&mut self, slow: &[Slow], from: &[Vec<f64>], fast: f64) {
        let system = &self.program.setting().model.system;
        let of_name = |name: String| system.parameters.iter().find(|p| p.name == name);
        let first = system.events.len() - self.guards.len();
        let guards = self.guards.iter().enumerate().filter_map(|(at, guard)| match *guard {
            Guard::Slip(f) => Some((first + at, f)),
            _ => None,
        });
        let limit = |(event, f): (usize, usize)| {
            let parameter = of_name(slow_name(&system.frictions[f]))?;
            Some((event, parameter.symbol, *slow.get(f)?))
        };
        let list: Vec<(usize, Symbol, Slow)> = guards.filter_map(limit).collect();
        let directions = system.frictions.iter().zip(from).flat_map(|(friction, from)| {
            let known = |(k, &d): (usize, &f64)| Some((of_name(from_name(friction, k))?.symbol, d));
            from.iter().enumerate().filter_map(known).collect::<Vec<_>>()
        });
        let directions: Vec<(Symbol, f64)> = directions.collect();
        if let Some(functions) = self.program.functions.as_mut().filter(|_| !list.is_empty()) {
            functions.set_slow(&list, directions, fast);
        }
    }
}

fn slow_name(friction: &Friction) -> String {
    format!("{}.slow", friction.name)
}

fn from_name(friction: &Friction, k: usize) -> String {
    format!("{}.from[{}]", friction.name, k + 1)
}

/// The model of a phase with its guards as events behind its own, and the symbols in these that stand for
/// multipliers of least norm, by rows.
fn guarded(model: &Model, key: &Key) -> (Model, Vec<Guard>, Least) {
    let mut phased = model.in_phase(&key.phase);
    let exprs = phased.exprs.share();
    let system = &mut phased.system;
    let mut list: Vec<(Guard, String, ExprId, Direction)> = Vec::new();
    let mut least = Least::new();
    for at in 0..system.contacts.len() {
        let contact = &system.contacts[at];
        let name = contact.name.clone();
        if let Some(condition) = contact.condition {
            // By its direction it comes from the side that was decided on, whatever its sign is where
            // it has just passed 0.
            let direction =
                if key.away.contains(&at) { Direction::Rising } else { Direction::Falling };
            list.push((Guard::Condition(at), name.clone(), condition, direction));
        }
        match contact.held {
            Some(_) => {
                let load = exprs.of_symbol(contact.normal);
                list.push((Guard::Load(at), name, load, Direction::Falling));
            }
            None if !key.idle.contains(&at) && !key.away.contains(&at) => {
                list.push((Guard::Gap(at), name, contact.gap(), Direction::Falling));
            }
            None => {}
        }
    }
    for at in 0..system.frictions.len() {
        let Some(mode) = key.phase.mode(system, at) else { continue };
        let name = system.frictions[at].name.clone();
        // What depends on nothing that changes does not change its sign. A contact's is that of its
        // coefficient: the load has a guard of its own.
        let bound = match system.frictions[at].contact {
            None => system.frictions[at].bound,
            Some(c) => {
                let unit = (system.contacts[c].normal, ExprId::ONE);
                exprs.substitute(&[system.frictions[at].bound], &[unit])[0]
            }
        };
        let changes = |s: &Symbol| {
            *s == Symbol::TIME
                || system.configuration().contains(s)
                || system.velocities().contains(s)
                || system.unknowns.iter().any(|unknown| unknown.0 == *s)
        };
        if exprs.symbols_of(&[bound]).iter().any(changes) {
            list.push((Guard::Negative(at), name.clone(), bound, Direction::Falling));
        }
        match mode {
            Mode::Stick => {
                let bound = system.frictions[at].static_bound.unwrap_or(system.frictions[at].bound);
                let forces = held_forces(&exprs, system, at);
                let bound = exprs.at(bound);
                if let [force] = forces[..] {
                    for room in [(bound - exprs.at(force)).id, (bound + exprs.at(force)).id] {
                        list.push((Guard::Bound(at), name.clone(), room, Direction::Falling));
                    }
                } else {
                    // What several share is not unique, and is looked at where the least of it, in the
                    // mean, is above a bound.
                    let mut stands_for = |row: usize| {
                        let name = format!("{}.least[{row}]", system.frictions[at].name);
                        let symbol = exprs.symbol(&name, SymbolKind::Variable);
                        least.push((symbol, row));
                        system.unknowns.push((symbol, Unknown::Multiplier(row)));
                        exprs.of_symbol(symbol)
                    };
                    let held = system.frictions[at].held.clone().unwrap_or(0..0);
                    let forces: Vec<ExprId> = held.map(&mut stands_for).collect();
                    let contact = system.frictions[at].contact.map(|c| &system.contacts[c]);
                    let normal = contact.and_then(|c| Some((c.normal, c.held?)));
                    let bound = match normal {
                        Some((symbol, row)) => {
                            let load = stands_for(row);
                            exprs.at(exprs.substitute(&[bound.id], &[(symbol, load)])[0])
                        }
                        None => bound,
                    };
                    let squares: Vec<ExprId> =
                        forces.iter().map(|&f| exprs.at(f).powi(2).id).collect();
                    let room = (bound.powi(2) - exprs.at(exprs.sum(&squares))).id;
                    list.push((Guard::Bound(at), name, room, Direction::Falling));
                }
            }
            // The load tells when it ceases to be there.
            Mode::HeldForward | Mode::HeldBackward => {}
            _ if key.still.contains(&at) => {}
            Mode::Forward => {
                let slip = system.frictions[at].slip[0];
                list.push((Guard::Slip(at), name, slip, Direction::Falling));
            }
            Mode::Backward => {
                let slip = system.frictions[at].slip[0];
                list.push((Guard::Slip(at), name, slip, Direction::Rising));
            }
            Mode::Slip => {
                // |v|² does not pass 0; what is slower than this has stopped.
                let squares: Vec<ExprId> =
                    system.frictions[at].slip.iter().map(|&v| exprs.at(v).powi(2).id).collect();
                let (name_of_limit, span) =
                    (slow_name(&system.frictions[at]), system.frictions[at].span);
                let limit = exprs.symbol(&name_of_limit, SymbolKind::Constant);
                system.parameters.push(Parameter {
                    name: name_of_limit,
                    symbol: limit,
                    value: Some(ExprId::ZERO),
                    span,
                });
                let limit = exprs.of_symbol(limit);
                let left = (exprs.at(exprs.sum(&squares)) - exprs.at(limit)).id;
                list.push((Guard::Slip(at), name.clone(), left, Direction::Falling));
                let mut terms = Vec::new();
                for k in 0..system.frictions[at].slip.len() {
                    let name = from_name(&system.frictions[at], k);
                    let symbol = exprs.symbol(&name, SymbolKind::Constant);
                    let value = Some(ExprId::ZERO);
                    system.parameters.push(Parameter { name, symbol, value, span });
                    let v = exprs.at(system.frictions[at].slip[k]);
                    terms.push((exprs.at(exprs.of_symbol(symbol)) * v).id);
                }
                list.push((Guard::Turn(at), name, exprs.sum(&terms), Direction::Falling));
            }
            Mode::Toward => {}
        }
    }
    let mut guards = Vec::new();
    for (guard, name, function, direction) in list {
        guards.push(guard);
        let span = match guard {
            Guard::Gap(c) | Guard::Condition(c) | Guard::Load(c) => system.contacts[c].span,
            Guard::Bound(f) | Guard::Slip(f) | Guard::Turn(f) | Guard::Negative(f) => {
                system.frictions[f].span
            }
        };
        system.events.push(Event {
            name,
            function,
            direction,
            period: None,
            change: None,
            action: Action::Stop,
            span,
        });
    }
    (phased, guards, least)
}

/// The multipliers of a friction that sticks.
fn held_forces(exprs: &Exprs, system: &mut System, at: usize) -> Vec<ExprId> {
    let friction = &system.frictions[at];
    let Some(held) = friction.held.clone() else { return Vec::new() };
    let name = friction.name.clone();
    held.map(|row| {
        let known = system.unknowns.iter().find(|u| u.1 == Unknown::Multiplier(row));
        let symbol = known.map(|u| u.0).unwrap_or_else(|| {
            let symbol = exprs.symbol(&format!("{name}.held[{row}]"), SymbolKind::Variable);
            system.unknowns.push((symbol, Unknown::Multiplier(row)));
            symbol
        });
        exprs.of_symbol(symbol)
    })
    .collect()
}
