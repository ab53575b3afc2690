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

use crate::eliminations::Scratch;
use crate::field::{Field, FieldError};
use crate::outcome::Outcome;
use crate::terms::{Terms, Tolerances};

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
        self.zero.clear();
        self.zero.resize(n.max(size), 0.0);
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            let (phi, _) = field.residuals(t, x)?;
            if phi.is_empty() {
                break;
            }
            self.drift.clear();
            self.drift.extend(phi.iter().map(|r| -r));
            field.position_jacobian(&mut self.matrix);
            drift.position = relative(&self.matrix, &x[..n], &self.drift);
            if drift.position <= 4.0 * f64::EPSILON || !(drift.position < 0.5 * last) {
                break;
            }
            last = drift.position;
            field.mass(&mut self.mass);
            let terms = Terms {
                n,
                m: self.drift.len(),
                metric: &self.mass,
                force: &self.zero[..n],
                nonideal: &self.zero[..n],
                jacobian: &self.matrix,
                drift: &self.drift,
                noise: None,
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
            drift.velocity = relative(&self.rows, &x[n..n + size], &self.drift);
            if drift.velocity <= 4.0 * f64::EPSILON || !(drift.velocity < 0.5 * last) {
                break;
            }
            last = drift.velocity;
            let terms = Terms {
                n: size,
                m: self.drift.len(),
                metric: &self.mass,
                force: &self.zero[..size],
                nonideal: &self.zero[..size],
                jacobian: &self.rows,
                drift: &self.drift,
                noise: None,
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
        let (n, size) = (field.n, field.size);
        let (phi, psi) = field.residuals(t, x)?;
        let (phi, psi) = (phi.to_vec(), psi.to_vec());
        let mut drift = Drift::default();
        if !phi.is_empty() {
            field.position_jacobian(&mut self.matrix);
            drift.position = relative(&self.matrix, &x[..n], &phi);
        }
        if !psi.is_empty() {
            let wanted = places(field);
            let (_, jacobian) = field.matrices(t, x)?;
            self.rows.clear();
            for row in wanted {
                self.rows.extend_from_slice(&jacobian[row * size..(row + 1) * size]);
            }
            drift.velocity = relative(&self.rows, &x[n..n + size], &psi);
        }
        Ok(drift)
    }
}

/// The rows of A that belong to the velocity residuals.
fn places(field: &Field) -> Vec<usize> {
    let residuals = field.equations.velocity_residuals.iter();
    residuals.filter_map(|r| field.equations.rows.iter().position(|row| *row == r.0)).collect()
}

fn solve(
    scratch: &mut Scratch,
    terms: &Terms,
    rank: f64,
    outcome: &mut Outcome,
) -> Result<(), FieldError> {
    let tolerances = Tolerances { rank: Some(rank), least_squares: true, ..Tolerances::default() };
    crate::DEFAULT.solve(scratch, terms, &tolerances, outcome).map_err(FieldError::Solve)?;
    if outcome.v_dot.len() != terms.n {
        return Err(FieldError::NoMotion(outcome.motion));
    }
    Ok(())
}

/// The largest residual relative to Σ|a_i x_i| of its row; where all of that
/// vanishes, relative to the largest such sum of all rows.
fn relative(rows: &[f64], x: &[f64], residuals: &[f64]) -> f64 {
    let n = x.len();
    let sizes: Vec<f64> = (0..residuals.len())
        .map(|j| rows[j * n..(j + 1) * n].iter().zip(x).map(|(a, x)| (a * x).abs()).sum())
        .collect();
    let largest = sizes.iter().fold(0f64, |m: f64, s| m.max(*s));
    let mut worst = 0f64;
    for (r, size) in residuals.iter().zip(&sizes) {
        if *r != 0.0 {
            let scale = size.max(1e-3 * largest);
            worst = worst.max(if scale > 0.0 { r.abs() / scale } else { r.abs() });
        }
    }
    worst
}
