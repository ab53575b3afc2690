//! Symbols: the free names in expressions. A symbol is a constant (a
//! parameter), time, or a variable whose time derivative is another symbol.

/// A symbol of one [`Exprs`](crate::Exprs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// π.
    pub const PI: Symbol = Symbol(0);
    /// Time, t.
    pub const TIME: Symbol = Symbol(1);

    /// Its place in the order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a symbol behaves in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Does not change: π and the parameters.
    Constant,
    /// Time itself; its derivative is 1.
    Time,
    /// Changes; its time derivative is a symbol of its own with one prime more.
    Variable,
}

/// How documents print a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Like this name.
    Name(String),
    /// By this LaTeX; where there is none, by its own name.
    Latex(String),
}

/// What is known of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    /// The name without primes: `x`, `th[2]`, `a.p_x`.
    pub name: String,
    /// How often it is differentiated: 1 for `x'`.
    pub primes: u8,
    /// How it behaves in time.
    pub kind: SymbolKind,
    /// How documents print it, if not by its name.
    pub shown: Option<Shown>,
    /// The symbol of its time derivative, once asked for.
    pub(crate) rate: Option<Symbol>,
}

impl SymbolInfo {
    /// The name that documents print, without LaTeX.
    pub fn shown_name(&self) -> &str {
        match &self.shown {
            Some(Shown::Name(name)) => name,
            _ => &self.name,
        }
    }

    /// The name as the language writes it, with its primes.
    pub fn full_name(&self) -> String {
        let mut name = self.name.clone();
        name.extend(std::iter::repeat_n('\'', self.primes as usize));
        name
    }
}
