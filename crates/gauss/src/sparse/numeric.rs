//! The numbers of a structure: blocks of Γ, W = A Γ⁻¹, S = A Γ⁻¹ Aᵀ = L D Lᵀ, and solutions.
//!
//! ```text
//! u = Γ⁻¹F,   S λ = b − A u,   v̇ = u + Γ⁻¹Aᵀλ
//! ```
//!
//! the range-space method (Udwadia & Kalaba 1992 for Γ ≻ 0 and independent rows). S has the square
//! of the condition of the rows; a solution is improved by its own residuals where pivots are small.
//! Where Γ is one block there is no S, and [`kkt`](super::kkt) solves for both.

use super::kkt::CoupledFactors;
use super::ldl::Triangle;
use super::structure::Structure;
use crate::tolerances::sparse::{REGULAR, STILL_REGULAR};
use dalembert_machine::{Wide, wide};

/// Factors of one state, and room for solutions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors {
    /// 1/Γ_ii, or the factors L_b D_b L_bᵀ of the blocks with 1/D_b on their diagonals.
    blocks: Vec<f64>,
    /// Γ where it is diagonal, as it was factored last; and where it is one block.
    masses: Vec<f64>,
    coupled: CoupledFactors,
    wide: Vec<f64>,
    schur: Vec<f64>,
    pub(crate) triangle: Triangle,
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
        if s.coupled.is_some() {
            self.masses.clear();
            self.masses.extend_from_slice(metric);
            self.blocks.clear();
            self.blocks.extend(s.diagonal.iter().map(|at| at.map_or(0.0, |at| 1.0 / metric[at])));
            return self.blocks.iter().all(|b| *b > 0.0 && b.is_finite());
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

    /// Whether Γ is positive definite where it is one block, which [`factor_metric`] does not look
    /// at.
    ///
    /// [`factor_metric`]: Factors::factor_metric
    pub(crate) fn is_regular(&mut self, s: &Structure) -> bool {
        let Factors { masses, coupled, .. } = self;
        s.coupled.as_deref().is_none_or(|[_, alone]| alone.factor((masses, &[]), REGULAR, coupled))
    }

    /// Γ⁻¹ times a vector, in place.
    fn solve_metric(&self, s: &Structure, x: &mut [f64]) {
        if s.is_diagonal {
            x.iter_mut().zip(&self.blocks).for_each(|(x, b)| *x *= b);
            return;
        }
        for (b, w) in s.starts.windows(2).enumerate() {
            let (members, size) = (&s.members[w[0]..w[1]], w[1] - w[0]);
            let matrix = &self.blocks[s.at[b]..s.at[b] + size * size];
            solve_block(matrix, size, x, |k| members[k]);
        }
    }

    /// The rows of A in coordinates in which Γ is 1, A L⁻ᵀ D^(−1/2), over whole blocks.
    pub(crate) fn orthonormal(&self, s: &Structure, jacobian: &[f64], out: &mut Vec<f64>) {
        spread(s, jacobian, out);
        if s.is_diagonal || s.coupled.is_some() {
            let columns = s.wide.places();
            out.iter_mut().zip(columns).for_each(|(x, &i)| *x *= self.blocks[i].sqrt());
            return;
        }
        for &(b, first) in &s.touched {
            let (b, first) = (b as usize, first as usize);
            let size = s.starts[b + 1] - s.starts[b];
            let (x, matrix) = (&mut out[first..first + size], &self.blocks[s.at[b]..]);
            forward(matrix, size, x, |k| k);
            (0..size).for_each(|k| x[k] *= matrix[k * size + k].sqrt());
        }
    }

    /// Forms S and factors it. False if a pivot is not positive.
    pub(crate) fn factor_rows(&mut self, s: &Structure, jacobian: &[f64]) -> bool {
        if let Some([both, _]) = s.coupled.as_deref() {
            let Factors { masses, coupled, triangle, blocks, .. } = self;
            let is_factored = both.factor((masses, jacobian), STILL_REGULAR, coupled);
            let length = |&row: &usize| -> f64 {
                s.jacobian.entries_of(row, jacobian).map(|(i, a)| a * a * blocks[i]).sum()
            };
            triangle.pivots.clear();
            triangle.pivots.extend(s.order.iter().map(|&row| both.distance(coupled, row)));
            triangle.sizes.clear();
            triangle.sizes.extend(s.order.iter().map(length));
            return is_factored;
        }
        self.widen(s, jacobian);
        self.schur.resize(s.schur.entries(), 0.0);
        wide(Products { s, jacobian, wide: &self.wide, schur: &mut self.schur });
        self.triangle.factor(s, &self.schur)
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
            solve_block(matrix, size, x, |k| k);
        }
        self.wide = wide;
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
        multipliers.clear();
        multipliers.extend_from_slice(bias);
        if s.coupled.is_some() {
            return self.solve_coupled(s, v_dot, multipliers);
        }
        self.solve_metric(s, v_dot);
        wide(Remaining { s, jacobian, v_dot, right: multipliers });
        self.triangle.solve(s, multipliers);
        self.add_along(s, multipliers, v_dot);
    }

    /// The same for forces and right-hand sides in the places of what is found.
    fn solve_coupled(&mut self, s: &Structure, v_dot: &mut [f64], multipliers: &mut [f64]) {
        let Some([both, _]) = s.coupled.as_deref() else { return };
        let mut x = std::mem::take(&mut self.wide);
        x.clear();
        x.extend(v_dot.iter().chain(&*multipliers));
        both.solve(&mut self.coupled, &mut x);
        let (first, second) = x.split_at(v_dot.len());
        v_dot.copy_from_slice(first);
        multipliers.iter_mut().zip(second).for_each(|(l, x)| *l = -x);
        self.wide = x;
    }

    /// The shortest change of v, which begins as 0, by which A v changes by `right`.
    pub(crate) fn shortest(&mut self, s: &Structure, right: &mut [f64], change: &mut [f64]) {
        if s.coupled.is_some() {
            return self.solve_coupled(s, change, right);
        }
        self.triangle.solve(s, right);
        self.add_along(s, right, change);
    }

    /// Adds Γ⁻¹Aᵀλ.
    fn add_along(&self, s: &Structure, multipliers: &[f64], v_dot: &mut [f64]) {
        wide(Along { s, wide: &self.wide, multipliers, v_dot });
    }
}

