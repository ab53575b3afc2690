//! The equations as integrators ask for them: rates for all, and for some a residual, H in
//! canonical variables, or the reduced bracket. [`Field`](super::Field) is all of these.

use super::FieldError;
use dalembert_compile::series::Fours;
use dalembert_gauss::Pattern;
use std::sync::Arc;

/// What an integrator moves: the rates of a state, and what else there is to know of
/// them if it was asked for before ([`Needs`]).
pub trait Problem {
    /// Length of a state.
    fn state_length(&self) -> usize;

    /// The rates `dx` at time `t` and state `x`.
    fn rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError>;

    /// The equations as a residual with its derivatives.
    fn residual_form(&mut self) -> Option<&mut dyn ResidualForm> {
        None
    }

    /// H(q, p) and the position constraints.
    fn canonical(&mut self) -> Option<&mut dyn Canonical> {
        None
    }

    /// The motion as Taylor series.
    fn expansion(&mut self) -> Option<&mut dyn Expansion> {
        None
    }

    /// J_r and H_r.
    fn structure(&mut self) -> Option<&mut dyn Structure> {
        None
    }
}

/// 0 = R(t, y, ẏ) with y = (q, v, λ, μ, w): positions, own velocities, multipliers of
/// the rows in use, what pulls positions back, unknowns behind v. Only the rates of q
/// and v enter.
pub trait ResidualForm {
    /// Begins a step at a state on the constraints: decides which rows are in use, and
    /// gives y there. Its length is that of R.
    fn begin(&mut self, t: f64, x: &[f64], y: &mut Vec<f64>) -> Result<(), FieldError>;

    /// The rows in use: of A, and of the positions.
    fn rows(&self) -> (&[usize], &[usize]);

    /// R, and the power of what does work on the system. `rates` has those of q and v.
    fn residual(&mut self, t: f64, y: &[f64], rates: &[f64], r: &mut [f64]) -> f64;

    /// Where ∂R/∂ẏ or ∂R/∂y has entries since the step began, if most are 0 at all times.
    fn pattern(&self) -> Option<&Arc<Pattern>>;

    /// ∂R/∂ẏ and ∂R/∂y at the places of the pattern.
    fn entries(&mut self, t: f64, y: &[f64], rates: &[f64], by_rate: &mut [f64], by: &mut [f64]);

    /// ∂R/∂ẏ and ∂R/∂y, square and dense.
    fn derivatives(
        &mut self,
        t: f64,
        y: &[f64],
        rates: &[f64],
        by_rate: &mut [f64],
        by: &mut [f64],
    );
}

/// The motion from a state as Taylor series.
pub trait Expansion {
    /// The coefficients of order 0 … `order` of (q, v, W) from a state on the constraints. Where
    /// `into` still has those of the last call, and nothing has changed, nothing is computed.
    fn expand(
        &mut self,
        t: f64,
        x: &[f64],
        order: usize,
        into: &mut Fours,
    ) -> Result<Expanded, FieldError>;
}

/// Whether an expansion was made, or was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expanded {
    /// It was made.
    Now,
    /// It was there from the last call.
    Before,
}

/// H(q, p, t) by its derivatives, and position constraints φ(q, t).
pub trait Canonical {
    /// Number of coordinates.
    fn coordinates(&self) -> usize;

    /// H_p and −H_q at `x` = (q, p).
    fn gradient(
        &mut self,
        t: f64,
        x: &[f64],
        h_p: &mut [f64],
        force: &mut [f64],
    ) -> Result<(), FieldError>;

    /// H_pp.
    fn metric(&mut self, t: f64, x: &[f64], metric: &mut Vec<f64>) -> Result<(), FieldError>;

    /// Position rows that are independent at a state on the constraints.
    fn rows(&mut self, t: f64, x: &[f64]) -> Result<Vec<usize>, FieldError>;

    /// φ, its rate ψ = φ_q H_p + φ_t, and φ_q, of some rows.
    fn constraints(
        &mut self,
        t: f64,
        x: &[f64],
        rows: &[usize],
        phi: &mut Vec<f64>,
        psi: &mut Vec<f64>,
        phi_q: &mut Vec<f64>,
    ) -> Result<(), FieldError>;
}

/// ẋ = J_r(x) ∇H_r(x) with a skew J_r, x = (q, p̃).
pub trait Structure {
    /// H_r and its gradient.
    fn energy(&mut self, t: f64, x: &[f64], gradient: &mut [f64]) -> Result<f64, FieldError>;

    /// J_r, dense.
    fn matrix(&mut self, t: f64, x: &[f64], matrix: &mut Vec<f64>) -> Result<(), FieldError>;
}

/// What an integrator needs of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Its rates.
    Rates,
    /// A [`ResidualForm`].
    Residual,
    /// An [`Expansion`].
    Series,
    /// [`Canonical`] variables: positions, momenta and H, holonomic constraints that
    /// are ideal, and no other forces.
    Canonical,
    /// A [`Structure`]: the reduced bracket, without forces.
    Structure,
}
