//! What events do to the state: the impulsive principle of Gauss, under every kind of
//! constraint and in every kind of variable.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::points::impulse::Impulses;
use dalembert::simulate::{Setting, State, start};
use support::motion::{by_all, change, model, ran};

/// A double pendulum whose upper link hits a stop. With m = l = 1 and c = cos(θ₁ − θ₂),
/// p₂ = θ̇₂ + c θ̇₁ is kept: θ̇₂⁺ = θ̇₂⁻ + (1 + e) c θ̇₁⁻.
#[test]
fn a_stop_keeps_the_other_momentum() {
    let text = "
param e = 0.5
coord th1, th2
kinetic th1'^2 + th2'^2/2 + cos(th1 - th2)*th1'*th2'
potential -20*cos(th1) - 10*cos(th2)
start th1 = 1, th2 = 0.5
event stop: th1 = 0.2 falling -> th1' = -e*th1'
run t = 0..0.6
";
    let all = by_all(text, 1e-12);
    assert!(all.len() >= 4);
    let reference = change(&all[0].1, 0).1.clone();
    for (name, report) in &all {
        let (before, after) = change(report, 0);
        let c = (before.q[0] - before.q[1]).cos();
        let [v1, v2] = before.velocity[..] else { panic!() };
        assert_eq!(before.q, after.q, "{name}");
        assert!((before.q[0] - 0.2).abs() < 1e-14);
        assert!((after.velocity[0] + 0.5 * v1).abs() < 1e-14, "{name}");
        assert!((after.velocity[1] - (v2 + 1.5 * c * v1)).abs() < 1e-13, "{name}");
        assert!((after.momentum[1] - before.momentum[1]).abs() < 1e-13, "{name}");
        for (a, b) in after.velocity.iter().zip(&reference.velocity) {
            assert!((a - b).abs() < 1e-10, "{name}");
        }
        // Carnot: the loss is (1 − e)/(1 + e) times the energy of the velocities lost.
        let lost: Vec<f64> =
            before.velocity.iter().zip(&after.velocity).map(|(a, b)| a - b).collect();
        let t_lost = lost[0].powi(2) + lost[1].powi(2) / 2.0 + c * lost[0] * lost[1];
        let energy = report.event_log[0].energy;
        assert!((energy + t_lost / 3.0).abs() < 1e-12, "{name}: {energy} {t_lost}");
        assert_eq!(report.verdict(), Ok(()), "{name}");
    }
    // Held, it stays.
    let held = text.replace("-> th1' = -e*th1'", "-> th1' = -e*th1', th2' = th2'");
    let (report, _) = ran(&held, |_| {});
    let (before, after) = change(&report, 0);
    assert_eq!(before.velocity[1], after.velocity[1]);
    // The same by momenta of a Hamiltonian model.
    let canonical = "
param e = 0.5
coord th1, th2
let c = cos(th1 - th2), D = 2 - c^2
hamiltonian (p_th1^2 + 2*p_th2^2 - 2*c*p_th1*p_th2)/(2*D) - 20*cos(th1) - 10*cos(th2)
start th1 = 1, th2 = 0.5
event stop: th1 = 0.2 falling -> th1' = -e*th1'
run t = 0..0.6
";
    for (name, report) in by_all(canonical, 1e-12) {
        let (_, after) = change(&report, 0);
        for (a, b) in after.velocity.iter().zip(&reference.velocity) {
            assert!((a - b).abs() < 1e-10, "{name}");
        }
    }
}

