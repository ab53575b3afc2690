//! Back onto the constraints, in the mass metric: positions first, then the own
//! velocities at the new positions.
//!
//! ```text
//! δq = −M⁻¹φ_qᵀ(φ_q M⁻¹φ_qᵀ)⁺ φ        δv = −Γ⁻¹Aᵀ(A Γ⁻¹Aᵀ)⁺ ψ
//! ```
//!
//! each repeated until nothing is left. Both are the problem of Gauss once more, so
//! the same rank-aware solve serves: dependent rows and a singular metric do no
//! harm. The projections in q̇, s and p are the same motion back.
//!
//! Where q̇ itself is projected and all constraints are on positions, A is φ_q and Γ is M. Rows are
//! chosen by the decision on the motion then, and factored once for both: next to the constraints they are the same before and after
//! positions were corrected, up to a part of a correction that is measured and repeated like any
//! other.

use crate::normal_form::layout::Chosen;
use crate::program::field::{Field, FieldError};
use dalembert_gauss::eliminations::{Scratch, SolveError};
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Noise, Patterns, Terms, Tolerances};
use dalembert_gauss::{DEFAULT, Factored, Pattern};
use std::sync::Arc;

/// Room for projections.
#[derive(Clone, Default)]
pub struct Projection {
    positions: Level,
    velocities: Level,
    /// Independent position rows; all of them until they were chosen.
    chosen: Option<Vec<usize>>,
    /// ψ before anything was corrected.
    entry: Vec<f64>,
    /// What the last projection found before it corrected anything.
    pub found: Violation,
}

/// What is left of the constraints, relative to the terms in each row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violation {
    /// Largest |φ|.
    pub position: f64,
    /// Largest |ψ|.
    pub velocity: f64,
    /// The largest of rows that are not in use, beyond rounding: rows that follow from those in
    /// use hold where these do.
    pub unused: f64,
}

/// Rows are dependent below this, at projected states.
pub(crate) const RANK: f64 = 1e-9;
/// Most Newton steps; from a state of an integration two are enough.
const MOST: usize = 8;
/// What is left where rounding begins.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Corrections of residuals below this part of their rows' terms move these terms by no more, and
/// what is left is measured by the terms there were.
const SMALL: f64 = 1e-6;
/// Rounding errors add up to no more than this many of their bounds.
const EXPLAINED: f64 = 16.0;

impl Projection {
    /// Chooses independent position rows at a state that satisfies them. Next to it
    /// the dependent ones hold by themselves, while together they would be
    /// independent by an amount that is all drift.
    pub fn choose(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &[f64],
        rank: f64,
    ) -> Result<(), FieldError> {
        let m = field.position_count();
        // Rows that were independent once stay so until the rank changes, which is
        // seen elsewhere.
        if m == 0 || self.chosen.as_ref().is_some_and(|p| p.len() == m) {
            return Ok(());
        }
        // What was decided of the same rows in the same metric is not asked again.
        if let Some(decision) = field.decision().filter(|_| field.has_rows_of_positions()) {
            self.positions.factored.clone_from(decision);
            self.positions.decided = field.rows().to_vec();
            self.use_positions(Some(field.rows().to_vec()));
            return Ok(());
        }
        let (n, level) = (field.n, &mut self.positions);
        field.residuals(t, x)?;
        level.take_matrices(field);
        level.zero.resize(level.zero.len().max(n).max(m), 0.0);
        let noise = field.noise();
        let terms = Terms {
            n,
            m,
            metric: &level.metric,
            force: &level.zero[..n],
            nonideal: &level.zero[..n],
            jacobian: &level.rows,
            bias: &level.zero[..m],
            noise: (!noise.mass.is_empty()).then_some(Noise {
                metric: &noise.mass,
                force: &level.zero[..n],
                jacobian: &noise.position_jacobian,
                bias: &level.zero[..m],
            }),
            inertia: &noise.mass_inertia,
            patterns: level.places.as_ref().map(|[metric, jacobian]| Patterns { metric, jacobian }),
        };
        solve(&mut level.scratch, &terms, rank, &mut level.outcome)?;
        level.factored.adopt(&level.scratch, &level.outcome);
        level.decided.clone_from(&level.outcome.independent);
        self.use_positions(Some(self.positions.outcome.independent.clone()));
        Ok(())
    }

