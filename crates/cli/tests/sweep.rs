//! `dal sweep` as a program: files that do not depend on threads, a process that is killed and
//! goes on, cases that fail, and what is said of wrong usage.

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::dal;

const MODEL: &str = "system Pendulum\nparam l = 1, g = 9.81, w = sqrt(g/l)\ncoord x, y\n\
    kinetic (x'^2 + y'^2)/2\npotential g*y\nconstraint rod: x^2 + y^2 = l^2\n\
    start x = 0.5, y ~ -1, x' = 0\nrun t = 0..2\nobserve h = y + l, w\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("dal-sweep-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("model.dal"), MODEL).expect("a file");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

fn sweep(arguments: &[&str]) -> (i32, Value, String) {
    let output = dal(&[&["sweep"], arguments, &["--json"]].concat(), "");
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let value = serde_json::from_str(&text).unwrap_or_default();
    (output.status.code().expect("an exit status"), value, says)
}

/// A small pendulum on its rod: w is defined by l, and x' is a value of the start.
#[test]
fn cases_are_right() {
    let folder = Folder::new("right");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let vary = "l = {1, 4}, x' = 0..1:0.5";
    let observe = ["--observe", "E = (x'^2 + y'^2)/2 + g*y", "--observe", "w"];
    let arguments = [&[model.as_str(), "--vary", vary, "--out", &out][..], &observe].concat();
    let (status, found, says) = sweep(&arguments);
    assert_eq!(status, 0, "{says}");
    assert_eq!((&found["cases"], &found["failed"]), (&6.into(), &0.into()));
    let of = |name: &str, what: &str| found["columns"][name][what].as_f64().expect("a number");
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{a} {b}");
    close(of("w", "largest"), 9.81f64.sqrt());
    close(of("w", "least"), (9.81f64 / 4.0).sqrt());
    // Start: x' = v, y' = −x v/y, which the energy keeps.
    let energy = |l: f64, v: f64| {
        let y = -(l * l - 0.25).sqrt();
        (v * v + (0.5 * v / y).powi(2)) / 2.0 + 9.81 * y
    };
    let all: Vec<f64> =
        [1.0, 4.0].iter().flat_map(|&l| [0.0, 0.5, 1.0].map(|v| energy(l, v))).collect();
    close(of("E", "mean"), all.iter().sum::<f64>() / 6.0);
    close(of("start(x')", "mean"), 0.5);
}

#[test]
fn files_do_not_depend_on_threads() {
    let folder = Folder::new("threads");
    let model = folder.path("model.dal");
    let run = |threads: &str| {
        let out = folder.path(&format!("out{threads}"));
        let vary = "l = 0.6..2, x' ~ normal(0, 1)";
        let (status, _, says) = sweep(&[
            &model,
            "--vary",
            vary,
            "--samples",
            "64",
            "--sampling",
            "sobol",
            "--trajectories",
            "--every",
            "0.5",
            "--threads",
            threads,
            "--out",
            &out,
        ]);
        assert_eq!(status, 0, "{says}");
        files(Path::new(&out))
    };
    let one = run("1");
    assert!(
        one.contains_key("cases-00000.parquet") && one.contains_key("trajectories-00000.parquet")
    );
    assert_eq!(one, run("2"));
    assert_eq!(one, run("5"));
}

/// Rods that are too short for the start: recorded with the reason, and the others go on.
#[test]
fn a_case_that_fails_does_not_stop_the_rest() {
    let folder = Folder::new("fails");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let (status, found, says) =
        sweep(&[&model, "--vary", "l = {0.1, 1, 0.2, 2, 3}", "--out", &out]);
    assert_eq!(status, 0, "{says}");
    assert_eq!((&found["cases"], &found["failed"]), (&5.into(), &2.into()));
    let cases: Vec<u64> = found["first_failures"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|failure| {
            assert!(failure["why"].as_str().is_some_and(|why| why.len() > 10), "{failure}");
            failure["case"].as_u64().expect("a number")
        })
        .collect();
    assert_eq!(cases, [0, 2]);
    let list = std::fs::read_to_string(Path::new(&out).join("failures.csv")).expect("a file");
    assert_eq!(list.lines().count(), 3, "{list}");
    let (status, _, _) =
        sweep(&[&model, "--vary", "l = {0.1, 0.2}", "--out", &folder.path("none")]);
    assert_eq!(status, 3, "where all fail there is nothing");
}

