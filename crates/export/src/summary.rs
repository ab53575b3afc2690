//! What a run came to, as text and as JSON.

use crate::text::width;
use dalembert_model::system::{Energy, Model};
use dalembert_simulate::drive::{End, Failure};
use dalembert_simulate::run::RunReport;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A run and the model it was of.
pub struct RunPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// The run.
    pub report: &'m RunReport,
}

fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

impl RunPage<'_> {
    /// The last state by name.
    fn state(&self) -> Vec<(String, f64)> {
        let Some(last) = &self.report.last else { return Vec::new() };
        let system = &self.model.system;
        let mut list = last.state.named(&self.model.exprs, system);
        let canonical = matches!(self.report.formulation, "hamilton" | "bracket" | "routh");
        if canonical && matches!(system.energy, Energy::Lagrangian { .. }) {
            let names = system.momenta().into_iter();
            let names = names.map(|s| self.model.exprs.symbol_info(s).full_name());
            list.extend(names.zip(last.state.momentum.iter().copied()));
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
            "t": report.last.as_ref().map_or(Value::Null, |l| number(l.state.t)),
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
        let to = report.last.as_ref().map_or(from, |l| l.state.t);
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
            let _ = writeln!(page, "  {name}{pad}  {space}{value}");
        }
        if rows.len() > most {
            let _ = writeln!(page, "  … and {} more; `--json` has them all", rows.len() - most);
        }
        let certificate = &report.certificate;
        let _ = writeln!(page, "\ncertificate");
        let mut line = |name: &str, value: String| {
            let _ = writeln!(page, "  {name:<18} {value}");
        };
        line("position residual", format!("{:.1e}", certificate.position_residual));
        line("velocity residual", format!("{:.1e}", certificate.velocity_residual));
        match certificate.energy_balance {
            Some(balance) => line("energy balance", format!("{balance:.1e}")),
            None => line("energy balance", "not followed in this chart".to_owned()),
        }
        for (name, drift) in &certificate.invariants {
            line(&format!("{name} drift"), format!("{drift:.1e}"));
        }
        line("Gauss residual", format!("{:.1e}", certificate.gauss));
        let (smallest, largest) = certificate.ranks;
        if largest > 0 {
            line(
                "rank",
                if smallest == largest {
                    format!("{largest} throughout")
                } else {
                    format!("{smallest} … {largest}")
                },
            );
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

/// 1.2 s, 34 ms, 560 µs.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}