/// A rolling wheel against a wall: the impulse respects the rolling, redundant or not.
#[test]
fn a_rolling_wheel_rolls_after_the_impact() {
    let text = "
coord x, y, th, psi
kinetic (x'^2 + y'^2)/2 + th'^2/4 + psi'^2/8
constraint roll: [x', y'] = th'*[cos(psi), sin(psi)]
constraint again: x'*cos(psi) + y'*sin(psi) = th'
start psi = 0.3, th' = 2, psi' = 0.5
event wall: x = 1 rising -> x' = -x'/2
run t = 0..0.8
";
    let all = by_all(text, 1e-12);
    assert!(all.len() >= 3, "{}", all.len());
    for (name, report) in &all {
        let (before, after) = change(report, 0);
        let psi = before.q[3];
        // One degree of freedom rolls, the heading keeps its rate: all halve and turn.
        for at in 0..3 {
            assert!((after.velocity[at] + before.velocity[at] / 2.0).abs() < 1e-13, "{name}");
        }
        assert!((after.velocity[3] - before.velocity[3]).abs() < 1e-13, "{name}");
        assert!((after.velocity[0] - after.velocity[2] * psi.cos()).abs() < 1e-14, "{name}");
        assert_eq!(report.end, End::Finished, "{name}");
        assert_eq!(report.verdict(), Ok(()), "{name}: {:?}", report.certificate);
    }
}

/// A bead on a rod that is turned at a given rate: after the impact it still turns so.
#[test]
fn moving_constraints_go_on_moving() {
    let text = "
coord x, y
kinetic (x'^2 + y'^2)/2
constraint rod: x*sin(2*t) = y*cos(2*t)
start x = 0.5
event end: x^2 + y^2 = 1 rising -> (sqrt(x^2 + y^2))' = -(sqrt(x^2 + y^2))'
run t = 0..2
";
    // r'' = 4 r from 1/2 at rest: r = cosh(2 t)/2 reaches 1 after ½ arcosh 2.
    let all = by_all(text, 1e-12);
    assert!(all.len() >= 2);
    for (name, report) in &all {
        let (before, after) = change(report, 0);
        let t = report.event_log[0].t;
        assert!((t - 0.5 * 2f64.acosh()).abs() < 1e-12, "{name}: {t}");
        let ([x, y], [u, v]) = ([after.q[0], after.q[1]], [after.velocity[0], after.velocity[1]]);
        let (radial, across) = (x * u + y * v, x * v - y * u);
        let before = before.q[0] * before.velocity[0] + before.q[1] * before.velocity[1];
        assert!((radial + before).abs() < 1e-12 && (radial + 3f64.sqrt()).abs() < 1e-11, "{name}");
        assert!((across - 2.0).abs() < 1e-12, "{name}: {across}");
        assert_eq!(report.verdict(), Ok(()), "{name}: {:?}", report.certificate);
    }
}

/// The wheel on an incline whose height has no mass (Udwadia & Phohomsiri 2006).
#[test]
fn a_singular_mass_matrix_does_no_harm() {
    let text = "
param m = 2, R = 0.5, Ic = 0.25, alpha = 0.5, g = 9.8125
coord theta, y
kinetic (m*R^2 + Ic)*theta'^2/2
potential -m*g*y
constraint roll: y = R*theta*sin(alpha)
event below: y = 0.2 rising -> y' = -0.9*y'
run t = 0..2
";
    let (report, _) = ran(text, |o| o.tolerance = 1e-12);
    let slope = 0.5 * 0.5f64.sin();
    let rate = 2.0 * 9.8125 * slope / 0.75;
    assert!((report.event_log[0].t - (0.4 / slope / rate).sqrt()).abs() < 1e-12);
    for turn in 0..report.event_log.len() {
        let (before, after) = change(&report, turn);
        for (a, b) in before.velocity.iter().zip(&after.velocity) {
            assert!((b + 0.9 * a).abs() < 1e-12);
        }
    }
    assert_eq!(report.verdict(), Ok(()));
}

