//! Events: zeros of functions of the state, and on which side of them a motion goes on.

pub(in crate::drive) mod accumulation;
pub(in crate::drive) mod at_zero;
pub(in crate::drive) mod functions;
pub(in crate::drive) mod land;
mod loads;
mod locate;
mod rest;
