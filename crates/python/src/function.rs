//! Terms of the equations as functions of time and state, for other solvers.
//!
//! One state is a call of about a microsecond: arrays of doubles are read where they are, and
//! the answer is written into `out` if that is given. Many states, as columns, are one call too,
//! during which other threads of Python run. Arrays of JAX and PyTorch go a way of their own
//! (`dalembert._foreign`), which comes back here with NumPy's.

use crate::arrays;
use crate::door::{self, Guard, Trouble};
use crate::driven::Recipe;
use crate::value::Saved;
use dalembert::{Compiled, Error, Work};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::sync::{Mutex, PoisonError};

/// Which term.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Acceleration,
    Mass,
    Force,
    Nonideal,
    Jacobian,
    Bias,
}

impl Kind {
    pub const ALL: [(&'static str, Kind); 6] = [
        ("acceleration", Kind::Acceleration),
        ("mass", Kind::Mass),
        ("force", Kind::Force),
        ("nonideal", Kind::Nonideal),
        ("jacobian", Kind::Jacobian),
        ("bias", Kind::Bias),
    ];

    pub fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind)
    }

    /// The axes of its value, for n coordinates and m constraint rows.
    fn axes(self, n: usize, m: usize) -> Vec<usize> {
        match self {
            Kind::Acceleration | Kind::Force | Kind::Nonideal => vec![n],
            Kind::Mass => vec![n, n],
            Kind::Jacobian => vec![m, n],
            Kind::Bias => vec![m],
        }
    }

    /// Its value at x, positions and states up to `places`; `joined` are the rates of x.
    fn value<'w>(
        self,
        work: &'w mut Work,
        t: f64,
        (x, places): (&[f64], usize),
        joined: bool,
    ) -> Result<&'w [f64], Error> {
        let (q, velocity) = x.split_at(places);
        if joined {
            return work.rates(t, q, velocity);
        }
        if self == Kind::Acceleration {
            return work.accelerations(t, q, velocity);
        }
        let terms = work.terms(t, q, velocity)?;
        Ok(match self {
            Kind::Mass => &terms.mass,
            Kind::Force => &terms.force,
            Kind::Nonideal => &terms.nonideal,
            Kind::Jacobian => &terms.jacobian,
            Kind::Bias | Kind::Acceleration => &terms.bias,
        })
    }
}

/// Places to evaluate in that nobody uses now.
struct Idle {
    compiled: Compiled,
    parameters: Vec<(String, f64)>,
    list: Mutex<Vec<Box<Room>>>,
}

/// A place to evaluate in, with a state.
struct Room {
    work: Work,
    x: Vec<f64>,
}

impl Idle {
    fn take(&self) -> Result<Box<Room>, Error> {
        let idle = self.list.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(room) = idle {
            return Ok(room);
        }
        let mut work = self.compiled.work();
        for (name, value) in &self.parameters {
            work.set(name, *value)?;
        }
        let n = self.compiled.coordinates().len();
        Ok(Box::new(Room { work, x: vec![0.0; 2 * n + self.compiled.states().len()] }))
    }

    fn give(&self, room: Box<Room>) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push(room);
    }
}

/// A term of the equations as a function: `f(t, q, v)`, or `f(t, y)` with y = (q, v).
#[pyclass(frozen, weakref, module = "dalembert._dalembert")]
pub(crate) struct Function {
    kind: Kind,
    n: usize,
    /// Positions and states.
    places: usize,
    axes: Vec<usize>,
    idle: Idle,
    /// What the model is read from, for other processes.
    recipe: Recipe,
}

impl Function {
    pub fn new(
        kind: Kind,
        compiled: Compiled,
        parameters: Vec<(String, f64)>,
        recipe: Recipe,
    ) -> Result<Function, Trouble> {
        let (n, m) = (compiled.coordinates().len(), compiled.constraints().len());
        if compiled.has_phases() && matches!(kind, Kind::Jacobian | Kind::Bias) {
            return Err(Trouble::Argument(
                "contacts and friction have other rows in each phase, so that these are no function \
                 of one shape; `evaluate` gives them at a state"
                    .to_owned(),
            ));
        }
        let places = n + compiled.states().len();
        let idle = Idle { compiled, parameters, list: Mutex::new(Vec::new()) };
        // A parameter that is not there is said now, not at the first state.
        let room = idle.take()?;
        idle.give(room);
        Ok(Function { kind, n, places, axes: kind.axes(n, m), idle, recipe })
    }

