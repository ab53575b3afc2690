//! Pages of the whole gallery: most of them move in the page, the others say why they do not, and
//! what moves in the page is the motion that is computed here.

#![cfg(feature = "documents")]

use dalembert::page::{Made, Origin, make};
use dalembert::simulate::Setting;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::RunOptions;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;

/// Motions that amplify errors, or end at a time that nobody can compute, are compared until here.
const UNTIL: &[(&str, f64)] = &[
    ("double-pendulum", 3.0),
    ("bouncing-ball", 8.0),
    ("benchmarks/kepler", 20.0),
    ("benchmarks/slider-crank", 0.02),
];

/// What ends may differ by, as a part of the size of each coordinate or velocity in the run: the
/// tolerance of steps in the page is 1e-9, and errors of steps add up.
const WITHIN: f64 = 1e-6;

/// The page of an example with values that take the place of its own, its run until some time.
fn page(
    name: &str,
    set: &[String],
    inputs: &[String],
    end: Option<f64>,
    tolerance: f64,
) -> Option<Made> {
    let input = dalembert::Input::open(&format!("gallery:{name}")).ok()?;
    let options =
        dalembert::Options { set: set.to_vec(), inputs: inputs.to_vec(), ..Default::default() };
    let mut loaded = dalembert::load(&input, &options);
    if loaded.is_faulty() {
        return None;
    }
    let model = loaded.model.take()?;
    let setting = Setting::new(&model).ok()?;
    let mut options = RunOptions::of_model(&setting);
    options.end = end.unwrap_or(options.end);
    options.tolerance = tolerance;
    let origin = Origin { model: &model, name, text: &input.text, command: "dal run", end };
    make(origin, (&setting, &options), false, &mut |_| ControlFlow::Continue(())).ok()
}

fn names() -> impl Iterator<Item = &'static str> {
    dalembert::gallery::pages().map(|page| page.name)
}

fn until(name: &str) -> Option<f64> {
    UNTIL.iter().find(|pair| pair.0 == name).map(|pair| pair.1)
}

fn is_alive(made: &Made) -> bool {
    made.data["live"]["code"].is_string()
}

#[test]
fn four_of_five_pages_of_the_gallery_move_without_a_server() {
    let (mut alive, mut all) = (0, 0);
    for name in names() {
        let Some(made) = page(name, &[], &[], None, 1e-9) else { continue };
        all += 1;
        alive += usize::from(is_alive(&made));
        let why = made.data["live"]["why"].as_str().unwrap_or("");
        assert!(is_alive(&made) || !why.is_empty(), "{name} is not alive and does not say why");
        // Data are what docs/json.md says: columns and runs of one shape.
        let (columns, run) = (&made.data["columns"], &made.data["run"]);
        let lengths = |of: &Value| -> Vec<usize> {
            of.as_array().into_iter().flatten().map(|v| v.as_array().map_or(0, Vec::len)).collect()
        };
        let samples = run["t"].as_array().map_or(0, Vec::len);
        assert_eq!(columns.as_array().map(Vec::len), run["values"].as_array().map(Vec::len));
        assert!(lengths(&run["values"]).iter().all(|&n| n == samples), "{name}");
        assert!(lengths(&run["scene"]).iter().all(|&n| n == samples), "{name}");
    }
    println!("{alive} of {all} pages are alive");
    assert!(all >= 80 && 5 * alive >= 4 * all, "{alive} of {all}");
}

/// Runs live programs: for each line of a file, a page and values; writes the ends.
const RUNNER: &str = r#"
const fs = require('node:fs');
const [, , bundle, folder] = process.argv;
const { live } = require(bundle);
const out = [];
for (const { file, values, end, milliseconds } of JSON.parse(fs.readFileSync(folder + '/runs.json', 'utf8'))) {
  const page = JSON.parse(fs.readFileSync(folder + '/' + file, 'utf8'));
  const began = performance.now();
  const m = live(page).simulate(values, end ?? undefined, { milliseconds });
  const took = performance.now() - began;
  const last = (list) => (list.length > 0 ? list[list.length - 1] : null);
  const bad = [...m.values, ...m.scene].flat().some((v) => v !== null && !Number.isFinite(v));
  out.push({ t: last(m.t), values: m.values.map(last), events: m.events, words: m.words, bad, took, samples: m.t.length });
}
fs.writeFileSync(folder + '/ends.json', JSON.stringify(out));
"#;

/// What is run in the page, and what it is compared with.
struct Trial {
    name: &'static str,
    data: Value,
    values: Value,
    end: Option<f64>,
    /// The motion computed here, if there is one.
    native: Option<Made>,
}

