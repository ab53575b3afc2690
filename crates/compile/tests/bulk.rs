//! Tapes of many equal parts as loops: the same bits as one by one, in one stage or in two.

use dalembert_compile::backends::bulk::Staged;
use dalembert_compile::backends::{self, Backend, Function as _};
use dalembert_compile::{Instruction, Register, Scratch, SparseProblem, Tape};
use dalembert_expr::{Function, Random};

const SIZE: u32 = 40;

/// Parts that do the same to the i-th of several lists and to its neighbors, each on what earlier
/// parts left, with gaps and lists turned around; then outputs in some order.
fn tape(random: &mut Random) -> Tape {
    let (numbers, constants, lists) = (vec![0.0, 1.0, -2.5, 0.3], 2, 3 + random.below(3) as u32);
    let variables = (lists * SIZE) as usize;
    let mut tape = Tape { numbers, constants, variables, ..Tape::default() };
    let first = tape.first_variable() as u32;
    // Where the i-th of a list is.
    let mut known: Vec<Vec<Register>> =
        (0..lists).map(|k| (0..SIZE).map(|i| first + k * SIZE + i).collect()).collect();
    if random.below(3) == 0 {
        known = (0..lists).map(|k| (0..SIZE).map(|i| first + i * lists + k).collect()).collect();
    }
    tape.instructions.push(Instruction::Neg(4));
    tape.prologue = 1;
    known.push(vec![tape.first_instruction() as Register; SIZE as usize]);
    for _ in 0..4 + random.below(20) {
        let kind = random.below(14);
        let mut operand = || {
            let shift = random.below(3);
            match random.below(5) {
                0 => (None, random.below(6)),
                _ => (Some(random.below(known.len())), shift),
            }
        };
        let chosen = [operand(), operand(), operand()];
        let is_turned = random.below(8) == 0;
        let gap = random.below(SIZE as usize);
        let mut own = Vec::new();
        for i in 0..SIZE as usize {
            let i = if is_turned { SIZE as usize - 1 - i } else { i };
            let at = |(list, shift): (Option<usize>, usize)| match list {
                None => shift as Register,
                Some(list) => known[list][(i + shift) % SIZE as usize],
            };
            let [a, b, c] = chosen.map(at);
            let kind = if i == gap { 0 } else { kind };
            tape.instructions.push(match kind {
                0 => Instruction::Add(a, b),
                1 => Instruction::Sub(a, b),
                2 => Instruction::Mul(a, b),
                3 => Instruction::Div(a, b),
                4 => Instruction::Neg(a),
                5 | 6 => Instruction::Fma(a, b, c),
                7 => Instruction::Sqrt(a),
                8 => Instruction::Pow(a, b),
                9 => Instruction::SinCos(a),
                10 => Instruction::Call1(Function::Exp, a),
                11 => Instruction::Call2(Function::Max, a, b),
                12 => Instruction::Select(a, b, c),
                _ => Instruction::Call1(Function::Cos, a),
            });
            own.push(tape.registers() as Register - 1);
            if kind == 9 {
                tape.instructions.push(Instruction::Follow);
            }
        }
        known.push(own);
    }
    let count = tape.registers();
    tape.outputs = (0..count as Register).rev().step_by(1 + random.below(4)).collect();
    tape.outputs.extend(known.iter().flatten());
    tape.outputs.extend([0; 5]);
    tape
}

fn bits(list: &[f64]) -> Vec<u64> {
    list.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect()
}

/// What a function gives for constants and variables.
fn call(function: &dyn backends::Function, constants: &[f64], x: &[f64]) -> Vec<f64> {
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, constants);
    let mut y = vec![0.0; function.outputs()];
    // What a call before has left is not seen.
    function.call(&mut scratch, &vec![0.7; x.len()], &mut y);
    function.call(&mut scratch, x, &mut y);
    y
}

#[test]
fn loops_give_what_instructions_give_one_by_one() {
    let mut random = Random::new(7);
    for number in 0..200 {
        let tape = tape(&mut random);
        let x: Vec<f64> = (0..tape.variables).map(|_| random.signed()).collect();
        let constants = [random.signed(), random.unit()];
        let right = call(&*backends::interpreter::BACKEND.compile(tape.clone()), &constants, &x);
        let own = call(&*backends::bulk::BACKEND.compile(tape.clone()), &constants, &x);
        assert_eq!(bits(&own), bits(&right), "tape {number}");
    }
}

