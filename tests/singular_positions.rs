//! Motions through positions in which the constraints lose a rank: carried on along the
//! branch they are on, for any tolerance, speed and description, or ended with a reason.

use dalembert::simulate::Setting;
use dalembert::simulate::drive::{End, Failure, RankChange, Unresolved};
use dalembert::simulate::run::{self, RunOptions, RunReport};
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;

/// N four-bars in a row, in angles.
const SQUARES: &str = "
const N = 2
param m = 1, l = 1, g = 9.81, v0 = 1
coord a[0..N], h[1..N]
let e(angle) = [cos(angle), sin(angle)]
for k in 0..N {
  let B[k] = [k*l, 0] + l*e(a[k])
  kinetic m*l^2/6*a[k]'^2
  potential m*g*l/2*sin(a[k])
  start a[k] = pi/2
}
for k in 1..N {
  let C[k] = B[k-1] + l/2*e(h[k])
  kinetic m/2*dot(C[k]', C[k]') + m*l^2/24*h[k]'^2
  potential m*g*C[k][2]
  constraint bar[k]: B[k] = B[k-1] + l*e(h[k])
  start h[k] = 0, h[k]' = 0
}
start a[0]' = -v0/l
observe x = B[0][1], y = B[0][2]
run t = 0..3
";

/// The same as one pendulum.
const PENDULUM: &str = "
const N = 2
param l = 1, g = 9.81, v0 = 1
coord a
kinetic a'^2/2
potential g/l*3*(3*N + 1)/(2*(4*N + 1))*sin(a)
start a = pi/2, a' = -v0/l
observe x = l*cos(a), y = l*sin(a)
run t = 0..3
";

/// A parallelogram of two points and three rods.
const POINTS: &str = "
param m1 = 2, m2 = 3, a = 1.25, d = 2, g = 9.8125, w = 6
coord x1, y1, x2, y2
let r1 = [x1, y1], r2 = [x2, y2], D = [d, 0]
kinetic m1/2*dot(r1', r1') + m2/2*dot(r2', r2')
potential g*(m1*y1 + m2*y2)
constraint left:    dot(r1, r1)/2 = a^2/2
constraint right:   dot(r2 - D, r2 - D)/2 = a^2/2
constraint coupler: dot(r2 - r1, r2 - r1)/2 = d^2/2
start x1 = 0.6*a, y1 = 0.8*a, x2 = d + 0.6*a, y2 = 0.8*a, x1' = w*0.8
observe x = x1, y = y1
run t = 0..3
";

const ONE_POINT: &str = "
param a = 1.25, g = 9.8125, w = 6
coord th
kinetic th'^2/2
potential g/a*sin(th)
start th = atan2(0.8, 0.6), th' = -w/a
observe x = a*cos(th), y = a*sin(th)
run t = 0..3
";

/// A slider-crank with a rod as long as the crank: the slider passes the pivot, where
/// it could stay while both turn.
const CRANK: &str = "
param m = 1, M = 2, l = 1, g = 9.81, w = 5
coord th, ph, s
let tip = [l*cos(th), l*sin(th)]
let mid = tip + l/2*[cos(ph), sin(ph)]
kinetic m*l^2/6*th'^2 + m/2*dot(mid', mid') + m*l^2/24*ph'^2 + M/2*s'^2
potential m*g*l/2*sin(th) + m*g*mid[2]
constraint slider: tip + l*[cos(ph), sin(ph)] = [s, 0]
start th = 0.3, ph ~ -0.3, s ~ 1.9, th' = w
observe x = s, y = tip[2]
run t = 0..3
";

