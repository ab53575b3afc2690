//! Between velocities and momenta where no formula does it: the same motion by Lagrange's and
//! Hamilton's equations for energies that are convex and not quadratic, at relativistic speeds,
//! from rest, through a singular Hessian, and with first steps that are too long by far.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::run::{RunOptions, RunReport};
use support::motion;

fn by(text: &str, formulation: &str, change: impl FnOnce(&mut RunOptions)) -> RunReport {
    let report = motion::ran(text, |options| {
        options.formulation = dalembert::formulations::by_name(formulation).expect("a name");
        change(options);
    });
    report.0
}

fn end(report: &RunReport) -> Vec<f64> {
    let state = &report.last.as_ref().expect("an end").state;
    state.q.iter().chain(&state.velocity).copied().collect()
}

fn passed(report: &RunReport, text: &str) -> Vec<f64> {
    assert_eq!(report.end, End::Finished, "{text}");
    assert!(report.verdict().is_ok(), "{:?}\n{text}", report.verdict());
    end(report)
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs() / b.abs().max(1.0)))
}

/// A convex energy in velocities (or, with other names, in momenta) of two coordinates, whose
/// gradient takes every value; that of a relativistic H takes those below that of light.
fn convex(random: &mut Random, kind: u64, x: &str, y: &str) -> String {
    let mut r = || 1.0 + 0.5 * random.signed();
    let (a, b, c) = (r(), r(), r());
    match kind {
        0 => format!("{a}*cosh({x}) + {b}*cosh({y} + 0.3*{x})"),
        1 => format!("{a}*{x}^2/2 + {b}*{x}^4/4 + {c}*{y}^2/2 + 0.5*({x} - {y})^4"),
        2 if x.starts_with('p') => format!("{a}*sqrt(1 + {x}^2 + {y}^2) + {b}*{y}^4"),
        2 => format!("-{a}*sqrt(4 - {x}^2 - {y}^2) + {b}*{y}^4"),
        _ => format!("exp({x}) + exp(-{c}*{x}) + {b}*{y}^2*(1 + {c}*q1^2)/2 + {a}*{y}^4/8"),
    }
}

#[test]
fn random_convex_lagrangians_and_hamiltonians_move_alike_by_both() {
    for seed in 0..40 {
        let mut random = Random::new(seed * 31 + 7);
        for _ in 0..4 {
            random.signed();
        }
        let by_h = seed % 2 == 1;
        let (x, y) = if by_h { ("p_q1", "p_q2") } else { ("q1'", "q2'") };
        let energy = convex(&mut random, seed / 2 % 4, x, y);
        let potential = format!(
            "({}*q1^2 + {}*q2^2)/2 + {}*q1*q2 + q1^4/8",
            1.0 + 0.5 * random.signed(),
            1.0 + 0.5 * random.signed(),
            0.3 * random.signed()
        );
        let given = match by_h {
            true => format!("hamiltonian {energy} + {potential}"),
            false => format!("lagrangian {energy} - ({potential})"),
        };
        // At rest every other time.
        let rate = if seed / 8 % 2 == 0 { 0.0 } else { 0.8 * random.signed() };
        let text = format!(
            "coord q1, q2\n{given}\nstart q1 = {}, q2 = {}, {x} = {rate}\nrun t = 0..4\n",
            1.5 * random.signed(),
            random.signed()
        );
        let set = |options: &mut RunOptions| options.tolerance = 1e-11;
        let lagrange = passed(&by(&text, "lagrange", set), &text);
        let hamilton = passed(&by(&text, "hamilton", set), &text);
        let off = apart(&hamilton, &lagrange);
        assert!(off < 1e-7, "{seed}: {off:e}\n{text}");
    }
}

