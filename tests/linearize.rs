//! Equilibria, steady motions and their spectra against reference values.

mod support;

use dalembert::analyze::linearize::{
    Complex, Kind, Linearization, LinearizeError, Stability, Undecided, linearize,
};
use dalembert::expr::Random;
use dalembert::simulate::{Setting, State};
use dalembert::{Input, Model, Options};
use serde_json::Value;
use support::oracle_model::*;

fn of(model: &Model) -> Linearization {
    let setting = Setting::new(model).expect("values");
    linearize(&setting).unwrap_or_else(|error| panic!("{}: {error:?}", model.system.title))
}

fn gallery(name: &str, set: &str) -> Model {
    let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
    let options = Options { set: vec![set.to_owned()], ..Options::default() };
    let loaded = dalembert::load(&input, &options);
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics))
}

fn modes(found: &Linearization) -> Vec<Complex> {
    found.spectrum.modes.iter().map(|m| m.value).collect()
}

/// Every wanted eigenvalue has one of its own among the found ones, and none is left.
fn agree(found: &[Complex], wanted: &[Complex], tolerance: f64) -> Result<(), String> {
    let mut left = found.to_vec();
    for w in wanted {
        let off = |f: &Complex| (f[0] - w[0]).hypot(f[1] - w[1]);
        let best = (0..left.len()).min_by(|&i, &j| off(&left[i]).total_cmp(&off(&left[j])));
        let Some(best) = best else { return Err(format!("{w:?} is missing")) };
        let limit = tolerance * w[0].hypot(w[1]);
        if off(&left[best]) > limit {
            return Err(format!("{w:?} is {:?}, off by {:e}", left[best], off(&left[best])));
        }
        left.remove(best);
    }
    if left.is_empty() { Ok(()) } else { Err(format!("more than wanted: {left:?}")) }
}

fn expected(oracle: &Value) -> (Vec<Complex>, usize) {
    let pairs = oracle["expected"]["nonzero_eigenvalues_re_im"].as_array().expect("pairs");
    let pairs = pairs.iter().map(|p| {
        let x = numbers(p);
        [x[0], x[1]]
    });
    let zeros = oracle["expected"]["zero_eigenvalues_on_manifold"].as_u64().expect("a count");
    (pairs.collect(), zeros as usize)
}

#[test]
fn spectra_of_the_reference_values() {
    let mut compared = 0;
    for oracle in of_kind("linearisation") {
        let (wanted, zeros) = expected(&oracle);
        let (text, fixed) = match name(&oracle) {
            // The bead on the hoop, driven and free, has no model of its own in the file.
            "L-003-2.5-steady" => (
                "param r = 1.25, g = 9.8125, Om = 3; coord th
                 kinetic r^2/2*(th'^2 + Om^2*sin(th)^2); potential g*r*cos(th)
                 start th ~ 2.6"
                    .to_owned(),
                0,
            ),
            // There the momentum is fixed; here φ and its momentum are two zeros more.
            "L-003-2.6-steady" => (
                "param r = 1.25, g = 9.8125; coord ph, th
                 kinetic r^2/2*(th'^2 + ph'^2*sin(th)^2); potential g*r*cos(th)
                 start th ~ 2.6, ph' = 3"
                    .to_owned(),
                2,
            ),
            _ => {
                let state = &oracle["state"];
                let items: Vec<String> = strings(&oracle["model"]["q"])
                    .iter()
                    .zip(strings(&state["q"]).iter().zip(strings(&state["qdot"])))
                    .map(|(c, (q, v))| format!("{c} = {q}, {c}' = {v}"))
                    .collect();
                (format!("{}\nstart {}", model_text(&oracle), items.join(", ")), 0)
            }
        };
        let model = model(&text);
        let found = of(&model);
        if let Err(why) = agree(&modes(&found), &wanted, 1e-13) {
            panic!("{}: {why}\n{:#?}", name(&oracle), found.spectrum);
        }
        assert_eq!(found.spectrum.count_zeros(), zeros + fixed, "{}", name(&oracle));
        if let Some(dimension) = oracle["manifold_dim"].as_u64() {
            assert_eq!(found.reduced.dimension() as u64, dimension, "{}", name(&oracle));
        }
        compared += 1;
    }
    assert_eq!(compared, 9);
}

fn bicycle(speed: f64) -> Linearization {
    of(&gallery("whipple-bicycle", &format!("x'={speed:?}")))
}

/// The weave pair (positive imaginary part) and the two real eigenvalues, the larger first.
fn weave_and_reals(found: &Linearization) -> (Complex, Vec<f64>) {
    let all = modes(found);
    let weave = *all.iter().find(|z| z[1] > 0.0).expect("a pair");
    (weave, all.iter().filter(|z| z[1] == 0.0).map(|z| z[0]).collect())
}

/// A root of a smooth function between two points of opposite sign: false position with the
/// weights of the Illinois method, the last step from the two nearest points.
fn root(mut a: f64, mut b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut fa, mut fb) = (f(a), f(b));
    assert!(fa * fb < 0.0, "{fa} {fb}");
    for _ in 0..40 {
        let c = b - fb * (b - a) / (fb - fa);
        let fc = f(c);
        if fc == 0.0 || (c - b).abs() <= 1e-13 * c.abs() {
            return c;
        }
        if fc * fb < 0.0 {
            (a, fa) = (b, fb);
        } else {
            fa /= 2.0;
        }
        (b, fb) = (c, fc);
    }
    b
}

