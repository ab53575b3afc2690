//! Radau IIA with three stages: an implicit Runge–Kutta method of order 5 for stiff
//! motions, on the constraints themselves.
//!
//! Ehle (1969); Hairer & Wanner, *Solving Ordinary Differential Equations II*, IV.8 and
//! VII.4. The stages satisfy the residual form 0 = R(t, y, ẏ) (the stabilised index-2
//! equations, see [`ResidualForm`]) at t + c_i h, where ẏ are the slopes of the
//! polynomial through the stages:
//!
//! ```text
//! 0 = R(t + c_i h, y + Z_i, Σ_j (A⁻¹)_ij Z_j / h),   i = 1, 2, 3,   x₁ = x + Z₃
//! ```
//!
//! Newton's method is simplified: one Jacobian for all stages, kept as long as it
//! converges well, and A⁻¹ brought to one real and one pair of complex eigenvalues, so
//! that a step costs one real and one complex factorization of the size of R, which are sparse where
//! the Jacobian of a large system is. Where stiff
//! directions turn in the course of a step (a hard spring that swings) it converges for
//! short steps only, and Newton's method itself is used, with the Jacobian of each stage
//! and one factorization of three times the size in each iteration. The error
//! estimate compares with a method of order 3 and is itself solved for with the real
//! factors, so that fast motions that have died out do not count. Step sizes follow
//! Gustafsson's predictive controller.
//!
//! It is L-stable: fast motions are damped, not followed. It is not symplectic, and at
//! tight tolerances its order costs more steps than DOP853 takes where nothing is stiff.
//! The work done on the system is integrated with the weights of the method. The dense
//! output is the polynomial through the stages, of order 3.

use super::collocation::{lagrange, polynomial};
use super::radau_newton::{Largest, Newton};
use super::{Integrator, Problem, Needs, Properties, ResidualForm, Step};
use crate::program::field::FieldError;
use dalembert_gauss::linalg::complex::{self, Complex};
use dalembert_gauss::linalg::lu;
use dalembert_gauss::sparse::{Ordered, SparseLu};
use dalembert_gauss::Pattern;
use std::ops::Range;
use std::sync::Arc;

/// Its name.
pub const NAME: &str = "radau";

/// Most Newton iterations.
pub(super) const MOST: usize = 10;
/// Larger systems are not solved as a whole.
const LARGEST: usize = 150;
/// So many steps are solved as a whole before the simplified method is tried again.
const WHOLE: u32 = 20;
/// A Jacobian that is so many times as steep as it was taken for is another one.
const STEEPER: f64 = 1.5;
/// In a step it does not become flatter than that.
const FLATTER: f64 = 30.0;
/// √6
const S6: f64 = 2.449489742783178;
/// Nodes.
pub(super) const C: [f64; 3] = [(4.0 - S6) / 10.0, (4.0 + S6) / 10.0, 1.0];
/// A.
const A: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * S6) / 360.0, (296.0 - 169.0 * S6) / 1800.0, (-2.0 + 3.0 * S6) / 225.0],
    [(296.0 + 169.0 * S6) / 1800.0, (88.0 + 7.0 * S6) / 360.0, (-2.0 - 3.0 * S6) / 225.0],
    [(16.0 - S6) / 36.0, (16.0 + S6) / 36.0, 1.0 / 9.0],
];
/// Weights of the error estimate, times the real eigenvalue of A.
const E: [f64; 3] = [(-13.0 - 7.0 * S6) / 3.0, (-13.0 + 7.0 * S6) / 3.0, -1.0 / 3.0];
/// A⁻¹ = T Λ T⁻¹ with Λ = [γ] ⊕ [α β; −β α].
const GAMMA: f64 = 3.637834252744496;
const ALPHA: f64 = 2.681082873627752;
const BETA: f64 = 3.050430199247411;
const T: [[f64; 3]; 3] = [
    [0.09443876248897524, -0.1412552950209542, 0.03002919410514742],
    [0.2502131229653333, 0.20412935229379994, -0.3829421127572619],
    [1.0, 1.0, 0.0],
];
const T_INVERSE: [[f64; 3]; 3] = [
    [4.178718591551905, 0.3276828207610624, 0.5233764454994495],
    [-4.178718591551905, -0.3276828207610624, 0.4766235545005504],
    [0.5028726349457868, -2.571926949855605, 0.5960392048282249],
];

