//! The status of the motion: unique, gauge-free, hidden constraint, or inconsistent.
//!
//! Solvability: A v̇ = b needs ζᵀb = 0 for every ζ in ker Aᵀ; given that, a
//! minimum exists iff νᵀ(F + C) = 0 for every ν in ker Γ ∩ ker A, and it is unique iff that
//! intersection is {0}. All quantities are in equilibrated units, and every threshold is the
//! larger of a relative tolerance on the terms that should cancel and sixteen times their noise,
//! so that rounding never raises a contradiction.
//!
//! Γ may have negative directions that the constraints remove. What is needed is K ⪰ 0 and
//! ker K = ker Γ on ker A: then, and only then, Γ + σAᵀA ⪰ 0 for some σ (Finsler 1937), which poses
//! the same problem, and all of the above is true of it.

use super::shared::{solve_rows, unit_largest};
use super::{Scratch, SolveError};
use crate::linalg::{
    cholesky, dot, largest, lq, multiply, multiply_transposed, norm, qr, sized, zeros,
};
use crate::outcome::{Conflict, Hidden, Outcome, Rank, Verdict};
use crate::terms::{Terms, Tolerances};
use crate::tolerances::solving::{NOISE, VANISHING};

/// Finds the status and writes everything that does not depend on the elimination: ranks, status,
/// null vectors, evidence and the flags per row and coordinate. Leaves in `scratch` the orthogonal
/// basis, the particular solution and the factored K.
pub(super) fn diagnose(
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<(), SolveError> {
    factor_rows(scratch);
    outcome.conflict = find_conflict(scratch, terms, tolerances);
    project_bias(scratch);
    if let Some(conflict) = &mut outcome.conflict {
        write_residual(scratch, terms, conflict);
    }
    let definite = reduce_metric(scratch);
    let (n, m) = (terms.n, terms.m);
    let decision = &scratch.decision;
    let r = decision.jacobian;
    outcome.rank = Rank {
        jacobian: r,
        constraints: m,
        metric: decision.metric,
        metric_and_jacobian: r + scratch.reduced_rank,
        coordinates: n,
        route: decision.route,
        uncertain: decision.uncertain,
        weak: decision.weak,
    };
    outcome.independent.clear();
    outcome.independent.extend_from_slice(&scratch.decision.order[..r]);
    outcome.independent.sort_unstable();
    find_null_vectors(scratch, outcome);
    if let Some((pivot, coordinate)) = scratch.decision.negative
        && !(definite && null_vectors_have_no_mass(scratch))
    {
        return Err(SolveError::IndefiniteMetric { pivot, coordinate });
    }
    outcome.hidden = None;
    if !outcome.null.is_empty() {
        outcome.hidden = find_hidden(scratch, terms, tolerances, outcome);
    }
    outcome.motion = if outcome.conflict.is_some() {
        Verdict::Inconsistent
    } else if outcome.hidden.is_some() {
        Verdict::HiddenConstraint
    } else if !outcome.null.is_empty() {
        Verdict::GaugeFree
    } else {
        Verdict::Unique
    };
    flag(scratch, outcome);
    Ok(())
}

/// L Qᵀ of the ordered rows, the basis [Y N], and the weights L₁⁻ᵀL₂ᵀ of dependent rows.
pub(super) fn factor_rows(s: &mut Scratch) {
    let (n, r, live) = (s.scaled.n, s.decision.jacobian, s.decision.live);
    s.rows_lq.clear();
    for &j in &s.decision.order[..live] {
        s.rows_lq.extend_from_slice(&s.scaled.jacobian[j * n..(j + 1) * n]);
    }
    sized(&mut s.rows_tau, r);
    lq::factor(&mut s.rows_lq, n, r, &mut s.rows_tau);
    let free = n - r;
    zeros(&mut s.basis, free * n);
    for k in 0..free {
        let column = &mut s.basis[k * n..(k + 1) * n];
        column[r + k] = 1.0;
        lq::apply_q(&s.rows_lq, n, r, &s.rows_tau, column);
    }
    let dependent = live - r;
    zeros(&mut s.weights, r * dependent);
    if dependent == 0 {
        return;
    }
    sized(&mut s.work, r);
    for k in 0..dependent {
        s.work.copy_from_slice(&s.rows_lq[(r + k) * n..(r + k) * n + r]);
        lq::solve_lower_transposed(&s.rows_lq, n, r, &mut s.work);
        for i in 0..r {
            s.weights[i * dependent + k] = s.work[i];
        }
    }
}

/// Solves the independent rows and looks whether the dependent and the vanishing ones agree.
fn find_conflict(s: &mut Scratch, terms: &Terms, tolerances: &Tolerances) -> Option<Conflict> {
    let (n, m, r, live) = (terms.n, terms.m, s.decision.jacobian, s.decision.live);
    if m == r {
        return None;
    }
    solve_rows(s, r);
    let (scaled, order, y) = (&s.scaled, &s.decision.order, &s.particular);
    let row = |of: &'_ [f64], j: usize| -> f64 {
        of[j * n..(j + 1) * n].iter().zip(y).map(|(a, y)| (a * y).abs()).sum()
    };
    let size = |j: usize| scaled.bias[j].abs() + row(&scaled.jacobian, j);
    // Accelerations are rounded as the forces are that they come from, whatever the rows say of them: at
    // rest, biases are squares of velocities that are rounding themselves.
    let rounding = |j: usize| -> f64 {
        let entries = scaled.jacobian[j * n..(j + 1) * n].iter().zip(&scaled.force_size);
        let heavy = entries.zip(&scaled.massless).filter(|(_, massless)| !**massless);
        f64::EPSILON * heavy.map(|((a, force), _)| a.abs() * force).sum::<f64>()
    };
    let noise = |j: usize| scaled.bias_noise[j] + row(&scaled.jacobian_noise, j) + rounding(j);
    let residual_of = |j: usize| scaled.bias[j] - dot(&scaled.jacobian[j * n..(j + 1) * n], y);
    // Rows taken as dependent although they differ by a ratio δ may disagree by as much.
    let slack = 8.0 * s.decision.tolerance.max(s.decision.dropped);
    let relative_limit = tolerances.inconsistent.max(slack);
    let dependent = live - r;
    let mut worst: Option<(f64, usize, f64)> = None;
    for at in r..m {
        let j = order[at];
        let residual = residual_of(j);
        let (mut sum, mut bound) = (size(j), noise(j));
        for i in 0..if at < live { r } else { 0 } {
            let weight = s.weights[i * dependent + at - r].abs();
            sum += weight * size(order[i]);
            bound += weight * (noise(order[i]) + residual_of(order[i]).abs());
        }
        // A row that vanishes only within its noise may still carry that noise times any y.
        let limit = (relative_limit * sum).max(NOISE * bound);
        let excess = residual.abs() / limit.max(f64::MIN_POSITIVE);
        if residual.abs() > limit && worst.is_none_or(|(e, ..)| excess > e) {
            worst = Some((excess, at, residual.abs() / sum));
        }
    }
    let (_, at, relative) = worst?;
    let mut weights = vec![0.0; m];
    weights[order[at]] = scaled.rows[order[at]];
    if at < live {
        for i in 0..r {
            let weight = s.weights[i * dependent + at - r];
            if weight.abs() > VANISHING {
                weights[order[i]] = -weight * scaled.rows[order[i]];
            }
        }
    }
    unit_largest(&mut weights);
    let value = dot(&weights, terms.bias);
    Some(Conflict { weights, value, relative, residual: Vec::new() })
}

