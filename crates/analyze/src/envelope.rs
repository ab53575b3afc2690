//! Least squares of sparse rows by their normal matrix, in an envelope.
//!
//! ```text
//! A Aᵀ = L D Lᵀ ,   A⁺ r = Aᵀ (A Aᵀ)⁻¹ r ,   the part of x in ker A: x − A⁺ A x
//! ```
//!
//! L has entries from the first row that shares a column with its own on (A. Jennings, A compact
//! storage scheme for the solution of symmetric linear simultaneous equations, Comput. J. 9, 1966):
//! for chains and trees with rows in the order of their columns, a few a row. Squaring A halves the digits,
//! which Newton's method makes good; rows that are dependent to half of the digits are left out.

use dalembert_expr::Jacobian;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_simulate::normal_form::dense;

/// Entries of L that may be kept, and products that a factorization may take.
const MOST: (usize, usize) = (1 << 22, 1 << 27);
/// A pivot below this part of its row's square is none: the row follows from those before.
const DEPENDENT: f64 = 1e-12;

/// The envelope of rows whose places do not change.
pub struct Envelope {
    /// Rows in the order in which they are factored: by their first columns.
    order: Vec<usize>,
    /// The columns of each row, in that order as all that follows.
    columns: Vec<Vec<usize>>,
    /// For each row the first one of its envelope, and where its entries begin.
    first: Vec<usize>,
    begin: Vec<usize>,
    /// Rows with a column in common with each row, up to itself.
    meets: Vec<Vec<usize>>,
    /// L below its diagonal, row by row, and D; 0 where a row is left out.
    lower: Vec<f64>,
    pivots: Vec<f64>,
    /// The entries of A as they were given, and where those of each row begin.
    values: Vec<f64>,
    starts: Vec<usize>,
    n: usize,
}

impl Envelope {
    /// The envelope of the places of a matrix; `None` where it has too many entries.
    pub fn new(matrix: &Jacobian) -> Option<Envelope> {
        let m = matrix.rows.len();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by_key(|&row| matrix.rows[row].first().map(|entry| entry.0));
        let places = |&row: &usize| matrix.rows[row].iter().map(|entry| entry.0).collect();
        let columns: Vec<Vec<usize>> = order.iter().map(places).collect();
        let mut of_column: Vec<Vec<usize>> = vec![Vec::new(); matrix.columns];
        let (mut first, mut begin, mut meets) = (Vec::new(), vec![0], Vec::with_capacity(m));
        let (mut pairs, mut products) = (0, 0usize);
        for (row, own) in columns.iter().enumerate() {
            own.iter().for_each(|&column| of_column[column].push(row));
            let mut met: Vec<usize> = own.iter().flat_map(|&c| &of_column[c]).copied().collect();
            met.sort_unstable();
            met.dedup();
            pairs += met.len();
            let from = met.first().copied().unwrap_or(row);
            first.push(from);
            let end = begin[row] + (row - from);
            products = products.saturating_add((row - from).saturating_pow(2));
            if end.max(pairs) > MOST.0 || products > MOST.1 {
                return None;
            }
            begin.push(end);
            meets.push(met);
        }
        let mut next = 0;
        let given: Vec<usize> = matrix
            .rows
            .iter()
            .map(|row| {
                next += row.len();
                next - row.len()
            })
            .collect();
        let starts = order.iter().map(|&row| given[row]).collect();
        Some(Envelope {
            lower: vec![0.0; begin[m]],
            pivots: vec![0.0; m],
            values: Vec::new(),
            n: matrix.columns,
            order,
            columns,
            first,
            begin,
            meets,
            starts,
        })
    }

    /// Factors rows with these entries. How many of them are independent.
    pub fn factor(&mut self, values: &[f64]) -> usize {
        self.values.clear();
        self.values.extend_from_slice(values);
        let mut dense = vec![0.0; self.n];
        for row in 0..self.columns.len() {
            let (from, begin) = (self.first[row], self.begin[row]);
            self.scatter(row, &mut dense, |entry| entry);
            let mut own = 0.0;
            for &other in &self.meets[row] {
                let product: f64 = self.entries(other).map(|(column, a)| a * dense[column]).sum();
                match other == row {
                    true => own = product,
                    false => self.lower[begin + other - from] = product,
                }
            }
            self.scatter(row, &mut dense, |_| 0.0);
            // y_j = (A Aᵀ)_ij − Σ_k y_k L_jk, then L_ij = y_j/d_j; rows left out have no part in it.
            for other in from..row {
                let shared = self.first[other].max(from);
                let theirs = &self.lower[self.begin[other] + shared - self.first[other]..];
                let mine = &self.lower[begin + shared - from..begin + other - from];
                let product: f64 = mine.iter().zip(theirs).map(|(a, b)| a * b).sum();
                let entry = &mut self.lower[begin + other - from];
                *entry = if self.pivots[other] > 0.0 { *entry - product } else { 0.0 };
            }
            let mut pivot = own;
            for other in (from..row).filter(|&other| self.pivots[other] > 0.0) {
                let entry = &mut self.lower[begin + other - from];
                let along = *entry;
                *entry /= self.pivots[other];
                pivot -= along * *entry;
            }
            self.pivots[row] = if pivot > DEPENDENT * own { pivot } else { 0.0 };
        }
        self.pivots.iter().filter(|pivot| **pivot > 0.0).count()
    }

