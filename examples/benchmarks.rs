//! Motions with published or exact end values, at a tight tolerance, as a Markdown
//! page:
//!
//! ```text
//! cargo run --release --example benchmarks -- --date 2026-11-15 > docs/benchmarks.md
//! ```
//!
//! `--singular` makes the table of singular positions alone, `--only NAME` runs the cases whose name contains it, `--others` the last table alone, `--tol` sets the tolerance,
//! `--verbose` shows every value. The program ends with status 1 if a case is out of its
//! bound.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/support/benchmark.rs"]
mod benchmark;

use benchmark::{
    BY_OTHERS, CASES, CORNERS, Case, ELSEWHERE, Expected, SINGULAR, outputs_by, outputs_from,
    sensitivity,
};
use benchmark::{options, start_of, travel};
use dalembert::simulate::Setting;
use std::process::ExitCode;
use std::time::Instant;

/// Local error relative to the size of the motion.
const TOLERANCE: f64 = 1e-14;

/// What one case came to.
struct Row {
    size: String,
    steps: u64,
    error: f64,
    sensitivity: f64,
    bound: f64,
    seconds: f64,
}

impl Row {
    fn new(case: &Case, tolerance: f64, verbose: bool) -> Result<Row, String> {
        let expected = Expected::of(case);
        let clock = Instant::now();
        let (found, report) = outputs_from(case, None, tolerance)?;
        let seconds = clock.elapsed().as_secs_f64();
        if verbose {
            for ((name, value), found) in expected.outputs.iter().zip(&found) {
                eprintln!("  {name:12} {value:+.16e} {found:+.16e} {:+.1e}", found / value - 1.0);
            }
        }
        let sensitivity = sensitivity(case, &found, tolerance)?;
        let model = case.model();
        let (n, m) = (model.system.n_coordinates(), model.system.constraints.len());
        Ok(Row {
            size: format!("{n}, {m}"),
            steps: report.statistics.steps,
            error: expected.error(&found),
            sensitivity,
            bound: 1e-11f64.max(50.0 * sensitivity).max(expected.trusted),
            seconds,
        })
    }

    fn is_within(&self) -> bool {
        self.error <= self.bound
    }
}

/// A pendulum for ten thousand seconds: what is left of its constraint, and how its
/// integrals drift.
fn long_run(tolerance: f64) -> Result<String, String> {
    let case = CASES.iter().find(|c| c.name == "spherical_pendulum_t10").ok_or("no case")?;
    let model = case.model();
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let clock = Instant::now();
    let start = start_of(&setting);
    let momentum = |q: &[f64], v: &[f64]| q[0] * v[1] - q[1] * v[0];
    let first = momentum(&start.state.q, &start.state.velocity);
    let report = travel(&setting, &options(&setting, 1e4, tolerance), start)?;
    let last = report.last.as_ref().ok_or("no last state")?;
    let certificate = &report.certificate;
    Ok(format!(
        "| {tolerance:.0e} | {} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.1} |",
        report.statistics.steps,
        certificate.position_residual,
        certificate.velocity_residual,
        certificate.invariants.first().map_or(f64::NAN, |i| i.1),
        (momentum(&last.state.q, &last.state.velocity) / first - 1.0).abs(),
        clock.elapsed().as_secs_f64()
    ))
}

/// A motion with redundant rows or through singular positions, and whether it is as it was
/// asked for: 1e-8 at the reference points, energy to 1e-9, constraints to 1e-12.
fn singular(case: &Case, tolerance: f64) -> Result<(String, bool), String> {
    let expected = Expected::of(case);
    let clock = Instant::now();
    let (found, report) = outputs_from(case, None, tolerance)?;
    let seconds = clock.elapsed().as_secs_f64();
    // Points are named by their components, velocities have a `v` in front of these.
    let is_point = |name: &str| name.starts_with(['B', 'P']) && !name.contains('v');
    let pairs = expected.outputs.iter().zip(&found);
    let (mut points, mut all) = (0f64, 0f64);
    for ((name, value), found) in pairs {
        let off = (found - value).abs();
        all = all.max(off);
        points = points.max(if is_point(name) { off } else { 0.0 });
    }
    let model = case.model();
    let (n, m) = (model.system.n_coordinates(), model.system.constraints.len());
    let certificate = &report.certificate;
    let energy = certificate.invariants.first().map_or(f64::NAN, |i| i.1);
    let residual = certificate.position_residual.max(certificate.velocity_residual);
    let is_good = points <= 1e-8 && energy <= 1e-9 && residual <= 1e-12;
    let ranks = match certificate.ranks {
        (smallest, largest) if smallest == largest => format!("{largest}"),
        (smallest, largest) => {
            format!("{largest} → {smallest}, {} times", certificate.rank_changes.len())
        }
    };
    let line = format!(
        "| {} | {n}, {m} | {tolerance:.0e} | {} | {ranks} | {points:.1e} | {all:.1e} | {energy:.1e} | {residual:.1e} | {seconds:.1} |",
        case.name, report.statistics.steps
    );
    Ok((line, is_good))
}