    /// One value; `takes` has it while the place is there.
    fn one<T>(
        &self,
        t: f64,
        given: &[&[f64]],
        joined: bool,
        takes: impl FnOnce(&[f64]) -> T,
    ) -> Result<T, Trouble> {
        let mut room = self.idle.take()?;
        let mut at = 0;
        for list in given {
            room.x[at..at + list.len()].copy_from_slice(list);
            at += list.len();
        }
        let Room { work, x } = &mut *room;
        let taken = match self.kind.value(work, t, (x, self.places), joined) {
            Ok(value) => Ok(takes(value)),
            Err(error) => Err(error.into()),
        };
        self.idle.give(room);
        taken
    }

    /// The values of states that are columns, as columns.
    fn many(&self, job: &Job, guard: &mut Guard) -> Result<Vec<f64>, Trouble> {
        let mut room = self.idle.take()?;
        let rows = self.rows(job.joined);
        let mut values = vec![0.0; rows * job.count];
        for k in 0..job.count {
            let Room { work, x } = &mut *room;
            for (i, x) in x.iter_mut().enumerate() {
                *x = job.x[i * job.count + k];
            }
            let t = if job.t.len() == 1 { job.t[0] } else { job.t[k] };
            let value = self.kind.value(work, t, (x, self.places), job.joined)?;
            for (i, &y) in value.iter().enumerate() {
                values[i * job.count + k] = y;
            }
            if k % 256 == 255 && guard.check(k as f64, job.count as f64).is_break() {
                return Err(Trouble::Interrupted);
            }
        }
        self.idle.give(room);
        Ok(values)
    }

    fn rows(&self, joined: bool) -> usize {
        self.axes.iter().product::<usize>() + if joined { self.places } else { 0 }
    }
}

/// States that are columns.
struct Job {
    t: Vec<f64>,
    /// (q, v), a row for each.
    x: Vec<f64>,
    count: usize,
    /// Whether the answer are the rates of y.
    joined: bool,
}

#[pymethods]
impl Function {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.recipe.traverse(&visit)
    }

    /// The value at a state, or at states that are columns. The accelerations of `y = (q, v)`
    /// are the rates of y, as other solvers want them.
    #[pyo3(signature = (t, q, v = None, *, out = None))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        t: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
        v: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if is_foreign(q)? || v.map_or(Ok(false), is_foreign)? || is_foreign(t)? {
            let call = py.import("dalembert._foreign")?.getattr("call")?;
            return call.call1((slf, t, q, v, out));
        }
        let out = match out {
            None => None,
            Some(out) => match out.cast::<PyArrayDyn<f64>>() {
                Ok(array) => Some(array),
                Err(_) => {
                    let words = "`out` must be a NumPy array of doubles".to_owned();
                    return door::brief(py, || Err(Trouble::Argument(words)));
                }
            },
        };
        let own = slf.get();
        Ok(own.recipe.told(own.call(py, t, q, v, out))?.into_any())
    }

    /// What it is the term of, as `System.function` names it.
    #[getter]
    fn name(&self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name)
    }

    /// The shape of its value at one state.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.axes.clone()
    }

    fn __repr__(&self) -> String {
        let n = self.n;
        format!("<dalembert.Function {} of t, q, v: {n} coordinates>", self.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Restored<'py>> {
        let restore = py.import("dalembert._system")?.getattr("_restored_function")?;
        Ok((restore, (self.recipe.saved(py), self.name(), self.idle.parameters.clone())))
    }

    /// How many coordinates there are.
    #[getter]
    fn size(&self) -> usize {
        self.n
    }

    /// How many positions and states there are: what q has.
    #[getter]
    fn places(&self) -> usize {
        self.places
    }
}

