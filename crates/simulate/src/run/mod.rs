//! A run: from a model to a certified trajectory.

mod accumulation;
mod event_log;
pub mod method;
mod prepared;
mod setup;
mod unsuited;
pub mod verify;

pub use event_log::EventRecord;
pub use prepared::Program;
pub use setup::OptionError;
pub use unsuited::{Reason, Unsuited};

use crate::at_state::report::EvalError;
use crate::at_state::{Reference, Refusal};
use crate::drive::{
    Control, Dense, Driver, End, EventFunctions, Failure, Jolt, RankChange, Stabilize, Statistics,
    Undecided,
};
use crate::points::impulse::Impulses;
use crate::points::start::{self, Start};
use crate::program::energy::Energies;
use crate::program::field::Field;
use crate::program::observer::{Observation, Observer};
use crate::setting::{Setting, State, Table};
use accumulation::Accumulation;
use dalembert_derive::picture::Picture;
use dalembert_derive::{Choices, EquationsOfMotion, Formulation, Variables, for_system};
use dalembert_gauss::certificate::Gauss;
use dalembert_gauss::eliminations::Elimination;
use dalembert_gauss::terms::Tolerances;
use dalembert_model::diagnostic::Diagnostic;
use method::{AUTO, Change, Choice, HoldsEnergy, integrator_for};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use verify::Verification;

/// What a run does.
#[derive(Clone)]
pub struct RunOptions {
    /// End time.
    pub end: f64,
    /// Interval between outputs.
    pub every: Option<f64>,
    /// Further times of output, in any order.
    pub times: Vec<f64>,
    /// Local error relative to the motion's own size in each component.
    pub tolerance: f64,
    /// A constant step.
    pub step: Option<f64>,
    /// The integrator's name.
    pub method: String,
    /// The formulation.
    pub formulation: &'static dyn Formulation,
    /// The elimination.
    pub elimination: &'static dyn Elimination,
    /// How drift is held.
    pub stabilize: Stabilize,
    /// What formulations leave open.
    pub choices: Choices,
    /// Most steps.
    pub most_steps: u64,
    /// The longest step, where steps are not constant.
    pub longest: Option<f64>,
    /// Whether the model's events happen.
    pub events: bool,
    /// Whether the motion between outputs is kept.
    pub dense: bool,
}

impl RunOptions {
    /// What the model's `run` statement asks for; 0..10, 1000 outputs, 1e-9.
    pub fn of_model(setting: &Setting) -> RunOptions {
        let run = &setting.model.system.run;
        let number = |id| setting.number(id, &Table::default());
        let formulation = run.formulation.as_deref().and_then(dalembert_derive::by_name);
        RunOptions {
            end: number(run.to),
            every: run.every.map(number),
            times: Vec::new(),
            tolerance: run.tolerance.map_or(1e-9, number),
            step: None,
            method: run.method.clone().unwrap_or_else(|| "auto".to_owned()),
            formulation: formulation.unwrap_or_else(|| for_system(&setting.model.system)),
            elimination: run
                .elimination
                .as_deref()
                .and_then(dalembert_gauss::by_name)
                .unwrap_or(dalembert_gauss::DEFAULT),
            stabilize: Stabilize::default(),
            choices: Choices::default(),
            most_steps: 50_000_000,
            longest: None,
            events: true,
            dense: false,
        }
    }
}

/// How long the stages took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Deriving the equations.
    pub derive: f64,
    /// Compiling them.
    pub compile: f64,
    /// Integrating.
    pub integrate: f64,
}

/// The largest numbers seen on a run.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    /// |φ| relative to each row's scale.
    pub position_residual: f64,
    /// |ψ| relative to each row's scale.
    pub velocity_residual: f64,
    /// |E − E₀ − W| relative to what the motion exchanges, of the part where it is largest;
    /// `None` where W is not followed.
    pub energy_balance: Option<f64>,
    /// Integrals of the motion, by name, with their drift.
    pub invariants: Vec<(String, f64)>,
    /// The Gauss residual.
    pub gauss: f64,
    /// Smallest and largest rank of A.
    pub ranks: (usize, usize),
    /// Changes of the rank on the way, in order.
    pub rank_changes: Vec<RankChange>,
    /// About how often the state has changed by its own size.
    pub characteristic_times: f64,
    /// What the energy may be off by, for methods that hold it at constant steps. One
    /// that keeps it: what rounding explains. A symplectic one: 1.5 times what the
    /// first half of the run shows, so that it may swing but not grow.
    pub energy_bound: Option<f64>,
}

