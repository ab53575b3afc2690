//! A million constant steps by each integrator that says something of its energy, as a
//! Markdown page:
//!
//! ```text
//! cargo run --release --example long_runs -- --date 2026-11-15 > docs/long-runs.md
//! ```
//!
//! `--steps N` takes another number of steps, a multiple of 2000; `--only NAME` runs the
//! integrators whose name contains it.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/support/long_run.rs"]
mod long_run;

use long_run::{LongRun, RUNS};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let steps = option("--steps").and_then(|s| s.parse().ok()).unwrap_or(1_000_000u64);
    println!("# Long runs at constant steps\n");
    println!(
        "What the energy does over {steps} steps. The largest error is that of the certificate: \
         at the ends of all steps, relative to the largest of energy and twice the kinetic energy \
         on the way. The two halves are those of 2000 samples, relative to max(1, |E₀|). The \
         trend is what the straight line through the samples changes over the whole run, as a \
         part of the largest of them: near 0 for an energy that swings, near 1 for one that \
         grows. The residual is the largest of the constraints after any step, relative to the \
         terms in them.\n"
    );
    println!(
        "Gauss's methods are symplectic in Hamilton's variables without constraints, RATTLE with \
         holonomic ones; the discrete gradient conserves the energy by its algebra. DOP853 does \
         neither: its energy grows. Its verdict is still `pass`, because its bound grows with the \
         time too.\n"
    );
    if let Some(date) = option("--date") {
        println!("Measured on {date} by\n");
        println!("    cargo run --release --example long_runs -- --date {date}\n");
    }
    println!(
        "| motion | integrator | step | steps | largest error | first half | second half | trend | residual | verdict |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut failed = false;
    let only = option("--only");
    for run in RUNS.iter().filter(|r| only.as_ref().is_none_or(|o| r.method.contains(o))) {
        match LongRun::new(run, steps) {
            Ok(found) => println!("{}", found.line(run)),
            Err(why) => {
                println!("| {} | {} | {} | {why} |", run.name, run.method, run.step);
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
