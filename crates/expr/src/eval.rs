//! Evaluation in any arithmetic: doubles for numbers, balls of extended
//! precision for the zero test. One pass in ascending order; what runs often
//! is compiled instead.

use crate::arena::{Arena, ExprId, Exprs, Node, NumberId};
pub use crate::arithmetic::Arithmetic;
use crate::arithmetic::Restriction;
use crate::function::Function;
use crate::number::Number;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

impl Exprs {
    /// The values of the roots, given those of the symbols (π is known).
    pub fn evaluate<A: Arithmetic>(
        &self,
        arithmetic: &A,
        roots: &[ExprId],
        mut symbol: impl FnMut(Symbol) -> A::Value,
    ) -> Vec<A::Value> {
        let (order, epoch, symbols) = self.arena.lock().plan(roots);
        let restrictions = self.restrictions_in(&order);
        // What was handed in may use the arena; it is asked before the walk. The values of the
        // symbols come first, those of all nodes after them.
        let first = symbols.len();
        let mut values: SmallVec<[A::Value; 32]> = SmallVec::with_capacity(first + order.len());
        values.extend(symbols.into_iter().map(&mut symbol));
        let mut next = 0..first;
        let arena = &mut *self.arena.lock();
        if arena.epoch() != epoch {
            // The nodes are the same; their marks were used for others.
            arena.reachable(roots);
        }
        let mut solved: FxHashMap<u32, Vec<A::Value>> = FxHashMap::default();
        let mut restricted: Vec<Option<Vec<A::Value>>> = vec![None; restrictions.groups.len()];
        for &id in &order {
            let at = |e: ExprId, values: &[A::Value]| match arena.slot(e) {
                Some(slot) if first + slot < values.len() => values[first + slot].clone(),
                _ => arithmetic.number(&Number::ZERO),
            };
            let node = arena.node(id);
            let value = match node {
                Node::Symbol(symbol) if symbol != Symbol::PI => match next.next() {
                    Some(given) => values[given].clone(),
                    None => arithmetic.number(&Number::ZERO),
                },
                Node::Solve { solve, index } => {
                    let all = solved.entry(solve).or_insert_with(|| {
                        let data = arena.solves.get(solve);
                        let k: Vec<A::Value> = arena
                            .solves
                            .matrix(data.matrix)
                            .iter()
                            .map(|&e| at(e, &values))
                            .collect();
                        let r: Vec<A::Value> = data.right.iter().map(|&e| at(e, &values)).collect();
                        arithmetic.solve(&k, &r)
                    });
                    all[index as usize].clone()
                }
                Node::Restricted { start, len, .. } => {
                    let (group, place) = restrictions.places[&id];
                    // What the others of its group are functions of is known by now too.
                    let all = restricted[group].get_or_insert_with(|| {
                        let arguments = arena.items(start, len).iter();
                        let arguments: Vec<A::Value> =
                            arguments.map(|i| at(i.expr, &values)).collect();
                        arithmetic.restricted(&restrictions.groups[group], &arguments)
                    });
                    all[place].clone()
                }
                _ => combine(arithmetic, arena, node, |e| at(e, &values))
                    .unwrap_or_else(|| arithmetic.number(&Number::ZERO)),
            };
            values.push(value);
        }
        roots
            .iter()
            .map(|&root| match arena.slot(root) {
                Some(slot) => values[first + slot].clone(),
                None => arithmetic.number(&Number::ZERO),
            })
            .collect()
    }

    /// The values of the roots in doubles; NaN where something is undefined.
    pub fn eval_f64(&self, roots: &[ExprId], symbol: impl FnMut(Symbol) -> f64) -> Vec<f64> {
        self.evaluate(&Doubles, roots, symbol)
    }
}

/// The value of a number, or of a node that is made of others by arithmetic and functions, given
/// the values of these. `None` for what takes more: a symbol, a solve, a function on a surface.
pub(crate) fn combine<A: Arithmetic>(
    arithmetic: &A,
    arena: &Arena,
    node: Node,
    at: impl Fn(ExprId) -> A::Value,
) -> Option<A::Value> {
    Some(match node {
        Node::Number(n) => arithmetic.number(arena.value(n)),
        Node::Symbol(Symbol::PI) => arithmetic.pi(),
        Node::Symbol(_) | Node::Solve { .. } | Node::Restricted { .. } => return None,
        Node::Sum { constant, start, len } => {
            let mut total: Option<A::Value> =
                (constant != NumberId::ZERO).then(|| arithmetic.number(arena.value(constant)));
            for part in arena.items(start, len) {
                let mut term = at(part.expr);
                if part.number != NumberId::ONE {
                    term = arithmetic.mul(&arithmetic.number(arena.value(part.number)), &term);
                }
                total = Some(match total {
                    Some(total) => arithmetic.add(&total, &term),
                    None => term,
                });
            }
            total.unwrap_or_else(|| arithmetic.number(&Number::ZERO))
        }
        Node::Product { start, len } => {
            let mut total: Option<A::Value> = None;
            for part in arena.items(start, len) {
                let mut factor = at(part.expr);
                if part.number != NumberId::ONE {
                    factor = arithmetic.power(&factor, arena.value(part.number));
                }
                total = Some(match total {
                    Some(total) => arithmetic.mul(&total, &factor),
                    None => factor,
                });
            }
            total.unwrap_or_else(|| arithmetic.number(&Number::ONE))
        }
        Node::Power(base, exponent) => arithmetic.pow(&at(base), &at(exponent)),
        Node::Call { function, start, len } => {
            let arguments: Vec<A::Value> =
                arena.items(start, len).iter().map(|i| at(i.expr)).collect();
            arithmetic.call(function, &arguments)
        }
    })
}