/// Sets y to the least-squares solution of all rows, and makes b̃ consistent with it.
fn project_bias(s: &mut Scratch) {
    let (n, m, r, live) = (s.scaled.n, s.scaled.m, s.decision.jacobian, s.decision.live);
    if live == r {
        solve_rows(s, r);
    } else {
        // L z = b̃ with L of all rows: a tall triangle, factored once more.
        zeros(&mut s.matrix, live * r);
        for k in 0..live {
            for i in 0..r.min(k + 1) {
                s.matrix[k * r + i] = s.rows_lq[k * n + i];
            }
        }
        zeros(&mut s.extra, r);
        qr::factor(&mut s.matrix, live, r, r, &mut s.extra);
        zeros(&mut s.particular, n);
        // Refined for the same reason as the solution of the independent rows.
        for _ in 0..3 {
            zeros(&mut s.work, live.max(n));
            for (k, &j) in s.decision.order[..live].iter().enumerate() {
                let row = &s.scaled.jacobian[j * n..(j + 1) * n];
                s.work[k] = s.scaled.bias[j] - dot(row, &s.particular);
            }
            qr::apply_q_transposed(&s.matrix, live, r, r, &s.extra, &mut s.work);
            qr::solve_upper(&s.matrix, r, r, &mut s.work);
            s.work[r..].fill(0.0);
            lq::apply_q(&s.rows_lq, n, r, &s.rows_tau, &mut s.work);
            s.particular.iter_mut().zip(&s.work).for_each(|(y, correction)| *y += correction);
        }
        for j in 0..m {
            s.scaled.bias[j] = dot(&s.scaled.jacobian[j * n..(j + 1) * n], &s.particular);
        }
    }
    for &j in &s.decision.order[live..m] {
        s.scaled.bias[j] = 0.0;
    }
}

