//! The model doctor: what is true of a system, with reasons.
//!
//! Every claim carries how it was established ([`Shown`]); what was not tested is
//! not claimed.

// Index loops read like the formulas, as in the crate `simulate`.
#![allow(clippy::needless_range_loop)]
// `!(x > y)` is meant: it is true for NaN, where `x <= y` is not.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

pub mod shown;

pub use shown::Shown;
