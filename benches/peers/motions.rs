//! Motions: the soonest way to an end with the asked error, and what each tolerance costs.

use super::{PATIENCE, load};
use dalembert::simulate::drive::End;
use dalembert::simulate::integrators;
use dalembert::simulate::run::{Program, RunOptions, Traveller};
use dalembert::simulate::{Setting, State, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// End values with all their digits, computed with long doubles.
const REFERENCES: &str = include_str!("references.json");
/// Methods that are tried, or one of them by `--method=NAME`.
const METHODS: [&str; 3] = ["taylor", "dop853", "radau"];
/// Tolerances that are tried.
const TOLERANCES: [f64; 13] =
    [1e-6, 1e-7, 1e-8, 1e-9, 3e-10, 1e-10, 1e-11, 1e-12, 3e-13, 1e-13, 1e-14, 3e-15, 1e-15];

/// Tolerances of the plots of work against precision.
const DECADES: std::ops::RangeInclusive<i32> = 4..=14;

/// A motion and what is asked of it.
pub struct Motion {
    pub name: &'static str,
    text: &'static str,
    set: &'static [&'static str],
    end: f64,
    asked: f64,
}

const fn motion(name: &'static str, text: &'static str, end: f64, asked: f64) -> Motion {
    Motion { name, text, set: &[], end, asked }
}

/// All of them.
pub const MOTIONS: &[Motion] = &[
    motion("spherical", include_str!("models/spherical.dal"), 10.0, 1e-13),
    motion("knife-edge", include_str!("models/knife-edge.dal"), 10.0, 3e-14),
    motion("two-particles", include_str!("models/two-particles.dal"), 10.0, 1e-13),
    motion("andrews", "gallery:benchmarks/andrews", 0.03, 1e-13),
    Motion { set: &["roll'=0.5"], ..motion("whipple", "gallery:whipple-bicycle", 5.0, 1e-12) },
    motion("euler-top", "gallery:benchmarks/euler-top", 20.0, 1e-11),
    motion("slider-crank", "gallery:benchmarks/slider-crank", 0.1, 1e-7),
];

/// One way to an end: the way alone, as the programs of the peers have it.
struct Way {
    traveller: Traveller,
    start: State,
    end: f64,
}

impl Way {
    /// The end, the number of steps, and the seconds on the way.
    fn end(&mut self) -> Option<(Vec<f64>, u64, f64)> {
        let clock = Instant::now();
        let arrived = self.traveller.travel(&self.start);
        let seconds = clock.elapsed().as_secs_f64();
        let is_there = arrived.end == End::Finished && arrived.t == self.end;
        let q = arrived.x[..self.start.q.len()].to_vec();
        is_there.then_some((q, arrived.statistics.steps, seconds))
    }
}

fn error(q: &[f64], right: &[f64]) -> f64 {
    let size = right.iter().fold(1f64, |m, x| m.max(x.abs()));
    q.iter().zip(right).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// The median of what a function tells.
fn median_of(patience: Duration, mut told: impl FnMut() -> f64) -> f64 {
    let (mut times, clock) = (Vec::new(), Instant::now());
    while times.len() < 5 || clock.elapsed() < patience {
        times.push(told());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A motion that is ready to be run.
struct Ready {
    setting: Setting,
    options: RunOptions,
    right: Vec<f64>,
    /// Seconds from the text on.
    setup: f64,
}

impl Ready {
    fn new(motion: &Motion) -> Ready {
        let clock = Instant::now();
        let set: Vec<String> = motion.set.iter().map(ToString::to_string).collect();
        let model = load(motion.text, &set);
        let setting = Setting::new(&model).expect("values");
        let mut options = RunOptions::of_model(&setting);
        (options.end, options.every) = (motion.end, Some(motion.end));
        let setup = clock.elapsed().as_secs_f64();
        let mut ready = Ready { setting, options, right: Vec::new(), setup };
        let references: Value = serde_json::from_str(REFERENCES).expect("a list");
        ready.right = match references[motion.name].as_array() {
            Some(list) => list.iter().filter_map(Value::as_f64).collect(),
            // Of no reference values: what another method gives at the end of its digits.
            None => ready.way("gauss8", 1e-14).end().expect("an end").0,
        };
        ready
    }

    /// With what the method needs.
    fn way(&self, method: &str, tolerance: f64) -> Way {
        let options = RunOptions { method: method.to_owned(), tolerance, ..self.options.clone() };
        let program = Program::new(&self.setting, &options).expect("a program");
        let traveller = program.traveller(&options).expect("it suits").expect("no events");
        let start = start::start(&self.setting).expect("a start").state;
        Way { traveller, start, end: options.end }
    }
}

/// The methods that are tried, all or the one asked for.
fn methods(asked: Option<&str>) -> impl Iterator<Item = &'static str> {
    let is_tried =
        move |name: &&str| METHODS.contains(name) && asked.is_none_or(|own| own == *name);
    integrators::NAMES.iter().copied().filter(is_tried)
}

/// The soonest way to the end of a motion with the asked error.
pub fn travel(motion: &Motion, method: Option<&str>) -> Value {
    let ready = Ready::new(motion);
    let mut best: Option<Value> = None;
    for method in methods(method) {
        for tolerance in TOLERANCES {
            let clock = Instant::now();
            let mut way = ready.way(method, tolerance);
            let Some((q, steps, first)) = way.end() else { continue };
            let setup = ready.setup + clock.elapsed().as_secs_f64() - first;
            let error = error(&q, &ready.right);
            if error > motion.asked {
                continue;
            }
            let seconds = median_of(PATIENCE, || way.end().map_or(f64::NAN, |end| end.2));
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

/// Time and error of each method at each tolerance.
pub fn precision(motion: &Motion, method: Option<&str>) -> Vec<Value> {
    let ready = Ready::new(motion);
    let mut found = Vec::new();
    for method in methods(method) {
        for tolerance in DECADES.map(|k| 10f64.powi(-k)) {
            let mut way = ready.way(method, tolerance);
            let Some((q, steps, first)) = way.end() else { continue };
            // What takes long is exact enough the first time.
            let seconds = match first {
                slow if slow > 0.2 => slow,
                _ => median_of(PATIENCE / 10, || way.end().map_or(f64::NAN, |end| end.2)),
            };
            let error = error(&q, &ready.right);
            found.push(json!({
                "method": method, "tolerance": tolerance, "seconds": seconds, "error": error,
                "steps": steps,
            }));
        }
    }
    found
}
