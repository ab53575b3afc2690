//! Replacing symbols by expressions, everywhere at once.

use crate::arena::{Arena, ExprId, Exprs, Items, Node, NumberId};
use crate::build::item;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;

impl Exprs {
    /// The expressions with each named symbol replaced, all at once (what is
    /// put in is not replaced again).
    pub fn substitute(&self, roots: &[ExprId], replacements: &[(Symbol, ExprId)]) -> Vec<ExprId> {
        let map: FxHashMap<Symbol, ExprId> = replacements.iter().copied().collect();
        self.substitute_with(roots, |symbol| map.get(&symbol).copied())
    }

    /// The same, asking for each symbol's replacement.
    pub fn substitute_with(
        &self,
        roots: &[ExprId],
        map: impl Fn(Symbol) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        self.arena.borrow_mut().substitute(roots, &map)
    }
}

impl Arena {
    pub fn substitute(
        &mut self,
        roots: &[ExprId],
        map: &dyn Fn(Symbol) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        let order = self.reachable(roots);
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in order {
            let of =
                |e: ExprId, image: &FxHashMap<ExprId, ExprId>| image.get(&e).copied().unwrap_or(e);
            let new = match self.node(id) {
                Node::Number(_) => id,
                Node::Symbol(symbol) => map(symbol).unwrap_or(id),
                _ if self.children(id).iter().all(|c| !image.contains_key(c)) => id,
                Node::Sum { constant, start, len } => {
                    let items: Items = self
                        .items(start, len)
                        .iter()
                        .map(|i| item(of(i.expr, &image), i.number))
                        .collect();
                    self.linear(constant, &items)
                }
                Node::Product { start, len } => {
                    let items: Items = self
                        .items(start, len)
                        .iter()
                        .map(|i| item(of(i.expr, &image), i.number))
                        .collect();
                    self.monomial(NumberId::ONE, &items)
                }
                Node::Power(base, exponent) => self.pow(of(base, &image), of(exponent, &image)),
                Node::Call { function, start, len } => {
                    let arguments: Vec<ExprId> =
                        self.items(start, len).iter().map(|i| of(i.expr, &image)).collect();
                    self.call(function, &arguments)
                }
                Node::Solve { solve, index } => {
                    let data = self.solves.get(solve);
                    let right: Vec<ExprId> = data.right.iter().map(|&e| of(e, &image)).collect();
                    let k: Vec<ExprId> =
                        self.solves.matrix(data.matrix).iter().map(|&e| of(e, &image)).collect();
                    self.solve(&k, &right)[index as usize]
                }
            };
            if new != id {
                image.insert(id, new);
            }
        }
        roots.iter().map(|&root| image.get(&root).copied().unwrap_or(root)).collect()
    }
}