/// S = A Wᵀ. Sums begin with their first products and take the others one after the other, fused:
/// whoever does the same elsewhere has the same bits.
struct Products<'a> {
    s: &'a Structure,
    jacobian: &'a [f64],
    wide: &'a [f64],
    schur: &'a mut [f64],
}

impl Wide for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { s, jacobian, wide, schur } = self;
        for (value, ends) in schur.iter_mut().zip(s.products_at.windows(2)) {
            let products = s.products[ends[0] as usize..ends[1] as usize].iter();
            *value = sum(products.map(|&(a, w)| (jacobian[a as usize], wide[w as usize])));
        }
    }
}

/// b − A u.
struct Remaining<'a> {
    s: &'a Structure,
    jacobian: &'a [f64],
    v_dot: &'a [f64],
    right: &'a mut [f64],
}

impl Wide for Remaining<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (row, right) in self.right.iter_mut().enumerate() {
            let own = self.s.jacobian.entries_of(row, self.jacobian);
            *right -= sum(own.map(|(i, a)| (a, self.v_dot[i])));
        }
    }
}

/// v̇ + Wᵀλ.
struct Along<'a> {
    s: &'a Structure,
    wide: &'a [f64],
    multipliers: &'a [f64],
    v_dot: &'a mut [f64],
}

impl Wide for Along<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (row, l) in self.multipliers.iter().enumerate() {
            for (i, w) in self.s.wide.entries_of(row, self.wide) {
                self.v_dot[i] = w.mul_add(*l, self.v_dot[i]);
            }
        }
    }
}

/// A sum of products.
#[inline(always)]
fn sum(mut products: impl Iterator<Item = (f64, f64)>) -> f64 {
    let first = products.next().map_or(0.0, |(a, b)| a * b);
    products.fold(first, |sum, (a, b)| a.mul_add(b, sum))
}

/// L⁻¹ of a block times what is at the places of its members.
fn forward(matrix: &[f64], size: usize, x: &mut [f64], place: impl Fn(usize) -> usize) {
    for k in 0..size {
        let sum: f64 = (0..k).map(|j| matrix[k * size + j] * x[place(j)]).sum();
        x[place(k)] -= sum;
    }
}

/// The same of L⁻ᵀ D⁻¹ L⁻¹.
fn solve_block(matrix: &[f64], size: usize, x: &mut [f64], place: impl Fn(usize) -> usize) {
    forward(matrix, size, x, &place);
    (0..size).for_each(|k| x[place(k)] *= matrix[k * size + k]);
    for k in (0..size).rev() {
        let sum: f64 = (k + 1..size).map(|j| matrix[j * size + k] * x[place(j)]).sum();
        x[place(k)] -= sum;
    }
}

/// A over whole blocks.
fn spread(s: &Structure, jacobian: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(s.wide.entries(), 0.0);
    s.to_wide.iter().zip(jacobian).for_each(|(&at, a)| out[at as usize] = *a);
}
