//! What may not be zero in a step of a motion abreast: functions of events, their boundaries, and
//! the guards of branches.
//!
//! On the polynomials of the step each of them is bounded, first by its values alone, then as the
//! driver does it ([`isolate`](super::super::isolate)). A step stays in its lane if all keep the side
//! of zero on which they were when the motion came; in every other case the motion leaves, also if
//! nothing happens in the end: what an event is, in which direction it counts and how it acts is
//! known to the driver alone. So no event is found here, and none is missed.
//!
//! A motion that begins has to be away from every zero by more than what the driver takes for zero
//! at a start ([`START`]); one that comes back is on the sides that the driver says.

use super::{Engine, Lane, Traveling};
use crate::drive::isolate::{Functions, whole};
use crate::drive::tolerances::events::{LEFT, START};
use crate::program::field::{Abreast, Watched};
use dalembert_compile::Scratch;
use dalembert_compile::enclosure::{Interval, Jet};

/// Unit: parts of a variable that are zero at a start. A motion that begins is as many away.
const CLEAR: f64 = 16.0;

/// The functions that are watched, and where each motion is.
pub(super) struct Guards<const W: usize> {
    watched: Watched,
    registers: Scratch,
    outputs: Vec<Option<usize>>,
    /// The variables that are read, of t, q and v; and of what is held.
    moving: Vec<usize>,
    held: Vec<usize>,
    /// Each variable as a polynomial in the fraction of the step, and its values there.
    polynomials: Vec<Vec<f64>>,
    values: Vec<Jet<1>>,
    /// The sides of each motion's functions.
    sides: [Vec<i8>; W],
    input: Vec<f64>,
    branches: Vec<f64>,
}

impl<const W: usize> Guards<W> {
    pub(super) fn new(parts: &Abreast, order: usize) -> Option<Guards<W>> {
        let watched = parts.watched.clone()?;
        let reads = watched.enclosure.reads();
        let moves = |at: &usize| *at <= parts.n + parts.size;
        let (moving, held): (Vec<usize>, Vec<usize>) =
            (0..reads.len()).filter(|&at| reads[at]).partition(moves);
        let registers = watched.branches.as_ref().map(|function| {
            let mut scratch = function.scratch();
            function.prepare(&mut scratch, &[]);
            scratch
        });
        let mut polynomials = vec![Vec::new(); reads.len()];
        moving.iter().for_each(|&at| polynomials[at] = vec![0.0; order + 1]);
        held.iter().for_each(|&at| polynomials[at] = vec![0.0]);
        Some(Guards {
            registers: registers.unwrap_or_default(),
            outputs: (0..watched.count).map(Some).collect(),
            values: vec![Jet::constant(Interval::ZERO); reads.len()],
            sides: std::array::from_fn(|_| Vec::new()),
            input: vec![0.0; parts.inputs + parts.parameters],
            branches: vec![0.0; watched.switches],
            moving,
            held,
            polynomials,
            watched,
        })
    }

    /// Finds on which sides a motion is that comes, and the branches of its terms. False if it may
    /// not be moved here.
    pub(super) fn load(&mut self, lane: usize, parts: &Abreast, motion: &Traveling) -> bool {
        let Guards { watched, registers, input, branches, values, sides, .. } = self;
        let (n, size, inputs) = (parts.n, parts.size, parts.inputs);
        input.fill(0.0);
        input[0] = motion.t;
        input[1..=n + size].copy_from_slice(&motion.x);
        input[inputs..].copy_from_slice(&motion.parameters);
        let first = inputs - watched.switches;
        if let Some(function) = &watched.branches {
            // A switch inside of another is settled first.
            for _ in 0..=watched.switches {
                function.call(registers, input, branches);
                let own = &mut input[first..inputs];
                if own == &branches[..] {
                    break;
                }
                own.copy_from_slice(branches);
            }
            if branches.iter().any(|branch| branch.is_nan()) {
                return false;
            }
        }
        let known = motion.events.as_ref().map(|events| events.sides());
        let zero = if known.is_some() { 0.0 } else { CLEAR * LEFT * START };
        let largest = |list: &[f64]| list.iter().fold(0f64, |m, x| m.max(x.abs()));
        let off = [motion.t.abs(), largest(&motion.x[..n]), largest(&motion.x[n..])];
        for (at, (value, &x)) in values.iter_mut().zip(&*input).enumerate() {
            let off = match at {
                0 => off[0],
                at if at <= n => off[1],
                at if at <= n + size => off[2],
                _ => 0.0,
            };
            *value = Jet::constant(Interval::around(x, zero * off));
        }
        watched.enclosure.run_values(values);
        let own = &mut sides[lane];
        own.clear();
        own.extend((0..watched.count).map(|at| watched.enclosure.value(at).side()));
        let agree = known.is_none_or(|mut known| {
            known.len() == watched.events && known.by_ref().zip(&*own).all(|(a, b)| a == *b)
        });
        agree && own.iter().all(|side| *side != 0)
    }

    /// The branches of the motion that was loaded last.
    pub(super) fn branches(&self) -> &[f64] {
        &self.branches
    }

    /// The sides of the events of a lane's motion.
    pub(super) fn events_of(&self, lane: usize) -> &[i8] {
        &self.sides[lane][..self.watched.events]
    }

    /// Whether nothing is zero in a lane's step h.
    pub(super) fn keep(
        &mut self,
        lane: usize,
        (t, h): (f64, f64),
        engine: &impl Engine<W>,
        input: &[Lane<W>],
    ) -> bool {
        let Guards { watched, outputs, moving, held, polynomials, values, sides, .. } = self;
        for &at in &*moving {
            let list = &mut polynomials[at];
            match at.checked_sub(1) {
                None => {
                    list.fill(0.0);
                    (list[0], list[1]) = (t, h);
                }
                Some(component) => {
                    let mut power = 1.0;
                    for (order, place) in list.iter_mut().enumerate() {
                        *place = power * engine.coefficient(component, order, lane);
                        power *= h;
                    }
                }
            }
            values[at] = whole(list, 1.0);
        }
        for &at in &*held {
            polynomials[at][0] = input[at][lane];
            values[at] = Jet::constant(Interval::of(input[at][lane]));
        }
        watched.enclosure.run_values(values);
        let sides = &sides[lane];
        let mut open = Vec::new();
        for (at, &side) in sides.iter().enumerate() {
            match watched.enclosure.value(at).side() {
                0 => open.push(at),
                found if found == side => {}
                _ => return false,
            }
        }
        if open.is_empty() {
            return true;
        }
        let enclosure = &mut watched.enclosure;
        Functions { enclosure, outputs, variables: polynomials }.stay(sides, open)
    }
}
