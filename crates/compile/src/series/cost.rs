//! What coefficients cost, counted: so that it can be told ahead whether series are worth it.
//!
//! The unit is an operation of the processor on numbers at hand, four side by side where they are
//! summed. Counts, not times, so that what is decided by them is the same everywhere.

use super::node::Op;
use super::{BLOCK, Series};
use crate::tape::{Instruction, Tape};

/// A quotient or a root, in such operations.
const DIVISION: f64 = 5.0;
/// An elementary function.
const CALL: f64 = 20.0;
/// What a product of series costs beside its terms: its sums are added up in the end.
const PRODUCT: f64 = 6.0;

impl Series {
    /// The operations of all recurrences and corrections of a stage.
    pub fn cost(&self, stage: usize) -> f64 {
        let nodes = self.phases.iter().flat_map(|phase| &phase.nodes);
        let nodes = nodes.map(|node| self.cost_of(node.op, stage + node.ahead as usize));
        let corrections: usize = self.phases.iter().map(|phase| phase.corrections.len()).sum();
        nodes.sum::<f64>() + 4.0 * corrections as f64
    }

    fn cost_of(&self, op: Op, order: usize) -> f64 {
        let product = PRODUCT + 2.0 * (order + 1).div_ceil(BLOCK) as f64;
        let (products, divisions) = match op {
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) | Op::Scale(..) | Op::ScaleAdd(..) => (0, 0),
            Op::Derivative(_) | Op::Pick(..) => (0, 0),
            Op::Over(..) => (0, 1),
            Op::Mul(..) | Op::MulAdd(..) => (1, 0),
            Op::Div(..) | Op::Sqrt(_) | Op::Exp(..) | Op::Slope(..) => (1, 1),
            Op::Log(..) | Op::Quotient(..) => (1, 2),
            Op::Power(..) => (2, 1),
            Op::SinCos(..) => (2, 2),
            Op::Angle(_) => (3, 1),
            Op::Solve(at) => {
                let solve = &self.solves[at as usize];
                let size = solve.x.len() as f64;
                return solve.entries.len() as f64 * product + size * (size + DIVISION);
            }
        };
        3.0 + f64::from(products) * product + f64::from(divisions) * DIVISION
    }

    /// The operations of order 0.
    pub fn cost_of_values(&self) -> f64 {
        self.tape.cost()
    }
}

impl Tape {
    /// The operations of a call, but for those that depend on constants only.
    pub fn cost(&self) -> f64 {
        let instructions = self.instructions[self.prologue..].iter();
        let cost = |instruction: &Instruction| match *instruction {
            Instruction::Div(..) | Instruction::Sqrt(_) => DIVISION,
            Instruction::Pow(..) | Instruction::Call1(..) | Instruction::Call2(..) => CALL,
            Instruction::SinCos(_) => 1.5 * CALL,
            Instruction::Factor(at) => (self.matrices[at as usize].size as f64).powi(3) / 3.0,
            Instruction::Solve(at) => (self.rights[at as usize].entries.len() as f64).powi(2),
            Instruction::Restricted(_) => 100.0 * CALL,
            _ => 1.0,
        };
        instructions.map(cost).sum()
    }
}
