//! Why there are no rates at a state.

use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::eliminations::SolveError;
use dalembert_gauss::outcome;

/// Why there are no rates at a state.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldError {
    /// A term is not a number: what, and which.
    NotFinite {
        /// What.
        what: &'static str,
        /// Its place.
        index: usize,
    },
    /// No acceleration, or not one.
    NoMotion(outcome::Verdict),
    /// The elimination failed.
    Solve(SolveError),
    /// The velocities behind the momenta (or the reverse) were not found.
    Legendre,
    /// Forces and the multipliers they depend on were not found together.
    Coupled(CoupledError),
    /// What was solved misses Gauss's principle by this much.
    Residual(f64),
    /// The equations of an implicit step were not solved: by what.
    NotSolved(&'static str),
}

impl From<CoupledError> for FieldError {
    fn from(error: CoupledError) -> FieldError {
        match error {
            CoupledError::Solve(error) => error.into(),
            other => FieldError::Coupled(other),
        }
    }
}

impl From<SolveError> for FieldError {
    fn from(error: SolveError) -> FieldError {
        match error {
            SolveError::NotFinite { what, index } => FieldError::NotFinite { what, index },
            other => FieldError::Solve(other),
        }
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FieldError::NotFinite { what, index } => {
                write!(f, "{what} {} is not a number at this state", index + 1)
            }
            FieldError::NoMotion(motion) => write!(f, "the motion is {}", motion.name()),
            FieldError::Solve(error) => error.fmt(f),
            FieldError::Legendre => f.write_str("the velocities behind the momenta were not found"),
            FieldError::Coupled(error) => error.fmt(f),
            FieldError::Residual(residual) => {
                write!(f, "no route satisfies Gauss's principle here: {residual:.1e} is left")
            }
            FieldError::NotSolved(method) => {
                write!(
                    f,
                    "the equations of a step of {method} were not solved: the step is too large"
                )
            }
        }
    }
}
