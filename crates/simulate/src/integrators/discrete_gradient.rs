//! A discrete gradient for the reduced bracket ẋ = J_r(x) ∇H_r(x): order 2, H_r conserved
//! up to rounding.
//!
//! ```text
//! (x₁ − x₀)/h = J_r(m) ∇̄H,   m = (x₀ + x₁)/2,   d = x₁ − x₀
//! ∇̄H = ∇H_r(m) + (H_r(x₁) − H_r(x₀) − ∇H_r(m)·d) / (d·d) · d
//! ```
//!
//! Gonzalez's midpoint discrete gradient (1996): ∇̄H·d = H_r(x₁) − H_r(x₀), and J_r is
//! skew, so that H_r(x₁) = H_r(x₀). The correction is of h², so the order is that of the
//! midpoint rule. In place of H_r(x₀) stands its value where the integrator began, which
//! is the same number but for rounding; so rounding errors of H_r do not add up.
//!
//! For constraints that are linear in the velocities and not integrated (positions would
//! drift off φ = 0 while H_r is held), without forces, at constant steps. Lengths d·d are
//! in the units of the model. Iterated until rounding stops it. A change of chart changes
//! J_r and p̃ and leaves H_r as it is.
//!
//! The dense output is the cubic through both ends and their rates, of order 2.

use super::iteration::{Changes, Settling};
use super::rattle::hermite;
use super::{Integrator, Problem, Needs, Properties, Step, Structure};
use crate::program::field::FieldError;
use dalembert_gauss::linalg;

/// Its name.
pub const NAME: &str = "discrete-gradient";

/// The method and its last step.
pub struct DiscreteGradient {
    old: Vec<f64>,
    new: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
    lost: Vec<f64>,
    /// H_r where it began.
    energy: Option<f64>,
    end: f64,
    h: f64,
    has_step: bool,
}

/// The method for states of a size.
pub fn new(size: usize) -> DiscreteGradient {
    DiscreteGradient {
        old: vec![0.0; size],
        new: vec![0.0; size],
        first: vec![0.0; size],
        last: vec![0.0; size],
        lost: vec![0.0; size],
        energy: None,
        end: 0.0,
        h: 0.0,
        has_step: false,
    }
}

impl DiscreteGradient {
    fn advance(
        &mut self,
        system: &mut dyn Structure,
        step: &Step,
        next: &mut [f64],
    ) -> Result<(), FieldError> {
        let size = step.x.len() - 1;
        let x0 = &step.x[..size];
        let mut slope = vec![0.0; size];
        let mut elsewhere = slope.clone();
        let start = system.energy(step.t, x0, &mut slope)?;
        let energy = *self.energy.get_or_insert(start);
        let mut moved: Vec<f64> = step.rates[..size].iter().map(|rate| step.h * rate).collect();
        let (mut middle, mut x1) = (x0.to_vec(), x0.to_vec());
        let mut matrix = Vec::new();
        let mut settling = Settling::default();
        loop {
            for i in 0..size {
                x1[i] = x0[i] + (moved[i] + self.lost[i]);
                middle[i] = x0[i] + 0.5 * moved[i];
            }
            system.energy(step.t, &middle, &mut slope)?;
            let at_end = system.energy(step.t, &x1, &mut elsewhere)?;
            let length = linalg::dot(&moved, &moved);
            if length > 0.0 {
                let miss = (at_end - energy - linalg::dot(&slope, &moved)) / length;
                for (g, d) in slope.iter_mut().zip(&moved) {
                    *g += miss * d;
                }
            }
            system.matrix(step.t, &middle, &mut matrix)?;
            let mut changes = Changes::default();
            for i in 0..size {
                let by = step.h * linalg::dot(&matrix[i * size..(i + 1) * size], &slope);
                changes.see(by - moved[i], x1[i], by, step.weights[i]);
                moved[i] = by;
            }
            if settling.see(changes.largest()) {
                break;
            }
            if settling.is_lost() {
                return Err(FieldError::NotSolved(NAME));
            }
        }
        for i in 0..size {
            let by = moved[i] + self.lost[i];
            next[i] = x0[i] + by;
            self.lost[i] = (x0[i] - next[i]) + by;
        }
        Ok(())
    }
}

impl Integrator for DiscreteGradient {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        2
    }

    fn dense_order(&self) -> u32 {
        2
    }

    fn source(&self) -> &'static str {
        "Gonzalez (1996); Hairer, Lubich & Wanner, Geometric Numerical Integration, V.5"
    }

    fn needs(&self) -> Needs {
        Needs::Structure
    }

    fn properties(&self) -> Properties {
        Properties { keeps_energy: true, keeps_constraints: true, ..Properties::default() }
    }

    fn estimates(&self) -> bool {
        false
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        if !(self.has_step && step.x == self.new.as_slice()) {
            self.lost.fill(0.0);
            self.energy = None;
        }
        self.has_step = false;
        let Some(system) = motion.structure() else { return Err(FieldError::NotSolved(NAME)) };
        self.advance(system, &step, next)?;
        let work = step.x.len() - 1;
        next[work] = step.x[work];
        (self.end, self.h) = (step.t + step.h, step.h);
        self.old.copy_from_slice(step.x);
        self.first.copy_from_slice(step.rates);
        self.new.copy_from_slice(next);
        self.has_step = true;
        Ok(0.0)
    }

    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError> {
        motion.rates(self.end, &self.new, &mut self.last)
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        hermite(theta, self.h, [&self.old, &self.first, &self.new, &self.last], x);
    }
}
