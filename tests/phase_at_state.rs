//! One state where contacts and friction have phases: numbers, linear equations, analyses and compiled
//! equations are those of the phase that the state is in, against closed forms.

mod support;

use dalembert::analyze::linearize::{
    LinearizeError, floquet, linearize, linearize_along, linearize_here,
};
use dalembert::analyze::{Request, Watch, analyze};
use dalembert::export::{AnalysisPage, EvaluationPage, LinearizationPage};
use dalembert::model::system::{Phase, Touched};
use dalembert::prelude::*;
use dalembert::simulate::Setting;
use dalembert::simulate::phases::{EdgeOf, Fault};
use dalembert::simulate::report::{EvalError, Options, report};
use dalembert::{ErrorKind, Options as Read};
use serde_json::{Value, json};
use support::motion::model;

/// A wheel on the floor with a spring at its hub: it rolls where it sticks.
const WHEEL: &str = "param m = 2, r = 0.5, J = 0.3, k = 7, mu = 0.4, g = 9.81
    gravity [0, -g]
    body w: mass m, inertia J, free
    contact floor: ground normal [0, 1], w radius r, friction mu
    contact wall: 3 >= w.r[1] + r
    spring k at w.r[1]
    start w.r = [0.1, r]
    observe floor.mode, multiplier(floor), wall.mode, floor.force
    run t = 0..3\n";

fn at(text: &str, state: &str) -> Model {
    let input = dalembert::Input::text("model", text);
    let options = Read { at: Some(state.to_owned()), ..Read::default() };
    dalembert::load(&input, &options).model.expect("a model")
}

