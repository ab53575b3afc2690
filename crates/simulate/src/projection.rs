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

use crate::field::{Field, FieldError};
use dalembert_gauss::eliminations::{Scratch, SolveError};
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Noise, Terms, Tolerances};

/// Room for projections.
#[derive(Default)]
pub struct Projection {
    scratch: Scratch,
    outcome: Outcome,
    matrix: Vec<f64>,
    mass: Vec<f64>,
    drift: Vec<f64>,
    zero: Vec<f64>,
    rows: Vec<f64>,
    picked: Vec<f64>,
    picked_drift: Vec<f64>,
    /// Independent position rows; all of them until they were chosen.
    positions: Option<Vec<usize>>,
    /// ψ before anything was corrected.
    entry: Vec<f64>,
    /// What the last projection found before it corrected anything.
    pub found: Drift,
}

/// What is left of the constraints, relative to the terms in each row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// Largest |φ|.
    pub position: f64,
    /// Largest |ψ|.
    pub velocity: f64,
}

/// Most Newton steps; from a state of an integration two are enough.
const MOST: usize = 8;

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
        let n = field.n;
        let (phi, _) = field.residuals(t, x)?;
        let m = phi.len();
        // Rows that were independent once stay so until the rank changes, which is
        // seen elsewhere.
        if m == 0 || self.positions.as_ref().is_some_and(|p| p.len() == m) {
            return Ok(());
        }
        field.position_jacobian(&mut self.matrix);
        field.mass(&mut self.mass);
        self.zero.clear();
        self.zero.resize(n.max(m), 0.0);
        let noise = field.noise();
        let terms = Terms {
            n,
            m,
            metric: &self.mass,
            force: &self.zero[..n],
            nonideal: &self.zero[..n],
            jacobian: &self.matrix,
            drift: &self.zero[..m],
            noise: (!noise.mass.is_empty()).then_some(Noise {
                metric: &noise.mass,
                force: &self.zero[..n],
                jacobian: &noise.position_jacobian,
                drift: &self.zero[..m],
            }),
            inertia: &noise.mass_inertia,
        };
        solve(&mut self.scratch, &terms, rank, &mut self.outcome)?;
        self.positions = Some(self.outcome.independent.clone());
        Ok(())
    }

    /// The position rows in use; all of them if `None`.
    pub fn positions(&self) -> Option<&[usize]> {
        self.positions.as_deref()
    }

    /// Uses other position rows.
    pub fn use_positions(&mut self, positions: Option<Vec<usize>>) {
        self.positions = positions;
    }

    /// Projects a state in place.
    pub fn project(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &mut [f64],
        rank: f64,
    ) -> Result<Drift, FieldError> {
        let (n, size) = (field.n, field.size);
        let mut drift = Drift::default();
        self.found = Drift::default();
        self.zero.clear();
        self.zero.resize(n.max(size), 0.0);
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            let (phi, psi) = field.residuals(t, x)?;
            if last == f64::INFINITY {
                self.entry.clear();
                self.entry.extend_from_slice(psi);
            }
            if phi.is_empty() {
                break;
            }
            self.drift.clear();
            self.drift.extend(phi.iter().map(|r| -r));
            field.position_jacobian(&mut self.matrix);
            field.mass(&mut self.mass);
            let noise = &field.noise().positions;
            let all: Vec<usize> = (0..self.drift.len()).collect();
            let chosen = self.positions.as_ref().unwrap_or(&all);
            let measure = Measure { rows: &self.matrix, x: &x[..n], noise, metric: &self.mass };
            drift.position = measure.largest(&self.drift, chosen);
            if last == f64::INFINITY {
                self.found.position = drift.position;
            }
            let left = measure.by_terms(&self.drift, chosen);
            if left <= 4.0 * f64::EPSILON || !(left < 0.5 * last) {
                break;
            }
            last = left;
            pick(&self.matrix, &self.drift, n, chosen, &mut self.picked, &mut self.picked_drift);
            let terms = Terms {
                n,
                m: self.picked_drift.len(),
                metric: &self.mass,
                force: &self.zero[..n],
                nonideal: &self.zero[..n],
                jacobian: &self.picked,
                drift: &self.picked_drift,
                noise: None,
                inertia: &field.noise().mass_inertia,
            };
            solve(&mut self.scratch, &terms, rank, &mut self.outcome)?;
            for (x, d) in x.iter_mut().zip(&self.outcome.v_dot) {
                *x += d;
            }
        }
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            let (_, psi) = field.residuals(t, x)?;
            if psi.is_empty() {
                break;
            }
            self.drift.clear();
            self.drift.extend(psi.iter().map(|r| -r));
            let wanted: Vec<usize> = places(field);
            let (metric, jacobian) = field.matrices(t, x)?;
            self.rows.clear();
            for row in wanted {
                self.rows.extend_from_slice(&jacobian[row * size..(row + 1) * size]);
            }
            self.mass.clear();
            self.mass.extend_from_slice(metric);
            let noise = &moving_noise(field, &x[n..n + size]);
            let chosen = in_use(field);
            let v = &x[n..n + size];
            let measure = Measure { rows: &self.rows, x: v, noise, metric: &self.mass };
            drift.velocity = measure.largest(&self.drift, &chosen);
            if last == f64::INFINITY {
                // Correcting positions by a rounding error may move ψ by many.
                self.found.velocity = measure.largest(&self.entry, &chosen);
            }
            let left = measure.by_terms(&self.drift, &chosen);
            if left <= 4.0 * f64::EPSILON || !(left < 0.5 * last) {
                break;
            }
            last = left;
            pick(&self.rows, &self.drift, size, &chosen, &mut self.picked, &mut self.picked_drift);
            let terms = Terms {
                n: size,
                m: self.picked_drift.len(),
                metric: &self.mass,
                force: &self.zero[..size],
                nonideal: &self.zero[..size],
                jacobian: &self.picked,
                drift: &self.picked_drift,
                noise: None,
                inertia: &field.noise().inertia,
            };
            solve(&mut self.scratch, &terms, rank, &mut self.outcome)?;
            for (x, d) in x[n..].iter_mut().zip(&self.outcome.v_dot) {
                *x += d;
            }
        }
        Ok(drift)
    }

    /// What is left of the constraints at a state.
    pub fn drift(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Result<Drift, FieldError> {
        self.drift_beside(field, (t, x), (t, x))
    }

    /// The same, relative to the terms at another state: where rows vanish there are none.
    pub fn drift_beside(
        &mut self,
        field: &mut Field,
        (t, x): (f64, &[f64]),
        (beside_t, beside): (f64, &[f64]),
    ) -> Result<Drift, FieldError> {
        let (n, size) = (field.n, field.size);
        let (phi, psi) = field.residuals(t, x)?;
        let (phi, psi) = (phi.to_vec(), psi.to_vec());
        let (t, x) = (beside_t, beside);
        field.residuals(t, x)?;
        let mut drift = Drift::default();
        if !phi.is_empty() {
            field.position_jacobian(&mut self.matrix);
            field.mass(&mut self.mass);
            let noise = &field.noise().positions;
            let all: Vec<usize> = (0..phi.len()).collect();
            let chosen = self.positions.as_ref().unwrap_or(&all);
            let measure = Measure { rows: &self.matrix, x: &x[..n], noise, metric: &self.mass };
            drift.position = measure.largest(&phi, chosen);
        }
        if !psi.is_empty() {
            let wanted = places(field);
            let (metric, jacobian) = field.matrices(t, x)?;
            self.mass.clear();
            self.mass.extend_from_slice(metric);
            self.rows.clear();
            for row in wanted {
                self.rows.extend_from_slice(&jacobian[row * size..(row + 1) * size]);
            }
            let noise = &moving_noise(field, &x[n..n + size]);
            let v = &x[n..n + size];
            let measure = Measure { rows: &self.rows, x: v, noise, metric: &self.mass };
            drift.velocity = measure.largest(&psi, &in_use(field));
        }
        Ok(drift)
    }
}

