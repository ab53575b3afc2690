//! The order in which authors write factors and terms, shared by all
//! notations.
//!
//! In a product: roots of numbers, parameters, time and coordinates, their time
//! derivatives, exponentials, sums in parentheses, roots, and other functions
//! last, so that `m l θ̇² sin θ` needs no parentheses. In a sum: terms with accelerations, then
//! those of higher degree in the velocities, polynomials before functions, then
//! by degree in the coordinates, then alphabetically in the order of
//! declaration: ½(m₁ + m₂) l₁² θ̇₁² + ½ m₂ l₂² θ̇₂² + m₂ l₁ l₂ θ̇₁ θ̇₂ cos(θ₁ − θ₂).
//!
//! Everything is decided by structure, never by the ids that the history of an
//! arena happens to have given to nodes.

mod keys;

pub(super) use keys::{FactorKey, TermKey};

use super::names::convention;
use crate::arena::{Arena, ExprId, Node};
use crate::function::Function;
use crate::number::Number;
use crate::symbol::{Symbol, SymbolKind};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// What ordering and layout need to know of a node.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// Its place among all nodes at hand, by structure.
    pub rank: u32,
    /// Degrees in coordinates, velocities and higher derivatives.
    pub degrees: [f32; 3],
    /// Whether it holds neither variables nor time.
    pub constant: bool,
    /// Whether it holds a function or a root of what is not constant.
    pub functions: bool,
    /// The first of its symbols in the order of parameters.
    pub lead: u64,
}

/// The facts of all nodes that the roots consist of. The operands of solve
/// nodes are not printed and not looked at.
pub(super) struct Order {
    facts: FxHashMap<ExprId, Facts>,
    symbols: FxHashMap<Symbol, u64>,
    /// All nodes, children first.
    pub nodes: Vec<ExprId>,
}

/// How symbols compare: constants by convention and declaration, then time,
/// then variables by the order of their derivative and declaration.
fn symbol_keys(arena: &Arena, nodes: &[ExprId]) -> FxHashMap<Symbol, u64> {
    let found: Vec<Symbol> = nodes
        .iter()
        .filter_map(|&id| match arena.node(id) {
            Node::Symbol(symbol) => Some(symbol),
            _ => None,
        })
        .collect();
    // A derivative ranks with the variable that it is the derivative of.
    let last = found.iter().map(|s| s.index()).max().unwrap_or(0);
    let mut base: Vec<usize> = (0..=last).collect();
    for index in 0..=last {
        if let Some(rate) = arena.symbol_info(Symbol(index as u32)).rate
            && rate.index() <= last
        {
            base[rate.index()] = base[index];
        }
    }
    let key = |symbol: Symbol| {
        let info = arena.symbol_info(symbol);
        let (class, within) = match info.kind {
            SymbolKind::Constant => (0, convention(&info.name) as u64),
            SymbolKind::Time => (1, 0),
            SymbolKind::Variable => (2, info.primes as u64),
        };
        class << 48 | within << 32 | base[symbol.index()] as u64
    };
    found.into_iter().map(|symbol| (symbol, key(symbol))).collect()
}

impl Order {
    /// Looks at `most` nodes or a few more, those nearest to the roots.
    pub fn new(arena: &Arena, roots: &[ExprId], most: usize) -> Order {
        let mut heights: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut nodes: Vec<ExprId> = Vec::new();
        for &root in roots {
            if heights.insert(root, 0).is_none() {
                nodes.push(root);
            }
        }
        let mut at = 0;
        while at < nodes.len() && nodes.len() < most {
            for child in operands(arena, nodes[at]) {
                if heights.insert(child, 0).is_none() {
                    nodes.push(child);
                }
            }
            at += 1;
        }
        nodes.sort_unstable();
        let mut levels: Vec<Vec<ExprId>> = Vec::new();
        for &id in &nodes {
            let known = |c: &ExprId| heights.get(c).map_or(0, |h| h + 1);
            let height = operands(arena, id).iter().map(known).max().unwrap_or(0);
            heights.insert(id, height);
            if levels.len() <= height as usize {
                levels.resize(height as usize + 1, Vec::new());
            }
            levels[height as usize].push(id);
        }
        let symbols = symbol_keys(arena, &nodes);
        let mut order = Order { facts: FxHashMap::default(), symbols, nodes };
        // Level by level: the operands of a node have their ranks before it.
        let mut rank = 0;
        for level in levels {
            let mut keyed: Vec<(Key, ExprId)> =
                level.iter().map(|&id| (order.key(arena, id), id)).collect();
            keyed.sort_by(|a, b| a.0.compare(&b.0).then(a.1.cmp(&b.1)));
            for (_, id) in keyed {
                let facts = order.facts_of(arena, id, rank);
                order.facts.insert(id, facts);
                rank += 1;
            }
        }
        order
    }

