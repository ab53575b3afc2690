//! Identities of the circular and hyperbolic functions on polynomials:
//!
//! ```text
//! M sin²u + M cos²u = M                    M − M sin²u = M cos²u
//! M cosh²u − M sinh²u = M                  M + M sinh²u = M cosh²u
//! M − 2 M sin²u = M cos 2u                 M + 2 M sinh²u = M cosh 2u
//! M cos u cos v ± M sin u sin v = M cos(u ∓ v)
//! M sin u cos v ± M cos u sin v = M sin(u ± v)
//! ```
//!
//! and the same of cosh and sinh with the signs that belong to them. All hold
//! wherever u and v are defined.

use super::Simplifier;
use super::poly::{Monomial, Poly, Term};
use crate::arena::{ExprId, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::number::Number;
use std::collections::BTreeSet;

/// A factor that is sin, cos, sinh or cosh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wave {
    argument: ExprId,
    hyperbolic: bool,
    /// Whether it is sin or sinh.
    odd: bool,
}

/// Products of more functions than this are not searched for pairs.
const MAX_WAVES: usize = 12;

impl Simplifier<'_> {
    fn as_wave(&self, base: ExprId) -> Option<Wave> {
        let Node::Call { function, start, len: 1 } = self.arena.node(base) else { return None };
        let argument = self.arena.items(start, 1)[0].expr;
        let (hyperbolic, odd) = match function {
            Function::Sin => (false, true),
            Function::Cos => (false, false),
            Function::Sinh => (true, true),
            Function::Cosh => (true, false),
            _ => return None,
        };
        Some(Wave { argument, hyperbolic, odd })
    }

    pub(super) fn is_wave(&self, base: ExprId) -> bool {
        self.as_wave(base).is_some()
    }

    fn wave(&mut self, wave: Wave) -> ExprId {
        let function = match (wave.hyperbolic, wave.odd) {
            (false, true) => Function::Sin,
            (false, false) => Function::Cos,
            (true, true) => Function::Sinh,
            (true, false) => Function::Cosh,
        };
        self.arena.call(function, &[wave.argument])
    }

    /// The function that goes with it: cos u for sin u.
    fn partner(&mut self, wave: Wave) -> ExprId {
        self.wave(Wave { odd: !wave.odd, ..wave })
    }

    /// The forms of a polynomial that the identities lead to, best first.
    pub(super) fn reduce(&mut self, poly: &Poly) -> Vec<Poly> {
        let mut forms = vec![poly.clone()];
        let waves: BTreeSet<(ExprId, bool)> = poly
            .terms
            .keys()
            .flatten()
            .filter_map(|factor| self.as_wave(factor.expr).map(|w| (w.argument, w.hyperbolic)))
            .collect();
        if waves.is_empty() {
            return forms;
        }
        for partial in [false, true] {
            let mut first = poly.clone();
            self.pythagoras(&mut first);
            self.add_angles(&mut first, partial);
            self.pythagoras(&mut first);
            self.complement(&mut first);
            let mut second = poly.clone();
            self.add_angles(&mut second, partial);
            self.pythagoras(&mut second);
            self.complement(&mut second);
            self.add_angles(&mut second, partial);
            forms.extend([first, second]);
        }
        // One function of each angle eliminated as far as its square goes.
        let mut normal = poly.clone();
        for &(argument, hyperbolic) in waves.iter().take(8) {
            let mut best = (self.cost_of_poly(&normal), normal.clone());
            for odd in [true, false] {
                let Some(mut other) =
                    self.eliminate_square(&normal, Wave { argument, hyperbolic, odd })
                else {
                    continue;
                };
                self.pythagoras(&mut other);
                let cost = self.cost_of_poly(&other);
                if cost < best.0 {
                    best = (cost, other);
                }
            }
            normal = best.1;
        }
        self.complement(&mut normal);
        self.add_angles(&mut normal, false);
        forms.push(normal);
        let mut keyed: Vec<(u64, Poly)> =
            forms.into_iter().map(|form| (self.cost_of_poly(&form), form)).collect();
        keyed.sort_by_key(|k| k.0);
        keyed.dedup_by(|a, b| a.1 == b.1);
        keyed.into_iter().map(|(_, form)| form).take(3).collect()
    }

    pub(super) fn cost_of_poly(&mut self, poly: &Poly) -> u64 {
        let terms = poly.clone().into_terms();
        self.cost_of_terms(&terms)
    }

    /// Merges M sin²u with M cos²u, as much of both as there is.
    fn pythagoras(&mut self, poly: &mut Poly) {
        let mut queue: Vec<Monomial> = poly.terms.keys().cloned().collect();
        while let Some(monomial) = queue.pop() {
            for at in 0..monomial.len() {
                let base = monomial[at].expr;
                let (Some(wave), Some(2..)) =
                    (self.as_wave(base), self.arena.value(monomial[at].number).as_integer())
                else {
                    continue;
                };
                let Some(&c) = poly.terms.get(&monomial) else { break };
                if !self.spend(1) {
                    return;
                }
                let rest = self.arena.shift(&monomial, base, -2);
                let other = self.partner(wave);
                let other = self.arena.shift(&rest, other, 2);
                let Some(&d) = poly.terms.get(&other) else { continue };
                let same = self.arena.value(c).is_negative() == self.arena.value(d).is_negative();
                if same == wave.hyperbolic {
                    continue;
                }
                // sin² + cos² = 1; cosh² − sinh² = 1, whose sign is that of cosh².
                let amount = self.smaller(c, d);
                let (minus_c, minus_d) = self.removal(amount, c, d);
                poly.add(self.arena, monomial.clone(), minus_c);
                poly.add(self.arena, other.clone(), minus_d);
                let sign_of = if wave.hyperbolic && wave.odd { d } else { c };
                let gain = self.with_sign_of(amount, sign_of);
                poly.add(self.arena, rest.clone(), gain);
                queue.extend([monomial.clone(), other, rest]);
            }
        }
    }

    /// M − M sin²u = M cos²u and its like, where both are there entirely.
    fn complement(&mut self, poly: &mut Poly) {
        let monomials: Vec<Monomial> = poly.terms.keys().cloned().collect();
        for monomial in monomials {
            for factor in monomial.clone() {
                let (Some(wave), Some(2..)) =
                    (self.as_wave(factor.expr), self.arena.value(factor.number).as_integer())
                else {
                    continue;
                };
                let Some(&c) = poly.terms.get(&monomial) else { break };
                let rest = self.arena.shift(&monomial, factor.expr, -2);
                let Some(&d) = poly.terms.get(&rest) else { continue };
                let Some(whole) = self.complement_of(wave, c, d) else { continue };
                if !self.spend(1) {
                    return;
                }
                poly.terms.remove(&monomial);
                poly.terms.remove(&rest);
                let (gain, other) = self.arena.multiply_terms(&(NumberId::ONE, rest), &whole);
                poly.add(self.arena, other, gain);
                break;
            }
        }
    }

    /// What d + c·f(u)² is as one term, for the functions f at hand.
    fn complement_of(&mut self, wave: Wave, c: NumberId, d: NumberId) -> Option<Term> {
        let two = self.arena.number_id(Number::integer(2));
        // 1 − sin² = cos², 1 − cos² = sin²; 1 + sinh² = cosh², cosh² − 1 = sinh².
        let sign = if wave.hyperbolic && wave.odd { d } else { self.negate(d) };
        if c == sign {
            let gain = if wave.hyperbolic { c } else { d };
            let other = self.partner(wave);
            return Some((gain, Monomial::from_slice(&[item(other, two)])));
        }
        // 1 − 2 sin² = cos 2u, 2 cos² − 1 = cos 2u, and the same of cosh 2u.
        if c != self.arena.multiply_ids(sign, two) {
            return None;
        }
        let argument = self.arena.scale(two, wave.argument);
        let double = self.wave(Wave { argument, odd: false, ..wave });
        let gain = if wave.odd { d } else { self.negate(d) };
        let (factor, monomial) = self.arena.as_term(double);
        Some((self.arena.multiply_ids(gain, factor), monomial))
    }

    /// The argument of a sine or cosine, and whether it is a hyperbolic one.
    pub(super) fn wave_argument(&self, base: ExprId) -> Option<(ExprId, bool)> {
        self.as_wave(base).map(|wave| (wave.argument, wave.hyperbolic))
    }

    /// Replaces sin² by 1 − cos², or sinh² by cosh² − 1; `None` if there is none.
    pub(super) fn eliminate_odd_square(
        &mut self,
        poly: &Poly,
        argument: ExprId,
        hyperbolic: bool,
    ) -> Option<Poly> {
        self.eliminate_square(poly, Wave { argument, hyperbolic, odd: true })
    }

    /// Replaces the square of one function of an angle by that of the other.
    fn eliminate_square(&mut self, poly: &Poly, wave: Wave) -> Option<Poly> {
        let base = self.wave(wave);
        let partner = self.partner(wave);
        let mut result = Poly::default();
        let mut changed = false;
        for (monomial, &coefficient) in &poly.terms {
            let squares = match self.arena.integer_exponent(monomial, base) {
                Some(n @ 2..=16) => n / 2,
                _ => {
                    result.add(self.arena, monomial.clone(), coefficient);
                    continue;
                }
            };
            changed = true;
            // sin² = 1 − cos², cos² = 1 − sin², sinh² = cosh² − 1, cosh² = 1 + sinh².
            let (one, square) = match (wave.hyperbolic, wave.odd) {
                (false, _) => (1, -1),
                (true, true) => (-1, 1),
                (true, false) => (1, 1),
            };
            let rest = self.arena.shift(monomial, base, -2 * squares);
            let mut binomial: i64 = 1;
            for k in 0..=squares {
                if !self.spend(1) {
                    return None;
                }
                let sign = if (one == -1 && (squares - k) % 2 == 1) ^ (square == -1 && k % 2 == 1) {
                    -1
                } else {
                    1
                };
                let number = self.arena.number_id(Number::integer(sign * binomial));
                let coefficient = self.arena.multiply_ids(coefficient, number);
                let shifted = self.arena.shift(&rest, partner, 2 * k);
                result.add(self.arena, shifted, coefficient);
                binomial = binomial * (squares - k) / (k + 1);
            }
        }
        (changed && result.len() <= super::MAX_TERMS).then_some(result)
    }

    /// Merges products of functions of two angles into functions of their sum
    /// or difference; with `partial`, also where one product has more of it.
    fn add_angles(&mut self, poly: &mut Poly, partial: bool) {
        let mut queue: Vec<Monomial> = poly.terms.keys().cloned().collect();
        while let Some(monomial) = queue.pop() {
            let Some((merged, touched)) = self.add_angles_of(poly, &monomial, partial) else {
                continue;
            };
            poly.add(self.arena, merged.1.clone(), merged.0);
            queue.extend(touched);
            queue.push(merged.1);
        }
    }

    fn add_angles_of(
        &mut self,
        poly: &mut Poly,
        monomial: &Monomial,
        partial: bool,
    ) -> Option<(Term, [Monomial; 2])> {
        let &c = poly.terms.get(monomial)?;
        let mut waves: Vec<(ExprId, Wave)> = Vec::new();
        for factor in monomial {
            let exponent = self.arena.value(factor.number).as_integer().unwrap_or(0);
            if let (Some(wave), 1..) = (self.as_wave(factor.expr), exponent) {
                // A square is a pair by itself.
                waves.extend(std::iter::repeat_n((factor.expr, wave), exponent.min(2) as usize));
            }
        }
        if waves.len() > MAX_WAVES {
            return None;
        }
        for i in 0..waves.len() {
            for j in i + 1..waves.len() {
                let ((f, u), (g, v)) = (waves[i], waves[j]);
                if u.hyperbolic != v.hyperbolic || (u.argument == v.argument && u.odd != v.odd) {
                    continue;
                }
                if !self.spend(1) {
                    return None;
                }
                let rest = self.arena.shift(monomial, f, -1);
                let rest = self.arena.shift(&rest, g, -1);
                let (pf, pg) = (self.partner(u), self.partner(v));
                let other = self.arena.shift(&rest, pf, 1);
                let other = self.arena.shift(&other, pg, 1);
                let Some(&d) = poly.terms.get(&other) else { continue };
                let (x, y) = (self.arena.value(c).abs(), self.arena.value(d).abs());
                if x != y && !partial {
                    continue;
                }
                let same = self.arena.value(c).is_negative() == self.arena.value(d).is_negative();
                let amount = self.smaller(c, d);
                let (minus_c, minus_d) = self.removal(amount, c, d);
                poly.add(self.arena, monomial.clone(), minus_c);
                poly.add(self.arena, other.clone(), minus_d);
                let (angle, odd, sign_of) = self.merged_angle(u, v, same, c, d);
                let call = self.wave(Wave { argument: angle, hyperbolic: u.hyperbolic, odd });
                let amount = self.with_sign_of(amount, sign_of);
                let call = self.arena.as_term(call);
                let merged = self.arena.multiply_terms(&(amount, rest), &call);
                return Some((merged, [monomial.clone(), other]));
            }
        }
        None
    }

    /// The angle, parity and sign of what f(u) g(v) and its partner merge into;
    /// `same`: their signs agree.
    fn merged_angle(
        &mut self,
        u: Wave,
        v: Wave,
        same: bool,
        c: NumberId,
        d: NumberId,
    ) -> (ExprId, bool, NumberId) {
        let (a, b) = (u.argument, v.argument);
        if u.odd != v.odd {
            // sin a cos b ± cos a sin b: the sign is that of the term whose sin has `a`.
            let angle = if same { self.arena.add(a, b) } else { self.arena.sub(a, b) };
            return (angle, true, if u.odd { c } else { d });
        }
        // cos a cos b ± sin a sin b: the sign is that of the product of cosines.
        let plus = same == u.hyperbolic;
        let angle = if plus { self.arena.add(a, b) } else { self.arena.sub(a, b) };
        (angle, false, if u.odd { d } else { c })
    }

    /// The smaller of two magnitudes.
    fn smaller(&mut self, c: NumberId, d: NumberId) -> NumberId {
        let (c, d) = (self.arena.value(c).abs(), self.arena.value(d).abs());
        self.arena.number_id(if c < d { c } else { d })
    }

    /// What takes the amount away from each coefficient.
    fn removal(&mut self, amount: NumberId, c: NumberId, d: NumberId) -> (NumberId, NumberId) {
        let (c, d) = (self.with_sign_of(amount, c), self.with_sign_of(amount, d));
        (self.negate(c), self.negate(d))
    }

    fn with_sign_of(&mut self, amount: NumberId, other: NumberId) -> NumberId {
        if self.arena.value(other).is_negative() { self.negate(amount) } else { amount }
    }

    pub(super) fn negate(&mut self, number: NumberId) -> NumberId {
        self.arena.multiply_ids(NumberId::MINUS_ONE, number)
    }
}
