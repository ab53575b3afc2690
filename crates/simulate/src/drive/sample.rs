//! Functions of the state, sampled on the polynomial of a step.
//!
//! They are sampled at the nodes of Chebyshev, in halves of the step where no polynomial
//! through these follows a function, and where the polynomial comes next to zero, so that
//! two crossings between two nodes are not missed unless the function itself does not
//! reach zero. Where a function begins or ceases to have a value that place is narrowed
//! down, and it is sampled at 2⁻ᵏ of the way from there: it may be 0 right beside it.
//!
//! Functions whose zeros are known to be told apart by the signs at some places
//! ([`isolate`](super::isolate)) need no such care: they are looked at there.

use crate::drive::isolate::Isolated;
use crate::drive::tolerances::sampling::FOLLOWS;
use dalembert_gauss::linalg;

/// A fraction θ of the step, and the values there.
pub(super) type Samples = Vec<(f64, Vec<f64>)>;

/// Nodes of Chebyshev, less one.
const DEGREE: usize = 8;
/// Where the polynomial through the nodes is looked at.
const GRID: usize = 64;
/// Where the polynomial is held against the function.
const BETWEEN: [f64; 2] = [0.276, 0.741];
/// A step is halved no more often than this.
pub(super) const DEEPEST: u32 = 7;
/// The same where a value is dear.
pub(super) const DEEPEST_DEAR: u32 = 2;
/// Beside a boundary, 2⁻ᵏ of the way to the next sample.
const BESIDE: [i32; 12] = [1, 2, 4, 8, 12, 16, 20, 25, 30, 35, 40, 46];

/// What is sampled.
pub(super) struct Sampler<'a> {
    /// The values at a fraction θ of the step: those to be followed, then others.
    pub at: &'a mut dyn FnMut(f64) -> Vec<f64>,
    /// For each function to be followed, how often the step may be halved.
    pub deepest: &'a [u32],
    /// From this one on, functions that are 0 where one before has no value.
    pub boundaries: usize,
    /// What is known without samples.
    pub known: Isolated,
}

impl Sampler<'_> {
    /// Samples a step up to a part of it, in order.
    pub fn sample(&mut self, until: f64) -> Samples {
        let mut samples = Samples::new();
        let is_certain = &self.known.is_certain;
        if is_certain.len() == self.deepest.len() && is_certain.iter().all(|&known| known) {
            // For their sizes.
            samples.extend([0.0, 0.5 * until, until].map(|s| (s, (self.at)(s))));
        } else {
            self.cover(0.0, until, 0, &mut samples);
        }
        let places = std::mem::take(&mut self.known.places);
        let is_new = |s: &f64| *s > 0.0 && *s < until;
        samples.extend(places.into_iter().filter(is_new).map(|s| (s, (self.at)(s))));
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.narrow(&mut samples);
        samples
    }

    /// Samples a part of the step, in halves where a polynomial does not follow the
    /// functions.
    fn cover(&mut self, from: f64, to: f64, depth: u32, samples: &mut Samples) {
        let nodes: Vec<f64> = (0..=DEGREE)
            .map(|j| {
                let angle = std::f64::consts::PI * j as f64 / DEGREE as f64;
                from + 0.5 * (to - from) * (1.0 - angle.cos())
            })
            .collect();
        let own: Samples = nodes.iter().map(|&s| (s, (self.at)(s))).collect();
        let between: Samples = BETWEEN
            .iter()
            .map(|part| from + part * (to - from))
            .map(|s| (s, (self.at)(s)))
            .collect();
        let mut near = Vec::new();
        for (function, &deepest) in self.deepest.iter().enumerate() {
            if self.known.is_certain.get(function) == Some(&true) {
                continue;
            }
            let values: Vec<f64> = own.iter().map(|s| s.1[function]).collect();
            // Nothing is seen of what has no value; its boundaries are looked for.
            if own.iter().chain(&between).all(|s| !s.1[function].is_finite()) {
                continue;
            }
            let largest = linalg::largest(&values);
            let polynomial = |theta: f64| interpolated(&nodes, &values, theta);
            let follows = |(theta, seen): &(f64, Vec<f64>)| {
                (polynomial(*theta) - seen[function]).abs() <= FOLLOWS * largest
            };
            if depth < deepest && !between.iter().all(follows) {
                let middle = 0.5 * (from + to);
                self.cover(from, middle, depth + 1, samples);
                self.cover(middle, to, depth + 1, samples);
                return;
            }
            near.extend(near_zero(&nodes, &values));
        }
        samples.extend(near.into_iter().map(|theta| (theta, (self.at)(theta))));
        samples.extend(own);
        samples.extend(between);
    }

    /// On which side of its boundary a function is: it has no value, or of which sign it is
    /// if it is a boundary itself.
    fn side(&self, function: usize, value: f64) -> i8 {
        match value {
            v if !v.is_finite() => 0,
            v if function >= self.boundaries && v < 0.0 => -1,
            _ => 1,
        }
    }

    /// Adds samples beside the places where a function begins or ceases to have a value.
    fn narrow(&mut self, samples: &mut Samples) {
        let mut more = Samples::new();
        for pair in samples.windows(2) {
            let [(from, first), (to, last)] = pair else { continue };
            for function in 0..self.deepest.len() {
                let side = self.side(function, first[function]);
                if side == self.side(function, last[function]) || to <= from {
                    continue;
                }
                let (mut low, mut high) = (*from, *to);
                for _ in 0..100 {
                    let theta = 0.5 * (low + high);
                    if theta <= low || theta >= high {
                        break;
                    }
                    let value = (self.at)(theta)[function];
                    if self.side(function, value) == side { low = theta } else { high = theta }
                }
                let parts = BESIDE.iter().map(|&k| 0.5f64.powi(k));
                let places = parts.flat_map(|p| [low - p * (low - from), high + p * (to - high)]);
                let places: Vec<f64> = places.chain([low, high]).collect();
                more.extend(places.into_iter().map(|theta| (theta, (self.at)(theta))));
            }
        }
        if !more.is_empty() {
            samples.extend(more);
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
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

/// Where the polynomial through values at nodes comes next to zero or passes it between them.
fn near_zero(nodes: &[f64], values: &[f64]) -> Vec<f64> {
    let (from, to) = (nodes[0], nodes[nodes.len() - 1]);
    let largest = linalg::largest(values);
    if !values.iter().all(|v| v.is_finite()) || largest == 0.0 {
        return Vec::new();
    }
    let polynomial = |theta: f64| interpolated(nodes, values, theta);
    let width = (to - from) / GRID as f64;
    // One place beyond each end: it may come next to zero right beside them.
    let place = |i: usize| from + width * (i as f64 - 1.0);
    let grid: Vec<f64> = (0..=GRID + 2).map(|i| polynomial(place(i))).collect();
    let mut found = Vec::new();
    for i in 1..=GRID + 1 {
        let side = grid[i].signum();
        let near = |j: usize| side * grid[j];
        // Between two nodes it may pass zero and come back.
        if near(i - 1) <= 0.0 || near(i + 1) <= 0.0 {
            found.push(place(i).clamp(from, to));
        }
        if !(near(i) <= near(i - 1) && near(i) <= near(i + 1)) {
            continue;
        }
        // The vertex of the parabola, thrice, with points ever closer.
        let (mut middle, mut step) = (place(i), width);
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
