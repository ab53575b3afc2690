//! What is said of a model at one state: the answer of each formulation and elimination, how
//! far they agree, and the whole report.

mod agreement;
pub mod report;
mod routes;

pub use agreement::{Scales, agreement, difference};
pub use routes::{Answer, Evaluation, Reference, Refusal, evaluate};
