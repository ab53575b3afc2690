//! Singular values by one-sided Jacobi rotations.
//!
//! A = U diag(σ) Vᵀ (Hestenes 1958; Demmel & Veselić 1992 for its accuracy: small singular values
//! of a matrix with scaled columns come out with relative accuracy). Plane rotations from the
//! right make the columns orthogonal; their norms are σ. Slow for large matrices, simple and
//! certain for small ones. The matrix is first divided by a power of two near its largest entry,
//! so nothing overflows and nothing of note underflows.

use super::{largest, power_of_two, zeros};

/// Thin singular value decomposition with its own reusable storage.
#[derive(Clone, Debug, Default)]
pub struct Svd {
    /// Number of rows of the matrix.
    pub rows: usize,
    /// Number of columns of the matrix.
    pub cols: usize,
    /// Singular values, falling; `min(rows, cols)` of them.
    pub sigma: Vec<f64>,
    /// Left singular vectors, one per row: `u[k * rows..]` belongs to `sigma[k]`.
    pub u: Vec<f64>,
    /// Right singular vectors, one per row: `v[k * cols..]` belongs to `sigma[k]`.
    pub v: Vec<f64>,
    order: Vec<usize>,
    columns: Vec<f64>,
    rotations: Vec<f64>,
}

impl Svd {
    /// Decomposes a row-major matrix. Vectors of zero singular values are completed to an
    /// orthonormal set.
    pub fn decompose(&mut self, a: &[f64], rows: usize, cols: usize) {
        (self.rows, self.cols) = (rows, cols);
        // Work on the tall one of A and Aᵀ; a column of it is a contiguous row of `columns`.
        let tall = rows >= cols;
        let (long, short) = if tall { (rows, cols) } else { (cols, rows) };
        let big = largest(a);
        let scale = if big > 0.0 && big.is_finite() { power_of_two(-big.log2()) } else { 1.0 };
        zeros(&mut self.columns, long * short);
        for i in 0..rows {
            for j in 0..cols {
                let (at, of) = if tall { (j, i) } else { (i, j) };
                self.columns[at * long + of] = a[i * cols + j] * scale;
            }
        }
        zeros(&mut self.rotations, short * short);
        for k in 0..short {
            self.rotations[k * short + k] = 1.0;
        }
        rotate_to_orthogonality(&mut self.columns, &mut self.rotations, long, short);

        zeros(&mut self.sigma, short);
        for k in 0..short {
            self.sigma[k] = super::norm(&self.columns[k * long..(k + 1) * long]);
        }
        self.order.clear();
        self.order.extend(0..short);
        let sigma = &self.sigma;
        self.order.sort_unstable_by(|&i, &j| sigma[j].total_cmp(&sigma[i]).then(i.cmp(&j)));
        let (outer, inner) =
            if tall { (&mut self.u, &mut self.v) } else { (&mut self.v, &mut self.u) };
        zeros(outer, long * short);
        zeros(inner, short * short);
        for (k, &from) in self.order.iter().enumerate() {
            let norm = self.sigma[from];
            if norm > 0.0 {
                for i in 0..long {
                    outer[k * long + i] = self.columns[from * long + i] / norm;
                }
            } else {
                complete(outer, long, k);
            }
            inner[k * short..(k + 1) * short]
                .copy_from_slice(&self.rotations[from * short..(from + 1) * short]);
        }
        self.sigma.sort_unstable_by(|a, b| b.total_cmp(a));
        self.sigma.iter_mut().for_each(|s| *s /= scale);
    }

    /// Number of singular values above `tolerance` times the largest.
    pub fn rank(&self, tolerance: f64) -> usize {
        let limit = tolerance * self.sigma.first().copied().unwrap_or(0.0);
        self.sigma.iter().take_while(|&&s| s > limit && s > 0.0).count()
    }

    /// x = A⁺ b with the first `rank` singular values kept: the least-squares solution of least
    /// norm.
    pub fn apply_pseudo_inverse(&self, rank: usize, b: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        for k in 0..rank.min(self.sigma.len()) {
            let u = &self.u[k * self.rows..(k + 1) * self.rows];
            let weight = super::dot(u, b) / self.sigma[k];
            for (x, v) in x.iter_mut().zip(&self.v[k * self.cols..(k + 1) * self.cols]) {
                *x += weight * v;
            }
        }
    }

    /// x ← (I − A⁺A) x, the projection on the kernel, with the first `rank` singular values kept.
    /// Done twice, so that what is left of a large component along the range is rounding of the
    /// result and not of x.
    pub fn project_on_kernel(&self, rank: usize, x: &mut [f64]) {
        for _ in 0..2 {
            for k in 0..rank.min(self.sigma.len()) {
                let v = &self.v[k * self.cols..(k + 1) * self.cols];
                let weight = super::dot(v, x);
                x.iter_mut().zip(v).for_each(|(x, v)| *x -= weight * v);
            }
        }
    }
}

fn rotate_to_orthogonality(columns: &mut [f64], rotations: &mut [f64], long: usize, short: usize) {
    let tolerance = f64::EPSILON * (long as f64).sqrt();
    // Convergence is quadratic; six to ten sweeps are usual. The cap only guards NaN input.
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..short {
            for q in p + 1..short {
                let (head, tail) = columns.split_at_mut(q * long);
                let (x, y) = (&mut head[p * long..(p + 1) * long], &mut tail[..long]);
                let (xx, yy) = (super::dot(x, x), super::dot(y, y));
                let xy = super::dot(x, y);
                if !(xy.abs() > tolerance * (xx * yy).sqrt() && xy.abs() > 1e-290) {
                    continue;
                }
                rotated = true;
                let zeta = (yy - xx) / (2.0 * xy);
                let t = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                rotate(x, y, c, c * t);
                let (head, tail) = rotations.split_at_mut(q * short);
                rotate(&mut head[p * short..(p + 1) * short], &mut tail[..short], c, c * t);
            }
        }
        if !rotated {
            break;
        }
    }
}

fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// Writes into vector `k` a unit vector orthogonal to the `k` before it.
fn complete(vectors: &mut [f64], len: usize, k: usize) {
    let mut best = (0, -1.0);
    for i in 0..len {
        // The unit vector least represented so far leaves the largest remainder.
        let left = 1.0 - (0..k).map(|j| vectors[j * len + i].powi(2)).sum::<f64>();
        if left > best.1 {
            best = (i, left);
        }
    }
    let (before, rest) = vectors.split_at_mut(k * len);
    let vector = &mut rest[..len];
    vector.fill(0.0);
    if let Some(slot) = vector.get_mut(best.0) {
        *slot = 1.0;
    }
    for _ in 0..2 {
        for j in 0..k {
            let other = &before[j * len..(j + 1) * len];
            let weight = super::dot(other, vector);
            vector.iter_mut().zip(other).for_each(|(v, o)| *v -= weight * o);
        }
    }
    let norm = super::norm(vector);
    vector.iter_mut().for_each(|v| *v /= norm);
}