const CRANK_ALONE: &str = "
param m = 1, M = 2, l = 1, g = 9.81, w = 5
coord th
let mid = [1.5*l*cos(th), l/2*sin(th)]
kinetic m*l^2/6*th'^2 + m/2*dot(mid', mid') + m*l^2/24*th'^2 + M/2*(2*l*sin(th)*th')^2
potential m*g*l/2*sin(th) + m*g*mid[2]
start th = 0.3, th' = w
observe x = 2*l*cos(th), y = l*sin(th)
run t = 0..3
";

fn model(text: &str, set: &[String]) -> Model {
    let set: Vec<String> = set.to_vec();
    let loaded =
        dalembert::load(&Input::text("model.dal", text), &Options { set, ..Options::default() });
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{shown}\n{text}"))
}

fn travel(setting: &Setting, end: f64, tolerance: f64, more: fn(&mut RunOptions)) -> RunReport {
    let mut options = RunOptions::of_model(setting);
    (options.end, options.tolerance) = (end, tolerance);
    options.every = Some(0.05);
    more(&mut options);
    run::run(setting, &options, &mut |_| ControlFlow::Continue(())).expect("it begins")
}

/// What a report observes as x and y at its end.
fn place(setting: &Setting, report: &RunReport) -> [f64; 2] {
    let last = report.last.as_ref().expect("a last state");
    let system = &setting.model.system;
    let table = last.table(system);
    ["x", "y"].map(|name| {
        let observe = system.observes.iter().find(|o| o.name == name).expect("observed");
        setting.number(observe.value, &table)
    })
}

/// A model against one with a coordinate less for each constraint; the changes of rank.
fn compare(
    (whole, reduced): (&str, &str),
    set: &[&str],
    own: &[&str],
    end: f64,
    tolerance: f64,
) -> Vec<RankChange> {
    let what = format!("{set:?} {own:?} to {end} at {tolerance:e}");
    let mut both: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let reference = model(reduced, &both);
    let reference = Setting::new(&reference).expect("values");
    let expected = place(&reference, &travel(&reference, end, 1e-13, |_| {}));
    both.extend(own.iter().map(|s| (*s).to_owned()));
    let model = model(whole, &both);
    let setting = Setting::new(&model).expect("values");
    let report = travel(&setting, end, tolerance, |_| {});
    assert_eq!(report.end, End::Finished, "{what}");
    assert_eq!(report.verdict(), Ok(()), "{what}");
    let found = place(&setting, &report);
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let certificate = &report.certificate;
    let drift = certificate.invariants[0].1;
    println!("{what}: off by {off:.1e}, energy {drift:.1e}, {} changes", {
        certificate.rank_changes.len()
    });
    assert!(off <= 1e3 * tolerance.max(1e-13), "{what}: off by {off:e}");
    assert!(drift <= 100.0 * tolerance.max(1e-13), "{what}: energy drifts by {drift:e}");
    let residual = certificate.position_residual.max(certificate.velocity_residual);
    assert!(residual <= 1e-12, "{what}: residual {residual:e}");
    for change in &certificate.rank_changes {
        assert!(change.stopped.is_none() && change.after == Some(change.before), "{change:?}");
        assert!(change.at < change.before && !change.constraints.is_empty(), "{change:?}");
    }
    certificate.rank_changes.clone()
}

#[test]
fn a_row_of_squares_stays_one_at_every_tolerance() {
    for (squares, tolerances) in [(1, [1e-8, 1e-10, 1e-12]), (2, [1e-8, 1e-9, 1e-11])] {
        let squares = format!("N={squares}");
        for tolerance in tolerances {
            let changes = compare((SQUARES, PENDULUM), &[&squares], &[], 3.0, tolerance);
            assert_eq!(changes.len(), 3);
        }
    }
}

#[test]
fn whatever_its_speed_and_size() {
    for set in [
        ["N=1", "v0=0.1", "g=9.81", "l=1"],
        ["N=1", "v0=-4", "g=20", "l=0.7"],
        ["N=2", "v0=3", "g=0.5", "l=2"],
        ["N=3", "v0=7", "g=9.81", "l=1"],
        ["N=1", "v0=2", "g=0", "l=1"],
    ] {
        let changes = compare((SQUARES, PENDULUM), &set, &["m=0.3"], 3.0, 1e-10);
        assert!(changes.len() >= 2, "{set:?}: {changes:?}");
        let rank = model(SQUARES, &[set[0].to_owned()]).system.constraints.len();
        assert!(changes.iter().all(|c| (c.before, c.at) == (rank, rank / 2)), "{changes:?}");
    }
}

#[test]
fn backwards_it_comes_the_way_it_went() {
    assert_eq!(compare((SQUARES, PENDULUM), &["N=2"], &[], -3.0, 1e-10).len(), 3);
    assert_eq!(compare((POINTS, ONE_POINT), &[], &[], -2.0, 1e-10).len(), 3);
}

#[test]
fn points_and_rods_are_as_good_as_angles() {
    for (set, own) in [
        (["w=6", "g=9.8125"], ["m1=2", "d=2"]),
        (["w=9", "g=3"], ["m1=0.1", "d=0.8"]),
        (["w=-5.5", "g=9.8125"], ["m1=7", "d=3"]),
    ] {
        for tolerance in [1e-8, 1e-11] {
            let changes = compare((POINTS, ONE_POINT), &set, &own, 2.0, tolerance);
            assert!(changes.len() >= 3, "{changes:?}");
        }
    }
    // With a rod too many, which the rank does not count.
    let redundant = POINTS.replace(
        "start x1",
        "constraint middle:  dot(r1 + r2 - D, r1 + r2 - D)/8 = a^2/2\nstart x1",
    );
    let changes = compare((&redundant, ONE_POINT), &[], &[], 2.0, 1e-10);
    assert!(changes.len() >= 3 && changes.iter().all(|c| (c.before, c.at) == (3, 2)));
}

#[test]
fn a_slider_passes_the_pivot() {
    for tolerance in [1e-8, 1e-11] {
        let changes = compare((CRANK, CRANK_ALONE), &[], &[], 3.0, tolerance);
        assert!(changes.len() >= 2, "{changes:?}");
    }
}

/// Both ends of a run may be anywhere near a singular position.
#[test]
fn a_run_may_end_at_a_singular_position() {
    let first = compare((SQUARES, PENDULUM), &["N=1"], &[], 1.0, 1e-10)[0].t;
    for off in [-1e-2, -1e-4, -1e-6, 0.0, 1e-6, 1e-4, 1e-2] {
        compare((SQUARES, PENDULUM), &["N=1"], &[], first + off, 1e-10);
    }
}

/// A four-bar of three unit rods that starts hanging, or flat.
fn square(start: &str) -> String {
    format!(
        "coord a[0..1], h
let e(x) = [cos(x), sin(x)]
let B0 = e(a[0]), B1 = [1, 0] + e(a[1]), C = B0 + e(h)/2
kinetic a[0]'^2/6 + a[1]'^2/6 + dot(C', C')/2 + h'^2/24
potential 9.81/2*(sin(a[0]) + sin(a[1])) + 9.81*C[2]
constraint bar: B1 = B0 + e(h)
start {start}
observe x = B1[1], y = B1[2]
run t = 0..2
"
    )
}

#[test]
fn at_rest_in_a_singular_position_every_branch_has_equal_right() {
    // From below with just the energy to get to the line.
    let text = square("a[0] = -pi/2, a[1] = -pi/2, h = 0, a[0]' = sqrt(2*9.81*1.2), h' = 0");
    let model_below = model(&text, &[]);
    let setting = Setting::new(&model_below).expect("values");
    for tolerance in [1e-7, 1e-9, 1e-11] {
        let report = travel(&setting, 2.0, tolerance, |_| {});
        let End::Failed(Failure::Unresolved(change)) = &report.end else {
            panic!("{:?}", report.end)
        };
        assert_eq!(change.stopped, Some(Unresolved::AtRest));
        assert_eq!((change.before, change.at, change.after), (2, 1, None));
        assert_eq!(&report.certificate.rank_changes, std::slice::from_ref(change));
        // It ends there, not before.
        let last = report.last.expect("a last state");
        assert!(last.state.q[0].abs() < 1e-3 && last.state.t == change.t, "{:?}", last.state);
    }
    // From the line itself.
    let model_flat = model(&square("a[0] = 0, a[1] = 0, h = 0, a[0]' = 0, h' = 0"), &[]);
    let setting = Setting::new(&model_flat).expect("values");
    let report = travel(&setting, 2.0, 1e-9, |_| {});
    let End::Failed(Failure::Unresolved(change)) = &report.end else { panic!("{:?}", report.end) };
    assert_eq!((change.stopped, change.t), (Some(Unresolved::AtRest), 0.0));
    assert!(report.verdict().is_err());
}

/// At rest, but pushed: forces do not choose a branch either. And with a velocity between
/// the branches there is no motion.
#[test]
fn a_start_that_belongs_to_no_branch_is_refused() {
    for (velocity, why) in [
        ("x' = 0, u' = 0", Unresolved::AtRest),
        ("x' = 1, u' = 1", Unresolved::NoBranch),
        ("x' = 1, u' = -0.1", Unresolved::NoBranch),
    ] {
        let text = format!(
            "coord x, y, u\nkinetic (x'^2 + y'^2 + u'^2)/2\npotential -u\n\
             constraint crank: x^2 + y^2 = 1\nconstraint rod: (x - u)^2 + y^2 = 1\n\
             start x = 0, y ~ 1, u = 0, {velocity}\nrun t = 0..1\n"
        );
        let fold = model(&text, &[]);
        let setting = Setting::new(&fold).expect("values");
        let report = travel(&setting, 1.0, 1e-9, |_| {});
        let End::Failed(Failure::Unresolved(change)) = &report.end else {
            panic!("{velocity}: {:?}", report.end)
        };
        assert_eq!((change.before, change.at, change.stopped), (2, 1, Some(why)), "{velocity}");
        assert_eq!(change.constraints, [0, 1]);
    }
}

/// From the line with a velocity, the branch is the one it is tangent to: the square
/// stays one, or the bar folds onto the second link and both turn about its end.
#[test]
fn from_a_singular_position_the_velocity_chooses_the_branch() {
    let pendulum = "coord a\nkinetic a'^2/2\npotential 9.81*1.2*sin(a)\nstart a = 0, a' = 3\n\
                    observe x = 1 + cos(a), y = sin(a)\nrun t = 0..2\n";
    let square_on = square("a[0] = 0, a[1] = 0, h = 0, a[0]' = 3, h' = 0");
    let changes = compare((&square_on, pendulum), &[], &[], 2.0, 1e-9);
    assert_eq!((changes[0].t, changes[0].before, changes[0].at), (0.0, 2, 1));
    assert!(changes.len() >= 3);

    // ⅓ + ⅓ of a moment of inertia, weights at ½ each.
    let folded = "coord a\nkinetic a'^2/3\npotential 9.81*sin(a)\nstart a = 0, a' = 3\n\
                  observe x = 1 + cos(a), y = sin(a)\nrun t = 0..2\n";
    let fold = square("a[0] = 0, a[1] = 0, h = 0, a[0]' = 0, h' = 3");
    let changes = compare((&fold, folded), &[], &[], 0.3, 1e-9);
    assert_eq!(changes.len(), 1);
}

/// Where lengths differ by a little there is no singular position: the motion turns
/// sharply, and steps follow it.
#[test]
fn a_near_miss_is_none() {
    let text =
        POINTS.replace("= d^2/2", "= (d + 1e-3)^2/2").replace("y1 = 0.8*a, x2", "y1 ~ 0.8*a, x2");
    let text = text.replace("x2 = d + 0.6*a, y2 =", "x2 ~ d + 0.6*a, y2 ~");
    let near = model(&text, &[]);
    let setting = Setting::new(&near).expect("values");
    let report = travel(&setting, 2.0, 1e-10, |_| {});
    assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())));
    assert!(report.certificate.rank_changes.is_empty());
    assert!(report.certificate.invariants[0].1 < 1e-8);
}

