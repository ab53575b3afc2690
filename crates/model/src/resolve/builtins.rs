//! Calls: the functions of the language and those of the user.

use super::names::number_word;
use super::value::Value;
use super::*;
use crate::diagnostic::Label;
use crate::tensor::Axis;
use crate::tree::Argument;
use dalembert_expr::{Function, Number};

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
                let label = self.label_argument(arguments, 0, call)?;
                return self.of_constraint(name, label, cx);
            }
            "reaction" => return self.reaction(arguments, call, cx),
            "if" => return self.choice(arguments, name_span.to(call), cx),
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
                matrix @ Value::Matrix { .. } => match matrix.transpose(&self.exprs) {
                    Some(transposed) => Ok(transposed),
                    None => Err(self.already(spans[0])),
                },
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
            "Raxis" | "unit" | "clamp" | "diag" | "identity" | "det" | "inverse" => {
                self.free_function(name, &values, &spans)
            }
            _ if crate::lexicon::rotation_axes(name).is_some() => {
                self.rotations(name, &values, &spans)
            }
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
        let Some((least, most)) = crate::lexicon::counts(name) else { return Ok(()) };
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
            "mod" => "`mod(x, n)` is the remainder of a division",
            "Raxis" => "`Raxis(n, a)` turns by a about n",
            "clamp" => "`clamp(x, lo, hi)` keeps x between lo and hi",
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

    pub(super) fn scalar_of(&mut self, value: &Value, function: &str, span: Span) -> Eval<ExprId> {
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

    pub(super) fn vector_of(&mut self, value: &Value, span: Span) -> Eval<Arc<[ExprId]>> {
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

    pub(super) fn vector_of_length(
        &mut self,
        value: &Value,
        n: usize,
        name: &str,
        span: Span,
    ) -> Eval<Arc<[ExprId]>> {
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
                None => return Err(self.already(spans.first().copied().unwrap_or_default())),
            },
        };
        Ok(Value::Scalar(id))
    }

    /// x − n ⌊x/n⌋, of integers or not.
    fn remainder(&mut self, x: &[ExprId], spans: &[Span]) -> Eval<Value> {
        if x[1] == ExprId::ZERO {
            return self.fault(
                Code::DivisionByZero,
                spans[1],
                "the remainder of a division by zero",
            );
        }
        let (x, n) = (self.exprs.at(x[0]), self.exprs.at(x[1]));
        let turns = self.exprs.call(Function::Floor, &[(x / n).id]);
        Ok(Value::Scalar((x - n * self.exprs.at(turns)).id))
    }

    fn choice(&mut self, arguments: &'a [Argument], call: Span, cx: Cx<'_>) -> Eval<Value> {
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
                return Err(self.already(call));
            };
            return self.fault(Code::BinderPlace, index.span, "`… in …` has no meaning in `if`");
        };
        let condition = self.eval_condition(c, cx)?;
        // Where the condition is known, the other branch need not even exist:
        // `if(i > 1, x[i-1], 0)` in a loop.
        if let Some(known) = self.exprs.as_number(condition) {
            let (taken, other) = if known.is_zero() { (b, a) } else { (a, b) };
            self.names_exist(other, &mut Vec::new(), cx);
            return self.eval(taken, cx);
        }
        let (yes, no) = (self.eval(a, cx), self.eval(b, cx));
        let (yes, no) = (yes?, no?);
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
        if to < from {
            self.no_turn(binders, body, cx);
        }
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
            return Err(self.already(span));
        };
        self.called.insert(def);
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

    /// A function of the user, of values that are known.
    pub(super) fn call_with(&mut self, def: DefId, values: &[Value], span: Span) -> Eval<Value> {
        let Def { kind: DefKind::Function(define), scope, env, .. } = self.defs[def.0 as usize]
        else {
            return Err(self.already(span));
        };
        self.called.insert(def);
        if self.calls.contains(&def) {
            return Err(self.already(span));
        }
        let parameters = define.arguments.as_deref().unwrap_or(&[]);
        self.calls.push(def);
        let cx = Cx { scope, env, locals: None, constant: false };
        let result = self.with_arguments(parameters, values, &define.value, cx);
        self.calls.pop();
        result
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
            self.see_dot(&a, &b, spans[0]);
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
    pub(super) fn rotation(&mut self, name: &str, angle: ExprId) -> Value {
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
    pub(super) fn rate_of(&mut self, id: ExprId) -> Option<ExprId> {
        let known = role::PARAMETER | role::TIME | role::INPUT | role::POSITION;
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
}

fn count_arguments(n: usize) -> String {
    match n {
        0 => "no arguments".into(),
        1 => "one argument".into(),
        n => format!("{} arguments", number_word(n)),
    }
}
