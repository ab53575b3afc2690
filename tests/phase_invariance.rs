//! Motions with friction and contact do not depend on the units they are written in, nor on the order of
//! statements.

mod support;

use dalembert::simulate::drive::End;
use dalembert::simulate::run::RunReport;
use support::motion::ran;

/// A statement with `{…}` around numbers that have units: `{3 M L T-2}`.
fn in_units(text: &str, units: [f64; 3]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find('{') {
        let end = begin + rest[begin..].find('}').expect("a bracket");
        out += &rest[..begin];
        let mut words = rest[begin + 1..end].split_whitespace();
        let mut value: f64 = words.next().and_then(|w| w.parse().ok()).expect("a number");
        for word in words {
            let unit = "MLT".find(&word[..1]).expect("a unit");
            let power: i32 = if word.len() > 1 { word[1..].parse().expect("a power") } else { 1 };
            value *= units[unit].powi(power);
        }
        out += &format!("{value:e}");
        rest = &rest[end + 1..];
    }
    out + rest
}

/// Models, with the unit of each coordinate: a length or none.
const MODELS: &[(&str, &[&str], &[bool])] = &[
    (
        "a block on a belt",
        &[
            "param m = {1 M}, k = {4 M T-2}, v = {0.5 L T-1}, F = {2 M L T-2}, Fs = {3 M L T-2}",
            "coord x",
            "kinetic m/2*x'^2",
            "potential k/2*x^2",
            "friction rub: F along x' - v, static Fs",
            "start x = 0, x' = v",
            "run t = 0..{19 T}, tol 1e-12",
        ],
        &[true],
    ),
    (
        "a wheel that begins to roll, meets a wall and comes back",
        &[
            "param m = {2 M}, r = {0.5 L}, J = {0.3 M L2}, mu = 0.2, g = {9.81 L T-2}",
            "gravity [0, -g]",
            "body w: mass m, inertia J, free",
            "contact floor: ground normal [0, 1], w radius r, friction mu",
            "contact wall: {4 L} >= w.r[1] + r, restitution 0.7",
            "start w.r = [0, r], w.r[1]' = {3 L T-1}",
            "run t = 0..{4 T}, tol 1e-12",
        ],
        &[true, true, false],
    ),
    (
        "a ball that bounces to rest",
        &[
            "param m = {0.3 M}, g = {9.81 L T-2}",
            "coord y",
            "kinetic m/2*y'^2",
            "potential m*g*y",
            "contact floor: y >= 0, restitution 0.6",
            "start y = {1 L}",
            "run t = 0..{3 T}, tol 1e-12",
        ],
        &[true],
    ),
    (
        "a puck on a table that stops",
        &[
            "param m = {0.3 M}, F = {1.5 M L T-2}",
            "coord x, y",
            "kinetic m/2*(x'^2 + y'^2)",
            "potential {0.4 M T-2}/2*(x^2 + 2*y^2)",
            "friction table: F along [x', y']",
            "contact wall: {0.6 L} >= x, restitution 0.5",
            "start x' = {3 L T-1}, y' = {1 L T-1}",
            "run t = 0..{2 T}, tol 1e-12",
        ],
        &[true, true],
    ),
];

/// What a run ends at, and when what changed: without units.
fn told(
    report: &RunReport,
    units: [f64; 3],
    lengths: &[bool],
) -> (Vec<f64>, Vec<f64>, Vec<String>) {
    assert_eq!(report.end, End::Finished);
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    let last = report.last.as_ref().expect("a state");
    let unit = |i: usize| if lengths[i] { units[1] } else { 1.0 };
    let mut state: Vec<f64> = Vec::new();
    for i in 0..lengths.len() {
        state.push(last.state.q[i] / unit(i));
        state.push(last.state.velocity[i] / unit(i) * units[2]);
    }
    let phases = report.phases.as_ref().expect("phases");
    let times = phases.changes.iter().map(|c| c.t / units[2]).collect();
    let what = phases.changes.iter().map(|c| format!("{:?} {:?}", c.of, c.change)).collect();
    (state, times, what)
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs() / a.abs().max(1.0)))
}

/// Kilometers, grams and hours, or nothing that was ever used: the same changes at the same times.
#[test]
fn units_do_not_matter() {
    for (name, lines, lengths) in MODELS {
        let run = |units: [f64; 3]| {
            let report = ran(&in_units(&lines.join("\n"), units), |_| ()).0;
            told(&report, units, lengths)
        };
        let (state, times, what) = run([1.0; 3]);
        assert!(what.len() >= 2, "{name}: {what:?}");
        for units in
            [[1e3, 1e-3, 1.0 / 3600.0], [3e-7, 7e5, 11.0], [1e-12, 1e9, 1e-6], [1e15, 1e-9, 1e4]]
        {
            let (other, then, same) = run(units);
            // A ball that comes to rest bounces as often as rounding lets it.
            let count = what.len().min(same.len());
            assert!(what.len().abs_diff(same.len()) <= 8, "{name}: {what:?} {same:?}");
            if what.len() < 40 {
                assert_eq!(what, same, "{name}, {units:?}");
            }
            assert!(
                apart(&times[..count], &then[..count]) < 1e-9,
                "{name}, {units:?}: {times:?} {then:?}"
            );
            assert!(apart(&state, &other) < 1e-9, "{name}, {units:?}: {state:?} {other:?}");
        }
    }
}

/// Statements in any order are the same model, and the same motion up to the order of sums.
#[test]
fn the_order_of_statements_does_not_matter() {
    for (name, lines, lengths) in MODELS {
        let run = |lines: &[&str]| {
            told(&ran(&in_units(&lines.join("\n"), [1.0; 3]), |_| ()).0, [1.0; 3], lengths)
        };
        let (state, times, what) = run(lines);
        let mut turned = lines.to_vec();
        for turn in 0..2 * lines.len() {
            turned.rotate_left(1);
            if turn % 2 == 1 {
                turned.reverse();
            }
            // Contacts are numbered in their order; names are not.
            let contacts: Vec<&&str> = turned.iter().filter(|l| l.starts_with("contact")).collect();
            if contacts.len() > 1 && contacts[0] > contacts[1] {
                continue;
            }
            let (other, then, same) = run(&turned);
            assert_eq!(what, same, "{name}");
            assert!(apart(&times, &then) < 1e-11, "{name}: {times:?} {then:?}");
            assert!(apart(&state, &other) < 1e-11, "{name}: {state:?} {other:?}");
        }
    }
}
