//! Taylor series of constrained motions: the same ends as by other methods, errors that go with
//! the tolerance, and what is done where a motion has no series.

// Others use more of them.
#[allow(dead_code)]
#[path = "support/benchmark.rs"]
mod benchmark;
#[allow(dead_code)]
#[path = "support/motions.rs"]
mod motions;

use benchmark::{CASES, CORNERS, Case, Expected, SINGULAR, outputs_by};
use dalembert::formulations::{ALL, by_name};
use dalembert::simulate::drive::{End, Stabilize};
use dalembert::simulate::points::hidden;
use dalembert::simulate::run::{self, RunError, RunOptions, RunReport};
use dalembert::simulate::{Setting, start};
use dalembert::{Input, Model, Options};
use motions::{BLADE, Plan, REDUNDANT, SPHERICAL, apart};
use std::ops::ControlFlow;

fn load(input: &Input) -> Model {
    let loaded = dalembert::load(input, &Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("faults\n{shown}"))
}

fn page(name: &str) -> Model {
    load(&Input::open(&format!("gallery:{name}")).expect("a page"))
}

/// All pages of the gallery.
fn pages() -> Vec<String> {
    let mut names = Vec::new();
    for folder in ["gallery", "gallery/benchmarks"] {
        for entry in std::fs::read_dir(folder).expect("the gallery") {
            let path = entry.expect("a page").path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let path = path.with_extension("");
                let name = path.strip_prefix("gallery").expect("in it");
                names.push(name.to_str().expect("a name").replace('\\', "/"));
            }
        }
    }
    names.sort();
    names
}

/// A run as a model says, by a method; `None` where it does not begin.
fn travel(
    setting: &Setting,
    formulation: &str,
    method: &str,
    tolerance: f64,
) -> Option<Result<RunReport, RunError>> {
    let start = start::start(setting).ok()?;
    let mut options = RunOptions::of_model(setting);
    (options.method, options.tolerance, options.step) = (method.to_owned(), tolerance, None);
    options.formulation = by_name(formulation).expect("a formulation");
    Some(run::run_from(setting, &options, start, &mut |_| ControlFlow::Continue(())))
}

/// Positions, velocities and constraint forces at the end of a run.
fn last(report: &RunReport) -> Option<[Vec<f64>; 3]> {
    let last = report.last.as_ref()?;
    Some([last.state.q.clone(), last.state.velocity.clone(), last.constraint_force.clone()])
}

/// The largest difference of two ends, relative to the largest of each kind.
fn off(a: &RunReport, b: &RunReport) -> f64 {
    let (Some(a), Some(b)) = (last(a), last(b)) else { return 0.0 };
    let parts = a.iter().zip(&b).map(|(a, b)| {
        let size = a.iter().chain(b).fold(1e-3f64, |m, x| m.max(x.abs()));
        a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
    });
    parts.fold(0.0, f64::max)
}

/// What a page comes to by `taylor` and by `dop853`, which are held against a tighter run.
fn compare(
    name: &str,
    setting: &Setting,
    formulation: &str,
    tolerance: f64,
) -> Result<bool, String> {
    let run = |method, tolerance| travel(setting, formulation, method, tolerance);
    // An error may be small by chance: it is held against that of ten times the tolerance, too.
    let coarse = run("dop853", 10.0 * tolerance);
    let (Some(exact), Some(other), Some(found)) =
        (run("dop853", 1e-12), run("dop853", tolerance), run("taylor", tolerance))
    else {
        return Ok(false);
    };
    let (exact, other, found) = match (exact, other, found) {
        (Ok(exact), Ok(other), Ok(found)) => (exact, other, found),
        (Err(_), Err(_), Err(_)) => return Ok(false),
        (_, other, found) => {
            return Err(format!(
                "{name}: {:?} by one, {:?} by the other",
                other.err(),
                found.err()
            ));
        }
    };
    if other.end != End::Finished && exact.end != other.end {
        return Ok(false);
    }
    if std::mem::discriminant(&other.end) != std::mem::discriminant(&found.end) {
        return Err(format!("{name} by {formulation}: {:?}, not {:?}", found.end, other.end));
    }
    let by_chance = match &coarse {
        Some(Ok(coarse)) if coarse.end == exact.end => 0.1 * off(&exact, coarse),
        _ => 0.0,
    };
    let (by, off) = (off(&exact, &other).max(by_chance), off(&exact, &found));
    let allowed = 100.0 * (by + tolerance);
    match off <= allowed {
        true => Ok(found.end == End::Finished),
        false => Err(format!("{name} by {formulation}: off by {off:e}, by dop853 {by:e}")),
    }
}

