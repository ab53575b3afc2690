//! Runs that cannot go on, or cannot begin: what is said, at which line.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Exit status and what is said on standard error; with `--json`, standard output.
fn run(model: &str, json: bool) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .args(if json { &["run", "-", "--json"][..] } else { &["run", "-"] })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    let _ = child.stdin.take().expect("piped").write_all(model.as_bytes());
    let output = child.wait_with_output().expect("dal ends");
    let said = if json { output.stdout } else { output.stderr };
    (output.status.code().expect("an exit status"), String::from_utf8(said).expect("UTF-8"))
}

/// The first diagnostic in JSON has this code and this line.
fn check(model: &str, status: i32, code: &str, line: usize) -> String {
    let (found, text) = run(model, true);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let first = &value["diagnostics"][0];
    assert_eq!((found, &first["code"]), (status, &Value::from(code)), "{value}");
    assert_eq!(first["labels"][0]["line"], line, "{value}");
    let (found, said) = run(model, false);
    assert_eq!(found, status);
    assert!(said.contains(&format!("error[{code}]")), "{said}");
    masked(&said)
}

/// Without numbers such as 6.2e-15, which are all rounding.
fn masked(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || ".e-".contains(c);
    let mut out = String::new();
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let (number, rest) = piece.split_at(piece.trim_end_matches(|c| !is_part(c)).len());
        let is_number = number.contains('e') && number.parse::<f64>().is_ok();
        out += if is_number { "#" } else { number };
        out += rest;
    }
    out
}

#[test]
fn a_rank_that_is_lost() {
    let model = "system A guide that is let go\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n\
        potential y\nconstraint guide: max(0, 1 - t)*(x' - y') = 0\n\
        constraint level: x' + y' = 2\nstart x = 0, x' = 1\n";
    insta::assert_snapshot!(check(model, 3, "rank-lost", 5));
}

/// At rest in a position in which two ways are open there is no saying which.
#[test]
fn a_rank_that_is_gained() {
    let model = "system Two rods that can fold\ncoord x, y, u\nkinetic (x'^2 + y'^2 + u'^2)/2\n\
        potential x\nconstraint crank: x^2 + y^2 = 1\nconstraint rod: (x - u)^2 + y^2 = 1\n\
        start x = 0, y ~ 1, u = 0\n";
    insta::assert_snapshot!(check(model, 3, "rank-lost", 5));
}

#[test]
fn a_start_that_clashes() {
    let model = "system Pendulum\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential y\n\
        constraint rod: x^2 + y^2 = 1\nstart x = 0.8, y = 0.7\n";
    let (_, text) = run(model, true);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let line = value["diagnostics"][0]["labels"][0]["line"].as_u64().expect("a line") as usize;
    assert!(line == 5 || line == 6, "{value}");
    insta::assert_snapshot!(check(model, 1, "contradictory-start", line));
}

#[test]
fn a_step_that_is_too_small_by_an_energy() {
    let model = "system Falling into the center\ncoord r\nkinetic r'^2/2\npotential -1/r\n\
        start r = 1\nrun t = 0..2\n";
    insta::assert_snapshot!(check(model, 3, "step-too-small", 4));
}

#[test]
fn a_step_that_is_too_small_by_a_force() {
    let model = "system Two forces\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nforce x: -x\n\
        force y: -1/y^2\nstart x = 1, y = 1\n";
    insta::assert_snapshot!(check(model, 3, "step-too-small", 5));
}

#[test]
fn a_term_that_is_no_number() {
    let model = "system Beyond the end\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nforce y: -y\n\
        force x: sqrt(1 - x)\nstart x = 0, x' = 1, y = 1\n";
    insta::assert_snapshot!(check(model, 3, "not-a-number", 5));
}

#[test]
fn a_term_that_is_no_number_at_the_start() {
    let model =
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x: -x\nforce y: sqrt(y)\nstart y = -1\n";
    insta::assert_snapshot!(check(model, 3, "not-a-number", 4));
}

#[test]
fn a_motion_that_is_not_determined() {
    let model = "coord x, y\nkinetic x'^2/2\npotential x + y\n";
    insta::assert_snapshot!(check(model, 3, "no-unique-motion", 2));
}

#[test]
fn a_switch_that_would_chatter() {
    let model = "coord x\nkinetic x'^2/2\nforce x: -10*sign(x + x')\nstart x = 1, x' = 1\n";
    let (status, text) = run(model, true);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((status, &value["end"]["how"]), (0, &"finished".into()), "{value}");
    assert_eq!(value["phases"]["sliding"][0]["switches"][0], "sign(x' + x)");
}

/// The library says what an integrator needs; the program, which options give it that.
#[test]
fn an_integrator_that_does_not_suit() {
    for (page, options, words) in [
        ("spherical-pendulum", "lagrange --method rattle", "it needs `--formulation hamilton`"),
        ("knife-edge", "lagrange --method discrete-gradient", "it needs `--formulation bracket`"),
        (
            "spherical-pendulum",
            "hamilton --method rattle --stabilize ggl",
            "by itself; leave out `--stabilize`",
        ),
        (
            "spherical-pendulum",
            "lagrange --method radau --stabilize baumgarte",
            "leave out `--stabilize baumgarte`",
        ),
        (
            "spherical-pendulum",
            "bracket --method discrete-gradient",
            "H_r is held; `--formulation hamilton --method rattle` holds it",
        ),
        ("knife-edge", "hamilton --method rattle", "constraint `edge` is velocity-level"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dal"))
            .args(["run", &format!("gallery:{page}"), "--formulation"])
            .args(options.split(' '))
            .output()
            .expect("dal runs");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(said.contains(words), "{options}: {said}");
    }
}
