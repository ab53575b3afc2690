//! Integrators, one file each. An integrator only steps and interpolates; step
//! sizes, events, projection and output are the driver's.

use crate::program::field::FieldError;
pub use crate::program::problem::{Canonical, Expansion, Needs, Problem, ResidualForm, Structure};

mod collocation;
mod dop853_table;
mod iteration;
mod radau_newton;

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
    /// Whether to look for stiffness, at the price of an evaluation for explicit methods.
    pub looks: bool,
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

/// The last step as polynomials in the time from its start.
#[derive(Clone, Copy, Debug)]
pub struct Polynomial<'a> {
    /// The coefficients of each component, one component after the other.
    pub coefficients: &'a [f64],
    /// How many each has.
    pub terms: usize,
    /// The length of the step.
    pub h: f64,
}

/// A way to step.
pub trait Integrator: Send {
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

    /// How long the next step may be, where the method can tell before it takes one. `step` has
    /// the length that it would have else.
    fn length(&mut self, _motion: &mut dyn Problem, _step: &Step<'_>) -> Option<f64> {
        None
    }

    /// The same once more, from the same state with other weights.
    fn length_again(&self, _step: &Step<'_>) -> Option<f64> {
        None
    }

    /// The state that follows the one at a time after h, where the method knows it before a step:
    /// where it has said how [long](Integrator::length) that may be. False if it does not.
    fn foretell(&self, _t: f64, _h: f64, _x: &mut [f64]) -> bool {
        false
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

    /// The polynomials of the last step, where its states are such by powers of time and its dense
    /// output was [prepared](Integrator::prepare_dense).
    fn polynomial(&self) -> Option<Polynomial<'_>> {
        None
    }

    /// How far rates at the end of the last step, found from the state there, are from those of
    /// the step itself, in units of the tolerance: what an estimate by its last terms cannot see.
    fn defect(&self, _rates: &[f64], _weights: &[f64]) -> f64 {
        0.0
    }

    /// The same inside of the last step, at the ends of so many parts of it, where the method has
    /// not been there: something may come in time, and be over before the step is.
    fn defect_inside(
        &mut self,
        _motion: &mut dyn Problem,
        _weights: &[f64],
        _parts: u32,
    ) -> Result<f64, FieldError> {
        Ok(0.0)
    }

    /// The same at one part θ of the last step; none of a method whose steps are not told by their rates.
    fn defect_at(
        &mut self,
        _motion: &mut dyn Problem,
        _weights: &[f64],
        _theta: f64,
    ) -> Result<Option<f64>, FieldError> {
        Ok(None)
    }
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

integrators! { dop853, taylor, gauss4, gauss6, gauss8, radau, rattle, discrete_gradient }
