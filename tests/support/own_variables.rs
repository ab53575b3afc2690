//! What each formulation says in its own variables, held against an entry of the
//! file of reference values.

use super::oracle_model::*;
use dalembert::expr::Symbol;
use dalembert::formulations::{ALL, Chart, Choices, EquationsOfMotion, Shape, kernel};
use dalembert::model::system::Energy;
use dalembert::simulate::setting::Table;
use dalembert::simulate::{Evaluation, Numbers, Reference, Setting, State, Verdict};
use dalembert::{Model, derive};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a formulation may be off by.
pub const TOLERANCE: f64 = 1e-12;

/// Compares what is found under keys, counts, and keeps the worst error.
pub struct Ledger<'o> {
    oracle: &'o Value,
    total: &'o mut Total,
}

/// How often each quantity was compared, and the worst error of all.
#[derive(Default)]
pub struct Total {
    pub counts: BTreeMap<String, usize>,
    pub worst: f64,
}

impl<'o> Ledger<'o> {
    /// A ledger that adds to a total.
    pub fn new(oracle: &'o Value, total: &'o mut Total) -> Ledger<'o> {
        Ledger { oracle, total }
    }

    /// A quantity of the file; a quantity that the file does not have is not one.
    fn check(&mut self, place: &str, key: &str, found: &[f64]) {
        let path = format!("/expected/{}", key.replace('.', "/"));
        let Some(expected) = self.oracle.pointer(&path) else { return };
        let expected = numbers(expected);
        let off = error(found, &expected);
        let name = name(self.oracle);
        assert!(off <= TOLERANCE, "{name}: {place}: {key} is off by {off:e}\n{found:?}");
        self.total.worst = self.total.worst.max(off);
        *self.total.counts.entry(key.to_owned()).or_default() += 1;
    }
}

/// The chart of the reference, so that S and p̃ are the same ones.
fn chart(oracle: &Value) -> Option<Chart> {
    let columns = numbers(&oracle["expected"]["bracket"]["dependent_columns"]);
    let columns: Vec<usize> = columns.iter().map(|&c| c as usize).collect();
    (!columns.is_empty()).then(|| Chart { rows: (0..columns.len()).collect(), columns })
}

/// Values for q, v and t of a formulation.
pub fn table(equations: &EquationsOfMotion, numbers: &Numbers, state: &State) -> Table {
    let mut table = Table::default();
    table.set(Symbol::TIME, state.t);
    table.set_all(&equations.q, &state.q);
    table.set_all(&equations.v, &numbers.v);
    equations.levels.iter().for_each(|level| table.set(level.0, 0.0));
    table
}

fn quantity(
    setting: &Setting,
    equations: &EquationsOfMotion,
    letter: &str,
    table: &Table,
) -> Option<Vec<f64>> {
    let shown = equations.intermediate.iter().find(|q| q.text == letter)?;
    Some(match &shown.value {
        Shape::Scalar(e) => setting.numbers(&[*e], table),
        Shape::Vector(list) => setting.numbers(list, table),
        Shape::Matrix(m) => {
            let places = (0..m.rows.len()).flat_map(|i| (0..m.columns).map(move |j| (i, j)));
            setting.numbers(&places.map(|(i, j)| m.get(i, j)).collect::<Vec<_>>(), table)
        }
    })
}

/// Every formulation's own numbers at the state of an entry.
pub fn own_variables(oracle: &Value, model: &Model, total: &mut Total) {
    let mut ledger = Ledger::new(oracle, total);
    let setting = Setting::new(model).expect("values");
    let state = state(oracle, &setting);
    let choices = Choices { chart: chart(oracle), ignored: None };
    let report = every_route(&setting, &state, &choices);
    for formulation in ALL {
        let name = formulation.name();
        let answers = report.answers.iter().filter(|a| a.formulation == name);
        let found: Vec<(&str, &Evaluation)> =
            answers.filter_map(|a| Some((a.elimination, a.result.as_ref().ok()?))).collect();
        if found.is_empty() {
            continue;
        }
        // The chart of the state, where the reference has none.
        let mut choices = choices.clone();
        if choices.chart.is_none() {
            choices.chart = chart_at(&setting, &state);
        }
        let equations = formulation.derive(&model.exprs, &model.system, &choices).expect("applies");
        let numbers = Numbers::new(&setting, &equations, &state).expect("numbers");
        let off = error(&numbers.kinematics, &state.velocity);
        assert!(off <= TOLERANCE, "{name}: q̇ is off by {off:e}");
        let at = table(&equations, &numbers, &state);
        formulation_quantities(&mut ledger, &setting, &equations, &numbers, &at);
        for (elimination, evaluation) in found {
            let place = format!("{name} · {elimination}");
            assert_eq!(evaluation.outcome.motion, Verdict::Unique, "{place}");
            rates(&mut ledger, &place, &numbers, evaluation, name);
            energy(&mut ledger, &place, &setting, &state, evaluation);
        }
    }
}

