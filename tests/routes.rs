//! Every formulation by every elimination, the literal ones included, against
//! reference values of 17 digits: q̈, the constraint force Qᶜ, the multipliers of
//! least norm, the ranks and the verdict. Where a route has no numbers, the reason
//! must be the one that is expected of it, and it must be said.
//!
//! What the formulations say in their own variables is in `own_variables.rs`.

mod support;

use dalembert::formulations::Choices;
use dalembert::simulate::report::Report;
use dalembert::simulate::{Answer, Evaluation, Refusal, Setting, SolveError, Verdict};
use serde_json::Value;
use support::oracle_model::*;

const TOLERANCE: f64 = 1e-12;

/// Rows that are not affine in the velocities.
const NONLINEAR: &[&str] = &[
    "002-x4-generic-T1-T0-time-nonlinear-nonideal",
    "002-x5-appell-hamel-nonlinear",
    "R-04-random-n3-h1-nh1",
    "R-05-random-n3-h0-nh1",
];
/// States that miss a velocity constraint, or the rate of a position constraint.
const OFF: &[&str] = &[
    "002-x4-generic-T1-T0-time-nonlinear-nonideal",
    "R-01-random-n4-h1-nh1",
    "R-02-random-n3-h1-nh1",
    "R-03-random-n4-h0-nh1",
    "R-04-random-n3-h1-nh1",
    "R-05-random-n3-h0-nh1",
    "R-06-random-n2-h1-nh0",
];
/// Models with a coordinate that can be ignored.
const IGNORABLE: &[&str] = &["002-x1-heavy-top-body-rates", "003-2.6-free-hoop-routh"];

/// What decides where numbers must come from.
struct Facts {
    nonlinear: bool,
    off: bool,
    ignorable: bool,
    /// det M = 0 at the state.
    singular: bool,
    /// det SᵀMS = 0 too, so that Maggi's equations do not help.
    reduced_singular: bool,
    /// The rows are independent.
    independent: bool,
}

impl Facts {
    fn new(oracle: &Value) -> Facts {
        let expected = &oracle["expected"];
        let listed = |list: &[&str]| list.contains(&name(oracle));
        let mass = numbers(&expected["M"]);
        let n = strings(&oracle["model"]["q"]).len();
        let unique = oracle["kind"] == "state";
        Facts {
            nonlinear: listed(NONLINEAR),
            off: listed(OFF),
            ignorable: listed(IGNORABLE),
            singular: !unique || (!mass.is_empty() && rank(mass, n) < n),
            reduced_singular: !unique,
            independent: numbers(&expected["rank_A"]).first().copied().unwrap_or(0.0) as usize
                == numbers(&expected["b"]).len(),
        }
    }

    /// The refusal to be expected of a route; `None` if it must have numbers.
    fn refusal(&self, formulation: &str, elimination: &str) -> Option<&'static str> {
        let inverts = elimination.starts_with("udwadia-kalaba");
        match formulation {
            "hamilton" | "bracket" if self.singular => Some("singular mass"),
            "bracket" if self.nonlinear => Some("formulation"),
            "bracket" if self.off => Some("off constraints"),
            "routh" if !self.ignorable => Some("formulation"),
            "maggi" if inverts && self.reduced_singular => Some("singular metric"),
            "lagrange" | "poincare" | "routh" if inverts && self.singular => {
                Some("singular metric")
            }
            _ => None,
        }
    }
}

fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Formulation(_) => "formulation",
        Refusal::SingularMass { .. } => "singular mass",
        Refusal::Legendre(_) => "legendre",
        Refusal::OffConstraints { .. } => "off constraints",
        Refusal::Undefined => "undefined",
        Refusal::NoTree => "no tree",
        Refusal::Coupled { .. } => "coupled",
        Refusal::Residual(_) => "residual",
        Refusal::NearlyDependent { .. } => "nearly dependent",
        Refusal::Undecided { .. } => "undecided",
        Refusal::Singular { .. } => "singular",
        Refusal::Solve(SolveError::SingularMetric { .. }) => "singular metric",
        Refusal::Solve(_) => "solve",
    }
}

/// Rank by elimination with complete pivoting: a few lines of its own, so that
/// what is expected does not come from what is tested.
fn rank(mut m: Vec<f64>, n: usize) -> usize {
    let first = m.iter().fold(0f64, |a, x| a.max(x.abs()));
    for k in 0..n {
        let places = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
        let largest = |a: &(usize, usize)| m[a.0 * n + a.1].abs();
        let (row, column) =
            places.max_by(|a, b| largest(a).total_cmp(&largest(b))).expect("not empty");
        if largest(&(row, column)) <= 1e-12 * first {
            return k;
        }
        (0..n).for_each(|j| m.swap(k * n + j, row * n + j));
        (0..n).for_each(|i| m.swap(i * n + k, i * n + column));
        for i in k + 1..n {
            let factor = m[i * n + k] / m[k * n + k];
            (0..n).for_each(|j| m[i * n + j] -= factor * m[k * n + j]);
        }
    }
    n
}

