//! dalembert's rows of the comparison with peers: one JSON line for each.
//!
//! `cargo bench --bench peers -- [ROW …] [--method=NAME]` prints them; `python3 benches/peers/compare.py` runs
//! them in turn with those of the peers and writes the table. What is timed is the way from the
//! start to the end state alone, by the method and the tolerance that reach the asked error soonest,
//! compiled ahead; the time for all that comes before it, from reading the text on, is beside it.

use dalembert::simulate::integrators::{self, Problem};
use dalembert::simulate::run::{Program, RunOptions};
use dalembert::simulate::{DEFAULT, Field, Setting, start};
use dalembert::{Input, Model, Options};
use serde_json::{Value, json};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// End values with all their digits, computed with long doubles.
const REFERENCES: &str = include_str!("references.json");
/// How long a figure is looked for.
const PATIENCE: Duration = Duration::from_millis(400);
/// Methods that are tried, or one of them by `--method=NAME`.
const METHODS: [&str; 3] = ["taylor", "dop853", "radau"];
/// Tolerances that are tried.
const TOLERANCES: [f64; 10] = [1e-9, 3e-10, 1e-10, 1e-11, 1e-12, 3e-13, 1e-13, 1e-14, 3e-15, 1e-15];

/// A motion: its name, its model, its end, and the error that is asked for.
const MOTIONS: &[(&str, &str, f64, f64)] = &[
    ("spherical", include_str!("models/spherical.dal"), 10.0, 1e-13),
    ("knife-edge", include_str!("models/knife-edge.dal"), 10.0, 3e-14),
    ("two-particles", include_str!("models/two-particles.dal"), 10.0, 1e-13),
    ("andrews", "gallery:benchmarks/andrews", 0.03, 1e-13),
    ("whipple", "gallery:whipple-bicycle", 5.0, 1e-12),
    ("euler-top", "gallery:benchmarks/euler-top", 20.0, 1e-11),
    ("slider-crank", "gallery:benchmarks/slider-crank", 0.1, 1e-7),
];

fn load(text: &str, set: &[String]) -> Model {
    let input = match text.starts_with("gallery:") {
        true => Input::open(text).expect("a page"),
        false => Input::text("model", text),
    };
    let options = Options { set: set.to_vec(), ..Options::default() };
    dalembert::load(&input, &options).model.expect("no faults")
}

