//! Equations of motion compiled: what an integrator and a driver call.
//!
//! The rates of a state ([`Field`]), the projection onto its constraints, what is observed of
//! it in the coordinates of the model ([`Observer`]), its energy part by part.

pub(crate) mod compiled;
pub mod energy;
pub mod field;
pub mod listing;
pub mod observer;
mod on_branches;
mod power;
pub mod problem;
pub mod projection;

pub use field::{Field, FieldError};
pub use observer::{Observation, Observer};
pub use projection::Projection;
