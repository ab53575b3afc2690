//! The arena: an append-only table of hash-consed nodes.
//!
//! Two rules everything else leans on. Equal nodes have equal ids, so equality
//! is one comparison. A node's children have smaller ids than the node, so a
//! pass over ids in ascending order visits children first, and none of the
//! algorithms here recurses.

mod known;
mod shared;
mod solve;
mod surface;

pub use known::Zero;
pub use solve::LinearSystem;
pub use surface::SurfaceId;
pub(crate) use surface::{Restrictions, SurfaceData, SurfaceKey};

use crate::function::Function;
use crate::number::Number;
use crate::symbol::{Shown, Symbol, SymbolInfo, SymbolKind};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use shared::Shared;
use smallvec::SmallVec;
use std::hash::Hasher;
use std::sync::Arc;

/// Handle of an expression: an index into its [`Exprs`]. What structs store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub(crate) u32);

impl ExprId {
    /// The number 0 in every arena.
    pub const ZERO: ExprId = ExprId(0);
    /// The number 1 in every arena.
    pub const ONE: ExprId = ExprId(1);

    /// Its place in the order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of an interned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberId(pub u32);

impl NumberId {
    pub const ZERO: NumberId = NumberId(0);
    pub const ONE: NumberId = NumberId(1);
    pub const MINUS_ONE: NumberId = NumberId(2);
}

/// One item of a sum (coefficient × term), a product (base ^ exponent) or an
/// argument list (number unused).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Item {
    pub expr: ExprId,
    pub number: NumberId,
}

pub(crate) type Items = SmallVec<[Item; 8]>;

/// A node as it is stored; `start..start + len` are items in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Number(NumberId),
    Symbol(Symbol),
    /// constant + Σ number · expr, items ascending by expr.
    Sum {
        constant: NumberId,
        start: u32,
        len: u32,
    },
    /// Π expr ^ number, items ascending by expr, exponents not 0.
    Product {
        start: u32,
        len: u32,
    },
    /// base ^ exponent where the exponent is not a number.
    Power(ExprId, ExprId),
    Call {
        function: Function,
        start: u32,
        len: u32,
    },
    /// Component `index` of K⁻¹ r; see [`crate::solve`].
    Solve {
        solve: u32,
        index: u32,
    },
    /// A function restricted to a surface, of arguments; see [`crate::restriction`].
    Restricted {
        function: u32,
        start: u32,
        len: u32,
    },
}

/// Sums and products up to this many items are flattened into the sum or
/// product they stand in; longer ones stay shared nodes of their own. Without
/// the bound, x₁, x₁+x₂, x₁+x₂+x₃, … (the positions along a chain) would cost
/// the square of their number at every turn, and derivatives the cube.
pub(crate) const FLAT_LIMIT: usize = 24;

/// The state behind [`Exprs`].
#[derive(Clone)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    hashes: Vec<u32>,
    table: HashTable<u32>,
    pool: Vec<Item>,
    numbers: Vec<Number>,
    number_ids: FxHashMap<Number, NumberId>,
    symbols: Vec<SymbolInfo>,
    symbol_exprs: Vec<ExprId>,
    pub(crate) solves: solve::Solves,
    pub(crate) restrictions: Restrictions,
    /// The functions of programs that expressions speak of.
    pub(crate) kept: Vec<Arc<crate::Given>>,
    /// The tables that expressions speak of.
    pub(crate) tables: Vec<Arc<crate::tables::Held>>,
    /// Memo of the total time derivative, by id.
    pub(crate) rates: FxHashMap<ExprId, ExprId>,
    /// Memo of single derivatives.
    pub(crate) partials: FxHashMap<(Symbol, ExprId), ExprId>,
    /// Memo of the primitive part of a sum.
    pub(crate) primitives: FxHashMap<ExprId, (NumberId, ExprId)>,
    /// Memo of the zero test with its default options.
    pub(crate) zeros: FxHashMap<ExprId, Zero>,
    marks: Vec<(u32, u32)>,
    /// Nodes that a walk has still to visit: room that is empty between walks.
    stack: Vec<ExprId>,
    epoch: u32,
    pub(crate) overflowed: bool,
}

