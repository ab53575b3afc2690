//! Numbers that come from Python: NumPy arrays as they are, all else made into one.

use crate::value;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

/// Numbers in C order. No copy is made of an array of doubles that is so already; all else is looked
/// at by `dalembert._numbers`, which says what is none.
pub(crate) fn numbers<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    // A subclass may have a mask.
    if given.is_exact_instance_of::<PyUntypedArray>()
        && let Ok(array) = given.cast::<PyArrayDyn<f64>>()
        && is_plain(array)
    {
        return Ok(array.clone());
    }
    static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let maker = MAKER.import(given.py(), "dalembert._numbers", "laid_out")?;
    Ok(maker.call1((given,))?.cast_into::<PyArrayDyn<f64>>()?)
}

/// Whether an array is a slice of doubles.
pub(crate) fn is_plain(array: &Bound<'_, PyArrayDyn<f64>>) -> bool {
    array.is_c_contiguous() && array.data().is_aligned()
}

/// A matrix, row by row, as an array of two axes.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let flat = numpy::PyArray1::from_vec(py, values);
    Ok(flat.reshape([rows, columns])?.to_dyn().clone())
}

/// Vectors and matrices of the equations, by their letters. What is not a number is NaN; a matrix
/// without rows has the columns of M.
pub(crate) fn of_terms<'py>(
    py: Python<'py>,
    terms: &Map<String, Value>,
) -> PyResult<Bound<'py, PyDict>> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let width = terms.get("M").and_then(Value::as_array).map_or(0, Vec::len);
    let arrays = PyDict::new(py);
    for (letter, value) in terms {
        let Some(list) = value.as_array() else {
            // A large matrix, written by its entries.
            arrays.set_item(letter, value::to_python(py, value)?)?;
            continue;
        };
        if letter == "M" || letter == "A" {
            let rows = list.iter().filter_map(Value::as_array);
            let values: Vec<f64> = rows.flatten().map(number).collect();
            arrays.set_item(letter, matrix(py, values, list.len(), width)?)?;
        } else {
            let values: Vec<f64> = list.iter().map(number).collect();
            arrays.set_item(letter, numpy::PyArray1::from_vec(py, values))?;
        }
    }
    Ok(arrays)
}
