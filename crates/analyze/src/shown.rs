//! How a claim was established.

/// How a claim was established.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// On the expressions, for every state.
    Symbolic,
    /// By exact or certified arithmetic at random points; wrong with at most this
    /// probability.
    RandomPoints {
        /// How many.
        points: usize,
        /// A bound on the probability that it is wrong; `None` where only numbers
        /// in floating point were compared.
        error: Option<f64>,
    },
    /// Along a simulated motion, up to this relative change.
    AlongMotion {
        /// The largest relative deviation seen.
        deviation: f64,
        /// How long the motion was.
        duration: f64,
    },
    /// At one state only.
    AtState,
}

impl Shown {
    /// The word of the JSON field `shown`.
    pub fn name(&self) -> &'static str {
        match self {
            Shown::Symbolic => "symbolic",
            Shown::RandomPoints { .. } => "random points",
            Shown::AlongMotion { .. } => "along a motion",
            Shown::AtState => "at a state",
        }
    }
}
