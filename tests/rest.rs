//! Systems at rest, where only rounding errors of the forces that balance move anything.

use dalembert::expr::Random;
use dalembert::simulate::Setting;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::run::{RunOptions, RunReport};
use dalembert::{Input, Options, load};
use std::ops::ControlFlow;

struct Nothing;

impl Sink for Nothing {
    fn record(
        &mut self,
        _: &dalembert::simulate::Observation,
        _: Option<&StateError>,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn run(text: &str) -> RunReport {
    let loaded = load(&Input::text("model", text), &Options::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics));
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions::of_model(&setting);
    run_verified(&setting, &options, false, &mut Nothing).unwrap_or_else(|_| panic!("{text}"))
}

/// Uniform in (a, b), with three digits.
fn between(random: &mut Random, a: f64, b: f64) -> f64 {
    ((a + (b - a) * random.unit()) * 1e3).round() / 1e3
}

/// The run passes, stays where it is, and is not long in coming.
fn assert_rests(text: &str) {
    let report = run(text);
    assert_eq!(report.verdict(), Ok(()), "{text}");
    assert!(report.statistics.steps < 2000, "{text}\n{:?}", report.statistics);
    for (travel, position) in report.sizes.travel.iter().zip(&report.sizes.position) {
        assert!(*travel <= 1e-11 * position.max(1.0), "{text}\n{:?}", report.sizes);
    }
}

/// Springs that pull against each other, in an equilibrium that is known to rounding.
#[test]
fn between_springs() {
    let mut random = Random::new(3);
    for _ in 0..20 {
        let (k, l) = (between(&mut random, 0.5, 9.0), between(&mut random, 0.5, 9.0));
        let (a, b) = (between(&mut random, -3.0, 3.0), between(&mut random, -3.0, 3.0));
        let mass = between(&mut random, 0.1, 20.0);
        let x = (k * a + l * b) / (k + l);
        assert_rests(&format!(
            "coord x
             kinetic {mass}*x'^2/2
             potential {k}*(x - {a})^2/2 + {l}*(x - {b})^2/2
             start x = {x:?}
             run t = 0..30"
        ));
    }
}

/// Two bodies that attract or repel each other, held apart by a rod.
#[test]
fn on_a_rod() {
    let mut random = Random::new(4);
    for case in 0..20 {
        let equal = between(&mut random, 0.2, 4.0);
        let masses =
            if case % 2 == 0 { [equal, equal] } else { [equal, between(&mut random, 0.2, 4.0)] };
        let strength = between(&mut random, -5.0, 5.0);
        let place: Vec<f64> = (0..4).map(|_| between(&mut random, -3.0, 3.0)).collect();
        assert_rests(&format!(
            "coord x1, y1, x2, y2
             kinetic {}*(x1'^2 + y1'^2)/2 + {}*(x2'^2 + y2'^2)/2
             potential {strength}*exp(-((x1 - x2)^2 + (y1 - y2)^2)/9)
             constraint rod: (x1 - x2)^2 + (y1 - y2)^2 = 4
             start x1 ~ {}, y1 ~ {}, x2 ~ {}, y2 ~ {}
             run t = 0..4",
            masses[0], masses[1], place[0], place[1], place[2], place[3]
        ));
    }
}

/// From an unstable equilibrium, missed by more than rounding, a motion is one.
#[test]
fn what_leaves_an_equilibrium_is_a_motion() {
    let text = "coord x
         kinetic x'^2/2
         potential -(x - 0.3)^2/2
         start x = 0.3 + 1e-6
         run t = 0..10";
    let report = run(text);
    assert_eq!(report.verdict(), Ok(()), "{:?}", report.error);
    let end = report.last.expect("an end").state.q[0] - 0.3;
    let expected = (0.3 + 1e-6 - 0.3) * 10f64.cosh();
    assert!((end - expected).abs() <= 1e-7 * expected, "{end} {expected}");
}

/// A structure that cannot move does not: a velocity that is guessed and held at 0 leaves nothing
/// that a step would have to follow.
#[test]
fn what_cannot_move_stays() {
    for foot in [0.1, 0.301, 0.3001, 0.30001, 0.3000003, 0.3000001, 0.35, 0.299] {
        let text = format!(
            "param f = {foot}\ncoord x, y, ph\nkinetic (x'^2 + y'^2 + ph'^2)/2\npotential 9*y\n\
             constraint a: x^2 + y^2 = 1\n\
             constraint b: (x + 0.6*cos(ph) - 0.6)^2 + (y + 0.6*sin(ph))^2 = 1\n\
             constraint c: (x + 0.3*cos(ph) - f)^2 + (y + 0.3*sin(ph))^2 = 1\n\
             start x ~ 0, y ~ -1, ph ~ 0, x' ~ 1\nrun t = 0..1, every 0.1\n"
        );
        assert_rests(&text);
    }
}
