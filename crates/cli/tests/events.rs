//! `dal run` of models with events: what is said, written and returned.

use serde_json::{Value, json};
use std::path::PathBuf;

mod support;
use support::{close, dal};

const BALL: &str = "system Ball\nparam g = 10, e = 0.5\ncoord y\nkinetic y'^2/2\n\
    potential g*y\nevent hit: y = 0 falling -> y' = -e*y'\nevent top: y' = 0 falling\n\
    start y = 5\nrun t = 0..20, every 0.25\n";

fn object(arguments: &[&str], input: &str) -> (i32, Value) {
    let output = dal(&[&["run", "-", "--json"], arguments].concat(), input);
    let value = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code().expect("a status"), value)
}

fn words(input: &str) -> (i32, String) {
    let output = dal(&["run", "-"], input);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().expect("a status"), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_pile_up_is_an_end_and_not_a_failure() {
    let (status, value) = object(&[], BALL);
    assert_eq!(status, 0, "{value}");
    assert_eq!((&value["verdict"], &value["end"]["how"]), (&json!("pass"), &json!("piled up")));
    assert_eq!(value["end"]["event"], "hit");
    assert!(close(&value["end"]["t"], 3.0), "{}", value["end"]);
    assert!(value.get("stopped").is_none());
    let events = value["events"].as_array().expect("a list");
    let first = &events[0];
    assert_eq!((&first["name"], &first["action"]), (&json!("hit"), &json!("reset")));
    assert!(close(&first["t"], 1.0) && close(&first["energy"], -37.5), "{first}");
    assert!(close(&first["changed"]["y'"][0], -10.0) && close(&first["changed"]["y'"][1], 5.0));
    assert_eq!(events[1]["name"], "top");
    assert_eq!(support::keys(&events[1]), ["t", "name", "action"]);
    assert!(close(&value["energy_of_events"], -50.0), "{}", value["energy_of_events"]);
    let (status, text) = words(BALL);
    assert_eq!(status, 0);
    assert!(text.contains("events\n  hit  ") && text.contains(" times: t = "), "{text}");
    assert!(text.contains("the events `hit` pile up at t = "), "{text}");
    assert!(text.contains("verdict: pass"), "{text}");
}

#[test]
fn a_stop_is_said() {
    let text = BALL.replace("-> y' = -e*y'", "-> stop").replace(", e = 0.5", "");
    let (status, value) = object(&[], &text);
    assert_eq!(status, 0, "{value}");
    assert_eq!(value["end"], json!({"how": "event", "event": "hit"}));
    assert!(close(&value["t"], 1.0));
    let (status, text) = words(&text);
    assert_eq!(status, 0);
    assert!(text.contains("stopped by the event `hit`") && text.contains("top  never"), "{text}");
}

#[test]
fn a_jump_stands_in_the_table_and_in_the_figure() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("events");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (table, figure) = (folder.join("ball.csv"), folder.join("ball.svg"));
    let (table, figure) = (table.to_str().expect("UTF-8"), figure.to_str().expect("UTF-8"));
    let arguments =
        ["run", "-", "--t-end", "1.5", "--out", table, "--plot", figure, "--show", "y'"];
    let output = dal(&arguments, BALL);
    assert!(output.status.success());
    let rows: Vec<Vec<f64>> = std::fs::read_to_string(table)
        .expect("a table")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect())
        .collect();
    let jumps: Vec<usize> = (1..rows.len()).filter(|&i| rows[i][0] == rows[i - 1][0]).collect();
    assert_eq!(jumps.len(), 1, "{rows:?}");
    let (before, after) = (&rows[jumps[0] - 1], &rows[jumps[0]]);
    assert!((before[2] + 10.0).abs() < 1e-12 && (after[2] - 5.0).abs() < 1e-12);
    let svg = std::fs::read_to_string(figure).expect("a figure");
    assert!(!svg.contains("NaN"));
}

#[test]
fn a_reset_that_cannot_be_is_told_at_its_line() {
    let text = "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint line: y = 2*x\nstart x' = 1\n\
        event hit: x = 1 -> x' = -x', y' = y'\nrun t = 0..3\n";
    let (status, shown) = words(text);
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("what the event `hit` sets contradicts `line`"), "{shown}");
    assert!(shown.contains("<stdin>:5:1") && shown.contains("this is in its way"), "{shown}");
    let (status, value) = object(&[], text);
    assert_eq!((status, &value["end"]["how"]), (3, &json!("failed")));
}

/// What jumps is told at its line, and an impulse in time is listed with its work.
#[test]
fn jumps_and_impulses_are_told() {
    let step = "coord y\nkinetic y'^2/2\nconstraint c: y = if(t > 1, 1, 0)\nrun t = 0..2\n";
    let (status, text) = words(step);
    assert_eq!(status, 3, "{text}");
    assert!(
        text.contains("error[jump]") && text.contains("the position that `c` demands"),
        "{text}"
    );
    assert!(text.contains("3 | constraint c"), "{text}");
    let push = step.replace("y = if(t > 1, 1, 0)", "y' = if(t > 1, 2, 0)");
    let (status, value) = object(&[], &push);
    assert_eq!((status, &value["verdict"]), (0, &json!("pass")), "{value}");
    let impulse = &value["impulses"][0];
    assert!(close(&impulse["t"], 1.0) && close(&impulse["energy"], 2.0), "{impulse}");
    assert_eq!(impulse["constraints"], json!(["c"]));
    let (_, text) = words(&push);
    assert!(
        text.contains("impulses of constraints whose velocities jump\n  c  at t = 1"),
        "{text}"
    );
}

/// An event at zero that is not decided has a note at its line.
#[test]
fn an_event_at_zero_has_a_note() {
    let balls = "coord x, y\nkinetic (x'^2 + y'^2)/2\n\
                 event a: x - y + 1 = 0 -> x' = y', y' = x'\nstart y = 1, x' = 1\nrun t = 0..2\n";
    let (status, text) = words(balls);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("note[event-at-zero]: `a` is zero at the start"), "{text}");
    let (_, value) = object(&[], balls);
    assert_eq!(value["diagnostics"][0]["code"], "event-at-zero", "{value}");
    let (_, text) = words(&balls.replace(" -> x'", " rising -> x'"));
    assert!(!text.contains("note") && text.contains("a  at t = 0"), "{text}");
}
