//! Whether the motion is unique, and what is missing where it is not.
//!
//! q̈ is unique iff rank [M; A] = n (Udwadia & Phohomsiri 2006, (2.15) and lemma
//! 3.1). A direction ν with M ν = 0 and A ν = 0 has neither mass nor constraint: if
//! νᵀ(Q + C) = 0 its acceleration is open, otherwise there is none, and
//! νᵀ(Q + C) = 0 is a constraint that the model implies without saying so.

use crate::names::{number, short, unused};
use dalembert_expr::Exprs;
use dalembert_model::system::System;
use dalembert_simulate::points::hidden::Implied;
use dalembert_simulate::report::Report;
use dalembert_simulate::{Evaluation, State, Verdict};

/// What is known of the motion at the start.
#[derive(Clone, Debug)]
pub struct Uniqueness {
    /// The verdict.
    pub motion: Verdict,
    /// Rank of [M; A].
    pub rank: usize,
    /// Rank of M.
    pub mass_rank: usize,
    /// Directions of ker M ∩ ker A.
    pub null: Vec<Vec<f64>>,
    /// Per coordinate: its acceleration is not determined.
    pub undetermined: Vec<bool>,
    /// Per constraint: its multiplier is not determined.
    pub indeterminate: Vec<bool>,
    /// Constraints that the model implies and does not have.
    pub implied: Vec<Implied>,
    /// What it means, in words.
    pub reasons: Vec<String>,
    /// Lines that would complete the model.
    pub missing: Vec<String>,
}

/// Uniqueness from what was found at the start.
pub fn uniqueness(
    exprs: &Exprs,
    system: &System,
    state: &State,
    evaluation: &Evaluation,
    report: &Report,
) -> Uniqueness {
    let outcome = &evaluation.outcome;
    let mut found = Uniqueness {
        motion: outcome.motion,
        rank: outcome.rank.metric_and_jacobian,
        mass_rank: outcome.rank.metric,
        null: outcome.null.clone(),
        undetermined: outcome.undetermined.clone(),
        indeterminate: outcome.indeterminate.clone(),
        implied: report.implied.clone(),
        reasons: Vec::new(),
        missing: Vec::new(),
    };
    let name = |at: usize| system.coordinates[at].name.as_str();
    for direction in &found.null {
        let parts: Vec<usize> = (0..direction.len()).filter(|&i| direction[i] != 0.0).collect();
        let what = match parts[..] {
            [one] => format!("`{}`: it has no mass and no constraint", name(one)),
            _ => {
                let terms: Vec<String> = parts
                    .iter()
                    .map(|&i| format!("{} of {}", short(direction[i]), name(i)))
                    .collect();
                format!(
                    "the joint motion of {}: no mass moves with it and no constraint holds it",
                    terms.join(", ")
                )
            }
        };
        found.reasons.push(match outcome.motion {
            Verdict::HiddenConstraint => {
                format!("nothing answers the force along {what}")
            }
            _ => format!("nothing determines the acceleration of {what}"),
        });
        if outcome.motion == Verdict::GaugeFree {
            // Holding the coordinate that takes part most ends the freedom.
            let most = parts
                .iter()
                .copied()
                .max_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs()).then(b.cmp(&a)));
            if let Some(at) = most {
                let label = unused(system, "held", found.missing.len());
                found.missing.push(format!(
                    "constraint {label}: {} = {}",
                    name(at),
                    number(state.q[at])
                ));
            }
        }
    }
    for implied in &found.implied {
        let label = unused(system, "hidden", found.missing.len());
        let line = format!("constraint {label}: {} = 0", exprs.to_source(implied.residual));
        found.missing.push(line);
    }
    if outcome.motion == Verdict::Inconsistent {
        let rows: Vec<String> = outcome
            .conflict
            .iter()
            .flat_map(|conflict| conflict.weights.iter().enumerate())
            .filter(|(_, w)| **w != 0.0)
            .map(|(row, _)| format!("`{}`", system.constraints[row].name))
            .collect();
        found.reasons.push(format!(
            "{} cannot all be kept: differentiated, they ask for different accelerations",
            if rows.is_empty() { "the constraints".to_owned() } else { rows.join(", ") }
        ));
    }
    found
}
