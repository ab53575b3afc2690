//! Inputs that are functions of Python, and all that a model is read from.
//!
//! A function is called with the time, from whatever thread a run is on, and takes the lock of the
//! interpreter for that. What it raises is kept: there is no value then, and if the call into the
//! library comes to nothing by it, that is what is raised there.

use crate::door::Trouble;
use crate::value::Saved;
use dalembert::model::load::Syntax;
use dalembert::model::system;
use dalembert::{Closure, Error, Input, Options};
use pyo3::exceptions::PyException;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A function and its derivatives, and what they raised.
struct Called {
    functions: Vec<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

/// What keeps functions, where Python's collector of garbage can see it: a function may refer to the
/// very system that it drives. Models and their terms refer to this object, and expressions, which
/// know nothing of Python, only as long as one of them does.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub(crate) struct Functions {
    called: Arc<Called>,
}

#[pymethods]
impl Functions {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.called.functions.iter().try_for_each(|function| visit.call(function))
    }
}

/// An input and its function, with derivatives behind it.
pub(crate) struct Driven {
    name: String,
    kept: Py<Functions>,
}

impl Clone for Driven {
    fn clone(&self) -> Driven {
        let kept = Python::attach(|py| self.kept.clone_ref(py));
        Driven { name: self.name.clone(), kept }
    }
}

impl Driven {
    /// Fails where Python has no memory left.
    pub fn new(name: String, functions: Vec<Py<PyAny>>) -> PyResult<Driven> {
        let called = Arc::new(Called { functions, raised: Mutex::default() });
        let kept = Python::attach(|py| Py::new(py, Functions { called }))?;
        Ok(Driven { name, kept })
    }

    fn called(&self) -> &Arc<Called> {
        &self.kept.get().called
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.called().raised()
    }

    fn closure(&self, order: usize) -> Closure {
        let own = Arc::downgrade(self.called());
        Box::new(move |t| own.upgrade().map_or(f64::NAN, |own| own.call(order, t)))
    }
}

impl Called {
    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self, order: usize, t: f64) -> f64 {
        Python::attach(|py| {
            let value = self.functions[order].call1(py, (t,));
            value.and_then(|value| value.extract::<f64>(py)).unwrap_or_else(|error| {
                self.raised().get_or_insert(error);
                f64::NAN
            })
        })
    }
}

/// All that a model is read from.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub input: Input,
    pub options: Options,
    pub driven: Vec<Driven>,
}

impl Recipe {
    pub fn new(input: Input) -> Recipe {
        Recipe { input, options: Options::default(), driven: Vec::new() }
    }

    /// What of it Python's collector of garbage has to see.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.driven.iter().try_for_each(|own| visit.call(&own.kept))
    }

    /// Takes these inputs, in place of what was said of the same ones before.
    pub fn replace(
        &mut self,
        texts: Vec<String>,
        functions: Vec<(String, Vec<Py<PyAny>>)>,
    ) -> PyResult<()> {
        let name_of = |text: &str| text.split('=').next().unwrap_or("").trim().to_owned();
        let mut names: Vec<String> = texts.iter().map(|text| name_of(text)).collect();
        names.extend(functions.iter().map(|own| own.0.clone()));
        self.options.inputs.retain(|text| !names.contains(&name_of(text)));
        self.driven.retain(|own| !names.contains(&own.name));
        self.options.inputs.extend(texts);
        for (name, list) in functions {
            self.driven.push(Driven::new(name, list)?);
        }
        Ok(())
    }

    /// The model with its inputs, as far as they are functions.
    pub fn drive(&self, model: system::Model) -> Result<system::Model, Error> {
        self.driven.iter().try_fold(model, |model, own| {
            let count = own.called().functions.len();
            let functions = (0..count).map(|order| own.closure(order)).collect();
            dalembert::with_derivatives(&model, &own.name, functions)
        })
    }

    /// Whether a function was ended by what ends all else: Ctrl-C say.
    pub fn is_ended(&self) -> bool {
        let ends = |own: &Driven| match &*own.raised() {
            Some(error) => Python::attach(|py| !error.is_instance_of::<PyException>(py)),
            None => false,
        };
        self.driven.iter().any(ends)
    }

    /// What came of a call; where that is nothing, what a function raised in it comes first.
    pub fn told<T>(&self, done: PyResult<T>) -> PyResult<T> {
        if self.driven.is_empty() {
            return done;
        }
        let is_ended = self.is_ended();
        let raised = self.driven.iter().filter_map(|own| own.raised().take()).next();
        match raised {
            Some(error) if done.is_err() || is_ended => Err(error),
            _ => done,
        }
    }

    /// It as Python keeps it.
    pub fn saved(&self, py: Python<'_>) -> Saved {
        let Input { name, text, syntax, folder } = self.input.clone();
        let functions =
            |own: &Driven| own.called().functions.iter().map(|f| f.clone_ref(py)).collect();
        let driven = self.driven.iter().map(|own| (own.name.clone(), functions(own))).collect();
        let Options { set, inputs, .. } = self.options.clone();
        (name, text, syntax == Syntax::Markdown, folder, set, inputs, driven)
    }

    /// What was saved.
    pub fn restored(saved: Saved) -> PyResult<Recipe> {
        let (name, text, markdown, folder, set, inputs, driven) = saved;
        let syntax = if markdown { Syntax::Markdown } else { Syntax::Plain };
        let driven = driven
            .into_iter()
            .map(|(name, list)| Driven::new(name, list))
            .collect::<PyResult<_>>()?;
        let options = Options { set, inputs, ..Options::default() };
        Ok(Recipe { input: Input { name, text, syntax, folder }, options, driven })
    }

    /// A study is computed from its text alone, by whoever reads it.
    pub fn without_functions(&self) -> Result<(), Trouble> {
        match self.driven.first() {
            None => Ok(()),
            Some(own) => Err(Trouble::Argument(format!(
                "input `{}` is a function of Python, which a study cannot keep: give it as a \
                 formula, or as samples (times, values)",
                own.name
            ))),
        }
    }
}
