//! The problem at one state where Γ is that of bodies along a tree.
//!
//! With Γ = FᵀF by articulated inertias and y = F v̇ the problem is one of equal masses, of which rows
//! see no more than they are many:
//!
//! ```text
//! y = F⁻ᵀ(F + C) + Bᵀλ ,  B y = b ,   B = A F⁻ᵀ = L Qᵀ
//! z = (Qᵀy)₁              z = (QᵀF⁻ᵀ(F + C))₁ + Lᵀλ ,  L z = b
//! ```
//!
//! In z it is a small dense problem with the identity as its metric: ranks, the verdict and multipliers
//! are decided there, by the elimination that decides all of them, and what is not in z is left as it
//! is. Of n links and m rows it costs n (1 + m²).

use crate::bodies::Bodies;
use crate::bodies::articulated::Articulated;
use crate::eliminations::factored::Factored;
use crate::eliminations::{DEFAULT, Scratch};
use crate::error::SolveError;
use crate::linalg::{lq, norm, zeros};
use crate::outcome::{Outcome, Verdict};
use crate::pattern::Pattern;
use crate::sparse::LARGEST_DENSE;
use crate::terms::{Noise, Terms, Tolerances};
use crate::tolerances::solving::NOISE;
use std::sync::Arc;

/// The problem in z, at one state.
#[derive(Clone, Debug, Default)]
struct Small {
    factors: Articulated,
    /// n, m, and the size of z.
    n: usize,
    m: usize,
    p: usize,
    /// B, and L Qᵀ in its place if rows are fewer than coordinates.
    rows: Vec<f64>,
    tau: Vec<f64>,
    /// ‖B_j‖.
    lengths: Vec<f64>,
    /// L by rows, m × p; 1; zeros.
    jacobian: Vec<f64>,
    identity: Vec<f64>,
    zeros: Vec<f64>,
    /// Qᵀ F⁻ᵀ(F + C), then Qᵀ y.
    turned: Vec<f64>,
    force: Vec<f64>,
    /// A row or a force with all its zeros.
    wide: Vec<f64>,
}

impl Small {
    /// Factors Γ and takes the rows. False if Γ is not regular.
    fn take(&mut self, bodies: &Bodies, terms: &Terms) -> bool {
        if !self.factors.factor(bodies, terms.metric) {
            return false;
        }
        let (n, m) = (terms.n, terms.m);
        zeros(&mut self.rows, m * n);
        let mut rows = std::mem::take(&mut self.rows);
        for (j, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
            zeros(&mut self.wide, n);
            terms.jacobian_row(j).for_each(|(i, a)| self.wide[i] = a);
            self.factors.inward(bodies, terms.metric, &self.wide, row);
        }
        self.rows = rows;
        self.factor_rows(n, m)
    }

    /// Factors the rows that are there.
    fn factor_rows(&mut self, n: usize, m: usize) -> bool {
        (self.n, self.m, self.p) = (n, m, n.min(m));
        self.lengths.clear();
        self.lengths.extend(self.rows.chunks_exact(n.max(1)).take(m).map(norm));
        if self.lengths.iter().any(|l| !l.is_finite()) {
            return false;
        }
        let p = self.p;
        self.tau.clear();
        if m < n {
            zeros(&mut self.tau, m);
            lq::factor(&mut self.rows, n, m, &mut self.tau);
        }
        zeros(&mut self.jacobian, m * p);
        for j in 0..m {
            let entries = if m < n { j + 1 } else { p };
            self.jacobian[j * p..j * p + entries]
                .copy_from_slice(&self.rows[j * n..j * n + entries]);
        }
        if self.identity.len() != p * p {
            zeros(&mut self.identity, p * p);
            (0..p).for_each(|i| self.identity[i * p + i] = 1.0);
        }
        zeros(&mut self.zeros, p.max(m));
        true
    }

