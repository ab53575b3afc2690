//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! The model doctor: what is true of a system, with reasons.
//!
//! Every claim carries how it was established ([`Shown`]); what was not tested is
//! not claimed.

// Index loops read like the formulas, as in the crate `simulate`.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

pub mod analysis;
pub mod brackets;
mod envelope;
pub mod integrability;
pub mod invariants;
pub mod left_out;
pub mod linearize;
pub mod lint;
pub mod names;
pub mod pfaff;
pub mod places;
pub mod potential;
pub mod redundancy;
pub mod rows;
pub mod shown;
pub mod singular;
pub mod surface;
pub mod uniqueness;
pub mod watch;

pub use analysis::{Analysis, Request, analyze, analyze_watched};
pub use left_out::LeftOut;
pub use shown::Shown;
pub use watch::{Interrupted, Watch};