/// Some rows of a matrix and of its right side.
fn pick(
    matrix: &[f64],
    right: &[f64],
    columns: usize,
    rows: &[usize],
    picked: &mut Vec<f64>,
    picked_right: &mut Vec<f64>,
) {
    picked.clear();
    picked_right.clear();
    for &row in rows {
        picked.extend_from_slice(&matrix[row * columns..(row + 1) * columns]);
        picked_right.push(right[row]);
    }
}

/// The rows of A that belong to the velocity residuals.
fn places(field: &Field) -> Vec<usize> {
    let residuals = field.equations.velocity_residuals.iter();
    residuals.filter_map(|r| field.equations.rows.iter().position(|row| *row == r.0)).collect()
}

/// The velocity residuals whose rows of A are in use.
fn in_use(field: &Field) -> Vec<usize> {
    let rows = places(field).into_iter().enumerate();
    rows.filter(|(_, row)| field.rows().contains(row)).map(|(at, _)| at).collect()
}

/// Rounding errors of ψ at velocities v: of what it is at rest, and of the entries of A times v.
fn moving_noise(field: &Field, v: &[f64]) -> Vec<f64> {
    let (noise, size) = (field.noise(), v.len());
    let of_row = |row: usize| -> f64 {
        let entries = noise.rows.get(row * size..(row + 1) * size).unwrap_or_default();
        entries.iter().zip(v).map(|(a, v)| a * v.abs()).sum()
    };
    let rows = places(field).into_iter().enumerate();
    rows.map(|(j, row)| of_row(row) + noise.velocities.get(j).copied().unwrap_or(0.0)).collect()
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
    let mut found = dalembert_gauss::DEFAULT.solve(scratch, terms, &tolerances, outcome);
    if let Err(SolveError::IndefiniteMetric { .. }) = found {
        let n = terms.n;
        let mut sizes = vec![0.0; n * n];
        (0..n).for_each(|i| sizes[i * n + i] = terms.metric[i * n + i].abs());
        let terms = Terms { metric: &sizes, ..*terms };
        found = dalembert_gauss::DEFAULT.solve(scratch, &terms, &tolerances, outcome);
    }
    found?;
    if outcome.v_dot.len() != terms.n {
        return Err(FieldError::NoMotion(outcome.motion));
    }
    Ok(())
}

