//! Numbers on a page: as text and as JSON.

use crate::text::width;
use serde_json::{Value, json};
use std::fmt::Write;

/// A finite number, else null.
pub(crate) fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// A number with all its digits, and no row of zeros before or behind them.
pub(crate) fn full(x: f64) -> String {
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
    if plain { format!("{x}") } else { format!("{x:e}") }
}

/// A matrix, its columns aligned; what is rounding beside the largest entry is 0.
pub(crate) fn block(page: &mut String, name: &str, entries: &[f64], columns: usize) {
    let largest = entries.iter().fold(0f64, |m, x| m.max(x.abs()));
    let shown = |x: f64| if x.abs() <= 1e-14 * largest { "0".to_owned() } else { short(x) };
    if largest == 0.0 {
        let _ = writeln!(page, "  {name} = 0");
        return;
    }
    let rows: Vec<Vec<String>> =
        entries.chunks(columns).map(|r| r.iter().map(|&x| shown(x)).collect()).collect();
    let widths: Vec<usize> =
        (0..columns).map(|j| rows.iter().map(|r| width(&r[j])).max().unwrap_or(0)).collect();
    let letter = width(name);
    for (i, row) in rows.iter().enumerate() {
        let front = if i == 0 { format!("{name} = ") } else { " ".repeat(letter + 3) };
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &w)| format!("{}{cell}", " ".repeat(w - width(cell))))
            .collect();
        let _ = writeln!(page, "  {front}[{}]", cells.join("  "));
    }
}

/// Six digits, without a tail of zeros.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&x.abs()) {
        return format!("{x:.5e}");
    }
    let digits = (5 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
