//! What `dal eval` says of motions that are not unique or do not exist, and how
//! `--complete` helps.

mod support;

use serde_json::{Value, json};
use support::{PENDULUM, close, json, keys, text};

#[test]
fn a_massless_direction_hides_a_constraint() {
    let (status, value) = json(&["gallery:two-masses", "--set", "m1=0"], "");
    assert_eq!(status, 0, "the answer is that there is no acceleration");
    let result = &value["results"][0];
    assert_eq!((&result["status"], &result["motion"]), (&json!("ok"), &json!("hidden-constraint")));
    for key in ["rates", "accelerations", "constraint_force", "multipliers", "gauss"] {
        assert_eq!(result[key], Value::Null, "{key}");
    }
    assert_eq!(result["undetermined"], json!(["x", "q1", "q2"]));
    assert_eq!(result["hidden"]["constraints"], json!(["k1*x - k2*q2 = 0"]));
    assert!(close(&result["hidden"]["value"], 2.0), "{result}");
    assert_eq!(result["null_directions"].as_array().map(Vec::len), Some(1));
    assert_eq!(value["implied"][0]["level"], "position");
    let (_, page, _) = text(&["gallery:two-masses", "--set", "m1=0"], "");
    assert!(page.contains("no acceleration exists") && page.contains("`--complete`"), "{page}");
}

#[test]
fn completion_appends_what_is_implied() {
    // A start that contradicts what the model then implies is told so.
    let held = ["gallery:two-masses", "--set", "m1=0,q2=0.5", "--complete"];
    let (status, value) = json(&held, "");
    assert_eq!((status, &value["diagnostics"][0]["code"]), (1, &json!("contradictory-start")));
    let hints = value["diagnostics"][0]["hints"].to_string();
    assert!(hints.contains("k1*x - k2*q2 = 0"), "{hints}");
    // At a state that agrees with it, asked for or as the start, there is a motion.
    let first = "m1=0,x=0.375,q1=0.375,q2=0.625";
    let at = "x=0.375, q1=0.375, q2=0.625";
    for arguments in [
        &["gallery:two-masses", "--complete", "--set", first][..],
        &["gallery:two-masses", "--complete", "--set", "m1=0", "--at", at],
    ] {
        let (status, value) = json(arguments, "");
        assert_eq!(status, 0, "{value}");
        let result = &value["results"][0];
        assert_eq!(result["motion"], "unique");
        for (name, expected) in [("x", -2.25), ("q1", -2.25), ("q2", -3.75)] {
            assert!(close(&result["accelerations"][name], expected), "{result}");
        }
        assert!(close(&result["multipliers"]["glue"], 15.0), "{result}");
        assert!(close(&result["multipliers"]["hidden[1]"], 0.0), "{result}");
        assert_eq!(value["added"][0]["constraint"], "k1*x - k2*q2 = 0");
        assert_eq!(value["added"][0]["name"], "hidden[1]");
        assert_eq!(value["implied"], json!([]));
    }
    // Off it too: the rows are taken as they are.
    let off =
        ["gallery:two-masses", "--complete", "--set", "m1=0", "--at", "x=0.25,q1=0.25,q2=0.5"];
    let (status, value) = json(&off, "");
    assert_eq!(status, 0);
    assert!(close(&value["results"][0]["multipliers"]["hidden[1]"], -0.03125), "{value}");
    assert_eq!(value["residuals"]["hidden[1]"]["position"], -2.0);
    // The second mass: k₂ q₂ = 0.
    let second = ["gallery:two-masses", "--complete", "--set", "m2=0,q2=0"];
    let (status, value) = json(&second, "");
    assert_eq!(status, 0);
    assert!(close(&value["results"][0]["accelerations"]["x"], -20.0 / 3.0), "{value}");
    assert_eq!(value["added"].as_array().map(Vec::len), Some(1));
    // Nothing to complete.
    let (status, value) = json(&["-", "--complete"], PENDULUM);
    assert_eq!((status, &value["added"]), (0, &json!([])));
}

#[test]
fn an_acceleration_that_nothing_determines() {
    let all = ["--formulation", "all", "--elimination", "all"];
    let (status, value) = json(&[&["gallery:singular-wheel-and-particle"], &all[..]].concat(), "");
    assert_eq!(status, 0);
    let mut numeric = 0;
    for result in value["results"].as_array().expect("a list") {
        if result["status"] != "ok" {
            let words = result["status"].as_str().expect("words");
            assert!(words.len() > 20, "{words}");
            continue;
        }
        numeric += 1;
        assert_eq!(result["motion"], "gauge-free");
        assert_eq!(result["undetermined"], json!(["x"]));
        assert_eq!(result["accelerations"]["x"], 0.0);
        assert_eq!(result["null_directions"], json!([{"theta": 0.0, "y": 0.0, "x": 1.0}]));
        assert!(close(&result["constraint_force"]["y"], -19.625), "{result}");
    }
    assert_eq!(numeric, 9);
    let (_, page, _) = text(&["gallery:singular-wheel-and-particle"], "");
    assert!(page.contains("nothing determines the acceleration of x"), "{page}");
}

#[test]
fn constraints_that_contradict_each_other_here() {
    let model = "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x' + y = 0\n\
        constraint b: x' + 2*y = 0\n";
    let (status, value) = json(&["-", "--at", "x=0, y=1, y'=3"], model);
    assert_eq!(status, 0);
    let result = &value["results"][0];
    assert_eq!(result["motion"], "inconsistent");
    assert_eq!(result["accelerations"], Value::Null);
    assert_eq!(keys(&result["conflict"]["weights"]), ["a", "b"]);
    assert_eq!(value["implied"][0]["level"], "position");
    // They agree where y = 0 stays.
    let (status, value) = json(&["-", "--complete"], model);
    assert_eq!(status, 0);
    assert_eq!(value["results"][0]["motion"], "unique", "{value}");
}

#[test]
fn multipliers_of_dependent_rows_are_not_determined() {
    let model = PENDULUM.replace("start", "constraint twice: 3*x^2 + 3*y^2 = 3*l^2\nstart");
    let (status, value) = json(&["-"], &model);
    assert_eq!(status, 0);
    let result = &value["results"][0];
    assert_eq!(result["indeterminate"], json!(["rod", "twice"]));
    assert_eq!(result["rank"]["jacobian"], 1);
    // Of least norm: λ ∝ (1, 3).
    let lambda = 9.81 * -1.6 / 8.0;
    assert!(close(&result["multipliers"]["rod"], lambda / 10.0), "{result}");
    assert!(close(&result["multipliers"]["twice"], 3.0 * lambda / 10.0), "{result}");
}
