//! Building a model without text.
//!
//! A [`Builder`] offers every statement of the language as a method, and
//! [`Term`]s with ordinary operators for its expressions. It writes the model
//! down as it goes, so that the result is the same [`System`](crate::system::System)
//! the language gives, every check included, and a message about it has a line to
//! point at. [`Builder::source`] shows that text.
//!
//! ```
//! use dalembert_model::build::Builder;
//!
//! let b = Builder::new("Pendulum on a cart");
//! let (m, l, g) = (b.param("m", 0.3), b.param("l", 1), b.param("g", 9.81));
//! let (x, th) = (b.coord("x"), b.coord("th"));
//! b.kinetic(5 * x.prime().powi(2) / 2);
//! b.gravity((0, -g));
//! let bob = b.particle("bob", m, [x + l * th.sin(), -l * th.cos()]);
//! let track = b.constraint("track", x, (2 * b.time()).sin() / 10);
//! b.start(th, 3);
//! b.observe("u", x.reaction_of(track));
//! b.observe("speed", bob.velocity().norm());
//! let model = b.finish().expect("no faults");
//! assert_eq!(model.system.coordinates.len(), 2);
//! assert_eq!(model.system.constraints[0].kinds()[0], "holonomic");
//! ```

use crate::format;
use crate::load::{Loaded, Syntax, load};
use crate::resolve::Limits;
use crate::span::Span;
use crate::system::Model;
use crate::tree::{Argument, Expr, ExprKind, Postfix, PostfixKind, Relation, Sign, Times};
use dalembert_expr::Number;
use std::cell::RefCell;
use std::fmt::Write;
use std::ops::{Add, Div, Mul, Neg, RangeInclusive, Sub};
use std::sync::Arc;

/// A tree larger than this gets a name of its own, so that what is used often is
/// written, and evaluated, once.
const LARGE: usize = 40;

/// Writes a model down, statement by statement.
pub struct Builder {
    title: String,
    state: RefCell<State>,
}

struct State {
    text: String,
    terms: Vec<(Expr, usize)>,
    n_auxiliary: usize,
}

/// A quantity of a model: an expression of the language, to be combined with
/// operators. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Term<'b> {
    builder: &'b Builder,
    id: usize,
}

/// A constraint that was stated, to refer to.
#[derive(Clone)]
pub struct ConstraintHandle<'b> {
    builder: &'b Builder,
    label: Expr,
}

/// What a quantity or a constraint of a builder is called, for use after it: it borrows
/// nothing, and serves as a key wherever a name does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(Arc<str>);

impl Handle {
    /// The name in the language.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A particle or body that was stated.
#[derive(Clone)]
pub struct BodyHandle<'b> {
    builder: &'b Builder,
    name: Expr,
}

/// Whatever can stand for a quantity: terms, numbers, and lists of them.
pub trait Quantity<'b> {
    /// The term it is.
    fn term(self, builder: &'b Builder) -> Term<'b>;
}

impl<'b> Quantity<'b> for Term<'b> {
    fn term(self, _: &'b Builder) -> Term<'b> {
        self
    }
}

