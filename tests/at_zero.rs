//! Events whose functions have no value in parts of the way, and events that are zero at
//! the start or after the reset of another, against solutions in closed form.

#[allow(dead_code)]
#[path = "properties/random.rs"]
mod random;
mod support;

use dalembert::simulate::drive::{End, Open};
use random::Random;
use support::motion::{by_all, ran, times};

/// A function of x = v t with zeros where it has values, and these.
fn partial(random: &mut Random) -> (String, Vec<f64>) {
    let a = (100.0 * (5.0 + 3.0 * random.signed())).round() / 100.0;
    let c = (1000.0 * random.signed()).round() / 1000.0;
    let small = 10f64.powi(-(random.below(6) as i32)) * c.abs();
    match random.below(12) {
        0 => (format!("log(x - {a}) - {c}"), vec![a + c.exp()]),
        1 => (format!("sqrt(x - {a}) - {small:?}"), vec![a + small * small]),
        2 => (format!("sqrt({a} - x) - {small:?}"), vec![a - small * small]),
        3 => (format!("1/(x - {a}) - 1/{c}"), vec![a + c]),
        4 => (format!("log({a} - x) + {}", c.abs()), vec![a - (-c.abs()).exp()]),
        5 => (format!("asin(x - {a}) - {c}"), vec![a + c.sin()]),
        6 => (format!("(x - {a})^1.5 - {small:?}"), vec![a + small.powf(2.0 / 3.0)]),
        // Defined in a window only, narrower than any step.
        7 => {
            let half = 0.5 * small;
            let text = format!("sqrt((x - {a})*({:?} - x)) - {:?}", a + small, 0.6 * half);
            (text, vec![a + half - 0.8 * half, a + half + 0.8 * half])
        }
        8 => {
            let text = format!("log((x - {a})*(x - {})) - log(2)", a + 1.0);
            (text, vec![a - 1.0, a + 2.0])
        }
        9 => (format!("(x - {a})/sqrt(x - {})", a - 0.01), vec![a]),
        10 => (format!("sqrt(x - {a})"), vec![a]),
        _ => (format!("sqrt({a} - x)"), vec![a]),
    }
}

/// 240 such events, by the methods in turn.
#[test]
fn zeros_are_found_beside_what_has_no_value() {
    for seed in 0..240 {
        let mut random = Random::new(seed);
        let (function, zeros) = partial(&mut random);
        let method = *random.pick(&["dop853", "dop853", "gauss6", "radau", "rattle"]);
        let text = format!(
            "coord x\nkinetic x'^2/2\nevent a: {function} = 0\nstart x = 0, x' = 1\nrun t = 0..10"
        );
        let (report, _) = ran(&text, |o| {
            o.method = method.to_owned();
            if method == "rattle" {
                o.formulation = dalembert::formulations::by_name("hamilton").expect("is there");
                o.step = Some(0.37);
            }
        });
        let found = times(&report, 0);
        assert_eq!(found.len(), zeros.len(), "{seed}, {method}: {found:?} {zeros:?}\n{text}");
        for (a, b) in found.iter().zip(&zeros) {
            assert!((a - b).abs() < 1e-9, "{seed}, {method}: {a} {b}\n{text}");
        }
    }
}

/// A jump through zero is an event each time.
#[test]
fn jumps_happen_again_and_again() {
    let text = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\n\
                event jump: sign(x) = 0\nevent step: if(x > 0.5, 1, -2) = 0 rising\nrun t = 0..20";
    let (report, _) = ran(text, |_| {});
    assert_eq!(times(&report, 0).len(), 6);
    let rising = times(&report, 1);
    assert_eq!(rising.len(), 3);
    for (k, t) in rising.iter().enumerate() {
        let exact = std::f64::consts::TAU * (k as f64 + 5.0 / 6.0);
        assert!((t - exact).abs() < 1e-7, "{t} {exact}");
    }
}

