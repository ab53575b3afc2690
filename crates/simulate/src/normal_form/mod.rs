//! The normal form Γ v̇ = F + C + Aᵀλ, A v̇ = b in numbers, at one state, by walking its
//! expressions with their rounding noise. What a run evaluates again and again is compiled
//! instead ([`crate::program`]).

pub mod multiplier_forces;
mod numbers;

pub use numbers::{Numbers, dense};
