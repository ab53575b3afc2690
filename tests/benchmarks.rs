//! The motions of `tests/data/cases.json` at a moderate tolerance, in every formulation,
//! and the accelerations of the bicycle. `examples/benchmarks.rs` runs the same cases at
//! a tight tolerance; its table is `docs/benchmarks.md`.

// The example uses more of it.
#[allow(dead_code)]
#[path = "support/benchmark.rs"]
mod benchmark;

use benchmark::{CASES, Case, ELSEWHERE, Expected, file, options, outputs, start_of, travel};
use dalembert::formulations::{ALL, by_name};
use dalembert::simulate::drive::End;
use dalembert::simulate::run::{self, RunError};
use dalembert::simulate::{EVERY, Options, Refusal, Setting, report};
use dalembert::{Input, Model};
use std::ops::ControlFlow;

/// Local error of most runs.
const TOLERANCE: f64 = 1e-9;
/// An error of the size of the tolerance grows as one of an ulp does; this many times
/// that is allowed.
const FACTOR: f64 = 2.0;

/// The change by one ulp that the table states for a case.
fn sensitivity(name: &str) -> f64 {
    let table = include_str!("../docs/benchmarks.md");
    let row = table.lines().find(|line| line.starts_with(&format!("| {name} |")));
    let row = row.unwrap_or_else(|| panic!("docs/benchmarks.md has no {name}: run the example"));
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[7], "yes", "{name} was out of its bound");
    cells[5].parse().expect("a number")
}

/// What a case may be off by.
fn bound(case: &Case) -> f64 {
    FACTOR * TOLERANCE * (sensitivity(case.name) / f64::EPSILON).max(1.0)
}

/// Long chains take their time.
fn is_cheap(case: &Case) -> bool {
    !["chain_open_N20_t1", "chain_open_N50_t1"].contains(&case.name)
}

/// The outputs of a case by a formulation, or why there are none.
fn reach(case: &Case, model: &Model, formulation: &str, tolerance: f64) -> Result<f64, String> {
    let setting = Setting::new(model).expect("values");
    let expected = Expected::of(case);
    let mut options = options(&setting, expected.end, tolerance);
    options.formulation = by_name(formulation).expect("a formulation");
    let start = start_of(&setting);
    let report = run::run_from(&setting, &options, start, &mut |_| ControlFlow::Continue(()));
    let report = match report {
        Ok(report) => report,
        Err(RunError::Formulation(why)) => {
            return Err(why.first().map_or(String::new(), |d| d.message.clone()));
        }
        Err(RunError::Refused(why @ Refusal::SingularMass { .. })) => return Err(why.to_string()),
        Err(other) => panic!("{} by {formulation}: {other:?}", case.name),
    };
    assert_eq!(report.end, End::Finished, "{} by {formulation}", case.name);
    let last = report.last.as_ref().expect("a last state");
    Ok(expected.error(&outputs(&setting, &expected, last)))
}

#[test]
fn every_case_is_met_or_named() {
    for case in file() {
        let name = case["name"].as_str().expect("a name");
        let here = CASES.iter().filter(|c| c.name == name).count();
        let elsewhere = ELSEWHERE.iter().filter(|(start, _)| name.starts_with(start)).count();
        assert_eq!(here + elsewhere, 1, "{name}");
    }
    for case in CASES {
        assert!(sensitivity(case.name) < 1e-9, "{}", case.name);
    }
}

/// All the cases by Lagrange's equations.
#[test]
fn every_motion_at_a_moderate_tolerance() {
    let mut worst = 0f64;
    for case in CASES.iter().filter(|c| is_cheap(c)) {
        let off = reach(case, &case.model(), "lagrange", TOLERANCE)
            .unwrap_or_else(|why| panic!("{}: {why}", case.name));
        let bound = bound(case);
        assert!(off <= bound, "{}: off by {off:e}, {bound:e} is allowed", case.name);
        worst = worst.max(off / bound);
    }
    println!("the worst is at {worst:.2} of its bound");
    assert!(worst > 0.01, "the bounds are too wide to show anything: {worst}");
}

/// The long chains, less tightly.
#[test]
fn long_chains() {
    for name in ["chain_open_N20_t1", "chain_open_N50_t1"] {
        let case = CASES.iter().find(|c| c.name == name).expect("a case");
        let off = reach(case, &case.model(), "lagrange", 1e-6).expect("it applies");
        println!("{name}: {off:.1e}");
        assert!(off < 5e-5, "{name}: off by {off:e}");
    }
}

/// The same motion from every formulation: the shortest case of each page.
#[test]
fn every_formulation_reaches_the_same_end() {
    let mut pages: Vec<&Case> = Vec::new();
    for case in CASES.iter().filter(|c| is_cheap(c)) {
        if !pages.iter().any(|p| p.page == case.page) {
            pages.push(case);
        }
    }
    let mut reached = 0;
    for case in pages {
        let model = case.model();
        let mut own = 0;
        for formulation in ALL.iter().map(|f| f.name()).filter(|f| *f != "lagrange") {
            match reach(case, &model, formulation, TOLERANCE) {
                Ok(off) => {
                    let bound = bound(case);
                    let place = format!("{} by {formulation}", case.name);
                    assert!(off <= bound, "{place}: off by {off:e}, {bound:e} is allowed");
                    own += 1;
                }
                Err(why) => {
                    assert!(!why.is_empty(), "{} by {formulation}: no reason", case.name);
                }
            }
        }
        assert!(own >= 2, "{}: only {own} formulations", case.name);
        reached += own;
    }
    println!("{reached} motions");
    assert!(reached >= 90, "only {reached}");
}

