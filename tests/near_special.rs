//! A state within rounding of a special one is that state.
//!
//! Zeros of a start are replaced by numbers from 1e-8 down to 1e-300. Where the problem is
//! regular the answer is the one without them, to that order times the condition: no unit is
//! taken from a mass that is there by accident, no row drowns in it.

mod support;

use dalembert::expr::Random;
use dalembert::formulations::by_name;
use dalembert::model::system::Energy;
use dalembert::simulate::at_state::Evaluation;
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::report::{self, Options};
use dalembert::simulate::run::{RunOptions, RunReport, run, run_from};
use dalembert::simulate::{Guess, Setting, Start, State, start};
use dalembert::{Input, Model};
use std::ops::ControlFlow;
use support::{load, oracle_model};

/// Sizes that stand in for 0.
const SIZES: &[f64] =
    &[1e-8, 1e-10, 1e-12, 1e-14, 1e-16, 1e-17, 1e-20, 1e-30, 1e-60, 1e-150, 1e-300];

/// The model and its state, with zeros of the positions replaced, and their velocities left.
fn evaluate(model: &Model, state: &State) -> Option<Evaluation> {
    let setting = Setting::new(model).ok()?;
    let report = report::at(&setting, state, &Options::of_model(model)).ok()?;
    report.answers.into_iter().next()?.result.ok()
}

/// By how much two answers differ, relative to the accelerations and forces there are.
fn difference(a: &Evaluation, b: &Evaluation) -> f64 {
    let largest = |x: &[f64]| x.iter().fold(0f64, |m, v| m.max(v.abs()));
    let pairs = [(&a.accelerations, &b.accelerations), (&a.constraint_force, &b.constraint_force)];
    pairs.iter().fold(0f64, |worst, (x, y)| {
        let size = largest(x).max(largest(&a.accelerations)).max(f64::MIN_POSITIVE);
        let off = x.iter().zip(y.iter()).fold(0f64, |m, (x, y)| m.max((x - y).abs()));
        worst.max(off / size)
    })
}

/// Whether the answer is smooth at a state: far larger steps change it in proportion.
fn is_regular(model: &Model, state: &State, answer: &Evaluation) -> bool {
    let mut beside = state.clone();
    let mut random = Random::new(17);
    beside.q.iter_mut().for_each(|q| *q += 1e-6 * random.signed());
    let Some(other) = evaluate(model, &beside) else { return false };
    other.outcome.motion == answer.outcome.motion
        && other.outcome.rank.jacobian == answer.outcome.rank.jacobian
        && difference(answer, &other) < 1e-3
}

fn gallery() -> Vec<(String, Model)> {
    let mut models = Vec::new();
    for name in dalembert::gallery::pages().map(|page| page.name) {
        let Ok(input) = Input::open(&format!("gallery:{name}")) else { continue };
        let loaded = dalembert::load(&input, &Default::default());
        if let Some(model) = loaded.model {
            models.push((name.to_string(), model));
        }
    }
    models
}

/// The state with its zeros replaced; `None` if it has none.
fn beside(state: &State, size: f64, random: &mut Random) -> Option<State> {
    let mut beside = state.clone();
    let mut changed = false;
    for q in beside.q.iter_mut().filter(|q| **q == 0.0) {
        *q = size * random.signed();
        changed = true;
    }
    changed.then_some(beside)
}

/// Evaluates a model beside a regular state of it; how many times.
fn evaluate_beside(name: &str, model: &Model, state: &State) -> usize {
    let Some(answer) = evaluate(model, state) else { return 0 };
    if !answer.outcome.motion.exists() || !is_regular(model, state, &answer) {
        return 0;
    }
    let mut random = Random::new(5);
    let mut cases = 0;
    for &size in SIZES {
        let Some(beside) = beside(state, size, &mut random) else { continue };
        cases += 1;
        let found = evaluate(model, &beside);
        let found = found.unwrap_or_else(|| panic!("{name}: no answer at {size:e}"));
        assert_eq!(found.outcome.motion, answer.outcome.motion, "{name} at {size:e}");
        assert_eq!(found.outcome.rank.jacobian, answer.outcome.rank.jacobian, "{name} at {size:e}");
        let off = difference(&answer, &found);
        assert!(off <= 1e5 * size + 1e-11, "{name} at {size:e}: off by {off:e}");
    }
    cases
}

#[test]
fn evaluation_does_not_see_what_is_far_below_rounding() {
    let (mut cases, mut pages) = (0, 0);
    for (name, model) in gallery() {
        let Ok(setting) = Setting::new(&model) else { continue };
        // The largest ones are tried by themselves.
        if model.system.n_coordinates() > 40 {
            continue;
        }
        let Ok(start) = start::start(&setting) else { continue };
        let found = evaluate_beside(&name, &model, &start.state);
        pages += usize::from(found > 0);
        cases += found;
    }
    assert!(pages >= 32 && cases >= 350, "{cases} cases of {pages} pages");
}