impl<'b> Quantity<'b> for i64 {
    fn term(self, builder: &'b Builder) -> Term<'b> {
        builder.number(Number::integer(self))
    }
}

impl<'b> Quantity<'b> for i32 {
    fn term(self, builder: &'b Builder) -> Term<'b> {
        i64::from(self).term(builder)
    }
}

impl<'b> Quantity<'b> for f64 {
    /// Its shortest decimal form, exactly; NaN and infinities become a fault.
    fn term(self, builder: &'b Builder) -> Term<'b> {
        match Number::from_f64(self) {
            Some(number) => builder.number(number),
            None => builder.add(node(ExprKind::Missing), 1),
        }
    }
}

impl<'b, Q: Quantity<'b>, const N: usize> Quantity<'b> for [Q; N] {
    fn term(self, builder: &'b Builder) -> Term<'b> {
        builder.list(self.into_iter().map(|q| q.term(builder)).collect())
    }
}

impl<'b, Q: Quantity<'b>> Quantity<'b> for Vec<Q> {
    fn term(self, builder: &'b Builder) -> Term<'b> {
        builder.list(self.into_iter().map(|q| q.term(builder)).collect())
    }
}

macro_rules! tuple {
    ($($part:ident $at:tt),*) => {
        impl<'b, $($part: Quantity<'b>),*> Quantity<'b> for ($($part,)*) {
            /// A vector of different kinds of things, `(0, -g)`.
            fn term(self, builder: &'b Builder) -> Term<'b> {
                builder.list(vec![$(self.$at.term(builder)),*])
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

fn node(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn name(text: &str) -> Expr {
    // `th[2]` is a name with indices.
    match text.split_once('[').and_then(|(base, rest)| Some((base, rest.strip_suffix(']')?))) {
        Some((base, inside)) => {
            let indices = inside.split(',').map(|i| {
                let number = Number::from_decimal(i.trim()).unwrap_or(Number::ZERO);
                node(ExprKind::Number(number))
            });
            let index = PostfixKind::Index(indices.collect());
            postfix(node(ExprKind::Name(base.into())), index)
        }
        None => node(ExprKind::Name(text.into())),
    }
}

fn postfix(base: Expr, kind: PostfixKind) -> Expr {
    let operation = Postfix { kind, span: Span::default() };
    match base.kind {
        ExprKind::Postfix(inner, mut operations) => {
            operations.push(operation);
            node(ExprKind::Postfix(inner, operations))
        }
        _ => node(ExprKind::Postfix(Box::new(base), vec![operation])),
    }
}

impl Builder {
    /// An empty model with a title.
    pub fn new(title: &str) -> Self {
        let state = State { text: String::new(), terms: Vec::new(), n_auxiliary: 0 };
        Builder { title: title.lines().next().unwrap_or("").to_owned(), state: RefCell::new(state) }
    }

    /// The model in the language.
    pub fn source(&self) -> String {
        let title =
            if self.title.is_empty() { String::new() } else { format!("system {}\n", self.title) };
        title + &self.state.borrow().text
    }

    /// The model, or all that is wrong with it.
    pub fn finish(&self) -> Result<Model, Box<Loaded>> {
        let name = if self.title.is_empty() { "model" } else { &self.title };
        let mut loaded = load(name, &self.source(), Syntax::Plain, &[], Limits::default());
        match loaded.model.take() {
            Some(model) => Ok(model),
            None => Err(Box::new(loaded)),
        }
    }

    fn add(&self, expr: Expr, size: usize) -> Term<'_> {
        if size > LARGE {
            let auxiliary = {
                let state = &mut *self.state.borrow_mut();
                state.n_auxiliary += 1;
                format!("aux_{}", state.n_auxiliary)
            };
            self.statement(&format!("let {auxiliary} = {}", format::format_expression(&expr)));
            return self.add(node(ExprKind::Name(auxiliary.as_str().into())), 1);
        }
        let terms = &mut self.state.borrow_mut().terms;
        terms.push((expr, size));
        Term { builder: self, id: terms.len() - 1 }
    }

    fn number(&self, number: Number) -> Term<'_> {
        let negative = number.is_negative();
        let inner = node(ExprKind::Number(number.abs()));
        let expr = if negative { node(ExprKind::Negative(Box::new(inner))) } else { inner };
        self.add(expr, 1)
    }

    fn list(&self, items: Vec<Term<'_>>) -> Term<'_> {
        let size = items.iter().map(|t| t.size()).sum::<usize>() + 1;
        self.add(node(ExprKind::List(items.iter().map(|t| t.expr()).collect())), size)
    }

    fn statement(&self, text: &str) {
        let _ = writeln!(self.state.borrow_mut().text, "{text}");
    }

    fn text<'b>(&'b self, quantity: impl Quantity<'b>) -> String {
        format::format_expression(&quantity.term(self).expr())
    }

    /// Time.
    pub fn time(&self) -> Term<'_> {
        self.named("t")
    }

    /// π.
    pub fn pi(&self) -> Term<'_> {
        self.named("pi")
    }

    /// Whatever has this name: `x`, `th[2]`, `energy`.
    pub fn named(&self, text: &str) -> Term<'_> {
        self.add(name(text), 1)
    }

