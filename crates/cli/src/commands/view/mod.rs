//! `dal view`: the page of a model on the loopback address, made anew when its file is saved
//! or a slider is released.

mod source;

use crate::Status;
use crate::args::View;
use crate::commands::options;
use crate::interrupt::Interrupt;
use crate::report::{self, Color};
use dalembert_serve::Server;
use std::io;
use std::process::{Command, Stdio};

/// The port, unless another one is asked for.
const PORT: u16 = 8245;

pub(crate) fn run(args: View, color: Color) -> Status {
    if let Err(words) = options::validate(&args.run(&[], &|_| false)) {
        return wrong_usage(&words);
    }
    if args.model.model == "-" {
        return wrong_usage("`dal view` reads its model again and again: it takes a file");
    }
    let server = match bind(args.port) {
        Ok(server) => server,
        Err(words) => return wrong_usage(&words),
    };
    let url = server.url();
    report::data(&url);
    report::say("Ctrl-C ends it.");
    if args.open && !open(&url) {
        report::say("warning: no program to open it with was found");
    }
    // Ctrl-C is how this ends: nothing is lost by it, and no failure.
    let interrupt = Interrupt::listen();
    interrupt.guard();
    let source = source::Watched::new(args, color);
    match server.run(source, move || interrupt.is_asked()) {
        Ok(()) => Status::Fine,
        Err(error) => {
            report::say(&format!("error: the page can no longer be served: {error}"));
            Status::NumbersFailed
        }
    }
}

/// The port that is asked for, or the usual one, or any.
fn bind(port: Option<u16>) -> Result<Server, String> {
    let Some(port) = port else {
        let any = |_| Server::bind(0).map_err(|error| format!("no port can be had: {error}"));
        return Server::bind(PORT).or_else(any);
    };
    Server::bind(port).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("port {port} is taken; `--port 0` takes a free one"),
        _ => format!("port {port} cannot be had: {error}"),
    })
}

/// Asks the system to show an address; whether it could be asked.
fn open(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().is_ok()
}

fn wrong_usage(words: &str) -> Status {
    report::say(&format!("error: {words}"));
    Status::WrongUsage
}
