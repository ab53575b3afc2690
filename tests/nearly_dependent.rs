//! Rows that nearly depend on each other determine what they determine, however nearly.

mod support;

use dalembert::Mechanics;
use dalembert::expr::Random;
use dalembert::simulate::Setting;
use dalembert::simulate::at_state::Refusal;
use dalembert::simulate::report::{Options, report};
use dalembert::simulate::run::{RunError, RunOptions, run};
use std::ops::ControlFlow;
use support::load;

/// A number with few digits, so that text holds it exactly, and not 0.
fn short(random: &mut Random) -> f64 {
    let x = (random.signed() * 16.0).round() / 16.0;
    if x == 0.0 { 0.5 } else { x }
}

const SIZES: &[&str] =
    &["1e-6", "1e-7", "1e-8", "1e-9", "1e-11", "1e-13", "1e-15", "1e-18", "1e-40", "1e-300"];

/// x, y, z on a plane twice, the second time turned by next to nothing: z = 0.
#[test]
fn two_planes_are_a_line() {
    for size in SIZES {
        let text = format!(
            "param e = {size}\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n\
             potential 9*z + x^2\nconstraint a: x + y + z = 1\n\
             constraint b: x + y + (1 + e)*z = 1\n\
             start x = 0.5, y = 0.5, z = 0, x' = 1, y' = -1\nrun t = 0..3\n"
        );
        let model = load(&text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        assert_eq!(setting.model.system.recombined.len(), 1, "{size}");
        let options = RunOptions::of_model(&setting);
        let mut last = None;
        let report = run(&setting, &options, &mut |o| {
            last = Some((o.state.t, o.state.q.clone(), o.multipliers.clone()));
            ControlFlow::Continue(())
        })
        .expect("it runs");
        assert!(report.verdict().is_ok(), "{size}: {:?}", report.end);
        let (t, q, lambda) = last.expect("an end");
        let x = 0.5 * t.cos() + t.sin();
        assert!((q[0] - x).abs() < 1e-8 && q[2].abs() < 1e-12, "{size}: {q:?}");
        // λ_a + λ_b = x, e λ_b = 9 − x.
        let e: f64 = size.parse().expect("a number");
        let right = (9.0 - x) / e;
        assert!((lambda[1] / right - 1.0).abs() < 1e-7, "{size}: {lambda:?} {right}");
    }
}

/// Random linear and quadratic rows, and one more that is a combination of them but for a row of
/// its own times ε: the same accelerations and forces as with that row alone.
#[test]
fn what_a_row_adds_is_what_it_says() {
    let mut cases = 0;
    for seed in 0..60 {
        let mut r = Random::new(seed + 1);
        let n = 4 + (seed % 3) as usize;
        let row = |r: &mut Random| -> String {
            let terms: Vec<String> = (1..=n)
                .map(|i| match (r.signed() * 3.0) as i32 {
                    0 => format!("{}*q[{i}]", short(r)),
                    1 => format!("{}*q[{i}]^2", short(r)),
                    _ => format!("{}*sin(q[{i}])", short(r)),
                })
                .collect();
            terms.join(" + ")
        };
        let (first, second, own) = (row(&mut r), row(&mut r), row(&mut r));
        let (a, b) = (short(&mut r), short(&mut r));
        let size = SIZES[seed as usize % SIZES.len()];
        let text = |third: &str| {
            format!(
                "coord q[1..{n}]\nkinetic dot(q', q')/2 + (q[1]' + q[2]')^2/4\n\
                 potential sin(q[1]) + q[2]^2 + q[3]*q[4]\nconstraint a: {first} = 0\n\
                 constraint b: {second} = 0\nconstraint c: {third} = 0\n"
            )
        };
        let nearly = text(&format!("{a}*({first}) + {b}*({second}) + {size}*({own})"));
        let (exact, found) = (accelerations(&text(&own)), accelerations(&nearly));
        let (Some(exact), Some(found)) = (exact, found) else { continue };
        cases += 1;
        for (x, y) in exact.iter().zip(&found) {
            let scale = exact.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
            assert!((x - y).abs() < 1e-9 * scale, "{size}: {exact:?} {found:?}\n{nearly}");
        }
    }
    assert!(cases >= 50, "{cases}");
}

fn accelerations(text: &str) -> Option<Vec<f64>> {
    let loaded = load(text);
    let model = loaded.model?;
    let options = Options::of_model(&model);
    let report = report(&model, &options).ok()?;
    let answer = report.answers.into_iter().next()?.result.ok()?;
    (answer.outcome.rank.jacobian == 3).then_some(answer.accelerations)
}

/// Rows that depend on each other exactly, in part, or not at all stay as they are written.
#[test]
fn other_rows_are_left_alone() {
    for rows in [
        "constraint a: x + y = 1\nconstraint b: 2*x + 2*y = 2",
        "constraint a: x + y = 1\nconstraint b: x - y = 1",
        "constraint a: x + y = 1\nconstraint b: x + 1.01*y = 1",
        "constraint a: x + 1e-12*y = 1\nconstraint b: y = 0",
        "constraint a: 1e-12*x = 0\nconstraint b: y = 0",
    ] {
        let text = format!("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n{rows}\n");
        let model = load(&text).model.expect("a model");
        let before: Vec<_> = model.system.constraints.iter().map(|c| c.residual).collect();
        let setting = Setting::new(&model).expect("values");
        assert!(setting.model.system.recombined.is_empty(), "{rows}");
        let after: Vec<_> = setting.model.system.constraints.iter().map(|c| c.residual).collect();
        assert_eq!(before, after);
    }
}

/// How a run ends, and the largest |z| on the way; `None` if it is refused by name.
fn largest_z(text: &str) -> Option<(bool, f64)> {
    let model = load(text).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions::of_model(&setting);
    let mut z = 0f64;
    let report = run(&setting, &options, &mut |o| {
        z = z.max(o.state.q[2].abs());
        ControlFlow::Continue(())
    });
    match report {
        Ok(report) => Some((report.verdict().is_ok(), z)),
        Err(RunError::Refused(Refusal::NearlyDependent { ratio, constraints })) => {
            assert!(
                ratio > 0.0 && ratio < 1e-5 && constraints.len() >= 2,
                "{ratio} {constraints:?}"
            );
            None
        }
        Err(error) => panic!("{error:?}\n{text}"),
    }
}

/// f(x + e z) + y + z and f(x) + y + z determine z = 0: the difference of nearly equal terms
/// is written so that it keeps its digits.
#[test]
fn nearly_equal_terms_are_told_apart() {
    for function in [
        "sin(x)",
        "exp(x)",
        "x^3 + x",
        "log(2 + x)",
        "sqrt(x^2 + 2)",
        "tan(x/2)*(1 + x^2)",
        "atan(x) + x",
        "asin(x/3)",
        "2*x/(1 + x^2)",
        "sinh(x)*cos(x)",
    ] {
        for size in ["1e-2", "1e-5", "1e-7", "1e-9", "1e-11", "1e-13", "1e-16", "1e-30", "1e-300"] {
            // High powers of 10⁻³⁰⁰ are beyond what numbers of a model can be.
            let is_power = function.contains('^');
            let size = if is_power && size == "1e-300" { "1e-45" } else { size };
            for start in ["0.5", "-0.3"] {
                let moved = function.replace("exp", "E").replace('x', "w").replace('E', "exp");
                let text = format!(
                    "param e = {size}\ncoord x, y, z\nlet w = x + e*z\n\
                     kinetic (x'^2 + y'^2 + z'^2)/2\npotential 9*z + y\n\
                     constraint a: {function} + y + z = 1\nconstraint b: {moved} + y + z = 1\n\
                     start x = {start}, z = 0, y' ~ 1\nrun t = 0..1\n"
                );
                let (passes, z) =
                    largest_z(&text).unwrap_or_else(|| panic!("not told apart:\n{text}"));
                assert!(passes && z < 1e-8, "{function} {size} {start}: {passes} {z:e}");
            }
        }
    }
}

/// Two blades that are nearly parallel hold a body where it is, however nearly.
#[test]
fn nearly_parallel_blades_hold() {
    for size in ["1e-3", "1e-6", "1e-9", "1e-12", "1e-15", "1e-20", "1e-100"] {
        let text = format!(
            "param e = {size}\ncoord x, y, th\nkinetic (x'^2 + y'^2 + th'^2)/2\npotential x + y\n\
             constraint a: x'*sin(th) - y'*cos(th) = 0\n\
             constraint b: x'*sin(th + e) - y'*cos(th + e) = 0\n\
             start th = 0.3, th' = 1\nrun t = 0..2\n"
        );
        let model = load(&text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut far = 0f64;
        let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            far = far.max(o.state.q[0].abs()).max(o.state.q[1].abs());
            ControlFlow::Continue(())
        })
        .expect("it runs");
        assert!(report.verdict().is_ok() && far < 1e-9, "{size}: {:?} {far:e}", report.end);
    }
}