    /// A vector, or a matrix from its rows.
    pub fn vector<'b, Q: Quantity<'b>>(&'b self, items: impl IntoIterator<Item = Q>) -> Term<'b> {
        self.list(items.into_iter().map(|q| q.term(self)).collect())
    }

    /// A parameter with its value.
    pub fn param<'b>(&'b self, name: &str, value: impl Quantity<'b>) -> Term<'b> {
        let value = self.text(value);
        self.statement(&format!("param {name} = {value}"));
        self.named(name)
    }

    /// A coordinate.
    pub fn coord(&self, name: &str) -> Term<'_> {
        self.statement(&format!("coord {name}"));
        self.named(name)
    }

    /// A family of coordinates, `name[first]` to `name[last]`.
    pub fn coords(&self, name: &str, range: RangeInclusive<i64>) -> Vec<Term<'_>> {
        self.statement(&format!("coord {name}[{}..{}]", range.start(), range.end()));
        range.map(|i| self.named(&format!("{name}[{i}]"))).collect()
    }

    /// A named expression.
    pub fn define<'b>(&'b self, name: &str, value: impl Quantity<'b>) -> Term<'b> {
        let value = self.text(value);
        self.statement(&format!("let {name} = {value}"));
        self.named(name)
    }

    /// A quasi-velocity.
    pub fn speed<'b>(&'b self, name: &str, value: impl Quantity<'b>) -> Term<'b> {
        let value = self.text(value);
        self.statement(&format!("speed {name} = {value}"));
        self.named(name)
    }

    /// Adds to T.
    pub fn kinetic<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("kinetic", value);
    }

