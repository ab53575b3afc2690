//! Conditions of several comparisons, what may not jump where a switch turns, and angles
//! across their cut, against solutions in closed form.

#[allow(dead_code)]
#[path = "properties/random.rs"]
mod random;
mod support;

use dalembert::simulate::drive::{End, Failure, Jumps};
use random::Random;
use std::f64::consts::{PI, TAU};
use support::motion::{by_all, ran, times};

/// A force in time: its condition as text, and when it acts.
struct Pulse {
    text: String,
    acts: Box<dyn Fn(f64) -> bool>,
    turns: Vec<f64>,
}

/// A random condition on a clock: `t`, or a coordinate that runs with it.
fn pulse(random: &mut Random, clock: &str, depth: usize) -> Pulse {
    let time = |random: &mut Random| (1000.0 * (5.0 + 4.0 * random.signed())).round() / 1000.0;
    match random.below(if depth == 0 { 3 } else { 5 }) {
        0 => {
            let at = time(random);
            let (text, later) = match random.below(4) {
                0 => (format!("{clock} > {at}"), true),
                1 => (format!("{clock} >= {at}"), true),
                2 => (format!("{clock} < {at}"), false),
                _ => (format!("{at} >= {clock}"), false),
            };
            Pulse { text, acts: Box::new(move |t| (t > at) == later), turns: vec![at] }
        }
        // A short one.
        1 => {
            let (from, length) = (time(random), 10f64.powi(-1 - random.below(6) as i32));
            let to = from + length;
            let text = match random.one_in(2) {
                true => format!("({clock} > {from} and {clock} < {to:?})"),
                false => format!("({to:?} > {clock} and {clock} >= {from})"),
            };
            Pulse { text, acts: Box::new(move |t| t > from && t < to), turns: vec![from, to] }
        }
        // Again and again: by what jumps itself where the condition passes no zero, or by a wave.
        2 => {
            let period = (1000.0 * (2.0 + random.signed())).round() / 1000.0;
            let part = [0.25, 0.5, 0.7][random.below(3)];
            let (text, part) = match random.below(4) {
                0 => (format!("mod({clock}, {period}) < {:?}", part * period), part),
                1 => (format!("{:?} >= mod({clock}, {period})", part * period), part),
                2 => (format!("max(mod(({clock})/{period}, 1), 0.01) < {part}"), part),
                _ => (format!("sin(2*pi*({clock})/{period}) > 0"), 0.5),
            };
            let turns = (1..20).flat_map(|k| [f64::from(k), f64::from(k - 1) + part]);
            let turns = turns.map(|k| k * period).filter(|t| *t < 10.0).collect();
            let acts = move |t: f64| (t / period).rem_euclid(1.0) < part;
            Pulse { text, acts: Box::new(acts), turns }
        }
        kind => {
            let (a, b) = (pulse(random, clock, depth - 1), pulse(random, clock, depth - 1));
            let word = if kind == 3 { "and" } else { "or" };
            let (first, second) = (a.acts, b.acts);
            let acts: Box<dyn Fn(f64) -> bool> = match kind {
                3 => Box::new(move |t| first(t) && second(t)),
                _ => Box::new(move |t| first(t) || second(t)),
            };
            let turns = a.turns.into_iter().chain(b.turns).collect();
            Pulse { text: format!("({} {word} {})", a.text, b.text), acts, turns }
        }
    }
}

/// The velocity and position that pulses give a unit mass from rest, at t = 10.
fn pushed(pulses: &[(f64, Pulse)]) -> (f64, f64) {
    let mut turns: Vec<f64> = pulses.iter().flat_map(|p| p.1.turns.clone()).collect();
    turns.extend([0.0, 10.0]);
    turns.retain(|t| (0.0..=10.0).contains(t));
    turns.sort_by(f64::total_cmp);
    let (mut v, mut x) = (0.0, 0.0);
    for pair in turns.windows(2) {
        let (dt, middle) = (pair[1] - pair[0], 0.5 * (pair[0] + pair[1]));
        let force: f64 = pulses.iter().filter(|p| (p.1.acts)(middle)).map(|p| p.0).sum();
        x += v * dt + 0.5 * force * dt * dt;
        v += force * dt;
    }
    (x, v)
}

