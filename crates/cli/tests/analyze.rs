//! `dal analyze` as a user meets it.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// `dal analyze …`: exit status, standard output, standard error.
fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .arg("analyze")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    // A program that has seen enough may close its end early.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("dal ends");
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), utf8(output.stdout), utf8(output.stderr))
}

#[test]
fn the_object_has_every_promised_field() {
    let (status, out, _) = run(&["gallery:two-wheels-on-an-axle", "--json"], "");
    assert_eq!(status, 0);
    let value: Value = serde_json::from_str(&out).expect("JSON");
    for (field, expected) in [
        ("format", json!(1)),
        ("coordinates", json!(4)),
        ("constraints", json!(3)),
        ("rank", json!(2)),
        ("degrees_of_freedom", json!(2)),
        ("motion", json!("unique")),
        ("redundant", json!([["axle", "roll1", "roll2"]])),
        ("undetermined", json!([])),
        ("holonomic", json!(false)),
        ("integrable", json!(1)),
        ("growth_vector", json!([3, 4])),
    ] {
        assert_eq!(value[field], expected, "{field}");
    }
    assert!(value["jacobi_defect"].as_f64().is_some_and(|d| d > 0.1));
    let words: Vec<&str> =
        value["kinds"]["axle"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(["holonomic", "scleronomic", "ideal"].iter().all(|w| words.contains(w)), "{words:?}");
    assert!(value["ignorable"].is_array() && value["invariants"].is_array());
}

#[test]
fn a_bracket_is_given_in_the_users_names() {
    let page = "gallery:bracket-particle";
    let (status, out, _) = run(&[page, "--bracket", "z, p_x + y*p_z", "--json"], "");
    assert_eq!(status, 0);
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(value["poisson"]["bracket"], "y");
    assert_eq!(value["poisson"]["value"], 0.75);
    let (status, _, words) = run(&[page, "--bracket", "z"], "");
    assert!(status == 2 && words.contains("two functions"), "{words}");
    let (status, _, words) = run(&[page, "--bracket", "z, nobody"], "");
    assert!(status == 1 && words.contains("nobody"), "{words}");
    let (status, _, words) = run(&["gallery:two-masses", "--bracket", "x, p_x"], "");
    assert!(status == 3 && words.contains("singular"), "{words}");
}

#[test]
fn faults_and_a_start_that_cannot_be() {
    let text = "coord x\nkinetic x'^2/2\nconstraint c: x^2 = -1\n";
    let (status, out, words) = run(&["-"], text);
    assert!(status == 1 && out.is_empty() && !words.is_empty(), "{words}");
    let (status, out, _) = run(&["-", "--json"], text);
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert!(status == 1 && value["verdict"] == "faults");
    let (status, _, _) = run(&["-"], "coord x\nkinetic x'^2/\n");
    assert_eq!(status, 1);
    let (status, _, words) = run(&["-"], "param m\ncoord x\nkinetic m*x'^2/2\n");
    assert!(status == 1 && words.contains("`m` has no value"), "{words}");
}

/// A chain of thousands of links, its first hundreds of rods told twice: what is known of it is
/// told, and what would take matrices with all their zeros is named.
#[test]
fn a_long_chain_is_analyzed_as_far_as_it_goes() {
    let model = "system Chain\nconst N = 2500\ncoord x[1..N], y[1..N]\n\
        for i in 1..N {\n  kinetic (x[i]'^2 + y[i]'^2)/2\n  potential 9.81*y[i]\n}\n\
        constraint rod[1]: x[1]^2 + y[1]^2 = 1\n\
        for i in 2..N { constraint rod[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n\
        for i in 2..400 { constraint twin[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n\
        let X[0] = 0, Y[0] = 0\n\
        for i in 1..N {\n  let X[i] = X[i-1] + cos(0.3*sin(i)), Y[i] = Y[i-1] + sin(0.3*sin(i))\n\
        start x[i] = X[i], y[i] = Y[i]\n}\n";
    let (status, out, says) = run(&["-", "--json"], model);
    assert_eq!(status, 0, "{says}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    for (key, right) in [
        ("coordinates", json!(5000)),
        ("constraints", json!(2899)),
        ("rank", json!(2500)),
        ("degrees_of_freedom", json!(2500)),
        ("motion", json!("unique")),
        ("holonomic", json!(true)),
    ] {
        assert_eq!(found[key], right, "{key}");
    }
    let left_out = found["left_out"].as_array().expect("a list").iter();
    let left_out: Vec<&str> = left_out.filter_map(|one| one["what"].as_str()).collect();
    assert_eq!(left_out, ["dependent-sets", "integrals"]);
    assert!(!run(&["gallery:double-pendulum"], "").1.contains("Not looked at"));
}