#[test]
fn every_page_of_the_gallery_comes_to_the_same_end() {
    let (mut wrong, mut moved) = (Vec::new(), 0);
    for name in pages().iter().filter(|name| *name != "bricard") {
        let model = page(name);
        let Ok(setting) = Setting::new(&model) else { continue };
        match compare(name, &setting, "lagrange", 1e-9) {
            Ok(is_moved) => moved += usize::from(is_moved),
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(moved > 70, "only {moved}");
}

/// Momenta behind velocities and the reverse, quasi-velocities, charts, the bracket, friction by
/// multipliers.
#[test]
fn every_formulation_comes_to_the_same_end() {
    let (mut wrong, mut moved) = (Vec::new(), 0);
    for name in [
        "spherical-pendulum",
        "double-pendulum-momentum",
        "knife-edge",
        "quaternion-body",
        "relativistic-pendulum",
        "two-masses",
        "rough-wire",
        "rolling-disk",
        "driven-pivot",
        "acceleration-constraint",
        "nonideal-dependent-rows",
    ] {
        let model = page(name);
        let setting = Setting::new(&model).expect("values");
        for formulation in ALL {
            match compare(name, &setting, formulation.name(), 1e-10) {
                Ok(is_moved) => moved += usize::from(is_moved),
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(moved > 40, "only {moved}");
}

/// Cases that take long, or whose reference is not exact enough.
fn is_fit(case: &Case) -> bool {
    let long = ["t1000", "t2000", "slider", "N10", "N20", "N50"];
    !long.iter().any(|part| case.name.contains(part))
}

/// Unit: tolerances. An error that is less is so by chance: of motions of a few steps, whose lengths go by
/// when the run ends.
const CHANCE: f64 = 1e-3;

/// log(error) against log(tolerance), and how large the error is beside the tolerance.
#[test]
fn errors_go_with_the_tolerance() {
    let (mut ratios, mut slopes, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for case in CASES.iter().filter(|case| is_fit(case)) {
        let mut points = Vec::new();
        let mut before = f64::INFINITY;
        for tolerance in (4..=12).map(|digits| 10f64.powi(-digits)) {
            let (found, _) = outputs_by(case, "taylor", None, tolerance)
                .unwrap_or_else(|why| panic!("{}: {why}", case.name));
            let error = Expected::of(case).error(&found);
            if error > 3.0 * before.max(CHANCE * tolerance) && error > 1e-13 {
                wrong.push(format!("{} at {tolerance:e}: {before:e}, then {error:e}", case.name));
            }
            before = error;
            // A step that ends where the run does may be anything; so may rounding.
            if error > 1e-13 && error < 0.1 {
                points.push((tolerance.ln(), error.ln()));
                ratios.push(error / tolerance);
            }
        }
        if points.len() >= 6 {
            let slope = slope(&points);
            println!("{:40} slope {slope:.2}", case.name);
            slopes.push((case.name, slope));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("{} cases, median of error over tolerance {median:.2}", slopes.len());
    assert!((0.1..30.0).contains(&median), "{median}");
    let outside: Vec<_> = slopes.iter().filter(|s| !(0.8..=1.2).contains(&s.1)).collect();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(slopes.len() > 20, "{}", slopes.len());
}

/// q and q̇ at 24 times of a case, one list after the other.
fn along(case: &Case, method: &str, tolerance: f64) -> Vec<Vec<f64>> {
    let model = case.model();
    let setting = Setting::new(&model).expect("values");
    let end = Expected::of(case).end;
    let mut options = benchmark::options(&setting, end, tolerance);
    options.method = method.to_owned();
    options.times = (1..24).map(|k| end * f64::from(k) / 24.0).collect();
    let mut found: Vec<Vec<f64>> = Vec::new();
    let start = benchmark::start_of(&setting);
    let report = run::run_from(&setting, &options, start, &mut |row| {
        found.push(row.state.q.iter().chain(&row.state.velocity).copied().collect());
        ControlFlow::Continue(())
    });
    assert_eq!(report.expect("a run").end, End::Finished, "{}", case.name);
    found
}

/// How far apart motions are, at most, each component relative to how large it gets.
fn farthest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let size = |i: usize| b.iter().fold(0f64, |m, x| m.max(x[i].abs()));
    let sizes: Vec<f64> = (0..b[0].len()).map(size).collect();
    let largest = sizes.iter().fold(0f64, |m, x| m.max(*x));
    let mut most = 0f64;
    for (a, b) in a.iter().zip(b) {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            // What is 0 but for rounding has no size.
            most = most.max((a - b).abs() / sizes[i].max(1e-6 * largest));
        }
    }
    most
}

/// A tighter tolerance does not make the error of the whole motion larger, by more than a factor of
/// three, down to a hundred times what rounding leaves: that in which two methods at their tightest
/// differ, and to what is chance.
#[test]
fn a_tighter_tolerance_is_not_worse_along_the_way() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in CASES.iter().filter(|case| is_fit(case)) {
        let exact = along(case, "taylor", 1e-15);
        let rounding = farthest(&along(case, "dop853", 1e-15), &exact).max(f64::EPSILON);
        let (mut before, mut half_before) = (f64::INFINITY, f64::INFINITY);
        for tolerance in (8..=24).map(|halves| 10f64.powf(-0.5 * f64::from(halves))) {
            let error = farthest(&along(case, "taylor", tolerance), &exact);
            if error < 100.0 * rounding {
                break;
            }
            compared += 1;
            let most = before.min(half_before).max(CHANCE * tolerance);
            if error > 3.0 * most {
                let than = [before, half_before];
                wrong.push(format!("{} at {tolerance:e}: {than:?}, then {error:e}", case.name));
            }
            (before, half_before) = (half_before, error);
        }
    }
    println!("{compared} compared");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 400, "{compared}");
}

/// The slope of a line through points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    above / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// Full precision in few steps: twenty orders are worth some hundreds of stages.
#[test]
fn the_spherical_pendulum_at_full_precision() {
    let case = CASES.iter().find(|c| c.name == "spherical_pendulum_t10").expect("a case");
    let (found, report) = outputs_by(case, "taylor", None, 1e-14).expect("a run");
    let error = Expected::of(case).error(&found);
    assert!(error < 1e-13, "{error:e}");
    let steps = report.statistics.steps;
    assert!((60..=90).contains(&steps) && report.statistics.rejected == 0, "{steps}");
    // The state itself, its projection, and the rates of the next step.
    assert!(report.evaluations <= 5 * steps / 2, "{} in {steps}", report.evaluations);
}

/// Rows that depend on each other are left out at all orders: a rank that was decided once more at
/// a higher order would make coefficients explode.
#[test]
fn dependent_rows_are_left_out_at_every_order() {
    let mut plan = Plan::new(REDUNDANT, "lagrange", "taylor", 10.0);
    plan.tolerance = 1e-13;
    let (states, report) = plan.run().expect("a run");
    assert_eq!(report.end, End::Finished);
    let mut other = Plan::new(REDUNDANT, "lagrange", "dop853", 10.0);
    other.tolerance = 1e-13;
    let exact = other.states();
    let apart = apart(&states[0], &exact[0]);
    assert!(apart < 1e-8 && report.certificate.position_residual < 1e-14, "{apart:e}");
    assert!(report.statistics.rejected == 0, "{:?}", report.statistics);
    // What was decided at the start is seen to be true at every step, and not decided again.
    assert!(report.statistics.decisions < 5, "{:?}", report.statistics);
}

/// Unknowns behind momenta are found once at a state: a search that begins at its end may lose it
/// and come to another zero.
#[test]
fn what_stands_behind_momenta_stays_found() {
    let model = page("relativistic-pendulum");
    let setting = Setting::new(&model).expect("values");
    let end = |method, tolerance| {
        let report = travel(&setting, "bracket", method, tolerance).expect("a start");
        report.expect("a run").last.expect("an end").state.q
    };
    let exact = end("dop853", 1e-12);
    for tolerance in (0..24).map(|k| 1e-9 * 0.8f64.powi(k)) {
        let found = end("taylor", tolerance);
        let off = found.iter().zip(&exact).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-8, "{tolerance:e}: {off:e}");
    }
}

/// Rows that nearly depend on each other: what other methods say of them.
#[test]
fn rows_that_nearly_depend_on_each_other_are_what_they_are() {
    let text = "param e = 1e-9\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n\
                potential 9*z + x^2\nconstraint a: x + y + z = 1\n\
                constraint b: x + y + (1 + e)*z = 1\n\
                start x = 0.5, y = 0.5, z = 0, x' = 1, y' = -1\nrun t = 0..3\n";
    let states = Plan::new(text, "lagrange", "taylor", 3.0).states();
    let x = 0.5 * 3f64.cos() + 3f64.sin();
    assert!((states[0].q[0] - x).abs() < 1e-8, "{:?}", states[0].q);
}

/// Through positions in which the rank drops, on the smooth branch.
#[test]
fn singular_positions_are_crossed() {
    for (case, tolerance) in SINGULAR.iter().filter(|c| c.0.name.starts_with("A02_fourbar_N2")) {
        for tolerance in [1e-6, 1e-9, *tolerance] {
            let (found, report) = outputs_by(case, "taylor", None, tolerance).expect("a run");
            let error = Expected::of(case).error(&found);
            assert!(error < 1e3 * tolerance, "{}: {error:e}", case.name);
            assert!(!report.certificate.rank_changes.is_empty());
        }
    }
}

/// Squares in a row are one pendulum, however many they are: Taylor steps, which are long, come to
/// the positions in which as many ranks drop, and across.
#[test]
fn squares_in_a_row_are_crossed() {
    for squares in [3, 4, 5, 7, 8, 10, 12, 40] {
        let input = Input::open("gallery:benchmarks/n-four-bar").expect("a page");
        let options = Options { set: vec![format!("N={squares}")], ..Options::default() };
        let model = dalembert::load(&input, &options).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let n = f64::from(squares);
        let pendulum = format!(
            "coord a\nkinetic a'^2/2\npotential {}*sin(a)\nstart a = pi/2, a' = -1\nrun t = 0..10\n",
            9.81 * 3.0 * (3.0 * n + 1.0) / (2.0 * (4.0 * n + 1.0))
        );
        let plan = Plan { tolerance: 1e-12, ..Plan::new(&pendulum, "lagrange", "dop853", 10.0) };
        let right = plan.states()[0].q[0];
        let few = [1e-9];
        let tolerances: &[f64] = if squares < 40 { &[1e-6, 1e-9, 1e-11] } else { &few };
        for &tolerance in tolerances {
            let start = start::start(&setting).expect("a start");
            let mut options = RunOptions::of_model(&setting);
            (options.method, options.tolerance) = ("taylor".to_owned(), tolerance);
            options.every = Some(options.end);
            let quiet = &mut |_: &_| ControlFlow::Continue(());
            let report = run::run_from(&setting, &options, start, quiet).expect("a run");
            assert_eq!(report.end, End::Finished, "{squares} at {tolerance:e}");
            assert!(!report.certificate.rank_changes.is_empty());
            let off = (report.last.expect("an end").state.q[0] - right).abs();
            // It goes over the top slowly, where errors grow by hundreds.
            assert!(off < 1e5 * tolerance, "{squares} at {tolerance:e}: off by {off:e}");
        }
    }
}

/// Multipliers that are not determined are not read off a series: at an output they are those of
/// least size, as by any method.
#[test]
fn multipliers_of_dependent_rows_are_those_of_the_output() {
    let multipliers = |method| {
        let plan = Plan { tolerance: 1e-12, ..Plan::new(REDUNDANT, "lagrange", method, 1.0) };
        let report = plan.run().expect("a run").1;
        report.last.expect("an end").multipliers
    };
    let (a, b) = (multipliers("taylor"), multipliers("dop853"));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

/// Branches turn where their functions do, and a step ends there.
#[test]
fn steps_end_where_branches_turn() {
    let text = "coord x\nkinetic x'^2/2\npotential abs(x)\nstart x = 1, x' = 0\nrun t = 0..8\n";
    let (states, report) = Plan::new(text, "lagrange", "taylor", 8.0).run().expect("a run");
    // From 1 to −1 and back in 4√2: a parabola on each side.
    let after = 8.0 - 4.0 * 2f64.sqrt();
    let exact = -(1.0 - 0.5 * (after - 2.0 * 2f64.sqrt()).powi(2));
    assert!((states[0].q[0] - exact).abs() < 1e-9, "{} {exact}", states[0].q[0]);
    assert_eq!(report.statistics.switches, 3);
    assert!(report.statistics.steps < 20, "{:?}", report.statistics);
}

/// Hundreds of corners in ten seconds, some of which turn back at once: a step that is as long as
/// its series allow would pass over them.
#[test]
fn no_corner_is_passed_over() {
    for (case, _) in CORNERS {
        let (found, report) = outputs_by(case, "taylor", None, 1e-9)
            .unwrap_or_else(|end| panic!("{}: {end}", case.name));
        let error = Expected::of(case).error(&found);
        assert!(error < 1e-6, "{}: {error:e}, {:?}", case.name, report.statistics);
    }
}

/// What `auto` begins with, at three tolerances: small systems go by series, those with many
/// products from 1e-9 or 1e-12 on, and nothing does at constant steps.
#[test]
fn auto_takes_series_where_they_win() {
    for (name, taken) in [
        ("spherical_pendulum_t10", ["taylor", "taylor", "taylor"]),
        ("car_axis_t1", ["taylor", "taylor", "taylor"]),
        ("andrews_t0.03", ["dop853", "taylor", "taylor"]),
        ("chain_closed_N10_t0.3", ["dop853", "taylor", "taylor"]),
    ] {
        let case = CASES.iter().find(|c| c.name == name).expect("a case");
        for (tolerance, taken) in [1e-6, 1e-9, 1e-12].into_iter().zip(taken) {
            let report = outputs_by(case, "auto", None, tolerance).expect("a run").1;
            assert_eq!(report.method, taken, "{name} at {tolerance:e}: {}", report.choice.reason);
        }
    }
    let plan = Plan { step: Some(0.01), ..Plan::new(SPHERICAL, "lagrange", "auto", 1.0) };
    assert_eq!(plan.run().expect("a run").1.method, "dop853");
}

/// Events that happen many times in what one series allows, some twice within a thousandth of it: each
/// is found, in order, where it is.
#[test]
fn every_event_in_a_long_step_is_found() {
    // x = cos t, y = t: a step by series is about as long as a radian.
    let motion = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential x^2/2\n\
                  start x = 1, x' = 0, y = 0, y' = 1\nrun t = 0..6\n";
    type Function = fn(f64, f64, f64) -> f64;
    let functions: [(&str, Function); 6] = [
        ("sin(A*t) = B", |t, a, b| (a * t).sin() - b),
        ("sin(A*x) = B", |t, a, b| (a * t.cos()).sin() - b),
        ("x*sin(A*y) = B", |t, a, b| t.cos() * (a * t).sin() - b),
        ("(x - B)^2 = (B/A)^2", |t, a, b| (t.cos() - b).powi(2) - (b / a).powi(2)),
        ("exp(-(A*x)^2)*x' = B/9", |t, a, b| -(-(a * t.cos()).powi(2)).exp() * t.sin() - b / 9.0),
        ("tanh(A*(x - B)) = 1/2", |t, a, b| (a * (t.cos() - b)).tanh() - 0.5),
    ];
    let mut random = dalembert::expr::Random::new(9);
    let (mut happened, mut steps) = (0, 0);
    for case in 0..60 {
        let (text, g) = &functions[case % functions.len()];
        let (a, b) = (5.0 + 75.0 * random.unit(), 0.9 * random.unit());
        let set =
            |text: &str| text.replace('A', &format!("{a:.6}")).replace('B', &format!("{b:.6}"));
        let (a, b) = (format!("{a:.6}").parse().unwrap(), format!("{b:.6}").parse().unwrap());
        let text = format!("{motion}event e: {}\n", set(text));
        let report = Plan::new(&text, "lagrange", "taylor", 6.0).run().expect("a run").1;
        let grid: Vec<f64> = (0..=600_000).map(|i| 1e-5 * f64::from(i)).collect();
        let crossed = grid.windows(2).filter(|w| g(w[0], a, b) * g(w[1], a, b) < 0.0);
        let exact: Vec<f64> = crossed.map(|w| root(|t| g(t, a, b), w[0], w[1])).collect();
        let found: Vec<f64> = report.event_log.iter().map(|e| e.t).collect();
        let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-7;
        let is_same = found.len() == exact.len() && found.iter().zip(&exact).all(near);
        assert!(is_same, "{text}\n{found:?}\n{exact:?}");
        happened += found.len();
        steps += report.statistics.steps as usize;
    }
    assert!(happened > 600, "{happened} in {steps}");
}

/// The zero of a function between two places of different sign.
fn root(g: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let side = g(low) > 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *if (g(middle) > 0.0) == side { &mut low } else { &mut high } = middle;
    }
    low
}

/// Where there is no series there is still a motion: x^(7/2) has three derivatives at 0.
#[test]
fn a_state_without_a_series_is_left_by_another_method() {
    let text = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential y^2/2 + sqrt(x^2)^7/2\n\
                start x = 0, y = 1, x' = 1\nrun t = 0..1\n";
    let mut plan = Plan::new(text, "lagrange", "taylor", 1.0);
    let states = plan.states();
    plan.method = "dop853";
    let apart = apart(&states[0], &plan.states()[0]);
    assert!(apart < 1e-8, "{apart:e}");
}

/// Accelerations that are not determined, and constraints that are implied and not written: as by
/// other methods; with what is implied appended, a motion.
#[test]
fn what_has_no_motion_has_none() {
    let model = page("two-masses-incomplete");
    let setting = Setting::new(&model).expect("values");
    let ends: Vec<_> = ["taylor", "dop853"]
        .map(|method| travel(&setting, "lagrange", method, 1e-9).map(|r| r.map(|r| r.end)))
        .into();
    assert_eq!(format!("{:?}", ends[0]), format!("{:?}", ends[1]));
    assert!(!matches!(ends[0], Some(Ok(End::Finished))));
    let text = "coord x, y, z\nkinetic (x'^2 + y'^2)/2\npotential x^2/2\nconstraint a: x = y\n\
                start x = 1\nrun t = 0..1\n";
    let free = load(&Input::text("m.dal", text));
    let setting = Setting::new(&free).expect("values");
    let end = travel(&setting, "lagrange", "taylor", 1e-9);
    assert!(!matches!(&end, Some(Ok(report)) if report.end == End::Finished));
    let completed = hidden::complete(&model, &Default::default()).expect("a complete model").model;
    let setting = Setting::new(&completed).expect("values");
    assert_eq!(compare("completed", &setting, "lagrange", 1e-9), Ok(true));
}

/// Feedback that holds constraints would have to be a part of the series.
#[test]
fn stabilization_by_feedback_is_refused() {
    for stabilize in [Stabilize::Baumgarte, Stabilize::Ggl] {
        let plan = Plan { stabilize, ..Plan::new(SPHERICAL, "lagrange", "taylor", 1.0) };
        assert!(matches!(plan.run(), Err(RunError::Unsuited(_))));
    }
    let plan = Plan {
        stabilize: Stabilize::None,
        tolerance: 1e-14,
        ..Plan::new(SPHERICAL, "lagrange", "taylor", 1.0)
    };
    let report = plan.run().expect("a run").1;
    // The series satisfy the constraints by themselves.
    assert!(report.certificate.position_residual < 1e-12, "{:?}", report.certificate);
}

/// Between steps the motion is the polynomial of the step, as exact as its ends.
#[test]
fn outputs_inside_of_steps_are_as_exact_as_their_ends() {
    for (text, end) in [(SPHERICAL, 2.0), (BLADE, 2.0), (REDUNDANT, 1.0)] {
        let times: Vec<f64> = (1..40).map(|i| end * f64::from(i) / 41.0).collect();
        let mut plan = Plan { times, ..Plan::new(text, "lagrange", "taylor", end) };
        plan.tolerance = 1e-12;
        let found = plan.states();
        plan.method = "dop853";
        (plan.tolerance, plan.step) = (1e-13, None);
        for (a, b) in found.iter().zip(&plan.states()) {
            assert!(apart(a, b) < 1e-10, "{} {}", a.t, apart(a, b));
        }
    }
}
