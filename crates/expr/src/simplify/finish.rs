//! Last touches, after which nothing is multiplied out any more:
//! 2 sin u cos u = sin 2u, sin u / cos u = tan u, eᵘ eᵛ = eᵘ⁺ᵛ.

use super::Simplifier;
use super::poly::{Monomial, Term};
use crate::arena::{ExprId, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::number::Number;

impl Simplifier<'_> {
    pub(super) fn finish(&mut self, root: ExprId) -> ExprId {
        self.transform(root, |this, node| {
            let terms = this.arena.terms_of(node);
            let mut new: Vec<Term> = Vec::with_capacity(terms.len());
            for at in 0..terms.len() {
                let mut term = terms[at].clone();
                this.merge_exponentials(&mut term);
                this.make_tangent(&mut term);
                this.double_angle(&terms, at, &mut term);
                new.push(term);
            }
            if new == terms {
                return node;
            }
            let other = this.arena.build_sum(&new);
            this.shorter(node, other)
        })
    }

    fn as_call(&self, id: ExprId, function: Function) -> Option<ExprId> {
        match self.arena.node(id) {
            Node::Call { function: f, start, len: 1 } if f == function => {
                Some(self.arena.items(start, 1)[0].expr)
            }
            _ => None,
        }
    }

    /// Replaces the term by term · factor, with some bases left out.
    fn replace(&mut self, term: &mut Term, without: &[ExprId], factor: ExprId) {
        let rest: Monomial =
            term.1.iter().copied().filter(|f| !without.contains(&f.expr)).collect();
        let factor = self.arena.as_term(factor);
        *term = self.arena.multiply_terms(&(term.0, rest), &factor);
    }

    fn merge_exponentials(&mut self, term: &mut Term) {
        let mut bases = Vec::new();
        let mut exponent = Vec::new();
        for factor in &term.1 {
            if let (Some(argument), true) = (
                self.as_call(factor.expr, Function::Exp),
                self.arena.value(factor.number).is_integer(),
            ) {
                bases.push(factor.expr);
                exponent.push(item(argument, factor.number));
            }
        }
        if bases.len() > 1 {
            let sum = self.arena.linear(NumberId::ZERO, &exponent);
            let merged = self.arena.call(Function::Exp, &[sum]);
            self.replace(term, &bases, merged);
        }
    }

    /// Powers of sin u and cos u that are opposite to each other.
    fn make_tangent(&mut self, term: &mut Term) {
        for factor in term.1.clone() {
            let Some(u) = self.as_call(factor.expr, Function::Sin) else { continue };
            let cosine = self.arena.call(Function::Cos, &[u]);
            let opposite = self.negate(factor.number);
            let Some(n @ 1..) = self.arena.value(factor.number).as_integer() else { continue };
            if term.1.iter().any(|f| f.expr == cosine && f.number == opposite) {
                let tangent = self.arena.call(Function::Tan, &[u]);
                let power = self.arena.powi(tangent, n);
                self.replace(term, &[factor.expr, cosine], power);
            }
        }
    }

    /// 2k sin u cos u, unless u is the angle of other terms too: there the
    /// single angle is what the reader compares with.
    fn double_angle(&mut self, terms: &[Term], at: usize, term: &mut Term) {
        let two = Number::integer(2);
        for factor in term.1.clone() {
            let Some(u) = self.as_call(factor.expr, Function::Sin) else { continue };
            let cosine = self.arena.call(Function::Cos, &[u]);
            let single =
                |e: ExprId| term.1.iter().any(|f| f.expr == e && f.number == NumberId::ONE);
            if !self.arena.value(term.0).is_even() || !single(factor.expr) || !single(cosine) {
                continue;
            }
            let elsewhere = terms.iter().enumerate().any(|(other, t)| {
                other != at && t.1.iter().any(|f| f.expr == factor.expr || f.expr == cosine)
            });
            if elsewhere {
                continue;
            }
            let Some(half) = two.recip() else { continue };
            let (half, double) = (self.arena.number_id(half), self.arena.number_id(two));
            let angle = self.arena.scale(double, u);
            let sine = self.arena.call(Function::Sin, &[angle]);
            term.0 = self.arena.multiply_ids(term.0, half);
            return self.replace(term, &[factor.expr, cosine], sine);
        }
    }
}