    /// The position rows in use; all of them if `None`.
    pub fn positions(&self) -> Option<&[usize]> {
        self.chosen.as_deref()
    }

    /// Uses other position rows.
    pub fn use_positions(&mut self, positions: Option<Vec<usize>>) {
        self.chosen = positions;
        self.positions.used.clear();
    }

    /// Projects a state in place.
    pub fn project(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &mut [f64],
        rank: f64,
    ) -> Result<Violation, FieldError> {
        let (n, size) = (field.n, field.size);
        let mut violation = Violation::default();
        self.found = Violation::default();
        let (_, psi) = field.residuals(t, x)?;
        self.entry.clear();
        self.entry.extend_from_slice(psi);
        // Whether the residuals are those of the state,
        let mut is_there = true;
        // and the rows of positions, as loaded, serve the velocities too.
        let mut is_shared = false;
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            if !std::mem::replace(&mut is_there, true) {
                field.residuals(t, x)?;
            }
            let level = &mut self.positions;
            let is_measured = last < SMALL;
            if is_measured {
                level.residuals.copy_from_slice(field.position_residuals());
            } else if !level.load_positions(field, &x[..n], self.chosen.as_deref()) {
                break;
            }
            violation.position = level.largest(&level.residuals);
            violation.unused = level.unused();
            if last == f64::INFINITY {
                self.found.position = violation.position;
            }
            let left = level.by_terms();
            if last == f64::INFINITY {
                is_shared = left < SMALL && field.has_rows_of_positions();
            }
            if left <= ROUNDING || !(left < 0.5 * last) {
                break;
            }
            last = left;
            if is_measured {
                level.load_positions(field, &x[..n], self.chosen.as_deref());
            }
            let correction = level.correct(&field.noise().mass_inertia, rank)?;
            x.iter_mut().zip(correction).for_each(|(x, d)| *x += d);
            is_there = false;
        }
        let mut last = f64::INFINITY;
        let mut unused_velocity = 0.0;
        for _ in 0..MOST {
            if !std::mem::replace(&mut is_there, true) {
                field.residuals(t, x)?;
            }
            let level = &mut self.velocities;
            let is_measured = last < SMALL;
            if is_measured {
                level.residuals.copy_from_slice(field.velocity_residuals());
            } else if is_shared {
                level.load_beside(field, &self.positions, &x[n..n + size]);
            } else if !level.load_velocities(field, t, x)? {
                break;
            }
            if last == f64::INFINITY {
                level.before.clone_from(&level.terms);
                level.most.resize(level.terms.len(), 0.0);
                let most = level.most.iter_mut().zip(&level.terms);
                most.for_each(|(most, terms)| *most = most.max(*terms));
            }
            violation.velocity = level.largest(&level.residuals);
            unused_velocity = level.unused();
            if last == f64::INFINITY {
                // Correcting positions by a rounding error may move ψ by many.
                self.found.velocity = level.largest(&self.entry);
            }
            let left = level.by_terms();
            if left <= ROUNDING || !(left < 0.5 * last) {
                break;
            }
            last = left;
            let was_shared = is_shared;
            is_shared = is_shared && level.correct_beside(&mut self.positions);
            if !is_shared {
                if is_measured || was_shared {
                    level.load_velocities(field, t, x)?;
                }
                level.correct_velocities(field, rank)?;
            }
            let correction = &level.outcome.v_dot;
            x[n..n + size].iter_mut().zip(correction).for_each(|(x, d)| *x += d);
            is_there = false;
        }
        violation.unused = violation.unused.max(unused_velocity);
        Ok(violation)
    }

    /// What is left of the constraints at a state.
    pub fn violation(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &[f64],
    ) -> Result<Violation, FieldError> {
        self.violation_beside(field, (t, x), (t, x))
    }

    /// The same, relative to the terms at another state: where rows vanish there are none.
    pub fn violation_beside(
        &mut self,
        field: &mut Field,
        (t, x): (f64, &[f64]),
        (beside_t, beside): (f64, &[f64]),
    ) -> Result<Violation, FieldError> {
        let (phi, psi) = field.residuals(t, x)?;
        let (phi, psi) = (phi.to_vec(), psi.to_vec());
        field.residuals(beside_t, beside)?;
        let mut violation = Violation::default();
        let (positions, velocities) = (&mut self.positions, &mut self.velocities);
        if positions.load_positions(field, &beside[..field.n], self.chosen.as_deref()) {
            violation.position = positions.largest(&phi);
        }
        if velocities.load_velocities(field, beside_t, beside)? {
            velocities.before.clear();
            violation.velocity = velocities.largest(&psi);
        }
        Ok(violation)
    }
}

