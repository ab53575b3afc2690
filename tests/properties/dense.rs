//! Small dense matrices, enough to write formulas out.

use dalembert::gauss::linalg::{lu, svd::Svd};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub entries: Vec<f64>,
}

impl Matrix {
    pub fn new(rows: usize, columns: usize, entries: &[f64]) -> Matrix {
        assert_eq!(entries.len(), rows * columns);
        Matrix { rows, columns, entries: entries.to_vec() }
    }

    pub fn build(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let entries = (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect();
        Matrix { rows, columns, entries }
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.columns + j]
    }

    pub fn transposed(&self) -> Matrix {
        Matrix::build(self.columns, self.rows, |i, j| self.at(j, i))
    }

    pub fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.columns, other.rows);
        Matrix::build(self.rows, other.columns, |i, j| {
            (0..self.columns).map(|k| self.at(i, k) * other.at(k, j)).sum()
        })
    }

    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.columns, x.len());
        (0..self.rows).map(|i| (0..self.columns).map(|j| self.at(i, j) * x[j]).sum()).collect()
    }

    pub fn plus(&self, factor: f64, other: &Matrix) -> Matrix {
        Matrix::build(self.rows, self.columns, |i, j| self.at(i, j) + factor * other.at(i, j))
    }

    pub fn scaled(&self, factor: f64) -> Matrix {
        Matrix::build(self.rows, self.columns, |i, j| factor * self.at(i, j))
    }

    /// The inverse of a regular matrix.
    pub fn inverse(&self) -> Matrix {
        let n = self.rows;
        let (mut factors, mut order) = (self.entries.clone(), vec![0; n]);
        assert!(lu::factor(&mut factors, n, &mut order), "singular: {self:?}");
        let mut work = vec![0.0; n];
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|j| {
                let mut column = vec![0.0; n];
                column[j] = 1.0;
                lu::solve(&factors, n, &order, &mut column, &mut work);
                column
            })
            .collect();
        Matrix::build(n, n, |i, j| columns[j][i])
    }

    pub fn svd(&self) -> Svd {
        let mut svd = Svd::default();
        svd.decompose(&self.entries, self.rows, self.columns);
        svd
    }

    /// An orthonormal basis of the kernel, as columns, for a known rank.
    pub fn kernel(&self, rank: usize) -> Matrix {
        let n = self.columns;
        // Zero rows make the matrix tall, so that all right singular vectors come out.
        let mut tall = self.entries.clone();
        tall.resize(self.rows.max(n) * n, 0.0);
        let svd = Matrix::new(self.rows.max(n), n, &tall).svd();
        Matrix::build(n, n - rank, |i, j| svd.v[(rank + j) * n + i])
    }
}

pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

pub fn add(x: &[f64], factor: f64, y: &[f64]) -> Vec<f64> {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(a, b)| a + factor * b).collect()
}

pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}
