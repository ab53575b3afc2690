//! Statements that say what holds: `force nonideal constraint start event`, and
//! what is done with the model: `run draw`.

use super::declarations::ITEMS;
use super::words::{alternatives, nearest};
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::{self, CHANGES, RUN_OPTIONS, SHAPES};
use crate::tree::{
    Action, Direction, Entry, Expr, ExprKind, ForceForm, Name, RunOption, Shape, StartItem,
    StartRelation, StatementKind, Trigger,
};

const FORCE: Context =
    Context { stops: &["at", "along"], items: false, condition: false, inside: false };
const EVENT: Context =
    Context { stops: &["rising", "falling"], items: false, condition: false, inside: false };
const RUN: Context = Context { stops: RUN_OPTIONS, items: false, condition: false, inside: false };

const BY: Context = Context { stops: &["weight"], items: false, condition: false, inside: false };

impl Parser<'_> {
    /// Whether a `:` stands in this statement, outside all brackets.
    pub(super) fn has_colon(&self) -> bool {
        let mut at = self.at;
        while !self.kind_at(at).ends_statement() {
            if *self.kind_at(at) == TokenKind::Colon {
                return true;
            }
            at = self.step_over(at);
        }
        false
    }

    fn skip_past_colon(&mut self) {
        while !self.eat(&TokenKind::Colon) && !self.kind().ends_statement() {
            self.at = self.step_over(self.at);
        }
    }

    /// The label before a `:`, if the statement has one.
    pub(super) fn label(&mut self) -> Option<Entry> {
        if self.begins_entry(&TokenKind::Colon) {
            let entry = self.entry();
            self.eat(&TokenKind::Colon);
            return entry;
        }
        if self.has_colon() {
            let hint = "a label is a name, perhaps with indices: `rod:`, `rod[i]:`";
            self.expected("a label before the `:`", hint);
            self.skip_past_colon();
            return None;
        }
        // `rod x = 1`: a label without its colon, or a product without its
        // operator; the first is what people write.
        let behind = match self.kind_at(self.at + 1) {
            TokenKind::OpenBracket => self.step_over(self.at + 1),
            _ => self.at + 1,
        };
        let touches = matches!(self.kind_at(behind), TokenKind::Name(_) | TokenKind::Number(_));
        if self.kind().name().is_none() || !touches {
            return None;
        }
        let entry = self.entry()?;
        let name = &entry.name.text;
        let hint = format!("write `{name}: …` if `{name}` is the label, `{name}*…` for a product");
        self.expected(&format!("`:` after `{name}`"), &hint);
        Some(entry)
    }

    pub(super) fn force(&mut self) -> ForceForm {
        const FORMS: &str = "write `force x: F`, `force F at r` or `force F along v`";
        if self.has_colon() {
            let coordinate = self.sum();
            if !self.eat(&TokenKind::Colon) {
                self.expected("a coordinate before the `:`", FORMS);
                self.skip_past_colon();
            }
            let value = self.within(FORCE, Self::value);
            if self.kind().is_name("at") || self.kind().is_name("along") {
                self.expected("the end of the line", FORMS);
            }
            return ForceForm::On { coordinate, value };
        }
        let forgotten = (self.kind().is_name("at") || self.kind().is_name("along"))
            && self.kind_at(self.at + 1).begins_operand()
            && !self.kind_at(self.at + 1).is_name("at")
            && !self.kind_at(self.at + 1).is_name("along");
        let value = if forgotten {
            self.expected("a force", FORMS);
            self.missing()
        } else {
            self.within(FORCE, Self::value)
        };
        if self.eat_name("at") {
            let position = self.within(FORCE, Self::value);
            return ForceForm::At { value, position };
        }
        if self.eat_name("along") {
            let velocity = self.within(FORCE, Self::value);
            return ForceForm::Along { value, velocity };
        }
        if *self.kind() == TokenKind::Equals {
            self.expected("`:`", FORMS);
            self.bump();
            return ForceForm::On { coordinate: value, value: self.value() };
        }
        self.expected("`at` or `along`", FORMS);
        ForceForm::At { value, position: self.missing() }
    }

    pub(super) fn constraint(&mut self) -> StatementKind {
        let (mut by, mut weight) = (Vec::new(), None);
        let label = match self.begins_servo() {
            true => {
                let entry = self.entry();
                self.eat_name("by");
                loop {
                    by.push(self.within(BY, |parser| parser.postfix(false)));
                    if !self.eat(&TokenKind::Comma) {
                        break;
                    }
                }
                if self.eat_name("weight") {
                    weight = Some(self.within(BY, Self::value));
                }
                if !self.eat(&TokenKind::Colon) {
                    const FORM: &str = "write `constraint track by F, T: x = path(t)`, or \
                                        `constraint track by u weight W: x = path(t)`";
                    self.expected("`:`", FORM);
                    self.skip_past_colon();
                }
                entry
            }
            false => self.label(),
        };
        let (left, right) = self.equation("a constraint");
        StatementKind::Constraint { label, by, weight, left, right }
    }

    /// Whether a label with `by` stands here.
    fn begins_servo(&self) -> bool {
        let behind = match self.kind_at(self.at + 1) {
            TokenKind::OpenBracket => self.step_over(self.at + 1),
            _ => self.at + 1,
        };
        self.kind().name().is_some() && self.kind_at(behind).is_name("by") && self.has_colon()
    }

    /// `a = b`, where people also write inequalities.
    fn equation(&mut self, what: &str) -> (Expr, Expr) {
        let left = self.sum();
        let mut unequal = false;
        match self.kind() {
            TokenKind::Equals => {}
            TokenKind::Tilde => self.expected("`=`", "a `~` is a guess, in `start` only"),
            _ if self.relation().is_some() => {
                unequal = true;
                let hint = match (what, self.kind()) {
                    ("an event", TokenKind::Less | TokenKind::LessEqual) => {
                        "write `a = b falling` for the moment when a becomes less than b"
                    }
                    ("an event", _) => {
                        "write `a = b rising` for the moment when a becomes greater than b"
                    }
                    _ => {
                        "what may touch and leave again is a `contact`: `contact stop: 1 >= x`; an \
                         `event` can stop the motion where a limit is reached"
                    }
                };
                self.fault_here(Code::Inequality, format!("{what} is an equation"), hint);
            }
            _ => {
                self.expected(
                    "`=`",
                    &format!(
                        "{what} is an equation, such as `{} = 0`",
                        self.written(left.span).unwrap_or("…")
                    ),
                );
                let right = self.missing();
                return (left, right);
            }
        }
        self.bump();
        let right = self.sum();
        if self.relation().is_some() {
            // Said once for `0 < x < 3`.
            if !unequal {
                let hint = "write two statements, one for each";
                self.fault_here(Code::Inequality, format!("{what} is one equation"), hint);
            }
            self.skip_statement();
        }
        if unequal {
            // What the inequality would say as an equation is of no interest.
            let right = Expr { kind: ExprKind::Missing, span: right.span };
            return (left, right);
        }
        self.chained_equals();
        (left, right)
    }

    pub(super) fn start_items(&mut self) -> Vec<StartItem> {
        self.within(ITEMS, |parser| parser.list(Self::start_item))
    }

    fn start_item(&mut self) -> Option<StartItem> {
        if let Some(open) = self.value_at_time() {
            let place = self.tokens[open].span.to(self.tokens[self.step_over(open) - 1].span);
            let quantity = self.written(self.span().to(self.tokens[open - 1].span));
            let hint = match quantity {
                Some(quantity) => format!("write `start {quantity} = …`"),
                None => "leave the parentheses out".into(),
            };
            let message = "all of `start` is about the time at which the run begins";
            self.report(Diagnostic::fault(Code::Syntax, place, message).hint(hint));
            self.skip_item();
            return None;
        }
        let left = self.value();
        let relation = match self.kind() {
            TokenKind::Equals => StartRelation::Equals,
            TokenKind::Tilde => StartRelation::Near,
            _ => {
                let hint = "write `x = 1` for a value, `x ~ 1` for a guess";
                self.expected("`=` or `~`", hint);
                self.skip_item();
                return None;
            }
        };
        self.bump();
        let right = self.last_value();
        if *self.kind() == TokenKind::Tilde {
            self.expected("`,` or the end of the line", "one `=` or `~` for each item");
            self.skip_item();
        }
        Some(StartItem { left, relation, right })
    }

    /// The `(` of `x(0) = …`, which is how others say when something holds.
    pub(super) fn value_at_time(&self) -> Option<usize> {
        let mut at = self.at;
        loop {
            let next = self.step_over(at);
            let is_time = *self.kind_at(at) == TokenKind::OpenParen
                && next == at + 3
                && at > self.at
                && matches!(self.kind_at(at + 1), TokenKind::Number(_))
                && matches!(self.kind_at(at - 1), TokenKind::Name(_) | TokenKind::Prime)
                && matches!(self.kind_at(next), TokenKind::Equals | TokenKind::Tilde);
            if is_time {
                let called = self.kind_at(at - 1).name();
                let is_function = called.is_some_and(|name| {
                    self.declared.functions.contains(name) || lexicon::is_function(name)
                });
                return (!is_function).then_some(at);
            }
            let ends = matches!(self.kind_at(at), TokenKind::Comma | TokenKind::Equals)
                || self.kind_at(at).ends_statement();
            if ends {
                return None;
            }
            at = next;
        }
    }

    /// `m = 2, a.m = 3`, as options of the program give them.
    pub(super) fn assignments(&mut self) -> Vec<(Expr, Expr)> {
        self.within(ITEMS, |parser| parser.list(Self::assignment))
    }

    /// `quantity = value`
    pub(super) fn assignment(&mut self) -> Option<(Expr, Expr)> {
        let left = self.postfix(false);
        if !self.eat(&TokenKind::Equals) {
            self.expected("`=`", "write `quantity = value`");
            self.skip_item();
            return None;
        }
        Some((left, self.last_value()))
    }

    pub(super) fn event(&mut self) -> Option<StatementKind> {
        let label = self.label();
        if label.is_none() {
            let hint = "an event has a name: `event hit: y = 0 falling`";
            self.expected("a label and `:`", hint);
        }
        let change = self.change();
        let period = if change.is_some() { None } else { self.period() };
        let trigger = match (change, period) {
            (Some(change), _) => change,
            (None, Some(period)) => Trigger::Every(period),
            (None, None) => {
                let (left, right) = self.within(EVENT, |parser| parser.equation("an event"));
                let direction = if self.eat_name("rising") {
                    Direction::Rising
                } else if self.eat_name("falling") {
                    Direction::Falling
                } else {
                    Direction::Both
                };
                Trigger::Zero { left, right, direction }
            }
        };
        let action = match self.eat(&TokenKind::Arrow) {
            true => self.action(),
            false => Action::Record,
        };
        Some(StatementKind::Event { label: label?, trigger, action })
    }

    /// `c closes`, if that stands here.
    fn change(&mut self) -> Option<Trigger> {
        let begin = self.at;
        let mut at = begin;
        loop {
            // `a.c[2]`, and what stands behind it.
            self.kind_at(at).name()?;
            at += 1;
            if *self.kind_at(at) == TokenKind::OpenBracket {
                at = self.step_over(at);
            }
            if *self.kind_at(at) != TokenKind::Dot {
                break;
            }
            at += 1;
        }
        if !self.kind_at(at).name().is_some_and(|word| CHANGES.contains(&word)) {
            return None;
        }
        let of = self.postfix(false);
        Some(Trigger::Change { of, change: self.take_name()? })
    }

    fn action(&mut self) -> Action {
        if self.kind().is_name("stop") && !self.begins_assignment() {
            self.bump();
            return Action::Stop;
        }
        Action::Reset(self.assignments())
    }

    pub(super) fn run_options(&mut self) -> Vec<RunOption> {
        let mut options: Vec<RunOption> = Vec::new();
        self.within(RUN, |parser| {
            parser.list(|parser| {
                let word = parser.span();
                let option = parser.run_option()?;
                let kind = std::mem::discriminant(&option);
                if options.iter().any(|other| std::mem::discriminant(other) == kind) {
                    let message = "this option was already given";
                    parser.report(
                        Diagnostic::fault(Code::RunOption, word, message).hint("keep one of them"),
                    );
                } else {
                    options.push(option);
                }
                Some(())
            })
        });
        options
    }

    fn run_option(&mut self) -> Option<RunOption> {
        let Some(word) = self.kind().name().map(str::to_owned) else {
            let hint = match self.kind() {
                TokenKind::Number(_) => "write `run t = 0..10`",
                _ => "write `run t = 0..10, every 0.01`",
            };
            self.expected("an option of `run`", hint);
            self.skip_item();
            return None;
        };
        if !RUN_OPTIONS.contains(&&*word) {
            let hint = match nearest(&word, RUN_OPTIONS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!(
                        "the options are {}",
                        alternatives(RUN_OPTIONS).replace(" or ", " and ")
                    )
                }
            };
            self.fault_here(Code::RunOption, format!("`{word}` is no option of `run`"), &hint);
            self.skip_item();
            return None;
        }
        self.bump();
        if word == "t" {
            if !self.eat(&TokenKind::Equals) {
                self.expected("`=` after `t`", "write `t = 0..10`");
            }
            return Some(RunOption::Time(self.range("write `t = 0..10`")));
        }
        if *self.kind() == TokenKind::Equals {
            self.expected("a value", &format!("write `{word} …`, without the `=`"));
            self.bump();
        }
        Some(match &*word {
            "every" => RunOption::Every(self.value()),
            "tol" => RunOption::Tolerance(self.value()),
            "method" => RunOption::Method(self.word()?),
            "formulation" => RunOption::Formulation(self.word()?),
            "coordinates" => RunOption::Coordinates(self.word()?),
            "impacts" => RunOption::Impacts(self.word()?),
            _ => RunOption::Elimination(self.word()?),
        })
    }

    /// `null-space`: names joined by `-`.
    pub(super) fn word(&mut self) -> Option<Name> {
        let Some(first) = self.take_name() else {
            self.expected(&format!("a word after {}", self.describe(self.at - 1)), "");
            return None;
        };
        let (mut text, mut span) = (first.text.to_string(), first.span);
        while *self.kind() == TokenKind::Minus && self.kind_at(self.at + 1).name().is_some() {
            self.bump();
            if let Some(next) = self.take_name() {
                text = format!("{text}-{}", next.text);
                span = span.to(next.span);
            }
        }
        Some(Name { text: text.into(), span })
    }

    pub(super) fn draw(&mut self) -> Option<StatementKind> {
        let shape = match self.kind().name() {
            Some("line") => Shape::Line,
            Some("point") => Shape::Point,
            Some("trace") => Shape::Trace,
            Some("circle") => Shape::Circle,
            other => {
                let near = other.and_then(|word| nearest(word, SHAPES));
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write `draw line A, B`, `draw point P`, `draw trace P` or \
                             `draw circle C, r`"
                        .into(),
                };
                let message = format!("expected {} after `draw`", alternatives(SHAPES));
                self.fault_here(Code::DrawShape, message, &hint);
                self.skip_statement();
                return None;
            }
        };
        self.bump();
        Some(StatementKind::Draw(shape, self.list(|parser| Some(parser.value()))))
    }
}
