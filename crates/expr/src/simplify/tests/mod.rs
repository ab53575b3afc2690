use super::Simplifier;
use crate::ball::{Balls, Extended, ExtendedBall, Gap};
use crate::eval::Arithmetic;
use crate::function::Function;
use crate::handle::Expr;
use crate::number::Number;
use crate::print::tests::{formulas, random};
use crate::{ExprId, Exprs, Symbol};
use proptest::prelude::*;

fn cost(exprs: &Exprs, id: ExprId) -> u64 {
    Simplifier::new(&mut exprs.arena.lock()).cost(id)
}

/// Enclosures of the values at a point that depends on the seed.
fn values(exprs: &Exprs, ids: &[ExprId], seed: u64) -> Vec<Result<ExtendedBall, Gap>> {
    let balls = Balls(Extended::new(256));
    exprs.evaluate(&balls, ids, |symbol: Symbol| {
        let mixed =
            (symbol.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ seed;
        let n = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 44;
        balls.number(&Number::ratio(n as i64 - (1 << 19), 1 << 18).unwrap_or(Number::ONE))
    })
}

/// What is wrong with an expression in place of another: it is longer, has
/// another value, or has none where the other has one.
fn fault(exprs: &Exprs, old: ExprId, new: ExprId) -> Option<&'static str> {
    if cost(exprs, new) > cost(exprs, old) {
        return Some("longer");
    }
    (0..4).find_map(|seed| {
        let found = values(exprs, &[old, new], seed);
        match (&found[0], &found[1]) {
            (Ok(a), Ok(b)) if !a.meets(b) => Some("different"),
            (Ok(_), Err(Gap::Undefined)) => Some("undefined"),
            _ => None,
        }
    })
}

fn checked(exprs: &Exprs, id: ExprId) -> Result<ExprId, TestCaseError> {
    let new = exprs.simplify(id);
    let found = fault(exprs, id, new);
    prop_assert!(
        found.is_none(),
        "{}: {} for {}",
        found.unwrap_or(""),
        exprs.to_source(new),
        exprs.to_source(id)
    );
    Ok(new)
}

#[test]
fn faults_are_found() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let cases = [
        (x, x + y - y, None),
        (x, x + y, Some("longer")),
        (x * x.sin().powi(2), x * x.cos(), Some("different")),
        (x.powi(2).sqrt(), x, Some("different")),
        (x - y + 1 + x * y, x.sqrt() + (-x).sqrt(), Some("undefined")),
    ];
    for (old, new, expected) in cases {
        assert_eq!(fault(&exprs, old.id, new.id), expected, "{new} for {old}");
    }
}

/// Random sums of products of parameters, velocities and functions of angles:
/// what energies are made of.
fn energies<'e>(exprs: &'e Exprs, steps: &[random::Step]) -> Vec<Expr<'e>> {
    let [m, l, a, b, x] = ["m", "l", "a", "b", "x"].map(|name| match name {
        "m" | "l" => exprs.constant(name),
        name => exprs.variable(name),
    });
    let call = |f, x: Expr| exprs.at(exprs.call(f, &[x.id]));
    let mut made = vec![m, l, a.dt(), b.dt(), x, exprs.integer(1)];
    for angle in [a, b, a - b, 2 * a] {
        made.extend([angle.sin(), angle.cos()]);
    }
    made.extend([call(Function::Sinh, x), call(Function::Cosh, x), (-x).exp(), m.sqrt()]);
    for &(operation, i, j) in steps {
        let last = made.len() - 1;
        // One operand is often new, so that things grow.
        let i = if i.is_multiple_of(2) {
            last - (i as usize / 2) % made.len().min(4)
        } else {
            i as usize % made.len()
        };
        let (f, g) = (made[i], made[j as usize % made.len()]);
        let next = match operation % 12 {
            0..=3 => f * g,
            4..=6 => f + g,
            7 => f - g,
            8 => f.powi(2),
            9 => f + f * g.powi(2),
            10 => f / g,
            _ => f * g.dt(),
        };
        if exprs.count_tree_size(next.id) < 2000 {
            made.push(next);
        }
    }
    made
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_expression_keeps_its_value(steps in random::steps(30)) {
        let exprs = Exprs::new();
        for e in random::build(&exprs, &steps) {
            let simple = checked(&exprs, e.id)?;
            prop_assert!(!exprs.is_zero((e - exprs.at(simple)).id).is_nonzero());
        }
    }

    #[test]
    fn energies_keep_their_values(steps in random::steps(30)) {
        let exprs = Exprs::new();
        for e in energies(&exprs, &steps) {
            let simple = checked(&exprs, e.id)?;
            prop_assert!(cost(&exprs, exprs.simplify(simple)) <= cost(&exprs, simple));
        }
    }

    #[test]
    fn expansion_keeps_values(steps in random::steps(30)) {
        let exprs = Exprs::new();
        for e in energies(&exprs, &steps) {
            let expanded = exprs.expand(e.id);
            prop_assert!(!exprs.is_zero((e - exprs.at(expanded)).id).is_nonzero());
        }
    }
}

