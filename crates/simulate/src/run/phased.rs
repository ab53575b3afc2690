//! A run through phases: the programs of each, kept, and the guards that end them.
//!
//! Each phase is a model of part 1 ([`System::in_phase`]) and is moved as any such model is. To its
//! events come guards, which end it:
//!
//! ```text
//! open     gap ↓ 0                 closed   N ↓ 0
//! stick    F_s ∓ f ↓ 0             slip     |v| ↓ 0
//! ```
//!
//! They are located as events are. What comes then is decided by [`Deciding`]; the next phase is
//! derived and compiled once, and kept.
//!
//! [`System::in_phase`]: dalembert_model::system::System::in_phase

use crate::phases::facts::Facts;
use crate::phases::lift::lifted;
use crate::phases::{Deciding, Fault, Known, Settled};
use crate::run::{Program, RunError, RunOptions};
use crate::setting::{Setting, State};
use dalembert_expr::{ExprId, Exprs, Number, Symbol, SymbolKind};
use dalembert_model::span::Span;
use dalembert_model::system::{Action, Event, Mode, Model, Phase, System, Unknown};
use dalembert_model::tree::Direction;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The bound of a friction becomes negative.
    Negative(usize),
}

/// A phase as it is moved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    phase: Phase,
    /// Contacts whose gaps stay 0 by the rows of others.
    idle: Vec<usize>,
    /// Frictions that slip by their force but do not move.
    still: Vec<usize>,
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
        Ok(Phases { setting, facts, options, known: Mutex::default() })
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
        self.compiled(Key { phase, idle: Vec::new(), still: Vec::new() }, state, &[])
    }

    /// The program of what was decided.
    pub fn program(&self, settled: &Settled) -> Result<Compiled, RunError> {
        let is_still = |f: &usize| settled.shown.sticks[*f] && !settled.phase.modes[*f].sticks();
        let still = (0..settled.phase.modes.len()).filter(is_still).collect();
        let key = Key { phase: settled.phase.clone(), idle: settled.idle.clone(), still };
        self.compiled(key, &settled.state, &settled.slow)
    }

    fn compiled(&self, key: Key, state: &State, slow: &[f64]) -> Result<Compiled, RunError> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&key) {
            return Ok(found.clone());
        }
        let (model, guards) = guarded(self.model(), &key, slow);
        let setting = self.setting.of_model(model);
        let mut program = Program::of_phase(&setting, &self.options, state)?;
        if let Some(functions) = &mut program.functions {
            functions.guard_from(self.own_events());
        }
        let compiled = Compiled { program, guards: Arc::new(guards) };
        lock().insert(key, compiled.clone());
        Ok(compiled)
    }
}

/// The model of a phase with its guards as events behind its own.
fn guarded(model: &Model, key: &Key, slow: &[f64]) -> (Model, Vec<Guard>) {
    let mut phased = model.in_phase(&key.phase);
    let exprs = phased.exprs.share();
    let system = &mut phased.system;
    let mut list: Vec<(Guard, String, ExprId, Direction)> = Vec::new();
    for at in 0..system.contacts.len() {
        let contact = &system.contacts[at];
        let name = contact.name.clone();
        if let Some(condition) = contact.condition {
            list.push((Guard::Condition(at), name.clone(), condition, Direction::Both));
        }
        match contact.held {
            Some(_) => {
                let load = exprs.of_symbol(contact.normal);
                list.push((Guard::Load(at), name, load, Direction::Falling));
            }
            None if !key.idle.contains(&at) => {
                list.push((Guard::Gap(at), name, contact.gap(), Direction::Falling));
            }
            None => {}
        }
    }
    for at in 0..system.frictions.len() {
        let Some(mode) = key.phase.mode(system, at) else { continue };
        let name = system.frictions[at].name.clone();
        // What depends on nothing that changes does not change its sign.
        let bound = system.frictions[at].bound;
        let changes = |s: &Symbol| {
            *s == Symbol::TIME
                || system.configuration().contains(s)
                || system.velocities().contains(s)
        };
        if system.frictions[at].contact.is_none() && exprs.symbols_of(&[bound]).iter().any(changes)
        {
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
                let slow = slow.get(at).copied().unwrap_or(0.0);
                let limit =
                    Number::from_f64(slow * slow).map_or(ExprId::ZERO, |x| exprs.of_number(x));
                let left = (exprs.at(exprs.sum(&squares)) - exprs.at(limit)).id;
                list.push((Guard::Slip(at), name, left, Direction::Falling));
            }
            Mode::Toward => {}
        }
    }
    let mut guards = Vec::new();
    for (guard, name, function, direction) in list {
        guards.push(guard);
        let span = match guard {
            Guard::Gap(c) | Guard::Condition(c) | Guard::Load(c) => system.contacts[c].span,
            Guard::Bound(f) | Guard::Slip(f) | Guard::Negative(f) => system.frictions[f].span,
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
    (phased, guards)
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
