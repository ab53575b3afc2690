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
                for j in 0..n {
                    lu.swap(column * n + j, pivot * n + j);
                }
            }
            let inverse = 1.0 / lu[column * n + column];
            for row in column + 1..n {
                let factor = lu[row * n + column] * inverse;
                lu[row * n + column] = factor;
                for j in column + 1..n {
                    lu[row * n + j] -= factor * lu[column * n + j];
                }
            }
        }
    }

    /// Solves for a right side, given by its components.
    pub(crate) fn solve(&mut self, right: impl Fn(usize) -> f64) {
        let Lu { lu, order, solution: x } = self;
        let n = order.len();
        x.iter_mut().zip(order.iter()).for_each(|(place, &i)| *place = right(i));
        for i in 0..n {
            for j in 0..i {
                x[i] -= lu[i * n + j] * x[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= lu[i * n + j] * x[j];
            }
            x[i] /= lu[i * n + i];
        }
    }
}
