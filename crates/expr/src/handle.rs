//! `Expr`: an expression with its arena at hand, so that a derivation reads
//! like the page it comes from.

use crate::arena::{ExprId, Exprs};
use crate::function::Function;
use crate::number::Number;
use crate::print::Notation;
use crate::symbol::{Symbol, SymbolKind};
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An expression: an id and the arena it lives in. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Expr<'e> {
    /// The arena.
    pub exprs: &'e Exprs,
    /// The id in it.
    pub id: ExprId,
}

impl Exprs {
    /// The handle of an id.
    pub fn at(&self, id: ExprId) -> Expr<'_> {
        Expr { exprs: self, id }
    }

    /// A new variable.
    pub fn variable(&self, name: &str) -> Expr<'_> {
        self.at(self.of_symbol(self.symbol(name, SymbolKind::Variable)))
    }

    /// A new constant (a parameter).
    pub fn constant(&self, name: &str) -> Expr<'_> {
        self.at(self.of_symbol(self.symbol(name, SymbolKind::Constant)))
    }

    /// An integer.
    pub fn integer(&self, n: i64) -> Expr<'_> {
        self.at(self.of_number(Number::integer(n)))
    }

    /// Time.
    pub fn time(&self) -> Expr<'_> {
        self.at(self.of_symbol(Symbol::TIME))
    }

    /// π.
    pub fn pi(&self) -> Expr<'_> {
        self.at(self.of_symbol(Symbol::PI))
    }

    /// The sum of the terms.
    pub fn sum(&self, terms: &[ExprId]) -> ExprId {
        self.arena.lock().sum(terms)
    }

    /// The product of the factors.
    pub fn product(&self, factors: &[ExprId]) -> ExprId {
        self.arena.lock().product(factors)
    }

    /// A function of its arguments.
    pub fn call(&self, function: Function, arguments: &[ExprId]) -> ExprId {
        self.arena.lock().call(function, arguments)
    }

    /// base^exponent.
    pub fn pow(&self, base: ExprId, exponent: ExprId) -> ExprId {
        self.arena.lock().pow(base, exponent)
    }
}

impl<'e> Expr<'e> {
    fn with(self, id: ExprId) -> Expr<'e> {
        Expr { exprs: self.exprs, id }
    }

    fn call1(self, function: Function) -> Expr<'e> {
        self.with(self.exprs.call(function, &[self.id]))
    }

    /// Whether this is structurally 0. See [`Exprs::is_zero`] for the real test.
    pub fn is_literally_zero(self) -> bool {
        self.id == ExprId::ZERO
    }

    /// The integer power.
    pub fn powi(self, n: i64) -> Expr<'e> {
        self.with(self.exprs.arena.lock().powi(self.id, n))
    }

    /// The power.
    pub fn pow(self, exponent: Expr<'e>) -> Expr<'e> {
        self.with(self.exprs.pow(self.id, exponent.id))
    }

    /// The square root.
    pub fn sqrt(self) -> Expr<'e> {
        self.with(self.exprs.arena.lock().sqrt(self.id))
    }

    /// sin x
    pub fn sin(self) -> Expr<'e> {
        self.call1(Function::Sin)
    }

    /// cos x
    pub fn cos(self) -> Expr<'e> {
        self.call1(Function::Cos)
    }

    /// tan x
    pub fn tan(self) -> Expr<'e> {
        self.call1(Function::Tan)
    }

    /// eˣ
    pub fn exp(self) -> Expr<'e> {
        self.call1(Function::Exp)
    }

    /// Natural logarithm.
    pub fn log(self) -> Expr<'e> {
        self.call1(Function::Log)
    }

    /// |x|
    pub fn abs(self) -> Expr<'e> {
        self.call1(Function::Abs)
    }

    /// The partial derivative with respect to a symbol.
    pub fn d(self, symbol: Symbol) -> Expr<'e> {
        self.with(self.exprs.derivative(self.id, symbol))
    }

    /// The total time derivative.
    pub fn dt(self) -> Expr<'e> {
        self.with(self.exprs.time_derivative(self.id))
    }

    /// The symbol, if it is one.
    pub fn symbol(self) -> Option<Symbol> {
        self.exprs.as_symbol(self.id)
    }
}

impl PartialEq for Expr<'_> {
    /// Structural equality: the same node of the same arena.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.exprs, other.exprs) && self.id == other.id
    }
}

impl Eq for Expr<'_> {}

impl fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.exprs.print_limited(self.id, Notation::Source, 2000))
    }
}

impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.exprs.to_text(self.id))
    }
}

macro_rules! operator {
    ($trait:ident $method:ident) => {
        impl<'e> $trait for Expr<'e> {
            type Output = Expr<'e>;
            fn $method(self, other: Expr<'e>) -> Expr<'e> {
                self.with(self.exprs.arena.lock().$method(self.id, other.id))
            }
        }

        impl<'e> $trait<i64> for Expr<'e> {
            type Output = Expr<'e>;
            fn $method(self, other: i64) -> Expr<'e> {
                self.$method(self.exprs.integer(other))
            }
        }

        impl<'e> $trait<Expr<'e>> for i64 {
            type Output = Expr<'e>;
            fn $method(self, other: Expr<'e>) -> Expr<'e> {
                other.exprs.integer(self).$method(other)
            }
        }
    };
}

operator!(Add add);
operator!(Sub sub);
operator!(Mul mul);
operator!(Div div);

impl<'e> Neg for Expr<'e> {
    type Output = Expr<'e>;
    fn neg(self) -> Expr<'e> {
        self.with(self.exprs.arena.lock().neg(self.id))
    }
}