/// Rows in which no terms are nearly equal: on the first one, the second says z = 0, and more
/// digits than a double has are used to hold it.
const UNLIKE: &[(&str, &str)] = &[
    ("sin(x) + y + z = 1", "2*sin(x/2)*cos(x/2) + y + (1 + e)*z = 1"),
    ("exp(x + y)*(1 + z) = 2", "x + y + log(1 + (1 + e)*z) = log(2)"),
    ("cos(x)^2 + y + z = 1", "sin(x)^2 - y - z - e*z = 0"),
    ("x^2 + y^2 + z^2 = 4", "sqrt(x^2 + y^2 + z^2 + e*z) = 2"),
    ("x*y + z = 0.3", "(1 + x^2)*(x*y + z - 0.3) = e*z*exp(y)"),
    ("x' + sin(x)*y' + z' = 0", "cos(x)*x' + sin(2*x)/2*y' + (cos(x) + e)*z' = 0"),
];

fn unlike(first: &str, second: &str, size: &str) -> String {
    format!(
        "param e = {size}\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n\
         potential 9*z + y\nconstraint a: {first}\nconstraint b: {second}\n\
         start x = 0.7, z = 0, y' ~ 1\nrun t = 0..0.5, every 0.1, tol 1e-6\n"
    )
}

