//! Nothing is lost in silence: text that cannot be written, numbers that make no sense,
//! options without effect, the end of a run, what was moved at its start.

#[path = "support/mod.rs"]
mod support;

use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use support::{PENDULUM, dal};

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit status")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("output").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

#[cfg(target_os = "linux")]
mod full {
    use super::*;
    use std::fs::OpenOptions;
    use std::process::{Command, Stdio};

    fn to_full(arguments: &[&str]) -> Output {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("dal starts");
        use std::io::Write;
        let _ = child.stdin.take().expect("piped").write_all(PENDULUM.as_bytes());
        child.wait_with_output().expect("dal ends")
    }

    #[test]
    fn text_that_cannot_be_written_is_told() {
        let commands: [&[&str]; 16] = [
            &["--help"],
            &["help", "run"],
            &["--version"],
            &["run", "-", "--t-end", "0.1"],
            &["run", "-", "--t-end", "0.1", "--json"],
            &["check", "-"],
            &["check", "-", "--json"],
            &["derive", "-"],
            &["derive", "-", "--format", "json"],
            &["eval", "-"],
            &["eval", "-", "--json"],
            &["analyze", "-"],
            &["gallery"],
            &["gallery", "knife-edge"],
            &["explain", "unknown-name"],
            &["completions", "bash"],
        ];
        for arguments in commands {
            let output = to_full(arguments);
            assert_eq!(code(&output), 3, "{arguments:?}: {}", err(&output));
            assert!(err(&output).contains("cannot write to standard output"), "{arguments:?}");
        }
        let output = to_full(&["new", "-"]);
        assert_eq!(code(&output), 3);
    }

    #[test]
    fn files_that_cannot_be_written_are_told() {
        let folder = folder("full");
        for ending in ["csv", "json", "parquet", "arrow"] {
            let path = folder.join(format!("run.{ending}"));
            std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
            let path = path.to_str().expect("UTF-8");
            let output = dal(&["run", "-", "--t-end", "1", "--out", path], PENDULUM);
            assert!(matches!(code(&output), 2 | 3), "{ending}: {}", err(&output));
            assert!(err(&output).contains("cannot write"), "{ending}: {}", err(&output));
        }
        let figure = folder.join("figure.svg");
        std::os::unix::fs::symlink("/dev/full", &figure).expect("a link");
        let figure = figure.to_str().expect("UTF-8");
        let output = dal(&["run", "-", "--t-end", "1", "--plot", figure], PENDULUM);
        assert_eq!(code(&output), 3);
        assert!(err(&output).contains("cannot write"), "{}", err(&output));
        assert!(out(&output).contains("verdict"), "what was computed is shown");
        let output = dal(&["derive", "-", "--out", figure], PENDULUM);
        assert_eq!(code(&output), 3);
        assert!(err(&output).contains("cannot write"), "{}", err(&output));
    }

