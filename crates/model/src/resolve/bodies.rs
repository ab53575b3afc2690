//! Particles, bodies and gravity: the energies they add and the quantities
//! behind their dot.
//!
//! ```text
//! particle   T = ½ m v²,               V = −m g·r
//! body       T = ½ m v² + ½ ωᵀ I ω     (ω and I in body axes)
//! ```

use super::value::Value;
use super::*;
use crate::lexicon::{BODY_FIELDS, BODY_MEMBERS, PARTICLE_FIELDS, PARTICLE_MEMBERS};
use crate::system::{Extent, Place};
use crate::tensor::{Axis, Tensor};
use crate::tree::{Argument, Field, Postfix, PostfixKind, StatementKind};

/// A particle or body once its fields are known.
#[derive(Clone)]
pub(super) struct Body {
    mass: ExprId,
    position: Vec<ExprId>,
    velocity: Vec<ExprId>,
    attitude: Attitude,
}

#[derive(Clone)]
enum Attitude {
    /// A particle.
    Point,
    /// In the plane: the angle, its rate, the moment of inertia.
    Plane { angle: ExprId, omega: ExprId, inertia: ExprId },
    /// In space.
    Space { rotation: Value, omega: [ExprId; 3], omega_body: [ExprId; 3], inertia: [ExprId; 9] },
}

