//! Numbers on a page: as text and as JSON.

use serde_json::{Value, json};

/// A finite number, else null.
pub(crate) fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// A number with all its digits, and no row of zeros before or behind them.
pub(crate) fn full(x: f64) -> String {
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
    if plain { format!("{x}") } else { format!("{x:e}") }
}
