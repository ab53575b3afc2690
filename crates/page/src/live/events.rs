//! Events: their functions, and the equations of their resets.

use super::relations::Tapes;
use super::start::variables;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Action, Model};
use dalembert_model::tree::Direction;
use dalembert_simulate::program::listing::Own;
use serde_json::{Value, json};

pub(crate) fn events(tapes: &mut Tapes, model: &Model, own: &Own, seen: &[Symbol]) -> Value {
    let (exprs, system) = (&model.exprs, &model.system);
    let functions: Vec<ExprId> = system.events.iter().map(|event| event.function).collect();
    tapes.add("events", &functions, seen);
    let periods: Vec<ExprId> = system.events.iter().filter_map(|event| event.period).collect();
    tapes.add("periods", &periods, &[]);
    let n = system.n_coordinates();
    // t, q, q̇ and p come first among what is seen.
    let mut known: Vec<Symbol> = seen[..=3 * n].to_vec();
    known.extend(system.state_symbols());
    known.extend(system.parameters.iter().map(|p| p.symbol));
    let variables = variables(model, own);
    // A state takes its value with the positions: neither sees an impulse.
    let unknowns = [system.configuration(), own.rates.clone()];
    let mut list = Vec::new();
    let mut ticks = 0..;
    for (number, event) in system.events.iter().enumerate() {
        let is_plain = exprs.symbols_of(&[event.function]).iter().all(|s| known.contains(s));
        let direction = match event.direction {
            Direction::Both => "both",
            Direction::Rising => "rising",
            Direction::Falling => "falling",
        };
        let mut item = json!({
            "name": event.name, "direction": direction, "observed": !is_plain, "action": "record",
            "period": event.period.and_then(|_| ticks.next()),
        });
        match &event.action {
            Action::Record => {}
            Action::Stop => item["action"] = json!("stop"),
            Action::Reset(pairs) => {
                item["action"] = json!("reset");
                let values: Vec<ExprId> = pairs.iter().map(|pair| pair.1).collect();
                let name = format!("reset{number}");
                tapes.add(&name, &values, seen);
                let levels: Vec<Value> = (0..2)
                    .map(|level| {
                        let is_own = |pair: &&(usize, ExprId)| {
                            let moves =
                                exprs.symbols_of(&[pair.1]).iter().any(|s| own.rates.contains(s));
                            moves == (level == 1)
                        };
                        let all: Vec<(usize, ExprId)> =
                            pairs.iter().map(|pair| pair.0).enumerate().collect();
                        let chosen: Vec<(usize, ExprId)> =
                            all.iter().filter(is_own).copied().collect();
                        let quantities: Vec<ExprId> = chosen.iter().map(|pair| pair.1).collect();
                        let place = |id: &ExprId| {
                            let symbol = exprs.as_symbol(*id)?;
                            unknowns[level].iter().position(|s| *s == symbol)
                        };
                        // A coordinate with a value of its own is no equation.
                        let equations: Vec<ExprId> = match level {
                            0 => {
                                quantities.iter().copied().filter(|q| place(q).is_none()).collect()
                            }
                            _ => quantities.clone(),
                        };
                        let name = format!("reset{number}level{level}");
                        let relation =
                            tapes.relation(&name, &equations, &unknowns[level][..n], &variables);
                        json!({
                            "values": chosen.iter().map(|pair| pair.0).collect::<Vec<_>>(),
                            "unknowns": quantities.iter().map(place).collect::<Vec<_>>(),
                            "relation": relation,
                        })
                    })
                    .collect();
                item["reset"] = json!({"values": name, "count": values.len(), "levels": levels});
            }
        }
        list.push(item);
    }
    json!(list)
}
