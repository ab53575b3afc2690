//! Many cases of a model, on all cores.

use crate::arrays;
use crate::door::{Guard, Trouble};
use crate::names::formulation;
use dalembert::simulate::Setting;
use dalembert::simulate::run::RunOptions;
use dalembert::sweep::plan::{Asked as Sampled, Plan};
use dalembert::sweep::pool::{self, Crew};
use dalembert::sweep::{Cases, Done, Kept, axes};
use dalembert::{Input, Options};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// Cases that a thread moves abreast, at most.
const LANES: usize = 8;

/// What was asked for.
pub(crate) struct Asked {
    pub names: Vec<String>,
    /// The cases, row after row, where nothing is said to vary.
    pub values: Vec<f64>,
    pub vary: Option<String>,
    pub sampling: Option<String>,
    pub samples: Option<u64>,
    pub seed: u64,
    pub observe: Vec<String>,
    pub end_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub method: Option<String>,
    pub formulation: Option<String>,
    pub threads: Option<usize>,
}

/// Names of columns, a row for each case, and why cases failed.
pub(crate) type Table<'py> = (Vec<String>, Bound<'py, PyArrayDyn<f64>>, Vec<(u64, String)>);

/// What came of all cases.
pub(crate) struct Study {
    columns: Vec<String>,
    /// A row for each case.
    values: Vec<f64>,
    failures: Vec<(u64, String)>,
}

impl Study {
    pub fn into_python(self, py: Python<'_>) -> PyResult<Table<'_>> {
        let width = self.columns.len();
        let rows = self.values.len() / width.max(1);
        Ok((self.columns, arrays::matrix(py, self.values, rows, width)?, self.failures))
    }
}

fn plan(asked: &Asked) -> Result<Plan, Trouble> {
    let Some(text) = &asked.vary else {
        return Ok(Plan::of_table(asked.names.clone(), asked.values.clone()));
    };
    let axes = axes::parse(text, &|number| dalembert::sweep::constant(number))
        .map_err(|wrong| Trouble::Argument(wrong.to_string()))?;
    let sampled =
        Sampled { sampling: asked.sampling.as_deref(), samples: asked.samples, seed: asked.seed };
    // What it says of an option of the program is an argument here.
    let words = |words: String| words.replace("`--samples N`", "`samples=N`").replace("--", "");
    Plan::new(axes, &sampled).map_err(|wrong| Trouble::Argument(words(wrong)))
}

/// Runs all cases.
pub(crate) fn run(
    input: &Input,
    options: &Options,
    asked: &Asked,
    guard: &mut Guard,
) -> Result<Study, Trouble> {
    let plan = plan(asked)?;
    let count = plan.count();
    let mut first = vec![0.0; plan.names.len()];
    if count > 0 {
        plan.values(0, &mut first);
    }
    let options = Options { observe: asked.observe.clone(), ..options.clone() };
    let mut loaded = dalembert::sweep::load(input, &options, &plan.names, &first);
    let model = match loaded.model.take() {
        Some(model)
            if loaded.diagnostics.iter().all(|d| d.severity != dalembert::Severity::Fault) =>
        {
            model
        }
        _ => return Err(dalembert::Error::from(loaded).into()),
    };
    let chosen = asked.formulation.as_deref().map(formulation).transpose()?;
    let change = |setting: &Setting, run: &mut RunOptions| {
        run.end = asked.end_time.unwrap_or(run.end);
        run.tolerance = asked.tolerance.unwrap_or(run.tolerance);
        if let Some(method) = &asked.method {
            run.method.clone_from(method);
        }
        run.formulation = chosen.unwrap_or(run.formulation);
        // Nothing but the end is seen.
        run.every = Some((run.end.abs() + setting.duration()).max(f64::MIN_POSITIVE));
    };
    let kept = Kept { observe: &asked.observe, tables: false, lanes: LANES };
    let cases = Cases::new((&model, &loaded.file), input, &plan.names, change, &kept)?;
    let mut columns = cases.varied(&plan.names);
    let varied = columns.len();
    columns.extend(cases.columns());
    let width = columns.len();
    let mut study = Study { columns, values: Vec::new(), failures: Vec::new() };
    study.values.resize(width * usize::try_from(count).unwrap_or(0), f64::NAN);
    let threads =
        asked.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into));
    let crew = Crew { threads: threads.unwrap_or(1), at_once: cases.at_once() };
    let all: Vec<u64> = (0..count).collect();
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
    pool::run(
        &all,
        crew,
        || cases.worker(),
        work,
        |case, (given, done)| {
            let place = case as usize * width;
            study.values[place..place + varied].copy_from_slice(&given);
            let kept = done.row.len().min(width - varied);
            study.values[place + varied..place + varied + kept].copy_from_slice(&done.row[..kept]);
            if let Some(why) = done.failure {
                study.failures.push((case, why));
            }
            finished += 1;
            if end.is_continue() {
                end = guard.check(finished as f64, count as f64);
            }
            end
        },
    );
    if end.is_break() {
        return Err(Trouble::Interrupted);
    }
    study.failures.sort_unstable_by_key(|failure| failure.0);
    Ok(study)
}
