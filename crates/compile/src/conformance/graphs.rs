//! Random expressions with every kind of instruction in them, against their evaluation as
//! expressions and, to the bit, against the run that defines a tape.

use super::{Case, Difference, EDGES, Random, compare, number, reference};
use crate::backends::Backend;
use crate::tape::{Instruction, Tape};
use dalembert_expr::{Expr, ExprId, Exprs, Function, Surface, Symbol};

/// Some expressions of two constants and three variables, and their tape.
pub struct Graph {
    /// Where they live.
    pub exprs: Exprs,
    /// The expressions.
    pub roots: Vec<ExprId>,
    /// Constants, then variables.
    pub symbols: Vec<Symbol>,
    /// What they are lowered to.
    pub tape: Tape,
}

impl Graph {
    /// The values of the expressions as expressions.
    pub fn evaluate(&self, constants: &[f64], variables: &[f64]) -> Vec<f64> {
        let values = [constants, variables].concat();
        self.exprs.eval_f64(&self.roots, |s| {
            let place = self.symbols.iter().position(|&other| other == s);
            place.and_then(|i| values.get(i)).copied().unwrap_or(f64::NAN)
        })
    }

    /// Whether it has linear solves.
    pub fn solves(&self) -> bool {
        self.tape.instructions.iter().any(|i| matches!(i, Instruction::Solve(_)))
    }
}

/// The first graphs of a fixed sequence.
pub fn graphs(count: usize) -> impl Iterator<Item = Graph> {
    (0..count).map(|number| {
        let mut random = Random::new(7 + 1000 * number as u64);
        let exprs = Exprs::new();
        let (roots, symbols, tape) = {
            let constants = ["a", "b"].map(|name| exprs.constant(name));
            let variables = ["x", "y", "z"].map(|name| exprs.variable(name));
            let all: Vec<Expr> = constants.into_iter().chain(variables).collect();
            let mut roots: Vec<ExprId> =
                (0..3).map(|_| expression(&exprs, &mut random, &all, 5).id).collect();
            if number % 8 == 3 {
                roots.extend(restricted(&exprs, &all).map(|e| e.id));
            }
            let symbols: Vec<Symbol> = all.iter().filter_map(|e| e.symbol()).collect();
            let tape = Tape::lower(&exprs, &roots, &symbols[..2], &symbols[2..]);
            (roots, symbols, tape)
        };
        Graph { exprs, roots, symbols, tape }
    })
}

/// A random expression that is defined for symbols in (0.2, 1.2).
fn expression<'e>(
    exprs: &'e Exprs,
    random: &mut Random,
    symbols: &[Expr<'e>],
    depth: u32,
) -> Expr<'e> {
    if depth == 0 {
        return match random.below(4) {
            0 => exprs.integer(random.below(7) as i64 - 3),
            _ => symbols[random.below(symbols.len())],
        };
    }
    let next = |random: &mut Random| expression(exprs, random, symbols, depth - 1);
    let a = next(random);
    let safe = |x: Expr<'e>| x * x + exprs.integer(1);
    match random.below(15) {
        0 | 1 => a + next(random),
        2 => a - next(random),
        3 | 4 => a * next(random),
        5 => a / safe(next(random)),
        6 => a.sin() * a.cos(),
        7 => a.sin(),
        8 => safe(a).sqrt(),
        9 => safe(a).powi(random.below(11) as i64 - 5),
        10 => exprs.at(exprs.call(Function::Tanh, &[a.id])),
        11 => {
            let b = next(random);
            exprs.at(exprs.call(Function::Max, &[a.id, b.id]))
        }
        12 => {
            let (b, c) = (next(random), next(random));
            let condition = exprs.call(Function::Negative, &[a.id]);
            exprs.at(exprs.call(Function::If, &[condition, b.id, c.id]))
        }
        13 => safe(a).pow(next(random).sin()),
        _ => {
            let b = next(random);
            let one = exprs.integer(1);
            let k = [safe(a), b, -b, safe(b) + one].map(|e| e.id);
            let x = exprs.solve(&k, &[a.id, one.id]);
            exprs.at(x[random.below(2)])
        }
    }
}

/// A function of the variables on a surface, and one of its slopes.
fn restricted<'e>(exprs: &'e Exprs, symbols: &[Expr<'e>]) -> Option<Expr<'e>> {
    let [_, _, x, y, z] = symbols else { return None };
    let phi = x.sin() + *y + *z;
    let moved: Vec<(Symbol, f64)> =
        [x, y, z].iter().filter_map(|e| Some((e.symbol()?, 1.0))).collect();
    let conditions = &[phi.id];
    let given =
        Surface { conditions, moved: &moved, held: &[], constants: &[], shift: 0, bits: 128 };
    let surface = exprs.surface(&given)?;
    let f = exprs.restricted(surface, (*x * *y + z.cos()).id)?;
    let slope = exprs.derivative(f, moved[1].0);
    Some(exprs.at(f) + exprs.at(slope))
}

/// How many graphs are tried.
const GRAPHS: usize = 400;

/// Random expressions: close to their evaluation as expressions, and to the bit what the run
/// that defines a tape gives, at ordinary numbers and at the edges.
pub fn random_graphs(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let mut random = Random::new(3);
    for graph in graphs(GRAPHS) {
        let tape = &graph.tape;
        let constants = [number(&mut random), number(&mut random)];
        let mut sets: Vec<Vec<f64>> =
            (0..7).map(|_| (0..3).map(|_| number(&mut random)).collect()).collect();
        close("random expressions", backend, &graph, &constants, &sets)?;
        sets.extend((0..20).map(|_| (0..3).map(|_| EDGES[random.below(EDGES.len())]).collect()));
        let expected = reference(tape, &constants, &sets);
        compare("random expressions", backend, tape, &constants, &sets, &expected)?;
    }
    Ok(())
}

/// Where an input is not a number, an output is one only if the expression is. Linear solves are
/// left out: there an evaluation of expressions may give up earlier.
pub fn not_numbers(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    for graph in graphs(GRAPHS).filter(|graph| !graph.solves()) {
        let sets: Vec<Vec<f64>> = (0..3)
            .map(|i| {
                let mut set = vec![0.3, 0.7, 1.1];
                set[i] = f64::NAN;
                set
            })
            .collect();
        close("not a number", backend, &graph, &[0.4, 0.9], &sets)?;
    }
    Ok(())
}

/// Against the evaluation as expressions. Roundings differ: a tape has one where a product and a
/// sum have two.
fn close(
    check: &'static str,
    backend: &dyn Backend,
    graph: &Graph,
    constants: &[f64],
    sets: &[Vec<f64>],
) -> Result<(), Box<Difference>> {
    let function = backend.compile(graph.tape.clone());
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, constants);
    let mut y = vec![0.0; graph.roots.len()];
    for x in sets {
        function.call(&mut scratch, x, &mut y);
        let expected = graph.evaluate(constants, x);
        for (output, (&found, &expected)) in y.iter().zip(&expected).enumerate() {
            let is_close = (found - expected).abs() <= 1e-11 * expected.abs().max(1.0)
                || (found.is_nan() && expected.is_nan());
            if !is_close {
                let case = Case { check, tape: &graph.tape, constants, variables: x };
                return Err(case.differs(output, found, expected));
            }
        }
    }
    Ok(())
}
