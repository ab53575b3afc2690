//! The functions of events on the polynomial of a step.
//!
//! Where the polynomial is at hand, zeros are isolated on it with certainty
//! ([`isolate`](crate::drive::isolate)); else, and for functions that have no value somewhere
//! or jump, they are sampled by [`Sampler`]. Together with them go the functions that are 0 where they begin or cease to have a value. An event that is at
//! zero is sampled at 2⁻ᵏ too: it may come back after a small part of the step.
//!
//! A change of sign is bracketed and the bracket narrowed down to rounding. A function that
//! changes its sign at a pole, where it has no value in between, or because an angle in it
//! passes its cut, has no zero there; one that jumps through zero otherwise has. A function
//! that vanishes where its values end has a zero there: √(1 − x) at 1.

use crate::drive::events::functions::{EventFunctions, sign};
use crate::drive::sample::{DEEPEST, DEEPEST_DEAR, Sampler, Samples};
use crate::drive::tolerances::events::{BESIDE, JUMPS, JUST, LIMIT, POLE, ROUNDED, VANISHES};
use crate::integrators::Polynomial;
use crate::program::field::Field;

/// 2⁻ᵏ of a step, down to this k.
pub(in crate::drive) const HALVES: i32 = 46;

/// The sides of an event on the way, from θ on.
pub(in crate::drive) type Sides = Vec<(f64, i8)>;

/// The functions on the polynomial of a step.
pub(in crate::drive) struct Locator<'a> {
    pub functions: &'a mut EventFunctions,
    pub field: &'a mut Field,
    /// The state at a fraction θ of the step.
    pub curve: &'a dyn Fn(f64, &mut [f64]),
    /// The same as polynomials, where it is such.
    pub step: Option<Polynomial<'a>>,
    pub t: f64,
    pub h: f64,
    /// Room for a state.
    pub state: &'a mut [f64],
}

/// How an event passes a step.
pub(in crate::drive) enum EventCrossing {
    /// Without an event.
    Through,
    /// It happens here.
    Crosses(f64),
    /// It happens here, where it has no value on one side or jumps.
    Ends(f64),
    /// It is beyond zero, from the side it came from, without having left zero.
    Returns(f64),
}

