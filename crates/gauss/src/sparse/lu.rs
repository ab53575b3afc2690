//! Gaussian elimination of matrices that are mostly zeros, real or complex: Π A Q = L U.
//!
//! The columns are put into an order in which little fills in whatever rows become pivots: that of
//! AᵀA (approximate minimum degree; Davis, Gilbert, Larimore & Ng 2004 for why). Then column by
//! column, each solved with those before it whose entries reach it (Gilbert & Peierls 1988), with the
//! row of a column's own number as its pivot as long as that is not small beside the others. Where the
//! same places have other numbers, the pivots are kept and nothing is searched for, unless one has
//! become small ([`refactor`](SparseLu::factor)).

use super::structure::fill_reducing;
use crate::linalg::complex::{Complex, over, size, times};
use crate::pattern::Pattern;
use std::sync::Arc;

/// Unit: part of the largest entry of a column. A pivot of the column's own number is above it.
const OWN: f64 = 0.1;
/// The same for pivots that are kept.
const KEPT: f64 = 1e-3;
/// Rows with more entries than this many times √n do not count for the order.
const DENSE: f64 = 10.0;
const NONE: usize = usize::MAX;

/// A number that is eliminated with.
pub trait Scalar: Copy + Default {
    /// |a|, or about that.
    fn size(self) -> f64;
    /// a − b c.
    fn less(self, b: Self, c: Self) -> Self;
    /// a/b.
    fn over(self, b: Self) -> Self;
}

impl Scalar for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
    #[inline(always)]
    fn less(self, b: f64, c: f64) -> f64 {
        self - b * c
    }
    fn over(self, b: f64) -> f64 {
        self / b
    }
}

impl Scalar for Complex {
    fn size(self) -> f64 {
        size(self)
    }
    #[inline(always)]
    fn less(self, b: Complex, c: Complex) -> Complex {
        let part = times(b, c);
        (self.0 - part.0, self.1 - part.1)
    }
    fn over(self, b: Complex) -> Complex {
        over(self, b)
    }
}

/// The columns of a square pattern, and their order.
#[derive(Clone, Debug)]
pub struct Ordered {
    n: usize,
    /// Columns in the order of elimination.
    order: Vec<usize>,
    /// For each column its rows, with the places of the entries.
    starts: Vec<usize>,
    entries: Vec<(usize, usize)>,
}

impl Ordered {
    /// Finds an order for a square pattern.
    pub fn new(pattern: &Pattern) -> Ordered {
        let n = pattern.columns();
        let (mut starts, mut entries) = (vec![0], Vec::with_capacity(pattern.entries()));
        for column in pattern.by_columns() {
            entries.extend(column);
            starts.push(entries.len());
        }
        let most = (DENSE * (n as f64).sqrt()).max(16.0) as usize;
        let mut meets: Vec<Vec<(usize, u32, u32)>> = vec![Vec::new(); n];
        for row in 0..pattern.rows() {
            let own = pattern.row(row);
            if own.len() <= most {
                for &i in own {
                    meets[i].extend(own.iter().map(|&j| (j, 0, 0)));
                }
            }
        }
        meets.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        Ordered { n, order: fill_reducing(&meets), starts, entries }
    }
}

/// L, U and their pivots.
#[derive(Clone, Debug)]
pub struct SparseLu<T> {
    shape: Arc<Ordered>,
    /// For each step the row that is its pivot, and for each row its step.
    pivots: Vec<usize>,
    steps: Vec<usize>,
    /// L without its diagonal, by columns: (row, entry).
    lower_starts: Vec<usize>,
    lower: Vec<(usize, T)>,
    /// U without its diagonal, by columns, steps in order: (step, entry).
    upper_starts: Vec<usize>,
    upper: Vec<(usize, T)>,
    diagonal: Vec<T>,
    /// Room.
    work: Vec<T>,
    is_factored: bool,
}

impl<T: Scalar> SparseLu<T> {
    /// Factors of matrices of a shape, none yet.
    pub fn new(shape: &Arc<Ordered>) -> SparseLu<T> {
        let n = shape.n;
        SparseLu {
            shape: shape.clone(),
            pivots: vec![NONE; n],
            steps: vec![NONE; n],
            lower_starts: Vec::new(),
            lower: Vec::new(),
            upper_starts: Vec::new(),
            upper: Vec::new(),
            diagonal: vec![T::default(); n],
            work: vec![T::default(); n],
            is_factored: false,
        }
    }

    /// Factors a matrix with these entries, row by row; by the pivots there are, if they serve.
    /// False if a column has no pivot.
    pub fn factor(&mut self, values: &[T]) -> bool {
        self.is_factored = (self.is_factored && self.refactor(values)) || self.search(values);
        self.is_factored
    }

    /// The number of entries of L and U.
    pub fn entries(&self) -> usize {
        self.lower.len() + self.upper.len() + self.diagonal.len()
    }

