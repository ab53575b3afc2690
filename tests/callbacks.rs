//! Inputs that are functions of a program: the same motion as by a formula, by every method that can
//! have them; what needs more of them than values is refused where it is asked for.

use dalembert::prelude::*;
use dalembert::{Closure, Model};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CART: &str = "param m = 2, k = 3
input F = exp(-t)*cos(2*t)
coord x, th
kinetic m*x'^2/2 + (x'^2 + 2*x'*th'*cos(th) + th'^2)/2
potential k*x^2/2 - 9.81*cos(th)
force x: F - 0.1*x'
start x = 0.1, th = 0.4
output place = x + sin(th)";

fn drive(t: f64) -> f64 {
    (-t).exp() * (2.0 * t).cos()
}

fn model(text: &str) -> Model {
    dalembert::parse(text).expect("a model")
}

/// The end of a run: its coordinates, velocities and the output.
fn end(model: &Model, method: &str, formulation: &str) -> Vec<f64> {
    let run = model.simulate(0.0..3.0).tolerance(1e-10).method(method).formulation(formulation);
    let run = run.verify(false).run().unwrap_or_else(|error| panic!("{method}: {error}"));
    run.certificate().check().expect("a certificate that holds");
    let last = run.last().expect("an end");
    ["x", "th", "x'", "th'", "place"].map(|name| last[name]).to_vec()
}

#[test]
fn a_function_is_what_its_formula_is() {
    let by_formula = model(CART);
    let by_function = dalembert::with_callback(&by_formula, "F", drive).expect("an input");
    let expected = end(&by_formula, "auto", "lagrange");
    let ways = [
        ("auto", "lagrange"),
        ("dop853", "hamilton"),
        ("radau", "lagrange"),
        ("auto", "maggi"),
        ("auto", "bracket"),
    ];
    for (method, formulation) in ways {
        let found = end(&by_function, method, formulation);
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-7, "{method}, {formulation}: {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn series_are_refused_and_not_chosen() {
    let open = model(CART);
    let driven = dalembert::with_callback(&open, "F", drive).expect("an input");
    let asked = driven.simulate(0.0..1.0).method("taylor").run().map(|_| ());
    let words = asked.expect_err("no series").to_string();
    assert!(words.contains("that a program gives"), "{words}");
    let run = driven.simulate(0.0..1.0).run().expect("a motion");
    assert_ne!(run.report().method, "taylor");
    assert!(run.report().error.estimate().is_some_and(|e| e.holds()));
    // With its derivatives it has no series either.
    let lists: Vec<Closure> = vec![Box::new(drive), Box::new(|_| 0.0)];
    let driven = dalembert::with_derivatives(&open, "F", lists).expect("an input");
    assert!(driven.simulate(0.0..1.0).method("taylor").run().is_err());
}

#[test]
fn constraints_take_functions_with_derivatives() {
    let track =
        model("input u = sin(t)\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint lift: y = u");
    let refused = dalembert::with_callback(&track, "u", f64::sin).map(|_| ());
    let error = refused.expect_err("two derivatives are needed");
    assert_eq!(error.diagnostics()[0].code.name(), "input-derivative");
    assert!(error.to_string().contains("comes without derivatives"), "{error}");
    let once: Vec<Closure> = vec![Box::new(f64::sin), Box::new(f64::cos)];
    let error = dalembert::with_derivatives(&track, "u", once).map(|_| ()).expect_err("one more");
    assert!(error.to_string().contains("differentiated once only"), "{error}");
    let twice: Vec<Closure> =
        vec![Box::new(f64::sin), Box::new(f64::cos), Box::new(|t: f64| -t.sin())];
    let driven = dalembert::with_derivatives(&track, "u", twice).expect("smooth enough");
    let run = driven.simulate(0.0..3.0).run().expect("a motion");
    run.certificate().check().expect("a certificate that holds");
    let last = run.last().expect("an end");
    assert!((last["y"] - 3.0f64.sin()).abs() < 1e-10);
    assert!((last["multiplier(lift)"] + 3.0f64.sin()).abs() < 1e-9);
    // The other way round: velocities need one derivative, forces none.
    let slide = model("input u = 0\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint x' = u");
    assert!(dalembert::with_callback(&slide, "u", f64::cos).is_err());
    let once: Vec<Closure> = vec![Box::new(f64::cos), Box::new(|t: f64| -t.sin())];
    let driven = dalembert::with_derivatives(&slide, "u", once).expect("smooth enough");
    let run = driven.simulate(0.0..3.0).run().expect("a motion");
    assert!((run.last().expect("an end")["x"] - 3.0f64.sin()).abs() < 1e-8);
}

#[test]
fn what_has_no_value_is_said() {
    let open = model("input F = 0\ncoord x\nkinetic x'^2/2\nforce x: F");
    let unknown = dalembert::with_callback(&open, "G", f64::sin).map(|_| ()).expect_err("no G");
    assert!(unknown.to_string().contains("no input is called `G`; there are F"), "{unknown}");
    let ends = dalembert::with_callback(&open, "F", |t| if t > 1.0 { f64::NAN } else { 1.0 });
    let run = ends.expect("an input").simulate(0.0..2.0).run();
    assert!(run.is_err(), "there is no motion beyond t = 1");
    let panics = dalembert::with_callback(&open, "F", |_| panic!("it is to")).expect("an input");
    assert!(panics.simulate(0.0..1.0).run().is_err());
}

/// A function is kept by what speaks of it, and dropped with it.
#[test]
fn functions_go_with_their_models() {
    let open = model("input F = 0\ncoord x\nkinetic x'^2/2\nforce x: F");
    let calls = Arc::new(AtomicU64::new(0));
    let own = Arc::clone(&calls);
    let driven = dalembert::with_callback(&open, "F", move |t| {
        own.fetch_add(1, Ordering::Relaxed);
        t
    })
    .expect("an input");
    assert_eq!(driven.to_owned().system.inputs.len(), 1);
    let mut work = driven.compile().expect("it compiles").work();
    let run = driven.simulate(0.0..1.0).run().expect("a motion");
    drop(driven);
    // What is compiled, and what was run, have it still.
    assert_eq!(work.accelerations(2.0, &[0.0], &[0.0]).expect("a motion"), [2.0]);
    assert!((run.at(0.5).expect("a moment")["x'"] - 0.125).abs() < 1e-9);
    assert!((run.column("x''").expect("accelerations")[500] - 0.5).abs() < 1e-9);
    assert!(calls.load(Ordering::Relaxed) > 10);
    drop((work, run));
    assert_eq!(Arc::strong_count(&calls), 1, "the model that it was put into has it not");
    drop(open);
}
