//! Which phase a state is in: who touches, what an impact does, who opens, slips and sticks.
//!
//! ```text
//! state → gaps, slips (facts) → impact, if any contact approaches → decision → phase, state
//! ```
//!
//! The mathematics without mechanics is in [`dalembert_gauss::contact`]; here its numbers are taken
//! from a model: rows and biases of all gaps and slips, bounds, restitutions, and the motion of the
//! model without contacts and dry friction. What is decided is a [`Phase`](dalembert_model::system::Phase),
//! of which the model makes one of part 1; moving in it is the business of runs.

mod ahead;
pub(crate) mod apart;
mod decide;
mod elements;
pub(crate) mod facts;
mod fault;
mod here;
pub(crate) mod lift;
pub(crate) mod piles;
pub(crate) mod rows;
mod search;
pub(crate) mod settle;
pub(crate) mod share;
mod strike;
mod told;

pub use fault::Fault;
pub use here::{Decider, Edge, EdgeOf, Here};
pub use rows::row_of;
pub use settle::Struck;
pub(crate) use settle::{Deciding, Known, Settled, Shown, Slow, reach};
