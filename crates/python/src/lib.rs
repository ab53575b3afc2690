//! The extension module `dalembert._dalembert`: models, motions and functions for Python.
//!
//! Thin on purpose. What users see is the Python package in `python/dalembert/`; here are only
//! the calls into the library, each of which passes one door (`door.rs`), and their numbers as
//! NumPy arrays. What the library tells as JSON arrives as dictionaries of the same shape
//! (docs/json.md).

mod arrays;
mod door;
mod driven;
mod function;
mod linear;
mod model;
mod motion;
mod names;
mod sweep;
mod value;

use pyo3::prelude::*;

/// Models, motions and functions; use them through `dalembert`.
#[pymodule]
fn _dalembert(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<motion::Motion>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<sweep::Study>()?;
    module.add_function(wrap_pyfunction!(model::diagnose, module)?)?;
    module.add_function(wrap_pyfunction!(names::gallery, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::parts_left, module)?)?;
    module.add_function(wrap_pyfunction!(names::typeset, module)?)?;
    module.add_function(wrap_pyfunction!(names::choices, module)?)?;
    Ok(())
}
