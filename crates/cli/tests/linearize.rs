//! `dal linearize` as a user meets it: the shape of its JSON, its text, and how it ends.

mod support;

use serde_json::{Value, json};
use support::{PENDULUM, close, dal, keys};

fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    let output = dal(&[&["linearize"], arguments].concat(), input);
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), utf8(output.stdout), utf8(output.stderr))
}

fn object(arguments: &[&str], input: &str) -> (i32, Value) {
    let (status, out, says) = run(&[arguments, &["--json"]].concat(), input);
    assert_eq!(out.lines().count(), 1, "one object on one line: {out}\n{says}");
    (status, serde_json::from_str(&out).expect("JSON"))
}

#[test]
fn the_shape_of_the_object() {
    let (status, value) = object(&["-"], PENDULUM);
    assert_eq!(status, 0);
    assert_eq!(value["format"], 1);
    assert_eq!(value["system"], "Pendulum");
    assert_eq!(value["kind"], "equilibrium");
    assert_eq!(keys(&value["state"]), ["x", "y", "x'", "y'"]);
    assert_eq!(keys(&value["multipliers"]), ["rod"]);
    assert_eq!(value["dimension"], 2);
    assert_eq!(value["zeros"], json!({"total": 0, "by_symmetry": 0, "others": [], "family": 0}));
    let pairs = value["eigenvalues"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 2);
    let matrices = &value["matrices"];
    assert_eq!(matrices["names"].as_array().map(Vec::len), Some(2));
    for (name, rows, columns) in
        [("state", 2, 2), ("mass", 1, 1), ("damping", 1, 1), ("stiffness", 1, 1)]
    {
        let matrix = matrices[name].as_array().expect(name);
        assert_eq!((matrix.len(), matrix[0].as_array().map(Vec::len)), (rows, Some(columns)));
    }
    for key in ["stability", "reason", "modes", "symmetries", "motion", "moved", "released"] {
        assert!(!value[key].is_null(), "{key}");
    }
}

#[test]
fn a_hanging_pendulum_is_stable_and_an_upright_one_is_not() {
    let omega = (9.81f64 / 2.0).sqrt();
    let (status, value) = object(&["-", "--at", "x=0.1, y=-2"], PENDULUM);
    assert_eq!((status, &value["stability"]), (0, &json!("stable")));
    assert!(close(&value["state"]["y"], -2.0));
    assert!(close(&value["modes"][0]["value"][1], omega));
    assert!(close(&value["modes"][0]["value"][0], 0.0));
    assert!(close(&value["modes"][0]["frequency"], omega / std::f64::consts::TAU));
    let (status, value) = object(&["-", "--at", "x=0.1, y=2"], PENDULUM);
    assert_eq!((status, &value["stability"]), (0, &json!("unstable")));
    assert!(close(&value["modes"][0]["value"][0], omega));
    assert!(close(&value["modes"][0]["time_constant"], 1.0 / omega));
    assert_eq!(value["modes"][0]["shape"]["x"], json!([1.0, 0.0]));
}

#[test]
fn the_text_names_the_user_s_coordinates() {
    let (status, out, _) = run(&["gallery:knife-edge", "--at", "x'=1.5"], "");
    assert_eq!(status, 0);
    for words in [
        "steady motion, the state asked for",
        "it moves by itself: x at 1.5",
        "asymptotically stable: every mode decays",
        "turning (x, y) with phi",
        "4 of the 5 eigenvalues on the constraints are zero",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    assert!(out.contains("-1 "), "{out}");
}

#[test]
fn failures_are_said_in_words() {
    let fall = "coord x, z; kinetic (x'^2 + z'^2)/2; potential 5*z; start x' = 1";
    let (status, out, says) = run(&["-"], fall);
    assert_eq!((status, out.as_str()), (3, ""));
    assert!(
        says.contains("neither an equilibrium nor a steady motion") && says.contains("-5 on `z`"),
        "{says}"
    );
    let (status, value) = object(&["-"], fall);
    assert_eq!(status, 3);
    assert!(value["error"].as_str().is_some_and(|e| e.contains("`z`")), "{value}");
    let shaken = "coord x; kinetic x'^2/2; constraint hand: x = sin(t)";
    let (status, _, says) = run(&["-"], shaken);
    assert_eq!(status, 3);
    assert!(says.contains("`hand`"), "{says}");
    // A model at fault is one at fault here too.
    assert_eq!(run(&["-"], "coord x; kinetic y'^2").0, 1);
    assert_eq!(run(&["-"], "param k; coord x; kinetic x'^2; potential k*x^2").0, 1);
    assert_eq!(run(&["-", "--nonsense"], "coord x").0, 2);
}

#[test]
fn hidden_constraints_are_appended_on_request() {
    let (status, _, says) = run(&["gallery:two-masses-incomplete"], "");
    assert_eq!(status, 3);
    assert!(says.contains("--complete"), "{says}");
    let (status, value) = object(&["gallery:two-masses-incomplete", "--complete"], "");
    assert_eq!((status, &value["kind"]), (0, &json!("equilibrium")), "{value}");
}

/// What is closed or sticks is held; on the edge of a phase there is nothing linear.
#[test]
fn a_phase_is_linearized_and_its_edge_is_not() {
    let block = "param mu = 0.3, g = 9.81, F = 1, k = 4\ncoord x, y\n\
        kinetic (x'^2 + y'^2)/2\npotential k*x^2/2\nforce y: F\n\
        contact table: x >= 1\nfriction rub: mu*g along y'\nstart x = 1\n";
    let (status, value) = object(&["-", "--set", "k=-4"], block);
    assert_eq!(status, 3, "nothing presses it there: {value}");
    let (status, value) = object(&["-"], block);
    assert_eq!(status, 0, "{value}");
    assert_eq!(value["phase"], json!({"table": "closed", "rub": "sticks"}));
    let (status, value) = object(&["-", "--set", "F=mu*g"], block);
    assert_eq!((status, &value["diagnostics"][0]["code"]), (3, &json!("linearize-edge")));
    let (status, value) = object(&["-", "--here", "--set", "F=2*mu*g"], block);
    assert_eq!(status, 3, "a slip that begins: {value}");
    let (status, out, says) = run(&["-", "--set", "F=mu*g"], block);
    assert_eq!((status, out.as_str()), (3, ""));
    assert!(says.contains("error[linearize-edge]"), "{says}");
}
