//! The model language.

pub mod codes;
pub mod diagnostic;
pub mod lexer;
pub mod literate;
pub mod parser;
pub mod render;
pub mod span;
pub mod tree;
