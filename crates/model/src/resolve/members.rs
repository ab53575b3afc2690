//! What stands behind the dot of particles, bodies, frames, the ground, springs and dampers.

use super::bodies::{Attitude, Body};
use super::machines::Target;
use super::rigid::{Pose, minus};
use super::value::Value;
use super::*;
use crate::lexicon::{BODY_MEMBERS, PARTICLE_MEMBERS};
use crate::tree::{Argument, Postfix, PostfixKind};

/// Members that take a vector.
const CALLED: [&str; 4] = ["point", "vector", "local", "velocity_at"];

impl<'a> Resolver<'a, '_> {
    /// `bob.position`, `wheel.point([a, b, c])`; returns how many operations
    /// behind the name were used.
    pub(super) fn body_member(
        &mut self,
        target: Target,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<(Value, usize)> {
        let target = self.real(target);
        let what = match target {
            Target::Def(def) => match self.defs[def.0 as usize].kind {
                DefKind::Body { what, .. } => what,
                _ => return Err(self.already(span)),
            },
            Target::Ground => What::Frame,
        };
        let members = if what == What::Particle { PARTICLE_MEMBERS } else { BODY_MEMBERS };
        let word = what.word();
        let Some(Postfix { kind: PostfixKind::Member(member), span: at }) = operations.first()
        else {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ArgumentKind,
                    span,
                    format!("`{name}` is a {word}, not a quantity"),
                )
                .hint(format!("write for instance `{name}.position` or `{name}.velocity`")),
            ));
        };
        if !members.contains(&&**member) {
            let mut diagnostic =
                Diagnostic::fault(Code::UnknownMember, *at, format!("a {word} has no `{member}`"));
            diagnostic = match names::closest(member, members.iter().copied()) {
                Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                None => diagnostic.hint(format!("it has {}", members.join(", "))),
            };
            return Err(self.report(diagnostic));
        }
        let called = CALLED.contains(&&**member);
        let argument = match operations.get(1) {
            Some(Postfix { kind: PostfixKind::Call(arguments), span }) if called => {
                match arguments.as_slice() {
                    [Argument::Value(expr)] => Some((self.eval(expr, cx)?, expr.span)),
                    _ => {
                        let message = format!("`{member}` takes one vector");
                        return self.fault(Code::ArgumentCount, *span, message);
                    }
                }
            }
            _ => None,
        };
        let body = match target {
            Target::Def(def) => self.body(def)?,
            Target::Ground => {
                let own = argument.as_ref().map(|(value, _)| value.components().len());
                let n = own.filter(|n| (2..=3).contains(n)).unwrap_or(self.model_dimension());
                Arc::new(Body::frame(&self.exprs, Pose::ground(n)))
            }
        };
        let value = match (&**member, argument) {
            ("position", _) => Value::vector(body.position.clone()),
            ("velocity", _) => Value::vector(body.velocity.clone()),
            ("origin", _) => Value::vector(body.origin.clone()),
            (_, None) if called => {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::FunctionValue,
                        *at,
                        format!("`{member}` needs its vector"),
                    )
                    .hint(format!("`{name}.{member}([…])`")),
                ));
            }
            (word, argument) => self.attitude_member(&body, word, argument, *at)?,
        };
        Ok((value, if called { 2 } else { 1 }))
    }

    /// Plane or space, as far as the machine tells.
    pub(super) fn model_dimension(&self) -> usize {
        self.machine.dimension.values().copied().min().unwrap_or(3)
    }

    fn attitude_member(
        &mut self,
        body: &Body,
        word: &str,
        argument: Option<(Value, Span)>,
        at: Span,
    ) -> Eval<Value> {
        if matches!(body.attitude, Attitude::Point) {
            return Err(self.already(at));
        }
        let exprs = &self.exprs;
        let Some((vector, span)) = argument else {
            return Ok(match (&body.attitude, word) {
                (Attitude::Plane { omega, .. }, "omega" | "omega_body") => Value::Scalar(*omega),
                (Attitude::Space { omega, .. }, "omega") => Value::vector(omega.to_vec()),
                (Attitude::Space { omega_body, .. }, "omega_body") => {
                    Value::vector(omega_body.to_vec())
                }
                _ => self.rotation_of(body),
            });
        };
        let n = body.position.len();
        if vector.shape() != [n] {
            let found = vector.describe();
            return self.fault(
                Code::Shape,
                span,
                format!("a vector of {n} is needed here, and this is {found}"),
            );
        }
        let d = vector.components();
        let turn = body.pose().turn;
        Ok(Value::vector(match word {
            "point" => super::rigid::add(exprs, &[&body.origin, &turn.turned(exprs, d)]),
            "vector" => turn.turned(exprs, d),
            "local" => turn.turned_back(exprs, &minus(exprs, d, &body.origin)),
            _ => super::rigid::add(exprs, &[&body.velocity, &turn.swept(exprs, d)]),
        }))
    }
}