/// An append-only collection of expressions. Expressions are made through
/// [`Expr`](crate::Expr) handles with ordinary operators, or through the
/// functions of this type on [`ExprId`]s.
///
/// Several threads may use one. A clone is cheap, ids made before are valid in both, and what is
/// added to one is not in the other.
pub struct Exprs {
    pub(crate) arena: Arc<Shared>,
}

impl Clone for Exprs {
    fn clone(&self) -> Exprs {
        Exprs { arena: Arc::new(Shared::clone(&self.arena)) }
    }
}

/// Threads may share expressions.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Exprs>();
};

impl Default for Exprs {
    fn default() -> Self {
        Self::new()
    }
}

impl Exprs {
    /// An arena that holds 0, 1, π and t.
    pub fn new() -> Self {
        Exprs { arena: Arc::new(Shared::new(Arena::new())) }
    }

    /// Another hold on the same arena: what is added to one is in the other.
    pub fn share(&self) -> Exprs {
        Exprs { arena: Arc::clone(&self.arena) }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.arena.lock().nodes.len()
    }

    /// Never: 0, 1, π and t are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How many distinct nodes the given expressions consist of together.
    pub fn count_nodes(&self, roots: &[ExprId]) -> usize {
        self.arena.lock().reachable(roots).len()
    }

    /// How many operands (edges) the given expressions consist of together.
    pub fn count_edges(&self, roots: &[ExprId]) -> usize {
        let arena = &mut *self.arena.lock();
        let order = arena.reachable(roots);
        order.iter().map(|&id| arena.children(id).len()).sum()
    }

    /// A new symbol. Symbols are told apart by identity, not by name.
    pub fn symbol(&self, name: &str, kind: SymbolKind) -> Symbol {
        self.arena.lock().new_symbol(name, 0, kind)
    }

    /// The symbol of a variable's time derivative; `None` for constants and time.
    pub fn rate(&self, symbol: Symbol) -> Option<Symbol> {
        self.arena.lock().rate(symbol)
    }

    /// Says how documents print a symbol, and its derivatives.
    pub fn show_symbol(&self, symbol: Symbol, shown: &Shown) {
        let symbols = &mut self.arena.lock().symbols;
        let mut next = Some(symbol);
        while let Some(symbol) = next {
            symbols[symbol.index()].shown = Some(shown.clone());
            next = symbols[symbol.index()].rate;
        }
    }

    /// What is known of a symbol.
    pub fn symbol_info(&self, symbol: Symbol) -> SymbolInfo {
        self.arena.lock().symbols[symbol.index()].clone()
    }

    /// The expression that is this symbol.
    pub fn of_symbol(&self, symbol: Symbol) -> ExprId {
        self.arena.lock().symbol_exprs[symbol.index()]
    }

    /// The expression that is this number.
    pub fn of_number(&self, number: Number) -> ExprId {
        self.arena.lock().number(number)
    }

    /// The number, if the expression is one.
    pub fn as_number(&self, id: ExprId) -> Option<Number> {
        let arena = self.arena.lock();
        arena.as_number(id).cloned()
    }

