//! Forces of machines: torques, springs and dampers, gravity by a field, added mass.
//!
//! ```text
//! torque M on b from a       Q = M·∂(ω_b − ω_a)/∂q'
//! spring k, l0 between P, Q  V = ½ k (|Q − P| − l0)²;  without l0  ½ k |Q − P|²
//! damper c between P, Q      R = ½ c (|Q − P|')²
//! gravity Phi                V = m Φ(r) at every mass center
//! force … x'' …              Q = Q₀ − Mₐ q'': T gains ½ q'ᵀMₐq', and Q the rest
//! ```
//!
//! Added mass moves to the left, where it stands beside M: T gains ½ q'ᵀMₐq', and since Lagrange's
//! equations make more of that than Mₐ q'' where Mₐ is not constant, the force keeps the difference,
//! Ṁₐ q' − ½ ∂(q'ᵀMₐq')/∂q. Mₐ must be symmetric; a force that pushes one coordinate by the
//! acceleration of another, and not the other way round, is no mass.

use super::bodies::Body;
use super::machines::Target;
use super::rigid::minus;
use super::statements::STATE;
use super::value::Value;
use super::*;
use crate::lexicon::SPRING_MEMBERS;
use crate::system::Force;
use crate::tensor::Tensor;
use crate::tree::{ExprKind, Postfix, PostfixKind, StatementKind, Where};

/// A spring or damper: its length or value, and its tension.
#[derive(Clone, Copy)]
pub(super) struct Spring {
    pub length: ExprId,
    pub tension: ExprId,
    /// Potential energy, or dissipation function.
    pub function: ExprId,
}

/// The added mass of all forces: by coordinates, column by column.
pub(super) type AddedMass = std::collections::BTreeMap<(usize, usize), Vec<ExprId>>;

