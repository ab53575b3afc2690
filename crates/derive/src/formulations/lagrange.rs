//! Lagrange's equations in their fundamental form, for any L(q, q̇, t).
//!
//! ```text
//! p = L_q̇
//! M = L_q̇q̇                                   Γ
//! Q = L_q + Q′ − D p,  D p = p_q q̇ + p_t        F
//! ```
//!
//! Constraints as in [`kernel::differentiate`]. Greenwood, ch. 2, (2.33) to
//! (2.52); the form of Q holds for L quadratic in q̇ or not, with T₁ and T₀ terms
//! and explicit time. M may be singular: whether the motion is determined is
//! then decided by the numbers.

use super::Formulation;
use crate::equations::{EquationsOfMotion, Source};
use crate::kernel;
use dalembert_expr::{ExprId, Exprs, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Energy, System};

/// Lagrange's equations.
pub struct Lagrange;

/// The member of the list.
pub const FORMULATION: Lagrange = Lagrange;

impl Formulation for Lagrange {
    fn name(&self) -> &'static str {
        "lagrange"
    }

    fn source(&self) -> Source {
        Source { work: "Greenwood, Advanced Dynamics, ch. 2", equations: "(2.33), (2.49)–(2.52)" }
    }

    fn derive(&self, exprs: &Exprs, system: &System) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let Energy::Lagrangian { lagrangian, momenta, .. } = &system.energy else {
            let span = system.coordinates.first().map_or(Span::default(), |c| c.span);
            return Err(vec![
                Diagnostic::fault(
                    Code::NotServed,
                    span,
                    "Lagrange's equations of a model given by H are not served by this version yet",
                )
                .hint("`--formulation hamilton` derives it in its own variables"),
            ]);
        };
        kernel::refuse_multipliers(exprs, system)?;
        let n = system.n_coordinates();
        let (q, v, a) = (system.positions(), system.velocities(), system.accelerations());
        let mut rates: Vec<(Symbol, ExprId)> = q.iter().zip(&v).map(|(&x, &y)| (x, exprs.of_symbol(y))).collect();
        rates.push((Symbol::TIME, ExprId::ONE));

        let metric = symmetric(exprs.jacobian(momenta, &v));
        // Q = L_q + Q′ − D p: docs/notation.md (2.1).
        let l_q = exprs.gradient(*lagrangian, &q);
        let d_p = exprs.directional(momenta, &rates);
        let impressed = kernel::total(exprs, n, &system.forces);
        let force = (0..n)
            .map(|i| (exprs.at(l_q[i]) + exprs.at(impressed[i]) - exprs.at(d_p[i])).id)
            .collect();
        let rows = kernel::differentiate(exprs, system, &v, &a, &rates);
        Ok(EquationsOfMotion {
            formulation: self.name(),
            kinematics: v.iter().map(|&s| exprs.of_symbol(s)).collect(),
            q,
            v,
            metric,
            force,
            nonideal: kernel::total(exprs, n, &system.nonideal),
            jacobian: rows.jacobian,
            drift: rows.drift,
            configuration_residuals: rows.configuration_residuals,
            velocity_residuals: rows.velocity_residuals,
        })
    }
}

/// The lower triangle written over the upper one: M is symmetric by nature, and
/// should be so to the letter.
pub(super) fn symmetric(mut matrix: dalembert_expr::Jacobian) -> dalembert_expr::Jacobian {
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
