//! Branches of the terms, and where they turn.

use super::{Field, FieldError};
use dalembert_compile::Tape;
use dalembert_compile::enclosure::Enclosure;
use dalembert_expr::{ExprId, Switch, SwitchKind};
use std::ops::Range;

impl Field {
    /// The mode of the switch that decides an expression's value, nothing in it frozen.
    pub fn mode_of(&self, plain: ExprId) -> Option<f64> {
        let at = self.switchboard.switches.iter().position(|s| s.plain == plain)?;
        Some(self.modes()[at])
    }

    /// How many switches there are.
    pub fn switches(&self) -> usize {
        self.switchboard.kinds.len()
    }

    /// A switch.
    pub fn switch(&self, at: usize) -> &Switch {
        &self.switchboard.switches[at]
    }

    /// The kind of a switch.
    pub fn kind_of(&self, at: usize) -> SwitchKind {
        self.switchboard.kinds[at]
    }

    /// The guards of a switch.
    pub fn guards_of(&self, at: usize) -> Range<usize> {
        let first: usize = self.switchboard.counts[..at].iter().sum();
        first..first + self.switchboard.counts[at]
    }

    /// How many functions pass through 0 where branches turn.
    pub fn guards(&self) -> usize {
        self.switchboard.counts.iter().sum()
    }

    /// Whether the guards depend on multipliers, so that each look at them is a solution.
    pub fn follows_multipliers(&self) -> bool {
        !self.switchboard.dependent.is_empty()
    }

    /// The switch that a guard belongs to.
    pub fn switch_of(&self, guard: usize) -> usize {
        let mut before = 0;
        for (at, count) in self.switchboard.counts.iter().enumerate() {
            before += count;
            if guard < before {
                return at;
            }
        }
        self.switchboard.counts.len()
    }

    /// The branches the terms are on.
    pub fn modes(&self) -> &[f64] {
        let first = self.switchboard.first_input;
        &self.work.input[first..first + self.switches()]
    }

    /// Puts the terms on branches.
    pub fn set_modes(&mut self, modes: &[f64]) {
        let first = self.switchboard.first_input;
        let own = &mut self.work.input[first..first + modes.len()];
        if own != modes {
            own.copy_from_slice(modes);
            self.work.coupled.renew();
        }
    }

    /// The guards on intervals; `None` where they depend on what is solved for.
    pub(crate) fn enclose_guards(&self) -> Option<Enclosure> {
        if self.follows_multipliers() || self.auxiliary.is_some() {
            return None;
        }
        let guards = self.switchboard.switches.iter().flat_map(|s| s.guards.iter().copied());
        let (roots, kept): (Vec<ExprId>, _) = (guards.collect(), &self.kept);
        let exprs = &self.setting.model.exprs;
        let tape = Tape::lower(exprs, &roots, &kept.symbols, &kept.variables);
        let mut enclosure = Enclosure::new(tape)?;
        enclosure.prepare(&self.constants);
        Some(enclosure)
    }

    /// What the compiled terms read beside (t, q, v), as it is now: branches, and how often
    /// angles have passed their cuts.
    pub(crate) fn held(&self) -> Option<&[f64]> {
        self.work.input.get(1 + self.n + self.size..)
    }

    /// The branches at a state, and the guards there.
    pub fn branches(
        &mut self,
        t: f64,
        x: &[f64],
        modes: &mut Vec<f64>,
        guards: &mut Vec<f64>,
    ) -> Result<(), FieldError> {
        if self.switchboard.dependent.is_empty() {
            self.load(t, x)?;
        } else {
            // Guards that depend on multipliers need them.
            self.evaluate(t, x)?;
            self.solve()?;
        }
        self.read_branches(modes, guards);
        Ok(())
    }

    /// The branches and the guards at what was loaded last.
    pub(super) fn read_branches(&mut self, modes: &mut Vec<f64>, guards: &mut Vec<f64>) {
        let count = self.switches();
        let work = &mut self.work;
        if let Some(function) = &self.switchboard.function {
            function.call(&mut work.switch_registers, &work.input, &mut work.switch_output);
        }
        modes.clear();
        modes.extend_from_slice(&work.switch_output[..count]);
        guards.clear();
        guards.extend_from_slice(&work.switch_output[count..]);
    }
}
