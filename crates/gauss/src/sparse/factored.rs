//! Factors on a decision: numbers change, the structure and the rows in use do not.

use super::ldl::Triangle;
use super::numeric::Factors;
use super::solve::{Decided, Problem, Room};
use super::structure::Structure;
use crate::outcome::{Outcome, Verdict};
use crate::pattern::Pattern;
use crate::terms::Terms;
use crate::tolerances::solving::{FALLS, HOLDS, POOR};
use crate::tolerances::sparse::STILL_REGULAR;

/// A decision with the factors of the last state and its last solution.
#[derive(Clone, Debug)]
pub(crate) struct SparseFactored {
    s: Structure,
    factors: Factors,
    /// Squares of the pivots over those of their rows, and of the rows, at the decision; and Γ_ii.
    pivots: Vec<f64>,
    sizes: Vec<f64>,
    masses: Vec<f64>,
    is_decided: bool,
    refines: bool,
    /// The last problem and its solution, for its residuals.
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    force: Vec<f64>,
    right: Vec<f64>,
    v_dot: Vec<f64>,
    lambda: Vec<f64>,
    room: Room,
    /// Factors of S where that is given.
    given: Triangle,
}

/// S = A Γ⁻¹ Aᵀ as sums of products, where Γ is diagonal: what is left to be solved when the
/// accelerations are eliminated.
#[derive(Clone, Copy, Debug)]
pub struct Reduced<'a> {
    /// The products, of places of entries of A in the list of all: of one, and of one over its mass.
    pub products: &'a [(u32, u32)],
    /// Where those of each entry of S begin, and their end.
    pub ends: &'a [u32],
    /// Where the entries of A are.
    pub jacobian: &'a Pattern,
}

impl SparseFactored {
    /// Takes a decision over; `None` if the motion is not unique.
    pub(crate) fn adopt(decided: &Decided, outcome: &Outcome) -> Option<SparseFactored> {
        if outcome.motion != Verdict::Unique || outcome.independent != decided.rows {
            return None;
        }
        let factors = decided.factors().clone();
        let pivots: Vec<f64> = factors
            .triangle
            .pivots
            .iter()
            .zip(&factors.triangle.sizes)
            .map(|(p, size)| p / size)
            .collect();
        let least = pivots.iter().fold(1f64, |m, p| m.min(*p));
        Some(SparseFactored {
            s: decided.used.clone()?,
            sizes: factors.triangle.sizes.clone(),
            factors,
            pivots,
            masses: Vec::new(),
            is_decided: true,
            refines: !(least >= POOR * POOR),
            metric: Vec::new(),
            jacobian: Vec::new(),
            force: Vec::new(),
            right: Vec::new(),
            v_dot: Vec::new(),
            lambda: Vec::new(),
            room: Room::default(),
            given: Triangle::default(),
        })
    }

    pub(crate) fn is_decided(&self) -> bool {
        self.is_decided
    }

    pub(crate) fn forget(&mut self) {
        self.is_decided = false;
    }

    /// Whether the decision would be made again, by far.
    pub(crate) fn holds(&self) -> bool {
        let f = &self.factors;
        let stands = |((pivot, size), before): ((&f64, &f64), &f64)| HOLDS * pivot >= before * size;
        let is_near =
            |(now, before): (&f64, &f64)| HOLDS * now >= *before && *now <= HOLDS * before;
        let masses = self.s.diagonal.iter().map(|at| at.map_or(0.0, |at| self.metric[at]));
        self.is_decided
            && !self.refines
            && f.triangle.pivots.iter().zip(&f.triangle.sizes).zip(&self.pivots).all(stands)
            && f.triangle.sizes.iter().zip(&self.sizes).all(is_near)
            && masses.zip(&self.masses).all(|(now, before)| is_near((&now, before)))
    }

    /// Factors Γ and A of another state. False if a pivot has fallen.
    pub(crate) fn refactor(&mut self, terms: &Terms) -> bool {
        let Some(patterns) = terms.patterns else { return false };
        let (s, f) = (&mut self.s, &mut self.factors);
        if !s.is_of(patterns.metric, patterns.jacobian) {
            return false;
        }
        if self.metric != terms.metric {
            replace(&mut self.metric, terms.metric);
        }
        replace(&mut self.jacobian, terms.jacobian);
        let is_factored = f.factor_metric(s, terms.metric, STILL_REGULAR)
            && f.factor_rows(s, terms.jacobian)
            && !has_fallen(&f.triangle, &self.pivots);
        if is_factored && self.masses.is_empty() {
            let masses = s.diagonal.iter().map(|at| at.map_or(0.0, |at| terms.metric[at]));
            self.masses.extend(masses);
        }
        is_factored
    }

