//! Lagrange's equations in their fundamental form, for any L(q, q̇, t).
//!
//! ```text
//! p = L_q̇
//! M = L_q̇q̇                                   Γ
//! Q = L_q + Q′ − D p,  D p = p_q q̇ + p_t        F
//! ```
//!
//! Constraints as in [`kernel::differentiate`](crate::kernel::differentiate).
//! Greenwood, ch. 2, (2.33) to (2.52); the form of Q holds for L quadratic in q̇
//! or not, with T₁ and T₀ terms and explicit time. M may be singular: whether the
//! motion is determined is then decided by the numbers. A model given by H is
//! taken to q, q̇, t by [`Picture`].

use super::{Choices, Formulation};
use crate::equations::{EquationsOfMotion, Source};
use crate::matrix;
use crate::parts::Variables;
use crate::picture::Picture;
use dalembert_expr::{ExprId, Exprs};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::System;

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

    fn heading(&self) -> &'static str {
        "Lagrange's equations"
    }

    fn variables(&self) -> Variables {
        Variables::Velocities
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        _: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        Ok(equations(exprs, &Picture::new(exprs, system)?))
    }
}

/// Lagrange's equations of a system in q, q̇, t: the pull-back by K = I, without the work.
pub fn equations(exprs: &Exprs, picture: &Picture) -> EquationsOfMotion {
    let n = picture.q.len();
    let k: Vec<ExprId> = picture.velocities.iter().map(|&s| exprs.of_symbol(s)).collect();
    EquationsOfMotion {
        formulation: FORMULATION.name(),
        variables: FORMULATION.variables(),
        own: k.clone(),
        kinematics: k.into_iter().chain(picture.state_rates()).collect(),
        lift: matrix::identity(n),
        lift_bias: vec![ExprId::ZERO; n],
        q: picture.configuration(),
        states: picture.states.len(),
        v: picture.velocities.clone(),
        auxiliary: picture.auxiliary.clone(),
        levels: Vec::new(),
        metric: picture.metric.clone(),
        bodies: picture.bodies.clone(),
        force: picture.force.clone(),
        nonideal: picture.nonideal.clone(),
        rows: (0..picture.rows.bias.len()).collect(),
        multipliers: picture.multipliers.clone(),
        chart: None,
        canonical: None,
        bracket: None,
        jacobian: picture.rows.jacobian.clone(),
        bias: picture.rows.bias.clone(),
        configuration_residuals: picture.rows.configuration_residuals.clone(),
        velocity_residuals: picture.rows.velocity_residuals.clone(),
        intermediate: Vec::new(),
    }
}
