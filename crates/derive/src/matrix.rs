//! Sparse matrices of expressions: products, and inverses as blocks of `solve`
//! nodes.

use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use std::collections::BTreeMap;

/// The n×n identity.
pub fn identity(n: usize) -> Jacobian {
    Jacobian { rows: (0..n).map(|i| vec![(i, ExprId::ONE)]).collect(), columns: n }
}

/// Matrix × vector.
pub fn times(exprs: &Exprs, matrix: &Jacobian, x: &[ExprId]) -> Vec<ExprId> {
    matrix.rows.iter().map(|row| dot(exprs, row, x)).collect()
}

/// A sparse row × a vector.
pub fn dot(exprs: &Exprs, row: &[(usize, ExprId)], x: &[ExprId]) -> ExprId {
    let terms: Vec<ExprId> = row
        .iter()
        .filter(|&&(j, _)| x[j] != ExprId::ZERO)
        .map(|&(j, e)| (exprs.at(e) * exprs.at(x[j])).id)
        .collect();
    exprs.sum(&terms)
}

/// Rows become columns.
pub fn transposed(matrix: &Jacobian) -> Jacobian {
    let mut rows = vec![Vec::new(); matrix.columns];
    for (i, row) in matrix.rows.iter().enumerate() {
        for &(j, entry) in row {
            rows[j].push((i, entry));
        }
    }
    Jacobian { rows, columns: matrix.rows.len() }
}

/// Matrix × matrix.
pub fn product(exprs: &Exprs, left: &Jacobian, right: &Jacobian) -> Jacobian {
    let rows = left
        .rows
        .iter()
        .map(|row| {
            let mut terms: BTreeMap<usize, Vec<ExprId>> = BTreeMap::new();
            for &(k, a) in row {
                for &(j, b) in &right.rows[k] {
                    terms.entry(j).or_default().push((exprs.at(a) * exprs.at(b)).id);
                }
            }
            let sums = terms.iter().map(|(&j, list)| (j, exprs.sum(list)));
            sums.filter(|&(_, e)| e != ExprId::ZERO).collect()
        })
        .collect();
    Jacobian { rows, columns: right.columns }
}

/// Kᵀ M K, symmetric to the letter.
pub fn congruence(exprs: &Exprs, k: &Jacobian, m: &Jacobian) -> Jacobian {
    symmetric(product(exprs, &transposed(k), &product(exprs, m, k)))
}

/// The entries that are not literally 0, with their places.
pub fn sparse(entries: impl Iterator<Item = ExprId>) -> Vec<(usize, ExprId)> {
    entries.enumerate().filter(|&(_, e)| e != ExprId::ZERO).collect()
}

/// The lower triangle written over the upper one: M is symmetric by nature, and
/// should be so to the letter.
pub fn symmetric(mut matrix: Jacobian) -> Jacobian {
    let n = matrix.rows.len();
    let mut upper: Vec<Vec<(usize, ExprId)>> = vec![Vec::new(); n];
    for (i, row) in matrix.rows.iter_mut().enumerate() {
        row.retain(|&(j, _)| j <= i);
        for &(j, entry) in row.iter().filter(|&&(j, _)| j < i) {
            upper[j].push((i, entry));
        }
    }
    for (row, more) in matrix.rows.iter_mut().zip(upper) {
        row.extend(more);
    }
    matrix
}

/// Rows and columns picked from a matrix.
pub fn part(matrix: &Jacobian, rows: &[usize], columns: &[usize]) -> Jacobian {
    let mut place = vec![usize::MAX; matrix.columns];
    columns.iter().enumerate().for_each(|(at, &j)| place[j] = at);
    let rows = rows
        .iter()
        .map(|&i| {
            let mut row: Vec<(usize, ExprId)> = matrix.rows[i]
                .iter()
                .filter(|&&(j, _)| place[j] != usize::MAX)
                .map(|&(j, e)| (place[j], e))
                .collect();
            row.sort_unstable_by_key(|e| e.0);
            row
        })
        .collect();
    Jacobian { rows, columns: columns.len() }
}

/// A regular square matrix, split into the blocks that do not touch each other,
/// so that its inverse can be applied block by block through `solve` nodes.
pub struct Inverse {
    n: usize,
    blocks: Vec<Block>,
}

struct Block {
    rows: Vec<usize>,
    columns: Vec<usize>,
    entries: Vec<ExprId>,
}

impl Inverse {
    /// Splits a matrix; `None` if its pattern alone makes it singular.
    pub fn new(matrix: &Jacobian) -> Option<Inverse> {
        let n = matrix.columns;
        if matrix.rows.len() != n {
            return None;
        }
        // Rows are 0..n, columns n..2n; an entry joins its row and its column.
        let mut parent: Vec<usize> = (0..2 * n).collect();
        fn find(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        for (i, row) in matrix.rows.iter().enumerate() {
            for &(j, _) in row {
                let (a, b) = (find(&mut parent, i), find(&mut parent, n + j));
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut of_root = vec![usize::MAX; 2 * n];
        for at in 0..2 * n {
            let root = find(&mut parent, at);
            if of_root[root] == usize::MAX {
                of_root[root] = blocks.len();
                blocks.push(Block { rows: Vec::new(), columns: Vec::new(), entries: Vec::new() });
            }
            let block = &mut blocks[of_root[root]];
            if at < n { block.rows.push(at) } else { block.columns.push(at - n) }
        }
        for block in &mut blocks {
            if block.rows.len() != block.columns.len() {
                return None;
            }
            let small = part(matrix, &block.rows, &block.columns);
            let size = block.rows.len();
            block.entries = vec![ExprId::ZERO; size * size];
            for (i, row) in small.rows.iter().enumerate() {
                row.iter().for_each(|&(j, e)| block.entries[i * size + j] = e);
            }
        }
        Some(Inverse { n, blocks })
    }

    /// K⁻¹ r.
    pub fn solve(&self, exprs: &Exprs, r: &[ExprId]) -> Vec<ExprId> {
        let mut x = vec![ExprId::ZERO; self.n];
        for block in &self.blocks {
            let right: Vec<ExprId> = block.rows.iter().map(|&i| r[i]).collect();
            let part = exprs.solve(&block.entries, &right);
            block.columns.iter().zip(part).for_each(|(&j, value)| x[j] = value);
        }
        x
    }

    /// K⁻¹ R, column by column.
    pub fn solve_matrix(&self, exprs: &Exprs, right: &Jacobian) -> Jacobian {
        let columns: Vec<Vec<ExprId>> = transposed(right)
            .rows
            .iter()
            .map(|column| {
                let mut r = vec![ExprId::ZERO; self.n];
                column.iter().for_each(|&(i, e)| r[i] = e);
                self.solve(exprs, &r)
            })
            .collect();
        let rows = (0..self.n).map(|i| sparse(columns.iter().map(|c| c[i]))).collect();
        Jacobian { rows, columns: right.columns }
    }

    /// K⁻¹.
    pub fn matrix(&self, exprs: &Exprs) -> Jacobian {
        self.solve_matrix(exprs, &identity(self.n))
    }
}

/// Whether none of the symbols occurs in a matrix.
pub fn is_free_of(exprs: &Exprs, matrix: &Jacobian, symbols: &[Symbol]) -> bool {
    let entries: Vec<ExprId> = matrix.rows.iter().flatten().map(|e| e.1).collect();
    let found: rustc_hash::FxHashSet<Symbol> = exprs.symbols_of(&entries).into_iter().collect();
    symbols.iter().all(|s| !found.contains(s))
}
