//! The linear equations about any state, and about the states of a run.
//!
//! In the free coordinates, velocities and states x that the constraints leave, ẋ = f(x, u, t),
//! and about any state
//!
//! ```text
//! δẋ = A δx + B δu ,   A = ∂f/∂x ,   δy = C δx + D δu
//! ```
//!
//! beside f itself, which is what it moves on with: nothing has to be steady. Along a motion A and
//! B are functions of time. Inputs and their rates are what the run takes for them. Which
//! quantities are free is chosen at each state by pivots, and told.

use super::control::Control;
use super::eigen::{self, Complex};
use super::operating;
use super::outputs::{InputOutput, Outputs};
use super::rates::Rates;
use super::reduce::{self, Reduced, Tangents};
use super::symmetry::Symmetry;
use super::{LinearizeError, begin, phase};
use crate::watch::Watch;
use dalembert_simulate::phases::Here;
use dalembert_simulate::run::{self, RunOptions};
use dalembert_simulate::{Setting, State, Table};
use std::ops::ControlFlow;

/// The linear equations about a state.
#[derive(Clone, Debug)]
pub struct Local {
    /// The state.
    pub state: State,
    /// ẋ there.
    pub rates: Vec<f64>,
    /// A, and what x is.
    pub reduced: Reduced,
    /// B, C, D.
    pub io: InputOutput,
    /// The eigenvalues of A.
    pub eigenvalues: Vec<Complex>,
    /// Zeros, and what cannot be moved or seen.
    pub control: Control,
    /// The phase of contacts and friction, if there are any.
    pub phase: Option<Here>,
}

/// The linear equations about the start, or about the state asked for, whether it is steady or not.
pub fn linearize_here(setting: &Setting, watch: &Watch) -> Result<Local, LinearizeError> {
    watch.on("looking for a consistent start")?;
    let start = begin(setting)?;
    watch.on("deriving the equations and their slopes")?;
    about(setting, &start.state)
}

/// The linear equations about the states that a run passes at some times; as many as it reaches.
pub fn linearize_along(
    setting: &Setting,
    times: &[f64],
    watch: &Watch,
) -> Result<Vec<Local>, LinearizeError> {
    watch.on("running")?;
    let mut options = RunOptions::of_model(setting);
    let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    options.end = last;
    // No other outputs but the end.
    options.every =
        Some((last - setting.number(setting.model.system.run.from, &Table::default())).abs());
    options.times = times.to_vec();
    let mut states: Vec<State> = Vec::new();
    let report = run::run(setting, &options, &mut |seen| {
        if times.contains(&seen.state.t) {
            states.push(seen.state.clone());
        }
        ControlFlow::Continue(())
    });
    if let Err(error) = report {
        return Err(LinearizeError::Run(Box::new(error)));
    }
    watch.on("deriving the equations and their slopes")?;
    let mut list = Vec::with_capacity(states.len());
    for state in &states {
        watch.on("linearizing along the run")?;
        list.push(about(setting, state)?);
    }
    Ok(list)
}

/// The linear equations about a state on the constraints.
pub(crate) fn about(setting: &Setting, state: &State) -> Result<Local, LinearizeError> {
    let phase = phase::of(setting, state)?;
    let (setting, state) = match &phase {
        Some(here) => (&here.setting, &here.state),
        None => (setting, state),
    };
    let open = operating::at(setting, state.t);
    let rates = Rates::new(&open)?;
    let point = rates.at(state)?;
    if let Some(here) = &phase {
        phase::check(here, &point)?;
    }
    if !rates.is_smooth(&point) {
        return Err(LinearizeError::NotSmooth { state: Box::new(state.clone()) });
    }
    let tangents = Tangents::new(&rates, &point)?;
    let reduced = reduce::reduce(&rates, &point, &tangents, &Symmetry::rest(rates.n), None)?;
    let outputs = Outputs::new(&rates);
    let io = InputOutput::new(&rates, &outputs, &point, &tangents, &reduced)?;
    let d = reduced.dimension();
    let eigenvalues =
        eigen::eigenvalues(&reduced.matrix, d).ok_or(LinearizeError::NoEigenvalues)?;
    let mut rate = point.numbers.kinematics.clone();
    rate.extend(&point.outcome.v_dot);
    let rates = reduced.free(&rate);
    let control = Control::new(&reduced, &io);
    let state = state.clone();
    Ok(Local { state, rates, reduced, io, eigenvalues, control, phase })
}
