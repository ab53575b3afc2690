//! What the patterns of Γ and A say before there are numbers.
//!
//! Γ falls into blocks that no entry joins. Eliminating v̇ leaves S = A Γ⁻¹ Aᵀ, in which two rows
//! meet where they touch the same block. Rows are put into an order in which S = L D Lᵀ fills in
//! little (approximate minimum degree: Amestoy, Davis & Duff 1996), and the pattern of L follows
//! from the elimination tree (Liu 1990). All of it is found once for a pattern.

use super::kkt::Coupled;
use crate::pattern::Pattern;
use std::sync::Arc;

/// The largest block of Γ that is inverted by itself.
const LARGEST_BLOCK: usize = 32;
/// Unit: part of a full triangle. A factor that fills in more than this is no sparse one.
const FULL: f64 = 0.2;
/// Nor is one with more entries than this.
const MOST: usize = 1 << 24;

/// Blocks, orders and patterns.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub(crate) metric: Arc<Pattern>,
    pub(crate) jacobian: Arc<Pattern>,
    /// Coordinates, block by block, and where each block begins.
    pub(crate) members: Vec<usize>,
    pub(crate) starts: Vec<usize>,
    /// Where the matrix of each block begins among those of all.
    pub(crate) at: Vec<usize>,
    /// For each entry of Γ its place among the matrices of the blocks, and that of its mirror.
    pub(crate) to_block: Vec<(u32, u32)>,
    /// Where Γ_ii is among the entries of Γ; none that has no entry.
    pub(crate) diagonal: Vec<Option<usize>>,
    /// Whether every block is one coordinate.
    pub(crate) is_diagonal: bool,
    /// The rows of Γ⁻¹Aᵀ, transposed: A with whole blocks.
    pub(crate) wide: Pattern,
    /// For each row, the blocks it touches: (block, place of its first entry in `wide`).
    pub(crate) touched: Vec<(u32, u32)>,
    pub(crate) touched_starts: Vec<usize>,
    /// For each entry of A its place in `wide`.
    pub(crate) to_wide: Vec<u32>,
    /// Rows in the order in which they are eliminated.
    pub(crate) order: Vec<usize>,
    /// Below the diagonal of S, in that order, and the diagonal last.
    pub(crate) schur: Pattern,
    /// Where the products of each entry of S begin. Of trees, entries are not in the order of the
    /// pattern but as branches say.
    pub(crate) products_at: Vec<u32>,
    /// S_jk = Σ A_ji W_ki: (entry of A, entry of `wide`).
    pub(crate) products: Vec<(u32, u32)>,
    /// L below its diagonal, row by row.
    pub(crate) lower: Pattern,
    /// Where each column of L has one entry at most, as of chains and trees: for each, what its
    /// steps are. Empty otherwise.
    pub(crate) forest: Vec<Branch>,
    /// Where Γ is one block: the orders of Γ with A, and of Γ alone. Blocks, S and L are then those
    /// of its diagonal, by which rows are compared.
    pub(crate) coupled: Option<Box<[Coupled; 2]>>,
}