/// 200 sums of forces under random conditions on time, or on a coordinate that runs with
/// it, down to pulses of 1e-6.
#[test]
fn conditions_act_when_they_are_true() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let clock = *random.pick(&["t", "s", "2*s - t"]);
        let count = 1 + random.below(3);
        let pulses: Vec<(f64, Pulse)> = (0..count)
            .map(|_| {
                let depth = random.below(3);
                let pulse = pulse(&mut random, clock, depth);
                // So strong that none may be missed.
                let shortest = pulse.turns.windows(2).map(|p| (p[1] - p[0]).abs());
                let length = shortest.fold(1.0, f64::min).max(1e-6);
                (random.signed() / length.sqrt(), pulse)
            })
            .collect();
        let forces: Vec<String> =
            pulses.iter().map(|(f, p)| format!("if({}, {f:?}, 0)", p.text)).collect();
        let text = format!(
            "coord x, s\nkinetic (x'^2 + s'^2)/2\nforce x: {}\nstart s = 0, s' = 1\nrun t = 0..10",
            forces.join(" + ")
        );
        let (report, _) = ran(&text, |_| {});
        let last = report.last.as_ref().expect("a state");
        let (x, v) = pushed(&pulses);
        let largest = pulses.iter().fold(1f64, |m, p| m.max(p.0.abs()));
        let error = (last.state.q[0] - x).abs().max((last.state.velocity[0] - v).abs());
        // A turn is found to rounding: 1e-14 of time, times the force.
        assert!(error < 1e-8 * (1.0 + x.abs()) + 1e-12 * largest, "{seed}: {error}\n{text}");
        assert_eq!(report.verdict(), Ok(()), "{seed}: {text}");
    }
}

/// sin t > c for c next to 1: 40 pulses between two looks, in every formulation.
#[test]
fn a_peak_above_a_threshold_is_seen() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let below = 10f64.powi(-1 - random.below(6) as i32) * (0.1 + random.signed().abs());
        let condition =
            *random.pick(&["z > c", "z > c and w < 1e6", "min(z, 2) > c", "abs(z) > c and z > 0"]);
        let text = format!(
            "param c = 1 - {below:?}\ncoord z, w\nkinetic (z'^2 + w'^2)/2\npotential z^2/2\n\
             force w: if({condition}, 10, 0)\nstart z = 0, z' = 1\nrun t = 0..10"
        );
        let (report, _) = ran(&text, |o| o.tolerance = 1e-12);
        let half = (1.0 - below).acos();
        let v = 10.0 * 2.0 * half * 2.0;
        let last = report.last.as_ref().expect("a state");
        let error = (last.state.velocity[1] - v).abs();
        // z is off by 1e-11 or so, the times by that over z' = √(2 below).
        assert!(error < 1e-9 / below.sqrt(), "{seed}: {error} of {v}\n{text}");
    }
}

/// The trial: x″ = −x + F(t), F = 10 in 5 < t < 5.01.
#[test]
fn a_pulse_is_not_stepped_over() {
    let text = "coord x\nkinetic x'^2/2\npotential x^2/2\nforce x: if(t > 5 and t < 5.01, 10, 0)\n\
                start x = 1\nrun t = 0..10";
    let exact = -10f64.sin() + 10.0 * (5f64.sin() - 4.99f64.sin());
    for method in ["dop853", "gauss6", "radau"] {
        let (report, _) = ran(text, |o| o.method = method.to_owned());
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.velocity[0] - exact).abs() < 1e-7, "{method}: {:?}", last.state);
    }
    for (name, report) in by_all(text, 1e-11) {
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.velocity[0] - exact).abs() < 1e-9, "{name}: {:?}", last.state);
        assert_eq!(report.verdict(), Ok(()), "{name}");
    }
}