/// The method and its last step.
pub struct Radau {
    pub(super) inverse: [[f64; 3]; 3],
    pub(super) y: Vec<f64>,
    /// Increments of all unknowns at the stages.
    pub(super) z: [Vec<f64>; 3],
    /// The state the last step began at, and its increments with those of the work.
    old: Vec<f64>,
    dense: [Vec<f64>; 3],
    t: f64,
    h: f64,
    has_step: bool,
    pub(super) rows: (Vec<usize>, Vec<usize>),
    pub(super) jacobian: Option<Jacobian>,
    pub(super) factors: Option<Factors>,
    /// How fast Newton's method converged last.
    pub(super) contraction: f64,
    /// Iterations of the last step, for the controller.
    pub(super) iterations: usize,
    /// Step size and error of the last accepted step.
    accepted: Option<(f64, f64)>,
    was_rejected: bool,
    /// Steps until the simplified method is tried again.
    whole: u32,
    /// Error estimates of the last step.
    errors: Vec<f64>,
    shaped: Option<Shaped>,
}

pub(super) struct Jacobian {
    /// Dense, or at the places of the pattern.
    pub(super) by_rate: Vec<f64>,
    pub(super) by: Vec<f64>,
    pattern: Option<Arc<Pattern>>,
    /// Whether it belongs to the state at hand.
    is_fresh: bool,
}

pub(super) struct Factors {
    h: f64,
    /// Rows are brought to a largest entry of 1.
    scale: Vec<f64>,
    kind: Kind,
}

/// L and U of the real and of the complex matrix.
enum Kind {
    Dense {
        real: Vec<f64>,
        real_order: Vec<usize>,
        complex: Vec<Complex>,
        complex_order: Vec<usize>,
    },
    Sparse(Box<(SparseLu<f64>, SparseLu<Complex>)>),
}

/// The factors of a pattern: what was found of it is kept for other entries.
struct Shaped {
    pattern: Arc<Pattern>,
    factors: Option<Box<(SparseLu<f64>, SparseLu<Complex>)>>,
}

/// The method for states of a size.
pub fn new(_: usize) -> Radau {
    Radau {
        inverse: inverse(),
        y: Vec::new(),
        z: Default::default(),
        old: Vec::new(),
        dense: Default::default(),
        t: 0.0,
        h: 0.0,
        has_step: false,
        rows: Default::default(),
        jacobian: None,
        factors: None,
        contraction: 1.0,
        iterations: 0,
        accepted: None,
        was_rejected: false,
        whole: 0,
        errors: Vec::new(),
        shaped: None,
    }
}

fn inverse() -> [[f64; 3]; 3] {
    let mut matrix: Vec<f64> = A.iter().flatten().copied().collect();
    let (mut order, mut work) = ([0; 3], [0.0; 3]);
    lu::factor(&mut matrix, 3, &mut order);
    let mut inverse = [[0.0; 3]; 3];
    for j in 0..3 {
        let mut column = [0.0; 3];
        column[j] = 1.0;
        lu::solve(&matrix, 3, &order, &mut column, &mut work);
        (0..3).for_each(|i| inverse[i][j] = column[i]);
    }
    inverse
}

impl Jacobian {
    /// At a state y.
    fn at(t: f64, y: &[f64], rates: &[f64], form: &mut dyn ResidualForm) -> Jacobian {
        let (n, pattern) = (y.len(), form.pattern().cloned());
        let length = pattern.as_ref().map_or(n * n, |pattern| pattern.entries());
        let (mut by_rate, mut by) = (vec![0.0; length], vec![0.0; length]);
        match pattern.is_some() {
            true => form.entries(t, y, rates, &mut by_rate, &mut by),
            false => form.derivatives(t, y, rates, &mut by_rate, &mut by),
        }
        // A root at 0 has no slope there. The iteration only needs slopes nearby.
        let entries = by_rate.iter_mut().chain(&mut by);
        entries.filter(|slope| !slope.is_finite()).for_each(|slope| *slope = 0.0);
        Jacobian { by_rate, by, pattern, is_fresh: true }
    }