/// A constraint whose gradient with respect to the velocities vanishes on the way: it is
/// seen, at the right time, and the run ends there.
#[test]
fn a_cone_of_velocities_ends_at_its_tip() {
    let text = "param m = 1.25, g = 9.8125\ncoord x, y, z\nkinetic m/2*(x'^2 + y'^2 + z'^2)\n\
                potential m*g*z\nconstraint cone: x'^2 + y'^2 = z'^2\n\
                start x' = 0.75, y' = 1, z' ~ 1.25\nrun t = 0..1\n";
    let cone = model(text, &[]);
    let setting = Setting::new(&cone).expect("values");
    let report = travel(&setting, 1.0, 1e-9, |_| {});
    let End::Failed(Failure::Unresolved(change)) = &report.end else { panic!("{:?}", report.end) };
    assert_eq!((change.before, change.at, change.stopped), (1, 0, Some(Unresolved::AtRest)));
    assert!((change.t - 2.0 * 1.25 / 9.8125).abs() < 1e-6, "{change:?}");
}

/// Steps of constant size do not cross; whatever they do is said, not a panic.
#[test]
fn constant_steps_end_with_a_reason_or_go_on() {
    let squares = model(SQUARES, &["N=1".to_owned()]);
    let setting = Setting::new(&squares).expect("values");
    for step in [0.02, 1e-3] {
        let mut options = RunOptions::of_model(&setting);
        (options.end, options.step) = (1.0, Some(step));
        let report =
            run::run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("it begins");
        assert!(report.certificate.rank_changes.is_empty());
        assert!(report.last.is_some());
    }
}