    /// Whether it was looked at.
    pub fn knows(&self, id: ExprId) -> bool {
        self.facts.contains_key(&id)
    }

    /// The facts of a node; those of a number for one that is not at hand.
    pub fn facts(&self, id: ExprId) -> Facts {
        const UNKNOWN: Facts = Facts {
            rank: u32::MAX,
            degrees: [0.0; 3],
            constant: true,
            functions: false,
            lead: u64::MAX,
        };
        self.facts.get(&id).copied().unwrap_or(UNKNOWN)
    }

    fn rank(&self, id: ExprId) -> u32 {
        self.facts(id).rank
    }

    fn key(&self, arena: &Arena, id: ExprId) -> Key {
        let mut key = Key { kind: 0, detail: 0, number: None, items: Vec::new() };
        match arena.node(id) {
            Node::Number(n) => key.number = Some(arena.value(n).clone()),
            Node::Symbol(symbol) => {
                (key.kind, key.detail) =
                    (1, self.symbols.get(&symbol).copied().unwrap_or(u64::MAX));
            }
            Node::Product { start, len } => {
                key.kind = 2;
                key.items.extend(
                    arena
                        .items(start, len)
                        .iter()
                        .map(|i| (self.rank(i.expr), arena.value(i.number).clone())),
                );
                key.items.sort();
            }
            Node::Power(base, exponent) => {
                key.kind = 3;
                key.items =
                    vec![(self.rank(base), Number::ZERO), (self.rank(exponent), Number::ZERO)];
            }
            Node::Sum { constant, start, len } => {
                (key.kind, key.number) = (4, Some(arena.value(constant).clone()));
                key.items.extend(
                    arena
                        .items(start, len)
                        .iter()
                        .map(|i| (self.rank(i.expr), arena.value(i.number).clone())),
                );
                key.items.sort();
            }
            Node::Call { function, start, len } => {
                (key.kind, key.detail) = (5, function as u64);
                key.items.extend(
                    arena.items(start, len).iter().map(|i| (self.rank(i.expr), Number::ZERO)),
                );
                if is_commutative(function) {
                    key.items.sort();
                }
            }
            Node::Solve { solve, index } => {
                (key.kind, key.detail) = (6, (solve as u64) << 32 | index as u64)
            }
            Node::Restricted { function, start, len } => {
                (key.kind, key.detail) = (7, function as u64);
                key.items.extend(
                    arena.items(start, len).iter().map(|i| (self.rank(i.expr), Number::ZERO)),
                );
            }
        }
        key
    }

    fn facts_of(&self, arena: &Arena, id: ExprId, rank: u32) -> Facts {
        let mut facts =
            Facts { rank, degrees: [0.0; 3], constant: true, functions: false, lead: u64::MAX };
        for child in operands(arena, id) {
            let child = self.facts(child);
            facts.constant &= child.constant;
            facts.functions |= child.functions;
            facts.lead = facts.lead.min(child.lead);
        }
        // The degrees of a sum are those of the term that comes first in it.
        let max = |facts: &mut Facts, other: Facts| {
            let higher = (0..3).rev().map(|k| other.degrees[k].total_cmp(&facts.degrees[k]));
            if higher.fold(Ordering::Equal, Ordering::then) == Ordering::Greater {
                facts.degrees = other.degrees;
            }
        };
        match arena.node(id) {
            Node::Number(_) => {}
            Node::Symbol(symbol) => {
                let info = arena.symbol_info(symbol);
                facts.lead = self.symbols.get(&symbol).copied().unwrap_or(u64::MAX);
                facts.constant = info.kind == SymbolKind::Constant;
                if !facts.constant {
                    facts.degrees[(info.primes as usize).min(2)] = 1.0;
                }
            }
            Node::Sum { start, len, .. } => {
                for item in arena.items(start, len) {
                    max(&mut facts, self.facts(item.expr));
                }
            }
            Node::Product { start, len } => {
                for item in arena.items(start, len) {
                    let (exponent, base) = (arena.value(item.number), self.facts(item.expr));
                    facts.functions |= !base.constant && !exponent.is_integer();
                    for k in 0..3 {
                        facts.degrees[k] += exponent.to_f64() as f32 * base.degrees[k];
                    }
                }
            }
            Node::Power(base, _) => facts.degrees = self.facts(base).degrees,
            Node::Call { function: Function::If, start, len } => {
                for item in arena.items(start, len).iter().skip(1) {
                    max(&mut facts, self.facts(item.expr));
                }
                facts.functions = true;
            }
            Node::Call { .. } => facts.functions = !facts.constant,
            Node::Solve { .. } | Node::Restricted { .. } => facts.constant = false,
        }
        facts
    }