#[test]
fn what_only_more_digits_hold_is_held() {
    for (first, second) in UNLIKE {
        let level = if first.contains('\'') { "z' = 0" } else { "z = 0" };
        let model = load(&unlike(first, level, "0")).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut right = Vec::new();
        run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            right = o.state.q.clone();
            ControlFlow::Continue(())
        })
        .expect("it runs");
        for size in ["1e-5", "1e-7", "1e-9", "1e-13", "1e-16", "1e-300"] {
            let model = load(&unlike(first, second, size)).model.expect("a model");
            let setting = Setting::new(&model).expect("values");
            let mut last = None;
            let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
                last = Some((o.state.q.clone(), o.multipliers.clone(), o.constraint_force.clone()));
                ControlFlow::Continue(())
            })
            .unwrap_or_else(|error| panic!("{second} {size}: {error:?}"));
            assert!(report.verdict().is_ok(), "{second} {size}: {:?}", report.end);
            let (q, lambda, force) = last.expect("an end");
            for (a, b) in q.iter().zip(&right) {
                assert!((a - b).abs() < 1e-6, "{second} {size}: {q:?} {right:?}");
            }
            // The multipliers are those of the rows as written: of the second ones of the size
            // 1/e, and together they make the constraint force.
            let e: f64 = size.parse().expect("a number");
            let most = lambda[1].abs() * e;
            assert!(most > 0.1 && most < 1e2, "{second} {size}: {lambda:?} {force:?}");
        }
        // Where it does follow, it does.
        let (passes, z) = largest_z(&unlike(first, second, "0")).expect("it follows");
        assert!(passes && z > 1e-3, "{second}: {passes} {z}");
    }
}

/// The same by every formulation and elimination, and a second row that is nearer still.
#[test]
fn every_route_holds_what_more_digits_hold() {
    for (first, second) in UNLIKE {
        for size in ["1e-8", "1e-12", "1e-30"] {
            let text = unlike(first, second, size);
            let model = load(&text).model.expect("a model");
            let all = Options {
                formulations: dalembert::formulations::ALL.to_vec(),
                eliminations: dalembert::gauss::ALL.to_vec(),
                ..Options::of_model(&model)
            };
            let report = report(&model, &all).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            let mut count = 0;
            let mut found: Option<Vec<f64>> = None;
            for answer in &report.answers {
                let Ok(evaluation) = &answer.result else { continue };
                count += 1;
                let own = &evaluation.accelerations;
                let (name, how) = (answer.formulation, answer.elimination);
                let z = own[2].abs();
                assert!(z < 1e-9, "{text} {name} {how}: {own:?}");
                let first = found.get_or_insert_with(|| own.clone());
                for (a, b) in own.iter().zip(first.iter()) {
                    assert!((a - b).abs() < 1e-9, "{text} {name} {how}: {own:?} {first:?}");
                }
            }
            assert!(count >= 12, "{text}: {count} routes");
        }
    }
}

