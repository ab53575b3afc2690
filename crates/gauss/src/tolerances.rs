//! The tolerances of this layer, in one table. Each says first what it is a part or a number of;
//! none is in units of a model. Those that callers choose are [`Tolerances`](crate::terms::Tolerances);
//! counts that only shape an algorithm are where the algorithm is.

/// Units and ranks.
pub(crate) mod rank {
    /// Unit: condition number. Below it a factor is comfortably regular.
    pub(crate) const COMFORTABLE: f64 = 1e8;
    /// Unit: ratio of singular values. Between these the rank is in doubt.
    pub(crate) const GREY: (f64, f64) = (1e-14, 1e-7);
    /// Unit: factor. How far from τ a gap in the singular values may overrule τ.
    pub(crate) const AROUND: f64 = 32.0;
    /// Unit: multiple of what rounding and noise explain. Ratios above are those of rows that nearly
    /// depend on each other.
    pub(crate) const WEAK: f64 = 64.0;
    /// Unit: part of what a mass is made of nearby. One below is small at this state only.
    pub(crate) const LIGHT: f64 = 1e-10;
    /// Unit: powers of two below the largest of a row or column, in units found so far. Entries
    /// further below do not tell its size: they are small at this state only, or rounding of a zero.
    pub(crate) const CLOSE: f64 = 13.0;
    /// Unit: part of the diagonal. Pivots below are held against the noise of what was eliminated
    /// before them.
    pub(crate) const SUSPECT: f64 = 1e-4;
}

/// Factors and solutions.
pub(crate) mod solving {
    /// Unit: part of the pivot at the decision. One below has fallen.
    pub(crate) const FALLS: f64 = 1.0 / 16.0;
    /// Unit: part of its row. Solutions with pivots below are refined.
    pub(crate) const POOR: f64 = 1e-2;
    /// Unit: factor on squares. A decision holds while they are within it of what they were.
    pub(crate) const HOLDS: f64 = 4.0;
    /// Unit: part of the largest singular value. The literal formulas cut off there.
    pub(crate) const CUTOFF: f64 = 1e-12;
    /// Unit: factor on the bounds of noise.
    pub(crate) const NOISE: f64 = 16.0;
    /// Unit: part of the largest entry. Those of a reduced null vector below are zero.
    pub(crate) const VANISHING: f64 = 1e-9;
}

/// Sparse problems.
pub(crate) mod sparse {
    /// Unit: part of the diagonal. A decision by structure needs larger pivots of Γ,
    pub(crate) const REGULAR: f64 = 1e-8;
    /// and factors on it larger ones than this: one below asks for a new decision.
    pub(crate) const STILL_REGULAR: f64 = 1e-10;
    /// Unit: smallest singular value of rows of length one. Below, rows may nearly depend on each
    /// other without one that says so.
    pub(crate) const LEAST: f64 = 1e-7;
    /// Unit: part of a row of length one. Entries on the diagonal of R above are not looked at.
    pub(crate) const SUSPECT: f64 = 1e-5;
    /// Unit: multiple of ε times the terms. What is left below is rounding.
    pub(crate) const ROUNDING: f64 = 16.0;
}

/// Forces that depend on multipliers.
pub(crate) mod coupling {
    /// Unit: part of the terms. Residuals below are rounding.
    pub(crate) const SMALL: f64 = 32.0 * f64::EPSILON;
    /// Unit: part of the terms. Residuals above are no solution.
    pub(crate) const LARGE: f64 = 1e-10;
    /// Unit: part of the product of the rows' lengths. A determinant below is not positive.
    pub(crate) const SINGULAR: f64 = 1e-12;
    /// Unit: part of what a direct push does. Directions that push less along a constraint do not
    /// push along it.
    pub(crate) const DIRECTED: f64 = 1e-10;
}
