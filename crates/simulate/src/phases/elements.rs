//! What takes part in a decision: contacts and frictions with their rows in the space.

use crate::phases::Fault;
use crate::phases::facts::{FactsAt, Row};
use crate::phases::settle::{Deciding, along};
use dalembert_gauss::contact::cone::Trial;
use dalembert_gauss::contact::decide::{Found, Held};
use dalembert_gauss::contact::{Law, Slip, Space, Touch, Touches};
use std::ops::Range;

/// The elements of a decision: contacts and frictions with their rows in the space.
pub(super) struct Elements {
    pub(super) touches: Touches,
    pub(super) held: Vec<Held>,
    /// Of each element its contact, and its friction.
    pub(super) of: Vec<(Option<usize>, Option<usize>)>,
    /// By friction, how a slip of several components is tried, and its rows.
    pub(super) trials: Vec<Option<Trial>>,
    pub(super) rows: Vec<Range<usize>>,
    /// By friction, the bounds that go with the loads.
    pub(super) bounds: Vec<[f64; 2]>,
    /// Whether it is proved that there is no other motion.
    pub(super) proved: bool,
}

/// What touches, and how it slips.
#[derive(Clone, Copy)]
pub(super) struct Touching<'a> {
    pub(super) at: &'a FactsAt,
    pub(super) resting: &'a [bool],
    pub(super) slips: &'a [Vec<f64>],
}

/// All modes of a motion.
pub(super) type Tied = (Vec<Found>, Space, Elements);

impl Elements {
    /// Slips that other rows lead begin as these say: no friction has anything to decide there.
    pub(super) fn led(&mut self, space: &Space) {
        for Held { touch, .. } in &mut self.held {
            let Some(row) = touch.slip.filter(|&row| space.is_led(row)) else { continue };
            let (rate, noise) = (space.free[row], space.noise[row]);
            if touch.moves == Slip::None && rate.abs() > noise {
                touch.moves = if rate > 0.0 { Slip::Forwards } else { Slip::Backwards };
            }
        }
    }
}

impl Deciding<'_> {
    /// What takes part in a decision.
    pub(super) fn elements(
        &self,
        at: &FactsAt,
        resting: &[bool],
        slips: &[Vec<f64>],
        bounds: &[[f64; 2]],
        trials: &[Option<Trial>],
    ) -> Result<Elements, Fault> {
        let mut elements = Elements {
            touches: Touches::default(),
            held: Vec::new(),
            of: Vec::new(),
            trials: trials.to_vec(),
            rows: vec![0..0; trials.len()],
            bounds: bounds.to_vec(),
            proved: true,
        };
        let touches = &mut elements.touches;
        let mut add = |row: &Row| {
            touches.rows.push(row.entries.clone());
            touches.bias.push(row.bias);
            touches.rows.len() - 1
        };
        let moves = |f: usize| match slips[f][0] {
            _ if trials[f].is_some() => Slip::Forwards,
            v if v > 0.0 => Slip::Forwards,
            v if v < 0.0 => Slip::Backwards,
            _ => Slip::None,
        };
        let bound = |f: usize| match bounds[f] {
            [a, b] if !a.is_finite() || !b.is_finite() => Err(Fault::NoValue),
            [a, b] if a < 0.0 || b < 0.0 => Err(Fault::Negative { friction: f, bound: a.min(b) }),
            // What holds is not less than what it gives while it slips.
            [a, b] => Ok([a, b.max(a)]),
        };
        // The row of a slip, or those that are held.
        let mut slide = |f: usize, elements_rows: &mut Vec<Range<usize>>| {
            let rows = match &trials[f] {
                Some(Trial::Stick) => at.slips[f].held(),
                _ => &at.slips[f].rows,
            };
            let list: Vec<usize> = rows.iter().map(&mut add).collect();
            let range = list[0]..list[0] + list.len();
            elements_rows[f] = range.clone();
            match &trials[f] {
                None => (Some(range.start), None),
                Some(Trial::Stick) => (None, Some((range.start, range.end))),
                Some(Trial::Moves(d) | Trial::Begins(d)) => (Some(add(&along(rows, d))), None),
            }
        };
        let mut rows = std::mem::take(&mut elements.rows);
        let mut of = Vec::new();
        let mut held = Vec::new();
        for c in (0..at.gaps.len()).filter(|&c| resting[c]) {
            let friction = self.model.system.contacts[c].friction;
            let (slip, fixed) = friction.map_or((None, None), |f| slide(f, &mut rows));
            let [mu, at_rest] = friction.map_or(Ok([0.0; 2]), bound)?;
            let at_rest = if friction.is_some_and(|f| trials[f].is_some()) { mu } else { at_rest };
            let law = Law::Coefficient(mu);
            let moves = friction.map_or(Slip::None, moves);
            let touch = Touch { normal: None, slip, law, moves, must_slip: false, held: fixed };
            held.push(Held { touch, at_rest: Law::Coefficient(at_rest) });
            of.push((Some(c), friction));
        }
        for f in (0..at.slips.len()).filter(|&f| at.slips[f].contact.is_none()) {
            let (slip, fixed) = slide(f, &mut rows);
            let [own, at_rest] = bound(f)?;
            let at_rest = if trials[f].is_some() { own } else { at_rest };
            let law = Law::Bound(own);
            let touch =
                Touch { normal: None, slip, law, moves: moves(f), must_slip: false, held: fixed };
            held.push(Held { touch, at_rest: Law::Bound(at_rest) });
            of.push((None, Some(f)));
        }
        // Normals come last, so that `add` is free again.
        for (held, of) in held.iter_mut().zip(&of) {
            if let Some(c) = of.0 {
                held.touch.normal = Some(add(&at.gaps[c].row));
            }
        }
        (elements.rows, elements.of, elements.held) = (rows, of, held);
        Ok(elements)
    }
}
