//! Verdicts on linear systems whose spectra were built on purpose.
//!
//! Parts of one or a few coordinates s, each with a known spectrum, are put side by side and
//! written in coordinates x with s = R x, R a random matrix of integers with determinant 1, so
//! that nothing is decoupled to the eye. What is true of the whole follows from its parts.

use dalembert::Model;
use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{
    Kind, Linearization, LinearizeError, Stability, Undecided, linearize, linearize_watched,
};
use dalembert::export::LinearizationPage;
use dalembert::export::linearization::failure_words;
use dalembert::expr::Random;
use dalembert::simulate::Setting;
use std::ops::ControlFlow;

mod support;

use support::motion::model;

fn of(model: &Model) -> Linearization {
    let setting = Setting::new(model).expect("values");
    linearize(&setting).unwrap_or_else(|error| panic!("{}: {error:?}", model.system.title))
}

fn refused(text: &str) -> String {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    match linearize(&setting) {
        Err(error) => failure_words(&error, &model),
        Ok(found) => panic!("{text}\n{:?}", found.stability),
    }
}

/// A part of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// s″ = −ω² s
    Oscillator,
    /// Two of the same frequency: semisimple.
    Pair,
    /// s″ = −ω² s − c s′
    Damped,
    /// s″ = 0: a double zero in a chain.
    Free,
    /// s″ = −c s′: a single zero.
    Braked,
    /// s₁″ = −ω² s₁, s₂″ = −ω² s₂ + s₁: chains of two on the imaginary axis.
    Resonant,
    /// The same with three: chains of three.
    Cascade,
    /// s₁″ = 0, s₂″ = s₁: a chain of four zeros, of which symmetry explains the first.
    Pushed,
    /// s″ = ω² s
    Falling,
    /// s₁″ = −s₁ + γ s₂′, s₂″ = −s₂ − γ s₁′, by L: gyroscopic.
    Gyroscopic,
}

use Part::*;

/// A model of the parts, and whether it has forces beside the potential.
fn text(parts: &[Part], random: &mut Random) -> String {
    let sizes = parts.iter().map(|p| match p {
        Pair | Resonant | Pushed | Gyroscopic => 2,
        Cascade => 3,
        _ => 1,
    });
    let n: usize = sizes.sum();
    // Elementary operations keep the determinant.
    let mut r = vec![vec![0i64; n]; n];
    (0..n).for_each(|i| r[i][i] = 1);
    for i in 0..n {
        for j in 0..n {
            let c = random.below(3) as i64 - 1;
            if i != j && c != 0 && r[i].iter().zip(&r[j]).all(|(a, b)| (a + c * b).abs() <= 2) {
                let other = r[j].clone();
                r[i].iter_mut().zip(other).for_each(|(a, b)| *a += c * b);
            }
        }
    }
    let mut text = format!("coord x[1..{n}]\n");
    let sum = |row: &[i64], prime: &str| -> String {
        let terms = row.iter().enumerate().filter(|t| *t.1 != 0);
        terms.map(|(j, c)| format!(" + ({c})*x[{}]{prime}", j + 1)).collect()
    };
    for (i, row) in r.iter().enumerate() {
        text += &format!("let s{i} = 0{}\nlet v{i} = 0{}\n", sum(row, ""), sum(row, "'"));
    }
    let mut at = 0;
    // A force on s is one on x by Rᵀ.
    let push = |text: &mut String, i: usize, force: String| {
        for (j, c) in r[i].iter().enumerate().filter(|t| *t.1 != 0) {
            *text += &format!("force x[{}]: ({c})*({force})\n", j + 1);
        }
    };
    for part in parts {
        let w = 0.5 + random.below(8) as f64 / 4.0;
        let c = 0.1 + random.below(5) as f64 / 8.0;
        let mass = |text: &mut String, at: &mut usize, stiffness: f64| {
            let i = *at;
            *text += &format!("kinetic v{i}^2/2\npotential ({stiffness})*s{i}^2/2\n");
            *at += 1;
            i
        };
        match part {
            Oscillator => {
                mass(&mut text, &mut at, w * w);
            }
            Pair => {
                mass(&mut text, &mut at, w * w);
                mass(&mut text, &mut at, w * w);
            }
            Damped | Braked => {
                let k = if *part == Damped { w * w } else { 0.0 };
                let i = mass(&mut text, &mut at, k);
                push(&mut text, i, format!("-{c}*v{i}"));
            }
            Free => {
                mass(&mut text, &mut at, 0.0);
            }
            Resonant | Cascade | Pushed => {
                let k = if *part == Pushed { 0.0 } else { w * w };
                let mut before = mass(&mut text, &mut at, k);
                for _ in 1..if *part == Cascade { 3 } else { 2 } {
                    let i = mass(&mut text, &mut at, k);
                    push(&mut text, i, format!("s{before}"));
                    before = i;
                }
            }
            Falling => {
                mass(&mut text, &mut at, -w * w);
            }
            Gyroscopic => {
                let (i, j) = (mass(&mut text, &mut at, 1.0), mass(&mut text, &mut at, 1.0));
                text += &format!("kinetic {c}*(s{i}*v{j} - s{j}*v{i})\n");
            }
        }
    }
    text
}