/// Killed in the middle, thrice: what it leads to is what a process that was not killed leads to.
#[test]
fn a_killed_sweep_goes_on() {
    let folder = Folder::new("killed");
    let model = folder.path("model.dal");
    let arguments = |out: &str| {
        [
            "sweep",
            &model,
            "--vary",
            "l = 0.6..2, x' ~ normal(0, 1)",
            "--samples",
            "400",
            "--t-end",
            "40",
            "--out",
            out,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let (whole, torn) = (folder.path("whole"), folder.path("torn"));
    let once = |arguments: Vec<String>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dal"));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(once(arguments(&whole)).status().expect("dal starts").success());
    let journal = Path::new(&torn).join("journal-00000");
    let mut length = 0;
    for turn in 0..3 {
        let mut own = arguments(&torn);
        own.extend((turn > 0).then(|| "--resume".to_owned()));
        let mut child = once(own).spawn().expect("dal starts");
        // Until some more cases are in the journal.
        let clock = Instant::now();
        loop {
            let now = std::fs::metadata(&journal).map_or(0, |file| file.len());
            if now > length + 4000 || clock.elapsed() > Duration::from_secs(60) {
                break;
            }
            if child.try_wait().expect("a process").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
        let now = std::fs::metadata(&journal).map_or(0, |file| file.len());
        assert!(now >= length, "nothing is lost");
        length = now;
    }
    let mut own = arguments(&torn);
    own.push("--resume".to_owned());
    assert!(once(own).status().expect("dal starts").success());
    assert_eq!(files(Path::new(&torn)), files(Path::new(&whole)));
}

#[test]
fn wrong_usage_is_told() {
    let folder = Folder::new("wrong");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let cases = [
        (&["--vary", "l = 1..2"][..], "--samples"),
        (&["--vary", "l ~ cauchy(0, 1)", "--samples", "3"], "no law `cauchy`"),
        (&["--vary", "l = 1..pie:1"], "pie"),
        (&["--vary", "l = {1}", "--threads", "0"], "--threads"),
        (&["--vary", "l = {1}", "--resume"], "no study to go on with"),
        (&["--cases", "cases.parquet"], "must end with `.csv`"),
        (&["--cases", "nowhere.csv"], "cannot read"),
    ];
    for (arguments, expected) in cases {
        let all = [&[model.as_str(), "--out", &out], arguments].concat();
        let (status, _, says) = sweep(&all);
        assert_eq!(status, 2, "{arguments:?}: {says}");
        assert!(says.contains(expected), "{arguments:?}: {says}");
    }
    // What is varied must be there.
    let output = dal(&["sweep", &model, "--vary", "q = {1}", "--out", &out], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains('q'));
    let output = dal(&["sweep", "gallery:n-link-chain", "--vary", "N = {2, 3}", "--out", &out], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`N` is a constant"));
}

#[test]
fn cases_may_be_a_table() {
    let folder = Folder::new("table");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let cases = folder.path("cases.csv");
    std::fs::write(&cases, "l,x'\n1,0\n2,0.5\n3,1\n").expect("a file");
    let (status, found, says) = sweep(&[&model, "--cases", &cases, "--out", &out]);
    assert_eq!(status, 0, "{says}");
    assert_eq!(found["columns"]["l"]["mean"], 2.0);
    assert_eq!(found["cases"], 3);
}
