//! Switching functions (`abs`, `sign`, `min`, `max`, `if`): where they turn, on which side the
//! motion goes on, and what may not jump there.

pub(in crate::drive) mod departure;
pub(in crate::drive) mod jump;
mod turns;
