//! The end of a motion alone: nothing is observed on the way, nothing is summed up.
//!
//! What holds the motion is the same as on a run: rows are chosen, steps controlled, constraints
//! held, every step's rates certified by Gauss's principle. What is left out is what a run tells
//! of it: outputs, energies, multipliers, the certificate. A traveller is kept from one motion to
//! the next, and so is its choice of rows where they would be chosen again: many motions cost what
//! their steps do.
//!
//! Not for models with events or charts, which have more to do on the way; `auto` takes the method
//! that a run begins with, and a motion that turns out to be stiff is left to a run.

use crate::at_state::report::EvalError;
use crate::drive::abreast::Ready;
use crate::drive::{Driver, End, Statistics};
use crate::integrators::Problem;
use crate::points::start;
use crate::program::projection::Violation;
use crate::run::method::{self, AUTO};
use crate::run::options::control_of;
use crate::run::{Program, RunError, RunOptions};
use crate::setting::{Setting, State};
use dalembert_expr::ExprId;
use std::ops::ControlFlow;

/// Moves states to the end of a run.
pub struct Traveller {
    pub(super) setting: Setting,
    pub(super) driver: Driver,
    pub(super) end: f64,
    /// The velocities of the formulation, where they are not those of the model.
    pub(super) own: Option<Vec<ExprId>>,
    x: Vec<f64>,
}

/// Where a motion came to.
#[derive(Debug)]
pub struct Arrived<'a> {
    /// How it ended.
    pub end: End,
    /// When.
    pub t: f64,
    /// q, the velocities of the formulation, and the work done.
    pub x: &'a [f64],
    /// Counts.
    pub statistics: Statistics,
    /// What was left of the constraints at worst.
    pub violation: Violation,
}

impl Program {
    /// A traveller for runs as the options say; `None` where a run has more to do on the way.
    pub fn traveller(&self, options: &RunOptions) -> Result<Option<Traveller>, RunError> {
        if self.functions.is_some() || self.equations.chart.is_some() {
            return Ok(None);
        }
        let Program { setting, equations, field, cost_of_rates, .. } = self;
        let mut field = field.clone();
        let (integrator, _) = method::first_for(setting, options, &mut field, *cost_of_rates)?;
        let start = setting.number(setting.model.system.run.from, &Default::default());
        let leaves = options.method == AUTO && method::can_be_stiff(&field.equations);
        let control = control_of(options, start, leaves);
        let x = vec![0.0; field.state_length()];
        let exprs = &setting.model.exprs;
        let velocities: Vec<ExprId> =
            setting.model.system.velocities().into_iter().map(|s| exprs.of_symbol(s)).collect();
        let mut driver = Driver::new(field, integrator, control, start, x.clone());
        driver.set_parts(&self.energies.parts);
        let own = (equations.own != velocities).then(|| equations.own.clone());
        Ok(Some(Traveller { setting: setting.clone(), driver, end: options.end, own, x }))
    }
}

impl Traveller {
    /// Moves a state to the end.
    pub fn travel(&mut self, start: &State) -> Arrived<'_> {
        own_state(&self.setting, self.own.as_deref(), start, &mut self.x);
        self.x.push(0.0);
        let driver = &mut self.driver;
        driver.field.guess(start);
        driver.restart(start.t, &self.x);
        let end = driver.run(self.end, &[], &mut |_, _| ControlFlow::Continue(()));
        let (statistics, violation) = (driver.statistics, driver.violation);
        Arrived { end, t: driver.t, x: &driver.x, statistics, violation }
    }
}

impl Traveller {
    /// What is compiled to move several motions at once, by the model's own start; none where that
    /// does not apply.
    pub(super) fn abreast(&mut self, program: &Program) -> Result<Option<Ready>, RunError> {
        let start = start::start(&program.setting);
        let state = start.map_err(|e| RunError::Eval(EvalError::Start(e)))?.state;
        if !(self.end > state.t && self.end.is_finite()) {
            return Ok(None);
        }
        own_state(&self.setting, self.own.as_deref(), &state, &mut self.x);
        self.x.push(0.0);
        self.driver.field.guess(&state);
        self.driver.restart(state.t, &self.x);
        Ok(self.driver.abreast())
    }
}

/// q and the velocities of the formulation.
pub(super) fn own_state(
    setting: &Setting,
    own: Option<&[ExprId]>,
    state: &State,
    x: &mut Vec<f64>,
) {
    x.clear();
    x.extend(&state.q);
    match own {
        None => x.extend(&state.velocity),
        Some(own) => {
            let table = state.table(&setting.model.system);
            x.extend(setting.numbers(own, &table));
        }
    }
}
