//! Reverse accumulation: the whole gradient of one function in one pass, at a
//! small multiple of the cost of the function, however many variables it has.

use crate::arena::{Arena, ExprId, Exprs, Items, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;

impl Exprs {
    /// The gradient ∂f/∂xᵢ.
    pub fn gradient(&self, id: ExprId, variables: &[Symbol]) -> Vec<ExprId> {
        self.arena.borrow_mut().gradient(id, variables)
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
            if !wanted[position] || (adjoints[position].is_empty() && !matches!(self.node(id), Node::Solve { .. })) {
                continue;
            }
            let contributions = std::mem::take(&mut adjoints[position]);
            let adjoint = self.linear(NumberId::ZERO, &contributions);
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
                    // As a choice of adjoints, so that the branch not taken
                    // cannot spoil the result with 0·∞.
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
                        let Some(slot) = self.slot(operand).filter(|&s| wanted[s]) else { continue };
                        let partial = self.partial(id, at);
                        let term = self.mul(adjoint, partial);
                        adjoints[slot].push(item(term, NumberId::ONE));
                    }
                }
            }
        }
        variables.iter().map(|symbol| found.get(symbol).copied().unwrap_or(ExprId::ZERO)).collect()
    }

    /// For x = K⁻¹r with adjoint x̄: w = K⁻ᵀx̄, r̄ += w, K̄ −= w xᵀ.
    fn solve_adjoint(&mut self, solve: u32, all: &[ExprId], wanted: &[bool], adjoints: &mut [Items]) {
        if all.iter().all(|&x| x == ExprId::ZERO) {
            return;
        }
        let data = self.solves.get(solve);
        let (first, right) = (data.first.0, data.right.clone());
        let k = self.solves.matrix(data.matrix).to_vec();
        let n = right.len();
        let transposed: Vec<ExprId> = (0..n * n).map(|at| k[(at % n) * n + at / n]).collect();
        let w = self.solve(&transposed, all);
        for i in 0..n {
            if let Some(slot) = self.slot(right[i]).filter(|&s| wanted[s]) {
                adjoints[slot].push(item(w[i], NumberId::ONE));
            }
            for j in 0..n {
                if let Some(slot) = self.slot(k[i * n + j]).filter(|&s| wanted[s]) {
                    let outer = self.mul(w[i], ExprId(first + j as u32));
                    adjoints[slot].push(item(outer, NumberId::MINUS_ONE));
                }
            }
        }
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
