//! Newton's method for f(w) = 0, made global: the one search behind every relation that is
//! inverted by numbers (p = L_q̇ for q̇, q̇ = H_p for p).
//!
//! ```text
//! w ← w − t s,   J s = f(w),   t = 1 or less, so that Σ f_i²/|J_ii| falls
//! ```
//!
//! For the gradient of a function that is convex where it is defined, J is symmetric and positive,
//! the sum is free of units, and s leads to less of it in any domain. Where the whole step does not
//! help, the zero of f·s along it is bisected for: f may not be a number at its end (speeds beyond
//! that of light), or the step may lead from a flat part of f across its zero to the flat part
//! beyond, from which the next would lead back farther. Where J is singular (L = v⁴ at rest) it
//! is taken with a multiple of the identity beside it.
//!
//! The end is where the step is rounding: as predicted from the last two steps, or seen from
//! steps of which none helps. It fails if f has no zero, is not a gradient of a convex function and
//! stuck in a valley, or is nowhere defined between the guess and 0.

use dalembert_gauss::linalg::{dot, largest, lu, multiply};

/// f and its derivatives.
pub(crate) trait Relation {
    /// f at w. Returns its largest entry in units of what rounding leaves of it, ∞ if that is not
    /// known.
    fn residual(&mut self, w: &[f64], f: &mut [f64]) -> f64;

    /// J at the w of the last residual, dense.
    fn jacobian(&mut self, w: &[f64], j: &mut [f64]);
}

/// Storage of a search.
#[derive(Clone, Default)]
pub(crate) struct Room {
    f: Vec<f64>,
    f_trial: Vec<f64>,
    trial: Vec<f64>,
    guess: Vec<f64>,
    jacobian: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    step: Vec<f64>,
    work: Vec<f64>,
    /// Entries that only rounding would change: what it leaves of f there must not hide others.
    settled: Vec<bool>,
}

/// How a search ended without a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lost {
    /// J is singular, also with the identity beside it: it is not a number.
    Singular,
    /// What is left of f.
    Stuck(f64),
}

/// Most steps.
const MOST: usize = 200;
/// After so many, the guess tells which w are as good as 0.
const PATIENCE: usize = 30;
/// Most lengths tried along one.
const TRIALS: u32 = 200;
/// Where the whole step does not help, f is to fall to this part, in its measure.
const ENOUGH: f64 = 0.25;
/// So many without effect, in the vicinity of a solution, are rounding.
const IDLE: u32 = 5;
/// Steps are in the vicinity of a solution if they change w by less than this part.
const NEAR: f64 = 1e-3;
/// or f by less than this part of its terms.
const OTHERS: f64 = 1e-12;
/// Steps that change w by no more than this part are rounding,
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// if the last one took f down to this part.
const QUADRATIC: f64 = 0.1;
/// A residual of so many units of rounding is a solution if nothing better is found.
const ROUGH: f64 = 1e4;

/// Finds w from a guess, or else from 0: along the edge of a domain the way may be long.
pub(crate) fn search(
    relation: &mut dyn Relation,
    w: &mut [f64],
    room: &mut Room,
) -> Result<(), Lost> {
    room.fit(w.len());
    room.guess.copy_from_slice(w);
    let found = descend(relation, w, room);
    if found.is_ok() || room.guess.iter().all(|g| *g == 0.0) {
        return found;
    }
    w.fill(0.0);
    descend(relation, w, room).or(found)
}

