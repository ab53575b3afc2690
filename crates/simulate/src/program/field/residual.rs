//! The equations as a residual, with its derivatives: what a stiff method solves.
//!
//! ```text
//! 0 = q̇ − k(q, v, t) − N μ
//! 0 = Γ v̇ − F − C − Aᵀλ
//! 0 = ψ(q, v, t)            (rows given for accelerations: 0 = A v̇ − b)
//! 0 = φ(q, t)
//! 0 = r(w; q, v, t)         (unknowns w behind v, where there are some)
//! ```
//!
//! Gear, Gupta and Leimkuhler (1985): φ and φ̇ both hold, and μ vanishes along the
//! exact motion. Any N with φ_q N regular serves; here N = M⁻¹φ_qᵀ as it is at the
//! beginning of a step and constant during it, so that positions are corrected in
//! the mass metric. Where M is singular, N = φ_qᵀ; where matrices are large and mostly zeros, only
//! the diagonal of M counts, so that N has the places of φ_qᵀ.
//!
//! All derivatives are those of the expressions of [`Residual`], with branches frozen. The rows are those in use at the beginning of a step; the
//! dependent ones hold with them.

use super::{Field, FieldError};
use crate::normal_form::layout::{entries, places};
use crate::program::compiled::Compiled;
use crate::program::problem::ResidualForm;
use dalembert_derive::Residual;
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::Pattern;
use dalembert_gauss::linalg::lu;
use std::sync::Arc;

/// The compiled residual and its derivatives.
#[derive(Clone)]
pub(crate) struct Part {
    residual: Compiled,
    slopes: Compiled,
    /// Places of the slopes: rows as in the residual, columns (q, v, w, v̇, λ).
    places: Vec<usize>,
    columns: usize,
    input: Vec<f64>,
    counts: Counts,
    /// Rows of A in use, position rows in use.
    rows: Vec<usize>,
    positions: Vec<usize>,
    /// N: coordinate, position in use, entry.
    pull: Vec<(usize, usize, f64)>,
    /// Where the derivatives of a large problem have entries, for the rows in use.
    shape: Option<Shape>,
}

/// The places of the derivatives, with what is put there.
#[derive(Clone)]
struct Shape {
    pattern: Arc<Pattern>,
    /// Slopes by their places in ∂R/∂y and in ∂R/∂ẏ: (slope, place, sign).
    by: Vec<(usize, usize, f64)>,
    by_rate: Vec<(usize, usize, f64)>,
    /// Those of q̇, and of N.
    ones: Vec<usize>,
    pull: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Counts {
    n: usize,
    size: usize,
    auxiliary: usize,
    rows: usize,
    positions: usize,
    /// Length of the field's own input.
    input: usize,
}

impl Part {
    /// Sets the parameters.
    pub(super) fn prepare(&mut self, constants: &[f64]) {
        self.residual.prepare(constants);
        self.slopes.prepare(constants);
    }

    pub(crate) fn new(field: &Field) -> Part {
        let exprs = &field.setting.model.exprs;
        let kept = &field.kept;
        let equations = field.frozen_equations();
        let (n, size, m) = (field.n, field.size, equations.rows.len());
        let residual = Residual::new(exprs, &equations);
        let (positions, auxiliary) = (residual.positions.len(), residual.auxiliary.len());
        let power = power(field, &residual);
        let mut roots = residual.kinematics;
        roots.extend(residual.dynamics);
        roots.extend(residual.rows.iter().map(|row| row.velocity.unwrap_or(row.acceleration)));
        roots.extend(residual.positions);
        roots.extend(residual.auxiliary);
        let mut by: Vec<Symbol> = kept.variables[1..1 + n + size + auxiliary].to_vec();
        let more: Vec<Symbol> =
            residual.accelerations.iter().chain(&residual.multipliers).copied().collect();
        by.extend(&more);
        let slopes: Jacobian = exprs.jacobian(&roots, &by);
        roots.push(power);
        let compiled = field.compile(&entries(&slopes).collect::<Vec<_>>(), &more);
        let values = field.compile(&roots, &more);
        let input = kept.variables.len();
        Part {
            residual: values,
            slopes: compiled,
            places: places(&slopes),
            columns: by.len(),
            input: vec![0.0; input + more.len()],
            counts: Counts { n, size, auxiliary, rows: m, positions, input },
            rows: Vec::new(),
            positions: Vec::new(),
            pull: Vec::new(),
            shape: None,
        }
    }