/// The trial, by all methods and formulations; and from where there is no value to where
/// there is none.
#[test]
fn a_logarithm_stops_a_run_at_its_zero() {
    let text =
        "coord x\nkinetic x'^2/2\nevent a: log(x-1) = 0 -> stop\nstart x = 0, x' = 1\nrun t = 0..5";
    for method in ["dop853", "gauss4", "gauss6", "gauss8", "radau", "rattle", "discrete-gradient"] {
        let (report, _) = ran(text, |o| {
            o.method = method.to_owned();
            let of = |name: &str| dalembert::formulations::by_name(name).expect("is there");
            match method {
                "rattle" => (o.formulation, o.step) = (of("hamilton"), Some(0.3)),
                "discrete-gradient" => (o.formulation, o.step) = (of("bracket"), Some(0.3)),
                _ => {}
            }
        });
        assert_eq!(report.end, End::Stopped { event: 0 }, "{method}");
        assert!((report.last.expect("a state").state.t - 2.0).abs() < 1e-12, "{method}");
    }
    for (name, report) in by_all(text, 1e-9) {
        assert_eq!(report.end, End::Stopped { event: 0 }, "{name}");
    }
}

/// Rods of unit length on a line that exchange their velocities: u_i = x_i − i are free
/// points that pass through each other, and the rods are their order.
fn line(random: &mut Random) -> (usize, Vec<f64>, Vec<f64>) {
    let n = 2 + random.below(5);
    let mut u = vec![(10.0 * random.signed()).round() / 10.0];
    for _ in 1..n {
        let gap = if random.one_in(3) { 0.1 + random.signed().abs() } else { 0.0 };
        let gap = (10.0 * gap).round() / 10.0;
        u.push(u[u.len() - 1] + gap);
    }
    let v =
        (0..n).map(|_| if random.one_in(2) { 0.0 } else { (4.0 * random.signed()).round() / 4.0 });
    let v = v.collect();
    (n, u, v)
}

/// 150 lines of rods, most of them touching from the start.
#[test]
fn touching_bodies_collide() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (n, u, v) = line(&mut random);
        let list = |f: &dyn Fn(usize) -> String, between: &str| {
            (1..=n).map(f).collect::<Vec<String>>().join(between)
        };
        let mut events: Vec<String> = (1..n)
            .map(|i| {
                let j = i + 1;
                match random.one_in(2) {
                    true => format!(
                        "event e{i}: x{i} - x{j} + 1 = 0 rising -> x{i}' = x{j}', x{j}' = x{i}'"
                    ),
                    false => format!(
                        "event e{i}: x{j} - x{i} = 1 falling -> x{i}' = x{j}', x{j}' = x{i}'"
                    ),
                }
            })
            .collect();
        if random.one_in(2) {
            events.reverse();
        }
        let text = format!(
            "coord {}\nkinetic ({})/2\n{}\nstart {}, {}\nrun t = 0..3",
            list(&|i| format!("x{i}"), ", "),
            list(&|i| format!("x{i}'^2"), " + "),
            events.join("\n"),
            list(&|i| format!("x{i} = {:?}", u[i - 1] + i as f64), ", "),
            list(&|i| format!("x{i}' = {:?}", v[i - 1]), ", "),
        );
        let (report, _) = ran(&text, |_| {});
        assert_eq!((&report.end, report.verdict()), (&End::Finished, Ok(())), "{seed}: {text}");
        assert!(report.undecided.is_empty(), "{seed}: {:?}\n{text}", report.undecided);
        let mut exact: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u + 3.0 * v).collect();
        exact.sort_by(f64::total_cmp);
        let last = report.last.as_ref().expect("a state");
        for (i, exact) in exact.iter().enumerate() {
            let found = last.state.q[i] - (i + 1) as f64;
            assert!((found - exact).abs() < 1e-10, "{seed}: {i}: {found} {exact}\n{text}");
        }
    }
}

