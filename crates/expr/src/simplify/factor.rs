//! Common factors, as authors collect them:
//!
//! - terms that differ only in parameters: m₁ l₁² θ̈₁ + m₂ l₁² θ̈₁ = (m₁ + m₂) l₁² θ̈₁;
//! - terms with the same parameters: ½ m ẋ² + ½ m ẏ² = ½ m (ẋ² + ẏ²);
//! - what all terms have in common.
//!
//! Terms of different order in the time derivatives are different in kind
//! (kinetic and potential energy, inertia and force) and stay apart. Each step
//! is taken only if it makes the expression shorter.

use super::Simplifier;
use super::poly::{Monomial, Term};
use crate::arena::{ExprId, Item, NumberId};
use crate::build::item;
use crate::number::Number;
use std::collections::BTreeMap;

/// Longer sums of parameters are not searched for pairs.
const MAX_PAIRS: usize = 40;
/// Nor are these, where there are many more of them.
const MAX_PAIRS_OF_MANY: usize = 16;

impl Simplifier<'_> {
    /// The sum of the terms, with common factors collected.
    pub(super) fn factor(&mut self, terms: &[Term]) -> ExprId {
        let terms = self.collect_parameters(terms);
        let mut kinds: BTreeMap<i64, Vec<Term>> = BTreeMap::new();
        for term in terms {
            let weight = self.weight_of(&term);
            kinds.entry(weight).or_default().push(term);
        }
        let parts: Vec<ExprId> =
            kinds.into_values().map(|kind| self.factor_kind(&kind, true)).collect();
        self.arena.sum(&parts)
    }

    /// Terms that differ only in parameters, put together.
    fn collect_parameters(&mut self, terms: &[Term]) -> Vec<Term> {
        let mut groups: BTreeMap<Monomial, Vec<Term>> = BTreeMap::new();
        for (coefficient, monomial) in terms {
            let (constant, rest) = self.split(monomial);
            groups.entry(rest).or_default().push((*coefficient, constant));
        }
        let mut collected = Vec::new();
        for (rest, parameters) in groups {
            if let [(coefficient, constant)] = parameters.as_slice() {
                let whole = self
                    .arena
                    .multiply_terms(&(*coefficient, constant.clone()), &(NumberId::ONE, rest));
                collected.push(whole);
                continue;
            }
            let sum = self.factor_parameters(parameters.clone());
            if rest.is_empty() {
                collected.extend(self.arena.terms_of(sum));
                continue;
            }
            let apart: Vec<Term> = parameters
                .iter()
                .map(|term| self.arena.multiply_terms(term, &(NumberId::ONE, rest.clone())))
                .collect();
            // What all share comes out in any case: (1 + k) c x, not (c + k c) x.
            let monomials: Vec<&Monomial> = parameters.iter().map(|term| &term.1).collect();
            let shared = self.common(&monomials);
            let taken = self.take_out(&shared, &parameters);
            let mut options = [sum, taken].map(|factor| {
                let mut factors = rest.clone();
                factors.push(item(factor, NumberId::ONE));
                self.arena.monomial(NumberId::ONE, &factors)
            });
            options.sort_by_key(|&id| self.cost(id));
            let together = options[0];
            if self.cost(together) < self.cost_of_terms(&apart) {
                collected.push(self.arena.as_term(together));
            } else {
                collected.extend(apart);
            }
        }
        collected
    }

    /// Constant factors and the others.
    fn split(&mut self, monomial: &Monomial) -> (Monomial, Monomial) {
        let mut parts = (Monomial::new(), Monomial::new());
        for factor in monomial {
            let side = if self.facts(factor.expr).constant { &mut parts.0 } else { &mut parts.1 };
            side.push(*factor);
        }
        parts
    }

    /// A sum of parameters: the pair that has most in common is collected with
    /// all that share it, until nothing gets shorter.
    fn factor_parameters(&mut self, mut terms: Vec<Term>) -> ExprId {
        let most = if self.shares_effort { MAX_PAIRS_OF_MANY } else { MAX_PAIRS };
        while (2..=most).contains(&terms.len()) {
            let mut best: Option<(u64, Vec<Term>)> = None;
            let toll = if self.shares_effort { terms.len() as u64 } else { 1 };
            for i in 0..terms.len() {
                for j in i + 1..terms.len() {
                    let shared = self.common(&[&terms[i].1, &terms[j].1]);
                    if shared.is_empty() || !self.spend(toll) {
                        continue;
                    }
                    let (with, without): (Vec<Term>, Vec<Term>) =
                        terms.iter().cloned().partition(|term| self.divides(&shared, &term.1));
                    let before = self.cost_of_terms(&with);
                    let together = self.take_out(&shared, &with);
                    let after = self.cost(together);
                    if after < before && best.as_ref().is_none_or(|b| before - after > b.0) {
                        let mut next = without;
                        next.extend(self.arena.terms_of(together));
                        best = Some((before - after, next));
                    }
                }
            }
            match best {
                Some((_, next)) if next.len() < terms.len() => terms = next,
                _ => break,
            }
        }
        self.square(&terms)
    }

    /// A sum of terms of one kind; `parameters`: whether to look for groups
    /// with the same parameters.
    fn factor_kind(&mut self, terms: &[Term], parameters: bool) -> ExprId {
        let plain = self.square(terms);
        if terms.len() < 2 {
            return plain;
        }
        let mut best = (self.cost(plain), plain);
        let mut offer = |this: &mut Self, id: ExprId| {
            let cost = this.cost(id);
            if cost < best.0 {
                best = (cost, id);
            }
        };
        if parameters {
            let grouped = self.collect_variables(terms);
            offer(self, grouped);
        }
        let monomials: Vec<&Monomial> = terms.iter().map(|term| &term.1).collect();
        let (shared, torn): (Monomial, Monomial) = self
            .common(&monomials)
            .into_iter()
            .partition(|f| monomials.iter().all(|m| m.contains(f)));
        // m l (l θ̈ + g) is shorter than m l² θ̈ + m g l, but few write it.
        let tears_parameter = torn.iter().any(|f| self.facts(f.expr).constant);
        if !shared.is_empty() && !tears_parameter {
            let rest: Vec<Term> =
                terms.iter().map(|term| (term.0, self.divide(&term.1, &shared))).collect();
            for inner in [self.square(&rest), self.collect_variables(&rest)] {
                let mut factors = shared.clone();
                factors.push(item(inner, NumberId::ONE));
                let whole = self.arena.monomial(NumberId::ONE, &factors);
                offer(self, whole);
            }
        }
        best.1
    }

    /// Terms with the same parameters and numbers up to sign, put together.
    fn collect_variables(&mut self, terms: &[Term]) -> ExprId {
        let mut groups: BTreeMap<(NumberId, Monomial), Vec<Term>> = BTreeMap::new();
        for (coefficient, monomial) in terms {
            let magnitude = self.arena.value(*coefficient).abs();
            let negative = self.arena.value(*coefficient).is_negative();
            let sign = if negative { NumberId::MINUS_ONE } else { NumberId::ONE };
            let magnitude = self.arena.number_id(magnitude);
            let (constant, rest) = self.split(monomial);
            groups.entry((magnitude, constant)).or_default().push((sign, rest));
        }
        let mut parts = Vec::new();
        for ((magnitude, constant), rest) in groups {
            let head = (magnitude, constant);
            let apart: Vec<Term> =
                rest.iter().map(|term| self.arena.multiply_terms(&head, term)).collect();
            let apart_sum = self.arena.build_sum(&apart);
            if rest.len() < 2 || head.1.is_empty() {
                parts.push(apart_sum);
                continue;
            }
            let inner = self.factor_kind(&rest, false);
            let mut factors = head.1;
            factors.push(item(inner, NumberId::ONE));
            let together = self.arena.monomial(head.0, &factors);
            let shorter = self.cost(together) < self.cost(apart_sum);
            parts.push(if shorter { together } else { apart_sum });
        }
        self.arena.sum(&parts)
    }

    /// shared · Σ term/shared, the sum itself collected further.
    fn take_out(&mut self, shared: &Monomial, terms: &[Term]) -> ExprId {
        let rest: Vec<Term> =
            terms.iter().map(|term| (term.0, self.divide(&term.1, shared))).collect();
        let inner = self.square(&rest);
        let mut factors = shared.clone();
        factors.push(item(inner, NumberId::ONE));
        self.arena.monomial(NumberId::ONE, &factors)
    }

    /// The powers that all monomials share: of each base the exponent nearest
    /// to 0, if all have it with the same sign and whole differences.
    pub(super) fn common(&mut self, monomials: &[&Monomial]) -> Monomial {
        let Some((first, others)) = monomials.split_first() else { return Monomial::new() };
        let mut shared = Monomial::new();
        'bases: for factor in first.iter() {
            let mut least = self.arena.value(factor.number).clone();
            for other in others {
                let Ok(at) = other.binary_search_by_key(&factor.expr, |i| i.expr) else {
                    continue 'bases;
                };
                let exponent = self.arena.value(other[at].number);
                if !can_share(exponent, &least) {
                    continue 'bases;
                }
                if exponent.abs() < least.abs() {
                    least = exponent.clone();
                }
            }
            let number = self.arena.number_id(least);
            shared.push(item(factor.expr, number));
        }
        shared
    }

    pub(super) fn divides(&self, shared: &Monomial, monomial: &Monomial) -> bool {
        shared.iter().all(|factor| {
            monomial.binary_search_by_key(&factor.expr, |i| i.expr).is_ok_and(|at| {
                let (whole, part) =
                    (self.arena.value(monomial[at].number), self.arena.value(factor.number));
                can_share(whole, part) && whole.abs() >= part.abs()
            })
        })
    }

    pub(super) fn divide(&mut self, monomial: &Monomial, shared: &Monomial) -> Monomial {
        let mut rest = Monomial::new();
        for factor in monomial {
            let number = match shared.binary_search_by_key(&factor.expr, |i: &Item| i.expr) {
                Ok(at) => {
                    let taken = self.negate(shared[at].number);
                    self.arena.add_ids(factor.number, taken)
                }
                Err(_) => factor.number,
            };
            if number != NumberId::ZERO {
                rest.push(item(factor.expr, number));
            }
        }
        rest
    }

    /// The sum of the terms, as a square if it is a² ± 2ab + b².
    fn square(&mut self, terms: &[Term]) -> ExprId {
        let plain = self.arena.build_sum(terms);
        if terms.len() != 3 {
            return plain;
        }
        for middle in 0..3 {
            let (a, b, m) = (&terms[(middle + 1) % 3], &terms[(middle + 2) % 3], &terms[middle]);
            let Some(whole) = self.as_square(a, b, m) else { continue };
            if self.cost(whole) < self.cost(plain) {
                return whole;
            }
        }
        plain
    }

    /// (x ± y)² times a number, if a = x², b = y² and m = ±2xy.
    fn as_square(&mut self, a: &Term, b: &Term, m: &Term) -> Option<ExprId> {
        let (x, y) = (self.root(&a.1)?, self.root(&b.1)?);
        let ratio = self.arena.value(b.0).mul(&self.arena.value(a.0).recip()?).root(2)?;
        let ratio_id = self.arena.number_id(ratio);
        let product = self.arena.multiply_terms(&(a.0, x.clone()), &(ratio_id, y.clone()));
        let two = self.arena.number_id(Number::integer(2));
        let double = self.arena.multiply_ids(product.0, two);
        if product.1 != m.1 {
            return None;
        }
        let sign = if m.0 == double {
            ratio_id
        } else if m.0 == self.negate(double) {
            self.negate(ratio_id)
        } else {
            return None;
        };
        let sum = self.arena.build_sum(&[(NumberId::ONE, x), (sign, y)]);
        Some(self.arena.monomial(a.0, &[item(sum, two)]))
    }

    /// The monomial whose square this is, if its exponents are even.
    fn root(&mut self, monomial: &Monomial) -> Option<Monomial> {
        let mut root = Monomial::new();
        for factor in monomial {
            let half = match self.arena.value(factor.number).as_integer() {
                Some(n) if n % 2 == 0 => self.arena.number_id(Number::integer(n / 2)),
                _ => return None,
            };
            root.push(item(factor.expr, half));
        }
        Some(root)
    }
}

fn can_share(a: &Number, b: &Number) -> bool {
    a.is_negative() == b.is_negative() && a.add(&b.neg()).is_integer()
}