/// Quasi-velocities and momenta may be listed.
#[test]
fn speeds_and_momenta_can_be_reset() {
    // A free body; w3 is turned back where phi passes 1.
    let text = "
coord psi, phi, th
speed w1 = psi'*sin(th)*sin(phi) + th'*cos(phi)
speed w2 = psi'*sin(th)*cos(phi) - th'*sin(phi)
speed w3 = psi'*cos(th) + phi'
kinetic (w1^2 + 2*w2^2 + 3*w3^2)/2
start th = 1, psi' = 0.3, phi' = 1.5, th' = 0.2
event turn: phi = 1 rising -> w3 = -w3, w1 = 2*w1
run t = 0..1.2
";
    let all = by_all(text, 1e-12);
    assert!(all.iter().any(|a| a.0 == "poincare"));
    for (name, report) in &all {
        let speeds = |s: &State| {
            let ([_, phi, th], [psi1, phi1, th1]) = (
                s.q[..].try_into().unwrap_or([0.0; 3]),
                s.velocity[..].try_into().unwrap_or([0.0; 3]),
            );
            [
                psi1 * f64::sin(th) * f64::sin(phi) + th1 * f64::cos(phi),
                psi1 * f64::sin(th) * f64::cos(phi) - th1 * f64::sin(phi),
                psi1 * f64::cos(th) + phi1,
            ]
        };
        let (before, after) = change(report, 0);
        let (a, b) = (speeds(before), speeds(after));
        assert!((b[0] - 2.0 * a[0]).abs() < 1e-13, "{name}");
        assert!((b[1] - a[1]).abs() < 1e-13, "{name}");
        assert!((b[2] + a[2]).abs() < 1e-13, "{name}");
    }
    let text = "
coord x, y
kinetic x'^2/2 + x'*y'/2 + y'^2/2
potential x
start x = 0.5, y' = 1
event kick: x = 0 falling -> p_x = -p_x
run t = 0..3
";
    for (name, report) in &by_all(text, 1e-12) {
        let (before, after) = change(report, 0);
        assert!((after.momentum[0] + before.momentum[0]).abs() < 1e-13, "{name}");
        // Only x carries an impulse that is listed; along p_x = const this is M⁻¹'s row.
        let dp: Vec<f64> =
            after.momentum.iter().zip(&before.momentum).map(|(a, b)| a - b).collect();
        // e = p_x, so e_q̇ = the first row of M = (1, ½).
        assert!((dp[1] - 0.5 * dp[0]).abs() < 1e-13, "{name}: {dp:?}");
    }
}

/// Positions: what is listed is there, the others move as little as constraints demand.
#[test]
fn positions_can_be_reset() {
    let text = "
coord x, y, s
kinetic x'^2/2 + 2*y'^2 + s'^2/2 + x'*s'/3
constraint line: x + y = 1
start x = 0, s = 0.5, x' = 1
event jump: x = 1 rising -> x = 0.25
run t = 0..3
";
    for (name, report) in &by_all(text, 1e-12) {
        assert_eq!(report.event_log.len(), 3, "{name}");
        let (before, after) = change(report, 0);
        assert_eq!(after.q[0], 0.25, "{name}");
        assert!((after.q[1] - 0.75).abs() < 1e-15, "{name}");
        assert_eq!(after.q[2], before.q[2], "{name}");
        for (a, b) in before.velocity.iter().zip(&after.velocity) {
            assert!((a - b).abs() < 1e-14, "{name}");
        }
        assert!((report.event_log[2].t - 2.5).abs() < 1e-12, "{name}");
    }
}

