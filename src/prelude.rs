//! What programs that build, run and compile models need: `use dalembert::prelude::*`.

pub use crate::compiled::{Compiled, StateTerms, Work};
pub use crate::error::{Error, ErrorKind};
pub use crate::key::Key;
pub use crate::mechanics::Mechanics;
pub use crate::sample::{Moment, Sample};
pub use crate::simulation::Simulation;
pub use crate::trajectory::Trajectory;
pub use dalembert_model::build::{Builder, Handle, Quantity};
pub use dalembert_model::system::Model;
pub use dalembert_simulate::drive::{End, Stabilize};
