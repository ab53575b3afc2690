//! Householder factorization of rows, A = L Qᵀ: the QR factorization of Aᵀ, laid out so that
//! every loop runs along a row.
//!
//! Q = H_1 H_2 … H_k, H = I − τ v vᵀ (Golub & Van Loan, *Matrix Computations*, §5.2). L is left on
//! and below the diagonal, the vectors v (with v_k = 1 implied) to the right of it. Backward
//! stable for every A.

use super::{dot, norm};

/// Factors the first `steps` rows of the matrix `a` with `cols` columns and applies the
/// reflections to the rows after them too. `tau` needs `steps` entries, at most as many as there
/// are columns.
#[inline(always)]
pub fn factor(a: &mut [f64], cols: usize, steps: usize, tau: &mut [f64]) {
    factor_from(a, cols, 0, steps, tau);
}

/// The same from row `first` on, those before being factored; `tau` begins there.
#[inline(always)]
pub fn factor_from(a: &mut [f64], cols: usize, first: usize, steps: usize, tau: &mut [f64]) {
    for k in first..steps {
        let (head, others) = a.split_at_mut((k + 1) * cols);
        let row = &mut head[k * cols + k..];
        let (alpha, v) = row.split_first_mut().expect("a row is as long as its place");
        let squares = dot(v, v);
        let whole = squares + *alpha * *alpha;
        // The plain sum does, unless it has lost all its digits.
        let length = if (1e-280..1e280).contains(&squares) {
            whole.sqrt()
        } else {
            match whole_length(*alpha, v) {
                Some(length) => length,
                None => {
                    tau[k - first] = 0.0;
                    continue;
                }
            }
        };
        let beta = -length.copysign(*alpha);
        let divisor = *alpha - beta;
        let own = -divisor / beta;
        tau[k - first] = own;
        let factor = divisor.recip();
        for i in 0..v.len() {
            v[i] *= factor;
        }
        *alpha = beta;
        for other in others.chunks_exact_mut(cols) {
            reflect(v, own, &mut other[k..]);
        }
    }
}

/// √(α² + v·v) where the plain sum has no digits; `None` if v is 0.
#[inline(always)]
fn whole_length(alpha: f64, v: &[f64]) -> Option<f64> {
    let tail = norm(v);
    (tail != 0.0).then(|| norm(&[alpha, tail]))
}

/// x ← H x for the part of x that the reflection touches.
#[inline(always)]
fn reflect(v: &[f64], tau: f64, x: &mut [f64]) {
    let (first, rest) = x.split_first_mut().expect("x reaches to the reflection");
    let s = tau * (*first + dot(v, rest));
    *first -= s;
    rest.iter_mut().zip(v).for_each(|(x, v)| *x -= s * v);
}

/// x ← Q x with the first `steps` reflections of a factored matrix.
#[inline(always)]
pub fn apply_q(a: &[f64], cols: usize, steps: usize, tau: &[f64], x: &mut [f64]) {
    for k in (0..steps).rev() {
        reflect(&a[k * cols + k + 1..(k + 1) * cols], tau[k], &mut x[k..cols]);
    }
}

/// x ← Qᵀ x with the first `steps` reflections of a factored matrix.
#[inline(always)]
pub fn apply_q_transposed(a: &[f64], cols: usize, steps: usize, tau: &[f64], x: &mut [f64]) {
    for k in 0..steps {
        reflect(&a[k * cols + k + 1..(k + 1) * cols], tau[k], &mut x[k..cols]);
    }
}

/// Solves L x = b for the leading `k` × `k` lower triangle of a matrix with `cols` columns.
#[inline(always)]
pub fn solve_lower(l: &[f64], cols: usize, k: usize, x: &mut [f64]) {
    for i in 0..k {
        let row = &l[i * cols..i * cols + i + 1];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

/// Solves Lᵀ x = b for the leading `k` × `k` lower triangle of a matrix with `cols` columns.
#[inline(always)]
pub fn solve_lower_transposed(l: &[f64], cols: usize, k: usize, x: &mut [f64]) {
    for i in (0..k).rev() {
        let row = &l[i * cols..i * cols + i + 1];
        let (before, at) = x.split_at_mut(i);
        at[0] /= row[i];
        let own = at[0];
        before.iter_mut().zip(row).for_each(|(x, l)| *x -= l * own);
    }
}
