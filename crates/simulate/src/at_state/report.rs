//! Everything there is to say about a model at one state.

use crate::at_state::{Answer, Reference, Refusal, agreement, evaluate};
use crate::normal_form::Numbers;
use crate::phases::{Fault, Here, rows};
use crate::points::hidden::{self, CompletionError, Implied};
use crate::points::start::{self, Start, StartError};
use crate::setting::legendre::NewtonError;
use crate::setting::{MissingValues, Setting, State};
use dalembert_derive::{Choices, Formulation, for_system};
use dalembert_gauss::eliminations::Elimination;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::Tolerances;
use dalembert_model::system::Model;
use rustc_hash::FxHashSet;

/// What to evaluate, and how.
pub struct Options {
    /// Formulations, in order.
    pub formulations: Vec<&'static dyn Formulation>,
    /// Eliminations, in order.
    pub eliminations: Vec<&'static dyn Elimination>,
    /// What formulations leave open.
    pub choices: Choices,
    /// What counts as zero.
    pub tolerances: Tolerances,
}

impl Options {
    /// What the model itself asks for: its `run` statement, else the formulation it
    /// is written in and the default elimination.
    pub fn of_model(model: &Model) -> Options {
        let run = &model.system.run;
        let formulation = run.formulation.as_deref().and_then(dalembert_derive::by_name);
        let elimination = run.elimination.as_deref().and_then(dalembert_gauss::by_name);
        Options {
            formulations: vec![formulation.unwrap_or_else(|| for_system(&model.system))],
            eliminations: vec![elimination.unwrap_or(dalembert_gauss::DEFAULT)],
            choices: Choices::default(),
            tolerances: Tolerances::default(),
        }
    }
}

/// The result of an evaluation.
pub struct Report {
    /// The state.
    pub state: State,
    /// How the start was made consistent, if it is the start.
    pub start: Option<Start>,
    /// What each pair says.
    pub answers: Vec<Answer>,
    /// Largest relative difference between the answers.
    pub agreement: Option<f64>,
    /// Constraints that completion appended, if the model was completed before.
    pub added: Vec<Implied>,
    /// Constraints that the model implies here and does not have.
    pub implied: Vec<Implied>,
    /// What each constraint is off by at this state.
    pub residuals: Vec<Residual>,
    /// Lagrange's normal form at the state.
    pub reference: Numbers,
    /// The phase of contacts and friction that the state is in, if there are any: the answers are those
    /// of its model.
    pub phase: Option<Here>,
}

/// By how much a state misses a constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The constraint.
    pub constraint: usize,
    /// Whether it is the constraint as written or its rate.
    pub is_rate: bool,
    /// The residual.
    pub value: f64,
    /// Relative to the terms in it that cancel.
    pub relative: f64,
}

/// Why there is nothing to report.
#[derive(Clone, Debug)]
pub enum EvalError {
    /// Parameters without values.
    Missing(MissingValues),
    /// No consistent start.
    Start(StartError),
    /// The state asked for has no velocities or momenta.
    State(NewtonError),
    /// Completion failed.
    Completion(CompletionError),
    /// Even Lagrange's equations have no numbers here.
    Refused(Refusal),
    /// Contacts and friction have no phase here.
    Phase {
        /// Why.
        fault: Box<Fault>,
        /// The time.
        t: f64,
    },
}

/// Evaluates a model at the state asked for beside it, or at its consistent start.
pub fn report(model: &Model, options: &Options) -> Result<Report, EvalError> {
    let setting = Setting::new(model).map_err(EvalError::Missing)?;
    let (state, start) = if model.system.state.is_empty() {
        let start = start::start(&setting).map_err(EvalError::Start)?;
        (start.state.clone(), Some(start))
    } else {
        (State::of_items(&setting, &model.system.state).map_err(EvalError::State)?, None)
    };
    let mut report = in_phase_at(&setting, &state, options)?;
    report.start = start;
    Ok(report)
}

/// Evaluates a setting at a state that is no singular position, in the phase of contacts and friction
/// that it is in.
pub fn in_phase_at(
    setting: &Setting,
    state: &State,
    options: &Options,
) -> Result<Report, EvalError> {
    let Some(here) = phase_at(setting, state)? else { return regular_at(setting, state, options) };
    let evaluated = |here: Here| {
        let number = |row| rows::as_written(&here.setting.model.system, row);
        let found = regular_at(&here.setting, &here.state, options);
        let mut report = found.map_err(|error| match error {
            EvalError::Refused(refusal) => EvalError::Refused(refusal.renumbered(&number)),
            other => other,
        })?;
        report.phase = Some(here);
        Ok(report)
    };
    match (evaluated(here.clone()), here.without_idle()) {
        // Rows that depend on each other here and not beside it.
        (Err(EvalError::Refused(_)), Some(less)) => evaluated(less),
        (found, _) => found,
    }
}

