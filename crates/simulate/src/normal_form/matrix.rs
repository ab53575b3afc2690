//! A matrix as numbers: dense, or, where it is large and mostly zeros, its entries at the places of
//! a pattern.

use super::layout::pattern;
use dalembert_expr::Jacobian;
use dalembert_gauss::Pattern;
use dalembert_gauss::terms::{Patterns, row_of};
use std::sync::Arc;

/// A matrix.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Row by row: all of them, or those of the pattern.
    pub values: Vec<f64>,
    columns: usize,
    pattern: Option<Arc<Pattern>>,
}

impl Matrix {
    /// A dense matrix.
    pub fn dense(values: Vec<f64>, columns: usize) -> Matrix {
        Matrix { values, columns, pattern: None }
    }

    /// A matrix with the pattern of its values, if it has one.
    pub(crate) fn with_pattern(
        values: Vec<f64>,
        columns: usize,
        pattern: Option<Arc<Pattern>>,
    ) -> Matrix {
        Matrix { values, columns, pattern }
    }

    /// The values of a matrix of expressions, sparse or not.
    pub(crate) fn of(matrix: &Jacobian, values: Vec<f64>, is_sparse: bool) -> Matrix {
        match is_sparse {
            true => {
                Matrix { values, columns: matrix.columns, pattern: Some(Arc::new(pattern(matrix))) }
            }
            false => Matrix::dense(super::dense(matrix, &values), matrix.columns),
        }
    }

    /// The identity.
    pub fn identity(n: usize, is_sparse: bool) -> Matrix {
        let pattern = is_sparse.then(|| Arc::new(Pattern::new(n, (0..n).map(|i| [i]))));
        let values = match is_sparse {
            true => vec![1.0; n],
            false => (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect(),
        };
        Matrix { values, columns: n, pattern }
    }

    /// Where its entries are, if it is not dense.
    pub(crate) fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.pattern.as_ref()
    }

    /// Whether it is dense.
    pub(crate) fn is_dense(&self) -> bool {
        self.pattern.is_none()
    }

    /// The patterns of a problem with this metric and these rows; both are dense, or none is.
    pub(crate) fn patterns<'a>(&'a self, rows: &'a Matrix) -> Option<Patterns<'a>> {
        Some(Patterns { metric: self.pattern()?, jacobian: rows.pattern()? })
    }

    /// The entries of a row: (column, entry).
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        row_of(&self.values, self.columns, self.pattern.as_ref(), row)
    }

    /// An entry.
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        match &self.pattern {
            Some(pattern) => pattern.place(row, column).map_or(0.0, |at| self.values[at]),
            None => self.values[row * self.columns + column],
        }
    }

    /// It times a vector.
    pub(crate) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        match &self.pattern {
            Some(pattern) => pattern.multiply(&self.values, x, out),
            None => dalembert_gauss::linalg::multiply(&self.values, self.columns, x, out),
        }
    }

    /// It with all its zeros.
    pub(crate) fn with_zeros(self) -> Matrix {
        match &self.pattern {
            Some(pattern) => Matrix::dense(pattern.dense(&self.values), self.columns),
            None => self,
        }
    }

    /// The rows and columns of a square one that are listed, in order.
    pub(crate) fn square(self, chosen: &[usize]) -> Matrix {
        let all = self.columns;
        if chosen.len() == all && chosen.iter().copied().eq(0..all) {
            return self;
        }
        let columns = chosen.len();
        if let Some(bodies) = self.pattern.as_ref().and_then(|pattern| pattern.bodies()) {
            let (bodies, values) = bodies.pick(&self.values, chosen);
            let pattern = Some(Arc::new(Pattern::of_bodies(bodies)));
            return Matrix { values, columns, pattern };
        }
        let Some(pattern) = &self.pattern else {
            let entries = chosen.iter().flat_map(|&i| chosen.iter().map(move |&j| i * all + j));
            return Matrix::dense(entries.map(|at| self.values[at]).collect(), columns);
        };
        let mut place = vec![usize::MAX; all];
        chosen.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut values = Vec::new();
        let mut rows: Vec<Vec<usize>> = Vec::with_capacity(columns);
        for &i in chosen {
            let own = pattern.entries_of(i, &self.values);
            let own = own.filter(|(j, _)| place[*j] != usize::MAX);
            let mut row = Vec::new();
            for (j, value) in own {
                row.push(place[j]);
                values.push(value);
            }
            rows.push(row);
        }
        Matrix { values, columns, pattern: Some(Arc::new(Pattern::new(columns, rows))) }
    }

    /// In each coordinate, what a vector that has the length of `x` in this metric would be if it
    /// lay along it; 0 where there is no such.
    pub(crate) fn reach(&self, x: &[f64]) -> Vec<f64> {
        let mut moved = vec![0.0; x.len()];
        self.multiply(x, &mut moved);
        let square: f64 = x.iter().zip(&moved).map(|(x, y)| x * y).sum();
        let length = |i: usize| (square / self.entry(i, i)).sqrt();
        (0..x.len()).map(length).map(|s| if s.is_finite() { s } else { 0.0 }).collect()
    }
}
