//! The zero test on random identities: an expression less the same one written
//! in another way is 0, and with a little added it is not.

mod support;

use dalembert_expr::ball::{Balls, Doubles, Enclose};
use dalembert_expr::{Expr, Function, Number, Zero, ZeroTest};
use proptest::prelude::*;
use support::{Bench, Tree, tame, wild};

/// The expression of a tree, with other means: products multiplied out, half
/// angles, Cramer's rule. `salt` chooses among the means.
fn rewrite<'b>(bench: &'b Bench, tree: &Tree, salt: u64) -> Expr<'b> {
    let next = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ 0x55;
    let of = |t: &Tree, k: u64| rewrite(bench, t, next.wrapping_add(k));
    let all = |trees: &[Tree]| trees.iter().zip(0..).map(|(t, k)| of(t, k)).collect::<Vec<_>>();
    let choice = salt >> 60;
    match tree {
        Tree::Number(..) => bench.build(tree),
        Tree::Variable(k) => {
            let (x, y) = (bench.variable(*k), bench.variable((k + 1) % 3));
            match choice {
                0 => x * (y.sin().powi(2) + y.cos().powi(2)),
                1 => ((x + y).powi(2) - (x - y).powi(2)) / (4 * y),
                _ => x,
            }
        }
        Tree::Sum(parts) => all(parts).into_iter().rev().reduce(|a, b| a + b).unwrap(),
        Tree::Product(parts) => {
            let factors = all(parts);
            let (first, rest) =
                (factors[0], factors[1..].iter().copied().reduce(|a, b| a * b).unwrap());
            match (&parts[0], choice % 3) {
                (Tree::Sum(terms), 0) => terms
                    .iter()
                    .zip(9..)
                    .map(|(t, k)| of(t, k) * rest)
                    .reduce(|a, b| a + b)
                    .unwrap(),
                (_, 1) => ((first + rest).powi(2) - first.powi(2) - rest.powi(2)) / 2,
                _ => first * rest,
            }
        }
        Tree::Power(base, n) if *n > 0 => {
            // (u − 1)ⁿ multiplied out as u(u − 1)ⁿ⁻¹ − (u − 1)ⁿ⁻¹, again and again.
            let (u, one) = (of(base, 0) + 1, bench.number(1, 1));
            (0..*n).fold(one, |power, _| u * power - power)
        }
        Tree::Power(base, n) => {
            let base = of(base, 0);
            base / base.powi(1 - n)
        }
        Tree::Root(base, n, d) => match choice % 2 {
            0 => (of(base, 0).log() * *n / *d).exp(),
            _ => (1 / of(base, 0)).pow(bench.number(-*n, *d)),
        },
        Tree::Pow(base, exponent) => (of(base, 0).log() * of(exponent, 1)).exp(),
        Tree::Quotient(a, b) => {
            let (a, b) = (of(a, 0), of(b, 1));
            (a + b) / b - 1
        }
        Tree::Call(function, arguments) => rewrite_call(bench, *function, &all(arguments)),
        Tree::Choice(parts) => {
            // Not a < b is b − a ≤ 0.
            let [a, b, c, d] = all(parts)[..] else { unreachable!() };
            bench.call(Function::If, &[bench.call(Function::NotPositive, &[b - a]), d, c])
        }
        Tree::Solve(parts, at) => {
            let [a, b, c, d, r, s] = all(parts)[..] else { unreachable!() };
            let determinant = a * d - b * c;
            if *at == 0 { (r * d - b * s) / determinant } else { (a * s - r * c) / determinant }
        }
    }
}