/// The trial: y = 2, z = 7; by every formulation.
#[test]
fn touching_balls_hand_on_what_hits_them() {
    let text = "coord x,y,z\nkinetic (x'^2+y'^2+z'^2)/2\n\
                event a: x-y+1=0 rising -> x'=y', y'=x'\nevent b: y-z+1=0 rising -> y'=z', z'=y'\n\
                start x=0,y=2,z=3,x'=1\nrun t=0..5";
    for (name, report) in by_all(text, 1e-9) {
        let last = report.last.as_ref().expect("a state");
        for (found, exact) in last.state.q.iter().zip([1.0, 2.0, 7.0]) {
            assert!((found - exact).abs() < 1e-12, "{name}: {:?}", last.state.q);
        }
        assert_eq!(report.event_log.len(), 2, "{name}");
    }
}

/// A ball laid on a floor, or thrown from it, under 120 forces: it does not fall through.
#[test]
fn what_lies_on_a_floor_stays_above_it() {
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let floor = *random.pick(&["0", "0.1", "-3.7", "1e3", "0.3*t", "sin(t) - 0.2"]);
        let (at, speed) = match floor {
            "0.3*t" => ("0", 0.3),
            "sin(t) - 0.2" => ("-0.2", 1.0),
            other => (other, 0.0),
        };
        let force = *random.pick(&["-10", "-10", "-t", "-t^2", "-0.1 - y'", "-1e-3"]);
        let relative = [0.0, 0.0, -1.0, 1.5][random.below(4)];
        let e = *random.pick(&["0", "0.5", "0.8"]);
        let text = format!(
            "let f = {floor}\nlet u = y' - f'\ncoord y\nkinetic y'^2/2\nforce y: {force}\n\
             start y = {at}, y' = {:?}\nevent hit: y - f = 0 falling -> y' = f' - {e}*u\n\
             event below: y - f + 1e-3 = 0 falling\nrun t = 0..3",
            speed + relative
        );
        let (report, rows) = ran(&text, |_| {});
        assert!(times(&report, 1).is_empty(), "{seed}: {:?}\n{text}", report.end);
        assert_eq!(report.verdict(), Ok(()), "{seed}: {text}");
        assert!(report.undecided.is_empty(), "{seed}: {text}");
        let moves_on = floor == "sin(t) - 0.2";
        if relative == 0.0 && !moves_on {
            // It rests from the first, and the run ends there.
            assert!(
                matches!(report.end, End::PiledUp { event: 0, .. }),
                "{seed}: {:?}\n{text}",
                report.end
            );
            assert!(report.last.as_ref().expect("a state").state.t < 0.1, "{seed}: {text}");
        }
        let hits = times(&report, 0);
        if relative < 0.0 {
            assert_eq!(hits[0], 0.0, "{seed}: {text}");
        } else if relative > 0.0 {
            assert!(hits.iter().all(|&t| t > 0.0), "{seed}: {hits:?}\n{text}");
        }
        assert!(!rows.is_empty());
    }
}

/// Which way a motion leaves zero is found whatever the order of the first derivative that
/// does not vanish, and rounding is not taken for one.
#[test]
fn the_first_derivative_that_does_not_vanish_decides() {
    for (force, start, happens) in [
        ("-t^3", "y' = 0", true),
        ("t^3", "y' = 0", false),
        ("-1", "y' = 1e-17", true),
        ("1", "y' = -1e-17", false),
        ("0", "y' = 0", false),
        ("0", "y' = -1", true),
    ] {
        let text = format!(
            "coord y\nkinetic y'^2/2\nforce y: {force}\nstart y = 0, {start}\n\
             event hit: y = 0 falling -> y' = -y'\nrun t = 0..1"
        );
        let (report, _) = ran(&text, |_| {});
        assert_eq!(!times(&report, 0).is_empty(), happens, "{text}");
    }
}

