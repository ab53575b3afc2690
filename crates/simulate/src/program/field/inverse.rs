//! One matrix, many right sides: what the stages of an expansion solve.
//!
//! ```text
//! Γ v̇ = F + D λ + Aᵀλ,   A v̇ = b        Γ, A, D of one state; F and b of each order
//! ```
//!
//! D are the slopes of forces that depend on multipliers. Γ and A are factored by the decision
//! of the step. Where there are no more unknowns than orders the inverse is found column by
//! column and each order is a product; else each is a back-substitution.

use super::implicit::Implicit;
use super::{FieldError, Work};
use dalembert_gauss::Factored;
use dalembert_gauss::eliminations::Elimination;
use dalembert_gauss::linalg::{lu, zeros};
use dalembert_gauss::terms::Terms;

/// Up to so many unknowns a stage multiplies with the inverse of its matrix.
const SMALL: usize = 24;

/// The factored matrix of the normal form.
pub(super) struct Factors<'a> {
    pub(super) by: &'static dyn Elimination,
    pub(super) factored: &'a mut Factored,
}

/// v̇ and λ of right sides, with one matrix.
#[derive(Clone, Default)]
pub(super) struct Inverse {
    n: usize,
    /// The inverse, column by column; empty where there are too many unknowns for it to pay.
    columns: Vec<f64>,
    /// F and b, then v̇ and λ.
    pub(super) right: Vec<f64>,
    pub(super) solution: Vec<f64>,
    v_dot: Vec<f64>,
    lambda: Vec<f64>,
    zero: Vec<f64>,
    coupled: Coupled,
}

/// Room for multipliers that forces depend on: their places, S D, and 1 − (S D)_c.
#[derive(Clone, Default)]
struct Coupled {
    used: Vec<(usize, usize)>,
    moved: Vec<f64>,
    matrix: Vec<f64>,
    order: Vec<usize>,
    work: Vec<f64>,
    own: Vec<f64>,
}

impl Inverse {
    pub(super) fn begin(&mut self, n: usize, m: usize) {
        self.n = n;
        for list in [&mut self.right, &mut self.solution] {
            list.clear();
            list.resize(n + m, 0.0);
        }
        self.zero.clear();
        self.zero.resize(n, 0.0);
    }

    /// Solves with the factors.
    fn by_factors(&mut self, factors: &mut Factors, terms: &Terms) -> bool {
        let (force, bias) = self.right.split_at(self.n);
        let terms = Terms { m: bias.len(), force, nonideal: &self.zero, bias, ..*terms };
        let (v_dot, lambda) = (&mut self.v_dot, &mut self.lambda);
        let solved = factors.factored.solve(factors.by, &terms, v_dot, lambda);
        self.solution[..self.n].copy_from_slice(v_dot);
        self.solution[self.n..].copy_from_slice(lambda);
        solved
    }

    /// The inverse, one column after the other, where there are few unknowns or it is `needed`.
    pub(super) fn find(
        &mut self,
        factors: &mut Factors,
        terms: &Terms,
        needed: bool,
    ) -> Result<(), FieldError> {
        self.columns.clear();
        let size = self.right.len();
        if !factors.factored.is_decided() {
            return Err(FieldError::NotSolved("this integrator"));
        }
        if size > SMALL && !needed {
            return Ok(());
        }
        if factors.factored.inverse(factors.by, &mut self.columns) {
            return Ok(());
        }
        self.columns.clear();
        for j in 0..size {
            self.right.fill(0.0);
            self.right[j] = 1.0;
            if !self.by_factors(factors, terms) {
                return Err(FieldError::NotFinite { what: "acceleration", index: j });
            }
            self.columns.extend_from_slice(&self.solution);
        }
        Ok(())
    }

    /// Puts forces that depend on multipliers into the matrix: with x = S (f + D λ_c) and
    /// λ_c = x_c, x = S f + S D (1 − (S D)_c)⁻¹ (S f)_c. `slopes` are those by each multiplier, one
    /// after the other, `places` where it is among λ. False if that has no solution.
    pub(super) fn couple(&mut self, (slopes, places): (&[f64], &[Option<usize>])) -> bool {
        let (n, size) = (self.n, self.right.len());
        let Coupled { used, moved, matrix, order, work, own } = &mut self.coupled;
        used.clear();
        used.extend(places.iter().enumerate().filter_map(|(c, at)| Some((c, n + (*at)?))));
        if self.columns.is_empty() || used.is_empty() {
            return used.is_empty();
        }
        let count = used.len();
        // S D, column by column.
        zeros(moved, count * size);
        for (column, &(c, _)) in moved.chunks_exact_mut(size).zip(&*used) {
            for (i, slope) in slopes[c * n..(c + 1) * n].iter().enumerate() {
                let own = &self.columns[i * size..(i + 1) * size];
                column.iter_mut().zip(own).for_each(|(to, s)| *to += slope * s);
            }
        }
        zeros(matrix, count * count);
        for (i, &(_, row)) in used.iter().enumerate() {
            for j in 0..count {
                matrix[i * count + j] = f64::from(u8::from(i == j)) - moved[j * size + row];
            }
        }
        order.resize(count, 0);
        zeros(work, count);
        zeros(own, count);
        if !lu::factor(matrix, count, order) {
            return false;
        }
        for column in self.columns.chunks_exact_mut(size) {
            own.iter_mut().zip(&*used).for_each(|(to, &(_, row))| *to = column[row]);
            lu::solve(matrix, count, order, own, work);
            for (moved, by) in moved.chunks_exact(size).zip(&*own) {
                column.iter_mut().zip(moved).for_each(|(to, m)| *to += by * m);
            }
        }
        true
    }

    /// A column of the inverse, where it was found.
    pub(super) fn column(&self, at: usize) -> Option<&[f64]> {
        self.columns.chunks_exact(self.right.len().max(1)).nth(at)
    }

    /// Solves for the right side at hand; false if that gives no numbers.
    pub(super) fn solve(&mut self, factors: &mut Factors, terms: &Terms) -> bool {
        if self.columns.is_empty() && !self.right.is_empty() {
            return self.by_factors(factors, terms);
        }
        self.solution.fill(0.0);
        let size = self.right.len();
        for (column, by) in self.columns.chunks_exact(size.max(1)).zip(&self.right) {
            for (to, s) in self.solution.iter_mut().zip(column) {
                *to += by * s;
            }
        }
        true
    }
}

/// ∂r/∂w of the unknowns behind v, factored.
#[derive(Clone, Default)]
pub(super) struct Behind {
    matrix: Vec<f64>,
    order: Vec<usize>,
    pub(super) right: Vec<f64>,
    work: Vec<f64>,
}

impl Behind {
    pub(super) fn factor(&mut self, implicit: &Implicit, work: &mut Work) {
        let count = implicit.count;
        for list in [&mut self.right, &mut self.work] {
            zeros(list, count);
        }
        self.order.resize(count, 0);
        zeros(&mut self.matrix, count * count);
        let (registers, output) = (&mut work.auxiliary_registers, &mut work.auxiliary_output);
        implicit.function.call(registers, &work.input, output);
        for (place, value) in implicit.places.iter().zip(&output[count..]) {
            self.matrix[*place] = *value;
        }
        if !lu::factor(&mut self.matrix, count, &mut self.order) {
            self.matrix.fill(f64::NAN);
        }
    }

    pub(super) fn solve(&mut self) {
        let Behind { matrix, order, right, work } = self;
        lu::solve(matrix, right.len(), order, right, work);
    }
}