    /// A⁺ r of the rows that were factored.
    pub fn least(&self, r: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = self.order.iter().map(|&row| r[row]).collect();
        for row in 0..y.len() {
            let (before, rest) = y.split_at_mut(row);
            let product: f64 = self
                .row_of_lower(row)
                .iter()
                .zip(&before[self.first[row]..])
                .map(|(a, b)| a * b)
                .sum();
            rest[0] = if self.pivots[row] > 0.0 { rest[0] - product } else { 0.0 };
        }
        let kept = |row: &usize| self.pivots[*row] > 0.0;
        (0..y.len()).filter(kept).for_each(|row| y[row] /= self.pivots[row]);
        for row in (0..y.len()).rev().filter(kept) {
            let (before, rest) = y.split_at_mut(row);
            let lower = self.row_of_lower(row);
            before[self.first[row]..].iter_mut().zip(lower).for_each(|(y, a)| *y -= a * rest[0]);
        }
        // What rows before took from those left out is no part of the solution.
        (0..y.len()).filter(|row| !kept(row)).for_each(|row| y[row] = 0.0);
        let mut x = vec![0.0; self.n];
        for (row, y) in y.iter().enumerate() {
            self.entries(row).for_each(|(column, a)| x[column] += a * y);
        }
        x
    }

    /// Takes from x what is not in the kernel.
    pub fn project_on_kernel(&self, x: &mut [f64]) {
        let mut along = vec![0.0; self.columns.len()];
        for (row, &given) in self.order.iter().enumerate() {
            along[given] = self.entries(row).map(|(column, a)| a * x[column]).sum();
        }
        x.iter_mut().zip(self.least(&along)).for_each(|(x, off)| *x -= off);
    }

    fn row_of_lower(&self, row: usize) -> &[f64] {
        &self.lower[self.begin[row]..self.begin[row + 1]]
    }

    fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let values = self.values[self.starts[row]..].iter().copied();
        self.columns[row].iter().copied().zip(values)
    }

    fn scatter(&self, row: usize, dense: &mut [f64], of: impl Fn(f64) -> f64) {
        self.entries(row).for_each(|(column, a)| dense[column] = of(a));
    }
}

/// More rows than these are factored where they have entries.
pub const FEW: usize = 32;

/// What rows leave free: by their singular values where they are few.
pub enum Kernel {
    /// Of all entries, with their rank.
    Few(Svd, usize),
    /// Of those that are not always 0.
    Many(Envelope),
}

impl Kernel {
    /// The kernel of a matrix with these entries, none of which is of a row of another size.
    /// Singular values below `zero` are none.
    pub fn new(matrix: &Jacobian, values: &[f64], zero: f64) -> Kernel {
        let m = matrix.rows.len();
        if let Some(mut envelope) = (m > FEW).then(|| Envelope::new(matrix)).flatten() {
            envelope.factor(values);
            return Kernel::Many(envelope);
        }
        let mut svd = Svd::default();
        svd.decompose(&dense(matrix, values), m, matrix.columns);
        let rank = svd.rank(zero);
        Kernel::Few(svd, rank)
    }

    /// Takes from x what is not in the kernel.
    pub fn project(&self, x: &mut [f64]) {
        match self {
            Kernel::Few(svd, rank) => svd.project_on_kernel(*rank, x),
            Kernel::Many(envelope) => envelope.project_on_kernel(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_expr::{ExprId, Random};

    /// Random sparse rows, some of them twice, against the singular values of the same.
    #[test]
    fn least_squares_and_kernels_are_those_of_singular_values() {
        let mut random = Random::new(5);
        for (m, n) in [(1, 3), (4, 9), (12, 30), (30, 50)] {
            let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
            for row in 0..m {
                let near = (0..n).filter(|&c| c / 2 >= row / 2 && c / 2 <= row / 2 + 2);
                let own: Vec<(usize, f64)> = near.map(|c| (c, random.signed())).collect();
                rows.push(own);
                if row % 4 == 3 {
                    let twice = rows[row / 2].iter().map(|&(c, a)| (c, -2.0 * a)).collect();
                    rows.push(twice);
                }
            }
            let places = |row: &Vec<(usize, f64)>| row.iter().map(|e| (e.0, ExprId::ONE)).collect();
            let matrix = Jacobian { rows: rows.iter().map(places).collect(), columns: n };
            let values: Vec<f64> = rows.iter().flatten().map(|e| e.1).collect();
            let mut envelope = Envelope::new(&matrix).expect("few entries");
            let rank = envelope.factor(&values);
            let mut dense = vec![0.0; rows.len() * n];
            for (row, own) in rows.iter().enumerate() {
                own.iter().for_each(|&(c, a)| dense[row * n + c] = a);
            }
            let mut svd = Svd::default();
            svd.decompose(&dense, rows.len(), n);
            assert_eq!(rank, svd.rank(1e-9));
            // Right sides that have a solution: those left out follow then too.
            let x: Vec<f64> = (0..n).map(|_| random.signed()).collect();
            let r: Vec<f64> =
                rows.iter().map(|row| row.iter().map(|&(c, a)| a * x[c]).sum()).collect();
            let mut right = vec![0.0; n];
            svd.apply_pseudo_inverse(rank, &r, &mut right);
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8);
            assert!(close(&envelope.least(&r), &right), "{m} × {n}");
            let (mut own, mut kernel) = (x.clone(), x);
            envelope.project_on_kernel(&mut own);
            svd.project_on_kernel(rank, &mut kernel);
            assert!(close(&own, &kernel), "{m} × {n}");
        }
    }

    #[test]
    fn an_envelope_without_bounds_is_refused() {
        let m = 3000;
        let row = |k: usize| vec![(0, ExprId::ONE), (k + 1, ExprId::ONE)];
        let matrix = Jacobian { rows: (0..m).map(row).collect(), columns: m + 1 };
        assert!(Envelope::new(&matrix).is_none());
    }
}