/// Three rows, each nearer to those before.
#[test]
fn rows_that_are_nearer_and_nearer() {
    for size in ["1e-4", "1e-9", "1e-100"] {
        let text = format!(
            "param e = {size}\ncoord x, y, z, w\nkinetic (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
             potential 9*z + y - 3*w\nconstraint a: sin(x) + y + z + w = 1\n\
             constraint b: 2*sin(x/2)*cos(x/2) + y + (1 + e)*z + w = 1\n\
             constraint c: tan(x)*cos(x) + y + z + e*z + e^2*w + w = 1\n\
             start x = 0.7, z = 0, w = 0, y' ~ 1\nrun t = 0..0.3, every 0.1, tol 1e-6\n"
        );
        let model = load(&text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut far = 0f64;
        let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            far = far.max(o.state.q[2].abs()).max(o.state.q[3].abs());
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|error| panic!("{size}: {error:?}"));
        assert!(report.verdict().is_ok() && far < 1e-8, "{size}: {:?} {far:e}", report.end);
    }
}

/// Random rows, and one that is a multiple of the first by a function, and a square of it, but for
/// a row of its own times ε: the same accelerations as with that row alone.
#[test]
fn what_a_row_adds_on_the_others_is_what_it_says() {
    let (mut cases, mut held) = (0, 0);
    for seed in 0..40u64 {
        let mut r = Random::new(1000 + seed);
        let n = 3 + (seed % 3) as usize;
        let row = |r: &mut Random| -> String {
            let terms: Vec<String> = (1..=n)
                .map(|i| match (r.signed() * 3.0) as i32 {
                    0 => format!("{}*q[{i}]", short(r)),
                    1 => format!("{}*(q[{i}] + q[{i}]^2)", short(r)),
                    _ => format!("{}*sin(q[{i}])", short(r)),
                })
                .collect();
            terms.join(" + ")
        };
        let (first, own) = (row(&mut r), row(&mut r));
        let factor = ["exp(q[1])", "(2 + sin(q[2]))", "1/(1 + q[3]^2)", "(3 + q[1]*q[2])"];
        let (factor, b) = (factor[seed as usize % 4], short(&mut r));
        let size = SIZES[seed as usize % SIZES.len()];
        let guess: Vec<String> = (1..=n).map(|i| format!("q[{i}]' ~ {}", short(&mut r))).collect();
        let text = |second: &str| {
            format!(
                "coord q[1..{n}]\nkinetic dot(q', q')/2 + (q[1]' + q[2]')^2/4\n\
                 potential sin(q[1]) + q[2]^2 + 2*q[3]\nconstraint a: {first} = 0\n\
                 constraint b: {second} = 0\nstart {}\n",
                guess.join(", ")
            )
        };
        let nearly = text(&format!("{factor}*({first}) + {b}*({first})^2 + {size}*({own})"));
        let found = |text: &str| {
            let model = load(text).model?;
            let report = report(&model, &Options::of_model(&model)).ok()?;
            let answer = report.answers.into_iter().next()?.result.ok()?;
            (answer.outcome.rank.jacobian == 2).then_some(answer.accelerations)
        };
        let Some(exact) = found(&text(&own)) else { continue };
        let found = found(&nearly).unwrap_or_else(|| panic!("{nearly}"));
        cases += 1;
        let model = load(&nearly).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        held += usize::from(setting.model.system.recombined.iter().any(|r| r.varies));
        let scale = exact.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        for (x, y) in exact.iter().zip(&found) {
            assert!((x - y).abs() < 1e-9 * scale, "{size}: {exact:?} {found:?}\n{nearly}");
        }
    }
    assert!(cases >= 36 && held >= 30, "{cases} {held}");
}

/// e z² = 0 has no gradient where it holds: a run of it is no motion, and none passes that
/// leaves it.
#[test]
fn what_has_no_gradient_is_not_passed() {
    for size in ["1e-6", "1e-10", "1e-16", "1e-40"] {
        let text = unlike("x^2 + y^2 + z^2 = 4", "sqrt(x^2 + y^2 + (1 + e)*z^2) = 2", size);
        if let Some((passes, z)) = largest_z(&text) {
            assert!(!passes || z < 1e-8, "{size}: {z:e}");
        }
    }
}

