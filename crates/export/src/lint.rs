//! Findings about a model, in a line each; `render` shows them at their place in the
//! text.

use dalembert_model::diagnostic::{Diagnostic, Severity};
use serde_json::{Value, json};

/// The field `findings` of an analysis.
pub fn to_json(findings: &[Diagnostic]) -> Value {
    let list = findings.iter().map(|f| {
        json!({
            "code": f.code.name(),
            "severity": word(f.severity),
            "message": f.message,
            "hints": f.hints,
        })
    });
    Value::Array(list.collect())
}

/// Text for a terminal; empty if there is nothing to say.
pub fn to_text(findings: &[Diagnostic]) -> String {
    let lines =
        findings.iter().map(|f| format!("  {}[{}]: {}\n", word(f.severity), f.code, f.message));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("Findings\n{lines}") }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
