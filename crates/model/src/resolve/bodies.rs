//! Particles, bodies, frames and gravity: where they are and the energies they add.
//!
//! ```text
//! particle   T = ½ m v²,               V = −m g·r, or m Φ(r)
//! body       T = ½ m v² + ½ ωᵀ I ω     (v of the mass center; ω and I in body axes)
//! about u    I = I_u − m (|d|² 1 − d dᵀ),  d = u − center
//! free       T gains ½ tr I (|e|')², nil where |e| = 1, so that M is definite
//! ```

use super::machines::{Footing, Target};
use super::rigid::{Pose, Turn, angular_velocity, minus};
use super::value::Value;
use super::*;
use crate::lexicon::{BODY_FIELDS, FRAME_FIELDS, PARTICLE_FIELDS};
use crate::system::{Extent, Place};
use crate::tensor::Tensor;
use crate::tree::{ExprKind, Field, StatementKind};

/// A particle, body or frame once its fields are known.
#[derive(Clone)]
pub(super) struct Body {
    /// 0 for a frame.
    pub mass: ExprId,
    /// Of the mass center.
    pub position: Vec<ExprId>,
    pub velocity: Vec<ExprId>,
    /// Of the point that `at` and the joints speak of.
    pub origin: Vec<ExprId>,
    pub origin_velocity: Vec<ExprId>,
    pub attitude: Attitude,
    /// The mass center in body axes.
    pub center: Vec<ExprId>,
}

#[derive(Clone)]
pub(super) enum Attitude {
    /// A particle.
    Point,
    /// In the plane: the angle, its rate, the moment of inertia.
    Plane { angle: ExprId, omega: ExprId, inertia: ExprId },
    /// In space.
    Space { rotation: Value, omega: [ExprId; 3], omega_body: [ExprId; 3], inertia: [ExprId; 9] },
}

impl Body {
    /// A frame.
    pub fn frame(exprs: &Exprs, pose: Pose) -> Body {
        Body::rigid(exprs, pose, ExprId::ZERO, Moments::none(), Vec::new())
    }

    /// A body with its origin somewhere and its mass center elsewhere.
    fn rigid(
        exprs: &Exprs,
        pose: Pose,
        mass: ExprId,
        moments: Moments,
        center: Vec<ExprId>,
    ) -> Body {
        let n = pose.origin.len();
        let center = if center.is_empty() { vec![ExprId::ZERO; n] } else { center };
        let still = center.iter().all(|&e| e == ExprId::ZERO);
        let middle = match still {
            true => pose.clone(),
            false => pose.attach(exprs, &center, &Turn::none(n)),
        };
        let attitude = match &pose.turn {
            Turn::Plane(angle) => Attitude::Plane {
                angle: *angle,
                omega: exprs.time_derivative(*angle),
                inertia: moments.0[0],
            },
            Turn::Space(rotation) => {
                let (omega, omega_body) = angular_velocity(exprs, rotation);
                Attitude::Space {
                    rotation: rotation.clone(),
                    omega,
                    omega_body,
                    inertia: moments.0,
                }
            }
        };
        Body {
            mass,
            position: middle.origin,
            velocity: middle.velocity,
            origin: pose.origin,
            origin_velocity: pose.velocity,
            attitude,
            center,
        }
    }

    /// Its frame. A particle is not turned.
    pub fn pose(&self) -> Pose {
        let turn = match &self.attitude {
            Attitude::Point => Turn::none(self.origin.len()),
            Attitude::Plane { angle, .. } => Turn::Plane(*angle),
            Attitude::Space { rotation, .. } => Turn::Space(rotation.clone()),
        };
        Pose { origin: self.origin.clone(), velocity: self.origin_velocity.clone(), turn }
    }

    /// The sum of its moments of inertia.
    pub fn trace(&self, exprs: &Exprs) -> ExprId {
        match &self.attitude {
            Attitude::Point => ExprId::ZERO,
            Attitude::Plane { inertia, .. } => *inertia,
            Attitude::Space { inertia, .. } => exprs.sum(&[inertia[0], inertia[4], inertia[8]]),
        }
    }
}

