//! Runs of small models.

use dalembert::Model;
use dalembert::simulate::Observation;
use dalembert::simulate::run::{self, RunOptions, RunReport};
use dalembert::simulate::{Setting, State};
use std::ops::ControlFlow;

/// A run of a text by the formulation it is written for; its rows.
pub fn ran(text: &str, change: impl FnOnce(&mut RunOptions)) -> (RunReport, Vec<Observation>) {
    let loaded = super::load(text);
    let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", super::render(&loaded)));
    let setting = Setting::new(model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    change(&mut options);
    let mut rows = Vec::new();
    let report = run::run(&setting, &options, &mut |observation| {
        rows.push(observation.clone());
        ControlFlow::Continue(())
    });
    (report.unwrap_or_else(|error| panic!("{error:?}")), rows)
}

/// A run of a model by every formulation that applies: names and reports.
pub fn by_all(text: &str, tolerance: f64) -> Vec<(&'static str, RunReport)> {
    let loaded = super::load(text);
    let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", super::render(&loaded)));
    let setting = Setting::new(model).expect("values");
    let mut found = Vec::new();
    for formulation in dalembert::formulations::ALL {
        let mut options = RunOptions::of_model(&setting);
        options.formulation = *formulation;
        options.tolerance = tolerance;
        let report = run::run(&setting, &options, &mut |_| ControlFlow::Continue(()));
        if let Ok(report) = report {
            found.push((formulation.name(), report));
        }
    }
    found
}

/// The times of an event.
pub fn times(report: &RunReport, event: usize) -> Vec<f64> {
    report.event_log.iter().filter(|h| h.event == event).map(|h| h.t).collect()
}

/// The states before and after an event's turn.
pub fn change(report: &RunReport, turn: usize) -> (&State, &State) {
    let change = report.event_log[turn].change.as_ref().expect("a reset");
    (&change.0, &change.1)
}

/// A model of a text without faults.
pub fn model(text: &str) -> Model {
    let loaded = super::load(text);
    let shown = super::render(&loaded);
    loaded.model.unwrap_or_else(|| panic!("{shown}"))
}
