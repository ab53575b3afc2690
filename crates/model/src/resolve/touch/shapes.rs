//! Two shapes that meet: gap, unit normal from the first to the second, the point of the second
//! nearest to the first, and the slip there.
//!
//! With p, v, ω of the attachments and q the point, v_rel = v_B + ω_B×(q − p_B) − v_A − ω_A×(q − p_A):
//!
//! ```text
//! gap' = n·v_rel          slip = v_rel − n (n·v_rel)
//!
//! plane, round      n·(c − p) − r
//! round, round      |d| − r₁ − r₂, d = c₂ − c₁;   in a hollow, r < 0:  −(|d| + r₁ + r₂)
//! plane, rim        n·(c − p) − r |n − a (a·n)|
//! round, rim        |q − c| − r, q the point of the rim nearest to c;  in a hollow the farthest one
//! curve, round      n·(c − P) − r, P' ⟂ c − P, n to the left of P'
//! ```
//!
//! A point is round with r = 0. The slip has components along directions t at right angles to n, one
//! in the plane and two in space. They follow the shapes where these have a direction; where two
//! balls touch in space there is none that goes all around, and the directions jump where n lies in
//! the plane of the first two inertial axes (Duff and others, Building an orthonormal basis, 2017).
//! What is at right angles to n does not depend on them.

use super::super::machines::Target;
use super::super::rigid::{Pose, Turn, add, minus, times};
use super::*;
use crate::system::Shape;
use crate::tensor::Tensor;
use dalembert_expr::Number;

/// How two shapes stand to each other.
#[derive(Debug)]
pub(in crate::resolve) struct Meeting {
    pub gap: ExprId,
    pub normal: Vec<ExprId>,
    pub point: Vec<ExprId>,
    /// Material velocity of the second there, minus the first's.
    pub relative: Vec<ExprId>,
    /// Directions at right angles to the normal and each other.
    pub tangents: Vec<Vec<ExprId>>,
    pub shapes: [Shape; 2],
    /// c − P and P' of a curve, whose product is 0.
    foot: Option<ExprId>,
}

impl Meeting {
    /// The slip in components along the tangents.
    pub fn slip(&self, exprs: &Exprs) -> Vec<ExprId> {
        let along = |t: &Vec<ExprId>| Tensor::dot(exprs, t, &self.relative);
        self.tangents.iter().map(along).collect()
    }

    /// The slip as a vector.
    pub fn slip_vector(&self, exprs: &Exprs) -> Vec<ExprId> {
        let away = Tensor::dot(exprs, &self.normal, &self.relative);
        minus(exprs, &self.relative, &times(exprs, &self.normal, away))
    }
}

/// A shape and the frame it is attached to.
struct Side {
    pose: Pose,
    form: Form,
}

enum Form {
    /// A point, a ball, a disk of the plane: its radius, and whether it is touched from inside.
    Round(ExprId, bool),
    /// Radius and axis.
    Rim(ExprId, Vec<ExprId>),
    /// The normal, and directions that are fixed beside it.
    Plane(Vec<ExprId>, Vec<Vec<ExprId>>),
    /// P(s), P'(s) and s.
    Curve(Vec<ExprId>, Vec<ExprId>, Symbol),
}

/// What a pair comes to: gap, normal, point of the second, tangents as far as shapes give them.
struct Pair {
    gap: ExprId,
    normal: Vec<ExprId>,
    point: Vec<ExprId>,
    tangents: Vec<Vec<ExprId>>,
    foot: Option<ExprId>,
}

impl Pair {
    /// In space, with the directions that a plane has.
    fn along(mut self, normal: &[ExprId], beside: &[Vec<ExprId>]) -> Pair {
        if normal.len() == 3 {
            self.tangents = beside.to_vec();
        }
        self
    }
}