fn descend(relation: &mut dyn Relation, w: &mut [f64], room: &mut Room) -> Result<(), Lost> {
    let n = w.len();
    let mut noise = into_domain(relation, w, &mut room.f)?;
    // By what the last whole step took f down.
    let mut rate = 1.0;
    for round in 0..MOST {
        if noise <= 4.0 || room.f.iter().all(|f| *f == 0.0) {
            return Ok(());
        }
        relation.jacobian(w, &mut room.jacobian);
        let whole = room.newton_step().ok_or(Lost::Singular)?;
        let mut moved = 0f64;
        for i in 0..n {
            // Towards a zero of higher order, where J vanishes, w would be followed down to the
            // smallest of numbers.
            let size = w[i].abs().max(if round < PATIENCE { 0.0 } else { room.guess[i].abs() });
            let part = if room.step[i] == 0.0 { 0.0 } else { room.step[i].abs() / size };
            moved = moved.max(part);
            room.settled[i] = whole && rate < QUADRATIC && part <= ROUNDING;
        }
        // Quadratic convergence: this step leaves `rate` squared of itself. Without it a small
        // step says nothing: next to a pole of f they are all small.
        let is_quadratic =
            rate < QUADRATIC && (moved <= ROUNDING || moved * rate * rate < f64::EPSILON);
        if whole && (is_quadratic || (round >= PATIENCE && moved <= f64::EPSILON)) {
            w.iter_mut().zip(&room.step).for_each(|(w, s)| *w -= s);
            return Ok(());
        }
        let before = room.measure(&room.f);
        let near = whole && (moved <= NEAR || room.is_rounding_of_others(w));
        let patience = if moved <= ROUNDING { 1 } else { IDLE };
        match room.along(relation, w, before, whole, near.then_some(patience)) {
            Found::Better { t, noise: left, after } => {
                rate = if t == 1.0 && whole { (after / before).sqrt() } else { 1.0 };
                noise = left;
                w.copy_from_slice(&room.trial);
                std::mem::swap(&mut room.f, &mut room.f_trial);
            }
            Found::Nothing { idle } => {
                // The relation is left at w, not at a trial.
                noise = relation.residual(w, &mut room.f);
                return match (idle && near) || noise <= ROUGH {
                    true => Ok(()),
                    false => Err(Lost::Stuck(largest(&room.f))),
                };
            }
        }
    }
    if noise <= ROUGH { Ok(()) } else { Err(Lost::Stuck(largest(&room.f))) }
}

/// What a search along a step found.
enum Found {
    /// A length with less of f, at which the trial is.
    Better { t: f64, noise: f64, after: f64 },
    /// None; idle if f stayed of the same size.
    Nothing { idle: bool },
}

/// f at w, or at a part of it that is in the domain; 0 is the last one tried.
fn into_domain(relation: &mut dyn Relation, w: &mut [f64], f: &mut [f64]) -> Result<f64, Lost> {
    for part in [1.0, 0.5, 0.5, 0.5, 0.5, 0.0] {
        w.iter_mut().for_each(|w| *w = if part == 0.0 || !w.is_finite() { 0.0 } else { *w * part });
        let noise = relation.residual(w, f);
        if f.iter().all(|f| f.is_finite()) {
            return Ok(noise);
        }
    }
    Err(Lost::Stuck(f64::INFINITY))
}

impl Room {
    fn fit(&mut self, n: usize) {
        let lists = [&mut self.f, &mut self.f_trial, &mut self.trial, &mut self.guess];
        for list in lists.into_iter().chain([&mut self.step, &mut self.work]) {
            list.resize(n, 0.0);
        }
        self.order.resize(n, 0);
        self.settled.resize(n, false);
        self.jacobian.resize(n * n, 0.0);
    }

    /// Sets the step; false if J needed the identity beside it, `None` if that did not help.
    fn newton_step(&mut self) -> Option<bool> {
        if self.solve(0.0) {
            return Some(true);
        }
        let size = largest(&self.jacobian);
        self.solve(if size > 0.0 { size } else { 1.0 }).then_some(false)
    }

    /// J s = f with a multiple of the identity beside J.
    fn solve(&mut self, beside: f64) -> bool {
        let n = self.step.len();
        self.factors.clone_from(&self.jacobian);
        (0..n).for_each(|i| self.factors[i * n + i] += beside);
        if !lu::factor(&mut self.factors, n, &mut self.order) {
            return false;
        }
        self.step.copy_from_slice(&self.f);
        lu::solve(&self.factors, n, &self.order, &mut self.step, &mut self.work);
        self.step.iter().all(|s| s.is_finite())
    }