impl Locator<'_> {
    /// The values of all functions at a fraction θ of the step, and of their boundaries and
    /// angles.
    pub fn at(&mut self, theta: f64) -> Vec<f64> {
        (self.curve)(theta, self.state);
        self.functions.all(self.field, self.t + theta * self.h, self.state)
    }

    /// Samples a part of the step.
    pub fn sample(&mut self, until: f64) -> Samples {
        let events = self.functions.sides.len();
        let mut deepest: Vec<u32> = (0..events)
            .map(|at| if self.functions.is_observed(at) { DEEPEST_DEAR } else { DEEPEST })
            .collect();
        deepest.resize(events + self.functions.boundaries(), DEEPEST);
        let known = self.functions.isolate((self.t, self.field), self.step, until);
        let mut at = |theta: f64| self.at(theta);
        let mut samples =
            Sampler { at: &mut at, deepest: &deepest, boundaries: events, known }.sample(until);
        if self.functions.sides.iter().any(|known| known.side == 0) {
            samples.extend((1..=HALVES).map(|k| until * 0.5f64.powi(k)).map(|s| (s, self.at(s))));
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        samples
    }

    /// The value of one.
    pub fn one(&mut self, event: usize, theta: f64) -> f64 {
        (self.curve)(theta, self.state);
        self.functions.value(self.field, event, self.t + theta * self.h, self.state)
    }

    /// Follows the sign of one function through its samples.
    pub fn first_crossing(&mut self, event: usize, samples: &Samples) -> (Sides, EventCrossing) {
        let known = self.functions.sides[event];
        let mut side = known.side;
        let mut sides = Sides::new();
        let mut last = (0.0, f64::NAN);
        let mut sizes: Vec<f64> =
            samples.iter().map(|s| s.1[event].abs()).filter(|v| v.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let usual = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
        self.functions.usual[event] = usual;
        // Whether it has no value, or had none up to a zero at the end of the last step.
        let mut is_lost = known.lost;
        let mut since = if known.lost { f64::NEG_INFINITY } else { 0.0 };
        for (at, (theta, values)) in samples.iter().enumerate() {
            let value = values[event];
            let now = sign(value);
            if !value.is_finite() {
                if !is_lost
                    && side != 0
                    && at > 0
                    && self.functions.counts(event, side)
                    && self.vanishes(event, &samples[at - 1], -1.0)
                {
                    return (sides, EventCrossing::Ends(samples[at - 1].0));
                }
                since = if is_lost { since } else { *theta };
                is_lost = true;
                continue;
            }
            if std::mem::take(&mut is_lost) {
                // At the boundary itself it may be zero.
                let ahead = samples[at..].iter().map(|s| sign(s.1[event])).find(|&s| s != 0);
                let Some(ahead) = ahead else {
                    is_lost = true;
                    continue;
                };
                // Where it has just happened it is not to happen again, nor where it had no
                // value by rounding.
                let is_new = !(known.happened && side == 0) && theta - since > ROUNDED;
                if is_new
                    && self.functions.counts(event, -ahead)
                    && self.vanishes(event, &samples[at], 1.0)
                {
                    return (sides, EventCrossing::Ends(*theta));
                }
                side = ahead;
                sides.push((*theta, side));
                last = (*theta, value);
                continue;
            }
            // It has just happened by a jump, which may still be ahead by rounding.
            if known.jumped && *theta <= JUST {
                side = now;
                last = (*theta, value);
                continue;
            }
            if at > 0 && self.functions.is_cut(event, &samples[at - 1].1, values) {
                let before = samples[at - 1].1[event];
                let is_zero = |value: f64| value.abs() <= ROUNDED * usual;
                let happens = (side != 0 && is_zero(before) && self.functions.counts(event, side))
                    || (side != 0 && is_zero(value) && self.functions.counts(event, -side));
                if happens {
                    return (sides, EventCrossing::Ends(*theta));
                }
                if now != 0 {
                    side = now;
                    sides.push((*theta, side));
                    last = (*theta, value);
                }
                continue;
            }
            if now == 0 || (side == 0 && value.abs() <= known.threshold) {
                continue;
            }
            if side == 0 {
                if known.came != 0 && now == -known.came && !known.passes {
                    // A guard that never left zero by more than rounding is met here.
                    if self.functions.is_guard(event) {
                        let first = if at > 0 { samples[at - 1].0 } else { 0.0 };
                        let theta = self.leaves(event, (first, *theta), now);
                        return (sides, EventCrossing::Crosses(theta));
                    }
                    return (sides, EventCrossing::Returns(*theta));
                }
                side = now;
                sides.push((*theta, side));
            } else if now != side {
                if self.functions.counts(event, side)
                    && let Some((theta, size)) = self.bisect(event, last, (*theta, value), side)
                    && size <= POLE * usual
                {
                    // Through a jump there is no slope to correct it by.
                    let crossing = if size > JUMPS * usual {
                        EventCrossing::Ends
                    } else {
                        EventCrossing::Crosses
                    };
                    return (sides, crossing(theta));
                }
                side = now;
                sides.push((*theta, side));
            }
            last = (*theta, value);
        }
        self.functions.lost[event] = is_lost;
        (sides, EventCrossing::Through)
    }

    /// Where a function that is 0 to rounding leaves zero to a side.
    fn leaves(&mut self, event: usize, (mut low, mut high): (f64, f64), side: i8) -> f64 {
        let threshold = self.functions.sides[event].threshold;
        for _ in 0..64 {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            let value = self.one(event, middle);
            let is_left = sign(value) == side && value.abs() > threshold;
            *(if is_left { &mut high } else { &mut low }) = middle;
        }
        high
    }

    /// Whether a function is 0 at the boundary beside which a sample is; its values are to the
    /// right of it (+1) or to the left (−1). With g = c + k δᵖ at the distance δ,
    ///
    /// ```text
    /// c = (g₁ g₃ − g₂²) / (g₁ + g₃ − 2 g₂)     at d, 16 d, 256 d
    /// ```
    ///
    /// Where it is of another sign beside the boundary it passes zero there, not at it.
    fn vanishes(&mut self, event: usize, beside: &(f64, Vec<f64>), inward: f64) -> bool {
        let (theta, value) = (beside.0, beside.1[event]);
        if !(value.abs() <= VANISHES * self.functions.usual[event]) {
            return false;
        }
        let d = BESIDE * (1.0 + (self.t / self.h).abs());
        let [a, b, c] = [1.0, 16.0, 256.0].map(|far| self.one(event, theta + inward * far * d));
        let bend = a + c - 2.0 * b;
        let limit = if bend == 0.0 { a } else { (a * c - b * b) / bend };
        limit.abs() <= LIMIT * a.abs() && sign(value) * sign(a) >= 0
    }

    /// Where the function changes its sign between two samples, and its size there;
    /// `None` where it has no value.
    fn bisect(
        &mut self,
        event: usize,
        low: (f64, f64),
        high: (f64, f64),
        side: i8,
    ) -> Option<(f64, f64)> {
        let (mut low, mut high) = (low, high);
        // It may be beyond zero from the first: what was left of the last step.
        if low.1.is_nan() {
            let first = self.one(event, 0.0);
            low = (0.0, first);
            if sign(first) != side {
                return Some((0.0, first.abs()));
            }
        }
        // Illinois: the false position, with the weight of an end that stays halved.
        let (mut weight_low, mut weight_high) = (1.0, 1.0);
        for turn in 0..200 {
            let width = high.0 - low.0;
            if width <= 2.0 * f64::EPSILON * high.0 {
                break;
            }
            let (a, b) = (low.1 * weight_low, high.1 * weight_high);
            let guess = low.0 + width * a / (a - b);
            let inside = guess > low.0 && guess < high.0;
            // A bisection now and then, so that it always ends.
            let theta = if inside && turn % 4 != 3 { guess } else { low.0 + 0.5 * width };
            if theta <= low.0 || theta >= high.0 {
                break;
            }
            let value = self.one(event, theta);
            if value == 0.0 {
                return Some((theta, 0.0));
            }
            if sign(value) == side {
                low = (theta, value);
                (weight_low, weight_high) = (1.0, 0.5 * weight_high);
            } else {
                high = (theta, value);
                (weight_low, weight_high) = (0.5 * weight_low, 1.0);
            }
        }
        let nearer = if low.1.abs() < high.1.abs() { low } else { high };
        (!high.1.is_nan()).then_some((nearer.0, nearer.1.abs()))
    }
}
