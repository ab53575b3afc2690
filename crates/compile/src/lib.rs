//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Expressions to something that can be called a million times.
//!
//! ```text
//! expressions ─lower→ Tape ─backend→ Function ─call→ numbers
//! ```
//!
//! A [`Tape`] is a straight list of instructions on numbered registers: each
//! common subexpression once, integer powers as products, sine and cosine of one argument
//! together, a·b + c as one instruction, one factorization for each matrix of the `solve` nodes. What
//! depends on constants only is computed once, ahead of the calls. A backend turns
//! a tape into a [`Function`]; all of them compute the same thing, to the bit.
//!
//! ```
//! use dalembert_compile::{Tape, backends};
//! use dalembert_expr::Exprs;
//!
//! let exprs = Exprs::new();
//! let (m, x) = (exprs.constant("m"), exprs.variable("x"));
//! let y = m * x.sin() + x;
//! let tape = Tape::lower(&exprs, &[y.id], &[m.symbol().unwrap()], &[x.symbol().unwrap()]);
//! let function = backends::DEFAULT.compile(tape);
//! let mut scratch = function.scratch();
//! let mut out = [0.0];
//! function.prepare(&mut scratch, &[2.0]);
//! function.call(&mut scratch, &[0.5], &mut out);
//! assert!((out[0] - (2.0 * 0.5f64.sin() + 0.5)).abs() < 1e-15);
//! ```
//!
//! A tape is also what backends share. [`Slots`] are places for its registers, by how long each
//! is wanted, [`Companions`] what its series need; [`Program`] is its one run over any [`Values`]: [`Lanes`] of doubles, or
//! [`Through`] any arithmetic that expressions are evaluated in. A new backend passes
//! [`backend_tests!`].
//!
//! The crate knows no mechanics.

pub mod backends;
mod bound;
pub mod calls;
mod companions;
pub mod conformance;
mod degree;
mod elimination;
pub mod enclosure;
mod fuse;
mod group;
mod joined;
mod lanes;
mod liveness;
mod lower;
mod lu;
pub mod printed;
mod program;
mod reduction;
pub mod series;
mod tape;
mod through;
mod values;

pub use backends::machine::LaneList;
pub use backends::{Backend, Function, Scratch};
pub use bound::Bound;
pub use companions::Companions;
pub use elimination::Problem;
pub use joined::Given;
pub use lanes::Lanes;
pub use liveness::{KEPT, Slots};
pub use program::{Program, Room};
pub use reduction::SparseProblem;
pub use tape::{Entry, Instruction, Matrix, Register, Right, Tape};
pub use through::Through;
pub use values::Values;