    /// Takes F + C.
    fn take_force(&mut self, bodies: &Bodies, terms: &Terms) {
        let n = self.n;
        self.wide.clear();
        self.wide.extend(terms.force.iter().zip(terms.nonideal).map(|(f, c)| f + c));
        zeros(&mut self.turned, n);
        self.factors.inward(bodies, terms.metric, &self.wide, &mut self.turned);
        lq::apply_q_transposed(&self.rows, n, self.tau.len(), &self.tau, &mut self.turned);
        self.force.clear();
        self.force.extend_from_slice(&self.turned[..self.p]);
    }

    /// The terms in z.
    fn terms<'a>(&'a self, bias: &'a [f64]) -> Terms<'a> {
        Terms {
            n: self.p,
            m: self.m,
            metric: &self.identity,
            force: &self.force,
            nonideal: &self.zeros[..self.p],
            jacobian: &self.jacobian,
            bias,
            noise: None,
            inertia: &[],
            patterns: None,
        }
    }

    /// v̇ of z.
    fn take_back(&mut self, bodies: &Bodies, metric: &[f64], z: &[f64], v_dot: &mut Vec<f64>) {
        self.turned[..self.p].copy_from_slice(z);
        lq::apply_q(&self.rows, self.n, self.tau.len(), &self.tau, &mut self.turned);
        zeros(v_dot, self.n);
        self.factors.outward(bodies, metric, &self.turned, v_dot);
    }
}

/// ρ_N and ρ_A, in units of equal mass on the diagonal and with rows of length one.
fn residuals(terms: &Terms, lengths: &[f64], v_dot: &[f64], lambda: &[f64]) -> (f64, f64) {
    let n = terms.n;
    let (mut left, sizes) = (terms.moved(v_dot), terms.spread(v_dot));
    (0..n).for_each(|i| left[i] -= terms.force[i] + terms.nonideal[i]);
    let (mut missed_rows, mut sizes_of_rows) = (0.0, 0.0);
    let mut reach = vec![0.0; n];
    for (j, l) in lambda.iter().enumerate() {
        let (mut value, mut size) = (-terms.bias[j], terms.bias[j].abs());
        for (i, a) in terms.jacobian_row(j) {
            left[i] -= a * l;
            reach[i] += (a * l).abs();
            value += a * v_dot[i];
            size += (a * v_dot[i]).abs();
        }
        let by = if lengths[j] > 0.0 { 1.0 / lengths[j] } else { 0.0 };
        let noise = terms.noise.map_or(0.0, |noise| noise.bias[j]);
        let beyond = (value.abs() - NOISE * noise).max(0.0);
        missed_rows += (by * beyond) * (by * beyond);
        sizes_of_rows += (by * size) * (by * size);
    }
    let (mut missed, mut whole) = (0.0, 0.0);
    for i in 0..n {
        let mass = terms.mass(i);
        let noise = terms.noise.map_or(0.0, |noise| noise.force[i]);
        let beyond = (left[i].abs() - NOISE * noise).max(0.0);
        let size = sizes[i] + reach[i] + (terms.force[i] + terms.nonideal[i]).abs();
        missed += beyond * beyond / mass;
        whole += size * size / mass;
        // Rows of length one measure accelerations, or at rest what the forces alone would do: of one
        // that holds a coordinate where it is nothing else is left but rounding.
        let alone = terms.force[i].abs() + terms.nonideal[i].abs();
        sizes_of_rows += mass * v_dot[i] * v_dot[i] + alone * alone / mass;
    }
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { (a / b).sqrt() };
    (ratio(missed, whole), ratio(missed_rows, sizes_of_rows))
}

/// Unit: part of the terms. Solutions that miss their equations by more are refined: F may be far from
/// well conditioned where Γ is.
const ROUGH: f64 = 64.0 * f64::EPSILON;

