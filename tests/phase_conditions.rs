//! `while`: contacts that begin and cease to be there, by time and by position, forwards and backwards,
//! against closed forms.

mod support;

use dalembert::model::system::{Change, Touched};
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::run::RunReport;
use support::motion::ran;

const G: f64 = 9.81;

fn close(found: f64, exact: f64, what: &str) {
    near(found, exact, 1e-10, what);
}

fn near(found: f64, exact: f64, within: f64, what: &str) {
    let off = (found - exact).abs() / exact.abs().max(1.0);
    assert!(off <= within, "{what}: {found} is off {exact} by {off:e}");
}

fn whole(text: &str) -> RunReport {
    let report = ran(text, |_| ()).0;
    assert_eq!(report.end, End::Finished, "{text}");
    assert!(report.verdict().is_ok(), "{text}: {:?}", report.verdict());
    report
}

/// x, y, x', y' at the end.
fn end(report: &RunReport) -> [f64; 4] {
    let state = &report.last.as_ref().expect("a state").state;
    [state.q[0], state.q[1], state.velocity[0], state.velocity[1]]
}

fn changes(report: &RunReport, contact: usize, change: Change) -> Vec<f64> {
    let all = &report.phases.as_ref().expect("phases").changes;
    let own = all.iter().filter(|c| c.of == Touched::Contact(contact) && c.change == change);
    own.map(|c| c.t).collect()
}

/// A block that slides, and what it slides on.
fn block(tables: &str, start: &str, run: &str) -> String {
    format!(
        "param g = {G}
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential g*y
         {tables}
         start {start}
         run t = {run}, tol 1e-12"
    )
}

fn friction(mu: f64) -> String {
    if mu > 0.0 { format!(", sliding x', friction {mu}") } else { String::new() }
}

/// What is taken away falls from there on, with its velocity.
#[test]
fn supports_that_are_taken_away() {
    for mu in [0.0, 0.2] {
        for gone in [0.3f64, 1.0, 1.7] {
            for forward in [true, false] {
                let (run, side) = if forward { ("0..2", "t <=") } else { ("2..0", "t >=") };
                let at = if forward { gone } else { 2.0 - gone };
                let tables = format!("contact a: y >= 0{}, while {side} {at}", friction(mu));
                // Backwards in time it moves to smaller x, and friction makes it faster.
                let report = whole(&block(&tables, "x = 0, y = 0, x' = 5", run));
                let way = if forward { 1.0 } else { -1.0 };
                let v = 5.0 - way * mu * G * gone;
                let x = way * (5.0 * gone - way * 0.5 * mu * G * gone * gone + v * (2.0 - gone));
                let fall = 2.0 - gone;
                let what = format!("{mu} {gone} {forward}");
                let exact = [x, -0.5 * G * fall * fall, v, -way * G * fall];
                for (found, exact) in end(&report).into_iter().zip(exact) {
                    close(found, exact, &what);
                }
                let opens = changes(&report, 0, Change::Opens);
                assert_eq!(opens.len(), 1, "{what}");
                close(opens[0], at, &what);
            }
        }
    }
}

/// The end of a table: what comes to it falls, what stops before it stays.
#[test]
fn edges_of_tables() {
    for mu in [0.0, 0.1, 0.2] {
        for v in [1.3f64, 1.9, 2.1, 3.0, -2.5] {
            for condition in ["x <= 1", "abs(x) <= 1", "x <= 1 and x >= -1"] {
                let tables = format!("contact top: y >= 0{}, while {condition}", friction(mu));
                let report = whole(&block(&tables, &format!("x = 0, y = 0, x' = {v}"), "0..2"));
                let [x, y, ..] = end(&report);
                let what = format!("{mu} {v} {condition}");
                let (speed, a) = (v.abs(), mu * G);
                let ends = v > 0.0 || condition != "x <= 1";
                let stop = if mu > 0.0 { speed * speed / (2.0 * a) } else { f64::INFINITY };
                if stop < 1.0 || !ends {
                    let t = if mu > 0.0 { (speed / a).min(2.0) } else { 2.0 };
                    close(x.abs(), speed * t - 0.5 * a * t * t, &what);
                    close(y, 0.0, &what);
                    continue;
                }
                // Where s = v t − a t²/2 = 1.
                let t = 2.0 / (speed + (speed * speed - 2.0 * a).sqrt());
                if t > 2.0 {
                    close(y, 0.0, &what);
                    continue;
                }
                close(changes(&report, 0, Change::Opens)[0], t, &what);
                close(y, -0.5 * G * (2.0 - t) * (2.0 - t), &what);
                close(x.abs(), 1.0 + (speed - a * t) * (2.0 - t), &what);
            }
        }
    }
}

