//! Angles of joints that close: functions of the poses, which go on over turns.

use super::*;
use crate::system::TurnOf;

impl<'a> Resolver<'a, '_> {
    /// A particle has no axes of its own: it can be held at a point only.
    pub(super) fn turnable(&mut self, at: usize) -> Eval<()> {
        let joint = &self.machine.joints[at];
        let (sides, n, instance) = (joint.sides, joint.dimension, joint.instance);
        let Some(kind) = joint.kind else { return Ok(()) };
        for (side, target) in self.targets(at)?.into_iter().enumerate() {
            let Target::Def(def) = target else { continue };
            let is_point = matches!(
                self.defs[def.0 as usize].kind,
                DefKind::Body { what: What::Particle, .. }
            );
            if is_point && kind.held(n).any(|held| held != Held::Point) {
                let StatementKind::Joint { kind: word, .. } = &instance.statement.kind else {
                    continue;
                };
                let point = if n == 2 { "pin" } else { "ball" };
                return Err(self.report(
                    Diagnostic::fault(
                        Code::JointKind,
                        word.span,
                        format!("a `{}` joint holds how its sides are turned", word.text),
                    )
                    .with(sides[side].of.span, "a particle, which is not turned")
                    .hint(format!("a particle is held by a `{point}` joint")),
                ));
            }
        }
        Ok(())
    }

    /// Sine and cosine of the angle of a turn, from the poses: what it would be if the joint carried.
    fn sine_cosine(&mut self, at: usize, step: usize) -> Eval<(ExprId, ExprId)> {
        let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
        let geometry = self.geometry(at)?;
        let Some(kind) = self.machine.joints[at].kind else {
            return Ok((ExprId::ZERO, ExprId::ONE));
        };
        let exprs = &self.exprs;
        let of_first = |v: &[ExprId]| first.turn.turned(exprs, v);
        let of_second = |v: &[ExprId]| second.turn.turned(exprs, v);
        let (t1, t2, n) = (&geometry.t1, &geometry.t2, &geometry.n);
        let dot = |a: &[ExprId], b: &[ExprId]| Tensor::dot(exprs, a, b);
        Ok(match kind.moves[step].turns_about() {
            // D T2 = cos T2 + sin T1×T2
            Some(Axis::T1) => {
                (dot(&of_first(n), &of_second(t2)), dot(&of_first(t2), &of_second(t2)))
            }
            // DᵀT1 = cos T1 + sin T1×T2
            Some(Axis::T2) => {
                (dot(&of_first(t1), &of_second(n)), dot(&of_first(t1), &of_second(t1)))
            }
            // D T1 = cos T1 + sin T2
            _ => (dot(&of_first(t2), &of_second(t1)), dot(&of_first(t1), &of_second(t1))),
        })
    }

    /// The rows that determine the angles of a joint that closes: sin of what they differ by.
    pub(in super::super) fn turn_rows(&mut self, at: usize) -> Eval<Value> {
        let steps = self.angle_coordinates(at);
        let mut rows = Vec::with_capacity(steps.len());
        for &(step, coordinate) in &steps {
            let (sine, cosine) = self.sine_cosine(at, step)?;
            let angle = self.coordinate_value(coordinate);
            let exprs = &self.exprs;
            let (s, c) = (exprs.call(Function::Sin, &[angle]), exprs.call(Function::Cos, &[angle]));
            rows.push((exprs.at(s) * exprs.at(cosine) - exprs.at(c) * exprs.at(sine)).id);
        }
        Ok(match rows.as_slice() {
            [row] => Value::Scalar(*row),
            _ => Value::vector(rows),
        })
    }

    /// Angles of a joint that closes and that are coordinates: move, coordinate.
    fn angle_coordinates(&self, at: usize) -> Vec<(usize, usize)> {
        let joint = &self.machine.joints[at];
        let Some(kind) = joint.kind.filter(|_| !joint.carries) else { return Vec::new() };
        let made = joint.coordinates.iter().enumerate();
        made.filter(|(step, _)| kind.moves[*step].turns_about().is_some())
            .filter_map(|(step, made)| Some((step, *made.as_ref()?.first()?)))
            .collect()
    }

    /// The angles that are coordinates of a joint that closes: what they are of the poses.
    pub(in super::super) fn turns_of(&mut self, at: usize) -> Eval<Vec<TurnOf>> {
        let mut list = Vec::new();
        let is_led = self.machine.joints[at].kind.is_some_and(|kind| kind.moves == [Move::Screw]);
        for (step, coordinate) in self.angle_coordinates(at) {
            let (sine, cosine) = self.sine_cosine(at, step)?;
            list.push(TurnOf { coordinate, sine, cosine, is_led });
        }
        Ok(list)
    }

    /// ½ J (angle' − axis·ω)² of the angles that are coordinates without a mass of their own: nil on
    /// the row that determines them, so that no force comes of it, and M is definite.
    pub(in super::super) fn turn_gauge(&mut self, at: usize) -> Eval<Vec<ExprId>> {
        let steps = self.angle_coordinates(at);
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
        let geometry = self.geometry(at)?;
        let targets = self.targets(at)?;
        let mut inertia = ExprId::ZERO;
        for target in [targets[1], targets[0]] {
            if let (true, Target::Def(def)) = (inertia == ExprId::ZERO, target) {
                inertia = self.body(def)?.trace(&self.exprs);
            }
        }
        if inertia == ExprId::ZERO {
            inertia = ExprId::ONE;
        }
        let kind = self.machine.joints[at].kind;
        let exprs = &self.exprs;
        let omega = minus(exprs, &second.turn.omega(exprs), &first.turn.omega(exprs));
        let mut terms = Vec::new();
        for (step, coordinate) in steps {
            let axis = match kind.and_then(|kind| kind.moves[step].turns_about()) {
                Some(Axis::T2) => second.turn.turned(exprs, &geometry.t2),
                Some(axis) => first.turn.turned(exprs, geometry.axis(axis)),
                None => continue,
            };
            let rate = exprs.at(exprs.of_symbol(self.parts.coordinates[coordinate].velocity));
            let off = rate - exprs.at(Tensor::dot(exprs, &axis, &omega));
            terms.push((exprs.at(inertia) * off.powi(2) / 2).id);
        }
        Ok(terms)
    }

    /// An angle of a joint: a coordinate, or the same function of the poses.
    pub(super) fn joint_angle(&mut self, at: usize, step: usize) -> Eval<ExprId> {
        if let Some(Some(made)) = self.machine.joints[at].coordinates.get(step) {
            return Ok(self.coordinate_value(made[0]));
        }
        if self.machine.joints[at].dimension == 2 {
            // Angles of the plane add up, and go on over turns by themselves.
            let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
            if let (Turn::Plane(a), Turn::Plane(b)) = (&first.turn, &second.turn) {
                return Ok((self.exprs.at(*b) - self.exprs.at(*a)).id);
            }
        }
        let (sine, cosine) = self.sine_cosine(at, step)?;
        let angle = self.exprs.call(Function::Atan2, &[sine, cosine]);
        self.machine.angles.insert(angle, (sine, cosine));
        Ok(angle)
    }

    /// The value of one coordinate of a joint that closes.
    pub(super) fn closed_value(&mut self, at: usize, step: usize) -> Eval<Vec<ExprId>> {
        let Some(kind) = self.machine.joints[at].kind else { return Ok(Vec::new()) };
        let values = match kind.moves[step] {
            Move::Turn(_) | Move::Screw => vec![self.joint_angle(at, step)?],
            Move::Slide(axis) => {
                let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
                let geometry = self.geometry(at)?;
                let exprs = &self.exprs;
                let axis = first.turn.turned(exprs, geometry.axis(axis));
                let apart = minus(exprs, &second.origin, &first.origin);
                vec![Tensor::dot(exprs, &axis, &apart)]
            }
            Move::Ball => {
                let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
                let between = first.turn.inverse(&self.exprs).then(&self.exprs, &second.turn);
                let matrix = between.matrix(&self.exprs);
                super::rigid::quaternion_of(&self.exprs, matrix.components()).to_vec()
            }
        };
        // Only what a body was free of for the sake of absolute coordinates goes down the tree.
        let second = self.targets(at)?[1];
        let footing = match second {
            Target::Def(def) => self.machine.footing.get(&def).copied(),
            Target::Ground => None,
        };
        if footing != Some(super::machines::Footing::Free(Some(at))) {
            return Ok(values);
        }
        let shadows = self.machine.joints[at].shadows.get(step).cloned().unwrap_or_default();
        for (&value, &shadow) in values.iter().zip(&shadows) {
            self.machine.shadow_of.insert(value, shadow);
            if let Some(rate) = self.exprs.rate(shadow) {
                self.machine.shadow_of.insert(self.exprs.time_derivative(value), rate);
            }
        }
        Ok(values)
    }
}
