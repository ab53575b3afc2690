//! The part 1 model of a phase.
//!
//! ```text
//! open      N = 0, no friction
//! closed    row gap = 0, with N its multiplier
//! sticks    rows v = 0, with f their multipliers
//! slips     nonideal force −wᵀF d, f = −F d;  d = v/|v|, ±1 or given
//! edge      row gap' ∓ μv = 0, with N its multiplier and f = ∓μN
//! ```
//!
//! The last one is of a contact that sticks among more than it takes to hold what is held: N (∂gap ∓ μw)
//! is a load at the edge of its cone, and as gap' and v are 0 by all rows together, so is the rate along it.
//! That is an ideal row; a force ∓μN beside the row gap = 0 would hold less.
//!
//! Rows come behind those that are written: first of contacts, then of frictions, each in the order
//! of the text, so that numbers of rows and multipliers as written stay what they are. What speaks
//! of N, of f or of modes anywhere in the model (forces, outputs, events, checks) speaks of
//! multipliers, forces and numbers of part 1 afterwards; nothing downstream knows of contacts.

use super::{
    Constraint, Energy, Force, Friction, Level, Mode, OfTouch, Parameter, Phase, System, Unknown,
};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use dalembert_expr::{ExprId, Exprs, Function, Symbol, SymbolKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Phase {
    /// Everything open, everything that acts always slipping.
    pub fn free(system: &System) -> Phase {
        Phase {
            closed: vec![false; system.contacts.len()],
            modes: vec![Mode::Slip; system.frictions.len()],
        }
    }

    /// Everything closed and slipping: the phase that documents show, with all that can act in it.
    pub fn shown(system: &System) -> Phase {
        Phase { closed: vec![true; system.contacts.len()], ..Phase::free(system) }
    }

    /// Whether a friction acts in this phase: that of an open contact does not.
    pub fn acts(&self, system: &System, friction: usize) -> bool {
        match system.frictions[friction].contact {
            Some(contact) => self.closed.get(contact).copied().unwrap_or(false),
            None => true,
        }
    }

    /// The mode of a friction, if it acts.
    pub fn mode(&self, system: &System, friction: usize) -> Option<Mode> {
        let mode = self.modes.get(friction).copied().unwrap_or(Mode::Slip);
        self.acts(system, friction).then_some(mode)
    }

    /// The same phase with what counts for nothing set to one value, so that equal phases compare
    /// equal.
    pub fn canonical(mut self, system: &System) -> Phase {
        self.closed.resize(system.contacts.len(), false);
        self.modes.resize(system.frictions.len(), Mode::Slip);
        for friction in 0..self.modes.len() {
            if !self.acts(system, friction) {
                self.modes[friction] = Mode::Slip;
            }
        }
        self
    }

    /// The phase of words such as `left closed, rub sticks`; what is not named is as in
    /// [`Phase::shown`].
    pub fn of_words(system: &System, text: &str) -> Result<Phase, String> {
        let mut phase = Phase::shown(system);
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let Some((name, word)) = item.split_once(char::is_whitespace) else {
                return Err(format!("`{item}` is not of the form `NAME sticks`"));
            };
            let (name, word) = (name.trim(), word.trim());
            let contact = system.contacts.iter().position(|c| c.name == name);
            let friction = match contact {
                Some(c) => system.contacts[c].friction,
                None => system.frictions.iter().position(|f| f.name == name),
            };
            let known = ["open", "closed", "slips", "sticks"];
            match (word, contact, friction) {
                ("open", Some(c), _) => phase.closed[c] = false,
                ("closed", Some(c), _) => phase.closed[c] = true,
                ("slips" | "sticks", _, Some(f)) => {
                    contact.into_iter().for_each(|c| phase.closed[c] = true);
                    phase.modes[f] = if word == "sticks" { Mode::Stick } else { Mode::Slip };
                }
                ("slips" | "sticks", Some(_), None) => {
                    return Err(format!("`{name}` has no friction"));
                }
                (_, None, None) => {
                    let contacts = system.contacts.iter().map(|c| c.name.as_str());
                    let own = system.frictions.iter().filter(|f| f.contact.is_none());
                    let names: Vec<&str> = contacts.chain(own.map(|f| f.name.as_str())).collect();
                    let there = match names.is_empty() {
                        true => "there is none".to_owned(),
                        false => format!("there are {}", names.join(", ")),
                    };
                    return Err(format!("no contact or friction is called `{name}`; {there}"));
                }
                ("open" | "closed", None, _) => {
                    return Err(format!("`{name}` is no contact: it `slips` or `sticks`"));
                }
                _ => {
                    let known = known.join(", ");
                    return Err(format!("`{word}` is no word for `{name}`; there are {known}"));
                }
            }
        }
        Ok(phase.canonical(system))
    }

    /// In words: `left closed, right open, rub sticks`.
    pub fn describe(&self, system: &System) -> String {
        let mut words: Vec<String> = Vec::new();
        for (contact, &closed) in system.contacts.iter().zip(&self.closed) {
            words.push(format!("{} {}", contact.name, if closed { "closed" } else { "open" }));
        }
        for (at, friction) in system.frictions.iter().enumerate() {
            if let Some(mode) = self.mode(system, at) {
                let word = if mode.sticks() { "sticks" } else { "slips" };
                let name = match friction.contact {
                    Some(contact) => &system.contacts[contact].name,
                    None => &friction.name,
                };
                words.push(format!("{name} {word}"));
            }
        }
        words.join(", ")
    }
}

