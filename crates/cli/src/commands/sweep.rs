//! `dal sweep`: many cases of one model, into a folder.

use crate::Status;
use crate::args::Sweep;
use crate::interrupt::Interrupt;
use crate::progress::{self, ProgressLine};
use crate::report::{self, Color};
use dalembert::Input;
use dalembert::studies::{self, Asked, Study};
use dalembert::sweep::store::{Refused, Store, Summary};
use dalembert::sweep::table;
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &Sweep, color: Color) -> Status {
    let (asked, plan) = match asked(args).and_then(|asked| Ok((asked.plan()?, asked))) {
        Ok((plan, asked)) => (asked, plan),
        Err(words) => return wrong_usage(&words),
    };
    let input = match Input::open(&args.model.model) {
        Ok(input) => input,
        // It says what is wrong with the name.
        Err(_) => return report::load(&args.model, args.json).err().unwrap_or(Status::ModelFaults),
    };
    progress::stage("reading the model");
    let loaded = studies::load(&input, &args.model.set, &asked, &plan);
    if loaded.is_faulty() {
        return report::refuse(args.json, &[], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    progress::stage("deriving and compiling the equations");
    let study = match Study::new(loaded, &input, &args.model.set, &asked, plan) {
        Ok(study) => study,
        Err(error) => {
            report::say(&format!("error: {error}"));
            return Status::ModelFaults;
        }
    };
    let mut store = match Store::open(&args.out, study.form().clone(), args.resume) {
        Ok(store) => store,
        Err(refused) => return wrong_usage(&words(args, refused)),
    };
    let threads = args.threads.or_else(processors).unwrap_or(1);
    let (mut line, interrupt) = (ProgressLine::new(), Interrupt::listen());
    let clock = Instant::now();
    let mut own = 0;
    interrupt.guard();
    let outcome = study.run(&mut store, threads, &mut |progress| {
        own = progress.own;
        line.case(progress);
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.clear();
    interrupt.release();
    let seconds = clock.elapsed().as_secs_f64();
    let ended = outcome.and_then(|flow| Ok((flow, store.summary()?)));
    let (flow, summary) = match ended {
        Ok(ended) => ended,
        Err(error) => {
            report::say(&format!("error: cannot write into `{}`: {error}", args.out.display()));
            return Status::NumbersFailed;
        }
    };
    let (finished, _) = store.counts();
    tell(args, &study.title, &summary, (finished, study.plan.count()), (own, seconds));
    match flow {
        ControlFlow::Break(()) => {
            report::say("interrupted; `--resume` goes on with what is left");
            Status::NumbersFailed
        }
        ControlFlow::Continue(()) if summary.failed == summary.count => Status::NumbersFailed,
        ControlFlow::Continue(()) => Status::Fine,
    }
}

fn wrong_usage(words: &str) -> Status {
    report::say(&format!("error: {words}"));
    Status::WrongUsage
}

fn processors() -> Option<usize> {
    std::thread::available_parallelism().ok().map(Into::into)
}

fn asked(args: &Sweep) -> Result<Asked, String> {
    if args.threads == Some(0) {
        return Err("--threads is at least 1".to_owned());
    }
    Ok(Asked {
        vary: args.vary.clone(),
        cases: args.cases.as_deref().map(listed).transpose()?,
        sampling: args.sampling.clone(),
        samples: args.samples,
        seed: args.seed,
        observe: observed(&args.observe),
        tables: args.trajectories,
        end: args.t_end,
        every: args.every,
        tolerance: args.tol,
        method: args.method.clone(),
        formulation: args.formulation.clone(),
        coordinates: args.model.coordinates.clone(),
        inputs: args.model.input.clone(),
        lanes: args.lanes,
        part: None,
    })
}

/// Quantities, several of them in a text.
fn observed(texts: &[String]) -> Vec<String> {
    let all = texts.iter().flat_map(|text| crate::show::pieces(text));
    all.map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
}

/// The cases of a table, by the ending of its name.
fn listed(path: &Path) -> Result<table::Table, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("cannot read `{shown}`: {error}");
    let wrong = |words: String| format!("`{shown}`: {words}");
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv") => {
            let text = std::fs::read_to_string(path).map_err(failed)?;
            table::read_csv(&text).map_err(wrong)
        }
        Some("parquet") => {
            let bytes = std::fs::read(path).map_err(failed)?;
            table::read_parquet(&bytes).map_err(|unreadable| wrong(unreadable.to_string()))
        }
        _ => Err(format!("--cases: `{shown}` must end with `.csv` or `.parquet`")),
    }
}

fn words(args: &Sweep, refused: Refused) -> String {
    let folder = args.out.display();
    match refused {
        Refused::Taken => {
            format!(
                "`{folder}` has a study; `--resume` goes on with it, another folder begins anew"
            )
        }
        Refused::Other(what) => {
            let what: Vec<String> = what.iter().map(|key| format!("`{key}`")).collect();
            format!("the study in `{folder}` is another one: {} differ", what.join(", "))
        }
        Refused::Nothing => format!("`{folder}` has no study to go on with; leave out `--resume`"),
        Refused::Busy | Refused::PartBusy => format!("another process works on `{folder}`"),
        Refused::NoPart(part) => format!("`{folder}` has no part {part}"),
        Refused::Io(path, error) => format!("cannot use `{}`: {error}", path.display()),
    }
}

fn tell(args: &Sweep, title: &str, summary: &Summary, cases: (u64, u64), own: (u64, f64)) {
    let ((finished, count), (computed, seconds)) = (cases, own);
    if args.json {
        let mut object = summary.to_json();
        object["system"] = json!(title);
        object["cases"] = json!(count);
        object["finished"] = json!(finished);
        object["seconds"] = json!(seconds);
        object["folder"] = json!(args.out.display().to_string());
        report::data(&object.to_string());
        return;
    }
    let rate = computed as f64 / seconds;
    let mut text = format!("{title}\n\n{finished} of {count} cases");
    if computed > 0 {
        text += &format!(", {computed} now in {seconds:.2} s ({rate:.0}/s)");
    }
    text += &format!("\n{} failed", summary.failed);
    for (case, why) in &summary.first_failures {
        text += &format!("\n  case {case}: {why}");
    }
    if summary.failed as usize > summary.first_failures.len() {
        text += "\n  …";
    }
    if args.statistics {
        text += &statistics(summary);
    }
    text += &format!("\n\nwritten to {}", args.out.display());
    report::data(&text);
}

fn statistics(summary: &Summary) -> String {
    let width = summary.columns.iter().map(|c| c.0.chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!(
        "\n\n{:width$}  {:>14}  {:>14}  {:>14}  {:>14}",
        "", "mean", "deviation", "least", "largest"
    );
    let shown = |x: f64| if x.is_finite() { format!("{x:.6e}") } else { "–".to_owned() };
    for (name, column) in &summary.columns {
        let is_some = column.count > 0;
        let of = |x: f64| shown(if is_some { x } else { f64::NAN });
        text += &format!(
            "\n{name:width$}  {:>14}  {:>14}  {:>14}  {:>14}",
            of(column.mean),
            of(column.deviation()),
            of(column.least),
            of(column.largest)
        );
    }
    text
}
