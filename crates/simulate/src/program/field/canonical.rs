//! H_p, −H_q, H_pp and the position constraints, each by itself: what a symplectic
//! method evaluates at positions and momenta of different times.

use super::{Field, FieldError};
use crate::program::compiled::Compiled;
use crate::program::problem::Canonical;

/// The compiled derivatives of H.
#[derive(Clone)]
pub(crate) struct Part {
    /// H_p, then −H_q.
    slopes: Compiled,
}

impl Part {
    /// Sets the parameters.
    pub(super) fn prepare(&mut self, constants: &[f64]) {
        self.slopes.prepare(constants);
    }

    /// Where the equations are those of an H.
    pub(crate) fn new(field: &Field) -> Option<Part> {
        let kept = &field.kept;
        field.equations.canonical.as_ref()?;
        let mut roots = kept.terms[field.layout.kinematics.clone()].to_vec();
        roots.extend(&kept.extra);
        Some(Part { slopes: field.compile(&roots, &[]) })
    }
}

impl Canonical for Field {
    fn coordinates(&self) -> usize {
        self.n
    }

    fn gradient(
        &mut self,
        t: f64,
        x: &[f64],
        h_p: &mut [f64],
        force: &mut [f64],
    ) -> Result<(), FieldError> {
        self.load(t, x)?;
        self.evaluations += 1;
        let Some(part) = &mut self.parts.canonical else {
            return Err(FieldError::NotSolved("this integrator"));
        };
        let (rates, forces) = part.slopes.call(&self.work.input).split_at(self.n);
        h_p.copy_from_slice(rates);
        force.copy_from_slice(forces);
        for (what, list) in [("rate", rates), ("force", forces)] {
            if let Some(index) = list.iter().position(|value| !value.is_finite()) {
                return Err(FieldError::NotFinite { what, index });
            }
        }
        Ok(())
    }

    fn metric(&mut self, t: f64, x: &[f64], metric: &mut Vec<f64>) -> Result<(), FieldError> {
        let own = self.matrices(t, x)?.0.to_vec();
        *metric = self.layout.normal.metric.matrix(own).with_zeros().values;
        Ok(())
    }

    fn rows(&mut self, t: f64, x: &[f64]) -> Result<Vec<usize>, FieldError> {
        self.position_rows(t, x)
    }

    fn constraints(
        &mut self,
        t: f64,
        x: &[f64],
        rows: &[usize],
        phi: &mut Vec<f64>,
        psi: &mut Vec<f64>,
        slopes: &mut Vec<f64>,
    ) -> Result<(), FieldError> {
        let n = self.n;
        let places: Vec<Option<usize>> = rows
            .iter()
            .map(|&row| {
                let constraint = self.equations.configuration_residuals[row].0;
                self.equations.velocity_residuals.iter().position(|r| r.0 == constraint)
            })
            .collect();
        let (all_phi, all_psi) = self.residuals(t, x)?;
        phi.clear();
        phi.extend(rows.iter().map(|&row| all_phi[row]));
        psi.clear();
        psi.extend(places.iter().map(|place| place.map_or(0.0, |at| all_psi[at])));
        let [matrix, _] = self.positions_with_zeros();
        slopes.clear();
        for &row in rows {
            slopes.extend_from_slice(&matrix[row * n..(row + 1) * n]);
        }
        Ok(())
    }
}
