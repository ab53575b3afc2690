//! Integrators, one file each. An integrator only steps and interpolates; step
//! sizes, events, projection and output are the driver's.

use crate::field::FieldError;

mod dop853_table;

/// What an integrator moves: the rates of a state.
pub trait Motion {
    /// Length of a state.
    fn size(&self) -> usize;

    /// The rates `dx` at time `t` and state `x`.
    fn rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError>;
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
    /// The inverses of what each component may be off by.
    pub weights: &'a [f64],
}

/// What an integrator needs of a problem beside its rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Derivatives of the rates.
    pub jacobian: bool,
    /// The constraints themselves.
    pub constraints: bool,
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

    /// Whether steps carry an error estimate, so that their size can be controlled.
    fn estimates(&self) -> bool;

    /// Takes a step. Writes the new state and returns the error in units of the
    /// tolerance.
    fn step(
        &mut self,
        motion: &mut dyn Motion,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError>;

    /// Prepares the dense output of the last step; may evaluate the rates.
    fn prepare_dense(&mut self, motion: &mut dyn Motion) -> Result<(), FieldError>;

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

integrators! { dop853 }
