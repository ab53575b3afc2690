//! A decision and a solution, with everything that an outcome says.

use super::decide::{Independent, Rows, independent};
use super::numeric::Factors;
use super::structure::Structure;
use crate::error::SolveError;
use crate::linalg::{norm, power_of_two};
use crate::outcome::{Conflict, Outcome, Rank, Route, Verdict};
use crate::pattern::Pattern;
use crate::terms::{Patterns, Terms, Tolerances};
use crate::tolerances::rank::GREY;
use crate::tolerances::solving::{NOISE, VANISHING};
use crate::tolerances::sparse::{LEAST, REGULAR};
use std::sync::Arc;

/// Most steps of the iteration that shortens multipliers.
const MOST: usize = 100;

/// A decision: the structure of all rows and that of those in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decided {
    all: Option<Structure>,
    pub(super) used: Option<Structure>,
    pub(super) rows: Vec<usize>,
    factors: Factors,
    entries: Vec<f64>,
    /// Lengths of the rows where Γ is 1.
    lengths: Vec<f64>,
    chosen: Vec<f64>,
    right: Vec<f64>,
}

/// Solves a sparse problem. `None` where it takes another way: Γ is not regular or fills in, or the
/// rank is in doubt.
pub(crate) fn solve(
    decided: &mut Decided,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Option<Result<(), SolveError>> {
    let patterns = terms.patterns?;
    if !decided.all.as_mut().is_some_and(|s| s.is_of(patterns.metric, patterns.jacobian)) {
        decided.all = Some(Structure::new(patterns.metric, patterns.jacobian)?);
    }
    let all = decided.all.take()?;
    let solved = decided.solve(&all, patterns, terms, tolerances, outcome);
    decided.all = Some(all);
    solved
}

impl Decided {
    /// The factors of the rows in use at the state of the decision.
    pub(super) fn factors(&self) -> &Factors {
        &self.factors
    }

    fn solve(
        &mut self,
        all: &Structure,
        patterns: Patterns,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Option<Result<(), SolveError>> {
        let (n, m) = (terms.n, terms.m);
        let is_regular =
            self.factors.factor_metric(all, terms.metric, REGULAR) && self.factors.is_regular(all);
        if !is_regular {
            return None;
        }
        let found = self.decide(all, terms, tolerances);
        if !(found.least > LEAST) || (found.dropped > 0.0 && found.weak.is_some()) {
            // What a dense decision can look at more closely it does.
            if n <= super::LARGEST_DENSE {
                return None;
            }
        }
        self.rows.clone_from(&found.rows);
        let jacobian: Arc<Pattern> = match found.rows.len() == m {
            true => patterns.jacobian.clone(),
            false => Arc::new(patterns.jacobian.pick(&found.rows)),
        };
        // The same rows of other problems have other entries.
        if !self.used.as_mut().is_some_and(|s| s.is_of(patterns.metric, &jacobian)) {
            self.used = Some(Structure::new(patterns.metric, &jacobian)?);
        }
        let used = self.used.take()?;
        let solved = self.find(&used, patterns.jacobian, terms, tolerances, &found, outcome);
        self.used = Some(used);
        if !solved {
            return None;
        }
        outcome.rank = Rank {
            jacobian: found.rows.len(),
            constraints: m,
            metric: n,
            metric_and_jacobian: n,
            coordinates: n,
            route: Route::Cheap,
            uncertain: (found.dropped > GREY.0 * m as f64 || found.least < GREY.1)
                .then_some(found.dropped.max(f64::MIN_POSITIVE)),
            weak: found.weak.or((found.least <= LEAST).then_some(found.least)),
        };
        outcome.independent.clone_from(&found.rows);
        outcome.null.clear();
        (outcome.hidden, outcome.condition, outcome.coupling) = (None, None, None);
        outcome.undetermined.clear();
        outcome.undetermined.resize(n, false);
        let is_finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !is_finite(&outcome.v_dot) {
            return Some(Err(SolveError::Overflow { what: "acceleration" }));
        }
        if !is_finite(&outcome.multipliers) {
            return Some(Err(SolveError::Overflow { what: "multipliers" }));
        }
        Some(Ok(()))
    }

    /// Which rows are independent.
    fn decide(&mut self, all: &Structure, terms: &Terms, tolerances: &Tolerances) -> Independent {
        let (n, m) = (terms.n, terms.m);
        let mut entries = std::mem::take(&mut self.entries);
        self.factors.orthonormal(all, terms.jacobian, &mut entries);
        let length = |row: usize| norm(&entries[all.wide.range(row)]);
        let lengths: Vec<f64> = (0..m).map(length).collect();
        let mut noise = vec![0.0; m];
        if let Some(given) = terms.noise {
            // Of a block, by the sizes of its masses.
            for (row, noise) in noise.iter_mut().enumerate() {
                let parts = all.jacobian.entries_of(row, given.jacobian).map(|(i, d)| {
                    let mass = all.diagonal[i].map_or(0.0, |at| terms.metric[at]);
                    d * d / mass
                });
                *noise = parts.sum::<f64>().sqrt() / lengths[row];
            }
        }
        // A row that its own noise could make vanish says nothing about the motion.
        let live: Vec<bool> =
            lengths.iter().zip(&noise).map(|(l, noise)| *l > 0.0 && !(*noise >= 0.5)).collect();
        let rounding = f64::EPSILON * m.max(n).min(1000) as f64;
        let own = 64.0 * rounding;
        let tau =
            tolerances.rank.filter(|t| t.is_finite() && *t >= 0.0).map_or(own, |t| t.max(rounding));
        let rows = Rows { entries: &entries, lengths: &lengths, noise: &noise };
        let found = independent(all, &rows, &live, tau, own);
        (self.entries, self.lengths) = (entries, lengths);
        found
    }

    /// v̇, λ, whether rows contradict each other, which multipliers are not unique. False where
    /// that is not for this module to say.
    fn find(
        &mut self,
        used: &Structure,
        jacobian: &Pattern,
        terms: &Terms,
        tolerances: &Tolerances,
        found: &Independent,
        outcome: &mut Outcome,
    ) -> bool {
        let Decided { factors, chosen, right, lengths, .. } = self;
        chosen.clear();
        right.clear();
        for &row in &found.rows {
            chosen.extend_from_slice(&terms.jacobian[jacobian.range(row)]);
            right.push(terms.bias[row]);
        }
        if !factors.factor_rows(used, chosen) {
            return false;
        }
        let mut v_dot: Vec<f64> =
            terms.force.iter().zip(terms.nonideal).map(|(f, c)| f + c).collect();
        let mut basic = Vec::new();
        let force = v_dot.clone();
        factors.solve(used, chosen, right, &mut v_dot, &mut basic);
        let problem = Problem { s: used, metric: terms.metric, jacobian: chosen, force: &force };
        let mut room = Room::default();
        problem.improve(factors, right, &mut v_dot, &mut basic, &mut room);
        (outcome.stationarity, outcome.feasibility) =
            problem.residuals(right, &v_dot, &basic, &mut room);
        outcome.motion = Verdict::Unique;
        outcome.conflict = None;
        let mut lambda = vec![0.0; terms.m];
        found.rows.iter().zip(&basic).for_each(|(&row, l)| lambda[row] = *l);
        outcome.indeterminate.clear();
        outcome.indeterminate.resize(terms.m, false);
        if !found.dependent.is_empty() {
            if let Some(conflict) = conflict(terms, jacobian, tolerances, (found, lengths), &v_dot)
            {
                // The best that can be had of rows that contradict each other is dense.
                if tolerances.least_squares {
                    return false;
                }
                (outcome.motion, outcome.conflict) = (Verdict::Inconsistent, Some(conflict));
            }
            shorten(lengths, found, &mut lambda, &mut outcome.indeterminate);
        }
        if outcome.motion == Verdict::Inconsistent {
            v_dot.clear();
            lambda.clear();
        }
        (outcome.v_dot, outcome.multipliers) = (v_dot, lambda);
        true
    }
}

/// The dependent row that its motion misses by most, if that is more than noise.
fn conflict(
    terms: &Terms,
    jacobian: &Pattern,
    tolerances: &Tolerances,
    (found, lengths): (&Independent, &[f64]),
    v_dot: &[f64],
) -> Option<Conflict> {
    let mut worst: Option<(f64, usize, f64)> = None;
    for (at, (row, weights)) in found.dependent.iter().enumerate() {
        let own = |row: usize| jacobian.entries_of(row, terms.jacobian);
        let value = own(*row).map(|(i, a)| a * v_dot[i]).sum::<f64>() - terms.bias[*row];
        let mut size: f64 = own(*row).map(|(i, a)| (a * v_dot[i]).abs()).sum();
        size += terms.bias[*row].abs();
        let noise = terms.noise.map_or(0.0, |noise| {
            let moved: f64 =
                jacobian.entries_of(*row, noise.jacobian).map(|(i, d)| d * v_dot[i].abs()).sum();
            let others: f64 = weights.iter().map(|(other, w)| w.abs() * noise.bias[*other]).sum();
            noise.bias[*row] + moved + others
        });
        let limit = (tolerances.inconsistent * size).max(NOISE * noise);
        if value.abs() > limit && worst.is_none_or(|w| value.abs() / size > w.0) {
            worst = Some((value.abs() / size, at, value));
        }
    }
    let (relative, at, value) = worst?;
    let (row, weights) = &found.dependent[at];
    let mut all = vec![0.0; terms.m];
    all[*row] = 1.0;
    // For the rows as written.
    weights.iter().for_each(|(other, w)| all[*other] = -w * lengths[*row] / lengths[*other]);
    let mut residual = vec![0.0; terms.m];
    jacobian.multiply(terms.jacobian, v_dot, &mut residual);
    residual.iter_mut().zip(terms.bias).for_each(|(r, b)| *r -= b);
    let largest = all.iter().fold(0f64, |m, w| m.max(w.abs()));
    all.iter_mut().for_each(|w| *w /= largest);
    Some(Conflict { weights: all, value: -value / largest, relative, residual })
}

/// λ of least norm for the rows as written: off the kernel of Aᵀ, which the weights of dependent
/// rows span. By conjugate gradients; where dependent rows do not share others it takes one step.
fn shorten(lengths: &[f64], found: &Independent, lambda: &mut [f64], open: &mut [bool]) {
    // Z: one column a dependent row, 1 there and −w where rows combine to give it.
    let columns: Vec<Vec<(usize, f64)>> = found
        .dependent
        .iter()
        .map(|(row, weights)| {
            let own = |other: usize, w: f64| (other, -w * lengths[*row] / lengths[other]);
            let rest = weights.iter().map(|&(other, w)| own(other, w));
            std::iter::once((*row, 1.0)).chain(rest).collect()
        })
        .collect();
    for column in &columns {
        let largest = column.iter().fold(0f64, |m, e| m.max(e.1.abs()));
        for (row, w) in column {
            open[*row] |= w.abs() > VANISHING * largest;
        }
    }
    let along = |column: &[(usize, f64)], of: &[f64]| -> f64 {
        column.iter().map(|&(row, w)| w * of[row]).sum()
    };
    // (ZᵀZ) y = Zᵀλ, kept as Z y.
    let mut left: Vec<f64> = columns.iter().map(|c| along(c, lambda)).collect();
    let mut direction = left.clone();
    let mut size: f64 = left.iter().map(|r| r * r).sum();
    let first = size;
    let mut moved = vec![0.0; lambda.len()];
    for _ in 0..MOST {
        if !(size > f64::EPSILON * f64::EPSILON * first) {
            break;
        }
        moved.fill(0.0);
        for (column, d) in columns.iter().zip(&direction) {
            column.iter().for_each(|&(row, w)| moved[row] += w * d);
        }
        let step = size / moved.iter().map(|x| x * x).sum::<f64>();
        lambda.iter_mut().zip(&moved).for_each(|(l, z)| *l -= step * z);
        left.iter_mut().zip(&columns).for_each(|(r, c)| *r -= step * along(c, &moved));
        let next: f64 = left.iter().map(|r| r * r).sum();
        direction.iter_mut().zip(&left).for_each(|(d, r)| *d = r + next / size * *d);
        size = next;
    }
}

/// Γ, A and F of the rows in use.
pub(super) struct Problem<'a> {
    pub(super) s: &'a Structure,
    pub(super) metric: &'a [f64],
    pub(super) jacobian: &'a [f64],
    /// F + C.
    pub(super) force: &'a [f64],
}

/// The unit of each coordinate: the power of two next to 1/√Γ_ii.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    /// Γ_ii that they are of.
    masses: Vec<f64>,
    list: Vec<f64>,
}

