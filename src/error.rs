//! The one error of the library's own calls.

use crate::failures::{self, Reader};
use crate::input::{InputError, guess};
use crate::refusals;
use dalembert_model::diagnostic::{Diagnostic, Severity};
use dalembert_model::load::{Loaded, Syntax};
use dalembert_model::parser;
use dalembert_model::render::render;
use dalembert_model::span::{SourceId, Sources};
use dalembert_model::system::Model;
use dalembert_model::tree::File;
use dalembert_simulate::drive::{End, Failure};
use dalembert_simulate::run::{RunError, RunReport};
use dalembert_simulate::{EvalError, MissingValues, Refusal, Setting, SolveError, StartError};
use std::fmt;
use std::sync::Arc;

/// What went wrong, with the lines of the model that are to blame.
///
/// `Display` and `Debug` both give the text for people: each message with its place in the
/// model underlined, so that `main` may return this error. [`kind`](Error::kind) is for
/// programs, [`diagnostics`](Error::diagnostics) for those that show messages themselves.
///
/// ```
/// let wrong = dalembert::parse("coord x\nkinetic m*x'^2/2").unwrap_err();
/// assert!(wrong.to_string().contains("2 | kinetic m*x'^2/2"));
/// assert!(matches!(wrong.kind(), dalembert::ErrorKind::Model));
/// ```
#[derive(Clone)]
pub struct Error(Box<Told>);

#[derive(Clone)]
struct Told {
    kind: ErrorKind,
    diagnostics: Vec<Diagnostic>,
    sources: Arc<Sources>,
    text: String,
}

