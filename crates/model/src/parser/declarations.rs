//! Statements that declare: `param const coord let speed observe part particle
//! body`, and the lists and entries they are made of.

use super::words::{alternatives, nearest};
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::BODY_FIELDS;
use crate::tree::{
    Define, Entry, Expr, ExprKind, Family, Field, IndexSpan, Name, Observe, PartSource,
    StatementKind,
};
use dalembert_expr::Number;

pub(super) const ITEMS: Context =
    Context { stops: &[], items: true, condition: false, inside: false };

/// The fields of bodies; those of particles and frames are among them.
const FIELDS: &[&str] = BODY_FIELDS;

impl Parser<'_> {
    /// Items separated by commas, to the end of the statement. An item that
    /// cannot be read is left out.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Vec<T> {
        let mut items = Vec::new();
        let mut comma_missing = false;
        loop {
            let before = self.at;
            items.extend(item(self));
            if self.eat(&TokenKind::Comma) {
                continue;
            }
            if self.kind().ends_statement() || self.at_statement() {
                return items;
            }
            if self.at > before && matches!(self.kind(), TokenKind::Name(_)) {
                // Said once for a list without any commas.
                if !std::mem::replace(&mut comma_missing, true) {
                    let message = format!("expected `,` before {}", self.describe(self.at));
                    self.fault_here(
                        Code::Syntax,
                        message,
                        "the items of a list have a `,` between",
                    );
                }
                continue;
            }
            self.expected("`,` or the end of the line", self.hint_for_token());
            self.skip_item();
            if !self.eat(&TokenKind::Comma) {
                return items;
            }
        }
    }

    fn name(&mut self) -> Option<Name> {
        let name = self.take_name();
        if name.is_none() {
            let before = self.describe(self.at.saturating_sub(1));
            let hint = match self.kind() {
                TokenKind::Number(_) => "a name begins with a letter",
                _ => "",
            };
            self.expected(&format!("a name after {before}"), hint);
        }
        name
    }

    /// `x`, `x[1..N]`
    pub(super) fn family(&mut self) -> Option<Family> {
        let name = self.name()?;
        let start = name.span;
        let mut spans = Vec::new();
        if *self.kind() == TokenKind::OpenBracket {
            spans = self.bracketed(Self::index_span, "an index or a range");
        }
        let span = start.to(self.last_span());
        Some(Family { name, spans, shown: self.shown(), span })
    }

    fn index_span(&mut self) -> IndexSpan {
        let from = self.value();
        let to = self.eat(&TokenKind::Dots).then(|| self.value());
        IndexSpan { from, to }
    }

    /// `x`, `x[i]`
    pub(super) fn entry(&mut self) -> Option<Entry> {
        let name = self.name()?;
        let start = name.span;
        let mut indices = Vec::new();
        if *self.kind() == TokenKind::OpenBracket {
            indices = self.bracketed(Self::entry_index, "an index");
        }
        Some(Entry { name, indices, span: start.to(self.last_span()) })
    }

    fn entry_index(&mut self) -> Expr {
        let index = self.value();
        if *self.kind() != TokenKind::Dots {
            return index;
        }
        let hint = "only `param`, `const`, `coord`, `input` and `state` take a range; other entries are defined one by \
                    one: `for i in 1..N { let r[i] = … }`";
        self.expected("one index", hint);
        self.bump();
        self.sum();
        Expr { kind: ExprKind::Missing, span: index.span }
    }

    pub(super) fn families(&mut self) -> Vec<Family> {
        self.list(|parser| {
            let family = parser.family()?;
            let hint = match parser.kind() {
                TokenKind::Equals | TokenKind::Tilde => {
                    format!("a coordinate has no value; write `start {} = …`", family.name.text)
                }
                TokenKind::Prime => {
                    "velocities come with their coordinates; leave the prime out".into()
                }
                _ => return Some(family),
            };
            parser.expected("`,` or the end of the line", &hint);
            parser.skip_item();
            Some(family)
        })
    }

    pub(super) fn valued_families(&mut self) -> Vec<(Family, Option<Expr>)> {
        self.within(ITEMS, |parser| {
            parser.list(|parser| {
                let family = parser.family()?;
                let forgotten = matches!(
                    parser.kind(),
                    TokenKind::Number(_) | TokenKind::OpenParen | TokenKind::Minus
                );
                if forgotten {
                    let name = &family.name.text;
                    parser.expected(&format!("`=` after `{name}`"), &format!("write `{name} = …`"));
                }
                let given = forgotten || parser.eat(&TokenKind::Equals);
                let value = given.then(|| parser.last_value());
                Some((family, value))
            })
        })
    }

    /// The value behind an `=`, with which its item ends.
    pub(super) fn last_value(&mut self) -> Expr {
        let value = self.value();
        self.chained_equals();
        value
    }

    /// Reports and skips the rest of `a = b = c`.
    pub(super) fn chained_equals(&mut self) {
        if *self.kind() != TokenKind::Equals {
            return;
        }
        let hint = "write two equations: `a = b` and `b = c`";
        self.fault_here(Code::ChainedEquals, "a second `=` in one equation".into(), hint);
        while self.eat(&TokenKind::Equals) {
            self.value();
        }
    }

    pub(super) fn defines(&mut self) -> Vec<Define> {
        self.within(ITEMS, |parser| parser.list(Self::define))
    }

    /// `a = …`, `a[i] = …`, `f(a, b) = …`
    fn define(&mut self) -> Option<Define> {
        let entry = self.entry()?;
        let mut arguments = None;
        if *self.kind() == TokenKind::OpenParen
            && *self.kind_at(self.at + 1) == TokenKind::CloseParen
        {
            let place = self.span().to(self.tokens[self.at + 1].span);
            let message = "a function has arguments";
            let hint = format!("without any it is a named expression: `{} = …`", entry.name.text);
            self.report(Diagnostic::fault(Code::Syntax, place, message).hint(hint));
            self.at += 2;
        } else if *self.kind() == TokenKind::OpenParen {
            let names: Vec<Option<Name>> = self.bracketed(Self::name, "the name of an argument");
            arguments = Some(names.into_iter().flatten().collect());
        }
        let shown = self.shown();
        let value = if self.eat(&TokenKind::Equals) {
            self.last_value()
        } else {
            let name = &entry.name.text;
            let hint = match self.kind() {
                TokenKind::Prime => format!(
                    "a derivative follows from what it belongs to; write `start {name}' = …` for \
                     its value at the start"
                ),
                TokenKind::Name(word) if &**word == "in" => {
                    "an index runs in `sum`, `product` and `for` only".into()
                }
                TokenKind::Dot => "what a part or a body holds is not defined from outside".into(),
                _ => format!("write `{name} = …`"),
            };
            self.expected(&format!("`=` after `{name}`"), &hint);
            self.skip_item();
            self.missing()
        };
        Some(Define { entry, arguments, shown, value })
    }

    pub(super) fn observed(&mut self) -> Vec<Observe> {
        self.within(ITEMS, |parser| {
            parser.list(|parser| {
                let mut entry = None;
                if parser.begins_entry(&TokenKind::Equals) {
                    entry = Some(parser.entry()?);
                    parser.eat(&TokenKind::Equals);
                }
                let value = parser.value();
                if *parser.kind() == TokenKind::Equals && entry.is_none() {
                    let hint = "a name stands before the `=`, and what is observed behind it";
                    parser.expected("`,` or the end of the line", hint);
                    parser.skip_item();
                }
                parser.chained_equals();
                Some(Observe { entry, value })
            })
        })
    }

    /// Whether a name, perhaps with indices, and then `sign` stand here.
    pub(super) fn begins_entry(&self, sign: &TokenKind) -> bool {
        let mut behind = self.at + 1;
        if *self.kind_at(behind) == TokenKind::OpenBracket {
            behind = self.step_over(behind);
        }
        self.kind().name().is_some() && self.kind_at(behind) == sign
    }

    pub(super) fn part(&mut self) -> Option<StatementKind> {
        let entry = self.entry();
        if entry.is_some() && !self.eat(&TokenKind::Equals) {
            self.expected("`=`", "write `part a = M { m = 2 }` or `part a = \"file.dal\"`");
            // `part a: M`, `part a M`
            self.eat(&TokenKind::Colon);
        }
        let span = self.span();
        let source = match self.kind() {
            TokenKind::Name(text) => Some(PartSource::Model(Name { text: text.clone(), span })),
            TokenKind::Text(text) => Some(PartSource::File(Name { text: text.clone(), span })),
            _ => None,
        };
        match source {
            Some(_) => self.bump(),
            None => {
                let hint = "write `part a = M` or `part a = \"file.dal\"`";
                self.expected("the name of a model, or a file in quotes", hint);
                self.skip_to_block();
            }
        }
        let settings = self.settings();
        Some(StatementKind::Part { entry: entry?, source: source?, settings })
    }

    /// `{ m = 2, X = cart.x }`, where line ends mean nothing.
    fn settings(&mut self) -> Vec<(Entry, Expr)> {
        if *self.kind() != TokenKind::OpenBrace {
            return Vec::new();
        }
        let open = self.at;
        let Some(closing) = self.closing(open) else {
            // Where the settings end no one knows: take what is on this line.
            self.bump();
            self.quiet = true;
            return self.list(Self::setting);
        };
        self.bump();
        let mut settings = Vec::new();
        let mut more = self.skip_line_ends(closing);
        if !more {
            self.expected("a setting in the braces", "leave the braces out");
        }
        while more {
            let before = self.at;
            settings.extend(self.setting());
            if !self.skip_line_ends(closing) {
                break;
            }
            if *self.kind() != TokenKind::Comma {
                self.expected("`,` or `}`", "settings are separated by `,`");
                if self.at == before || !matches!(self.kind(), TokenKind::Name(_)) {
                    self.skip_setting(closing);
                }
            }
            let comma = self.eat(&TokenKind::Comma);
            more = self.skip_line_ends(closing);
            if comma && !more {
                self.expected("a setting after `,`", "");
            }
        }
        self.at = closing + 1;
        settings
    }

    fn setting(&mut self) -> Option<(Entry, Expr)> {
        let entry = self.entry()?;
        let value = if self.eat(&TokenKind::Equals) {
            self.within(ITEMS, Self::last_value)
        } else {
            self.expected(&format!("`=` after `{}`", entry.name.text), "write `m = 2`");
            self.missing()
        };
        Some((entry, value))
    }

    /// Whether something is left in the braces behind the line ends here.
    fn skip_line_ends(&mut self, closing: usize) -> bool {
        while self.at < closing && *self.kind() == TokenKind::End {
            if !self.span().range().is_empty() {
                let message = "a `;` stands inside the braces of a `part`";
                self.report(
                    Diagnostic::fault(Code::Syntax, self.span(), message)
                        .hint("settings are separated by `,`"),
                );
                // The comma that is missing now has been mentioned.
                self.faulted = Some(self.at + 1);
            }
            self.bump();
        }
        self.at < closing
    }

    /// Goes to the next `,` of the braces, or to their end.
    fn skip_setting(&mut self, closing: usize) {
        while self.at < closing && *self.kind() != TokenKind::Comma {
            self.at = self.step_over(self.at);
        }
    }

    /// `bob: mass m, at r`
    pub(super) fn fields(&mut self) -> Option<(Entry, Vec<Field>)> {
        let entry = match self.begins_entry(&TokenKind::Colon) {
            false if self.at_field() && *self.kind_at(self.at + 1) != TokenKind::Colon => {
                self.expected("a name and `:`", "write `bob: mass m, at [x, y]`");
                None
            }
            _ => {
                let entry = self.entry();
                if entry.is_some() && !self.eat(&TokenKind::Colon) {
                    self.expected("`:` after the name", "write `bob: mass m, at [x, y]`");
                }
                entry
            }
        };
        let context = Context { stops: FIELDS, ..Context::default() };
        let fields = self.within(context, |parser| parser.list(Self::field));
        Some((entry?, fields))
    }

    fn at_field(&self) -> bool {
        self.kind().name().is_some_and(|word| FIELDS.contains(&word))
    }

    pub(super) fn field(&mut self) -> Option<Field> {
        let Some(name) = self.take_name() else {
            self.expected(&alternatives(FIELDS), "write `mass m, at [x, y]`");
            self.skip_item();
            return None;
        };
        if matches!(self.kind(), TokenKind::Equals | TokenKind::Colon) {
            let hint = format!("write `{} …`, without it", name.text);
            self.expected("a value", &hint);
            self.bump();
        }
        if &*name.text == "free" {
            let value = Expr { kind: ExprKind::Number(Number::integer(1)), span: name.span };
            return Some(Field { name, value });
        }
        let value = self.value();
        if FIELDS.contains(&&*name.text) {
            return Some(Field { name, value });
        }
        let message = format!("`{}` is no field of a particle or a body", name.text);
        let hint = match nearest(&name.text, FIELDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the fields are {}", alternatives(FIELDS).replace(" or ", " and ")),
        };
        self.report(Diagnostic::fault(Code::BodyField, name.span, message).hint(hint));
        None
    }

    /// The one expression of `kinetic`, `gravity` and their like.
    pub(super) fn lone_value(&mut self, word: &str) -> Expr {
        if *self.kind() == TokenKind::Equals {
            self.expected("an expression", &format!("write `{word} …`, without the `=`"));
            self.bump();
        }
        let value = self.value();
        if *self.kind() != TokenKind::Equals {
            return value;
        }
        let hint = match &value.kind {
            ExprKind::Name(name) => format!("write `let {name} = …` and `{word} {name}`"),
            _ => format!("write one expression after `{word}`"),
        };
        self.expected("the end of the line", &hint);
        self.bump();
        let value = self.value();
        self.chained_equals();
        value
    }
}