fn benchmark() -> Value {
    let file: Value = serde_json::from_str(include_str!("data/cases.json")).expect("JSON");
    let cases = file["cases"].as_array().or(file.as_array()).expect("a list").clone();
    cases.into_iter().find(|c| c["name"] == "whipple_linear").expect("the case")["outputs"].clone()
}

#[test]
fn the_bicycle_has_the_published_eigenvalues() {
    let wanted = benchmark();
    let number = |name: String| wanted[&name].as_f64().unwrap_or_else(|| panic!("{name}"));
    for v in 0..=10 {
        let list: Vec<Complex> = if v == 0 {
            (1..=4).map(|k| [number(format!("v0_real{k}")), 0.0]).collect()
        } else {
            let [re, im] = ["re", "im"].map(|part| number(format!("v{v}_weave_{part}")));
            let real = |name: &str| [number(format!("v{v}_{name}")), 0.0];
            vec![[re, im], [re, -im], real("castering"), real("capsize")]
        };
        let found = bicycle(f64::from(v));
        if let Err(why) = agree(&modes(&found), &list, 4e-12) {
            panic!("{v}: {why}");
        }
        // Of twelve dimensions, six are symmetries (place, height, heading, both wheels), two
        // are the speed and a pitch that only the integrated constraints forbid.
        assert_eq!(found.reduced.dimension(), 12);
        assert_eq!(found.spectrum.symmetric_zeros, 6);
        assert_eq!(found.spectrum.zeros, [2]);
        let stable = (5..=6).contains(&v);
        assert_eq!(found.stability == Stability::AsymptoticallyStable, stable, "{v}");
        assert_eq!(found.kind, if v == 0 { Kind::Equilibrium } else { Kind::SteadyMotion });
        assert!(found.at_start);
    }
}

#[test]
fn the_bicycle_is_stable_between_weave_and_capsize_speed() {
    let wanted = benchmark();
    let number = |name: &str| wanted[name].as_f64().expect("a number");
    let weave = root(4.0, 4.6, |v| weave_and_reals(&bicycle(v)).0[0]);
    assert!((weave / number("v_weave") - 1.0).abs() < 1e-11, "{weave}");
    let at_weave = weave_and_reals(&bicycle(weave)).0[1];
    assert!((at_weave / number("omega_weave") - 1.0).abs() < 1e-10, "{at_weave}");
    // At the capsize speed itself the eigenvalue is counted among the zeros.
    let capsize = root(5.8, 6.2, |v| {
        let reals = weave_and_reals(&bicycle(v)).1;
        if reals.len() == 2 { reals[0] } else { 0.0 }
    });
    assert!((capsize / number("v_capsize") - 1.0).abs() < 1e-11, "{capsize}");
}

