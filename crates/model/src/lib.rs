//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! The model language: from text to a [`System`](system::System).
//!
//! ```
//! use dalembert_model::load::{Syntax, load};
//! let text = "coord x\nkinetic x'^2/2\npotential k*x^2/2\nparam k = 4";
//! let loaded = load("spring.dal", text, Syntax::Plain, &[], Default::default());
//! assert!(!loaded.is_faulty());
//! let wrong = load("wrong.dal", "coord x\nkinetic y'^2/2", Syntax::Plain, &[], Default::default());
//! assert_eq!(wrong.diagnostics[0].code.name(), "unknown-name");
//! ```
//!
//! The way of the data: [`lexer`] → [`parser`] → [`tree`] → [`resolve`] →
//! [`system`]. No stage fails; each adds to a list of [`diagnostic`]s, and
//! [`render`] shows them. Spans ride along to the end.

pub mod build;
pub mod codes;
pub mod diagnostic;
pub mod expand;
pub mod format;
pub mod lexer;
pub mod lexicon;
pub mod literate;
pub mod load;
pub mod parameters;
pub mod parser;
pub mod rank;
pub mod render;
pub mod resolve;
pub mod smoothness;
pub mod span;
pub mod system;
mod tensor;
pub mod tree;
pub mod walk;