impl<'a> Resolver<'a, '_> {
    /// How the sides of a contact or rolling joint meet, evaluated once.
    pub(super) fn meeting(&mut self, at: usize) -> Eval<Arc<Meeting>> {
        if let Some(known) = &self.touches.all[at].meeting {
            return Ok(known.clone());
        }
        let Touching { instance, what, .. } = self.touches.all[at];
        let span = instance.statement.span;
        let What::Sides(sides) = what else { return Err(self.already(span)) };
        if !self.machine.planned {
            let message = "what touches here depends on where it is";
            return self.fault(Code::CircularDefinition, span, message);
        }
        self.not_of_itself(Part::Sides(at), span, |r| r.meet(at, sides, instance))
    }

    fn meet(
        &mut self,
        at: usize,
        sides: &'a [crate::tree::Side; 2],
        instance: Instance<'a>,
    ) -> Eval<Arc<Meeting>> {
        let cx = self.scope_cx(&instance);
        let (first, second) = (self.target(&sides[0].of, cx), self.target(&sides[1].of, cx));
        let targets = [self.real(first?), self.real(second?)];
        if targets[0] == targets[1] {
            return Err(self.report(
                Diagnostic::fault(
                    Code::NothingToJoin,
                    sides[1].of.span,
                    "these two sides are of one thing, which cannot touch itself",
                )
                .with(sides[0].of.span, "the same")
                .hint("the two sides are two bodies, or a body and `ground`"),
            ));
        }
        let n = self.dimension_of(targets)?;
        let first = self.side(at, 0, &sides[0], targets[0], n, cx);
        let second = self.side(at, 1, &sides[1], targets[1], n, cx);
        let (first, second) = (first?, second?);
        let pair = self.pair_of(&first, &second, [sides[0].span, sides[1].span])?;
        let exprs = &self.exprs;
        let velocity = |side: &Side| {
            let arm = minus(exprs, &pair.point, &side.pose.origin);
            add(exprs, &[&side.pose.velocity, &side.pose.turn.swept(exprs, &arm)])
        };
        let relative = minus(exprs, &velocity(&second), &velocity(&first));
        let tangents = match pair.tangents.is_empty() {
            true => directions(exprs, &pair.normal),
            false => pair.tangents,
        };
        let meeting = Arc::new(Meeting {
            gap: pair.gap,
            normal: pair.normal,
            point: pair.point,
            relative,
            tangents,
            shapes: [first.shape(), second.shape()],
            foot: pair.foot,
        });
        self.touches.all[at].meeting = Some(meeting.clone());
        Ok(meeting)
    }

    /// The row that keeps the point of a curve at the foot of the perpendicular.
    pub(in crate::resolve) fn foot_row(&mut self, at: usize) -> Eval<Value> {
        let meeting = self.meeting(at)?;
        Ok(Value::Scalar(meeting.foot.unwrap_or(ExprId::ZERO)))
    }

    /// Plane or space.
    fn dimension_of(&mut self, targets: [Target; 2]) -> Eval<usize> {
        for target in targets {
            if let Target::Def(def) = target {
                return Ok(self.body(def)?.origin.len());
            }
        }
        Ok(self.model_dimension())
    }

    fn side(
        &mut self,
        at: usize,
        which: usize,
        side: &'a tree::Side,
        target: Target,
        n: usize,
        cx: Cx<'_>,
    ) -> Eval<Side> {
        let of = |name: &str| side.fields.iter().find(|f| &*f.name.text == name);
        for (place, field) in side.fields.iter().enumerate() {
            if side.fields[..place].iter().any(|f| f.name.text == field.name.text) {
                let message = format!("`{}` is given twice", field.name.text);
                return self.fault(Code::JointField, field.name.span, message);
            }
        }
        let place = match of("at") {
            Some(field) => self.place_of(field, n, "an attachment", cx)?,
            None => vec![ExprId::ZERO; n],
        };
        let turn = match of("turning") {
            Some(field) => self.turn_of(field, n, cx)?,
            None => Turn::none(n),
        };
        let pose = self.pose_of(target, n)?.attach(&self.exprs, &place, &turn);
        let is_shape = |f: &&'a Field| matches!(&*f.name.text, "radius" | "normal" | "curve");
        let shapes: Vec<&'a Field> = side.fields.iter().filter(is_shape).collect();
        if let [_, second, ..] = shapes.as_slice() {
            return Err(self.report(
                Diagnostic::fault(
                    Code::SideShape,
                    second.name.span,
                    format!("a side has one shape, and `{}` is a second one", second.name.text),
                )
                .with(shapes[0].name.span, "the first one")
                .hint("give what has several shapes several contacts"),
            ));
        }
        let axis = of("axis");
        if let (Some(axis), true) = (axis, of("radius").is_none() || n == 2) {
            let hint = match n {
                2 => "in the plane a disk is `radius r`",
                _ => "the rim of a disk is `radius r axis n`; a plane is `normal n`",
            };
            return Err(self.report(
                Diagnostic::fault(
                    Code::SideShape,
                    axis.name.span,
                    "an axis belongs to the radius of a rim, and here is none",
                )
                .hint(hint),
            ));
        }
        let Some(shape) = shapes.first() else {
            return Ok(Side { pose, form: Form::Round(ExprId::ZERO, false) });
        };
        let span = shape.value.span;
        let form = match &*shape.name.text {
            "radius" => {
                let radius = self.eval_scalar(&shape.value, cx)?;
                self.allow(radius, span, role::PARAMETER, "a radius")?;
                let is_hollow = self.number_now(radius).is_some_and(|r| r < 0.0);
                match axis {
                    None => Form::Round(radius, is_hollow),
                    Some(_) if is_hollow => {
                        return Err(self.report(
                            Diagnostic::fault(Code::SideShape, span, "a rim is not hollow")
                                .hint("a hollow ball is `radius -R` without an axis"),
                        ));
                    }
                    Some(axis) => {
                        let axis = self.direction(axis, n, cx)?;
                        Form::Rim(radius, pose.turn.turned(&self.exprs, &axis))
                    }
                }
            }
            "normal" => {
                let normal = self.direction(shape, n, cx)?;
                let exprs = &self.exprs;
                let beside = directions(exprs, &normal);
                let beside = beside.iter().map(|t| pose.turn.turned(exprs, t)).collect();
                Form::Plane(pose.turn.turned(exprs, &normal), beside)
            }
            _ => self.curve(at, which, side, shape, &pose, n, cx)?,
        };
        Ok(Side { pose, form })
    }

    /// A direction in the axes of a side, scaled to 1.
    fn direction(&mut self, field: &'a Field, n: usize, cx: Cx<'_>) -> Eval<Vec<ExprId>> {
        let value = self.eval(&field.value, cx)?;
        let span = field.value.span;
        let word = &field.name.text;
        for &id in value.components() {
            self.allow(id, span, role::PARAMETER, "a direction")?;
        }
        if value.shape() != [n] {
            let found = value.describe();
            let message = format!("`{word}` is a vector of {n} here, and this is {found}");
            return self.fault(Code::Shape, span, message);
        }
        self.unit_axis(value.components(), span)
    }

    /// `curve P by s`
    #[allow(clippy::too_many_arguments)]
    fn curve(
        &mut self,
        at: usize,
        which: usize,
        side: &'a tree::Side,
        field: &'a Field,
        pose: &Pose,
        n: usize,
        cx: Cx<'_>,
    ) -> Eval<Form> {
        let span = field.value.span;
        if n == 3 {
            return Err(self.report(
                Diagnostic::fault(
                    Code::SideShape,
                    field.name.span,
                    "a curve is a shape of the plane",
                )
                .hint("in space shapes are points, balls, rims and planes"),
            ));
        }
        let (Some(along), Some(by)) = (self.touches.all[at].along[which], &side.by) else {
            return Err(self.already(span));
        };
        let s = Value::Scalar(self.coordinate_value(along));
        let local = Local { name: &by.text, value: &s, outer: cx.locals };
        let value = self.eval(&field.value, Cx { locals: Some(&local), ..cx })?;
        if value.shape() != [2] {
            let found = value.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    span,
                    format!("a curve is a vector of 2, and this is {found}"),
                )
                .hint(format!("write `curve [{0}, sin({0})] by {0}`", by.text)),
            ));
        }
        let symbol = self.parts.coordinates[along].position;
        for &id in value.components() {
            self.allow(id, span, role::PARAMETER | role::POSITION, "a curve")?;
            let others = self.exprs.symbols_of(&[id]).into_iter();
            let other = others.filter(|&s| s != symbol).find(|&s| self.role(s) == role::POSITION);
            if let Some(other) = other {
                let name = self.exprs.symbol_info(other).full_name();
                let message = format!("a curve is fixed in its body, and this moves with `{name}`");
                return self.fault(Code::SideShape, span, message);
            }
        }
        let slope = self.exprs.jacobian(value.components(), &[symbol]);
        let own: Vec<ExprId> = slope
            .rows
            .iter()
            .map(|row| row.first().map_or(ExprId::ZERO, |entry| entry.1))
            .collect();
        if own.iter().all(|&e| e == ExprId::ZERO) {
            let message = format!("this curve does not change with `{}`", by.text);
            return self.fault(Code::SideShape, span, message);
        }
        let exprs = &self.exprs;
        let place = add(exprs, &[&pose.origin, &pose.turn.turned(exprs, value.components())]);
        Ok(Form::Curve(place, pose.turn.turned(exprs, &own), symbol))
    }

    /// What two shapes come to.
    fn pair_of(&mut self, first: &Side, second: &Side, spans: [Span; 2]) -> Eval<Pair> {
        let exprs = &self.exprs;
        let (a, b) = (&first.pose.origin, &second.pose.origin);
        let refused = match (&first.form, &second.form) {
            (Form::Plane(n, beside), Form::Round(r, false)) => {
                return Ok(on_plane(exprs, (n, a), b, *r, true).along(n, beside));
            }
            (Form::Round(r, false), Form::Plane(n, beside)) => {
                return Ok(on_plane(exprs, (n, b), a, *r, false).along(n, beside));
            }
            (Form::Plane(n, beside), Form::Rim(r, axis)) => {
                return Ok(rim_on_plane(exprs, (n, a), b, *r, axis, true).along(n, beside));
            }
            (Form::Rim(r, axis), Form::Plane(n, beside)) => {
                return Ok(rim_on_plane(exprs, (n, b), a, *r, axis, false).along(n, beside));
            }
            (Form::Round(r, inside), Form::Round(s, other)) if !(*inside && *other) => {
                match (self.number_now(*r), self.number_now(*s)) {
                    (Some(0.0), Some(0.0)) => "two points meet in no direction",
                    _ => return Ok(balls(&self.exprs, a, b, *r, *s, *inside || *other)),
                }
            }
            (Form::Round(r, inside), Form::Rim(s, axis)) if self.exprs.as_number(*r) != zero() => {
                return Ok(ball_on_rim(exprs, a, *r, *inside, b, *s, axis, true));
            }
            (Form::Rim(s, axis), Form::Round(r, inside)) if self.exprs.as_number(*r) != zero() => {
                return Ok(ball_on_rim(exprs, b, *r, *inside, a, *s, axis, false));
            }
            (Form::Curve(p, slope, _), Form::Round(r, false)) => {
                return Ok(on_curve(exprs, p, slope, b, *r, true));
            }
            (Form::Round(r, false), Form::Curve(p, slope, _)) => {
                return Ok(on_curve(exprs, p, slope, a, *r, false));
            }
            (Form::Round(_, true), Form::Round(..)) => "two hollows do not touch from inside",
            (Form::Round(_, true), _) | (_, Form::Round(_, true)) => {
                "a hollow is touched from inside by a point, a ball or a rim"
            }
            (Form::Round(..), Form::Rim(..)) | (Form::Rim(..), Form::Round(..)) => {
                "a point is never beyond a rim, which is a line"
            }
            (Form::Rim(..), Form::Rim(..)) => "of two rims no one says where they are nearest",
            _ => "one side at least is a point, a ball or a rim",
        };
        Err(self.report(
            Diagnostic::fault(
                Code::SideShape,
                spans[1],
                format!("these two shapes cannot touch: {refused}"),
            )
            .with(spans[0], "the first side")
            .hint("what is flat touches by its corners: a contact for each corner point"),
        ))
    }
}

