//! What the tolerance promises: the error of a run, relative to the sizes of the motion, is
//! within a few tolerances times what the motion makes of an error, by every method that
//! chooses its steps. And a run that passes says how far off it is.
//!
//! ```text
//! max_t |x − x*| / size ≤ MULTIPLE · tol · (1 + times) · growth
//! ```
//!
//! `times` is how often the state has changed by its own size, `growth` what becomes of a
//! change at the start, both of the motion and not of the method.

// Others use more of them.
#[allow(dead_code)]
#[path = "support/motions.rs"]
mod motions;
#[allow(dead_code)]
#[path = "support/pushes.rs"]
mod pushes;
mod support;

use dalembert::expr::Random;
use dalembert::simulate::Observation;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::RunOptions;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::{Setting, State};
use motions::Plan;
use std::ops::ControlFlow;

/// The methods that choose their steps.
const METHODS: [&str; 6] = ["dop853", "taylor", "radau", "gauss4", "gauss6", "gauss8"];
/// Local errors are of single components, each by its own size, and what one does to the others
/// is not in the growth of a change of the first coordinate. It is below 1 for most motions, up
/// to 8 where a small one decides over a large one (a momentum that turns within a thousandth of
/// its size), 17 within a millionth.
const MULTIPLE: f64 = 25.0;
/// A change of the start, as a part of the way of the first coordinate.
const CHANGE: f64 = 1e-5;

struct Case {
    kind: &'static str,
    formulation: &'static str,
    end: f64,
    /// With `DELTA` in the start.
    text: String,
}

/// One of each kind.
fn cases(seed: u64) -> Vec<Case> {
    let mut random = Random::new(seed * 77 + 5);
    // Between two positive numbers, by their logarithms.
    let mut r = |low: f64, high: f64| low * (high / low).powf(random.unit());
    for _ in 0..4 {
        r(1.0, 2.0);
    }
    let mut list = Vec::new();
    let mut add = |kind, formulation, end: f64, text: String| {
        list.push(Case { kind, formulation, end, text: format!("{text}\nrun t = 0..{end}\n") });
    };
    let one = "coord x\nkinetic x'^2/2";
    let two = "coord x, y\nkinetic (x'^2 + y'^2)/2";

    let (k, a, v) = (r(0.1, 100.0), r(0.1, 10.0), r(0.01, 10.0));
    let text = format!("{one}\npotential {k}*x^2/2\nstart x = {a} + DELTA, x' = {v}");
    add("linear", "lagrange", 20.0 / k.sqrt(), text);

    let (k, a) = (r(0.1, 10.0), r(0.1, 5.0));
    let text = format!("{one}\npotential {k}*x^4/4 + x^2/2\nstart x = {a} + DELTA");
    add("quartic", "lagrange", 20.0 / (k * a * a + 1.0).sqrt(), text);

    // Velocities turn within 1/(k a), momenta reach k a²/2.
    for (formulation, k, a) in
        [("hamilton", r(1.0, 1e3), r(0.3, 5.0)), ("lagrange", r(1.0, 100.0), r(0.3, 1.0))]
    {
        let text =
            format!("coord x\nlagrangian -sqrt(1 - x'^2) - {k}*x^2/2\nstart x = {a} + DELTA");
        add("relativistic", formulation, 4.0 * a + 2.0 / k.sqrt(), text);
    }

    let (g, a) = (r(0.3, 30.0), r(0.1, 2.5));
    let text = format!(
        "{two}\npotential {g}*y\nconstraint rod: x^2 + y^2 = 1\n\
         start x = sin({a} + DELTA), y = -cos({a} + DELTA), x' = 0, y' = 0"
    );
    add("pendulum", "lagrange", 15.0 / g.sqrt(), text);

    let (g, a, v) = (r(0.3, 30.0), r(0.1, 1.0), r(0.1, 1.0));
    let text = format!(
        "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential {g}*z\n\
         constraint rod: x^2 + y^2 + z^2 = 1\n\
         start x = sin({a} + DELTA), y = 0, z = -cos({a} + DELTA), \
         x' = 0, y' = {v}*sqrt({g}), z' = 0"
    );
    add("spherical pendulum", "lagrange", 8.0 / g.sqrt(), text);

    let (k, a) = (r(1e2, 1e3), r(1e-3, 0.1));
    let text = format!(
        "{two}\npotential x^2/2 + {k}*(y - x^2/4)^2/2\n\
         start x = 1 + DELTA, y = 0.25 + {a}, x' = 0, y' = 0"
    );
    add("hard spring", "lagrange", 6.0, text);

    let e = r(0.1, 0.7);
    let text = format!(
        "{two}\npotential -1/sqrt(x^2 + y^2)\n\
         start x = {} + DELTA, y = 0, x' = 0, y' = {}",
        1.0 - e,
        ((1.0 + e) / (1.0 - e)).sqrt()
    );
    add("ellipse", "lagrange", 12.0, text);

    // Something fast and small that dies out beside something slow.
    let (c, y) = (r(1.0, 300.0), r(0.8, 0.9));
    let text = format!(
        "{two}\npotential x^2/2 + 50*(y - sin(x))^2\ndissipation {c}*(y' - cos(x)*x')^2/2\n\
         start x = 1 + DELTA, y = {y}, x' = 0, y' = 0"
    );
    add("damped", "lagrange", 6.0, text);
    list
}

