//! Where the entries of a matrix are.

use crate::bodies::Bodies;
use std::ops::Range;
use std::sync::Arc;

/// The places of the entries of a matrix, row by row, columns in order. The entries themselves are
/// a list of as many numbers.
///
/// A Γ of [`bodies`](crate::bodies) has its diagonal as entries, and behind them in the list the
/// numbers of its links; products and rows are those of all of Γ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
    bodies: Option<Arc<Bodies>>,
}

impl Pattern {
    /// The Γ of bodies along a tree.
    pub fn of_bodies(bodies: Bodies) -> Pattern {
        let n = bodies.size();
        let diagonal = Pattern::new(n, (0..n).map(|i| [i]));
        Pattern { bodies: Some(Arc::new(bodies)), ..diagonal }
    }

    /// The bodies, if it is a Γ of such.
    pub fn bodies(&self) -> Option<&Arc<Bodies>> {
        self.bodies.as_ref()
    }

    /// A pattern with the columns of each row, in order.
    pub fn new<R: IntoIterator<Item = usize>>(
        columns: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Pattern {
        let mut pattern = Pattern { columns, starts: vec![0], ..Pattern::default() };
        for row in rows {
            pattern.push(row);
        }
        pattern
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = usize>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.indices.extend(row);
        self.starts.push(self.indices.len());
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of entries, with what stands behind them.
    pub fn entries(&self) -> usize {
        self.bodies.as_ref().map_or(self.indices.len(), |bodies| bodies.length())
    }

    /// Where the entries of a row are in the list of all.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The columns of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[usize] {
        &self.indices[self.range(row)]
    }

    /// The columns of all entries, row by row.
    #[inline]
    pub(crate) fn places(&self) -> &[usize] {
        &self.indices
    }

    /// A row with its numbers.
    #[inline]
    pub fn entries_of<'a>(
        &'a self,
        row: usize,
        values: &'a [f64],
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let own = self.range(row);
        self.indices[own.clone()].iter().copied().zip(values[own].iter().copied())
    }

    /// Where an entry is in the list of all.
    pub fn place(&self, row: usize, column: usize) -> Option<usize> {
        let found = self.row(row).binary_search(&column);
        found.ok().map(|at| self.starts[row] + at)
    }

    /// Some of its rows.
    pub fn pick(&self, rows: &[usize]) -> Pattern {
        Pattern::new(self.columns, rows.iter().map(|&row| self.row(row).iter().copied()))
    }

    /// For each column the rows that have it, with the places of their entries.
    pub(crate) fn by_columns(&self) -> Vec<Vec<(usize, usize)>> {
        let mut columns = vec![Vec::new(); self.columns];
        for row in 0..self.rows() {
            for at in self.range(row) {
                columns[self.indices[at]].push((row, at));
            }
        }
        columns
    }

    /// The matrix with all its zeros, row by row.
    pub fn dense(&self, values: &[f64]) -> Vec<f64> {
        if let Some(bodies) = &self.bodies {
            return bodies.dense(values);
        }
        let mut full = vec![0.0; self.rows() * self.columns];
        for row in 0..self.rows() {
            for (column, value) in self.entries_of(row, values) {
                full[row * self.columns + column] = value;
            }
        }
        full
    }

    /// Bounds on rounding, which are in the place of the entries, with all zeros. Those of bodies
    /// are by the entries themselves.
    pub fn dense_noise(&self, values: &[f64], noise: &[f64]) -> Vec<f64> {
        match &self.bodies {
            Some(bodies) => bodies.dense_noise(values),
            None => self.dense(noise),
        }
    }

    /// The matrix times a vector.
    pub fn multiply(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        if let Some(bodies) = &self.bodies {
            return bodies.multiply(values, x, out);
        }
        for (row, out) in out.iter_mut().enumerate().take(self.rows()) {
            *out = self.entries_of(row, values).map(|(column, a)| a * x[column]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_entries_and_places_agree() {
        let pattern = Pattern::new(4, [vec![0, 3], vec![], vec![1, 2, 3]]);
        assert_eq!((pattern.rows(), pattern.columns(), pattern.entries()), (3, 4, 5));
        assert_eq!(pattern.place(2, 2), Some(3));
        assert_eq!(pattern.place(1, 2), None);
        let full = pattern.dense(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(full, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0, 5.0]);
        assert_eq!(pattern.pick(&[2]).row(0), [1, 2, 3]);
        assert_eq!(pattern.by_columns()[3], [(0, 1), (2, 4)]);
    }
}
