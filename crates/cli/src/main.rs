//! The program `dal`.
//!
//! Human text goes to standard error or a terminal, data to standard output.
//! Exit status: 0 fine, 1 the model has faults, 2 wrong usage, 3 the numbers
//! failed or output could not be written. An interrupted run ends with 3 too: it is not
//! what was asked for, and what was computed is kept. A second Ctrl-C, or the first one
//! where there is nothing to keep, ends the program at once, with 130.

mod args;
mod commands;
mod interrupt;
mod output;
mod picture;
mod progress;
mod recorder;
mod report;
mod show;

use args::{Args, Command, Named};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    ModelFaults,
    WrongUsage,
    NumbersFailed,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Fine => 0,
            Status::ModelFaults => 1,
            Status::WrongUsage => 2,
            Status::NumbersFailed => 3,
        })
    }
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(text) => return show(&text),
    };
    interrupt::Interrupt::listen();
    progress::watch();
    let color = report::Color::of(args.color);
    let status = match args.command {
        Command::Run(Named(options)) => commands::run::run(&options, color),
        Command::View(Named(options)) => commands::view::run(options, color),
        Command::Sweep(Named(options)) => commands::sweep::run(&options, color),
        Command::Check(Named(options)) => commands::check::run(&options, color),
        Command::Derive(Named(options)) => commands::derive::run(&options, color),
        Command::Eval(Named(options)) => commands::eval::run(&options, color),
        Command::Analyze(Named(options)) => commands::analyze::run(&options, color),
        Command::Linearize(Named(options)) => commands::linearize::run(&options, color),
        Command::Report(Named(options)) => commands::report::run(&options, color),
        Command::Gallery(Named(options)) => commands::gallery::run(&options, color),
        Command::Expand(Named(options)) => commands::expand::run(&options, color),
        Command::Explain(Named(options)) => commands::explain::run(&options),
        Command::Help(Named(options)) => commands::help::run(&options),
        Command::New(Named(options)) => commands::new::run(&options),
        Command::Completions(Named(options)) => commands::completions::run(&options),
    };
    end(ExitCode::from(status), status != Status::Fine)
}

/// The help, the version, or what is wrong with the arguments.
fn show(text: &clap::Error) -> ExitCode {
    let stream = if text.use_stderr() { "standard error" } else { "standard output" };
    output::remember(stream, text.print().and_then(|()| std::io::stdout().flush()));
    let code = u8::try_from(text.exit_code()).unwrap_or(2);
    end(ExitCode::from(code), code != 0)
}

/// The status of the program, unless something it printed was lost.
fn end(code: ExitCode, is_failed: bool) -> ExitCode {
    progress::finish();
    let Some(words) = output::lost() else { return code };
    output::say(&format!("error: {words}"));
    if is_failed { code } else { Status::NumbersFailed.into() }
}
