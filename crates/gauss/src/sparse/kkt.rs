//! Γ that is sparse but one block: accelerations and multipliers eliminated together.
//!
//! ```text
//! ⎡ Γ  Aᵀ⎤ ⎡ v̇⎤   ⎡F⎤
//! ⎣ A  0 ⎦ ⎣−λ⎦ = ⎣b⎦      K = L D Lᵀ
//! ```
//!
//! Γ⁻¹ is full where Γ is one block, and S = A Γ⁻¹ Aᵀ with it; K is as sparse as its parts. Its
//! unknowns are taken in an order in which little fills in, each multiplier next to the last
//! coordinate of its row. For Γ ≻ 0 and independent rows no pivot has to be looked for: what is left
//! of Γ when coordinates are eliminated is positive definite, a multiplier whose coordinates are has
//! a negative pivot, the square of its row's distance from those before it in the metric of these
//! coordinates, and what it adds to the others is positive. The signs of the pivots are watched.
//! (SPEC: K4; for the inertia of such orders: Vanderbei 1995, Forsgren, Gill & Shinnerl 1996.)

use super::structure::{fill_reducing, lower};
use super::uplooking;
use crate::pattern::Pattern;
use dalembert_machine::{Wide, wide};

/// Rows with more entries than this many times √n do not count for the order.
const DENSE: f64 = 10.0;

/// The order of the unknowns and the pattern of L.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coupled {
    n: usize,
    /// Unknowns in the order of elimination; from n on, multipliers.
    order: Vec<usize>,
    /// Where each of them is in it.
    position: Vec<usize>,
    /// K below its diagonal, and the diagonal last, in that order; and where the entries are from:
    /// in Γ, or in A behind it. A diagonal that has none is 0.
    matrix: Pattern,
    sources: Vec<Vec<u32>>,
    lower: Pattern,
}

/// L and D of one state, and room for solutions.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoupledFactors {
    lower: Vec<f64>,
    inverse: Vec<f64>,
    pivots: Vec<f64>,
    work: Vec<f64>,
}

impl Coupled {
    /// Finds an order for Γ and A; `None` if L has more entries than `most` in those that are
    /// tried.
    pub(crate) fn new(metric: &Pattern, jacobian: &Pattern, most: usize) -> Option<Coupled> {
        let (n, m) = (metric.rows(), jacobian.rows());
        // Coordinates that meet in Γ or in a row.
        let mut meets: Vec<Vec<(usize, u32, u32)>> = vec![Vec::new(); n];
        for (i, list) in meets.iter_mut().enumerate() {
            list.extend(metric.row(i).iter().map(|&j| (j, 0, 0)));
        }
        for i in 0..n {
            metric.row(i).iter().for_each(|&j| meets[j].push((i, 0, 0)));
        }
        // Rows over many coordinates would join all of them, and say nothing.
        let longest = (DENSE * (n as f64).sqrt()).max(16.0) as usize;
        for row in (0..m).filter(|&row| jacobian.row(row).len() <= longest) {
            let own = jacobian.row(row);
            for &i in own {
                meets[i].extend(own.iter().map(|&j| (j, 0, 0)));
            }
        }
        meets.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        // As coordinates come, if that fills in as little: what is near stays near.
        let natural: Vec<usize> = (0..n).collect();
        let in_order = |coordinates: &[usize]| {
            let order = with_multipliers(coordinates, jacobian);
            let own = Coupled::in_order(metric, jacobian, order);
            let fill = fill(&own.matrix, most)?;
            Some((fill, own))
        };
        let both = [in_order(&natural), in_order(&fill_reducing(&meets))];
        let (_, mut found) = both.into_iter().flatten().min_by_key(|(fill, _)| *fill)?;
        found.lower = lower(&found.matrix);
        Some(found)
    }

    fn in_order(metric: &Pattern, jacobian: &Pattern, order: Vec<usize>) -> Coupled {
        let (n, m) = (metric.rows(), jacobian.rows());
        let mut position = vec![0; n + m];
        order.iter().enumerate().for_each(|(k, &unknown)| position[unknown] = k);
        let mut rows: Vec<Vec<(usize, u32)>> = vec![Vec::new(); n + m];
        let mut put = |a: usize, b: usize, from: usize| {
            let (low, high) = (position[a].min(position[b]), position[a].max(position[b]));
            rows[high].push((low, from as u32));
        };
        for i in 0..n {
            metric.row(i).iter().zip(metric.range(i)).for_each(|(&j, at)| put(i, j, at));
        }
        for row in 0..m {
            let own = jacobian.row(row).iter().zip(jacobian.range(row));
            own.for_each(|(&i, at)| put(n + row, i, metric.entries() + at));
        }
        let mut matrix = Pattern::new(n + m, std::iter::empty::<Vec<usize>>());
        let mut sources: Vec<Vec<u32>> = Vec::new();
        for (k, mut list) in rows.into_iter().enumerate() {
            list.sort_unstable();
            let mut columns: Vec<usize> = Vec::new();
            for (column, from) in list {
                if columns.last() != Some(&column) {
                    columns.push(column);
                    sources.push(Vec::new());
                }
                sources.last_mut().into_iter().for_each(|own| own.push(from));
            }
            if columns.last() != Some(&k) {
                columns.push(k);
                sources.push(Vec::new());
            }
            matrix.push(columns);
        }
        Coupled { n, order, position, matrix, sources, lower: Pattern::default() }
    }

