//! What servo constraints imply where their inputs do not push along all of them.
//!
//! With the rows Aₛ that inputs hold by B u, and under the ideal rows Aᵢ,
//!
//! ```text
//! q̈ = a + Y u ,   [Γ −Aᵢᵀ; Aᵢ 0] [a; κ] = [F + C; bᵢ] ,   [Γ −Aᵢᵀ; Aᵢ 0] [Y; κ] = [B; 0]
//! Aₛ q̈ = bₛ   ⇔   S u = g ,   S = Aₛ Y ,   g = bₛ − Aₛ a
//! ```
//!
//! and for every ν with νᵀS = 0 there must be νᵀg = 0: a relation between positions and velocities,
//! which completion appends (the crane, whose two inputs push the load along the rope alone: rank 1
//! of 2, and the angle of the rope follows from the acceleration asked for). It is appended as an
//! ideal row. That row carries no force: νᵀg = 0 is just what its multiplier has to satisfy to be
//! 0, with or without it, so that the motion is that of the inputs alone.
//!
//! The relation is an expression: the dependent row less the combination of independent ones that
//! it is, solved for on a block that is regular at one state.

use crate::points::hidden::{Implied, Origin, classified, readable, solve};
use crate::setting::{Setting, State};
use dalembert_derive::{EquationsOfMotion, matrix};
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::linalg::lu;

/// Entries of S below this part of the largest are none.
const RANK: f64 = 1e-10;

/// S and g as expressions.
struct Pushes {
    /// The servo rows, by constraint.
    rows: Vec<usize>,
    s: Vec<Vec<ExprId>>,
    g: Vec<ExprId>,
}

/// The constraints that servo constraints imply at a state; none where their inputs push along all
/// of them.
pub(super) fn implied(
    setting: &Setting,
    equations: &EquationsOfMotion,
    state: &State,
) -> Vec<Implied> {
    let Some(pushes) = pushes(setting, equations, state) else { return Vec::new() };
    let exprs = &setting.model.exprs;
    let mut table = state.table(&setting.model.system);
    let v = setting.numbers(&equations.own, &table);
    table.set_all(&equations.v, &v);
    let (m, k) = (pushes.rows.len(), pushes.s.first().map_or(0, Vec::len));
    let flat: Vec<ExprId> = pushes.s.iter().flatten().copied().collect();
    let noisy = setting.evaluate(&flat, &table);
    let largest = noisy.iter().fold(0f64, |m, x| m.max(x.value.abs()));
    let numbers: Vec<f64> = noisy
        .iter()
        .map(|x| if x.value.abs() <= (16.0 * x.noise).max(RANK * largest) { 0.0 } else { x.value })
        .collect();
    if numbers.iter().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let (rows, columns) = lu::pivots(&numbers, m, k, RANK);
    let block = Jacobian {
        // Transposed: weights of rows are wanted.
        rows: columns
            .iter()
            .map(|&j| matrix::sparse(rows.iter().map(|&i| pushes.s[i][j])))
            .collect(),
        columns: rows.len(),
    };
    let mut found = Vec::new();
    for row in (0..m).filter(|i| !rows.contains(i)) {
        let right: Vec<ExprId> = columns.iter().map(|&j| pushes.s[row][j]).collect();
        let weights = match rows.is_empty() {
            true => Vec::new(),
            false => match solve(exprs, &block, &right) {
                Some(weights) => weights,
                None => continue,
            },
        };
        let mut terms = vec![pushes.g[row]];
        for (&i, &w) in rows.iter().zip(&weights) {
            terms.push((-(exprs.at(w) * exprs.at(pushes.g[i]))).id);
        }
        let chi = readable(exprs, exprs.sum(&terms));
        let used = rows.iter().zip(&weights).filter(|w| !exprs.is_zero(*w.1).is_zero());
        let mut names: Vec<usize> = used.map(|(&i, _)| pushes.rows[i]).collect();
        names.push(pushes.rows[row]);
        names.sort_unstable();
        found.push(classified(setting, equations, chi, Origin::Servo(names)));
    }
    found
}

