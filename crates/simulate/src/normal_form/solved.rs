//! The unknowns that a model speaks of (multipliers, reactions, shares of rows), read from a solution.

use super::Matrix;
use crate::setting::Table;
use dalembert_model::system::{System, Unknown};

/// What the multipliers and reactions that a model speaks of are read from.
pub struct Solved<'a> {
    /// λ.
    pub multipliers: &'a [f64],
    /// Which of them are not unique.
    pub indeterminate: &'a [bool],
    /// Qᶜ.
    pub constraint_force: &'a [f64],
    /// A.
    pub jacobian: &'a Matrix,
}

impl Solved<'_> {
    /// Sets the unknowns of a system; what is not unique is NaN.
    pub fn fill(&self, system: &System, table: &mut Table) {
        for &(symbol, unknown) in &system.unknowns {
            let value = match unknown {
                Unknown::Multiplier(row) | Unknown::Share(_, row)
                    if self.indeterminate.get(row).copied().unwrap_or(true) =>
                {
                    f64::NAN
                }
                Unknown::Multiplier(row) => self.multipliers[row],
                Unknown::Reaction(i) => self.constraint_force[i],
                // What these are in a phase is told where the phase is.
                Unknown::Touch(_) => f64::NAN,
                Unknown::Share(i, row) => self.jacobian.entry(row, i) * self.multipliers[row],
            };
            table.set(symbol, value);
        }
    }
}
