//! `dal report`: equations, analysis, motion, figure and certificate as one document.

use crate::Status;
use crate::args::Report;
use crate::commands::derive;
use crate::interrupt::Interrupt;
use crate::progress::{self, ProgressLine};
use crate::report::{self, Color};
use crate::show::{Chosen, Shown};
use dalembert::analyze::{Request, Watch, analyze_watched};
use dalembert::export::events::happened;
use dalembert::export::plot::{Mark, Modes, Motion, Strobe};
use dalembert::export::scene::Scene;
use dalembert::export::table::Columns;
use dalembert::export::{AnalysisPage, Derivation, Extras, ReportPage, RunPage};
use dalembert::formulations::Variables;
use dalembert::model::system::TOLERANCES;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::run::{Progress, RunOptions, RunReport};
use dalembert::simulate::{Observation, Setting};
use dalembert::{Model, Options, refusals};
use std::ops::ControlFlow;

/// The drawing is shown at so many instants.
const FRAMES: usize = 8;

pub(crate) fn run(args: &Report, color: Color) -> Status {
    let shown: Result<Vec<Shown>, String> = args.show.iter().map(|t| Shown::parse(t)).collect();
    let shown = match shown {
        Ok(shown) => shown,
        Err(words) => return wrong_usage(&words),
    };
    if args.tol.is_some_and(|tol| !TOLERANCES.contains(&tol)) {
        return wrong_usage("--tol is a number from 1e-15 to 0.1");
    }
    if args.t_end.is_some_and(|end| !end.is_finite()) {
        return wrong_usage("--t-end is a finite number");
    }
    let observe = shown.iter().flat_map(Shown::observes).collect();
    let options = Options { observe, ..Options::default() };
    let loaded = match report::load_with(&args.model, options, false) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    report::diagnostics(&loaded.diagnostics, &loaded, color);
    let Some(model) = loaded.model.as_ref().filter(|_| !loaded.is_faulty()) else {
        report::say(&format!("\n{}", report::count(&loaded.diagnostics)));
        return Status::ModelFaults;
    };
    progress::stage("deriving the equations");
    let in_phase = model.shown();
    let equations = match dalembert::derive(&in_phase, args.formulation.as_deref()) {
        Ok(equations) => equations,
        Err(faults) => {
            report::diagnostics(&faults, &loaded, color);
            return Status::ModelFaults;
        }
    };
    let extras = Extras { solved: args.solved, parts: args.parts, exact: false };
    let derivation = Derivation::with(&in_phase, &equations, extras);
    progress::stage("looking at the model");
    let mut findings: Vec<String> = loaded.diagnostics.iter().map(|d| d.message.clone()).collect();
    findings.extend(dalembert::lint(&loaded).into_iter().map(|d| d.message));
    let stage = |words| {
        progress::stage(words);
        ControlFlow::Continue(())
    };
    let request = Request { searches: true, ..Request::default() };
    let Ok(analysis) = analyze_watched(model, &request, &Watch::by(&stage)) else {
        return Status::NumbersFailed;
    };
    let words = |list: Vec<dalembert::Diagnostic>| {
        list.into_iter().map(|d| d.message).collect::<Vec<_>>().join("; ")
    };
    let analysis = analysis.map_err(|error| words(refusals::of_evaluation(&error, model)));
    progress::stage("deriving and compiling the equations");
    let moved = motion(args, model, shown);
    let (report, figures) = match moved {
        Ok((report, figures)) => (Ok(report), figures),
        Err(Trouble::Usage(words)) => return wrong_usage(&words),
        Err(Trouble::Run(words)) => (Err(words), Vec::new()),
    };
    let failed = match &report {
        Ok(report) => report.verdict().is_err(),
        Err(_) => true,
    };
    let page = ReportPage {
        derivation: &derivation,
        findings,
        analysis: match &analysis {
            Ok(found) => Ok(AnalysisPage { model, analysis: found }),
            Err(words) => Err(words.clone()),
        },
        run: match &report {
            Ok(report) => Ok(RunPage { model, report, files: &[] }),
            Err(words) => Err(words.clone()),
        },
        figures,
        command: format!("dal report {}", args.model.model),
    };
    let status = derive::write(&page.to_html(), args.out.as_deref());
    match (status, &report) {
        (Status::Fine, Err(words)) => {
            report::say(&format!("error: no motion: {words}"));
            Status::NumbersFailed
        }
        (Status::Fine, Ok(_)) if failed => Status::NumbersFailed,
        (status, _) => status,
    }
}

