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

use super::{Elimination, Scratch, SolveError, Source, shared};
use crate::linalg::{cholesky, dot, multiply, qr, zeros};
use crate::outcome::Outcome;
use crate::terms::{Terms, Tolerances};

pub(super) static ELIMINATION: NullSpace = NullSpace;

pub(super) struct NullSpace;

impl Elimination for NullSpace {
    fn name(&self) -> &'static str {
        "null-space"
    }

    fn source(&self) -> Source {
        Source { work: "Greenwood, Advanced Dynamics", equations: "(2.5), (2.33)" }
    }

    fn solve(
        &self,
        scratch: &mut Scratch,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Result<(), SolveError> {
        if !shared::begin(scratch, terms, tolerances, outcome)? {
            return Ok(());
        }
        solve_free(scratch);
        shared::finish(scratch, terms, outcome)
    }
}

/// x = y + N z with the factored K, refined once; also the fallback of eliminations whose own
/// matrix is singular.
pub(super) fn solve_free(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    s.solution.clone_from(&s.particular);
    s.right.clone_from(&s.remaining);
    add_free(s);
    // The residuals of both equations, solved for again: A y' = b − A x, then z'.
    zeros(&mut s.right, n);
    for (k, &j) in s.decision.order[..r].iter().enumerate() {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.right[k] = s.scaled.drift[j] - dot(row, &s.solution);
    }
    let live = s.decision.live;
    qr::solve_upper_transposed(&s.rows_qr, live, r, &mut s.right);
    qr::apply_q(&s.rows_qr, n, live, r, &s.rows_tau, &mut s.right);
    s.solution.iter_mut().zip(&s.right).for_each(|(x, y)| *x += y);
    multiply(&s.scaled.metric, n, &s.solution, &mut s.right);
    s.right.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g = f - *g);
    add_free(s);
}

/// x ← x + N z, K z = Nᵀg with g in `right`.
fn add_free(s: &mut Scratch) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let free = n - r;
    zeros(&mut s.left, free);
    for i in 0..n {
        let g = s.right[i];
        for k in 0..free {
            s.left[k] += s.basis[i * free + k] * g;
        }
    }
    zeros(&mut s.work, free);
    cholesky::solve_pivoted(
        &s.reduced,
        free,
        s.reduced_rank,
        &s.reduced_order,
        &mut s.left,
        &mut s.work,
    );
    for i in 0..n {
        s.solution[i] += dot(&s.basis[i * free..(i + 1) * free], &s.left);
    }
}