/// What is true of the whole.
fn expected(parts: &[Part]) -> (Stability, bool) {
    let has = |list: &[Part]| parts.iter().any(|p| list.contains(p));
    let drifts = has(&[Free, Pushed]);
    let forced = has(&[Damped, Braked, Resonant, Cascade, Pushed]);
    let verdict = if has(&[Falling]) {
        Stability::Unstable { rate: 0.0 }
    } else if has(&[Pushed]) {
        Stability::Undecided(Undecided::Drift)
    } else if has(&[Resonant, Cascade]) {
        Stability::Undecided(Undecided::Resonance)
    } else if has(&[Oscillator, Pair, Gyroscopic]) && !forced {
        Stability::Stable
    } else if has(&[Oscillator, Pair, Gyroscopic]) {
        Stability::Undecided(Undecided::ImaginaryAxis)
    } else if has(&[Damped, Braked]) {
        Stability::AsymptoticallyStable
    } else {
        Stability::Neutral
    };
    (verdict, drifts)
}

#[test]
fn verdicts_of_systems_with_known_spectra() {
    const CASES: u64 = 200;
    const PARTS: [Part; 10] =
        [Oscillator, Pair, Damped, Free, Braked, Resonant, Cascade, Pushed, Falling, Gyroscopic];
    let mut random = Random::new(5);
    for case in 0..CASES {
        // Each part alone first, then each pair with itself, then anything.
        let parts: Vec<Part> = match case {
            0..10 => vec![PARTS[case as usize]],
            10..20 => vec![PARTS[case as usize - 10]; 2],
            _ => (0..1 + random.below(3)).map(|_| PARTS[random.below(10)]).collect(),
        };
        let text = text(&parts, &mut random);
        let found = of(&model(&text));
        let (verdict, drifts) = expected(&parts);
        assert_eq!(found.kind, Kind::Equilibrium);
        let same = match (found.stability, verdict) {
            (Stability::Unstable { rate }, Stability::Unstable { .. }) => rate > 0.4,
            (found, verdict) => found == verdict,
        };
        assert!(same, "{parts:?}\n{text}\n{:?}\n{:?}", found.stability, found.spectrum);
        assert_eq!(found.spectrum.drifts, drifts, "{parts:?}\n{text}\n{:?}", found.spectrum);
    }
}

/// Damping far below the frequency and above rounding, at one frequency or two, and with its
/// sign turned.
#[test]
fn weak_damping_is_seen() {
    for damping in ["1e-3", "1e-6", "1e-9", "1e-11"] {
        for ratio in ["1", "2.5"] {
            let system = |sign: &str| {
                of(&model(&format!(
                    "coord x, y\nkinetic x'^2/2 + y'^2/2\npotential x^2 + {ratio}*y^2
                     force x: -{damping}*x'\nforce y: {sign}{damping}*y'"
                )))
            };
            assert_eq!(system("-").stability, Stability::AsymptoticallyStable, "{damping}");
            let Stability::Unstable { rate } = system("").stability else { panic!("{damping}") };
            let exact: f64 = damping.parse::<f64>().expect("a number") / 2.0;
            assert!((rate - exact).abs() < 1e-2 * exact, "{rate} {exact}");
        }
    }
}

