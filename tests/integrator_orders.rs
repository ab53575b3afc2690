//! The order of every integrator and of its dense output, measured at constant steps on
//! systems without constraints, with holonomic and with nonholonomic ones.

// Others use more of it.
#[allow(dead_code)]
#[path = "support/motions.rs"]
mod motions;

use dalembert::simulate::integrators::{self, Needs};
use motions::{BLADE, DRIVEN, KEPLER, MOVING, Plan, REDUNDANT, SPHERICAL, apart};

/// A system, a formulation, the end, and the number of steps to begin with for methods
/// of low and of high order.
struct Problem {
    text: &'static str,
    formulation: &'static str,
    end: f64,
    steps: fn(u32) -> f64,
}

const FREE: Problem = Problem {
    text: DRIVEN,
    formulation: "lagrange",
    end: 2.0,
    steps: |order| match order {
        8 => 6.0,
        6 => 10.0,
        _ => 16.0,
    },
};
const ROD: Problem = Problem {
    text: SPHERICAL,
    formulation: "lagrange",
    end: 1.0,
    steps: |order| match order {
        8 => 12.0,
        6 => 16.0,
        _ => 32.0,
    },
};
const WHEEL: Problem = Problem {
    text: BLADE,
    formulation: "lagrange",
    end: 2.0,
    steps: |order| match order {
        8 => 4.0,
        6 => 6.0,
        _ => 12.0,
    },
};

fn in_formulation(problem: &Problem, formulation: &'static str) -> Problem {
    Problem { formulation, text: problem.text, end: problem.end, steps: problem.steps }
}

/// Errors at the end, or the largest inside the steps, for steps that are halved.
fn errors(problem: &Problem, method: &str, order: u32, dense: bool, halvings: u32) -> Vec<f64> {
    let mut plan = Plan::new(problem.text, problem.formulation, method, problem.end);
    let mut reference = Plan::new(problem.text, problem.formulation, "dop853", problem.end);
    reference.tolerance = 1e-14;
    // What the order goes by, where it goes by the tolerance.
    plan.tolerance = 1e-3;
    let first = (problem.steps)(order);
    if dense {
        // A part of each of the first steps: incommensurable with the steps' ends.
        plan.times = (0..40).map(|i| problem.end * (0.37 + f64::from(i)) / 41.0).collect();
        reference.times.clone_from(&plan.times);
    }
    let exact = reference.states();
    (0..=halvings)
        .map(|halving| {
            plan.step = Some(problem.end / (first * f64::from(1 << halving)));
            let found = plan.states();
            assert_eq!(found.len(), exact.len());
            let list = found.iter().zip(&exact);
            list.fold(0f64, |m, (a, b)| m.max(apart(a, b)))
        })
        .collect()
}

/// The order that errors of halved steps show, over all pairs that are not rounding.
fn shown(errors: &[f64], rounding: f64) -> f64 {
    let count = errors.iter().filter(|error| **error > rounding).count();
    assert!(count > 1, "all rounding: {errors:?}");
    (errors[0] / errors[count - 1]).log2() / (count - 1) as f64
}

fn check(problem: &Problem, method: &str) {
    let integrator = integrators::by_name(method, 1).expect("an integrator");
    // Series are as long as the tolerance asks for.
    let (order, dense_order) = match integrator.needs() {
        Needs::Series => (6, 5),
        _ => (integrator.order(), integrator.dense_order()),
    };
    let at_ends = errors(problem, method, order, false, 3);
    // The stages of a step that is solved for are off by the rounding of what is solved.
    let rounding = if integrator.needs() == Needs::Residual { 2e-13 } else { 5e-14 };
    let measured = shown(&at_ends, rounding);
    let expected = f64::from(order);
    let at_ends = listed(&at_ends);
    eprintln!("{method:18} {:10} {measured:6.2} of {expected} {at_ends}", problem.formulation);
    assert!((measured - expected).abs() < 0.6, "{method}: order {measured}, not {order}");
    // A polynomial of order d is off by h^{d+1} inside a step.
    let expected = f64::from(order.min(dense_order + 1));
    let inside = errors(problem, method, order, true, 3);
    let measured = shown(&inside, rounding);
    let inside = listed(&inside);
    eprintln!("{:18} {:10} {measured:6.2} of {expected} {inside}", "  dense", "");
    assert!(measured > expected - 0.7, "{method}: dense output {measured}, not {expected}");
}

#[test]
fn without_constraints() {
    for method in ["dop853", "taylor", "gauss4", "gauss6", "gauss8", "radau"] {
        check(&FREE, method);
        check(&in_formulation(&FREE, "hamilton"), method);
    }
}

