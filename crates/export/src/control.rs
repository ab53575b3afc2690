//! Inputs, outputs and what they do to a linear system, as text and as JSON; and the linear
//! equations about states that are not steady.

use crate::evaluation::columns;
use crate::text::{list, width};
use crate::values::{block, full, number, short};
use dalembert_analyze::linearize::{Complex, Control, InputOutput, Local, Part, Reduced};
use dalembert_model::system::{Energy, Model};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The names of x: free coordinates, free velocities or momenta, states.
pub(crate) fn free_names(model: &Model, reduced: &Reduced) -> [Vec<String>; 3] {
    let (exprs, system) = (&model.exprs, &model.system);
    let by_momenta = matches!(system.energy, Energy::Hamiltonian { .. });
    let name = |s| exprs.symbol_info(s).full_name();
    let rate = |i: usize| {
        let c = &system.coordinates[i];
        if by_momenta { c.momentum } else { c.velocity }
    };
    [
        reduced.positions.iter().map(|&i| name(system.coordinates[i].position)).collect(),
        reduced.velocities.iter().map(|&i| name(rate(i))).collect(),
        system.states.iter().map(|z| z.name.clone()).collect(),
    ]
}

/// A matrix as a list of rows.
pub(crate) fn matrix(entries: &[f64], columns: usize) -> Value {
    let row = |r: &[f64]| Value::Array(r.iter().map(|&x| number(x)).collect());
    Value::Array(entries.chunks(columns.max(1)).map(row).collect())
}

fn pair(c: &Complex) -> Value {
    json!([number(c[0]), number(c[1])])
}

pub(crate) fn pairs(list: &[Complex]) -> Value {
    Value::Array(list.iter().map(pair).collect())
}

/// What inputs and outputs do, with names of x.
pub(crate) struct Driven<'a> {
    pub names: &'a [String],
    pub reduced: &'a Reduced,
    pub io: &'a InputOutput,
    pub control: &'a Control,
    pub poles: &'a [Complex],
}

