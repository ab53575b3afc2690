//! Udwadia and Kalaba's fundamental equation, with a Cholesky factor in place of roots.
//!
//! ```text
//! v̇ = a + F⁻ᵀ B⁺ (b − A a) ,   a = Γ⁻¹(F + C) ,   B = A F⁻ᵀ ,   Γ = F Fᵀ
//! ```
//!
//! Udwadia & Phohomsiri 2006 (4.24); kernel K1 of the specification. Any square factor of Γ gives
//! the same F⁻ᵀB⁺. B⁺ comes from a complete orthogonal decomposition of the
//! row-normalized B, so dependent rows need no treatment. Refined once. It needs Γ ≻ 0 and refuses
//! others.

use super::{Elimination, Scratch, Source, shared};
use crate::linalg::{cholesky, dot, multiply, norm, qr, zeros};
use crate::terms::Terms;

pub(super) static ELIMINATION: UdwadiaKalaba = UdwadiaKalaba;

pub(super) struct UdwadiaKalaba;

impl Elimination for UdwadiaKalaba {
    fn name(&self) -> &'static str {
        "udwadia-kalaba"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia & Phohomsiri 2006", equations: "(4.24)" }
    }

    fn needs_regular(&self) -> bool {
        true
    }

    fn factor(&self, s: &mut Scratch, _: &Terms) -> bool {
        let is_regular = s.decision.refactor_metric(&s.scaled);
        factor_b(s);
        is_regular
    }

    fn back_substitute(&self, s: &mut Scratch, _: &Terms) -> bool {
        solve_scaled(s);
        true
    }
}

fn solve_scaled(s: &mut Scratch) {
    let (n, live) = (s.scaled.n, s.decision.live);
    s.left.clone_from(&s.scaled.force);
    s.right.clear();
    s.right.extend(s.decision.order[..live].iter().map(|&j| s.scaled.bias[j]));
    zeros(&mut s.solution, n);
    add_correction(s);
    // One step of refinement. The first pass passes through a = Γ⁻¹(F + C), which may be much
    // larger than v̇ where constraint forces balance F; of the residual only the part along the
    // free directions counts, since C matters only modulo range Aᵀ.
    multiply(&s.scaled.metric, n, &s.solution, &mut s.work);
    for i in 0..n {
        s.left[i] = s.scaled.force[i] - s.work[i];
    }
    shared::keep_free(s);
    for (k, &j) in s.decision.order[..live].iter().enumerate() {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.right[k] = s.scaled.bias[j] - dot(row, &s.solution);
    }
    add_correction(s);
}

/// Bᵀ = F⁻¹Aᵀ with columns of unit length, independent ones first, factored as Q [R₁ R₂]; then
/// Rᵀ factored once more, which removes the trailing triangle. Lengths are kept in `extra`
/// behind the coefficients of the reflections.
fn factor_b(s: &mut Scratch) {
    let (n, r, live) = (s.scaled.n, s.decision.jacobian, s.decision.live);
    let (factor, order) = (&s.decision.metric_factor, &s.decision.metric_order);
    zeros(&mut s.work, n);
    zeros(&mut s.matrix, n * live);
    zeros(&mut s.extra, 2 * r + live);
    for (k, &j) in s.decision.order[..live].iter().enumerate() {
        for i in 0..n {
            s.work[i] = s.scaled.jacobian[j * n + order[i]];
        }
        cholesky::solve_lower(factor, n, n, &mut s.work);
        let length = norm(&s.work);
        for i in 0..n {
            s.matrix[i * live + k] = s.work[i] / length;
        }
        s.extra[2 * r + k] = length;
    }
    qr::factor(&mut s.matrix, n, live, r, &mut s.extra[..r]);
    zeros(&mut s.factor, live * r);
    for k in 0..live {
        for i in 0..r.min(k + 1) {
            s.factor[k * r + i] = s.matrix[i * live + k];
        }
    }
    qr::factor(&mut s.factor, live, r, r, &mut s.extra[r..2 * r]);
}

/// Adds to the solution a + F⁻ᵀB⁺(b − A a) with the force in `left` and b in `right`; both are
/// spoilt.
fn add_correction(s: &mut Scratch) {
    let (n, r, live) = (s.scaled.n, s.decision.jacobian, s.decision.live);
    let (factor, order) = (&s.decision.metric_factor, &s.decision.metric_order);
    // a = Γ⁻¹(F + C).
    cholesky::solve_pivoted(factor, n, n, order, &mut s.left, &mut s.work);
    // e = b − A a in the normalized rows, then z with Rᵀz = e in the least-squares sense.
    for (k, &j) in s.decision.order[..live].iter().enumerate() {
        let row = &s.scaled.jacobian[j * n..(j + 1) * n];
        s.right[k] = (s.right[k] - dot(row, &s.left)) / s.extra[2 * r + k];
    }
    qr::apply_q_transposed(&s.factor, live, r, r, &s.extra[r..2 * r], &mut s.right);
    qr::solve_upper(&s.factor, r, r, &mut s.right);
    // a + F⁻ᵀ Q z.
    s.work.fill(0.0);
    s.work[..r].copy_from_slice(&s.right[..r]);
    qr::apply_q(&s.matrix, n, live, r, &s.extra[..r], &mut s.work);
    cholesky::solve_lower_transposed(factor, n, n, &mut s.work);
    for i in 0..n {
        s.solution[i] += s.left[i];
    }
    for (w, &i) in s.work.iter().zip(order) {
        s.solution[i] += w;
    }
}
