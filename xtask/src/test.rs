//! `cargo xtask test`: what a change needs, in minutes; with `--all`, what continuous
//! integration runs. Both run every test; they differ in how many random cases the
//! largest properties try and how long is fuzzed.
//!
//! Most tests need nothing but Rust. Those that need another program are in a
//! group; they read the group's variable and do nothing without it. This
//! command looks for the program, sets the variable, and says at the end which
//! groups it had to leave out.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::python;
use crate::steps::{Outcome, Report, program, run};
use crate::{cargo, root};

/// Tests that need more than Rust.
struct Group {
    /// What they test.
    name: &'static str,
    /// Programs any one of which will do, the preferred one first.
    programs: &'static [&'static str],
    /// Arguments with which the program must succeed; none if it is enough to be there.
    probe: &'static [&'static str],
    /// Holds the program's path while the tests run; may also be set by hand.
    variable: &'static str,
}

/// Every such group. One that is added here gets its program's package in `.ci/run`.
#[rustfmt::skip]
const GROUPS: &[Group] = &[
    Group { name: "LaTeX documents typeset", programs: &["pdflatex", "lualatex"], probe: &[], variable: "DALEMBERT_LATEX" },
    Group { name: "programs and pages run by node", programs: &["node", "nodejs"], probe: &["-e", "process.exit(process.versions.node.split('.')[0] < 18 ? 1 : 0)"], variable: "DALEMBERT_NODE" },
    Group { name: "pages in a browser", programs: &["chromium", "chromium-browser", "google-chrome"], probe: &["--version"], variable: "DALEMBERT_BROWSER" },
    Group { name: "the viewer built and its tests", programs: &["npm"], probe: &["ls", "--prefix", "viewer"], variable: "DALEMBERT_NPM" },
    Group { name: "tables read by pyarrow", programs: &["python3"], probe: &["-c", "import pyarrow"], variable: "DALEMBERT_PYARROW" },
    Group { name: PYTHON, programs: &["python3"], probe: &["-c", python::NEEDS], variable: "DALEMBERT_PYTHON" },
];

/// The group that is a step of its own, since it builds the wheel first.
const PYTHON: &str = "the Python package";

/// How much is tried of what could go on for ever.
struct Amount {
    /// Percent of the random cases, in `DALEMBERT_SHARE` for the tests.
    share: &'static str,
    fuzz_seconds: u32,
}

const SOME: Amount = Amount { share: "25", fuzz_seconds: 10 };
const ALL: Amount = Amount { share: "100", fuzz_seconds: 60 };

/// Runs the command; `all` is what continuous integration asks for.
pub fn test(all: bool) -> Report {
    let mut report = Report::default();
    let amount = if all { ALL } else { SOME };
    if all && env::var("DALEMBERT_INCOMPLETE").is_err() {
        report.forbid_leaving_out();
    }
    let share = env::var("DALEMBERT_SHARE").unwrap_or_else(|_| amount.share.to_owned());
    if share != ALL.share {
        report.leave_out(format!(
            "random cases of tests/properties.rs beyond {share} % of them, and fuzzing beyond \
             seconds (`cargo xtask test --all` has both)"
        ));
    }
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]).env("DALEMBERT_SHARE", share);
    tests.env_remove("DALEMBERT_FUZZ_SECONDS"); // Fuzzing is a step of its own.
    let path = env::var_os("PATH").unwrap_or_default();
    let mut package = None;
    for group in GROUPS {
        if let Some(found) = env::var_os(group.variable) {
            if group.name == PYTHON {
                package = Some(PathBuf::from(found));
            }
            continue; // Set by hand, and inherited.
        }
        let found = group.programs.iter().find_map(|name| find_program(name, &path));
        match found.filter(|program| succeeds(program, group.probe)) {
            Some(found) if group.name == PYTHON => package = Some(found),
            Some(found) => _ = tests.env(group.variable, found),
            None => {
                let mut needs = group.programs.join(" or ");
                if !group.probe.is_empty() {
                    needs += &format!(" for which `{}` succeeds", group.probe.join(" "));
                }
                report.leave_out(format!("{} (needs {needs})", group.name));
            }
        }
    }
    report.step("tests", || count_tests(&mut tests));
    if let Some(python) = package {
        report.step("python", || python::test(&python));
    }
    report.step("fuzz", || {
        fuzz(env::var("DALEMBERT_FUZZ_SECONDS").ok().as_deref(), amount.fuzz_seconds)
    });
    report
}

