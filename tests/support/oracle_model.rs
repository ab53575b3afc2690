//! The reference values of `tests/data/oracles.json` as models of the language
//! and states: shared by the tests and by `examples/formulation_table.rs`.

use dalembert::formulations::{ALL, Choices};
use dalembert::simulate::report::{self, Report};
use dalembert::simulate::{EVERY, Options, Setting, State};
use dalembert::{Input, Model};
use serde_json::Value;

/// Every entry of the file.
pub fn oracles() -> Vec<Value> {
    let file: Value =
        serde_json::from_str(include_str!("../data/oracles.json")).expect("valid JSON");
    file["oracles"].as_array().expect("a list").clone()
}

/// The entries whose kind begins with a word.
pub fn of_kind(kind: &str) -> Vec<Value> {
    oracles()
        .into_iter()
        .filter(|o| o["kind"].as_str().is_some_and(|k| k.starts_with(kind)))
        .collect()
}

/// The entry of a name.
pub fn named(name: &str) -> Value {
    oracles().into_iter().find(|o| o["name"] == name).unwrap_or_else(|| panic!("no oracle {name}"))
}

/// Its name.
pub fn name(oracle: &Value) -> &str {
    oracle["name"].as_str().unwrap_or("")
}

/// A model of the file (SymPy syntax, `x_d` for the velocity of x) in the
/// language. Rows of G become `speed`s.
pub fn model_text(oracle: &Value) -> String {
    let model = &oracle["model"];
    let coordinates: Vec<&str> = strings(&model["q"]);
    let convert = |text: &str| convert(text, &coordinates);
    let mut lines = vec![format!(
        "coord {}",
        coordinates.iter().map(|c| rename(c)).collect::<Vec<_>>().join(", ")
    )];
    lines.extend(parameters(oracle));
    if let Some(lagrangian) = model["L"].as_str() {
        lines.push(format!("lagrangian {}", convert(lagrangian)));
    } else {
        lines.push(format!("kinetic {}", convert(model["T"].as_str().unwrap_or("0"))));
        lines.push(format!("potential {}", convert(model["V"].as_str().unwrap_or("0"))));
    }
    for (key, word) in [("Qp", "force"), ("C", "nonideal")] {
        for (coordinate, value) in coordinates.iter().zip(strings(&model[key])) {
            lines.push(format!("{word} {}: {}", rename(coordinate), convert(value)));
        }
    }
    for (at, row) in strings(&model["hol"]).iter().chain(&strings(&model["nonhol"])).enumerate() {
        lines.push(format!("constraint row{at}: {} = 0", convert(row)));
    }
    let g: Vec<Vec<&str>> =
        model["G"].as_array().map(|rows| rows.iter().map(strings).collect()).unwrap_or_default();
    lines.extend(speeds(&coordinates, |i, j| convert(g[i][j]), g.len()));
    lines.join("\n")
}

/// The same system given by a Hamiltonian; `rows` are its constraints.
pub fn hamiltonian_text(oracle: &Value, hamiltonian: &str, rows: &[&str]) -> String {
    let coordinates = strings(&oracle["model"]["q"]);
    let mut lines = vec![format!("coord {}", coordinates.join(", "))];
    lines.extend(parameters(oracle));
    lines.push(format!("hamiltonian {hamiltonian}"));
    lines.extend(rows.iter().enumerate().map(|(at, row)| format!("constraint row{at}: {row} = 0")));
    lines.join("\n")
}

/// Systems of the papers given by H, with constraints in momenta where the paper
/// has them, and the entries that hold their numbers.
pub fn by_hamiltonian() -> Vec<(Value, Model)> {
    let free = "(p_x^2 + p_y^2 + p_z^2)/(2*m)";
    let sphere = "x^2 + y^2 + z^2 - L^2";
    let pendulum = "(m2*l2^2*p_th1^2 + (m1 + m2)*l1^2*p_th2^2 \
        - 2*m2*l1*l2*cos(th1 - th2)*p_th1*p_th2)/(2*m2*l1^2*l2^2*(m1 + m2*sin(th1 - th2)^2)) \
        - (m1 + m2)*g*l1*cos(th1) - m2*g*l2*cos(th2)";
    let list: [(&str, String, Vec<&str>); 6] = [
        (
            "000-x1-relativistic-spherical-pendulum",
            "sqrt(m^2*c^4 + c^2*(p_x^2 + p_y^2 + p_z^2)) - m*g*z".to_owned(),
            vec![sphere],
        ),
        ("000-4.1-spherical-pendulum", format!("{free} - m*g*z"), vec![sphere]),
        ("000-4.2-nonholonomic-particle", free.to_owned(), vec!["z^2*p_x - p_y"]),
        (
            "000-4.3-two-particles-redundant",
            "(p_x1^2 + p_y1^2)/(2*m1) + (p_x2^2 + p_y2^2)/(2*m2) + (m1*y1 + m2*y2)*g*sin(al)"
                .to_owned(),
            vec![
                "((x1 - x2)^2 + (y1 - y2)^2 - L^2)/2",
                "((x1 - x2)*p_x1 + (y1 - y2)*p_y1)/m1",
                "((x1 - x2)*p_x2 + (y1 - y2)*p_y2)/m2",
            ],
        ),
        (
            "000-4.4-double-pendulum-momentum-constraint",
            pendulum.to_owned(),
            vec!["p_th1 - al*sin(om*t)*p_th2"],
        ),
        (
            "004-2.5-particle-zdot-eq-y-xdot",
            format!("{free} + k*(x^2 + 2*y^2 + 3*z^2)/2 + c*x*y*z"),
            vec!["(p_z - y*p_x)/m"],
        ),
    ];
    list.into_iter()
        .map(|(name, h, rows)| {
            let oracle = named(name);
            let model = model(&hamiltonian_text(&oracle, &h, &rows));
            (oracle, model)
        })
        .collect()
}

