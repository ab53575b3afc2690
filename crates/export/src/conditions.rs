//! What holds of contacts and dry friction beside the equations of one phase:
//!
//! ```text
//! contact    0 ≤ g ⊥ λ ≥ 0
//! friction   slips, v ≠ 0: f = −F v/|v|     sticks, v = 0: |f| ≤ F
//! impact     ġ⁺ = −e ġ⁻
//! ```
//!
//! Documents state these laws once, and of each contact and friction what its g, v, F and e are. The
//! letters have its name as an index, so that they are none of the model's own.

use crate::readable::Readable;
use dalembert_expr::{ExprId, Exprs, Symbol, SymbolKind};
use dalembert_model::system::{Friction, Impacts, Mode, Phase, System};

/// What a document says of contacts and frictions.
pub(crate) struct Conditions {
    /// Of each contact, and of each friction that belongs to none.
    pub items: Vec<Item>,
    /// The laws that they need.
    pub laws: Laws,
    /// How many contacts there are, and which of them take part in an impact.
    contacts: usize,
    impacts: Option<Impacts>,
}

/// Which laws a document states.
#[derive(Clone, Copy, Default)]
pub(crate) struct Laws {
    /// There are contacts.
    pub contacts: bool,
    /// There is friction, and such that is larger where it sticks.
    pub frictions: bool,
    pub statics: bool,
    /// Contacts that are there under a condition only.
    pub conditions: bool,
}

/// A contact or a friction.
pub(crate) struct Item {
    pub name: String,
    /// What it does in the phase that is shown.
    pub words: &'static str,
    /// Its letters and what they are.
    pub rows: Vec<(Symbol, ExprId)>,
}

impl Conditions {
    /// Of a model in one of its phases; none where nothing touches or rubs.
    pub fn new(readable: &Readable) -> Option<Conditions> {
        let system = &readable.model.system;
        let phase = system.phase.as_ref()?;
        if system.contacts.is_empty() && system.frictions.is_empty() {
            return None;
        }
        let mut laws = Laws::default();
        let mut items = Vec::new();
        for (at, contact) in system.contacts.iter().enumerate() {
            let letter = |letter: &str| letter_of(readable.exprs(), letter, &contact.name);
            let mut rows = vec![(letter("g"), readable.energy(contact.gap()))];
            if let Some(condition) = contact.condition {
                rows.push((letter("h"), readable.energy(condition)));
                laws.conditions = true;
            }
            if let Some(friction) = contact.friction.map(|at| &system.frictions[at]) {
                laws.frictions = true;
                rows.extend(slip(readable, friction, &contact.name));
                // In a phase where it is open nothing is left of its bound.
                if phase.closed[at] {
                    rows.extend(bounds(readable, friction, &contact.name, &mut laws));
                }
            }
            rows.push((letter("e"), readable.energy(contact.restitution)));
            let words = match (phase.closed[at], contact.friction) {
                (false, _) => "open",
                (true, None) => "closed",
                (true, Some(friction)) if sticks(phase, system, friction) => "closed, sticks",
                (true, Some(_)) => "closed, slips",
            };
            items.push(Item { name: contact.name.clone(), words, rows });
            laws.contacts = true;
        }
        for (at, friction) in system.frictions.iter().enumerate() {
            if friction.contact.is_some() {
                continue;
            }
            laws.frictions = true;
            let mut rows = slip(readable, friction, &friction.name);
            rows.extend(bounds(readable, friction, &friction.name, &mut laws));
            let words = if sticks(phase, system, at) { "sticks" } else { "slips" };
            items.push(Item { name: friction.name.clone(), words, rows });
        }
        let (contacts, impacts) = (system.contacts.len(), system.run.impacts);
        Some(Conditions { items, laws, contacts, impacts })
    }

    /// Which phase the equations are of.
    pub fn phase_words(&self) -> String {
        let items = self.items.iter().map(|item| format!("{} {}", item.name, item.words));
        format!("the equations are those of one phase: {}", items.collect::<Vec<_>>().join("; "))
    }

    /// What impacts do, and who takes part where that is a question, in words.
    pub fn impact_words(&self) -> String {
        let own = "by impulses that obey the same laws";
        if self.contacts < 2 {
            return own.to_owned();
        }
        let who = match self.impacts {
            Some(Impacts::AtOnce) => "all contacts that touch take part in one problem",
            Some(Impacts::InTurn) => "contacts that approach take part, again until none does",
            None => {
                "where several contacts touch, only impacts are passed on which one problem for all \
                 of them and impacts in turn agree"
            }
        };
        format!("{own}; {who}")
    }
}

fn sticks(phase: &Phase, system: &System, friction: usize) -> bool {
    phase.mode(system, friction).is_some_and(Mode::sticks)
}

/// v, by components.
fn slip(readable: &Readable, friction: &Friction, name: &str) -> Vec<(Symbol, ExprId)> {
    let exprs = readable.exprs();
    let components = friction.slip.iter().enumerate().map(|(at, &v)| {
        let name = match friction.slip.len() {
            1 => name.to_owned(),
            _ => format!("{name}[{}]", at + 1),
        };
        (letter_of(exprs, "v", &name), readable.readable(v))
    });
    components.collect()
}

/// F, and what holds where it sticks.
fn bounds(
    readable: &Readable,
    friction: &Friction,
    name: &str,
    laws: &mut Laws,
) -> Vec<(Symbol, ExprId)> {
    let exprs = readable.exprs();
    let shown = |id: ExprId| readable.readable(readable.named(id));
    let mut rows = vec![(letter_of(exprs, "F", name), shown(friction.bound))];
    if let Some(bound) = friction.static_bound {
        laws.statics = true;
        rows.push((letter_of(exprs, "F_s", name), shown(bound)));
    }
    rows
}

/// A letter with the name of what it belongs to as an index: `stack.g_floor[1]`.
fn letter_of(exprs: &Exprs, letter: &str, name: &str) -> Symbol {
    let full = match name.rfind('.') {
        None => format!("{letter}_{name}"),
        Some(dot) => format!("{}{letter}_{}", &name[..=dot], &name[dot + 1..]),
    };
    exprs.symbol(&full, SymbolKind::Variable)
}
