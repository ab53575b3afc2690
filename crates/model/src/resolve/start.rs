//! What is known of the start, from the text and from beside it.

use super::names::closest;
use super::statements::STATE;
use super::value::Value;
use super::*;
use crate::system::{Level, Start};
use crate::tree::{StartRelation, StatementKind};

const SETTABLE: &str =
    "parameters, constants and start values can be set: `m=2`, `k[3]=1`, `th[2]'=0`";

impl<'a> Resolver<'a, '_> {
    /// The start, with overrides put in.
    pub(super) fn resolve_start(&mut self, sources: &Sources) -> Vec<Start> {
        let mut items: Vec<(ExprId, Start)> = Vec::new();
        // What a part says of its start holds unless a model around it gives
        // the same left side.
        let mut outermost: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut depths: Vec<usize> = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Start(list) = &instance.statement.kind else { continue };
            let depth = self.depth_of(instance.scope);
            for item in list {
                let cx = self.scope_cx(&instance);
                if let Some(new) = self.settle(|r| r.start_item(item, cx)) {
                    let rows = self.start_rows(new, item.relation, item.left.span, sources);
                    for (left, _) in &rows {
                        let least = outermost.entry(*left).or_insert(depth);
                        *least = depth.min(*least);
                        depths.push(depth);
                    }
                    items.extend(rows);
                }
            }
        }
        let mut at = 0;
        items.retain(|(left, _)| {
            at += 1;
            outermost.get(left) == Some(&depths[at - 1])
        });
        let mut overridden: Vec<(ExprId, Start)> = Vec::new();
        for (left, right) in std::mem::take(&mut self.overrides.start) {
            let cx = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
            if !self.override_known(left) {
                continue;
            }
            let pair = self.settle(|r| {
                r.overridable(left, sources, cx)?;
                r.start_sides(left, right, StartRelation::Equals, cx)
            });
            if let Some(new) = pair {
                overridden.extend(self.start_rows(new, StartRelation::Equals, left.span, sources));
            }
        }
        let replaced: rustc_hash::FxHashSet<ExprId> = overridden.iter().map(|o| o.0).collect();
        items.retain(|(left, _)| !replaced.contains(left));
        items.extend(overridden);
        self.note_guesses(&items);
        // A guess for a joint coordinate that is none has gone down the tree.
        items.retain(|(left, start)| {
            start.relation == StartRelation::Equals || self.exprs.as_symbol(*left).is_some()
        });
        let given: rustc_hash::FxHashSet<ExprId> = items.iter().map(|item| item.0).collect();
        let more = self.machine_guesses();
        items.extend(more.into_iter().filter(|(left, _)| !given.contains(left)));
        self.check_guess_kinds(&items);
        items.into_iter().map(|(_, start)| start).collect()
    }

    /// `b.rotation = R` of a free body gives its quaternion.
    fn quaternion_start(&mut self, left: Value, right: Value) -> (Value, Value) {
        let known = role::PARAMETER | role::TIME;
        let Some(e) = self.machine.rotations.get(left.components()).cloned() else {
            return (left, right);
        };
        if right.components().iter().any(|&id| self.mask(id) & !known != 0) {
            return (left, right);
        }
        let values = super::rigid::quaternion_of(&self.exprs, right.components());
        (Value::vector(e), Value::vector(values.to_vec()))
    }

    /// Remembers what is known of coordinates at the start, for guesses that go down a tree.
    fn note_guesses(&mut self, items: &[(ExprId, Start)]) {
        for (left, start) in items {
            let symbol = self.machine.shadow_of.get(left).copied();
            let Some(symbol) = symbol.or_else(|| self.exprs.as_symbol(*left)) else { continue };
            let known = role::PARAMETER | role::TIME;
            let turned = self.machine.given.get(&start.left).copied();
            let given = turned.unwrap_or(start.right);
            if self.mask(given) & !known == 0 {
                self.machine.guesses.insert(symbol, given);
            }
        }
    }

    /// How many parts a scope is inside of.
    fn depth_of(&self, scope: ScopeId) -> usize {
        std::iter::successors(Some(scope), |s| self.scopes[s.0 as usize].parent).count()
    }

    /// Whether the left side of an override begins with something that exists.
    fn override_known(&mut self, left: &Expr) -> bool {
        let name = match &left.kind {
            tree::ExprKind::Name(name) => name,
            tree::ExprKind::Postfix(base, _) => match &base.kind {
                tree::ExprKind::Name(name) => name,
                _ => return true,
            },
            tree::ExprKind::Missing => return false,
            _ => return true,
        };
        let scope = &self.scopes[0];
        if scope.declared.contains_key(name)
            || self.momentum_of(name, ScopeId(0)).is_some()
            || &**name == "t"
        {
            return true;
        }
        let names: Vec<&str> = scope.declared.keys().map(|k| &**k).collect();
        let mut diagnostic = Diagnostic::fault(
            Code::UnknownOverride,
            left.span,
            format!("the model has no `{name}` to set"),
        );
        if let Some(meant) = closest(name, names.into_iter()) {
            diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
        } else {
            diagnostic = diagnostic.hint(SETTABLE);
            let inputs: Vec<String> =
                self.parts.inputs.iter().take(6).map(|u| format!("`{}`", u.name)).collect();
            if !inputs.is_empty() {
                diagnostic = diagnostic.hint(format!("its inputs are {}", inputs.join(", ")));
            }
        }
        self.report(diagnostic);
        false
    }

    /// Faults an override of what is neither a number of the model nor a part of
    /// its state.
    fn overridable(&mut self, left: &'a Expr, sources: &Sources, cx: Cx<'_>) -> Eval<()> {
        const OF_STATE: u16 =
            role::POSITION | role::VELOCITY | role::MOMENTUM | role::ACCELERATION | role::STATE;
        let value = self.eval(left, cx)?;
        if value.components().iter().any(|&id| self.mask(id) & OF_STATE != 0) {
            return Ok(());
        }
        let message = format!("`{}` cannot be set", sources.snippet(left.span).trim());
        Err(self
            .report(Diagnostic::fault(Code::UnknownOverride, left.span, message).hint(SETTABLE)))
    }

    fn start_item(&mut self, item: &'a tree::StartItem, cx: Cx<'_>) -> Eval<(Value, Value)> {
        self.start_sides(&item.left, &item.right, item.relation, cx)
    }

    /// Both sides of a start item, of equal shape.
    pub(super) fn start_sides(
        &mut self,
        left: &'a Expr,
        right: &'a Expr,
        relation: StartRelation,
        cx: Cx<'_>,
    ) -> Eval<(Value, Value)> {
        let (a, b) = (self.eval(left, cx), self.eval(right, cx));
        let (a, mut b) = (a?, b?);
        if a.shape() != b.shape() {
            // One value for all entries of a family.
            match b.scalar() {
                Some(id) => b = a.map(|_| id),
                None => {
                    let message = format!("{} cannot start as {}", a.describe(), b.describe());
                    return Err(self.report(
                        Diagnostic::fault(Code::Shape, right.span, message)
                            .at(b.describe())
                            .with(left.span, a.describe())
                            .hint("both sides need the same shape, or one scalar for all"),
                    ));
                }
            }
        }
        for (value, span) in [(&a, left.span), (&b, right.span)] {
            for &id in value.components() {
                self.allow(id, span, STATE, "`start`")?;
            }
        }
        for &id in b.components() {
            if let Some(found) = self.not_finite(id) {
                let message = format!("a start is finite, and this is {found}");
                return self.fault(Code::NotANumber, right.span, message);
            }
        }
        for &id in a.components() {
            let is_state =
                |r: u16| r & (role::POSITION | role::VELOCITY | role::MOMENTUM | role::STATE) != 0;
            let symbol = self.exprs.as_symbol(id).filter(|&s| is_state(self.role(s)));
            let stands_for = self.machine.shadow_of.contains_key(&id);
            if relation == StartRelation::Near && symbol.is_none() && !stands_for {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::StartGuess,
                        left.span,
                        "a guess is for a coordinate, a velocity or a momentum",
                    )
                    .hint("write `=` for an equation that must hold at the start; a speed is not guessed, but the velocities it is made of"),
                ));
            }
            if relation == StartRelation::Near {
                let known = role::PARAMETER | role::TIME | role::INPUT;
                if b.components().iter().any(|&r| self.mask(r) & !known != 0) {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::StartGuess,
                            right.span,
                            "a guess is a number, and this depends on the state",
                        )
                        .hint("write `=` for an equation between quantities of the state"),
                    ));
                }
            }
            let mask = self.mask(id);
            if !is_state(mask) {
                let from_right = b.components().iter().any(|&r| is_state(self.mask(r)));
                if !from_right {
                    return Err(self.report(
                        Diagnostic::fault(Code::NotAllowedHere, left.span, "nothing in this start equation moves")
                            .hint("a start equation is about coordinates, velocities or momenta; parameters get their values with `param`"),
                    ));
                }
            }
        }
        Ok((a, b))
    }

    fn start_rows(
        &mut self,
        (left, right): (Value, Value),
        relation: StartRelation,
        span: Span,
        sources: &Sources,
    ) -> Vec<(ExprId, Start)> {
        let text = sources.snippet(span).trim().to_owned();
        let mut rows = Vec::new();
        let (left, right) = self.quaternion_start(left, right);
        for (&a, &b) in left.components().iter().zip(right.components()) {
            let guess = match relation {
                StartRelation::Near => self.exprs.as_symbol(a),
                StartRelation::Equals => None,
            };
            let text = match self.exprs.as_symbol(a) {
                Some(symbol) => self.exprs.symbol_info(symbol).full_name(),
                None => text.clone(),
            };
            let (mut na, mut nb) = (self.normalize(a), self.normalize(b));
            // The angle of a joint that closes, whatever the turn: sin of the difference is 0.
            if let (StartRelation::Equals, Some(&(sine, cosine))) =
                (relation, self.machine.angles.get(&a))
            {
                use dalembert_expr::Function::{Cos, Sin};
                let exprs = &self.exprs;
                let (s, c) = (exprs.call(Sin, &[nb]), exprs.call(Cos, &[nb]));
                let across = exprs.at(sine) * exprs.at(c) - exprs.at(cosine) * exprs.at(s);
                self.machine.given.insert(across.id, nb);
                (na, nb) = (across.id, ExprId::ZERO);
            }
            // A momentum or velocity makes it velocity level even where the
            // other description would not show it.
            let moving = role::VELOCITY | role::MOMENTUM;
            let level =
                if (self.mask(a) | self.mask(b) | self.mask(na) | self.mask(nb)) & moving != 0 {
                    Level::Velocity
                } else {
                    Level::Position
                };
            rows.push((a, Start { level, relation, left: na, right: nb, text, guess, span }));
        }
        rows
    }

    fn check_guess_kinds(&mut self, items: &[(ExprId, Start)]) {
        let of = |r: &Self, wanted: u16| {
            items
                .iter()
                .find(|(_, s)| s.guess.is_some_and(|g| r.role(g) == wanted))
                .map(|(_, s)| s.span)
        };
        if let (Some(velocity), Some(momentum)) =
            (of(self, role::VELOCITY), of(self, role::MOMENTUM))
        {
            self.report(
                Diagnostic::fault(
                    Code::StartMixed,
                    momentum,
                    "this model has guesses for velocities and for momenta",
                )
                .at("a momentum")
                .with(velocity, "a velocity")
                .hint("guess one kind only; equations with `=` may use both"),
            );
        }
    }
}