fn wrong_usage(words: &str) -> Status {
    report::say(&format!("error: {words}"));
    Status::WrongUsage
}

enum Trouble {
    Usage(String),
    Run(String),
}

/// The motion, verified, and figures of it.
fn motion(
    args: &Report,
    model: &Model,
    mut shown: Vec<Shown>,
) -> Result<(RunReport, Vec<String>), Trouble> {
    let setting = Setting::new(model)
        .map_err(|missing| Trouble::Run(format!("no values for {}", missing.0.join(", "))))?;
    let mut options = RunOptions::of_model(&setting);
    options.end = args.t_end.unwrap_or(options.end);
    options.tolerance = args.tol.unwrap_or(options.tolerance);
    if let Some(one) = args.formulation.as_deref().and_then(dalembert::formulations::by_name) {
        options.formulation = one;
    }
    let canonical = options.formulation.variables() == Variables::Momenta;
    let columns = Columns::new(&setting, canonical, true);
    let modes = Modes::new(model).filter(|_| shown.is_empty());
    if shown.is_empty() {
        let names = setting.model.system.coordinates.iter().map(|c| c.name.clone());
        shown.push(Shown::coordinates(names));
    }
    let chosen = Chosen::new(&shown, &columns).map_err(Trouble::Usage)?;
    let (line, interrupt) = (ProgressLine::new(), Interrupt::listen());
    let scene = Scene::new(model);
    let drawn = scene.why().is_none();
    let mut sink = Curves {
        setting: &setting,
        columns,
        chosen,
        motion: drawn.then(|| Motion::new(scene)),
        modes,
        row: Vec::new(),
        rows: 0,
        line,
        interrupt,
    };
    let result = run_verified(&setting, &options, false, &mut sink);
    sink.line.clear();
    sink.interrupt.release();
    let report = result.map_err(|error| {
        let faults = refusals::of_run(&error, model);
        Trouble::Run(faults.into_iter().map(|d| d.message).collect::<Vec<_>>().join("; "))
    })?;
    if sink.rows == 0 {
        return Ok((report, Vec::new()));
    }
    let mut figure = sink.chosen.figure("", &sink.columns);
    let marks = happened(model, &report).into_iter();
    figure.marks = marks.map(|(t, name)| Mark { t, name }).collect();
    if let Some(modes) = &sink.modes {
        figure = figure.with_modes(modes);
    }
    figure.strobe = sink.motion.map(|motion| Strobe { motion, frames: FRAMES });
    Ok((report, vec![figure.to_svg()]))
}

/// Takes the curves of a run.
struct Curves<'a> {
    setting: &'a Setting,
    columns: Columns,
    chosen: Chosen,
    motion: Option<Motion>,
    modes: Option<Modes>,
    row: Vec<f64>,
    rows: usize,
    line: ProgressLine,
    interrupt: Interrupt,
}

impl Sink for Curves<'_> {
    fn restart(&mut self) {
        self.rows = 0;
        self.chosen.clear();
        if let Some(motion) = &mut self.motion {
            motion.clear();
        }
        if let Some(modes) = &mut self.modes {
            modes.clear();
        }
    }

    fn record(&mut self, row: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        self.interrupt.guard();
        self.columns.row(self.setting, row, &mut self.row);
        self.chosen.row(&self.row);
        if let Some(motion) = &mut self.motion {
            motion.record(self.setting, row);
        }
        if let Some(modes) = &mut self.modes {
            modes.record(row);
        }
        self.rows += 1;
        ControlFlow::Continue(())
    }

    fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        self.line.step(progress);
        match self.interrupt.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
