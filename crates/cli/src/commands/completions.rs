//! `dal completions`: for the shell.

use crate::Status;
use crate::args::{Args, Completions};
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(args: &Completions) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "dal", &mut script);
    let _ = std::io::stdout().lock().write_all(&script);
    Status::Fine
}
