//! `dal linearize`: an equilibrium or steady motion, and the linear equations about it.

use crate::Status;
use crate::args::Linearize;
use crate::commands::eval::explain;
use crate::progress;
use crate::report::{self, Color};
use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{LinearizeError, linearize_watched};
use dalembert::export::LinearizationPage;
use dalembert::export::linearization::failure_words;
use dalembert::simulate::points::hidden::complete;
use dalembert::simulate::report::EvalError;
use dalembert::simulate::{Setting, StartError, Tolerances};
use dalembert::{Loaded, Model};
use serde_json::json;
use std::ops::ControlFlow;

pub(crate) fn run(args: &Linearize, color: Color) -> Status {
    let mut loaded = match report::load_at(&args.model, args.at.as_deref(), args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if loaded.is_faulty() {
        return report::refuse(args.json, &[], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    let Some(mut model) = loaded.model.take() else { return Status::ModelFaults };
    if args.complete {
        let completed = match Setting::new(&model) {
            Err(missing) => Err(EvalError::Missing(missing)),
            Ok(_) => complete(&model, &Tolerances::default()).map_err(EvalError::Completion),
        };
        match completed {
            Ok(completed) => model = completed.model,
            Err(error) => return failed(args, &loaded, &model, error, color),
        }
    }
    let setting = match Setting::new(&model) {
        Ok(setting) => setting,
        Err(missing) => {
            return failed(args, &loaded, &model, EvalError::Missing(missing), color);
        }
    };
    let stage = |words| {
        progress::stage(words);
        ControlFlow::Continue(())
    };
    match linearize_watched(&setting, &Watch::by(&stage)) {
        Ok(found) => {
            let page = LinearizationPage { model: &model, found: &found };
            if args.json {
                report::data(&page.to_json().to_string());
            } else {
                report::data(page.to_text().trim_end());
            }
            Status::Fine
        }
        Err(
            LinearizeError::Start(StartError::Clash(faults)) | LinearizeError::Equations(faults),
        ) => report::refuse(args.json, &[], &loaded, &faults, color),
        Err(error) => {
            say(args, &model, &failure_words(&error, &model));
            Status::NumbersFailed
        }
    }
}

fn failed(
    args: &Linearize,
    loaded: &Loaded,
    model: &Model,
    error: EvalError,
    color: Color,
) -> Status {
    let (faults, status) = explain(error, model);
    if status == Status::ModelFaults {
        return report::refuse(args.json, &[], loaded, &faults, color);
    }
    let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
    say(args, model, &words.join("; "));
    status
}

fn say(args: &Linearize, model: &Model, words: &str) {
    if args.json {
        let object = json!({"format": 1, "system": model.system.title, "error": words});
        report::data(&object.to_string());
    } else {
        report::say(&format!("error: {words}"));
    }
}