/// A column of L with one entry at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    /// The row that it is.
    pub(crate) row: u32,
    /// The row of its entry, by position; its own position where it has none.
    pub(crate) to: u32,
    /// Where that entry is in S; none where it has none.
    pub(crate) off: u32,
    /// Where its diagonal is in S.
    pub(crate) diagonal: u32,
}

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl Structure {
    /// Finds the structure; `None` where Γ is a large block that fills in, or a coordinate has no
    /// mass whatever the state.
    pub(crate) fn new(metric: &Arc<Pattern>, jacobian: &Arc<Pattern>) -> Option<Structure> {
        let n = metric.rows();
        let diagonal: Vec<Option<usize>> = (0..n).map(|i| metric.place(i, i)).collect();
        if diagonal.iter().any(Option::is_none) {
            return None;
        }
        let mut block = components(metric);
        let (mut members, mut starts) = gather(&block);
        let mut coupled = None;
        if starts.windows(2).any(|w| w[1] - w[0] > LARGEST_BLOCK) {
            let none = Pattern::new(n, std::iter::empty::<Vec<usize>>());
            let most = (FULL * 0.5 * (n as f64) * (n as f64)) as usize;
            let most = most.min(MOST);
            coupled = Some(Box::new([
                Coupled::new(metric, jacobian, most)?,
                Coupled::new(metric, &none, most)?,
            ]));
            block = (0..n).collect();
            (members, starts) = gather(&block);
        }
        let sizes = || starts.windows(2).map(|w| w[1] - w[0]);
        let mut at = vec![0];
        sizes().for_each(|size| at.push(at.last().copied().unwrap_or(0) + size * size));
        let mut place = vec![0; n];
        for w in starts.windows(2) {
            members[w[0]..w[1]].iter().enumerate().for_each(|(k, &i)| place[i] = k);
        }
        let mut to_block = Vec::with_capacity(metric.entries());
        for i in (0..n).filter(|_| coupled.is_none()) {
            let size = starts[block[i] + 1] - starts[block[i]];
            for &j in metric.row(i) {
                let first = at[block[i]];
                let mirror = first + place[j] * size + place[i];
                to_block.push(((first + place[i] * size + place[j]) as u32, mirror as u32));
            }
        }
        let mut structure = Structure {
            metric: metric.clone(),
            jacobian: jacobian.clone(),
            is_diagonal: sizes().all(|size| size == 1) && coupled.is_none(),
            members,
            starts,
            at,
            to_block,
            diagonal,
            wide: Pattern::new(n, std::iter::empty::<Vec<usize>>()),
            touched: Vec::new(),
            touched_starts: vec![0],
            to_wide: Vec::new(),
            order: Vec::new(),
            schur: Pattern::default(),
            products_at: Vec::new(),
            products: Vec::new(),
            lower: Pattern::default(),
            forest: Vec::new(),
            coupled,
        };
        structure.widen(&block, &place);
        structure.eliminate();
        Some(structure)
    }

    /// Whether it is that of these patterns, which it then keeps: the next time they are found to
    /// be the same at a glance.
    pub(crate) fn is_of(&mut self, metric: &Arc<Pattern>, jacobian: &Arc<Pattern>) -> bool {
        let mut is_same = true;
        for (own, other) in [(&mut self.metric, metric), (&mut self.jacobian, jacobian)] {
            if !Arc::ptr_eq(own, other) {
                is_same &= **own == **other;
                if is_same {
                    *own = other.clone();
                }
            }
        }
        is_same
    }

    /// A with whole blocks.
    fn widen(&mut self, block: &[usize], place: &[usize]) {
        let jacobian = self.jacobian.clone();
        for row in 0..jacobian.rows() {
            let mut blocks: Vec<usize> = jacobian.row(row).iter().map(|&i| block[i]).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let mut at = self.wide.entries();
            let mut firsts = Vec::with_capacity(blocks.len());
            for &b in &blocks {
                self.touched.push((b as u32, at as u32));
                firsts.push(at);
                at += self.starts[b + 1] - self.starts[b];
            }
            for &i in jacobian.row(row) {
                let k = blocks.partition_point(|&b| b < block[i]);
                self.to_wide.push((firsts[k] + place[i]) as u32);
            }
            let members = &self.members;
            let starts = &self.starts;
            self.wide
                .push(blocks.iter().flat_map(|&b| &members[starts[b]..starts[b + 1]]).copied());
            self.touched_starts.push(self.touched.len());
        }
    }

    /// The order of rows, S with its products, and L.
    fn eliminate(&mut self) {
        let m = self.jacobian.rows();
        let columns = self.wide.by_columns();
        let mut meets: Vec<Vec<(usize, u32, u32)>> = Vec::with_capacity(m);
        for row in 0..m {
            let mut list = Vec::new();
            for at in self.jacobian.range(row) {
                let i = self.wide.row(row)[self.to_wide[at] as usize - self.wide.range(row).start];
                list.extend(columns[i].iter().map(|&(other, w)| (other, at as u32, w as u32)));
            }
            list.sort_unstable();
            meets.push(list);
        }
        self.order = from_the_leaves(&meets).unwrap_or_else(|| {
            // As the rows come, if that fills in as little: what is near stays near.
            let natural: Vec<usize> = (0..m).collect();
            let fill = |order: &[usize]| {
                let schur = schur(order, &meets);
                lower(&schur).entries() - (schur.entries() - m)
            };
            let own = fill(&natural);
            let other = if own > 0 { fill_reducing(&meets) } else { Vec::new() };
            if own > 0 && other.len() == m && fill(&other) < own { other } else { natural }
        });
        self.take_order(&meets);
    }

    /// S with its products, and L, in the order there is.
    fn take_order(&mut self, meets: &[Vec<(usize, u32, u32)>]) {
        let m = self.order.len();
        self.products_at.clear();
        self.products.clear();
        self.forest.clear();
        let mut position = vec![0; m];
        self.order.iter().enumerate().for_each(|(k, &row)| position[row] = k);
        self.schur = Pattern::new(m, std::iter::empty::<Vec<usize>>());
        for (k, &row) in self.order.iter().enumerate() {
            let mut below: Vec<(usize, u32, u32)> = meets[row]
                .iter()
                .map(|&(other, a, w)| (position[other], a, w))
                .filter(|p| p.0 <= k)
                .collect();
            below.sort_unstable();
            let mut columns: Vec<usize> = Vec::new();
            for (column, a, w) in below {
                if columns.last() != Some(&column) {
                    columns.push(column);
                    self.products_at.push(self.products.len() as u32);
                }
                self.products.push((a, w));
            }
            // An empty row has a diagonal as well.
            if columns.last() != Some(&k) {
                columns.push(k);
                self.products_at.push(self.products.len() as u32);
            }
            self.schur.push(columns);
        }
        self.products_at.push(self.products.len() as u32);
        self.lower = lower(&self.schur);
        let mut to = vec![None; m];
        for k in 0..m {
            for &i in self.lower.row(k) {
                if to[i].replace(k).is_some() {
                    return;
                }
            }
        }
        let places = self.lay_out();
        let branch = |(k, to): (usize, Option<usize>)| {
            // Nothing fills in, so that what is in L is in S.
            let off = to.and_then(|to| self.schur.place(to, k));
            Branch {
                row: self.order[k] as u32,
                to: to.unwrap_or(k) as u32,
                off: off.map_or(NOWHERE, |at| places[at]),
                diagonal: places[self.schur.range(k).end - 1],
            }
        };
        self.forest = to.into_iter().enumerate().map(branch).collect();
    }

    /// Puts the entries of S, of which only branches know the places, as its rows come: the diagonal,
    /// then what is beside it, so that those that are computed alike are neighbors. The new places.
    fn lay_out(&mut self) -> Vec<u32> {
        let mut entries: Vec<(bool, usize, usize, usize)> =
            Vec::with_capacity(self.schur.entries());
        for k in 0..self.order.len() {
            for (at, &column) in self.schur.range(k).zip(self.schur.row(k)) {
                let (a, b) = (self.order[k], self.order[column]);
                entries.push((a != b, a.max(b), a.min(b), at));
            }
        }
        entries.sort_unstable();
        let mut places = vec![0; entries.len()];
        let (mut products, mut ends) = (Vec::with_capacity(self.products.len()), vec![0]);
        for (new, &(.., at)) in entries.iter().enumerate() {
            places[at] = new as u32;
            let own = self.products_at[at] as usize..self.products_at[at + 1] as usize;
            let first = products.len();
            products.extend_from_slice(&self.products[own]);
            products[first..].sort_unstable();
            ends.push(products.len() as u32);
        }
        (self.products, self.products_at) = (products, ends);
        places
    }
}