impl System {
    /// Whether there are contacts or frictions that no phase was chosen for: then the system is no
    /// model of part 1 as it stands.
    pub fn wants_phase(&self) -> bool {
        self.phase.is_none() && !(self.contacts.is_empty() && self.frictions.is_empty())
    }

    /// Refuses what needs the equations of one phase, where none was chosen: without the contacts
    /// and frictions its answer would be that of another system.
    pub fn of_one_phase(&self) -> Result<(), Vec<Diagnostic>> {
        let spans =
            self.contacts.iter().map(|c| c.span).chain(self.frictions.iter().map(|f| f.span));
        let Some(span) = spans.filter(|_| self.wants_phase()).min() else { return Ok(()) };
        let message = "what touches or rubs here has other equations in each phase, and this \
                       command looks at one system of equations"
            .to_owned();
        let hint = "`dal run` decides the phases; to look at one of them, write what is closed or \
                    sticks as a `constraint`, and what slips as a `nonideal` force";
        Err(vec![Diagnostic::fault(Code::NotApplicable, span, message).hint(hint)])
    }

    /// The part 1 model of a phase. Its contacts and frictions stay, as what speaks of guards, with
    /// the unknowns of the phase in them.
    pub fn in_phase(&self, exprs: &Exprs, phase: &Phase) -> System {
        let mut system = self.clone();
        let phase = phase.clone().canonical(self);
        system.open = self.open.as_ref().map(|open| Arc::new(open.in_phase(exprs, &phase)));
        let mut rows = system.constraints.len();
        for (at, &closed) in phase.closed.iter().enumerate() {
            if closed {
                let row = self.held_row(exprs, at, &phase);
                system.constraints.push(row);
                system.contacts[at].held = Some(rows);
                rows += 1;
            }
        }
        for at in 0..system.frictions.len() {
            match phase.mode(self, at) {
                Some(Mode::Stick) => {
                    let friction = &mut system.frictions[at];
                    system.constraints.extend(friction.rows.iter().cloned());
                    friction.held = Some(rows..rows + friction.rows.len());
                    rows += friction.rows.len();
                }
                Some(Mode::Toward) => system.toward(exprs, at),
                _ => {}
            }
        }
        // N as it is in this phase; bounds hold it.
        let mut values: FxHashMap<Symbol, ExprId> = FxHashMap::default();
        let mut unknowns: Vec<(Symbol, Unknown)> = Vec::new();
        for &(symbol, unknown) in &self.unknowns {
            match unknown {
                Unknown::Touch(OfTouch::Normal(at)) => match system.contacts[at].held {
                    Some(row) => unknowns.push((symbol, Unknown::Multiplier(row))),
                    None => drop(values.insert(symbol, ExprId::ZERO)),
                },
                Unknown::Touch(OfTouch::ContactMode(at)) => {
                    let mode = match (phase.closed[at], system.contacts[at].friction) {
                        (false, _) => 0,
                        (true, Some(friction)) if phase.modes[friction].sticks() => 2,
                        (true, _) => 1,
                    };
                    values.insert(symbol, exprs.integer(mode).id);
                }
                Unknown::Touch(OfTouch::FrictionMode(at)) => {
                    let mode = match phase.mode(self, at) {
                        None => 0,
                        Some(mode) if mode.sticks() => 2,
                        Some(_) => 1,
                    };
                    values.insert(symbol, exprs.integer(mode).id);
                }
                other => unknowns.push((symbol, other)),
            }
        }
        let bound = |(at, f): (usize, &Friction)| match phase.mode(self, at) {
            Some(mode) if mode.is_at_edge() => f.static_bound.unwrap_or(f.bound),
            _ => f.bound,
        };
        let bounds: Vec<ExprId> = system.frictions.iter().enumerate().map(bound).collect();
        let bounds = exprs.substitute_with(&bounds, |s| values.get(&s).copied());
        for (at, &bound) in bounds.iter().enumerate() {
            let Some(mode) = phase.mode(self, at).filter(|mode| !mode.sticks()) else {
                continue;
            };
            let forces = system.slip_force(exprs, at, mode, bound);
            let friction = &system.frictions[at];
            let mut components: FxHashMap<usize, Vec<ExprId>> = FxHashMap::default();
            for (direction, &force) in friction.directions.iter().zip(&forces) {
                for &(coordinate, entry) in direction {
                    let term = (exprs.at(force) * exprs.at(entry)).id;
                    components.entry(coordinate).or_default().push(term);
                }
            }
            let mut components: Vec<(usize, ExprId)> =
                components.into_iter().map(|(at, terms)| (at, exprs.sum(&terms))).collect();
            components.retain(|c| c.1 != ExprId::ZERO);
            components.sort_unstable_by_key(|c| c.0);
            let span = friction.span;
            system.nonideal.push(Force { components, span });
        }
        // f where it is asked for.
        for &(symbol, unknown) in &self.unknowns {
            let Unknown::Touch(OfTouch::Force(at, component)) = unknown else { continue };
            unknowns.retain(|u| u.0 != symbol);
            match (phase.mode(self, at), &system.frictions[at].held) {
                (None, _) => drop(values.insert(symbol, ExprId::ZERO)),
                (_, Some(held)) => {
                    unknowns.push((symbol, Unknown::Multiplier(held.start + component)));
                }
                (Some(mode), None) => {
                    let force = system.slip_force(exprs, at, mode, bounds[at])[component];
                    values.insert(symbol, force);
                }
            }
        }
        system.unknowns = unknowns;
        let mut places: Vec<ExprId> = Vec::new();
        system.each(&mut |id| places.push(*id));
        let replaced = exprs.substitute_with(&places, |s| values.get(&s).copied());
        let mut next = replaced.into_iter();
        system.each(&mut |id| *id = next.next().unwrap_or(*id));
        system.phase = Some(phase);
        // What a phase has to refuse was told where the model was read.
        let _ = system.feed_back(exprs);
        system
    }

