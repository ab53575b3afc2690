//! An order of instructions in which those of one kind stand together.
//!
//! An interpreter that looks at each instruction to see what it is spends most of its time on
//! jumps that the processor guesses wrong. Instructions of one kind in a row are one loop.

use crate::tape::{Instruction, Tape};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// The instructions of a tape by number, the prologue's first: as long as something of the same
/// kind is ready it comes next, then the kind of which the most are ready.
pub(crate) fn by_kind(tape: &Tape) -> Vec<usize> {
    let mut order = Vec::with_capacity(tape.instructions.len());
    sort(tape, 0..tape.prologue, &mut order);
    sort(tape, tape.prologue..tape.instructions.len(), &mut order);
    order
}

/// The end of a list.
const NONE: usize = usize::MAX;

fn sort(tape: &Tape, range: std::ops::Range<usize>, order: &mut Vec<usize>) {
    let (first, from) = (tape.first_instruction() + range.start, range.start);
    let instructions = &tape.instructions[range];
    let mut leader = 0;
    let mut factors: FxHashMap<u32, usize> = FxHashMap::default();
    let leaders: Vec<usize> = instructions
        .iter()
        .enumerate()
        .map(|(at, instruction)| {
            if *instruction != Instruction::Follow {
                leader = at;
            }
            if let Instruction::Factor(matrix) = instruction {
                factors.insert(*matrix, at);
            }
            leader
        })
        .collect();
    // How many reads each waits for, and who waits for it: a list in `readers`, of an instruction
    // and where the list goes on. It is made from the back, so that it runs forward.
    let mut waits = vec![0u32; instructions.len()];
    let mut first_reader = vec![NONE; instructions.len()];
    let mut readers: Vec<(usize, usize)> = Vec::with_capacity(2 * instructions.len());
    for (at, instruction) in instructions.iter().enumerate().rev() {
        let mut wait = |on: usize| {
            readers.push((at, first_reader[on]));
            first_reader[on] = readers.len() - 1;
            waits[at] += 1;
        };
        tape.reads(instruction, &mut |r| {
            if r as usize >= first {
                wait(leaders[r as usize - first]);
            }
        });
        if let Instruction::Solve(right) = instruction
            && let Some(&factor) = factors.get(&tape.rights[*right as usize].matrix)
        {
            wait(factor);
        }
    }
    let mut ready: BTreeMap<(u8, u8), VecDeque<usize>> = BTreeMap::new();
    for (at, instruction) in instructions.iter().enumerate() {
        if waits[at] == 0 && *instruction != Instruction::Follow {
            ready.entry(instruction.kind()).or_default().push_back(at);
        }
    }
    loop {
        // Of equally many the first kind, so that the order is always the same.
        let most = ready.iter().max_by_key(|(kind, list)| (list.len(), std::cmp::Reverse(**kind)));
        let Some((&kind, _)) = most.filter(|(_, list)| !list.is_empty()) else { return };
        while let Some(at) = ready.get_mut(&kind).and_then(VecDeque::pop_front) {
            order.push(from + at);
            let follows = instructions[at + 1..].iter();
            let follows = follows.take_while(|i| **i == Instruction::Follow).count();
            order.extend((1..=follows).map(|after| from + at + after));
            let mut next = first_reader[at];
            while next != NONE {
                let (reader, after) = readers[next];
                next = after;
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.entry(instructions[reader].kind()).or_default().push_back(reader);
                }
            }
        }
    }
}
