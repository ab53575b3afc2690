//! What the program prints of the book in `docs/book`.

/// The language on a page, as Markdown: a chapter of the book, so that there is one
/// text to keep true.
pub const LANGUAGE: &str = include_str!("../docs/book/on-a-page.md");
