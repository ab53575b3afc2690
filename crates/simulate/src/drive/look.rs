//! The functions of events on the polynomial of a step.
//!
//! The functions are sampled on the polynomial of the step: at the nodes of Chebyshev, in
//! halves of the step where no polynomial through these follows a function, and where the
//! polynomial comes next to zero, so that two crossings between two nodes are not missed
//! unless the function itself does not reach zero. An event that is at zero is sampled at
//! 2⁻ᵏ too: it may come back after a small part of the step.
//!
//! A change of sign is bracketed and the bracket narrowed down to rounding. A function that
//! changes its sign at a pole has no zero there; one that jumps through zero has.

use super::watch::{Watch, sign};
use crate::field::Field;
use crate::linalg;

/// Nodes of Chebyshev, less one.
const DEGREE: usize = 8;
/// Where the polynomial through the nodes is looked at.
const GRID: usize = 64;
/// Where the polynomial is held against the function.
const BETWEEN: [f64; 2] = [0.276, 0.741];
/// What they may differ by, of the largest value.
const FOLLOWS: f64 = 1e-3;
/// A step is halved no more often than this.
const DEEPEST: u32 = 7;
/// 2⁻ᵏ of a step, down to this k.
pub(super) const HALVES: i32 = 46;
/// A value this many times the usual one is a pole, not a zero.
const POLE: f64 = 10.0;

/// The sides of an event on the way, from θ on.
pub(super) type Sides = Vec<(f64, i8)>;

/// The functions on the polynomial of a step.
pub(super) struct Look<'a, 'm> {
    pub watch: &'a mut Watch<'m>,
    pub field: &'a mut Field<'m>,
    /// The state at a fraction θ of the step.
    pub curve: &'a dyn Fn(f64, &mut [f64]),
    pub t: f64,
    pub h: f64,
    /// Room for a state.
    pub state: &'a mut [f64],
}

/// How an event passes a step.
pub(super) enum Walk {
    /// Without an event.
    Through,
    /// It happens here.
    Crosses(f64),
    /// It is beyond zero, from the side it came from, without having left zero.
    Returns(f64),
}

impl Look<'_, '_> {
    /// The values of all functions at a fraction θ of the step.
    pub fn at(&mut self, theta: f64) -> Vec<f64> {
        (self.curve)(theta, self.state);
        self.watch.values(self.field, self.t + theta * self.h, self.state)
    }

    /// The value of one.
    pub fn one(&mut self, event: usize, theta: f64) -> f64 {
        (self.curve)(theta, self.state);
        self.watch.value(self.field, event, self.t + theta * self.h, self.state)
    }

    /// Samples a part of the step, in halves where a polynomial does not follow the
    /// functions.
    pub fn cover(&mut self, from: f64, to: f64, depth: u32, samples: &mut Vec<(f64, Vec<f64>)>) {
        let nodes: Vec<f64> = (0..=DEGREE)
            .map(|j| {
                let angle = std::f64::consts::PI * j as f64 / DEGREE as f64;
                from + 0.5 * (to - from) * (1.0 - angle.cos())
            })
            .collect();
        let own: Vec<(f64, Vec<f64>)> = nodes.iter().map(|&s| (s, self.at(s))).collect();
        let between: Vec<(f64, Vec<f64>)> =
            BETWEEN.iter().map(|part| from + part * (to - from)).map(|s| (s, self.at(s))).collect();
        for event in 0..self.watch.arms.len() {
            let values: Vec<f64> = own.iter().map(|s| s.1[event]).collect();
            let largest = linalg::largest(&values);
            let polynomial = |theta: f64| interpolated(&nodes, &values, theta);
            let follows = |(theta, seen): &(f64, Vec<f64>)| {
                (polynomial(*theta) - seen[event]).abs() <= FOLLOWS * largest
            };
            let deepest = if self.watch.is_observed(event) { DEEPEST / 3 } else { DEEPEST };
            if depth < deepest && !between.iter().all(follows) {
                let middle = 0.5 * (from + to);
                self.cover(from, middle, depth + 1, samples);
                self.cover(middle, to, depth + 1, samples);
                return;
            }
            for theta in near_zero(&nodes, &values) {
                samples.push((theta, self.at(theta)));
            }
        }
        samples.extend(own);
        samples.extend(between);
    }

    /// Follows the sign of one function through its samples.
    pub fn walk(&mut self, event: usize, samples: &[(f64, Vec<f64>)]) -> (Sides, Walk) {
        let arm = self.watch.arms[event];
        let mut side = arm.side;
        let mut sides = Sides::new();
        let mut last = (0.0, f64::NAN);
        let mut sizes: Vec<f64> = samples.iter().map(|s| s.1[event].abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let usual = sizes[sizes.len() / 2];
        for (theta, values) in samples {
            let value = values[event];
            let now = sign(value);
            if now == 0 || (side == 0 && value.abs() <= arm.threshold) {
                continue;
            }
            if side == 0 {
                if arm.came != 0 && now == -arm.came && !arm.passes {
                    return (sides, Walk::Returns(*theta));
                }
                side = now;
                sides.push((*theta, side));
            } else if now != side {
                if self.watch.counts(event, side)
                    && let Some((theta, size)) = self.bisect(event, last, (*theta, value), side)
                    && size <= POLE * usual
                {
                    return (sides, Walk::Crosses(theta));
                }
                side = now;
                sides.push((*theta, side));
            }
            last = (*theta, value);
        }
        (sides, Walk::Through)
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

/// The polynomial through values at nodes of Chebyshev: the barycentric formula.
fn interpolated(nodes: &[f64], values: &[f64], theta: f64) -> f64 {
    let (mut above, mut below) = (0.0, 0.0);
    for (j, (node, value)) in nodes.iter().zip(values).enumerate() {
        let distance = theta - node;
        if distance == 0.0 {
            return *value;
        }
        let end = if j == 0 || j + 1 == nodes.len() { 0.5 } else { 1.0 };
        let weight = if j % 2 == 0 { end } else { -end } / distance;
        above += weight * value;
        below += weight;
    }
    above / below
}

/// Where the polynomial through values at nodes comes next to zero between them.
fn near_zero(nodes: &[f64], values: &[f64]) -> Vec<f64> {
    let (from, to) = (nodes[0], nodes[nodes.len() - 1]);
    let largest = linalg::largest(values);
    if !values.iter().all(|v| v.is_finite()) || largest == 0.0 {
        return Vec::new();
    }
    let polynomial = |theta: f64| interpolated(nodes, values, theta);
    let width = (to - from) / GRID as f64;
    let grid: Vec<f64> = (0..=GRID).map(|i| polynomial(from + width * i as f64)).collect();
    let mut found = Vec::new();
    for i in 1..GRID {
        let side = grid[i].signum();
        let near = |j: usize| side * grid[j];
        if !(near(i) <= near(i - 1) && near(i) <= near(i + 1)) {
            continue;
        }
        // The vertex of the parabola, thrice, with points ever closer.
        let (mut middle, mut step) = (from + width * i as f64, width);
        for _ in 0..3 {
            let [a, b, c] = [middle - step, middle, middle + step].map(polynomial);
            let bend = a - 2.0 * b + c;
            let move_by = if bend == 0.0 { 0.0 } else { 0.5 * step * (a - c) / bend };
            middle = (middle + move_by.clamp(-step, step)).clamp(from, to);
            step *= 0.1;
        }
        if side * polynomial(middle) < 1e-3 * largest && middle > from && middle < to {
            found.push(middle);
        }
    }
    found
}
