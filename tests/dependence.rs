//! Whether rows that doubles drop follow from the others is decided, or nothing passes.

mod support;

use dalembert::Choices;
use dalembert::formulations::Formulation;
use dalembert::formulations::formulations::lagrange;
use dalembert::simulate::at_state::Refusal;
use dalembert::simulate::report::{self, EvalError, Options};
use dalembert::simulate::run::{RunError, RunOptions, run};
use dalembert::simulate::{DEFAULT, Dependence, Field, Setting, start};
use std::ops::ControlFlow;
use support::load;

/// What is known at the start of a model.
fn at_start(text: &str) -> Dependence {
    let model = load(text).model.unwrap_or_else(|| panic!("a model\n{text}"));
    let setting = Setting::new(&model).expect("values");
    let start = start::start(&setting).expect("a start");
    let model = &setting.model;
    let equations = lagrange::FORMULATION
        .derive(&model.exprs, &model.system, &Choices::default())
        .expect("equations");
    setting.dependence(&equations, &start.state).clone()
}

/// Why a run does not begin.
fn refused(text: &str) -> Option<Refusal> {
    let model = load(text).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions::of_model(&setting);
    match run(&setting, &options, &mut |_| ControlFlow::Continue(())) {
        Err(RunError::Refused(refusal)) => Some(refusal),
        Ok(report) => {
            assert!(report.verdict().is_ok(), "{:?}\n{text}", report.end);
            None
        }
        Err(other) => panic!("{other:?}\n{text}"),
    }
}

/// Constraints on momenta where no formula gives these for velocities.
#[test]
fn momenta_without_a_formula() {
    let text = |size: &str, energy: &str| {
        format!(
            "coord x, y, z\nhamiltonian {energy} + 9*z\nconstraint a: p_x + p_y + p_z = 0.5\n\
             constraint b: 2*p_x*cos(pi/4)^2 + p_y + (1 + {size})*p_z = 0.5\n\
             start p_x = 0.2, p_y = 0.3, p_z = 0\nrun t = 0..0.5, every 0.1\n"
        )
    };
    for energy in [
        "sqrt(1 + p_x^2 + p_y^2 + p_z^2) + p_x^4/8",
        "p_x^2/2 + p_x^4/4 + p_y^2 + cosh(p_z)",
        "p_x^2/2 + exp(p_y) + p_z^2/2 + p_y^2",
    ] {
        for size in ["1e-13", "1e-16", "1e-20", "1e-60", "1e-200"] {
            let found = refused(&text(size, energy));
            let Some(Refusal::NearlyDependent { ratio, constraints }) = found else {
                panic!("{size} {energy}: {found:?}")
            };
            let right: f64 = size.parse().expect("a number");
            assert!(ratio < right && ratio > 1e-3 * right, "{size}: {ratio:e}");
            assert_eq!(constraints, [0, 1]);
        }
        assert_eq!(refused(&text("0", energy)).map(|r| r.to_string()), None, "{energy}");
    }
}

/// The digits of a number count, however it is written: 1 + 10⁻²⁰⁰ is one number.
#[test]
fn a_long_number_is_all_its_digits() {
    for size in ["1e-14", "1e-40", "1e-200", "1e-300"] {
        for angle in ["x/2", "pi*x/(2*pi)"] {
            let text = format!(
                "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential 9*z + y\n\
                 constraint a: sin(x) + y + z = 1\n\
                 constraint b: 2*sin({angle})*cos({angle}) + y + (1 + {size})*z = 1\n\
                 start x = 0.7, z = 0, y' ~ 1\nrun t = 0..0.5, every 0.1, tol 1e-6\n"
            );
            let model = load(&text).model.expect("a model");
            let setting = Setting::new(&model).expect("values");
            let options = RunOptions::of_model(&setting);
            let mut z = 0f64;
            let report = run(&setting, &options, &mut |o| {
                z = z.max(o.state.q[2].abs());
                ControlFlow::Continue(())
            });
            assert!(report.expect("it runs").verdict().is_ok() && z < 1e-8, "{size}: {z:e}");
        }
    }
}

/// Where rows touch, they leave less than they say to first order.
#[test]
fn what_only_touches_is_not_passed() {
    let text = |rows: &str, place: &str| {
        format!(
            "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential 9.81*z + 0.3*x\n{rows}\n\
             start {place}\n"
        )
    };
    for (rows, place) in [
        ("constraint a: x^2 + y^2 + z^2 = 1\nconstraint b: z = 1", "x = 0, y = 0, z = 1"),
        ("constraint a: x^2 + y^2 = 1\nconstraint b: (x - 3)^2 + y^2 = 4", "x = 1, y = 0, z = 0"),
        ("constraint a: x^2 = 0", "x = 0, y = 0, z = 0"),
        ("constraint a: (x^2 + y^2 - 1)^2 + z^2 = 0", "x = 1, y = 0, z = 0"),
        ("constraint a: x*exp(x) - x = 0\nconstraint b: y = 1", "x = 0, y = 1, z = 0"),
    ] {
        let text = text(rows, place);
        let model = load(&text).model.expect("a model");
        let found = report::report(&model, &Options::of_model(&model));
        let Err(EvalError::Refused(refusal)) = found else { panic!("{text}") };
        let is_told = matches!(refusal, Refusal::Undecided { .. } | Refusal::Singular { .. });
        assert!(is_told, "{refusal}\n{text}");
    }
}

