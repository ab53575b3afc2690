//! What every elimination does before and after its own algebra.
//!
//! Before: check, equilibrate, decide the ranks, find the status. After: return to the user's
//! units, take the acceleration of least norm if it is not unique, find the multipliers of least
//! norm, and compute the certificates of SPEC 4.4.
//!
//! Multipliers solve Aᵀλ = Γ v̇ − F − C. The basic solution on the independent rows is projected
//! off ker Aᵀ in the user's scaling of rows, since "least norm" is said of the rows as written.

use super::{Scratch, SolveError, status};
use crate::linalg::{dot, largest, multiply, multiply_transposed, norm, qr, zeros};
use crate::outcome::Outcome;
use crate::terms::{Terms, Tolerances};

/// Checks the terms and finds their status. True if accelerations are to be computed.
pub(super) fn begin(
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<bool, SolveError> {
    outcome.v_dot.clear();
    outcome.multipliers.clear();
    outcome.condition = None;
    (outcome.stationarity, outcome.feasibility) = (0.0, 0.0);
    terms.check()?;
    scratch.scaled.set(terms)?;
    scratch.decision.decide_metric(&scratch.scaled)?;
    scratch.decision.decide_jacobian(&scratch.scaled, tolerances);
    status::diagnose(scratch, terms, tolerances, outcome);
    Ok(outcome.motion.exists() || tolerances.least_squares)
}

/// As [`begin`], for an elimination that needs the inverse of Γ.
pub(super) fn begin_regular(
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<bool, SolveError> {
    let proceed = begin(scratch, terms, tolerances, outcome)?;
    let (rank, size) = (outcome.rank.metric, terms.n);
    if rank < size { Err(SolveError::SingularMetric { rank, size }) } else { Ok(proceed) }
}

/// Takes `scratch.solution` to the user's units and completes the outcome.
pub(super) fn finish(
    scratch: &mut Scratch,
    terms: &Terms,
    outcome: &mut Outcome,
) -> Result<(), SolveError> {
    let s = scratch;
    outcome.v_dot.clear();
    outcome.v_dot.extend(s.solution.iter().zip(&s.scaled.coordinates).map(|(x, c)| x * c));
    if outcome.v_dot.iter().any(|v| !v.is_finite()) {
        return Err(SolveError::Overflow { what: "acceleration" });
    }
    if !outcome.null.is_empty() {
        let (n, count) = (terms.n, outcome.null.len());
        zeros(&mut s.matrix, n * count);
        for (k, vector) in outcome.null.iter().enumerate() {
            for i in 0..n {
                s.matrix[i * count + k] = vector[i];
            }
        }
        project_off(s, n, count, &mut outcome.v_dot);
        for i in 0..n {
            s.solution[i] = outcome.v_dot[i] / s.scaled.coordinates[i];
        }
    }
    find_multipliers(s, outcome);
    certify(s, outcome);
    if outcome.multipliers.iter().any(|v| !v.is_finite()) {
        return Err(SolveError::Overflow { what: "multipliers" });
    }
    Ok(())
}

/// y with Ã y = b̃ on the independent rows, orthogonal to ker Ã: y = Y R₁⁻ᵀ b̃₁.
pub(super) fn solve_rows(s: &mut Scratch, r: usize) {
    let (n, live) = (s.scaled.n, s.decision.live);
    zeros(&mut s.particular, n);
    for k in 0..r {
        s.particular[k] = s.scaled.drift[s.decision.order[k]];
    }
    qr::solve_upper_transposed(&s.rows_qr, live, r, &mut s.particular);
    qr::apply_q(&s.rows_qr, n, live, r, &s.rows_tau, &mut s.particular);
}

/// Divides a vector by its largest entry, so that this entry becomes one.
pub(super) fn unit_largest(v: &mut [f64]) {
    let big = v.iter().copied().fold(0.0, |m: f64, x| {
        // The first of entries that tie up to rounding decides the sign.
        if x.abs() > m.abs() * (1.0 + 1e-9) { x } else { m }
    });
    if big != 0.0 {
        v.iter_mut().for_each(|x| *x /= big);
    }
}

/// x ← x minus its projection on the columns of `s.matrix` (rows × count, spoilt on return).
/// Applied repeatedly: the first pass leaves rounding of the size of x, a later one only of the
/// result.
fn project_off(s: &mut Scratch, rows: usize, count: usize, x: &mut [f64]) {
    for k in 0..count {
        let big = (0..rows).fold(0.0, |m: f64, i| m.max(s.matrix[i * count + k].abs()));
        (0..rows).for_each(|i| s.matrix[i * count + k] /= big);
    }
    // Householder QR is accurate row by row if the rows come in falling order (Cox & Higham 1998);
    // the user's scaling of rows may differ by many orders of magnitude.
    s.order.clear();
    s.order.extend(0..rows);
    let matrix = &s.matrix;
    let size = |i: usize| largest(&matrix[i * count..(i + 1) * count]);
    s.order.sort_unstable_by(|&i, &j| size(j).total_cmp(&size(i)).then(i.cmp(&j)));
    zeros(&mut s.factor, rows * count);
    for (at, &i) in s.order.iter().enumerate() {
        s.factor[at * count..(at + 1) * count]
            .copy_from_slice(&s.matrix[i * count..(i + 1) * count]);
    }
    zeros(&mut s.extra, count);
    s.pivots.resize(count, 0);
    let steps = qr::factor_pivoted(&mut s.factor, rows, count, &mut s.extra, &mut s.pivots);
    for _ in 0..3 {
        s.work.clear();
        s.work.extend(s.order.iter().map(|&i| x[i]));
        qr::apply_q_transposed(&s.factor, rows, count, steps, &s.extra, &mut s.work);
        s.work[..steps].fill(0.0);
        qr::apply_q(&s.factor, rows, count, steps, &s.extra, &mut s.work);
        for (at, &i) in s.order.iter().enumerate() {
            x[i] = s.work[at];
        }
    }
}

/// μ and λ of least norm from Ãᵀμ = Γ̃x − F̃.
fn find_multipliers(s: &mut Scratch, outcome: &mut Outcome) {
    let (n, m, r, live) = (s.scaled.n, s.scaled.m, s.decision.jacobian, s.decision.live);
    zeros(&mut s.multipliers, m);
    zeros(&mut s.left, n);
    multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
    s.left.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g -= f);
    add_basic(s, r);
    outcome.multipliers.clear();
    outcome.multipliers.extend(s.multipliers.iter().zip(&s.scaled.rows).map(|(mu, d)| mu * d));
    let dependent = live - r;
    if dependent == 0 {
        return;
    }
    project_multipliers(s, outcome, dependent);
    // What rounding of the projection has done to Aᵀλ is put right on the independent rows. These
    // may be rows of small scale, where a correction at the level of rounding is large, so the
    // projection is repeated.
    zeros(&mut s.right, n);
    multiply_transposed(&s.scaled.jacobian, n, &s.multipliers, &mut s.right);
    s.left.iter_mut().zip(&s.right).for_each(|(g, a)| *g -= a);
    add_basic(s, r);
    for &j in &s.decision.order[..r] {
        outcome.multipliers[j] = s.multipliers[j] * s.scaled.rows[j];
    }
    project_multipliers(s, outcome, dependent);
}

/// Projects λ off ker Aᵀ, which the columns d [−R₁⁻¹R₂; I] span. Weights at the level of rounding
/// are zero: large ratios of row scales would otherwise make them count.
fn project_multipliers(s: &mut Scratch, outcome: &mut Outcome, dependent: usize) {
    let (m, r) = (s.scaled.m, s.decision.jacobian);
    zeros(&mut s.matrix, m * dependent);
    for k in 0..dependent {
        for i in 0..r {
            let (weight, j) = (s.weights[i * dependent + k], s.decision.order[i]);
            if weight.abs() > s.decision.tolerance {
                s.matrix[j * dependent + k] = -weight * s.scaled.rows[j];
            }
        }
        let j = s.decision.order[r + k];
        s.matrix[j * dependent + k] = s.scaled.rows[j];
    }
    project_off(s, m, dependent, &mut outcome.multipliers);
    for j in 0..m {
        s.multipliers[j] = outcome.multipliers[j] / s.scaled.rows[j];
    }
}

/// Adds to μ the basic solution of Ã₁ᵀ μ₁ = `s.left`.
fn add_basic(s: &mut Scratch, r: usize) {
    let (n, live) = (s.scaled.n, s.decision.live);
    s.work.clear();
    s.work.extend_from_slice(&s.left);
    qr::apply_q_transposed(&s.rows_qr, n, live, r, &s.rows_tau, &mut s.work);
    qr::solve_upper(&s.rows_qr, live, r, &mut s.work);
    for k in 0..r {
        s.multipliers[s.decision.order[k]] += s.work[k];
    }
}

/// ρ_N and ρ_A of SPEC 4.4, in equilibrated units.
fn certify(s: &mut Scratch, outcome: &mut Outcome) {
    let (n, m) = (s.scaled.n, s.scaled.m);
    let size = norm(&s.solution);
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b };
    zeros(&mut s.right, n);
    multiply_transposed(&s.scaled.jacobian, n, &s.multipliers, &mut s.right);
    zeros(&mut s.left, n);
    multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
    for i in 0..n {
        s.left[i] -= s.scaled.force[i] + s.right[i];
    }
    let whole = norm(&s.scaled.metric) * size + norm(&s.scaled.force);
    outcome.stationarity = ratio(norm(&s.left), whole);
    s.work.clear();
    for j in 0..m {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.work.push(dot(row, &s.solution) - s.scaled.drift[j]);
    }
    let whole = norm(&s.scaled.jacobian) * size + norm(&s.scaled.drift);
    outcome.feasibility = ratio(norm(&s.work), whole);
}