impl Case {
    fn told(&self, delta: f64) -> String {
        self.text.replace("DELTA", &format!("{delta:.15}"))
    }

    fn times(&self) -> Vec<f64> {
        (1..24).map(|i| self.end * f64::from(i) / 24.0).collect()
    }

    /// The states at 25 times, and how often the state has changed by its own size.
    fn run(&self, delta: f64, method: &str, tolerance: f64) -> (Vec<State>, f64) {
        let text = self.told(delta);
        let mut plan = Plan::new(&text, self.formulation, method, self.end);
        (plan.tolerance, plan.times) = (tolerance, self.times());
        let mut states = Vec::new();
        let report = plan.watch(&mut |state, _| states.push(state.clone()));
        let report = report.unwrap_or_else(|error| panic!("{method} {text}: {error:?}"));
        assert_eq!(states.len(), 25, "{method} {tolerance:e} {text}: {:?}", report.end);
        (states, report.certificate.characteristic_times)
    }
}

fn numbers(state: &State) -> impl Iterator<Item = f64> {
    state.q.iter().chain(&state.velocity).copied()
}

/// Of positions the longest way from the first, of velocities the largest.
fn sizes(states: &[State]) -> Vec<f64> {
    let n = states[0].q.len();
    let mut sizes = vec![0f64; 2 * n];
    for state in states {
        for (i, (x, first)) in numbers(state).zip(numbers(&states[0])).enumerate() {
            sizes[i] = sizes[i].max(if i < n { (x - first).abs() } else { x.abs() });
        }
    }
    sizes
}

/// The largest difference of two runs, by the sizes.
fn apart(a: &[State], b: &[State], sizes: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).flat_map(|(a, b)| numbers(a).zip(numbers(b)).zip(sizes));
    pairs.fold(0f64, |most, ((a, b), size)| most.max((a - b).abs() / size))
}

/// The largest multiple of what the tolerance promises, by every method.
fn check(case: &Case, tolerances: &[f64]) -> (f64, String) {
    let mut worst = (0.0, String::new());
    let (exact, times) = case.run(0.0, "dop853", 1e-13);
    let sizes = sizes(&exact);
    let (moved, _) = case.run(CHANGE * sizes[0], "dop853", 1e-13);
    let growth = (apart(&moved, &exact, &sizes) / CHANGE).max(1.0);
    for method in METHODS {
        for &tolerance in tolerances {
            let (found, _) = case.run(0.0, method, tolerance);
            let off = apart(&found, &exact, &sizes);
            let part = off / (tolerance * (1.0 + times) * growth);
            let place = format!("{} {method} {tolerance:e}", case.kind);
            assert!(part < MULTIPLE, "{place}: off by {off:e}, {part:e}\n{}", case.told(0.0));
            if part > worst.0 {
                worst = (part, place);
            }
        }
    }
    worst
}

#[test]
fn errors_are_within_the_tolerance_times_what_the_motion_makes_of_them() {
    for case in (0..4).flat_map(cases) {
        let (part, place) = check(&case, &[1e-6, 1e-8, 1e-9, 1e-11]);
        println!("{part:6.2} {place}");
    }
}

