//! Tapes on series, against the evaluation of their expressions in another arithmetic of series
//! and along curves; and found order by order, against what they are when all is given.

use dalembert_compile::Tape;
use dalembert_compile::conformance::graphs;
use dalembert_compile::series::{
    Closing, Fours, Integral, Jets, NoSeries, Series, Source, Variable, Wanted, Wide,
};
use dalembert_expr::series::{Along, Series as Short, TERMS};
use dalembert_expr::{Expr, ExprId, Exprs, Function, Random, Symbol};
use std::sync::Arc;

const NOW: Wanted = Wanted { phase: 0, ahead: 0, is_final: true };

/// Series of a tape with variables that are given, up to an order.
fn expand(tape: &Tape, constants: &[f64], curves: &[Vec<f64>], order: usize) -> Vec<Vec<f64>> {
    let given = vec![Variable::Given; tape.variables];
    let series = Series::new(tape.clone(), &given, &vec![NOW; tape.outputs.len()]).unwrap();
    let mut jets = series.jets(order);
    series.prepare(&mut jets, constants);
    begin(&series, &mut jets, curves);
    for (at, curve) in curves.iter().enumerate() {
        (1..=order).for_each(|m| series.set(&mut jets, at, m, curve[m]));
    }
    (1..=order).for_each(|k| series.run(&mut jets, 0, k));
    let outputs = 0..tape.outputs.len();
    outputs.map(|i| (0..=order).map(|m| series.output(&jets, i, m)).collect()).collect()
}

fn begin(series: &Series, jets: &mut Jets, curves: &[Vec<f64>]) {
    let x: Vec<f64> = curves.iter().map(|curve| curve[0]).collect();
    series.begin(jets, &x);
}

/// A curve through a place where all expressions are defined.
fn curve(random: &mut Random, order: usize) -> Vec<f64> {
    (0..=order).map(|m| if m == 0 { 0.2 + random.unit() } else { 0.3 * random.signed() }).collect()
}

/// Every function that has a series, of one expression.
fn functions<'e>(exprs: &'e Exprs, x: Expr<'e>, y: Expr<'e>) -> Vec<Expr<'e>> {
    let one = exprs.integer(1);
    let call = |function, of: &[Expr<'e>]| {
        exprs.at(exprs.call(function, &of.iter().map(|e| e.id).collect::<Vec<ExprId>>()))
    };
    let (square, third) = (x * x + one, x / exprs.integer(3));
    vec![
        x.sin(),
        x.cos() + y,
        x.sin() * x.cos(),
        x.tan(),
        call(Function::Sinh, &[x]),
        call(Function::Cosh, &[x]),
        call(Function::Tanh, &[x * y]),
        (x - y).exp(),
        square.log(),
        call(Function::Atan, &[x]),
        call(Function::Asin, &[third]),
        call(Function::Acos, &[third]),
        call(Function::Atan2, &[x, y + one]),
        call(Function::Atan2, &[x, one]),
        call(Function::Atan2, &[-one, -x]),
        x.powi(-3),
        square.sqrt() / y,
        square.pow(one / exprs.integer(3)),
        square.pow(y),
        exprs.integer(2).pow(y),
        one / (x + y),
        call(Function::Abs, &[x - exprs.integer(2)]),
        call(Function::Sign, &[x]) * y,
        call(Function::Min, &[x, y * exprs.integer(7)]),
        call(Function::Max, &[x, exprs.integer(-1)]),
        call(Function::If, &[call(Function::Negative, &[x]), y, x.sin()]),
        exprs.at(exprs.solve(&[square.id, y.id, x.id, (y * y + one).id], &[x.id, one.id])[1]),
    ]
}

