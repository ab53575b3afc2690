//! The page of a model: a run, and everything that one HTML file shows of it.

use dalembert_derive::picture::Picture;
use dalembert_export::RunPage;
use dalembert_export::scene::Scene;
use dalembert_model::system::Model;
use dalembert_page::columns::columns;
pub use dalembert_page::{Page, Samples, Source, VIEWER, Why, fill};
use dalembert_simulate::run::verify::{Sink, StateError, run_verified};
use dalembert_simulate::run::{Progress, RunError, RunOptions, RunReport, run_watched};
use dalembert_simulate::{Observation, Setting, Table};
use serde_json::Value;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// What a page is of.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The command that makes the page.
    pub command: &'a str,
    /// Where the run ends, if not where the model says.
    pub end: Option<f64>,
}

/// Room for the rows of a page's run.
pub fn samples(model: &Model) -> Samples {
    let picture = Picture::new(&model.exprs, &model.system).ok();
    let scene = Scene::new(model);
    Samples::new(columns(model, picture.as_ref(), &scene), scene)
}

/// The interval between outputs that a page shows all of.
pub fn every(setting: &Setting, options: &RunOptions, samples: &Samples) -> Option<f64> {
    let from = setting.number(setting.model.system.run.from, &Table::default());
    let every = (options.end - from).abs() / samples.wanted() as f64;
    (every > 0.0 && every.is_finite()).then_some(every)
}

/// The data of the page of a run that was made.
pub fn data(
    origin: Origin,
    (setting, options): (&Setting, &RunOptions),
    report: &RunReport,
    samples: &Samples,
) -> Value {
    let verdict = RunPage { model: &setting.model, report, files: &[] }.verdict();
    let page = Page {
        model: origin.model,
        source: (origin.name, origin.text),
        setting,
        command: origin.command,
        version: env!("CARGO_PKG_VERSION"),
        report,
        verdict: &verdict,
        samples,
        formulation: options.formulation,
        end: origin.end,
    };
    page.data()
}

/// A page with its run.
pub struct Made {
    /// The data of the page; [`fill`] makes it HTML.
    pub data: Value,
    /// The run.
    pub report: RunReport,
    /// Its rows.
    pub samples: Samples,
}

/// Runs a model and makes its page; with `verify` the run is compared with a second one. `watch`
/// hears how far it is, and may end it.
pub fn make(
    origin: Origin,
    (setting, options): (&Setting, &RunOptions),
    verify: bool,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Made, RunError> {
    let mut samples = samples(origin.model);
    let mut options = options.clone();
    options.every = every(setting, &options, &samples).or(options.every);
    let report = match verify {
        true => {
            let mut sink = Rows { setting, samples: &mut samples, watch };
            run_verified(setting, &options, true, &mut sink)?
        }
        false => {
            let rows = RefCell::new(&mut samples);
            let mut record = |row: &Observation| {
                rows.borrow_mut().record(setting, row, None);
                ControlFlow::Continue(())
            };
            run_watched(setting, &options, &mut record, watch)?
        }
    };
    let data = data(origin, (setting, &options), &report, &samples);
    Ok(Made { data, report, samples })
}

struct Rows<'a> {
    setting: &'a Setting,
    samples: &'a mut Samples,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Sink for Rows<'_> {
    fn restart(&mut self) {
        self.samples.restart();
    }

    fn record(&mut self, row: &Observation, error: Option<&StateError>) -> ControlFlow<()> {
        self.samples.record(self.setting, row, error);
        ControlFlow::Continue(())
    }

    fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        (self.watch)(progress)
    }
}