/// An inertia matrix by rows; in the plane its first entry.
struct Moments([ExprId; 9]);

impl Moments {
    fn none() -> Moments {
        Moments([ExprId::ZERO; 9])
    }

    /// What is left of moments about a point at d from the mass center.
    fn about_center(&self, exprs: &Exprs, mass: ExprId, d: &[ExprId]) -> Moments {
        let square = exprs.at(Tensor::dot(exprs, d, d));
        let mass = exprs.at(mass);
        if d.len() == 2 {
            let mut own = Moments::none();
            own.0[0] = (exprs.at(self.0[0]) - mass * square).id;
            return own;
        }
        let entry = |at: usize| {
            let (i, j) = (at / 3, at % 3);
            let product = exprs.at(d[i]) * exprs.at(d[j]);
            let steiner = if i == j { square - product } else { -product };
            (exprs.at(self.0[at]) - mass * steiner).id
        };
        Moments(std::array::from_fn(entry))
    }
}

impl<'a> Resolver<'a, '_> {
    /// The particle or body of a definition, evaluated once.
    pub(super) fn body(&mut self, def: DefId) -> Eval<Arc<Body>> {
        match self.real(Target::Def(def)) {
            Target::Def(other) if other == def => {}
            Target::Def(other) => return self.body(other),
            Target::Ground => {
                let n = self.model_dimension();
                return Ok(Arc::new(Body::frame(&self.exprs, Pose::ground(n))));
            }
        }
        if let Some(known) = self.bodies.get(&def) {
            return match known {
                Some(body) => Ok(body.clone()),
                None => {
                    let span = self.defs[def.0 as usize].span;
                    Err(self.already(span))
                }
            };
        }
        if self.calls.contains(&def) || !self.machine.planned {
            let span = self.defs[def.0 as usize].span;
            return self.fault(
                Code::CircularDefinition,
                span,
                "the fields of this body lead back to the body itself",
            );
        }
        let Def { kind: DefKind::Body { fields, what, .. }, scope, env, span, .. } =
            self.defs[def.0 as usize]
        else {
            let span = self.defs[def.0 as usize].span;
            return Err(self.already(span));
        };
        let cx = Cx { scope, env, locals: None, constant: false };
        self.calls.push(def);
        let statement = self.body_statement(def).unwrap_or(span);
        let result = self.evaluate_body(def, fields, what, (span, statement), cx);
        self.calls.pop();
        match result {
            Ok(body) => {
                let body = Arc::new(body);
                self.bodies.insert(def, Some(body.clone()));
                Ok(body)
            }
            Err(why) => {
                if matches!(why, Stop::Reported(_)) {
                    self.bodies.insert(def, None);
                }
                Err(why)
            }
        }
    }

    fn evaluate_body(
        &mut self,
        def: DefId,
        fields: &'a [Field],
        what: What,
        (span, statement): (Span, Span),
        cx: Cx<'_>,
    ) -> Eval<Body> {
        let wanted: &[&str] = match what {
            What::Particle => PARTICLE_FIELDS,
            What::Body => BODY_FIELDS,
            What::Frame => FRAME_FIELDS,
        };
        for (at, field) in fields.iter().enumerate() {
            let name = &*field.name.text;
            if !wanted.contains(&name) {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::BodyField,
                        field.name.span,
                        format!("a {} has no `{name}`", what.word()),
                    )
                    .hint(format!("its fields are {}", wanted.join(", "))),
                ));
            }
            if let Some(first) = fields[..at].iter().find(|f| f.name.text == field.name.text) {
                let message = format!("`{name}` is given twice");
                return Err(self.report(
                    Diagnostic::fault(Code::BodyField, field.name.span, message)
                        .with(first.name.span, "first given here"),
                ));
            }
        }
        let of = |name: &str| fields.iter().find(|f| &*f.name.text == name);
        let footing = self.machine.footing.get(&def).copied().unwrap_or(Footing::Placed);
        self.fields_complete(fields, what, footing, (span, statement))?;
        let mut mass_value = ExprId::ZERO;
        if let Some(mass) = of("mass") {
            mass_value = self.eval_scalar(&mass.value, cx)?;
            let place = format!("the mass of a {}", what.word());
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(mass_value, mass.value.span, may, &place)?;
        }
        let pose = match footing {
            Footing::Placed => {
                let at = match of("at") {
                    Some(at) => Some(self.position(at, cx)?),
                    None => None,
                };
                if what == What::Particle {
                    let Some((position, velocity)) = at else { return Err(self.already(span)) };
                    return Ok(Body {
                        mass: mass_value,
                        origin: position.clone(),
                        origin_velocity: velocity.clone(),
                        center: vec![ExprId::ZERO; position.len()],
                        position,
                        velocity,
                        attitude: Attitude::Point,
                    });
                }
                self.placed_pose(at, of("turning"), cx)?
            }
            Footing::Free(_) => self.free_pose(def)?,
            Footing::On(target) => {
                let n = self.machine.dimension.get(&def).copied().unwrap_or(3);
                let base = self.pose_of(target, n)?;
                self.fixed_pose(def, &base)?
            }
            Footing::Carried(joint) => self.carried_pose(joint)?,
            Footing::Broken => return Err(self.already(span)),
        };
        if what == What::Frame {
            return Ok(Body::frame(&self.exprs, pose));
        }
        let Some(inertia) = of("inertia") else { return Err(self.already(span)) };
        let n = pose.origin.len();
        let mut moments = self.moments(n, inertia, cx)?;
        let center = match of("center") {
            Some(center) => self.place_of(center, n, "a mass center", cx)?,
            None => vec![ExprId::ZERO; n],
        };
        if let Some(about) = of("about") {
            let about = self.place_of(about, n, "a point of a body", cx)?;
            let d = minus(&self.exprs, &about, &center);
            moments = moments.about_center(&self.exprs, mass_value, &d);
        }
        Ok(Body::rigid(&self.exprs, pose, mass_value, moments, center))
    }

    /// Faults a field that is missing: of a body of part 1 all four are there.
    fn fields_complete(
        &mut self,
        fields: &'a [Field],
        what: What,
        footing: Footing,
        (span, statement): (Span, Span),
    ) -> Eval<()> {
        let needed: &[&str] = match (what, footing) {
            (What::Particle, _) => PARTICLE_FIELDS,
            (What::Body, Footing::Placed) => &["mass", "inertia", "at", "turning"],
            (What::Body, _) => &["mass", "inertia"],
            (What::Frame, Footing::Placed) => &["at"],
            (What::Frame, _) => &[],
        };
        let has = |name: &str| fields.iter().any(|f| &*f.name.text == name);
        if let Some(field) = fields.iter().find(|f| {
            !matches!(footing, Footing::Placed | Footing::On(_))
                && matches!(&*f.name.text, "at" | "turning")
        }) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::BodyField,
                    field.name.span,
                    format!("a free body has no `{}`", field.name.text),
                )
                .hint("say where it begins with `start b.r = …`, `b.rotation = …`"),
            ));
        }
        let Some(missing) = needed.iter().find(|name| !has(name)) else { return Ok(()) };
        // A field with a wrong name was reported already, and is the one.
        let reported = self.diagnostics.iter().any(|d| {
            d.code == Code::BodyField
                && d.labels.first().is_some_and(|l| statement.contains(l.span))
        });
        if reported {
            return Err(self.already(span));
        }
        let own = if what == What::Body { &BODY_FIELDS[..4] } else { needed };
        let message = format!("a {} needs `{missing}`", what.word());
        Err(self.report(
            Diagnostic::fault(Code::BodyField, span, message)
                .hint(format!("its fields are {}", own.join(", "))),
        ))
    }

    /// A position that is given, and its rate.
    fn position(&mut self, at: &'a Field, cx: Cx<'_>) -> Eval<(Vec<ExprId>, Vec<ExprId>)> {
        let position = self.eval(&at.value, cx)?;
        let velocity = self.prime(&position, at.value.span)?;
        let Value::Vector(r) = &position else {
            let found = position.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    at.value.span,
                    format!("a position is a vector, and this is {found}"),
                )
                .hint("write `at [x, y]` or `at [x, y, z]`"),
            ));
        };
        if !(2..=3).contains(&r.len()) {
            let found = position.describe();
            return self.fault(
                Code::Shape,
                at.value.span,
                format!("a position has two or three components, and this is {found}"),
            );
        }
        for &id in r.iter() {
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(id, at.value.span, may, "a position")?;
        }
        Ok((r.to_vec(), velocity.components().to_vec()))
    }

    /// The pose that `at` and `turning` give.
    fn placed_pose(
        &mut self,
        at: Option<(Vec<ExprId>, Vec<ExprId>)>,
        turning: Option<&'a Field>,
        cx: Cx<'_>,
    ) -> Eval<Pose> {
        let turn = match (turning, &at) {
            (Some(turning), Some((r, _))) => self.attitude(r.len(), turning, cx)?,
            (Some(turning), None) => {
                let n = match self.eval(&turning.value, cx)?.scalar() {
                    Some(_) => 2,
                    None => 3,
                };
                self.attitude(n, turning, cx)?
            }
            (None, Some((r, _))) => Turn::none(r.len()),
            (None, None) => Turn::none(3),
        };
        let n = if matches!(turn, Turn::Plane(_)) { 2 } else { 3 };
        let (origin, velocity) =
            at.unwrap_or_else(|| (vec![ExprId::ZERO; n], vec![ExprId::ZERO; n]));
        Ok(Pose { origin, velocity, turn })
    }

    /// The pose of what is fixed in something that stands there.
    pub(super) fn fixed_pose(&mut self, def: DefId, base: &Pose) -> Eval<Pose> {
        let Def { kind, scope, env, span, .. } = self.defs[def.0 as usize];
        let DefKind::Body { fields, .. } = kind else { return Err(self.already(span)) };
        let cx = Cx { scope, env, locals: None, constant: false };
        let (of, n) =
            (|name: &str| fields.iter().find(|f| &*f.name.text == name), base.origin.len());
        let at = match of("at") {
            Some(at) => self.place_of(at, n, "the place of a frame", cx)?,
            None => vec![ExprId::ZERO; n],
        };
        let turn = match of("turning") {
            Some(turning) => self.turn_of(turning, n, cx)?,
            None => Turn::none(n),
        };
        Ok(base.attach(&self.exprs, &at, &turn))
    }

    /// The pose of a free body, by coordinates of its own.
    fn free_pose(&mut self, def: DefId) -> Eval<Pose> {
        let span = self.defs[def.0 as usize].span;
        let Some(&scope) = self.machine.inner.get(&def) else { return Err(self.already(span)) };
        let symbols = |r: &Self, name: &str| -> Vec<ExprId> {
            let list = r.inner_symbols(scope, name);
            list.into_iter().map(|s| r.exprs.of_symbol(s)).collect()
        };
        let origin = symbols(self, "r");
        let velocity = super::rigid::rates(&self.exprs, &origin);
        let turn = match (symbols(self, "angle").as_slice(), symbols(self, "e").as_slice()) {
            (&[angle], _) => Turn::Plane(angle),
            (_, &[a, b, c, d]) => {
                let e = [a, b, c, d];
                let rates = e.map(|id| self.exprs.time_derivative(id));
                let rotation = Tensor::quaternion(&self.exprs, &e, Some(rates));
                self.machine.rotations.insert(rotation.components().to_vec(), e.to_vec());
                Turn::Space(rotation)
            }
            _ => return Err(self.already(span)),
        };
        Ok(Pose { origin, velocity, turn })
    }

    fn body_statement(&self, def: DefId) -> Option<Span> {
        self.body_defs.iter().find(|(_, d)| **d == def).map(|(key, _)| key.0)
    }

    /// What `turning` gives.
    fn attitude(&mut self, n: usize, turning: &'a Field, cx: Cx<'_>) -> Eval<Turn> {
        let turn = self.eval(&turning.value, cx)?;
        for &id in turn.components() {
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(id, turning.value.span, may, "the attitude of a body")?;
        }
        if n == 2 {
            return match turn.scalar() {
                Some(angle) => Ok(Turn::Plane(angle)),
                None => self.plane_shape(turning.value.span, &turn),
            };
        }
        if !matches!((&turn, turn.components().len()), (Value::Matrix { columns: 3, .. }, 9)) {
            let found = turn.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    turning.value.span,
                    format!("in space a body turns by a 3×3 rotation matrix, and this is {found}"),
                )
                .hint("for instance `turning Rz(psi)*Rx(phi)*Ry(theta)`, or `turning Rq(e)`"),
            ));
        }
        self.warn_of_no_rotation(&turn, turning.value.span);
        Ok(Turn::Space(turn))
    }

    fn plane_shape<T>(&mut self, at: Span, found: &Value) -> Eval<T> {
        let found = found.describe();
        Err(self.report(
            Diagnostic::fault(
                Code::Shape,
                at,
                format!("in the plane a body turns by an angle and has one moment of inertia; this is {found}"),
            )
            .hint("`body b: mass m, inertia I, at [x, y], turning th`"),
        ))
    }

    /// What `inertia` gives.
    fn moments(&mut self, n: usize, inertia: &'a Field, cx: Cx<'_>) -> Eval<Moments> {
        let moments = self.eval(&inertia.value, cx)?;
        for &id in moments.components() {
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(id, inertia.value.span, may, "an inertia")?;
        }
        if n == 2 {
            let Some(value) = moments.scalar() else {
                return self.plane_shape(inertia.value.span, &moments);
            };
            let mut own = Moments::none();
            own.0[0] = value;
            return Ok(own);
        }
        Ok(Moments(self.inertia_matrix(&moments, inertia.value.span)?))
    }

    /// RᵀR = 1 holds by construction, or is looked at.
    pub(super) fn warn_of_no_rotation(&mut self, turn: &Value, span: Span) {
        if matches!(turn, Value::Matrix { spin: Some(_), .. }) {
            return;
        }
        let product = turn.transpose(&self.exprs).and_then(|t| t.matmul(&self.exprs, turn));
        let Some(product) = product else { return };
        let off = product.components().iter().enumerate().any(|(at, &entry)| {
            let unit = if at % 4 == 0 { 1 } else { 0 };
            self.exprs.is_zero((self.exprs.at(entry) - unit).id).is_nonzero()
        });
        if off {
            self.diagnostics.push(
                Diagnostic::warning(Code::NotARotation, span, "this matrix is not a rotation by itself")
                    .hint("its columns must be unit vectors at right angles; `Rx`, `Ry`, `Rz`, `Rq` and their products are rotations"),
            );
        }
    }

    /// Three principal values, six entries or a symmetric matrix.
    fn inertia_matrix(&mut self, value: &Value, span: Span) -> Eval<[ExprId; 9]> {
        let mut matrix = [ExprId::ZERO; 9];
        match value {
            Value::Vector(three) if three.len() == 3 => {
                for i in 0..3 {
                    matrix[4 * i] = three[i];
                }
            }
            // Jxx, Jyy, Jzz, Jxy, Jxz, Jyz
            Value::Vector(six) if six.len() == 6 => {
                matrix = [six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2]];
            }
            Value::Matrix { columns: 3, data, .. } if data.len() == 9 => {
                matrix.copy_from_slice(data);
                for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                    let (a, b) = (matrix[3 * i + j], matrix[3 * j + i]);
                    let difference = (self.exprs.at(a) - self.exprs.at(b)).id;
                    if !self.exprs.is_zero(difference).is_zero() {
                        return self.fault(
                            Code::Shape,
                            span,
                            "an inertia matrix is symmetric, and this one is not",
                        );
                    }
                }
            }
            other => {
                let found = other.describe();
                return Err(self.report(
                    Diagnostic::fault(
                        Code::Shape,
                        span,
                        format!("an inertia is three principal values, six entries or a symmetric 3×3 matrix, and this is {found}"),
                    )
                    .hint("`inertia [A, B, C]`, about the mass center, in body axes"),
                ));
            }
        }
        Ok(matrix)
    }

    /// The kinetic and potential energies that particles and bodies add.
    pub(super) fn body_energies(&mut self) -> (Vec<ExprId>, Vec<ExprId>) {
        let (mut kinetic, mut potential) = (Vec::new(), Vec::new());
        for instance in self.instances.clone() {
            if !matches!(
                instance.statement.kind,
                StatementKind::Particle { .. } | StatementKind::Body { .. }
            ) {
                continue;
            }
            let Some(&def) =
                self.body_defs.get(&(instance.statement.span, instance.scope, instance.env))
            else {
                continue;
            };
            let terms = self.settle(|r| {
                let body = r.body(def)?;
                let weight = r.weight(&body, instance.scope)?;
                Ok((body, weight))
            });
            let Some((body, weight)) = terms else { continue };
            self.possible_inertia(def, &body);
            let term = self.kinetic_of(&body);
            kinetic.push(term);
            self.energy_terms.push((term, instance.statement.span));
            self.machine.kinetic.push((Some(def), term));
            let gauge = self.quaternion_gauge(def, &body);
            self.machine.kinetic.extend(gauge.map(|term| (None, term)));
            kinetic.extend(gauge);
            if let Some(weight) = weight {
                let gravity = self.gravity_seen.clone().unwrap_or_default();
                let own = self.exprs.at(body.mass)
                    * self.exprs.at(Tensor::dot(&self.exprs, &gravity, &body.position));
                let is_uniform = gravity.len() == body.position.len() && (-own).id == weight;
                self.machine.potentials.push((is_uniform.then_some(def), weight));
            }
            potential.extend(weight);
        }
        for at in 0..self.machine.joints.len() {
            let gauges = self.settle(|r| r.turn_gauge(at)).unwrap_or_default();
            self.machine.kinetic.extend(gauges.iter().map(|&term| (None, term)));
            kinetic.extend(gauges);
        }
        (kinetic, potential)
    }

    /// ½ tr I (|e|')² of a body that a quaternion turns.
    fn quaternion_gauge(&mut self, def: DefId, body: &Body) -> Option<ExprId> {
        let e = match self.machine.footing.get(&def)? {
            Footing::Free(_) => {
                let scope = *self.machine.inner.get(&def)?;
                self.inner_symbols(scope, "e")
            }
            Footing::Carried(at) => self.machine.ball_symbols(*at, &self.parts.coordinates)?,
            _ => return None,
        };
        let trace = body.trace(&self.exprs);
        if e.len() != 4 || trace == ExprId::ZERO {
            return None;
        }
        let exprs = &self.exprs;
        let e: Vec<ExprId> = e.into_iter().map(|s| exprs.of_symbol(s)).collect();
        let along = exprs.at(Tensor::dot(exprs, &e, &super::rigid::rates(exprs, &e)));
        let square = exprs.at(Tensor::dot(exprs, &e, &e));
        Some((exprs.at(trace) * along.powi(2) / square / 2).id)
    }

    /// Faults moments that no body has: of those that come with fields of part 2, since models of
    /// part 1 mean what they meant.
    fn possible_inertia(&mut self, def: DefId, body: &Body) {
        let DefKind::Body { fields, .. } = self.defs[def.0 as usize].kind else { return };
        let of = |name: &str| fields.iter().find(|f| &*f.name.text == name);
        let Some(inertia) = of("inertia") else { return };
        let six = matches!(&inertia.value.kind, ExprKind::List(list) if list.len() == 6);
        if of("at").is_some() && of("center").is_none() && of("about").is_none() && !six {
            return;
        }
        let moments: Vec<ExprId> = match &body.attitude {
            Attitude::Point => return,
            Attitude::Plane { inertia, .. } => vec![*inertia],
            Attitude::Space { inertia, .. } => inertia.to_vec(),
        };
        let numbers: Option<Vec<f64>> = moments.iter().map(|&id| self.number_now(id)).collect();
        let Some(numbers) = numbers else { return };
        let why = match numbers.as_slice() {
            [one] if *one < 0.0 => "it is negative",
            [_] => return,
            all => {
                // J/2 tr − J is the second moment of the mass, which is never negative: that is
                // the triangle inequality, and implies J ≥ 0.
                let half = (all[0] + all[4] + all[8]) / 2.0;
                let second: [f64; 9] =
                    std::array::from_fn(|at| if at % 4 == 0 { half - all[at] } else { -all[at] });
                match least_is_negative(&second, half) {
                    false => return,
                    true if least_is_negative(&std::array::from_fn(|at| all[at]), half) => {
                        "it is not positive"
                    }
                    true => "one moment is larger than the sum of the two others",
                }
            }
        };
        let span = inertia.value.span;
        let hint = match of("about") {
            Some(_) => "these are moments about the point given with `about`, in body axes",
            None => {
                "moments are about the mass center; about another point of the body say so with `about`"
            }
        };
        self.report(
            Diagnostic::fault(
                Code::InertiaImpossible,
                span,
                format!("no body has this inertia about its mass center: {why}"),
            )
            .hint(hint),
        );
    }

    /// Where particles and bodies are, in the order of the text.
    pub(super) fn body_places(&mut self) -> Vec<Place> {
        let mut places = Vec::new();
        for instance in self.instances.clone() {
            let (StatementKind::Particle { entry, .. } | StatementKind::Body { entry, .. }) =
                &instance.statement.kind
            else {
                continue;
            };
            let key = (instance.statement.span, instance.scope, instance.env);
            let known = self.body_defs.get(&key).and_then(|def| self.bodies.get(def));
            let Some(Some(body)) = known.cloned() else { continue };
            let cx = self.constant_cx(instance.scope, instance.env);
            let Ok(indices) = self.indices(&entry.indices, cx) else { continue };
            let name = self.full_name(instance.scope, &entry.name.text, &indices);
            let inertia = match &body.attitude {
                Attitude::Point => None,
                Attitude::Plane { inertia, .. } => Some(vec![*inertia]),
                Attitude::Space { inertia, .. } => Some(inertia.to_vec()),
            };
            let extent = inertia.map(|inertia| Extent {
                mass: body.mass,
                rotation: self.rotation_of(&body).components().to_vec(),
                inertia,
            });
            let (position, span) = (body.position.clone(), instance.statement.span);
            places.push(Place { name, position, extent, span });
        }
        places
    }

    /// R, of two or three dimensions.
    pub(super) fn rotation_of(&self, body: &Body) -> Value {
        match &body.attitude {
            Attitude::Point => Value::vector(Vec::new()),
            _ => body.pose().turn.matrix(&self.exprs),
        }
    }

    pub(super) fn kinetic_of(&self, body: &Body) -> ExprId {
        let exprs = &self.exprs;
        let square = exprs.at(Tensor::dot(exprs, &body.velocity, &body.velocity));
        let translation = exprs.at(body.mass) * square / 2;
        match &body.attitude {
            Attitude::Point => translation.id,
            Attitude::Plane { omega, inertia, .. } => {
                (translation + exprs.at(*inertia) * exprs.at(*omega).powi(2) / 2).id
            }
            Attitude::Space { omega_body, inertia, .. } => {
                let momentum: Vec<ExprId> = (0..3)
                    .map(|i| Tensor::dot(exprs, &inertia[3 * i..3 * i + 3], omega_body))
                    .collect();
                (translation + exprs.at(Tensor::dot(exprs, omega_body, &momentum)) / 2).id
            }
        }
    }
}

/// Whether a symmetric matrix has a negative eigenvalue, beyond the rounding of its size: then some
/// principal minor is negative.
fn least_is_negative(m: &[f64; 9], size: f64) -> bool {
    let noise = 1e-9 * size.abs();
    let two = |i: usize, j: usize| m[4 * i] * m[4 * j] - m[3 * i + j] * m[3 * i + j];
    let determinant =
        m[0] * two(1, 2) - m[1] * (m[1] * m[8] - m[5] * m[2]) + m[2] * (m[1] * m[5] - m[4] * m[2]);
    (0..3).any(|i| m[4 * i] < -noise)
        || [(0, 1), (0, 2), (1, 2)].into_iter().any(|(i, j)| two(i, j) < -noise * size.abs())
        || determinant < -noise * size * size
}
