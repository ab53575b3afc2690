//! Which rows depend on others, without a dense matrix.
//!
//! The rows of A, in coordinates in which Γ is 1 and brought to unit length, are the columns of a
//! matrix whose triangle R is found by rotations, one coordinate after the other (George & Heath
//! 1980); R fills in as L does. A small entry on its diagonal is a row that depends on those before
//! it: it is left out, and what else is in its row of R goes on to the later ones (Heath 1982).
//! Whether an entry is small is asked of the tolerance and of the noise of the rows, weighted as
//! they combine to give it. Rows may depend on each other without a small entry; that shows in the
//! smallest singular value, which is estimated by inverse iteration.
//!
//! Rows that repeat others, as they do where constraints were written twice, are seen beforehand: they
//! are no part of the triangle.

use super::structure::Structure;
use crate::tolerances::rank::WEAK;
use crate::tolerances::sparse::{ROUNDING, SUSPECT};
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

/// Steps of the inverse iteration.
const ITERATIONS: usize = 3;

/// Which rows are independent, and how the others follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Independent {
    /// By their places among all rows, in order.
    pub(crate) rows: Vec<usize>,
    /// For each of the others: its place, and the weights with which rows in use combine to
    /// give it, in units in which all rows have length one.
    pub(crate) dependent: Vec<(usize, Vec<(usize, f64)>)>,
    /// The largest entry that was taken for zero.
    pub(crate) dropped: f64,
    /// The same where neither rounding nor noise explains it.
    pub(crate) weak: Option<f64>,
    /// The smallest singular value of what was kept, roughly.
    pub(crate) least: f64,
}

/// Rows with their lengths and noise.
pub(crate) struct Rows<'a> {
    /// Entries in coordinates in which Γ is 1, over whole blocks.
    pub(crate) entries: &'a [f64],
    /// Their lengths.
    pub(crate) lengths: &'a [f64],
    /// Their noise as a part of their lengths.
    pub(crate) noise: &'a [f64],
}

/// The triangle.
struct Triangle {
    /// Rows of R, from their diagonals on, by position; empty where there is none.
    rows: Vec<Vec<(usize, f64)>>,
    /// For each position, the rows of R that have had an entry there.
    columns: Vec<Vec<usize>>,
}

/// Decides with the tolerance τ; `rounding` is what a tolerance of its own would be.
pub(crate) fn independent(
    s: &Structure,
    rows: &Rows,
    live: &[bool],
    tau: f64,
    rounding: f64,
) -> Independent {
    let repeats = repeats(s, rows, live);
    let is_new: Vec<bool> =
        repeats.iter().zip(live).map(|(other, live)| *live && other.is_none()).collect();
    let mut triangle = Triangle::new(s, rows, &is_new);
    let mut found = Independent { least: 1.0, ..Independent::default() };
    let m = s.order.len();
    let mut weights = vec![0.0; m];
    for k in 0..m {
        let row = s.order[k];
        if !live[row] {
            found.dependent.push((row, Vec::new()));
            continue;
        }
        if !is_new[row] {
            continue;
        }
        let own = triangle.diagonal(k);
        if own > SUSPECT {
            found.rows.push(row);
            continue;
        }
        let list = triangle.weights(k, &mut weights);
        let noise = rows.noise[row]
            + list.iter().map(|&(at, w)| w.abs() * rows.noise[s.order[at]]).sum::<f64>();
        if own > tau.max(2.0 * noise) {
            found.rows.push(row);
            continue;
        }
        found.dropped = found.dropped.max(own);
        if own > WEAK * rounding.max(2.0 * noise) {
            found.weak = Some(found.weak.unwrap_or(0.0).max(own));
        }
        triangle.drop(k);
        found.dependent.push((row, list.into_iter().map(|(at, w)| (s.order[at], w)).collect()));
    }
    found.least = triangle.least();
    found.rows.sort_unstable();
    follow(&repeats, &mut found);
    found
}

