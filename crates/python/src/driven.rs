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
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An input and its function, with derivatives behind it.
#[derive(Clone)]
pub(crate) struct Driven {
    name: String,
    functions: Arc<Vec<Py<PyAny>>>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Driven {
    pub fn new(name: String, functions: Vec<Py<PyAny>>) -> Driven {
        Driven { name, functions: Arc::new(functions), raised: Arc::default() }
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closure(&self, order: usize) -> Closure {
        let own = self.clone();
        Box::new(move |t| {
            Python::attach(|py| {
                let value = own.functions[order].call1(py, (t,));
                value.and_then(|value| value.extract::<f64>(py)).unwrap_or_else(|error| {
                    own.raised().get_or_insert(error);
                    f64::NAN
                })
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

    /// Takes these inputs, in place of what was said of the same ones before.
    pub fn replace(&mut self, texts: Vec<String>, functions: Vec<(String, Vec<Py<PyAny>>)>) {
        let name_of = |text: &str| text.split('=').next().unwrap_or("").trim().to_owned();
        let mut names: Vec<String> = texts.iter().map(|text| name_of(text)).collect();
        names.extend(functions.iter().map(|own| own.0.clone()));
        self.options.inputs.retain(|text| !names.contains(&name_of(text)));
        self.driven.retain(|own| !names.contains(&own.name));
        self.options.inputs.extend(texts);
        self.driven.extend(functions.into_iter().map(|(name, list)| Driven::new(name, list)));
    }

    /// The model with its inputs, as far as they are functions.
    pub fn drive(&self, model: system::Model) -> Result<system::Model, Error> {
        self.driven.iter().try_fold(model, |model, own| {
            let functions = (0..own.functions.len()).map(|order| own.closure(order)).collect();
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
        let functions = |own: &Driven| own.functions.iter().map(|f| f.clone_ref(py)).collect();
        let driven = self.driven.iter().map(|own| (own.name.clone(), functions(own))).collect();
        let Options { set, inputs, .. } = self.options.clone();
        (name, text, syntax == Syntax::Markdown, folder, set, inputs, driven)
    }

    /// What was saved.
    pub fn restored(saved: Saved) -> Recipe {
        let (name, text, markdown, folder, set, inputs, driven) = saved;
        let syntax = if markdown { Syntax::Markdown } else { Syntax::Plain };
        let driven = driven.into_iter().map(|(name, list)| Driven::new(name, list)).collect();
        let options = Options { set, inputs, ..Options::default() };
        Recipe { input: Input { name, text, syntax, folder }, options, driven }
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
