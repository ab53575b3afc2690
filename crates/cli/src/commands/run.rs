//! `dal run`: derives, simulates, certifies.

use crate::Status;
use crate::args::Run;
use crate::commands::eval::explain;
use crate::report::{self, Color};
use dalembert::export::RunPage;
use dalembert::export::csv::CsvWriter;
use dalembert::export::table::Columns;
use dalembert::model::codes::Code;
use dalembert::simulate::complete::{self, CompletionError};
use dalembert::simulate::drive::{End, Stabilize};
use dalembert::simulate::report::EvalError;
use dalembert::simulate::run::{RunError, RunOptions, run as simulate};
use dalembert::simulate::{Refusal, Setting, Tolerances};
use dalembert::{Diagnostic, Loaded, Model};
use serde_json::json;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::Path;

pub(crate) fn run(args: &Run, color: Color) -> Status {
    let mut loaded = match report::load(&args.model, args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if loaded.is_faulty() {
        return refuse(args, &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    let Some(mut model) = loaded.model.take() else { return Status::ModelFaults };
    match simulate_model(args, &mut model) {
        Ok(status) => status,
        Err(Trouble::Usage(words)) => {
            report::say(&format!("error: {words}"));
            Status::WrongUsage
        }
        Err(Trouble::Run(error)) => {
            let (faults, status) = explain_run(error, &model);
            if status == Status::ModelFaults {
                return refuse(args, &loaded, &faults, color);
            }
            let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
            if args.json {
                let object =
                    json!({"format": 1, "system": model.system.title, "error": words.join("; ")});
                report::data(&object.to_string());
            } else {
                report::say(&format!("error: {}", words.join("; ")));
            }
            status
        }
    }
}

enum Trouble {
    Usage(String),
    Run(RunError),
}

fn simulate_model(args: &Run, model: &mut Model) -> Result<Status, Trouble> {
    let fail = |error| Trouble::Run(RunError::Eval(error));
    if args.complete {
        Setting::new(model).map_err(|m| fail(EvalError::Missing(m)))?;
        let added = complete::complete(model, &Tolerances::default())
            .map_err(|e| fail(EvalError::Completion(e)))?;
        for implied in &added {
            report::say(&format!("completed by {} = 0", model.exprs.to_text(implied.residual)));
        }
    }
    let ignored =
        report::ignored(&args.ignore, model).map_err(|_| Trouble::Usage("see above".to_owned()))?;
    let setting = Setting::new(model).map_err(|m| fail(EvalError::Missing(m)))?;
    let mut options = RunOptions::of_model(&setting);
    options.choices.ignored = ignored;
    options.end = args.t_end.unwrap_or(options.end);
    options.every = args.every.or(options.every);
    options.tolerance = args.tol.unwrap_or(options.tolerance);
    options.step = args.step;
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
    let canonical = options.formulation.name() == "hamilton";
    let columns = Columns::new(&setting, canonical, args.forces);
    let mut sink = Sink::open(args.out.as_deref(), &columns)?;
    let mut row = Vec::new();
    let mut broken = None;
    let result = simulate(&setting, &options, &mut |observation| {
        columns.row(&setting, observation, &mut row);
        if let Err(error) = sink.row(&row) {
            broken = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let finished = result.map_err(Trouble::Run)?;
    sink.finish().map_err(|e| Trouble::Usage(e.to_string()))?;
    if let Some(error) = broken {
        return Err(Trouble::Usage(format!("cannot write the output: {error}")));
    }
    let page = RunPage { model: setting.model, report: &finished };
    if args.json {
        report::data(&page.to_json().to_string());
    } else {
        report::data(page.to_text().trim_end());
    }
    let failed = matches!(finished.end, End::Failed(_)) || finished.verdict().is_err();
    Ok(if failed { Status::NumbersFailed } else { Status::Fine })
}

/// Where rows go.
enum Sink {
    Nowhere,
    Csv(CsvWriter<BufWriter<File>>),
}

impl Sink {
    fn open(path: Option<&Path>, columns: &Columns) -> Result<Sink, Trouble> {
        let Some(path) = path else { return Ok(Sink::Nowhere) };
        let create = || {
            File::create(path)
                .map(BufWriter::new)
                .map_err(|e| Trouble::Usage(format!("cannot write `{}`: {e}", path.display())))
        };
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => CsvWriter::new(create()?, &columns.names)
                .map(Sink::Csv)
                .map_err(|e| Trouble::Usage(e.to_string())),
            _ => Err(Trouble::Usage(format!(
                "`{}` has no ending that is known; `.csv` is",
                path.display()
            ))),
        }
    }

    fn row(&mut self, values: &[f64]) -> std::io::Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Csv(table) => table.row(values),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Csv(table) => table.finish(),
        }
    }
}

fn explain_run(error: RunError, model: &Model) -> (Vec<Diagnostic>, Status) {
    let span = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    let plain = |words: String| vec![Diagnostic::fault(Code::NotApplicable, span, words)];
    match error {
        RunError::Eval(EvalError::Completion(CompletionError::Equations(faults)))
        | RunError::Formulation(faults)
        | RunError::Refused(Refusal::Formulation(faults)) => (faults, Status::ModelFaults),
        RunError::Eval(error) => explain(error, model),
        RunError::Refused(refusal) => (plain(refusal.to_string()), Status::NumbersFailed),
        RunError::Method(name) => {
            (plain(format!("there is no integrator `{name}` in this version")), Status::WrongUsage)
        }
        RunError::Option(words) => (plain(words), Status::WrongUsage),
    }
}

fn refuse(args: &Run, loaded: &Loaded, faults: &[Diagnostic], color: Color) -> Status {
    let mut all = loaded.diagnostics.clone();
    all.extend(faults.iter().cloned());
    if args.json {
        let diagnostics = report::as_json(&all, loaded);
        let object = json!({"format": 1, "verdict": "faults", "diagnostics": diagnostics});
        report::data(&object.to_string());
    } else {
        report::diagnostics(if faults.is_empty() { &all } else { faults }, loaded, color);
        report::say(&format!("\n{}", report::count(&all)));
    }
    Status::ModelFaults
}
