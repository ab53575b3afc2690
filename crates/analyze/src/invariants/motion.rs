//! Motions that claims are held against: from the start, and from one more
//! consistent state.
//!
//! Where something seems to change, the motion is simulated once more at a looser
//! tolerance. The difference δ tells how far it can be trusted: an integral I may be off
//! by |∂I/∂x| δ and seem to change by that. What does not stay within is a change. From
//! where δ alone would explain a visible change (a near collision, chaos) the motion
//! shows nothing, and is not looked at.

use crate::watch::{Interrupted, Watch};
use dalembert_expr::ExprId;
use dalembert_model::system::System;
use dalembert_simulate::drive::{End, Failure};
use dalembert_simulate::points::random_states;
use dalembert_simulate::run::{self, RunOptions};
use dalembert_simulate::{Setting, Start, State};
use std::cell::OnceCell;
use std::ops::ControlFlow;

/// Local error of the runs.
const TOLERANCE: f64 = 1e-12;
/// The same for the runs that tell how far to trust them.
const LOOSE: f64 = 1e-10;
/// An uncertainty of this part of an integral, and a motion says nothing about it.
const VAGUE: f64 = 1e-6;
/// How often a motion is made shorter, and by how much, where it comes to an end before
/// anything was seen of it.
const SHORTER: (usize, f64) = (5, 12.0);
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
    /// What rounding may do to positions, velocities and momenta in a unit of time, where the
    /// system is at rest.
    rest: Vec<f64>,
    /// How it was made, for its errors.
    start: Start,
    options: RunOptions,
    errors: OnceCell<Vec<Vec<f64>>>,
}

impl Trajectory {
    /// Errors by state, of positions, velocities and momenta; as far as they are known.
    fn errors(&self, setting: &Setting) -> &[Vec<f64>] {
        self.errors.get_or_init(|| {
            let options = RunOptions { tolerance: LOOSE, ..self.options.clone() };
            let others = match simulate(setting, &options, &self.start, &Watch::nobody()) {
                Ok(Ok(found)) => found.states,
                _ => Vec::new(),
            };
            let apart = |a: &[f64], b: &[f64]| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect()
            };
            let difference = |(a, b): (&State, &State)| {
                let parts = [
                    apart(&a.q, &b.q),
                    apart(&a.velocity, &b.velocity),
                    apart(&a.momentum, &b.momentum),
                ];
                (a.t == b.t).then(|| parts.concat())
            };
            self.states.iter().zip(&others).map_while(difference).collect()
        })
    }
}

/// Simulated motions.
pub struct Motions {
    list: Vec<Trajectory>,
    why_none: String,
}

impl Motions {
    /// Simulates from the start and from another consistent state.
    pub fn new(setting: &Setting, start: &Start, seed: u64) -> Motions {
        let nobody = Watch::nobody();
        let other = random_states(setting, start, 1, seed).pop();
        Motions::watched(setting, start, other, &nobody)
            .unwrap_or(Motions { list: Vec::new(), why_none: String::new() })
    }

    /// The same with that state, if there is one, and watched.
    pub(super) fn watched(
        setting: &Setting,
        start: &Start,
        other: Option<State>,
        watch: &Watch,
    ) -> Result<Motions, Interrupted> {
        let mut motions = Motions { list: Vec::new(), why_none: String::new() };
        let mut starts = vec![start.clone()];
        starts.extend(other.into_iter().map(|state| Start {
            state,
            changed: Vec::new(),
            ..start.clone()
        }));
        for start in starts {
            match travel(setting, &start, watch)? {
                Ok(trajectory) => motions.list.push(trajectory),
                Err(why) => motions.why_none = why,
            }
        }
        Ok(motions)
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
        let parts = roots.len();
        let variables = [system.positions(), system.velocities(), system.momenta()].concat();
        let slopes = setting.model.exprs.jacobian(&[value], &variables);
        roots.extend(slopes.rows[0].iter().map(|e| e.1));
        let (mut worst, mut duration, mut motions) = (0f64, 0.0, 0);
        for trajectory in &self.list {
            let values: Vec<Vec<f64>> = trajectory
                .states
                .iter()
                .map(|state| setting.numbers(&roots, &state.table(system)))
                .collect();
            let sizes = values.iter().map(|v| v[..parts].iter().fold(0f64, |m, x| m.max(x.abs())));
            let size = sizes.fold(0f64, f64::max);
            // At rest there is nothing but rounding.
            let by_rest = |at: usize| -> f64 {
                let time = (trajectory.states[at].t - trajectory.states[0].t).abs();
                let slopes = slopes.rows[0].iter().map(|e| e.0).zip(&values[at][parts..]);
                let parts = slopes.map(|(j, slope)| (slope * trajectory.rest[j]).abs());
                parts.filter(|part| *part > 0.0).sum::<f64>() * time
            };
            let change = |at: usize| {
                let change = (values[at][0] - values[0][0]).abs();
                if change <= by_rest(at) { 0.0 } else { change }
            };
            // NaN must not pass for small.
            let stays = |at: usize, unsure: f64| change(at) <= trajectory.allowed * size + unsure;
            let relative = |at: usize| if change(at) == 0.0 { 0.0 } else { change(at) / size };
            let mut last = trajectory.states.len() - 1;
            if !(0..=last).all(|at| stays(at, 0.0)) {
                let errors = trajectory.errors(setting);
                let unsure = |at: usize| -> f64 {
                    let slopes = slopes.rows[0].iter().map(|e| e.0).zip(&values[at][parts..]);
                    slopes.map(|(j, slope)| (slope * errors[at][j]).abs()).sum()
                };
                let clear = |at: &usize| *at < errors.len() && unsure(*at) <= VAGUE * size;
                last = (1..=last).take_while(clear).last().unwrap_or(0);
                if let Some(at) = (0..=last).find(|&at| at > 0 && !stays(at, unsure(at))) {
                    return Seen::Changed { deviation: relative(at), t: trajectory.states[at].t };
                }
            }
            worst = (0..=last).map(relative).fold(worst, f64::max);
            let last = trajectory.states[last].t;
            let span = (last - trajectory.states[0].t).abs();
            duration += span;
            motions += usize::from(span > 0.0);
        }
        match (self.list.len(), motions) {
            (0, _) => Seen::NotSeen(self.why_none.clone()),
            (_, 0) => Seen::NotSeen("the motion is too sensitive to show anything".to_owned()),
            _ => Seen::Kept { deviation: worst, duration, motions },
        }
    }
}

