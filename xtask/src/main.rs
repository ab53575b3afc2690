//! The repository's own commands, run as `cargo xtask COMMAND`.
//!
//! Each command is a list of steps. Every step runs even if an earlier one
//! failed; the summary at the end says how each went and how many minutes it
//! took, and the exit status is 1 if any failed.

mod book;
mod gallery;
mod highlight;
mod licenses;
mod lint;
mod python;
mod spdx;
mod steps;
mod test;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
The repository's own commands.

Usage: cargo xtask COMMAND

  test      every test that the tools on this machine allow, a quarter of the random
            cases, a few seconds of fuzzing; says what was left out and why
  test --all
            the same with all random cases and a minute of fuzzing, as continuous
            integration runs it; what has to be left out counts as a failure
  python    the Python package alone: its wheel built, put into a new virtual environment
            and tested there, by python3 or the one that DALEMBERT_PYTHON names
  lint      formatting, clippy and documentation with warnings denied, licenses
  book      the book in docs/book as pages of HTML, in target/book
  licenses  the license of every third-party package against the allow-list

Environment of `test`:
  DALEMBERT_FUZZ_SECONDS=N  how long to fuzz (10; 60 with --all)
  DALEMBERT_SHARE=N         percent of the random cases (25; 100 with --all)
  DALEMBERT_INCOMPLETE=1    with --all: what this machine cannot test is no failure
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments[..] {
        ["test"] => test::test(false),
        ["test", "--all"] => test::test(true),
        ["python"] => test::python_package(),
        ["book"] => book::book(),
        ["lint"] => lint::lint(),
        ["licenses"] => lint::licenses(),
        [] | ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("error: no such command: {}\n", arguments.join(" "));
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    print!("\n{report}");
    if report.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The cargo that runs us, started in the repository's root. Both are asked for
/// at run time: a program built in one checkout may be found fresh in another.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The repository's root.
fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").expect("`cargo xtask` runs under cargo");
    Path::new(&manifest).parent().expect("xtask/ lies in the root").to_owned()
}
