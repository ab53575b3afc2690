//! An expression as a sum of terms.

use crate::arena::{Arena, ExprId, Exprs, Node};
use crate::symbol::SymbolKind;
use rustc_hash::FxHashSet;

/// No more terms than this are made out of products.
const MOST: usize = 4096;

impl Exprs {
    /// Terms whose sum is the expression: those of sums in sums, and of a sum times factors
    /// that are constant.
    ///
    /// ```
    /// # use dalembert_expr::Exprs;
    /// let exprs = Exprs::new();
    /// let (a, b) = (exprs.variable("a"), exprs.variable("b"));
    /// let terms = exprs.terms(((a.powi(2) + b.powi(2) + 3) * exprs.constant("m")).id);
    /// assert_eq!(terms.len(), 3);
    /// ```
    pub fn terms(&self, id: ExprId) -> Vec<ExprId> {
        let arena = &mut *self.arena.lock();
        let mut terms = Vec::new();
        arena.split(id, &[], &mut terms);
        terms
    }
}

impl Arena {
    /// The terms of `id` times constant factors.
    fn split(&mut self, id: ExprId, factors: &[ExprId], terms: &mut Vec<ExprId>) {
        let mut whole = factors.to_vec();
        if terms.len() < MOST {
            match self.node(id) {
                Node::Sum { constant, start, len } => {
                    let items: Vec<_> = self
                        .items(start, len)
                        .iter()
                        .map(|item| (item.expr, item.number))
                        .collect();
                    let constant = self.value(constant).clone();
                    let constant = self.number(constant);
                    if constant != ExprId::ZERO {
                        whole.push(constant);
                        terms.push(self.product(&whole));
                        whole.pop();
                    }
                    for (expr, number) in items {
                        let number = self.value(number).clone();
                        let number = self.number(number);
                        whole.push(number);
                        self.split(expr, &whole, terms);
                        whole.pop();
                    }
                    return;
                }
                Node::Product { start, len } => {
                    let bases: Vec<ExprId> =
                        self.items(start, len).iter().map(|i| i.expr).collect();
                    let moving: Vec<ExprId> =
                        bases.into_iter().filter(|&base| self.is_moving(base)).collect();
                    // One sum, to the first power, times what is constant.
                    if let [sum] = moving[..]
                        && matches!(self.node(sum), Node::Sum { .. })
                    {
                        let rest = self.div(id, sum);
                        if !self.is_moving(rest) {
                            whole.push(rest);
                            self.split(sum, &whole, terms);
                            return;
                        }
                    }
                }
                _ => {}
            }
        }
        whole.push(id);
        terms.push(self.product(&whole));
    }

    /// Whether an expression is more than constants.
    fn is_moving(&mut self, id: ExprId) -> bool {
        // Mostly the first symbol tells; a walk of all would take the square of what terms share.
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Symbol(symbol) if self.symbol_info(symbol).kind != SymbolKind::Constant => {
                    return true;
                }
                Node::Symbol(_) | Node::Number(_) => {}
                _ if seen.insert(id) => stack.extend(self.children(id)),
                _ => {}
            }
        }
        false
    }
}
