//! What every elimination does before and after its own algebra.
//!
//! Before: check, equilibrate, decide the ranks, find the status. After: return to the user's
//! units, take the acceleration of least norm if it is not unique, find the multipliers of least
//! norm, and compute the certificates.
//!
//! Multipliers solve Aᵀλ = Γ v̇ − F − C. The basic solution on the independent rows is shortened
//! along ker Aᵀ in the user's scaling of rows, since "least norm" is said of the rows as written.

use super::{Scratch, SolveError, status};
use crate::linalg::{cholesky, dot, lq, multiply, multiply_transposed, norm, zeros};
use crate::outcome::{Outcome, Verdict};
use crate::terms::{Terms, Tolerances};
use crate::tolerances::solving::NOISE;

/// Checks the terms and finds their status. True if accelerations are to be computed.
pub(super) fn begin(
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<bool, SolveError> {
    outcome.v_dot.clear();
    outcome.multipliers.clear();
    (outcome.condition, scratch.condition) = (None, None);
    outcome.coupling = None;
    (outcome.stationarity, outcome.feasibility) = (0.0, 0.0);
    terms.check()?;
    scratch.refines = true;
    decide(scratch, terms, tolerances, outcome)?;
    // With the unit of the mass nearby, a mass that is small and yet all there is to a free
    // direction drowns in rounding. If in its own unit the motion is unique, it is.
    if scratch.scaled.is_light && outcome.motion != Verdict::Unique {
        let own = Terms { inertia: &[], ..*terms };
        if decide(scratch, &own, tolerances, outcome).is_err() || outcome.motion != Verdict::Unique
        {
            decide(scratch, terms, tolerances, outcome)?;
        }
    }
    Ok(outcome.motion.exists() || tolerances.least_squares)
}

/// Units, ranks and status.
fn decide(
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<(), SolveError> {
    scratch.scaled.set(terms)?;
    scratch.decision.decide_metric(&scratch.scaled);
    scratch.decision.decide_jacobian(&scratch.scaled, tolerances);
    status::diagnose(scratch, terms, tolerances, outcome)
}

/// Refuses a Γ that is not positive definite, for an elimination that needs it.
pub(super) fn refuse_singular(
    scratch: &Scratch,
    terms: &Terms,
    outcome: &Outcome,
) -> Result<(), SolveError> {
    let (rank, size) = (outcome.rank.metric, terms.n);
    if let Some((pivot, coordinate)) = scratch.decision.negative {
        return Err(SolveError::NegativeDirection { pivot, coordinate });
    }
    if rank < size { Err(SolveError::SingularMetric { rank, size }) } else { Ok(()) }
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
        for k in 0..count {
            for i in 0..n {
                s.matrix[i * count + k] = s.null[k * n + i];
            }
        }
        let mut x = std::mem::take(&mut s.solution);
        let weights = std::mem::take(&mut s.scaled.coordinates);
        shorten(s, count, &weights, &mut x);
        (s.solution, s.scaled.coordinates) = (x, weights);
        for i in 0..n {
            outcome.v_dot[i] = s.solution[i] * s.scaled.coordinates[i];
        }
    }
    outcome.condition = s.condition;
    find_multipliers(s, outcome);
    (outcome.stationarity, outcome.feasibility) = certify(s);
    if outcome.multipliers.iter().any(|v| !v.is_finite()) {
        return Err(SolveError::Overflow { what: "multipliers" });
    }
    Ok(())
}

/// y with Ã y = b̃ on the independent rows, orthogonal to ker Ã: y = Y L₁⁻¹ b̃₁. Refined, because
/// reflections mix coordinates: without it, rounding of the largest entries of y would reach rows
/// that do not touch them and look like a contradiction there.
pub(super) fn solve_rows(s: &mut Scratch, r: usize) {
    zeros(&mut s.particular, s.scaled.n);
    for (k, &j) in s.decision.order[..r].iter().enumerate() {
        s.particular[k] = s.scaled.bias[j];
    }
    take_rows(&s.rows_lq, &s.rows_tau, r, &mut s.particular);
    for _ in 0..if s.refines { 2 } else { 0 } {
        zeros(&mut s.work, s.scaled.n);
        find_left_of_rows(s, r);
        take_rows(&s.rows_lq, &s.rows_tau, r, &mut s.work);
        s.particular.iter_mut().zip(&s.work).for_each(|(y, correction)| *y += correction);
    }
}

/// b̃ − Ãy on the independent rows.
fn find_left_of_rows(s: &mut Scratch, r: usize) {
    let n = s.scaled.n;
    for (k, &j) in s.decision.order[..r].iter().enumerate() {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.work[k] = s.scaled.bias[j] - dot(row, &s.particular);
    }
}

/// x ← Y L₁⁻¹ x for an x with r entries and zeros behind them.
pub(super) fn take_rows(rows_lq: &[f64], rows_tau: &[f64], r: usize, x: &mut [f64]) {
    let n = x.len();
    lq::solve_lower(rows_lq, n, r, x);
    lq::apply_q(rows_lq, n, r, rows_tau, x);
}

/// `left` ← N Nᵀ `left`: the part of a force that the constraints cannot balance.
pub(super) fn keep_free(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    lq::apply_q_transposed(&s.rows_lq, n, r, &s.rows_tau, &mut s.left);
    s.left[..r].fill(0.0);
    lq::apply_q(&s.rows_lq, n, r, &s.rows_tau, &mut s.left);
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

/// Makes ‖w x‖ least by adding to x combinations of the columns of Z = `s.matrix` (spoilt on
/// return), which has as many rows as x and `count` columns.
///
/// Weights may differ by many orders of magnitude. Gauss–Jordan elimination on w Z with complete
/// pivoting gives columns with unit pivots and other entries of order one, hence well-conditioned
/// normal equations. Subtraction happens in equilibrated units, where Z x stays in the kernel it
/// spans. Each pass leaves rounding of the size of what it found, so a few of them reach the
/// rounding of the result.
fn shorten(s: &mut Scratch, count: usize, weights: &[f64], x: &mut [f64]) {
    let rows = x.len();
    for i in 0..rows {
        s.matrix[i * count..(i + 1) * count].iter_mut().for_each(|z| *z *= weights[i]);
    }
    // Most entries are 0 where many rows depend on few others each. The largest of each row from k
    // on, the first of equal ones, is looked for again only where it may be another.
    let largest = |row: &[f64], k: usize| {
        let own = row.iter().enumerate().skip(k);
        own.fold((0.0, k), |m, (j, z)| if z.abs() > m.0 { (z.abs(), j) } else { m })
    };
    let mut most: Vec<(f64, usize)> =
        s.matrix.chunks(count.max(1)).map(|z| largest(z, 0)).collect();
    let mut pivots = vec![0.0; count];
    for k in 0..count {
        let (mut best, mut row, mut column) = (0.0, 0, k);
        for (i, own) in most.iter().enumerate().take(rows) {
            if own.0 > best {
                (best, row, column) = (own.0, i, own.1);
            }
        }
        let pivot = s.matrix[row * count + column];
        if !(pivot.abs() > 0.0) {
            return;
        }
        for (i, z) in s.matrix.chunks_mut(count).enumerate().take(rows) {
            z.swap(k, column);
            z[k] /= pivot;
            if i == row {
                pivots.copy_from_slice(z);
            }
        }
        pivots[k] = 0.0;
        for (i, z) in s.matrix.chunks_mut(count).enumerate().take(rows) {
            let by = z[k];
            if by != 0.0 {
                z.iter_mut().zip(&pivots).for_each(|(z, factor)| *z -= factor * by);
                if i == row {
                    (0..count).filter(|&j| j != k).for_each(|j| z[j] = 0.0);
                }
            }
            if by != 0.0 || most[i].1 == k || most[i].1 == column {
                most[i] = largest(z, k + 1);
            }
        }
    }
    zeros(&mut s.factor, count * count);
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for z in s.matrix.chunks(count.max(1)).take(rows) {
        entries.clear();
        entries.extend(z.iter().copied().enumerate().filter(|(_, z)| *z != 0.0));
        for (at, (i, a)) in entries.iter().enumerate() {
            for (j, b) in &entries[..=at] {
                s.factor[i * count + j] += a * b;
            }
        }
    }
    if cholesky::factor(&mut s.factor, count).is_err() {
        return;
    }
    zeros(&mut s.extra, count);
    for _ in 0..4 {
        s.extra.fill(0.0);
        for i in 0..rows {
            let g = weights[i] * x[i];
            let row = &s.matrix[i * count..(i + 1) * count];
            s.extra.iter_mut().zip(row).for_each(|(e, z)| *e += z * g);
        }
        cholesky::solve_lower(&s.factor, count, count, &mut s.extra);
        cholesky::solve_lower_transposed(&s.factor, count, count, &mut s.extra);
        for i in 0..rows {
            x[i] -= dot(&s.matrix[i * count..(i + 1) * count], &s.extra) / weights[i];
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
    let dependent = live - r;
    if dependent > 0 {
        shorten_multipliers(s, dependent);
    }
    // What rounding has done to Aᵀλ is put right on the independent rows: a large force on a
    // coordinate without mass leaves few digits to the others.
    improve_basic(s, r);
    if dependent > 0 {
        // These may be rows where a correction at the level of rounding is long.
        shorten_multipliers(s, dependent);
    }
    outcome.multipliers.clear();
    outcome.multipliers.extend(s.multipliers.iter().zip(&s.scaled.rows).map(|(mu, d)| mu * d));
}

/// Takes λ = d μ to its least norm. The columns [−L₁⁻ᵀL₂ᵀ; I] span ker Ãᵀ; weights at the level of
/// rounding are zero, since large ratios of row scales would otherwise make them count.
fn shorten_multipliers(s: &mut Scratch, dependent: usize) {
    let (m, r) = (s.scaled.m, s.decision.jacobian);
    zeros(&mut s.matrix, m * dependent);
    for k in 0..dependent {
        for i in 0..r {
            let (weight, j) = (s.weights[i * dependent + k], s.decision.order[i]);
            if weight.abs() > s.decision.tolerance {
                s.matrix[j * dependent + k] = -weight;
            }
        }
        let j = s.decision.order[r + k];
        s.matrix[j * dependent + k] = 1.0;
    }
    let mut x = std::mem::take(&mut s.multipliers);
    let weights = std::mem::take(&mut s.scaled.rows);
    shorten(s, dependent, &weights, &mut x);
    (s.multipliers, s.scaled.rows) = (x, weights);
}

/// Adds to μ the basic solution of Ã₁ᵀ μ₁ = `s.left`.
pub(super) fn add_basic(s: &mut Scratch, r: usize) {
    let n = s.scaled.n;
    s.work.clear();
    s.work.extend_from_slice(&s.left);
    lq::apply_q_transposed(&s.rows_lq, n, r, &s.rows_tau, &mut s.work);
    lq::solve_lower_transposed(&s.rows_lq, n, r, &mut s.work);
    for k in 0..r {
        s.multipliers[s.decision.order[k]] += s.work[k];
    }
}

/// Solves once more for what is left of Ãᵀμ = `s.left`.
pub(super) fn improve_basic(s: &mut Scratch, r: usize) {
    let n = s.scaled.n;
    zeros(&mut s.right, n);
    multiply_transposed(&s.scaled.jacobian, n, &s.multipliers, &mut s.right);
    s.left.iter_mut().zip(&s.right).for_each(|(g, a)| *g -= a);
    add_basic(s, r);
}

/// ρ_N and ρ_A, in equilibrated units. Where forces and accelerations are rounding and nothing
/// else, so is what is left of them, hence both are what goes beyond the noise.
pub(super) fn certify(s: &mut Scratch) -> (f64, f64) {
    let (n, m) = (s.scaled.n, s.scaled.m);
    let size = norm(&s.solution);
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b };
    let beyond = |value: f64, noise: f64| (value.abs() - NOISE * noise).max(0.0);
    let moved = |noise: &[f64], x: &[f64]| -> f64 {
        noise.iter().zip(x).map(|(noise, x)| noise * x.abs()).sum()
    };
    zeros(&mut s.right, n);
    multiply_transposed(&s.scaled.jacobian, n, &s.multipliers, &mut s.right);
    zeros(&mut s.left, n);
    multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
    for i in 0..n {
        s.left[i] -= s.scaled.force[i] + s.right[i];
        let metric = &s.scaled.metric_noise[i * n..(i + 1) * n];
        let rows: f64 =
            (0..m).map(|j| s.scaled.jacobian_noise[j * n + i] * s.multipliers[j].abs()).sum();
        let noise = s.scaled.force_noise[i] + moved(metric, &s.solution) + rows;
        s.left[i] = beyond(s.left[i], noise);
    }
    let whole = norm(&s.scaled.metric) * size + norm(&s.scaled.force);
    let stationarity = ratio(norm(&s.left), whole);
    s.work.clear();
    for j in 0..m {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        let entries = &s.scaled.jacobian_noise[j * n..(j + 1) * n];
        let noise = s.scaled.bias_noise[j] + moved(entries, &s.solution);
        s.work.push(beyond(dot(row, &s.solution) - s.scaled.bias[j], noise));
    }
    // At rest in equilibrium the size is that of what the forces alone would do.
    let whole = norm(&s.scaled.jacobian) * (size + norm(&s.scaled.force)) + norm(&s.scaled.bias);
    (stationarity, ratio(norm(&s.work), whole))
}