    /// With pivots and places as they are. False if a pivot has become small.
    fn refactor(&mut self, values: &[T]) -> bool {
        let shape = self.shape.clone();
        let SparseLu { lower_starts, lower, upper_starts, upper, diagonal, work, pivots, .. } =
            self;
        for (k, &column) in shape.order.iter().enumerate() {
            for &(row, at) in &shape.entries[shape.starts[column]..shape.starts[column + 1]] {
                work[row] = values[at];
            }
            for (step, entry) in &mut upper[upper_starts[k]..upper_starts[k + 1]] {
                let u = std::mem::take(&mut work[pivots[*step]]);
                *entry = u;
                for &(row, l) in &lower[lower_starts[*step]..lower_starts[*step + 1]] {
                    work[row] = work[row].less(l, u);
                }
            }
            let pivot = std::mem::take(&mut work[pivots[k]]);
            let own = &mut lower[lower_starts[k]..lower_starts[k + 1]];
            let mut most = pivot.size();
            for (row, l) in own.iter_mut() {
                *l = std::mem::take(&mut work[*row]);
                most = if l.size() <= most { most } else { l.size() };
            }
            if !(pivot.size() > KEPT * most) || !most.is_finite() {
                work.fill(T::default());
                return false;
            }
            diagonal[k] = pivot;
            own.iter_mut().for_each(|(_, l)| *l = l.over(pivot));
        }
        true
    }

    /// From the beginning.
    fn search(&mut self, values: &[T]) -> bool {
        let shape = self.shape.clone();
        let n = shape.n;
        self.pivots.fill(NONE);
        self.steps.fill(NONE);
        self.work.fill(T::default());
        (self.lower_starts, self.upper_starts) = (vec![0], vec![0]);
        self.lower.clear();
        self.upper.clear();
        let mut seen = vec![NONE; n];
        let (mut found, mut path): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for (k, &column) in shape.order.iter().enumerate() {
            // The rows that the entries reach.
            found.clear();
            for &(first, _) in &shape.entries[shape.starts[column]..shape.starts[column + 1]] {
                if seen[first] == k {
                    continue;
                }
                seen[first] = k;
                path.push((first, 0));
                while let Some((row, next)) = path.pop() {
                    let step = self.steps[row];
                    let mut deeper = None;
                    if step != NONE {
                        let own = self.lower_starts[step] + next..self.lower_starts[step + 1];
                        for at in own {
                            let other = self.lower[at].0;
                            if seen[other] != k {
                                deeper = Some((at + 1 - self.lower_starts[step], other));
                                break;
                            }
                        }
                    }
                    match deeper {
                        Some((next, other)) => {
                            seen[other] = k;
                            path.push((row, next));
                            path.push((other, 0));
                        }
                        None => found.push(row),
                    }
                }
            }
            for &(row, at) in &shape.entries[shape.starts[column]..shape.starts[column + 1]] {
                self.work[row] = values[at];
            }
            let first = self.upper.len();
            let reached = found.iter().map(|&row| self.steps[row]).filter(|step| *step != NONE);
            self.upper.extend(reached.map(|step| (step, T::default())));
            self.upper[first..].sort_unstable_by_key(|entry| entry.0);
            for (step, entry) in &mut self.upper[first..] {
                let u = std::mem::take(&mut self.work[self.pivots[*step]]);
                *entry = u;
                for &(row, l) in &self.lower[self.lower_starts[*step]..self.lower_starts[*step + 1]]
                {
                    self.work[row] = self.work[row].less(l, u);
                }
            }
            self.upper_starts.push(self.upper.len());
            let open = || found.iter().copied().filter(|&row| self.steps[row] == NONE);
            let mut best = NONE;
            for row in open() {
                if best == NONE || !(self.work[row].size() <= self.work[best].size()) {
                    best = row;
                }
            }
            let largest = if best == NONE { 0.0 } else { self.work[best].size() };
            if !(largest > 0.0) || !largest.is_finite() {
                return false;
            }
            let is_own = self.steps[column] == NONE && seen[column] == k;
            if is_own && self.work[column].size() >= OWN * largest {
                best = column;
            }
            let pivot = std::mem::take(&mut self.work[best]);
            for &row in found.iter().filter(|&&row| self.steps[row] == NONE && row != best) {
                let entry = std::mem::take(&mut self.work[row]).over(pivot);
                self.lower.push((row, entry));
            }
            (self.pivots[k], self.steps[best], self.diagonal[k]) = (best, k, pivot);
            self.lower_starts.push(self.lower.len());
        }
        true
    }