/// The constraints of one level at a state, and their shortest correction.
#[derive(Clone, Default)]
struct Level {
    /// Their derivatives, row by row, and the metric: where these were needed. Dense, or entries
    /// at the places of patterns.
    rows: Vec<f64>,
    metric: Vec<f64>,
    places: Option<[Arc<Pattern>; 2]>,
    /// What they are.
    residuals: Vec<f64>,
    /// Rounding errors of the residuals.
    noise: Vec<f64>,
    /// The size of the terms of each.
    terms: Vec<f64>,
    /// The same before anything was corrected: velocities that come to 0 leave rounding of these.
    before: Vec<f64>,
    /// The largest that they have been: what has come to rest moves by rounding of that.
    most: Vec<f64>,
    /// Those in use, and the rows of A in use that these were found from.
    used: Vec<usize>,
    is_used: Vec<bool>,
    /// Whether these are all, in order.
    has_all: bool,
    found_from: Vec<usize>,
    picked: Chosen,
    of_velocities: Chosen,
    picked_right: Vec<f64>,
    zero: Vec<f64>,
    /// What each component would be if it were as large as the largest where masses are equal.
    sizes: Vec<f64>,
    units: Units,
    scratch: Scratch,
    outcome: Outcome,
    /// The decision of a state before, and the rows it was made for.
    factored: Factored,
    decided: Vec<usize>,
    /// Whether the factors are those of what was loaded.
    has_factors: bool,
}

impl Level {
    /// φ of the last [`Field::residuals`] and its derivatives; false if there are none.
    fn load_positions(&mut self, field: &Field, q: &[f64], chosen: Option<&[usize]>) -> bool {
        let phi = field.position_residuals();
        self.residuals.clear();
        self.residuals.extend_from_slice(phi);
        if phi.is_empty() {
            return false;
        }
        self.take_matrices(field);
        self.has_factors = false;
        self.noise.clone_from(&field.noise().positions);
        self.noise.resize(phi.len(), 0.0);
        if self.used.is_empty() || self.is_used.len() != phi.len() {
            self.used.clear();
            match chosen {
                Some(chosen) => self.used.extend_from_slice(chosen),
                None => self.used.extend(0..phi.len()),
            }
            self.mark_used();
        }
        self.measure_by(field, q, None);
        true
    }

    /// φ_q and M of the last [`Field::residuals`].
    fn take_matrices(&mut self, field: &Field) {
        field.position_jacobian(&mut self.rows);
        field.mass(&mut self.metric);
        let (rows, mass) = field.position_matrices();
        self.places = match (mass.pattern(), rows.pattern()) {
            (Some(metric), Some(jacobian)) => Some([metric.clone(), jacobian.clone()]),
            _ => None,
        };
    }

    /// Measures by φ_q and M as they were loaded here, or at another level.
    fn measure_by(&mut self, field: &Field, x: &[f64], other: Option<&Level>) {
        if other.is_none() {
            self.units.see(x.len(), |i| field.mass_of(i).unwrap_or(1.0));
        }
        other.map_or(&self.units, |level| &level.units).spread(x, &mut self.sizes);
        let Level { sizes, terms, rows, .. } = self;
        let rows = other.map_or(&*rows, |level| &level.rows);
        let row = |j: usize| field.position_matrices().0.row(rows, j);
        measure(x, (0..field.position_count()).map(row), sizes, terms);
    }