/// One table after another at the same height is one table, with the friction of each; by place and by
/// time, forwards and backwards.
#[test]
fn flush_tables() {
    for (one, two) in [(0.0f64, 0.0f64), (0.2, 0.2), (0.1, 0.4), (0.3, 0.0)] {
        for v in [3.0f64, 4.5] {
            for width in [1.0f64, 0.7, 1.0 / 3.0] {
                let tables = format!(
                    "contact a: y >= 0{}, while x <= {width:?}
                     contact b: y >= 0{}, while x >= {width:?}",
                    friction(one),
                    friction(two)
                );
                let report = whole(&block(&tables, &format!("x = 0, y = 0, x' = {v}"), "0..2"));
                let what = format!("{one} {two} {v} {width}");
                let (a, b) = (one * G, two * G);
                let first = 2.0 * width / (v + (v * v - 2.0 * a * width).sqrt());
                let left = v - a * first;
                let t = if b > 0.0 { (left / b).min(2.0 - first) } else { 2.0 - first };
                let [x, y, ..] = end(&report);
                close(x, width + left * t - 0.5 * b * t * t, &what);
                close(y, 0.0, &what);
                assert_eq!(report.phases.as_ref().expect("phases").impacts, 0, "{what}");
            }
            for at in [0.4, 1.0, 1.3] {
                for forward in [true, false] {
                    let (run, own, other) =
                        if forward { ("0..2", "<=", ">=") } else { ("2..0", ">=", "<=") };
                    let when = if forward { at } else { 2.0 - at };
                    let tables = format!(
                        "contact a: y >= 0{}, while t {own} {when:?}
                         contact b: y >= 0{}, while t {other} {when:?}",
                        friction(one),
                        friction(two)
                    );
                    // Backwards friction makes it faster, and it does not stop.
                    let way = if forward { 1.0 } else { -1.0 };
                    let start = format!("x = 0, y = 0, x' = {}", 3.0 * v);
                    let report = whole(&block(&tables, &start, run));
                    let what = format!("{one} {two} {v} {at} {forward}");
                    let (a, b) = (way * one * G, way * two * G);
                    let left = 3.0 * v - a * at;
                    let rest = 2.0 - at;
                    let x = 3.0 * v * at - 0.5 * a * at * at + left * rest - 0.5 * b * rest * rest;
                    let [found, y, ..] = end(&report);
                    close(found, way * x, &what);
                    close(y, 0.0, &what);
                }
            }
        }
    }
}

/// Starts on the boundary itself: what goes out falls at once, what comes in or stays does not, and
/// time counts as a place does.
#[test]
fn starts_on_the_boundary() {
    let fallen = -0.5 * G;
    let cases = [
        ("x <= 1", "x = 1, y = 0, x' = 1", "0..1", fallen),
        ("x <= 1", "x = 1, y = 0, x' = -1", "0..1", 0.0),
        ("x <= 1", "x = 1, y = 0, x' = 0", "0..1", 0.0),
        ("x >= 1", "x = 1, y = 0, x' = 1", "0..1", 0.0),
        ("x >= 1", "x = 1, y = 0, x' = -1", "0..1", fallen),
        ("t <= 0", "x = 1, y = 0", "0..1", fallen),
        ("t >= 0", "x = 1, y = 0", "0..1", 0.0),
        ("t >= 1", "x = 1, y = 0", "1..0", fallen),
        ("t <= 1", "x = 1, y = 0", "1..0", 0.0),
        ("x <= 1", "x = 1, y = 0, x' = 1", "1..0", 0.0),
        ("x <= 1", "x = 1, y = 0, x' = -1", "1..0", fallen),
    ];
    for mu in [0.0, 0.05] {
        for (condition, start, run, exact) in cases {
            let tables = format!("contact top: y >= 0{}, while {condition}", friction(mu));
            let report = whole(&block(&tables, start, run));
            close(end(&report)[1], exact, &format!("{condition}, {start}, {run}"));
        }
    }
    // At rest on it, and pushed out: as t² it leaves it, to rounding, after the root of that.
    let tables = "contact top: y >= 0, while x <= 1\nforce x: 2";
    near(end(&whole(&block(tables, "x = 1, y = 0", "0..1")))[1], fallen, 1e-7, "pushed out");
    let tables = "contact top: y >= 0, while x <= 1\nforce x: -2";
    close(end(&whole(&block(tables, "x = 1, y = 0", "0..1")))[1], 0.0, "pushed in");
}

/// What falls beside a table lands where the table is, and is inside it where it comes from below.
#[test]
fn tables_begin() {
    for v in [1.5f64, 2.5, 4.0] {
        let text =
            block("contact top: y >= 0, while x >= 1", &format!("x = 0, y = 1, x' = {v}"), "0..1");
        let lands = (2.0 / G).sqrt();
        if v * lands > 1.0 {
            let report = whole(&text);
            close(changes(&report, 0, Change::Closes)[0], lands, "lands");
            close(end(&report)[1], 0.0, "stays");
            continue;
        }
        match ran(&text, |_| ()).0.end {
            End::Failed(Failure::Phase(Fault::Penetrates { contact: 0, gap })) => {
                close(gap, 1.0 - 0.5 * G / (v * v), "inside");
            }
            End::Finished => assert!(v < 1.0),
            end => panic!("{v}: {end:?}"),
        }
    }
}

/// A wall that ends the table: what comes back from it was never beyond.
#[test]
fn walls_at_edges() {
    for e in [0.5, 1.0] {
        let tables = format!(
            "contact top: y >= 0, while x <= 1
             contact wall: 1 >= x, restitution {e}"
        );
        let report = whole(&block(&tables, "x = 0, y = 0, x' = 2", "0..1"));
        close(end(&report)[0], 1.0 - e, "comes back");
        close(end(&report)[1], 0.0, "stays on it");
    }
}

/// Conditions on velocities: what slides too fast lifts off.
#[test]
fn conditions_on_velocities() {
    let tables = "contact top: y >= 0, while x' <= 2\nforce x: 4";
    let report = whole(&block(tables, "x = 0, y = 0", "0..1"));
    close(changes(&report, 0, Change::Opens)[0], 0.5, "opens");
    close(end(&report)[1], -0.5 * G * 0.25, "falls");
}