#[test]
fn what_is_free_is_neutral_and_drifts() {
    for text in [
        "coord x\nkinetic x'^2/2",
        "coord x, y, z\nkinetic x'^2 + y'^2 + z'^2",
        // A force that is 0 is none.
        "param F = 0\ncoord x, y\nkinetic x'^2/2 + y'^2\nforce x: F\nstart x = 1",
        "param c = 0\ncoord x\nkinetic x'^2/2\nforce x: -c*x'",
    ] {
        let model = model(text);
        let found = of(&model);
        assert_eq!(found.stability, Stability::Neutral, "{text}");
        assert!(found.spectrum.drifts && !found.minimum);
        let page = LinearizationPage { model: &model, found: &found };
        assert!(page.to_text().contains("drifts away at a constant rate"), "{}", page.to_text());
    }
    // Damping that is 0 does not hide a minimum.
    let found = of(&model("param c = 0\ncoord x\nkinetic x'^2/2\npotential x^2\nforce x: -c*x'"));
    assert_eq!(found.stability, Stability::Stable);
    // Two masses with a spring between them: stable but for drifting.
    let pair =
        model("coord x, y\nkinetic x'^2 + y'^2\npotential (x - y - 1)^2\nstart x = 1, y = 0");
    let found = of(&pair);
    assert_eq!((found.stability, found.spectrum.drifts), (Stability::Stable, true));
    let page = LinearizationPage { model: &pair, found: &found }.to_text();
    assert!(page.contains("stable up to drift"), "{page}");
    // With friction a free mass comes to rest, but not where it was.
    let braked = model("coord x\nkinetic x'^2/2\nforce x: -x'");
    let found = of(&braked);
    assert_eq!((found.stability, found.spectrum.drifts), (Stability::AsymptoticallyStable, false));
    let page = LinearizationPage { model: &braked, found: &found }.to_text();
    assert!(page.contains("asymptotically stable up to the symmetries"), "{page}");
    assert!(page.contains("comes to rest elsewhere"), "{page}");
}

#[test]
fn a_hovering_body_is_a_double_integrator_in_place_and_heading() {
    let found = of(&model(
        "coord x, y, z, e[0..3]
         gravity [0, 0, -9.81]
         body q: mass 1, inertia [0.02, 0.02, 0.04], at [x, y, z], turning Rq(e)
         constraint unit: dot(e, e) = 1
         force Rq(e)*[0, 0, 9.81] at q.position
         start e = [1, 0, 0, 0]",
    ));
    assert_eq!(found.spectrum.count_zeros(), 12);
    assert_eq!(found.stability, Stability::Undecided(Undecided::Drift));
    let second = found.second_order.expect("by T");
    // u = (x', y', z', e₁', e₂', e₃'): a tilt pushes sideways, nothing else acts.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    for i in 0..6 {
        for j in 0..6 {
            let mass = if i == j { [1.0, 1.0, 1.0, 0.08, 0.08, 0.16][i] } else { 0.0 };
            let stiffness = match (i, j) {
                (0, 4) => -19.62,
                (1, 3) => 19.62,
                _ => 0.0,
            };
            assert!(near(second.mass[i * 6 + j], mass), "{:?}", second.mass);
            assert!(near(second.stiffness[i * 6 + j], stiffness), "{:?}", second.stiffness);
            assert!(near(second.damping[i * 6 + j], 0.0));
        }
    }
}

/// Euler's equations about a permanent rotation Ω about axis k, with i and j the others:
/// λ² = −Ω² (J_k − J_i)(J_k − J_j)/(J_i J_j).
#[test]
fn permanent_rotations_of_a_free_body() {
    for axis in 0..3 {
        for orientation in ["[1, 0, 0, 0]", "[0.5, 0.5, 0.5, 0.5]", "[0.6, 0, 0.8, 0]"] {
            let omega = ["[1.25, 0, 0]", "[0, 1.25, 0]", "[0, 0, 1.25]"][axis];
            let found = of(&model(&format!(
                "coord e[0..3]
                 body q: mass 1, inertia [1, 2, 3.5], at [0, 0, 0], turning Rq(e)
                 constraint unit: dot(e, e) = 1
                 let w = {omega}
                 let o = {orientation}
                 start e = {orientation}
                 start e[0]' = (-o[2]*w[1] - o[3]*w[2] - o[4]*w[3])/2
                 start e[1]' = (o[1]*w[1] + o[3]*w[3] - o[4]*w[2])/2
                 start e[2]' = (o[1]*w[2] + o[4]*w[1] - o[2]*w[3])/2
                 start e[3]' = (o[1]*w[3] + o[2]*w[2] - o[3]*w[1])/2"
            )));
            assert_permanent(&found, axis);
        }
    }
}

/// The same in Euler angles, about axes that lie anywhere, with a place beside.
#[test]
fn permanent_rotations_in_euler_angles() {
    for axis in 0..3 {
        let omega = ["[1.25, 0, 0]", "[0, 1.25, 0]", "[0, 0, 1.25]"][axis];
        for (place, at) in [("", "[0, 0, 0]"), ("x, y, z, ", "[x, y, z]")] {
            let found = of(&model(&format!(
                "coord {place}al, be, ga
                 body q: mass 1, inertia [1, 2, 3.5], at {at}, turning Rz(al)*Rx(be)*Rz(ga)
                 let w = {omega}
                 let rate = (w[1]*sin(0.4) + w[2]*cos(0.4))/sin(1)
                 start al = 0.3, be = 1, ga = 0.4
                 start al' = rate, be' = w[1]*cos(0.4) - w[2]*sin(0.4), ga' = w[3] - rate*cos(1)"
            )));
            assert_permanent(&found, axis);
        }
    }
}

