//! From tokens to the tree: recursive descent, one function a rule of the
//! grammar.
//!
//! Parsing never fails. A fault is recorded, and parsing goes on so that one
//! run finds the others too, and nothing that is not one:
//!
//! - Brackets are paired beforehand (`brackets.rs`); what is wrong inside a
//!   bracket stays inside.
//! - Where something is missing, [`ExprKind::Missing`] takes its place, and the
//!   names a faulty statement defines are kept: later stages stay quiet about
//!   the one and find the others.
//! - No token is complained about twice, be it by the lexer and the parser.
//! - In a list, a fault costs one item; in a statement, at most the rest of it.
//!
//! Nesting deeper than [`MAX_DEPTH`] is a fault, so that neither this nor
//! anything that walks the tree can run out of stack. All looking ahead is
//! bounded by the statement and done once, so that time is linear in the text.

mod brackets;
mod checks;
mod declarations;
mod equations;
mod expressions;
mod foreign;
mod machines;
mod operands;
mod quantities;
mod statements;
#[cfg(test)]
mod tests;
mod touch;
mod words;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{MAX_FAULTS, Mode, Token, TokenKind, lex_as};
use crate::literate;
use crate::span::{SourceId, Span};
use crate::tree::{Expr, ExprKind, File, Name, Statement};
use rustc_hash::FxHashSet;

/// How deep brackets, powers and blocks may be nested, all together.
pub const MAX_DEPTH: usize = 200;

/// Parses a model: a whole `.dal` text, or the ```` ```dal ```` and
/// ```` ```check ```` blocks of Markdown.
pub fn parse(
    source: SourceId,
    text: &str,
    markdown: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> File {
    if is_too_long(source, text, diagnostics) {
        return File::default();
    }
    if !markdown {
        if let Some(fault) = foreign_file(source, text, 0) {
            diagnostics.push(fault);
            return File::default();
        }
        let whole = 0..text.len();
        let mut parser = Parser::new(Mode::Statements, source, text, &[whole], diagnostics);
        return File { statements: parser.file(), checks: Vec::new() };
    }
    let blocks = literate::blocks(text);
    if blocks.model.is_empty() {
        let place = Span::new(source, 0, 0);
        diagnostics.push(
            Diagnostic::fault(Code::NoModelBlock, place, "this Markdown text holds no model")
                .hint("a model stands in a fenced block that begins with ```dal"),
        );
    }
    let whole: String = blocks.model.iter().filter_map(|range| text.get(range.clone())).collect();
    let start = blocks.model.first().map_or(0, |range| range.start);
    if let Some(fault) = foreign_file(source, &whole, start) {
        diagnostics.push(fault);
        return File::default();
    }
    let statements = Parser::new(Mode::Statements, source, text, &blocks.model, diagnostics).file();
    let checks = Parser::new(Mode::Checks, source, text, &blocks.checks, diagnostics).checks();
    File { statements, checks }
}

/// The one thing to say about a whole file of another tool.
fn foreign_file(source: SourceId, text: &str, start: usize) -> Option<Diagnostic> {
    let (tool, hint) = foreign::file(text)?;
    let skipped = text.len() - text.trim_start().len();
    let length = text[skipped..].lines().next().map_or(0, str::len);
    let place = Span::new(source, start + skipped, start + skipped + length);
    let message = format!("this is {tool}, and not a model of this language");
    Some(Diagnostic::fault(Code::ForeignWord, place, message).hint(hint))
}

/// Parses a text that is one expression.
pub fn parse_expression(source: SourceId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Expr {
    if is_too_long(source, text, diagnostics) {
        return Expr { kind: ExprKind::Missing, span: Span::new(source, 0, 0) };
    }
    let whole = 0..text.len();
    let mut parser = Parser::new(Mode::Expression, source, text, &[whole], diagnostics);
    let expr = parser.value();
    parser.end_of_text();
    expr
}

/// Parses the text of an option such as `--set` or `--at`: equations
/// `quantity = value`, separated by commas.
pub fn parse_assignments(
    source: SourceId,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Expr, Expr)> {
    if is_too_long(source, text, diagnostics) {
        return Vec::new();
    }
    let whole = 0..text.len();
    let mut parser = Parser::new(Mode::Expression, source, text, &[whole], diagnostics);
    let assignments = parser.assignments();
    parser.end_of_text();
    assignments
}

/// Positions are 32 bits wide.
fn is_too_long(source: SourceId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let too_long = text.len() >= u32::MAX as usize;
    if too_long {
        let place = Span::new(source, 0, 0);
        diagnostics.push(Diagnostic::fault(
            Code::TooLarge,
            place,
            "this text is longer than four gigabytes",
        ));
    }
    too_long
}

/// What may stand around the expression that is being parsed.
#[derive(Clone, Copy, Default)]
struct Context {
    /// Words that end an expression here: `at` in `force F at r`.
    stops: &'static [&'static str],
    /// Whether the expression is an item of a list `name = value, …`.
    items: bool,
    /// Whether comparisons are allowed: in the condition of `if`.
    condition: bool,
    /// Whether it stands inside brackets.
    inside: bool,
}

struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    tokens: Vec<Token>,
    /// See [`brackets::Matched`].
    partner: Vec<u32>,
    /// The next token. The last one, `Eof`, is never passed.
    at: usize,
    context: Context,
    depth: usize,
    /// Whether the rest of the statement cannot be trusted any more: faults in
    /// it are not reported.
    quiet: bool,
    /// Whether this statement was already found to be nested too deep.
    too_deep: bool,
    /// The last token that was complained about here.
    faulted: Option<usize>,
    /// Where the tokens begin that the lexer complained about.
    reported: FxHashSet<u32>,
    /// The names that the text declares.
    declared: words::Declared,
    /// Whether the statement wants numbers only: `param`, `const`, `run`.
    wants_number: bool,
    /// Whether the statements stand inside a `for`.
    in_for: bool,
    /// Statements that were found inside a `for` and belong outside it.
    hoisted: Vec<Statement>,
    diagnostics: &'a mut Vec<Diagnostic>,
    limit: usize,
}