/// Rounding errors add up to no more than this many of their bounds.
const EXPLAINED: f64 = 16.0;

/// By what residuals are measured.
struct Measure<'a> {
    /// A, row by row.
    rows: &'a [f64],
    x: &'a [f64],
    /// Rounding errors of the residuals.
    noise: &'a [f64],
    metric: &'a [f64],
}

impl Measure<'_> {
    /// The largest residual relative to Σ|a_i x_i| of its row; where that vanishes, relative to
    /// what it would be for components of the size that others have where masses are equal.
    ///
    /// A row whose gradient vanishes on the constraints has not even these terms, and its
    /// rounding errors tell the size of those that cancel in it. Such a row is not in use. One
    /// that is, is held as well as it can be evaluated: beyond its rounding errors, what is left
    /// of it counts by its own terms, however large those are that cancel.
    fn largest(&self, residuals: &[f64], used: &[usize]) -> f64 {
        let mut worst = 0f64;
        for (j, r) in residuals.iter().map(|r| r.abs()).enumerate().filter(|(_, r)| *r != 0.0) {
            let (own, noise) = (self.terms(j), self.noise.get(j).copied().unwrap_or(0.0));
            worst = worst.max(ratio(r, own.max(0.1 * noise / f64::EPSILON)));
            if used.contains(&j) {
                worst = worst.max(ratio(r - EXPLAINED * noise, own));
            }
        }
        worst
    }

    /// The largest residual of the rows in use relative to their own terms. Corrections go on
    /// while this gets less, whatever rounding would explain.
    fn by_terms(&self, residuals: &[f64], used: &[usize]) -> f64 {
        used.iter().fold(0f64, |m, &j| m.max(ratio(residuals[j].abs(), self.terms(j))))
    }

    /// The size of the terms of a row.
    fn terms(&self, j: usize) -> f64 {
        let (n, x) = (self.x.len(), self.x);
        let row = &self.rows[j * n..(j + 1) * n];
        let unit = |i: usize| self.metric.get(i * n + i).map_or(1.0, |g| g.abs().sqrt());
        let longest = (0..n).fold(0f64, |m, i| m.max(unit(i) * x[i].abs()));
        // A component without mass has only itself to go by.
        let size = |i: usize| if unit(i) > 0.0 { longest / unit(i) } else { x[i].abs() };
        let terms = row.iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
        let entries = row.iter().enumerate().filter(|(_, a)| **a != 0.0);
        let whole = entries.map(|(i, a)| a.abs() * size(i)).sum::<f64>();
        // A row that only says that something is 0 has no terms to measure by.
        terms.max(1e-2 * whole)
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
