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

use crate::setting::Setting;
use dalembert_derive::picture::Picture;
use dalembert_gauss::eliminations::Elimination;
use dalembert_model::diagnostic::Diagnostic;

/// An answer whose Gauss residual is above this is none.
pub const RESIDUAL: f64 = 1e-7;

/// The picture of a setting's system, with its mass matrix as an elimination takes it.
pub(crate) fn picture_for(
    setting: &Setting,
    elimination: &dyn Elimination,
) -> Result<Picture, Vec<Diagnostic>> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    match elimination.is_along_tree() {
        true => Picture::along_tree(exprs, system),
        false => Picture::for_numbers(exprs, system),
    }
}
