//! From text to model in one call.

mod uses;

use crate::diagnostic::{Diagnostic, Severity};
use crate::parser;
use crate::resolve::tables::TableFiles;
use crate::resolve::{self, Limits, PartFiles, resolve};
use crate::span::{SourceId, Sources};
use crate::system::Model;
use crate::tree::{Expr, File, PartSource, Statement, StatementKind, TableSource};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of reading a model.
pub struct Loaded {
    /// The model, if it has no faults.
    pub model: Option<Model>,
    /// The tree, faulty or not; its checks may expect the faults.
    pub file: File,
    /// Everything there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts it was read from.
    pub sources: Arc<Sources>,
    read: Read,
}

/// What was read beside the text, to tell the model again.
#[derive(Default)]
struct Read {
    /// Names of files as they are written, and their texts.
    texts: Vec<(String, String)>,
    settings: Vec<(Expr, Expr)>,
    files: PartFiles,
    tables: TableFiles,
    limits: Limits,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded")
            .field("is_model", &self.model.is_some())
            .field("diagnostics", &self.diagnostics)
            .finish_non_exhaustive()
    }
}

impl Loaded {
    /// Whether the model cannot be used.
    pub fn is_faulty(&self) -> bool {
        self.model.is_none() || self.diagnostics.iter().any(|d| d.severity == Severity::Fault)
    }

