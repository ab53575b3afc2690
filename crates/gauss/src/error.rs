//! Why a problem could not be attempted.
//!
//! These are faults of the data or of the choice of elimination. A well-posed question with the
//! answer "no motion" is not among them.

use std::fmt;

/// Why an elimination could not be carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// A slice does not have the length that n and m call for.
    Shape {
        /// Which term.
        what: &'static str,
        /// The length called for.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// An entry is infinite or not a number.
    NotFinite {
        /// Which term.
        what: &'static str,
        /// Index of the first such entry.
        index: usize,
    },
    /// This elimination needs Γ ≻ 0.
    SingularMetric {
        /// rank Γ.
        rank: usize,
        /// n.
        size: usize,
    },
    /// Γ has a negative direction that the constraints remove, and this elimination needs Γ ≻ 0.
    NegativeDirection {
        /// A negative pivot, in the user's units.
        pivot: f64,
        /// The coordinate at which it showed.
        coordinate: usize,
    },
    /// Γ has a negative direction, and is not definite on the free directions either.
    IndefiniteMetric {
        /// A negative pivot, in the user's units.
        pivot: f64,
        /// The coordinate at which it showed.
        coordinate: usize,
    },
    /// A sparse problem that only a dense matrix would serve is too large for one.
    TooLarge {
        /// n.
        size: usize,
    },
    /// Numbers left the range of floating-point arithmetic on the way.
    Overflow {
        /// What became infinite or not a number.
        what: &'static str,
    },
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::Shape { what, expected, found } => {
                write!(f, "the {what} has {found} entries where {expected} are needed")
            }
            SolveError::NotFinite { what, index } => {
                write!(f, "entry {} of the {what} is not a finite number", index + 1)
            }
            SolveError::SingularMetric { rank, size } => write!(
                f,
                "the mass matrix is singular (rank {rank} of {size}) and this elimination needs \
                 its inverse; null-space, multipliers and singular-mass do not"
            ),
            SolveError::NegativeDirection { pivot, coordinate } => write!(
                f,
                "the mass matrix has the negative pivot {pivot:e} at coordinate {} and this \
                 elimination needs a positive definite one; null-space, multipliers and \
                 singular-mass need that only of what the constraints leave free",
                coordinate + 1
            ),
            SolveError::IndefiniteMetric { pivot, coordinate } => write!(
                f,
                "the mass matrix is not positive semidefinite, also not on what the constraints \
                 leave free: eliminating up to coordinate {} leaves the negative pivot {pivot:e}",
                coordinate + 1
            ),
            SolveError::TooLarge { size } => write!(
                f,
                "masses that couple most of the {size} coordinates to each other, coordinates without \
                 mass and constraints that nearly depend on each other take a dense matrix, for \
                 which there are too many coordinates"
            ),
            SolveError::Overflow { what } => {
                write!(f, "the {what} leaves the range of floating-point numbers")
            }
        }
    }
}

impl std::error::Error for SolveError {}
