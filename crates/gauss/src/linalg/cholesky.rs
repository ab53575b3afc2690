//! Cholesky factorization, plain and with diagonal pivoting.
//!
//! A = L Lᵀ for A ≻ 0; Πᵀ A Π = L Lᵀ with L of `rank` columns for A ⪰ 0 (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, §10.3). The pivoted form finds the rank of a semidefinite
//! matrix and tells an indefinite one: what is left when no diagonal entry exceeds its tolerance
//! must then be zero, and it is not. Only the symmetric part that the lower triangle states is
//! used.

use super::dot;
use crate::tolerances::rank::SUSPECT;

/// What a pivoted factorization found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivoted {
    /// Number of pivots above their tolerance.
    pub rank: usize,
    /// Largest and smallest accepted pivot; (0, 0) if there is none.
    pub accepted: (f64, f64),
    /// Largest entry in absolute value of what was left over.
    pub dropped: f64,
    /// The most negative evidence against semidefiniteness, with its index in the caller's order.
    pub negative: Option<(f64, usize)>,
}

/// Factors A = L Lᵀ in the lower triangle of `a`; fails with the index of the first pivot that is
/// not positive.
#[inline(always)]
pub fn factor(a: &mut [f64], n: usize) -> Result<(), usize> {
    for j in 0..n {
        let row = &a[j * n..j * n + j];
        let pivot = a[j * n + j] - dot(row, row);
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return Err(j);
        }
        let root = pivot.sqrt();
        a[j * n + j] = root;
        let (head, below) = a.split_at_mut((j + 1) * n);
        let row = &head[j * n..j * n + j];
        for k in 0..n - (j + 1) {
            let other = &mut below[k * n..k * n + j + 1];
            other[j] = (other[j] - dot(&other[..j], row)) / root;
        }
    }
    Ok(())
}

/// Factors Πᵀ A Π = L Lᵀ with the largest remaining diagonal entry as pivot. `a` holds both
/// triangles on entry. `tolerance[i]` is the size below which the diagonal entry of the caller's
/// index i counts as zero; `order` receives the caller's indices in pivot order.
pub fn factor_pivoted(a: &mut [f64], n: usize, tolerance: &[f64], order: &mut [usize]) -> Pivoted {
    factor_pivoted_noisy(a, n, tolerance, &[], order, &mut Vec::new())
}

/// The same for a matrix whose entries have errors of up to `noise`, n × n in the caller's order,
/// or empty if there are none. A pivot is made of all the entries eliminated before it, so a large
/// error in one of these is one of the pivot too, however small the errors of its own row.
pub fn factor_pivoted_noisy(
    a: &mut [f64],
    n: usize,
    tolerance: &[f64],
    noise: &[f64],
    order: &mut [usize],
    work: &mut Vec<f64>,
) -> Pivoted {
    for (i, slot) in order.iter_mut().enumerate().take(n) {
        *slot = i;
    }
    let mut rank = 0;
    let mut accepted = (0.0, f64::INFINITY);
    while rank < n {
        let k = rank;
        let mut best = None;
        for i in k..n {
            let pivot = a[i * n + i];
            let is_zero = !(pivot > tolerance[order[i]])
                || (pivot < SUSPECT && !(pivot > inherited(a, n, k, i, noise, order, work)));
            // The margin keeps the order of entries that tie up to rounding.
            let beats = |b: usize| pivot > a[b * n + b] * (1.0 + 1e-6);
            if !is_zero && best.is_none_or(beats) {
                best = Some(i);
            }
        }
        let Some(best) = best else { break };
        if best != k {
            order.swap(best, k);
            swap_symmetric(a, n, best, k);
        }
        let pivot = a[k * n + k];
        accepted = (pivot.max(accepted.0), pivot.min(accepted.1));
        let root = pivot.sqrt();
        a[k * n + k] = root;
        for i in k + 1..n {
            a[i * n + k] /= root;
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                let value = a[i * n + j] - a[i * n + k] * a[j * n + k];
                a[i * n + j] = value;
                a[j * n + i] = value;
            }
        }
        rank += 1;
    }
    if rank == 0 {
        accepted = (0.0, 0.0);
    }
    let (mut dropped, mut negative) = (0.0, None);
    let mut worst = 0.0;
    for i in rank..n {
        for j in rank..=i {
            let value: f64 = a[i * n + j];
            dropped = value.abs().max(dropped);
            let allowed = tolerance[order[i]].max(tolerance[order[j]]);
            // With a vanishing diagonal, |a_ij| > 0 means the eigenvalues ±|a_ij|.
            let evidence = if i == j { value } else { -value.abs() / 4.0 };
            if evidence < -allowed
                && evidence < worst
                && evidence < -inherited(a, n, rank, i, noise, order, work)
                && evidence < -inherited(a, n, rank, j, noise, order, work)
            {
                worst = evidence;
                negative = Some((evidence, order[i]));
            }
        }
    }
    Pivoted { rank, accepted, dropped, negative }
}

