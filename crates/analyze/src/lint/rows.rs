//! Constraints that add nothing to the others.
//!
//! At every consistent state tried the row A_j is the same kind of combination of
//! other rows. Such rows do no harm; their multipliers are not unique.

use super::{Sampled, Subject, listed};
use dalembert_gauss::linalg::{self, svd::Svd};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Level;
use dalembert_simulate::{Reference, Refusal, State};

/// A row this near to others is one of them.
const NEAR: f64 = 1e-9;

/// Whether a row that doubles take for dependent is known to add something of its own.
fn is_only_near(sampled: &Sampled, row: usize) -> bool {
    let reference = Reference::of(&sampled.setting, &sampled.start.state, &Default::default());
    match reference {
        Err(Refusal::NearlyDependent { constraints, .. }) => constraints.contains(&row),
        _ => false,
    }
}

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let Some(sampled) = &subject.numbers else { return Vec::new() };
    let rows = subject.system.constraints.len();
    let mut findings = Vec::new();
    // What follows from rows before it; the first of equals is the one to keep.
    let mut kept: Vec<usize> = Vec::new();
    for row in 0..rows {
        let supports: Option<Vec<Vec<usize>>> = sampled
            .states
            .iter()
            .map(|state| combination(subject, sampled, state, row, &kept))
            .collect();
        let Some(supports) = supports.filter(|s| s.len() > 1) else {
            kept.push(row);
            continue;
        };
        let mut support: Vec<usize> = supports.concat();
        support.sort_unstable();
        support.dedup();
        if is_only_near(sampled, row) {
            kept.push(row);
            continue;
        }
        let constraint = &subject.system.constraints[row];
        let names: Vec<String> = support.iter().map(|&r| subject.constraint(r)).collect();
        let others = support.iter().map(|&r| &subject.system.constraints[r]);
        let message = if support.is_empty() {
            format!("constraint `{}` restricts nothing at any state tried", constraint.name)
        } else if constraint.level == Level::Position
            && others.clone().any(|c| c.level != Level::Position)
        {
            // Other rows give its rate, not its value.
            format!(
                "what constraint `{}` says of velocities follows from {}",
                constraint.name,
                listed(&names)
            )
        } else {
            format!("constraint `{}` follows from {}", constraint.name, listed(&names))
        };
        let mut finding = Diagnostic::note(Code::ConstraintImplied, constraint.span, message);
        for other in others.filter(|c| c.span != constraint.span).take(3) {
            finding = finding.with(other.span, format!("`{}`", other.name));
        }
        findings.push(finding.hint(
            "that does no harm: the motion is the same, only the multipliers are not unique",
        ));
    }
    findings
}

/// Which of the rows `kept` make up a row at a state; `None` if they do not.
fn combination(
    subject: &Subject,
    sampled: &Sampled,
    state: &State,
    row: usize,
    kept: &[usize],
) -> Option<Vec<usize>> {
    let n = subject.system.n_coordinates();
    let a = subject.jacobian(sampled, state)?;
    let unit = |r: usize| -> Option<Vec<f64>> {
        let entries = &a[r * n..(r + 1) * n];
        let size = linalg::norm(entries);
        (size > 0.0).then(|| entries.iter().map(|x| x / size).collect())
    };
    let Some(own) = unit(row) else { return Some(Vec::new()) };
    if kept.is_empty() {
        return None;
    }
    // Columns are the rows kept.
    let others: Vec<Vec<f64>> = kept.iter().map(|&r| unit(r).unwrap_or(vec![0.0; n])).collect();
    let matrix: Vec<f64> = (0..n).flat_map(|i| others.iter().map(move |o| o[i])).collect();
    let mut svd = Svd::default();
    svd.decompose(&matrix, n, kept.len());
    let rank = svd.rank(NEAR);
    let mut weights = vec![0.0; kept.len()];
    svd.apply_pseudo_inverse(rank, &own, &mut weights);
    let mut made = vec![0.0; n];
    linalg::multiply(&matrix, kept.len(), &weights, &mut made);
    let off = own.iter().zip(&made).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
    (off <= NEAR).then(|| {
        let large = weights.iter().zip(kept).filter(|(w, _)| w.abs() > NEAR);
        large.map(|(_, &r)| r).collect()
    })
}
