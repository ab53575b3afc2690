//! Antiderivatives of what forms in mechanics are made of.
//!
//! A sum is integrated term by term; a term by the rule that a derivative divides:
//! if it is q·f(u)·u′ with q free of x, its integral is q·F(u). Powers of x times a
//! function that is so integrable go by parts. There is no more to it, and `None`
//! does not mean that there is no formula.

use crate::arena::{ExprId, Exprs, Node};
use crate::function::Function;
use crate::handle::Expr;
use crate::number::Number;
use crate::symbol::Symbol;

/// Powers of x up to this one are integrated by parts.
const PARTS: i64 = 6;

impl Exprs {
    /// An expression whose derivative with respect to the symbol is the given one.
    ///
    /// ```
    /// # use dalembert_expr::Exprs;
    /// let exprs = Exprs::new();
    /// let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    /// let f = (x * x.sin() + 2 * x / (x.powi(2) + y.powi(2))).id;
    /// let integral = exprs.antiderivative(f, x.symbol().unwrap()).unwrap();
    /// assert!(exprs.is_zero((exprs.at(integral).d(x.symbol().unwrap()) - exprs.at(f)).id).is_zero());
    /// ```
    pub fn antiderivative(&self, id: ExprId, x: Symbol) -> Option<ExprId> {
        let found =
            self.integrate(id, x, PARTS).or_else(|| self.integrate(self.expand(id), x, PARTS))?;
        let back = self.at(self.derivative(found, x)) - self.at(id);
        self.is_zero(back.id).is_zero().then_some(found)
    }

    fn integrate(&self, id: ExprId, x: Symbol, parts: i64) -> Option<ExprId> {
        let variable = self.at(self.of_symbol(x));
        if !self.holds(id, x) {
            return Some((self.at(id) * variable).id);
        }
        let Some((constant, terms)) = self.sum_of(id) else {
            return self.integrate_term(id, x, parts);
        };
        let mut total = vec![(self.at(self.of_number(constant)) * variable).id];
        for (number, term) in terms {
            let part = if self.holds(term, x) {
                self.integrate_term(term, x, parts)?
            } else {
                (self.at(term) * variable).id
            };
            total.push((self.at(self.of_number(number)) * self.at(part)).id);
        }
        Some(self.sum(&total))
    }

    fn integrate_term(&self, term: ExprId, x: Symbol, parts: i64) -> Option<ExprId> {
        let variable = self.of_symbol(x);
        let all = self.factors_of(term);
        let (moving, fixed): (Vec<_>, Vec<_>) =
            all.iter().cloned().partition(|(base, _)| self.holds(*base, x));
        let product = |list: &[(ExprId, Number)]| {
            let factors: Vec<ExprId> =
                list.iter().map(|(b, e)| self.pow(*b, self.of_number(e.clone()))).collect();
            self.at(self.product(&factors))
        };
        let outer = product(&fixed);
        let rest = product(&moving);
        for (base, exponent) in &moving {
            for (inner, done) in self.steps(*base, exponent) {
                let slope = self.at(self.derivative(inner.id, x));
                if slope.is_literally_zero() {
                    continue;
                }
                let own = self.at(self.pow(*base, self.of_number(exponent.clone())));
                if let Some(q) = self.free_of((rest / (own * slope)).id, x) {
                    return Some((outer * self.at(q) * done).id);
                }
            }
        }
        // ∫ x^k g = x^k G − k ∫ x^(k−1) G
        let power = moving.iter().find(|(base, _)| *base == variable)?.1.as_integer()?;
        if !(1..=parts).contains(&power) || moving.len() < 2 {
            return None;
        }
        let others: Vec<(ExprId, Number)> =
            moving.iter().filter(|(base, _)| *base != variable).cloned().collect();
        let g = self.at(self.integrate_term(product(&others).id, x, 0)?);
        let variable = self.at(variable);
        let next = variable.powi(power - 1) * g;
        let next = self.at(self.integrate(next.id, x, power - 1)?);
        Some((outer * (variable.powi(power) * g - power * next)).id)
    }

