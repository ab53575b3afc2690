//! Frozen functions of a state on the branches that a field is on: at a turn, the signs of
//! rounding are not those of the motion. Angles whose cut the motion has passed are continued.

use crate::program::field::{Field, continuity};
use dalembert_compile::{Function, Scratch as Registers, Tape, backends};
use dalembert_expr::{ExprId, Exprs, Switch, Symbol};

/// The branches and windings that frozen functions take as inputs behind the others.
pub(crate) struct OnBranches {
    branches: Box<dyn Function>,
    registers: Registers,
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
        exprs: &Exprs,
        roots: &[ExprId],
        energies: std::ops::Range<usize>,
        (symbols, constants): (&[Symbol], &[f64]),
        variables: &mut Vec<Symbol>,
    ) -> (Vec<ExprId>, OnBranches) {
        let (mut frozen, switches) = exprs.freeze_switches(roots);
        let windings = continuity::windings(exprs, &switches);
        for at in energies {
            let pair = (roots[at], frozen[at]);
            frozen[at] = continuity::continued(exprs, pair, variables, &switches, &windings);
        }
        let plain = |switch: &Switch| switch.plain;
        let values: Vec<ExprId> = switches.iter().map(plain).collect();
        let branches = backends::DEFAULT.compile(Tape::lower(exprs, &values, symbols, variables));
        let mut registers = branches.scratch();
        branches.prepare(&mut registers, constants);
        let first = variables.len();
        variables.extend(switches.iter().map(|s| s.mode));
        variables.extend(windings.iter().map(|w| w.2));
        let angles = windings.iter().map(|w| w.0).collect();
        (frozen, OnBranches { branches, registers, values, angles, first })
    }

    /// Sets the branches and windings among the inputs to those of a field.
    pub(crate) fn set(&mut self, field: &Field, input: &mut [f64]) {
        if self.values.is_empty() {
            return;
        }
        let (input, modes) = input.split_at_mut(self.first);
        let (modes, windings) = modes.split_at_mut(self.values.len());
        self.branches.call(&mut self.registers, input, modes);
        for (mode, &value) in modes.iter_mut().zip(&self.values) {
            *mode = field.mode_of(value).unwrap_or(*mode);
        }
        for (winding, &angle) in windings.iter_mut().zip(&self.angles) {
            *winding = field.winding_of(angle);
        }
    }
}
