//! K = UᵀDU where it is larger than a few rows: four rows at a time, by columns side by side.
//!
//! ```text
//! W = D U      W_ij = K_ij − Σ_{k<i} U_ki W_kj ,   U_ki = W_ki / W_kk
//! y = U⁻ᵀg     one more column of W, behind the others, for the right side g
//! ```
//!
//! An entry takes its products one after the other, k by k, as in a book; entries side by side
//! take theirs at once. So the blocks below, the loops for few rows, and code that has each of
//! these operations as an instruction give the same bits. Products are fused into the sums.
//!
//! Rows are padded to whole panels and columns to whole blocks; what is computed in the padding
//! goes nowhere. Beside the rows there are K_kk, 1/W_kk, and the −U_ki of the panel at hand.

use super::STRAIGHT;
use crate::tolerances::solving::FALLS;

/// Rows at a time; also the least number of columns.
const PANEL: usize = 4;
/// Columns at a time.
const BLOCK: usize = 8;

/// The length of a row: with a right side, in whole panels.
pub(super) fn stride(count: usize) -> usize {
    (count + 1).next_multiple_of(PANEL)
}

/// Where the rows begin.
fn first_row(count: usize) -> usize {
    count.next_multiple_of(PANEL) * (2 + PANEL)
}

/// How much room there is to be for so many rows.
pub(super) fn length(count: usize) -> usize {
    first_row(count) + count.next_multiple_of(PANEL) * stride(count)
}

/// The rows of K, of which the upper triangle is to be filled.
#[inline(always)]
pub(super) fn rows(count: usize, k: &mut [f64]) -> impl Iterator<Item = &mut [f64]> {
    k[first_row(count)..].chunks_exact_mut(stride(count)).take(count)
}

/// Takes the upper triangle of a symmetric matrix, and no right side.
#[inline(always)]
pub(super) fn take(count: usize, matrix: &[f64], k: &mut [f64]) {
    for (i, (row, from)) in rows(count, k).zip(matrix.chunks_exact(count)).enumerate() {
        // From where the panel begins: whole blocks are copied faster than parts of them.
        let start = i - i % PANEL;
        row[start..count].iter_mut().zip(&from[start..]).for_each(|(own, from)| *own = *from);
        row[count] = 0.0;
    }
}

/// Factors, and eliminates from the right side. `before` has D_kk/K_kk at the decision. False if
/// a pivot has fallen.
#[inline(always)]
pub(super) fn factor(count: usize, k: &mut [f64], before: &[f64]) -> bool {
    let (stride, padded) = (stride(count), count.next_multiple_of(PANEL));
    let (wholes, rest) = k.split_at_mut(padded);
    let (inverses, rest) = rest.split_at_mut(padded);
    let (by, rows) = rest.split_at_mut(PANEL * padded);
    let by = by.as_chunks_mut::<PANEL>().0;
    let mut holds = true;
    for first in (0..count).step_by(PANEL) {
        let (above, here) = rows.split_at_mut(first * stride);
        let here = &mut here[..PANEL * stride];
        let by = &mut by[..first];
        for ((by, row), inverse) in by.iter_mut().zip(above.chunks_exact(stride)).zip(&*inverses) {
            if let Some([a, b, c, d]) = row[first..].first_chunk::<PANEL>() {
                let inverse = -inverse;
                *by = [a * inverse, b * inverse, c * inverse, d * inverse];
            }
        }
        (0..PANEL).for_each(|i| wholes[first + i] = here[i * stride + first + i]);
        // With the first block the panel's own triangle, which the others wait for.
        let is_wide = first + BLOCK <= stride;
        match is_wide {
            true => eliminate::<BLOCK>(stride, first, above, by, here),
            false => eliminate::<PANEL>(stride, first, above, by, here),
        }
        let mut own = block::<PANEL>(stride, first, here);
        let (mut found, mut u) = ([0.0; PANEL], [[0.0; PANEL]; PANEL]);
        for i in 0..PANEL {
            found[i] = 1.0 / own[i][i];
            for r in i + 1..PANEL {
                u[i][r] = own[i][r] * -found[i];
                (r..PANEL).for_each(|c| own[r][c] = u[i][r].mul_add(own[i][c], own[r][c]));
            }
        }
        for i in 0..PANEL.min(count - first) {
            let pivot = own[i][i];
            let least = FALLS * FALLS * before[first + i] * wholes[first + i];
            holds &= pivot >= least && pivot > 0.0;
        }
        inverses[first..first + PANEL].copy_from_slice(&found);
        put(stride, first, &own, here);
        let mut at = first + PANEL;
        if is_wide {
            within::<PANEL>(stride, at, &u, here);
            at += PANEL;
        }
        while at + BLOCK <= stride {
            eliminate::<BLOCK>(stride, at, above, by, here);
            within::<BLOCK>(stride, at, &u, here);
            at += BLOCK;
        }
        if at < stride {
            eliminate::<PANEL>(stride, at, above, by, here);
            within::<PANEL>(stride, at, &u, here);
        }
    }
    holds
}

