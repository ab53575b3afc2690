//! Shorter forms where relations hold: p − c·m·r has the value of p wherever
//! r = 0. A multiple is subtracted if that makes the polynomial shorter:
//!
//! ```text
//! m g z + ½ k (x² + y² + z²) = m g z + ½ k l²    where x² + y² + z² − l² = 0
//! ```

use super::poly::{Monomial, Poly, Term};
use super::{Effort, MAX_TERMS, Simplifier};
use crate::arena::{ExprId, Exprs, Node, NumberId};

/// Longer relations shorten nothing.
const MAX_RELATION: usize = 12;
/// Longer sums are not reduced.
const MAX_SUM: usize = 60;
/// Subtractions for one sum.
const MAX_STEPS: usize = 40;

impl Exprs {
    /// The expression in a form that has its value wherever all relations are 0;
    /// the expression itself where none is shorter.
    ///
    /// ```
    /// # use dalembert_expr::{Effort, Exprs};
    /// let exprs = Exprs::new();
    /// let (x, y, l) = (exprs.variable("x"), exprs.variable("y"), exprs.constant("l"));
    /// let circle = (x.powi(2) + y.powi(2) - l.powi(2)).id;
    /// let force = (x / (x.powi(2) + y.powi(2))).id;
    /// let short = exprs.simplify_modulo(force, &[circle], &mut Effort::default());
    /// assert_eq!(exprs.to_text(short), "x/l²");
    /// ```
    pub fn simplify_modulo(&self, id: ExprId, relations: &[ExprId], effort: &mut Effort) -> ExprId {
        if relations.is_empty() || !effort.is_left() {
            return id;
        }
        let arena = &mut *self.arena.lock();
        let mut simplifier = Simplifier::new(arena);
        simplifier.fuel = simplifier.fuel.min(effort.left);
        let fuel = simplifier.fuel;
        let mut known: Vec<Vec<Term>> = Vec::new();
        for &relation in relations {
            let terms = simplifier.arena.terms_of(relation);
            if let Some(poly) = simplifier.expand_all(&terms)
                && (2..=MAX_RELATION).contains(&poly.len())
            {
                let plain = poly.into_terms();
                let (numerator, square) = simplifier.rational(&plain);
                known.extend(square.filter(|other| other.len() <= MAX_RELATION));
                known.extend((numerator != plain).then_some(numerator));
                known.push(plain);
            }
        }
        let reduced = simplifier.transform(id, |this, node| {
            let Node::Sum { len, .. } = this.arena.node(node) else { return node };
            if !(2..=MAX_SUM as u32).contains(&len) {
                return node;
            }
            let terms = this.arena.terms_of(node);
            let Some(poly) = this.expand_all(&terms).filter(|p| p.len() <= MAX_SUM) else {
                return node;
            };
            let poly = this.reduced(poly, &known);
            let other = this.shortest(&poly);
            this.shorter(node, other)
        });
        let spent = fuel - simplifier.fuel;
        effort.left = effort.left.saturating_sub(spent);
        reduced
    }
}

impl Simplifier<'_> {
    /// What a relation implies without its denominator, and without its root if it has one:
    ///
    /// ```text
    /// (x ẋ + y ẏ)/√S = 0   x ẋ + y ẏ = 0
    /// a√S + r = 0          a² S − r² = 0
    /// ```
    fn rational(&mut self, relation: &[Term]) -> (Vec<Term>, Option<Vec<Term>>) {
        let mut below: Option<Monomial> = None;
        for (_, monomial) in relation {
            let mut common = Monomial::new();
            for factor in monomial.iter().filter(|i| self.arena.value(i.number).is_negative()) {
                let is_shared = below.as_ref().is_none_or(|b| {
                    b.iter().any(|i| i.expr == factor.expr && i.number == factor.number)
                });
                if is_shared {
                    common.push(*factor);
                }
            }
            below = Some(common);
        }
        let below = below.unwrap_or_default();
        let numerator: Vec<Term> =
            relation.iter().map(|(number, m)| (*number, self.divide(m, &below))).collect();
        (numerator, self.squared(relation))
    }

    fn squared(&mut self, relation: &[Term]) -> Option<Vec<Term>> {
        let half = |this: &Self, monomial: &Monomial| {
            monomial.iter().any(|i| !this.arena.value(i.number).is_integer())
        };
        let at = relation.iter().position(|term| half(self, &term.1))?;
        let (root, rest): (Vec<&Term>, Vec<&Term>) = (
            vec![&relation[at]],
            relation.iter().enumerate().filter(|(i, _)| *i != at).map(|t| t.1).collect(),
        );
        if rest.iter().any(|term| half(self, &term.1)) {
            return None;
        }
        let mut terms = Vec::new();
        for (list, sign) in [(&root, NumberId::ONE), (&rest, NumberId::MINUS_ONE)] {
            for a in list {
                for b in list {
                    let (number, monomial) = self.arena.multiply_terms(a, b);
                    terms.push((self.arena.multiply_ids(number, sign), monomial));
                }
            }
        }
        Some(self.expand_all(&terms)?.into_terms())
    }

    /// The polynomial less multiples of the relations, as long as it gets shorter.
    fn reduced(&mut self, mut poly: Poly, relations: &[Vec<Term>]) -> Poly {
        for _ in 0..MAX_STEPS {
            let now = self.cost_of_poly(&poly);
            let mut best: Option<(u64, Poly)> = None;
            for relation in relations {
                for (at, lead) in relation.iter().enumerate() {
                    for term in poly.clone().into_terms() {
                        if !self.spend(1 + relation.len() as u64) {
                            return poly;
                        }
                        if !self.divides(&lead.1, &term.1) {
                            continue;
                        }
                        let other = self.less(&poly, &term, relation, at);
                        let cost = self.cost_of_poly(&other);
                        if other.len() <= MAX_TERMS && cost < best.as_ref().map_or(now, |b| b.0) {
                            best = Some((cost, other));
                        }
                    }
                }
            }
            match best {
                Some((_, next)) => poly = next,
                None => break,
            }
        }
        poly
    }

    /// The polynomial less the multiple of a relation that takes a term away.
    fn less(&mut self, poly: &Poly, term: &Term, relation: &[Term], lead: usize) -> Poly {
        let rest = self.divide(&term.1, &relation[lead].1);
        let inverse = self.arena.value(relation[lead].0).recip();
        let Some(inverse) = inverse.map(|number| self.arena.number_id(number)) else {
            return poly.clone();
        };
        let factor = self.arena.multiply_ids(term.0, inverse);
        let factor = self.arena.multiply_ids(factor, NumberId::MINUS_ONE);
        let mut less = poly.clone();
        for part in relation {
            let (number, monomial) = self.arena.multiply_terms(&(factor, rest.clone()), part);
            less.add(self.arena, monomial, number);
        }
        less
    }
}
