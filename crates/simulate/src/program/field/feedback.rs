//! Drift held by the rates themselves: Baumgarte's terms, and feedback of the constraints.

use super::{Field, FieldError};
use crate::normal_form::layout::Chosen;
use crate::program::projection;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Patterns, Terms};

impl Field {
    /// Adds feedback to b.
    #[inline(never)]
    pub(super) fn baumgarte(&mut self, t: f64, x: &[f64], rate: f64) -> Result<(), FieldError> {
        let positions: Vec<usize> =
            self.equations.configuration_residuals.iter().map(|r| r.0).collect();
        let velocities: Vec<usize> =
            self.equations.velocity_residuals.iter().map(|r| r.0).collect();
        let (phi, psi) = self.residuals(t, x)?;
        let (phi, psi) = (phi.to_vec(), psi.to_vec());
        self.work.is_fresh = false;
        let bias = &mut self.work.output[self.layout.normal.bias.clone()];
        for (place, row) in self.equations.rows.iter().enumerate() {
            let position = positions.iter().position(|r| r == row);
            if let Some(at) = velocities.iter().position(|r| r == row) {
                let factor = if position.is_some() { 2.0 * rate } else { rate };
                bias[place] -= factor * psi[at];
            }
            if let Some(at) = position {
                bias[place] -= rate * rate * phi[at];
            }
        }
        Ok(())
    }

    /// Feedback of the constraints into the rates: −κ times what a projection would
    /// move positions and velocities by.
    #[inline(never)]
    pub(super) fn invariant(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        rate: f64,
    ) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let (phi, psi) = self.residuals(t, x)?;
        let biases: [Vec<f64>; 2] =
            [phi.iter().map(|r| -r).collect(), psi.iter().map(|r| -r).collect()];
        let (mut matrix, mut mass) = (Vec::new(), Vec::new());
        self.position_jacobian(&mut matrix);
        self.mass(&mut mass);
        let mut rows = Chosen::default();
        rows.take_rows(&self.velocity_rows, &self.layout.normal.jacobian, &self.work.jacobian);
        let own = self.layout.normal.patterns();
        let own = own.map(|of| Patterns { jacobian: rows.pattern(), ..of });
        let positions = (self.residuals.mass.pattern(), self.residuals.phi_q.pattern());
        let positions = match positions {
            (Some(metric), Some(jacobian)) => Some(Patterns { metric, jacobian }),
            _ => None,
        };
        let metric = self.work.metric.clone();
        let (mass_inertia, inertia) = (&self.noise.mass_inertia, &self.noise.inertia);
        let problems = [
            (n, 0, &*mass, mass_inertia, &*matrix, &biases[0], positions),
            (size, n, &*metric, inertia, rows.jacobian(), &biases[1], own),
        ];
        for (n, first, metric, inertia, jacobian, bias, patterns) in problems {
            if bias.is_empty() {
                continue;
            }
            let zero = vec![0.0; n];
            let terms = Terms {
                n,
                m: bias.len(),
                metric,
                force: &zero,
                nonideal: &zero,
                jacobian,
                bias,
                noise: None,
                inertia,
                patterns,
            };
            let mut outcome = Outcome::default();
            projection::solve(&mut self.work.scratch, &terms, 1e-9, &mut outcome)?;
            for (rate_of, d) in dx[first..].iter_mut().zip(&outcome.v_dot) {
                *rate_of += rate * d;
            }
        }
        Ok(())
    }
}
