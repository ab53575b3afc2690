//! The constraints at a state: φ and ψ, and what their projection needs of them, compiled apart
//! from the terms. A motion is on the constraints where they are 0.

use super::{Field, FieldError, replace};
use crate::normal_form::layout::Sparse;
use dalembert_compile::Function;
use std::sync::Arc;

/// φ, ψ and their derivatives with respect to q and v.
#[derive(Clone)]
pub(super) struct Residuals {
    pub(super) function: Arc<dyn Function>,
    pub(super) positions: usize,
    pub(super) velocities: usize,
    pub(super) phi_q: Sparse,
    pub(super) mass: Sparse,
    pub(super) mass_diagonal: Vec<Option<usize>>,
    pub(super) slopes: usize,
}

impl Field {
    /// φ and ψ at a state. Where they were evaluated last they are not again.
    pub fn residuals(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.load(t, x)?;
        let work = &mut self.work;
        if replace(&mut work.residuals_at, &work.input) {
            self.residuals.function.call(
                &mut work.residual_registers,
                &work.input,
                &mut work.residual_output,
            );
        }
        let (phi, rest) = work.residual_output.split_at(self.residuals.positions);
        Ok((phi, &rest[..self.residuals.velocities]))
    }

    /// How many position residuals there are.
    pub fn position_count(&self) -> usize {
        self.residuals.positions
    }

    /// φ of the last [`residuals`](Field::residuals).
    pub fn position_residuals(&self) -> &[f64] {
        &self.work.residual_output[..self.residuals.positions]
    }

    /// ψ of the last [`residuals`](Field::residuals).
    pub fn velocity_residuals(&self) -> &[f64] {
        let first = self.residuals.positions;
        &self.work.residual_output[first..first + self.residuals.velocities]
    }

    /// The row of A of each velocity residual.
    pub fn velocity_rows(&self) -> &[usize] {
        &self.velocity_rows
    }

    /// Whether velocities are held by φ_q in the metric M as positions are: q̇ are the own
    /// velocities, and all constraints are on positions, in the order of the rows.
    pub fn has_rows_of_positions(&self) -> bool {
        self.has_rows_of_positions
    }

    /// φ_q at the state of the last [`residuals`](Field::residuals): dense, or the entries of a
    /// large one.
    pub fn position_jacobian(&self, matrix: &mut Vec<f64>) {
        self.residuals.phi_q.fill(&self.work.residual_output, matrix);
    }

    /// φ_q and M among the outputs of the residuals.
    pub(crate) fn position_matrices(&self) -> (&Sparse, &Sparse) {
        (&self.residuals.phi_q, &self.residuals.mass)
    }

    /// φ_q and M at the state of the last [`residuals`](Field::residuals), dense whatever their
    /// size.
    pub(crate) fn positions_with_zeros(&self) -> [Vec<f64>; 2] {
        let output = &self.work.residual_output;
        let dense = |of: &Sparse| of.matrix(of.values(output)).with_zeros().values;
        [dense(&self.residuals.phi_q), dense(&self.residuals.mass)]
    }

    /// M at the state of the last [`residuals`](Field::residuals), likewise; empty if
    /// there are no position constraints.
    pub fn mass(&self, matrix: &mut Vec<f64>) {
        self.residuals.mass.fill(&self.work.residual_output, matrix);
    }

    /// M_ii at the state of the last [`residuals`](Field::residuals); `None` if there are no
    /// position constraints.
    pub fn mass_of(&self, i: usize) -> Option<f64> {
        let at = self.residuals.mass_diagonal.get(i)?;
        Some(at.map_or(0.0, |at| self.work.residual_output[at]))
    }

    /// The entries of S of the chart, by which the dependent velocities follow; none if
    /// there is no chart.
    pub fn chart_entries(&mut self, t: f64, x: &[f64]) -> &[f64] {
        if self.residuals.slopes == self.work.residual_output.len() || self.residuals(t, x).is_err()
        {
            return &[];
        }
        &self.work.residual_output[self.residuals.slopes..]
    }
}