#[test]
fn with_holonomic_constraints() {
    for method in ["dop853", "taylor", "gauss4", "gauss6", "gauss8", "radau"] {
        check(&ROD, method);
    }
    check(&in_formulation(&ROD, "hamilton"), "radau");
    check(&in_formulation(&ROD, "hamilton"), "taylor");
}

#[test]
fn with_constraints_that_say_the_same_or_move() {
    let redundant = Problem { text: REDUNDANT, ..in_formulation(&ROD, "lagrange") };
    check(&redundant, "radau");
    check(&redundant, "gauss6");
    check(&redundant, "taylor");
    let moving = Problem { text: MOVING, ..in_formulation(&ROD, "lagrange") };
    check(&moving, "radau");
    check(&in_formulation(&moving, "maggi"), "radau");
    check(&moving, "gauss4");
    check(&moving, "taylor");
    check(&in_formulation(&moving, "maggi"), "taylor");
}

#[test]
fn with_nonholonomic_constraints() {
    for method in ["dop853", "taylor", "gauss4", "gauss6", "gauss8", "radau"] {
        check(&WHEEL, method);
    }
    for method in ["radau", "taylor"] {
        check(&in_formulation(&WHEEL, "bracket"), method);
    }
    check(&in_formulation(&WHEEL, "maggi"), "gauss6");
}

#[test]
fn rattle_with_and_without_constraints() {
    let kepler =
        Problem { text: KEPLER, end: 2.0, steps: |_| 200.0, ..in_formulation(&ROD, "hamilton") };
    check(&kepler, "rattle");
    for text in [SPHERICAL, REDUNDANT, MOVING] {
        check(&Problem { text, ..in_formulation(&ROD, "hamilton") }, "rattle");
    }
}

#[test]
fn the_discrete_gradient() {
    check(&Problem { steps: |_| 40.0, ..in_formulation(&WHEEL, "bracket") }, "discrete-gradient");
    let kepler =
        Problem { text: KEPLER, end: 2.0, steps: |_| 200.0, ..in_formulation(&ROD, "bracket") };
    check(&kepler, "discrete-gradient");
}

/// Every member of the list is measured above.
#[test]
fn every_integrator_has_an_order_and_a_source() {
    let text = include_str!("integrator_orders.rs");
    for name in integrators::NAMES {
        let integrator = integrators::by_name(name, 3).expect("it");
        assert_eq!(integrator.name(), *name);
        assert!(integrator.order() >= 2 && !integrator.source().is_empty());
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not measured");
        // What does not estimate its error has something else to offer.
        let properties = integrator.properties();
        assert!(integrator.estimates() || properties.symplectic || properties.keeps_energy);
        assert_eq!(integrator.needs() == Needs::Residual, properties.stiff);
    }
}

fn listed(errors: &[f64]) -> String {
    errors.iter().map(|e| format!("{e:.1e} ")).collect()
}

/// `docs/integrators.md` says what the code says.
#[test]
fn the_table_is_true() {
    let page = include_str!("../docs/integrators.md");
    for name in integrators::NAMES {
        let integrator = integrators::by_name(name, 3).expect("it");
        let needs = match integrator.needs() {
            Needs::Rates => "rates",
            Needs::Residual => "residual",
            Needs::Series => "series",
            Needs::Canonical => "canonical",
            Needs::Structure => "structure",
        };
        let (order, dense) = (integrator.order(), integrator.dense_order());
        let row = format!("| {name} | {order} | {dense} | {needs} |");
        assert!(page.contains(&row), "no row {row}");
    }
}

/// Step sizes follow the error on linear systems too, where combinations of estimates may
/// cancel.
#[test]
fn estimates_see_linear_systems() {
    let text = "coord x\nkinetic x'^2/2\npotential 5*x^2 - 3*x\nstart x = 0\nrun t = 0..5";
    let exact = 0.3 * (1.0 - (5.0 * 10f64.sqrt()).cos());
    for name in integrators::NAMES {
        let Some(method) = integrators::by_name(name, 3) else { continue };
        if !method.estimates() {
            continue;
        }
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for tolerance in [1e-5, 1e-8] {
            let mut plan = Plan::new(text, "lagrange", name, 5.0);
            plan.tolerance = tolerance;
            let (states, report) = plan.run().expect("it begins");
            let off = (states[0].q[0] - exact).abs();
            assert!(off < 100.0 * tolerance, "{name} at {tolerance:e}: off by {off:e}");
            steps.push(report.statistics.steps);
            errors.push(off);
        }
        // Longer series serve as well as shorter steps.
        let is_longer = method.needs() == Needs::Series;
        assert!(is_longer || steps[1] > steps[0], "{name}: {steps:?}");
        assert!(errors[1] < 0.1 * errors[0], "{name}: {errors:?}");
    }
}
