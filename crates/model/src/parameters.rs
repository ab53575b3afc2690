//! Numbers for parameters.

use crate::system::Parameter;
use dalembert_expr::{Exprs, Symbol};
use rustc_hash::FxHashMap;

/// The values of all parameters that have one, those that are defined by others
/// included. A parameter without a value, or defined by one without, is absent.
pub fn values(exprs: &Exprs, parameters: &[Parameter]) -> FxHashMap<Symbol, f64> {
    values_with(exprs, parameters, &[])
}

/// The same with some of them given: what is defined by these follows.
pub fn values_with(
    exprs: &Exprs,
    parameters: &[Parameter],
    given: &[(Symbol, f64)],
) -> FxHashMap<Symbol, f64> {
    let mut known: FxHashMap<Symbol, f64> = given.iter().copied().collect();
    let is_open = |p: &&Parameter| p.value.is_some() && !known.contains_key(&p.symbol);
    let mut open: Vec<&Parameter> = parameters.iter().filter(is_open).collect();
    // Definitions refer to each other in any order; each round settles those
    // whose needs are met, and nearly always one round is all of them.
    loop {
        let before = open.len();
        open.retain(|parameter| {
            let Some(value) = parameter.value else { return false };
            let ready = exprs.symbols_of(&[value]).iter().all(|s| known.contains_key(s));
            if ready {
                let number =
                    exprs.eval_f64(&[value], |s| known.get(&s).copied().unwrap_or(f64::NAN))[0];
                known.insert(parameter.symbol, number);
            }
            !ready
        });
        if open.is_empty() || open.len() == before {
            return known;
        }
    }
}
