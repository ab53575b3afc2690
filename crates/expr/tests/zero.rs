//! The zero test on identities, near misses, and undefined expressions.

use dalembert_expr::{Expr, ExprId, Exprs, Function, Number, Zero, ZeroTest};

fn call<'e>(function: Function, arguments: &[Expr<'e>]) -> Expr<'e> {
    let ids: Vec<ExprId> = arguments.iter().map(|a| a.id).collect();
    arguments[0].exprs.at(arguments[0].exprs.call(function, &ids))
}

fn number<'e>(exprs: &'e Exprs, text: &str) -> Expr<'e> {
    exprs.at(exprs.of_number(Number::from_decimal(text).unwrap()))
}

fn test(e: Expr) -> Zero {
    e.exprs.is_zero(e.id)
}

#[track_caller]
fn assert_exact(e: Expr) {
    match test(e) {
        Zero::Sampled { exact: true, probability, points: 4 } => {
            assert!(probability < 1e-40, "{probability}")
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_extended(e: Expr) {
    match test(e) {
        Zero::Sampled { exact: false, probability, .. } => {
            assert!(probability < 1e-25, "{probability}")
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_nonzero(e: Expr) {
    assert_eq!(test(e), Zero::Nonzero);
}

#[test]
fn forms_decide_first() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let tiny = number(&exprs, "1e-40");
    assert_eq!(test((1 + tiny) * x - x - tiny * x), Zero::Structural);
    assert_eq!(test(tiny), Zero::Nonzero);
}

#[test]
fn exponentials_and_angles_are_exact() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    assert_exact(x.sin().powi(2) + x.cos().powi(2) - 1);
    assert_exact((x * 2).sin() - 2 * x.sin() * x.cos());
    assert_exact((x + y).cos() - x.cos() * y.cos() + x.sin() * y.sin());
    assert_exact((x / 3).sin() * 3 - (x / 3).sin().powi(3) * 4 - x.sin());
    assert_exact((x + y).tan() - (x.tan() + y.tan()) / (1 - x.tan() * y.tan()));
    assert_exact((x + y).exp() - x.exp() * y.exp());
    let (sinh, cosh) = (call(Function::Sinh, &[x]), call(Function::Cosh, &[x]));
    assert_exact(cosh.powi(2) - sinh.powi(2) - 1);
    assert_exact(cosh + sinh - x.exp());
    assert_exact(call(Function::Tanh, &[x]) - (1 - (-2 * x).exp()) / (1 + (-2 * x).exp()));
    // The arguments are equal, though not in form.
    assert_exact(((x + y).powi(2)).sin() - (x.powi(2) + 2 * x * y + y.powi(2)).sin());
    assert_exact(((x + y) * (x - y)).log() - (x.powi(2) - y.powi(2)).log());
    // Whatever a function is, it is one value.
    let (a, b) = (x.abs(), exprs.integer(2).log());
    assert_exact((a + b).powi(2) - a.powi(2) - 2 * a * b - b.powi(2));
    let power = |n, d| x.pow(exprs.integer(n) / d);
    assert_exact((power(1, 2) + power(1, 3)) * power(1, 4) - power(3, 4) - power(7, 12));
}

#[test]
fn rational_functions_are_decided_either_way() {
    let exprs = Exprs::new();
    let (x, y, z) = (exprs.variable("x"), exprs.variable("y"), exprs.variable("z"));
    assert_exact(1 / (x * y) - (1 / x + 1 / y) / (x + y));
    assert_exact(
        (x + y + z).powi(2) - (x.powi(2) + y.powi(2) + z.powi(2) + 2 * (x * y + y * z + z * x)),
    );
    // −1e-2400, far below what a ball of moderate precision sees.
    let tiny = number(&exprs, "1e-300");
    let square = (x + tiny) * (x - tiny) - x.powi(2);
    assert_nonzero((square.powi(4) + y) * (square.powi(4) - y) + y.powi(2));
    // π is no algebraic number.
    assert_nonzero(
        (exprs.pi() + 1).powi(2)
            - exprs.pi().powi(2)
            - 2 * exprs.pi()
            - number(&exprs, "1.0000000000000000000000000001"),
    );
}

#[test]
fn solving_undoes_multiplying() {
    let exprs = Exprs::new();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let k: Vec<Expr> = names.iter().map(|n| exprs.variable(n)).collect();
    let r: Vec<Expr> = ["u", "v", "w"].iter().map(|n| exprs.variable(n)).collect();
    let k: Vec<Expr> =
        k.iter().enumerate().map(|(at, &e)| if at == 4 { e.sin() } else { e }).collect();
    let ids = |v: &[Expr]| v.iter().map(|e| e.id).collect::<Vec<_>>();
    let x = exprs.solve(&ids(&k), &ids(&r));
    for i in 0..3 {
        let row = (0..3).fold(-r[i], |sum, j| sum + k[3 * i + j] * exprs.at(x[j]));
        assert_exact(row);
        assert_nonzero(row + number(&exprs, "1e-30") * r[0]);
        assert_extended(row * call(Function::Atan, &[r[1]]) + (r[0].powi(2).sqrt() - r[0].abs()));
    }
}

#[test]
fn roots_inverses_and_branches_need_balls() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let atan = |e| call(Function::Atan, &[e]);
    assert_extended(x.powi(2).sqrt() - x.abs());
    assert_extended((x * y).log() - x.log() - y.log());
    assert_extended((1 + x.sqrt()) * (1 - x.sqrt()) - 1 + x);
    assert_extended(atan(x).sin() - x / (1 + x.powi(2)).sqrt());
    assert_extended(2 * atan(x / 2).tan() - x);
    assert_extended(call(Function::Atan2, &[2 * y, 2 * x]) - call(Function::Atan2, &[y, x]));
    assert_extended(call(Function::Asin, &[x]).sin() - x);
    assert_extended(call(Function::Acos, &[x]).cos() - x);
    assert_extended(x.pow(y) - (y * x.log()).exp());
    assert_extended(call(Function::Sign, &[x]) * x - x.abs());
    let condition = call(Function::Negative, &[x - y]);
    assert_extended(call(Function::If, &[condition, x, y]) - call(Function::Min, &[x, y]));
    // Exact, since max and min are made of |x − y| and if of both branches.
    assert_exact(call(Function::Max, &[x, y]) + call(Function::Min, &[x, y]) - x - y);
    assert_exact(
        call(Function::If, &[condition, x, y]) + call(Function::If, &[condition, y, x]) - x - y,
    );
    assert_exact(call(Function::Asin, &[x]) + call(Function::Acos, &[x]) - exprs.pi() / 2);
}

#[test]
fn what_vanishes_in_part_of_the_domain_is_not_zero() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let atan = |e| call(Function::Atan, &[e]);
    assert_nonzero(x.powi(2).sqrt() - x);
    assert_nonzero(x.powi(2).sqrt() + x);
    assert_nonzero(call(Function::Max, &[x, y]) - x);
    assert_nonzero(atan(x) + atan(1 / x) - exprs.pi() / 2);
    assert_nonzero(atan(x) + atan(y) - atan((x + y) / (1 - x * y)));
    assert_nonzero(call(Function::Asin, &[x.sin()]) - x);
    assert_nonzero((x.powi(2).log() / 2).exp() - x);
    let eight = exprs.integer(8);
    assert_nonzero(call(Function::Max, &[x, eight]) - 8);
}

#[test]
fn constants() {
    let exprs = Exprs::new();
    let (pi, three) = (exprs.pi(), exprs.integer(3));
    let sqrt = |n| exprs.integer(n).sqrt();
    assert_extended((pi / 3).sin() - three.sqrt() / 2);
    assert_extended((sqrt(2) + sqrt(3)).powi(2) - 5 - 2 * sqrt(6));
    assert_extended(
        4 * call(Function::Atan, &[1 / exprs.integer(5)])
            - call(Function::Atan, &[1 / exprs.integer(239)])
            - pi / 4,
    );
    assert_nonzero((pi * exprs.integer(163).sqrt()).exp() - exprs.integer(262_537_412_640_768_744));
    assert_nonzero(
        sqrt(2) + sqrt(3) - number(&exprs, "3.146264369941972342329135065715570445635771"),
    );
    assert_nonzero(
        pi - number(
            &exprs,
            "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899",
        ),
    );
}

#[test]
fn small_is_not_zero() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let tiny = number(&exprs, "1e-60");
    let tinier = number(&exprs, "1e-300");
    assert_nonzero(tiny * x);
    assert_nonzero((x + tinier) * (x - tinier) - x.powi(2));
    assert_nonzero(((x + tiny).sin() - x.sin()) * y);
    assert_nonzero((x + tinier).sin() - x.sin());
    assert_nonzero(call(Function::Tanh, &[200 + x]) - 1);
    assert_nonzero(call(Function::Cosh, &[200 + x.powi(2)]) - (200 + x.powi(2)).exp() / 2);
    assert_nonzero(call(Function::Atan, &[x / tinier]).powi(2) - exprs.pi().powi(2) / 4);
    assert_nonzero((-(100 / x.powi(2))).exp());
}

#[test]
fn constants_of_exact_arithmetic_are_random() {
    // Far below what doubles see, so that exact arithmetic is asked: e is not
    // the number that generates a group, whichever that is.
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let tiny = number(&exprs, "1e-40");
    let one = exprs.integer(1);
    for constant in
        [one.exp() - 16, one.exp() - 2, one.sin() * 2 + 15, one.cos().powi(2) - 16, exprs.pi() - 3]
    {
        assert_nonzero((x + tiny * constant).exp() - x.exp());
        assert_nonzero((x + 1).powi(2) - x.powi(2) - 2 * x - 1 + tiny * constant);
    }
}

#[test]
fn what_cannot_be_told_is_unknown() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let zero = x.sin().powi(2) + x.cos().powi(2) - 1;
    // Divisions by something that is 0 throughout.
    assert_eq!(test(y / zero), Zero::Unknown);
    assert_eq!(test(y / exprs.integer(0)), Zero::Unknown);
    assert_eq!(
        test(exprs.at(exprs.solve(&[zero.id, y.id, zero.id, y.id], &[x.id, y.id])[0])),
        Zero::Unknown
    );
    // Undefined everywhere.
    assert_eq!(test((-1 - x.powi(2)).log()), Zero::Unknown);
    assert_eq!(test((-1 - x.powi(2)).sqrt() + y), Zero::Unknown);
    assert_eq!(test(call(Function::Asin, &[2 + x.powi(2)])), Zero::Unknown);
    // The sign of something that is 0.
    assert_eq!(test(call(Function::Negative, &[zero]) - y), Zero::Unknown);
    // A branch that is not taken may be undefined; conditions need not all be
    // defined if one decides.
    let square = x.powi(2);
    let condition = call(Function::Negative, &[square]);
    assert_nonzero(call(Function::If, &[condition, (-1 - square).log(), y]));
    assert_extended(call(Function::If, &[condition, (-1 - square).log(), y]) - y);
    let undefined = call(Function::Negative, &[(-1 - square).log()]);
    assert_extended(call(Function::And, &[condition, undefined]) * y);
}

