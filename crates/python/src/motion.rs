//! A motion: its columns, states between samples, what the run tells of itself.

use crate::door::{self, Trouble};
use crate::{arrays, value};
use dalembert::Trajectory;
use dalembert::export::RunPage;
use dalembert::formulations::Variables;
use dalembert::model::system::Energy;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// A motion that was run.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub(crate) struct Motion {
    pub trajectory: Trajectory,
}

#[pymethods]
impl Motion {
    /// The names of its columns, in the order of a table.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        door::brief(py, || Ok(self.columns()))
    }

    /// A quantity at all samples.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let column = door::brief(py, || Ok(self.trajectory.column(name)?))?;
        Ok(PyArray1::from_vec(py, column))
    }

    /// Positions, then states, then velocities, at all samples: a row for each.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let system = &self.trajectory.model().system;
        let rows = 2 * system.n_coordinates() + system.states.len();
        let count = self.trajectory.samples().len();
        let values = door::enter(py, |_| {
            let mut values = vec![0.0; rows * count];
            for (k, sample) in self.trajectory.samples().enumerate() {
                let state = &sample.observation().state;
                for (i, &x) in state.q.iter().chain(&state.velocity).enumerate() {
                    values[i * count + k] = x;
                }
            }
            Ok(values)
        })?;
        arrays::matrix(py, values, rows, count)
    }

    /// The same at any times of the motion, from the integrator's own polynomials.
    fn at<'py>(
        &self,
        py: Python<'py>,
        times: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let times: Vec<f64> = arrays::numbers(times)?.to_vec()?;
        let system = &self.trajectory.model().system;
        let (rows, count) = (2 * system.n_coordinates() + system.states.len(), times.len());
        let values = door::enter(py, |guard| {
            let mut values = vec![0.0; rows * count];
            for (k, &t) in times.iter().enumerate() {
                let moment = self.trajectory.at(t)?;
                let state = moment.state();
                for (i, &x) in state.q.iter().chain(&state.velocity).enumerate() {
                    values[i * count + k] = x;
                }
                if k % 1024 == 1023 && guard.check(k as f64, count as f64).is_break() {
                    return Err(Trouble::Interrupted);
                }
            }
            Ok(values)
        })?;
        arrays::matrix(py, values, rows, count)
    }

    /// What the run tells of itself, as `dal run --json` does; beside it, `bounds` of the
    /// certificate and the `text` for people.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter(py, |_| {
            let (model, report) = (self.trajectory.model(), self.trajectory.report());
            let page = RunPage { model, report, files: &[] };
            let mut object = page.to_json();
            let bounds: Vec<Value> = self
                .trajectory
                .certificate()
                .lines()
                .into_iter()
                .map(|line| {
                    let holds = line.holds();
                    json!({"name": line.name, "value": line.value, "bound": line.bound, "holds": holds})
                })
                .collect();
            object["bounds"] = Value::Array(bounds);
            object["text"] = json!(page.to_text());
            object["end_words"] = json!(dalembert::export::end_words(&report.end, model));
            Ok(object)
        })?;
        value::to_python(py, &object)
    }

    /// The page of the motion, as one HTML file; the name and the text are the model's.
    fn page(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
        door::enter(py, |_| Ok(self.trajectory.page(name, text, "simulate")))
    }

    /// The number of samples.
    fn __len__(&self) -> usize {
        self.trajectory.samples().len()
    }

    /// How many evaluations of the rates it took.
    #[getter]
    fn evaluations(&self) -> u64 {
        self.trajectory.report().evaluations
    }

    /// Raises if the certificate does not hold.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        door::enter(py, |_| Ok(self.trajectory.certificate().check()?))
    }
}

impl Motion {
    fn columns(&self) -> Vec<String> {
        let model = self.trajectory.model();
        let (exprs, system) = (&model.exprs, &model.system);
        let name = |symbol| exprs.symbol_info(symbol).full_name();
        let mut names = vec!["t".to_owned()];
        names.extend(system.configuration().into_iter().map(name));
        names.extend(system.velocities().into_iter().map(name));
        let holds_momenta = self.trajectory.report().variables == Variables::Momenta;
        if holds_momenta || matches!(system.energy, Energy::Hamiltonian { .. }) {
            names.extend(system.momenta().into_iter().map(name));
        }
        names.extend(system.observes.iter().map(|o| o.name.clone()));
        names.extend(system.accelerations().into_iter().map(name));
        names.extend(system.coordinates.iter().map(|c| format!("reaction({})", c.name)));
        names.extend(system.constraints.iter().map(|c| format!("multiplier({})", c.name)));
        names.push("energy".to_owned());
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }
}
