//! Lagrange multipliers: accelerations and multipliers from one symmetric system.
//!
//! ```text
//! [ Γ  Aᵀ ] [ v̇ ]   [ F + C ]
//! [ A  0  ] [ −λ ] = [   b   ]
//! ```
//!
//! Greenwood (2.49)-(2.52); kernel K3 of the specification. Equilibrated, restricted to
//! independent rows, factored after Bunch & Kaufman 1977, and refined once. The matrix has the
//! inertia (n, r, 0) exactly if Γ ≻ 0 on ker A; the factorization states its inertia, which
//! certifies the result. Γ may be singular. If the inertia is another one, the motion is not
//! unique and the null space takes over.

use super::{Elimination, Scratch, Source, shared};
use crate::linalg::ldl::{self, Inertia};
use crate::linalg::{dot, multiply, zeros};
use crate::terms::Terms;

pub(super) static ELIMINATION: Multipliers = Multipliers;

pub(super) struct Multipliers;

impl Elimination for Multipliers {
    fn name(&self) -> &'static str {
        "multipliers"
    }

    fn source(&self) -> Source {
        Source { work: "Greenwood, Advanced Dynamics", equations: "(2.49)-(2.52)" }
    }

    fn factor(&self, s: &mut Scratch, _: &Terms) -> bool {
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        if r + s.reduced_rank < n {
            return false;
        }
        let size = n + r;
        zeros(&mut s.factor, size * size);
        for i in 0..n {
            s.factor[i * size..i * size + n].copy_from_slice(&s.scaled.metric[i * n..(i + 1) * n]);
        }
        for (k, &j) in s.decision.order[..r].iter().enumerate() {
            for i in 0..n {
                let a = s.scaled.jacobian[j * n + i];
                s.factor[i * size + n + k] = a;
                s.factor[(n + k) * size + i] = a;
            }
        }
        s.order.resize(size, 0);
        s.wide.resize(size, false);
        let inertia = ldl::factor(&mut s.factor, size, &mut s.order, &mut s.wide);
        inertia == (Inertia { positive: n, negative: r, zero: 0 })
    }

    fn back_substitute(&self, s: &mut Scratch, _: &Terms) -> bool {
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        let size = n + r;
        zeros(&mut s.right, size);
        s.right[..n].copy_from_slice(&s.scaled.force);
        for (k, &j) in s.decision.order[..r].iter().enumerate() {
            s.right[n + k] = s.scaled.bias[j];
        }
        zeros(&mut s.work, size);
        ldl::solve(&s.factor, size, &s.order, &s.wide, &mut s.right, &mut s.work);
        s.solution.clear();
        s.solution.extend_from_slice(&s.right[..n]);
        // One step of refinement. Multipliers much larger than accelerations spoil the latter in
        // the first pass; of the residual force only the part along the free directions is kept,
        // so that the correction carries none.
        zeros(&mut s.left, n);
        multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
        s.left.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g = f - *g);
        shared::keep_free(s);
        s.right[..n].copy_from_slice(&s.left);
        for (k, &j) in s.decision.order[..r].iter().enumerate() {
            let row = &s.scaled.jacobian[j * n..(j + 1) * n];
            s.right[n + k] = s.scaled.bias[j] - dot(row, &s.solution);
        }
        ldl::solve(&s.factor, size, &s.order, &s.wide, &mut s.right, &mut s.work);
        s.solution.iter_mut().zip(&s.right).for_each(|(x, correction)| *x += correction);
        s.solution.iter().all(|x| x.is_finite())
    }
}
