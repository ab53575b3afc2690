//! JSON as Python's own objects, and models as what they are read from.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::path::PathBuf;

/// All that a model is read from: name, text, whether that is Markdown, folder, overrides, inputs
/// as texts, and those that are functions of Python.
pub(crate) type Saved = (
    String,
    String,
    bool,
    Option<PathBuf>,
    Vec<String>,
    Vec<String>,
    Vec<(String, Vec<Py<PyAny>>)>,
);

/// Objects become dictionaries, arrays lists.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (_, Some(whole)) => whole.into_bound_py_any(py),
            _ => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(list) => {
            let items: Vec<Bound<'py, PyAny>> =
                list.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (name, item) in map {
                dict.set_item(name, to_python(py, item)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