/// x′ = p/√(1 + p²), p′ = −k x, by the classical method of order 4 with many steps.
fn relativistic_oscillator(k: f64, x: f64, end: f64) -> [f64; 2] {
    let f = |s: [f64; 2]| [s[1] / (1.0 + s[1] * s[1]).sqrt(), -k * s[0]];
    let plus = |a: [f64; 2], b: [f64; 2], h: f64| [a[0] + h * b[0], a[1] + h * b[1]];
    // Short beside the time in which the velocity turns, 1/(k x).
    let steps = 4_000_000;
    let h = end / f64::from(steps);
    let mut s = [x, 0.0];
    for _ in 0..steps {
        let k1 = f(s);
        let k2 = f(plus(s, k1, h / 2.0));
        let k3 = f(plus(s, k2, h / 2.0));
        let k4 = f(plus(s, k3, h));
        for i in 0..2 {
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    s
}

/// The model of the trial, γ up to 5000, and softer ones; by every method.
#[test]
fn an_oscillator_at_relativistic_speeds_by_momenta() {
    for (k, x) in [(100.0, 10.0), (1.0, 1.0), (10.0, 4.0), (1e4, 1.0)] {
        let text =
            format!("coord x\nlagrangian -sqrt(1-x'^2)-{k}*x^2/2\nstart x={x}\nrun t=0..20\n");
        let wanted = relativistic_oscillator(k, x, 20.0);
        for method in ["dop853", "radau", "gauss6"] {
            let report = by(&text, "hamilton", |options| {
                options.method = method.to_owned();
                options.tolerance = 1e-9;
            });
            let found = end(&report);
            assert_eq!(report.end, End::Finished, "{method} {text}");
            assert!(method != "dop853" || report.verdict().is_ok(), "{text}");
            let p = report.last.as_ref().expect("an end").state.momentum[0];
            let energy = (1.0 + p * p).sqrt() + k * found[0] * found[0] / 2.0;
            let off = energy / (1.0 + k * x * x / 2.0) - 1.0;
            assert!(off.abs() < 1e-7, "{method} {k} {x}: {off:e}");
            // What is off in the energy is off in the period, and by then in the phase; each
            // number by its own size.
            let most = ((1.0 + k * x * x / 2.0).powi(2) - 1.0).sqrt();
            let off = ((found[0] - wanted[0]) / x).abs().max(((p - wanted[1]) / most).abs());
            assert!(off < 1e-6, "{method} {k} {x}: {off:e}");
        }
    }
}

/// H = p⁴/4: from rest, and through p = 0, where H_pp vanishes; Hamilton's equations are
/// regular there.
#[test]
fn a_quartic_hamiltonian_goes_through_zero() {
    for (q, p) in [(1.0, 0.0), (0.0, 1.0), (-0.5, 0.3)] {
        let text =
            format!("coord x\nhamiltonian p_x^4/4+x^2/2\nstart x={q}, p_x={p}\nrun t=0..10\n");
        let mut s = [q, p];
        let (f, steps) = (|s: [f64; 2]| [s[1].powi(3), -s[0]], 200_000);
        let h = 10.0 / f64::from(steps);
        let plus = |a: [f64; 2], b: [f64; 2], h: f64| [a[0] + h * b[0], a[1] + h * b[1]];
        for _ in 0..steps {
            let k1 = f(s);
            let k2 = f(plus(s, k1, h / 2.0));
            let k3 = f(plus(s, k2, h / 2.0));
            let k4 = f(plus(s, k3, h));
            for i in 0..2 {
                s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        for method in ["dop853", "radau", "gauss6", "rattle"] {
            let report = by(&text, "hamilton", |options| {
                options.method = method.to_owned();
                options.step = (method == "rattle").then_some(1e-3);
            });
            let state = &report.last.as_ref().expect("an end").state;
            assert_eq!(report.end, End::Finished, "{method} {text}");
            let off = (state.q[0] - s[0]).abs().max((state.momentum[0] - s[1]).abs());
            let limit = if method == "rattle" { 1e-5 } else { 1e-7 };
            assert!(off < limit, "{method}: {off:e} {text}");
        }
    }
}

/// L = v⁴/4 by momenta: v = ∛p, through p = 0.
#[test]
fn a_quartic_lagrangian_goes_through_zero_by_momenta() {
    let text = "coord x\nlagrangian x'^4/4-x^2/2\nstart x=0, x'=1\nrun t=0..10\n";
    let report = by(text, "hamilton", |options| options.tolerance = 1e-11);
    assert_eq!(report.end, End::Finished);
    let state = &report.last.as_ref().expect("an end").state;
    let energy = 0.75 * state.velocity[0].powi(4) + state.q[0].powi(2) / 2.0;
    assert!((energy - 0.75).abs() < 1e-7, "{energy}");
    assert!((state.momentum[0] - state.velocity[0].powi(3)).abs() < 1e-14);
}

/// First steps far too long for the domain or for Newton's method are turned down, whatever the
/// method; what is left is the motion.
#[test]
fn a_first_step_that_is_too_long_is_shortened() {
    // Fast towards a wall, from rest into a stiff field, and at the edge of a domain.
    let texts = [
        "coord x\nkinetic x'^2/2\npotential -log(x) + x^2/2\nstart x=1, x'=-6\nrun t=0..5\n",
        "coord x\nkinetic x'^2/2\npotential 1/x + x\nstart x=0.001\nrun t=0..5\n",
        "coord x\nkinetic x'^2/2\npotential -sqrt(1-x^2)*3 + 20*x^2\nstart x=0.999\nrun t=0..5\n",
        "coord x\nlagrangian -sqrt(1-x'^2)-1e4*x^2/2\nstart x=0.1\nrun t=0..2\n",
        "coord x\nlagrangian cosh(x') - 1e5*x^2/2\nstart x=2\nrun t=0..1\n",
    ];
    for text in texts {
        let wanted = by(text, "hamilton", |options| options.tolerance = 1e-12);
        let wanted = passed(&wanted, text);
        for method in ["dop853", "radau", "gauss4", "gauss8"] {
            for formulation in ["lagrange", "hamilton"] {
                let report = by(text, formulation, |options| options.method = method.to_owned());
                assert_eq!(report.end, End::Finished, "{method} {formulation} {text}");
                let off = apart(&end(&report), &wanted);
                assert!(off < 1e-3, "{method} {formulation}: {off:e} {text}");
            }
        }
    }
}

/// Methods without an estimate take the first step for all: one that is too long is halved. One
/// that was asked for is not, and the reason is given.
#[test]
fn a_constant_step_that_nobody_asked_for_is_halved() {
    // Nothing is felt of the wall where the step is chosen.
    for p in [6.5, 6.7, 6.75] {
        let text = format!(
            "coord x\nhamiltonian p_x^2/2 - 3*sqrt(1-x^2) + 20*x^8\n\
             start x=0, p_x={p}\nrun t=0..3\n"
        );
        let report = by(&text, "hamilton", |options| {
            (options.method, options.tolerance) = ("rattle".to_owned(), 0.05);
        });
        assert_eq!(report.end, End::Finished, "{text}");
        assert!(report.statistics.rejected > 0, "{text}");
        let asked = by(&text, "hamilton", |options| {
            (options.method, options.step) = ("rattle".to_owned(), Some(0.05));
        });
        assert!(matches!(asked.end, End::Failed(Failure::Field(_))), "{:?} {text}", asked.end);
    }
}