/// A tolerance at the size of rounding, and a start that is 0 but for rounding: neither
/// makes the steps shrink until nothing moves.
#[test]
fn rounding_does_not_stop_a_run() {
    let case = CASES.iter().find(|c| c.name == "andrews_t0.05_A03").expect("a case");
    let off = reach(case, &case.model(), "lagrange", 1e-14).expect("it applies");
    assert!(off < 50.0 * sensitivity(case.name), "off by {off:e}");

    let case = CASES.iter().find(|c| c.name == "chain_open_N5_t1").expect("a case");
    let model = case.model();
    let setting = Setting::new(&model).expect("values");
    let expected = Expected::of(case);
    let guess = &benchmark::neighbours(&setting, &start_of(&setting).state)[0];
    let start = benchmark::start_near(&setting, 0.0, guess);
    assert!(start.state.q[0] > 0.0 && start.state.q[0] < 1e-15);
    let options = options(&setting, expected.end, 1e-13);
    let report = travel(&setting, &options, start).unwrap_or_else(|why| panic!("{why}"));
    let found = outputs(&setting, &expected, report.last.as_ref().expect("a last state"));
    assert!(expected.error(&found) < 1e-10, "{found:?}");
}

/// The accelerations of the bicycle by every formulation and elimination, at the state
/// of Basu-Mandal and others made consistent: what the case keeps is given, the rest
/// follows from contact and rolling.
#[test]
fn accelerations_of_the_bicycle() {
    let file = file();
    let name = "whipple_nonlinear_accel_basu_mandal";
    let case = file.iter().find(|c| c["name"] == name).expect("a case");
    let number = |value: &serde_json::Value| -> f64 {
        value.as_f64().or_else(|| value.as_str()?.parse().ok()).expect("a number")
    };
    let given = |name: &str| number(&case["ics"][name]);
    let mut input = Input::open("gallery:whipple-bicycle").expect("in the gallery");
    let old = "start z = -rR, roll = 0, x' = 4.6";
    assert!(input.text.contains(old));
    // x = −X, z = −Z, yaw = −θ, roll = π/2 − ψ, pitch = π − φ, steer = −ψ_f, wheels −β.
    let new = format!(
        "start x = 0, y = 0, yaw = 0, thR = 0, thF = 0\n\
         start roll = pi/2 - {}, steer = {}, z ~ {}, pitch ~ pi - {}\n\
         start hub[3] + rR*down(RB*[0, 1, 0])[3] = 0, hubF[3] + rF*down(RH*[0, 1, 0])[3] = 0\n\
         start roll' = {}, steer' = {}, thR' = {}",
        given("psi"),
        -given("psif"),
        -given("Z"),
        given("phi"),
        -given("psid"),
        -given("psifd"),
        -given("betard")
    );
    input.text = input.text.replace(old, &new);
    let loaded = dalembert::load(&input, &dalembert::Options::default());
    let model = loaded.model.expect("no faults");
    let setting = Setting::new(&model).expect("values");
    let state = start_of(&setting).state;
    // The printed state, to its 13 digits.
    for (at, name, sign) in [(2, "Z", -1.0), (7, "betar", -1.0)] {
        assert!((state.q[at] - sign * given(name)).abs() < 1e-12, "{name}: {}", state.q[at]);
    }
    for (at, name, sign) in [(0, "Xd", -1.0), (1, "Yd", 1.0), (8, "betafd", -1.0)] {
        let found = state.velocity[at];
        assert!((found - sign * given(name)).abs() < 1e-11, "{name}: {found}");
    }
    let mut options = Options::of_model(&model);
    options.formulations = ALL.to_vec();
    options.eliminations = EVERY.to_vec();
    let report = report::at(&setting, &state, &options).expect("a report");
    let expected: Vec<f64> = [
        ("Xdd", -1.0),
        ("Ydd", 1.0),
        ("Zdd", -1.0),
        ("thetadd", -1.0),
        ("psidd", -1.0),
        ("phidd", -1.0),
        ("psifdd", -1.0),
        ("betardd", -1.0),
        ("betafdd", -1.0),
    ]
    .iter()
    .map(|(name, sign)| sign * number(&case["outputs"][*name]))
    .collect();
    let mut routes = 0;
    for answer in &report.answers {
        let Ok(evaluation) = &answer.result else { continue };
        let off = benchmark::difference(&evaluation.accelerations, &expected);
        // The formulas as the papers print them square the condition number.
        let bound = if answer.elimination.ends_with("literal") { 1e-9 } else { 1e-12 };
        assert!(off < bound, "{} by {}: {off:e}", answer.formulation, answer.elimination);
        routes += 1;
    }
    assert!(routes >= 20, "only {routes} routes");
}

/// A spherical pendulum in Cartesian coordinates for 10⁴ seconds: its constraint holds to
/// rounding after every step.
#[test]
fn a_pendulum_stays_on_its_sphere() {
    let case = CASES.iter().find(|c| c.page == "spherical-pendulum").expect("a case");
    let model = case.model();
    let setting = Setting::new(&model).expect("values");
    let start = start_of(&setting);
    let report = travel(&setting, &options(&setting, 1e4, 1e-6), start).expect("it goes on");
    let certificate = &report.certificate;
    assert!(certificate.position_residual <= 4.0 * f64::EPSILON, "{certificate:?}");
    assert!(certificate.velocity_residual <= 4.0 * f64::EPSILON, "{certificate:?}");
}
