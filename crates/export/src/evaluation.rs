//! Numbers at a state, as text for a terminal and as JSON.

use crate::text::{list, width};
use crate::values::{full, number};
use dalembert_derive::Variables;
use dalembert_model::system::{Level, Model};
use dalembert_simulate::points::hidden::{Implied, Origin};
use dalembert_simulate::report::{Report, Residual};
use dalembert_simulate::{Answer, Evaluation, Refusal, Verdict};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Residuals below this, relative to the terms in them, are not worth a word.
const WORTH_SAYING: f64 = 1e-10;

/// A report and the model it is about.
pub struct EvaluationPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub report: &'m Report,
}

impl EvaluationPage<'_> {
    /// With the model of the phase that the state is in.
    fn in_phase(&self) -> EvaluationPage<'_> {
        let model = self.report.phase.as_ref().map_or(self.model, |here| &here.model);
        EvaluationPage { model, report: self.report }
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = self.in_phase().json();
        if let Some(here) = &self.report.phase {
            object["phase"] = crate::phase::to_json(here);
            if let Some(struck) = &here.struck {
                object["impact"] = crate::phase::impact(here, struck);
            }
        }
        object
    }

    fn json(&self) -> Value {
        let (report, system) = (self.report, &self.model.system);
        let state: Map<String, Value> = report
            .state
            .named(&self.model.exprs, system)
            .into_iter()
            .map(|(name, value)| (name, number(value)))
            .collect();
        let mut object = json!({
            "format": 1,
            "system": system.title,
            "t": number(report.state.t),
            "state": state,
            "results": report.answers.iter().map(|a| self.answer(a)).collect::<Vec<_>>(),
            "agreement": report.agreement.map_or(Value::Null, number),
            "residuals": self.residuals(),
            "terms": self.terms(),
            "observables": self.observables(),
            "added": report.added.iter().enumerate().map(|(at, i)| self.implied(i, Some(at))).collect::<Vec<_>>(),
            "implied": report.implied.iter().map(|i| self.implied(i, None)).collect::<Vec<_>>(),
        });
        if let Some(start) = &report.start {
            object["start"] = crate::start::to_json(self.model, start);
        }
        object
    }

    fn coordinates(&self) -> impl Iterator<Item = &str> {
        self.model.system.coordinates.iter().map(|c| c.name.as_str())
    }

    fn constraints(&self) -> impl Iterator<Item = &str> {
        self.model.system.constraints.iter().map(|c| c.name.as_str())
    }

    fn answer(&self, answer: &Answer) -> Value {
        let (status, evaluation) = match &answer.result {
            Ok(evaluation) => ("ok".to_owned(), Some(evaluation)),
            Err(refusal) => (refusal.to_string(), None),
        };
        let mut object = json!({
            "formulation": answer.formulation, "elimination": answer.elimination, "status": status,
            "motion": null, "rank": null, "rates": null, "accelerations": null,
            "constraint_force": null, "multipliers": null, "undetermined": [], "indeterminate": [],
            "gauss": null,
        });
        if let Some(evaluation) = evaluation {
            self.fill(&mut object, evaluation);
        }
        object
    }

    fn fill(&self, object: &mut Value, evaluation: &Evaluation) {
        let outcome = &evaluation.outcome;
        let rank = &outcome.rank;
        object["motion"] = json!(outcome.motion.name());
        object["rank"] = json!({
            "jacobian": rank.jacobian, "constraints": rank.constraints,
            "metric_and_jacobian": rank.metric_and_jacobian, "coordinates": rank.coordinates,
            "metric": rank.metric,
            "route": format!("{:?}", rank.route).to_lowercase(),
            "uncertain": rank.uncertain.map_or(Value::Null, number),
        });
        let picked = |names: &mut dyn Iterator<Item = &str>, flags: &[bool]| -> Vec<String> {
            names.zip(flags).filter(|(_, f)| **f).map(|(name, _)| name.to_owned()).collect()
        };
        object["undetermined"] = json!(picked(&mut self.coordinates(), &outcome.undetermined));
        object["indeterminate"] = json!(picked(&mut self.constraints(), &outcome.indeterminate));
        if let Some(condition) = outcome.condition {
            object["condition"] = number(condition);
        }
        let named = |names: &mut dyn Iterator<Item = &str>, values: &[f64]| -> Value {
            let pairs = names.zip(values).map(|(name, &value)| (name.to_owned(), number(value)));
            Value::Object(pairs.collect())
        };
        if !outcome.null.is_empty() {
            let directions: Vec<Value> =
                outcome.null.iter().map(|v| named(&mut self.coordinates(), v)).collect();
            object["null_directions"] = json!(directions);
        }
        if let Some(hidden) = &outcome.hidden {
            object["hidden"] = json!({
                "direction": named(&mut self.coordinates(), &hidden.direction),
                "value": number(hidden.value),
                "constraints": self.report.implied.iter().map(|i| self.equation(i)).collect::<Vec<_>>(),
            });
        }
        if let Some(conflict) = &outcome.conflict {
            object["conflict"] = json!({
                "weights": named(&mut self.constraints(), &conflict.weights),
                "value": number(conflict.value),
                "constraints": self.report.implied.iter().map(|i| self.equation(i)).collect::<Vec<_>>(),
            });
        }
        if !outcome.motion.exists() {
            return;
        }
        let mut rates = evaluation.rates.iter().map(String::as_str);
        object["rates"] = named(&mut rates, &outcome.v_dot);
        object["accelerations"] = named(&mut self.coordinates(), &evaluation.accelerations);
        object["constraint_force"] = named(&mut self.coordinates(), &evaluation.constraint_force);
        object["multipliers"] = named(&mut self.constraints(), &outcome.multipliers);
        if let Some(coupling) = outcome.coupling {
            object["coupling"] = number(coupling);
        }
        let gauss = &evaluation.gauss;
        object["gauss"] = json!({
            "residual": number(gauss.residual), "feasibility": number(gauss.feasibility),
            "stationarity": number(gauss.stationarity), "minimality": number(gauss.minimality),
        });
    }

    fn residuals(&self) -> Value {
        let mut object = Map::new();
        for residual in &self.report.residuals {
            let constraint = &self.model.system.constraints[residual.constraint];
            let entry = object.entry(constraint.name.clone()).or_insert_with(|| json!({}));
            let level = match (constraint.level, residual.is_rate) {
                (Level::Position, false) => "position",
                _ => "velocity",
            };
            entry[level] = number(residual.value);
        }
        Value::Object(object)
    }

    fn equation(&self, implied: &Implied) -> String {
        format!("{} = 0", self.model.exprs.to_source(implied.residual))
    }

    fn implied(&self, implied: &Implied, at: Option<usize>) -> Value {
        let level = match implied.level {
            Level::Position => "position",
            Level::Velocity => "velocity",
            Level::Acceleration => "acceleration",
        };
        let from: Vec<&str> = match &implied.origin {
            Origin::Massless(list) => {
                list.iter().map(|&i| self.model.system.coordinates[i].name.as_str()).collect()
            }
            Origin::Rows(list) | Origin::Servo(list) => {
                list.iter().map(|&i| self.model.system.constraints[i].name.as_str()).collect()
            }
        };
        let mut object =
            json!({"constraint": self.equation(implied), "level": level, "from": from});
        if let Some(at) = at {
            let appended = self.model.system.constraints.len() - self.report.added.len() + at;
            object["name"] = json!(self.model.system.constraints[appended].name);
        }
        object
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        self.in_phase().text()
    }

    fn text(&self) -> String {
        let mut page = String::new();
        let system = &self.model.system;
        if !system.title.is_empty() {
            let _ = writeln!(page, "{}\n{}\n", system.title, "═".repeat(width(&system.title)));
        }
        self.text_state(&mut page);
        for (at, implied) in self.report.added.iter().enumerate() {
            let appended = system.constraints.len() - self.report.added.len() + at;
            let name = &system.constraints[appended].name;
            let _ = writeln!(
                page,
                "completed by `{name}`: {} = 0   ({})",
                self.model.exprs.to_text(implied.residual),
                self.origin(implied)
            );
        }
        match self.report.answers.as_slice() {
            [one] => self.text_answer(&mut page, one),
            many => self.text_table(&mut page, many),
        }
        page
    }

    fn text_state(&self, page: &mut String) {
        let report = self.report;
        let _ = writeln!(page, "t = {}", report.state.t);
        let rows: Vec<(String, f64)> = report.state.named(&self.model.exprs, &self.model.system);
        columns(page, &rows);
        let moved = report.start.as_ref().map(|start| crate::start::line(self.model, start));
        if let Some(moved) = moved.filter(|moved| !moved.is_empty()) {
            let _ = writeln!(page, "found for the start: {moved}");
        }
        if let Some(here) = &report.phase {
            page.push_str(&crate::phase::to_text(here));
        }
        let off: Vec<&Residual> =
            report.residuals.iter().filter(|r| r.relative > WORTH_SAYING).collect();
        if !off.is_empty() {
            let words: Vec<String> = off
                .iter()
                .map(|r| {
                    let name = &self.model.system.constraints[r.constraint].name;
                    let rate = if r.is_rate { "the rate of " } else { "" };
                    format!("{rate}`{name}` by {:.3e}", r.value)
                })
                .collect();
            let _ = writeln!(page, "this state is off {}", list(words, 8));
        }
        page.push('\n');
    }

    fn origin(&self, implied: &Implied) -> String {
        match &implied.origin {
            Origin::Massless(list) => {
                let names: Vec<&str> =
                    list.iter().map(|&i| self.model.system.coordinates[i].name.as_str()).collect();
                format!("nothing has mass along {}", names.join(", "))
            }
            Origin::Rows(list) | Origin::Servo(list) => {
                let names: Vec<String> = list
                    .iter()
                    .map(|&i| format!("`{}`", self.model.system.constraints[i].name))
                    .collect();
                match &implied.origin {
                    Origin::Servo(_) => format!("no input pushes along {}", names.join(", ")),
                    _ => format!("implied by {}", names.join(", ")),
                }
            }
        }
    }

    fn text_answer(&self, page: &mut String, answer: &Answer) {
        let _ = writeln!(page, "{} · {}", answer.formulation, answer.elimination);
        match &answer.result {
            Err(refusal) => {
                let _ = writeln!(page, "does not apply: {refusal}");
            }
            Ok(evaluation) => self.text_evaluation(page, evaluation),
        }
    }

    fn text_evaluation(&self, page: &mut String, evaluation: &Evaluation) {
        let outcome = &evaluation.outcome;
        let rank = &outcome.rank;
        let _ = writeln!(
            page,
            "motion {}   rank A {} of {} rows, rank [M; A] {} of {} coordinates",
            outcome.motion.name(),
            rank.jacobian,
            rank.constraints,
            rank.metric_and_jacobian,
            rank.coordinates
        );
        if let Some(ratio) = rank.uncertain {
            let _ = writeln!(page, "the rank is uncertain: a singular value ratio of {ratio:.1e}");
        }
        if let Some(condition) = outcome.condition {
            let _ = writeln!(page, "condition number of what is inverted {condition:.1e}");
        }
        self.text_reasons(page, evaluation);
        if !outcome.motion.exists() {
            return;
        }
        let q_dd: Vec<(String, f64)> = self
            .coordinates()
            .map(|name| format!("{name}''"))
            .zip(evaluation.accelerations.iter().copied())
            .collect();
        let _ = writeln!(page, "\naccelerations");
        columns(page, &q_dd);
        if evaluation.variables != Variables::Velocities {
            let _ = writeln!(page, "rates");
            let rates: Vec<(String, f64)> =
                evaluation.rates.iter().cloned().zip(outcome.v_dot.iter().copied()).collect();
            columns(page, &rates);
        }
        if !self.model.system.constraints.is_empty() {
            let _ = writeln!(page, "constraint force Qᶜ");
            let force: Vec<(String, f64)> = self
                .coordinates()
                .map(str::to_owned)
                .zip(evaluation.constraint_force.iter().copied())
                .collect();
            columns(page, &force);
            let _ = writeln!(page, "multipliers λ");
            let lambda: Vec<(String, f64)> = self
                .constraints()
                .zip(&outcome.indeterminate)
                .map(|(name, &open)| format!("{name}{}", if open { " (not unique)" } else { "" }))
                .zip(outcome.multipliers.iter().copied())
                .collect();
            columns(page, &lambda);
        }
        if let Some(coupling) = outcome.coupling {
            let _ = writeln!(page, "forces and the multipliers in them agree to {coupling:.1e}");
        }
        let _ = writeln!(page, "Gauss residual {:.1e}", evaluation.gauss.residual);
    }

    /// Why the motion is not unique, or does not exist.
    fn text_reasons(&self, page: &mut String, evaluation: &Evaluation) {
        let outcome = &evaluation.outcome;
        let undetermined: Vec<String> = self
            .coordinates()
            .zip(&outcome.undetermined)
            .filter(|(_, open)| **open)
            .map(|(name, _)| name.to_owned())
            .collect();
        match outcome.motion {
            Verdict::Unique => {}
            Verdict::GaugeFree => {
                let _ = writeln!(
                    page,
                    "nothing determines the acceleration of {}: no mass and no constraint; the shortest one is shown",
                    list(undetermined, 8)
                );
            }
            Verdict::HiddenConstraint => {
                let value = outcome.hidden.as_ref().map_or(f64::NAN, |h| h.value);
                let _ = writeln!(
                    page,
                    "no acceleration exists: along {} there is no mass and no constraint, but a force of {value:.6}",
                    list(undetermined, 8)
                );
            }
            Verdict::Inconsistent => {
                let rows: Vec<String> = match &outcome.conflict {
                    Some(conflict) => {
                        let largest = conflict.weights.iter().fold(0f64, |m, w| m.max(w.abs()));
                        self.constraints()
                            .zip(&conflict.weights)
                            .filter(|(_, w)| w.abs() > 1e-9 * largest)
                            .map(|(name, _)| format!("`{name}`"))
                            .collect()
                    }
                    None => Vec::new(),
                };
                let _ = writeln!(
                    page,
                    "no acceleration satisfies the constraints: {} contradict each other at this state",
                    list(rows, 8)
                );
            }
        }
        if !outcome.motion.exists() {
            for implied in &self.report.implied {
                let _ = writeln!(
                    page,
                    "implied: {} = 0   ({}); `--complete` appends it",
                    self.model.exprs.to_text(implied.residual),
                    self.origin(implied)
                );
            }
        }
    }

    fn text_table(&self, page: &mut String, answers: &[Answer]) {
        // The first that has numbers is shown in full, the others beside it.
        if let Some(first) = answers.iter().find(|a| a.result.is_ok()) {
            self.text_answer(page, first);
            page.push('\n');
        }
        let name = |a: &Answer| format!("{} · {}", a.formulation, a.elimination);
        let widest = answers.iter().map(|a| width(&name(a))).max().unwrap_or(0);
        let mut said: Option<(&str, String)> = None;
        for answer in answers {
            // A formulation that does not apply is said once, not for each elimination.
            if let Err(refusal) = &answer.result
                && !matches!(refusal, Refusal::Solve(_))
            {
                let words = refusal.to_string();
                if said.as_ref() != Some(&(answer.formulation, words.clone())) {
                    let pad = " ".repeat(widest.saturating_sub(width(answer.formulation)));
                    let _ = writeln!(page, "{}{pad}  {words}", answer.formulation);
                    said = Some((answer.formulation, words));
                }
                continue;
            }
            let words = match &answer.result {
                Ok(e) if e.outcome.motion.exists() => {
                    format!(
                        "{:<12} Gauss residual {:.1e}",
                        e.outcome.motion.name(),
                        e.gauss.residual
                    )
                }
                Ok(e) => e.outcome.motion.name().to_owned(),
                Err(refusal) => refusal.to_string(),
            };
            let front = name(answer);
            let _ = writeln!(page, "{front}{}  {words}", " ".repeat(widest - width(&front)));
        }
        if let Some(agreement) = self.report.agreement {
            let _ = writeln!(page, "\nlargest relative difference {agreement:.1e}");
        }
    }
}

/// Names and numbers one below the other, numbers in full.
pub(crate) fn columns(page: &mut String, rows: &[(String, f64)]) {
    let widest = rows.iter().map(|r| width(&r.0)).max().unwrap_or(0);
    for (name, value) in rows {
        let pad = " ".repeat(widest - width(name));
        let space = if value.is_sign_negative() { "" } else { " " };
        let _ = writeln!(page, "  {name}{pad}  {space}{}", full(*value));
    }
}
