//! Statements that declare quantities which are neither coordinates nor their functions:
//! `input output state table use`, and what documents call a name (`as`).

use super::declarations::ITEMS;
use super::words::{alternatives, nearest};
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::TABLE_OPTIONS;
use crate::tree::{
    Define, Expr, ExprKind, Family, Name, Rate, Shown, StatementKind, TableOption, TableSource,
};

impl Parser<'_> {
    /// `as theta`, `as "\\theta_1"`, where a declared name may have it.
    pub(super) fn shown(&mut self) -> Option<Shown> {
        let next = self.kind_at(self.at + 1);
        if !self.kind().is_name("as") || !matches!(next, TokenKind::Name(_) | TokenKind::Text(_)) {
            return None;
        }
        self.bump();
        let span = self.span();
        let shown = match self.kind() {
            TokenKind::Name(text) => Shown::Name(Name { text: text.clone(), span }),
            TokenKind::Text(text) => Shown::Latex(Name { text: text.clone(), span }),
            _ => return None,
        };
        self.bump();
        Some(shown)
    }

    /// `F = 0, u[1..4]`
    pub(super) fn inputs(&mut self) -> Vec<(Family, Option<Expr>)> {
        self.valued_families()
    }

    /// `y = x + l*sin(th)`
    pub(super) fn outputs(&mut self) -> Vec<Define> {
        let mut outputs = self.defines();
        outputs.retain(|define| {
            if define.arguments.is_none() {
                return true;
            }
            let hint = "a function is a `let`; an output is one of its values";
            let message = "an output is a quantity, not a function";
            self.report(Diagnostic::fault(Code::Syntax, define.entry.span, message).hint(hint));
            false
        });
        outputs
    }

    /// `z' = r - x`
    pub(super) fn rates(&mut self) -> Vec<Rate> {
        self.within(ITEMS, |parser| parser.list(Self::rate))
    }

    fn rate(&mut self) -> Option<Rate> {
        let mut family = self.family()?;
        let name = family.name.text.clone();
        let mut primes = 0;
        while self.eat(&TokenKind::Prime) {
            primes += 1;
        }
        if primes != 1 {
            let (message, hint) = match primes {
                0 => (
                    format!("a state is given by its rate, and `{name}` has no prime here"),
                    format!(
                        "write `state {name}' = …`; its value at the start is `start {name} = …`"
                    ),
                ),
                _ => (
                    format!(
                        "a state is given by its first derivative, and `{name}` has {primes} primes"
                    ),
                    format!("chain two states: `state {name}' = {name}_rate, {name}_rate' = …`"),
                ),
            };
            self.report(Diagnostic::fault(Code::StateRate, family.span, message).hint(hint));
        }
        family.shown = self.shown();
        let value = match self.eat(&TokenKind::Equals) {
            true => self.last_value(),
            false => {
                let hint = format!("write `state {name}' = …`");
                self.expected(&format!("`=` after `{name}'`"), &hint);
                self.skip_item();
                self.missing()
            }
        };
        (primes == 1).then_some(Rate { family, value })
    }

    /// `road = "road.csv", cubic, hold`
    pub(super) fn table(&mut self) -> Option<StatementKind> {
        const FORM: &str = "write `table road = \"road.csv\", cubic, hold`";
        let Some(name) = self.take_name() else {
            self.expected("a name after `table`", FORM);
            self.skip_statement();
            return None;
        };
        if !self.eat(&TokenKind::Equals) {
            self.expected(&format!("`=` after `{}`", name.text), FORM);
        }
        let span = self.span();
        let source = match self.kind() {
            TokenKind::Text(text) => {
                let file = Name { text: text.clone(), span };
                self.bump();
                TableSource::File(file)
            }
            _ => {
                let context = Context { items: true, ..Context::default() };
                TableSource::List(self.within(context, Self::value))
            }
        };
        let mut options = Vec::new();
        while self.eat(&TokenKind::Comma) {
            match self.table_option() {
                Some(option) => options.push(option),
                None => self.skip_item(),
            }
        }
        Some(StatementKind::Table { name, source, options })
    }

    fn table_option(&mut self) -> Option<TableOption> {
        let Some(word) = self.take_name() else {
            self.expected("an option of `table`", "write `cubic`, `hold`, `columns [s, z]`");
            return None;
        };
        if &*word.text == "columns" {
            if *self.kind() != TokenKind::OpenBracket {
                self.expected("a list of columns", "write `columns [s, z]`, the argument first");
                return None;
            }
            let columns: Vec<Option<Name>> = self.bracketed(Self::column, "the name of a column");
            return Some(TableOption::Columns(columns.into_iter().flatten().collect()));
        }
        if TABLE_OPTIONS.contains(&&*word.text) {
            return Some(TableOption::Word(word));
        }
        let hint = match nearest(&word.text, TABLE_OPTIONS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("the options are {}", alternatives(TABLE_OPTIONS).replace(" or ", " and "))
            }
        };
        let message = format!("`{}` is no option of `table`", word.text);
        self.report(Diagnostic::fault(Code::Syntax, word.span, message).hint(hint));
        None
    }

    /// A header, in quotes where it is no name, or a number from 1.
    fn column(&mut self) -> Option<Name> {
        let span = self.span();
        let text = match self.kind() {
            TokenKind::Name(text) | TokenKind::Text(text) => text.clone(),
            TokenKind::Number(number) => number.to_string().into(),
            _ => {
                self.expected("the name of a column", "write `columns [s, z]`, the argument first");
                return None;
            }
        };
        self.bump();
        Some(Name { text, span })
    }

    /// `"legs.dal" as legs`
    pub(super) fn use_file(&mut self) -> Option<StatementKind> {
        const FORM: &str = "write `use \"legs.dal\"` or `use \"legs.dal\" as legs`";
        let span = self.span();
        let TokenKind::Text(text) = self.kind() else {
            self.expected("a file in quotes after `use`", FORM);
            self.skip_statement();
            return None;
        };
        let file = Name { text: text.clone(), span };
        self.bump();
        let mut name = None;
        if self.eat_name("as") {
            name = self.take_name();
            if name.is_none() {
                self.expected("a name after `as`", FORM);
            }
        }
        Some(StatementKind::Use { file, name })
    }

    /// The period of `event tick: every 0.01`, if that is what stands here.
    pub(super) fn period(&mut self) -> Option<Expr> {
        let behind = self.kind_at(self.at + 1);
        let is_period = self.kind().is_name("every")
            && (behind.begins_operand() || matches!(behind, TokenKind::Minus))
            && *behind != TokenKind::OpenBracket;
        if !is_period {
            return None;
        }
        self.bump();
        let period = self.value();
        if *self.kind() == TokenKind::Equals {
            self.expected("`->` or the end of the line", "write `event tick: every 0.01 -> u = …`");
            self.skip_statement();
            return Some(Expr { kind: ExprKind::Missing, span: period.span });
        }
        Some(period)
    }
}
