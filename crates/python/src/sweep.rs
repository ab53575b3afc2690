//! Many cases of a model: on all cores, in memory or in a folder, or a part of a folder at a time
//! for workers of a cluster.

use crate::arrays;
use crate::door::{self, Guard, Trouble};
use crate::value;
use dalembert::Input;
use dalembert::studies::{self, Asked, OpenError, Study as Own};
use dalembert::sweep::Done;
use dalembert::sweep::pool::{self, Crew};
use dalembert::sweep::store::{self, Refused, Store};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait before a part that another has is asked for again.
const PAUSE: Duration = Duration::from_millis(100);

/// Names of columns, a row for each case, and why cases failed.
type Table<'py> = (Vec<String>, Bound<'py, PyArrayDyn<f64>>, Vec<(u64, String)>);

/// The same before it is Python's.
type Rows = (Vec<f64>, Vec<(u64, String)>);

/// A study of a model that is ready to be computed.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub(crate) struct Study {
    own: Own,
}

/// The study of a model.
pub(crate) fn new(input: &Input, set: &[String], asked: &Asked) -> Result<Study, Trouble> {
    // What is said of an option of the program is of an argument here.
    let words = |words: String| words.replace("`--samples N`", "`samples=N`").replace("--", "");
    let plan = asked.plan().map_err(|wrong| Trouble::Argument(words(wrong)))?;
    let loaded = studies::load(input, set, asked, &plan);
    Ok(Study { own: Own::new(loaded, input, set, asked, plan)? })
}

/// The parts of a folder's study that are not finished; others may be at work on them.
#[pyfunction]
pub(crate) fn parts_left(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<u64>> {
    door::enter(py, |_| store::parts_left(&folder).map_err(|refused| told(&folder, refused)))
}

fn threads(asked: Option<usize>) -> usize {
    asked.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1).max(1)
}

#[pymethods]
impl Study {
    /// The study that a folder has.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Study> {
        door::enter(py, |_| match Own::open(&folder) {
            Ok(own) => Ok(Study { own }),
            Err(OpenError::Refused(refused)) => Err(told(&folder, refused)),
            Err(OpenError::Model(error)) => Err(error.into()),
            Err(OpenError::Broken(words)) => {
                Err(Trouble::Argument(format!("`{}`: {words}", folder.display())))
            }
        })
    }

    /// The columns of a case.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.own.columns().to_vec()
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.own.plan.count()).unwrap_or(usize::MAX)
    }

    /// Makes the folder of the study; one that is there already is looked at.
    fn begin(&self, py: Python<'_>, folder: PathBuf, resume: bool) -> PyResult<()> {
        door::enter(py, |_| self.store(&folder, resume).map(drop))
    }

    /// Computes all cases, and gives what came of them.
    #[pyo3(signature = (*, threads = None, progress = None))]
    fn compute<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Table<'py>> {
        let (values, failures) = door::enter_with(py, progress, |guard| self.all(threads, guard))?;
        let columns = self.own.columns().to_vec();
        let width = columns.len();
        let rows = values.len() / width.max(1);
        Ok((columns, arrays::matrix(py, values, rows, width)?, failures))
    }

    /// Computes what is left of the study in a folder, and gives its summary.
    #[pyo3(signature = (folder, *, resume = false, threads = None, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        resume: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter_with(py, progress, |guard| {
            let mut store = self.store(&folder, resume)?;
            self.go_on(&folder, &mut store, self::threads(threads), guard)?;
            let summary = store.summary().map_err(|error| unwritten(&folder, &error))?;
            Ok(summary.to_json())
        })?;
        value::to_python(py, &object)
    }

    /// Computes what is left of one part of the study in a folder, while others may work on other
    /// parts. A part that another has is waited for.
    #[pyo3(signature = (folder, part, *, threads = 1, progress = None))]
    fn work<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        part: u64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter_with(py, progress, |guard| {
            let mut store = loop {
                match Store::open_part(&folder, self.own.form().clone(), part) {
                    Ok(store) => break store,
                    Err(Refused::PartBusy) => {
                        if guard.ask(0.0, 0.0).is_break() {
                            return Err(Trouble::Interrupted);
                        }
                        std::thread::sleep(PAUSE);
                    }
                    Err(refused) => return Err(told(&folder, refused)),
                }
            };
            let (found, _) = store.counts();
            self.go_on(&folder, &mut store, threads.max(1), guard)?;
            let (finished, failed) = store.counts();
            Ok(json!({
                "part": part, "cases": finished, "failed": failed,
                "found": found, "computed": finished - found,
            }))
        })?;
        value::to_python(py, &object)
    }

    /// The summary of what is finished in a folder; with all of it finished, as files too.
    fn summary<'py>(&self, py: Python<'py>, folder: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let object: Value = door::enter(py, |_| {
            let store = self.store(&folder, true)?;
            let summary = store.summary().map_err(|error| unwritten(&folder, &error))?;
            Ok(summary.to_json())
        })?;
        value::to_python(py, &object)
    }
}

