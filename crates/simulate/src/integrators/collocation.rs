//! Collocation at Gauss's points: what the Gauss methods share.
//!
//! ```text
//! Y_i = x + Σ_j μ_ij L_j,   L_j = h b_j f(t + c_j h, Y_j),   x₁ = x + Σ_j L_j
//! ```
//!
//! with μ_ij = a_ij / b_j. The method is symplectic if μ_ij + μ_ji = 1, and the numbers
//! used satisfy this exactly, so that rounded coefficients cost nothing: Antoñana,
//! Makazaga & Murua, *Reducing and monitoring round-off error propagation for symplectic
//! implicit Runge–Kutta schemes* (2017). At constant steps the stages are iterated until
//! rounding stops them, and the sum over the steps carries what each addition loses
//! (Hairer, McLachlan & Razakarivony 2008), so that the energy does not drift away with
//! the rounding errors.
//!
//! The stages are found by fixed-point iteration from the polynomial of the last step.
//! It converges while h times the fastest rate is below about 1: these methods are for
//! problems that are not stiff.
//!
//! The error estimate compares the rates at both ends with the polynomial through those
//! at the nodes. Let d be what it misses there, and D the highest derivative of that
//! polynomial by the part of the step. For ẋ = λx with z = hλ both tell how fast a motion is,
//!
//! ```text
//! d = K z^s f,   K = s!/(2s)!,     D = z^{s−1} f,     error = K² z^{2s+1} x / (2s + 1)
//! ```
//!
//! and the estimate is h K |d| ẑ^{s−1} with ẑ = |d| / (K |D|): of h^{2s}, one less than the
//! error of a step, so that the sum over a motion goes with the tolerance. What is smooth, a
//! polynomial of lower degree, is neither in d nor in D. Measured by |f| instead, a small
//! fast motion on top of a large slow one would be taken for one as small as the square of
//! what it is. It is taken component by component: a fast one that is smooth would hide what
//! others miss. (A combination of both ends in which the leading terms of d cancel would vanish
//! for every linear system, where the residual of the collocation polynomial is a multiple
//! of Legendre's P_s.)
//!
//! The dense output integrates the polynomial through the rates at the nodes and at both
//! ends, and a cubic brings it to x₁. The rates at the nodes are off by h^{s+1}, so it is
//! of order s + 1.

use super::iteration::{Changes, Settling};
use super::{Integrator, Needs, Problem, Properties, Step};
use crate::program::field::FieldError;
use dalembert_gauss::linalg;

/// The numbers of one method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) nodes: &'static [f64],
    pub(super) weights: &'static [f64],
    /// (i, j, μ_ij) for the pairs with μ_ij > ½; μ_ji = 1 − μ_ij is exact then.
    pub(super) pairs: &'static [(usize, usize, f64)],
}

/// With an error estimate, the stages may be off by this part of the tolerance,
const CLOSE: f64 = 1e-3;
/// where they converge like this as long as it is not known,
const UNKNOWN: f64 = 0.9;
/// and after so many rounds a shorter step is cheaper.
const PATIENCE: usize = 40;
/// The largest ẑ: the iteration converges for hardly longer steps, and D may happen to be 0.
const FASTEST: f64 = 2.0;

/// A Gauss method and its last step.
pub struct Gauss {
    table: Table,
    mu: Vec<f64>,
    /// For 0, the nodes and 1: the coefficients of Lagrange's polynomials.
    basis: Vec<Vec<f64>>,
    /// Weights of the rates at the nodes in their polynomial at 0 and 1.
    ends: [Vec<f64>; 2],
    /// and in D.
    highest: Vec<f64>,
    /// K.
    share: f64,
    /// Rates at the nodes.
    k: Vec<Vec<f64>>,
    /// Increments L.
    increments: Vec<Vec<f64>>,
    stages: Vec<Vec<f64>>,
    first: Vec<f64>,
    last: Vec<f64>,
    old: Vec<f64>,
    new: Vec<f64>,
    /// What the additions of all steps so far have lost.
    lost: Vec<f64>,
    t: f64,
    h: f64,
    /// Whether the rates are those of a step that ended at t + h.
    has_step: bool,
    /// Correction of the dense output at 1.
    gap: Vec<f64>,
    /// Error estimates of the last step.
    errors: Vec<f64>,
}

