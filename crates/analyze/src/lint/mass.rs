//! Coordinates without mass, and masses that are negative in some direction.
//!
//! A singular M is no fault: the motion is unique if no direction is left free by both
//! M and A,
//!
//! ```text
//! ker M ∩ ker A = 0   and   vᵀMv > 0 for all v ≠ 0 with A v = 0 that M sees.
//! ```
//!
//! But a coordinate that T leaves out altogether (row i of M vanishes identically) is
//! more often forgotten than meant. It is a warning where no constraint determines
//! its acceleration, or where a force acts on it; not where it may be there to be
//! counted only. A direction that has no mass without being a coordinate (the norm of a
//! quaternion, say) is not remarked on. A page whose checks say what its motion is has
//! looked, and gets a note.
//!
//! An M that is indefinite on the constraints is a warning at the statement that has
//! the most negative share, uᵀ(∂²Tᵢ/∂q̇²)u, of the worst direction u.

use super::{Sampled, Subject};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{CheckKind, Energy};
use dalembert_simulate::State;
use dalembert_simulate::normal_form::dense;

/// Relative to the largest, what rounding leaves of a direction.
const TINY: f64 = 1e-9;

/// `told` are coordinates of which something more definite was said.
pub(super) fn findings(subject: &Subject, told: &[Span]) -> Vec<Diagnostic> {
    let mut findings = massless(subject, told);
    findings.extend(indefinite(subject));
    findings
}

fn massless(subject: &Subject, told: &[Span]) -> Vec<Diagnostic> {
    let (exprs, system, picture) = (subject.exprs, subject.system, &subject.picture);
    if !matches!(system.energy, Energy::Lagrangian { .. }) {
        return Vec::new();
    }
    let n = system.n_coordinates();
    let is_zero = |id: ExprId| id == ExprId::ZERO || exprs.is_zero(id).is_zero();
    let has_mass = |i: usize| picture.metric.rows[i].iter().any(|&(_, entry)| !is_zero(entry));
    let has_looked = system.checks.iter().any(|check| matches!(check.kind, CheckKind::Verdict(_)));
    let free = subject.numbers.as_ref().and_then(|sampled| undetermined(subject, sampled));
    let mut findings = Vec::new();
    for i in (0..n).filter(|&i| !has_mass(i)) {
        let span = system.coordinates[i].span;
        if told.contains(&span) {
            continue;
        }
        let name = &system.coordinates[i].name;
        let is_free = free.as_ref().is_some_and(|free| free[i]);
        let is_driven = !is_zero(picture.force[i]);
        let (message, hint) = match (is_free, is_driven) {
            (true, _) => (
                format!("`{name}` has no mass, and no constraint determines its acceleration"),
                format!(
                    "give it inertia, a term with `{name}'` in `kinetic`, or a constraint that determines it; if it is meant as it is, the forces along it have to balance: `dal run --complete` adds that"
                ),
            ),
            (false, true) => (
                format!(
                    "`{name}` has no mass, though a force acts on it: the constraints alone move it"
                ),
                format!(
                    "is a term with `{name}'` missing in `kinetic`? Without one the force on it goes to the other coordinates by way of the constraints"
                ),
            ),
            (false, false) => continue,
        };
        let make = if has_looked { Diagnostic::note } else { Diagnostic::warning };
        findings.push(make(Code::MasslessCoordinate, span, message).hint(hint));
    }
    findings
}

/// Whether a unit along each coordinate has a share in ker M ∩ ker A, at some state.
fn undetermined(subject: &Subject, sampled: &Sampled) -> Option<Vec<bool>> {
    let n = subject.system.n_coordinates();
    let mut free: Option<Vec<bool>> = None;
    for state in &sampled.states {
        let Some((mass, rows)) = matrices(subject, sampled, state) else { continue };
        let mut stacked = mass;
        // Each with its own scale: M and A have different units.
        normalize(&mut stacked);
        for row in rows.chunks(n) {
            let mut row = row.to_vec();
            normalize(&mut row);
            stacked.extend(row);
        }
        let mut svd = Svd::default();
        svd.decompose(&stacked, stacked.len() / n, n);
        let rank = svd.rank(TINY);
        let here = (0..n).map(|i| {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            svd.project_on_kernel(rank, &mut unit);
            unit[i] > TINY
        });
        let here: Vec<bool> = here.collect();
        // A singular position frees what is determined elsewhere.
        free = Some(match free {
            None => here,
            Some(before) => before.iter().zip(&here).map(|(a, b)| *a && *b).collect(),
        });
    }
    free
}

fn normalize(values: &mut [f64]) {
    let largest = values.iter().fold(0f64, |m, x| m.max(x.abs()));
    if largest > 0.0 {
        values.iter_mut().for_each(|x| *x /= largest);
    }
}

