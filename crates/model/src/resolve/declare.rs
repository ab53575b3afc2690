//! Declaring: constants first, then loops unrolled and every name entered, so
//! that evaluation finds whatever stands anywhere in the file.

use super::names::{self, with_indices};
use super::*;
use crate::tree::{Family, IndexSpan, Name, StatementKind};

/// `--set` values, sorted by what they set.
#[derive(Default)]
pub(super) struct Overrides<'a> {
    /// (full name, left side, right side); used ones are marked.
    pub numbers: Vec<(String, &'a Expr, &'a Expr, bool)>,
    /// What is left over and must be start values.
    pub start: Vec<(&'a Expr, &'a Expr)>,
}

impl<'a> Resolver<'a, '_> {
    /// Declares everything in the statements of one scope.
    pub(super) fn declare(&mut self, statements: &'a [Statement], scope: ScopeId) {
        let mut pending: Vec<(&Statement, bool)> = statements.iter().map(|s| (s, false)).collect();
        while let Some((statement, in_loop)) = pending.pop() {
            self.pre_declare(statement, scope, in_loop);
            if let StatementKind::For { body, .. } = &statement.kind {
                pending.extend(body.iter().map(|s| (s, true)));
            }
        }
        if scope == ScopeId(0) {
            self.sort_overrides(self.raw_overrides);
        }
        self.note_models(statements, scope);
        for statement in statements {
            if let StatementKind::Const(list) = &statement.kind {
                for (family, value) in list {
                    if self.declare_const(family, value.as_ref(), scope).is_err() {
                        self.mark_broken(scope, &family.name);
                    }
                }
            }
        }
        self.expand(statements, scope, EnvId(0));
        self.enter_empty_families(statements, scope);
    }

    /// Overrides of constants and parameters apart from those of the start.
    fn sort_overrides(&mut self, overrides: &'a [(Expr, Expr)]) {
        for (left, right) in overrides {
            let declared = override_name(left).and_then(|(base, full)| {
                let kind = self.scopes[0].declared.get(&*base).map(|d| d.0);
                // What a part holds is known only when it is built.
                let number =
                    matches!(kind, Some(Kind::Const | Kind::Param | Kind::Part | Kind::Input));
                number.then_some(full)
            });
            match declared {
                Some(full) => self.overrides.numbers.push((full, left, right, false)),
                None => self.overrides.start.push((left, right)),
            }
        }
    }

    /// Notes the names a statement declares, without their indices.
    fn pre_declare(&mut self, statement: &'a Statement, scope: ScopeId, in_loop: bool) {
        if let (true, StatementKind::Let(list)) = (in_loop, &statement.kind) {
            let plain = list.iter().filter(|define| define.entry.indices.is_empty());
            let names = plain.map(|define| define.entry.name.text.clone());
            self.scopes[scope.0 as usize].locals.extend(names);
        }
        for (name, kind, _) in declared_names(statement) {
            let declared = &mut self.scopes[scope.0 as usize].declared;
            declared.entry(name.text.clone()).or_insert((kind, name.span));
            // What a statement of another tool defines is not reported again.
            if matches!(statement.kind, StatementKind::Foreign(_)) {
                self.mark_broken(scope, name);
            }
            // The parser has said that a constant cannot stand in a loop.
            if in_loop && kind == Kind::Const {
                self.mark_broken(scope, name);
            }
        }
    }

    /// Unrolls loops and enters names, in order, without recursion on turns.
    fn expand(&mut self, statements: &'a [Statement], scope: ScopeId, env: EnvId) {
        for statement in statements {
            if self.exhausted || self.spend(1, statement.span).is_err() {
                return;
            }
            let instance = Instance { statement, scope, env };
            match &statement.kind {
                StatementKind::For { index, range, body } => {
                    let cx = self.constant_cx(scope, env);
                    let (from, to) = (self.integer(&range.from, cx), self.integer(&range.to, cx));
                    let (Ok(from), Ok(to)) = (from, to) else {
                        self.mark_all_broken(body, scope);
                        continue;
                    };
                    if self.spare(from, to, range.from.span.to(range.to.span)).is_err() {
                        return;
                    }
                    if names::is_reserved(&index.text) {
                        let _ = self.reserved::<()>(index);
                        self.mark_all_broken(body, scope);
                        continue;
                    }
                    if to < from {
                        self.no_turn_of_loop(index, body, cx);
                    }
                    for i in from..=to {
                        if self.exhausted {
                            return;
                        }
                        let turn = EnvId(self.envs.len() as u32);
                        self.envs.push(Env {
                            parent: env,
                            index: Some((index.text.clone(), i)),
                            locals: FxHashMap::default(),
                        });
                        if self.spend(1, statement.span).is_err() {
                            return;
                        }
                        self.expand(body, scope, turn);
                    }
                }
                StatementKind::Const(_) | StatementKind::Model { .. } => {}
                _ => {
                    if self.enter(instance).is_err() {
                        for (name, ..) in declared_names(statement) {
                            self.mark_broken(scope, name);
                        }
                    }
                    self.instances.push(instance);
                }
            }
        }
    }

    fn declare_const(
        &mut self,
        family: &'a Family,
        value: Option<&'a Expr>,
        scope: ScopeId,
    ) -> Eval<()> {
        let cx = self.constant_cx(scope, EnvId(0));
        let all = self.family_indices(family, cx)?;
        let count = all.len();
        if count == 0 {
            self.set_no_entries(&family.name, scope);
            self.enter_empty(&family.name, Kind::Const, family.spans.len(), scope);
            if let Some(value) = value {
                self.names_exist(value, &mut Vec::new(), cx);
            }
        }
        for (place, indices) in all.into_iter().enumerate() {
            let full = self.full_name(scope, &family.name.text, &indices);
            let span = family.span;
            let family_name = self.full_name(scope, &family.name.text, &[]);
            let setting = self.take_setting(scope, &family.name.text, &indices);
            let (value, scope_of, env_of) = match (self.take_override(&full, &family_name), setting)
            {
                (Some(value), _) => (Some(value), ScopeId(0), EnvId(0)),
                (None, Some((value, outer, env))) => (Some(value), outer, env),
                (None, None) => (value, scope, EnvId(0)),
            };
            if value.is_none() {
                self.report(
                    Diagnostic::fault(
                        Code::ParameterWithoutValue,
                        span,
                        format!("constant `{full}` has no value"),
                    )
                    .hint(format!(
                        "give it one here, `const {full} = 5`, or with `--set {full}=5`"
                    )),
                );
            }
            let def = self.new_def(DefKind::Const { value, place, count }, scope_of, env_of, span);
            self.enter_name(&family.name, indices, Kind::Const, def, scope)?;
        }
        Ok(())
    }

    /// Calls `f` for every entry of a family.
    pub(super) fn each_entry(
        &mut self,
        family: &'a Family,
        scope: ScopeId,
        env: EnvId,
        mut f: impl FnMut(&mut Self, Indices) -> Eval<()>,
    ) -> Eval<()> {
        let cx = self.constant_cx(scope, env);
        for indices in self.family_indices(family, cx)? {
            self.spend(1, family.span)?;
            f(self, indices)?;
        }
        Ok(())
    }

    /// All index tuples of a family, in order.
    pub(super) fn family_indices(&mut self, family: &'a Family, cx: Cx<'_>) -> Eval<Vec<Indices>> {
        let mut all: Vec<Indices> = vec![Indices::new()];
        for IndexSpan { from, to } in &family.spans {
            let first = self.integer(from, cx)?;
            let last = match to {
                Some(to) => self.integer(to, cx)?,
                None => first,
            };
            let width = (last as i128 - first as i128 + 1).max(0) as u128;
            let total = width.saturating_mul(all.len() as u128).min(u64::MAX as u128) as u64;
            // Before anything is allocated.
            if self.spent.saturating_add(total) > self.limits.terms {
                self.exhaust(family.span, &format!("{} entries", group_digits(total)))?;
            }
            self.spend(total, family.span)?;
            let mut next = Vec::with_capacity(total as usize);
            for prefix in &all {
                for i in first..=last {
                    let mut indices = prefix.clone();
                    indices.push(i);
                    next.push(indices);
                }
            }
            all = next;
        }
        Ok(all)
    }

    pub(super) fn new_def(
        &mut self,
        kind: DefKind<'a>,
        scope: ScopeId,
        env: EnvId,
        span: Span,
    ) -> DefId {
        let id = DefId(self.defs.len() as u32);
        self.defs.push(Def { kind, scope, env, span, state: State::Todo });
        id
    }

    pub(super) fn full_name(&self, scope: ScopeId, name: &str, indices: &[i64]) -> String {
        format!("{}{}", self.scopes[scope.0 as usize].prefix, with_indices(name, indices))
    }

    pub(super) fn constant_cx(&self, scope: ScopeId, env: EnvId) -> Cx<'static> {
        Cx { scope, env, locals: None, constant: true }
    }

    /// The override of an entry or of its whole family, if there is one.
    pub(super) fn take_override(&mut self, full: &str, family: &str) -> Option<&'a Expr> {
        let mut found = None;
        for (name, _, value, used) in &mut self.overrides.numbers {
            if name == full || name == family {
                *used = true;
                found = Some(*value);
            }
        }
        found
    }
}