    /// Whether a row is so many times as steep as that of another.
    fn is_steeper(&self, other: &Jacobian, n: usize, times: f64) -> bool {
        let largest = |by: &[f64]| by.iter().fold(0f64, |m, slope| m.max(slope.abs()));
        (0..n).any(|i| {
            let [own, others] = [self, other].map(|j| largest(&j.by[j.row(i, n)]));
            own > times * others
        })
    }

    /// The places of a row.
    fn row(&self, i: usize, n: usize) -> Range<usize> {
        self.pattern.as_ref().map_or(i * n..(i + 1) * n, |pattern| pattern.range(i))
    }
}

impl Factors {
    fn new(jacobian: &Jacobian, h: f64, n: usize, shaped: &mut Option<Shaped>) -> Option<Factors> {
        let Jacobian { by_rate, by, pattern, .. } = jacobian;
        let mut real: Vec<f64> = by_rate.iter().zip(by).map(|(m, j)| GAMMA / h * m + j).collect();
        let pairs = by_rate.iter().zip(by);
        let mut complex: Vec<Complex> =
            pairs.map(|(m, j)| (ALPHA / h * m + j, -BETA / h * m)).collect();
        let mut scale = vec![1.0; n];
        for (i, scale) in scale.iter_mut().enumerate() {
            let row = jacobian.row(i, n);
            let largest = real[row.clone()].iter().fold(0f64, |m, v| m.max(v.abs()));
            if !(largest > 0.0) || !largest.is_finite() {
                return None;
            }
            let factor = dalembert_gauss::linalg::power_of_two(-largest.log2());
            *scale = factor;
            real[row.clone()].iter_mut().for_each(|v| *v *= factor);
            complex[row].iter_mut().for_each(|v| *v = (v.0 * factor, v.1 * factor));
        }
        let kind = match pattern {
            Some(pattern) => Factors::sparse(pattern, &real, &complex, shaped)?,
            None => {
                let (mut real_order, mut complex_order) = (vec![0; n], vec![0; n]);
                let is_factored = lu::factor(&mut real, n, &mut real_order)
                    && complex::factor(&mut complex, n, &mut complex_order);
                if !is_factored {
                    return None;
                }
                Kind::Dense { real, real_order, complex, complex_order }
            }
        };
        Some(Factors { h, scale, kind })
    }

    /// Factors with the order of columns, and the pivots if they serve, that were found before.
    fn sparse(
        pattern: &Arc<Pattern>,
        real: &[f64],
        complex: &[Complex],
        shaped: &mut Option<Shaped>,
    ) -> Option<Kind> {
        let known = shaped.take().filter(|known| known.pattern == *pattern);
        let mut factors = known.and_then(|known| known.factors).unwrap_or_else(|| {
            let order = Arc::new(Ordered::new(pattern));
            Box::new((SparseLu::new(&order), SparseLu::new(&order)))
        });
        if factors.0.factor(real) && factors.1.factor(complex) {
            return Some(Kind::Sparse(factors));
        }
        *shaped = Some(Shaped { pattern: pattern.clone(), factors: Some(factors) });
        None
    }

    /// Gives back what belongs to the pattern.
    fn give_back(self, pattern: Option<&Arc<Pattern>>) -> Option<Shaped> {
        match (self.kind, pattern) {
            (Kind::Sparse(factors), Some(pattern)) => {
                Some(Shaped { pattern: pattern.clone(), factors: Some(factors) })
            }
            _ => None,
        }
    }