impl Gauss {
    pub(super) fn new(table: Table, size: usize) -> Gauss {
        let s = table.nodes.len();
        let mut mu = vec![0.5; s * s];
        for &(i, j, value) in table.pairs {
            mu[i * s + j] = value;
            mu[j * s + i] = 1.0 - value;
        }
        let mut nodes = vec![0.0];
        nodes.extend(table.nodes);
        nodes.push(1.0);
        let at = |x: f64| -> Vec<f64> {
            lagrange(table.nodes).iter().map(|l| polynomial(l, x)).collect()
        };
        let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
        let highest = lagrange(table.nodes).iter().map(|l| l[s - 1] * factorial(s - 1)).collect();
        Gauss {
            highest,
            share: factorial(s) / factorial(2 * s),
            mu,
            basis: lagrange(&nodes),
            ends: [at(0.0), at(1.0)],
            k: vec![vec![0.0; size]; s],
            increments: vec![vec![0.0; size]; s],
            stages: vec![vec![0.0; size]; s],
            first: vec![0.0; size],
            last: vec![0.0; size],
            old: vec![0.0; size],
            new: vec![0.0; size],
            lost: vec![0.0; size],
            gap: vec![0.0; size],
            errors: vec![0.0; size],
            t: 0.0,
            h: 0.0,
            has_step: false,
            table,
        }
    }

    /// Rates at the nodes to begin with: those of the last step's polynomial beyond its
    /// end, or the ones at the beginning.
    fn guess(&mut self, step: &Step) {
        let late = (self.t + self.h - step.t).abs();
        let goes_on = self.has_step && late <= 1e-9 * self.h.abs() && step.h == self.h;
        if !goes_on {
            self.k.iter_mut().for_each(|k| k.copy_from_slice(step.rates));
            return;
        }
        let old = self.k.clone();
        let basis = lagrange(self.table.nodes);
        for (k, c) in self.k.iter_mut().zip(self.table.nodes) {
            let weights: Vec<f64> = basis.iter().map(|l| polynomial(l, 1.0 + c)).collect();
            for (i, rate) in k.iter_mut().enumerate() {
                *rate = weights.iter().zip(&old).map(|(w, own)| w * own[i]).sum();
            }
        }
    }

    /// Iterates until the stages stand still.
    fn iterate(&mut self, motion: &mut dyn Problem, step: &Step) -> Result<(), FieldError> {
        let (s, h) = (self.table.nodes.len(), step.h);
        let mut settling = Settling::default();
        let mut before = f64::INFINITY;
        while !settling.is_lost() && (step.constant || settling.rounds < PATIENCE) {
            for (j, increment) in self.increments.iter_mut().enumerate() {
                let factor = h * self.table.weights[j];
                for (l, k) in increment.iter_mut().zip(&self.k[j]) {
                    *l = factor * k;
                }
            }
            let mut changes = Changes::default();
            let mut weighted = 0f64;
            for i in 0..s {
                for (at, y) in self.stages[i].iter_mut().enumerate() {
                    let sum: f64 =
                        (0..s).map(|j| self.mu[i * s + j] * self.increments[j][at]).sum();
                    let value = step.x[at] + (sum + self.lost[at]);
                    changes.see(value - *y, value, sum, step.weights[at]);
                    weighted = weighted.max((value - *y).abs() * step.weights[at]);
                    *y = value;
                }
            }
            let is_settled = settling.see(changes.largest());
            // What is left is the sum of the changes to come. The first change is no change
            // of this step, so that the second has none to be compared with.
            let theta = if settling.rounds > 2 { weighted / before } else { UNKNOWN };
            let is_close =
                !step.constant && (weighted == 0.0 || theta * weighted <= (1.0 - theta) * CLOSE);
            before = weighted;
            if settling.rounds > 1 && (is_settled || is_close) {
                return Ok(());
            }
            for (j, k) in self.k.iter_mut().enumerate() {
                motion.rates(step.t + self.table.nodes[j] * h, &self.stages[j], k)?;
            }
        }
        Err(FieldError::NotSolved(self.table.name))
    }
}