/// A row that others imply may have no gradient.
#[test]
fn the_square_of_a_row_follows() {
    for rows in [
        "constraint a: x^2 + y^2 = 1\nconstraint b: (x^2 + y^2 - 1)^2 = 0",
        "constraint a: x + y = 1\nconstraint b: z = x\nconstraint c: (x + y - 1)*(z - x) = 0",
    ] {
        let text = format!(
            "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential 9.81*z + 0.3*x\n{rows}\n\
             start x = 1, y ~ 0\nrun t = 0..0.5, every 0.1\n"
        );
        assert_eq!(at_start(&text), Dependence::Follows, "{text}");
        assert_eq!(refused(&text).map(|r| r.to_string()), None, "{text}");
    }
}

/// In a singular position the rows do not tell the accelerations, whether it moves or not.
#[test]
fn no_accelerations_in_a_singular_position() {
    let text = |v: &str| {
        format!(
            "coord x, y, u\nkinetic (x'^2 + y'^2 + u'^2)/2\npotential 0.3*x - 0.7*u\n\
             constraint crank: x^2 + y^2 = 1\nconstraint rod: (x - u)^2 + y^2 = 1\n\
             start x = 0, y ~ 1, u = 0{v}\n"
        )
    };
    for v in ["", ", x' = 1, u' = 2", ", x' = 1, u' = 0"] {
        let model = load(&text(v)).model.expect("a model");
        let found = report::report(&model, &Options::of_model(&model));
        let Err(EvalError::Refused(Refusal::Singular { rank, constraints })) = found else {
            panic!("{v}")
        };
        assert_eq!((rank, constraints), (1, vec![0, 1]));
    }
}

/// A chain of points with more entries of A than are looked at together: two rows of it are closed
/// by a third that follows from them, or nearly does.
#[test]
fn parts_of_large_systems_are_decided() {
    let text = |last: &str| {
        format!(
            "coord x[0..460], y[0..460], w\n\
             kinetic w'^2/2 + sum(i in 0..460, x[i]'^2 + y[i]'^2)/2\n\
             constraint foot: x[0] = 0\n\
             for i in 1..460 {{\n\
             constraint rod[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1\n\
             start x[i] = 0.6*i\nstart y[i] = 0.8*i\n}}\n\
             constraint fixed: w + sin(x[2]) = sin(1.2)\n\
             constraint again: w + {last} = sin(1.2)\n"
        )
    };
    assert_eq!(at_start(&text("2*sin(x[2]/2)*cos(x[2]/2)")), Dependence::Follows);
    let found = at_start(&text("2*sin(x[2]/2)*cos(x[2]/2) + 1e-30*x[7]"));
    let Dependence::Nearly(nearly) = found else { panic!("{found:?}") };
    assert!(nearly.ratio < 1e-29 && nearly.ratio > 1e-32, "{nearly:?}");
    assert!(nearly.others.len() == 1, "{nearly:?}");
}

/// Every redundant model of the gallery is decided.
#[test]
fn pages_are_decided() {
    let mut redundant = 0;
    for page in dalembert::gallery::pages() {
        let input = dalembert::Input::open(&format!("gallery:{}", page.name)).expect("a page");
        let Some(model) = dalembert::load(&input, &Default::default()).model else { continue };
        let Ok(setting) = Setting::new(&model) else { continue };
        let Ok(start) = start::start(&setting) else { continue };
        let Ok(found) = report::at(&setting, &start.state, &Options::of_model(&model)) else {
            continue;
        };
        let Some(Ok(answer)) = found.answers.first().map(|a| &a.result) else { continue };
        if answer.outcome.rank.jacobian == answer.outcome.indeterminate.len() {
            continue;
        }
        redundant += 1;
        let model = &setting.model;
        let equations = lagrange::FORMULATION
            .derive(&model.exprs, &model.system, &Choices::default())
            .expect("equations");
        let known = setting.dependence(&equations, &start.state);
        assert_eq!(*known, Dependence::Follows, "{}", page.name);
    }
    assert!(redundant >= 6, "{redundant}");
}

/// Rows that depend on each other on the constraints alone: what was decided there is kept along
/// them, and nowhere beside them, however near.
#[test]
fn a_decision_on_dependent_rows_is_kept_on_the_constraints_only() {
    let text = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential z + x^2\n\
                constraint a: z = 0\nconstraint b: z*(1 + x^2) = 0\n\
                start x = 0.5, y = 0, z = 0, x' = 1, y' = 1\nrun t = 0..1\n";
    let model = load(text).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let model = &setting.model;
    let equations = lagrange::FORMULATION
        .derive(&model.exprs, &model.system, &Choices::default())
        .expect("equations");
    let mut field = Field::new(&setting, &equations, DEFAULT);
    let mut rates = [0.0; 7];
    let start = [0.5, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    field.choose_rows(0.0, &start, 1e-9).expect("a motion");
    assert_eq!(field.rows().len(), 1);
    for x in [0.5, 0.6, 0.1, -0.4] {
        let mut at = |z: f64, speed: f64| {
            field.keeps_decision(0.0, &[x, 0.3, z, 1.5, -1.0, speed, 0.0], &mut rates)
        };
        assert!(at(0.0, 0.0) && at(1e-17, 0.0), "{x}");
        // Rows apart by z, and right sides by the speed.
        for off in [1e-12, 1e-9, 1e-6, 1e-3] {
            assert!(!at(off, 0.0) && !at(-off, 0.0), "{x} {off}");
        }
        assert!(!at(0.0, 1e-3), "{x}");
    }
    assert_eq!(field.counts.decisions, 1);
}
