//! Friction that goes by the multiplier of a constraint: closed forms, the time at which a
//! motion sticks, and where there is no common solution.

use dalembert::formulations::by_name;
use dalembert::gauss::coupled::CoupledError;
use dalembert::simulate::at_state::Refusal;
use dalembert::simulate::drive::End;
use dalembert::simulate::report::{self, EvalError, Options};
use dalembert::simulate::run::Sliding;
use dalembert::simulate::run::{self, RunError, RunOptions, RunReport};
use dalembert::simulate::{Setting, start};
use dalembert::{Input, Model};
use std::ops::ControlFlow;

fn model(text: &str) -> Model {
    let input = Input::text("friction.dal", text);
    let loaded = dalembert::load(&input, &dalembert::Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("faults\n{shown}"))
}

fn run_by(model: &Model, formulation: &str, method: &str) -> Result<RunReport, RunError> {
    let setting = Setting::new(model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    options.formulation = by_name(formulation).expect("a formulation");
    options.method = method.to_owned();
    run::run(&setting, &options, &mut |_| ControlFlow::Continue(()))
}

fn run(text: &str) -> RunReport {
    let model = model(text);
    run_by(&model, "lagrange", "auto").unwrap_or_else(|e| panic!("{e:?}"))
}

/// What a run sticks at first, as text, and when. It goes on from there.
fn sticks(model: &Model, report: &RunReport) -> (String, f64) {
    assert_eq!(report.end, End::Finished);
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    let sliding = first_sliding(report);
    let switches: Vec<String> =
        sliding.stuck.iter().map(|stuck| model.exprs.to_source(stuck.switch)).collect();
    (switches.join(", "), sliding.state.t)
}

/// Where a run sticks first.
fn first_sliding(report: &RunReport) -> &Sliding {
    let phases = report.phases.as_ref().unwrap_or_else(|| panic!("it does not stick"));
    phases.sliding.first().expect("a switch")
}

fn close(found: f64, exact: f64, within: f64) {
    let off = (found - exact).abs() / exact.abs().max(1.0);
    assert!(off <= within, "{found} is off {exact} by {off:e}");
}

fn incline(mu: f64, v0: f64) -> String {
    format!(
        "param m = 2, g = 9.81, alpha = 0.5, mu = {mu}, v0 = {v0}
         coord x, y
         kinetic m/2*(x'^2 + y'^2)
         potential m*g*(x*sin(alpha) + y*cos(alpha))
         constraint floor: y = 0
         nonideal x: -mu*abs(multiplier(floor))*sign(x')
         start x = 0, x' = v0
         run t = 0..2, tol 1e-12"
    )
}

const G: f64 = 9.81;
const ALPHA: f64 = 0.5;
const FORMULATIONS: [&str; 4] = ["lagrange", "poincare", "hamilton", "maggi"];

#[test]
fn a_block_stops_and_slides_back() {
    for v0 in [3.0, 0.01, -1.5] {
        let model = model(&incline(0.3, v0));
        let (up, down) = (ALPHA.sin() + 0.3 * ALPHA.cos(), ALPHA.sin() - 0.3 * ALPHA.cos());
        for formulation in FORMULATIONS {
            let report = run_by(&model, formulation, "auto").expect("a run");
            assert_eq!(report.end, End::Finished, "{formulation}");
            let state = &report.last.as_ref().expect("a state").state;
            let (x, v) = match v0 > 0.0 {
                true => {
                    let (t1, x1) = (v0 / (G * up), v0 * v0 / (2.0 * G * up));
                    (x1 - G * down * (2.0 - t1).powi(2) / 2.0, -G * down * (2.0 - t1))
                }
                false => (2.0 * v0 - 2.0 * G * down, v0 - 2.0 * G * down),
            };
            close(state.q[0], x, 1e-11);
            close(state.velocity[0], v, 1e-11);
            assert_eq!(report.statistics.switches, u64::from(v0 > 0.0));
        }
    }
}

#[test]
fn a_block_stops_and_sticks() {
    let model = model(&incline(0.7, 3.0));
    let exact = 3.0 / (G * (ALPHA.sin() + 0.7 * ALPHA.cos()));
    for formulation in FORMULATIONS {
        let report = run_by(&model, formulation, "auto").expect("a run");
        let (switch, t) = sticks(&model, &report);
        assert_eq!(switch, "sign(x')", "{formulation}");
        close(t, exact, 1e-11);
        let state = &report.last.as_ref().expect("a state").state;
        close(state.q[0], 1.5 * exact, 1e-11);
        close(state.velocity[0], 0.0, 1e-11);
        assert_eq!(report.statistics.switches, 1, "it does not chatter");
    }
}

/// sign(0) is 0, which would be no friction at all: the side is found by trying both.
#[test]
fn a_block_at_rest() {
    let down = ALPHA.sin() - 0.3 * ALPHA.cos();
    let report = run(&incline(0.3, 0.0));
    assert_eq!(report.end, End::Finished);
    close(report.last.expect("a state").state.q[0], -2.0 * G * down, 1e-11);
    let held = model(&incline(0.7, 0.0));
    let report = run_by(&held, "lagrange", "auto").expect("a run");
    assert_eq!(sticks(&held, &report), ("sign(x')".to_owned(), 0.0));
    close(report.last.expect("a state").state.q[0], 0.0, 1e-13);
}

fn wire(v0: f64, end: f64) -> String {
    format!(
        "param m = 0.3, r = 0.5, g = 9.81, mu = 0.2
         coord x, y
         kinetic m/2*(x'^2 + y'^2)
         potential m*g*y
         constraint wire: x^2 + y^2 = r^2
         let s = (x*y' - y*x')/r
         nonideal -mu*2*r*abs(multiplier(wire))*sign(s) along s
         start x = 0, y = -r, x' = {v0}
         run t = 0..{end}, tol 1e-13"
    )
}

/// The same with the normal force written out.
fn wire_by_angle(v0: f64, end: f64) -> String {
    format!(
        "param m = 0.3, r = 0.5, g = 9.81, mu = 0.2
         coord th
         kinetic m/2*r^2*th'^2
         potential -m*g*r*cos(th)
         force th: -mu*r*m*abs(r*th'^2 + g*cos(th))*sign(th')
         start th = 0, th' = {v0}/r
         run t = 0..{end}, tol 1e-13"
    )
}

#[test]
fn a_bead_comes_to_rest_on_a_rough_wire() {
    // v² = a cos θ + b sin θ + c e^(−2μθ) until it stops for the first time.
    let (mu, r, v0) = (0.2f64, 0.5f64, 2.0f64);
    let k = 1.0 + 4.0 * mu * mu;
    let (a, b) = (2.0 * G * r * (1.0 - 2.0 * mu * mu) / k, -6.0 * mu * G * r / k);
    let w = |th: f64| a * th.cos() + b * th.sin() + (v0 * v0 - a) * (-2.0 * mu * th).exp();
    let (mut low, mut high) = (0.0, 1.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if w(middle) > 0.0 { low = middle } else { high = middle }
    }
    let mut highest = 0f64;
    let held = model(&wire(v0, 10.0));
    let setting = Setting::new(&held).expect("values");
    let mut options = RunOptions::of_model(&setting);
    options.every = Some(0.001);
    let report = run::run(&setting, &options, &mut |o| {
        highest = highest.max(o.state.q[0].atan2(-o.state.q[1]));
        ControlFlow::Continue(())
    })
    .expect("a run");
    assert!(highest <= low + 1e-12 && highest > low - 1e-4, "{highest} {low}");
    let (_, t) = sticks(&held, &report);
    // The whole motion and the time of rest, against the other model.
    let angle = model(&wire_by_angle(v0, 10.0));
    let other = run_by(&angle, "lagrange", "auto").expect("a run");
    let (switch, exact) = sticks(&angle, &other);
    assert_eq!(switch, "sign(th')");
    close(t, exact, 1e-11);
    let (q, th) = (&report.last.as_ref().expect("a state").state.q, other.last.expect("a state"));
    close(q[0].atan2(-q[1]), th.state.q[0], 1e-11);
    assert!(th.state.q[0].tan().abs() < mu, "friction holds it there");
}

/// Over the top the wire presses the other way: abs(multiplier) turns on the run.
#[test]
fn the_normal_force_changes_its_side() {
    for (v0, end) in [(4.9, 0.6), (7.0, 2.0)] {
        let angle = model(&wire_by_angle(v0, end));
        let exact = run_by(&angle, "lagrange", "auto").expect("a run");
        let exact_state = exact.last.as_ref().expect("a state").state.clone();
        let pressed = model(&wire(v0, end));
        for formulation in FORMULATIONS {
            let report = run_by(&pressed, formulation, "auto").expect("a run");
            assert_eq!(report.end, exact.end, "{formulation} {v0}");
            assert_eq!(report.statistics.switches, exact.statistics.switches);
            assert!(report.statistics.switches > 0, "nothing turned at {v0}");
            let state = &report.last.as_ref().expect("a state").state;
            close(state.q[0], 0.5 * exact_state.q[0].sin(), 1e-10);
            close(state.q[1], -0.5 * exact_state.q[0].cos(), 1e-10);
        }
    }
}

/// A rod that slides on one end, towards x if v > 0. At this angle Painlevé's paradox
/// begins at μ = (1 + 3 cos²θ)/(3 sin θ cos θ) = 1.571.
fn rod(mu: f64, v: f64, normal: &str) -> String {
    format!(
        "param m = 1, l = 1, g = 9.81, mu = {mu}
         coord x, y, th
         kinetic m/2*(x'^2 + y'^2) + m*l^2/6*th'^2
         potential m*g*y
         constraint floor: y = l*sin(th)
         let slip = x' + l*sin(th)*th', N = multiplier(floor)
         nonideal -mu*{normal}*sign(slip) along slip
         start x = 0, x' = {v}, th = 1.3, th' = 0
         run t = 0..1"
    )
}

fn refusal(text: &str) -> CoupledError {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let state = start::start(&setting).expect("a start").state;
    match report::at(&setting, &state, &Options::of_model(&model)) {
        Err(EvalError::Refused(refusal @ Refusal::Coupled { error, .. })) => {
            assert!(!refusal.to_string().is_empty());
            error
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it has an answer"),
    }
}

#[test]
fn painleve() {
    let c = 1.3f64.cos();
    let s = 1.3f64.sin();
    for mu in [0.3, 1.0, 1.5] {
        // N (1 + 3 c² ± 3 μ s c) = m g at rest in th.
        for v in [1.0, -1.0] {
            let model = model(&rod(mu, v, "abs(N)"));
            let setting = Setting::new(&model).expect("values");
            let state = start::start(&setting).expect("a start").state;
            let mut options = Options::of_model(&model);
            options.formulations = dalembert::formulations::ALL.to_vec();
            options.eliminations = dalembert::simulate::ALL.to_vec();
            let found = report::at(&setting, &state, &options).expect("numbers");
            assert!(found.agreement.expect("several") < 1e-12);
            let answers: Vec<_> =
                found.answers.iter().filter_map(|a| a.result.as_ref().ok()).collect();
            assert!(answers.len() >= 16, "lagrange, poincare, hamilton, maggi, each four ways");
            for answer in answers {
                let normal = G / (1.0 + 3.0 * c * c + 3.0 * v * mu * s * c);
                close(answer.outcome.multipliers[0], normal, 1e-12);
                assert!(answer.gauss.residual < 1e-13);
                assert!(answer.outcome.coupling.is_some_and(|r| r < 1e-13));
            }
        }
    }
    assert_eq!(refusal(&rod(1.6, -1.0, "abs(N)")), CoupledError::NoSolution);
    assert_eq!(refusal(&rod(1.6, 1.0, "abs(N)")), CoupledError::Several);
    let CoupledError::Paradox { determinant } = refusal(&rod(1.6, -1.0, "N")) else {
        panic!("the solution is not the one friction leads to")
    };
    let exact = 1.0 - 3.0 * 1.6 * s * c / (1.0 + 3.0 * c * c);
    close(determinant, exact, 1e-12);
    // A contact that presses and never pulls has one solution for this direction.
    let report = run(&rod(1.6, 1.0, "max(N, 0)"));
    first_sliding(&report);
}

/// Towards the paradox the normal force grows without bound, and with it the friction: it
/// throws the falling rod back before it gets there (Génot & Brogliato 1999).
#[test]
fn a_rod_is_thrown_back_before_the_paradox() {
    let text = rod(1.45, -10.0, "abs(N)").replace("th' = 0", "th' = -2");
    let falling = model(&text);
    let setting = Setting::new(&falling).expect("values");
    let mut lowest = f64::INFINITY;
    let report = run::run(&setting, &RunOptions::of_model(&setting), &mut |o| {
        lowest = lowest.min(o.state.q[2]);
        ControlFlow::Continue(())
    })
    .expect("a run");
    let there = first_sliding(&report).state.q[2];
    let critical = (1.0 + 3.0 * lowest.cos().powi(2)) / (3.0 * lowest.sin() * lowest.cos());
    assert!(lowest < 1.3 && critical > 1.45, "{lowest} {critical}");
    assert!(there > lowest + 0.1);
}

#[test]
fn a_force_by_a_multiplier_that_is_not_unique() {
    let twice = |friction: &str| {
        format!(
            "param mu = 0.2
             coord x, y
             kinetic (x'^2 + y'^2)/2
             potential 9.81*y
             constraint floor: y = 0
             constraint again: 2*y = 0
             nonideal x: -mu*{friction}*sign(x')
             start x = 0, x' = 1
             run t = 0..1, tol 1e-12"
        )
    };
    let bad = model(&twice("abs(multiplier(floor))"));
    let setting = Setting::new(&bad).expect("values");
    let state = start::start(&setting).expect("a start").state;
    let Err(EvalError::Refused(refused)) = report::at(&setting, &state, &Options::of_model(&bad))
    else {
        panic!("it has an answer")
    };
    assert!(refused.to_string().contains("`multiplier(floor)`, which is not unique"), "{refused}");
    // What is unique of the two may be used.
    let good = model(&twice("abs(multiplier(floor) + 2*multiplier(again))"));
    let report = run_by(&good, "lagrange", "auto").expect("a run");
    close(sticks(&good, &report).1, 1.0 / (0.2 * G), 1e-11);
}

/// Two blocks and a spring: one of them comes to rest first, while the other still slides.
#[test]
fn one_of_two_contacts_sticks() {
    let two = model(
        "coord x1, y1, x2, y2
         kinetic (x1'^2 + y1'^2)/2 + (x2'^2 + y2'^2)
         potential 9.81*(y1 + 2*y2) + 0.5*(x2 - x1 - 1)^2
         constraint f1: y1 = 0
         constraint f2: y2 = 0
         nonideal x1: -0.4*abs(multiplier(f1))*sign(x1')
         nonideal x2: -0.1*abs(multiplier(f2))*sign(x2')
         start x1 = 0, x2 = 1, x1' = 1, x2' = 3
         run t = 0..10, tol 1e-11",
    );
    let report = run_by(&two, "lagrange", "auto").expect("a run");
    let (switch, t) = sticks(&two, &report);
    assert_eq!(switch, "sign(x1')");
    assert!(t > 0.1 && t < 0.5, "{t}");
    assert!(first_sliding(&report).state.velocity[2] > 1.0);
    // The other one does too, in the end.
    let last = report.last.as_ref().expect("a state");
    assert!(last.state.velocity.iter().all(|v| v.abs() < 1e-9), "{:?}", last.state);
}

/// A switch that is no friction at all: the motion slides along x + x' = 0.
#[test]
fn a_controller_that_would_chatter() {
    let controlled = model(
        "coord x
         kinetic x'^2/2
         force x: -3*sign(x + x')
         start x = 1, x' = 0
         run t = 0..10",
    );
    let report = run_by(&controlled, "lagrange", "auto").expect("a run");
    let (switch, t) = sticks(&controlled, &report);
    assert_eq!(switch, "sign(x' + x)");
    // x = 1 − 3t²/2, x' = −3t
    close(t, (-3.0 + 15f64.sqrt()) / 3.0, 1e-9);
    assert_eq!(report.statistics.switches, 1);
    // It slides along x' = −x from there on.
    let (x, last) = (1.0 - 1.5 * t * t, report.last.as_ref().expect("a state"));
    close(last.state.q[0], x * (t - 10.0).exp(), 1e-9);
}

/// What is on a switch and does not leave it is no friction: it goes on.
#[test]
fn a_switch_that_nothing_moves() {
    let report = run("coord x, y
         kinetic (x'^2 + y'^2)/2
         force x: -0.1*abs(x')*x'
         force y: -0.1*abs(y')*y'
         start x = 0, x' = 1, y = 0, y' = 0
         run t = 0..3");
    assert_eq!(report.end, End::Finished);
}
