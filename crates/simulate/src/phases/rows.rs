//! Numbers of rows that do not depend on the phase.
//!
//! A model in a phase has rows behind its own: those of contacts that are closed and of frictions that
//! stick. A failure in a phase speaks of rows of that model, and who reads it has the model as written.
//! So rows behind the model's own are numbered by contact, and behind these by friction.

use dalembert_model::span::Span;
use dalembert_model::system::System;

/// The number of a row of the system of a phase.
pub(crate) fn as_written(system: &System, row: usize) -> usize {
    let (contacts, frictions) = (&system.contacts, &system.frictions);
    let held = contacts.iter().filter(|c| c.held.is_some()).count()
        + frictions.iter().filter_map(|f| f.held.clone()).map(|held| held.len()).sum::<usize>();
    let own = system.constraints.len().saturating_sub(held);
    if let Some(contact) = contacts.iter().position(|c| c.held == Some(row)) {
        return own + contact;
    }
    let holds = |held: &std::ops::Range<usize>| held.contains(&row);
    match frictions.iter().position(|f| f.held.as_ref().is_some_and(holds)) {
        Some(friction) => own + contacts.len() + friction,
        None => row,
    }
}

/// What a row is called, and its statement: a constraint, contact or friction.
pub fn row_of(system: &System, row: usize) -> Option<(&str, Span)> {
    if let Some(constraint) = system.constraints.get(row) {
        return Some((&constraint.name, constraint.span));
    }
    let row = row - system.constraints.len();
    if let Some(contact) = system.contacts.get(row) {
        return Some((&contact.name, contact.span));
    }
    let friction = system.frictions.get(row - system.contacts.len())?;
    Some((&friction.name, friction.span))
}
