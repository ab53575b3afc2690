//! Simplification for readers: identities of sine and cosine, common factors,
//! signs. It never changes a value where the original is defined, never
//! returns anything longer, and leaves alone what would take too long.
//!
//! Nodes are treated children first. A sum is split into groups of terms that
//! can meet (equal but for parameters and sin, cos); each group is tried as it
//! is and multiplied out ([`poly`]), both forms go through the identities
//! ([`trig`]) and the collection of common factors ([`factor`]), and the shortest
//! by [`measure`] is kept. At the end fractions are put together ([`quotient`]).
//! What more is known, relations that hold ([`modulo`]) or symbols in which a
//! polynomial is collected ([`collect`]), goes in from outside.

mod collect;
mod factor;
mod finish;
mod measure;
mod modulo;
mod poly;
mod quotient;
#[cfg(test)]
mod tests;
mod trig;

use crate::arena::{Arena, ExprId, Exprs, Items, Node, NumberId};
use crate::build::item;
use measure::Facts;
use poly::{Monomial, Poly, Term};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// More terms than this are not multiplied out.
const MAX_TERMS: usize = 300;
/// What one call may spend, in operations on monomials: well under a second.
const FUEL: u64 = 500_000;
/// Graphs of more nodes are returned as they are; nobody reads them.
const MAX_NODES: usize = 100_000;
/// Passes over the whole expression; two settle nearly everything.
const MAX_PASSES: usize = 3;

impl Exprs {
    /// A shorter form of the expression for readers, equal to it wherever it is
    /// defined; the expression itself if none is found.
    ///
    /// ```
    /// # use dalembert_expr::Exprs;
    /// let exprs = Exprs::new();
    /// let (m, l) = (exprs.constant("m"), exprs.constant("l"));
    /// let th = exprs.variable("theta");
    /// let (x, y) = (l * th.sin(), l * th.cos());
    /// let energy = m * (x.dt().powi(2) + y.dt().powi(2)) / 2;
    /// assert_eq!(exprs.to_text(exprs.simplify(energy.id)), "½·m·l²·θ̇²");
    /// ```
    pub fn simplify(&self, id: ExprId) -> ExprId {
        let arena = &mut *self.arena.lock();
        let mut simplifier = Simplifier::new(arena);
        if simplifier.nodes_of(id).len() > MAX_NODES {
            return id;
        }
        simplifier.simplify(id)
    }

    /// The same with fractions put together and cancelled, for one expression of
    /// many: what it takes is taken from the effort they have in common.
    ///
    /// ```
    /// # use dalembert_expr::{Effort, Exprs};
    /// let exprs = Exprs::new();
    /// let (a, b) = (exprs.variable("a"), exprs.variable("b"));
    /// let ratio = ((a.powi(2) - b.powi(2)) / (a + b) + 2 * b).id;
    /// let simple = exprs.simplify_with(ratio, &mut Effort::default());
    /// assert_eq!(exprs.to_source(simple), "a + b");
    /// ```
    pub fn simplify_with(&self, id: ExprId, effort: &mut Effort) -> ExprId {
        let arena = &mut *self.arena.lock();
        let mut simplifier = Simplifier::new(arena);
        let nodes = simplifier.nodes_of(id).len();
        if nodes > MAX_NODES || !effort.is_left() {
            effort.refused += 1;
            return id;
        }
        simplifier.fuel = FUEL.min(effort.left);
        simplifier.shares_effort = true;
        let fuel = simplifier.fuel;
        let simple = simplifier.simplify(id);
        let simple = simplifier.cancel(simple);
        let spent = (fuel - simplifier.fuel).saturating_add(nodes as u64);
        effort.left = effort.left.saturating_sub(spent);
        simple
    }

    /// The expression with products of sums and small powers of sums multiplied
    /// out, wherever that gives at most a few hundred terms.
    ///
    /// ```
    /// # use dalembert_expr::Exprs;
    /// let exprs = Exprs::new();
    /// let (a, b) = (exprs.variable("a"), exprs.variable("b"));
    /// let square = ((a + b).powi(2) - 2 * a * b).id;
    /// assert_eq!(exprs.to_source(exprs.expand(square)), "a^2 + b^2");
    /// ```
    pub fn expand(&self, id: ExprId) -> ExprId {
        let arena = &mut *self.arena.lock();
        Simplifier::new(arena).transform(id, |this, node| {
            let mut expanded = Poly::default();
            for term in this.arena.terms_of(node) {
                let Some(parts) = this.expand_term(&term, MAX_TERMS) else { return node };
                for (coefficient, monomial) in parts {
                    expanded.add(this.arena, monomial, coefficient);
                }
                if expanded.len() > MAX_TERMS {
                    return node;
                }
            }
            this.arena.build_sum(&expanded.into_terms())
        })
    }
}

