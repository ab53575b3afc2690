//! What a friction bears where constraints hold some of its slips as well.
//!
//! A bead on a wire has friction along [x', y'], of which the wire leaves one component free. Held, all
//! of them are rows, and what the wire and the friction bear across it is not unique: with the rows A
//! of the constraints and S of the slips,
//!
//! ```text
//! Aᵀλ + SᵀT = Qᶜ ,   T ∈ { S w : A w = 0 }
//! ```
//!
//! is. Dry friction acts along what can slip; across it the constraints bear what there is to bear,
//! which is the limit of slips that come to rest. It is the least T there is. Bounds that hold the loads
//! of constraints (μ|λ|) go by that λ.
//!
//! What several frictions, or contacts, share among each other stays open.

use crate::normal_form::Matrix;
use dalembert_gauss::linalg::orthonormal::{extend, reject};
use dalembert_gauss::linalg::{cholesky, dot, norm};
use dalembert_model::system::System;
use std::ops::Range;

/// A direction is in the span of others if less than this part of it is beside them.
const SPANNED: f64 = 1e-9;

/// The components in which a friction slips: an orthonormal basis of {S w} from the rows S.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// Of vectors with a component for each slip.
    pub basis: Vec<Vec<f64>>,
    /// The rows, seen along the basis.
    rows: Vec<Vec<f64>>,
}

impl Reach {
    /// Of rows from which what constraints hold was taken out; `whole` is the length they had.
    fn new(rows: &[Vec<f64>], whole: f64) -> Reach {
        let n = rows.first().map_or(0, Vec::len);
        let column = |i: usize| -> Vec<f64> { rows.iter().map(|row| row[i]).collect() };
        let mut columns: Vec<Vec<f64>> = (0..n).map(column).collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        while basis.len() < rows.len() {
            let longest = columns.iter().max_by(|a, b| norm(a).total_cmp(&norm(b)));
            let Some(longest) = longest.filter(|c| norm(c) > SPANNED * whole) else { break };
            let mut next = longest.clone();
            let length = reject(&mut next, &basis);
            next.iter_mut().for_each(|x| *x /= length);
            for column in &mut columns {
                reject(column, std::slice::from_ref(&next));
            }
            basis.push(next);
        }
        let along = |b: &Vec<f64>| -> Vec<f64> {
            (0..n).map(|i| b.iter().zip(rows).map(|(b, row)| b * row[i]).sum()).collect()
        };
        let rows = basis.iter().map(along).collect();
        Reach { basis, rows }
    }

    /// How many components are left.
    pub fn len(&self) -> usize {
        self.basis.len()
    }

    /// A vector of these as components of the slip.
    pub fn along(&self, x: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.basis.first().map_or(0, Vec::len)];
        for (b, x) in self.basis.iter().zip(x) {
            sum.iter_mut().zip(b).for_each(|(s, b)| *s += x * b);
        }
        sum
    }

    /// The part of a force that is along it.
    fn part(&self, force: &[f64]) -> Vec<f64> {
        let components: Vec<f64> = self.basis.iter().map(|b| dot(b, force)).collect();
        let mut part = self.along(&components);
        part.resize(force.len(), 0.0);
        part
    }

    /// Whether no others bear along what this one does: its forces are unique then.
    fn is_alone(&self, others: &[Vec<f64>]) -> bool {
        let mut spanned = basis_of(others);
        self.rows.iter().all(|row| extend(&mut spanned, row, SPANNED))
    }
}

/// Rows of constraints, then of what touches, with coordinates in units of their own.
pub(crate) struct Beside {
    rows: Vec<Vec<f64>>,
    /// Of constraints those that no others say.
    chosen: Vec<usize>,
    /// What is left of all rows beside those of constraints.
    free: Vec<Vec<f64>>,
}

impl Beside {
    /// Of rows of which the first `written` are those of constraints.
    pub fn new(rows: Vec<Vec<f64>>, written: usize) -> Beside {
        let mut rows = rows;
        let n = rows.first().map_or(0, Vec::len);
        let sizes = sizes(&rows, n);
        rows.iter_mut().for_each(|row| row.iter_mut().zip(&sizes).for_each(|(a, s)| *a *= s));
        let (mut basis, mut chosen) = (Vec::new(), Vec::new());
        for (at, row) in rows[..written].iter().enumerate() {
            if extend(&mut basis, row, SPANNED) {
                chosen.push(at);
            }
        }
        let beside = |row: &Vec<f64>| {
            let mut left = row.clone();
            // What is left of a row that constraints hold is rounding.
            if reject(&mut left, &basis) <= SPANNED * norm(row) {
                left.fill(0.0);
            }
            left
        };
        let free = rows.iter().map(beside).collect();
        Beside { rows, chosen, free }
    }

    /// What constraints leave of the slip with these rows.
    pub fn reach(&self, rows: Range<usize>) -> Reach {
        let whole = self.rows[rows.clone()].iter().map(|row| norm(row)).fold(0.0, f64::max);
        Reach::new(&self.free[rows], whole)
    }
}

