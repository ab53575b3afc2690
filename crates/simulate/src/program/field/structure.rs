//! H_r, its gradient, and J_r: what a method that conserves H_r by its own algebra
//! evaluates.

use super::{Field, FieldError};
use crate::normal_form::layout::places;
use crate::program::compiled::Compiled;
use crate::program::problem::Structure;
use dalembert_expr::Symbol;

/// The compiled structure.
#[derive(Clone)]
pub(crate) struct Part {
    /// H_r and ∇H_r.
    energy: Compiled,
    /// The entries of J_r.
    matrix: Compiled,
    places: Vec<usize>,
}

impl Part {
    /// Sets the parameters.
    pub(super) fn prepare(&mut self, constants: &[f64]) {
        self.energy.prepare(constants);
        self.matrix.prepare(constants);
    }

    /// Where the equations are J_r ∇H_r.
    pub(crate) fn new(field: &Field) -> Option<Part> {
        let bracket = field.equations.bracket.as_ref()?;
        let (&h_r, entries) = field.kept.extra.split_first()?;
        let by: Vec<Symbol> = field.kept.variables[1..1 + field.n + field.size].to_vec();
        let mut roots = vec![h_r];
        roots.extend(field.setting.model.exprs.gradient(h_r, &by));
        Some(Part {
            energy: field.compile(&roots, &[]),
            matrix: field.compile(entries, &[]),
            places: places(&bracket.structure),
        })
    }
}

impl Structure for Field {
    fn energy(&mut self, t: f64, x: &[f64], gradient: &mut [f64]) -> Result<f64, FieldError> {
        self.load(t, x)?;
        self.evaluations += 1;
        let Some(part) = &mut self.parts.structure else {
            return Err(FieldError::NotSolved("this integrator"));
        };
        let output = part.energy.call(&self.work.input);
        if let Some(index) = output.iter().position(|value| !value.is_finite()) {
            return Err(FieldError::NotFinite { what: "slope of H_r", index });
        }
        gradient.copy_from_slice(&output[1..]);
        Ok(output[0])
    }

    fn matrix(&mut self, t: f64, x: &[f64], matrix: &mut Vec<f64>) -> Result<(), FieldError> {
        self.load(t, x)?;
        let Some(part) = &mut self.parts.structure else {
            return Err(FieldError::NotSolved("this integrator"));
        };
        let size = self.n + self.size;
        matrix.clear();
        matrix.resize(size * size, 0.0);
        let output = part.matrix.call(&self.work.input);
        for (place, value) in part.places.iter().zip(output) {
            matrix[*place] = *value;
        }
        if let Some(index) = output.iter().position(|value| !value.is_finite()) {
            return Err(FieldError::NotFinite { what: "entry of J_r", index });
        }
        Ok(())
    }
}
