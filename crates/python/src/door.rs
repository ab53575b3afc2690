//! The one door: every call into the library passes here.
//!
//! [`enter`] gives up the interpreter's lock while the library works, so that other threads of
//! Python run; turns what went wrong into one of the exceptions of `dalembert.errors`, with the
//! text that points at the line of the model; and lets no panic through, which would be our own
//! fault and is said to be. Long work asks its [`Guard`] now and then: it looks whether Ctrl-C
//! was pressed, and ends the work if so. Work on expressions asks by itself, wherever it is
//! (`dalembert::expr::interrupt`). [`brief`] is the same for calls of microseconds, which
//! are not worth giving up the lock.

use crate::value;
use dalembert::export::diagnostics;
use dalembert::expr::interrupt::{Ask, interruptible};
use dalembert::{Error, ErrorKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often Python is asked. Asking takes its lock, which others may hold for a while.
const INTERVAL: Duration = Duration::from_millis(50);

/// Why a call gave nothing.
pub(crate) enum Trouble {
    /// What the library says.
    Told(Error),
    /// Numbers that could not be had, in words.
    Failed(String),
    /// An argument that cannot be taken, in words.
    Argument(String),
    /// The guard has the exception.
    Interrupted,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Told(error)
    }
}

/// Looks for Ctrl-C while the lock is given up, and tells a listener how far the work is.
pub(crate) struct Guard {
    asked: Instant,
    listener: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Guard {
    /// Whether to go on; looked at no more often than every [`INTERVAL`].
    pub fn check(&mut self, done: f64, of: f64) -> ControlFlow<()> {
        if self.raised.is_some() {
            return ControlFlow::Break(());
        }
        if self.asked.elapsed() < INTERVAL {
            return ControlFlow::Continue(());
        }
        self.ask(done, of)
    }

    /// The same at once, for work that says seldom where it is.
    pub fn ask(&mut self, done: f64, of: f64) -> ControlFlow<()> {
        let Guard { listener, raised, .. } = self;
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match listener {
                Some(listener) => listener.call1(py, (done, of)).map(drop),
                None => Ok(()),
            }
        });
        *raised = asked.err();
        self.asked = Instant::now();
        if self.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Passes the door for work that may take a while.
pub(crate) fn enter<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut Guard) -> Result<T, Trouble> + Send,
) -> PyResult<T> {
    enter_with(py, None, work)
}

/// The same with somebody who is told how far the work is: `listener(done, of)`.
pub(crate) fn enter_with<T: Send>(
    py: Python<'_>,
    listener: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Guard) -> Result<T, Trouble> + Send,
) -> PyResult<T> {
    let mut guard = Guard { asked: Instant::now(), listener, raised: None };
    let held = &mut guard;
    let (done, raised) = py.detach(|| {
        let raised = Rc::new(RefCell::new(None));
        let ask = signals(&raised);
        let done = catch_unwind(AssertUnwindSafe(|| interruptible(ask, || work(held))));
        (done, raised.take())
    });
    match guard.raised.or(raised) {
        Some(raised) => Err(raised),
        None => leave(py, done),
    }
}

/// Looks for Ctrl-C, no more often than every [`INTERVAL`], and keeps what it raises.
fn signals(raised: &Rc<RefCell<Option<PyErr>>>) -> Ask {
    let (asked, raised) = (Cell::new(Instant::now()), Rc::clone(raised));
    Rc::new(move || {
        if asked.get().elapsed() < INTERVAL {
            return ControlFlow::Continue(());
        }
        let found = Python::attach(|py| py.check_signals());
        asked.set(Instant::now());
        match found {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised.replace(Some(error));
                ControlFlow::Break(())
            }
        }
    })
}

/// Passes the door for a call of microseconds: the lock is kept.
pub(crate) fn brief<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, Trouble>) -> PyResult<T> {
    leave(py, catch_unwind(AssertUnwindSafe(work)))
}

fn leave<T>(py: Python<'_>, done: Result<Result<T, Trouble>, Box<dyn Any + Send>>) -> PyResult<T> {
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(trouble)) => Err(raise(py, trouble)),
        Err(panic) => Err(raise_internal(py, panic.as_ref())),
    }
}

fn raise(py: Python<'_>, trouble: Trouble) -> PyErr {
    match trouble {
        Trouble::Told(error) => raise_error(py, &error),
        Trouble::Failed(words) => exception(py, "failed", &format!("error: {words}"), &[], None),
        Trouble::Argument(words) => {
            exception(py, "argument", &format!("error: {words}"), &[], None)
        }
        Trouble::Interrupted => PyRuntimeError::new_err("the work was ended"),
    }
}

fn raise_error(py: Python<'_>, error: &Error) -> PyErr {
    let mut fields: Vec<(&str, Value)> = Vec::new();
    let kind = match error.kind() {
        ErrorKind::Input(input) => {
            fields.push(("code", json!(input.code.name())));
            "input"
        }
        ErrorKind::Model => "model",
        ErrorKind::MissingValues(missing) => {
            let names: Vec<&str> = missing.0.iter().map(|name| name.trim_matches('`')).collect();
            fields.push(("names", json!(names)));
            "missing"
        }
        ErrorKind::Start(_) => "start",
        ErrorKind::NotBegun(_) | ErrorKind::Failed(_) => "failed",
        ErrorKind::NoMotion(_) | ErrorKind::Struck { .. } => "no motion",
        ErrorKind::Certificate(failed) => {
            fields.push(("failed", json!(failed)));
            "certificate"
        }
        ErrorKind::Unknown { name, known, .. } => {
            fields.extend([("name", json!(name)), ("known", json!(known))]);
            "unknown"
        }
        _ => "argument",
    };
    let told = diagnostics::to_json(error.diagnostics(), error.sources());
    exception(py, kind, &error.to_string(), &fields, Some(&told))
}

fn raise_internal(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let words = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(words), _) => words,
        (_, Some(words)) => words.as_str(),
        _ => "no words",
    };
    let text = format!(
        "this is a fault of dalembert, not of your model: {words}\nplease report it, with the \
         model and the call"
    );
    exception(py, "internal", &text, &[], None)
}

/// The exception of a kind, made by `dalembert.errors`, which has the classes.
fn exception(
    py: Python<'_>,
    kind: &str,
    text: &str,
    fields: &[(&str, Value)],
    diagnostics: Option<&Value>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let fields: Map<String, Value> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let own = PyDict::new(py);
        own.set_item("fields", value::to_python(py, &Value::Object(fields))?)?;
        let none = json!([]);
        own.set_item("diagnostics", value::to_python(py, diagnostics.unwrap_or(&none))?)?;
        let make = py.import("dalembert.errors")?.getattr("_made")?;
        Ok(PyErr::from_value(make.call((kind, text), Some(&own))?))
    };
    made().unwrap_or_else(|error| error)
}
