//! Canonical construction: every sum is a constant plus coefficients times
//! distinct terms, every product a set of distinct bases with exponents, both
//! sorted, so that like terms meet and equal expressions are one node.
//!
//! Numbers multiply into sums (2·(a+b) is 2a+2b), products are not expanded,
//! and a sum inside a product is primitive: its content and sign move to the
//! front, so that (a−b)·(b−a) is −(a−b)² and (2a+2b)/(a+b) is 2; content as long as the
//! numbers that this makes are doubles. Rules hold wherever the operands are
//! defined; x/x is 1 also where x is 0.

use crate::arena::{Arena, ExprId, FLAT_LIMIT, Item, Items, Node, NumberId};
use crate::function::{Function, Parity};
use crate::number::Number;
use crate::symbol::Symbol;

impl Arena {
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.sum(&[a, b])
    }

    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.linear(NumberId::ZERO, &[item(a, NumberId::ONE), item(b, NumberId::MINUS_ONE)])
    }

    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.scale(NumberId::MINUS_ONE, a)
    }

    pub fn sum(&mut self, terms: &[ExprId]) -> ExprId {
        let items: Items = terms.iter().map(|&e| item(e, NumberId::ONE)).collect();
        self.linear(NumberId::ZERO, &items)
    }

    /// constant + Σ number·expr.
    pub fn linear(&mut self, constant: NumberId, terms: &[Item]) -> ExprId {
        let mut constant = constant;
        let mut flat: Items = Items::new();
        for term in terms {
            match self.node(term.expr) {
                _ if term.number == NumberId::ZERO => {}
                Node::Number(value) => {
                    let value = self.multiply_ids(term.number, value);
                    constant = self.add_ids(constant, value);
                }
                Node::Sum { constant: inner, start, len } if len as usize <= FLAT_LIMIT => {
                    let inner = self.multiply_ids(term.number, inner);
                    constant = self.add_ids(constant, inner);
                    for at in start..start + len {
                        let part = self.items(at, 1)[0];
                        let number = self.multiply_ids(term.number, part.number);
                        flat.push(item(part.expr, number));
                    }
                }
                _ => flat.push(*term),
            }
        }
        self.collect(&mut flat);
        match flat.as_slice() {
            [] => self.of_number_id(constant),
            [single] if constant == NumberId::ZERO && single.number == NumberId::ONE => single.expr,
            _ => self.intern(Node::Sum { constant, start: 0, len: 0 }, &flat),
        }
    }

    /// Sorts by expression, adds the numbers of equal ones, drops zeros.
    fn collect(&mut self, items: &mut Items) {
        if !items.windows(2).all(|w| w[0].expr < w[1].expr) {
            items.sort_by_key(|i| i.expr);
            let mut kept = 0;
            for read in 1..items.len() {
                if items[read].expr == items[kept].expr {
                    items[kept].number = self.add_ids(items[kept].number, items[read].number);
                } else {
                    kept += 1;
                    items[kept] = items[read];
                }
            }
            items.truncate(kept + 1);
        }
        items.retain(|i| i.number != NumberId::ZERO);
    }

    /// number·expr.
    pub fn scale(&mut self, number: NumberId, expr: ExprId) -> ExprId {
        match number {
            NumberId::ONE => expr,
            NumberId::ZERO => ExprId::ZERO,
            _ => self.linear(NumberId::ZERO, &[item(expr, number)]),
        }
    }

    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if a == ExprId::ONE {
            return b;
        }
        if b == ExprId::ONE {
            return a;
        }
        self.monomial(NumberId::ONE, &[item(a, NumberId::ONE), item(b, NumberId::ONE)])
    }

    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.monomial(NumberId::ONE, &[item(a, NumberId::ONE), item(b, NumberId::MINUS_ONE)])
    }

    pub fn product(&mut self, factors: &[ExprId]) -> ExprId {
        let items: Items = factors.iter().map(|&e| item(e, NumberId::ONE)).collect();
        self.monomial(NumberId::ONE, &items)
    }

    pub fn powi(&mut self, base: ExprId, n: i64) -> ExprId {
        let n = self.number_id(Number::integer(n));
        self.monomial(NumberId::ONE, &[item(base, n)])
    }

    pub fn sqrt(&mut self, base: ExprId) -> ExprId {
        let half = Number::ratio(1, 2).unwrap_or(Number::ONE);
        let half = self.number_id(half);
        self.monomial(NumberId::ONE, &[item(base, half)])
    }

    pub fn pow(&mut self, base: ExprId, exponent: ExprId) -> ExprId {
        if let Node::Number(n) = self.node(exponent) {
            return self.monomial(NumberId::ONE, &[item(base, n)]);
        }
        if base == ExprId::ONE {
            return ExprId::ONE;
        }
        self.intern(Node::Power(base, exponent), &[])
    }

    /// number · Π expr^number.
    pub fn monomial(&mut self, coefficient: NumberId, factors: &[Item]) -> ExprId {
        let mut coefficient = coefficient;
        let mut flat = Items::new();
        for factor in factors {
            self.push_factor(&mut coefficient, &mut flat, *factor);
        }
        loop {
            let again = self.collect_factors(&mut flat);
            if again.is_empty() {
                break;
            }
            for factor in again {
                self.push_factor(&mut coefficient, &mut flat, factor);
            }
        }
        self.fold_number_powers(&mut coefficient, &mut flat);
        if coefficient == NumberId::ZERO {
            return ExprId::ZERO;
        }
        let product = match flat.as_slice() {
            [] => return self.of_number_id(coefficient),
            [single] if single.number == NumberId::ONE => single.expr,
            _ => self.intern(Node::Product { start: 0, len: 0 }, &flat),
        };
        self.scale(coefficient, product)
    }

    /// Adds the exponents of equal bases. Returns what can be taken apart
    /// further, now that they are added: √(xy)·√(xy) has become xy.
    fn collect_factors(&mut self, flat: &mut Items) -> Items {
        let rooted = flat.iter().any(|factor| !self.value(factor.number).is_integer());
        let powers = flat.iter().any(|factor| matches!(self.node(factor.expr), Node::Power(..)));
        self.collect(flat);
        let mut again = Items::new();
        if powers {
            self.merge_powers(flat, &mut again);
        }
        if rooted {
            let mut kept = Items::new();
            for &factor in flat.iter() {
                let apart = self.value(factor.number).is_integer() && self.comes_apart(factor.expr);
                if apart { again.push(factor) } else { kept.push(factor) }
            }
            *flat = kept;
        }
        again
    }

    /// Whether an integer power of it is not one factor.
    fn comes_apart(&mut self, base: ExprId) -> bool {
        match self.node(base) {
            Node::Sum { constant: NumberId::ZERO, len: 1, .. } => true,
            Node::Sum { .. } => self.primitive(base).1 != base,
            Node::Product { len, .. } => len as usize <= FLAT_LIMIT,
            _ => false,
        }
    }

    /// x^y·x^z = x^(y+z), also where one of the exponents is a number. What
    /// comes of it goes to `again`.
    fn merge_powers(&mut self, flat: &mut Items, again: &mut Items) {
        let mut at = 0;
        while at < flat.len() {
            let Item { expr, number } = flat[at];
            let Node::Power(base, exponent) = self.node(expr) else {
                at += 1;
                continue;
            };
            let mut constant = NumberId::ZERO;
            let mut exponents: Items = Items::from_slice(&[item(exponent, number)]);
            let mut kept = Items::new();
            for (place, other) in flat.iter().enumerate() {
                match self.node(other.expr) {
                    _ if place == at => {}
                    Node::Power(b, e) if b == base && self.value(other.number).is_integer() => {
                        exponents.push(item(e, other.number));
                    }
                    _ if other.expr == base => constant = other.number,
                    _ => kept.push(*other),
                }
            }
            let alone =
                exponents.len() == 1 && constant == NumberId::ZERO && number == NumberId::ONE;
            if alone || !self.value(number).is_integer() {
                at += 1;
                continue;
            }
            let total = self.linear(constant, &exponents);
            let whole = self.pow(base, total);
            again.push(item(whole, NumberId::ONE));
            *flat = kept;
            at = 0;
        }
    }

    /// Adds base^exponent to a monomial, taken apart as far as powers allow.
    fn push_factor(&mut self, coefficient: &mut NumberId, flat: &mut Items, factor: Item) {
        let Item { expr: base, number: exponent } = factor;
        if exponent == NumberId::ZERO {
            return;
        }
        let integer = self.value(exponent).as_integer();
        match self.node(base) {
            Node::Number(value) => match integer {
                Some(n) => self.multiply_power(coefficient, flat, value, n),
                None => flat.push(factor),
            },
            Node::Sum { constant: NumberId::ZERO, start, len: 1 } => {
                let inner = self.items(start, 1)[0];
                match integer {
                    Some(n) => {
                        self.multiply_power(coefficient, flat, inner.number, n);
                        self.push_factor(coefficient, flat, item(inner.expr, exponent));
                    }
                    None => self.push_root(coefficient, flat, inner, factor),
                }
            }
            Node::Sum { .. } => match integer {
                Some(n) => {
                    let (content, primitive) = self.primitive(base);
                    self.multiply_power(coefficient, flat, content, n);
                    flat.push(item(primitive, exponent));
                }
                None => flat.push(factor),
            },
            Node::Product { start, len } => {
                let single_root =
                    len == 1 && !self.value(self.items(start, 1)[0].number).is_integer();
                if (integer.is_some() && len as usize <= FLAT_LIMIT) || single_root {
                    for at in start..start + len {
                        let part = self.items(at, 1)[0];
                        let number = self.multiply_ids(part.number, exponent);
                        let whole = item(part.expr, number);
                        // A root that is undone shows its base, which may come
                        // apart in turn.
                        if self.value(number).is_integer() && !self.value(part.number).is_integer()
                        {
                            self.push_factor(coefficient, flat, whole);
                        } else {
                            flat.push(whole);
                        }
                    }
                } else {
                    flat.push(factor);
                }
            }
            Node::Power(inner, power) if integer.is_some() => {
                // (x^y)^n = x^(n·y) for integer n.
                let power = self.scale(exponent, power);
                let whole = self.pow(inner, power);
                match self.node(whole) {
                    Node::Power(..) => flat.push(item(whole, NumberId::ONE)),
                    _ => self.push_factor(coefficient, flat, item(whole, NumberId::ONE)),
                }
            }
            _ => flat.push(factor),
        }
    }

    /// coefficient *= value^n, or the unfolded power if that is 1/0 or too large.
    fn multiply_power(
        &mut self,
        coefficient: &mut NumberId,
        flat: &mut Items,
        value: NumberId,
        n: i64,
    ) {
        if value == NumberId::ONE {
            return;
        }
        match self.value(value).powi(n) {
            Some(power) => {
                let power = self.number_id(power);
                *coefficient = self.multiply_ids(*coefficient, power);
            }
            None => {
                self.overflowed |= !self.value(value).is_zero();
                let base = self.of_number_id(value);
                let exponent = self.number_id(Number::integer(n));
                flat.push(item(base, exponent));
            }
        }
    }

    /// (c·x)^e for a fractional e: a positive c with an exact root comes out.
    fn push_root(
        &mut self,
        coefficient: &mut NumberId,
        flat: &mut Items,
        inner: Item,
        whole: Item,
    ) {
        let (c, e) = (self.value(inner.number), self.value(whole.number));
        let root = match e.as_small() {
            Some((n, d)) if d > 0 && d <= 64 => c.root(d as u32).and_then(|r| r.powi(n)),
            _ => None,
        };
        match root {
            Some(root) => {
                let root = self.number_id(root);
                *coefficient = self.multiply_ids(*coefficient, root);
                self.push_factor(coefficient, flat, item(inner.expr, whole.number));
            }
            None => flat.push(whole),
        }
    }

    /// Numbers with exponents: integer parts and exact roots are folded.
    fn fold_number_powers(&mut self, coefficient: &mut NumberId, flat: &mut Items) {
        let mut at = 0;
        while at < flat.len() {
            let Item { expr, number } = flat[at];
            let Node::Number(value) = self.node(expr) else {
                at += 1;
                continue;
            };
            let exponent = self.value(number).clone();
            let Some((n, d)) = exponent.as_small() else {
                at += 1;
                continue;
            };
            let base = self.value(value).clone();
            if base.is_zero() && n > 0 {
                *coefficient = NumberId::ZERO;
            }
            // base^(n/d) = base^whole · base^(rest/d), 0 ≤ rest < d.
            let (whole, rest) = (n.div_euclid(d), n.rem_euclid(d));
            let folded = match (rest, d <= 64) {
                (0, _) => base.powi(whole),
                (_, true) => base.root(d as u32).and_then(|r| r.powi(n)),
                _ => None,
            };
            if let Some(folded) = folded {
                let folded = self.number_id(folded);
                *coefficient = self.multiply_ids(*coefficient, folded);
                flat.remove(at);
                continue;
            }
            if rest != 0
                && whole != 0
                && !base.is_negative()
                && let (Some(outer), Some(inner)) = (base.powi(whole), Number::ratio(rest, d))
            {
                let outer = self.number_id(outer);
                *coefficient = self.multiply_ids(*coefficient, outer);
                flat[at].number = self.number_id(inner);
            }
            at += 1;
        }
    }

    /// A sum as content × primitive part: coprime integer coefficients, the
    /// first positive.
    pub(crate) fn primitive(&mut self, sum: ExprId) -> (NumberId, ExprId) {
        let Node::Sum { constant, start, len } = self.node(sum) else {
            return (NumberId::ONE, sum);
        };
        if len as usize > FLAT_LIMIT {
            return (NumberId::ONE, sum);
        }
        let first = self.items(start, len)[0].number;
        if first == NumberId::ONE && constant == NumberId::ZERO {
            // The common case: nothing to take out if all are integers.
            let integers = self.items(start, len).iter().all(|i| self.value(i.number).is_integer());
            if integers {
                return (NumberId::ONE, sum);
            }
        }
        if let Some(&known) = self.primitives.get(&sum) {
            return known;
        }
        let mut content = self.value(constant).abs();
        for part in self.items(start, len) {
            content = if content.is_zero() {
                self.value(part.number).abs()
            } else {
                content.gcd(self.value(part.number))
            };
        }
        // Many decimals of many digits have next to nothing in common: what is left when that is taken
        // out would be integers beyond all doubles. The sign is.
        let is_compact = content.is_compact()
            && self.value(constant).is_compact()
            && self.items(start, len).iter().all(|part| self.value(part.number).is_compact());
        if !is_compact {
            content = Number::ONE;
        }
        if self.value(first).is_negative() {
            content = content.neg();
        }
        let result = match content.recip() {
            Some(inverse) if !content.is_one() => {
                let inverse = self.number_id(inverse);
                let primitive = self.scale(inverse, sum);
                (self.number_id(content), primitive)
            }
            _ => (NumberId::ONE, sum),
        };
        self.primitives.insert(sum, result);
        result
    }

    /// Whether the expression's leading coefficient is negative.
    fn leads_negative(&self, id: ExprId) -> bool {
        match self.node(id) {
            Node::Number(n) => self.value(n).is_negative(),
            // A longer sum does not take a sign in: negating it would only wrap it.
            Node::Sum { start, len, .. } if len as usize <= FLAT_LIMIT => {
                self.items(start, len).first().is_some_and(|i| self.value(i.number).is_negative())
            }
            _ => false,
        }
    }

    /// A function of its arguments, folded where its value is exact.
    pub fn call(&mut self, function: Function, arguments: &[ExprId]) -> ExprId {
        match (function, arguments) {
            (Function::If, &[c, a, b]) => self.choose(c, a, b),
            (Function::Min | Function::Max, _) => self.extreme(function, arguments),
            (Function::And | Function::Or, _) => self.junction(function, arguments),
            (Function::Atan2, &[y, x]) => match (y, self.as_number(x)) {
                (ExprId::ZERO, Some(n)) if !n.is_negative() && !n.is_zero() => ExprId::ZERO,
                _ => self.apply(function, arguments),
            },
            (_, &[x]) => self.call_one(function, x),
            _ => self.apply(function, arguments),
        }
    }

    fn apply(&mut self, function: Function, arguments: &[ExprId]) -> ExprId {
        let items: Items = arguments.iter().map(|&e| item(e, NumberId::ZERO)).collect();
        self.intern(Node::Call { function, start: 0, len: 0 }, &items)
    }

    fn call_one(&mut self, function: Function, x: ExprId) -> ExprId {
        if let Some(value) = self.exact_value(function, x) {
            return value;
        }
        match function.parity() {
            Parity::Even if self.leads_negative(x) => {
                let x = self.neg(x);
                self.call_one(function, x)
            }
            Parity::Odd if self.leads_negative(x) => {
                let x = self.neg(x);
                let value = self.call_one(function, x);
                self.neg(value)
            }
            _ => self.apply(function, &[x]),
        }
    }

    fn exact_value(&mut self, function: Function, x: ExprId) -> Option<ExprId> {
        use Function::*;
        if let Some(n) = self.as_number(x).cloned() {
            let (zero, one) = (n.is_zero(), n.is_one());
            let truth = |holds: bool| Some(if holds { ExprId::ONE } else { ExprId::ZERO });
            return match function {
                Sin | Tan | Asin | Atan | Sinh | Tanh if zero => Some(ExprId::ZERO),
                Cos | Cosh | Exp if zero => Some(ExprId::ONE),
                Log if one => Some(ExprId::ZERO),
                Abs => Some(self.number(n.abs())),
                Sign => {
                    let sign = if zero { 0 } else { 1 - 2 * n.is_negative() as i64 };
                    Some(self.number(Number::integer(sign)))
                }
                Negative => truth(n.is_negative()),
                NotPositive => truth(n.is_negative() || zero),
                Floor => n.floor().map(|n| self.number(Number::integer(n))),
                _ => None,
            };
        }
        match (function, self.node(x)) {
            (Log, Node::Call { function: Exp, start, .. })
            | (Exp, Node::Call { function: Log, start, .. }) => Some(self.items(start, 1)[0].expr),
            (Abs, Node::Call { function: Abs, .. }) => Some(x),
            (Sin | Cos, _) => {
                let quarters = self.quarter_turns(x)?.rem_euclid(4);
                let value = match (function, quarters) {
                    (Sin, 0 | 2) | (Cos, 1 | 3) => 0,
                    (Sin, 1) | (Cos, 0) => 1,
                    _ => -1,
                };
                Some(self.number(Number::integer(value)))
            }
            _ => None,
        }
    }

    /// k if the expression is k·π/2.
    fn quarter_turns(&self, x: ExprId) -> Option<i64> {
        let pi = self.symbol_expr(Symbol::PI);
        let coefficient = match self.node(x) {
            _ if x == pi => Number::ONE,
            Node::Sum { constant: NumberId::ZERO, start, len: 1 }
                if self.items(start, 1)[0].expr == pi =>
            {
                self.value(self.items(start, 1)[0].number).clone()
            }
            _ => return None,
        };
        coefficient.mul(&Number::integer(2)).as_integer()
    }

    fn choose(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.as_number(c) {
            Some(n) if n.is_zero() => b,
            Some(_) => a,
            None if a == b => a,
            None => self.apply(Function::If, &[c, a, b]),
        }
    }

    fn extreme(&mut self, function: Function, arguments: &[ExprId]) -> ExprId {
        let mut number: Option<Number> = None;
        let mut rest: Vec<ExprId> = Vec::new();
        for &x in arguments {
            match self.as_number(x) {
                Some(n) => {
                    let better =
                        number.as_ref().is_none_or(|m| (n < m) == (function == Function::Min));
                    if better {
                        number = Some(n.clone());
                    }
                }
                None => rest.push(x),
            }
        }
        if let Some(number) = number {
            let number = self.number(number);
            rest.push(number);
        }
        rest.sort_unstable();
        rest.dedup();
        match rest.as_slice() {
            [single] => *single,
            _ => self.apply(function, &rest),
        }
    }

    fn junction(&mut self, function: Function, arguments: &[ExprId]) -> ExprId {
        // A number decides, or does not matter.
        let mut rest: Vec<ExprId> = Vec::new();
        for &x in arguments {
            match self.as_number(x).map(|n| !n.is_zero()) {
                Some(truth) if truth == (function == Function::Or) => return self.truth(truth),
                Some(_) => {}
                None => rest.push(x),
            }
        }
        rest.sort_unstable();
        rest.dedup();
        match rest.as_slice() {
            [] => self.truth(function == Function::And),
            [single] if self.is_condition(*single) => *single,
            _ => self.apply(function, &rest),
        }
    }

    fn truth(&self, holds: bool) -> ExprId {
        if holds { ExprId::ONE } else { ExprId::ZERO }
    }

    fn is_condition(&self, id: ExprId) -> bool {
        matches!(self.node(id), Node::Call { function, .. } if function.is_condition())
    }
}

pub(crate) fn item(expr: ExprId, number: NumberId) -> Item {
    Item { expr, number }
}
