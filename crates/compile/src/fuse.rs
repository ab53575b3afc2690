//! From the draft of a tape to its final form: neighbors fused, dead ends removed,
//! what depends on constants only moved to the front, registers numbered.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use rustc_hash::FxHashMap;

/// While numbers are still being found, registers are numbered by kind: the upper
/// bits say which, the lower ones count within it.
pub(crate) const KIND: u32 = 30;
pub(crate) const NUMBER: u32 = 0 << KIND;
pub(crate) const CONSTANT: u32 = 1 << KIND;
pub(crate) const VARIABLE: u32 = 2 << KIND;
pub(crate) const TEMPORARY: u32 = 3 << KIND;
pub(crate) const PLACE: u32 = (1 << KIND) - 1;

/// Finishes a draft.
pub(crate) fn finish(mut tape: Tape) -> Tape {
    fuse_products(&mut tape);
    pair_sines(&mut tape);
    let order = schedule(&tape);
    renumber(tape, &order)
}

fn temporary(register: Register) -> Option<usize> {
    (register & !PLACE == TEMPORARY).then_some((register & PLACE) as usize)
}

/// How often each instruction's result is read.
fn uses(tape: &Tape) -> Vec<u32> {
    let mut count = vec![0u32; tape.instructions.len()];
    let mut see = |register: Register| {
        if let Some(at) = temporary(register) {
            count[at] += 1;
        }
    };
    for instruction in &tape.instructions {
        tape.reads(instruction, &mut see);
    }
    tape.outputs.iter().for_each(|&r| see(r));
    count
}

/// sin a and cos a become one instruction where both are wanted. The pair is put
/// at the end of the draft; [`schedule`] finds its place.
fn pair_sines(tape: &mut Tape) {
    let mut of: FxHashMap<Register, [Option<usize>; 2]> = FxHashMap::default();
    for (at, instruction) in tape.instructions.iter().enumerate() {
        match *instruction {
            Instruction::Call1(Function::Sin, a) => of.entry(a).or_default()[0] = Some(at),
            Instruction::Call1(Function::Cos, a) => of.entry(a).or_default()[1] = Some(at),
            _ => {}
        }
    }
    let mut pairs: Vec<(Register, usize, usize)> =
        of.into_iter().filter_map(|(a, [sin, cos])| Some((a, sin?, cos?))).collect();
    pairs.sort_unstable();
    let mut image: FxHashMap<Register, Register> = FxHashMap::default();
    for (a, sin, cos) in pairs {
        let at = tape.instructions.len() as u32;
        tape.instructions.push(Instruction::SinCos(a));
        tape.instructions.push(Instruction::Follow);
        image.insert(TEMPORARY | sin as u32, TEMPORARY | at);
        image.insert(TEMPORARY | cos as u32, TEMPORARY | (at + 1));
    }
    if !image.is_empty() {
        tape.rename(&|r| image.get(&r).copied().unwrap_or(r));
    }
}

/// Which instructions depend on variables, directly or not. In the draft each comes after what
/// it reads.
fn moving(tape: &Tape) -> Vec<bool> {
    let mut moving = vec![false; tape.instructions.len()];
    let mut matrices = vec![false; tape.matrices.len()];
    for (at, instruction) in tape.instructions.iter().enumerate() {
        let mut moves = match instruction {
            Instruction::Follow => moving[at - 1],
            Instruction::Solve(right) => matrices[tape.rights[*right as usize].matrix as usize],
            _ => false,
        };
        tape.reads(instruction, &mut |r| {
            moves |= r & !PLACE == VARIABLE || temporary(r).is_some_and(|other| moving[other]);
        });
        if let Instruction::Factor(matrix) = instruction {
            matrices[*matrix as usize] = moves;
        }
        moving[at] = moves;
    }
    moving
}

/// a·b + c, a + (−b) and a·(1/b) become one instruction each, where what is inside
/// is wanted nowhere else.
///
/// What depends on constants only stays as it is written. It costs nothing, a product with a
/// reciprocal that is known costs less than a quotient, and it has the same value in every tape:
/// whether something is wanted elsewhere differs from tape to tape, and equations whose large
/// constants differ in the last bit from those of another tape do not hold together.
fn fuse_products(tape: &mut Tape) {
    let uses = uses(tape);
    let moving = moving(tape);
    let once = |tape: &Tape, register: Register| -> Option<Instruction> {
        let at = temporary(register)?;
        (uses[at] == 1 && moving[at]).then(|| tape.instructions[at])
    };
    let is_one = |tape: &Tape, r: Register| {
        r & !PLACE == NUMBER && tape.numbers[(r & PLACE) as usize] == 1.0
    };
    for at in 0..tape.instructions.len() {
        let new = match tape.instructions[at] {
            Instruction::Add(a, b) => match (once(tape, a), once(tape, b)) {
                // One rounding instead of two.
                (_, Some(Instruction::Mul(x, y))) => Instruction::Fma(x, y, a),
                (Some(Instruction::Mul(x, y)), _) => Instruction::Fma(x, y, b),
                (_, Some(Instruction::Neg(x))) => Instruction::Sub(a, x),
                (Some(Instruction::Neg(x)), _) => Instruction::Sub(b, x),
                _ => continue,
            },
            Instruction::Mul(a, b) => match (once(tape, a), once(tape, b)) {
                (_, Some(Instruction::Div(one, y))) if is_one(tape, one) => Instruction::Div(a, y),
                (Some(Instruction::Div(one, y)), _) if is_one(tape, one) => Instruction::Div(b, y),
                _ => continue,
            },
            _ => continue,
        };
        tape.instructions[at] = new;
    }
}

