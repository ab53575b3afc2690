//! A constraint whose multiplier is written as a coordinate, V = … + λ φ(q, t): completed, it is
//! the motion of the constraint, and λ is its multiplier, also at rest.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::Observation;
use dalembert::simulate::points::hidden::complete;
use dalembert::simulate::run::{self, RunOptions};
use dalembert::simulate::{Setting, Tolerances};
use std::ops::ControlFlow;
use support::motion;

/// A model with real constraints, and the same with multipliers `l1`, `l2`, … for coordinates.
struct Pair {
    energies: String,
    coordinates: &'static str,
    /// φ of those that are rewritten.
    rewritten: Vec<String>,
    /// Constraints that both have.
    kept: Vec<String>,
    start: String,
}

impl Pair {
    fn real(&self) -> String {
        let rows: String =
            self.rewritten.iter().map(|phi| format!("constraint {phi} = 0\n")).collect();
        self.text(self.coordinates.to_owned(), String::new(), rows)
    }

    fn by_coordinates(&self) -> String {
        let names: Vec<String> = (1..=self.rewritten.len()).map(|k| format!("l{k}")).collect();
        let extra: String =
            names.iter().zip(&self.rewritten).map(|(l, phi)| format!(" + {l}*({phi})")).collect();
        self.text(format!("{}, {}", self.coordinates, names.join(", ")), extra, String::new())
    }

    fn text(&self, coordinates: String, extra: String, rows: String) -> String {
        let kept: String = self.kept.iter().map(|row| format!("constraint {row}\n")).collect();
        let (energies, start) = (&self.energies, &self.start);
        format!("coord {coordinates}\n{energies}{extra}\n{rows}{kept}{start}\nrun t = 0..1.5\n")
    }
}

/// Curves, moving curves, two at once, beside real constraints; at rest or moving.
fn pair(seed: u64) -> Pair {
    let mut random = Random::new(seed.wrapping_mul(77) + 5);
    for _ in 0..4 {
        random.signed();
    }
    let mut r = || random.signed();
    let (m, g, a) = (1.0 + 0.5 * r(), 3.0 + r(), 1.0 + 0.4 * r());
    let speed = if seed.is_multiple_of(2) { 0.0 } else { 0.5 + 0.2 * r() };
    let plane = format!("kinetic (x'^2 + {m}*y'^2)/2\npotential {g}*y + {}*x^2", 0.3 * r());
    let space = format!("kinetic (x'^2 + {m}*y'^2 + z'^2)/2\npotential {g}*y + {}*z*x", 0.3 * r());
    let on_ellipse = format!("start x = 0.6, y ~ -0.8, x' = {speed}");
    let flat = |rewritten: Vec<String>, kept: Vec<String>, start: String| Pair {
        energies: plane.clone(),
        coordinates: "x, y",
        rewritten,
        kept,
        start,
    };
    let deep = |rewritten: Vec<String>, kept: Vec<String>| Pair {
        energies: space.clone(),
        coordinates: "x, y, z",
        rewritten,
        kept,
        start: format!("start x = 0.6, z ~ 0.2, y ~ -0.8, x' = {speed}, z' ~ 0"),
    };
    let (s, w) = (r(), 1.0 + r().abs());
    let ellipse = format!("x^2 + {a}*y^2 - 1");
    let sphere = format!("x^2 + {a}*y^2 + z^2 - 1");
    match seed % 8 / 2 + 4 * (seed / 8 % 2) {
        0 => flat(vec![ellipse], vec![], on_ellipse),
        1 => flat(vec![format!("y - {s}*sin({w}*x) + 0.3")], vec![], on_ellipse),
        2 => flat(vec![format!("y - {s}*x + 0.2*sin({w}*t)")], vec![], on_ellipse),
        3 => flat(vec![format!("{ellipse} - 0.1*sin({w}*t)")], vec![], on_ellipse),
        4 => deep(vec![sphere], vec![]),
        5 => deep(vec![sphere], vec![format!("z = {}*x*y", 0.5 * s)]),
        6 => deep(vec![sphere, format!("z - {s}*x*y")], vec![]),
        _ => deep(vec![format!("y + 0.5 - {s}*x*z")], vec![format!("z' = {}*y*x'", 0.5 * s)]),
    }
}