/// Seconds of one call, the median of as many as there is patience for.
fn median(mut call: impl FnMut()) -> f64 {
    let clock = Instant::now();
    call();
    let once = clock.elapsed().max(Duration::from_nanos(20));
    let inner = (Duration::from_millis(2).as_nanos() / once.as_nanos()).max(1) as u32;
    let mut times = Vec::new();
    let clock = Instant::now();
    while times.len() < 5 || clock.elapsed() < PATIENCE {
        let own = Instant::now();
        (0..inner).for_each(|_| call());
        times.push(own.elapsed().as_secs_f64() / f64::from(inner));
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The median of what a function tells.
fn median_of(mut told: impl FnMut() -> f64) -> f64 {
    let (mut times, clock) = (Vec::new(), Instant::now());
    while times.len() < 5 || clock.elapsed() < PATIENCE {
        times.push(told());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn chain(n: usize) -> Model {
    load("gallery:n-link-chain", &[format!("N={n}")])
}

/// From the text to the first accelerations.
fn derive(n: usize) -> Value {
    let mut x = Vec::new();
    let seconds = median(|| x = first(&chain(n)));
    json!({"seconds": seconds, "value": x.last()})
}

fn first(model: &Model) -> Vec<f64> {
    let (mut field, state) = field(model);
    let mut dx = vec![0.0; state.len()];
    field.rates(0.0, &state, &mut dx).expect("rates");
    dx
}

/// The compiled rates at the start, decided there.
fn field(model: &Model) -> (Field, Vec<f64>) {
    let setting = Setting::new(model).expect("values");
    let equations = dalembert::derive(model, None).expect("applies");
    let start = start::start(&setting).expect("a start").state;
    let mut field = Field::new(&setting, &equations, DEFAULT);
    let mut x = start.q.clone();
    x.extend(&start.velocity);
    x.push(0.0);
    field.choose_rows(start.t, &x, 1e-9).expect("a motion");
    (field, x)
}

/// One evaluation of the accelerations.
fn evaluate(n: usize) -> Value {
    let (mut field, x) = field(&chain(n));
    let mut dx = vec![0.0; x.len()];
    // Two times in turn: what is evaluated twice at one state is not.
    let mut times = [0.0, 1e-9].into_iter().cycle();
    let mut call = || {
        let t = times.next().unwrap_or(0.0);
        field.rates(t, black_box(&x), &mut dx).expect("rates");
    };
    // Compiled on the way.
    (0..200).for_each(|_| call());
    json!({"seconds": median(call)})
}

/// One way to an end.
struct Way<'a> {
    program: Program,
    setting: &'a Setting,
    options: RunOptions,
}

impl Way<'_> {
    /// The end, the number of steps, and the seconds on the way.
    fn end(&self) -> Option<(Vec<f64>, u64, f64)> {
        let start = start::start(self.setting).ok()?;
        let quiet = &mut |_: &_| ControlFlow::Continue(());
        let report = self.program.run_from(self.setting, &self.options, start, quiet).ok()?;
        let last = report.last?;
        ((last.state.t - self.options.end).abs() <= 1e-12 * self.options.end)
            .then(|| (last.state.q.clone(), report.statistics.steps, report.seconds.integrate))
    }
}

fn error(q: &[f64], right: &[f64]) -> f64 {
    let size = right.iter().fold(1f64, |m, x| m.max(x.abs()));
    q.iter().zip(right).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// The soonest way to the end of a motion with the asked error.
fn travel(name: &str, text: &str, end: f64, asked: f64, methods: Option<&str>) -> Value {
    let clock = Instant::now();
    let set: &[String] = if name == "whipple" { &["roll'=0.5".to_owned()] } else { &[] };
    let model = load(text, set);
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every) = (end, Some(end));
    let setup = clock.elapsed().as_secs_f64();
    let way = |method: &str, tolerance: f64| {
        let method = method.to_owned();
        let options = RunOptions { method, tolerance, ..options.clone() };
        // With what the method needs.
        let program = Program::new(&setting, &options).expect("a program");
        Way { program, setting: &setting, options }
    };
    let references: Value = serde_json::from_str(REFERENCES).expect("a list");
    let right: Vec<f64> = match references[name].as_array() {
        Some(list) => list.iter().filter_map(Value::as_f64).collect(),
        // Of no reference values: what another method gives at the end of its digits.
        None => way("gauss8", 1e-14).end().expect("an end").0,
    };
    let mut best: Option<Value> = None;
    let is_tried = |name: &&&str| METHODS.contains(name) && methods.is_none_or(|own| own == **name);
    for method in integrators::NAMES.iter().filter(is_tried) {
        for tolerance in TOLERANCES {
            let clock = Instant::now();
            let way = way(method, tolerance);
            let Some((q, steps, first)) = way.end() else { continue };
            let setup = setup + clock.elapsed().as_secs_f64() - first;
            let error = error(&q, &right);
            if error > asked {
                continue;
            }
            let seconds = median_of(|| way.end().map_or(f64::NAN, |end| end.2));
            if best.as_ref().is_none_or(|b| b["seconds"].as_f64() > Some(seconds)) {
                best = Some(json!({
                    "seconds": seconds, "error": error, "setup": setup,
                    "note": format!("{method}, {tolerance:.0e}, {steps} steps"),
                }));
            }
            break;
        }
    }
    best.unwrap_or_else(|| json!({"note": "the error was not reached"}))
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let method = std::env::args().find_map(|a| Some(a.strip_prefix("--method=")?.to_owned()));
    let is_asked = |row: &str| asked.is_empty() || asked.iter().any(|a| a == row);
    let say = |row: &str, mut value: Value| {
        value["row"] = json!(row);
        value["tool"] = json!("dalembert");
        println!("{value}");
    };
    for n in [10, 50] {
        let row = format!("derive-{n}");
        if is_asked(&row) {
            say(&row, derive(n));
        }
    }
    for n in [2, 10, 50] {
        let row = format!("evaluate-{n}");
        if is_asked(&row) {
            say(&row, evaluate(n));
        }
    }
    for (name, text, end, error) in MOTIONS {
        if is_asked(name) {
            say(name, travel(name, text, *end, *error, method.as_deref()));
        }
    }
}
