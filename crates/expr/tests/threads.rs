//! One arena used by several threads, its clones, and what is handed in to its operations.

use dalembert_expr::ball::{Balls, Doubles as DoubleBalls, Enclose};
use dalembert_expr::eval::{Arithmetic, Doubles};
use dalembert_expr::{
    Between, Effort, Explicit, Expr, ExprId, Exprs, Function, Given, KeptValues, Notation, Number,
    Outside, Shown, Surface, Symbol, SymbolKind, Table, ZeroTest,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, LazyLock};

const THREADS: usize = 4;

/// One for all arenas: a function has a number of its own, and that is a node.
static SINE: LazyLock<Arc<Given>> =
    LazyLock::new(|| Given::new("sine", vec![Box::new(f64::sin)]).expect("a function"));

/// Every public operation, on expressions that have all kinds of nodes; what was printed.
fn everything(exprs: &Exprs, x: Symbol, y: Symbol) -> Vec<String> {
    let (vx, vy) = (exprs.at(exprs.of_symbol(x)), exprs.at(exprs.of_symbol(y)));
    let (one, t, pi) = (exprs.integer(1), exprs.time(), exprs.pi());
    let half = exprs.at(exprs.of_number(Number::integer(2).recip().expect("is not 0")));
    let mut printed = Vec::new();
    let mut print = |e: Expr| printed.push(e.to_string());

    // Construction.
    let sum = exprs.at(exprs.sum(&[vx.id, vy.id, half.id, t.id, pi.id]));
    let product = exprs.at(exprs.product(&[vx.id, vx.id, vy.id]));
    let call = exprs.at(exprs.call(Function::Atan2, &[vy.id, vx.id]));
    let power = exprs.at(exprs.pow(sum.id, vy.id));
    let solved = exprs.solve(&[sum.id, vx.id, vx.id, product.id], &[vy.id, one.id]);
    let solved = exprs.at(solved[0]);
    let operators = -(vx + vy - 2 * vx / sum).sqrt() * vx.powi(3) + vx.pow(vy) + 1 - 1 / vy;
    let functions = vx.sin() + vx.cos() + vx.tan() + vx.exp() + vx.log() + vx.abs();
    [sum, product, call, power, solved, operators, functions].into_iter().for_each(&mut print);

    // Derivatives.
    let all = [operators.id, functions.id, solved.id];
    let by = [x, y];
    print(exprs.at(exprs.derivative(solved.id, x)));
    print(operators.d(y));
    print(exprs.at(exprs.time_derivative(product.id)));
    print(product.dt());
    let along = exprs.directional(&all, &[(x, vy.id), (Symbol::TIME, one.id)]);
    let gradient = exprs.gradient(operators.id, &by);
    along.iter().chain(&gradient).for_each(|&e| print(exprs.at(e)));
    let jacobian = exprs.jacobian(&[product.id, sum.id], &by);
    let hessian = exprs.hessian(product.id, &by);
    jacobian.rows.iter().chain(&hessian.rows).flatten().for_each(|e| print(exprs.at(e.1)));

    // Other forms.
    let squares = (vx.sin().powi(2) + vx.cos().powi(2)) * (vx + vy).powi(2);
    print(exprs.at(exprs.simplify(squares.id)));
    print(exprs.at(exprs.expand(squares.id)));
    let mut effort = Effort::new(100_000);
    let short = exprs.simplify_with(squares.id, &mut effort);
    let within = exprs.simplify_in((squares * vy + product).id, &by, &mut effort);
    let modulo = exprs.simplify_modulo((vx.powi(2) + vy).id, &[(vx.powi(2) - 1).id], &mut effort);
    [short, within, modulo].into_iter().for_each(|e| print(exprs.at(e)));
    print(exprs.at(exprs.shorter_of(squares.id, short)));
    let (branch, assumed) = exprs.on_branch(((vx + vy).powi(2)).sqrt().id, |_| Some(true));
    print(exprs.at(branch));
    assumed.iter().for_each(|a| print(exprs.at(a.expr)));
    let number = |s: Symbol| (s == x).then_some(0);
    assert_eq!(exprs.numbered(&[sum.id], number).0, [Some(0)]);
    let called = exprs.give(&SINE, vx.id);
    assert_eq!(exprs.given(&[called]).len(), 1);
    assert_eq!(exprs.as_call(vx.sin().id), Some(Function::Sin));
    assert!(exprs.calls(&[vx.sin().id], Function::Sin) && exprs.tables(&all).is_empty());
    let line = Table::new("line", &[0.0, 1.0], &[0.0, 1.0], Between::Linear, Outside::Extend);
    let line = line.expect("a table");
    assert_eq!(exprs.tabulate(line.clone()), exprs.tabulate(line));
    assert_eq!(exprs.linear_systems(&[solved.id]).len(), 1);
    exprs.show_symbol(y, &Shown::Name("y".to_owned()));
    print(exprs.at(exprs.without_solves(solved.id, 3)));
    let explicit = exprs.explicit(solved.id, 3, 10_000, &mut Explicit::default());
    print(exprs.at(explicit.expect("is short")));
    print(exprs.at(exprs.antiderivative((vx.sin() * vx).id, x).expect("is known")));
    exprs.terms(squares.id).into_iter().for_each(|e| print(exprs.at(e)));
    exprs.multiples(sum.id).into_iter().for_each(|m| print(exprs.at(m.1)));
    exprs.substitute(&all, &[(x, vy.id)]).into_iter().for_each(|e| print(exprs.at(e)));
    let put = |s: Symbol| (s == x).then(|| (exprs.at(exprs.of_symbol(y)) * 2).id);
    exprs.substitute_with(&all, put).into_iter().for_each(|e| print(exprs.at(e)));
    exprs.replace(&all, &[(sum.id, vx.id)]).into_iter().for_each(|e| print(exprs.at(e)));
    let is_x = |s: Symbol| exprs.symbol_info(s).name == "x";
    print(exprs.at(exprs.part_without(sum.id, is_x)));
    let (frozen, _) = exprs.freeze_switches(&[functions.id, call.id]);
    frozen.into_iter().for_each(|e| print(exprs.at(e)));
    exprs.boundaries(functions.id).into_iter().for_each(|e| print(exprs.at(e)));
    exprs.angles((call * vx).id).into_iter().for_each(|e| print(exprs.at(e)));

    // What is known of them.
    let matrix = exprs.jacobian(&[product.id, (2 * product).id], &by);
    assert_eq!(exprs.rank_exact(&matrix, 1, 0).map(|r| r.rank()), Some(1));
    assert_eq!(exprs.rank_near(&matrix, |_| (0.5, 0.0)).map(|r| r.rank()), Some(1));
    assert!(exprs.is_rational(&matrix) && exprs.rank_chance(&matrix, 2) < 1e-9);
    let zero = vx.sin().powi(2) + vx.cos().powi(2) - 1;
    assert!(exprs.is_zero(zero.id).is_zero() && !zero.is_literally_zero());
    assert!(exprs.all_zero(&[zero.id, (2 * zero).id]).is_zero());
    assert!(exprs.zero_test(vx.id, &ZeroTest::default()).is_nonzero());
    assert_eq!(exprs.zero_tests(&[zero.id, vx.id], &ZeroTest::default()).len(), 2);
    assert!(exprs.count_nodes(&all) > 10 && exprs.count_edges(&all) > 10);
    assert!(exprs.count_tree_size(squares.id) > 5 && !exprs.is_empty() && exprs.len() > 10);
    assert_eq!(exprs.symbols_of(&[product.id]), [x, y]);
    assert_eq!(exprs.depend_on(&[product.id, ExprId::ONE], |s| s == x), [true, false]);
    assert_eq!((exprs.as_symbol(vx.id), vx.symbol()), (Some(x), Some(x)));
    assert_eq!(exprs.as_number(one.id), Some(Number::ONE));
    assert!(!exprs.operands(sum.id).is_empty() && !exprs.take_overflow());
    assert!(exprs.rate(x).is_some());
    assert_eq!(exprs.narrow(&[vx.exp().id], 24.0).len(), 1);
    assert!(exprs.numbers_of(&[(2 * product).id]).contains(&Number::integer(2)));
    let beside = exprs.at(exprs.of_number(Number::from_decimal("1e-9").expect("a number")));
    let near = exprs.near_multiple(vx.sin().id, (vx + beside * vy).sin().id, 1e-5);
    let (ratio, parts) = near.expect("they are near");
    assert_eq!((ratio, parts.len()), (Number::ONE, 1));
    assert_eq!(exprs.log_size(parts[0].1), 0.0);
    print(exprs.at(parts[0].1));
    assert_eq!(exprs.share().len() > 10, !exprs.is_empty());
    let given = Surface {
        conditions: &[(vx.sin() + vy - 1).id],
        moved: &[(x, 1.0), (y, 1.0)],
        held: &[],
        constants: &[],
        shift: 0,
        bits: 128,
    };
    let surface = exprs.surface(&given).expect("a surface");
    assert_eq!(exprs.surface(&given), Some(surface));
    let restricted = exprs.restricted(surface, product.id).expect("it is smooth");
    print(exprs.at(restricted));
    exprs.weights(surface, product.id).into_iter().for_each(|e| print(exprs.at(e)));

    // Numbers; what is handed in may use the arena.
    let value = |s: Symbol| if exprs.symbol_info(s).name == "x" { 0.5 } else { 2.0 };
    let numbers = exprs.eval_f64(&[product.id], value);
    let kept = exprs.eval_kept(&mut KeptValues::default(), product.id, |s| Some(value(s)));
    assert_eq!(kept, Some(numbers[0]));
    assert_eq!(numbers, [0.5]);
    assert_eq!(exprs.evaluate(&Doubles, &[product.id], value), numbers);
    let balls = Balls(DoubleBalls);
    let ball = exprs.evaluate(&balls, &[product.id], |_| balls.0.number(&Number::ONE));
    assert!(ball[0].is_ok());

    // Printing.
    let parts = exprs.parts_to_name(&all, 8, 40);
    let names = parts.iter().zip(1..).map(|(&part, k)| (part, format!("w{k}"))).collect();
    printed.push(exprs.print_named(operators.id, Notation::Text, &names));
    let listing = exprs.print_shared(&all, Notation::Latex, "w");
    printed.extend(listing.roots);
    printed.extend(exprs.to_source_shared(&all, "w").1);
    printed.extend([exprs.to_source(sum.id), exprs.to_text(sum.id), exprs.to_latex(sum.id)]);
    printed.push(exprs.print_limited(sum.id, Notation::Text, 20));
    printed.push(exprs.print_symbol(x, Notation::Latex));
    printed.extend([exprs.symbol_source(x), exprs.symbol_text(x), exprs.symbol_latex(x)]);
    printed.push(format!("{operators:?}"));

    // Symbols of its own.
    let own = exprs.symbol("own", SymbolKind::Constant);
    printed.push(
        (exprs.variable("u") + exprs.constant("c") + exprs.at(exprs.of_symbol(own))).to_string(),
    );
    printed
}

