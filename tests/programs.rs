//! One program, many motions: on threads and one after the other, to the bit.

mod support;

use dalembert::simulate::run::{RunOptions, run};
use dalembert::simulate::{Program, Setting};
use std::ops::ControlFlow;
use support::load;

/// A double pendulum in Cartesian coordinates with a spring, and an event.
const PENDULUM: &str = "
    param m = 1, l = 1, g = 9.81, k = 3
    coord x1, y1, x2, y2
    kinetic m/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2)
    potential m*g*(y1 + y2) + k/2*(x2 - x1)^2
    constraint upper: x1^2 + y1^2 = l^2
    constraint lower: (x2 - x1)^2 + (y2 - y1)^2 = l^2
    event side: x1 = 0
    start x1 = 0.3, y1 ~ -1, x2 ~ 0.9, y2 ~ -1.8
    run t = 0..3, tol 1e-9
";

/// Rolling without slipping, in quasi-velocities and with a force that switches.
const ROLLING: &str = "
    param m = 1, R = 0.5, J = 0.2, F = 0.4
    coord x, y, phi, th
    kinetic m/2*(x'^2 + y'^2) + J/2*(phi'^2 + th'^2)
    constraint roll_x: x' = R*th'*cos(phi)
    constraint roll_y: y' = R*th'*sin(phi)
    force th: if(t > 1, F, -F)
    start phi' = 0.7, th' = 2
    run t = 0..3, tol 1e-9
";

/// Everything that a run gives, as bits.
fn bits(
    record: impl FnOnce(&mut dyn FnMut(&dalembert::simulate::Observation) -> ControlFlow<()>),
) -> Vec<u64> {
    let mut list = Vec::new();
    record(&mut |o| {
        list.push(o.state.t.to_bits());
        let parts = [&o.state.q, &o.state.velocity, &o.multipliers];
        list.extend(parts.into_iter().flatten().map(|x| x.to_bits()));
        ControlFlow::Continue(())
    });
    list
}

/// The settings of eight motions: a parameter in eight values.
fn settings(setting: &Setting, name: &str) -> Vec<Setting> {
    let parameters = &setting.model.system.parameters;
    let symbol = parameters.iter().find(|p| p.name == name).expect("a parameter").symbol;
    (1..=8).map(|k| setting.with(symbol, 0.5 + 0.2 * k as f64)).collect()
}

#[test]
fn eight_motions_of_one_program_on_threads() {
    for (text, parameter, method, formulation) in [
        (PENDULUM, "l", "dop853", "lagrange"),
        (PENDULUM, "k", "radau", "lagrange"),
        (PENDULUM, "m", "dop853", "hamilton"),
        (ROLLING, "R", "dop853", "lagrange"),
        (ROLLING, "J", "gauss4", "maggi"),
    ] {
        let model = load(text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut options = RunOptions::of_model(&setting);
        options.every = Some(0.25);
        options.method = method.to_owned();
        if method == "gauss4" {
            options.step = Some(0.01);
        }
        options.formulation = dalembert::formulations::by_name(formulation).expect("a formulation");
        let program = Program::new(&setting, &options).expect("it compiles");
        let settings = settings(&setting, parameter);
        let one = |setting: &Setting| {
            bits(|record| {
                let report = program.run(setting, &options, record).expect("it runs");
                assert!(report.verdict().is_ok(), "{method} {formulation}: {:?}", report.end);
            })
        };
        let in_turn: Vec<Vec<u64>> = settings.iter().map(one).collect();
        let at_once: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                settings.iter().map(|setting| scope.spawn(|| one(setting))).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        assert_eq!(in_turn, at_once, "{method} {formulation}");
        // Different parameters are different motions.
        assert!(in_turn.windows(2).all(|pair| pair[0] != pair[1]));
        // And what a run gives that compiles for itself.
        for (setting, found) in settings.iter().zip(&in_turn).take(3) {
            let alone = bits(|record| {
                run(setting, &options, record).expect("it runs");
            });
            assert_eq!(&alone, found, "{method} {formulation}: compiled with other parameters");
        }
    }
}

/// Values of parameters that make other rows are compiled for themselves.
#[test]
fn rows_that_come_near_each_other_are_compiled_again() {
    let text = "param e = 0.5\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n\
                potential 9*z + x^2\nconstraint a: x + y + z = 1\n\
                constraint b: x + y + (1 + e)*z = 1\n\
                start x = 0.5, y = 0.5, z = 0, x' = 1, y' = -1\nrun t = 0..1\n";
    let model = load(text).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions::of_model(&setting);
    let program = Program::new(&setting, &options).expect("it compiles");
    let symbol = model.system.parameters[0].symbol;
    for e in [0.25, 1e-3, 1e-12, 1e-100] {
        let setting = setting.with(symbol, e);
        assert_eq!(program.with(&setting).is_some(), e > 1e-5);
        let mut z = 0f64;
        let report = program.run(&setting, &options, &mut |o| {
            z = z.max(o.state.q[2].abs());
            ControlFlow::Continue(())
        });
        let report = report.expect("it runs");
        assert!(report.verdict().is_ok() && z < 1e-10, "{e}: {z:e}");
    }
}
