//! Equations of motion as numbers.
//!
//! At each state every formulation poses one convex problem,
//!
//! ```text
//! minimise ½ v̇ᵀ Γ v̇ − v̇ᵀ(F + C)   subject to   A v̇ = b ,   Γ ⪰ 0 ,
//! ```
//!
//! whose solution satisfies Γ v̇ = F + C + Aᵀλ. [`Terms`] states it, an
//! [`Elimination`] solves it, and [`Outcome`] says what was found: the
//! accelerations and multipliers of a unique motion, or why there is none.
//!
//! Around it: [`Setting`] (a model with numbers for its parameters), [`State`],
//! [`evaluate`](evaluate::evaluate) (all formulations and eliminations at a state,
//! in quantities that compare), the consistent [`start`](start::start) and the
//! hidden constraints ([`complete`](complete::complete)).
//!
//! ```
//! use dalembert_simulate::{DEFAULT, Elimination, Motion, Outcome, Scratch, Terms, Tolerances};
//! // A wheel on a slope: Udwadia & Phohomsiri 2006, example 1. The height has no mass.
//! let terms = Terms {
//!     n: 2,
//!     m: 1,
//!     metric: &[0.75, 0.0, 0.0, 0.0],
//!     force: &[0.0, 19.625],
//!     nonideal: &[0.0, 0.0],
//!     jacobian: &[-0.25, 1.0],
//!     drift: &[0.0],
//!     noise: None,
//!     inertia: &[],
//! };
//! let mut outcome = Outcome::default();
//! DEFAULT.solve(&mut Scratch::default(), &terms, &Tolerances::default(), &mut outcome)?;
//! assert_eq!(outcome.motion, Motion::Unique);
//! assert!((outcome.v_dot[0] - 19.625 * 0.25 / 0.75).abs() < 1e-14);
//! # Ok::<(), dalembert_simulate::SolveError>(())
//! ```

// Index loops read like the formulas of the dense kernels, where one index runs over several
// arrays with different strides; iterator chains would hide that.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod balance;
pub mod blur;
pub mod certificate;
pub mod closest;
pub mod compare;
pub mod complete;
pub mod coupled;
pub mod drive;
pub mod eliminations;
pub mod energy;
pub mod evaluate;
pub mod extent;
pub mod field;
pub mod happenings;
pub mod impulse;
pub mod integrators;
pub mod law;
pub mod linalg;
pub mod method;
pub mod newton;
pub mod noise;
pub mod numbers;
pub mod observer;
mod on_branches;
pub mod outcome;
mod power;
pub mod projection;
pub mod rank;
pub mod recombine;
pub mod report;
pub mod run;
pub mod scale;
mod search;
pub mod setting;
pub mod setup;
pub mod start;
pub mod state;
pub mod states;
pub mod terms;
pub mod verify;

pub use certificate::Gauss;
pub use compare::agreement;
pub use eliminations::{ALL, DEFAULT, EVERY, Elimination, Scratch, SolveError, Source, by_name};
pub use evaluate::{Answer, Evaluation, Reference, Refusal, evaluate};
pub use noise::Noisy;
pub use numbers::Numbers;
pub use outcome::{Conflict, Hidden, Motion, Outcome, Rank, Route};
pub use report::{EvalError, Options, Report, report};
pub use setting::{MissingValues, Setting, Table};
pub use start::{Guess, Start, StartError};
pub use state::State;
pub use terms::{Noise, Terms, Tolerances};
