//! Tapes printed as JavaScript, run by node: the trials of the other backends. What is exact is
//! the same to the bit, against the run of the tape with two roundings for a·b + c; what the
//! language leaves open is within units of the last place.

use dalembert_compile::backends::{Backend, interpreter};
use dalembert_compile::conformance::{
    EDGES, Trial, graphs, instruction_trials, same, solve_trials,
};
use dalembert_compile::printed::{NotPrinted, javascript, unfused};
use dalembert_compile::{Instruction, Tape};
use dalembert_expr::{Between, Exprs, Function, Outside, Random, Table};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Libraries are within a unit of the last place or a bit more; one was seen, and one is to spare.
const UNITS: u64 = 2;

/// Reads a module and lists of bits from a file, and prints the bits of what is computed.
const RUNNER: &str = r#"
const fs = require('node:fs');
const view = new DataView(new ArrayBuffer(8));
const read = (hex) => (view.setBigUint64(0, BigInt('0x' + hex)), view.getFloat64(0));
const bits = (x) => (view.setFloat64(0, x), view.getBigUint64(0).toString(16));
const list = (text) => Float64Array.from(text.split(' ').filter((s) => s), read);
const module_ = new Function(fs.readFileSync(process.argv[2] + '/module.js', 'utf8'))();
const out = [];
for (const line of fs.readFileSync(process.argv[2] + '/calls.txt', 'utf8').split('\n')) {
  if (!line) continue;
  const [name, outputs, constants, ...sets] = line.split(';');
  const tape = module_[name];
  tape.prepare(list(constants));
  const y = new Float64Array(+outputs);
  for (const set of sets) {
    tape.call(list(set), y);
    out.push(Array.from(y, bits).join(' '));
  }
}
fs.writeFileSync(process.argv[2] + '/results.txt', out.join('\n'));
"#;

/// What node computes for trials.
fn node(trials: &[Trial], program: &str, name: &str) -> Vec<Vec<Vec<f64>>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the trial");
    let names: Vec<String> = (0..trials.len()).map(|at| format!("t{at}")).collect();
    let tapes: Vec<(&str, &Tape)> =
        names.iter().map(String::as_str).zip(trials.iter().map(|t| &t.tape)).collect();
    let module = javascript::module(&tapes).expect("nothing is restricted");
    let hex = |list: &[f64]| -> String {
        list.iter().map(|x| format!("{:x}", x.to_bits())).collect::<Vec<_>>().join(" ")
    };
    let mut calls = String::new();
    for (name, trial) in names.iter().zip(trials) {
        let _ = write!(calls, "{name};{};{}", trial.tape.outputs.len(), hex(&trial.constants));
        trial.sets.iter().for_each(|set| _ = write!(calls, ";{}", hex(set)));
        calls.push('\n');
    }
    for (name, text) in [("module.js", &*module), ("calls.txt", &calls), ("run.cjs", RUNNER)] {
        std::fs::write(folder.join(name), text).expect("the folder is there");
    }
    let run = Command::new(program).arg(folder.join("run.cjs")).arg(&folder).output();
    let run = run.expect("the program that was found");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(folder.join("results.txt")).expect("node wrote it");
    let mut lines = text.split('\n');
    let mut next = |outputs: usize| -> Vec<f64> {
        let line = lines.next().unwrap_or("");
        let bits = line.split(' ').map(|b| u64::from_str_radix(b, 16).expect("bits"));
        let found: Vec<f64> = bits.map(f64::from_bits).collect();
        assert_eq!(found.len(), outputs);
        found
    };
    let of = |trial: &Trial, next: &mut dyn FnMut(usize) -> Vec<f64>| {
        trial.sets.iter().map(|_| next(trial.tape.outputs.len())).collect()
    };
    trials.iter().map(|trial| of(trial, &mut next)).collect()
}

/// What the tape says.
fn expected(trial: &Trial, tape: Tape) -> Vec<Vec<f64>> {
    let function = interpreter::BACKEND.compile(tape);
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, &trial.constants);
    let mut y = vec![0.0; function.outputs()];
    let mut call = |x: &Vec<f64>| {
        function.call(&mut scratch, x, &mut y);
        y.clone()
    };
    trial.sets.iter().map(&mut call).collect()
}

/// Whether the language says what every digit is.
fn is_exact(tape: &Tape) -> bool {
    use Function::*;
    tape.instructions.iter().all(|instruction| match instruction {
        Instruction::Pow(..) | Instruction::SinCos(_) => false,
        Instruction::Call1(f, _) => matches!(f, Abs | Sign | Negative | NotPositive),
        Instruction::Call2(f, ..) => *f != Atan2,
        _ => true,
    })
}

