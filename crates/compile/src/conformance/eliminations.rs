//! Small problems solved by instructions.

use super::{Case, Difference, Random, compare, number, reference, same};
use crate::backends::Backend;
use crate::elimination::Problem;
use crate::tape::{Instruction, Register, Tape};

/// Γ x = f + g + Aᵀμ, A x = b for one to seven unknowns and up to as many rows, full and with a
/// pattern, with terms that are known ahead of the calls, in part, or not; with entries that happen
/// to be 0, and with a pivot that falls.
pub fn eliminations(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let mut random = Random::new(23);
    for size in 1..8 {
        for rows in 0..=size {
            for (ahead, keep) in [(0, 1), (1, 3), (2, 1), (0, 3)] {
                for is_bare in [false, true] {
                    one(backend, (size, rows), (ahead, keep, is_bare), &mut random)?;
                }
            }
        }
    }
    Ok(())
}

fn one(
    backend: &dyn Backend,
    (size, rows): (usize, usize),
    (ahead, keep, is_bare): (usize, usize, bool),
    random: &mut Random,
) -> Result<(), Box<Difference>> {
    let check = "eliminations";
    let (tape, problem) = problem(size, rows, keep, ahead, random);
    let inputs = tape.constants + tape.variables;
    let mut entry = |at: usize| match is_diagonal(&problem, at) {
        true => size as f64 + number(random),
        // Rows that happen to have one entry only.
        false if is_bare && problem.rows.contains(&Some(at)) => 0.0,
        false => number(random) - 0.7,
    };
    let mut sets: Vec<Vec<f64>> = (0..6).map(|_| (0..inputs).map(&mut entry).collect()).collect();
    let mut constants = sets[0][..tape.constants].to_vec();
    sets.iter_mut().for_each(|set| drop(set.drain(..tape.constants)));
    let solved = tape.clone().solved(&problem);
    let units = if rows == 0 { 0 } else { size + rows };
    constants.extend((0..units).map(|at| [1.0, 2.0, 0.5][at % 3]));
    constants.extend((units..problem.constants()).map(|_| 1e-4));
    let expected = reference(&solved, &constants, &sets);
    compare(check, backend, &solved, &constants, &sets, &expected)?;
    for (variables, y) in sets.iter().zip(&expected) {
        let case = Case { check, tape: &solved, constants: &constants, variables };
        let own = &constants[..tape.constants];
        let plain = reference(&tape, own, std::slice::from_ref(variables));
        solves(case, &problem, &plain[0], y)?;
    }
    // No pivot is twice what it is taken from.
    let count = constants.len();
    constants[count - size..].fill(2.0);
    let expected = reference(&solved, &constants, &sets);
    compare(check, backend, &solved, &constants, &sets, &expected)?;
    match expected.iter().position(|y| !y[size + 1].is_nan()) {
        None => Ok(()),
        Some(set) => {
            let case = Case { check, tape: &solved, constants: &constants, variables: &sets[set] };
            Err(case.differs(size + 1, expected[set][size + 1], f64::NAN))
        }
    }
}

/// Whether an output is on a diagonal.
fn is_diagonal(problem: &Problem, at: usize) -> bool {
    let n = problem.size;
    (0..n).any(|i| problem.matrix[i * n + i] == Some(at))
        || (0..problem.bias.len()).any(|k| problem.rows[k * n + k] == Some(at))
}

/// A tape whose outputs are its inputs: the entries of Γ and A, f, g, b, and one that is kept; of
/// the entries none, half, or all are constants. The last unknowns come first in the solution.
fn problem(
    size: usize,
    rows: usize,
    keep: usize,
    ahead: usize,
    random: &mut Random,
) -> (Tape, Problem) {
    let mut count = 0;
    let mut take = |is_there: bool| {
        count += usize::from(is_there);
        is_there.then(|| count - 1)
    };
    let mut matrix = vec![None; size * size];
    for (i, j) in (0..size).flat_map(|i| (i..size).map(move |j| (i, j))) {
        matrix[i * size + j] = take(i == j || random.below(keep) == 0);
    }
    let mut a = vec![None; rows * size];
    for (k, j) in (0..rows).flat_map(|k| (0..size).map(move |j| (k, j))) {
        a[k * size + j] = take(k == j || random.below(keep) == 0);
    }
    let bias: Vec<Option<usize>> = (0..rows).map(|_| take(random.below(keep) == 0)).collect();
    let constants = count * ahead / 2;
    let inputs = count + 2 * size + 1;
    let mut tape = Tape {
        constants,
        variables: inputs - constants,
        outputs: (0..inputs as Register).collect(),
        ..Tape::default()
    };
    // Not an input, so that there are instructions before.
    tape.instructions.push(Instruction::Neg((inputs - 1) as Register));
    tape.outputs[inputs - 1] = inputs as Register;
    let problem = Problem {
        size,
        matrix,
        right: (0..size).map(|i| [count + i, count + size + i]).collect(),
        rows: a,
        bias,
        weights: (0..rows).rev().map(|row| (row, inputs - 1)).collect(),
        places: (0..size).rev().collect(),
        kept: inputs - 1..inputs,
        last: inputs - 1,
    };
    (tape, problem)
}

/// Whether A x = b, and what is left of Γ x − f − g is a sum of rows, to rounding; what is kept is
/// what it was.
fn solves(
    case: Case<'_>,
    problem: &Problem,
    plain: &[f64],
    y: &[f64],
) -> Result<(), Box<Difference>> {
    let (n, r) = (problem.size, problem.bias.len());
    let kept = plain[problem.last];
    if !same(y[0], kept) {
        return Err(case.differs(0, y[0], kept));
    }
    let value = |at: Option<usize>| at.map_or(0.0, |at| plain[at]);
    let x: Vec<f64> = problem.places.iter().map(|&place| y[1 + place]).collect();
    let bound = 1e-12 * (1.0 + x.iter().map(|x| x.abs()).sum::<f64>()) * n as f64;
    for k in 0..r {
        let along: f64 = (0..n).map(|i| value(problem.rows[k * n + i]) * x[i]).sum();
        let holds = (along - value(problem.bias[k])).abs() <= bound;
        if !holds {
            return Err(case.differs(1 + k, along, value(problem.bias[k])));
        }
    }
    let entry = |i: usize, j: usize| value(problem.matrix[i.min(j) * n + i.max(j)]);
    let mut left: Vec<f64> = (0..n)
        .map(|i| {
            let [f, g] = problem.right[i];
            (0..n).map(|j| entry(i, j) * x[j]).sum::<f64>() - plain[f] - plain[g]
        })
        .collect();
    // Less its part along the rows, which are made orthonormal, twice.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for k in 0..r {
        let mut row: Vec<f64> = (0..n).map(|i| value(problem.rows[k * n + i])).collect();
        for known in basis.iter().chain(&basis) {
            let along: f64 = row.iter().zip(known).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(known).for_each(|(a, b)| *a -= along * b);
        }
        let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        row.iter_mut().for_each(|a| *a /= length);
        basis.push(row);
    }
    for known in basis.iter().chain(&basis) {
        let along: f64 = left.iter().zip(known).map(|(a, b)| a * b).sum();
        left.iter_mut().zip(known).for_each(|(a, b)| *a -= along * b);
    }
    let is_left = |left: &f64| left.is_nan() || left.abs() > 10.0 * n as f64 * bound;
    match left.iter().position(is_left) {
        Some(i) => Err(case.differs(1 + i, left[i], 0.0)),
        None => Ok(()),
    }
}
