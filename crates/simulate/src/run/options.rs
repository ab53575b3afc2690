//! What a run does, as the model's `run` statement and the caller say, and the times of output
//! that follow.

use crate::drive::{Control, Stabilize};
use crate::run::setup;
use crate::setting::{Setting, Table};
use dalembert_derive::{Choices, Formulation, for_system};
use dalembert_gauss::eliminations::Elimination;

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
    /// The order of series, if it is not to go by the tolerance. Errors are then well below it, and do
    /// not go with it as regularly.
    pub order: Option<usize>,
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
            order: None,
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

pub(super) fn control_of(options: &RunOptions, start: f64, leaves_when_stiff: bool) -> Control {
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