impl Driven<'_> {
    /// Puts A, B, C and D among the matrices.
    pub fn matrices(&self, into: &mut Map<String, Value>) {
        let (d, k) = (self.names.len(), self.io.columns.len());
        into.insert("A".into(), matrix(&self.reduced.matrix, d));
        let rows = |entries: &[f64], rows: usize, columns: usize| match columns {
            0 => json!(vec![json!([]); rows]),
            _ => matrix(entries, columns),
        };
        into.insert("B".into(), rows(&self.io.b, d, k));
        into.insert("C".into(), rows(&self.io.c, self.io.outputs.len(), d));
        into.insert("D".into(), rows(&self.io.d, self.io.outputs.len(), k));
        let inputs: Vec<&String> = self.io.columns.iter().map(|c| &c.0).collect();
        into.insert("inputs".into(), json!(inputs));
        into.insert("outputs".into(), json!(self.io.outputs));
    }

    /// Poles, zeros, channels, and what cannot be moved or seen.
    pub fn json(&self) -> Value {
        let (io, control) = (self.io, self.control);
        let parts = |list: &[Part]| -> Value {
            let part = |part: &Part| {
                let entries = self.names.iter().zip(&part.weights);
                let weights: Map<String, Value> = entries
                    .filter(|(_, c)| **c != [0.0, 0.0])
                    .map(|(name, c)| (name.clone(), pair(c)))
                    .collect();
                json!({"value": pair(&part.value), "weights": weights, "chain": part.chain})
            };
            list.iter().map(part).collect()
        };
        let channels: Vec<Value> = control
            .channels
            .iter()
            .map(|c| {
                json!({
                    "input": c.input, "output": c.output,
                    "zeros": c.zeros.as_deref().map(pairs),
                    "gain": number(c.gain),
                    "steady": c.steady.map(number),
                })
            })
            .collect();
        let has = (!io.columns.is_empty(), !io.outputs.is_empty());
        let held: Map<String, Value> =
            io.held.iter().map(|(name, x)| (name.clone(), number(*x))).collect();
        json!({
            "poles": pairs(self.poles),
            "zeros": control.zeros.as_deref().map(pairs),
            "channels": channels,
            "controllable": has.0.then_some(control.uncontrollable.is_empty()),
            "uncontrollable": parts(&control.uncontrollable),
            "observable": has.1.then_some(control.unobservable.is_empty()),
            "unobservable": parts(&control.unobservable),
            "held": held,
            "varying": io.varying,
        })
    }

    /// The part of a page for a terminal; nothing where a model has no inputs and outputs.
    pub fn text(&self, page: &mut String) {
        let (io, control) = (self.io, self.control);
        let (d, k) = (self.names.len(), io.columns.len());
        if k == 0 && io.outputs.is_empty() || d == 0 {
            return;
        }
        let inputs: Vec<String> = io.columns.iter().map(|c| c.0.clone()).collect();
        let mut line = format!("\nx = ({})", self.names.join(", "));
        if k > 0 {
            let _ = write!(line, "   u = ({})", inputs.join(", "));
        }
        if !io.outputs.is_empty() {
            let _ = write!(line, "   y = ({})", io.outputs.join(", "));
        }
        let _ = writeln!(page, "{line}");
        let _ = match (k > 0, io.outputs.is_empty()) {
            (true, true) => writeln!(page, "ẋ = A x + B u"),
            (true, false) => writeln!(page, "ẋ = A x + B u   y = C x + D u"),
            (false, _) => writeln!(page, "ẋ = A x   y = C x"),
        };
        block(page, "A", &self.reduced.matrix, d);
        if k > 0 {
            block(page, "B", &io.b, k);
        }
        if !io.outputs.is_empty() {
            block(page, "C", &io.c, d);
            if k > 0 {
                block(page, "D", &io.d, k);
            }
        }
        for (name, value) in &io.held {
            let _ = writeln!(page, "`{name}` varies in time and is held at {}", full(*value));
        }
        if !io.varying.is_empty() {
            let _ = writeln!(
                page,
                "{} {} not go along with the motion: what stands here is for this state alone",
                list(io.varying.iter().map(|n| format!("`{n}`")).collect(), 8),
                if io.varying.len() == 1 { "does" } else { "do" }
            );
        }
        if control.channels.len() > 1
            && let Some(zeros) = &control.zeros
        {
            let _ = writeln!(page, "zeros of the whole: {}", complex_list(zeros));
        }
        for c in &control.channels {
            let front = format!("{} → {}", c.input, c.output);
            let _ = match &c.zeros {
                None => writeln!(page, "{front}: no effect"),
                Some(zeros) => writeln!(
                    page,
                    "{front}: gain {}, zeros {}{}",
                    short(c.gain),
                    complex_list(zeros),
                    c.steady.map_or(String::new(), |s| format!(", {} at s = 0", short(s)))
                ),
            };
        }
        if k > 0 {
            let _ = match control.uncontrollable.is_empty() {
                true => writeln!(page, "controllable"),
                false => writeln!(page, "not controllable; by themselves go"),
            };
            self.text_parts(page, &control.uncontrollable);
        }
        if !io.outputs.is_empty() {
            let _ = match control.unobservable.is_empty() {
                true => writeln!(page, "observable"),
                false => writeln!(page, "not observable; unseen moves"),
            };
            self.text_parts(page, &control.unobservable);
        }
    }

    fn text_parts(&self, page: &mut String, parts: &[Part]) {
        for part in parts.iter().filter(|p| p.value[1] >= 0.0) {
            let size = |c: &Complex| c[0].hypot(c[1]);
            let mut entries: Vec<(&String, &Complex)> =
                self.names.iter().zip(&part.weights).filter(|e| size(e.1) > 0.0).collect();
            entries.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
            let words = entries.iter().map(|(name, c)| match c[1] {
                0.0 => format!("{name} {}", short(c[0])),
                _ => format!("{name} {}", complex(c)),
            });
            let words = list(words.collect(), 6);
            let chain = match part.chain {
                0 | 1 => String::new(),
                more => format!(", in a chain of {more}"),
            };
            let _ = writeln!(page, "  λ = {}{chain}: {words}", complex(&part.value));
        }
    }
}

pub(crate) fn complex(c: &Complex) -> String {
    match (c[0], c[1]) {
        (re, 0.0) => short(re),
        (0.0, im) => format!("{} i", short(im)),
        (re, im) if im < 0.0 => format!("{} − {} i", short(re), short(-im)),
        (re, im) => format!("{} + {} i", short(re), short(im)),
    }
}

/// Conjugate pairs as one.
fn complex_list(values: &[Complex]) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    let words = values.iter().filter(|c| c[1] >= 0.0).map(|c| match c {
        [re, 0.0] => short(*re),
        [0.0, im] => format!("± {} i", short(*im)),
        [re, im] => format!("{} ± {} i", short(*re), short(*im)),
    });
    list(words.collect(), 12)
}

