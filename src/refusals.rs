//! Why numbers were refused: a run that did not begin, a state that was not evaluated, said
//! at the lines of the model. What stopped a run on its way is told in [`failures`].

use crate::failures;
use dalembert_gauss::coupled::CoupledError;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Model;
use dalembert_simulate::points::hidden::CompletionError;
use dalembert_simulate::run::RunError;
use dalembert_simulate::{EvalError, MissingValues, Refusal, StartError, integrators};
#[cfg(feature = "analysis")]
use {
    dalembert_analyze::linearize::LinearizeError, dalembert_model::system::Touched,
    dalembert_simulate::phases::Edge,
};

/// Parameters that numbers need and that have no value.
pub fn of_missing(missing: &MissingValues, model: &Model) -> Vec<Diagnostic> {
    let parameters = model.system.parameters.iter();
    parameters
        .filter(|p| missing.0.contains(&format!("`{}`", p.name)))
        .map(|p| {
            let message = format!("`{}` has no value, and numbers are asked for", p.name);
            Diagnostic::fault(Code::ParameterWithoutValue, p.span, message)
        })
        .chain(model.system.inputs.iter().filter(|u| u.value.is_none()).map(|u| {
            let message = format!("input `{}` has no value, and numbers are asked for", u.name);
            Diagnostic::fault(Code::InputWithoutValue, u.span, message)
                .hint(format!("give it one here, or with `--input {}=…`", u.name))
        }))
        .collect()
}

/// Why there is no consistent start.
pub fn of_start(error: &StartError, model: &Model) -> Vec<Diagnostic> {
    match error {
        StartError::Clash(faults) => faults.clone(),
        StartError::Legendre(error) => plain(model, error.to_string()),
        StartError::Time => plain(model, "the start time is not a number".to_owned()),
    }
}

/// Why there is nothing to say of a state.
pub fn of_evaluation(error: &EvalError, model: &Model) -> Vec<Diagnostic> {
    match error {
        EvalError::Missing(missing) => of_missing(missing, model),
        EvalError::Start(error) | EvalError::Completion(CompletionError::Start(error)) => {
            of_start(error, model)
        }
        EvalError::Completion(
            CompletionError::Equations(faults) | CompletionError::Contradiction(faults),
        ) => faults.clone(),
        EvalError::State(error) => plain(model, error.to_string()),
        EvalError::Refused(refusal) => of_refusal(refusal, model),
        EvalError::Phase { fault, t } => {
            vec![failures::explain_phase(&model.system, fault, *t, true)]
        }
    }
}

/// Why a formulation has no numbers at a state.
pub fn of_refusal(refusal: &Refusal, model: &Model) -> Vec<Diagnostic> {
    match refusal {
        Refusal::Formulation(faults) => faults.clone(),
        Refusal::Coupled { error: CoupledError::Servo { .. }, .. } => {
            vec![failures::explain_servo(model, refusal.to_string())]
        }
        Refusal::Coupled { .. } => vec![failures::explain_coupled(model, refusal.to_string())],
        Refusal::NearlyDependent { ratio, constraints } => {
            vec![failures::explain_nearly(model, constraints, *ratio)]
        }
        Refusal::Singular { constraints, .. } => {
            vec![failures::explain_singular(model, constraints, refusal.to_string())]
        }
        Refusal::Undecided { constraints, .. } => {
            vec![failures::explain_undecided(model, constraints, refusal.to_string())]
        }
        refusal => plain(model, refusal.to_string()),
    }
}

/// Why there are no linear equations, where a line of the model is to blame; numbers failed in all but
/// the first two.
#[cfg(feature = "analysis")]
pub fn of_linearization(error: &LinearizeError, model: &Model) -> Option<Vec<Diagnostic>> {
    match error {
        LinearizeError::Start(StartError::Clash(faults)) | LinearizeError::Equations(faults) => {
            Some(faults.clone())
        }
        LinearizeError::Phase { fault, state } => {
            Some(vec![failures::explain_phase(&model.system, fault, state.t, true)])
        }
        LinearizeError::Edge { edges, state } => {
            let system = &model.system;
            let fault = |edge: &Edge| {
                let span = match edge.of {
                    Touched::Contact(c) => system.contacts[c].span,
                    Touched::Friction(f) => system.frictions[f].span,
                };
                let words = format!("at t = {} {}", state.t, edge.words(system));
                let hint = match edge.is_beyond {
                    true => "begin nearer to a state whose phase is that of the start",
                    false => {
                        "a small deviation leads into another phase: there are no linear \
                              equations on its edge"
                    }
                };
                Diagnostic::fault(Code::LinearizeEdge, span, words).hint(hint)
            };
            Some(edges.iter().map(fault).collect())
        }
        _ => None,
    }
}

/// Why a run did not begin.
pub fn of_run(error: &RunError, model: &Model) -> Vec<Diagnostic> {
    match error {
        RunError::Eval(error) => of_evaluation(error, model),
        RunError::Formulation(faults) => faults.clone(),
        RunError::Refused(refusal) => of_refusal(refusal, model),
        RunError::Method(name) => {
            let names = integrators::NAMES.join(", ");
            let words =
                format!("there is no integrator `{name}` in this version; there are auto, {names}");
            plain(model, words)
        }
        RunError::Option(error) => plain(model, error.to_string()),
        RunError::Unsuited(unsuited) => plain(model, unsuited.words(&model.system)),
    }
}

/// Words without a place of their own, at the first coordinate.
fn plain(model: &Model, words: String) -> Vec<Diagnostic> {
    let span = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    vec![Diagnostic::fault(Code::NotApplicable, span, words)]
}
