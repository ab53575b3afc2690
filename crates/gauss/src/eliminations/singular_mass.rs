//! Udwadia and Phohomsiri's equation for singular mass matrices.
//!
//! ```text
//! v̇ = 𝓜⁺ [ (I − A⁺A)(F + C) ; b ] ,   𝓜 = [ (I − A⁺A) Γ ; A ]
//! ```
//!
//! Udwadia & Phohomsiri 2006 (2.12), (2.14); kernel K5 of the specification. The right-hand side
//! is the projected one of (2.12): the unprojected [F + C; b] of (2.14) is equal in exact
//! arithmetic and loses digits like the square of the condition number. Everything happens in
//! equilibrated units, because 𝓜 stacks forces on accelerations and its conditioning depends on
//! their ratio. Γ ⪰ 0 is enough.

use super::{Elimination, Scratch, Source};
use crate::linalg::{dot, multiply, zeros};
use crate::terms::Terms;

pub(super) static ELIMINATION: SingularMass = SingularMass;

pub(super) struct SingularMass;

impl Elimination for SingularMass {
    fn name(&self) -> &'static str {
        "singular-mass"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia & Phohomsiri 2006", equations: "(2.12), (2.14)" }
    }

    fn factor(&self, s: &mut Scratch, _: &Terms) -> bool {
        let (n, m, r) = (s.scaled.n, s.scaled.m, s.decision.jacobian);
        s.svd.decompose(&s.scaled.jacobian, m, n);
        zeros(&mut s.matrix, (n + m) * n);
        zeros(&mut s.work, n);
        for column in 0..n {
            // Γ is symmetric, so a column of it is a row.
            s.work.copy_from_slice(&s.scaled.metric[column * n..(column + 1) * n]);
            s.svd.project_on_kernel(r, &mut s.work);
            for i in 0..n {
                s.matrix[i * n + column] = s.work[i];
            }
        }
        s.matrix[n * n..].copy_from_slice(&s.scaled.jacobian);
        s.stacked_svd.decompose(&s.matrix, n + m, n);
        true
    }

    fn back_substitute(&self, s: &mut Scratch, _: &Terms) -> bool {
        let (n, m, r) = (s.scaled.n, s.scaled.m, s.decision.jacobian);
        let rank = r + s.reduced_rank;
        zeros(&mut s.solution, n);
        zeros(&mut s.left, n);
        // The second pass refines: 𝓜⁺ is applied to the residual of the first.
        for _ in 0..2 {
            zeros(&mut s.right, n + m);
            multiply(&s.scaled.metric, n, &s.solution, &mut s.right[..n]);
            s.right.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g = f - *g);
            s.svd.project_on_kernel(r, &mut s.right[..n]);
            for j in 0..m {
                let row = &s.scaled.jacobian[j * n..(j + 1) * n];
                s.right[n + j] = s.scaled.bias[j] - dot(row, &s.solution);
            }
            s.stacked_svd.apply_pseudo_inverse(rank, &s.right, &mut s.left);
            s.solution.iter_mut().zip(&s.left).for_each(|(x, correction)| *x += correction);
        }
        true
    }
}
