//! The numbers behind an evaluation, as JSON: Lagrange's M, Q, C, A and b at the
//! state, and what the model observes.

use crate::evaluation::EvaluationPage;
use crate::values::number;
use dalembert_derive::Variables;
use dalembert_simulate::normal_form::Solved;
use dalembert_simulate::{Evaluation, Setting, Table};
use serde_json::{Map, Value, json};

/// Matrices of more columns are given by their entries.
const DENSE: usize = 400;

impl EvaluationPage<'_> {
    /// M, Q, C, A and b of M q̈ = Q + C + Aᵀλ, A q̈ = b.
    pub(crate) fn terms(&self) -> Value {
        let terms = self.report.reference.terms();
        let (n, m) = (terms.n, terms.m);
        let numbers = |list: &[f64]| list.iter().map(|&x| number(x)).collect::<Vec<_>>();
        let metric: Vec<Vec<(usize, f64)>> =
            (0..n).map(|i| terms.metric_row(i).collect()).collect();
        let rows: Vec<Vec<(usize, f64)>> =
            (0..m).map(|j| terms.jacobian_row(j).collect()).collect();
        json!({
            "M": matrix(&metric, n), "Q": numbers(terms.force), "C": numbers(terms.nonideal),
            "A": matrix(&rows, n), "b": numbers(terms.bias),
        })
    }

    /// What the model observes, by name: with the solution of the first result, so
    /// that accelerations and multipliers in it have values.
    pub(crate) fn observables(&self) -> Value {
        let system = &self.model.system;
        let setting = match &self.report.phase {
            Some(here) => here.setting.clone(),
            None => match Setting::new(self.model) {
                Ok(setting) => setting,
                Err(_) => return json!({}),
            },
        };
        let mut table = self.report.state.table(system);
        let solved = self.report.answers.iter().find_map(|answer| {
            let evaluation = answer.result.as_ref().ok()?;
            evaluation.outcome.motion.exists().then_some(evaluation)
        });
        if let Some(evaluation) = solved {
            self.fill_solution(evaluation, &mut table);
        }
        let values = system.observes.iter().map(|observe| {
            let value = setting.number(observe.value, &table);
            (observe.name.clone(), number(value))
        });
        Value::Object(values.collect::<Map<_, _>>())
    }

    fn fill_solution(&self, evaluation: &Evaluation, table: &mut Table) {
        let system = &self.model.system;
        table.set_all(&system.accelerations(), &evaluation.accelerations);
        if evaluation.variables == Variables::Momenta {
            table.set_all(&system.momentum_rates(), &evaluation.outcome.v_dot);
        }
        let jacobian = self.report.reference.rows();
        let solved = Solved {
            multipliers: &evaluation.outcome.multipliers,
            indeterminate: &evaluation.outcome.indeterminate,
            constraint_force: &evaluation.constraint_force,
            jacobian: &jacobian,
        };
        solved.fill(system, table);
    }
}

/// Row by row; a large one by its entries, as in `dal derive --format json`.
fn matrix(rows: &[Vec<(usize, f64)>], columns: usize) -> Value {
    if columns <= DENSE {
        let dense = rows.iter().map(|row| {
            let mut line = vec![json!(0.0); columns];
            row.iter().for_each(|&(j, x)| line[j] = number(x));
            line
        });
        return json!(dense.collect::<Vec<_>>());
    }
    let entries = rows.iter().enumerate();
    let entries: Vec<Value> = entries
        .flat_map(|(i, row)| row.iter().map(move |&(j, x)| json!([i, j, number(x)])))
        .collect();
    json!({"rows": rows.len(), "columns": columns, "entries": entries})
}