    /// The changes of the stages that take residuals away.
    pub(super) fn changes(&self, residuals: &[Vec<f64>; 3]) -> [Vec<f64>; 3] {
        let n = self.scale.len();
        let part = |row: &[f64; 3], i: usize| -> f64 {
            -(row[0] * residuals[0][i] + row[1] * residuals[1][i] + row[2] * residuals[2][i])
        };
        let mut real: Vec<f64> = (0..n).map(|i| part(&T_INVERSE[0], i)).collect();
        let mut pair: Vec<Complex> =
            (0..n).map(|i| (part(&T_INVERSE[1], i), part(&T_INVERSE[2], i))).collect();
        self.solve_real(&mut real);
        self.solve_complex(&mut pair);
        T.map(|row| {
            (0..n).map(|i| row[0] * real[i] + row[1] * pair[i].0 + row[2] * pair[i].1).collect()
        })
    }

    fn solve_real(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
        match &self.kind {
            Kind::Dense { real, real_order, .. } => {
                lu::solve(real, x.len(), real_order, x, &mut vec![0.0; x.len()]);
            }
            Kind::Sparse(factors) => factors.0.solve(x),
        }
    }

    fn solve_complex(&self, x: &mut [Complex]) {
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x = (x.0 * s, x.1 * s));
        match &self.kind {
            Kind::Dense { complex, complex_order, .. } => {
                let mut work = vec![(0.0, 0.0); x.len()];
                complex::solve(complex, x.len(), complex_order, x, &mut work);
            }
            Kind::Sparse(factors) => factors.1.solve(x),
        }
    }
}

impl Radau {
    /// Whether the Jacobian at hand is steeper than that of the state. Along a direction in which it is
    /// the iteration changes nothing, and does not see that: the stages stay where they were guessed.
    fn is_steeper(&self, form: &mut dyn ResidualForm, step: &Step) -> bool {
        let Some(known) = &self.jacobian else { return false };
        let now = Jacobian::at(step.t, &self.y, step.rates, form);
        known.is_steeper(&now, self.y.len(), STEEPER)
    }

    /// Whether the Jacobian at hand, of the state where the step begins, is steeper by far than where it
    /// ends: the step is too long, and its error is not seen.
    fn flattens(&self, form: &mut dyn ResidualForm, step: &Step) -> bool {
        let Some(known) = self.jacobian.as_ref().filter(|known| known.is_fresh) else {
            return false;
        };
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        if step.constant || n > LARGEST {
            return false;
        }
        let end: Vec<f64> = self.y.iter().zip(&self.z[2]).map(|(y, z)| y + z).collect();
        let rates = self.rates(2, inside, step.h);
        known.is_steeper(&Jacobian::at(step.t + step.h, &end, &rates, form), n, FLATTER)
    }

    /// Forgets factors, but not the order of their columns.
    fn forget_factors(&mut self) {
        if let Some(factors) = self.factors.take() {
            let pattern = self.jacobian.as_ref().and_then(|jacobian| jacobian.pattern.as_ref());
            self.shaped = factors.give_back(pattern).or_else(|| self.shaped.take());
        }
    }

    /// Guesses the stages from the last step's polynomial, or as 0.
    fn guess(&mut self, step: &Step) {
        let n = self.y.len();
        let goes_on = self.has_step
            && self.z[0].len() == n
            && (self.t + self.h - step.t).abs() <= 1e-9 * self.h.abs()
            && step.h.abs() <= 5.0 * self.h.abs();
        if !goes_on {
            self.z.iter_mut().for_each(|z| {
                z.clear();
                z.resize(n, 0.0);
            });
            for (z, c) in self.z.iter_mut().zip(C) {
                let inside = step.x.len() - 1;
                for (z, rate) in z[..inside].iter_mut().zip(step.rates) {
                    *z = c * step.h * rate;
                }
            }
            return;
        }
        let old = self.z.clone();
        let basis = lagrange(&[0.0, C[0], C[1], C[2]]);
        for (z, c) in self.z.iter_mut().zip(C) {
            let theta = 1.0 + c * step.h / self.h;
            let w: Vec<f64> = basis[1..].iter().map(|l| polynomial(l, theta)).collect();
            for (i, place) in z.iter_mut().enumerate() {
                *place = w[0] * old[0][i] + w[1] * old[1][i] + w[2] * old[2][i] - old[2][i];
            }
        }
    }

