//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! The page of a run: one HTML file with the viewer and the data it shows.
//!
//! ```text
//! run ─Samples→ columns ┐
//! model ─live→ program  ├─ Page ─ data → JSON ─ into the viewer → HTML
//! certificate, doctor … ┘
//! ```
//!
//! `docs/json.md` describes the data; `viewer/src/page.ts` has their types.
//! The same [`columns()`] are filled by the run that was made and by the program that moves in the page
//! ([`live`]), so that both are shown by the same plots.

pub mod columns;
mod dials;
pub mod live;
mod samples;
mod sliders;

pub use columns::{Column, Source, columns};
use dials::Dials;
pub use live::{Unknowns, Why};
pub use samples::Samples;

use dalembert_analyze::analysis::{Request as Analyze, analyze};
use dalembert_derive::picture::Picture;
use dalembert_derive::{Choices, Formulation};
use dalembert_export::events::happened;
use dalembert_export::html::escape;
use dalembert_export::scene::{Scene, Shape};
use dalembert_export::text::untitled;
use dalembert_export::{AnalysisPage, Derivation};
use dalembert_model::system::Model;
use dalembert_simulate::drive::End;
use dalembert_simulate::run::RunReport;
use dalembert_simulate::run::verify::Verification;
use dalembert_simulate::{Setting, Table};
use serde_json::{Value, json};

/// The viewer as it was built from `viewer/`; the data take the place of `/*PAGE*/`.
pub const VIEWER: &str = include_str!("../assets/viewer.html");

/// Equations of larger systems are no page's.
const LARGEST: usize = 60;
/// As are those with more characters.
const LONGEST: usize = 4_000_000;

/// What a page is made of.
pub struct Page<'a> {
    /// The model, as it was read.
    pub model: &'a Model,
    /// Its name and its text.
    pub source: (&'a str, &'a str),
    /// The numbers of the run.
    pub setting: &'a Setting,
    /// The command it was made by.
    pub command: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// The run.
    pub report: &'a RunReport,
    /// Its verdict in words.
    pub verdict: &'a str,
    /// Its rows.
    pub samples: &'a Samples,
    /// Its formulation.
    pub formulation: &'a dyn Formulation,
    /// Where it ends, if not where the model says.
    pub end: Option<f64>,
}