/// y = f(t) before and g(t) after a random time, 120 times: where values differ there is no
/// motion, where slopes differ there is an impulse, else nothing.
#[test]
fn a_driven_coordinate_jumps_only_if_it_says_so() {
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let at = (100.0 * (1.0 + 0.8 * random.signed())).round() / 100.0;
        let (a, b, c) = (random.signed(), random.signed(), random.signed());
        let kind = random.below(3);
        let (jump, slope) = match kind {
            0 => (10f64.powi(-(random.below(7) as i32)) * random.signed(), random.signed()),
            1 => (0.0, random.signed()),
            _ => (0.0, 0.0),
        };
        let before = format!("({a:?} + {b:?}*(t - {at}) + (t - {at})^2)");
        let after = format!("({:?} + {:?}*(t - {at}) + {c:?}*(t - {at})^3)", a + jump, b + slope);
        let text = format!(
            "coord y, z\nkinetic y'^2/2 + z'^2 + y'*z'/2\npotential z^2/2\n\
             constraint c: y = if(t > {at}, {after}, {before})\nrun t = 0..3"
        );
        let (report, _) = ran(&text, |_| {});
        if kind == 0 {
            let End::Failed(Failure::Jump { what: Jumps::Position(0), size }) = report.end else {
                panic!("{seed}: {:?}\n{text}", report.end)
            };
            assert!((size.abs() - jump.abs()).abs() < 1e-10, "{seed}: {size} {jump}");
            continue;
        }
        assert_eq!(report.end, End::Finished, "{seed}: {text}");
        assert_eq!(report.verdict(), Ok(()), "{seed}: {text}");
        assert_eq!(report.jolts.len(), usize::from(kind == 1), "{seed}: {text}");
        let last = report.last.as_ref().expect("a state");
        let exact = a + b * (3.0 - at) + slope * (3.0 - at) + c * (3.0 - at).powi(3);
        assert!((last.state.q[0] - exact).abs() < 1e-12, "{seed}: {:?} {exact}", last.state.q);
        // p_z = 2 z' + y'/2 is what no impulse along y changes: z″ = −z/2 − y″/4.
        if kind == 1 {
            let jolt = &report.jolts[0];
            assert!((jolt.t - at).abs() < 1e-14 && jolt.constraints == [0], "{jolt:?}");
        }
    }
}

/// An impulse of a driven coordinate moves what it is coupled to by inertia: p_z goes on.
#[test]
fn an_impulse_follows_the_principle_of_gauss() {
    let text = "coord y, z\nkinetic y'^2/2 + z'^2 + y'*z'/2\nconstraint c: y' = if(t > 1, 2, 0)\nrun t = 0..3";
    for (name, report) in by_all(text, 1e-9) {
        // A chart has solved for the velocity that jumps, and says that it does.
        if matches!(report.end, End::Failed(Failure::Jump { .. })) {
            assert!(!["lagrange", "hamilton"].contains(&name), "{name}");
            continue;
        }
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.velocity[1] + 0.5).abs() < 1e-12, "{name}: {:?}", last.state);
        assert!((last.state.q[0] - 4.0).abs() < 1e-12, "{name}: {:?}", last.state);
        assert_eq!(report.verdict(), Ok(()), "{name}");
        // T = y'²/2 + z'² + y'z'/2 at 2, −1/2.
        assert!((report.jolts[0].energy - 1.75).abs() < 1e-12, "{name}");
    }
}