impl Integrator for Gauss {
    fn name(&self) -> &'static str {
        self.table.name
    }

    fn order(&self) -> u32 {
        2 * self.table.nodes.len() as u32
    }

    fn dense_order(&self) -> u32 {
        self.table.nodes.len() as u32 + 1
    }

    fn source(&self) -> &'static str {
        "Hairer, Lubich & Wanner, Geometric Numerical Integration, II.1.3"
    }

    fn needs(&self) -> Needs {
        Needs::Rates
    }

    fn properties(&self) -> Properties {
        Properties { symplectic: true, ..Properties::default() }
    }

    fn estimates(&self) -> bool {
        true
    }

    fn estimate_order(&self) -> u32 {
        2 * self.table.nodes.len() as u32
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        // What was lost belongs to a sum that goes on.
        if !(step.constant && self.has_step && step.x == self.new.as_slice()) {
            self.lost.fill(0.0);
        }
        self.guess(&step);
        self.has_step = false;
        self.iterate(motion, &step)?;
        (self.t, self.h) = (step.t, step.h);
        self.old.copy_from_slice(step.x);
        self.first.copy_from_slice(step.rates);
        for (i, x) in next.iter_mut().enumerate() {
            let sum: f64 = self.increments.iter().map(|l| l[i]).sum::<f64>() + self.lost[i];
            *x = step.x[i] + sum;
            self.lost[i] = (step.x[i] - *x) + sum;
        }
        self.new.copy_from_slice(next);
        self.has_step = true;
        motion.rates(step.t + step.h, next, &mut self.last)?;
        let miss = |end: usize, rates: &[f64], i: usize| -> f64 {
            let sum: f64 = self.ends[end].iter().zip(&self.k).map(|(w, k)| w * k[i]).sum();
            rates[i] - sum
        };
        let power = self.k.len() as i32 - 1;
        let mut largest = 0f64;
        for (i, weight) in step.weights.iter().enumerate() {
            let ends = [&self.first, &self.last];
            let missed = (0..2).fold(0f64, |m, end| m.max(miss(end, ends[end], i).abs()));
            let highest: f64 = self.highest.iter().zip(&self.k).map(|(w, k)| w * k[i]).sum();
            let known = FASTEST * self.share * highest.abs();
            let fast = if missed < known { FASTEST * missed / known } else { FASTEST };
            let error = step.h.abs() * self.share * missed * fast.powi(power);
            self.errors[i] = error;
            let error = error * weight;
            largest = if error.is_nan() { f64::INFINITY } else { largest.max(error) };
        }
        Ok(largest)
    }

    fn errors(&self) -> Option<&[f64]> {
        Some(&self.errors)
    }

    fn prepare_dense(&mut self, _: &mut dyn Problem) -> Result<(), FieldError> {
        self.gap.fill(0.0);
        let mut end = vec![0.0; self.old.len()];
        self.interpolate(1.0, &mut end);
        for (i, gap) in self.gap.iter_mut().enumerate() {
            *gap = self.new[i] - end[i];
        }
        Ok(())
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        let weights: Vec<f64> = self.basis.iter().map(|l| integral(l, theta)).collect();
        let (inner, s) = (&weights[1..weights.len() - 1], self.k.len());
        let cubic = theta * theta * (3.0 - 2.0 * theta);
        for (i, place) in x.iter_mut().enumerate() {
            let mut sum = weights[0] * self.first[i] + weights[s + 1] * self.last[i];
            sum += inner.iter().zip(&self.k).map(|(w, k)| w * k[i]).sum::<f64>();
            *place = self.old[i] + self.h * sum + cubic * self.gap[i];
        }
        debug_assert!(linalg::largest(&weights).is_finite());
    }
}

/// The coefficients of Lagrange's polynomials for some nodes, ascending.
pub(super) fn lagrange(nodes: &[f64]) -> Vec<Vec<f64>> {
    let one = |j: usize| -> Vec<f64> {
        let mut list = vec![1.0];
        for (m, node) in nodes.iter().enumerate().filter(|(m, _)| *m != j) {
            debug_assert!(m != j);
            let apart = nodes[j] - node;
            let mut next = vec![0.0; list.len() + 1];
            for (i, c) in list.iter().enumerate() {
                next[i + 1] += c / apart;
                next[i] -= c * node / apart;
            }
            list = next;
        }
        list
    };
    (0..nodes.len()).map(one).collect()
}

/// A polynomial's value.
pub(super) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Its integral from 0.
fn integral(coefficients: &[f64], x: f64) -> f64 {
    let terms = coefficients.iter().enumerate().rev();
    x * terms.fold(0.0, |sum, (power, c)| sum * x + c / (power as f64 + 1.0))
}
