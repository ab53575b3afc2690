//! `dal derive`: the equations of motion as a document.

use crate::Status;
use crate::args::{Derive, Format};
use crate::commands::eval::explain;
use crate::progress;
use crate::report::{self, Color};
use dalembert::Model;
use dalembert::export::{Derivation, Extras};
use dalembert::model::system::Phase;
use dalembert::simulate::report::{EvalError, phase_at};
use dalembert::simulate::{Setting, start};
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
    let model = &match args.phase.as_deref().map(|words| phase(model, words)) {
        None => model.opened().shown(),
        Some(Ok(phase)) => model.opened().in_phase(&phase),
        Some(Err(Trouble::Usage(words))) => {
            report::say(&format!("error: --phase: {words}"));
            return Status::WrongUsage;
        }
        Some(Err(Trouble::Numbers(error))) => {
            let (faults, status) = explain(*error, model);
            report::diagnostics(&faults, &loaded, color);
            return status;
        }
    };
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

/// Why there is no such phase.
enum Trouble {
    Usage(String),
    Numbers(Box<EvalError>),
}

/// The phase that is asked for.
fn phase(model: &Model, words: &str) -> Result<Phase, Trouble> {
    if !model.system.wants_phase() {
        return Err(Trouble::Usage("there are no contacts and no friction".to_owned()));
    }
    if words.trim() != "start" {
        return Phase::of_words(&model.system, words).map_err(Trouble::Usage);
    }
    let failed = |error| Trouble::Numbers(Box::new(error));
    let setting = Setting::new(model).map_err(|e| failed(EvalError::Missing(e)))?;
    let start = start::start(&setting).map_err(|e| failed(EvalError::Start(e)))?;
    let here = phase_at(&setting, &start.state).map_err(failed)?;
    Ok(here.map_or_else(|| Phase::shown(&model.system), |here| here.phase))
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
