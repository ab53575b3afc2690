//! The rank of a matrix of expressions, bounded from both sides.
//!
//! *From above*, exactly: at a random point of a finite field (`modular.rs`) only
//! true laws hold, so a minor that is 0 for every state is 0 there too, and the
//! rank found is at least the generic one with the stated probability (Schwartz
//! and Zippel, on the minor). For matrices of rational functions it *is* the
//! generic rank.
//!
//! *From below*, certified: at a real point in balls of doubles ([`crate::ball`])
//! a pivot counts only if its ball does not hold 0. The point may be a ball itself,
//! for points on a surface that are known to rounding; then the rank holds for
//! every point of it.
//!
//! Where both agree, the rank is settled.

use crate::arena::{ExprId, Exprs};
use crate::ball::{BallSign, Balls, DoubleBall, Doubles, Enclose, Enclosed};
use crate::forward::Jacobian;
use crate::modular::{BITS, Modular};
use crate::symbol::Symbol;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Independent rows of a matrix at one point, with the columns of their pivots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankAt {
    /// The first rows that are independent, in order.
    pub rows: Vec<usize>,
    /// As many columns in which they are.
    pub columns: Vec<usize>,
}

impl RankAt {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.rows.len()
    }
}

impl Exprs {
    /// The rank at a random point of a finite field; `None` where an entry has no
    /// value there, or where so much fills in that it is not found out. The same seed and point
    /// give the same answer.
    pub fn rank_exact(&self, matrix: &Jacobian, seed: u64, point: u32) -> Option<RankAt> {
        let modular = Modular::new(seed, point);
        let values = self.evaluate(&modular, &entries(matrix), |s| modular.symbol(s));
        let values: Vec<u64> =
            values.into_iter().map(|v| v.map(|r| r[0])).collect::<Option<_>>()?;
        let (mut echelon, later) = (Echelon::new(matrix.columns, 0), Later::new(matrix));
        let mut found = RankAt::default();
        for (row, entries) in placed(matrix, &values).enumerate() {
            // Pivots are 1.
            let factor = |here: &u64, _: &u64| Some(modular.negative(*here));
            let add = |x: &u64, factor: &u64, y: &u64| Some(modular.fused(*factor, *y, *x));
            let mut rest = echelon.reduce(entries, |x| *x == 0, factor, add)?;
            let least = rest.iter().min_by_key(|entry| later.cost(row, entry.0));
            let Some(&(column, pivot)) = least else { continue };
            let scale = modular.reciprocal(pivot);
            rest.iter_mut().for_each(|entry| entry.1 = modular.fused(entry.1, scale, 0));
            echelon.keep(rest, column)?;
            found.rows.push(row);
            found.columns.push(column);
        }
        Some(found)
    }

    /// A bound on the probability that [`rank_exact`](Exprs::rank_exact) is below the
    /// generic rank at each of several points.
    pub fn rank_chance(&self, matrix: &Jacobian, points: u32) -> f64 {
        let profiles = self.arena.lock().profiles(&entries(matrix));
        // A minor has one entry of each row in each term.
        let degree: f64 = profiles.iter().fold(0.0, |sum, p| sum + p.degree);
        (degree / 2f64.powi(BITS)).min(1.0).powi(points as i32)
    }

    /// Whether all entries are rational functions of their symbols, so that the exact
    /// rank is no bound but the rank.
    pub fn is_rational(&self, matrix: &Jacobian) -> bool {
        self.arena.lock().profiles(&entries(matrix)).iter().all(|p| p.rational)
    }

    /// The rank that is certain at a real point, each symbol given as (value,
    /// radius); `None` where an entry has no value there, or where too much fills in.
    pub fn rank_near(
        &self,
        matrix: &Jacobian,
        mut symbol: impl FnMut(Symbol) -> (f64, f64),
    ) -> Option<RankAt> {
        let balls = Balls(Doubles);
        let values = self.evaluate(&balls, &entries(matrix), |s| {
            let (middle, radius) = symbol(s);
            Doubles.about(middle, radius)
        });
        let values: Vec<DoubleBall> =
            values.into_iter().collect::<Enclosed<Vec<DoubleBall>>>().ok()?;
        let zero = Doubles.about(0.0, 0.0).ok()?;
        let (mut echelon, later) = (Echelon::new(matrix.columns, zero), Later::new(matrix));
        let mut found = RankAt::default();
        for (row, entries) in placed(matrix, &values).enumerate() {
            let is_zero = |ball: &DoubleBall| Doubles.sign(ball) == BallSign::Zero;
            let factor = |here: &DoubleBall, pivot: &DoubleBall| {
                let quotient = Doubles.mul(here, &Doubles.inverse(pivot).ok()?).ok()?;
                Some(Doubles.neg(&quotient))
            };
            let add = |x: &DoubleBall, factor: &DoubleBall, y: &DoubleBall| {
                Doubles.add(x, &Doubles.mul(factor, y).ok()?).ok()
            };
            let rest = echelon.reduce(entries, is_zero, factor, add)?;
            let certain = |ball: &DoubleBall| {
                matches!(Doubles.sign(ball), BallSign::Negative | BallSign::Positive)
            };
            let sizes = rest.iter().filter(|entry| certain(&entry.1));
            let sizes = sizes.map(|(column, ball)| (*column, ball.middle.abs()));
            let largest = sizes.clone().fold(0f64, |most, entry| most.max(entry.1));
            let large = sizes.filter(|entry| entry.1 >= later.share() * largest);
            let best = large.min_by_key(|entry| later.cost(row, entry.0));
            if let Some((column, _)) = best {
                echelon.keep(rest, column)?;
                found.rows.push(row);
                found.columns.push(column);
            }
        }
        Some(found)
    }
}

