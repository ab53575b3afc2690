//! One file a command.

pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod derive;
pub(crate) mod eval;
pub(crate) mod expand;
pub(crate) mod explain;
pub(crate) mod gallery;
pub(crate) mod help;
pub(crate) mod linearize;
pub(crate) mod new;
mod options;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sweep;
pub(crate) mod verdict;
pub(crate) mod view;
