//! Statements of what sticks and touches: `friction contact`, and the sides that they share with
//! joints.
//!
//! ```text
//! "friction" [label] expr "along" expr ["," "static" expr]
//! "contact" label (expr ">=" expr | side "," side)
//!     { "," ("restitution" | "friction" | "static" | "sliding") expr | "," "while" cond }
//! side = postfix { ("at" | "turning" | "radius" | "axis" | "normal") expr | "curve" expr "by" NAME }
//! ```

use super::words::{alternatives, nearest};
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::{CONTACT_FIELDS, SIDE_FIELDS};
use crate::tree::{Expr, Field, Gap, Name, Relation, Side, StatementKind};

const fn stops(stops: &'static [&'static str]) -> Context {
    Context { stops, items: false, condition: false, inside: false }
}

const FRICTION: Context = stops(&["along", "static"]);
pub(super) const SIDE: Context =
    stops(&["at", "turning", "radius", "axis", "normal", "curve", "by", "pitch"]);
const CONTACT: Context = stops(&["restitution", "friction", "static", "sliding", "while"]);
const WHILE: Context = Context { condition: true, ..CONTACT };

impl Parser<'_> {
    pub(super) fn friction(&mut self) -> StatementKind {
        const FORM: &str = "write `friction F along v`, or `friction F along v, static Fs`";
        let label = match self.has_colon() {
            true => self.label(),
            false => None,
        };
        let bound = self.within(FRICTION, Self::value);
        let along = match self.eat_name("along") {
            true => self.within(FRICTION, Self::value),
            false => {
                self.expected("`along`", FORM);
                self.missing()
            }
        };
        let mut holds = None;
        if self.eat(&TokenKind::Comma) {
            match self.eat_name("static") {
                true => holds = Some(self.within(FRICTION, Self::value)),
                false => {
                    self.expected("`static`", FORM);
                    self.skip_statement();
                }
            }
        }
        StatementKind::Friction { label, bound, along, holds }
    }

    pub(super) fn contact(&mut self) -> Option<StatementKind> {
        const FORM: &str =
            "write `contact stop: 1 >= x`, or `contact c: ground normal [0, 1], ball radius r`";
        if !self.begins_entry(&TokenKind::Colon) {
            self.expected("a name and `:`", FORM);
            self.skip_statement();
            return None;
        }
        let entry = self.entry()?;
        self.eat(&TokenKind::Colon);
        let gap = match self.is_inequality() {
            true => self.inequality()?,
            false => {
                let first = self.within(SIDE, Self::side);
                if !self.eat(&TokenKind::Comma) {
                    self.expected("`>=`, or `,` and what touches the first", FORM);
                    self.skip_statement();
                    return None;
                }
                Gap::Sides(Box::new([first, self.within(SIDE, Self::side)]))
            }
        };
        let (mut fields, mut condition): (Vec<Field>, Option<Expr>) = (Vec::new(), None);
        while self.eat(&TokenKind::Comma) {
            let Some(name) = self.contact_word() else {
                self.skip_item();
                continue;
            };
            let twice = match &*name.text {
                "while" => condition.is_some(),
                other => fields.iter().any(|field| &*field.name.text == other),
            };
            if twice {
                let message = format!("`{}` is given twice", name.text);
                self.report(Diagnostic::fault(Code::JointField, name.span, message));
            }
            if &*name.text == "while" {
                let own = self.within(WHILE, Self::condition);
                condition.get_or_insert(own);
                continue;
            }
            let value = self.within(CONTACT, Self::value);
            if !twice {
                fields.push(Field { name, value });
            }
        }
        Some(StatementKind::Contact { entry, gap, fields, condition })
    }

    /// Whether a comparison stands before the first comma.
    fn is_inequality(&self) -> bool {
        let mut at = self.at;
        while !self.kind_at(at).ends_statement() && *self.kind_at(at) != TokenKind::Comma {
            use TokenKind::{Greater, GreaterEqual, Less, LessEqual};
            if matches!(self.kind_at(at), Greater | GreaterEqual | Less | LessEqual) {
                return true;
            }
            at = self.step_over(at);
        }
        false
    }

    /// `left >= right`
    fn inequality(&mut self) -> Option<Gap> {
        let left = self.within(CONTACT, Self::sum);
        if self.relation() != Some(Relation::GreaterEqual) {
            let hint = "write `a >= b`: the gap is left minus right; for `a <= b` turn it round";
            self.expected("`>=`", hint);
            self.skip_statement();
            return None;
        }
        self.bump();
        let right = self.within(CONTACT, Self::sum);
        if self.relation().is_some() {
            let hint = "write two contacts, one for each side";
            self.fault_here(Code::Inequality, "a contact is one inequality".into(), hint);
            self.skip_statement();
            return None;
        }
        Some(Gap::Between(left, right))
    }

    fn contact_word(&mut self) -> Option<Name> {
        let Some(name) = self.take_name() else {
            self.expected(&alternatives(CONTACT_FIELDS), "write `restitution 0.8, friction 0.3`");
            return None;
        };
        if CONTACT_FIELDS.contains(&&*name.text) {
            return Some(name);
        }
        let message = format!("`{}` is no field of a contact", name.text);
        let hint = match nearest(&name.text, CONTACT_FIELDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None if SIDE_FIELDS.contains(&&*name.text) => {
                "what a side is like stands behind it without a comma: `ball radius r`".into()
            }
            None => {
                format!("its fields are {}", alternatives(CONTACT_FIELDS).replace(" or ", " and "))
            }
        };
        self.report(Diagnostic::fault(Code::JointField, name.span, message).hint(hint));
        None
    }

    /// A body with where and how something is attached to it.
    pub(super) fn side(&mut self) -> Side {
        let start = self.span();
        let of = self.postfix(false);
        let (mut fields, mut by): (Vec<Field>, Option<Name>) = (Vec::new(), None);
        while self.kind().name().is_some_and(|word| SIDE_FIELDS.contains(&word)) {
            let Some(name) = self.take_name() else { break };
            let value = self.value();
            if &*name.text == "curve" {
                if self.eat_name("by") {
                    by = self.take_name();
                }
                if by.is_none() {
                    self.expected("`by` and a name", "write `curve [s, sin(s)] by s`");
                }
            }
            fields.push(Field { name, value });
        }
        Side { of, fields, by, span: start.to(self.last_span()) }
    }
}