/// The pattern of S below its diagonal, with it, for an order of the rows.
fn schur(order: &[usize], meets: &[Vec<(usize, u32, u32)>]) -> Pattern {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, &row)| position[row] = k);
    let mut columns: Vec<usize> = Vec::new();
    let row = |(k, &row): (usize, &usize)| {
        columns.clear();
        columns.extend(meets[row].iter().map(|p| position[p.0]).filter(|&column| column < k));
        columns.push(k);
        columns.sort_unstable();
        columns.dedup();
        columns.clone()
    };
    Pattern::new(order.len(), order.iter().enumerate().map(row))
}

/// If rows meet as the points of trees do: round by round those that meet one other at most. No
/// entry fills in, and what is done in a round does not wait for each other.
fn from_the_leaves(meets: &[Vec<(usize, u32, u32)>]) -> Option<Vec<usize>> {
    let m = meets.len();
    let mut others: Vec<Vec<usize>> = Vec::with_capacity(m);
    for (row, list) in meets.iter().enumerate() {
        let mut own: Vec<usize> = list.iter().map(|p| p.0).filter(|&other| other != row).collect();
        own.dedup();
        others.push(own);
    }
    let mut left: Vec<usize> = others.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..m).filter(|&row| left[row] <= 1).collect();
    let mut is_taken: Vec<bool> = left.iter().map(|count| *count <= 1).collect();
    let mut next = 0;
    while let Some(&row) = order.get(next) {
        next += 1;
        for &other in &others[row] {
            left[other] = left[other].saturating_sub(1);
            if left[other] <= 1 && !std::mem::replace(&mut is_taken[other], true) {
                order.push(other);
            }
        }
    }
    (order.len() == m).then_some(order)
}