/// What simplifying many expressions may take, all together, in operations on
/// monomials.
#[derive(Clone, Debug)]
pub struct Effort {
    left: u64,
    refused: usize,
}

impl Effort {
    /// Some of it.
    pub fn new(operations: u64) -> Effort {
        Effort { left: operations, refused: 0 }
    }

    /// Whether some is left.
    pub fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Counts an expression that is not even tried.
    pub fn refuse(&mut self) {
        self.refused += 1;
    }

    /// How many expressions were left as they are for want of it, or for their size.
    pub fn refused(&self) -> usize {
        self.refused
    }
}

impl Default for Effort {
    fn default() -> Effort {
        Effort::new(40 * FUEL)
    }
}

/// One simplification: the arena, what is known of its nodes, and how much
/// may still be spent.
struct Simplifier<'a> {
    arena: &'a mut Arena,
    facts: FxHashMap<ExprId, Facts>,
    fuel: u64,
    /// Whether it is one of many, so that what is spent must be what it costs.
    shares_effort: bool,
}

impl<'a> Simplifier<'a> {
    fn new(arena: &'a mut Arena) -> Self {
        Simplifier { arena, facts: FxHashMap::default(), fuel: FUEL, shares_effort: false }
    }

    fn simplify(&mut self, id: ExprId) -> ExprId {
        let mut best = id;
        for _ in 0..MAX_PASSES {
            let next = self.pass(best);
            if self.cost(next) >= self.cost(best) {
                break;
            }
            best = next;
        }
        let finished = self.finish(best);
        self.shorter(best, finished)
    }

    /// Fractions put together and cancelled where that is shorter.
    fn cancel(&mut self, id: ExprId) -> ExprId {
        let mut cancelled = false;
        let other = self.transform(id, |this, node| match this.as_fraction(node) {
            Some(fraction) if this.cost(fraction) < this.cost(node) => {
                cancelled = true;
                fraction
            }
            _ => node,
        });
        if !cancelled {
            return id;
        }
        let finished = self.finish(other);
        let other = self.shorter(other, finished);
        self.shorter(id, other)
    }

    /// Takes from what may be spent; false if nothing is left.
    fn spend(&mut self, amount: u64) -> bool {
        self.fuel = self.fuel.saturating_sub(amount);
        self.fuel > 0
    }

    fn pass(&mut self, root: ExprId) -> ExprId {
        self.transform(root, |this, node| match this.arena.node(node) {
            Node::Sum { constant: NumberId::ZERO, len: 1, .. } => node,
            Node::Sum { len, .. } if len as usize <= MAX_TERMS => this.simplify_sum(node),
            Node::Product { .. } => this.simplify_product(node),
            _ => node,
        })
    }

    /// Rebuilds an expression children first, with a rule for sums and products.
    /// What a solve node holds is not printed and not touched.
    fn transform(
        &mut self,
        root: ExprId,
        mut rule: impl FnMut(&mut Self, ExprId) -> ExprId,
    ) -> ExprId {
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.nodes_of(root) {
            let rebuilt = self.rebuild(id, &image);
            let new = match self.arena.node(rebuilt) {
                Node::Sum { .. } | Node::Product { .. } if self.fuel > 0 => rule(self, rebuilt),
                _ => rebuilt,
            };
            image.insert(id, new);
        }
        image[&root]
    }