    /// Finds where derivatives have entries, with the rows in use.
    fn find_shape(&self) -> Shape {
        let Counts { n, size, auxiliary, rows, positions, .. } = self.counts;
        let (inside, used, held) = (n + size, self.rows.len(), self.positions.len());
        let total = inside + used + held + auxiliary;
        let mut to_row = vec![None; inside + rows + positions + auxiliary];
        (0..total).for_each(|i| to_row[self.source(i)] = Some(i));
        let mut to_multiplier = vec![None; rows];
        self.rows.iter().enumerate().for_each(|(k, &row)| to_multiplier[row] = Some(inside + k));
        let accelerations = inside + auxiliary;
        // What each slope is: row, column, and whether it is one by a rate.
        let place = |at: usize| -> Option<(usize, usize, bool)> {
            let (row, column) = (to_row[at / self.columns]?, at % self.columns);
            Some(match column {
                c if c < inside => (row, c, false),
                c if c < accelerations => (row, used + held + c, false),
                c if c < accelerations + size => (row, n + c - accelerations, true),
                c => (row, to_multiplier[c - accelerations - size]?, false),
            })
        };
        let places: Vec<Option<(usize, usize, bool)>> =
            self.places.iter().map(|&at| place(at)).collect();
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); total];
        places.iter().flatten().for_each(|&(row, column, _)| lists[row].push(column));
        (0..n).for_each(|i| lists[i].push(i));
        self.pull.iter().for_each(|&(i, k, _)| lists[i].push(inside + used + k));
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        let pattern = Pattern::new(total, lists);
        let at = |row: usize, column: usize| pattern.place(row, column).unwrap_or(0);
        let (mut by, mut by_rate) = (Vec::new(), Vec::new());
        for (slope, place) in places.iter().enumerate() {
            let Some((row, column, is_rate)) = *place else { continue };
            // Kinematics enter with a minus.
            let sign = if row < n { -1.0 } else { 1.0 };
            let list = if is_rate { &mut by_rate } else { &mut by };
            list.push((slope, at(row, column), sign));
        }
        let ones = (0..n).map(|i| at(i, i)).collect();
        let pull = self.pull.iter().map(|&(i, k, _)| at(i, inside + used + k)).collect();
        Shape { pattern: Arc::new(pattern), by, by_rate, ones, pull }
    }

    /// Puts a state, rates and algebraic unknowns into the input of the functions.
    fn load(&mut self, t: f64, y: &[f64], rates: &[f64]) {
        let Counts { n, size, auxiliary, rows, input, .. } = self.counts;
        let inside = n + size;
        self.input[0] = t;
        self.input[1..1 + inside].copy_from_slice(&y[..inside]);
        let behind = inside + self.rows.len() + self.positions.len();
        self.input[1 + inside..1 + inside + auxiliary].copy_from_slice(&y[behind..]);
        self.input[input..input + size].copy_from_slice(&rates[n..inside]);
        let lambda = &mut self.input[input + size..input + size + rows];
        lambda.fill(0.0);
        for (at, &row) in self.rows.iter().enumerate() {
            lambda[row] = y[inside + at];
        }
    }

    /// Where row `at` of the problem lies in the residual of all rows.
    fn source(&self, at: usize) -> usize {
        let Counts { n, size, rows, positions, .. } = self.counts;
        let inside = n + size;
        let (used, held) = (self.rows.len(), self.positions.len());
        match at {
            _ if at < inside => at,
            _ if at < inside + used => inside + self.rows[at - inside],
            _ if at < inside + used + held => inside + rows + self.positions[at - inside - used],
            _ => inside + rows + positions + (at - inside - used - held),
        }
    }
}