    /// Solves A x = b, in place.
    pub fn solve(&self, x: &mut [T]) {
        let n = self.shape.n;
        for k in 0..n {
            let value = x[self.pivots[k]];
            for &(row, l) in &self.lower[self.lower_starts[k]..self.lower_starts[k + 1]] {
                x[row] = x[row].less(l, value);
            }
        }
        let mut found: Vec<T> = self.pivots.iter().map(|&row| x[row]).collect();
        for k in (0..n).rev() {
            let value = found[k].over(self.diagonal[k]);
            found[k] = value;
            for &(step, u) in &self.upper[self.upper_starts[k]..self.upper_starts[k + 1]] {
                found[step] = found[step].less(u, value);
            }
        }
        found.iter().zip(&self.shape.order).for_each(|(value, &column)| x[column] = *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{complex, lu};

    /// Numbers between −1 and 1, the same each time.
    fn number(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Random matrices, some of them with zeros on the diagonal, of which values change twice.
    #[test]
    fn solutions_are_those_of_dense_matrices() {
        let mut state = 1;
        let mut kept = 0;
        for case in 0..300 {
            let n = 2 + case % 40;
            let mut rows: Vec<Vec<usize>> = (0..n).map(|i| vec![(i + 1) % n, i]).collect();
            for row in rows.iter_mut() {
                for _ in 0..2 {
                    row.push(((number(&mut state) + 1.0) * 0.5 * n as f64) as usize % n);
                }
                if number(&mut state) < -0.5 {
                    row.remove(1);
                }
                row.sort_unstable();
                row.dedup();
            }
            let pattern = Pattern::new(n, rows);
            let shape = Arc::new(Ordered::new(&pattern));
            let mut real = SparseLu::<f64>::new(&shape);
            let mut pairs = SparseLu::<Complex>::new(&shape);
            for _ in 0..3 {
                let values: Vec<f64> = (0..pattern.entries()).map(|_| number(&mut state)).collect();
                let b: Vec<f64> = (0..n).map(|_| number(&mut state)).collect();
                let (mut full, mut order, mut work) =
                    (pattern.dense(&values), vec![0; n], vec![0.0; n]);
                let is_regular = lu::factor(&mut full, n, &mut order)
                    && (0..n).all(|i| full[i * n + i].abs() > 1e-6);
                if !is_regular {
                    continue;
                }
                kept += usize::from(real.is_factored);
                assert!(real.factor(&values), "case {case}");
                let (mut x, mut y) = (b.clone(), b.clone());
                real.solve(&mut x);
                lu::solve(&full, n, &order, &mut y, &mut work);
                let size = y.iter().fold(1f64, |m, y| m.max(y.abs()));
                x.iter().zip(&y).for_each(|(x, y)| assert!((x - y).abs() < 1e-8 * size));
                let values: Vec<Complex> =
                    values.iter().map(|v| (*v, 0.5 * number(&mut state))).collect();
                let mut full = vec![(0.0, 0.0); n * n];
                for row in 0..n {
                    for (at, column) in pattern.range(row).zip(pattern.row(row)) {
                        full[row * n + column] = values[at];
                    }
                }
                let mut work = vec![(0.0, 0.0); n];
                let is_regular = complex::factor(&mut full, n, &mut order)
                    && (0..n).all(|i| size_of(full[i * n + i]) > 1e-6);
                if !is_regular {
                    continue;
                }
                assert!(pairs.factor(&values), "case {case}");
                let mut x: Vec<Complex> = b.iter().map(|b| (*b, 1.0 - b)).collect();
                let mut y = x.clone();
                pairs.solve(&mut x);
                complex::solve(&full, n, &order, &mut y, &mut work);
                let most = y.iter().fold(1f64, |m, y| m.max(size_of(*y)));
                for (x, y) in x.iter().zip(&y) {
                    assert!(size_of((x.0 - y.0, x.1 - y.1)) < 1e-8 * most, "case {case}");
                }
            }
        }
        assert!(kept > 200, "{kept}");
    }

    fn size_of(a: Complex) -> f64 {
        size(a)
    }

    #[test]
    fn what_is_singular_has_no_factors() {
        let pattern = Pattern::new(3, [vec![0, 1], vec![0, 1], vec![2]]);
        let mut lu = SparseLu::<f64>::new(&Arc::new(Ordered::new(&pattern)));
        assert!(!lu.factor(&[1.0, 2.0, 2.0, 4.0, 1.0]));
        assert!(lu.factor(&[1.0, 2.0, 2.0, 5.0, 1.0]));
        assert!(!lu.factor(&[1.0, 2.0, 2.0, f64::NAN, 1.0]));
    }

    /// A band of a thousand columns has factors of a few.
    #[test]
    fn bands_stay_bands() {
        let n = 1000;
        let row = |i: usize| i.saturating_sub(2)..(i + 3).min(n);
        let pattern = Pattern::new(n, (0..n).map(row));
        let mut lu = SparseLu::<f64>::new(&Arc::new(Ordered::new(&pattern)));
        let values: Vec<f64> = (0..n)
            .flat_map(|i| row(i).map(move |j| if i == j { 0.0 } else { 1.0 + (i * j % 7) as f64 }))
            .collect();
        assert!(lu.factor(&values));
        assert!(lu.entries() < 40 * n, "{}", lu.entries());
    }
}
