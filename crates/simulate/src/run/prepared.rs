//! A model compiled for its motions: once, for any number of them.
//!
//! ```text
//! model, formulation ─derive, compile→ Program ─clone, set parameters→ run, run, run, …
//! ```
//!
//! What is compiled (rates, constraints, what is observed, energies, events) is shared by all
//! runs of a program and never changes; parameters are constants of the compiled functions,
//! and every run has its own room. So threads may run one program at the same time, with
//! different parameters and starts, and each run is, to the bit, what it is alone.

use crate::at_state::report::EvalError;
use crate::at_state::{Reference, Refusal};
use crate::drive::EventFunctions;
use crate::integrators::{self, Problem};
use crate::phases::Known;
use crate::points::impulse::Impulses;
use crate::points::start::{self, Start};
use crate::program::energy::Energies;
use crate::program::field::Field;
use crate::program::observer::{Observation, Observer};
use crate::run::choose::choose;
use crate::run::method::AUTO;
use crate::run::phased::Phases;
use crate::run::{self, RunError, RunOptions, RunReport};
use crate::setting::Setting;
use crate::setting::State;
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::terms::Tolerances;
use dalembert_model::system::Action;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A model compiled for its motions by one formulation and elimination.
#[derive(Clone)]
pub struct Program {
    pub(crate) setting: Setting,
    pub(crate) equations: EquationsOfMotion,
    /// What they are derived from, for a look at other values of the parameters.
    picture: Arc<Picture>,
    pub(crate) field: Field,
    pub(crate) observer: Observer,
    pub(crate) energies: Energies,
    pub(crate) functions: Option<EventFunctions>,
    pub(crate) impulses: Option<Impulses>,
    /// The operations of the rates, by which methods are chosen.
    pub(crate) cost_of_rates: f64,
    /// How long deriving and compiling took.
    pub(crate) took: [Duration; 2],
    /// The phases of contacts and friction, if there are any: the rest is of the first of them.
    pub(crate) phases: Option<Arc<Phases>>,
}

/// Threads may share a program.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Program>();
};

impl Program {
    /// Derives and compiles a model as the options say.
    pub fn new(setting: &Setting, options: &RunOptions) -> Result<Program, RunError> {
        let start = start::start(setting).map_err(|e| RunError::Eval(EvalError::Start(e)))?;
        Program::at(setting, options, &start.state)
    }

    /// The same, with what depends on a state (a chart, where there is one) chosen there.
    pub(crate) fn at(
        setting: &Setting,
        options: &RunOptions,
        state: &State,
    ) -> Result<Program, RunError> {
        if !setting.model.system.wants_phase() {
            return Program::of_phase(setting, options, Some(state));
        }
        let phases = Arc::new(Phases::new(setting, options)?);
        // A start that has no phase is told when the run begins.
        let known = Known { span: options.end - state.t, ..Known::default() };
        let first = match phases.settle(state, &known) {
            Ok(settled) => phases.program(&settled)?,
            Err(_) => phases.free(state)?,
        };
        Ok(Program { phases: Some(phases), ..first.program })
    }

    /// A model of part 1; without a state, one whose formulation has no chart, and that is checked later.
    pub(super) fn of_phase(
        setting: &Setting,
        options: &RunOptions,
        state: Option<&State>,
    ) -> Result<Program, RunError> {
        let clock = Instant::now();
        let picture = run::picture(setting, options, false)?;
        let equations = run::derive(setting, &picture, options, state)?;
        let derived = clock.elapsed();
        let mut field = Field::on(setting, Some(&picture), &equations, options.elimination);
        // What the method needs is compiled with the rest, for all runs.
        let mut cost_of_rates = 0.0;
        if let Some(method) = integrators::by_name(&options.method, field.state_length()) {
            field.equip(method.needs());
        } else if options.method == AUTO {
            cost_of_rates = field.cost_of_rates();
            choose(setting, options, &mut field, cost_of_rates);
        }
        let observer = Observer::new(setting, &picture, &equations);
        let functions = match options.events {
            true => EventFunctions::new(setting, &picture, &equations),
            false => None,
        };
        let energies = Energies::new(setting, &picture, &equations);
        let impulses = functions.is_some().then(|| Impulses::new(setting));
        let took = [derived, clock.elapsed() - derived];
        let setting = setting.clone();
        Ok(Program {
            setting,
            equations,
            picture: Arc::new(picture),
            field,
            observer,
            energies,
            functions,
            impulses,
            cost_of_rates,
            took,
            phases: None,
        })
    }

