//! # dalembert
//!
//! Equations of motion of constrained mechanical systems. A model is written the way a
//! textbook does it: coordinates, energies, forces, constraints. Here it is built; its motion
//! is run, certified and looked at; its accelerations are compiled.
//!
//! ```
//! use dalembert::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let b = Builder::new("pendulum");
//! let (m, l, g) = (b.param("m", 1), b.param("l", 2), b.param("g", 9.81));
//! let (x, y) = (b.coord("x"), b.coord("y"));
//! b.kinetic(m * (x.prime().powi(2) + y.prime().powi(2)) / 2);
//! b.potential(m * g * y);
//! let rod = b.constraint("rod", x.powi(2) + y.powi(2), l.powi(2));
//! b.start(x, 2);
//! let model = b.finish()?; // an error shows the line, underlined
//!
//! let motion = model.simulate(0.0..10.0).tolerance(1e-10).every(0.1).run()?;
//! motion.certificate().check()?;
//! for s in motion.samples() {
//!     let pull = -2.0 * 2.0 * s.multiplier(&rod);
//!     assert!((pull + 9.81 * s[&y] / 2.0 * 3.0).abs() < 1e-6);
//! }
//! let between = motion.at(3.21)?; // dense output
//! assert!((between[&x].hypot(between[&y]) - 2.0).abs() < 1e-8);
//!
//! let system = model.compile()?; // for threads to share
//! let mut work = system.work();
//! work.set(l, 0.5)?;
//! assert_eq!(work.accelerations(0.0, &[0.5, 0.0], &[0.0, 0.0])?, [0.0, -9.81]);
//! # Ok(())
//! # }
//! ```
//!
//! Or it is a text, [`parse`]d, or a file, [`open`]ed, and its equations are looked at:
//!
//! ```
//! use dalembert::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let model = dalembert::parse("
//!     param m = 1, g = 9.81, l = 2
//!     coord x, y
//!     kinetic m/2*(x'^2 + y'^2)
//!     potential m*g*y
//!     constraint rod: x^2 + y^2 = l^2
//! ")?;
//! let equations = model.equations()?;
//! // A of A q̈ = b:
//! let row = &equations.jacobian.rows[0];
//! assert_eq!(model.exprs.to_source(row[0].1), "2*x");
//! # Ok(())
//! # }
//! ```
//!
//! ## Features
//!
//! | feature | gives | default |
//! |---|---|---|
//! | `documents` | `export`: text, LaTeX, HTML and JSON, tables and figures; `page`; `checks` | yes |
//! | `analysis` | `analyze` and `lint`: what is true of a system | with `documents` |
//!
//! Without either (`default-features = false`) models are read, built, derived, run and
//! compiled.
//!
//! ## The crates behind it
//!
//! [`expr`] holds expressions, [`model`] the language, [`formulations`] the routes to the
//! normal form, [`gauss`] the problem at one state, [`simulate`] motion. They are internal:
//! their names may change with any version; those of this page, and of [`prelude`], do not.

pub mod book;
#[cfg(feature = "documents")]
pub mod checks;
mod compiled;
mod error;
pub mod failures;
pub mod gallery;
mod input;
mod inputs;
mod key;
mod mechanics;
#[cfg(feature = "documents")]
pub mod page;
pub mod prelude;
pub mod refusals;
mod sample;
mod simulation;
#[cfg(feature = "documents")]
pub mod studies;
#[cfg(feature = "documents")]
pub mod sweep;
#[cfg(feature = "documents")]
mod told;
mod trajectory;
mod values;

#[cfg(feature = "analysis")]
pub use dalembert_analyze as analyze;
pub use dalembert_compile as compile;
pub use dalembert_derive as formulations;
#[cfg(feature = "documents")]
pub use dalembert_export as export;
pub use dalembert_expr as expr;
pub use dalembert_gauss as gauss;
pub use dalembert_model as model;
pub use dalembert_simulate as simulate;

pub use compiled::{Compiled, StateTerms, Work};
pub use dalembert_derive::{Choices, EquationsOfMotion};
pub use dalembert_model::build;
pub use dalembert_model::diagnostic::{Diagnostic, Severity};
pub use dalembert_model::load::Loaded;
pub use dalembert_model::resolve::Limits;
pub use dalembert_model::system::{Model, System};
pub use error::{Error, ErrorKind};
pub use input::{Input, InputError, Options};
pub use inputs::{
    Closure, Interpolation, with_callback, with_derivatives, with_function, with_samples,
};
pub use key::Key;
pub use mechanics::Mechanics;
pub use sample::{Moment, Sample};
pub use simulation::Simulation;
pub use trajectory::{Certified, Event, Trajectory};

/// The model that a text is.
pub fn parse(text: &str) -> Result<Model, Error> {
    whole(load(&Input::text("model", text), &Options::default()))
}

/// The model of a file, or of the gallery (`gallery:NAME`).
pub fn open(place: &str) -> Result<Model, Error> {
    whole(load(&Input::open(place)?, &Options::default()))
}

fn whole(mut loaded: Loaded) -> Result<Model, Error> {
    match loaded.model.take() {
        Some(model) => Ok(model),
        None => Err(loaded.into()),
    }
}

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
        inputs: &options.inputs,
        at: options.at.as_deref(),
        observes: &options.observe,
        parameters: &options.parameters,
        names: Names {
            methods: &methods,
            formulations: &formulations,
            eliminations: &eliminations,
        },
        coordinates: options.coordinates.as_deref(),
    };
    load_with(&input.name, &input.text, input.syntax, &beside, options.limits, Some(&read))
}

/// What is worth knowing of a model that has no faults: warnings and notes beyond
/// those of reading it. Takes some numbers, so it is not part of [`load`].
#[cfg(feature = "analysis")]
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
