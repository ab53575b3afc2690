//! Decided once, factored often, solved more often.
//!
//! A decision fixes the units, the rows and their order, and the order of pivots. Near the state
//! it was made for, nothing of that changes: what does is numbers. So between two decisions the
//! problem is
//!
//! ```text
//! refactor   Ã = L Qᵀ, K = NᵀΓ̃N = L_K L_Kᵀ, in the order decided; then what an elimination adds
//! solve      y = Q L⁻¹ b̃,  K z = Nᵀ(F̃ − Γ̃y),  x = y + N z,  L ᵀμ = Qᵀ(Γ̃x − F̃)
//! ```
//!
//! and nothing is compared with anything but the pivots: one that falls far below what it was,
//! measured by its own row, asks for a new decision. Only problems with one motion and
//! independent rows are frozen; all others are decided each time.

use super::shared::{self, solve_rows};
use super::status::{factor_rows, find_remaining, form_reduced};
use super::{Elimination, Scratch, null_space};
use crate::linalg::{cholesky, dot, multiply, sized, zeros};
use crate::outcome::{Motion, Outcome};
use crate::terms::Terms;

/// A pivot has fallen if it is below this part of what it was at the decision.
const FALLS: f64 = 1.0 / 16.0;
/// Solutions with pivots below this are refined.
const POOR: f64 = 1e-2;

/// A decision, the factors of the last state, and its last solution.
#[derive(Clone, Debug, Default)]
pub struct Factored {
    s: Scratch,
    is_decided: bool,
    /// Pivots of the rows and of K at the decision, over the lengths of their rows.
    rows: Vec<f64>,
    free: Vec<f64>,
}

impl Factored {
    /// Whether there is a decision to go by.
    pub fn is_decided(&self) -> bool {
        self.is_decided
    }

    /// Forgets the decision.
    pub fn forget(&mut self) {
        self.is_decided = false;
    }

    /// Takes over a decision made on all rows of a problem, for the independent ones among
    /// them, in the order in which they are listed. False if the motion is not unique.
    pub fn adopt(&mut self, decided: &Scratch, outcome: &Outcome) -> bool {
        let (n, r) = (decided.scaled.n, decided.decision.jacobian);
        self.is_decided = outcome.motion == Motion::Unique
            && outcome.independent.len() == r
            && r + decided.reduced_rank == n;
        if !self.is_decided {
            return false;
        }
        let s = &mut self.s;
        let rows = &outcome.independent;
        s.scaled.adopt(&decided.scaled, rows);
        s.decision.adopt(&decided.decision, rows);
        s.reduced_rank = decided.reduced_rank;
        s.reduced_order.clone_from(&decided.reduced_order);
        pivots(&decided.rows_lq, n, r, &mut self.rows);
        pivots(&decided.reduced, n - r, n - r, &mut self.free);
        let least = self.rows.iter().chain(&self.free).fold(1.0, |m: f64, p| m.min(*p));
        s.refines = least < POOR;
        true
    }

    /// Factors Γ and A of another state. False if a pivot has fallen.
    pub fn refactor(&mut self, elimination: &dyn Elimination, terms: &Terms) -> bool {
        let s = &mut self.s;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        if terms.n != n || terms.m != r {
            return false;
        }
        s.scaled.refill(terms);
        if r > 0 {
            factor_rows(s);
        }
        if has_fallen(&s.rows_lq, n, &self.rows) {
            return false;
        }
        form_reduced(s);
        let free = n - r;
        s.matrix.clear();
        for &i in &s.reduced_order {
            s.matrix.extend(s.reduced_order.iter().map(|&j| s.reduced[i * free + j]));
        }
        std::mem::swap(&mut s.matrix, &mut s.reduced);
        cholesky::factor(&mut s.reduced, free).is_ok()
            && !has_fallen(&s.reduced, free, &self.free)
            && elimination.factor(s, terms)
    }

    /// Solves for forces and right-hand sides with the factors there are: v̇ and λ. False if
    /// they are not numbers.
    pub fn solve(
        &mut self,
        elimination: &dyn Elimination,
        terms: &Terms,
        v_dot: &mut Vec<f64>,
        multipliers: &mut Vec<f64>,
    ) -> bool {
        let s = &mut self.s;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        s.scaled.refill_right(terms);
        solve_rows(s, r);
        find_remaining(s);
        if !elimination.back_substitute(s, terms) {
            null_space::solve_free(s);
        }
        v_dot.clear();
        v_dot.extend(s.solution.iter().zip(&s.scaled.coordinates).map(|(x, c)| x * c));
        zeros(&mut s.multipliers, r);
        if r > 0 {
            sized(&mut s.left, n);
            multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
            s.left.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g -= f);
            shared::add_basic(s, r);
        }
        multipliers.clear();
        multipliers.extend(s.multipliers.iter().zip(&s.scaled.rows).map(|(mu, d)| mu * d));
        v_dot.iter().chain(multipliers.iter()).all(|x| x.is_finite())
    }

    /// ρ_N and ρ_A of the last solution.
    pub fn residuals(&mut self) -> (f64, f64) {
        shared::certify(&mut self.s)
    }
}

/// Diagonal entries of a triangle over the lengths of their rows.
fn pivots(l: &[f64], cols: usize, count: usize, into: &mut Vec<f64>) {
    into.clear();
    into.extend((0..count).map(|k| pivot(l, cols, k)));
}

fn pivot(l: &[f64], cols: usize, k: usize) -> f64 {
    let row = &l[k * cols..k * cols + k + 1];
    row[k].abs() / dot(row, row).sqrt()
}

fn has_fallen(l: &[f64], cols: usize, before: &[f64]) -> bool {
    before.iter().enumerate().any(|(k, before)| !(pivot(l, cols, k) >= FALLS * before))
}
