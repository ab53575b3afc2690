//! Words for readers: numbers, names that are still free.

use dalembert_model::system::System;

/// A number as the language reads it back.
pub fn number(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x}") }
}

/// A number for readers, to twelve digits.
pub fn short(x: f64) -> String {
    let text = format!("{x:.11e}");
    text.parse::<f64>().map_or(text, number)
}

/// A label that no constraint of the system has: the word, with a number from the
/// second on.
pub fn unused(system: &System, word: &str, already: usize) -> String {
    let taken = |name: &str| system.constraints.iter().any(|c| c.label == name || c.name == name);
    let mut at = already;
    loop {
        let name = if at == 0 { word.to_owned() } else { format!("{word}{}", at + 1) };
        if !taken(&name) {
            return name;
        }
        at += 1;
    }
}
