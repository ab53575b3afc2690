//! The motions of `tests/data/cases.json` by the models of `gallery/benchmarks/`:
//! shared by the tests and by `examples/benchmarks.rs`.

use dalembert::simulate::Observation;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::{self, RunOptions, RunReport};
use dalembert::simulate::start::{self, Guess, Start};
use dalembert::simulate::{Setting, State};
use dalembert::{Input, Model, Options, model::system::Energy};
use serde_json::Value;
use std::ops::ControlFlow;

/// A case and the model that meets it.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name in the file.
    pub name: &'static str,
    /// The page in `gallery/benchmarks/`.
    pub page: &'static str,
    /// What the page's model is set to.
    pub set: &'static [&'static str],
}

const fn case(name: &'static str, page: &'static str) -> Case {
    Case { name, page, set: &[] }
}

const fn with(name: &'static str, page: &'static str, set: &'static [&'static str]) -> Case {
    Case { name, page, set }
}

/// Every motion that is smooth and not through a singular position.
pub const CASES: &[Case] = &[
    case("andrews_t0.03", "andrews"),
    case("andrews_t0.05_A03", "andrews"),
    case("car_axis_t1", "car-axis"),
    case("car_axis_t3", "car-axis"),
    case("A01_pendulum_t10", "simple-pendulum"),
    case("A01_pendulum_t1000", "simple-pendulum"),
    case("A01_pendulum_t2000", "simple-pendulum"),
    case("rolling_disk_t1", "rolling-disk"),
    case("rolling_disk_t5", "rolling-disk"),
    case("chaplygin_sleigh_t1", "chaplygin-sleigh"),
    case("chaplygin_sleigh_t10", "chaplygin-sleigh"),
    case("knife_edge_incline_t10", "knife-edge"),
    case("ball_turntable_t10", "ball-on-turntable"),
    case("appell_hamel_t0.25", "appell-hamel"),
    case("greenwood_ex2.3_dumbbell_t5", "dumbbell"),
    with("vdsm_ex2.5_free_t10", "bracket-particle", &["k=0"]),
    case("vdsm_ex2.5_harmonic_t1", "bracket-particle"),
    case("vdsm_ex2.5_harmonic_t10", "bracket-particle"),
    case("vdsm_ex2.5_harmonic_t50", "bracket-particle"),
    case("vdsm_ex2.6_wheel_t10", "rolling-wheel"),
    case("spherical_pendulum_t10", "spherical-pendulum"),
    case("udwadia2016_ex4.2_t5", "nonholonomic-particle"),
    case("udwadia2016_ex4.3_t1", "two-wheels"),
    case("udwadia2016_ex4.3_t5", "two-wheels"),
    case("udwadia2016_ex4.4_t1", "double-pendulum-momentum"),
    case("udwadia2016_ex4.4_t5", "double-pendulum-momentum"),
    case("udwadia2016_ex4.4_t10", "double-pendulum-momentum"),
    case("udwadia_phohomsiri2006_ex1", "wheel-on-a-slope"),
    case("udwadia_phohomsiri2006_ex3_t10", "two-masses"),
    case("udwadia_phohomsiri2006_ex3_m1zero_t10", "two-masses-without-the-first"),
    case("greenwood_ex2.1_paraboloid_t1", "paraboloid"),
    case("greenwood_ex2.1_paraboloid_t10", "paraboloid"),
    case("greenwood_ex2.2_t10", "rod"),
    case("greenwood_ex2.4_disk_t1", "disk-with-particle"),
    case("greenwood_ex2.4_disk_t3", "disk-with-particle"),
    case("greenwood_ex2.5_hoop_t1", "hoop"),
    case("greenwood_ex2.5_hoop_t10", "hoop"),
    case("euler_top_t20", "euler-top"),
    case("euler_top_quaternion_t5", "euler-top"),
    case("euler_top_quaternion_t20", "euler-top"),
    case("kepler_e0.6_t100", "kepler"),
    case("slider_crank_flexible_consistent", "slider-crank"),
    with(
        "slider_crank_flexible_published",
        "slider-crank",
        &["offset=2.031e-10", "turning=-74.995767"],
    ),
    case("chain_open_N5_t1", "open-chain"),
    with("chain_open_N10_t1", "open-chain", &["N=10"]),
    with("chain_open_N20_t1", "open-chain", &["N=20"]),
    with("chain_open_N50_t1", "open-chain", &["N=50"]),
    case("chain_closed_N10_t0.3", "closed-chain"),
];