#[test]
fn several_expressions_at_once() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let exact = (x.sin().powi(2) + x.cos().powi(2) - 1).id;
    let extended = (x.powi(2).sqrt() - x.abs()).id;
    let unknown = (-1 - x.powi(2)).log().id;
    let literal = ExprId::ZERO;
    let options = ZeroTest::default();
    let found = exprs.zero_tests(&[exact, y.id, extended, literal, unknown, exact], &options);
    assert!(matches!(found[0], Zero::Sampled { exact: true, .. }));
    assert_eq!(found[1], Zero::Nonzero);
    assert!(matches!(found[2], Zero::Sampled { exact: false, .. }));
    assert_eq!(found[3], Zero::Structural);
    assert_eq!(found[4], Zero::Unknown);
    assert_eq!(found[5], found[0]);
    assert!(exprs.all_zero(&[exact, extended, literal]).is_zero());
    assert_eq!(exprs.all_zero(&[literal, literal]), Zero::Structural);
    assert_eq!(exprs.all_zero(&[exact, unknown]), Zero::Unknown);
    assert_eq!(exprs.all_zero(&[unknown, exact, y.id]), Zero::Nonzero);
    assert_eq!(exprs.all_zero(&[]), Zero::Structural);
}

#[test]
fn options_matter() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let e = (x.sin().powi(2) + x.cos().powi(2) - 1).id;
    let with = |points, seed| exprs.zero_test(e, &ZeroTest { points, seed, ..ZeroTest::default() });
    let probability = |zero| match zero {
        Zero::Sampled { points, probability, .. } => (points, probability),
        other => panic!("{other:?}"),
    };
    assert_eq!(with(1, 3), with(1, 3));
    assert_eq!(probability(with(1, 7)).0, 1);
    assert!(probability(with(3, 7)).1 < probability(with(1, 7)).1 / 1e30);
    assert!(with(0, 1).is_zero());
    // Without precision nothing is claimed.
    let root = ((1 + x.sqrt()) * (1 - x.sqrt()) - 1 + x).id;
    assert_eq!(
        exprs.zero_test(root, &ZeroTest { max_precision: 192, ..ZeroTest::default() }),
        Zero::Unknown
    );
}

