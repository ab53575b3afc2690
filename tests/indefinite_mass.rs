//! A mass matrix with a negative direction that the constraints remove: the motion is that of the
//! reduced model, in which the removed coordinate does not occur, by every formulation.

mod support;

use dalembert::simulate::drive::End;
use support::motion;

/// Cheap and reproducible: numbers in (0, 1).
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// T = (a x'² − b y'²)/2 + c x'y' with y = s x + u sin x, and the same with y put in. Rates of y
/// are short enough that what is left is positive.
fn pair(seed: u64) -> (String, String) {
    let mut next = numbers(seed);
    let (a, b, c) = (1.0 + next(), 0.5 + next(), next() - 0.5);
    let (s, u) = (0.4 * (next() - 0.5), 0.2 * (next() - 0.5));
    let (k, g) = (0.5 + next(), next() - 0.5);
    let start = "start x = 0.7, x' = 0.3\nrun t = 0..4\n";
    let full = format!(
        "coord x, y\nkinetic ({a}*x'^2 - {b}*y'^2)/2 + {c}*x'*y'\n\
         potential {k}*x^2/2 + {g}*y\nconstraint y = {s}*x + {u}*sin(x)\n{start}"
    );
    let (y, rate) = (format!("({s}*x + {u}*sin(x))"), format!("({s} + {u}*cos(x))*x'"));
    let reduced = format!(
        "coord x\nkinetic ({a}*x'^2 - {b}*({rate})^2)/2 + {c}*x'*{rate}\n\
         potential {k}*x^2/2 + {g}*{y}\n{start}"
    );
    (full, reduced)
}

#[test]
fn the_motion_is_that_of_the_reduced_model() {
    let mut routes = 0;
    for seed in 1..=24 {
        let (full, reduced) = pair(seed);
        let wanted = motion::ran(&reduced, |o| o.tolerance = 1e-11).0.last.unwrap().state;
        for (name, report) in motion::by_all(&full, 1e-11) {
            assert_eq!(report.end, End::Finished, "{name}: {full}");
            assert!(report.verdict().is_ok(), "{name}: {:?} {full}", report.verdict());
            let end = report.last.unwrap().state;
            let (x, v) = (end.q[0], end.velocity[0]);
            let off = (x - wanted.q[0]).abs().max((v - wanted.velocity[0]).abs());
            assert!(off < 1e-8, "{name}: {off:e} {full}");
            routes += 1;
        }
    }
    assert!(routes >= 24 * 5, "{routes}");
}

/// Mass in products only: T = x'y' on y = x is x'².
#[test]
fn a_product_of_velocities_is_a_kinetic_energy_where_they_are_tied() {
    let text = "coord x, y\nkinetic x'*y'\npotential x^2\nconstraint y = x\n\
                start x = 1\nrun t = 0..10\n";
    for (name, report) in motion::by_all(text, 1e-11) {
        assert!(report.verdict().is_ok(), "{name}");
        assert!((report.last.unwrap().state.q[1] - 10f64.cos()).abs() < 1e-9, "{name}");
    }
}

/// The position constraint alone leaves a negative direction, the velocity constraint removes it:
/// positions are corrected nevertheless.
#[test]
fn a_direction_that_a_velocity_constraint_removes() {
    let text = "coord x, y, z\nkinetic (x'^2 - y'^2 + z'^2)/2\npotential z\n\
                constraint x^2 + z^2 = 1\nconstraint y' = 0.5*x'\n\
                start x = 1, z = 0, y = 0\nrun t = 0..3\n";
    let reduced = "coord a\nkinetic (0.75*sin(a)^2 + cos(a)^2)*a'^2/2\npotential sin(a)\n\
                   start a = 0\nrun t = 0..3\n";
    let wanted = motion::ran(reduced, |o| o.tolerance = 1e-11).0.last.unwrap().state.q[0];
    for (name, report) in motion::by_all(text, 1e-11) {
        assert!(report.verdict().is_ok(), "{name} {:?}", report.verdict());
        let end = report.last.unwrap().state;
        let off = (end.q[0] - wanted.cos()).abs().max((end.q[2] - wanted.sin()).abs());
        assert!(off < 1e-8, "{name}: {off:e}");
    }
}

/// What is left free may not be negative: said in words, by eval and run.
#[test]
fn a_direction_that_nothing_removes_is_refused() {
    let text = "coord x, y\nkinetic (x'^2 - y'^2)/2\npotential x^2\nconstraint y = 2*x\n\
                start x = 1\nrun t = 0..1\n";
    assert!(motion::by_all(text, 1e-9).is_empty());
}
