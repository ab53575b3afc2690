//! Slips of several components: Coulomb's cone.
//!
//! A contact in space sticks with T anywhere in the cone |T| ≤ μN, or slips with T = −μN d, d the direction
//! of its slip; where the slip is 0 still, that of s'. With the directions given it is the problem of
//! one component along each d. They are found by a search: what is tried to stick and needs more than
//! μN slips the way it is pulled; then d ← s'/|s'| until that changes nothing,
//!
//! ```text
//! d = s'(d) / |s'(d)| ,
//! ```
//!
//! of which the step is d ← (s' + gμN d)/|s' + gμN d|, g the largest of what a force does to a component of
//! s': what pulls, without the friction. It is one step where slips do not couple, also where friction
//! leaves next to nothing of the pull: s'/|s'| itself would be turned by every error of d, as often
//! larger as gμN is than |s'|. Coulomb's cone in space is no convex problem, so that this
//! solution is the only one is not proved.

use crate::linalg::norm;

/// How a slip of several components is tried.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// Held.
    Stick,
    /// Slipping to a unit vector, since it slips there already.
    Moves(Vec<f64>),
    /// Slipping to a unit vector that is looked for.
    Begins(Vec<f64>),
}

/// What a trial led to, for one slip.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// T, where it was held.
    pub force: Vec<f64>,
    /// What it may be.
    pub bound: f64,
    /// s'.
    pub rate: Vec<f64>,
    /// Rates below this are 0.
    pub small: f64,
    /// The largest s' that a force of 1 along a component gives that component.
    pub mobility: f64,
}

/// Trials differ by less than this in the end,
const SAME: f64 = 1e-12;
/// or by less than this after many.
const NEARLY: f64 = 1e-8;
/// |T| may be above its bound by this part.
const ABOVE: f64 = 1e-11;

/// The next trials; `None` if these hold. `round` counts them.
pub fn next(trials: &[Trial], tried: &[Tried], round: usize) -> Option<Vec<Trial>> {
    let mut next = trials.to_vec();
    let mut changes = false;
    // One after the other: who needs most of its bound breaks away first.
    let need = |at: usize| {
        let t = &tried[at];
        norm(&t.force) - t.bound * (1.0 + ABOVE)
    };
    let sticks = (0..trials.len()).filter(|&at| trials[at] == Trial::Stick && need(at) > 0.0);
    if let Some(first) = sticks.max_by(|&a, &b| need(a).total_cmp(&need(b))) {
        let length = norm(&tried[first].force);
        next[first] = Trial::Begins(tried[first].force.iter().map(|f| -f / length).collect());
        return Some(next);
    }
    for (at, trial) in trials.iter().enumerate() {
        let Trial::Begins(direction) = trial else { continue };
        let rate = &tried[at].rate;
        let length = norm(rate);
        if !(length > tried[at].small) {
            // It does not move that way: at the bound, to rounding.
            continue;
        }
        let held = tried[at].mobility * tried[at].bound;
        let held = if held.is_finite() { held.max(0.0) } else { 0.0 };
        let pull: Vec<f64> = rate.iter().zip(direction).map(|(r, d)| r + held * d).collect();
        let length = norm(&pull);
        let turned: Vec<f64> = pull.iter().map(|p| p / length).collect();
        let apart: Vec<f64> = turned.iter().zip(direction).map(|(a, b)| a - b).collect();
        let apart = norm(&apart);
        if apart > SAME && !(round > 60 && apart < NEARLY) {
            next[at] = Trial::Begins(turned);
            changes = true;
        }
    }
    changes.then_some(next)
}
