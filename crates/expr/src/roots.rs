//! Roots of what is frozen on a branch.
//!
//! The base of |u|^p, p no integer, is never below 0. Frozen as s u it is, beyond the place where
//! the branch turns, and there (s u)^p has no value: no step could reach over the turn, and the
//! turn, which is looked for in steps that were taken, would not be found. So roots of a base that
//! its branch keeps from being below 0 are frozen as |b|^p, which is the same on that branch and
//! has a value beyond. (So would (b²)^(p/2); but its derivative has none at 0.)
//!
//! That holds of a base by its form (|u|, max(u, 0), products and sums of such), and in a branch
//! of an `if` by its condition: of (x − 1)^p in `if(x > 1, (x − 1)^p, 0)`. Of any other base a root
//! has no value beyond 0 for a reason, and keeps it. So have poles that no motion comes through,
//! p ≤ −1.

use crate::arena::{Arena, ExprId, Exprs, Item, Items, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::number::Number;
use crate::symbol::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

/// A function and the sign it has, or 0: 1 or −1.
pub(crate) type Side = (ExprId, i64);

impl Exprs {
    /// Those among expressions, each after its operands, that are never below 0, by their form;
    /// none if no root is among them.
    pub(crate) fn bases_of_roots(&self, order: &[ExprId]) -> FxHashSet<ExprId> {
        let arena = &mut *self.arena.lock();
        match order.iter().any(|&id| arena.has_roots(id)) {
            true => arena.never_negative(order, &[]),
            false => FxHashSet::default(),
        }
    }

    /// A product or power with the roots of bases in `never_negative` that are replaced by others
    /// in a way that gives them a value beyond 0; `None` if it has none.
    pub(crate) fn with_frozen_roots(
        &self,
        id: ExprId,
        never_negative: &FxHashSet<ExprId>,
        image: &FxHashMap<ExprId, ExprId>,
    ) -> Option<ExprId> {
        let bases: Vec<ExprId> = self.arena.lock().roots_of(id);
        let is_one = |base: &ExprId| {
            never_negative.contains(base) && self.replace_nodes(&[*base], image)[0] != *base
        };
        let bases: Vec<ExprId> = bases.into_iter().filter(is_one).collect();
        (!bases.is_empty()).then(|| self.beyond(id, &bases, image))
    }

    /// An expression in a branch on which functions have these signs, with its roots of them as they are frozen.
    pub(crate) fn with_roots_on_branch(&self, root: ExprId, sides: &[Side]) -> ExprId {
        let (order, by_form, on_branch) = {
            let arena = &mut *self.arena.lock();
            let order = arena.reachable(&[root]);
            if sides.is_empty() || !order.iter().any(|&id| arena.has_roots(id)) {
                return root;
            }
            let by_form = arena.never_negative(&order, &[]);
            let on_branch = arena.never_negative(&order, sides);
            (order, by_form, on_branch)
        };
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in order {
            let mut bases = self.arena.lock().roots_of(id);
            bases.retain(|base| on_branch.contains(base) && !by_form.contains(base));
            if !bases.is_empty() {
                let new = self.beyond(id, &bases, &image);
                image.insert(id, new);
            }
        }
        self.replace_nodes(&[root], &image)[0]
    }

    /// A product or power with what is in it replaced, and b^p for |b|^p of some bases.
    fn beyond(&self, id: ExprId, bases: &[ExprId], image: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let replaced = |id: ExprId| self.replace_nodes(&[id], image)[0];
        let node = self.arena.lock().node(id);
        match node {
            Node::Product { start, len } => {
                let items = self.arena.lock().items(start, len).to_vec();
                let factor = |part: Item| {
                    let is_root = !self.arena.lock().value(part.number).is_integer();
                    if !is_root || !bases.contains(&part.expr) {
                        return item(replaced(part.expr), part.number);
                    }
                    let exponent = self.arena.lock().of_number_id(part.number);
                    item(self.root_of(part.expr, exponent, image), NumberId::ONE)
                };
                let items: Items = items.into_iter().map(factor).collect();
                self.arena.lock().monomial(NumberId::ONE, &items)
            }
            Node::Power(base, exponent) => self.root_of(base, replaced(exponent), image),
            _ => id,
        }
    }

    /// |b|^p; of a choice, the choice of those, so that a branch on which b is 0 is a number.
    fn root_of(&self, base: ExprId, exponent: ExprId, image: &FxHashMap<ExprId, ExprId>) -> ExprId {
        // Of |u| it is that of u, on any branch.
        let own = self.arena.lock().arguments_of(base, Function::Abs).map_or(base, |u| u[0]);
        let base = self.replace_nodes(&[own], image)[0];
        let root = |base: ExprId| self.pow(self.call(Function::Abs, &[base]), exponent);
        let choice = self.arena.lock().arguments_of(base, Function::If);
        match choice {
            Some(list) => self.call(Function::If, &[list[0], root(list[1]), root(list[2])]),
            None => root(base),
        }
    }

    /// What is known of the guards of comparisons where a condition made of them holds, or does
    /// not: their signs.
    pub(crate) fn sides_of(&self, condition: ExprId, holds: bool) -> Vec<Side> {
        self.arena.lock().sides_of(condition, holds)
    }
}

impl Arena {
    /// The bases of what may be a root: b^p where p is no integer, or no number.
    fn roots_of(&self, id: ExprId) -> Vec<ExprId> {
        match self.node(id) {
            Node::Product { start, len } => {
                let is_root = |part: &&Item| {
                    let p = self.value(part.number);
                    !p.is_integer() && !p.add(&Number::ONE).is_negative()
                };
                self.items(start, len).iter().filter(is_root).map(|part| part.expr).collect()
            }
            Node::Power(base, _) => vec![base],
            _ => Vec::new(),
        }
    }

    fn has_roots(&self, id: ExprId) -> bool {
        match self.node(id) {
            Node::Product { .. } => !self.roots_of(id).is_empty(),
            Node::Power(..) => true,
            _ => false,
        }
    }

    /// The arguments of a call of a function.
    fn arguments_of(&self, id: ExprId, function: Function) -> Option<Vec<ExprId>> {
        match self.node(id) {
            Node::Call { function: own, start, len } if own == function => {
                Some(self.items(start, len).iter().map(|argument| argument.expr).collect())
            }
            _ => None,
        }
    }

    /// Those of expressions, each after its operands, that are never below 0 where they have a
    /// value and functions have these signs.
    fn never_negative(&mut self, order: &[ExprId], sides: &[Side]) -> FxHashSet<ExprId> {
        let mut found: FxHashSet<ExprId> = FxHashSet::default();
        for &id in order {
            if self.is_never_negative(id, &found) || self.is_on_side(id, sides) {
                found.insert(id);
            }
        }
        found
    }

    /// The same of one, where that is known of its operands.
    fn is_never_negative(&mut self, id: ExprId, known: &FxHashSet<ExprId>) -> bool {
        match self.node(id) {
            Node::Number(number) => !self.value(number).is_negative(),
            Node::Symbol(symbol) => symbol == Symbol::PI,
            Node::Sum { constant, start, len } => {
                let is_positive = |number| !self.value(number).is_negative();
                is_positive(constant)
                    && self
                        .items(start, len)
                        .iter()
                        .all(|part| is_positive(part.number) && known.contains(&part.expr))
            }
            // A root has no value below 0.
            Node::Product { start, len } => self.items(start, len).iter().all(|part| {
                let p = self.value(part.number);
                p.is_even() || !p.is_integer() || known.contains(&part.expr)
            }),
            Node::Power(base, _) => known.contains(&base),
            Node::Call { function, start, len } => {
                let list: Vec<ExprId> = self.items(start, len).iter().map(|i| i.expr).collect();
                let is_known = |id: &ExprId| known.contains(id);
                match function {
                    Function::Abs | Function::Exp | Function::Cosh | Function::Acos => true,
                    Function::Negative | Function::NotPositive => true,
                    Function::And | Function::Or => true,
                    Function::Max => list.iter().any(is_known),
                    Function::Min => list.iter().all(is_known),
                    Function::If => (1..list.len()).all(|k| {
                        let sides = self.sides_of(list[0], k == 1);
                        is_known(&list[k]) || self.is_on_side(list[k], &sides)
                    }),
                    _ => false,
                }
            }
            Node::Solve { .. } | Node::Restricted { .. } => false,
        }
    }

    /// Whether it is one of these functions but for a positive factor, or one of its sign.
    fn is_on_side(&mut self, id: ExprId, sides: &[Side]) -> bool {
        sides.iter().any(|&(guard, sign)| {
            let (own, base) = self.primitive(id);
            let (other, guard) = self.primitive(guard);
            let is_same = |arena: &Arena, by: i64| {
                let sign = Number::integer(sign * by);
                !arena.value(own).mul(arena.value(other)).mul(&sign).is_negative()
            };
            // What has no common factor may have any sign in front.
            (base == guard && is_same(self, 1))
                || (self.scale(NumberId::MINUS_ONE, base) == guard && is_same(self, -1))
        })
    }

    /// See [`sides_of`](Exprs::sides_of).
    fn sides_of(&self, condition: ExprId, holds: bool) -> Vec<Side> {
        let (mut found, mut open) = (Vec::new(), vec![condition]);
        while let Some(id) = open.pop() {
            let Node::Call { function, start, len } = self.node(id) else { continue };
            let list = self.items(start, len).iter().map(|part| part.expr);
            match function {
                Function::Negative | Function::NotPositive => {
                    found.extend(list.map(|guard| (guard, if holds { -1 } else { 1 })));
                }
                Function::And if holds => open.extend(list),
                Function::Or if !holds => open.extend(list),
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On its branch a frozen root is what it was; beyond the turn it has a value where its branch
    /// keeps the base from being below 0, and none where the base is below 0 for itself.
    #[test]
    fn frozen_roots_have_values_beyond_turns_that_bound_them() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let number = |n: i64, d: i64| exprs.of_number(Number::ratio(n, d).expect("a number"));
        let root = |base: ExprId, n, d| exprs.at(exprs.pow(base, number(n, d)));
        let call = |f: Function, list: &[ExprId]| exprs.at(exprs.call(f, list));
        let edge = (x - exprs.integer(1)).id;
        let positive = call(Function::Negative, &[(-exprs.at(edge)).id]);
        let inside = |then: ExprId| call(Function::If, &[positive.id, then, ExprId::ZERO]);
        let largest = |a: ExprId| call(Function::Max, &[a, ExprId::ZERO]);
        let p = exprs.variable("p");
        let both = call(Function::And, &[positive.id, call(Function::Negative, &[(-y).id]).id]);
        let nested = call(Function::If, &[both.id, root(edge, 1, 2).id, ExprId::ZERO]);
        // With a value on both sides of x = 1, frozen on either.
        let passed = [
            root(exprs.at(edge).abs().id, 3, 2),
            root(exprs.at(edge).abs().id, -1, 2) * exprs.at(edge),
            root(largest(edge).id, 7, 10),
            root((exprs.at(edge).abs() * y.powi(2) * 3).id, 5, 4),
            root((largest(edge) + exprs.at(edge).abs()).id, 1, 3),
            exprs.at(exprs.pow(exprs.at(edge).abs().id, p.id)),
            inside(root(edge, 3, 2).id),
            inside(root((2 * exprs.at(edge)).id, 3, 2).id),
            inside((inside(root(edge, 1, 2).id) + root(edge, 5, 2)).id),
            nested,
            root(call(Function::If, &[positive.id, edge, (-exprs.at(edge)).id]).id, 1, 2),
        ];
        // With a value on one side of its zero only, whatever is frozen.
        let bounded = [
            root(edge, 3, 2) + y.abs(),
            root((exprs.at(edge).abs() - exprs.integer(2)).id, 1, 2),
            inside(root((x - exprs.integer(2)).id, 3, 2).id),
            inside(root((-exprs.at(edge)).id, 3, 2).id),
        ];
        let symbols = [x, y, p].map(|e| e.symbol().expect("a symbol"));
        let at = |x: f64| {
            move |s: Symbol| [x, 0.7, 1.3][symbols.iter().position(|o| *o == s).expect("known")]
        };
        let frozen_at = |f: ExprId, own: f64, there: f64| {
            let (frozen, switches) = exprs.freeze_switches(&[f]);
            let modes: Vec<f64> =
                switches.iter().map(|s| exprs.eval_f64(&[s.plain], at(own))[0]).collect();
            let value = |s: Symbol| match switches.iter().position(|w| w.mode == s) {
                Some(k) => modes[k],
                None => at(there)(s),
            };
            exprs.eval_f64(&frozen, value)[0]
        };
        for (k, f) in passed.iter().enumerate() {
            for own in [0.25, 0.9, 1.1, 4.0] {
                let (plain, frozen) =
                    (exprs.eval_f64(&[f.id], at(own))[0], frozen_at(f.id, own, own));
                assert!((plain - frozen).abs() <= 1e-14 * plain.abs(), "{k}: {plain} {frozen}");
                assert!(frozen_at(f.id, own, 2.0 - own).is_finite(), "{k} from {own}");
            }
        }
        for (k, f) in bounded.iter().enumerate() {
            for own in [0.25, 0.9, 1.1, 1.4, 4.0] {
                let (plain, frozen) =
                    (exprs.eval_f64(&[f.id], at(own))[0], frozen_at(f.id, own, own));
                assert_eq!(plain.is_nan(), frozen.is_nan(), "{k} at {own}: {plain} {frozen}");
            }
        }
    }
}
