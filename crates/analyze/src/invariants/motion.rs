//! Motions that claims are held against: from the start, and from one more
//! consistent state.

use dalembert_expr::ExprId;
use dalembert_model::system::System;
use dalembert_simulate::drive::{End, Failure};
use dalembert_simulate::run::{self, RunOptions};
use dalembert_simulate::states::random_states;
use dalembert_simulate::{Setting, Start, State};
use std::ops::ControlFlow;

/// Local error of the runs.
const TOLERANCE: f64 = 1e-12;
/// The residual of constraints that a run may reach.
const ON_CONSTRAINTS: f64 = 1e-9;
/// Steps of a run, fewer for large systems.
const STEPS: u64 = 400;

/// What was seen of an integral along the motions.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// It kept its value up to this relative deviation.
    Kept {
        /// The largest deviation, relative to the size of what it consists of.
        deviation: f64,
        /// How long the motions were together.
        duration: f64,
        /// How many motions.
        motions: usize,
    },
    /// It changed.
    Changed {
        /// The largest deviation, relative to the size of what it consists of.
        deviation: f64,
        /// When.
        t: f64,
    },
    /// There was no motion to look at, and why.
    NotSeen(String),
}

/// One simulated motion.
struct Trajectory {
    states: Vec<State>,
    allowed: f64,
}

/// Simulated motions.
pub struct Motions {
    list: Vec<Trajectory>,
    why_none: String,
}

impl Motions {
    /// Simulates from the start and from another consistent state.
    pub fn new(setting: &Setting, start: &Start, seed: u64) -> Motions {
        let mut motions = Motions { list: Vec::new(), why_none: String::new() };
        let mut starts = vec![start.clone()];
        starts.extend(random_states(setting, start, 1, seed).into_iter().map(|state| Start {
            state,
            changed: Vec::new(),
            ..start.clone()
        }));
        for start in starts {
            match travel(setting, start) {
                Ok(trajectory) => motions.list.push(trajectory),
                Err(why) => motions.why_none = why,
            }
        }
        motions
    }

    /// Whether something keeps its value. `parts` are what it consists of, which says
    /// how large a change counts.
    pub fn judge(
        &self,
        setting: &Setting,
        system: &System,
        value: ExprId,
        parts: &[ExprId],
    ) -> Seen {
        let mut roots = vec![value];
        roots.extend(parts);
        let (mut worst, mut duration) = (0f64, 0.0);
        for trajectory in &self.list {
            let values: Vec<Vec<f64>> = trajectory
                .states
                .iter()
                .map(|state| setting.numbers(&roots, &state.table(system)))
                .collect();
            let sizes = values.iter().map(|v| v.iter().fold(0f64, |m, x| m.max(x.abs())));
            let size = sizes.fold(0f64, f64::max);
            for (state, value) in trajectory.states.iter().zip(&values) {
                let change = (value[0] - values[0][0]).abs();
                let deviation = if change == 0.0 { 0.0 } else { change / size };
                // NaN must not pass for small.
                if !(deviation <= trajectory.allowed) {
                    return Seen::Changed { deviation, t: state.t };
                }
                worst = worst.max(deviation);
            }
            let span = trajectory.states.last().map_or(0.0, |s| s.t) - trajectory.states[0].t;
            duration += span.abs();
        }
        match self.list.len() {
            0 => Seen::NotSeen(self.why_none.clone()),
            motions => Seen::Kept { deviation: worst, duration, motions },
        }
    }
}

fn travel(setting: &Setting, start: Start) -> Result<Trajectory, String> {
    let mut options = RunOptions::of_model(setting);
    let (t, n) = (start.state.t, setting.model.system.n_coordinates());
    if !(options.end - t).is_finite() || options.end == t {
        options.end = t + 1.0;
    }
    options.tolerance = TOLERANCE;
    // What is claimed is claimed between events.
    options.events = false;
    options.every = Some((options.end - t).abs() / 100.0);
    options.most_steps = STEPS / (1 + n as u64 / 10);
    let mut states: Vec<State> = Vec::new();
    let mut record = |seen: &dalembert_simulate::observer::Observation| {
        states.push(seen.state.clone());
        ControlFlow::Continue(())
    };
    let report = run::run_from(setting, &options, start, &mut record)
        .map_err(|_| "the motion cannot be simulated from here".to_owned())?;
    let certificate = &report.certificate;
    match &report.end {
        // Steps may be many because coordinates come to their end, where digits are lost: the last
        // state counts only if there are hardly others.
        End::Failed(Failure::TooManySteps) if states.len() < 3 => {
            states.extend(report.last.map(|seen| seen.state));
        }
        End::Failed(Failure::Field(error)) if states.len() < 2 => {
            return Err(format!("the motion cannot be simulated: {error}"));
        }
        _ => {}
    }
    // A run that left its constraints shows nothing.
    let kept = [certificate.position_residual, certificate.velocity_residual];
    if kept.iter().any(|r| !(*r <= ON_CONSTRAINTS)) {
        return Err("the simulated motion does not keep its constraints".to_owned());
    }
    if states.len() < 2 || states.iter().all(|s| s.t == states[0].t) {
        return Err("the motion cannot be simulated from here".to_owned());
    }
    // As the certificate of a run has it.
    let allowed = 100.0 * TOLERANCE * (1.0 + certificate.characteristic_times);
    Ok(Trajectory { states, allowed })
}
