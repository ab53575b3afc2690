//! Periodic motions with their multipliers, and the equilibria of a box, as text and as JSON.

use crate::control::{complex, free_names, matrix, pairs};
use crate::evaluation::columns;
use crate::linearization::{LinearizationPage, failure_words};
use crate::text::width;
use crate::values::{block, full, number, short};
use dalembert_analyze::linearize::{Floquet, Orbit, Within};
use dalembert_model::system::Model;
use dalembert_simulate::State;
use serde_json::{Map, Value, json};
use std::fmt::Write;

fn named(model: &Model, state: &State) -> Map<String, Value> {
    let pairs = state.named(&model.exprs, &model.system);
    pairs.into_iter().map(|(name, x)| (name, number(x))).collect()
}

fn title(page: &mut String, model: &Model) {
    let title = &model.system.title;
    if !title.is_empty() {
        let _ = writeln!(page, "{title}\n{}\n", "═".repeat(width(title)));
    }
}

/// A periodic motion.
pub struct FloquetPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub found: &'m Floquet,
}

impl FloquetPage<'_> {
    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let found = self.found;
        json!({
            "format": 1,
            "system": self.model.system.title,
            "kind": "periodic motion",
            "t": number(found.state.t),
            "period": number(found.period),
            "state": named(self.model, &found.state),
            "end": named(self.model, &found.end),
            "closure": number(found.closure),
            "dimension": found.reduced.dimension(),
            "multipliers": pairs(&found.multipliers),
            "uncertainty": number(found.change),
            "autonomous": found.autonomous,
            "stability": found.orbit().name(),
            "reason": self.reason(),
            "names": free_names(self.model, &found.reduced).concat(),
            "monodromy": matrix(&found.monodromy, found.reduced.dimension()),
        })
    }

    fn reason(&self) -> String {
        let sizes = self.found.multipliers.iter().map(|m| m[0].hypot(m[1]));
        let largest = sizes.fold(0f64, f64::max);
        match self.found.orbit() {
            Orbit::Unstable => {
                format!("a deviation grows by the factor {} in each period", short(largest))
            }
            Orbit::Undecided => {
                "no deviation grows by a factor, and some come back as large as they were: the linear equations do not decide".to_owned()
            }
            Orbit::AsymptoticallyStable if self.found.autonomous => {
                "every deviation decays but that along the motion itself".to_owned()
            }
            Orbit::AsymptoticallyStable => "every deviation decays".to_owned(),
        }
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        let mut page = String::new();
        title(&mut page, self.model);
        let (found, system) = (self.found, &self.model.system);
        let _ = writeln!(page, "periodic motion, of period {}", full(found.period));
        columns(&mut page, &found.state.named(&self.model.exprs, system));
        let _ = writeln!(page, "\n{}: {}", found.orbit().name(), self.reason());
        let _ = writeln!(page, "\nmultipliers");
        for m in &found.multipliers {
            let size = m[0].hypot(m[1]);
            let _ = writeln!(page, "  {}   of size {}", complex(m), short(size));
        }
        let names = free_names(self.model, &found.reduced).concat();
        if !names.is_empty() {
            let _ = writeln!(page, "\nx = ({})\nδx after a period = M δx", names.join(", "));
            block(&mut page, "M", &found.monodromy, names.len());
        }
        page
    }
}

/// The equilibria of a box.
pub struct WithinPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub found: &'m Within,
}

impl WithinPage<'_> {
    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let (found, model) = (self.found, self.model);
        let all: Vec<Value> =
            found.found.iter().map(|found| LinearizationPage { model, found }.to_json()).collect();
        let failed: Vec<Value> = found
            .failed
            .iter()
            .map(|(state, error)| {
                json!({"state": named(model, state), "error": failure_words(error, model)})
            })
            .collect();
        json!({
            "format": 1,
            "system": model.system.title,
            "kind": "equilibria",
            "equilibria": all,
            "failed": failed,
            "guesses": found.guesses,
            "last_new": found.last_new,
            "more": found.more,
        })
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        let (found, model) = (self.found, self.model);
        let mut page = String::new();
        title(&mut page, model);
        let count = found.found.len() + found.failed.len();
        let _ = match count {
            0 => writeln!(page, "no equilibrium was found from {} guesses", found.guesses),
            1 => writeln!(page, "one equilibrium, of {} guesses", found.guesses),
            k => writeln!(
                page,
                "{k} equilibria, of {} guesses; the last new one by guess {}",
                found.guesses, found.last_new
            ),
        };
        if found.more {
            let _ = writeln!(page, "there are more than are listed: they may form a family");
        }
        for one in &found.found {
            let _ = writeln!(page);
            let positions: Vec<(String, f64)> = one
                .state
                .named(&model.exprs, &model.system)
                .into_iter()
                .take(one.state.q.len())
                .collect();
            columns(&mut page, &positions);
            let reason = LinearizationPage { model, found: one }.reason();
            let _ = writeln!(page, "  {}: {reason}", one.stability.name());
        }
        for (state, error) in &found.failed {
            let _ = writeln!(page);
            let positions = state.named(&model.exprs, &model.system);
            columns(&mut page, &positions.into_iter().take(state.q.len()).collect::<Vec<_>>());
            let _ = writeln!(page, "  {}", failure_words(error, model));
        }
        page
    }
}