/// What an elimination may be off by. The literal ones state the condition number κ
/// of what they invert, and lose up to κ² roundings: (2.14) of Udwadia & Phohomsiri
/// is a least-squares problem with a large residual.
fn allowed(evaluation: &Evaluation) -> f64 {
    let condition = evaluation.outcome.condition.unwrap_or(0.0);
    TOLERANCE.max(1e-15 * condition * condition)
}

/// Compares one cell. The error of q̈ and Qᶜ.
fn compare(oracle: &Value, answer: &Answer, evaluation: &Evaluation) -> f64 {
    let expected = &oracle["expected"];
    let outcome = &evaluation.outcome;
    let place = format!("{}: {} · {}", name(oracle), answer.formulation, answer.elimination);
    assert_eq!(outcome.motion, Verdict::Unique, "{place}");
    let allowed = allowed(evaluation);
    let mut worst = 0f64;
    for (key, found) in [
        ("qdd", &evaluation.accelerations),
        ("Qc", &evaluation.constraint_force),
        ("lambda_min_norm", &outcome.multipliers),
    ] {
        let off = error(found, &numbers(&expected[key]));
        assert!(off <= allowed, "{place}: {key} is off by {off:e}, allowed {allowed:e}");
        worst = worst.max(off);
    }
    if let Some(&rank) = numbers(&expected["rank_A"]).first() {
        assert_eq!(outcome.rank.jacobian, rank as usize, "{place}");
    }
    assert_eq!(outcome.rank.metric_and_jacobian, outcome.rank.coordinates, "{place}");
    assert!(outcome.undetermined.iter().all(|u| !u), "{place}");
    assert!(evaluation.gauss.residual <= allowed, "{place}: {:?}", evaluation.gauss);
    worst
}

/// Every route of a model. Cells with numbers, and the worst error of the
/// eliminations meant for use and of the literal ones.
fn routes(oracle: &Value, text: &str) -> (Report, usize, [f64; 2]) {
    let facts = Facts::new(oracle);
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let state = state(oracle, &setting);
    let report = every_route(&setting, &state, &Choices::default());
    assert_eq!(report.answers.len(), 36);
    let (mut cells, mut worst) = (0, [0f64; 2]);
    for answer in &report.answers {
        let (formulation, elimination) = (answer.formulation, answer.elimination);
        let place = format!("{}: {formulation} · {elimination}", name(oracle));
        let expected = facts.refusal(formulation, elimination);
        match &answer.result {
            Err(refusal) => {
                assert_eq!(Some(kind(refusal)), expected, "{place}: {refusal}");
                assert!(refusal.to_string().len() > 20, "{place}: {refusal}");
            }
            Ok(_) if expected.is_some() => panic!("{place}: numbers, and {expected:?} expected"),
            Ok(evaluation) => {
                cells += 1;
                if oracle["kind"] == "state" {
                    let at = elimination.ends_with("literal") as usize;
                    worst[at] = worst[at].max(compare(oracle, answer, evaluation));
                }
            }
        }
    }
    if !facts.singular && facts.independent {
        assert!(cells >= 20, "{}: only {cells} cells have numbers", name(oracle));
    }
    (report, cells, worst)
}

#[test]
fn every_route_meets_the_reference() {
    let (mut total, mut worst) = (0, [0f64; 2]);
    let oracles: Vec<Value> =
        of_kind("state").into_iter().filter(|o| o["kind"] == "state").collect();
    assert_eq!(oracles.len(), 38);
    for oracle in &oracles {
        let (_, cells, off) = routes(oracle, &model_text(oracle));
        total += cells;
        (0..2).for_each(|i| worst[i] = worst[i].max(off[i]));
    }
    println!("{total} cells, worst {:.1e}, literal {:.1e}", worst[0], worst[1]);
    assert_eq!(total, 992);
}

/// Quasi-velocities are a choice of words: with others, which depend on every
/// coordinate and on time, the motion is the same in every cell.
#[test]
fn other_quasi_velocities_change_nothing() {
    let mut models = 0;
    for oracle in of_kind("state").iter().filter(|o| o["kind"] == "state") {
        if oracle["model"]["G"].is_null() {
            routes(oracle, &format!("{}\n{}", model_text(oracle), generic_speeds(oracle)));
            models += 1;
        }
    }
    assert!(models >= 25, "only {models}");
}

