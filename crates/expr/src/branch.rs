//! Roots of squares on one branch: √(u²) is u where u > 0 and −u where u < 0.
//! Which of both it is cannot be seen in the expression; it is asked for, and
//! every answer that was used is handed back as an assumption.

use crate::arena::{ExprId, Exprs, Node, NumberId};
use crate::build::item;
use rustc_hash::FxHashMap;

/// Larger graphs are left as they are.
const MAX_NODES: usize = 2_000;

/// That an expression has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The expression.
    pub expr: ExprId,
    /// Whether it is positive; negative otherwise.
    pub positive: bool,
}

impl Exprs {
    /// The expression with √(u²) replaced by u or −u, by what is said of the sign
    /// of u (`true`: positive), and the assumptions made.
    ///
    /// ```
    /// # use dalembert_expr::Exprs;
    /// let exprs = Exprs::new();
    /// let (r, phi) = (exprs.constant("r"), exprs.variable("phi"));
    /// let length = (r * phi.cos() / (phi.cos().powi(2)).sqrt()).id;
    /// let (short, assumed) = exprs.on_branch(length, |_| Some(true));
    /// assert_eq!(exprs.to_text(short), "r");
    /// assert_eq!(assumed[0].expr, phi.cos().id);
    /// ```
    pub fn on_branch(
        &self,
        id: ExprId,
        sign: impl Fn(ExprId) -> Option<bool>,
    ) -> (ExprId, Vec<Assumption>) {
        let mut assumed: Vec<Assumption> = Vec::new();
        let mut found: FxHashMap<ExprId, bool> = FxHashMap::default();
        let nodes = self.arena.lock().reachable(&[id]);
        if nodes.len() > MAX_NODES {
            return (id, assumed);
        }
        let mut map: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for node in nodes {
            // Each root of a square, as (base, its root, exponent).
            let roots = self.arena.lock().roots_of_squares(node);
            for (factor, pieces) in roots {
                let mut whole = ExprId::ONE;
                let mut known = true;
                for (base, exponent) in pieces {
                    let positive = found.get(&base).copied().or_else(|| sign(base));
                    let Some(positive) = positive else {
                        known = false;
                        break;
                    };
                    found.insert(base, positive);
                    let side = if positive { NumberId::ONE } else { NumberId::MINUS_ONE };
                    let arena = &mut *self.arena.lock();
                    let signed = arena.scale(side, base);
                    let power = arena.monomial(NumberId::ONE, &[item(signed, exponent)]);
                    whole = arena.mul(whole, power);
                }
                if known {
                    map.insert(factor, whole);
                }
            }
        }
        if map.is_empty() {
            return (id, assumed);
        }
        let new = self.replace_factors(id, &map);
        if new != id {
            assumed.extend(found.into_iter().map(|(expr, positive)| Assumption { expr, positive }));
            assumed.sort_by_key(|a| a.expr);
        }
        (new, assumed)
    }

    /// Replaces factors base^exponent, named by the node that each is by itself.
    fn replace_factors(&self, id: ExprId, map: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let arena = &mut *self.arena.lock();
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for node in arena.reachable(&[id]) {
            let mut new = arena.substitute(&[node], &|_| None, &image)[0];
            if let Node::Product { start, len } = arena.node(new) {
                let items = arena.items(start, len).to_vec();
                let mut whole = ExprId::ONE;
                let mut changed = false;
                for factor in items {
                    let alone = arena.monomial(NumberId::ONE, &[factor]);
                    let replaced = map.get(&alone).copied();
                    changed |= replaced.is_some();
                    whole = arena.mul(whole, replaced.unwrap_or(alone));
                }
                if changed {
                    new = whole;
                }
            }
            if new != node {
                image.insert(node, new);
            }
        }
        image.get(&id).copied().unwrap_or(id)
    }
}

impl crate::arena::Arena {
    /// The factors (u^2e …)^(k/2) of a product, each as a node of its own, with
    /// the bases and exponents of its root.
    fn roots_of_squares(&mut self, node: ExprId) -> Vec<(ExprId, Vec<(ExprId, NumberId)>)> {
        let Node::Product { start, len } = self.node(node) else { return Vec::new() };
        let mut list = Vec::new();
        for factor in self.items(start, len).to_vec() {
            let exponent = self.value(factor.number).clone();
            let Node::Product { start, len } = self.node(factor.expr) else { continue };
            if exponent.is_integer() || !exponent.add(&exponent).is_integer() {
                continue;
            }
            let mut pieces = Vec::new();
            for inner in self.items(start, len).to_vec() {
                let power = self.value(inner.number).clone();
                if !power.is_even() {
                    pieces.clear();
                    break;
                }
                let whole = self.number_id(power.mul(&exponent));
                pieces.push((inner.expr, whole));
            }
            if !pieces.is_empty() {
                list.push((self.monomial(NumberId::ONE, &[factor]), pieces));
            }
        }
        list
    }
}