    /// The slopes of the polynomial through the stages.
    pub(super) fn rates(&self, stage: usize, inside: usize, h: f64) -> Vec<f64> {
        let row = &self.inverse[stage];
        let z = &self.z;
        (0..inside)
            .map(|i| (row[0] * z[0][i] + row[1] * z[1][i] + row[2] * z[2][i]) / h)
            .collect()
    }

    /// The error against the embedded method of order 3, through the real factors.
    fn estimate(&mut self, form: &mut dyn ResidualForm, step: &Step) -> f64 {
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let Some(factors) = &self.factors else { return f64::INFINITY };
        let rates: Vec<f64> = (0..inside)
            .map(|i| {
                let sum = E[0] * self.z[0][i] + E[1] * self.z[1][i] + E[2] * self.z[2][i];
                -sum / step.h
            })
            .collect();
        let norm = |error: &[f64]| -> f64 {
            let mut largest = Largest::default();
            error[..inside].iter().zip(step.weights).for_each(|(e, w)| largest.see(e * w));
            largest.0
        };
        let mut error = vec![0.0; n];
        form.residual(step.t, &self.y, &rates, &mut error);
        error.iter_mut().for_each(|e| *e = -*e);
        factors.solve_real(&mut error);
        let mut size = norm(&error);
        // Where it is large because of a fast motion, once more from there.
        if size >= 1.0 && (self.was_rejected || self.accepted.is_none()) {
            let mut moved = self.y.clone();
            for i in 0..inside {
                moved[i] += error[i];
            }
            form.residual(step.t, &moved, &rates, &mut error);
            error.iter_mut().for_each(|e| *e = -*e);
            factors.solve_real(&mut error);
            size = norm(&error);
        }
        error.truncate(inside);
        error.iter_mut().for_each(|e| *e = e.abs());
        error.push(0.0);
        self.errors = error;
        size
    }
}

