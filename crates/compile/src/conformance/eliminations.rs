//! Symmetric equations solved by instructions.

use super::{Case, Difference, Random, compare, number, reference, same};
use crate::backends::Backend;
use crate::elimination::Symmetric;
use crate::tape::{Instruction, Register, Tape};

/// K x = f + g for one to nine rows, full and with a pattern, with a matrix that is known ahead of
/// the calls, in part, or not; and a pivot that falls.
pub fn eliminations(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let mut random = Random::new(23);
    let check = "eliminations";
    for size in 1..10 {
        for ahead in [0, 1, 2] {
            for keep in [1, 3] {
                let (tape, equations) = problem(size, keep, ahead, &mut random);
                let inputs = tape.constants + tape.variables;
                let mut entry = |at: usize| match diagonal(&equations, at) {
                    true => size as f64 + number(&mut random),
                    false => number(&mut random) - 0.7,
                };
                let mut sets: Vec<Vec<f64>> =
                    (0..6).map(|_| (0..inputs).map(&mut entry).collect()).collect();
                let mut constants = sets[0][..tape.constants].to_vec();
                sets.iter_mut().for_each(|set| {
                    set.drain(..tape.constants);
                });
                let solved = tape.clone().solved(&equations);
                constants.extend((0..size).map(|_| 0.01));
                let expected = reference(&solved, &constants, &sets);
                compare(check, backend, &solved, &constants, &sets, &expected)?;
                for (variables, y) in sets.iter().zip(&expected) {
                    let case = Case { check, tape: &solved, constants: &constants, variables };
                    let own = &constants[..tape.constants];
                    let plain = reference(&tape, own, std::slice::from_ref(variables));
                    solves(case, &equations, &plain[0], y)?;
                }
                // No pivot is as large as twice its entry.
                let count = constants.len();
                constants[count - size..].fill(2.0);
                let expected = reference(&solved, &constants, &sets);
                compare(check, backend, &solved, &constants, &sets, &expected)?;
                let last = size + 1;
                let wrong = expected.iter().position(|y| !y[last].is_nan());
                if let Some(set) = wrong {
                    let (constants, variables) = (&constants, &sets[set]);
                    let case = Case { check, tape: &solved, constants, variables };
                    return Err(case.differs(last, expected[set][last], f64::NAN));
                }
            }
        }
    }
    Ok(())
}

/// Whether an output is on the diagonal.
fn diagonal(equations: &Symmetric, at: usize) -> bool {
    equations.rows.iter().enumerate().any(|(i, row)| row.contains(&(i, at)))
}

/// A tape whose outputs are its inputs: the entries, f, g, and one that is kept; of the entries none,
/// half, or all are constants.
fn problem(size: usize, keep: usize, ahead: usize, random: &mut Random) -> (Tape, Symmetric) {
    let mut count = 0;
    let mut rows = vec![Vec::new(); size];
    for (i, row) in rows.iter_mut().enumerate() {
        for j in i..size {
            if i == j || random.below(keep) == 0 {
                row.push((j, count));
                count += 1;
            }
        }
    }
    let inputs = count + 2 * size + 1;
    let constants = count * ahead / 2;
    let mut tape = Tape {
        constants,
        variables: inputs - constants,
        outputs: (0..inputs as Register).collect(),
        ..Tape::default()
    };
    // Not an input, so that there are instructions before.
    tape.instructions.push(Instruction::Neg((inputs - 1) as Register));
    tape.outputs[inputs - 1] = inputs as Register;
    let right = (0..size).map(|i| [count + i, count + size + i]).collect();
    (tape, Symmetric { rows, right, kept: inputs - 1..inputs, last: inputs - 1 })
}

/// Whether K x = f + g to rounding, and what is kept is what it was.
fn solves(
    case: Case<'_>,
    equations: &Symmetric,
    plain: &[f64],
    y: &[f64],
) -> Result<(), Box<Difference>> {
    let size = equations.rows.len();
    for (output, expected) in [(0, plain[equations.last]), (size + 1, plain[equations.last])] {
        if !same(y[output], expected) {
            return Err(case.differs(output, y[output], expected));
        }
    }
    let x = &y[1..=size];
    for i in 0..size {
        let rows = equations.rows.iter().enumerate();
        let entries = rows.flat_map(|(row, list)| list.iter().map(move |&(j, at)| (row, j, at)));
        let of_row = entries.filter_map(|(row, column, at)| match i {
            i if i == row => Some(plain[at] * x[column]),
            i if i == column => Some(plain[at] * x[row]),
            _ => None,
        });
        let [f, g] = equations.right[i];
        let (found, expected) = (of_row.sum::<f64>(), plain[f] + plain[g]);
        if !((found - expected).abs() <= 1e-13 * size as f64) {
            return Err(case.differs(1 + i, found, expected));
        }
    }
    Ok(())
}