/// The same at the states of all worked examples.
#[test]
fn worked_examples_do_not_see_it_either() {
    let (mut cases, mut models) = (0, 0);
    for oracle in oracle_model::oracles() {
        let state = &oracle["state"];
        if !state["q"].is_array() || state["t"].is_null() || !oracle["model"].is_object() {
            continue;
        }
        let model = oracle_model::model(&oracle_model::model_text(&oracle));
        let Ok(setting) = Setting::new(&model) else { continue };
        let mut state = oracle_model::state(&oracle, &setting);
        models += 1;
        cases += evaluate_beside(oracle_model::name(&oracle), &model, &state);
        // Where nothing of it is 0, what can be is made so.
        if !state.q.contains(&0.0) && model.system.constraints.is_empty() {
            for i in 0..state.q.len() {
                let kept = std::mem::replace(&mut state.q[i], 0.0);
                let moved = State::of_velocities(
                    &setting,
                    state.t,
                    state.q.clone(),
                    state.velocity.clone(),
                );
                if let Ok(moved) = moved {
                    cases += evaluate_beside(oracle_model::name(&oracle), &model, &moved);
                }
                state.q[i] = kept;
            }
        }
    }
    assert!(models >= 40 && cases >= 100, "{cases} cases of {models} models");
}

/// The beginning of every page's motion, from its start and from beside it.
#[test]
fn motions_from_beside_a_special_state() {
    let (mut cases, mut pages, mut below) = (0, 0, 0);
    let is_below = |end: &End| matches!(end, End::Failed(Failure::Phase(Fault::Penetrates { .. })));
    for (name, model) in gallery() {
        let Ok(setting) = Setting::new(&model) else { continue };
        if model.system.n_coordinates() > 12 {
            continue;
        }
        let Ok(start) = start::start(&setting) else { continue };
        let Some(answer) = evaluate(&model, &start.state) else { continue };
        if !answer.outcome.motion.exists() || !is_regular(&model, &start.state, &answer) {
            continue;
        }
        let mut options = RunOptions::of_model(&setting);
        options.end = start.state.t + 0.02 * (options.end - start.state.t);
        options.events = false;
        options.tolerance = 1e-10;
        options.every = None;
        let moved = |start: Start| {
            run_from(&setting, &options, start, &mut |_| ControlFlow::Continue(())).ok()
        };
        let end = |report: Option<RunReport>| {
            report.filter(|r| r.end == End::Finished).and_then(|r| r.last).map(|l| l.state.q)
        };
        let Some(exact) = end(moved(start.clone())) else { continue };
        pages += 1;
        let mut random = Random::new(23);
        for size in [1e-8, 1e-12, 1e-17, 1e-30, 1e-300] {
            let Some(beside) = beside(&start.state, size, &mut random) else { continue };
            let by_momenta = matches!(model.system.energy, Energy::Hamiltonian { .. });
            let rate = if by_momenta { beside.momentum.clone() } else { beside.velocity.clone() };
            let guess = Guess { q: beside.q, rate, by_momenta };
            let start = start::from(&setting, start.state.t, &guess, false);
            let start = start.unwrap_or_else(|e| panic!("{name}: no start from {size:e}: {e:?}"));
            let report = moved(start);
            // Below a surface there is none.
            if report.as_ref().is_some_and(|r| is_below(&r.end)) {
                below += 1;
                continue;
            }
            let near = end(report).unwrap_or_else(|| panic!("{name}: no motion from {size:e}"));
            cases += 1;
            let largest = exact.iter().fold(0f64, |m, x| m.max(x.abs()));
            for (a, b) in exact.iter().zip(&near) {
                let allowed = 1e4 * size + 1e-8 * largest;
                assert!((a - b).abs() <= allowed, "{name} from {size:e}: {a} {b}");
            }
        }
    }
    assert!(pages >= 25 && cases >= 100, "{cases} cases of {pages} pages, {below} below");
    assert!(below * 10 < cases, "{cases} cases, {below} below");
}

