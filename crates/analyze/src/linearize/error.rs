//! Why there is no linearisation.

use crate::watch::Interrupted;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_simulate::phases::{Edge, Fault};
use dalembert_simulate::run::RunError;
use dalembert_simulate::setting::legendre::NewtonError;
use dalembert_simulate::{SolveError, StartError, State, Verdict};

/// Why there is no linearisation.
#[derive(Clone, Debug)]
pub enum LinearizeError {
    /// The model has no consistent start to look from.
    Start(StartError),
    /// The model has no equations of motion.
    Equations(Vec<Diagnostic>),
    /// Velocities and momenta do not determine each other.
    Legendre(NewtonError),
    /// The equations cannot be solved at a state.
    Solve {
        /// Why.
        error: SolveError,
        /// The state.
        state: Box<State>,
    },
    /// There is no motion at a state, or more than one.
    NoMotion {
        /// The verdict.
        motion: Verdict,
        /// The coordinates whose acceleration is not determined.
        undetermined: Vec<usize>,
        /// The state.
        state: Box<State>,
    },
    /// The equations have no finite derivatives at a state.
    NotSmooth {
        /// The state.
        state: Box<State>,
    },
    /// The equations depend on time, and not in a way that a frame turning or moving uniformly
    /// would undo.
    TimeDependent {
        /// The constraints in which time occurs; empty if it is in energies or forces.
        constraints: Vec<usize>,
    },
    /// Neither an equilibrium nor a steady motion was found.
    NotFound(Box<NotFound>),
    /// The constraints have a lower rank here than nearby: the motion is not smooth.
    Singular {
        /// Their rank here.
        rank: usize,
        /// Their rank at states nearby.
        nearby: usize,
        /// The state.
        state: Box<State>,
    },
    /// The inertia of a coordinate vanishes here and not nearby: the coordinate means nothing, as
    /// an angle at its pole.
    Vanishing {
        /// The coordinate.
        coordinate: usize,
        /// The state.
        state: Box<State>,
    },
    /// The eigenvalues did not settle.
    NoEigenvalues,
    /// The motion is not periodic with the period that was given.
    NotPeriodic {
        /// By how much A differs after it, relative to itself; infinite if the motion did not
        /// get there.
        closure: f64,
    },
    /// The motion is not where it began after the period that was given.
    Elsewhere {
        /// The name of the coordinate or state.
        name: String,
        /// Whether it is its rate that is another.
        is_rate: bool,
        /// By how much, relative to how far it goes or how fast anything is.
        by: f64,
    },
    /// An event sets velocities or states on the way.
    Resets {
        /// Its name.
        event: String,
        /// When first.
        t: f64,
    },
    /// Contacts and friction have no phase at a state.
    Phase {
        /// Why.
        fault: Box<Fault>,
        /// The state.
        state: Box<State>,
    },
    /// The state is on an edge of its phase of contacts and friction, or beyond it.
    Edge {
        /// The edges.
        edges: Vec<Edge>,
        /// The state.
        state: Box<State>,
    },
    /// The motion goes from one phase to another.
    Phases {
        /// When first.
        t: f64,
    },
    /// The run along which to go did not begin.
    Run(Box<RunError>),
    /// The caller ended the work.
    Interrupted,
}

impl From<Interrupted> for LinearizeError {
    fn from(_: Interrupted) -> LinearizeError {
        LinearizeError::Interrupted
    }
}

/// What the search was left with.
#[derive(Clone, Debug)]
pub struct NotFound {
    /// The nearest state to being steady.
    pub nearest: Option<State>,
    /// What is left of the balance of forces there, by coordinate: the generalized force that
    /// pushes, constraint forces taken into account.
    pub push: Vec<f64>,
    /// Constraints that are broken there: (constraint, by how much).
    pub broken: Vec<(usize, f64)>,
    /// The largest residual.
    pub residual: f64,
    /// Coordinates that move at the start and that the equations depend on: about such a motion
    /// the linear equations would depend on time.
    pub moving: Vec<usize>,
}