/// The power, for the work done on the system.
pub(super) fn power(field: &Field, residual: &Residual) -> ExprId {
    let (exprs, kept) = (&field.setting.model.exprs, &field.kept);
    let terms = &kept.terms[field.layout.row_power.clone()];
    let mut power = vec![kept.terms[field.layout.power]];
    power.extend(terms.iter().zip(&residual.multipliers).map(|(&by_row, &multiplier)| {
        (exprs.at(by_row) * exprs.at(exprs.of_symbol(multiplier))).id
    }));
    exprs.substitute(&[exprs.sum(&power)], &residual.named)[0]
}

impl ResidualForm for Field {
    fn begin(&mut self, t: f64, x: &[f64], y: &mut Vec<f64>) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let mut dx = vec![0.0; n + size + 1];
        self.lasting_rates(t, x, &mut dx)?;
        y.clear();
        y.extend_from_slice(&x[..n + size]);
        y.extend_from_slice(&self.work.outcome.multipliers);
        let positions = self.position_rows(t, x)?;
        y.resize(y.len() + positions.len(), 0.0);
        y.extend_from_slice(&self.work.auxiliary);
        self.residuals(t, x)?;
        let is_large = self.patterns().is_some() && self.auxiliary.is_none();
        let pull = if is_large { sparse_pull(self, &positions) } else { pull(self, &positions) };
        let Some(part) = &mut self.parts.residual else {
            return Err(FieldError::NotSolved("this integrator"));
        };
        let is_same = part.rows == self.rows && part.positions == positions;
        part.rows.clone_from(&self.rows);
        part.positions = positions;
        part.pull = pull;
        if !is_large {
            part.shape = None;
        } else if !is_same || part.shape.is_none() {
            part.shape = Some(part.find_shape());
        }
        let modes = self.switchboard.first_input..self.work.input.len();
        part.input[modes.clone()].copy_from_slice(&self.work.input[modes]);
        Ok(())
    }

    fn rows(&self) -> (&[usize], &[usize]) {
        self.parts.residual.as_ref().map_or((&[], &[]), |part| (&part.rows, &part.positions))
    }

    fn residual(&mut self, t: f64, y: &[f64], rates: &[f64], r: &mut [f64]) -> f64 {
        let Some(part) = &mut self.parts.residual else { return f64::NAN };
        self.evaluations += 1;
        part.load(t, y, rates);
        part.residual.call(&part.input);
        let Counts { n, size, .. } = part.counts;
        for (at, place) in r.iter_mut().enumerate() {
            *place = part.residual.output[part.source(at)];
        }
        let first = n + size + part.rows.len();
        for i in 0..n {
            r[i] = rates[i] - r[i];
        }
        part.pull.iter().for_each(|&(i, k, entry)| r[i] -= entry * y[first + k]);
        part.residual.output[part.residual.output.len() - 1]
    }

    fn pattern(&self) -> Option<&Arc<Pattern>> {
        Some(&self.parts.residual.as_ref()?.shape.as_ref()?.pattern)
    }

    fn entries(&mut self, t: f64, y: &[f64], rates: &[f64], by_rate: &mut [f64], by: &mut [f64]) {
        let Some(part) = &mut self.parts.residual else { return };
        part.load(t, y, rates);
        part.slopes.call(&part.input);
        let Some(shape) = &part.shape else { return };
        by_rate.fill(0.0);
        by.fill(0.0);
        let slopes = &part.slopes.output;
        shape.by.iter().for_each(|&(slope, at, sign)| by[at] = sign * slopes[slope]);
        shape.by_rate.iter().for_each(|&(slope, at, sign)| by_rate[at] = sign * slopes[slope]);
        shape.ones.iter().for_each(|&at| by_rate[at] = 1.0);
        shape.pull.iter().zip(&part.pull).for_each(|(&at, pull)| by[at] = -pull.2);
    }

    fn derivatives(
        &mut self,
        t: f64,
        y: &[f64],
        rates: &[f64],
        by_rate: &mut [f64],
        by: &mut [f64],
    ) {
        let Some(part) = &mut self.parts.residual else { return };
        part.load(t, y, rates);
        part.slopes.call(&part.input);
        let Counts { n, size, auxiliary, rows, positions, .. } = part.counts;
        let (inside, columns) = (n + size, part.columns);
        let all = inside + rows + positions + auxiliary;
        let mut dense = vec![0.0; all * columns];
        for (place, value) in part.places.iter().zip(&part.slopes.output) {
            dense[*place] = *value;
        }
        by_rate.fill(0.0);
        by.fill(0.0);
        let (used, held) = (part.rows.len(), part.positions.len());
        let total = inside + used + held + auxiliary;
        for i in 0..total {
            let source = part.source(i);
            let row = &dense[source * columns..(source + 1) * columns];
            // Kinematics enter with a minus, and with q̇ itself.
            let sign = if i < n { -1.0 } else { 1.0 };
            let to = &mut by[i * total..(i + 1) * total];
            for j in 0..inside {
                to[j] = sign * row[j];
            }
            for j in 0..auxiliary {
                to[inside + used + held + j] = sign * row[inside + j];
            }
            for (j, &own) in part.rows.iter().enumerate() {
                to[inside + j] = sign * row[inside + auxiliary + size + own];
            }
            let to_rate = &mut by_rate[i * total..(i + 1) * total];
            if i < n {
                to_rate[i] = 1.0;
            } else {
                for j in 0..size {
                    to_rate[n + j] = row[inside + auxiliary + j];
                }
            }
        }
        for &(i, k, entry) in &part.pull {
            by[i * total + inside + used + k] = -entry;
        }
    }
}

