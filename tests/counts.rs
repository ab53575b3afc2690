//! What a motion costs, counted: a change of the code that makes one dearer moves a number here.
//!
//! Never seconds. The numbers are those of this machine's arithmetic; a step more or less is no
//! matter, an evaluation more in each is.

// Others use more of it.
#[allow(dead_code)]
#[path = "support/benchmark.rs"]
mod benchmark;

use benchmark::CASES;
use dalembert::compile::Tape;
use dalembert::simulate::Setting;
use dalembert::simulate::run::{RunOptions, run, run_from};
use dalembert::{Input, Options};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Evaluations and decisions a step, in tenths, rounded up.
struct Cost {
    page: &'static str,
    evaluations: u64,
    decisions: u64,
}

const fn cost(page: &'static str, evaluations: u64, decisions: u64) -> Cost {
    Cost { page, evaluations, decisions }
}

/// Smooth motions by `dop853`: twelve stages, one of them at the state itself, and what the
/// projection needs; decisions only where one would not be the last one once more.
const COSTS: &[Cost] = &[
    cost("spherical-pendulum", 133, 1),
    cost("double-pendulum", 121, 1),
    cost("heavy-top", 121, 1),
    cost("rolling-disk", 132, 1),
    cost("knife-edge", 127, 1),
    cost("nonholonomic-particle", 131, 2),
    cost("quaternion-body", 124, 1),
    cost("benchmarks/andrews", 128, 1),
    cost("benchmarks/euler-top", 138, 3),
    cost("benchmarks/paraboloid", 132, 1),
];

#[test]
fn a_step_costs_its_stages_and_hardly_a_decision() {
    let mut wrong = Vec::new();
    for cost in COSTS {
        let input = Input::open(&format!("gallery:{}", cost.page)).expect("a page");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let mut options = RunOptions::of_model(&setting);
        (options.method, options.tolerance) = ("dop853".to_owned(), 1e-9);
        // Outputs cost one evaluation each.
        options.every = Some(options.end);
        let report = run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
        let tries = report.statistics.steps + report.statistics.rejected;
        let tenths = |count: u64| (10 * count).div_ceil(tries);
        let (evaluations, decisions) =
            (tenths(report.evaluations), tenths(report.statistics.decisions));
        let (frozen, decided) = (report.statistics.frozen, report.statistics.decided);
        let share = frozen as f64 / (frozen + decided) as f64;
        println!(
            "{:24} {tries:4} steps  {evaluations} {decisions}  frozen {:.1} %",
            cost.page,
            100.0 * share
        );
        if evaluations > cost.evaluations || decisions > cost.decisions || share < 0.95 {
            wrong.push((cost.page, evaluations, decisions));
        }
    }
    assert!(wrong.is_empty(), "evaluations and decisions a step, in tenths: {wrong:?}");
}

/// Steps by `taylor` at 1e-9, and evaluations a step in tenths, rounded up: at the projected end,
/// which is the next beginning, every fourth time before the projection, and where the rows of
/// velocities are not those of positions, between the projections of both. In the top with
/// quaternions, a position in which the rank might drop is looked for.
const SERIES: &[(&str, u64, u64)] = &[
    ("spherical-pendulum", 50, 24),
    ("double-pendulum", 200, 11),
    ("heavy-top", 95, 11),
    ("rolling-disk", 181, 23),
    ("knife-edge", 12, 26),
    ("nonholonomic-particle", 19, 24),
    ("quaternion-body", 18, 18),
    ("benchmarks/andrews", 64, 20),
    ("benchmarks/euler-top", 48, 35),
    ("benchmarks/paraboloid", 155, 24),
];

#[test]
fn a_step_of_series_costs_hardly_an_evaluation() {
    let mut wrong = Vec::new();
    for &(page, most_steps, most_evaluations) in SERIES {
        let input = Input::open(&format!("gallery:{page}")).expect("a page");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let mut options = RunOptions::of_model(&setting);
        (options.method, options.tolerance) = ("taylor".to_owned(), 1e-9);
        options.every = Some(options.end);
        let report = run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
        let steps = report.statistics.steps + report.statistics.rejected;
        let evaluations = (10 * report.evaluations).div_ceil(steps);
        println!("(\"{page}\", {steps}, {evaluations}),");
        if steps > most_steps + most_steps / 50 || evaluations > most_evaluations {
            wrong.push((page, steps, evaluations));
        }
    }
    assert!(wrong.is_empty(), "steps, and evaluations a step in tenths: {wrong:?}");
}

/// Instructions of the tape of each page's equations of motion: everything of the normal form, in
/// Lagrange's variables, with what is constant computed ahead.
const TAPES: &[(&str, usize)] = &[
    ("spherical-pendulum", 19),
    ("double-pendulum", 63),
    ("heavy-top", 105),
    ("rolling-disk", 294),
    ("knife-edge", 21),
    ("nonholonomic-particle", 9),
    ("quaternion-body", 151),
    ("whipple-bicycle", 2820),
    ("bricard", 3027),
    ("benchmarks/andrews", 482),
];

#[test]
fn tapes_are_no_longer_than_they_were() {
    let mut found = Vec::new();
    for (page, _) in TAPES {
        let input = Input::open(&format!("gallery:{page}")).expect("a page");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let equations = dalembert::derive(&model, Some("lagrange")).expect("applies");
        let parameters: Vec<_> = model.system.parameters.iter().map(|p| p.symbol).collect();
        let mut variables = vec![dalembert::expr::Symbol::TIME];
        variables.extend(equations.q.iter().chain(&equations.v));
        variables.extend(equations.auxiliary.iter().flat_map(|a| &a.symbols));
        let tape = Tape::lower(&model.exprs, &equations.roots(), &parameters, &variables);
        found.push((*page, tape.instructions.len() - tape.prologue));
    }
    assert_eq!(found, TAPES, "instructions of a call");
}

/// What `auto` begins with on the benchmarks at 1e-6, 1e-9 and 1e-12, and why: how much dearer a step by
/// series is counted to be, and how much longer. `examples/methods.rs` holds the choice against what
/// each method takes.
#[test]
fn what_auto_begins_with() {
    let mut table = String::new();
    for case in CASES {
        let model = case.model();
        let setting = Setting::new(&model).expect("values");
        let start = benchmark::start_of(&setting);
        let _ = write!(table, "{:38}", case.name);
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let mut options = benchmark::options(&setting, start.state.t + 1.0, tolerance);
            options.most_steps = 1;
            let go = &mut |_: &_| ControlFlow::Continue(());
            let report = run_from(&setting, &options, start.clone(), go).expect("it begins");
            let reason = &report.choice.reason;
            let words = reason.split(' ').filter(|word| word.contains('.'));
            let numbers = words.filter_map(|word| word.parse::<f64>().ok());
            let numbers: Vec<String> = numbers.map(|x| format!("{x:4.1}")).collect();
            let _ = write!(table, "  {:6} {:9}", report.choice.name, numbers.join(" "));
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}
