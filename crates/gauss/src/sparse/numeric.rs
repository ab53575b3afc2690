//! The numbers of a structure: blocks of Γ, W = A Γ⁻¹, S = A Γ⁻¹ Aᵀ = L D Lᵀ, and solutions.
//!
//! ```text
//! u = Γ⁻¹F,   S λ = b − A u,   v̇ = u + Γ⁻¹Aᵀλ
//! ```
//!
//! the range-space method (Udwadia & Kalaba 1992 for Γ ≻ 0 and independent rows). S has the square
//! of the condition of the rows; a solution is improved by its own residuals where pivots are small.

use super::structure::{Branch, NOWHERE, Structure};

/// Factors of one state, and room for solutions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors {
    /// 1/Γ_ii, or the factors L_b D_b L_bᵀ of the blocks with 1/D_b on their diagonals.
    blocks: Vec<f64>,
    /// Γ where it is diagonal, as it was factored last.
    masses: Vec<f64>,
    wide: Vec<f64>,
    schur: Vec<f64>,
    lower: Vec<f64>,
    inverse: Vec<f64>,
    /// Squares of pivots and of rows, in the order of elimination.
    pub(crate) pivots: Vec<f64>,
    pub(crate) sizes: Vec<f64>,
    work: Vec<f64>,
}

impl Factors {
    /// Factors Γ. False if it is not positive definite by a margin of `least` in each pivot.
    pub(crate) fn factor_metric(&mut self, s: &Structure, metric: &[f64], least: f64) -> bool {
        if s.is_diagonal {
            // One entry a row, which is the diagonal; masses are mostly constant.
            if self.masses == metric {
                return true;
            }
            self.blocks.clear();
            self.blocks.extend(metric.iter().map(|g| 1.0 / g));
            self.masses.clear();
            let is_regular = self.blocks.iter().all(|b| *b > 0.0 && b.is_finite());
            if is_regular {
                self.masses.extend_from_slice(metric);
            }
            return is_regular;
        }
        self.masses.clear();
        self.blocks.clear();
        self.blocks.resize(s.at.last().copied().unwrap_or(0), 0.0);
        for (&(here, mirror), value) in s.to_block.iter().zip(metric) {
            self.blocks[here as usize] += 0.5 * value;
            self.blocks[mirror as usize] += 0.5 * value;
        }
        let mut is_regular = true;
        for (b, w) in s.starts.windows(2).enumerate() {
            let size = w[1] - w[0];
            let matrix = &mut self.blocks[s.at[b]..s.at[b] + size * size];
            for k in 0..size {
                let whole = matrix[k * size + k];
                for j in 0..k {
                    let mut sum = matrix[k * size + j];
                    (0..j).for_each(|i| sum -= matrix[k * size + i] * matrix[j * size + i]);
                    matrix[k * size + j] = sum;
                }
                let mut pivot = whole;
                for j in 0..k {
                    let scaled = matrix[k * size + j] * matrix[j * size + j];
                    pivot -= scaled * matrix[k * size + j];
                    matrix[k * size + j] = scaled;
                }
                is_regular &= pivot > least * whole && pivot.is_finite();
                matrix[k * size + k] = 1.0 / pivot;
            }
        }
        is_regular
    }

    /// Γ⁻¹ times a vector, in place.
    pub(crate) fn solve_metric(&self, s: &Structure, x: &mut [f64]) {
        if s.is_diagonal {
            x.iter_mut().zip(&self.blocks).for_each(|(x, b)| *x *= b);
            return;
        }
        for (b, w) in s.starts.windows(2).enumerate() {
            let (members, size) = (&s.members[w[0]..w[1]], w[1] - w[0]);
            let matrix = &self.blocks[s.at[b]..s.at[b] + size * size];
            for k in 0..size {
                let sum: f64 = (0..k).map(|j| matrix[k * size + j] * x[members[j]]).sum();
                x[members[k]] -= sum;
            }
            (0..size).for_each(|k| x[members[k]] *= matrix[k * size + k]);
            for k in (0..size).rev() {
                let sum: f64 = (k + 1..size).map(|j| matrix[j * size + k] * x[members[j]]).sum();
                x[members[k]] -= sum;
            }
        }
    }

