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

/// The registers that each instruction of a tape reads, in one list: to see which they are takes
/// a look at what the instruction is, which is guessed wrong as often as not, and they are asked
/// for several times.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    starts: Vec<u32>,
    list: Vec<Register>,
}

impl Reads {
    /// Those of a tape whose matrices and right sides are there.
    pub(super) fn new(tape: &Tape) -> Reads {
        let mut list = Vec::with_capacity(3 * tape.instructions.len());
        let mut starts = Vec::with_capacity(tape.instructions.len() + 1);
        for instruction in &tape.instructions {
            starts.push(list.len() as u32);
            let (registers, count) = instruction.operands();
            list.extend_from_slice(&registers[..count]);
            if count == 0 {
                tape.reads(instruction, &mut |r| list.push(r));
            }
        }
        starts.push(list.len() as u32);
        Reads { starts, list }
    }

    /// Those of an instruction.
    #[inline]
    pub(super) fn of(&self, at: usize) -> &[Register] {
        &self.list[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Those of a range of instructions.
    pub(super) fn of_all(&self, range: Range<usize>) -> &[Register] {
        &self.list[self.starts[range.start] as usize..self.starts[range.end] as usize]
    }
}

/// What no call needs.
const LAST: u32 = u32::MAX;

/// The instructions of a part of a tape in the order of the code.
pub(super) fn hoisted(tape: &Tape, reads: &Reads, part: Range<usize>) -> Vec<u32> {
    let instructions = &tape.instructions[part.clone()];
    if !instructions.iter().any(is_call) {
        return (part.start as u32..part.end as u32).collect();
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
        for &r in reads.of(part.start + at) {
            if r as usize >= first {
                after = after.max(ready.get(r as usize - first).copied().unwrap_or(0));
            }
        }
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
    for at in (0..instructions.len()).rev() {
        let by = needed[at];
        if by != LAST {
            for &r in reads.of(part.start + at) {
                if let Some(place) = (r as usize).checked_sub(first).filter(|&p| p < at) {
                    needed[place] = needed[place].min(by);
                }
            }
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
        order[*place] = (part.start + at) as u32;
        *place += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::graphs;

    /// The first instruction that comes before something it reads, if there is one.
    fn too_early(tape: &Tape, order: &[u32]) -> Option<u32> {
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
            let at = at as usize;
            let instruction = &tape.instructions[at];
            let mut early = false;
            tape.reads(instruction, &mut |r| early |= !done[r as usize]);
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
            let order = hoisted(tape, &Reads::new(tape), tape.prologue..tape.instructions.len());
            assert_eq!(too_early(tape, &order), None, "{tape:?}");
            moved += usize::from(!order.is_sorted());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            let all = tape.prologue as u32..tape.instructions.len() as u32;
            assert!(sorted.into_iter().eq(all));
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
        let order = hoisted(&tape, &Reads::new(&tape), 0..7);
        assert_eq!(order, [0, 2, 5, 1, 3, 4, 6]);
        assert_eq!(too_early(&tape, &order), None);
        assert_eq!(too_early(&tape, &[0, 2, 5, 3, 1, 4, 6]), Some(3));
    }
}
