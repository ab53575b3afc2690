//! `dal new`: a commented model to start from.

use crate::Status;
use crate::args::New;
use crate::report::{data, say};
use std::io::Write;

/// The model it writes; a test checks that it has no faults.
pub(crate) const TEMPLATE: &str = include_str!("template.dal");

pub(crate) fn run(args: &New) -> Status {
    let stem =
        std::path::Path::new(&args.name).file_stem().map(|s| s.to_string_lossy().into_owned());
    let title = stem.filter(|s| s != "-").unwrap_or_else(|| "pendulum".to_owned());
    let text = TEMPLATE.replace("TITLE", &title.replace(['-', '_'], " "));
    if args.name == "-" {
        data(text.trim_end());
        return Status::Fine;
    }
    let mut path = std::path::PathBuf::from(&args.name);
    if path.extension().is_none() {
        path.set_extension("dal");
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => {
            say(&format!("wrote {}; try `dal derive {}`", path.display(), path.display()));
            Status::Fine
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            say(&format!("error: `{}` exists already and is left as it is", path.display()));
            Status::WrongUsage
        }
        Err(error) => {
            say(&format!("error: cannot write `{}`: {error}", path.display()));
            Status::WrongUsage
        }
    }
}
