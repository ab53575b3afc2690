//! Unknowns behind the own variables: velocities behind momenta, or the reverse.

use super::Work;
use crate::search::{self, Lost, Relation};
use dalembert_compile::{Function, Scratch as Registers};
use std::sync::Arc;

/// Unknowns behind the own variables.
#[derive(Clone)]
pub(super) struct Implicit {
    pub(super) function: Arc<dyn Function>,
    pub(super) places: Vec<usize>,
    pub(super) count: usize,
}

/// The compiled relation at given own variables.
struct Compiled<'a> {
    implicit: &'a Implicit,
    first: usize,
    registers: &'a mut Registers,
    input: &'a mut [f64],
    output: &'a mut [f64],
}

impl Relation for Compiled<'_> {
    fn residual(&mut self, w: &[f64], f: &mut [f64]) -> f64 {
        self.input[self.first..self.first + w.len()].copy_from_slice(w);
        self.implicit.function.call(self.registers, self.input, self.output);
        f.copy_from_slice(&self.output[..w.len()]);
        f64::INFINITY
    }

    fn jacobian(&mut self, w: &[f64], j: &mut [f64]) {
        j.fill(0.0);
        for (place, value) in self.implicit.places.iter().zip(&self.output[w.len()..]) {
            j[*place] = *value;
        }
    }
}

impl Implicit {
    /// The unknowns, from what was found last. If none are found what was found last stays, for
    /// the next state may be nearer to it.
    pub(super) fn solve(&self, work: &mut Work, first: usize) -> Result<(), Lost> {
        let mut relation = Compiled {
            implicit: self,
            first,
            registers: &mut work.auxiliary_registers,
            input: &mut work.input,
            output: &mut work.auxiliary_output,
        };
        work.unknowns.clone_from(&work.auxiliary);
        search::search(&mut relation, &mut work.unknowns, &mut work.search)?;
        work.auxiliary.copy_from_slice(&work.unknowns);
        work.input[first..first + self.count].copy_from_slice(&work.auxiliary);
        Ok(())
    }
}