/// S and g; `None` without servo constraints, or where other forces depend on multipliers too.
fn pushes(setting: &Setting, equations: &EquationsOfMotion, state: &State) -> Option<Pushes> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let servo = |place: &usize| system.constraints[equations.rows[*place]].servo;
    let rows: Vec<usize> = (0..equations.rows.len()).filter(servo).collect();
    let all_directed = equations.multipliers.iter().all(|m| system.constraints[m.0].servo);
    if rows.is_empty() || !all_directed || equations.auxiliary.is_some() {
        return None;
    }
    let (n, symbols) = (equations.v.len(), &equations.multipliers);
    let by: Vec<Symbol> = symbols.iter().map(|m| m.1).collect();
    let total: Vec<ExprId> = equations
        .force
        .iter()
        .zip(&equations.nonideal)
        .map(|(&f, &c)| (exprs.at(f) + exprs.at(c)).id)
        .collect();
    let slopes = exprs.jacobian(&total, &by);
    let zeros: Vec<(Symbol, ExprId)> = by.iter().map(|&s| (s, ExprId::ZERO)).collect();
    let force = exprs.substitute(&total, &zeros);
    // B = D + Aᵀ, by the rows.
    let mut columns = vec![vec![ExprId::ZERO; n]; rows.len()];
    for (column, &row) in columns.iter_mut().zip(&rows) {
        let own = symbols.iter().position(|m| m.0 == equations.rows[row]);
        for (i, entry) in column.iter_mut().enumerate() {
            let slope = own.map_or(ExprId::ZERO, |c| slopes.get(i, c));
            *entry = (exprs.at(slope) + exprs.at(equations.jacobian.get(row, i))).id;
        }
    }
    let ideal = independent(setting, equations, state, |place| !servo(&place));
    let size = n + ideal.len();
    let mut held = Jacobian { rows: Vec::new(), columns: size };
    for i in 0..n {
        let mut line = equations.metric.rows[i].clone();
        for (r, &row) in ideal.iter().enumerate() {
            let entry = equations.jacobian.get(row, i);
            if entry != ExprId::ZERO {
                line.push((n + r, (-exprs.at(entry)).id));
            }
        }
        held.rows.push(line);
    }
    held.rows.extend(ideal.iter().map(|&row| equations.jacobian.rows[row].clone()));
    let response = |force: &[ExprId], bias: &dyn Fn(usize) -> ExprId| -> Option<Vec<ExprId>> {
        let right: Vec<ExprId> =
            force.iter().copied().chain(ideal.iter().map(|&row| bias(row))).collect();
        solve(exprs, &held, &right)
    };
    let a = response(&force, &|row| equations.bias[row])?;
    let along = |row: usize, x: &[ExprId]| matrix::dot(exprs, &equations.jacobian.rows[row], x);
    let mut s = vec![Vec::new(); rows.len()];
    for column in &columns {
        let y = response(column, &|_| ExprId::ZERO)?;
        for (line, &row) in s.iter_mut().zip(&rows) {
            line.push(along(row, &y[..n]));
        }
    }
    let g = rows
        .iter()
        .map(|&row| (exprs.at(equations.bias[row]) - exprs.at(along(row, &a[..n]))).id)
        .collect();
    Some(Pushes { rows: rows.iter().map(|&row| equations.rows[row]).collect(), s, g })
}

/// Rows of a kind that are independent at a state.
fn independent(
    setting: &Setting,
    equations: &EquationsOfMotion,
    state: &State,
    of: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let chosen: Vec<usize> = (0..equations.rows.len()).filter(|&row| of(row)).collect();
    let mut table = state.table(&setting.model.system);
    let v = setting.numbers(&equations.own, &table);
    table.set_all(&equations.v, &v);
    let n = equations.v.len();
    let entries: Vec<ExprId> = chosen
        .iter()
        .flat_map(|&row| (0..n).map(move |i| (row, i)))
        .map(|(row, i)| equations.jacobian.get(row, i))
        .collect();
    let numbers = setting.evaluate(&entries, &table);
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|x| if x.value.abs() <= 16.0 * x.noise { 0.0 } else { x.value })
        .collect();
    let (mut rows, _) = lu::pivots(&numbers, chosen.len(), n, RANK);
    rows.sort_unstable();
    rows.into_iter().map(|at| chosen[at]).collect()
}
