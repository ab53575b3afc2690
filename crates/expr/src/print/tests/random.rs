//! Random expressions for property tests.

use crate::arena::{ExprId, Exprs, FLAT_LIMIT, Node};
use crate::function::Function;
use crate::handle::Expr;
use crate::number::Number;
use proptest::prelude::*;

/// One step of a random construction: an operation and two earlier results.
pub type Step = (u8, u16, u16);

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0u8..32, any::<u16>(), any::<u16>()), 1..most)
}

/// The expressions that the steps build, the last being the largest.
pub fn build<'e>(exprs: &'e Exprs, steps: &[Step]) -> Vec<Expr<'e>> {
    let mut made: Vec<Expr> = vec![
        exprs.constant("m"),
        exprs.constant("l[2]"),
        exprs.variable("x"),
        exprs.variable("theta1"),
        exprs.variable("a.p_q[1,2]"),
        exprs.time(),
        exprs.pi(),
    ];
    made.push(made[2].dt());
    made.push(made[3].dt());
    made.push(made[3].dt().dt());
    for n in [2, -3, 0] {
        made.push(exprs.integer(n));
    }
    for (n, d) in [(1, 2), (-7, 3), (981, 100), (1, 10_000_000)] {
        made.push(exprs.at(exprs.of_number(Number::ratio(n, d).unwrap_or(Number::ONE))));
    }
    for &(operation, a, b) in steps {
        // Prefer what was made last, so that things grow.
        let pick = |n: u16| {
            let n = n as usize;
            let range = if n.is_multiple_of(3) { made.len().min(6) } else { made.len() };
            made[made.len() - 1 - (n / 3) % range]
        };
        let (x, y) = (pick(a), pick(b));
        let call = |f: Function, arguments: &[ExprId]| exprs.at(exprs.call(f, arguments));
        let truth = |e: Expr, strict: bool| {
            call(if strict { Function::Negative } else { Function::NotPositive }, &[e.id]).id
        };
        // What a change of sign does to functions of very long sums is a matter
        // of construction, and tested there.
        let long = matches!(exprs.arena.lock().node(x.id), Node::Sum { len, .. } if len as usize > FLAT_LIMIT);
        let next = match operation {
            18..=21 if long => -x,
            0..=3 => x + y,
            4..=5 => x - y,
            6..=9 => x * y,
            10 => x / y,
            11 => x.powi(2),
            12 => x.powi(3),
            13 => x.powi(-1),
            14 => x.powi(-2),
            15 => x.sqrt(),
            16 => x.pow(exprs.at(exprs.of_number(Number::ratio(-3, 2).unwrap_or(Number::ONE)))),
            // Exponents beyond all measure are not told from fractions.
            17 if exprs.as_number(y.id).is_none_or(|n| n.to_f64().abs() < 1e9) => x.pow(y),
            18 => x.sin(),
            19 => x.cos(),
            20 => call(
                [Function::Tan, Function::Atan, Function::Sinh, Function::Cosh][b as usize % 4],
                &[x.id],
            ),
            21 => call(
                [Function::Exp, Function::Log, Function::Abs, Function::Sign][b as usize % 4],
                &[x.id],
            ),
            22 => call(Function::Atan2, &[x.id, y.id]),
            23 => call(Function::Min, &[x.id, y.id, made[b as usize % made.len()].id]),
            24 => call(Function::Max, &[x.id, y.id]),
            25 => call(Function::If, &[truth(x - y, true), x.id, y.id]),
            26 => {
                let both = call(Function::And, &[truth(x, false), truth(y - x, true)]);
                call(Function::If, &[both.id, y.id, x.id])
            }
            27 => {
                let both = call(Function::And, &[truth(x - 1, false), truth(-y, true)]);
                let any = call(Function::Or, &[both.id, truth(y, true)]);
                call(Function::If, &[any.id, y.id, x.id])
            }
            28 => -x,
            29 => exprs.at(exprs.sum(&made.iter().map(|e| e.id).collect::<Vec<_>>())),
            30 => x.dt(),
            _ => x * y + x,
        };
        // Differentiating and adding everything up can make a tree too large to print.
        if exprs.count_tree_size(next.id) < 3000 {
            made.push(next);
        }
    }
    made
}