/// γ of a million: next to nothing tells one velocity from another there, and a step may end
/// where the momentum turns.
#[test]
fn a_momentum_that_turns_is_met_from_any_speed() {
    for (k, a) in [(100.0, 10.0), (1e4, 1.0), (1e4, 10.0), (1e5, 4.0)] {
        let energy = format!("lagrangian -sqrt(1 - x'^2) - {k}*x^2/2");
        let (kind, formulation, end) = ("fast", "hamilton", 3.1 * a);
        let text = format!("coord x\n{energy}\nstart x = {a} + DELTA\nrun t = 0..{end}\n");
        let (part, place) =
            check(&Case { kind, formulation, end, text }, &[1e-6, 1e-8, 1e-9, 1e-10]);
        println!("{part:6.2} {place} {k} {a}");
    }
}

/// Keeps the states of the run that counts.
#[derive(Default)]
struct Rows(Vec<State>);

impl Sink for Rows {
    fn restart(&mut self) {
        self.0.clear();
    }

    fn record(&mut self, row: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        self.0.push(row.state.clone());
        ControlFlow::Continue(())
    }
}

#[test]
fn a_run_that_passes_is_no_further_off_than_it_says() {
    let (mut passed, mut all) = (0, 0);
    for case in (0..3).flat_map(cases) {
        let (exact, _) = case.run(0.0, "dop853", 1e-13);
        let sizes = sizes(&exact);
        let model = support::motion::model(&case.told(0.0));
        let setting = Setting::new(&model).expect("values");
        for method in ["radau", "gauss4", "gauss8"] {
            for tolerance in [1e-5, 1e-8] {
                let mut options = RunOptions::of_model(&setting);
                let formulation = dalembert::formulations::by_name(case.formulation);
                options.formulation = formulation.expect("a name");
                (options.method, options.tolerance) = (method.to_owned(), tolerance);
                (options.every, options.times) = (Some(case.end), case.times());
                let mut rows = Rows::default();
                let report = run_verified(&setting, &options, false, &mut rows).expect("it begins");
                all += 1;
                let estimate = report.error.estimate().filter(|e| e.holds());
                let Some(estimate) = estimate else { continue };
                passed += 1;
                let (off, said) = (apart(&rows.0, &exact, &sizes), estimate.relative);
                let place = format!("{} {method} {tolerance:e}", case.kind);
                // The reference has an error of its own.
                assert!(off <= said + 1e-11, "{place}: {off:e}, not {said:e}\n{}", case.told(0.0));
            }
        }
    }
    println!("{passed} of {all} pass");
    assert!(passed * 10 > all * 9, "{passed} of {all}");
}

/// A mass at rest has no size, and what first moves it may be 1e-300: it is met by what it is when
/// something is moved, by every method that chooses its steps.
#[test]
fn what_is_pushed_from_rest_is_where_the_push_brings_it() {
    let mut random = Random::new(11);
    for k in 0..60 {
        let push = pushes::push(&mut random);
        let [far, fast] = pushes::free(&push);
        let end = pushes::END;
        // At the origin and far from it, alone and beside another.
        let from = [0.0, 0.1, 40.0][k % 3];
        let beside = ["", "coord y; kinetic y'^2/2; potential y^2/2; start y = 1\n"][k / 3 % 2];
        let text = format!(
            "coord x\nkinetic x'^2/2\nforce x: {}\n{beside}start x = {from}\nrun t = 0..{end}\n",
            push.text
        );
        for method in ["taylor", "dop853", "radau"] {
            let (report, _) = support::motion::ran(&text, |o| o.method = method.to_owned());
            let place = format!("{k} {method}\n{text}");
            assert_eq!(report.end, End::Finished, "{place}");
            let state = &report.last.as_ref().expect("a state").state;
            let (x, v) = (state.q[0] - from, state.velocity[0]);
            // Positions have the digits that they have; and where something is in the units of a
            // run, a millionth of the tolerance counts for nothing.
            let (bound, unit) = (1e-7 * fast, 3e-15 * from);
            assert!((v - fast).abs() <= bound + unit, "{v} {fast}: {place}");
            assert!((x - far).abs() <= 1e-7 * far + end * unit, "{x} {far}: {place}");
        }
    }
}
