//! The consistent start: what a run begins with, and what of it is not as it was
//! written.
//!
//! A quantity was *moved* if its value is not the one guessed for it (`x ~ 1`), or if it
//! is not 0 though nothing was written of it. What an equation `x = 1` gives is never
//! moved. A velocity that follows from a momentum that was written is not moved either.

use crate::text::width;
use crate::values::{full, number};
use dalembert_model::system::Model;
use dalembert_model::tree::StartRelation;
use dalembert_simulate::Start;

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Larger starts are shown by what was moved and a count.
const MOST: usize = 12;

/// One quantity of the start.
struct Row {
    name: String,
    value: f64,
    /// Whether it was moved: from the guess, or from nothing written.
    moved: Option<Option<f64>>,
}

impl Row {
    /// By how much it was moved.
    fn by(&self, written: Option<f64>) -> f64 {
        self.value - written.unwrap_or(0.0)
    }

    fn words(&self) -> Option<String> {
        let written = self.moved?;
        let by = short(self.by(written));
        Some(match written {
            Some(guess) => format!("moved by {by} from ~ {}", short(guess)),
            None => "not written".to_owned(),
        })
    }
}

fn rows(model: &Model, start: &Start) -> Vec<Row> {
    let system = &model.system;
    let relations: BTreeMap<&str, StartRelation> =
        system.start.iter().map(|item| (item.text.as_str(), item.relation)).collect();
    let changed: BTreeMap<&str, f64> =
        start.changed.iter().map(|(name, from, _)| (name.as_str(), *from)).collect();
    let full_name = |symbol| model.exprs.symbol_info(symbol).full_name();
    let by_momentum: BTreeMap<String, bool> = system
        .coordinates
        .iter()
        .map(|c| {
            let is_written = relations.contains_key(full_name(c.momentum).as_str());
            (full_name(c.velocity), is_written)
        })
        .collect();
    let row = |(name, value): (String, f64)| {
        let moved = match (relations.get(name.as_str()), changed.get(name.as_str())) {
            (Some(StartRelation::Equals), _) => None,
            (Some(StartRelation::Near), from) => from.map(|&from| Some(from)),
            (None, Some(_)) => Some(None),
            // A velocity of a model in momenta.
            (None, None) => {
                let follows = by_momentum.get(&name).copied().unwrap_or(true);
                (!follows && value != 0.0).then_some(None)
            }
        };
        Row { name, value, moved }
    };
    start.state.named(&model.exprs, system).into_iter().map(row).collect()
}

/// A section of a page for a terminal.
pub(crate) fn text(page: &mut String, model: &Model, start: &Start) {
    let mut rows = rows(model, start);
    let all = rows.len();
    page.push_str("\nat the start\n");
    if all > MOST {
        // What was moved first, in its order.
        rows.sort_by_key(|row| row.moved.is_none());
        let n_moved = rows.iter().filter(|row| row.moved.is_some()).count();
        rows.truncate(n_moved.min(MOST));
    }
    // Room for a sign, so that digits stand below digits.
    let shown = |row: &Row| {
        let value = short(row.value);
        if value.starts_with('-') { value } else { format!(" {value}") }
    };
    let widest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let longest = rows.iter().map(|row| shown(row).len()).max().unwrap_or(0);
    for row in &rows {
        let pad = " ".repeat(widest - width(&row.name));
        let (name, value) = (&row.name, shown(row));
        let _ = match row.words() {
            Some(words) => writeln!(page, "  {name}{pad}  {value:<longest$}   {words}"),
            None => writeln!(page, "  {name}{pad}  {value}"),
        };
    }
    if all > rows.len() {
        let moved = self::rows(model, start).iter().filter(|row| row.moved.is_some()).count();
        let rest = all - rows.len();
        let _ = match moved {
            0 => writeln!(page, "  {all} quantities, none of them moved; `--json` has them all"),
            _ => writeln!(
                page,
                "  … and {rest} more, {} of them moved; `--json` has them all",
                moved - rows.len()
            ),
        };
    }
}

/// The moved quantities in one line; empty if there are none.
pub(crate) fn line(model: &Model, start: &Start) -> String {
    let moved: Vec<String> = rows(model, start)
        .iter()
        .filter_map(|row| {
            let value = full(row.value);
            Some(match row.moved? {
                Some(guess) => format!("{} = {value} (from {})", row.name, full(guess)),
                None => format!("{} = {value} (not written)", row.name),
            })
        })
        .collect();
    crate::text::list(moved, 6)
}

/// The start in JSON, all of it.
pub(crate) fn to_json(model: &Model, start: &Start) -> Value {
    let rows = rows(model, start);
    let state: Map<String, Value> =
        rows.iter().map(|row| (row.name.clone(), number(row.value))).collect();
    let moved = rows.iter().filter_map(|row| {
        let written = row.moved?;
        Some(json!({
            "name": row.name, "value": number(row.value),
            "written": written.map_or(Value::Null, number), "by": number(row.by(written)),
        }))
    });
    let changed: Map<String, Value> = start
        .changed
        .iter()
        .map(|(name, from, to)| (name.clone(), json!([number(*from), number(*to)])))
        .collect();
    json!({
        "t": number(start.state.t),
        "state": state,
        "moved": moved.collect::<Vec<_>>(),
        "changed": changed,
        "free_positions": start.free_positions,
        "free_velocities": start.free_velocities,
    })
}

/// Ten digits at most.
fn short(x: f64) -> String {
    let digits = format!("{x:.9e}");
    digits.parse::<f64>().map_or(digits, full)
}