/// Which kind of thing went wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text could not be read.
    Input(InputError),
    /// The model has faults, or a formulation does not apply to it; the diagnostics say which.
    Model,
    /// Parameters have no value.
    MissingValues(MissingValues),
    /// There is no consistent start.
    Start(StartError),
    /// A run did not begin.
    NotBegun(RunError),
    /// A run could not go on.
    Failed(Failure),
    /// A state has no accelerations, or not one set of them.
    NoMotion(Failure),
    /// A contact is struck at a state: velocities jump there, and have no rates.
    Struck {
        /// The time.
        t: f64,
    },
    /// A run came to its end but is not what it should be: what is above its bound.
    Certificate(Vec<String>),
    /// Nothing has this name.
    Unknown {
        /// What was looked for: a parameter, say.
        what: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Samples that an input cannot be made of.
    Samples {
        /// The input.
        input: String,
    },
    /// A number that cannot be taken.
    NotANumber {
        /// What it was for.
        name: String,
        /// The number.
        value: f64,
    },
    /// A list has not as many entries as there are coordinates.
    Length {
        /// Which list.
        what: &'static str,
        /// How many it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A time outside of the motion.
    Outside {
        /// The time.
        t: f64,
        /// Where the motion begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// A run was asked not to keep what states between its samples are found from.
    NotDense,
}

/// Threads may pass it on.
const _: fn() = || {
    fn is_an_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_an_error::<Error>();
};

impl Error {
    /// An error without a place in the model.
    pub(crate) fn plain(kind: ErrorKind, words: impl fmt::Display) -> Error {
        Error::placeless(kind, format!("error: {words}"))
    }

    fn placeless(kind: ErrorKind, text: String) -> Error {
        let (diagnostics, sources) = (Vec::new(), Arc::default());
        Error(Box::new(Told { kind, diagnostics, sources, text }))
    }

    fn told(kind: ErrorKind, diagnostics: Vec<Diagnostic>, model: &Model) -> Error {
        let text = render(&diagnostics, &model.sources, false).trim_end().to_owned();
        let sources = Arc::clone(&model.sources);
        Error(Box::new(Told { kind, diagnostics, sources, text }))
    }

    /// Faults of a model.
    pub fn of_faults(faults: Vec<Diagnostic>, model: &Model) -> Error {
        Error::told(ErrorKind::Model, faults, model)
    }

    /// Parameters without values.
    pub fn of_missing(missing: MissingValues, model: &Model) -> Error {
        let faults = refusals::of_missing(&missing, model);
        Error::told(ErrorKind::MissingValues(missing), faults, model)
    }

    /// A start that is not there.
    pub fn of_start(error: StartError, model: &Model) -> Error {
        let faults = refusals::of_start(&error, model);
        Error::told(ErrorKind::Start(error), faults, model)
    }

    /// A run that did not begin.
    pub fn of_run(error: RunError, setting: &Setting) -> Error {
        let model = &*setting.model;
        match error {
            RunError::Eval(EvalError::Missing(missing)) => Error::of_missing(missing, model),
            RunError::Eval(EvalError::Start(error)) => Error::of_start(error, model),
            RunError::Formulation(faults) | RunError::Refused(Refusal::Formulation(faults)) => {
                Error::of_faults(faults, model)
            }
            error => {
                let is_lost = matches!(
                    error,
                    RunError::Refused(Refusal::Solve(SolveError::NotFinite { .. }))
                );
                let place = match is_lost {
                    true => failures::explain_start(setting, &statements(model)),
                    false => None,
                };
                let faults = place.map_or_else(|| refusals::of_run(&error, model), |d| vec![d]);
                Error::told(ErrorKind::NotBegun(error), faults, model)
            }
        }
    }

    /// A run that could not go on; `None` if it could.
    pub fn of_failure(setting: &Setting, report: &RunReport) -> Option<Error> {
        let End::Failed(failure) = &report.end else { return None };
        let model = &*setting.model;
        let told = failures::explain_to(Reader::Program, setting, report, &statements(model));
        Some(Error::told(ErrorKind::Failed(failure.clone()), told.into_iter().collect(), model))
    }

    /// A state without accelerations.
    pub(crate) fn of_state(failure: Failure, t: f64, model: &Model) -> Error {
        if let Failure::NearlyDependent { ratio, constraints } = &failure {
            let told = failures::explain_nearly(model, constraints, *ratio);
            return Error::told(ErrorKind::NoMotion(failure), vec![told], model);
        }
        let words = format!("at t = {t}: {}", failure.words(model));
        Error::plain(ErrorKind::NoMotion(failure), words)
    }

    /// Numbers of a certificate that are above their bounds.
    pub(crate) fn of_certificate(failed: Vec<String>) -> Error {
        let words = format!("the certificate does not hold: {}", failed.join("; "));
        Error::plain(ErrorKind::Certificate(failed), words)
    }

    /// A name that nothing has.
    pub(crate) fn unknown(what: &'static str, name: &str, known: Vec<String>) -> Error {
        let list = match known.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        let words = format!("no {what} is called `{name}`; {list}");
        Error::plain(ErrorKind::Unknown { what, name: name.to_owned(), known }, words)
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The messages with their places; none where no line of a model is to blame.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// The texts that the places of the messages are in.
    pub fn sources(&self) -> &Sources {
        &self.0.sources
    }
}

/// The statements of the text that a model was read from. Only Markdown has lines that open a
/// block of the language.
fn statements(model: &Model) -> File {
    let main = model.sources.find(SourceId(0));
    let text = main.map_or("", |source| &source.text);
    let is_markdown = guess(text) == Syntax::Markdown;
    parser::parse(SourceId(0), text, is_markdown, &mut Vec::new())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    /// The text, from a line of its own on: `main` and `unwrap` show errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0.text)
    }
}

impl std::error::Error for Error {}

impl From<Loaded> for Error {
    /// The faults of a text that is no model.
    fn from(loaded: Loaded) -> Error {
        let faults = loaded.diagnostics.into_iter().filter(|d| d.severity == Severity::Fault);
        let diagnostics: Vec<Diagnostic> = faults.collect();
        let text = match diagnostics.is_empty() {
            true => "error: the text has no fault".to_owned(),
            false => render(&diagnostics, &loaded.sources, false).trim_end().to_owned(),
        };
        let (kind, sources) = (ErrorKind::Model, loaded.sources);
        Error(Box::new(Told { kind, diagnostics, sources, text }))
    }
}

impl From<Box<Loaded>> for Error {
    fn from(loaded: Box<Loaded>) -> Error {
        Error::from(*loaded)
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("\n  = hint: {hint}"));
        let text = format!("error[{}]: {}{hint}", error.code, error.message);
        Error::placeless(ErrorKind::Input(error), text)
    }
}

impl From<MissingValues> for Error {
    /// Without the places of the parameters; [`Error::of_missing`] has them.
    fn from(missing: MissingValues) -> Error {
        let words = format!("no value for {}", missing.0.join(", "));
        Error::plain(ErrorKind::MissingValues(missing), words)
    }
}
