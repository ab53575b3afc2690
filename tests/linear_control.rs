//! Linear equations with inputs and outputs: A, B, C and D against values by hand and against
//! differences of the motion itself; zeros, what is not controllable or observable; states.

use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{
    Complex, Kind, Linearization, LinearizeError, Local, Orbit, Side, Stability, equilibria_within,
    floquet, linearize, linearize_along, linearize_here, symbolic,
};
use dalembert::simulate::report;
use dalembert::simulate::{Setting, State};
use dalembert::{Input, Model, Options};

fn model(text: &str) -> Model {
    let input = Input::text("test", text);
    let loaded = dalembert::load(&input, &Options::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn of(text: &str) -> Linearization {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    linearize(&setting).unwrap_or_else(|error| panic!("{error:?}"))
}

fn here(text: &str) -> Local {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    linearize_here(&setting, &Watch::nobody()).unwrap_or_else(|error| panic!("{error:?}"))
}

fn near(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{found:?} is not {wanted:?}");
    }
}

fn real(values: &[Complex]) -> Vec<f64> {
    values.iter().map(|z| z[0]).collect()
}

const CART: &str = "param M = 1, m = 0.3, l = 0.7, g = 9.81, b = 0.2
    coord x, th
    input push = 0
    particle cart: mass M, at [x, 0]
    particle bob: mass m, at [x + l*sin(th), l*cos(th)]
    gravity [0, -g]
    force x: push - b*x'
    output px = x, tip = x + l*sin(th), a = x''";

/// M ẍ = F − b ẋ − m g θ (upright), l θ̈ = g θ − ẍ.
#[test]
fn a_cart_with_a_pole_has_its_textbook_matrices() {
    let found = of(CART);
    let (big, m, l, g, b) = (1.0, 0.3, 0.7, 9.81, 0.2);
    assert_eq!(found.kind, Kind::Equilibrium);
    #[rustfmt::skip]
    let a = [
        0.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
        0.0, -m * g / big, -b / big, 0.0,
        0.0, (big + m) * g / (big * l), b / (big * l), 0.0,
    ];
    near(&found.reduced.matrix, &a, 1e-12);
    near(&found.io.b, &[0.0, 0.0, 1.0 / big, -1.0 / (big * l)], 1e-13);
    #[rustfmt::skip]
    let c = [1.0, 0.0, 0.0, 0.0, 1.0, l, 0.0, 0.0, 0.0, -m * g / big, -b / big, 0.0];
    near(&found.io.c, &c, 1e-12);
    near(&found.io.d, &[0.0, 0.0, 1.0 / big], 1e-13);
    assert!(found.control.uncontrollable.is_empty() && found.control.unobservable.is_empty());
    // F → x has zeros ±√(g/l) and steers the tip without any.
    let channel = &found.control.channels;
    let root = (g / l).sqrt();
    near(&real(channel[0].zeros.as_ref().expect("zeros")), &[root, -root], 1e-12);
    assert!((channel[0].gain - 1.0 / big).abs() < 1e-9, "{:?}", channel[0]);
    assert!(channel[0].steady.is_none(), "an integrator");
    assert_eq!(channel[1].zeros.as_deref(), Some(&[][..]));
    assert!((channel[1].gain + g / (big * l)).abs() < 1e-8, "{:?}", channel[1]);
    assert_eq!(channel[2].zeros.as_ref().map(Vec::len), Some(4));
}

/// An integral in the loop: a state beside position and velocity.
#[test]
fn states_are_part_of_x() {
    let found = of("param m = 2, k = 8, kp = 3, ki = 5, kd = 4
        coord x
        input r = 0.25
        kinetic m/2*x'^2; potential k/2*x^2
        state e' = r - x
        force x: kp*(r - x) + ki*e - kd*x'
        output px = x, pe = e");
    // At rest x = r, and the integral carries the spring: ki e = k r.
    assert!((found.state.q[0] - 0.25).abs() < 1e-12, "{:?}", found.state);
    assert!((found.state.q[1] - 8.0 * 0.25 / 5.0).abs() < 1e-12, "{:?}", found.state);
    near(&found.reduced.matrix, &[0.0, 1.0, 0.0, -5.5, -2.0, 2.5, -1.0, 0.0, 0.0], 1e-13);
    near(&found.io.b, &[0.0, 1.5, 1.0], 1e-13);
    near(&found.io.c, &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0.0);
    // s³ + 2 s² + 5.5 s + 2.5 is a Hurwitz polynomial.
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
    for pole in found.spectrum.all() {
        let [re, im] = pole;
        let square = [re * re - im * im, 2.0 * re * im];
        let cube = [square[0] * re - square[1] * im, square[0] * im + square[1] * re];
        let value = cube[0] + 2.0 * square[0] + 5.5 * re + 2.5;
        assert!(value.abs() < 1e-12, "{pole:?}");
    }
    // r → x is 1 where it rests.
    let steady = found.control.channels[0].steady.expect("regular");
    assert!((steady - 1.0).abs() < 1e-12, "{steady}");
    near(&real(found.control.channels[0].zeros.as_ref().expect("a zero")), &[-5.0 / 3.0], 1e-12);
}

/// A pendulum whose pivot is led: the constraint holds the input, so that B has u''.
#[test]
fn a_led_pivot_acts_by_its_acceleration() {
    let found = of("param l = 0.4, g = 9.81
        coord X, x, y
        input u = 0
        kinetic (x'^2 + y'^2)/2 + X'^2/2; potential g*y
        constraint pivot: X = u
        constraint rod: (x - X)^2 + y^2 = l^2
        start X = 0, x = 0, y ~ -1
        output px = x, load = multiplier(pivot)");
    assert_eq!(found.reduced.dimension(), 2);
    let names: Vec<&str> = found.io.columns.iter().map(|c| c.0.as_str()).collect();
    assert_eq!(names, ["u", "u'", "u''"]);
    let w = 9.81 / 0.4;
    // The free coordinate is x, which stays where u moves: ẍ = −w (x − u).
    near(&found.reduced.matrix, &[0.0, 1.0, -w, 0.0], 1e-12);
    near(&found.io.b, &[0.0, 0.0, 0.0, w, 0.0, 0.0], 1e-12);
    // The load: X'' less the rod's pull, w (x − u) with unit masses.
    near(&found.io.c, &[1.0, 0.0, -w, 0.0], 1e-12);
    near(&found.io.d, &[0.0, 0.0, 0.0, w, 0.0, 1.0], 1e-12);
    let channel = &found.control.channels[0];
    assert_eq!(channel.zeros.as_deref(), Some(&[][..]));
    assert!((channel.steady.expect("regular") - 1.0).abs() < 1e-12);
    // u → load: s² (s² + 2w)/(s² + w), with unit masses.
    let zeros = found.control.channels[1].zeros.clone().expect("zeros");
    assert_eq!(zeros.len(), 4);
    let mut squares: Vec<f64> = zeros.iter().map(|z| z[0] * z[0] - z[1] * z[1]).collect();
    squares.sort_by(f64::total_cmp);
    near(&squares, &[-2.0 * w, -2.0 * w, 0.0, 0.0], 1e-9);
}

/// Two equal pendulums on one cart: their difference is not moved by the cart, and the output that
/// sees the cart does not show it.
#[test]
fn what_cannot_be_moved_or_seen_is_named() {
    let found = of("param m = 0.2, l = 0.5, g = 9.81
        coord x, a, b
        input F = 0
        particle cart: mass 1, at [x, 0]
        particle left: mass m, at [x + l*sin(a), -l*cos(a)]
        particle right: mass m, at [x + l*sin(b), -l*cos(b)]
        gravity [0, -g]
        force x: F
        output px = x");
    let w = (9.81f64 / 0.5).sqrt();
    for parts in [&found.control.uncontrollable, &found.control.unobservable] {
        assert_eq!(parts.len(), 2, "{parts:?}");
        for part in parts {
            assert!(part.value[0].abs() < 1e-9 && (part.value[1].abs() - w).abs() < 1e-9);
        }
    }
    // a − b swings unseen, and x takes no part in it.
    let shape = &found.control.unobservable[0].weights;
    assert!((shape[1][0] + shape[2][0]).hypot(shape[1][1] + shape[2][1]) < 1e-9, "{shape:?}");
    assert!(shape[0][0].hypot(shape[0][1]) < 1e-9 && shape[1][0].hypot(shape[1][1]) > 0.1);
}

/// ẋ at a state with given free quantities, by the equations themselves.
fn rates(model: &Model, state: &State, input: &[f64]) -> Vec<f64> {
    let mut opened = model.opened();
    for (u, &value) in opened.system.inputs.iter_mut().zip(input) {
        let number = dalembert::expr::Number::from_f64(value).expect("finite");
        u.value = Some(opened.exprs.of_number(number));
    }
    let Model { exprs, system, sources } = opened;
    let closed = Model { system: system.closed(&exprs), exprs, sources };
    let setting = Setting::new(&closed).expect("values");
    let options = report::Options::of_model(&closed);
    let found = report::at(&setting, state, &options).expect("numbers");
    let accelerations = &found.answers[0].result.as_ref().expect("applies").accelerations;
    let table = state.table(&closed.system);
    let states: Vec<_> = closed.system.states.iter().map(|z| z.rate).collect();
    [state.velocity.clone(), setting.numbers(&states, &table), accelerations.clone()].concat()
}

/// Away from any equilibrium, against central differences.
#[test]
fn any_state_agrees_with_differences() {
    let text = "param m = 0.6, l = 0.9, g = 9.81
        coord x, th, ph
        input F = 0.3 + 0.2*t, T = 0.1
        state z' = x'*th - z + F*T
        kinetic (2 + cos(th))*x'^2/2 + m*l^2/2*th'^2 + m*l*cos(th + ph)*x'*th' + (1 + th^2)*ph'^2/2
        potential m*g*l*cos(th) + sin(ph)*x^2
        force x: F*cos(ph) - z^2*x'
        force th: T - 0.1*th'^3 + F*z
        start x = 0.4, th = 0.7, ph = -0.5, x' = 0.8, th' = -0.3, ph' = 0.9, z = 0.35";
    let model = model(text);
    let found = here(text);
    let (n, s) = (3, 1);
    let u = [0.3, 0.1];
    let base = rates(&model, &found.state, &u);
    let order = |all: &[f64]| found.reduced.free(all);
    near(&found.rates, &order(&base), 1e-13);
    let h = 1e-6;
    let setting = Setting::new(&model).expect("values");
    let at = |place: usize, by: f64| {
        let (mut q, mut v) = (found.state.q.clone(), found.state.velocity.clone());
        match place < n + s {
            true => q[place] += by,
            false => v[place - n - s] += by,
        }
        let state = State::of_velocities(&setting, 0.0, q, v).expect("a state");
        order(&rates(&model, &state, &u))
    };
    let d = found.reduced.dimension();
    for (j, place) in found.reduced.places().enumerate() {
        let (up, down) = (at(place, h), at(place, -h));
        for i in 0..d {
            let slope = (up[i] - down[i]) / (2.0 * h);
            let entry = found.reduced.matrix[i * d + j];
            assert!((slope - entry).abs() < 1e-7 * (1.0 + entry.abs()), "{i} {j} {slope} {entry}");
        }
    }
    for j in 0..2 {
        let moved = |by: f64| {
            let mut u = u;
            u[j] += by;
            order(&rates(&model, &found.state, &u))
        };
        let (up, down) = (moved(h), moved(-h));
        for i in 0..d {
            let slope = (up[i] - down[i]) / (2.0 * h);
            let entry = found.io.b[i * 2 + j];
            assert!((slope - entry).abs() < 1e-7 * (1.0 + entry.abs()), "{i} {j} {slope} {entry}");
        }
    }
}

/// Along a run of a driven pendulum A is −(g/l) cos θ(t), at the times asked for.
#[test]
fn along_a_run_the_matrices_follow_the_motion() {
    let text = "param l = 1.3, g = 9.81
        coord th
        input T = 0.5*sin(2*t)
        kinetic l^2/2*th'^2; potential -g*l*cos(th)
        force th: T
        start th = 1
        run t = 0..3
        output w = T*th";
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let times = [0.0, 0.75, 3.0];
    let list = linearize_along(&setting, &times, &Watch::nobody()).expect("points");
    assert_eq!(list.len(), 3);
    for (local, t) in list.iter().zip(times) {
        assert_eq!(local.state.t, t);
        let th = local.state.q[0];
        near(&local.reduced.matrix, &[0.0, 1.0, -9.81 / 1.3 * th.cos(), 0.0], 1e-12);
        near(&local.io.b, &[0.0, 1.0 / (1.3 * 1.3)], 1e-13);
        near(&local.io.c, &[0.5 * (2.0 * t).sin(), 0.0], 1e-13);
        near(&local.io.d, &[th], 1e-13);
    }
}

/// A disk on a turning arm: the push along x does not go round with the motion, the torque does.
#[test]
fn what_does_not_go_along_with_a_steady_motion_is_told() {
    let found = of("param k = 4
        coord x, y
        input F = 0, P = 0
        kinetic (x'^2 + y'^2)/2; potential k/2*(x^2 + y^2)
        force x: F
        force P*y along x'
        force -P*x along y'
        output px = x, r2 = x^2 + y^2
        start x = 1, y = 0, y' = 2");
    assert_eq!(found.kind, Kind::SteadyMotion);
    assert_eq!(found.io.varying, ["F", "px"]);
}

/// Mathieu's equation ẍ + (a − 2 q cos 2t) x = 0: μ + 1/μ is known to be twice the value at π of the
/// even solution, here by Taylor steps of its own.
#[test]
fn multipliers_of_mathieu_s_equation() {
    for (a, q) in [(1.3, 0.4), (1.0, 0.5), (3.9, 1.1)] {
        let text = format!(
            "coord x; kinetic x'^2/2; potential ({a} - 2*{q}*cos(2*t))*x^2/2; start x = 0; run t = 0..4"
        );
        let model = model(&text);
        let setting = Setting::new(&model).expect("values");
        let found = floquet(&setting, std::f64::consts::PI, &Watch::nobody()).expect("multipliers");
        // Classical Runge–Kutta, fine enough.
        let rate = |t: f64, y: [f64; 2]| [y[1], -(a - 2.0 * q * (2.0 * t).cos()) * y[0]];
        let (mut y, steps) = ([1.0, 0.0], 20_000);
        let h = std::f64::consts::PI / steps as f64;
        for k in 0..steps {
            let t = k as f64 * h;
            let plus = |y: [f64; 2], s: f64, d: [f64; 2]| [y[0] + s * d[0], y[1] + s * d[1]];
            let k1 = rate(t, y);
            let k2 = rate(t + h / 2.0, plus(y, h / 2.0, k1));
            let k3 = rate(t + h / 2.0, plus(y, h / 2.0, k2));
            let k4 = rate(t + h, plus(y, h, k3));
            for i in 0..2 {
                y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        let trace = found.monodromy[0] + found.monodromy[3];
        assert!((trace - 2.0 * y[0]).abs() < 1e-9, "{a} {q} {trace} {}", 2.0 * y[0]);
        let det = found.monodromy[0] * found.monodromy[3] - found.monodromy[1] * found.monodromy[2];
        assert!((det - 1.0).abs() < 1e-10, "{det}");
        let grows = y[0].abs() > 1.0;
        assert_eq!(found.orbit() == Orbit::Unstable, grows, "{a} {q} {:?}", found.multipliers);
    }
}

/// A pendulum that swings widely: both multipliers are 1, in a chain. In Cartesian coordinates too.
#[test]
fn a_swinging_pendulum_has_multipliers_one() {
    // Period of the amplitude 1 by the arithmetic–geometric mean.
    let (mut a, mut b) = (1.0f64, (0.5f64).cos());
    for _ in 0..6 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    let period = std::f64::consts::TAU / a;
    for text in [
        "coord th; kinetic th'^2/2; potential -cos(th); start th = 1; run t = 0..8",
        "coord x, y; kinetic (x'^2 + y'^2)/2; potential y; constraint rod: x^2 + y^2 = 1
         start x = sin(1), y = -cos(1); run t = 0..8",
    ] {
        let model = model(text);
        let setting = Setting::new(&model).expect("values");
        let found = floquet(&setting, period, &Watch::nobody()).expect("multipliers");
        let m = &found.monodromy;
        assert_eq!(found.reduced.dimension(), 2);
        assert!((m[0] + m[3] - 2.0).abs() < 1e-8, "{m:?}");
        assert!((m[0] * m[3] - m[1] * m[2] - 1.0).abs() < 1e-9, "{m:?}");
        assert_eq!(found.orbit(), Orbit::Undecided);
    }
    let model = model("coord th; kinetic th'^2/2; potential -cos(th); start th = 1; run t = 0..8");
    let setting = Setting::new(&model).expect("values");
    assert!(floquet(&setting, 0.9 * period, &Watch::nobody()).is_err());
}

/// What does not come back is not periodic, though its linear equations are; nor is what is set on the
/// way followed. At rest there is no direction along the motion.
#[test]
fn a_periodic_motion_comes_back() {
    let asked = |text: &str, period: f64| {
        let model = model(text);
        let setting = Setting::new(&model).expect("values");
        floquet(&setting, period, &Watch::nobody())
    };
    let tau = std::f64::consts::TAU;
    let oscillator = "coord x; kinetic x'^2/2; potential x^2/2; start x = 1; run t = 0..9";
    assert!(matches!(asked(oscillator, 3.0), Err(LinearizeError::Elsewhere { .. })));
    // Half a period later positions are elsewhere, and A is the same.
    assert!(matches!(asked(oscillator, tau / 2.0), Err(LinearizeError::Elsewhere { .. })));
    assert!(asked(oscillator, tau).is_ok());
    let falls = "coord y; kinetic y'^2/2; potential 9.81*y; force y: -y'; run t = 0..3";
    assert!(matches!(asked(falls, 2.0), Err(LinearizeError::Elsewhere { is_rate: true, .. })));
    let forced = "coord x; kinetic x'^2/2; potential 2*x^2; force x: cos(t) - x'; run t = 0..9";
    assert!(matches!(asked(forced, tau), Err(LinearizeError::Elsewhere { .. })));
    // Turns, and what the equations do not depend on, go on.
    let turns = "coord th, s; kinetic th'^2/2 + s'^2/2; start th' = 2, s' = 1; run t = 0..9";
    assert!(asked(turns, tau / 2.0).is_ok());
    let sampled = "coord x; kinetic x'^2/2; force x: x + u; state u' = 0
        event tick: every 0.1 -> u = -3*x - 4*x'; run t = 0..9";
    assert!(matches!(asked(sampled, 0.1), Err(LinearizeError::Resets { .. })));
    let rests = asked("coord x; kinetic x'^2/2; force x: -x'; run t = 0..9", 1.0).expect("rest");
    assert!(!rests.autonomous && rests.orbit() == Orbit::Undecided);
}

/// Vectors of modes that nothing moves, also those of chains and of a zero alone: w A = λ w.
#[test]
fn modes_that_nothing_moves_are_vectors() {
    for (text, count, chain) in [
        // Beside the driven one a body is free.
        ("coord a, b; input F = 0; kinetic (a'^2 + b'^2)/2; force a: F; output oa = a", 1, 2),
        // A cyclic coordinate that nothing shows, and what depends on it.
        (
            "coord x; input F = 0; state z' = 0; kinetic x'^2/2; potential x^2; force x: F; output o = x",
            1,
            1,
        ),
        (
            "coord a, b; input F = 0; kinetic (a'^2 + b'^2)/2; potential b^2 + a*b; force a: F - a'; output o = a",
            0,
            0,
        ),
        (
            "coord a, b, c; input F = 0; kinetic (a'^2 + b'^2 + c'^2)/2; force a: F; output o = a",
            2,
            2,
        ),
        (
            "coord a, b; input F = 0; kinetic (a'^2 + b'^2)/2; potential b^2; force a: F; force b: -b'; output o = a",
            2,
            1,
        ),
    ] {
        let found = of(text);
        let n = found.reduced.dimension();
        let parts = &found.control.uncontrollable;
        assert_eq!(parts.len(), count, "{text}: {parts:?}");
        for part in parts {
            assert_eq!(part.chain, chain, "{text}");
            for j in 0..n {
                let sum = |k: usize| -> f64 {
                    (0..n).map(|i| part.weights[i][k] * found.reduced.matrix[i * n + j]).sum()
                };
                let [re, im] = part.weights[j];
                let own = [
                    part.value[0] * re - part.value[1] * im,
                    part.value[0] * im + part.value[1] * re,
                ];
                let off = (sum(0) - own[0]).hypot(sum(1) - own[1]);
                assert!(off < 1e-9, "{text}: {part:?}");
            }
        }
    }
}

/// An equilibrium at 0 is one of them: rounding next to it leads nowhere else.
#[test]
fn equilibria_at_zero_are_kept() {
    let model =
        model("coord x; kinetic x'^2/2; potential x^2/2; force x: z - x'; state z' = z - z^3");
    let setting = Setting::new(&model).expect("values");
    let sides = [Side { place: 0, ends: [-2.0, 2.0] }, Side { place: 1, ends: [-2.0, 2.0] }];
    let within = equilibria_within(&setting, &sides, 60, &Watch::nobody()).expect("equilibria");
    let found: Vec<f64> = within.found.iter().map(|f| f.state.q[1]).collect();
    near(&found, &[-1.0, 0.0, 1.0], 1e-9);
}

/// A double pendulum rests in four positions; a bead on a fast hoop in three up to turns.
#[test]
fn all_equilibria_of_a_box_are_found() {
    let model = model(
        "coord a, b
        kinetic a'^2 + b'^2/2 + a'*b'*cos(a - b)
        potential -2*cos(a) - cos(b)",
    );
    let setting = Setting::new(&model).expect("values");
    let sides = [Side { place: 0, ends: [-1.0, 4.0] }, Side { place: 1, ends: [-1.0, 4.0] }];
    let within = equilibria_within(&setting, &sides, 60, &Watch::nobody()).expect("equilibria");
    assert!(within.failed.is_empty() && !within.more);
    let found: Vec<Vec<f64>> = within.found.iter().map(|f| f.state.q.clone()).collect();
    let pi = std::f64::consts::PI;
    let wanted = [[0.0, 0.0], [0.0, pi], [pi, 0.0], [pi, pi]];
    assert_eq!(found.len(), 4, "{found:?}");
    for (a, b) in found.iter().zip(wanted) {
        near(a, &b, 1e-9);
    }
    let stable = within.found.iter().filter(|f| f.stability == Stability::Stable).count();
    assert_eq!(stable, 1);
}

/// Formulas in the parameters have the values of the numbers, whatever these are.
#[test]
fn matrices_in_the_parameters_have_the_values_of_the_numbers() {
    let led = "param l = 0.4, g = 9.81, m = 2
        coord X, x, y
        input u = 0
        kinetic m*(x'^2 + y'^2)/2 + X'^2/2; potential m*g*y
        constraint pivot: X = u
        constraint rod: (x - X)^2 + y^2 = l^2
        start X = 0, x = 0, y = -l
        output px = x, load = multiplier(pivot)";
    let loop_text = "param m = 2, k = 8, kp = 3, ki = 5, kd = 4
        coord x
        input r = 0
        kinetic m/2*x'^2; potential k/2*x^2
        state e' = r - x
        force x: kp*(r - x) + ki*e - kd*x'
        output px = x";
    for text in [CART, led, loop_text] {
        let model = model(text);
        let setting = Setting::new(&model).expect("values");
        let found = linearize(&setting).expect("linear");
        let symbols = symbolic(&setting, &found).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
        let numbers = |list: &[dalembert::expr::ExprId]| setting.numbers(list, &Default::default());
        near(&numbers(&symbols.a), &found.reduced.matrix, 1e-12);
        near(&numbers(&symbols.b), &found.io.b, 1e-12);
        near(&numbers(&symbols.c), &found.io.c, 1e-12);
        near(&numbers(&symbols.d), &found.io.d, 1e-12);
        // They stay formulas: other values, the same agreement.
        for (k, parameter) in model.system.parameters.iter().enumerate() {
            let other = setting.with(parameter.symbol, 1.7 + 0.3 * k as f64);
            let found = linearize(&other).expect("linear");
            let list = other.numbers(&symbols.a, &Default::default());
            near(&list, &found.reduced.matrix, 1e-11);
        }
    }
}