impl<'a> Resolver<'a, '_> {
    /// Enters the name of a spring or damper that has one.
    pub(super) fn enter_spring(&mut self, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let StatementKind::Spring { label: Some(entry), .. } = &statement.kind else {
            return Ok(());
        };
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let def = self.new_def(DefKind::Spring(statement), scope, env, entry.span);
        self.enter_name(&entry.name, indices, Kind::Spring, def, scope)
    }

    /// What a spring or damper is.
    pub(super) fn spring(&mut self, statement: &'a Statement, cx: Cx<'_>) -> Eval<Spring> {
        let StatementKind::Spring { is_damper, coefficient, rest, place, .. } = &statement.kind
        else {
            return Err(self.already(statement.span));
        };
        let what = if *is_damper { "a damper" } else { "a spring" };
        let known = role::PARAMETER | role::GIVEN | role::POSITION;
        let k = self.eval_scalar(coefficient, cx)?;
        let rest_length = match rest {
            Some(rest) => Some(self.eval_scalar(rest, cx)?),
            None => None,
        };
        self.allow(k, coefficient.span, if *is_damper { STATE } else { known }, what)?;
        if let (Some(id), Some(rest)) = (rest_length, rest) {
            self.allow(id, rest.span, known, what)?;
        }
        let (length, square) = match place {
            Where::At(s) => {
                let length = self.eval_scalar(s, cx)?;
                self.allow(length, s.span, known, "the place of a spring")?;
                (length, None)
            }
            Where::Between(p, q) => {
                let (first, second) = (self.eval(p, cx)?, self.eval(q, cx)?);
                for (value, at) in [(&first, p), (&second, q)] {
                    for &id in value.components() {
                        self.allow(id, at.span, known, "the end of a spring")?;
                    }
                    if !matches!(value, Value::Vector(v) if (2..=3).contains(&v.len())) {
                        let found = value.describe();
                        return Err(self.report(
                            Diagnostic::fault(
                                Code::Shape,
                                at.span,
                                format!("{what} is between two points, and this is {found}"),
                            )
                            .hint("a point is a vector of two or three; along a quantity write `at s`"),
                        ));
                    }
                }
                if first.shape() != second.shape() {
                    let (a, b) = (first.describe(), second.describe());
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::Shape,
                            q.span,
                            format!("{what} between {a} and {b}"),
                        )
                        .hint("both ends are in the plane, or both in space"),
                    ));
                }
                let apart = minus(&self.exprs, second.components(), first.components());
                let square = Tensor::dot(&self.exprs, &apart, &apart);
                (self.exprs.at(square).sqrt().id, Some(square))
            }
        };
        let exprs = &self.exprs;
        let k = exprs.at(k);
        if *is_damper {
            let rate = exprs.at(exprs.time_derivative(length));
            return Ok(Spring {
                length,
                tension: (k * rate).id,
                function: (k * rate.powi(2) / 2).id,
            });
        }
        let stretch = match rest_length {
            Some(rest) => exprs.at(length) - exprs.at(rest),
            None => exprs.at(length),
        };
        // Without a length at rest the square needs no root.
        let function = match (square, rest_length) {
            (Some(square), None) => k * exprs.at(square) / 2,
            _ => k * stretch.powi(2) / 2,
        };
        Ok(Spring { length, tension: (k * stretch).id, function: function.id })
    }

    /// Potential energies of all springs and dissipation functions of all dampers.
    pub(super) fn spring_functions(&mut self) -> (Vec<ExprId>, Vec<ExprId>) {
        let (mut potential, mut dissipation) = (Vec::new(), Vec::new());
        for instance in self.instances.clone() {
            let StatementKind::Spring { is_damper, .. } = &instance.statement.kind else {
                continue;
            };
            let cx = self.scope_cx(&instance);
            if let Some(spring) = self.settle(|r| r.spring(instance.statement, cx)) {
                match is_damper {
                    true => dissipation.push(spring.function),
                    false => potential.push(spring.function),
                }
            }
        }
        (potential, dissipation)
    }

    /// `strut.length`, `strut.force`.
    pub(super) fn spring_member(
        &mut self,
        def: DefId,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
    ) -> Eval<(Value, usize)> {
        let Def { kind: DefKind::Spring(statement), scope, env, .. } = self.defs[def.0 as usize]
        else {
            return Err(self.already(span));
        };
        let Some(Postfix { kind: PostfixKind::Member(member), span: at }) = operations.first()
        else {
            let message = format!("`{name}` is a spring or damper, not a quantity");
            return Err(self.report(
                Diagnostic::fault(Code::ArgumentKind, span, message)
                    .hint(format!("write `{name}.length` or `{name}.force`")),
            ));
        };
        let cx = Cx { scope, env, locals: None, constant: false };
        let spring = self.spring(statement, cx)?;
        match &**member {
            "length" => Ok((Value::Scalar(spring.length), 1)),
            "force" => Ok((Value::Scalar(spring.tension), 1)),
            other => Err(self.report(
                Diagnostic::fault(
                    Code::UnknownMember,
                    *at,
                    format!("a spring or damper has no `{other}`"),
                )
                .hint(format!("it has {}", SPRING_MEMBERS.join(" and "))),
            )),
        }
    }

    /// The generalized force of a torque.
    pub(super) fn torque(
        &mut self,
        value: &'a Expr,
        on: &'a Expr,
        from: Option<&'a Expr>,
        cx: Cx<'_>,
    ) -> Eval<Vec<(usize, ExprId)>> {
        let torque = self.eval(value, cx)?;
        let target = self.target(on, cx)?;
        let target = self.turning_target(target, on.span)?;
        let reference = match from {
            Some(from) => {
                let target = self.target(from, cx)?;
                Some(self.turning_target(target, from.span)?)
            }
            None => None,
        };
        let n = match &torque {
            Value::Scalar(_) => 2,
            _ => 3,
        };
        let mut omega = self.pose_of(target, n)?.turn.omega(&self.exprs);
        if let Some(reference) = reference {
            let other = self.pose_of(reference, n)?.turn.omega(&self.exprs);
            omega = minus(&self.exprs, &omega, &other);
        }
        if torque.components().len() != omega.len() {
            let found = torque.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    value.span,
                    format!("a torque is a scalar in the plane and a vector of 3 in space; this is {found}"),
                )
                .hint("in axes of the body it is `b.vector([…])`"),
            ));
        }
        let symbols: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        let allowed = STATE | role::MULTIPLIER | role::ACCELERATION;
        self.virtual_work(torque.components(), &omega, &symbols, value, allowed, "`torque`")
    }

    /// A torque acts on what turns.
    fn turning_target(&mut self, target: Target, span: Span) -> Eval<Target> {
        let target = self.real(target);
        if let Target::Def(def) = target
            && matches!(self.defs[def.0 as usize].kind, DefKind::Body { what: What::Particle, .. })
        {
            return Err(self.report(
                Diagnostic::fault(Code::ArgumentKind, span, "a particle does not turn")
                    .hint("a torque acts on a body"),
            ));
        }
        Ok(target)
    }

    /// The potential energy of a body in the gravity of its scope, if there is any.
    pub(super) fn weight(&mut self, body: &Body, scope: ScopeId) -> Eval<Option<ExprId>> {
        let n = body.position.len();
        let mut at = scope;
        let (expr, env) = loop {
            let here = &self.scopes[at.0 as usize];
            match (here.gravity, here.parent) {
                (Some(gravity), _) => break gravity,
                (None, Some(parent)) => at = parent,
                (None, None) => return Ok(None),
            }
        };
        let cx = Cx { scope: at, env, locals: None, constant: false };
        if let Some(function) = self.field_function(expr, cx)? {
            let position = Value::vector(body.position.clone());
            let value = self.call_with(function, &[position], expr.span)?;
            let Some(potential) = value.scalar() else {
                let found = value.describe();
                return Err(self.report(
                    Diagnostic::fault(
                        Code::GravityField,
                        expr.span,
                        format!("the potential of a field is a scalar, and this is {found}"),
                    )
                    .hint("`let Phi(r) = -GM/norm(r)`, the potential energy of a unit mass"),
                ));
            };
            let may = role::PARAMETER | role::GIVEN | role::POSITION;
            self.allow(potential, expr.span, may, "`gravity`")?;
            return Ok(Some((self.exprs.at(body.mass) * self.exprs.at(potential)).id));
        }
        let value = self.eval(expr, cx)?;
        for &id in value.components() {
            self.allow(id, expr.span, role::PARAMETER | role::GIVEN, "`gravity`")?;
        }
        match &value {
            Value::Vector(g) if g.len() == n => {
                let exprs = &self.exprs;
                let weight = exprs.at(body.mass) * exprs.at(Tensor::dot(exprs, g, &body.position));
                let weight = (-weight).id;
                self.gravity_seen.get_or_insert_with(|| g.to_vec());
                Ok(Some(weight))
            }
            other => {
                let found = other.describe();
                Err(self.report(
                    Diagnostic::fault(
                        Code::Shape,
                        expr.span,
                        format!("gravity is a vector like the positions it acts on, of {n}; this is {found}"),
                    )
                    .hint("`gravity [0, -g]` in the plane, `gravity [0, 0, -g]` in space; a field is given by its potential, `gravity Phi`"),
                ))
            }
        }
    }

    /// The function that `gravity Phi` names.
    pub(super) fn field_function(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Option<DefId>> {
        let ExprKind::Name(name) = &expr.kind else { return Ok(None) };
        let Some(def) = self.function_named(name, expr.span, cx)? else { return Ok(None) };
        let DefKind::Function(define) = self.defs[def.0 as usize].kind else { return Ok(None) };
        let count = define.arguments.as_ref().map_or(0, Vec::len);
        if count != 1 {
            let at = self.defs[def.0 as usize].span;
            return Err(self.report(
                Diagnostic::fault(
                    Code::GravityField,
                    expr.span,
                    format!("the potential of a field is a function of the position, and `{name}` takes {count} arguments"),
                )
                .with(at, "defined here")
                .hint("`let Phi(r) = -GM/norm(r)`, the potential energy of a unit mass"),
            ));
        }
        Ok(Some(def))
    }

    /// Takes accelerations out of the components of a force: what is left, and the mass that they
    /// are added to.
    pub(super) fn take_added_mass(
        &mut self,
        components: Vec<(usize, ExprId)>,
        span: Span,
        mass: &mut AddedMass,
    ) -> Eval<Vec<(usize, ExprId)>> {
        let mut rest = Vec::with_capacity(components.len());
        for (row, force) in components {
            if self.mask(force) & role::ACCELERATION == 0 {
                rest.push((row, force));
                continue;
            }
            let accelerations: Vec<(usize, Symbol)> =
                self.parts.coordinates.iter().map(|c| c.acceleration).enumerate().collect();
            let symbols: Vec<Symbol> = accelerations.iter().map(|a| a.1).collect();
            let gradient = self.exprs.gradient(force, &symbols);
            for (&(column, _), &entry) in accelerations.iter().zip(&gradient) {
                if entry == ExprId::ZERO {
                    continue;
                }
                let known = role::PARAMETER | role::GIVEN | role::POSITION;
                if self.mask(entry) & !known != 0 {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::ForceAcceleration,
                            span,
                            "a force holds accelerations linearly, times functions of positions and time",
                        )
                        .hint("such a term is added mass: `force x: -ma*x''`"),
                    ));
                }
                let added = (-self.exprs.at(entry)).id;
                mass.entry((row, column)).or_default().push(added);
            }
            let left = self
                .exprs
                .substitute_with(&[force], |s| symbols.contains(&s).then_some(ExprId::ZERO))[0];
            if left != ExprId::ZERO {
                rest.push((row, left));
            }
        }
        Ok(rest)
    }

    /// Moves added mass to the left: its kinetic energy, and the force that is left of it.
    pub(super) fn added_mass(&mut self, mass: AddedMass, span: Span) -> Option<(ExprId, Force)> {
        let matrix: FxHashMap<(usize, usize), ExprId> =
            mass.into_iter().map(|(place, terms)| (place, self.exprs.sum(&terms))).collect();
        let mut places: Vec<(usize, usize)> = matrix.keys().copied().collect();
        places.sort_unstable();
        for &(i, j) in &places {
            let back = matrix.get(&(j, i)).copied().unwrap_or(ExprId::ZERO);
            let difference = (self.exprs.at(matrix[&(i, j)]) - self.exprs.at(back)).id;
            if !self.exprs.is_zero(difference).is_zero() {
                let name = |k: usize| self.parts.coordinates[k].name.clone();
                let message = format!(
                    "a force on `{}` by the acceleration of `{}` has no counterpart the other way round",
                    name(i),
                    name(j)
                );
                self.report(
                    Diagnostic::fault(Code::ForceAcceleration, span, message)
                        .hint("added mass is symmetric; what is not is no mass, and a delayed or measured acceleration needs a `state`"),
                );
                return None;
            }
        }
        let exprs = &self.exprs;
        let velocity = |k: usize| exprs.at(exprs.of_symbol(self.parts.coordinates[k].velocity));
        let terms: Vec<ExprId> = places
            .iter()
            .map(|&(i, j)| (exprs.at(matrix[&(i, j)]) * velocity(i) * velocity(j) / 2).id)
            .collect();
        let kinetic = exprs.sum(&terms);
        let positions: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.position).collect();
        let slope = exprs.gradient(kinetic, &positions);
        let mut components = Vec::new();
        for (row, &slope) in slope.iter().enumerate() {
            let moving: Vec<ExprId> = places
                .iter()
                .filter(|place| place.0 == row)
                .map(|&(i, j)| (exprs.at(exprs.time_derivative(matrix[&(i, j)])) * velocity(j)).id)
                .collect();
            let force = (exprs.at(exprs.sum(&moving)) - exprs.at(slope)).id;
            if force != ExprId::ZERO {
                components.push((row, force));
            }
        }
        Some((kinetic, Force { components, span }))
    }
}
