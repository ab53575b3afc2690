//! Maggi's equations: velocities that satisfy the affine constraints by
//! themselves, q̇ = S(q, t) u + s₀(q, t).
//!
//! ```text
//! SᵀMS u̇ = Sᵀ(Q + C − M(Ṡu + ṡ₀))
//! ```
//!
//! The chart is static: u are the velocities of the coordinates the constraints
//! leave free ([`Chart`]). Rows that no chart can solve, nonlinear in the
//! velocities or given at acceleration level, stay as rows in u: A S u̇ = b −
//! A(Ṡu + ṡ₀). So do rows whose multiplier a force depends on. Affine rows that depend on the chart's drop out. M may be singular
//! as long as SᵀMS is regular on what is left.

use super::{Choices, Formulation};
use crate::chart::Chart;
use crate::equations::{EquationsOfMotion, Source};
use crate::kernel;
use crate::matrix;
use crate::parts::{ChartBasis, Variables};
use crate::picture::{Picture, Velocities};
use dalembert_expr::{ExprId, Exprs, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::System;

/// Maggi's equations.
pub struct Maggi;

/// The member of the list.
pub const FORMULATION: Maggi = Maggi;

impl Formulation for Maggi {
    fn name(&self) -> &'static str {
        "maggi"
    }

    fn source(&self) -> Source {
        Source { work: "Maggi (1901)", equations: "projection on the admissible velocities" }
    }

    fn heading(&self) -> &'static str {
        "Maggi's equations"
    }

    fn variables(&self) -> Variables {
        Variables::FreeVelocities
    }

    fn has_chart(&self) -> bool {
        true
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        choices: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let picture = Picture::new(exprs, system)?;
        let chart = choices.chart.clone();
        let chart = chart.unwrap_or_else(|| Chart::generic(exprs, system, &picture));
        kernel::refuse_eliminated(exprs, system, "this chart of Maggi's equations", |row| {
            chart.rows.contains(&row)
        })?;
        let Some(parametrised) = chart.parametrise(exprs, &picture) else {
            return Err(kernel::not_applicable(system, "the chart chosen is singular everywhere"));
        };
        let u: Vec<Symbol> = parametrised.free.iter().map(|&i| picture.velocities[i]).collect();
        let of_u: Vec<ExprId> = u.iter().map(|&s| exprs.of_symbol(s)).collect();
        // k = S u + s₀, κ = Ṡu + ṡ₀ with u frozen.
        let kinematics = parametrised.velocities(exprs, &of_u);
        let lift_bias = exprs.directional(&kinematics, &picture.rates(&kinematics));
        let mut equations = picture.pull_back(
            exprs,
            Velocities {
                formulation: self.name(),
                variables: self.variables(),
                v: u,
                own: of_u,
                kinematics,
                lift: parametrised.s.clone(),
                lift_bias,
            },
        );
        equations.intermediate = parametrised.quantities(exprs);
        equations.levels = parametrised.levels;
        equations.chart = Some(ChartBasis { chart: parametrised.chart, s: parametrised.s });
        keep_rows(&mut equations, |row| !picture.is_solvable(system, row));
        Ok(equations)
    }
}

/// Drops the rows that v satisfies by itself.
fn keep_rows(equations: &mut EquationsOfMotion, keep: impl Fn(usize) -> bool) {
    let kept: Vec<usize> = (0..equations.rows.len()).filter(|&at| keep(equations.rows[at])).collect();
    let all: Vec<usize> = (0..equations.jacobian.columns).collect();
    equations.jacobian = matrix::part(&equations.jacobian, &kept, &all);
    equations.bias = kept.iter().map(|&at| equations.bias[at]).collect();
    equations.rows = kept.iter().map(|&at| equations.rows[at]).collect();
    equations.velocity_residuals.retain(|r| keep(r.0));
}
