//! Tapes as text of other languages, one file for each.
//!
//! A printed tape is a backend whose compiler is elsewhere: what a browser, or a compiler of C,
//! makes of the text computes what the tape says. It has no [`Function`](crate::Function) here, so
//! each language says how near its numbers come; the same trials as of the other backends
//! ([`conformance`](crate::conformance)) are run where the language is at hand.

pub mod javascript;

use crate::tape::{Instruction, Register, Tape};

/// What a language has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPrinted {
    /// Functions restricted to a surface: they are found by a search in extended precision.
    Restricted,
}

/// Which registers of the prologue the instructions behind it read, or the outputs name.
fn kept(tape: &Tape) -> Vec<Register> {
    let (first, behind) = (tape.first_instruction(), tape.first_instruction() + tape.prologue);
    let mut is_kept = vec![false; tape.prologue];
    let mut see = |register: Register| {
        if (first..behind).contains(&(register as usize)) {
            is_kept[register as usize - first] = true;
        }
    };
    for instruction in &tape.instructions[tape.prologue..] {
        tape.reads(instruction, &mut see);
    }
    tape.outputs.iter().for_each(|&register| see(register));
    let places = is_kept.iter().enumerate().filter(|(_, kept)| **kept);
    places.map(|(at, _)| (first + at) as Register).collect()
}

/// A tape in which a·b + c has two roundings: what languages compute that have no instruction
/// for one.
pub fn unfused(tape: &Tape) -> Tape {
    let first = tape.first_instruction();
    let mut places: Vec<Register> = (0..first as Register).collect();
    let mut instructions = Vec::new();
    let mut prologue = 0;
    for (at, &instruction) in tape.instructions.iter().enumerate() {
        if at == tape.prologue {
            prologue = instructions.len();
        }
        let instruction = instruction.rename(&|r| places[r as usize]);
        let instruction = match instruction {
            Instruction::Fma(a, b, c) => {
                instructions.push(Instruction::Mul(a, b));
                Instruction::Add((first + instructions.len() - 1) as Register, c)
            }
            other => other,
        };
        instructions.push(instruction);
        places.push((first + instructions.len() - 1) as Register);
    }
    if tape.prologue == tape.instructions.len() {
        prologue = instructions.len();
    }
    let mut copy = Tape { instructions: Vec::new(), prologue, ..tape.clone() };
    copy.rename(&|r| places[r as usize]);
    copy.instructions = instructions;
    copy
}