/// What jumps with the position has no motion across; a field switched on in time has.
#[test]
fn steps_and_corners_end_a_run_in_words() {
    let base = "coord x, y\nkinetic (x'^2 + y'^2)/2\nstart x = -1, x' = 1\nrun t = 0..3\n";
    for (line, what) in [
        ("constraint c: y = abs(x)", Some(Jumps::Velocity(0))),
        ("constraint c: y = if(x > 0, 1, 0)", Some(Jumps::Position(0))),
        ("constraint c: y = if(x > 0 and t > 0.5, x, 0)", Some(Jumps::Velocity(0))),
        ("constraint c: y = if(x > 0, x^2, 0)", None),
        ("potential if(x > 0, 1e-3, 0)", Some(Jumps::Energy)),
        ("potential if(x > 0, x, 0)", None),
        ("potential if(t > 1, 3*x + 1, 0)", None),
        ("potential if(t > 1, 5, 0)", None),
        ("potential if(t > 1, 5, 0) + x^2*y^2", None),
        ("potential if(t > 1, 5, 0) + if(t > 0.5, y, 0)", None),
        ("potential if(t > 1 and t < 2, 3*x + 1, -x)", None),
        ("kinetic if(x > 0, 1, 0)*y'^2", Some(Jumps::Momentum)),
        ("kinetic if(t > 1, x'^2, 0)", Some(Jumps::Momentum)),
        ("force y: if(x > 0, 1, 0)", None),
        ("constraint c: y = max(0, sin(t))", None),
    ] {
        let text = format!("{base}{line}");
        let text = match line.contains("kinetic if(x") {
            true => text.replace("x' = 1", "x' = 1, y' = 1"),
            false => text,
        };
        let (report, _) = ran(&text, |_| {});
        match what {
            Some(what) => {
                let End::Failed(Failure::Jump { what: found, .. }) = report.end else {
                    panic!("{line}: {:?}", report.end)
                };
                assert_eq!(found, what, "{line}");
                assert!((report.last.expect("a state").state.t - 1.0).abs() < 1e-9, "{line}");
            }
            None => {
                assert_eq!(report.end, End::Finished, "{line}");
                assert_eq!(report.verdict(), Ok(()), "{line}");
            }
        }
    }
}

/// A point on a circle, either way around, from a random angle: 60 of them.
fn circle(random: &mut Random) -> (f64, f64, String) {
    let (from, rate) = (3.0 * random.signed(), 2.0 * random.signed());
    let text = format!(
        "coord x, y, w\nkinetic (x'^2 + y'^2 + w'^2)/2\npotential {:?}*(x^2 + y^2)/2\n\
         start x = {:?}, y = {:?}, x' = {:?}, y' = {:?}, w = {from:?}, w' = {rate:?}\n\
         run t = 0..20\n",
        rate * rate,
        from.cos(),
        from.sin(),
        -rate * from.sin(),
        rate * from.cos()
    );
    (from, rate, text)
}

/// An angle in a constraint or in a potential is continued across its cut.
#[test]
fn angles_are_continued_where_their_value_does_not_matter() {
    for seed in 0..60 {
        let (from, rate, base) = circle(&mut Random::new(seed));
        let (report, _) = ran(&format!("{base}constraint c: w = atan2(y, x)"), |_| {});
        assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())), "{seed}: {base}");
        let last = report.last.as_ref().expect("a state");
        let exact = from + 20.0 * rate;
        assert!((last.state.q[2] - exact).abs() < 1e-7, "{seed}: {:?} {exact}", last.state.q);
        // A torque, and the energy it takes.
        let (report, _) = ran(&format!("{base}potential -atan2(y, x)/50"), |_| {});
        assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())), "{seed}: {base}");
        // By a driven angle, and where a force has its value too.
        let (report, _) = ran(
            &format!(
                "{base}constraint c: atan2(y, x) = {from:?} + {rate:?}*t\nforce w: atan2(y, x)/9"
            ),
            |_| {},
        );
        assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())), "{seed}: {base}");
        let last = report.last.as_ref().expect("a state");
        let (x, y) = ((from + 20.0 * rate).cos(), (from + 20.0 * rate).sin());
        assert!((last.state.q[0] - x).abs() < 1e-6, "{seed}: {:?} {x} {y}", last.state.q);
    }
}

/// As a force the value of an angle jumps at its cut: ∫∫ of the wrapped angle.
#[test]
fn the_value_of_an_angle_jumps() {
    for seed in 0..60 {
        let (from, rate, base) = circle(&mut Random::new(seed));
        let (report, _) = ran(&format!("{base}force w: atan2(y, x)"), |_| {});
        assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())), "{seed}: {base}");
        // Between cuts the angle is a + rate (t − s).
        let (mut t, mut a, mut v, mut w) = (0.0, from, rate, from);
        while t < 20.0 {
            let edge = if rate > 0.0 { PI } else { -PI };
            let dt = ((edge - a) / rate).min(20.0 - t);
            w += v * dt + a * dt * dt / 2.0 + rate * dt.powi(3) / 6.0;
            v += a * dt + rate * dt * dt / 2.0;
            (t, a) = (t + dt, -edge);
        }
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.velocity[2] - v).abs() < 1e-6, "{seed}: {:?} {v}", last.state);
        assert!((last.state.q[2] - w).abs() < 1e-5, "{seed}: {:?} {w}", last.state);
        assert!(report.statistics.rejected < 10, "{seed}: {:?}", report.statistics);
    }
}

