//! Bounds on degrees, for the probability that a polynomial vanishes at a
//! random point though it is not 0 (Schwartz and Zippel: degree / number of
//! values each variable may take).
//!
//! Each node is bounded as numerator / denominator, in the symbols and in the
//! values that functions take in [`crate::modular`]:
//!
//! ```text
//! deg Π uᵢ^eᵢ : Σ |eᵢ| nᵢ / Σ |eᵢ| dᵢ, with nᵢ and dᵢ changed over for eᵢ < 0
//! deg Σ uᵢ    : maxᵢ (nᵢ − dᵢ) + Σ dᵢ / Σ dᵢ
//! ```
//!
//! An exponential of Σ cᵢuᵢ is a monomial of degree L·Σ|cᵢ| in the values of
//! exp(uᵢ/L), where L is a common denominator of all such cᵢ.

use crate::arena::{Arena, ExprId, Item, Node, NumberId};
use crate::function::Function;
use crate::modular::common_root;
use crate::number::Number;
use num_integer::Integer;
use rustc_hash::FxHashMap;

/// A bound on the degrees of numerator and denominator. Doubles, since they
/// multiply along the graph; what overflows is no bound, and says so.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Degree {
    up: f64,
    down: f64,
}

/// What is known of one expression before it is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// A bound on the degree of the polynomial that must vanish, with room for
    /// two different arguments of a function to have one value by chance.
    pub degree: f64,
    /// Whether it is a rational function of its symbols.
    pub rational: bool,
    /// Whether it has no symbols (π is none).
    pub constant: bool,
}

const UNIT: Degree = Degree { up: 1.0, down: 0.0 };
const NONE: Degree = Degree { up: 0.0, down: 0.0 };

impl Degree {
    fn power(self, exponent: f64) -> Degree {
        let n = exponent.abs();
        let (up, down) = if exponent < 0.0 { (self.down, self.up) } else { (self.up, self.down) };
        Degree { up: times(n, up), down: times(n, down) }
    }

    fn product(self, other: Degree) -> Degree {
        Degree { up: self.up + other.up, down: self.down + other.down }
    }

    fn sum(parts: impl Iterator<Item = Degree>) -> Degree {
        let (mut excess, mut down) = (f64::NEG_INFINITY, 0.0);
        for part in parts {
            excess = excess.max(part.up - part.down);
            down += part.down;
        }
        // An empty sum is a number; ∞ − ∞ is no bound.
        let up = if excess == f64::NEG_INFINITY { 0.0 } else { (excess + down).max(0.0) };
        Degree { up: if up.is_nan() { f64::INFINITY } else { up }, down }
    }

    fn largest(self) -> f64 {
        self.up.max(self.down)
    }
}

/// n · x, where 0 · ∞ = 0.
fn times(n: f64, x: f64) -> f64 {
    if n == 0.0 || x == 0.0 { 0.0 } else { n * x }
}

fn is_exponential(function: Function) -> bool {
    use Function::*;
    matches!(function, Sin | Cos | Tan | Exp | Sinh | Cosh | Tanh)
}

impl Arena {
    /// The profiles of several expressions.
    pub fn profiles(&mut self, roots: &[ExprId]) -> Vec<Profile> {
        let order = self.reachable(roots);
        let common = self.common_denominator(&order);
        let mut degrees: Vec<Degree> = Vec::with_capacity(order.len());
        let mut rational: Vec<bool> = Vec::with_capacity(order.len());
        let mut constant: Vec<bool> = Vec::with_capacity(order.len());
        // Σ|c| over the terms of a sum, 1 for any other node.
        let mut weights: Vec<f64> = Vec::with_capacity(order.len());
        let mut solved: FxHashMap<u32, Degree> = FxHashMap::default();
        let (mut opaque, mut largest) = (0.0f64, 1.0f64);
        for &id in &order {
            let at = |e: ExprId| self.slot(e).filter(|&s| s < degrees.len());
            let degree_of = |e: ExprId| at(e).map_or(NONE, |s| degrees[s]);
            let mut weight = 1.0;
            let (degree, plain) = match self.node(id) {
                Node::Number(_) => (NONE, true),
                Node::Symbol(_) => (UNIT, true),
                Node::Sum { constant, start, len } => {
                    let items = self.items(start, len);
                    let size = |i: &Item| {
                        let inner = at(i.expr).map_or(1.0, |s| weights[s]);
                        self.value(i.number).to_f64().abs() * inner
                    };
                    weight =
                        self.value(constant).to_f64().abs() + items.iter().map(size).sum::<f64>();
                    let parts = items.iter().map(|i| degree_of(i.expr));
                    (Degree::sum(parts.chain((constant != NumberId::ZERO).then_some(NONE))), true)
                }
                Node::Product { start, len } => {
                    let items = self.items(start, len);
                    let whole = |i: &Item| self.value(i.number).is_integer();
                    opaque += items.iter().filter(|i| !whole(i)).count() as f64;
                    let part = |i: &Item| match self.value(i.number).as_small() {
                        Some((n, 1)) => degree_of(i.expr).power(n as f64),
                        Some((n, d)) => UNIT.power(common_root(n, d).0 as f64),
                        None => UNIT,
                    };
                    let degree = items.iter().map(part).fold(NONE, Degree::product);
                    (degree, items.iter().all(whole))
                }
                Node::Power(..) => {
                    opaque += 1.0;
                    (UNIT, false)
                }
                Node::Call { function, start, len } => {
                    let arguments = self.items(start, len);
                    let first = arguments.first().and_then(|i| at(i.expr));
                    let exponent = common * first.map_or(1.0, |s| weights[s]);
                    if !is_exponential(function) {
                        opaque += 1.0;
                    }
                    let of: Vec<Degree> = arguments.iter().map(|i| degree_of(i.expr)).collect();
                    (call_degree(function, &of, exponent), false)
                }
                // What it is inside is not looked at.
                Node::Restricted { .. } => {
                    (Degree { up: f64::INFINITY, down: f64::INFINITY }, false)
                }
                Node::Solve { solve, .. } => {
                    let known =
                        solved.entry(solve).or_insert_with(|| self.solve_degree(solve, &degree_of));
                    (*known, true)
                }
            };
            let children = self.children(id);
            let inner = |flags: &[bool]| children.iter().filter_map(|&c| at(c)).all(|s| flags[s]);
            let symbol = matches!(self.node(id), Node::Symbol(s) if s != crate::symbol::Symbol::PI);
            rational.push(plain && inner(&rational));
            constant.push(!symbol && inner(&constant));
            weights.push(weight);
            degrees.push(degree);
            largest = largest.max(degree.largest());
        }
        // Each pair of opaque values may be equal by chance.
        let accidents = times(opaque * opaque, 2.0 * largest);
        roots
            .iter()
            .map(|&root| match self.slot(root) {
                Some(s) => Profile {
                    degree: degrees[s].up + accidents,
                    rational: rational[s],
                    constant: constant[s],
                },
                None => Profile { degree: 0.0, rational: true, constant: true },
            })
            .collect()
    }