/// M and A at a state, where they are defined.
fn matrices(subject: &Subject, sampled: &Sampled, state: &State) -> Option<(Vec<f64>, Vec<f64>)> {
    let metric = &subject.picture.metric;
    let entries: Vec<ExprId> = metric.rows.iter().flatten().map(|e| e.1).collect();
    let values = sampled.setting.numbers(&entries, &state.table(subject.system));
    if !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let rows = match subject.system.constraints.is_empty() {
        true => Vec::new(),
        false => subject.jacobian(sampled, state)?,
    };
    Some((dense(metric, &values), rows))
}

fn indefinite(subject: &Subject) -> Option<Diagnostic> {
    let sampled = subject.numbers.as_ref()?;
    // Momenta behind velocities are not in the tables of states.
    if subject.picture.auxiliary.is_some() {
        return None;
    }
    let worst = sampled.states.iter().find_map(|state| {
        let (mass, rows) = matrices(subject, sampled, state)?;
        negative_direction(&mass, &rows, subject.system.n_coordinates()).map(|u| (state, u))
    });
    let (state, direction) = worst?;
    let span = most_negative_term(subject, sampled, state, &direction)?;
    let largest = direction.iter().fold(0f64, |m, x| m.max(x.abs()));
    let along: Vec<String> = (0..direction.len())
        .filter(|&i| direction[i].abs() > 0.1 * largest)
        .map(|i| subject.coordinate(i))
        .collect();
    let message =
        format!("the mass is negative: moving along {} takes energy away", super::listed(&along));
    Some(Diagnostic::warning(Code::IndefiniteMass, span, message).hint(
        "a sign is wrong in the kinetic energy, or a mass or moment of inertia is negative; the \
         equations can be integrated all the same",
    ))
}

/// A unit vector u in the kernel of A with uᵀMu < 0 beyond rounding, if there is one.
/// Coordinates are measured so that M has units on its diagonal, which leaves signs as
/// they are.
fn negative_direction(mass: &[f64], rows: &[f64], n: usize) -> Option<Vec<f64>> {
    let scale: Vec<f64> = (0..n)
        .map(|i| {
            let row = mass[i * n..(i + 1) * n].iter().fold(0f64, |m, x| m.max(x.abs()));
            let own = mass[i * n + i].abs();
            let size = if own > TINY * row { own } else { row };
            if size > 0.0 { size.sqrt().recip() } else { 1.0 }
        })
        .collect();
    let mut scaled: Vec<f64> =
        (0..n * n).map(|at| mass[at] * scale[at / n] * scale[at % n]).collect();
    let mut a: Vec<f64> = rows.iter().enumerate().map(|(at, x)| x * scale[at % n]).collect();
    a.chunks_mut(n).for_each(normalize);
    let mut svd = Svd::default();
    svd.decompose(&a, a.len() / n, n);
    let rank = svd.rank(TINY);
    let size: f64 =
        scaled.chunks(n).map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    if !(size > 0.0) || !size.is_finite() {
        return None;
    }
    // P M P, column by column, then row by row; P is symmetric.
    for _ in 0..2 {
        let mut turned = vec![0.0; n * n];
        for j in 0..n {
            let mut column: Vec<f64> = (0..n).map(|i| scaled[i * n + j]).collect();
            svd.project_on_kernel(rank, &mut column);
            (0..n).for_each(|i| turned[j * n + i] = column[i]);
        }
        scaled = turned;
    }
    // Shifted by the size of M it has no negative value, and what is less than the
    // shift belongs to a negative one. What the constraints leave of M may be rounding.
    let mut shifted = scaled;
    (0..n).for_each(|i| shifted[i * n + i] += size);
    let mut svd = Svd::default();
    svd.decompose(&shifted, n, n);
    let least = *svd.sigma.last()?;
    (least < size * (1.0 - TINY)).then(|| {
        let direction = &svd.v[(n - 1) * n..];
        direction.iter().zip(&scale).map(|(x, s)| x * s).collect()
    })
}

/// The statement whose own second derivative is the most negative along a direction.
fn most_negative_term(
    subject: &Subject,
    sampled: &Sampled,
    state: &State,
    direction: &[f64],
) -> Option<Span> {
    let (exprs, system) = (subject.exprs, subject.system);
    if matches!(system.energy, Energy::Hamiltonian { .. }) {
        return system.energy_terms.first().map(|term| term.1);
    }
    let velocities: Vec<Symbol> = system.velocities();
    let table = state.table(system);
    let share = |term: ExprId| {
        let second = exprs.jacobian(&exprs.gradient(term, &velocities), &velocities);
        let entries: Vec<ExprId> = second.rows.iter().flatten().map(|e| e.1).collect();
        let matrix = dense(&second, &sampled.setting.numbers(&entries, &table));
        let n = direction.len();
        (0..n * n).map(|at| direction[at / n] * matrix[at] * direction[at % n]).sum::<f64>()
    };
    let shares = system.energy_terms.iter().map(|&(term, span)| (share(term), span));
    shares.filter(|(share, _)| share.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0)).map(|s| s.1)
}
