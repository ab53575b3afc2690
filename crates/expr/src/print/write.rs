//! The writer: an explicit stack of things still to be written, so that no
//! depth of nesting overflows the program's own, and budgets that go down the
//! tree, so that a graph whose tree is astronomical still prints in the space
//! it is given.

use super::layout::{Layout, Term};
use super::order::operands;
use crate::arena::{ExprId, Node};
use crate::symbol::{Symbol, SymbolInfo};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// How tightly an operand must bind to stand without parentheses. The first
/// three are positions in which a condition may stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Or,
    And,
    Compare,
    Sum,
    Term,
    Factor,
    Atom,
}

/// A place for an expression.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub id: ExprId,
    pub level: Level,
    /// Write a sum, or the argument of a call, with its sign changed.
    pub flip: bool,
    /// How many characters it may take, roughly.
    pub budget: u64,
}

pub(super) enum Task {
    Text(Cow<'static, str>),
    Expr(Slot),
}

/// What a node turns into: text and places for its operands.
#[derive(Default)]
pub(super) struct Sheet {
    pub tasks: Vec<Task>,
}

impl Sheet {
    pub fn text(&mut self, text: impl Into<Cow<'static, str>>) {
        self.tasks.push(Task::Text(text.into()));
    }

    pub fn expr(&mut self, id: ExprId, level: Level, budget: u64) {
        self.tasks.push(Task::Expr(Slot { id, level, flip: false, budget }));
    }
}

/// A notation.
pub(super) trait Style {
    fn symbol(&self, info: &SymbolInfo) -> String;
    /// What stands for things left out.
    fn ellipsis(&self) -> &'static str;
    fn node(&self, page: &Page, slot: Slot, sheet: &mut Sheet);
}

/// Roughly what a node takes when written out.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    pub length: u64,
    /// Taller than a line in LaTeX.
    pub tall: bool,
    /// How deep its sums in parentheses are nested.
    pub nesting: u8,
}

/// A layout with the measures of its nodes in one style.
pub(super) struct Page<'a> {
    pub layout: Layout<'a>,
    measures: FxHashMap<ExprId, Measure>,
    symbols: FxHashMap<Symbol, String>,
}

/// What is left of a budget for which it is not worth beginning.
const LEAST: u64 = 12;

