//! States that satisfy equations: the nearest to a guess, consistent starts, random
//! consistent states, what an event does to a state, and the constraints that a model implies
//! without stating them.

mod aligned;
mod balance;
pub mod hidden;
pub mod impulse;
pub mod nearest;
mod random;
mod servo;
pub mod start;
mod states;

pub use random::{random_places, random_states};
