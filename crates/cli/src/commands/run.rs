//! `dal run`: derives, simulates, certifies.

use crate::Status;
use crate::args::Run;
use crate::commands::eval::explain;
use crate::commands::options;
use crate::interrupt::Interrupt;
use crate::picture::{Picture, Wish};
use crate::progress::{self, ProgressLine};
use crate::recorder::{Fault, Recorder};
use crate::report::{self, Color};
use crate::show::Shown;
use dalembert::export::RunPage;
use dalembert::export::events::happened;
use dalembert::export::plot::Mark;
use dalembert::export::summary::Written;
use dalembert::export::table::Columns;
use dalembert::formulations::Variables;
use dalembert::page::{self, Samples};
use dalembert::simulate::Observation;
use dalembert::simulate::drive::Stabilize;
use dalembert::simulate::points::hidden;
use dalembert::simulate::report::EvalError;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::run::{Progress, RunError, RunOptions, RunReport, run_watched};
use dalembert::simulate::run::{Reason, Unsuited};
use dalembert::simulate::{Refusal, Setting, SolveError, Table, Tolerances};
use dalembert::{Diagnostic, Loaded, Model, Options, failures, refusals};
use serde_json::json;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// So many outputs serve the certificate and the estimate of the error, where nobody sees them.
const UNSEEN: f64 = 100.0;

