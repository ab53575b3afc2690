//! Bounds over a stretch hold at its points: for values and for all derivatives that a jet has.

use dalembert_compile::Tape;
use dalembert_compile::enclosure::{Enclosure, Interval, Jet, ORDER};
use dalembert_expr::{Expr, ExprId, Exprs, Function, Random, Symbol};

/// Functions of x, some of which have no value somewhere.
fn functions<'e>(exprs: &'e Exprs, x: Expr<'e>) -> Vec<Expr<'e>> {
    let call = |f: Function, a: Expr<'e>| exprs.at(exprs.call(f, &[a.id]));
    let number = |n: i64| exprs.integer(n);
    let one = number(1);
    vec![
        x * x * x - number(2) * x,
        (number(3) * x).sin() * (x * x).cos(),
        one / (one + x * x),
        (number(2) + x.sin()).sqrt(),
        call(Function::Exp, -x * x) * x,
        call(Function::Log, number(2) + x * x),
        call(Function::Tanh, number(40) * x - one),
        call(Function::Sinh, x) - call(Function::Cosh, number(2) * x),
        call(Function::Atan, number(5) * x),
        call(Function::Asin, x / number(9)) + call(Function::Acos, x / number(7)),
        call(Function::Tan, x / number(4)),
        exprs.at(exprs.call(Function::Atan2, &[x.id, (number(2) + x * x).id])),
        exprs.at(exprs.pow((number(2) + x.sin()).id, (x / number(3)).id)),
        x / (x - number(2)),
        x.sqrt() * x,
        call(Function::Abs, x - one) * x,
        call(Function::Sign, x) + x,
    ]
}

#[test]
fn values_and_derivatives_are_inside() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let symbol = x.symbol().expect("a symbol");
    let mut random = Random::new(11);
    let mut bounded = 0;
    for (at, f) in functions(&exprs, x).into_iter().enumerate() {
        let mut derivatives: Vec<ExprId> = vec![f.id];
        for k in 0..ORDER {
            derivatives.push(exprs.derivative(derivatives[k], symbol));
        }
        let mut enclosure = Enclosure::new(Tape::lower(&exprs, &[f.id], &[], &[symbol])).unwrap();
        enclosure.prepare(&[]);
        for _ in 0..400 {
            let (middle, radius) = (6.0 * random.unit() - 3.0, 10f64.powf(-6.0 * random.unit()));
            let mut jet = Jet::constant(Interval::around(middle, radius));
            jet.0[1] = Interval::ONE;
            enclosure.run(&[jet]);
            let found = *enclosure.output(0);
            let point = middle + radius * (2.0 * random.unit() - 1.0);
            let lookup = |_: Symbol| point;
            let mut factorial = 1.0;
            for (k, &derivative) in derivatives.iter().enumerate() {
                factorial *= k.max(1) as f64;
                let value = exprs.eval_f64(&[derivative], lookup)[0] / factorial;
                let interval = found.0[k];
                bounded += usize::from(interval.is_bounded());
                // The value itself is rounded, where terms cancel by much: 1 − tanh² (40 x), say.
                let noise = 1e-15 * 40f64.powi(k as i32);
                let slack = noise + 1e-9 * (interval.size().min(1e300) + value.abs());
                let is_in = value >= interval.low - slack && value <= interval.high + slack;
                assert!(
                    is_in || value.is_nan(),
                    "{at}, order {k} at {point}: {value} {interval:?}"
                );
            }
        }
    }
    assert!(bounded > 20_000, "{bounded}");
}

/// Over short stretches the bounds are as narrow as the function.
#[test]
fn bounds_shrink_with_the_stretch() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let f = (exprs.integer(3) * x).sin() * x;
    let tape = Tape::lower(&exprs, &[f.id], &[], &[x.symbol().expect("a symbol")]);
    let mut enclosure = Enclosure::new(tape).unwrap();
    enclosure.prepare(&[]);
    let mut width = |radius: f64| {
        let mut jet = Jet::constant(Interval::around(0.7, radius));
        jet.0[1] = Interval::ONE;
        enclosure.run(&[jet]);
        let found = enclosure.output(0).0[ORDER];
        found.high - found.low
    };
    let ratio = width(1e-3) / width(1e-4);
    assert!((9.0..11.0).contains(&ratio), "{ratio}");
}