impl Page<'_> {
    /// The data of the page.
    pub fn data(&self) -> Value {
        let Page { model, setting, report, samples, .. } = *self;
        let system = &model.system;
        let picture = Picture::new(&model.exprs, system).ok();
        let (end, count) = (self.end, samples.len());
        let (columns, scene) = (&samples.columns[..], &samples.scene);
        let picture = picture.as_ref();
        let plain = live::Request { model, setting, picture, columns, scene, end, samples: count };
        // With its inputs as parameters, where they are numbers.
        let dials = Dials::new(&plain);
        let asked = dials.as_ref().map_or(plain, |dials| dials.request(&plain));
        let live = match self.motion().map_or_else(|| live::program(&asked), Err) {
            Ok(program) => program,
            Err(why) => json!({"why": why.words()}),
        };
        let events = happened(model, report).into_iter();
        let events: Vec<Value> = events.map(|(t, name)| json!({"t": t, "name": name})).collect();
        let starts = sliders::starts(model, &Unknowns::new(model), &report.start.state, samples);
        json!({
            "format": 1,
            "system": system.title,
            "model": {"name": self.source.0, "text": self.source.1},
            "made": {
                "version": self.version, "command": self.command, "method": report.method,
                "formulation": report.formulation, "tolerance": report.tolerance,
            },
            "columns": samples.columns.iter().map(Column::to_json).collect::<Vec<_>>(),
            "run": samples.to_json(),
            "events": events,
            "scene": scene_json(&samples.scene, setting),
            "certificate": self.certificate(),
            "doctor": self.doctor(),
            "equations": self.equations(),
            "parameters": sliders::parameters(model, setting),
            "inputs": sliders::inputs(model, setting),
            "starts": starts,
            "live": live,
        })
    }

    /// One HTML file.
    pub fn to_html(&self) -> String {
        fill(&self.data())
    }

    /// What the run itself says against a motion in the page.
    fn motion(&self) -> Option<Why> {
        let words = match &self.report.end {
            End::Sticks(_) => "it sticks, and pages do not follow what sticks",
            End::Failed(_) if self.samples.is_empty() => "there is no motion: the run says why",
            _ if !self.report.certificate.rank_changes.is_empty() => {
                "its constraints lose a rank on the way, where a motion in the page would stop"
            }
            _ => return None,
        };
        Some(Why::Motion(words))
    }

    fn certificate(&self) -> Value {
        let Page { report, .. } = *self;
        let is_free = self.model.system.constraints.is_empty();
        let mut rows = Vec::new();
        let mut push = |label: &str, value: String, allowed: String, ok: bool| {
            rows.push(json!({"label": label, "value": value, "allowed": allowed, "ok": ok}));
        };
        let small = |x: f64| if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") };
        for line in report.certificate.lines(report.tolerance) {
            if is_free && line.name.ends_with("residual") && !line.name.starts_with("Gauss") {
                continue;
            }
            push(&line.name, small(line.value), format!("{:.1e}", line.bound), line.holds());
        }
        match &report.error {
            Verification::Estimated(estimate) => {
                let allowed = format!("{:.1e}, by {}", estimate.bound, estimate.method);
                push("global error", small(estimate.relative), allowed, estimate.holds());
            }
            Verification::NotPossible(why) => {
                push("global error", "not known".to_owned(), why.clone(), true);
            }
            Verification::NotAsked => {
                push("global error", "not estimated".to_owned(), String::new(), true);
            }
        }
        if !is_free {
            push("held by", report.choice.held_by.to_string(), String::new(), true);
        }
        json!({"verdict": self.verdict, "rows": rows})
    }

    /// What is true of the model, as `dal analyze` says it without its searches.
    fn doctor(&self) -> String {
        let model = self.model;
        if model.system.n_coordinates() > LARGEST {
            return "<p>A large system: <code>dal analyze</code> says what is true of it.</p>"
                .to_owned();
        }
        match analyze(model, &Analyze::default()) {
            Ok(analysis) => {
                let text = AnalysisPage { model, analysis: &analysis }.to_text();
                format!("<pre>{}</pre>", escape(untitled(&text)))
            }
            Err(_) => "<p>Nothing was found out: there is no consistent start.</p>".to_owned(),
        }
    }

    fn equations(&self) -> String {
        let model = self.model;
        if model.system.n_coordinates() > LARGEST {
            return "<p>A large system: <code>dal derive</code> has its equations.</p>".to_owned();
        }
        // Inputs are shown as what they are called, contacts and frictions in the phase with all of them.
        let model = &model.opened().shown();
        match self.formulation.derive(&model.exprs, &model.system, &Choices::default()) {
            Ok(equations) => match Derivation::new(model, &equations).to_html_fragment() {
                text if text.len() > LONGEST => "<p>These equations are too long for a page: \
                     <code>dal derive --format html</code> has them.</p>"
                    .to_owned(),
                text => text,
            },
            Err(_) => "<p>This formulation has no equations of this model.</p>".to_owned(),
        }
    }
}

/// The viewer with data in it.
pub fn fill(data: &Value) -> String {
    // In a script, only `<` could end it.
    let text = data.to_string().replace('<', "\\u003c");
    VIEWER.replacen("/*PAGE*/", &text, 1)
}

/// A number of a page: eight digits are more than a screen shows.
pub(crate) fn number(x: f64) -> Value {
    match format!("{x:.7e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => json!(rounded),
        _ => Value::Null,
    }
}

fn scene_json(scene: &Scene, setting: &Setting) -> Value {
    let shape = |shape: &Shape| match shape {
        Shape::Line { points } => json!({"kind": "line", "points": points}),
        Shape::Point { at } => json!({"kind": "point", "at": at}),
        Shape::Trace { at } => json!({"kind": "trace", "at": at}),
        Shape::Circle { center, radius, axis } => {
            let mut circle = json!({"kind": "circle", "center": center, "radius": radius});
            if let Some(axis) = axis {
                circle["axis"] = json!(axis);
            }
            circle
        }
    };
    let dimension = if scene.dimension == 3 { 3 } else { 2 };
    let shapes: Vec<Value> = scene.shapes.iter().map(shape).collect();
    let mut made = json!({"dimension": dimension, "shapes": shapes});
    // In parameters and time: that of the beginning.
    let down = scene.down.as_ref().map(|down| setting.numbers(down, &Table::default()));
    if let Some(down) = down.filter(|down| down.iter().all(|x| x.is_finite())) {
        made["down"] = json!(down);
    }
    made
}
