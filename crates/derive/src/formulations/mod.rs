//! The formulations, one file each. A new one is a file and a word in the list.

use crate::equations::{EquationsOfMotion, Source};
use dalembert_expr::Exprs;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, System};

/// A route from a system to its equations of motion.
pub trait Formulation: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Paper and equation numbers.
    fn source(&self) -> Source;

    /// Fills the normal form, or says why it does not apply.
    fn derive(&self, exprs: &Exprs, system: &System) -> Result<EquationsOfMotion, Vec<Diagnostic>>;
}

macro_rules! formulations {
    ($($file:ident),* $(,)?) => {
        $(pub mod $file;)*

        /// Every formulation.
        pub const ALL: &[&dyn Formulation] = &[$(&$file::FORMULATION),*];
    };
}

formulations! { lagrange, hamilton }

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
