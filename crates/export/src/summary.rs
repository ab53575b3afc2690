//! What a run came to, as text and as JSON.

use crate::events;
use crate::text::width;
use crate::verified;
use dalembert_expr::Notation;
use dalembert_model::system::{Energy, Model};
use dalembert_simulate::State;
use dalembert_simulate::drive::words::{size, which};
use dalembert_simulate::drive::{End, Jolt, Stuck};
use dalembert_simulate::run::verify::Verification;
use dalembert_simulate::run::{PhaseReport, RunReport};
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
    /// Where it came to.
    fn last(&self) -> &State {
        self.report.last.as_ref().map_or(&self.report.stopped, |last| &last.state)
    }

    /// The last state by name.
    fn state(&self) -> Vec<(String, f64)> {
        let state = self.last();
        let system = &self.model.system;
        let mut list = state.named(&self.model.exprs, system);
        if self.report.variables.hold_momenta()
            && matches!(system.energy, Energy::Lagrangian { .. })
        {
            let names = system.momenta().into_iter();
            let names = names.map(|s| self.model.exprs.symbol_info(s).full_name());
            list.extend(names.zip(state.momentum.iter().copied()));
        }
        list
    }

    /// The verdict in words.
    pub fn verdict(&self) -> String {
        match self.report.verdict() {
            Ok(()) => match self.report.error {
                Verification::NotAsked => "pass, without an estimate of the error".to_owned(),
                _ => "pass".to_owned(),
            },
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
            "start": crate::start::to_json(self.model, &report.start),
            "steps": report.statistics.steps,
            "rejected": report.statistics.rejected,
            "evaluations": report.evaluations,
            "switches": report.statistics.switches,
            "decisions": report.statistics.decisions,
            "frozen": report.statistics.frozen,
            "decided": report.statistics.decided,
            "method": report.method,
            "method_choice": self.choice(),
            "formulation": report.formulation,
            "seconds": {
                "derive": report.seconds.derive,
                "compile": report.seconds.compile,
                "integrate": report.seconds.integrate,
            },
            "certificate": {
                "position_residual": number(certificate.position_residual),
                "velocity_residual": number(certificate.velocity_residual),
                "held_by": report.choice.held_by,
                "energy_balance": certificate.energy_balance.map_or(Value::Null, number),
                "invariants": invariants,
                "gauss": number(certificate.gauss),
                "rank_changes": self.rank_changes(),
                "rank": {"smallest": if smallest == usize::MAX { 0 } else { smallest }, "largest": largest},
            },
            "error_estimate": verified::to_json(&report.error, &self.model.exprs, &self.model.system),
            "constraints": self.constraints(),
            "events": events::to_json(self.model, report),
            "energy_of_events": number(report.energy_of_events()),
            "impulses": report.jolts.iter().map(|jolt| self.jolt(jolt)).collect::<Vec<_>>(),
            "end": events::end_json(&report.end, self.model),
            "files": self.files.iter().map(file_json).collect::<Vec<_>>(),
            "verdict": self.verdict(),
        });
        if let Some(phases) = &report.phases {
            object["phases"] = self.phases(phases);
        }
        if let Some(condition) = certificate.servo_condition {
            object["certificate"]["servo_condition"] = number(condition);
        }
        if let End::Failed(failure) = &report.end {
            object["stopped"] = json!(failure.words(self.model));
        } else if report.end == End::Interrupted {
            object["stopped"] = json!("interrupted");
        } else if let End::Sticks(list) = &report.end {
            let switches: Vec<String> = list.iter().map(|s| self.switch(s)).collect();
            object["end"]["switches"] = json!(switches);
        }
        object
    }

    /// What contacts and friction did.
    fn phases(&self, phases: &PhaseReport) -> Value {
        let changes = phases.changes.iter().map(|change| {
            json!({
                "t": number(change.t),
                "of": events::name_of(self.model, change.of),
                "change": events::word_of(change.change),
            })
        });
        let sliding = phases.sliding.iter().map(|sliding| {
            let switches: Vec<String> = sliding.stuck.iter().map(|s| self.switch(s)).collect();
            json!({"t": number(sliding.state.t), "switches": switches})
        });
        json!({
            "count": phases.phases,
            "impacts": phases.impacts,
            "impact_energy": number(phases.impact_energy),
            "unproved": phases.unproved,
            "changes": changes.collect::<Vec<_>>(),
            "all_changes": phases.count,
            "sliding": sliding.collect::<Vec<_>>(),
            "penetration": number(phases.penetration),
            "pull": number(phases.pull),
            "excess": number(phases.excess),
        })
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
        let accuracy = match report.choice.step {
            Some(step) => format!("constant step {}", short(step)),
            None => format!("tolerance {:.0e}", report.tolerance),
        };
        let _ = writeln!(
            page,
            "t = {from} … {to}   {}, {}   {accuracy}",
            report.formulation, report.method
        );
        for change in &report.choice.changes {
            let (t, from, to) = (short(change.t), change.from, change.to);
            let _ = writeln!(page, "{from} until t = {t}, then {to}: {}", change.reason);
        }
        for note in &report.choice.notes {
            let _ = writeln!(page, "note: {note}");
        }
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
        crate::start::text(&mut page, self.model, &report.start);
        let rows = self.state();
        let widest = rows.iter().map(|r| width(&r.0)).max().unwrap_or(0);
        let most = 24;
        let _ = writeln!(page, "\nat the end");
        let errors = verified::at_end(&report.error, &self.model.exprs, system);
        for (name, value) in rows.iter().take(most) {
            let pad = " ".repeat(widest - width(name));
            let error = errors.iter().find(|e| e.0 == *name).map(|e| e.1);
            let text = verified::standing(*value, error);
            let space = if text.starts_with('-') { "" } else { " " };
            let _ = writeln!(page, "  {name}{pad}  {space}{text}");
        }
        if rows.len() > most {
            let _ = writeln!(page, "  … and {} more; `--json` has them all", rows.len() - most);
        }
        self.text_constraints(&mut page);
        events::text(self.model, report, &mut page);
        self.text_jolts(&mut page);
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
                let _ = writeln!(page, "\nstopped at t = {to}: {}", failure.words(self.model));
            }
            End::Interrupted => {
                let _ = writeln!(page, "\nstopped at t = {to}, as asked");
            }
            End::Sticks(list) => {
                let switches: Vec<String> =
                    list.iter().map(|s| format!("`{}`", self.switch(s))).collect();
                let turn = if switches.len() == 1 { "turns" } else { "turn" };
                let _ = writeln!(
                    page,
                    "\nsticks at t = {to}: {} {turn} there, and neither side leads away",
                    switches.join(", ")
                );
            }
            end => {
                if let Some(words) = events::end_words(end, self.model) {
                    let _ = writeln!(page, "\nended at t = {to}: {words}");
                }
            }
        }
        let _ = writeln!(page, "\nverdict: {}", self.verdict());
        page
    }

    fn text_jolts(&self, page: &mut String) {
        if self.report.jolts.is_empty() {
            return;
        }
        page.push_str("\nimpulses of constraints whose velocities jump\n");
        let most = 12;
        for jolt in self.report.jolts.iter().take(most) {
            let name = |&row: &usize| self.model.system.constraints[row].name.as_str();
            let names: Vec<&str> = jolt.constraints.iter().map(name).collect();
            let _ = writeln!(
                page,
                "  {}  at t = {}, which changed the energy by {:.6e}",
                names.join(", "),
                jolt.t,
                jolt.energy
            );
        }
        if self.report.jolts.len() > most {
            let more = self.report.jolts.len() - most;
            let _ = writeln!(page, "  … and {more} more; `--json` has them all");
        }
    }

    /// The impulse of constraints whose velocities jump.
    fn jolt(&self, jolt: &Jolt) -> Value {
        let name = |&row: &usize| &self.model.system.constraints[row].name;
        let constraints: Vec<&String> = jolt.constraints.iter().map(name).collect();
        json!({"t": number(jolt.t), "constraints": constraints, "energy": number(jolt.energy)})
    }

    /// A switch as the model has it.
    fn switch(&self, stuck: &Stuck) -> String {
        self.model.exprs.print_limited(stuck.switch, Notation::Source, 80)
    }

    /// The integrator and why.
    fn choice(&self) -> Value {
        let choice = &self.report.choice;
        let changes: Vec<Value> = choice
            .changes
            .iter()
            .map(|c| json!({"t": number(c.t), "from": c.from, "to": c.to, "reason": c.reason}))
            .collect();
        json!({
            "asked": choice.asked,
            "reason": choice.reason,
            "changes": changes,
            "notes": choice.notes,
            "step": choice.step.map_or(Value::Null, number),
        })
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

    /// Where the rank changed, as JSON.
    fn rank_changes(&self) -> Vec<Value> {
        let names = |rows: &[usize]| -> Vec<&str> {
            rows.iter().map(|&row| self.model.system.constraints[row].name.as_str()).collect()
        };
        let changes = self.report.certificate.rank_changes.iter();
        changes
            .map(|change| {
                json!({
                    "t": number(change.t),
                    "before": change.before,
                    "at": change.at,
                    "after": change.after,
                    "constraints": names(&change.constraints),
                    "result": if change.stopped.is_none() { "passed" } else { "stopped" },
                    "why": change.stopped.map(|why| why.words()),
                })
            })
            .collect()
    }

    /// Where the rank changed.
    fn text_rank_changes(&self, page: &mut String) {
        let changes = &self.report.certificate.rank_changes;
        let most = if changes.len() > 12 { 10 } else { 12 };
        for change in changes.iter().take(most) {
            let (before, at) = (change.before, change.at);
            let after = match (change.after, change.stopped) {
                (Some(after), _) => format!("→ {after}, passed"),
                (None, Some(why)) => format!("stopped: {}", why.words()),
                (None, None) => "stopped".to_owned(),
            };
            let mut which: String = which(&change.constraints, self.model);
            if which.chars().count() > 60 {
                which = format!(" ({} constraints)", change.constraints.len());
            }
            let t = format!("t = {:.6}", change.t);
            let _ = writeln!(page, "    {t:<14} {before} → {at} {after}{which}");
        }
        if changes.len() > most {
            let more = changes.len() - most;
            let _ = writeln!(page, "    … and {more} more; `--json` has them all");
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
        verified::text(&self.report.error, page);
        if certificate.energy_balance.is_none() && self.report.last.is_some() {
            let _ = writeln!(page, "  {:<18} not followed in this chart", "energy balance");
        }
        if !is_free {
            let _ = writeln!(page, "  {:<18} {}", "held by", self.report.choice.held_by);
        }
        let (smallest, largest) = certificate.ranks;
        if largest > 0 && self.report.phases.is_none() {
            let rows = self.model.system.constraints.len();
            let words = match (smallest == largest, largest == rows) {
                (true, true) => format!("{rows}, every constraint independent"),
                (true, false) => format!("{largest} of {rows} throughout"),
                (false, _) => format!("{smallest} … {largest} of {rows}"),
            };
            let _ = writeln!(page, "  {:<18} {words}", "rank");
            self.text_rank_changes(page);
        }
        if let Some(condition) = certificate.servo_condition {
            let _ = writeln!(page, "  {:<18} {condition:.1e}, of A M⁻¹B", "condition");
        }
    }
}

fn file_json(file: &Written) -> Value {
    match file.contents {
        Some((rows, columns)) => json!({"path": file.path, "rows": rows, "columns": columns}),
        None => json!({"path": file.path}),
    }
}

/// Six digits at most, without zeros behind them.
fn short(value: f64) -> String {
    let digits = format!("{value:.5e}");
    digits.parse::<f64>().map_or(digits, |rounded| rounded.to_string())
}

/// 1.2 s, 34 ms, 560 µs.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}