    /// By Cramer's rule, with each row brought to one denominator.
    fn solve_degree(&self, solve: u32, degree_of: &dyn Fn(ExprId) -> Degree) -> Degree {
        let data = self.solves.get(solve);
        let n = data.right.len();
        let rows = self.solves.matrix(data.matrix).chunks(n.max(1)).zip(&data.right);
        let degree = rows
            .map(|(row, &right)| Degree::sum(row.iter().chain([&right]).map(|&e| degree_of(e))).up);
        let degree = degree.sum();
        Degree { up: degree, down: degree }
    }

    /// A common denominator of the coefficients in sums that stand in an
    /// exponential, or in such a sum.
    fn common_denominator(&self, order: &[ExprId]) -> f64 {
        let mut inside = vec![false; order.len()];
        let mut common = Some(1i64);
        for (position, &id) in order.iter().enumerate().rev() {
            match self.node(id) {
                Node::Call { function, start, .. } if is_exponential(function) => {
                    if let Some(slot) = self.slot(self.items(start, 1)[0].expr) {
                        inside[slot] = true;
                    }
                }
                Node::Sum { constant, start, len } if inside[position] => {
                    let mut include = |number: &Number| {
                        common = match (common, number.as_small()) {
                            (Some(c), Some((_, d))) => (c / c.gcd(&d)).checked_mul(d),
                            _ => None,
                        }
                    };
                    include(self.value(constant));
                    for part in self.items(start, len) {
                        include(self.value(part.number));
                        if let Some(slot) = self.slot(part.expr) {
                            inside[slot] = true;
                        }
                    }
                }
                _ => {}
            }
        }
        common.map_or(f64::INFINITY, |c| c as f64)
    }
}

/// The degree of a call; `k` is that of g^x for its argument x.
fn call_degree(function: Function, of: &[Degree], k: f64) -> Degree {
    match (function, of) {
        (Function::Exp, _) => Degree { up: k, down: k },
        (Function::Sin | Function::Cos | Function::Sinh | Function::Cosh, _) => {
            Degree { up: 2.0 * k, down: k }
        }
        (Function::Tan | Function::Tanh, _) => Degree { up: 2.0 * k, down: 2.0 * k },
        (Function::Min | Function::Max, [a, b]) => Degree::sum([*a, *b, UNIT].into_iter()),
        (Function::If, [_, a, b]) => UNIT.product(Degree::sum([*a, *b].into_iter())),
        _ => UNIT,
    }
}

#[cfg(test)]
mod tests {
    use crate::arena::Exprs;

    #[test]
    fn degrees_of_polynomials_and_quotients() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let degree = |e: crate::handle::Expr| exprs.arena.lock().profiles(&[e.id])[0].degree;
        assert_eq!(degree(x.powi(3) * y + x.powi(2) + 1), 4.0);
        // (y + x²)/(x y)
        assert_eq!(degree(1 / x + x / y), 2.0);
        assert_eq!(degree((x + 1) / (y + 1)), 1.0);
        // cos²(x/3) is of degree 4 in exp(x/3).
        assert_eq!(degree((x / 3).cos().powi(2)), 4.0);
        assert_eq!(degree((x / 3).cos() * x.sin()), 8.0);
    }

    #[test]
    fn kinds_are_told_apart() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let of = |e: crate::handle::Expr| exprs.arena.lock().profiles(&[e.id])[0];
        assert!(
            of(x.powi(-2) + exprs.pi()).rational && !of(x.sqrt()).rational && !of(x.cos()).rational
        );
        assert!(of(exprs.pi().sqrt()).constant && !of(x.cos()).constant);
        let solved = exprs.solve(&[x.id, x.id, x.id, exprs.integer(1).id], &[x.id, x.id]);
        assert!(of(exprs.at(solved[0])).rational);
    }
}
