//! The inverse of a frozen problem, by its factors.
//!
//! ```text
//! P = N K⁻¹ Nᵀ ,   Y = Q [L⁻¹; 0] ,   Z = Y − P Γ̃ Y
//! x = P F̃ + Z b̃ ,   μ = −Zᵀ F̃ + YᵀΓ̃Z b̃
//! ```
//!
//! Where many right-hand sides are to come, products with these are cheaper than solving with the
//! factors, and have no order in which they wait for each other.

use super::Scratch;
use super::frozen::{Order, by_size, room_for, solve_reduced};
use crate::linalg::{dot, lq, multiply, sized};
use dalembert_machine::{Wide, wide};

/// v̇ and λ for 1 in each of F and b, one after the other, in the user's units and order. False if
/// they are not numbers.
pub(super) fn inverse(s: &mut Scratch, order: &Order, into: &mut Vec<f64>) -> bool {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    sized(into, (n + r) * (n + r));
    wide(Inverse { s, order, into })
}

/// [`inverse`].
struct Inverse<'a> {
    s: &'a mut Scratch,
    order: &'a Order,
    into: &'a mut [f64],
}

impl Wide for Inverse<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Inverse { s, order, into } = self;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        by_size!(n, r, |n, r| inverse_sized(n, r, s, order, into))
    }
}

#[inline(always)]
fn inverse_sized(n: usize, r: usize, s: &mut Scratch, order: &Order, into: &mut [f64]) -> bool {
    let free = n - r;
    sized(&mut s.extra, n * n + 3 * r * n + n);
    let (metric, basis) = (&s.scaled.metric[..n * n], &s.basis[..free * n]);
    let (lq, tau) = (&s.rows_lq[..r * n], &s.rows_tau[..r]);
    let k = &s.reduced[..room_for(free)];
    let (p, rest) = s.extra[..n * n + 3 * r * n + n].split_at_mut(n * n);
    let (y, rest) = rest.split_at_mut(r * n);
    let (moved, rest) = rest.split_at_mut(r * n);
    let (z, work) = rest.split_at_mut(r * n);
    // P, column by column.
    for j in 0..n {
        let column = &mut p[j * n..(j + 1) * n];
        if r == 0 {
            column.fill(0.0);
            column[j] = 1.0;
            solve_reduced(free, k, column);
            continue;
        }
        (0..free).for_each(|i| work[i] = basis[i * n + j]);
        solve_reduced(free, k, &mut work[..free]);
        column.fill(0.0);
        for i in 0..free {
            let (along, by) = (&basis[i * n..(i + 1) * n], work[i]);
            (0..n).for_each(|at| column[at] += along[at] * by);
        }
    }
    for i in 0..r {
        let (y, moved) = (&mut y[i * n..(i + 1) * n], &mut moved[i * n..(i + 1) * n]);
        y.fill(0.0);
        y[i] = 1.0;
        lq::solve_lower(lq, n, r, y);
        lq::apply_q(lq, n, r, tau, y);
        multiply(metric, n, y, moved);
        multiply(p, n, moved, work);
        (0..n).for_each(|at| z[i * n + at] = y[at] - work[at]);
    }
    let (c, d, size) = (&s.scaled.coordinates[..n], &s.scaled.rows[..r], n + r);
    let (columns, rows) = (&order.columns[..n], &order.rows[..r]);
    let mut nothing = 0.0;
    for j in 0..n {
        let column = &mut into[columns[j] * size..(columns[j] + 1) * size];
        for i in 0..n {
            let value = p[j * n + i] * c[i] * c[j];
            nothing += 0.0 * value;
            column[columns[i]] = value;
        }
        (0..r).for_each(|i| column[n + rows[i]] = -z[i * n + j] * d[i] * c[j]);
    }
    for j in 0..r {
        let column = &mut into[(n + rows[j]) * size..(n + rows[j] + 1) * size];
        for i in 0..n {
            let value = z[j * n + i] * c[i] * d[j];
            nothing += 0.0 * value;
            column[columns[i]] = value;
        }
        for i in 0..r {
            let value = dot(&moved[i * n..(i + 1) * n], &z[j * n..(j + 1) * n]) * d[i] * d[j];
            nothing += 0.0 * value;
            column[n + rows[i]] = value;
        }
    }
    nothing == 0.0
}
