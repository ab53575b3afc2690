//! Shared by the black-box tests.
#![allow(dead_code)]

use dalembert::expr::{ExprId, Jacobian, Symbol};
use dalembert::{EquationsOfMotion, Input, Loaded, Model, Options};
use serde_json::Value;

/// Loads a text that must have no faults.
pub fn model(text: &str) -> Model {
    let loaded = load(text);
    let shown = render(&loaded);
    loaded.model.unwrap_or_else(|| panic!("faults in\n{text}\n{shown}"))
}

/// Loads a text, faulty or not.
pub fn load(text: &str) -> Loaded {
    dalembert::load(&Input::text("model.dal", text), &Options::default())
}

/// What the user would see.
pub fn render(loaded: &Loaded) -> String {
    dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false)
}

/// A model of oracles.json (SymPy syntax, `x_d` for the velocity of x) in the
/// language.
pub fn model_text(oracle: &Value) -> String {
    let model = &oracle["model"];
    let coordinates: Vec<&str> = strings(&model["q"]);
    let convert = |text: &str| convert(text, &coordinates);
    let mut lines = vec![format!(
        "coord {}",
        coordinates.iter().map(|c| rename(c)).collect::<Vec<_>>().join(", ")
    )];
    if let Some(parameters) = oracle["params"].as_object() {
        for (name, value) in parameters {
            lines.push(format!("param {} = {}", rename(name), value.as_str().unwrap_or("0")));
        }
    }
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
    lines.join("\n")
}

/// The strings of a JSON list; none if it is no list.
pub fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// Names that the language reserves or that would clash in print.
fn rename(name: &str) -> String {
    if name == "t" || dalembert::model::codes::Code::from_name(name).is_some() {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}

/// `x_d**2` → `x'^2`, `Abs` → `abs`.
fn convert(text: &str, coordinates: &[&str]) -> String {
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

/// M, Q, A and b as numbers at a state (q, q̇ or p, t), row by row.
pub struct Terms {
    pub metric: Vec<f64>,
    pub force: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub drift: Vec<f64>,
}

/// Numbers for expressions of a model at a state.
pub fn values(
    model: &Model,
    equations: &EquationsOfMotion,
    roots: &[ExprId],
    q: &[f64],
    v: &[f64],
    t: f64,
) -> Vec<f64> {
    let parameters = dalembert::model::parameters::values(&model.exprs, &model.system.parameters);
    model.exprs.eval_f64(roots, |symbol| {
        if symbol == Symbol::TIME {
            return t;
        }
        let place = |list: &[Symbol]| list.iter().position(|&s| s == symbol);
        match (place(&equations.q), place(&equations.v)) {
            (Some(i), _) => q[i],
            (_, Some(i)) => v[i],
            _ => parameters.get(&symbol).copied().unwrap_or(f64::NAN),
        }
    })
}

/// Evaluates the normal form.
pub fn evaluate(
    model: &Model,
    equations: &EquationsOfMotion,
    q: &[f64],
    v: &[f64],
    t: f64,
) -> Terms {
    let values = |roots: &[ExprId]| values(model, equations, roots, q, v, t);
    let dense = |matrix: &Jacobian| {
        let places = (0..matrix.rows.len()).flat_map(|i| (0..matrix.columns).map(move |j| (i, j)));
        values(&places.map(|(i, j)| matrix.get(i, j)).collect::<Vec<_>>())
    };
    Terms {
        metric: dense(&equations.metric),
        force: values(&equations.force),
        jacobian: dense(&equations.jacobian),
        drift: values(&equations.drift),
    }
}

/// Largest difference relative to the largest expected number, at least 1.
pub fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1f64, |m, x| m.max(x.abs()));
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    // NaN must not pass for small.
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) }) / scale
}
