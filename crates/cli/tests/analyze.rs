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