    /// Adds to V.
    pub fn potential<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("potential", value);
    }

    /// Adds to L.
    pub fn lagrangian<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("lagrangian", value);
    }

    /// Adds to H.
    pub fn hamiltonian<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("hamiltonian", value);
    }

    /// Adds to Rayleigh's function.
    pub fn dissipation<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("dissipation", value);
    }

    /// The acceleration of gravity.
    pub fn gravity<'b>(&'b self, value: impl Quantity<'b>) {
        self.plain("gravity", value);
    }

    fn plain<'b>(&'b self, word: &str, value: impl Quantity<'b>) {
        let value = self.text(value);
        self.statement(&format!("{word} {value}"));
    }

    /// A generalized force on a coordinate.
    pub fn force_on<'b>(&'b self, coordinate: Term<'b>, value: impl Quantity<'b>) {
        let (on, value) = (self.text(coordinate), self.text(value));
        self.statement(&format!("force {on}: {value}"));
    }

    /// A force at a position.
    pub fn force_at<'b>(&'b self, value: impl Quantity<'b>, position: impl Quantity<'b>) {
        let (value, position) = (self.text(value), self.text(position));
        self.statement(&format!("force {value} at {position}"));
    }

    /// A force along a velocity.
    pub fn force_along<'b>(&'b self, value: impl Quantity<'b>, velocity: impl Quantity<'b>) {
        let (value, velocity) = (self.text(value), self.text(velocity));
        self.statement(&format!("force {value} along {velocity}"));
    }

    /// A non-ideal part of the constraint force on a coordinate.
    pub fn nonideal_on<'b>(&'b self, coordinate: Term<'b>, value: impl Quantity<'b>) {
        let (on, value) = (self.text(coordinate), self.text(value));
        self.statement(&format!("nonideal {on}: {value}"));
    }

    /// A non-ideal part of the constraint force along a velocity.
    pub fn nonideal_along<'b>(&'b self, value: impl Quantity<'b>, velocity: impl Quantity<'b>) {
        let (value, velocity) = (self.text(value), self.text(velocity));
        self.statement(&format!("nonideal {value} along {velocity}"));
    }

    /// left = right, on positions, velocities, momenta or accelerations; a row
    /// for each component.
    pub fn constraint<'b>(
        &'b self,
        label: &str,
        left: impl Quantity<'b>,
        right: impl Quantity<'b>,
    ) -> ConstraintHandle<'b> {
        let (left, right) = (self.text(left), self.text(right));
        self.statement(&format!("constraint {label}: {left} = {right}"));
        ConstraintHandle { builder: self, label: name(label) }
    }

    /// A particle: mass and position.
    pub fn particle<'b>(
        &'b self,
        called: &str,
        mass: impl Quantity<'b>,
        position: impl Quantity<'b>,
    ) -> BodyHandle<'b> {
        let (mass, position) = (self.text(mass), self.text(position));
        self.statement(&format!("particle {called}: mass {mass}, at {position}"));
        BodyHandle { builder: self, name: name(called) }
    }

    /// A rigid body: mass, inertia about its mass center in body axes, position
    /// of the mass center, and rotation matrix (in the plane, the angle).
    pub fn body<'b>(
        &'b self,
        called: &str,
        mass: impl Quantity<'b>,
        inertia: impl Quantity<'b>,
        position: impl Quantity<'b>,
        turning: impl Quantity<'b>,
    ) -> BodyHandle<'b> {
        let (mass, inertia) = (self.text(mass), self.text(inertia));
        let (position, turning) = (self.text(position), self.text(turning));
        self.statement(&format!(
            "body {called}: mass {mass}, inertia {inertia}, at {position}, turning {turning}"
        ));
        BodyHandle { builder: self, name: name(called) }
    }

    /// An equation that holds at the start.
    pub fn start<'b>(&'b self, left: impl Quantity<'b>, right: impl Quantity<'b>) {
        let (left, right) = (self.text(left), self.text(right));
        self.statement(&format!("start {left} = {right}"));
    }

    /// A guess for the start.
    pub fn guess<'b>(&'b self, left: impl Quantity<'b>, right: impl Quantity<'b>) {
        let (left, right) = (self.text(left), self.text(right));
        self.statement(&format!("start {left} ~ {right}"));
    }

    /// The span of time a run covers by default.
    pub fn run<'b>(&'b self, from: impl Quantity<'b>, to: impl Quantity<'b>) {
        let (from, to) = (self.text(from), self.text(to));
        self.statement(&format!("run t = {from}..{to}"));
    }

    /// A further output.
    pub fn observe<'b>(&'b self, name: &str, value: impl Quantity<'b>) {
        let value = self.text(value);
        self.statement(&format!("observe {name} = {value}"));
    }

    /// Any other statement, in the language.
    pub fn line(&self, statement: &str) {
        self.statement(statement);
    }

    fn function<'b>(&'b self, function: &str, arguments: &[Term<'b>]) -> Term<'b> {
        let size = arguments.iter().map(|t| t.size()).sum::<usize>() + 1;
        let arguments = arguments.iter().map(|t| Argument::Value(t.expr())).collect();
        self.add(postfix(name(function), PostfixKind::Call(arguments)), size)
    }

    /// The rotation about the first axis.
    pub fn rx<'b>(&'b self, angle: impl Quantity<'b>) -> Term<'b> {
        let angle = angle.term(self);
        self.function("Rx", &[angle])
    }

    /// The rotation about the second axis.
    pub fn ry<'b>(&'b self, angle: impl Quantity<'b>) -> Term<'b> {
        let angle = angle.term(self);
        self.function("Ry", &[angle])
    }

    /// The rotation about the third axis.
    pub fn rz<'b>(&'b self, angle: impl Quantity<'b>) -> Term<'b> {
        let angle = angle.term(self);
        self.function("Rz", &[angle])
    }

    /// The rotation of a quaternion, scalar part first.
    pub fn rq<'b>(&'b self, quaternion: impl Quantity<'b>) -> Term<'b> {
        let quaternion = quaternion.term(self);
        self.function("Rq", &[quaternion])
    }

    /// `yes` where `left` < `right`, else `no`.
    pub fn if_less<'b>(
        &'b self,
        left: impl Quantity<'b>,
        right: impl Quantity<'b>,
        yes: impl Quantity<'b>,
        no: impl Quantity<'b>,
    ) -> Term<'b> {
        let [a, b, c, d] = [left.term(self), right.term(self), yes.term(self), no.term(self)];
        let test = node(ExprKind::Compare(Box::new(a.expr()), Relation::Less, Box::new(b.expr())));
        let arguments =
            vec![Argument::Value(test), Argument::Value(c.expr()), Argument::Value(d.expr())];
        let size = a.size() + b.size() + c.size() + d.size() + 2;
        self.add(postfix(name("if"), PostfixKind::Call(arguments)), size)
    }
}

