//! Models that once went wrong under `pass`, or were refused without need, with what is right.
//! Those of one subject are with its tests; here are those that concern numbers as such.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::report::{Options, report};
use dalembert::simulate::run::{RunOptions, RunReport, run, run_from};
use dalembert::simulate::start::Start;
use dalembert::simulate::{Setting, start};
use std::ops::ControlFlow;
use support::load;

/// Runs a model; it must pass.
fn passes(text: &str) -> RunReport {
    let model = load(text).model.unwrap_or_else(|| panic!("{text}"));
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions::of_model(&setting);
    let report = run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
    assert_eq!(report.verdict(), Ok(()), "{:?}\n{text}", report.end);
    report
}

fn end(report: &RunReport) -> &[f64] {
    &report.last.as_ref().expect("an end").state.q
}

/// A body on a ball joint balances above it, whatever is left in the zeros of its quaternion.
#[test]
fn a_body_on_a_ball_joint_within_rounding_of_the_identity() {
    for size in
        ["0", "1e-300", "1e-40", "1e-30", "1e-20", "1e-17", "1e-15", "1e-13", "1e-10", "1e-8"]
    {
        let text = format!(
            "coord r[1..3], e[1..4]\ngravity [0, 0, -9.81]\n\
             body b: mass 1.3, inertia [0.2, 0.3, 0.4], at r, turning Rq(e)\n\
             constraint unit: dot(e, e) = 1\nconstraint pin: b.point([0, 0, -0.4]) = [0, 0, 0]\n\
             start e = [1, 0, 0, {size}], r = [0, 0, 0.4]\nrun t = 0..0.1\n"
        );
        let model = load(&text).model.expect("a model");
        let options = Options::of_model(&model);
        let found = report(&model, &options).expect("numbers");
        let answer = found.answers[0].result.as_ref().expect("an answer");
        assert_eq!(answer.outcome.rank.jacobian, 4, "{size}");
        assert!(answer.accelerations.iter().all(|a| a.abs() < 1e-12), "{size}");
        let pin = answer.outcome.multipliers[3];
        assert!((pin.abs() - 1.3 * 9.81).abs() < 1e-12, "{size}: {pin}");
        let last = passes(&text);
        assert!((end(&last)[2] - 0.4).abs() < 1e-12, "{size}");
    }
}

/// Seven independent rows at the home pose, and six legs that move.
#[test]
fn a_stewart_platform_at_its_home_pose() {
    let text = "\
const N = 6
param m = 10, rb = 1, rp = 0.6, g = 9.81
coord x, y, z, e[0..3]
gravity [0, 0, -g]
body top: mass m, inertia [0.9, 0.9, 1.8], at [x, y, z], turning Rq(e)
constraint unit: dot(e, e) = 1
let ab[1] = 0.1, ab[2] = 2*pi/3 - 0.1, ab[3] = 2*pi/3 + 0.1, ab[4] = 4*pi/3 - 0.1, ab[5] = 4*pi/3 + 0.1, ab[6] = 2*pi - 0.1
let ap[1] = pi/3 - 0.1, ap[2] = pi/3 + 0.1, ap[3] = pi - 0.1, ap[4] = pi + 0.1, ap[5] = 5*pi/3 - 0.1, ap[6] = 5*pi/3 + 0.1
for i in 1..N {
  let B[i] = rb*[cos(ab[i]), sin(ab[i]), 0]
  let P[i] = top.point(rp*[cos(ap[i]), sin(ap[i]), 0])
  let L[i] = norm(P[i] - B[i])
}
constraint leg1: L[1] = 1.2 + 0.05*sin(3*t)
constraint leg2: L[2] = 1.2
constraint leg3: L[3] = 1.2 - 0.05*sin(3*t)
constraint leg4: L[4] = 1.2
constraint leg5: L[5] = 1.2
constraint leg6: L[6] = 1.2
start z ~ 1, e ~ [1, 0, 0, 0]
run t = 0..0.5
";
    let model = load(text).model.expect("a model");
    let options = Options::of_model(&model);
    let found = report(&model, &options).expect("numbers");
    let answer = found.answers[0].result.as_ref().expect("an answer");
    assert_eq!((answer.outcome.rank.jacobian, answer.outcome.motion.name()), (7, "unique"));
    let last = passes(text);
    assert_eq!(last.certificate.ranks, (7, 7));
    // Where the legs lead: their lengths at the end.
    let (q, t) = (end(&last), 0.5f64);
    let rotate = |p: [f64; 3]| -> [f64; 3] {
        let (w, u) = (q[3], [q[4], q[5], q[6]]);
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let inner = cross(u, p);
        let outer = cross(u, [inner[0] + w * p[0], inner[1] + w * p[1], inner[2] + w * p[2]]);
        [p[0] + 2.0 * outer[0], p[1] + 2.0 * outer[1], p[2] + 2.0 * outer[2]]
    };
    let third = 2.0 * std::f64::consts::PI / 3.0;
    let base = [0.1, third - 0.1, third + 0.1, 2.0 * third - 0.1, 2.0 * third + 0.1, -0.1];
    let half = third / 2.0;
    let top = [
        half - 0.1,
        half + 0.1,
        3.0 * half - 0.1,
        3.0 * half + 0.1,
        5.0 * half - 0.1,
        5.0 * half + 0.1,
    ];
    for leg in 0..6 {
        let p = rotate([0.6 * top[leg].cos(), 0.6 * top[leg].sin(), 0.0]);
        let b = [base[leg].cos(), base[leg].sin(), 0.0];
        let away: f64 = (0..3).map(|i| (q[i] + p[i] - b[i]).powi(2)).sum();
        let wave = 0.05 * (3.0 * t).sin();
        let right = 1.2 + [wave, 0.0, -wave, 0.0, 0.0, 0.0][leg];
        assert!((away.sqrt() - right).abs() < 1e-12, "leg {leg}: {} {right}", away.sqrt());
    }
}

