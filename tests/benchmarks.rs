//! The motions of `tests/data/cases.json` at a moderate tolerance, in every formulation,
//! and the accelerations of the bicycle. `examples/benchmarks.rs` runs the same cases at
//! a tight tolerance; its table is `docs/benchmarks.md`.

// The example uses more of it.
#[allow(dead_code)]
#[path = "support/benchmark.rs"]
mod benchmark;

use benchmark::{
    BY_OTHERS, CASES, CORNERS, Case, ELSEWHERE, Expected, SINGULAR, file, options, outputs,
    outputs_by, start_of, travel,
};
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
        let mut cases = CASES.iter().chain(SINGULAR.iter().chain(CORNERS).map(|c| &c.0));
        let here = usize::from(cases.any(|c| c.name == name));
        let elsewhere = ELSEWHERE.iter().filter(|(start, _)| name.starts_with(start)).count();
        assert_eq!(here + elsewhere, 1, "{name}");
    }
    for case in CASES {
        // Accelerations of the rod's fast modes are what is left of forces a thousand
        // times as large, in positions of a hundred-thousandth.
        let most = if case.page == "slider-crank" { 1e-5 } else { 1e-9 };
        assert!(sensitivity(case.name) < most, "{}", case.name);
    }
}

/// All the cases by Lagrange's equations.
#[test]
fn every_motion_at_a_moderate_tolerance() {
    let mut worst = 0f64;
    for case in CASES.iter().filter(|c| is_cheap(c)) {
        let off = reach(case, &case.model(), "lagrange", TOLERANCE)
            .unwrap_or_else(|why| panic!("{}: {why}", case.name));
        // `auto` mostly takes series here, which are four times as exact as other methods have to be.
        let bound = 0.25 * bound(case);
        assert!(off <= bound, "{}: off by {off:e}, {bound:e} is allowed", case.name);
        worst = worst.max(off / bound);
    }
    println!("the worst is at {worst:.2} of its bound");
    assert!(worst > 0.01, "the bounds are too wide to show anything: {worst}");
}

/// Other integrators come to the same ends, at a moderate tolerance: the bound is that of
/// all cases.
#[test]
fn other_integrators_reach_the_same_end() {
    for (name, method, _) in BY_OTHERS.iter().filter(|b| !b.0.starts_with("slider_crank")) {
        let case = CASES.iter().find(|c| c.name == *name).expect("a case");
        let (found, report) = outputs_by(case, method, None, TOLERANCE)
            .unwrap_or_else(|why| panic!("{name} by {method}: {why}"));
        assert_eq!(report.method, *method);
        let (off, bound) = (Expected::of(case).error(&found), bound(case));
        println!("{name} by {method}: {off:.1e} of {bound:.1e}, {:?}", report.statistics);
        assert!(off <= bound, "{name} by {method}: off by {off:e}, {bound:e} is allowed");
    }
}

/// The slider crank, of which the bound above says little: what its positions, velocities
/// and multipliers may be off by, each relative to itself.
#[test]
fn the_flexible_slider_crank() {
    for (name, method) in [
        ("slider_crank_flexible_consistent", "auto"),
        ("slider_crank_flexible_consistent", "radau"),
        ("slider_crank_flexible_published", "auto"),
    ] {
        let case = CASES.iter().find(|c| c.name == name).expect("a case");
        let (found, report) = outputs_by(case, method, None, 1e-11)
            .unwrap_or_else(|why| panic!("{name} by {method}: {why}"));
        println!("{name} by {method}: {:?}", report.statistics);
        let expected = Expected::of(case);
        for ((output, value), found) in expected.outputs.iter().zip(&found) {
            let allowed = match output.as_str() {
                "phi1" | "phi2" | "x3" | "v_phi1" => 1e-11,
                "v_phi2" | "v_x3" => 1e-9,
                "q1" | "q2" | "q3" | "q4" | "lam1" | "lam2" | "lam3" => 1e-7,
                "a_phi1" | "a_phi2" | "a_x3" => 1e-6,
                _ if output.starts_with("v_") => 1e-5,
                _ => 1e-3,
            };
            let off = (found - value).abs() / if *value == 0.0 { 1.0 } else { value.abs() };
            assert!(off <= allowed, "{name} by {method}: {output} is off by {off:e}");
        }
    }
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

/// The wheelset: forces that depend on multipliers and bend where creep saturates. The
/// reference was computed across the corners and states eight digits and an absolute
/// floor of 1e-11; here every corner ends a step.
#[test]
fn the_wheelset() {
    let (case, digits) = &CORNERS[0];
    let model = case.model();
    let setting = Setting::new(&model).expect("values");
    let expected = Expected::of(case);
    let options = options(&setting, expected.end, 1e-12);
    let report = travel(&setting, &options, start_of(&setting)).expect("it gets there");
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    assert!(report.statistics.switches > 20);
    let found = outputs(&setting, &expected, report.last.as_ref().expect("a last state"));
    for ((name, value), found) in expected.outputs.iter().zip(&found) {
        let off = (found - value).abs();
        let allowed = digits * value.abs() + 1e-11;
        println!("{name:8} off by {off:.1e}, {:.1e} of it", off / value.abs());
        assert!(off <= allowed, "{name}: {found} is off {value} by {off:e}");
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

/// Through singular positions and with rows that are always redundant, as asked for: 1e-8
/// at the reference points, energy to 1e-9, constraints to 1e-12.
#[test]
fn redundant_rows_and_singular_positions() {
    for (case, tolerance) in SINGULAR.iter().filter(|c| !c.0.name.contains("N40")) {
        let expected = Expected::of(case);
        let (found, report) = outputs_by(case, "auto", None, *tolerance).expect("it ends");
        for ((name, value), found) in expected.outputs.iter().zip(&found) {
            assert!((found - value).abs() < 1e-8, "{}: {name} {found} {value}", case.name);
        }
        let certificate = &report.certificate;
        assert!(certificate.invariants[0].1 < 1e-9, "{}: {certificate:?}", case.name);
        let residual = certificate.position_residual.max(certificate.velocity_residual);
        assert!(residual < 1e-12, "{}: {residual:e}", case.name);
        assert_eq!(report.verdict(), Ok(()), "{}", case.name);
    }
}
