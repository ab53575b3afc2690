//! `dal run`: its JSON, its files, its exit status.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

#[path = "support/tables.rs"]
mod tables;

const PENDULUM: &str = "system Pendulum\nparam m = 1, l = 2, g = 9.81\ncoord x, y\n\
    kinetic m/2*(x'^2 + y'^2)\npotential m*g*y\nconstraint rod: x^2 + y^2 = l^2\n\
    start x = 1.2, y ~ -1\nobserve height = y + l\n";

/// Every kind of file.
const ENDINGS: [&str; 4] = ["csv", "json", "parquet", "arrow"];

fn start(arguments: &[&str], input: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .arg("run")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    // A program that has seen enough may close its end early.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child
}

fn run(arguments: &[&str], input: &str) -> Output {
    start(arguments, input).wait_with_output().expect("dal ends")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit status")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn json(arguments: &[&str], input: &str) -> (i32, Value) {
    let output = run(&[arguments, &["--json"]].concat(), input);
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "one object on one line: {text}\n{}", err(&output));
    (code(&output), serde_json::from_str(&text).expect("JSON"))
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("run").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|o| o.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn the_object_has_every_field() {
    let (status, value) = json(&["-"], PENDULUM);
    assert_eq!(status, 0, "{value}");
    #[rustfmt::skip]
    assert_eq!(
        keys(&value),
        [
            "format", "system", "t", "state", "start", "steps", "rejected", "evaluations", "switches",
            "decisions", "frozen", "decided",
            "method", "method_choice", "formulation", "seconds", "certificate", "error_estimate",
            "constraints", "events",
            "energy_of_events", "impulses", "end", "files", "verdict", "diagnostics",
        ]
    );
    assert_eq!(value["format"], 1);
    assert_eq!(value["system"], "Pendulum");
    assert_eq!(value["t"], 10.0);
    assert_eq!(keys(&value["state"]), ["x", "y", "x'", "y'"]);
    assert_eq!(keys(&value["seconds"]), ["derive", "compile", "integrate"]);
    assert!(value["seconds"].as_object().expect("it").values().all(Value::is_f64));
    for count in ["steps", "rejected", "evaluations", "switches"] {
        assert!(value[count].is_u64(), "{count}: {value}");
    }
    assert_eq!((&value["method"], &value["formulation"]), (&"taylor".into(), &"lagrange".into()));
    let certificate = &value["certificate"];
    assert_eq!(
        keys(certificate),
        [
            "position_residual",
            "velocity_residual",
            "held_by",
            "energy_balance",
            "invariants",
            "gauss",
            "rank_changes",
            "rank"
        ]
    );
    assert!(certificate["invariants"]["energy"].as_f64().is_some_and(|drift| drift < 1e-7));
    assert_eq!(certificate["rank"], serde_json::json!({"smallest": 1, "largest": 1}));
    let rod = &value["constraints"]["rod"];
    assert_eq!(keys(rod), ["largest_multiplier", "t"]);
    // |λ| = |F|/(2l), and F = m g (3 cos θ − 2 cos θ₀) is largest at the bottom.
    let most = 9.81 * (3.0 - 2.0 * 0.8) / 4.0;
    assert!((rod["largest_multiplier"].as_f64().expect("it") - most).abs() < 1e-3 * most, "{rod}");
    assert_eq!(value["events"], serde_json::json!([]));
    assert_eq!(value["end"], serde_json::json!({"how": "finished"}));
    assert_eq!(value["files"], serde_json::json!([]));
    assert_eq!(value["diagnostics"], serde_json::json!([]));
    assert_eq!(value["verdict"], "pass");
}

#[test]
fn momenta_are_part_of_the_state_where_they_are_integrated() {
    let (status, value) = json(&["-", "--formulation", "hamilton"], PENDULUM);
    assert_eq!(status, 0, "{value}");
    assert_eq!(keys(&value["state"]), ["x", "y", "x'", "y'", "p_x", "p_y"]);
    assert_eq!(value["formulation"], "hamilton");
}

