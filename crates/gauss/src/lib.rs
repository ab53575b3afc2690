//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! The convex problem that every formulation poses at one state,
//!
//! ```text
//! minimise ½ v̇ᵀ Γ v̇ − v̇ᵀ(F + C)   subject to   A v̇ = b ,   Γ ⪰ 0 ,
//! ```
//!
//! whose solution satisfies Γ v̇ = F + C + Aᵀλ (Gauss's principle). [`Terms`] states it, an
//! [`Elimination`] solves it, and [`Outcome`] says what was found: the accelerations and
//! multipliers of a unique motion, or why there is none. This crate knows slices of numbers and
//! nothing of the expressions they come from.
//!
//! ```
//! use dalembert_gauss::{DEFAULT, Verdict, Outcome, Scratch, Terms, Tolerances};
//! // A wheel on a slope: Udwadia & Phohomsiri 2006, example 1. The height has no mass.
//! let terms = Terms {
//!     n: 2,
//!     m: 1,
//!     metric: &[0.75, 0.0, 0.0, 0.0],
//!     force: &[0.0, 19.625],
//!     nonideal: &[0.0, 0.0],
//!     jacobian: &[-0.25, 1.0],
//!     bias: &[0.0],
//!     noise: None,
//!     inertia: &[],
//!     patterns: None,
//! };
//! let mut outcome = Outcome::default();
//! DEFAULT.solve(&mut Scratch::default(), &terms, &Tolerances::default(), &mut outcome)?;
//! assert_eq!(outcome.motion, Verdict::Unique);
//! assert!((outcome.v_dot[0] - 19.625 * 0.25 / 0.75).abs() < 1e-14);
//! # Ok::<(), dalembert_gauss::SolveError>(())
//! ```

// Index loops read like the formulas of the dense kernels, where one index runs over several
// arrays with different strides; iterator chains would hide that.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

pub mod bodies;
pub mod certificate;
pub mod contact;
pub mod coupled;
pub mod directed;
pub mod eliminations;
pub mod error;
pub mod linalg;
pub mod multipliers;
pub mod outcome;
pub mod pattern;
pub mod rank;
pub mod scale;
pub mod solver;
pub mod sparse;
pub mod terms;
mod tolerances;

pub use bodies::Bodies;
pub use certificate::Gauss;
pub use eliminations::factored::Factored;
pub use eliminations::{
    ALL, ALONG_TREE, DEFAULT, EVERY, Elimination, Scratch, SolveError, Source, by_name,
};
pub use outcome::{Conflict, Hidden, Outcome, Rank, Route, Verdict};
pub use pattern::Pattern;
pub use solver::Solver;
pub use terms::{Noise, Patterns, Terms, Tolerances};
