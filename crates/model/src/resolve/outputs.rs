//! Statements that do not enter the equations: the start, the run, further
//! outputs, events, figures, checks.

use super::names::closest;
use super::statements::STATE;
use super::value::Value;
use super::*;
use crate::system::{Action, Check, CheckAt, CheckKind, Draw, Event, Level, Observe, Run, Start};
use crate::tree::{RunOption, Shape, StartRelation, StatementKind, Trigger};

const ANY: u16 = u16::MAX;

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
    fn start_sides(
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

    /// The run statement, if any.
    pub(super) fn resolve_run(&mut self) -> Run {
        let number = |n: i64, exprs: &Exprs| exprs.integer(n).id;
        let mut run = Run {
            from: number(0, &self.exprs),
            to: number(10, &self.exprs),
            every: None,
            tolerance: None,
            method: None,
            formulation: None,
            elimination: None,
            impacts: None,
            span: None,
        };
        for instance in self.instances.clone() {
            let StatementKind::Run(options) = &instance.statement.kind else { continue };
            if instance.scope != ScopeId(0) {
                continue;
            }
            let cx = self.scope_cx(&instance);
            run.span = Some(instance.statement.span);
            for option in options {
                match option {
                    RunOption::Time(range) => {
                        let from =
                            self.settle(|r| r.plain_number(&range.from, cx, "the start time"));
                        let to = self.settle(|r| r.plain_number(&range.to, cx, "the end time"));
                        run.from = from.unwrap_or(run.from);
                        run.to = to.unwrap_or(run.to);
                    }
                    RunOption::Every(expr) => {
                        run.every = self.settle(|r| r.positive(expr, cx, "the output interval"));
                    }
                    RunOption::Tolerance(expr) => {
                        run.tolerance = self.settle(|r| r.positive(expr, cx, "the tolerance"));
                    }
                    // Chosen before anything was evaluated.
                    RunOption::Coordinates(_) => {}
                    RunOption::Impacts(name) => run.impacts = self.impacts(name),
                    RunOption::Method(name) => {
                        run.method = self.choice_of(name, self.names.methods, "method")
                    }
                    RunOption::Formulation(name) => {
                        run.formulation =
                            self.choice_of(name, self.names.formulations, "formulation");
                    }
                    RunOption::Elimination(name) => {
                        run.elimination =
                            self.choice_of(name, self.names.eliminations, "elimination");
                    }
                }
            }
        }
        run
    }

    fn plain_number(&mut self, expr: &'a Expr, cx: Cx<'_>, what: &str) -> Eval<ExprId> {
        let id = self.eval_scalar(expr, cx)?;
        self.allow(id, expr.span, role::PARAMETER, what)?;
        if let Some(found) = self.not_finite(id) {
            let code = if what.starts_with("the ") { Code::RunOption } else { Code::CheckSyntax };
            let message = format!("{what} must be a finite number, and this is {found}");
            return self.fault(code, expr.span, message);
        }
        Ok(id)
    }

    fn positive(&mut self, expr: &'a Expr, cx: Cx<'_>, what: &str) -> Eval<ExprId> {
        let id = self.plain_number(expr, cx, what)?;
        match self.parameter_value(id) {
            Some(value) if value <= 0.0 => Err(self.report(
                Diagnostic::fault(
                    Code::RunOption,
                    expr.span,
                    format!("{what} must be positive, and this is {value}"),
                )
                .hint(match what {
                    "the tolerance" => "write for instance `tol 1e-9`",
                    "the period of an event" => "write for instance `every 0.01`",
                    _ => "a run goes backwards if its end is before its start: `t = 10..0`",
                }),
            )),
            Some(value)
                if what == "the tolerance" && !crate::system::TOLERANCES.contains(&value) =>
            {
                let (least, most) = crate::system::TOLERANCES.into_inner();
                Err(self.report(
                    Diagnostic::fault(
                        Code::RunOption,
                        expr.span,
                        format!("{what} is between {least:e} and {most}, and this is {value:e}"),
                    )
                    .hint("write for instance `tol 1e-9`"),
                ))
            }
            _ => Ok(id),
        }
    }

    fn choice_of(&mut self, name: &tree::Name, known: &[&str], what: &str) -> Option<String> {
        if known.is_empty() || known.contains(&&*name.text) {
            return Some(name.text.to_string());
        }
        let mut diagnostic = Diagnostic::fault(
            Code::RunOption,
            name.span,
            format!("there is no {what} named `{}`", name.text),
        );
        diagnostic = match closest(&name.text, known.iter().copied()) {
            Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
            None => diagnostic.hint(format!("the {what}s are {}", known.join(", "))),
        };
        self.report(diagnostic);
        None
    }

    /// Further outputs.
    pub(super) fn resolve_observes(
        &mut self,
        sources: &Sources,
        outputs: &[Observe],
    ) -> Vec<Observe> {
        let mut observes = outputs.to_vec();
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        for instance in self.instances.clone() {
            let StatementKind::Observe(list) = &instance.statement.kind else { continue };
            let cx = self.scope_cx(&instance);
            for item in list {
                let found = self.settle(|r| {
                    let indices = match &item.entry {
                        Some(entry) => r.indices(&entry.indices, cx)?,
                        None => Indices::new(),
                    };
                    Ok((r.eval(&item.value, cx)?, indices))
                });
                let Some((value, indices)) = found else { continue };
                let base = match &item.entry {
                    Some(entry) => {
                        let full = self.full_name(instance.scope, &entry.name.text, &indices);
                        if self.output_name(entry, &full, &mut names).is_err() {
                            continue;
                        }
                        full
                    }
                    None => {
                        let prefix = &self.scopes[instance.scope.0 as usize].prefix;
                        format!("{prefix}{}", squeeze(sources.snippet(item.value.span)))
                    }
                };
                observes.extend(self.observed(&base, &value, item.value.span));
            }
        }
        self.distinct_outputs(observes)
    }

    /// The components of a value as outputs.
    pub(super) fn observed(&mut self, base: &str, value: &Value, span: Span) -> Vec<Observe> {
        let columns = value.shape().get(1).copied();
        let mut list = Vec::with_capacity(value.components().len());
        for (at, &id) in value.components().iter().enumerate() {
            let name = match (value.scalar(), columns) {
                (Some(_), _) => base.to_owned(),
                (None, None) => format!("{base}[{}]", at + 1),
                (None, Some(c)) => format!("{base}[{},{}]", at / c + 1, at % c + 1),
            };
            list.push(Observe { name, value: self.normalize(id), span });
        }
        list
    }

    /// Outputs by their final names: what is asked for twice stands once, and
    /// two different ones may not share a name.
    fn distinct_outputs(&mut self, observes: Vec<Observe>) -> Vec<Observe> {
        let mut kept: Vec<Observe> = Vec::with_capacity(observes.len());
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        for observe in observes {
            match places.get(&observe.name) {
                None => {
                    places.insert(observe.name.clone(), kept.len());
                    kept.push(observe);
                }
                Some(&at) if kept[at].value == observe.value => {}
                Some(&at) => {
                    let first = kept[at].span;
                    let _ = self.defined_twice::<()>(&observe.name, observe.span, first);
                }
            }
        }
        kept
    }

    /// Faults an output that is called like another one, or like something else.
    fn output_name(
        &mut self,
        entry: &'a tree::Entry,
        full: &str,
        names: &mut FxHashMap<String, Span>,
    ) -> Eval<()> {
        let name = &entry.name.text;
        if super::names::is_reserved(name) {
            return self.reserved(&entry.name);
        }
        let declared = self.scopes[0].declared.get(name).copied();
        if let Some((kind, at)) = declared.filter(|_| !self.scopes[0].locals.contains(name)) {
            let what = super::names::a_kind(kind);
            let message = format!("`{name}` is defined twice, as {what} and as an output");
            return Err(self.report(
                Diagnostic::fault(Code::DefinedTwice, entry.span, message)
                    .with(at, "the other definition")
                    .hint(format!("rename the output, or write `observe {name}` without the `=`")),
            ));
        }
        match names.insert(full.to_owned(), entry.span) {
            Some(before) => self.defined_twice(full, entry.span, before),
            None => Ok(()),
        }
    }

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

    /// Figures.
    pub(super) fn resolve_draws(&mut self) -> Vec<Draw> {
        let mut draws = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Draw(shape, list) = &instance.statement.kind else { continue };
            let cx = self.scope_cx(&instance);
            let span = instance.statement.span;
            if let Some(mut draw) = self.settle(|r| r.draw(*shape, list, span, cx)) {
                for point in &mut draw.points {
                    *point = self.normalize_all(point);
                }
                draw.radius = draw.radius.map(|r| self.normalize(r));
                draw.axis = draw.axis.map(|axis| self.normalize_all(&axis));
                draws.push(draw);
            }
        }
        draws
    }

    fn draw(&mut self, shape: Shape, list: &'a [Expr], span: Span, cx: Cx<'_>) -> Eval<Draw> {
        let mut draw = Draw { shape, points: Vec::new(), radius: None, axis: None, span };
        if shape == Shape::Circle {
            if list.len() < 2 || list.len() > 3 {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        span,
                        "a circle needs its center and its radius",
                    )
                    .hint("`draw circle C, r`, in space `draw circle C, r, axis`"),
                ));
            }
            draw.points = self.points(&list[0], cx)?;
            draw.radius = Some(self.eval_scalar(&list[1], cx)?);
            if let Some(axis) = list.get(2) {
                draw.axis = self.points(axis, cx)?.into_iter().next();
            }
            let dimension = draw.points.first().map_or(0, Vec::len);
            if (dimension == 3) != draw.axis.as_ref().is_some_and(|a| a.len() == 3)
                || draw.points.len() != 1
            {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        span,
                        "in space a circle takes its axis third, in the plane it has none",
                    )
                    .hint("`draw circle C, r`, in space `draw circle C, r, axis`"),
                ));
            }
            return Ok(draw);
        }
        for expr in list {
            draw.points.extend(self.points(expr, cx)?);
        }
        let dimension = draw.points.first().map_or(0, Vec::len);
        if draw.points.iter().any(|p| p.len() != dimension) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::DrawShape,
                    span,
                    "points of the plane and of space are mixed here",
                )
                .hint("give all points two components, or all three"),
            ));
        }
        if shape == Shape::Line && draw.points.len() < 2 {
            return Err(self.report(
                Diagnostic::fault(Code::DrawShape, span, "a line needs two points or more")
                    .hint("write `draw line [0, 0], r`; a single point is `draw point r`"),
            ));
        }
        Ok(draw)
    }

    /// A point, or a list of points (the rows of a matrix).
    fn points(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Vec<Vec<ExprId>>> {
        let value = self.eval(expr, cx)?;
        match &value {
            Value::Vector(data) if (2..=3).contains(&data.len()) => Ok(vec![data.to_vec()]),
            Value::Matrix { columns, data, .. } if (2..=3).contains(columns) => {
                Ok(data.chunks(*columns).map(<[ExprId]>::to_vec).collect())
            }
            other => {
                let found = other.describe();
                Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        expr.span,
                        format!("a point has two or three components, and this is {found}"),
                    )
                    .hint("write a point as `[x, y]` or `[x, y, z]`"),
                ))
            }
        }
    }

    /// The lines of ```check blocks.
    pub(super) fn resolve_checks(&mut self, checks: &'a [tree::Check]) -> Vec<Check> {
        let cx = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
        let mut resolved = Vec::new();
        for check in checks {
            if let Some(kind) = self.settle(|r| r.check(&check.kind, cx)) {
                resolved.push(Check { kind, span: check.span });
            }
        }
        resolved
    }

    fn check(&mut self, kind: &'a tree::CheckKind, cx: Cx<'_>) -> Eval<CheckKind> {
        let within = |r: &mut Self, expr: &'a Option<Expr>| match expr {
            Some(expr) => r.plain_number(expr, cx, "a tolerance").map(Some),
            None => Ok(None),
        };
        Ok(match kind {
            tree::CheckKind::Equal { left, right, within: tolerance, at } => {
                let (a, b) = (self.eval(left, cx), self.eval(right, cx));
                let (a, mut b) = (a?, b?);
                if let (Some(id), None) = (b.scalar(), a.scalar()) {
                    b = a.map(|_| id);
                }
                if a.shape() != b.shape() {
                    let message = format!("{} is compared with {}", a.describe(), b.describe());
                    return Err(self.report(
                        Diagnostic::fault(Code::Shape, right.span, message)
                            .at(b.describe())
                            .with(left.span, a.describe()),
                    ));
                }
                let at = self.check_at(at, cx)?;
                CheckKind::Equal {
                    left: self.normalize_all(a.components()),
                    right: self.normalize_all(b.components()),
                    within: within(self, tolerance)?,
                    at,
                }
            }
            tree::CheckKind::Agree { within: tolerance } => {
                CheckKind::Agree { within: within(self, tolerance)? }
            }
            tree::CheckKind::Conserve { value, within: tolerance } => {
                let id = self.eval_scalar(value, cx)?;
                self.allow(id, value.span, ANY, "`conserve`")?;
                CheckKind::Conserve { value: self.normalize(id), within: within(self, tolerance)? }
            }
            tree::CheckKind::Verdict(name) => {
                const MOTIONS: &[&str] =
                    &["unique", "gauge-free", "hidden-constraint", "inconsistent"];
                if !MOTIONS.contains(&&*name.text) {
                    let message = format!("`{}` is no verdict on a motion", name.text);
                    return Err(self.report(
                        Diagnostic::fault(Code::CheckSyntax, name.span, message)
                            .hint(format!("the verdicts are {}", MOTIONS.join(", "))),
                    ));
                }
                CheckKind::Verdict(name.text.to_string())
            }
            tree::CheckKind::Analyze { field, value } => {
                CheckKind::Analyze { field: field.clone(), value: value.clone() }
            }
            tree::CheckKind::Linearize { field, value, word, within: tolerance } => {
                let values = match value {
                    Some(value) => {
                        let found = self.eval(value, cx)?;
                        let found = found.components().to_vec();
                        for &id in &found {
                            self.allow(id, value.span, role::PARAMETER, "`linearize`")?;
                        }
                        Some(self.normalize_all(&found))
                    }
                    None => None,
                };
                let (field, word) = (field.clone(), word.clone());
                CheckKind::Linearize { field, values, word, within: within(self, tolerance)? }
            }
            tree::CheckKind::Fault(name) => CheckKind::Fault(name.text.to_string()),
            tree::CheckKind::Warning(name) => CheckKind::Warning(name.text.to_string()),
        })
    }

    /// Faults what cannot be given a value in a state.
    fn known_quantity(&mut self, left: &'a Expr, cx: Cx<'_>) -> Eval<()> {
        let value = self.eval(left, cx)?;
        let is_known = value.components().iter().all(|&id| {
            let role = self.exprs.as_symbol(id).map_or(0, |symbol| self.role(symbol));
            role & (role::POSITION | role::VELOCITY | role::MOMENTUM | role::STATE) != 0
        });
        if is_known {
            return Ok(());
        }
        let message = "a state is given by coordinates, velocities or momenta, states, and `t`";
        Err(self.report(
            Diagnostic::fault(Code::CheckSyntax, left.span, message)
                .hint("write for instance `at x = 0.5, x' = 1, t = 0`"),
        ))
    }

    fn check_at(&mut self, at: &'a tree::CheckAt, cx: Cx<'_>) -> Eval<CheckAt> {
        Ok(match at {
            tree::CheckAt::Anywhere => CheckAt::Anywhere,
            tree::CheckAt::Start => CheckAt::Start,
            tree::CheckAt::End => CheckAt::End,
            tree::CheckAt::Time(expr) => CheckAt::Time(self.plain_number(expr, cx, "a time")?),
            tree::CheckAt::State(list) => CheckAt::State(self.state_items(list, cx)?),
        })
    }

    /// The state that was asked for beside the model.
    pub(super) fn resolve_state(&mut self, list: &'a [(Expr, Expr)]) -> Vec<(ExprId, ExprId)> {
        let cx = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
        self.settle(|r| r.state_items(list, cx)).unwrap_or_default()
    }

    /// Quantities of a state and their values.
    fn state_items(&mut self, list: &'a [(Expr, Expr)], cx: Cx<'_>) -> Eval<Vec<(ExprId, ExprId)>> {
        let mut state = Vec::new();
        let mut places: FxHashMap<ExprId, Span> = FxHashMap::default();
        for (left, right) in list {
            // `t = 0` is part of a state, though no guess.
            let is_time = matches!(&left.kind, tree::ExprKind::Name(name) if &**name == "t");
            let (a, b) = if is_time {
                let (a, b) = (self.eval(left, cx), self.plain_number(right, cx, "a time"));
                (a?, Value::Scalar(b?))
            } else {
                self.known_quantity(left, cx)?;
                self.start_sides(left, right, StartRelation::Near, cx)?
            };
            for (&a, &b) in a.components().iter().zip(b.components()) {
                if let Some(before) = places.insert(a, left.span) {
                    let name = self.exprs.to_source(a);
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::DefinedTwice,
                            left.span,
                            format!("`{name}` is given twice"),
                        )
                        .with(before, "the first time"),
                    ));
                }
                state.push((a, b));
            }
        }
        Ok(state)
    }
}

/// The text with white space squeezed to single blanks.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