    /// Looks along the step for less of f. The whole step is taken if it helps; if not, a length
    /// between those before and those beyond the zero of f·s. `near` a solution, so many
    /// lengths without effect are enough.
    fn along(
        &mut self,
        relation: &mut dyn Relation,
        w: &[f64],
        before: f64,
        whole: bool,
        near: Option<u32>,
    ) -> Found {
        let ahead = dot(&self.f, &self.step);
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        let (mut best, mut idle): (Option<(f64, f64)>, u32) = (None, 0);
        for trial in 0..TRIALS {
            let (noise, after) = self.try_at(relation, w, t);
            let is_defined = after < f64::INFINITY;
            let is_across = ahead > 0.0 && dot(&self.f_trial, &self.step) < 0.0;
            let is_far = !is_defined || (is_across && self.leads_back(relation, t));
            let helps = !is_far && after < before * (1.0 - 1e-4 * t.min(1.0));
            let enough = if whole && high == f64::INFINITY { 1.0 } else { ENOUGH };
            if noise <= 4.0 || (helps && after <= enough * before) {
                return Found::Better { t, noise, after };
            }
            if helps && best.is_none_or(|(_, least)| after < least) {
                best = Some((t, after));
            }
            idle += u32::from(after < 16.0 * before);
            if near == Some(trial + 1) && idle == trial + 1 {
                return Found::Nothing { idle: true };
            }
            let is_short = after <= before && ahead > 0.0 && !is_across;
            if is_short && (high.is_finite() || !whole) {
                low = t;
            } else {
                high = t;
            }
            t = match low > 0.0 {
                true if high == f64::INFINITY => 16.0 * t,
                true if high > 4.0 * low => (low * high).sqrt(),
                true => 0.5 * (low + high),
                // From where f is very flat, steps may be too long by any factor.
                false if is_far && trial > 8 => t * t,
                false => 0.5 * t,
            };
            if !(t > 0.0 && t.is_finite()) || (best.is_some() && high - low <= 1e-3 * high) {
                break;
            }
        }
        match best {
            Some((t, after)) => {
                let noise = self.try_at(relation, w, t).0;
                Found::Better { t, noise, after }
            }
            None => Found::Nothing { idle: false },
        }
    }

    /// Whether the step is rounding of the larger entries that f has beside small ones.
    fn is_rounding_of_others(&self, w: &[f64]) -> bool {
        let n = w.len();
        (0..n).all(|i| {
            let row = &self.jacobian[i * n..(i + 1) * n];
            let terms: f64 = row.iter().zip(w).map(|(j, w)| (j * w).abs()).sum();
            self.step[i].abs() * row[i].abs() <= OTHERS * terms
        })
    }

    /// f at w − t s: the size of its rounding, and its measure.
    fn try_at(&mut self, relation: &mut dyn Relation, w: &[f64], t: f64) -> (f64, f64) {
        for i in 0..w.len() {
            self.trial[i] = w[i] - t * self.step[i];
        }
        let noise = relation.residual(&self.trial, &mut self.f_trial);
        (noise, self.measure(&self.f_trial))
    }

    /// Whether Newton's method along the step would lead from the trial, across the zero of f·s,
    /// back to where it came from and beyond.
    fn leads_back(&mut self, relation: &mut dyn Relation, t: f64) -> bool {
        let n = self.step.len();
        self.factors.resize(n * n, 0.0);
        relation.jacobian(&self.trial, &mut self.factors);
        multiply(&self.factors, n, &self.step, &mut self.work);
        !(-dot(&self.f_trial, &self.step) <= t * dot(&self.step, &self.work))
    }

