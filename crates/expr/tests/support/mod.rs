//! Random expressions for property tests.
//!
//! A [`Tree`] is grown by proptest, which also shrinks it, and built in an
//! arena. Tame trees are defined at all points: arguments are brought into the
//! domains of roots, logarithms, arcsines and quotients, and large values are
//! avoided. Wild ones take arguments as they come.
#![allow(dead_code)] // Each test uses its part.

use dalembert_expr::ball::{Balls, Enclose, Enclosed, Extended, ExtendedBall};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{Expr, ExprId, Exprs, Function, Number, Symbol, SymbolKind};
use proptest::prelude::*;

/// How many variables trees are made of.
pub const VARIABLES: usize = 3;

/// An expression as it is written.
#[derive(Clone, Debug)]
pub enum Tree {
    Number(i64, i64),
    Variable(usize),
    Sum(Vec<Tree>),
    Product(Vec<Tree>),
    /// To an integer power.
    Power(Box<Tree>, i64),
    /// To the power of a fraction.
    Root(Box<Tree>, i64, i64),
    Pow(Box<Tree>, Box<Tree>),
    Quotient(Box<Tree>, Box<Tree>),
    Call(Function, Vec<Tree>),
    /// if(a < b, c, d)
    Choice(Vec<Tree>),
    /// One component of a 2×2 system: entries, right side.
    Solve(Vec<Tree>, usize),
}

fn number() -> impl Strategy<Value = Tree> {
    prop_oneof![
        (-4i64..=4).prop_map(|n| Tree::Number(n, 1)),
        (-9i64..=9, 1i64..=9).prop_map(|(n, d)| Tree::Number(n, d)),
    ]
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![3 => (0..VARIABLES).prop_map(Tree::Variable), 1 => number()]
}

fn boxed(tree: Tree) -> Box<Tree> {
    Box::new(tree)
}

fn sum(parts: impl Into<Vec<Tree>>) -> Tree {
    Tree::Sum(parts.into())
}

fn call(function: Function, argument: Tree) -> Tree {
    Tree::Call(function, vec![argument])
}

/// 1 + u², which is positive.
fn positive(u: Tree) -> Tree {
    sum([Tree::Number(1, 1), Tree::Power(boxed(u), 2)])
}

/// sin u, which is bounded.
fn bounded(u: Tree) -> Tree {
    call(Function::Sin, u)
}

/// Trees that are defined everywhere and do not grow fast.
pub fn tame(depth: u32) -> BoxedStrategy<Tree> {
    use Function::*;
    leaf()
        .prop_recursive(depth, 24, 3, |inner| {
            let two = || (inner.clone(), inner.clone());
            let smooth = prop::sample::select(vec![Sin, Cos, Atan, Tanh]);
            let steep = prop::sample::select(vec![Exp, Sinh, Cosh, Tan]);
            prop_oneof![
                4 => prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::Sum),
                4 => prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::Product),
                1 => (inner.clone(), 2i64..4).prop_map(|(a, n)| Tree::Power(boxed(a), n)),
                1 => (inner.clone(), 1i64..3).prop_map(|(a, n)| Tree::Power(boxed(positive(a)), -n)),
                1 => (inner.clone(), -3i64..4, 2i64..4).prop_map(|(a, n, d)| Tree::Root(boxed(positive(a)), n, d)),
                1 => two().prop_map(|(a, b)| Tree::Pow(boxed(positive(a)), boxed(bounded(b)))),
                2 => two().prop_map(|(a, b)| Tree::Quotient(boxed(a), boxed(positive(b)))),
                3 => (smooth, inner.clone()).prop_map(|(f, a)| call(f, a)),
                1 => (steep, inner.clone()).prop_map(|(f, a)| call(f, bounded(a))),
                1 => inner.clone().prop_map(|a| call(Log, positive(a))),
                1 => (prop::sample::select(vec![Asin, Acos]), inner.clone())
                    .prop_map(|(f, a)| call(f, Tree::Product(vec![Tree::Number(7, 8), bounded(a)]))),
                1 => two().prop_map(|(a, b)| Tree::Call(Atan2, vec![a, positive(b)])),
                1 => inner.clone().prop_map(|a| call(Abs, a)),
                1 => (prop::sample::select(vec![Min, Max]), prop::collection::vec(inner.clone(), 2..4))
                    .prop_map(|(f, all)| Tree::Call(f, all)),
                // Not a < max(a, b), which balls cannot tell from equality.
                1 => prop::collection::vec(inner.clone(), 4).prop_map(|mut all| {
                    let first = std::mem::replace(&mut all[0], Tree::Number(0, 1));
                    all[0] = sum([first, Tree::Number(1, 7)]);
                    Tree::Choice(all)
                }),
                1 => (prop::collection::vec(inner.clone(), 6), 0..2usize).prop_map(|(mut all, at)| {
                    // Large on the diagonal, so that it is regular.
                    for (k, entry) in all.iter_mut().enumerate().take(4) {
                        let inside = bounded(std::mem::replace(entry, Tree::Number(0, 1)));
                        *entry = if k % 3 == 0 { sum([Tree::Number(3, 1), inside]) } else { inside };
                    }
                    Tree::Solve(all, at)
                }),
            ]
        })
        .boxed()
}

