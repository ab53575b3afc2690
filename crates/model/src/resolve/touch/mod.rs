//! What sticks and touches: `friction`, `contact`, `joint … : rolling`.
//!
//! ```text
//! contact by sides    gap, normal n, point and slip of two shapes (`shapes`)
//! contact by >=       gap = left − right, slip as `sliding` gives it
//! rolling             rows gap = 0, slip = 0
//! ```
//!
//! The friction of a contact is a friction like any other, with the bound μN; N is an unknown of
//! the solution. What these say of the motion depends on the phase, which nothing here knows
//! ([`crate::system::Phase`]).

mod members;
mod shapes;

use super::statements::STATE;
use super::value::Value;
use super::*;
use crate::lexicon::IMPACTS;
use crate::system::{
    Change, Constraint, Contact, Friction, Impacts, Level, OfTouch, Touch, Touched,
};
use crate::tree::{ExprKind, Field, Gap, Relation, Side, StatementKind};
use dalembert_expr::Function;
use shapes::Meeting;

/// A contact or rolling joint as written.
pub(super) struct Touching<'a> {
    pub instance: Instance<'a>,
    pub name: String,
    /// Sides with shapes, or the two sides of an inequality.
    what: What<'a>,
    /// Its place among the contacts; a rolling joint has none.
    pub contact: Option<usize>,
    /// Its rows.
    group: usize,
    /// The coordinates along its curves, by sides.
    along: [Option<usize>; 2],
    meeting: Option<Arc<Meeting>>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Sides(&'a [Side; 2]),
    Between(&'a Expr, &'a Expr),
}

/// What is being evaluated, and must not ask for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The gap of a contact, by its place.
    Gap(usize),
    /// What its sides are.
    Sides(usize),
    /// What slides in it.
    Slip(usize),
    /// The slip of a friction, by its definition.
    Along(DefId),
}

/// All that touches and sticks.
#[derive(Default)]
pub(super) struct Touches<'a> {
    pub all: Vec<Touching<'a>>,
    /// What is being evaluated.
    under: Vec<Part>,
    contacts: usize,
    /// Frictions with their places, by definition.
    frictions: Vec<DefId>,
}