    /// ψ of the last [`Field::residuals`] and its rows of A; false if there are none.
    fn load_velocities(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &[f64],
    ) -> Result<bool, FieldError> {
        let (n, size) = (field.n, field.size);
        self.residuals.clear();
        self.residuals.extend_from_slice(field.velocity_residuals());
        if self.residuals.is_empty() {
            return Ok(false);
        }
        field.matrices(t, x)?;
        let jacobian = field.last_matrices().1;
        let v = &x[n..n + size];
        let rows = field.velocity_rows().iter().map(|&row| field.row(jacobian, row));
        self.units.see(size, |i| field.last_mass(i));
        self.units.spread(v, &mut self.sizes);
        measure(v, rows, &self.sizes, &mut self.terms);
        self.load_noise(field, v);
        Ok(true)
    }

    /// ψ of the last [`Field::residuals`], by the rows of the positions, as they were loaded.
    fn load_beside(&mut self, field: &Field, positions: &Level, v: &[f64]) {
        self.residuals.clear();
        self.residuals.extend_from_slice(field.velocity_residuals());
        self.measure_by(field, v, Some(positions));
        self.load_noise(field, v);
    }

    /// Rounding errors of ψ, and which of its rows are in use.
    fn load_noise(&mut self, field: &Field, v: &[f64]) {
        // Of what it is at rest, and of the entries of A times v.
        let noise = field.noise();
        self.noise.clear();
        for (j, &row) in field.velocity_rows().iter().enumerate() {
            let moving: f64 = field.row(&noise.rows, row).map(|(i, a)| a * v[i].abs()).sum();
            self.noise.push(moving + noise.velocities.get(j).copied().unwrap_or(0.0));
        }
        if self.found_from != field.rows() || self.is_used.len() != self.residuals.len() {
            self.found_from = field.rows().to_vec();
            let rows = field.velocity_rows().iter().enumerate();
            let mut is_in_use = vec![false; field.equations.rows.len()];
            self.found_from.iter().for_each(|&row| is_in_use[row] = true);
            self.used = rows.filter(|(_, row)| is_in_use[**row]).map(|(at, _)| at).collect();
            self.mark_used();
        }
    }

    fn mark_used(&mut self) {
        self.is_used.clear();
        self.is_used.resize(self.residuals.len(), false);
        self.used.iter().for_each(|&j| self.is_used[j] = true);
        self.has_all = self.used.iter().copied().eq(0..self.residuals.len());
    }

    /// The largest residual relative to the terms of its row.
    ///
    /// A row whose gradient vanishes on the constraints has no terms, and its rounding errors
    /// tell the size of those that cancel in it. Such a row is not in use. One that is, is held
    /// as well as it can be evaluated: beyond its rounding errors, what is left of it counts by
    /// its own terms, however large those are that cancel.
    fn largest(&self, residuals: &[f64]) -> f64 {
        let mut worst = 0f64;
        let scales = self.terms.iter().zip(&self.noise).zip(&self.is_used);
        for (j, (r, ((&own, &noise), &is_used))) in residuals.iter().zip(scales).enumerate() {
            let r = r.abs();
            if r == 0.0 {
                continue;
            }
            let own = self.before.get(j).map_or(own, |before| own.max(*before));
            worst = worst.max(ratio(r, own.max(0.1 * noise / f64::EPSILON)));
            if is_used {
                worst = worst.max(ratio(r - EXPLAINED * noise, own));
            }
        }
        worst
    }

    /// The largest residual of rows that are not in use, beyond rounding.
    fn unused(&self) -> f64 {
        if self.used.len() == self.residuals.len() {
            return 0.0;
        }
        let rows = (0..self.residuals.len()).filter(|j| !self.is_used[*j]);
        rows.fold(0f64, |most, j| {
            let (own, noise) = (self.terms[j], self.noise[j]);
            let own = self.most.get(j).map_or(own, |most| own.max(*most));
            let beyond = self.residuals[j].abs() - EXPLAINED * noise;
            most.max(ratio(beyond, own.max(0.1 * noise / f64::EPSILON)))
        })
    }

    /// The largest residual of the rows in use relative to their own terms. Corrections go on
    /// while this gets less, whatever rounding would explain.
    fn by_terms(&self) -> f64 {
        self.used.iter().fold(0f64, |m, &j| m.max(ratio(self.residuals[j].abs(), self.terms[j])))
    }

    /// The shortest correction of the velocities by the factors of the positions. False if these
    /// do not serve.
    fn correct_beside(&mut self, positions: &mut Level) -> bool {
        if positions.used != self.used || !(positions.has_factors || positions.factor()) {
            return false;
        }
        self.picked_right.clear();
        self.picked_right.extend(positions.used.iter().map(|&row| -self.residuals[row]));
        positions.factored.shortest(DEFAULT, &self.picked_right, &mut self.outcome.v_dot)
    }

