//! Gaussian elimination: a plain solve, and the pivots of a rank-revealing elimination.
//!
//! Π A = L U with partial pivoting (Golub & Van Loan §3.4) solves square regular systems. The
//! complete pivoting of [`pivots`] chooses which rows of a matrix are independent and which
//! columns they can be solved for; it is a choice of chart, not a certificate of rank.

use super::power_of_two;

/// Factors Π A = L U in place; `order` receives the row permutation. Returns false if a pivot is
/// zero or not a number, in which case the factors must not be used.
pub fn factor(a: &mut [f64], n: usize, order: &mut [usize]) -> bool {
    for (i, slot) in order.iter_mut().enumerate().take(n) {
        *slot = i;
    }
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        if best != k {
            order.swap(best, k);
            for j in 0..n {
                a.swap(best * n + j, k * n + j);
            }
        }
        let pivot = a[k * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        for i in k + 1..n {
            let l = a[i * n + k] / pivot;
            a[i * n + k] = l;
            for j in k + 1..n {
                a[i * n + j] -= l * a[k * n + j];
            }
        }
    }
    true
}

/// Solves A x = b in place with a factored matrix; `work` needs `n` entries.
pub fn solve(a: &[f64], n: usize, order: &[usize], x: &mut [f64], work: &mut [f64]) {
    for (i, &from) in order.iter().enumerate().take(n) {
        let mut sum = x[from];
        for j in 0..i {
            sum -= a[i * n + j] * work[j];
        }
        work[i] = sum;
    }
    for i in (0..n).rev() {
        let mut sum = work[i];
        for j in i + 1..n {
            sum -= a[i * n + j] * x[j];
        }
        x[i] = sum / a[i * n + i];
    }
}

/// Pivot rows and pivot columns, in pivot order, of an elimination with complete pivoting after
/// rows and columns have been brought to equal size. It stops at pivots below `tolerance` times
/// the first, so both lists are as long as the rank at that tolerance.
pub fn pivots(
    matrix: &[f64],
    rows: usize,
    cols: usize,
    tolerance: f64,
) -> (Vec<usize>, Vec<usize>) {
    let mut a = matrix.to_vec();
    equilibrate(&mut a, rows, cols);
    pivots_as_scaled(a, rows, cols, tolerance)
}

/// The same for a matrix whose rows and columns have comparable sizes already.
pub fn pivots_as_scaled(
    mut a: Vec<f64>,
    rows: usize,
    cols: usize,
    tolerance: f64,
) -> (Vec<usize>, Vec<usize>) {
    let mut row_order: Vec<usize> = (0..rows).collect();
    let mut col_order: Vec<usize> = (0..cols).collect();
    let mut first = 0.0;
    let mut rank = 0;
    while rank < rows.min(cols) {
        let (mut best, mut at) = (0.0, (rank, rank));
        for i in rank..rows {
            for j in rank..cols {
                // The margin keeps the given order among entries that tie up to rounding.
                if a[i * cols + j].abs() > best * (1.0 + 1e-6) {
                    best = a[i * cols + j].abs();
                    at = (i, j);
                }
            }
        }
        if rank == 0 {
            first = best;
        }
        if !(best > tolerance * first && best.is_finite()) {
            break;
        }
        row_order.swap(rank, at.0);
        col_order.swap(rank, at.1);
        for j in 0..cols {
            a.swap(rank * cols + j, at.0 * cols + j);
        }
        for i in 0..rows {
            a.swap(i * cols + rank, i * cols + at.1);
        }
        let pivot = a[rank * cols + rank];
        for i in rank + 1..rows {
            let l = a[i * cols + rank] / pivot;
            for j in rank..cols {
                a[i * cols + j] -= l * a[rank * cols + j];
            }
        }
        rank += 1;
    }
    row_order.truncate(rank);
    col_order.truncate(rank);
    (row_order, col_order)
}

/// Ruiz 2001: divide rows and columns by the square roots of their largest entries, a few times,
/// by powers of two so that no digit changes.
fn equilibrate(a: &mut [f64], rows: usize, cols: usize) {
    for _ in 0..6 {
        for i in 0..rows {
            let row = &mut a[i * cols..(i + 1) * cols];
            let big = super::largest(row);
            if big > 0.0 && big.is_finite() {
                let factor = power_of_two(-big.log2() / 2.0);
                row.iter_mut().for_each(|v| *v *= factor);
            }
        }
        for j in 0..cols {
            let big = (0..rows).fold(0.0, |m: f64, i| m.max(a[i * cols + j].abs()));
            if big > 0.0 && big.is_finite() {
                let factor = power_of_two(-big.log2() / 2.0);
                (0..rows).for_each(|i| a[i * cols + j] *= factor);
            }
        }
    }
}
