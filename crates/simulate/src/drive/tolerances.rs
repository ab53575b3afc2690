//! The tolerances of the driver, in one table. Each says first what it is a part or a number of;
//! none is in units of a model. Counts that only shape an algorithm are where the algorithm is.

/// What a step leaves of the constraints.
pub(super) mod constraints {
    /// Unit: part of the terms in a row. A projection that leaves more than this has not found
    /// the constraints.
    pub(in crate::drive) const HELD: f64 = 1e-10;
    /// Unit: part of the terms in a row. Rows that are left out because they depend on others are
    /// met like these; where more than this is left of them, they do not.
    pub(in crate::drive) const IMPLIED: f64 = 5e-13;
    /// Unit: part of the terms in a row. Smaller residuals are rounding.
    pub(in crate::drive) const ROUNDING: f64 = 64.0 * f64::EPSILON;
    /// Unit: part of the terms in a row. Larger residuals are never what rounding leaves of weak
    /// constraints.
    pub(in crate::drive) const WEAK: f64 = 1e-7;
    /// Unit: part of a projection's correction. What counts of it as an error of the step.
    pub(in crate::drive) const SHARE: f64 = 0.15;
}

/// What local errors are measured by.
pub(super) mod scales {
    /// Unit: part of the largest |v_i| so far. What a velocity keeps of it as its size.
    pub(in crate::drive) const KEEPS: f64 = 0.1;
    /// Unit: part of a number. Its rounding errors.
    pub(in crate::drive) const DIGITS: f64 = 4.0 * f64::EPSILON;
    /// Unit: part of a step. A step this much shorter tells a rounding error from one of the
    /// method.
    pub(in crate::drive) const SHORTER: f64 = 0.5;
    /// Unit: ratio of errors to the square of the ratio of steps. What falls less than this is no
    /// error of the method.
    pub(in crate::drive) const FALLS: f64 = 0.6;
    /// Unit: part of the allowed error. Errors above this limit the steps.
    pub(in crate::drive) const LOW: f64 = 0.01;
    /// Unit: part of what the energy could do to a component. Below this a component hardly
    /// moves.
    pub(in crate::drive) const HARDLY: f64 = 1e-4;
    /// Unit: part of the largest, in units of equal mass. Where constraints join coordinates none
    /// is measured by less than this: each is what the others leave to it.
    pub(in crate::drive) const TOGETHER: f64 = 1e-3;
    /// Unit: part of the mass that a component has nearby. With less it is taken for one without:
    /// [`TOGETHER`] in units of so little mass would be all of it.
    pub(in crate::drive) const LIGHT: f64 = TOGETHER * TOGETHER;
    /// Unit: part of the largest, in units of equal mass. The same where only forces and masses
    /// join them.
    pub(in crate::drive) const COUPLED: f64 = 1e-6;
    /// Unit: ratio of steps. Within this, steps move components as far.
    pub(in crate::drive) const ALIKE: f64 = 1.25;
    /// Unit: part of the run. The shortest first step that is looked for.
    pub(in crate::drive) const LEAST: f64 = 1e-6;
    /// Unit: part of the tolerance times the kinetic energy, twice and at most. What the work of a
    /// step may be off by.
    pub(in crate::drive) const WORK: f64 = 1.0;
    /// Unit: part of the tolerance times what the energy could do. What a component without a
    /// size may be off by.
    pub(in crate::drive) const SHARE: f64 = 1e-3;
    /// Unit: what numbers have, whatever they are in. Smaller sizes are measured by this, so that
    /// what is left of digits below the least normal number is no error.
    pub(in crate::drive) const TINY: f64 = 1e-270;
    /// Unit: part of what the largest rate makes of a component in the time of the run. Smaller sizes
    /// are measured by this where nothing moves yet.
    pub(in crate::drive) const FAR_BELOW: f64 = 1e-40;
    /// Unit: the least size. What has at most so many rests.
    pub(in crate::drive) const RESTS: f64 = 1e10;
    /// Unit: what numbers have, whatever they are in. What is larger moves.
    pub(in crate::drive) const STILL: f64 = 1e-100;
    /// Unit: ratio of forces, in units of equal mass. Where they have grown by more than this, or
    /// fallen by its square, what rounding does to them is measured again.
    pub(in crate::drive) const GROWN: f64 = 4.0;
    /// Unit: what rounding does to a component in a step. What has moved by less has no size.
    pub(in crate::drive) const SHAKEN: f64 = 8.0;
    /// Unit: part of what the energy could do. Errors that are taken for rounding are below this.
    pub(in crate::drive) const SMALL: f64 = 1e-8;
}

/// When the chart of the velocities is changed.
pub(super) mod charts {
    /// Unit: entry of S. A chart with larger entries is ill-conditioned.
    pub(in crate::drive) const ILL_CONDITIONED: f64 = 10.0;
    /// Unit: entry of S. No step may end where entries are above this: S amplifies the errors of
    /// the velocities it is applied to, which the error estimate does not see.
    pub(in crate::drive) const TOO_STEEP: f64 = 4.0 * ILL_CONDITIONED;
    /// Unit: entry of S. Entries that change their sign in a step while they are above this did
    /// so at a pole.
    pub(in crate::drive) const FLIP: f64 = 0.5;
}

/// Functions on the polynomial of a step.
pub(super) mod sampling {
    /// Unit: part of the largest value. What a polynomial and the function it stands for may
    /// differ by.
    pub(in crate::drive) const FOLLOWS: f64 = 1e-3;
}

