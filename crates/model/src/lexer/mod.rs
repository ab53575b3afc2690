//! From text to tokens.
//!
//! The rules a lexer has to know, beyond which characters form a token:
//!
//! - **Where a statement ends.** A line end ends it unless a `(` or `[` is
//!   open, the line ends with one of `+ - * / ^ = ~ : , -> ..`, or the next
//!   line that is not blank begins with one of these. (A next line that begins
//!   with `)` or `]` is joined because the bracket is open.) `;` always ends a
//!   statement. Only such ends appear as tokens.
//! - **Where a statement surely begins.** A bracket that is never closed must
//!   not swallow the rest of the file. A line that begins with the word of a
//!   statement, where that word cannot be an operand, begins a statement
//!   whatever is open. No valid text is touched by this: it happens only where
//!   two operands would stand side by side.
//! - **Titles.** Behind `system` at the beginning of a statement the rest of
//!   the line is text.
//! - **Look-alikes.** Typographic operators and operators of other languages
//!   are reported, and lexing goes on as if the right one had been written.

mod characters;
mod foreign;
mod numbers;
#[cfg(test)]
mod tests;
mod token;

pub use token::{Token, TokenKind};

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexicon::STATEMENT_WORDS;
use crate::span::{SourceId, Span};
use characters::*;
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// Words that may stand right behind an operand, so that the operand before
/// them may be called like a statement: `force start at r`.
const SEPARATORS: [&str; 7] = ["at", "along", "rising", "falling", "in", "and", "or"];

/// Faults of one text beyond this number are not recorded: no one reads them,
/// and a file of garbage must not fill the memory with complaints.
pub(crate) const MAX_FAULTS: usize = 1000;

/// What kind of text is lexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Statements.
    Statements,
    /// Checks, one a line: a line that begins with a sign is a check of its
    /// own (`-x' = 3`), and there are no statements to begin.
    Checks,
    /// One expression or list: line ends are white space.
    Expression,
}