    /// Where a factor stands in its product: smaller comes first.
    pub fn factor_key(&self, arena: &Arena, base: ExprId, exponent: &Number) -> FactorKey {
        let facts = self.facts(base);
        let whole = exponent.is_integer();
        let (class, within) = match arena.node(base) {
            Node::Number(_) => (0, 0),
            Node::Symbol(_) if !whole => (if facts.constant { 2 } else { 7 }, facts.lead),
            Node::Symbol(symbol) => {
                let primes = arena.symbol_info(symbol).primes;
                (if facts.constant { 1 } else { 3 + primes.min(1) }, facts.lead)
            }
            Node::Sum { .. } if whole => (if facts.constant { 1 } else { 6 }, facts.lead),
            Node::Call { function, .. } => {
                return FactorKey(call_class(function), 0, self.call_rank(arena, base));
            }
            Node::Solve { .. } | Node::Restricted { .. } => (7, 0),
            _ => (if facts.constant { 2 } else { 7 }, facts.lead),
        };
        FactorKey(class, within, facts.rank)
    }

    /// Calls are ordered by their arguments first: sin θ₁ cos θ₁ sin θ₂.
    fn call_rank(&self, arena: &Arena, call: ExprId) -> u32 {
        let argument = operands(arena, call).first().map_or(0, |&x| self.rank(x));
        let function = match arena.node(call) {
            Node::Call { function, .. } => function as u32,
            _ => 0,
        };
        argument.saturating_mul(32).saturating_add(function)
    }

    /// What decides a term's place in its sum, from its factors.
    pub fn term_key(&self, arena: &Arena, factors: &[(ExprId, Number)]) -> TermKey {
        let mut key = TermKey::default();
        for (base, exponent) in factors {
            let facts = self.facts(*base);
            let power = exponent.to_f64() as f32;
            for k in 0..3 {
                key.degrees[2 - k] += power * facts.degrees[k];
            }
            let node = arena.node(*base);
            match node {
                Node::Symbol(_) if !facts.constant => {
                    key.variables.push((symbol_place(facts.lead), power))
                }
                _ if facts.constant => {
                    key.constant_degree += power.max(0.0);
                    key.constants.push((facts.lead, facts.rank, power));
                }
                Node::Call { function, .. } => {
                    key.sines +=
                        power * matches!(function, Function::Sin | Function::Sinh) as u8 as f32;
                    key.functions.push((self.call_rank(arena, *base), power));
                }
                _ => key.others.push((facts.rank, power)),
            }
            key.has_function |= !facts.constant && (facts.functions || !exponent.is_integer());
        }
        key.variables.sort_by_key(|v| v.0);
        key.constants.sort_by_key(|c| (c.0, c.1));
        key.functions.sort_by_key(|f| f.0);
        key.others.sort_by_key(|o| o.0);
        key
    }
}

/// The operands that are printed.
pub(super) fn operands(arena: &Arena, id: ExprId) -> smallvec::SmallVec<[ExprId; 8]> {
    match arena.node(id) {
        Node::Solve { .. } | Node::Restricted { .. } => Default::default(),
        _ => arena.children(id),
    }
}

fn is_commutative(function: Function) -> bool {
    matches!(function, Function::Min | Function::Max | Function::And | Function::Or)
}

/// Exponentials before sums, since their ends are seen; choices last, being
/// large.
fn call_class(function: Function) -> u8 {
    match function {
        Function::Exp => 5,
        Function::Abs | Function::Sign => 8,
        Function::Log | Function::Asin | Function::Acos | Function::Atan | Function::Atan2 => 9,
        Function::Sin
        | Function::Cos
        | Function::Tan
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh => 10,
        _ => 11,
    }
}

/// Higher derivatives first, so that θ̈₁ leads its row; then declaration.
fn symbol_place(key: u64) -> u64 {
    let (class, primes, base) = (key >> 48, key >> 32 & 0xffff, key & 0xffff_ffff);
    // Variables (class 2) before time (class 1).
    (2 - class.min(2)) << 48 | (0xffff - primes) << 32 | base
}

/// Structure of a node, given the ranks of its operands.
struct Key {
    kind: u8,
    detail: u64,
    number: Option<Number>,
    items: Vec<(u32, Number)>,
}

impl Key {
    fn compare(&self, other: &Key) -> Ordering {
        (self.kind, self.detail)
            .cmp(&(other.kind, other.detail))
            .then_with(|| self.items.len().cmp(&other.items.len()))
            .then_with(|| self.items.cmp(&other.items))
            .then_with(|| self.number.cmp(&other.number))
    }
}
