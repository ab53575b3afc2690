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
        has_multipliers: true,
        inverse: 0..size + rows,
        more: inputs - 1..inputs,
    };
    (tape, problem)
}

/// Whether Γ x = f + g + Aᵀμ and A x = b to rounding, for the right side and for 1 in each equation;
/// what is kept is what it was.
fn solves(
    case: Case<'_>,
    problem: &Problem,
    plain: &[f64],
    y: &[f64],
) -> Result<(), Box<Difference>> {
    let (n, r) = (problem.size, problem.bias.len());
    let kept = plain[problem.last];
    for at in [0, y.len() - 1] {
        if !same(y[at], kept) {
            return Err(case.differs(at, y[at], kept));
        }
    }
    let value = |at: Option<usize>| at.map_or(0.0, |at| plain[at]);
    let right = problem.right.iter().map(|&[f, g]| plain[f] + plain[g]);
    let mut right: Vec<f64> = right.chain(problem.bias.iter().map(|&at| value(at))).collect();
    let (mut first, mut first_of_rows) = (1, n + 2);
    for column in 0..=n + r {
        let x: Vec<f64> = problem.places.iter().map(|&place| y[first + place]).collect();
        let mu = &y[first_of_rows..first_of_rows + r];
        let size = x.iter().chain(mu).map(|x| x.abs()).sum::<f64>();
        let bound = 1e-11 * (1.0 + size) * (n * n) as f64;
        let entry = |i: usize, j: usize| value(problem.matrix[i.min(j) * n + i.max(j)]);
        for (equation, &right) in right.iter().enumerate() {
            let found: f64 = match equation.checked_sub(n) {
                None => {
                    let along = (0..n).map(|j| entry(equation, j) * x[j]).sum::<f64>();
                    let rows = mu.iter().enumerate();
                    along
                        - rows.map(|(k, m)| value(problem.rows[k * n + equation]) * m).sum::<f64>()
                }
                Some(k) => (0..n).map(|i| value(problem.rows[k * n + i]) * x[i]).sum(),
            };
            let holds = (found - right).abs() <= bound;
            if !holds {
                return Err(case.differs(first, found, right));
            }
        }
        first = if column == 0 { n + 2 + r } else { first + n + r };
        first_of_rows = first + n;
        right.fill(0.0);
        right.get_mut(column).into_iter().for_each(|one| *one = 1.0);
    }
    Ok(())
}
