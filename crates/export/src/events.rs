//! The events of a run, and how it ended, as text and as JSON.

use crate::text::width;
use dalembert_expr::Notation;
use dalembert_model::system::{Action, Change, Model, Touched};
use dalembert_simulate::drive::End;
use dalembert_simulate::run::EventRecord;
use dalembert_simulate::run::RunReport;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Times of one event that are written out.
const MOST: usize = 6;

/// How a run ended, if by an event, in words.
pub fn end_words(end: &End, model: &Model) -> Option<String> {
    match end {
        End::Stopped { event } => {
            Some(format!("stopped by the event `{}`", event_name(model, *event)))
        }
        End::PiledUp { event, t } => {
            Some(format!("the events `{}` pile up at t = {t}", event_name(model, *event)))
        }
        _ => None,
    }
}

/// The name of an event. A phase of contacts has events of its own, which the model as written has not.
fn event_name(model: &Model, event: usize) -> &str {
    model.system.events.get(event).map_or("of a contact", |e| e.name.as_str())
}

/// The name of what changed.
pub(crate) fn name_of(model: &Model, of: Touched) -> String {
    let system = &model.system;
    match of {
        Touched::Contact(at) => system.contacts.get(at).map_or(String::new(), |c| c.name.clone()),
        // Forces that were made frictions on the way have names of their own.
        Touched::Friction(at) => match system.frictions.get(at) {
            Some(friction) => friction.name.clone(),
            None => format!("slip[{}]", at + 1),
        },
    }
}

/// So many changes of contacts and frictions are worth a mark.
const MARKED: usize = 2000;

/// What happens at every tick of a clock is worth a mark only so often.
const TICKS: usize = 20;

/// What happened and when, in order: events by their names, and the changes of contacts and frictions
/// (`floor closes`) that no event waits for. Ticks of a clock, as of a sampled controller, are left out
/// where they are many: they would be a pattern and tell nothing.
pub fn happened(model: &Model, report: &RunReport) -> Vec<(f64, String)> {
    let events = &model.system.events;
    let log = &report.event_log;
    let ticks = |event: usize| {
        events[event].period.is_some() && log.iter().filter(|h| h.event == event).count() > TICKS
    };
    let left_out: Vec<bool> = (0..events.len()).map(ticks).collect();
    let told = log.iter().filter(|h| !left_out[h.event]);
    let mut list: Vec<(f64, String)> = told.map(|h| (h.t, events[h.event].name.clone())).collect();
    if let Some(phases) = &report.phases {
        let is_told = |of, change| events.iter().any(|e| e.change == Some((of, change)));
        let own = phases.changes.iter().filter(|c| !is_told(c.of, c.change)).take(MARKED);
        list.extend(own.map(|c| (c.t, format!("{} {}", name_of(model, c.of), word_of(c.change)))));
        let forward = report.start.state.t <= list.iter().fold(f64::INFINITY, |m, h| m.min(h.0));
        list.sort_by(|a, b| if forward { a.0.total_cmp(&b.0) } else { b.0.total_cmp(&a.0) });
    }
    list
}

/// What changed, as events say it.
pub(crate) fn word_of(change: Change) -> &'static str {
    match change {
        Change::Closes => "closes",
        Change::Opens => "opens",
        Change::Sticks => "sticks",
        Change::Slips => "slips",
    }
}

