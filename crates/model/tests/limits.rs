//! "No input, however broken, may crash the program or hang it": the limits of
//! the language, each a fault with its own code.

use dalembert_model::load::{Loaded, Syntax, load};
use dalembert_model::resolve::Limits;
use std::time::{Duration, Instant};

fn read(text: &str) -> Loaded {
    load("limits.dal", text, Syntax::Plain, &[], Limits::default())
}

/// The text yields this fault, within a time that only a hang exceeds.
#[track_caller]
fn yields(text: &str, code: &str) {
    let begun = Instant::now();
    let loaded = read(text);
    let mut codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code.name()).collect();
    codes.dedup();
    assert!(codes.contains(&code), "{codes:?}");
    assert!(loaded.is_faulty());
    assert!(begun.elapsed() < Duration::from_secs(60), "took {:?}", begun.elapsed());
}

const HEAD: &str = "coord x\nkinetic x'^2/2\n";

#[test]
fn nesting_deeper_than_200() {
    let nest = |n: usize| format!("{HEAD}potential {}x{}", "(".repeat(n), ")".repeat(n));
    assert!(!read(&nest(150)).is_faulty());
    yields(&nest(201), "too-deep");
    yields(&nest(100_000), "too-deep");
    yields(&format!("{HEAD}potential {}", "(".repeat(1_000_000)), "too-deep");
    yields(&format!("{HEAD}potential x{}", "^x".repeat(100_000)), "too-deep");
    yields(&format!("{HEAD}potential {}x{}", "sin(".repeat(500), ")".repeat(500)), "too-deep");
    yields(&format!("{HEAD}potential {}x{}", "[".repeat(500), "]".repeat(500)), "too-deep");
    yields(&format!("{HEAD}potential {}x", "-".repeat(100_000)), "too-deep");
    yields(&format!("{HEAD}{}", "for i in 1..2 {\n".repeat(1000)), "too-deep");
}

#[test]
fn long_is_not_deep() {
    let sum = vec!["x^2"; 100_000].join(" + ");
    assert!(!read(&format!("{HEAD}potential {sum}")).is_faulty());
    let product = vec!["x"; 50_000].join("*");
    assert!(!read(&format!("{HEAD}potential {product}")).is_faulty());
}

#[test]
fn long_chains_of_definitions_in_any_order() {
    let n = 20_000;
    let forward: String = (1..=n).map(|i| format!("let a{i} = a{} + x\n", i - 1)).collect();
    let backward: String = (1..=n).rev().map(|i| format!("let a{i} = a{} + x\n", i - 1)).collect();
    for chain in [forward, backward] {
        let loaded = read(&format!("{HEAD}{chain}let a0 = 0\npotential a{n}"));
        assert!(!loaded.is_faulty(), "{:?}", loaded.diagnostics.first());
        let model = loaded.model.expect("no faults");
        // 20000 x: like terms were collected all along.
        let dalembert_model::system::Energy::Lagrangian { potential, .. } = model.system.energy
        else {
            panic!()
        };
        assert_eq!(model.exprs.to_source(potential), format!("{n}*x"));
    }
    yields(&format!("{HEAD}let a = b, b = c, c = d, d = a"), "circular-definition");
    let ring: String = (1..=n).map(|i| format!("let a{i} = a{} + 1\n", i % n + 1)).collect();
    yields(&format!("{HEAD}{ring}"), "circular-definition");
}