/// Of each row, one ahead of it in the order that it repeats, and with which sign.
fn repeats(s: &Structure, rows: &Rows, live: &[bool]) -> Vec<Option<(usize, f64)>> {
    let mut found = vec![None; live.len()];
    let mut known: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let sign = |row: usize| {
        let lead = rows.entries[s.wide.range(row)].iter().find(|x| **x != 0.0);
        lead.map_or(1.0, |x| x.signum())
    };
    let part = |row: usize| {
        let by = sign(row) * rows.lengths[row];
        rows.entries[s.wide.range(row)].iter().map(move |x| x / by)
    };
    for &row in s.order.iter().filter(|row| live[**row]) {
        let mut hasher = rustc_hash::FxHasher::default();
        s.wide.row(row).hash(&mut hasher);
        part(row).for_each(|x| x.to_bits().hash(&mut hasher));
        let alike = known.entry(hasher.finish()).or_default();
        let is_same =
            |other: &usize| s.wide.row(*other) == s.wide.row(row) && part(*other).eq(part(row));
        match alike.iter().copied().find(is_same) {
            Some(other) => found[row] = Some((other, sign(row) * sign(other))),
            None => alike.push(row),
        }
    }
    found
}

/// What repeats a row follows as that does.
fn follow(repeats: &[Option<(usize, f64)>], found: &mut Independent) {
    let repeated = repeats.iter().enumerate().filter_map(|(row, other)| Some((row, (*other)?)));
    let mut repeated = repeated.peekable();
    if repeated.peek().is_none() {
        return;
    }
    let places: FxHashMap<usize, usize> =
        found.dependent.iter().enumerate().map(|(at, (row, _))| (*row, at)).collect();
    for (row, (other, sign)) in repeated {
        let weights = match places.get(&other) {
            Some(&at) => found.dependent[at].1.iter().map(|&(k, w)| (k, sign * w)).collect(),
            None => vec![(other, sign)],
        };
        found.dependent.push((row, weights));
    }
}

impl Triangle {
    fn new(s: &Structure, rows: &Rows, live: &[bool]) -> Triangle {
        let m = s.order.len();
        let mut position = vec![0; m];
        s.order.iter().enumerate().for_each(|(k, &row)| position[row] = k);
        let mut triangle = Triangle { rows: vec![Vec::new(); m], columns: vec![Vec::new(); m] };
        let mut coordinates: Vec<Vec<(usize, f64)>> = Vec::new();
        for list in s.wide.by_columns() {
            let mut own: Vec<(usize, f64)> = list
                .into_iter()
                .filter(|(row, at)| live[*row] && rows.entries[*at] != 0.0)
                .map(|(row, at)| (position[row], rows.entries[at] / rows.lengths[row]))
                .collect();
            own.sort_unstable_by_key(|entry| entry.0);
            if !own.is_empty() {
                coordinates.push(own);
            }
        }
        // Those that begin early first, so that little fills in.
        coordinates.sort_by_key(|list| list[0].0);
        coordinates.into_iter().for_each(|list| triangle.insert(list));
        triangle
    }

    /// Rotates a row into the triangle.
    fn insert(&mut self, mut row: Vec<(usize, f64)>) {
        let mut rotated = Vec::new();
        while let Some(&(k, lead)) = row.first() {
            if lead == 0.0 {
                row.remove(0);
                continue;
            }
            if self.rows[k].is_empty() {
                row.iter().for_each(|&(column, _)| self.columns[column].push(k));
                self.rows[k] = row;
                return;
            }
            let own = std::mem::take(&mut self.rows[k]);
            let pivot = own[0].1;
            let length = pivot.hypot(lead);
            let (c, s) = (pivot / length, lead / length);
            rotated.clear();
            let mut kept = Vec::with_capacity(own.len().max(row.len()));
            let (mut a, mut b) = (own.iter().peekable(), row.iter().peekable());
            loop {
                let column = match (a.peek(), b.peek()) {
                    (Some(x), Some(y)) => x.0.min(y.0),
                    (Some(x), None) => x.0,
                    (None, Some(y)) => y.0,
                    (None, None) => break,
                };
                let old = a.next_if(|x| x.0 == column).map(|x| x.1);
                let new = b.next_if(|y| y.0 == column).map_or(0.0, |y| y.1);
                if old.is_none() {
                    self.columns[column].push(k);
                }
                let old = old.unwrap_or(0.0);
                kept.push((column, c * old + s * new));
                let left = c * new - s * old;
                // Rounding of what cancels is none of its digits.
                let terms = (c * new).abs() + (s * old).abs();
                if column > k && left.abs() > ROUNDING * f64::EPSILON * terms {
                    rotated.push((column, left));
                }
            }
            kept[0].1 = length;
            self.rows[k] = kept;
            std::mem::swap(&mut row, &mut rotated);
        }
    }