#[test]
fn large_graphs_do_not_recurse() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    // A chain of 50 000 additions and products, deeper than any stack; and the
    // same made in another way.
    let mut e = x;
    let mut f = x;
    for k in 0..25_000 {
        e = (e * y + (k % 7)) / (y + 1);
        f = f * (y / (y + 1)) + exprs.integer(k % 7) / (y + 1);
    }
    assert_exact(e - f);
    assert_nonzero(e - f + 1);
}

/// Functions of functions that are drawn to a fixed point are flat to any number of digits
/// nearly everywhere, and not constant; shared parts are evaluated once.
#[test]
fn what_is_flat_nearly_everywhere_is_not_constant() {
    for depth in [4, 12, 50, 120] {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let mut a = x;
        for _ in 0..depth {
            a = a.sin() * a.cos() + a;
        }
        let slope = exprs.at(exprs.derivative(a.id, x.symbol().expect("a symbol")));
        assert_nonzero(slope);
        // The answer is kept.
        assert_nonzero(slope);
        assert!(exprs.is_zero((slope - slope).id).is_zero());
    }
}

#[test]
fn parts_without_symbols() {
    let exprs = Exprs::new();
    let (x, y, m, g) =
        (exprs.variable("x"), exprs.variable("y"), exprs.variable("m"), exprs.variable("g"));
    let moves = |s| Some(s) == x.symbol() || Some(s) == y.symbol();
    let part = |e: Expr| exprs.to_source(exprs.part_without(e.id, moves));
    assert_eq!(part(m * g + x * y + 3), exprs.to_source((m * g + 3).id));
    assert_eq!(part(m * g), "m*g");
    assert_eq!(part(x.sin() * m), "0");
    // A sum too long to be one node.
    let terms: Vec<_> = (0..60).map(|k| (m.powi(k + 2) - x.powi(k + 1)).id).collect();
    let wanted: Vec<_> = (0..60).map(|k| m.powi(k + 2).id).collect();
    let long = exprs.at(exprs.sum(&terms));
    let off =
        exprs.at(exprs.part_without((2 * long + y).id, moves)) - 2 * exprs.at(exprs.sum(&wanted));
    assert!(exprs.is_zero(off.id).is_zero());
}
