//! Figures of a run: curves in panels with axes, and drawings of the scene.
//!
//! A [`Figure`] says what is shown; `layout` makes it a list of lines and words, and one writer per
//! format puts these into a file: [`svg`], [`pixels`] (PNG), [`pdf`]; [`gif`] and [`moving`] write
//! pictures that move. All formats show the same.

mod axis;
mod drawing;
mod font;
pub mod gif;
mod groups;
mod layout;
pub mod moving;
pub mod pdf;
pub mod pixels;
mod poses;
mod sheet;
mod simplify;
mod strips;
mod strobe;
pub mod svg;
mod view;

pub use poses::Motion;
pub use strips::Modes;
pub use strobe::Strobe;

use crate::quantity::Quantity;

/// A figure: a drawing perhaps, and panels one under the other.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Its title; may be empty.
    pub title: String,
    /// The scene at several instants.
    pub strobe: Option<Strobe>,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What happened on the way.
    pub marks: Vec<Mark>,
}

/// Curves that share their axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Which quantity runs to the right.
    pub x_label: String,
    /// What kind of quantity that is.
    pub x_kind: Quantity,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
}

/// One quantity against another. Where either is not a number there is a gap.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// What the legend says.
    pub label: String,
    /// What kind of quantity it is.
    pub kind: Quantity,
    /// Which color and dashes it has: its number where it was asked for.
    pub style: usize,
    /// When, in the order of the run; empty if that is not known.
    pub t: Vec<f64>,
    /// To the right.
    pub x: Vec<f64>,
    /// Upward.
    pub y: Vec<f64>,
}

/// An instant with a name: an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When.
    pub t: f64,
    /// What; empty where something else in the figure says it.
    pub name: String,
}

impl Figure {
    /// The same with the modes of contacts and frictions as strips below, which marks need not name.
    pub fn with_modes(mut self, modes: &Modes) -> Figure {
        self.panels.push(modes.panel());
        for mark in self.marks.iter_mut().filter(|mark| modes.tells(&mark.name)) {
            mark.name.clear();
        }
        self
    }

    /// The same with panels divided where quantities in them would flatten each other.
    pub fn divided(mut self) -> Figure {
        self.panels = self.panels.into_iter().flat_map(groups::divided).collect();
        self
    }
}

impl Panel {
    /// Whether lengths are shown against lengths: one scale serves both axes.
    pub fn is_equal(&self) -> bool {
        self.x_kind == Quantity::Length && self.curves.iter().all(|c| c.kind == Quantity::Length)
    }

    /// Whether time runs to the right.
    pub fn is_against_time(&self) -> bool {
        self.x_kind == Quantity::Time
    }

    /// What is written along the upward axis: the kind of the quantities, and the name of a
    /// single one.
    fn y_label(&self) -> String {
        let Some(first) = self.curves.first() else { return String::new() };
        let is_one_kind = self.curves.iter().all(|c| c.kind == first.kind);
        match (self.curves.len(), is_one_kind) {
            (1, _) => first.kind.label(&first.label),
            (_, true) => first.kind.label(""),
            _ => String::new(),
        }
    }
}

impl Curve {
    /// Its points in order; `None` for a gap.
    fn points(&self) -> impl Iterator<Item = Option<(f64, f64)>> {
        let pairs = self.x.iter().zip(&self.y);
        pairs.map(|(&x, &y)| (x.is_finite() && y.is_finite()).then_some((x, y)))
    }

    /// Whether it never turns back, as against time.
    fn is_monotone(&self) -> bool {
        self.x.is_sorted() || self.x.is_sorted_by(|a, b| a >= b)
    }
}

/// The formats of a picture, by the ending of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and words for browsers and documents.
    Svg,
    /// Pixels.
    Png,
    /// Lines and words for papers.
    Pdf,
    /// Pixels that move.
    Gif,
}

impl Format {
    /// Every ending and its format.
    pub const ALL: &[(&str, Format)] =
        &[("svg", Format::Svg), ("png", Format::Png), ("pdf", Format::Pdf), ("gif", Format::Gif)];

    /// The format that a file's ending asks for.
    pub fn by_ending(ending: &str) -> Option<Format> {
        let found = Format::ALL.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
        found.map(|(_, format)| *format)
    }
}
