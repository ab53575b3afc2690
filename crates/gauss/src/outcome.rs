//! What solving the problem at one state found.
//!
//! For Γ ⪰ 0 four cases exist and exclude each other. Γ v̇ and Aᵀλ are unique
//! whenever a motion exists; v̇ is unique iff ker Γ ∩ ker A = {0}; λ is unique iff the rows of A
//! are independent. The four are decided in one place, whatever elimination is used.

/// How the rank of A was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// The diagonal of a pivoted QR factorization left no doubt.
    #[default]
    Cheap,
    /// The singular values were needed.
    Revealing,
}

/// The ranks of the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rank {
    /// r = rank A.
    pub jacobian: usize,
    /// m, the number of rows of A.
    pub constraints: usize,
    /// rank Γ.
    pub metric: usize,
    /// Rank of Γ stacked on A; below n iff the acceleration is not unique.
    pub metric_and_jacobian: usize,
    /// n, the number of coordinates.
    pub coordinates: usize,
    /// How the rank of A was found.
    pub route: Route,
    /// A ratio that made a rank doubtful: of singular values of the row-normalized B, or of pivots
    /// of the metric on the free directions.
    pub uncertain: Option<f64>,
    /// A ratio that was taken for zero though neither rounding nor noise explains it.
    pub weak: Option<f64>,
}

/// What the problem says about the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// One acceleration.
    #[default]
    Unique,
    /// Accelerations exist and differ by any vector of ker Γ ∩ ker A.
    GaugeFree,
    /// Some ν in ker Γ ∩ ker A has νᵀ(F + C) ≠ 0: no acceleration exists, and νᵀ(F + C) = 0 is a
    /// constraint on the state that was not stated.
    HiddenConstraint,
    /// A v̇ = b has no solution.
    Inconsistent,
}

impl Verdict {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Unique => "unique",
            Verdict::GaugeFree => "gauge-free",
            Verdict::HiddenConstraint => "hidden-constraint",
            Verdict::Inconsistent => "inconsistent",
        }
    }

    /// Whether accelerations exist.
    pub fn exists(self) -> bool {
        matches!(self, Verdict::Unique | Verdict::GaugeFree)
    }
}

/// Evidence of a hidden constraint νᵀ(F + C) = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// ν in ker Γ ∩ ker A, largest entry one.
    pub direction: Vec<f64>,
    /// νᵀ(F + C).
    pub value: f64,
    /// The value over Σ |ν_i| (|F_i| + |C_i|).
    pub relative: f64,
}

/// Evidence of contradictory rows: ζᵀA = 0 but ζᵀb ≠ 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conflict {
    /// ζ in ker Aᵀ for the rows as written, largest entry one.
    pub weights: Vec<f64>,
    /// ζᵀb.
    pub value: f64,
    /// The value over the size of the terms that should have cancelled.
    pub relative: f64,
    /// A v̇ − b for the least-squares solution (rows of equal weight).
    pub residual: Vec<f64>,
}

/// The result of an elimination, in the user's units. Reuse one value in a loop: its vectors keep
/// their storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The ranks.
    pub rank: Rank,
    /// Whether the motion is unique, and if not, why.
    pub motion: Verdict,
    /// v̇; empty if there is no motion. If it is not unique, the one of least Euclidean norm.
    pub v_dot: Vec<f64>,
    /// λ of least Euclidean norm for the rows as written; empty if there is no motion.
    pub multipliers: Vec<f64>,
    /// Basis of ker Γ ∩ ker A, each vector with largest entry one, reduced so that entries that
    /// vanish are exactly zero.
    pub null: Vec<Vec<f64>>,
    /// Evidence of a hidden constraint.
    pub hidden: Option<Hidden>,
    /// Evidence of contradictory rows.
    pub conflict: Option<Conflict>,
    /// Independent rows that span all of them, as many as the rank of A.
    pub independent: Vec<usize>,
    /// Per row: its multiplier is not determined.
    pub indeterminate: Vec<bool>,
    /// Per coordinate: its acceleration is not determined.
    pub undetermined: Vec<bool>,
    /// Condition number of what a literal elimination inverts; `None` from the others.
    pub condition: Option<f64>,
    /// ρ_N = ‖Γ v̇ − F − C − Aᵀλ‖ / (‖Γ‖‖v̇‖ + ‖F + C‖), in equilibrated units, beyond noise.
    pub stationarity: f64,
    /// |λ̄ − λ| relative to the forces in it, where forces depend on multipliers and were
    /// evaluated at λ̄.
    pub coupling: Option<f64>,
    /// ρ_A = ‖A v̇ − b‖ / (‖A‖(‖v̇‖ + ‖F + C‖) + ‖b‖), in equilibrated units, beyond noise.
    pub feasibility: f64,
}