/// Every formulation with multipliers crosses in its own variables.
#[test]
fn every_formulation_with_multipliers_crosses() {
    let squares = model(SQUARES, &["N=1".to_owned()]);
    let setting = Setting::new(&squares).expect("values");
    let lagrange = place(&setting, &travel(&setting, 3.0, 1e-11, |_| {}));
    for formulation in ["hamilton", "poincare"] {
        let mut options = RunOptions::of_model(&setting);
        (options.end, options.tolerance) = (3.0, 1e-11);
        options.formulation = dalembert::formulations::by_name(formulation).expect("known");
        let report =
            run::run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("it begins");
        assert_eq!(report.verdict(), Ok(()), "{formulation}");
        assert_eq!(report.certificate.rank_changes.len(), 3, "{formulation}");
        for (a, b) in place(&setting, &report).iter().zip(lagrange) {
            assert!((a - b).abs() < 1e-8, "{formulation}: {a} {b}");
        }
    }
}

/// An event close to a singular position is found on the polynomial that leads across, on
/// either side of it.
#[test]
fn events_happen_inside_of_crossings() {
    // The crank is level at a = 0, where all rods lie on a line.
    for level in ["0.02", "-0.02", "0.2", "-0.2"] {
        let text = SQUARES.replace("const N = 2", "const N = 1");
        let text = format!("{text}\nevent level: B[0][2] = {level} falling -> stop\n");
        let model = model(&text, &[]);
        let setting = Setting::new(&model).expect("values");
        let report = travel(&setting, 3.0, 1e-10, |_| {});
        assert_eq!(report.end, End::Stopped { event: 0 }, "{level}");
        let [_, y] = place(&setting, &report);
        let exact: f64 = level.parse().expect("a number");
        assert!((y - exact).abs() < 1e-9, "{level}: {y}");
        let passed = usize::from(exact < 0.0);
        assert_eq!(report.certificate.rank_changes.len(), passed, "{level}");
        assert_eq!(report.event_log.len(), 1);
    }
}