/// What cannot be is said, with the event, the constraint and what is left over.
#[test]
fn contradictions_are_told() {
    let text = "
coord x, y
kinetic (x'^2 + y'^2)/2
constraint line: y = 2*x
start x' = 1
event hit: x = 1 -> x' = -x', y' = y'
run t = 0..3
";
    let (report, _) = ran(text, |_| {});
    let End::Failed(failure @ Failure::Reset { event: 0, left, constraints }) = &report.end else {
        panic!("{:?}", report.end)
    };
    assert_eq!(constraints, &[0]);
    assert!(*left > 0.1, "{left}");
    let words = failure.words(&model(text));
    assert!(words.contains("`hit`") && words.contains("`line`"), "{words}");
    assert!(report.verdict().is_err());
    // With itself; and by a value that is none.
    for action in ["x' = 1, x' = 2", "x' = multiplier(a)"] {
        let text = format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: y = 0\nconstraint b: 2*y = 0\n\
             start x' = 1\nevent hit: x = 1 -> {action}\nrun t = 0..3"
        );
        let (report, _) = ran(&text, |_| {});
        assert!(matches!(report.end, End::Failed(Failure::Reset { event: 0, .. })), "{action}");
    }
    // At the line of the event.
    let loaded = support::load(text);
    let model = loaded.model.as_ref().expect("no faults");
    let setting = Setting::new(model).expect("values");
    let told = dalembert::failures::explain(&setting, &report, &loaded.file).expect("a failure");
    let shown = dalembert::model::render::render(&[told], &loaded.sources, false);
    assert!(shown.contains("event hit") && shown.contains("in its way"), "{shown}");
}

/// An L that is not quadratic: impulses change momenta, and only those listed.
#[test]
fn a_relativistic_particle_keeps_its_other_momentum() {
    let text = "
coord x, y
lagrangian -sqrt(1 - x'^2 - y'^2)
start x' = 0.6, y' = 0.5
event wall: x = 1 rising -> x' = -x'/3
run t = 0..2
";
    let all = by_all(text, 1e-12);
    assert!(all.len() >= 2);
    for (name, report) in &all {
        let (before, after) = change(report, 0);
        assert!((after.velocity[0] + 0.2).abs() < 1e-13, "{name}");
        assert!((after.momentum[1] - before.momentum[1]).abs() < 1e-13, "{name}");
        // p_y = v_y/√(1 − v²) with v_x = −0.2.
        let p = 0.5 / (1.0 - 0.36 - 0.25f64).sqrt();
        let exact = p * (0.96 / (1.0 + p * p)).sqrt();
        assert!((after.velocity[1] - exact).abs() < 1e-13, "{name}: {}", after.velocity[1]);
    }
}

/// A constraint that is not linear in the velocities (Appell & Hamel): the impulse is along
/// its gradient after the event, so the horizontal velocity keeps its direction.
#[test]
fn a_nonlinear_constraint_is_respected() {
    let text = "
coord x, y, z
kinetic (x'^2 + y'^2 + z'^2)/2
potential 5*z
constraint cone: x'^2 + y'^2 = z'^2
start x' = 0.6, y' = 0.8, z' = 1
event turn: z = 0.05 -> z' = -z'/2
run t = 0..0.3
";
    let all = by_all(text, 1e-12);
    assert!(all.len() >= 2);
    for (name, report) in &all {
        let (before, after) = change(report, 0);
        for (at, factor) in [0.5, 0.5, -0.5].into_iter().enumerate() {
            let expected = factor * before.velocity[at];
            assert!((after.velocity[at] - expected).abs() < 1e-12, "{name}: {before:?} {after:?}");
        }
        assert_eq!(report.verdict(), Ok(()), "{name}");
    }
}

/// A combination of velocities, written out.
fn form(random: &mut Random, n: usize) -> (Vec<f64>, String) {
    let numbers: Vec<f64> = (0..n).map(|_| (random.signed() * 64.0).round() / 16.0).collect();
    let text: Vec<String> =
        numbers.iter().enumerate().map(|(i, a)| format!("({a})*x[{}]'", i + 1)).collect();
    (numbers, text.join(" + "))
}

/// Solves a regular system by Gauss's elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            (k..n).for_each(|j| a[i][j] -= f * a[k][j]);
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}

