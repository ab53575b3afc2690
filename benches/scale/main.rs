//! How cost grows with size: one JSON line a row.
//!
//! `cargo bench --bench scale -- [ROW …]` prints those that are named, with their size (`travel-1000`)
//! or at all sizes (`travel`), or all; `python3 benches/scale/table.py` runs them beside C by hand, writes the table and draws the
//! growth. With `--long` there are N four-bars too, which take minutes. A chain is N unit masses on unit rods in space; oscillators are N unit masses, each on a
//! spring to its neighbours.

#[path = "../peers/median.rs"]
mod median;

use dalembert::compile::{Tape, backends};
use dalembert::expr::Symbol;
use dalembert::simulate::drive::End;
use dalembert::simulate::integrators::Problem;
use dalembert::simulate::run::{Program, RunOptions};
use dalembert::simulate::{DEFAULT, Field, Setting, start};
use dalembert::{Input, Model, Options};
use serde_json::{Value, json};
use std::fmt::Write;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How long a figure is looked for.
const PATIENCE: Duration = Duration::from_millis(600);
/// How often a motion is timed.
const TURNS: usize = 7;
/// Sizes of the growth.
const SIZES: [usize; 4] = [100, 300, 1000, 10_000];

/// A chain; every constraint `times` times.
fn chain(n: usize, times: usize) -> String {
    let mut text = format!(
        "system Chain in space\nconst N = {n}\nparam g = 9.81\ncoord x[1..N], y[1..N], z[1..N]\n\
         for i in 1..N {{\n  kinetic (x[i]'^2 + y[i]'^2 + z[i]'^2)/2\n  potential g*z[i]\n}}\n"
    );
    for k in 1..=times {
        let _ = write!(
            text,
            "constraint first{k}: x[1]^2 + y[1]^2 + z[1]^2 = 1\nfor i in 2..N {{\n  constraint \
             rod{k}[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = 1\n}}\n"
        );
    }
    let mut at = [0.0f64; 3];
    let mut places: [Vec<String>; 3] = Default::default();
    for i in 0..n {
        let (down, side) = (-0.3 - 0.5 * (0.7 * i as f64).sin(), 0.3 * (1.1 * i as f64).sin());
        let rod = [down.cos() * side.cos(), down.cos() * side.sin(), down.sin()];
        for k in 0..3 {
            at[k] += rod[k];
            places[k].push(at[k].to_string());
        }
    }
    for (name, list) in ["x", "y", "z"].iter().zip(&places) {
        let _ = writeln!(text, "start {name} = [{}]", list.join(", "));
    }
    text.push_str("run t = 0..1\n");
    text
}

fn oscillators(n: usize) -> String {
    format!(
        "system Oscillators\nconst N = {n}\nparam k = 3\ncoord x[1..N]\nfor i in 1..N {{\n  \
         kinetic x[i]'^2/2\n  potential k*x[i]^2/2 + sin(x[i])\n  start x[i] = \
         0.1*i/N\n}}\nfor i in 2..N {{\n  potential k*(x[i] - x[i-1])^2/2\n}}\nrun t = 0..1\n"
    )
}

fn load(text: &str) -> Model {
    dalembert::load(&Input::text("model", text), &Options::default()).model.expect("no faults")
}

/// From the text to the first accelerations.
fn first(text: &str) -> f64 {
    let clock = Instant::now();
    let model = load(text);
    let (mut field, state) = field(&model);
    let mut dx = vec![0.0; state.len()];
    field.rates(0.0, &state, &mut dx).expect("rates");
    clock.elapsed().as_secs_f64()
}

/// The compiled rates at the start, decided there.
fn field(model: &Model) -> (Field, Vec<f64>) {
    let setting = Setting::new(model).expect("values");
    let start = start::start(&setting).expect("a start").state;
    let mut field = Field::by_lagrange(&setting, DEFAULT).expect("applies").1;
    let mut x = start.q.clone();
    x.extend(&start.velocity);
    x.push(0.0);
    field.choose_rows(start.t, &x, 1e-9).expect("a motion");
    (field, x)
}

/// One evaluation of the accelerations.
fn evaluate(text: &str) -> f64 {
    let (mut field, mut x) = field(&load(text));
    let mut dx = vec![0.0; x.len()];
    let mut far = x.clone();
    far[0] += 1e-9;
    median::median(PATIENCE, 3, || {
        field.rates(0.0, black_box(&x), &mut dx).expect("rates");
        std::mem::swap(&mut x, &mut far);
    })
}

