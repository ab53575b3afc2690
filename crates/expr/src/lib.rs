//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Hash-consed symbolic expressions.
//!
//! An [`Exprs`] is an append-only arena in which equal expressions are one
//! node. [`Expr`] is a `Copy` handle with operators, so that formulas read like
//! the paper they come from:
//!
//! ```
//! use dalembert_expr::Exprs;
//! let exprs = Exprs::new();
//! let (m, l, g) = (exprs.constant("m"), exprs.constant("l"), exprs.constant("g"));
//! let th = exprs.variable("th");
//! let (x, y) = (l * th.sin(), -l * th.cos());
//! let lagrangian = m * (x.dt().powi(2) + y.dt().powi(2)) / 2 - m * g * y;
//! let rate = th.dt().symbol().unwrap();
//! // ∂²L/∂θ′² = m l², up to sin² + cos² = 1, which the zero test knows.
//! let mass = lagrangian.d(rate).d(rate);
//! assert!(exprs.is_zero((mass - m * l.powi(2)).id).is_zero());
//! ```
//!
//! The crate knows no mechanics. Nothing is ever inverted symbolically: a
//! linear system inside a formula is a [`solve`](Exprs::solve) node.

pub mod arena;
mod arithmetic;
pub mod ball;
mod branch;
mod build;
mod degree;
mod difference;
mod domain;
pub mod eval;
mod explicit;
mod forward;
mod function;
mod generic;
mod given;
mod handle;
mod integral;
pub mod interrupt;
mod kept;
mod modular;
mod number;
mod print;
mod random;
pub mod restriction;
mod reverse;
mod roots;
mod sample;
pub mod series;
mod simplify;
mod substitute;
mod switches;
mod symbol;
mod tables;
mod terms;
pub mod zero;

pub(crate) use arena::NumberId;
pub use arena::SurfaceId;
pub use arena::{ExprId, Exprs, LinearSystem};
pub use arithmetic::Restriction;
pub use branch::Assumption;
pub use domain::Narrow;
pub use explicit::Explicit;
pub use forward::Jacobian;
pub use function::{Function, Parity};
pub use generic::RankAt;
pub use given::{Closure, Given};
pub use handle::Expr;
pub use kept::KeptValues;
pub use number::Number;
pub use print::{Listing, Notation, latex_name, source_name, text_name};
pub use random::Random;
pub use restriction::Surface;
pub use simplify::Effort;
pub use switches::{Switch, SwitchKind};
pub use symbol::{Shown, Symbol, SymbolInfo, SymbolKind};
pub use tables::{Between, Outside, Table, TableId};
pub use zero::{Zero, ZeroTest};