    /// The setting it was made with.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The equations of motion.
    pub fn equations(&self) -> &EquationsOfMotion {
        &self.equations
    }

    /// The compiled rates, with room of their own.
    pub fn field(&self) -> Field {
        self.field.clone()
    }

    /// Runs it from the start that the model has with other values of its parameters: a
    /// [`Setting::with`] of the setting it was made with. The options must name the formulation
    /// and the elimination that it was made for.
    pub fn run(
        &self,
        setting: &Setting,
        options: &RunOptions,
        record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
    ) -> Result<RunReport, RunError> {
        let start = start::start(setting).map_err(|e| RunError::Eval(EvalError::Start(e)))?;
        self.run_from(setting, options, start, record)
    }

    /// The same from a start.
    pub fn run_from(
        &self,
        setting: &Setting,
        options: &RunOptions,
        start: Start,
        record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
    ) -> Result<RunReport, RunError> {
        let program = match self.with(setting) {
            // What its own setting allows was seen when it was made.
            Some(program) if setting.is_same(&self.setting) || self.phases.is_some() => program,
            Some(program) => {
                program.check(&start.state)?;
                program
            }
            // With these values other rows are held.
            None => Program::at(setting, options, &start.state)?,
        };
        run::simulate_on(program, options, start, record, &mut |_| ControlFlow::Continue(()))
    }

    /// Whether other values of the parameters leave the rows as they are, of those that nearly depend
    /// on each other.
    pub fn has_rows_of(&self, setting: &Setting) -> bool {
        let (old, new) = (&self.setting.model.system, &setting.model.system);
        let rows = old.constraints.iter().zip(&new.constraints);
        old.recombined == new.recombined
            && old.constraints.len() == new.constraints.len()
            && rows.into_iter().all(|(a, b)| a.residual == b.residual)
    }

    /// The program with other values of the parameters; `None` if these make
    /// [other rows](Program::has_rows_of).
    pub fn with(&self, setting: &Setting) -> Option<Program> {
        if let Some(phases) = &self.phases {
            let phases = Some(Arc::new(phases.with(setting)));
            return Some(Program { phases, ..self.clone() });
        }
        if !self.has_rows_of(setting) {
            return None;
        }
        let mut program = self.clone();
        let constants = setting.constants().1;
        program.field.set_parameters(setting);
        program.observer.set_parameters(setting);
        program.energies.prepare(&constants);
        program.functions.iter_mut().for_each(|functions| functions.set_parameters(setting));
        program.impulses.iter_mut().for_each(|impulses| impulses.set_parameters(setting));
        program.setting = setting.clone();
        program.took = [Duration::ZERO; 2];
        Some(program)
    }

    /// Whether the motion itself depends on any of these parameters: its start may nevertheless.
    pub fn depends_on(&self, symbols: &[Symbol]) -> bool {
        let e = &self.equations;
        let entries = |matrix: &Jacobian| -> Vec<ExprId> {
            matrix.rows.iter().flatten().map(|entry| entry.1).collect()
        };
        let mut roots = [&e.kinematics[..], &e.force, &e.nonideal, &e.bias, &e.own].concat();
        roots.extend(entries(&e.metric));
        roots.extend(entries(&e.jacobian));
        let residuals = e.configuration_residuals.iter().chain(&e.velocity_residuals);
        roots.extend(residuals.map(|residual| residual.1));
        let model = &self.setting.model;
        for event in &model.system.events {
            roots.push(event.function);
            if let Action::Reset(list) = &event.action {
                roots.extend(list.iter().flat_map(|reset| [reset.0, reset.1]));
            }
        }
        let exprs = &model.exprs;
        exprs.depend_on(&roots, |symbol| symbols.contains(&symbol)).contains(&true)
    }

    /// What may be true of the model with some values of its parameters and not with others.
    pub fn check(&self, state: &State) -> Result<(), RunError> {
        let reference = Reference::on(&self.setting, &self.picture, state, &Tolerances::default());
        match reference {
            Ok(_) => Ok(()),
            Err(Refusal::Formulation(faults)) => Err(RunError::Formulation(faults)),
            Err(other) => Err(RunError::Refused(other)),
        }
    }
}