/// F + C + Aᵀλ − Γ v̇ and b − A v̇.
fn left(terms: &Terms, v_dot: &[f64], lambda: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut forces = terms.moved(v_dot);
    for (i, left) in forces.iter_mut().enumerate() {
        *left = terms.force[i] + terms.nonideal[i] - *left;
    }
    let mut rows = terms.bias.to_vec();
    for (j, l) in lambda.iter().enumerate() {
        for (i, a) in terms.jacobian_row(j) {
            forces[i] += a * l;
            rows[j] -= a * v_dot[i];
        }
    }
    (forces, rows)
}

/// A decision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pattern: Option<Arc<Pattern>>,
    small: Small,
    scratch: Scratch,
    /// Whether solutions are refined.
    refines: bool,
}

impl Tree {
    /// Decides and solves. `None` if Γ is not regular along the tree.
    pub(super) fn solve(
        &mut self,
        bodies: &Bodies,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Option<Result<(), SolveError>> {
        let (n, m) = (terms.n, terms.m);
        self.pattern = terms.patterns.map(|patterns| patterns.metric.clone());
        let small = &mut self.small;
        if m > LARGEST_DENSE {
            return Some(Err(SolveError::TooLarge { size: m }));
        }
        if !small.take(bodies, terms) {
            return None;
        }
        small.take_force(bodies, terms);
        let p = small.p;
        if m == 0 {
            *outcome = Outcome { null: Vec::new(), ..Outcome::default() };
            outcome.motion = Verdict::Unique;
            small.take_back(bodies, terms.metric, &[], &mut outcome.v_dot);
        } else {
            let noise = terms.noise.map(|noise| self::noise(small, bodies, terms, &noise));
            let own = small.terms(terms.bias);
            let zero = vec![0.0; p * p];
            let noise = noise.as_ref().map(|(force, jacobian)| Noise {
                metric: &zero,
                force,
                jacobian,
                bias: terms.noise.map_or(&[], |noise| noise.bias),
            });
            let own = Terms { noise, ..own };
            if let Err(error) = DEFAULT.solve(&mut self.scratch, &own, tolerances, outcome) {
                return Some(Err(error));
            }
            if !outcome.v_dot.is_empty() {
                let z = std::mem::take(&mut outcome.v_dot);
                small.take_back(bodies, terms.metric, &z, &mut outcome.v_dot);
            }
        }
        let rank = &mut outcome.rank;
        (rank.constraints, rank.coordinates) = (m, n);
        (rank.metric, rank.metric_and_jacobian) = (n, n);
        outcome.undetermined.clear();
        outcome.undetermined.resize(n, false);
        if outcome.v_dot.iter().any(|v| !v.is_finite()) {
            return Some(Err(SolveError::Overflow { what: "acceleration" }));
        }
        if !outcome.v_dot.is_empty() {
            let residuals = |outcome: &Outcome, lengths: &[f64]| {
                residuals(terms, lengths, &outcome.v_dot, &outcome.multipliers)
            };
            let found = residuals(outcome, &small.lengths);
            self.refines = !(found.0.max(found.1) <= ROUGH);
            if self.refines {
                self.improve(bodies, terms, tolerances, outcome);
            }
            (outcome.stationarity, outcome.feasibility) = residuals(outcome, &self.small.lengths);
        }
        Some(Ok(()))
    }
}

impl Tree {
    /// One step of iterative refinement.
    fn improve(
        &mut self,
        bodies: &Bodies,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) {
        let (force, bias) = left(terms, &outcome.v_dot, &outcome.multipliers);
        let nonideal = vec![0.0; terms.n];
        let more = Terms { force: &force, nonideal: &nonideal, bias: &bias, ..*terms };
        let small = &mut self.small;
        small.take_force(bodies, &more);
        let mut found = Outcome::default();
        if terms.m > 0 {
            let tolerances = Tolerances { least_squares: true, ..*tolerances };
            let own = small.terms(&bias);
            if DEFAULT.solve(&mut Scratch::default(), &own, &tolerances, &mut found).is_err()
                || found.v_dot.len() != small.p
            {
                return;
            }
        }
        let mut change = Vec::new();
        small.take_back(bodies, terms.metric, &found.v_dot, &mut change);
        if change.iter().chain(&found.multipliers).all(|x| x.is_finite()) {
            outcome.v_dot.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
            outcome.multipliers.iter_mut().zip(&found.multipliers).for_each(|(l, d)| *l += d);
        }
    }
}

/// Noise of the force and of the rows in z: of as much as goes into all of it, each has its share.
fn noise(small: &mut Small, bodies: &Bodies, terms: &Terms, of: &Noise) -> (Vec<f64>, Vec<f64>) {
    let (n, p) = (small.n, small.p);
    let mut into = vec![0.0; n];
    small.factors.inward(bodies, terms.metric, of.force, &mut into);
    let force = vec![norm(&into) / (n as f64).sqrt(); p];
    let mut jacobian = Vec::with_capacity(small.m * p);
    let mut wide = vec![0.0; n];
    for j in 0..small.m {
        wide.fill(0.0);
        terms.jacobian_noise(j).for_each(|(i, a)| wide[i] = a);
        small.factors.inward(bodies, terms.metric, &wide, &mut into);
        let each = norm(&into) / (p as f64).sqrt();
        jacobian.extend((0..p).map(|_| each));
    }
    (force, jacobian)
}

/// Factors on a decision.
#[derive(Clone, Debug)]
pub(crate) struct TreeFactored {
    pattern: Arc<Pattern>,
    small: Small,
    inner: Box<Factored>,
    is_decided: bool,
    refines: bool,
    /// The largest ‖B_j‖ there were.
    longest: Vec<f64>,
    z: Vec<f64>,
    /// The last problem and its solution, for its residuals.
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    of_rows: Option<Arc<Pattern>>,
    force: Vec<f64>,
    bias: Vec<f64>,
    v_dot: Vec<f64>,
    lambda: Vec<f64>,
}

impl TreeFactored {
    /// Takes a decision over; `None` if the motion is not unique.
    pub(crate) fn adopt(decided: &Tree, outcome: &Outcome) -> Option<TreeFactored> {
        if outcome.motion != Verdict::Unique {
            return None;
        }
        let mut small = decided.small.clone();
        let (n, rows) = (small.n, &outcome.independent);
        let mut inner = Box::<Factored>::default();
        if !rows.is_empty() {
            // Those in use alone. Their triangle has the lengths and angles that they have.
            let of_all = decided.small.p;
            let mut picked = vec![0.0; rows.len() * n];
            for (own, &row) in picked.chunks_exact_mut(n).zip(rows) {
                own[..of_all].copy_from_slice(&decided.small.jacobian[row * of_all..][..of_all]);
            }
            small.rows = picked;
            if !small.factor_rows(n, rows.len()) {
                return None;
            }
            small.force.clear();
            small.force.resize(small.p, 0.0);
            let bias = vec![0.0; rows.len()];
            let (mut scratch, mut found) = (Scratch::default(), Outcome::default());
            let tolerances = Tolerances::default();
            DEFAULT.solve(&mut scratch, &small.terms(&bias), &tolerances, &mut found).ok()?;
            if found.independent.len() < rows.len() || !inner.adopt(&scratch, &found) {
                return None;
            }
        }
        Some(TreeFactored {
            pattern: decided.pattern.clone()?,
            longest: rows.iter().map(|&row| decided.small.lengths[row]).collect(),
            small,
            inner,
            is_decided: true,
            refines: decided.refines,
            z: Vec::new(),
            metric: Vec::new(),
            jacobian: Vec::new(),
            of_rows: None,
            force: Vec::new(),
            bias: Vec::new(),
            v_dot: Vec::new(),
            lambda: Vec::new(),
        })
    }

