//! Linear solves of several sizes and patterns.

use super::{Case, Difference, Random, Trial, compare, number, reference};
use crate::backends::Backend;
use crate::tape::{Entry, Instruction, Matrix, Register, Right, Tape};

/// K x = r for matrices of one to nine rows, full and with a pattern, that need rows exchanged;
/// two right sides for one factorization; the matrix ahead of the calls and in them; a singular
/// one.
pub fn linear_solves(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    for Trial { tape, constants, sets } in solve_trials() {
        let expected = reference(&tape, &constants, &sets);
        compare("linear solves", backend, &tape, &constants, &sets, &expected)?;
        for (variables, y) in sets.iter().zip(&expected) {
            let check = "linear solves";
            solves(Case { check, tape: &tape, constants: &constants, variables }, y)?;
        }
    }
    let mut random = Random::new(12);
    // Not a number or infinite, whichever the elimination meets.
    let tape = tape(3, 1, false, &mut random);
    let sets = vec![vec![1.0; tape.variables], vec![0.0; tape.variables]];
    let expected = reference(&tape, &[], &sets);
    compare("singular matrices", backend, &tape, &[], &sets, &expected)?;
    for (variables, y) in sets.iter().zip(expected) {
        if let Some(output) = y.iter().position(|y| y.is_finite()) {
            let case = Case { check: "singular matrices", tape: &tape, constants: &[], variables };
            return Err(case.differs(output, y[output], f64::NAN));
        }
    }
    Ok(())
}

/// Linear solves of all sizes and patterns, for what is no backend of the list.
pub fn solve_trials() -> Vec<Trial> {
    let mut random = Random::new(11);
    let mut trials = Vec::new();
    for size in 1..10 {
        for ahead in [false, true] {
            for keep in [1, 3] {
                let tape = tape(size, keep, ahead, &mut random);
                let constants = (0..tape.constants).map(|_| signed(&mut random)).collect();
                let set = |_| (0..tape.variables).map(|_| signed(&mut random)).collect();
                let sets = (0..11).map(set).collect();
                trials.push(Trial { tape, constants, sets });
            }
        }
    }
    trials
}

fn signed(random: &mut Random) -> f64 {
    if random.below(2) == 0 { number(random) } else { -number(random) }
}

/// Two solves with one matrix, whose entries come first among the inputs. Of the entries off the
/// diagonal about one in `keep` is there.
fn tape(size: usize, keep: usize, ahead: bool, random: &mut Random) -> Tape {
    let mut entries = Vec::new();
    for at in 0..size * size {
        let (row, column) = ((at / size) as u32, (at % size) as u32);
        if row == column || random.below(keep) == 0 {
            entries.push(Entry { row, column, register: entries.len() as Register });
        }
    }
    let count = entries.len();
    let constants = if ahead { count } else { 0 };
    let inputs = (count + 2 * size) as u32;
    let right = |number: u32| Right {
        matrix: 0,
        entries: (0..size as u32).map(|i| count as u32 + number * size as u32 + i).collect(),
    };
    let mut instructions = vec![Instruction::Factor(0)];
    for number in 0..2 {
        instructions.push(Instruction::Solve(number));
        instructions.extend((1..size).map(|_| Instruction::Follow));
    }
    Tape {
        constants,
        variables: count + 2 * size - constants,
        prologue: usize::from(ahead),
        outputs: (1..=2 * size as u32).map(|i| inputs + i).collect(),
        instructions,
        matrices: vec![Matrix { size, entries }],
        rights: vec![right(0), right(1)],
        restricted: Vec::new(),
        ..Tape::default()
    }
}

/// Whether K x = r holds to rounding, measured by the terms.
fn solves(case: Case<'_>, y: &[f64]) -> Result<(), Box<Difference>> {
    let inputs = [case.constants, case.variables].concat();
    let matrix = &case.tape.matrices[0];
    for (number, right) in case.tape.rights.iter().enumerate() {
        let x = &y[number * matrix.size..(number + 1) * matrix.size];
        let largest = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for (row, &r) in right.entries.iter().enumerate() {
            let entries = matrix.entries.iter().filter(|e| e.row as usize == row);
            let terms = entries.map(|e| inputs[e.register as usize] * x[e.column as usize]);
            let (found, expected) = (terms.sum::<f64>(), inputs[r as usize]);
            // Entries are at most 1.2, and the growth of an elimination of so few rows is small.
            let bound = 1e-13 * (expected.abs() + matrix.size as f64 * 1.2 * largest);
            let holds = (found - expected).abs() <= bound;
            if !holds {
                return Err(case.differs(number * matrix.size + row, found, expected));
            }
        }
    }
    Ok(())
}