#[test]
fn the_bicycle_s_matrices_are_the_canonical_ones() {
    let wanted = benchmark();
    let number = |name: String| wanted[&name].as_f64().unwrap_or_else(|| panic!("{name}"));
    let v = 5.0;
    let found = bicycle(v);
    let second = found.second_order.as_ref().expect("given by T and V");
    let coordinate = |name: &str| {
        let model = gallery("whipple-bicycle", "g=9.81");
        model.system.coordinates.iter().position(|c| c.name == name).expect("a coordinate")
    };
    let [roll, steer] = ["roll", "steer"].map(coordinate);
    let u = |c: usize| found.reduced.velocities.iter().position(|&i| i == c).expect("free");
    let z = |c: usize| found.reduced.positions.iter().position(|&i| i == c).expect("free");
    let (nu, nz) = (found.reduced.velocities.len(), found.reduced.positions.len());
    let pair = [roll, steer];
    for (i, &row) in pair.iter().enumerate() {
        for (j, &column) in pair.iter().enumerate() {
            let of = |letter: &str| number(format!("{letter}{}{}", i + 1, j + 1));
            let mass = second.mass[u(row) * nu + u(column)];
            let damping = second.damping[u(row) * nu + u(column)];
            let stiffness = second.stiffness[u(row) * nz + z(column)];
            let close = |a: f64, b: f64| (a - b).abs() < 1e-11 * (1.0 + b.abs());
            assert!(close(mass, of("M")), "M{i}{j} {mass} {}", of("M"));
            assert!(close(damping, v * of("C1")), "C{i}{j} {damping} {}", v * of("C1"));
            let k = 9.81 * of("K0") + v * v * of("K2");
            assert!(close(stiffness, k), "K{i}{j} {stiffness} {k}");
        }
    }
}

