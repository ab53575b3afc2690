//! Independent rows at a point, and their factors.

use dalembert_expr::ExprId;
use dalembert_gauss::linalg::lq;

/// Rows in units of the coordinates, and independent ones among them.
pub(super) struct Chosen {
    pub n: usize,
    pub chosen: Vec<usize>,
    pub rows: Vec<f64>,
    pub lengths: Vec<f64>,
}

/// Factored rows, A = L Qᵀ.
pub(super) struct Factors {
    pub n: usize,
    pub rows: Vec<usize>,
    pub matrix: Vec<f64>,
    pub tau: Vec<f64>,
}

impl Chosen {
    pub fn part(&self, rows: &[usize]) -> Factors {
        let n = self.n;
        let mut matrix: Vec<f64> =
            rows.iter().flat_map(|&r| self.rows[r * n..(r + 1) * n].iter().copied()).collect();
        let mut tau = vec![0.0; rows.len()];
        lq::factor(&mut matrix, n, rows.len(), &mut tau);
        Factors { n, rows: rows.to_vec(), matrix, tau }
    }

    /// Those chosen rows that have a residual, and their residuals.
    pub fn with(&self, residuals: &[Option<ExprId>]) -> (Factors, Vec<ExprId>) {
        let both = self.chosen.iter().filter_map(|&r| Some((r, residuals[r]?)));
        let (rows, exprs): (Vec<usize>, Vec<ExprId>) = both.unzip();
        (self.part(&rows), exprs)
    }
}

impl Factors {
    /// The shortest x with A x = b.
    pub fn shift(&self, b: &[f64]) -> Vec<f64> {
        let k = self.rows.len();
        let mut x = vec![0.0; self.n];
        x[..k].copy_from_slice(b);
        lq::solve_lower(&self.matrix, self.n, k, &mut x);
        lq::apply_q(&self.matrix, self.n, k, &self.tau, &mut x);
        x
    }

    /// The w with the least |a − Aᵀ w|.
    pub fn weights(&self, a: &[f64]) -> Vec<f64> {
        let k = self.rows.len();
        let mut x = a.to_vec();
        lq::apply_q_transposed(&self.matrix, self.n, k, &self.tau, &mut x);
        lq::solve_lower_transposed(&self.matrix, self.n, k, &mut x);
        x.truncate(k);
        x
    }
}
