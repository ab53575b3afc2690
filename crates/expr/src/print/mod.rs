//! Printing: the language's own text, which parses back to the same
//! expression; Unicode for terminals; LaTeX for papers.
//!
//! All three share one order of terms and factors ([`order`]), one division
//! into signs, numerators and denominators ([`layout`]) and one writer
//! ([`write`]), which does not recurse and can be given a limit: a graph prints
//! as its tree, and the tree can be exponentially larger.

mod digits;
mod latex;
mod layout;
mod linear;
mod names;
mod order;
mod shared;
#[cfg(test)]
pub(crate) mod tests;
mod write;

pub use names::{latex_name, source_name, text_name};
pub use shared::Listing;

use crate::arena::{ExprId, Exprs};
use crate::symbol::Symbol;
use layout::Layout;
use write::{Level, Page, Style};

/// A way of writing expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// The language: `1/2*m*x'^2`.
    Source,
    /// Unicode: `½·m·ẋ²`.
    Text,
    /// LaTeX math: `\frac{1}{2} m \dot{x}^{2}`.
    Latex,
}

impl Notation {
    /// A name with its primes in this notation.
    pub fn name(self, name: &str, primes: u8) -> String {
        match self {
            Notation::Source => source_name(name, primes),
            Notation::Text => text_name(name, primes),
            Notation::Latex => latex_name(name, primes),
        }
    }
}

/// Beyond this no reader follows; text for reading is cut here.
const READING_LIMIT: u64 = 4_000_000;

impl Exprs {
    /// Source text that parses back to the same expression. It repeats what is
    /// shared, so it can be very long: see [`Exprs::count_tree_size`] and
    /// [`Exprs::to_source_shared`]. Solve nodes have no source form; they are
    /// written `solve(K[1], r[2])[3]` and do not parse.
    pub fn to_source(&self, id: ExprId) -> String {
        self.print_within(id, Notation::Source, u64::MAX)
    }

    /// Unicode text for terminals.
    pub fn to_text(&self, id: ExprId) -> String {
        self.print_within(id, Notation::Text, READING_LIMIT)
    }

    /// LaTeX, to stand in math mode. Needs amsmath.
    pub fn to_latex(&self, id: ExprId) -> String {
        self.print_within(id, Notation::Latex, READING_LIMIT)
    }

    /// In about `max_chars` characters at most, with dots for what is left out.
    ///
    /// ```
    /// # use dalembert_expr::{Exprs, Notation};
    /// let exprs = Exprs::new();
    /// let mut x = exprs.variable("x");
    /// for _ in 0..100 {
    ///     x = x.sin() * x.cos(); // a tree of 2¹⁰⁰ leaves
    /// }
    /// let text = exprs.print_limited(x.id, Notation::Text, 60);
    /// assert!(text.chars().count() < 120 && text.contains('…'));
    /// ```
    pub fn print_limited(&self, id: ExprId, notation: Notation, max_chars: usize) -> String {
        self.print_within(id, notation, max_chars as u64)
    }

    /// A symbol in a notation.
    pub fn print_symbol(&self, symbol: Symbol, notation: Notation) -> String {
        let arena = self.arena.lock();
        let info = arena.symbol_info(symbol);
        match notation {
            Notation::Latex => latex::symbol_latex(info),
            Notation::Text => notation.name(info.shown_name(), info.primes),
            _ => notation.name(&info.name, info.primes),
        }
    }

    /// A symbol as the language writes it: `th[2]'`.
    pub fn symbol_source(&self, symbol: Symbol) -> String {
        self.print_symbol(symbol, Notation::Source)
    }

    /// A symbol in Unicode: `θ̇₂`.
    pub fn symbol_text(&self, symbol: Symbol) -> String {
        self.print_symbol(symbol, Notation::Text)
    }

    /// A symbol in LaTeX: `\dot{\theta}_{2}`.
    pub fn symbol_latex(&self, symbol: Symbol) -> String {
        self.print_symbol(symbol, Notation::Latex)
    }

    fn print_within(&self, id: ExprId, notation: Notation, limit: u64) -> String {
        let arena = &*self.arena.lock();
        // What is further from the root than this would be left out anyway.
        let most = limit.saturating_mul(16).max(10_000).min(usize::MAX as u64) as usize;
        let mut layout = Layout::new(arena, &[id], most);
        layout.distributes = notation != Notation::Source;
        let style = style(notation);
        let page = Page::new(layout, &*style);
        page.write(&*style, id, Level::Or, limit)
    }
}

fn style(notation: Notation) -> Box<dyn Style> {
    match notation {
        Notation::Source => Box::new(linear::Linear { unicode: false }),
        Notation::Text => Box::new(linear::Linear { unicode: true }),
        Notation::Latex => Box::new(latex::Latex),
    }
}
