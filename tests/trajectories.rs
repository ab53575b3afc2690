//! The reference trajectories of `tests/data/oracles.json`, integrated in every
//! formulation that applies: end values and integrals of the motion.

mod support;

use dalembert::expr::ExprId;
use dalembert::formulations::{ALL, by_name};
use dalembert::simulate::FieldError;
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::run::{self, RunError, RunOptions, RunReport};
use dalembert::simulate::{Refusal, Setting, Start};
use serde_json::Value;
use std::ops::ControlFlow;
use support::oracle_model::{error, model, model_text, name, named, numbers, of_kind, state};

/// Local error of the runs.
const TOLERANCE: f64 = 1e-13;
/// What the file asks for is 1e-9.
const BOUND: f64 = 1e-11;

/// What the values of the file are in the variables of the model: lines to add, then for
/// each key of `final` and of `invariants` the expressions.
struct Meaning {
    lines: &'static str,
    of: &'static [(&'static str, &'static [&'static str])],
}

fn meaning(oracle: &str) -> Meaning {
    let (lines, of): (&str, &'static [(&str, &[&str])]) = match oracle {
        "T-000-4.1" => ("", &[("H", &["energy"]), ("L_z", &["m*(x*y' - y*x')"])]),
        "T-000-4.2" => ("", &[("px_sqrt(1+z^4)", &["m*x'*sqrt(1 + z^4)"]), ("H", &["energy"])]),
        "T-000-4.3" => (
            "let d = [x1 - x2, y1 - y2]",
            &[("L", &["norm(d)"]), ("thetadot", &["cross(d, d')/dot(d, d)"])],
        ),
        "T-000-4.4" => ("", &[("H", &["energy"])]),
        "T-001-ex3-case5.1" => {
            ("", &[("x,q2", &["x", "q2"]), ("xd,q2d", &["x'", "q2'"]), ("E", &["energy"])])
        }
        "T-001-ex3-case5.2" => (
            "",
            &[
                ("x,q1,q2", &["x", "q1", "q2"]),
                ("xd,q1d,q2d", &["x'", "q1'", "q2'"]),
                ("omega", &["sqrt(-(x'' + q2'')/(x + q2))"]),
            ],
        ),
        "T-002-x1-heavy-top" => {
            ("", &[("s", &["s1", "s2", "s3"]), ("E", &["energy"]), ("p_phi=k.Iw", &["p_ph"])])
        }
        "T-002-x2-rolling-disk" => (
            "",
            &[
                ("x,y,phi,theta,psi", &["x", "y", "ph", "th", "ps"]),
                ("w_h,w_d,w_n", &["s1", "s2", "s3"]),
                ("E", &["energy"]),
            ],
        ),
        // The time of the rank drop, from the closed form z' = z'(0) - g t/2.
        "T-002-x5-appell-hamel" => ("", &[("rank_drop_time", &["t + 2*z'/g"])]),
        "T-003-2.1" => ("", &[("E", &["energy"]), ("L_z", &["m*(x*y' - y*x')"])]),
        "T-003-2.2" => ("", &[("theta", &["atan2(x, y)"]), ("E/m", &["energy/m"])]),
        "T-003-2.3" => (
            "let u = x'*cos(ph) + y'*sin(ph)",
            &[("u,phd", &["u", "ph'"]), ("V", &["sqrt(u^2 + l^2*ph'^2/2)"])],
        ),
        "T-003-2.4" => ("", &[("theta,thetadot", &["th", "th'"])]),
        // Past the bottom, the angle from the top is above π.
        "T-003-2.5" => (
            "let u = x*cos(Om*t) + y*sin(Om*t)",
            &[
                ("theta,thetadot", &["atan2(u, z) + 2*pi", "(u'*z - u*z')/r^2"]),
                ("xyz", &["x", "y", "z"]),
                ("E_jacobi", &["energy - Om*m*(x*y' - y*x')"]),
            ],
        ),
        "T-003-2.6" => (
            "",
            &[
                ("phi,theta", &["ph", "th"]),
                ("thetad", &["th'"]),
                ("beta", &["p_ph"]),
                ("E", &["energy"]),
            ],
        ),
        "T-004-2.5" => ("", &[("p_tilde1", &["p_x + y*p_z", "p_y"]), ("H_r", &["energy"])]),
        "T-004-2.6" => (
            "",
            &[
                ("p_tilde", &["p_ph", "p_th + p_x*cos(ph) + p_y*sin(ph)"]),
                ("H_r", &["energy"]),
                ("p_phi", &["p_ph"]),
            ],
        ),
        other => panic!("no meaning for {other}"),
    };
    Meaning { lines, of }
}

/// The model with an observation for every value, and what they are compared with:
/// position, velocity and momentum as they are, the rest by name.
fn observed(oracle: &Value) -> (String, Vec<(String, Vec<f64>)>) {
    let meaning = meaning(name(oracle));
    let of_state = named(oracle["model_of"].as_str().expect("a model"));
    let mut text = format!("{}\n{}\n", model_text(&of_state), meaning.lines);
    let expected = &oracle["expected"];
    let mut values = Vec::new();
    for group in ["final", "invariants"] {
        for (key, value) in expected[group].as_object().into_iter().flatten() {
            let known = meaning.of.iter().find(|m| m.0 == key);
            for (at, expression) in known.iter().flat_map(|m| m.1).enumerate() {
                text += &format!("observe o{}_{at} = {expression}\n", values.len());
            }
            assert!(
                known.is_some() || ["q", "qdot", "p"].contains(&key.as_str()),
                "{}: what is {key}?",
                name(oracle)
            );
            values.push((key.clone(), numbers(value)));
        }
    }
    (text, values)
}