pub(crate) fn run(args: &Run, color: Color) -> Status {
    let shown: Vec<Shown> = match args.show.iter().map(|text| Shown::parse(text)).collect() {
        Ok(shown) => shown,
        Err(words) => return wrong_usage(&words),
    };
    if let Err(words) = options::validate(args) {
        return wrong_usage(&words);
    }
    let observe = shown.iter().flat_map(Shown::observes).collect();
    let options = Options { observe, ..Options::default() };
    let mut loaded = match report::load_with(&args.model, options, args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if loaded.is_faulty() {
        return report::refuse(args.json, &[], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    if !shown.is_empty() && args.plot.is_none() && args.out.is_none() {
        return wrong_usage(
            "--show chooses the quantities of a figure, and none is asked for; add `--plot FILE.svg` \
             (or `--out FILE.csv`, for them as columns)",
        );
    }
    let Some(mut model) = loaded.model.take() else { return Status::ModelFaults };
    match simulate_model(args, &mut model, shown, &loaded, color) {
        Ok(status) => status,
        Err(Trouble::Usage(words)) => wrong_usage(&words),
        Err(Trouble::Told(status)) => status,
        Err(Trouble::Run(error)) => {
            let is_lost =
                matches!(&error, RunError::Refused(Refusal::Solve(SolveError::NotFinite { .. })));
            let (mut faults, status) = explain_run(error, &model);
            if status == Status::ModelFaults {
                return report::refuse(args.json, &[], &loaded, &faults, color);
            }
            if let Some(place) = Setting::new(&model)
                .ok()
                .filter(|_| is_lost)
                .and_then(|setting| failures::explain_start(&setting, &loaded.file))
            {
                faults = vec![place];
                if !args.json {
                    report::diagnostics(&faults, &loaded, color);
                    return status;
                }
            }
            let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
            if args.json {
                let object = json!({
                    "format": 1, "system": model.system.title, "error": words.join("; "),
                    "diagnostics": report::as_json(&faults, &loaded),
                });
                report::data(&object.to_string());
            } else {
                report::failed(&faults, &loaded, color);
            }
            status
        }
    }
}

fn wrong_usage(words: &str) -> Status {
    report::say(&format!("error: {words}"));
    Status::WrongUsage
}

enum Trouble {
    Usage(String),
    /// Said already.
    Told(Status),
    Run(RunError),
}

fn simulate_model(
    args: &Run,
    model: &mut Model,
    mut shown: Vec<Shown>,
    loaded: &Loaded,
    color: Color,
) -> Result<Status, Trouble> {
    let fail = |error| Trouble::Run(RunError::Eval(error));
    if args.complete {
        Setting::new(model).map_err(|m| fail(EvalError::Missing(m)))?;
        let completed = hidden::complete(model, &Tolerances::default())
            .map_err(|e| fail(EvalError::Completion(e)))?;
        *model = completed.model;
        for implied in &completed.added {
            report::say(&format!("completed by {} = 0", model.exprs.to_text(implied.residual)));
        }
    }
    let ignored = report::ignored(&args.ignore, model).map_err(Trouble::Told)?;
    let setting = Setting::new(model).map_err(|m| fail(EvalError::Missing(m)))?;
    let options = run_options(args, &setting, ignored);
    let canonical = options.formulation.variables() == Variables::Momenta;
    let mut columns = Columns::new(&setting, canonical, args.forces);
    if args.errors {
        columns = columns.with_errors(&setting);
    }
    let is_left = shown.is_empty();
    if is_left && args.frames.is_none() {
        let system = &setting.model.system;
        let moving =
            system.coordinates.iter().enumerate().filter(|(at, _)| !system.is_released(*at));
        shown.push(Shown::coordinates(moving.map(|(_, c)| c.name.clone())));
    }
    let mut options = options;
    let samples = args.html.as_ref().map(|_| page::samples(model));
    if let Some(samples) = samples.as_ref().filter(|_| args.every.is_none() && args.out.is_none()) {
        options.every = page::every(&setting, &options, samples).or(options.every);
    }
    let options = options;
    let plot = match &args.plot {
        Some(path) => {
            let wish = Wish { frames: args.frames, is_animated: args.animate, is_left };
            let picture = Picture::new(path, wish, &shown, &columns, &setting.model);
            Some(picture.map_err(Trouble::Usage)?)
        }
        None => None,
    };
    let recorder = Recorder::new(columns, args.out.as_deref(), plot).map_err(Trouble::Usage)?;
    let mut sink = Session {
        setting: &setting,
        recorder,
        samples,
        line: ProgressLine::new(),
        interrupt: Interrupt::listen(),
    };
    progress::stage("deriving and compiling the equations");
    let result = match args.no_verify {
        true => {
            // Both closures write to it, never at the same time.
            let sink = RefCell::new(&mut sink);
            run_watched(
                &setting,
                &options,
                &mut |row| sink.borrow_mut().record(row, None),
                &mut |progress| sink.borrow_mut().watch(progress),
            )
        }
        false => run_verified(&setting, &options, args.errors || args.html.is_some(), &mut sink),
    };
    sink.line.clear();
    let marks = result.as_ref().map(|report| marks(report, &setting.model)).unwrap_or_default();
    let (mut files, mut fault) = sink.recorder.finish(&setting.model.system.title, marks);
    sink.interrupt.release();
    let samples = sink.samples.take();
    let finished = result.map_err(Trouble::Run)?;
    if let (Some(path), Some(samples)) = (&args.html, &samples) {
        progress::stage("making the page");
        let text = loaded.sources.iter().next().map_or("", |source| &source.text);
        let origin = page::Origin {
            model,
            name: &args.model.model,
            text,
            command: &command_line(),
            end: args.t_end,
        };
        let data = page::data(origin, (&setting, &options), &finished, samples);
        match std::fs::write(path, page::fill(&data)) {
            Ok(()) => files.push(Written { path: path.display().to_string(), contents: None }),
            Err(error) => {
                let words = format!("cannot write `{}`: {error}", path.display());
                fault = fault.or(Some(Fault::Write(words)));
            }
        }
    }
    if let Some(Fault::Open(words)) = fault {
        return Err(Trouble::Usage(words));
    }
    let page = RunPage { model: &setting.model, report: &finished, files: &files };
    let mut said = failures::notes(&setting, &finished);
    said.extend(failures::explain(&setting, &finished, &loaded.file));
    if args.json {
        let mut object = page.to_json();
        let all: Vec<Diagnostic> = loaded.diagnostics.iter().cloned().chain(said).collect();
        object["diagnostics"] = report::as_json(&all, loaded);
        report::data(&object.to_string());
    } else {
        report::data(page.to_text().trim_end());
        report::diagnostics(&said, loaded, color);
    }
    if let Some(Fault::Write(words)) = fault {
        report::say(&format!("error: {words}"));
        return Ok(Status::NumbersFailed);
    }
    Ok(if finished.verdict().is_err() { Status::NumbersFailed } else { Status::Fine })
}

/// What happened on the way, for figures.
fn marks(report: &RunReport, model: &Model) -> Vec<Mark> {
    happened(model, report).into_iter().map(|(t, name)| Mark { t, name }).collect()
}

/// Where the rows of a run go, and who is told how far it is.
struct Session<'a> {
    setting: &'a Setting,
    recorder: Recorder,
    samples: Option<Samples>,
    line: ProgressLine,
    interrupt: Interrupt,
}

impl Sink for Session<'_> {
    fn restart(&mut self) {
        self.recorder.restart();
        self.samples.iter_mut().for_each(Samples::restart);
    }

    fn record(&mut self, row: &Observation, error: Option<&StateError>) -> ControlFlow<()> {
        self.interrupt.guard();
        if let Some(samples) = &mut self.samples {
            samples.record(self.setting, row, error);
        }
        self.recorder.record(self.setting, row, error)
    }

    fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        self.line.step(progress);
        match self.interrupt.is_asked() {
            true => ControlFlow::Break(()),
            false => self.recorder.flush(),
        }
    }
}