/// Turns the given byte ranges of a text into tokens; the end of a range ends
/// its last statement. The last token is always [`TokenKind::Eof`].
pub fn lex(
    source: SourceId,
    text: &str,
    ranges: &[Range<usize>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    lex_as(Mode::Statements, source, text, ranges, diagnostics)
}

/// As [`lex`], for any kind of text.
pub(crate) fn lex_as(
    mode: Mode,
    source: SourceId,
    text: &str,
    ranges: &[Range<usize>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let limit = diagnostics.len() + MAX_FAULTS;
    let mut lexer = Lexer {
        mode,
        source,
        text,
        at: 0,
        end: 0,
        tokens: Vec::new(),
        names: FxHashSet::default(),
        open: 0,
        braces: 0,
        newline: true,
        comment_unclosed: false,
        diagnostics,
        limit,
    };
    for range in ranges {
        // A range that cuts a character in two is not of our making.
        if text.get(range.clone()).is_some() {
            lexer.range(range.clone());
        }
    }
    let place = lexer.tokens.last().map_or(Span::new(source, 0, 0), |last| last.span.after());
    lexer.tokens.push(Token { kind: TokenKind::Eof, span: place, line_start: true });
    lexer.tokens
}

struct Lexer<'a> {
    mode: Mode,
    source: SourceId,
    text: &'a str,
    /// The next byte.
    at: usize,
    /// The end of the current range.
    end: usize,
    tokens: Vec<Token>,
    names: FxHashSet<Arc<str>>,
    /// How many `(` and `[` are open.
    open: usize,
    /// How many `{` are open.
    braces: usize,
    /// Whether a line has ended since the last token.
    newline: bool,
    /// Whether no `*/` is left in the range.
    comment_unclosed: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
    limit: usize,
}

impl Lexer<'_> {
    fn range(&mut self, range: Range<usize>) {
        (self.at, self.end) = (range.start, range.end);
        self.open = usize::from(self.mode == Mode::Expression);
        self.newline = true;
        self.comment_unclosed = false;
        while let Some(c) = self.peek() {
            self.next(c);
        }
        self.end_statement();
    }

    fn next(&mut self, c: char) {
        let start = self.at;
        match c {
            '\n' | '\r' => {
                self.at += 1;
                self.newline = true;
            }
            '#' => self.skip_line(),
            ';' => self.semicolon(1),
            '0'..='9' => self.number(),
            '"' => self.string(),
            '.' if self.peek_second().is_some_and(|next| next.is_ascii_digit()) => self.number(),
            c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
            c if starts_name(c) => self.name(),
            _ if self.foreign() => {}
            _ => match self.operator() {
                Some((kind, length)) => {
                    self.at += length;
                    self.push(kind, start);
                }
                None => self.unusual(c),
            },
        }
    }

    /// The ASCII operator that begins here, and its length.
    fn operator(&self) -> Option<(TokenKind, usize)> {
        operator(&self.text[self.at..self.end])
    }

    fn semicolon(&mut self, length: usize) {
        let start = self.at;
        self.at += length;
        if self.open > 0 {
            return self.push(TokenKind::Semicolon, start);
        }
        let span = Span::new(self.source, start, self.at);
        self.tokens.push(Token { kind: TokenKind::End, span, line_start: false });
    }

    fn name(&mut self) {
        let start = self.at;
        let mut spelled = String::new();
        while let Some(c) = self.peek() {
            if continues_name(c) {
                spelled.push(c);
            } else if let Some(digit) = subscript(c) {
                spelled.push(digit);
            } else {
                break;
            }
            self.at += c.len_utf8();
        }
        // `θ̇` of a text that was printed.
        let dotted = if spelled.is_ascii() { None } else { without_dots(&spelled) };
        let (spelled, primes) = dotted.unwrap_or((spelled, 0));
        let name = self.intern(spelled);
        let is_system = &*name == "system" && self.mode == Mode::Statements;
        self.push(TokenKind::Name(name), start);
        (0..primes).for_each(|_| self.push(TokenKind::Prime, start));
        if is_system && self.stands_first() {
            self.title();
        }
    }

    fn intern(&mut self, spelled: String) -> Arc<str> {
        let spelled = if spelled.is_ascii() { spelled } else { spelled.nfc().collect() };
        if let Some(known) = self.names.get(spelled.as_str()) {
            return known.clone();
        }
        let name: Arc<str> = spelled.into();
        self.names.insert(name.clone());
        name
    }

    /// Whether the last token is the first of its statement.
    fn stands_first(&self) -> bool {
        use TokenKind::*;
        match self.tokens.len().checked_sub(2).map(|before| &self.tokens[before].kind) {
            None | Some(End | OpenBrace | CloseBrace) => true,
            Some(_) => false,
        }
    }

    /// The rest of the line behind `system`.
    fn title(&mut self) {
        let rest = &self.text[self.at..self.end];
        let line = &rest[..rest.find(['\n', '\r', '#']).unwrap_or(rest.len())];
        let title = line.trim();
        // `part a = M { system = 2 }` sets a parameter that is called so.
        if self.braces > 0 && title.starts_with('=') {
            return;
        }
        let start = self.at + (line.len() - line.trim_start().len()).min(line.len() - title.len());
        self.at = start + title.len();
        self.push(TokenKind::Title(title.into()), start);
        self.end_statement();
    }

    fn string(&mut self) {
        let start = self.at;
        let rest = &self.text[self.at..self.end];
        let opening = rest.chars().next().map_or(0, char::len_utf8);
        let inside = &rest[opening..];
        let stop = inside.find(|c| matches!(c, '"' | '\n' | '\r') || is_curly_quote(c));
        let length = stop.unwrap_or(inside.len());
        let closing = inside[length..].chars().next().filter(|c| !matches!(c, '\n' | '\r'));
        let text: Arc<str> = inside[..length].trim_end_matches(['\n', '\r']).into();
        self.at += opening + length + closing.map_or(0, char::len_utf8);
        if closing.is_none() {
            let place = Span::new(self.source, start, self.at);
            self.report(
                Diagnostic::fault(Code::UnterminatedString, place, "this text is never closed")
                    .hint("put a `\"` at its end, on the same line"),
            );
        }
        self.push(TokenKind::Text(text), start);
    }

    /// Adds a token that reaches from `start` to here, and before it the end of
    /// the last statement if there is one.
    fn push(&mut self, kind: TokenKind, start: usize) {
        let line_start = std::mem::take(&mut self.newline);
        if line_start && !self.is_joined(&kind) {
            self.end_statement();
        } else if self.mode == Mode::Statements {
            self.resynchronize(&kind, line_start);
        }
        match kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => self.open += 1,
            TokenKind::CloseParen | TokenKind::CloseBracket => {
                self.open = self.open.saturating_sub(1);
            }
            // Braces hold statements: whatever is open before one stays open
            // for good.
            TokenKind::OpenBrace => (self.open, self.braces) = (0, self.braces + 1),
            TokenKind::CloseBrace => (self.open, self.braces) = (0, self.braces.saturating_sub(1)),
            _ => {}
        }
        let span = Span::new(self.source, start, self.at);
        self.tokens.push(Token { kind, span, line_start });
    }

    /// Whether the line before goes on where a line begins with `kind`.
    fn is_joined(&self, kind: &TokenKind) -> bool {
        let Some(last) = self.tokens.last() else { return false };
        let sign = matches!(kind, TokenKind::Plus | TokenKind::Minus);
        self.open > 0
            || last.kind.joins_lines()
            || (kind.joins_lines() && !(sign && self.mode == Mode::Checks))
    }

    /// Ends a joined line after all where the next one surely begins a
    /// statement (see the module's rules).
    fn resynchronize(&mut self, kind: &TokenKind, line_start: bool) {
        let Some(last) = self.tokens.last() else { return };
        let is_statement_word =
            |kind: &TokenKind| kind.name().is_some_and(|name| STATEMENT_WORDS.contains(&name));
        if line_start {
            // An operand, then the word of a statement on a new line.
            if last.kind.ends_operand() && is_statement_word(kind) {
                self.end_statement();
            }
            return;
        }
        // The word of a statement on a new line, then an operand.
        let operand = match kind {
            TokenKind::Name(name) => !SEPARATORS.contains(&&**name),
            TokenKind::Number(_) | TokenKind::Text(_) => true,
            _ => false,
        };
        let begins = last.line_start && is_statement_word(&last.kind) && !self.stands_first();
        if operand
            && begins
            && let Some(word) = self.tokens.pop()
        {
            self.end_statement();
            self.tokens.push(word);
        }
    }

    /// Adds an end behind the last token, if it does not end a statement yet.
    fn end_statement(&mut self) {
        self.open = usize::from(self.mode == Mode::Expression);
        if let Some(last) = self.tokens.last()
            && !matches!(last.kind, TokenKind::End | TokenKind::OpenBrace)
        {
            let span = last.span.after();
            self.tokens.push(Token { kind: TokenKind::End, span, line_start: false });
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..self.end].chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.text[self.at..self.end].chars().nth(1)
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..self.end];
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < self.limit {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The ASCII operator at the beginning of `text`, and its length.
fn operator(text: &str) -> Option<(TokenKind, usize)> {
    use TokenKind::*;
    let mut bytes = text.bytes();
    let (first, second) = (bytes.next()?, bytes.next());
    Some(match (first, second) {
        (b'-', Some(b'>')) => (Arrow, 2),
        (b'.', Some(b'.')) => (Dots, 2),
        (b'<', Some(b'=')) => (LessEqual, 2),
        (b'>', Some(b'=')) => (GreaterEqual, 2),
        (b'+', _) => (Plus, 1),
        (b'-', _) => (Minus, 1),
        (b'*', _) => (Star, 1),
        (b'/', _) => (Slash, 1),
        (b'^', _) => (Caret, 1),
        (b'=', _) => (Equals, 1),
        (b'~', _) => (Tilde, 1),
        (b':', _) => (Colon, 1),
        (b',', _) => (Comma, 1),
        (b'\'', _) => (Prime, 1),
        (b'.', _) => (Dot, 1),
        (b'<', _) => (Less, 1),
        (b'>', _) => (Greater, 1),
        (b'(', _) => (OpenParen, 1),
        (b')', _) => (CloseParen, 1),
        (b'[', _) => (OpenBracket, 1),
        (b']', _) => (CloseBracket, 1),
        (b'{', _) => (OpenBrace, 1),
        (b'}', _) => (CloseBrace, 1),
        _ => return None,
    })
}
