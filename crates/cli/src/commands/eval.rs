//! `dal eval`: numbers at one state.

use crate::Status;
use crate::args::Eval;
use crate::progress;
use crate::report::{self, Color};
use dalembert::export::EvaluationPage;
use dalembert::model::codes::Code;
use dalembert::simulate::points::hidden::{CompletionError, complete};
use dalembert::simulate::report::{EvalError, Options, Report, report as evaluate};
use dalembert::simulate::{Refusal, Setting, StartError};
use dalembert::{Diagnostic, Model, failures};
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
                        report::data(&json!({"format": 1, "system": model.system.title, "results": [], "error": words}).to_string());
                    } else {
                        report::say(&format!("error: {words}"));
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
    let span = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    let plain = |words: String| vec![Diagnostic::fault(Code::NotApplicable, span, words)];
    match error {
        EvalError::Missing(missing) => {
            let parameters = model.system.parameters.iter();
            let unset = parameters.filter(|p| missing.0.contains(&format!("`{}`", p.name)));
            let faults = unset
                .map(|p| {
                    let message = format!("`{}` has no value, and numbers are asked for", p.name);
                    Diagnostic::fault(Code::ParameterWithoutValue, p.span, message)
                        .hint(format!("give it one: `--set {}=1`", p.name))
                })
                .collect();
            (faults, Status::ModelFaults)
        }
        EvalError::Start(StartError::Clash(faults))
        | EvalError::Completion(
            CompletionError::Start(StartError::Clash(faults))
            | CompletionError::Equations(faults)
            | CompletionError::Contradiction(faults),
        )
        | EvalError::Refused(Refusal::Formulation(faults)) => (faults, Status::ModelFaults),
        EvalError::Start(StartError::Legendre(error))
        | EvalError::Completion(CompletionError::Start(StartError::Legendre(error)))
        | EvalError::State(error) => (plain(error.to_string()), Status::NumbersFailed),
        EvalError::Start(StartError::Time)
        | EvalError::Completion(CompletionError::Start(StartError::Time)) => {
            (plain("the start time is not a number".to_owned()), Status::NumbersFailed)
        }
        EvalError::Refused(refusal @ Refusal::Coupled { .. }) => {
            let words = refusal.to_string();
            (vec![failures::explain_coupled(model, words)], Status::NumbersFailed)
        }
        EvalError::Refused(Refusal::NearlyDependent { ratio, constraints }) => {
            (vec![failures::explain_nearly(model, &constraints, ratio)], Status::ModelFaults)
        }
        EvalError::Refused(refusal) => (plain(refusal.to_string()), Status::NumbersFailed),
    }
}