/// What the model asks for, unless the arguments ask otherwise.
pub(crate) fn run_options(
    args: &Run,
    setting: &Setting,
    ignored: Option<Vec<usize>>,
) -> RunOptions {
    let mut options = RunOptions::of_model(setting);
    options.choices.ignored = ignored;
    options.end = args.t_end.unwrap_or(options.end);
    options.every = args.every.or(options.every);
    if options.every.is_none() && args.out.is_none() && args.plot.is_none() {
        let from = setting.number(setting.model.system.run.from, &Table::default());
        options.every = Some((options.end - from).abs() / UNSEEN).filter(|every| *every > 0.0);
    }
    options.tolerance = args.tol.unwrap_or(options.tolerance);
    options.step = args.step;
    options.longest = args.max_step;
    if let Some(method) = &args.method {
        options.method.clone_from(method);
    }
    if let Some(one) = args.formulation.as_deref().and_then(dalembert::formulations::by_name) {
        options.formulation = one;
    }
    if let Some(one) = args.elimination.as_deref().and_then(dalembert::simulate::by_name) {
        options.elimination = one;
    }
    if let Some(one) = args.stabilize.as_deref().and_then(Stabilize::by_name) {
        options.stabilize = one;
    }
    options
}

/// The command as it was given, for the page to say.
fn command_line() -> String {
    let quoted = |word: String| match word.contains(char::is_whitespace) {
        true => format!("\"{word}\""),
        false => word,
    };
    let words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    format!("dal {}", words.join(" "))
}

/// Why an integrator does not suit, with the options that would change it.
fn unsuited_words(unsuited: &Unsuited, model: &Model) -> String {
    let name = unsuited.integrator;
    match unsuited.reason {
        Reason::HoldsConstraints => {
            format!("`{name}` holds the constraints by itself; leave out `--stabilize`")
        }
        Reason::HoldsBothLevels => format!(
            "`{name}` holds positions and velocities on the constraints by itself; leave out \
             `--stabilize baumgarte`"
        ),
        Reason::Variables { needed, formulation } => format!(
            "{}: it needs `--formulation {}`, not `{formulation}`",
            unsuited.moves(needed),
            Reason::formulation_in(needed)
        ),
        Reason::Drifts(row) => format!(
            "{}; `--formulation hamilton --method rattle` holds it",
            unsuited.drift(&model.system.constraints[row].name)
        ),
        _ => unsuited.words(&model.system),
    }
}

pub(crate) fn explain_run(error: RunError, model: &Model) -> (Vec<Diagnostic>, Status) {
    let mut faults = refusals::of_run(&error, model);
    let status = match error {
        RunError::Formulation(_) => Status::ModelFaults,
        RunError::Eval(error) => return explain(error, model),
        RunError::Refused(refusal) => return explain(EvalError::Refused(refusal), model),
        RunError::Method(_) | RunError::Option(_) => Status::WrongUsage,
        RunError::Unsuited(unsuited) => {
            if let Some(fault) = faults.first_mut() {
                fault.message = unsuited_words(&unsuited, model);
            }
            Status::WrongUsage
        }
    };
    (faults, status)
}