fn arena() -> (Exprs, Symbol, Symbol) {
    let exprs = Exprs::new();
    let [x, y] = ["x", "y"].map(|name| exprs.symbol(name, SymbolKind::Variable));
    (exprs, x, y)
}

fn on_threads<T: Send>(run: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(&run)).collect();
        handles.into_iter().map(|h| h.join().expect("no panic")).collect()
    })
}

#[test]
fn threads_that_share_an_arena_find_the_same_as_one_alone() {
    let (alone, x, y) = arena();
    let expected = everything(&alone, x, y);
    let (exprs, x, y) = arena();
    for printed in on_threads(|| everything(&exprs, x, y)) {
        assert_eq!(printed, expected);
    }
}

#[test]
fn threads_with_a_clone_each_make_the_same_nodes() {
    let (alone, x, y) = arena();
    everything(&alone, x, y);
    let (exprs, x, y) = arena();
    let before = exprs.len();
    for count in on_threads(|| {
        let own = exprs.clone();
        everything(&own, x, y);
        own.len()
    }) {
        assert_eq!(count, alone.len());
    }
    assert_eq!(exprs.len(), before, "what a clone adds is not here");
}

#[test]
fn ids_made_before_a_clone_are_valid_in_both() {
    let (exprs, x, y) = arena();
    let sum = exprs.at(exprs.of_symbol(x)) + exprs.at(exprs.of_symbol(y));
    let other = exprs.clone();
    let here = sum.sin().id;
    let there = (other.at(sum.id).cos() * 2).id;
    assert_eq!(other.to_source(sum.id), "x + y");
    assert_eq!(exprs.to_source(here), "sin(x + y)");
    assert_eq!(other.to_source(there), "2*cos(x + y)");
}