fn zero() -> Option<Number> {
    Some(Number::integer(0))
}

impl Side {
    fn shape(&self) -> Shape {
        let origin = self.pose.origin.clone();
        match &self.form {
            Form::Round(ExprId::ZERO, _) => Shape::Point(origin),
            Form::Round(radius, _) => Shape::Ball(origin, *radius),
            Form::Rim(radius, axis) => Shape::Rim(origin, *radius, axis.clone()),
            Form::Plane(normal, _) => Shape::Plane(origin, normal.clone()),
            Form::Curve(place, _, s) => Shape::Curve(place.clone(), *s),
        }
    }
}

fn negative(exprs: &Exprs, v: &[ExprId]) -> Vec<ExprId> {
    v.iter().map(|&e| (-exprs.at(e)).id).collect()
}

fn norm(exprs: &Exprs, v: &[ExprId]) -> ExprId {
    exprs.at(Tensor::dot(exprs, v, v)).sqrt().id
}

/// v/|v|, with the length known.
fn over(exprs: &Exprs, v: &[ExprId], length: ExprId) -> Vec<ExprId> {
    v.iter().map(|&e| (exprs.at(e) / exprs.at(length)).id).collect()
}

/// a + b times a factor.
fn plus(exprs: &Exprs, a: &[ExprId], b: &[ExprId], factor: ExprId) -> Vec<ExprId> {
    add(exprs, &[a, &times(exprs, b, factor)])
}

