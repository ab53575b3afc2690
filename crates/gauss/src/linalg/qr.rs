//! Householder QR with and without column pivoting.
//!
//! A = Q R with Q = H_1 H_2 … H_k, H = I − τ v vᵀ (Golub & Van Loan, *Matrix Computations*,
//! §5.2 and §5.4; Businger & Golub 1965 for the pivoting). R is left on and above the diagonal,
//! the vectors v (with v_1 = 1 implied) below it. Backward stable for every A. With pivoting the
//! diagonal of R falls in size and reveals the rank in practice, though not in theory (Kahan's
//! matrix), which is why doubtful cases go on to the singular values.

use super::norm;

/// Factors the first `steps` columns of the `rows` × `cols` matrix `a` and applies the
/// reflections to the columns after them too. `tau` needs `min(steps, rows, cols)` entries.
pub fn factor(a: &mut [f64], rows: usize, cols: usize, steps: usize, tau: &mut [f64]) {
    for k in 0..steps.min(rows).min(cols) {
        reflect(a, rows, cols, k, tau);
    }
}

/// Factors A Π = Q R with column pivoting; `pivots` receives the original column numbers in
/// pivot order. Returns the number of steps, `min(rows, cols)`.
pub fn factor_pivoted(
    a: &mut [f64],
    rows: usize,
    cols: usize,
    tau: &mut [f64],
    pivots: &mut [usize],
) -> usize {
    for (j, pivot) in pivots.iter_mut().enumerate().take(cols) {
        *pivot = j;
    }
    let steps = rows.min(cols);
    for k in 0..steps {
        // The norms are computed afresh: at these sizes that is cheaper than guarding the
        // downdating formula against cancellation.
        let mut best = k;
        let mut best_norm = 0.0;
        for first in (k..cols).step_by(BLOCK) {
            let norms = column_norms(a, rows, cols, k, first);
            for (j, candidate) in (first..cols).zip(norms) {
                // The margin keeps the order of columns that tie up to rounding.
                if j == k || candidate > best_norm * (1.0 + 1e-6) {
                    (best, best_norm) = (j, candidate);
                }
            }
        }
        if best != k {
            pivots.swap(best, k);
            for i in 0..rows {
                a.swap(i * cols + best, i * cols + k);
            }
        }
        reflect(a, rows, cols, k, tau);
    }
    steps
}

/// x ← Qᵀ x with the first `steps` reflections of a factored matrix.
pub fn apply_q_transposed(
    a: &[f64],
    rows: usize,
    cols: usize,
    steps: usize,
    tau: &[f64],
    x: &mut [f64],
) {
    for k in 0..steps {
        apply_reflection(a, rows, cols, k, tau[k], x);
    }
}

/// x ← Q x with the first `steps` reflections of a factored matrix.
pub fn apply_q(a: &[f64], rows: usize, cols: usize, steps: usize, tau: &[f64], x: &mut [f64]) {
    for k in (0..steps).rev() {
        apply_reflection(a, rows, cols, k, tau[k], x);
    }
}

/// Solves R x = b for the leading `k` × `k` upper triangle of a matrix with `cols` columns.
pub fn solve_upper(r: &[f64], cols: usize, k: usize, x: &mut [f64]) {
    for i in (0..k).rev() {
        let mut sum = x[i];
        for j in i + 1..k {
            sum -= r[i * cols + j] * x[j];
        }
        x[i] = sum / r[i * cols + i];
    }
}

/// Solves Rᵀ x = b for the leading `k` × `k` upper triangle of a matrix with `cols` columns.
pub fn solve_upper_transposed(r: &[f64], cols: usize, k: usize, x: &mut [f64]) {
    for i in 0..k {
        let mut sum = x[i];
        for j in 0..i {
            sum -= r[j * cols + i] * x[j];
        }
        x[i] = sum / r[i * cols + i];
    }
}

/// Columns that are worked on together, row by row, as the matrix lies in memory.
const BLOCK: usize = 64;

