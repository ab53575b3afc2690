//! Frozen functions of a state on the branches that a field is on: at a turn, the signs of
//! rounding are not those of the motion. Angles whose cut the motion has passed are continued.

use crate::program::compiled::Compiled;
use crate::program::field::{Field, continuity};
use crate::setting::Setting;
use dalembert_expr::{ExprId, Switch, Symbol};

/// The branches and windings that frozen functions take as inputs behind the others.
#[derive(Clone)]
pub(crate) struct OnBranches {
    /// None where there are no switches.
    branches: Option<Compiled>,
    values: Vec<ExprId>,
    /// The angles that may be continued; how often their cuts were passed comes last among
    /// the inputs.
    angles: Vec<ExprId>,
    /// Where the branches begin among the inputs.
    pub(crate) first: usize,
}

impl OnBranches {
    /// Freezes roots, continues the angles of those that are energies, and appends the inputs
    /// that this takes to the variables.
    pub(crate) fn freeze(
        setting: &Setting,
        roots: &[ExprId],
        energies: std::ops::Range<usize>,
        variables: &mut Vec<Symbol>,
    ) -> (Vec<ExprId>, OnBranches) {
        let exprs = &setting.model.exprs;
        let (mut frozen, switches) = exprs.freeze_switches(roots);
        let windings = continuity::windings(exprs, &switches);
        for at in energies {
            let pair = (roots[at], frozen[at]);
            frozen[at] = continuity::continued(exprs, pair, variables, &switches, &windings);
        }
        let plain = |switch: &Switch| switch.plain;
        let values: Vec<ExprId> = switches.iter().map(plain).collect();
        let branches = (!values.is_empty()).then(|| Compiled::new(setting, &values, variables));
        let first = variables.len();
        variables.extend(switches.iter().map(|s| s.mode));
        variables.extend(windings.iter().map(|w| w.2));
        let angles = windings.iter().map(|w| w.0).collect();
        (frozen, OnBranches { branches, values, angles, first })
    }

    /// Sets the parameters.
    pub(crate) fn prepare(&mut self, constants: &[f64]) {
        self.branches.iter_mut().for_each(|branches| branches.prepare(constants));
    }

    /// Sets the branches and windings among the inputs to those of a field.
    pub(crate) fn set(&mut self, field: &Field, input: &mut [f64]) {
        let Some(branches) = &mut self.branches else { return };
        let (input, modes) = input.split_at_mut(self.first);
        let (modes, windings) = modes.split_at_mut(self.values.len());
        branches.call_into(input, modes);
        for (mode, &value) in modes.iter_mut().zip(&self.values) {
            *mode = field.mode_of(value).unwrap_or(*mode);
        }
        for (winding, &angle) in windings.iter_mut().zip(&self.angles) {
            *winding = field.winding_of(angle);
        }
    }
}
