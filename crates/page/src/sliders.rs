//! What a page lets its reader move: parameters that are numbers, and values of the start.

use crate::dials;
use crate::live::Unknowns;
use crate::samples::Samples;
use dalembert_export::scene::Kinds;
use dalembert_expr::Symbol;
use dalembert_model::system::Model;
use dalembert_simulate::{Setting, State, Table};
use serde_json::{Value, json};

/// More than this are no help.
const MOST: usize = 40;

/// Two digits, away from the value.
fn round(x: f64, up: bool) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    let unit = 10f64.powf(x.abs().log10().floor() - 1.0);
    let parts = if up { (x / unit).ceil() } else { (x / unit).floor() };
    format!("{:.1e}", parts * unit).parse().unwrap_or(x)
}

/// A slider by its name and by what is written beside it.
fn slider((name, label): (&str, &str), value: f64, from: f64, to: f64) -> Value {
    let (min, max) = (round(from.min(to), false), round(from.max(to), true));
    let (min, max) = (min.min(value), max.max(value));
    json!({"name": name, "label": label, "value": value, "min": min, "max": max})
}

/// Sliders of parameters whose value is a number: from a fifth to three times of it, and about 0.
pub fn parameters(model: &Model, setting: &Setting) -> Vec<Value> {
    let (symbols, values) = setting.constants();
    let list = model.system.parameters.iter().filter(|parameter| {
        parameter.value.is_some_and(|value| model.exprs.symbols_of(&[value]).is_empty())
    });
    list.filter_map(|parameter| {
        let value = values[symbols.iter().position(|s| *s == parameter.symbol)?];
        let label = model.exprs.symbol_text(parameter.symbol);
        Some(about((parameter.name.as_str(), label.as_str()), value))
    })
    .take(MOST)
    .collect()
}

/// Sliders of inputs that are numbers.
pub fn inputs(model: &Model, setting: &Setting) -> Vec<Value> {
    let exprs = &model.exprs;
    let held = model.system.inputs.iter().filter_map(|input| {
        let value = setting.number(dials::held(exprs, input)?, &Table::default());
        let label = exprs.symbol_text(input.symbol);
        value.is_finite().then(|| match input.name.as_str() {
            // What comes from outside has any sign.
            name if value != 0.0 => slider((name, &label), value, -3.0 * value, 3.0 * value),
            name => about((name, &label), value),
        })
    });
    held.take(MOST).collect()
}

/// A slider of a number of which nothing else is known.
fn about(names: (&str, &str), value: f64) -> Value {
    match value {
        0.0 => slider(names, 0.0, -1.0, 1.0),
        value => slider(names, value, value / 5.0, 3.0 * value),
    }
}

/// Sliders of states that no equation determines.
fn states(model: &Model, state: &State, samples: &Samples) -> Vec<Value> {
    let (exprs, system) = (&model.exprs, &model.system);
    let n = system.n_coordinates();
    let is_free = |symbol: Symbol| {
        system.start.iter().all(|item| match exprs.as_symbol(item.left) == Some(symbol) {
            true => exprs.symbols_of(&[item.right]).is_empty(),
            false => !exprs.symbols_of(&[item.left, item.right]).contains(&symbol),
        })
    };
    let all = system.states.iter().zip(&state.q[n..]);
    let free = all.filter(|(z, _)| is_free(z.symbol)).map(|(z, &value)| {
        let label = exprs.symbol_text(z.symbol);
        let reach = samples.reach(&z.name, value);
        slider((&z.name, &label), value, value - reach, value + reach)
    });
    free.collect()
}

/// Sliders of the start: what the model says of it, and, where nothing constrains them, what it does
/// not. Each reaches as far as the quantity does in the run.
pub fn starts(model: &Model, unknowns: &Unknowns, state: &State, samples: &Samples) -> Vec<Value> {
    let (exprs, system) = (&model.exprs, &model.system);
    let kinds = Kinds::new(model);
    let is_free = system.constraints.is_empty() && system.n_coordinates() <= 6;
    let levels = [&state.q, if unknowns.by_momenta { &state.momentum } else { &state.velocity }];
    let mut list = Vec::new();
    for (level, (symbols, values)) in unknowns.symbols.iter().zip(levels).enumerate() {
        for (i, (&symbol, &value)) in symbols.iter().zip(values).enumerate() {
            let is_given =
                system.start.iter().any(|item| exprs.as_symbol(item.left) == Some(symbol));
            if !(is_given || is_free) {
                continue;
            }
            let name = exprs.symbol_info(symbol).full_name();
            let label = exprs.symbol_text(symbol);
            let names = (name.as_str(), label.as_str());
            let pi = std::f64::consts::PI;
            list.push(match kinds.is_angle(system.coordinates[i].position) && level == 0 {
                true if value.abs() <= pi => slider(names, value, -pi, pi),
                true => slider(names, value, value - pi, value + pi),
                false => {
                    let reach = samples.reach(&name, value);
                    slider(names, value, value - reach, value + reach)
                }
            });
        }
    }
    list.extend(states(model, state, samples));
    list.truncate(MOST);
    list
}
