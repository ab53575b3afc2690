//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Equations of motion as numbers.
//!
//! At each state every formulation poses one convex problem,
//!
//! ```text
//! minimise ½ v̇ᵀ Γ v̇ − v̇ᵀ(F + C)   subject to   A v̇ = b ,   Γ ⪰ 0 ,
//! ```
//!
//! whose solution satisfies Γ v̇ = F + C + Aᵀλ. It is stated, decided and solved in
//! [`dalembert_gauss`], whose names are found here too.
//!
//! Around it: [`Setting`] (a model with numbers for its parameters), [`State`],
//! [`evaluate`](evaluate::evaluate) (all formulations and eliminations at a state,
//! in quantities that compare), the consistent [`start`](start::start) and the
//! hidden constraints ([`complete`](complete::complete)).
// Index loops read like the formulas of the dense kernels, where one index runs over several
// arrays with different strides; iterator chains would hide that.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod balance;
pub mod blur;
pub mod closest;
pub mod compare;
mod compiled;
pub mod complete;
pub mod drive;
pub mod energy;
pub mod evaluate;
pub mod extent;
pub mod field;
pub mod happenings;
pub mod implied;
pub mod impulse;
pub mod integrators;
pub mod law;
pub mod method;
pub mod newton;
pub mod noise;
pub mod numbers;
pub mod observer;
mod on_branches;
mod power;
pub mod prepared;
pub mod projection;
mod recombine;
pub mod report;
pub mod run;
mod search;
pub mod setting;
pub mod setup;
pub mod start;
pub mod state;
pub mod states;
pub mod unsuited;
pub mod verify;

pub use compare::agreement;
pub use dalembert_gauss::{
    ALL, Conflict, DEFAULT, EVERY, Elimination, Gauss, Hidden, Noise, Outcome, Rank, Route,
    Scratch, SolveError, Source, Terms, Tolerances, Verdict, by_name,
};
pub use evaluate::{Answer, Evaluation, Reference, Refusal, evaluate};
pub use noise::Noisy;
pub use numbers::Numbers;
pub use prepared::Program;
pub use report::{EvalError, Options, Report, report};
pub use setting::{MissingValues, Setting, Table};
pub use start::{Guess, Start, StartError};
pub use state::State;
