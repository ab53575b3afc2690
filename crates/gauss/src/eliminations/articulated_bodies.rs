//! Articulated bodies: along the tree that carries them, in as many steps as there are links.
//!
//! ```text
//! 𝓘_k = 𝓜_k + Σ_c X_cᵀ(𝓘_c − U_c D_c⁻¹U_cᵀ)X_c ,   U = 𝓘 S ,   D = SᵀU + Γ₀
//! ```
//!
//! Featherstone, *Rigid Body Dynamics Algorithms*, §7.3. Asked for by name it is used of trees of any
//! size, whose Γ is then kept as that of bodies ([`bodies`](crate::bodies)) and never formed; rows are
//! those of a dense problem of their number ([`along_tree`](super::along_tree)). Where Γ is a matrix of
//! entries there is no tree to go along, and the null space takes its place.

use super::{Elimination, Scratch, Source, null_space};
use crate::terms::Terms;

pub(super) static ELIMINATION: ArticulatedBodies = ArticulatedBodies;

pub(super) struct ArticulatedBodies;

impl Elimination for ArticulatedBodies {
    fn name(&self) -> &'static str {
        "articulated-bodies"
    }

    fn source(&self) -> Source {
        Source { work: "Featherstone, Rigid Body Dynamics Algorithms", equations: "§7.3" }
    }

    fn is_along_tree(&self) -> bool {
        true
    }

    fn is_null_space(&self) -> bool {
        true
    }

    fn factor(&self, _: &mut Scratch, _: &Terms) -> bool {
        true
    }

    fn back_substitute(&self, scratch: &mut Scratch, _: &Terms) -> bool {
        null_space::solve_free(scratch);
        true
    }
}
