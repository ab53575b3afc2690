//! The library as a program uses it: build, run, look, compile.

use dalembert::prelude::*;
use dalembert::simulate::run::{RunOptions, run};
use dalembert::simulate::{Setting, drive};
use std::ops::ControlFlow;

const PENDULUM: &str = "
param m = 1, l = 2, g = 9.81, w = sqrt(g/l)
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential m*g*y
constraint rod: x^2 + y^2 = l^2
start x = 1.2, y ~ -2
observe height = y + l
run t = 0..2
";

/// A coordinate, a constraint and a parameter that outlive their builder.
struct Pendulum {
    model: Model,
    x: Handle,
    rod: Handle,
    l: Handle,
}

fn pendulum() -> Result<Pendulum, Error> {
    let b = Builder::new("pendulum");
    let (m, l, g) = (b.param("m", 1), b.param("l", 2), b.param("g", 9.81));
    let (x, y) = (b.coord("x"), b.coord("y"));
    b.kinetic(m * (x.prime().powi(2) + y.prime().powi(2)) / 2);
    b.potential(m * g * y);
    let rod = b.constraint("rod", x.powi(2) + y.powi(2), l.powi(2));
    b.start(x, 2);
    Ok(Pendulum { model: b.finish()?, x: x.handle(), rod: rod.handle(), l: l.handle() })
}

