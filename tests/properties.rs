//! What holds for every system, tried on thousands of random ones: two to six
//! coordinates, singular masses, dependent rows, explicit time, rows nonlinear in the
//! velocities, non-ideal constraints, quasi-velocities.
//!
//! Systems are model text, made from an index alone; a failure prints both. Every
//! property is also tried on wrong variants, which it has to notice. Differences are
//! measured in tolerances of 10³ ε (cond B + cond NᵀMN).

#[path = "properties/agreement.rs"]
mod agreement;
#[path = "properties/case.rs"]
mod case;
#[path = "properties/charts.rs"]
mod charts;
#[path = "properties/dense.rs"]
mod dense;
#[path = "properties/energy.rs"]
mod energy;
#[path = "properties/frozen.rs"]
mod frozen;
#[path = "properties/measure.rs"]
mod measure;
#[path = "properties/random.rs"]
mod random;
#[path = "properties/rows.rs"]
mod rows;
#[path = "properties/speeds.rs"]
mod speeds;
#[path = "properties/status.rs"]
mod status;
mod support;
#[path = "properties/system.rs"]
mod system;
#[path = "properties/units.rs"]
mod units;
#[path = "properties/writer.rs"]
mod writer;
