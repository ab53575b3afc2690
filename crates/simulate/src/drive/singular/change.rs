//! Changes of the rank on the way.

/// A change of rank on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct RankChange {
    /// When.
    pub t: f64,
    /// The rank before.
    pub before: usize,
    /// The rank at the position.
    pub at: usize,
    /// The rank after, if the motion went on.
    pub after: Option<usize>,
    /// Constraints that become dependent there.
    pub constraints: Vec<usize>,
    /// Why the motion did not go on; `None` if it did.
    pub stopped: Option<Unresolved>,
}

/// Why the motion does not go on from a position where the rank drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// It arrives there at rest, and could leave by any branch.
    AtRest,
    /// It starts there with a velocity that is tangent to no branch.
    NoBranch,
    /// No smooth motion through it was found.
    NotSmooth,
}

impl Unresolved {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Unresolved::AtRest => "it is at rest there and could go on in more than one way",
            Unresolved::NoBranch => "its velocity is along none of the ways it could go on",
            Unresolved::NotSmooth => "no smooth motion through it was found",
        }
    }
}