/// Columns of a panel.
#[inline(always)]
fn block<const N: usize>(stride: usize, at: usize, here: &[f64]) -> [[f64; N]; PANEL] {
    let mut found = [[0.0; N]; PANEL];
    (0..PANEL).for_each(|i| found[i].copy_from_slice(&here[i * stride + at..][..N]));
    found
}

/// Puts them back.
#[inline(always)]
fn put<const N: usize>(stride: usize, at: usize, w: &[[f64; N]; PANEL], here: &mut [f64]) {
    (0..PANEL).for_each(|i| here[i * stride + at..][..N].copy_from_slice(&w[i]));
}

/// Takes the rows above the panel from columns of it.
#[inline(always)]
fn eliminate<const N: usize>(
    stride: usize,
    at: usize,
    above: &[f64],
    by: &[[f64; PANEL]],
    here: &mut [f64],
) {
    let mut left = block::<N>(stride, at, here);
    for (row, by) in above.chunks_exact(stride).zip(by) {
        let Some(row) = row[at..at + N].first_chunk::<N>() else { continue };
        for i in 0..PANEL {
            for j in 0..N {
                left[i][j] = by[i].mul_add(row[j], left[i][j]);
            }
        }
    }
    put(stride, at, &left, here);
}

/// Takes the rows of the panel from each other, by its own −U.
#[inline(always)]
fn within<const N: usize>(stride: usize, at: usize, u: &[[f64; PANEL]; PANEL], here: &mut [f64]) {
    let mut w = block::<N>(stride, at, here);
    for i in 0..PANEL {
        for r in i + 1..PANEL {
            for j in 0..N {
                w[r][j] = u[i][r].mul_add(w[i][j], w[r][j]);
            }
        }
    }
    put(stride, at, &w, here);
}

/// W_kk and K_kk.
pub(super) fn pivot(count: usize, k: &[f64], at: usize) -> (f64, f64) {
    (k[first_row(count) + at * stride(count) + at], k[at])
}

/// The y of the right side.
#[inline(always)]
pub(super) fn take_right(count: usize, k: &[f64], z: &mut [f64]) {
    let rows = k[first_row(count)..].chunks_exact(stride(count));
    z.iter_mut().zip(rows).for_each(|(z, row)| *z = row[count]);
}

/// Solves K z = g in place.
#[inline(always)]
pub(super) fn solve(count: usize, k: &[f64], z: &mut [f64]) {
    let inverses = &k[count.next_multiple_of(PANEL)..];
    let rows = k[first_row(count)..].chunks_exact(stride(count));
    for (i, (row, inverse)) in rows.zip(inverses).take(count).enumerate() {
        let (before, after) = z.split_at_mut(i + 1);
        let (own, inverse) = (before[i], -inverse);
        let pairs = after.iter_mut().zip(&row[i + 1..count]);
        pairs.for_each(|(z, w)| *z = (w * inverse).mul_add(own, *z));
    }
    solve_upper(count, k, z);
}

