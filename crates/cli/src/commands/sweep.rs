//! `dal sweep`: many cases of one model, into a folder.

use crate::Status;
use crate::args::Sweep;
use crate::interrupt::Interrupt;
use crate::progress::{self, ProgressLine};
use crate::report::{self, Color};
use dalembert::simulate::Setting;
use dalembert::simulate::run::RunOptions;
use dalembert::sweep::plan::{Asked, Plan};
use dalembert::sweep::pool::Crew;
use dalembert::sweep::store::{Form, Refused, Store, Summary};
use dalembert::sweep::{Cases, Kept, axes, study, table};
use dalembert::{Input, Options};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Cases of a file: some thousands are little to lose and enough to read at once.
const PART: u64 = 4096;

pub(crate) fn run(args: &Sweep, color: Color) -> Status {
    let plan = match plan(args) {
        Ok(plan) => plan,
        Err(words) => return wrong_usage(&words),
    };
    let input = match Input::open(&args.model.model) {
        Ok(input) => input,
        // It says what is wrong with the name.
        Err(_) => return report::load(&args.model, args.json).err().unwrap_or(Status::ModelFaults),
    };
    progress::stage("reading the model");
    let mut first = vec![0.0; plan.names.len()];
    plan.values(0, &mut first);
    let options = Options {
        set: args.model.set.clone(),
        inputs: args.model.input.clone(),
        observe: args.observe.clone(),
        ..Options::default()
    };
    let mut loaded = dalembert::sweep::load(&input, &options, &plan.names, &first);
    if loaded.is_faulty() {
        return report::refuse(args.json, &[], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    progress::stage("deriving and compiling the equations");
    let Some(model) = loaded.model.take() else { return Status::ModelFaults };
    let kept = Kept { observe: &args.observe, tables: args.trajectories, lanes: args.lanes };
    let change = |setting: &Setting, options: &mut RunOptions| set(args, setting, options);
    let cases = match Cases::new((&model, &loaded.file), &input, &plan.names, change, &kept) {
        Ok(cases) => cases,
        Err(error) => {
            report::say(&format!("error: {error}"));
            return Status::ModelFaults;
        }
    };
    let mut store = match Store::open(&args.out, form(args, &input, &plan, &cases), args.resume) {
        Ok(store) => store,
        Err(refused) => return wrong_usage(&words(args, refused)),
    };
    let threads = args.threads.or_else(processors).unwrap_or(1);
    let crew = Crew { threads, at_once: cases.at_once() };
    let (mut line, interrupt) = (ProgressLine::new(), Interrupt::listen());
    let clock = Instant::now();
    let mut own = 0;
    interrupt.guard();
    let outcome = study::run(
        &mut store,
        &plan,
        crew,
        || cases.worker(),
        |worker, values| worker.batch(values),
        &mut |progress| {
            own = progress.own;
            line.case(progress);
            if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
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
    tell(args, &model.system.title, &summary, (finished, plan.count()), (own, seconds));
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

fn plan(args: &Sweep) -> Result<Plan, String> {
    if args.threads == Some(0) {
        return Err("--threads is at least 1".to_owned());
    }
    if let Some(path) = &args.cases {
        let (names, values) = listed(path)?;
        return Ok(Plan::of_table(names, values));
    }
    let text = args.vary.join(", ");
    let axes = axes::parse(&text, &|number| dalembert::sweep::constant(number))
        .map_err(|wrong| format!("--vary: {wrong}"))?;
    let asked =
        Asked { sampling: args.sampling.as_deref(), samples: args.samples, seed: args.seed };
    Plan::new(axes, &asked)
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

fn set(args: &Sweep, setting: &Setting, options: &mut RunOptions) {
    options.end = args.t_end.unwrap_or(options.end);
    options.tolerance = args.tol.unwrap_or(options.tolerance);
    if let Some(method) = &args.method {
        options.method.clone_from(method);
    }
    if let Some(one) = args.formulation.as_deref().and_then(dalembert::formulations::by_name) {
        options.formulation = one;
    }
    options.every = args.every.or(options.every);
    if !args.trajectories {
        // Nothing but the end is seen.
        options.every = Some((options.end.abs() + setting.duration()).max(f64::MIN_POSITIVE));
    }
}

/// What has to be the same for a study to go on.
fn form(args: &Sweep, input: &Input, plan: &Plan, cases: &Cases) -> Form {
    let mut columns = cases.varied(&plan.names);
    columns.extend(cases.columns());
    let options = cases.options();
    // A table may be long: what it is told by is kept, not its text.
    let table = plan.listed().map(|table| format!("{:016x}", table::fingerprint(table)));
    let identity = json!({
        "format": 1,
        "model": input.text,
        "set": args.model.set,
        "input": args.model.input,
        "vary": args.vary,
        "cases": table,
        "sampling": args.sampling,
        "samples": args.samples,
        "seed": args.seed,
        "count": plan.count(),
        "columns": columns,
        "trajectories": args.trajectories,
        "end": options.end,
        "every": args.every,
        "tolerance": options.tolerance,
        "method": options.method,
        "formulation": options.formulation.name(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    Form { identity, count: plan.count(), columns, table: cases.table_columns(), part: PART }
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
        Refused::Busy => format!("another process works on `{folder}`"),
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