/// Norms of the columns after `first`, at most a block of them, from row `from` down.
fn column_norms(a: &[f64], rows: usize, cols: usize, from: usize, first: usize) -> [f64; BLOCK] {
    let mut norms = [0.0; BLOCK];
    let last = cols.min(first + BLOCK);
    for row in a[from * cols..rows * cols].chunks_exact(cols) {
        norms.iter_mut().zip(&row[first..last]).for_each(|(sum, v)| *sum += v * v);
    }
    for (j, sum) in (first..last).zip(&mut norms) {
        *sum = match (1e-280..1e280).contains(sum) {
            true => sum.sqrt(),
            false => column_norm(a, rows, cols, from, j),
        };
    }
    norms
}

/// Norm of column `j` from row `from` down.
fn column_norm(a: &[f64], rows: usize, cols: usize, from: usize, j: usize) -> f64 {
    let entries = || (from..rows).map(|i| a[i * cols + j]);
    let plain: f64 = entries().map(|v| v * v).sum();
    if (1e-280..1e280).contains(&plain) || plain == 0.0 && entries().all(|v| v == 0.0) {
        return plain.sqrt();
    }
    let big = entries().fold(0.0, |m: f64, v| m.max(v.abs()));
    if !big.is_finite() || big == 0.0 {
        return plain.sqrt();
    }
    big * entries().map(|v| (v / big) * (v / big)).sum::<f64>().sqrt()
}

fn reflect(a: &mut [f64], rows: usize, cols: usize, k: usize, tau: &mut [f64]) {
    let alpha = a[k * cols + k];
    let tail = column_norm(a, rows, cols, k + 1, k);
    if tail == 0.0 {
        tau[k] = 0.0;
        return;
    }
    let beta = -norm(&[alpha, tail]).copysign(alpha);
    tau[k] = (beta - alpha) / beta;
    a[k * cols + k] = beta;
    for i in k + 1..rows {
        a[i * cols + k] /= alpha - beta;
    }
    let (head, tail) = a.split_at_mut((k + 1) * cols);
    for first in (k + 1..cols).step_by(BLOCK) {
        let last = cols.min(first + BLOCK);
        let head = &mut head[k * cols + first..k * cols + last];
        let mut sums = [0.0; BLOCK];
        sums[..last - first].copy_from_slice(head);
        for row in tail.chunks_exact(cols).take(rows - k - 1) {
            let v = row[k];
            sums.iter_mut().zip(&row[first..last]).for_each(|(s, a)| *s += v * a);
        }
        sums.iter_mut().for_each(|s| *s *= tau[k]);
        head.iter_mut().zip(&sums).for_each(|(a, s)| *a -= s);
        for row in tail.chunks_exact_mut(cols).take(rows - k - 1) {
            let v = row[k];
            row[first..last].iter_mut().zip(&sums).for_each(|(a, s)| *a -= s * v);
        }
    }
}

/// X ← Q X with the first `steps` reflections of a factored matrix; X has `width` columns.
pub fn apply_q_to_columns(
    a: &[f64],
    rows: usize,
    cols: usize,
    steps: usize,
    tau: &[f64],
    x: &mut [f64],
    width: usize,
) {
    for first in (0..width).step_by(BLOCK) {
        let last = width.min(first + BLOCK);
        let part = |i: usize| i * width + first..i * width + last;
        for k in (0..steps).rev() {
            let mut sums = [0.0; BLOCK];
            sums[..last - first].copy_from_slice(&x[part(k)]);
            for i in k + 1..rows {
                let v = a[i * cols + k];
                sums.iter_mut().zip(&x[part(i)]).for_each(|(s, x)| *s += v * x);
            }
            sums.iter_mut().for_each(|s| *s *= tau[k]);
            x[part(k)].iter_mut().zip(&sums).for_each(|(x, s)| *x -= s);
            for i in k + 1..rows {
                let v = a[i * cols + k];
                x[part(i)].iter_mut().zip(&sums).for_each(|(x, s)| *x -= s * v);
            }
        }
    }
}

fn apply_reflection(a: &[f64], rows: usize, cols: usize, k: usize, tau: f64, x: &mut [f64]) {
    let mut s = x[k];
    for i in k + 1..rows {
        s += a[i * cols + k] * x[i];
    }
    s *= tau;
    x[k] -= s;
    for i in k + 1..rows {
        x[i] -= s * a[i * cols + k];
    }
}
