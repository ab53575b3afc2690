//! Sums of fractions over their common denominator, with what numerator and
//! denominator have in common cancelled:
//!
//! ```text
//! a/(a + b) + b/(a + b) = 1        (a² − b²)/(a + b) = a − b
//! ```
//!
//! The division is exact, of polynomials in whatever stands as a factor, with
//! sin² replaced by 1 − cos² so that equal polynomials look equal. A common
//! factor is found where it is one of the factors of the denominator; there is
//! no greatest common divisor.

use super::poly::{Monomial, Poly, Term};
use super::{MAX_TERMS, Simplifier};
use crate::arena::{ExprId, Node, NumberId};
use crate::build::item;
use crate::number::Number;
use std::collections::BTreeMap;

/// Sums with more different denominators are left alone.
const MAX_FACTORS: usize = 6;
/// Longer numerators are not divided.
const MAX_NUMERATOR: usize = 150;

/// A polynomial by exponents of its bases, in the order of a list.
type Dense = BTreeMap<Vec<i64>, Number>;

impl Simplifier<'_> {
    /// The expression as one fraction, cancelled; `None` if it has no sum in a
    /// denominator, or would take too long.
    pub(super) fn as_fraction(&mut self, id: ExprId) -> Option<ExprId> {
        let mut terms = Vec::new();
        for term in self.arena.terms_of(id) {
            // Fractions may stand inside of a factor.
            terms.extend(self.expand_term(&term, MAX_NUMERATOR)?);
        }
        if terms.len() > MAX_NUMERATOR {
            return None;
        }
        let mut below: BTreeMap<ExprId, i64> = BTreeMap::new();
        for factor in terms.iter().flat_map(|term| &term.1) {
            if let (Node::Sum { .. }, Some(n @ ..=-1)) =
                (self.arena.node(factor.expr), self.arena.value(factor.number).as_integer())
            {
                let most = below.entry(factor.expr).or_insert(0);
                *most = (*most).max(-n);
            }
        }
        if below.is_empty() || below.len() > MAX_FACTORS || below.values().any(|&n| n > 4) {
            return None;
        }
        let mut numerator = Poly::default();
        for term in &terms {
            let mut whole = term.clone();
            for (&base, &n) in &below {
                let power = self.arena.number_id(Number::integer(n));
                let factor = Monomial::from_slice(&[item(base, power)]);
                whole = self.arena.multiply_terms(&whole, &(NumberId::ONE, factor));
            }
            for (coefficient, monomial) in self.expand_term(&whole, MAX_NUMERATOR)? {
                numerator.add(self.arena, monomial, coefficient);
            }
            if numerator.len() > MAX_NUMERATOR {
                return None;
            }
        }
        let plain = numerator.clone();
        let before = below.clone();
        for (&base, n) in &mut below {
            while *n > 0
                && let Some(quotient) = self.divided(&numerator, base)
            {
                numerator = quotient;
                *n -= 1;
            }
        }
        let cancelled = below != before;
        let mut forms = vec![(numerator, below)];
        if cancelled {
            forms.push((plain, before));
        }
        let mut best: Option<ExprId> = None;
        for (mut numerator, below) in forms {
            let mut factors = Vec::new();
            for (base, n) in below.into_iter().filter(|(_, n)| *n > 0) {
                let power = self.arena.number_id(Number::integer(-n));
                let (shared, rest) = self.without_content(base);
                factors.push(item(rest, power));
                if shared.is_empty() {
                    continue;
                }
                let content = self.arena.monomial(NumberId::ONE, &shared);
                let content = self.arena.monomial(NumberId::ONE, &[item(content, power)]);
                let content = self.arena.as_term(content);
                let mut less = Poly::default();
                for term in numerator.into_terms() {
                    let (number, monomial) = self.arena.multiply_terms(&term, &content);
                    less.add(self.arena, monomial, number);
                }
                numerator = less;
            }
            factors.push(item(self.shortest(&numerator), NumberId::ONE));
            let whole = self.arena.monomial(NumberId::ONE, &factors);
            best = Some(best.map_or(whole, |best| self.shorter(best, whole)));
        }
        best
    }

    /// A sum as what all its terms share and the rest.
    fn without_content(&mut self, base: ExprId) -> (Monomial, ExprId) {
        let terms = self.arena.terms_of(base);
        let Some(poly) = self.expand_all(&terms) else { return (Monomial::new(), base) };
        let monomials: Vec<&Monomial> = poly.terms.keys().collect();
        let shared = self.common(&monomials);
        let mut rest = Poly::default();
        for (monomial, &number) in &poly.terms {
            let monomial = self.divide(monomial, &shared);
            rest.add(self.arena, monomial, number);
        }
        let short = self.shortest(&rest);
        if shared.is_empty() { (shared, self.shorter(base, short)) } else { (shared, short) }
    }

    /// numerator / base if that is a polynomial.
    fn divided(&mut self, numerator: &Poly, base: ExprId) -> Option<Poly> {
        let divisor = self.expand_all(&self.arena.terms_of(base))?;
        let (top, bottom) = (self.without_squares(numerator)?, self.without_squares(&divisor)?);
        if top.len() == 0 {
            return None;
        }
        let mut bases: Vec<ExprId> =
            top.terms.keys().chain(bottom.terms.keys()).flatten().map(|f| f.expr).collect();
        bases.sort_unstable();
        bases.dedup();
        let (mut rest, shift) = self.dense(&top, &bases)?;
        let (by, down) = self.dense(&bottom, &bases)?;
        let (lead, coefficient) = by.last_key_value()?;
        let inverse = coefficient.recip()?;
        let mut quotient = Dense::new();
        while let Some((first, value)) = rest.last_key_value() {
            let exponents: Vec<i64> = first.iter().zip(lead).map(|(a, b)| a - b).collect();
            if exponents.iter().any(|&e| e < 0) || !self.spend(by.len() as u64) {
                return None;
            }
            let factor = value.mul(&inverse);
            for (other, number) in &by {
                let place: Vec<i64> = other.iter().zip(&exponents).map(|(a, b)| a + b).collect();
                let change = number.mul(&factor).neg();
                let sum = rest.get(&place).map_or(change.clone(), |old| old.add(&change));
                if sum.is_zero() {
                    rest.remove(&place);
                } else {
                    rest.insert(place, sum);
                }
            }
            quotient.insert(exponents, factor);
            if quotient.len() > MAX_TERMS || rest.len() > MAX_TERMS {
                return None;
            }
        }
        let mut poly = Poly::default();
        for (exponents, number) in quotient {
            let mut factors = Monomial::new();
            for (at, &base) in bases.iter().enumerate() {
                let exponent = exponents[at] + shift[at] - down[at];
                if exponent != 0 {
                    factors.push(item(base, self.arena.number_id(Number::integer(exponent))));
                }
            }
            let number = self.arena.number_id(number);
            let (number, monomial) =
                self.arena.multiply_terms(&(number, factors), &(NumberId::ONE, Monomial::new()));
            poly.add(self.arena, monomial, number);
        }
        Some(poly)
    }

    /// The polynomial by whole exponents, none below 0, and what each base's
    /// exponent was before that.
    fn dense(&self, poly: &Poly, bases: &[ExprId]) -> Option<(Dense, Vec<i64>)> {
        let mut rows: Vec<(Vec<i64>, Number)> = Vec::with_capacity(poly.len());
        let mut least: Option<Vec<i64>> = None;
        for (monomial, &coefficient) in &poly.terms {
            let exponents: Option<Vec<i64>> =
                bases.iter().map(|&base| self.arena.integer_exponent(monomial, base)).collect();
            let exponents = exponents?;
            if exponents.iter().any(|e| e.abs() > 64) {
                return None;
            }
            least = Some(match least {
                None => exponents.clone(),
                Some(old) => old.iter().zip(&exponents).map(|(a, b)| *a.min(b)).collect(),
            });
            rows.push((exponents, self.arena.value(coefficient).clone()));
        }
        let least = least?;
        let shifted = rows.into_iter().map(|(exponents, number)| {
            (exponents.iter().zip(&least).map(|(a, b)| a - b).collect(), number)
        });
        Some((shifted.collect(), least))
    }

    /// With sin² = 1 − cos² of every angle, and the same of sinh.
    fn without_squares(&mut self, poly: &Poly) -> Option<Poly> {
        let terms: Vec<Term> = poly.clone().into_terms();
        let mut arguments: Vec<(ExprId, bool)> = Vec::new();
        for factor in terms.iter().flat_map(|term| &term.1) {
            if let Some(found) = self.wave_argument(factor.expr)
                && !arguments.contains(&found)
            {
                arguments.push(found);
            }
        }
        let mut normal = poly.clone();
        for (argument, hyperbolic) in arguments {
            if let Some(other) = self.eliminate_odd_square(&normal, argument, hyperbolic) {
                normal = other;
            }
            if normal.len() > MAX_TERMS {
                return None;
            }
        }
        Some(normal)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Effort, Exprs};

    #[test]
    fn what_numerator_and_denominator_share_is_cancelled() {
        let exprs = Exprs::new();
        let [m, n, l, x, y] = ["m", "n", "l", "x", "y"].map(|name| exprs.constant(name));
        let simple = |id| exprs.to_source(exprs.simplify_with(id, &mut Effort::default()));
        let whole = (m * l.powi(2) * x + m * l * y) / (m * l.powi(2) * n + m.powi(2) * l.powi(2));
        assert_eq!(simple(whole.id), "(y/l + x)/(m + n)");
        let square = (x.powi(2) + 2 * x * y + y.powi(2)) / (x + y);
        assert_eq!(simple(square.id), "x + y");
        let th = exprs.variable("th");
        let angle = (1 - th.cos().powi(4)) / (1 + th.cos().powi(2));
        assert_eq!(simple(angle.id), "sin(th)^2");
    }

    #[test]
    fn values_stay() {
        let exprs = Exprs::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| exprs.variable(name));
        let sum = a / (a + b) + b / (a - b) - c * (a / (b + c) + 1) / (a + b).powi(2);
        let simple = exprs.simplify_with(sum.id, &mut Effort::default());
        let value = |s: crate::Symbol| 0.3 + 0.7 * s.index() as f64;
        let [x, y] = exprs.eval_f64(&[sum.id, simple], value)[..] else { panic!("two numbers") };
        assert!((x - y).abs() < 1e-12, "{x} {y}");
    }
}
