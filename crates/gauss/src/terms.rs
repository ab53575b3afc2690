//! The data of the problem at one state: Γ, F, C, A, b.
//!
//! The universal problem is Γ v̇ = F + C + Aᵀλ with A v̇ = b (Gauss's principle; Udwadia &
//! Phohomsiri 2006, Greenwood (2.49)-(2.52)). Γ must be symmetric and positive semidefinite; A may
//! have any rank and may have more rows than columns.

use crate::bodies::Bodies;
use crate::error::SolveError;
use crate::pattern::Pattern;
use std::sync::Arc;

/// The problem at one state. All matrices are row-major.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Number of velocity coordinates.
    pub n: usize,
    /// Number of constraint rows.
    pub m: usize,
    /// Γ, n × n: symmetric, positive semidefinite. The mean of Γ and Γᵀ is used.
    pub metric: &'a [f64],
    /// F, n entries: the impressed side.
    pub force: &'a [f64],
    /// C, n entries: the virtual work of non-ideal constraints, zero for ideal ones.
    pub nonideal: &'a [f64],
    /// A, m × n.
    pub jacobian: &'a [f64],
    /// b, m entries.
    pub bias: &'a [f64],
    /// Bounds on the rounding errors of all the above, where they are known.
    pub noise: Option<Noise<'a>>,
    /// What Γ_ii is made of at this state and nearby, n entries; empty
    /// where that is not known. A coordinate whose mass is small against it at this state only
    /// does not take its unit from that mass.
    pub inertia: &'a [f64],
    /// Where the entries of Γ and A are, if these are lists of them at places and not dense; the
    /// same for their noise.
    pub patterns: Option<Patterns<'a>>,
}

/// Where the entries of Γ and A are.
#[derive(Clone, Copy, Debug)]
pub struct Patterns<'a> {
    /// Of Γ.
    pub metric: &'a Arc<Pattern>,
    /// Of A.
    pub jacobian: &'a Arc<Pattern>,
}

/// Absolute bounds on the rounding errors with which the entries of [`Terms`] were evaluated, in
/// the same shapes. They let a decision tell a small number from a zero that rounding has spoilt.
#[derive(Clone, Copy, Debug)]
pub struct Noise<'a> {
    /// Bounds for Γ, n × n.
    pub metric: &'a [f64],
    /// Bounds for F + C, n entries.
    pub force: &'a [f64],
    /// Bounds for A, m × n.
    pub jacobian: &'a [f64],
    /// Bounds for b, m entries.
    pub bias: &'a [f64],
}

/// What counts as zero. All figures are relative and apply to quantities without units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// τ for the singular values of the row-normalized B = A F⁻ᵀ; `None` means
    /// τ₀ = 64 max(m, n) ε. It must exceed the effect of drift inside an integration.
    pub rank: Option<f64>,
    /// Above this νᵀ(F + C) is a hidden constraint.
    pub hidden: f64,
    /// Above this the residual of dependent rows is a contradiction.
    pub inconsistent: f64,
    /// Return the least-squares solution even when there is no motion, as projections need it.
    pub least_squares: bool,
}

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances { rank: None, hidden: 1e-10, inconsistent: 1e-10, least_squares: false }
    }
}

impl<'a> Terms<'a> {
    /// Γ, F, C, A and b, dense, of whose rounding nothing is known.
    pub fn new(
        metric: &'a [f64],
        [force, nonideal]: [&'a [f64]; 2],
        jacobian: &'a [f64],
        bias: &'a [f64],
    ) -> Terms<'a> {
        Terms {
            n: force.len(),
            m: bias.len(),
            metric,
            force,
            nonideal,
            jacobian,
            bias,
            noise: None,
            inertia: &[],
            patterns: None,
        }
    }

