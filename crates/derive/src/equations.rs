//! The normal form that all formulations share.

use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};

/// Where a formulation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Author and year.
    pub work: &'static str,
    /// The equations used, by number.
    pub equations: &'static str,
}

/// q̇ = k(q, v, t), Γ v̇ = F + C + Aᵀλ, A v̇ = b.
#[derive(Clone, Debug)]
pub struct EquationsOfMotion {
    /// The formulation's name.
    pub formulation: &'static str,
    /// The coordinates q.
    pub q: Vec<Symbol>,
    /// The velocity-like unknowns v: q̇, s or p.
    pub v: Vec<Symbol>,
    /// k: the rates of q in terms of (q, v, t).
    pub kinematics: Vec<ExprId>,
    /// Γ, symmetric.
    pub metric: Jacobian,
    /// F.
    pub force: Vec<ExprId>,
    /// C, the non-ideal part of the constraint force.
    pub nonideal: Vec<ExprId>,
    /// A, a row for each constraint.
    pub jacobian: Jacobian,
    /// b.
    pub drift: Vec<ExprId>,
    /// (row, φ): position-level constraints as written.
    pub configuration_residuals: Vec<(usize, ExprId)>,
    /// (row, ψ): velocity-level constraints and the rates of position-level ones.
    pub velocity_residuals: Vec<(usize, ExprId)>,
}

impl EquationsOfMotion {
    /// All expressions, to count or compile them together.
    pub fn roots(&self) -> Vec<ExprId> {
        let mut roots = self.kinematics.clone();
        roots.extend(self.metric.rows.iter().flatten().map(|e| e.1));
        roots.extend(&self.force);
        roots.extend(&self.nonideal);
        roots.extend(self.jacobian.rows.iter().flatten().map(|e| e.1));
        roots.extend(&self.drift);
        roots.extend(self.configuration_residuals.iter().map(|r| r.1));
        roots.extend(self.velocity_residuals.iter().map(|r| r.1));
        roots
    }

    /// How many distinct nodes they consist of.
    pub fn count_nodes(&self, exprs: &Exprs) -> usize {
        exprs.count_nodes(&self.roots())
    }
}
