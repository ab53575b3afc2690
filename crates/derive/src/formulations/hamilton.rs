//! Hamilton's equations with constraints on (q, p, t), for a model given by H.
//!
//! ```text
//! q̇ = H_p
//! Γ = H_pp,  F = H_pp (−H_q + Q′),  C enters as H_pp C
//! A_p = φ_p,  b_p = −(φ_q H_p + φ_t)
//! ```
//!
//! Udwadia (2016), (11)–(13) and (36): ṗ = f + H_pp⁻¹A_pᵀλ with A_p ṗ = b_p, the
//! normal form with v = p. H need not be quadratic in p; H_pp must be regular.
//! The constraint force is along H_pp⁻¹φ_pᵀ, not along φ_pᵀ.

use super::Formulation;
use crate::equations::{EquationsOfMotion, Source};
use crate::kernel;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Energy, System};

/// Hamilton's equations.
pub struct Hamilton;

/// The member of the list.
pub const FORMULATION: Hamilton = Hamilton;

impl Formulation for Hamilton {
    fn name(&self) -> &'static str {
        "hamilton"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia (2016)", equations: "(11)–(13), (36)" }
    }

    fn derive(&self, exprs: &Exprs, system: &System) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let Energy::Hamiltonian { hamiltonian, velocities } = &system.energy else {
            let span = system.coordinates.first().map_or(Span::default(), |c| c.span);
            return Err(vec![
                Diagnostic::fault(
                    Code::NotServed,
                    span,
                    "Hamilton's equations of a model given by T and V are not served by this version yet",
                )
                .hint("give the model by `hamiltonian`, or derive it by `--formulation lagrange`"),
            ]);
        };
        kernel::refuse_multipliers(exprs, system)?;
        let n = system.n_coordinates();
        let (q, p, p_dot) = (system.positions(), system.momenta(), system.momentum_rates());
        let mut rates: Vec<(Symbol, ExprId)> = q.iter().copied().zip(velocities.iter().copied()).collect();
        rates.push((Symbol::TIME, ExprId::ONE));

        let metric = super::lagrange::symmetric(exprs.jacobian(velocities, &p));
        // f = −H_q + Q′
        let h_q = exprs.gradient(*hamiltonian, &q);
        let impressed = kernel::total(exprs, n, &system.forces);
        let f: Vec<ExprId> = (0..n).map(|i| (exprs.at(impressed[i]) - exprs.at(h_q[i])).id).collect();
        let nonideal = kernel::total(exprs, n, &system.nonideal);
        let rows = kernel::differentiate(exprs, system, &p, &p_dot, &rates);
        Ok(EquationsOfMotion {
            formulation: self.name(),
            kinematics: velocities.clone(),
            q,
            v: p,
            force: times(exprs, &metric, &f),
            nonideal: times(exprs, &metric, &nonideal),
            metric,
            jacobian: rows.jacobian,
            drift: rows.drift,
            configuration_residuals: rows.configuration_residuals,
            velocity_residuals: rows.velocity_residuals,
        })
    }
}

/// Matrix × vector.
fn times(exprs: &Exprs, matrix: &Jacobian, x: &[ExprId]) -> Vec<ExprId> {
    matrix
        .rows
        .iter()
        .map(|row| {
            let terms: Vec<ExprId> = row.iter().map(|&(j, e)| (exprs.at(e) * exprs.at(x[j])).id).collect();
            exprs.sum(&terms)
        })
        .collect()
}