    /// The shortest correction of the velocities at the state that was loaded last.
    fn correct_velocities(&mut self, field: &mut Field, rank: f64) -> Result<&[f64], FieldError> {
        // The rows of the motion are these, unless some are about accelerations alone.
        if self.used.len() == field.rows().len() {
            self.picked_right.clear();
            let rows = field.velocity_rows();
            if self.used.iter().map(|&at| &rows[at]).eq(field.rows()) {
                self.picked_right.extend(self.used.iter().map(|&at| -self.residuals[at]));
            } else {
                let at = |row: &usize| self.used.iter().find(|&&at| rows[at] == *row);
                let right = field.rows().iter().filter_map(at).map(|&at| -self.residuals[at]);
                self.picked_right.extend(right);
            }
            if field.shortest_change(&self.picked_right, &mut self.outcome.v_dot) {
                return Ok(&self.outcome.v_dot);
            }
        }
        self.metric.clear();
        self.metric.extend_from_slice(field.last_matrices().0);
        field.take_rows(&mut self.of_velocities);
        self.rows.clear();
        self.rows.extend_from_slice(self.of_velocities.jacobian());
        let places = field.patterns().zip(self.of_velocities.pattern());
        self.places = places.map(|(of, rows)| [of.metric.clone(), rows.clone()]);
        self.correct(&field.noise().inertia, rank)
    }

    /// Picks the rows in use, where these are not all.
    fn pick(&mut self) {
        let (n, m) = (self.sizes.len(), self.used.len());
        self.zero.resize(self.zero.len().max(n).max(m), 0.0);
        if !self.has_all {
            let pattern = self.places.as_ref().map(|[_, rows]| rows);
            self.picked.pick(&self.used, n, pattern, &self.rows);
        }
    }

    /// Factors the rows in use on the decision of a state before. False if that does not serve.
    fn factor(&mut self) -> bool {
        self.pick();
        let (terms, rest) = self.problem(&[]);
        let Rest { factored, decided, used, .. } = rest;
        let has_factors =
            factored.is_decided() && decided == used && factored.refactor(DEFAULT, &terms);
        self.has_factors = has_factors;
        has_factors
    }

    /// The problem of the shortest correction of the rows in use, and what is not in it.
    fn problem<'a>(&'a mut self, inertia: &'a [f64]) -> (Terms<'a>, Rest<'a>) {
        let (n, m) = (self.sizes.len(), self.used.len());
        let (jacobian, rows) = match self.has_all {
            true => (&*self.rows, self.places.as_ref().map(|[_, rows]| rows)),
            false => (self.picked.jacobian(), self.picked.pattern()),
        };
        let metric = self.places.as_ref().map(|[metric, _]| metric);
        let patterns = metric.zip(rows).map(|(metric, jacobian)| Patterns { metric, jacobian });
        let is_filled = self.picked_right.len() == m;
        let terms = Terms {
            n,
            m,
            metric: &self.metric,
            force: &self.zero[..n],
            nonideal: &self.zero[..n],
            jacobian,
            bias: if is_filled { &self.picked_right } else { &self.zero[..m] },
            noise: None,
            inertia,
            patterns,
        };
        let rest = Rest {
            factored: &mut self.factored,
            decided: &mut self.decided,
            used: &self.used,
            scratch: &mut self.scratch,
            outcome: &mut self.outcome,
            has_factors: self.has_factors,
        };
        (terms, rest)
    }

    /// The shortest correction of the rows in use, on the decision of a state before if that
    /// serves.
    fn correct(&mut self, inertia: &[f64], rank: f64) -> Result<&[f64], FieldError> {
        self.picked_right.clear();
        self.picked_right.extend(self.used.iter().map(|&row| -self.residuals[row]));
        self.factor();
        let (terms, rest) = self.problem(inertia);
        let Rest { factored, decided, used, scratch, outcome, has_factors } = rest;
        let is_found = has_factors
            && (factored.shortest(DEFAULT, terms.bias, &mut outcome.v_dot)
                || factored.solve(DEFAULT, &terms, &mut outcome.v_dot, &mut outcome.multipliers));
        if !is_found {
            solve(scratch, &terms, rank, outcome)?;
            factored.adopt(scratch, outcome);
            decided.clone_from(used);
        }
        Ok(&self.outcome.v_dot)
    }
}

