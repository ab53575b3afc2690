//! What the compiled equations are made of, as lists of expressions, for programs that are printed
//! and run elsewhere: parameters stay symbols.
//!
//! Terms are listed in the order in which all who evaluate them do it (Γ, F, C, A, b of q̈, in q, q̇
//! and t); equations of starts and resets are those that they are searched with here.

use crate::normal_form::layout::{Layout, Outputs, places};
use crate::normal_form::multiplier_forces;
use crate::points::start::Native;
use crate::program::observer::energy_of;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::system::{Level, Model, System};

/// M q̈ = Q + C + Aᵀλ, A q̈ = b as a list of outputs.
#[derive(Clone, Debug)]
pub struct Listing {
    /// M, Q, C, A, b, then p and D p, then ∂(Q + C)/∂λ; of matrices the entries.
    pub roots: Vec<ExprId>,
    /// Places of the entries of M in the dense matrix.
    pub metric: Vec<usize>,
    /// Those of A.
    pub jacobian: Vec<usize>,
    /// Those of ∂(Q + C)/∂λ, a column for each multiplier that forces depend on.
    pub slopes: Vec<usize>,
}

impl Listing {
    /// Lists the terms of a picture.
    pub fn new(exprs: &Exprs, picture: &Picture) -> Listing {
        let mut outputs = Outputs::beside(&picture.metric, picture.bodies.as_deref());
        Layout::of_picture(&mut outputs, picture);
        outputs.list(picture.momenta.iter().chain(&picture.momentum_bias).copied());
        let multipliers: Vec<Symbol> = picture.multipliers.iter().map(|m| m.1).collect();
        let slopes = match multipliers.is_empty() {
            true => Jacobian { rows: Vec::new(), columns: 0 },
            false => multiplier_forces::derivatives(
                exprs,
                &picture.force,
                &picture.nonideal,
                &multipliers,
            ),
        };
        outputs.list(slopes.rows.iter().flatten().map(|e| e.1));
        Listing {
            roots: outputs.roots,
            metric: places(&picture.metric),
            jacobian: places(&picture.rows.jacobian),
            slopes: places(&slopes),
        }
    }
}

/// The variables that a model is written in, and the equations that hold in them.
#[derive(Clone, Debug)]
pub struct Own {
    /// Whether the rates are momenta.
    pub by_momenta: bool,
    /// Velocities, or momenta.
    pub rates: Vec<Symbol>,
    /// Constraints on positions.
    pub positions: Vec<ExprId>,
    /// Constraints on the rates, those that follow from constraints on positions included.
    pub velocities: Vec<ExprId>,
    /// M or H_pp.
    pub metric: Jacobian,
}

impl Own {
    /// The variables of a model.
    pub fn new(exprs: &Exprs, system: &System) -> Own {
        let native = Native::new(exprs, system);
        let positions = system.constraints.iter().filter(|c| c.level == Level::Position);
        Own {
            by_momenta: native.by_momenta,
            positions: positions.map(|c| c.residual).collect(),
            velocities: native.velocity_laws.iter().map(|law| law.1).collect(),
            rates: native.rates,
            metric: native.metric,
        }
    }
}

/// H = q̇·p − L of a model, in q, q̇ and t, or as it is given.
pub fn energy(model: &Model, picture: &Picture) -> ExprId {
    energy_of(model, picture)
}
