//! False alarms: the verdict on every page of the gallery and every benchmark, by a run with its
//! second one. All of them pass but those that must not.
//!
//! `cargo test --test verdicts -- --nocapture` shows the table.

use dalembert::simulate::Observation;
use dalembert::simulate::Setting;
use dalembert::simulate::run::RunOptions;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::{Input, Options};
use std::ops::ControlFlow;

/// Nothing is done with the rows.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Pages whose runs do not pass, and what is said of them.
const OTHERS: &[(&str, &str)] = &[
    // Two rods that swing over: at 10 s the last digits of the start are felt in the seventh.
    ("double-pendulum", "sensitive"),
    // The page shows a motion that is not determined.
    ("singular-wheel-and-particle", "the run ended early"),
    ("two-masses-incomplete", "the run ended early"),
];

#[test]
fn every_page_passes_but_those_that_must_not() {
    let mut wrong = Vec::new();
    let mut passed = 0;
    for page in dalembert::gallery::pages() {
        let (name, verdict) = (page.name, verdict(page.name));
        let words = verdict.as_ref().unwrap_or_else(|why| why);
        println!("{name:44} {} {words}", if verdict.is_ok() { "pass  " } else { "" });
        let expected = OTHERS.iter().find(|other| other.0 == name).map(|other| other.1);
        let is_right = match (&verdict, expected) {
            (Ok(_), None) => true,
            (Err(why), Some(words)) => why.starts_with(words),
            _ => false,
        };
        passed += u32::from(verdict.is_ok());
        if !is_right {
            wrong.push(format!("{name}: {verdict:?}"));
        }
    }
    println!("{passed} pass");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(passed >= 78, "{passed}");
}

fn verdict(name: &str) -> Result<String, String> {
    let input = Input::open(&format!("gallery:{name}")).map_err(|_| "no such page")?;
    let loaded = dalembert::load(&input, &Options::default());
    let model = loaded.model.ok_or("the model has faults")?;
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let options = RunOptions::of_model(&setting);
    let report = run_verified(&setting, &options, false, &mut Nowhere)
        .map_err(|error| format!("is not run: {error:?}").chars().take(120).collect::<String>())?;
    report.verdict().map_err(|why| why.join("; "))?;
    let error = report.error.estimate().map_or(f64::NAN, |e| e.relative);
    Ok(format!("error {error:.1e}, {} steps", report.statistics.steps))
}
