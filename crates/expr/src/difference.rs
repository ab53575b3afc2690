//! The difference of two nearly equal expressions, without cancellation.
//!
//! sin(x + εz) − sin x has no digits left in floating point once ε is small; written as
//!
//! ```text
//! sin w − sin u = 2 cos((u + w)/2) sin(δ/2),     δ = w − u
//! ```
//!
//! it has all of them, if δ itself is known as an expression. So the two are compared from the
//! outside in: sums term by term, products factor by factor, powers by
//! wⁿ − uⁿ = δ Σ wⁿ⁻¹⁻ᵏ uᵏ, roots through the powers of the root, functions by their addition
//! theorem. Where a function has none that helps (log, asin, acos), Simpson's rule for the
//! integral of f′ over [u, w] is off by (δ/u)⁴ of the difference, which for the small δ asked
//! for is less than its rounding.

use crate::arena::{Arena, ExprId, Exprs, Item, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::number::Number;

/// A sum of multiples of expressions.
type Multiples = Vec<(Number, ExprId)>;

/// The largest power that is written out.
const LARGEST_POWER: i64 = 12;
/// More factors than this are not compared.
const MOST_FACTORS: usize = 6;
/// Pairs of terms that are compared in all.
const MOST_PAIRS: u32 = 400;
/// Simpson's rule serves differences below this.
const SIMPSON: f64 = 1e-6;
/// Of differences below this the second order is nothing in any arithmetic used here, while its
/// coefficients may be too small for doubles.
const FIRST_ORDER: f64 = 1e-60;

impl Exprs {
    /// A term b as ratio · a + a sum of multiples, all of them smaller than `nearly` and none
    /// of which loses digits; `None` if b is not seen to be that near to a multiple of a.
    ///
    /// ```
    /// # use dalembert_expr::{Exprs, Number};
    /// let exprs = Exprs::new();
    /// let (x, z) = (exprs.variable("x"), exprs.variable("z"));
    /// let tiny = exprs.at(exprs.of_number(Number::from_decimal("1e-30").unwrap()));
    /// let (a, b) = (x.sin(), (x + tiny * z).sin());
    /// let (ratio, parts) = exprs.near_multiple(a.id, b.id, 1e-5).unwrap();
    /// assert_eq!((ratio, parts.len()), (Number::ONE, 1));
    /// // 10⁻³⁰ z cos x
    /// let x = x.symbol();
    /// let value = exprs.eval_f64(&[parts[0].1], |s| if Some(s) == x { 0.5 } else { 2.0 });
    /// assert!((parts[0].0.to_f64() * value[0] / (2e-30 * 0.5f64.cos()) - 1.0).abs() < 1e-15);
    /// ```
    pub fn near_multiple(
        &self,
        a: ExprId,
        b: ExprId,
        nearly: f64,
    ) -> Option<(Number, Vec<(Number, ExprId)>)> {
        let arena = &mut *self.arena.lock();
        let (ratio, parts) = arena.between_terms(a, b, &mut Search { nearly, left: MOST_PAIRS })?;
        let most = nearly * ratio.to_f64().abs();
        let is_small = parts.iter().all(|p| p.0.to_f64().abs() < most);
        is_small.then_some((ratio, parts))
    }
}

impl Exprs {
    /// The logarithm of the size that a term has where symbols are about 1: sums in it may have
    /// been made primitive, 1/(1 + 10⁻⁷x) to 1/(10⁷ + x), which is not 1 but 10⁻⁷.
    pub fn log_size(&self, term: ExprId) -> f64 {
        let arena = self.arena.lock();
        let Node::Product { start, len } = arena.node(term) else { return 0.0 };
        let log = |item: &Item| {
            let base = arena.multiples(item.expr);
            let most = largest(&base).map_or(1.0, |n| n.to_f64().abs());
            most.ln() * arena.value(item.number).to_f64()
        };
        arena.items(start, len).iter().map(log).filter(|l| l.is_finite()).sum()
    }
}

/// The largest of some multiples, signs aside.
fn largest(parts: &[(Number, ExprId)]) -> Option<Number> {
    let size = |n: &Number| n.to_f64().abs();
    parts.iter().map(|p| &p.0).max_by(|a, b| size(a).total_cmp(&size(b))).cloned()
}

impl Arena {
    /// b − a for whole expressions, if all of it is below a limit.
    fn difference(
        &mut self,
        a: ExprId,
        b: ExprId,
        limit: f64,
        search: &mut Search,
    ) -> Option<Multiples> {
        let is_small = |number: &Number| number.to_f64().abs() < limit;
        let (mut left, mut right) = (self.multiples(a), self.multiples(b));
        let mut parts = Multiples::new();
        // Terms that both have.
        left.retain(|(number, term)| match right.iter().position(|r| r.1 == *term) {
            Some(at) => {
                let other = right.swap_remove(at).0;
                parts.push((other.add(&number.neg()), *term));
                false
            }
            None => true,
        });
        if parts.iter().any(|p| !is_small(&p.0)) {
            return None;
        }
        // Terms that are near each other: d t′ − c t = (d − c) t + d (t′ − t).
        for (number, term) in right {
            let found = left
                .iter()
                .enumerate()
                .find_map(|(at, (_, other))| Some((at, self.between_terms(*other, term, search)?)));
            match found {
                Some((at, (ratio, small))) => {
                    let (other_number, other) = left.swap_remove(at);
                    parts.push((number.mul(&ratio).add(&other_number.neg()), other));
                    parts.extend(small.into_iter().map(|(n, e)| (n.mul(&number), e)));
                }
                None if is_small(&number) => parts.push((number, term)),
                None => return None,
            }
        }
        parts.extend(left.into_iter().map(|(number, term)| (number.neg(), term)));
        parts.retain(|p| !p.0.is_zero());
        parts.iter().all(|p| is_small(&p.0)).then_some(parts)
    }

    /// b = ratio · a + small parts, for two terms.
    fn between_terms(
        &mut self,
        a: ExprId,
        b: ExprId,
        search: &mut Search,
    ) -> Option<(Number, Multiples)> {
        if a == b {
            return Some((Number::ONE, Multiples::new()));
        }
        search.spend()?;
        if let (Some((f, u)), Some((g, w))) = (self.unary(a), self.unary(b)) {
            let parts = if f == g { self.of_function(f, u, w, search)? } else { return None };
            return Some((Number::ONE, parts));
        }
        self.of_products(a, b, search)
    }

    fn unary(&self, id: ExprId) -> Option<(Function, ExprId)> {
        match self.node(id) {
            Node::Call { function, start, len: 1 } => {
                Some((function, self.items(start, 1)[0].expr))
            }
            _ => None,
        }
    }

    /// δ = w − u, as its size and the rest.
    fn small(&mut self, u: ExprId, w: ExprId, search: &mut Search) -> Option<(Number, ExprId)> {
        let parts = self.difference(u, w, search.nearly, search)?;
        let size = largest(&parts)?.abs();
        let inverse = size.recip()?;
        let unit = self.combine(&parts, &inverse);
        Some((size, unit))
    }

    fn combine(&mut self, parts: &[(Number, ExprId)], factor: &Number) -> ExprId {
        let items: Vec<_> = parts
            .iter()
            .map(|(number, expr)| item(*expr, self.number_id(number.mul(factor))))
            .collect();
        self.linear(NumberId::ZERO, &items)
    }

    /// f(w) − f(u)
    fn of_function(
        &mut self,
        function: Function,
        u: ExprId,
        w: ExprId,
        search: &mut Search,
    ) -> Option<Multiples> {
        let (size, unit) = self.small(u, w, search)?;
        let is_tiny = size.to_f64() < FIRST_ORDER;
        let w = if is_tiny { u } else { w };
        let half = Number::ratio(1, 2)?;
        let sum = self.add(u, w);
        let half_id = self.number_id(half.clone());
        let middle = self.scale(half_id, sum);
        let delta = |arena: &mut Arena, factor: Number| {
            let number = arena.number_id(size.mul(&factor));
            arena.scale(number, unit)
        };
        let inverse = size.recip()?;
        // The small function of δ over δ's size, so that what multiplies it is small.
        let over_size = |arena: &mut Arena, x: ExprId| {
            let number = arena.number_id(inverse.clone());
            arena.scale(number, x)
        };
        let call = |arena: &mut Arena, f: Function, x: ExprId| arena.call(f, &[x]);
        // sin δ, sinh δ and atan δ are δ to first order.
        let small = |arena: &mut Arena, f: Function, x: ExprId| {
            if is_tiny { x } else { arena.call(f, &[x]) }
        };
        let (two, one) = (Number::integer(2), Number::ONE);
        let product = |arena: &mut Arena, f: Function, g: Function, x: ExprId| {
            let inner = small(arena, g, x);
            let (outer, inner) = (call(arena, f, middle), over_size(arena, inner));
            arena.mul(outer, inner)
        };
        use Function::*;
        let (number, expr) = match function {
            Sin | Cos | Sinh | Cosh | Exp => {
                let (outer, inner, sign) = match function {
                    Sin => (Cos, Sin, two),
                    Cos => (Sin, Sin, two.neg()),
                    Sinh => (Cosh, Sinh, two),
                    Cosh => (Sinh, Sinh, two),
                    _ => (Exp, Sinh, two),
                };
                let x = delta(self, half);
                (sign, product(self, outer, inner, x))
            }
            Tan | Tanh => {
                let (over, top) = if function == Tan { (Cos, Sin) } else { (Cosh, Sinh) };
                let x = delta(self, one.clone());
                let top = small(self, top, x);
                let top = over_size(self, top);
                let (below, other) = (call(self, over, u), call(self, over, w));
                let below = self.mul(below, other);
                (one, self.div(top, below))
            }
            // atan(δ/(1 + uw)), where 1 + uw is positive, as it is for u next to w.
            Atan => {
                let x = delta(self, one.clone());
                let product = self.mul(u, w);
                let below = self.add(ExprId::ONE, product);
                let quotient = self.div(x, below);
                let angle = small(self, Atan, quotient);
                (one, over_size(self, angle))
            }
            Asin | Acos | Log if size.to_f64() < SIMPSON => {
                let sixth = Number::ratio(1, 6)?;
                let mut terms = Vec::new();
                for (x, weight) in [(u, 1), (middle, 4), (w, 1)] {
                    let slope = match function {
                        Log => self.powi(x, -1),
                        _ => {
                            let square = self.powi(x, 2);
                            let rest = self.sub(ExprId::ONE, square);
                            let root = self.sqrt(rest);
                            self.powi(root, -1)
                        }
                    };
                    terms.push((sixth.mul(&Number::integer(weight)), slope));
                }
                let mean = self.combine(&terms, &Number::ONE);
                let sign = if function == Acos { one.neg() } else { one };
                (sign, self.mul(mean, unit))
            }
            _ => return None,
        };
        Some(vec![(size.mul(&number), expr)])
    }

    /// b = ratio · a + small parts, for products of powers.
    fn of_products(
        &mut self,
        a: ExprId,
        b: ExprId,
        search: &mut Search,
    ) -> Option<(Number, Multiples)> {
        let factors = |arena: &Arena, id: ExprId| -> Option<Vec<(ExprId, Number)>> {
            match arena.node(id) {
                Node::Product { start, len } => {
                    let items = arena.items(start, len).iter();
                    Some(items.map(|i| (i.expr, arena.value(i.number).clone())).collect())
                }
                Node::Symbol(_) | Node::Call { .. } | Node::Sum { .. } => {
                    Some(vec![(id, Number::ONE)])
                }
                _ => None,
            }
        };
        let (mut left, mut right) = (factors(self, a)?, factors(self, b)?);
        let mut common: Vec<ExprId> = Vec::new();
        let power = |arena: &mut Arena, base: ExprId, n: &Number| {
            let exponent = arena.number(n.clone());
            arena.pow(base, exponent)
        };
        let mut shared = Vec::new();
        left.retain(|factor| match right.iter().position(|r| r == factor) {
            Some(at) => {
                right.swap_remove(at);
                shared.push(factor.clone());
                false
            }
            None => true,
        });
        for (base, n) in &shared {
            common.push(power(self, *base, n));
        }
        // Roots of numbers stand by themselves.
        let mut numeric: Vec<ExprId> = Vec::new();
        for (list, inverse) in [(&mut left, true), (&mut right, false)] {
            let (numbers, rest): (Vec<_>, Vec<_>) =
                list.drain(..).partition(|f| self.as_number(f.0).is_some());
            for (base, n) in numbers {
                let n = if inverse { n.neg() } else { n.clone() };
                numeric.push(power(self, base, &n));
                if inverse {
                    common.push(power(self, base, &n.neg()));
                }
            }
            *list = rest;
        }
        if left.len() != right.len() || left.is_empty() || left.len() > MOST_FACTORS {
            return None;
        }
        // b = ratio · common · Π wⁿ, a = common · Π uⁿ.
        let mut pairs: Vec<(ExprId, ExprId, Number, Multiples)> = Vec::new();
        for (base, n) in right {
            let (at, near) = left.iter().enumerate().find_map(|(at, (other, m))| {
                let near = (*m == n).then(|| self.of_bases(*other, base, search))??;
                Some((at, near))
            })?;
            let (other, _) = left.swap_remove(at);
            let scale = self.number(near.scale);
            numeric.push(power(self, scale, &n));
            pairs.push((other, near.w, n, near.parts));
        }
        let ratio = self.product(&numeric);
        let ratio = self.as_number(ratio)?.clone();
        if ratio.is_zero() {
            return None;
        }
        let mut small = Multiples::new();
        for k in 0..pairs.len() {
            let mut around = common.clone();
            for (j, (u, w, n, _)) in pairs.iter().enumerate() {
                if j != k {
                    around.push(power(self, if j < k { *w } else { *u }, n));
                }
            }
            let (u, w, n, parts) = &pairs[k];
            let slope = self.secant(*u, *w, n)?;
            around.push(slope);
            for (number, expr) in parts {
                around.push(*expr);
                small.push((number.mul(&ratio), self.product(&around)));
                around.pop();
            }
        }
        Some((ratio, small))
    }

    /// The base b as scale · w with w next to a, and w − a.
    fn of_bases(&mut self, a: ExprId, b: ExprId, search: &mut Search) -> Option<Near> {
        let (left, right) = (self.multiples(a), self.multiples(b));
        let size = |number: &Number| number.to_f64().abs();
        let most = left.iter().map(|l| size(&l.0)).fold(0.0, f64::max);
        // By the largest term that both have.
        let common = left.iter().filter_map(|l| {
            let other = right.iter().find(|r| r.1 == l.1)?;
            Some((&l.0, &other.0))
        });
        let scale = match common.max_by(|x, y| size(x.0).total_cmp(&size(y.0))) {
            Some((own, other)) => other.mul(&own.recip()?),
            None => Number::ONE,
        };
        let inverse = scale.recip()?;
        let w = self.combine(&right, &inverse);
        // A base that is nearly the other one, for its own size.
        let parts = self.difference(a, w, search.nearly * most.max(1.0), search)?;
        let size = largest(&parts).map_or(0.0, |n| n.to_f64().abs());
        let w = if size < FIRST_ORDER { a } else { w };
        Some(Near { scale, w, parts })
    }

    /// (wⁿ − uⁿ)/(w − u) for a rational n, written out.
    fn secant(&mut self, u: ExprId, w: ExprId, n: &Number) -> Option<ExprId> {
        let (p, q) = n.as_small()?;
        if p == 0 || p.abs() > LARGEST_POWER || q > LARGEST_POWER {
            return None;
        }
        let root = |arena: &mut Arena, x: ExprId| {
            let exponent = arena.number(Number::ratio(1, q).unwrap_or(Number::ONE));
            arena.pow(x, exponent)
        };
        let (u, w) = if q == 1 { (u, w) } else { (root(self, u), root(self, w)) };
        let chain = |arena: &mut Arena, n: i64| {
            let terms: Vec<ExprId> = (0..n)
                .map(|k| {
                    let (a, b) = (arena.powi(w, n - 1 - k), arena.powi(u, k));
                    arena.mul(a, b)
                })
                .collect();
            arena.sum(&terms)
        };
        let mut top = chain(self, p.abs());
        if p < 0 {
            // w⁻ᵐ − u⁻ᵐ = −(wᵐ − uᵐ)/(uw)ᵐ
            let product = self.mul(u, w);
            let below = self.powi(product, p);
            top = self.mul(top, below);
            top = self.neg(top);
        }
        if q == 1 {
            return Some(top);
        }
        let below = chain(self, q);
        Some(self.div(top, below))
    }
}

/// What is nearly equal, and how long it may still be looked for.
struct Search {
    nearly: f64,
    left: u32,
}

impl Search {
    fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }
}