/// The tape of q̇ and F alone, which are the rates where masses are 1 and nothing is constrained.
fn tape(text: &str) -> f64 {
    let model = load(text);
    let setting = Setting::new(&model).expect("values");
    let (field, x) = field(&model);
    let equations = &field.equations;
    let roots: Vec<_> = equations.kinematics.iter().chain(&equations.force).copied().collect();
    let variables: Vec<Symbol> = std::iter::once(Symbol::TIME)
        .chain(equations.q.clone())
        .chain(equations.v.clone())
        .collect();
    let (symbols, constants) = setting.constants();
    let tape = Tape::lower(&model.exprs, &roots, &symbols, &variables);
    let function = backends::DEFAULT.compile(tape);
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, &constants);
    let mut input = vec![0.0];
    input.extend_from_slice(&x[..x.len() - 1]);
    let mut output = vec![0.0; roots.len()];
    median::median(PATIENCE, 3, || {
        function.call(&mut scratch, black_box(&input), &mut output);
        input[1] += 1e-12;
    })
}

/// One second of motion, the end state alone: the soonest way to the asked error.
fn travel(text: &str, asked: f64) -> Value {
    let model = load(text);
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every) = (1.0, Some(1.0));
    let state = start::start(&setting).expect("a start").state;
    let way = |method: &str, tolerance: f64| {
        let options = RunOptions { method: method.to_owned(), tolerance, ..options.clone() };
        let program = Program::new(&setting, &options).expect("a program");
        let mut traveller = program.traveller(&options).expect("it suits").expect("no events");
        let mut end = |_: ()| {
            let clock = Instant::now();
            let arrived = traveller.travel(&state);
            let seconds = clock.elapsed().as_secs_f64();
            assert_eq!(arrived.end, End::Finished);
            (arrived.x[..state.q.len()].to_vec(), arrived.statistics.steps, seconds)
        };
        let (q, steps, _) = end(());
        let mut times: Vec<f64> = (0..TURNS).map(|_| end(()).2).collect();
        times.sort_by(f64::total_cmp);
        (q, steps, times[TURNS / 2])
    };
    let right = way("taylor", 1e-13).0;
    let mut best = Value::Null;
    for method in ["dop853", "taylor"] {
        for tolerance in [1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
            let (q, steps, seconds) = way(method, tolerance);
            let error = q.iter().zip(&right).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            if error <= asked {
                if best["seconds"].as_f64().is_none_or(|b| seconds < b) {
                    best = json!({"seconds": seconds, "method": method, "tolerance": tolerance,
                        "steps": steps, "error": error});
                }
                break;
            }
        }
    }
    best
}

/// Ten seconds of N four-bars in a row, which pass singular positions, as a whole run with its
/// checks: benchmark A02 of IFToMM.
fn four_bars(n: usize) -> Value {
    let input = Input::open("gallery:benchmarks/n-four-bar").expect("a page");
    let set = vec![format!("N={n}")];
    let model = dalembert::load(&input, &Options { set, ..Options::default() }).model;
    let setting = Setting::new(&model.expect("no faults")).expect("values");
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every) = (10.0, Some(10.0));
    let start = start::start(&setting).expect("a start");
    let program = Program::new(&setting, &options).expect("a program");
    let clock = Instant::now();
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let report = program.run_from(&setting, &options, start, go_on).expect("a motion");
    json!({"seconds": clock.elapsed().as_secs_f64(), "end": format!("{:?}", report.end)})
}

/// Whether a row is meant by a word.
fn is_called(name: &str, word: &str) -> bool {
    name == word || name.rsplit_once('-').is_some_and(|(kind, _)| kind == word)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let tell = |name: String, row: &dyn Fn() -> Value| {
        if words.is_empty() || words.iter().any(|word| is_called(&name, word)) {
            println!("{}", json!({"row": name, "result": row()}));
        }
    };
    for n in SIZES {
        tell(format!("first-{n}"), &|| json!({"seconds": first(&chain(n, 1))}));
        tell(format!("evaluate-{n}"), &|| json!({"seconds": evaluate(&chain(n, 1))}));
        tell(format!("twice-evaluate-{n}"), &|| json!({"seconds": evaluate(&chain(n, 2))}));
        tell(format!("travel-{n}"), &|| travel(&chain(n, 1), 1e-8));
        tell(format!("twice-travel-{n}"), &|| travel(&chain(n, 2), 1e-8));
        tell(format!("oscillators-{n}"), &|| json!({"seconds": evaluate(&oscillators(n))}));
        tell(format!("oscillators-tape-{n}"), &|| json!({"seconds": tape(&oscillators(n))}));
    }
    if std::env::args().any(|word| word == "--long") {
        for n in [100, 300, 1000] {
            tell(format!("four-bars-{n}"), &|| four_bars(n));
        }
    }
}
