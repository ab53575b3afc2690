//! Projection on the constraints against reference values, by the way a user asks
//! for it: `=` for what is held, `~` for what may move.

mod support;

use dalembert::simulate::normal_form::Matrix;
use dalembert::simulate::points::nearest::NearestPoint;
use dalembert::simulate::setting::Table;
use dalembert::simulate::start::{Start, StartError, start};
use dalembert::simulate::{Numbers, Setting};
use dalembert::{Diagnostic, Model, derive};
use serde_json::Value;
use support::oracle_model::*;

const TOLERANCE: f64 = 1e-12;

/// `model_text` with a start: positions held, velocities held unless they are free.
fn text(oracle: &Value) -> String {
    let state = &oracle["state"];
    let free = numbers(&state["free_velocity_components"]);
    let mut items = Vec::new();
    for (i, coordinate) in strings(&oracle["model"]["q"]).iter().enumerate() {
        let (q, v) = (strings(&state["q"])[i], strings(&state["qdot"])[i]);
        let relation = if free.contains(&(i as f64)) { "~" } else { "=" };
        items.push(format!("{coordinate} = {q}, {coordinate}' {relation} {v}"));
    }
    let t = state["t"].as_str().unwrap_or("0");
    format!("{}\nstart {}\nrun t = {t}..{t} + 1", model_text(oracle), items.join(", "))
}

fn found(text: &str) -> Start {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    match start(&setting) {
        Ok(start) => start,
        Err(error) => panic!("{text}\n{error:?}"),
    }
}

fn clash(model: &Model) -> Diagnostic {
    let setting = Setting::new(model).expect("values");
    match start(&setting) {
        Err(StartError::Clash(faults)) => faults.into_iter().next().expect("a fault"),
        other => panic!("a clash was expected, not {other:?}"),
    }
}

/// The text a span covers.
fn covered(model: &Model, span: dalembert::model::span::Span) -> &str {
    &model.sources.get(span.source).text[span.start as usize..span.end as usize]
}

