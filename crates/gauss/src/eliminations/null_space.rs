//! Null space: d'Alembert's principle on a basis of the free directions.
//!
//! ```text
//! v̇ = y + N z ,   A y = b ,   A N = 0 ,   (NᵀΓN) z = Nᵀ(F + C − Γ y)
//! ```
//!
//! Greenwood (2.5), (2.33); kernel K0 of the specification. [Y N] is orthogonal, from a QR
//! factorization of the rows, so no condition number is squared. Γ may be singular as long as it
//! is definite on the free directions; if it is not, z is the basic solution. This is the most
//! accurate of the eliminations, or ties for it, over almost all data, and it is the default.

use super::shared::take_rows;
use super::{Elimination, Scratch, Source, frozen};
use crate::linalg::{cholesky, dot, multiply, sized, zeros};
use crate::terms::Terms;

pub(super) static ELIMINATION: NullSpace = NullSpace;

pub(super) struct NullSpace;

impl Elimination for NullSpace {
    fn name(&self) -> &'static str {
        "null-space"
    }

    fn source(&self) -> Source {
        Source { work: "Greenwood, Advanced Dynamics", equations: "(2.5), (2.33)" }
    }

    fn is_null_space(&self) -> bool {
        true
    }

    fn factor(&self, _: &mut Scratch, _: &Terms) -> bool {
        // The rows and K are factored where ranks are decided.
        true
    }

    fn back_substitute(&self, scratch: &mut Scratch, _: &Terms) -> bool {
        solve_free(scratch);
        true
    }
}

/// x = y + N z with the factored K, refined once; also the fallback of eliminations whose own
/// matrix is singular.
pub(super) fn solve_free(s: &mut Scratch) {
    s.solution.clone_from(&s.particular);
    s.right.clone_from(&s.remaining);
    add_free(s);
    if s.refines {
        improve(s);
    }
}

/// The residuals of both equations, solved for again: A y' = b − A x, then z'.
fn improve(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    zeros(&mut s.right, n);
    for (k, &j) in s.decision.order[..r].iter().enumerate() {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.right[k] = s.scaled.bias[j] - dot(row, &s.solution);
    }
    take_rows(&s.rows_lq, &s.rows_tau, r, &mut s.right);
    s.solution.iter_mut().zip(&s.right).for_each(|(x, y)| *x += y);
    multiply(&s.scaled.metric, n, &s.solution, &mut s.right);
    s.right.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g = f - *g);
    add_free(s);
}

/// x ← x + N z, K z = Nᵀg with g in `right`.
fn add_free(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let free = n - r;
    if r == 0 {
        s.left.clone_from(&s.right);
    } else {
        sized(&mut s.left, free);
        multiply(&s.basis, n, &s.right, &mut s.left);
    }
    sized(&mut s.work, free);
    if s.is_frozen {
        frozen::solve_reduced(free, &s.reduced, &mut s.left[..free]);
    } else {
        cholesky::solve_pivoted(
            &s.reduced,
            free,
            s.reduced_rank,
            &s.reduced_order,
            &mut s.left,
            &mut s.work,
        );
    }
    if r == 0 {
        s.solution.iter_mut().zip(&s.left).for_each(|(x, z)| *x += z);
        return;
    }
    for (vector, z) in s.basis.chunks_exact(n.max(1)).zip(&s.left) {
        s.solution.iter_mut().zip(vector).for_each(|(x, v)| *x += v * z);
    }
}
