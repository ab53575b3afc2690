//! Each instruction alone, on numbers at the edges of arithmetic, against what it says.

use super::{Difference, EDGES, Trial, compare};
use crate::backends::Backend;
use crate::calls;
use crate::tape::{Instruction, Tape};

/// Each instruction on every combination of edge values, as part of the calls and ahead of them.
pub fn every_instruction(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let check = "every instruction";
    for instruction in all() {
        let count = instruction.operands().1;
        let sets = edges(count);
        let expected: Vec<Vec<f64>> = sets.iter().map(|x| value(instruction, x)).collect();
        let tape = alone(instruction, count, false);
        compare(check, backend, &tape, &[], &sets, &expected)?;
        // Ahead of the calls: some of them, for each is a preparation of its own.
        let tape = alone(instruction, count, true);
        for (set, expected) in sets.iter().zip(&expected).step_by(7) {
            let expected = vec![expected.clone()];
            compare(check, backend, &tape, set, &[Vec::new()], &expected)?;
        }
    }
    Ok(())
}

/// Each instruction with every combination of edge values, for what is no backend of the list.
pub fn instruction_trials() -> Vec<Trial> {
    let trial = |instruction: Instruction| {
        let count = instruction.operands().1;
        Trial { tape: alone(instruction, count, false), constants: vec![], sets: edges(count) }
    };
    all().into_iter().map(trial).collect()
}

/// Every combination of so many edge values.
fn edges(count: usize) -> Vec<Vec<f64>> {
    let mut sets: Vec<Vec<f64>> = vec![Vec::new()];
    for _ in 0..count {
        let with = |set: &Vec<f64>| EDGES.map(|x| [set.as_slice(), &[x]].concat());
        sets = sets.iter().flat_map(with).collect();
    }
    sets
}

/// Every instruction but those of linear solves, on the first inputs.
fn all() -> Vec<Instruction> {
    let mut all = vec![
        Instruction::Add(0, 1),
        Instruction::Sub(0, 1),
        Instruction::Mul(0, 1),
        Instruction::Div(0, 1),
        Instruction::Neg(0),
        Instruction::Fma(0, 1, 2),
        Instruction::Sqrt(0),
        Instruction::Pow(0, 1),
        Instruction::SinCos(0),
        Instruction::Select(0, 1, 2),
    ];
    all.extend(calls::ONE.iter().map(|&f| Instruction::Call1(f, 0)));
    all.extend(calls::TWO.iter().map(|&f| Instruction::Call2(f, 0, 1)));
    all
}

/// A tape of one instruction, and of its companion if it has one.
fn alone(instruction: Instruction, inputs: usize, ahead: bool) -> Tape {
    let mut instructions = vec![instruction];
    if matches!(instruction, Instruction::SinCos(_)) {
        instructions.push(Instruction::Follow);
    }
    let first = inputs as u32;
    Tape {
        constants: if ahead { inputs } else { 0 },
        variables: if ahead { 0 } else { inputs },
        prologue: if ahead { instructions.len() } else { 0 },
        outputs: (first..first + instructions.len() as u32).collect(),
        instructions,
        ..Tape::default()
    }
}

/// What an instruction says.
fn value(instruction: Instruction, x: &[f64]) -> Vec<f64> {
    vec![match instruction {
        Instruction::Add(..) => x[0] + x[1],
        Instruction::Sub(..) => x[0] - x[1],
        Instruction::Mul(..) => x[0] * x[1],
        Instruction::Div(..) => x[0] / x[1],
        Instruction::Neg(_) => -x[0],
        Instruction::Fma(..) => x[0].mul_add(x[1], x[2]),
        Instruction::Sqrt(_) => x[0].sqrt(),
        Instruction::Pow(..) => x[0].powf(x[1]),
        Instruction::SinCos(_) => return vec![x[0].sin(), x[0].cos()],
        Instruction::Call1(f, _) => calls::one(f)(x[0]),
        Instruction::Call2(f, ..) => calls::two(f)(x[0], x[1]),
        Instruction::Select(..) if x[0].is_nan() => f64::NAN,
        Instruction::Select(..) => x[if x[0] != 0.0 { 1 } else { 2 }],
        Instruction::Follow
        | Instruction::Factor(_)
        | Instruction::Solve(_)
        | Instruction::Restricted(_) => f64::NAN,
    }]
}
