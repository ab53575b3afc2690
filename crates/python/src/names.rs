//! Names that can be chosen from.

use crate::door::{self, Trouble};
use dalembert::formulations::Formulation;
use dalembert::simulate::run::method;
use pyo3::prelude::*;

/// The names and headings of the built-in examples.
#[pyfunction]
pub(crate) fn gallery(py: Python<'_>) -> PyResult<Vec<(&'static str, &'static str)>> {
    let pages = || dalembert::gallery::pages().map(|page| (page.name, page.title())).collect();
    door::brief(py, || Ok(pages()))
}

/// The names that can be chosen from: methods, formulations, eliminations.
#[pyfunction]
pub(crate) fn choices() -> (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>) {
    let formulations = dalembert::formulations::ALL.iter().map(|f| f.name()).collect();
    let eliminations = dalembert::gauss::EVERY.iter().map(|e| e.name()).collect();
    (method::names().collect(), formulations, eliminations)
}

/// The formulation of a name.
pub(crate) fn formulation(name: &str) -> Result<&'static dyn Formulation, Trouble> {
    dalembert::formulations::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = dalembert::formulations::ALL.iter().map(|f| f.name()).collect();
        let known = known.join(", ");
        Trouble::Argument(format!("no formulation is called `{name}`; there are {known}"))
    })
}

/// An expression of the language in LaTeX; `names` are those that it is made of.
#[pyfunction]
pub(crate) fn typeset(py: Python<'_>, text: &str, names: Vec<String>) -> PyResult<String> {
    door::enter(py, |_| {
        // As an output of a model that has no more than these names.
        let coordinates = format!("coord {}", names.join(", "));
        let energy = names.first().map_or(String::new(), |name| format!("kinetic {name}'^2/2"));
        let model =
            dalembert::parse(&format!("{coordinates}\n{energy}\nobserve shown = {text}\n"))?;
        let shown = model.system.observes.first().map(|output| output.value);
        Ok(shown.map_or(String::new(), |id| model.exprs.to_latex(id)))
    })
}
