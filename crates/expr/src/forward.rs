//! Forward differentiation on the graph: a node's differential from those of
//! its operands, each node once. Single derivatives and the total time
//! derivative keep their results in the arena; the sparse Jacobian carries for
//! each node only the variables it depends on.

use crate::arena::{Arena, ExprId, Exprs, Item, Items, Node, NumberId};
use crate::build::item;
use crate::function::Function;
use crate::number::Number;
use crate::substitute::AT_ONCE;
use crate::symbol::{Symbol, SymbolKind};
use rustc_hash::FxHashMap;

/// A sparse matrix of expressions, row by row; absent entries are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jacobian {
    /// For each row its (column, entry) pairs, ascending by column.
    pub rows: Vec<Vec<(usize, ExprId)>>,
    /// How many columns there are.
    pub columns: usize,
}

impl Jacobian {
    /// The entry at a place.
    pub fn get(&self, row: usize, column: usize) -> ExprId {
        match self.rows[row].binary_search_by_key(&column, |&(c, _)| c) {
            Ok(at) => self.rows[row][at].1,
            Err(_) => ExprId::ZERO,
        }
    }

    /// How many entries are not structurally zero.
    pub fn nonzeros(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }
}

impl Exprs {
    /// ∂(expression)/∂(symbol), all other symbols held.
    pub fn derivative(&self, id: ExprId, symbol: Symbol) -> ExprId {
        self.arena.lock().derivative(id, symbol)
    }

    /// The total time derivative: x becomes x′, t becomes 1, constants 0.
    pub fn time_derivative(&self, id: ExprId) -> ExprId {
        self.arena.lock().time_derivative(id)
    }

    /// The differentials of several expressions when each symbol changes at the
    /// given rate; symbols that `rates` does not name are held.
    pub fn directional(&self, roots: &[ExprId], rates: &[(Symbol, ExprId)]) -> Vec<ExprId> {
        let rates: FxHashMap<Symbol, ExprId> = rates.iter().copied().collect();
        let arena = &mut *self.arena.lock();
        arena.tangents(roots, |_, symbol| rates.get(&symbol).copied().unwrap_or(ExprId::ZERO))
    }

    /// The Jacobian ∂rᵢ/∂xⱼ with its sparsity, in one pass over the graph.
    pub fn jacobian(&self, roots: &[ExprId], variables: &[Symbol]) -> Jacobian {
        let (order, epoch) = {
            let arena = &mut *self.arena.lock();
            (arena.reachable(roots), arena.epoch())
        };
        let mut pass = Pass::new(epoch, order.len(), variables);
        // Of large expressions it takes a while: the arena is let go in between, so that the work may
        // be ended.
        for part in order.chunks(AT_ONCE) {
            let arena = &mut *self.arena.lock();
            arena.see(roots, &mut pass);
            arena.gradients(part, &mut pass);
        }
        let arena = &mut *self.arena.lock();
        arena.see(roots, &mut pass);
        arena.jacobian(roots, &pass)
    }

    /// The Hessian of a function: the Jacobian of its gradient.
    pub fn hessian(&self, id: ExprId, variables: &[Symbol]) -> Jacobian {
        let gradient = self.gradient(id, variables);
        self.jacobian(&gradient, variables)
    }
}

/// A Jacobian on its way.
struct Pass {
    columns: FxHashMap<Symbol, u32>,
    width: usize,
    /// The walk whose slots nodes have.
    epoch: u32,
    /// The place of each node's gradient; nodes without any share place 0.
    slots: Vec<u32>,
    gradients: Vec<Vec<(u32, ExprId)>>,
    next: usize,
}

impl Pass {
    fn new(epoch: u32, size: usize, variables: &[Symbol]) -> Pass {
        let columns = variables.iter().enumerate().map(|(at, &symbol)| (symbol, at as u32));
        Pass {
            columns: columns.collect(),
            width: variables.len(),
            epoch,
            slots: vec![0; size],
            gradients: vec![Vec::new()],
            next: 0,
        }
    }
}

