//! Long runs at constant steps: shared by the tests and by `examples/long_runs.rs`.

#[allow(dead_code)]
#[path = "motions.rs"]
mod motions;

use dalembert::simulate::drive::{End, Stabilize};
use motions::{BLADE, KEPLER, PENDULUM, Plan, REDUNDANT, SPHERICAL, slope};

/// What the energy should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Swing, and not grow.
    Bounded,
    /// Stay, up to rounding.
    Rounding,
    /// Grow.
    Growing,
}

/// A run.
#[derive(Clone, Copy)]
pub struct Run {
    pub name: &'static str,
    text: &'static str,
    pub formulation: &'static str,
    pub method: &'static str,
    pub step: f64,
    pub kind: Kind,
}

const fn run(
    name: &'static str,
    text: &'static str,
    formulation: &'static str,
    method: &'static str,
    step: f64,
    kind: Kind,
) -> Run {
    Run { name, text, formulation, method, step, kind }
}

/// A run for each method that claims something, and others beside it.
pub const RUNS: &[Run] = &[
    run("Kepler, e = 0.6", KEPLER, "hamilton", "gauss4", 0.02, Kind::Bounded),
    run("Kepler, e = 0.6", KEPLER, "hamilton", "gauss6", 0.05, Kind::Bounded),
    run("Kepler, e = 0.6", KEPLER, "hamilton", "gauss8", 0.07, Kind::Bounded),
    run("Kepler, e = 0.6", KEPLER, "hamilton", "rattle", 0.01, Kind::Bounded),
    run("Kepler, e = 0.6", KEPLER, "hamilton", "dop853", 0.07, Kind::Growing),
    run("pendulum", PENDULUM, "hamilton", "gauss4", 0.1, Kind::Bounded),
    run("pendulum", PENDULUM, "hamilton", "gauss6", 0.2, Kind::Bounded),
    run("pendulum", PENDULUM, "hamilton", "gauss8", 0.3, Kind::Bounded),
    run("pendulum", PENDULUM, "hamilton", "dop853", 0.3, Kind::Growing),
    run("spherical pendulum", SPHERICAL, "hamilton", "rattle", 0.01, Kind::Bounded),
    run("double pendulum, a rod said twice", REDUNDANT, "hamilton", "rattle", 0.02, Kind::Bounded),
    run("particle with ż = yẋ", BLADE, "bracket", "discrete-gradient", 0.05, Kind::Rounding),
    run("Kepler, e = 0.6", KEPLER, "bracket", "discrete-gradient", 0.01, Kind::Rounding),
];

/// What was found.
pub struct LongRun {
    pub steps: u64,
    /// The largest |E − E₀| of the certificate, relative.
    pub largest: f64,
    /// Of the samples of the first and the second half.
    pub early: f64,
    pub late: f64,
    /// What the straight line through the samples changes over the run, relative to the
    /// largest of them.
    pub trend: f64,
    /// What is left of the constraints.
    pub residual: f64,
    pub passes: bool,
}

/// Samples of a run.
const SAMPLES: u64 = 2000;

impl LongRun {
    pub fn new(run: &Run, steps: u64) -> Result<LongRun, String> {
        let end = run.step * steps as f64;
        let mut plan = Plan::new(run.text, run.formulation, run.method, end);
        plan.step = Some(run.step);
        if run.kind == Kind::Growing {
            plan.stabilize = Stabilize::None;
        }
        let every = steps / SAMPLES;
        plan.times = (1..SAMPLES).map(|i| run.step * (i * every) as f64).collect();
        let mut samples: Vec<(f64, f64)> = Vec::new();
        let report = plan
            .watch(&mut |state, energy| samples.push((state.t, energy)))
            .map_err(|error| format!("{error:?}"))?;
        if report.end != End::Finished {
            return Err(format!("{:?}", report.end));
        }
        let first = samples[0].1;
        samples.iter_mut().for_each(|s| s.1 = (s.1 - first) / first.abs().max(1.0));
        let largest = |half: &[(f64, f64)]| half.iter().fold(0f64, |m, s| m.max(s.1.abs()));
        let (one, two) = samples.split_at(samples.len() / 2);
        let (early, late) = (largest(one), largest(two));
        let line = (slope(&samples) * end).abs();
        let certificate = &report.certificate;
        Ok(LongRun {
            steps: report.statistics.steps,
            largest: certificate.invariants.first().map_or(f64::NAN, |i| i.1),
            early,
            late,
            trend: if line == 0.0 { 0.0 } else { line / early.max(late) },
            residual: certificate.position_residual.max(certificate.velocity_residual),
            passes: report.verdict().is_ok(),
        })
    }

    /// A line of a table.
    pub fn line(&self, run: &Run) -> String {
        format!(
            "| {} | {} | {} | {} | {:.1e} | {:.1e} | {:.1e} | {:.3} | {:.1e} | {} |",
            run.name,
            run.method,
            run.step,
            self.steps,
            self.largest,
            self.early,
            self.late,
            self.trend,
            self.residual,
            if self.passes { "pass" } else { "fails" },
        )
    }
}
