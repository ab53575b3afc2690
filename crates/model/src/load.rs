//! From text to model in one call.

use crate::diagnostic::{Diagnostic, Severity};
use crate::parser;
use crate::resolve::{Limits, resolve};
use crate::span::{SourceId, Sources};
use crate::system::Model;
use crate::tree::File;
use std::rc::Rc;

/// What came of reading a model.
pub struct Loaded {
    /// The model, if it has no faults.
    pub model: Option<Model>,
    /// The tree, faulty or not; its checks may expect the faults.
    pub file: File,
    /// Everything there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts it was read from.
    pub sources: Rc<Sources>,
}

impl Loaded {
    /// Whether the model cannot be used.
    pub fn is_faulty(&self) -> bool {
        self.model.is_none() || self.diagnostics.iter().any(|d| d.severity == Severity::Fault)
    }
}

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The whole text is a model.
    Plain,
    /// The ```dal blocks of a Markdown text are.
    Markdown,
}

impl Syntax {
    /// By the ending of a file's name.
    pub fn of_path(path: &str) -> Syntax {
        let ending = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        if ending == "md" || ending == "markdown" { Syntax::Markdown } else { Syntax::Plain }
    }
}

/// Reads a model: parses it, puts in the overrides (`m=2, th[2]'=0`), resolves
/// it. Never fails; faults are in the result.
pub fn load(
    name: &str,
    text: &str,
    syntax: Syntax,
    overrides: &[String],
    limits: Limits,
) -> Loaded {
    let mut sources = Sources::new();
    let main = sources.add(name, text);
    let mut diagnostics = Vec::new();
    let file = parser::parse(main, text, syntax == Syntax::Markdown, &mut diagnostics);
    let mut settings = Vec::new();
    for text in overrides {
        let id: SourceId = sources.add("--set", text.clone());
        settings.extend(parser::parse_assignments(id, text, &mut diagnostics));
    }
    let sources = Rc::new(sources);
    let model = resolve(&file, &settings, sources.clone(), limits, &mut diagnostics);
    diagnostics
        .sort_by_key(|d| (d.labels.first().map(|l| (l.span.source, l.span.start)), d.severity));
    Loaded { model, file, diagnostics, sources }
}
