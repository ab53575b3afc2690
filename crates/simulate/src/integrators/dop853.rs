//! DOP853: an explicit Runge–Kutta method of order 8 with error estimates of orders
//! 5 and 3 and a dense output of order 7.
//!
//! Dormand and Prince; Hairer, Nørsett and Wanner, *Solving Ordinary Differential
//! Equations I*, 2nd ed., II.5 and II.6. Twelve evaluations a step, three more for
//! the dense output. For problems that are smooth and not stiff.

use super::dop853_table::{A, ALL_STAGES, B, C, D, E3, E5, Row, STAGES};
use super::{Integrator, Problem, Needs, Step, Stiffness};
use crate::program::field::FieldError;
use dalembert_machine::{Wide, wide};

/// Its name.
pub const NAME: &str = "dop853";

/// The method and its last step.
pub struct Dop853 {
    size: usize,
    /// The size with zeros behind it, so that sums go over whole blocks.
    width: usize,
    /// The rates at the first stage; of the others, how they differ from these. Where rates are
    /// constant nothing is rounded but their product with the step. Block by block.
    k: Vec<[f64; BLOCK]>,
    /// A stage's state.
    y: Vec<f64>,
    t: f64,
    h: f64,
    old: Vec<f64>,
    new: Vec<f64>,
    last: Vec<f64>,
    /// Coefficients of the dense output.
    dense: Vec<Vec<f64>>,
    stiffness: Option<Stiffness>,
    /// Whether the rates at the end of the last step are known.
    has_end: bool,
    /// Error estimates of the last step.
    errors: Vec<f64>,
}

/// Components that are summed side by side.
const BLOCK: usize = 8;

/// From here on h|λ| is at the edge of the region of stability.
const EDGE: f64 = 6.1;

/// The method for states of a size.
pub fn new(size: usize) -> Dop853 {
    let width = size.next_multiple_of(BLOCK);
    Dop853 {
        size,
        width,
        k: vec![[0.0; BLOCK]; width / BLOCK * ALL_STAGES],
        y: vec![0.0; width],
        t: 0.0,
        h: 0.0,
        old: vec![0.0; width],
        new: vec![0.0; size],
        last: vec![0.0; size],
        dense: vec![vec![0.0; size]; 7],
        stiffness: None,
        has_end: false,
        errors: vec![0.0; size],
    }
}

/// Σ a_i (k_i − k₁) of a block.
#[inline(always)]
fn sum(k: &[[f64; BLOCK]], blocks: usize, row: Row, block: usize) -> [f64; BLOCK] {
    let mut sum = [0.0; BLOCK];
    let others = if let [(0, _), others @ ..] = row { others } else { row };
    for &(stage, a) in others {
        let k = &k[stage * blocks + block];
        for i in 0..BLOCK {
            sum[i] += a * k[i];
        }
    }
    sum
}

/// y = x + h Σ a_i k_i = x + h (c k₁ + Σ a_i (k_i − k₁)), c = Σ a_i
struct Combine<'a> {
    row: Row,
    c: f64,
    of: &'a mut Dop853,
}

impl Wide for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Combine { row, c, of: Dop853 { k, h, old, y, .. } } = self;
        let (old, y) = (old.as_chunks::<BLOCK>().0, y.as_chunks_mut::<BLOCK>().0);
        let blocks = y.len();
        for (block, (y, x)) in y.iter_mut().zip(old).enumerate() {
            let (sum, k) = (sum(k, blocks, row, block), &k[block]);
            for i in 0..BLOCK {
                y[i] = x[i] + *h * (c * k[i] + sum[i]);
            }
        }
    }
}

/// The errors of a step, and the largest in units of what components may be off by.
struct Errors<'a> {
    weights: &'a [f64],
    of: &'a mut Dop853,
}

impl Wide for Errors<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Errors { weights, of: Dop853 { k, h, width, errors, .. } } = self;
        let blocks = *width / BLOCK;
        let mut largest = [0f64; BLOCK];
        for (block, errors) in errors.chunks_mut(BLOCK).enumerate() {
            let (five, three) = (sum(k, blocks, E5, block), sum(k, blocks, E3, block));
            let mut own = [0.0; BLOCK];
            for i in 0..BLOCK {
                // In its own units a component may be so small that its square is 0.
                let size = five[i].abs().max(three[i].abs());
                let (five, three) = (five[i] / size, three[i] / size);
                let part = five * five / (five * five + 0.01 * three * three).sqrt();
                own[i] = if size > 0.0 { h.abs() * size * part } else { 0.0 };
            }
            errors.copy_from_slice(&own[..errors.len()]);
            let weights = &weights[block * BLOCK..];
            for (largest, (error, weight)) in largest.iter_mut().zip(errors.iter().zip(weights)) {
                let error = error * weight;
                *largest = if error.is_nan() { f64::INFINITY } else { largest.max(error) };
            }
        }
        largest.into_iter().fold(0.0, f64::max)
    }
}

