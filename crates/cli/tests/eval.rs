//! `dal eval` as a user meets it: the shape of its JSON, what it says where a route
//! does not apply, the state it evaluates at, and how it ends.

mod support;

use serde_json::{Value, json};
use support::{PENDULUM, close, dal, json, keys, text};

#[test]
fn the_shape_of_the_object() {
    let (status, value) = json(&["-"], PENDULUM);
    assert_eq!(status, 0);
    assert_eq!(value["system"], "Pendulum");
    assert_eq!(value["t"], 0.0);
    assert_eq!(keys(&value["state"]), ["x", "y", "x'", "y'"]);
    assert!(close(&value["state"]["y"], -1.6));
    assert_eq!(value["agreement"], Value::Null);
    let [result] = value["results"].as_array().expect("a list").as_slice() else { panic!() };
    for (key, expected) in [
        ("formulation", json!("lagrange")),
        ("elimination", json!("null-space")),
        ("status", json!("ok")),
        ("motion", json!("unique")),
        ("undetermined", json!([])),
        ("indeterminate", json!([])),
    ] {
        assert_eq!(result[key], expected, "{key}");
    }
    let rank = &result["rank"];
    for (key, expected) in
        [("jacobian", 1), ("constraints", 1), ("metric_and_jacobian", 2), ("coordinates", 2)]
    {
        assert_eq!(rank[key], expected, "{key}");
    }
    assert_eq!(keys(&result["rates"]), ["x''", "y''"]);
    assert_eq!(keys(&result["accelerations"]), ["x", "y"]);
    assert_eq!(keys(&result["constraint_force"]), ["x", "y"]);
    assert_eq!(keys(&result["multipliers"]), ["rod"]);
    assert!(result["gauss"]["residual"].as_f64().is_some_and(|r| r < 1e-14));
    // At rest: λ = m g y/(2 l²), Qᶜ = 2 λ (x, y).
    let lambda = 9.81 * -1.6 / 8.0;
    assert!(close(&result["multipliers"]["rod"], lambda), "{result}");
    assert!(close(&result["constraint_force"]["x"], 2.4 * lambda), "{result}");
    assert!(close(&result["accelerations"]["x"], 2.4 * lambda), "{result}");
    // How the start was made consistent.
    assert_eq!(keys(&value["start"]["changed"]), ["y"]);
    assert_eq!(value["start"]["free_positions"], 0);
    assert_eq!(value["start"]["free_velocities"], 1);
}