    /// v̇ and λ with the factors there are. False if they are not numbers.
    pub(crate) fn solve(
        &mut self,
        terms: &Terms,
        v_dot: &mut Vec<f64>,
        multipliers: &mut Vec<f64>,
    ) -> bool {
        if terms.bias.len() != self.s.order.len() || terms.n != self.s.diagonal.len() {
            return false;
        }
        self.force.clear();
        self.force.extend(terms.force.iter().zip(terms.nonideal).map(|(f, c)| f + c));
        replace(&mut self.right, terms.bias);
        replace(&mut self.v_dot, &self.force);
        let SparseFactored { s, factors, jacobian, right, .. } = self;
        factors.solve(s, jacobian, right, &mut self.v_dot, &mut self.lambda);
        if self.refines {
            let problem = Problem { s, metric: &self.metric, jacobian, force: &self.force };
            problem.improve(factors, right, &mut self.v_dot, &mut self.lambda, &mut self.room);
        }
        replace(v_dot, &self.v_dot);
        replace(multipliers, &self.lambda);
        v_dot.iter().chain(&*multipliers).all(|x| x.is_finite())
    }

    /// S by its products, where Γ is diagonal and solutions are not refined.
    pub(crate) fn reduced(&self) -> Option<Reduced<'_>> {
        let s = &self.s;
        let (products, ends) = (&*s.products, &*s.products_at);
        let is_plain = self.is_decided && s.is_diagonal && !self.refines;
        is_plain.then_some(Reduced { products, ends, jacobian: &s.jacobian })
    }

    /// λ where S and its right-hand sides are given; the factors there are stay. False if a pivot
    /// has fallen, or what is found is not a number.
    pub(crate) fn solve_reduced(&mut self, schur: &[f64], right: &mut [f64]) -> bool {
        let SparseFactored { s, given, pivots, .. } = self;
        if schur.len() != s.schur.entries() || right.len() != s.order.len() {
            return false;
        }
        given.factor_and_solve(s, schur, right)
            && !has_fallen(given, pivots)
            && right.iter().all(|x| x.is_finite())
    }

    /// The shortest change of v by which A v changes by `right`.
    pub(crate) fn shortest(&mut self, right: &[f64], change: &mut Vec<f64>) -> bool {
        if self.refines || right.len() != self.s.order.len() {
            return false;
        }
        replace(&mut self.right, right);
        change.clear();
        change.resize(self.s.diagonal.len(), 0.0);
        self.factors.shortest(&self.s, &mut self.right, change);
        change.iter().all(|x| x.is_finite())
    }

    /// ρ_N and ρ_A of the last solution.
    pub(crate) fn residuals(&mut self) -> (f64, f64) {
        let SparseFactored { s, metric, jacobian, force, .. } = self;
        let problem = Problem { s, metric, jacobian, force };
        problem.residuals(&self.right, &self.v_dot, &self.lambda, &mut self.room)
    }

    /// The least pivot: how far a row is from those eliminated before it, in units of equal mass
    /// and as a part of `lengths` of the rows.
    pub(crate) fn margin(&self, lengths: &[f64]) -> f64 {
        let rows = self.s.order.iter().zip(&self.factors.triangle.pivots);
        let part = |(&row, pivot): (&usize, &f64)| match lengths[row] > 0.0 {
            true => pivot.max(0.0).sqrt() / lengths[row],
            false => pivot.max(0.0).sqrt(),
        };
        rows.map(part).fold(1.0, f64::min)
    }
}

/// Whether a pivot is far below what it was at a decision, as a part of its row.
fn has_fallen(triangle: &Triangle, before: &[f64]) -> bool {
    let parts = triangle.pivots.iter().zip(&triangle.sizes).zip(before);
    let stands =
        |((pivot, size), before): ((&f64, &f64), &f64)| *pivot >= FALLS * FALLS * before * size;
    !parts.fold(true, |all, part| all & stands(part))
}

fn replace(own: &mut Vec<f64>, by: &[f64]) {
    own.clear();
    own.extend_from_slice(by);
}
