//! Integrators, one file each. An integrator only steps and interpolates; step
//! sizes, events, projection and output are the driver's.

use crate::program::field::FieldError;

mod collocation;
mod dop853_table;
mod iteration;
mod radau_newton;

/// What an integrator moves: the rates of a state, and what else there is to know of
/// them if it was asked for before ([`Needs`]).
pub trait Problem {
    /// Length of a state.
    fn size(&self) -> usize;

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

    /// ∂R/∂ẏ and ∂R/∂y, square and dense.
    fn slopes(&mut self, t: f64, y: &[f64], rates: &[f64], by_rate: &mut [f64], by: &mut [f64]);
}

/// H(q, p, t) by its derivatives, and position constraints φ(q, t).
pub trait Canonical {
    /// Number of coordinates.
    fn coordinates(&self) -> usize;

    /// H_p and −H_q at `x` = (q, p).
    fn slopes(
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
        slopes: &mut Vec<f64>,
    ) -> Result<(), FieldError>;
}

/// ẋ = J_r(x) ∇H_r(x) with a skew J_r, x = (q, p̃).
pub trait Structure {
    /// H_r and its gradient.
    fn energy(&mut self, t: f64, x: &[f64], gradient: &mut [f64]) -> Result<f64, FieldError>;

    /// J_r, dense.
    fn matrix(&mut self, t: f64, x: &[f64], matrix: &mut Vec<f64>) -> Result<(), FieldError>;
}

/// A step to take.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Where from in time.
    pub t: f64,
    /// How far.
    pub h: f64,
    /// Where from.
    pub x: &'a [f64],
    /// The rates there.
    pub rates: &'a [f64],
    /// The inverses of what each component may be off by; 0 where that is not asked.
    pub weights: &'a [f64],
    /// The tolerance that the weights go by.
    pub tolerance: f64,
    /// Whether all steps have this size: equations of a step are solved up to rounding
    /// then, whatever the tolerance.
    pub constant: bool,
}

/// What an integrator needs of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Its rates.
    Rates,
    /// A [`ResidualForm`].
    Residual,
    /// [`Canonical`] variables: positions, momenta and H, holonomic constraints that
    /// are ideal, and no other forces.
    Canonical,
    /// A [`Structure`]: the reduced bracket, without forces.
    Structure,
}

/// What an integrator is good for beside its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Symplectic at constant steps, for canonical variables: the energy error stays
    /// bounded by a power of the step.
    pub symplectic: bool,
    /// Conserves the energy up to rounding.
    pub keeps_energy: bool,
    /// Ends its steps on the constraints by itself; nothing is projected after them.
    pub keeps_constraints: bool,
    /// Steps are not limited by motions that have died out.
    pub stiff: bool,
}

/// How stiff the problem looks from a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// An estimate of h|λ| for the fastest motion.
    pub h_lambda: f64,
    /// From where on it limits the step.
    pub limit: f64,
    /// The component of the state that moves most in it.
    pub component: usize,
}

/// A way to step.
pub trait Integrator {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The order of its steps.
    fn order(&self) -> u32;

    /// The order of its dense output.
    fn dense_order(&self) -> u32;

    /// Where it comes from.
    fn source(&self) -> &'static str;

    /// What it needs.
    fn needs(&self) -> Needs;

    /// What it is good for.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Whether steps carry an error estimate, so that their size can be controlled.
    fn estimates(&self) -> bool;

    /// The power of the step size that the error estimate goes with.
    fn estimate_order(&self) -> u32 {
        self.order()
    }

    /// By what the step size should change after a step with this error, if the method
    /// has a view of its own.
    fn growth(&mut self, _error: f64) -> Option<f64> {
        None
    }

    /// How stiff the problem looked in the last step, where this can be told.
    fn stiffness(&self) -> Option<Stiffness> {
        None
    }

    /// The error estimates of the last step, component by component, where there are such.
    fn errors(&self) -> Option<&[f64]> {
        None
    }

    /// Takes a step. Writes the new state and returns the error in units of the
    /// tolerance.
    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError>;

    /// Prepares the dense output of the last step; may evaluate the rates.
    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError>;

    /// The state at a fraction θ of the last step.
    fn interpolate(&self, theta: f64, x: &mut [f64]);
}

macro_rules! integrators {
    ($($file:ident),* $(,)?) => {
        $(pub mod $file;)*

        /// The names of all integrators.
        pub const NAMES: &[&str] = &[$($file::NAME),*];

        /// An integrator of a name, for states of a size.
        pub fn by_name(name: &str, size: usize) -> Option<Box<dyn Integrator>> {
            $(if name == $file::NAME {
                return Some(Box::new($file::new(size)));
            })*
            None
        }
    };
}

integrators! { dop853, gauss4, gauss6, gauss8, radau, rattle, discrete_gradient }