    /// The files that were read beside the text: how each is named where it is read, and its text.
    /// Whichever there are: a model is the same if its text and these are.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.read.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The same model told in `relative` or `absolute` coordinates, with further outputs and other
    /// values of the start; `None` if there is none.
    pub fn retold(
        &self,
        coordinates: &str,
        observes: &[String],
        start: &[String],
    ) -> Option<Model> {
        let (mut file, mut sources) = (self.file.clone(), Sources::clone(&self.sources));
        let (mut settings, mut diagnostics) = (self.read.settings.clone(), Vec::new());
        for text in observes {
            let text = format!("observe {text}");
            let id = sources.add("--show", text.clone());
            let mut more = parser::parse(id, &text, false, &mut diagnostics);
            file.statements.append(&mut more.statements);
        }
        for text in start {
            let id = sources.add("--set", text.clone());
            settings.extend(parser::parse_assignments(id, text, &mut diagnostics));
        }
        let beside = resolve::Beside {
            overrides: &settings,
            coordinates: Some(coordinates),
            tables: Some(&self.read.tables),
            ..resolve::Beside::default()
        };
        let (files, limits) = (&self.read.files, self.read.limits);
        let model = resolve(&file, beside, files, Arc::new(sources), limits, &mut diagnostics);
        model.filter(|_| diagnostics.iter().all(|d| d.severity != Severity::Fault))
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

/// Reads the file a part names: the name as written, from the text of the given
/// name.
pub type Reader<'r> = dyn Fn(&str, &str) -> Result<(String, String), String> + 'r;

/// Reads a model: parses it, puts in the overrides (`m=2, th[2]'=0`), resolves
/// it. Never fails; faults are in the result. Parts from files are refused; see
/// [`load_with`].
pub fn load(
    name: &str,
    text: &str,
    syntax: Syntax,
    overrides: &[String],
    limits: Limits,
) -> Loaded {
    load_with(name, text, syntax, &Beside { overrides, ..Beside::default() }, limits, None)
}

/// What is said beside a model's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Overrides, each a text such as `m=2, th[2]'=0`.
    pub overrides: &'a [String],
    /// A state to evaluate at, such as `x=1, x'=0.2, t=0`.
    pub at: Option<&'a str>,
    /// What a run takes for inputs, each a text such as `F=sin(t)` or `F=drive.csv, cubic`.
    pub inputs: &'a [String],
    /// Further outputs, each what may stand after `observe`.
    pub observes: &'a [String],
    /// Further parameters and their values, for overrides to speak of.
    pub parameters: &'a [(String, f64)],
    /// The names that a `run` may choose from.
    pub names: resolve::Names<'a>,
    /// `relative` or `absolute`, in place of what the `run` says.
    pub coordinates: Option<&'a str>,
}

/// The same, with a way to read the files of parts.
pub fn load_with(
    name: &str,
    text: &str,
    syntax: Syntax,
    beside: &Beside<'_>,
    limits: Limits,
    reader: Option<&Reader<'_>>,
) -> Loaded {
    let mut sources = Sources::new();
    let main = sources.add(name, text);
    let mut diagnostics = Vec::new();
    let mut file = parser::parse(main, text, syntax == Syntax::Markdown, &mut diagnostics);
    let texts = RefCell::new(BTreeSet::new());
    let noting = reader.map(|reader| {
        |from: &str, name: &str| {
            let found = reader(from, name);
            if let Ok((_, text)) = &found {
                texts.borrow_mut().insert((name.to_owned(), text.clone()));
            }
            found
        }
    });
    let reader = noting.as_ref().map(|noting| noting as &Reader<'_>);
    let mut used = uses::Uses::new(reader);
    used.splice(&mut file.statements, &mut sources, &mut diagnostics);
    let mut further = Vec::new();
    let known = output_names(&file.statements);
    for text in beside.observes {
        // An output that the model names is one already; only `observe` can name it.
        let last = text.rsplit('.').next().unwrap_or("");
        if known.contains(&last.split('[').next().unwrap_or("").trim()) {
            continue;
        }
        // One line, so that nothing but outputs can be added.
        let text = format!("observe {}", text.replace(['\n', '\r', ';', '#'], " "));
        let id: SourceId = sources.add("--show", text.clone());
        let mut more = parser::parse(id, &text, false, &mut diagnostics);
        further.append(&mut more.statements);
    }
    for (name, value) in beside.parameters {
        let text = format!("param {name} = {value:e}");
        let id: SourceId = sources.add("--vary", text.clone());
        let mut more = parser::parse(id, &text, false, &mut diagnostics);
        further.append(&mut more.statements);
    }
    file.statements.append(&mut further);
    let mut settings = Vec::new();
    for text in beside.overrides {
        let id: SourceId = sources.add("--set", text.clone());
        settings.extend(parser::parse_assignments(id, text, &mut diagnostics));
    }
    for (at, text) in beside.inputs.iter().enumerate() {
        let (statement, assignment) = input_text(at, text);
        if let Some(text) = statement {
            let id: SourceId = sources.add("--input", text.clone());
            let mut more = parser::parse(id, &text, false, &mut diagnostics);
            file.statements.append(&mut more.statements);
        }
        let id: SourceId = sources.add("--input", assignment.clone());
        settings.extend(parser::parse_assignments(id, &assignment, &mut diagnostics));
    }
    let mut state = Vec::new();
    if let Some(text) = beside.at {
        let id: SourceId = sources.add("--at", text);
        state = parser::parse_assignments(id, text, &mut diagnostics);
    }
    let (files, tables) = match reader {
        Some(reader) => read_files(&file, main, reader, &mut sources, &mut diagnostics),
        None => Default::default(),
    };
    let sources = Arc::new(sources);
    let model = resolve(
        &file,
        resolve::Beside {
            overrides: &settings,
            state: &state,
            names: beside.names,
            coordinates: beside.coordinates,
            tables: Some(&tables),
        },
        &files,
        sources.clone(),
        limits,
        &mut diagnostics,
    );
    diagnostics
        .sort_by_key(|d| (d.labels.first().map(|l| (l.span.source, l.span.start)), d.severity));
    let texts = texts.take().into_iter().collect();
    let read = Read { texts, settings, files, tables, limits };
    Loaded { model, file, diagnostics, sources, read }
}

/// `F=drive.csv, cubic` as a table and what the input is by it; anything else as it stands.
fn input_text(at: usize, text: &str) -> (Option<String>, String) {
    let is_file = |value: &str| {
        let path = value.split(',').next().unwrap_or("").trim().trim_matches('"');
        path.to_ascii_lowercase().ends_with(".csv").then(|| path.to_owned())
    };
    let parts = text.split_once('=');
    let Some((name, path, value)) =
        parts.and_then(|(name, value)| Some((name, is_file(value)?, value)))
    else {
        return (None, text.to_owned());
    };
    let options = value.split_once(',').map_or(String::new(), |(_, rest)| format!(",{rest}"));
    let options = options.replace(['\n', '\r', ';', '#', '"'], " ");
    let table = format!("input_file_{}", at + 1);
    let statement = format!("table {table} = \"{path}\"{options}");
    (Some(statement), format!("{} = {table}(t)", name.trim()))
}

/// Reads the files that parts are built from, and those that these name.
fn read_files(
    file: &File,
    main: SourceId,
    reader: &Reader<'_>,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> (PartFiles, TableFiles) {
    let (mut files, mut tables) = (PartFiles::default(), TableFiles::default());
    read_tables(&file.statements, reader, sources, &mut tables);
    // By full name, so that a file named twice is read once.
    let mut known: FxHashMap<String, (SourceId, Arc<File>)> = FxHashMap::default();
    let mut pending: Vec<(SourceId, Vec<String>)> = vec![(main, part_names(&file.statements))];
    while let Some((from, names)) = pending.pop() {
        for name in names {
            let place = sources.get(from).name.clone();
            let found = match reader(&place, &name) {
                Err(why) => Err(why),
                Ok((full, text)) => Ok(match known.get(&full) {
                    Some((_, file)) => file.clone(),
                    None => {
                        let markdown = Syntax::of_path(&full) == Syntax::Markdown;
                        let id = sources.add(full.clone(), text.clone());
                        let mut part = parser::parse(id, &text, markdown, diagnostics);
                        part.checks.clear();
                        let mut used = uses::Uses::new(Some(reader));
                        used.splice(&mut part.statements, sources, diagnostics);
                        let part = Arc::new(part);
                        read_tables(&part.statements, reader, sources, &mut tables);
                        pending.push((id, part_names(&part.statements)));
                        known.insert(full, (id, part.clone()));
                        part
                    }
                }),
            };
            files.insert((from, name), found);
        }
    }
    (files, tables)
}

/// Reads the files that tables name, each relative to the text that names it.
fn read_tables(
    statements: &[Statement],
    reader: &Reader<'_>,
    sources: &Sources,
    tables: &mut TableFiles,
) {
    let mut pending: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StatementKind::Table { source: TableSource::File(name), .. } => {
                let key = (name.span.source, name.text.to_string());
                tables.entry(key).or_insert_with(|| {
                    let place = &sources.get(name.span.source).name;
                    reader(place, &name.text).map(|found| found.1)
                });
            }
            StatementKind::For { body, .. } | StatementKind::Model { body, .. } => {
                pending.extend(body.iter())
            }
            _ => {}
        }
    }
}

/// The names that `observe` gives, in parts too.
fn output_names(statements: &[Statement]) -> Vec<&str> {
    let mut names = Vec::new();
    let mut pending: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StatementKind::Output(list) => {
                names.extend(list.iter().map(|define| &*define.entry.name.text));
            }
            StatementKind::Observe(list) => {
                let entries = list.iter().filter_map(|item| item.entry.as_ref());
                names.extend(entries.map(|entry| &*entry.name.text));
            }
            StatementKind::For { body, .. } | StatementKind::Model { body, .. } => {
                pending.extend(body.iter())
            }
            _ => {}
        }
    }
    names
}

/// The files the parts of a text are built from.
fn part_names(statements: &[Statement]) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StatementKind::Part { source: PartSource::File(name), .. } => {
                names.push(name.text.to_string())
            }
            StatementKind::For { body, .. } | StatementKind::Model { body, .. } => {
                pending.extend(body.iter())
            }
            _ => {}
        }
    }
    names
}
