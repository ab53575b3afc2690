//! Scales so far apart that digits are lost.

use super::Subject;
use dalembert_expr::ExprId;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;

/// Ten of sixteen digits.
const FAR: f64 = 1e10;

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let Some(sampled) = &subject.numbers else { return Vec::new() };
    let n = subject.system.n_coordinates();
    let table = sampled.start.state.table(subject.system);
    let diagonal: Vec<ExprId> = (0..n).map(|i| subject.picture.metric.get(i, i)).collect();
    let masses = sampled.setting.numbers(&diagonal, &table);
    let mut findings = Vec::new();
    if let Some((small, large)) = extremes(&masses) {
        let finding = far(
            "inertia",
            (subject.coordinate(small), masses[small], subject.system.coordinates[small].span),
            (subject.coordinate(large), masses[large], subject.system.coordinates[large].span),
        );
        findings.push(finding);
    }
    if let Some(a) = subject.jacobian(sampled, &sampled.start.state) {
        let sizes: Vec<f64> =
            a.chunks(n).map(|row| row.iter().fold(0f64, |m, x| m.max(x.abs()))).collect();
        if let Some((small, large)) = extremes(&sizes) {
            let of = |row: usize| {
                (subject.constraint(row), sizes[row], subject.system.constraints[row].span)
            };
            findings.push(far("slope", of(small), of(large)));
        }
    }
    findings
}

/// The places of the smallest and the largest that is not 0, if they are far apart.
fn extremes(values: &[f64]) -> Option<(usize, usize)> {
    let sizes = || (0..values.len()).filter(|&i| values[i].abs() > 0.0 && values[i].is_finite());
    let by_size = |&i: &usize, &j: &usize| values[i].abs().total_cmp(&values[j].abs());
    // Of equals the first.
    let (small, large) = (sizes().min_by(by_size)?, sizes().rev().max_by(by_size)?);
    (values[large].abs() > FAR * values[small].abs()).then_some((small, large))
}

fn far(what: &str, small: (String, f64, Span), large: (String, f64, Span)) -> Diagnostic {
    let message = format!(
        "the {what} of {} is {:.1e} and that of {} is {:.1e}: of 16 digits few are left where both count",
        small.0, small.1, large.0, large.1
    );
    Diagnostic::warning(Code::BadlyScaled, small.2, message)
        .with(large.2, large.0)
        .hint("check the units; other units for one of them may bring both nearer to 1")
}