/// A point or ball with center c on a plane through p with normal m; `first`: the plane is first.
fn on_plane(
    exprs: &Exprs,
    (m, p): (&[ExprId], &[ExprId]),
    c: &[ExprId],
    r: ExprId,
    first: bool,
) -> Pair {
    let height = Tensor::dot(exprs, m, &minus(exprs, c, p));
    let gap = (exprs.at(height) - exprs.at(r)).id;
    let (normal, point) = match first {
        true => (m.to_vec(), plus(exprs, c, m, (-exprs.at(r)).id)),
        false => (negative(exprs, m), plus(exprs, c, m, (-exprs.at(height)).id)),
    };
    Pair { gap, normal, point, tangents: Vec::new(), foot: None }
}

/// The rim of a disk with center c and axis a on a plane through p with normal m.
fn rim_on_plane(
    exprs: &Exprs,
    (m, p): (&[ExprId], &[ExprId]),
    c: &[ExprId],
    r: ExprId,
    a: &[ExprId],
    first: bool,
) -> Pair {
    let cosine = Tensor::dot(exprs, a, m);
    let across = plus(exprs, m, a, (-exprs.at(cosine)).id);
    // |n − a (a·n)|² = 1 − (a·n)²
    let sine = (1 - exprs.at(cosine).powi(2)).sqrt().id;
    let down = (-exprs.at(r) / exprs.at(sine)).id;
    let lowest = plus(exprs, c, &across, down);
    let height = exprs.at(Tensor::dot(exprs, m, &minus(exprs, c, p)));
    let gap = (height - exprs.at(r) * exprs.at(sine)).id;
    let (normal, point) = match first {
        true => (m.to_vec(), lowest),
        false => (negative(exprs, m), plus(exprs, &lowest, m, (-exprs.at(gap)).id)),
    };
    Pair { gap, normal, point, tangents: Vec::new(), foot: None }
}

