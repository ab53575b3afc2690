//! A tape run over other values than doubles, against the evaluation of its expressions in them.

use dalembert_compile::conformance::{Graph, graphs};
use dalembert_compile::{Program, Through};
use dalembert_expr::eval::{Arithmetic, Doubles};
use dalembert_expr::series::{Along, Series};

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
    use dalembert_compile::Values;
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, -0.0, 1e300, 5e-324] {
        let found = Through(&Doubles).number(x);
        assert!(found == x || (x.is_nan() && found.is_nan()), "{x} {found}");
    }
}
