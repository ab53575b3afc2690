//! Collecting: a polynomial of degree two at most in some symbols is simplified
//! coefficient by coefficient,
//!
//! ```text
//! f = ½ Σ c_ij x_i x_j + Σ c_i x_i + c₀
//! ```
//!
//! Energies and forces are such polynomials in the velocities, and their
//! coefficients are short enough for the identities where the whole is not. What
//! is no such polynomial is simplified as it stands.

use super::{Effort, Simplifier};
use crate::arena::{Arena, ExprId, Exprs, Node};
use crate::number::Number;
use crate::symbol::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

/// Polynomials in more symbols are not taken apart.
const MAX_SYMBOLS: usize = 16;
/// Expressions of at most this size, as trees, are tried as they stand too.
const WHOLE: u64 = 2_000;

impl Exprs {
    /// The expression simplified as a polynomial in the symbols, and as it stands:
    /// the shorter of both.
    ///
    /// ```
    /// # use dalembert_expr::{Effort, Exprs};
    /// let exprs = Exprs::new();
    /// let (a, b) = (exprs.variable("a"), exprs.variable("b"));
    /// let energy = ((a.dt() * b.cos() + b.dt()).powi(2) + (a.dt() * b.sin()).powi(2)).id;
    /// let rates = [a.dt().symbol().unwrap(), b.dt().symbol().unwrap()];
    /// let simple = exprs.simplify_in(energy, &rates, &mut Effort::default());
    /// assert_eq!(exprs.to_source(simple), "a'^2 + b'^2 + 2*a'*b'*cos(b)");
    /// ```
    pub fn simplify_in(&self, id: ExprId, symbols: &[Symbol], effort: &mut Effort) -> ExprId {
        let mut best = id;
        if self.count_tree_size(id) <= WHOLE {
            best = self.simplify_with(id, effort);
        }
        if let Some(collected) = self.collect_in(id, symbols, effort) {
            let again = self.simplify_with(collected, effort);
            for other in [collected, again] {
                best = self.shorter_of(best, other);
            }
        }
        best
    }

    /// Σ of simplified coefficients times products of the symbols.
    fn collect_in(&self, id: ExprId, symbols: &[Symbol], effort: &mut Effort) -> Option<ExprId> {
        let found: FxHashSet<Symbol> = self.symbols_of(&[id]).into_iter().collect();
        let mut present: Vec<Symbol> =
            symbols.iter().copied().filter(|s| found.contains(s)).collect();
        present.sort_unstable();
        present.dedup();
        if present.is_empty() || present.len() > MAX_SYMBOLS || !effort.is_left() {
            return None;
        }
        if self.arena.lock().degree_in(id, &present)? > 2 {
            return None;
        }
        let zero: Vec<(Symbol, ExprId)> = present.iter().map(|&s| (s, ExprId::ZERO)).collect();
        let first = self.gradient(id, &present);
        let mut coefficients = vec![(self.substitute(&[id], &zero)[0], Vec::new())];
        for (at, &slope) in first.iter().enumerate() {
            coefficients.push((self.substitute(&[slope], &zero)[0], vec![present[at]]));
            for (other, second) in self.gradient(slope, &present[at..]).into_iter().enumerate() {
                let second = self.substitute(&[second], &zero)[0];
                coefficients.push((second, vec![present[at], present[at + other]]));
            }
        }
        let half = Number::integer(2).recip().map(|half| self.of_number(half))?;
        let terms: Vec<ExprId> = coefficients
            .into_iter()
            .filter(|(value, _)| *value != ExprId::ZERO)
            .map(|(value, symbols)| {
                let mut factors = vec![self.simplify_with(value, effort)];
                factors.extend(symbols.iter().map(|&s| self.of_symbol(s)));
                if let [a, b] = symbols[..]
                    && a == b
                {
                    factors.push(half);
                }
                self.product(&factors)
            })
            .collect();
        Some(self.sum(&terms))
    }

    /// The shorter of two expressions, the first of equals.
    pub fn shorter_of(&self, first: ExprId, second: ExprId) -> ExprId {
        let arena = &mut *self.arena.lock();
        Simplifier::new(arena).shorter(first, second)
    }
}

impl Arena {
    /// A bound on the degree of a polynomial in the symbols; `None` if it may be none.
    fn degree_in(&mut self, root: ExprId, symbols: &[Symbol]) -> Option<u64> {
        let mut degrees: FxHashMap<ExprId, u64> = FxHashMap::default();
        for id in self.reachable(&[root]) {
            let of = |e: ExprId| degrees.get(&e).copied().unwrap_or(0);
            let degree = match self.node(id) {
                Node::Symbol(symbol) => u64::from(symbols.contains(&symbol)),
                Node::Sum { start, len, .. } => {
                    self.items(start, len).iter().map(|i| of(i.expr)).max().unwrap_or(0)
                }
                Node::Product { start, len } => {
                    let mut total = 0u64;
                    for factor in self.items(start, len) {
                        let power = match (of(factor.expr), self.value(factor.number).as_integer())
                        {
                            (0, _) => 0,
                            (degree, Some(n @ 1..)) => degree.checked_mul(n as u64)?,
                            _ => return None,
                        };
                        total = total.checked_add(power)?;
                    }
                    total
                }
                _ if self.children(id).iter().all(|&child| of(child) == 0) => 0,
                _ => return None,
            };
            degrees.insert(id, degree);
        }
        degrees.get(&root).copied()
    }
}
