//! How long each method takes for the benchmarks, at three tolerances, and how long the one that
//! `auto` takes, as a Markdown table; its last line is the worst of `auto` beside the best.
//!
//! ```text
//! cargo run --release --example methods -- [NAME]
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
use dalembert::simulate::run::{Program, RunReport};
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const METHODS: [&str; 4] = ["dop853", "taylor", "radau", "auto"];
const TOLERANCES: [f64; 3] = [1e-6, 1e-9, 1e-12];
/// How long a figure is looked for, and how long a run may take to be looked at.
const PATIENCE: Duration = Duration::from_millis(150);

/// The models beside those of the benchmarks, and their ends.
const PEERS: &[(&str, &str, f64)] = &[
    ("peers: spherical", include_str!("../benches/peers/models/spherical.dal"), 10.0),
    ("peers: knife-edge", include_str!("../benches/peers/models/knife-edge.dal"), 10.0),
    ("peers: two-particles", include_str!("../benches/peers/models/two-particles.dal"), 10.0),
    ("peers: whipple", "gallery:whipple-bicycle", 5.0),
];

/// Seconds of a run by a method, the least of as many as there is patience for.
fn time(model: &Model, end: f64, method: &str, tolerance: f64) -> Option<(f64, RunReport)> {
    let setting = Setting::new(model).ok()?;
    let mut options = options(&setting, end, tolerance);
    options.method = method.to_owned();
    // What takes longer than this is not the best.
    options.most_steps = 200_000;
    let start = start_of(&setting);
    let program = Program::new(&setting, &options).ok()?;
    let clock = Instant::now();
    let mut least = f64::INFINITY;
    let mut turns = 0;
    loop {
        let mut go = |_: &_| ControlFlow::Continue(());
        let report = program.run_from(&setting, &options, start.clone(), &mut go).ok()?;
        least = least.min(report.seconds.integrate);
        turns += 1;
        if report.end != End::Finished {
            return None;
        }
        if turns >= 50 || clock.elapsed() > PATIENCE {
            return Some((least, report));
        }
    }
}

/// A row of the table; the time of `auto` beside the best.
fn row(name: &str, model: &Model, end: f64, tolerance: f64) -> Option<f64> {
    let found = METHODS.map(|method| time(model, end, method, tolerance));
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
    ratio.is_finite().then_some(ratio)
}

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
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
