//! Events that set positions and velocities of what touches or sticks: a contact pushes and does not
//! pull, friction has a bound, and neither contradicts what an event says.

mod support;

use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::run::RunReport;
use support::motion::{by_all, ran};

const G: f64 = 9.81;

fn close(found: f64, exact: f64, what: &str) {
    let off = (found - exact).abs() / exact.abs().max(1.0);
    assert!(off <= 1e-9, "{what}: {found} is off {exact} by {off:e}");
}

fn whole(text: &str) -> RunReport {
    let report = ran(text, |_| ()).0;
    assert_eq!(report.end, End::Finished, "{text}");
    assert!(report.verdict().is_ok(), "{text}: {:?}", report.verdict());
    report
}

fn ends(report: &RunReport) -> &[f64] {
    &report.last.as_ref().expect("a state").state.q
}

/// A ball on a floor.
fn ball(e: f64, event: &str, start: &str) -> String {
    format!(
        "param g = {G}
         coord y
         kinetic y'^2/2
         potential g*y
         contact floor: y >= 0, restitution {e}
         event {event}
         start {start}
         run t = 0..2.5, tol 1e-12"
    )
}

/// A ball so much later, with impacts on the way.
fn flown((mut y, mut v): (f64, f64), mut t: f64, e: f64) -> (f64, f64) {
    loop {
        let lands = (v + (v * v + 2.0 * G * y).sqrt()) / G;
        if lands > t {
            return (y + v * t - 0.5 * G * t * t, v - G * t);
        }
        (y, v, t) = (0.0, e * (G * lands - v), t - lands);
        if v < 1e-12 {
            return (0.0, 0.0);
        }
    }
}

/// Thrown up it leaves the floor, and thrown down it bounces off it.
#[test]
fn balls_are_thrown_off_a_floor() {
    for e in [0.0, 0.5] {
        for v in [3.0, 1.0, -3.0, -1.0, 0.0] {
            let text = ball(e, &format!("tick: every 0.7 -> y' = {v:?}"), "y = 0");
            let mut exact = (0.0, 0.0);
            for length in [0.7, 0.7, 0.7, 0.4] {
                // What is on the floor and thrown down bounces.
                let up = if exact.0 == 0.0 && v < 0.0 { -e * v } else { v };
                exact = if exact.0 == 0.0 && up == 0.0 {
                    (0.0, 0.0)
                } else {
                    flown((exact.0, up), length, e)
                };
            }
            for (name, report) in by_all(&text, 1e-12) {
                assert_eq!(report.end, End::Finished, "{name}: {e} {v}");
                close(ends(&report)[0], exact.0, &format!("{name}: {e} {v}"));
            }
        }
    }
}

/// What has no bound to be above slips, and what rests on a floor slides on it.
#[test]
fn what_sticks_is_pushed() {
    for (f, push) in [(1.0, 0.5), (2.0, -0.7), (0.5, 0.25)] {
        let report = whole(&format!(
            "coord x
             kinetic x'^2/2
             friction f: {f} along x'
             event tick: every 1 -> x' = x' + {push}
             start x = 0
             run t = 0..2.75, tol 1e-12"
        ));
        let own: f64 = push * push / (2.0 * f);
        close(ends(&report)[0], 3.0 * own.copysign(push), "pushed");
    }
    let report = whole(&format!(
        "param g = {G}
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential g*y
         contact floor: y >= 0, sliding x', friction 0.3
         event tick: every 1 -> x' = 2
         start y = 0
         run t = 0..2.9, tol 1e-12"
    ));
    close(ends(&report)[0], 3.0 * 4.0 / (2.0 * 0.3 * G), "slides");
    close(ends(&report)[1], 0.0, "on the floor");
}

/// Events that are changes of a contact, and set what it does next.
#[test]
fn changes_that_set_what_comes_next() {
    let counts = whole(&format!(
        "param g = {G}, mu = 0.3
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential g*y
         contact floor: y >= 0, sliding x', friction mu
         state n' = 0, k' = 0, o' = 0
         event st: floor sticks -> x' = 1, n = n + 1
         event sl: floor slips -> k = k + 1
         event op: floor opens -> o = o + 1
         start x = 0, y = 0, x' = 1
         run t = 0..5, tol 1e-12"
    ));
    let slides = (5.0 * 0.3 * G).floor();
    assert_eq!(ends(&counts)[2..], [slides, slides, 0.0]);
    let hops = whole(&format!(
        "param g = {G}
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential g*y
         contact floor: y >= 0, sliding x', friction 0.3
         state n' = 0, o' = 0
         event st: floor closes -> y' = 1, n = n + 1
         event op: floor opens -> o = o + 1
         start x = 0, y = 0.1, x' = 1
         run t = 0..2.5, tol 1e-12"
    ));
    let count = 1.0 + ((2.5 - (0.2 / G).sqrt()) * G / 2.0).floor();
    assert_eq!(ends(&hops)[2], count);
}

/// On a slope what is pushed against it goes along it, and what is pushed away from it leaves it.
#[test]
fn along_and_off_a_slope() {
    for k in [0.3f64, 0.8] {
        for v in [2.0, -2.0] {
            let text = format!(
                "param g = {G}
                 coord x, y
                 kinetic (x'^2 + y'^2)/2
                 potential g*y
                 contact floor: y >= {k}*x, sliding x' + {k}*y', friction 2
                 event kick: t = 1 -> x' = {v}
                 start x = 0, y = 0
                 run t = 0..1.05, tol 1e-12"
            );
            let report = whole(&text);
            let (q, t) = (ends(&report), 0.05f64);
            match v > 0.0 {
                true => close(q[1], k * q[0], "along"),
                false => {
                    close(q[0], v * t, "off");
                    close(q[1], -0.5 * G * t * t, "off");
                }
            }
        }
    }
}

/// Positions: what can stay closed does, what is lifted falls, and what is put inside is told.
#[test]
fn positions_are_set() {
    let lifted = whole(&ball(0.0, "tick: t = 1 -> y = 0.5", "y = 0"));
    let falls = (1.0 / G).sqrt();
    let closes = &lifted.phases.as_ref().expect("phases").changes;
    close(closes.last().expect("a change").t, 1.0 + falls, "falls");
    match ran(&ball(0.5, "tick: every 0.7 -> y = -0.1", "y = 0"), |_| ()).0.end {
        End::Failed(Failure::Phase(Fault::Penetrates { contact: 0, gap })) => {
            close(gap, -0.1, "inside");
        }
        end => panic!("{end:?}"),
    }
    let moved = whole(&format!(
        "param g = {G}
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential g*y
         contact floor: y >= 0.5*x^2, sliding x' + x*y', friction 5
         event jump: t = 1 -> x = 0.2
         start x = 0.1, floor.gap = 0
         run t = 0..2, tol 1e-12"
    ));
    close(ends(&moved)[0], 0.2, "moved");
    close(ends(&moved)[1], 0.02, "with the surface");
}
