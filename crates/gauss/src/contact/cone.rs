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
//! larger as gμN is than |s'|. A direction along which it does not begin to move is none: the others hold
//! it after all, and it is tried to stick again. Where the search does not end it begins anew from loads
//! that are near a solution ([`rub`](super::rub)), by [`trials_of`]. Coulomb's cone in space is no convex
//! problem: whether a solution is the only one is asked there as well.

use crate::linalg::{dot, norm};

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
/// So often what has been let go and does not move is tried to stick again.
const RETURNS: usize = 20;
/// |T| may be above its bound by this part.
const ABOVE: f64 = 2e-13;

/// The next trials; `None` if these hold. `round` counts them.
pub fn next(trials: &[Trial], tried: &[Tried], round: usize) -> Option<Vec<Trial>> {
    let mut next = trials.to_vec();
    let mut changes = false;
    // One after the other: who needs most of its bound, as a part of it, breaks away first.
    let need = |at: usize| {
        let t = &tried[at];
        let part = norm(&t.force) / t.bound;
        if part.is_nan() { 0.0 } else { part }
    };
    let sticks =
        (0..trials.len()).filter(|&at| trials[at] == Trial::Stick && need(at) > 1.0 + ABOVE);
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
    if !changes {
        for (at, trial) in trials.iter().enumerate() {
            let Trial::Begins(direction) = trial else { continue };
            let along = dot(&tried[at].rate, direction);
            let stays = along < tried[at].small && round < RETURNS;
            if stays || along < -tried[at].small {
                next[at] = Trial::Stick;
                changes = true;
            }
        }
    }
    changes.then_some(next)
}

/// By how much trials are against their law, as a part of what holds: 0 if they are not.
pub fn against(trials: &[Trial], tried: &[Tried]) -> f64 {
    let of = |(trial, tried): (&Trial, &Tried)| match trial {
        Trial::Moves(_) => 0.0,
        Trial::Stick => {
            let part = norm(&tried.force) / tried.bound;
            if part > 1.0 + ABOVE { part - 1.0 } else { 0.0 }
        }
        Trial::Begins(direction) => {
            let held = tried.mobility * tried.bound;
            let along = dot(&tried.rate, direction);
            let off = tried.rate.iter().zip(direction).map(|(r, d)| r - along * d);
            let off = norm(&off.collect::<Vec<f64>>());
            let off = if off > NEARLY * (held + along.abs()) + tried.small { off } else { 0.0 };
            let back = if along < -tried.small { -along } else { 0.0 };
            (off + back) / (held + along.abs()).max(f64::MIN_POSITIVE)
        }
    };
    trials.iter().zip(tried).map(of).fold(0.0, f64::max)
}

/// Loads within this part of their bound are tried to stick.
const WITHIN: f64 = 1e-7;

/// The trials that go with loads, by the bounds and forces of each slip; those that slip already stay.
pub fn trials_of(trials: &[Trial], bounds: &[f64], forces: &[Vec<f64>]) -> Vec<Trial> {
    let of = |(trial, (bound, force)): (&Trial, (&f64, &Vec<f64>))| {
        let length = norm(force);
        match trial {
            Trial::Moves(_) => trial.clone(),
            _ if !(length > 0.0) || length < bound * (1.0 - WITHIN) => Trial::Stick,
            _ => Trial::Begins(force.iter().map(|f| -f / length).collect()),
        }
    };
    trials.iter().zip(bounds.iter().zip(forces)).map(of).collect()
}