/// Zeros of event functions.
pub(super) mod events {
    /// Unit: rounding errors. Values this many times the errors at zero have left it.
    pub(in crate::drive) const LEFT: f64 = 4.0;
    /// Unit: part of the terms. Smaller slopes are rounding.
    pub(in crate::drive) const SLOPE: f64 = 1e-11;
    /// Unit: part of the terms. Smaller values at the start are zero.
    pub(in crate::drive) const START: f64 = 64.0 * f64::EPSILON;
    /// Unit: part of the usual value. Values after a jump are above this.
    pub(in crate::drive) const JUMP: f64 = 1e-3;
    /// Unit: part of the terms. A guard may be so far beyond zero where it begins.
    pub(in crate::drive) const BEYOND: f64 = 1e-10;
    /// Unit: part of the terms. Error of what is read off an observation.
    pub(in crate::drive) const OBSERVED: f64 = 1e-12;
    /// Unit: part of the change. What the integral and the change of a function may differ by
    /// beyond rounding.
    pub(in crate::drive) const FOLLOWS: f64 = 0.1;
    /// Unit: part of the largest value. Smaller values do not count.
    pub(in crate::drive) const COUNTS: f64 = 1e-13;
    /// Unit: ratio. No function is this many times as large at twice the time.
    pub(in crate::drive) const STEEPEST: f64 = 1024.0;
    /// Unit: usual values. A value this many times the usual one is a pole, not a zero.
    pub(in crate::drive) const POLE: f64 = 10.0;
    /// Unit: part of the usual value. A value beside a boundary that is above this is not 0
    /// there.
    pub(in crate::drive) const VANISHES: f64 = 1e-3;
    /// Unit: part of the value at the nearest distance. Nor is one whose limit at the boundary is
    /// above this.
    pub(in crate::drive) const LIMIT: f64 = 0.05;
    /// Unit: part of the step, for times of the size of a step. The nearest distance d of d, 16 d
    /// and 256 d, at which a limit is taken.
    pub(in crate::drive) const BESIDE: f64 = 1e-10;
    /// Unit: part of the usual value. A value of this size on both sides of zero jumps through
    /// it.
    pub(in crate::drive) const JUMPS: f64 = 1e-3;
    /// Unit: part of the step. Within this a jump that has happened may be met again.
    pub(in crate::drive) const JUST: f64 = 1e-6;
    /// Unit: part of the usual value. A value below this is 0 at a cut.
    pub(in crate::drive) const ROUNDED: f64 = 1e-9;
}

/// Turns of switching functions.
pub(super) mod switching {
    /// Unit: part of the largest rate of a guard. Smaller rates of a guard are none.
    pub(in crate::drive) const LEVEL: f64 = 1e-8;
    /// Unit: part of the time. It is looked ahead at least so far.
    pub(in crate::drive) const ONWARD: f64 = 4096.0 * f64::EPSILON;
    /// Unit: part of a guard's size. A guard nearer to 0 where others turn is at 0 itself.
    pub(in crate::drive) const BESIDE: f64 = 1e-9;
    /// Unit: part of the time in which the state changes by its size. How far ahead is looked.
    pub(in crate::drive) const AHEAD: f64 = 1e-6;
    /// Unit: part of what branches differ by within a step. Larger differences at a turn are
    /// jumps if they are above [`NOISE`] as well.
    pub(in crate::drive) const PART: f64 = 1e-8;
    /// Unit: rounding errors. What jumps is above this many.
    pub(in crate::drive) const NOISE: f64 = 64.0;
    /// Unit: part of the largest value in a step. Guards below this are 0.
    pub(in crate::drive) const ROUNDED: f64 = 1e-13;
    /// Unit: rounding errors. A guard that is this many has left 0.
    pub(in crate::drive) const LEAVES: f64 = 4.0;
    /// Unit: part of a guard's size. What counts of it in the next step.
    pub(in crate::drive) const FADES: f64 = 0.5;
}

/// Positions in which a rank drops.
pub(super) mod singular {
    /// Unit: ratio of lengths of rows. Smaller ratios are a loss of rank.
    pub(in crate::drive) const LOST: f64 = 1e-5;
    /// Unit: part of the sizes of the motion. What is more than this is not taken for noise.
    pub(in crate::drive) const NOISE: f64 = 1e-10;
    /// Unit: part of the margin before. What the margin has fallen to at the ends of the next
    /// steps, if it vanishes.
    pub(in crate::drive) const GOES_ON: f64 = 0.5;
    /// Unit: part of the margin before. What it falls to at least where it vanishes, as far as a
    /// search along a foretold way comes.
    pub(in crate::drive) const VANISHES: f64 = 0.1;
    /// Unit: steps. Crossings begin at most this many steps before the position.
    pub(in crate::drive) const REACH: f64 = 2.0;
    /// Unit: steps. Crossings begin no nearer than this, if they would have to be shorter.
    pub(in crate::drive) const NEAREST: f64 = 0.05;
    /// Unit: steps. Older ends of steps are tried up to this distance.
    pub(in crate::drive) const FAR: f64 = 8.0;
    /// Unit: part of the run. Steps within this are no way from a position.
    pub(in crate::drive) const THERE: f64 = 1e-7;
    /// Unit: part of the step across. The middle in which the time of the position has to be.
    pub(in crate::drive) const MIDDLE: f64 = 0.02;
    /// Unit: part of the way to a position. Up to this it is known.
    pub(in crate::drive) const BEHIND: f64 = 0.1;
    /// Unit: part of the step across. Around the position the polynomial is better than a
    /// projection.
    pub(in crate::drive) const NEAR: f64 = 0.08;
}