/// A level without the problem that it poses.
struct Rest<'a> {
    factored: &'a mut Factored,
    decided: &'a mut Vec<usize>,
    used: &'a Vec<usize>,
    scratch: &'a mut Scratch,
    outcome: &'a mut Outcome,
    has_factors: bool,
}

/// The shortest correction. A metric that is indefinite on these rows (other ones may remove its
/// negative directions) measures no distance; the sizes of its diagonal do.
pub(crate) fn solve(
    scratch: &mut Scratch,
    terms: &Terms,
    rank: f64,
    outcome: &mut Outcome,
) -> Result<(), FieldError> {
    let tolerances = Tolerances { rank: Some(rank), least_squares: true, ..Tolerances::default() };
    let mut found = DEFAULT.solve(scratch, terms, &tolerances, outcome);
    if let Err(SolveError::IndefiniteMetric { .. }) = found {
        let n = terms.n;
        let place = |i: usize| match terms.patterns {
            Some(patterns) => patterns.metric.place(i, i),
            None => Some(i * n + i),
        };
        let mut sizes = vec![0.0; terms.metric.len()];
        for at in (0..n).filter_map(place) {
            sizes[at] = terms.metric[at].abs();
        }
        let terms = Terms { metric: &sizes, ..*terms };
        found = DEFAULT.solve(scratch, &terms, &tolerances, outcome);
    }
    found?;
    if outcome.v_dot.len() != terms.n {
        return Err(FieldError::NoMotion(outcome.motion));
    }
    Ok(())
}

/// √Γ_ii and 1/√Γ_ii, of the diagonal of a metric as it was seen last: masses are mostly constant.
#[derive(Clone, Default)]
struct Units {
    diagonal: Vec<f64>,
    /// Both; 0 for the inverse of 0.
    of: Vec<(f64, f64)>,
}

impl Units {
    /// Looks at the diagonal of a metric.
    fn see(&mut self, n: usize, mass: impl Fn(usize) -> f64) {
        self.diagonal.resize(n, f64::NAN);
        self.of.resize(n, (0.0, 0.0));
        for (i, (seen, unit)) in self.diagonal.iter_mut().zip(&mut self.of).enumerate() {
            let own = mass(i);
            if own != *seen {
                let root = own.abs().sqrt();
                (*seen, *unit) = (own, (root, if root > 0.0 { 1.0 / root } else { 0.0 }));
            }
        }
    }

    /// What each component would be if it were as large as the largest where masses are equal.
    fn spread(&self, x: &[f64], sizes: &mut Vec<f64>) {
        let units = self.of.iter().zip(x);
        let longest = units.clone().fold(0f64, |most, (unit, x)| {
            let own = unit.0 * x.abs();
            if own > most { own } else { most }
        });
        sizes.clear();
        // A component without mass has only itself to go by.
        sizes.extend(units.map(|(unit, x)| if unit.0 > 0.0 { longest * unit.1 } else { x.abs() }));
    }
}

/// The size of the terms of each row, Σ|a_i x_i|; where that vanishes, a part of what it would be
/// for components of the sizes that others have where masses are equal.
fn measure<R: Iterator<Item = (usize, f64)>>(
    x: &[f64],
    rows: impl Iterator<Item = R>,
    sizes: &[f64],
    measured: &mut Vec<f64>,
) {
    measured.clear();
    for row in rows {
        let (mut terms, mut whole) = (0.0, 0.0);
        for (i, a) in row {
            terms += (a * x[i]).abs();
            whole += if a != 0.0 { a.abs() * sizes[i] } else { 0.0 };
        }
        // A row that only says that something is 0 has no terms to measure by.
        measured.push(f64::max(terms, 1e-2 * whole));
    }
}

/// A residual relative to a scale, if there is one.
fn ratio(r: f64, scale: f64) -> f64 {
    match r > 0.0 {
        true if scale > 0.0 => r / scale,
        true => 1.0,
        false => 0.0,
    }
}
