//! Reading a model and saying what is wrong with it.

use crate::Status;
use crate::args::{ColorChoice, ModelArgs};
pub(crate) use crate::output::{data, say};
use crate::progress;
use dalembert::model::codes::Code;
use dalembert::model::render;
use dalembert::{Diagnostic, Input, Loaded, Options, Severity};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Whether messages are colored.
#[derive(Clone, Copy)]
pub(crate) struct Color(pub bool);

impl Color {
    pub fn of(choice: ColorChoice) -> Color {
        Color(match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                std::io::stderr().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        })
    }
}

/// Opens and loads a model; a file that cannot be read is said on standard
/// error (or as JSON) at once.
pub(crate) fn load(args: &ModelArgs, json: bool) -> Result<Loaded, Status> {
    load_with(args, Options::default(), json)
}

/// The coordinates named to be ignored; `None` if none are.
pub(crate) fn ignored(
    names: &[String],
    model: &dalembert::Model,
) -> Result<Option<Vec<usize>>, Status> {
    let find = |name: &String| {
        model.system.coordinates.iter().position(|c| c.name == name.trim()).ok_or_else(|| {
            say(&format!("error: --ignore: `{name}` is no coordinate of this model"));
            Status::WrongUsage
        })
    };
    match names {
        [] => Ok(None),
        names => names.iter().map(find).collect::<Result<Vec<_>, _>>().map(Some),
    }
}

/// The same, with a state to evaluate at.
pub(crate) fn load_at(args: &ModelArgs, at: Option<&str>, json: bool) -> Result<Loaded, Status> {
    load_with(args, Options { at: at.map(str::to_owned), ..Options::default() }, json)
}

/// The same, with whatever is said beside the model.
pub(crate) fn load_with(args: &ModelArgs, options: Options, json: bool) -> Result<Loaded, Status> {
    progress::stage("reading the model");
    match Input::open(&args.model) {
        Ok(input) => {
            let options = Options {
                set: args.set.clone(),
                inputs: args.input.clone(),
                coordinates: args.coordinates.clone(),
                ..options
            };
            let loaded = dalembert::load(&input, &options);
            progress::stage("computing");
            Ok(loaded)
        }
        Err(error) => {
            if json {
                let fault = json!({
                    "code": error.code.name(), "severity": "error", "message": error.message,
                    "labels": [], "hints": error.hint.iter().collect::<Vec<_>>(),
                });
                data(
                    &json!({"format": 1, "verdict": "faults", "diagnostics": [fault]}).to_string(),
                );
            } else {
                say(&format!("error[{}]: {}", error.code, error.message));
                if let Some(hint) = &error.hint {
                    say(&format!("  = hint: {hint}"));
                }
            }
            Err(Status::ModelFaults)
        }
    }
}

/// Renders diagnostics to standard error.
pub(crate) fn diagnostics(list: &[Diagnostic], loaded: &Loaded, color: Color) {
    if !list.is_empty() {
        say(render::render(list, &loaded.sources, color.0).trim_end());
    }
}

/// Says why there are no numbers, and where that is so if it is known.
pub(crate) fn failed(faults: &[Diagnostic], loaded: &Loaded, color: Color) {
    if faults.iter().any(|fault| fault.code != Code::NotApplicable) {
        return diagnostics(faults, loaded, color);
    }
    let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
    say(&format!("error: {}", words.join("; ")));
}

/// `2 faults, 1 warning`.
pub(crate) fn count(list: &[Diagnostic]) -> String {
    let mut parts = Vec::new();
    for (severity, one, many) in [
        (Severity::Fault, "fault", "faults"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Note, "note", "notes"),
    ] {
        match list.iter().filter(|d| d.severity == severity).count() {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            n => parts.push(format!("{n} {many}")),
        }
    }
    parts.join(", ")
}

/// Diagnostics as JSON.
pub(crate) fn as_json(list: &[Diagnostic], loaded: &Loaded) -> Value {
    dalembert::export::diagnostics::to_json(list, &loaded.sources)
}

/// Says the faults of a model that a command cannot go on with; `own` are fields that its
/// JSON has beside the usual ones.
pub(crate) fn refuse(
    json: bool,
    own: &[(&str, Value)],
    loaded: &Loaded,
    faults: &[Diagnostic],
    color: Color,
) -> Status {
    let mut all = loaded.diagnostics.clone();
    all.extend(faults.iter().cloned());
    if json {
        let mut object = json!({"format": 1});
        own.iter().for_each(|(name, value)| object[*name] = value.clone());
        object["verdict"] = json!("faults");
        object["diagnostics"] = as_json(&all, loaded);
        data(&object.to_string());
    } else {
        diagnostics(if loaded.is_faulty() { &all } else { faults }, loaded, color);
        say(&format!("\n{}", count(&all)));
    }
    Status::ModelFaults
}