fn run_in_node(trials: &[Trial], program: &str, folder: &str) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut runs = Vec::new();
    for (at, trial) in trials.iter().enumerate() {
        let file = format!("{at}.json");
        std::fs::write(folder.join(&file), trial.data.to_string()).expect("it can be written");
        // Without a motion to compare with, as long as a hand that drags would wait.
        let milliseconds = if trial.native.is_some() { 60_000 } else { 40 };
        runs.push(json!({
            "file": file, "values": trial.values, "end": trial.end, "milliseconds": milliseconds,
        }));
    }
    std::fs::write(folder.join("runs.json"), json!(runs).to_string()).expect("it can be written");
    std::fs::write(folder.join("run.cjs"), RUNNER).expect("it can be written");
    let bundle = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/page/assets/live.cjs");
    let run = Command::new(program).arg(folder.join("run.cjs")).arg(bundle).arg(&folder).output();
    let run = run.expect("the program that was found");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(folder.join("ends.json")).expect("node wrote it");
    serde_json::from_str::<Vec<Value>>(&text).expect("JSON")
}

/// By how much ends differ, the largest of all coordinates and velocities, each as a part of its size
/// in the run, or of a thousandth of the largest of them.
fn difference(native: &Made, live: &Value) -> (f64, String) {
    let samples = &native.samples;
    let size = |at: usize| samples.values(at).fold(0.0, |m: f64, x| m.max(x.abs()));
    let mut worst = (0.0, String::new());
    for group in ["coordinate", "velocity", "state"] {
        let places = (0..samples.columns.len()).filter(|&at| samples.columns[at].group == group);
        let places: Vec<usize> = places.collect();
        let largest = places.iter().map(|&at| size(at)).fold(0.0, f64::max);
        for &at in &places {
            let scale = size(at).max(1e-3 * largest).max(f64::MIN_POSITIVE);
            let expected = samples.values(at).last().unwrap_or(f64::NAN);
            let found = live["values"][at].as_f64().unwrap_or(f64::NAN);
            let off = (found - expected).abs() / scale;
            let off = if off.is_nan() { f64::INFINITY } else { off };
            if off > worst.0 {
                let words = format!("{}: {found} and {expected}", samples.columns[at].name);
                worst = (off, words);
            }
        }
    }
    worst
}