#[test]
fn every_function_has_the_coefficients_of_its_expression() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let symbols = [x, y].map(|e| e.symbol().unwrap());
    let all = functions(&exprs, x, y);
    let mut random = Random::new(5);
    for turn in 0..20 {
        let curves = [curve(&mut random, 24), curve(&mut random, 24)];
        // Alone, so that nothing of it is there for another; and together.
        let alone: Vec<Vec<ExprId>> = all.iter().map(|f| vec![f.id]).collect();
        let together = vec![all.iter().map(|f| f.id).collect::<Vec<ExprId>>()];
        for roots in alone.iter().chain(&together) {
            let tape = Tape::lower(&exprs, roots, &[], &symbols);
            let found = expand(&tape, &[], &curves, 24);
            for (root, found) in roots.iter().zip(found) {
                along_a_curve(&exprs, *root, &symbols, &curves, &found, turn);
            }
        }
    }
}

/// The polynomial of a value is the value along the curve, as far as what is left out allows.
fn along_a_curve(
    exprs: &Exprs,
    root: ExprId,
    symbols: &[Symbol],
    curves: &[Vec<f64>],
    found: &[f64],
    turn: usize,
) {
    let h = 0.02;
    let at = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * h + c);
    let place = |s: Symbol| symbols.iter().position(|other| *other == s).expect("a symbol");
    let exact = exprs.eval_f64(&[root], |s| at(&curves[place(s)]))[0];
    let polynomial = at(found);
    let off = (exact - polynomial).abs();
    assert!(off <= 1e-13 * exact.abs().max(1.0), "{turn}: {polynomial} for {exact}");
    let inputs: Vec<Short> = curves.iter().map(|c| short(c)).collect();
    let other = exprs.evaluate(&Along, &[root], |s| inputs[place(s)])[0];
    for (m, &a) in found.iter().enumerate().take(TERMS).skip(1) {
        let b = other.coefficients[m];
        assert!((a - b).abs() <= 1e-11 * (1.0 + other.sizes[m]), "order {m}: {a} for {b}");
    }
}

fn short(curve: &[f64]) -> Short {
    let coefficients: [f64; TERMS] = std::array::from_fn(|m| curve[m]);
    Short { coefficients, sizes: coefficients.map(f64::abs) }
}

#[test]
fn random_expressions_have_the_coefficients_of_another_arithmetic() {
    let (mut random, mut seen, mut refused) = (Random::new(8), 0, 0);
    for graph in graphs(400) {
        let curves: Vec<Vec<f64>> = (0..3).map(|_| curve(&mut random, TERMS)).collect();
        let constants = [0.4, 0.9];
        let given = [Variable::Given; 3];
        let wanted = vec![NOW; graph.roots.len()];
        if let Err(error) = Series::new(graph.tape.clone(), &given, &wanted) {
            assert_eq!(error, NoSeries::Restricted);
            refused += 1;
            continue;
        }
        let found = expand(&graph.tape, &constants, &curves, TERMS - 1);
        let constants = constants.map(Short::constant);
        let inputs: Vec<Short> =
            constants.into_iter().chain(curves.iter().map(|c| short(c))).collect();
        let expected = graph.exprs.evaluate(&Along, &graph.roots, |symbol| {
            inputs[graph.symbols.iter().position(|&other| other == symbol).expect("its symbol")]
        });
        for (found, expected) in found.iter().zip(&expected) {
            for (m, &a) in found.iter().enumerate().take(TERMS).skip(1) {
                let b = expected.coefficients[m];
                // Where branches meet, either may have been taken.
                let is_close = (a - b).abs() <= 1e-10 * (1.0 + expected.sizes[m]);
                assert!(is_close || b.is_nan(), "order {m}: {a} for {b}");
                seen += usize::from(b != 0.0 && b.is_finite());
            }
        }
    }
    assert!(seen > 1000 && refused > 0, "{seen} coefficients, {refused} refused");
}

