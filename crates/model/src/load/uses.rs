//! `use "legs.dal"`: the definitions of a file as if they were written here, and `use "legs.dal" as
//! legs`: the same behind a dot, which is a part without coordinates.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::load::{Reader, Syntax};
use crate::parser;
use crate::span::{SourceId, Sources};
use crate::tree::{Entry, File, Name, PartSource, Statement, StatementKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Files that use each other, at most.
const DEEPEST: usize = 20;

/// Inertias of solids about their mass centers, as three principal values: of a rod along x, of a
/// disk and a cylinder about z, of a box with its edges along the axes.
pub const SOLIDS: &str = "\
let rod(m, l) = m*l^2/12*[0, 1, 1]
let disk(m, r) = m*r^2/4*[1, 1, 2]
let ball(m, r) = 2/5*m*r^2*[1, 1, 1]
let box(m, a, b, c) = m/12*[b^2 + c^2, a^2 + c^2, a^2 + b^2]
let cylinder(m, r, h) = m/12*[3*r^2 + h^2, 3*r^2 + h^2, 6*r^2]
";

/// What reads the files that are used.
pub(crate) struct Uses<'r> {
    reader: Option<&'r Reader<'r>>,
    /// What each text has brought already: a file that is used twice is there once.
    brought: FxHashSet<(SourceId, String)>,
}

impl<'r> Uses<'r> {
    /// With a way to read files, if there is one.
    pub fn new(reader: Option<&'r Reader<'r>>) -> Uses<'r> {
        Uses { reader, brought: FxHashSet::default() }
    }

    /// Puts definitions in the place of each `use` among statements.
    pub fn splice(
        &mut self,
        statements: &mut Vec<Statement>,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        self.splice_within(statements, sources, diagnostics, 0);
    }

    fn splice_within(
        &mut self,
        statements: &mut Vec<Statement>,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
        depth: usize,
    ) {
        if !statements.iter().any(holds_use) {
            return;
        }
        let mut all = Vec::with_capacity(statements.len());
        for statement in std::mem::take(statements) {
            match statement.kind {
                StatementKind::Use { file, name: None } => {
                    let from = file.span.source;
                    if self.brought.insert((from, file.text.to_string())) {
                        all.extend(self.definitions(&file, sources, diagnostics, depth));
                    }
                }
                StatementKind::Use { file, name: Some(name) } => {
                    let entry = Entry { span: name.span, name, indices: Vec::new() };
                    // A library is a model of its own; a file is read where parts are.
                    match library(&file.text) {
                        Some(text) => {
                            let body =
                                self.parse(&file.text, text, sources, diagnostics).statements;
                            let model = Name {
                                text: format!("{} of {}", file.text, entry.name.text).into(),
                                span: file.span,
                            };
                            all.push(Statement {
                                kind: StatementKind::Model {
                                    name: model.clone(),
                                    body: Arc::new(body),
                                },
                                ..statement
                            });
                            let source = PartSource::Model(model);
                            let kind = StatementKind::Part { entry, source, settings: Vec::new() };
                            all.push(Statement { kind, ..statement });
                        }
                        None => {
                            let source = PartSource::File(file);
                            let kind = StatementKind::Part { entry, source, settings: Vec::new() };
                            all.push(Statement { kind, ..statement });
                        }
                    }
                }
                StatementKind::Model { name, body } if body.iter().any(holds_use) => {
                    let mut body = body.to_vec();
                    self.splice_within(&mut body, sources, diagnostics, depth);
                    let kind = StatementKind::Model { name, body: Arc::new(body) };
                    all.push(Statement { kind, ..statement });
                }
                kind => all.push(Statement { kind, ..statement }),
            }
        }
        *statements = all;
    }

    /// The definitions of a file, with those that it uses itself.
    fn definitions(
        &mut self,
        file: &Name,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
        depth: usize,
    ) -> Vec<Statement> {
        let refuse = |code, message: String, hint: &str| {
            Diagnostic::fault(code, file.span, message).hint(hint)
        };
        if depth > DEEPEST {
            let message = "files use each other more than twenty deep".to_owned();
            diagnostics.push(refuse(Code::TooDeep, message, "does one use itself?"));
            return Vec::new();
        }
        let found = match library(&file.text) {
            Some(text) => Ok((file.text.to_string(), text.to_owned())),
            None if file.text.starts_with("dal:") => {
                let message = format!("there is no library `{}`", file.text);
                diagnostics.push(refuse(Code::UseModel, message, "the library is `dal:solids`"));
                return Vec::new();
            }
            None => match self.reader {
                Some(reader) => reader(&sources.get(file.span.source).name.clone(), &file.text),
                None => {
                    Err("files need a model that is a file itself, or standard input".to_owned())
                }
            },
        };
        let (full, text) = match found {
            Ok(found) => found,
            Err(why) => {
                let message = format!("cannot read `{}`: {why}", file.text);
                let hint = "the path is relative to the file this stands in";
                diagnostics.push(refuse(Code::UnreadableFile, message, hint));
                return Vec::new();
            }
        };
        let mut statements = self.parse(&full, &text, sources, diagnostics).statements;
        let is_definition = |statement: &Statement| {
            matches!(
                statement.kind,
                StatementKind::Model { .. }
                    | StatementKind::Let(_)
                    | StatementKind::Param(_)
                    | StatementKind::Const(_)
                    | StatementKind::Table { .. }
                    | StatementKind::Use { .. }
                    | StatementKind::System(_)
                    | StatementKind::Foreign(_)
            )
        };
        if let Some(other) = statements.iter().find(|s| !is_definition(s)) {
            let message = format!("`{}` is a model, and not a file of definitions", file.text);
            diagnostics.push(
                refuse(Code::UseModel, message, "build it: `part a = \"file.dal\"`")
                    .with(other.keyword, "this makes it a model"),
            );
            return Vec::new();
        }
        statements.retain(|s| !matches!(s.kind, StatementKind::System(_)));
        self.splice_within(&mut statements, sources, diagnostics, depth + 1);
        statements
    }

    fn parse(
        &self,
        name: &str,
        text: &str,
        sources: &mut Sources,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> File {
        let id: SourceId = sources.add(name.to_owned(), text.to_owned());
        parser::parse(id, text, Syntax::of_path(name) == Syntax::Markdown, diagnostics)
    }
}

fn holds_use(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Use { .. } => true,
        StatementKind::Model { body, .. } => body.iter().any(holds_use),
        _ => false,
    }
}

/// The text of a library that comes with the language.
fn library(name: &str) -> Option<&'static str> {
    (name == "dal:solids").then_some(SOLIDS)
}