/// A platform on three equal parallel rods swings, and the third rod follows from the others; if
/// its foot is off by a little, nothing moves. Numbers of sixteen digits are rounded ones, and
/// their last digit decides nothing.
#[test]
fn the_third_rod_of_a_parallelogram() {
    let text = |foot: &str| {
        let rod = |p: &str, d: &str| format!("(x + {p}*cos(ph) - {d})^2 + (y + {p}*sin(ph))^2 = 1");
        format!(
            "param e = 1e-30\ncoord x, y, ph\nkinetic (x'^2 + y'^2 + ph'^2)/2\npotential 9*y\n\
             constraint a: {}\nconstraint b: {}\nconstraint c: {}\n\
             start x ~ 0, y ~ -1, ph ~ 0, x' ~ 1\nrun t = 0..1\n",
            rod("0", "0"),
            rod("0.6", "0.6"),
            rod("0.3", foot)
        )
    };
    for foot in ["0.3", "0.30000000000000004", "0.29999999999999999", "3/10", "sqrt(0.09)"] {
        let model = load(&text(foot)).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut far = 0f64;
        let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            far = far.max(o.state.q[0].abs());
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|error| panic!("{foot}: {error:?}"));
        assert!(report.verdict().is_ok() && far > 0.3, "{foot}: {:?} {far}", report.end);
    }
    for foot in [
        "0.30000000001",
        "0.3000000000001",
        "(0.3 + 1e9*e)",
        "(0.3 + e^2)",
        "(0.3 + e)",
        "(0.3 + 1e-14)",
        "(0.3 + 1e-15)",
        "(0.3 + 1e-20)",
        "(0.3 - 1e-15)",
        "(0.3 + 1e-60)",
    ] {
        let model = load(&text(foot)).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        let mut far = 0f64;
        let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            far = far.max(o.state.q[0].abs());
            ControlFlow::Continue(())
        });
        match report {
            Err(RunError::Refused(Refusal::NearlyDependent { constraints, .. })) => {
                assert_eq!(constraints, [0, 1, 2], "{foot}");
            }
            Ok(report) => assert!(report.verdict().is_err() || far < 1e-3, "{foot}: {far}"),
            Err(_) => {}
        }
    }
}

/// Another value of a parameter makes other rows of them.
#[test]
fn a_parameter_decides_which_rows_are_near() {
    let text = "param e = 0.5\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n\
                constraint a: x + y + z = 1\nconstraint b: x + y + (1 + e)*z = 1\n";
    let model = load(text).model.expect("a model");
    let setting = Setting::new(&model).expect("values");
    let e = model.system.parameters[0].symbol;
    assert!(setting.model.system.recombined.is_empty());
    let near = setting.with(e, 1e-12);
    assert_eq!(near.model.system.recombined.len(), 1);
    let left = near.with(e, 1e-20).model.system.recombined[0].left;
    assert!((left * 1e20 - 1.0).abs() < 1e-12);
    assert!(near.with(e, 0.25).model.system.recombined.is_empty());
}

