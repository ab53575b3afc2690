//! `dal analyze`: what is true of a model.

use crate::Status;
use crate::args::Analyze;
use crate::commands::eval;
use crate::progress;
use crate::report::{self, Color};
use crate::show::pieces;
use dalembert::analyze::{Interrupted, Request, Watch, analyze_watched};
use dalembert::export::AnalysisPage;
use dalembert::expr::ExprId;
use dalembert::{Model, Options};
use serde_json::json;
use std::ops::ControlFlow;

/// Names under which F and G are resolved, as outputs are.
const ARGUMENTS: [&str; 2] = ["bracket_left", "bracket_right"];

pub(crate) fn run(args: &Analyze, color: Color) -> Status {
    let mut options = Options::default();
    if let Some(text) = &args.bracket {
        let list = pieces(text);
        let [f, g] = &list[..] else {
            report::say("error: --bracket takes two functions, as in --bracket \"x, p_x\"");
            return Status::WrongUsage;
        };
        options.observe =
            vec![format!("{} = {f}", ARGUMENTS[0]), format!("{} = {g}", ARGUMENTS[1])];
    }
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
    let Some(model) = loaded.model.take() else { return Status::ModelFaults };
    let mut request = Request { searches: true, ..Request::default() };
    if args.bracket.is_some() {
        match arguments(&model) {
            Ok(pair) => request.bracket = Some(pair),
            Err(why) => {
                report::say(&format!("error: --bracket: {why}"));
                return Status::WrongUsage;
            }
        }
    }
    let stage = |words| {
        progress::stage(words);
        ControlFlow::Continue(())
    };
    let found = match analyze_watched(&model, &request, &Watch::by(&stage)) {
        Ok(found) => found,
        Err(Interrupted) => return Status::NumbersFailed,
    };
    match found {
        Ok(found) => {
            let page = AnalysisPage { model: &model, analysis: &found };
            if args.json {
                report::data(&page.to_json().to_string());
            } else {
                report::data(page.to_text().trim_end());
            }
            match (&found.bracket, args.bracket.is_some()) {
                (Err(why), true) => {
                    report::say(&format!("error: --bracket: {why}"));
                    Status::NumbersFailed
                }
                _ => Status::Fine,
            }
        }
        Err(error) => {
            let (faults, status) = eval::explain(error, &model);
            match status {
                Status::ModelFaults => report::refuse(args.json, &[], &loaded, &faults, color),
                status => {
                    let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
                    let words = words.join("; ");
                    if args.json {
                        let title = &model.system.title;
                        let object = json!({
                            "format": 1, "system": title, "error": words,
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
    }
}

/// F and G, as the model's language understands them.
fn arguments(model: &Model) -> Result<[ExprId; 2], String> {
    let system = &model.system;
    let mut known = [system.positions(), system.velocities(), system.momenta()].concat();
    known.extend(system.parameters.iter().map(|p| p.symbol));
    known.push(dalembert::expr::Symbol::TIME);
    let mut found = [ExprId::ZERO; 2];
    for (place, name) in found.iter_mut().zip(ARGUMENTS) {
        let Some(observe) = system.observes.iter().find(|o| o.name == name) else {
            return Err("each of the two must be one number, not a vector".to_owned());
        };
        let symbols = model.exprs.symbols_of(&[observe.value]);
        if let Some(other) = symbols.iter().find(|s| !known.contains(s)) {
            let other = model.exprs.symbol_info(*other).full_name();
            return Err(format!("`{other}` is no function of positions and momenta"));
        }
        *place = observe.value;
    }
    Ok(found)
}