/// N at the state of the last residuals, by the diagonal of M: D⁻¹φ_qᵀ.
fn sparse_pull(field: &Field, positions: &[usize]) -> Vec<(usize, usize, f64)> {
    let phi_q = &field.residuals.phi_q;
    let values = phi_q.values(&field.work.residual_output);
    let mut pull = Vec::new();
    for (k, &row) in positions.iter().enumerate() {
        for (i, entry) in phi_q.row(&values, row) {
            let mass = field.mass_of(i).filter(|mass| *mass > 0.0).unwrap_or(1.0);
            pull.push((i, k, entry / mass));
        }
    }
    pull
}

/// N at the state of the last residuals: M⁻¹φ_qᵀ, or φ_qᵀ where M is singular.
fn pull(field: &Field, positions: &[usize]) -> Vec<(usize, usize, f64)> {
    let (n, held) = (field.n, positions.len());
    if held == 0 {
        return Vec::new();
    }
    let [matrix, mut mass] = field.positions_with_zeros();
    let sizes: Vec<f64> = (0..n).map(|i| mass[i * n + i].abs()).collect();
    let (mut order, mut work) = (vec![0; n], vec![0.0; n]);
    let regular = lu::factor(&mut mass, n, &mut order)
        && (0..n).all(|i| mass[i * n + i].abs() > 1e-12 * sizes[order[i]]);
    let mut pull = vec![(0, 0, 0.0); n * held];
    for (k, &row) in positions.iter().enumerate() {
        let mut column = matrix[row * n..(row + 1) * n].to_vec();
        if regular {
            lu::solve(&mass, n, &order, &mut column, &mut work);
        }
        for (i, value) in column.iter().enumerate() {
            pull[i * held + k] = (i, k, *value);
        }
    }
    pull
}
