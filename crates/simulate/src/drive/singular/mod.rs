//! Singular positions: where the constraints lose a rank, how far they are, and the step across.

pub(in crate::drive) mod change;
pub(in crate::drive) mod collocation;
pub(in crate::drive) mod cross;
mod distance;
mod step;
