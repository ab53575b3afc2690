//! The Gauss method with 3 stages, of order 6: see `collocation.rs`.
//!
//! Symplectic at constant steps for Hamilton's equations without constraints, symmetric
//! and A-stable. With constraints, or with step sizes that follow the error, it is a
//! method of high order like others, and the driver projects.

use super::collocation::{Gauss, Table};

/// Its name.
pub const NAME: &str = "gauss6";

const TABLE: Table = Table {
    name: NAME,
    nodes: &[0.11270166537925831, 0.5, 0.8872983346207417],
    weights: &[0.2777777777777778, 0.4444444444444444, 0.2777777777777778],
    pairs: &[(1, 0, 1.0809475019311126), (2, 0, 0.96475800154489), (2, 1, 1.0809475019311126)],
};

/// The method for states of a size.
pub fn new(size: usize) -> Gauss {
    Gauss::new(TABLE, size)
}
