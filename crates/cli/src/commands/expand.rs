//! `dal expand`: what joints, springs and their like stand for.

use crate::Status;
use crate::args::Expand;
use crate::report::{self, Color, data};
use dalembert::model::expand::expand;

pub(crate) fn run(args: &Expand, color: Color) -> Status {
    let loaded = match report::load(&args.model, false) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    report::diagnostics(&loaded.diagnostics, &loaded, color);
    let Some(model) = loaded.model.as_ref().filter(|_| !loaded.is_faulty()) else {
        report::say(&format!("\n{}", report::count(&loaded.diagnostics)));
        return Status::ModelFaults;
    };
    data(expand(model).trim_end());
    Status::Fine
}