impl Dop853 {
    fn combine(&mut self, row: Row, c: f64) {
        wide(Combine { row, c, of: self });
    }

    /// The rates at a stage.
    fn evaluate(&mut self, motion: &mut dyn Problem, stage: usize) -> Result<(), FieldError> {
        let (first, others) = self.k.as_flattened_mut().split_at_mut(self.width);
        let k = &mut others[(stage - 1) * self.width..stage * self.width];
        motion.rates(self.t + C[stage] * self.h, &self.y[..self.size], &mut k[..self.size])?;
        k.iter_mut().zip(first).for_each(|(k, first)| *k -= *first);
        Ok(())
    }

    /// |λ| as |f(x) − f(x̂)| / |x − x̂| for the two states at the end of a step, whose
    /// difference is mostly along the fastest motion, each component in units of what it may
    /// be off by: Hairer & Wanner II, IV.2. The work done on the system, last in a state,
    /// moves nothing.
    fn look(&self, last: &[f64], weights: &[f64]) -> Option<Stiffness> {
        let moved = self.size.saturating_sub(1);
        let (mut rates, mut states) = (0.0, 0.0);
        let (mut component, mut most) = (0, 0.0);
        let k = self.k.as_flattened();
        for i in 0..moved {
            let last_but_one = k[(STAGES - 1) * self.width + i];
            let by = (k[STAGES * self.width + i] - last_but_one) * weights[i];
            let apart = (self.new[i] - last[i]) * weights[i];
            rates += by * by;
            states += apart * apart;
            if apart.abs() > most {
                (component, most) = (i, apart.abs());
            }
        }
        if states == 0.0 {
            return None;
        }
        let h_lambda = self.h.abs() * (rates / states).sqrt();
        h_lambda.is_finite().then_some(Stiffness { h_lambda, limit: EDGE, component })
    }
}

impl Integrator for Dop853 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        8
    }

    fn dense_order(&self) -> u32 {
        7
    }

    fn source(&self) -> &'static str {
        "Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, II.5"
    }

    fn needs(&self) -> Needs {
        Needs::Rates
    }

    fn estimates(&self) -> bool {
        true
    }

    fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        let Step { t, h, x, rates, weights, looks, .. } = step;
        (self.t, self.h) = (t, h);
        let size = self.size;
        self.old[..size].copy_from_slice(x);
        self.k.as_flattened_mut()[..size].copy_from_slice(rates);
        for stage in 1..STAGES {
            self.combine(A[stage], C[stage]);
            self.evaluate(motion, stage)?;
        }
        // The last stage and the new state are both at t + h.
        self.last.copy_from_slice(&self.y[..size]);
        self.combine(B, 1.0);
        self.new.copy_from_slice(&self.y[..size]);
        next.copy_from_slice(&self.new);
        (self.stiffness, self.has_end) = (None, looks);
        if looks {
            self.evaluate(motion, STAGES)?;
            self.stiffness = self.look(&self.last, weights);
        }
        // Two estimates, combined so that the result behaves like order 8; the component
        // that is off most counts, so that others do not hide it.
        Ok(wide(Errors { weights, of: self }))
    }

    fn errors(&self) -> Option<&[f64]> {
        Some(&self.errors)
    }

    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError> {
        if !self.has_end {
            self.y[..self.size].copy_from_slice(&self.new);
            self.evaluate(motion, STAGES)?;
            self.has_end = true;
        }
        for stage in STAGES + 1..ALL_STAGES {
            self.combine(A[stage], C[stage]);
            self.evaluate(motion, stage)?;
        }
        let (h, last, k) = (self.h, STAGES * self.width, self.k.as_flattened());
        for at in 0..self.size {
            let delta = self.new[at] - self.old[at];
            let first = k[at];
            let last = first + k[last + at];
            self.dense[0][at] = delta;
            self.dense[1][at] = h * first - delta;
            self.dense[2][at] = 2.0 * delta - h * (last + first);
        }
        for (power, row) in D.iter().enumerate() {
            for (block, into) in self.dense[3 + power].chunks_mut(BLOCK).enumerate() {
                let sum = sum(&self.k, self.width / BLOCK, row, block);
                into.iter_mut().zip(sum).for_each(|(place, sum)| *place = h * sum);
            }
        }
        Ok(())
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        for (at, place) in x.iter_mut().enumerate() {
            let mut y = 0.0;
            for (i, row) in self.dense.iter().rev().enumerate() {
                y += row[at];
                y *= if i % 2 == 0 { theta } else { 1.0 - theta };
            }
            *place = self.old[at] + y;
        }
    }
}
