//! The problem at one state where its matrices are mostly zeros.
//!
//! Γ and A are lists of entries at the places of a [`Pattern`](crate::pattern::Pattern). Where Γ ≻ 0 falls into small blocks
//! the accelerations are eliminated block by block, and S = A Γ⁻¹ Aᵀ is factored in an order that
//! keeps it sparse (`structure`, `numeric`, `ldl`); where Γ is sparse but one block, accelerations
//! and multipliers are eliminated together (`kkt`). Which rows depend on others is decided by a sparse
//! triangle (`decide`). Cost and memory grow as the entries of L do: for chains and trees, as
//! their length.
//!
//! A Γ of bodies along a tree (`tree`) is dense and never formed: by articulated inertias the problem
//! becomes one of as many unknowns as there are rows.
//!
//! What fills in too much, has coordinates without mass, or leaves doubt is handed to the dense
//! eliminations, up to a size; beyond it, that is an error and not a guess.

mod decide;
mod factored;
mod kkt;
mod ldl;
mod lu;
mod numeric;
mod sets;
mod solve;
mod structure;
mod uplooking;

pub use factored::Reduced;
pub use lu::{Ordered, Scalar, SparseLu};
pub use sets::dependent_sets;

pub(crate) use factored::SparseFactored;
pub(crate) use solve::{Decided, solve};

use crate::terms::Terms;

/// The largest number of coordinates for which a dense matrix is formed where a sparse one does
/// not serve.
pub(crate) const LARGEST_DENSE: usize = 2000;

/// Room for a problem made dense.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    metric_noise: Vec<f64>,
    jacobian_noise: Vec<f64>,
}

impl Dense {
    /// The problem with all its zeros.
    pub(crate) fn fill<'a>(&'a mut self, terms: &Terms<'a>) -> Terms<'a> {
        let Some(patterns) = terms.patterns else { return *terms };
        self.metric = patterns.metric.dense(terms.metric);
        self.jacobian = patterns.jacobian.dense(terms.jacobian);
        if let Some(noise) = terms.noise {
            self.metric_noise = patterns.metric.dense_noise(terms.metric, noise.metric);
            self.jacobian_noise = patterns.jacobian.dense(noise.jacobian);
        }
        let noise = terms.noise.map(|noise| crate::terms::Noise {
            metric: &self.metric_noise,
            jacobian: &self.jacobian_noise,
            ..noise
        });
        Terms { metric: &self.metric, jacobian: &self.jacobian, noise, patterns: None, ..*terms }
    }
}
