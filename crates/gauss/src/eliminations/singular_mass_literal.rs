//! Udwadia and Phohomsiri's equation exactly as printed.
//!
//! ```text
//! v̇ = 𝓜⁺ [ F + C ; b ] ,   𝓜 = [ (I − A⁺A) Γ ; A ]
//! ```
//!
//! Udwadia & Phohomsiri 2006 (2.14), in the user's own units, with pseudo-inverses from singular
//! values cut off at 1e-12 of the largest. Kept for comparison: the unprojected right-hand side
//! leaves a large least-squares residual and the error grows like cond(𝓜)², which itself depends
//! on units. `condition` states cond(𝓜). Use `singular-mass` instead.

use super::{Elimination, Scratch, Source};
use crate::linalg::zeros;
use crate::terms::Terms;
use crate::tolerances::solving::CUTOFF;

pub(super) static ELIMINATION: SingularMassLiteral = SingularMassLiteral;

pub(super) struct SingularMassLiteral;

impl Elimination for SingularMassLiteral {
    fn name(&self) -> &'static str {
        "singular-mass-literal"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia & Phohomsiri 2006", equations: "(2.14)" }
    }

    fn freezes(&self) -> bool {
        false
    }

    fn factor(&self, s: &mut Scratch, terms: &Terms) -> bool {
        let (n, m) = (terms.n, terms.m);
        s.svd.decompose(terms.jacobian, m, n);
        let rank = s.svd.rank(CUTOFF);
        zeros(&mut s.matrix, (n + m) * n);
        zeros(&mut s.work, n);
        for column in 0..n {
            for i in 0..n {
                s.work[i] = 0.5 * terms.metric[i * n + column] + 0.5 * terms.metric[column * n + i];
            }
            s.svd.project_on_kernel(rank, &mut s.work);
            for i in 0..n {
                s.matrix[i * n + column] = s.work[i];
            }
        }
        s.matrix[n * n..].copy_from_slice(terms.jacobian);
        s.stacked_svd.decompose(&s.matrix, n + m, n);
        let (rank, sigma) = (s.stacked_svd.rank(CUTOFF), &s.stacked_svd.sigma);
        s.condition = Some(if rank == 0 { 1.0 } else { sigma[0] / sigma[rank - 1] });
        true
    }

    fn back_substitute(&self, s: &mut Scratch, terms: &Terms) -> bool {
        s.right.clear();
        s.right.extend(terms.force.iter().zip(terms.nonideal).map(|(f, c)| f + c));
        s.right.extend_from_slice(terms.bias);
        zeros(&mut s.solution, terms.n);
        let rank = s.stacked_svd.rank(CUTOFF);
        s.stacked_svd.apply_pseudo_inverse(rank, &s.right, &mut s.solution);
        s.solution.iter_mut().zip(&s.scaled.coordinates).for_each(|(x, c)| *x /= c);
        true
    }
}
