//! Where the normal form lies among the outputs of a function.
//!
//! The entries of Γ, F, C, A and b of Γ v̇ = F + C + Aᵀλ, A v̇ = b are listed in this order by
//! all who evaluate them: the compiled rates in the own variables, the observer in q̈ = v̇, and
//! the numbers of one state with their rounding noise. What each of them needs beside these it
//! lists before or behind. Of matrices only the entries that are not 0 by structure are outputs.
//!
//! Where there are many coordinates and most entries of Γ are 0, matrices stay lists of entries at
//! the places of a pattern; all others are made dense. A Γ of bodies along a tree is the list of what
//! recursions along it go by, behind its diagonal.

use super::matrix::Matrix;
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::bodies::{BodyTree, LARGE, SPARSE};
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Jacobian};
use dalembert_gauss::Pattern;
use dalembert_gauss::bodies::{Bodies, Said};
use dalembert_gauss::terms::{Patterns, Terms, row_of};
use std::ops::Range;
use std::sync::Arc;

/// Whether matrices that go with a metric stay sparse.
pub(crate) fn is_large(metric: &Jacobian) -> bool {
    let n = metric.columns;
    let count = || metric.rows.iter().map(Vec::len).sum::<usize>() as f64;
    n >= LARGE && count() <= SPARSE * (n * n) as f64
}

/// The pattern of a matrix.
pub(crate) fn pattern(matrix: &Jacobian) -> Pattern {
    Pattern::new(matrix.columns, matrix.rows.iter().map(|row| row.iter().map(|e| e.0)))
}

/// The pattern of a Γ of bodies along a tree.
pub(crate) fn pattern_of(tree: &BodyTree) -> Arc<Pattern> {
    let said: Vec<Said> = tree
        .links
        .iter()
        .map(|link| Said {
            parent: link.parent,
            columns: link.columns.clone(),
            has_rest: link.has_rest,
        })
        .collect();
    let bodies = Bodies::new(tree.diagonal.len(), tree.is_plane, &said);
    Arc::new(Pattern::of_bodies(bodies.expect("links come parents first, each with its own")))
}

/// The numbers of a Γ of bodies along a tree.
pub(crate) fn numbers_of(tree: &BodyTree) -> impl Iterator<Item = ExprId> + '_ {
    let links = tree.links.iter().flat_map(|link| &link.numbers);
    tree.diagonal.iter().chain(links).copied()
}

/// The outputs of a function, in order.
#[derive(Default)]
pub(crate) struct Outputs {
    pub(crate) roots: Vec<ExprId>,
    /// Whether matrices stay sparse.
    is_large: bool,
}

impl Outputs {
    /// Outputs whose matrices go with a metric, or with that of bodies.
    pub(crate) fn beside(metric: &Jacobian, bodies: Option<&BodyTree>) -> Outputs {
        Outputs::default().go_on_beside(metric, bodies)
    }

    /// The same list, with matrices that go with another metric from here on.
    pub(crate) fn go_on_beside(self, metric: &Jacobian, bodies: Option<&BodyTree>) -> Outputs {
        Outputs { is_large: bodies.is_some() || is_large(metric), ..self }
    }

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

    /// Lists what Γ is made of: its entries, or the numbers of bodies.
    pub(crate) fn metric(&mut self, metric: &Jacobian, bodies: Option<&BodyTree>) -> Sparse {
        let Some(tree) = bodies else { return self.matrix(metric) };
        let at = self.list(numbers_of(tree));
        Sparse {
            length: at.len(),
            at,
            places: Vec::new(),
            columns: metric.columns,
            pattern: Some(pattern_of(tree)),
        }
    }

    /// Lists the entries of a matrix.
    pub(crate) fn matrix(&mut self, matrix: &Jacobian) -> Sparse {
        let at = self.list(entries(matrix));
        let columns = matrix.columns;
        match self.is_large {
            true => Sparse {
                length: at.len(),
                at,
                places: Vec::new(),
                columns,
                pattern: Some(Arc::new(pattern(matrix))),
            },
            false => {
                let length = matrix.rows.len() * columns;
                Sparse { at, places: places(matrix), length, columns, pattern: None }
            }
        }
    }
}

/// A sparse matrix among the outputs.
#[derive(Clone)]
pub(crate) struct Sparse {
    at: Range<usize>,
    /// Of its entries in the dense one; none of a large one.
    places: Vec<usize>,
    length: usize,
    columns: usize,
    /// Of a large one.
    pattern: Option<Arc<Pattern>>,
}