/// A coordinate without mass and without constraint: its acceleration is open, it
/// is named, and what does not depend on it is as unique as ever.
#[test]
fn an_undetermined_acceleration_is_named() {
    let oracle = &of_kind("state_nonunique")[0];
    let expected = &oracle["expected"];
    let (report, cells, _) = routes(oracle, &model_text(oracle));
    assert_eq!(cells, 12, "lagrange, poincare and maggi without the inverse of M");
    assert_eq!(report.agreement.map(|a| a < 1e-14), Some(true));
    for (answer, evaluation) in found(&report) {
        let place = format!("{} · {}", answer.formulation, answer.elimination);
        let outcome = &evaluation.outcome;
        assert_eq!(outcome.motion, Verdict::GaugeFree, "{place}");
        assert_eq!(outcome.undetermined, [false, false, true], "{place}");
        assert_eq!(outcome.null, [[0.0, 0.0, 1.0]], "{place}");
        assert_eq!(outcome.rank.metric_and_jacobian, 2, "{place}");
        for (key, found) in
            [("qdd_min_norm", &evaluation.accelerations), ("Qc", &evaluation.constraint_force)]
        {
            let off = error(found, &numbers(&expected[key]));
            assert!(off <= TOLERANCE, "{place}: {key} is off by {off:e}");
        }
    }
}

/// A state from which no motion is possible is not least-squared away: every route
/// says so, with the direction, the force along it, and the constraint it implies.
#[test]
fn a_hidden_constraint_is_stated() {
    let oracle = &of_kind("state_inconsistent")[0];
    let expected = &oracle["expected"];
    let (_, cells, _) = routes(oracle, &model_text(oracle));
    assert_eq!(cells, 12);
    let model = model(&model_text(oracle));
    let setting = Setting::new(&model).expect("values");
    let report = every_route(&setting, &state(oracle, &setting), &Choices::default());
    assert_eq!(report.agreement, Some(0.0));
    let nu = numbers(&expected["null_vector_unnormalised"]);
    for (answer, evaluation) in found(&report) {
        let place = format!("{} · {}", answer.formulation, answer.elimination);
        let outcome = &evaluation.outcome;
        assert_eq!(outcome.motion, Verdict::HiddenConstraint, "{place}");
        let hidden = outcome.hidden.as_ref().expect("evidence");
        let scale = nu[0] / hidden.direction[0];
        let direction: Vec<f64> = hidden.direction.iter().map(|x| scale * x).collect();
        assert!(error(&direction, &nu) <= TOLERANCE, "{place}: {direction:?}");
        let value = numbers(&expected["nuT_QplusC"]);
        assert!(error(&[scale * hidden.value], &value) <= TOLERANCE, "{place}: {hidden:?}");
        assert!(evaluation.accelerations.is_empty() && evaluation.constraint_force.is_empty());
        assert!(outcome.v_dot.is_empty() && outcome.multipliers.is_empty(), "{place}");
    }
    // χ = k₁ x − k₂ q₂, up to its sign and to x = q1.
    let [implied] = report.implied.as_slice() else { panic!("{:?}", report.implied) };
    for (q, value) in [([0.25, 0.25, 0.5], 2.0), ([1.0, 1.0, 1.0], -16.0), ([3.0, 3.0, 5.0], 0.0)] {
        let at = dalembert::simulate::State {
            t: 0.0,
            q: q.to_vec(),
            velocity: vec![0.7; 3],
            momentum: vec![0.0; 3],
        };
        let chi = setting.number(implied.residual, &at.table(&model.system));
        assert!((chi.abs() - f64::abs(value)).abs() < 1e-12, "{chi} at {q:?}");
    }
}

/// The answers that exist.
fn found(report: &Report) -> impl Iterator<Item = (&Answer, &Evaluation)> {
    report.answers.iter().filter_map(|a| a.result.as_ref().ok().map(|e| (a, e)))
}

/// The bracket lives on the constraints, and says by how much a state misses them.
#[test]
fn the_bracket_says_what_a_state_misses() {
    let oracle = named("R-06-random-n2-h1-nh0");
    let (report, _, _) = routes(&oracle, &model_text(&oracle));
    let words: Vec<String> = report
        .answers
        .iter()
        .filter(|a| a.formulation == "bracket")
        .filter_map(|a| a.result.as_ref().err().map(Refusal::to_string))
        .collect();
    assert_eq!(words.len(), 6);
    assert!(words[0].contains("`row0`") && words[0].contains("lives on the constraints"));
}
