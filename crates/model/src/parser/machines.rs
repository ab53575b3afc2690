//! Statements that build machines: `frame joint loop torque spring damper`.
//!
//! ```text
//! "torque" expr "on" postfix ["from" postfix]
//! "spring" [label] expr ["," expr] where          "damper" [label] expr where
//! "frame" entry ["on" postfix] [":" field { "," field }]
//! ("joint" | "loop") label kind side "," side { "," ("axis" | "pitch") expr }
//! where = "between" expr "," expr | "at" expr
//! ```

use super::touch::SIDE;
use super::words::{alternatives, nearest};
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::{JOINT_FIELDS, JOINT_KINDS};
use crate::tree::{Entry, Field, Name, StatementKind, Where};

const fn stops(stops: &'static [&'static str]) -> Context {
    Context { stops, items: false, condition: false, inside: false }
}

const TORQUE: Context = stops(&["on", "from"]);
const SPRING: Context = stops(&["between", "at"]);
const FRAME: Context = stops(&["at", "turning", "on"]);

impl Parser<'_> {
    pub(super) fn torque(&mut self) -> StatementKind {
        const FORM: &str = "write `torque M on b` or `torque M on b from a`";
        let value = self.within(TORQUE, Self::value);
        let on = match self.eat_name("on") {
            true => self.within(TORQUE, |parser| parser.postfix(false)),
            false => {
                self.expected("`on`", FORM);
                self.missing()
            }
        };
        let from =
            self.eat_name("from").then(|| self.within(TORQUE, |parser| parser.postfix(false)));
        StatementKind::Torque { value, on, from }
    }

    pub(super) fn spring(&mut self, is_damper: bool) -> Option<StatementKind> {
        let form = match is_damper {
            true => "write `damper c between P, Q` or `damper c at s`",
            false => "write `spring k, l0 between P, Q` or `spring k, s0 at s`",
        };
        let label = match self.has_colon() {
            true => self.label(),
            false => None,
        };
        let coefficient = self.within(SPRING, Self::value);
        let mut rest = None;
        if *self.kind() == TokenKind::Comma {
            if is_damper {
                self.expected("`between` or `at`", form);
            }
            self.bump();
            rest = Some(self.within(SPRING, Self::value));
        }
        let place = if self.eat_name("between") {
            let first = self.within(SPRING, Self::value);
            if !self.eat(&TokenKind::Comma) {
                self.expected("`,` between two points", form);
                return None;
            }
            Where::Between(first, self.within(SPRING, Self::value))
        } else if self.eat_name("at") {
            Where::At(self.within(SPRING, Self::value))
        } else {
            self.expected("`between` or `at`", form);
            self.skip_statement();
            return None;
        };
        let rest = rest.filter(|_| !is_damper);
        Some(StatementKind::Spring { label, is_damper, coefficient, rest, place })
    }

    pub(super) fn frame(&mut self) -> Option<StatementKind> {
        let entry = self.entry()?;
        let on = self.eat_name("on").then(|| self.within(FRAME, |parser| parser.postfix(false)));
        let mut fields = Vec::new();
        if self.eat(&TokenKind::Colon) {
            fields = self.within(FRAME, |parser| parser.list(Self::field));
        } else if !self.kind().ends_statement() {
            self.expected("`:` or the end of the line", "write `frame f on b: at u, turning R`");
            self.skip_statement();
        }
        Some(StatementKind::Frame { entry, on, fields })
    }

    pub(super) fn joint(&mut self, is_loop: bool) -> Option<StatementKind> {
        const FORM: &str = "write `joint knee: pin thigh at u, shank, axis n`";
        if !self.begins_entry(&TokenKind::Colon) {
            self.expected("a name and `:`", FORM);
            self.skip_statement();
            return None;
        }
        let entry: Entry = self.entry()?;
        self.eat(&TokenKind::Colon);
        let kind = self.joint_kind();
        if kind.is_none() {
            self.skip_statement();
        }
        let kind = kind?;
        let first = self.within(SIDE, Self::side);
        if !self.eat(&TokenKind::Comma) {
            self.expected("`,` and what moves relative to the first", FORM);
            self.skip_statement();
            return None;
        }
        let second = self.within(SIDE, Self::side);
        let mut fields = Vec::new();
        while self.eat(&TokenKind::Comma) {
            fields.extend(self.within(SIDE, Self::joint_field));
        }
        let sides = Box::new([first, second]);
        Some(StatementKind::Joint { entry, kind, sides, fields, is_loop })
    }

    /// `pin`, `slider`, …; a word of other tools is told what it is called here.
    fn joint_kind(&mut self) -> Option<Name> {
        let word = match self.kind().name() {
            Some(word) => word.to_owned(),
            None => {
                self.expected("the kind of joint", &kinds());
                return None;
            }
        };
        if JOINT_KINDS.contains(&&*word) {
            return self.take_name();
        }
        let same = match &*word {
            "revolute" | "hinge" => Some("pin"),
            "prismatic" => Some("slider"),
            "cylindrical" => Some("cylinder"),
            "helical" => Some("screw"),
            "cardan" | "hooke" => Some("universal"),
            "spherical" => Some("ball"),
            "weld" | "rigid" => Some("fixed"),
            other => nearest(other, JOINT_KINDS),
        };
        let hint = match same {
            Some(same) => format!("here it is called `{same}`"),
            None => kinds(),
        };
        self.fault_here(Code::JointKind, format!("there is no joint `{word}`"), &hint);
        // The rest is read as it is meant, so that nothing follows from this.
        let name = self.take_name()?;
        same.map(|same| Name { text: same.into(), ..name })
    }

    fn joint_field(&mut self) -> Option<Field> {
        let Some(name) = self.take_name() else {
            self.expected(&alternatives(JOINT_FIELDS), "write `axis [0, 0, 1]`");
            self.skip_item();
            return None;
        };
        let value = self.value();
        if JOINT_FIELDS.contains(&&*name.text) {
            return Some(Field { name, value });
        }
        let message = format!("`{}` is no field of a joint", name.text);
        let hint = match nearest(&name.text, JOINT_FIELDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "behind its two sides a joint has `axis` and `pitch`; `at` and `turning` belong \
                     to a side, without a comma"
                    .into()
            }
        };
        self.report(Diagnostic::fault(Code::JointField, name.span, message).hint(hint));
        None
    }
}

fn kinds() -> String {
    format!("the kinds are {}", alternatives(JOINT_KINDS).replace(" or ", " and "))
}
