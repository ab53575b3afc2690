//! Declaring: constants first, then loops unrolled and every name entered, so
//! that evaluation finds whatever stands anywhere in the file.

use super::names::{self, LabelInfo, a_kind, with_indices};
use super::*;
use crate::tree::{Define, Entry, Family, IndexSpan, Name, StatementKind};
use dalembert_expr::SymbolKind;

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
                let number = matches!(kind, Some(Kind::Const | Kind::Param | Kind::Part));
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

    /// Enters the names of one statement.
    fn enter(&mut self, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        match &statement.kind {
            StatementKind::Param(list) => {
                for (family, value) in list {
                    let cx = self.constant_cx(scope, env);
                    let Ok(all) = self.family_indices(family, cx) else {
                        self.mark_broken(scope, &family.name);
                        continue;
                    };
                    let count = all.len();
                    if count == 0 {
                        self.set_no_entries(&family.name, scope);
                    }
                    for (place, indices) in all.into_iter().enumerate() {
                        let at = (place, count);
                        if self
                            .enter_param(&family.name, indices, value.as_ref(), at, instance)
                            .is_err()
                        {
                            self.mark_broken(scope, &family.name);
                            break;
                        }
                    }
                }
            }
            StatementKind::Coord(list) => {
                for family in list {
                    let entered = self.each_entry(family, scope, env, |r, indices| {
                        r.enter_coord(&family.name, indices, scope, env)
                    });
                    if entered.is_err() {
                        self.mark_broken(scope, &family.name);
                    }
                }
            }
            StatementKind::Let(list) => {
                for define in list {
                    if self.enter_define(define, Kind::Let, scope, env).is_err() {
                        self.mark_broken(scope, &define.entry.name);
                    }
                }
            }
            StatementKind::Speed(list) => {
                for define in list {
                    if self.enter_define(define, Kind::Speed, scope, env).is_err() {
                        self.mark_broken(scope, &define.entry.name);
                    }
                }
            }
            StatementKind::Constraint { label, left, right } => {
                return self.enter_constraint(label.as_ref(), left, right, instance);
            }
            StatementKind::Event { label, .. } => {
                let indices = self.indices(&label.indices, self.constant_cx(scope, env))?;
                self.enter_label(&label.name, indices, true, 0, scope)?;
            }
            StatementKind::Particle { entry, fields } => {
                return self.enter_body(entry, fields, false, instance);
            }
            StatementKind::Body { entry, fields } => {
                return self.enter_body(entry, fields, true, instance);
            }
            StatementKind::Part { entry, source, settings } => {
                return self.enter_part(entry, source, settings, instance);
            }
            StatementKind::Gravity(value) => {
                let this = &mut self.scopes[scope.0 as usize];
                if let Some((first, _)) = this.gravity {
                    let first = first.span;
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::OnceOnly,
                            statement.keyword,
                            "a model has one `gravity` statement at most",
                        )
                        .with(first, "the first one")
                        .hint("keep one of them"),
                    ));
                }
                this.gravity = Some((value, env));
            }
            _ => {}
        }
        Ok(())
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
    fn each_entry(
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

    fn enter_param(
        &mut self,
        name: &'a Name,
        indices: Indices,
        default: Option<&'a Expr>,
        (place, count): (usize, usize),
        Instance { scope, env, .. }: Instance<'a>,
    ) -> Eval<()> {
        let full = self.full_name(scope, &name.text, &indices);
        let family = self.full_name(scope, &name.text, &[]);
        let setting = self.take_setting(scope, &name.text, &indices);
        let overridden = self.take_override(&full, &family).is_some();
        // In a part, a value that no setting replaces may still depend on one
        // that moves, so it is treated alike.
        let own = default.filter(|_| scope != ScopeId(0)).map(|value| (value, scope, env));
        if let (Some((value, outer, outer_env)), false) = (setting.or(own), overridden) {
            let kind = DefKind::Setting { value, own: setting.is_none(), place, count };
            let def = self.new_def(kind, outer, outer_env, name.span);
            self.setting_names.insert(def, full);
            return self.enter_name(name, indices, Kind::Param, def, scope);
        }
        let symbol = self.exprs.symbol(&full, SymbolKind::Constant);
        let index = self.parts.parameters.len();
        let def = self.new_def(DefKind::Param(index), scope, env, name.span);
        self.enter_name(name, indices, Kind::Param, def, scope)?;
        self.set_role(symbol, role::PARAMETER);
        self.parts.parameters.push(crate::system::Parameter {
            name: full,
            symbol,
            value: None,
            span: name.span,
        });
        self.defs[def.0 as usize].state = State::Done(Value::Scalar(self.exprs.of_symbol(symbol)));
        Ok(())
    }

    fn enter_coord(
        &mut self,
        name: &'a Name,
        indices: Indices,
        scope: ScopeId,
        env: EnvId,
    ) -> Eval<()> {
        let full = self.full_name(scope, &name.text, &indices);
        let index = self.parts.coordinates.len();
        let def = self.new_def(DefKind::Coord(index), scope, env, name.span);
        self.enter_name(name, indices.clone(), Kind::Coord, def, scope)?;
        let position = self.exprs.symbol(&full, SymbolKind::Variable);
        let momentum_name = format!(
            "{}p_{}",
            self.scopes[scope.0 as usize].prefix,
            with_indices(&name.text, &indices)
        );
        let momentum = self.exprs.symbol(&momentum_name, SymbolKind::Variable);
        let rate = |symbol: Symbol| self.exprs.rate(symbol).unwrap_or(symbol);
        let velocity = rate(position);
        let acceleration = rate(velocity);
        let momentum_rate = rate(momentum);
        for (symbol, role) in [
            (position, role::POSITION),
            (velocity, role::VELOCITY),
            (acceleration, role::ACCELERATION),
            (momentum, role::MOMENTUM),
            (momentum_rate, role::MOMENTUM_RATE),
        ] {
            self.set_role(symbol, role);
        }
        self.parts.coordinates.push(crate::system::Coordinate {
            name: full,
            position,
            velocity,
            acceleration,
            momentum,
            momentum_rate,
            span: name.span,
        });
        self.defs[def.0 as usize].state =
            State::Done(Value::Scalar(self.exprs.of_symbol(position)));
        Ok(())
    }

    fn enter_define(
        &mut self,
        define: &'a Define,
        kind: Kind,
        scope: ScopeId,
        env: EnvId,
    ) -> Eval<()> {
        let entry = &define.entry;
        let (kind, def_kind) = match &define.arguments {
            Some(_) => (Kind::Function, DefKind::Function(define)),
            None => (kind, DefKind::Let(&define.value)),
        };
        let arguments = define.arguments.as_deref().unwrap_or(&[]);
        for (at, argument) in arguments.iter().enumerate() {
            if &*argument.text == "t" {
                let name = &entry.name.text;
                return Err(self.report(
                    Diagnostic::fault(Code::ReservedName, argument.span, "`t` is time")
                        .hint(format!("what depends on time is a plain `let {name} = …`")),
                ));
            }
            if names::is_reserved(&argument.text) {
                return self.reserved(argument);
            }
            if let Some(first) = arguments[..at].iter().find(|other| other.text == argument.text) {
                return self.defined_twice(&argument.text, argument.span, first.span);
            }
        }
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        // In a loop, a name without index belongs to the turn.
        if env != EnvId(0) && indices.is_empty() && kind != Kind::Speed {
            if names::is_reserved(&entry.name.text) {
                return self.reserved(&entry.name);
            }
            let turn = &self.envs[env.0 as usize];
            if turn.index.as_ref().is_some_and(|(index, _)| *index == entry.name.text) {
                let message = format!("`{}` is the index of this loop", entry.name.text);
                return Err(self.report(
                    Diagnostic::fault(Code::DefinedTwice, entry.span, message)
                        .hint("choose another name"),
                ));
            }
            let def = self.new_def(def_kind, scope, env, entry.span);
            let old = self.envs[env.0 as usize].locals.insert(entry.name.text.clone(), def);
            if let Some(old) = old {
                let before = self.defs[old.0 as usize].span;
                return self.defined_twice(&entry.name.text, entry.span, before);
            }
            return Ok(());
        }
        let def = self.new_def(def_kind, scope, env, entry.span);
        self.enter_name(&entry.name, indices, kind, def, scope)
    }

    fn enter_constraint(
        &mut self,
        label: Option<&'a Entry>,
        left: &'a Expr,
        right: &'a Expr,
        instance: Instance<'a>,
    ) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let number = self.constraint_rows.len();
        let def = self.new_def(DefKind::Row { left, right }, scope, env, statement.span);
        let (name, indexed) = match label {
            Some(entry) => {
                let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
                self.enter_label(&entry.name, indices.clone(), false, number, scope)?;
                (self.full_name(scope, &entry.name.text, &indices), !indices.is_empty())
            }
            None => {
                let this = &self.scopes[scope.0 as usize];
                (format!("{}c{}", this.prefix, this.n_constraints + 1), false)
            }
        };
        self.scopes[scope.0 as usize].n_constraints += 1;
        self.constraint_rows.push(ConstraintGroup {
            def,
            label: name,
            indexed,
            unnamed: label.is_none().then_some(scope),
            span: statement.span,
        });
        Ok(())
    }

    /// Enters a label of a constraint or event; both share one space.
    fn enter_label(
        &mut self,
        name: &'a Name,
        indices: Indices,
        is_event: bool,
        number: usize,
        scope: ScopeId,
    ) -> Eval<()> {
        let info =
            self.scopes[scope.0 as usize].labels.entry(name.text.clone()).or_insert_with(|| {
                LabelInfo { span: name.span, is_event, plain: None, entries: FxHashMap::default() }
            });
        let first = info.span;
        let clash = if indices.is_empty() {
            let clash = info.plain.is_some() || !info.entries.is_empty();
            info.plain.get_or_insert(number);
            clash
        } else {
            info.plain.is_some() || info.entries.insert(indices.clone(), number).is_some()
        };
        if clash || info.is_event != is_event {
            let shown = with_indices(&name.text, &indices);
            return self.defined_twice(&shown, name.span, first);
        }
        Ok(())
    }

    fn enter_body(
        &mut self,
        entry: &'a Entry,
        fields: &'a [tree::Field],
        is_body: bool,
        instance: Instance<'a>,
    ) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let def = self.new_def(DefKind::Body { fields, is_body }, scope, env, entry.span);
        self.body_defs.insert((statement.span, scope, env), def);
        let kind = if is_body { Kind::Body } else { Kind::Particle };
        self.enter_name(&entry.name, indices, kind, def, scope)
    }

    /// Enters a name or an entry of a family.
    pub(super) fn enter_name(
        &mut self,
        name: &Name,
        indices: Indices,
        kind: Kind,
        def: DefId,
        scope: ScopeId,
    ) -> Eval<()> {
        self.may_be_named(name, scope)?;
        let here = self.defs[def.0 as usize].span;
        let table = &mut self.scopes[scope.0 as usize];
        let info = table.names.entry(name.text.clone()).or_insert_with(|| NameInfo {
            kind,
            span: name.span,
            plain: None,
            arity: indices.len(),
            entries: FxHashMap::default(),
            sorted: None,
        });
        let (first, first_kind) = (info.span, info.kind);
        if first_kind != kind {
            let message = format!(
                "`{}` is defined twice, as {} and as {}",
                name.text,
                a_kind(first_kind),
                a_kind(kind)
            );
            return Err(self.report(
                Diagnostic::fault(Code::DefinedTwice, name.span, message)
                    .with(first, "the other definition")
                    .hint("rename one of them"),
            ));
        }
        let mixed =
            if indices.is_empty() { !info.entries.is_empty() } else { info.plain.is_some() };
        if mixed {
            let message = format!("`{}` is defined twice, with and without indices", name.text);
            return Err(self.report(
                Diagnostic::fault(Code::DefinedTwice, here, message)
                    .with(first, "the other definition")
                    .hint("rename one of them"),
            ));
        }
        if indices.is_empty() {
            if info.plain.is_some() {
                return self.defined_twice(&name.text, here, first);
            }
            info.plain = Some(def);
            return Ok(());
        }
        if info.arity != indices.len() {
            let message = format!(
                "`{}` has {} here and {} elsewhere",
                name.text,
                count_indices(indices.len()),
                count_indices(info.arity)
            );
            return Err(self.report(
                Diagnostic::fault(Code::IndexCount, name.span, message)
                    .with(first, "first used here"),
            ));
        }
        // The first definition stands; the second is only reported.
        if let Some(&old) = info.entries.get(&indices) {
            let before = self.defs[old.0 as usize].span;
            let shown = with_indices(&name.text, &indices);
            return self.defined_twice(&shown, here, before);
        }
        info.entries.insert(indices, def);
        Ok(())
    }

    /// Faults names that are taken by the language, by a momentum, or in print.
    fn may_be_named(&mut self, name: &Name, scope: ScopeId) -> Eval<()> {
        if names::is_reserved(&name.text) {
            return self.reserved(name);
        }
        if let Some(coordinate) = self.momentum_of(&name.text, scope) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ReservedName,
                    name.span,
                    format!("`{}` is the momentum of coordinate `{coordinate}`", name.text),
                )
                .hint("choose another name; the momentum is there without a definition"),
            ));
        }
        let table = &mut self.scopes[scope.0 as usize];
        let printed = names::printed(&name.text);
        match table.printed.get(&printed) {
            Some((other, span)) if **other != *name.text => {
                let (other, span) = (other.clone(), *span);
                return Err(self.report(
                    Diagnostic::fault(
                        Code::SamePrint,
                        name.span,
                        format!("`{}` and `{other}` print alike", name.text),
                    )
                    .with(span, "the other one")
                    .hint("rename one of them"),
                ));
            }
            Some(_) => {}
            None => {
                table.printed.insert(printed, (name.text.clone(), name.span));
            }
        }
        Ok(())
    }

    /// Enters a family that has no entries, so that what is said of it is known to be
    /// about a family.
    fn enter_empty(&mut self, name: &Name, kind: Kind, arity: usize, scope: ScopeId) {
        let table = &self.scopes[scope.0 as usize];
        if table.broken.contains(&name.text) {
            return;
        }
        let clash = match table.names.get(&name.text) {
            Some(info) if info.kind != kind => {
                let (first, second) = (a_kind(info.kind), a_kind(kind));
                Some((format!("as {first} and as {second}"), info.span))
            }
            Some(info) if info.plain.is_some() => {
                Some(("with and without indices".to_owned(), info.span))
            }
            Some(_) => return,
            None => None,
        };
        if let Some((how, first)) = clash.filter(|clash| clash.1 != name.span) {
            self.report(
                Diagnostic::fault(
                    Code::DefinedTwice,
                    name.span,
                    format!("`{}` is defined twice, {how}", name.text),
                )
                .with(first, "the other definition")
                .hint("rename one of them"),
            );
            return;
        }
        if self.may_be_named(name, scope).is_err() {
            self.mark_broken(scope, name);
            return;
        }
        let info = NameInfo {
            kind,
            span: name.span,
            plain: None,
            arity,
            entries: FxHashMap::default(),
            sorted: None,
        };
        self.scopes[scope.0 as usize].names.entry(name.text.clone()).or_insert(info);
    }

    /// Enters the families of one scope whose ranges, or the ranges of the loops around
    /// them, are empty.
    fn enter_empty_families(&mut self, statements: &'a [Statement], scope: ScopeId) {
        let mut pending: Vec<&'a Statement> = statements.iter().collect();
        while let Some(statement) = pending.pop() {
            if let StatementKind::For { body, .. } = &statement.kind {
                pending.extend(body.iter());
            }
            if let StatementKind::Constraint { label: Some(label), .. } = &statement.kind
                && !label.indices.is_empty()
            {
                let labels = &mut self.scopes[scope.0 as usize].labels;
                labels.entry(label.name.text.clone()).or_insert_with(|| LabelInfo {
                    span: label.name.span,
                    is_event: false,
                    plain: None,
                    entries: FxHashMap::default(),
                });
            }
            for (name, kind, arity) in declared_names(statement) {
                let is_entered = self.scopes[scope.0 as usize]
                    .names
                    .get(&name.text)
                    .is_some_and(|info| !info.entries.is_empty());
                if arity > 0 && !is_entered {
                    self.enter_empty(name, kind, arity, scope);
                }
            }
        }
    }

    /// What sets a whole family sets nothing if that is empty, which is no fault.
    fn set_no_entries(&mut self, name: &Name, scope: ScopeId) {
        let family = self.full_name(scope, &name.text, &[]);
        let overridden = self.take_override(&family, &family);
        let outside = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
        if let Some(value) = overridden {
            self.names_exist(value, &mut Vec::new(), outside);
        }
        if let Some((value, outer, env)) = self.take_setting(scope, &name.text, &[]) {
            let cx = Cx { scope: outer, env, locals: None, constant: false };
            self.names_exist(value, &mut Vec::new(), cx);
        }
    }

    /// Notes that the declaration of a name was found to be wrong, and reported.
    fn mark_broken(&mut self, scope: ScopeId, name: &Name) {
        self.scopes[scope.0 as usize].broken.insert(name.text.clone());
    }

    /// The same for all names of a loop that cannot be unrolled.
    fn mark_all_broken(&mut self, body: &'a [Statement], scope: ScopeId) {
        let mut pending: Vec<&'a Statement> = body.iter().collect();
        while let Some(statement) = pending.pop() {
            if let StatementKind::For { body, .. } = &statement.kind {
                pending.extend(body.iter());
            }
            for (name, ..) in declared_names(statement) {
                self.mark_broken(scope, name);
            }
        }
    }

    /// The coordinate whose momentum this name is.
    pub(super) fn momentum_of(&self, name: &str, scope: ScopeId) -> Option<String> {
        let coordinate = name.strip_prefix("p_")?;
        let table = &self.scopes[scope.0 as usize];
        matches!(table.declared.get(coordinate), Some((Kind::Coord, _)))
            .then(|| coordinate.to_owned())
    }

    pub(super) fn reserved<T>(&mut self, name: &Name) -> Eval<T> {
        let what = match &*name.text {
            "t" => "time",
            "pi" => "π",
            text if names::is_function(text) => "a function of the language",
            _ => "a word of the language",
        };
        Err(self.report(
            Diagnostic::fault(Code::ReservedName, name.span, format!("`{}` is {what}", name.text))
                .hint("choose another name"),
        ))
    }

    pub(super) fn defined_twice<T>(&mut self, name: &str, span: Span, first: Span) -> Eval<T> {
        if first == span && self.unclosed {
            return Err(self.already(span));
        }
        let mut diagnostic =
            Diagnostic::fault(Code::DefinedTwice, span, format!("`{name}` is defined twice"));
        if first != span {
            diagnostic =
                diagnostic.with(first, "the other definition").hint("rename or remove one of them");
        } else if name.ends_with(']') {
            diagnostic = diagnostic.hint("the same indices come up more than once in this loop");
        } else {
            diagnostic =
                diagnostic.hint(format!("in a loop, give it the loop's index: `{name}[i]`"));
        }
        Err(self.report(diagnostic))
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
fn declared_names(statement: &Statement) -> Vec<(&Name, Kind, usize)> {
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
        StatementKind::Particle { entry, .. } => {
            vec![(&entry.name, Kind::Particle, entry.indices.len())]
        }
        StatementKind::Body { entry, .. } => vec![(&entry.name, Kind::Body, entry.indices.len())],
        StatementKind::Part { entry, .. } => vec![(&entry.name, Kind::Part, entry.indices.len())],
        _ => Vec::new(),
    }
}

pub(super) fn count_indices(n: usize) -> String {
    match n {
        0 => "no index".into(),
        1 => "one index".into(),
        n => format!("{} indices", names::number_word(n)),
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
