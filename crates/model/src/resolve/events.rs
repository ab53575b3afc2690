//! Events: when they happen, and what they change.

use super::statements::STATE;
use super::*;
use crate::system::{Action, Event};
use crate::tree::{StatementKind, Trigger};

impl<'a> Resolver<'a, '_> {
    /// Events.
    pub(super) fn resolve_events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Event { label, trigger, action } = &instance.statement.kind else {
                continue;
            };
            let cx = self.scope_cx(&instance);
            let found = self.settle(|r| {
                let (function, direction, period) = r.trigger(trigger, cx)?;
                let change = match trigger {
                    Trigger::Change { of, change } => Some(r.change(of, change, cx)?),
                    _ => None,
                };
                let action = match action {
                    tree::Action::Record => Action::Record,
                    tree::Action::Stop => Action::Stop,
                    tree::Action::Reset(list) => {
                        let mut resets = r.resets(list, cx)?;
                        if change.is_some() {
                            r.with_impulses(&mut resets);
                        }
                        Action::Reset(resets)
                    }
                };
                let indices = r.indices(&label.indices, cx)?;
                Ok((function, direction, (period, change), action, indices))
            });
            let Some((function, direction, (period, change), action, indices)) = found else {
                continue;
            };
            let function = self.normalize(function);
            let name = self.full_name(instance.scope, &label.name.text, &indices);
            events.push(Event {
                name,
                function,
                direction,
                period,
                change,
                action,
                span: instance.statement.span,
            });
        }
        events
    }

    /// left − right of an event, and which of its zeros count; or how often it happens.
    fn trigger(
        &mut self,
        trigger: &'a Trigger,
        cx: Cx<'_>,
    ) -> Eval<(ExprId, tree::Direction, Option<ExprId>)> {
        match trigger {
            Trigger::Zero { left, right, direction } => {
                let (a, b) = (self.eval_scalar(left, cx), self.eval_scalar(right, cx));
                Ok(((self.exprs.at(a?) - self.exprs.at(b?)).id, *direction, None))
            }
            Trigger::Every(period) => {
                let period = self.positive(period, cx, "the period of an event")?;
                Ok((ExprId::ONE, tree::Direction::Both, Some(period)))
            }
            Trigger::Change { .. } => Ok((ExprId::ONE, tree::Direction::Both, None)),
        }
    }

    fn resets(&mut self, list: &'a [(Expr, Expr)], cx: Cx<'_>) -> Eval<Vec<(ExprId, ExprId)>> {
        let mut resets = Vec::new();
        let mut stop = None;
        for (quantity, value) in list {
            match self.reset(quantity, value, cx) {
                Ok(pairs) => resets.extend(pairs),
                Err(why) => stop = Some(why),
            }
        }
        match stop {
            Some(why) => Err(why),
            None => Ok(resets),
        }
    }

    /// `quantity = value` behind the arrow of an event.
    fn reset(
        &mut self,
        quantity: &'a Expr,
        value: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<Vec<(ExprId, ExprId)>> {
        let (a, b) = (self.eval(quantity, cx), self.eval(value, cx));
        let (a, mut b) = (a?, b?);
        if let (Some(id), None) = (b.scalar(), a.scalar()) {
            b = a.map(|_| id);
        }
        if a.shape() != b.shape() {
            let message = format!("{} cannot become {}", a.describe(), b.describe());
            return Err(self.report(
                Diagnostic::fault(Code::Shape, value.span, message)
                    .at(b.describe())
                    .with(quantity.span, a.describe()),
            ));
        }
        for &id in a.components() {
            let mask = self.mask(id);
            let is_state =
                mask & (role::POSITION | role::VELOCITY | role::MOMENTUM | role::STATE) != 0;
            let settable = STATE & !(role::TIME | role::INPUT);
            let foreign = mask & !settable;
            if !is_state && foreign & !(role::TIME | role::INPUT) == 0 {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::EventReset,
                        quantity.span,
                        "this is no part of the state and cannot be reset",
                    )
                    .hint("an event changes positions, velocities, momenta or states"),
                ));
            }
            self.allow(id, quantity.span, settable, "what an event changes")?;
        }
        let pairs = a.components().iter().zip(b.components());
        Ok(pairs.map(|(&x, &y)| (self.normalize(x), self.normalize(y))).collect())
    }
}
