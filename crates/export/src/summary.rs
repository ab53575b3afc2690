//! What a run came to, as text and as JSON.

use crate::text::width;
use dalembert_model::system::{Energy, Model};
use dalembert_simulate::drive::{End, Failure};
use dalembert_simulate::run::RunReport;
use dalembert_simulate::state::State;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A run and the model it was of.
pub struct RunPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// The run.
    pub report: &'m RunReport,
    /// The files it left.
    pub files: &'m [Written],
}

/// A file that a run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its path.
    pub path: String,
    /// Rows and columns, if it is a table.
    pub contents: Option<(u64, usize)>,
}

fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

impl RunPage<'_> {
    /// Where it came to; the start, if not further.
    fn last(&self) -> &State {
        self.report.last.as_ref().map_or(&self.report.start.state, |last| &last.state)
    }

    /// The last state by name.
    fn state(&self) -> Vec<(String, f64)> {
        let state = self.last();
        let system = &self.model.system;
        let mut list = state.named(&self.model.exprs, system);
        let canonical = matches!(self.report.formulation, "hamilton" | "bracket" | "routh");
        if canonical && matches!(system.energy, Energy::Lagrangian { .. }) {
            let names = system.momenta().into_iter();
            let names = names.map(|s| self.model.exprs.symbol_info(s).full_name());
            list.extend(names.zip(state.momentum.iter().copied()));
        }
        list
    }

    /// The verdict in words.
    pub fn verdict(&self) -> String {
        match self.report.verdict() {
            Ok(()) => "pass".to_owned(),
            Err(failed) => failed.join("; "),
        }
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let report = self.report;
        let certificate = &report.certificate;
        let state: Map<String, Value> =
            self.state().into_iter().map(|(name, value)| (name, number(value))).collect();
        let invariants: Map<String, Value> = certificate
            .invariants
            .iter()
            .map(|(name, value)| (name.clone(), number(*value)))
            .collect();
        let (smallest, largest) = certificate.ranks;
        let mut object = json!({
            "format": 1,
            "system": self.model.system.title,
            "t": number(self.last().t),
            "state": state,
            "steps": report.statistics.steps,
            "rejected": report.statistics.rejected,
            "evaluations": report.evaluations,
            "switches": report.statistics.switches,
            "method": report.method,
            "formulation": report.formulation,
            "seconds": {
                "derive": report.seconds.derive,
                "compile": report.seconds.compile,
                "integrate": report.seconds.integrate,
            },
            "certificate": {
                "position_residual": number(certificate.position_residual),
                "velocity_residual": number(certificate.velocity_residual),
                "energy_balance": certificate.energy_balance.map_or(Value::Null, number),
                "invariants": invariants,
                "gauss": number(certificate.gauss),
                "rank": {"smallest": if smallest == usize::MAX { 0 } else { smallest }, "largest": largest},
            },
            "constraints": self.constraints(),
            "files": self.files.iter().map(file_json).collect::<Vec<_>>(),
            "verdict": self.verdict(),
        });
        if let End::Failed(failure) = &report.end {
            object["stopped"] = json!(failure_words(failure, self.model));
        } else if report.end == End::Interrupted {
            object["stopped"] = json!("interrupted");
        }
        object
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        let report = self.report;
        let mut page = String::new();
        let system = &self.model.system;
        if !system.title.is_empty() {
            let _ = writeln!(page, "{}\n{}\n", system.title, "═".repeat(width(&system.title)));
        }
        let from = report.start.state.t;
        let to = self.last().t;
        let _ = writeln!(
            page,
            "t = {from} … {to}   {}, {}   tolerance {:.0e}",
            report.formulation, report.method, report.tolerance
        );
        let (statistics, seconds) = (&report.statistics, &report.seconds);
        let _ = writeln!(
            page,
            "{} steps, {} rejected, {} evaluations{}   {} (deriving {}, compiling {})",
            statistics.steps,
            statistics.rejected,
            report.evaluations,
            match statistics.switches {
                0 => String::new(),
                n => format!(", {n} switches"),
            },
            duration(seconds.integrate),
            duration(seconds.derive),
            duration(seconds.compile)
        );
        let rows = self.state();
        let widest = rows.iter().map(|r| width(&r.0)).max().unwrap_or(0);
        let most = 24;
        let _ = writeln!(page, "\nat the end");
        for (name, value) in rows.iter().take(most) {
            let pad = " ".repeat(widest - width(name));
            let space = if value.is_sign_negative() { "" } else { " " };
            let _ = writeln!(page, "  {name}{pad}  {space}{value:?}");
        }
        if rows.len() > most {
            let _ = writeln!(page, "  … and {} more; `--json` has them all", rows.len() - most);
        }
        self.text_constraints(&mut page);
        self.text_certificate(&mut page);
        if !self.files.is_empty() {
            page.push_str("\nfiles\n");
            for file in self.files {
                let _ = match file.contents {
                    Some((rows, columns)) => {
                        writeln!(page, "  {}  {rows} rows, {columns} columns", file.path)
                    }
                    None => writeln!(page, "  {}", file.path),
                };
            }
        }
        match &report.end {
            End::Failed(failure) => {
                let _ =
                    writeln!(page, "\nstopped at t = {to}: {}", failure_words(failure, self.model));
            }
            End::Interrupted => {
                let _ = writeln!(page, "\nstopped at t = {to}, as asked");
            }
            _ => {}
        }
        let _ = writeln!(page, "\nverdict: {}", self.verdict());
        page
    }

    /// The largest |λ| of each constraint.
    fn constraints(&self) -> Map<String, Value> {
        let constraints = self.model.system.constraints.iter();
        constraints
            .zip(&self.report.largest_multipliers)
            .map(|(c, &(value, t))| {
                (c.name.clone(), json!({"largest_multiplier": number(value), "t": number(t)}))
            })
            .collect()
    }

    fn text_constraints(&self, page: &mut String) {
        let constraints = &self.model.system.constraints;
        let largest = &self.report.largest_multipliers;
        if constraints.is_empty() || largest.is_empty() {
            return;
        }
        let most = 12;
        let widest = constraints.iter().take(most).map(|c| width(&c.name)).max().unwrap_or(0);
        page.push_str("\nconstraints, |λ| at most\n");
        for (constraint, (value, t)) in constraints.iter().zip(largest).take(most) {
            let pad = " ".repeat(widest - width(&constraint.name));
            let _ = match value.is_finite() {
                true => writeln!(page, "  {}{pad}  {} at t = {t}", constraint.name, size(*value)),
                false => writeln!(page, "  {}{pad}  not unique", constraint.name),
            };
        }
        if constraints.len() > most {
            let more = constraints.len() - most;
            let _ = writeln!(page, "  … and {more} more; `--json` has them all");
        }
    }

    /// The numbers that say how good the run is, each beside what it may be.
    fn text_certificate(&self, page: &mut String) {
        let certificate = &self.report.certificate;
        let is_free = self.model.system.constraints.is_empty();
        page.push_str("\ncertificate\n");
        for line in certificate.lines(self.report.tolerance) {
            if is_free && ["position residual", "velocity residual"].contains(&line.name.as_str()) {
                continue;
            }
            let mark = if line.holds() { "within" } else { "ABOVE" };
            let (name, value, bound) = (&line.name, line.value, line.bound);
            let value = if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
            let _ = writeln!(page, "  {name:<18} {value:>8}  {mark} {bound:.1e}");
        }
        if certificate.energy_balance.is_none() && self.report.last.is_some() {
            let _ = writeln!(page, "  {:<18} not followed in this chart", "energy balance");
        }
        let (smallest, largest) = certificate.ranks;
        if largest > 0 {
            let rows = self.model.system.constraints.len();
            let words = match (smallest == largest, largest == rows) {
                (true, true) => format!("{rows}, every constraint independent"),
                (true, false) => format!("{largest} of {rows} throughout"),
                (false, _) => format!("{smallest} … {largest} of {rows}"),
            };
            let _ = writeln!(page, "  {:<18} {words}", "rank");
        }
    }
}

fn file_json(file: &Written) -> Value {
    match file.contents {
        Some((rows, columns)) => json!({"path": file.path, "rows": rows, "columns": columns}),
        None => json!({"path": file.path}),
    }
}

/// Why a run ended early, in words.
pub fn failure_words(failure: &Failure, model: &Model) -> String {
    match failure {
        Failure::Field(error) => error.to_string(),
        Failure::RankLost { expected, found, constraints } => {
            let names: Vec<String> = constraints
                .iter()
                .map(|&row| format!("`{}`", model.system.constraints[row].name))
                .collect();
            let which =
                if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            format!("the rank of the constraints changed from {expected} to {found}{which}")
        }
        Failure::StepTooSmall { step } => {
            format!("the step became too small ({step:.1e}): the motion is singular or stiff here")
        }
        Failure::SwitchesPileUp => {
            "a switching function turns again and again at this time".to_owned()
        }
        Failure::TooManySteps => "more steps than allowed".to_owned(),
    }
}

/// Six digits or so.
fn size(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value) {
        format!("{value:.6}")
    } else {
        format!("{value:.5e}")
    }
}

/// 1.2 s, 34 ms, 560 µs.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}