/// By how many units of the last place two numbers differ.
fn units(a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if a.is_nan() && b.is_nan() { 0 } else { place(a).abs_diff(place(b)) }
}

fn program() -> Option<String> {
    std::env::var("DALEMBERT_NODE").ok()
}

#[test]
fn every_instruction_is_that_of_the_other_backends() {
    let Some(program) = program() else { return };
    let trials = instruction_trials();
    let mut worst = 0;
    for (trial, found) in trials.iter().zip(node(&trials, &program, "instructions")) {
        let plain = unfused(&trial.tape);
        let first = trial.tape.instructions[0];
        for ((x, found), expected) in trial.sets.iter().zip(found).zip(expected(trial, plain)) {
            for (found, expected) in found.into_iter().zip(expected) {
                if is_exact(&trial.tape) {
                    assert!(same(found, expected), "{first:?} {x:?}: {found:e} {expected:e}");
                } else {
                    let units = units(found, expected);
                    assert!(units <= UNITS, "{first:?} {x:?}: {found:e} {expected:e}");
                    worst = worst.max(units);
                }
            }
        }
    }
    println!("functions differ by {worst} units of the last place at most");
}

#[test]
fn functions_are_within_units_of_the_last_place() {
    let Some(program) = program() else { return };
    let mut random = Random::new(31);
    let mut trials = instruction_trials();
    trials.retain(|trial| !is_exact(&trial.tape));
    for trial in &mut trials {
        let n = trial.tape.variables;
        let scale = |random: &mut Random| [1e-3, 1.0, 1.0, 30.0][random.below(4)];
        let set = |_| (0..n).map(|_| scale(&mut random) * random.signed()).collect();
        trial.sets = (0..2000).map(set).collect();
    }
    for (trial, found) in trials.iter().zip(node(&trials, &program, "functions")) {
        let first = trial.tape.instructions[0];
        let all = trial.sets.iter().zip(found).zip(expected(trial, trial.tape.clone()));
        for ((x, found), expected) in all {
            for (found, expected) in found.into_iter().zip(expected) {
                let units = units(found, expected);
                assert!(units <= UNITS, "{first:?} {x:?}: {units} units, {found:e} {expected:e}");
            }
        }
    }
}

#[test]
fn linear_solves_are_those_of_the_other_backends() {
    let Some(program) = program() else { return };
    let trials = solve_trials();
    for (trial, found) in trials.iter().zip(node(&trials, &program, "solves")) {
        let expected = expected(trial, unfused(&trial.tape));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!(same(*found, *expected), "{found:e} {expected:e}");
        }
    }
}

/// The tape with exact functions in the place of others.
fn exact(tape: &Tape) -> Tape {
    let mut copy = tape.clone();
    let mut last = None;
    for instruction in &mut copy.instructions {
        *instruction = match *instruction {
            Instruction::SinCos(a) => {
                last = Some(a);
                Instruction::Call1(Function::Abs, a)
            }
            Instruction::Follow => last.map_or(Instruction::Follow, Instruction::Neg),
            Instruction::Pow(a, b) => Instruction::Call2(Function::Max, a, b),
            Instruction::Call2(Function::Atan2, a, b) => Instruction::Sub(a, b),
            other => other,
        };
        if !is_exact(&Tape { instructions: vec![*instruction], ..Tape::default() })
            && let Instruction::Call1(_, a) = *instruction
        {
            *instruction = Instruction::Sqrt(a);
        }
        if *instruction != Instruction::Follow && !matches!(instruction, Instruction::Call1(..)) {
            last = None;
        }
    }
    copy
}