    fn nodes_of(&self, root: ExprId) -> Vec<ExprId> {
        let mut found = rustc_hash::FxHashSet::default();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if found.insert(id)
                && !matches!(self.arena.node(id), Node::Solve { .. } | Node::Restricted { .. })
            {
                stack.extend(self.arena.children(id));
            }
        }
        let mut nodes: Vec<ExprId> = found.into_iter().collect();
        nodes.sort_unstable();
        nodes
    }

    fn rebuild(&mut self, id: ExprId, image: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let of = |e: ExprId| image.get(&e).copied().unwrap_or(e);
        let items = |arena: &Arena, start, len| -> Items {
            arena.items(start, len).iter().map(|i| item(of(i.expr), i.number)).collect()
        };
        match self.arena.node(id) {
            Node::Number(_) | Node::Symbol(_) | Node::Solve { .. } | Node::Restricted { .. } => id,
            Node::Sum { constant, start, len } => {
                let items = items(self.arena, start, len);
                self.arena.linear(constant, &items)
            }
            Node::Product { start, len } => {
                let items = items(self.arena, start, len);
                self.arena.monomial(NumberId::ONE, &items)
            }
            Node::Power(base, exponent) => self.arena.pow(of(base), of(exponent)),
            Node::Call { function, start, len } => {
                let arguments: Vec<ExprId> =
                    items(self.arena, start, len).iter().map(|i| i.expr).collect();
                self.arena.call(function, &arguments)
            }
        }
    }

    fn simplify_product(&mut self, id: ExprId) -> ExprId {
        let term = self.arena.as_term(id);
        match self.expand_term(&term, MAX_TERMS) {
            Some(parts) if parts.len() != 1 && self.has_a_chance(id, &parts) => {
                let poly = Poly::from_terms(self.arena, parts);
                let other = self.shortest(&poly);
                self.shorter(id, other)
            }
            _ => id,
        }
    }

    /// Whether the identities and common factors could make this shorter than
    /// the expression. They seldom do more than halve it.
    fn has_a_chance(&mut self, id: ExprId, expanded: &[Term]) -> bool {
        self.cost_of_terms(expanded) <= self.cost(id).saturating_mul(4)
    }

    fn simplify_sum(&mut self, id: ExprId) -> ExprId {
        let terms = self.arena.terms_of(id);
        let mut met: Vec<Term> = Vec::new();
        for group in self.groups(&terms) {
            if let [single] = group.as_slice() {
                met.push(single.clone());
                continue;
            }
            let poly = Poly::from_terms(self.arena, group.iter().cloned());
            let mut best = self.shortest(&poly);
            if let Some(expanded) = self.expand_all(&group)
                && expanded != poly
            {
                let other = self.shortest(&expanded);
                best = self.shorter(best, other);
            }
            met.extend(self.arena.terms_of(best));
        }
        let total = Poly::from_terms(self.arena, met);
        let other = self.shortest(&total);
        self.shorter(id, other)
    }

    fn expand_all(&mut self, terms: &[Term]) -> Option<Poly> {
        let mut poly = Poly::default();
        for term in terms {
            for (coefficient, monomial) in self.expand_term(term, MAX_TERMS)? {
                poly.add(self.arena, monomial, coefficient);
            }
            if poly.len() > MAX_TERMS {
                return None;
            }
        }
        Some(poly)
    }

    /// The terms in groups that can meet: those that, multiplied out, have
    /// parts which differ only in parameters and functions of angles.
    fn groups(&mut self, terms: &[Term]) -> Vec<Vec<Term>> {
        let mut leader: Vec<usize> = (0..terms.len()).collect();
        fn find(leader: &mut [usize], mut at: usize) -> usize {
            while leader[at] != at {
                leader[at] = leader[leader[at]];
                at = leader[at];
            }
            at
        }
        let mut owners: BTreeMap<Monomial, usize> = BTreeMap::new();
        for (at, term) in terms.iter().enumerate() {
            let parts = self.expand_term(term, MAX_TERMS).unwrap_or_else(|| vec![term.clone()]);
            for (_, monomial) in parts {
                let mut key = Monomial::new();
                for factor in monomial {
                    if !self.facts(factor.expr).constant && !self.is_wave(factor.expr) {
                        key.push(factor);
                    }
                }
                let owner = *owners.entry(key).or_insert(at);
                let (a, b) = (find(&mut leader, owner), find(&mut leader, at));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut groups: BTreeMap<usize, Vec<Term>> = BTreeMap::new();
        for (at, term) in terms.iter().enumerate() {
            groups.entry(find(&mut leader, at)).or_default().push(term.clone());
        }
        groups.into_values().collect()
    }

    /// The shortest expression found for a polynomial.
    fn shortest(&mut self, poly: &Poly) -> ExprId {
        let mut best: Option<(u64, ExprId)> = None;
        for form in self.reduce(poly) {
            let terms = form.into_terms();
            for id in [self.arena.build_sum(&terms), self.factor(&terms)] {
                let cost = self.cost(id);
                if best.is_none_or(|b| cost < b.0) {
                    best = Some((cost, id));
                }
            }
        }
        best.map_or(ExprId::ZERO, |b| b.1)
    }

    /// The second if it is shorter, else the first.
    fn shorter(&mut self, first: ExprId, second: ExprId) -> ExprId {
        if self.cost(second) < self.cost(first) { second } else { first }
    }
}
