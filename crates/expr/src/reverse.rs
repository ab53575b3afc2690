//! Reverse accumulation: the whole gradient of one function in one pass, at a
//! small multiple of the cost of the function, however many variables it has.
//!
//! The adjoint of what stands in a branch is `if(c, adjoint, 0)`, and stays of
//! this form while it is multiplied on towards the variables: outside of the
//! branch there may be no derivative to multiply with, and 0 times nothing is
//! not 0.

use crate::arena::{Arena, ExprId, Exprs, Item, Items, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;

/// That a condition holds, or does not.
#[derive(Clone, Copy, PartialEq)]
struct Guard {
    condition: ExprId,
    holds: bool,
}

impl Exprs {
    /// The gradient ∂f/∂xᵢ.
    pub fn gradient(&self, id: ExprId, variables: &[Symbol]) -> Vec<ExprId> {
        self.arena.lock().gradient(id, variables)
    }
}

impl Arena {
    pub fn gradient(&mut self, root: ExprId, variables: &[Symbol]) -> Vec<ExprId> {
        let order = self.reachable(&[root]);
        let wanted = self.depends_on(&order, variables);
        // Contributions to each node's adjoint, summed when the node is reached.
        let mut adjoints: Vec<Items> = vec![Items::new(); order.len()];
        let mut solve_adjoints: FxHashMap<u32, Vec<ExprId>> = FxHashMap::default();
        let mut found: FxHashMap<Symbol, ExprId> = FxHashMap::default();
        if let Some(slot) = self.slot(root) {
            adjoints[slot].push(item(ExprId::ONE, NumberId::ONE));
        }
        for position in (0..order.len()).rev() {
            let id = order[position];
            if !wanted[position]
                || (adjoints[position].is_empty() && !matches!(self.node(id), Node::Solve { .. }))
            {
                continue;
            }
            let contributions = std::mem::take(&mut adjoints[position]);
            let adjoint = self.gather(&contributions);
            match self.node(id) {
                Node::Number(_) => {}
                Node::Symbol(symbol) => {
                    found.insert(symbol, adjoint);
                }
                _ if adjoint == ExprId::ZERO && !matches!(self.node(id), Node::Solve { .. }) => {}
                Node::Sum { start, len, .. } => {
                    for at in start..start + len {
                        let part = self.items(at, 1)[0];
                        if let Some(slot) = self.slot(part.expr).filter(|&s| wanted[s]) {
                            adjoints[slot].push(item(adjoint, part.number));
                        }
                    }
                }
                Node::Solve { solve, index } => {
                    let n = self.solves.get(solve).right.len();
                    let all = solve_adjoints.entry(solve).or_insert_with(|| vec![ExprId::ZERO; n]);
                    all[index as usize] = adjoint;
                    // Components are consecutive nodes: once the first reachable
                    // one is done, no further adjoint can arrive.
                    let first = self.solves.get(solve).first;
                    let lowest = (0..index).all(|i| self.slot(ExprId(first.0 + i)).is_none());
                    if lowest {
                        let all = solve_adjoints.remove(&solve).unwrap_or_default();
                        self.solve_adjoint(solve, &all, &wanted, &mut adjoints);
                    }
                }
                Node::Call { function: Function::If, start, .. } => {
                    let [c, a, b] = [0, 1, 2].map(|k| self.items(start + k, 1)[0].expr);
                    let yes = self.call(Function::If, &[c, adjoint, ExprId::ZERO]);
                    let no = self.call(Function::If, &[c, ExprId::ZERO, adjoint]);
                    for (branch, part) in [(a, yes), (b, no)] {
                        if let Some(slot) = self.slot(branch).filter(|&s| wanted[s]) {
                            adjoints[slot].push(item(part, NumberId::ONE));
                        }
                    }
                }
                _ => {
                    for (at, operand) in self.children(id).into_iter().enumerate() {
                        let Some(slot) = self.slot(operand).filter(|&s| wanted[s]) else {
                            continue;
                        };
                        let partial = self.partial(id, at);
                        let term = self.guarded_mul(adjoint, partial);
                        adjoints[slot].push(item(term, NumberId::ONE));
                    }
                }
            }
        }
        variables.iter().map(|symbol| found.get(symbol).copied().unwrap_or(ExprId::ZERO)).collect()
    }

    /// For x = K⁻¹r with adjoint x̄: w = K⁻ᵀx̄, r̄ += w, K̄ −= w xᵀ.
    fn solve_adjoint(
        &mut self,
        solve: u32,
        all: &[ExprId],
        wanted: &[bool],
        adjoints: &mut [Items],
    ) {
        if all.iter().all(|&x| x == ExprId::ZERO) {
            return;
        }
        let data = self.solves.get(solve);
        let (first, right) = (data.first.0, data.right.clone());
        let k = self.solves.matrix(data.matrix).to_vec();
        let n = right.len();
        let transposed: Vec<ExprId> = (0..n * n).map(|at| k[(at % n) * n + at / n]).collect();
        // Outside of the branch K may be singular.
        let (mut inner, mut guards) = (all.to_vec(), Vec::new());
        while let Some(guard) = self.common_guard(&inner) {
            inner = inner.iter().map(|&x| self.guarded(x).map_or(x, |(_, core)| core)).collect();
            guards.push(guard);
        }
        let mut w = self.solve(&transposed, &inner);
        for guard in guards.into_iter().rev() {
            w = w.into_iter().map(|x| self.guard(guard, x)).collect();
        }
        for i in 0..n {
            if let Some(slot) = self.slot(right[i]).filter(|&s| wanted[s]) {
                adjoints[slot].push(item(w[i], NumberId::ONE));
            }
            for j in 0..n {
                if let Some(slot) = self.slot(k[i * n + j]).filter(|&s| wanted[s]) {
                    let outer = self.guarded_mul(w[i], ExprId(first + j as u32));
                    adjoints[slot].push(item(outer, NumberId::MINUS_ONE));
                }
            }
        }
    }

    /// The sum of contributions, where those of one condition become one.
    fn gather(&mut self, contributions: &[Item]) -> ExprId {
        if contributions.len() < 2
            || contributions.iter().all(|part| self.guarded(part.expr).is_none())
        {
            return self.linear(NumberId::ZERO, contributions);
        }
        let mut sum = Items::new();
        let mut choices: Vec<(ExprId, Items, Items)> = Vec::new();
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        for part in contributions {
            let Some((Guard { condition, holds }, core)) = self.guarded(part.expr) else {
                sum.push(*part);
                continue;
            };
            let at = *places.entry(condition).or_insert_with(|| {
                choices.push((condition, Items::new(), Items::new()));
                choices.len() - 1
            });
            let side = if holds { &mut choices[at].1 } else { &mut choices[at].2 };
            side.push(item(core, part.number));
        }
        for (condition, yes, no) in choices {
            let (yes, no) = (self.linear(NumberId::ZERO, &yes), self.linear(NumberId::ZERO, &no));
            let choice = self.call(Function::If, &[condition, yes, no]);
            sum.push(item(choice, NumberId::ONE));
        }
        self.linear(NumberId::ZERO, &sum)
    }

    /// adjoint · factor, inside of the adjoint's branch.
    fn guarded_mul(&mut self, adjoint: ExprId, factor: ExprId) -> ExprId {
        if let Node::Sum { constant: NumberId::ZERO, start, len } = self.node(adjoint) {
            let items = Items::from_slice(self.items(start, len));
            if items.len() <= 8 && items.iter().all(|part| self.guarded(part.expr).is_some()) {
                let mut parts = Items::new();
                for part in items {
                    let product = self.guarded_mul_one(part.expr, factor);
                    parts.push(item(product, part.number));
                }
                return self.linear(NumberId::ZERO, &parts);
            }
        }
        self.guarded_mul_one(adjoint, factor)
    }

    fn guarded_mul_one(&mut self, adjoint: ExprId, factor: ExprId) -> ExprId {
        let (mut core, mut guards) = (adjoint, Vec::new());
        while let Some((guard, inner)) = self.guarded(core) {
            guards.push(guard);
            core = inner;
        }
        let product = self.mul(core, factor);
        guards.into_iter().rev().fold(product, |inner, guard| self.guard(guard, inner))
    }

    /// The condition and what it guards, for if(c, x, 0) and if(c, 0, x).
    fn guarded(&self, id: ExprId) -> Option<(Guard, ExprId)> {
        let Node::Call { function: Function::If, start, .. } = self.node(id) else { return None };
        let [condition, a, b] = [0, 1, 2].map(|k| self.items(start + k, 1)[0].expr);
        match (a, b) {
            (core, ExprId::ZERO) => Some((Guard { condition, holds: true }, core)),
            (ExprId::ZERO, core) => Some((Guard { condition, holds: false }, core)),
            _ => None,
        }
    }

    fn guard(&mut self, guard: Guard, x: ExprId) -> ExprId {
        let (a, b) = if guard.holds { (x, ExprId::ZERO) } else { (ExprId::ZERO, x) };
        self.call(Function::If, &[guard.condition, a, b])
    }

    /// The guard that all but zeros have in common.
    fn common_guard(&self, all: &[ExprId]) -> Option<Guard> {
        let mut guards =
            all.iter().filter(|&&x| x != ExprId::ZERO).map(|&x| self.guarded(x).map(|g| g.0));
        let first = guards.next()??;
        guards.all(|guard| guard == Some(first)).then_some(first)
    }

    /// For each node of an ascending order, whether it depends on a variable.
    fn depends_on(&self, order: &[ExprId], variables: &[Symbol]) -> Vec<bool> {
        let variables: rustc_hash::FxHashSet<Symbol> = variables.iter().copied().collect();
        let mut depends = vec![false; order.len()];
        for (position, &id) in order.iter().enumerate() {
            depends[position] = match self.node(id) {
                Node::Symbol(symbol) => variables.contains(&symbol),
                _ => self.children(id).iter().any(|&c| self.slot(c).is_some_and(|s| depends[s])),
            };
        }
        depends
    }
}
