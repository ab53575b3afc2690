//! `dal check`: faults, warnings, and what the model consists of.

use crate::Status;
use crate::args::Check;
use crate::commands::verdict;
use crate::progress;
use crate::report::{self, Color};
use dalembert::checks::{CheckOutcome, CheckResult};
use dalembert::export::scene::Scene;
use dalembert::export::text::list;
use dalembert::model::codes::Code;
use dalembert::model::system::Energy;
use dalembert::model::tree::CheckKind;
use dalembert::{Loaded, Model, Severity};
use serde_json::{Map, Value, json};

pub(crate) fn run(args: &Check, color: Color) -> Status {
    let loaded = match report::load(&args.model, args.json) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    let mut loaded = loaded;
    progress::stage("holding the checks of the page against numbers");
    let results = dalembert::checks::run(&loaded);
    // A page that expects its faults is fine if it has no others.
    let expected = expected(&loaded);
    let mut verdict = None;
    progress::stage("looking at the model");
    let findings = dalembert::lint(&loaded);
    if let Some(model) = loaded.model.as_ref().filter(|_| !loaded.is_faulty()) {
        progress::stage("looking for a motion at the start");
        match verdict::Verdict::of(model) {
            Ok(found) => verdict = Some(found),
            Err(faults) => loaded.diagnostics.extend(faults),
        }
        loaded.diagnostics.extend(findings);
        loaded.diagnostics.extend(results.iter().filter_map(dalembert::checks::fault));
    }
    let faulty = loaded
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Fault && !expected.contains(&d.code.name()));
    if args.json {
        report::data(&as_json(&loaded, verdict.as_ref(), &results, faulty).to_string());
    } else {
        report::diagnostics(&loaded.diagnostics, &loaded, color);
        match &loaded.model {
            Some(model) if !faulty => {
                report::data(&summary(model, &loaded, verdict.as_ref(), &results))
            }
            _ => report::say(&format!("\n{}", report::count(&loaded.diagnostics))),
        }
        if !faulty && loaded.is_faulty() {
            report::say("the page expects these faults");
        }
    }
    if faulty { Status::ModelFaults } else { Status::Fine }
}

/// The codes of faults that the page's own checks expect.
fn expected(loaded: &Loaded) -> Vec<&'static str> {
    let checks = loaded.file.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Fault(name) => Code::from_name(&name.text).map(Code::name),
        _ => None,
    });
    checks.collect()
}

/// What a person wants to know of a model without faults.
fn summary(
    model: &Model,
    loaded: &Loaded,
    verdict: Option<&verdict::Verdict>,
    results: &[CheckResult],
) -> String {
    let system = &model.system;
    let exprs = &model.exprs;
    let mut lines = Vec::new();
    if !system.title.is_empty() {
        lines.push(system.title.clone());
    }
    let names = |symbols: Vec<dalembert::expr::Symbol>| {
        symbols.iter().map(|&s| exprs.symbol_text(s)).collect()
    };
    lines.push(format!(
        "  coordinates  {:<4} {}",
        system.n_coordinates(),
        list(names(system.positions()), 12)
    ));
    let parameters = system.parameters.iter().map(|p| p.symbol).collect();
    if !system.parameters.is_empty() {
        lines.push(format!(
            "  parameters   {:<4} {}",
            system.parameters.len(),
            list(names(parameters), 12)
        ));
    }
    let unset: Vec<String> =
        system.parameters.iter().filter(|p| p.value.is_none()).map(|p| p.name.clone()).collect();
    if !unset.is_empty() {
        lines.push(format!(
            "  without value     {} (set them before numbers are asked for)",
            list(unset, 12)
        ));
    }
    let energy = match system.energy {
        Energy::Lagrangian { .. } => "L(q, q̇, t)",
        Energy::Hamiltonian { .. } => "H(q, p, t)",
    };
    lines.push(format!("  given by          {energy}"));
    if !system.speeds.is_empty() {
        let speeds = system.speeds.iter().map(|s| s.name.clone()).collect();
        lines.push(format!("  speeds       {:<4} {}", system.speeds.len(), list(speeds, 12)));
    }
    lines.push(format!("  constraints  {}", system.constraints.len()));
    let width = system.constraints.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
    for constraint in system.constraints.iter().take(40) {
        lines.push(format!("    {:<width$}  {}", constraint.name, constraint.kinds().join(", ")));
    }
    if system.constraints.len() > 40 {
        lines.push(format!("    … and {} more", system.constraints.len() - 40));
    }
    if let Some(verdict) = verdict {
        lines.extend(verdict.lines(model));
    }
    if !system.draws.is_empty() {
        let words = Scene::new(model).words();
        lines.push(format!("  draw         {:<4} {words}", system.draws.len()));
    }
    if !results.is_empty() {
        let hold = count(results, |o| matches!(o, CheckOutcome::Holds(_)));
        let mut words = format!("{hold} hold");
        let waiting = count(results, |o| matches!(o, CheckOutcome::Waits(_)));
        if waiting > 0 {
            words.push_str(&format!(", {waiting} not checked"));
        }
        lines.push(format!("  checks       {:<4} {words}", results.len()));
    }
    let found = report::count(&loaded.diagnostics);
    lines.push(if found.is_empty() {
        "no faults".to_owned()
    } else {
        format!("no faults, {found}")
    });
    lines.join("\n")
}

fn count(results: &[CheckResult], which: impl Fn(&CheckOutcome) -> bool) -> usize {
    results.iter().filter(|r| which(&r.outcome)).count()
}

fn as_json(
    loaded: &Loaded,
    verdict: Option<&verdict::Verdict>,
    results: &[CheckResult],
    faulty: bool,
) -> Value {
    let diagnostics = report::as_json(&loaded.diagnostics, loaded);
    let Some(model) = loaded.model.as_ref().filter(|_| !faulty) else {
        return json!({"format": 1, "verdict": "faults", "diagnostics": diagnostics});
    };
    let system = &model.system;
    let values = dalembert::model::parameters::values(&model.exprs, &system.parameters);
    let mut parameters = Map::new();
    for parameter in &system.parameters {
        let value = values.get(&parameter.symbol).copied().filter(|v| v.is_finite());
        parameters.insert(parameter.name.clone(), json!(value));
    }
    let constants: Map<String, Value> =
        system.constants.iter().map(|c| (c.name.clone(), json!(c.value))).collect();
    let mut kinds = Map::new();
    for constraint in &system.constraints {
        kinds.insert(constraint.name.clone(), json!(constraint.kinds()));
    }
    let mut object = json!({
        "format": 1,
        "system": system.title,
        "verdict": "no faults",
        "coordinates": system.coordinates.iter().map(|c| &c.name).collect::<Vec<_>>(),
        "parameters": parameters,
        "constants": constants,
        "speeds": system.speeds.iter().map(|s| &s.name).collect::<Vec<_>>(),
        "kinds": kinds,
        "checks": {
            "total": results.len(),
            "hold": count(results, |o| matches!(o, CheckOutcome::Holds(_))),
            "checked": count(results, |o| !matches!(o, CheckOutcome::Waits(_))),
        },
        "diagnostics": diagnostics,
    });
    if let Some(verdict) = verdict {
        verdict.write(model, &mut object);
    }
    object
}
