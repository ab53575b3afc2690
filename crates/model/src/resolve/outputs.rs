//! Statements that do not enter the equations: the run, further outputs, checks.

use super::names::closest;
use super::value::Value;
use super::*;
use crate::system::{Check, CheckAt, CheckKind, Observe, Run};
use crate::tree::{RunOption, StartRelation, StatementKind};

const ANY: u16 = u16::MAX;

impl<'a> Resolver<'a, '_> {
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

    pub(super) fn positive(&mut self, expr: &'a Expr, cx: Cx<'_>, what: &str) -> Eval<ExprId> {
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