/// A base next to another one, up to a number.
struct Near {
    scale: Number,
    w: ExprId,
    parts: Multiples,
}

#[cfg(test)]
mod tests {
    use crate::ball::{Balls, Enclose, Extended};
    use crate::{Expr, ExprId, Exprs, Number, Random};

    /// A random term of depth `deep` in the variables.
    fn random<'e>(
        exprs: &'e Exprs,
        numbers: &mut Random,
        vars: &[Expr<'e>],
        deep: u32,
    ) -> Expr<'e> {
        let mut next = |n| numbers.below(n);
        if deep == 0 {
            return vars[next(vars.len())];
        }
        let choice = next(12);
        let factor = next(5) as i64 + 1;
        let a = random(exprs, numbers, vars, deep - 1);
        match choice {
            0 => a.sin(),
            1 => a.cos() * vars[1],
            2 => a.exp(),
            3 => (a.powi(2) + 1).sqrt(),
            4 => (a.powi(2) + 2).log(),
            5 => a.powi(3) + vars[0] * factor,
            6 => (a.powi(2) + 3).powi(-2),
            7 => exprs.at(exprs.call(crate::Function::Atan, &[a.id])),
            8 => exprs.at(exprs.call(crate::Function::Tanh, &[a.id])),
            9 => exprs.at(exprs.call(crate::Function::Asin, &[(a.sin() / 2).id])),
            10 => a * (vars[0].sin() + factor),
            _ => a.sin() * a.cos() * vars[1].exp(),
        }
    }

    /// f(x + εz) against f(x), by hundreds of digits.
    #[test]
    fn differences_keep_their_digits() {
        let mut found = 0;
        for case in 0..400u64 {
            let exprs = Exprs::new();
            let (x, y, z) = (exprs.variable("x"), exprs.variable("y"), exprs.variable("z"));
            let size = ["1e-7", "1e-12", "1e-25", "1e-90"][case as usize % 4];
            let tiny = exprs.at(exprs.of_number(Number::from_decimal(size).unwrap()));
            let mut numbers = Random::new(case * 7919 + 1);
            let (deep, mut same) = (1 + (case % 3) as u32, numbers.clone());
            let a = random(&exprs, &mut numbers, &[x, y], deep);
            let b = random(&exprs, &mut same, &[x + tiny * z, y], deep);
            let (a, b) = (exprs.multiples(a.id), exprs.multiples(b.id));
            let ([(_, a)], [(_, b)]) = (&a[..], &b[..]) else { continue };
            let Some((ratio, parts)) = exprs.near_multiple(*a, *b, 1e-5) else { continue };
            found += 1;
            let values = [("x", "0.625"), ("y", "0.75"), ("z", "1.5")];
            let wide = Balls(Extended::new(1024));
            let of = |id: ExprId| {
                let symbol = |s| {
                    let at = [x, y, z].iter().position(|v| v.symbol() == Some(s)).unwrap();
                    wide.0.number(&Number::from_decimal(values[at].1).unwrap())
                };
                let symbols: Vec<_> = exprs.symbols_of(&[id]);
                let known: Vec<_> = symbols.iter().map(|&s| (s, symbol(s))).collect();
                let find = |s| known.iter().find(|k| k.0 == s).unwrap().1.clone();
                exprs.evaluate(&wide, &[id], find).remove(0).expect("a value")
            };
            let times = exprs.at(exprs.of_number(ratio)) * exprs.at(*a);
            let difference = of((exprs.at(*b) - times).id).to_f64();
            let sum: f64 = parts
                .iter()
                .map(|(number, e)| {
                    let at = |s| [x, y, z].iter().position(|v| v.symbol() == Some(s)).unwrap();
                    let symbols = exprs.symbols_of(&[*e]);
                    let known: Vec<_> =
                        symbols.iter().map(|&s| (s, [0.625, 0.75, 1.5][at(s)])).collect();
                    let value = |s| known.iter().find(|k| k.0 == s).unwrap().1;
                    number.to_f64() * exprs.eval_f64(&[*e], value)[0]
                })
                .sum();
            assert!(
                (sum - difference).abs() <= 1e-12 * difference.abs(),
                "{case}: {sum:e} {difference:e}"
            );
        }
        assert!(found > 200, "{found}");
    }
}