/// Motions with rows that are always redundant, and through positions in which the rank
/// drops, each with its tolerance. The last one takes long.
pub const SINGULAR: &[(Case, f64)] = &[
    (with("A02_fourbar_N1_t10", "n-four-bar", &["N=1"]), 1e-11),
    (case("A02_fourbar_N2_t10", "n-four-bar"), 1e-11),
    (case("A04_bricard_t1", "bricard"), 1e-11),
    (case("A04_bricard_t5", "bricard"), 1e-11),
    (case("A04_bricard_t10", "bricard"), 1e-11),
    (with("A02_fourbar_N40_t10", "n-four-bar", &["N=40"]), 1e-10),
];

/// Motions with corners in their rates, each with the digits that its reference has; below
/// an absolute 1e-11 that has none.
pub const CORNERS: &[(Case, f64)] =
    &[(case("wheelset_t1", "wheelset"), 1e-8), (case("wheelset_t10", "wheelset"), 1e-7)];

/// Cases of the file that are met elsewhere or not yet, and why.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("A02_fourbar_N1000_", "two thousand coordinates, which wait for sparse elimination"),
    ("whipple_linear", "a linearisation"),
    ("whipple_nonlinear_accel_", "accelerations at a state, met by an evaluation"),
];

/// The file.
pub fn file() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../data/cases.json")).expect("valid JSON");
    file.as_array().expect("a list").clone()
}

/// What a case expects.
pub struct Expected {
    /// When.
    pub end: f64,
    /// The values, by name.
    pub outputs: Vec<(String, f64)>,
    /// 10^−digits, at best 1e-15.
    pub trusted: f64,
}

impl Expected {
    /// Of a case.
    pub fn of(case: &Case) -> Expected {
        let file = file();
        let entry = file.iter().find(|c| c["name"] == case.name);
        let entry = entry.unwrap_or_else(|| panic!("no case {}", case.name));
        let outputs = entry["outputs"].as_object().expect("outputs");
        let digits = entry["digits_trusted"].as_f64().expect("digits");
        Expected {
            end: entry["t_end"].as_f64().expect("an end"),
            outputs: outputs
                .iter()
                .map(|(name, value)| (name.clone(), value.as_f64().expect("a number")))
                .collect(),
            trusted: 10f64.powf(-digits).max(1e-15),
        }
    }

    /// Largest relative error of outputs.
    pub fn error(&self, found: &[f64]) -> f64 {
        let expected: Vec<f64> = self.outputs.iter().map(|o| o.1).collect();
        difference(found, &expected)
    }
}

/// Largest difference relative to the second list, output by output; of what is 0
/// but for rounding, relative to the largest.
pub fn difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f64, |m, b| m.max(b.abs()));
    let size = |b: &f64| if b.abs() <= f64::EPSILON * largest { largest } else { b.abs() };
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs() / size(b));
    // NaN must not pass for small.
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}

impl Case {
    /// The model.
    pub fn model(&self) -> Model {
        let input = Input::open(&format!("gallery:benchmarks/{}", self.page)).expect("a page");
        let set = self.set.iter().map(|s| (*s).to_owned()).collect();
        let loaded = dalembert::load(&input, &Options { set, ..Options::default() });
        let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
        loaded.model.unwrap_or_else(|| panic!("{}: faults\n{shown}", self.page))
    }
}

/// What a run does: no outputs but the last, at a tolerance.
pub fn options(setting: &Setting, end: f64, tolerance: f64) -> RunOptions {
    let mut options = RunOptions::of_model(setting);
    options.end = end;
    options.every = Some(f64::MAX);
    options.tolerance = tolerance;
    options
}

/// The start of a model.
pub fn start_of(setting: &Setting) -> Start {
    start::start(setting).unwrap_or_else(|e| panic!("no start: {e:?}"))
}

/// Runs from a start to the end, or says why not.
pub fn travel(setting: &Setting, options: &RunOptions, start: Start) -> Result<RunReport, String> {
    let report = run::run_from(setting, options, start, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| format!("{error:?}"))?;
    match &report.end {
        End::Finished => Ok(report),
        other => Err(format!("{other:?}")),
    }
}

/// The outputs of a case by name: what the page observes under that name, else the
/// coordinate of that name.
pub fn outputs(setting: &Setting, expected: &Expected, last: &Observation) -> Vec<f64> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let table = last.table(system);
    let value = |name: &str| -> f64 {
        if let Some(observe) = system.observes.iter().find(|o| o.name == name) {
            return match observe.name.as_str() {
                "energy" => last.energy,
                _ => setting.number(observe.value, &table),
            };
        }
        let place =
            system.positions().iter().position(|&s| exprs.symbol_info(s).full_name() == name);
        place.map_or_else(|| panic!("the page has no `{name}`"), |at| last.state.q[at])
    };
    expected.outputs.iter().map(|(name, _)| value(name)).collect()
}