#[test]
fn textbook_formulas_simplified() {
    let exprs = Exprs::new();
    let mut text = String::new();
    for (heading, formula) in formulas::all(&exprs) {
        let simple = checked(&exprs, formula.id).unwrap();
        assert!(!exprs.is_zero((formula - exprs.at(simple)).id).is_nonzero(), "{heading}");
        text.push_str(&format!(
            "{heading}\n    {}\n    {}\n",
            exprs.to_text(simple),
            exprs.to_latex(simple)
        ));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn identities_are_found() {
    let exprs = Exprs::new();
    let [k, c] = ["k", "c"].map(|name| exprs.constant(name));
    let [a, b, x] = ["a", "b", "x"].map(|name| exprs.variable(name));
    let call = |f, x: Expr| exprs.at(exprs.call(f, &[x.id]));
    let (sinh, cosh) = (|x| call(Function::Sinh, x), |x| call(Function::Cosh, x));
    let one = a.sin().powi(2) + a.cos().powi(2);
    let cases = [
        (one.powi(5), "1"),
        (one.sqrt(), "1"),
        (1 - a.sin().powi(2), "cos(a)^2"),
        (k - k * a.cos().powi(2), "k*sin(a)^2"),
        (2 - a.sin().powi(2), "2 - sin(a)^2"),
        (2 * a.sin().powi(2) + 3 * a.cos().powi(2), "2 + cos(a)^2"),
        (a.sin().powi(4) - a.cos().powi(4), "-cos(2*a)"),
        (a.cos() * b.cos() - a.sin() * b.sin(), "cos(a + b)"),
        (a.sin() * b.cos() - a.cos() * b.sin(), "sin(a - b)"),
        (b.sin() * a.cos() - b.cos() * a.sin(), "-sin(a - b)"),
        ((a + b).cos() * a.cos() + (a + b).sin() * a.sin(), "cos(b)"),
        ((a.cos() * b.cos() + a.sin() * b.sin()).powi(2), "cos(a - b)^2"),
        (cosh(x).powi(2) - sinh(x).powi(2), "1"),
        (1 + sinh(x).powi(2), "cosh(x)^2"),
        (cosh(a) * cosh(b) - sinh(a) * sinh(b), "cosh(a - b)"),
        (sinh(a) * cosh(b) + cosh(a) * sinh(b), "sinh(a + b)"),
        (x.exp() * (-x).exp(), "1"),
        (k * x + c * x - k * x, "c*x"),
        ((k + c) * x - k * x - c * x, "0"),
        ((x + k).powi(2) - x.powi(2) - k.powi(2), "2*k*x"),
        (k * c * x + c * x, "(1 + k)*c*x"),
        (x.powi(2) + 2 * x * b + b.powi(2), "(b + x)^2"),
        (k / x + c / x, "(k + c)/x"),
        // Not √x² = x, and not with a cosine that is only sometimes positive.
        (x.powi(2).sqrt(), "sqrt(x^2)"),
        ((1 - a.sin().powi(2)).sqrt(), "sqrt(cos(a)^2)"),
    ];
    for (formula, expected) in cases {
        assert_eq!(exprs.to_source(exprs.simplify(formula.id)), expected, "{formula}");
    }
}

#[test]
fn large_graphs_are_left_in_good_time() {
    let exprs = Exprs::new();
    let links = 40;
    let l: Vec<Expr> = (0..links).map(|i| exprs.constant(&format!("l[{i}]"))).collect();
    let th: Vec<Expr> = (0..links).map(|i| exprs.variable(&format!("th[{i}]"))).collect();
    let (mut x, mut y, mut t) = (exprs.integer(0), exprs.integer(0), exprs.integer(0));
    for i in 0..links {
        (x, y) = (x + l[i] * th[i].sin(), y - l[i] * th[i].cos());
        t = t + x.dt().powi(2) + y.dt().powi(2);
    }
    let simple = exprs.simplify(t.id);
    assert!(cost(&exprs, simple) <= cost(&exprs, t.id));
    // Deep, and as trees larger than the universe.
    let mut deep = exprs.variable("z");
    let mut one = exprs.variable("z");
    for step in 0..50_000 {
        deep = deep.sin() + deep * deep.cos();
        if step < 5_000 {
            one = one.sin().powi(2) + one.cos().powi(2);
        }
    }
    assert_eq!(exprs.simplify(deep.id), deep.id);
    assert_eq!(exprs.simplify(one.id), ExprId::ONE);
}
