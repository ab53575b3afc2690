//! `dal linearize`: an equilibrium or steady motion, and the linear equations about it.

use crate::Status;
use crate::args::Linearize;
use crate::commands::eval::explain;
use crate::progress;
use crate::report::{self, Color};
use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{
    LinearizeError, Side, equilibria_within, floquet, linearize_along, linearize_here,
    linearize_watched, symbolic,
};
use dalembert::export::linearization::{failure_words, symbolic_json, symbolic_text};
use dalembert::export::{AlongPage, FloquetPage, LinearizationPage, LocalPage, WithinPage};
use dalembert::simulate::points::hidden::complete;
use dalembert::simulate::report::EvalError;
use dalembert::simulate::{Setting, StartError, Table, Tolerances};
use dalembert::{Loaded, Model, refusals};
use serde_json::json;
use std::ops::ControlFlow;

pub(crate) fn run(args: &Linearize, color: Color) -> Status {
    let mut loaded = match report::load_at(&args.model, args.at.as_deref(), args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if loaded.is_faulty() {
        return report::refuse(args.json, &[], &loaded, &[], color);
    }
    if !args.json {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
    }
    let Some(mut model) = loaded.model.take() else { return Status::ModelFaults };
    if args.complete {
        let completed = match Setting::new(&model) {
            Err(missing) => Err(EvalError::Missing(missing)),
            Ok(_) => complete(&model, &Tolerances::default()).map_err(EvalError::Completion),
        };
        match completed {
            Ok(completed) => model = completed.model,
            Err(error) => return failed(args, &loaded, &model, error, color),
        }
    }
    let setting = match Setting::new(&model) {
        Ok(setting) => setting,
        Err(missing) => {
            return failed(args, &loaded, &model, EvalError::Missing(missing), color);
        }
    };
    let stage = |words| {
        progress::stage(words);
        ControlFlow::Continue(())
    };
    let watch = Watch::by(&stage);
    let model_of = &model;
    let pages = match &args.along {
        _ if args.here => linearize_here(&setting, &watch).map(|found| {
            let page = LocalPage { model: model_of, found: &found };
            if args.json { page.to_json().to_string() } else { page.to_text() }
        }),
        _ if args.period.is_some() => {
            let period = args.period.unwrap_or_default();
            if !(period > 0.0 && period.is_finite()) {
                report::say("error: --period: a period is a positive number");
                return Status::WrongUsage;
            }
            floquet(&setting, period, &watch).map(|found| {
                let page = FloquetPage { model: model_of, found: &found };
                if args.json { page.to_json().to_string() } else { page.to_text() }
            })
        }
        _ if args.within.is_some() => {
            let text = args.within.as_deref().unwrap_or_default();
            let sides = match sides(text, model_of) {
                Ok(sides) => sides,
                Err(why) => {
                    report::say(&format!("error: --within: {why}"));
                    return Status::WrongUsage;
                }
            };
            equilibria_within(&setting, &sides, args.guesses, &watch).map(|found| {
                let page = WithinPage { model: model_of, found: &found };
                if args.json { page.to_json().to_string() } else { page.to_text() }
            })
        }
        Some(times) => linearize_along(&setting, &chosen(&setting, times), &watch).map(|found| {
            let page = AlongPage { model: model_of, found: &found };
            if args.json { page.to_json().to_string() } else { page.to_text() }
        }),
        None => linearize_watched(&setting, &watch).map(|found| {
            let page = LinearizationPage { model: model_of, found: &found };
            let symbols = args.symbolic.then(|| symbolic(&setting, &found));
            if args.json {
                let mut object = page.to_json();
                if let Some(symbols) = &symbols {
                    object["symbols"] = symbolic_json(symbols, &found, model_of);
                }
                return object.to_string();
            }
            let more = symbols.map(|s| symbolic_text(&s, &found, model_of)).unwrap_or_default();
            page.to_text() + &more
        }),
    };
    match pages {
        Ok(page) => {
            report::data(page.trim_end());
            Status::Fine
        }
        Err(
            LinearizeError::Start(StartError::Clash(faults)) | LinearizeError::Equations(faults),
        ) => report::refuse(args.json, &[], &loaded, &faults, color),
        Err(error) => {
            let words = failure_words(&error, &model);
            match refusals::of_linearization(&error, &model) {
                Some(faults) if args.json => {
                    let object = json!({
                        "format": 1, "system": model.system.title, "error": words,
                        "diagnostics": report::as_json(&faults, &loaded),
                    });
                    report::data(&object.to_string());
                }
                Some(faults) => report::failed(&faults, &loaded, color),
                None => say(args, &model, &words),
            }
            Status::NumbersFailed
        }
    }
}

/// `th=-1..4, x[2]=0..pi`.
fn sides(text: &str, model: &Model) -> Result<Vec<Side>, String> {
    let system = &model.system;
    let names: Vec<&String> = system
        .coordinates
        .iter()
        .map(|c| &c.name)
        .chain(system.states.iter().map(|z| &z.name))
        .collect();
    // Commas inside of brackets belong to indices.
    let mut depth = 0;
    let items = text.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    let end = |text: &str| -> Result<f64, String> {
        let text = text.trim();
        let (sign, plain) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
        let value = match plain.trim().strip_suffix("pi") {
            Some("") => Ok(std::f64::consts::PI),
            Some(factor) => {
                factor.trim_end_matches(['*', ' ']).parse::<f64>().map(|k| k * std::f64::consts::PI)
            }
            None => plain.trim().parse::<f64>(),
        };
        let value = value.ok().filter(|x| x.is_finite());
        value.map(|x| sign * x).ok_or_else(|| format!("`{text}` is no number"))
    };
    let mut sides: Vec<Side> = Vec::new();
    for item in items {
        let Some((name, range)) = item.split_once('=') else {
            return Err(format!("`{}` is not of the form `NAME=LOW..HIGH`", item.trim()));
        };
        let name = name.trim();
        let Some(place) = names.iter().position(|own| *own == name) else {
            return Err(format!("`{name}` is no coordinate or state of this model"));
        };
        let Some((low, high)) = range.split_once("..") else {
            return Err(format!("`{}` is not of the form `LOW..HIGH`", range.trim()));
        };
        let ends = [end(low)?, end(high)?];
        if ends[0].partial_cmp(&ends[1]) != Some(std::cmp::Ordering::Less) {
            return Err(format!("of `{name}` the first end is to be the lower one"));
        }
        if sides.iter().any(|side| side.place == place) {
            return Err(format!("`{name}` is given twice"));
        }
        sides.push(Side { place, ends });
    }
    Ok(sides)
}

/// The times asked for, or eleven of the run.
fn chosen(setting: &Setting, times: &[f64]) -> Vec<f64> {
    if !times.is_empty() {
        return times.to_vec();
    }
    let run = &setting.model.system.run;
    let ends = setting.numbers(&[run.from, run.to], &Table::default());
    (0..=10).map(|k| ends[0] + (ends[1] - ends[0]) * f64::from(k) / 10.0).collect()
}

fn failed(
    args: &Linearize,
    loaded: &Loaded,
    model: &Model,
    error: EvalError,
    color: Color,
) -> Status {
    let (faults, status) = explain(error, model);
    if status == Status::ModelFaults {
        return report::refuse(args.json, &[], loaded, &faults, color);
    }
    let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
    say(args, model, &words.join("; "));
    status
}

fn say(args: &Linearize, model: &Model, words: &str) {
    if args.json {
        let object = json!({"format": 1, "system": model.system.title, "error": words});
        report::data(&object.to_string());
    } else {
        report::say(&format!("error: {words}"));
    }
}
