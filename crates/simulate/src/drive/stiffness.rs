//! When a motion is stiff: steps of an explicit method are as long as its stability
//! allows, again and again, and not as long as the error would.
//!
//! Hairer & Wanner II, IV.2: an estimate of h|λ| from two states at the end of a step.
//! Fifteen steps at the edge, with fewer than six others between them, are no accident. The
//! estimate takes the rates where a step ends; while nothing is suspected and constraints move that
//! end, so that these rates serve nothing else, only every fourth step is looked at.

use super::{Driver, Stabilize};

/// So many steps at the edge are stiff,
const MANY: u32 = 15;
/// and so many that are not begin the count anew.
const ENOUGH: u32 = 6;
/// While none is at the edge, one in so many is looked at.
const SELDOM: u64 = 4;

impl Driver {
    /// Whether the next step is looked at.
    pub(super) fn looks_for_stiffness(&self) -> bool {
        let is_projected = self.control.stabilize == Stabilize::Projection
            && !self.field.equations.rows.is_empty();
        !(is_projected && self.adapts())
            || self.looks.0 > 0
            || self.statistics.steps.is_multiple_of(SELDOM)
    }

    /// Takes the last step into the count; true once the motion is stiff.
    pub(super) fn is_stiff(&mut self) -> bool {
        if self.stiff.is_some() || self.control.step.is_some() {
            return self.stiff.is_some();
        }
        let Some(look) = self.integrator.stiffness() else { return false };
        if look.h_lambda > look.limit {
            self.looks = (self.looks.0 + 1, 0);
        } else {
            self.looks.1 += 1;
            if self.looks.1 >= ENOUGH {
                self.looks = (0, 0);
            }
        }
        if self.looks.0 >= MANY {
            self.stiff = Some((self.t, look));
        }
        self.stiff.is_some()
    }
}
