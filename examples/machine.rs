//! The mass matrix, the forces, the accelerations and the multipliers of models at their starts, and what
//! one evaluation costs, as one JSON object a line: `cargo run --release --example machine -- FILE …`.
//! `benches/machines/table.py` holds them against another program. With `--growth` the times are those of
//! each stage on the way from the text to a second of motion, with `--along-tree` trees of any size are
//! solved by `articulated-bodies`, with `--untimed` nothing is timed.

use dalembert::gauss::{ALONG_TREE, DEFAULT, Elimination, Outcome, Scratch, Tolerances};
use dalembert::simulate::integrators::Problem;
use dalembert::simulate::run::RunOptions;
use dalembert::simulate::{Field, Numbers, Program, Setting, start};
use dalembert::{Input, Model, Options};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

type Way = &'static dyn Elimination;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_growth = arguments.iter().any(|a| a == "--growth");
    let by = if arguments.iter().any(|a| a == "--along-tree") { ALONG_TREE } else { DEFAULT };
    let is_timed = arguments.iter().all(|a| a != "--untimed");
    for path in arguments.iter().filter(|a| !a.starts_with("--")) {
        let text = std::fs::read_to_string(path)?;
        let line = if is_growth { growth(&text, by)? } else { state(&text, by, is_timed)? };
        println!("{line}");
    }
    Ok(())
}

fn load(text: &str) -> Result<Model, Box<dyn std::error::Error>> {
    let loaded = dalembert::load(&Input::text("machine", text), &Options::default());
    Ok(loaded.model.ok_or("the model has faults")?)
}

/// A list of numbers with all their digits.
fn list(numbers: &[f64]) -> String {
    let all: Vec<String> = numbers.iter().map(|x| format!("{x:e}")).collect();
    format!("[{}]", all.join(", "))
}

/// The rates at the start, with their field.
fn field(model: &Model, by: Way) -> Result<(Field, Vec<f64>), Box<dyn std::error::Error>> {
    let setting = Setting::new(model).map_err(|_| "values are missing")?;
    let start = start::start(&setting).map_err(|_| "no start")?.state;
    let options = RunOptions { elimination: by, ..RunOptions::of_model(&setting) };
    let mut field = Program::new(&setting, &options).map_err(|_| "no equations")?.field();
    let mut x = start.q.clone();
    x.extend(&start.velocity);
    x.push(0.0);
    field.choose_rows(start.t, &x, 1e-9).map_err(|_| "no motion")?;
    Ok((field, x))
}

/// Seconds of one evaluation of the rates, the median of many.
fn evaluation(field: &mut Field, x: &[f64]) -> f64 {
    let mut dx = vec![0.0; x.len()];
    let (mut here, mut there) = (x.to_vec(), x.to_vec());
    there[0] += 1e-9;
    let mut times = Vec::new();
    let begun = Instant::now();
    // In code where that is made for what is asked often.
    for _ in 0..3000 {
        let _ = field.rates(0.0, black_box(&here), &mut dx);
        std::mem::swap(&mut here, &mut there);
        if begun.elapsed() > Duration::from_millis(500) {
            break;
        }
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(600) || times.len() < 5 {
        let clock = Instant::now();
        for _ in 0..20 {
            let _ = field.rates(0.0, black_box(&here), &mut dx);
            std::mem::swap(&mut here, &mut there);
        }
        times.push(clock.elapsed().as_secs_f64() / 20.0);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn state(text: &str, by: Way, is_timed: bool) -> Result<String, Box<dyn std::error::Error>> {
    let model = load(text)?;
    let (mut field, x) = field(&model, by)?;
    let setting = Setting::new(&model).map_err(|_| "values are missing")?;
    let start = start::start(&setting).map_err(|_| "no start")?.state;
    let numbers = Numbers::at(&setting, &field.equations, &start).map_err(|_| "no numbers")?;
    let mut outcome = Outcome::default();
    by.solve(&mut Scratch::default(), &numbers.terms(), &Tolerances::default(), &mut outcome)?;
    let seconds = if is_timed { evaluation(&mut field, &x) } else { 0.0 };
    let dense = numbers.with_zeros();
    Ok(format!(
        "{{\"n\": {}, \"m\": {}, \"q\": {}, \"v\": {}, \"mass\": {}, \"force\": {}, \"rows\": {}, \
         \"accelerations\": {}, \"multipliers\": {}, \"seconds\": {seconds:e}}}",
        dense.size,
        dense.bias.len(),
        list(&start.q),
        list(&start.velocity),
        list(&dense.metric),
        list(&dense.force),
        list(&dense.jacobian),
        list(&outcome.v_dot),
        list(&outcome.multipliers),
    ))
}

fn growth(text: &str, by: Way) -> Result<String, Box<dyn std::error::Error>> {
    let clock = Instant::now();
    let model = load(text)?;
    let read = clock.elapsed().as_secs_f64();
    let setting = Setting::new(&model).map_err(|_| "values are missing")?;
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every, options.elimination) = (1.0, Some(1.0), by);
    let clock = Instant::now();
    let program = Program::new(&setting, &options).map_err(|_| "no program")?;
    let made = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let report = program
        .run(&setting, &options, &mut |_| ControlFlow::Continue(()))
        .map_err(|_| "no motion")?;
    let moved = clock.elapsed().as_secs_f64();
    // Null where it ended early.
    let is_whole = report.last.as_ref().is_some_and(|last| last.state.t == options.end);
    let moved = if is_whole { format!("{moved:e}") } else { "null".to_owned() };
    let (mut field, x) = field(&model, by)?;
    let seconds = evaluation(&mut field, &x);
    Ok(format!(
        "{{\"n\": {}, \"read\": {read:e}, \"derive and compile\": {made:e}, \"acceleration\": \
         {seconds:e}, \"motion\": {moved}, \"steps\": {}}}",
        model.system.n_coordinates(),
        report.statistics.steps,
    ))
}