/// Positions along a chain: each start is a sum of all links before it, and is a step from the one
/// before. Walked anew, these would be 2 · 10⁸ links.
#[test]
fn starts_that_are_sums_along_a_chain() {
    let chain = |n: usize, first: &str| {
        read(&format!(
            "const N = {n}\nparam l = 0.5\ncoord x[1..N]\nlet X[0] = {first}\n\
             for i in 1..N {{\n  kinetic x[i]'^2/2\n  let X[i] = X[i-1] + l*cos(0.7*i)\n  \
             start x[i] = X[i]\n}}"
        ))
    };
    let (n, loaded) = (20_000, chain(20_000, "0"));
    assert!(!loaded.is_faulty(), "{:?}", loaded.diagnostics.first());
    let model = loaded.model.expect("no faults");
    let last = model.system.start.last().expect("starts");
    let value = model.exprs.eval_f64(&[last.right], |_| 0.5)[0];
    let right: f64 = (1..=n).map(|i| 0.5 * (0.7 * i as f64).cos()).sum();
    assert!((value - right).abs() < 1e-9, "{value} {right}");
    // What is no number stays none however far along.
    let wrong = chain(300, "log(l - 1/2)");
    let codes: Vec<&str> = wrong.diagnostics.iter().map(|d| d.code.name()).collect();
    assert!(wrong.is_faulty() && codes.iter().all(|code| *code == "not-a-number"), "{codes:?}");
}

#[test]
fn more_than_ten_million_statements_or_terms() {
    yields(&format!("{HEAD}for i in 1..100000000 {{ potential x }}"), "too-large");
    yields(
        &format!("{HEAD}for i in 1..5000 {{ for j in 1..5000 {{ let a[i, j] = x }} }}"),
        "too-large",
    );
    yields(&format!("{HEAD}potential sum(i in 1..1000000000000, x)"), "too-large");
    yields(&format!("{HEAD}coord y[1..1000000, 1..1000000]"), "too-large");
    yields(&format!("{HEAD}param y[1..1000000, 1..1000000, 1..1000000] = 1"), "too-large");
    yields(
        &format!("{HEAD}potential product(i in 1..100000, j in 1..100000, x + i*j)"),
        "too-large",
    );
}

#[test]
fn functions_that_double_do_not_explode() {
    // 2^60 terms if it were expanded call by call.
    let mut text = format!("{HEAD}let f0(a) = a\n");
    for i in 1..=60 {
        text += &format!("let f{i}(a) = f{0}(a) + f{0}(a + {i})\n", i - 1);
    }
    let begun = Instant::now();
    let _ = read(&format!("{text}potential f60(x)"));
    assert!(begun.elapsed() < Duration::from_secs(60));
    yields(&format!("{HEAD}let f(a) = f(a - 1)\npotential f(x)"), "circular-definition");
    yields(&format!("{HEAD}let f(a) = g(a), g(a) = f(a)\npotential f(x)"), "circular-definition");
}

#[test]
fn a_constant_too_large_for_a_float() {
    for constant in [
        "1e400",
        "1e-400",
        "10^400",
        "1e200*1e200",
        "2^100000",
        "10^10^10",
        "(1e-300)^2",
        "1e99999999999999999999",
    ] {
        yields(&format!("{HEAD}potential {constant}*x"), "constant-too-large");
    }
    assert!(!read(&format!("{HEAD}potential 1.7e308*x + 5e-324*x^2")).is_faulty());
}

#[test]
fn derivatives_do_not_pile_up() {
    yields(&format!("{HEAD}potential x'''"), "higher-derivative");
    yields(&format!("{HEAD}let a = x', b = a', c = b'\nobserve c"), "higher-derivative");
    yields(&format!("{HEAD}observe x{}", "'".repeat(100_000)), "higher-derivative");
    let begun = Instant::now();
    let _ = read(&format!("{HEAD}observe (sin(t)*exp(t^2)){}", "'".repeat(300)));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_model_without_coordinates_or_energy() {
    yields("", "no-coordinates");
    yields("# nothing\n\n", "no-energy");
    yields("coord x", "no-energy");
    yields("kinetic 1", "no-coordinates");
    yields("coord x[1..0]\nkinetic 1", "no-coordinates");
}

#[test]
fn the_limit_is_the_one_given() {
    let text = format!("{HEAD}for i in 1..100 {{ potential x }}");
    assert!(!load("a", &text, Syntax::Plain, &[], Limits { terms: 10_000 }).is_faulty());
    assert!(load("a", &text, Syntax::Plain, &[], Limits { terms: 200 }).is_faulty());
}
