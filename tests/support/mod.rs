//! Shared by the black-box tests.
#![allow(dead_code)]

use dalembert::expr::{ExprId, Jacobian, Symbol};
use dalembert::simulate::program::observer::Solved;
use dalembert::simulate::{Evaluation, Report, Setting, State};
use dalembert::{EquationsOfMotion, Input, Loaded, Model, Options};

pub mod motion;
pub mod oracle_model;
pub mod own_variables;
// Each test file uses a part of this module.
#[allow(unused_imports)]
pub use oracle_model::{error, model, model_text, numbers, strings};

/// As many of n random cases as `DALEMBERT_SHARE` says, in percent; all without it. Never
/// fewer than a hundred, and a multiple of `block`, over which kinds of case repeat.
pub fn share(n: usize, block: usize) -> usize {
    let percent = std::env::var("DALEMBERT_SHARE").ok().and_then(|text| text.parse().ok());
    let wanted = (n * percent.unwrap_or(100usize).min(100) / 100).max(100).min(n);
    wanted.next_multiple_of(block).min(n)
}

/// Loads a text, faulty or not.
pub fn load(text: &str) -> Loaded {
    dalembert::load(&Input::text("model.dal", text), &Options::default())
}

/// What the user would see.
pub fn render(loaded: &Loaded) -> String {
    dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false)
}

/// What a model observes at a state, with an answer there.
pub fn observed(
    setting: &Setting,
    state: &State,
    evaluation: &Evaluation,
    report: &Report,
) -> Vec<f64> {
    let system = &setting.model.system;
    let mut table = state.table(system);
    table.set_all(&system.accelerations(), &evaluation.accelerations);
    let solved = Solved {
        multipliers: &evaluation.outcome.multipliers,
        indeterminate: &evaluation.outcome.indeterminate,
        constraint_force: &evaluation.constraint_force,
        jacobian: &report.reference.rows(),
    };
    solved.fill(system, &mut table);
    let values: Vec<ExprId> = system.observes.iter().map(|o| o.value).collect();
    setting.numbers(&values, &table)
}

/// M, Q, A and b as numbers at a state (q, q̇ or p, t), row by row.
pub struct Terms {
    pub metric: Vec<f64>,
    pub force: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub bias: Vec<f64>,
}

/// Numbers for expressions of a model at a state.
pub fn values(
    model: &Model,
    equations: &EquationsOfMotion,
    roots: &[ExprId],
    q: &[f64],
    v: &[f64],
    t: f64,
) -> Vec<f64> {
    let parameters = dalembert::model::parameters::values(&model.exprs, &model.system.parameters);
    model.exprs.eval_f64(roots, |symbol| {
        if symbol == Symbol::TIME {
            return t;
        }
        let place = |list: &[Symbol]| list.iter().position(|&s| s == symbol);
        match (place(&equations.q), place(&equations.v)) {
            (Some(i), _) => q[i],
            (_, Some(i)) => v[i],
            _ => parameters.get(&symbol).copied().unwrap_or(f64::NAN),
        }
    })
}

/// Evaluates the normal form.
pub fn evaluate(
    model: &Model,
    equations: &EquationsOfMotion,
    q: &[f64],
    v: &[f64],
    t: f64,
) -> Terms {
    let values = |roots: &[ExprId]| values(model, equations, roots, q, v, t);
    let dense = |matrix: &Jacobian| {
        let places = (0..matrix.rows.len()).flat_map(|i| (0..matrix.columns).map(move |j| (i, j)));
        values(&places.map(|(i, j)| matrix.get(i, j)).collect::<Vec<_>>())
    };
    Terms {
        metric: dense(&equations.metric),
        force: values(&equations.force),
        jacobian: dense(&equations.jacobian),
        bias: values(&equations.bias),
    }
}