/// f(x), g(x, y), h(x, y, z) with x two, y one and z nothing ahead: the coefficients that are
/// found order by order are those of the given series, and what is there before the unknowns is
/// what the newest coefficients leave out.
#[test]
fn unknowns_that_come_later_change_nothing() {
    const ORDER: usize = 9;
    let mut random = Random::new(9);
    let mut checked = 0;
    for graph in graphs(300) {
        let exprs = &graph.exprs;
        let s = &graph.symbols;
        let of = |at: usize| exprs.of_symbol(s[at]);
        let f = exprs.substitute(&graph.roots[..1], &[(s[3], of(2)), (s[4], of(2))])[0];
        let g = exprs.substitute(&graph.roots[1..2], &[(s[4], of(3))])[0];
        let product = (exprs.at(graph.roots[2]) * exprs.at(f) * exprs.at(of(4)) + exprs.at(g)).id;
        let roots = [f, g, product];
        let tape = Tape::lower(exprs, &roots, &s[..2], &s[2..]);
        let ahead = [2, 1, 0];
        let variables = ahead.map(|ahead| Variable::Moving { phase: 0, ahead });
        let is_final = random.below(2) == 0;
        let wanted = ahead.map(|ahead| Wanted { phase: 0, ahead, is_final });
        let Ok(series) = Series::new(tape.clone(), &variables, &wanted) else { continue };
        let constants = [0.4, 0.9];
        let curves: Vec<Vec<f64>> = (0..3).map(|_| curve(&mut random, ORDER + 2)).collect();
        let exact = expand(&tape, &constants, &curves, ORDER + 2);
        let mut jets = series.jets(ORDER + 2);
        series.prepare(&mut jets, &constants);
        for again in 0..2 {
            begin(&series, &mut jets, &curves);
            series.set(&mut jets, 0, 1, curves[0][1]);
            series.set(&mut jets, 0, 2, curves[0][2]);
            series.set(&mut jets, 1, 1, curves[1][1]);
            series.catch_up(&mut jets);
            for k in 1..=ORDER {
                series.run(&mut jets, 0, k);
                let mut short = curves.clone();
                ahead.iter().zip(&mut short).for_each(|(ahead, c)| c[k + ahead] = 0.0);
                let before = expand(&tape, &constants, &short, ORDER + 2);
                for (i, ahead) in ahead.iter().enumerate() {
                    let (a, b) = (series.output(&jets, i, k + ahead), before[i][k + ahead]);
                    assert!(is_near(a, b, &before[i]), "{again}: {i} at {k} before: {a} for {b}");
                }
                (0..3).for_each(|i| {
                    series.set(&mut jets, i, k + ahead[i], curves[i][k + ahead[i]]);
                });
                series.finish(&mut jets, 0, k);
                for (i, ahead) in ahead.iter().enumerate().filter(|_| is_final) {
                    let (a, b) = (series.output(&jets, i, k + ahead), exact[i][k + ahead]);
                    assert!(is_near(a, b, &exact[i]), "{again}: {i} at {k}: {a} for {b}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// Stage by stage, with unknowns that are found in between.
#[test]
fn machine_code_has_the_bits_of_the_interpreter() {
    const ORDER: usize = 13;
    let mut random = Random::new(10);
    let (mut checked, mut assembled) = (0, 0);
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let all: Vec<ExprId> = functions(&exprs, x, y).iter().map(|f| f.id).collect();
    let symbols = [x, y].map(|e| e.symbol().unwrap());
    // All functions but the solve, which is the last.
    let each = all.split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec());
    let mut tapes: Vec<Tape> =
        each.iter().map(|&f| Tape::lower(&exprs, &[f], &[], &symbols)).collect();
    tapes.push(Tape::lower(&exprs, &each, &[], &symbols));
    tapes.extend(graphs(600).map(|graph| graph.tape));
    for tape in tapes {
        let ahead: Vec<usize> = (0..tape.variables).map(|i| 1 - i % 2).collect();
        let moving = |ahead: &usize| Variable::Moving { phase: 0, ahead: *ahead };
        let variables: Vec<Variable> = ahead.iter().map(moving).collect();
        let wanted = vec![NOW; tape.outputs.len()];
        let Ok(series) = Series::new(tape.clone(), &variables, &wanted) else { continue };
        let Some(code) = series.assemble(ORDER + 1, ORDER) else { continue };
        assembled += 1;
        let constants = [0.4, 0.9];
        let curves: Vec<Vec<f64>> =
            (0..tape.variables).map(|_| curve(&mut random, ORDER + 1)).collect();
        let found = [false, true].map(|is_code| {
            let mut jets = series.jets(ORDER + 1);
            series.prepare(&mut jets, &constants);
            match is_code {
                true => {
                    let x: Vec<f64> = curves.iter().map(|curve| curve[0]).collect();
                    code.begin(&series, &mut jets, &x);
                }
                false => begin(&series, &mut jets, &curves),
            }
            for (i, ahead) in ahead.iter().enumerate().filter(|a| *a.1 == 1) {
                series.set(&mut jets, i, *ahead, curves[i][*ahead]);
            }
            if !(is_code && code.catch_up(&mut jets)) {
                series.catch_up(&mut jets);
            }
            let mut bits = Vec::new();
            for k in 1..=ORDER {
                if !(is_code && code.run(&mut jets, 0, k)) {
                    series.run(&mut jets, 0, k);
                }
                let outputs = 0..tape.outputs.len();
                bits.extend(outputs.clone().map(|i| series.output(&jets, i, k).to_bits()));
                for (i, ahead) in ahead.iter().enumerate() {
                    series.set(&mut jets, i, k + ahead, curves[i][k + ahead]);
                }
                if !(is_code && code.finish(&mut jets, 0, k)) {
                    series.finish(&mut jets, 0, k);
                }
                bits.extend(outputs.map(|i| series.output(&jets, i, k).to_bits()));
            }
            assert!(!is_code || code.run(&mut jets, 0, 1), "it was code");
            bits
        });
        assert!(found[0].iter().zip(&found[1]).all(is_same), "{tape:?}");
        checked += found[0].len();
    }
    println!("{assembled} tapes, {checked} coefficients");
    // Where there is machine code at all.
    assert!(assembled == 0 || (assembled > 60 && checked > 4000));
}

fn is_same((a, b): (&u64, &u64)) -> bool {
    a == b || (f64::from_bits(*a).is_nan() && f64::from_bits(*b).is_nan())
}

/// Stages that are closed by a matrix: rows on q two ahead, on v one ahead and on a, v the integral
/// of a, q that of v or of an output of a later phase. What solves the equations is any matrix.
#[test]
fn stages_are_closed_in_code_as_by_the_interpreter() {
    let mut random = Random::new(11);
    let (mut checked, mut whole) = (0, 0);
    for (turn, graph) in graphs(1500).enumerate() {
        let (exprs, s) = (&graph.exprs, &graph.symbols);
        let [q, v, a] = ["q", "v", "a"]
            .map(|name| [1, 2, 3, 4, 5].map(|i| exprs.variable(&format!("{name}{i}"))));
        // Few stages have code of their own, many are a loop.
        let order = if turn % 3 == 0 { 60 } else { 9 };
        let is_rate = turn % 2 == 0;
        let put = |root: usize, x: [Expr; 3]| {
            let places = [(s[2], x[0].id), (s[3], x[1].id), (s[4], x[2].id)];
            exprs.substitute(&graph.roots[root..=root], &places)[0]
        };
        let mut roots = vec![
            (exprs.at(put(0, [q[0], v[1], q[2]])) + a[0] * q[3]).id,
            (exprs.at(put(1, [v[0], v[1], v[2]])) * a[1] + a[4] * v[3]).id,
            put(2, [a[3], q[4], v[0]]),
            put(0, [q[1], if is_rate { v[4] } else { q[2] }, q[0]]),
            put(1, [q[3], q[4], q[2]]),
        ];
        let levels = if is_rate { [0, 0, 0, 1, 2] } else { [0, 0, 0, 1, 1] };
        let now = |ahead| Wanted { phase: 0, ahead, is_final: false };
        let mut wanted: Vec<Wanted> = levels.map(now).to_vec();
        let phase = usize::from(!is_rate);
        if !is_rate {
            roots.extend((0..5).map(|i| (v[i] * q[(i + 1) % 5] + v[(i + 2) % 5]).id));
            wanted.extend([Wanted { phase: 1, ahead: 1, is_final: true }; 5]);
        }
        let symbols: Vec<Symbol> =
            q.iter().chain(&v).chain(&a).map(|e| e.symbol().unwrap()).collect();
        let tape = Tape::lower(exprs, &roots, &s[..2], &symbols);
        let moving = |phase, ahead| Variable::Moving { phase, ahead };
        let kinds = [moving(phase, 2), moving(0, 1), moving(0, 0)];
        let variables: Vec<Variable> = kinds.iter().flat_map(|kind| [*kind; 5]).collect();
        let Ok(mut series) = Series::new(tape, &variables, &wanted) else { continue };
        let of = if is_rate { Source::Variables(5) } else { Source::Outputs(5) };
        series.close(Closing {
            equations: 5,
            unknowns: 10,
            integrals: vec![
                Integral { first: 5, count: 5, of: Source::Variables(10) },
                Integral { first: 0, count: 5, of },
            ],
        });
        assert!(series.is_closed());
        let Some(code) = series.assemble(order + 1, order - 1) else { continue };
        let mut jets = series.jets(order + 1);
        series.prepare(&mut jets, &[0.4, 0.9]);
        let series = Arc::new(series);
        let mut all = Vec::new();
        for _ in 0..8 {
            let x: Vec<f64> = (0..15).map(|_| 0.2 + random.unit()).collect();
            let first: Vec<f64> = (0..10).map(|_| 0.3 * random.signed()).collect();
            let matrix: Vec<f64> = (0..25).map(|_| 0.2 * random.signed()).collect();
            let found = [false, true].map(|is_code| {
                match is_code {
                    true => code.begin(&series, &mut jets, &x),
                    false => series.begin(&mut jets, &x),
                }
                for i in 0..5 {
                    series.set_inverse(&mut jets, i, &matrix[5 * i..5 * i + 5]);
                    series.set(&mut jets, i, 1, first[i]);
                    if is_rate {
                        series.set(&mut jets, i, 2, first[5 + i] / 2.0);
                    }
                    series.set(&mut jets, 5 + i, 1, first[5 + i]);
                }
                if !(is_code && code.run_all(&mut jets)) {
                    assert!(!is_code);
                    series.start(&mut jets);
                    (1..order).for_each(|k| series.stage(&mut jets, k));
                }
                let all = (0..15).flat_map(|i| series.variable(&jets, i).map(f64::to_bits));
                all.collect::<Vec<u64>>()
            });
            assert!(found[0].iter().zip(&found[1]).all(is_same), "{turn}");
            checked += found[0].iter().filter(|x| f64::from_bits(**x).is_finite()).count();
            let [found, _] = found;
            all.push((x, first, matrix, found));
        }
        side_by_side::<4>(&series, order, is_rate, &all);
        side_by_side::<8>(&series, order, is_rate, &all);
        side_by_side::<16>(&series, order, is_rate, &all);
        whole += 1;
    }
    println!("{whole} tapes, {checked} coefficients");
    assert!(whole == 0 || (whole > 60 && checked > 20_000));
}

/// A motion: its start, the first coefficients, the inverse, and the bits that it has alone.
type Alone = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<u64>);

/// The same motions in company, one company after another: nothing is left of what was there.
fn side_by_side<const W: usize>(series: &Arc<Series>, order: usize, is_rate: bool, all: &[Alone]) {
    let wide = Wide::<W>::new(series, order + 1, order - 1).unwrap();
    let mut jets = wide.jets(&[0.4, 0.9]);
    for first in 0..all.len() {
        let own: [&Alone; W] = std::array::from_fn(|lane| &all[(first + lane) % all.len()]);
        let lanes = |of: &dyn Fn(&Alone) -> f64| own.map(of);
        let x: Vec<[f64; W]> = (0..15).map(|i| lanes(&|own| own.0[i])).collect();
        wide.begin(&mut jets, &x);
        for i in 0..5 {
            let column: Vec<[f64; W]> = (0..5).map(|j| lanes(&|own| own.2[5 * i + j])).collect();
            wide.set_inverse(&mut jets, i, &column);
            jets.set(i, 1, lanes(&|own| own.1[i]));
            let rates = lanes(&|own| own.1[5 + i]);
            if is_rate {
                jets.set(i, 2, rates.map(|rate| rate / 2.0));
            }
            jets.set(5 + i, 1, rates);
        }
        assert!(wide.run(&mut jets));
        for (lane, (.., alone)) in own.iter().enumerate() {
            let all = (0..15).flat_map(|i| {
                let own = jets.variable(i).unwrap();
                own.iter().step_by(4).map(move |lanes| lanes[lane].to_bits())
            });
            let found: Vec<u64> = all.collect();
            assert_eq!(found.len(), alone.len());
            assert!(found.iter().zip(alone).all(is_same), "{W} {first} {lane}");
        }
    }
}

#[test]
fn what_is_held_has_no_series() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let symbols = [x, y].map(|e| e.symbol().unwrap());
    let tape = Tape::lower(&exprs, &[(x * x * y + x.sin()).id], &[], &symbols);
    let wanted = [Wanted { is_final: false, ..NOW }];
    let series = Series::new(tape, &[Variable::Given, Variable::Held], &wanted).unwrap();
    let mut jets = series.jets(5);
    series.prepare(&mut jets, &[]);
    series.begin(&mut jets, &[0.5, 2.0]);
    series.set(&mut jets, 0, 1, 1.0);
    series.set(&mut jets, 1, 1, 1.0);
    (1..=5).for_each(|k| series.run(&mut jets, 0, k));
    let mut copied = Fours::default();
    copied.shape(6, &[1]);
    for (at, expected) in [[0.5, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0; 6]].into_iter().enumerate() {
        assert_eq!(series.variable(&jets, at).collect::<Vec<f64>>(), expected);
        copied.take(0, &series, &jets, at);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|order| copied.at(0, order)), expected);
    }
}

#[test]
fn what_cannot_be_closed_is_not() {
    let exprs = Exprs::new();
    let (x, a) = (exprs.variable("x"), exprs.variable("a"));
    let symbols = [x, a].map(|e| e.symbol().unwrap());
    let tape = Tape::lower(&exprs, &[(x + a).id], &[], &symbols);
    let moving = |ahead| Variable::Moving { phase: 0, ahead };
    let new = |equations, unknowns, first, of| {
        let mut series = Series::new(
            tape.clone(),
            &[moving(1), moving(0)],
            &[Wanted { is_final: false, ..NOW }],
        )
        .unwrap();
        series.close(Closing {
            equations,
            unknowns,
            integrals: vec![Integral { first, count: 1, of }],
        });
        series.is_closed()
    };
    assert!(new(1, 1, 0, Source::Variables(1)));
    assert!(!new(2, 1, 0, Source::Variables(1)));
    assert!(!new(1, 0, 0, Source::Variables(1)));
    assert!(!new(1, 1, 1, Source::Variables(0)));
    assert!(!new(1, 1, 0, Source::Outputs(0)));
    assert!(!new(1, 1, 7, Source::Variables(1)));
}

fn is_near(a: f64, b: f64, all: &[f64]) -> bool {
    let size = all.iter().fold(1f64, |m, c| m.max(c.abs()));
    (a - b).abs() <= 1e-10 * size || !b.is_finite() || !size.is_finite()
}

#[test]
fn what_is_wanted_too_early_is_refused() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let tape = Tape::lower(&exprs, &[x.sin().id], &[], &[x.symbol().unwrap()]);
    let at = |phase, ahead| Variable::Moving { phase, ahead };
    let new = |variable, phase, ahead| {
        let wanted = Wanted { phase, ahead, is_final: true };
        Series::new(tape.clone(), &[variable], &[wanted]).err()
    };
    assert_eq!(new(at(0, 0), 0, 1), Some(NoSeries::TooEarly));
    assert_eq!(new(at(1, 1), 0, 1), Some(NoSeries::TooEarly));
    assert_eq!(new(at(0, 1), 1, 1), None);
    assert_eq!(new(at(1, 1), 0, 0), None);
    assert_eq!(new(Variable::Given, 0, 3), None);
}