/// An upright disk or hoop: λ² of its wobble at a spin.
fn wobble(inertia: &str, spin_squared: f64) -> f64 {
    let text = format!(
        "param m = 2, R = 0.5, g = 9.8125, A = {inertia}, C = 2*A
         coord x, y, z, ph, th, ps
         kinetic m*(x'^2+y'^2+z'^2)/2+A*(th'^2+ph'^2*sin(th)^2)/2+C*(ps'+ph'*cos(th))^2/2
         potential m*g*z
         constraint up: z = R*sin(th)
         constraint a: x'-R*th'*sin(ph)*sin(th)+R*(ps'+ph'*cos(th))*cos(ph) = 0
         constraint b: y'+R*th'*cos(ph)*sin(th)+R*(ps'+ph'*cos(th))*sin(ph) = 0
         start th = pi/2, ps' = {:?}",
        spin_squared.sqrt()
    );
    let found = of(&model(&text));
    assert!(found.at_start && found.kind == Kind::SteadyMotion);
    let [re, im] = modes(&found).first().copied().unwrap_or_default();
    re * re - im * im
}

#[test]
fn an_upright_disk_needs_a_spin_squared_of_a_third_of_g_over_r() {
    let (g, r) = (9.8125, 0.5);
    let disk = root(4.0, 9.0, |w| wobble("m*R^2/4", w));
    assert!((disk / (g / (3.0 * r)) - 1.0).abs() < 1e-12, "{disk}");
    let hoop = root(3.0, 8.0, |w| wobble("m*R^2/2", w));
    assert!((hoop / (g / (4.0 * r)) - 1.0).abs() < 1e-12, "{hoop}");
}

/// S by differences of the rates that `dal eval` gives, along the tangent vectors.
fn by_differences(model: &Model, found: &Linearization) -> Vec<f64> {
    let setting = Setting::new(model).expect("values");
    let lagrange = dalembert::simulate::report::Options::of_model(model);
    let n = model.system.n_coordinates();
    let rates = |sign: f64, column: &[f64], h: f64| -> Vec<f64> {
        let moved = |x: &[f64], d: &[f64]| -> Vec<f64> {
            x.iter().zip(d).map(|(x, d)| x + sign * h * d).collect()
        };
        let q = moved(&found.state.q, &column[..n]);
        let v = moved(&found.state.velocity, &column[n..]);
        let state = State::of_velocities(&setting, found.state.t, q, v.clone()).expect("a state");
        let report = dalembert::simulate::report::at(&setting, &state, &lagrange).expect("numbers");
        let evaluation = report.answers[0].result.as_ref().expect("applies");
        [v, evaluation.accelerations.clone()].concat()
    };
    let d = found.reduced.dimension();
    let mut matrix = vec![0.0; d * d];
    let h = 3e-6;
    for (j, column) in found.reduced.tangent.iter().enumerate() {
        let (plus, minus) = (rates(1.0, column, h), rates(-1.0, column, h));
        let slope: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let (q, v) = (&slope[..n], &slope[n..]);
        let less = |x: &[f64], of: &[f64]| -> Vec<f64> {
            x.iter().zip(found.along.turned(of)).map(|(a, b)| a - b).collect()
        };
        let free = found.reduced.free(&[less(q, &column[..n]), less(v, &column[n..])].concat());
        free.iter().enumerate().for_each(|(i, x)| matrix[i * d + j] = *x);
    }
    matrix
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(1f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0f64, |m, (x, y)| m.max((x - y).abs())) / size
}

#[test]
fn the_matrix_is_the_derivative_of_the_rates() {
    for name in [
        "double-pendulum",
        "four-bar",
        "knife-edge",
        "rolling-disk",
        "spinning-top",
        "spherical-pendulum",
        "quaternion-body",
        "two-masses",
        "n-link-chain",
        "bracket-particle",
        "greenwood-hoop-cartesian",
        "benchmarks/chaplygin-sleigh",
        "benchmarks/kepler",
        "benchmarks/ball-on-turntable",
        "whipple-bicycle",
    ] {
        let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let found = of(&model);
        let differences = by_differences(&model, &found);
        let off = largest_difference(&found.reduced.matrix, &differences);
        assert!(off < 2e-8, "{name}: {off:e}");
    }
}

/// A system with an equilibrium near 0: a curved metric, a potential with a minimum, gyroscopic
/// and dissipative terms, a holonomic and a velocity-level constraint.
fn random_system(seed: u64) -> String {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut r = || (random.signed() * 64.0).round() / 64.0;
    let n = 4;
    let mut kinetic = Vec::new();
    let mut potential = Vec::new();
    for i in 1..=n {
        kinetic.push(format!("(1 + ({})*q[{i}] + q[{i}]^2)*q[{i}]'^2", r() / 2.0));
        potential.push(format!("({})*q[{i}]^2 + ({})*q[{i}]^3", 3.0 + r(), r() / 4.0));
        for j in i + 1..=n {
            kinetic.push(format!("({})*q[{i}]'*q[{j}]'*cos(q[{j}])", r() / 4.0));
            potential.push(format!("({})*q[{i}]*q[{j}]", r()));
        }
        potential.push(format!("({})*q[{i}]", r() / 8.0));
    }
    let (a, b, c, d, e) = (r(), r(), r(), r(), r());
    format!(
        "coord q[1..{n}]
         kinetic {}
         kinetic ({a})*q[2]*q[1]'
         potential {}
         dissipation ({})*q[3]'^2/2
         constraint surface: q[1] + ({b})*sin(q[2]) + ({c})*q[3]^2 = 0
         constraint skate: q[4]' + (({d}) + q[1])*q[2]' + ({e})*q[3]*q[1]' = 0
         start q[1] ~ 0.1, q[2] ~ -0.1",
        kinetic.join(" + "),
        potential.join(" + "),
        0.25 + r().abs()
    )
}

#[test]
fn random_systems_agree_with_differences() {
    for seed in 1..=24 {
        let text = random_system(seed);
        let model = model(&text);
        let found = of(&model);
        assert_eq!(found.kind, Kind::Equilibrium, "{text}");
        // Four coordinates less one, and four velocities less two.
        assert_eq!(found.reduced.dimension(), 5, "{text}");
        // One nonholonomic row: one zero, a curve of equilibria.
        assert_eq!(found.spectrum.count_zeros(), 1, "{text}\n{:#?}", found.spectrum);
        if !matches!(found.stability, Stability::Unstable { .. }) {
            assert_eq!(found.family, Some(1), "{text}");
        }
        let off = largest_difference(&found.reduced.matrix, &by_differences(&model, &found));
        assert!(off < 2e-8, "{off:e}\n{text}");
    }
}

#[test]
fn a_reduced_matrix_that_is_wrong_is_seen() {
    let model = gallery("double-pendulum", "l1=1");
    let mut found = of(&model);
    found.reduced.matrix[8] += 1e-6;
    let off = largest_difference(&found.reduced.matrix, &by_differences(&model, &found));
    assert!(off > 2e-8, "{off:e}");
}

#[test]
fn verdicts() {
    let oscillator = |potential: &str, more: &str| {
        of(&model(&format!(
            "coord x\nkinetic x'^2/2\npotential {potential}\n{more}\nstart x ~ 0.01"
        )))
        .stability
    };
    assert_eq!(oscillator("x^2/2", ""), Stability::Stable);
    assert_eq!(oscillator("x^2/2", "dissipation x'^2/20"), Stability::AsymptoticallyStable);
    // Forces of other kinds are not taken for conservative ones.
    assert_eq!(
        oscillator("x^2/2", "force x: x*x'^2"),
        Stability::Undecided(Undecided::ImaginaryAxis)
    );
    assert_eq!(oscillator("x^4/4", ""), Stability::Undecided(Undecided::Drift));
    assert_eq!(
        oscillator("x^4/4", "dissipation x'^2/2"),
        Stability::Undecided(Undecided::Degenerate)
    );
    let Stability::Unstable { rate } = oscillator("-x^2/2", "dissipation 3*x'^2/4") else {
        panic!("a maximum is unstable")
    };
    // λ² + 3/2 λ − 1 = 0
    assert!((rate - 0.5).abs() < 1e-14, "{rate}");
    // Gyroscopic stabilization of a maximum: no mode grows, and the energy does not decide.
    let spun = |more: &str| {
        of(&model(&format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2 + 3*(x*y' - y*x')/2\npotential -(x^2 + y^2)/2
             {more}\nstart x ~ 0.01"
        )))
        .stability
    };
    assert_eq!(spun(""), Stability::Undecided(Undecided::ImaginaryAxis));
    // Damping destroys it (Kelvin, Tait, Chetaev).
    assert!(matches!(spun("dissipation (x'^2 + y'^2)/20"), Stability::Unstable { .. }));
}

