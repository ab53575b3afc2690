//! Entering what one statement declares: parameters, coordinates, definitions, rows of
//! constraints, labels and bodies, each as a definition that is evaluated when it is first used.

use super::names::{self, LabelInfo, with_indices};
use super::*;
use crate::tree::{Define, Entry, Name, StatementKind};
use dalembert_expr::SymbolKind;

impl<'a> Resolver<'a, '_> {
    /// Enters the names of one statement.
    pub(super) fn enter(&mut self, instance: Instance<'a>) -> Eval<()> {
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
                        let known = self.parts.parameters.len();
                        if self
                            .enter_param(
                                &family.name,
                                indices.clone(),
                                value.as_ref(),
                                at,
                                instance,
                            )
                            .is_err()
                        {
                            self.mark_broken(scope, &family.name);
                            break;
                        }
                        if let Some(entered) = self.parts.parameters.get(known) {
                            let symbol = entered.symbol;
                            self.show(&[symbol], family.shown.as_ref(), &indices);
                        }
                    }
                }
            }
            StatementKind::Coord(list) => {
                for family in list {
                    let entered = self.each_entry(family, scope, env, |r, indices| {
                        let known = r.parts.coordinates.len();
                        r.enter_coord(&family.name, indices.clone(), scope, env)?;
                        if let Some(entered) = r.parts.coordinates.get(known) {
                            let position = entered.position;
                            r.show(&[position], family.shown.as_ref(), &indices);
                        }
                        Ok(())
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
            StatementKind::Output(list) => {
                for define in list {
                    if self.enter_define(define, Kind::Output, scope, env).is_err() {
                        self.mark_broken(scope, &define.entry.name);
                    }
                }
            }
            StatementKind::Input(list) => self.enter_inputs(list, instance),
            StatementKind::State(list) => self.enter_states(list, instance),
            StatementKind::Table { name, .. } => return self.enter_table(name, instance),
            StatementKind::Constraint { label, by, weight, left, right } => {
                let by = (!by.is_empty()).then_some(servo::By {
                    inputs: by,
                    weight: weight.as_ref(),
                    scope,
                    env,
                });
                return self.enter_constraint(label.as_ref(), by, (left, right), instance);
            }
            StatementKind::Event { label, .. } => {
                let indices = self.indices(&label.indices, self.constant_cx(scope, env))?;
                self.enter_label(&label.name, indices, true, 0, scope)?;
            }
            StatementKind::Particle { entry, fields } => {
                return self.enter_body(entry, fields, What::Particle, None, instance);
            }
            StatementKind::Body { entry, fields } => {
                return self.enter_body(entry, fields, What::Body, None, instance);
            }
            StatementKind::Frame { entry, on, fields } => {
                return self.enter_body(entry, fields, What::Frame, on.as_ref(), instance);
            }
            StatementKind::Joint { kind, .. } if &*kind.text == "rolling" => {
                return self.enter_touch(instance);
            }
            StatementKind::Joint { .. } => return self.enter_joint(instance),
            StatementKind::Contact { .. } => return self.enter_touch(instance),
            StatementKind::Friction { .. } => return self.enter_friction(instance),
            StatementKind::Spring { .. } => return self.enter_spring(instance),
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

    pub(super) fn enter_coord(
        &mut self,
        name: &Name,
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
        let is_local = !matches!(kind, Kind::Speed | Kind::Output);
        if env != EnvId(0) && indices.is_empty() && is_local {
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
        by: Option<servo::By<'a>>,
        (left, right): (&'a Expr, &'a Expr),
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
            contact: None,
            by,
            span: statement.span,
        });
        Ok(())
    }

    /// Enters a label of a constraint or event; both share one space.
    pub(super) fn enter_label(
        &mut self,
        name: &Name,
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
        what: What,
        on: Option<&'a Expr>,
        instance: Instance<'a>,
    ) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let def = self.new_def(DefKind::Body { fields, what, on }, scope, env, entry.span);
        self.body_defs.insert((statement.span, scope, env), def);
        let kind = match what {
            What::Particle => Kind::Particle,
            What::Body => Kind::Body,
            What::Frame => Kind::Frame,
        };
        if what == What::Frame
            && on.is_none()
            && fields.is_empty()
            && let Some(setting) = self.take_setting(scope, &entry.name.text, &indices)
        {
            self.machine.settings.insert(def, setting);
        }
        self.enter_name(&entry.name, indices, kind, def, scope)
    }
}
