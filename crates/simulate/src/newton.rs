//! Newton's method for the unknowns behind a formulation's own variables: the
//! velocities behind momenta (p = L_q̇), the momenta behind velocities (q̇ = H_p).
//!
//! Exact in one step where the relation is linear. Otherwise steps are halved
//! until the residual falls, so that a relation that is only defined in a part of
//! space (velocities below that of light) is not left for good.

use crate::coupled::CoupledError;
use crate::linalg::lu;
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Jacobian, Symbol};

/// Why no solution was found.
#[derive(Clone, Debug, PartialEq)]
pub enum NewtonError {
    /// The matrix of derivatives is singular.
    Singular,
    /// The iteration came to a standstill with this residual left.
    Stuck {
        /// Largest residual.
        residual: f64,
    },
    /// Forces and the multipliers they depend on were not found together.
    Coupled(CoupledError),
}

impl std::fmt::Display for NewtonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NewtonError::Singular => {
                f.write_str("the momenta and the velocities do not determine each other here")
            }
            NewtonError::Stuck { residual } => write!(
                f,
                "no velocities were found for these momenta (or the reverse): {residual:.1e} is left over"
            ),
            NewtonError::Coupled(error) => error.fmt(f),
        }
    }
}

/// Most iterations.
const MOST: usize = 100;

/// Solves f(w) = y for the symbols w; the table holds everything else, and w's
/// first guess if it has one (0 otherwise). On success the table holds w.
pub fn solve(
    setting: &Setting,
    table: &mut Table,
    symbols: &[Symbol],
    f: &[ExprId],
    jacobian: &Jacobian,
    y: Option<&[f64]>,
) -> Result<Vec<f64>, NewtonError> {
    let n = symbols.len();
    let mut w: Vec<f64> = symbols.iter().map(|&s| table.get(s).unwrap_or(0.0)).collect();
    let entries: Vec<ExprId> = jacobian.rows.iter().flatten().map(|e| e.1).collect();
    // Residuals, and the largest in units of its own rounding noise.
    let residual = |w: &[f64], table: &mut Table| -> (Vec<f64>, f64, f64) {
        table.set_all(symbols, w);
        let values = setting.evaluate(f, table);
        let mut worst = 0f64;
        let r: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let target = y.map_or(0.0, |y| y[i]);
                let r = v.value - target;
                let noise = v.noise + f64::EPSILON * target.abs();
                worst = worst.max(if r == 0.0 { 0.0 } else { r.abs() / noise });
                if r.is_finite() { r } else { f64::INFINITY }
            })
            .collect();
        let size = r.iter().fold(0f64, |m, x| m.max(x.abs()));
        (r, size, if worst.is_nan() { f64::INFINITY } else { worst })
    };
    let (mut r, mut size, mut noise) = residual(&w, table);
    if !size.is_finite() {
        w.fill(0.0);
        (r, size, noise) = residual(&w, table);
    }
    for _ in 0..MOST {
        if noise <= 4.0 {
            return Ok(w);
        }
        let values = setting.numbers(&entries, table);
        let mut matrix = vec![0.0; n * n];
        let places = jacobian
            .rows
            .iter()
            .enumerate()
            .flat_map(|(i, row)| row.iter().map(move |&(j, _)| i * n + j));
        places.zip(values).for_each(|(place, value)| matrix[place] = value);
        let mut order = vec![0; n];
        if !lu::factor(&mut matrix, n, &mut order) {
            return Err(NewtonError::Singular);
        }
        let (mut step, mut work) = (r.clone(), vec![0.0; n]);
        lu::solve(&matrix, n, &order, &mut step, &mut work);
        if step.iter().any(|s| !s.is_finite()) {
            return Err(NewtonError::Singular);
        }
        let mut fraction = 1.0;
        loop {
            let next: Vec<f64> = w.iter().zip(&step).map(|(x, s)| x - fraction * s).collect();
            let (r_next, size_next, noise_next) = residual(&next, table);
            if size_next < size || noise_next <= 4.0 {
                (w, r, size, noise) = (next, r_next, size_next, noise_next);
                break;
            }
            fraction /= 2.0;
            if fraction < 1e-12 {
                table.set_all(symbols, &w);
                // No step helps: as good as it gets, or nowhere near.
                return if noise <= 1e4 {
                    Ok(w)
                } else {
                    Err(NewtonError::Stuck { residual: size })
                };
            }
        }
    }
    if noise <= 1e4 { Ok(w) } else { Err(NewtonError::Stuck { residual: size }) }
}
