//! What the page of `dal view` is made of: a model's files, which are looked at again and again.

use crate::args::{Run, View};
use crate::commands::run::{explain_run, run_options};
use crate::report::{self, Color};
use dalembert::model::render;
use dalembert::page::{self, Origin};
use dalembert::simulate::Setting;
use dalembert::simulate::Tolerances;
use dalembert::simulate::points::hidden;
use dalembert::simulate::report::EvalError;
use dalembert::simulate::run::RunError;
use dalembert::{Diagnostic, Input, Loaded, Model, Options, Severity, failures};
use dalembert_serve::{Made, Source};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A model whose files are watched.
pub(super) struct Watched {
    args: View,
    color: Color,
    files: Mutex<Files>,
}

/// What is looked at: the files that were read last, and which models are beside the first, as
/// one that a part names may be missing.
#[derive(Default)]
struct Files {
    paths: BTreeSet<PathBuf>,
    folder: Option<PathBuf>,
    /// The inputs of the model as it was read last.
    inputs: BTreeSet<String>,
}

impl Watched {
    pub fn new(args: View, color: Color) -> Watched {
        let mut files = Files::default();
        // The gallery is in the program.
        if !args.model.model.starts_with("gallery:") {
            let path = PathBuf::from(&args.model.model);
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            files.folder = Some(parent.unwrap_or(Path::new(".")).to_owned());
            files.paths.insert(path);
        }
        Watched { args, color, files: Mutex::new(files) }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on these files are looked at too.
    fn remember(&self, loaded: &Loaded) {
        let mut files = self.files();
        if let Some(model) = &loaded.model {
            files.inputs = model.system.inputs.iter().map(|input| input.name.clone()).collect();
        }
        if files.folder.is_some() {
            let parts = loaded.sources.iter().map(|source| PathBuf::from(&source.name));
            files.paths.extend(parts.filter(|path| path.is_file()));
        }
    }

    /// Diagnostics for the page; the terminal gets them too.
    fn tell(&self, list: &[Diagnostic], loaded: &Loaded) -> String {
        report::diagnostics(list, loaded, self.color);
        render::render(list, &loaded.sources, false).trim_end().to_owned()
    }

    /// The page of a model that was read without faults.
    fn page(&self, args: &Run, input: &Input, loaded: &Loaded, stop: &dyn Fn() -> bool) -> Made {
        let Some(mut model) = loaded.model.clone() else {
            return Made::Fault(self.tell(&loaded.diagnostics, loaded));
        };
        let refuse = |error: RunError, model: &Model| {
            let (faults, _) = explain_run(error, model);
            Made::Fault(self.tell(&faults, loaded))
        };
        if args.complete {
            match complete(&model) {
                Ok(completed) => model = completed,
                Err(error) => return refuse(RunError::Eval(error), &model),
            }
        }
        let setting = match Setting::new(&model) {
            Ok(setting) => setting,
            Err(missing) => return refuse(RunError::Eval(EvalError::Missing(missing)), &model),
        };
        let options = run_options(args, &setting, None);
        let origin = Origin {
            model: &model,
            name: &input.name,
            text: &input.text,
            command: &format!("dal view {}", input.name),
            end: args.t_end,
        };
        let stopped = Cell::new(false);
        let mut watch = |_| match stop() {
            true => {
                stopped.set(true);
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        };
        let made = page::make(origin, (&setting, &options), !args.no_verify, &mut watch);
        if stopped.get() {
            return Made::Stopped;
        }
        let page::Made { mut data, report, .. } = match made {
            Ok(made) => made,
            Err(error) => return refuse(error, &model),
        };
        let mut said = loaded.diagnostics.clone();
        said.extend(failures::notes(&setting, &report));
        said.extend(failures::explain(&setting, &report, &loaded.file));
        said.retain(|one| one.severity != Severity::Note);
        let trouble = if said.is_empty() { String::new() } else { self.tell(&said, loaded) };
        if let Some(verdict) = data["certificate"]["verdict"].as_str() {
            report::say(&format!("verdict: {verdict}"));
        }
        data["served"] = Value::Bool(true);
        let names = ["parameters", "inputs", "starts"]
            .iter()
            .flat_map(|list| names(&data[*list]))
            .collect();
        Made::Page { html: page::fill(&data), data: data.to_string(), names, trouble }
    }
}

impl Source for Watched {
    fn stamp(&self) -> u64 {
        let files = self.files();
        let mut hash = DefaultHasher::new();
        for path in &files.paths {
            std::fs::read(path).ok().hash(&mut hash);
        }
        let beside = files.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        let mut names: Vec<_> =
            beside.into_iter().flatten().flatten().map(|one| one.path()).collect();
        names.retain(|path| path.extension().is_some_and(|end| end == "dal" || end == "md"));
        names.sort();
        names.hash(&mut hash);
        hash.finish()
    }

    fn make(&self, values: &[(String, f64)], stop: &dyn Fn() -> bool) -> Made {
        let inputs = self.files().inputs.clone();
        let args = self.args.run(values, &|name| inputs.contains(name));
        let input = match Input::open(&args.model.model) {
            Ok(input) => input,
            Err(error) => {
                let hint = error.hint.map(|hint| format!("\n  = hint: {hint}")).unwrap_or_default();
                return Made::Fault(format!("error[{}]: {}{hint}", error.code, error.message));
            }
        };
        let options = Options {
            set: args.model.set.clone(),
            coordinates: args.model.coordinates.clone(),
            inputs: args.model.input.clone(),
            ..Options::default()
        };
        let loaded = dalembert::load(&input, &options);
        self.remember(&loaded);
        if loaded.is_faulty() {
            return Made::Fault(self.tell(&loaded.diagnostics, &loaded));
        }
        self.page(&args, &input, &loaded, stop)
    }
}

fn complete(model: &Model) -> Result<Model, EvalError> {
    Setting::new(model).map_err(EvalError::Missing)?;
    let completed =
        hidden::complete(model, &Tolerances::default()).map_err(EvalError::Completion)?;
    Ok(completed.model)
}

/// The names of sliders.
fn names(list: &Value) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|slider| slider["name"].as_str().map(str::to_owned)).collect()
}
