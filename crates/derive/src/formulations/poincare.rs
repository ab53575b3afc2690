//! Poincaré's equations in quasi-velocities s = G(q, t) q̇, W = G⁻¹.
//!
//! ```text
//! M_s = WᵀMW                             Γ
//! F_s = Wᵀ(Q + M W Ġ q̇)                 F
//! A_s = A W,  b_s = b + A W Ġ q̇,  C_s = WᵀC
//! q̈ = W(ṡ − Ġ q̇)
//! ```
//!
//! Udwadia & Phohomsiri (2007), (2.14), (2.15), (3.34). The short form of F_s
//! equals their expansion (2.15) with every term, as `tests/properties.rs`
//! checks, and needs no derivative of W. The user's `speed`s are completed by
//! velocities; without any, G = I. Applies wherever G is regular.

use super::{Choices, Formulation};
use crate::equations::{EquationsOfMotion, Shape, Source};
use crate::kernel;
use crate::matrix::{self, Inverse};
use crate::parts::Variables;
use crate::picture::{self, Picture, Velocities};
use crate::speeds;
use dalembert_expr::{ExprId, Exprs};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::System;

/// Poincaré's equations.
pub struct Poincare;

/// The member of the list.
pub const FORMULATION: Poincare = Poincare;

impl Formulation for Poincare {
    fn name(&self) -> &'static str {
        "poincare"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia & Phohomsiri (2007)", equations: "(2.14), (2.15), (3.34)" }
    }

    fn heading(&self) -> &'static str {
        "Poincaré's equations"
    }

    fn variables(&self) -> Variables {
        Variables::QuasiVelocities
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        _: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let picture = Picture::new(exprs, system)?;
        let speeds = speeds::complete(exprs, system);
        let Some(inverse) = Inverse::new(&speeds.g) else {
            return Err(kernel::not_applicable(system, "the speeds do not determine the velocities"));
        };
        let s: Vec<ExprId> = speeds.symbols.iter().map(|&s| exprs.of_symbol(s)).collect();
        // q̇ = W s
        let kinematics = inverse.solve(exprs, &s);
        let w = inverse.matrix(exprs);
        // κ = −W Ġ q̇, where Ġ q̇ is the rate of G q̇ with q̇ frozen.
        let q_dot: Vec<ExprId> = picture.velocities.iter().map(|&v| exprs.of_symbol(v)).collect();
        let g_q_dot = matrix::times(exprs, &speeds.g, &q_dot);
        let turned = exprs.directional(&g_q_dot, &picture.rates(&q_dot));
        let turned: Vec<ExprId> = turned.into_iter().map(|e| (-exprs.at(e)).id).collect();
        let lift_bias = inverse.solve(exprs, &turned);
        let mut equations = picture.pull_back(
            exprs,
            Velocities {
                formulation: self.name(),
                variables: self.variables(),
                v: speeds.symbols,
                own: speeds.own,
                kinematics,
                lift: w,
                lift_bias,
            },
        );
        let meaning = "the quasi-velocities are s = G q̇";
        equations.intermediate.push(picture::quantity("G", "G", meaning, Shape::Matrix(speeds.g)));
        Ok(equations)
    }
}
