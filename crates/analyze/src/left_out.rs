//! What was not looked at because a system is large, and why.

use std::fmt;

/// The most coordinates, or constraint rows, of what takes matrices with all their zeros, or
/// expressions that grow with the square of the size.
pub const LARGEST: usize = 1000;

/// A part of an analysis that was left out: the system has more than [`LARGEST`] coordinates or
/// constraint rows, what fills in has no bound, or M is that of bodies along a tree and not formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Other states than the start: the constraints share coordinates over so many rows that
    /// none was reached.
    States,
    /// Which rows depend on each other.
    DependentSets,
    /// Whether rows at velocity level can be integrated, and with it potentials and the bracket.
    Integrability,
    /// What is conserved.
    Integrals,
}

impl LeftOut {
    /// A name for programs.
    pub fn name(self) -> &'static str {
        match self {
            LeftOut::States => "states",
            LeftOut::DependentSets => "dependent-sets",
            LeftOut::Integrability => "integrability",
            LeftOut::Integrals => "integrals",
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            LeftOut::States => {
                return write!(
                    f,
                    "states beside the start: the constraints are too many, and too entangled, to \
                     be moved along"
                );
            }
            LeftOut::DependentSets => "which rows depend on each other",
            LeftOut::Integrability => {
                "whether rows at velocity level integrate, relations behind them, the bracket"
            }
            LeftOut::Integrals => {
                return write!(
                    f,
                    "what is conserved, and ignorable coordinates: more than {LARGEST} coordinates \
                     or constraint rows, or a mass matrix along a tree, which is not formed"
                );
            }
        };
        write!(f, "{what}: more than {LARGEST} coordinates or constraint rows")
    }
}

/// Whether a system is too large for what takes matrices with all their zeros.
pub(crate) fn is_large(n: usize, m: usize) -> bool {
    n.max(m) > LARGEST
}
