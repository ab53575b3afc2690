//! Joints that close the right way round, and angles on their turn.
//!
//! The rows of a joint hold twice: where t₁·Dn = t₂·Dn = 0 the axes are the same or point against each
//! other, where axial(D) = 0 the sides are turned alike or by half a turn, and the row of an angle holds
//! at every half of a turn. No motion leads from the one to the other, and only the first is the joint
//! that was meant. A start that lands on another is looked for again, from the same guess, on the
//! stricter
//!
//! ```text
//! D n = n ,   D = 1 ,   cos(angle − atan2(sine, cosine)) = 1
//! ```
//!
//! and refused if that has no place nearby. An angle that no row tells the turn of is on the one that
//! `start` says, or else between −π and π.

use super::start::{Guess, Start, StartError, from, place_on};
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Joint, Level, TurnOf};
use dalembert_model::tree::StartRelation;
use std::f64::consts::{PI, TAU};

/// Where the rows of a joint hold, the largest entry of Dn − n is 0, or more than 1.
const REVERSED: f64 = 0.5;

/// A start whose joints are the right way round: the one that was found, or another.
pub(super) fn aligned(
    setting: &Setting,
    t: f64,
    guess: &Guess,
    mut found: Start,
) -> Result<Start, StartError> {
    let system = &setting.model.system;
    if system.tree.joints.iter().all(|joint| joint.carries) {
        return Ok(found);
    }
    turn(setting, guess, &mut found);
    if reversed(setting, &found).is_empty() {
        return Ok(found);
    }
    // The row that speaks for all where nothing is found.
    let row = system.constraints.iter().position(|c| c.level == Level::Position).unwrap_or(0);
    let joints = system.tree.joints.iter();
    let stricter: Vec<(usize, ExprId)> =
        joints.flat_map(|joint| &joint.aligned).map(|&e| (row, e)).collect();
    let again = place_on(setting, t, &guess.q, &stricter).and_then(|q| {
        let mut start = from(setting, t, &Guess { q, ..guess.clone() }, true).ok()?;
        turn(setting, guess, &mut start);
        Some(start)
    });
    let Some(start) = again.filter(|start| reversed(setting, start).is_empty()) else {
        let faults = reversed(setting, &found).into_iter().map(fault).collect();
        return Err(StartError::Clash(faults));
    };
    // What is told is beside the guess of the model.
    let was = |name: &str| found.changed.iter().find(|c| c.0 == name).map(|c| c.1);
    let changed = start.changed.into_iter().map(|(name, from, to)| {
        let from = was(&name).unwrap_or(from);
        (name, from, to)
    });
    Ok(Start { changed: changed.collect(), ..start })
}

/// Guesses for the angles of which nothing is said, by the guesses for the poses.
pub(super) fn guess_turns(setting: &Setting, table: &Table, q: &mut [f64]) {
    for (turn, angle) in turns(setting, table) {
        if angle.is_finite() && !is_told(setting, turn.coordinate) {
            q[turn.coordinate] = angle;
        }
    }
}

/// Angles of joints that close, by the poses, between −π and π.
fn turns<'s>(setting: &'s Setting, table: &Table) -> Vec<(&'s TurnOf, f64)> {
    let turns: Vec<&TurnOf> =
        setting.model.system.tree.joints.iter().flat_map(|joint| &joint.turns).collect();
    let roots: Vec<ExprId> = turns.iter().flat_map(|turn| [turn.sine, turn.cosine]).collect();
    let values = if roots.is_empty() { Vec::new() } else { setting.numbers(&roots, table) };
    let angles = values.chunks(2).map(|pair| pair[0].atan2(pair[1]));
    turns.into_iter().zip(angles).collect()
}

/// Whether `start` says where a coordinate is, as a guess or as an equation for it.
fn is_told(setting: &Setting, coordinate: usize) -> bool {
    let system = &setting.model.system;
    let symbol: Symbol = system.coordinates[coordinate].position;
    let is_it = |left: ExprId| setting.model.exprs.as_symbol(left) == Some(symbol);
    system.start.iter().any(|item| item.guess == Some(symbol) || is_it(item.left))
}

/// Puts angles that no row tells the turn of on the one that is meant.
fn turn(setting: &Setting, guess: &Guess, start: &mut Start) {
    let system = &setting.model.system;
    for (turn, angle) in turns(setting, &start.state.table(system)) {
        let at = &mut start.state.q[turn.coordinate];
        let is_given = system.start.iter().any(|item| {
            let symbol = setting.model.exprs.as_symbol(item.left);
            let is_it = symbol == Some(system.coordinates[turn.coordinate].position);
            is_it && item.relation == StartRelation::Equals
        });
        if !angle.is_finite() || turn.is_led || is_given {
            continue;
        }
        let told = is_told(setting, turn.coordinate);
        let near = if told { guess.q[turn.coordinate] } else { 0.0 };
        let meant = angle + TAU * ((near - angle) / TAU).round();
        // Where it is within rounding of what it is, it stays.
        if (*at - meant).abs() < PI / 4.0 {
            continue;
        }
        *at = meant;
        let name = &system.coordinates[turn.coordinate].name;
        start.changed.iter_mut().filter(|c| c.0 == *name).for_each(|c| c.2 = meant);
    }
}

/// The joints that are the wrong way round.
fn reversed<'s>(setting: &'s Setting, start: &Start) -> Vec<&'s Joint> {
    let system = &setting.model.system;
    let joints = system.tree.joints.iter().filter(|joint| !joint.aligned.is_empty());
    let joints: Vec<&Joint> = joints.collect();
    let all: Vec<ExprId> = joints.iter().flat_map(|joint| &joint.aligned).copied().collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut values = setting.numbers(&all, &start.state.table(system)).into_iter();
    let mut is_reversed = |joint: &&Joint| {
        let own = values.by_ref().take(joint.aligned.len());
        // All of them are taken.
        own.fold(0f64, |most, x| most.max(x.abs())) > REVERSED
    };
    joints.into_iter().filter(|joint| is_reversed(joint)).collect()
}

fn fault(joint: &Joint) -> Diagnostic {
    let name = &joint.name;
    let message = match joint.kind {
        "fixed" | "slider" => {
            format!("the sides of `{name}` are turned by half a turn where its rows hold")
        }
        "universal" | "screw" => {
            format!("`{name}` is off by half a turn where its rows hold")
        }
        _ => format!("the axes of `{name}` point against each other where its rows hold"),
    };
    Diagnostic::fault(Code::JointReversed, joint.span, message).hint(
        "begin nearer to how it is meant: `start b.rotation = …` of what is free, `start knee.angle ~ …` of joints that carry",
    )
}