impl<'b> Term<'b> {
    fn expr(self) -> Expr {
        self.builder.state.borrow().terms[self.id].0.clone()
    }

    fn size(self) -> usize {
        self.builder.state.borrow().terms[self.id].1
    }

    /// It as the language writes it: `x` of a coordinate, `x'` of its rate.
    pub fn text(self) -> String {
        format::format_expression(&self.expr())
    }

    /// A hold on it that outlives the builder.
    pub fn handle(self) -> Handle {
        Handle(self.text().into())
    }

    fn with(self, operation: PostfixKind, more: usize) -> Term<'b> {
        self.builder.add(postfix(self.expr(), operation), self.size() + more + 1)
    }

    fn call(self, function: &str) -> Term<'b> {
        self.builder.function(function, &[self])
    }

    fn call2(self, function: &str, other: impl Quantity<'b>) -> Term<'b> {
        let other = other.term(self.builder);
        self.builder.function(function, &[self, other])
    }

    /// The total time derivative.
    pub fn prime(self) -> Term<'b> {
        self.with(PostfixKind::Prime, 0)
    }

    /// A component, from 1.
    pub fn at(self, index: i64) -> Term<'b> {
        self.with(PostfixKind::Index(vec![node(ExprKind::Number(Number::integer(index)))]), 1)
    }

    /// The momentum of this coordinate.
    pub fn momentum(self) -> Term<'b> {
        let text = format::format_expression(&self.expr());
        self.builder.named(&format!("p_{text}"))
    }

    /// The integer power.
    pub fn powi(self, n: i64) -> Term<'b> {
        self.pow(n)
    }

    /// The power.
    pub fn pow(self, exponent: impl Quantity<'b>) -> Term<'b> {
        let exponent = exponent.term(self.builder);
        let size = self.size() + exponent.size() + 1;
        let kind = ExprKind::Power(Box::new(self.expr()), Box::new(exponent.expr()));
        self.builder.add(node(kind), size)
    }

    /// The square root.
    pub fn sqrt(self) -> Term<'b> {
        self.call("sqrt")
    }

    /// sin
    pub fn sin(self) -> Term<'b> {
        self.call("sin")
    }

    /// cos
    pub fn cos(self) -> Term<'b> {
        self.call("cos")
    }

    /// tan
    pub fn tan(self) -> Term<'b> {
        self.call("tan")
    }

    /// The exponential function.
    pub fn exp(self) -> Term<'b> {
        self.call("exp")
    }

    /// Natural logarithm.
    pub fn log(self) -> Term<'b> {
        self.call("log")
    }

    /// Absolute value.
    pub fn abs(self) -> Term<'b> {
        self.call("abs")
    }

    /// −1, 0 or 1.
    pub fn sign(self) -> Term<'b> {
        self.call("sign")
    }

    /// The length of a vector.
    pub fn norm(self) -> Term<'b> {
        self.call("norm")
    }

    /// The transpose of a matrix.
    pub fn transpose(self) -> Term<'b> {
        self.call("transpose")
    }

    /// The scalar product.
    pub fn dot(self, other: impl Quantity<'b>) -> Term<'b> {
        self.call2("dot", other)
    }

    /// The vector product.
    pub fn cross(self, other: impl Quantity<'b>) -> Term<'b> {
        self.call2("cross", other)
    }

    /// The smaller one.
    pub fn min(self, other: impl Quantity<'b>) -> Term<'b> {
        self.call2("min", other)
    }

    /// The larger one.
    pub fn max(self, other: impl Quantity<'b>) -> Term<'b> {
        self.call2("max", other)
    }

    /// The whole constraint force on this coordinate.
    pub fn reaction(self) -> Term<'b> {
        self.call("reaction")
    }

    /// One constraint's share of the constraint force on this coordinate.
    pub fn reaction_of(self, constraint: ConstraintHandle<'b>) -> Term<'b> {
        let arguments = vec![Argument::Value(self.expr()), Argument::Value(constraint.label)];
        self.builder.add(postfix(name("reaction"), PostfixKind::Call(arguments)), self.size() + 2)
    }
}

impl<'b> ConstraintHandle<'b> {
    fn call(&self, function: &str) -> Term<'b> {
        let arguments = vec![Argument::Value(self.label.clone())];
        self.builder.add(postfix(name(function), PostfixKind::Call(arguments)), 2)
    }

    /// Its label.
    pub fn text(&self) -> String {
        format::format_expression(&self.label)
    }

    /// A hold on it that outlives the builder.
    pub fn handle(&self) -> Handle {
        Handle(self.text().into())
    }

    /// The multiplier; a vector for a vector constraint.
    pub fn multiplier(&self) -> Term<'b> {
        self.call("multiplier")
    }

    /// left − right.
    pub fn residual(&self) -> Term<'b> {
        self.call("residual")
    }
}