    /// The symbol, if the expression is one.
    pub fn as_symbol(&self, id: ExprId) -> Option<Symbol> {
        match self.arena.lock().node(id) {
            Node::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// The function, if the expression is a call of one; its arguments are the operands.
    pub fn as_call(&self, id: ExprId) -> Option<Function> {
        match self.arena.lock().node(id) {
            Node::Call { function, .. } => Some(function),
            _ => None,
        }
    }

    /// The expression as a sum of exact multiples of distinct expressions; a constant is a
    /// multiple of one.
    pub fn multiples(&self, id: ExprId) -> Vec<(Number, ExprId)> {
        self.arena.lock().multiples(id)
    }

    /// The operands of an expression; none for numbers and symbols.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        self.arena.lock().children(id).to_vec()
    }

    /// The symbols an expression holds, in the order of their creation. π is a number.
    pub fn symbols_of(&self, roots: &[ExprId]) -> Vec<Symbol> {
        let arena = &mut *self.arena.lock();
        let order = arena.reachable(roots);
        let mut found: Vec<Symbol> = order
            .iter()
            .filter_map(|&id| match arena.node(id) {
                Node::Symbol(symbol) if symbol != Symbol::PI => Some(symbol),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Numbers that symbols have: for each root that of one of them, and pairs of numbers such that
    /// all that are together in a root hang together by pairs. What roots share is looked at once, so
    /// that roots made of each other take no more than their nodes.
    pub fn numbered(
        &self,
        roots: &[ExprId],
        number: impl Fn(Symbol) -> Option<usize>,
    ) -> (Vec<Option<usize>>, Vec<[usize; 2]>) {
        let (order, epoch, symbols) = self.arena.lock().plan(roots);
        // What was handed in may use the arena; it is asked before the walk.
        let mut own = symbols.into_iter().map(number).collect::<Vec<_>>().into_iter();
        let arena = &mut *self.arena.lock();
        if arena.epoch() != epoch {
            arena.reachable(roots);
        }
        let mut found: Vec<Option<usize>> = Vec::with_capacity(order.len());
        let mut pairs = Vec::new();
        for &id in &order {
            let first = match arena.node(id) {
                Node::Symbol(symbol) if symbol != Symbol::PI => own.next().flatten(),
                _ => {
                    let mut first = None;
                    for operand in arena.children(id) {
                        let Some(other) = arena.slot(operand).and_then(|slot| found[slot]) else {
                            continue;
                        };
                        let kept = *first.get_or_insert(other);
                        if kept != other {
                            pairs.push([kept, other]);
                        }
                    }
                    first
                }
            };
            found.push(first);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let of = |root: &ExprId| arena.slot(*root).and_then(|slot| found[slot]);
        (roots.iter().map(of).collect(), pairs)
    }

    /// Which of the roots hold a symbol of a kind. What they share is looked at once.
    pub fn depend_on(&self, roots: &[ExprId], is_meant: impl Fn(Symbol) -> bool) -> Vec<bool> {
        let (order, epoch, symbols) = self.arena.lock().plan(roots);
        // What was handed in may use the arena; it is asked before the walk.
        let mut meant = symbols.into_iter().map(is_meant).collect::<Vec<bool>>().into_iter();
        let arena = &mut *self.arena.lock();
        if arena.epoch() != epoch {
            arena.reachable(roots);
        }
        let mut depends: Vec<bool> = Vec::with_capacity(order.len());
        for &id in &order {
            let own = match arena.node(id) {
                Node::Symbol(symbol) if symbol != Symbol::PI => meant.next().unwrap_or(false),
                _ => {
                    let mut operands = arena.children(id).into_iter();
                    operands.any(|e| arena.slot(e).is_some_and(|slot| depends[slot]))
                }
            };
            depends.push(own);
        }
        roots.iter().map(|&root| arena.slot(root).is_some_and(|slot| depends[slot])).collect()
    }

    /// The numbers that stand in expressions: coefficients, exponents and constants.
    pub fn numbers_of(&self, roots: &[ExprId]) -> Vec<Number> {
        let arena = &mut *self.arena.lock();
        let mut found: Vec<NumberId> = Vec::new();
        for id in arena.reachable(roots) {
            match arena.node(id) {
                Node::Number(number) => found.push(number),
                Node::Sum { constant, start, len } => {
                    found.push(constant);
                    found.extend(arena.items(start, len).iter().map(|i| i.number));
                }
                Node::Product { start, len } => {
                    found.extend(arena.items(start, len).iter().map(|i| i.number));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|number| arena.value(number).clone()).collect()
    }

    /// Whether a constant was folded that is too large or too small for a
    /// double since this was last asked.
    pub fn take_overflow(&self) -> bool {
        std::mem::take(&mut self.arena.lock().overflowed)
    }
}

impl Arena {
    /// See [`Exprs::multiples`].
    pub fn multiples(&self, id: ExprId) -> Vec<(Number, ExprId)> {
        match self.node(id) {
            Node::Number(n) if n == NumberId::ZERO => Vec::new(),
            Node::Number(n) => vec![(self.value(n).clone(), ExprId::ONE)],
            Node::Sum { constant, start, len } => {
                let items = self.items(start, len).iter();
                let mut terms: Vec<(Number, ExprId)> =
                    items.map(|i| (self.value(i.number).clone(), i.expr)).collect();
                if constant != NumberId::ZERO {
                    terms.push((self.value(constant).clone(), ExprId::ONE));
                }
                terms
            }
            _ => vec![(Number::ONE, id)],
        }
    }

    fn new() -> Self {
        let mut arena = Arena {
            nodes: Vec::new(),
            hashes: Vec::new(),
            table: HashTable::new(),
            pool: Vec::new(),
            numbers: Vec::new(),
            number_ids: FxHashMap::default(),
            symbols: Vec::new(),
            symbol_exprs: Vec::new(),
            solves: Default::default(),
            restrictions: Default::default(),
            kept: Vec::new(),
            tables: Vec::new(),
            rates: FxHashMap::default(),
            partials: FxHashMap::default(),
            primitives: FxHashMap::default(),
            zeros: FxHashMap::default(),
            marks: Vec::new(),
            stack: Vec::new(),
            epoch: 0,
            overflowed: false,
        };
        arena.number(Number::ZERO);
        arena.number(Number::ONE);
        arena.number(Number::MINUS_ONE);
        arena.new_symbol("pi", 0, SymbolKind::Constant);
        arena.new_symbol("t", 0, SymbolKind::Time);
        arena
    }

    pub fn node(&self, id: ExprId) -> Node {
        self.nodes[id.index()]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn items(&self, start: u32, len: u32) -> &[Item] {
        &self.pool[start as usize..(start + len) as usize]
    }

    /// The operands of a node.
    pub fn children(&self, id: ExprId) -> SmallVec<[ExprId; 8]> {
        match self.node(id) {
            Node::Number(_) | Node::Symbol(_) => SmallVec::new(),
            Node::Sum { start, len, .. }
            | Node::Product { start, len }
            | Node::Call { start, len, .. }
            | Node::Restricted { start, len, .. } => {
                self.items(start, len).iter().map(|item| item.expr).collect()
            }
            Node::Power(base, exponent) => SmallVec::from_slice(&[base, exponent]),
            Node::Solve { solve, .. } => self.solves.operands(solve),
        }
    }

    pub fn symbol_info(&self, symbol: Symbol) -> &SymbolInfo {
        &self.symbols[symbol.index()]
    }

    pub fn symbol_expr(&self, symbol: Symbol) -> ExprId {
        self.symbol_exprs[symbol.index()]
    }

    pub fn new_symbol(&mut self, name: &str, primes: u8, kind: SymbolKind) -> Symbol {
        let symbol = Symbol(self.symbols.len() as u32);
        let shown = None;
        self.symbols.push(SymbolInfo { name: name.to_owned(), primes, kind, shown, rate: None });
        let id = self.intern(Node::Symbol(symbol), &[]);
        self.symbol_exprs.push(id);
        symbol
    }

    pub fn rate(&mut self, symbol: Symbol) -> Option<Symbol> {
        let info = &self.symbols[symbol.index()];
        if info.kind != SymbolKind::Variable {
            return None;
        }
        if info.rate.is_none() {
            let (name, primes) = (info.name.clone(), info.primes);
            let shown = info.shown.clone();
            let rate = self.new_symbol(&name, primes.saturating_add(1), SymbolKind::Variable);
            self.symbols[rate.index()].shown = shown;
            self.symbols[symbol.index()].rate = Some(rate);
        }
        self.symbols[symbol.index()].rate
    }

    pub fn number_id(&mut self, number: Number) -> NumberId {
        let (number, overflow) = number.bounded();
        self.overflowed |= overflow;
        if let Some(&id) = self.number_ids.get(&number) {
            return id;
        }
        let id = NumberId(self.numbers.len() as u32);
        self.numbers.push(number.clone());
        self.number_ids.insert(number, id);
        id
    }

    pub fn value(&self, id: NumberId) -> &Number {
        &self.numbers[id.0 as usize]
    }

    pub fn number(&mut self, number: Number) -> ExprId {
        let id = self.number_id(number);
        self.of_number_id(id)
    }

    pub fn of_number_id(&mut self, id: NumberId) -> ExprId {
        match id {
            NumberId::ZERO if !self.nodes.is_empty() => ExprId::ZERO,
            NumberId::ONE if self.nodes.len() > 1 => ExprId::ONE,
            _ => self.intern(Node::Number(id), &[]),
        }
    }

    pub fn as_number(&self, id: ExprId) -> Option<&Number> {
        match self.node(id) {
            Node::Number(number) => Some(self.value(number)),
            _ => None,
        }
    }

    pub fn multiply_ids(&mut self, a: NumberId, b: NumberId) -> NumberId {
        match (a, b) {
            (NumberId::ONE, x) | (x, NumberId::ONE) => x,
            (NumberId::ZERO, _) | (_, NumberId::ZERO) => NumberId::ZERO,
            _ => {
                let product = self.value(a).mul(self.value(b));
                self.number_id(product)
            }
        }
    }

    pub fn add_ids(&mut self, a: NumberId, b: NumberId) -> NumberId {
        match (a, b) {
            (NumberId::ZERO, x) | (x, NumberId::ZERO) => x,
            _ => {
                let sum = self.value(a).add(self.value(b));
                self.number_id(sum)
            }
        }
    }

    /// The id of a node with the given items, made if it is not there yet.
    /// `start` and `len` inside `node` are ignored.
    pub fn intern(&mut self, node: Node, items: &[Item]) -> ExprId {
        let hash = hash_node(&node, items);
        let found = self.table.find(hash, |&i| {
            self.hashes[i as usize] == hash as u32
                && self.same(self.nodes[i as usize], &node, items)
        });
        if let Some(&i) = found {
            return ExprId(i);
        }
        let start = self.pool.len() as u32;
        let len = items.len() as u32;
        let stored = match node {
            Node::Sum { constant, .. } => Node::Sum { constant, start, len },
            Node::Product { .. } => Node::Product { start, len },
            Node::Call { function, .. } => Node::Call { function, start, len },
            Node::Restricted { function, .. } => Node::Restricted { function, start, len },
            other => other,
        };
        self.pool.extend_from_slice(items);
        let id = self.nodes.len() as u32;
        self.nodes.push(stored);
        self.hashes.push(hash as u32);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, id, |&i| spread(hashes[i as usize]));
        ExprId(id)
    }

    fn same(&self, stored: Node, node: &Node, items: &[Item]) -> bool {
        match (stored, node) {
            (Node::Sum { constant: a, start, len }, Node::Sum { constant: b, .. }) => {
                a == *b && self.items(start, len) == items
            }
            (Node::Product { start, len }, Node::Product { .. }) => self.items(start, len) == items,
            (Node::Call { function: f, start, len }, Node::Call { function: g, .. }) => {
                f == *g && self.items(start, len) == items
            }
            (
                Node::Restricted { function: f, start, len },
                Node::Restricted { function: g, .. },
            ) => f == *g && self.items(start, len) == items,
            (a, b) => a == *b,
        }
    }

    /// All nodes the roots consist of, ascending: children before parents.
    pub fn reachable(&mut self, roots: &[ExprId]) -> Vec<ExprId> {
        self.epoch += 1;
        let epoch = self.epoch;
        self.marks.resize(self.nodes.len(), (0, 0));
        // Most walks find a few dozen: room for these is asked for once.
        let mut found = Vec::with_capacity(roots.len().max(64));
        let mut stack = std::mem::take(&mut self.stack);
        stack.extend_from_slice(roots);
        while let Some(id) = stack.pop() {
            let mark = &mut self.marks[id.index()];
            if mark.0 == epoch {
                continue;
            }
            *mark = (epoch, 0);
            found.push(id);
            match self.node(id) {
                Node::Number(_) | Node::Symbol(_) => {}
                Node::Sum { start, len, .. }
                | Node::Product { start, len }
                | Node::Call { start, len, .. }
                | Node::Restricted { start, len, .. } => {
                    stack.extend(self.items(start, len).iter().map(|item| item.expr));
                }
                Node::Power(base, exponent) => stack.extend([base, exponent]),
                Node::Solve { solve, .. } => stack.extend(self.solves.operands(solve)),
            }
        }
        self.stack = stack;
        self.number_slots(&mut found, epoch);
        found
    }

    /// Brings what was marked into order and gives each node its slot.
    fn number_slots(&mut self, found: &mut [ExprId], epoch: u32) {
        let last = found.iter().map(|id| id.index()).max().map_or(0, |last| last + 1);
        let first = found.iter().map(|id| id.index()).min().unwrap_or(0);
        // To look at a mark takes about as long as a comparison of those that sorting needs.
        if last - first > found.len() * found.len().max(2).ilog2() as usize {
            found.sort_unstable();
            for (slot, &id) in found.iter().enumerate() {
                self.marks[id.index()].1 = slot as u32;
            }
            return;
        }
        let marked = self.marks[first..last].iter_mut().enumerate();
        let marked = marked.filter(|(_, mark)| mark.0 == epoch);
        for (slot, (place, (at, mark))) in found.iter_mut().zip(marked).enumerate() {
            (*place, mark.1) = (ExprId((first + at) as u32), slot as u32);
        }
    }

    /// The number of the last [`Self::reachable`]: its slots are valid as long as this stays.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What [`Self::reachable`] finds, its epoch, and the symbols in it but π, in its order.
    pub fn plan(&mut self, roots: &[ExprId]) -> (Vec<ExprId>, u32, SmallVec<[Symbol; 64]>) {
        let order = self.reachable(roots);
        let symbols = order.iter().filter_map(|&id| match self.node(id) {
            Node::Symbol(symbol) if symbol != Symbol::PI => Some(symbol),
            _ => None,
        });
        let symbols = symbols.collect();
        (order, self.epoch, symbols)
    }

    /// The place of a node in the last [`Self::reachable`], if it was there.
    pub fn slot(&self, id: ExprId) -> Option<usize> {
        match self.marks.get(id.index()) {
            Some(&(epoch, slot)) if epoch == self.epoch => Some(slot as usize),
            _ => None,
        }
    }
}

/// A table hash made of the 32 bits that are kept for each node: the table
/// takes its tag from the top bits and its bucket from the low ones.
fn spread(low: u32) -> u64 {
    (low as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) & !0xffff_ffff | low as u64
}

fn hash_node(node: &Node, items: &[Item]) -> u64 {
    let mut hasher = FxHasher::default();
    match *node {
        Node::Number(id) => hasher.write_u32(id.0),
        Node::Symbol(symbol) => hasher.write_u64(0x100_0000_0000 | symbol.0 as u64),
        Node::Sum { constant, .. } => hasher.write_u64(0x200_0000_0000 | constant.0 as u64),
        Node::Product { .. } => hasher.write_u64(0x300_0000_0000),
        Node::Power(a, b) => {
            hasher.write_u64(0x400_0000_0000 | a.0 as u64);
            hasher.write_u32(b.0);
        }
        Node::Call { function, .. } => hasher.write_u64(0x500_0000_0000 | function as u64),
        Node::Solve { solve, index } => {
            hasher.write_u64(0x600_0000_0000 | solve as u64);
            hasher.write_u32(index);
        }
        Node::Restricted { function, .. } => hasher.write_u64(0x700_0000_0000 | function as u64),
    }
    for item in items {
        hasher.write_u64((item.expr.0 as u64) << 32 | item.number.0 as u64);
    }
    let full = hasher.finish();
    spread((full ^ (full >> 32)) as u32)
}