/// A line for each event that happened: how often, and when.
pub(crate) fn text(model: &Model, report: &RunReport, page: &mut String) {
    if let Some(phases) = &report.phases {
        let count = |n: u64, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let _ = writeln!(
            page,
            "\nphases\n  {}, {}",
            count(phases.phases, "phase", "phases"),
            count(phases.impacts, "impact", "impacts")
        );
        for sliding in &phases.sliding {
            let exprs = &model.exprs;
            let list: Vec<String> = sliding
                .stuck
                .iter()
                .map(|s| format!("`{}`", exprs.print_limited(s.switch, Notation::Source, 80)))
                .collect();
            let _ = writeln!(page, "  {} sticks at t = {}", list.join(", "), sliding.state.t);
        }
        if phases.impacts > 0 {
            let _ = writeln!(page, "  impacts changed the energy by {:.6e}", phases.impact_energy);
        }
        if phases.unproved > 0 {
            let times = count(phases.unproved, "time", "times");
            let _ = writeln!(
                page,
                "  no other motion was found, and {times} not proved that there is none"
            );
        }
    }
    let events = &model.system.events;
    if events.is_empty() {
        return;
    }
    let widest = events.iter().map(|e| width(&e.name)).max().unwrap_or(0);
    page.push_str("\nevents\n");
    for (at, event) in events.iter().enumerate() {
        let all = report.event_log.iter().filter(|h| h.event == at);
        let times: Vec<f64> = all.map(|h| h.t).collect();
        let pad = " ".repeat(widest - width(&event.name));
        let time = |t: f64| if event.period.is_some() { short(t) } else { t.to_string() };
        let words = match times.len() {
            0 => "never".to_owned(),
            1 => format!("at t = {}", time(times[0])),
            n => {
                let shown: Vec<String> = match n > MOST {
                    false => times.iter().copied().map(time).collect(),
                    true => times[..MOST - 1]
                        .iter()
                        .copied()
                        .map(time)
                        .chain([format!("…, {}", time(times[n - 1]))])
                        .collect(),
                };
                format!("{n} times: t = {}", shown.join(", "))
            }
        };
        let _ = writeln!(page, "  {}{pad}  {words}", event.name);
    }
    let is_reset = |h: &EventRecord| h.change.is_some();
    if report.event_log.iter().any(is_reset) {
        let words = match report.energy_of_events() {
            0.0 => "left the energy as it was".to_owned(),
            energy => format!("changed the energy by {energy:.6e}"),
        };
        let _ = writeln!(page, "  their resets {words}");
    }
}

/// A time without the last of its sixteen digits, which is rounding of a multiple of the period.
fn short(t: f64) -> String {
    format!("{t:.14e}").parse::<f64>().map_or_else(|_| t.to_string(), |short| short.to_string())
}

/// All that happened, in order.
pub(crate) fn to_json(model: &Model, report: &RunReport) -> Vec<Value> {
    report.event_log.iter().filter_map(|record| one(model, record)).collect()
}

fn one(model: &Model, record: &EventRecord) -> Option<Value> {
    let event = model.system.events.get(record.event)?;
    let action = match event.action {
        Action::Record => "record",
        Action::Stop => "stop",
        Action::Reset(_) => "reset",
    };
    let mut object = json!({"t": record.t, "name": event.name, "action": action});
    if let Some(change) = &record.change {
        let (before, after) = &**change;
        let (exprs, system) = (&model.exprs, &model.system);
        let pairs = before.named(exprs, system).into_iter().zip(after.named(exprs, system));
        let changed: Map<String, Value> = pairs
            .filter(|(before, after)| before.1 != after.1)
            .map(|(before, after)| (before.0, json!([before.1, after.1])))
            .collect();
        object["changed"] = Value::Object(changed);
        object["energy"] = json!(record.energy);
    }
    Some(object)
}

/// How a run ended.
pub(crate) fn end_json(end: &End, model: &Model) -> Value {
    let name = |event: usize| event_name(model, event);
    match end {
        End::Finished | End::ChartIllConditioned | End::Stiff | End::Events(_) => {
            json!({"how": "finished"})
        }
        End::Interrupted => json!({"how": "interrupted"}),
        End::Stopped { event } => json!({"how": "event", "event": name(*event)}),
        End::PiledUp { event, t } => {
            json!({"how": "piled up", "event": name(*event), "t": if t.is_finite() { json!(t) } else { Value::Null }})
        }
        // Which switches, is said by who knows how they print.
        End::Sticks(_) => json!({"how": "sticks"}),
        End::Failed(_) => json!({"how": "failed"}),
    }
}
