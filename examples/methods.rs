//! How long each method takes for the benchmarks, at three tolerances, and how long the one that
//! `auto` takes, as a Markdown table; its last line is the worst of `auto` beside the best.
//!
//! ```text
//! cargo run --release --example methods -- [NAME] [--why]
//! ```
//!
//! Times are of the way from the start to the end, compiled ahead, the least of many.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/support/benchmark.rs"]
mod benchmark;

use benchmark::{CASES, CORNERS, Case, Expected, SINGULAR, options, start_of};
use dalembert::simulate::Setting;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::{Program, RunOptions, RunReport};
use dalembert::simulate::start::Start;
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const METHODS: [&str; 4] = ["dop853", "taylor", "radau", "auto"];
const TOLERANCES: [f64; 3] = [1e-6, 1e-9, 1e-12];
/// How long each figure of a row is looked for.
const PATIENCE: Duration = Duration::from_millis(150);

/// The models beside those of the benchmarks, and their ends.
const PEERS: &[(&str, &str, f64)] = &[
    ("peers: spherical", include_str!("../benches/peers/models/spherical.dal"), 10.0),
    ("peers: knife-edge", include_str!("../benches/peers/models/knife-edge.dal"), 10.0),
    ("peers: two-particles", include_str!("../benches/peers/models/two-particles.dal"), 10.0),
    ("peers: whipple", "gallery:whipple-bicycle", 5.0),
];

/// A method on its way through a figure: least seconds so far, and the last report.
struct Timed {
    program: Program,
    options: RunOptions,
    least: f64,
    runs: u32,
    report: Option<RunReport>,
}

impl Timed {
    /// None if the method is not for the model.
    fn new(setting: &Setting, end: f64, method: &str, tolerance: f64) -> Option<Timed> {
        let mut options = options(setting, end, tolerance);
        options.method = method.to_owned();
        // What takes longer than this is not the best.
        options.most_steps = 200_000;
        let program = Program::new(setting, &options).ok()?;
        Some(Timed { program, options, least: f64::INFINITY, runs: 0, report: None })
    }

    /// Whether it takes longer, which one run does not tell if it is short: the machine may have been
    /// elsewhere.
    fn is_slower(&self, seconds: f64) -> bool {
        let is_known = self.runs >= 3 || self.least > PATIENCE.as_secs_f64();
        self.runs > 0 && is_known && self.least > seconds
    }

    /// One more run; false if it does not come to its end.
    fn run(&mut self, setting: &Setting, start: &Start) -> bool {
        let mut go = |_: &_| ControlFlow::Continue(());
        let run = self.program.run_from(setting, &self.options, start.clone(), &mut go);
        let Ok(report) = run else { return false };
        self.least = self.least.min(report.seconds.integrate);
        self.runs += 1;
        let is_there = report.end == End::Finished;
        self.report = Some(report);
        is_there
    }
}

/// Seconds of a run by each method, the least of as many as there is patience for. They run in turn, so
/// that whatever else the machine does is there for all of them; one that is slower by far runs
/// once.
fn times(model: &Model, end: f64, tolerance: f64) -> [Option<(f64, RunReport)>; 4] {
    let Ok(setting) = Setting::new(model) else { return [const { None }; 4] };
    let start = start_of(&setting);
    let mut all = METHODS.map(|method| Timed::new(&setting, end, method, tolerance));
    let clock = Instant::now();
    let mut turns = 0;
    while turns < 50 && (turns < 3 || clock.elapsed() < 4 * PATIENCE) {
        let best = all
            .iter()
            .flatten()
            .map(|timed| timed.least)
            .filter(|t| *t > 0.0)
            .fold(f64::INFINITY, f64::min);
        for timed in &mut all {
            let is_slow = timed.as_ref().is_some_and(|t| t.is_slower(3.0 * best));
            if !is_slow && timed.as_mut().is_some_and(|t| !t.run(&setting, &start)) {
                *timed = None;
            }
        }
        turns += 1;
    }
    all.map(|timed| timed.and_then(|timed| Some((timed.least, timed.report?))))
}

/// A row of the table; the time of `auto` beside the best.
fn row(name: &str, model: &Model, end: f64, tolerance: f64) -> Option<f64> {
    let found = times(model, end, tolerance);
    let seconds: Vec<f64> =
        found.iter().map(|f| f.as_ref().map_or(f64::INFINITY, |f| f.0)).collect();
    let best = seconds[..3].iter().copied().fold(f64::INFINITY, f64::min);
    let ratio = seconds[3] / best;
    let shown = |at: usize| match &found[at] {
        Some((seconds, report)) => {
            format!("{:.3} ({})", 1e3 * seconds, report.statistics.steps)
        }
        None => "–".to_owned(),
    };
    let taken = found[3].as_ref().map_or("–", |f| f.1.method);
    println!(
        "| {name} | {tolerance:.0e} | {} | {} | {} | {} {taken} | {ratio:.2} |",
        shown(0),
        shown(1),
        shown(2),
        shown(3)
    );
    if std::env::args().any(|a| a == "--why") {
        let reason = found[3].as_ref().map_or("", |f| &f.1.choice.reason);
        let a_step = |at: usize| {
            let steps = |report: &RunReport| report.statistics.steps as f64;
            found[at].as_ref().map_or(f64::NAN, |(s, report)| s / steps(report))
        };
        let steps = [0, 1].map(|at| seconds[at] / a_step(at));
        println!(
            "    a step costs {:.1} times one of dop853 and is {:.1} times as long; auto: {reason}",
            a_step(1) / a_step(0),
            steps[0] / steps[1]
        );
    }
    ratio.is_finite().then_some(ratio)
}

fn main() {
    let word = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    println!("| motion | tolerance | dop853 | taylor | radau | auto | auto / best |");
    println!("|---|---|---|---|---|---|---|");
    let mut worst = (0.0, String::new());
    let mut see = |name: &str, model: &Model, end: f64| {
        for tolerance in TOLERANCES {
            let ratio = row(name, model, end, tolerance).unwrap_or(0.0);
            if ratio > worst.0 {
                worst = (ratio, format!("{name} at {tolerance:.0e}"));
            }
        }
    };
    for (name, text, end) in PEERS.iter().filter(|peer| peer.0.contains(&word)) {
        let input = match text.starts_with("gallery:") {
            true => Input::open(text).expect("a page"),
            false => Input::text(name, text),
        };
        let loaded = dalembert::load(&input, &Options::default());
        see(name, &loaded.model.expect("no faults"), *end);
    }
    // Those through singular positions that do not take long.
    let others = SINGULAR.iter().take(3).chain(CORNERS).map(|(case, _)| case);
    let is_meant = |case: &&Case| case.name.contains(&word);
    for case in CASES.iter().chain(others).filter(is_meant) {
        see(case.name, &case.model(), Expected::of(case).end);
    }
    println!("\nThe worst of `auto`: {:.2} times the best, {}.", worst.0, worst.1);
}