/// An arithmetic that asks the arena it is used by.
struct Inside<'e>(&'e Exprs);

impl Arithmetic for Inside<'_> {
    type Value = usize;

    fn number(&self, _: &Number) -> usize {
        0
    }
    fn pi(&self) -> usize {
        0
    }
    fn add(&self, _: &usize, _: &usize) -> usize {
        self.0.len()
    }
    fn mul(&self, a: &usize, _: &usize) -> usize {
        *a
    }
    fn power(&self, a: &usize, _: &Number) -> usize {
        *a
    }
    fn pow(&self, a: &usize, _: &usize) -> usize {
        *a
    }
    fn call(&self, _: Function, _: &[usize]) -> usize {
        0
    }
    fn solve(&self, _: &[usize], r: &[usize]) -> Vec<usize> {
        r.to_vec()
    }
}

#[test]
fn an_operation_inside_of_another_is_refused_and_does_not_wait_for_itself() {
    let (exprs, x, y) = arena();
    let sum = (exprs.at(exprs.of_symbol(x)) + exprs.at(exprs.of_symbol(y))).id;
    let inside = || exprs.evaluate(&Inside(&exprs), &[sum], |_| 1);
    let told = catch_unwind(AssertUnwindSafe(inside)).expect_err("is refused");
    let words = told.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(words.contains("inside of another one"), "{words}");
    assert_eq!(exprs.to_source(sum), "x + y");
    // Another arena is another matter.
    let other = exprs.clone();
    assert!(exprs.evaluate(&Inside(&other), &[sum], |_| 1)[0] > 0);
}

