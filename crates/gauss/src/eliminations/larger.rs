//! K = L D Lᵀ where it is larger than a few rows: four columns at a time.
//!
//! ```text
//! rows of the four      L of each after the other, by what is left of it
//! rows below            (L D)_jc = K_jc − Σ_k (L D)_jk L_ck    for four c, and two rows j at once
//! ```
//!
//! What is loaded of a row serves four columns, and their four sums are added up together. A right
//! side is one more row below: what is left of it is L⁻¹g, so that where it is known ahead the
//! factorization solves the first of the two triangles by itself, with the same operations.
//!
//! D is on the diagonal; its inverses, but for the last, are in the first row, where nothing else is.

use crate::linalg::dot;
use crate::tolerances::solving::FALLS;

/// Columns at a time.
const PANEL: usize = 4;

/// Factors, and eliminates from a right side. `before` has D_kk/K_kk at the decision. False if a
/// pivot has fallen.
#[inline(always)]
pub(super) fn factor(count: usize, k: &mut [f64], before: &[f64], right: &mut [f64]) -> bool {
    let mut holds = true;
    let mut first = 0;
    while first < count {
        let width = PANEL.min(count - first);
        for i in first..first + width {
            let (above, rest) = k.split_at_mut(i * count);
            let row = &mut rest[..count];
            for c in first..i {
                row[c] -= dot(&row[..c], &above[c * count..c * count + c]);
            }
            let whole = row[i];
            let inverses = if i > 0 { &above[1..i + 1] } else { &[] };
            let pivot = whole - unscale(&mut row[..i], inverses);
            row[i] = pivot;
            holds &= pivot >= FALLS * FALLS * before[i] * whole && pivot > 0.0;
            if i + 1 < count {
                k[1 + i] = 1.0 / pivot;
            }
        }
        let (above, below) = k.split_at_mut((first + width) * count);
        let panel = &above[first * count..];
        if width == PANEL {
            let mut pairs = below.chunks_exact_mut(2 * count);
            for pair in &mut pairs {
                let (one, other) = pair.split_at_mut(count);
                eliminate_two(count, first, panel, one, other);
            }
            for row in pairs.into_remainder().chunks_exact_mut(count) {
                eliminate(count, first, panel, row);
            }
        }
        if !right.is_empty() {
            eliminate_from(count, first, width, panel, right);
        }
        first += width;
    }
    holds
}

