//! What one evaluation of the equations costs by each backend, and what its compilation does.
//!
//! `cargo bench --bench backends`; docs/performance.md has the table. The backends take turns, so
//! that what else the machine does is shared fairly; times are medians.

use dalembert::compile::{Backend, Instruction, Register, Tape, backends};
use dalembert::expr::{ExprId, Random, Symbol};
use dalembert::simulate::{Setting, start};
use dalembert::{Input, Options};
use std::hint::black_box;
use std::time::Instant;

/// A tape, and numbers to call it with.
struct Case {
    name: String,
    tape: Tape,
    constants: Vec<f64>,
    variables: Vec<f64>,
}

/// The terms of the normal form of a page of the gallery.
fn page(name: &str, set: &[&str]) -> Case {
    let input = Input::open(&format!("gallery:{name}")).expect("a page of the gallery");
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let label = [&[name.to_owned()], &set[..]].concat().join(" ");
    let options = Options { set, ..Options::default() };
    let model = dalembert::load(&input, &options).model.expect("no faults");
    let setting = Setting::new(&model).expect("parameters have values");
    let equations = dalembert::derive(&model, None).expect("applies").on_constraints(&model.exprs);
    let start = start::start(&setting).expect("a start").state;
    let (symbols, constants) = setting.constants();
    let mut roots: Vec<ExprId> = equations.kinematics.clone();
    roots.extend(equations.metric.rows.iter().flatten().map(|e| e.1));
    roots.extend(&equations.force);
    roots.extend(&equations.nonideal);
    roots.extend(equations.jacobian.rows.iter().flatten().map(|e| e.1));
    roots.extend(&equations.bias);
    let mut variables = vec![Symbol::TIME];
    variables.extend(&equations.q);
    variables.extend(&equations.v);
    let tape = Tape::lower(&model.exprs, &roots, &symbols, &variables);
    let mut x = vec![start.t];
    x.extend(&start.q);
    x.extend(&start.velocity);
    Case { name: label, tape, constants, variables: x }
}

/// Sums and products of values that came shortly before, without calls.
fn synthetic(count: usize) -> Case {
    let inputs = 30;
    let mut random = Random::new(1);
    let mut instructions = Vec::with_capacity(count);
    for at in 0..count {
        let end = inputs + at;
        let mut near = || (end - 1 - random.below(end.min(40))) as Register;
        let (a, b, c) = (near(), near(), near());
        let number = (inputs - 1) as Register;
        instructions.push(match random.below(6) {
            0 => Instruction::Add(a, b),
            1 | 2 => Instruction::Sub(a, b),
            3 => Instruction::Mul(a, number),
            _ => Instruction::Fma(number, a, c),
        });
    }
    let last = (inputs + count) as Register;
    let tape = Tape {
        variables: inputs,
        outputs: (last - 100..last).collect(),
        instructions,
        ..Tape::default()
    };
    let variables = (0..inputs).map(|i| 0.3 + 0.01 * i as f64).collect();
    Case { name: format!("synthetic {count}"), tape, constants: Vec::new(), variables }
}

/// The median time of one of many turns, for each of the backends.
fn medians(
    turns: usize,
    all: &[&'static dyn Backend],
    mut once: impl FnMut(usize) -> f64,
) -> Vec<f64> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    for _ in 0..turns {
        for (which, list) in times.iter_mut().enumerate() {
            list.push(once(which));
        }
    }
    let median = |mut list: Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    times.into_iter().map(median).collect()
}

const TURNS: usize = 31;
const LANES: usize = 64;

fn measure(case: &Case) {
    let Case { name, tape, constants, variables } = case;
    let all = backends::ALL;
    let operations = tape.instructions.iter().filter(|i| **i != Instruction::Follow).count();
    let body = operations.saturating_sub(tape.prologue);
    let functions: Vec<_> = all.iter().map(|b| b.compile(tape.clone())).collect();
    let mut scratches: Vec<_> = functions.iter().map(|f| f.scratch()).collect();
    for (function, scratch) in functions.iter().zip(&mut scratches) {
        function.prepare(scratch, constants);
    }
    let mut y = vec![0.0; tape.outputs.len()];
    let calls = (2_000_000 / (operations + 20)).clamp(20, 50_000);
    let single = medians(TURNS, all, |which| {
        let (function, scratch) = (&functions[which], &mut scratches[which]);
        let start = Instant::now();
        for _ in 0..calls {
            function.call(scratch, black_box(variables), black_box(&mut y));
        }
        start.elapsed().as_secs_f64() / calls as f64
    });
    let across: Vec<f64> = variables.iter().flat_map(|&x| [x; LANES]).collect();
    let mut many = vec![0.0; LANES * tape.outputs.len()];
    let calls = (calls / LANES).max(2);
    let lanes = medians(TURNS, all, |which| {
        let (function, scratch) = (&functions[which], &mut scratches[which]);
        let start = Instant::now();
        for _ in 0..calls {
            function.call_many(scratch, LANES, black_box(&across), black_box(&mut many));
        }
        start.elapsed().as_secs_f64() / calls as f64
    });
    let compile = medians(TURNS, all, |which| {
        let tape = tape.clone();
        let start = Instant::now();
        let function = black_box(all[which].compile(tape));
        let time = start.elapsed().as_secs_f64();
        drop(function);
        time
    });
    for (which, backend) in all.iter().enumerate() {
        println!(
            "{name:22} {operations:6} {body:6} {:12} {:10.1} {:10.3} {:10.1} {:8.3}",
            backend.name(),
            1e9 * single[which],
            1e9 * lanes[which] / (LANES * body.max(1)) as f64,
            1e6 * compile[which],
            1e6 * compile[which] / operations as f64,
        );
    }
}

fn main() {
    println!(
        "{:22} {:>6} {:>6} {:12} {:>10} {:>10} {:>10} {:>8}",
        "tape", "ops", "body", "backend", "ns/call", "ns/op/lane", "compile µs", "µs/op"
    );
    for case in [
        page("spherical-pendulum", &[]),
        page("benchmarks/andrews", &[]),
        page("n-link-chain", &["N=10"]),
        page("whipple-bicycle", &[]),
        page("n-link-chain", &["N=50"]),
        synthetic(40_000),
    ] {
        measure(&case);
    }
}