    /// Factors K. False if a pivot has not the sign that it should have, by a margin of `least` in
    /// those of coordinates.
    pub(crate) fn factor(
        &self,
        (metric, jacobian): (&[f64], &[f64]),
        least: f64,
        factors: &mut CoupledFactors,
    ) -> bool {
        wide(Factor { own: self, metric, jacobian, least, factors })
    }

    /// The squares of the distances of the rows from those before them.
    pub(crate) fn distance(&self, factors: &CoupledFactors, row: usize) -> f64 {
        -factors.pivots[self.position[self.n + row]]
    }

    /// v̇ and −λ for F and b, one after the other, in place.
    pub(crate) fn solve(&self, factors: &mut CoupledFactors, x: &mut [f64]) {
        wide(Solve { own: self, factors, x });
    }
}

struct Factor<'a> {
    own: &'a Coupled,
    metric: &'a [f64],
    jacobian: &'a [f64],
    least: f64,
    factors: &'a mut CoupledFactors,
}

impl Wide for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Factor { own, metric, jacobian, least, factors } = self;
        let count = own.order.len();
        let CoupledFactors { lower, inverse, pivots, work } = factors;
        for list in [&mut *inverse, &mut *pivots, &mut *work] {
            list.clear();
            list.resize(count, 0.0);
        }
        lower.resize(own.lower.entries(), 0.0);
        // Of two entries of Γ that mirror each other, the mean; of the diagonal, itself.
        let value = |at: usize, is_diagonal: bool| -> f64 {
            let part = |&from: &u32| match (from as usize).checked_sub(metric.len()) {
                None if is_diagonal => metric[from as usize],
                None => 0.5 * metric[from as usize],
                Some(at) => jacobian[at],
            };
            own.sources[at].iter().map(part).sum()
        };
        let mut is_regular = true;
        for k in 0..count {
            let places = own.matrix.range(k);
            let (columns, last) = (own.matrix.row(k), places.end - 1);
            for (column, at) in columns.iter().zip(places.start..last) {
                work[*column] = value(at, false);
            }
            let whole = value(last, true);
            let pivot = uplooking::row(&own.lower, k, whole, (lower, inverse, work));
            (pivots[k], inverse[k]) = (pivot, 1.0 / pivot);
            is_regular &= pivot.is_finite()
                && match own.order[k] < own.n {
                    true => pivot > least * whole && whole > 0.0,
                    false => pivot < 0.0,
                };
        }
        is_regular
    }
}

struct Solve<'a> {
    own: &'a Coupled,
    factors: &'a mut CoupledFactors,
    x: &'a mut [f64],
}

impl Wide for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Solve { own, factors, x } = self;
        let CoupledFactors { lower, inverse, work, .. } = factors;
        work.iter_mut().zip(&own.order).for_each(|(place, &unknown)| *place = x[unknown]);
        uplooking::solve((&own.lower, &own.order), (lower, inverse, work), x);
    }
}

/// How many entries L has below its diagonal; `None` if that is more than `most`. As
/// [`lower`] finds them, without keeping any.
fn fill(matrix: &Pattern, most: usize) -> Option<usize> {
    const NONE: usize = usize::MAX;
    let count = matrix.rows();
    let (mut parent, mut seen) = (vec![NONE; count], vec![NONE; count]);
    let mut entries = 0;
    for k in 0..count {
        seen[k] = k;
        for &column in matrix.row(k).iter().filter(|column| **column < k) {
            let mut i = column;
            while seen[i] != k {
                seen[i] = k;
                entries += 1;
                if parent[i] == NONE {
                    parent[i] = k;
                }
                i = parent[i];
            }
        }
        if entries > most {
            return None;
        }
    }
    Some(entries)
}

/// An order of coordinates with each multiplier behind the last coordinate of its row.
fn with_multipliers(coordinates: &[usize], jacobian: &Pattern) -> Vec<usize> {
    let n = coordinates.len();
    let mut position = vec![0; n];
    coordinates.iter().enumerate().for_each(|(k, &i)| position[i] = k);
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut order = Vec::with_capacity(n + jacobian.rows());
    for row in 0..jacobian.rows() {
        match jacobian.row(row).iter().map(|&i| position[i]).max() {
            Some(last) => behind[last].push(row),
            None => order.push(n + row),
        }
    }
    for (k, &i) in coordinates.iter().enumerate() {
        order.push(i);
        order.extend(behind[k].iter().map(|row| n + row));
    }
    order
}
