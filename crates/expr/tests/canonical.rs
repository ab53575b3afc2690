//! Canonical construction: what is equal by the laws of arithmetic is one node.

mod support;

use dalembert_expr::{Expr, ExprId, Exprs, Function, Number};
use proptest::prelude::*;
use support::{Bench, Tree, tame};

/// Built from trees, but for those that are too large: sums and products are
/// flat up to a length only, beyond which laws do not show in the form.
fn small<'b, const N: usize>(bench: &'b Bench, trees: [&Tree; N]) -> [Expr<'b>; N] {
    trees.map(|tree| {
        let e = bench.build(tree);
        if e.exprs.count_edges(&[e.id]) <= 20 { e } else { e.exprs.variable("large") }
    })
}

/// Roots of sums keep a factor that all terms have in common, powers do not:
/// then √(2x + 2y)³ does not look like 2(x + y)√(2x + 2y).
fn is_rooted(tree: &Tree) -> bool {
    match tree {
        Tree::Root(..) => true,
        Tree::Product(parts) | Tree::Sum(parts) => parts.iter().any(is_rooted),
        Tree::Power(base, _) => is_rooted(base),
        Tree::Quotient(a, b) => is_rooted(a) || is_rooted(b),
        _ => false,
    }
}

fn is_number(e: Expr) -> bool {
    e.exprs.as_number(e.id).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn sums(a in tame(3), b in tame(3), c in tame(3), n in -9i64..9) {
        let bench = Bench::new();
        let [a, b, c] = small(&bench, [&a, &b, &c]);
        prop_assert_eq!(a + b, b + a);
        prop_assert_eq!((a + b) + c, a + (b + c));
        prop_assert_eq!(a - a, bench.number(0, 1));
        prop_assert_eq!(a + a, 2 * a);
        prop_assert_eq!(n * a + 3 * a, (n + 3) * a);
        prop_assert_eq!(n * (a + b), n * a + n * b);
        prop_assert_eq!(-(a - b), b - a);
        prop_assert_eq!(-(-a), a);
        prop_assert_eq!((a + b) - b, a);
        let sum = bench.exprs.sum(&[a.id, b.id, c.id, a.id]);
        prop_assert_eq!(bench.exprs.at(sum), c + b + 2 * a);
    }

    #[test]
    fn products(a in tame(3), b in tame(3), c in tame(3), m in -4i64..5, n in -4i64..5) {
        let bench = Bench::new();
        prop_assume!(![&a, &b, &c].into_iter().any(is_rooted));
        let [a, b, c] = small(&bench, [&a, &b, &c]);
        // Division by 0 is not simplified away.
        prop_assume!(![a, b, c].into_iter().any(is_number));
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!((a * b) * c, a * (b * c));
        prop_assert_eq!(a / a, bench.number(1, 1));
        prop_assert_eq!((a * b) / b, a);
        prop_assert_eq!(a / b, a * b.powi(-1));
        prop_assert_eq!(1 / (1 / a), a);
        prop_assert_eq!(a.powi(m) * a.powi(n), a.powi(m + n));
        prop_assert_eq!(a.powi(m).powi(n), a.powi(m * n));
        prop_assert_eq!((a * b).powi(n), a.powi(n) * b.powi(n));
        prop_assert_eq!((2 * a) * (3 * b), 6 * (a * b));
        prop_assert_eq!((-a) * (-b), a * b);
        prop_assert_eq!(bench.number(0, 1) * a, bench.number(0, 1));
        let product = bench.exprs.product(&[a.id, b.id, c.id, a.id]);
        prop_assert_eq!(bench.exprs.at(product), c * b * a.powi(2));
    }

    #[test]
    fn contents_and_signs_move_out(a in tame(3), b in tame(3)) {
        let bench = Bench::new();
        let [a, b] = small(&bench, [&a, &b]);
        prop_assume!(![a - b, a + b, 2 * a + 3 * b].into_iter().any(is_number));
        prop_assert_eq!((a - b) * (b - a), -((a - b).powi(2)));
        prop_assert_eq!((a - b) / (b - a), bench.number(-1, 1));
        prop_assert_eq!((4 * a + 6 * b) / (2 * a + 3 * b), bench.number(2, 1));
        prop_assert_eq!((a / 2 + b / 3).powi(2), (3 * a + 2 * b).powi(2) / 36);
        prop_assert_eq!((a - b).powi(2), (b - a).powi(2));
        prop_assert_eq!((a - b).powi(3), -((b - a).powi(3)));
    }

    #[test]
    fn functions(a in tame(3), b in tame(3)) {
        use Function::*;
        let bench = Bench::new();
        let (a, b) = (bench.build(&a), bench.build(&b));
        let call = |f, x| bench.call(f, &[x]);
        prop_assert_eq!(call(Cos, a - b), call(Cos, b - a));
        prop_assert_eq!(call(Abs, a - b), call(Abs, b - a));
        for odd in [Sin, Tan, Asin, Atan, Sinh, Tanh, Sign] {
            prop_assert_eq!(call(odd, -a), -call(odd, a));
        }
        prop_assert_eq!(call(Abs, -call(Abs, a)), call(Abs, a));
        prop_assert_eq!(call(Log, call(Exp, a)), a);
        prop_assert_eq!(bench.call(Max, &[a, b]), bench.call(Max, &[b, a]));
        prop_assert_eq!(bench.call(Min, &[a, b, a]), bench.call(Min, &[b, a]));
        let (c, d) = (call(Negative, a), call(Negative, b));
        prop_assert_eq!(bench.call(And, &[c, d]), bench.call(And, &[d, c, bench.number(1, 1)]));
        prop_assert_eq!(bench.call(Or, &[c, bench.number(1, 1)]), bench.number(1, 1));
    }

    #[test]
    fn construction_is_repeatable(tree in tame(5)) {
        let bench = Bench::new();
        let first = bench.build(&tree);
        let nodes = bench.exprs.len();
        prop_assert_eq!(bench.build(&tree), first);
        prop_assert_eq!(bench.exprs.len(), nodes);
        // Replacing nothing changes nothing.
        let x = bench.variables[0];
        let same = bench.exprs.substitute(&[first.id], &[(x, bench.variable(0).id)]);
        prop_assert_eq!(same[0], first.id);
    }
}