/// Which block each index belongs to.
fn components(pattern: &Pattern) -> Vec<usize> {
    let n = pattern.rows();
    let mut parent: Vec<usize> = (0..n).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for i in 0..n {
        for &j in pattern.row(i) {
            let (a, b) = (root(&mut parent, i), root(&mut parent, j));
            let (low, high) = (a.min(b), a.max(b));
            parent[high] = low;
        }
    }
    let mut names = vec![usize::MAX; n];
    let mut count = 0;
    (0..n)
        .map(|i| {
            let own = root(&mut parent, i);
            if names[own] == usize::MAX {
                names[own] = count;
                count += 1;
            }
            names[own]
        })
        .collect()
}

/// Indices, block by block, and where each begins.
fn gather(block: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let count = block.iter().max().map_or(0, |b| b + 1);
    let mut starts = vec![0; count + 1];
    block.iter().for_each(|&b| starts[b + 1] += 1);
    (0..count).for_each(|b| starts[b + 1] += starts[b]);
    let (mut next, mut members) = (starts.clone(), vec![0; block.len()]);
    for (i, &b) in block.iter().enumerate() {
        members[next[b]] = i;
        next[b] += 1;
    }
    (members, starts)
}

/// An order of rows in which little fills in.
pub(super) fn fill_reducing(meets: &[Vec<(usize, u32, u32)>]) -> Vec<usize> {
    let m = meets.len();
    // Signed: the package counts below zero on its way. A row that meets none has itself, since it
    // takes a list for no shorter than its rows.
    let (mut starts, mut indices) = (vec![0i64], Vec::new());
    for (row, list) in meets.iter().enumerate() {
        let first = indices.len();
        if list.is_empty() {
            indices.push(row as i64);
        }
        for &(other, ..) in list {
            let other = other as i64;
            if indices.len() == first || indices.last() != Some(&other) {
                indices.push(other);
            }
        }
        starts.push(indices.len() as i64);
    }
    match amd::order(m as i64, &starts, &indices, &amd::Control::default()) {
        Ok((order, ..)) if order.len() == m => order.into_iter().map(|k| k as usize).collect(),
        _ => (0..m).collect(),
    }
}

/// The pattern of L below its diagonal, row by row: S and what fills in.
pub(super) fn lower(schur: &Pattern) -> Pattern {
    let m = schur.rows();
    const NONE: usize = usize::MAX;
    let (mut parent, mut seen) = (vec![NONE; m], vec![NONE; m]);
    let mut lower = Pattern::new(m, std::iter::empty::<Vec<usize>>());
    for k in 0..m {
        seen[k] = k;
        let mut row = Vec::new();
        for &column in schur.row(k).iter().filter(|c| **c < k) {
            // Up the elimination tree until what is known of this row.
            let mut i = column;
            while seen[i] != k {
                seen[i] = k;
                row.push(i);
                if parent[i] == NONE {
                    parent[i] = k;
                }
                i = parent[i];
            }
        }
        row.sort_unstable();
        lower.push(row);
    }
    lower
}
