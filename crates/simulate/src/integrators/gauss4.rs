//! The Gauss method with 2 stages, of order 4: see `collocation.rs`.
//!
//! Symplectic at constant steps for Hamilton's equations without constraints, symmetric
//! and A-stable. With constraints, or with step sizes that follow the error, it is a
//! method of high order like others, and the driver projects.

use super::collocation::{Gauss, Table};

/// Its name.
pub const NAME: &str = "gauss4";

const TABLE: Table = Table {
    name: NAME,
    nodes: &[0.2113248654051871, 0.7886751345948129],
    weights: &[0.5, 0.5],
    pairs: &[(1, 0, 1.0773502691896257)],
};

/// The method for states of a size.
pub fn new(size: usize) -> Gauss {
    Gauss::new(TABLE, size)
}
