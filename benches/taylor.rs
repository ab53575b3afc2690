//! What a Taylor step costs, and runs to their end states by `taylor` and by `dop853`, without an
//! error estimate: steps, error against the reference, median time.
//!
//! `cargo bench --bench taylor`; with a word, the cases whose name contains it.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/support/benchmark.rs"]
mod benchmark;

use benchmark::{CASES, Case, Expected, options, outputs, start_of};
use dalembert::compile::series::Fours;
use dalembert::simulate::integrators::{Needs, Problem};
use dalembert::simulate::run::{Program, RunReport};
use dalembert::simulate::{DEFAULT, Field, Setting};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

const NAMES: &[&str] = &[
    "spherical_pendulum_t10",
    "greenwood_ex2.3_dumbbell_t5",
    "knife_edge_incline_t10",
    "udwadia_phohomsiri2006_ex3_t10",
    "greenwood_ex2.5_hoop_t10",
    "andrews_t0.03",
    "euler_top_quaternion_t20",
    "rolling_disk_t5",
    "car_axis_t3",
    "kepler_e0.6_t100",
    "chain_open_N10_t1",
];

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// One expansion at the start of a case, in microseconds.
fn expansion(case: &Case, order: usize) -> f64 {
    let model = case.model();
    let setting = Setting::new(&model).expect("values");
    let equations = dalembert::derive(&model, None).expect("applies");
    let start = start_of(&setting).state;
    let mut field = Field::new(&setting, &equations, DEFAULT);
    assert!(field.equip(Needs::Series), "{} has series", case.name);
    let mut x = start.q.clone();
    x.extend(&start.velocity);
    x.push(0.0);
    field.choose_rows(start.t, &x, 1e-9).expect("a motion");
    let mut coefficients = Fours::default();
    let times = (0..15).map(|turn| {
        let clock = Instant::now();
        for i in 0..200 {
            // What was expanded last is not again.
            let t = start.t + 1e-12 * f64::from(i + 200 * turn);
            let expansion = field.expansion().expect("series");
            expansion.expand(t, black_box(&x), order, &mut coefficients).expect("an expansion");
        }
        clock.elapsed().as_secs_f64() / 200.0 * 1e6
    });
    median(times.collect())
}

/// Milliseconds, steps and error of a case at a tolerance.
fn run(case: &Case, method: &str, tolerance: f64) -> Result<(f64, RunReport, f64), String> {
    let model = case.model();
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let expected = Expected::of(case);
    let mut options = options(&setting, expected.end, tolerance);
    options.method = method.to_owned();
    let start = start_of(&setting);
    let program = Program::new(&setting, &options).map_err(|e| format!("{e:?}"))?;
    let mut times = Vec::new();
    loop {
        let report = program
            .run_from(&setting, &options, start.clone(), &mut |_| ControlFlow::Continue(()))
            .map_err(|e| format!("{e:?}"))?;
        times.push(report.seconds.integrate * 1e3);
        if times.len() >= 25 || times.iter().sum::<f64>() > 500.0 {
            let last = report.last.as_ref().ok_or("no end")?;
            let error = expected.error(&outputs(&setting, &expected, last));
            return Ok((median(times), report, error));
        }
    }
}

fn main() {
    let word = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let cases = NAMES.iter().filter(|name| name.contains(&word));
    let cases = cases.filter_map(|name| CASES.iter().find(|case| case.name == *name));
    for case in cases {
        println!("{}", case.name);
        for order in [12, 19, 26] {
            println!("  order {order}: {:.2} µs", expansion(case, order));
        }
        for tolerance in [1e-6, 1e-9, 1e-12, 1e-14] {
            for method in ["taylor", "dop853"] {
                match run(case, method, tolerance) {
                    Ok((time, report, error)) => {
                        let steps = report.statistics.steps;
                        println!(
                            "  {tolerance:5.0e} {method:7} {steps:6} steps  {error:8.1e}  {time:9.4} ms  {:6.2} µs a step",
                            1e3 * time / steps as f64
                        );
                    }
                    Err(why) => println!("  {tolerance:5.0e} {method:7} {why}"),
                }
            }
        }
    }
}