/// What is not decided is said; what stops is not stopped where it starts.
#[test]
fn what_is_not_decided_is_told() {
    let both = "coord x, y\nkinetic (x'^2 + y'^2)/2\nevent a: x - y + 1 = 0 -> x' = y', y' = x'\n\
                start x = 0, y = 1, x' = 1\nrun t = 0..2";
    let (report, _) = ran(both, |_| {});
    let open: Vec<(usize, Open)> = report.undecided.iter().map(|u| (u.event, u.why)).collect();
    assert_eq!(open, [(0, Open::BothWays)]);
    // Once on a side it is decided.
    let (report, _) = ran(&both.replace("y = 1, x'", "y = 1.5, x'"), |_| {});
    assert!(report.undecided.is_empty() && report.event_log.len() == 1);
    // A period, from a section back to it.
    let section = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 0, x' = 1\n\
                   event back: x = 0 rising -> stop\nrun t = 0..20";
    let (report, _) = ran(section, |_| {});
    assert_eq!(report.end, End::Stopped { event: 0 });
    let t = report.last.as_ref().expect("a state").state.t;
    assert!((t - std::f64::consts::TAU).abs() < 1e-8, "{t}");
    assert_eq!(report.undecided.iter().map(|u| u.why).collect::<Vec<_>>(), [Open::OnSection]);
    // A record of the section says nothing.
    let (report, _) = ran(&section.replace(" -> stop", ""), |_| {});
    assert!(report.undecided.is_empty());
    assert_eq!(times(&report, 0).len(), 3);
    // What is laid down where the run is to stop does not pass.
    let laid =
        "coord y\nkinetic y'^2/2\npotential 10*y\nevent floor: y = 0 falling -> stop\nrun t = 0..3";
    let (report, _) = ran(laid, |_| {});
    assert_eq!(report.end, End::Stopped { event: 0 });
    assert_eq!(report.last.as_ref().expect("a state").state.t, 0.0);
}

/// Backwards, a ball meets its bounces again: also one at its start.
#[test]
fn a_run_backwards_is_decided_in_its_own_direction() {
    let text = "coord y\nkinetic y'^2/2\npotential 10*y\nstart y = 0, y' = 5\n\
                event hit: y = 0 falling -> y' = -y'\nrun t = 2..0";
    let (report, _) = ran(text, |_| {});
    let found = times(&report, 0);
    assert_eq!((&report.end, found.len(), found[0]), (&End::Finished, 2, 2.0));
    assert!((found[1] - 1.0).abs() < 1e-13, "{found:?}");
}

/// A power of ten for a unit.
fn unit(random: &mut Random) -> f64 {
    10f64.powi(random.below(17) as i32 - 8)
}

/// What is laid on a floor stays there in any units of length, time and mass: 80 of them.
#[test]
fn no_unit_decides() {
    for seed in 0..80 {
        let mut random = Random::new(seed);
        let (l, t, m) = (unit(&mut random), unit(&mut random), unit(&mut random));
        let floor = *random.pick(&[0.0, 0.1, -3.7, 41.0]) * l;
        let shape = *random.pick(&["-10", "-s", "-s^2", "-1e-3", "-1 - s"]);
        let text = format!(
            "let s = t/{t:?}\ncoord y\nkinetic {m:?}*y'^2/2\nforce y: {:?}*({shape})\n\
             start y = {floor:?}\nevent hit: y = {floor:?} falling -> y' = -y'/2\n\
             event below: y = {:?} falling\nrun t = 0..{:?}",
            m * l / (t * t),
            floor - 1e-3 * l,
            3.0 * t,
        );
        let (report, _) = ran(&text, |_| {});
        assert!(matches!(report.end, End::PiledUp { event: 0, .. }), "{seed}: {text}");
        assert!(report.last.as_ref().expect("a state").state.t < 0.1 * t, "{seed}: {text}");
        assert!(report.undecided.is_empty() && times(&report, 1).is_empty(), "{seed}: {text}");
    }
}

