//! `dal completions`: for the shell.

use crate::Status;
use crate::args::{Args, Completions};
use clap::CommandFactory;

pub(crate) fn run(args: &Completions) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "dal", &mut script);
    crate::output::bytes(&script);
    Status::Fine
}