impl<'a> Resolver<'a, '_> {
    /// Enters a contact or a rolling joint.
    pub(super) fn enter_touch(&mut self, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let (entry, what, is_contact) = match &statement.kind {
            StatementKind::Contact { entry, gap: Gap::Between(left, right), .. } => {
                (entry, What::Between(left, right), true)
            }
            StatementKind::Contact { entry, gap: Gap::Sides(sides), .. } => {
                (entry, What::Sides(sides), true)
            }
            StatementKind::Joint { entry, sides, .. } => (entry, What::Sides(sides), false),
            _ => return Ok(()),
        };
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let name = self.full_name(scope, &entry.name.text, &indices);
        let at = self.touches.all.len();
        let def = self.new_def(DefKind::Touch(at), scope, env, entry.span);
        let kind = if is_contact { Kind::Contact } else { Kind::Joint };
        self.enter_name(&entry.name, indices.clone(), kind, def, scope)?;
        let group = self.constraint_rows.len();
        let contact = is_contact.then_some(self.touches.contacts);
        self.touches.contacts += usize::from(is_contact);
        let rows = self.new_def(DefKind::TouchRows(at), scope, env, statement.span);
        // Everything has its place before anything can fail.
        self.constraint_rows.push(ConstraintGroup {
            def: rows,
            label: name.clone(),
            indexed: !indices.is_empty(),
            unnamed: None,
            contact,
            span: statement.span,
            by: None,
        });
        let along = [None, None];
        self.touches.all.push(Touching {
            instance,
            name: name.clone(),
            what,
            contact,
            group,
            along,
            meeting: None,
        });
        self.enter_label(&entry.name, indices, false, group, scope)?;
        if let (StatementKind::Joint { fields, .. }, false) = (&statement.kind, is_contact)
            && let Some(field) = fields.first()
        {
            let message = format!("a `rolling` joint has no `{}`", field.name.text);
            return Err(self.report(
                Diagnostic::fault(Code::JointField, field.name.span, message)
                    .hint("the axis of a rim stands behind its radius: `wheel radius r axis n`"),
            ));
        }
        let What::Sides(sides) = what else { return Ok(()) };
        for (which, side) in sides.iter().enumerate() {
            if side.fields.iter().any(|field| &*field.name.text == "curve") {
                let inner = self.inner_scope(def, &name, instance);
                let made = self.inner_coordinates(inner, "s", None, entry.span)?;
                self.touches.all[at].along[which] = made.first().copied();
                self.inner_rows(inner, "foot", DefKind::Foot(at), statement.span);
            }
        }
        Ok(())
    }

    /// Enters the name of a friction that has one.
    pub(super) fn enter_friction(&mut self, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let StatementKind::Friction { label, .. } = &statement.kind else { return Ok(()) };
        let at = self.touches.frictions.len();
        let span = label.as_ref().map_or(statement.span, |entry| entry.span);
        let def = self.new_def(DefKind::Friction(at, statement), scope, env, span);
        self.touches.frictions.push(def);
        let Some(entry) = label else { return Ok(()) };
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        self.enter_name(&entry.name, indices, Kind::Friction, def, scope)
    }

    /// The rows of a contact or rolling joint.
    pub(super) fn touch_rows(&mut self, at: usize) -> Eval<Value> {
        let gap = self.gap(at)?;
        if self.touches.all[at].contact.is_some() {
            return Ok(Value::Scalar(gap));
        }
        let meeting = self.meeting(at)?;
        let rows: Vec<ExprId> = std::iter::once(gap).chain(meeting.slip(&self.exprs)).collect();
        Ok(Value::vector(rows))
    }

    /// Evaluates what does not ask for itself, however far round.
    fn not_of_itself<T>(
        &mut self,
        part: Part,
        span: Span,
        work: impl FnOnce(&mut Self) -> Eval<T>,
    ) -> Eval<T> {
        if self.touches.under.contains(&part) {
            let (what, name) = match part {
                Part::Gap(at) => ("the gap of", Some(at)),
                Part::Sides(at) => ("where the sides meet of", Some(at)),
                Part::Slip(at) => ("the slip of", Some(at)),
                Part::Along(_) => ("this slip", None),
            };
            let name = name.map_or(String::new(), |at| format!(" `{}`", self.touches.all[at].name));
            return Err(self.report(
                Diagnostic::fault(
                    Code::CircularDefinition,
                    span,
                    format!("{what}{name} is defined by itself"),
                )
                .hint(
                    "write it with the coordinates; `gap`, `slip` and `force` are told of what is \
                     defined",
                ),
            ));
        }
        self.touches.under.push(part);
        let done = work(self);
        self.touches.under.pop();
        done
    }

    /// The gap of a contact or rolling joint.
    fn gap(&mut self, at: usize) -> Eval<ExprId> {
        let Touching { instance, what, .. } = self.touches.all[at];
        let (gap, span) = match what {
            What::Between(left, right) => {
                let cx = self.scope_cx(&instance);
                let span = left.span.to(right.span);
                let gap = self.not_of_itself(Part::Gap(at), span, |r| {
                    let (a, b) = (r.eval_scalar(left, cx), r.eval_scalar(right, cx));
                    Ok((r.exprs.at(a?) - r.exprs.at(b?)).id)
                });
                (gap?, span)
            }
            What::Sides(_) => (self.meeting(at)?.gap, instance.statement.span),
        };
        let may = role::PARAMETER | role::GIVEN | role::POSITION;
        self.allow(gap, span, may, "a gap")?;
        Ok(gap)
    }

    /// The slip of a contact in components: by its shapes, or as `sliding` gives it; and where that
    /// is said.
    fn contact_slip(&mut self, at: usize) -> Eval<(Vec<ExprId>, Span)> {
        let Touching { instance, what, .. } = self.touches.all[at];
        let span = instance.statement.span;
        match (what, field(instance.statement, "sliding")) {
            (What::Sides(_), None) => Ok((self.meeting(at)?.slip(&self.exprs), span)),
            (What::Sides(_), Some(sliding)) => Err(self.report(
                Diagnostic::fault(
                    Code::JointField,
                    sliding.name.span,
                    "shapes that touch tell how they slide by themselves",
                )
                .hint("leave `sliding` out; it is for contacts written with `>=`"),
            )),
            (What::Between(..), Some(sliding)) => {
                let cx = self.scope_cx(&instance);
                let span = sliding.value.span;
                let value =
                    self.not_of_itself(Part::Slip(at), span, |r| r.eval(&sliding.value, cx))?;
                Ok((self.slip_components(&value, sliding.value.span)?, sliding.value.span))
            }
            (What::Between(..), None) => Err(self.report(
                Diagnostic::fault(
                    Code::FrictionSlip,
                    span,
                    "this contact has friction and does not say what slides",
                )
                .hint("give the velocity along the surface: `…, sliding x', friction 0.3`"),
            )),
        }
    }

    /// A scalar, or a vector of two or three.
    fn slip_components(&mut self, value: &Value, span: Span) -> Eval<Vec<ExprId>> {
        match value {
            Value::Scalar(id) => Ok(vec![*id]),
            Value::Vector(list) if (2..=3).contains(&list.len()) => Ok(list.to_vec()),
            other => {
                let found = other.describe();
                let message = format!(
                    "a slip velocity is a scalar, or a vector of two or three, and this is {found}"
                );
                self.fault(Code::Shape, span, message)
            }
        }
    }

    /// All frictions, contacts and rolling joints.
    pub(super) fn resolve_touch(&mut self) -> (Vec<Friction>, Vec<Contact>, Vec<Touch>) {
        let (mut frictions, mut contacts, mut rolling) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..self.touches.frictions.len() {
            let def = self.touches.frictions[at];
            // A fault leaves a place, so that numbers stay.
            frictions.extend(self.settle(|r| r.friction(def)));
        }
        for at in 0..self.touches.all.len() {
            let group = self.touches.all[at].group;
            if self.touches.all[at].contact.is_none() {
                let touch = self.settle(|r| r.touch(at));
                rolling.extend(touch.flatten());
                continue;
            }
            let def = self.constraint_rows[group].def;
            if self.settle(|r| r.def_value(def)).is_none() {
                continue;
            }
            let number = contacts.len();
            let found = self.settle(|r| r.contact(at, number, frictions.len()));
            if let Some((contact, own)) = found {
                contacts.push(contact);
                frictions.extend(own);
            }
        }
        (frictions, contacts, rolling)
    }

    /// One `friction` statement.
    fn friction(&mut self, def: DefId) -> Eval<Friction> {
        let Def { kind: DefKind::Friction(_, statement), scope, env, span, .. } =
            self.defs[def.0 as usize]
        else {
            let span = self.defs[def.0 as usize].span;
            return Err(self.already(span));
        };
        let StatementKind::Friction { label, bound, along, holds } = &statement.kind else {
            return Err(self.already(span));
        };
        let cx = Cx { scope, env, locals: None, constant: false };
        let name = match label {
            Some(entry) => {
                let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
                self.full_name(scope, &entry.name.text, &indices)
            }
            None => {
                let number = self.unlabeled(def);
                self.full_name(scope, &format!("friction{number}"), &[])
            }
        };
        let (slip, limit) = (self.eval(along, cx), self.bound(bound, cx));
        let (slip, limit) = (slip?, limit?);
        let slip = self.slip_components(&slip, along.span)?;
        let holds = match holds {
            Some(holds) => Some(self.bound(holds, cx)?),
            None => None,
        };
        self.sliding(name, &slip, along.span, statement.span, (limit, holds))
    }

    /// The number of a friction without a label, among those.
    fn unlabeled(&self, def: DefId) -> usize {
        let without = self.touches.frictions.iter().filter(|other| {
            matches!(self.defs[other.0 as usize].kind, DefKind::Friction(_, statement)
                if matches!(statement.kind, StatementKind::Friction { label: None, .. }))
        });
        1 + without.take_while(|&&other| other != def).count()
    }

    /// A bound F ≥ 0 of friction.
    fn bound(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<ExprId> {
        let id = self.eval_scalar(expr, cx)?;
        self.allow(id, expr.span, STATE | role::MULTIPLIER, "the bound of a friction")?;
        let id = self.normalize(id);
        let symbols = self.exprs.symbols_of(&[id]);
        let holds_friction = self.unknowns.iter().any(|(symbol, unknown)| {
            matches!(unknown, Unknown::Touch(OfTouch::Force(..))) && symbols.contains(symbol)
        });
        if holds_friction {
            return Err(self.report(
                Diagnostic::fault(
                    Code::NotAllowedHere,
                    expr.span,
                    "the bound of a friction cannot hold the force of a friction",
                )
                .hint("it may hold `multiplier(…)`, also of a contact"),
            ));
        }
        self.not_negative(id, expr.span)?;
        Ok(id)
    }

    fn not_negative(&mut self, id: ExprId, span: Span) -> Eval<()> {
        match self.parameter_value(id) {
            Some(value) if value < 0.0 => Err(self.report(
                Diagnostic::fault(
                    Code::FrictionNegative,
                    span,
                    format!("the bound of a friction is not negative, and this is {value}"),
                )
                .hint("friction acts against the slip by itself: give how strong it is"),
            )),
            _ => Ok(()),
        }
    }

    /// A friction along a slip velocity.
    fn sliding(
        &mut self,
        name: String,
        slip: &[ExprId],
        span: Span,
        statement: Span,
        (bound, static_bound): (ExprId, Option<ExprId>),
    ) -> Eval<Friction> {
        let hamiltonian = self.parts.hamiltonian;
        let velocities: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        let mut components = Vec::with_capacity(slip.len());
        for &id in slip {
            let may = if hamiltonian { STATE & !role::MOMENTUM } else { STATE };
            self.allow(id, span, may, "a slip velocity")?;
            components.push(if hamiltonian { id } else { self.normalize(id) });
        }
        let jacobian = self.exprs.jacobian(&components, &velocities);
        for (at, row) in jacobian.rows.iter().enumerate() {
            let symbols: Vec<Symbol> = self
                .exprs
                .symbols_of(&[components[at]])
                .into_iter()
                .filter(|&s| self.role(s) == role::VELOCITY)
                .collect();
            let curved: Vec<ExprId> = row
                .iter()
                .map(|entry| entry.1)
                .filter(|&entry| self.mask(entry) & role::VELOCITY != 0)
                .collect();
            let second = self.exprs.jacobian(&curved, &symbols);
            let affine =
                second.rows.iter().flatten().all(|&(_, e)| self.exprs.is_zero(e).is_zero());
            let why = match (row.is_empty(), affine) {
                (true, _) => "holds no velocity",
                (_, false) => "is not linear in the velocities",
                _ => continue,
            };
            return Err(self.report(
                Diagnostic::fault(
                    Code::FrictionSlip,
                    span,
                    format!("friction acts along a slip velocity, and this {why}"),
                )
                .hint("a slip velocity is for instance `x'`, or `x' - r*th'` where a wheel rolls"),
            ));
        }
        let mut rows = Vec::with_capacity(components.len());
        let slip: Vec<ExprId> = components.iter().map(|&id| self.normalize(id)).collect();
        for (at, &residual) in slip.iter().enumerate() {
            let full = match slip.len() {
                1 => name.clone(),
                _ => format!("{name}[{}]", at + 1),
            };
            rows.push(self.touch_row(residual, Level::Velocity, full, &name, statement)?);
        }
        Ok(Friction {
            name,
            slip,
            directions: jacobian.rows,
            rows,
            bound,
            static_bound,
            contact: None,
            held: None,
            toward: Vec::new(),
            span: statement,
        })
    }

    /// A row that holds in some phases.
    fn touch_row(
        &mut self,
        residual: ExprId,
        level: Level,
        name: String,
        label: &str,
        span: Span,
    ) -> Eval<Constraint> {
        let moving = match (level, self.parts.hamiltonian) {
            (Level::Position, _) => role::POSITION,
            (_, true) => role::MOMENTUM,
            (_, false) => role::VELOCITY,
        };
        let symbols: Vec<Symbol> = self.exprs.symbols_of(&[residual]);
        let of = |r: &Self, wanted: u16| -> Vec<Symbol> {
            symbols.iter().copied().filter(|&s| r.role(s) & wanted != 0).collect()
        };
        let gradient = self.exprs.gradient(residual, &of(self, moving));
        if gradient.iter().all(|&g| self.exprs.is_zero(g).is_zero()) {
            let message = format!("nothing moves in `{name}`, so that it is always the same");
            return Err(self.report(
                Diagnostic::fault(Code::ConstraintImpossible, span, message)
                    .hint("is a coordinate missing, or has everything canceled?"),
            ));
        }
        self.state_in_constraint(residual, level, &name, span)?;
        let rates = self.exprs.gradient(residual, &of(self, role::GIVEN));
        let scleronomic = rates.iter().all(|&rate| self.exprs.is_zero(rate).is_zero());
        let catastatic = match level {
            Level::Position => Some(scleronomic),
            _ => self.at_rest(residual, moving),
        };
        let label = label.to_owned();
        Ok(Constraint {
            name,
            label,
            level,
            residual,
            affine: true,
            scleronomic,
            catastatic,
            servo: false,
            span,
        })
    }

    /// One contact, and its friction.
    fn contact(
        &mut self,
        at: usize,
        number: usize,
        friction: usize,
    ) -> Eval<(Contact, Option<Friction>)> {
        let (instance, name) = (self.touches.all[at].instance, self.touches.all[at].name.clone());
        let (statement, cx) = (instance.statement, self.scope_cx(&instance));
        let span = statement.span;
        let gap = self.gap(at)?;
        let gap = self.normalize(gap);
        let row = self.touch_row(gap, Level::Position, name.clone(), &name, span)?;
        let normal = self.normal_of(at);
        let restitution = match field(statement, "restitution") {
            None => ExprId::ZERO,
            Some(given) => {
                let id = self.eval_scalar(&given.value, cx)?;
                self.allow(id, given.value.span, STATE, "a restitution")?;
                let id = self.normalize(id);
                if let Some(value) = self.parameter_value(id)
                    && !(0.0..=1.0).contains(&value)
                {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::ImpactGains,
                            given.value.span,
                            format!("a restitution is between 0 and 1, and this is {value}"),
                        )
                        .hint("0 does not bounce, 1 loses nothing; more would gain energy"),
                    ));
                }
                id
            }
        };
        let condition = match &statement.kind {
            StatementKind::Contact { condition: Some(condition), .. } => {
                let margin = self.margin(condition, cx)?;
                self.allow(margin, condition.span, STATE, "the condition of a contact")?;
                Some(self.normalize(margin))
            }
            _ => None,
        };
        let own = match (field(statement, "friction"), field(statement, "static")) {
            (None, None) => {
                if let (What::Between(..), Some(sliding)) =
                    (self.touches.all[at].what, field(statement, "sliding"))
                {
                    let value = self.eval(&sliding.value, cx)?;
                    self.slip_components(&value, sliding.value.span)?;
                } else if field(statement, "sliding").is_some() {
                    self.contact_slip(at)?;
                }
                None
            }
            (None, Some(holds)) => {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::JointField,
                        holds.name.span,
                        "`static` is given, and there is no `friction`",
                    )
                    .hint("write both: `…, friction 0.3, static 0.4`"),
                ));
            }
            (Some(mu), holds) => {
                let times_normal = |r: &mut Self, mu: &'a Field| {
                    let id = r.eval_scalar(&mu.value, cx)?;
                    r.allow(id, mu.value.span, STATE, "a coefficient of friction")?;
                    let id = r.normalize(id);
                    r.not_negative(id, mu.value.span)?;
                    Ok((r.exprs.at(id) * r.exprs.at(r.exprs.of_symbol(normal))).id)
                };
                let bound = times_normal(self, mu)?;
                let holds = match holds {
                    Some(holds) => Some(times_normal(self, holds)?),
                    None => None,
                };
                let (slip, place) = self.contact_slip(at)?;
                let label = format!("{name}.slip");
                let mut own = self.sliding(label, &slip, place, span, (bound, holds))?;
                own.contact = Some(number);
                Some(own)
            }
        };
        let touch = self.touch(at)?;
        let friction = own.is_some().then_some(friction);
        let contact = Contact {
            name,
            row,
            normal,
            condition,
            restitution,
            friction,
            touch,
            held: None,
            span,
        };
        Ok((contact, own))
    }

    /// Where and with what it touches.
    fn touch(&mut self, at: usize) -> Eval<Option<Touch>> {
        if matches!(self.touches.all[at].what, What::Between(..)) {
            return Ok(None);
        }
        let meeting = self.meeting(at)?;
        let mut touch = Touch {
            name: self.touches.all[at].name.clone(),
            point: meeting.point.clone(),
            normal: meeting.normal.clone(),
            shapes: meeting.shapes.clone(),
        };
        let mut ids: Vec<ExprId> = Vec::new();
        touch.each(&mut |id| ids.push(*id));
        let mut ids = self.normalize_all(&ids).into_iter();
        touch.each(&mut |id| *id = ids.next().unwrap_or(*id));
        Ok(Some(touch))
    }

    /// N of a contact.
    fn normal_of(&mut self, at: usize) -> Symbol {
        let (number, name) = (self.touches.all[at].contact, &self.touches.all[at].name);
        let shown = format!("multiplier({name})");
        let unknown = Unknown::Touch(OfTouch::Normal(number.unwrap_or(usize::MAX)));
        let id = self.unknown_expr(unknown, shown);
        self.exprs.as_symbol(id).unwrap_or(Symbol::TIME)
    }

    /// N of a contact as an expression, for `multiplier(c)`.
    pub(super) fn normal_expr(&mut self, contact: usize) -> ExprId {
        let at = self.touches.all.iter().position(|touch| touch.contact == Some(contact));
        let symbol = self.normal_of(at.unwrap_or(0));
        self.exprs.of_symbol(symbol)
    }

    /// A function that is not negative where a condition holds.
    fn margin(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<ExprId> {
        let (function, list) = match &expr.kind {
            ExprKind::Compare(left, relation, right) => {
                let (a, b) = (self.eval_scalar(left, cx), self.eval_scalar(right, cx));
                let (a, b) = (self.exprs.at(a?), self.exprs.at(b?));
                return Ok(match relation {
                    Relation::Less | Relation::LessEqual => (b - a).id,
                    Relation::Greater | Relation::GreaterEqual => (a - b).id,
                });
            }
            ExprKind::And(list) => (Function::Min, list),
            ExprKind::Or(list) => (Function::Max, list),
            ExprKind::Missing => return Err(self.already(expr.span)),
            _ => {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::ArgumentKind,
                        expr.span,
                        "the condition of a contact is made of comparisons, and this is none",
                    )
                    .hint("write for instance `while abs(x) <= w/2`"),
                ));
            }
        };
        let mut parts = Vec::with_capacity(list.len());
        for part in list {
            parts.push(self.margin(part, cx)?);
        }
        Ok(self.exprs.call(function, &parts))
    }

    /// `impacts at-once`
    pub(super) fn impacts(&mut self, name: &tree::Name) -> Option<Impacts> {
        match &*name.text {
            "at-once" => Some(Impacts::AtOnce),
            "in-turn" => Some(Impacts::InTurn),
            other => {
                let message = format!("impacts are not taken `{other}`");
                let hint = match names::closest(other, IMPACTS.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "all that touch take part `at-once`, or those that approach `in-turn`"
                        .into(),
                };
                self.report(Diagnostic::fault(Code::RunOption, name.span, message).hint(hint));
                None
            }
        }
    }

    /// What an event by a change waits for.
    pub(super) fn change(
        &mut self,
        of: &'a Expr,
        change: &tree::Name,
        cx: Cx<'_>,
    ) -> Eval<(Touched, Change)> {
        let touched = self.touched(of, cx)?;
        let kind = match &*change.text {
            "closes" => Change::Closes,
            "opens" => Change::Opens,
            "sticks" => Change::Sticks,
            _ => Change::Slips,
        };
        let hint = match (touched, kind) {
            (Touched::Friction(_), Change::Closes | Change::Opens) => {
                "a friction `sticks` or `slips`; a contact `closes` or `opens`"
            }
            (Touched::Contact(at), Change::Sticks | Change::Slips) if !self.has_friction(at) => {
                "give the contact `friction 0.3`; without it neither happens"
            }
            _ => return Ok((touched, kind)),
        };
        let what = match touched {
            Touched::Contact(_) => "a contact without friction",
            Touched::Friction(_) => "a friction",
        };
        let message = format!("{what} never `{}`", change.text);
        Err(self.report(Diagnostic::fault(Code::ArgumentKind, change.span, message).hint(hint)))
    }

    fn has_friction(&self, contact: usize) -> bool {
        let touch = self.touches.all.iter().find(|touch| touch.contact == Some(contact));
        touch.is_some_and(|touch| field(touch.instance.statement, "friction").is_some())
    }

    /// In the resets of an event by a change of contact, N is its impulse.
    pub(super) fn with_impulses(&mut self, resets: &mut [(ExprId, ExprId)]) {
        let normals: Vec<(Symbol, usize)> = self
            .unknowns
            .iter()
            .filter_map(|&(symbol, unknown)| match unknown {
                Unknown::Touch(OfTouch::Normal(contact)) => Some((symbol, contact)),
                _ => None,
            })
            .collect();
        let used: Vec<ExprId> = resets.iter().map(|reset| reset.1).collect();
        let found: FxHashSet<Symbol> = self.exprs.symbols_of(&used).into_iter().collect();
        let mut impulses: Vec<(Symbol, ExprId)> = Vec::new();
        for (symbol, contact) in normals.into_iter().filter(|n| found.contains(&n.0)) {
            let name = self.touches.all.iter().find(|touch| touch.contact == Some(contact));
            let name = name.map(|touch| touch.name.clone()).unwrap_or_default();
            let unknown = Unknown::Touch(OfTouch::Impulse(contact));
            impulses.push((symbol, self.unknown_expr(unknown, format!("impulse({name})"))));
        }
        let replaced = self.exprs.substitute(&used, &impulses);
        for (reset, value) in resets.iter_mut().zip(replaced) {
            reset.1 = value;
        }
    }
}

/// A field of a contact.
fn field<'a>(statement: &'a Statement, name: &str) -> Option<&'a Field> {
    match &statement.kind {
        StatementKind::Contact { fields, .. } => fields.iter().find(|f| &*f.name.text == name),
        _ => None,
    }
}