/// Random masses, velocity constraints (some twice) and listed combinations. M Δ = Jᵀπ, so
/// Δ = M⁻¹Jᵀπ with π from J Δ = r: solved here as one linear system, and compared. With
/// catastatic rows and plastic impacts Carnot's theorem holds: the loss is T(Δ).
#[test]
fn random_systems_obey_the_impulsive_principle() {
    let mut random = Random::new(7);
    for case in 0..60 {
        let n = 2 + case % 5;
        let m = (case / 5) % (n - 1);
        let l = 1 + case % (n - m);
        let squares: Vec<(Vec<f64>, String)> = (0..n + 1).map(|_| form(&mut random, n)).collect();
        let rows: Vec<(Vec<f64>, String)> = (0..m).map(|_| form(&mut random, n)).collect();
        let listed: Vec<(Vec<f64>, String)> = (0..l).map(|_| form(&mut random, n)).collect();
        let e = if case % 2 == 0 { 0.0 } else { 0.7 };
        let mut text = format!("coord x[1..{n}], clock\nkinetic clock'^2/2\n");
        for (_, form) in &squares {
            text += &format!("kinetic ({form})^2/2\n");
        }
        for (at, (_, form)) in rows.iter().enumerate() {
            text += &format!("constraint c{at}: {form} = 0\n");
            if at % 2 == 0 {
                text += &format!("constraint d{at}: 3*({form}) = 0\n");
            }
        }
        let resets: Vec<String> =
            listed.iter().map(|(_, form)| format!("{form} = -{e}*({form})")).collect();
        // Only names may stand on the left: combinations are `let`s.
        let lets: Vec<String> = (0..l).map(|i| format!("let w{i} = {}\n", listed[i].1)).collect();
        let resets: Vec<String> =
            resets.iter().enumerate().map(|(i, _)| format!("w{i} = -{e}*w{i}")).collect();
        text += &lets.concat();
        text += &format!("event hit: clock = 1 -> {}\nstart clock' = 1", resets.join(", "));
        for i in 1..=n {
            text += &format!(", x[{i}]' ~ {}", random.signed());
        }
        let model = model(&text);
        let setting = Setting::new(&model).expect("values");
        let Ok(start) = start::start(&setting) else { panic!("{text}") };
        let state = start.state;
        let impulses = Impulses::new(&setting);
        let after = impulses
            .after(0, &state, &state.table(&model.system))
            .unwrap_or_else(|f| panic!("{f:?}\n{text}"));
        let mass = |i: usize, j: usize| -> f64 { squares.iter().map(|(a, _)| a[i] * a[j]).sum() };
        let j: Vec<&Vec<f64>> = listed.iter().chain(&rows).map(|r| &r.0).collect();
        let k = j.len();
        let mut matrix = vec![vec![0.0; n + k]; n + k];
        let mut right = vec![0.0; n + k];
        for a in 0..n {
            (0..n).for_each(|b| matrix[a][b] = mass(a, b));
            for (r, row) in j.iter().enumerate() {
                matrix[a][n + r] = -row[a];
                matrix[n + r][a] = row[a];
            }
        }
        for r in 0..l {
            let value: f64 = (0..n).map(|a| j[r][a] * state.velocity[a]).sum();
            right[n + r] = -(1.0 + e) * value;
        }
        let exact = solve(matrix, right);
        let size = state.velocity.iter().fold(1f64, |m, v| m.max(v.abs()));
        let delta: Vec<f64> = (0..n).map(|a| after.velocity[a] - state.velocity[a]).collect();
        for a in 0..n {
            assert!(
                (delta[a] - exact[a]).abs() < 1e-9 * size,
                "{case}: {delta:?} {exact:?}\n{text}"
            );
        }
        let kinetic = |v: &[f64]| -> f64 {
            let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
            pairs.map(|(a, b)| 0.5 * mass(a, b) * v[a] * v[b]).sum()
        };
        let loss = kinetic(&state.velocity) - kinetic(&after.velocity);
        let carnot = (1.0 - e) / (1.0 + e) * kinetic(&delta);
        let whole = kinetic(&state.velocity).max(1.0);
        assert!((loss - carnot).abs() < 1e-9 * whole, "{case}: {loss} {carnot}");
    }
}
