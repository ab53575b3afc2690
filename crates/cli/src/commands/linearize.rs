//! `dal linearize`: an equilibrium or steady motion, and the linear equations about it.

use crate::Status;
use crate::args::Linearize;
use crate::commands::eval::explain;
use crate::progress;
use crate::report::{self, Color};
use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{
    LinearizeError, linearize_along, linearize_here, linearize_watched,
};
use dalembert::export::linearization::failure_words;
use dalembert::export::{AlongPage, LinearizationPage, LocalPage};
use dalembert::simulate::points::hidden::complete;
use dalembert::simulate::report::EvalError;
use dalembert::simulate::{Setting, StartError, Table, Tolerances};
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
    let watch = Watch::by(&stage);
    let model_of = &model;
    let pages = match &args.along {
        _ if args.here => linearize_here(&setting, &watch).map(|found| {
            let page = LocalPage { model: model_of, found: &found };
            if args.json { page.to_json().to_string() } else { page.to_text() }
        }),
        Some(times) => linearize_along(&setting, &chosen(&setting, times), &watch).map(|found| {
            let page = AlongPage { model: model_of, found: &found };
            if args.json { page.to_json().to_string() } else { page.to_text() }
        }),
        None => linearize_watched(&setting, &watch).map(|found| {
            let page = LinearizationPage { model: model_of, found: &found };
            if args.json { page.to_json().to_string() } else { page.to_text() }
        }),
    };
    match pages {
        Ok(page) => {
            report::data(page.trim_end());
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

/// The times asked for, or eleven of the run.
fn chosen(setting: &Setting, times: &[f64]) -> Vec<f64> {
    if !times.is_empty() {
        return times.to_vec();
    }
    let run = &setting.model.system.run;
    let ends = setting.numbers(&[run.from, run.to], &Table::default());
    (0..=10).map(|k| ends[0] + (ends[1] - ends[0]) * f64::from(k) / 10.0).collect()
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