    /// The rows of A in coordinates in which Γ is 1, A L⁻ᵀ D^(−1/2), over whole blocks.
    pub(crate) fn orthonormal(&self, s: &Structure, jacobian: &[f64], out: &mut Vec<f64>) {
        spread(s, jacobian, out);
        if s.is_diagonal {
            let columns = s.wide.places();
            out.iter_mut().zip(columns).for_each(|(x, &i)| *x *= self.blocks[i].sqrt());
            return;
        }
        for &(b, first) in &s.touched {
            let (b, first) = (b as usize, first as usize);
            let size = s.starts[b + 1] - s.starts[b];
            let (x, matrix) = (&mut out[first..first + size], &self.blocks[s.at[b]..]);
            for k in 0..size {
                let sum: f64 = (0..k).map(|j| matrix[k * size + j] * x[j]).sum();
                x[k] -= sum;
            }
            (0..size).for_each(|k| x[k] *= matrix[k * size + k].sqrt());
        }
    }

    /// Forms S and factors it. False if a pivot is not positive.
    pub(crate) fn factor_rows(&mut self, s: &Structure, jacobian: &[f64]) -> bool {
        self.widen(s, jacobian);
        let m = s.order.len();
        let Factors { wide, schur, lower, inverse, pivots, sizes, work, .. } = self;
        schur.resize(s.schur.entries(), 0.0);
        let ends = s.products_at.windows(2);
        for (value, ends) in schur.iter_mut().zip(ends) {
            let products = s.products[ends[0] as usize..ends[1] as usize].iter();
            *value = products.map(|&(a, w)| jacobian[a as usize] * wide[w as usize]).sum();
        }
        [&mut *inverse, pivots, sizes, work].into_iter().for_each(|list| list.resize(m, 0.0));
        if !s.forest.is_empty() {
            lower.resize(m, 0.0);
            return factor_forest(&s.forest, schur, lower, inverse, pivots, sizes);
        }
        lower.resize(s.lower.entries(), 0.0);
        work.fill(0.0);
        let mut is_positive = true;
        for k in 0..m {
            let own = s.schur.range(k);
            let (columns, last) = (s.schur.row(k), own.end - 1);
            for (column, value) in columns.iter().zip(&schur[own.start..last]) {
                work[*column] = *value;
            }
            let whole = schur[last];
            let mut pivot = whole;
            let (row, first) = (s.lower.row(k), s.lower.range(k).start);
            for (at, &i) in row.iter().enumerate() {
                let mut y = work[i];
                let before = s.lower.range(i);
                for (j, l) in s.lower.row(i).iter().zip(&lower[before]) {
                    y -= l * work[*j];
                }
                work[i] = y;
                let l = y * inverse[i];
                pivot -= l * y;
                lower[first + at] = l;
            }
            row.iter().for_each(|&i| work[i] = 0.0);
            (pivots[k], sizes[k], inverse[k]) = (pivot, whole, 1.0 / pivot);
            is_positive &= pivot > 0.0 && pivot.is_finite();
        }
        is_positive
    }

    /// W = A Γ⁻¹.
    fn widen(&mut self, s: &Structure, jacobian: &[f64]) {
        let mut wide = std::mem::take(&mut self.wide);
        if s.is_diagonal {
            // The same places as in A.
            wide.clear();
            let columns = s.jacobian.places();
            wide.extend(jacobian.iter().zip(columns).map(|(a, &i)| a * self.blocks[i]));
            self.wide = wide;
            return;
        }
        spread(s, jacobian, &mut wide);
        for &(b, first) in &s.touched {
            let (b, first) = (b as usize, first as usize);
            let size = s.starts[b + 1] - s.starts[b];
            let (x, matrix) = (&mut wide[first..first + size], &self.blocks[s.at[b]..]);
            for k in 0..size {
                let sum: f64 = (0..k).map(|j| matrix[k * size + j] * x[j]).sum();
                x[k] -= sum;
            }
            (0..size).for_each(|k| x[k] *= matrix[k * size + k]);
            for k in (0..size).rev() {
                let sum: f64 = (k + 1..size).map(|j| matrix[j * size + k] * x[j]).sum();
                x[k] -= sum;
            }
        }
        self.wide = wide;
    }