fn evaluated(model: &Model) -> Value {
    let found = report(model, &Options::of_model(model)).expect("numbers");
    EvaluationPage { model, report: &found }.to_json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn close(found: f64, exact: f64) {
    assert!((found - exact).abs() <= 1e-12 * exact.abs().max(1.0), "{found} {exact}");
}

fn setting(model: &Model) -> Setting {
    Setting::new(model).expect("values")
}

/// By every formulation and elimination that applies, it rolls: (m + J/r²) x'' = −k x.
#[test]
fn a_wheel_that_sticks_is_evaluated_as_one_that_rolls() {
    let model = model(WHEEL);
    let mut options = Options::of_model(&model);
    options.formulations = dalembert::formulations::ALL.to_vec();
    options.eliminations = dalembert::simulate::ALL.to_vec();
    let found = report(&model, &options).expect("numbers");
    let page = EvaluationPage { model: &model, report: &found };
    let value = page.to_json();
    assert_eq!(value["phase"], json!({"floor": "sticks", "wall": "open"}));
    assert!(page.to_text().contains("phase: floor sticks, wall open"), "{}", page.to_text());
    assert!(number(&value["agreement"]) < 1e-12);
    let exact = -7.0 * 0.1 / (2.0 + 0.3 / 0.25);
    let results = value["results"].as_array().expect("results");
    let fine: Vec<&Value> = results.iter().filter(|r| r["status"] == "ok").collect();
    assert!(fine.len() >= 12, "{}", fine.len());
    for result in fine {
        close(number(&result["accelerations"]["w.r[1]"]), exact);
    }
    let seen = &value["observables"];
    assert_eq!((&seen["floor.mode"], &seen["wall.mode"]), (&json!(2.0), &json!(0.0)));
    close(number(&seen["multiplier(floor)"]), 2.0 * 9.81);
    close(number(&seen["floor.force[1]"]), 2.0 * exact + 0.7);
}

/// With a slip it slides, whatever the spring.
#[test]
fn a_state_asked_for_has_its_own_phase() {
    let model = at(WHEEL, "w.r[2]=0.5, w.r[1]'=1");
    let value = evaluated(&model);
    assert_eq!(value["phase"]["floor"], "slips");
    assert_eq!(value["observables"]["floor.mode"], json!(1.0));
    close(number(&value["results"][0]["accelerations"]["w.r[1]"]), -0.4 * 9.81);
    // The spring draws it from the wall, or presses it there.
    for (k, word) in [("7", "open"), ("-7", "closed")] {
        let text = WHEEL.replace("k = 7", &format!("k = {k}"));
        let model = at(&text, "w.r[2]=0.7, w.r[1]=2.5");
        assert_eq!(evaluated(&model)["phase"], json!({"floor": "open", "wall": word}));
    }
    let below = at(WHEEL, "w.r[2]=0.4");
    match report(&below, &Options::of_model(&below)) {
        Err(EvalError::Phase { fault, .. }) => {
            assert!(matches!(*fault, Fault::Penetrates { contact: 0, .. }), "{fault:?}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// At an impact the state is the one after it, and it is said so.
#[test]
fn a_struck_state_is_the_one_after_the_impact() {
    let model = at(WHEEL, "w.r[2]=0.5, w.r[2]'=-3");
    let value = evaluated(&model);
    close(number(&value["state"]["w.r[2]'"]), 0.0);
    close(number(&value["impact"]["impulses"]["floor"]), 6.0);
    close(number(&value["impact"]["energy"]), -9.0);
}

/// A slip of two components that begins has the direction of the force, at the state itself.
#[test]
fn a_slip_in_space_begins_into_the_direction_of_the_force() {
    let model = model(
        "param mu = 0.3, g = 9.81
         coord x, y
         kinetic (x'^2 + y'^2)
         friction floor: mu*2*g along [x', y']
         force x: 6
         force y: 8
         observe floor.force, floor.mode",
    );
    let value = evaluated(&model);
    assert_eq!(value["phase"], json!({"floor": "slips"}));
    assert_eq!(value["state"]["x'"], json!(0.0));
    let left = 10.0 - 0.3 * 2.0 * 9.81;
    close(number(&value["results"][0]["accelerations"]["x"]), 0.6 * left / 2.0);
    close(number(&value["results"][0]["accelerations"]["y"]), 0.8 * left / 2.0);
    close(number(&value["observables"]["floor.force[2]"]), -0.8 * 0.3 * 2.0 * 9.81);
}

/// Rows that hold what sticks are held in the linear equations: ω² = k/(m + J/r²).
#[test]
fn a_wheel_that_sticks_swings_as_one_that_rolls() {
    let model = model(WHEEL);
    let found = linearize(&setting(&model)).expect("it swings");
    let omega = (7.0f64 / (2.0 + 0.3 / 0.25)).sqrt();
    close(found.spectrum.modes[0].value[1], omega);
    let value = LinearizationPage { model: &model, found: &found }.to_json();
    assert_eq!(value["phase"], json!({"floor": "sticks", "wall": "open"}));
    assert_eq!(value["multipliers"]["floor"], json!(2.0 * 9.81));
    let here = linearize_here(&setting(&model), &Watch::nobody()).expect("a state");
    assert!(
        here.eigenvalues.iter().any(|e| (e[1] - omega).abs() < 1e-12),
        "{:?}",
        here.eigenvalues
    );
}

/// Along a run each state has the linear equations of its phase: while it slides the spring alone.
#[test]
fn along_a_run_phases_change_and_the_linear_equations_with_them() {
    let text = WHEEL.replace("w.r = [0.1, r]", "w.r = [0.1, r], w.r[1]' = 3");
    let model = model(&text);
    let points = linearize_along(&setting(&model), &[0.05, 2.5], &Watch::nobody()).expect("two");
    let modes: Vec<Vec<(&str, &str)>> =
        points.iter().map(|p| p.phase.as_ref().expect("phases").words()).collect();
    assert_eq!(modes[0][0], ("floor", "slips"));
    assert_eq!(modes[1][0], ("floor", "sticks"));
    let has =
        |at: usize, omega: f64| points[at].eigenvalues.iter().any(|e| (e[1] - omega).abs() < 1e-9);
    assert!(has(0, (7.0f64 / 2.0).sqrt()), "{:?}", points[0].eigenvalues);
    assert!(has(1, (7.0f64 / 3.2).sqrt()), "{:?}", points[1].eigenvalues);
}

fn edges(text: &str) -> Vec<(Touched, EdgeOf, bool)> {
    let model = model(text);
    match linearize(&setting(&model)) {
        Err(LinearizeError::Edge { edges, .. }) => {
            edges.iter().map(|e| (e.of, e.what, e.is_beyond)).collect()
        }
        Err(other) => panic!("{other:?}"),
        Ok(found) => panic!("{:?}", found.phase),
    }
}

/// On the edge of a phase there are no linear equations, and none beyond it.
#[test]
fn edges_of_a_phase_are_refused() {
    let pulled = |force: &str| {
        format!(
            "param mu = 0.3, g = 9.81
             coord x
             kinetic x'^2/2
             friction rub: mu*g along x'
             force x: {force}"
        )
    };
    let rub = Touched::Friction(0);
    assert!(linearize(&setting(&model(&pulled("0.999*mu*g")))).is_ok());
    assert_eq!(edges(&pulled("mu*g")), [(rub, EdgeOf::Bound, false)]);
    // N = g (1/2 − x) is 0 at x = 1/2, and below at the equilibrium x = 1.
    let lifted = |at: f64| {
        format!(
            "param g = 9.81
             coord x, y
             kinetic (x'^2 + y'^2)/2
             potential (x - {at})^2/2 + g*y*(0.5 - x)
             contact floor: y >= 0"
        )
    };
    let floor = Touched::Contact(0);
    assert!(linearize(&setting(&model(&lifted(0.25)))).is_ok());
    assert_eq!(edges(&lifted(0.5)), [(floor, EdgeOf::Load, false)]);
    assert_eq!(edges(&lifted(1.0)), [(floor, EdgeOf::Load, true)]);
    // An open contact that is touched at the equilibrium, or passed.
    let beside = |wall: f64| {
        format!(
            "coord x
             kinetic x'^2/2
             potential (x - 1)^2/2
             contact wall: {wall} >= x
             start x = 0.2"
        )
    };
    let wall = Touched::Contact(0);
    assert!(linearize(&setting(&model(&beside(1.1)))).is_ok());
    assert_eq!(edges(&beside(1.0)), [(wall, EdgeOf::Gap, false)]);
    assert_eq!(edges(&beside(0.9)), [(wall, EdgeOf::Gap, true)]);
}

/// A steady slide on a belt has linear equations, since the force is the same nearby.
#[test]
fn a_steady_slide_is_linear() {
    let model = model(
        "param F = 2, k = 8, m = 0.5
         coord x
         kinetic m*x'^2/2
         potential k*x^2/2
         friction rub: F along x' - 1
         start x = F/k",
    );
    let found = linearize(&setting(&model)).expect("steady");
    assert_eq!(found.phase.as_ref().expect("phases").words(), [("rub", "slips")]);
    close(found.state.q[0], 0.25);
    close(found.spectrum.modes[0].value[1], 4.0);
}

/// Deviations over a period are followed in one phase, and not across phases.
#[test]
fn floquet_multipliers_stay_in_a_phase() {
    let swings = "coord x
         kinetic x'^2/2
         potential x^2/2
         contact wall: W >= x
         param W = 2
         start x = 1";
    let period = std::f64::consts::TAU;
    let found = floquet(&setting(&model(swings)), period, &Watch::nobody()).expect("periodic");
    for m in &found.multipliers {
        assert!((m[0].hypot(m[1]) - 1.0).abs() < 1e-6, "{m:?}");
    }
    let bounces = swings
        .replace("W = 2", "W = 0.5")
        .replace("x = 1", "x = -1")
        .replace("W >= x", "W >= x, restitution 1");
    match floquet(&setting(&model(&bounces)), period, &Watch::nobody()) {
        Err(LinearizeError::Phases { t }) => close(t, std::f64::consts::TAU / 3.0),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// What is true of the phase of the start.
#[test]
fn an_analysis_counts_what_is_held() {
    let model = model(WHEEL);
    let found = analyze(&model, &Request::default()).expect("an analysis");
    assert_eq!(found.freedom.degrees_of_freedom(), 1);
    assert_eq!(found.freedom.constraints, 2);
    let value = AnalysisPage { model: &model, analysis: &found }.to_json();
    assert_eq!(value["phase"]["floor"], "sticks");
    assert_eq!(value["kinds"]["floor"][0], "holonomic");
}

/// Two feet that stick: the loads are known, how they share the force along the floor is not.
#[test]
fn loads_that_are_many_are_told() {
    let model = model(
        "gravity [0, -9.81]
         body b: mass 1, inertia 1, free
         contact left: ground normal [0, 1], b at [-1, -1], friction 0.5
         contact right: ground normal [0, 1], b at [1, -1], friction 0.5
         force 1 along b.velocity[1]
         start b.r = [0, 1]
         observe multiplier(left), left.force",
    );
    let value = evaluated(&model);
    assert_eq!(value["phase"], json!({"left": "sticks", "right": "sticks"}));
    assert_eq!(value["results"][0]["indeterminate"], json!(["left.slip", "right.slip"]));
    assert_eq!(value["results"][0]["motion"], "unique");
    close(number(&value["observables"]["multiplier(left)"]), 0.5 * 9.81 - 0.5);
    assert_eq!(value["observables"]["left.force[1]"], Value::Null);
}

/// Compiled equations take each state in its phase, also with other parameters.
#[test]
fn compiled_equations_follow_the_phase() {
    let system = model(WHEEL).compile().expect("compiled");
    assert!(system.has_phases());
    let mut work = system.work();
    let rolls = |k: f64| -k * 0.1 / (2.0 + 0.3 / 0.25);
    for k in [7.0, 3.0] {
        work.set("k", k).expect("a parameter");
        let a = work.accelerations(0.0, &[0.1, 0.5, 0.0], &[0.0; 3]).expect("it rolls")[0];
        close(a, rolls(k));
        let a = work.accelerations(0.0, &[0.1, 0.5, 0.0], &[1.0, 0.0, 0.0]).expect("slides")[0];
        close(a, -k * 0.1 / 2.0 - 0.4 * 9.81);
        let a = work.accelerations(0.0, &[0.1, 0.9, 0.0], &[0.0; 3]).expect("it falls");
        close(a[0], -k * 0.1 / 2.0);
        close(a[1], -9.81);
    }
    work.set("mu", 0.0).expect("a parameter");
    let a = work.accelerations(0.0, &[0.1, 0.5, 0.0], &[0.0; 3]).expect("it slides")[0];
    close(a, -3.0 * 0.1 / 2.0);
    work.set("mu", 0.4).expect("a parameter");
    let words = work.phase(0.0, &[0.1, 0.5, 0.0], &[0.0; 3]).expect("a phase");
    assert_eq!(words, [("floor".to_owned(), "sticks"), ("wall".to_owned(), "open")]);
    assert_eq!(work.terms(0.0, &[0.1, 0.5, 0.0], &[0.0; 3]).expect("terms").bias.len(), 2);
    let struck = work.accelerations(0.0, &[0.1, 0.5, 0.0], &[0.0, -1.0, 0.0]).unwrap_err();
    assert!(matches!(struck.kind(), ErrorKind::Struck { .. }), "{struck}");
    let below = work.accelerations(0.0, &[0.1, 0.3, 0.0], &[0.0; 3]).unwrap_err();
    assert!(below.to_string().contains("start-penetrates"), "{below}");
    assert!(work.accelerations(0.0, &[0.1], &[0.0; 3]).is_err());
}

/// Phases by their words, and what is wrong with them.
#[test]
fn phases_are_named_by_words() {
    let system = model(WHEEL).system;
    let words = |text: &str| Phase::of_words(&system, text).map(|p| p.describe(&system));
    assert_eq!(words("").as_deref(), Ok("floor closed, wall closed, floor slips"));
    assert_eq!(words("floor open").as_deref(), Ok("floor open, wall closed"));
    assert_eq!(
        words("wall open, floor sticks").as_deref(),
        Ok("floor closed, wall open, floor sticks")
    );
    for wrong in ["floor", "roof open", "wall sticks", "floor rolls"] {
        assert!(words(wrong).is_err(), "{wrong}");
    }
}
