//! Operands: names, numbers and brackets, and what stands behind them. Also the
//! brackets themselves: what is wrong inside one stays inside, since its end is
//! known beforehand.

use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon;
use crate::tree::{Argument, Expr, ExprKind, Name, Postfix, PostfixKind, Range};
use std::sync::Arc;

/// The hint for a range of integers.
pub(super) const RANGE: &str = "a range is written `1..N`";

const INSIDE: Context = Context { stops: &[], items: false, condition: false, inside: true };

impl Parser<'_> {
    /// A primary and the operations behind it.
    pub(super) fn postfix(&mut self, is_exponent: bool) -> Expr {
        let is_number = matches!(self.kind(), TokenKind::Number(_));
        let is_name = matches!(self.kind(), TokenKind::Name(_));
        let before = self.at;
        let base = self.primary();
        if self.at == before {
            // Nothing was found, so that nothing can stand behind it.
            return base;
        }
        if is_number {
            if *self.kind() == TokenKind::Prime && !is_exponent {
                self.prime_of_number();
            }
            return base;
        }
        let mut operations: Vec<Postfix> = Vec::new();
        loop {
            let start = self.span();
            let kind = match self.kind() {
                TokenKind::Prime => {
                    self.bump();
                    PostfixKind::Prime
                }
                TokenKind::Dot => {
                    self.bump();
                    match self.take_name() {
                        Some(name) => PostfixKind::Member(name.text),
                        None => {
                            self.expected("a name after `.`", "");
                            break;
                        }
                    }
                }
                TokenKind::OpenBracket => {
                    let mut indices = self.bracketed(Self::index, "an index");
                    if indices.is_empty() {
                        indices.push(self.missing());
                    }
                    PostfixKind::Index(indices)
                }
                TokenKind::OpenParen => match self.callee(&base, is_name, operations.last()) {
                    Some(name) => PostfixKind::Call(self.arguments(&name)),
                    None => break,
                },
                _ => break,
            };
            operations.push(Postfix { kind, span: start.to(self.last_span()) });
        }
        if operations.is_empty() {
            return base;
        }
        let span = base.span.to(self.last_span());
        Expr { kind: ExprKind::Postfix(Box::new(base), operations), span }
    }

    fn prime_of_number(&mut self) {
        let first = self.span();
        while self.eat(&TokenKind::Prime) {}
        let place = first.to(self.last_span());
        let message = "a number does not change with time";
        self.report(
            Diagnostic::fault(Code::PrimeAfterNumber, place, message)
                .hint("leave the prime out; the derivative of a number is 0"),
        );
    }

    /// The name of what is called by the `(` here, or nothing if that cannot
    /// be a call: then it is a product without its operator.
    fn callee(&self, base: &Expr, is_name: bool, last: Option<&Postfix>) -> Option<Arc<str>> {
        match (last.map(|operation| &operation.kind), &base.kind) {
            (Some(PostfixKind::Member(name)), _) => Some(name.clone()),
            // In `(a)(b)` the parentheses are gone, but nothing is called.
            (None, ExprKind::Name(name)) if is_name => {
                let touches = self.last_span().end == self.span().start;
                let known = lexicon::is_function(name) || self.declared.functions.contains(name);
                (touches || known).then(|| name.clone())
            }
            _ => None,
        }
    }

    fn arguments(&mut self, callee: &str) -> Vec<Argument> {
        let is_if = callee == "if";
        let binds = matches!(callee, "sum" | "product");
        let mut n_arguments = 0;
        let open = self.at;
        if *self.kind_at(open + 1) == TokenKind::CloseParen {
            self.at += 2;
            return Vec::new();
        }
        let mut misplaced = false;
        let argument = |parser: &mut Self| {
            n_arguments += 1;
            if parser.kind_at(parser.at + 1).is_name("in")
                && let Some(name) = parser.take_name()
            {
                misplaced |= !binds;
                return parser.binder(name, binds);
            }
            parser.context.condition = is_if && n_arguments == 1;
            let value = if parser.context.condition { parser.condition() } else { parser.value() };
            Argument::Value(value)
        };
        let mut arguments = self.bracketed(argument, "an argument");
        if misplaced {
            // No one knows the index in the others.
            let missing = self.missing();
            arguments.fill_with(|| Argument::Value(missing.clone()));
        }
        arguments
    }

    fn binder(&mut self, name: Name, allowed: bool) -> Argument {
        if !allowed {
            let message = "an index runs in `sum` and `product` only".into();
            self.fault_here(Code::BinderPlace, message, "write `sum(i in 1..N, …)`");
        }
        self.bump();
        let range = self.range(RANGE);
        if allowed { Argument::Binder(name, range) } else { Argument::Value(self.missing()) }
    }

    /// `from..to`
    pub(super) fn range(&mut self, hint: &str) -> Range {
        let from = self.sum();
        if !self.eat(&TokenKind::Dots) {
            self.expected("`..` and the end of the range", hint);
            let to = self.missing();
            return Range { from, to };
        }
        Range { from, to: self.sum() }
    }

    fn index(&mut self) -> Expr {
        let index = self.value();
        if *self.kind() == TokenKind::Dots {
            let hint = "list the entries, `[x[1], x[2]]`, or leave the index out for all of them";
            self.expected("one index", hint);
            self.bump();
            self.sum();
        }
        index
    }

    fn primary(&mut self) -> Expr {
        while *self.kind() == TokenKind::Unknown {
            self.bump();
        }
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Number(number) => ExprKind::Number(number.clone()),
            TokenKind::Name(name) if !matches!(&**name, "and" | "or") => {
                ExprKind::Name(name.clone())
            }
            TokenKind::OpenParen => return self.parenthesized(),
            TokenKind::OpenBracket => {
                let items = self.bracketed(Self::value, "an item");
                let kind = if items.is_empty() { ExprKind::Missing } else { ExprKind::List(items) };
                return Expr { kind, span: start.to(self.last_span()) };
            }
            TokenKind::Text(_) => {
                self.expected("an expression", "text stands behind `part name =` only");
                ExprKind::Missing
            }
            _ => {
                self.expected_operand();
                return self.missing();
            }
        };
        self.bump();
        Expr { kind, span: start }
    }

    fn expected_operand(&mut self) {
        let before = self.at.checked_sub(1).map(|at| self.kind_at(at));
        match before {
            None | Some(TokenKind::End) => self.expected("an expression", ""),
            // What stands before was reported, and no one knows what follows it.
            Some(TokenKind::Unknown) => self.faulted = Some(self.at),
            // One fault for a run of operators without operands.
            Some(_) if self.faulted == Some(self.at - 1) => self.faulted = Some(self.at),
            Some(_) => {
                let what = format!("an expression after {}", self.describe(self.at - 1));
                self.expected(&what, "");
            }
        }
    }

    fn parenthesized(&mut self) -> Expr {
        let open = self.at;
        let start = self.span();
        if !self.open_bracket() {
            return self.missing();
        }
        let condition = self.context.condition;
        let inner = self.within(Context { condition, ..INSIDE }, |parser| {
            if condition { parser.condition() } else { parser.value() }
        });
        if *self.kind() == TokenKind::Comma && self.closing(open).is_some() {
            self.expected("`)`", "a list stands in square brackets: `[a, b]`");
        }
        self.close_bracket(open, "an operator");
        Expr { kind: inner.kind, span: start.to(self.last_span()) }
    }

    /// `( … )` or `[ … ]` around items separated by commas; never empty but
    /// after a fault.
    pub(super) fn bracketed<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> T,
        what: &str,
    ) -> Vec<T> {
        let open = self.at;
        let mut items = Vec::new();
        if !self.open_bracket() {
            return items;
        }
        if matches!(self.kind(), TokenKind::CloseBracket) {
            let place = self.last_span().to(self.span());
            let message = format!("expected {what} between the brackets");
            self.report(Diagnostic::fault(Code::Syntax, place, message));
            self.close_bracket(open, "`,`");
            return items;
        }
        let outer = std::mem::replace(&mut self.context, INSIDE);
        loop {
            items.push(item(self));
            self.context = INSIDE;
            if !self.eat(&TokenKind::Comma) {
                break;
            }
            if self.closing(open) == Some(self.at) {
                self.expected(&format!("{what} after `,`"), "");
                break;
            }
        }
        self.context = outer;
        self.close_bracket(open, "`,`");
        items
    }

    /// Goes into the bracket here. One that is nested too deep is stepped over.
    fn open_bracket(&mut self) -> bool {
        let entered = self.enter();
        // One that is never closed was reported. Where it should have closed is
        // anyone's guess, so nothing more is said about this statement.
        self.quiet |= self.closing(self.at).is_none();
        if entered {
            self.bump();
        } else {
            match self.closing(self.at) {
                Some(closing) => self.at = closing + 1,
                None => {
                    self.bump();
                    self.skip_item();
                }
            }
        }
        entered
    }

    /// Goes behind the bracket that was opened at `open`, whatever is left
    /// inside it.
    fn close_bracket(&mut self, open: usize, or_else: &str) {
        self.depth -= 1;
        let Some(closing) = self.closing(open) else { return };
        if self.at < closing {
            let what = format!("{or_else} or {}", self.describe(closing));
            self.expected(&what, self.hint_for_token());
            self.at = closing;
        }
        if self.at == closing {
            self.bump();
        }
    }

    /// What a token that cannot stand here usually means.
    pub(super) fn hint_for_token(&self) -> &'static str {
        match self.kind() {
            TokenKind::Equals => "an `=` stands in statements only, not inside an expression",
            TokenKind::Tilde => "a `~` stands in `start` only",
            TokenKind::Dots => "a range stands in `for`, `sum`, `product`, `run` and declarations",
            TokenKind::Colon => "a `:` stands behind a label or a coordinate only",
            TokenKind::Prime => "a prime stands behind what it differentiates: `x'`",
            TokenKind::Arrow => "a `->` stands in `event` only",
            TokenKind::Name(word) if &**word == "and" => "write a statement for each",
            TokenKind::Name(word) if &**word == "or" => "a statement cannot leave a choice",
            _ => "",
        }
    }
}