    pub(crate) fn is_decided(&self) -> bool {
        self.is_decided
    }

    pub(crate) fn forget(&mut self) {
        self.is_decided = false;
    }

    /// Whether the decision would be made again, by far. Of Γ nothing is decided but that it is
    /// regular, which each factorization asks.
    pub(crate) fn holds(&self) -> bool {
        self.is_decided && (self.longest.is_empty() || self.inner.holds())
    }

    /// Factors Γ and A of another state. False if a pivot has fallen.
    pub(crate) fn refactor(&mut self, terms: &Terms) -> bool {
        let Some(patterns) = terms.patterns else { return false };
        let is_same = Arc::ptr_eq(&self.pattern, patterns.metric)
            || self.pattern.bodies() == patterns.metric.bodies();
        let Some(bodies) = patterns.metric.bodies().filter(|_| is_same) else { return false };
        if terms.m != self.longest.len() || !self.small.take(bodies, terms) {
            return false;
        }
        for (most, own) in self.longest.iter_mut().zip(&self.small.lengths) {
            *most = most.max(*own);
        }
        replace(&mut self.metric, terms.metric);
        replace(&mut self.jacobian, terms.jacobian);
        if !self.of_rows.as_ref().is_some_and(|own| Arc::ptr_eq(own, patterns.jacobian)) {
            self.of_rows = Some(patterns.jacobian.clone());
        }
        self.small.force.resize(self.small.p, 0.0);
        terms.m == 0 || self.inner.refactor(DEFAULT, &self.small.terms(terms.bias))
    }

