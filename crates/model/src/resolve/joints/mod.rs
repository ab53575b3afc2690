//! Joints: the pose of what one carries, the rows where it closes, what stands behind its dot.
//!
//! With A the first attachment and B the second one, of origin P and rotation R each:
//!
//! ```text
//! carries   P_B = P_A + R_A d + off,  R_B = R_A D
//! closes    rows of δ = P_B − P_A and D = R_AᵀR_B, by the table of `kinds`
//! reaction  δW = force·δP_B + torque·δθ on what breaks the joint alone
//! ```
//!
//! A row d = 0 is in inertial axes, so that its multiplier is the force on the second side. Rows and
//! forbidden displacements come in the same order, so that one formula gives the reaction of both.

mod angles;
pub(super) mod guesses;
pub(super) mod kinds;

use super::machines::Target;
use super::rigid::{Pose, Turn, add, minus, times, with_spin};
use super::value::Value;
use super::*;
use crate::lexicon::JOINT_MEMBERS;
use crate::system::{JointTurn, Motion};
use crate::tensor::Tensor;
use crate::tree::{Field, Postfix, PostfixKind, StatementKind};
use dalembert_expr::Function;
use kinds::{Axis, Held, JointKind, Move};

/// Attachments and axes of a joint, in the axes of what they belong to.
#[derive(Debug)]
pub(super) struct Geometry {
    /// Where it is attached, and how the attachment is turned: first side, second side.
    pub sides: [(Vec<ExprId>, Turn); 2],
    n: Vec<ExprId>,
    t1: Vec<ExprId>,
    t2: Vec<ExprId>,
    /// h/2π of a screw.
    lead: ExprId,
}

impl Geometry {
    pub fn axis(&self, axis: Axis) -> &[ExprId] {
        match axis {
            Axis::N => &self.n,
            Axis::T1 => &self.t1,
            Axis::T2 => &self.t2,
        }
    }
}

/// D: all turns of a motion, one after the other.
pub(super) fn turn_of(exprs: &Exprs, motion: &Motion) -> Turn {
    let rate = |id: ExprId| exprs.time_derivative(id);
    motion.turns.iter().fold(Turn::none(motion.along.len()), |all, turn| {
        let next = match turn {
            JointTurn::Plane(angle) => Turn::Plane(*angle),
            JointTurn::About(axis, angle) => {
                Turn::Space(Tensor::about(exprs, axis, *angle, Some(rate(*angle))))
            }
            JointTurn::Quaternion(e) => {
                Turn::Space(Tensor::quaternion(exprs, e, Some(e.map(rate))))
            }
        };
        all.then(exprs, &next)
    })
}