    /// S⁻¹ times a vector over rows, in place.
    pub(crate) fn solve_schur(&mut self, s: &Structure, x: &mut [f64]) {
        let m = s.order.len();
        let Factors { lower, inverse, work, .. } = self;
        work.resize(m, 0.0);
        if !s.forest.is_empty() {
            for ((k, branch), l) in s.forest.iter().enumerate().zip(&*lower) {
                // Without an entry l is 0, and what is read is what was left there.
                work[k] = x[branch.row as usize] - l * work[branch.to as usize];
            }
            work.iter_mut().zip(&*inverse).for_each(|(x, d)| *x *= d);
            for (k, (branch, l)) in s.forest.iter().zip(&*lower).enumerate().rev() {
                let value = work[k];
                x[branch.row as usize] = value;
                work[branch.to as usize] -= l * value;
            }
            work.fill(0.0);
            return;
        }
        for (k, &row) in s.order.iter().enumerate() {
            let own = s.lower.row(k).iter().zip(&lower[s.lower.range(k)]);
            let before: f64 = own.map(|(&i, l)| l * work[i]).sum();
            work[k] = x[row] - before;
        }
        work.iter_mut().zip(&*inverse).for_each(|(x, d)| *x *= d);
        for k in (0..m).rev() {
            let value = work[k];
            for (&i, l) in s.lower.row(k).iter().zip(&lower[s.lower.range(k)]) {
                work[i] -= l * value;
            }
            x[s.order[k]] = value;
        }
        work.fill(0.0);
    }

    /// v̇ and λ for forces and right-hand sides: `v_dot` begins as F + C.
    pub(crate) fn solve(
        &mut self,
        s: &Structure,
        jacobian: &[f64],
        bias: &[f64],
        v_dot: &mut [f64],
        multipliers: &mut Vec<f64>,
    ) {
        self.solve_metric(s, v_dot);
        multipliers.clear();
        for (row, b) in bias.iter().enumerate() {
            let own = s.jacobian.entries_of(row, jacobian);
            multipliers.push(b - own.map(|(i, a)| a * v_dot[i]).sum::<f64>());
        }
        self.solve_schur(s, multipliers);
        self.add_along(s, multipliers, v_dot);
    }

    /// Adds Γ⁻¹Aᵀλ.
    pub(crate) fn add_along(&self, s: &Structure, multipliers: &[f64], v_dot: &mut [f64]) {
        for (row, l) in multipliers.iter().enumerate() {
            for (i, w) in s.wide.entries_of(row, &self.wide) {
                v_dot[i] += w * l;
            }
        }
    }
}

/// L D Lᵀ where each row of L has one entry at most. False if a pivot is not positive.
fn factor_forest(
    forest: &[Branch],
    schur: &[f64],
    lower: &mut [f64],
    inverse: &mut [f64],
    pivots: &mut [f64],
    sizes: &mut [f64],
) -> bool {
    let mut is_positive = true;
    let rows = forest.iter().zip(lower).zip(pivots).zip(sizes).enumerate();
    for (k, (((branch, l), pivot), size)) in rows {
        let whole = schur[branch.diagonal as usize];
        let (mut own, mut entry) = (whole, 0.0);
        if branch.off != NOWHERE {
            let y = schur[branch.off as usize];
            entry = y * inverse[branch.to as usize];
            own -= entry * y;
        }
        (*l, *pivot, *size) = (entry, own, whole);
        inverse[k] = 1.0 / own;
        is_positive &= own > 0.0 && own < f64::INFINITY;
    }
    is_positive
}

/// A over whole blocks.
fn spread(s: &Structure, jacobian: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(s.wide.entries(), 0.0);
    s.to_wide.iter().zip(jacobian).for_each(|(&at, a)| out[at as usize] = *a);
}