/// An event at an angle happens there, and not at the cut.
#[test]
fn an_event_at_an_angle_is_not_one_at_its_cut() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (from, rate, base) = circle(&mut random);
        let mut at = 3.1 * random.signed();
        if random.one_in(5) {
            at = PI;
        }
        let line = if at == PI { "pi".to_owned() } else { format!("{at:?}") };
        let text = format!(
            "{base}event any: atan2(y, x) = {line}\nevent up: atan2(y, x) = {line} rising\n\
             event down: sin(atan2(y, x)/2) = sin({line}/2) falling"
        );
        let (report, _) = ran(&text, |o| o.tolerance = 1e-11);
        let mut exact: Vec<f64> = (-20..20)
            .map(|k| (at + TAU * f64::from(k) - from) / rate)
            .filter(|t| (1e-9..20.0).contains(t))
            .collect();
        exact.sort_by(f64::total_cmp);
        let (up, down) = if rate > 0.0 { (exact.len(), 0) } else { (0, exact.len()) };
        let found = times(&report, 0);
        assert_eq!(found.len(), exact.len(), "{seed}: {found:?} {exact:?}\n{text}");
        for (a, b) in found.iter().zip(&exact) {
            assert!((a - b).abs() < 1e-8, "{seed}: {a} {b}");
        }
        assert_eq!(times(&report, 1).len(), up, "{seed}: {text}");
        assert_eq!(times(&report, 2).len(), down, "{seed}: {text}");
    }
}

