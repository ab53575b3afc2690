//! What an arena remembers of its expressions beside their derivatives.

/// What a zero test found, and how far to trust it: see [the zero test](crate::zero).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zero {
    /// The canonical form is the number 0.
    Structural,
    /// It is 0 at all points that were tried.
    Sampled {
        /// How many points.
        points: u32,
        /// A bound on the probability that an expression passes which is not 0.
        probability: f64,
        /// Whether the points were evaluated in exact arithmetic.
        exact: bool,
    },
    /// Certainly not 0.
    Nonzero,
    /// Undefined at all points tried, or balls did not shrink.
    Unknown,
}

impl Zero {
    /// Whether it is 0 as far as can be told.
    pub fn is_zero(&self) -> bool {
        matches!(self, Zero::Structural | Zero::Sampled { .. })
    }

    /// Whether it is certainly not 0.
    pub fn is_nonzero(&self) -> bool {
        matches!(self, Zero::Nonzero)
    }
}