    /// `dal gallery | head -1`.
    #[test]
    fn a_reader_may_close_its_pipe() {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
            .args(["derive", "gallery:whipple-bicycle"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("dal starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("dal ends");
        assert_eq!((code(&output), err(&output)), (0, String::new()));
    }

    /// Work that cannot be left half-way ends at once, with a word.
    #[test]
    fn the_first_interrupt_ends_what_has_nothing_to_keep() {
        for command in ["check", "derive", "eval", "analyze", "linearize"] {
            // It waits for its model.
            let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
                .args([command, "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("dal starts");
            let stdin = child.stdin.take();
            while !listens(child.id()) {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(kill.is_ok_and(|status| status.success()));
            let output = child.wait_with_output().expect("dal ends");
            drop(stdin);
            assert_eq!(code(&output), 130, "{command}");
            assert_eq!(err(&output), "interrupted\n", "{command}");
        }
    }

    /// Whether a process handles the signal of Ctrl-C.
    fn listens(process: u32) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask & (1 << 1) != 0)
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let tolerances = ["inf", "nan", "-inf", "0", "-1e-9", "1", "0.5", "1e300", "1e-17", "1e-300"];
    let times = ["inf", "nan", "-inf", "0", "-1"];
    let mut wrong: Vec<String> = tolerances.iter().map(|x| format!("--tol={x}")).collect();
    for option in ["--every", "--step", "--max-step"] {
        wrong.extend(times.iter().map(|x| format!("{option}={x}")));
    }
    wrong.extend(["inf", "nan", "-inf"].iter().map(|x| format!("--t-end={x}")));
    wrong.extend(["--every=1e-300", "--step=1e-300", "--every=1e-9"].map(str::to_owned));
    for option in &wrong {
        let output = dal(&["run", "-", option], PENDULUM);
        assert_eq!(code(&output), 2, "{option}: {}", err(&output));
        let name = option.split(['=']).next().unwrap_or_default().trim_start_matches("--");
        assert!(err(&output).contains(name) && out(&output).is_empty(), "{}", err(&output));
    }
    for set in [
        "m=nan",
        "m=inf",
        "m=1/0",
        "m=1e400",
        "m=exp(1000)",
        "m=log(-l)",
        "x=exp(1000)",
        "x=log(-l)",
        "y'=exp(999)",
    ] {
        for command in ["run", "eval", "check"] {
            let output = dal(&[command, "-", "--set", set], PENDULUM);
            assert_eq!(code(&output), 1, "{command} {set}: {}", out(&output));
            assert!(err(&output).contains("--> "), "{command} {set}: {}", err(&output));
        }
    }
    for statement in [
        "run t = 0..exp(1000)",
        "run t = log(-m)..1",
        "run tol exp(1000)",
        "run tol 1",
        "run tol 0",
        "run tol 1e-20",
        "run tol -m",
        "run every 0",
        "run every exp(1000)",
        "run every -1",
        "start y' ~ log(-m)",
        "start x' = exp(1000)",
        "param q = exp(exp(m + 9))",
    ] {
        let model = format!("{PENDULUM}{statement}\n");
        let output = dal(&["run", "-"], &model);
        assert_eq!(code(&output), 1, "{statement}: {}", out(&output));
        let line = model.lines().count();
        assert!(
            err(&output).contains(&format!("<stdin>:{line}:")),
            "{statement}: {}",
            err(&output)
        );
    }
    // A guess that depends on time has its value at the start.
    let late = format!("{PENDULUM}start x' ~ log(t)\nrun t = 0..1\n");
    let output = dal(&["run", "-"], &late);
    assert_eq!(code(&output), 1, "{}", err(&output));
    assert!(err(&output).contains("not-a-number"), "{}", err(&output));
}

#[test]
fn numbers_that_make_sense_are_taken() {
    for options in [
        ["--tol", "1e-13"],
        ["--tol", "0.1"],
        ["--every", "1e9"],
        ["--step", "0.01"],
        ["--t-end", "-0.2"],
    ] {
        let arguments = [&["run", "-", "--t-end", "0.2"][..], &options].concat();
        let arguments = if options[0] == "--t-end" {
            ["run", "-", options[0], options[1]].to_vec()
        } else {
            arguments
        };
        let output = dal(&arguments, PENDULUM);
        assert_ne!(code(&output), 2, "{options:?}: {}", err(&output));
    }
}

/// The last row is the end, whatever the interval.
#[test]
fn the_end_is_the_last_row() {
    let folder = folder("end");
    let path = folder.join("run.csv");
    let path = path.to_str().expect("UTF-8");
    for (every, end, rows) in [
        ("100", "2", 2),
        ("2", "2", 2),
        ("1.9999", "2", 3),
        ("0.3", "2", 8),
        ("1e300", "2", 2),
        ("5", "-1", 2),
        ("0.7", "-2", 4),
        ("0.1", "0", 2),
    ] {
        let output = dal(&["run", "-", "--t-end", end, "--every", every, "--out", path], PENDULUM);
        assert_eq!(code(&output), 0, "{}", err(&output));
        let table = std::fs::read_to_string(path).expect("written");
        let times: Vec<f64> =
            table.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
        let end: f64 = end.parse().expect("a number");
        assert_eq!(times.last(), Some(&end), "every {every}");
        if end != 0.0 {
            assert_eq!(times.len(), rows, "every {every}: {times:?}");
        }
    }
}

#[test]
fn options_without_effect_are_told() {
    let output = dal(&["run", "-", "--show", "x"], PENDULUM);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("--plot FILE.svg"), "{}", err(&output));
    for option in [&["--frames", "3"][..], &["--animate"]] {
        let output = dal(&[&["run", "-"], option].concat(), PENDULUM);
        assert_eq!(code(&output), 2);
        assert!(err(&output).contains("--plot"), "{}", err(&output));
    }
}

#[test]
fn what_is_drawn_is_told() {
    let drawn = format!("{PENDULUM}draw line [0, 0], [x, y]\ndraw trace [x, y]\n");
    let output = dal(&["check", "-"], &drawn);
    assert_eq!(code(&output), 0);
    assert!(out(&output).contains("1 line, 1 trace in the plane"), "{}", out(&output));
    let output = dal(&["check", "-", "--json"], &drawn);
    assert_eq!(err(&output), "", "JSON alone");
}

fn start_of(arguments: &[&str], model: &str) -> Value {
    let output = dal(&[arguments, &["--json"]].concat(), model);
    let value: Value = serde_json::from_str(&out(&output)).expect("JSON");
    value["start"].clone()
}

/// A pivot that moves: p = 0 was never written, and is not rest.
const DRIVEN: &str = "coord q\nhamiltonian p_q^2/2 - p_q*cos(t)*cos(q) - cos(q)\nstart q = 0.2\n";

#[test]
fn the_start_is_shown_with_what_was_moved() {
    for command in ["run", "eval"] {
        let start = start_of(&[command, "-"], DRIVEN);
        assert_eq!(start["state"]["q"], 0.2);
        let moved = start["moved"].as_array().expect("a list");
        assert_eq!(moved.len(), 1, "{start}");
        assert_eq!((&moved[0]["name"], &moved[0]["written"]), (&"q'".into(), &Value::Null));
        assert!((moved[0]["value"].as_f64().expect("a number") + 0.2f64.cos()).abs() < 1e-12);
        let output = dal(&[command, "-"], DRIVEN);
        assert!(out(&output).contains("not written"), "{}", out(&output));
        // A guess on the circle.
        let start = start_of(&[command, "-"], PENDULUM);
        let moved = start["moved"].as_array().expect("a list");
        assert_eq!(moved.len(), 1, "{start}");
        assert_eq!((&moved[0]["name"], &moved[0]["written"]), (&"y".into(), &(-1.0).into()));
        assert!((moved[0]["by"].as_f64().expect("a number") + 0.6).abs() < 1e-12);
        assert_eq!(start["changed"]["y"][0], -1.0);
    }
    let output = out(&dal(&["run", "-"], PENDULUM));
    assert!(output.contains("at the start\n"), "{output}");
    assert!(output.contains("  y   -1.6   moved by -0.6 from ~ -1"), "{output}");
    // Written as it is, nothing is moved.
    let written = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1, x' = 2\n";
    assert_eq!(start_of(&["run", "-"], written)["moved"], Value::Array(Vec::new()));
    // A large one in short.
    let many = "coord x[1..20]\nkinetic sum(i in 1..20, x[i]'^2)/2\nconstraint c: x[3] = 2\n\
        start x[1] = 1\nrun t = 0..1\n";
    let output = out(&dal(&["run", "-"], many));
    assert!(output.contains("  x[3]   2   not written"), "{output}");
    assert!(output.contains("… and 39 more, 0 of them moved"), "{output}");
}
