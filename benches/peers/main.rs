//! dalembert's rows of the comparison with peers: one JSON line for each.
//!
//! `cargo bench --bench peers -- [ROW …] [--method=NAME]` prints them, with `--precision` those of
//! all tolerances; `python3 benches/peers/compare.py` runs them in turn with those of the peers and
//! writes the table, `precision.py` draws work against precision. What is timed is the way from the
//! start to the end state alone, by the method and the tolerance that reach the asked error soonest,
//! compiled ahead; the time for all that comes before it, from reading the text on, is beside it.

mod median;
mod motions;

use dalembert::simulate::integrators::Problem;
use dalembert::simulate::{DEFAULT, Field, Setting, start};
use dalembert::{Input, Model, Options};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Duration;

/// How long a figure is looked for.
const PATIENCE: Duration = Duration::from_millis(400);

fn load(text: &str, set: &[String]) -> Model {
    let input = match text.starts_with("gallery:") {
        true => Input::open(text).expect("a page"),
        false => Input::text("model", text),
    };
    let options = Options { set: set.to_vec(), ..Options::default() };
    dalembert::load(&input, &options).model.expect("no faults")
}

/// Seconds of one call.
fn median(call: impl FnMut()) -> f64 {
    median::median(PATIENCE, 5, call)
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
    let start = start::start(&setting).expect("a start").state;
    let mut field = Field::by_lagrange(&setting, DEFAULT).expect("applies").1;
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
    let mut t = 0.0;
    let mut call = || {
        t = 1e-9 - t;
        field.rates(t, black_box(&x), &mut dx).expect("rates");
    };
    // Compiled on the way.
    (0..200).for_each(|_| call());
    json!({"seconds": median(call)})
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
    let is_precision = std::env::args().any(|a| a == "--precision");
    for n in [10, 50] {
        let row = format!("derive-{n}");
        if is_asked(&row) && !is_precision {
            say(&row, derive(n));
        }
    }
    for n in [2, 10, 50] {
        let row = format!("evaluate-{n}");
        if is_asked(&row) && !is_precision {
            say(&row, evaluate(n));
        }
    }
    for motion in motions::MOTIONS.iter().filter(|motion| is_asked(motion.name)) {
        if is_precision {
            let found = motions::precision(motion, method.as_deref());
            found.into_iter().for_each(|value| say(motion.name, value));
        } else {
            say(motion.name, motions::travel(motion, method.as_deref()));
        }
    }
}