fn parsed(text: &str) -> Model {
    dalembert::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn samples_by_name_and_by_handle() -> Result<(), Error> {
    let Pendulum { model, x, rod, l } = pendulum()?;
    let motion = model.simulate(0.0..3.0).tolerance(1e-10).every(0.01).run()?;
    motion.certificate().check()?;
    assert_eq!(motion.samples().len(), 301);
    for s in motion.samples() {
        assert_eq!(s[&x].to_bits(), s["x"].to_bits());
        assert_eq!(s.velocity(&x), s["x'"]);
        assert_eq!(s.multiplier(&rod), s["multiplier(rod)"]);
        // Qᶜ = Aᵀλ with A = (2x, 2y), and M q̈ = Q + Qᶜ.
        let lambda = s.multiplier("rod");
        assert!((s.reaction("x") - 2.0 * s["x"] * lambda).abs() < 1e-12 * (1.0 + lambda.abs()));
        assert!((s["y''"] + 9.81 - s.reaction("y")).abs() < 1e-12 * 40.0);
        assert!((s["x"].powi(2) + s["y"].powi(2) - 4.0).abs() < 1e-12);
        assert!((s.energy() - s["energy"]).abs() == 0.0);
        assert_eq!(s.get("z"), None);
        assert_eq!(s.multipliers("rod").len(), 1);
    }
    let heights = motion.column("y")?;
    assert_eq!(heights.len(), 301);
    assert_eq!(motion.last().map(|s| s.t), Some(3.0));
    assert_eq!(*motion.end(), End::Finished);
    let estimate = motion.error_estimate().expect("runs are verified");
    assert!(estimate.holds() && estimate.relative < 1e-8);
    // Another length, by its handle.
    let short = model.simulate(0.0..1.0).set(&l, 1.0).start("x", 0.6).run()?;
    let first = short.samples().next().expect("a start");
    assert!((first["x"] - 0.6).abs() < 1e-14 && (first["y"].abs() - 0.8).abs() < 1e-14);
    Ok(())
}

#[test]
fn terms_of_a_builder_are_keys_themselves() -> Result<(), Error> {
    let b = Builder::new("oscillator");
    let k = b.param("k", 4);
    let q = b.coords("q", 1..=2);
    b.kinetic((q[0].prime().powi(2) + q[1].prime().powi(2)) / 2);
    b.potential(k * q[0].powi(2) / 2);
    let together = b.constraint("c", [q[0] - q[1], q[0] + q[1] - 2 * q[0]], [0, 0]);
    b.start(q[0], 1);
    let model = b.finish()?;
    let motion = model.simulate(0.0..1.0).set(k, 2.0).run()?;
    let s = motion.last().expect("an end");
    // Both masses move: q'' = −q.
    assert!((s[q[1]] - 1f64.cos()).abs() < 1e-8);
    assert!((s[q[1].prime()] + 1f64.sin()).abs() < 1e-8);
    // Two rows that say the same: neither multiplier is unique, their effect is.
    let lambda = s.multipliers(&together);
    assert!(lambda.len() == 2 && lambda.iter().all(|l| l.is_nan()), "{lambda:?}");
    assert!((s.reaction(q[1]) + s[q[1]]).abs() < 1e-9);
    Ok(())
}

#[test]
fn parameters_and_starts_are_set_as_by_the_command_line() -> Result<(), Error> {
    let model =
        parsed("param l = 2, k = 3*l\ncoord x\nkinetic x'^2/2\npotential k*x^2/2\nstart x = 1");
    let motion = model.simulate(0.0..1.0).set("l", 3.0).start("x'", 6.0).start("x", 0.0).run()?;
    // What is defined by `l` follows: ω² = 9.
    let s = motion.last().expect("an end");
    assert!((s["x"] - 2.0 * 3f64.sin()).abs() < 1e-7, "{}", s["x"]);
    // By momenta, where the model has those.
    let text = "coord x\nhamiltonian p_x^2/4 + x^2\nstart x = 1, p_x = 0.5";
    let model = parsed(text);
    let motion = model.simulate(0.0..1.0).start("p_x", -1.0).run()?;
    assert!((motion.samples().next().expect("a start")["x'"] + 0.5).abs() < 1e-14);
    let motion = model.simulate(0.0..1.0).start("x'", -1.0).run()?;
    assert!((motion.samples().next().expect("a start")["p_x"] + 2.0).abs() < 1e-13);
    Ok(())
}

#[test]
fn times_and_spans() -> Result<(), Error> {
    let model = parsed(PENDULUM);
    let times = |motion: &Trajectory| motion.samples().map(|s| s.t).collect::<Vec<f64>>();
    // The span of the model's own `run`.
    assert_eq!(times(&model.simulate(..).run()?).last(), Some(&2.0));
    assert_eq!(times(&model.simulate(..0.5).at([0.3, 0.1]).run()?), [0.0, 0.1, 0.3, 0.5]);
    let back = model.simulate(1.0..0.0).every(0.25).verify(false).run()?;
    assert_eq!(times(&back), [1.0, 0.75, 0.5, 0.25, 0.0]);
    assert!(back.error_estimate().is_none());
    let there = model.simulate(1.0..0.0).at([0.3]).verify(false).run()?;
    let exact = there.samples().nth(1).expect("three samples");
    assert!((back.at(0.3)?["x"] - exact["x"]).abs() < 1e-9 && exact.t == 0.3);
    let same: Vec<f64> = back.samples().map(|s| s["height"] - s["y"]).collect();
    assert!(same.iter().all(|d| (d - 2.0).abs() < 1e-15));
    Ok(())
}

/// States between samples are those that a run with samples there would have.
#[test]
fn states_between_samples_are_as_good_as_samples() -> Result<(), Error> {
    let asked: Vec<f64> = (1..200).map(|k| 0.01 * f64::from(k) + 1e-3).collect();
    let hamilton = "coord x, y\nhamiltonian (p_x^2 + p_y^2)/2 + 9.81*y\n\
                    constraint rod: x^2 + y^2 = 4\nstart x = 1.2, y ~ -2\nrun t = 0..2";
    let rolling = "coord x, y, a\nkinetic (x'^2 + y'^2 + a'^2/3)/2\nconstraint edge: x'*sin(a) = \
                   y'*cos(a)\nforce a: cos(t)\nstart x' = 1, a' = 1\nrun t = 0..2";
    let cases = [
        (PENDULUM, "auto", "lagrange", 1e-9),
        (PENDULUM, "auto", "hamilton", 1e-9),
        (PENDULUM, "gauss6", "lagrange", 1e-6),
        (PENDULUM, "radau", "lagrange", 1e-6),
        (hamilton, "auto", "hamilton", 1e-9),
        (hamilton, "auto", "lagrange", 1e-9),
        (rolling, "auto", "maggi", 1e-9),
    ];
    for (text, method, formulation, within) in cases {
        let what = format!("{method} {formulation} {text}");
        let model = parsed(text);
        let simulation = || {
            let run = model.simulate(..).method(method).formulation(formulation).verify(false);
            run.tolerance(1e-11)
        };
        let motion = simulation().every(0.5).run()?;
        let with_samples = simulation().at(asked.iter().copied()).run()?;
        for s in with_samples.samples() {
            let between = motion.at(s.t)?;
            let names = model.system.coordinates.iter().map(|c| c.name.as_str());
            for name in names {
                let velocity = format!("{name}'");
                for key in [name, velocity.as_str()] {
                    let (a, b) = (between[key], s[key]);
                    assert!((a - b).abs() <= within, "{what}\n{key} at {}: {a} {b}", s.t);
                }
            }
        }
        let outside = motion.at(2.0001).expect_err("it ends at 2");
        assert!(matches!(outside.kind(), ErrorKind::Outside { .. }), "{outside}");
    }
    Ok(())
}

/// Its error falls with the integrator's own order, and the pieces join.
#[test]
fn dense_output_has_the_order_of_the_integrator() -> Result<(), Error> {
    let model = parsed("coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1");
    let worst = |method: &str, step: f64| -> Result<f64, Error> {
        let run = model.simulate(0.0..2.0).method(method).step(step).verify(false);
        let motion = run.every(2.0).run()?;
        let error = |t: f64| Ok((motion.at(t)?["x"] - t.cos()).abs());
        let ts = (0..=400).map(|k| 0.005 * f64::from(k));
        let found: Result<Vec<f64>, Error> = ts.map(error).collect();
        Ok(found?.into_iter().fold(0.0, f64::max))
    };
    for (method, order, steps) in
        [("dop853", 7, [0.5, 0.25]), ("gauss6", 4, [0.25, 0.125]), ("radau", 3, [0.25, 0.125])]
    {
        let [coarse, fine] = [worst(method, steps[0])?, worst(method, steps[1])?];
        let measured = (coarse / fine).log2();
        assert!(measured > f64::from(order) - 0.3, "{method}: order {measured}");
    }
    let motion = model.simulate(0.0..2.0).step(0.25).method("gauss4").verify(false).run()?;
    for k in 1..8 {
        let t = 0.25 * f64::from(k);
        let [a, b] = [t - 1e-13, t + 1e-13].map(|t| motion.at(t).map(|m| m["x"]));
        assert!((a? - b?).abs() < 1e-12);
    }
    Ok(())
}

/// Keeping the motion changes nothing of what is written.
#[test]
fn a_run_is_the_same_whether_it_is_kept_or_not() -> Result<(), Error> {
    for page in ["gallery:spherical-pendulum", "gallery:double-pendulum", "gallery:rolling-disk"] {
        let model = dalembert::open(page)?;
        let run = |dense| model.simulate(..).verify(false).every(0.5).dense(dense).run();
        let (kept, plain) = (run(true)?, run(false)?);
        for (a, b) in kept.samples().zip(plain.samples()) {
            let (a, b) = (&a.observation().state, &b.observation().state);
            let apart = a.q.iter().zip(&b.q).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(apart <= 1e-12, "{page} at {}: {apart}", a.t);
        }
        let error = plain.at(0.1).expect_err("nothing was kept");
        assert!(matches!(error.kind(), ErrorKind::NotDense));
    }
    Ok(())
}

#[test]
fn events_are_listed_and_states_after_them_found() -> Result<(), Error> {
    let model = parsed(
        "coord y\nkinetic y'^2/2\npotential 10*y\nstart y = 5\n\
         event hit: y = 0 falling -> y' = -0.5*y'\nrun t = 0..1.8",
    );
    let motion = model.simulate(..).run()?;
    let events: Vec<_> = motion.events().collect();
    assert_eq!(events.len(), 1);
    let hit = events[0];
    assert!(hit.name == "hit" && (hit.t - 1.0).abs() < 1e-12, "{hit:?}");
    let (before, after) = hit.change.expect("a reset");
    assert!((before.velocity[0] + 10.0).abs() < 1e-9 && (after.velocity[0] - 5.0).abs() < 1e-9);
    assert!((hit.energy + 37.5).abs() < 1e-8);
    assert!((motion.at(hit.t)?["y'"] - 5.0).abs() < 1e-9, "after the event");
    assert!((motion.at(0.999)?["y'"] + 9.99).abs() < 1e-9);
    // 5 s − 5 s² after the bounce.
    assert!((motion.at(1.4)?["y"] - (5.0 * 0.4 - 5.0 * 0.16)).abs() < 1e-9);
    assert_eq!(model.simulate(..).events(false).run()?.events().len(), 0);
    Ok(())
}

#[test]
fn faults_are_shown_with_their_lines() {
    let b = Builder::new("wrong");
    let x = b.coord("x");
    b.kinetic(x.prime().powi(2) / 2 + b.named("y"));
    let error = b.finish().map_err(Error::from).expect_err("`y` is not defined");
    let shown = error.to_string();
    assert!(shown.starts_with("error[unknown-name]"), "{shown}");
    assert!(shown.contains("kinetic") && shown.contains("^"), "{shown}");
    assert_eq!(format!("{error:?}"), format!("\n{shown}"));
    assert!(matches!(error.kind(), ErrorKind::Model));
    assert_eq!(error.diagnostics().len(), 1);
}

#[test]
fn missing_values_are_told_without_options_of_the_program() {
    let model = parsed("param m, k = 1\ncoord x\nkinetic m*x'^2/2\nstart x = 1");
    for error in [model.simulate(..).run().err(), model.compile().err()] {
        let error = error.expect("no mass");
        let shown = error.to_string();
        assert!(
            shown.contains("`m` has no value") && shown.contains("1 | param m, k = 1"),
            "{shown}"
        );
        assert!(!shown.contains("--set"), "{shown}");
        assert!(matches!(error.kind(), ErrorKind::MissingValues(_)));
    }
    assert!(model.simulate(0.0..1.0).set("m", 2.0).run().is_ok());
}

#[test]
fn a_start_that_contradicts_the_constraints() {
    let model = parsed(PENDULUM);
    let error = model.simulate(..).start("x", 3.0).run().expect_err("the rod is 2 long");
    assert!(matches!(error.kind(), ErrorKind::Start(_)), "{error}");
    assert!(error.to_string().contains("constraint rod"), "{error}");
}

/// A run that cannot go on is an error at the line that is to blame, or as far as it came.
#[test]
fn a_run_that_fails() -> Result<(), Error> {
    let model = parsed("coord r\nkinetic r'^2/2\npotential -1/r\nstart r = 1\nrun t = 0..5");
    let error = model.simulate(..).run().expect_err("it falls into the center");
    let shown = error.to_string();
    assert!(
        matches!(error.kind(), ErrorKind::Failed(drive::Failure::StepTooSmall { .. })),
        "{shown}"
    );
    assert!(shown.contains("3 | potential -1/r") && shown.contains("^^^"), "{shown}");
    assert!(!shown.contains("--t-end") && shown.contains("end the run before it"), "{shown}");
    let part = model.simulate(..).partial(true).run()?;
    assert!(part.samples().len() > 10);
    let error = part.certificate().check().expect_err("it did not come to its end");
    assert!(matches!(error.kind(), ErrorKind::Failed(_)));
    Ok(())
}

#[test]
fn a_certificate_that_does_not_hold() -> Result<(), Error> {
    let model = parsed(PENDULUM);
    let loose = model.simulate(0.0..5.0).step(0.2).method("dop853").stabilize(Stabilize::None);
    let motion = loose.tolerance(1e-9).run()?;
    let error = motion.certificate().check().expect_err("nothing holds the rod");
    let ErrorKind::Certificate(failed) = error.kind() else { panic!("{error}") };
    assert!(failed.iter().any(|line| line.contains("position residual")), "{failed:?}");
    assert!(motion.certificate().position_residual > 1e-9);
    assert!(motion.certificate().lines().iter().any(|line| !line.holds()));
    Ok(())
}

#[test]
fn wrong_names_and_numbers() -> Result<(), Error> {
    let model = parsed(PENDULUM);
    let said = |simulation: Simulation| simulation.run().expect_err("wrong").to_string();
    let words = said(model.simulate(..).set("q", 1.0));
    assert!(words.contains("no parameter is called `q`; there are m, l, g, w"), "{words}");
    let words = said(model.simulate(..).set("l", f64::NAN));
    assert!(words.contains("`l` must be") || words.contains("l must be"), "{words}");
    assert!(said(model.simulate(..).formulation("newton")).contains("lagrange"));
    assert!(said(model.simulate(..).elimination("guess")).contains("no elimination"));
    assert!(said(model.simulate(..).method("euler")).contains("no integrator `euler`"));
    assert!(said(model.simulate(..).tolerance(-1.0)).contains("the tolerance must be positive"));
    assert!(said(model.simulate(0.0..f64::INFINITY)).contains("the end time"));
    assert!(said(model.simulate(..).start("z", 1.0)).contains("there are x, y"));
    let mut work = model.compile()?.work();
    assert!(matches!(work.set("q", 1.0).expect_err("no `q`").kind(), ErrorKind::Unknown { .. }));
    let error = work.accelerations(0.0, &[1.0], &[0.0, 0.0]).expect_err("two are needed");
    assert!(error.to_string().contains("2 positions make a state, and there are 1"), "{error}");
    assert!(dalembert::open("no-such-file.dal").is_err_and(|e| e.to_string().contains("no such")));
    Ok(())
}

#[test]
#[should_panic(expected = "nothing is called `z` here")]
fn an_index_that_is_none() {
    let motion = parsed(PENDULUM).simulate(0.0..0.1).run().expect("a run");
    let first = motion.samples().next().expect("a start");
    assert_eq!(first.get("z"), None);
    let _ = first["z"];
}

/// A parameter by which others are defined, in what is compiled.
#[test]
fn compiled_parameters_follow_each_other() -> Result<(), Error> {
    let text = "param l = 2, k = 3*l, h = k + 1\ncoord x\nkinetic x'^2/2\npotential h*x^2/2";
    let mut work = parsed(text).compile()?.work();
    assert_eq!(work.accelerations(0.0, &[1.0], &[0.0])?, [-7.0]);
    work.set("l", 1.0)?;
    assert_eq!(work.accelerations(0.0, &[1.0], &[0.0])?, [-4.0]);
    work.set("k", 5.0)?;
    work.set("l", 7.0)?;
    assert_eq!(work.accelerations(0.0, &[1.0], &[0.0])?, [-6.0]);
    assert_eq!(work.terms(0.0, &[1.0], &[0.0])?.force, [-6.0]);
    Ok(())
}

/// Accelerations are those of a run, and of the formula; others after a parameter is set.
#[test]
fn compiled_accelerations() -> Result<(), Error> {
    let model = parsed(PENDULUM);
    let system = model.compile()?;
    assert_eq!(system.coordinates().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(system.parameters().collect::<Vec<_>>(), ["m", "l", "g", "w"]);
    assert_eq!(system.constraints().collect::<Vec<_>>(), ["rod"]);
    let mut work = system.work();
    let setting = Setting::new(&model).expect("values");
    let mut seen = Vec::new();
    let options = RunOptions::of_model(&setting);
    run(&setting, &options, &mut |o| {
        seen.push(o.clone());
        ControlFlow::Continue(())
    })
    .expect("a run");
    for o in &seen {
        let found = work.accelerations(o.state.t, &o.state.q, &o.state.velocity)?;
        for (a, b) in found.iter().zip(&o.accelerations) {
            assert!((a - b).abs() < 1e-12 * 20.0, "{a} {b}");
        }
    }
    for l in [0.5, 1.0, 4.0] {
        work.set("l", l)?;
        // Hanging still: no acceleration; level: free fall.
        let q = [l, 0.0];
        let [x, y] = *work.accelerations(0.0, &q, &[0.0, 0.0])? else { panic!("two") };
        assert!(x.abs() < 1e-13 && (y + 9.81).abs() < 1e-13);
        // Speed v at the lowest point: y″ = v²/l.
        let found = work.accelerations(0.0, &[0.0, -l], &[3.0, 0.0])?[1];
        assert!((found - 9.0 / l).abs() < 1e-12);
    }
    let terms = work.terms(0.0, &[0.0, -4.0], &[3.0, 0.0])?;
    assert_eq!(terms.mass, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(terms.force, [0.0, -9.81]);
    assert_eq!(terms.nonideal, [0.0, 0.0]);
    assert_eq!(terms.jacobian, [0.0, -8.0]);
    assert_eq!(terms.bias, [-18.0]);
    // A direction without mass has no acceleration.
    let model = parsed("coord x, y\nkinetic x'^2/2");
    let error = model.compile()?.work().accelerations(0.0, &[0.0; 2], &[0.0; 2]).err();
    assert!(error.is_some_and(|e| matches!(e.kind(), ErrorKind::NoMotion(_))));
    // Branches follow the state; a model in momenta takes velocities too.
    let model = parsed("coord x\nkinetic x'^2/2\nforce x: -sign(x')*(2 + abs(x))");
    let mut work = model.compile()?.work();
    assert_eq!(work.accelerations(0.0, &[1.0], &[1.0])?, [-3.0]);
    assert_eq!(work.accelerations(0.0, &[-2.0], &[-1.0])?, [4.0]);
    let model = parsed("param k = 3\ncoord x\nhamiltonian p_x^2/4 + k*x^2");
    let mut work = model.compile()?.work();
    assert!((work.accelerations(0.0, &[1.0], &[0.3])?[0] + 3.0).abs() < 1e-14);
    Ok(())
}

#[test]
fn threads_share_what_is_compiled() -> Result<(), Error> {
    let system = parsed(PENDULUM).compile()?;
    let found: Vec<Result<f64, Error>> = std::thread::scope(|scope| {
        let one = |k: u32| {
            let system = &system;
            move || -> Result<f64, Error> {
                let l = f64::from(k);
                let mut work = system.work();
                work.set("l", l)?;
                Ok(work.accelerations(0.0, &[0.0, -l], &[1.0, 0.0])?[1])
            }
        };
        let handles: Vec<_> = (1..=4).map(|k| scope.spawn(one(k))).collect();
        handles.into_iter().map(|h| h.join().expect("no panic")).collect()
    });
    for (k, found) in (1..=4).zip(found) {
        assert!((found? - 1.0 / f64::from(k)).abs() < 1e-14);
    }
    Ok(())
}

/// On every page of the gallery, whatever happens on it (events, switches, singular positions,
/// dependent rows): states between samples are those of a run with samples there, and what is
/// compiled gives their accelerations.
#[test]
fn the_gallery_between_its_samples() -> Result<(), Error> {
    let mut compared = 0;
    for page in dalembert::gallery::pages() {
        let Ok(model) = dalembert::open(&format!("gallery:{}", page.name)) else { continue };
        let run = || model.simulate(..).verify(false).partial(true).every(1e9);
        let Ok(motion) = run().run() else { continue };
        let report = motion.report();
        let (from, to) = (report.start.state.t, report.last.as_ref().map_or(0.0, |l| l.state.t));
        let times = (1..20).map(|k| from + (to - from) * (f64::from(k) + 0.123) / 20.2);
        let sampled = run().at(times).dense(false).run()?;
        // Contacts and frictions have other equations in each phase.
        let mut work = match model.system.wants_phase() {
            true => None,
            false => Some(model.compile()?.work()),
        };
        // Coordinates that hardly move are compared with those that do.
        let floor = |sizes: &[f64]| -> Vec<f64> {
            let largest = sizes.iter().fold(0f64, |m, s| m.max(*s));
            sizes.iter().map(|s| s.max(1e-3 * largest).max(1e-12)).collect()
        };
        let (sizes, speeds) = (floor(&report.sizes.position), floor(&report.sizes.speed));
        for s in sampled.samples() {
            // At an event there are two states.
            let is_at = |t: &f64| (t - s.t).abs() < 1e-9;
            let impacts = report.phases.iter().flat_map(|phases| &phases.impact_times);
            if report.event_log.iter().map(|h| &h.t).chain(impacts).any(is_at) {
                continue;
            }
            let (there, here) = (&s.observation().state, motion.at(s.t)?);
            let here = here.state();
            let within = 100.0 * report.tolerance;
            let apart = |a: &[f64], b: &[f64], sizes: &[f64]| {
                let pairs = a.iter().zip(b).zip(sizes);
                pairs.fold(0f64, |most, ((a, b), size)| most.max((a - b).abs() / size))
            };
            // States have no velocities.
            let q = apart(&there.q, &here.q, &sizes);
            let v = apart(&there.velocity, &here.velocity, &speeds);
            assert!(q <= within && v <= within, "{} at {}: {q:.1e} {v:.1e}", page.name, s.t);
            let Some(work) = &mut work else { continue };
            let found = work.accelerations(s.t, &there.q, &there.velocity)?;
            let exact = &s.observation().accelerations;
            let largest = exact.iter().fold(0f64, |m, a| m.max(a.abs()));
            for (a, b) in found.iter().zip(exact) {
                // Next to singular positions digits are lost.
                assert!((a - b).abs() <= 1e-8 * largest, "{} at {}: {a} {b}", page.name, s.t);
            }
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
    Ok(())
}

#[path = "../examples/pendulum.rs"]
mod pendulum;
#[path = "../examples/sweep.rs"]
mod sweep;

#[test]
fn examples_run() -> Result<(), Error> {
    pendulum::main()?;
    sweep::main()
}

#[test]
fn the_readme_shows_the_pendulum() {
    let (page, code) = (include_str!("../README.md"), include_str!("../examples/pendulum.rs"));
    let shown = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    let main = code.find("fn main").map(|at| &code[at..]).unwrap_or_default();
    assert_eq!(shown, Some(format!("use dalembert::prelude::*;\n\n{main}").as_str()));
}