/// Quasi-velocities that depend on every coordinate and on time, for models that
/// have none of their own: the G behind the reference's `poincare_randomG`.
pub fn generic_speeds(oracle: &Value) -> String {
    let coordinates = strings(&oracle["model"]["q"]);
    let n = coordinates.len();
    let entry = |i: usize, j: usize| {
        let wave = (3 * i + 5 * j + 1) as i64 % 7 - 3;
        let ramp = (i + 2 * j) as i64 % 5 - 2;
        let phase = i as i64 - j as i64;
        let own = if i == j { 2 } else { 0 };
        let q = rename(coordinates[(i + j) % n]);
        format!("{own} + ({wave}/10)*sin({q} + ({phase}/3)*t) + ({ramp}/20)*t")
    };
    speeds(&coordinates, entry, n).join("\n")
}

fn parameters(oracle: &Value) -> Vec<String> {
    let Some(parameters) = oracle["params"].as_object() else { return Vec::new() };
    let line = |(name, value): (&String, &Value)| {
        format!("param {} = {}", rename(name), value.as_str().unwrap_or("0"))
    };
    parameters.iter().map(line).collect()
}

fn speeds(
    coordinates: &[&str],
    entry: impl Fn(usize, usize) -> String,
    count: usize,
) -> Vec<String> {
    let row = |i: usize| {
        let terms =
            coordinates.iter().enumerate().filter_map(|(j, c)| match entry(i, j).as_str() {
                "0" => None,
                factor => Some(format!("({factor})*{}'", rename(c))),
            });
        format!("speed s{} = {}", i + 1, terms.collect::<Vec<_>>().join(" + "))
    };
    (0..count).map(row).collect()
}

/// The strings of a JSON list; none if it is no list.
pub fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// Names that the language reserves or that would clash in print.
pub fn rename(name: &str) -> String {
    if name == "t" || dalembert::model::codes::Code::from_name(name).is_some() {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}

/// `x_d**2` → `x'^2`, `Abs` → `abs`.
pub fn convert(text: &str, coordinates: &[&str]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        match word.strip_suffix("_d") {
            Some(base) if coordinates.contains(&base) => {
                out.push_str(&rename(base));
                out.push('\'');
            }
            _ if word == "Abs" => out.push_str("abs"),
            _ => out.push_str(word),
        }
        word.clear();
    };
    for c in text.replace("**", "^").chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
            out.push(c);
        }
    }
    flush(&mut word, &mut out);
    out
}

/// The numbers of a JSON value: decimal strings, lists, lists of lists.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::String(text) => vec![text.parse().unwrap_or(f64::NAN)],
        Value::Number(number) => vec![number.as_f64().unwrap_or(f64::NAN)],
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// Loads a text that must have no faults.
pub fn model(text: &str) -> Model {
    let loaded = dalembert::load(&Input::text("model.dal", text), &Default::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("faults in\n{text}\n{shown}"))
}

/// The state of an entry.
pub fn state(oracle: &Value, setting: &Setting) -> State {
    let state = &oracle["state"];
    let (q, v) = (numbers(&state["q"]), numbers(&state["qdot"]));
    let t = numbers(&state["t"])[0];
    State::of_velocities(setting, t, q, v).expect("velocities determine momenta")
}

/// Every formulation and every elimination, the literal ones included, at a state.
pub fn every_route(setting: &Setting, state: &State, choices: &Choices) -> Report {
    let mut options = Options::of_model(&setting.model);
    options.formulations = ALL.to_vec();
    // The examples have no bodies to go along.
    let every = EVERY.iter().filter(|e| !e.is_along_tree());
    options.eliminations = every.copied().collect();
    options.choices = choices.clone();
    match report::at(setting, state, &options) {
        Ok(report) => report,
        Err(error) => panic!("no report: {error:?}"),
    }
}

/// Largest difference relative to the largest expected number, at least 1: the
/// measure that the file states for its tolerances.
pub fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1f64, |m, x| m.max(x.abs()));
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    // NaN must not pass for small.
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) }) / scale
}
