//! Rounding noise: of a number, and of the rows of a state.
//!
//! Nothing is compared with zero by size alone; this is what it is compared with.

mod number;
mod shaken;
pub(crate) mod state;

pub use number::{Noisy, Running};
pub use shaken::{SAFETY, Shaken, TRIES};
