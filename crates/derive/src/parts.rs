//! Parts of the normal form that some formulations have beyond it, for what is computed by more
//! than rates: integrators in canonical variables, those that conserve H_r, changes of the chart.
//!
//! What a formulation shows its reader is in
//! [`intermediate`](crate::EquationsOfMotion::intermediate), and no number depends on it.

use dalembert_expr::{ExprId, Jacobian};

/// What the unknowns v are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variables {
    /// v = q̇.
    Velocities,
    /// v = s = G(q, t) q̇.
    QuasiVelocities,
    /// v = u of q̇ = S u + s₀: the velocities that a chart leaves free.
    FreeVelocities,
    /// v = p = L_q̇.
    Momenta,
    /// v = p̃ = Sᵀp, the momenta along the velocities that a chart leaves free.
    ReducedMomenta,
    /// v = (q̇_n, β): velocities, and the momenta of the coordinates that are ignored.
    VelocitiesAndMomenta,
}

impl Variables {
    /// Whether v_i belongs to the coordinate q_i.
    pub fn are_by_coordinate(self) -> bool {
        matches!(self, Variables::Velocities | Variables::Momenta)
    }

    /// Whether momenta are among them.
    pub fn hold_momenta(self) -> bool {
        use Variables::*;
        matches!(self, Momenta | ReducedMomenta | VelocitiesAndMomenta)
    }
}

/// Hamilton's equations before the constraints:
///
/// ```text
/// q̇ = H_p,   ṗ = f = −H_q + Q′
/// ```
///
/// with q̇ = k of the normal form. Γ and F = Γ f there serve the constraint force; f itself is
/// what a symplectic method evaluates.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// H.
    pub hamiltonian: ExprId,
    /// f.
    pub force: Vec<ExprId>,
}

/// Hamilton's equations on the constrained state space, in (q, p̃):
///
/// ```text
/// [q̇; p̃̇] = J_r ∇H_r + [0; Sᵀ(Q′ + C)],   J_r skew
/// ```
#[derive(Clone, Debug)]
pub struct ReducedBracket {
    /// H_r(q, p̃).
    pub hamiltonian: ExprId,
    /// J_r, rows and columns (q, p̃).
    pub structure: Jacobian,
}

/// A choice of constraints and of the velocities they are solved for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Constraints, by their place in the system.
    pub rows: Vec<usize>,
    /// As many dependent coordinates.
    pub columns: Vec<usize>,
}

/// A chart and the velocities it admits, q̇ = S(q, t) u + s₀(q, t).
#[derive(Clone, Debug)]
pub struct ChartBasis {
    /// The choice of rows and of the velocities they are solved for.
    pub chart: Chart,
    /// S. Its entries grow where the chart becomes singular.
    pub s: Jacobian,
}