/// How a function is made again: by what, of what.
type Restored<'py> = (Bound<'py, PyAny>, (Saved, &'static str, Vec<(String, f64)>));

/// Whether a value belongs to a library whose arrays have to be traced, or brought from a device.
fn is_foreign(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if given.is_exact_instance_of::<PyFloat>() || given.cast::<PyArrayDyn<f64>>().is_ok() {
        return Ok(false);
    }
    let module = given.get_type().module()?;
    let root = module.to_str()?.split('.').next();
    Ok(matches!(root, Some("jax" | "jaxlib" | "torch")))
}

impl Function {
    fn call<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
        v: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyArrayDyn<f64>>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let q = arrays::numbers(q)?;
        let v = v.map(arrays::numbers).transpose()?;
        let joined = v.is_none() && self.kind == Kind::Acceleration;
        let (places, expected) = (self.places, self.n + self.places);
        let shape = q.shape();
        let count = match (shape, &v) {
            ([rows], None) if *rows == expected => None,
            ([rows], Some(v)) if *rows == places && v.shape() == [self.n] => None,
            ([rows, count], None) if *rows == expected => Some(*count),
            ([rows, count], Some(v)) if *rows == places && v.shape() == [self.n, *count] => {
                Some(*count)
            }
            _ => {
                return door::brief(py, || {
                    Err(self.misshapen(shape, v.as_ref().map(|v| v.shape())))
                });
            }
        };
        if let Some(out) = out {
            self.fits(py, out, joined, count)?;
        }
        let Some(count) = count else {
            let t: f64 = match t.extract() {
                Ok(t) => t,
                Err(_) => {
                    let words = format!("the time of one state is a number, not {}", t.repr()?);
                    return door::brief(py, || Err(Trouble::Argument(words)));
                }
            };
            let held = (q.try_readonly()?, v.as_ref().map(|v| v.try_readonly()).transpose()?);
            let (q, v) = (held.0.as_slice()?, held.1.as_ref().map(|v| v.as_slice()).transpose()?);
            let given = [q, v.unwrap_or(&[])];
            if let Some(out) = out {
                let mut room = self.writable(py, out)?;
                let place = room.as_slice_mut()?;
                door::brief(py, || {
                    self.one(t, &given, joined, |value| place.copy_from_slice(value))
                })?;
                return Ok(out.clone());
            }
            let value = door::brief(py, || self.one(t, &given, joined, <[f64]>::to_vec))?;
            return self.shaped(value, py, joined, None);
        };
        let t: Vec<f64> = match t.extract::<f64>() {
            Ok(t) => vec![t],
            Err(_) => arrays::numbers(t)?.to_vec()?,
        };
        if t.len() != 1 && t.len() != count {
            let words = format!("there are {count} states and {} times", t.len());
            return door::brief(py, || Err(Trouble::Argument(words)));
        }
        let mut x: Vec<f64> = q.to_vec()?;
        if let Some(v) = &v {
            x.extend(v.to_vec()?);
        }
        let job = Job { t, x, count, joined };
        let values = door::enter(py, |guard| self.many(&job, guard))?;
        match out {
            Some(out) => {
                self.writable(py, out)?.as_slice_mut()?.copy_from_slice(&values);
                Ok(out.clone())
            }
            None => self.shaped(values, py, joined, Some(count)),
        }
    }

    /// A place to write to, unless it is read from, or not to be written to.
    fn writable<'py>(
        &self,
        py: Python<'py>,
        out: &Bound<'py, PyArrayDyn<f64>>,
    ) -> PyResult<numpy::PyReadwriteArrayDyn<'py, f64>> {
        match out.try_readwrite() {
            Ok(room) => Ok(room),
            Err(_) => {
                let words = "`out` is not writable, or shares memory with the state".to_owned();
                door::brief(py, || Err(Trouble::Argument(words)))
            }
        }
    }

    fn shape_of(&self, joined: bool, count: Option<usize>) -> Vec<usize> {
        let mut shape = if joined { vec![self.n + self.places] } else { self.axes.clone() };
        shape.extend(count);
        shape
    }

    fn shaped<'py>(
        &self,
        values: Vec<f64>,
        py: Python<'py>,
        joined: bool,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let flat = PyArray1::from_vec(py, values);
        match &self.shape_of(joined, count)[..] {
            [_] => Ok(flat.to_dyn().clone()),
            shape => flat.reshape(shape.to_vec()),
        }
    }

    fn fits(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyArrayDyn<f64>>,
        joined: bool,
        count: Option<usize>,
    ) -> PyResult<()> {
        let (found, has_one) = (out.shape(), count.is_none() && self.axes.len() == 1);
        let fits = match has_one {
            true => found == [self.rows(joined)],
            false => found == self.shape_of(joined, count),
        };
        if fits && arrays::is_plain(out) {
            return Ok(());
        }
        let right = self.shape_of(joined, count);
        let words = match fits && out.is_c_contiguous() {
            true => "`out` is not aligned".to_owned(),
            false => format!("`out` must have shape {right:?}, in C order, and has {found:?}"),
        };
        door::brief(py, || Err(Trouble::Argument(words)))
    }

    fn misshapen(&self, q: &[usize], v: Option<&[usize]>) -> Trouble {
        let (n, places) = (self.n, self.places);
        Trouble::Argument(match v {
            Some(v) if n == places => format!(
                "q and v must have shape ({n},), or ({n}, k) for k states, and have {q:?} and {v:?}"
            ),
            Some(v) => format!(
                "q, with states behind the positions, must have shape ({places},) and v ({n},), or \
                 k columns of that, and they have {q:?} and {v:?}"
            ),
            None => {
                let (y, rows) = (if n == places { "(q, v)" } else { "(q, z, v)" }, n + places);
                format!(
                    "y = {y} must have shape ({rows},), or ({rows}, k) for k states, and has {q:?}"
                )
            }
        })
    }
}