    /// Whether the load of a contact can be held along the edge of its cone: of slips of one component,
    /// with coefficients that are known.
    pub fn has_edges(&self, exprs: &Exprs, friction: usize) -> bool {
        let friction = &self.frictions[friction];
        let Some(contact) = friction.contact else { return false };
        let normal = self.contacts[contact].normal;
        let bound = friction.static_bound.unwrap_or(friction.bound);
        let held = exprs.symbols_of(&[bound]);
        let is_known = self.unknowns.iter().all(|u| u.0 == normal || !held.contains(&u.0));
        friction.slip.len() == 1 && is_known && matches!(self.energy, Energy::Lagrangian { .. })
    }

    /// The row of a closed contact.
    fn held_row(&self, exprs: &Exprs, at: usize, phase: &Phase) -> Constraint {
        let contact = &self.contacts[at];
        let at_edge = |f: &usize| phase.mode(self, *f).is_some_and(Mode::is_at_edge);
        let Some(f) = contact.friction.filter(at_edge) else { return contact.row.clone() };
        let (friction, gap) = (&self.frictions[f], &contact.row);
        let bound = friction.static_bound.unwrap_or(friction.bound);
        let mu = exprs.at(exprs.substitute(&[bound], &[(contact.normal, ExprId::ONE)])[0]);
        let mut rates = self.rates(exprs);
        let moving = self.positions().into_iter().zip(self.velocities());
        rates.extend(moving.map(|(q, v)| (q, exprs.of_symbol(v))));
        let rate = exprs.at(exprs.directional(&[gap.residual], &rates)[0]);
        let slip = mu * exprs.at(friction.slip[0]);
        let residual = match phase.modes[f] {
            Mode::HeldBackward => (rate + slip).id,
            _ => (rate - slip).id,
        };
        let row = &friction.rows[0];
        Constraint {
            name: gap.name.clone(),
            label: gap.label.clone(),
            level: Level::Velocity,
            residual,
            scleronomic: gap.scleronomic && row.scleronomic,
            catastatic: Some(gap.catastatic == Some(true) && row.catastatic == Some(true)),
            ..row.clone()
        }
    }

    /// f = −F d by components.
    fn slip_force(&self, exprs: &Exprs, at: usize, mode: Mode, bound: ExprId) -> Vec<ExprId> {
        let friction = &self.frictions[at];
        let bound = exprs.at(bound);
        let slip = &friction.slip;
        match (mode, slip.as_slice()) {
            (Mode::Forward | Mode::HeldForward, [_]) => vec![(-bound).id],
            (Mode::Backward | Mode::HeldBackward, [_]) => vec![bound.id],
            (Mode::Toward, _) => {
                let toward = friction.toward.iter();
                toward.map(|&s| (-bound * exprs.at(exprs.of_symbol(s))).id).collect()
            }
            (_, [v]) => vec![(-bound * exprs.at(exprs.call(Function::Sign, &[*v]))).id],
            _ => {
                let squares: Vec<ExprId> = slip.iter().map(|&v| exprs.at(v).powi(2).id).collect();
                let speed = exprs.at(exprs.sum(&squares)).sqrt();
                slip.iter().map(|&v| (-bound * exprs.at(v) / speed).id).collect()
            }
        }
    }

    /// The parameters that give the direction of a friction which begins to slip.
    fn toward(&mut self, exprs: &Exprs, at: usize) {
        let friction = &mut self.frictions[at];
        for component in 1..=friction.slip.len() {
            let name = format!("{}.toward[{component}]", friction.name);
            let symbol = exprs.symbol(&name, SymbolKind::Constant);
            friction.toward.push(symbol);
            let known = self.parameters.iter().any(|p| p.symbol == symbol);
            if !known {
                let (value, span) = (Some(ExprId::ZERO), friction.span);
                self.parameters.push(Parameter { name, symbol, value, span });
            }
        }
    }
}
