//! Derivatives agree with one another and with difference quotients.

mod support;

use dalembert_expr::ball::ExtendedBall;
use dalembert_expr::{Expr, ExprId, Exprs, Function, Number, Symbol, SymbolKind, Zero};
use proptest::prelude::*;
use support::{Bench, VARIABLES, point, tame, wild};

const BITS: usize = 512;

/// 2^−n
fn power_of_half(n: u32) -> Number {
    Number::ratio(1, 1 << (n / 2)).unwrap().mul(&Number::ratio(1, 1 << (n - n / 2)).unwrap())
}

/// The values of expressions, which must be defined.
fn values(
    bench: &Bench,
    roots: &[ExprId],
    point: &[Number],
) -> Result<Vec<ExtendedBall>, TestCaseError> {
    let balls: Result<Vec<_>, _> = bench.extended(BITS, roots, point).into_iter().collect();
    balls.map_err(|gap| TestCaseError::fail(format!("{gap:?}")))
}

/// The central difference quotient with a step of 2^−100 in 512 bits: off by
/// 2^−200 times the third derivative, and no kink is ever that near.
fn quotient(bench: &Bench, f: ExprId, k: usize, point: &[Number]) -> Result<f64, TestCaseError> {
    let h = power_of_half(100);
    let at = |step: &Number| {
        let mut moved = point.to_vec();
        moved[k] = moved[k].add(step);
        bench.extended(BITS, &[f], &moved)
    };
    let (above, below) = (at(&h), at(&h.neg()));
    match (&above[0], &below[0]) {
        (Ok(a), Ok(b)) => Ok(bench.difference(BITS, a, b) * 2f64.powi(99)),
        gaps => Err(TestCaseError::fail(format!("{gaps:?}"))),
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * (1.0 + a.abs().max(b.abs()))
}

/// All derivatives of one function by all ways: columns of variables.
fn ways(bench: &Bench, f: ExprId) -> Vec<Vec<ExprId>> {
    let exprs = &bench.exprs;
    let forward: Vec<ExprId> = bench.variables.iter().map(|&v| exprs.derivative(f, v)).collect();
    let reverse = exprs.gradient(f, &bench.variables);
    let jacobian = exprs.jacobian(&[f], &bench.variables);
    let sparse: Vec<ExprId> = (0..VARIABLES).map(|k| jacobian.get(0, k)).collect();
    let along = |v: Symbol| exprs.directional(&[f], &[(v, ExprId::ONE)])[0];
    let directional: Vec<ExprId> = bench.variables.iter().map(|&v| along(v)).collect();
    // f′ = Σ ∂f/∂x x′, so that its derivative with respect to x′ is ∂f/∂x.
    let rate = exprs.time_derivative(f);
    let rates =
        bench.variables.iter().map(|&v| exprs.derivative(rate, exprs.rate(v).unwrap())).collect();
    vec![forward, reverse, sparse, directional, rates]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn derivatives_are_limits_of_quotients(tree in tame(4), point in point()) {
        let bench = Bench::new();
        let f = bench.build(&tree).id;
        let ways = ways(&bench, f);
        let expected: Vec<f64> =
            (0..VARIABLES).map(|k| quotient(&bench, f, k, &point)).collect::<Result<_, _>>()?;
        for (way, derivatives) in ways.iter().enumerate() {
            let found = values(&bench, derivatives, &point)?;
            for k in 0..VARIABLES {
                let found = found[k].to_f64();
                prop_assert!(close(found, expected[k]), "way {} d/dx{}: {} not {}", way, k, found, expected[k]);
            }
        }
    }

    #[test]
    fn all_ways_are_equal(tree in tame(4)) {
        let bench = Bench::new();
        let f = bench.build(&tree).id;
        let ways = ways(&bench, f);
        let exprs = &bench.exprs;
        let mut differences = Vec::new();
        for k in 0..VARIABLES {
            for other in &ways[1..] {
                differences.push((exprs.at(other[k]) - exprs.at(ways[0][k])).id);
            }
        }
        let zero = exprs.all_zero(&differences);
        prop_assert!(zero.is_zero(), "{:?}", zero);
    }

    #[test]
    fn hessians_are_symmetric_and_right(tree in tame(3), point in point()) {
        let bench = Bench::new();
        let f = bench.build(&tree).id;
        let exprs = &bench.exprs;
        let hessian = exprs.hessian(f, &bench.variables);
        for i in 0..VARIABLES {
            let first = exprs.derivative(f, bench.variables[i]);
            for j in 0..VARIABLES {
                let entry = exprs.at(hessian.get(i, j));
                let mirrored = exprs.is_zero((entry - exprs.at(hessian.get(j, i))).id);
                prop_assert!(mirrored.is_zero(), "{} {}: {:?}", i, j, mirrored);
                let found = values(&bench, &[entry.id], &point)?[0].to_f64();
                let expected = quotient(&bench, first, j, &point)?;
                prop_assert!(close(found, expected), "{} {}: {} not {}", i, j, found, expected);
            }
        }
    }

    #[test]
    fn products_and_chains(a in tame(3), b in tame(3)) {
        let bench = Bench::new();
        let exprs = &bench.exprs;
        let (a, b) = (bench.build(&a), bench.build(&b));
        let x = bench.variables[0];
        let product = (a * b).d(x) - a.d(x) * b - a * b.d(x);
        prop_assert!(exprs.is_zero(product.id).is_zero());
        // (a ∘ b)′ = (a′ ∘ b) b′ when b is put in for x alone.
        let chain = |e: Expr| exprs.at(exprs.substitute(&[e.id], &[(x, b.id)])[0]);
        let y = bench.variables[1];
        let difference = chain(a).d(y) - chain(a.d(x)) * b.d(y) - chain(a.d(y));
        let zero = exprs.is_zero(difference.id);
        prop_assert!(zero.is_zero(), "{:?}", zero);
    }

    #[test]
    fn substitution_commutes_with_evaluation(a in tame(4), b in tame(3), c in tame(3), point in point()) {
        let bench = Bench::new();
        let exprs = &bench.exprs;
        let roots = [bench.build(&a).id, bench.build(&b).id, bench.build(&c).id];
        let (x, y) = (bench.variables[0], bench.variables[1]);
        let replaced = exprs.substitute(&[roots[0]], &[(x, roots[1]), (y, roots[2])]);
        let inner = bench.extended(BITS, &roots[1..], &point);
        let outer = values(&bench, &replaced, &point)?;
        let composed = bench.extended_at(BITS, roots[0], |place, own| match place {
            0 | 1 => inner[place].clone(),
            _ => own(&point[place]),
        });
        prop_assert!(composed.is_ok_and(|ball| ball.meets(&outer[0])));
    }

    #[test]
    fn wild_derivatives_do_not_panic(tree in wild(5)) {
        let bench = Bench::new();
        let f = bench.build(&tree).id;
        let point = [0.7, -1.3, 0.4];
        for way in ways(&bench, f) {
            bench.exprs.eval_f64(&way, |s| point[bench.place(s)]);
        }
    }
}

#[test]
fn branches_not_taken_do_no_harm() {
    // At x = −1 roots are not defined and matrices singular, but none is asked
    // for.
    let bench = Bench::new();
    let (exprs, x, y) = (&bench.exprs, bench.variable(0), bench.variable(1));
    let positive = bench.call(Function::Negative, &[-x]);
    let early = bench.call(Function::Negative, &[y - 9]);
    let choose = |c, a, b| bench.call(Function::If, &[c, a, b]);
    let safe = choose(positive, x.sqrt() * x.sin(), x.powi(2));
    let nested = choose(early, choose(positive, x.sqrt() + y.sin() * x.sqrt(), y), x.exp());
    let (k, r) = ([x + 1, y + x.sqrt(), (x + 1) * y, x + 1], [y, x.sqrt() + y]);
    let ids = |v: &[Expr]| v.iter().map(|e| e.id).collect::<Vec<_>>();
    let solved = exprs.solve(&ids(&k), &ids(&r));
    let quotient = choose(positive, exprs.at(solved[0]) * y + exprs.at(solved[1]), y * x);
    let apart = choose(positive, x.sqrt(), y) + y * choose(early, y, x.sqrt())
        - choose(positive, x.sqrt(), x);
    for f in
        [safe, safe.powi(2), 3 * safe + y, (safe * y).exp(), nested, nested * y, quotient, apart]
    {
        for derivatives in ways(&bench, f.id) {
            let found =
                exprs.eval_f64(&derivatives, |s| if s == bench.variables[0] { -1.0 } else { 0.5 });
            assert!(found.iter().all(|d| d.is_finite()), "{found:?}");
        }
    }
}

#[test]
fn time_derivatives_of_each_kind() {
    let exprs = Exprs::new();
    let (x, c, t) = (exprs.variable("x"), exprs.constant("c"), exprs.time());
    assert_eq!(t.dt().id, ExprId::ONE);
    assert_eq!(c.dt().id, ExprId::ZERO);
    assert_eq!(exprs.pi().dt().id, ExprId::ZERO);
    assert_eq!((x * t * c).dt(), x.dt() * t * c + x * c);
    assert_eq!(x.powi(2).dt().dt(), 2 * x.dt().powi(2) + 2 * x * x.dt().dt());
}

#[test]
fn derivatives_of_solutions() {
    // x = K⁻¹r, so K x′ + K′x = r′.
    let exprs = Exprs::new();
    let q = exprs.symbol("q", SymbolKind::Variable);
    let (qe, m) = (exprs.at(exprs.of_symbol(q)), exprs.constant("m"));
    let k = [m + 1, m * qe.cos(), m * qe.cos(), m];
    let r = [qe.sin(), qe.powi(2)];
    let ids = |v: &[Expr]| v.iter().map(|e| e.id).collect::<Vec<_>>();
    let x = exprs.solve(&ids(&k), &ids(&r));
    for i in 0..2 {
        let row =
            (0..2).map(|j| k[2 * i + j] * exprs.at(x[j]).d(q) + k[2 * i + j].d(q) * exprs.at(x[j]));
        let residual = row.reduce(|a, b| a + b).unwrap() - r[i].d(q);
        assert!(matches!(exprs.is_zero(residual.id), Zero::Sampled { exact: true, .. }));
    }
}

/// A long chain of random operations on what is already there.
fn deep(bench: &Bench, steps: &[(u8, u16, u16)]) -> ExprId {
    let mut pool: Vec<Expr> = (0..VARIABLES).map(|k| bench.variable(k)).collect();
    for &(operation, i, j) in steps {
        // Mostly recent ones, so that it is deep.
        let recent = pool.len().saturating_sub(6);
        let (a, b) =
            (pool[recent + i as usize % (pool.len() - recent)], pool[j as usize % pool.len()]);
        pool.push(match operation % 8 {
            0 | 1 => a + b,
            2 | 3 => a * b,
            4 => a.sin(),
            5 => a / (1 + b.powi(2)),
            6 => (a - 2 * b).cos(),
            _ => bench.call(Function::Max, &[a, b]) + 1,
        });
    }
    pool.iter().rev().take(6).fold(bench.number(0, 1), |sum, &e| sum + e).id
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn gradients_cost_a_small_multiple(steps in prop::collection::vec(any::<(u8, u16, u16)>(), 100..600)) {
        let bench = Bench::new();
        let f = deep(&bench, &steps);
        let edges = bench.exprs.count_edges(&[f]);
        let gradient = bench.exprs.gradient(f, &bench.variables);
        let nodes = bench.exprs.count_nodes(&gradient);
        prop_assert!(nodes <= 6 * edges + 6, "{} nodes for {} edges", nodes, edges);
        let all = bench.exprs.count_edges(&gradient);
        prop_assert!(all <= 12 * edges + 12, "{} edges for {} edges", all, edges);
    }
}