impl Arena {
    pub fn derivative(&mut self, root: ExprId, symbol: Symbol) -> ExprId {
        if let Some(&known) = self.partials.get(&(symbol, root)) {
            return known;
        }
        // Only what is new, and without marks: a walk that has them may be under way.
        let mut pending = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if self.partials.insert((symbol, id), ExprId::ZERO).is_none() {
                pending.push(id);
                let children = self.children(id);
                let is_new = |c: &ExprId| !self.partials.contains_key(&(symbol, *c));
                stack.extend(children.into_iter().filter(is_new));
            }
        }
        pending.sort_unstable();
        for id in pending {
            let tangent = match self.node(id) {
                Node::Symbol(s) => {
                    if s == symbol {
                        ExprId::ONE
                    } else {
                        ExprId::ZERO
                    }
                }
                _ => self.tangent(id, &mut |arena, child| {
                    arena.partials.get(&(symbol, child)).copied().unwrap_or(ExprId::ZERO)
                }),
            };
            self.partials.insert((symbol, id), tangent);
        }
        self.partials[&(symbol, root)]
    }

    pub fn time_derivative(&mut self, root: ExprId) -> ExprId {
        if let Some(&known) = self.rates.get(&root) {
            return known;
        }
        // Only what is new: a depth-first walk that stops at known nodes.
        let mut pending = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if self.rates.contains_key(&id) {
                continue;
            }
            self.rates.insert(id, ExprId::ZERO);
            pending.push(id);
            stack.extend(self.children(id));
        }
        pending.sort_unstable();
        for id in pending {
            let tangent = match self.node(id) {
                Node::Symbol(symbol) => self.symbol_rate(symbol),
                _ => self.tangent(id, &mut |arena, child| {
                    arena.rates.get(&child).copied().unwrap_or(ExprId::ZERO)
                }),
            };
            self.rates.insert(id, tangent);
        }
        self.rates[&root]
    }

    fn symbol_rate(&mut self, symbol: Symbol) -> ExprId {
        match self.symbol_info(symbol).kind {
            SymbolKind::Constant => ExprId::ZERO,
            SymbolKind::Time => ExprId::ONE,
            SymbolKind::Variable => match self.rate(symbol) {
                Some(rate) => self.symbol_expr(rate),
                None => ExprId::ZERO,
            },
        }
    }

    /// Differentials of the roots, given those of the symbols.
    pub fn tangents(
        &mut self,
        roots: &[ExprId],
        mut seed: impl FnMut(&mut Arena, Symbol) -> ExprId,
    ) -> Vec<ExprId> {
        let order = self.reachable(roots);
        let mut known: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in order {
            let tangent = match self.node(id) {
                Node::Symbol(symbol) => seed(self, symbol),
                _ => self.tangent(id, &mut |_, child| {
                    known.get(&child).copied().unwrap_or(ExprId::ZERO)
                }),
            };
            if tangent != ExprId::ZERO {
                known.insert(id, tangent);
            }
        }
        roots.iter().map(|root| known.get(root).copied().unwrap_or(ExprId::ZERO)).collect()
    }

    /// The differential of one node that is not a symbol.
    fn tangent(&mut self, id: ExprId, child: &mut dyn FnMut(&Arena, ExprId) -> ExprId) -> ExprId {
        match self.node(id) {
            Node::Number(_) | Node::Symbol(_) => ExprId::ZERO,
            Node::Sum { start, len, .. } => {
                let mut terms = Items::new();
                for at in start..start + len {
                    let part = self.items(at, 1)[0];
                    let tangent = child(self, part.expr);
                    if tangent != ExprId::ZERO {
                        terms.push(item(tangent, part.number));
                    }
                }
                self.linear(NumberId::ZERO, &terms)
            }
            Node::Solve { solve, index } => {
                let mut tangents: FxHashMap<ExprId, ExprId> = FxHashMap::default();
                for operand in self.solves.operands(solve) {
                    let tangent = child(self, operand);
                    tangents.insert(operand, tangent);
                }
                if tangents.values().all(|&t| t == ExprId::ZERO) {
                    return ExprId::ZERO;
                }
                let all = self.solve_tangent(solve, &mut |e| {
                    tangents.get(&e).copied().unwrap_or(ExprId::ZERO)
                });
                all[index as usize]
            }
            // Branch by branch, so that the one not taken does no harm.
            Node::Call { function: Function::If, start, .. } => {
                let [c, a, b] = [0, 1, 2].map(|k| self.items(start + k, 1)[0].expr);
                let (da, db) = (child(self, a), child(self, b));
                self.call(Function::If, &[c, da, db])
            }
            _ => {
                let mut terms = Items::new();
                for (at, operand) in self.children(id).into_iter().enumerate() {
                    let tangent = child(self, operand);
                    if tangent != ExprId::ZERO {
                        let partial = self.partial(id, at);
                        let term = self.mul(partial, tangent);
                        terms.push(item(term, NumberId::ONE));
                    }
                }
                self.linear(NumberId::ZERO, &terms)
            }
        }
    }

    /// ∂(node)/∂(its operand at a place), for products, powers and calls.
    pub fn partial(&mut self, id: ExprId, at: usize) -> ExprId {
        match self.node(id) {
            Node::Product { start, len } => {
                let mut items: Items = Items::from_slice(self.items(start, len));
                let exponent = items[at].number;
                items[at].number = self.add_ids(exponent, NumberId::MINUS_ONE);
                self.monomial(exponent, &items)
            }
            Node::Power(base, exponent) => {
                if at == 0 {
                    // ∂(x^y)/∂x = y·x^(y−1)
                    let lowered =
                        self.linear(NumberId::MINUS_ONE, &[item(exponent, NumberId::ONE)]);
                    let power = self.pow(base, lowered);
                    self.mul(exponent, power)
                } else {
                    let log = self.call(Function::Log, &[base]);
                    self.mul(id, log)
                }
            }
            Node::Call { function, start, len } => {
                let arguments: Items = Items::from_slice(self.items(start, len));
                self.call_partial(function, id, &arguments, at)
            }
            Node::Restricted { function, .. } => {
                let arguments = self.children(id);
                self.restricted_partial(function, &arguments, at)
            }
            _ => ExprId::ZERO,
        }
    }

    fn call_partial(
        &mut self,
        function: Function,
        id: ExprId,
        arguments: &[Item],
        at: usize,
    ) -> ExprId {
        let x = arguments[0].expr;
        let one_plus = |arena: &mut Arena, sign: NumberId| {
            let square = arena.powi(x, 2);
            arena.linear(NumberId::ONE, &[item(square, sign)])
        };
        match function {
            Function::Sin => self.call(Function::Cos, &[x]),
            Function::Cos => {
                let sin = self.call(Function::Sin, &[x]);
                self.neg(sin)
            }
            // tan′ = 1 + tan²
            Function::Tan => {
                let square = self.powi(id, 2);
                self.linear(NumberId::ONE, &[item(square, NumberId::ONE)])
            }
            Function::Asin | Function::Acos => {
                let inside = one_plus(self, NumberId::MINUS_ONE);
                let half = self.number_id(Number::ratio(-1, 2).unwrap_or(Number::ONE));
                let sign =
                    if function == Function::Asin { NumberId::ONE } else { NumberId::MINUS_ONE };
                self.monomial(sign, &[item(inside, half)])
            }
            Function::Atan => {
                let inside = one_plus(self, NumberId::ONE);
                self.powi(inside, -1)
            }
            // atan2(y, x): (x dy − y dx)/(x² + y²)
            Function::Atan2 => {
                let (y, x) = (arguments[0].expr, arguments[1].expr);
                let squares = [self.powi(x, 2), self.powi(y, 2)];
                let norm = self.sum(&squares);
                if at == 0 {
                    self.div(x, norm)
                } else {
                    let quotient = self.div(y, norm);
                    self.neg(quotient)
                }
            }
            Function::Sinh => self.call(Function::Cosh, &[x]),
            Function::Cosh => self.call(Function::Sinh, &[x]),
            Function::Tanh => {
                let square = self.powi(id, 2);
                self.linear(NumberId::ONE, &[item(square, NumberId::MINUS_ONE)])
            }
            Function::Exp => id,
            Function::Log => self.powi(x, -1),
            Function::Abs => self.call(Function::Sign, &[x]),
            // The argument that is chosen: it equals the result.
            Function::Min | Function::Max => self.chosen(function, arguments, at),
            // By its argument; its number says which table it is.
            Function::Table if at == 1 => self.next_table(arguments),
            Function::Given if at == 1 => self.next_given(arguments),
            _ => ExprId::ZERO,
        }
    }

    /// The derivative of a table.
    fn next_table(&mut self, arguments: &[Item]) -> ExprId {
        let (key, x) = (arguments[0].expr, arguments[1].expr);
        let known = self.as_number(key).map_or(f64::NAN, Number::to_f64);
        match crate::tables::TableId::of_key(known) {
            // A cubic has three derivatives, and no more.
            Some((id, order)) if order < 3 => {
                let key = self.number(Number::integer(id.key(order + 1)));
                self.call(Function::Table, &[key, x])
            }
            _ => ExprId::ZERO,
        }
    }

    /// The derivative of a function that a program gives; one that it came without is NaN.
    fn next_given(&mut self, arguments: &[Item]) -> ExprId {
        let (key, x) = (arguments[0].expr, arguments[1].expr);
        let known = self.as_number(key).map_or(f64::NAN, Number::to_f64);
        match crate::given::next(known) {
            Some(key) => {
                let key = self.number(Number::integer(key));
                self.call(Function::Given, &[key, x])
            }
            None => ExprId::ZERO,
        }
    }

    /// 1 where argument `at` is the least (greatest), the first such one.
    fn chosen(&mut self, function: Function, arguments: &[Item], at: usize) -> ExprId {
        let here = arguments[at].expr;
        let mut conditions = Vec::new();
        for (other, item) in arguments.iter().enumerate() {
            if other == at {
                continue;
            }
            let difference = if function == Function::Min {
                self.sub(here, item.expr)
            } else {
                self.sub(item.expr, here)
            };
            let test = if other < at { Function::Negative } else { Function::NotPositive };
            conditions.push(self.call(test, &[difference]));
        }
        let all = self.call(Function::And, &conditions);
        self.call(Function::If, &[all, ExprId::ONE, ExprId::ZERO])
    }

    /// Gives nodes their slots again, if another walk had them in between.
    fn see(&mut self, roots: &[ExprId], pass: &mut Pass) {
        if pass.epoch != self.epoch() {
            self.reachable(roots);
            pass.epoch = self.epoch();
        }
    }

    /// The gradients of the next nodes, whose operands stand before them.
    fn gradients(&mut self, part: &[ExprId], pass: &mut Pass) {
        let Pass { columns, slots, gradients, next, .. } = pass;
        let mut parts: Vec<(u32, Item)> = Vec::new();
        for &id in part {
            let position = *next;
            *next += 1;
            parts.clear();
            match self.node(id) {
                Node::Number(_) => {}
                Node::Symbol(symbol) => {
                    if let Some(&column) = columns.get(&symbol) {
                        parts.push((column, item(ExprId::ONE, NumberId::ONE)));
                    }
                }
                Node::Sum { start, len, .. } => {
                    for at in start..start + len {
                        let part = self.items(at, 1)[0];
                        let slot = self.slot(part.expr).map_or(0, |s| slots[s]);
                        let inner = &gradients[slot as usize];
                        parts.extend(
                            inner.iter().map(|&(column, e)| (column, item(e, part.number))),
                        );
                    }
                }
                Node::Solve { solve, index } => {
                    self.solve_parts(solve, index, slots, gradients, &mut parts);
                }
                Node::Call { function: Function::If, start, .. } => {
                    let [c, a, b] = [0, 1, 2].map(|k| self.items(start + k, 1)[0].expr);
                    for (operand, taken) in [(a, true), (b, false)] {
                        let slot = self.slot(operand).map_or(0, |s| slots[s]);
                        for &(column, e) in &gradients[slot as usize] {
                            let (yes, no) =
                                if taken { (e, ExprId::ZERO) } else { (ExprId::ZERO, e) };
                            let term = self.call(Function::If, &[c, yes, no]);
                            parts.push((column, item(term, NumberId::ONE)));
                        }
                    }
                }
                _ => {
                    for (at, operand) in self.children(id).into_iter().enumerate() {
                        let slot = self.slot(operand).map_or(0, |s| slots[s]);
                        if slot == 0 {
                            continue;
                        }
                        let partial = self.partial(id, at);
                        for &(column, e) in &gradients[slot as usize] {
                            let term = self.mul(partial, e);
                            parts.push((column, item(term, NumberId::ONE)));
                        }
                    }
                }
            }
            if parts.is_empty() {
                continue;
            }
            parts.sort_by_key(|p| p.0);
            let mut gradient = Vec::new();
            for group in parts.chunk_by(|a, b| a.0 == b.0) {
                let items: Items = group.iter().map(|p| p.1).collect();
                let entry = self.linear(NumberId::ZERO, &items);
                if entry != ExprId::ZERO {
                    gradient.push((group[0].0, entry));
                }
            }
            if !gradient.is_empty() {
                slots[position] = gradients.len() as u32;
                gradients.push(gradient);
            }
        }
    }

    fn jacobian(&self, roots: &[ExprId], pass: &Pass) -> Jacobian {
        let rows = roots
            .iter()
            .map(|&root| {
                let slot = self.slot(root).map_or(0, |s| pass.slots[s]);
                pass.gradients[slot as usize].iter().map(|&(c, e)| (c as usize, e)).collect()
            })
            .collect();
        Jacobian { rows, columns: pass.width }
    }

    fn solve_parts(
        &mut self,
        solve: u32,
        index: u32,
        slots: &[u32],
        gradients: &[Vec<(u32, ExprId)>],
        parts: &mut Vec<(u32, Item)>,
    ) {
        let operands = self.solves.operands(solve);
        let slot_of: FxHashMap<ExprId, u32> =
            operands.iter().map(|&e| (e, self.slot(e).map_or(0, |s| slots[s]))).collect();
        let mut columns: Vec<u32> = slot_of
            .values()
            .flat_map(|&slot| gradients[slot as usize].iter().map(|p| p.0))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        for column in columns {
            let all = self.solve_tangent(solve, &mut |e| {
                let slot = slot_of.get(&e).copied().unwrap_or(0);
                let gradient = &gradients[slot as usize];
                gradient
                    .binary_search_by_key(&column, |p| p.0)
                    .map_or(ExprId::ZERO, |at| gradient[at].1)
            });
            parts.push((column, item(all[index as usize], NumberId::ONE)));
        }
    }
}
