//! `dal eval`: numbers at one state.

use crate::Status;
use crate::args::Eval;
use crate::progress;
use crate::report::{self, Color};
use dalembert::export::EvaluationPage;
use dalembert::model::system::Parameter;
use dalembert::simulate::points::hidden::{CompletionError, complete};
use dalembert::simulate::report::{EvalError, Options, Report, report as evaluate};
use dalembert::simulate::{Refusal, Setting, StartError};
use dalembert::{Diagnostic, Model, refusals};
use serde_json::json;

pub(crate) fn run(args: &Eval, color: Color) -> Status {
    let mut loaded = match report::load_at(&args.model, args.at.as_deref(), args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if loaded.is_faulty() {
        return report::refuse(args.json, &[("results", json!([]))], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    let Some(mut model) = loaded.model.take() else { return Status::ModelFaults };
    let mut options = Options::of_model(&model);
    if let Some(name) = &args.formulation {
        options.formulations = match dalembert::formulations::by_name(name) {
            Some(one) => vec![one],
            None => dalembert::formulations::ALL.to_vec(),
        };
    }
    if let Some(name) = &args.elimination {
        options.eliminations = match dalembert::simulate::by_name(name) {
            Some(one) => vec![one],
            None => dalembert::simulate::ALL.to_vec(),
        };
    }
    match report::ignored(&args.ignore, &model) {
        Ok(ignored) => options.choices.ignored = ignored,
        Err(status) => return status,
    }
    progress::stage("deriving and evaluating");
    match evaluated(&mut model, &options, args.complete) {
        Ok(found) => {
            let page = EvaluationPage { model: &model, report: &found };
            if args.json {
                report::data(&page.to_json().to_string());
            } else {
                report::data(page.to_text().trim_end());
            }
            if found.answers.iter().any(|a| a.result.is_ok()) {
                Status::Fine
            } else {
                Status::NumbersFailed
            }
        }
        Err(error) => {
            let (faults, status) = explain(error, &model);
            match status {
                Status::ModelFaults => {
                    report::refuse(args.json, &[("results", json!([]))], &loaded, &faults, color)
                }
                status => {
                    let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
                    let words = words.join("; ");
                    if args.json {
                        let object = json!({
                            "format": 1, "system": model.system.title, "results": [],
                            "error": words, "diagnostics": report::as_json(&faults, &loaded),
                        });
                        report::data(&object.to_string());
                    } else {
                        report::failed(&faults, &loaded, color);
                    }
                    status
                }
            }
        }
    }
}

/// The model at its state, completed before if that is asked for.
fn evaluated(model: &mut Model, options: &Options, completes: bool) -> Result<Report, EvalError> {
    if !completes {
        return evaluate(model, options);
    }
    Setting::new(model).map_err(EvalError::Missing)?;
    let completed = complete(model, &options.tolerances).map_err(EvalError::Completion)?;
    *model = completed.model;
    let mut found = evaluate(model, options)?;
    found.added = completed.added;
    Ok(found)
}

/// What is wrong, and whether with the model or with the numbers.
pub(crate) fn explain(error: EvalError, model: &dalembert::Model) -> (Vec<Diagnostic>, Status) {
    let mut faults = refusals::of_evaluation(&error, model);
    let status = match error {
        EvalError::Missing(_)
        | EvalError::Start(StartError::Clash(_))
        | EvalError::Completion(
            CompletionError::Start(StartError::Clash(_))
            | CompletionError::Equations(_)
            | CompletionError::Contradiction(_),
        )
        | EvalError::Refused(
            Refusal::Formulation(_) | Refusal::NearlyDependent { .. } | Refusal::Undecided { .. },
        ) => Status::ModelFaults,
        _ => Status::NumbersFailed,
    };
    if let EvalError::Missing(_) = error {
        let parameters = model.system.parameters.iter();
        for fault in &mut faults {
            let is_there = |p: &&Parameter| fault.labels.iter().any(|l| l.span == p.span);
            if let Some(parameter) = parameters.clone().find(is_there) {
                fault.hints.push(format!("give it one: `--set {}=1`", parameter.name));
            }
        }
    }
    (faults, status)
}