/// Solves D U z = y in place.
#[inline(always)]
pub(super) fn solve_upper(count: usize, k: &[f64], z: &mut [f64]) {
    let (stride, padded) = (stride(count), count.next_multiple_of(PANEL));
    let (inverses, rows) = (&k[padded..2 * padded], &k[first_row(count)..]);
    let z = &mut z[..count];
    if count <= STRAIGHT {
        for i in (0..count).rev() {
            let (own, known) = z.split_at_mut(i + 1);
            let (row, inverse) = (&rows[i * stride + i + 1..i * stride + count], -inverses[i]);
            let start = own[i] * inverses[i];
            let pairs = row.iter().zip(known).rev();
            own[i] = pairs.fold(start, |x, (w, z)| (w * inverse).mul_add(*z, x));
        }
        return;
    }
    for first in (0..padded).step_by(PANEL).rev() {
        let here = &rows[first * stride..(first + PANEL) * stride];
        let end = (first + PANEL).min(count);
        let (own, known) = z.split_at_mut(end);
        let own = &mut own[first..];
        let (mut sums, mut rest) = ([[0.0; PANEL]; PANEL], [0.0; PANEL]);
        let (fours, last) = known.as_chunks::<PANEL>();
        for i in 0..own.len() {
            let (by, by_last) = here[i * stride + end..i * stride + count].as_chunks::<PANEL>();
            by_last.iter().zip(last).for_each(|(w, x)| rest[i] += w * x);
            // What was found last comes last, so that the rest need not wait for it.
            for (w, x) in by.iter().zip(fours).rev() {
                (0..PANEL).for_each(|c| sums[i][c] = w[c].mul_add(x[c], sums[i][c]));
            }
        }
        for i in (0..own.len()).rev() {
            let sum = (sums[i][0] + sums[i][2]) + (sums[i][1] + sums[i][3]) + rest[i];
            let inverse = inverses[first + i];
            let mut x = (own[i] - sum) * inverse;
            for j in i + 1..own.len() {
                x = (here[i * stride + first + j] * -inverse).mul_add(own[j], x);
            }
            own[i] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;

    /// As in a book.
    fn plain(n: usize, matrix: &[f64], right: &[f64]) -> Vec<f64> {
        let (mut w, mut x) = (matrix.to_vec(), right.to_vec());
        for i in 0..n {
            for k in 0..i {
                let by = w[k * n + i] * -(1.0 / w[k * n + k]);
                (i..n).for_each(|j| w[i * n + j] = by.mul_add(w[k * n + j], w[i * n + j]));
                x[i] = by.mul_add(x[k], x[i]);
            }
        }
        for i in (0..n).rev() {
            let inverse = 1.0 / w[i * n + i];
            x[i] *= inverse;
            for j in (i + 1..n).rev() {
                x[i] = (w[i * n + j] * -inverse).mul_add(x[j], x[i]);
            }
        }
        x
    }

    /// K z is g, and a right side that is eliminated from on the way is solved for to the same
    /// bits, for all sizes of the last panel; where that is said, to those of the plain loops.
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
            let (mut k, mut z) = (vec![f64::NAN; length(n)], right.clone());
            take(n, &matrix, &mut k);
            assert!(factor(n, &mut k, &vec![0.0; n]));
            solve(n, &k, &mut z);
            for (row, g) in matrix.chunks_exact(n).zip(&right) {
                assert!((dot(row, &z) - g).abs() < 1e-12 * n as f64, "{n}");
            }
            let (mut again, mut x) = (vec![0.0; length(n)], vec![0.0; n]);
            take(n, &matrix, &mut again);
            rows(n, &mut again).zip(&right).for_each(|(row, g)| row[n] = *g);
            assert!(factor(n, &mut again, &vec![0.0; n]));
            take_right(n, &again, &mut x);
            solve_upper(n, &again, &mut x);
            assert_eq!(x, z);
            if n <= STRAIGHT {
                assert_eq!(x, plain(n, &matrix, &right));
            }
            for i in 0..n {
                assert_eq!(pivot(n, &k, i), pivot(n, &again, i));
                assert_eq!(pivot(n, &k, i).1, matrix[i * n + i]);
            }
            // A pivot that is not positive is none, nor one that is far below what it was.
            matrix[n * n - 1] -= 1e6;
            take(n, &matrix, &mut k);
            assert!(!factor(n, &mut k, &vec![0.0; n]));
        }
    }
}
