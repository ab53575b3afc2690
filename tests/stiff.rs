//! Stiff motions with known answers, the choice of an integrator for them, and what an
//! integrator is refused for.

// Others use more of it.
#[allow(dead_code)]
#[path = "support/motions.rs"]
mod motions;

use dalembert::simulate::drive::{End, Stabilize};
use dalembert::simulate::run::{RunError, RunReport};
use motions::{BLADE, DRIVEN, KEPLER, MOVING, Plan, REDUNDANT, SPHERICAL, apart};

/// A mass on a hard, strongly damped spring whose other end moves: x = cos t exactly, and
/// a neighbour `y` that swings slowly.
const SPRING: &str = "
coord y, x
kinetic x'^2/2 + y'^2/2
potential y^2/2
force x: -1e6*(x - cos(t)) - 1e5*(x' + sin(t)) - cos(t)
start x = 1, x' = 0, y = 1, y' = 0
run t = 0..10
";

/// The same mass on a rod: both coordinates and a constraint, x² + z² = 4.
const ON_A_ROD: &str = "
coord x, z
kinetic x'^2/2 + z'^2/2
force x: -1e6*(x - cos(t)) - 1e5*(x' + sin(t))
constraint rod: x^2 + z^2 = 4
start x = 1, z ~ 1.7, x' = 0
run t = 0..3
";

/// Van der Pol's oscillator as a mass ε with a friction that drives it: Hairer & Wanner
/// II, IV.10, ε = 1e-6.
const VAN_DER_POL: &str = "
param eps = 1e-6
coord x
kinetic eps*x'^2/2
potential x^2/2
force x: (1 - x^2)*x'
start x = 2, x' = -0.66
run t = 0..2
";

fn finished(plan: &Plan) -> (Vec<dalembert::simulate::State>, RunReport) {
    let (states, report) = plan.run().unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(report.end, End::Finished, "{} by {}", plan.text, plan.method);
    (states, report)
}

#[test]
fn a_hard_spring_does_not_hold_radau_back() {
    for formulation in ["lagrange", "hamilton", "maggi"] {
        let mut plan = Plan::new(SPRING, formulation, "radau", 10.0);
        plan.tolerance = 1e-8;
        let (states, report) = finished(&plan);
        let (x, y) = (states[0].q[1], states[0].q[0]);
        assert!((x - 10f64.cos()).abs() < 1e-7, "{formulation}: {x}");
        assert!((y - 10f64.cos()).abs() < 1e-6, "{formulation}: {y}");
        assert!(report.statistics.steps < 2000, "{}", report.statistics.steps);
        assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    }
}

#[test]
fn auto_hands_a_stiff_motion_to_radau_and_says_why() {
    let mut plan = Plan::new(SPRING, "lagrange", "auto", 10.0);
    plan.tolerance = 1e-8;
    let (states, report) = finished(&plan);
    assert!((states[0].q[1] - 10f64.cos()).abs() < 1e-7);
    assert_eq!(report.method, "radau");
    let change = report.choice.changes.first().expect("a change");
    assert_eq!((change.from, change.to), ("taylor", "radau"));
    assert!(change.t > 0.0 && change.t < 1.0, "{}", change.t);
    assert!(change.reason.starts_with("stiff: h|λ| ≈ "), "{}", change.reason);
    assert!(change.reason.ends_with("mostly in `x`"), "{}", change.reason);
    for method in ["dop853", "taylor"] {
        let whole = finished(&Plan { method, ..plan.clone() }).1;
        assert_eq!((whole.method, whole.choice.changes.len()), (method, 0));
        assert_eq!(whole.choice.notes.len(), 1);
        assert!(whole.choice.notes[0].contains("stiff"), "{:?}", whole.choice.notes);
        assert!(whole.statistics.steps > 20 * report.statistics.steps);
    }
}

#[test]
fn auto_keeps_what_is_not_stiff() {
    for (text, formulation) in [
        (DRIVEN, "lagrange"),
        (KEPLER, "hamilton"),
        (SPHERICAL, "lagrange"),
        (REDUNDANT, "lagrange"),
        (BLADE, "bracket"),
    ] {
        for tolerance in [1e-4, 1e-7, 1e-11] {
            let plan = Plan { tolerance, ..Plan::new(text, formulation, "auto", 10.0) };
            let report = finished(&plan).1;
            let why = (report.choice.reason, report.choice.changes);
            assert!(why.1.is_empty(), "{tolerance} {why:?}");
            assert!(["dop853", "taylor"].contains(&report.method), "{tolerance} {why:?}");
        }
    }
}

#[test]
fn a_hard_spring_on_a_constraint() {
    let mut plan = Plan::new(ON_A_ROD, "lagrange", "radau", 3.0);
    plan.tolerance = 1e-10;
    let (exact, _) = finished(&plan);
    // The spring makes x follow cos t, up to its lag; the rod gives z.
    let lag = (exact[0].q[0] - 3f64.cos()).abs();
    assert!(lag < 1e-2, "{lag}");
    for (formulation, method) in
        [("lagrange", "auto"), ("hamilton", "radau"), ("maggi", "radau"), ("lagrange", "dop853")]
    {
        let plan = Plan { formulation, method, tolerance: 1e-7, ..plan.clone() };
        let (states, report) = finished(&plan);
        let off = apart(&states[0], &exact[0]);
        assert!(off < 1e-5, "{formulation} {method}: {off}");
        assert!(report.certificate.position_residual < 1e-12);
        assert_eq!(report.method == "radau", method != "dop853");
        assert_eq!(report.statistics.steps > 5_000, method == "dop853");
    }
}

#[test]
fn van_der_pol() {
    let mut plan = Plan::new(VAN_DER_POL, "lagrange", "radau", 2.0);
    plan.tolerance = 1e-9;
    plan.times = vec![1.0];
    let (states, report) = finished(&plan);
    let expected =
        [(-1.86364625480813, 0.753543086543546), (1.706167732170456, -0.8928097010248257)];
    for (state, (x, v)) in states.iter().zip(expected) {
        assert!((state.q[0] - x).abs() < 1e-6, "{} {x}", state.q[0]);
        assert!((state.velocity[0] - v).abs() < 1e-6, "{} {v}", state.velocity[0]);
    }
    assert!(report.statistics.steps < 5000, "{}", report.statistics.steps);
}

/// What is said where an integrator does not suit.
fn refusal(text: &str, formulation: &str, method: &str, stabilize: Stabilize) -> String {
    let plan = Plan { stabilize, ..Plan::new(text, formulation, method, 1.0) };
    match plan.run() {
        Err(RunError::Unsuited(unsuited)) => unsuited.words(&plan.model().system),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{method} was taken for {text}"),
    }
}

#[test]
fn integrators_are_refused_in_words() {
    let held = Stabilize::Projection;
    let damped = format!("{SPHERICAL}\ndissipation x'^2");
    let friction = format!("{SPHERICAL}\nnonideal y: -y'");
    let affine = BLADE.replace("z' - y*x' = 0", "z' - y*x' = 0.1").replace("z' = 0.5", "z' ~ 0.5");
    let timed = BLADE.replace("z' - y*x' = 0", "z' - y*x' - sin(t)*x' = 0");
    let relativistic =
        "coord x\nhamiltonian sqrt(1 + p_x^2) + x^2/2\nstart x = 1, p_x = 0\nrun t = 0..1";
    for (text, formulation, method, stabilize, words) in [
        (SPHERICAL, "lagrange", "rattle", held, "needs the formulation `hamilton`"),
        (BLADE, "hamilton", "rattle", held, "constraint `blade` is velocity-level"),
        (&damped, "hamilton", "rattle", held, "dissipation"),
        (&friction, "hamilton", "rattle", held, "a non-ideal part on `y`"),
        (DRIVEN, "hamilton", "rattle", held, "a force on `y`"),
        (SPHERICAL, "hamilton", "rattle", Stabilize::Baumgarte, "takes no stabilization"),
        (SPHERICAL, "lagrange", "radau", Stabilize::Baumgarte, "no stabilization by `baumgarte`"),
        (BLADE, "lagrange", "discrete-gradient", held, "needs the formulation `bracket`"),
        (SPHERICAL, "bracket", "discrete-gradient", held, "constraint `rod` restricts positions"),
        (DRIVEN, "bracket", "discrete-gradient", held, "a force on `y`"),
        (&affine, "bracket", "discrete-gradient", held, "constraint `blade` is not linear"),
        (&timed, "bracket", "discrete-gradient", held, "constraint `blade` depends on time"),
        (relativistic, "bracket", "discrete-gradient", held, "J_r"),
        (MOVING, "bracket", "discrete-gradient", held, "constraint `rod` restricts positions"),
    ] {
        let said = refusal(text, formulation, method, stabilize);
        assert!(said.contains(words), "{method}: {said}");
        assert!(said.contains(method), "{said}");
    }
    let unknown = Plan::new(KEPLER, "lagrange", "euler", 1.0).run();
    assert!(matches!(unknown, Err(RunError::Method(name)) if name == "euler"));
}

/// A step that is far too long ends in words, not in numbers.
#[test]
fn a_step_that_is_too_long_is_no_answer() {
    for (text, formulation, method) in [
        (SPHERICAL, "hamilton", "rattle"),
        (SPRING, "lagrange", "gauss6"),
        (BLADE, "bracket", "discrete-gradient"),
        (SPHERICAL, "lagrange", "radau"),
    ] {
        let plan = Plan { step: Some(20.0), ..Plan::new(text, formulation, method, 100.0) };
        let (states, report) = plan.run().unwrap_or_else(|error| panic!("{error:?}"));
        if report.end == End::Finished {
            assert!(report.verdict().is_err(), "{method}: a pass");
            continue;
        }
        assert!(states.iter().all(|s| s.q.iter().all(|x| x.is_finite())));
        assert!(matches!(&report.end, End::Failed(_)), "{method}: {:?}", report.end);
    }
}

/// A pendulum on a spring so hard that it is a rod, and damped: the stiff direction turns
/// with it, and the simplified Newton method would hold the steps at a thousandth.
#[test]
fn a_hard_spring_that_swings_does_not_either() {
    let text = "
        param k = 1e10, c = 1e5
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y + k/2*(sqrt(x^2 + y^2) - 1)^2
        let s = sqrt(x^2 + y^2)
        force -c*s' along s'
        start x = 1, y = 0
        run t = 0..10";
    let rod = "
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y
        constraint rod: x^2 + y^2 = 1
        start x = 1, y = 0
        run t = 0..10";
    let mut plan = Plan::new(text, "lagrange", "radau", 10.0);
    plan.tolerance = 1e-7;
    let (states, report) = finished(&plan);
    let (exact, _) = finished(&Plan::new(rod, "lagrange", "dop853", 10.0));
    for (found, exact) in states[0].q.iter().zip(&exact[0].q) {
        assert!((found - exact).abs() < 2e-5, "{found} {exact}");
    }
    let statistics = &report.statistics;
    assert!(statistics.steps + statistics.rejected < 8000, "{statistics:?}");
}

/// Friction with the normal force is part of the equations that Radau solves.
#[test]
fn forces_that_depend_on_multipliers_are_solved_with_them() {
    let text = "
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y + 5*x^2
        constraint floor: y = 0.1*sin(x)
        force x: -0.3*multiplier(floor)*sign(x' - 1)
        start x = 0, x' = 0
        run t = 0..3";
    let (expected, _) = finished(&Plan::new(text, "lagrange", "dop853", 3.0));
    for method in ["radau", "gauss6"] {
        let (states, report) = finished(&Plan::new(text, "lagrange", method, 3.0));
        let off = (states[0].q[0] - expected[0].q[0]).abs();
        assert!(off < 1e-6, "{method}: off by {off:e}");
        assert!(report.verdict().is_ok(), "{method}: {:?}", report.verdict());
    }
}

/// H_r is conserved for models given by H as for those given by energies.
#[test]
fn the_discrete_gradient_takes_models_given_by_h() {
    let text = "
        coord x, y, z
        hamiltonian (p_x^2 + p_y^2 + p_z^2)/2 + x^2 + y^2/2 + z^2
        constraint c: z' = y*x'
        start x = 1, y = 0.3, z = 0.2, p_x = 0.5, p_y = 0.2
        run t = 0..5";
    let mut plan = Plan::new(text, "bracket", "discrete-gradient", 5.0);
    plan.step = Some(0.005);
    let (states, report) = finished(&plan);
    assert!(report.certificate.invariants[0].1 < 1e-13, "{:?}", report.certificate);
    let (exact, _) = finished(&Plan::new(text, "hamilton", "dop853", 5.0));
    for (found, exact) in states[0].q.iter().zip(&exact[0].q) {
        assert!((found - exact).abs() < 1e-3, "{found} {exact}");
    }
}
