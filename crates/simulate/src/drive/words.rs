//! Why a run ended before its time, in words.

use super::{Failure, Jumps};
use crate::phases::row_of;
use crate::program::field::FieldError;
use dalembert_gauss::coupled::CoupledError;
use dalembert_model::system::Model;

/// Constraints by name, in brackets.
pub fn which(constraints: &[usize], model: &Model) -> String {
    let names = names(constraints, model);
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// Constraints by name, each once.
fn names(constraints: &[usize], model: &Model) -> Vec<String> {
    let mut names: Vec<String> = constraints.iter().map(|&row| name(row, model)).collect();
    let mut said = Vec::new();
    names.retain(|name| {
        let is_new = !said.contains(name);
        said.push(name.clone());
        is_new
    });
    names
}

fn name(row: usize, model: &Model) -> String {
    format!("`{}`", row_of(&model.system, row).map_or("a force", |row| row.0))
}

impl Failure {
    /// The same with its rows numbered otherwise.
    pub(crate) fn renumbered(mut self, number: &dyn Fn(usize) -> usize) -> Failure {
        match &mut self {
            Failure::RankLost { constraints, .. }
            | Failure::NearlyDependent { constraints, .. }
            | Failure::Unresolved(super::RankChange { constraints, .. })
            | Failure::Reset { constraints, .. } => {
                constraints.iter_mut().for_each(|row| *row = number(*row));
            }
            Failure::Jump { what: Jumps::Position(row) | Jumps::Velocity(row), .. }
            | Failure::Field(FieldError::Coupled(CoupledError::NotUnique { row })) => {
                *row = number(*row);
            }
            _ => {}
        }
        self
    }

    /// Why a run ended early, in words.
    pub fn words(&self, model: &Model) -> String {
        match self {
            Failure::Field(FieldError::Coupled(error)) => {
                error.named(|row| row_of(&model.system, row).map_or("a force", |row| row.0))
            }
            Failure::Field(error) => error.to_string(),
            Failure::RankLost { expected, found, constraints } => {
                let which = which(constraints, model);
                format!("the rank of the constraints changed from {expected} to {found}{which}")
            }
            Failure::Unresolved(change) => {
                let which = which(&change.constraints, model);
                let why = change.stopped.map_or("", |why| why.words());
                let (t, before, at) = (change.t, change.before, change.at);
                format!(
                    "the rank of the constraints drops from {before} to {at}{which} at t = {t}, and \
                 the motion does not tell how it goes on: {why}"
                )
            }
            Failure::NearlyDependent { ratio, constraints } => {
                let which = which(constraints, model);
                format!(
                    "the constraints{which} nearly depend on each other, by {ratio:.1e}: doubles do not \
                 tell what they determine"
                )
            }
            Failure::StepTooSmall { step } => {
                format!(
                    "the step became too small ({step:.1e}): the motion is singular or stiff here"
                )
            }
            Failure::SwitchesPileUp => {
                "a switching function turns again and again at this time".to_owned()
            }
            Failure::Jump { what, size: by } => jump_words(model, *what, *by),
            Failure::Phase(fault) => fault.words(&model.system),
            Failure::TooManySteps => "more steps than allowed".to_owned(),
            Failure::Reset { event, left, constraints } => {
                reset_words(model, *event, *left, constraints)
            }
        }
    }
}

/// What jumps, and what that means.
fn jump_words(model: &Model, what: Jumps, by: f64) -> String {
    let name = |row: usize| name(row, model);
    let by = size(by.abs());
    match what {
        Jumps::Position(row) => {
            format!("the position that {} demands jumps by {by}", name(row))
        }
        Jumps::Velocity(row) => {
            format!("the velocity that {} demands jumps by {by} with the position", name(row))
        }
        Jumps::Momentum => {
            format!("the masses jump, and with them a momentum or a velocity by {by}")
        }
        Jumps::Energy => format!("the potential energy jumps by {by} with the position"),
    }
}

/// Why an event cannot do what it says.
fn reset_words(model: &Model, event: usize, left: f64, constraints: &[usize]) -> String {
    let name = &model.system.events[event].name;
    if !left.is_finite() {
        return format!("what the event `{name}` sets has no value here");
    }
    let rows = names(constraints, model);
    match rows.is_empty() {
        true => {
            format!("what the event `{name}` sets contradicts itself: {} is left over", size(left))
        }
        false => format!(
            "what the event `{name}` sets contradicts {}: {} is left over",
            rows.join(", "),
            size(left)
        ),
    }
}

/// Six digits or so.
pub fn size(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value) {
        format!("{value:.6}")
    } else {
        format!("{value:.5e}")
    }
}