/// Two balls, or one in a hollow.
fn balls(exprs: &Exprs, a: &[ExprId], b: &[ExprId], r: ExprId, s: ExprId, inside: bool) -> Pair {
    let apart = minus(exprs, b, a);
    let length = norm(exprs, &apart);
    let out = over(exprs, &apart, length);
    let both = exprs.at(r) + exprs.at(s);
    let (gap, normal) = match inside {
        false => ((exprs.at(length) - both).id, out),
        true => ((-(exprs.at(length) + both)).id, negative(exprs, &out)),
    };
    let point = plus(exprs, b, &normal, (-exprs.at(s)).id);
    Pair { gap, normal, point, tangents: Vec::new(), foot: None }
}

/// A ball of center c and the rim of a disk of center o and axis a; `first`: the ball is first.
#[allow(clippy::too_many_arguments)]
fn ball_on_rim(
    exprs: &Exprs,
    c: &[ExprId],
    r: ExprId,
    inside: bool,
    o: &[ExprId],
    s: ExprId,
    a: &[ExprId],
    first: bool,
) -> Pair {
    let apart = minus(exprs, c, o);
    let height = Tensor::dot(exprs, a, &apart);
    let across = plus(exprs, &apart, a, (-exprs.at(height)).id);
    let radial = over(exprs, &across, norm(exprs, &across));
    // The nearest point of the rim, in a hollow the farthest one.
    let reach = if inside { (-exprs.at(s)).id } else { s };
    let on_rim = plus(exprs, o, &radial, reach);
    let to_rim = minus(exprs, &on_rim, c);
    let length = norm(exprs, &to_rim);
    let out = over(exprs, &to_rim, length);
    let (gap, from_ball) = match inside {
        false => ((exprs.at(length) - exprs.at(r)).id, out),
        true => ((-(exprs.at(length) + exprs.at(r))).id, negative(exprs, &out)),
    };
    let (normal, point) = match first {
        true => (from_ball, on_rim),
        false => {
            let normal = negative(exprs, &from_ball);
            let point = plus(exprs, c, &normal, (-exprs.at(r)).id);
            (normal, point)
        }
    };
    let along = Tensor::cross(exprs, a, &radial).to_vec();
    let beside = Tensor::cross(exprs, &normal, &along).to_vec();
    Pair { gap, normal, point, tangents: vec![along, beside], foot: None }
}