    /// Σ f_i²/|J_ii| without what is settled, ∞ if it is not a number. A row without a diagonal is measured by its
    /// largest entry.
    fn measure(&self, f: &[f64]) -> f64 {
        let n = f.len();
        let sum: f64 = (0..n)
            .filter(|&i| !self.settled[i] || !f[i].is_finite())
            .map(|i| {
                let own = self.jacobian[i * n + i].abs();
                let size =
                    if own > 0.0 { own } else { largest(&self.jacobian[i * n..(i + 1) * n]) };
                // In two factors: squares of small numbers vanish.
                (f[i] / if size > 0.0 { size } else { 1.0 }) * f[i]
            })
            .sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gradient of one variable, with its slope.
    struct One(f64, fn(f64) -> (f64, f64), u32);

    impl Relation for One {
        fn residual(&mut self, w: &[f64], f: &mut [f64]) -> f64 {
            self.2 += 1;
            f[0] = (self.1)(w[0]).0 - self.0;
            f64::INFINITY
        }

        fn jacobian(&mut self, w: &[f64], j: &mut [f64]) {
            j[0] = (self.1)(w[0]).1;
        }
    }

    fn find(target: f64, guess: f64, f: fn(f64) -> (f64, f64)) -> (f64, u32) {
        let mut w = [guess];
        let mut relation = One(target, f, 0);
        search(&mut relation, &mut w, &mut Room::default()).unwrap();
        (w[0], relation.2)
    }

    /// From v to p and back at all speeds, from any guess.
    #[test]
    fn relativistic_momenta_and_velocities_find_each_other() {
        let p_of_v: fn(f64) -> (f64, f64) = |v| {
            let root = (1.0 - v * v).sqrt();
            (v / root, 1.0 / root.powi(3))
        };
        let v_of_p: fn(f64) -> (f64, f64) = |p| {
            let root = (1.0 + p * p).sqrt();
            (p / root, 1.0 / root.powi(3))
        };
        let mut most = 0;
        for exponent in -12..=12 {
            let p = 10f64.powf(f64::from(exponent) / 2.0);
            let v = p / (1.0 + p * p).sqrt();
            for sign in [1.0, -1.0] {
                for guess in [0.0, 0.5, -0.99999, 0.9999999, 7.0, -f64::INFINITY] {
                    let (found, count) = find(sign * p, guess, p_of_v);
                    let known = 4.0 * f64::EPSILON * v.max(guess.abs().min(1.0));
                    assert!((found - sign * v).abs() <= known, "{p} {guess}");
                    most = most.max(count);
                }
                for guess in [0.0, 1.0, -1e5, 3e7] {
                    let (found, count) = find(sign * v, guess, v_of_p);
                    // What rounding of v leaves of p.
                    let known = 16.0 * f64::EPSILON * (1.0 + p * p);
                    assert!((found / (sign * p) - 1.0).abs() <= known, "{p} {guess} {found}");
                    most = most.max(count);
                }
            }
        }
        assert!(most < 600, "{most}");
    }

    /// A free particle at any speed, and one that is slow in one direction and fast in the other.
    #[test]
    fn gradients_of_several_variables_are_inverted() {
        struct Particle([f64; 3]);
        impl Relation for Particle {
            fn residual(&mut self, w: &[f64], f: &mut [f64]) -> f64 {
                let root = (1.0 - dot(w, w)).sqrt();
                (0..3).for_each(|i| f[i] = w[i] / root - self.0[i]);
                f64::INFINITY
            }

            fn jacobian(&mut self, w: &[f64], j: &mut [f64]) {
                let root = (1.0 - dot(w, w)).sqrt();
                for i in 0..9 {
                    let one = if i % 4 == 0 { 1.0 } else { 0.0 };
                    j[i] = one / root + w[i / 3] * w[i % 3] / root.powi(3);
                }
            }
        }
        let sizes = [0.0, 1e-6, 0.1, 2.0, -30.0, 1e4];
        for number in 0..6 * 6 * 6 {
            let p = [sizes[number % 6], sizes[number / 6 % 6], sizes[number / 36]];
            let energy = (1.0 + dot(&p, &p)).sqrt();
            for guess in [[0.0; 3], [0.5, -0.5, 0.1], [-0.999, 0.0, 0.04], [3.0, 3.0, 3.0]] {
                let mut w = guess;
                let found = search(&mut Particle(p), &mut w, &mut Room::default());
                assert_eq!(found, Ok(()), "{p:?} {guess:?} {w:?}");
                for i in 0..3 {
                    let off = (w[i] - p[i] / energy).abs();
                    assert!(off <= 8.0 * f64::EPSILON, "{p:?} {guess:?} {i} {off:e}");
                }
            }
        }
    }

    /// A singular slope, at the guess or at the solution.
    #[test]
    fn powers_are_inverted_through_zero() {
        let cube: fn(f64) -> (f64, f64) = |v| (v * v * v, 3.0 * v * v);
        for target in [1.0f64, -8.0, 1e-9, 1e-30, -1e12, 0.0] {
            for guess in [0.0, 1e-3, -2.0, 1e5] {
                let (found, _) = find(target, guess, cube);
                let size = target.cbrt().abs().max(guess.abs());
                assert!((found - target.cbrt()).abs() <= 4.0 * f64::EPSILON * size, "{target}");
            }
        }
    }

    /// Where it converges as usual, nothing is evaluated for the sake of the rest.
    #[test]
    fn near_the_solution_few_residuals_are_needed() {
        let cosh: fn(f64) -> (f64, f64) = |v| (v.sinh(), v.cosh());
        let (found, count) = find(1.0, 0.87, cosh);
        assert!((found - 1f64.asinh()).abs() < 1e-15 && count <= 4, "{found} {count}");
    }

    #[test]
    fn without_a_zero_there_is_none() {
        let mut w = [0.3];
        let mut relation = One(2.0, |v| (v.tanh(), 1.0 - v.tanh().powi(2)), 0);
        assert!(search(&mut relation, &mut w, &mut Room::default()).is_err());
        let mut nowhere = One(2.0, |_| (f64::NAN, f64::NAN), 0);
        assert_eq!(
            search(&mut nowhere, &mut w, &mut Room::default()),
            Err(Lost::Stuck(f64::INFINITY))
        );
    }
}
