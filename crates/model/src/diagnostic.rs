//! What is said to the user about a model: a code, where, what is wrong in the
//! user's words, and a hint that would fix it. Diagnostics are collected, never
//! thrown: one run reports every fault of a file.

use crate::codes::Code;
use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Probably not what was meant; the model still works.
    Warning,
    /// The model cannot be used.
    Fault,
}

/// A piece of text and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it; may be empty.
    pub text: String,
}

/// One message about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of message; `dal explain CODE` tells more.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Where: the first label is the place itself, the others give context.
    pub labels: Vec<Label>,
    /// What would fix it.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// A fault at a place.
    pub fn fault(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Fault,
            message: shorten(message.into()),
            labels: vec![Label { span, text: String::new() }],
            hints: Vec::new(),
        }
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::fault(code, span, message) }
    }

    /// A note at a place.
    pub fn note(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Self::fault(code, span, message) }
    }

    /// Sets the words under the first label.
    pub fn at(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.text = shorten(text.into());
        }
        self
    }

    /// Adds a place that explains the first.
    pub fn with(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: shorten(text.into()) });
        self
    }

    /// Adds another place of the same fault, without saying it again. The first
    /// label stays the first in the text, and only a few are kept.
    pub(crate) fn also(&mut self, mut span: Span) {
        const MOST: usize = 4;
        if self.labels.iter().any(|label| label.span == span) {
            return;
        }
        if let Some(first) = self.labels.first_mut()
            && (span.source, span.start) < (first.span.source, first.span.start)
        {
            std::mem::swap(&mut first.span, &mut span);
        }
        if self.labels.len() < MOST {
            self.labels.push(Label { span, text: "and here".into() });
        }
    }

    /// Adds a hint.
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(shorten(text.into()));
        self
    }
}

/// Messages quote the user's text, and a name may be a megabyte long.
fn shorten(text: String) -> String {
    const LONGEST: usize = 600;
    if text.len() <= LONGEST {
        return text;
    }
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (head, tail) = (boundary(LONGEST / 2), boundary(text.len() - LONGEST / 4));
    format!("{} … {}", &text[..head], &text[tail..])
}
