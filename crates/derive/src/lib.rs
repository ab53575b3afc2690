//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! From a [`System`](dalembert_model::system::System) to its equations of
//! motion, by every classical route through one normal form:
//!
//! ```text
//! q̇ = k(q, v, t)          kinematics
//! Γ v̇ = F + C + Aᵀλ       dynamics
//! A v̇ = b                 constraints, differentiated to the order of v̇
//! ```
//!
//! A formulation fills [`EquationsOfMotion`] with expressions; how λ leaves the
//! equations is a numerical matter and none of its business. Nothing is inverted
//! symbolically.

pub mod bodies;
pub mod chart;
pub mod equations;
pub mod formulations;
pub mod kernel;
pub mod matrix;
pub mod parts;
pub mod picture;
pub mod residual;
pub mod speeds;

pub use bodies::{BodyLink, BodyTree};
pub use chart::Chart;
pub use equations::{Auxiliary, EquationsOfMotion, Quantity, Shape, Source};
pub use formulations::{ALL, Choices, Formulation, by_name, for_system};
pub use parts::{Canonical, ChartBasis, ReducedBracket, Variables};
pub use residual::Residual;