/// Runs an oracle's model from its state in a formulation.
fn travel(
    setting: &Setting,
    oracle: &Value,
    formulation: &str,
    end: f64,
) -> Result<RunReport, RunError> {
    travel_by("auto", setting, oracle, formulation, end)
}

fn travel_by(
    method: &str,
    setting: &Setting,
    oracle: &Value,
    formulation: &str,
    end: f64,
) -> Result<RunReport, RunError> {
    let of_state = named(oracle["model_of"].as_str().expect("a model"));
    let start = Start {
        state: state(&of_state, setting),
        changed: Vec::new(),
        free_positions: 0,
        free_velocities: 0,
    };
    let mut options = RunOptions::of_model(setting);
    options.formulation = by_name(formulation).expect("a formulation");
    options.method = method.to_owned();
    options.end = end;
    options.every = Some(f64::MAX);
    options.tolerance = TOLERANCE;
    run::run_from(setting, &options, start, &mut |_| ControlFlow::Continue(()))
}

/// The worst error of a run's end.
fn compare(setting: &Setting, report: &RunReport, expected: &[(String, Vec<f64>)]) -> f64 {
    let system = &setting.model.system;
    let last = report.last.as_ref().expect("a last state");
    let table = last.table(system);
    let mut worst = 0f64;
    for (at, (key, values)) in expected.iter().enumerate() {
        let own = format!("o{at}_");
        let roots: Vec<ExprId> =
            system.observes.iter().filter(|o| o.name.starts_with(&own)).map(|o| o.value).collect();
        let found = match key.as_str() {
            _ if !roots.is_empty() => setting.numbers(&roots, &table),
            "q" => last.state.q.clone(),
            "qdot" => last.state.velocity.clone(),
            _ => last.state.momentum.clone(),
        };
        worst = worst.max(error(&found, values));
    }
    worst
}

#[test]
fn every_trajectory_in_every_formulation() {
    let trajectories = of_kind("trajectory");
    assert_eq!(trajectories.len(), 17);
    let (mut reached, mut worst) = (0, 0f64);
    for oracle in &trajectories {
        let (text, expected) = observed(oracle);
        let model = model(&text);
        let setting = Setting::new(&model).expect("values");
        let end = numbers(&oracle["t1"])[0];
        let mut own = 0;
        for formulation in ALL.iter().map(|f| f.name()) {
            let place = format!("{} by {formulation}", name(oracle));
            let report = match travel(&setting, oracle, formulation, end) {
                Ok(report) => report,
                Err(RunError::Formulation(why)) => {
                    assert!(!why.is_empty(), "{place}: no reason");
                    println!("{place}: does not apply");
                    continue;
                }
                // Momenta do not determine velocities where M is singular.
                Err(RunError::Refused(why @ Refusal::SingularMass { .. })) => {
                    println!("{place}: {why}");
                    continue;
                }
                Err(other) => panic!("{place}: {other:?}"),
            };
            if report.end != End::Finished {
                // The one motion through states where M is singular, by all momenta.
                assert_eq!(place, "T-003-2.4 by hamilton", "{:?}", report.end);
                continue;
            }
            let off = compare(&setting, &report, &expected);
            println!("{place}: {off:.1e} in {} steps", report.statistics.steps);
            assert!(off <= BOUND, "{place}: off by {off:e}");
            (own, worst) = (own + 1, worst.max(off));
        }
        assert!(own >= 3, "{}: only {own} formulations", name(oracle));
        reached += own;
    }
    println!("{reached} trajectories, the worst off by {worst:.1e}");
    assert!(reached >= 81, "only {reached}");
}

/// Hamilton's equations do not exist where sin θ = 0: a run that evaluates them there ends and says
/// why, and what it has until then is right. Series from before it lead across.
#[test]
fn momenta_end_where_the_mass_matrix_is_singular() {
    let oracle = named("T-003-2.4");
    let (text, _) = observed(&oracle);
    let model = model(&text);
    let setting = Setting::new(&model).expect("values");
    let report = travel_by("dop853", &setting, &oracle, "hamilton", 1.0).expect("it begins");
    // No velocities behind the momenta, or steps that come to a standstill before it.
    let why = match &report.end {
        End::Failed(Failure::Field(why @ (FieldError::NoMotion(_) | FieldError::Legendre))) => {
            why.to_string()
        }
        End::Failed(Failure::StepTooSmall { step }) => format!("steps of {step:e}"),
        other => panic!("{other:?}"),
    };
    let angle = report.last.as_ref().map_or(f64::NAN, |last| last.state.q[1]);
    assert!((angle - std::f64::consts::PI).abs() < 1e-4, "it ended at {angle}: {why}");
    // The energy, which it conserves, is right at every step until then.
    assert!(report.certificate.invariants[0].1 < 1e-9, "{:?}", report.certificate);
}
