//! Replacing symbols by expressions, everywhere at once.

use crate::arena::{Arena, ExprId, Exprs, Items, Node, NumberId};
use crate::build::item;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;

/// So many nodes of a large expression are worked on before the arena is let go.
pub(crate) const AT_ONCE: usize = 16;

impl Exprs {
    /// What a sum adds up to without the terms in which certain symbols occur: 3 + a of
    /// 3 + a + x y, where x and y are such symbols. Sums inside of products stay whole.
    pub fn part_without(&self, id: ExprId, symbol: impl Fn(Symbol) -> bool) -> ExprId {
        let mut kept = Vec::new();
        let mut open = vec![(ExprId::ONE, id)];
        while let Some((factor, id)) = open.pop() {
            if !self.symbols_of(&[id]).into_iter().any(&symbol) {
                kept.push(self.product(&[factor, id]));
                continue;
            }
            let arena = &mut *self.arena.lock();
            if let Node::Sum { constant, start, len } = arena.node(id) {
                let items = arena.items(start, len).to_vec();
                let constant = arena.of_number_id(constant);
                open.push((factor, constant));
                for item in items {
                    let number = arena.of_number_id(item.number);
                    open.push((arena.mul(factor, number), item.expr));
                }
            }
        }
        self.sum(&kept)
    }

    /// The expressions with each named symbol replaced, all at once (what is
    /// put in is not replaced again).
    pub fn substitute(&self, roots: &[ExprId], replacements: &[(Symbol, ExprId)]) -> Vec<ExprId> {
        let mut map: FxHashMap<Symbol, ExprId> = replacements.iter().copied().collect();
        let order = {
            let arena = &mut *self.arena.lock();
            // A symbol that stands for itself changes nothing.
            map.retain(|symbol, new| arena.node(*new) != Node::Symbol(*symbol));
            if map.is_empty() {
                return roots.to_vec();
            }
            arena.reachable(roots)
        };
        let map = |symbol: Symbol| map.get(&symbol).copied();
        self.in_parts(roots, &order, &map, &FxHashMap::default())
    }

    /// Large expressions take a while: the arena is let go in between, so that the work may be ended.
    fn in_parts(
        &self,
        roots: &[ExprId],
        order: &[ExprId],
        map: &dyn Fn(Symbol) -> Option<ExprId>,
        nodes: &FxHashMap<ExprId, ExprId>,
    ) -> Vec<ExprId> {
        let mut image = FxHashMap::default();
        for part in order.chunks(AT_ONCE) {
            self.arena.lock().images(part, map, nodes, &mut image);
        }
        roots.iter().map(|&root| image.get(&root).copied().unwrap_or(root)).collect()
    }

    /// The same, asking for each symbol's replacement.
    pub fn substitute_with(
        &self,
        roots: &[ExprId],
        map: impl Fn(Symbol) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        let symbols = self.symbols_of(roots).into_iter();
        let list: Vec<(Symbol, ExprId)> = symbols.filter_map(|s| Some((s, map(s)?))).collect();
        self.substitute(roots, &list)
    }

    /// The expressions with whole sub-expressions replaced.
    pub fn replace(&self, roots: &[ExprId], map: &[(ExprId, ExprId)]) -> Vec<ExprId> {
        self.replace_nodes(roots, &map.iter().copied().collect())
    }

    /// The expressions with whole nodes replaced.
    pub(crate) fn replace_nodes(
        &self,
        roots: &[ExprId],
        nodes: &FxHashMap<ExprId, ExprId>,
    ) -> Vec<ExprId> {
        if nodes.is_empty() {
            return roots.to_vec();
        }
        let order = self.arena.lock().reachable(roots);
        self.in_parts(roots, &order, &|_| None, nodes)
    }

    /// The solves of at most `largest` unknowns below an expression, operands
    /// first: the first component, the matrix and the right side.
    pub(crate) fn small_solves(
        &self,
        root: ExprId,
        largest: usize,
    ) -> Vec<(ExprId, Vec<ExprId>, Vec<ExprId>)> {
        let arena = &mut *self.arena.lock();
        let mut seen: Vec<u32> = Vec::new();
        for id in arena.reachable(&[root]) {
            if let Node::Solve { solve, .. } = arena.node(id)
                && !seen.contains(&solve)
                && arena.solves.get(solve).right.len() <= largest
            {
                seen.push(solve);
            }
        }
        let of = |solve: u32| {
            let data = arena.solves.get(solve);
            (data.first, arena.solves.matrix(data.matrix).to_vec(), data.right.clone())
        };
        seen.into_iter().map(of).collect()
    }
}

impl Arena {
    pub fn substitute(
        &mut self,
        roots: &[ExprId],
        map: &dyn Fn(Symbol) -> Option<ExprId>,
        nodes: &FxHashMap<ExprId, ExprId>,
    ) -> Vec<ExprId> {
        let order = self.reachable(roots);
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        self.images(&order, map, nodes, &mut image);
        roots.iter().map(|&root| image.get(&root).copied().unwrap_or(root)).collect()
    }

    /// What becomes of nodes, whose operands stand before them; only what changes is kept.
    fn images(
        &mut self,
        order: &[ExprId],
        map: &dyn Fn(Symbol) -> Option<ExprId>,
        nodes: &FxHashMap<ExprId, ExprId>,
        image: &mut FxHashMap<ExprId, ExprId>,
    ) {
        for &id in order {
            let of =
                |e: ExprId, image: &FxHashMap<ExprId, ExprId>| image.get(&e).copied().unwrap_or(e);
            let new = match self.node(id) {
                _ if nodes.contains_key(&id) => nodes[&id],
                Node::Number(_) => id,
                Node::Symbol(symbol) => map(symbol).unwrap_or(id),
                _ if self.children(id).iter().all(|c| !image.contains_key(c)) => id,
                Node::Sum { constant, start, len } => {
                    let items: Items = self
                        .items(start, len)
                        .iter()
                        .map(|i| item(of(i.expr, image), i.number))
                        .collect();
                    self.linear(constant, &items)
                }
                Node::Product { start, len } => {
                    let items: Items = self
                        .items(start, len)
                        .iter()
                        .map(|i| item(of(i.expr, image), i.number))
                        .collect();
                    self.monomial(NumberId::ONE, &items)
                }
                Node::Power(base, exponent) => self.pow(of(base, image), of(exponent, image)),
                Node::Call { function, start, len } => {
                    let arguments: Vec<ExprId> =
                        self.items(start, len).iter().map(|i| of(i.expr, image)).collect();
                    self.call(function, &arguments)
                }
                Node::Restricted { function, start, len } => {
                    let arguments: Vec<ExprId> =
                        self.items(start, len).iter().map(|i| of(i.expr, image)).collect();
                    self.restricted_of(function, &arguments)
                }
                Node::Solve { solve, index } => {
                    let data = self.solves.get(solve);
                    let right: Vec<ExprId> = data.right.iter().map(|&e| of(e, image)).collect();
                    let k: Vec<ExprId> =
                        self.solves.matrix(data.matrix).iter().map(|&e| of(e, image)).collect();
                    self.solve(&k, &right)[index as usize]
                }
            };
            if new != id {
                image.insert(id, new);
            }
        }
    }
}