/// Trees of all functions with any arguments.
pub fn wild(depth: u32) -> BoxedStrategy<Tree> {
    use Function::*;
    leaf()
        .prop_recursive(depth, 24, 3, |inner| {
            let two = || (inner.clone(), inner.clone());
            let any = prop::sample::select(vec![
                Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Abs, Sign, Negative, NotPositive,
            ]);
            let several = prop::sample::select(vec![Min, Max, And, Or]);
            prop_oneof![
                3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::Sum),
                3 => prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::Product),
                1 => (inner.clone(), -4i64..5).prop_map(|(a, n)| Tree::Power(boxed(a), n)),
                1 => (inner.clone(), -3i64..4, 2i64..5).prop_map(|(a, n, d)| Tree::Root(boxed(a), n, d)),
                1 => two().prop_map(|(a, b)| Tree::Pow(boxed(a), boxed(b))),
                2 => two().prop_map(|(a, b)| Tree::Quotient(boxed(a), boxed(b))),
                5 => (any, inner.clone()).prop_map(|(f, a)| call(f, a)),
                1 => (several, prop::collection::vec(inner.clone(), 2..4)).prop_map(|(f, all)| Tree::Call(f, all)),
                1 => two().prop_map(|(a, b)| Tree::Call(Atan2, vec![a, b])),
                1 => prop::collection::vec(inner.clone(), 4).prop_map(Tree::Choice),
                1 => (prop::collection::vec(inner.clone(), 6), 0..2usize).prop_map(|(all, at)| Tree::Solve(all, at)),
            ]
        })
        .boxed()
}

/// An arena with its variables.
pub struct Bench {
    pub exprs: Exprs,
    pub variables: Vec<Symbol>,
}

impl Bench {
    pub fn new() -> Self {
        let exprs = Exprs::new();
        let variables =
            (0..VARIABLES).map(|k| exprs.symbol(&format!("x{k}"), SymbolKind::Variable)).collect();
        Bench { exprs, variables }
    }

    pub fn variable(&self, k: usize) -> Expr<'_> {
        self.exprs.at(self.exprs.of_symbol(self.variables[k]))
    }

    pub fn number(&self, n: i64, d: i64) -> Expr<'_> {
        self.exprs.at(self.exprs.of_number(Number::ratio(n, d).unwrap()))
    }

    pub fn call(&self, function: Function, arguments: &[Expr<'_>]) -> Expr<'_> {
        let ids: Vec<ExprId> = arguments.iter().map(|a| a.id).collect();
        self.exprs.at(self.exprs.call(function, &ids))
    }

    /// The expression a tree is of, as written.
    pub fn build(&self, tree: &Tree) -> Expr<'_> {
        let all = |trees: &[Tree]| trees.iter().map(|t| self.build(t)).collect::<Vec<_>>();
        match tree {
            Tree::Number(n, d) => self.number(*n, *d),
            Tree::Variable(k) => self.variable(*k),
            Tree::Sum(parts) => all(parts).into_iter().reduce(|a, b| a + b).unwrap(),
            Tree::Product(parts) => all(parts).into_iter().reduce(|a, b| a * b).unwrap(),
            Tree::Power(base, n) => self.build(base).powi(*n),
            Tree::Root(base, n, d) => self.build(base).pow(self.number(*n, *d)),
            Tree::Pow(base, exponent) => self.build(base).pow(self.build(exponent)),
            Tree::Quotient(a, b) => self.build(a) / self.build(b),
            Tree::Call(function, arguments) => self.call(*function, &all(arguments)),
            Tree::Choice(parts) => {
                let [a, b, c, d] = all(parts)[..] else { unreachable!() };
                self.call(Function::If, &[self.call(Function::Negative, &[a - b]), c, d])
            }
            Tree::Solve(parts, at) => {
                let parts: Vec<ExprId> = all(parts).iter().map(|e| e.id).collect();
                self.exprs.at(self.exprs.solve(&parts[..4], &parts[4..])[*at])
            }
        }
    }

    /// Values of expressions in extended balls at a point.
    pub fn extended(
        &self,
        bits: usize,
        roots: &[ExprId],
        point: &[Number],
    ) -> Vec<Enclosed<ExtendedBall>> {
        let balls = Balls(Extended::new(bits));
        self.exprs.evaluate(&balls, roots, |s| balls.number(&point[self.place(s)]))
    }

    /// The value of an expression in extended balls, given those of variables;
    /// `value` may ask for the ball of a number.
    pub fn extended_at(
        &self,
        bits: usize,
        root: ExprId,
        value: impl Fn(usize, &dyn Fn(&Number) -> Enclosed<ExtendedBall>) -> Enclosed<ExtendedBall>,
    ) -> Enclosed<ExtendedBall> {
        let balls = Balls(Extended::new(bits));
        self.exprs
            .evaluate(&balls, &[root], |s| value(self.place(s), &|n| balls.number(n)))
            .remove(0)
    }

    /// a − b, rounded to a double in the end.
    pub fn difference(&self, bits: usize, a: &ExtendedBall, b: &ExtendedBall) -> f64 {
        let extended = Extended::new(bits);
        extended.add(a, &extended.neg(b)).map_or(f64::NAN, |ball| ball.to_f64())
    }

    /// Which variable a symbol is; time counts as the first.
    pub fn place(&self, symbol: Symbol) -> usize {
        self.variables.iter().position(|&v| v == symbol).unwrap_or(0)
    }
}

/// A point: one dyadic number in (−2, 2) for each variable, none near 0.
pub fn point() -> impl Strategy<Value = Vec<Number>> {
    let coordinate = (1i64 << 48..1 << 52, any::<bool>()).prop_map(|(bits, minus)| {
        Number::ratio(if minus { -(bits | 1) } else { bits | 1 }, 1 << 51).unwrap()
    });
    prop::collection::vec(coordinate, VARIABLES)
}
