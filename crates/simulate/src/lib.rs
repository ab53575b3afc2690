//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Equations of motion as numbers.
//!
//! At each state every formulation poses one convex problem,
//!
//! ```text
//! minimize ½ v̇ᵀ Γ v̇ − v̇ᵀ(F + C)   subject to   A v̇ = b ,   Γ ⪰ 0 ,
//! ```
//!
//! whose solution satisfies Γ v̇ = F + C + Aᵀλ. It is stated, decided and solved in
//! [`dalembert_gauss`], whose names are found here too.
//!
//! Around it: [`Setting`] (a model with numbers for its parameters), [`State`],
//! [`evaluate`] (all formulations and eliminations at a state,
//! in quantities that compare), the consistent [`start`](points::start::start) and the
//! hidden constraints ([`complete`](points::hidden::complete)).
// Index loops read like the formulas of the dense kernels, where one index runs over several
// arrays with different strides; iterator chains would hide that.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

pub mod at_state;
pub mod drive;
pub mod integrators;
mod noise;
pub mod normal_form;
pub mod phases;
pub mod points;
pub mod program;
pub mod run;
mod search;
pub mod setting;

pub use at_state::report::{self, EvalError, Options, Report, report};
pub use at_state::{Answer, Evaluation, Reference, Refusal, agreement, evaluate};
pub use dalembert_gauss::{
    ALL, Conflict, DEFAULT, EVERY, Elimination, Gauss, Hidden, Noise, Outcome, Rank, Route,
    Scratch, SolveError, Source, Terms, Tolerances, Verdict, by_name,
};
pub use noise::Noisy;
pub use normal_form::Numbers;
pub use points::start::{self, Guess, Start, StartError};
pub use program::{Field, FieldError, Observation, Observer};
pub use run::Program;
pub use setting::{Dependence, Doubt, MissingValues, Nearly, Setting, State, Table};