/// A motion, as long as the model asks for or shorter.
fn travel(
    setting: &Setting,
    start: &Start,
    watch: &Watch,
) -> Result<Result<Trajectory, String>, Interrupted> {
    let mut options = RunOptions::of_model(setting);
    let (t, n) = (start.state.t, setting.model.system.n_coordinates());
    if !(options.end - t).is_finite() || options.end == t {
        options.end = t + 1.0;
    }
    // What is claimed is claimed between events.
    options.events = false;
    options.most_steps = STEPS / (1 + n as u64 / 10);
    let mut why = String::new();
    for _ in 0..SHORTER.0 {
        watch.on("simulating a motion that integrals are held against")?;
        options.every = Some((options.end - t).abs() / 100.0);
        options.tolerance = TOLERANCE;
        match simulate(setting, &options, start, watch)? {
            Ok(Simulated { states, times, rest }) => {
                // As the certificate of a run has it.
                let allowed = 100.0 * TOLERANCE * (1.0 + times);
                let (start, errors) = (start.clone(), OnceCell::new());
                return Ok(Ok(Trajectory { states, allowed, rest, start, options, errors }));
            }
            Err(error) => why = error,
        }
        options.end = t + (options.end - t) / SHORTER.1;
    }
    Ok(Err(why))
}

/// One run.
struct Simulated {
    states: Vec<State>,
    /// How many characteristic times it took.
    times: f64,
    /// See [`Trajectory::rest`].
    rest: Vec<f64>,
}

/// Simulates from a start.
fn simulate(
    setting: &Setting,
    options: &RunOptions,
    start: &Start,
    watch: &Watch,
) -> Result<Result<Simulated, String>, Interrupted> {
    let mut states: Vec<State> = Vec::new();
    let mut interrupted = false;
    let mut record = |seen: &dalembert_simulate::Observation| {
        states.push(seen.state.clone());
        interrupted = watch.on("simulating a motion that integrals are held against").is_err();
        if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = run::run_from(setting, options, start.clone(), &mut record);
    if interrupted {
        return Err(Interrupted);
    }
    let Ok(report) = report else {
        return Ok(Err("the motion cannot be simulated from here".to_owned()));
    };
    let certificate = &report.certificate;
    match &report.end {
        // Where hardly anything was put out, the last state counts too.
        End::Failed(Failure::TooManySteps) if states.len() < 3 => {
            states.extend(report.last.map(|seen| seen.state));
        }
        End::Failed(Failure::Field(error)) if states.len() < 2 => {
            return Ok(Err(format!("the motion cannot be simulated: {error}")));
        }
        _ => {}
    }
    // A run that left its constraints shows nothing.
    let kept = [certificate.position_residual, certificate.velocity_residual];
    if kept.iter().any(|r| !(*r <= ON_CONSTRAINTS)) {
        return Ok(Err("the simulated motion does not keep its constraints".to_owned()));
    }
    if states.len() < 2 || states.iter().all(|s| s.t == states[0].t) {
        return Ok(Err("the motion cannot be simulated from here".to_owned()));
    }
    let sizes = &report.sizes;
    let span = states.last().map_or(0.0, |last| (last.t - states[0].t).abs());
    let moved = sizes.rest.iter().zip(&sizes.speed);
    // Velocities that are more than that are no rounding errors.
    let velocity: Vec<f64> =
        moved.map(|(rest, speed)| if *speed <= rest * span { *rest } else { 0.0 }).collect();
    let position = velocity.iter().map(|a| a * span);
    let momentum = velocity.iter().zip(&sizes.mass).map(|(a, m)| a * m.abs());
    let rest = position.chain(velocity.iter().copied()).chain(momentum).collect();
    let times = certificate.characteristic_times;
    Ok(Ok(Simulated { states, times, rest }))
}