/// Random expressions: to the bit with exact functions in the place of others, and as near as
/// other backends are to the evaluation of expressions as they are.
#[test]
fn random_expressions_are_those_of_the_other_backends() {
    let Some(program) = program() else { return };
    let mut random = Random::new(3);
    let mut trials = Vec::new();
    for graph in graphs(400).filter(|graph| graph.tape.restricted.is_empty()) {
        let number = |random: &mut Random| 0.2 + 0.5 * (1.0 + random.signed());
        let mut sets: Vec<Vec<f64>> =
            (0..7).map(|_| (0..3).map(|_| number(&mut random)).collect()).collect();
        let constants = vec![number(&mut random), number(&mut random)];
        let (tape, plain) = (graph.tape.clone(), exact(&graph.tape));
        trials.push(Trial { tape, constants: constants.clone(), sets: sets.clone() });
        let edge = |random: &mut Random| EDGES[random.below(EDGES.len())];
        sets.extend((0..20).map(|_| (0..3).map(|_| edge(&mut random)).collect::<Vec<_>>()));
        trials.push(Trial { tape: plain, constants, sets });
    }
    let mut compared = 0;
    for (trial, found) in trials.iter().zip(node(&trials, &program, "graphs")) {
        let expected = expected(trial, unfused(&trial.tape));
        let is_exact = is_exact(&trial.tape);
        compared += usize::from(is_exact);
        for (&found, &expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            if is_exact {
                assert!(same(found, expected), "{found:e} {expected:e}");
            } else {
                let bound = 1e-11 * expected.abs().max(1.0);
                assert!((found - expected).abs() <= bound, "{found:e} {expected:e}");
            }
        }
    }
    assert!(2 * compared >= trials.len(), "{compared} tapes are compared to the bit");
}

/// A tape that is cut into pieces is the tape.
#[test]
fn long_tapes_are_cut() {
    let Some(program) = program() else { return };
    let exprs = Exprs::new();
    let (a, x) = (exprs.constant("a"), exprs.variable("x"));
    let mut y = x;
    let mut k = a;
    for turn in 0..900 {
        y = (y * y + k) / (exprs.integer(turn % 7 + 2) + y * y);
        k = k * a + exprs.integer(turn % 5);
        k = k / (exprs.integer(3) + k * k);
    }
    let solved = exprs.solve(&[y.id, a.id, x.id, k.id], &[x.id, k.id]);
    let symbols = [a.symbol().expect("a symbol"), x.symbol().expect("a symbol")];
    let tape =
        Tape::lower(&exprs, &[y.id, k.id, solved[0], solved[1]], &symbols[..1], &symbols[1..]);
    assert!(tape.instructions.len() > 4000 && tape.prologue > 1000);
    let sets = vec![vec![0.3], vec![-1.7]];
    let trials = [Trial { tape, constants: vec![0.7], sets }];
    let found = node(&trials, &program, "long");
    let expected = expected(&trials[0], unfused(&trials[0].tape));
    for (found, expected) in found[0].iter().flatten().zip(expected.iter().flatten()) {
        assert!(same(*found, *expected), "{found:e} {expected:e}");
    }
}

/// Tables of every kind, their derivatives, and the pieces and numbers of frozen ones.
#[test]
fn tables_are_data_of_the_module() {
    let Some(program) = program() else { return };
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let mut trials = Vec::new();
    let (breaks, values) = ([-1.0, 0.25, 0.5, 2.0, 2.125], [3.0, -0.1, 0.7, 0.2, 3.0]);
    for between in [Between::Linear, Between::Monotone, Between::Cubic, Between::Step] {
        for outside in [Outside::Ends, Outside::Hold, Outside::Extend, Outside::Repeat] {
            let table = Table::new("f", &breaks, &values, between, outside).expect("a table");
            let id = exprs.tabulate(table).expect("room");
            let call = |function, key: i64| exprs.call(function, &[exprs.integer(key).id, x.id]);
            let mut roots: Vec<_> = (0..5).map(|d| call(Function::Table, id.key(d))).collect();
            roots.extend((0..7).map(|k| call(Function::Entry, id.key(k))));
            roots.push(call(Function::Piece, id.key(0)));
            let tape = Tape::lower(&exprs, &roots, &[], &[x.symbol().expect("a symbol")]);
            let mut sets: Vec<Vec<f64>> = breaks.iter().map(|&x| vec![x]).collect();
            sets.extend((-40..40).map(|k| vec![0.37 * f64::from(k)]));
            sets.extend([f64::NAN, f64::INFINITY, -1e300, -0.0].map(|x| vec![x]));
            trials.push(Trial { tape, constants: Vec::new(), sets });
        }
    }
    for (trial, found) in trials.iter().zip(node(&trials, &program, "tables")) {
        let expected = expected(trial, unfused(&trial.tape));
        for ((x, found), expected) in trial.sets.iter().zip(found).zip(expected) {
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(same(found, expected), "{x:?}: {found:e} {expected:e}");
            }
        }
    }
}

#[test]
fn what_is_found_by_a_search_is_refused() {
    let mut seen = 0;
    for graph in graphs(400).filter(|graph| !graph.tape.restricted.is_empty()) {
        assert_eq!(javascript::module(&[("f", &graph.tape)]), Err(NotPrinted::Restricted));
        seen += 1;
    }
    assert!(seen > 0);
}
