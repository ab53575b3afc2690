//! # dalembert
//!
//! Equations of motion of constrained mechanical systems. A model is written
//! the way a textbook does it: coordinates, energies, forces, constraints.
//!
//! ```
//! use dalembert::{Input, Options, derive, load};
//!
//! let text = "
//!     param m = 1, g = 9.81, l = 2
//!     coord x, y
//!     kinetic m/2*(x'^2 + y'^2)
//!     potential m*g*y
//!     constraint rod: x^2 + y^2 = l^2
//! ";
//! let loaded = load(&Input::text("pendulum", text), &Options::default());
//! let model = loaded.model.expect("no faults");
//! let equations = derive(&model, None).expect("Lagrange's equations apply");
//! // A of A q̈ = b:
//! let row = &equations.jacobian.rows[0];
//! assert_eq!(model.exprs.to_source(row[0].1), "2*x");
//! ```
//!
//! The crate is a façade: [`expr`] holds expressions, [`model`] the language,
//! [`formulations`] the routes to the normal form, [`export`] documents.

pub mod book;
pub mod checks;
pub mod failures;
pub mod gallery;
mod input;

pub use dalembert_analyze as analyze;
pub use dalembert_derive as formulations;
pub use dalembert_export as export;
pub use dalembert_expr as expr;
pub use dalembert_gauss as gauss;
pub use dalembert_model as model;
pub use dalembert_simulate as simulate;

pub use dalembert_derive::{Choices, EquationsOfMotion};
pub use dalembert_model::build;
pub use dalembert_model::diagnostic::{Diagnostic, Severity};
pub use dalembert_model::load::Loaded;
pub use dalembert_model::resolve::Limits;
pub use dalembert_model::system::{Model, System};
pub use input::{Input, InputError, Options};

/// Reads and resolves a model. Never fails: faults are in the result.
pub fn load(input: &Input, options: &Options) -> Loaded {
    use dalembert_model::load::{Beside, load_with};
    use dalembert_model::resolve::Names;
    let read = |from: &str, name: &str| match &input.folder {
        Some(folder) => input::read_part(folder, &input.name, from, name),
        None => Err("there is no folder to read it from".to_owned()),
    };
    let formulations: Vec<&str> = dalembert_derive::ALL.iter().map(|f| f.name()).collect();
    let eliminations: Vec<&str> = dalembert_gauss::EVERY.iter().map(|e| e.name()).collect();
    let methods: Vec<&str> = simulate::run::method::names().collect();
    let beside = Beside {
        overrides: &options.set,
        at: options.at.as_deref(),
        observes: &options.observe,
        names: Names {
            methods: &methods,
            formulations: &formulations,
            eliminations: &eliminations,
        },
    };
    load_with(&input.name, &input.text, input.syntax, &beside, options.limits, Some(&read))
}

/// What is worth knowing of a model that has no faults: warnings and notes beyond
/// those of reading it. Takes some numbers, so it is not part of [`load`].
pub fn lint(loaded: &Loaded) -> Vec<Diagnostic> {
    match &loaded.model {
        Some(model) if !loaded.is_faulty() => dalembert_analyze::lint::lint(model),
        _ => Vec::new(),
    }
}

/// The equations of motion by a formulation's name, or by the one the model is
/// written for.
pub fn derive(
    model: &Model,
    formulation: Option<&str>,
) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
    derive_with(model, formulation, &Choices::default())
}

/// The same, with what the formulation leaves open.
pub fn derive_with(
    model: &Model,
    formulation: Option<&str>,
    choices: &Choices,
) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
    let chosen = formulation.and_then(dalembert_derive::by_name);
    let formulation = chosen.unwrap_or_else(|| dalembert_derive::for_system(&model.system));
    formulation.derive(&model.exprs, &model.system, choices)
}
