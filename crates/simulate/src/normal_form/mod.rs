//! The normal form Γ v̇ = F + C + Aᵀλ, A v̇ = b in numbers, at one state, by walking its
//! expressions with their rounding noise. What a run evaluates again and again is compiled
//! instead ([`crate::program`]); what lies where among the values is the same for both.

pub(crate) mod layout;
mod matrix;
pub mod multiplier_forces;
mod numbers;
mod solved;

pub use matrix::Matrix;
pub use numbers::{Numbers, dense};
pub use solved::Solved;

/// An answer whose Gauss residual is above this is none.
pub const RESIDUAL: f64 = 1e-7;
