//! The `solve` node: the components of x = K⁻¹ r as expressions, without ever
//! inverting K symbolically.
//!
//! Its derivative stays in the family, with the same K:
//!
//! ```text
//! dx = solve(K, dr − dK·x)
//! ```
//!
//! so that lowering needs one factorization for each K, however often it was
//! differentiated. It serves G⁻¹ (Poincaré), M⁻¹ (Legendre), M_cc⁻¹ (Routh) and
//! (SᵀMS)⁻¹ (Maggi, bracket).

use crate::arena::{Arena, ExprId, Exprs, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// All solves of an arena and the matrices they share.
#[derive(Clone, Default)]
pub(crate) struct Solves {
    matrices: Vec<Vec<ExprId>>,
    matrix_ids: FxHashMap<Vec<ExprId>, u32>,
    solves: Vec<SolveData>,
    solve_ids: FxHashMap<(u32, Vec<ExprId>), u32>,
}

#[derive(Clone)]
pub(crate) struct SolveData {
    pub matrix: u32,
    pub right: Vec<ExprId>,
    /// The first of the components, which are consecutive nodes.
    pub first: ExprId,
}

impl Solves {
    pub fn operands(&self, solve: u32) -> SmallVec<[ExprId; 8]> {
        let data = &self.solves[solve as usize];
        let matrix = &self.matrices[data.matrix as usize];
        matrix.iter().chain(&data.right).copied().filter(|&id| id != ExprId::ZERO).collect()
    }

    pub fn get(&self, solve: u32) -> &SolveData {
        &self.solves[solve as usize]
    }

    pub fn matrix(&self, matrix: u32) -> &[ExprId] {
        &self.matrices[matrix as usize]
    }
}

/// A linear system K x = r whose solution stands in expressions.
#[derive(Clone, Debug)]
pub struct LinearSystem {
    /// The number that K has where it is printed; systems may share it.
    pub matrix: usize,
    /// The number that r has.
    pub number: usize,
    /// K, row by row.
    pub k: Vec<ExprId>,
    /// The right side.
    pub r: Vec<ExprId>,
}

impl Exprs {
    /// The systems whose solutions are written in expressions, each once; those
    /// that stand in their own matrices and right sides are not among them.
    pub fn linear_systems(&self, ids: &[ExprId]) -> Vec<LinearSystem> {
        let arena = &*self.arena.lock();
        let mut open: Vec<ExprId> = ids.to_vec();
        let mut seen: FxHashSet<ExprId> = open.iter().copied().collect();
        let mut found: BTreeSet<u32> = BTreeSet::new();
        while let Some(id) = open.pop() {
            match arena.node(id) {
                Node::Solve { solve, .. } => {
                    found.insert(solve);
                }
                Node::Restricted { .. } => {}
                _ => open.extend(arena.children(id).into_iter().filter(|&c| seen.insert(c))),
            }
        }
        let system = |solve: u32| {
            let data = arena.solves.get(solve);
            LinearSystem {
                matrix: data.matrix as usize + 1,
                number: solve as usize + 1,
                k: arena.solves.matrix(data.matrix).to_vec(),
                r: data.right.clone(),
            }
        };
        found.into_iter().map(system).collect()
    }

    /// The components of K⁻¹ r; `k` holds the n×n matrix row by row. They are
    /// defined wherever K is regular.
    ///
    /// # Panics
    /// If `k` is not n×n for the n of `r`.
    pub fn solve(&self, k: &[ExprId], r: &[ExprId]) -> Vec<ExprId> {
        self.arena.lock().solve(k, r)
    }
}

impl Arena {
    pub fn solve(&mut self, k: &[ExprId], r: &[ExprId]) -> Vec<ExprId> {
        let n = r.len();
        assert_eq!(k.len(), n * n, "solve: the matrix is not square of the right side's size");
        if r.iter().all(|&x| x == ExprId::ZERO) {
            return r.to_vec();
        }
        // A diagonal K needs no factorization, and the reader sees quotients.
        let diagonal = (0..n * n).all(|at| at / n == at % n || k[at] == ExprId::ZERO);
        if diagonal && (0..n).all(|i| k[i * n + i] != ExprId::ZERO) {
            return (0..n).map(|i| self.div(r[i], k[i * n + i])).collect();
        }
        let matrix = match self.solves.matrix_ids.get(k) {
            Some(&id) => id,
            None => {
                let id = self.solves.matrices.len() as u32;
                self.solves.matrices.push(k.to_vec());
                self.solves.matrix_ids.insert(k.to_vec(), id);
                id
            }
        };
        let key = (matrix, r.to_vec());
        if let Some(&solve) = self.solves.solve_ids.get(&key) {
            let first = self.solves.get(solve).first.0;
            return (0..n as u32).map(|i| ExprId(first + i)).collect();
        }
        let solve = self.solves.solves.len() as u32;
        let first = ExprId(self.len() as u32);
        self.solves.solves.push(SolveData { matrix, right: r.to_vec(), first });
        self.solves.solve_ids.insert(key, solve);
        (0..n as u32).map(|index| self.intern(Node::Solve { solve, index }, &[])).collect()
    }

    /// dx of a solve, given the differentials of its operands.
    pub fn solve_tangent(
        &mut self,
        solve: u32,
        tangent: &mut dyn FnMut(ExprId) -> ExprId,
    ) -> Vec<ExprId> {
        let data = self.solves.get(solve);
        let (first, right) = (data.first.0, data.right.clone());
        let k = self.solves.matrix(data.matrix).to_vec();
        let n = right.len();
        let mut dr = Vec::with_capacity(n);
        for i in 0..n {
            let mut terms = vec![tangent(right[i])];
            for j in 0..n {
                let dk = tangent(k[i * n + j]);
                if dk != ExprId::ZERO {
                    let product = self.mul(dk, ExprId(first + j as u32));
                    terms.push(self.neg(product));
                }
            }
            dr.push(self.sum(&terms));
        }
        self.solve(&k, &dr)
    }
}
