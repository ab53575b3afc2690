//! Documents as a user meets them: closed forms and parts on request, the report, and
//! the numbers behind an evaluation.

mod support;

use serde_json::json;
use support::{PENDULUM, dal};

fn out(arguments: &[&str]) -> String {
    let output = dal(arguments, PENDULUM);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn equations_are_printed_one_for_each_unknown() {
    let plain = out(&["derive", "-"]);
    assert!(plain.contains("m·ẍ = 2·x·λ\n".replace('ẍ', "x\u{308}").as_str()), "{plain}");
    assert!(!plain.contains("solved"), "{plain}");
    let solved = out(&["derive", "-", "--solved"]);
    // On the constraint x² + y² is l².
    assert!(solved.contains("/l²") && !solved.contains("/(x² + y²)"), "{solved}");
}

#[test]
fn parts_of_the_force_are_told_on_request() {
    let parts = out(&["derive", "-", "--parts"]);
    assert!(parts.contains("Q, potential\n  Q₂: −m·g\n"), "{parts}");
    let value: serde_json::Value =
        serde_json::from_str(&out(&["derive", "-", "--parts", "--solved", "--format", "json"]))
            .expect("JSON");
    assert_eq!(value["parts"], json!({"potential": ["0", "-m*g"]}));
    assert_eq!(value["equations"][0], json!({"left": "m*x''", "right": "2*x*lambda"}));
    assert!(value["solved"]["rates"]["x''"].is_string(), "{}", value["solved"]);
}

#[test]
fn what_is_long_is_given_with_a_reason() {
    let arguments = ["derive", "gallery:whipple-bicycle", "--solved", "--format", "json"];
    let value: serde_json::Value = serde_json::from_str(&out(&arguments)).expect("JSON");
    assert!(value["solved"]["not_told"].is_string(), "{}", value["solved"]);
}

#[test]
fn a_report_has_equations_analysis_motion_and_certificate() {
    let html = out(&["report", "-", "--t-end", "1", "--solved"]);
    for part in ["<math", "id=\"analysis\"", "<svg", "verdict: pass", "Solved, on the constraints"]
    {
        assert!(html.contains(part), "{part}");
    }
    let wrong = dal(&["report", "-", "--tol", "3"], PENDULUM);
    assert_eq!(wrong.status.code(), Some(2));
    let faulty = dal(&["report", "-"], "coord x; kinetic y'^2");
    assert_eq!(faulty.status.code(), Some(1));
}

#[test]
fn an_evaluation_has_its_terms_and_what_is_observed() {
    let model = "system Pendulum\nparam m = 2, g = 10, l = 2\ncoord x, y\n\
        kinetic m/2*(x'^2 + y'^2)\npotential m*g*y\nconstraint rod: x^2 + y^2 = l^2\n\
        start x = 2, y ~ 0\nobserve pull = multiplier(rod), x'', height = y + 1\n";
    let output = dal(&["eval", "-", "--json"], model);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let terms = &value["terms"];
    assert_eq!(terms["M"], json!([[2.0, 0.0], [0.0, 2.0]]));
    assert_eq!(terms["Q"], json!([0.0, -20.0]));
    assert_eq!(terms["C"], json!([0.0, 0.0]));
    assert_eq!(terms["A"], json!([[4.0, 0.0]]));
    assert_eq!(terms["b"][0].as_f64().map(f64::abs), Some(0.0));
    let seen = &value["observables"];
    assert_eq!(seen["height"], 1.0, "{seen}");
    assert_eq!(seen["pull"], value["results"][0]["multipliers"]["rod"]);
}