/// Entries that may be kept of reduced rows, and operations that may be spent on them: a matrix
/// that fills in beyond these is not ranked.
const MOST: (usize, usize) = (1 << 22, 1 << 25);

/// Rows reduced by those before them, one after the other, where they have entries.
struct Echelon<T> {
    rows: Vec<Kept<T>>,
    /// By column: the row that has its pivot there.
    pivot_in: Vec<Option<usize>>,
    /// The row at hand: a value for each column, and the columns that it has.
    work: Vec<T>,
    is_touched: Vec<bool>,
    touched: Vec<usize>,
    zero: T,
    entries: usize,
    operations: usize,
}

/// Matrices of fewer columns take their pivots as they stand.
const WIDE: usize = 256;
/// In others a pivot may be so much less than the largest.
const SHARE: f64 = 0.1;

/// In how many later rows a column has entries: where there are none, nothing fills in (H. M.
/// Markowitz, The elimination form of the inverse, Management Sci. 3, 1957).
struct Later {
    /// The rows of each column, ascending; none in narrow matrices.
    rows: Vec<Vec<usize>>,
}

impl Later {
    fn new(matrix: &Jacobian) -> Later {
        if matrix.columns < WIDE {
            return Later { rows: Vec::new() };
        }
        let mut rows = vec![Vec::new(); matrix.columns];
        for (at, row) in matrix.rows.iter().enumerate() {
            row.iter().for_each(|entry| rows[entry.0].push(at));
        }
        Later { rows }
    }

    /// What a pivot costs those after its row.
    fn cost(&self, row: usize, column: usize) -> usize {
        let rows = self.rows.get(column);
        rows.map_or(0, |rows| rows.len() - rows.partition_point(|&other| other <= row))
    }

    /// The least part of the largest that a pivot is.
    fn share(&self) -> f64 {
        if self.rows.is_empty() { 1.0 } else { SHARE }
    }
}

/// A reduced row, ascending by column, with its pivot.
struct Kept<T> {
    entries: Vec<(usize, T)>,
    column: usize,
    pivot: T,
}

impl<T: Copy> Echelon<T> {
    fn new(columns: usize, zero: T) -> Echelon<T> {
        Echelon {
            rows: Vec::new(),
            pivot_in: vec![None; columns],
            work: vec![zero; columns],
            is_touched: vec![false; columns],
            touched: Vec::new(),
            zero,
            entries: 0,
            operations: 0,
        }
    }

    /// What the rows before leave of a row: x ← x + factor(here, pivot) · y for each of them in
    /// turn. `None` where a number cannot be formed, or where it takes too much.
    fn reduce(
        &mut self,
        row: impl Iterator<Item = (usize, T)>,
        is_zero: impl Fn(&T) -> bool,
        factor: impl Fn(&T, &T) -> Option<T>,
        add: impl Fn(&T, &T, &T) -> Option<T>,
    ) -> Option<Vec<(usize, T)>> {
        // A row that reduces brings in pivots of later ones only, so ascending order is enough.
        let mut next: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        for (column, value) in row {
            self.work[column] = value;
            self.touch(column, &mut next);
        }
        while let Some(Reverse(by)) = next.pop() {
            let column = self.rows[by].column;
            if is_zero(&self.work[column]) {
                continue;
            }
            let factor = factor(&self.work[column], &self.rows[by].pivot)?;
            let count = self.rows[by].entries.len();
            self.operations += count;
            if self.operations > MOST.1 {
                return None;
            }
            for at in 0..count {
                let (column, y) = self.rows[by].entries[at];
                self.work[column] = add(&self.work[column], &factor, &y)?;
                self.touch(column, &mut next);
            }
            self.work[column] = self.zero;
        }
        self.touched.sort_unstable();
        let mut rest = Vec::with_capacity(self.touched.len());
        for column in self.touched.drain(..) {
            self.is_touched[column] = false;
            let value = std::mem::replace(&mut self.work[column], self.zero);
            if !is_zero(&value) {
                rest.push((column, value));
            }
        }
        Some(rest)
    }

    fn touch(&mut self, column: usize, next: &mut BinaryHeap<Reverse<usize>>) {
        if !std::mem::replace(&mut self.is_touched[column], true) {
            self.touched.push(column);
            next.extend(self.pivot_in[column].map(Reverse));
        }
    }

