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

    let mut values = Vec::new();
    let mut equations: [Vec<ExprId>; 2] = Default::default();
    let mut items = Vec::new();
    for item in &system.start {
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
    let start = json!({"items": items, "values": values.len(), "relations": relations});
    Ok(Start { laws: json!(laws), metrics, start })
}

/// t, q and the model's own rates.
pub(crate) fn variables(model: &Model, own: &Own) -> Vec<Symbol> {
    let mut variables = vec![Symbol::TIME];
    variables.extend(model.system.positions());
    variables.extend(&own.rates);
    variables
}

fn equation(model: &Model, item: &Item) -> ExprId {
    (model.exprs.at(item.left) - model.exprs.at(item.right)).id
}
