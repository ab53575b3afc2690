//! Which phase of contacts and friction a state is in.

use crate::values::number;
use dalembert_simulate::phases::{Here, Struck};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// By name: `open`, `closed`, `slips`, `sticks`.
pub(crate) fn to_json(here: &Here) -> Value {
    let words = here.words().into_iter();
    Value::Object(words.map(|(name, word)| (name.to_owned(), json!(word))).collect())
}

/// An impact at the state.
pub(crate) fn impact(here: &Here, struck: &Struck) -> Value {
    let contacts = here.model.system.contacts.iter().zip(&struck.impulses);
    let impulses: Map<String, Value> =
        contacts.map(|(contact, &p)| (contact.name.clone(), number(p))).collect();
    json!({"energy": number(struck.energy), "impulses": impulses})
}

/// A line, and another one if velocities jump at the state.
pub(crate) fn to_text(here: &Here) -> String {
    let words: Vec<String> =
        here.words().into_iter().map(|(name, word)| format!("{name} {word}")).collect();
    let mut text = format!("phase: {}\n", words.join(", "));
    if let Some(struck) = &here.struck {
        let _ = writeln!(
            text,
            "an impact happens here and changes the energy by {:.6e}: this is the state after it",
            struck.energy
        );
    }
    text
}
