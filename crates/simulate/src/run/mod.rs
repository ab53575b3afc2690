//! A run: from a model to a certified trajectory.

mod certificate;
mod choose;
mod event_log;
mod going;
pub mod method;
mod options;
mod phased;
mod prepared;
mod report;
mod setup;
mod simulation;
mod ticks;
mod travel;
mod unsuited;
pub mod verify;

pub use certificate::{Certificate, Line};
pub use event_log::EventRecord;
pub use going::{PhaseChange, PhaseReport, Sliding};
pub use options::{RunOptions, output_times};
pub use prepared::Program;
pub use report::{RunReport, Seconds, Sizes};
pub use setup::OptionError;
pub use travel::{Arrived, Departure, Ensemble, Seen, Traveller};
pub use unsuited::{Reason, Unsuited};

pub(crate) use simulation::Simulation;

use crate::at_state::report::EvalError;
use crate::at_state::{Reference, Refusal};
use crate::drive::End;
use crate::integrators::{self, Needs};
use crate::normal_form::picture_for;
use crate::phases::rows;
use crate::points::start::{self, Start};
use crate::program::observer::Observation;
use crate::run::going::Going;
use crate::setting::{Setting, State};
use dalembert_derive::formulations::lagrange;
use dalembert_derive::picture::Picture;
use dalembert_derive::{EquationsOfMotion, Formulation};
use dalembert_gauss::terms::Tolerances;
use dalembert_model::diagnostic::Diagnostic;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use verify::Verification;

/// Why a run could not begin.
#[derive(Clone, Debug)]
pub enum RunError {
    /// As for an evaluation.
    Eval(EvalError),
    /// The formulation does not apply.
    Formulation(Vec<Diagnostic>),
    /// It applies to the model but not at the start.
    Refused(Refusal),
    /// No integrator has this name.
    Method(String),
    /// The integrator does not suit the system.
    Unsuited(Unsuited),
    /// An option that makes no sense.
    Option(OptionError),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time.
    pub t: f64,
    /// Start time.
    pub start: f64,
    /// End time.
    pub end: f64,
    /// Accepted steps so far.
    pub steps: u64,
}

/// Runs a model. `record` is called at the start and at each output time.
pub fn run(
    setting: &Setting,
    options: &RunOptions,
    record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
) -> Result<RunReport, RunError> {
    let start = start::start(setting).map_err(|e| RunError::Eval(EvalError::Start(e)))?;
    run_from(setting, options, start, record)
}

/// The same from another start than the model's own.
pub fn run_from(
    setting: &Setting,
    options: &RunOptions,
    start: Start,
    record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
) -> Result<RunReport, RunError> {
    simulate(setting, options, start, record, &mut |_| ControlFlow::Continue(()))
}

