//! Udwadia and Kalaba's fundamental equation exactly as printed, with symmetric roots.
//!
//! ```text
//! v̇ = a + M^(−1/2) B⁺ (b − A a) + M^(−1/2) (I − B⁺B) M^(−1/2) C ,
//! a = M⁻¹Q ,   B = A M^(−1/2)
//! ```
//!
//! Udwadia & Phohomsiri 2006 (4.24), in the user's own units, B⁺ from singular values cut off at
//! 1e-12 of the largest. Kept for comparison: forming M^(−1/2) loses digits (error 1e-7 at
//! cond M = 1e10 where the Cholesky factor gives 3e-11). `condition` states the larger of cond M
//! and cond B. It needs M ≻ 0. Use `udwadia-kalaba` instead.

use super::{Elimination, Scratch, Source};
use crate::linalg::{dot, multiply, zeros};
use crate::terms::Terms;
use crate::tolerances::solving::CUTOFF;

pub(super) static ELIMINATION: UdwadiaKalabaLiteral = UdwadiaKalabaLiteral;

pub(super) struct UdwadiaKalabaLiteral;

impl Elimination for UdwadiaKalabaLiteral {
    fn name(&self) -> &'static str {
        "udwadia-kalaba-literal"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia & Phohomsiri 2006", equations: "(4.24)" }
    }

    fn needs_regular(&self) -> bool {
        true
    }

    fn freezes(&self) -> bool {
        false
    }

    fn factor(&self, s: &mut Scratch, terms: &Terms) -> bool {
        let (n, m) = (terms.n, terms.m);
        // M = V diag(σ) Vᵀ for M ≻ 0, so M^(−1/2) = V diag(σ^(−1/2)) Vᵀ. The factor is symmetric.
        s.svd.decompose(terms.metric, n, n);
        zeros(&mut s.factor, n * n);
        for k in 0..n {
            let v = &s.svd.v[k * n..(k + 1) * n];
            let weight = 1.0 / s.svd.sigma[k].sqrt();
            for i in 0..n {
                for j in 0..n {
                    s.factor[i * n + j] += weight * v[i] * v[j];
                }
            }
        }
        // B = A M^(−1/2), row by row.
        zeros(&mut s.matrix, m * n);
        for j in 0..m {
            let row = &terms.jacobian[j * n..(j + 1) * n];
            multiply(&s.factor, n, row, &mut s.matrix[j * n..(j + 1) * n]);
        }
        s.stacked_svd.decompose(&s.matrix, m, n);
        let (rank, sigma) = (s.stacked_svd.rank(CUTOFF), &s.stacked_svd.sigma);
        let condition_m = if n == 0 { 1.0 } else { s.svd.sigma[0] / s.svd.sigma[n - 1] };
        let condition_b = if rank == 0 { 1.0 } else { sigma[0] / sigma[rank - 1] };
        s.condition = Some(condition_m.max(condition_b));
        true
    }

    fn back_substitute(&self, s: &mut Scratch, terms: &Terms) -> bool {
        let (n, m) = (terms.n, terms.m);
        // a = M^(−1/2) M^(−1/2) Q.
        zeros(&mut s.work, n);
        multiply(&s.factor, n, terms.force, &mut s.work);
        zeros(&mut s.solution, n);
        multiply(&s.factor, n, &s.work, &mut s.solution);
        zeros(&mut s.right, m);
        for j in 0..m {
            let row = &terms.jacobian[j * n..(j + 1) * n];
            s.right[j] = terms.bias[j] - dot(row, &s.solution);
        }
        // B⁺(b − A a) + (I − B⁺B) M^(−1/2) C.
        let rank = s.stacked_svd.rank(CUTOFF);
        s.stacked_svd.apply_pseudo_inverse(rank, &s.right, &mut s.work);
        zeros(&mut s.left, n);
        multiply(&s.factor, n, terms.nonideal, &mut s.left);
        s.stacked_svd.project_on_kernel(rank, &mut s.left);
        s.work.iter_mut().zip(&s.left).for_each(|(w, c)| *w += c);
        zeros(&mut s.extra, n);
        multiply(&s.factor, n, &s.work, &mut s.extra);
        for i in 0..n {
            s.solution[i] = (s.solution[i] + s.extra[i]) / s.scaled.coordinates[i];
        }
        true
    }
}