/// One of the certificate's numbers, and the most it may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What.
    pub name: String,
    /// The largest seen.
    pub value: f64,
    /// What is allowed.
    pub bound: f64,
}

impl Line {
    /// Whether it is within its bound; what is not a number is not.
    pub fn holds(&self) -> bool {
        self.value <= self.bound
    }
}

impl Certificate {
    /// Its numbers with their bounds.
    pub fn lines(&self, tolerance: f64) -> Vec<Line> {
        let line = |name: &str, value, bound| Line { name: name.to_owned(), value, bound };
        let residual = tolerance.max(1e-12);
        let bound = 100.0 * tolerance * (1.0 + self.characteristic_times);
        let mut lines = vec![
            line("position residual", self.position_residual, residual),
            line("velocity residual", self.velocity_residual, residual),
        ];
        let energy = self.energy_bound.unwrap_or(bound);
        lines.extend(self.energy_balance.map(|balance| line("energy balance", balance, energy)));
        let invariants = self.invariants.iter();
        lines.extend(invariants.map(|(name, value)| {
            let bound = if name == "energy" { energy } else { bound };
            line(&format!("{name} drift"), *value, bound)
        }));
        lines.push(line("Gauss residual", self.gauss, 1e-10));
        lines
    }

    /// `pass`, or what failed.
    pub fn verdict(&self, tolerance: f64) -> Result<(), Vec<String>> {
        let mut failed: Vec<String> = self
            .lines(tolerance)
            .iter()
            .filter(|line| !line.holds())
            .map(|l| format!("{} {:.1e} is above {:.1e}", l.name, l.value, l.bound))
            .collect();
        let passed = |change: &RankChange| change.stopped.is_none();
        let is_passed = !self.rank_changes.is_empty() && self.rank_changes.iter().all(passed);
        if self.ranks.0 != self.ranks.1 && self.ranks.0 != usize::MAX && !is_passed {
            failed.push(format!("the rank changed from {} to {}", self.ranks.1, self.ranks.0));
        }
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}

/// What a run came to.
#[non_exhaustive]
pub struct RunReport {
    /// How it ended.
    pub end: End,
    /// The last state.
    pub last: Option<Observation>,
    /// Counts.
    pub statistics: Statistics,
    /// Evaluations of the rates.
    pub evaluations: u64,
    /// Times.
    pub seconds: Seconds,
    /// The certificate.
    pub certificate: Certificate,
    /// The start.
    pub start: Start,
    /// The integrator.
    pub method: &'static str,
    /// Why it was this one.
    pub choice: Choice,
    /// The formulation.
    pub formulation: &'static str,
    /// What its own velocities are.
    pub variables: Variables,
    /// How often the chart was changed.
    pub charts: u32,
    /// The tolerance.
    pub tolerance: f64,
    /// The largest |λ| of each constraint at the outputs, and when; NaN where it was
    /// never unique.
    pub largest_multipliers: Vec<(f64, f64)>,
    /// The events that happened, in order.
    pub event_log: Vec<EventRecord>,
    /// Events that were zero where the motion did not decide whether they happen.
    pub undecided: Vec<Undecided>,
    /// Impulses of constraints whose velocities jump in time.
    pub jolts: Vec<Jolt>,
    /// How far it went, coordinate by coordinate.
    pub sizes: Sizes,
    /// How far off it may be, if that was estimated.
    pub error: Verification,
    /// The motion between outputs, if it was to be kept.
    pub dense: Option<Dense>,
}

/// The sizes of a motion, coordinate by coordinate.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// The largest |q − q₀|.
    pub travel: Vec<f64>,
    /// The largest |q|.
    pub position: Vec<f64>,
    /// The largest |q̇|.
    pub speed: Vec<f64>,
    /// M_ii at the end.
    pub mass: Vec<f64>,
    /// What rounding errors of the forces do to each q̈, where these balance at the start and at
    /// the end; 0 elsewhere.
    pub rest: Vec<f64>,
}

impl Sizes {
    fn new(q: &[f64]) -> Sizes {
        let zero = vec![0.0; q.len()];
        Sizes {
            travel: zero.clone(),
            position: zero.clone(),
            speed: zero.clone(),
            mass: zero.clone(),
            rest: zero,
        }
    }