/// IEEE doubles.
pub struct Doubles;

impl Arithmetic for Doubles {
    type Value = f64;

    fn number(&self, number: &Number) -> f64 {
        number.to_f64()
    }

    fn pi(&self) -> f64 {
        std::f64::consts::PI
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn mul(&self, a: &f64, b: &f64) -> f64 {
        a * b
    }

    fn power(&self, base: &f64, exponent: &Number) -> f64 {
        match exponent.as_small() {
            Some((n, 1)) if n.unsigned_abs() <= i32::MAX as u64 => base.powi(n as i32),
            Some((1, 2)) => base.sqrt(),
            Some((n, 2)) if n.unsigned_abs() <= i32::MAX as u64 => base.sqrt().powi(n as i32),
            _ => base.powf(exponent.to_f64()),
        }
    }

    fn pow(&self, base: &f64, exponent: &f64) -> f64 {
        base.powf(*exponent)
    }

    fn call(&self, function: Function, x: &[f64]) -> f64 {
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        match function {
            Function::Sin => x[0].sin(),
            Function::Cos => x[0].cos(),
            Function::Tan => x[0].tan(),
            Function::Asin => x[0].asin(),
            Function::Acos => x[0].acos(),
            Function::Atan => x[0].atan(),
            // 0 has no sign here.
            Function::Atan2 => (x[0] + 0.0).atan2(x[1] + 0.0),
            Function::Sinh => x[0].sinh(),
            Function::Cosh => x[0].cosh(),
            Function::Tanh => x[0].tanh(),
            Function::Exp => x[0].exp(),
            Function::Log => x[0].ln(),
            Function::Abs => x[0].abs(),
            Function::Sign if x[0].is_nan() => f64::NAN,
            Function::Sign => truth(x[0] > 0.0) - truth(x[0] < 0.0),
            Function::Min => extreme(x, |a, b| b < a),
            Function::Max => extreme(x, |a, b| b > a),
            Function::If if x[0].is_nan() => f64::NAN,
            Function::If => {
                if x[0] != 0.0 {
                    x[1]
                } else {
                    x[2]
                }
            }
            Function::Negative if x[0].is_nan() => f64::NAN,
            Function::Negative => truth(x[0] < 0.0),
            Function::NotPositive if x[0].is_nan() => f64::NAN,
            Function::NotPositive => truth(x[0] <= 0.0),
            // NaN only where no other argument decides.
            Function::And if x.contains(&0.0) => 0.0,
            Function::Or if x.iter().any(|&a| a != 0.0 && !a.is_nan()) => 1.0,
            Function::And | Function::Or if x.iter().any(|a| a.is_nan()) => f64::NAN,
            Function::And => 1.0,
            Function::Or => 0.0,
            Function::Floor => x[0].floor(),
            Function::Table | Function::Piece | Function::Entry => {
                crate::tables::call(function, x[0], x[1])
            }
            Function::Given => crate::given::call(x[0], x[1]),
        }
    }

    fn solve(&self, k: &[f64], r: &[f64]) -> Vec<f64> {
        gauss(k, r)
    }

    fn restricted(&self, of: &Arc<Restriction>, arguments: &[f64]) -> Vec<f64> {
        of.at(arguments)
    }
}

/// The first argument that no other is better than; NaN if one is.
fn extreme(x: &[f64], better: impl Fn(f64, f64) -> bool) -> f64 {
    let choose = |a: f64, b: f64| if b.is_nan() || better(a, b) { b } else { a };
    x.iter().copied().reduce(choose).unwrap_or(f64::NAN)
}

/// Gaussian elimination with row pivoting; NaN for a singular matrix.
fn gauss(k: &[f64], r: &[f64]) -> Vec<f64> {
    let n = r.len();
    let mut a = k.to_vec();
    let mut x = r.to_vec();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))
            .unwrap_or(column);
        if a[pivot * n + column] == 0.0 || !a[pivot * n + column].is_finite() {
            return vec![f64::NAN; n];
        }
        for j in 0..n {
            a.swap(column * n + j, pivot * n + j);
        }
        x.swap(column, pivot);
        for i in column + 1..n {
            let factor = a[i * n + column] / a[column * n + column];
            for j in column..n {
                a[i * n + j] -= factor * a[column * n + j];
            }
            x[i] -= factor * x[column];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    x
}
