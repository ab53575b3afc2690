//! A tape run over other values than doubles, against the evaluation of its expressions in them;
//! companions by their equations between series.

use dalembert_compile::conformance::{Graph, graphs};
use dalembert_compile::{Companions, Instruction, Program, Register, Tape, Through, Values};
use dalembert_expr::eval::{Arithmetic, Doubles};
use dalembert_expr::series::{Along, Series, TERMS};
use dalembert_expr::{Exprs, Function};

/// The values of a graph's expressions, by its tape and as expressions.
fn both<A: Arithmetic>(arithmetic: &A, graph: &Graph, inputs: &[A::Value]) -> [Vec<A::Value>; 2] {
    let program = Program::new(&graph.tape);
    let values = Through(arithmetic);
    let mut room = program.room(&values);
    let (constants, variables) = inputs.split_at(graph.tape.constants);
    program.prepare(&values, &mut room, constants);
    let mut by_tape = vec![inputs[0].clone(); graph.roots.len()];
    program.call(&values, &mut room, variables, &mut by_tape);
    let by_expression = graph.exprs.evaluate(arithmetic, &graph.roots, |symbol| {
        let place = graph.symbols.iter().position(|&other| other == symbol);
        inputs[place.expect("a symbol of the graph")].clone()
    });
    [by_tape, by_expression]
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * b.abs().max(1.0) || (a.is_nan() && b.is_nan())
}

const INPUTS: [f64; 5] = [0.4, 0.9, 0.3, 1.1, 0.7];

#[test]
fn doubles() {
    for graph in graphs(200) {
        let [by_tape, by_expression] = both(&Doubles, &graph, &INPUTS);
        for (a, b) in by_tape.iter().zip(&by_expression) {
            assert!(is_close(*a, *b), "{a} {b}");
        }
    }
}

#[test]
fn series() {
    let inputs: Vec<Series> = INPUTS
        .iter()
        .enumerate()
        .map(|(i, &x)| if i == 3 { Series::variable(x) } else { Series::constant(x) })
        .collect();
    let mut moved = 0;
    for graph in graphs(200) {
        let [by_tape, by_expression] = both(&Along, &graph, &inputs);
        for (a, b) in by_tape.iter().zip(&by_expression) {
            for ((a, b), size) in a.coefficients.iter().zip(b.coefficients).zip(b.sizes) {
                let close = (a - b).abs() <= 1e-11 * (1.0 + size) || (a.is_nan() && b.is_nan());
                assert!(close, "{a} {b}");
            }
            moved += usize::from(b.coefficients[2] != 0.0);
        }
    }
    assert!(moved > 50, "only {moved} have a second derivative");
}

/// Numbers that a tape may hold and an arithmetic has no name for.
#[test]
fn what_is_no_number() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, -0.0, 1e300, 5e-324] {
        let found = Through(&Doubles).number(x);
        assert!(found == x || (x.is_nan() && found.is_nan()), "{x} {found}");
    }
}

/// Coefficients of x y.
fn product(x: &[f64], y: &[f64]) -> Vec<f64> {
    (0..x.len().min(y.len())).map(|k| (0..=k).map(|j| x[j] * y[k - j]).sum()).collect()
}

/// Coefficients of x′.
fn rate(x: &Series) -> Vec<f64> {
    (1..TERMS).map(|k| k as f64 * x.coefficients[k]).collect()
}

/// Both sides of the equation of an instruction, given the series of what it reads, of its value
/// and of its companion.
fn sides(instruction: Instruction, [a, b, y, c]: [Series; 4]) -> [Vec<f64>; 2] {
    let [a0, b0, y0, c0] = [a, b, y, c].map(|x| x.coefficients);
    let negative = |x: Vec<f64>| x.into_iter().map(|x| -x).collect();
    match instruction {
        Instruction::Call1(Function::Cos, _) => [rate(&y), negative(product(&c0, &rate(&a)))],
        Instruction::Call1(Function::Asin | Function::Atan, _) => {
            [product(&c0, &rate(&y)), rate(&a)]
        }
        Instruction::Call1(Function::Acos, _) => [product(&c0, &rate(&y)), negative(rate(&a))],
        Instruction::Call1(..) => [rate(&y), product(&c0, &rate(&a))],
        Instruction::Call2(Function::Atan2, ..) => {
            let turned = product(&b0, &rate(&a)).into_iter().zip(product(&a0, &rate(&b)));
            [product(&c0, &rate(&y)), turned.map(|(x, y)| x - y).collect()]
        }
        _ => [rate(&y), product(&y0, &rate(&c))],
    }
}

#[test]
fn companions() {
    use Function::*;
    let exprs = Exprs::new();
    let (m, x, z) = (exprs.constant("m"), exprs.variable("x"), exprs.variable("z"));
    let half = (x + z) / exprs.integer(4);
    let call = |f, list: &[_]| exprs.call(f, list);
    let mut roots: Vec<_> = [Sin, Sinh, Tan, Tanh, Asin, Acos, Atan, Exp, Log]
        .iter()
        .map(|&f| call(f, &[half.id]))
        .collect();
    roots.push(call(Cos, &[(x * z).id]));
    roots.push(call(Cosh, &[(x * z).id]));
    roots.push(call(Atan2, &[(x * z).id, half.id]));
    roots.extend([half.pow(x * z).id, half.pow(m).id, (m.sin() * x).id]);
    let symbol = |e: dalembert_expr::Expr| e.symbol().expect("a symbol");
    let tape = Tape::lower(&exprs, &roots, &[symbol(m)], &[symbol(x), symbol(z)]);
    let mut with = Companions::new(tape.clone());
    // Nine functions of one argument, one of two, one power; not exp, log, xᵐ and sin m. Four are
    // the first companions of others.
    assert_eq!(with.of.iter().flatten().count(), 11 + 4, "{with:?}");
    let added = with.tape.instructions.len();
    assert_eq!(Companions::new(with.tape.clone()).tape.instructions.len(), added, "added twice");
    // Everything becomes an output.
    let kept = with.tape.outputs.len();
    assert_eq!(kept, tape.outputs.len());
    with.tape.outputs = (0..with.tape.registers() as Register).collect();
    let (program, values) = (Program::new(&with.tape), Through(&Along));
    let mut room = program.room(&values);
    program.prepare(&values, &mut room, &[Series::constant(1.3)]);
    let mut all = vec![Series::constant(0.0); program.outputs()];
    let inputs = [Series::variable(0.6), Series::constant(0.8)];
    program.call(&values, &mut room, &inputs, &mut all);
    let first = with.tape.first_instruction();
    for (at, companion) in with.of.iter().enumerate() {
        let Some(companion) = companion else { continue };
        let instruction = with.tape.instructions[at];
        let ([a, b, _], _) = instruction.operands();
        let series = [a, b, (first + at) as Register, *companion].map(|r| all[r as usize]);
        let [left, right] = sides(instruction, series);
        assert!(left.iter().any(|x| x.abs() > 1e-3), "{instruction:?} does not move");
        for (left, right) in left.iter().zip(&right) {
            assert!((left - right).abs() < 1e-12, "{instruction:?}: {left} {right}");
        }
    }
}