/// Most components of a start that are moved.
const MOST_MOVED: usize = 20;

/// The starts next to one: components of position and of velocity (or momentum) moved
/// up and down by one ulp, then made consistent. The ulp of a component that is 0 would
/// be lost in the first addition; it is moved by that of 1. Of more than 20 components
/// some are taken at even distances, and each is moved in one direction only: the
/// largest change found this way is at most that of all.
pub fn neighbours(setting: &Setting, state: &State) -> Vec<Guess> {
    let by_momenta = matches!(setting.model.system.energy, Energy::Hamiltonian { .. });
    let rate = if by_momenta { &state.momentum } else { &state.velocity };
    let n = state.q.len();
    let many = 2 * n > MOST_MOVED;
    let every = if many { n.div_ceil(6) } else { 1 };
    let mut guesses = Vec::new();
    for (place, at) in (0..2 * n).step_by(every).enumerate() {
        for up in [true, false] {
            if many && up == (place % 2 == 0) {
                continue;
            }
            let mut guess = Guess { q: state.q.clone(), rate: rate.clone(), by_momenta };
            let x = if at < n { &mut guess.q[at] } else { &mut guess.rate[at - n] };
            *x = match (*x == 0.0, up) {
                (true, true) => f64::EPSILON,
                (true, false) => -f64::EPSILON,
                (false, true) => x.next_up(),
                (false, false) => x.next_down(),
            };
            guesses.push(guess);
        }
    }
    guesses
}

/// The consistent start nearest to a guess.
pub fn start_near(setting: &Setting, t: f64, guess: &Guess) -> Start {
    start::from(setting, t, guess, false).unwrap_or_else(|e| panic!("no start: {e:?}"))
}

/// Cases that other integrators are shown with, and these.
pub const BY_OTHERS: &[(&str, &str, f64)] = &[
    ("slider_crank_flexible_consistent", "radau", 1e-12),
    ("slider_crank_flexible_published", "radau", 1e-12),
    ("andrews_t0.03", "radau", 1e-12),
    ("car_axis_t3", "radau", 1e-12),
    ("car_axis_t3", "gauss8", 1e-13),
];

/// One run of a case from its own start, or from one next to it: its outputs.
pub fn outputs_from(
    case: &Case,
    guess: Option<&Guess>,
    tolerance: f64,
) -> Result<(Vec<f64>, RunReport), String> {
    outputs_by(case, "auto", guess, tolerance)
}

/// The same by a named integrator.
pub fn outputs_by(
    case: &Case,
    method: &str,
    guess: Option<&Guess>,
    tolerance: f64,
) -> Result<(Vec<f64>, RunReport), String> {
    let model = case.model();
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let expected = Expected::of(case);
    let mut options = options(&setting, expected.end, tolerance);
    options.method = method.to_owned();
    let own = start_of(&setting);
    let start = match guess {
        Some(guess) => start_near(&setting, own.state.t, guess),
        None => own,
    };
    let report = travel(&setting, &options, start)?;
    let last = report.last.as_ref().ok_or("no last state")?;
    Ok((outputs(&setting, &expected, last), report))
}

/// The largest relative change of the outputs `found` when the start is moved by one
/// ulp.
pub fn sensitivity(case: &Case, found: &[f64], tolerance: f64) -> Result<f64, String> {
    let guesses = {
        let model = case.model();
        let setting = Setting::new(&model).map_err(|e| e.to_string())?;
        neighbours(&setting, &start_of(&setting).state)
    };
    // A model belongs to one thread, so each has its own.
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(guesses.len());
    let part = |thread: usize| -> Result<f64, String> {
        let mut worst = 0f64;
        for guess in guesses.iter().skip(thread).step_by(threads) {
            let (moved, _) = outputs_from(case, Some(guess), tolerance)?;
            worst = worst.max(difference(&moved, found));
        }
        Ok(worst)
    };
    std::thread::scope(|scope| {
        let part = &part;
        let handles: Vec<_> = (0..threads).map(|t| scope.spawn(move || part(t))).collect();
        let mut parts = handles.into_iter().map(|h| h.join().expect("a thread"));
        parts.try_fold(0f64, |worst, part| Ok(worst.max(part?)))
    })
}