fn chart_at(setting: &Setting, state: &State) -> Option<Chart> {
    let lagrange = derive(&setting.model, Some("lagrange")).expect("applies");
    let tolerances = Default::default();
    let reference = Reference::new(setting, &lagrange.into(), state, &tolerances);
    reference.ok()?.chart(setting)
}

/// What does not depend on the elimination.
fn formulation_quantities(
    ledger: &mut Ledger,
    setting: &Setting,
    equations: &EquationsOfMotion,
    numbers: &Numbers,
    at: &Table,
) {
    let name = equations.formulation;
    let n = equations.q.len();
    let letter = |letter: &str| match equations.auxiliary {
        // Velocities behind momenta that no formula gives are not in the table.
        Some(_) => None,
        None => quantity(setting, equations, letter, at),
    };
    let form: &[(&str, &[f64])] = match name {
        "lagrange" => &[
            ("M", &numbers.metric),
            ("Q", &numbers.force),
            ("A", &numbers.jacobian),
            ("b", &numbers.bias),
        ],
        "poincare" if !setting.model.system.speeds.is_empty() => &[
            ("s", &numbers.v),
            ("S", &numbers.force),
            ("M_s", &numbers.metric),
            ("A_s", &numbers.jacobian),
            ("b_s", &numbers.bias),
        ],
        "hamilton" => &[("p", &numbers.v), ("A_p", &numbers.jacobian), ("b_p", &numbers.bias)],
        "bracket" => &[("bracket.p_tilde1", &numbers.v)],
        // v = (q̇_n, β).
        "routh" => &[("beta_p_phi", &numbers.v[n - 1..])],
        _ => &[],
    };
    for (key, found) in form {
        ledger.check(name, key, found);
    }
    for (symbol, key) in [("S", "bracket.S"), ("H_r", "bracket.H_r"), ("H", "H"), ("R", "R")] {
        if let Some(found) = letter(symbol) {
            ledger.check(name, key, &found);
        }
    }
    if let Some(j_r) = letter("J_r") {
        let free = numbers.size;
        let size = n + free;
        let corner = (n..size).flat_map(|i| (n..size).map(move |j| i * size + j));
        let b: Vec<f64> = corner.map(|at| j_r[at]).collect();
        ledger.check(name, "bracket.minus_pT_SiSj", &b);
        for i in 0..size {
            for j in 0..size {
                assert_eq!(j_r[i * size + j], -j_r[j * size + i], "J_r is not skew");
            }
        }
    }
}

/// v̇, and the constraint force in the formulation's own variables.
fn rates(
    ledger: &mut Ledger,
    place: &str,
    numbers: &Numbers,
    evaluation: &Evaluation,
    formulation: &str,
) {
    let v_dot = &evaluation.outcome.v_dot;
    let key = match formulation {
        "lagrange" => "qdd",
        "poincare" if evaluation.rates.iter().any(|r| r.starts_with("s1")) => "sdot",
        "hamilton" => "pdot",
        "bracket" => "bracket.p_tilde1_dot",
        _ => return,
    };
    ledger.check(place, key, v_dot);
    if key == "sdot" {
        // F_sᶜ = M_s ṡ − F_s, which must be A_sᵀλ + C_s.
        let n = numbers.size;
        let mut by_motion: Vec<f64> = numbers.force.iter().map(|f| -f).collect();
        let mut by_multipliers = numbers.nonideal.clone();
        for i in 0..n {
            by_motion[i] += (0..n).map(|j| numbers.metric[i * n + j] * v_dot[j]).sum::<f64>();
            for (j, l) in evaluation.outcome.multipliers.iter().enumerate() {
                by_multipliers[i] += numbers.jacobian[j * n + i] * l;
            }
        }
        ledger.check(place, "Sc", &by_motion);
        ledger.check(place, "Sc", &by_multipliers);
    }
}

/// E = q̇·L_q̇ − L and dE/dt = −L_t + q̇·(Q′ + Qᶜ).
fn energy(
    ledger: &mut Ledger,
    place: &str,
    setting: &Setting,
    state: &State,
    evaluation: &Evaluation,
) {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let at = state.table(system);
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let (e, by_time) = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => {
            let by_time = exprs.derivative(*lagrangian, Symbol::TIME);
            let l = setting.number(*lagrangian, &at);
            (dot(&state.momentum, &state.velocity) - l, -setting.number(by_time, &at))
        }
        Energy::Hamiltonian { hamiltonian, .. } => {
            let by_time = exprs.derivative(*hamiltonian, Symbol::TIME);
            (setting.number(*hamiltonian, &at), setting.number(by_time, &at))
        }
    };
    ledger.check(place, "energy_E", &[e]);
    let impressed = kernel::total(exprs, system.n_coordinates(), &system.forces);
    let power = dot(&setting.numbers(&impressed, &at), &state.velocity)
        + dot(&evaluation.constraint_force, &state.velocity);
    ledger.check(place, "dEdt", &[by_time + power]);
}
