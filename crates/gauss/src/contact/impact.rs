//! Impacts: velocities that jump.
//!
//! ```text
//! Γ(v⁺ − v⁻) = AᵀΛ + GᵀP + Wᵀp ,   0 ≤ P ⊥ g'⁺ + e g'⁻ ≥ 0 ,   |p| ≤ μP against s⁺
//! ```
//!
//! (Moreau 1988): the problem of [`decide`](super::decide()) with g'⁺ + e g'⁻ in place of g'' and s⁺ in
//! place of s'. Where several contacts touch there are two readings. *Together*: all of them take
//! part at once. *In turn*: those that approach, all of them at once, again and again until none
//! does, as momentum runs through Newton's cradle; if that does not end, its limit. Bounds that
//! are forces (not proportional to loads) give no impulse.
//!
//! The energy changes by ½ Σ f (a⁻ + a⁺) as seen by the walls. That is not positive without
//! restitution, nor with equal e without friction; restitution with friction, or unequal e, may gain
//! (Kane 1984), which is told.

use super::decide::{Decision, Found, decide};
use super::{Law, Mode, Slip, Space, Touch};
use crate::linalg::{dot, norm};
use std::ops::Range;

/// A contact in an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Struck {
    /// The contact.
    pub touch: Touch,
    /// e.
    pub restitution: f64,
}

impl Struck {
    /// The rows of its slip.
    pub fn slips(&self) -> Range<usize> {
        let one = self.touch.slip.map(|row| row..row + 1);
        one.or(self.touch.held.map(|(from, to)| from..to)).unwrap_or(0..0)
    }
}

/// What an impact does.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// Impulses by row, scaled.
    pub loads: Vec<f64>,
    /// Velocities of the rows after it, scaled.
    pub after: Vec<f64>,
    /// By how much the energy changes, as seen by the walls.
    pub energy: f64,
    /// How many times contacts approached: 1 where they act together.
    pub rounds: usize,
}

/// Why an impact has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum ImpactError {
    /// No modes are possible.
    None,
    /// Several outcomes are: the modes of two.
    Several(Vec<Vec<Mode>>),
    /// Contacts approach again and again, without a limit.
    Endless,
}

/// Most rounds.
const MOST: usize = 20_000;
/// Velocities below this part of the largest before are 0 after many rounds.
const GONE: f64 = 1e-13;

/// All contacts at once. The space has the velocities before as its values without loads.
pub fn strike_together(space: &Space, struck: &[Struck]) -> Result<Impact, ImpactError> {
    let all = vec![true; struck.len()];
    let loads = strike_some(space, struck, &all)?;
    Ok(Impact::of(space, loads, 1))
}

/// Those that approach, until none does.
pub fn strike_in_turn(space: &Space, struck: &[Struck]) -> Result<Impact, ImpactError> {
    in_turn(space, struck, &mut |now, act| strike_some(now, struck, act))
}

/// What gives the impulses of those contacts that are marked.
pub type Strike<'a, E> = dyn FnMut(&Space, &[bool]) -> Result<Vec<f64>, E> + 'a;

/// The same where somebody else knows the impulses of some of them, which are those that approach, at
/// velocities that are the values of a space.
pub fn in_turn<E: From<ImpactError>>(
    space: &Space,
    struck: &[Struck],
    strike: &mut Strike<'_, E>,
) -> Result<Impact, E> {
    let mut loads = vec![0.0; space.rows()];
    let mut now = space.clone();
    now.whole = norm(&space.free);
    let normals = || struck.iter().filter_map(|s| s.touch.normal);
    let first = normals().fold(0f64, |m, row| m.max(-space.free[row]));
    for round in 0..MOST {
        let approaches: Vec<bool> = struck
            .iter()
            .map(|s| {
                let limit = |row: usize| (2.0 * space.noise[row]).max(GONE * first);
                s.touch.normal.is_some_and(|row| now.free[row] < -limit(row))
            })
            .collect();
        if !approaches.contains(&true) {
            return Ok(Impact::of(space, loads, round));
        }
        let more = strike(&now, &approaches)?;
        loads.iter_mut().zip(&more).for_each(|(l, m)| *l += m);
        now.free = space.accelerations(&loads);
    }
    Err(ImpactError::Endless.into())
}

/// The impulses of some contacts.
pub fn strike_some(
    space: &Space,
    struck: &[Struck],
    act: &[bool],
) -> Result<Vec<f64>, ImpactError> {
    let motions = outcomes(space, struck, act);
    match &motions[..] {
        [] => Err(ImpactError::None),
        [only] => Ok(only.loads.clone()),
        several => Err(ImpactError::Several(several.iter().map(|f| f.modes.clone()).collect())),
    }
}

/// All outcomes for some contacts.
pub fn outcomes(space: &Space, struck: &[Struck], act: &[bool]) -> Vec<Found> {
    let mut space = space.clone();
    let mut touches = Vec::new();
    for (s, _) in struck.iter().zip(act).filter(|(_, act)| **act) {
        let Some(normal) = s.touch.normal else { continue };
        // g'⁺ + e g'⁻ = g'⁻ + e g'⁻ + what impulses add.
        if s.restitution != 0.0 {
            space.free[normal] *= 1.0 + s.restitution;
        }
        let law = match s.touch.law {
            Law::Bound(_) => Law::Coefficient(0.0),
            law => law,
        };
        // A direction that is given (by a search, see `cone`) is kept.
        let moves = if s.touch.must_slip { s.touch.moves } else { Slip::None };
        touches.push(Touch { moves, must_slip: false, law, ..s.touch });
    }
    let Decision { motions, .. } = decide(&space, &touches);
    motions.into_iter().map(|mut ties| ties.swap_remove(0)).collect()
}

impl Impact {
    /// What impulses do.
    pub fn of(space: &Space, loads: Vec<f64>, rounds: usize) -> Impact {
        let mut after = space.accelerations(&loads);
        // What came to rest did so exactly.
        for (after, noise) in after.iter_mut().zip(&space.noise) {
            if after.abs() <= *noise {
                *after = 0.0;
            }
        }
        let energy = 0.5 * (dot(&loads, &space.free) + dot(&loads, &after));
        Impact { loads, after, energy, rounds }
    }
}
