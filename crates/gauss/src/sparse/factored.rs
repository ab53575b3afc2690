//! Factors on a decision: numbers change, the structure and the rows in use do not.

use super::numeric::Factors;
use super::solve::{Decided, Problem, Room};
use super::structure::Structure;
use crate::outcome::{Outcome, Verdict};
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
}

impl SparseFactored {
    /// Takes a decision over; `None` if the motion is not unique.
    pub(crate) fn adopt(decided: &Decided, outcome: &Outcome) -> Option<SparseFactored> {
        if outcome.motion != Verdict::Unique || outcome.independent != decided.rows {
            return None;
        }
        let factors = decided.factors().clone();
        let pivots: Vec<f64> =
            factors.pivots.iter().zip(&factors.sizes).map(|(p, size)| p / size).collect();
        let least = pivots.iter().fold(1f64, |m, p| m.min(*p));
        Some(SparseFactored {
            s: decided.used.clone()?,
            sizes: factors.sizes.clone(),
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
            && f.pivots.iter().zip(&f.sizes).zip(&self.pivots).all(stands)
            && f.sizes.iter().zip(&self.sizes).all(is_near)
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
        let falls = |((pivot, size), before): ((&f64, &f64), &f64)| {
            !(*pivot >= FALLS * FALLS * before * size)
        };
        let is_factored = f.factor_metric(s, terms.metric, STILL_REGULAR)
            && f.factor_rows(s, terms.jacobian)
            && !f.pivots.iter().zip(&f.sizes).zip(&self.pivots).any(falls);
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

    /// The shortest change of v by which A v changes by `right`.
    pub(crate) fn shortest(&mut self, right: &[f64], change: &mut Vec<f64>) -> bool {
        if self.refines || right.len() != self.s.order.len() {
            return false;
        }
        replace(&mut self.right, right);
        self.factors.solve_schur(&self.s, &mut self.right);
        change.clear();
        change.resize(self.s.diagonal.len(), 0.0);
        self.factors.add_along(&self.s, &self.right, change);
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
        let rows = self.s.order.iter().zip(&self.factors.pivots);
        let part = |(&row, pivot): (&usize, &f64)| match lengths[row] > 0.0 {
            true => pivot.max(0.0).sqrt() / lengths[row],
            false => pivot.max(0.0).sqrt(),
        };
        rows.map(part).fold(1.0, f64::min)
    }
}

fn replace(own: &mut Vec<f64>, by: &[f64]) {
    own.clear();
    own.extend_from_slice(by);
}
