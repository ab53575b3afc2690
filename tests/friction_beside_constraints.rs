//! Friction along velocities of which constraints hold a part, as one writes it of a bead on a wire
//! or in a bowl: it acts along what can slip, and what is told of loads goes by that.

mod support;

use dalembert::simulate::drive::End;
use support::motion::ran;

/// A model of which the slip is left out, and the slip.
type Told = (&'static str, &'static str);

/// Models told by components of the velocity, and by what can slip alone; the row that holds them, where
/// both have the same coordinates.
const PAIRS: &[(&str, Told, Told, &str)] = &[
    ("a bead on a circle", (CIRCLE, "[x', y']"), (CIRCLE, "x*y' - y*x'"), "wire"),
    (
        "a bead on a hoop that turns",
        (HOOP, "[x' + 3*y, y' - 3*x, z']"),
        (HOOP, "z'*out - z*rate"),
        "sphere",
    ),
    (
        "a bead in a bowl",
        (
            "coord x, y, z
             kinetic (x'^2 + y'^2 + z'^2)/2
             potential 9.81*z
             constraint bowl: x^2 + y^2 + z^2 = 1
             friction rub: 0.2*2*abs(multiplier(bowl)) along SLIP
             start x = 0.6, y = 0, z = -0.8, y' = 1
             run t = 0..3",
            "[x', y', z']",
        ),
        (
            "coord a, f
             let x = sin(a)*cos(f), y = sin(a)*sin(f), z = -cos(a)
             kinetic (a'^2 + sin(a)^2*f'^2)/2
             potential 9.81*z
             friction rub: 0.2*abs(a'^2 + sin(a)^2*f'^2 + 9.81*cos(a)) along SLIP
             start a = asin(0.6), f = 0, f' = 1/0.6
             run t = 0..3",
            "[a', sin(a)*f']",
        ),
        "",
    ),
];

const CIRCLE: &str = "coord x, y
    constraint wire: x^2 + y^2 = 1
    friction rub: 0.3*2*abs(multiplier(wire)) along SLIP
    kinetic (x'^2 + y'^2)/2
    potential 9.81*y
    start x = 0.6, y = -0.8, y' = 0.5
    run t = 0..3";

const HOOP: &str = "coord x, y, z
    kinetic (x'^2 + y'^2 + z'^2)/2
    potential 9.81*z
    constraint sphere: x^2 + y^2 + z^2 = 1
    constraint plane: x*sin(3*t) = y*cos(3*t)
    let out = x*cos(3*t) + y*sin(3*t), rate = (x' + 3*y)*cos(3*t) + (y' - 3*x)*sin(3*t)
    friction rub: 0.3*norm([2*multiplier(sphere), multiplier(plane)]) along SLIP
    start x = 0.6, y = 0, z = -0.8, z' = 0.5
    run t = 0..1";

#[test]
fn it_acts_along_what_can_slip() {
    for (name, by_components, by_slips, row) in PAIRS {
        for tolerance in [1e-8, 1e-10] {
            let told = |(text, slip): &Told| {
                let text = text.replace("SLIP", slip);
                let (report, rows) = ran(&text, |options| options.tolerance = tolerance);
                assert_eq!(report.end, End::Finished, "{name}");
                assert!(report.verdict().is_ok(), "{name}: {:?}", report.verdict());
                (report, rows)
            };
            let ((report, rows), (other, other_rows)) = (told(by_components), told(by_slips));
            let ends = [&report, &other].map(|r| r.last.as_ref().expect("a state").state.clone());
            let place = |q: &[f64]| match q {
                [a, f] if row.is_empty() => vec![a.sin() * f.cos(), a.sin() * f.sin(), -a.cos()],
                q => q.to_vec(),
            };
            let [one, two] = ends.map(|state| place(&state.q));
            let apart = one.iter().zip(&two).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(apart < 30.0 * tolerance, "{name}, {tolerance:e}: {apart:e}");
            // What is borne where it sticks.
            let (last, other) = (rows.last().expect("rows"), other_rows.last().expect("rows"));
            assert!(last.indeterminate.iter().all(|open| !open), "{name}: loads are known");
            if !row.is_empty() {
                let written = other.multipliers.len() - 1;
                let rest = last.multipliers[written..].iter().map(|f| f * f).sum::<f64>().sqrt();
                let pairs = last.multipliers[..written].iter().zip(&other.multipliers);
                for (a, b) in pairs.chain([(&rest, &other.multipliers[written].abs())]) {
                    assert!(
                        (a - b).abs() < 100.0 * tolerance * b.abs().max(1.0),
                        "{name}: {a} {b}"
                    );
                }
            }
        }
    }
}

/// Two frictions on one bead share what they bear, however it is shared; with bounds enough for both.
#[test]
fn what_several_share_stays_open() {
    let text = "coord x, y
         kinetic (x'^2 + y'^2)/2
         constraint wire: x = 2*y
         friction one: 1 along [x', y']
         friction two: 2 along [x', y']
         force x: 2
         start x = 0, x' = 0
         run t = 0..1";
    let (report, rows) = ran(text, |_| ());
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    let last = rows.last().expect("rows");
    assert!(last.state.q.iter().all(|q| q.abs() < 1e-12), "{:?}", last.state.q);
    assert!(last.indeterminate[1..].iter().all(|open| *open), "{:?}", last.indeterminate);
}