    fn see(&mut self, first: &[f64], x: &[f64], rates: &[f64]) {
        for (i, first) in first.iter().enumerate() {
            self.travel[i] = self.travel[i].max((x[i] - first).abs());
            self.position[i] = self.position[i].max(x[i].abs());
            self.speed[i] = self.speed[i].max(rates[i].abs());
        }
    }
}

impl RunReport {
    /// The energy that events added.
    pub fn energy_of_events(&self) -> f64 {
        self.event_log.iter().fold(0.0, |sum, h| sum + h.energy)
    }

    /// `pass`, or what failed.
    pub fn verdict(&self) -> Result<(), Vec<String>> {
        let mut failed = self.certificate.verdict(self.tolerance).err().unwrap_or_default();
        match self.end {
            End::Failed(_) => failed.insert(0, "the run ended early".to_owned()),
            End::Interrupted => failed.insert(0, "the run was interrupted".to_owned()),
            _ => failed.extend(self.error.fault()),
        }
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}

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

/// The times of output: from the start on in steps of `every`, the end included.
pub fn output_times(start: f64, end: f64, every: Option<f64>) -> Vec<f64> {
    let length = end - start;
    let count = match every {
        Some(every) => (length.abs() / every.abs() * (1.0 + 1e-12)).floor(),
        None => 1000.0,
    };
    let count = count.min(setup::MOST_OUTPUTS) as usize;
    let step = every.map_or(length / count as f64, |e| e.abs() * length.signum());
    let mut times: Vec<f64> = (1..=count).map(|i| start + step * i as f64).collect();
    // The end is always the last of them.
    let is_before = |t: &f64| (end - t) * length.signum() > 1e-9 * step.abs();
    while times.last().is_some_and(|t| !is_before(t)) {
        times.pop();
    }
    times.push(end);
    times
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
    let mut simulation = Simulation::new(program, options, &start)?;
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
    let end = simulation.run(&times, options.end, record, watch)?;
    simulation.seconds.integrate =
        clock.elapsed().as_secs_f64() - simulation.overhead.as_secs_f64();
    let driver = &mut simulation.driver;
    let (t, x) = (driver.t, driver.x.clone());
    let last = simulation.observer.observe(&mut driver.field, t, &x).ok();
    simulation.sizes.mass = simulation.observer.masses(&driver.field, t, &x);
    let rest = driver.rest_noise(t, &x);
    simulation.sizes.rest =
        rest.iter().zip(&at_first).map(|(a, b)| if *b > 0.0 { *a } else { 0.0 }).collect();
    simulation.finish();
    Ok(RunReport {
        end,
        last,
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
    })
}

/// Keeps the largest of each multiplier.
fn keep_largest(largest: &mut Vec<(f64, f64)>, observation: &Observation) {
    largest.resize(observation.multipliers.len(), (f64::NAN, f64::NAN));
    let unique = observation.multipliers.iter().zip(&observation.indeterminate);
    for (own, (value, _)) in largest.iter_mut().zip(unique).filter(|(_, (_, open))| !**open) {
        if !(value.abs() <= own.0) {
            *own = (value.abs(), observation.state.t);
        }
    }
}

/// A run on its way, through one chart after another.
pub(crate) struct Simulation<'a> {
    pub(crate) setting: Setting,
    pub(crate) options: &'a RunOptions,
    pub(crate) driver: Driver,
    pub(crate) observer: Observer,
    pub(crate) impulses: Option<Impulses>,
    pub(crate) event_log: Vec<EventRecord>,
    pub(crate) accumulation: Accumulation,
    undecided: Vec<Undecided>,
    jolts: Vec<Jolt>,
    /// The energy that jumps in time brought in former charts.
    jumped: f64,
    certificate: Certificate,
    statistics: Statistics,
    evaluations: u64,
    seconds: Seconds,
    overhead: Duration,
    choice: Choice,
    holds_energy: HoldsEnergy,
    charts: u32,
    began: f64,
    largest_multipliers: Vec<(f64, f64)>,
    energies: Energies,
    /// ∫|ẋ| dt of each component.
    paths: Vec<f64>,
    sizes: Sizes,
    first: Vec<f64>,
    conserved: bool,
    followed: bool,
}