impl Sparse {
    /// Its entries, row by row.
    pub(crate) fn entries<'a, T>(&self, output: &'a [T]) -> &'a [T] {
        &output[self.at.clone()]
    }

    /// Its pattern, if it is large.
    pub(crate) fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.pattern.as_ref()
    }

    /// Its values as a matrix.
    pub(crate) fn matrix(&self, values: Vec<f64>) -> Matrix {
        Matrix::with_pattern(values, self.columns, self.pattern.clone())
    }

    /// How many numbers [`values`](Sparse::values) are.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The entries of a row among its values: (column, entry).
    pub(crate) fn row<'a>(
        &'a self,
        values: &'a [f64],
        row: usize,
    ) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        row_of(values, self.columns, self.pattern.as_ref(), row)
    }

    /// Puts its entries into a dense matrix that is 0 elsewhere, or a large one into their list.
    pub(crate) fn write(&self, output: &[f64], full: &mut [f64]) {
        if self.pattern.is_some() {
            return full.copy_from_slice(self.entries(output));
        }
        for (place, value) in self.places.iter().zip(self.entries(output)) {
            full[*place] = *value;
        }
    }

    /// The same; false if it had them already.
    pub(crate) fn rewrite(&self, output: &[f64], full: &mut [f64]) -> bool {
        let mut difference = 0;
        if self.pattern.is_some() {
            for (own, value) in full.iter_mut().zip(self.entries(output)) {
                difference |= own.to_bits() ^ value.to_bits();
                *own = *value;
            }
            return difference != 0;
        }
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
        let n = self.columns;
        let mut diagonal = vec![None; if self.length == 0 { 0 } else { n }];
        if let Some(pattern) = &self.pattern {
            let place = |(i, at): (usize, &mut Option<usize>)| {
                *at = pattern.place(i, i).map(|k| self.at.start + k);
            };
            diagonal.iter_mut().enumerate().for_each(place);
            return diagonal;
        }
        for (k, place) in self.places.iter().enumerate().filter(|(_, p)| *p % (n + 1) == 0) {
            diagonal[place / (n + 1)] = Some(self.at.start + k);
        }
        diagonal
    }

    /// It, dense; of a large one, its entries.
    pub(crate) fn values(&self, output: &[f64]) -> Vec<f64> {
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
            metric: outputs.metric(&equations.metric, equations.bodies.as_deref()),
            force: outputs.list(equations.force.iter().copied()),
            nonideal: outputs.list(equations.nonideal.iter().copied()),
            jacobian: outputs.matrix(&equations.jacobian),
            bias: outputs.list(equations.bias.iter().copied()),
        }
    }

    /// Lists M q̈ = Q + C + Aᵀλ, A q̈ = b, in q, q̇ and t.
    pub(crate) fn of_picture(outputs: &mut Outputs, picture: &Picture) -> Layout {
        Layout {
            metric: outputs.metric(&picture.metric, picture.bodies.as_deref()),
            force: outputs.list(picture.force.iter().copied()),
            nonideal: outputs.list(picture.nonideal.iter().copied()),
            jacobian: outputs.matrix(&picture.rows.jacobian),
            bias: outputs.list(picture.rows.bias.iter().copied()),
        }
    }

    /// The same for the rows in use: with A and b of all rows if these are all, else with those
    /// that were chosen.
    pub(crate) fn chosen<'a>(
        &'a self,
        rows: &[usize],
        output: &'a [f64],
        metric: &'a [f64],
        jacobian: &'a [f64],
        chosen: &'a Chosen,
    ) -> Terms<'a> {
        let all = self.terms(output, metric, jacobian);
        if rows.len() == all.m {
            return all;
        }
        let patterns = all.patterns.zip(chosen.pattern());
        let patterns = patterns.map(|(of, jacobian)| Patterns { jacobian, ..of });
        let (jacobian, bias) = (&*chosen.jacobian, &*chosen.bias);
        Terms { m: rows.len(), jacobian, bias, patterns, ..all }
    }

    /// Where entries are, if matrices are large.
    pub(crate) fn patterns(&self) -> Option<Patterns<'_>> {
        Some(Patterns { metric: self.metric.pattern()?, jacobian: self.jacobian.pattern()? })
    }

    /// The terms of an output, with the values of its matrices; no noise is known.
    pub(crate) fn terms<'a>(
        &'a self,
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
            patterns: self.patterns(),
        }
    }
}

/// A sparse matrix by its columns.
pub(crate) struct Columns(Vec<Vec<(usize, f64)>>);

impl Columns {
    pub(crate) fn new(pattern: &Pattern, values: &[f64]) -> Columns {
        let mut lists = vec![Vec::new(); pattern.columns()];
        for row in 0..pattern.rows() {
            pattern.entries_of(row, values).for_each(|(column, a)| lists[column].push((row, a)));
        }
        Columns(lists)
    }

    /// (row, entry) of a column.
    pub(crate) fn of(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0[column].iter().copied()
    }
}

/// A and b of some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    jacobian: Vec<f64>,
    bias: Vec<f64>,
    /// Those that the pattern is of.
    rows: Vec<usize>,
    /// The pattern of all rows, and of these.
    of: Option<Arc<Pattern>>,
    pattern: Option<Arc<Pattern>>,
}

impl Chosen {
    /// Takes these rows of a matrix's values and of right-hand sides.
    pub(crate) fn take(&mut self, rows: &[usize], matrix: &Sparse, values: &[f64], bias: &[f64]) {
        self.bias.clear();
        self.bias.extend(rows.iter().map(|&row| bias[row]));
        self.take_rows(rows, matrix, values);
    }

    /// The rows alone.
    pub(crate) fn take_rows(&mut self, rows: &[usize], matrix: &Sparse, values: &[f64]) {
        self.pick(rows, matrix.columns, matrix.pattern.as_ref(), values);
    }

    /// The same of a matrix with or without a pattern.
    pub(crate) fn pick(
        &mut self,
        rows: &[usize],
        columns: usize,
        pattern: Option<&Arc<Pattern>>,
        values: &[f64],
    ) {
        self.jacobian.clear();
        for &row in rows {
            let own = match pattern {
                Some(pattern) => pattern.range(row),
                None => row * columns..(row + 1) * columns,
            };
            self.jacobian.extend_from_slice(&values[own]);
        }
        if let Some(pattern) = pattern
            && (self.rows != rows || !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, pattern)))
        {
            self.of = Some(pattern.clone());
            self.rows = rows.to_vec();
            self.pattern = Some(Arc::new(pattern.pick(rows)));
        }
    }

    /// The values of the rows.
    pub(crate) fn jacobian(&self) -> &[f64] {
        &self.jacobian
    }

    /// Where their entries are, if they are of a large matrix.
    pub(crate) fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.pattern.as_ref()
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