impl<'a> Resolver<'a, '_> {
    /// The particle or body of a definition, evaluated once.
    pub(super) fn body(&mut self, def: DefId) -> Eval<Arc<Body>> {
        if let Some(known) = self.bodies.get(&def) {
            return match known {
                Some(body) => Ok(body.clone()),
                None => {
                    let span = self.defs[def.0 as usize].span;
                    Err(self.already(span))
                }
            };
        }
        if self.calls.contains(&def) {
            let span = self.defs[def.0 as usize].span;
            return self.fault(
                Code::CircularDefinition,
                span,
                "the fields of this body lead back to the body itself",
            );
        }
        let Def { kind: DefKind::Body { fields, is_body }, scope, env, span, .. } =
            self.defs[def.0 as usize]
        else {
            let span = self.defs[def.0 as usize].span;
            return Err(self.already(span));
        };
        let cx = Cx { scope, env, locals: None, constant: false };
        self.calls.push(def);
        let statement = self.body_statement(def).unwrap_or(span);
        let result = self.evaluate_body(fields, is_body, (span, statement), cx);
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
        fields: &'a [Field],
        is_body: bool,
        (span, statement): (Span, Span),
        cx: Cx<'_>,
    ) -> Eval<Body> {
        let wanted: &[&str] = if is_body { BODY_FIELDS } else { PARTICLE_FIELDS };
        let what = if is_body { "a body" } else { "a particle" };
        for (at, field) in fields.iter().enumerate() {
            let name = &*field.name.text;
            if !wanted.contains(&name) {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::BodyField,
                        field.name.span,
                        format!("{what} has no `{name}`"),
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
        let missing = wanted.iter().find(|w| fields.iter().all(|f| &*f.name.text != **w));
        if let Some(missing) = missing {
            // A field with a wrong name was reported already, and is the one.
            let reported = self.diagnostics.iter().any(|d| {
                d.code == Code::BodyField
                    && d.labels.first().is_some_and(|l| statement.contains(l.span))
            });
            if reported {
                return Err(self.already(span));
            }
            return Err(self.report(
                Diagnostic::fault(Code::BodyField, span, format!("{what} needs `{missing}`"))
                    .hint(format!("its fields are {}", wanted.join(", "))),
            ));
        }
        let of = |name: &str| fields.iter().find(|f| &*f.name.text == name);
        let (Some(mass), Some(at)) = (of("mass"), of("at")) else {
            return Err(self.already(span));
        };
        let mass_value = self.eval_scalar(&mass.value, cx)?;
        let place = if is_body { "the mass of a body" } else { "the mass of a particle" };
        self.allow(
            mass_value,
            mass.value.span,
            role::PARAMETER | role::GIVEN | role::POSITION,
            place,
        )?;
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
        let attitude = match (is_body, of("turning"), of("inertia")) {
            (true, Some(turning), Some(inertia)) => self.attitude(r.len(), turning, inertia, cx)?,
            _ => Attitude::Point,
        };
        Ok(Body {
            mass: mass_value,
            position: r.to_vec(),
            velocity: velocity.components().to_vec(),
            attitude,
        })
    }

    fn body_statement(&self, def: DefId) -> Option<Span> {
        self.body_defs.iter().find(|(_, d)| **d == def).map(|(key, _)| key.0)
    }

    fn attitude(
        &mut self,
        n: usize,
        turning: &'a Field,
        inertia: &'a Field,
        cx: Cx<'_>,
    ) -> Eval<Attitude> {
        let turn = self.eval(&turning.value, cx)?;
        let moments = self.eval(&inertia.value, cx)?;
        for (value, span, place) in [
            (&turn, turning.value.span, "the attitude of a body"),
            (&moments, inertia.value.span, "an inertia"),
        ] {
            for &id in value.components() {
                self.allow(id, span, role::PARAMETER | role::GIVEN | role::POSITION, place)?;
            }
        }
        if n == 2 {
            let (Some(angle), Some(inertia_value)) = (turn.scalar(), moments.scalar()) else {
                let (at, found) = if turn.scalar().is_none() {
                    (turning.value.span, turn.describe())
                } else {
                    (inertia.value.span, moments.describe())
                };
                return Err(self.report(
                    Diagnostic::fault(
                        Code::Shape,
                        at,
                        format!("in the plane a body turns by an angle and has one moment of inertia; this is {found}"),
                    )
                    .hint("`body b: mass m, inertia I, at [x, y], turning th`"),
                ));
            };
            let omega = self.exprs.time_derivative(angle);
            return Ok(Attitude::Plane { angle, omega, inertia: inertia_value });
        }
        let (Value::Matrix { columns: 3, data, .. }, 9) = (&turn, turn.components().len()) else {
            let found = turn.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    turning.value.span,
                    format!("in space a body turns by a 3×3 rotation matrix, and this is {found}"),
                )
                .hint("for instance `turning Rz(psi)*Rx(phi)*Ry(theta)`, or `turning Rq(e)`"),
            ));
        };
        self.warn_of_no_rotation(&turn, turning.value.span);
        let (omega, omega_body) = self.angular_velocity(&turn, data);
        let inertia = self.inertia_matrix(&moments, inertia.value.span)?;
        Ok(Attitude::Space { rotation: turn.clone(), omega, omega_body, inertia })
    }

    /// RᵀR = 1 holds by construction, or is looked at.
    fn warn_of_no_rotation(&mut self, turn: &Value, span: Span) {
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

    /// From the rotation's own bookkeeping if it has one, else from R′.
    fn angular_velocity(&self, rotation: &Value, data: &[ExprId]) -> ([ExprId; 3], [ExprId; 3]) {
        if let Value::Matrix { spin: Some(spin), .. } = rotation {
            return (spin.inertial, spin.body);
        }
        let exprs = &self.exprs;
        let rate = Tensor::matrix(3, data.iter().map(|&e| exprs.time_derivative(e)).collect());
        let transposed = Tensor::matrix(3, (0..9).map(|at| data[(at % 3) * 3 + at / 3]).collect());
        let product = |a: &Tensor, b: &Tensor| match a.matmul(exprs, b) {
            Some(matrix) => Tensor::axial(exprs, matrix.components()),
            None => [ExprId::ZERO; 3],
        };
        (product(&rate, &transposed), product(&transposed, &rate))
    }

    /// Three principal values or a symmetric matrix.
    fn inertia_matrix(&mut self, value: &Value, span: Span) -> Eval<[ExprId; 9]> {
        let mut matrix = [ExprId::ZERO; 9];
        match value {
            Value::Vector(three) if three.len() == 3 => {
                for i in 0..3 {
                    matrix[4 * i] = three[i];
                }
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
                        format!("an inertia is three principal values or a symmetric 3×3 matrix, and this is {found}"),
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
                let gravity = r.gravity(instance.scope, body.position.len())?;
                Ok((body, gravity))
            });
            let Some((body, gravity)) = terms else { continue };
            let term = self.kinetic_of(&body);
            kinetic.push(term);
            self.energy_terms.push((term, instance.statement.span));
            if let Some(g) = gravity {
                let exprs = &self.exprs;
                let weight = exprs.at(body.mass) * exprs.at(Tensor::dot(exprs, &g, &body.position));
                potential.push((-weight).id);
                self.gravity_seen.get_or_insert(g);
            }
        }
        (kinetic, potential)
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
    fn rotation_of(&self, body: &Body) -> Value {
        match &body.attitude {
            Attitude::Point => Value::vector(Vec::new()),
            Attitude::Plane { angle, .. } => {
                let turn = Tensor::rotation(&self.exprs, Axis::Z, *angle, None);
                let r = turn.components();
                Value::matrix(2, vec![r[0], r[1], r[3], r[4]])
            }
            Attitude::Space { rotation, .. } => rotation.clone(),
        }
    }

    fn kinetic_of(&self, body: &Body) -> ExprId {
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

    /// The gravity that acts in a scope: its own, or that of the model around it.
    fn gravity(&mut self, scope: ScopeId, n: usize) -> Eval<Option<Vec<ExprId>>> {
        let mut at = scope;
        loop {
            let here = &self.scopes[at.0 as usize];
            if let Some((expr, env)) = here.gravity {
                let cx = Cx { scope: at, env, locals: None, constant: false };
                let value = self.eval(expr, cx)?;
                for &id in value.components() {
                    self.allow(id, expr.span, role::PARAMETER | role::GIVEN, "`gravity`")?;
                }
                return match &value {
                    Value::Vector(g) if g.len() == n => Ok(Some(g.to_vec())),
                    other => {
                        let found = other.describe();
                        Err(self.report(
                            Diagnostic::fault(
                                Code::Shape,
                                expr.span,
                                format!("gravity is a vector like the positions it acts on, of {n}; this is {found}"),
                            )
                            .hint("`gravity [0, -g]` in the plane, `gravity [0, 0, -g]` in space"),
                        ))
                    }
                };
            }
            match here.parent {
                Some(parent) => at = parent,
                None => return Ok(None),
            }
        }
    }

    /// `bob.position`, `wheel.point([a, b, c])`; returns how many operations
    /// behind the name were used.
    pub(super) fn body_member(
        &mut self,
        def: DefId,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<(Value, usize)> {
        let is_body = matches!(self.defs[def.0 as usize].kind, DefKind::Body { is_body: true, .. });
        let members = if is_body { BODY_MEMBERS } else { PARTICLE_MEMBERS };
        let what = if is_body { "body" } else { "particle" };
        let Some(Postfix { kind: PostfixKind::Member(member), span: at }) = operations.first()
        else {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ArgumentKind,
                    span,
                    format!("`{name}` is a {what}, not a quantity"),
                )
                .hint(format!("write for instance `{name}.position` or `{name}.velocity`")),
            ));
        };
        if !members.contains(&&**member) {
            let mut diagnostic =
                Diagnostic::fault(Code::UnknownMember, *at, format!("a {what} has no `{member}`"));
            diagnostic = match names::closest(member, members.iter().copied()) {
                Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                None => diagnostic.hint(format!("it has {}", members.join(", "))),
            };
            return Err(self.report(diagnostic));
        }
        let argument = match operations.get(1) {
            Some(Postfix { kind: PostfixKind::Call(arguments), span })
                if matches!(&**member, "point" | "velocity_at") =>
            {
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
        let body = self.body(def)?;
        let value = match (&**member, argument) {
            ("position", _) => Value::vector(body.position.clone()),
            ("velocity", _) => Value::vector(body.velocity.clone()),
            ("point" | "velocity_at", None) => {
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
        let used = if matches!(&**member, "point" | "velocity_at") { 2 } else { 1 };
        Ok((value, used))
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
        let rotation = self.rotation_of(body);
        let Some((vector, span)) = argument else {
            return Ok(match (&body.attitude, word) {
                (Attitude::Plane { omega, .. }, "omega" | "omega_body") => Value::Scalar(*omega),
                (Attitude::Space { omega, .. }, "omega") => Value::vector(omega.to_vec()),
                (Attitude::Space { omega_body, .. }, "omega_body") => {
                    Value::vector(omega_body.to_vec())
                }
                _ => rotation,
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
        if word == "point" {
            let turned = rotation.matmul(exprs, &vector);
            let turned = turned.unwrap_or_else(|| Value::vector(vec![ExprId::ZERO; n]));
            return Ok(Value::sum(exprs, &[Value::vector(body.position.clone()), turned]));
        }
        let d = vector.components();
        let swept = match &body.attitude {
            Attitude::Plane { omega, .. } => {
                let omega = exprs.at(*omega);
                vec![(-omega * exprs.at(d[1])).id, (omega * exprs.at(d[0])).id]
            }
            Attitude::Space { omega, .. } => Tensor::cross(exprs, omega, d).to_vec(),
            Attitude::Point => Vec::new(),
        };
        Ok(Value::sum(exprs, &[Value::vector(body.velocity.clone()), Value::vector(swept)]))
    }
}