/// A point or ball of center c on a curve at P with slope P'; `first`: the curve is first.
fn on_curve(
    exprs: &Exprs,
    p: &[ExprId],
    slope: &[ExprId],
    c: &[ExprId],
    r: ExprId,
    first: bool,
) -> Pair {
    let apart = minus(exprs, c, p);
    let along = over(exprs, slope, norm(exprs, slope));
    let left = vec![(-exprs.at(along[1])).id, along[0]];
    let gap = (exprs.at(Tensor::dot(exprs, &left, &apart)) - exprs.at(r)).id;
    let foot = Some(Tensor::dot(exprs, slope, &apart));
    let (normal, point) = match first {
        true => {
            let point = plus(exprs, c, &left, (-exprs.at(r)).id);
            (left, point)
        }
        false => (negative(exprs, &left), p.to_vec()),
    };
    Pair { gap, normal, point, tangents: Vec::new(), foot }
}

/// Directions at right angles to n and to each other: in the plane n turned back by a right angle,
/// so that over a floor it points along x.
fn directions(exprs: &Exprs, n: &[ExprId]) -> Vec<Vec<ExprId>> {
    let [x, y, z] = match n {
        [x, y] => return vec![vec![*y, (-exprs.at(*x)).id]],
        [x, y, z] => [*x, *y, *z].map(|e| exprs.at(e)),
        _ => return Vec::new(),
    };
    let one = exprs.at(ExprId::ONE);
    let down = exprs.call(Function::Negative, &[z.id]);
    let sign = exprs.at(exprs.call(Function::If, &[down, (-one).id, one.id]));
    let a = -one / (sign + z);
    let b = x * y * a;
    vec![
        vec![(one + sign * x.powi(2) * a).id, (sign * b).id, (-(sign * x)).id],
        vec![b.id, (sign + y.powi(2) * a).id, (-y).id],
    ]
}