fn rewrite_call<'b>(bench: &'b Bench, function: Function, arguments: &[Expr<'b>]) -> Expr<'b> {
    let u = arguments[0];
    let half = u / 2;
    let call = |f, x| bench.call(f, &[x]);
    let atan = |x| call(Function::Atan, x);
    match function {
        Function::Sin => 2 * half.sin() * half.cos(),
        Function::Cos => 1 - 2 * half.sin().powi(2),
        Function::Tan => u.sin() / u.cos(),
        Function::Asin => bench.exprs.pi() / 2 - call(Function::Acos, u),
        Function::Acos => 2 * atan((1 - u.powi(2)).sqrt() / (1 + u)),
        Function::Atan => 2 * atan(u / (1 + (1 + u.powi(2)).sqrt())),
        // For a positive second argument.
        Function::Atan2 => atan(u / arguments[1]),
        Function::Sinh => (u.exp() - (-u).exp()) / 2,
        Function::Cosh => 1 + 2 * call(Function::Sinh, half).powi(2),
        Function::Tanh => 1 - 2 / (1 + (2 * u).exp()),
        Function::Exp => half.exp().powi(2),
        Function::Log => -(1 / u).log(),
        Function::Abs => bench.call(Function::Max, &[u, -u]),
        Function::Min => {
            -bench.call(Function::Max, &arguments.iter().map(|&a| -a).collect::<Vec<_>>())
        }
        Function::Max => {
            let greater = |a: Expr<'b>, b: Expr<'b>| (a + b + call(Function::Abs, a - b)) / 2;
            arguments.iter().copied().reduce(greater).unwrap()
        }
        other => bench.call(other, arguments),
    }
}

/// At how many of some points a value, or one that is not 0, is certain.
fn values(bench: &Bench, e: Expr) -> (usize, usize) {
    let points =
        [[7, 13, 4], [-7, 11, -19], [3, -2, 1], [-9, -14, 8], [203, -311, 117], [-5, -3, -17]];
    let at = |p: &[i64; 3]| {
        let coordinate = |s| Doubles.number(&Number::ratio(p[bench.place(s)], 10).unwrap());
        bench.exprs.evaluate(&Balls(Doubles), &[e.id], coordinate)[0].ok()
    };
    let balls: Vec<_> = points.iter().filter_map(at).collect();
    let nonzero = balls.iter().filter(|b| b.middle.abs() > b.radius).count();
    (balls.len(), nonzero)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn other_ways_to_write_it_are_equal(tree in tame(4), salt in any::<u64>()) {
        let bench = Bench::new();
        let (e, f) = (bench.build(&tree), rewrite(&bench, &tree, salt));
        let zero = bench.exprs.is_zero((e - f).id);
        prop_assert!(zero.is_zero(), "{:?}", zero);
        if let Zero::Sampled { probability, .. } = zero {
            prop_assert!(probability < 1e-10, "{}", probability);
        }
    }

    #[test]
    fn a_little_more_is_not_equal(tree in tame(4), salt in any::<u64>(), digits in 1u32..60) {
        let bench = Bench::new();
        let little = bench.exprs.of_number(Number::from_decimal(&format!("1e-{digits}")).unwrap());
        let (e, f) = (bench.build(&tree), rewrite(&bench, &tree, salt));
        prop_assert_eq!(bench.exprs.is_zero((e - f + bench.exprs.at(little)).id), Zero::Nonzero);
        let factor = 1 + bench.exprs.at(little) * bench.variable(0).cos();
        let scaled = bench.exprs.is_zero((e * factor - f).id);
        prop_assert!(scaled.is_nonzero() || values(&bench, e).1 < 3, "{:?}", scaled);
    }

    #[test]
    fn nothing_panics_and_seeds_agree(tree in wild(5), seed in any::<u64>()) {
        let bench = Bench::new();
        let e = bench.build(&tree);
        // Less would do no harm; it keeps undecidable ones cheap.
        let options = ZeroTest { max_precision: 1536, ..ZeroTest::default() };
        let first = bench.exprs.zero_test(e.id, &options);
        let second = bench.exprs.zero_test(e.id, &ZeroTest { seed, ..options });
        prop_assert!(!(first.is_zero() && second.is_nonzero()), "{:?} {:?}", first, second);
        prop_assert!(!(second.is_zero() && first.is_nonzero()), "{:?} {:?}", first, second);
        let square = e * e - 2 * e + 1 - (e - 1).powi(2);
        // A number too large for a double is not kept exactly.
        prop_assume!(!bench.exprs.take_overflow());
        let third = bench.exprs.zero_test(square.id, &options);
        prop_assert!(third.is_zero() || values(&bench, e).0 == 0, "{:?}", third);
    }
}
