//! What stands behind the dot of contacts, rolling joints and frictions.
//!
//! ```text
//! force on the second side   n N + Σ t f          by the unknowns N and f along the slip
//! of a gap without sides     [N, f…], or N alone  along the gap and what slides
//! ```

use super::*;
use crate::lexicon::{CONTACT_MEMBERS, FRICTION_MEMBERS, ROLLING_MEMBERS};
use crate::resolve::rigid::{add, times};
use crate::tree::{Expr, Postfix, PostfixKind};

impl<'a> Resolver<'a, '_> {
    /// `c.gap`, `c.point`; gives back how many operations were used.
    pub(in crate::resolve) fn touch_member(
        &mut self,
        at: usize,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
    ) -> Eval<(Value, usize)> {
        let contact = self.touches.all[at].contact;
        let (what, members) = match contact {
            Some(_) => ("contact", CONTACT_MEMBERS),
            None => ("rolling joint", ROLLING_MEMBERS),
        };
        let (member, place) = self.member_name(name, what, members, span, operations)?;
        let is_bare = matches!(self.touches.all[at].what, What::Between(..));
        if is_bare && member == "point" {
            return Err(self.report(
                Diagnostic::fault(
                    Code::UnknownMember,
                    place,
                    "a contact written with `>=` has no point: it may be any inequality",
                )
                .hint("a contact of two sides has one: `contact c: ground normal [0, 1], ball`"),
            ));
        }
        let value = match (member, contact) {
            ("gap", _) => Value::Scalar(self.gap(at)?),
            ("point", _) => Value::vector(self.meeting(at)?.point.clone()),
            ("slip", _) if is_bare => {
                let (slip, _) = self.contact_slip(at)?;
                if slip.len() == 1 { Value::Scalar(slip[0]) } else { Value::vector(slip) }
            }
            ("slip", _) => {
                let meeting = self.meeting(at)?;
                Value::vector(meeting.slip_vector(&self.exprs))
            }
            ("mode", Some(number)) => {
                let unknown = Unknown::Touch(OfTouch::ContactMode(number));
                let name = self.touches.all[at].name.clone();
                Value::Scalar(self.unknown_expr(unknown, format!("{name}.mode")))
            }
            ("force", Some(number)) => self.contact_force(at, number, is_bare)?,
            _ => self.rolling_force(at)?,
        };
        Ok((value, 1))
    }

    /// The force on the second side of a contact.
    fn contact_force(&mut self, at: usize, contact: usize, is_bare: bool) -> Eval<Value> {
        let normal = self.normal_expr(contact);
        let mut along: Vec<ExprId> = Vec::new();
        if self.has_friction(contact) {
            let (friction, name) = (self.friction_of(contact), self.touches.all[at].name.clone());
            let (slip, _) = self.contact_slip(at)?;
            for component in 0..slip.len() {
                let unknown = Unknown::Touch(OfTouch::Force(friction, component));
                let shown = format!("{name}.slip.force[{}]", component + 1);
                along.push(self.unknown_expr(unknown, shown));
            }
        }
        if is_bare {
            return Ok(match along.is_empty() {
                true => Value::Scalar(normal),
                false => Value::vector(std::iter::once(normal).chain(along).collect()),
            });
        }
        let meeting = self.meeting(at)?;
        Ok(Value::vector(on_second(&self.exprs, &meeting, normal, &along)))
    }

    /// The force on the second side of a rolling joint.
    fn rolling_force(&mut self, at: usize) -> Eval<Value> {
        let meeting = self.meeting(at)?;
        let group = self.touches.all[at].group;
        let rows = Value::vector(vec![ExprId::ZERO; 1 + meeting.tangents.len()]);
        let unknowns: Vec<ExprId> = (0..rows.components().len())
            .map(|row| {
                let shown = format!("multiplier({})", self.row_name(group, row, &rows));
                self.unknown_expr(Unknown::Multiplier(group * labels::ROWS + row), shown)
            })
            .collect();
        Ok(Value::vector(on_second(&self.exprs, &meeting, unknowns[0], &unknowns[1..])))
    }

    /// `rub.force`, `rub.mode`.
    pub(in crate::resolve) fn friction_member(
        &mut self,
        def: DefId,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
    ) -> Eval<(Value, usize)> {
        let Def { kind: DefKind::Friction(at, statement), scope, env, .. } =
            self.defs[def.0 as usize]
        else {
            return Err(self.already(span));
        };
        let (member, _) = self.member_name(name, "friction", FRICTION_MEMBERS, span, operations)?;
        let StatementKind::Friction { label: Some(entry), along, .. } = &statement.kind else {
            return Err(self.already(span));
        };
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let full = self.full_name(scope, &entry.name.text, &indices);
        if member == "mode" {
            let unknown = Unknown::Touch(OfTouch::FrictionMode(at));
            return Ok((Value::Scalar(self.unknown_expr(unknown, format!("{full}.mode"))), 1));
        }
        let cx = Cx { scope, env, locals: None, constant: false };
        let slip = self.not_of_itself(Part::Along(def), along.span, |r| r.eval(along, cx))?;
        let count = self.slip_components(&slip, along.span)?.len();
        let forces: Vec<ExprId> = (0..count)
            .map(|component| {
                let shown = match slip.scalar() {
                    Some(_) => format!("{full}.force"),
                    None => format!("{full}.force[{}]", component + 1),
                };
                self.unknown_expr(Unknown::Touch(OfTouch::Force(at, component)), shown)
            })
            .collect();
        Ok((Value::with_shape(&slip.shape(), forces), 1))
    }

    /// The number of the friction of a contact: those of statements come first.
    fn friction_of(&self, contact: usize) -> usize {
        let before = (0..contact).filter(|&other| self.has_friction(other)).count();
        self.touches.frictions.len() + before
    }

    /// The contact or friction that an expression names.
    pub(super) fn touched(&mut self, of: &'a Expr, cx: Cx<'_>) -> Eval<Touched> {
        if let Some(def) = self.definition_named(of, cx)? {
            match self.defs[def.0 as usize].kind {
                DefKind::Touch(at) => {
                    if let Some(contact) = self.touches.all[at].contact {
                        return Ok(Touched::Contact(contact));
                    }
                }
                DefKind::Friction(at, _) => return Ok(Touched::Friction(at)),
                _ => {}
            }
        }
        Err(self.report(
            Diagnostic::fault(
                Code::ArgumentKind,
                of.span,
                "a contact or a friction with a label is needed here",
            )
            .hint("name it: `event land: floor closes`, `event slip: rub slips`"),
        ))
    }

    /// The member that is asked for, if there is such a one.
    fn member_name(
        &mut self,
        name: &str,
        what: &str,
        members: &[&'static str],
        span: Span,
        operations: &'a [Postfix],
    ) -> Eval<(&'static str, Span)> {
        let Some(Postfix { kind: PostfixKind::Member(member), span: place }) = operations.first()
        else {
            let message = format!("`{name}` is a {what}, not a quantity");
            return Err(self.report(
                Diagnostic::fault(Code::ArgumentKind, span, message)
                    .hint(format!("write for instance `{name}.{}`", members[0])),
            ));
        };
        if let Some(known) = members.iter().find(|known| **known == &**member) {
            return Ok((known, *place));
        }
        let diagnostic =
            Diagnostic::fault(Code::UnknownMember, *place, format!("a {what} has no `{member}`"));
        let hint = match names::closest(member, members.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("it has {}", members.join(", ")),
        };
        Err(self.report(diagnostic.hint(hint)))
    }
}

/// n N + Σ t f.
fn on_second(exprs: &Exprs, meeting: &Meeting, normal: ExprId, along: &[ExprId]) -> Vec<ExprId> {
    let push = times(exprs, &meeting.normal, normal);
    let mut terms: Vec<Vec<ExprId>> = vec![push];
    terms.extend(meeting.tangents.iter().zip(along).map(|(t, &f)| times(exprs, t, f)));
    let terms: Vec<&[ExprId]> = terms.iter().map(Vec::as_slice).collect();
    add(exprs, &terms)
}