#[test]
fn every_public_operation_is_among_those_tried() {
    let mut missing: Vec<String> = Vec::new();
    let mut found = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("is a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("is text");
            let mut is_inside = false;
            for line in text.lines() {
                is_inside = line.starts_with("impl Exprs") || (is_inside && line != "}");
                let Some(rest) = line.strip_prefix("    pub fn ").filter(|_| is_inside) else {
                    continue;
                };
                let end = rest.find(['(', '<']).unwrap_or(rest.len());
                let name = &rest[..end];
                found += 1;
                let here = include_str!("threads.rs");
                if name != "new" && !here.contains(&format!("exprs.{name}(")) {
                    missing.push(name.to_owned());
                }
            }
        }
    }
    assert!(found > 50, "{found} operations");
    assert!(missing.is_empty(), "not tried: {missing:?}");
}

#[test]
fn expressions_are_the_same_by_id_in_one_arena() {
    let (exprs, x, y) = arena();
    let made: Vec<Vec<ExprId>> = on_threads(|| {
        let f = (exprs.at(exprs.of_symbol(x)) * exprs.at(exprs.of_symbol(y))).sin().exp();
        (1..50).map(|n| (f.powi(n) + n).d(x).id).collect()
    });
    assert!(made.windows(2).all(|pair| pair[0] == pair[1]));
}
