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
    /// value there. The same seed and point give the same answer.
    pub fn rank_exact(&self, matrix: &Jacobian, seed: u64, point: u32) -> Option<RankAt> {
        let modular = Modular::new(seed, point);
        let values = self.evaluate(&modular, &entries(matrix), |s| modular.symbol(s));
        let values: Vec<u64> =
            values.into_iter().map(|v| v.map(|r| r[0])).collect::<Option<_>>()?;
        let mut dense = rows(matrix, &values, 0);
        let mut found = RankAt::default();
        for row in 0..dense.len() {
            for (&other, &column) in found.rows.iter().zip(&found.columns) {
                let factor = dense[row][column];
                if factor != 0 {
                    let (pivot, this) = two(&mut dense, other, row);
                    modular.subtract(this, pivot, factor);
                }
            }
            if let Some(column) = dense[row].iter().position(|&x| x != 0) {
                modular.normalize(&mut dense[row], column);
                found.rows.push(row);
                found.columns.push(column);
            }
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
    /// radius); `None` where an entry has no value there.
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
        let mut dense = rows(matrix, &values, zero);
        let mut found = RankAt::default();
        for row in 0..dense.len() {
            for (&other, &column) in found.rows.iter().zip(&found.columns) {
                let here = dense[row][column];
                if Doubles.sign(&here) == BallSign::Zero {
                    continue;
                }
                let factor =
                    Doubles.mul(&here, &Doubles.inverse(&dense[other][column]).ok()?).ok()?;
                let factor = Doubles.neg(&factor);
                let (pivot, this) = two(&mut dense, other, row);
                for (x, y) in this.iter_mut().zip(pivot.iter()) {
                    if Doubles.sign(y) != BallSign::Zero {
                        *x = Doubles.add(x, &Doubles.mul(&factor, y).ok()?).ok()?;
                    }
                }
                this[column] = zero;
            }
            let certain = |ball: &DoubleBall| {
                matches!(Doubles.sign(ball), BallSign::Negative | BallSign::Positive)
            };
            let mut best: Option<usize> = None;
            for (column, ball) in dense[row].iter().enumerate() {
                if certain(ball)
                    && best.is_none_or(|b| ball.middle.abs() > dense[row][b].middle.abs())
                {
                    best = Some(column);
                }
            }
            if let Some(column) = best {
                found.rows.push(row);
                found.columns.push(column);
            }
        }
        Some(found)
    }
}

fn entries(matrix: &Jacobian) -> Vec<ExprId> {
    matrix.rows.iter().flatten().map(|e| e.1).collect()
}

/// Values in their places.
fn rows<T: Copy>(matrix: &Jacobian, values: &[T], zero: T) -> Vec<Vec<T>> {
    let mut next = values.iter();
    let mut dense = vec![vec![zero; matrix.columns]; matrix.rows.len()];
    for (row, list) in dense.iter_mut().zip(&matrix.rows) {
        for &(column, _) in list {
            if let Some(&value) = next.next() {
                row[column] = value;
            }
        }
    }
    dense
}

/// An earlier row, and a later one to change.
fn two<T>(dense: &mut [Vec<T>], first: usize, second: usize) -> (&[T], &mut [T]) {
    let (before, after) = dense.split_at_mut(second);
    (&before[first], &mut after[0])
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
