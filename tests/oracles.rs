//! M, Q, A and b against reference values of 17 digits, computed elsewhere in
//! 60-digit arithmetic from hand-written models: every worked example of the
//! papers and random systems.

mod support;

use serde_json::Value;
use support::{error, evaluate, model, model_text, numbers, strings};

const TOLERANCE: f64 = 1e-13;

fn oracles() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("data/oracles.json")).expect("valid JSON");
    file["oracles"].as_array().expect("a list").clone()
}

fn states() -> Vec<Value> {
    oracles()
        .into_iter()
        .filter(|o| o["kind"].as_str().is_some_and(|k| k.starts_with("state")))
        .collect()
}

#[test]
fn every_state_oracle() {
    let mut compared = 0;
    for oracle in states() {
        let name = oracle["name"].as_str().unwrap_or("");
        let text = model_text(&oracle);
        let model = model(&text);
        let equations = dalembert::derive(&model, Some("lagrange")).expect("applies");
        let state = &oracle["state"];
        let (q, v) = (numbers(&state["q"]), numbers(&state["qdot"]));
        let t = numbers(&state["t"])[0];
        let terms = evaluate(&model, &equations, &q, &v, t);
        for (key, found) in
            [("M", &terms.metric), ("Q", &terms.force), ("A", &terms.jacobian), ("b", &terms.bias)]
        {
            let expected = numbers(&oracle["expected"][key]);
            if expected.is_empty() && oracle["expected"][key].is_null() {
                continue;
            }
            let off = error(found, &expected);
            assert!(off <= TOLERANCE, "{name}: {key} is off by {off:e}\n{text}");
            compared += 1;
        }
    }
    assert!(compared >= 140, "only {compared} quantities were compared");
}

/// The same systems by H where the reference has momentum data for a
/// Hamiltonian that can be written down: the relativistic pendulum.
#[test]
fn relativistic_pendulum_by_its_hamiltonian() {
    let oracle = states()
        .into_iter()
        .find(|o| o["name"] == "000-x1-relativistic-spherical-pendulum")
        .expect("it is there");
    let mut text = String::from("coord x, y, z\n");
    for (name, value) in oracle["params"].as_object().expect("parameters") {
        text += &format!("param {name} = {}\n", value.as_str().unwrap_or("0"));
    }
    text += "let p2 = p_x^2 + p_y^2 + p_z^2\nhamiltonian sqrt(m^2*c^4 + c^2*p2) - m*g*z\n";
    text += &format!(
        "constraint rod: {} = 0\n",
        strings(&oracle["model"]["hol"])[0].replace("**", "^")
    );
    let model = model(&text);
    let equations = dalembert::derive(&model, None).expect("applies");
    assert_eq!(equations.formulation, "hamilton");
    let expected = &oracle["expected"];
    let (q, p) = (numbers(&oracle["state"]["q"]), numbers(&expected["p"]));
    let terms = evaluate(&model, &equations, &q, &p, 0.0);
    // One row: ṗ = f + Γ⁻¹Aᵀλ with A ṗ = b, where F = Γ f. The reference ṗ must
    // satisfy both, the second with the reference λ.
    let p_dot = numbers(&expected["pdot"]);
    let lambda = numbers(&expected["lambda_min_norm"])[0];
    let row = |matrix: &[f64], i: usize, x: &[f64]| -> f64 {
        (0..3).map(|j| matrix[3 * i + j] * x[j]).sum()
    };
    let dynamics: Vec<f64> = (0..3).map(|i| row(&terms.metric, i, &p_dot)).collect();
    let expected: Vec<f64> = (0..3).map(|i| terms.force[i] + terms.jacobian[i] * lambda).collect();
    assert!(error(&dynamics, &expected) <= TOLERANCE, "{dynamics:?} {expected:?}");
    assert!(error(&[row(&terms.jacobian, 0, &p_dot)], &terms.bias) <= TOLERANCE);
}

/// A wrong number must be noticed: the comparison itself is tested.
#[test]
fn the_comparison_can_fail() {
    assert!(error(&[1.0, 2.0 + 1e-12], &[1.0, 2.0]) > TOLERANCE);
    assert!(error(&[f64::NAN], &[1.0]) > TOLERANCE);
}