fn compare(trials: &[Trial], folder: &str) {
    let Ok(program) = std::env::var("DALEMBERT_NODE") else { return };
    let mut wrong = Vec::new();
    for (trial, live) in trials.iter().zip(run_in_node(trials, &program, folder)) {
        let name = trial.name;
        assert_eq!(live["bad"], json!(false), "{name} shows what is no number");
        let words = live["words"].as_str().unwrap_or("");
        let native = trial.native.as_ref().filter(|made| !made.samples.is_empty());
        let Some(native) = native else {
            // What cannot be done here is not done there.
            if words.is_empty() {
                wrong.push(format!("{name} {}: moves, and should not", trial.values));
            }
            continue;
        };
        if native.report.end == End::Finished && !words.is_empty() {
            wrong.push(format!("{name} {}: {words}", trial.values));
            continue;
        }
        let (off, place) = difference(native, &live);
        println!("{name:44} {off:.1e}  {} samples in {:.0} ms", live["samples"], live["took"]);
        if off > WITHIN {
            wrong.push(format!("{name} {}: {off:.1e} at {place}; {words}", trial.values));
        }
        let events = live["events"].as_array().map_or(0, Vec::len);
        if events != native.report.event_log.len() {
            wrong.push(format!("{name}: {events} events, not {}", native.report.event_log.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_moves_in_the_page_is_the_motion() {
    if std::env::var("DALEMBERT_NODE").is_err() {
        return;
    }
    let mut trials = Vec::new();
    for name in names() {
        let Some(made) = page(name, &[], &[], until(name), 1e-12) else { continue };
        if is_alive(&made) {
            let (data, end) = (made.data.clone(), until(name));
            trials.push(Trial { name, data, values: json!({}), end, native: Some(made) });
        }
    }
    assert!(trials.len() >= 65);
    compare(&trials, "live");
}

/// A parameter and a value of the start are moved by a part of their range.
#[test]
fn sliders_move_it_as_set_does() {
    if std::env::var("DALEMBERT_NODE").is_err() {
        return;
    }
    let mut trials = Vec::new();
    for name in names() {
        let Some(made) = page(name, &[], &[], until(name), 1e-9) else { continue };
        let times = &made.data["live"]["times"];
        let (Some(from), Some(to)) = (times[0].as_f64(), times[1].as_f64()) else { continue };
        let end = Some(from + 0.2 * (to - from));
        for kind in ["parameters", "inputs", "starts"] {
            let Some(slider) = made.data[kind].as_array().and_then(|list| list.last()) else {
                continue;
            };
            let number = |key: &str| slider[key].as_f64().unwrap_or(0.0);
            let value = number("value") + 0.05 * (number("max") - number("value"));
            let slider = slider["name"].as_str().unwrap_or("");
            let asked = [format!("{slider}={value:?}")];
            let native = match kind {
                "inputs" => page(name, &[], &asked, end, 1e-12),
                _ => page(name, &asked, &[], end, 1e-12),
            };
            let values = json!({slider: value});
            trials.push(Trial { name, data: made.data.clone(), values, end, native });
        }
    }
    assert!(trials.len() >= 100);
    compare(&trials, "sliders");
}

/// Models of quantities beside coordinates, and the value of a slider with the text it stands for.
const QUANTITIES: &[(&str, &str, &str, f64, &str)] = &[
    (
        "a state that rests at the start",
        "coord x\nstate z' = x - z\nkinetic x'^2/2\npotential 2*x^2\nforce x: z\n\
         start x = 1, z' = 0\nrun t = 0..3",
        "x",
        1.25,
        "x = 1 -> x = 1.25",
    ),
    (
        "states that rest by equations",
        "coord x\nstate z' = x - z^3 - w, w' = z - 2*w\nkinetic x'^2/2\npotential 2*x^2\n\
         force x: z\nstart x = 1, z' = 0, w' = 0, z ~ 1\nrun t = 0..3",
        "x",
        0.5,
        "x = 1 -> x = 0.5",
    ),
    (
        "a circuit, data and a counter",
        "param L = 0.5\ninput V = 1\ntable f = [[-2, 1], [0, 0], [1, -2], [3, -1]], monotone, hold\n\
         coord x\nstate i' = (V - i - x')/L, n' = 0\nkinetic x'^2/2\npotential x^2/2\n\
         force x: i + f(x)\nevent hit: x = -0.2 falling -> x' = -0.9*x', n = n + 1\n\
         start x = 1, i = 0.3\nrun t = 0..6",
        "V",
        1.2,
        "V = 1 -> V = 1.2",
    ),
    (
        "by H",
        "coord x, y\nstate z' = -x\nhamiltonian (p_x^2 + p_y^2)/2 + (x^2 + 3*y^2)/2\nforce x: z\n\
         start x = 1, p_y = 0.5, z = 0.2\nrun t = 0..4",
        "z",
        0.3,
        "z = 0.2 -> z = 0.3",
    ),
    (
        "a constraint that holds a state",
        "param a = 0.7\ncoord x, y\nstate s' = 1 - s\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n\
         constraint wire: y = a*s*x^2\nstart x = 1, s = 0.5\nrun t = 0..2",
        "a",
        0.8,
        "a = 0.7 -> a = 0.8",
    ),
    (
        "an event that sets when it happens next",
        "param T = 1, J = 0.5\ncoord x\nkinetic x'^2/2\npotential x^2\nstate n' = 0\n\
         event kick: t - 0.5 - n*T = 0 rising -> x' = x' + J, n = n + 1\n\
         start x = 0.3\nrun t = 0..8",
        "J",
        0.4,
        "J = 0.5 -> J = 0.4",
    ),
    (
        "an event that moves its own goal",
        "param d = 0.2\ncoord x\nkinetic x'^2/2\npotential x^2/2\nstate goal' = 0\n\
         event past: x = goal falling -> x' = 0.9*x', goal = goal - d\n\
         start x = 1, goal = 0.8\nrun t = 0..6",
        "d",
        0.3,
        "d = 0.2 -> d = 0.3",
    ),
    (
        "data repeated, and a controller",
        "table r = [[0, 0], [0.7, 0.4], [1.5, -0.3], [2, 0]], cubic, repeat\ncoord x\n\
         state u' = 0, e' = r(t) - x\nkinetic x'^2\nforce x: u + 2*e\n\
         event tick: every 0.05 -> u = 30*(r(t) - x) - 6*x'\nstart e = 0.1\nrun t = 0..3",
        "e",
        0.0,
        "e = 0.1 -> e = 0",
    ),
];

#[test]
fn states_data_and_inputs_move_as_they_do_here() {
    let made = |text: &str| {
        let model = dalembert::parse(text).unwrap_or_else(|faults| panic!("{text}\n{faults:?}"));
        let setting = Setting::new(&model).expect("all has values");
        let mut options = RunOptions::of_model(&setting);
        options.tolerance = 1e-12;
        let origin = Origin { model: &model, name: "", text, command: "", end: None };
        make(origin, (&setting, &options), false, &mut |_| ControlFlow::Continue(())).expect("runs")
    };
    let mut trials = Vec::new();
    for &(name, text, slider, value, change) in QUANTITIES {
        let page = made(text);
        let why = page.data["live"]["why"].as_str().unwrap_or("");
        assert!(is_alive(&page), "{name}: {why}");
        let (from, to) = change.split_once(" -> ").expect("a change");
        assert!(text.contains(from), "{name}");
        let other = made(&text.replacen(from, to, 1));
        let sliders = ["parameters", "inputs", "starts"];
        let all = sliders.iter().flat_map(|kind| page.data[*kind].as_array().expect("a list"));
        assert!(all.clone().any(|one| one["name"] == slider), "{name} has no slider {slider}");
        let data = page.data.clone();
        trials.push(Trial {
            name,
            data: data.clone(),
            values: json!({}),
            end: None,
            native: Some(page),
        });
        let values = json!({slider: value});
        trials.push(Trial { name, data, values, end: None, native: Some(other) });
    }
    compare(&trials, "quantities");
}

/// Whatever sliders say, the page shows numbers or says in words why there are none.
#[test]
fn no_value_of_a_slider_breaks_a_page() {
    let Ok(program) = std::env::var("DALEMBERT_NODE") else { return };
    let mut trials = Vec::new();
    for name in names() {
        let Some(made) = page(name, &[], &[], until(name), 1e-9) else { continue };
        if !is_alive(&made) {
            continue;
        }
        let sliders = |kind: &str| made.data[kind].as_array().cloned().unwrap_or_default();
        let all = [sliders("parameters"), sliders("inputs"), sliders("starts")].concat();
        for slider in all.iter().step_by(1 + all.len() / 3) {
            let key = slider["name"].as_str().unwrap_or("");
            for value in [&slider["min"], &slider["max"], &json!(0), &json!(-1e6)] {
                let values = json!({key: value});
                let data = made.data.clone();
                trials.push(Trial { name, data, values, end: None, native: None });
            }
        }
    }
    assert!(trials.len() >= 400);
    let ends = run_in_node(&trials, &program, "extremes");
    let mut stopped = 0;
    for (trial, live) in trials.iter().zip(ends) {
        let words = live["words"].as_str().unwrap_or("");
        let place = format!("{} {}: {words}", trial.name, trial.values);
        assert_eq!(live["bad"], json!(false), "{place}");
        assert!(!words.contains("cannot be computed"), "{place}");
        let times = &trial.data["live"]["times"];
        let is_there = live["t"].as_f64() == times[1].as_f64();
        assert!(is_there || !words.is_empty(), "{place} ends at {}", live["t"]);
        stopped += usize::from(!words.is_empty());
    }
    // Values like these are too much for some.
    assert!(stopped > 10);
}

/// A page stays small whatever interval its run was asked for; its last sample is the end.
#[test]
fn long_runs_are_thinned() {
    let model = dalembert::parse("coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\n");
    let model = model.expect("a model");
    let setting = Setting::new(&model).expect("no parameters");
    let mut options = RunOptions::of_model(&setting);
    for outputs in [1.0, 7.0, 599.0, 1200.0, 1201.0, 1202.0, 5000.0, 12345.0] {
        options.every = Some(options.end / outputs);
        let mut samples = dalembert::page::samples(&model);
        dalembert::simulate::run::run(&setting, &options, &mut |row| {
            samples.record(&setting, row, None);
            ControlFlow::Continue(())
        })
        .expect("a motion");
        let times = samples.times();
        assert!(times.len() <= 2 * samples.wanted() + 1, "{outputs}: {}", times.len());
        assert_eq!((times.first(), times.last()), (Some(&0.0), Some(&options.end)));
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (longest, rest) = (steps[0], &steps[..steps.len() - 1]);
        assert!(rest.iter().all(|step| (step - longest).abs() < 1e-9), "{outputs}: even steps");
        assert!(steps.iter().all(|step| *step > 0.0 && *step < longest + 1e-9), "{outputs}");
    }
}

/// The data cannot end the element they are in.
#[test]
fn text_of_a_model_stays_text() {
    let page = dalembert::page::fill(&json!({"model": {"text": "</script><script>alert(1)"}}));
    assert!(!page.contains("</script><script>alert"));
    assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"));
}
