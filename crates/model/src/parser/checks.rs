//! The lines of ```` ```check ```` blocks, one check each:
//!
//! ```text
//! check = expr "=" expr [within] [at]      | "agree" [within]
//!       | "conserve" expr [within]         | "motion" word
//!       | "analyze" field "=" JSON         | ("fault" | "warning") word
//!       | "linearize" field "=" (expr | STRING | "true" | "false") [within]
//! within = "within" expr
//! at     = "at" ("start" | "end" | quantity "=" expr { "," quantity "=" expr })
//! ```
//!
//! The first word of a check is a name like any other where it cannot be meant:
//! `motion = 3` compares a quantity that is called so.

use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::tree::{Check, CheckAt, CheckKind, Expr, ExprKind};

const CHECK: Context =
    Context { stops: &["within", "at"], items: false, condition: false, inside: false };
const STATE: Context =
    Context { stops: &["within", "at"], items: true, condition: false, inside: false };

impl Parser<'_> {
    /// All checks of the text.
    pub(super) fn checks(&mut self) -> Vec<Check> {
        let mut checks = Vec::new();
        while *self.kind() != TokenKind::Eof {
            if self.kind().ends_statement() {
                self.bump();
                continue;
            }
            (self.quiet, self.too_deep) = (false, false);
            let start = self.span();
            let kind = self.within(CHECK, Self::check);
            let span = start.to(self.last_span());
            if !matches!(self.kind(), TokenKind::End | TokenKind::Eof) {
                self.check_fault("the end of the line");
                self.skip_statement();
            }
            checks.extend(kind.map(|kind| Check { kind, span }));
        }
        checks
    }

    /// Records that a check is not of any form.
    fn check_fault(&mut self, expected: &str) {
        let found = self.describe(self.at);
        let message = format!("expected {expected} in this check, found {found}");
        let hint = "a check is `a = b within 1e-9 at start`, `agree`, `conserve energy`, \
                    `motion unique`, `analyze rank = 2`, `linearize B = [[0], [1/M]]`, `fault CODE` \
                    or `warning CODE`";
        self.fault_here(Code::CheckSyntax, message, hint);
    }

    fn check(&mut self) -> Option<CheckKind> {
        use TokenKind::*;
        let next = self.kind_at(self.at + 1);
        let word_follows =
            matches!(next, Name(_)) && !next.is_name("within") && !next.is_name("at");
        match self.kind().name() {
            Some("agree") if matches!(next, End | Eof | Name(_)) => {
                self.bump();
                let within = self.tolerance();
                Some(CheckKind::Agree { within })
            }
            Some("conserve") if word_follows || (next.begins_operand() && !self.has_equals()) => {
                self.conserve()
            }
            Some("conserve") if *next == Minus && !self.has_equals() => self.conserve(),
            Some("motion") if word_follows => {
                self.bump();
                self.word().map(CheckKind::Verdict)
            }
            Some("fault") if word_follows => {
                self.bump();
                self.code(CheckKind::Fault)
            }
            Some("warning") if word_follows => {
                self.bump();
                self.code(CheckKind::Warning)
            }
            Some("analyze") if word_follows => self.analyze(),
            Some("linearize") if word_follows => self.linearize(),
            _ => self.comparison_check(),
        }
    }

    /// Whether an `=` stands in this line, outside all brackets.
    pub(super) fn has_equals(&self) -> bool {
        let mut at = self.at;
        while !matches!(self.kind_at(at), TokenKind::End | TokenKind::Eof) {
            if *self.kind_at(at) == TokenKind::Equals {
                return true;
            }
            at = self.step_over(at);
        }
        false
    }

    fn tolerance(&mut self) -> Option<Expr> {
        self.eat_name("within").then(|| self.value())
    }

    fn conserve(&mut self) -> Option<CheckKind> {
        self.bump();
        let value = self.value();
        let within = self.tolerance();
        Some(CheckKind::Conserve { value, within })
    }

    /// The code of a diagnostic. One that does not exist could never be met.
    fn code(&mut self, kind: fn(crate::tree::Name) -> CheckKind) -> Option<CheckKind> {
        let name = self.word()?;
        if Code::from_name(&name.text).is_none() {
            let names: Vec<&str> = crate::codes::ALL.iter().map(|code| code.name()).collect();
            let message = format!("there is no diagnostic `{}`", name.text);
            let fault = Diagnostic::fault(Code::CheckSyntax, name.span, message);
            self.report(match super::words::nearest(&name.text, &names) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault.hint("`dal explain` lists them all"),
            });
            return None;
        }
        Some(kind(name))
    }

    /// The field up to its `=`, as written.
    fn field_name(&mut self) -> Option<crate::span::Span> {
        self.bump();
        let start = self.span();
        while !matches!(self.kind(), TokenKind::Equals | TokenKind::End | TokenKind::Eof) {
            self.at = self.step_over(self.at);
        }
        let field = start.to(self.last_span());
        if !self.eat(&TokenKind::Equals) {
            self.check_fault("`=` after the field");
            return None;
        }
        Some(field)
    }

    /// `linearize field = value`: numbers by an expression, words as JSON.
    fn linearize(&mut self) -> Option<CheckKind> {
        let field = self.field_name()?;
        let text = |span: crate::span::Span| self.text.get(span.range()).unwrap_or("").to_owned();
        let field = text(field);
        let is_word = matches!(self.kind(), TokenKind::Text(_))
            || matches!(self.kind().name(), Some("true" | "false" | "null"));
        // `[]` is no value of the language: nothing is in it.
        let is_empty = *self.kind() == TokenKind::OpenBracket
            && *self.kind_at(self.at + 1) == TokenKind::CloseBracket;
        if is_word || is_empty {
            let word = if is_empty { "[]".to_owned() } else { text(self.span()) };
            (0..=usize::from(is_empty)).for_each(|_| self.bump());
            return Some(CheckKind::Linearize { field, value: None, word, within: None });
        }
        let value = Some(self.last_value());
        let within = self.tolerance();
        Some(CheckKind::Linearize { field, value, word: String::new(), within })
    }

    /// `analyze field = value`, both as written.
    fn analyze(&mut self) -> Option<CheckKind> {
        let field = self.field_name()?;
        let first = self.span();
        self.skip_line();
        if first.start >= self.last_span().end {
            self.check_fault("a value after `=`");
            return None;
        }
        let text = |span: crate::span::Span| self.text.get(span.range()).unwrap_or("").to_owned();
        Some(CheckKind::Analyze { field: text(field), value: text(first.to(self.last_span())) })
    }

    fn skip_line(&mut self) {
        while !matches!(self.kind(), TokenKind::End | TokenKind::Eof) {
            self.at = self.step_over(self.at);
        }
    }

    fn comparison_check(&mut self) -> Option<CheckKind> {
        let left = self.sum();
        if !self.eat(&TokenKind::Equals) {
            self.check_fault("`=`");
            self.skip_line();
            return None;
        }
        let right = self.last_value();
        let (mut within, mut at) = (None, None);
        loop {
            if within.is_none() && self.kind().is_name("within") {
                within = self.tolerance();
            } else if at.is_none() && self.eat_name("at") {
                at = Some(self.state()?);
            } else {
                break;
            }
        }
        Some(CheckKind::Equal { left, right, within, at: at.unwrap_or(CheckAt::Anywhere) })
    }

    fn state(&mut self) -> Option<CheckAt> {
        if self.kind().is_name("start") && !self.begins_assignment() {
            self.bump();
            return Some(CheckAt::Start);
        }
        if self.kind().is_name("end") && !self.begins_assignment() {
            self.bump();
            return Some(CheckAt::End);
        }
        let mut state = self.within(STATE, |parser| {
            let mut state = Vec::new();
            loop {
                state.push(parser.assignment()?);
                if !parser.eat(&TokenKind::Comma) {
                    return Some(state);
                }
            }
        })?;
        let is_time = matches!(&state[..], [(left, _)]
            if matches!(&left.kind, ExprKind::Name(name) if &**name == "t"));
        match is_time.then(|| state.pop()).flatten() {
            Some((_, time)) => Some(CheckAt::Time(time)),
            None => Some(CheckAt::State(state)),
        }
    }
}