impl<'a> Parser<'a> {
    fn new(
        mode: Mode,
        source: SourceId,
        text: &'a str,
        ranges: &[std::ops::Range<usize>],
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let before = diagnostics.len();
        let tokens = lex_as(mode, source, text, ranges, diagnostics);
        let reported = diagnostics[before..]
            .iter()
            .flat_map(|fault| fault.labels.first())
            .map(|label| label.span.start)
            .collect();
        let matched = brackets::pair(tokens);
        diagnostics.extend(matched.faults);
        Parser {
            source,
            text,
            declared: words::declared(&matched.tokens),
            tokens: matched.tokens,
            partner: matched.partner,
            at: 0,
            context: Context::default(),
            depth: 0,
            quiet: false,
            too_deep: false,
            faulted: None,
            reported,
            wants_number: false,
            in_for: false,
            hoisted: Vec::new(),
            limit: before + MAX_FAULTS,
            diagnostics,
        }
    }

    // Tokens.

    fn kind(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn kind_at(&self, at: usize) -> &TokenKind {
        self.tokens.get(at).map_or(&TokenKind::Eof, |token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token before this one.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::new(self.source, 0, 0), |at| self.tokens[at].span)
    }

    fn bump(&mut self) {
        if *self.kind() != TokenKind::Eof {
            self.at += 1;
        }
    }

    fn eat(&mut self, kind: &TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn eat_name(&mut self, word: &str) -> bool {
        let found = self.kind().is_name(word);
        if found {
            self.bump();
        }
        found
    }

    /// A name, if there is one here.
    fn take_name(&mut self) -> Option<Name> {
        let TokenKind::Name(text) = self.kind() else { return None };
        let name = Name { text: text.clone(), span: self.span() };
        self.bump();
        Some(name)
    }

    /// Where the bracket at `at` is closed, if it is.
    fn closing(&self, at: usize) -> Option<usize> {
        let partner = self.partner[at];
        (partner != brackets::NONE).then_some(partner as usize)
    }

    /// The token behind the one at `at`, or behind the bracket it opens.
    fn step_over(&self, at: usize) -> usize {
        match self.kind_at(at) {
            TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace => {
                self.closing(at).unwrap_or(at) + 1
            }
            _ => at + 1,
        }
    }

    /// Goes to where the item of a list ends: a `,`, the end of the brackets
    /// around it, or of the statement.
    fn skip_item(&mut self) {
        use TokenKind::*;
        while !matches!(self.kind(), Comma | CloseParen | CloseBracket)
            && !self.kind().ends_statement()
        {
            self.at = self.step_over(self.at);
        }
    }

    fn skip_statement(&mut self) {
        use TokenKind::*;
        while !matches!(self.kind(), End | Eof | CloseBrace) {
            self.at = self.step_over(self.at);
        }
    }

    // Faults.

    /// Records a fault.
    fn report(&mut self, fault: Diagnostic) {
        if !self.quiet && self.diagnostics.len() < self.limit {
            self.diagnostics.push(fault);
        }
    }

    /// Records that something else was expected than the token here, unless
    /// this token was complained about before.
    fn expected(&mut self, what: &str, hint: &str) {
        let message = match self.kind() {
            _ if self.is_line_over() => format!("expected {what}"),
            _ => format!("expected {what}, found {}", self.describe(self.at)),
        };
        self.fault_here(Code::Syntax, message, hint);
    }

    /// Whether what is missing is missing at the end of a line: nothing follows,
    /// or only on the next line.
    fn is_line_over(&self) -> bool {
        let begun = self.at > 0
            && !matches!(self.kind_at(self.at - 1), TokenKind::End | TokenKind::OpenBrace);
        matches!(self.kind(), TokenKind::End | TokenKind::Eof)
            || (begun && self.tokens[self.at].line_start)
    }

    /// Records a fault of the token here, unless it was complained about before.
    fn fault_here(&mut self, code: Code, message: String, hint: &str) {
        if self.faulted == Some(self.at) {
            return;
        }
        self.faulted = Some(self.at);
        let place = match self.kind() {
            _ if self.is_line_over() => self.last_span().after(),
            _ if self.reported.contains(&self.span().start) => return,
            _ => self.span(),
        };
        let fault = Diagnostic::fault(code, place, message);
        self.report(if hint.is_empty() { fault } else { fault.hint(hint) });
    }

    /// A token as messages show it.
    fn describe(&self, at: usize) -> String {
        match self.kind_at(at) {
            TokenKind::End if self.tokens[at].span.range().is_empty() => {
                "the end of the line".into()
            }
            TokenKind::Eof => "the end of the text".into(),
            _ => match self.written(self.tokens[at].span) {
                Some(written) => format!("`{written}`"),
                None => "this".into(),
            },
        }
    }

    /// The text of a span, if it is short enough to be shown in a sentence.
    fn written(&self, span: Span) -> Option<&'a str> {
        let written = self.text.get(span.range())?;
        let short = written.chars().take(41).count() <= 40;
        (short && !written.is_empty() && !written.contains(['\n', '\r', '`'])).then_some(written)
    }

    /// Goes one level deeper, unless that is too deep.
    fn enter(&mut self) -> bool {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            return true;
        }
        self.report_too_deep();
        false
    }

    fn report_too_deep(&mut self) {
        // Reported even where all else is quiet, since it explains what follows.
        if !std::mem::replace(&mut self.too_deep, true) && self.diagnostics.len() < self.limit {
            let message = format!("this is nested deeper than {MAX_DEPTH} levels");
            self.diagnostics.push(
                Diagnostic::fault(Code::TooDeep, self.span(), message)
                    .hint("give parts of it names with `let`"),
            );
        }
    }

    fn missing(&self) -> Expr {
        Expr { kind: ExprKind::Missing, span: self.last_span().after() }
    }

    /// Runs a rule in another context.
    fn within<T>(&mut self, context: Context, rule: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let result = rule(self);
        self.context = outer;
        result
    }

    /// Complains about what is left behind a text that should be over.
    fn end_of_text(&mut self) {
        while self.eat(&TokenKind::End) {}
        if *self.kind() != TokenKind::Eof {
            self.expected("the end of the text", "");
        }
    }
}
