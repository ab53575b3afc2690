//! Small systems to be moved by any integrator, and how far off it is. Shared by the
//! tests and by `examples/long_runs.rs`.

use dalembert::formulations::by_name;
use dalembert::simulate::drive::{End, Stabilize};
use dalembert::simulate::run::{self, RunError, RunOptions, RunReport};
use dalembert::simulate::{Setting, State, start};
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;

/// An oscillator that is not linear, with time in its force: no constraint.
pub const DRIVEN: &str = "
coord x, y
kinetic (1 + x^2/4)*x'^2/2 + y'^2/2 + x*y'*x'/5
potential x^4/4 + y^2/2 + x*y/3
force y: cos(2*t)/2
start x = 1, y = 0.5, x' = 0, y' = 1
run t = 0..2
";

/// Kepler's ellipse.
pub const KEPLER: &str = "
coord x, y
kinetic (x'^2 + y'^2)/2
potential -1/sqrt(x^2 + y^2)
start x = 0.4, y = 0, x' = 0, y' = 2
run t = 0..10
";

/// A pendulum by its angle.
pub const PENDULUM: &str = "
coord th
kinetic th'^2/2
potential -cos(th)
start th = 1.5, th' = 0
run t = 0..10
";

/// A spherical pendulum in Cartesian coordinates.
pub const SPHERICAL: &str = "
param g = 9.81
coord x, y, z
kinetic (x'^2 + y'^2 + z'^2)/2
potential -g*z
constraint rod: (x^2 + y^2 + z^2)/2 = 1/2
start x = sqrt(3)/2, y = 0, z = 0.5, x' = 0, y' = 1.5/(sqrt(3)/2), z' = 0
run t = 0..1
";

/// A double pendulum in Cartesian coordinates, with one rod said twice.
pub const REDUNDANT: &str = "
coord x, y, u, v
kinetic (x'^2 + y'^2)/2 + (u'^2 + v'^2)/2
potential y + v
constraint first: x^2 + y^2 = 1
constraint second: (u - x)^2 + (v - y)^2 = 1
constraint again: x^2 + y^2 + (u - x)^2 + (v - y)^2 = 2
start x = 1, y = 0, u = 1.6, v = -0.8, x' = 0, y' = 0, u' = 0, v' = 0
run t = 0..1
";

/// A pivot that moves with time.
pub const MOVING: &str = "
coord x, y
kinetic (x'^2 + y'^2)/2
potential y
constraint rod: (x - sin(2*t)/4)^2 + y^2 = 1
start x = 0.8, y = -0.6, x' ~ 0, y' ~ 0
run t = 0..1
";

/// ż = yẋ in a potential: nonholonomic.
pub const BLADE: &str = "
param k = 1
coord x, y, z
kinetic (x'^2 + y'^2 + z'^2)/2
potential k/2*(x^2 + y^2 + z^2)
constraint blade: z' - y*x' = 0
start x = 1, y = 0.5, z = 0, x' = 1, y' = 0.75, z' = 0.5
run t = 0..1
";

/// A run to be taken.
#[derive(Clone)]
pub struct Plan<'a> {
    pub text: &'a str,
    pub formulation: &'a str,
    pub method: &'a str,
    pub step: Option<f64>,
    pub end: f64,
    pub tolerance: f64,
    pub stabilize: Stabilize,
    /// Times of output beside the end.
    pub times: Vec<f64>,
}

impl<'a> Plan<'a> {
    pub fn new(text: &'a str, formulation: &'a str, method: &'a str, end: f64) -> Plan<'a> {
        let (step, tolerance, times) = (None, 1e-9, Vec::new());
        let stabilize = Stabilize::Projection;
        Plan { text, formulation, method, step, end, tolerance, stabilize, times }
    }

    pub fn model(&self) -> Model {
        let loaded = dalembert::load(&Input::text("m.dal", self.text), &Options::default());
        let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
        loaded.model.unwrap_or_else(|| panic!("faults\n{shown}"))
    }

    /// Runs; the states at the times asked for, the end last.
    pub fn run(&self) -> Result<(Vec<State>, RunReport), RunError> {
        let mut states = Vec::new();
        let report = self.watch(&mut |state, _| states.push(state.clone()))?;
        states.remove(0);
        Ok((states, report))
    }

    /// Runs, and shows each output with its energy, the start included.
    pub fn watch(&self, see: &mut dyn FnMut(&State, f64)) -> Result<RunReport, RunError> {
        let model = self.model();
        let setting = Setting::new(&model).expect("values");
        let mut options = RunOptions::of_model(&setting);
        options.end = self.end;
        options.every = Some(self.end);
        options.times.clone_from(&self.times);
        options.tolerance = self.tolerance;
        options.step = self.step;
        options.method = self.method.to_owned();
        options.formulation = by_name(self.formulation).expect("a formulation");
        options.stabilize = self.stabilize;
        let start = start::start(&setting).expect("a start");
        run::run_from(&setting, &options, start, &mut |observation| {
            see(&observation.state, observation.energy);
            ControlFlow::Continue(())
        })
    }

    /// The states of a run that must come to its end.
    pub fn states(&self) -> Vec<State> {
        let (states, report) = self.run().unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(report.end, End::Finished, "{} {}", self.method, self.formulation);
        states
    }
}

/// The largest difference of positions and velocities.
pub fn apart(a: &State, b: &State) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.velocity.iter().zip(&b.velocity));
    pairs.fold(0f64, |m, (a, b)| m.max((a - b).abs()))
}

/// The slope of a line through points, by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (mx, my) = (
        points.iter().map(|p| p.0).sum::<f64>() / count,
        points.iter().map(|p| p.1).sum::<f64>() / count,
    );
    let (mut sxy, mut sxx) = (0.0, 0.0);
    for (x, y) in points {
        sxy += (x - mx) * (y - my);
        sxx += (x - mx) * (x - mx);
    }
    sxy / sxx
}