/// The ends of a run of the completed text, and λ of the constraints of one that is as it is.
fn ended(text: &str, completes: bool) -> Observation {
    let mut model = motion::model(text);
    if completes {
        let completed = complete(&model, &Tolerances::default());
        model = completed.unwrap_or_else(|e| panic!("{e:?}\n{text}")).model;
    }
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    options.tolerance = 1e-10;
    let report = run::run(&setting, &options, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    assert!(report.verdict().is_ok(), "{:?}\n{text}", report.verdict());
    report.last.expect("an end")
}

#[test]
fn a_multiplier_as_a_coordinate_gives_the_motion_of_the_constraint() {
    for seed in 0..32 {
        let pair = pair(seed);
        let (real, written) = (ended(&pair.real(), false), ended(&pair.by_coordinates(), true));
        let n = real.state.q.len();
        for i in 0..n {
            let off = (real.state.q[i] - written.state.q[i])
                .abs()
                .max((real.state.velocity[i] - written.state.velocity[i]).abs());
            assert!(off < 1e-7, "{seed}: coordinate {i} by {off:e}\n{}", pair.by_coordinates());
        }
        for k in 0..pair.rewritten.len() {
            // Qᶜ = φ_q λ for the row, −λ φ_q for the potential.
            let (lambda, coordinate) = (real.multipliers[k], written.state.q[n + k]);
            let off = (lambda + coordinate).abs() / lambda.abs().max(1.0);
            assert!(off < 1e-6, "{seed}: {lambda} {coordinate}\n{}", pair.by_coordinates());
        }
    }
}

/// The model of the trial: at rest, with the multiplier given to the digit.
#[test]
fn the_pendulum_at_rest() {
    let text = "coord x,y,lam\nkinetic (x'^2+y'^2)/2\npotential 9.81*y+lam*(x^2+y^2-1)\n\
                start x=0.6,y=-0.8,lam=3.924\nrun t=0..3\n";
    let end = ended(text, true);
    let real = "coord x,y\nkinetic (x'^2+y'^2)/2\npotential 9.81*y\nconstraint x^2+y^2=1\n\
                start x=0.6,y=-0.8\nrun t=0..3\n";
    let wanted = ended(real, false);
    for i in 0..2 {
        assert!((end.state.q[i] - wanted.state.q[i]).abs() < 1e-8);
    }
    assert!((end.state.q[2] + wanted.multipliers[0]).abs() < 1e-7);
}

/// A whole turn, through the places where x or y vanish.
#[test]
fn a_pendulum_that_turns_over() {
    let text = "coord x,y,lam\nkinetic (x'^2+y'^2)/2\npotential 9.81*y+lam*(x^2+y^2-1)\n\
                start x=0,y=-1,x'=7\nrun t=0..3\n";
    let end = ended(text, true);
    let angle = "coord a\nkinetic a'^2/2\npotential -9.81*cos(a)\nstart a'=7\nrun t=0..3\n";
    let wanted = ended(angle, false).state.q[0];
    assert!(wanted > 7.0, "{wanted}");
    let off = (end.state.q[0] - wanted.sin()).abs().max((end.state.q[1] + wanted.cos()).abs());
    assert!(off < 1e-7, "{off:e}");
}

/// A value that does not go with the rest of the start is a contradiction, and said to be one.
#[test]
fn a_multiplier_held_at_a_wrong_value_is_told() {
    let text = "coord x,y,lam\nkinetic (x'^2+y'^2)/2\npotential 9.81*y+lam*(x^2+y^2-1)\n\
                start x=0.6,y=-0.8,lam=3\nrun t=0..3\n";
    let model = motion::model(text);
    let Err(error) = complete(&model, &Tolerances::default()) else { panic!("it was accepted") };
    let words = format!("{error:?}");
    assert!(words.contains("`lam` is held at 3"), "{words}");
}

/// A double pendulum with both rods written by coordinates, from angles against the vertical that
/// are random or special: rods that hang, stand or lie, in line or folded.
#[test]
fn double_pendulums_by_coordinates() {
    let right = std::f64::consts::FRAC_PI_2;
    let special = [0.0, 2.0 * right, right, -right, 0.6435011087932844];
    let mut random = Random::new(41);
    random.signed();
    for seed in 0..16 {
        let (m1, m2, g) = (1.0 + 0.5 * random.signed(), 1.0 + 0.5 * random.signed(), 9.81);
        let any = 3.0 * random.signed();
        let first = if seed % 6 < 5 { special[seed % 5] } else { any };
        // In line, next to it, folded, or any.
        let second = match seed % 4 {
            0 => first,
            1 => first + 10f64.powi(-5 - 2 * (seed as i32 / 4)),
            2 => first + 2.0 * right,
            _ => 3.0 * random.signed(),
        };
        let moves = if seed % 3 == 0 { 0.0 } else { 1.0 };
        let spins = [moves * random.signed(), moves * random.signed()];
        let place = |a: f64, w: f64| [a.sin(), -a.cos(), w * a.cos(), w * a.sin()];
        let (p, r) = (place(first, spins[0]), place(second, spins[1]));
        let (rods, masses) = (
            ["x1^2 + y1^2 - 1", "(x2 - x1)^2 + (y2 - y1)^2 - 1"],
            format!("kinetic ({m1}*(x1'^2 + y1'^2) + {m2}*(x2'^2 + y2'^2))/2"),
        );
        let pair = Pair {
            energies: format!("{masses}\npotential {g}*({m1}*y1 + {m2}*y2)"),
            coordinates: "x1, y1, x2, y2",
            rewritten: rods.map(str::to_owned).to_vec(),
            kept: Vec::new(),
            start: format!(
                "start x1 ~ {}, y1 ~ {}, x2 ~ {}, y2 ~ {}, x1' ~ {}, y1' ~ {}, x2' ~ {}, y2' ~ {}",
                p[0],
                p[1],
                p[0] + r[0],
                p[1] + r[1],
                p[2],
                p[3],
                p[2] + r[2],
                p[3] + r[3]
            ),
        };
        let text = |text: String| text.replace("0..1.5", "0..0.4");
        let real = ended(&text(pair.real()), false);
        let written = ended(&text(pair.by_coordinates()), true);
        let off = (0..4).fold(0f64, |m, i| {
            let (a, b) = (&real.state, &written.state);
            m.max((a.q[i] - b.q[i]).abs()).max((a.velocity[i] - b.velocity[i]).abs())
        });
        let forces = (0..2).fold(0f64, |m, k| {
            let (lambda, coordinate) = (real.multipliers[k], written.state.q[4 + k]);
            m.max((lambda + coordinate).abs() / lambda.abs().max(1.0))
        });
        assert!(
            off < 1e-7 && forces < 1e-6,
            "{seed}: {off:e} {forces:e}\n{}",
            pair.by_coordinates()
        );
    }
}
