//! Where an expression has a value.
//!
//! `log(u)`, a root of u, a quotient by u: each ends where a function of the variables is
//! 0, and these functions have values on both sides of it more often than not.

use crate::arena::{ExprId, Exprs, Node};
use crate::function::Function;
use crate::given::Given;
use crate::number::Number;
use crate::tables::{Held, Table, TableId};
use std::sync::Arc;

/// How a function is next to nothing, or next to constant, with all its derivatives, until it is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Narrow {
    /// eˣ, which is met where x is largest, and beside 1 where x is 0.
    Exponential,
    /// tanh x and its like, met where x is 0.
    Step,
    /// xⁿ, met where |x| is largest.
    Power(f64),
    /// x⁻ⁿ, met where |x| is smallest: 1/(1 + (x/ε)⁴). A logarithm has such a derivative.
    Pole(f64),
}

impl Exprs {
    /// The functions in expressions that do not show from afar, powers from a degree on among them, each with
    /// its argument.
    pub fn narrow(&self, roots: &[ExprId], degree: f64) -> Vec<(Narrow, ExprId)> {
        let order = self.arena.lock().reachable(roots);
        let arena = self.arena.lock();
        let power = |exponent: f64| match exponent {
            n if n > degree => Some(Narrow::Power(n)),
            n if n < 0.0 => Some(Narrow::Pole(-n)),
            _ => None,
        };
        let mut found = Vec::new();
        let mut take = |kind: Option<Narrow>, argument: ExprId| {
            found.extend(kind.map(|kind| (kind, argument)));
        };
        for id in order {
            match arena.node(id) {
                Node::Call { function, start, len } => {
                    let kind = match function {
                        Function::Exp => Narrow::Exponential,
                        Function::Tanh | Function::Sinh | Function::Cosh => Narrow::Step,
                        Function::Log => Narrow::Pole(1.0),
                        _ => continue,
                    };
                    take(Some(kind), arena.items(start, len)[0].expr);
                }
                Node::Product { start, len } => {
                    for item in arena.items(start, len) {
                        take(power(arena.value(item.number).to_f64()), item.expr);
                    }
                }
                Node::Power(base, exponent) => {
                    let exponent = arena.as_number(exponent).map_or(0.0, |n| n.to_f64());
                    take(power(exponent), base);
                }
                _ => {}
            }
        }
        found.retain(|(_, argument)| arena.as_number(*argument).is_none());
        found.sort_unstable_by_key(|(_, argument)| *argument);
        found.dedup();
        found
    }

    /// Functions that are 0 on the boundary of where an expression has a value, at its
    /// poles, and at the cuts of its angles. What a `solve` divides by is not among them.
    pub fn boundaries(&self, root: ExprId) -> Vec<ExprId> {
        let order = self.arena.lock().reachable(&[root]);
        let mut found = Vec::new();
        for id in order {
            let node = self.arena.lock().node(id);
            match node {
                Node::Product { start, len } => {
                    let arena = self.arena.lock();
                    for item in arena.items(start, len) {
                        let exponent = arena.value(item.number);
                        if exponent.is_negative() || !exponent.is_integer() {
                            found.push(item.expr);
                        }
                    }
                }
                Node::Power(base, _) => found.push(base),
                Node::Call { function, start, len } => {
                    let argument = match self.arena.lock().items(start, len).first() {
                        Some(item) => self.at(item.expr),
                        None => continue,
                    };
                    match function {
                        Function::Log => found.push(argument.id),
                        Function::Asin | Function::Acos => {
                            found.push((self.integer(1) - argument * argument).id);
                        }
                        Function::Atan2 => found.push(argument.id),
                        Function::Tan => found.push(argument.cos().id),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        found.retain(|&id| self.as_number(id).is_none());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a function is called in expressions.
    pub fn calls(&self, roots: &[ExprId], function: Function) -> bool {
        let order = self.arena.lock().reachable(roots);
        let arena = self.arena.lock();
        let is_call =
            |id: ExprId| matches!(arena.node(id), Node::Call { function: f, .. } if f == function);
        order.into_iter().any(is_call)
    }

    /// The tables in expressions: which, the order of the derivative, and the argument.
    pub fn tables(&self, roots: &[ExprId]) -> Vec<(TableId, u32, ExprId)> {
        let order = self.arena.lock().reachable(roots);
        let arena = self.arena.lock();
        let table = |id: ExprId| match arena.node(id) {
            Node::Call { function: Function::Table, start, len } => {
                let items = arena.items(start, len);
                let key = arena.as_number(items[0].expr).map_or(f64::NAN, |key| key.to_f64());
                let (table, order) = TableId::of_key(key)?;
                Some((table, order, items[1].expr))
            }
            _ => None,
        };
        order.into_iter().filter_map(table).collect()
    }

    /// A number for a table, by which expressions speak of it. The arena keeps it. `None` if there
    /// were more than there are numbers.
    pub fn tabulate(&self, table: Table) -> Option<TableId> {
        let held = Held::new(table)?;
        let id = held.id();
        let kept = &mut self.arena.lock().tables;
        if !kept.iter().any(|own| own.id() == id) {
            kept.push(held);
        }
        Some(id)
    }

    /// A function of an argument. The arena keeps it.
    pub fn give(&self, given: &Arc<Given>, argument: ExprId) -> ExprId {
        self.arena.lock().kept.push(Arc::clone(given));
        let key = self.of_number(Number::integer(given.key(0)));
        self.call(Function::Given, &[key, argument])
    }

    /// The functions of programs in expressions: which, the order of the derivative, and the
    /// argument.
    pub fn given(&self, roots: &[ExprId]) -> Vec<(Arc<Given>, u32, ExprId)> {
        let order = self.arena.lock().reachable(roots);
        let arena = self.arena.lock();
        let given = |id: ExprId| match arena.node(id) {
            Node::Call { function: Function::Given, start, len } => {
                let items = arena.items(start, len);
                let key = arena.as_number(items[0].expr).map_or(f64::NAN, |key| key.to_f64());
                let (given, order) = Given::of_key(key)?;
                Some((given, order, items[1].expr))
            }
            _ => None,
        };
        order.into_iter().filter_map(given).collect()
    }

    /// The angles `atan2` in an expression.
    pub fn angles(&self, root: ExprId) -> Vec<ExprId> {
        let order = self.arena.lock().reachable(&[root]);
        let arena = self.arena.lock();
        let is_angle =
            |id: &ExprId| matches!(arena.node(*id), Node::Call { function: Function::Atan2, .. });
        order.into_iter().filter(is_angle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_domain_are_found() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let log = exprs.at(exprs.call(Function::Log, &[(x - exprs.integer(1)).id]));
        let f = log + y.sqrt() + exprs.integer(1) / (x + y) + x.powi(2);
        let mut expected = vec![(x - exprs.integer(1)).id, y.id, (x + y).id];
        expected.sort_unstable();
        assert_eq!(exprs.boundaries(f.id), expected);
        assert!(exprs.boundaries((x * y).id).is_empty());
        let angle = exprs.call(Function::Atan2, &[y.id, x.id]);
        assert_eq!(exprs.angles((exprs.at(angle) * x).id), [angle]);
    }
}
