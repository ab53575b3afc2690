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
//!
//! Solutions are refined only where pivots are small. So that rounding of one coordinate does not
//! reach another that no row joins to it, coordinates are ordered such that each reflection
//! begins at the largest entry of its row: it then touches none that the row does not.

use super::shared::{self, solve_rows};
use super::status::{factor_rows, find_remaining, form_reduced};
use super::{Elimination, Scratch, null_space};
use crate::linalg::{cholesky, dot, lq, multiply, sized, zeros};
use crate::outcome::{Outcome, Verdict};
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
    /// Squares of the pivots of the rows and of K at the decision, over those of their rows.
    rows: Vec<f64>,
    free: Vec<f64>,
    /// The coordinates in the order in which they are factored.
    columns: Vec<usize>,
    /// Whether a coordinate had no mass at the decision.
    has_massless: bool,
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
        self.is_decided = false;
        if outcome.motion != Verdict::Unique
            || outcome.independent.len() != r
            || r + decided.reduced_rank < n
        {
            return false;
        }
        let (s, rows) = (&mut self.s, &outcome.independent);
        order_columns(decided, &mut s.matrix, &mut self.columns);
        self.has_massless = decided.scaled.massless.contains(&true);
        s.scaled.adopt(&decided.scaled, rows, &self.columns);
        s.decision.adopt(&decided.decision, rows, &self.columns);
        factor_rows(s);
        pivots(&s.rows_lq, n, r, &mut self.rows);
        form_reduced(s);
        let free = n - r;
        s.reduced_order.resize(free, 0);
        zeros(&mut s.extra, free);
        let found = cholesky::factor_pivoted(&mut s.reduced, free, &s.extra, &mut s.reduced_order);
        s.reduced_rank = free;
        pivots(&s.reduced, free, free, &mut self.free);
        let least = self.rows.iter().chain(&self.free).fold(1.0, |m: f64, p| m.min(*p));
        s.refines = !(least >= POOR * POOR);
        self.is_decided = found.rank == free;
        self.is_decided
    }

    /// Factors Γ and A of another state. False if a pivot has fallen.
    pub fn refactor(&mut self, elimination: &dyn Elimination, terms: &Terms) -> bool {
        let s = &mut self.s;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        if terms.n != n || terms.m != r || !elimination.freezes() {
            return false;
        }
        s.scaled.refill(terms, &self.columns);
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
        s.scaled.refill_right(terms, &self.columns);
        solve_rows(s, r);
        find_remaining(s);
        if !elimination.back_substitute(s, terms) {
            null_space::solve_free(s);
        }
        sized(v_dot, n);
        for (i, &column) in self.columns.iter().enumerate() {
            v_dot[column] = s.solution[i] * s.scaled.coordinates[i];
        }
        zeros(&mut s.multipliers, r);
        if r > 0 {
            sized(&mut s.left, n);
            multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
            s.left.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g -= f);
            shared::add_basic(s, r);
            if s.refines || self.has_massless {
                shared::improve_basic(s, r);
            }
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

/// Orders coordinates so that each row, after the reflections of those before it, has its largest
/// entry where its own reflection begins.
fn order_columns(decided: &Scratch, work: &mut Vec<f64>, columns: &mut Vec<usize>) {
    let (n, r) = (decided.scaled.n, decided.decision.jacobian);
    columns.clear();
    columns.extend(0..n);
    work.clear();
    for &row in &decided.decision.order[..r] {
        work.extend_from_slice(&decided.scaled.jacobian[row * n..(row + 1) * n]);
    }
    let mut tau = [0.0];
    for k in 0..r {
        let largest =
            (k..n).fold(
                k,
                |best, i| {
                    if work[k * n + i].abs() > work[k * n + best].abs() { i } else { best }
                },
            );
        columns.swap(k, largest);
        work.chunks_exact_mut(n).for_each(|row| row.swap(k, largest));
        lq::factor_from(work, n, k, k + 1, &mut tau);
    }
}

/// Squares of the diagonal entries of a triangle over those of the lengths of their rows.
fn pivots(l: &[f64], cols: usize, count: usize, into: &mut Vec<f64>) {
    into.clear();
    into.extend((0..count).map(|k| {
        let (pivot, row) = pivot(l, cols, k);
        pivot / row
    }));
}

/// The squares of a diagonal entry and of its row.
fn pivot(l: &[f64], cols: usize, k: usize) -> (f64, f64) {
    let row = &l[k * cols..k * cols + k + 1];
    (row[k] * row[k], dot(row, row))
}

fn has_fallen(l: &[f64], cols: usize, before: &[f64]) -> bool {
    before.iter().enumerate().any(|(k, before)| {
        let (pivot, row) = pivot(l, cols, k);
        !(pivot >= FALLS * FALLS * before * row)
    })
}
