//! Storage shared by the eliminations, reused from call to call.

use super::along_tree::Tree;
use crate::linalg::svd::Svd;
use crate::rank::Decision;
use crate::scale::Scaled;
use crate::sparse::{Decided, Dense};

/// Scratch space of an elimination. Keep one per thread and pass it to every call: once it has
/// grown to the size of the problem, a unique motion is solved without allocating.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// The problem in equilibrated units. If rows are dependent, `bias` is replaced by its
    /// projection on the range of Ã, so that all eliminations see the same consistent rows.
    pub(super) scaled: Scaled,
    /// The ranks and the order of rows.
    pub(super) decision: Decision,
    /// The ordered rows factored as L Qᵀ: live × n, reflections in the first r.
    pub(super) rows_lq: Vec<f64>,
    pub(super) rows_tau: Vec<f64>,
    /// Nᵀ, (n − r) × n: its rows span ker Ã.
    pub(super) basis: Vec<f64>,
    /// L₁⁻ᵀL₂ᵀ, r × (live − r): how dependent rows follow from independent ones.
    pub(super) weights: Vec<f64>,
    /// A solution of Ã y = b̃ orthogonal to ker Ã, in the least-squares sense if need be.
    pub(super) particular: Vec<f64>,
    /// F̃ − Γ̃ y.
    pub(super) remaining: Vec<f64>,
    /// Whether a decision made elsewhere is gone by, and K is factored without roots.
    pub(super) is_frozen: bool,
    /// K = NᵀΓ̃N, factored, with its order and rank.
    pub(super) reduced: Vec<f64>,
    pub(super) reduced_order: Vec<usize>,
    pub(super) reduced_rank: usize,
    /// Basis of ker Γ̃ ∩ ker Ã in equilibrated units, one vector per row of n.
    pub(super) null: Vec<f64>,
    /// Whether solutions are refined.
    pub(super) refines: bool,
    /// Condition number of what a literal elimination inverts.
    pub(super) condition: Option<f64>,
    /// The solution x in equilibrated units.
    pub(super) solution: Vec<f64>,
    /// The multipliers μ in equilibrated units, all rows.
    pub(super) multipliers: Vec<f64>,
    /// An elimination's own matrices and vectors.
    pub(super) matrix: Vec<f64>,
    pub(super) factor: Vec<f64>,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
    pub(super) work: Vec<f64>,
    pub(super) extra: Vec<f64>,
    pub(super) order: Vec<usize>,
    pub(super) wide: Vec<bool>,
    pub(super) svd: Svd,
    pub(super) stacked_svd: Svd,
    /// The same of a sparse problem, and whether the last one was decided there.
    pub(super) sparse: Option<Box<Decided>>,
    pub(super) is_sparse: bool,
    pub(super) dense: Option<Box<Dense>>,
    /// The same where Γ is that of bodies along a tree, and whether the last problem was one.
    pub(super) tree: Option<Box<Tree>>,
    pub(super) is_along_tree: bool,
}
