//! What further compiled parts are made of: the terms with their branches frozen.
//!
//! Integrators that need more than rates ask for it before a run; what none asks for
//! is never derived.

use super::{Field, canonical, continuity, expansion, residual, structure};
use crate::normal_form::layout::entries;
use crate::program::compiled::Compiled;
use crate::program::problem::Needs;
use crate::program::projection::Projection;
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{ExprId, Jacobian, Symbol};

/// The frozen expressions of a field, in the order of its outputs.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) terms: Vec<ExprId>,
    pub(super) residuals: Vec<ExprId>,
    pub(super) implicit: Vec<ExprId>,
    pub(super) extra: Vec<ExprId>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) variables: Vec<Symbol>,
}

/// Parts that integrators asked for.
#[derive(Clone, Default)]
pub(super) struct Parts {
    pub(super) residual: Option<residual::Part>,
    /// In a place of its own: it is taken out while it is at work.
    pub(super) expansion: Option<Box<expansion::Part>>,
    pub(super) canonical: Option<canonical::Part>,
    pub(super) structure: Option<structure::Part>,
    pub(super) continuity: Option<continuity::Continuity>,
    /// For the choice of independent position rows.
    pub(super) projection: Box<Projection>,
}

/// The quantities beyond the normal form that a part may need: f of Hamilton's
/// equations, H_r and J_r of the bracket.
pub(super) fn extra(equations: &EquationsOfMotion) -> Vec<ExprId> {
    let mut list = Vec::new();
    if let Some(bracket) = &equations.bracket {
        list.push(bracket.hamiltonian);
        list.extend(entries(&bracket.structure));
    }
    list.extend(equations.canonical.iter().flat_map(|canonical| &canonical.force));
    list
}

/// Puts entries, row by row, into a matrix of the same pattern.
fn fill(matrix: &mut Jacobian, entries: &[ExprId]) {
    matrix.rows.iter_mut().flatten().zip(entries).for_each(|(place, &e)| place.1 = e);
}

impl Field {
    /// Compiles what an integrator needs. False if the equations do not have it.
    pub fn equip(&mut self, needs: Needs) -> bool {
        // These have Γ entry by entry.
        let has_entries = self.equations.bodies.is_none();
        match needs {
            Needs::Residual | Needs::Series if !has_entries => false,
            Needs::Rates => true,
            Needs::Residual => {
                if self.parts.residual.is_none() {
                    self.parts.residual = Some(residual::Part::new(self));
                }
                true
            }
            Needs::Series => {
                if self.parts.expansion.is_none() {
                    self.parts.expansion = expansion::Part::new(self).ok().map(Box::new);
                }
                self.parts.expansion.is_some()
            }
            Needs::Canonical => {
                self.parts.canonical = canonical::Part::new(self);
                self.parts.canonical.is_some()
            }
            Needs::Structure => {
                self.parts.structure = structure::Part::new(self);
                self.parts.structure.is_some()
            }
        }
    }

    /// Expressions of the field's variables, and further ones, as a function.
    pub(super) fn compile(&self, roots: &[ExprId], more: &[Symbol]) -> Compiled {
        let mut variables = self.kept.variables.clone();
        variables.extend(more);
        Compiled::new(&self.setting, roots, &variables)
    }

    /// The equations with the branches of their terms frozen. What is not compiled into the
    /// field is not frozen, and left out.
    pub(super) fn frozen_equations(&self) -> EquationsOfMotion {
        let (kept, normal) = (&self.kept, &self.layout.normal);
        let mut equations = self.equations.clone();
        equations.kinematics = kept.terms[self.layout.kinematics.clone()].to_vec();
        fill(&mut equations.metric, normal.metric.entries(&kept.terms));
        equations.force = kept.terms[normal.force.clone()].to_vec();
        equations.nonideal = kept.terms[normal.nonideal.clone()].to_vec();
        fill(&mut equations.jacobian, normal.jacobian.entries(&kept.terms));
        equations.bias = kept.terms[normal.bias.clone()].to_vec();
        let residuals =
            equations.configuration_residuals.iter_mut().chain(&mut equations.velocity_residuals);
        residuals.zip(&kept.residuals).for_each(|(place, &e)| place.1 = e);
        if let Some(auxiliary) = &mut equations.auxiliary {
            let (residuals, slopes) = kept.implicit.split_at(auxiliary.residuals.len());
            auxiliary.residuals = residuals.to_vec();
            fill(&mut auxiliary.jacobian, slopes);
        }
        equations.lift = Jacobian { rows: Vec::new(), columns: self.size };
        equations.lift_bias.clear();
        equations.own.clear();
        (equations.chart, equations.canonical, equations.bracket) = (None, None, None);
        equations.intermediate.clear();
        equations
    }

    /// Independent position rows at a state that satisfies the constraints.
    pub(super) fn position_rows(
        &mut self,
        t: f64,
        x: &[f64],
    ) -> Result<Vec<usize>, super::FieldError> {
        let count = self.residuals.positions;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut projection = std::mem::take(&mut self.parts.projection);
        let chosen = projection.choose(self, t, x, crate::program::projection::RANK);
        let rows = projection.positions().map_or_else(|| (0..count).collect(), <[usize]>::to_vec);
        self.parts.projection = projection;
        chosen?;
        Ok(rows)
    }
}
