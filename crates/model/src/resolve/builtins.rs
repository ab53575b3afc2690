//! Calls: the functions of the language and those of the user.

use super::names::{FUNCTIONS, number_word};
use super::value::Value;
use super::*;
use crate::diagnostic::Label;
use crate::tensor::Axis;
use crate::tree::Argument;
use dalembert_expr::{Function, Number, SymbolKind};

impl<'a> Resolver<'a, '_> {
    /// A function of the language.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: &'a [Argument],
        call: Span,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        self.check_count(name, name_span, arguments, call)?;
        match name {
            "sum" | "product" => return self.accumulate(name, arguments, name_span.to(call), cx),
            "multiplier" | "residual" => {
                let label = self.label_argument(arguments, 0)?;
                return self.of_constraint(name, label, cx);
            }
            "reaction" => return self.reaction(arguments, cx),
            "if" => return self.choice(arguments, cx),
            _ => {}
        }
        let (values, spans) = self.argument_values(arguments, name, cx)?;
        let size: usize = values.iter().map(|v| v.components().len()).sum();
        self.spend(size as u64, call)?;
        match name {
            "dot" | "cross" => self.vector_product(name, &values, &spans),
            "norm" if values[0].scalar().is_some() => Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    spans[0],
                    "`norm` takes a vector, and this is a scalar",
                )
                .hint("the size of a scalar is `abs(x)`"),
            )),
            "norm" => {
                let v = self.vector_of(&values[0], spans[0])?;
                let square = Value::dot(&self.exprs, &v, &v);
                Ok(Value::Scalar(self.exprs.at(square).sqrt().id))
            }
            "transpose" => match &values[0] {
                matrix @ Value::Matrix { .. } => {
                    matrix.transpose(&self.exprs).ok_or(Stop::Reported)
                }
                other => {
                    let found = other.describe();
                    self.fault(
                        Code::Shape,
                        spans[0],
                        format!("`transpose` takes a matrix, and this is {found}"),
                    )
                }
            },
            "Rx" | "Ry" | "Rz" => {
                let angle = self.scalar_of(&values[0], name, spans[0])?;
                Ok(self.rotation(name, angle))
            }
            "Rq" => {
                let e = self.vector_of_length(&values[0], 4, name, spans[0])?;
                Ok(self.quaternion_rotation([e[0], e[1], e[2], e[3]]))
            }
            "axial" => self.axial(&values[0], spans[0]),
            _ => {
                let mut ids = Vec::with_capacity(values.len());
                for (value, &span) in values.iter().zip(&spans) {
                    ids.push(self.scalar_of(value, name, span)?);
                }
                self.scalar_function(name, &ids, &spans)
            }
        }
    }

    fn check_count(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: &[Argument],
        call: Span,
    ) -> Eval<()> {
        let Some(&(_, least, most)) = FUNCTIONS.iter().find(|f| f.0 == name) else { return Ok(()) };
        let n = arguments.len();
        if (least..=most).contains(&n) {
            return Ok(());
        }
        let wanted = match (least, most) {
            (a, b) if a == b => count_arguments(a),
            (a, usize::MAX) => format!("at least {}", count_arguments(a)),
            (a, b) => format!("{} or {}", number_word(a), count_arguments(b)),
        };
        let usage = match name {
            "atan2" => "`atan2(y, x)` is the angle of the point (x, y)",
            "if" => "`if(condition, a, b)`",
            "mod" => "`mod(i, n)` is the remainder of integers",
            "sum" => "`sum(i in 1..N, x[i])`",
            "product" => "`product(i in 1..N, x[i])`",
            "min" | "max" => "list what is compared: `min(a, b)`, `max(a, b, c)`",
            "dot" | "cross" => "`dot(a, b)`, `cross(a, b)`: two vectors",
            "multiplier" | "residual" => {
                "the argument is the label of a constraint: `multiplier(rod)`"
            }
            "reaction" => "`reaction(x)` or `reaction(x, rod)`",
            _ => "",
        };
        let mut diagnostic = Diagnostic::fault(
            Code::ArgumentCount,
            name_span.to(call),
            format!("`{name}` takes {wanted}, not {}", number_word(n)),
        );
        if !usage.is_empty() {
            diagnostic = diagnostic.hint(usage);
        }
        Err(self.report(diagnostic))
    }

    fn argument_values(
        &mut self,
        arguments: &'a [Argument],
        name: &str,
        cx: Cx<'_>,
    ) -> Eval<(Vec<Value>, Vec<Span>)> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut spans = Vec::with_capacity(arguments.len());
        let mut stop = None;
        for argument in arguments {
            match argument {
                Argument::Value(expr) => {
                    spans.push(expr.span);
                    match self.eval(expr, cx) {
                        Ok(value) => values.push(value),
                        Err(why) => stop = Some(why),
                    }
                }
                Argument::Binder(index, _) => {
                    let message = format!("`{} in …` has no meaning in `{name}`", index.text);
                    return Err(self.report(
                        Diagnostic::fault(Code::BinderPlace, index.span, message)
                            .hint("only `sum` and `product` run over a range"),
                    ));
                }
            }
        }
        match stop {
            Some(why) => Err(why),
            None => Ok((values, spans)),
        }
    }

    fn scalar_of(&mut self, value: &Value, function: &str, span: Span) -> Eval<ExprId> {
        match value.scalar() {
            Some(id) => Ok(id),
            None => {
                let found = value.describe();
                self.fault(
                    Code::Shape,
                    span,
                    format!("`{function}` takes a scalar here, and this is {found}"),
                )
            }
        }
    }

    fn vector_of(&mut self, value: &Value, span: Span) -> Eval<Rc<[ExprId]>> {
        match value {
            Value::Vector(data) => Ok(data.clone()),
            other => {
                let found = other.describe();
                self.fault(
                    Code::Shape,
                    span,
                    format!("a vector is needed here, and this is {found}"),
                )
            }
        }
    }

    fn vector_of_length(
        &mut self,
        value: &Value,
        n: usize,
        name: &str,
        span: Span,
    ) -> Eval<Rc<[ExprId]>> {
        match value {
            Value::Vector(data) if data.len() == n => Ok(data.clone()),
            other => {
                let found = other.describe();
                self.fault(
                    Code::Shape,
                    span,
                    format!("`{name}` takes a vector of {n}, and this is {found}"),
                )
            }
        }
    }

    fn scalar_function(&mut self, name: &str, x: &[ExprId], spans: &[Span]) -> Eval<Value> {
        let id = match name {
            "sqrt" => {
                if self.exprs.as_number(x[0]).is_some_and(|n| n.is_negative()) {
                    return self.fault(
                        Code::ArgumentKind,
                        spans[0],
                        "the square root of a negative number is not real",
                    );
                }
                self.exprs.at(x[0]).sqrt().id
            }
            "log" if self.exprs.as_number(x[0]).is_some_and(|n| n.is_negative() || n.is_zero()) => {
                return self.fault(
                    Code::ArgumentKind,
                    spans[0],
                    "the logarithm is defined for positive numbers only",
                );
            }
            "atan2" => self.exprs.call(Function::Atan2, x),
            "min" => self.exprs.call(Function::Min, x),
            "max" => self.exprs.call(Function::Max, x),
            "mod" => return self.remainder(x, spans),
            _ => match Function::from_name(name) {
                Some(function) => self.exprs.call(function, x),
                None => return Err(Stop::Reported),
            },
        };
        Ok(Value::Scalar(id))
    }

    fn remainder(&mut self, x: &[ExprId], spans: &[Span]) -> Eval<Value> {
        let mut integers = [0i64; 2];
        for at in 0..2 {
            match self.exprs.as_number(x[at]).and_then(|n| n.as_integer()) {
                Some(n) => integers[at] = n,
                None => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::NotInteger,
                            spans[at],
                            "`mod` takes integers made of constants",
                        )
                        .hint("it serves ranges and indices, such as `x[mod(i, N) + 1]`"),
                    ));
                }
            }
        }
        if integers[1] == 0 {
            return self.fault(
                Code::DivisionByZero,
                spans[1],
                "the remainder of a division by zero",
            );
        }
        let value = integers[0].checked_rem_euclid(integers[1]).unwrap_or(0);
        Ok(Value::Scalar(self.exprs.of_number(Number::integer(value))))
    }

    fn choice(&mut self, arguments: &'a [Argument], cx: Cx<'_>) -> Eval<Value> {
        let exprs: Vec<&'a Expr> = arguments
            .iter()
            .filter_map(|a| match a {
                Argument::Value(expr) => Some(expr),
                Argument::Binder(..) => None,
            })
            .collect();
        let &[c, a, b] = exprs.as_slice() else {
            let Some(Argument::Binder(index, _)) =
                arguments.iter().find(|a| matches!(a, Argument::Binder(..)))
            else {
                return Err(Stop::Reported);
            };
            return self.fault(Code::BinderPlace, index.span, "`… in …` has no meaning in `if`");
        };
        let (condition, yes, no) = (self.eval_condition(c, cx), self.eval(a, cx), self.eval(b, cx));
        let (condition, yes, no) = (condition?, yes?, no?);
        if yes.shape() != no.shape() {
            let message =
                format!("the branches of `if` differ: {} and {}", yes.describe(), no.describe());
            return Err(self.report(
                Diagnostic::fault(Code::Shape, b.span, message)
                    .at(no.describe())
                    .with(a.span, yes.describe())
                    .hint("both branches need the same shape"),
            ));
        }
        let data = yes
            .components()
            .iter()
            .zip(no.components())
            .map(|(&x, &y)| self.exprs.call(Function::If, &[condition, x, y]))
            .collect();
        Ok(Value::with_shape(&yes.shape(), data))
    }

    /// `sum(i in 1..N, …)` and `product(…)`, with one range or several.
    fn accumulate(
        &mut self,
        name: &str,
        arguments: &'a [Argument],
        call: Span,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let Some((Argument::Value(body), binders)) = arguments.split_last() else {
            return self.accumulate_usage(name, call);
        };
        if binders.iter().any(|b| matches!(b, Argument::Value(_))) {
            return self.accumulate_usage(name, call);
        }
        let mut terms: Vec<Value> = Vec::new();
        self.accumulate_terms(binders, body, cx, &mut terms)?;
        let Some(first) = terms.first() else {
            let empty = if name == "sum" { ExprId::ZERO } else { ExprId::ONE };
            return Ok(Value::Scalar(empty));
        };
        let shape = first.shape();
        if terms.iter().any(|t| t.shape() != shape) {
            return self.fault(Code::Shape, body.span, "the terms differ in shape");
        }
        if name == "sum" {
            return Ok(Value::sum(&self.exprs, &terms));
        }
        let mut ids = Vec::with_capacity(terms.len());
        for term in &terms {
            ids.push(self.scalar_of(term, name, body.span)?);
        }
        Ok(Value::Scalar(self.exprs.product(&ids)))
    }

    fn accumulate_usage<T>(&mut self, name: &str, call: Span) -> Eval<T> {
        Err(self.report(
            Diagnostic::fault(
                Code::ArgumentKind,
                call,
                match name {
                    "sum" => "`sum` needs a range before what is added up".to_owned(),
                    _ => format!("`{name}` needs a range before what is multiplied"),
                },
            )
            .hint(format!("write `{name}(i in 1..N, x[i])`")),
        ))
    }

    fn accumulate_terms(
        &mut self,
        binders: &'a [Argument],
        body: &'a Expr,
        cx: Cx<'_>,
        terms: &mut Vec<Value>,
    ) -> Eval<()> {
        let Some((Argument::Binder(index, range), rest)) = binders.split_first() else {
            terms.push(self.eval(body, cx)?);
            return Ok(());
        };
        let (from, to) = (self.integer(&range.from, cx)?, self.integer(&range.to, cx)?);
        self.spare(from, to, range.from.span.to(range.to.span))?;
        for i in from..=to {
            self.spend(1, body.span)?;
            let value = Value::Scalar(self.exprs.of_number(Number::integer(i)));
            let local = Local { name: &index.text, value: &value, outer: cx.locals };
            self.accumulate_terms(rest, body, Cx { locals: Some(&local), ..cx }, terms)?;
        }
        Ok(())
    }

    /// A function of the user: its body with the arguments put in.
    pub(super) fn call_function(
        &mut self,
        def: DefId,
        arguments: &'a [Argument],
        span: Span,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let Def { kind: DefKind::Function(define), scope, env, span: at, .. } =
            self.defs[def.0 as usize]
        else {
            return Err(Stop::Reported);
        };
        let parameters = define.arguments.as_deref().unwrap_or(&[]);
        if parameters.len() != arguments.len() {
            let (want, have) = (parameters.len(), arguments.len());
            let name = &define.entry.name.text;
            return Err(self.report(
                Diagnostic::fault(
                    Code::ArgumentCount,
                    span,
                    format!("`{name}` takes {}, not {}", count_arguments(want), number_word(have)),
                )
                .with(at, "defined here"),
            ));
        }
        let (values, _) = self.argument_values(arguments, &define.entry.name.text, cx)?;
        if self.calls.contains(&def) {
            return Err(self.report(
                Diagnostic::fault(Code::CircularDefinition, at, "this function calls itself")
                    .with(span, "called again here")
                    .hint("a function is pure substitution; for a sequence use an indexed `let`, `let r[i] = r[i-1] + …`"),
            ));
        }
        let ids: Vec<ExprId> = values.iter().flat_map(|v| v.components().iter().copied()).collect();
        let shapes: Vec<usize> =
            values.iter().flat_map(|v| v.shape().into_iter().chain([usize::MAX])).collect();
        let key = (def, ids, shapes);
        if let Some(known) = self.call_memo.get(&key) {
            return Ok(known.clone());
        }
        self.calls.push(def);
        let before = self.diagnostics.len();
        let result = self.with_arguments(
            parameters,
            &values,
            &define.value,
            Cx { scope, env, locals: None, constant: cx.constant },
        );
        self.calls.pop();
        if result.is_err() {
            // What is wrong in a body may be the fault of who calls it.
            let new = self.diagnostics.get_mut(before..).unwrap_or(&mut []);
            for diagnostic in new.iter_mut().filter(|d| d.labels.len() == 1) {
                let at = diagnostic.labels[0].span;
                if !matches!(diagnostic.code, Code::UnknownName | Code::TooLarge)
                    && define.value.span.to(at) == define.value.span
                {
                    diagnostic.labels.push(Label { span, text: "in this call".into() });
                }
            }
        }
        let value = result?;
        self.call_memo.insert(key, value.clone());
        Ok(value)
    }

    /// Evaluates a body with parameters bound one inside the other.
    fn with_arguments(
        &mut self,
        parameters: &'a [tree::Name],
        values: &[Value],
        body: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let (Some((name, names)), Some((value, values))) =
            (parameters.split_first(), values.split_first())
        else {
            return self.eval(body, cx);
        };
        let local = Local { name: &name.text, value, outer: cx.locals };
        self.with_arguments(names, values, body, Cx { locals: Some(&local), ..cx })
    }

    fn vector_product(&mut self, name: &str, values: &[Value], spans: &[Span]) -> Eval<Value> {
        let (a, b) = (self.vector_of(&values[0], spans[0])?, self.vector_of(&values[1], spans[1])?);
        if a.len() != b.len() {
            let message = format!(
                "`{name}` takes vectors of equal length, and these have {} and {}",
                a.len(),
                b.len()
            );
            return Err(self.report(
                Diagnostic::fault(Code::Shape, spans[1], message)
                    .at(values[1].describe())
                    .with(spans[0], values[0].describe()),
            ));
        }
        if name == "dot" {
            return Ok(Value::Scalar(Value::dot(&self.exprs, &a, &b)));
        }
        let x = |i: usize, j: usize| {
            let at = |id| self.exprs.at(id);
            (at(a[i]) * at(b[j]) - at(a[j]) * at(b[i])).id
        };
        match a.len() {
            2 => Ok(Value::Scalar(x(0, 1))),
            3 => Ok(Value::vector(vec![x(1, 2), x(2, 0), x(0, 1)])),
            n => self.fault(
                Code::Shape,
                spans[0],
                format!("`cross` takes vectors of 2 or 3, and these have {n}"),
            ),
        }
    }

    /// Right-handed rotations taking body components to inertial ones.
    fn rotation(&mut self, name: &str, angle: ExprId) -> Value {
        let axis = match name {
            "Rx" => Axis::X,
            "Ry" => Axis::Y,
            _ => Axis::Z,
        };
        let rate = self.rate_of(angle);
        Value::rotation(&self.exprs, axis, angle, rate)
    }

    /// The rotation of the quaternion e/|e|, scalar part first.
    fn quaternion_rotation(&mut self, e: [ExprId; 4]) -> Value {
        let rates = e.map(|id| self.rate_of(id));
        let rates = match rates {
            [Some(a), Some(b), Some(c), Some(d)] => Some([a, b, c, d]),
            _ => None,
        };
        Value::quaternion(&self.exprs, &e, rates)
    }

    /// The time derivative of a function of position and time.
    fn rate_of(&mut self, id: ExprId) -> Option<ExprId> {
        let known = role::PARAMETER | role::TIME | role::POSITION;
        (self.mask(id) & !known == 0).then(|| self.exprs.time_derivative(id))
    }

    /// ½[S₃₂−S₂₃, S₁₃−S₃₁, S₂₁−S₁₂].
    fn axial(&mut self, value: &Value, span: Span) -> Eval<Value> {
        match value {
            Value::Matrix { columns: 3, data, .. } if data.len() == 9 => {
                let s = |i: usize, j: usize| self.exprs.at(data[3 * i + j]);
                let half =
                    |a: (usize, usize), b: (usize, usize)| ((s(a.0, a.1) - s(b.0, b.1)) / 2).id;
                Ok(Value::vector(vec![
                    half((2, 1), (1, 2)),
                    half((0, 2), (2, 0)),
                    half((1, 0), (0, 1)),
                ]))
            }
            other => {
                let found = other.describe();
                self.fault(
                    Code::Shape,
                    span,
                    format!("`axial` takes a 3×3 matrix, and this is {found}"),
                )
            }
        }
    }

    fn label_argument(&mut self, arguments: &'a [Argument], at: usize) -> Eval<&'a Expr> {
        match arguments.get(at) {
            Some(Argument::Value(expr)) => Ok(expr),
            Some(Argument::Binder(index, _)) => self.fault(
                Code::BinderPlace,
                index.span,
                "the label of a constraint is needed here",
            ),
            None => Err(Stop::Reported),
        }
    }

    /// The constraint statements an expression names, and a component if it
    /// says one: `rod`, `pin[3]`, `pin` (all), `roll[2]` (a component).
    fn constraint_reference(
        &mut self,
        expr: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<(Vec<usize>, Option<usize>)> {
        let (scope, name, list) = self.label_path(expr, cx)?;
        let indices = self.indices(list, cx)?;
        let found = match self.scopes[scope.0 as usize].labels.get(name) {
            Some(info) if info.is_event => None,
            Some(info) => match info.plain {
                Some(group) => Some(vec![(Indices::new(), group)]),
                None => Some(info.entries.iter().map(|(i, g)| (i.clone(), *g)).collect()),
            },
            None => self.unnamed_constraint(scope, name).map(|group| vec![(Indices::new(), group)]),
        };
        let Some(mut groups) = found else { return self.unknown_constraint(name, expr.span) };
        groups.sort();
        if indices.is_empty() {
            return Ok((groups.into_iter().map(|g| g.1).collect(), None));
        }
        // The statement's own indices first, then one more for the component.
        let exact: Vec<usize> =
            groups.iter().filter(|g| *g.0 == *indices && !g.0.is_empty()).map(|g| g.1).collect();
        if !exact.is_empty() {
            return Ok((exact, None));
        }
        let (&last, first) = indices.split_last().unwrap_or((&0, &[]));
        match groups.iter().find(|g| *g.0 == *first) {
            Some(&(_, group)) if last >= 1 => Ok((vec![group], Some(last as usize - 1))),
            _ => self.unknown_constraint(&names::with_indices(name, &indices), expr.span),
        }
    }

    /// The full name of one row of a constraint statement.
    pub(super) fn row_name(&self, group: usize, at: usize, residual: &Value) -> String {
        let ConstraintGroup { label, indexed, .. } = &self.constraint_rows[group];
        let component = match residual {
            Value::Scalar(_) => return label.clone(),
            Value::Vector(_) => format!("{}", at + 1),
            Value::Matrix { columns, .. } => format!("{},{}", at / columns + 1, at % columns + 1),
        };
        match label.strip_suffix(']') {
            Some(open) if *indexed => format!("{open},{component}]"),
            _ => format!("{label}[{component}]"),
        }
    }

    /// `rod`, `pin[3]`, `a.rod`, `a[2].pin[3]`: where to look, for what, and the
    /// indices behind it.
    fn label_path(
        &mut self,
        expr: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<(ScopeId, &'a Rc<str>, &'a [Expr])> {
        use crate::tree::{ExprKind, PostfixKind};
        let (base, mut operations) = match &expr.kind {
            ExprKind::Name(name) => return Ok((cx.scope, name, &[])),
            ExprKind::Postfix(base, operations) => (base, operations.as_slice()),
            ExprKind::Missing => return Err(Stop::Reported),
            _ => return self.not_a_label(expr),
        };
        let ExprKind::Name(mut_name) = &base.kind else { return self.not_a_label(expr) };
        let mut name = mut_name;
        let mut scope = cx.scope;
        while let Some(dot) =
            operations.iter().position(|o| matches!(o.kind, PostfixKind::Member(_)))
        {
            let indices = match &operations[..dot] {
                [] => Indices::new(),
                [one] => match &one.kind {
                    PostfixKind::Index(list) => self.indices(list, cx)?,
                    _ => return self.not_a_label(expr),
                },
                _ => return self.not_a_label(expr),
            };
            scope = self.part_scope(scope, name, &indices, base.span)?;
            let PostfixKind::Member(member) = &operations[dot].kind else {
                return self.not_a_label(expr);
            };
            name = member;
            operations = &operations[dot + 1..];
        }
        match operations {
            [] => Ok((scope, name, &[])),
            [one] => match &one.kind {
                PostfixKind::Index(list) => Ok((scope, name, list)),
                _ => self.not_a_label(expr),
            },
            _ => self.not_a_label(expr),
        }
    }

    /// `c3` of a scope, where the third constraint has no label.
    fn unnamed_constraint(&self, scope: ScopeId, name: &str) -> Option<usize> {
        let number = name.strip_prefix('c')?;
        number.parse::<usize>().ok()?;
        let full = self.full_name(scope, name, &[]);
        self.constraint_rows.iter().position(|group| group.label == full)
    }

    fn not_a_label<T>(&mut self, expr: &Expr) -> Eval<T> {
        Err(self.report(
            Diagnostic::fault(
                Code::UnknownConstraint,
                expr.span,
                "the label of a constraint is needed here",
            )
            .hint("a constraint gets its label in `constraint rod: x^2 + y^2 = L^2`"),
        ))
    }

    fn unknown_constraint<T>(&mut self, name: &str, span: Span) -> Eval<T> {
        let mut diagnostic = Diagnostic::fault(
            Code::UnknownConstraint,
            span,
            format!("no constraint is named `{name}`"),
        );
        let known: Vec<String> =
            self.constraint_rows.iter().take(1000).map(|g| g.label.clone()).collect();
        if self.scopes[0].labels.get(name).is_some_and(|label| label.is_event) {
            diagnostic = diagnostic.hint(format!("`{name}` is an event, not a constraint"));
        } else if let Some(meant) = names::closest(name, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
        } else if known.is_empty() {
            diagnostic = diagnostic.hint("this model has no constraints");
        } else {
            let list =
                known.iter().take(6).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
            let more = if known.len() > 6 { ", …" } else { "" };
            let what = if known.len() == 1 { "the only constraint is" } else { "there are" };
            diagnostic = diagnostic.hint(format!("{what} {list}{more}"));
        }
        Err(self.report(diagnostic))
    }

    /// `multiplier(rod)` or `residual(rod)`.
    fn of_constraint(&mut self, name: &str, label: &'a Expr, cx: Cx<'_>) -> Eval<Value> {
        let (groups, component) = self.constraint_reference(label, cx)?;
        let mut values = Vec::with_capacity(groups.len());
        for &group in &groups {
            let def = self.constraint_rows[group].def;
            if name == "multiplier" && matches!(self.defs[def.0 as usize].state, State::Active) {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::NotAllowedHere,
                        label.span,
                        "a constraint cannot hold a multiplier",
                    )
                    .hint(
                        "a force may depend on one: `force x: -mu*abs(multiplier(rod))*sign(x')`",
                    ),
                ));
            }
            let residual = self.def_value(def)?;
            values.push(if name == "residual" {
                residual
            } else {
                let rows = residual.components().len();
                let mut ids = Vec::with_capacity(rows);
                for at in 0..rows {
                    let shown = format!("multiplier({})", self.row_name(group, at, &residual));
                    ids.push(self.unknown_expr(Unknown::Multiplier(group * ROWS + at), shown));
                }
                Value::with_shape(&residual.shape(), ids)
            });
        }
        let value = match values.as_slice() {
            [single] => single.clone(),
            _ => self.stack_values(&values, |_| label.span)?,
        };
        match component {
            Some(at) => self.component(&value, &[at as i64 + 1], label.span),
            None => Ok(value),
        }
    }

    /// `reaction(x)` or `reaction(x, rod)`.
    fn reaction(&mut self, arguments: &'a [Argument], cx: Cx<'_>) -> Eval<Value> {
        let expr = self.label_argument(arguments, 0)?;
        let hint = "a constraint force on something else follows from those on the coordinates";
        let coordinate = self.coordinate(expr, hint, cx)?;
        if arguments.len() == 1 {
            let shown = format!("reaction({})", self.parts.coordinates[coordinate].name);
            return Ok(Value::Scalar(self.unknown_expr(Unknown::Reaction(coordinate), shown)));
        }
        let label = self.label_argument(arguments, 1)?;
        let (groups, component) = self.constraint_reference(label, cx)?;
        let mut shares = Vec::new();
        for &group in &groups {
            let def = self.constraint_rows[group].def;
            let residual = self.def_value(def)?;
            for row in 0..residual.components().len() {
                if component.is_none_or(|at| at == row) {
                    let coordinate_name = &self.parts.coordinates[coordinate].name;
                    let shown = format!(
                        "reaction({coordinate_name}, {})",
                        self.row_name(group, row, &residual)
                    );
                    shares.push(
                        self.unknown_expr(Unknown::Share(coordinate, group * ROWS + row), shown),
                    );
                }
            }
        }
        Ok(Value::Scalar(self.exprs.sum(&shares)))
    }

    /// The symbol of an unknown of the solution. Rows are numbered provisionally
    /// here, statement × [`ROWS`] + component, until all are known.
    fn unknown_expr(&mut self, unknown: Unknown, name: String) -> ExprId {
        let symbol = match self.unknown_ids.get(&unknown) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.exprs.symbol(&name, SymbolKind::Variable);
                let role = match unknown {
                    Unknown::Multiplier(_) => role::MULTIPLIER,
                    _ => role::REACTION,
                };
                self.set_role(symbol, role);
                self.unknown_ids.insert(unknown, symbol);
                self.unknowns.push((symbol, unknown));
                symbol
            }
        };
        self.exprs.of_symbol(symbol)
    }
}

fn count_arguments(n: usize) -> String {
    match n {
        0 => "no arguments".into(),
        1 => "one argument".into(),
        n => format!("{} arguments", number_word(n)),
    }
}

/// Room for the components of one constraint statement in provisional numbers.
pub(super) const ROWS: usize = 1 << 24;
