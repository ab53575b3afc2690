//! Range space: the multipliers first, where Γ and the rows are far from singular.
//!
//! ```text
//! Γ = L Lᵀ,  W = A L⁻ᵀ,  S = W Wᵀ = A Γ⁻¹ Aᵀ
//! S μ = b − W L⁻¹F,   x = L⁻ᵀ(L⁻¹F + Wᵀμ)
//! ```
//!
//! Udwadia & Kalaba's (1992) order of elimination without their pseudo-inverse (SPEC, K2). It squares the
//! condition of the rows and takes that of Γ into the motion, so it is used only inside of a
//! decision, for the elimination that leaves the choice of its factors open, and where no pivot is less than
//! [`GOOD`] of its row; there it costs a third of an orthogonal basis and loses no digit.

use super::factored::{has_fallen, pivots};
use crate::scale::Scaled;

/// Squares of pivots over those of their rows, at the least. Condition numbers are then below
/// some tens.
const GOOD: f64 = 0.1;

/// The factors.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeSpace {
    /// L.
    metric: Vec<f64>,
    /// W.
    images: Vec<f64>,
    /// The factor of S.
    schur: Vec<f64>,
    /// Pivots at the decision.
    metric_pivots: Vec<f64>,
    schur_pivots: Vec<f64>,
    /// L⁻¹F + Wᵀμ.
    force: Vec<f64>,
    /// Whether it serves.
    pub is_good: bool,
}

impl RangeSpace {
    /// Tries it at a decision.
    pub fn adopt(&mut self, scaled: &Scaled) {
        self.is_good = self.factor(scaled);
        if !self.is_good {
            return;
        }
        pivots(&self.metric, scaled.n, scaled.n, &mut self.metric_pivots);
        pivots(&self.schur, scaled.m, scaled.m, &mut self.schur_pivots);
        let least = self.metric_pivots.iter().chain(&self.schur_pivots);
        self.is_good = least.fold(1.0, |m: f64, p| m.min(*p)) >= GOOD;
    }

    /// Factors the problem of another state. False if a pivot has fallen.
    pub fn refactor(&mut self, scaled: &Scaled) -> bool {
        self.factor(scaled)
            && !has_fallen(&self.metric, scaled.n, &self.metric_pivots)
            && !has_fallen(&self.schur, scaled.m, &self.schur_pivots)
    }

    fn factor(&mut self, scaled: &Scaled) -> bool {
        let (n, m) = (scaled.n, scaled.m);
        self.metric.clone_from(&scaled.metric);
        self.images.clone_from(&scaled.jacobian);
        self.images.truncate(m * n);
        if !cholesky(&mut self.metric, n) {
            return false;
        }
        for row in self.images.chunks_exact_mut(n.max(1)) {
            lower(&self.metric, n, row);
        }
        self.schur.clear();
        self.schur.resize(m * m, 0.0);
        for i in 0..m {
            for j in 0..=i {
                let rows = self.images[i * n..(i + 1) * n].iter().zip(&self.images[j * n..]);
                self.schur[i * m + j] = rows.map(|(a, b)| a * b).sum();
            }
        }
        cholesky(&mut self.schur, m)
    }

    /// x and μ.
    pub fn solve(&mut self, scaled: &Scaled, x: &mut Vec<f64>, multipliers: &mut Vec<f64>) {
        let (n, m) = (scaled.n, scaled.m);
        self.force.clone_from(&scaled.force);
        lower(&self.metric, n, &mut self.force);
        multipliers.clear();
        for (row, b) in self.images.chunks_exact(n.max(1)).zip(&scaled.drift) {
            let pushed: f64 = row.iter().zip(&self.force).map(|(w, f)| w * f).sum();
            multipliers.push(b - pushed);
        }
        lower(&self.schur, m, multipliers);
        lower_transposed(&self.schur, m, multipliers);
        for (row, mu) in self.images.chunks_exact(n.max(1)).zip(multipliers.iter()) {
            self.force.iter_mut().zip(row).for_each(|(f, w)| *f += w * mu);
        }
        x.clone_from(&self.force);
        lower_transposed(&self.metric, n, x);
    }
}

/// A = L Lᵀ in the lower triangle. The loops are short, and calls would cost as much as they do.
#[inline]
fn cholesky(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        let (head, below) = a.split_at_mut((j + 1) * n);
        let row = &mut head[j * n..];
        let pivot = row[j] - row[..j].iter().map(|l| l * l).sum::<f64>();
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let root = pivot.sqrt();
        row[j] = root;
        let (row, inverse) = (&row[..j], root.recip());
        for other in below.chunks_exact_mut(n) {
            let done: f64 = other[..j].iter().zip(row).map(|(a, b)| a * b).sum();
            other[j] = (other[j] - done) * inverse;
        }
    }
    true
}

/// x ← L⁻¹ x
#[inline]
fn lower(l: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let row = &l[i * n..=i * n + i];
        let done: f64 = row[..i].iter().zip(&*x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - done) / row[i];
    }
}

/// x ← L⁻ᵀ x
#[inline]
fn lower_transposed(l: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        let row = &l[i * n..=i * n + i];
        let (before, at) = x.split_at_mut(i);
        at[0] /= row[i];
        before.iter_mut().zip(row).for_each(|(x, l)| *x -= l * at[0]);
    }
}