impl<'a> Page<'a> {
    pub fn new(layout: Layout<'a>, style: &dyn Style) -> Page<'a> {
        let mut page =
            Page { layout, measures: FxHashMap::default(), symbols: FxHashMap::default() };
        for at in 0..page.layout.order.nodes.len() {
            let id = page.layout.order.nodes[at];
            if let Node::Symbol(symbol) = page.layout.node(id) {
                let text = style.symbol(page.layout.arena.symbol_info(symbol));
                page.symbols.insert(symbol, text);
            }
            let measure = page.measure_node(id);
            page.measures.insert(id, measure);
        }
        page
    }

    fn measure_node(&self, id: ExprId) -> Measure {
        let arena = self.layout.arena;
        if let Some(name) = self.layout.names.get(&id) {
            return Measure { length: name.chars().count() as u64, tall: false, nesting: 0 };
        }
        let mut total = Measure { length: 2, tall: false, nesting: 0 };
        for child in operands(arena, id) {
            let child = self.measure(child);
            total.length = total.length.saturating_add(child.length).saturating_add(3);
            total.tall |= child.tall;
            total.nesting = total.nesting.max(child.nesting);
        }
        match arena.node(id) {
            Node::Number(_) => {}
            Node::Symbol(symbol) => total.length = self.symbol(symbol).chars().count() as u64,
            Node::Sum { start, len, .. } => {
                total.tall |=
                    arena.items(start, len).iter().any(|i| !arena.value(i.number).is_integer());
            }
            Node::Product { start, len } => {
                let items = arena.items(start, len);
                let below = items.iter().filter(|i| arena.value(i.number).is_negative()).count();
                total.tall |= below > 0;
                for item in items {
                    let exponent = arena.value(item.number);
                    let sum = matches!(arena.node(item.expr), Node::Sum { .. });
                    if !sum || !exponent.is_integer() || self.layout.names.contains_key(&item.expr)
                    {
                        continue;
                    }
                    // A fraction bar does what parentheses would.
                    let beside = if exponent.is_negative() { below } else { items.len() - below };
                    let alone = beside == 1 && below > 0 && exponent.abs().is_one();
                    let nesting = self.measure(item.expr).nesting.saturating_add(!alone as u8);
                    total.nesting = total.nesting.max(nesting);
                }
            }
            // An exponent does not make its line taller.
            Node::Power(base, _) => total = Measure { length: total.length, ..self.measure(base) },
            Node::Call { function: crate::Function::If, .. } => total.tall = true,
            Node::Call { start, len, .. } => {
                total.length = total.length.saturating_add(5);
                let sum = |id| matches!(arena.node(id), Node::Sum { len: 2.., .. });
                let parentheses = len > 1 || arena.items(start, len).iter().any(|i| sum(i.expr));
                total.nesting = total.nesting.max(parentheses as u8);
            }
            Node::Solve { .. } | Node::Restricted { .. } => total.length = 20,
        }
        total
    }

    /// The measure of a node; one that was not looked at is endless.
    pub fn measure(&self, id: ExprId) -> Measure {
        const ENDLESS: Measure = Measure { length: u64::MAX, tall: false, nesting: 0 };
        self.measures.get(&id).copied().unwrap_or(ENDLESS)
    }

    pub fn symbol(&self, symbol: Symbol) -> &str {
        self.symbols.get(&symbol).map_or("", String::as_str)
    }

    pub fn measure_term(&self, term: &Term) -> u64 {
        let factors = term.numerator.iter().chain(&term.denominator);
        factors.fold(4, |total: u64, f| {
            total.saturating_add(self.measure(f.base).length).saturating_add(3)
        })
    }

    /// Everything below a place, written out.
    pub fn write(&self, style: &dyn Style, root: ExprId, level: Level, budget: u64) -> String {
        let mut out = String::new();
        let mut stack = vec![Task::Expr(Slot { id: root, level, flip: false, budget })];
        while let Some(task) = stack.pop() {
            match task {
                Task::Text(text) => {
                    // A TeX control word ends where no letter follows.
                    if text.starts_with(|c: char| c.is_ascii_alphabetic())
                        && ends_in_control_word(&out)
                    {
                        out.push(' ');
                    }
                    out.push_str(&text);
                }
                Task::Expr(slot)
                    if !self.layout.order.knows(slot.id)
                        || slot.budget < LEAST && slot.budget < self.measure(slot.id).length =>
                {
                    out.push_str(style.ellipsis());
                }
                Task::Expr(slot) => {
                    let mut sheet = Sheet::default();
                    style.node(self, slot, &mut sheet);
                    stack.extend(sheet.tasks.into_iter().rev());
                }
            }
        }
        out
    }
}

fn ends_in_control_word(text: &str) -> bool {
    let word = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    word.len() < text.len() && word.ends_with('\\')
}

/// The budget of each of several things that follow each other: those that fit
/// are unlimited, the first that does not gets what is left, and nothing is
/// left for the others.
pub(super) fn shares(sizes: impl Iterator<Item = u64>, budget: u64) -> Vec<u64> {
    let mut left = budget;
    let mut cut = false;
    sizes
        .enumerate()
        .map(|(at, size)| {
            if budget == u64::MAX {
                return u64::MAX;
            }
            if !cut && size.saturating_add(1) <= left {
                left -= size + 1;
                return u64::MAX;
            }
            let first_cut = !std::mem::replace(&mut cut, true);
            // Something is used up at each step down, so that depth is limited too.
            if first_cut && (at == 0 || left >= LEAST) { left.saturating_sub(4).max(1) } else { 0 }
        })
        .collect()
}
