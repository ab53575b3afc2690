//! Many cases of one model: what is varied, on which threads, into which files.
//!
//! A study knows nothing of mechanics. Its work is a function from the values of a case to a row
//! of numbers (and, if asked for, a table of its own), or to a reason why there is none. Around it:
//!
//! ```text
//! axes      what is varied, as it is written: `m = 1..2:0.1, x ~ normal(0, 1)`
//! sampling  where in the unit cube a case lies: grid, random, Sobol's points
//! plan      the values of case k, from k alone
//! pool      threads, each taking the next case that nobody has
//! store     a folder: finished parts as Parquet, the others as journals, so that a study that
//!           was killed goes on where it was
//! summary   mean, deviation, extremes of each column, summed in the order of cases
//! ```
//!
//! Every case depends on its number only. So neither the number of threads nor the order in which
//! cases end, nor how often the study was killed, changes a digit of what comes out.

pub mod axes;
pub mod plan;
pub mod pool;
pub mod sampling;
pub mod store;
pub mod study;
pub mod summary;
pub mod table;
