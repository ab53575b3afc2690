//! Symmetric indefinite factorization Π A Πᵀ = L D Lᵀ with 1×1 and 2×2 blocks in D.
//!
//! Bunch & Kaufman 1977, partial pivoting with α = (1 + √17)/8. The numbers of positive, negative
//! and zero eigenvalues of D are those of A (Sylvester), so the inertia comes free of cost.
//! Normwise backward stable; the entries of L are not bounded, hence the refinement step of the
//! callers.

use super::cholesky::swap_symmetric;

/// Numbers of positive, negative and zero eigenvalues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Number of positive eigenvalues.
    pub positive: usize,
    /// Number of negative eigenvalues.
    pub negative: usize,
    /// Number of pivots that are exactly zero or not numbers.
    pub zero: usize,
}

/// Factors the symmetric matrix `a` (both triangles on entry). L is left below the blocks of D,
/// `order` receives the permutation and `wide[k]` says whether a 2×2 block starts at k.
pub fn factor(a: &mut [f64], n: usize, order: &mut [usize], wide: &mut [bool]) -> Inertia {
    let alpha = (1.0 + 17f64.sqrt()) / 8.0;
    for i in 0..n {
        (order[i], wide[i]) = (i, false);
    }
    let mut inertia = Inertia::default();
    let mut k = 0;
    while k < n {
        let (row, column_max) = largest_in_column(a, n, k, k, k);
        let diagonal = a[k * n + k].abs();
        if !(diagonal.max(column_max) > 0.0) {
            inertia.zero += 1;
            k += 1;
            continue;
        }
        let mut step = 1;
        let mut pivot = k;
        if diagonal < alpha * column_max {
            let (_, row_max) = largest_in_column(a, n, k, row, row);
            if diagonal * row_max < alpha * column_max * column_max {
                pivot = row;
                if a[row * n + row].abs() < alpha * row_max {
                    step = 2;
                }
            }
        }
        let target = k + step - 1;
        if pivot != target {
            order.swap(pivot, target);
            swap_symmetric(a, n, pivot, target);
        }
        if step == 1 {
            eliminate_one(a, n, k, &mut inertia)
        } else {
            eliminate_two(a, n, k, &mut inertia)
        }
        wide[k] = step == 2;
        k += step;
    }
    inertia
}

/// Solves A x = b in place with a factored matrix. Zero pivots give infinite or NaN entries.
/// `work` needs `n` entries.
pub fn solve(a: &[f64], n: usize, order: &[usize], wide: &[bool], x: &mut [f64], work: &mut [f64]) {
    for (w, &i) in work.iter_mut().zip(order) {
        *w = x[i];
    }
    let mut k = 0;
    while k < n {
        let step = 1 + usize::from(wide[k]);
        for i in k + step..n {
            for j in k..k + step {
                work[i] -= a[i * n + j] * work[j];
            }
        }
        if step == 1 {
            work[k] /= a[k * n + k];
        } else {
            // The block is scaled by its off-diagonal entry, the largest of it by construction.
            let e = a[(k + 1) * n + k];
            let (p, q) = (a[k * n + k] / e, a[(k + 1) * n + k + 1] / e);
            let (u, v) = (work[k] / e, work[k + 1] / e);
            let determinant = p * q - 1.0;
            work[k] = (q * u - v) / determinant;
            work[k + 1] = (p * v - u) / determinant;
        }
        k += step;
    }
    let mut k = n;
    while k > 0 {
        let step = 1 + usize::from(k >= 2 && wide[k - 2]);
        let start = k - step;
        for j in start..k {
            for i in k..n {
                work[j] -= a[i * n + j] * work[i];
            }
        }
        k = start;
    }
    for (w, &i) in work.iter().zip(order) {
        x[i] = *w;
    }
}

/// Row and size of the largest entry of column `j` among rows from `from`, other than row `skip`.
fn largest_in_column(a: &[f64], n: usize, from: usize, j: usize, skip: usize) -> (usize, f64) {
    let mut best = (from, 0.0);
    for i in (from..n).filter(|&i| i != skip) {
        let size = a[i * n + j].abs();
        if size > best.1 {
            best = (i, size);
        }
    }
    best
}

fn count(value: f64, inertia: &mut Inertia) {
    if value > 0.0 {
        inertia.positive += 1;
    } else if value < 0.0 {
        inertia.negative += 1;
    } else {
        inertia.zero += 1;
    }
}

fn eliminate_one(a: &mut [f64], n: usize, k: usize, inertia: &mut Inertia) {
    let d = a[k * n + k];
    count(d, inertia);
    for i in k + 1..n {
        let l = a[i * n + k] / d;
        for j in k + 1..=i {
            // Row j ≤ i still holds its undivided entry in the upper triangle.
            let value = a[i * n + j] - l * a[k * n + j];
            a[i * n + j] = value;
        }
    }
    for i in k + 1..n {
        a[i * n + k] /= d;
        for j in k + 1..i {
            a[j * n + i] = a[i * n + j];
        }
    }
}

fn eliminate_two(a: &mut [f64], n: usize, k: usize, inertia: &mut Inertia) {
    let e = a[(k + 1) * n + k];
    let (p, q) = (a[k * n + k] / e, a[(k + 1) * n + k + 1] / e);
    let determinant = p * q - 1.0;
    if determinant < 0.0 {
        inertia.positive += 1;
        inertia.negative += 1;
    } else {
        count(p * e, inertia);
        count(q * e, inertia);
    }
    for i in k + 2..n {
        let (u, v) = (a[i * n + k] / e, a[i * n + k + 1] / e);
        let l0 = (q * u - v) / determinant;
        let l1 = (p * v - u) / determinant;
        for j in k + 2..=i {
            a[i * n + j] -= l0 * a[k * n + j] + l1 * a[(k + 1) * n + j];
        }
        a[i * n + k] = l0;
        a[i * n + k + 1] = l1;
    }
    for i in k + 2..n {
        for j in k + 2..i {
            a[j * n + i] = a[i * n + j];
        }
    }
}
