//! The Gauss method with 4 stages, of order 8: see `collocation.rs`.
//!
//! Symplectic at constant steps for Hamilton's equations without constraints, symmetric
//! and A-stable. With constraints, or with step sizes that follow the error, it is a
//! method of high order like others, and the driver projects.

use super::collocation::{Gauss, Table};

/// Its name.
pub const NAME: &str = "gauss8";

const TABLE: Table = Table {
    name: NAME,
    nodes: &[0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970263],
    weights: &[0.17392742256872692, 0.32607257743127305, 0.32607257743127305, 0.17392742256872692],
    pairs: &[
        (1, 0, 1.08158975003228),
        (2, 0, 0.9612740734321142),
        (3, 0, 1.0204404206840407),
        (2, 1, 1.0855037514105192),
        (3, 1, 0.9612740734321142),
        (3, 2, 1.08158975003228),
    ],
};

/// The method for states of a size.
pub fn new(size: usize) -> Gauss {
    Gauss::new(TABLE, size)
}
