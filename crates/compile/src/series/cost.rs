//! What coefficients cost, counted: so that it can be told ahead whether series are worth it.
//!
//! The unit is an operation of the processor on numbers at hand, four side by side where they are
//! summed. Counts, not times, so that what is decided by them is the same everywhere. They go by the
//! tape alone: how its recurrences are run may change.

use super::Series;
use super::node::STILL;
use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;

/// A quotient or a root, in such operations.
const DIVISION: f64 = 5.0;
/// An elementary function.
const CALL: f64 = 20.0;
/// What a product of series costs beside its terms: its sums are added up in the end.
const PRODUCT: f64 = 6.0;
/// Terms that are summed side by side.
const SIDE_BY_SIDE: usize = 4;

/// What is done for each order.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Recurrences.
    count: f64,
    /// The sums of products in them.
    products: f64,
    divisions: f64,
    /// Operations that are the same for all orders.
    others: f64,
}

impl Series {
    /// The operations of stages 1 … `stages`: of all recurrences and corrections.
    pub fn cost(&self, stages: usize) -> f64 {
        let work = self.work_of_tape();
        let corrections: usize = self.phases.iter().map(|phase| phase.corrections.len()).sum();
        let same = 3.0 * work.count + DIVISION * work.divisions + work.others;
        let stage = |k: usize| {
            // Some of them are run ahead.
            let terms = 2.0 * (k + 2).div_ceil(SIDE_BY_SIDE) as f64;
            same + work.products * (PRODUCT + terms) + 4.0 * corrections as f64
        };
        (1..=stages).map(stage).sum()
    }

    /// The operations of order 0.
    pub fn cost_of_values(&self) -> f64 {
        self.tape.cost()
    }

    fn work_of_tape(&self) -> Work {
        let tape = &*self.tape;
        let mut moves = vec![false; tape.registers()];
        let variables = moves[tape.first_variable()..].iter_mut().zip(&self.variables);
        variables.for_each(|(moves, &jet)| *moves = jet != STILL);
        let mut work = Work::default();
        for (at, instruction) in tape.instructions.iter().enumerate() {
            let mut is_moving = false;
            tape.reads(instruction, &mut |r: Register| is_moving |= moves[r as usize]);
            let register = tape.first_instruction() + at;
            if let Instruction::Follow = instruction {
                moves[register] = moves[register - 1];
                continue;
            }
            moves[register] = is_moving;
            if is_moving {
                work.add(tape, instruction, &moves);
            }
        }
        work
    }
}

impl Work {
    fn add(&mut self, tape: &Tape, instruction: &Instruction, moves: &[bool]) {
        let both = |a: Register, b: Register| moves[a as usize] && moves[b as usize];
        let (products, divisions) = match *instruction {
            Instruction::Mul(a, b) | Instruction::Fma(a, b, _) => (u8::from(both(a, b)), 0),
            Instruction::Div(_, b) => (u8::from(moves[b as usize]), 1),
            Instruction::Sqrt(_) => (1, 1),
            Instruction::Pow(..) | Instruction::SinCos(_) => (2, 2),
            Instruction::Call1(Function::Abs | Function::Sign, _) => (0, 0),
            Instruction::Call1(..) => (1, 2),
            Instruction::Call2(Function::Atan2, ..) => (3, 1),
            Instruction::Factor(_) => return,
            Instruction::Solve(at) => {
                let right = &tape.rights[at as usize];
                let entries = tape.matrices[right.matrix as usize].entries.len();
                let size = right.entries.len() as f64;
                self.products += entries as f64;
                self.others += size * (size + DIVISION);
                return;
            }
            _ => (0, 0),
        };
        self.count += 1.0;
        self.products += f64::from(products);
        self.divisions += f64::from(divisions);
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