    /// v̇ and λ with the factors there are. False if they are not numbers.
    pub(crate) fn solve(
        &mut self,
        terms: &Terms,
        v_dot: &mut Vec<f64>,
        multipliers: &mut Vec<f64>,
    ) -> bool {
        let Some(bodies) = self.pattern.bodies() else { return false };
        if terms.n != self.small.n || terms.m != self.small.m {
            return false;
        }
        // Γ of the factors: callers may ask for other forces alone.
        let own = Terms { metric: &self.metric, ..*terms };
        self.small.take_force(bodies, &own);
        self.z.clear();
        self.lambda.clear();
        if terms.m > 0
            && !self.inner.solve(
                DEFAULT,
                &self.small.terms(terms.bias),
                &mut self.z,
                &mut self.lambda,
            )
        {
            return false;
        }
        self.small.take_back(bodies, &self.metric, &self.z, &mut self.v_dot);
        if self.refines {
            let (force, bias) = left(&own, &self.v_dot, &self.lambda);
            let nonideal = vec![0.0; terms.n];
            let more = Terms { force: &force, nonideal: &nonideal, bias: &bias, ..own };
            self.small.take_force(bodies, &more);
            let (mut change, mut multipliers) = (Vec::new(), Vec::new());
            self.z.clear();
            let is_found = terms.m == 0
                || self.inner.solve(
                    DEFAULT,
                    &self.small.terms(&bias),
                    &mut self.z,
                    &mut multipliers,
                );
            if is_found {
                self.small.take_back(bodies, &self.metric, &self.z, &mut change);
                self.v_dot.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
                self.lambda.iter_mut().zip(&multipliers).for_each(|(l, d)| *l += d);
            }
        }
        self.force.clear();
        self.force.extend(terms.force.iter().zip(terms.nonideal).map(|(f, c)| f + c));
        replace(&mut self.bias, terms.bias);
        replace(v_dot, &self.v_dot);
        replace(multipliers, &self.lambda);
        v_dot.iter().chain(&*multipliers).all(|x| x.is_finite())
    }

    /// The shortest change of v by which A v changes by `right`. False where solutions are refined.
    pub(crate) fn shortest(&mut self, right: &[f64], change: &mut Vec<f64>) -> bool {
        let Some(bodies) = self.pattern.bodies() else { return false };
        let small = &mut self.small;
        if self.refines || right.len() != small.m || self.metric.is_empty() {
            return false;
        }
        self.z.clear();
        if small.m > 0 && !self.inner.shortest(DEFAULT, right, &mut self.z) {
            return false;
        }
        zeros(&mut small.turned, small.n);
        small.take_back(bodies, &self.metric, &self.z, change);
        change.iter().all(|x| x.is_finite())
    }