    /// For a factor base^exponent: inner functions u, with F(u) for f(u) = the factor.
    fn steps(&self, base: ExprId, exponent: &Number) -> Vec<(Expr<'_>, Expr<'_>)> {
        let u = self.at(base);
        let mut list = Vec::new();
        let up = exponent.add(&Number::ONE);
        list.push(match up.recip() {
            Some(over) => {
                let power = self.at(self.pow(base, self.of_number(up)));
                (u, power * self.at(self.of_number(over)))
            }
            None => (u, u.abs().log()),
        });
        let call = self.call_of_one(base);
        if let Some((function, a)) = call {
            let a = self.at(a);
            let of = |f: Function| self.at(self.call(f, &[a.id]));
            let known = match (function, exponent.as_integer()) {
                (Function::Sin, Some(1)) => Some(-a.cos()),
                (Function::Cos, Some(1)) => Some(a.sin()),
                (Function::Tan, Some(1)) => Some(-a.cos().abs().log()),
                (Function::Exp, Some(1)) => Some(a.exp()),
                (Function::Sinh, Some(1)) => Some(of(Function::Cosh)),
                (Function::Cosh, Some(1)) => Some(of(Function::Sinh)),
                (Function::Log, Some(1)) => Some(a * a.log() - a),
                (Function::Cos, Some(-2)) => Some(a.tan()),
                (Function::Sin, Some(-2)) => Some(-a.cos() / a.sin()),
                (Function::Sin, Some(2)) => Some((a - a.sin() * a.cos()) / 2),
                (Function::Cos, Some(2)) => Some((a + a.sin() * a.cos()) / 2),
                _ => None,
            };
            list.extend(known.map(|done| (a, done)));
        }
        list
    }

    /// The expression without a symbol that it does not depend on, or `None` if it does.
    fn free_of(&self, id: ExprId, x: Symbol) -> Option<ExprId> {
        if !self.holds(id, x) {
            return Some(id);
        }
        if !self.is_zero(self.derivative(id, x)).is_zero() {
            return None;
        }
        for n in [1, 2, 3, -1] {
            let value = self.substitute(&[id], &[(x, self.integer(n).id)])[0];
            let difference = (self.at(value) - self.at(id)).id;
            if self.is_zero(difference).is_zero() {
                return Some(self.simplify(value));
            }
        }
        None
    }

    fn holds(&self, id: ExprId, x: Symbol) -> bool {
        self.symbols_of(&[id]).contains(&x)
    }

    /// The function and its argument, if the expression is a call with one.
    fn call_of_one(&self, id: ExprId) -> Option<(Function, ExprId)> {
        let arena = self.arena.lock();
        match arena.node(id) {
            Node::Call { function, start, len: 1 } => {
                Some((function, arena.items(start, 1)[0].expr))
            }
            _ => None,
        }
    }

    fn sum_of(&self, id: ExprId) -> Option<(Number, Vec<(Number, ExprId)>)> {
        let arena = self.arena.lock();
        match arena.node(id) {
            Node::Sum { constant, start, len } => {
                let items = arena.items(start, len).iter();
                let terms = items.map(|i| (arena.value(i.number).clone(), i.expr)).collect();
                Some((arena.value(constant).clone(), terms))
            }
            _ => None,
        }
    }

    fn factors_of(&self, id: ExprId) -> Vec<(ExprId, Number)> {
        let arena = self.arena.lock();
        match arena.node(id) {
            Node::Product { start, len } => {
                let items = arena.items(start, len).iter();
                items.map(|i| (i.expr, arena.value(i.number).clone())).collect()
            }
            _ => vec![(id, Number::ONE)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_integrals_are_what_was_integrated() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let s = x.symbol().unwrap();
        let known = [
            x.powi(3) * y,
            x.sin() * x.cos(),
            (2 * x + y).cos() * y,
            x.powi(2) * (3 * x).exp(),
            1 / x,
            1 / (x - y).powi(2),
            x / (x.powi(2) + y.powi(2)).sqrt(),
            x.sin().powi(2),
            x.cos().powi(-2),
            (x + y).powi(2) * x,
            x.tan() * y,
        ];
        for f in known {
            let found = exprs.antiderivative(f.id, s).unwrap_or_else(|| panic!("{f}"));
            assert!(exprs.is_zero((exprs.at(found).d(s) - f).id).is_zero(), "{f}");
        }
        // No formula in these functions.
        assert_eq!(exprs.antiderivative((x.powi(2)).exp().id, s), None);
        assert_eq!(exprs.antiderivative((x.sin() / x).id, s), None);
    }
}
