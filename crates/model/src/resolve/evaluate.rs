//! Evaluating expressions to values.

use super::value::{Value, describe};
use super::*;
use crate::tree::{ExprKind, Relation, Sign, Times};
use dalembert_expr::{Function, Number};

/// Nesting beyond which a definition is asked for instead of entered. With the
/// parser's bound on nesting this bounds the stack.
const DEEP: u32 = 220;
/// Nesting of function calls at which a model is refused.
const TOO_DEEP: u32 = 440;

impl<'a> Resolver<'a, '_> {
    /// Evaluates something as often as definitions it needs turn up missing.
    pub(super) fn settle<T>(&mut self, mut attempt: impl FnMut(&mut Self) -> Eval<T>) -> Option<T> {
        loop {
            self.depth = 0;
            self.too_deep = false;
            self.calls.clear();
            match attempt(self) {
                Ok(value) => return Some(value),
                Err(Stop::Reported(_)) => return None,
                Err(Stop::Need(def)) => self.demand(def),
            }
            if self.exhausted {
                return None;
            }
        }
    }

    /// Evaluates a definition, what it needs first, on a stack of its own.
    fn demand(&mut self, def: DefId) {
        let mut stack = vec![def];
        let mut waiting: rustc_hash::FxHashSet<DefId> = [def].into_iter().collect();
        while let Some(&top) = stack.last() {
            self.depth = 0;
            self.calls.clear();
            match self.def_value(top) {
                Ok(_) | Err(Stop::Reported(_)) => {
                    waiting.remove(&top);
                    stack.pop();
                }
                Err(Stop::Need(next)) if waiting.insert(next) => stack.push(next),
                Err(Stop::Need(next)) => {
                    let _ = self.circular::<()>(next, &stack);
                    for def in stack.drain(..) {
                        self.defs[def.0 as usize].state = State::Failed;
                    }
                }
            }
        }
    }

    fn circular<T>(&mut self, def: DefId, path: &[DefId]) -> Eval<T> {
        let from = path.iter().position(|&d| d == def).unwrap_or(0);
        let span = self.defs[def.0 as usize].span;
        let mut diagnostic = Diagnostic::fault(
            Code::CircularDefinition,
            span,
            "this definition leads back to itself",
        );
        let chain: Vec<Span> =
            path[from..].iter().skip(1).map(|d| self.defs[d.0 as usize].span).collect();
        for &other in chain.iter().take(4).filter(|&&s| s != span) {
            diagnostic = diagnostic.with(other, "by way of this one");
        }
        Err(self.report(diagnostic.hint(match chain.is_empty() {
            true => "a name stands for one thing in the whole model; it cannot be made of itself",
            false => "one of them must be given without the others",
        })))
    }

    /// The value of a definition that is not a function.
    pub(super) fn def_value(&mut self, id: DefId) -> Eval<Value> {
        let def = &self.defs[id.0 as usize];
        match &def.state {
            State::Done(value) => return Ok(value.clone()),
            State::Failed => {
                let span = def.span;
                return Err(self.already(span));
            }
            State::Active => {
                let path: Vec<DefId> = self.active();
                return self.circular(id, &path);
            }
            State::Todo if self.depth > DEEP => return Err(Stop::Need(id)),
            State::Todo => {}
        }
        let (kind, scope, env, span) = (def.kind, def.scope, def.env, def.span);
        self.defs[id.0 as usize].state = State::Active;
        self.calls.push(id);
        self.depth += 1;
        let cx = Cx { scope, env, locals: None, constant: matches!(kind, DefKind::Const { .. }) };
        let result = match kind {
            DefKind::Const { value: Some(value), place, count } => {
                self.const_value(value, place, count, cx)
            }
            DefKind::Let(value) => self.eval(value, cx),
            DefKind::Setting { value, own, place, count } => {
                self.setting_value(id, (value, own), place, count, cx)
            }
            DefKind::Row { left, right } => self.difference(left, right, cx),
            DefKind::Rows(joint) => self.joint_rows(joint),
            DefKind::Turns(joint) => self.turn_rows(joint),
            DefKind::TouchRows(at) => self.touch_rows(at),
            DefKind::Foot(at) => self.foot_row(at),
            DefKind::Rate { value, place, count } => self.rate_value(value, place, count, cx),
            DefKind::Const { value: None, .. }
            | DefKind::Param(_)
            | DefKind::Coord(_)
            | DefKind::Input
            | DefKind::State
            | DefKind::Table(_)
            | DefKind::Body { .. }
            | DefKind::Joint(_)
            | DefKind::Spring(_)
            | DefKind::Touch(_)
            | DefKind::Friction(..)
            | DefKind::Known
            | DefKind::Part(_)
            | DefKind::Function(_) => Err(self.already(span)),
        };
        self.depth -= 1;
        self.calls.pop();
        self.defs[id.0 as usize].state = match &result {
            Ok(value) => State::Done(value.clone()),
            Err(Stop::Reported(_)) => State::Failed,
            Err(Stop::Need(_)) => State::Todo,
        };
        result
    }

    /// Definitions being evaluated, outermost first.
    fn active(&self) -> Vec<DefId> {
        self.calls.clone()
    }

    fn const_value(
        &mut self,
        value: &'a Expr,
        place: usize,
        count: usize,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let result = self.eval(value, cx)?;
        let component = match result.components() {
            [single] => *single,
            list if list.len() == count => list[place],
            _ => {
                let found = result.describe();
                let message = match count {
                    1 => format!("{found} for one constant"),
                    _ => format!("{found} for {count} constants"),
                };
                return Err(self.report(
                    Diagnostic::fault(Code::Shape, value.span, message)
                        .hint("give one value for all, or a list with one for each"),
                ));
            }
        };
        let number = self.exprs.as_number(component);
        if number.as_ref().is_some_and(|n| n.as_integer().is_some()) {
            return Ok(Value::Scalar(component));
        }
        let message = match number {
            Some(number) => format!("a constant is an integer, and this is {number}"),
            None => "a constant is an integer, and this is not a whole number".to_owned(),
        };
        Err(self.report(
            Diagnostic::fault(Code::NotInteger, value.span, message)
                .hint("any other number is a parameter, declared with `param`"),
        ))
    }

    /// What the braces of a part set a parameter to: a parameter of its own if
    /// that is a number, else whatever moves there.
    fn setting_value(
        &mut self,
        def: DefId,
        (value, own): (&'a Expr, bool),
        place: usize,
        count: usize,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let result = self.eval(value, cx)?;
        let result = match &result {
            Value::Vector(list) if count > 1 && list.len() == count => Value::Scalar(list[place]),
            _ => result,
        };
        let Some(id) = result.scalar() else {
            if result.components().len() != count && count > 1 {
                let message =
                    format!("{} values for {count} parameters", result.components().len());
                return self.fault(Code::Shape, value.span, message);
            }
            return Ok(result);
        };
        if self.mask(id) & !role::PARAMETER != 0 {
            if own && self.scopes[cx.scope.0 as usize].settings.is_empty() {
                return self.parameter_moves(id, value.span);
            }
            return Ok(result);
        }
        let name = self.setting_names.get(&def).cloned().unwrap_or_default();
        let symbol = self.exprs.symbol(&name, dalembert_expr::SymbolKind::Constant);
        self.set_role(symbol, role::PARAMETER);
        let span = self.defs[def.0 as usize].span;
        self.parts.parameters.push(crate::system::Parameter {
            name,
            symbol,
            value: Some(id),
            span,
        });
        Ok(Value::Scalar(self.exprs.of_symbol(symbol)))
    }

    /// left − right, where a bare 0 on the right stands for any zero.
    pub(super) fn difference(
        &mut self,
        left: &'a Expr,
        right: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let (a, b) = (self.eval(left, cx), self.eval(right, cx));
        let (a, b) = (a?, b?);
        if b == Value::Scalar(ExprId::ZERO) && matches!(right.kind, ExprKind::Number(_)) {
            return Ok(a);
        }
        if a.shape() != b.shape() {
            let message = format!("{} cannot equal {}", a.describe(), b.describe());
            return Err(self.report(
                Diagnostic::fault(Code::Shape, left.span, message)
                    .at(a.describe())
                    .with(right.span, b.describe())
                    .hint("both sides need the same shape; a bare 0 on the right stands for the zero vector"),
            ));
        }
        Ok(Value::sum(&self.exprs, &[a, b.neg(&self.exprs)]))
    }

    /// Evaluates to a scalar.
    pub(super) fn eval_scalar(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<ExprId> {
        match self.eval(expr, cx)? {
            Value::Scalar(id) => Ok(id),
            other => {
                let message = format!("a scalar is needed here, and this is {}", other.describe());
                Err(self.report(
                    Diagnostic::fault(Code::Shape, expr.span, message).hint(
                        "take a component, such as `r[2]`, or a product, such as `dot(r, r)`",
                    ),
                ))
            }
        }
    }

    pub(super) fn eval(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Value> {
        self.spend(1, expr.span)?;
        self.depth += 1;
        let result = if self.depth > TOO_DEEP && std::mem::replace(&mut self.too_deep, true) {
            Err(self.already(expr.span))
        } else if self.depth > TOO_DEEP {
            Err(self.report(
                Diagnostic::fault(
                    Code::TooDeep,
                    expr.span,
                    "too many functions call each other here",
                )
                .hint("give intermediate results names with `let`"),
            ))
        } else {
            self.eval_kind(expr, cx)
        };
        self.depth -= 1;
        if self.exprs.take_overflow() {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ConstantTooLarge,
                    expr.span,
                    "this constant is too large or too small for a floating-point number",
                )
                .hint("choose units in which the numbers are nearer to 1"),
            ));
        }
        result
    }

    fn eval_kind(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Value> {
        match &expr.kind {
            ExprKind::Missing => Err(self.already(expr.span)),
            ExprKind::Number(number) => Ok(Value::Scalar(self.exprs.of_number(number.clone()))),
            ExprKind::Name(name) => self.eval_name(name, expr.span, cx),
            ExprKind::Postfix(base, operations) => self.eval_postfix(base, operations, cx),
            ExprKind::List(items) => self.eval_list(items, cx),
            ExprKind::Sum(terms) => self.eval_sum(terms, cx),
            ExprKind::Product(factors) => self.eval_product(factors, cx),
            ExprKind::Negative(inner) => Ok(self.eval(inner, cx)?.neg(&self.exprs)),
            ExprKind::Power(base, exponent) => self.eval_power(base, exponent, cx),
            ExprKind::Compare(..) | ExprKind::And(_) | ExprKind::Or(_) => Err(self.report(
                Diagnostic::fault(
                    Code::ComparisonPlace,
                    expr.span,
                    "a comparison can stand only in the condition of `if`",
                )
                .hint("write `if(x > 0, a, b)`"),
            )),
        }
    }

    fn eval_list(&mut self, items: &'a [Expr], cx: Cx<'_>) -> Eval<Value> {
        let mut values = Vec::with_capacity(items.len());
        let mut stop = None;
        for item in items {
            match self.eval(item, cx) {
                Ok(value) => values.push(value),
                Err(why) => stop = Some(why),
            }
        }
        if let Some(why) = stop {
            return Err(why);
        }
        self.stack_values(&values, |at| items[at].span)
    }

    /// Scalars to a vector, equal vectors to a matrix.
    pub(super) fn stack_values(
        &mut self,
        values: &[Value],
        span: impl Fn(usize) -> Span,
    ) -> Eval<Value> {
        let Some(first) = values.first() else { return Ok(Value::vector(Vec::new())) };
        let shape = first.shape();
        if let Some(at) = values.iter().position(|v| v.shape() != shape) {
            let (a, b) = (describe(&shape), values[at].describe());
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    span(at),
                    format!("this is {b}, but the list begins with {a}"),
                )
                .hint("a list holds scalars only, or vectors of one length only"),
            ));
        }
        let data: Vec<ExprId> =
            values.iter().flat_map(|v| v.components().iter().copied()).collect();
        match shape.as_slice() {
            [] => Ok(Value::vector(data)),
            [columns] => Ok(Value::matrix(*columns, data)),
            _ => self.fault(Code::Shape, span(0), "a list of matrices has no meaning here"),
        }
    }

    fn eval_sum(&mut self, terms: &'a [(Sign, Expr)], cx: Cx<'_>) -> Eval<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(terms.len());
        let mut squares = Vec::new();
        let mut stop = None;
        for (sign, term) in terms {
            let before = self.n_squares();
            let value = self.eval(term, cx);
            squares.extend(self.square_of(term, before));
            match value {
                Ok(value) if *sign == Sign::Minus => values.push(value.neg(&self.exprs)),
                Ok(value) => values.push(value),
                Err(why) => stop = Some(why),
            }
        }
        if let Some(why) = stop {
            return Err(why);
        }
        self.see_sum(&squares);
        let shape = values[0].shape();
        if let Some(at) = values.iter().position(|v| v.shape() != shape) {
            let (a, b) = (describe(&shape), values[at].describe());
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    terms[at].1.span,
                    format!("{b} cannot be added to {a}"),
                )
                .at(b)
                .with(terms[0].1.span, a)
                .hint("only equal shapes can be added"),
            ));
        }
        Ok(Value::sum(&self.exprs, &values))
    }

    fn eval_product(&mut self, factors: &'a [(Times, Expr)], cx: Cx<'_>) -> Eval<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(factors.len());
        let mut stop = None;
        for (_, factor) in factors {
            match self.eval(factor, cx) {
                Ok(value) => values.push(value),
                Err(why) => stop = Some(why),
            }
        }
        if let Some(why) = stop {
            return Err(why);
        }
        // Scalars together first: one product node instead of a chain.
        if values.iter().all(|v| v.scalar().is_some()) {
            let mut ids = Vec::with_capacity(values.len());
            for (value, (times, factor)) in values.iter().zip(factors) {
                let id = value.scalar().unwrap_or(ExprId::ZERO);
                ids.push(match times {
                    Times::Multiply => id,
                    Times::Divide => self.reciprocal(id, factor.span)?,
                });
            }
            return Ok(Value::Scalar(self.exprs.product(&ids)));
        }
        let mut result = values[0].clone();
        for (at, (times, factor)) in factors.iter().enumerate().skip(1) {
            let size = (result.components().len() * values[at].components().len()) as u64;
            self.spend(size, factor.span)?;
            result = match times {
                Times::Multiply => {
                    self.multiply(&result, &values[at], factors[at - 1].1.span, factor.span)?
                }
                Times::Divide => match values[at].scalar() {
                    Some(id) => {
                        let inverse = self.reciprocal(id, factor.span)?;
                        result.scale(&self.exprs, inverse)
                    }
                    None => {
                        let found = values[at].describe();
                        return Err(self.report(
                            Diagnostic::fault(
                                Code::Shape,
                                factor.span,
                                format!("one cannot divide by {found}"),
                            )
                            .hint("divide by a scalar, such as `norm(r)` or `dot(r, r)`"),
                        ));
                    }
                },
            };
        }
        Ok(result)
    }

    fn reciprocal(&mut self, id: ExprId, span: Span) -> Eval<ExprId> {
        if id == ExprId::ZERO {
            return Err(self.report(
                Diagnostic::fault(
                    Code::DivisionByZero,
                    span,
                    "this is zero, and something is divided by it",
                )
                .hint("what is divided by must not vanish identically"),
            ));
        }
        Ok(self.exprs.at(id).powi(-1).id)
    }

    fn multiply(&mut self, a: &Value, b: &Value, left: Span, right: Span) -> Eval<Value> {
        if let Some(id) = a.scalar() {
            return Ok(b.scale(&self.exprs, id));
        }
        if let Some(id) = b.scalar() {
            return Ok(a.scale(&self.exprs, id));
        }
        if let (Value::Vector(_), Value::Vector(_)) = (a, b) {
            return Err(self.report(
                Diagnostic::fault(Code::VectorProduct, left.to(right), "the product of two vectors is not defined")
                    .hint("write `dot(a, b)` for the scalar product, `cross(a, b)` for the vector product"),
            ));
        }
        match a.matmul(&self.exprs, b) {
            Some(value) => Ok(value),
            None => {
                let message = format!("{} cannot be multiplied by {}", a.describe(), b.describe());
                Err(self.report(
                    Diagnostic::fault(Code::Shape, right, message)
                        .at(b.describe())
                        .with(left, a.describe())
                        .hint("the left factor needs as many columns as the right one has rows"),
                ))
            }
        }
    }

    fn eval_power(&mut self, base: &'a Expr, exponent: &'a Expr, cx: Cx<'_>) -> Eval<Value> {
        let (b, e) = (self.eval(base, cx), self.eval_scalar(exponent, cx));
        let (b, e) = (b?, e?);
        let Some(b) = b.scalar() else {
            let found = b.describe();
            return Err(self.report(
                Diagnostic::fault(
                    Code::Shape,
                    base.span,
                    format!("one cannot raise {found} to a power"),
                )
                .hint("the square of a vector's length is `dot(a, a)`"),
            ));
        };
        if b == ExprId::ZERO && self.exprs.as_number(e).is_some_and(|n| n.is_negative()) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::DivisionByZero,
                    base.span,
                    "this is zero, and it is raised to a negative power",
                )
                .hint("what is divided by must not vanish identically"),
            ));
        }
        self.see_power(b, e, base.span.to(exponent.span));
        Ok(Value::Scalar(self.exprs.pow(b, e)))
    }

    /// The condition of an `if`.
    pub(super) fn eval_condition(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<ExprId> {
        self.spend(1, expr.span)?;
        let (function, list) = match &expr.kind {
            ExprKind::Missing => return Err(self.already(expr.span)),
            ExprKind::Compare(left, relation, right) => {
                let (a, b) = (self.eval_scalar(left, cx), self.eval_scalar(right, cx));
                let (a, b) = (self.exprs.at(a?), self.exprs.at(b?));
                let (function, difference) = match relation {
                    Relation::Less => (Function::Negative, a - b),
                    Relation::Greater => (Function::Negative, b - a),
                    Relation::LessEqual => (Function::NotPositive, a - b),
                    Relation::GreaterEqual => (Function::NotPositive, b - a),
                };
                return Ok(self.exprs.call(function, &[difference.id]));
            }
            ExprKind::And(list) => (Function::And, list),
            ExprKind::Or(list) => (Function::Or, list),
            _ => {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::ArgumentKind,
                        expr.span,
                        "the condition of `if` is made of comparisons, and this is none",
                    )
                    .hint("write for instance `if(x > 0, a, b)`"),
                ));
            }
        };
        let mut parts = Vec::with_capacity(list.len());
        for part in list {
            parts.push(self.eval_condition(part, cx)?);
        }
        Ok(self.exprs.call(function, &parts))
    }

    /// The total time derivative of a value.
    pub(super) fn prime(&mut self, value: &Value, span: Span) -> Eval<Value> {
        const LAST: u16 = role::ACCELERATION
            | role::MOMENTUM_RATE
            | role::MULTIPLIER
            | role::REACTION
            | role::ENERGY;
        for &id in value.components() {
            let mask = self.mask(id);
            if mask & LAST == 0 {
                continue;
            }
            let (what, hint) = if mask & role::ACCELERATION != 0 {
                (
                    "this holds a third time derivative of a coordinate",
                    "equations of motion hold first and second derivatives only",
                )
            } else if mask & role::MOMENTUM_RATE != 0 {
                (
                    "this holds a second time derivative of a momentum",
                    "equations of motion hold first derivatives of momenta only",
                )
            } else {
                (
                    "this is an outcome of the motion and cannot be differentiated",
                    "energies, multipliers and reactions are known at each instant, their rates are not",
                )
            };
            return Err(
                self.report(Diagnostic::fault(Code::HigherDerivative, span, what).hint(hint))
            );
        }
        self.spend(value.components().len() as u64, span)?;
        let rate = value.map(|e| self.exprs.time_derivative(e));
        let rate = self.with_state_rates(rate)?;
        self.see_prime(value, &rate);
        Ok(rate)
    }

    /// An integer made of constants and loop indices.
    pub(super) fn integer(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<i64> {
        if let Some(value) = self.quick_integer(expr, cx) {
            return Ok(value);
        }
        let id = self.eval_scalar(expr, Cx { constant: true, ..cx })?;
        match self.exprs.as_number(id) {
            Some(number) => match number.as_integer() {
                Some(value) if value.unsigned_abs() < 1 << 53 => Ok(value),
                _ => self.not_integer(&number, expr.span),
            },
            None => Err(self.report(
                Diagnostic::fault(
                    Code::NotConstant,
                    expr.span,
                    "a range or an index is made of constants, loop indices and integers",
                )
                .hint("a named integer is declared by `const N = 5`"),
            )),
        }
    }

    fn not_integer<T>(&mut self, number: &Number, span: Span) -> Eval<T> {
        if number.is_integer() {
            return Err(self.report(
                Diagnostic::fault(
                    Code::TooLarge,
                    span,
                    format!("{number} is too large for a range or an index"),
                )
                .hint("a model has at most ten million statements and terms"),
            ));
        }
        Err(self.report(
            Diagnostic::fault(
                Code::NotInteger,
                span,
                format!("this is {number}, and an integer is needed"),
            )
            .hint("ranges and indices are integers; `mod(i, n)` is the remainder"),
        ))
    }

    /// `3`, `i`, `i - 1`: what nearly every index is, without making nodes.
    fn quick_integer(&self, expr: &Expr, cx: Cx<'_>) -> Option<i64> {
        match &expr.kind {
            ExprKind::Number(number) => number.as_integer().filter(|n| n.unsigned_abs() < 1 << 53),
            ExprKind::Name(name) => {
                let mut local = cx.locals;
                while let Some(this) = local {
                    if this.name == &**name {
                        return self.exprs.as_number(this.value.scalar()?)?.as_integer();
                    }
                    local = this.outer;
                }
                let mut env = cx.env;
                while env != EnvId(0) {
                    let this = &self.envs[env.0 as usize];
                    match &this.index {
                        Some((index, value)) if **index == **name => return Some(*value),
                        _ if this.locals.contains_key(name) => return None,
                        _ => env = this.parent,
                    }
                }
                None
            }
            ExprKind::Negative(inner) => self.quick_integer(inner, cx).map(|n| -n),
            ExprKind::Sum(terms) => terms.iter().try_fold(0i64, |total, (sign, term)| {
                let value = self.quick_integer(term, cx)?;
                let value = if *sign == Sign::Minus { -value } else { value };
                total.checked_add(value).filter(|n| n.unsigned_abs() < 1 << 53)
            }),
            _ => None,
        }
    }

    pub(super) fn indices(&mut self, list: &'a [Expr], cx: Cx<'_>) -> Eval<Indices> {
        let mut indices = Indices::new();
        for expr in list {
            indices.push(self.integer(expr, cx)?);
        }
        Ok(indices)
    }
}