fn assert_permanent(found: &Linearization, axis: usize) {
    let inertia: [f64; 3] = [1.0, 2.0, 3.5];
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let square = -1.25 * 1.25 * (inertia[axis] - inertia[i]) * (inertia[axis] - inertia[j])
        / (inertia[i] * inertia[j]);
    assert_eq!(found.kind, Kind::SteadyMotion);
    assert!(found.at_start && found.released.is_empty());
    assert_eq!(found.spectrum.modes.len(), 2, "{:?}", found.spectrum);
    let [re, im] = found.spectrum.modes[0].value;
    if square > 0.0 {
        assert!((re - square.sqrt()).abs() < 1e-11 && im == 0.0, "{re} {im} {square}");
        assert!(matches!(found.stability, Stability::Unstable { .. }));
    } else {
        assert!((im - (-square).sqrt()).abs() < 1e-11 && re == 0.0, "{re} {im} {square}");
        // Another rate of rotation is a neighbouring steady motion.
        assert_eq!(found.stability, Stability::Undecided(Undecided::ImaginaryAxis));
    }
}

#[test]
fn what_pushes_is_told_with_the_constraint_forces_that_belong_to_it() {
    let words = refused(
        "param g = 9.81, m = 1.7, mu = 0.3, F = 8
         coord x, y
         gravity [0, -g]
         particle box: mass m, at [x, y]
         constraint floor: y = 0
         force [F, 0] at box.position
         nonideal [-mu*multiplier(floor), 0] at box.position",
    );
    // F − μ m g
    assert!(words.ends_with("forces are left: 2.9969 on `x`"), "{words}");
}

/// Friction by a normal force that a spring changes: N = m g + k x, so that its slope is a
/// spring itself.
#[test]
fn friction_by_a_multiplier_is_linearized_with_it() {
    let found = of(&model(
        "param mu = 0.25
         coord x, y
         kinetic (x'^2 + y'^2)/2
         potential 2*x^2 + (9 + 4*x)*y
         constraint floor: y = 0
         force x: -0.5*x'
         nonideal x: -mu*multiplier(floor)
         start x ~ -0.3",
    ));
    // x″ = −4 x − x′/2 − μ (9 + 4 x)
    assert!((found.state.q[0] + 9.0 / 20.0).abs() < 1e-12, "{:?}", found.state);
    let second = found.second_order.expect("by T");
    assert!((second.stiffness[0] - 5.0).abs() < 1e-12, "{second:?}");
    assert!((second.damping[0] - 0.5).abs() < 1e-12, "{second:?}");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}

/// At rest dry friction is no smooth force, and nothing is claimed; a one-sided spring whose
/// force and slope meet at 0 has linear equations.
#[test]
fn at_a_switch_there_are_linear_equations_if_both_sides_agree() {
    let words = refused(
        "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9*y\nconstraint floor: y = 0
         nonideal x: -0.3*abs(multiplier(floor))*sign(x')",
    );
    assert!(words.contains("no derivatives"), "{words}");
    assert!(refused("coord x\nkinetic x'^2/2\npotential abs(x)*x").contains("no derivatives"));
    let found = of(&model("coord x\nkinetic x'^2/2\npotential x^2/2 + max(x, 0)^3"));
    assert_eq!(found.stability, Stability::Stable);
}

/// What a start asks for and gets, up to rounding, is kept.
#[test]
fn what_is_kept_to_rounding_is_kept() {
    for (x, y) in [("0.6", "0.8"), ("1/3", "sqrt(8/9)"), ("0", "1"), ("1e-9", "sqrt(1 - 1e-18)")] {
        let found = of(&model(&format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint rod: x^2 + y^2 = 1
             start x = {x}, y ~ {y} + 1e-7"
        )));
        assert!(found.released.is_empty(), "{x}: {:?}", found.released);
    }
}

#[test]
fn a_linearisation_ends_where_it_is_told_to() {
    let model = model("coord x\nkinetic x'^2/2\npotential x^2\nstart x ~ 1");
    let setting = Setting::new(&model).expect("values");
    let stop = |_: &'static str| ControlFlow::Break(());
    let found = linearize_watched(&setting, &Watch::by(&stop));
    assert!(matches!(found, Err(LinearizeError::Interrupted)));
}