    /// The bodies that Γ is of, if it is not a matrix of entries.
    pub fn bodies(&self) -> Option<&'a Bodies> {
        self.patterns.and_then(|patterns| patterns.metric.bodies()).map(|bodies| &**bodies)
    }

    /// The entries of a row of Γ: (column, entry). Of a dense one, all. Of bodies a row is as long
    /// as their number: [`moved`](Terms::moved) and [`spread`](Terms::spread) have all at once.
    pub fn metric_row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let of_bodies = self.bodies().map(|bodies| bodies.row(self.metric, i));
        let entries = if of_bodies.is_some() { &[] } else { self.metric };
        let own = row_of(entries, self.n, self.patterns.map(|p| p.metric), i);
        own.chain(of_bodies.into_iter().flatten().enumerate())
    }

    /// Γ x.
    pub fn moved(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n];
        match self.bodies() {
            Some(bodies) => bodies.multiply(self.metric, x, &mut out),
            None => (0..self.n)
                .for_each(|i| out[i] = self.metric_row(i).map(|(k, m)| m * x[k]).sum::<f64>()),
        }
        out
    }

    /// Σ_j |Γ_ij x_j|, or a bound on it.
    pub fn spread(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n];
        match self.bodies() {
            Some(bodies) => bodies.spread(self.metric, x, &mut out),
            None => (0..self.n).for_each(|i| {
                out[i] = self.metric_row(i).map(|(k, m)| (m * x[k]).abs()).sum::<f64>();
            }),
        }
        out
    }

    /// The entries of a row of A.
    pub fn jacobian_row(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        row_of(self.jacobian, self.n, self.patterns.map(|p| p.jacobian), j)
    }

    /// The noise of a row of Γ; none where none is known.
    pub fn metric_noise(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let noise = self.noise.filter(|_| self.bodies().is_none());
        let noise = noise.map_or(&[][..], |noise| noise.metric);
        row_of(noise, self.n, self.patterns.map(|p| p.metric), i)
    }

    /// The noise of a row of A; none where none is known.
    pub fn jacobian_noise(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let noise = self.noise.map_or(&[][..], |noise| noise.jacobian);
        row_of(noise, self.n, self.patterns.map(|p| p.jacobian), j)
    }

    /// Γ_ii.
    pub fn mass(&self, i: usize) -> f64 {
        match self.patterns {
            None => self.metric[i * self.n + i],
            Some(patterns) => patterns.metric.place(i, i).map_or(0.0, |at| self.metric[at]),
        }
    }

    /// Checks that the shapes agree and every number is finite.
    pub fn check(&self) -> Result<(), SolveError> {
        let (n, m) = (self.n, self.m);
        let [of_metric, of_rows] = match self.patterns {
            Some(patterns) => [patterns.metric.entries(), patterns.jacobian.entries()],
            None => [n * n, m * n],
        };
        for (what, slice, expected) in [
            ("metric", self.metric, of_metric),
            ("force", self.force, n),
            ("nonideal force", self.nonideal, n),
            ("constraint matrix", self.jacobian, of_rows),
            ("constraint right-hand side", self.bias, m),
        ] {
            check_slice(what, slice, expected)?;
        }
        if !self.inertia.is_empty() {
            check_slice("inertia", self.inertia, n)?;
        }
        if let Some(noise) = self.noise {
            for (what, slice, expected) in [
                ("noise of the metric", noise.metric, of_metric),
                ("noise of the force", noise.force, n),
                ("noise of the constraint matrix", noise.jacobian, of_rows),
                ("noise of the constraint right-hand side", noise.bias, m),
            ] {
                check_slice(what, slice, expected)?;
            }
        }
        Ok(())
    }
}

fn check_slice(what: &'static str, slice: &[f64], expected: usize) -> Result<(), SolveError> {
    if slice.len() != expected {
        return Err(SolveError::Shape { what, expected, found: slice.len() });
    }
    match slice.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(SolveError::NotFinite { what, index }),
        None => Ok(()),
    }
}

/// The entries of a row of a matrix with or without a pattern, (column, entry); none if there is
/// no matrix.
pub fn row_of<'a>(
    values: &'a [f64],
    columns: usize,
    pattern: Option<&'a Arc<Pattern>>,
    row: usize,
) -> impl Iterator<Item = (usize, f64)> + use<'a> {
    let (indices, own) = match pattern {
        _ if values.is_empty() => (None, 0..0),
        None => (None, row * columns..(row + 1) * columns),
        Some(pattern) => (Some(pattern.row(row)), pattern.range(row)),
    };
    let column = move |k: usize| indices.map_or(k, |list| list[k]);
    values[own].iter().enumerate().map(move |(k, a)| (column(k), *a))
}
