//! What is probably not meant, or is worth knowing: remarks about a model that has
//! no faults.
//!
//! Each finding is a warning or a note in the model's own diagnostics, with a code
//! that `dal explain` tells more about. A finding says what was established and no
//! more: a coordinate is called immobile where the equations leave it nothing else,
//! not where it happens to stay.
//!
//! Findings that need numbers are left out where the model has none (a parameter
//! without value, no consistent start) and where it is large: `dal check` should
//! answer at once.

mod degrees;
mod inertia;
mod mass;
mod parameters;
mod rest;
mod rows;
mod scales;
mod statements;

use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Exprs};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Model, System};
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::points::random_states;
use dalembert_simulate::{Setting, Start, State, start};

/// Larger systems are not sampled.
const LARGEST: usize = 24;
/// Random consistent states beside the start.
const STATES: usize = 3;

/// A model and what its findings are made from.
struct Subject<'m> {
    exprs: &'m Exprs,
    system: &'m System,
    picture: Picture,
    numbers: Option<Sampled>,
}

/// Numbers at consistent states.
struct Sampled {
    setting: Setting,
    start: Start,
    /// The start and others.
    states: Vec<State>,
}

/// All findings about a model, in the order of its text.
pub fn lint(model: &Model) -> Vec<Diagnostic> {
    // What is said of rows that nearly depend on each other is said of what they determine.
    let setting = Setting::new(model).ok();
    let model = setting.as_ref().map_or(model, |setting| &setting.model);
    let (exprs, system) = (&model.exprs, &model.system);
    let mut findings = statements::findings(model);
    if let Ok(picture) = Picture::for_numbers(exprs, system) {
        let numbers = Sampled::new(model);
        let subject = Subject { exprs, system, picture, numbers };
        findings.extend(parameters::findings(&subject));
        findings.extend(rows::findings(&subject));
        let substituted = inertia::findings(&subject);
        let told: Vec<Span> =
            substituted.iter().filter_map(|f| f.labels.first()).map(|l| l.span).collect();
        findings.extend(substituted);
        findings.extend(mass::findings(&subject, &told));
        findings.extend(rest::findings(&subject));
        findings.extend(scales::findings(&subject));
        findings.extend(degrees::findings(&subject));
    }
    findings.sort_by_key(|f| f.labels.first().map(|l| (l.span.source, l.span.start)));
    findings
}

impl Sampled {
    fn new(model: &Model) -> Option<Sampled> {
        let system = &model.system;
        if system.n_coordinates().max(system.constraints.len()) > LARGEST {
            return None;
        }
        let setting = Setting::new(model).ok()?;
        let start = start::start(&setting).ok()?;
        let mut states = vec![start.state.clone()];
        states.extend(random_states(&setting, &start, STATES, 7));
        Some(Sampled { setting, start, states })
    }
}

impl Subject<'_> {
    /// A at a state, row by row; `None` where it is not defined.
    fn jacobian(&self, sampled: &Sampled, state: &State) -> Option<Vec<f64>> {
        let rows = &self.picture.rows.jacobian;
        let entries: Vec<ExprId> = rows.rows.iter().flatten().map(|e| e.1).collect();
        let values = sampled.setting.numbers(&entries, &state.table(self.system));
        values.iter().all(|x| x.is_finite()).then(|| dense(rows, &values))
    }

    /// A coordinate's name in quotes.
    fn coordinate(&self, i: usize) -> String {
        format!("`{}`", self.system.coordinates[i].name)
    }

    /// A constraint's name in quotes.
    fn constraint(&self, row: usize) -> String {
        format!("`{}`", self.system.constraints[row].name)
    }
}

/// `a`, `b` and `c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
