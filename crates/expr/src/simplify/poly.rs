//! Sums as polynomials: a map from monomials to coefficients, in which sums
//! that stand inside products are either opaque or multiplied out.

use super::Simplifier;
use crate::arena::{Arena, ExprId, Item, Items, Node, NumberId};
use crate::build::item;
use std::collections::BTreeMap;

/// A product of powers, ascending by base like a product node's items.
pub(super) type Monomial = Items;
/// A coefficient and a monomial.
pub(super) type Term = (NumberId, Monomial);

/// Monomials with coefficients that are not 0. Ordered, so that what is done
/// in a loop over them is done in the same order each time.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Poly {
    pub terms: BTreeMap<Monomial, NumberId>,
}

impl Poly {
    pub fn from_terms(arena: &mut Arena, terms: impl IntoIterator<Item = Term>) -> Poly {
        let mut poly = Poly::default();
        for (coefficient, monomial) in terms {
            poly.add(arena, monomial, coefficient);
        }
        poly
    }

    pub fn add(&mut self, arena: &mut Arena, monomial: Monomial, coefficient: NumberId) {
        if coefficient == NumberId::ZERO {
            return;
        }
        let old = self.terms.get(&monomial).copied().unwrap_or(NumberId::ZERO);
        match arena.add_ids(old, coefficient) {
            NumberId::ZERO => self.terms.remove(&monomial),
            sum => self.terms.insert(monomial, sum),
        };
    }

    pub fn into_terms(self) -> Vec<Term> {
        self.terms.into_iter().map(|(monomial, coefficient)| (coefficient, monomial)).collect()
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }
}

impl Arena {
    /// An expression as a coefficient and a monomial.
    pub(super) fn as_term(&self, id: ExprId) -> Term {
        match self.node(id) {
            Node::Number(n) => (n, Monomial::new()),
            Node::Product { start, len } => (NumberId::ONE, self.items(start, len).into()),
            Node::Sum { constant: NumberId::ZERO, start, len: 1 } => {
                let inner = self.items(start, 1)[0];
                (inner.number, self.as_term_of_item(inner.expr))
            }
            _ => (NumberId::ONE, Monomial::from_slice(&[item(id, NumberId::ONE)])),
        }
    }

    fn as_term_of_item(&self, id: ExprId) -> Monomial {
        match self.node(id) {
            Node::Product { start, len } => self.items(start, len).into(),
            _ => Monomial::from_slice(&[item(id, NumberId::ONE)]),
        }
    }

    /// The terms of a sum; an expression that is none is its own only term.
    pub(super) fn terms_of(&self, id: ExprId) -> Vec<Term> {
        let Node::Sum { constant, start, len } = self.node(id) else {
            return vec![self.as_term(id)];
        };
        let mut terms: Vec<Term> = self
            .items(start, len)
            .iter()
            .map(|i| (i.number, self.as_term_of_item(i.expr)))
            .collect();
        if constant != NumberId::ZERO {
            terms.push((constant, Monomial::new()));
        }
        terms
    }

    /// The product of two terms.
    pub(super) fn multiply_terms(&mut self, a: &Term, b: &Term) -> Term {
        let coefficient = self.multiply_ids(a.0, b.0);
        if a.1.is_empty() || b.1.is_empty() {
            return (coefficient, if a.1.is_empty() { b.1.clone() } else { a.1.clone() });
        }
        let mut merged = Monomial::new();
        let (mut left, mut right) = (a.1.iter().peekable(), b.1.iter().peekable());
        let mut plain = true;
        loop {
            let next = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => left.next().copied(),
                (None, Some(_)) => right.next().copied(),
                (Some(x), Some(y)) if x.expr < y.expr => left.next().copied(),
                (Some(x), Some(y)) if x.expr > y.expr => right.next().copied(),
                (Some(x), Some(y)) => {
                    let (x, y) = (**x, **y);
                    left.next();
                    right.next();
                    // Roots that meet can become something that construction takes apart.
                    plain &= self.value(x.number).is_integer() && self.value(y.number).is_integer();
                    plain &= !matches!(self.node(x.expr), Node::Power(..) | Node::Number(_));
                    let number = self.add_ids(x.number, y.number);
                    (number != NumberId::ZERO).then_some(item(x.expr, number))
                }
            };
            merged.extend(next);
        }
        if plain {
            return (coefficient, merged);
        }
        let product = self.monomial(coefficient, &merged);
        self.as_term(product)
    }

    /// Σ coefficient · monomial.
    pub(super) fn build_sum(&mut self, terms: &[Term]) -> ExprId {
        let items: Items = terms
            .iter()
            .map(|(coefficient, monomial)| {
                item(self.monomial(NumberId::ONE, monomial), *coefficient)
            })
            .collect();
        self.linear(NumberId::ZERO, &items)
    }

    /// The exponent of a base in a monomial, 0 if it is not there.
    pub(super) fn integer_exponent(&self, monomial: &[Item], base: ExprId) -> Option<i64> {
        match monomial.binary_search_by_key(&base, |i| i.expr) {
            Ok(at) => self.value(monomial[at].number).as_integer(),
            Err(_) => Some(0),
        }
    }

    /// monomial · base^change, for an integer exponent of the base.
    pub(super) fn shift(&mut self, monomial: &Monomial, base: ExprId, change: i64) -> Monomial {
        if change == 0 {
            return monomial.clone();
        }
        let change = self.number_id(crate::Number::integer(change));
        let factor = Monomial::from_slice(&[item(base, change)]);
        self.multiply_terms(&(NumberId::ONE, monomial.clone()), &(NumberId::ONE, factor)).1
    }
}

/// Powers of sums above this stay powers.
const MAX_POWER: i64 = 8;

impl Simplifier<'_> {
    /// The place of a factor that can be multiplied out.
    fn expandable(&self, monomial: &[Item]) -> Option<(usize, i64)> {
        monomial.iter().enumerate().find_map(|(at, factor)| match self.arena.node(factor.expr) {
            Node::Sum { .. } => match self.arena.value(factor.number).as_integer() {
                Some(n @ 1..=MAX_POWER) => Some((at, n)),
                _ => None,
            },
            _ => None,
        })
    }

    /// A term multiplied out; `None` if that gives more than `limit` terms.
    pub(super) fn expand_term(&mut self, term: &Term, limit: usize) -> Option<Vec<Term>> {
        if self.expandable(&term.1).is_none() {
            return Some(vec![term.clone()]);
        }
        let mut done = Poly::default();
        let mut pending = Poly::default();
        pending.add(self.arena, term.1.clone(), term.0);
        // Like terms meet before they are multiplied on, so that (a+b+c)⁸ stays small.
        while let Some((monomial, coefficient)) = pending.terms.pop_first() {
            let Some((at, n)) = self.expandable(&monomial) else {
                done.add(self.arena, monomial, coefficient);
                continue;
            };
            let base = monomial[at].expr;
            let mut rest = monomial.clone();
            rest.remove(at);
            if n > 1 {
                let less = self.arena.number_id(crate::Number::integer(n - 1));
                rest.insert(at, item(base, less));
            }
            for part in self.arena.terms_of(base) {
                let product = self.arena.multiply_terms(&(coefficient, rest.clone()), &part);
                pending.add(self.arena, product.1, product.0);
                if !self.spend(1) || pending.len() + done.len() > limit {
                    return None;
                }
            }
        }
        Some(done.into_terms())
    }
}
