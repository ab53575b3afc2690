//! The tolerances of a setting, in one table. Each says first what it is a part or a number of; none
//! is in units of a model. Counts that only shape an algorithm are where the algorithm is.

/// The scale of each coordinate.
pub(super) mod extents {
    /// Unit: multiple of what constraints balance. Scales beyond are none.
    pub(in crate::setting) const BEYOND: f64 = 1e5;
    /// Unit: part of what constraints balance. A scale below is none.
    pub(in crate::setting) const NOTHING: f64 = 1e-8;
}

/// Rows that nearly depend on each other by their terms.
pub(super) mod terms {
    /// Unit: part of what a row was. With less left of it, it nearly depends on the others. Larger
    /// ones say the same in any case.
    pub(in crate::setting) const NEARLY: f64 = 1e-5;
    /// Unit: part of the ratio. Terms whose ratios at two points differ by more are not nearly
    /// multiples.
    pub(in crate::setting) const LIKELY: f64 = 1e-3;
}

/// Rows that doubles take for dependent, at points beside a state.
pub(super) mod dependence {
    /// Unit: extents of the coordinates. The distances of the points from the state.
    pub(in crate::setting) const DISTANCES: [f64; 3] = [0.05, 0.001, 0.008];
    /// Unit: ratio of what a row adds at one point and at the next. It does not fall by more: it
    /// would by more than 50⁴ near a singular position that is felt as little as this at the first,
    pub(in crate::setting) const FALL: f64 = 1e3;
    /// Unit: part of a row. Or at both it is less than at such a distance from a singular position.
    pub(in crate::setting) const NOWHERE: f64 = 1e-10;
    /// Unit: part of a row. Rows with less of a share in another have none, as far as doubles tell.
    pub(in crate::setting) const PART: f64 = 1e-8;
    /// Unit: part of a row. Independent rows keep at least this of themselves beside the others.
    pub(in crate::setting) const INDEPENDENT: f64 = 1e-6;
    /// Unit: part of a row. What is left of a dependent one is less.
    pub(in crate::setting) const ELSEWHERE: f64 = 1e-5;
    /// Unit: part of what a row adds to all. Rows with less of a share in it have none.
    pub(in crate::setting) const SHARE: f64 = 1e-10;
    /// Unit: last digits of rounded numbers. What so many of them can change is not determined.
    pub(in crate::setting) const LAST_DIGITS: f64 = 16.0;
    /// Unit: units of the coordinates. How far beside the state rows without a gradient are looked at,
    pub(in crate::setting) const BESIDE: f64 = 0.05;
    /// Unit: multiple of rounding. Up to it they hold there.
    pub(in crate::setting) const HOLDS: f64 = 100.0;
}