#[test]
fn every_kind_of_file_holds_the_same() {
    // More rows than one block of Parquet or Arrow holds.
    let folder = folder("same");
    let mut tables = Vec::new();
    for ending in ENDINGS {
        // Its multipliers are not unique, so that values are missing.
        let path = folder.join("wheels").with_extension(ending);
        let model = "gallery:two-wheels-on-an-axle";
        let arguments = [model, "--forces", "--every", "0.0005", "--out", text(&path)];
        let (status, value) = json(&arguments, "");
        assert_eq!(status, 0, "{value}");
        let table = tables::read(&path);
        let file = &value["files"][0];
        assert_eq!(file["path"], text(&path));
        assert_eq!(file["rows"], table.rows.len());
        assert_eq!(file["columns"], table.names.len());
        tables.push(table);
    }
    let csv = &tables[0];
    assert_eq!(csv.rows.len(), 20_001);
    assert_eq!(csv.names[..3], ["t", "x1", "y1"]);
    assert!(csv.names.iter().any(|name| name == "multiplier(roll1)"));
    assert!(csv.rows.iter().flatten().any(Option::is_none), "values are missing");
    assert!(csv.rows.iter().all(|row| row[0].is_some()));
    for (ending, table) in ENDINGS.iter().zip(&tables) {
        assert_eq!((&table.names, table.rows.len()), (&csv.names, csv.rows.len()), "{ending}");
        // The reader of JSON may be off by the last digit of a number.
        let most = if *ending == "json" { f64::EPSILON } else { 0.0 };
        for (a, b) in table.rows.iter().flatten().zip(csv.rows.iter().flatten()) {
            assert_eq!(a.is_some(), b.is_some(), "{ending}");
            let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
            assert!((a - b).abs() <= most * b.abs(), "{ending}: {a} for {b}");
        }
    }
}