/// A value that is set is the number that is meant, and one of seventeen digits is a rounded one.
#[test]
fn a_value_that_is_set_is_what_is_meant() {
    let text = "param f = 0.2\ncoord x, y, ph\nkinetic (x'^2 + y'^2 + ph'^2)/2\npotential 9*y\n\
                constraint a: x^2 + y^2 = 1\n\
                constraint b: (x + 0.6*cos(ph) - 0.6)^2 + (y + 0.6*sin(ph))^2 = 1\n\
                constraint c: (x + 0.3*cos(ph) - f)^2 + (y + 0.3*sin(ph))^2 = 1\n\
                start x ~ 0, y ~ -1, ph ~ 0, x' ~ 1\nrun t = 0..1, every 0.1\n";
    let model = load(text).model.expect("a model");
    let f = model.system.parameters[0].symbol;
    for (foot, swings) in [(0.3, true), (0.1 + 0.2, true), (0.3 + 1e-9, false), (0.25, false)] {
        let setting = Setting::new(&model).expect("values").with(f, foot);
        let (mut first, mut far) = (None, 0f64);
        let report = run(&setting, &RunOptions::of_model(&setting), &mut |o| {
            let x = o.state.q[0];
            far = far.max((x - *first.get_or_insert(x)).abs());
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|error| panic!("{foot}: {error:?}"));
        assert!(report.verdict().is_ok(), "{foot}: {:?}", report.end);
        assert_eq!(far > 0.3, swings, "{foot}: {far}");
    }
}

/// A body on a cylinder joint that ball loops hold, with lengths of 16 digits: what the loops say
/// twice agrees to 16 digits, and not to more. It follows, and is not held beside the rest: the body
/// is as if it were fixed.
#[test]
fn loops_in_sixteen_digits_follow_where_they_agree_to_sixteen_digits() {
    for seed in 0..8 {
        let mut random = Random::new(seed + 1);
        let mut point = || [0; 3].map(|_| 0.7 * random.signed());
        let (axis, on_first, on_second) = (point(), point(), point());
        let points = [point(), point(), point()];
        let (slide, angle) = (0.21 + 0.1 * axis[0], 0.9 * axis[1]);
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = axis.map(|x| x / length);
        // d + D (p − a₂) + a₁, D the turn about n by Rodrigues' formula.
        let moved = |p: &[f64; 3]| -> [f64; 3] {
            let p: [f64; 3] = std::array::from_fn(|i| p[i] - on_second[i]);
            let (sin, cos) = angle.sin_cos();
            let along = (0..3).map(|i| n[i] * p[i]).sum::<f64>();
            std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let across = n[j] * p[k] - n[k] * p[j];
                let turned = p[i] * cos + across * sin + n[i] * along * (1.0 - cos);
                on_first[i] + n[i] * slide + turned
            })
        };
        let mut text = format!(
            "gravity [0, 0, -9.81]\n\
             body a: mass 1.2, inertia [0.2, 0.3, 0.25], center [0.1, 0.2, -0.3]\n\
             body b: mass 0.7, inertia [0.1, 0.2, 0.15], center [0.2, -0.1, 0.1]\n\
             joint A: pin ground, a, axis [1, 0.2, 0]\n\
             joint B: cylinder a at {on_first:?}, b at {on_second:?}, axis {axis:?}\n\
             start A.angle = 0.3, A.angle' = 0.5, B.angle ~ {angle:?}, B.slide ~ {slide:?}\n\
             observe A.angle''\nrun t = 0..0.3, tol 1e-9\n"
        );
        for (at, p) in points.iter().enumerate() {
            text += &format!("loop C{at}: ball a at {:?}, b at {p:?}\n", moved(p));
        }
        let model = load(&text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        assert!(setting.model.system.recombined.is_empty(), "{text}");
        let held = model.simulate(0.0..0.3).tolerance(1e-10).run().expect("it moves");
        assert!(held.report().verdict().is_ok(), "{:?}\n{text}", held.report().verdict());
        // The same by a joint that holds all.
        let fixed: String = text
            .lines()
            .filter(|line| !line.starts_with("loop") && !line.starts_with("start"))
            .map(|line| match line.starts_with("joint B") {
                true => format!(
                    "joint B: fixed a at {on_first:?} + {slide:?}*unit({axis:?}) turning \
                     Raxis({axis:?}, {angle:?}), b at {on_second:?}\n\
                     start A.angle = 0.3, A.angle' = 0.5\n"
                ),
                false => format!("{line}\n"),
            })
            .collect();
        let fixed = load(&fixed).model.expect("a model");
        let other = fixed.simulate(0.0..0.3).tolerance(1e-10).run().expect("it moves");
        let [one, two] = [&held, &other].map(|m| m.at(0.3).expect("its end").state().q[0]);
        assert!((one - two).abs() < 1e-9, "{one} {two}\n{text}");
    }
}

/// Machines as programs write them. Of one the loops meet where they are, and ranks decide; of the
/// other one loop says what another one does, to 16 digits: without it, all moves alike.
#[test]
fn machines_in_sixteen_digits_have_the_ranks_of_machines() {
    let found = |text: &str| {
        let model = load(text).model.expect("a model");
        let setting = Setting::new(&model).expect("values");
        assert!(setting.model.system.recombined.is_empty());
        let report = report(&model, &Options::of_model(&model)).expect("a start");
        let answer = report.answers.into_iter().next().expect("a route").result;
        let answer = answer.unwrap_or_else(|error| panic!("{error:?}"));
        (answer.outcome.rank.jacobian, answer.accelerations)
    };
    let across = include_str!("data/ball-across-cylinders.dal");
    assert_eq!(found(across).0, 6);
    let twice = include_str!("data/loops-told-twice.dal");
    let once: String =
        twice.lines().filter(|l| !l.starts_with("loop C2")).map(|l| format!("{l}\n")).collect();
    let ((rank, all), (other, fewer)) = (found(twice), found(&once));
    assert_eq!((rank, other), (5, 5));
    let most = all.iter().fold(1f64, |m, x| m.max(x.abs()));
    for (a, b) in all.iter().zip(&fewer) {
        assert!((a - b).abs() < 1e-9 * most, "{all:?}\n{fewer:?}");
    }
}