impl<'a> Resolver<'a, '_> {
    /// The geometry of a joint, evaluated once.
    pub(super) fn geometry(&mut self, at: usize) -> Eval<Arc<Geometry>> {
        if let Some(known) = &self.machine.joints[at].geometry {
            return Ok(known.clone());
        }
        if !self.machine.planned {
            let span = self.machine.joints[at].instance.statement.span;
            let message = "what this joint joins depends on where it is";
            return self.fault(Code::CircularDefinition, span, message);
        }
        let joint = &self.machine.joints[at];
        let (instance, sides, fields, n) =
            (joint.instance, joint.sides, joint.fields, joint.dimension);
        let span = instance.statement.span;
        let Some(kind) = joint.kind else { return Err(self.already(span)) };
        let cx = self.scope_cx(&instance);
        let first = self.attachment(&sides[0].fields, n, cx)?;
        let second = self.attachment(&sides[1].fields, n, cx)?;
        let (axes, lead) = self.joint_fields(kind, n, fields, span, cx)?;
        let [t1, t2, n] = axes;
        let geometry = Arc::new(Geometry { sides: [first, second], n, t1, t2, lead });
        self.machine.joints[at].geometry = Some(geometry.clone());
        Ok(geometry)
    }

    /// `at` and `turning` of a side.
    fn attachment(
        &mut self,
        fields: &'a [Field],
        n: usize,
        cx: Cx<'_>,
    ) -> Eval<(Vec<ExprId>, Turn)> {
        let mut at = vec![ExprId::ZERO; n];
        let mut turn = Turn::none(n);
        for (place, field) in fields.iter().enumerate() {
            let name = &*field.name.text;
            if fields[..place].iter().any(|f| f.name.text == field.name.text) {
                let message = format!("`{name}` is given twice");
                return self.fault(Code::JointField, field.name.span, message);
            }
            match name {
                "at" => at = self.place_of(field, n, "an attachment", cx)?,
                "turning" => turn = self.turn_of(field, n, cx)?,
                "axis" => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::JointField,
                            field.name.span,
                            "this `axis` belongs to the side before it",
                        )
                        .hint("the axis of a joint stands behind a comma: `…, axis [0, 0, 1]`"),
                    ));
                }
                _ => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::JointField,
                            field.name.span,
                            format!("this joint has no use for `{name}`"),
                        )
                        .hint("shapes are for what rolls or touches; here a side has `at` and `turning`"),
                    ));
                }
            }
        }
        Ok((at, turn))
    }

    /// A position in the axes of something.
    pub(super) fn place_of(
        &mut self,
        field: &'a Field,
        n: usize,
        what: &str,
        cx: Cx<'_>,
    ) -> Eval<Vec<ExprId>> {
        let value = self.eval(&field.value, cx)?;
        for &id in value.components() {
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(id, field.value.span, may, what)?;
        }
        match &value {
            Value::Vector(data) if data.len() == n => Ok(data.to_vec()),
            other => {
                let found = other.describe();
                let message = format!("{what} is a vector of {n} here, and this is {found}");
                self.fault(Code::Shape, field.value.span, message)
            }
        }
    }

    /// A turn in the axes of something.
    pub(super) fn turn_of(&mut self, field: &'a Field, n: usize, cx: Cx<'_>) -> Eval<Turn> {
        let value = self.eval(&field.value, cx)?;
        for &id in value.components() {
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(id, field.value.span, may, "a turn")?;
        }
        match (&value, n) {
            (Value::Scalar(angle), 2) => Ok(Turn::Plane(*angle)),
            (Value::Matrix { columns: 3, .. }, 3) if value.components().len() == 9 => {
                self.warn_of_no_rotation(&value, field.value.span);
                Ok(Turn::Space(with_spin(&self.exprs, value)))
            }
            (other, 2) => {
                let found = other.describe();
                let message = format!("in the plane a turn is an angle, and this is {found}");
                self.fault(Code::Shape, field.value.span, message)
            }
            (other, _) => {
                let found = other.describe();
                Err(self.report(
                    Diagnostic::fault(
                        Code::Shape,
                        field.value.span,
                        format!("in space a turn is a 3×3 rotation matrix, and this is {found}"),
                    )
                    .hint("for instance `turning Rz(a)*Rx(b)`"),
                ))
            }
        }
    }

    /// The axes T1, T2, N and h/2π.
    fn joint_fields(
        &mut self,
        kind: &'static JointKind,
        n: usize,
        fields: &'a [Field],
        span: Span,
        cx: Cx<'_>,
    ) -> Eval<([Vec<ExprId>; 3], ExprId)> {
        let wanted = if n == 2 { kind.plane_axes.unwrap_or(0) } else { kind.axes };
        for (place, field) in fields.iter().enumerate() {
            let name = &*field.name.text;
            let is_own = match name {
                "axis" => wanted > 0,
                _ => kind.pitch,
            };
            let twice = fields[..place].iter().any(|f| f.name.text == field.name.text);
            if !is_own || twice {
                let (message, hint) = match (twice, name) {
                    (true, _) => (format!("`{name}` is given twice"), "keep one of them"),
                    (_, "axis") if n == 2 => (
                        format!("in the plane a `{}` has no axis", kind.word),
                        "leave it out; it turns about what stands on the plane",
                    ),
                    _ => (format!("a `{}` joint has no `{name}`", kind.word), "leave it out"),
                };
                return Err(self.report(
                    Diagnostic::fault(Code::JointField, field.name.span, message).hint(hint),
                ));
            }
        }
        let of = |name: &str| fields.iter().find(|f| &*f.name.text == name);
        let missing =
            match (wanted > 0 && of("axis").is_none(), kind.pitch && of("pitch").is_none()) {
                (true, _) => Some((
                    "axis",
                    match (wanted, n) {
                        (2, _) => "write `…, axis [[1, 0, 0], [0, 1, 0]]`",
                        (_, 2) => "write `…, axis [1, 0]`",
                        _ => "write `…, axis [0, 0, 1]`",
                    },
                )),
                (_, true) => Some(("pitch", "write `…, pitch h`: how far it goes in one turn")),
                _ => None,
            };
        if let Some((missing, hint)) = missing {
            let message = format!("a `{}` joint needs its `{missing}`", kind.word);
            return Err(self.report(Diagnostic::fault(Code::JointField, span, message).hint(hint)));
        }
        let mut lead = ExprId::ZERO;
        if let Some(pitch) = of("pitch") {
            let id = self.eval_scalar(&pitch.value, cx)?;
            self.allow(id, pitch.value.span, role::PARAMETER, "a pitch")?;
            let pi = self.exprs.at(self.exprs.of_symbol(Symbol::PI));
            lead = (self.exprs.at(id) / pi / 2).id;
        }
        let axes = match of("axis") {
            Some(field) => self.axes(field, wanted, n, cx)?,
            None => {
                let unit = |k: usize| {
                    (0..3).map(|i| if i == k { ExprId::ONE } else { ExprId::ZERO }).collect()
                };
                [unit(0), unit(1), unit(2)]
            }
        };
        Ok((axes, lead))
    }

    /// T1, T2, N of an `axis`.
    fn axes(
        &mut self,
        field: &'a Field,
        wanted: usize,
        n: usize,
        cx: Cx<'_>,
    ) -> Eval<[Vec<ExprId>; 3]> {
        let value = self.eval(&field.value, cx)?;
        let span = field.value.span;
        for &id in value.components() {
            self.allow(id, span, role::PARAMETER, "an axis")?;
        }
        let shape: &[usize] = if wanted == 2 { &[2, 3] } else { &[n] };
        if value.shape() != shape {
            let found = value.describe();
            let (what, hint) = match wanted {
                2 => ("two vectors of 3".to_owned(), "write `axis [[1, 0, 0], [0, 1, 0]]`"),
                _ => (format!("a vector of {n}"), "write the axis in the axes of the first side"),
            };
            let message = format!("the axis of this joint is {what}, and this is {found}");
            return Err(self.report(Diagnostic::fault(Code::JointAxes, span, message).hint(hint)));
        }
        let mut units = Vec::new();
        for axis in value.components().chunks(n) {
            units.push(self.unit_axis(axis, span)?);
        }
        if let [n1, n2] = units.as_slice() {
            let cosine = Tensor::dot(&self.exprs, n1, n2);
            let is_right = self.exprs.is_zero(cosine).is_zero()
                || self.number_now(cosine).is_some_and(|c| c.abs() < 1e-12);
            if !is_right {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::JointAxes,
                        span,
                        "these two axes are not perpendicular",
                    )
                    .hint("the second axis stands at a right angle to the first"),
                ));
            }
            let normal = Tensor::cross(&self.exprs, n1, n2).to_vec();
            return Ok([n1.clone(), n2.clone(), normal]);
        }
        let axis = units.swap_remove(0);
        if n == 2 {
            let across = vec![(-self.exprs.at(axis[1])).id, axis[0]];
            return Ok([across, vec![ExprId::ZERO; 2], axis]);
        }
        // T1 from the coordinate axis farthest from N.
        let mut far = (0, f64::INFINITY);
        for (k, &component) in axis.iter().enumerate() {
            let size = self.number_now(component).map_or(0.5, f64::abs);
            if size < far.1 - 1e-9 {
                far = (k, size);
            }
        }
        let exprs = &self.exprs;
        let across: Vec<ExprId> = (0..3)
            .map(|i| {
                let own = exprs.at(if i == far.0 { ExprId::ONE } else { ExprId::ZERO });
                (own - exprs.at(axis[far.0]) * exprs.at(axis[i])).id
            })
            .collect();
        let t1 = self.unit_axis(&across, span)?;
        let t2 = Tensor::cross(&self.exprs, &axis, &t1).to_vec();
        Ok([t1, t2, axis])
    }

    /// A vector scaled to 1.
    pub(super) fn unit_axis(&mut self, axis: &[ExprId], span: Span) -> Eval<Vec<ExprId>> {
        let square = Tensor::dot(&self.exprs, axis, axis);
        if self.exprs.is_zero(square).is_zero() || self.number_now(square) == Some(0.0) {
            return self.fault(Code::JointAxes, span, "this axis is zero and has no direction");
        }
        Ok(self.along(axis).unwrap_or_default())
    }

    /// The pose of a body, frame, particle or of the ground. A particle is not turned.
    pub(super) fn pose_of(&mut self, target: Target, n: usize) -> Eval<Pose> {
        match target {
            Target::Ground => Ok(Pose::ground(n)),
            Target::Def(def) => {
                let body = self.body(def)?;
                let span = self.defs[def.0 as usize].span;
                let pose = body.pose();
                if pose.origin.len() != n {
                    let what = if n == 2 { "the plane" } else { "space" };
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::Shape,
                            span,
                            format!(
                                "this is joined with something in {what}, and has {} components",
                                pose.origin.len()
                            ),
                        )
                        .hint("what is joined is all in the plane, or all in space"),
                    ));
                }
                Ok(pose)
            }
        }
    }

    /// Both sides of a joint.
    fn targets(&mut self, at: usize) -> Eval<[Target; 2]> {
        match self.machine.joints[at].targets {
            Some(targets) => Ok(targets),
            None => {
                let span = self.machine.joints[at].instance.statement.span;
                Err(self.already(span))
            }
        }
    }

    /// The frame of the first or of the second attachment.
    pub(super) fn attached(&mut self, at: usize, side: usize) -> Eval<Pose> {
        let target = self.targets(at)?[side];
        let geometry = self.geometry(at)?;
        let pose = self.pose_of(target, self.machine.joints[at].dimension)?;
        let (u, turn) = &geometry.sides[side];
        Ok(pose.attach(&self.exprs, u, turn))
    }

    /// The pose of the body that a joint carries.
    pub(super) fn carried_pose(&mut self, at: usize) -> Eval<Pose> {
        let first = self.attached(at, 0)?;
        let motion = self.own_motion(at)?;
        self.moved(at, &first, &motion)
    }

    /// The motion of a joint that carries, by its coordinates.
    pub(super) fn own_motion(&mut self, at: usize) -> Eval<Motion> {
        let joint = &self.machine.joints[at];
        let values: Vec<Vec<ExprId>> = joint
            .coordinates
            .iter()
            .map(|made| made.iter().flatten().map(|&at| self.coordinate_value(at)).collect())
            .collect();
        let off: Vec<ExprId> = joint.released.iter().map(|&at| self.coordinate_value(at)).collect();
        self.motion(at, &values, &off)
    }

    /// What a joint of given coordinates and displacements does.
    pub(super) fn motion(
        &mut self,
        at: usize,
        values: &[Vec<ExprId>],
        off: &[ExprId],
    ) -> Eval<Motion> {
        let geometry = self.geometry(at)?;
        let joint = &self.machine.joints[at];
        let (Some(kind), n) = (joint.kind, joint.dimension) else {
            let span = joint.instance.statement.span;
            return Err(self.already(span));
        };
        let exprs = &self.exprs;
        let none = vec![ExprId::ZERO; n];
        let mut motion = Motion { along: none.clone(), displaced: none, turns: Vec::new() };
        let slide = |motion: &mut Motion, axis: &[ExprId], by: ExprId| {
            motion.along = add(exprs, &[&motion.along, &times(exprs, axis, by)]);
        };
        let about = |axis: &[ExprId], angle: ExprId| match n {
            2 => JointTurn::Plane(angle),
            _ => JointTurn::About([axis[0], axis[1], axis[2]], angle),
        };
        // What each turn is about, in the order in which turns are made.
        let mut order: Vec<Option<Axis>> = Vec::new();
        for (step, value) in kind.moves.iter().zip(values) {
            match step {
                Move::Slide(axis) => slide(&mut motion, geometry.axis(*axis), value[0]),
                Move::Screw => {
                    let along = (exprs.at(geometry.lead) * exprs.at(value[0])).id;
                    slide(&mut motion, &geometry.n, along);
                }
                Move::Ball => {
                    let e = [value[0], value[1], value[2], value[3]];
                    motion.turns.push(JointTurn::Quaternion(e));
                    order.push(None);
                }
                Move::Turn(_) => {}
            }
            if let Some(axis) = step.turns_about() {
                motion.turns.push(about(geometry.axis(axis), value[0]));
                order.push(Some(axis));
            }
        }
        let mut off = off.iter().copied();
        for held in kind.held(n) {
            if off.len() == 0 {
                break;
            }
            let own: Vec<ExprId> = off.by_ref().take(held.size(n)).collect();
            match held {
                Held::Point => motion.displaced = own,
                Held::Along(axis) => slide(&mut motion, geometry.axis(axis), own[0]),
                Held::Screw => slide(&mut motion, &geometry.n, own[0]),
                Held::Attitude if n == 2 => motion.turns.push(JointTurn::Plane(own[0])),
                Held::Attitude => {
                    for (k, &angle) in own.iter().enumerate() {
                        let unit = |i| if i == k { ExprId::ONE } else { ExprId::ZERO };
                        motion.turns.insert(k, about(&[unit(0), unit(1), unit(2)], angle));
                        order.insert(k, None);
                    }
                }
                // δθ = (b × a) δoff, seen from where the turn about b begins.
                Held::Normal(a, b) => {
                    let axis = Tensor::cross(exprs, geometry.axis(b), geometry.axis(a));
                    let place = order.iter().position(|turn| *turn == Some(b)).unwrap_or(0);
                    motion.turns.insert(place, about(&axis, own[0]));
                    order.insert(place, None);
                }
            }
        }
        Ok(motion)
    }

    /// The pose of the second side's body, the first attachment being at `first`.
    pub(super) fn moved(&mut self, at: usize, first: &Pose, motion: &Motion) -> Eval<Pose> {
        let geometry = self.geometry(at)?;
        let exprs = &self.exprs;
        let turn = turn_of(exprs, motion);
        let mut second = first.attach(exprs, &motion.along, &turn);
        if motion.displaced.iter().any(|&e| e != ExprId::ZERO) {
            second = second.displaced(exprs, &motion.displaced);
        }
        let (u, own) = &geometry.sides[1];
        let back = own.inverse(exprs);
        let arm: Vec<ExprId> = back.turned(exprs, u).iter().map(|&e| (-exprs.at(e)).id).collect();
        Ok(second.attach(exprs, &arm, &back))
    }

    /// The rows of a joint that closes.
    pub(super) fn joint_rows(&mut self, at: usize) -> Eval<Value> {
        let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
        self.turnable(at)?;
        let geometry = self.geometry(at)?;
        let joint = &self.machine.joints[at];
        let (Some(kind), n) = (joint.kind, joint.dimension) else {
            let span = joint.instance.statement.span;
            return Err(self.already(span));
        };
        let angle = match kind.moves {
            [Move::Screw] => self.joint_angle(at, 0)?,
            _ => ExprId::ZERO,
        };
        let exprs = &self.exprs;
        let apart = minus(exprs, &second.origin, &first.origin);
        let along = |axis: Axis| {
            let axis = first.turn.turned(exprs, geometry.axis(axis));
            Tensor::dot(exprs, &axis, &apart)
        };
        let mut rows: Vec<ExprId> = Vec::new();
        for held in kind.held(n) {
            match held {
                Held::Point => rows.extend(&apart),
                Held::Along(axis) => rows.push(along(axis)),
                Held::Screw => {
                    let turned = exprs.at(geometry.lead) * exprs.at(angle);
                    rows.push((exprs.at(along(Axis::N)) - turned).id);
                }
                Held::Attitude => {
                    let between = first.turn.inverse(exprs).then(exprs, &second.turn);
                    match &between {
                        Turn::Plane(angle) => rows.push(exprs.call(Function::Sin, &[*angle])),
                        Turn::Space(d) => rows.extend(Tensor::axial(exprs, d.components())),
                    }
                }
                Held::Normal(a, b) => {
                    let a = first.turn.turned(exprs, geometry.axis(a));
                    let b = second.turn.turned(exprs, geometry.axis(b));
                    rows.push(Tensor::dot(exprs, &a, &b));
                }
            }
        }
        Ok(Value::vector(rows))
    }

    /// What is 0 where a joint that closes does so the right way round, and not where its axes point
    /// against each other, its sides are turned by half a turn, or its angle is off by one, though all
    /// rows hold there.
    pub(super) fn joint_aligned(&mut self, at: usize) -> Eval<Vec<ExprId>> {
        let joint = &self.machine.joints[at];
        let (Some(kind), false, n) = (joint.kind, joint.carries, joint.dimension) else {
            return Ok(Vec::new());
        };
        let axes: &[Axis] = match kind.held(n).find_map(|held| match held {
            Held::Attitude => Some(&[Axis::N, Axis::T1][..]),
            Held::Normal(_, Axis::N) => Some(&[Axis::N][..]),
            _ => None,
        }) {
            Some(axes) => axes,
            None => &[],
        };
        let mut apart = Vec::new();
        for turn in self.turns_of(at)? {
            let (exprs, angle) = (&self.exprs, self.coordinate_value(turn.coordinate));
            let (s, c) = (exprs.call(Function::Sin, &[angle]), exprs.call(Function::Cos, &[angle]));
            let along = exprs.at(s) * exprs.at(turn.sine) + exprs.at(c) * exprs.at(turn.cosine);
            apart.push((along - 1).id);
        }
        if axes.is_empty() {
            return Ok(apart);
        }
        let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
        let geometry = self.geometry(at)?;
        let exprs = &self.exprs;
        if let (Turn::Plane(a), Turn::Plane(b)) = (&first.turn, &second.turn) {
            let between = (exprs.at(*b) - exprs.at(*a)).id;
            return Ok(vec![(exprs.at(exprs.call(Function::Cos, &[between])) - 1).id]);
        }
        for &axis in axes {
            let axis = geometry.axis(axis);
            let here = first.turn.turned(exprs, axis);
            apart.extend(minus(exprs, &second.turn.turned(exprs, axis), &here));
        }
        Ok(apart)
    }

    /// `knee.angle`, `knee.slide[2]`, `knee.force`; gives back how many operations were used.
    pub(super) fn joint_member(
        &mut self,
        at: usize,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<(Value, usize)> {
        let Some(Postfix { kind: PostfixKind::Member(member), span: place }) = operations.first()
        else {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ArgumentKind,
                    span,
                    format!("`{name}` is a joint, not a quantity"),
                )
                .hint(format!("what it has stands behind a dot: `{name}.point`, `{name}.force`")),
            ));
        };
        let Some(kind) = self.machine.joints[at].kind else { return Err(self.already(span)) };
        let steps: Vec<usize> =
            (0..kind.moves.len()).filter(|&step| kind.moves[step].name() == &**member).collect();
        if !steps.is_empty() {
            let mut values = Vec::new();
            for &step in &steps {
                values.extend(self.closed_value(at, step)?);
            }
            let is_ball = kind.moves[steps[0]] == Move::Ball;
            if steps.len() == 1 && !is_ball {
                return Ok((Value::Scalar(values[0]), 1));
            }
            // `e[0]` is the first of four.
            if let (true, Some(Postfix { kind: PostfixKind::Index(list), .. })) =
                (is_ball, operations.get(1))
            {
                let indices = self.indices(list, cx)?;
                if let [i @ 0..=3] = indices.as_slice() {
                    return Ok((Value::Scalar(values[*i as usize]), 2));
                }
            }
            return Ok((Value::vector(values), 1));
        }
        match &**member {
            "point" => Ok((Value::vector(self.attached(at, 1)?.origin), 1)),
            "omega" => {
                let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
                let exprs = &self.exprs;
                let omega = minus(exprs, &second.turn.omega(exprs), &first.turn.omega(exprs));
                Ok((
                    if omega.len() == 1 { Value::Scalar(omega[0]) } else { Value::vector(omega) },
                    1,
                ))
            }
            "force" | "torque" => Ok((self.joint_reaction(at, member == &"force".into())?, 1)),
            other => {
                let own = kind.moves.iter().map(|step| step.name());
                let members: Vec<&str> = own.chain(JOINT_MEMBERS.iter().copied()).collect();
                let message = format!("a `{}` joint has no `{other}`", kind.word);
                let diagnostic = Diagnostic::fault(Code::UnknownMember, *place, message);
                let hint = match names::closest(other, members.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("it has {}", members.join(", ")),
                };
                Err(self.report(diagnostic.hint(hint)))
            }
        }
    }

    /// What the second side feels at its attachment: force, or torque.
    fn joint_reaction(&mut self, at: usize, is_force: bool) -> Eval<Value> {
        let (first, second) = (self.attached(at, 0)?, self.attached(at, 1)?);
        let geometry = self.geometry(at)?;
        let joint = &self.machine.joints[at];
        let (Some(kind), n) = (joint.kind, joint.dimension) else {
            let span = joint.instance.statement.span;
            return Err(self.already(span));
        };
        let count: usize = kind.held(n).map(|held| held.size(n)).sum();
        let Some(group) = joint.group else {
            let span = joint.instance.statement.span;
            return Err(self.already(span));
        };
        let label = self.constraint_rows[group].label.clone();
        let mut multipliers = Vec::with_capacity(count);
        for row in 0..count {
            let shown = match label.strip_suffix(']') {
                Some(open) if self.constraint_rows[group].indexed => {
                    format!("multiplier({open},{}])", row + 1)
                }
                _ => format!("multiplier({label}[{}])", row + 1),
            };
            let unknown = Unknown::Multiplier(group * labels::ROWS + row);
            multipliers.push(self.unknown_expr(unknown, shown));
        }
        let exprs = &self.exprs;
        let mut force = vec![ExprId::ZERO; n];
        let mut torque = vec![ExprId::ZERO; 2 * n - 3];
        let mut rest = multipliers.as_slice();
        for held in kind.held(n) {
            let (own, others) = rest.split_at(held.size(n));
            rest = others;
            match held {
                Held::Point => force = add(exprs, &[&force, own]),
                Held::Along(axis) => {
                    let axis = first.turn.turned(exprs, geometry.axis(axis));
                    force = add(exprs, &[&force, &times(exprs, &axis, own[0])]);
                }
                // Workless along the thread: torque·N + force·N h/2π = 0.
                Held::Screw => {
                    let axis = first.turn.turned(exprs, &geometry.n);
                    force = add(exprs, &[&force, &times(exprs, &axis, own[0])]);
                    let back = (-exprs.at(geometry.lead) * exprs.at(own[0])).id;
                    torque = add(exprs, &[&torque, &times(exprs, &axis, back)]);
                }
                Held::Attitude if n == 2 => torque = add(exprs, &[&torque, own]),
                Held::Attitude => {
                    torque = add(exprs, &[&torque, &first.turn.turned(exprs, own)]);
                }
                Held::Normal(a, b) => {
                    let a = first.turn.turned(exprs, geometry.axis(a));
                    let b = second.turn.turned(exprs, geometry.axis(b));
                    let about = Tensor::cross(exprs, &b, &a);
                    torque = add(exprs, &[&torque, &times(exprs, &about, own[0])]);
                }
            }
        }
        Ok(match (is_force, n) {
            (true, _) => Value::vector(force),
            (false, 2) => Value::Scalar(torque[0]),
            (false, _) => Value::vector(torque),
        })
    }
}