#[test]
fn powers_of_powers() {
    let exprs = Exprs::new();
    let (x, y, z) = (exprs.variable("x"), exprs.variable("y"), exprs.variable("z"));
    let power = |e: Expr<'_>, n: i64, d: i64| exprs.at(exprs.pow(e.id, (exprs.integer(n) / d).id));
    assert_eq!(power(x, 1, 2) * power(x, 3, 2), x.powi(2));
    assert_eq!(power(x, 1, 2).powi(2), x);
    assert_eq!(power(x, 1, 3) * power(x, 1, 6), x.sqrt());
    assert_eq!((x * y).sqrt() * (x * y).sqrt() * z, x * y * z);
    assert_eq!((4 * x + 4 * y).sqrt().powi(2), 4 * (x + y));
    assert_eq!((4 * x + 4 * y).sqrt().powi(2) * z, 4 * (x + y) * z);
    assert_eq!((x * y).sqrt().powi(3) / (x * y).sqrt(), x * y);
    assert_eq!((x.sqrt() * y).powi(2), x * y.powi(2));
    assert_eq!((x * y).sqrt() * z * (x * y).sqrt(), x * y * z);
    assert_eq!(z * (2 * x + 2 * y).sqrt() * y * (2 * x + 2 * y).sqrt(), 2 * y * z * (x + y));
    let nested = (x * (y * z).sqrt()).sqrt();
    assert_eq!(nested * (y * z).sqrt() * nested, x * y * z);
    assert_eq!((x.pow(y)).powi(2), x.pow(2 * y));
    assert_eq!(x.pow(y) * x.pow(y), x.pow(2 * y));
    assert_eq!(x.pow(y) * x.pow(z), x.pow(y + z));
    assert_eq!(x.pow(y) * x.sqrt() * z, z * x.pow(y + exprs.integer(1) / 2));
    assert_eq!(x.pow(y) / x.pow(y), exprs.integer(1));
    assert_eq!(x.pow(y + 2) / x.pow(y), x.powi(2));
    assert_eq!(x * x.pow(y - 1), x.pow(y));
    assert_eq!((9 * x).sqrt(), 3 * x.sqrt());
    assert_eq!(exprs.integer(8).sqrt() * exprs.integer(8).sqrt(), exprs.integer(8));
    assert_eq!(1 / exprs.integer(2).sqrt(), exprs.integer(2).sqrt() / 2);
    // Not |x|, which is something else.
    assert_ne!(x.powi(2).sqrt(), x);
    assert_eq!(exprs.as_number(exprs.integer(0).id), exprs.as_number(ExprId::ZERO));
}

/// Coefficients of many digits have next to nothing in common. Taken out of a sum that would leave
/// integers beyond all doubles, which its terms are far from.
#[test]
fn sums_of_many_digits_stay_within_doubles() {
    let exprs = Exprs::new();
    let far = 1_000_000_000_000_000_000i64;
    let terms: Vec<_> = (0..12)
        .map(|i| {
            let part =
                |k: i64| Number::ratio(far + 7 + i * k, far - 1 - 2 * i * k).expect("a ratio");
            exprs.at(exprs.of_number(part(1).mul(&part(3)))) * exprs.variable(&format!("x{i}"))
        })
        .collect();
    let sum = terms[1..].iter().fold(terms[0], |sum, &term| sum + term);
    let y = exprs.variable("y");
    let product = sum * y;
    assert!(!exprs.take_overflow());
    let values: Vec<f64> = exprs.eval_f64(&[sum.id, product.id], |_| 2.0);
    assert!((values[1] - 2.0 * values[0]).abs() <= 1e-14 * values[1], "{values:?}");
    assert!((values[0] - 24.0).abs() < 1e-9, "{values:?}");
}