/// The Python package alone.
pub fn python_package() -> Report {
    let mut report = Report::default();
    let python = env::var_os("DALEMBERT_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    report.step("python", || python::test(&python));
    report
}

fn fuzz(seconds: Option<&str>, unasked: u32) -> Outcome {
    let seconds = fuzz_seconds(seconds, unasked)?.to_string();
    let test = ["test", "--workspace", "--test", "fuzzing", "--", "--nocapture"];
    run(cargo().args(test).env("DALEMBERT_FUZZ_SECONDS", &seconds))?;
    Ok(format!("{seconds} s"))
}

fn fuzz_seconds(value: Option<&str>, unasked: u32) -> Result<u32, String> {
    let Some(value) = value else {
        return Ok(unasked);
    };
    value.parse().map_err(|_| format!("DALEMBERT_FUZZ_SECONDS is no whole number: {value}"))
}

fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(path).map(|folder| folder.join(&file)).find(|program| program.is_file())
}

/// Whether a program that is there can do what it is needed for.
fn succeeds(program: &Path, probe: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(probe).current_dir(root()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.is_empty() || command.status().is_ok_and(|status| status.success())
}

/// Runs `cargo test`, passes its output on, and adds up its counts.
fn count_tests(command: &mut Command) -> Outcome {
    let mut counts = Counts::default();
    let status = pass_on_lines(command, |line| counts.add(line))
        .map_err(|error| format!("{}: {error}", program(command)))?;
    let Counts { passed, failed, ignored } = counts;
    let mut note = format!("{passed} passed");
    if failed > 0 {
        note += &format!(", {failed} failed");
    }
    if ignored > 0 {
        note += &format!(", {ignored} ignored");
    }
    if status.success() { Ok(note) } else { Err(format!("{note}; {status}")) }
}

/// Runs a program to its end, copies its standard output to ours line by line,
/// and shows each line to `see`.
fn pass_on_lines(command: &mut Command, mut see: impl FnMut(&str)) -> io::Result<ExitStatus> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let mut lines = BufReader::new(stdout);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        io::stdout().write_all(&line)?;
        see(&String::from_utf8_lossy(&line));
        line.clear();
    }
    child.wait()
}

/// The counts of all test programs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// Adds what a test program says on its last line,
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; …`; no other line counts.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else {
            return;
        };
        let words: Vec<&str> = rest.split([' ', ';']).collect();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let mut counts = Counts::default();
        counts.add("running 3 passed tests");
        counts.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out");
        counts
            .add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(counts, Counts { passed: 7, failed: 2, ignored: 1 });
    }

    #[test]
    fn fuzz_seconds_default_and_override() {
        assert_eq!(fuzz_seconds(None, 10), Ok(10));
        assert_eq!(fuzz_seconds(Some("60"), 10), Ok(60));
        assert!(fuzz_seconds(Some("a while"), 10).unwrap_err().contains("a while"));
    }

    #[test]
    fn programs_are_found_on_the_path_only() {
        let cargo = PathBuf::from(env::var_os("CARGO").expect("cargo runs the tests"));
        let folder = cargo.parent().expect("a program lies in a folder");
        assert_eq!(find_program("cargo", folder.as_os_str()), Some(cargo.clone()));
        assert_eq!(find_program("no-such-program", folder.as_os_str()), None);
        assert_eq!(find_program("cargo", OsStr::new("")), None);
        assert!(succeeds(&cargo, &["--version"]) && succeeds(&cargo, &[]));
        assert!(!succeeds(&cargo, &["no-such-command"]));
    }
}
