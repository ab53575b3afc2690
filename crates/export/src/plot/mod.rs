//! Curves in panels with axes, as a figure. [`svg`] draws it.

mod axis;
mod simplify;
pub mod svg;

/// A figure: panels one under the other.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Its title; may be empty.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// Curves that share their axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Which quantity runs to the right.
    pub x_label: String,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
}

/// One quantity against another. Where either is not a number there is a gap.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// What the legend says.
    pub label: String,
    /// To the right.
    pub x: Vec<f64>,
    /// Upward.
    pub y: Vec<f64>,
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
