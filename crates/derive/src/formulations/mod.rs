//! The formulations, one file each. A new one is a file and a word in the list.

use crate::chart::Chart;
use crate::equations::{EquationsOfMotion, Source};
use crate::parts::Variables;
use dalembert_expr::Exprs;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, System};

/// What a formulation leaves open; each has a default.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// For Maggi and the bracket: which velocities the constraints give.
    pub chart: Option<Chart>,
    /// For Routh: which coordinates are ignored.
    pub ignored: Option<Vec<usize>>,
}

impl Choices {
    /// Whether any is other than the default.
    pub fn is_made(&self) -> bool {
        self.chart.is_some() || self.ignored.is_some()
    }
}

/// A route from a system to its equations of motion.
pub trait Formulation: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Paper and equation numbers.
    fn source(&self) -> Source;

    /// What its equations are called.
    fn heading(&self) -> &'static str;

    /// What the unknowns v of its equations are.
    fn variables(&self) -> Variables;

    /// Whether it needs M ≻ 0.
    fn needs_regular_mass(&self) -> bool {
        false
    }

    /// Whether it solves the constraints for some of the velocities: [`Choices::chart`].
    fn has_chart(&self) -> bool {
        false
    }

    /// Fills the normal form, or says why it does not apply.
    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        choices: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>>;
}

macro_rules! formulations {
    ($($file:ident),* $(,)?) => {
        $(pub mod $file;)*

        /// Every formulation.
        pub const ALL: &[&dyn Formulation] = &[$(&$file::FORMULATION),*];
    };
}

formulations! { lagrange, poincare, hamilton, maggi, bracket, routh }

/// The formulation of a name.
pub fn by_name(name: &str) -> Option<&'static dyn Formulation> {
    ALL.iter().copied().find(|f| f.name() == name)
}

/// The formulation a system is written for: Hamilton's if it is given by H,
/// otherwise Lagrange's.
pub fn for_system(system: &System) -> &'static dyn Formulation {
    match system.energy {
        Energy::Lagrangian { .. } => &lagrange::FORMULATION,
        Energy::Hamiltonian { .. } => &hamilton::FORMULATION,
    }
}
