//! `dal derive`: the equations of motion as a document.

use crate::Status;
use crate::args::{Derive, Format};
use crate::progress;
use crate::report::{self, Color};
use dalembert::export::{Derivation, Extras};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &Derive, color: Color) -> Status {
    if args.fragment && !matches!(args.format, Format::Latex | Format::Html) {
        report::say("error: --fragment goes with --format latex or html");
        return Status::WrongUsage;
    }
    let loaded = match report::load(&args.model, args.format == Format::Json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    report::diagnostics(&loaded.diagnostics, &loaded, color);
    let Some(model) = loaded.model.as_ref().filter(|_| !loaded.is_faulty()) else {
        report::say(&format!("\n{}", report::count(&loaded.diagnostics)));
        return Status::ModelFaults;
    };
    let ignored = match report::ignored(&args.ignore, model) {
        Ok(ignored) => ignored,
        Err(status) => return status,
    };
    progress::stage("deriving the equations");
    let choices = dalembert::Choices { ignored, ..Default::default() };
    // Inputs are shown as what they are called.
    let model = &model.opened().shown();
    let equations = match dalembert::derive_with(model, args.formulation.as_deref(), &choices) {
        Ok(equations) => equations,
        Err(faults) => {
            report::diagnostics(&faults, &loaded, color);
            return Status::ModelFaults;
        }
    };
    progress::stage("writing the equations");
    // What programs read has its values beside the constraints too.
    let exact = args.format == Format::Json;
    let extras = Extras { solved: args.solved, parts: args.parts, exact };
    let derivation = Derivation::with(model, &equations, extras);
    let document = match args.format {
        Format::Text => derivation.to_text(),
        Format::Latex if args.fragment => derivation.to_latex_fragment(),
        Format::Latex => derivation.to_latex(),
        Format::Html if args.fragment => derivation.to_html_fragment(),
        Format::Html => derivation.to_html(),
        Format::Json => derivation.to_json().to_string(),
    };
    write(&document, args.out.as_deref())
}

/// A document into a file, or to standard output.
pub(crate) fn write(document: &str, out: Option<&Path>) -> Status {
    let Some(path) = out else {
        report::data(document.trim_end());
        return Status::Fine;
    };
    let fail = |error, status| {
        report::say(&format!("error: cannot write `{}`: {error}", path.display()));
        status
    };
    let mut file = match std::fs::File::create(path) {
        Ok(file) => file,
        Err(error) => return fail(error, Status::WrongUsage),
    };
    match file.write_all(document.as_bytes()) {
        Ok(()) => Status::Fine,
        Err(error) => fail(error, Status::NumbersFailed),
    }
}