    /// ρ_N and ρ_A of the last solution.
    pub(crate) fn residuals(&self) -> (f64, f64) {
        let Some(jacobian) = &self.of_rows else { return (0.0, 0.0) };
        let nothing = vec![0.0; self.force.len()];
        let terms = Terms {
            n: self.small.n,
            m: self.bias.len(),
            metric: &self.metric,
            force: &self.force,
            nonideal: &nothing,
            jacobian: &self.jacobian,
            bias: &self.bias,
            noise: None,
            inertia: &[],
            patterns: Some(crate::terms::Patterns { metric: &self.pattern, jacobian }),
        };
        residuals(&terms, &self.small.lengths, &self.v_dot, &self.lambda)
    }

    /// The least |L_kk| over the largest ‖B_k‖ there was: how far a row is from those before it.
    pub(crate) fn margin(&self) -> f64 {
        let small = &self.small;
        let part = |(k, longest): (usize, &f64)| match *longest > 0.0 && small.m < small.n {
            true => small.rows[k * small.n + k].abs() / longest,
            false => 1.0,
        };
        self.longest.iter().enumerate().map(part).fold(1.0, f64::min)
    }
}

fn replace(own: &mut Vec<f64>, by: &[f64]) {
    own.clear();
    own.extend_from_slice(by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::tests::{Random, random};
    use crate::terms::Patterns;

    /// Of what is held at rest a row has rounding alone, which is none of the motion's.
    #[test]
    fn rows_that_hold_a_coordinate_are_met() {
        let mut seed = Random(7);
        for case in 0..60 {
            let (bodies, metric) = random(&mut seed, 3 + case % 5, case % 2 == 0);
            let n = bodies.size();
            if n < 3 || !Articulated::default().factor(&bodies, &metric) {
                continue;
            }
            let held = seed.below(n);
            let jacobian: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == held))).collect();
            let [force, nonideal] =
                [1.0, 0.0].map(|by| -> Vec<f64> { (0..n).map(|_| by * seed.next()).collect() });
            let pattern = Arc::new(Pattern::of_bodies(bodies));
            let of_rows = Arc::new(Pattern::new(n, std::iter::once(0..n)));
            let terms = Terms {
                patterns: Some(Patterns { metric: &pattern, jacobian: &of_rows }),
                ..Terms::new(&metric, [&force, &nonideal], &jacobian, &[0.0])
            };
            let mut found = Outcome::default();
            let tolerances = Tolerances::default();
            DEFAULT.solve(&mut Scratch::default(), &terms, &tolerances, &mut found).expect("one");
            assert!(found.feasibility < 1e-12 && found.stationarity < 1e-12, "{case}: {found:?}");
            assert!(found.v_dot[held].abs() < 1e-9, "{case}: {:?}", found.v_dot);
        }
    }

    /// Random trees with rows, some of them dependent, against the same with all entries of Γ.
    #[test]
    fn trees_are_what_they_are_with_all_entries() {
        let mut seed = Random(23);
        let (mut frozen, mut dependent, mut doubted) = (0, 0, 0);
        for case in 0..400 {
            let (bodies, metric) = random(&mut seed, 2 + case % 12, case % 2 == 0);
            let n = bodies.size();
            if n < 2 || !Articulated::default().factor(&bodies, &metric) {
                continue;
            }
            let independent = seed.below(n.min(6));
            let mut rows: Vec<Vec<f64>> =
                (0..independent).map(|_| (0..n).map(|_| seed.next()).collect()).collect();
            for _ in 0..if independent > 1 { seed.below(3) } else { 0 } {
                let (a, b) = (seed.below(independent), seed.below(independent));
                rows.push((0..n).map(|i| rows[a][i] + 0.5 * rows[b][i]).collect());
                dependent += 1;
            }
            let v: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let bias: Vec<f64> =
                rows.iter().map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
            let (m, jacobian) = (rows.len(), rows.concat());
            let of_rows = Arc::new(Pattern::new(n, (0..m).map(|_| 0..n)));
            let pattern = Arc::new(Pattern::of_bodies(bodies));
            let force: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let nonideal: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let terms = Terms {
                patterns: Some(Patterns { metric: &pattern, jacobian: &of_rows }),
                ..Terms::new(&metric, [&force, &nonideal], &jacobian, &bias)
            };
            let full = pattern.dense(&metric);
            let dense = Terms { metric: &full, patterns: None, ..terms };
            let tolerances = Tolerances { rank: Some(1e-9), ..Tolerances::default() };
            let (mut of_tree, mut of_dense) = (Scratch::default(), Scratch::default());
            let (mut one, mut two) = (Outcome::default(), Outcome::default());
            DEFAULT.solve(&mut of_tree, &terms, &tolerances, &mut one).expect("a solution");
            if DEFAULT.solve(&mut of_dense, &dense, &tolerances, &mut two).is_err() {
                continue;
            }
            if two.rank.metric < n {
                continue;
            }
            let near = |a: &[f64], b: &[f64], tolerance: f64| {
                let most = a.iter().chain(b).fold(1e-9f64, |m, x| m.max(x.abs()));
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * most)
            };
            assert_eq!(one.rank.jacobian, two.rank.jacobian, "{case}");
            assert_eq!((one.motion, &one.indeterminate), (two.motion, &two.indeterminate));
            assert!(near(&one.v_dot, &two.v_dot, 1e-7), "{case}: {one:?} for {two:?}");
            assert!(near(&one.multipliers, &two.multipliers, 1e-7), "{case}: {one:?}");
            assert!(one.stationarity < 1e-12 && one.feasibility < 1e-12, "{case}: {one:?}");
            let mut own = Factored::default();
            assert!(own.adopt(&of_tree, &one), "{case}");
            let used: Vec<f64> = one
                .independent
                .iter()
                .flat_map(|&row| jacobian[row * n..(row + 1) * n].to_vec())
                .collect();
            let right: Vec<f64> = one.independent.iter().map(|&row| bias[row]).collect();
            let picked = Arc::new(of_rows.pick(&one.independent));
            let terms = Terms {
                m: right.len(),
                jacobian: &used,
                bias: &right,
                patterns: Some(Patterns { metric: &pattern, jacobian: &picked }),
                ..terms
            };
            assert!(own.refactor(DEFAULT, &terms), "{case}");
            let (mut v_dot, mut lambda) = (Vec::new(), Vec::new());
            assert!(own.solve(DEFAULT, &terms, &mut v_dot, &mut lambda), "{case}");
            if !own.holds() {
                // Near a loss of rank it asks for a new decision, which costs and harms nothing.
                doubted += 1;
                continue;
            }
            assert!(near(&v_dot, &one.v_dot, 1e-10), "{case}: {v_dot:?} for {:?}", one.v_dot);
            let (stationarity, feasibility) = own.residuals();
            assert!(stationarity < 1e-12 && feasibility < 1e-12, "{case}");
            let still = Terms { force: &vec![0.0; n], nonideal: &vec![0.0; n], ..terms };
            let mut change = Vec::new();
            if own.shortest(DEFAULT, &right, &mut change) {
                assert!(own.solve(DEFAULT, &still, &mut v_dot, &mut lambda));
                assert!(near(&change, &v_dot, 1e-10), "{case}");
            }
            frozen += 1;
        }
        assert!(frozen > 200 && dependent > 50, "{frozen} {dependent}");
        assert!(50 * doubted <= frozen, "{doubted} of {frozen} doubted");
    }
}