impl Integrator for Radau {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        5
    }

    fn dense_order(&self) -> u32 {
        3
    }

    fn source(&self) -> &'static str {
        "Hairer & Wanner, Solving Ordinary Differential Equations II, IV.8 and VII.4"
    }

    fn needs(&self) -> Needs {
        Needs::Residual
    }

    fn errors(&self) -> Option<&[f64]> {
        (!self.errors.is_empty()).then_some(&self.errors)
    }

    fn properties(&self) -> Properties {
        Properties { stiff: true, ..Properties::default() }
    }

    fn estimates(&self) -> bool {
        true
    }

    fn estimate_order(&self) -> u32 {
        4
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        let Some(form) = motion.residual_form() else {
            return Err(FieldError::NotSolved(NAME));
        };
        let mut y = std::mem::take(&mut self.y);
        form.begin(step.t, step.x, &mut y)?;
        let again = self.old == step.x && self.t == step.t;
        self.was_rejected = again;
        self.y = y;
        let (n, inside) = (self.y.len(), step.x.len() - 1);
        let rows = form.rows();
        if (rows.0, rows.1) != (&self.rows.0[..], &self.rows.1[..]) {
            self.rows = (rows.0.to_vec(), rows.1.to_vec());
            (self.jacobian, self.factors, self.has_step) = (None, None, false);
            self.shaped = None;
        }
        if let Some(jacobian) = &mut self.jacobian {
            jacobian.is_fresh &= again;
        }
        let is_old = self.jacobian.as_ref().is_some_and(|j| !j.is_fresh);
        if is_old && (self.contraction > 1e-3 || self.is_steeper(form, &step)) {
            self.forget_factors();
            self.jacobian = None;
        }
        let mut power = [0.0; 3];
        loop {
            if self.jacobian.is_none() {
                self.forget_factors();
                self.jacobian = Some(Jacobian::at(step.t, &self.y, step.rates, form));
            }
            if self.factors.as_ref().is_none_or(|f| f.h != step.h) {
                self.forget_factors();
            }
            let Some(jacobian) = &self.jacobian else { break };
            let is_fresh = jacobian.is_fresh;
            if self.factors.is_none() {
                self.factors = Factors::new(jacobian, step.h, n, &mut self.shaped);
            }
            // A guess is made from the last step, which a try overwrites.
            let last = self.z.clone();
            if self.whole > 0 {
                self.whole -= 1;
                self.guess(&step);
                if let Newton::Solved = self.whole_newton(form, &step, &mut power) {
                    break;
                }
                self.z.clone_from(&last);
            }
            self.guess(&step);
            match self.newton(form, &step, &mut power)? {
                Newton::Solved => break,
                Newton::Stuck if is_fresh => {
                    self.z = last;
                    self.guess(&step);
                    if n <= LARGEST && matches!(self.whole_newton(form, &step, &mut power), Newton::Solved) {
                        self.whole = WHOLE;
                        break;
                    }
                    self.has_step = false;
                    self.contraction = 1.0;
                    (self.t, self.old) = (step.t, step.x.to_vec());
                    return Err(FieldError::NotSolved(NAME));
                }
                Newton::Stuck => {
                    self.z = last;
                    self.forget_factors();
                    self.jacobian = None;
                }
            }
        }
        let error = match self.flattens(form, &step) {
            true => f64::INFINITY,
            false => self.estimate(form, &step),
        };
        // The work by quadrature, and its polynomial with the others'.
        for (stage, row) in A.iter().enumerate() {
            let work = step.h * (row[0] * power[0] + row[1] * power[1] + row[2] * power[2]);
            let dense = &mut self.dense[stage];
            dense.clear();
            dense.extend_from_slice(&self.z[stage][..inside]);
            dense.push(work);
        }
        for ((place, x), z) in next.iter_mut().zip(step.x).zip(&self.dense[2]) {
            *place = x + z;
        }
        (self.t, self.h, self.has_step) = (step.t, step.h, true);
        self.old.clear();
        self.old.extend_from_slice(step.x);
        Ok(error)
    }

    fn growth(&mut self, error: f64) -> Option<f64> {
        let error = error.max(1e-10);
        let work = (2 * MOST + 1) as f64 / (2 * MOST + self.iterations) as f64;
        let plain = 0.9 * work * error.powf(-0.25);
        let mut factor = plain;
        if let Some((h, before)) = self.accepted {
            factor = factor.min((self.h / h).abs() * (before / error).powf(0.25) * plain);
        }
        self.accepted = Some((self.h, error.max(1e-2)));
        let factor = factor.clamp(0.2, 8.0);
        // The same step again saves the factorization.
        Some(if (1.0..1.2).contains(&factor) && self.contraction < 1e-2 { 1.0 } else { factor })
    }

    fn prepare_dense(&mut self, _: &mut dyn Problem) -> Result<(), FieldError> {
        Ok(())
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        let basis = lagrange(&[0.0, C[0], C[1], C[2]]);
        let w: Vec<f64> = basis[1..].iter().map(|l| polynomial(l, theta)).collect();
        for (i, place) in x.iter_mut().enumerate() {
            let d = &self.dense;
            *place = self.old[i] + w[0] * d[0][i] + w[1] * d[1][i] + w[2] * d[2][i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eigenvalues_are_those_of_the_inverse() {
        let lambda = [[GAMMA, 0.0, 0.0], [0.0, ALPHA, BETA], [0.0, -BETA, ALPHA]];
        let inverse = inverse();
        for i in 0..3 {
            for j in 0..3 {
                let mut sum = 0.0;
                for k in 0..3 {
                    for l in 0..3 {
                        sum += T[i][k] * lambda[k][l] * T_INVERSE[l][j];
                    }
                }
                assert!((sum - inverse[i][j]).abs() < 1e-13, "{sum} {}", inverse[i][j]);
            }
        }
    }
}
