//! The equations as a residual in all their unknowns, with v̇ and λ as symbols of their own.
//!
//! ```text
//! 0 = q̇ − k(q, v, t)          kinematics
//! 0 = Γ v̇ − F − C − Aᵀλ       dynamics
//! 0 = A v̇ − b                 each row, differentiated to the order of v̇
//! 0 = ψ(q, v, t)              the same row, where it restricts velocities
//! 0 = φ(q, t)                 and positions
//! 0 = r(w; q, v, t)           unknowns w behind v, where there are some
//! ```
//!
//! What hangs on the derivatives of a motion starts here: a stiff method's Newton matrix, the
//! linear equations about a motion. Nothing is solved for v̇ and λ and no inverse is
//! differentiated; the slope of the dynamics by q holds the geometric stiffness −∂(Aᵀλ)/∂q.
//!
//! F and C may depend on λ. They do so by symbols of the model, one for each multiplier that
//! occurs in a force; here these give way to the symbols of the rows.

use crate::equations::EquationsOfMotion;
use dalembert_expr::{ExprId, Exprs, Symbol, SymbolKind};

/// Equations of motion as a residual.
#[derive(Clone, Debug)]
pub struct Residual {
    /// v̇.
    pub accelerations: Vec<Symbol>,
    /// λ, one for each row of A.
    pub multipliers: Vec<Symbol>,
    /// The symbols by which forces depend on multipliers, and the λ that each is.
    pub named: Vec<(Symbol, ExprId)>,
    /// k.
    pub kinematics: Vec<ExprId>,
    /// F, by these multipliers.
    pub force: Vec<ExprId>,
    /// C, by these multipliers.
    pub nonideal: Vec<ExprId>,
    /// Γ v̇ − F − C − Aᵀλ.
    pub dynamics: Vec<ExprId>,
    /// The rows of A.
    pub rows: Vec<Row>,
    /// ψ, in the order of [`EquationsOfMotion::velocity_residuals`].
    pub velocities: Vec<ExprId>,
    /// φ, in the order of [`EquationsOfMotion::configuration_residuals`].
    pub positions: Vec<ExprId>,
    /// r.
    pub auxiliary: Vec<ExprId>,
}

/// A row of A, as it holds v̇ and as it holds v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// A v̇ − b.
    pub acceleration: ExprId,
    /// ψ; `None` for a row that is given for accelerations.
    pub velocity: Option<ExprId>,
}

impl Residual {
    /// The residual of equations.
    pub fn new(exprs: &Exprs, equations: &EquationsOfMotion) -> Residual {
        // No name of the language has a space.
        let named = |what: &str, count: usize| -> Vec<Symbol> {
            let name = |i: usize| format!("{what} {i}");
            (1..=count).map(|i| exprs.symbol(&name(i), SymbolKind::Variable)).collect()
        };
        let accelerations = named("rate", equations.v.len());
        let multipliers = named("multiplier", equations.rows.len());
        let own = equations.multipliers.iter().zip(equations.multiplier_rows());
        let named: Vec<(Symbol, ExprId)> = own
            .map(|(own, row)| {
                (own.1, row.map_or(ExprId::ZERO, |row| exprs.of_symbol(multipliers[row])))
            })
            .collect();
        let force = exprs.substitute(&equations.force, &named);
        let nonideal = exprs.substitute(&equations.nonideal, &named);
        let times = |value: ExprId, symbol: Symbol| {
            (exprs.at(value) * exprs.at(exprs.of_symbol(symbol))).id
        };
        let negative = |value: ExprId| (-exprs.at(value)).id;
        let mut dynamics: Vec<Vec<ExprId>> = equations
            .metric
            .rows
            .iter()
            .zip(force.iter().zip(&nonideal))
            .map(|(row, (&f, &c))| {
                let inertia = row.iter().map(|&(j, entry)| times(entry, accelerations[j]));
                inertia.chain([negative(f), negative(c)]).collect()
            })
            .collect();
        let mut rows = Vec::new();
        for (at, row) in equations.jacobian.rows.iter().enumerate() {
            let mut sum = vec![negative(equations.bias[at])];
            for &(j, entry) in row {
                sum.push(times(entry, accelerations[j]));
                dynamics[j].push(negative(times(entry, multipliers[at])));
            }
            let mut held = equations.velocity_residuals.iter();
            rows.push(Row {
                acceleration: exprs.sum(&sum),
                velocity: held.find(|r| r.0 == equations.rows[at]).map(|r| r.1),
            });
        }
        Residual {
            accelerations,
            multipliers,
            named,
            kinematics: equations.kinematics.clone(),
            force,
            nonideal,
            dynamics: dynamics.iter().map(|terms| exprs.sum(terms)).collect(),
            rows,
            velocities: equations.velocity_residuals.iter().map(|r| r.1).collect(),
            positions: equations.configuration_residuals.iter().map(|r| r.1).collect(),
            auxiliary: equations.auxiliary.iter().flat_map(|a| a.residuals.clone()).collect(),
        }
    }
}
