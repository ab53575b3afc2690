//! How far the rows in use are from depending on each other.
//!
//! The ranks are decided on rows of unit length. On the way to a position in which a row
//! vanishes that shows nothing until the very end, so here each row keeps the length it
//! had at most. The margin is the last entry on the diagonal of a pivoted QR of these
//! rows, in coordinates of equal mass: about the smallest singular value, which falls like
//! |t − t*|.

use crate::noise::state::units;
use crate::program::field::Field;
use dalembert_gauss::linalg::{qr, zeros};

/// The largest length of each row so far.
#[derive(Clone, Debug, Default)]
pub struct Margins {
    longest: Vec<f64>,
    /// 1/√Γ_ii where it was first seen, or nearby: a mass that grows without bound is no loss of rank.
    units: Vec<f64>,
    matrix: Vec<f64>,
    tau: Vec<f64>,
    pivots: Vec<usize>,
    work: Vec<f64>,
}

impl Margins {
    /// Forgets the rows that were seen.
    pub fn forget(&mut self) {
        self.longest.clear();
        self.units.clear();
    }

    /// Rows of the field in coordinates of equal mass: transposed, n × count.
    fn load(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Option<usize> {
        let n = field.size;
        field.matrices(t, x).ok()?;
        let jacobian = field.last_matrices().1;
        let rows = field.rows();
        let count = rows.len();
        zeros(&mut self.matrix, n * count);
        self.set_units(field);
        for (k, &row) in rows.iter().enumerate() {
            for (i, a) in field.row(jacobian, row) {
                self.matrix[i * count + k] = self.units[i] * a;
            }
        }
        self.matrix.iter().all(|a| a.is_finite()).then_some(count)
    }

    fn set_units(&mut self, field: &Field) {
        if self.units.len() != field.size {
            self.units = units(|i| field.last_mass(i), &field.noise().inertia, field.size);
            self.units.iter_mut().filter(|unit| **unit == 0.0).for_each(|unit| *unit = 1.0);
        }
        self.longest.resize(field.equations.rows.len(), 0.0);
    }

    /// The margin of large matrices, by the pivots of their factors; `is_marked` takes the rows'
    /// lengths into account.
    fn of_large(&mut self, field: &mut Field, t: f64, x: &[f64], is_marked: bool) -> Option<f64> {
        field.matrices(t, x).ok()?;
        self.set_units(field);
        if is_marked {
            let jacobian = field.last_matrices().1;
            for &row in field.rows() {
                let own = field.row(jacobian, row).map(|(i, a)| self.units[i] * a);
                let length = own.map(|a| a * a).sum::<f64>().sqrt();
                self.longest[row] = self.longest[row].max(length);
            }
        }
        self.work.clear();
        self.work.extend(field.rows().iter().map(|&row| self.longest[row]));
        field.margin(&self.work)
    }

    /// The margin at a state on the way, whose rows' lengths are taken into account.
    pub fn mark(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Option<f64> {
        if field.patterns().is_some() {
            return self.of_large(field, t, x, true);
        }
        let count = self.load(field, t, x)?;
        let mut length = 0.0;
        for (k, &row) in field.rows().iter().enumerate() {
            let column = (0..field.size).map(|i| self.matrix[i * count + k]);
            length = column.map(|a| a * a).sum::<f64>().sqrt();
            self.longest[row] = self.longest[row].max(length);
        }
        // One row is as far from depending on others as it is long.
        if let [row] = *field.rows() {
            let longest = self.longest[row];
            return Some(if longest > 0.0 { length / longest } else { length });
        }
        let steps = self.factor_loaded(field, count);
        Some(steps.checked_sub(1).map_or(1.0, |k| self.matrix[k * count + k].abs()))
    }

    /// Factors the rows at a state; the number of pivots.
    fn factor(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Option<usize> {
        let count = self.load(field, t, x)?;
        Some(self.factor_loaded(field, count))
    }

    fn factor_loaded(&mut self, field: &Field, count: usize) -> usize {
        for (k, &row) in field.rows().iter().enumerate() {
            let longest = self.longest[row];
            if longest > 0.0 {
                (0..field.size).for_each(|i| self.matrix[i * count + k] /= longest);
            }
        }
        zeros(&mut self.tau, field.size.min(count));
        self.pivots.resize(count, 0);
        let (tau, pivots) = (&mut self.tau, &mut self.pivots);
        qr::factor_pivoted(&mut self.matrix, field.size, count, tau, pivots)
    }

    /// The margin at a state, of the rows in use; 1 if there are none.
    pub fn margin(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Option<f64> {
        if field.patterns().is_some() {
            return self.of_large(field, t, x, false);
        }
        let steps = self.factor(field, t, x)?;
        let count = field.rows().len();
        Some(steps.checked_sub(1).map_or(1.0, |k| self.matrix[k * count + k].abs()))
    }

    /// Rows that are independent beyond a margin, as many as there are, and those of all that
    /// depend on others; by their place in the equations.
    pub fn split(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &[f64],
        margin: f64,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let steps = self.factor(field, t, x)?;
        let count = field.rows().len();
        let rank = (0..steps).take_while(|k| self.matrix[k * count + k].abs() > margin).count();
        let mut dependent = vec![false; count];
        for k in rank..count {
            dependent[self.pivots[k]] = true;
            zeros(&mut self.work, rank);
            for i in 0..rank {
                self.work[i] = self.matrix[i * count + k];
            }
            qr::solve_upper(&self.matrix, count, rank, &mut self.work);
            for (i, weight) in self.work.iter().enumerate().take(rank) {
                dependent[self.pivots[i]] |= weight.abs() > margin;
            }
        }
        let rows = field.rows().iter().zip(&dependent).filter(|(_, d)| **d);
        let mut kept: Vec<usize> = self.pivots[..rank].iter().map(|&k| field.rows()[k]).collect();
        kept.sort_unstable();
        Some((kept, rows.map(|(&row, _)| row).collect()))
    }
}
