//! The data of the problem at one state: Γ, F, C, A, b.
//!
//! The universal problem is Γ v̇ = F + C + Aᵀλ with A v̇ = b (Gauss's principle; Udwadia &
//! Phohomsiri 2006, Greenwood (2.49)-(2.52)). Γ must be symmetric and positive semidefinite; A may
//! have any rank and may have more rows than columns.

use crate::error::SolveError;

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

impl Terms<'_> {
    /// Checks that the shapes agree and every number is finite.
    pub fn check(&self) -> Result<(), SolveError> {
        let (n, m) = (self.n, self.m);
        for (what, slice, expected) in [
            ("metric", self.metric, n * n),
            ("force", self.force, n),
            ("nonideal force", self.nonideal, n),
            ("constraint matrix", self.jacobian, m * n),
            ("constraint right-hand side", self.bias, m),
        ] {
            check_slice(what, slice, expected)?;
        }
        if !self.inertia.is_empty() {
            check_slice("inertia", self.inertia, n)?;
        }
        if let Some(noise) = self.noise {
            for (what, slice, expected) in [
                ("noise of the metric", noise.metric, n * n),
                ("noise of the force", noise.force, n),
                ("noise of the constraint matrix", noise.jacobian, m * n),
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