/// A row of L D made one of L; what it takes from the pivot.
#[inline(always)]
fn unscale(row: &mut [f64], inverses: &[f64]) -> f64 {
    let (mut sums, mut rest) = ([0.0; 4], 0.0);
    let (fours, last) = row.as_chunks_mut::<4>();
    let (by_fours, by_last) = inverses.as_chunks::<4>();
    for (own, by) in fours.iter_mut().zip(by_fours) {
        for k in 0..4 {
            let scaled = own[k];
            own[k] = scaled * by[k];
            sums[k] += scaled * own[k];
        }
    }
    for (own, by) in last.iter_mut().zip(by_last) {
        let scaled = *own;
        *own = scaled * by;
        rest += scaled * *own;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// The four rows of a panel, as far as they are before it.
#[inline(always)]
fn rows_before(count: usize, first: usize, panel: &[f64]) -> [&[[f64; 4]]; PANEL] {
    [0, 1, 2, 3].map(|c| panel[c * count..c * count + first].as_chunks::<4>().0)
}

/// Sums of four vectors, each across itself.
#[inline(always)]
fn across(sums: [[f64; 4]; PANEL]) -> [f64; PANEL] {
    let at = |k: usize| [sums[0][k], sums[1][k], sums[2][k], sums[3][k]];
    let (a, b, c, d) = (at(0), at(1), at(2), at(3));
    let mut found = [0.0; PANEL];
    (0..PANEL).for_each(|k| found[k] = (a[k] + c[k]) + (b[k] + d[k]));
    found
}

/// The four entries of a row below a panel: those of L D. The panel begins at a multiple of four.
#[inline(always)]
fn eliminate(count: usize, first: usize, panel: &[f64], row: &mut [f64]) {
    let [p, q, r, s] = rows_before(count, first, panel);
    let own = row[..first].as_chunks::<4>().0;
    let mut sums = [[0.0; 4]; PANEL];
    for ((((x, p), q), r), s) in own.iter().zip(p).zip(q).zip(r).zip(s) {
        for k in 0..4 {
            sums[0][k] += p[k] * x[k];
            sums[1][k] += q[k] * x[k];
            sums[2][k] += r[k] * x[k];
            sums[3][k] += s[k] * x[k];
        }
    }
    within(count, first, panel, row, across(sums));
}

/// [`eliminate`] for two rows.
#[inline(always)]
fn eliminate_two(count: usize, first: usize, panel: &[f64], row: &mut [f64], other: &mut [f64]) {
    let [p, q, r, s] = rows_before(count, first, panel);
    let (one, two) = (row[..first].as_chunks::<4>().0, other[..first].as_chunks::<4>().0);
    let (mut sums, mut more) = ([[0.0; 4]; PANEL], [[0.0; 4]; PANEL]);
    for (((((x, y), p), q), r), s) in one.iter().zip(two).zip(p).zip(q).zip(r).zip(s) {
        for k in 0..4 {
            sums[0][k] += p[k] * x[k];
            more[0][k] += p[k] * y[k];
            sums[1][k] += q[k] * x[k];
            more[1][k] += q[k] * y[k];
            sums[2][k] += r[k] * x[k];
            more[2][k] += r[k] * y[k];
            sums[3][k] += s[k] * x[k];
            more[3][k] += s[k] * y[k];
        }
    }
    within(count, first, panel, row, across(sums));
    within(count, first, panel, other, across(more));
}

/// Takes what is before the panel from a row, then what is in it.
#[inline(always)]
fn within(count: usize, first: usize, panel: &[f64], row: &mut [f64], sums: [f64; PANEL]) {
    let own = &mut row[first..first + PANEL];
    let l = |i: usize, j: usize| panel[i * count + first + j];
    let a = own[0] - sums[0];
    let b = own[1] - sums[1] - l(1, 0) * a;
    let c = own[2] - sums[2] - l(2, 0) * a - l(2, 1) * b;
    let d = own[3] - sums[3] - l(3, 0) * a - l(3, 1) * b - l(3, 2) * c;
    (own[0], own[1], own[2], own[3]) = (a, b, c, d);
}

/// The same for a right side, which has columns in the last panel, too.
#[inline(always)]
fn eliminate_from(count: usize, first: usize, width: usize, panel: &[f64], right: &mut [f64]) {
    if width == PANEL {
        return eliminate(count, first, panel, right);
    }
    for i in 0..width {
        let (before, at) = right.split_at_mut(first + i);
        at[0] -= dot(&panel[i * count..i * count + first + i], before);
    }
}

/// Solves K z = g in place.
#[inline(always)]
pub(super) fn solve(count: usize, k: &[f64], z: &mut [f64]) {
    let mut first = 0;
    while first < count {
        let width = PANEL.min(count - first);
        eliminate_from(count, first, width, &k[first * count..], z);
        first += width;
    }
    solve_upper(count, k, z);
}

/// Solves D Lᵀ z = y in place.
#[inline(always)]
pub(super) fn solve_upper(count: usize, k: &[f64], z: &mut [f64]) {
    if let Some((last, others)) = z[..count].split_last_mut() {
        *last /= k[count * count - 1];
        others.iter_mut().zip(&k[1..count]).for_each(|(z, by)| *z *= by);
    }
    let mut end = count;
    while end >= PANEL {
        let first = end - PANEL;
        let l = |i: usize, j: usize| k[(first + i) * count + first + j];
        let (before, at) = z[..end].split_at_mut(first);
        let d = at[3];
        let c = at[2] - l(3, 2) * d;
        let b = at[1] - l(3, 1) * d - l(2, 1) * c;
        let a = at[0] - l(3, 0) * d - l(2, 0) * c - l(1, 0) * b;
        (at[0], at[1], at[2], at[3]) = (a, b, c, d);
        let row = |i: usize| &k[(first + i) * count..(first + i) * count + first];
        let rows = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3));
        for (z, (((p, q), r), s)) in before.iter_mut().zip(rows) {
            *z -= (p * a + q * b) + (r * c + s * d);
        }
        end = first;
    }
    for i in (0..end).rev() {
        let (before, at) = z.split_at_mut(i);
        let by = at[0];
        before.iter_mut().zip(&k[i * count..]).for_each(|(z, l)| *z -= l * by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K z is g, and a right side that is eliminated from on the way is solved for to the same
    /// bits, for all sizes of the last panel.
    #[test]
    fn factors_solve() {
        let mut seed = 11u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        for n in 1..40 {
            let l: Vec<f64> = (0..n * n).map(|_| next()).collect();
            let mut matrix = vec![0.0; n * n];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let own = if i == j { 1.0 } else { 0.0 };
                matrix[i * n + j] = own + dot(&l[i * n..][..n], &l[j * n..][..n]);
            }
            let right: Vec<f64> = (0..n).map(|_| next()).collect();
            let (mut k, mut z) = (matrix.clone(), right.clone());
            assert!(factor(n, &mut k, &vec![0.0; n], &mut []));
            solve(n, &k, &mut z);
            for (row, g) in matrix.chunks_exact(n).zip(&right) {
                assert!((dot(row, &z) - g).abs() < 1e-12 * n as f64, "{n}");
            }
            let (mut again, mut x) = (matrix.clone(), right.clone());
            assert!(factor(n, &mut again, &vec![0.0; n], &mut x));
            solve_upper(n, &again, &mut x);
            assert_eq!((again, x), (k, z));
            // A pivot that is not positive is none, nor one that is far below what it was.
            matrix[n * n - 1] -= 1e6;
            assert!(!factor(n, &mut matrix, &vec![0.0; n], &mut []));
        }
    }
}