fn write_residual(s: &Scratch, terms: &Terms, conflict: &mut Conflict) {
    let v: Vec<f64> = s.particular.iter().zip(&s.scaled.coordinates).map(|(x, c)| x * c).collect();
    conflict.residual = vec![0.0; terms.m];
    multiply(terms.jacobian, terms.n, &v, &mut conflict.residual);
    conflict.residual.iter_mut().zip(terms.bias).for_each(|(residual, b)| *residual -= b);
}

/// Forms and factors K = NᵀΓ̃N, and F̃ − Γ̃y. False if K has a negative direction.
fn reduce_metric(s: &mut Scratch) -> bool {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let free = n - r;
    find_remaining(s);
    form_reduced(s);
    s.extra.clear();
    if s.scaled.noisy {
        // |N|ᵀ noise |N|
        let absolute = |v: &[f64], of: &[f64]| -> f64 {
            v.iter().zip(of).map(|(v, size)| v.abs() * size).sum()
        };
        zeros(&mut s.matrix, free * n);
        for k in 0..free {
            let vector = &s.basis[k * n..(k + 1) * n];
            for i in 0..n {
                s.matrix[k * n + i] = absolute(vector, &s.scaled.metric_noise[i * n..(i + 1) * n]);
            }
        }
        for i in 0..free {
            let vector = &s.basis[i * n..(i + 1) * n];
            for k in 0..free {
                s.extra.push(absolute(vector, &s.matrix[k * n..(k + 1) * n]));
            }
        }
    }
    s.reduced_order.resize(free, 0);
    let found = s.decision.decide_reduced(&mut s.reduced, free, &s.extra, &mut s.reduced_order, n);
    s.reduced_rank = found.rank;
    found.negative.is_none()
}

/// F̃ − Γ̃y.
pub(super) fn find_remaining(s: &mut Scratch) {
    if s.decision.jacobian == 0 {
        // y = 0.
        s.remaining.clone_from(&s.scaled.force);
        return;
    }
    sized(&mut s.remaining, s.scaled.n);
    multiply(&s.scaled.metric, s.scaled.n, &s.particular, &mut s.remaining);
    s.remaining.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g = f - *g);
}

/// K = NᵀΓ̃N, both triangles.
pub(super) fn form_reduced(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let free = n - r;
    if r == 0 {
        // N is the identity.
        s.reduced.clone_from(&s.scaled.metric);
        return;
    }
    sized(&mut s.matrix, free * n);
    for k in 0..free {
        let vector = &s.basis[k * n..(k + 1) * n];
        multiply(&s.scaled.metric, n, vector, &mut s.matrix[k * n..(k + 1) * n]);
    }
    sized(&mut s.reduced, free * free);
    for i in 0..free {
        for k in 0..=i {
            let sum = dot(&s.basis[i * n..(i + 1) * n], &s.matrix[k * n..(k + 1) * n]);
            s.reduced[i * free + k] = sum;
            s.reduced[k * free + i] = sum;
        }
    }
}

/// Whether Γ̃ν = 0 for the null vectors ν of K, which for Γ ⪰ 0 follows from νᵀΓν = 0.
fn null_vectors_have_no_mass(s: &Scratch) -> bool {
    let n = s.scaled.n;
    let rounding = 64.0 * n as f64 * f64::EPSILON * largest(&s.scaled.metric);
    s.null.chunks_exact(n.max(1)).all(|vector| {
        let row = |of: &[f64], i: usize| dot(&of[i * n..(i + 1) * n], vector).abs();
        let size: f64 = vector.iter().map(|x| x.abs()).sum();
        (0..n).all(|i| {
            let noise: f64 = (0..n).map(|j| s.scaled.metric_noise[i * n + j]).sum();
            row(&s.scaled.metric, i) <= (rounding + 2.0 * noise) * size
        })
    })
}