    /// Keeps a reduced row with its pivot in a column.
    fn keep(&mut self, entries: Vec<(usize, T)>, column: usize) -> Option<()> {
        let at = entries.binary_search_by_key(&column, |entry| entry.0).ok()?;
        self.entries += entries.len();
        self.pivot_in[column] = Some(self.rows.len());
        let pivot = entries[at].1;
        self.rows.push(Kept { entries, column, pivot });
        (self.entries <= MOST.0).then_some(())
    }
}

fn entries(matrix: &Jacobian) -> Vec<ExprId> {
    matrix.rows.iter().flatten().map(|e| e.1).collect()
}

/// The values of each row in their columns.
fn placed<T: Copy>(
    matrix: &Jacobian,
    values: &[T],
) -> impl Iterator<Item = impl Iterator<Item = (usize, T)>> {
    let mut first = 0;
    matrix.rows.iter().map(move |row| {
        let own = &values[first..first + row.len()];
        first += row.len();
        row.iter().map(|entry| entry.0).zip(own.iter().copied())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: Vec<Vec<ExprId>>) -> Jacobian {
        let columns = rows[0].len();
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().enumerate().filter(|e| e.1 != ExprId::ZERO).collect())
            .collect();
        Jacobian { rows, columns }
    }

    #[test]
    fn both_bounds_agree_on_a_dependent_row() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let one = exprs.integer(1);
        // The third row is cos x · first + sin y · second, written otherwise.
        let first = [x, y * y, one];
        let second = [y, x.sin(), x];
        let third: Vec<ExprId> =
            (0..3).map(|j| (first[j] * x.cos() + second[j] * y.sin()).id).collect();
        let ids = |row: [crate::Expr<'_>; 3]| row.iter().map(|e| e.id).collect::<Vec<_>>();
        let dependent = matrix(vec![ids(first), ids(second), third.clone()]);
        for point in 0..3 {
            assert_eq!(exprs.rank_exact(&dependent, 7, point).unwrap().rows, [0, 1]);
        }
        assert!(exprs.rank_chance(&dependent, 3) < 1e-30);
        let near = |radius| exprs.rank_near(&dependent, |s| (0.3 + s.index() as f64, radius));
        assert_eq!(near(0.0).unwrap().rows, [0, 1]);
        assert_eq!(near(1e-12).unwrap().rows, [0, 1]);
        // A small change of one entry makes it independent, and both notice.
        let mut other = third;
        other[1] = (exprs.at(other[1]) + x * y / 1_000_000).id;
        let regular = matrix(vec![ids(first), ids(second), other]);
        assert_eq!(exprs.rank_exact(&regular, 7, 0).unwrap().rank(), 3);
        let near = |radius| exprs.rank_near(&regular, |s| (0.3 + s.index() as f64, radius));
        assert_eq!(near(1e-12).unwrap().rank(), 3);
        // From a wide ball nothing of the kind is certain.
        assert!(near(1e-3).unwrap().rank() < 3);
    }

    /// A chain of thousands of links, with every row twice: what is dense would not fit.
    #[test]
    fn a_long_chain_is_ranked() {
        let (exprs, n) = (Exprs::new(), 4000);
        // Columns of one kind first, as models name them: all x, then all y.
        let place = |k: usize| (k % 2) * n + k / 2;
        let x: Vec<_> = (0..2 * n).map(|i| exprs.variable(&format!("x{i}"))).collect();
        let row = |k: usize| -> Vec<(usize, ExprId)> {
            let before = (0..2).filter(|_| k > 0).map(|c| (2 * k + c - 2, x[2 * k + c] * 3));
            let own = (0..2).map(|c| (2 * k + c, x[2 * k + c]));
            let mut row: Vec<(usize, ExprId)> =
                before.chain(own).map(|(column, entry)| (place(column), entry.id)).collect();
            row.sort_unstable();
            row
        };
        let rows: Vec<_> = (0..n).flat_map(|k| [row(k), row(k)]).collect();
        let matrix = Jacobian { rows, columns: 2 * n };
        let right: Vec<usize> = (0..n).map(|k| 2 * k).collect();
        assert_eq!(exprs.rank_exact(&matrix, 3, 0).unwrap().rows, right);
        let near = exprs.rank_near(&matrix, |s| (1.0 + (s.index() as f64).sin() / 2.0, 1e-15));
        assert_eq!(near.unwrap().rows, right);
    }

    #[test]
    fn a_law_that_the_field_does_not_know_shows_in_the_lower_bound() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        // √(x²) = |x| for every x, which the field cannot tell.
        let entry = (x.powi(2).sqrt() - x.abs() + exprs.integer(0)).id;
        let m = matrix(vec![vec![entry]]);
        let near = exprs.rank_near(&m, |_| (0.7, 0.0)).unwrap();
        assert_eq!(near.rank(), 0);
    }
}