/// Tables of more than one block, against a reader that others wrote.
#[test]
fn pyarrow_reads_the_same() {
    let Some(python) = std::env::var_os("DALEMBERT_PYARROW") else { return };
    let folder = folder("pyarrow");
    let mut arguments = vec![
        "gallery:two-wheels-on-an-axle".to_owned(),
        "--forces".to_owned(),
        "--every=0.0005".to_owned(),
        "--out".to_owned(),
    ];
    for ending in ENDINGS {
        let path = folder.join("run").with_extension(ending);
        arguments.push(text(&path).to_owned());
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = run(&words, "");
        assert_eq!(code(&output), 0, "{}", err(&output));
        arguments.pop();
    }
    let program = "import json, sys, pyarrow.ipc, pyarrow.parquet\n\
        p = pyarrow.parquet.read_table('run.parquet')\n\
        a = pyarrow.ipc.open_file('run.arrow').read_all()\n\
        s = pyarrow.ipc.open_stream(open('run.arrow', 'rb').read()[8:]).read_all()\n\
        j = json.load(open('run.json'))\n\
        p.validate(full=True); a.validate(full=True)\n\
        assert pyarrow.parquet.ParquetFile('run.parquet').num_row_groups > 1\n\
        assert a.equals(p) and s.equals(p)\n\
        assert p.column_names == j['columns']\n\
        assert [list(c) for c in zip(*j['rows'])] == [c.to_pylist() for c in p.columns]\n";
    let output =
        Command::new(python).args(["-c", program]).current_dir(&folder).output().expect("it runs");
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn options_take_effect() {
    let folder = folder("options");
    let path = folder.join("run.csv");
    let table = |more: &[&str]| {
        let output = run(&[&["-", "--out", text(&path)], more].concat(), PENDULUM);
        assert_eq!(code(&output), 0, "{more:?}: {}", err(&output));
        tables::read(&path)
    };
    let names = |table: &tables::Table| table.names.join(" ");
    let times = |table: &tables::Table| -> Vec<f64> {
        table.rows.iter().map(|row| row[0].expect("a time")).collect()
    };
    assert_eq!(names(&table(&[])), "t x y x' y' height");
    assert_eq!(times(&table(&["--t-end", "1", "--every", "0.25"])), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(times(&table(&["--t-end", "1", "--every", "0.4"])), [0.0, 0.4, 0.8, 1.0]);
    assert_eq!(times(&table(&["--t-end", "-1", "--every", "0.5"])), [0.0, -0.5, -1.0]);
    assert_eq!(
        names(&table(&["--forces", "--t-end", "1"])),
        "t x y x' y' height x'' y'' reaction(x) reaction(y) multiplier(rod) energy power work"
    );
    assert_eq!(
        names(&table(&["--formulation", "hamilton", "--t-end", "1"])),
        "t x y x' y' p_x p_y height"
    );
    // What is shown is an output too, but nothing is one twice.
    assert_eq!(
        names(&table(&["--t-end", "1", "--show", "x, height, x*y against y", "--show", "energy"])),
        "t x y x' y' height x*y energy"
    );
    let number = |more: &[&str], key: &str| -> f64 {
        let (_, value) = json(&[&["-", "--t-end", "2"], more].concat(), PENDULUM);
        value[key].as_f64().unwrap_or_else(|| panic!("{more:?}: {value}"))
    };
    let steps =
        |tolerance: &str, method: &str| number(&["--tol", tolerance, "--method", method], "steps");
    assert!(steps("1e-12", "dop853") > steps("1e-6", "dop853"));
    assert_eq!(number(&["--step", "0.01"], "steps"), 200.0);
    let longest = number(&["--max-step", "0.01"], "steps");
    assert!((200.0..220.0).contains(&longest), "{longest}");
    let residual = |how: &str| -> f64 {
        let arguments = ["-", "--t-end", "50", "--step", "0.2", "--stabilize", how];
        let (_, value) = json(&arguments, PENDULUM);
        value["certificate"]["position_residual"].as_f64().unwrap_or_else(|| panic!("{value}"))
    };
    let none = residual("none");
    for how in ["projection", "baumgarte", "ggl"] {
        assert!(residual(how) < 0.1 * none, "{how}: {} of {none}", residual(how));
    }
    for elimination in ["multipliers", "udwadia-kalaba", "singular-mass"] {
        assert_eq!(number(&["--elimination", elimination], "t"), 2.0);
    }
    let (_, value) = json(&["-", "--set", "l=3", "--t-end", "1"], PENDULUM);
    let (x, y) = (value["state"]["x"].as_f64(), value["state"]["y"].as_f64());
    assert!((x.expect("x").hypot(y.expect("y")) - 3.0).abs() < 1e-12);
}

#[test]
fn a_run_backwards_returns_to_its_start() {
    let (status, there) = json(&["-", "--t-end", "3", "--tol", "1e-12"], PENDULUM);
    assert_eq!(status, 0);
    let state = |name: &str| there["state"][name].to_string();
    let back = PENDULUM.replace(
        "start x = 1.2, y ~ -1",
        &format!(
            "start x = {}, y ~ {}, x' = {}, y' ~ {}\nrun t = 3..0",
            state("x"),
            state("y"),
            state("x'"),
            state("y'")
        ),
    );
    let (status, value) = json(&["-", "--tol", "1e-12"], &back);
    assert_eq!((status, &value["t"]), (0, &Value::from(0.0)), "{value}");
    let x = value["state"]["x"].as_f64().expect("x");
    assert!((x - 1.2).abs() < 1e-9, "{x}");
}

#[test]
fn wrong_usage_is_told_before_anything_is_written() {
    let folder = folder("usage");
    let out = |name: &str| folder.join(name).display().to_string();
    for (arguments, says) in [
        (vec!["--out".to_owned(), out("run.xlsx")], "`.parquet`"),
        (vec!["--out".to_owned(), out("run")], "`.csv`"),
        (vec!["--out".to_owned(), out("no/such/folder/run.csv")], "cannot write"),
        (vec!["--plot".to_owned(), out("fig.tiff")], "`.svg`, `.png`, `.pdf`, `.gif`"),
        (vec!["--plot".to_owned(), out("fig.png"), "--animate".to_owned()], "can move"),
        (["--plot", &out("fig.png"), "--frames", "0"].map(String::from).to_vec(), "--frames"),
        (vec!["--plot".to_owned(), out("no/such/folder/fig.svg")], "cannot write"),
        (vec!["--show".to_owned(), "x against".to_owned()], "missing"),
        (vec!["--method".to_owned(), "guess".to_owned()], "guess"),
        (vec!["--every".to_owned(), "0".to_owned()], "every"),
        (vec!["--stabilize".to_owned(), "tape".to_owned()], "projection"),
    ] {
        let words: Vec<&str> = std::iter::once("-").chain(arguments.iter().map(|a| &**a)).collect();
        let output = run(&words, PENDULUM);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(says), "{arguments:?}: {}", err(&output));
    }
    assert_eq!(std::fs::read_dir(&folder).expect("it").count(), 0, "nothing was written");
    // A quantity that the model does not have is underlined like one in the model.
    let output = run(&["-", "--show", "x, z"], PENDULUM);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("--show:1:9") && err(&output).contains("unknown-name"));
}

