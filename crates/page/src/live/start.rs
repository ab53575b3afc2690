//! The equations of the start, in (t, q, rates): constraints of both levels, what `start` says, and
//! the metrics in which the rest moves least.

use super::Why;
use super::relations::{Tapes, places};
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Level, Model, Start as Item};
use dalembert_model::tree::StartRelation;
use dalembert_simulate::program::listing::Own;
use serde_json::{Value, json};

pub(crate) struct Start {
    pub laws: Value,
    pub metrics: Value,
    pub start: Value,
}

pub(crate) fn start(
    tapes: &mut Tapes,
    model: &Model,
    picture: &Picture,
    own: &Own,
) -> Result<Start, Why> {
    let (exprs, system) = (&model.exprs, &model.system);
    let unknowns = [system.positions(), own.rates.clone()];
    let variables = variables(model, own);
    let laws = [
        tapes.relation("law0", &own.positions, &unknowns[0], &variables),
        tapes.relation("law1", &own.velocities, &unknowns[1], &variables),
    ];
    for (name, metric) in [("metric0", &picture.metric), ("metric1", &own.metric)] {
        let entries: Vec<ExprId> = metric.rows.iter().flatten().map(|e| e.1).collect();
        tapes.add(name, &entries, &variables);
    }
    let metrics = json!([places(&picture.metric), places(&own.metric)]);
    if own.by_momenta {
        let dalembert_model::system::Energy::Hamiltonian { velocities, .. } = &system.energy else {
            return Err(Why::NoPicture);
        };
        tapes.add("velocities", velocities, &variables);
    }

    let states = States::new(model);
    let mut values: Vec<ExprId> = states.values.iter().map(|value| value.1).collect();
    let mut equations: [Vec<ExprId>; 2] = Default::default();
    let mut items = Vec::new();
    for (item, _) in system.start.iter().zip(&states.taken).filter(|pair| !pair.1) {
        let level = usize::from(item.level != Level::Position);
        let place = |symbol: Symbol| unknowns[level].iter().position(|s| *s == symbol);
        let holds = item.relation == StartRelation::Equals;
        let symbol = if holds { exprs.as_symbol(item.left) } else { item.guess };
        let unknown = symbol.and_then(place).filter(|_| {
            !exprs.symbols_of(&[item.right]).iter().any(|s| unknowns[level].contains(s))
        });
        let at = match unknown {
            Some(_) => {
                values.push(item.right);
                values.len() - 1
            }
            None if holds => {
                equations[level].push(equation(model, item));
                equations[level].len() - 1
            }
            None => return Err(Why::Guesses),
        };
        items.push(json!({
            "name": item.text, "level": level, "holds": holds, "unknown": unknown, "at": at,
        }));
    }
    tapes.add("startValues", &values, &variables);
    let relations = [
        tapes.relation("start0", &equations[0], &unknowns[0], &variables),
        tapes.relation("start1", &equations[1], &unknowns[1], &variables),
    ];
    let symbols = system.state_symbols();
    let open: Vec<Symbol> = states.open.iter().map(|&i| symbols[i]).collect();
    let given: Vec<Value> = states
        .values
        .iter()
        .enumerate()
        .map(|(at, &(state, _, holds))| json!({"state": state, "at": at, "holds": holds}))
        .collect();
    let start = json!({
        "items": items, "values": values.len(), "relations": relations,
        "states": {
            "given": given, "open": states.open,
            "relation": tapes.relation("startStates", &states.equations, &open, &variables),
        },
    });
    Ok(Start { laws: json!(laws), metrics, start })
}

/// t, q, the model's own rates, and the states.
pub(crate) fn variables(model: &Model, own: &Own) -> Vec<Symbol> {
    let mut variables = vec![Symbol::TIME];
    variables.extend(model.system.positions());
    variables.extend(&own.rates);
    variables.extend(model.system.state_symbols());
    variables
}

/// What `start` says of states, as `crates/simulate/src/points/states.rs` takes it: values, and
/// equations for those that have none.
struct States {
    /// Items that are about states alone, seen from the motion.
    taken: Vec<bool>,
    /// State, value, whether it is no guess.
    values: Vec<(usize, ExprId, bool)>,
    open: Vec<usize>,
    equations: Vec<ExprId>,
}

impl States {
    fn new(model: &Model) -> States {
        let (exprs, system) = (&model.exprs, &model.system);
        let symbols = system.state_symbols();
        let moving = [system.configuration(), system.velocities(), system.momenta()].concat();
        let place = |symbol: Option<Symbol>| {
            symbol.and_then(|symbol| symbols.iter().position(|z| *z == symbol))
        };
        let mut states = States {
            taken: vec![false; system.start.len()],
            values: Vec::new(),
            open: Vec::new(),
            equations: Vec::new(),
        };
        let mut is_fixed = vec![false; symbols.len()];
        for (at, item) in system.start.iter().enumerate() {
            let holds = item.relation == StartRelation::Equals;
            let left = if holds { exprs.as_symbol(item.left) } else { item.guess };
            let Some(place) = place(left) else { continue };
            let is_value = !exprs.symbols_of(&[item.right]).iter().any(|s| moving.contains(s));
            if !holds || (is_value && !is_fixed[place]) {
                states.taken[at] = true;
                states.values.push((place, item.right, holds));
                is_fixed[place] |= holds;
            }
        }
        for (at, item) in system.start.iter().enumerate() {
            if states.taken[at] || item.relation != StartRelation::Equals {
                continue;
            }
            let held = exprs.symbols_of(&[item.left, item.right]);
            let own = (0..symbols.len()).filter(|&i| !is_fixed[i] && held.contains(&symbols[i]));
            let before = states.open.len();
            states.open.extend(own);
            if states.open.len() > before {
                states.taken[at] = true;
                states.equations.push(equation(model, item));
            }
        }
        states.open.sort_unstable();
        states.open.dedup();
        states
    }
}

fn equation(model: &Model, item: &Item) -> ExprId {
    (model.exprs.at(item.left) - model.exprs.at(item.right)).id
}