impl Units {
    /// Finds them, if masses have changed.
    fn see(&mut self, s: &Structure, metric: &[f64]) {
        let mass = |at: &Option<usize>| at.map_or(0.0, |at| metric[at]);
        let is_same = self.masses.len() == s.diagonal.len()
            && self.masses.iter().zip(&s.diagonal).all(|(own, at)| *own == mass(at));
        if !is_same {
            self.masses.clear();
            self.masses.extend(s.diagonal.iter().map(mass));
            let unit = |mass: &f64| power_of_two(-0.5 * mass.abs().log2());
            self.list.clear();
            self.list.extend(self.masses.iter().map(unit));
        }
    }
}

/// Room for residuals.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    forces: Vec<f64>,
    rows: Vec<f64>,
    lambda: Vec<f64>,
    units: Units,
}

impl Problem<'_> {
    /// F + Aᵀλ − Γ v̇ and b − A v̇.
    fn left(&self, right: &[f64], v_dot: &[f64], lambda: &[f64], room: &mut Room) {
        let (s, forces) = (self.s, &mut room.forces);
        forces.clear();
        for (i, f) in self.force.iter().enumerate() {
            let own = s.metric.entries_of(i, self.metric);
            forces.push(f - own.map(|(j, g)| g * v_dot[j]).sum::<f64>());
        }
        room.rows.clear();
        for (row, (b, l)) in right.iter().zip(lambda).enumerate() {
            let mut value = *b;
            for (i, a) in s.jacobian.entries_of(row, self.jacobian) {
                forces[i] += a * l;
                value -= a * v_dot[i];
            }
            room.rows.push(value);
        }
    }

    /// One step of iterative refinement.
    pub(super) fn improve(
        &self,
        factors: &mut Factors,
        right: &[f64],
        v_dot: &mut [f64],
        lambda: &mut [f64],
        room: &mut Room,
    ) {
        self.left(right, v_dot, lambda, room);
        let Room { forces, rows, lambda: change, .. } = room;
        factors.solve(self.s, self.jacobian, rows, forces, change);
        v_dot.iter_mut().zip(&*forces).for_each(|(v, d)| *v += d);
        lambda.iter_mut().zip(&*change).for_each(|(l, d)| *l += d);
    }

    /// ρ_N and ρ_A in units of equal mass, with rows of length one in them.
    pub(super) fn residuals(
        &self,
        right: &[f64],
        v_dot: &[f64],
        lambda: &[f64],
        room: &mut Room,
    ) -> (f64, f64) {
        self.left(right, v_dot, lambda, room);
        let s = self.s;
        room.units.see(s, self.metric);
        let units = &room.units.list;
        let (mut missed, mut inertia, mut size, mut force) = (0.0, 0.0, 0.0, 0.0);
        for (i, left) in room.forces.iter().enumerate() {
            let c = units[i];
            let square = |x: f64| x * x;
            missed += square(c * left);
            inertia +=
                s.metric.entries_of(i, self.metric).map(|(_, g)| square(c * c * g)).sum::<f64>();
            size += square(v_dot[i] / c);
            force += square(c * self.force[i]);
        }
        let (mut open, mut bias) = (0.0, 0.0);
        for (row, left) in room.rows.iter().enumerate() {
            let own = s.jacobian.entries_of(row, self.jacobian);
            let length = own.map(|(i, a)| (a * units[i]) * (a * units[i])).sum::<f64>();
            open += left * left / length;
            bias += right[row] * right[row] / length;
        }
        let [missed, inertia, size, force, open, bias] =
            [missed, inertia, size, force, open, bias].map(f64::sqrt);
        let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b };
        // Rows of length one have the norm of as many ones.
        let rows = (right.len() as f64).sqrt();
        (ratio(missed, inertia * size + force), ratio(open, rows * (size + force) + bias))
    }
}