pub(crate) fn derive(
    setting: &Setting,
    picture: &Picture,
    options: &RunOptions,
    state: &State,
) -> Result<EquationsOfMotion, RunError> {
    let model = &*setting.model;
    let reference = Reference::on(setting, picture, state, &Tolerances::default());
    let reference = reference.map_err(|e| match e {
        Refusal::Formulation(faults) => RunError::Formulation(faults),
        other => RunError::Refused(other),
    })?;
    if options.formulation.name() == reference.equations.formulation {
        return Ok(reference.equations);
    }
    let rank = &reference.outcome.rank;
    if options.formulation.needs_regular_mass() && rank.metric < rank.coordinates {
        let (rank, size) = (rank.metric, rank.coordinates);
        return Err(RunError::Refused(Refusal::SingularMass { rank, size }));
    }
    let mut choices = options.choices.clone();
    if choices.chart.is_none() {
        choices.chart = reference.chart(setting);
    }
    options.formulation.derive(&model.exprs, &model.system, &choices).map_err(RunError::Formulation)
}

impl<'a> Simulation<'a> {
    fn new(
        program: Program,
        options: &'a RunOptions,
        start: &Start,
    ) -> Result<Simulation<'a>, RunError> {
        let state = &start.state;
        let Program {
            setting,
            equations,
            mut field,
            observer,
            energies,
            functions,
            impulses,
            took,
        } = program;
        let clock = Instant::now();
        field.guess(state);
        let name = if options.method == AUTO { "dop853" } else { &options.method };
        let integrator = integrator_for(&setting, options, name, &mut field)?;
        let [derived, compiled] = [took[0], took[1] + clock.elapsed()];
        let mut x = state.q.clone();
        x.extend(setting.numbers(&equations.own, &state.table(&setting.model.system)));
        x.push(0.0);
        let choice = Choice::new(options, integrator.as_ref());
        let holds_energy = HoldsEnergy::new(options, integrator.as_ref(), &field);
        let control = control_of(options, state.t, options.method == AUTO);
        let (conserved, followed) = (field.conserves_energy(), field.follows_work());
        let mut driver = Driver::new(field, integrator, control, state.t, x);
        driver.set_events(functions);
        driver.dense = options.dense.then(|| Dense::new(&driver.field.equations));
        Ok(Simulation {
            setting,
            options,
            driver,
            observer,
            impulses,
            event_log: Vec::new(),
            accumulation: Accumulation::default(),
            undecided: Vec::new(),
            jolts: Vec::new(),
            jumped: 0.0,
            certificate: Certificate { ranks: (usize::MAX, 0), ..Certificate::default() },
            statistics: Statistics::default(),
            evaluations: 0,
            seconds: Seconds {
                derive: derived.as_secs_f64(),
                compile: compiled.as_secs_f64(),
                integrate: 0.0,
            },
            overhead: Duration::ZERO,
            choice,
            holds_energy,
            charts: 1,
            began: state.t,
            largest_multipliers: Vec::new(),
            energies,
            paths: Vec::new(),
            sizes: Sizes::new(&state.q),
            first: state.q.clone(),
            conserved,
            followed,
        })
    }

    fn run(
        &mut self,
        times: &[f64],
        end: f64,
        record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<End, RunError> {
        let mut progress = Progress { t: self.driver.t, start: self.driver.t, end, steps: 0 };
        let mut gauss = Measure::default();
        // The start itself.
        if let Err(error) = self.driver.settle_branches() {
            return Ok(End::Failed(Failure::Field(error)));
        }
        self.driver.prepare();
        let (t, x) = (self.driver.t, self.driver.x.clone());
        match self.observer.observe(&mut self.driver.field, t, &x) {
            Ok(first) => {
                gauss.see(&first.gauss);
                keep_largest(&mut self.largest_multipliers, &first);
                if record(&first).is_break() {
                    return Ok(End::Interrupted);
                }
            }
            Err(error) => return Ok(End::Failed(Failure::Field(error))),
        }
        self.energies.see(&self.setting, &self.driver.field, t, &x, true);
        let mut recorded = t;
        // Between constant steps the dense output is less exact than their ends.
        let at_steps = self.holds_energy != HoldsEnergy::No;
        let middle = 0.5 * (self.driver.t + end);
        let forward = if end >= self.driver.t { 1.0 } else { -1.0 };
        let mut times_before = 0.0;
        let mut done = 0;
        let mut events = match self.driver.begin_events(end) {
            Ok(events) => events,
            Err(failure) => return Ok(End::Failed(failure)),
        };
        loop {
            if !events.is_empty() {
                let mut is_interrupted = false;
                let ended = self.act(&events, recorded, &mut |observation| {
                    gauss.see(&observation.gauss);
                    recorded = observation.state.t;
                    is_interrupted |= record(observation).is_break();
                })?;
                self.certificate.gauss = gauss.residual();
                if ended.is_some() || is_interrupted {
                    return Ok(ended.unwrap_or(End::Interrupted));
                }
                events.clear();
            }
            let observer = &mut self.observer;
            let largest = &mut self.largest_multipliers;
            let (setting, energies) = (&self.setting, &mut self.energies);
            self.paths.resize(self.driver.x.len(), 0.0);
            let (paths, sizes, first) = (&mut self.paths, &mut self.sizes, &self.first);
            let size = self.driver.x.len();
            let mut dx = vec![0.0; size];
            let mut last_t = self.driver.t;
            let mut failure = None;
            let by_events = self.event_log.iter().fold(0.0, |sum, h| sum + h.energy);
            let by_switches = self.jumped;
            let outcome = self.driver.run(end, &times[done..], &mut |field, sample| {
                energies.jumps = by_events;
                energies.switched = by_switches + sample.jumped;
                if sample.is_output {
                    done += 1;
                    match observer.observe(field, sample.t, sample.x) {
                        Ok(observation) => {
                            gauss.see(&observation.gauss);
                            keep_largest(largest, &observation);
                            sizes.see(first, sample.x, &observation.state.velocity);
                            if !at_steps || sample.is_step {
                                let is_early = forward * (sample.t - middle) <= 0.0;
                                energies.see(setting, field, sample.t, sample.x, is_early);
                            }
                            recorded = sample.t;
                            if record(&observation).is_break() {
                                return ControlFlow::Break(());
                            }
                        }
                        Err(error) => {
                            failure = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                } else if field.certified_rates(sample.t, sample.x, &mut dx).is_ok() {
                    let is_early = forward * (sample.t - middle) <= 0.0;
                    energies.see(setting, field, sample.t, sample.x, is_early);
                    sizes.see(first, sample.x, &dx);
                    let length = (sample.t - last_t).abs();
                    paths.iter_mut().zip(&dx).for_each(|(path, d)| *path += d.abs() * length);
                    last_t = sample.t;
                }
                if !sample.is_step {
                    return ControlFlow::Continue(());
                }
                progress.t = sample.t;
                progress.steps += 1;
                watch(progress)
            });
            self.certificate.gauss = gauss.residual();
            let times_run = times_before + self.driver.times(&self.paths);
            self.certificate.characteristic_times = times_run;
            self.certificate.energy_balance = self.followed.then_some(self.energies.balance());
            self.certificate.energy_bound =
                self.holds_energy.bound(self.energies.early(), times_run, self.options.tolerance);
            self.choice.step = self.driver.constant_step();
            self.look_for_stiffness();
            if self.conserved {
                self.certificate.invariants = vec![("energy".to_owned(), self.energies.change())];
            }
            if let Some(error) = failure {
                return Ok(End::Failed(Failure::Field(error)));
            }
            match outcome {
                End::ChartIllConditioned => {
                    times_before = times_run;
                    self.change_chart()?;
                }
                End::Stiff => self.change_method()?,
                End::Events(list) => events = list,
                End::PiledUp { event, t } => {
                    return Ok(End::PiledUp { event, t: self.accumulation.limit(event, t) });
                }
                end => return Ok(end),
            }
        }
    }

    /// Says where the motion is stiff for the integrator it has.
    fn look_for_stiffness(&mut self) {
        let Some((t, stiff)) = self.driver.stiff.take() else { return };
        let words = method::stiff_words(&self.setting, &self.driver.field.equations, &stiff);
        if self.options.method == AUTO {
            let (from, to) = (self.choice.name, "radau");
            self.choice.changes.push(Change { t, from, to, reason: words });
        } else if self.choice.notes.is_empty() {
            self.choice.notes.push(format!(
                "{words} (from t = {t:.6} on); the method `auto` would take radau from there"
            ));
        }
    }

    /// Goes on with the integrator for stiff motions.
    fn change_method(&mut self) -> Result<(), RunError> {
        let clock = Instant::now();
        let field = &mut self.driver.field;
        let integrator = integrator_for(&self.setting, self.options, "radau", field)?;
        self.choice.name = integrator.name();
        if let Some(change) = self.choice.changes.last() {
            self.choice.reason.clone_from(&change.reason);
        }
        self.driver.change_integrator(integrator);
        self.overhead += clock.elapsed();
        Ok(())
    }

    /// Goes on in a chart that suits the state.
    pub(crate) fn change_chart(&mut self) -> Result<(), RunError> {
        let clock = Instant::now();
        let (t, x) = (self.driver.t, self.driver.x.clone());
        let mut dx = vec![0.0; x.len()];
        let _ = self.driver.field.certified_rates(t, &x, &mut dx);
        let state = self.observer.state(&self.driver.field, t, &x);
        self.finish();
        let setting = &self.setting;
        let picture = Picture::new(&setting.model.exprs, &setting.model.system)
            .map_err(RunError::Formulation)?;
        let equations = derive(setting, &picture, self.options, &state)?;
        let mut field = Field::on(setting, Some(&picture), &equations, self.options.elimination);
        field.inherit_windings(&self.driver.field);
        self.observer = Observer::new(setting, &picture, &equations);
        let mut energies = Energies::new(setting, &picture, &equations);
        std::mem::swap(&mut energies, &mut self.energies);
        self.energies.go_on(energies);
        self.paths.clear();
        let system = &self.setting.model.system;
        let mut next = state.q.clone();
        next.extend(self.setting.numbers(&equations.own, &state.table(system)));
        next.push(x[x.len() - 1]);
        let integrator = integrator_for(&self.setting, self.options, self.choice.name, &mut field)?;
        let leaves = self.options.method == AUTO && self.choice.changes.is_empty();
        let mut control = control_of(self.options, self.began, leaves);
        control.step = self.driver.constant_step();
        let h = self.driver.h;
        let mut functions = match self.options.events {
            true => EventFunctions::new(&self.setting, &picture, &equations),
            false => None,
        };
        if let (Some(new), Some(old)) = (&mut functions, &self.driver.take_events()) {
            new.inherit(old);
        }
        let way = self.driver.way();
        let mut driver = Driver::new(field, integrator, control, t, next);
        driver.inherit_scales(&self.driver);
        driver.set_way(way);
        driver.dense = self.driver.dense.take();
        if let Some(dense) = &mut driver.dense {
            dense.change_chart(&driver.field.equations);
        }
        self.driver = driver;
        self.driver.set_events(functions);
        self.driver.h = h;
        self.charts += 1;
        self.overhead += clock.elapsed();
        Ok(())
    }

    /// Takes over the counts of the driver.
    fn finish(&mut self) {
        let driver = &self.driver;
        self.statistics.steps += driver.statistics.steps;
        self.statistics.rejected += driver.statistics.rejected;
        self.statistics.switches += driver.statistics.switches;
        self.statistics.decisions += driver.field.counts.decisions;
        self.statistics.frozen += driver.field.counts.frozen;
        self.statistics.decided += driver.field.counts.decided;
        self.evaluations += driver.field.evaluations;
        self.undecided.extend(&driver.undecided);
        self.jolts.extend(driver.jolts.iter().cloned());
        self.jumped += driver.jumped;
        let certificate = &mut self.certificate;
        certificate.position_residual =
            certificate.position_residual.max(driver.violation.position);
        certificate.velocity_residual =
            certificate.velocity_residual.max(driver.violation.velocity);
        certificate.rank_changes.extend(driver.rank_changes.iter().cloned());
        // A chart has its own rows beside those it solves.
        let more = driver.field.equations.chart.as_ref().map_or(0, |c| c.chart.rows.len());
        if driver.ranks.0 != usize::MAX {
            certificate.ranks.0 = certificate.ranks.0.min(driver.ranks.0 + more);
            certificate.ranks.1 = certificate.ranks.1.max(driver.ranks.1 + more);
        }
    }
}

fn control_of(options: &RunOptions, start: f64, leaves_when_stiff: bool) -> Control {
    Control {
        tolerance: options.tolerance,
        step: options.step,
        stabilize: options.stabilize,
        most_steps: options.most_steps,
        leaves_when_stiff,
        span: (options.end - start).abs().max(f64::MIN_POSITIVE),
        longest: options.longest,
    }
}

/// The Gauss residual of a whole run: the largest residuals relative to the largest
/// terms. At single instants all terms may vanish.
#[derive(Default)]
struct Measure {
    forces: (f64, f64),
    rows: (f64, f64),
}

impl Measure {
    fn see(&mut self, gauss: &Gauss) {
        for (own, new) in [(&mut self.forces, gauss.forces), (&mut self.rows, gauss.rows)] {
            own.0 = own.0.max(new.0);
            own.1 = own.1.max(new.1);
        }
    }

    fn residual(&self) -> f64 {
        let ratio = |(left, whole): (f64, f64)| if left == 0.0 { 0.0 } else { left / whole };
        ratio(self.forces).max(ratio(self.rows))
    }
}
