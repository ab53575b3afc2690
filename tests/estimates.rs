//! The error estimate of runs beside what is known: not below the errors of motions with exact
//! values, and what it costs, counted.

// Others use more of it.
#[allow(dead_code)]
#[path = "support/benchmark.rs"]
mod benchmark;

use benchmark::{CASES, Case, Expected, options, outputs, start_of};
use dalembert::simulate::drive::End;
use dalembert::simulate::run::RunReport;
use dalembert::simulate::run::verify::{ErrorEstimate, Sink, StateError, run_verified_from};
use dalembert::simulate::{Observation, Setting};
use std::ops::ControlFlow;

/// Looks at no row.
struct Quiet;

impl Sink for Quiet {
    fn record(&mut self, _: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Cases that take long, and those whose published values have few digits.
fn is_fit(case: &Case) -> bool {
    let long = ["t1000", "t2000", "slider", "N20", "N50"];
    !long.iter().any(|part| case.name.contains(part))
}

fn verified(case: &Case, setting: &Setting, tolerance: f64) -> RunReport {
    let options = options(setting, Expected::of(case).end, tolerance);
    let report = run_verified_from(setting, &options, start_of(setting), false, &mut Quiet);
    let report = report.unwrap_or_else(|error| panic!("{}: {error:?}", case.name));
    assert_eq!(report.end, End::Finished, "{}", case.name);
    report
}

fn estimate(report: &RunReport) -> &ErrorEstimate {
    report.error.estimate().unwrap_or_else(|| panic!("{:?}", report.error))
}

/// What an output is said to be off by, if it is a coordinate or a velocity.
fn said(setting: &Setting, name: &str, error: &StateError) -> Option<f64> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let is_named = |s: dalembert::expr::Symbol| exprs.symbol_info(s).full_name() == name;
    let Some(observe) = system.observes.iter().find(|o| o.name == name) else {
        return system.positions().iter().position(|&s| is_named(s)).map(|at| error.q[at]);
    };
    let place = |symbols: &[dalembert::expr::Symbol]| {
        symbols.iter().position(|&s| exprs.of_symbol(s) == observe.value)
    };
    let by_velocity = place(&system.velocities()).map(|at| error.velocity[at]);
    by_velocity.or_else(|| place(&system.positions()).map(|at| error.q[at]))
}

/// All motions with exact values at three tolerances, positions and velocities: none is further off
/// than it is said to be.
#[test]
fn no_motion_is_further_off_than_it_says() {
    let (mut beyond, mut ratios) = (Vec::new(), Vec::new());
    for case in CASES.iter().filter(|case| is_fit(case)) {
        let model = case.model();
        let setting = Setting::new(&model).expect("values");
        let expected = Expected::of(case);
        for tolerance in [1e-5, 1e-7, 1e-9] {
            let report = verified(case, &setting, tolerance);
            let estimate = estimate(&report);
            let last = report.last.as_ref().expect("an end");
            let found = outputs(&setting, &expected, last);
            for ((name, exact), found) in expected.outputs.iter().zip(found) {
                let Some(said) = said(&setting, name, &estimate.end) else { continue };
                let off = (found - exact).abs();
                // The digits that the value is known to.
                let known = expected.trusted * exact.abs();
                if off > said + known {
                    beyond.push(format!(
                        "{} {name} at {tolerance:e}: off by {off:e}, not {said:e}",
                        case.name
                    ));
                }
                if off > 10.0 * known && off > 1e-13 {
                    ratios.push(said / off);
                }
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (count, median) = (ratios.len(), ratios[ratios.len() / 2]);
    println!(
        "{count} numbers, said over true: {median:.1} at the median, {:.2} at least",
        ratios[0]
    );
    assert!(beyond.is_empty(), "{beyond:#?}");
    assert!(count > 200 && (1.0..50.0).contains(&median), "{count} {median}");
}

/// Where series show all there is, a second run of a tenth of the tolerance costs less than the
/// first: longer series, in fewer steps, nothing of which is shown.
#[test]
fn a_second_run_takes_fewer_steps_than_the_first() {
    let (mut wrong, mut by_series) = (Vec::new(), 0);
    for case in CASES.iter().filter(|case| is_fit(case)) {
        let model = case.model();
        let setting = Setting::new(&model).expect("values");
        for tolerance in [1e-6, 1e-9] {
            let report = verified(case, &setting, tolerance);
            let estimate = estimate(&report);
            if report.method != "taylor" || estimate.order.is_none() || estimate.tightened > 0 {
                continue;
            }
            by_series += 1;
            let (steps, evaluations) = (report.statistics.steps, report.evaluations);
            println!(
                "{:40} {tolerance:e}: {steps} steps, {evaluations} evaluations; then {} and {}",
                case.name, estimate.steps, estimate.evaluations
            );
            if estimate.steps > steps || estimate.evaluations > evaluations {
                wrong.push((case.name, tolerance));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(by_series > 40, "{by_series}");
}
