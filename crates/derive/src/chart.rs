//! Static charts of the admissible velocities: which velocities the affine
//! constraints give, and which are free.
//!
//! For a(q, t) q̇ + a_t(q, t) = e with independent rows, choose as many dependent
//! coordinates d; the others, i, are free:
//!
//! ```text
//! q̇_i = u,   q̇_d = A_d⁻¹(e − a_t − A_i u)
//! S_i = I,   S_d = −A_d⁻¹A_i,   s₀_d = A_d⁻¹(e − a_t)
//! ```
//!
//! e is 0 on the constraints. It is kept as a constant so that a state that
//! misses them moves along its own level, as the differentiated rows say.
//! A chart is smooth wherever A_d is regular; where it is not, another choice
//! serves, which is why the choice is data.

use crate::equations::{Quantity, Shape};
use crate::matrix::{self, Inverse};
pub use crate::parts::Chart;
use crate::picture::{self, Picture};
use dalembert_expr::{ExprId, Exprs, Jacobian, Random, Symbol, SymbolKind};
use dalembert_model::rank::Independent;
use dalembert_model::system::System;
use rustc_hash::FxHashMap;

/// Velocities parametrised by a chart.
pub struct Parametrised {
    /// The chart.
    pub chart: Chart,
    /// Coordinates that are not dependent.
    pub free: Vec<usize>,
    /// S.
    pub s: Jacobian,
    /// s₀.
    pub s0: Vec<ExprId>,
    /// Level constants and what they are: the residuals of the rows.
    pub levels: Vec<(Symbol, ExprId)>,
    /// A_d of the chart.
    pub a_d: Jacobian,
    /// The rows' a, in q and t.
    pub a: Jacobian,
    /// Whether S and s₀ are free of t, and s₀ is 0 on the constraints.
    pub is_stationary: bool,
}

impl Chart {
    /// A chart for the affine rows of a system, chosen at a generic state: rows in
    /// their order as long as they are independent, columns by the largest pivot.
    pub fn generic(exprs: &Exprs, system: &System, picture: &Picture) -> Chart {
        let affine: Vec<usize> =
            (0..system.constraints.len()).filter(|&row| picture.is_solvable(system, row)).collect();
        let entries: Vec<ExprId> = affine
            .iter()
            .flat_map(|&row| picture.rows.jacobian.rows[row].iter().map(|e| e.1))
            .collect();
        let parameters = dalembert_model::parameters::values(exprs, &system.parameters);
        let mut best = Chart { rows: Vec::new(), columns: Vec::new() };
        for seed in 0..3u64 {
            let values = evaluate(exprs, &entries, &parameters, seed);
            let mut at = values.iter();
            let matrix: Vec<Vec<(usize, f64)>> = affine
                .iter()
                .map(|&row| {
                    let list = picture.rows.jacobian.rows[row].iter();
                    list.map(|&(j, _)| (j, at.next().copied().unwrap_or(0.0))).collect()
                })
                .collect();
            // Coefficients that are numbers make a chart that is regular everywhere.
            let plain: Vec<Vec<usize>> = affine
                .iter()
                .map(|&row| {
                    let list = picture.rows.jacobian.rows[row].iter();
                    list.filter(|e| exprs.as_number(e.1).is_some()).map(|e| e.0).collect()
                })
                .collect();
            let chart = Chart::pivots(&affine, &matrix, &plain);
            if chart.rows.len() > best.rows.len() {
                best = chart;
            }
        }
        best
    }

    /// A chart by elimination of numerical rows; `plain` are the columns in which a
    /// row has a number.
    fn pivots(names: &[usize], matrix: &[Vec<(usize, f64)>], plain: &[Vec<usize>]) -> Chart {
        let mut chart = Chart { rows: Vec::new(), columns: Vec::new() };
        let mut independent = Independent::default();
        for ((&name, row), plain) in names.iter().zip(matrix).zip(plain) {
            let preferred = |column: usize| plain.contains(&column);
            if let Some(column) = independent.add_preferring(row.iter().copied(), preferred) {
                chart.rows.push(name);
                chart.columns.push(column);
            }
        }
        chart
    }