/// A motion whose rates have corners, and whether it has the digits of its reference.
fn with_corners(case: &Case, digits: f64) -> Result<(String, bool), String> {
    let expected = Expected::of(case);
    let clock = Instant::now();
    let (found, report) = outputs_from(case, None, 1e-12)?;
    let seconds = clock.elapsed().as_secs_f64();
    let (mut worst, mut share) = (0f64, 0f64);
    for ((_, value), found) in expected.outputs.iter().zip(&found) {
        let off = (found - value).abs();
        worst = worst.max((off - 1e-11).max(0.0) / value.abs());
        share = share.max(off / (digits * value.abs() + 1e-11));
    }
    let statistics = &report.statistics;
    let line = format!(
        "| {} | {} | {} | {worst:.1e} | {digits:.0e} | {seconds:.1} |",
        case.name, statistics.steps, statistics.switches
    );
    Ok((line, share <= 1.0))
}

/// A case by another integrator.
fn by_other(name: &str, method: &str, tolerance: f64) -> Result<String, String> {
    let case = CASES.iter().find(|c| c.name == name).ok_or("no case")?;
    let (found, report) = outputs_by(case, method, None, tolerance)?;
    let statistics = &report.statistics;
    Ok(format!(
        "| {name} | {method} | {tolerance:.0e} | {} | {} | {:.1e} |",
        statistics.steps,
        statistics.rejected,
        Expected::of(case).error(&found),
    ))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let only = option("--only");
    let tolerance = option("--tol").and_then(|t| t.parse().ok()).unwrap_or(TOLERANCE);
    let verbose = arguments.iter().any(|a| a == "--verbose");
    println!("# Motions against reference values\n");
    println!(
        "Each row is a motion whose end is known to more digits than a double has: from the \
         *Test Set for IVP Solvers*, the IFToMM benchmarks, the worked examples of the papers, \
         or a closed form. The models are in `gallery/benchmarks/`, the values and their sources \
         in `tests/data/cases.json`. All run with Lagrange's equations, the method that `auto` takes and projection, \
         with a local error of {tolerance:.0e} relative to the size of the motion.\n"
    );
    println!(
        "The error is the largest relative one of all positions, velocities, accelerations, \
         multipliers and momenta that the case has, each relative to itself. Beside it is how \
         much the same numbers change when the start is moved by one ulp, component by component \
         up and down, and made consistent again (0 is moved by the ulp of 1; of more than 20 \
         components twelve are moved). No method can be asked for less than that, so the bound \
         is 50 times as much, or 1e-11 if that is more. n and m count coordinates and constraint \
         rows; the seconds are those of one run, derivation included.\n"
    );
    if let Some(date) = option("--date") {
        println!("Measured on {date} by\n");
        println!("    cargo run --release --example benchmarks -- --date {date}\n");
    }
    println!("| case | n, m | steps | error | by one ulp | bound | within | seconds |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut out = Vec::new();
    let others = arguments.iter().any(|a| a == "--others");
    let positions = arguments.iter().any(|a| a == "--singular");
    let chosen = CASES
        .iter()
        .filter(|c| only.as_ref().is_none_or(|o| c.name.contains(o)))
        .filter(|_| !others && !positions);
    for case in chosen {
        match Row::new(case, tolerance, verbose) {
            Ok(row) => {
                let within = if row.is_within() { "yes" } else { "no" };
                println!(
                    "| {} | {} | {} | {:.1e} | {:.1e} | {:.1e} | {within} | {:.3} |",
                    case.name,
                    row.size,
                    row.steps,
                    row.error,
                    row.sensitivity,
                    row.bound,
                    row.seconds
                );
                if !row.is_within() {
                    out.push(case.name);
                }
            }
            Err(why) => {
                println!("| {} | | | {why} | | | no | |", case.name);
                out.push(case.name);
            }
        }
    }
    println!(
        "\nThe largest error of the slider crank is that of accelerations of the rod's fast modes, \
         which are what is left of forces a thousand times as large."
    );
    println!("\n## Redundant rows and singular positions\n");
    println!(
        "Motions whose rows are always dependent, or become so on the way: the rods of the \
         N-four-bar lie on one line twice a turn and the constraints lose N ranks there. \
         Without flags, at the tolerance given. Errors are absolute: of the reference points, \
         and of all values of the case, velocities included; then the drift of the energy and \
         what is left of the constraints, both relative.\n"
    );
    println!(
        "| case | n, m | tolerance | steps | rank | points | all | energy | constraints | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (case, tolerance) in SINGULAR.iter().filter(|_| !others) {
        if only.as_ref().is_some_and(|o| !case.name.contains(o)) {
            continue;
        }
        match singular(case, *tolerance) {
            Ok((line, is_good)) => {
                println!("{line}");
                if !is_good {
                    out.push(case.name);
                }
            }
            Err(why) => {
                println!("| {} | {why} | | | | | | | | |", case.name);
                out.push(case.name);
            }
        }
    }
    println!("\n## Corners\n");
    println!(
        "The wheelset: creep forces that depend on the normal forces, and bend where they \
         saturate. Its reference was computed across these corners and has the digits given, \
         and none below an absolute 1e-11; here every corner ends a step. Relative error \
         beyond that floor, at a local error of 1e-12.\n"
    );
    println!("| case | steps | corners | error | digits of the reference | seconds |");
    println!("|---|---|---|---|---|---|");
    for (case, digits) in CORNERS.iter().filter(|_| !others) {
        if only.as_ref().is_some_and(|o| !case.name.contains(o)) {
            continue;
        }
        match with_corners(case, *digits) {
            Ok((line, is_good)) => {
                println!("{line}");
                if !is_good {
                    out.push(case.name);
                }
            }
            Err(why) => {
                println!("| {} | {why} | | | | |", case.name);
                out.push(case.name);
            }
        }
    }
    if positions {
        return finish(&out);
    }
    println!("\n## By other integrators\n");
    println!(
        "The same cases by integrators that were asked for, with projection, each at the local \
         error that serves it best; the error and the bound as above. Radau is of order 5 and \
         takes many more steps than the others at such tolerances. The slider crank is not stiff \
         there, and `auto` does not change it: its fast motions have to be followed.\n"
    );
    println!("| case | integrator | tolerance | steps | rejected | error |");
    println!("|---|---|---|---|---|---|");
    for (name, method, tolerance) in BY_OTHERS {
        if only.as_ref().is_some_and(|o| !name.contains(o)) {
            continue;
        }
        match by_other(name, method, *tolerance) {
            Ok(line) => println!("{line}"),
            Err(why) => {
                println!("| {name} | {method} | {tolerance:.0e} | | | {why} |");
                out.push(name);
            }
        }
    }
    if only.is_none() {
        println!("\nOf the public cases these are not in the table:\n");
        for (name, why) in ELSEWHERE {
            println!("- `{name}…`: {why}.");
        }
        println!("\n## A long run\n");
        println!(
            "The spherical pendulum in Cartesian coordinates for 10⁴ seconds, some 9300 swings: \
             what is left of the constraint and of its rate after any step, relative to the terms \
             in them, the drift of the energy relative to its size, and that of the angular \
             momentum about the vertical.\n"
        );
        println!("| tolerance | steps | position | velocity | energy | momentum | seconds |");
        println!("|---|---|---|---|---|---|---|");
        for tolerance in [1e-6, 1e-9, 1e-12] {
            match long_run(tolerance) {
                Ok(line) => println!("{line}"),
                Err(why) => {
                    println!("| {tolerance:.0e} | {why} | | | | | |");
                    out.push("the long run");
                }
            }
        }
    }
    finish(&out)
}

/// Status 1 if a case is out of its bound.
fn finish(out: &[&str]) -> ExitCode {
    if out.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("out of bound: {}", out.join(", "));
    ExitCode::FAILURE
}