#[test]
fn velocities_nearest_in_the_mass_metric() {
    let mut compared = 0;
    for oracle in of_kind("projection_velocity") {
        let expected = &oracle["expected"];
        if numbers(&expected["residual_after"])[0] != 0.0 {
            continue;
        }
        let text = text(&oracle);
        let model = model(&text);
        let start = found(&text);
        let state = &start.state;
        assert_eq!(state.q, numbers(&oracle["state"]["q"]), "what is held is held to the letter");
        for (key, found) in [("qdot_projected", &state.velocity), ("p_projected", &state.momentum)]
        {
            let off = error(found, &numbers(&expected[key]));
            assert!(off <= TOLERANCE, "{}: {key} is off by {off:e}", name(&oracle));
        }
        let free = numbers(&oracle["state"]["free_velocity_components"]);
        let given = numbers(&oracle["state"]["qdot"]);
        for i in (0..given.len()).filter(|&i| !free.contains(&(i as f64))) {
            assert_eq!(state.velocity[i], given[i], "{}: moved", name(&oracle));
        }
        // ‖δq̇‖ in the metric, and the freedom that is left: free components less rank.
        let setting = Setting::new(&model).expect("values");
        let lagrange = derive(&model, Some("lagrange")).expect("applies");
        let numbers_at = Numbers::new(&setting, &lagrange, state).expect("numbers");
        let n = given.len();
        let delta: Vec<f64> = state.velocity.iter().zip(&given).map(|(a, b)| a - b).collect();
        let square: f64 =
            (0..n * n).map(|at| delta[at / n] * numbers_at.metric[at] * delta[at % n]).sum();
        let off = error(&[square.sqrt()], &numbers(&expected["delta_M_norm"]));
        assert!(off <= TOLERANCE, "{}: ‖δ‖ is off by {off:e}", name(&oracle));
        let rank = if name(&oracle).starts_with("P-003-2.3") { 1 } else { 2 };
        assert_eq!(start.free_velocities, free.len() - rank, "{}", name(&oracle));
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// The same projection asked for in momenta: the metrics are one.
#[test]
fn momenta_nearest_in_the_inverse_metric() {
    let oracle = named("P-000-4.3-velocity-redundant");
    let given = numbers(&oracle["state"]["qdot"]);
    let text = format!(
        "coord x1, y1, x2, y2\nparam m1 = 2, m2 = 3, L = 1.25\n\
         hamiltonian (p_x1^2 + p_y1^2)/(2*m1) + (p_x2^2 + p_y2^2)/(2*m2)\n\
         constraint rod: (x1 - x2)^2 + (y1 - y2)^2 = L^2\n\
         constraint a: (x1 - x2)*p_x1 + (y1 - y2)*p_y1 = 0\n\
         constraint b: (x1 - x2)*p_x2 + (y1 - y2)*p_y2 = 0\n\
         start x1 = 1.25, y1 = 0.75, x2 = 0.5, y2 = -0.25\n\
         start p_x1 ~ {}, p_y1 ~ {}, p_x2 ~ {}, p_y2 ~ {}",
        2.0 * given[0],
        2.0 * given[1],
        3.0 * given[2],
        3.0 * given[3]
    );
    let by_momenta = found(&text);
    // Guesses of velocities lead to the same state.
    let at = text.find("start p_x1").expect("it is there");
    let by_velocities = found(&format!(
        "{}start x1' ~ {}, y1' ~ {}, x2' ~ {}, y2' ~ {}",
        &text[..at],
        given[0],
        given[1],
        given[2],
        given[3]
    ));
    for start in [by_momenta, by_velocities] {
        for (key, found) in
            [("qdot_projected", &start.state.velocity), ("p_projected", &start.state.momentum)]
        {
            let off = error(found, &numbers(&oracle["expected"][key]));
            assert!(off <= TOLERANCE, "{key} is off by {off:e}");
        }
    }
}

#[test]
fn positions_nearest_in_the_mass_metric() {
    for (name, model, coordinates) in [
        (
            "P-rod-position",
            "coord x1, y1, x2, y2\nkinetic m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)\n\
             constraint rod: ((x1 - x2)^2 + (y1 - y2)^2 - L^2)/2 = 0",
            ["x1", "y1", "x2", "y2"].as_slice(),
        ),
        (
            "P-sphere-position",
            "coord x, y, z\nkinetic m/2*(x'^2 + y'^2 + z'^2)\n\
             constraint sphere: x^2 + y^2 + z^2 = L^2",
            &["x", "y", "z"],
        ),
    ] {
        let oracle = named(name);
        let guesses: Vec<String> = coordinates
            .iter()
            .zip(strings(&oracle["state"]["q"]))
            .map(|(coordinate, q)| format!("{coordinate} ~ {q}"))
            .collect();
        let parameters = oracle["params"].as_object().expect("parameters");
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("param {name} = {}", value.as_str().unwrap_or("0")))
            .collect();
        let start =
            found(&format!("{model}\n{}\nstart {}", parameters.join("\n"), guesses.join(", ")));
        let off = error(&start.state.q, &numbers(&oracle["expected"]["q_projected"]));
        assert!(off <= TOLERANCE, "{name} is off by {off:e}");
        assert_eq!(start.free_positions, coordinates.len() - 1);
        assert_eq!(start.changed.len(), coordinates.len(), "{:?}", start.changed);
    }
}

/// Only ph' may change, and the constraint does not hold it: what is left over is
/// the residual of the constraint as written, with the velocities as given.
#[test]
fn what_cannot_be_met_is_reported_with_what_is_left() {
    let oracle = named("P-003-2.3-velocity-infeasible");
    let residual = numbers(&oracle["expected"]["residual_after"])[0];
    let written = text(&oracle);
    let loaded = model(&written);
    let fault = clash(&loaded);
    assert_eq!(fault.code.name(), "contradictory-start");
    assert!(fault.message.contains(&format!("{residual:.6} is left over")), "{}", fault.message);
    let labels: Vec<(&str, &str)> =
        fault.labels.iter().map(|l| (covered(&loaded, l.span), l.text.as_str())).collect();
    assert!(labels[0].0.starts_with("constraint row0"), "{labels:?}");
    assert_eq!(labels[0].1, format!("`row0`: -{residual:.6} left over"));
    assert_eq!(labels[1..], [("x'", "held"), ("y'", "held")], "{labels:?}");
    // The same velocities by equations that are no assignments: held all the same.
    let mixed =
        written.replace("x' = 1.0", "x' + y' = 1.25").replace("y' = 0.25", "x' - y' = 0.75");
    let loaded = model(&mixed);
    let fault = clash(&loaded);
    assert!(fault.message.contains(&format!("{residual:.6} is left over")), "{}", fault.message);
    let labels: Vec<&str> = fault.labels.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(labels, [&format!("`row0`: -{residual:.6} left over"), "this", "this"]);
}

/// The same to the last digit, from the machinery itself.
#[test]
fn the_residual_left_over_has_all_its_digits() {
    let oracle = named("P-003-2.3-velocity-infeasible");
    let model = model(&text(&oracle));
    let setting = Setting::new(&model).expect("values");
    let system = &model.system;
    let (q, v) = (numbers(&oracle["state"]["q"]), numbers(&oracle["state"]["qdot"]));
    let mut table = Table::default();
    table.set(dalembert::expr::Symbol::TIME, 0.0);
    table.set_all(&system.positions(), &q);
    table.set_all(&system.velocities()[..2], &v[..2]);
    let lagrange = derive(&model, Some("lagrange")).expect("applies");
    let problem = NearestPoint {
        nearest: true,
        setting: &setting,
        table,
        unknowns: vec![system.velocities()[2]],
        guess: vec![v[2]],
        equations: vec![lagrange.velocity_residuals[0].1],
        metric: &|_| Some(Matrix::dense(vec![1.0], 1)),
        scales: Default::default(),
    };
    let unmet = problem.solve().expect_err("it cannot be met");
    let off = error(&[unmet.residuals[0].abs()], &numbers(&oracle["expected"]["residual_after"]));
    assert!(off <= TOLERANCE, "off by {off:e}");
    assert_eq!((unmet.x, unmet.involved), (vec![v[2]], vec![true]), "q̇ is unchanged");
}