impl<'b> BodyHandle<'b> {
    fn member(&self, member: &str) -> Expr {
        postfix(self.name.clone(), PostfixKind::Member(Arc::from(member)))
    }

    fn plain(&self, member: &str) -> Term<'b> {
        self.builder.add(self.member(member), 2)
    }

    fn of(&self, member: &str, argument: impl Quantity<'b>) -> Term<'b> {
        let argument = argument.term(self.builder);
        let call = PostfixKind::Call(vec![Argument::Value(argument.expr())]);
        self.builder.add(postfix(self.member(member), call), argument.size() + 2)
    }

    /// Position of the mass center.
    pub fn position(&self) -> Term<'b> {
        self.plain("position")
    }

    /// Velocity of the mass center.
    pub fn velocity(&self) -> Term<'b> {
        self.plain("velocity")
    }

    /// The rotation matrix.
    pub fn rotation(&self) -> Term<'b> {
        self.plain("rotation")
    }

    /// Angular velocity in inertial axes; in the plane a scalar.
    pub fn omega(&self) -> Term<'b> {
        self.plain("omega")
    }

    /// Angular velocity in body axes.
    pub fn omega_body(&self) -> Term<'b> {
        self.plain("omega_body")
    }

    /// The position of a point fixed in the body.
    pub fn point(&self, place: impl Quantity<'b>) -> Term<'b> {
        self.of("point", place)
    }

    /// The velocity of the material point now at this offset from the center.
    pub fn velocity_at(&self, offset: impl Quantity<'b>) -> Term<'b> {
        self.of("velocity_at", offset)
    }
}

fn combine<'b>(a: Term<'b>, b: Term<'b>, kind: impl FnOnce(Expr, Expr) -> ExprKind) -> Term<'b> {
    let size = a.size() + b.size() + 1;
    a.builder.add(node(kind(a.expr(), b.expr())), size)
}

macro_rules! operator {
    ($trait:ident $method:ident $build:expr) => {
        impl<'b, Q: Quantity<'b>> $trait<Q> for Term<'b> {
            type Output = Term<'b>;
            fn $method(self, other: Q) -> Term<'b> {
                let other = other.term(self.builder);
                combine(self, other, $build)
            }
        }
        operator!(left $trait $method i64 $build);
        // Not i32: one integer type on the left is what lets `2 * x` be inferred.
        operator!(left $trait $method f64 $build);
    };
    (left $trait:ident $method:ident $number:ident $build:expr) => {
        impl<'b> $trait<Term<'b>> for $number {
            type Output = Term<'b>;
            fn $method(self, other: Term<'b>) -> Term<'b> {
                combine(self.term(other.builder), other, $build)
            }
        }
    };
}

operator!(Add add |a, b| ExprKind::Sum(vec![(Sign::Plus, a), (Sign::Plus, b)]));
operator!(Sub sub |a, b| ExprKind::Sum(vec![(Sign::Plus, a), (Sign::Minus, b)]));
operator!(Mul mul |a, b| ExprKind::Product(vec![(Times::Multiply, a), (Times::Multiply, b)]));
operator!(Div div |a, b| ExprKind::Product(vec![(Times::Multiply, a), (Times::Divide, b)]));

impl<'b> Neg for Term<'b> {
    type Output = Term<'b>;
    fn neg(self) -> Term<'b> {
        self.builder.add(node(ExprKind::Negative(Box::new(self.expr()))), self.size() + 1)
    }
}
