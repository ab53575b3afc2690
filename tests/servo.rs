//! Constraints that inputs hold: against the unsymmetric system solved by itself, least weights,
//! hidden constraints, motions in closed form.

use dalembert::analyze::linearize::linearize;
use dalembert::expr::Random;
use dalembert::simulate::points::hidden::complete;
use dalembert::simulate::report::{self, Options as At};
use dalembert::simulate::run::{self, RunOptions};
use dalembert::simulate::{Observation, Setting, Start, Tolerances, start};
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;

fn model(text: &str) -> Model {
    let loaded = dalembert::load(&Input::text("test", text), &Options::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

fn setting(model: &Model) -> (Setting, Start) {
    let setting = Setting::new(model).expect("values");
    let start = start::start(&setting).unwrap_or_else(|error| panic!("{error:?}"));
    (setting, start)
}

/// Gaussian elimination with the largest pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("a row");
        a.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            let pivot = a[k].clone();
            a[i][k..].iter_mut().zip(&pivot[k..]).for_each(|(x, p)| *x -= f * p);
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

fn number(random: &mut Random) -> f64 {
    (random.signed() * 4096.0).round() / 2048.0
}

/// A system whose terms are known without this library: constant M and K, forces linear in q and
/// q̇, rows a·q = s(t) held by inputs along columns of B, and an ideal row.
struct Known {
    text: String,
    m: Vec<Vec<f64>>,
    /// Q at the state.
    force: Vec<f64>,
    servo: Vec<Vec<f64>>,
    ideal: Vec<Vec<f64>>,
    columns: Vec<Vec<f64>>,
}

fn known(seed: u64, n: usize, held: usize, inputs: usize, ideal: usize, weight: &str) -> Known {
    let mut random = Random::new(seed);
    let root: Vec<Vec<f64>> =
        (0..n).map(|_| (0..n).map(|_| number(&mut random)).collect()).collect();
    let mut m = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..n {
            m[i][j] = (0..n).map(|k| root[k][i] * root[k][j]).sum::<f64>()
                + if i == j { 1.0 } else { 0.0 };
        }
    }
    let mut vector = |n: usize| -> Vec<f64> { (0..n).map(|_| number(&mut random)).collect() };
    let (force, start) = (vector(n), vector(n));
    let servo: Vec<Vec<f64>> = (0..held).map(|_| vector(n)).collect();
    let rows: Vec<Vec<f64>> = (0..ideal).map(|_| vector(n)).collect();
    let columns: Vec<Vec<f64>> = (0..inputs).map(|_| vector(n)).collect();
    let terms = |a: &[f64], what: &dyn Fn(usize) -> String| -> String {
        let parts: Vec<String> =
            a.iter().enumerate().map(|(i, a)| format!("({a:?})*{}", what(i + 1))).collect();
        parts.join(" + ")
    };
    let mut text = format!("coord q[1..{n}]\ninput u[1..{inputs}]\nkinetic ");
    let mut kinetic = Vec::new();
    for (i, row) in m.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            kinetic.push(format!("({entry:?})*q[{}]'*q[{}]'/2", i + 1, j + 1));
        }
    }
    text += &kinetic.join(" + ");
    text.push('\n');
    for i in 0..n {
        let push: Vec<f64> = columns.iter().map(|b| b[i]).collect();
        let push = terms(&push, &|j| format!("u[{j}]"));
        text += &format!("force q[{}]: {:?} + {push}\n", i + 1, force[i]);
    }
    let list = |rows: &[Vec<f64>]| -> String {
        let all: Vec<String> = rows
            .iter()
            .map(|a| {
                let at: f64 = a.iter().zip(&start).map(|(a, q)| a * q).sum();
                format!("{} - ({at:?}) - t^2", terms(a, &|i| format!("q[{i}]")))
            })
            .collect();
        match all.len() {
            1 => format!("{} = 0", all[0]),
            k => format!("[{}] = [{}]", all.join(", "), vec!["0"; k].join(", ")),
        }
    };
    text += &format!("constraint track by u{weight}: {}\n", list(&servo));
    if ideal > 0 {
        text += &format!("constraint rod: {}\n", list(&rows));
    }
    for (i, q) in start.iter().enumerate() {
        text += &format!("start q[{}] = {q:?}\n", i + 1);
    }
    Known { text, m, force, servo, ideal: rows, columns }
}