#[test]
fn what_needs_only_the_first_variables_does_not_wait_for_the_others() {
    let mut random = Random::new(11);
    let mut tried = 0;
    for number in 0..100 {
        let mut tape = tape(&mut random);
        let x: Vec<f64> = (0..tape.variables).map(|_| random.signed()).collect();
        let constants = [random.signed(), random.unit()];
        let known = random.below(tape.variables);
        // Outputs that need no other variables first.
        let without =
            |x: &[f64]| call(&*backends::interpreter::BACKEND.compile(tape.clone()), &constants, x);
        let mut other = x.clone();
        other[known..].fill(f64::NAN);
        let (all, some) = (without(&x), without(&other));
        let is_late = |at: usize| some[at].is_nan() || all[at].to_bits() != some[at].to_bits();
        let (late, early): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&at| is_late(at));
        let right: Vec<f64> = early.iter().chain(&late).map(|&at| all[at]).collect();
        let outputs = std::mem::take(&mut tape.outputs);
        tape.outputs = early.iter().chain(&late).map(|&at| outputs[at]).collect();
        // Where a value does not depend on what it is computed from, it is late all the same.
        let Some(staged) = Staged::new(&tape, known, early.len()) else { continue };
        tried += 1;
        let mut scratch = staged.scratch();
        staged.prepare(&mut scratch, &constants);
        let mut y = vec![0.0; right.len()];
        let (first, rest) = y.split_at_mut(early.len());
        let half = known / 2;
        staged.begin(&mut scratch, &[&x[..half], &x[half..known]], first);
        staged.finish(&mut scratch, &x[known..], rest);
        assert_eq!(staged.given(&mut scratch), &x[..known]);
        assert_eq!(bits(&y), bits(&right), "tape {number}");
        let mut none = [0.0];
        staged.begin(&mut Scratch::default(), &[&x[..known]], &mut none);
        assert!(none[0].is_nan(), "what is not its own is not used");
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn outputs_that_come_too_early_are_refused() {
    let tape = Tape {
        variables: 2,
        instructions: vec![Instruction::Add(0, 1), Instruction::Mul(0, 0)],
        outputs: vec![3, 2],
        ..Tape::default()
    };
    assert!(Staged::new(&tape, 1, 1).is_some());
    assert!(Staged::new(&tape, 1, 2).is_none());
    let passed_on = Tape { outputs: vec![1], ..tape };
    assert!(Staged::new(&passed_on, 1, 1).is_none());
}

/// Masses on a line, each joined to the next: x = G⁻¹(f + g + Aᵀλ) for any λ, S = A G⁻¹ Aᵀ.
#[test]
fn a_reduced_problem_is_what_its_equations_say() {
    let (n, m) = (30usize, 29usize);
    // G_i = x_i, f_i = x_{n+i}, g = c; A_k = (1, −x_k·c) at (k, k+1); b_k = x_k.
    let mut tape =
        Tape { numbers: vec![0.0, 1.0], constants: 1, variables: 2 * n, ..Tape::default() };
    let first = tape.first_variable() as Register;
    let start = tape.first_instruction() as Register;
    for k in 0..m as Register {
        tape.instructions.push(Instruction::Mul(first + k, 2));
    }
    tape.outputs.extend(first..first + 2 * n as Register);
    let (constant, one, entries) =
        (tape.outputs.len(), tape.outputs.len() + 1, tape.outputs.len() + 2);
    tape.outputs.extend([2, 1]);
    tape.outputs.extend(start..start + m as Register);
    let mut problem = SparseProblem {
        diagonal: (0..n).collect(),
        right: (0..n).map(|i| [n + i, constant]).collect(),
        bias: (0..m).collect(),
        products_at: vec![0],
        kept: 0..3,
        last: constant,
        weights: vec![(2, 5)],
        ..SparseProblem::default()
    };
    for k in 0..m {
        problem.entries.extend([(k, one), (k + 1, entries + k)]);
        problem.ends.push(problem.entries.len());
        let own = 2 * k as u32;
        if k > 0 {
            problem.products.push((own, own - 1));
            problem.products_at.push(problem.products.len() as u32);
        }
        problem.products.extend([(own, own), (own + 1, own + 1)]);
        problem.products_at.push(problem.products.len() as u32);
    }
    let reduced = tape.reduced(&problem);
    let staged = Staged::new(&reduced, 2 * n, problem.early()).expect("it comes in two stages");
    let mut random = Random::new(3);
    let x: Vec<f64> = (0..2 * n).map(|_| 0.5 + random.unit()).collect();
    let lambda: Vec<f64> = (0..m).map(|_| random.signed()).collect();
    let c = 0.3;
    let mut scratch = staged.scratch();
    staged.prepare(&mut scratch, &[c]);
    let mut early = vec![0.0; problem.early()];
    let mut late = vec![0.0; 3 + n + 1];
    staged.begin(&mut scratch, &[&x], &mut early);
    staged.finish(&mut scratch, &lambda, &mut late);
    let a = |k: usize, i: usize| match i {
        i if i == k => 1.0,
        i if i == k + 1 => c * x[k],
        _ => 0.0,
    };
    let near = |found: f64, right: f64| assert!((found - right).abs() < 1e-13, "{found} {right}");
    let (schur, right) = early.split_at(early.len() - m);
    let mut at = 0;
    for k in 0..m {
        for j in k.saturating_sub(1)..=k {
            near(schur[at], (0..n).map(|i| a(k, i) * a(j, i) / x[i]).sum());
            at += 1;
        }
        let moved: f64 = (0..n).map(|i| a(k, i) * (x[n + i] + c) / x[i]).sum();
        near(right[k], x[k] - moved);
    }
    assert_eq!(late[..3], x[..3]);
    for i in 0..n {
        let along: f64 = (0..m).map(|k| a(k, i) * lambda[k]).sum();
        near(late[3 + i], (x[n + i] + c + along) / x[i]);
    }
    near(late[3 + n], c + lambda[2] * x[5]);
}
