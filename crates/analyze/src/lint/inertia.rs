//! Velocities that were replaced in T with a nonholonomic constraint.
//!
//! If a constraint q̇_k = s·q̇ is not integrable, T with q̇_k replaced by s·q̇ gives other
//! equations than T and the constraint side by side: δq̇_k is not d/dt δq_k. What can be
//! seen of it afterwards: q_k has no inertia, a nonholonomic row determines its
//! velocity, and M depends on the coordinates in s exactly as κ s sᵀ does,
//!
//! ```text
//! ∂M/∂q_j = κ ∂(s sᵀ)/∂q_j   for all q_j in s, with one constant κ > 0,
//! ```
//!
//! which is what κ/2 q̇_k² leaves behind. Then it is a warning. Without that trace
//! (there is none where the parts cancel, as in cos² + sin²) it is only a note, since
//! a coordinate may well be there to be counted and nothing else.

use super::{Sampled, Subject};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, Level};
use dalembert_simulate::normal_form::dense;

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let (exprs, system) = (subject.exprs, subject.system);
    let Some(sampled) = &subject.numbers else { return Vec::new() };
    let Energy::Lagrangian { momenta, .. } = &system.energy else { return Vec::new() };
    let n = system.n_coordinates();
    let massless: Vec<usize> = (0..n)
        .filter(|&i| {
            let velocity = system.coordinates[i].velocity;
            momenta[i] == ExprId::ZERO
                && momenta.iter().all(|&p| !exprs.symbols_of(&[p]).contains(&velocity))
        })
        .collect();
    let mut findings = Vec::new();
    for k in massless {
        let row = (0..system.constraints.len()).find(|&row| {
            let constraint = &system.constraints[row];
            constraint.level == Level::Velocity
                && subject.picture.is_affine(system, row)
                && subject.picture.rows.jacobian.get(row, k) != ExprId::ZERO
                && is_nonholonomic(subject, sampled, row)
        });
        let Some(row) = row else { continue };
        let (name, law) = (&system.coordinates[k].name, subject.constraint(row));
        let span = system.coordinates[k].span;
        let finding = match trace(subject, sampled, row, k) {
            Some(kappa) => Diagnostic::warning(
                Code::SubstitutedVelocity,
                span,
                format!("T looks as if `{name}'` had been replaced in it with {law}, which is not integrable: the equations are then wrong"),
            )
            .hint(format!(
                "write T with {:.6}*{name}'^2 instead of what replaced it; {law} stays a constraint",
                kappa / 2.0
            )),
            None => Diagnostic::note(
                Code::SubstitutedVelocity,
                span,
                format!("`{name}` has no inertia, and {law}, which is not integrable, gives its velocity"),
            )
            .hint(format!("if its kinetic energy was written with other velocities by means of {law}, the equations are wrong: keep `{name}'` in T; if `{name}` is there to be counted only, all is well")),
        };
        findings.push(finding.with(system.constraints[row].span, "this constraint"));
    }
    findings
}

/// Whether a row is not integrable together with all other affine rows: the curvature
/// dω of its form on what they leave free, with time as a coordinate.
fn is_nonholonomic(subject: &Subject, sampled: &Sampled, row: usize) -> bool {
    let (exprs, system, picture) = (subject.exprs, subject.system, &subject.picture);
    let n = system.n_coordinates();
    let affine: Vec<usize> =
        (0..system.constraints.len()).filter(|&r| picture.is_affine(system, r)).collect();
    // Forms a dq + a_t dt.
    let form = |r: usize| -> Vec<ExprId> {
        let mut entries: Vec<ExprId> = (0..n).map(|i| picture.rows.jacobian.get(r, i)).collect();
        let rest = picture.rows.velocity_residuals.iter().find(|e| e.0 == r);
        entries.push(rest.map_or(ExprId::ZERO, |e| e.1));
        dalembert_derive::picture::at_zero(exprs, &entries, &picture.velocities)
    };
    let mut variables: Vec<Symbol> = picture.q.clone();
    variables.push(Symbol::TIME);
    let own = exprs.jacobian(&form(row), &variables);
    let forms: Vec<ExprId> = affine.iter().flat_map(|&r| form(r)).collect();
    let entries: Vec<ExprId> = own.rows.iter().flatten().map(|e| e.1).collect();
    sampled.states.iter().any(|state| {
        let table = state.table(system);
        let values = sampled.setting.numbers(&forms, &table);
        let slopes = dense(&own, &sampled.setting.numbers(&entries, &table));
        if values.iter().chain(&slopes).any(|x| !x.is_finite()) {
            return false;
        }
        let size = n + 1;
        let mut svd = Svd::default();
        svd.decompose(&values, affine.len(), size);
        let rank = svd.rank(1e-9);
        let scale = values.iter().chain(&slopes).fold(0f64, |m, x| m.max(x.abs()));
        // slopes[β][α] = ∂ω_β/∂x_α on projected unit vectors.
        let free: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                let mut unit = vec![0.0; size];
                unit[i] = 1.0;
                svd.project_on_kernel(rank, &mut unit);
                unit
            })
            .collect();
        let curvature = |x: &[f64], y: &[f64]| -> f64 {
            let mut sum = 0.0;
            for a in 0..size {
                for b in 0..size {
                    sum += (slopes[b * size + a] - slopes[a * size + b]) * x[a] * y[b];
                }
            }
            sum
        };
        free.iter().any(|x| free.iter().any(|y| curvature(x, y).abs() > 1e-9 * scale))
    })
}

/// κ, where M depends on the coordinates in s as κ s sᵀ does.
fn trace(subject: &Subject, sampled: &Sampled, row: usize, k: usize) -> Option<f64> {
    let (exprs, system, picture) = (subject.exprs, subject.system, &subject.picture);
    let n = system.n_coordinates();
    let own = exprs.at(picture.rows.jacobian.get(row, k));
    let s: Vec<ExprId> = (0..n)
        .map(|i| match i == k {
            true => ExprId::ZERO,
            false => (-exprs.at(picture.rows.jacobian.get(row, i)) / own).id,
        })
        .collect();
    let occurring = exprs.symbols_of(&s);
    let variables: Vec<Symbol> =
        picture.q.iter().copied().filter(|q| occurring.contains(q)).collect();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for i in 0..n {
        for j in 0..=i {
            let product = exprs.product(&[s[i], s[j]]);
            for &variable in &variables {
                left.push(exprs.derivative(picture.metric.get(i, j), variable));
                right.push(exprs.derivative(product, variable));
            }
        }
    }
    let (mut dot, mut square, mut size) = (0.0, 0.0, 0.0);
    let mut pairs = Vec::new();
    for state in &sampled.states {
        let table = state.table(system);
        let (x, y) =
            (sampled.setting.numbers(&left, &table), sampled.setting.numbers(&right, &table));
        for (x, y) in x.into_iter().zip(y) {
            dot += x * y;
            square += y * y;
            size += x * x;
            pairs.push((x, y));
        }
    }
    if !(square > 0.0) || !(size > 0.0) {
        return None;
    }
    let kappa = dot / square;
    let off = pairs.iter().fold(0f64, |m, (x, y)| m.max((x - kappa * y).abs()));
    (kappa > 0.0 && off <= 1e-9 * size.sqrt()).then_some(kappa)
}
