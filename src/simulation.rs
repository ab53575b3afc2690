//! A run that is being asked for: `model.simulate(0.0..10.0).tolerance(1e-10).run()`.

use crate::error::{Error, ErrorKind};
use crate::key::Key;
use crate::trajectory::{Rows, Trajectory};
use dalembert_derive::Formulation;
use dalembert_expr::Number;
use dalembert_gauss::eliminations::Elimination;
use dalembert_model::system::{Energy, Level, Model, Start};
use dalembert_model::tree::StartRelation;
use dalembert_simulate::Observation;
use dalembert_simulate::Setting;
use dalembert_simulate::drive::Stabilize;
use dalembert_simulate::run::verify::StateError;
use dalembert_simulate::run::verify::{Sink, run_verified};
use dalembert_simulate::run::{Progress, RunOptions, run_watched};
use std::ops::{Bound, ControlFlow, RangeBounds};

/// A run that is being asked for. What is not said is as the model's `run` statement says, else
/// as `dal run` does it: 1000 samples, tolerance 1e-9, an integrator that suits the motion, and
/// a second run that the first is compared with.
///
/// A wrong name or number is kept and reported by [`run`](Simulation::run).
#[derive(Clone)]
#[must_use = "nothing runs before `run` is called"]
pub struct Simulation {
    model: Model,
    fault: Option<Error>,
    tolerance: Option<f64>,
    every: Option<f64>,
    times: Vec<f64>,
    step: Option<f64>,
    longest: Option<f64>,
    most_steps: Option<u64>,
    method: Option<String>,
    formulation: Option<&'static dyn Formulation>,
    elimination: Option<&'static dyn Elimination>,
    stabilize: Stabilize,
    events: bool,
    verify: bool,
    dense: bool,
    partial: bool,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Simulation {
    pub(crate) fn new(model: &Model, span: impl RangeBounds<f64>) -> Simulation {
        let mut simulation = Simulation {
            model: model.clone(),
            fault: None,
            tolerance: None,
            every: None,
            times: Vec::new(),
            step: None,
            longest: None,
            most_steps: None,
            method: None,
            formulation: None,
            elimination: None,
            stabilize: Stabilize::default(),
            events: true,
            verify: true,
            dense: true,
            partial: false,
        };
        if let Bound::Included(&t) | Bound::Excluded(&t) = span.start_bound()
            && let Some(from) = simulation.number("the start time", t)
        {
            simulation.model.system.run.from = from;
        }
        if let Bound::Included(&t) | Bound::Excluded(&t) = span.end_bound()
            && let Some(to) = simulation.number("the end time", t)
        {
            simulation.model.system.run.to = to;
        }
        simulation
    }

    /// Keeps the first thing that is wrong.
    fn blame(&mut self, error: Error) {
        self.fault.get_or_insert(error);
    }

    fn number(&mut self, name: &str, value: f64) -> Option<dalembert_expr::ExprId> {
        let number = Number::from_f64(value);
        if number.is_none() {
            let words = format!("{name} must be a finite number, and it is {value}");
            self.blame(Error::plain(ErrorKind::NotANumber { name: name.to_owned(), value }, words));
        }
        number.map(|number| self.model.exprs.of_number(number))
    }

    /// The local error of a step, relative to the motion's own size in each component.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// The interval between samples.
    pub fn every(mut self, interval: f64) -> Self {
        self.every = Some(interval);
        self
    }

    /// Times of samples, in any order. Without [`every`](Simulation::every) there are no others
    /// but the start and the end.
    pub fn at(mut self, times: impl IntoIterator<Item = f64>) -> Self {
        self.times.extend(times);
        self
    }

    /// A constant step; the tolerance has no effect then.
    pub fn step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// The longest step.
    pub fn longest_step(mut self, step: f64) -> Self {
        self.longest = Some(step);
        self
    }

    /// The most steps, rejected ones included.
    pub fn most_steps(mut self, steps: u64) -> Self {
        self.most_steps = Some(steps);
        self
    }

    /// The integrator: `dop853`, `radau`, `gauss6`, …; `auto` takes one that suits the motion.
    pub fn method(mut self, name: &str) -> Self {
        self.method = Some(name.to_owned());
        self
    }

    /// The formulation whose equations are moved: `lagrange`, `hamilton`, `maggi`, …
    pub fn formulation(mut self, name: &str) -> Self {
        match dalembert_derive::by_name(name) {
            Some(formulation) => self.formulation = Some(formulation),
            None => {
                let known = dalembert_derive::ALL.iter().map(|f| f.name().to_owned()).collect();
                self.blame(Error::unknown("formulation", name, known));
            }
        }
        self
    }

    /// The elimination that solves for accelerations and multipliers.
    pub fn elimination(mut self, name: &str) -> Self {
        match dalembert_gauss::by_name(name) {
            Some(elimination) => self.elimination = Some(elimination),
            None => {
                let known = dalembert_gauss::EVERY.iter().map(|e| e.name().to_owned()).collect();
                self.blame(Error::unknown("elimination", name, known));
            }
        }
        self
    }

    /// How drift off the constraints is held; by projection, if nothing is said.
    pub fn stabilize(mut self, by: Stabilize) -> Self {
        self.stabilize = by;
        self
    }

    /// Whether the model's events happen; they do, if nothing is said.
    pub fn events(mut self, happen: bool) -> Self {
        self.events = happen;
        self
    }

    /// Whether the run is compared with a second one, which tells its error and costs about
    /// twice the run itself; it is, if nothing is said.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether the motion between samples is kept for [`Trajectory::at`]; it is, if nothing is
    /// said, and takes about ten states a step.
    pub fn dense(mut self, dense: bool) -> Self {
        self.dense = dense;
        self
    }

    /// Whether a run that could not go on is given up to there, instead of an error. Its
    /// certificate does not hold.
    pub fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Another value for a parameter; parameters that are defined by it follow.
    pub fn set(mut self, parameter: impl Key, value: f64) -> Self {
        let name = parameter.name().into_owned();
        let parameters = &self.model.system.parameters;
        let Some(at) = parameters.iter().position(|p| p.name == name) else {
            let known = parameters.iter().map(|p| p.name.clone()).collect();
            self.blame(Error::unknown("parameter", &name, known));
            return self;
        };
        if let Some(value) = self.number(&name, value) {
            self.model.system.parameters[at].value = Some(value);
        }
        self
    }

    /// Another start: the equation `x = value` in the place of what the model says of `x`. Takes
    /// a coordinate, a velocity `x'` or a momentum `p_x`; of the last two one takes the place
    /// of both.
    pub fn start(mut self, quantity: impl Key, value: f64) -> Self {
        let name = quantity.name().into_owned();
        let Some(value) = self.number(&name, value) else { return self };
        let (exprs, system) = (&self.model.exprs, &mut self.model.system);
        let named = |symbol| exprs.symbol_info(symbol).full_name();
        let mut found = None;
        for (i, coordinate) in system.coordinates.iter().enumerate() {
            let (velocity, momentum) = match &system.energy {
                Energy::Lagrangian { momenta, .. } => {
                    (exprs.of_symbol(coordinate.velocity), momenta[i])
                }
                Energy::Hamiltonian { velocities, .. } => {
                    (velocities[i], exprs.of_symbol(coordinate.momentum))
                }
            };
            let position = exprs.of_symbol(coordinate.position);
            let (left, level, old) = if name == coordinate.name {
                (position, Level::Position, [position, position])
            } else if name == named(coordinate.velocity) {
                (velocity, Level::Velocity, [velocity, momentum])
            } else if name == named(coordinate.momentum) {
                (momentum, Level::Velocity, [velocity, momentum])
            } else {
                continue;
            };
            found = Some((left, level, old, coordinate.span));
        }
        let Some((left, level, old, span)) = found else {
            let known = system.coordinates.iter().map(|c| c.name.clone()).collect();
            self.blame(Error::unknown("coordinate, velocity or momentum", &name, known));
            return self;
        };
        system.start.retain(|item| !old.contains(&item.left));
        let (relation, guess) = (StartRelation::Equals, None);
        system.start.push(Start { level, relation, left, right: value, text: name, guess, span });
        self
    }

    /// Runs.
    pub fn run(self) -> Result<Trajectory, Error> {
        self.run_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// Runs, and tells after each step how far it is. Where `watch` breaks the motion ends, as
    /// [`End::Interrupted`](dalembert_simulate::drive::End::Interrupted).
    pub fn run_watched(
        self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Trajectory, Error> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let setting =
            Setting::new(&self.model).map_err(|missing| Error::of_missing(missing, &self.model))?;
        let options = self.options(&setting);
        let mut rows = Rows::new(&setting);
        let report = match self.verify {
            true => {
                let mut sink = Watched { rows: &mut rows, watch };
                run_verified(&setting, &options, false, &mut sink)
            }
            false => run_watched(&setting, &options, &mut |row| rows.record(row, None), watch),
        };
        let report = report.map_err(|error| Error::of_run(error, &setting))?;
        match Error::of_failure(&setting, &report) {
            Some(error) if !self.partial => Err(error),
            _ => Ok(rows.into_trajectory(report)),
        }
    }

    fn options(&self, setting: &Setting) -> RunOptions {
        let mut options = RunOptions::of_model(setting);
        let length = setting.duration();
        options.every = self.every.or(options.every);
        if options.every.is_none() && !self.times.is_empty() && length > 0.0 {
            options.every = Some(length);
        }
        options.times.clone_from(&self.times);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.step = self.step;
        options.longest = self.longest;
        options.most_steps = self.most_steps.unwrap_or(options.most_steps);
        options.method = self.method.clone().unwrap_or(options.method);
        options.formulation = self.formulation.unwrap_or(options.formulation);
        options.elimination = self.elimination.unwrap_or(options.elimination);
        options.stabilize = self.stabilize;
        options.events = self.events;
        options.dense = self.dense;
        options
    }
}

/// The rows of a run that is watched.
struct Watched<'a> {
    rows: &'a mut Rows,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Sink for Watched<'_> {
    fn restart(&mut self) {
        self.rows.restart();
    }

    fn record(&mut self, row: &Observation, error: Option<&StateError>) -> ControlFlow<()> {
        self.rows.record(row, error)
    }

    fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        (self.watch)(progress)
    }
}