/// ν = N ker K, reduced by Gauss–Jordan elimination with complete pivoting so that each vector
/// involves as few coordinates as possible, then brought to the user's units.
fn find_null_vectors(s: &mut Scratch, outcome: &mut Outcome) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let (free, rank) = (n - r, s.reduced_rank);
    let count = free - rank;
    outcome.null.clear();
    if count == 0 {
        s.null.clear();
        return;
    }
    zeros(&mut s.null, count * n);
    zeros(&mut s.work, free);
    zeros(&mut s.extra, free);
    for which in 0..count {
        cholesky::null_vector(
            &s.reduced,
            free,
            rank,
            &s.reduced_order,
            which,
            &mut s.extra,
            &mut s.work,
        );
        let length = norm(&s.extra);
        let vector = &mut s.null[which * n..(which + 1) * n];
        multiply_transposed(&s.basis, n, &s.extra, vector);
        vector.iter_mut().for_each(|x| *x /= length);
    }
    echelon(&mut s.null, count, n);
    for vector in s.null.chunks_exact(n) {
        let mut user: Vec<f64> =
            vector.iter().zip(&s.scaled.coordinates).map(|(x, c)| x * c).collect();
        unit_largest(&mut user);
        outcome.null.push(user);
    }
}

fn echelon(rows: &mut [f64], count: usize, n: usize) {
    for k in 0..count {
        let (mut best, mut at) = (0.0, (k, 0));
        for i in k..count {
            for j in 0..n {
                if rows[i * n + j].abs() > best * (1.0 + 1e-6) {
                    best = rows[i * n + j].abs();
                    at = (i, j);
                }
            }
        }
        let (row, column) = at;
        for j in 0..n {
            rows.swap(row * n + j, k * n + j);
        }
        let pivot = rows[k * n + column];
        if !(pivot.abs() > 0.0) {
            return;
        }
        rows[k * n..(k + 1) * n].iter_mut().for_each(|v| *v /= pivot);
        for i in (0..count).filter(|&i| i != k) {
            let factor = rows[i * n + column];
            for j in 0..n {
                rows[i * n + j] -= factor * rows[k * n + j];
            }
            rows[i * n + column] = 0.0;
        }
    }
    for row in rows.chunks_exact_mut(n) {
        let big = largest(row);
        for v in row.iter_mut().filter(|v| v.abs() <= VANISHING * big) {
            *v = 0.0;
        }
    }
}

fn find_hidden(
    s: &Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &Outcome,
) -> Option<Hidden> {
    let scaled = &s.scaled;
    let absolute =
        |v: &[f64], of: &[f64]| -> f64 { v.iter().zip(of).map(|(v, size)| v.abs() * size).sum() };
    let mut worst: Option<(f64, usize, f64)> = None;
    for (k, vector) in s.null.chunks_exact(scaled.n).enumerate() {
        let value = dot(vector, &scaled.force).abs();
        let size = absolute(vector, &scaled.force_size);
        let limit = (tolerances.hidden * size).max(NOISE * absolute(vector, &scaled.force_noise));
        let excess = value / limit.max(f64::MIN_POSITIVE);
        if value > limit && worst.is_none_or(|(e, ..)| excess > e) {
            worst = Some((excess, k, value / size));
        }
    }
    let (_, k, relative) = worst?;
    let direction = outcome.null[k].clone();
    let value = (0..terms.n).map(|i| direction[i] * (terms.force[i] + terms.nonideal[i])).sum();
    Some(Hidden { direction, value, relative })
}

fn flag(s: &Scratch, outcome: &mut Outcome) {
    let (n, m, r, live) = (s.scaled.n, s.scaled.m, s.decision.jacobian, s.decision.live);
    outcome.undetermined.clear();
    outcome.undetermined.extend((0..n).map(|i| outcome.null.iter().any(|v| v[i] != 0.0)));
    outcome.indeterminate.clear();
    outcome.indeterminate.resize(m, true);
    let dependent = live - r;
    let limit = VANISHING.max(10.0 * s.decision.tolerance);
    for i in 0..r {
        let weights = &s.weights[i * dependent..(i + 1) * dependent];
        outcome.indeterminate[s.decision.order[i]] = weights.iter().any(|w| w.abs() > limit);
    }
}