#[test]
fn a_hamiltonian_has_the_same_spectrum() {
    let by_l = of(&model(
        "coord th, x\nkinetic x'^2 + x'*th'*cos(th) + th'^2/2\npotential -9*cos(th) + 2*x^2
         start th ~ 0.1, x ~ 0.1",
    ));
    // H of the same system: M = [[1, cos], [cos, 2]].
    let by_h = of(&model(
        "coord th, x\nhamiltonian (2*p_th^2 - 2*cos(th)*p_th*p_x + p_x^2)/(2*(2 - cos(th)^2)) - 9*cos(th) + 2*x^2
         start th ~ 0.1, x ~ 0.1",
    ));
    agree(&modes(&by_h), &modes(&by_l), 1e-12).expect("the same modes");
    assert_eq!(by_l.stability, Stability::Stable);
    assert!(by_h.second_order.is_none());
}

#[test]
fn units_do_not_matter() {
    let pendulum = |mass: f64, length: f64, time: f64| {
        let g = 9.81 * length / (time * time);
        of(&model(&format!(
            "param m = {mass:e}, l = {length:e}, g = {g:e}\ncoord x, y\nkinetic m*(x'^2+y'^2)/2
             potential m*g*y\nconstraint rod: x^2 + y^2 = l^2\nstart x ~ 0.3*l, y ~ -l"
        )))
    };
    let plain = pendulum(1.0, 1.0, 1.0);
    for (mass, length, time) in [(1e-6, 1e3, 1e3), (1e9, 1e-6, 1e-3), (1e-12, 1e9, 1e6)] {
        let found = pendulum(mass, length, time);
        let scaled: Vec<Complex> =
            modes(&plain).iter().map(|z| [z[0] / time, z[1] / time]).collect();
        agree(&modes(&found), &scaled, 1e-12).expect("the same pendulum");
        assert_eq!(found.stability, Stability::Stable);
    }
}

