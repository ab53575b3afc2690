//! Where the values of a tape are when its code begins: what is at which place of the frame, and
//! which values go to which outputs.
//!
//! ```text
//! frame: numbers that all code uses │ numbers │ constants │ kept from the prologue │ spilled
//! ```

use super::order::Reads;
use super::registers::{Base, Place};
use crate::tape::{Instruction, Register, Tape};
use std::ops::Range;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What depends on numbers and constants only.
    Prologue,
    /// The rest.
    Body,
}

impl Part {
    /// Its instructions.
    pub(super) fn range(self, tape: &Tape) -> Range<usize> {
        match self {
            Part::Prologue => 0..tape.prologue,
            Part::Body => tape.prologue..tape.instructions.len(),
        }
    }

    /// How many values there are at its end.
    pub(super) fn values(self, tape: &Tape) -> usize {
        tape.first_instruction() + self.range(tape).end
    }
}

/// The frame of a tape, and its outputs.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// What each instruction reads.
    pub(super) reads: Reads,
    /// How many places of the frame are not for spilled values.
    pub(super) fixed: usize,
    /// Of each value its place when the body begins.
    homes: Vec<Place>,
    /// How many of the values are numbers or constants.
    given: usize,
    /// The first value that the body computes.
    body: Register,
    /// Of each value the first output that it is, and of each output the next with its value.
    sinks: Vec<Place>,
    next: Vec<Place>,
}

/// Numbers that all code uses. Where only one double is computed, bits are taken by two, so each
/// that is used so has two places.
const HEAD: [f64; 4] = [-0.0, 0.0, 1.0, 0.0];

impl Layout {
    /// The place of −0, which is the bit of the sign.
    pub(super) const SIGN: usize = 0;
    /// The place of 0.
    pub(super) const ZERO: usize = 1;
    /// The place of 1.
    pub(super) const ONE: usize = 2;

    /// The layout of a regular tape.
    pub(super) fn new(tape: &Tape) -> Layout {
        let first = tape.first_instruction();
        let reads = Reads::new(tape);
        let mut homes = vec![Place::NONE; tape.registers()];
        let given = tape.first_variable();
        for (value, place) in homes[..given].iter_mut().enumerate() {
            *place = Place::new(Base::Frame, HEAD.len() + value);
        }
        for (variable, place) in homes[given..first].iter_mut().enumerate() {
            *place = Place::new(Base::X, variable);
        }
        let mut fixed = HEAD.len() + given;
        let body = first + tape.prologue;
        let mut keep = |r: Register| {
            let r = r as usize;
            if (first..body).contains(&r) && homes[r] == Place::NONE {
                homes[r] = Place::new(Base::Frame, fixed);
                fixed += 1;
            }
        };
        if tape.prologue > 0 {
            let read = reads.of_all(Part::Body.range(tape));
            read.iter().chain(&tape.outputs).for_each(|&r| keep(r));
        }
        let mut sinks = vec![Place::NONE; tape.registers()];
        let mut next = vec![Place::NONE; tape.outputs.len()];
        for (output, &value) in tape.outputs.iter().enumerate() {
            let place = Place::new(Base::Y, output);
            next[output] = std::mem::replace(&mut sinks[value as usize], place);
        }
        Layout { reads, fixed, homes, given, body: body as Register, sinks, next }
    }

    /// Whether a value is there before the body begins.
    pub(super) fn is_input(&self, value: Register) -> bool {
        value < self.body
    }

    /// Where the first values are when a part begins.
    pub(super) fn homes(&self, part: Part, values: usize) -> Vec<Place> {
        let mut homes = self.homes[..values].to_vec();
        if part == Part::Prologue {
            homes[self.given..].fill(Place::NONE);
        }
        homes
    }

    /// The first place that a part leaves a value at.
    pub(super) fn sink(&self, part: Part, value: Register) -> Option<Place> {
        let list = if part == Part::Prologue { &self.homes } else { &self.sinks };
        Some(list[value as usize]).filter(|&place| place != Place::NONE)
    }

    /// The next place for the same value.
    pub(super) fn next_sink(&self, place: Place) -> Option<Place> {
        let next = (place.base() == Base::Y).then(|| self.next[place.index()]);
        next.filter(|&place| place != Place::NONE)
    }

    /// A frame of so many places, each for so many doubles, with the numbers of a tape in it.
    pub(super) fn frame(&self, tape: &Tape, places: usize) -> Vec<f64> {
        let mut frame = Vec::with_capacity(places);
        frame.extend(HEAD);
        frame.extend(&tape.numbers);
        frame.resize(places, 0.0);
        frame
    }

    /// Where the constants are.
    pub(super) fn constants(tape: &Tape) -> Range<usize> {
        let first = HEAD.len() + tape.first_constant();
        first..first + tape.constants
    }
}

/// Whether a tape is as the lowering makes them: what follows stands after what it follows, and
/// matrices and right sides fit to each other. Any other is for the interpreter.
pub(super) fn is_regular(tape: &Tape) -> bool {
    let is_small = |count: usize| count < Place::LIMIT / 2;
    let mut due = 0;
    let follows = |instruction: &Instruction| match *instruction {
        Instruction::SinCos(_) => Some(1),
        Instruction::Solve(right) => {
            let right = tape.rights.get(right as usize)?;
            let size = tape.matrices.get(right.matrix as usize)?.size;
            (right.entries.len() == size).then_some(size.checked_sub(1)?)
        }
        Instruction::Factor(matrix) => {
            let matrix = tape.matrices.get(matrix as usize)?;
            let fits = |i: u32| (i as usize) < matrix.size;
            matrix.entries.iter().all(|e| fits(e.row) && fits(e.column)).then_some(0)
        }
        Instruction::Restricted(number) => {
            let restricted = tape.restricted.get(number as usize)?;
            let fits = restricted.entries.len() == restricted.of.arguments();
            fits.then_some(restricted.of.len().checked_sub(1)?)
        }
        _ => Some(0),
    };
    for (at, instruction) in tape.instructions.iter().enumerate() {
        let is_follow = *instruction == Instruction::Follow;
        if is_follow != (due > 0) || (at == tape.prologue && due > 0) {
            return false;
        }
        if is_follow {
            due -= 1;
        } else {
            match follows(instruction) {
                Some(count) => due = count,
                None => return false,
            }
        }
    }
    due == 0 && is_small(tape.registers()) && is_small(tape.outputs.len())
}