#[test]
fn a_run_that_cannot_begin_leaves_the_old_file() {
    let path = folder("old").join("run.csv");
    std::fs::write(&path, "precious").expect("written");
    let clash = format!("{PENDULUM}start y = 1\n");
    let output = run(&["-", "--out", text(&path)], &clash);
    assert_eq!(code(&output), 1, "{}", err(&output));
    assert_eq!(std::fs::read_to_string(&path).expect("it"), "precious");
}

#[test]
fn a_run_that_fails_keeps_what_it_has() {
    let folder = folder("failed");
    let model = "coord r\nkinetic r'^2/2\npotential -1/r\nstart r = 1\nrun t = 0..2, every 0.1\n";
    for ending in ENDINGS {
        let path = folder.join("run").with_extension(ending);
        let plot = folder.join("run.svg");
        let output = run(&["-", "--out", text(&path), "--plot", text(&plot)], model);
        assert_eq!(code(&output), 3, "{}", err(&output));
        // r is 0 at t = π/(2√2).
        assert_eq!(tables::read(&path).rows.len(), 12, "{ending}");
        assert!(std::fs::read_to_string(&plot).expect("it").ends_with("</svg>\n"));
    }
}

#[test]
fn figures_show_what_was_asked_for() {
    let folder = folder("figures");
    let path = folder.join("fig.svg");
    let picture = |more: &[&str]| {
        let output = run(&[&["-", "--plot", text(&path)], more].concat(), PENDULUM);
        assert_eq!(code(&output), 0, "{more:?}: {}", err(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("fig.svg"));
        std::fs::read_to_string(&path).expect("a figure")
    };
    let plain = picture(&[]);
    // It swings a little: y would be flat beside x.
    assert!(plain.contains("<title>Pendulum: x against t; y against t</title>"), "{plain}");
    assert_eq!(plain.matches("<clipPath").count(), 2);
    let chosen = picture(&["--show", "y against x"]);
    assert!(chosen.contains("<title>Pendulum: y against x</title>"), "{chosen}");
    let panels = picture(&["--show", "multiplier(rod), height", "--show", "x' against x, y"]);
    assert!(
        panels.contains(
            "multiplier(rod) against t; height against t; \u{1e8b} against x, y against t against x, t"
        ) || panels.contains("height against t; x\u{307} against x, y against t against x, t"),
        "{panels}"
    );
    // A multiplier and a height do not share an axis.
    assert_eq!(panels.matches("<clipPath").count(), 3);
    assert!(!panels.contains("NaN"));
}

#[test]
fn progress_is_for_terminals_only() {
    let output = run(&["gallery:double-pendulum", "--t-end", "200"], "");
    assert_eq!(err(&output), "");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::time::{Duration, Instant};

    /// Takes minutes if it is not stopped.
    const LONG: [&str; 5] = ["gallery:double-pendulum", "--t-end", "100000", "--every", "0.05"];

    fn signal(child: &Child, name: &str) {
        let command = format!("kill -{name} {}", child.id());
        let status = Command::new("sh").args(["-c", &command]).status().expect("sh runs");
        assert!(status.success());
    }

    /// Waits until a file has at least so many bytes.
    fn wait_for(path: &Path, bytes: u64) {
        let begun = Instant::now();
        while std::fs::metadata(path).map_or(0, |m| m.len()) < bytes {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn check_times(table: &tables::Table, ending: &str) {
        assert!(table.rows.len() > 10, "{ending}: {} rows", table.rows.len());
        for (at, row) in table.rows.iter().enumerate() {
            let t = row[0].expect("a time");
            assert!((t - 0.05 * at as f64).abs() < 1e-6, "{ending}: row {at} is at {t}");
        }
    }

    #[test]
    fn an_interrupted_run_ends_its_file() {
        let folder = folder("interrupted");
        for ending in ENDINGS {
            let path = folder.join("run").with_extension(ending);
            let child = start(&[&LONG[..], &["--json", "--out", text(&path)]].concat(), "");
            wait_for(&path, 4000);
            signal(&child, "INT");
            let output = child.wait_with_output().expect("dal ends");
            assert_eq!(code(&output), 3, "{}", err(&output));
            let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(value["stopped"], "interrupted");
            assert_eq!(value["verdict"], "the run was interrupted");
            let table = tables::read(&path);
            check_times(&table, ending);
            assert_eq!(value["files"][0]["rows"], table.rows.len());
            // Everything up to where it was stopped is there.
            let t = value["t"].as_f64().expect("a time");
            let last = table.rows.last().and_then(|row| row[0]).expect("a time");
            assert!((0.0..0.05 + 1e-6).contains(&(t - last)), "{t} after {last}");
        }
    }

    #[test]
    fn a_run_is_stopped_between_outputs() {
        let path = folder("between").join("run.csv");
        let arguments = [&LONG[..4], &["100000", "--out", text(&path)]].concat();
        let child = start(&arguments, "");
        wait_for(&path, 1);
        std::thread::sleep(Duration::from_millis(200));
        signal(&child, "TERM");
        let output = child.wait_with_output().expect("dal ends");
        assert_eq!(code(&output), 3, "{}", err(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains(", as asked"));
        assert_eq!(tables::read(&path).rows.len(), 1);
    }

    fn wait_until_stopped(child: &Child) {
        for _ in 0..1000 {
            std::thread::sleep(Duration::from_millis(5));
            match std::fs::read_to_string(format!("/proc/{}/stat", child.id())) {
                // The state comes after the name, which is in parentheses.
                Ok(line) if line.contains(") T ") => return,
                Ok(_) => {}
                // Where nothing tells, a while is enough.
                Err(_) => return std::thread::sleep(Duration::from_millis(300)),
            }
        }
        panic!("it does not stop");
    }

    #[test]
    fn a_killed_run_leaves_a_readable_file() {
        let folder = folder("killed");
        for ending in ENDINGS {
            let path = folder.join("run").with_extension(ending);
            let mut child = start(&[&LONG[..], &["--out", text(&path)]].concat(), "");
            wait_for(&path, 4000);
            // A process that is stopped is between two calls: in the middle of one a file may be
            // cut anywhere.
            signal(&child, "STOP");
            wait_until_stopped(&child);
            signal(&child, "KILL");
            child.wait().expect("it ends");
            check_times(&tables::read(&path), ending);
        }
    }
}

const BLOCK: &str = "param m = 2, g = 9.81, alpha = 0.5, mu = 0.7\ncoord x, y\n\
    kinetic m/2*(x'^2 + y'^2)\npotential m*g*(x*sin(alpha) + y*cos(alpha))\n\
    constraint floor: y = 0\nnonideal x: -mu*abs(multiplier(floor))*sign(x')\n\
    start x = 0, x' = 3\nrun t = 0..2\n";

#[test]
fn a_motion_that_sticks_is_no_failure() {
    let (status, value) = json(&["-"], BLOCK);
    assert_eq!(status, 0);
    assert_eq!(value["verdict"], "pass");
    assert_eq!(value["phases"]["sliding"][0]["switches"][0], "sign(x')");
    let exact = 3.0 / (9.81 * (0.5f64.sin() + 0.7 * 0.5f64.cos()));
    assert_eq!(value["end"]["how"], "finished");
    let t = &value["phases"]["sliding"][0]["t"];
    assert!((t.as_f64().expect("a time") - exact).abs() < 1e-9);
    let output = run(&["-"], BLOCK);
    let page = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert!(page.contains("`sign(x')` sticks at t = 0.2796"), "{page}");
}

#[test]
fn friction_without_a_common_solution_is_told() {
    let rod = "param mu = 1.8\ncoord x, y, th\nkinetic (x'^2 + y'^2)/2 + th'^2/6\n\
        potential 9.81*y\nconstraint floor: y = sin(th)\nlet slip = x' + sin(th)*th'\n\
        nonideal -mu*abs(multiplier(floor))*sign(slip) along slip\n\
        start x = 0, x' = -1, th = 1.3, th' = 0\n";
    let (status, value) = json(&["-"], rod);
    assert_eq!(status, 3);
    assert_eq!(value["diagnostics"][0]["code"], "no-common-solution", "{value}");
    let words = value["error"].as_str().expect("words");
    assert!(words.contains("no common solution"), "{words}");
}

#[test]
fn rows_that_nearly_depend_are_named() {
    // Friction goes by the multiplier of a row as written, and there is none in doubles.
    let spheres = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential 9.81*z\n\
        constraint first: x^2 + y^2 + z^2 = 4\n\
        constraint second: sqrt(x^2 + y^2 + z^2 + 1e-14*z) = 2\n\
        nonideal x: -0.1*abs(multiplier(first))*tanh(x')\nstart x = 2, y' = 1\n";
    let (status, value) = json(&["-"], spheres);
    assert_eq!(status, 1);
    let found = &value["diagnostics"][0];
    assert_eq!(found["code"], "nearly-dependent", "{value}");
    assert!(found["message"].as_str().is_some_and(|m| m.contains("e-15")), "{found}");
    assert_eq!(found["labels"].as_array().map(Vec::len), Some(2), "{found}");
}

#[test]
fn rows_that_are_not_decided_are_named() {
    let touching = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential 9.81*z + 0.3*x\n\
        constraint sphere: x^2 + y^2 + z^2 = 1\nconstraint plane: z = 1\n\
        start x = 0, y = 0, z = 1\n";
    let (status, value) = json(&["-"], touching);
    assert_eq!(status, 1);
    let found = &value["diagnostics"][0];
    assert_eq!(found["code"], "undecided-rows", "{value}");
    assert_eq!(found["labels"].as_array().map(Vec::len), Some(2), "{found}");
}

/// A mass on a hard spring with strong damping.
const STIFF: &str = "
system Hard spring
coord x
kinetic x'^2/2
force x: -1e6*(x - cos(t)) - 1e5*(x' + sin(t)) - cos(t)
start x = 1, x' = 0
run t = 0..5, tol 1e-7
";

#[test]
fn a_stiff_motion_is_handed_on_with_a_reason() {
    let (status, value) = json(&["-"], STIFF);
    assert_eq!(status, 0, "{value}");
    let choice = &value["method_choice"];
    assert_eq!(keys(choice), ["asked", "reason", "changes", "notes", "step"]);
    assert_eq!((&value["method"], &choice["asked"]), (&"radau".into(), &"auto".into()));
    let change = &choice["changes"][0];
    assert_eq!((&change["from"], &change["to"]), (&"taylor".into(), &"radau".into()));
    assert!(change["t"].as_f64().is_some_and(|t| t > 0.0 && t < 5.0));
    assert!(change["reason"].as_str().is_some_and(|words| words.contains("mostly in `x`")));
    let x = value["state"]["x"].as_f64().expect("it");
    assert!((x - 5f64.cos()).abs() < 1e-6, "{x}");
}

#[test]
fn constant_steps_are_reported_and_hold_what_they_claim() {
    let (status, value) =
        json(&["-", "--formulation", "hamilton", "--method", "rattle", "--step", "0.01"], PENDULUM);
    assert_eq!(status, 0, "{value}");
    assert_eq!(value["method_choice"]["step"], 0.01);
    assert_eq!(value["certificate"]["held_by"], "the method itself");
    assert!(value["certificate"]["position_residual"].as_f64().is_some_and(|r| r < 1e-13));
    // Without a step one is chosen.
    let (_, value) =
        json(&["-", "--formulation", "hamilton", "--method", "rattle", "--tol", "1e-5"], PENDULUM);
    assert!(value["method_choice"]["step"].as_f64().is_some_and(|h| h > 1e-5 && h < 0.1));
}

#[test]
fn an_integrator_that_does_not_suit_is_wrong_usage() {
    let (status, value) = json(&["-", "--method", "rattle"], PENDULUM);
    assert_eq!(status, 2, "{value}");
    let words = value["error"].as_str().expect("words");
    assert!(words.contains("--formulation hamilton"), "{words}");
    let (status, value) = json(&["-", "--method", "euler"], PENDULUM);
    assert_eq!(status, 2, "{value}");
    assert!(value["error"].as_str().is_some_and(|words| words.contains("dop853, taylor, gauss4")));
}

#[test]
fn figures_come_in_the_format_of_their_ending() {
    let folder = folder("formats");
    let drawn = format!("{PENDULUM}draw line [0, 0], [x, y]\ndraw trace [x, y]\n");
    let picture = |name: &str, more: &[&str]| {
        let path = folder.join(name);
        let output = run(&[&["-", "--t-end", "1", "--plot", text(&path)], more].concat(), &drawn);
        assert_eq!(code(&output), 0, "{name}: {}", err(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains(name));
        std::fs::read(&path).expect("a picture")
    };
    assert!(picture("fig.png", &[]).starts_with(b"\x89PNG\r\n"));
    assert!(picture("fig.pdf", &["--show", "y against x"]).starts_with(b"%PDF-1."));
    assert!(picture("fig.gif", &["--frames", "5"]).starts_with(b"GIF89a"));
    let moving = String::from_utf8(picture("fig.svg", &["--animate"])).expect("UTF-8");
    assert!(moving.contains("<animate attributeName=\"d\"") && moving.contains("dashoffset"));
    let strobe = String::from_utf8(picture("fig.svg", &["--frames", "7"])).expect("UTF-8");
    assert_eq!(strobe.matches("class=\"instant\"").count(), 7);
    assert!(!strobe.contains("class=\"curves\""), "the drawing alone");
    let both = ["--frames", "7", "--show", "x"];
    let both = String::from_utf8(picture("fig.svg", &both)).expect("UTF-8");
    assert!(both.contains("class=\"curves\"") && both.contains("class=\"instant\""));
}

#[test]
fn what_cannot_be_drawn_is_told_before_the_run() {
    let folder = folder("undrawn");
    let path = folder.join("fig.gif");
    let output = run(&["-", "--plot", text(&path)], "coord th\nkinetic th'^2/2\nstart th' = 1\n");
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("nothing can be drawn"), "{}", err(&output));
    assert!(!path.exists());
}

#[test]
fn events_are_marked_in_figures() {
    let folder = folder("marked");
    let path = folder.join("fig.svg");
    let ball = "system Ball\ncoord y\nkinetic y'^2/2\npotential 9.81*y\nstart y = 1\n\
        event bounce: y = 0 falling -> y' = -0.8*y'\nrun t = 0..1.5\n";
    let more = ["--show", "y", "--show", "y' against y"];
    let output = run(&[&["-", "--plot", text(&path)], &more[..]].concat(), ball);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let svg = std::fs::read_to_string(&path).expect("a figure");
    // It bounces at 0.4515 and 1.1740: two lines over time, two rings in the phase plane.
    assert_eq!(svg.matches("stroke-dasharray=\"3 3\"").count(), 2, "{svg}");
    assert_eq!(svg.matches("<circle").count(), 2);
    assert!(svg.contains(">bounce</text>"));
}