#[test]
fn all_routes_at_once() {
    let all = ["-", "--formulation", "all", "--elimination", "all"];
    let (status, value) = json(&all, PENDULUM);
    assert_eq!(status, 0);
    let results = value["results"].as_array().expect("a list");
    let pairs: Vec<(&str, &str)> = results
        .iter()
        .map(|r| (r["formulation"].as_str().unwrap(), r["elimination"].as_str().unwrap()))
        .collect();
    let formulations = ["lagrange", "poincare", "hamilton", "maggi", "bracket", "routh"];
    // The literal ones are not part of `all`.
    let eliminations = ["multipliers", "udwadia-kalaba", "null-space", "singular-mass"];
    let expected: Vec<(&str, &str)> =
        formulations.iter().flat_map(|&f| eliminations.iter().map(move |&e| (f, e))).collect();
    assert_eq!(pairs, expected);
    assert!(value["agreement"].as_f64().is_some_and(|a| a < 1e-13), "{}", value["agreement"]);
    for result in results {
        let is_routh = result["formulation"] == "routh";
        assert_eq!(result["status"] == "ok", !is_routh, "{result}");
        if is_routh {
            let words = result["status"].as_str().expect("words");
            assert!(words.contains("`x` is absent from L") && words.contains("`rod`"), "{words}");
            for key in ["motion", "rank", "rates", "accelerations", "constraint_force", "gauss"] {
                assert_eq!(result[key], Value::Null, "{key}");
            }
        }
    }
    // Rates are in each formulation's own variables.
    let rates = |name: &str| {
        let found = results.iter().find(|r| r["formulation"] == name).expect("it is there");
        keys(&found["rates"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rates("hamilton"), ["p_x'", "p_y'"]);
    assert_eq!(rates("maggi").len(), 1);
    let (_, page, _) = text(&all, PENDULUM);
    assert!(page.contains("largest relative difference"), "{page}");
    assert_eq!(page.matches("Routh's equations do not apply").count(), 1, "said once: {page}");
}

#[test]
fn literal_eliminations_state_their_condition() {
    for name in ["udwadia-kalaba-literal", "singular-mass-literal"] {
        let (status, value) = json(&["-", "--elimination", name], PENDULUM);
        assert_eq!(status, 0);
        assert!(value["results"][0]["condition"].as_f64().is_some_and(|c| c >= 1.0), "{value}");
    }
    let (_, value) = json(&["-"], PENDULUM);
    assert!(value["results"][0].get("condition").is_none());
}

#[test]
fn exit_status_zero_needs_one_result() {
    let (status, value) = json(&["-", "--formulation", "routh"], PENDULUM);
    assert_eq!((status, value["results"][0]["motion"].is_null()), (3, true));
    let (status, page, says) = text(&["-", "--formulation", "routh"], PENDULUM);
    assert_eq!((status, says.as_str()), (3, ""));
    assert!(page.contains("does not apply"), "{page}");
    // No numbers at all: a force that is infinite.
    let singular = "coord x\nkinetic x'^2/2\npotential 1/x\n";
    let (status, value) = json(&["-", "--at", "x=0"], singular);
    assert_eq!((status, &value["results"]), (3, &json!([])));
    assert!(value["error"].as_str().is_some_and(|e| e.contains("force")), "{value}");
    let (status, out, says) = text(&["-", "--at", "x=0"], singular);
    assert_eq!((status, out.as_str()), (3, ""));
    assert!(says.starts_with("error: "), "{says}");
}

#[test]
fn faults_of_the_model_end_with_one() {
    let unset = PENDULUM.replace("m = 1", "m");
    for (arguments, input, code) in [
        (&["-"][..], "coord x\nkinetic y'^2\n", "unknown-name"),
        (&["-"], &unset, "parameter-without-value"),
        (&["-", "--set", "l=0.5"], PENDULUM, "contradictory-start"),
        (&["-", "--set", "k=1"], PENDULUM, "unknown-override"),
        (&["-", "--at", "x=1, z=2"], PENDULUM, "unknown-name"),
        (&["-", "--at", "m=1"], PENDULUM, "check-syntax"),
        (&["-", "--at", "x=1, x=2"], PENDULUM, "defined-twice"),
        (&["-", "--at", "x=1,,"], PENDULUM, "syntax"),
        (&["no-such-file.dal"], "", "unreadable-file"),
    ] {
        let (status, value) = json(arguments, input);
        assert_eq!(status, 1, "{arguments:?}");
        assert_eq!(value["verdict"], "faults", "{arguments:?}");
        assert_eq!(value["diagnostics"][0]["code"], code, "{value}");
        let (status, out, says) = text(arguments, input);
        assert_eq!((status, out.as_str()), (1, ""), "{arguments:?}");
        assert!(says.contains(&format!("error[{code}]")), "{says}");
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    for arguments in [
        &["-", "--formulation", "newton"][..],
        &["-", "--elimination", "svd"],
        &["-", "--ignore", "z"],
        &["-", "--at"],
        &[],
    ] {
        let (status, out, says) = text(arguments, PENDULUM);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}");
        assert!(!says.is_empty());
    }
}

#[test]
fn a_value_that_is_missing_can_be_given() {
    let unset = PENDULUM.replace("m = 1", "m");
    let (status, value) = json(&["-", "--set", "m=3"], &unset);
    assert_eq!(status, 0);
    assert!(close(&value["results"][0]["multipliers"]["rod"], 3.0 * 9.81 * -1.6 / 8.0));
}

#[test]
fn exactly_the_state_asked_for() {
    let (status, value) = json(&["-", "--at", "x=1, y=1, x'=0.5, t=2"], PENDULUM);
    assert_eq!((status, &value["t"]), (0, &json!(2.0)));
    assert_eq!(value["state"], json!({"x": 1.0, "y": 1.0, "x'": 0.5, "y'": 0.0}));
    assert_eq!(value["residuals"]["rod"], json!({"position": -2.0, "velocity": 1.0}));
    assert!(value.get("start").is_none(), "no start was sought: {value}");
    let (_, page, _) = text(&["-", "--at", "x=1, y=1, x'=0.5"], PENDULUM);
    assert!(
        page.contains("this state is off `rod` by -2.000e0, the rate of `rod` by 1.000e0"),
        "{page}"
    );
    // On the constraints nothing is said.
    let (_, page, _) = text(&["-", "--at", "x=1.2, y=-1.6, x'=1.6, y'=1.2"], PENDULUM);
    assert!(!page.contains("off"), "{page}");
    // The bracket lives on the constraints, the others do not.
    let (status, value) = json(
        &["-", "--at", "x=1, y=1, x'=0.5", "--formulation", "all", "--elimination", "null-space"],
        PENDULUM,
    );
    assert_eq!(status, 0);
    for result in value["results"].as_array().expect("a list") {
        let status = result["status"].as_str().expect("words");
        match result["formulation"].as_str().expect("a name") {
            "bracket" => assert!(status.contains("lives on the constraints"), "{status}"),
            "routh" => assert!(status.contains("Routh"), "{status}"),
            _ => assert_eq!(status, "ok"),
        }
    }
    assert!(value["agreement"].as_f64().is_some_and(|a| a < 1e-13));
    // Momenta say the same as the velocities behind them.
    let (_, value) = json(&["-", "--at", "x=1, p_x=1", "--set", "m=2"], PENDULUM);
    assert_eq!(value["state"]["x'"], 0.5);
}

#[test]
fn coordinates_to_ignore() {
    let page = "gallery:greenwood-hoop-free";
    let (status, value) = json(&[page, "--formulation", "routh", "--ignore", "phi"], "");
    assert_eq!(status, 0);
    assert_eq!(keys(&value["results"][0]["rates"]), ["theta''", "p_phi'"]);
    assert_eq!(value["results"][0]["rates"]["p_phi'"], 0.0);
    let (status, value) = json(&[page, "--formulation", "routh", "--ignore", "theta"], "");
    assert_eq!(status, 3);
    let words = value["results"][0]["status"].as_str().expect("words");
    assert!(words.contains("cannot ignore `theta`") && words.contains("L depends on it"));
    let (status, _, says) = text(&[page, "--formulation", "routh", "--ignore", "psi"], "");
    assert_eq!(status, 2);
    assert!(says.contains("`psi` is no coordinate"), "{says}");
}

#[test]
fn models_given_by_h_show_momenta() {
    let model = "param m = 2\ncoord x\nhamiltonian p_x^2/(2*m) + x^2\nstart x = 1, x' = 3\n";
    let (status, value) = json(&["-"], model);
    assert_eq!(status, 0);
    assert_eq!(value["state"], json!({"x": 1.0, "x'": 3.0, "p_x": 6.0}));
    assert_eq!(value["results"][0]["formulation"], "hamilton");
    assert_eq!(value["results"][0]["rates"], json!({"p_x'": -2.0}));
    assert_eq!(value["results"][0]["accelerations"], json!({"x": -1.0}));
}

const BLOCK: &str = "system Block\nparam mu = 0.3, g = 9.81, F = 1\ncoord x, y\n\
    kinetic (x'^2 + y'^2)/2\npotential g*y\nforce x: F\n\
    contact floor: y >= 0, sliding x', friction mu\ncontact wall: 2 >= x\nobserve floor.mode\n";

/// Contacts and friction are evaluated in the phase of the state, and the answer says which.
#[test]
fn a_state_is_evaluated_in_its_phase() {
    let (status, value) = json(&["-"], BLOCK);
    assert_eq!(status, 0);
    assert_eq!(value["phase"], serde_json::json!({"floor": "sticks", "wall": "open"}));
    assert_eq!(keys(&value["results"][0]["multipliers"]), ["floor", "floor.slip"]);
    assert!(close(&value["results"][0]["multipliers"]["floor"], 9.81));
    assert!(close(&value["results"][0]["multipliers"]["floor.slip"], -1.0));
    let (_, value) = json(&["-", "--set", "F=5"], BLOCK);
    assert_eq!(value["phase"]["floor"], "slips");
    assert!(close(&value["results"][0]["accelerations"]["x"], 5.0 - 0.3 * 9.81));
    let (_, value) = json(&["-", "--at", "y=1, x=1"], BLOCK);
    assert_eq!(value["phase"], serde_json::json!({"floor": "open", "wall": "open"}));
    let (_, value) = json(&["-", "--at", "y'=-2"], BLOCK);
    assert!(close(&value["impact"]["impulses"]["floor"], 2.0));
    assert!(close(&value["impact"]["energy"], -2.0));
    assert!(value["state"]["y'"].as_f64().is_some_and(|v| v.abs() < 1e-15));
    let (status, _, says) = text(&["-", "--at", "y=-1"], BLOCK);
    assert_eq!(status, 3);
    assert!(says.contains("error[start-penetrates]"), "{says}");
    let (_, shown, _) = text(&["-"], BLOCK);
    assert!(shown.contains("phase: floor sticks, wall open"), "{shown}");
}

/// The equations of the phase that is asked for.
#[test]
fn a_phase_is_derived() {
    let derived = |phase: &str| {
        let output = dal(&["derive", "-", "--format", "json", "--phase", phase], BLOCK);
        let status = output.status.code().expect("a status");
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        (status, serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default(), says)
    };
    let names = |value: &Value| -> Vec<String> {
        let list = value["constraints"].as_array().cloned().unwrap_or_default();
        list.iter().map(|c| c["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(names(&derived("start").1), ["floor", "floor.slip"]);
    assert_eq!(names(&derived("floor open").1), ["wall"]);
    assert_eq!(names(&derived("floor sticks").1), ["floor", "wall", "floor.slip"]);
    assert!(names(&derived("floor open, wall open").1).is_empty());
    for wrong in ["floor", "roof open", "wall sticks", "floor rolls"] {
        let (status, _, says) = derived(wrong);
        assert_eq!(status, 2, "{wrong}");
        assert!(says.contains("--phase"), "{says}");
    }
}