/// Twice the error that diagonal entry `i` may have after `k` pivots: xᵀ A x with
/// x = (−L₁₁⁻ᵀ l_i, 1) is what is left of it, so |x|ᵀ noise |x| bounds its error to first order.
fn inherited(
    a: &[f64],
    n: usize,
    k: usize,
    i: usize,
    noise: &[f64],
    order: &[usize],
    work: &mut Vec<f64>,
) -> f64 {
    if noise.is_empty() {
        return 0.0;
    }
    work.clear();
    work.extend_from_slice(&a[i * n..i * n + k]);
    solve_lower_transposed(a, n, k, work);
    work.push(1.0);
    let name = |p: usize| if p < k { order[p] } else { order[i] };
    let mut sum = 0.0;
    for (p, x) in work.iter().enumerate() {
        let row = &noise[name(p) * n..(name(p) + 1) * n];
        sum += x.abs() * work.iter().enumerate().map(|(q, y)| row[name(q)] * y.abs()).sum::<f64>();
    }
    2.0 * sum
}

/// Solves L x = b with the leading `k` × `k` lower triangle of a matrix with `n` columns.
pub fn solve_lower(l: &[f64], n: usize, k: usize, x: &mut [f64]) {
    // Zeros at the beginning stay zeros.
    let first = x[..k].iter().position(|v| *v != 0.0).unwrap_or(k);
    for i in first..k {
        let row = &l[i * n..i * n + i + 1];
        x[i] = (x[i] - dot(&row[first..i], &x[first..i])) / row[i];
    }
}

/// Solves Lᵀ x = b with the leading `k` × `k` lower triangle of a matrix with `n` columns.
#[inline(always)]
pub fn solve_lower_transposed(l: &[f64], n: usize, k: usize, x: &mut [f64]) {
    // The same triangle as that of rows, and along them.
    super::lq::solve_lower_transposed(l, n, k, x);
}

/// Solves A x = b with a pivoted factor; for a rank below `n` the basic solution, which is zero on
/// the coordinates without a pivot. `work` needs `n` entries.
pub fn solve_pivoted(
    l: &[f64],
    n: usize,
    rank: usize,
    order: &[usize],
    x: &mut [f64],
    work: &mut [f64],
) {
    for (w, &i) in work.iter_mut().zip(order) {
        *w = x[i];
    }
    solve_lower(l, n, rank, work);
    solve_lower_transposed(l, n, rank, work);
    for (k, &i) in order.iter().enumerate().take(n) {
        x[i] = if k < rank { work[k] } else { 0.0 };
    }
}

/// The null vector number `which` (of `n − rank`) of a semidefinite matrix from its pivoted
/// factor: Π [−L₁₁⁻ᵀ L₂₁ᵀ; I]. `work` needs `n` entries.
pub fn null_vector(
    l: &[f64],
    n: usize,
    rank: usize,
    order: &[usize],
    which: usize,
    out: &mut [f64],
    work: &mut [f64],
) {
    let row = rank + which;
    for k in 0..rank {
        work[k] = -l[row * n + k];
    }
    solve_lower_transposed(l, n, rank, work);
    out.fill(0.0);
    for k in 0..rank {
        out[order[k]] = work[k];
    }
    out[order[row]] = 1.0;
}

pub(super) fn swap_symmetric(a: &mut [f64], n: usize, p: usize, k: usize) {
    for j in 0..n {
        a.swap(p * n + j, k * n + j);
    }
    for i in 0..n {
        a.swap(i * n + p, i * n + k);
    }
}