    fn diagonal(&self, k: usize) -> f64 {
        self.rows[k].first().map_or(0.0, |entry| entry.1.abs())
    }

    /// Takes a row of R out; what is behind its diagonal goes to the later ones.
    fn drop(&mut self, k: usize) {
        let mut row = std::mem::take(&mut self.rows[k]);
        if !row.is_empty() {
            row.remove(0);
            self.insert(row);
        }
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        let own = &self.rows[row];
        own.binary_search_by_key(&column, |e| e.0).map_or(0.0, |at| own[at].1)
    }

    /// The weights of earlier rows in row k: R₁ w = R_1k, as far as they are not rounding.
    fn weights(&self, k: usize, work: &mut [f64]) -> Vec<(usize, f64)> {
        let mut open = BinaryHeap::new();
        for &i in self.columns[k].iter().filter(|i| **i < k) {
            work[i] = self.entry(i, k);
            open.push(i);
        }
        let mut found: Vec<(usize, f64)> = Vec::new();
        while let Some(i) = open.pop() {
            while open.peek() == Some(&i) {
                open.pop();
            }
            let y = std::mem::take(&mut work[i]);
            let pivot = self.diagonal(i);
            if y == 0.0 || pivot == 0.0 {
                continue;
            }
            let w = y / self.rows[i][0].1;
            found.push((i, w));
            for &j in self.columns[i].iter().filter(|j| **j < i) {
                let by = self.entry(j, i) * w;
                let left = work[j] - by;
                work[j] = match left.abs() > ROUNDING * f64::EPSILON * (work[j].abs() + by.abs()) {
                    true => left,
                    false => 0.0,
                };
                open.push(j);
            }
        }
        found
    }

    /// The smallest singular value, roughly: from above.
    fn least(&self) -> f64 {
        let m = self.rows.len();
        let kept = || (0..m).filter(|&k| !self.rows[k].is_empty());
        let count = kept().count();
        if count == 0 {
            return 1.0;
        }
        let mut x: Vec<f64> = (0..m).map(|k| 1.0 + 0.5 * (k as f64 * 0.7).sin()).collect();
        let mut least = 1f64;
        for _ in 0..ITERATIONS {
            // Rᵀ y = x, then R z = y.
            for k in kept() {
                let own = &self.rows[k];
                x[k] /= own[0].1;
                let value = x[k];
                own[1..].iter().for_each(|&(j, r)| x[j] -= r * value);
            }
            for k in (0..m).rev().filter(|&k| !self.rows[k].is_empty()) {
                let own = &self.rows[k];
                let kept = own[1..].iter().filter(|e| !self.rows[e.0].is_empty());
                let sum: f64 = kept.map(|&(j, r)| r * x[j]).sum();
                x[k] = (x[k] - sum) / own[0].1;
            }
            let size = kept().map(|k| x[k] * x[k]).sum::<f64>().sqrt();
            if !(size > 0.0) || !size.is_finite() {
                return 0.0;
            }
            least = size.sqrt().recip();
            (0..m).for_each(|k| x[k] = if self.rows[k].is_empty() { 0.0 } else { x[k] / size });
        }
        least
    }
}
