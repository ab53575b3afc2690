//! S = L D Lᵀ in the order of a structure, and S x = r with it.
//!
//! Row by row ([`uplooking`]). Where L has
//! one entry a column, as of chains and trees, a column gives what it changes to the only one that it
//! changes; columns of other branches do not wait for it.

use super::structure::{NOWHERE, Structure};
use super::uplooking;
use dalembert_machine::{Wide, wide};

/// Factors of S, and room for solutions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triangle {
    lower: Vec<f64>,
    inverse: Vec<f64>,
    /// Squares of pivots and of rows, in the order of elimination.
    pub(crate) pivots: Vec<f64>,
    pub(crate) sizes: Vec<f64>,
    work: Vec<f64>,
}

impl Triangle {
    /// Factors S. False if a pivot is not positive.
    pub(crate) fn factor(&mut self, s: &Structure, schur: &[f64]) -> bool {
        wide(Factor { own: self, s, schur })
    }

    /// S⁻¹ times a vector over rows, in place.
    pub(crate) fn solve(&mut self, s: &Structure, x: &mut [f64]) {
        wide(Solve { own: self, s, x });
    }

    /// Both, to the bit.
    pub(crate) fn factor_and_solve(&mut self, s: &Structure, schur: &[f64], x: &mut [f64]) -> bool {
        if s.forest.is_empty() {
            let is_factored = self.factor(s, schur);
            self.solve(s, x);
            return is_factored;
        }
        wide(Climb { own: self, s, schur, x })
    }

    fn resize(&mut self, s: &Structure) {
        let m = s.order.len();
        let Triangle { lower, inverse, pivots, sizes, work } = self;
        [inverse, pivots, sizes, work].into_iter().for_each(|list| list.resize(m, 0.0));
        lower.resize(if s.forest.is_empty() { s.lower.entries() } else { m }, 0.0);
    }

    /// L of trees. `also` is done with each column, its entry and the place of that.
    #[inline(always)]
    fn climb(
        &mut self,
        s: &Structure,
        schur: &[f64],
        mut also: impl FnMut(&mut [f64], usize, usize, f64),
    ) -> bool {
        let Triangle { lower, inverse, pivots, sizes, work } = self;
        for (size, branch) in sizes.iter_mut().zip(&s.forest) {
            *size = schur[branch.diagonal as usize];
        }
        pivots.copy_from_slice(sizes);
        let mut is_positive = true;
        for (k, branch) in s.forest.iter().enumerate() {
            let (pivot, to) = (pivots[k], branch.to as usize);
            let mut l = 0.0;
            if branch.off != NOWHERE {
                let y = schur[branch.off as usize];
                l = y / pivot;
                pivots[to] = (-l).mul_add(y, pivots[to]);
            }
            (lower[k], inverse[k]) = (l, 1.0 / pivot);
            also(work, k, to, l);
            is_positive &= pivot > 0.0 && pivot < f64::INFINITY;
        }
        is_positive
    }

    /// What is left of the way back in trees.
    #[inline(always)]
    fn descend(&mut self, s: &Structure, x: &mut [f64]) {
        let Triangle { lower, inverse, work, .. } = self;
        for (k, (branch, l)) in s.forest.iter().zip(&*lower).enumerate().rev() {
            // Without an entry l is 0, and what is read is what is there.
            let value = (-l).mul_add(work[branch.to as usize], work[k] * inverse[k]);
            work[k] = value;
            x[branch.row as usize] = value;
        }
    }
}

struct Factor<'a> {
    own: &'a mut Triangle,
    s: &'a Structure,
    schur: &'a [f64],
}

impl Wide for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Factor { own, s, schur } = self;
        own.resize(s);
        if !s.forest.is_empty() {
            return own.climb(s, schur, |_, _, _, _| {});
        }
        let Triangle { lower, inverse, pivots, sizes, work } = own;
        work.fill(0.0);
        let mut is_positive = true;
        for k in 0..s.order.len() {
            let places = s.schur.range(k);
            let (columns, last) = (s.schur.row(k), places.end - 1);
            for (column, value) in columns.iter().zip(&schur[places.start..last]) {
                work[*column] = *value;
            }
            let whole = schur[last];
            let pivot = uplooking::row(&s.lower, k, whole, (lower, inverse, work));
            (pivots[k], sizes[k], inverse[k]) = (pivot, whole, 1.0 / pivot);
            is_positive &= pivot > 0.0 && pivot.is_finite();
        }
        is_positive
    }
}

struct Solve<'a> {
    own: &'a mut Triangle,
    s: &'a Structure,
    x: &'a mut [f64],
}

impl Wide for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Solve { own, s, x } = self;
        own.resize(s);
        for (own, &row) in own.work.iter_mut().zip(&s.order) {
            *own = x[row];
        }
        if !s.forest.is_empty() {
            let Triangle { lower, work, .. } = &mut *own;
            for ((k, branch), l) in s.forest.iter().enumerate().zip(&*lower) {
                forward(work, k, branch.to as usize, *l);
            }
            return own.descend(s, x);
        }
        let Triangle { lower, inverse, work, .. } = own;
        uplooking::solve((&s.lower, &s.order), (lower, inverse, work), x);
    }
}

struct Climb<'a> {
    own: &'a mut Triangle,
    s: &'a Structure,
    schur: &'a [f64],
    x: &'a mut [f64],
}

impl Wide for Climb<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Climb { own, s, schur, x } = self;
        own.resize(s);
        for (own, branch) in own.work.iter_mut().zip(&s.forest) {
            *own = x[branch.row as usize];
        }
        let is_positive = own.climb(s, schur, forward);
        own.descend(s, x);
        is_positive
    }
}

/// What a column of a tree takes from the right side of the one that it leads to.
#[inline(always)]
fn forward(work: &mut [f64], k: usize, to: usize, l: f64) {
    work[to] = (-l).mul_add(work[k], work[to]);
}