impl Study {
    /// The folder, new, or gone on with if there is something to go on with.
    fn store(&self, folder: &Path, resume: bool) -> Result<Store, Trouble> {
        let open = |resume| Store::open(folder, self.own.form().clone(), resume);
        let opened = match open(resume) {
            Err(Refused::Nothing) => open(false),
            other => other,
        };
        opened.map_err(|refused| told(folder, refused))
    }

    fn go_on(
        &self,
        folder: &Path,
        store: &mut Store,
        threads: usize,
        guard: &mut Guard,
    ) -> Result<(), Trouble> {
        let watch = &mut |progress: dalembert::sweep::study::Progress| {
            guard.check(progress.finished as f64, progress.count as f64)
        };
        match self.own.run(store, threads, watch) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Trouble::Interrupted),
            Err(error) => Err(unwritten(folder, &error)),
        }
    }

    fn all(&self, threads: Option<usize>, guard: &mut Guard) -> Result<Rows, Trouble> {
        let Own { plan, cases, .. } = &self.own;
        let (count, varied, width) = (plan.count(), plan.names.len(), self.own.columns().len());
        let size = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
        let mut values = Vec::new();
        if size.is_none_or(|size| values.try_reserve_exact(size).is_err()) {
            let words = format!("{count} cases do not fit into memory; `out=` keeps them in files");
            return Err(Trouble::Argument(words));
        }
        values.resize(size.unwrap_or(0), f64::NAN);
        let mut failures = Vec::new();
        let crew = Crew { threads: self::threads(threads), at_once: cases.at_once() };
        let mut numbers = pool::Numbers::default();
        numbers.add(0..count);
        let work =
            |worker: &mut dalembert::sweep::Worker<'_>, numbers: &[u64]| -> Vec<(Vec<f64>, Done)> {
                let rows: Vec<Vec<f64>> = numbers
                    .iter()
                    .map(|&case| {
                        let mut row = vec![0.0; varied];
                        plan.values(case, &mut row);
                        row
                    })
                    .collect();
                let given: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
                let done = worker.batch(&given);
                rows.into_iter().zip(done).collect()
            };
        let (mut finished, mut end) = (0u64, ControlFlow::Continue(()));
        let take = |case: u64, (given, done): (Vec<f64>, Done)| {
            let place = case as usize * width;
            values[place..place + varied].copy_from_slice(&given);
            let kept = done.row.len().min(width - varied);
            values[place + varied..place + varied + kept].copy_from_slice(&done.row[..kept]);
            if let Some(why) = done.failure {
                failures.push((case, why));
            }
            finished += 1;
            if end.is_continue() {
                end = guard.check(finished as f64, count as f64);
            }
            end
        };
        pool::run(&numbers, crew, || cases.worker(), work, take);
        if end.is_break() {
            return Err(Trouble::Interrupted);
        }
        failures.sort_unstable_by_key(|failure| failure.0);
        Ok((values, failures))
    }
}

fn told(folder: &Path, refused: Refused) -> Trouble {
    let folder = folder.display();
    Trouble::Argument(match refused {
        Refused::Taken => format!(
            "`{folder}` has a study; `resume=True` goes on with it, another folder begins anew"
        ),
        Refused::Other(what) => {
            let what: Vec<String> = what.iter().map(|key| format!("`{key}`")).collect();
            format!("the study in `{folder}` is another one: {} differ", what.join(", "))
        }
        Refused::Nothing => format!("`{folder}` has no study"),
        Refused::Busy => format!("another process works on `{folder}`"),
        Refused::PartBusy => format!("another process works on a part of `{folder}`"),
        Refused::NoPart(part) => format!("the study in `{folder}` has no part {part}"),
        Refused::Io(path, error) => format!("cannot use `{}`: {error}", path.display()),
    })
}

fn unwritten(folder: &Path, error: &std::io::Error) -> Trouble {
    Trouble::Failed(format!("cannot write into `{}`: {error}", folder.display()))
}