/// The linear equations about one state that need not be steady.
pub struct LocalPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub found: &'m Local,
}

impl LocalPage<'_> {
    fn names(&self) -> Vec<String> {
        free_names(self.model, &self.found.reduced).concat()
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = self.point_json();
        let title = json!(self.model.system.title);
        if let Value::Object(map) = &mut object {
            map.insert("format".into(), json!(1));
            map.insert("system".into(), title);
            map.insert("kind".into(), json!("state"));
        }
        object
    }

    /// With the model of the phase that it is in.
    fn in_phase(&self) -> LocalPage<'_> {
        let model = self.found.phase.as_ref().map_or(self.model, |here| &here.model);
        LocalPage { model, found: self.found }
    }

    /// What belongs to the state.
    pub fn point_json(&self) -> Value {
        let mut object = self.in_phase().of_point();
        if let Some(here) = &self.found.phase {
            object["phase"] = crate::phase::to_json(here);
        }
        object
    }

    fn of_point(&self) -> Value {
        let (found, names) = (self.found, self.names());
        let [z, u, states] = free_names(self.model, &found.reduced);
        let named = |pairs: Vec<(String, f64)>| -> Map<String, Value> {
            pairs.into_iter().map(|(name, x)| (name, number(x))).collect()
        };
        let driven = self.driven(&names);
        let mut matrices = Map::new();
        matrices.insert("names".into(), json!(names));
        matrices.insert("positions".into(), json!(z));
        matrices.insert("velocities".into(), json!(u));
        matrices.insert("states".into(), json!(states));
        driven.matrices(&mut matrices);
        let rates = names.iter().cloned().zip(found.rates.iter().copied()).collect();
        json!({
            "t": number(found.state.t),
            "state": named(found.state.named(&self.model.exprs, &self.model.system)),
            "dimension": found.reduced.dimension(),
            "rates": named(rates),
            "eigenvalues": pairs(&found.eigenvalues),
            "matrices": matrices,
            "control": driven.json(),
        })
    }

    fn driven<'a>(&'a self, names: &'a [String]) -> Driven<'a> {
        let Local { reduced, io, control, eigenvalues, .. } = self.found;
        Driven { names, reduced, io, control, poles: eigenvalues }
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        let mut page = String::new();
        let title = &self.model.system.title;
        if !title.is_empty() {
            let _ = writeln!(page, "{title}\n{}\n", "═".repeat(width(title)));
        }
        self.point_text(&mut page);
        page
    }

    /// What belongs to the state.
    pub fn point_text(&self, page: &mut String) {
        let (found, names) = (self.found, self.names());
        let _ = writeln!(page, "at t = {}", full(found.state.t));
        if let Some(here) = &found.phase {
            page.push_str(&crate::phase::to_text(here));
        }
        columns(page, &found.state.named(&self.model.exprs, &self.model.system));
        if names.is_empty() {
            let _ = writeln!(page, "the constraints leave nothing free");
            return;
        }
        let _ = writeln!(page, "ẋ there");
        let rates: Vec<(String, f64)> =
            names.iter().map(|n| format!("{n}'")).zip(found.rates.iter().copied()).collect();
        columns(page, &rates);
        let _ = writeln!(page, "eigenvalues of A: {}", complex_list(&found.eigenvalues));
        if found.io.columns.is_empty() && found.io.outputs.is_empty() {
            let _ = writeln!(page, "\nx = ({})\nδẋ = A δx", names.join(", "));
            block(page, "A", &found.reduced.matrix, names.len());
        }
        self.driven(&names).text(page);
    }
}

/// The linear equations about states of a run.
pub struct AlongPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found, in the order of time.
    pub found: &'m [Local],
}

impl AlongPage<'_> {
    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let points: Vec<Value> = self
            .found
            .iter()
            .map(|found| LocalPage { model: self.model, found }.point_json())
            .collect();
        json!({"format": 1, "system": self.model.system.title, "kind": "motion", "points": points})
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        let mut page = String::new();
        let title = &self.model.system.title;
        if !title.is_empty() {
            let _ = writeln!(page, "{title}\n{}\n", "═".repeat(width(title)));
        }
        for found in self.found {
            LocalPage { model: self.model, found }.point_text(&mut page);
            page.push('\n');
        }
        page
    }
}