/// A body by quaternions on a ball joint in a random place, with parts of the quaternion that
/// are next to nothing; against the body in the same place without them.
#[test]
fn bodies_by_quaternions_next_to_a_special_attitude() {
    let mut random = Random::new(11);
    let mut cases = 0;
    for attitude in [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.6, 0.8]] {
        for &size in SIZES {
            let inertia: Vec<f64> = (0..3).map(|_| 0.3 + 0.05 * random.signed()).collect();
            let e: Vec<f64> = attitude
                .iter()
                .map(|&x| if x == 0.0 { size * random.signed() } else { x })
                .collect();
            let text = |e: &[f64]| {
                format!(
                    "coord r[1..3], e[1..4]\ngravity [0, 0, -9.81]\n\
                     body b: mass 1.3, inertia [{}, {}, {}], at r, turning Rq(e)\n\
                     constraint unit: dot(e, e) = 1\n\
                     constraint pin: b.point([0.1, 0.2, -0.4]) = [0, 0, 0]\n\
                     start e = [{}, {}, {}, {}], r ~ [0, 0, 0.4]\nrun t = 0..0.2\n",
                    inertia[0], inertia[1], inertia[2], e[0], e[1], e[2], e[3]
                )
            };
            let exact = end(&text(&attitude));
            let near = end(&text(&e));
            cases += 1;
            for (a, b) in exact.iter().zip(&near) {
                assert!((a - b).abs() < 1e-8 + 50.0 * size, "{size:e}: {exact:?} {near:?}");
            }
        }
    }
    assert_eq!(cases, 33);
}

/// A free body whose scalar component has no mass where it begins, or next to none, and has as much as
/// the others a quarter of a turn later: its units are those of nearby, and no row is lost there.
#[test]
fn a_quarter_turn_from_a_special_attitude_loses_no_rank() {
    let mut random = Random::new(3);
    let mut cases = 0;
    for &size in [1e-2, 1e-4, 1e-6].iter().chain(SIZES) {
        for formulation in ["lagrange", "hamilton", "poincare"] {
            for method in ["taylor", "dop853"] {
                let e = [1.0, 0.0, 0.0, 0.0].map(|x: f64| match x {
                    0.0 => size * random.signed(),
                    _ => x,
                });
                let text = format!(
                    "coord e0, e1, e2, e3\nlet w = 2*[-e1*e0' + e0*e1' + e3*e2' - e2*e3', \
                     -e2*e0' - e3*e1' + e0*e2' + e1*e3', -e3*e0' + e2*e1' - e1*e2' + e0*e3']\n\
                     kinetic (w[1]^2 + 2*w[2]^2 + 3*w[3]^2)/2\n\
                     constraint unit: (e0^2 + e1^2 + e2^2 + e3^2)/2 = 1/2\n\
                     start e0 ~ {:e}, e1 ~ {:e}, e2 ~ {:e}, e3 ~ {:e}, \
                     e0' ~ 0, e1' ~ 0.05, e2' ~ 1, e3' ~ 0.05\nrun t = 0..5\n",
                    e[0], e[1], e[2], e[3]
                );
                let model = load(&text).model.unwrap_or_else(|| panic!("{text}"));
                let setting = Setting::new(&model).expect("no parameters");
                let end = |formulation: &str, method: &str, tolerance| {
                    let mut options = RunOptions::of_model(&setting);
                    options.formulation = by_name(formulation).expect("a formulation");
                    (options.method, options.tolerance) = (method.to_owned(), tolerance);
                    let report = run(&setting, &options, &mut |_| ControlFlow::Continue(()));
                    let report = report.ok()?;
                    assert_eq!(report.end, End::Finished, "{formulation} {method} {text}");
                    report.last.map(|last| last.state.q)
                };
                let exact = end("lagrange", "dop853", 1e-13).expect("a run");
                let Some(found) = end(formulation, method, 1e-9) else { continue };
                let off = exact.iter().zip(&found).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(off < 1e-7, "{formulation} {method} {size:e}: {off:e}");
                cases += 1;
            }
        }
    }
    assert!(cases >= 28, "{cases}");
}

/// Where a run ends; it must end well.
fn end(text: &str) -> Vec<f64> {
    let loaded = load(text);
    let model = loaded.model.unwrap_or_else(|| panic!("{text}"));
    let setting = Setting::new(&model).expect("no parameters");
    let options = RunOptions::of_model(&setting);
    let report = run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
    assert!(report.verdict().is_ok(), "{:?}\n{text}", report.end);
    report.last.expect("it has an end").state.q
}

/// A velocity that is nothing, on rows that depend on each other.
#[test]
fn velocities_of_nothing_contradict_nothing() {
    for size in ["1e-20", "1e-35", "1e-100", "1e-300"] {
        let text = format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n\
             constraint rod: x^2 + y^2 = 1\nconstraint again: 2*x^2 + 2*y^2 = 2\n\
             start x = 0, y = -1, x' = 0, y' = {size}\nrun t = 0..1\n"
        );
        let q = end(&text);
        assert!(q[0].abs() < 1e-12 && (q[1] + 1.0).abs() < 1e-12, "{q:?}");
    }
}
