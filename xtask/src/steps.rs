//! Steps of a command, what came of them, and the summary of both.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What came of a step: a note on what it did, or why it failed.
pub type Outcome = Result<String, String>;

/// The steps of one command so far, and what had to be left out.
#[derive(Default)]
pub struct Report {
    steps: Vec<Step>,
    left_out: Vec<String>,
    nothing_may_be_left_out: bool,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: Outcome,
}

impl Report {
    /// Runs a step under a heading and notes the time it took.
    pub fn step(&mut self, name: &'static str, run: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = run();
        if let Err(reason) = &outcome {
            eprintln!("error: {name}: {reason}");
        }
        self.steps.push(Step { name, took: start.elapsed(), outcome });
    }

    /// Notes what could not run on this machine, and why.
    pub fn leave_out(&mut self, what: String) {
        self.left_out.push(what);
    }

    /// From now on, something left out counts as a failure.
    pub fn forbid_leaving_out(&mut self) {
        self.nothing_may_be_left_out = true;
    }

    /// Whether the command as a whole failed.
    pub fn failed(&self) -> bool {
        let incomplete = self.nothing_may_be_left_out && !self.left_out.is_empty();
        incomplete || self.steps.iter().any(|step| step.outcome.is_err())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== summary")?;
        let width = self.steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
        for Step { name, took, outcome } in &self.steps {
            let (verdict, note) = match outcome {
                Ok(note) => ("ok    ", note),
                Err(reason) => ("FAILED", reason),
            };
            let minutes = took.as_secs_f64() / 60.0;
            let line = format!("{verdict}  {name:width$}  {minutes:6.2} min  {note}");
            writeln!(f, "{}", line.trim_end())?;
        }
        if self.left_out.is_empty() {
            writeln!(f, "left out: nothing")?;
        }
        for what in &self.left_out {
            let verdict = if self.nothing_may_be_left_out { "FAILED  " } else { "" };
            writeln!(f, "{verdict}left out: {what}")?;
        }
        Ok(())
    }
}

/// Runs a program to its end; its output goes where ours goes.
pub fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(String::new()),
        Ok(status) => Err(format!("{} ended with {status}", program(command))),
        Err(error) => Err(format!("{} did not start: {error}", program(command))),
    }
}

/// A command in short, for messages: its program and first argument, `cargo fmt`.
pub fn program(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(name).chain(command.get_args().take(1));
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_fails_the_report() {
        let mut report = Report::default();
        report.step("first", || Ok("7 passed".into()));
        assert!(!report.failed());
        report.step("second", || Err("broke".into()));
        assert!(report.failed());
        let text = report.to_string();
        assert!(text.contains("ok      first     0.00 min  7 passed"), "{text}");
        assert!(text.contains("FAILED  second    0.00 min  broke"), "{text}");
        assert!(text.ends_with("left out: nothing\n"), "{text}");
    }

    #[test]
    fn a_command_that_fails_is_named_in_short() {
        let outcome = run(Command::new("no/such/program").args(["fmt", "--all"]));
        assert!(outcome.unwrap_err().starts_with("program fmt did not start: "));
    }

    #[test]
    fn leaving_out_fails_only_where_it_is_forbidden() {
        let mut report = Report::default();
        report.leave_out("typesetting: needs pdflatex".into());
        assert!(!report.failed());
        assert!(report.to_string().contains("\nleft out: typesetting: needs pdflatex\n"));
        report.forbid_leaving_out();
        assert!(report.failed());
    }
}
