//! A study of a model in a folder: from what was asked for, or from the folder itself.
//!
//! `sweep.json` of the folder has all that a study is: the model's text, what is varied, how a
//! case is run. So any process that sees the folder can compute cases of it, whichever began it,
//! and what comes out is the same to the bit.
//!
//! ```text
//! asked ─plan, cases→ Study ─form→ folder ─open→ Study
//! ```

use crate::sweep::plan::{Asked as Sampled, Plan};
use crate::sweep::pool::Crew;
use crate::sweep::store::{self, Form, Refused, Store};
use crate::sweep::study::{self, Progress};
use crate::sweep::table::{self, Table};
use crate::sweep::{Cases, Kept, axes};
use crate::{Error, Input, Loaded, Options};
use dalembert_model::load::Syntax;
use dalembert_simulate::Setting;
use dalembert_simulate::run::RunOptions;
use serde_json::{Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The most cases that a thread moves at once where nothing else is said; nothing depends on it.
pub const LANES: usize = 8;

/// What was asked for of a study.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What is varied, as [`axes`] reads it.
    pub vary: Vec<String>,
    /// The cases as a table, in place of that.
    pub cases: Option<Table>,
    /// How cases are chosen, where they are not a grid,
    pub sampling: Option<String>,
    /// how many,
    pub samples: Option<u64>,
    /// and by which seed.
    pub seed: u64,
    /// What is kept of the end of each case; all of it if nothing is said.
    pub observe: Vec<String>,
    /// Whether the outputs of each case are kept.
    pub tables: bool,
    /// The end time; the model's, if nothing is said. So with all that follows.
    pub end: Option<f64>,
    /// The interval between outputs.
    pub every: Option<f64>,
    /// The tolerance.
    pub tolerance: Option<f64>,
    /// The integrator.
    pub method: Option<String>,
    /// The formulation, a name that is known.
    pub formulation: Option<String>,
    /// What the coordinates of joined bodies are.
    pub coordinates: Option<String>,
    /// What runs take for inputs.
    pub inputs: Vec<String>,
    /// The most cases that a thread moves at once.
    pub lanes: usize,
    /// How many cases a part has.
    pub part: Option<u64>,
}

impl Asked {
    /// The cases; words on what is wrong with what is varied.
    pub fn plan(&self) -> Result<Plan, String> {
        if let Some((names, values)) = &self.cases {
            return Ok(Plan::of_table(names.clone(), values.clone()));
        }
        let axes = axes::parse(&self.vary.join(", "), &|number| crate::sweep::constant(number))
            .map_err(|wrong| format!("vary: {wrong}"))?;
        let sampled =
            Sampled { sampling: self.sampling.as_deref(), samples: self.samples, seed: self.seed };
        Plan::new(axes, &sampled)
    }

    fn set(&self, setting: &Setting, options: &mut RunOptions) {
        options.end = self.end.unwrap_or(options.end);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        if let Some(method) = &self.method {
            options.method.clone_from(method);
        }
        if let Some(one) = self.formulation.as_deref().and_then(dalembert_derive::by_name) {
            options.formulation = one;
        }
        options.every = self.every.or(options.every);
        if !self.tables {
            // Nothing but the end is seen.
            options.every = Some((options.end.abs() + setting.duration()).max(f64::MIN_POSITIVE));
        }
    }
}

/// A study that is ready to be computed.
pub struct Study {
    /// The title of the model.
    pub title: String,
    /// Its cases by number,
    pub plan: Plan,
    /// and how one is computed.
    pub cases: Cases,
    form: Form,
}

/// Why the study of a folder cannot be had.
#[derive(Debug)]
pub enum OpenError {
    /// The folder cannot be used.
    Refused(Refused),
    /// Its model has faults, or they came with another version.
    Model(Error),
    /// What it is made of does not fit together: in words.
    Broken(String),
}

impl From<Refused> for OpenError {
    fn from(refused: Refused) -> OpenError {
        OpenError::Refused(refused)
    }
}

/// Reads the model of a study.
pub fn load(input: &Input, set: &[String], asked: &Asked, plan: &Plan) -> Loaded {
    let mut first = vec![0.0; plan.names.len()];
    if plan.count() > 0 {
        plan.values(0, &mut first);
    }
    let options = Options {
        set: set.to_vec(),
        coordinates: asked.coordinates.clone(),
        inputs: asked.inputs.clone(),
        observe: asked.observe.clone(),
        ..Options::default()
    };
    crate::sweep::load(input, &options, &plan.names, &first)
}

impl Study {
    /// A study of a model that was read by [`load`].
    pub fn new(
        loaded: Loaded,
        input: &Input,
        set: &[String],
        asked: &Asked,
        plan: Plan,
    ) -> Result<Study, Error> {
        if loaded.is_faulty() {
            return Err(loaded.into());
        }
        let Some(model) = &loaded.model else { return Err(loaded.into()) };
        let files: Vec<String> = loaded.files().map(mark).collect();
        let kept = Kept { observe: &asked.observe, tables: asked.tables, lanes: asked.lanes };
        let change = |setting: &Setting, options: &mut RunOptions| asked.set(setting, options);
        let cases = Cases::new((model, &loaded.file), input, &plan.names, change, &kept)?;
        let form = form((input, &files), set, asked, &plan, &cases);
        Ok(Study { title: model.system.title.clone(), plan, cases, form })
    }

