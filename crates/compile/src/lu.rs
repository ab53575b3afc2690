//! Gaussian elimination with row pivoting, for the small matrices of `solve` nodes.

use crate::tape::{Matrix, Register};

/// A factored matrix and the last solution. A singular matrix gives infinities or NaN in what is
/// solved with it.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    lu: Vec<f64>,
    order: Vec<usize>,
    /// x of the last K x = r.
    pub(crate) solution: Vec<f64>,
}

impl Lu {
    /// Room for a matrix with so many rows.
    pub(crate) fn new(n: usize) -> Lu {
        Lu { lu: vec![0.0; n * n], order: vec![0; n], solution: vec![0.0; n] }
    }

    /// Factors a matrix, given by its entries and the values of their registers.
    pub(crate) fn factor(&mut self, matrix: &Matrix, value: impl Fn(Register) -> f64) {
        let Lu { lu, order, .. } = self;
        let n = order.len();
        lu.fill(0.0);
        for entry in &matrix.entries {
            lu[entry.row as usize * n + entry.column as usize] = value(entry.register);
        }
        order.iter_mut().enumerate().for_each(|(i, place)| *place = i);
        for column in 0..n {
            let mut pivot = column;
            for row in column + 1..n {
                if lu[row * n + column].abs() > lu[pivot * n + column].abs() {
                    pivot = row;
                }
            }
            if pivot != column {
                order.swap(column, pivot);
                let (upper, lower) = lu.split_at_mut(pivot * n);
                upper[column * n..][..n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = lu.split_at_mut((column + 1) * n);
            let (head, tail) = upper[column * n..].split_at(column + 1);
            let inverse = 1.0 / head[column];
            for row in lower.chunks_exact_mut(n) {
                let (own, rest) = row.split_at_mut(column + 1);
                own[column] *= inverse;
                rest.iter_mut().zip(tail).for_each(|(a, b)| *a -= own[column] * b);
            }
        }
    }

    /// Solves for a right side, given by its components.
    pub(crate) fn solve(&mut self, right: impl Fn(usize) -> f64) {
        let Lu { lu, order, solution: x } = self;
        let n = order.len();
        x.iter_mut().zip(order.iter()).for_each(|(place, &i)| *place = right(i));
        // By columns, so that one row does not wait for another; each has its terms in the order
        // of the columns all the same.
        for j in 0..n {
            let (done, rest) = x.split_at_mut(j + 1);
            for (place, row) in rest.iter_mut().zip(lu[(j + 1) * n..].chunks_exact(n)) {
                *place -= row[j] * done[j];
            }
        }
        for i in (0..n).rev() {
            let row = &lu[i * n..][..n];
            let terms = row[i + 1..].iter().zip(&x[i + 1..]);
            x[i] = terms.fold(x[i], |sum, (a, b)| sum - a * b) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Entry;
    use dalembert_expr::Random;

    /// The elimination as a book has it: what is done to each number, in which order.
    fn plainly(n: usize, a: &[f64], right: &[f64]) -> Vec<f64> {
        let (mut a, mut x) = (a.to_vec(), right.to_vec());
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
            x.swap(k, pivot);
            for i in k + 1..n {
                a[i * n + k] *= 1.0 / a[k * n + k];
                for j in k + 1..n {
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                x[i] -= a[i * n + j] * x[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= a[i * n + j] * x[j];
            }
            x[i] /= a[i * n + i];
        }
        x
    }

    /// Backends differ in how they do it, not in what.
    #[test]
    fn every_number_has_its_terms_in_one_order() {
        let mut random = Random::new(4);
        for turn in 0..3000 {
            let n = turn % 9;
            let number = |random: &mut Random| match random.below(4) {
                0 => [0.0, -0.0, 1.0, -1.0][random.below(4)],
                _ => random.signed(),
            };
            let a: Vec<f64> = (0..n * n).map(|_| number(&mut random)).collect();
            let right: Vec<f64> = (0..n).map(|_| number(&mut random)).collect();
            let entry = |at: usize| Entry {
                row: (at / n) as u32,
                column: (at % n) as u32,
                register: at as Register,
            };
            let matrix = Matrix { size: n, entries: (0..n * n).map(entry).collect() };
            let mut lu = Lu::new(n);
            lu.factor(&matrix, |r| a[r as usize]);
            lu.solve(|i| right[i]);
            for (found, expected) in lu.solution.iter().zip(plainly(n, &a, &right)) {
                let same = found.to_bits() == expected.to_bits();
                assert!(same || (found.is_nan() && expected.is_nan()), "{found:e} {expected:e}");
            }
        }
    }
}
