//! Unknowns behind the own variables: velocities behind momenta, or the reverse.

use super::{FieldError, Work};
use crate::linalg::{self, lu};
use dalembert_compile::Function;

/// Unknowns behind the own variables.
pub(super) struct Implicit {
    pub(super) function: Box<dyn Function>,
    pub(super) places: Vec<usize>,
    pub(super) count: usize,
}

impl Implicit {
    /// Newton's method from what was found last.
    pub(super) fn solve(&self, work: &mut Work, first: usize) -> Result<(), FieldError> {
        let n = self.count;
        let mut size = f64::INFINITY;
        for _ in 0..50 {
            let guess = &mut work.input[first..first + n];
            guess.copy_from_slice(&work.auxiliary);
            let output = &mut work.auxiliary_output;
            self.function.call(&mut work.auxiliary_registers, &work.input, output);
            let (residual, entries) = output.split_at(n);
            let now = linalg::largest(residual);
            if !residual.iter().all(|r| r.is_finite()) || now > 2.0 * size {
                // Too far: half of the last step back.
                for (w, s) in work.auxiliary.iter_mut().zip(work.step.iter_mut()) {
                    *s *= 0.5;
                    *w += *s;
                }
                if linalg::largest(&work.step) == 0.0 {
                    break;
                }
                continue;
            }
            size = now;
            work.matrix.fill(0.0);
            for (place, value) in self.places.iter().zip(entries) {
                work.matrix[*place] = *value;
            }
            work.step.copy_from_slice(residual);
            if !lu::factor(&mut work.matrix, n, &mut work.order) {
                break;
            }
            lu::solve(&work.matrix, n, &work.order, &mut work.step, &mut work.spare);
            let mut moved = 0f64;
            for (w, s) in work.auxiliary.iter_mut().zip(&work.step) {
                moved = moved.max(s.abs() / w.abs().max(1e-300));
                *w -= s;
            }
            if moved <= 1e-15 || now == 0.0 {
                work.input[first..first + n].copy_from_slice(&work.auxiliary);
                return Ok(());
            }
            // Quadratic convergence: after a step this small nothing is left.
            if moved <= 1e-9 {
                work.input[first..first + n].copy_from_slice(&work.auxiliary);
                return Ok(());
            }
        }
        work.auxiliary.fill(0.0);
        Err(FieldError::Legendre)
    }
}