fn refused(text: &str) -> LinearizeError {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    match linearize(&setting) {
        Err(error) => error,
        Ok(found) => panic!("{text}\n{found:?}"),
    }
}

#[test]
fn what_cannot_be_linearized_says_why() {
    // Nothing holds it up.
    let LinearizeError::NotFound(left) =
        refused("coord x, z\nkinetic (x'^2+z'^2)/2\npotential 5*z")
    else {
        panic!()
    };
    assert_eq!(left.push, [0.0, -5.0]);
    // Shaken, not uniformly.
    assert!(matches!(
        refused("coord x\nkinetic x'^2/2\npotential x^2*(1 + sin(t)/2)"),
        LinearizeError::TimeDependent { .. }
    ));
    // No mass and no constraint.
    assert!(matches!(
        refused("coord x, y\nkinetic x'^2/2\npotential x^2"),
        LinearizeError::NoMotion { .. }
    ));
    // Two circles that touch: rank 1 at the only place, 2 elsewhere.
    assert!(matches!(
        refused(
            "coord x, y\nkinetic (x'^2+y'^2)/2\nconstraint a: x*y = 0\nstart x ~ 0, y ~ 0.0001
             potential x^2 + y^2"
        ),
        LinearizeError::Singular { .. }
    ));
}

#[test]
fn the_start_is_kept_where_it_can_be() {
    // Any angle is an equilibrium of a balanced wheel: the one asked for is taken.
    let found = of(&model("coord th\nkinetic th'^2/2\nstart th = 0.7"));
    assert!(found.at_start && found.kind == Kind::Equilibrium);
    assert_eq!(found.state.q, [0.7]);
    // A speed is held while the lean is found; the page asks for both `=` and `~`.
    let found = of(&gallery("rolling-disk", "g=9.81"));
    assert!(found.released.is_empty(), "{:?}", found.released);
    // What cannot be kept is named.
    let found = of(&model("coord x\nkinetic x'^2/2\npotential x^2\nstart x = 1"));
    assert_eq!(found.released, ["x"]);
    assert_eq!(found.moved, [("x".to_owned(), 1.0, 0.0)]);
}

#[test]
fn what_is_zero_at_rest_is_zero() {
    // Hanging chains, found from all sides, hang straight: no dust of the way to there is told.
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let mut start = || 0.9 * random.signed();
        let (a, b, c, x) = (start(), start(), start(), start());
        let text = format!(
            "coord x, a, b, c
            let x1 = x + sin(a), y1 = -cos(a)
            let x2 = x1 + sin(b), y2 = y1 - cos(b)
            let x3 = x2 + sin(c), y3 = y2 - cos(c)
            kinetic (x'^2 + x1'^2 + y1'^2 + x2'^2 + y2'^2 + x3'^2 + y3'^2)/2
            potential 9.81*(y1 + y2 + y3) + x^2
            start x = {x}, a = {a}, b = {b}, c = {c}"
        );
        assert_eq!(of(&model(&text)).state.q, [0.0; 4], "from {x}, {a}, {b}, {c}");
    }
}