impl Known {
    /// (q̈, u, λ) by the unsymmetric system itself: b = 2 for each row.
    fn exact(&self) -> (Vec<f64>, Vec<f64>) {
        let (n, k, m) = (self.m.len(), self.columns.len(), self.ideal.len());
        let size = n + k + m;
        let mut a = vec![vec![0.0; size]; size];
        let mut b = vec![0.0; size];
        for i in 0..n {
            a[i][..n].copy_from_slice(&self.m[i]);
            b[i] = self.force[i];
            for j in 0..k {
                a[i][n + j] = -self.columns[j][i];
            }
            for j in 0..m {
                a[i][n + k + j] = -self.ideal[j][i];
            }
        }
        for (at, row) in self.servo.iter().chain(&self.ideal).enumerate() {
            a[n + at][..n].copy_from_slice(row);
            b[n + at] = 2.0;
        }
        let x = solve(a, b);
        (x[..n].to_vec(), x[n..n + k].to_vec())
    }
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = b.iter().fold(1f64, |m, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

/// A route and what it says.
type Answer = (String, Vec<f64>, Vec<f64>, Vec<f64>);

/// What all routes say of q̈ and of the inputs.
fn answers(text: &str) -> Vec<Answer> {
    let model = model(text);
    let (setting, start) = setting(&model);
    let mut options = At::of_model(&model);
    options.formulations = dalembert::formulations::ALL.to_vec();
    options.eliminations = dalembert::simulate::ALL.to_vec();
    let report = report::at(&setting, &start.state, &options).expect("numbers");
    let mut list = Vec::new();
    for answer in &report.answers {
        let Ok(found) = &answer.result else { continue };
        let name = format!("{} {}", answer.formulation, answer.elimination);
        let mut table = start.state.table(&model.system);
        for &(symbol, unknown) in &model.system.unknowns {
            if let dalembert::model::system::Unknown::Multiplier(row) = unknown {
                table.set(symbol, found.outcome.multipliers[row]);
            }
        }
        let inputs: Vec<_> =
            model.system.servos.iter().flat_map(|s| &s.inputs).map(|u| u.value).collect();
        let u = setting.numbers(&inputs, &table);
        list.push((name, found.accelerations.clone(), u, found.constraint_force.clone()));
    }
    list
}

#[test]
fn all_routes_solve_the_unsymmetric_system() {
    let mut compared = 0;
    for seed in 0..40u64 {
        let (n, held) = (3 + (seed % 3) as usize, 1 + (seed % 2) as usize);
        let ideal = usize::from(seed % 4 == 3);
        let known = known(seed + 1, n, held, held, ideal, "");
        let (accelerations, inputs) = known.exact();
        // Where the inputs hardly push, digits are lost by the problem itself.
        if inputs.iter().any(|u| u.abs() > 1e4) {
            continue;
        }
        let answers = answers(&known.text);
        assert!(answers.len() >= 9, "{:?}", answers.iter().map(|a| &a.0).collect::<Vec<_>>());
        for (name, q, u, _) in answers {
            assert!(close(&q, &accelerations, 1e-9), "{seed} {name} {q:?} {accelerations:?}");
            assert!(close(&u, &inputs, 1e-9), "{seed} {name} {u:?} {inputs:?}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

/// What is called the constraint force is what the inputs do.
#[test]
fn the_constraint_force_is_what_the_inputs_do() {
    let known = known(77, 4, 2, 2, 0, "");
    let (_, inputs) = known.exact();
    let push: Vec<f64> =
        (0..4).map(|i| known.columns.iter().zip(&inputs).map(|(b, u)| b[i] * u).sum()).collect();
    for (name, _, _, force) in answers(&known.text) {
        assert!(close(&force, &push, 1e-9), "{name} {force:?} {push:?}");
    }
}

/// uᵀW u is least: no change of u that leaves the rows alone has a share in W u.
#[test]
fn the_least_weight_is_taken() {
    for seed in 0..12u64 {
        let ideal = (seed % 2) as usize;
        let weights = [2.0, 0.5, 3.0];
        let known = known(seed + 300, 4, 1, 3, ideal, " weight [2, 1/2, 3]");
        let (n, m) = (4, ideal);
        // The response to each input under the ideal rows.
        let size = n + m;
        let mut matrix = vec![vec![0.0; size]; size];
        for i in 0..n {
            matrix[i][..n].copy_from_slice(&known.m[i]);
            for (j, row) in known.ideal.iter().enumerate() {
                matrix[i][n + j] = -row[i];
                matrix[n + j][i] = row[i];
            }
        }
        let response = |force: &[f64], bias: f64| {
            let mut right = force.to_vec();
            right.resize(size, bias);
            let y = solve(matrix.clone(), right);
            known.servo[0].iter().zip(&y).map(|(a, y)| a * y).sum::<f64>()
        };
        let free = response(&known.force, 2.0);
        let s: Vec<f64> = known.columns.iter().map(|b| response(b, 0.0)).collect();
        let total: f64 = s.iter().zip(weights).map(|(s, w)| s * s / w).sum();
        let wanted: Vec<f64> =
            s.iter().zip(weights).map(|(s, w)| s / w * (2.0 - free) / total).collect();
        let answers = answers(&known.text);
        assert!(!answers.is_empty());
        for (name, _, u, _) in answers {
            assert!(close(&u, &wanted, 1e-9), "{seed} {name} {u:?} {wanted:?}");
        }
    }
}

/// Udwadia: an input on every coordinate and W = M⁻¹ is the ideal force.
#[test]
fn with_the_inverse_mass_as_weight_it_is_the_ideal_force() {
    let body = "coord x, y, z
        kinetic x'^2 + y'^2/2 + (1 + x^2)*z'^2 + x'*y'/2
        potential x*y + z^2
        start x = 0.3, y = 0.9, z = 0.2, x' ~ 0.1, y' ~ 0.4, z' ~ -0.7\n";
    let rows = "[x^2 + y*z, x' - z*y'] = [0.27, -0.2]";
    let ideal = answers(&format!("{body} constraint c: {rows}"));
    let text = format!(
        "{body} input u[1..3]
        force x: u[1]\n force y: u[2]\n force z: u[3]
        constraint c by u weight inverse([[2, 1/2, 0], [1/2, 1, 0], [0, 0, 2 + 2*x^2]]): {rows}"
    );
    let servo = answers(&text);
    assert!(servo.len() >= 9 && !ideal.is_empty());
    for (name, q, u, force) in &servo {
        assert!(close(q, &ideal[0].1, 1e-11), "{name} {q:?} {:?}", ideal[0].1);
        assert!(close(force, &ideal[0].3, 1e-11), "{name} {force:?} {:?}", ideal[0].3);
        assert!(close(u, force, 1e-11), "{name} {u:?} {force:?}");
    }
}

/// Runs to its end; what was observed on the way.
fn passed(model: &Model, until: f64) -> (Vec<Observation>, String) {
    let setting = Setting::new(model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every, options.tolerance) = (until, Some(until / 20.0), 1e-11);
    let mut list = Vec::new();
    let report = run::run(&setting, &options, &mut |seen| {
        list.push(seen.clone());
        ControlFlow::Continue(())
    });
    let report = report.unwrap_or_else(|error| panic!("{error:?}"));
    (list, format!("{:?}", report.verdict()))
}

fn value(model: &Model, seen: &Observation, name: &str) -> f64 {
    let setting = Setting::new(model).expect("values");
    let observed = model.system.observes.iter().find(|o| o.name == name).expect("observed");
    setting.number(observed.value, &seen.table(&model.system))
}

const CRANE: &str = "param M = 10, m = 2, J = 1, g = 9.81
    coord s, l, th
    input F, T
    kinetic M/2*s'^2 + J/2*l'^2
    particle load: mass m, at [s + l*sin(th), -l*cos(th)]
    gravity [0, -g]
    force s: F
    force l: T
    let way = 3 + sin(t)
    let height = -4 + cos(t)/4
    constraint track by F, T: [s + l*sin(th), -l*cos(th)] = [way, height]
    start s ~ 3, l ~ 4
    run t = 0..4
    observe hang = th";

/// The rope hangs along g less the load's acceleration; the forces follow.
#[test]
fn a_crane_follows_a_path() {
    let crane = model(CRANE);
    let (set, start) = setting(&crane);
    // Two inputs push along the rope alone.
    let refused = report::at(&set, &start.state, &At::of_model(&crane)).err();
    assert!(format!("{refused:?}").contains("rank: 1, count: 2"), "{refused:?}");
    let completed = complete(&crane, &Tolerances::default()).expect("completed");
    assert_eq!(completed.added.len(), 1);
    assert_eq!(completed.added[0].level, dalembert::model::system::Level::Position);
    let (list, verdict) = passed(&completed.model, 4.0);
    assert!(verdict.contains("Ok"), "{verdict}");
    let (big, m, j, g) = (10.0, 2.0, 1.0, 9.81);
    for seen in &list {
        let t = seen.state.t;
        let h = 1e-3;
        let pull = |t: f64| [-(-t.sin()), -(-(t.cos() / 4.0)) - g];
        let angle = |t: f64| (pull(t)[0]).atan2(-pull(t)[1]);
        let length = |t: f64| (4.0 - t.cos() / 4.0) / angle(t).cos();
        let place = |t: f64| 3.0 + t.sin() - length(t) * angle(t).sin();
        // Eighth-order differences.
        let second = |f: &dyn Fn(f64) -> f64| {
            let w = [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];
            let h = 10.0 * h;
            (w[0] * f(t)
                + (1..5).map(|k| w[k] * (f(t + k as f64 * h) + f(t - k as f64 * h))).sum::<f64>())
                / (h * h)
        };
        let tension = m * pull(t)[0].hypot(pull(t)[1]);
        assert!((seen.state.q[2] - angle(t)).abs() < 1e-9, "{t} {:?}", seen.state.q);
        assert!((seen.state.q[0] - place(t)).abs() < 1e-9, "{t} {:?}", seen.state.q);
        let force = big * second(&place) - tension * angle(t).sin();
        let torque = j * second(&length) - tension;
        let (f, w) = (value(&completed.model, seen, "F"), value(&completed.model, seen, "T"));
        assert!((f - force).abs() < 1e-7, "{t} {f} {force}");
        assert!((w - torque).abs() < 1e-7, "{t} {w} {torque}");
    }
}

/// Three masses in a row: the last follows a path, the first is pushed. Two hidden levels.
#[test]
fn a_chain_of_springs_is_led_from_its_far_end() {
    let chain = model(
        "coord x[1..3]
        input F
        kinetic x[1]'^2 + 3/2*x[2]'^2 + x[3]'^2/2
        potential 5/2*(x[1] - x[2])^2 + 7/2*(x[2] - x[3])^2
        force x[1]: F
        constraint track by F: x[3] = sin(t)
        run t = 0..3",
    );
    let completed = complete(&chain, &Tolerances::default()).expect("completed");
    assert_eq!(completed.added.len(), 2);
    let (list, verdict) = passed(&completed.model, 3.0);
    assert!(verdict.contains("Ok"), "{verdict}");
    // x₂ = x₃ + ẍ₃/7, 3 ẍ₂ = 5 (x₁ − x₂) − 7 (x₂ − x₃), F = 2 ẍ₁ + 5 (x₁ − x₂); all are c·sin t.
    let (c3, c2) = (1.0, 1.0 - 1.0 / 7.0);
    let c1 = c2 + (7.0 * (c2 - c3) - 3.0 * c2) / 5.0;
    let force = -2.0 * c1 + 5.0 * (c1 - c2);
    for seen in &list {
        let sine = seen.state.t.sin();
        for (x, c) in seen.state.q.iter().zip([c1, c2, c3]) {
            assert!((x - c * sine).abs() < 1e-9, "{x} {}", c * sine);
        }
        assert!((value(&completed.model, seen, "F") - force * sine).abs() < 1e-8);
    }
}

/// With the cart held by its push, the pole falls as if the cart were fast: zero dynamics, whose
/// poles are the zeros of the open system.
#[test]
fn linearized_it_has_the_zeros_as_poles() {
    let body = "param M = 1, m = 0.3, l = 0.7, g = 9.81
        coord x, th
        particle cart: mass M, at [x, 0]
        particle bob: mass m, at [x + l*sin(th), l*cos(th)]
        gravity [0, -g]
        force x: F
        output px = x\n";
    let open = model(&format!("{body} input F = 0"));
    let held = model(&format!("{body} input F\n constraint hold by F: x = 0"));
    let zeros = linearize(&Setting::new(&open).expect("values")).expect("linear").control.zeros;
    let zeros: Vec<f64> = zeros.expect("zeros").iter().map(|z| z[0]).collect();
    let found = linearize(&Setting::new(&held).expect("values")).expect("linear");
    let poles: Vec<f64> = found.spectrum.all().iter().map(|z| z[0]).collect();
    assert_eq!(found.reduced.dimension(), 2);
    assert!(close(&poles, &zeros, 1e-11), "{poles:?} {zeros:?}");
}

/// Pushed by its joint torques an arm does work, and the balance of energy holds with it.
#[test]
fn the_work_of_inputs_is_in_the_balance() {
    let arm = model(
        "param m = 1.5, l = 0.4, g = 9.81
        coord a, b
        input A, B
        particle elbow: mass m, at [l*sin(a), -l*cos(a)]
        particle hand: mass m, at [l*sin(a) + l*sin(a + b), -l*cos(a) - l*cos(a + b)]
        gravity [0, -g]
        force a: A
        force b: B
        constraint track by A, B: hand.position = [0.4 + 0.1*cos(2*t), -0.3 + 0.1*sin(2*t)]
        start a ~ 0.2, b ~ 1.3
        run t = 0..3",
    );
    let (list, verdict) = passed(&arm, 3.0);
    assert!(verdict.contains("Ok"), "{verdict}");
    for seen in &list {
        assert!((seen.energy - list[0].energy - seen.work).abs() < 1e-8);
        let push = [value(&arm, seen, "A"), value(&arm, seen, "B")];
        let power: f64 = push.iter().zip(&seen.state.velocity).map(|(u, v)| u * v).sum();
        assert!((power - seen.power).abs() < 1e-8 * power.abs().max(1.0));
    }
}

/// What an input has to do under dry friction: the path's own force and the friction on top, through
/// turns of the motion. The friction as a statement, by a contact, by the load of a constraint, and
/// shared by a weight.
#[test]
fn inputs_overcome_dry_friction() {
    let turned = |t: f64| t.cos().signum();
    type Demand = Box<dyn Fn(f64) -> f64>;
    let cases: Vec<(&str, Demand)> = vec![
        (
            "input F\ncoord x\nkinetic x'^2\nforce x: F\nfriction 3 along x'\n\
             constraint track by F: x = sin(t)\nobserve push = F",
            Box::new(move |t| -2.0 * t.sin() + 3.0 * turned(t)),
        ),
        (
            "input F\ncoord x\nkinetic x'^2\nforce x: F - 3*sign(x')\n\
             constraint track by F: x = sin(t)\nobserve push = F",
            Box::new(move |t| -2.0 * t.sin() + 3.0 * turned(t)),
        ),
        (
            "input F\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\nforce x: F\n\
             contact floor: y >= 0, sliding x', friction 0.3\n\
             constraint track by F: x = sin(t)\nobserve push = F",
            Box::new(move |t| -t.sin() + 0.3 * 9.81 * turned(t)),
        ),
        (
            "input F\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\nforce x: F\n\
             constraint floor: y = 0\nfriction 0.3*abs(multiplier(floor)) along x'\n\
             constraint track by F: x = sin(t)\nobserve push = F",
            Box::new(move |t| -t.sin() + 0.3 * 9.81 * turned(t)),
        ),
        (
            "input F, G\ncoord x\nkinetic 3/2*x'^2\nforce x: F + 2*G\nfriction 0.7 along x'\n\
             constraint track by F, G weight [1, 2]: x = sin(t)\nobserve push = 3*F",
            Box::new(move |t| -3.0 * t.sin() + 0.7 * turned(t)),
        ),
    ];
    for (text, demand) in cases {
        let (list, verdict) = passed(&model(&format!("{text}\nrun t = 0..6")), 6.0);
        assert!(verdict.contains("Ok"), "{verdict}\n{text}");
        assert!(list.len() > 20);
        for seen in list.iter().filter(|seen| seen.state.t.cos().abs() > 1e-6) {
            let (found, t) = (value(&model(text), seen, "push"), seen.state.t);
            assert!((found - demand(t)).abs() < 1e-8, "{t}: {found} {}\n{text}", demand(t));
        }
    }
}

/// An input that acts on one coordinate and holds another: x follows from the led y alone, so that
/// friction on x, however large, holds nothing, and the input takes it on itself.
#[test]
fn friction_where_an_input_acts_holds_nothing() {
    let text = "param m = 2, c = 1, mu = 5\ncoord x, y\ninput F\n\
                kinetic m/2*(x'^2 + y'^2) + c*x'*y'\nforce x: F\nfriction rub: mu along x'\n\
                constraint track by F: y = sin(t)\nstart x' = -1\nobserve push = F, rub.mode\nrun t = 0..6";
    let (list, verdict) = passed(&model(text), 6.0);
    assert!(verdict.contains("Ok"), "{verdict}");
    for seen in &list {
        let t = seen.state.t;
        // c ẍ + m ÿ = 0, and m ẍ + c ÿ = F − μ sign(ẋ).
        let (speed, second) = (-1.0 + 2.0 * (1.0 - t.cos()), 2.0 * t.sin());
        assert!((seen.state.velocity[0] - speed).abs() < 1e-9, "{t}: {:?}", seen.state.velocity);
        if speed.abs() > 1e-6 {
            let push = 2.0 * second - t.sin() + 5.0 * speed.signum();
            assert!((value(&model(text), seen, "push") - push).abs() < 1e-8, "{t}");
        }
    }
}