/// The instructions that are needed, in an order in which each comes after what it
/// reads; those without variables first.
fn schedule(tape: &Tape) -> (Vec<usize>, usize) {
    let n = tape.instructions.len();
    // Groups: a leader and the `Follow`s behind it move together.
    let leader: Vec<usize> = {
        let mut current = 0;
        (0..n)
            .map(|at| {
                if tape.instructions[at] != Instruction::Follow {
                    current = at;
                }
                current
            })
            .collect()
    };
    let mut factor_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, instruction) in tape.instructions.iter().enumerate() {
        if let Instruction::Factor(matrix) = instruction {
            factor_of.insert(*matrix, at);
        }
    }
    let needs = |at: usize, visit: &mut dyn FnMut(usize)| {
        let instruction = &tape.instructions[at];
        tape.reads(instruction, &mut |r| {
            if let Some(other) = temporary(r) {
                visit(leader[other]);
            }
        });
        if let Instruction::Solve(right) = instruction
            && let Some(&factor) = factor_of.get(&tape.rights[*right as usize].matrix)
        {
            visit(factor);
        }
    };
    let mut state = vec![0u8; n];
    let mut moving = vec![false; n];
    let mut order: Vec<usize> = Vec::with_capacity(n);
    let mut stack: Vec<(usize, bool)> = tape
        .outputs
        .iter()
        .rev()
        .filter_map(|&r| temporary(r))
        .map(|at| (leader[at], false))
        .collect();
    while let Some((at, done)) = stack.pop() {
        if done {
            let mut moves = false;
            tape.reads(&tape.instructions[at], &mut |r| {
                moves |= r & !PLACE == VARIABLE
                    || temporary(r).is_some_and(|other| moving[leader[other]]);
            });
            needs(at, &mut |other| moves |= moving[other]);
            moving[at] = moves;
            state[at] = 2;
            order.push(at);
        } else if state[at] == 0 {
            state[at] = 1;
            stack.push((at, true));
            needs(at, &mut |other| {
                if state[other] == 0 {
                    stack.push((other, false));
                }
            });
        }
    }
    let still: Vec<usize> = order.iter().copied().filter(|&at| !moving[at]).collect();
    let moved: Vec<usize> = order.iter().copied().filter(|&at| moving[at]).collect();
    let group = |list: Vec<usize>| -> Vec<usize> {
        let mut all = Vec::with_capacity(list.len());
        for at in list {
            all.push(at);
            let follows = tape.instructions[at + 1..].iter();
            all.extend(
                follows
                    .enumerate()
                    .take_while(|(_, i)| **i == Instruction::Follow)
                    .map(|(after, _)| at + 1 + after),
            );
        }
        all
    };
    let still = group(still);
    let prologue = still.len();
    let mut all = still;
    all.extend(group(moved));
    (all, prologue)
}

/// Final registers.
fn renumber(tape: Tape, (order, prologue): &(Vec<usize>, usize)) -> Tape {
    let mut place = vec![u32::MAX; tape.instructions.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
    let (constants, variables) = (tape.first_constant(), tape.first_variable());
    let first = tape.first_instruction() as u32;
    let of = |r: Register| match r & !PLACE {
        NUMBER => r,
        CONSTANT => constants as u32 + (r & PLACE),
        VARIABLE => variables as u32 + (r & PLACE),
        _ => first + place[(r & PLACE) as usize],
    };
    let mut tape = tape;
    tape.instructions = order.iter().map(|&old| tape.instructions[old]).collect();
    tape.prologue = *prologue;
    // Matrices and right sides that nothing solves any more keep no registers.
    let used: rustc_hash::FxHashSet<u32> = tape
        .instructions
        .iter()
        .filter_map(|i| match i {
            Instruction::Solve(right) => Some(*right),
            _ => None,
        })
        .collect();
    for (at, right) in tape.rights.iter_mut().enumerate() {
        if !used.contains(&(at as u32)) {
            right.entries.clear();
        }
    }
    let factored: rustc_hash::FxHashSet<u32> = tape
        .instructions
        .iter()
        .filter_map(|i| match i {
            Instruction::Factor(matrix) => Some(*matrix),
            _ => None,
        })
        .collect();
    for (at, matrix) in tape.matrices.iter_mut().enumerate() {
        if !factored.contains(&(at as u32)) {
            matrix.entries.clear();
        }
    }
    tape.rename(&of);
    tape
}