/// A force on a unit mass, as the statement of it and as its acceleration at (x, x').
type Rooted = (&'static str, fn(f64, f64) -> f64);

/// Roots of what is 0 where a switch turns: a step up to there has to go a little beyond it.
const ROOTED: [Rooted; 17] = [
    ("potential 2/5*abs(x)^2.5", |x, _| -x.signum() * x.abs().powf(1.5)),
    ("potential (x^2)^1.25*2/5", |x, _| -x.signum() * x.abs().powf(1.5)),
    ("force x: -x*sqrt(abs(x))", |x, _| -x * x.abs().sqrt()),
    ("force x: -sign(x)*abs(x)^1.5", |x, _| -x.signum() * x.abs().powf(1.5)),
    ("force x: -sign(x)*sqrt(abs(x))", |x, _| -x.signum() * x.abs().sqrt()),
    ("param p = 1.3\nforce x: -x - sign(x)*abs(x)^p", |x, _| -x - x.signum() * x.abs().powf(1.3)),
    ("force x: -x - 10*max(x - 0.5, 0)^1.5", |x, _| -x - 10.0 * (x - 0.5).max(0.0).powf(1.5)),
    ("force x: -x - 10*(3*max(2*x - 1, 0, -7))^1.5", |x, _| {
        -x - 10.0 * (3.0 * (2.0 * x - 1.0).max(0.0)).powf(1.5)
    }),
    ("force x: -x + if(x > 0.5, -1000*(x - 0.5)^1.5, 0)", |x, _| {
        -x - 1000.0 * (x - 0.5).max(0.0).powf(1.5)
    }),
    ("force x: -x + if(x < -2 or 0.5 >= x, -max(0.5 - x, 0)^0.5, -(6*x - 3)^1.5)", |x, _| {
        -x + if x > 0.5 { -(6.0 * x - 3.0).powf(1.5) } else { -(0.5 - x).sqrt() }
    }),
    ("potential x^2/2 + 3*max(x - 0.5, 0)^2.5", |x, _| -x - 7.5 * (x - 0.5).max(0.0).powf(1.5)),
    ("potential x^2/2 + if(x < 0, 4*(max(-x, 0))^2.5, 0)", |x, _| {
        -x + 10.0 * (-x).max(0.0).powf(1.5)
    }),
    ("force x: -x - 0.1*sign(x')*abs(x')^1.5", |x, v| -x - 0.1 * v.signum() * v.abs().powf(1.5)),
    ("force x: -x - 0.1*x'*sqrt(abs(x'))", |x, v| -x - 0.1 * v * v.abs().sqrt()),
    ("force x: -x - 0.1*x'*abs(x')^0.7", |x, v| -x - 0.1 * v * v.abs().powf(0.7)),
    ("force x: -x - 0.1*min(abs(x'), 2)^1.2*sign(x')", |x, v| {
        -x - 0.1 * v.abs().min(2.0).powf(1.2) * v.signum()
    }),
    ("force x: -x - 0.1*(abs(x')*x^2)^1.25*sign(x')", |x, v| {
        -x - 0.1 * (v.abs() * x * x).powf(1.25) * v.signum()
    }),
];

/// x at t = 7 from rest at 1, by a method of order 4 in short constant steps.
fn by_short_steps(acceleration: fn(f64, f64) -> f64) -> f64 {
    let steps = 350_000;
    let h = 7.0 / f64::from(steps);
    let (mut x, mut v) = (1.0, 0.0);
    for _ in 0..steps {
        let a = acceleration(x, v);
        let (x1, v1) = (x + 0.5 * h * v, v + 0.5 * h * a);
        let b = acceleration(x1, v1);
        let (x2, v2) = (x + 0.5 * h * v1, v + 0.5 * h * b);
        let c = acceleration(x2, v2);
        let (x3, v3) = (x + h * v2, v + h * c);
        let d = acceleration(x3, v3);
        x += h / 6.0 * (v + 2.0 * v1 + 2.0 * v2 + v3);
        v += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    x
}

#[test]
fn roots_of_what_turns_are_passed() {
    for (force, acceleration) in ROOTED {
        let right = by_short_steps(acceleration);
        let text = format!("coord x\nkinetic x'^2/2\n{force}\nstart x = 1, x' = 0\nrun t = 0..7");
        for method in ["auto", "taylor", "dop853", "radau", "gauss4", "gauss6", "gauss8"] {
            let (report, _) = ran(&text, |o| o.method = method.to_owned());
            assert_eq!(report.end, End::Finished, "{method}: {force}");
            let off = (report.last.as_ref().expect("a state").state.q[0] - right).abs();
            // Steps that do not adapt are as good as they are long.
            let bound = if method.starts_with("gauss") { 1e-3 } else { 1e-7 };
            assert!(off < bound, "{method}: {off:.1e}\n{force}");
        }
    }
}

/// Where a force has no value a little beyond a turn, nothing says that a motion with a velocity
/// sticks there.
#[test]
fn what_has_no_value_holds_nothing() {
    let forces = [
        "if(x < 0, sqrt(-x^3), 0)",
        "if(x < 0, log(-x), 0)",
        "if(x >= 0, 0, -x*log(-x))",
        "if(x < 0, 1000*max(-x, 0)^1.5, 0)",
        "if(x < 0, asin(1 + x), 0)",
        "if(x < 0, (-x)^-0.5, 0)",
        "if(x < 0, sqrt(x^3), 0)",
        "abs(x)*log(abs(x))",
        "if(x < 0, sqrt(-1 - x^2), 1)",
        "sign(x)*sqrt(x)",
        "if(x > -2 and 0 < x, 0, -(-x)^0.5)",
    ];
    for force in forces {
        for velocity in [-2.0, -0.3, 0.0] {
            let text = format!(
                "coord x\nkinetic x'^2/2\npotential 9.81*x\nforce x: {force}\n\
                 start x = 1, x' = {velocity:?}\nrun t = 0..2"
            );
            for method in ["auto", "taylor", "dop853", "radau", "gauss6"] {
                let (report, _) = ran(&text, |o| o.method = method.to_owned());
                let is_stuck = matches!(report.end, End::Sticks(_));
                assert!(!is_stuck, "{method} {velocity}: {force}: {:?}", report.stopped);
            }
        }
    }
}
