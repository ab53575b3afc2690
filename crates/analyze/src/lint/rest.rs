//! Coordinates that never move.
//!
//! Either the constraints leave them no velocity but 0, or nothing acts on them and
//! they start at rest.

use super::{Sampled, Subject};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::{self, svd::Svd};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Action, Energy, Level};

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let Some(sampled) = &subject.numbers else { return Vec::new() };
    let mut findings = Vec::new();
    let n = subject.system.n_coordinates();
    // A model in which nothing moves yet is not finished, and needs no remark.
    let alone: Vec<bool> = (0..n).map(|i| is_alone(subject, sampled, i)).collect();
    let begun = !subject.system.start.is_empty() && alone.contains(&false);
    for i in 0..n {
        let span = subject.system.coordinates[i].span;
        let name = subject.coordinate(i);
        if is_held(subject, sampled, i) && !is_said(subject, i) {
            findings.push(
                Diagnostic::note(
                    Code::CoordinateAtRest,
                    span,
                    format!(
                        "{name} does not move near the start: together the constraints leave it no velocity"
                    ),
                )
                .hint("is one constraint too many, or is a sign wrong?"),
            );
        } else if begun && alone[i] && !is_reset(subject, i) {
            findings.push(
                Diagnostic::note(
                    Code::CoordinateAtRest,
                    span,
                    format!("{name} stays where it is: no force and no constraint acts on it, and it starts at rest"),
                )
                .hint(format!(
                    "give it a velocity with `start {}' = …`, or something that acts on it",
                    subject.system.coordinates[i].name
                )),
            );
        }
    }
    findings
}

/// Whether A q̇ = … leaves q̇_i = 0 at all states tried.
fn is_held(subject: &Subject, sampled: &Sampled, i: usize) -> bool {
    let (n, m) = (subject.system.n_coordinates(), subject.system.constraints.len());
    // Rows that only restrict accelerations leave velocities alone.
    let velocity = subject.system.constraints.iter().all(|c| c.level != Level::Acceleration);
    if m == 0 || !velocity || sampled.states.len() < 3 {
        return false;
    }
    let mut ranks = Vec::new();
    for state in &sampled.states {
        let Some(mut a) = subject.jacobian(sampled, state) else { return false };
        for row in a.chunks_mut(n) {
            let size = linalg::norm(row);
            row.iter_mut().filter(|_| size > 0.0).for_each(|x| *x /= size);
        }
        let mut svd = Svd::default();
        svd.decompose(&a, m, n);
        let mut unit = vec![0.0; n];
        unit[i] = 1.0;
        let rank = svd.rank(1e-9);
        svd.project_on_kernel(rank, &mut unit);
        let size = state.velocity.iter().fold(1f64, |s, v| s.max(v.abs()));
        if linalg::norm(&unit) > 1e-9 || state.velocity[i].abs() > 1e-12 * size {
            return false;
        }
        ranks.push(rank);
    }
    // At a dead centre a coordinate has no velocity for an instant only, and where nothing
    // moves at all there is more to say than this.
    ranks.iter().all(|&r| r == ranks[0] && r < n)
}

/// Whether one constraint alone holds a coordinate: then it was meant.
fn is_said(subject: &Subject, i: usize) -> bool {
    let (q, v) = (subject.system.positions(), subject.system.velocities());
    subject.system.constraints.iter().any(|c| {
        let symbols = subject.exprs.symbols_of(&[c.residual]);
        let own = [subject.system.coordinates[i].position, subject.system.coordinates[i].velocity];
        let others = q.iter().chain(&v).any(|s| !own.contains(s) && symbols.contains(s));
        !others && own.iter().any(|s| symbols.contains(s))
    })
}

/// Whether an event changes a coordinate or its velocity.
fn is_reset(subject: &Subject, i: usize) -> bool {
    let c = &subject.system.coordinates[i];
    let own = [c.position, c.velocity, c.momentum];
    subject.system.events.iter().any(|event| match &event.action {
        Action::Reset(list) => list.iter().any(|&(quantity, _)| {
            let symbols = subject.exprs.symbols_of(&[quantity]);
            own.iter().any(|s| symbols.contains(s))
        }),
        _ => false,
    })
}

/// Whether nothing couples to a coordinate, and it starts at rest.
fn is_alone(subject: &Subject, sampled: &Sampled, i: usize) -> bool {
    let (exprs, picture) = (subject.exprs, &subject.picture);
    let Energy::Lagrangian { momenta, .. } = &subject.system.energy else { return false };
    let row = &picture.metric.rows[i];
    let mass = row.iter().find(|e| e.0 == i).map(|e| e.1);
    let Some(mass) = mass.filter(|_| row.len() == 1) else { return false };
    let moving = |s: &Symbol| {
        *s == Symbol::TIME
            || subject.system.positions().contains(s)
            || subject.system.velocities().contains(s)
    };
    let position = subject.system.coordinates[i].position;
    let contacts = subject.system.contacts.iter();
    let touches = contacts.map(|c| c.gap()).any(|gap| exprs.symbols_of(&[gap]).contains(&position));
    let frictions = subject.system.frictions.iter().flat_map(|f| &f.directions);
    if touches || frictions.flatten().any(|entry| entry.0 == i) {
        return false;
    }
    let untouched = (0..subject.system.constraints.len())
        .all(|r| picture.rows.jacobian.get(r, i) == ExprId::ZERO);
    let force = exprs.at(picture.force[i]) + exprs.at(picture.nonideal[i]);
    untouched
        && sampled.start.state.velocity[i] == 0.0
        && !exprs.symbols_of(&[mass]).iter().any(moving)
        && exprs.is_zero(force.id).is_zero()
        && momenta.iter().enumerate().all(|(j, &p)| {
            j == i || !exprs.symbols_of(&[p]).contains(&subject.system.coordinates[i].velocity)
        })
}