fn basis_of(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis = Vec::new();
    for row in rows {
        extend(&mut basis, row, SPANNED);
    }
    basis
}

/// Shares loads that are not unique, of rows as they are held, so that frictions bear along what can
/// slip alone; loads that are unique then are told so.
pub(crate) fn share(system: &System, rows: &Matrix, loads: &mut [f64], is_open: &mut [bool]) {
    let held = || system.frictions.iter().filter_map(|f| f.held.clone());
    let is_any =
        |range: &Range<usize>| is_open.get(range.clone()).is_some_and(|o| o.contains(&true));
    if loads.len() != is_open.len() || !held().any(|range| is_any(&range)) {
        return;
    }
    let (n, m) = (system.n_coordinates(), loads.len());
    let normals: Vec<usize> = system.contacts.iter().filter_map(|c| c.held).collect();
    let touches = |at: usize| normals.contains(&at) || held().any(|r| r.contains(&at));
    // Those of constraints come first, as they are written.
    let written = (0..m).position(touches).unwrap_or(m);
    let row = |at: usize| (0..n).map(|i| rows.entry(at, i)).collect();
    let beside = Beside::new((0..m).map(row).collect(), written);
    let mut moved = vec![0.0; n];
    let mut all_known = true;
    let open: Vec<Range<usize>> = held().filter(is_any).collect();
    for range in &open {
        let reach = beside.reach(range.clone());
        let part = reach.part(&loads[range.clone()]);
        for (at, part) in range.clone().zip(part) {
            let row = &beside.rows[at];
            moved.iter_mut().zip(row).for_each(|(f, a)| *f += (loads[at] - part) * a);
            loads[at] = part;
        }
        let others = (written..m).filter(|at| !range.contains(at));
        let others: Vec<Vec<f64>> = others.map(|at| beside.free[at].clone()).collect();
        let is_known = reach.is_alone(&others);
        all_known &= is_known;
        if is_known {
            is_open[range.clone()].fill(false);
        }
    }
    // The constraints bear what frictions no longer do.
    let chosen: Vec<&Vec<f64>> = beside.chosen.iter().map(|&at| &beside.rows[at]).collect();
    let k = chosen.len();
    let mut gram: Vec<f64> = chosen.iter().flat_map(|a| chosen.iter().map(|b| dot(a, b))).collect();
    let mut more: Vec<f64> = chosen.iter().map(|row| dot(row, &moved)).collect();
    if cholesky::factor(&mut gram, k).is_ok() {
        cholesky::solve_lower(&gram, k, k, &mut more);
        cholesky::solve_lower_transposed(&gram, k, k, &mut more);
        beside.chosen.iter().zip(&more).for_each(|(&at, more)| loads[at] += more);
    }
    if !(all_known && normals.iter().all(|&at| !is_open[at])) {
        return;
    }
    for at in 0..written {
        let others: Vec<Vec<f64>> =
            (0..written).filter(|&other| other != at).map(|o| beside.rows[o].clone()).collect();
        is_open[at] = !extend(&mut basis_of(&others), &beside.rows[at], SPANNED);
    }
}

/// Factors of coordinates by which their entries in the rows are alike, in any units.
fn sizes(rows: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut sizes = vec![1.0; n];
    for _ in 0..3 {
        let mut largest = vec![0f64; n];
        for row in rows {
            let whole = row.iter().zip(&sizes).map(|(a, s)| (a * s).abs()).fold(0.0, f64::max);
            if whole > 0.0 {
                let entries = largest.iter_mut().zip(row.iter().zip(&sizes));
                entries.for_each(|(l, (a, s))| *l = l.max((a * s).abs() / whole));
            }
        }
        let factors = sizes.iter_mut().zip(&largest).filter(|(_, l)| **l > 0.0);
        factors.for_each(|(size, largest)| *size /= largest);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a wire along (3, 4)/5 what is borne across it is the wire's.
    #[test]
    fn a_friction_on_a_wire_acts_along_it() {
        let (wire, along) = ([-0.8, 0.6], [0.6, 0.8]);
        let rest = |row: [f64; 2]| -> Vec<f64> {
            let across = dot(&row, &wire);
            row.iter().zip(&wire).map(|(a, w)| a - across * w).collect()
        };
        let reach = Reach::new(&[rest([1.0, 0.0]), rest([0.0, 1.0])], 1.0);
        let part = reach.part(&[2.0, -1.0]);
        let expected = dot(&[2.0, -1.0], &along);
        part.iter().zip(along).for_each(|(p, a)| assert!((p - expected * a).abs() < 1e-15));
        assert!(reach.is_alone(&[]));
        assert!(!reach.is_alone(&[along.to_vec()]), "another friction along the wire");
        assert!(reach.is_alone(&[wire.to_vec()]), "what bears across it");
    }
}
