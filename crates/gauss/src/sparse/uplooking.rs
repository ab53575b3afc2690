//! L D Lᵀ row by row, each entry from those before it (the up-looking method: Davis 2005), and
//! solutions with it. What the pivots say is for those to judge who ask for them.

use crate::pattern::Pattern;

/// The row k of L: `work` has the entries of the matrix in it below the diagonal, by column, and 0
/// elsewhere, as afterwards everywhere. The pivot is what is left of the `whole` diagonal.
#[inline(always)]
pub(super) fn row(
    pattern: &Pattern,
    k: usize,
    whole: f64,
    (lower, inverse, work): (&mut [f64], &[f64], &mut [f64]),
) -> f64 {
    let mut pivot = whole;
    let (row, first) = (pattern.row(k), pattern.range(k).start);
    for (at, &i) in row.iter().enumerate() {
        let mut y = work[i];
        let before = pattern.range(i);
        for (j, l) in pattern.row(i).iter().zip(&lower[before]) {
            y = (-l).mul_add(work[*j], y);
        }
        work[i] = y;
        let l = y * inverse[i];
        pivot = (-l).mul_add(y, pivot);
        lower[first + at] = l;
    }
    row.iter().for_each(|&i| work[i] = 0.0);
    pivot
}

/// The solution for the right side that is in `work`, into places of `x` by the order of elimination.
#[inline(always)]
pub(super) fn solve(
    (pattern, order): (&Pattern, &[usize]),
    (lower, inverse, work): (&[f64], &[f64], &mut [f64]),
    x: &mut [f64],
) {
    for k in 0..order.len() {
        let mut value = work[k];
        for (&i, l) in pattern.row(k).iter().zip(&lower[pattern.range(k)]) {
            value = (-l).mul_add(work[i], value);
        }
        work[k] = value;
    }
    work.iter_mut().zip(inverse).for_each(|(x, d)| *x *= d);
    for (k, &place) in order.iter().enumerate().rev() {
        let value = work[k];
        for (&i, l) in pattern.row(k).iter().zip(&lower[pattern.range(k)]) {
            work[i] = (-l).mul_add(value, work[i]);
        }
        x[place] = value;
    }
}