/// A run from the model's start; `watch` is called after each step, and ends the run
/// there if it breaks.
pub fn run_watched(
    setting: &Setting,
    options: &RunOptions,
    record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunReport, RunError> {
    let start = start::start(setting).map_err(|e| RunError::Eval(EvalError::Start(e)))?;
    simulate(setting, options, start, record, watch)
}

pub(crate) fn simulate(
    setting: &Setting,
    options: &RunOptions,
    start: Start,
    record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunReport, RunError> {
    setup::validate(options, start.state.t).map_err(RunError::Option)?;
    let program = Program::at(setting, options, &start.state)?;
    simulate_on(program, options, start, record, watch)
}

/// The run of a program.
pub(crate) fn simulate_on(
    program: Program,
    options: &RunOptions,
    start: Start,
    record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunReport, RunError> {
    setup::validate(options, start.state.t).map_err(RunError::Option)?;
    let (program, start, going) = going::begin(program, options, start)?;
    let mut simulation = Simulation::new(program, options, &start)?;
    simulation.own_events = going.as_ref().map_or(usize::MAX, |going| going.own_events());
    simulation.going = going;
    simulation.certificate.characteristic_times = 0.0;
    let mut times = output_times(start.state.t, options.end, options.every);
    let forward = if options.end >= start.state.t { 1.0 } else { -1.0 };
    let inside =
        |t: &f64| forward * (t - start.state.t) > 0.0 && forward * (options.end - t) >= 0.0;
    times.extend(options.times.iter().copied().filter(inside));
    times.sort_by(|a, b| (forward * a).total_cmp(&(forward * b)));
    times.dedup();
    let (t, x) = (simulation.driver.t, simulation.driver.x.clone());
    let at_first = simulation.driver.rest_noise(t, &x);
    let clock = Instant::now();
    let mut end = simulation.run(&times, options.end, record, watch)?;
    // Rows are told by who has the model as written.
    if let (End::Failed(failure), Some(_)) = (&end, &simulation.going) {
        let number = |row| rows::as_written(&simulation.setting.model.system, row);
        end = End::Failed(failure.clone().renumbered(&number));
    }
    simulation.seconds.integrate =
        clock.elapsed().as_secs_f64() - simulation.overhead.as_secs_f64();
    let driver = &mut simulation.driver;
    let (t, x) = (driver.t, driver.x.clone());
    let last = simulation.observer.observe(&mut driver.field, t, &x).ok();
    let stopped = simulation.observer.state(&driver.field, t, &x);
    simulation.sizes.mass = simulation.observer.masses(&driver.field, t, &x);
    let rest = driver.rest_noise(t, &x);
    simulation.sizes.rest =
        rest.iter().zip(&at_first).map(|(a, b)| if *b > 0.0 { *a } else { 0.0 }).collect();
    simulation.finish();
    if let Some(going) = simulation.going.as_mut().filter(|going| !going.lifted) {
        let report = going.end();
        let system = &simulation.setting.given().system;
        let (touches, rubs) = (!system.contacts.is_empty(), !system.frictions.is_empty());
        simulation.certificate.touch = [
            touches.then_some(report.penetration),
            touches.then_some(report.pull),
            rubs.then_some(report.excess),
        ];
    }
    Ok(RunReport {
        end,
        last,
        stopped,
        statistics: simulation.statistics,
        evaluations: simulation.evaluations,
        seconds: simulation.seconds,
        certificate: simulation.certificate,
        start,
        method: simulation.choice.name,
        choice: simulation.choice,
        formulation: options.formulation.name(),
        variables: options.formulation.variables(),
        charts: simulation.charts,
        tolerance: options.tolerance,
        largest_multipliers: simulation.largest_multipliers,
        event_log: simulation.event_log,
        undecided: simulation.undecided,
        jolts: simulation.jolts,
        sizes: simulation.sizes,
        error: Verification::NotAsked,
        dense: simulation.driver.dense.take(),
        phases: simulation.going.map(Going::into_report),
    })
}

/// The picture of a setting's system, with its mass matrix as the elimination and the method take it.
/// With all its `entries` where that is asked for.
pub(crate) fn picture(
    setting: &Setting,
    options: &RunOptions,
    entries: bool,
) -> Result<Picture, RunError> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let by = integrators::by_name(&options.method, 2 * system.n_coordinates() + 1);
    let has_rates_alone = by.is_none_or(|integrator| integrator.needs() == Needs::Rates);
    let is_lagrange = options.formulation.name() == lagrange::FORMULATION.name();
    let found = match has_rates_alone && is_lagrange {
        _ if entries => Picture::new(exprs, system),
        true if !options.elimination.is_along_tree() => Picture::for_rates(exprs, system),
        _ => picture_for(setting, options.elimination),
    };
    found.map_err(RunError::Formulation)
}

pub(crate) fn derive(
    setting: &Setting,
    picture: &Picture,
    options: &RunOptions,
    state: Option<&State>,
) -> Result<EquationsOfMotion, RunError> {
    let model = &*setting.model;
    let Some(state) = state else {
        if options.formulation.name() == Formulation::name(&lagrange::FORMULATION) {
            return Ok(lagrange::equations(&model.exprs, picture));
        }
        let derived = options.formulation.derive(&model.exprs, &model.system, &options.choices);
        return derived.map_err(RunError::Formulation);
    };
    let reference = Reference::on(setting, picture, state, &Tolerances::default());
    let reference = reference.map_err(|e| match e {
        Refusal::Formulation(faults) => RunError::Formulation(faults),
        other => RunError::Refused(other),
    })?;
    if options.formulation.name() == reference.equations.formulation {
        return Ok(Arc::unwrap_or_clone(reference.equations));
    }
    let rank = &reference.outcome.rank;
    if options.formulation.needs_regular_mass() && rank.metric < rank.coordinates {
        let (rank, size) = (rank.metric, rank.coordinates);
        return Err(RunError::Refused(Refusal::SingularMass { rank, size }));
    }
    let mut choices = options.choices.clone();
    if choices.chart.is_none() && options.formulation.has_chart() {
        choices.chart = reference.chart(setting);
    }
    options.formulation.derive(&model.exprs, &model.system, &choices).map_err(RunError::Formulation)
}
