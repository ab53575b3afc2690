//! The verdict on every page of the gallery and every benchmark, with its error estimate: where
//! a page passes its own checks, a run that does not pass is a false alarm, or truly sensitive.
//!
//! `cargo run --release --example verdicts`

use dalembert::simulate::Setting;
use dalembert::simulate::observer::Observation;
use dalembert::simulate::recombine::recombine;
use dalembert::simulate::run::RunOptions;
use dalembert::simulate::verify::{Sink, StateError, run_verified};
use dalembert::{Input, Options};
use std::ops::ControlFlow;

/// Nothing is done with the rows.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn main() {
    let (mut passed, mut others) = (0, 0);
    for page in dalembert::gallery::pages() {
        let name = page.name;
        let verdict = verdict(name);
        match verdict {
            Ok(words) => {
                passed += 1;
                println!("{name:44} pass   {words}");
            }
            Err(words) => {
                others += 1;
                println!("{name:44} {words}");
            }
        }
    }
    println!("\n{passed} pass, {others} do not");
}

fn verdict(name: &str) -> Result<String, String> {
    let input = Input::open(&format!("gallery:{name}")).map_err(|_| "no such page")?;
    let loaded = dalembert::load(&input, &Options::default());
    let mut model = loaded.model.ok_or("the model has faults")?;
    recombine(&mut model);
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let options = RunOptions::of_model(&setting);
    let report = run_verified(&setting, &options, false, &mut Nowhere)
        .map_err(|error| format!("is not run: {error:?}").chars().take(120).collect::<String>())?;
    report.verdict().map_err(|why| why.join("; "))?;
    let error = report.error.estimate().map_or(f64::NAN, |e| e.relative);
    Ok(format!("error {error:.1e}, {} steps", report.statistics.steps))
}