    /// The study that a folder has.
    pub fn open(folder: &Path) -> Result<Study, OpenError> {
        let known = store::known(folder)?;
        let (input, set, asked) = of_known(&known, folder).map_err(OpenError::Broken)?;
        let plan = asked.plan().map_err(OpenError::Broken)?;
        let loaded = load(&input, &set, &asked, &plan);
        Study::new(loaded, &input, &set, &asked, plan).map_err(OpenError::Model)
    }

    /// What its folder is like.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The columns of its cases.
    pub fn columns(&self) -> &[String] {
        &self.form.columns
    }

    /// Computes what is left of a folder, or of a part, that was opened for it.
    pub fn run(
        &self,
        store: &mut Store,
        threads: usize,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let crew = Crew { threads, at_once: self.cases.at_once() };
        let work = |worker: &mut crate::sweep::Worker<'_>, values: &[&[f64]]| worker.batch(values);
        study::run(store, &self.plan, crew, || self.cases.worker(), work, watch)
    }
}

/// A file by its name and what its text is told by.
fn mark((name, text): (&str, &str)) -> String {
    format!("{name} {:016x}", table::fingerprint((&[text.to_owned()], &[])))
}

/// What has to be the same for a study to go on, and what else computing it takes.
fn form(
    (input, files): (&Input, &[String]),
    set: &[String],
    asked: &Asked,
    plan: &Plan,
    cases: &Cases,
) -> Form {
    let mut columns = cases.varied(&plan.names);
    columns.extend(cases.columns());
    let options = cases.options();
    // A table may be long: what it is told by is kept, not its text.
    let table = plan.listed().map(|table| format!("{:016x}", table::fingerprint(table)));
    let mut identity = json!({
        "format": 1,
        "model": input.text,
        "set": set,
        "vary": asked.vary,
        "cases": table,
        "sampling": asked.sampling,
        "samples": asked.samples,
        "seed": asked.seed,
        "count": plan.count(),
        "columns": columns,
        "trajectories": asked.tables,
        "end": options.end,
        "every": asked.every,
        "tolerance": options.tolerance,
        "method": options.method,
        "formulation": options.formulation.name(),
        "coordinates": asked.coordinates,
        "inputs": asked.inputs,
        "version": env!("CARGO_PKG_VERSION"),
    });
    // What is read from files may be another by the time that a study is gone on with.
    if !files.is_empty() {
        identity["files"] = json!(files);
    }
    // Others may have another folder to start from.
    let folder = input.folder.as_deref().map(|folder| {
        std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
    });
    let beside = json!({
        "name": input.name,
        "markdown": input.syntax == Syntax::Markdown,
        "folder": folder,
        "observe": asked.observe,
    });
    let listed = plan.listed().map(|(names, values)| (names.to_vec(), values.to_vec()));
    Form {
        identity,
        count: plan.count(),
        columns,
        table: cases.table_columns(),
        part: asked.part.unwrap_or(store::USUAL_PART).max(1),
        beside,
        cases: listed,
    }
}

/// The way back from [`form`].
fn of_known(known: &Value, folder: &Path) -> Result<(Input, Vec<String>, Asked), String> {
    let beside = store::beside(known);
    let broken = || "its `sweep.json` is not one of a study that others can work on".to_owned();
    let list = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|item| Some(item.as_str()?.to_owned())).collect()
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let cases = match known["cases"].as_str() {
        None => None,
        Some(mark) => {
            let path = folder.join("table.parquet");
            let bytes = std::fs::read(&path)
                .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
            let read = table::read_parquet(&bytes)
                .map_err(|wrong| format!("`{}`: {wrong}", path.display()))?;
            if format!("{:016x}", table::fingerprint((&read.0, &read.1))) != mark {
                return Err(format!("`{}` is not the table of this study", path.display()));
            }
            Some(read)
        }
    };
    let input = Input {
        name: text(&beside["name"]).ok_or_else(broken)?,
        text: text(&known["model"]).ok_or_else(broken)?,
        syntax: match beside["markdown"].as_bool().ok_or_else(broken)? {
            true => Syntax::Markdown,
            false => Syntax::Plain,
        },
        folder: beside["folder"].as_str().map(PathBuf::from),
    };
    let asked = Asked {
        vary: list(&known["vary"]).ok_or_else(broken)?,
        cases,
        sampling: text(&known["sampling"]),
        samples: known["samples"].as_u64(),
        seed: known["seed"].as_u64().ok_or_else(broken)?,
        observe: list(&beside["observe"]).ok_or_else(broken)?,
        tables: known["trajectories"].as_bool().ok_or_else(broken)?,
        end: known["end"].as_f64(),
        every: known["every"].as_f64(),
        tolerance: known["tolerance"].as_f64(),
        method: text(&known["method"]),
        formulation: text(&known["formulation"]),
        coordinates: text(&known["coordinates"]),
        inputs: list(&known["inputs"]).ok_or_else(broken)?,
        lanes: LANES,
        part: known["part"].as_u64(),
    };
    Ok((input, list(&known["set"]).ok_or_else(broken)?, asked))
}
