//! Names and what stands behind them: `x`, `th[i]'`, `p_th`, `f(a)`, `a.x`.

use super::machines::Target;
use super::names::{self, number_word, with_indices};
use super::naming::count_indices;
use super::value::Value;
use super::*;
use crate::tree::{Argument, ExprKind, Postfix, PostfixKind};
use dalembert_expr::Number;

/// What a name was found to be.
enum Found {
    Value(Value),
    Def(DefId),
    /// A family of this scope; `momentum` for `p_th`.
    Family {
        scope: ScopeId,
        name: Arc<str>,
        momentum: bool,
    },
    /// A single coordinate's momentum.
    Momentum(DefId),
    Function(DefId),
    /// A function given by data.
    Table(DefId),
    Builtin,
    /// A particle, a body or a frame.
    Body(DefId),
    /// The inertial frame.
    Ground,
    /// A joint.
    Joint(DefId, usize),
    /// A spring or damper.
    Spring(DefId),
    /// A contact or rolling joint.
    Touch(DefId, usize),
    /// A friction.
    Friction(DefId),
    /// A part, by its scope.
    Part(ScopeId),
}

impl<'a> Resolver<'a, '_> {
    pub(super) fn eval_name(&mut self, name: &Arc<str>, span: Span, cx: Cx<'_>) -> Eval<Value> {
        let found = self.find(name, span, cx, false)?;
        self.found_value(found, name, span, cx)
    }

    fn found_value(&mut self, found: Found, name: &str, span: Span, cx: Cx<'_>) -> Eval<Value> {
        match found {
            Found::Value(value) => Ok(value),
            Found::Def(def) => self.def_value(def),
            Found::Family { scope, name, momentum } if self.is_object_family(scope, &name) => {
                let found = Found::Family { scope, name: name.clone(), momentum };
                let _ = self.follow(found, name.to_string(), &[], span, cx)?;
                Err(self.already(span))
            }
            Found::Family { scope, name, momentum } => {
                self.family_value(scope, &name, momentum, span)
            }
            Found::Momentum(def) => self.momentum_value(def, span),
            Found::Function(def) | Found::Table(def) => {
                let at = self.defs[def.0 as usize].span;
                Err(self.report(
                    Diagnostic::fault(Code::FunctionValue, span, format!("`{name}` is a function"))
                        .with(at, "defined here")
                        .hint(format!("give it its arguments: `{name}(…)`")),
                ))
            }
            found @ (Found::Body(_)
            | Found::Ground
            | Found::Joint(..)
            | Found::Spring(_)
            | Found::Touch(..)
            | Found::Friction(_)) => Ok(self.member(&found, name, span, &[], cx)?.0),
            found @ Found::Part(_) => {
                let _ = self.follow(found, name.to_string(), &[], span, cx)?;
                Err(self.already(span))
            }
            Found::Builtin => Err(self.report(
                Diagnostic::fault(
                    Code::FunctionValue,
                    span,
                    format!("`{name}` is a function of the language"),
                )
                .hint(format!("give it its arguments: `{name}(…)`")),
            )),
        }
    }

    /// Looks a name up: locals, loops, the scope, the language. `called` tells
    /// that a function is wanted.
    fn find(&mut self, name: &Arc<str>, span: Span, cx: Cx<'_>, called: bool) -> Eval<Found> {
        let mut local = cx.locals;
        while let Some(this) = local {
            if this.name == &**name {
                return Ok(Found::Value(this.value.clone()));
            }
            local = this.outer;
        }
        let mut env = cx.env;
        while env != EnvId(0) {
            let this = &self.envs[env.0 as usize];
            if let Some((index, value)) = &this.index
                && index == name
            {
                let value = self.exprs.of_number(Number::integer(*value));
                return Ok(Found::Value(Value::Scalar(value)));
            }
            if let Some(&def) = this.locals.get(name) {
                if matches!(self.defs[def.0 as usize].kind, DefKind::Function(_)) {
                    return Ok(Found::Function(def));
                }
                return if cx.constant {
                    self.not_constant(name, Kind::Let, span)
                } else {
                    Ok(Found::Def(def))
                };
            }
            env = this.parent;
        }
        if let Some(found) = self.find_in_scope(cx.scope, name, span, cx.constant)? {
            return Ok(found);
        }
        let symbol = match &**name {
            "pi" => Some(Symbol::PI),
            "deg" => {
                let deg = self.exprs.pi() / self.exprs.integer(180);
                return Ok(Found::Value(Value::Scalar(deg.id)));
            }
            "t" if cx.constant => {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::NotConstant,
                        span,
                        "`t` is time, and ranges and indices are made of constants",
                    )
                    .hint("a named integer is declared by `const N = 5`"),
                ));
            }
            "t" => Some(Symbol::TIME),
            "energy" => Some(self.specials.energy),
            "kinetic" => Some(self.specials.kinetic),
            "potential" => Some(self.specials.potential),
            _ => None,
        };
        if let Some(symbol) = symbol {
            return Ok(Found::Value(Value::Scalar(self.exprs.of_symbol(symbol))));
        }
        if names::is_function(name) {
            return Ok(Found::Builtin);
        }
        if &**name == "ground" && !called && !cx.constant {
            return Ok(Found::Ground);
        }
        // `θ₁` of a text that was printed is `theta1` of the model.
        if !name.is_ascii()
            && let Some(other) = self.printed_alike(cx.scope, name)
        {
            return self.find(&other, span, cx, called);
        }
        // Declared, but not entered: its own statement was reported already, or
        // it is used where only constants are known.
        if let Some(&(kind, _)) = self.scopes[cx.scope.0 as usize].declared.get(name) {
            return if cx.constant && kind != Kind::Const {
                self.not_constant(name, kind, span)
            } else {
                self.declared_elsewhere(cx.scope, name, kind, span)
            };
        }
        self.unknown(name, span, cx, called)
    }

    /// The name of a scope that prints like this one.
    fn printed_alike(&self, scope: ScopeId, name: &str) -> Option<Arc<str>> {
        let table = &self.scopes[scope.0 as usize];
        let (other, _) = table.printed.get(&names::printed(name))?;
        (**other != *name).then(|| other.clone())
    }

    /// Looks a name up in one scope: its definitions and its momenta.
    fn find_in_scope(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        span: Span,
        constant: bool,
    ) -> Eval<Option<Found>> {
        let table = &self.scopes[scope.0 as usize];
        if let Some(info) = table.names.get(name) {
            let (kind, plain) = (info.kind, info.plain);
            if kind == Kind::Function {
                return match plain {
                    Some(def) => Ok(Some(Found::Function(def))),
                    None => Err(self.already(span)),
                };
            }
            if constant && !matches!(kind, Kind::Const | Kind::Part) {
                return self.not_constant(name, kind, span);
            }
            return Ok(Some(match plain {
                Some(def) => self.found_definition(def),
                None => Found::Family { scope, name: name.clone(), momentum: false },
            }));
        }
        let Some(coordinate) = self.momentum_of(name, scope) else { return Ok(None) };
        if constant {
            return self.not_constant(name, Kind::Coord, span);
        }
        let coordinate: Arc<str> = coordinate.into();
        match self.scopes[scope.0 as usize].names.get(&coordinate) {
            Some(NameInfo { plain: Some(def), .. }) => Ok(Some(Found::Momentum(*def))),
            Some(_) => Ok(Some(Found::Family { scope, name: coordinate, momentum: true })),
            None => self.declared_elsewhere(scope, &coordinate, Kind::Coord, span),
        }
    }

    fn found_definition(&self, def: DefId) -> Found {
        match self.defs[def.0 as usize].kind {
            DefKind::Table(_) => Found::Table(def),
            DefKind::Body { .. } => Found::Body(def),
            DefKind::Joint(at) => Found::Joint(def, at),
            DefKind::Spring(_) => Found::Spring(def),
            DefKind::Touch(at) => Found::Touch(def, at),
            DefKind::Friction(..) => Found::Friction(def),
            DefKind::Part(scope) => Found::Part(scope),
            _ => Found::Def(def),
        }
    }

    /// Whether a family is one of parts, particles or bodies.
    fn is_object_family(&self, scope: ScopeId, name: &Arc<str>) -> bool {
        let kind = self.scopes[scope.0 as usize].names.get(name).map(|info| info.kind);
        matches!(
            kind,
            Some(
                Kind::Part
                    | Kind::Particle
                    | Kind::Body
                    | Kind::Frame
                    | Kind::Joint
                    | Kind::Spring
                    | Kind::Friction
                    | Kind::Contact
            )
        )
    }

    /// What stands behind the dot of something in space; gives back how many operations were used.
    fn member(
        &mut self,
        found: &Found,
        name: &str,
        span: Span,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<(Value, usize)> {
        match *found {
            Found::Body(def) => self.body_member(Target::Def(def), name, span, operations, cx),
            Found::Ground => self.body_member(Target::Ground, name, span, operations, cx),
            Found::Joint(_, at) => self.joint_member(at, name, span, operations, cx),
            Found::Spring(def) => self.spring_member(def, name, span, operations),
            Found::Touch(_, at) => self.touch_member(at, name, span, operations),
            Found::Friction(def) => self.friction_member(def, name, span, operations),
            _ => Err(self.already(span)),
        }
    }

    /// The body, frame or particle that an expression names, or the ground.
    pub(super) fn target(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Target> {
        let (base, operations): (&Expr, &[Postfix]) = match &expr.kind {
            ExprKind::Postfix(base, operations) => (base, operations),
            _ => (expr, &[]),
        };
        if let ExprKind::Name(name) = &base.kind {
            let found = self.find(name, base.span, cx, false)?;
            let (found, _, rest) =
                self.follow(found, name.to_string(), operations, base.span, cx)?;
            match (found, rest) {
                (Found::Body(def), []) => return Ok(Target::Def(def)),
                (Found::Ground, []) => return Ok(Target::Ground),
                _ => {}
            }
        } else if matches!(expr.kind, ExprKind::Missing) {
            return Err(self.already(expr.span));
        }
        Err(self.report(
            Diagnostic::fault(
                Code::ArgumentKind,
                expr.span,
                "a body, a frame, a particle or `ground` is needed here",
            )
            .hint("name it: `thigh`, `leg.foot`, `link[3]`"),
        ))
    }

    /// The contact, friction or joint that an expression names.
    pub(super) fn definition_named(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Option<DefId>> {
        let (base, operations): (&Expr, &[Postfix]) = match &expr.kind {
            ExprKind::Postfix(base, operations) => (base, operations),
            ExprKind::Missing => return Err(self.already(expr.span)),
            _ => (expr, &[]),
        };
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        let found = self.find(name, base.span, cx, false)?;
        let (found, _, rest) = self.follow(found, name.to_string(), operations, base.span, cx)?;
        Ok(match (found, rest) {
            (Found::Touch(def, _) | Found::Friction(def) | Found::Joint(def, _), []) => Some(def),
            _ => None,
        })
    }

    /// The function of the model that a name stands for, if it is one.
    pub(super) fn function_named(
        &mut self,
        name: &Arc<str>,
        span: Span,
        cx: Cx<'_>,
    ) -> Eval<Option<DefId>> {
        match self.find(name, span, cx, false)? {
            Found::Function(def) => Ok(Some(def)),
            _ => Ok(None),
        }
    }

    /// The scope of the part a name and its indices stand for.
    pub(super) fn part_scope(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        indices: &[i64],
        span: Span,
    ) -> Eval<ScopeId> {
        let info = self.scopes[scope.0 as usize].names.get(name);
        let def = match info {
            Some(info) if indices.is_empty() => info.plain,
            Some(info) => info.entries.get(indices).copied(),
            None => None,
        };
        match def.map(|def| self.defs[def.0 as usize].kind) {
            Some(DefKind::Part(inner)) => Ok(inner),
            Some(_) if def.is_some_and(|def| self.machine.inner.contains_key(&def)) => {
                Ok(def.map_or(scope, |def| self.machine.inner[&def]))
            }
            _ => {
                let shown = with_indices(name, indices);
                self.fault(Code::UnknownMember, span, format!("`{shown}` is no part"))
            }
        }
    }

    /// Follows `a.b[2].c` through parts; stops at what is not a part.
    fn follow(
        &mut self,
        mut found: Found,
        mut shown: String,
        operations: &'a [Postfix],
        span: Span,
        cx: Cx<'_>,
    ) -> Eval<(Found, String, &'a [Postfix])> {
        let mut rest = operations;
        loop {
            found = match found {
                Found::Family { scope, name, momentum } if self.is_object_family(scope, &name) => {
                    let Some(Postfix { kind: PostfixKind::Index(list), .. }) = rest.first() else {
                        let message = format!("`{shown}` needs an index here");
                        return self.fault(Code::IndexCount, span, message);
                    };
                    let indices = self.indices(list, cx)?;
                    let entry = self.scopes[scope.0 as usize].names[&name].entries.get(&indices);
                    let Some(&def) = entry else {
                        return self.no_entry(scope, &name, &indices, momentum, span);
                    };
                    shown = with_indices(&shown, &indices);
                    rest = &rest[1..];
                    self.found_definition(def)
                }
                Found::Part(scope) => {
                    let Some(Postfix { kind: PostfixKind::Member(member), span: at }) =
                        rest.first()
                    else {
                        return Err(self.report(
                            Diagnostic::fault(
                                Code::ArgumentKind,
                                span,
                                format!("`{shown}` is a part, not a quantity"),
                            )
                            .hint(format!("its quantities stand behind a dot: `{shown}.x`")),
                        ));
                    };
                    shown = format!("{shown}.{member}");
                    rest = &rest[1..];
                    match self.find_in_scope(scope, member, *at, cx.constant)? {
                        Some(found) => found,
                        None => return self.no_member(scope, member, *at),
                    }
                }
                // Coordinates of bodies and joints stand in scopes of their own.
                Found::Body(def) | Found::Joint(def, _) | Found::Touch(def, _) => {
                    let inner = self.machine.inner.get(&def).copied();
                    let (
                        Some(inner),
                        Some(Postfix { kind: PostfixKind::Member(member), span: at }),
                    ) = (inner, rest.first())
                    else {
                        return Ok((found, shown, rest));
                    };
                    match self.find_in_scope(inner, member, *at, cx.constant)? {
                        Some(own) => {
                            shown = format!("{shown}.{member}");
                            rest = &rest[1..];
                            own
                        }
                        None => return Ok((found, shown, rest)),
                    }
                }
                other => return Ok((other, shown, rest)),
            };
        }
    }

    /// All entries of a family in order: a vector, or a matrix for two indices
    /// or vector entries.
    fn family_value(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        momentum: bool,
        span: Span,
    ) -> Eval<Value> {
        let order = self.sorted_entries(scope, name);
        let arity = self.scopes[scope.0 as usize].names[name].arity;
        if arity > 2 {
            return self.fault(
                Code::Shape,
                span,
                format!("`{name}` has {}, so it is no vector or matrix", count_indices(arity)),
            );
        }
        self.spend(order.len() as u64, span)?;
        let mut values = Vec::with_capacity(order.len());
        for indices in order.iter() {
            values.push(self.entry_value(scope, name, indices, momentum, span)?);
        }
        if arity == 1 {
            return self.stack_values(&values, |_| span);
        }
        // Two indices: rows of equal length.
        let mut rows: Vec<Value> = Vec::new();
        let mut at = 0;
        for group in order.chunk_by(|a, b| a[0] == b[0]) {
            let row = values[at..at + group.len()].to_vec();
            at += group.len();
            rows.push(self.stack_values(&row, |_| span)?);
        }
        self.stack_values(&rows, |_| span)
    }

    fn sorted_entries(&mut self, scope: ScopeId, name: &Arc<str>) -> Arc<[Indices]> {
        let Some(info) = self.scopes[scope.0 as usize].names.get_mut(name) else {
            return Arc::from([]);
        };
        if info.sorted.as_ref().is_none_or(|s| s.len() != info.entries.len()) {
            let mut order: Vec<Indices> = info.entries.keys().cloned().collect();
            order.sort_unstable();
            info.sorted = Some(order.into());
        }
        info.sorted.clone().unwrap_or_else(|| Arc::from([]))
    }

    fn entry_value(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        indices: &[i64],
        momentum: bool,
        span: Span,
    ) -> Eval<Value> {
        let entry = self.scopes[scope.0 as usize].names[name].entries.get(indices).copied();
        match entry {
            Some(def) if momentum => self.momentum_value(def, span),
            Some(def) => self.def_value(def),
            None => self.no_entry(scope, name, indices, momentum, span),
        }
    }

    fn no_entry<T>(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        indices: &[i64],
        momentum: bool,
        span: Span,
    ) -> Eval<T> {
        let order = self.sorted_entries(scope, name);
        let shown = if momentum { format!("p_{name}") } else { name.to_string() };
        let message = format!("there is no `{}`", with_indices(&shown, indices));
        let at = self.scopes[scope.0 as usize].names[name].span;
        let mut diagnostic =
            Diagnostic::fault(Code::IndexRange, span, message).with(at, "declared here");
        if let (Some(first), Some(last)) = (order.first(), order.last()) {
            diagnostic = diagnostic.hint(format!(
                "its entries go from `{}` to `{}`",
                with_indices(&shown, first),
                with_indices(&shown, last)
            ));
        } else {
            diagnostic = diagnostic.hint("it has no entries at all: its range is empty");
        }
        Err(self.report(diagnostic))
    }

    fn momentum_value(&mut self, def: DefId, span: Span) -> Eval<Value> {
        match self.defs[def.0 as usize].kind {
            DefKind::Coord(index) => match self.parts.coordinates.get(index) {
                Some(coordinate) => Ok(Value::Scalar(self.exprs.of_symbol(coordinate.momentum))),
                None => Err(self.already(span)),
            },
            _ => Err(self.already(span)),
        }
    }

    /// A primary with primes, indices, members and calls behind it.
    pub(super) fn eval_postfix(
        &mut self,
        base: &'a Expr,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let ExprKind::Name(name) = &base.kind else {
            let value = self.eval(base, cx)?;
            return self.apply(value, base, operations, cx);
        };
        if let Some(Postfix { kind: PostfixKind::Call(arguments), span: call }) = operations.first()
        {
            let value = match self.find(name, base.span, cx, true)? {
                Found::Builtin => self.builtin(name, base.span, arguments, *call, cx)?,
                Found::Function(def) => {
                    self.call_function(def, arguments, base.span.to(*call), cx)?
                }
                Found::Table(def) => self.call_table(def, arguments, base.span.to(*call), cx)?,
                _ => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::NotAFunction,
                            base.span,
                            format!("`{name}` is not a function"),
                        )
                        .hint(match arguments.as_slice() {
                            [Argument::Value(Expr { kind: ExprKind::Name(of), .. })]
                                if &**of == "t" =>
                            {
                                format!("what moves depends on `t` by itself: write `{name}`")
                            }
                            _ => format!("if a product is meant, write `{name}*(…)`"),
                        }),
                    ));
                }
            };
            return self.apply(value, base, &operations[1..], cx);
        }
        let found = self.find(name, base.span, cx, false)?;
        let (found, shown, operations) =
            self.follow(found, name.to_string(), operations, base.span, cx)?;
        if matches!(
            found,
            Found::Body(_)
                | Found::Ground
                | Found::Joint(..)
                | Found::Spring(_)
                | Found::Touch(..)
                | Found::Friction(_)
        ) {
            let (value, used) = self.member(&found, &shown, base.span, operations, cx)?;
            return self.apply(value, base, &operations[used..], cx);
        }
        if let (
            Found::Function(def),
            Some(Postfix { kind: PostfixKind::Call(arguments), span: call }),
        ) = (&found, operations.first())
        {
            let value = self.call_function(*def, arguments, base.span.to(*call), cx)?;
            return self.apply(value, base, &operations[1..], cx);
        }
        if let (
            Found::Table(def),
            Some(Postfix { kind: PostfixKind::Call(arguments), span: call }),
        ) = (&found, operations.first())
        {
            let value = self.call_table(*def, arguments, base.span.to(*call), cx)?;
            return self.apply(value, base, &operations[1..], cx);
        }
        if let Found::Family { scope, name, momentum } = found {
            // `th'[i]` is `th[i]'`: the index is the family's, primes wait.
            let primes = operations.iter().take_while(|o| o.kind == PostfixKind::Prime).count();
            if let Some(Postfix { kind: PostfixKind::Index(list), span: at }) =
                operations.get(primes)
            {
                let indices = self.indices(list, cx)?;
                let mut value =
                    self.family_index(scope, &name, momentum, &indices, base.span.to(*at))?;
                for prime in &operations[..primes] {
                    value = self.prime(&value, prime.span)?;
                }
                return self.apply(value, base, &operations[primes + 1..], cx);
            }
            let value = self.family_value(scope, &name, momentum, base.span)?;
            return self.apply(value, base, operations, cx);
        }
        let value = self.found_value(found, &shown, base.span, cx)?;
        self.apply(value, base, operations, cx)
    }

    /// An entry, a row (fewer indices) or a component of an entry (more).
    fn family_index(
        &mut self,
        scope: ScopeId,
        name: &Arc<str>,
        momentum: bool,
        indices: &[i64],
        span: Span,
    ) -> Eval<Value> {
        let arity = self.scopes[scope.0 as usize].names[name].arity;
        if indices.len() >= arity {
            let value = self.entry_value(scope, name, &indices[..arity], momentum, span)?;
            if indices.len() == arity {
                return Ok(value);
            }
            if value.scalar().is_some() {
                let (has, given) = (count_indices(arity), number_word(indices.len()));
                let at = self.scopes[scope.0 as usize].names[name].span;
                return Err(self.report(
                    Diagnostic::fault(
                        Code::IndexCount,
                        span,
                        format!("`{name}` has {has}, not {given}"),
                    )
                    .with(at, "declared here"),
                ));
            }
            return self.component(&value, &indices[arity..], span);
        }
        let order = self.sorted_entries(scope, name);
        let from = order.partition_point(|entry| entry[..indices.len()] < *indices);
        let to = order.partition_point(|entry| entry[..indices.len()] <= *indices);
        if from == to {
            return self.no_entry(scope, name, indices, momentum, span);
        }
        self.spend((to - from) as u64, span)?;
        let mut values = Vec::with_capacity(to - from);
        for entry in &order[from..to] {
            values.push(self.entry_value(scope, name, entry, momentum, span)?);
        }
        if arity - indices.len() > 1 {
            return self.fault(
                Code::IndexCount,
                span,
                format!("`{name}` needs at least {} here", count_indices(arity - 1)),
            );
        }
        self.stack_values(&values, |_| span)
    }

    /// The remaining operations behind a value.
    fn apply(
        &mut self,
        mut value: Value,
        base: &'a Expr,
        operations: &'a [Postfix],
        cx: Cx<'_>,
    ) -> Eval<Value> {
        for operation in operations {
            let so_far = base.span.to(operation.span);
            value = match &operation.kind {
                PostfixKind::Prime => self.prime(&value, so_far)?,
                PostfixKind::Index(list) => {
                    let indices = self.indices(list, cx)?;
                    self.component(&value, &indices, so_far)?
                }
                PostfixKind::Call(_) => {
                    return self.fault(
                        Code::NotAFunction,
                        base.span,
                        "this is not a function and cannot be called",
                    );
                }
                PostfixKind::Member(member) => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::UnknownMember,
                            operation.span,
                            format!("there is no `.{member}` here: this is {}", value.describe()),
                        )
                        .hint(match value {
                            Value::Vector(_) => {
                                "the components of a vector `r` are `r[1]`, `r[2]`, …"
                            }
                            _ => "only parts, bodies, joints and their like have something behind a dot",
                        }),
                    ));
                }
            };
        }
        Ok(value)
    }

    /// `r[2]`, `R[1,2]`, row `R[1]`, from 1.
    pub(super) fn component(&mut self, value: &Value, indices: &[i64], span: Span) -> Eval<Value> {
        let shape = value.shape();
        if indices.len() > shape.len() {
            let (message, hint) = if shape.is_empty() {
                (
                    "a scalar has no components".to_owned(),
                    "a family is declared with its range: `coord x[1..3]`, `param m[1..3] = 1`",
                )
            } else {
                let given = count_indices(indices.len());
                let hint = "a vector takes one index, a matrix two or, for a row, one";
                (format!("{} has no component with {given}", value.describe()), hint)
            };
            return Err(self.report(Diagnostic::fault(Code::IndexCount, span, message).hint(hint)));
        }
        for (&i, &n) in indices.iter().zip(&shape) {
            if i < 1 || i as u64 > n as u64 {
                let message = match n {
                    0 => format!("there is no index {i} here: this has no entries"),
                    _ => format!(
                        "index {i} is outside {}, whose indices go from 1 to {n}",
                        value.describe()
                    ),
                };
                return self.fault(Code::IndexRange, span, message);
            }
        }
        let at: Vec<usize> = indices.iter().map(|&i| i as usize - 1).collect();
        Ok(match (value, at.as_slice()) {
            (Value::Vector(data), &[i]) => Value::Scalar(data[i]),
            (Value::Matrix { columns, data, .. }, &[i, j]) => Value::Scalar(data[i * columns + j]),
            (Value::Matrix { columns, data, .. }, &[i]) => {
                Value::vector(data[i * columns..(i + 1) * columns].to_vec())
            }
            _ => value.clone(),
        })
    }

    /// The coordinate an expression names, for `force x:` and `reaction(x)`.
    pub(super) fn coordinate(
        &mut self,
        expr: &'a Expr,
        otherwise: &str,
        cx: Cx<'_>,
    ) -> Eval<usize> {
        let value = self.eval(expr, cx)?;
        let symbol = value.scalar().and_then(|id| self.exprs.as_symbol(id));
        if let Some(index) = symbol.and_then(|symbol| self.parts.coordinate_of(symbol)) {
            return Ok(index);
        }
        let what = match symbol.map(|s| self.role(s)) {
            _ if value.scalar().is_none() => value.describe(),
            Some(role::PARAMETER) => "a parameter".into(),
            Some(role::VELOCITY) => "a velocity".into(),
            Some(role::ACCELERATION) => "an acceleration".into(),
            Some(role::MOMENTUM) => "a momentum".into(),
            _ => "an expression".into(),
        };
        let message = format!("a coordinate is needed here, and this is {what}");
        let owner = self.parts.coordinates.iter().find(|c| {
            symbol.is_some_and(|s| [c.velocity, c.acceleration, c.momentum].contains(&s))
        });
        let hint = match owner {
            Some(coordinate) => format!("the coordinate is `{}`", coordinate.name),
            None if value.scalar().is_none() => {
                "name one coordinate, `x[1]`; a loop can do so for each".to_owned()
            }
            None => otherwise.to_owned(),
        };
        Err(self.report(Diagnostic::fault(Code::NotACoordinate, expr.span, message).hint(hint)))
    }
}
