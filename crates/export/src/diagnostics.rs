//! What is said about a model, as JSON.

use dalembert_model::diagnostic::{Diagnostic, Severity};
use dalembert_model::span::{Sources, Span};
use serde_json::{Value, json};

/// Diagnostics with their lines and columns, from 1, in the texts that they are about.
pub fn to_json(list: &[Diagnostic], sources: &Sources) -> Value {
    let place = |span: Span| {
        let (line, column) = sources.line_column(span);
        let (end_line, end_column) = sources.line_column(span.after());
        json!({
            "file": sources.get(span.source).name, "line": line, "column": column,
            "end_line": end_line, "end_column": end_column,
        })
    };
    let one = |d: &Diagnostic| {
        let labels: Vec<Value> = d
            .labels
            .iter()
            .map(|label| {
                let mut value = place(label.span);
                value["text"] = json!(label.text);
                value
            })
            .collect();
        let severity = match d.severity {
            Severity::Fault => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        json!({
            "code": d.code.name(), "severity": severity, "message": d.message,
            "labels": labels, "hints": d.hints,
        })
    };
    Value::Array(list.iter().map(one).collect())
}