/// A bead leaves a sphere of radius R where its multiplier vanishes, cos θ = (v²/gR + 2)/3 if
/// it has v at the top; at once if that is 1. 60 of them, in units of any size.
#[test]
fn a_multiplier_vanishes_in_any_units() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (l, t, m) = (unit(&mut random), unit(&mut random), unit(&mut random));
        let (r, g) = (l * (1.5 + random.signed()), l / (t * t) * (5.5 + 4.0 * random.signed()));
        let part = if random.one_in(2) { 1.0 } else { 0.1 + 0.4 * random.signed().abs() };
        let text = format!(
            "coord x, y\nkinetic {m:?}*(x'^2 + y'^2)/2\npotential {:?}*y\n\
             constraint sphere: x^2 + y^2 = {:?}\nstart x = 0, y ~ {r:?}, x' = {:?}\n\
             event off: multiplier(sphere) = 0 falling -> stop\nrun t = 0..{:?}",
            m * g,
            r * r,
            (part * g * r).sqrt(),
            20.0 * (r / g).sqrt(),
        );
        let (report, _) = ran(&text, |_| {});
        assert_eq!(report.end, End::Stopped { event: 0 }, "{seed}: {text}");
        let last = report.last.as_ref().expect("a state");
        let (found, exact) = (last.state.q[1] / r, (part + 2.0) / 3.0);
        assert!((found - exact).abs() < 1e-7, "{seed}: {found} {exact}\n{text}");
        assert_eq!(last.state.t == 0.0, part == 1.0, "{seed}: {text}");
    }
}

/// A ball that is back on its floor when the run ends, to rounding, has not hit it: 60 of
/// them, by the methods in turn, forwards and backwards.
#[test]
fn what_is_at_zero_at_the_end_has_not_passed_it() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (v, g) = (2.0 + random.signed(), 10f64.powf(2.0 * random.signed()));
        let flights = 1 + random.below(4);
        let (start, end) = match random.one_in(2) {
            true => (0.0, flights as f64 * 2.0 * v / g),
            false => (flights as f64 * 2.0 * v / g, 0.0),
        };
        let up = if end > start { v } else { -v };
        let method = *random.pick(&["dop853", "gauss6", "radau"]);
        let text = format!(
            "coord y\nkinetic y'^2/2\npotential {g:?}*y\nstart y = 0, y' = {up:?}\n\
             event hit: y = 0 falling -> y' = -y'\nrun t = {start:?}..{end:?}"
        );
        let (report, _) = ran(&text, |o| o.method = method.to_owned());
        assert_eq!(times(&report, 0).len(), flights - 1, "{seed}, {method}: {text}");
        assert_eq!(report.end, End::Finished, "{seed}, {method}: {text}");
    }
}

/// √(x − a) ± c and √(a − x) ± c: what is not 0 where its values end has no zero there, and
/// what is 0 beside has one, not two. 160 of them.
#[test]
fn a_zero_beside_an_end_is_one() {
    for seed in 0..160 {
        let mut random = Random::new(seed);
        let a = (100.0 * (5.0 + 3.0 * random.signed())).round() / 100.0;
        let c = 10f64.powf(-1.0 - 4.0 * random.signed().abs());
        let (inside, zero) = match random.one_in(2) {
            true => (format!("x - {a}"), a + c * c),
            false => (format!("{a} - x"), a - c * c),
        };
        let crosses = random.one_in(2);
        let sign = if crosses { "-" } else { "+" };
        let method = *random.pick(&["dop853", "gauss4", "gauss6", "radau"]);
        let text = format!(
            "coord x\nkinetic x'^2/2\nevent a: sqrt({inside}) {sign} {c:?} = 0\n\
             start x = 0, x' = 1\nrun t = 0..10"
        );
        let (report, _) = ran(&text, |o| o.method = method.to_owned());
        let found = times(&report, 0);
        assert_eq!(found.len(), usize::from(crosses), "{seed}, {method}: {found:?}\n{text}");
        assert!(found.iter().all(|t| (t - zero).abs() < 1e-9), "{seed}: {found:?} {zero}\n{text}");
    }
}
