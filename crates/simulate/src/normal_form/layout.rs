//! Where the normal form lies among the outputs of a function.
//!
//! The entries of Γ, F, C, A and b of Γ v̇ = F + C + Aᵀλ, A v̇ = b are listed in this order by
//! all who evaluate them: the compiled rates in the own variables, the observer in q̈ = v̇, and
//! the numbers of one state with their rounding noise. What each of them needs beside these it
//! lists before or behind. Of matrices only the entries that are not 0 by structure are outputs.

use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Jacobian};
use dalembert_gauss::terms::Terms;
use std::ops::Range;

/// The outputs of a function, in order.
#[derive(Default)]
pub(crate) struct Outputs {
    pub(crate) roots: Vec<ExprId>,
}

impl Outputs {
    /// Lists one more, and tells its place.
    pub(crate) fn one(&mut self, root: ExprId) -> usize {
        self.roots.push(root);
        self.roots.len() - 1
    }

    /// Lists more, and tells their places.
    pub(crate) fn list(&mut self, roots: impl IntoIterator<Item = ExprId>) -> Range<usize> {
        let start = self.roots.len();
        self.roots.extend(roots);
        start..self.roots.len()
    }

    /// Lists the entries of a matrix.
    pub(crate) fn matrix(&mut self, matrix: &Jacobian) -> Sparse {
        Sparse {
            at: self.list(entries(matrix)),
            places: places(matrix),
            length: matrix.rows.len() * matrix.columns,
        }
    }
}

/// A sparse matrix among the outputs.
#[derive(Clone)]
pub(crate) struct Sparse {
    at: Range<usize>,
    /// Of its entries in the dense one.
    places: Vec<usize>,
    length: usize,
}

impl Sparse {
    /// Its entries, row by row.
    pub(crate) fn entries<'a, T>(&self, output: &'a [T]) -> &'a [T] {
        &output[self.at.clone()]
    }

    /// Puts its entries into a dense matrix that is 0 elsewhere.
    pub(crate) fn write(&self, output: &[f64], full: &mut [f64]) {
        for (place, value) in self.places.iter().zip(self.entries(output)) {
            full[*place] = *value;
        }
    }

    /// The same; false if it had them already.
    pub(crate) fn rewrite(&self, output: &[f64], full: &mut [f64]) -> bool {
        let mut difference = 0;
        for (place, value) in self.places.iter().zip(self.entries(output)) {
            let own = &mut full[*place];
            difference |= own.to_bits() ^ value.to_bits();
            *own = *value;
        }
        difference != 0
    }

    /// The same into room for one.
    pub(crate) fn fill(&self, output: &[f64], full: &mut Vec<f64>) {
        full.clear();
        full.resize(self.length, 0.0);
        self.write(output, full);
    }

    /// Where its diagonal lies among the outputs, if it is square; none where that is 0.
    pub(crate) fn diagonal(&self) -> Vec<Option<usize>> {
        let n = self.length.isqrt();
        let mut diagonal = vec![None; n];
        for (k, place) in self.places.iter().enumerate().filter(|(_, p)| *p % (n + 1) == 0) {
            diagonal[place / (n + 1)] = Some(self.at.start + k);
        }
        diagonal
    }

    /// It, dense.
    pub(crate) fn dense(&self, output: &[f64]) -> Vec<f64> {
        let mut full = Vec::new();
        self.fill(output, &mut full);
        full
    }
}

/// Where Γ, F, C, A and b lie.
#[derive(Clone)]
pub(crate) struct Layout {
    /// Γ.
    pub(crate) metric: Sparse,
    /// F.
    pub(crate) force: Range<usize>,
    /// C.
    pub(crate) nonideal: Range<usize>,
    /// A.
    pub(crate) jacobian: Sparse,
    /// b.
    pub(crate) bias: Range<usize>,
}

impl Layout {
    /// Lists the normal form of a formulation, in its own variables.
    pub(crate) fn of_equations(outputs: &mut Outputs, equations: &EquationsOfMotion) -> Layout {
        Layout {
            metric: outputs.matrix(&equations.metric),
            force: outputs.list(equations.force.iter().copied()),
            nonideal: outputs.list(equations.nonideal.iter().copied()),
            jacobian: outputs.matrix(&equations.jacobian),
            bias: outputs.list(equations.bias.iter().copied()),
        }
    }

    /// Lists M q̈ = Q + C + Aᵀλ, A q̈ = b, in q, q̇ and t.
    pub(crate) fn of_picture(outputs: &mut Outputs, picture: &Picture) -> Layout {
        Layout {
            metric: outputs.matrix(&picture.metric),
            force: outputs.list(picture.force.iter().copied()),
            nonideal: outputs.list(picture.nonideal.iter().copied()),
            jacobian: outputs.matrix(&picture.rows.jacobian),
            bias: outputs.list(picture.rows.bias.iter().copied()),
        }
    }

    /// The same for the rows in use: with A and b of all rows if these are all, else with those
    /// that were chosen.
    pub(crate) fn chosen<'a>(
        &self,
        rows: &[usize],
        output: &'a [f64],
        metric: &'a [f64],
        jacobian: &'a [f64],
        (chosen, bias): (&'a [f64], &'a [f64]),
    ) -> Terms<'a> {
        let all = self.terms(output, metric, jacobian);
        match rows.len() == all.m {
            true => all,
            false => Terms { m: rows.len(), jacobian: chosen, bias, ..all },
        }
    }

    /// The terms of an output, with its matrices as they were made dense; no noise is known.
    pub(crate) fn terms<'a>(
        &self,
        output: &'a [f64],
        metric: &'a [f64],
        jacobian: &'a [f64],
    ) -> Terms<'a> {
        Terms {
            n: self.force.len(),
            m: self.bias.len(),
            metric,
            force: &output[self.force.clone()],
            nonideal: &output[self.nonideal.clone()],
            jacobian,
            bias: &output[self.bias.clone()],
            noise: None,
            inertia: &[],
        }
    }
}

/// The entries of a sparse matrix, row by row.
pub(crate) fn entries(matrix: &Jacobian) -> impl Iterator<Item = ExprId> + '_ {
    matrix.rows.iter().flatten().map(|e| e.1)
}

/// Places of a sparse matrix's entries in the dense one.
pub(crate) fn places(matrix: &Jacobian) -> Vec<usize> {
    let columns = matrix.columns;
    let rows = matrix.rows.iter().enumerate();
    rows.flat_map(|(i, row)| row.iter().map(move |&(j, _)| i * columns + j)).collect()
}
