//! Parameters that are used and change nothing.
//!
//! If the derivatives of M, Q, C, A, b and of the constraints with respect to a parameter
//! are all 0 by the zero test, no motion depends on it: it enters L in a constant or in
//! the rate of a function of q and t. Outputs, events, the start and rates of states are looked
//! at by what occurs in them.

use super::Subject;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Action, CheckKind};
use rustc_hash::FxHashSet;

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let (exprs, system) = (subject.exprs, subject.system);
    let picture = &subject.picture;
    let seen: FxHashSet<Symbol> = exprs.symbols_of(&visible(subject)).into_iter().collect();
    let used: FxHashSet<Symbol> = exprs.symbols_of(&system.roots()).into_iter().collect();
    let mut law: Vec<ExprId> = Vec::new();
    law.extend(picture.metric.rows.iter().flatten().map(|e| e.1));
    // What Γ is made of along a tree, where that alone is not its diagonal.
    let links = picture.bodies.iter().flat_map(|tree| &tree.links);
    law.extend(links.flat_map(|link| &link.numbers));
    law.extend(&picture.force);
    law.extend(&picture.nonideal);
    law.extend(picture.rows.jacobian.rows.iter().flatten().map(|e| e.1));
    law.extend(&picture.rows.bias);
    law.extend(picture.rows.configuration_residuals.iter().map(|r| r.1));
    law.extend(picture.rows.velocity_residuals.iter().map(|r| r.1));
    let in_law: FxHashSet<Symbol> = exprs.symbols_of(&law).into_iter().collect();
    let mut findings = Vec::new();
    let mut reported = FxHashSet::default();
    for parameter in &system.parameters {
        let symbol = parameter.symbol;
        // Unused ones are told of elsewhere.
        if seen.contains(&symbol) || !used.contains(&symbol) {
            continue;
        }
        if in_law.contains(&symbol) {
            let slopes: Vec<ExprId> = exprs
                .jacobian(&law, &[symbol])
                .rows
                .into_iter()
                .flatten()
                .map(|entry| entry.1)
                .collect();
            if !exprs.all_zero(&slopes).is_zero() {
                continue;
            }
        }
        if !reported.insert(parameter.span) {
            continue;
        }
        findings.push(
            Diagnostic::warning(
                Code::ParameterWithoutEffect,
                parameter.span,
                format!("parameter `{}` occurs in the model but changes no motion", parameter.name),
            )
            .hint("it cancels, or stands in a constant part of the energies; is a coordinate missing beside it?"),
        );
    }
    findings
}

/// What is seen of a model beside its law of motion: everything that is a reason for
/// a parameter to be there.
fn visible(subject: &Subject) -> Vec<ExprId> {
    let system = subject.system;
    let mut roots: Vec<ExprId> = system.parameters.iter().filter_map(|p| p.value).collect();
    roots.extend(system.start.iter().flat_map(|s| [s.left, s.right]));
    roots.extend([system.run.from, system.run.to]);
    roots.extend(system.run.every.iter().chain(&system.run.tolerance));
    roots.extend(system.observes.iter().map(|o| o.value));
    roots.extend(system.speeds.iter().map(|s| s.value));
    roots.extend(system.states.iter().map(|z| z.rate));
    // What sticks and touches acts in some phases, and not in the law as it is looked at here.
    for contact in &system.contacts {
        roots.extend([contact.gap(), contact.restitution]);
        roots.extend(contact.condition);
    }
    for friction in &system.frictions {
        roots.extend(friction.slip.iter().chain([&friction.bound]).chain(&friction.static_bound));
    }
    for event in &system.events {
        roots.push(event.function);
        if let Action::Reset(list) = &event.action {
            roots.extend(list.iter().flat_map(|&(a, b)| [a, b]));
        }
    }
    for draw in &system.draws {
        roots.extend(draw.points.iter().flatten());
        roots.extend(draw.radius);
        roots.extend(draw.axis.iter().flatten());
    }
    for check in &system.checks {
        match &check.kind {
            CheckKind::Equal { left, right, .. } => roots.extend(left.iter().chain(right)),
            CheckKind::Conserve { value, .. } => roots.push(*value),
            CheckKind::Linearize { values, .. } => roots.extend(values.iter().flatten()),
            _ => {}
        }
    }
    roots
}
