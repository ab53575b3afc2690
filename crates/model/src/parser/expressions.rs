//! Expressions, tightest binding last:
//!
//! ```text
//! cond    = both { "or" both }              both  = compare { "and" compare }
//! compare = sum [ ("<" | ">" | "<=" | ">=") sum ]
//! sum     = product { ("+" | "-") product } product = unary { ("*" | "/") unary }
//! unary   = { "-" | "+" } power             power   = postfix [ "^" unary ]
//! ```
//!
//! The rest, `postfix` and `primary`, is in [`super::operands`].
//!
//! Comparisons stand in the condition of `if` only.

use super::words::is_unit;
use super::{MAX_DEPTH, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon;
use crate::span::Span;
use crate::tree::{Expr, ExprKind, Relation, Sign, Times};

impl Parser<'_> {
    /// An expression that is a value; a comparison is reported.
    pub(super) fn value(&mut self) -> Expr {
        let value = self.sum();
        if !self.at_comparison() {
            return value;
        }
        let word = self.describe(self.at);
        let hint = "a value that depends on a comparison is written `if(a < b, c, d)`";
        let message = format!("{word} stands in the condition of `if` only");
        self.fault_here(Code::ComparisonPlace, message, hint);
        let start = value.span;
        let quiet = std::mem::replace(&mut self.quiet, true);
        self.rest_of_condition(value);
        self.quiet = quiet;
        self.faulted = Some(self.at);
        Expr { kind: ExprKind::Missing, span: start.to(self.last_span()) }
    }

    /// Whether a comparison, or conditions joined, go on here.
    fn at_comparison(&self) -> bool {
        self.relation().is_some() || self.kind().is_name("and") || self.kind().is_name("or")
    }

    pub(super) fn relation(&self) -> Option<Relation> {
        Some(match self.kind() {
            TokenKind::Less => Relation::Less,
            TokenKind::LessEqual => Relation::LessEqual,
            TokenKind::Greater => Relation::Greater,
            TokenKind::GreaterEqual => Relation::GreaterEqual,
            _ => return None,
        })
    }

    pub(super) fn condition(&mut self) -> Expr {
        let first = self.sum();
        self.rest_of_condition(first)
    }

    /// The condition that begins with the sum `first`.
    fn rest_of_condition(&mut self, first: Expr) -> Expr {
        let mut any = Vec::new();
        let mut all = vec![self.comparison(first)];
        loop {
            if self.eat_name("and") {
                let left = self.sum();
                all.push(self.comparison(left));
            } else {
                any.push(joined(std::mem::take(&mut all), ExprKind::And));
                if !self.eat_name("or") {
                    return joined(any, ExprKind::Or);
                }
                let left = self.sum();
                all.push(self.comparison(left));
            }
        }
    }

    fn comparison(&mut self, left: Expr) -> Expr {
        if *self.kind() == TokenKind::Equals {
            let hint =
                "compare with `<`, `>`, `<=` or `>=`; computed numbers are never exactly equal";
            self.fault_here(Code::Syntax, "a condition holds no `=`".into(), hint);
            self.bump();
            self.sum();
            return Expr { kind: ExprKind::Missing, span: left.span.to(self.last_span()) };
        }
        let Some(relation) = self.relation() else { return left };
        self.bump();
        let right = self.sum();
        if self.relation().is_some() {
            let hint = "write `a < b and b < c`";
            self.fault_here(Code::Syntax, "comparisons cannot be chained".into(), hint);
            while self.relation().is_some() {
                self.bump();
                self.sum();
            }
        }
        let span = left.span.to(right.span);
        Expr { kind: ExprKind::Compare(Box::new(left), relation, Box::new(right)), span }
    }

    /// A sum: what a statement calls an expression.
    pub(super) fn sum(&mut self) -> Expr {
        let mut terms = vec![(Sign::Plus, self.product())];
        loop {
            let sign = match self.kind() {
                TokenKind::Plus => Sign::Plus,
                TokenKind::Minus => Sign::Minus,
                _ => break,
            };
            self.bump();
            terms.push((sign, self.product()));
        }
        chain(terms, ExprKind::Sum)
    }

    fn product(&mut self) -> Expr {
        let mut factors = vec![(Times::Multiply, self.unary(false))];
        loop {
            let times = match self.kind() {
                TokenKind::Star => Times::Multiply,
                TokenKind::Slash => Times::Divide,
                // An operator that was reported may be any; a product is the
                // most tolerant one.
                TokenKind::Unknown => {
                    self.bump();
                    if self.kind().begins_operand() && !self.at_stop() {
                        factors.push((Times::Multiply, self.unary(false)));
                    }
                    continue;
                }
                TokenKind::Name(word) if &**word == "in" && !self.at_stop() => {
                    factors = vec![(Times::Multiply, self.stray_binder())];
                    continue;
                }
                kind if kind.begins_operand() && !self.at_stop() => {
                    self.implicit_product(&mut factors);
                    continue;
                }
                _ => break,
            };
            self.bump();
            factors.push((times, self.unary(false)));
        }
        chain(factors, ExprKind::Product)
    }

    /// Whether an expression ends here although an operand follows.
    fn at_stop(&self) -> bool {
        let Some(word) = self.kind().name() else { return false };
        matches!(word, "and" | "or")
            || self.context.stops.contains(&word)
            || (!self.context.inside && self.at_statement())
            || (self.context.items && self.begins_assignment())
    }

    /// Whether `name =` stands here, with anything of `'`, `.`, `[ ]` between.
    pub(super) fn begins_assignment(&self) -> bool {
        use TokenKind::*;
        let mut at = self.at + 1;
        while matches!(self.kind_at(at), Prime | Dot | OpenBracket | OpenParen)
            || (matches!(self.kind_at(at), Name(_)) && *self.kind_at(at - 1) == Dot)
        {
            at = self.step_over(at);
        }
        matches!(self.kind_at(at), Equals | Tilde)
    }

    /// Operands side by side: one fault, however many there are.
    fn implicit_product(&mut self, factors: &mut Vec<(Times, Expr)>) {
        if self.unit(factors) || self.bare_function(factors) {
            return;
        }
        let quiet = self.reported.contains(&self.span().start) || self.faulted == Some(self.at);
        let spaced_call = *self.kind() == TokenKind::OpenParen;
        let first = factors.last().map_or(self.span(), |(_, factor)| factor.span);
        let mut written = vec![self.written(first)];
        let name = match factors.last().map(|(_, factor)| &factor.kind) {
            Some(ExprKind::Name(name)) => Some(name.clone()),
            _ => None,
        };
        let mut of_time = false;
        while self.kind().begins_operand() && !self.at_stop() && !self.kind().is_name("in") {
            let factor = self.power(false);
            of_time |= written.len() == 1 && spaced_call && is_time(&factor);
            written.push(self.written(factor.span));
            factors.push((Times::Multiply, factor));
            let goes_on = self.kind().begins_operand() && !self.at_stop();
            if goes_on && self.bare_function(factors) {
                written.push(None);
            }
        }
        // What else these operands lack, such as an `=`, is not mentioned.
        self.faulted = Some(self.at);
        if quiet {
            return;
        }
        let place = first.to(self.last_span());
        let message = "an operator is missing here: nothing is multiplied implicitly";
        let mut fault = Diagnostic::fault(Code::ImplicitMultiplication, place, message);
        let written: Option<Vec<&str>> = written.into_iter().collect();
        fault = match written.filter(|_| !of_time).map(|written| written.join("*")) {
            _ if of_time => fault.hint("what moves depends on `t` by itself; leave the `(t)` out"),
            Some(product) if product.len() < 60 && !product.contains('\\') => {
                fault.hint(format!("write `{product}`"))
            }
            _ => fault.hint("write a `*` between the factors"),
        };
        if !of_time
            && spaced_call
            && let Some(name) = name.filter(|name| first.range().len() == name.len())
        {
            fault = fault.hint(format!("a function is defined by `let {name}(a) = …`"));
        }
        self.report(fault);
    }

    /// `3 kg`, `9.81 m/s^2`: takes the unit, and says that there are none.
    fn unit(&mut self, factors: &[(Times, Expr)]) -> bool {
        let Some((_, Expr { kind: ExprKind::Number(_), span: number })) = factors.last() else {
            return false;
        };
        // Where a number is wanted, even the name of a mass is a unit.
        let unit_at = |parser: &Self, at: usize| {
            let name = parser.kind_at(at).name().filter(|name| is_unit(name));
            name.is_some_and(|name| parser.wants_number || !parser.declared.names.contains(name))
        };
        if !unit_at(self, self.at) {
            return false;
        }
        let start = self.span();
        let declared = self.kind().name().is_some_and(|name| self.declared.names.contains(name));
        let is_angle = matches!(self.kind().name(), Some("deg" | "degree" | "degrees"));
        self.bump();
        loop {
            let length = match self.kind() {
                // And so it is behind another unit: `N/m`.
                TokenKind::Star | TokenKind::Slash => {
                    let next = self.kind_at(self.at + 1).name();
                    if next.is_some_and(is_unit) { 2 } else { 0 }
                }
                TokenKind::Caret => {
                    let sign = usize::from(*self.kind_at(self.at + 1) == TokenKind::Minus);
                    let digits = self.kind_at(self.at + 1 + sign);
                    if matches!(digits, TokenKind::Number(_)) { 2 + sign } else { 0 }
                }
                _ => usize::from(unit_at(self, self.at)),
            };
            if length == 0 {
                break;
            }
            self.at += length;
        }
        let place = start.to(self.last_span());
        let message = match self.written(place) {
            Some(written) => format!("`{written}` looks like a unit, and numbers have none here"),
            None => "this looks like a unit, and numbers have none here".to_owned(),
        };
        let number = *number;
        let hint = match (is_angle, self.written(number)) {
            (true, Some(number)) => format!("angles are in radians: write `{number}*deg`"),
            _ => "leave it out, and keep to one system of units in the whole model".into(),
        };
        let mut fault = Diagnostic::fault(Code::ImplicitMultiplication, place, message).hint(hint);
        if declared && let (Some(number), Some(unit)) = (self.written(number), self.written(place))
        {
            fault = fault.hint(format!("if a product is meant, write `{number}*{unit}`"));
        }
        self.report(fault);
        true
    }

    /// `sin x`: takes the argument, and says that it wants parentheses.
    fn bare_function(&mut self, factors: &mut [(Times, Expr)]) -> bool {
        let Some((_, factor)) = factors.last_mut() else { return false };
        let ExprKind::Name(name) = &factor.kind else { return false };
        let name = name.clone();
        let known = lexicon::is_function(&name) || self.declared.functions.contains(&name);
        if !known || *self.kind() == TokenKind::OpenParen || self.kind().is_name("in") {
            return false;
        }
        let argument = self.power(false);
        let is_over = !self.kind().begins_operand()
            && !matches!(self.kind(), TokenKind::Star | TokenKind::Slash);
        let hint = match self.written(argument.span).filter(|_| is_over) {
            Some(argument) => format!("write `{name}({argument})`"),
            None => format!("write `{name}(…)`"),
        };
        let message = format!("the argument of `{name}` stands in parentheses");
        self.report(
            Diagnostic::fault(Code::FunctionValue, factor.span.to(argument.span), message)
                .hint(hint),
        );
        factor.span = factor.span.to(argument.span);
        factor.kind = ExprKind::Missing;
        true
    }

    /// `i in 1..N` where no index can be bound.
    fn stray_binder(&mut self) -> Expr {
        let hint = "write `sum(i in 1..N, …)`, `product(i in 1..N, …)` or `for i in 1..N { … }`";
        let message = "an index runs in `sum`, `product` and `for` only".into();
        self.fault_here(Code::BinderPlace, message, hint);
        self.skip_item();
        self.missing()
    }

    fn unary(&mut self, is_exponent: bool) -> Expr {
        let start = self.span();
        let first = self.at;
        let mut negative = false;
        while matches!(self.kind(), TokenKind::Minus | TokenKind::Plus) {
            negative ^= *self.kind() == TokenKind::Minus;
            self.bump();
        }
        if self.at == first {
            return self.power(is_exponent);
        }
        if self.at - first > MAX_DEPTH {
            self.report_too_deep();
        }
        // Two signs cancel: a run of them is no deeper than one.
        let operand = self.power(is_exponent);
        let span = start.to(operand.span);
        match negative {
            true => Expr { kind: ExprKind::Negative(Box::new(operand)), span },
            false => Expr { kind: operand.kind, span },
        }
    }

    fn power(&mut self, is_exponent: bool) -> Expr {
        let base = self.postfix(is_exponent);
        if *self.kind() != TokenKind::Caret {
            return base;
        }
        if !self.enter() {
            self.skip_item();
            return self.missing();
        }
        self.bump();
        let exponent = self.unary(true);
        self.depth -= 1;
        let span = base.span.to(exponent.span);
        let power = Expr { kind: ExprKind::Power(Box::new(base), Box::new(exponent)), span };
        if *self.kind() == TokenKind::Prime { self.prime_of_power(power) } else { power }
    }

    /// `x^2'`: meant is `x'^2` or `(x^2)'`, and no one knows which.
    fn prime_of_power(&mut self, power: Expr) -> Expr {
        let first = self.span();
        let mut n_primes = 0;
        while self.eat(&TokenKind::Prime) {
            n_primes += 1;
        }
        let span = power.span.to(self.last_span());
        let message = "a prime behind a power belongs to neither its base nor its exponent";
        let fault = Diagnostic::fault(Code::PrimeAfterPower, first.to(self.last_span()), message);
        let primes = "'".repeat(n_primes.min(3));
        let parts = match &power.kind {
            ExprKind::Power(base, exponent) => {
                self.written(base.span).zip(self.written(exponent.span))
            }
            _ => None,
        };
        let hint = match (self.written(power.span), parts) {
            (Some(power), Some((base, exponent))) => format!(
                "write `{base}{primes}^{exponent}` for a power of the derivative, `({power}){primes}` \
                 for the derivative of the power"
            ),
            _ => "put the power in parentheses for its derivative".into(),
        };
        self.report(fault.hint(hint));
        Expr { kind: ExprKind::Missing, span }
    }
}

/// A chain of operands of one kind; a single one is itself.
fn chain<S>(mut operands: Vec<(S, Expr)>, kind: impl FnOnce(Vec<(S, Expr)>) -> ExprKind) -> Expr {
    match (operands.len(), operands.first(), operands.last()) {
        (2.., Some((_, first)), Some((_, last))) => {
            let span = first.span.to(last.span);
            Expr { kind: kind(operands), span }
        }
        _ => match operands.pop() {
            Some((_, only)) => only,
            None => Expr { kind: ExprKind::Missing, span: Span::default() },
        },
    }
}

fn joined(operands: Vec<Expr>, kind: impl FnOnce(Vec<Expr>) -> ExprKind) -> Expr {
    let keyed = operands.into_iter().map(|operand| ((), operand)).collect();
    chain(keyed, |keyed| kind(keyed.into_iter().map(|(_, operand)| operand).collect()))
}

/// `(t)`, perhaps with a power behind it.
fn is_time(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => &**name == "t",
        ExprKind::Power(base, _) => is_time(base),
        _ => false,
    }
}