/// The same pendulum in units in which all is tiny.
#[test]
fn a_tiny_pendulum_swings_as_a_large_one() {
    let text = |l: &str, m: &str| {
        format!(
            "param l = {l}, g = {l}, m = {m}\ncoord x, y\nkinetic m*(x'^2 + y'^2)/2\n\
             potential m*g*y\nconstraint rod: x^2 + y^2 = l^2\n\
             start x = 0.6*l, y = -0.8*l\nrun t = 0..10\n"
        )
    };
    let large = end(&passes(&text("1", "1")))[0];
    assert!((large + 0.574480619).abs() < 1e-7, "{large}");
    for (l, m) in [("1e-10", "1e-26"), ("1e-30", "1"), ("1e12", "1e-9"), ("1e-10", "1e20")] {
        let size: f64 = l.parse().expect("a number");
        let tiny = end(&passes(&text(l, m)))[0] / size;
        assert!((tiny - large).abs() < 1e-8, "{l} {m}: {tiny} {large}");
    }
}

/// Bricard's mechanism, with what rounding leaves in the zeros of its quaternions: 41 rows of
/// which 34 are independent on the constraints, and more beside them.
#[test]
fn bricard_within_rounding_of_the_identity() {
    let input = dalembert::Input::open("gallery:bricard").expect("a page");
    let model = dalembert::load(&input, &Default::default()).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let start = start::start(&setting).expect("a start");
    let options = RunOptions { end: 0.05, ..RunOptions::of_model(&setting) };
    let go = |start: Start| {
        run_from(&setting, &options, start, &mut |_| ControlFlow::Continue(())).expect("it begins")
    };
    let wanted = go(start.clone());
    assert_eq!(wanted.verdict(), Ok(()));
    for size in [1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12] {
        for seed in 0..3 {
            let mut random = Random::new(seed + 1);
            random.signed();
            let mut beside = start.clone();
            // Some of them, or all.
            for q in beside.state.q[15..].iter_mut().filter(|q| **q == 0.0) {
                if seed == 0 || random.signed() > 0.0 {
                    *q = size * random.signed();
                }
            }
            let found = go(beside);
            assert_eq!(found.verdict(), Ok(()), "{size:e}, draw {seed}: {:?}", found.end);
            assert_eq!(found.certificate.ranks, (34, 34), "{size:e}, draw {seed}");
            let pairs = end(&found).iter().zip(end(&wanted));
            let off = pairs.fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(off <= 10.0 * size + 1e-12, "{size:e}, draw {seed}: off by {off:e}");
        }
    }
}
