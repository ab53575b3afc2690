//! The order in which code computes a tape: calls stand together.
//!
//! A call may change every vector register, so what is live across it goes through memory. With
//! all calls of a kind of depth in one row, next to nothing is: first what the calls without
//! calls below them need, then those calls, then what the next ones need, … and at last all the
//! rest, in the tape's own order, which keeps things near to where they are read.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use std::ops::Range;

/// Whether code calls a function for an instruction.
pub(super) fn is_call(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Add(..)
        | Instruction::Sub(..)
        | Instruction::Mul(..)
        | Instruction::Div(..)
        | Instruction::Neg(_)
        | Instruction::Fma(..)
        | Instruction::Sqrt(_)
        | Instruction::Select(..)
        | Instruction::Follow => false,
        Instruction::Call1(f, _) | Instruction::Call2(f, ..) => !matches!(
            f,
            Function::Abs
                | Function::Sign
                | Function::Negative
                | Function::NotPositive
                | Function::Min
                | Function::Max
                | Function::And
                | Function::Or
        ),
        Instruction::Pow(..)
        | Instruction::SinCos(_)
        | Instruction::Factor(_)
        | Instruction::Solve(_)
        | Instruction::Restricted(_) => true,
    }
}

/// Calls `visit` for each register an instruction reads: [`Tape::reads`], compiled into a loop
/// over instructions, most of which name their registers themselves.
#[inline(always)]
pub(super) fn reads(tape: &Tape, instruction: &Instruction, mut visit: impl FnMut(Register)) {
    let (registers, count) = instruction.operands();
    registers[..count].iter().for_each(|&r| visit(r));
    if count == 0 {
        tape.reads(instruction, &mut visit);
    }
}

/// What no call needs.
const LAST: u32 = u32::MAX;

/// The instructions of a part of a tape in the order of the code.
pub(super) fn hoisted(tape: &Tape, part: Range<usize>) -> Vec<usize> {
    let instructions = &tape.instructions[part.clone()];
    if !instructions.iter().any(is_call) {
        return part.collect();
    }
    let first = tape.first_instruction() + part.start;
    // After how many rows of calls each value is there; of a call, in which row it is.
    let mut ready = vec![0u32; instructions.len()];
    let mut row = vec![LAST; instructions.len()];
    let mut factored = vec![0u32; tape.matrices.len()];
    let mut rows = 0;
    for (at, instruction) in instructions.iter().enumerate() {
        if *instruction == Instruction::Follow {
            (ready[at], row[at]) = at.checked_sub(1).map_or((0, LAST), |b| (ready[b], row[b]));
            continue;
        }
        let mut after = 0;
        reads(tape, instruction, |r| {
            if r as usize >= first {
                after = after.max(ready.get(r as usize - first).copied().unwrap_or(0));
            }
        });
        if let Instruction::Solve(right) = instruction {
            after = after.max(factored[tape.rights[*right as usize].matrix as usize]);
        }
        if is_call(instruction) {
            row[at] = after;
            rows = rows.max(after + 1);
            after += 1;
        }
        if let Instruction::Factor(matrix) = instruction {
            factored[*matrix as usize] = after;
        }
        ready[at] = after;
    }
    // The first row of calls that needs each.
    let mut needed = row.clone();
    for (at, instruction) in instructions.iter().enumerate().rev() {
        let by = needed[at];
        if by != LAST {
            reads(tape, instruction, |r| {
                if let Some(place) = (r as usize).checked_sub(first).filter(|&p| p < at) {
                    needed[place] = needed[place].min(by);
                }
            });
        }
    }
    // A counting sort: for each row what is needed, then its calls.
    let key = |at: usize| match (row[at], needed[at]) {
        (LAST, LAST) => 2 * rows as usize,
        (LAST, by) => 2 * by as usize,
        (row, _) => 2 * row as usize + 1,
    };
    let mut starts = vec![0usize; 2 * rows as usize + 2];
    (0..instructions.len()).for_each(|at| starts[key(at) + 1] += 1);
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut order = vec![0; instructions.len()];
    for at in 0..instructions.len() {
        let place = &mut starts[key(at)];
        order[*place] = part.start + at;
        *place += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::graphs;

    /// The first instruction that comes before something it reads, if there is one.
    fn too_early(tape: &Tape, order: &[usize]) -> Option<usize> {
        let first = tape.first_instruction();
        let mut done = vec![false; tape.registers()];
        done[..first + tape.prologue].fill(true);
        let mut factored = vec![false; tape.matrices.len()];
        tape.instructions[..tape.prologue].iter().for_each(|i| {
            if let Instruction::Factor(matrix) = i {
                factored[*matrix as usize] = true;
            }
        });
        order.iter().copied().find(|&at| {
            let instruction = &tape.instructions[at];
            let mut early = false;
            reads(tape, instruction, |r| early |= !done[r as usize]);
            match *instruction {
                Instruction::Follow => early |= !done[first + at - 1],
                Instruction::Factor(matrix) => factored[matrix as usize] = true,
                Instruction::Solve(right) => {
                    early |= !factored[tape.rights[right as usize].matrix as usize];
                }
                _ => {}
            }
            done[first + at] = true;
            early
        })
    }

    #[test]
    fn everything_comes_once_and_after_what_it_reads() {
        let mut moved = 0;
        for graph in graphs(200) {
            let tape = &graph.tape;
            let order = hoisted(tape, tape.prologue..tape.instructions.len());
            assert_eq!(too_early(tape, &order), None, "{tape:?}");
            moved += usize::from(!order.is_sorted());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(tape.prologue..tape.instructions.len()));
        }
        assert!(moved > 50, "{moved}");
    }

    #[test]
    fn calls_stand_together() {
        // sin x, x², sin y, x² + sin x, sin(x² + sin x), cos z
        let sin = |r| Instruction::Call1(Function::Sin, r);
        let tape = Tape {
            variables: 3,
            instructions: vec![
                sin(0),
                Instruction::Mul(0, 0),
                sin(1),
                Instruction::Add(3, 4),
                sin(6),
                Instruction::Call1(Function::Cos, 2),
                Instruction::Neg(4),
            ],
            ..Tape::default()
        };
        let order = hoisted(&tape, 0..7);
        assert_eq!(order, [0, 2, 5, 1, 3, 4, 6]);
        assert_eq!(too_early(&tape, &order), None);
        assert_eq!(too_early(&tape, &[0, 2, 5, 3, 1, 4, 6]), Some(3));
    }
}