/// The phase of a state; `None` without contacts and friction.
pub fn phase_at(setting: &Setting, state: &State) -> Result<Option<Here>, EvalError> {
    Here::of(setting, state)
        .map_err(|fault| EvalError::Phase { fault: Box::new(fault), t: state.t })
}

/// Evaluates a setting at a state that is no singular position.
pub fn regular_at(
    setting: &Setting,
    state: &State,
    options: &Options,
) -> Result<Report, EvalError> {
    let reference = Reference::regular(setting, state, &options.tolerances);
    by_reference(setting, state, options, reference.map_err(EvalError::Refused)?)
}

/// Evaluates a setting at a state. In a singular position the rows say less than they do beside
/// it, and what they allow need not be the motion.
pub fn at(setting: &Setting, state: &State, options: &Options) -> Result<Report, EvalError> {
    let reference = Reference::of(setting, state, &options.tolerances);
    by_reference(setting, state, options, reference.map_err(EvalError::Refused)?)
}

fn by_reference(
    setting: &Setting,
    state: &State,
    options: &Options,
    reference: Reference,
) -> Result<Report, EvalError> {
    let answers = evaluate(
        setting,
        state,
        &reference,
        &options.formulations,
        &options.eliminations,
        &options.choices,
        &options.tolerances,
    );
    let terms = reference.numbers.terms();
    let agreement = agreement(&answers, &terms);
    let implied = if reference.outcome.motion.exists() {
        Vec::new()
    } else {
        native_implied(setting, state, &options.tolerances)
    };
    let residuals = residuals(&reference, state);
    Ok(Report {
        state: state.clone(),
        start: None,
        answers,
        agreement,
        added: Vec::new(),
        implied,
        residuals,
        reference: reference.numbers,
        phase: None,
    })
}

/// Implied constraints in the variables the model is written in.
fn native_implied(setting: &Setting, state: &State, tolerances: &Tolerances) -> Vec<Implied> {
    let Ok(equations) = setting.equations(for_system(&setting.model.system)) else {
        return Vec::new();
    };
    let Ok(numbers) = Numbers::new(setting, &equations, state) else { return Vec::new() };
    let mut outcome = Outcome::default();
    let mut scratch = Default::default();
    match dalembert_gauss::DEFAULT.solve(&mut scratch, &numbers.terms(), tolerances, &mut outcome) {
        Ok(()) => hidden::implied(setting, &equations, &numbers, &outcome),
        Err(_) => Vec::new(),
    }
}

/// What the constraints are off by.
fn residuals(reference: &Reference, state: &State) -> Vec<Residual> {
    let (equations, numbers) = (&reference.equations, &reference.numbers);
    let terms = numbers.terms();
    let row =
        |j: usize, x: &[f64]| -> f64 { terms.jacobian_row(j).map(|(i, a)| (a * x[i]).abs()).sum() };
    let mut list = Vec::new();
    let relative = |value: f64, size: f64| if value == 0.0 { 0.0 } else { value.abs() / size };
    let positions = &state.q[..equations.n_coordinates()];
    // What is no more than the rounding of other coordinates is not there.
    let [of_q, of_velocity] =
        [positions, &state.velocity].map(|x| dalembert_gauss::scale::reach(&terms, x));
    let rounding = |j: usize, reach: &[f64]| 16.0 * f64::EPSILON * row(j, reach);
    for (&(j, _), noisy) in equations.configuration_residuals.iter().zip(&numbers.configuration) {
        let size = row(j, positions).max(noisy.noise / f64::EPSILON);
        let value = beyond(noisy.value, rounding(j, &of_q));
        list.push(Residual {
            constraint: j,
            is_rate: false,
            value,
            relative: relative(value, size),
        });
    }
    let positions: FxHashSet<usize> =
        equations.configuration_residuals.iter().map(|r| r.0).collect();
    for (&(j, _), noisy) in equations.velocity_residuals.iter().zip(&numbers.velocity) {
        let size = row(j, &state.velocity).max(noisy.noise / f64::EPSILON);
        let value = beyond(noisy.value, rounding(j, &of_velocity));
        let is_rate = positions.contains(&j);
        list.push(Residual { constraint: j, is_rate, value, relative: relative(value, size) });
    }
    list
}

/// A value, or 0 where it is rounding.
fn beyond(value: f64, rounding: f64) -> f64 {
    if value.abs() <= rounding { 0.0 } else { value }
}
