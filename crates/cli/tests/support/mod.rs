//! Runs `dal eval` for the tests.

// Not every test file uses all of it.
#![allow(dead_code)]

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the program.
pub fn dal(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    // A program that has seen enough may close its end early.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("dal ends")
}

/// `dal eval … --json`: the exit status and the object.
pub fn json(arguments: &[&str], input: &str) -> (i32, Value) {
    let output = dal(&[&["eval"], arguments, &["--json"]].concat(), input);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "one object on one line: {text}\n{says}");
    for word in ["NaN", "Infinity", "inf"] {
        let value = format!(":{word}");
        assert!(!text.contains(&value) && !text.contains(&format!("[{word}")), "{text}");
    }
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["format"], 1);
    (output.status.code().expect("an exit status"), value)
}

/// `dal eval …` for people: exit status, standard output, standard error.
pub fn text(arguments: &[&str], input: &str) -> (i32, String, String) {
    let output = dal(&[&["eval"], arguments].concat(), input);
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), utf8(output.stdout), utf8(output.stderr))
}

pub const PENDULUM: &str = "system Pendulum\nparam m = 1, l = 2, g = 9.81\ncoord x, y\n\
    kinetic m/2*(x'^2 + y'^2)\npotential m*g*y\nconstraint rod: x^2 + y^2 = l^2\n\
    start x = 1.2, y ~ -1\n";

/// The keys of an object, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|o| o.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Whether a number is the expected one, to rounding.
pub fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|x| (x - expected).abs() <= 1e-12 * expected.abs().max(1.0))
}
