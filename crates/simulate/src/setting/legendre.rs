//! Newton's method for the unknowns behind a formulation's own variables: the
//! velocities behind momenta (p = L_q̇), the momenta behind velocities (q̇ = H_p).
//!
//! Exact in one step where the relation is linear, and ended where only its rounding
//! is left, which is evaluated with it.

use crate::search::{self, Lost, Relation, Room};
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::coupled::CoupledError;

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

/// f(w) − y as expressions.
struct Expressions<'a> {
    setting: &'a Setting,
    table: &'a mut Table,
    symbols: &'a [Symbol],
    f: &'a [ExprId],
    entries: Vec<ExprId>,
    places: Vec<usize>,
    y: Option<&'a [f64]>,
}

impl Relation for Expressions<'_> {
    fn residual(&mut self, w: &[f64], f: &mut [f64]) -> f64 {
        self.table.set_all(self.symbols, w);
        let values = self.setting.evaluate(self.f, self.table);
        let mut worst = 0f64;
        for (i, (f, v)) in f.iter_mut().zip(values).enumerate() {
            let target = self.y.map_or(0.0, |y| y[i]);
            *f = v.value - target;
            let noise = v.noise + f64::EPSILON * target.abs();
            let units = if *f == 0.0 { 0.0 } else { f.abs() / noise };
            worst = if units.is_nan() { f64::INFINITY } else { worst.max(units) };
        }
        worst
    }

    fn jacobian(&mut self, _: &[f64], j: &mut [f64]) {
        j.fill(0.0);
        let values = self.setting.numbers(&self.entries, self.table);
        self.places.iter().zip(values).for_each(|(place, value)| j[*place] = value);
    }
}

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
    let rows = jacobian.rows.iter().enumerate();
    let mut relation = Expressions {
        setting,
        table,
        symbols,
        f,
        entries: jacobian.rows.iter().flatten().map(|e| e.1).collect(),
        places: rows.flat_map(|(i, row)| row.iter().map(move |&(j, _)| i * n + j)).collect(),
        y,
    };
    search::search(&mut relation, &mut w, &mut Room::default()).map_err(|lost| match lost {
        Lost::Singular => NewtonError::Singular,
        Lost::Stuck(residual) => NewtonError::Stuck { residual },
    })?;
    table.set_all(symbols, &w);
    Ok(w)
}