    /// The velocities in this chart; `None` if A_d is singular by its pattern.
    pub fn parametrise(self, exprs: &Exprs, picture: &Picture) -> Option<Parametrised> {
        let n = picture.q.len();
        let free: Vec<usize> = (0..n).filter(|j| !self.columns.contains(j)).collect();
        let level = |row: usize| -> ExprId {
            let list = &picture.rows.velocity_residuals;
            list.iter().find(|r| r.0 == row).map_or(ExprId::ZERO, |r| r.1)
        };
        let residuals: Vec<ExprId> = self.rows.iter().map(|&row| level(row)).collect();
        // The rows are affine, so a is a at rest, whatever it looks like.
        let all: Vec<usize> = (0..n).collect();
        let mut a = matrix::part(&picture.rows.jacobian, &self.rows, &all);
        for row in &mut a.rows {
            let entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
            let entries = picture::at_zero(exprs, &entries, &picture.velocities);
            row.iter_mut().zip(entries).for_each(|(place, e)| place.1 = e);
            row.retain(|e| e.1 != ExprId::ZERO);
        }
        let a_t = picture::at_zero(exprs, &residuals, &picture.velocities);
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let a_d = matrix::part(&a, &rows, &self.columns);
        let a_i = matrix::part(&a, &rows, &free);
        let inverse = Inverse::new(&a_d)?;
        let levels: Vec<(Symbol, ExprId)> = residuals
            .iter()
            .enumerate()
            .map(|(at, &residual)| {
                (exprs.symbol(&format!("e[{}]", at + 1), SymbolKind::Constant), residual)
            })
            .collect();
        let offset: Vec<ExprId> = levels
            .iter()
            .zip(&a_t)
            .map(|(&(e, _), &a)| (exprs.at(exprs.of_symbol(e)) - exprs.at(a)).id)
            .collect();
        let s0_d = inverse.solve(exprs, &offset);
        let s_d = inverse.solve_matrix(exprs, &a_i);
        let mut s = Jacobian { rows: vec![Vec::new(); n], columns: free.len() };
        let mut s0 = vec![ExprId::ZERO; n];
        free.iter().enumerate().for_each(|(at, &i)| s.rows[i] = vec![(at, ExprId::ONE)]);
        for (at, &d) in self.columns.iter().enumerate() {
            s.rows[d] = s_d.rows[at].iter().map(|&(j, e)| (j, (-exprs.at(e)).id)).collect();
            s0[d] = s0_d[at];
        }
        let mut entries: Vec<ExprId> = a.rows.iter().flatten().map(|e| e.1).collect();
        entries.extend(&a_t);
        let found = exprs.symbols_of(&entries);
        let timeless = picture.given.iter().all(|(symbol, _)| !found.contains(symbol));
        let is_stationary = timeless && exprs.all_zero(&a_t).is_zero();
        Some(Parametrised { chart: self, free, s, s0, levels, a_d, a, is_stationary })
    }
}

impl Parametrised {
    /// S u + s₀ for expressions u.
    pub fn velocities(&self, exprs: &Exprs, u: &[ExprId]) -> Vec<ExprId> {
        let su = matrix::times(exprs, &self.s, u);
        su.iter().zip(&self.s0).map(|(&a, &b)| (exprs.at(a) + exprs.at(b)).id).collect()
    }

    /// S and s₀ for the reader, on the constraints.
    pub fn quantities(&self, exprs: &Exprs) -> Vec<Quantity> {
        let on: Vec<Symbol> = self.levels.iter().map(|l| l.0).collect();
        let mut list = vec![picture::quantity(
            "S",
            "S",
            "basis of the admissible velocities",
            Shape::Matrix(self.s.clone()),
        )];
        let s0 = picture::at_zero(exprs, &self.s0, &on);
        if s0.iter().any(|&e| e != ExprId::ZERO) {
            let meaning = "what is admissible with no free velocity";
            list.push(picture::quantity("s₀", "s_0", meaning, Shape::Vector(s0)));
        }
        list
    }
}

/// Numbers at a generic state; parameters that have values keep them.
fn evaluate(
    exprs: &Exprs,
    entries: &[ExprId],
    parameters: &FxHashMap<Symbol, f64>,
    seed: u64,
) -> Vec<f64> {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51ed_270b);
    let mut cache: FxHashMap<Symbol, f64> = FxHashMap::default();
    exprs.eval_f64(entries, |s| match parameters.get(&s) {
        Some(&value) => value,
        None => *cache.entry(s).or_insert_with(|| 0.3 + random.unit()),
    })
}