/// The names that a statement declares, what they are, and how many indices they have.
pub(super) fn declared_names(statement: &Statement) -> Vec<(&Name, Kind, usize)> {
    match &statement.kind {
        StatementKind::Param(list) => {
            list.iter().map(|(f, _)| (&f.name, Kind::Param, f.spans.len())).collect()
        }
        StatementKind::Const(list) => {
            list.iter().map(|(f, _)| (&f.name, Kind::Const, f.spans.len())).collect()
        }
        StatementKind::Coord(list) => {
            list.iter().map(|f| (&f.name, Kind::Coord, f.spans.len())).collect()
        }
        StatementKind::Let(list) => list
            .iter()
            .map(|d| {
                let kind = if d.arguments.is_some() { Kind::Function } else { Kind::Let };
                (&d.entry.name, kind, d.entry.indices.len())
            })
            .collect(),
        StatementKind::Speed(list) => {
            list.iter().map(|d| (&d.entry.name, Kind::Speed, d.entry.indices.len())).collect()
        }
        StatementKind::Output(list) => {
            list.iter().map(|d| (&d.entry.name, Kind::Output, d.entry.indices.len())).collect()
        }
        StatementKind::Input(list) => {
            list.iter().map(|(f, _)| (&f.name, Kind::Input, f.spans.len())).collect()
        }
        StatementKind::State(list) => list
            .iter()
            .map(|rate| (&rate.family.name, Kind::State, rate.family.spans.len()))
            .collect(),
        StatementKind::Table { name, .. } => vec![(name, Kind::Table, 0)],
        StatementKind::Foreign(names) => names.iter().map(|name| (name, Kind::Let, 0)).collect(),
        StatementKind::Particle { entry, .. } => {
            vec![(&entry.name, Kind::Particle, entry.indices.len())]
        }
        StatementKind::Body { entry, .. } => vec![(&entry.name, Kind::Body, entry.indices.len())],
        StatementKind::Frame { entry, .. } => vec![(&entry.name, Kind::Frame, entry.indices.len())],
        StatementKind::Joint { entry, .. } => vec![(&entry.name, Kind::Joint, entry.indices.len())],
        StatementKind::Spring { label: Some(entry), .. } => {
            vec![(&entry.name, Kind::Spring, entry.indices.len())]
        }
        StatementKind::Friction { label: Some(entry), .. } => {
            vec![(&entry.name, Kind::Friction, entry.indices.len())]
        }
        StatementKind::Contact { entry, .. } => {
            vec![(&entry.name, Kind::Contact, entry.indices.len())]
        }
        StatementKind::Part { entry, .. } => vec![(&entry.name, Kind::Part, entry.indices.len())],
        _ => Vec::new(),
    }
}

/// `m` or `m[2]` as (base, full name), for the left side of an override.
fn override_name(expr: &Expr) -> Option<(Arc<str>, String)> {
    use crate::tree::{ExprKind, PostfixKind};
    match &expr.kind {
        ExprKind::Name(name) => Some((name.clone(), name.to_string())),
        // `m[2]`, `a.m`, `a[1].m[2]`
        ExprKind::Postfix(base, operations) => {
            let ExprKind::Name(name) = &base.kind else { return None };
            let mut full = name.to_string();
            for operation in operations {
                match &operation.kind {
                    PostfixKind::Index(list) => {
                        let indices: Option<Vec<i64>> = list.iter().map(literal_integer).collect();
                        full = with_indices(&full, &indices?);
                    }
                    PostfixKind::Member(member) => full = format!("{full}.{member}"),
                    _ => return None,
                }
            }
            Some((name.clone(), full))
        }
        _ => None,
    }
}

fn literal_integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        tree::ExprKind::Number(number) => number.as_integer(),
        tree::ExprKind::Negative(inner) => literal_integer(inner).map(|n| -n),
        _ => None,
    }
}
