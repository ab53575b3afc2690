//! Tokens: the words, numbers and signs a model text is made of.

use crate::span::Span;
use dalembert_expr::Number;
use std::sync::Arc;

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands. An [`TokenKind::End`] made by a line end is empty and
    /// stands right behind the last token of its statement.
    pub span: Span,
    /// Whether it is the first of its line (or of its block).
    pub line_start: bool,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A name or a word of the language, in Unicode normal form C.
    Name(Arc<str>),
    /// A number, exact.
    Number(Number),
    /// `"…"`, without the quotes.
    Text(Arc<str>),
    /// What follows the word `system`, as written.
    Title(Arc<str>),
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `^`
    Caret,
    /// `=`
    Equals,
    /// `~`
    Tilde,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `->`
    Arrow,
    /// `..`
    Dots,
    /// `'`
    Prime,
    /// `.`
    Dot,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `;` while a bracket is open; elsewhere it is an [`TokenKind::End`].
    Semicolon,
    /// Characters that were reported and whose meaning is unknown.
    Unknown,
    /// The end of a statement: a line end that does not continue, or `;`.
    End,
    /// The end of the text; the last token, and the only one of its kind.
    Eof,
}

impl TokenKind {
    /// Whether a line that ends or begins with it is joined to its neighbor.
    pub fn joins_lines(&self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Plus | Minus | Star | Slash | Caret | Equals | Tilde | Colon | Comma | Arrow | Dots
        )
    }

    /// Whether an expression may end with it.
    pub fn ends_operand(&self) -> bool {
        use TokenKind::*;
        matches!(self, Name(_) | Number(_) | Text(_) | Prime | CloseParen | CloseBracket)
    }

    /// Whether an operand (an expression without sign) may begin with it.
    pub fn begins_operand(&self) -> bool {
        use TokenKind::*;
        matches!(self, Name(_) | Number(_) | Text(_) | OpenParen | OpenBracket)
    }

    /// Whether a statement cannot go on behind it.
    pub fn ends_statement(&self) -> bool {
        use TokenKind::*;
        matches!(self, End | Eof | OpenBrace | CloseBrace)
    }

    /// The characters of a name.
    pub fn name(&self) -> Option<&str> {
        match self {
            TokenKind::Name(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is this name.
    pub fn is_name(&self, word: &str) -> bool {
        self.name() == Some(word)
    }
}
