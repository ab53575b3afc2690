//! The scene at several instants in one picture, the earlier the fainter, over the paths of what
//! leaves traces; where they would hide each other, beside each other.

use super::drawing::{Anchor, Color, Drawing, Item, Pen, Point, Text};
use super::layout::{self, LEFT, Plane, equal_plane};
use super::poses::{Motion, Stage, trace_pen};
use super::sheet;
use super::simplify::simplify;
use super::view::Seen;
use crate::scene::Shape;

/// The earliest instant is drawn so strongly.
const FAINTEST: f64 = 0.22;

/// A scene at several instants.
#[derive(Clone, Debug)]
pub struct Strobe {
    /// Its motion.
    pub motion: Motion,
    /// How many instants, from the start to the end.
    pub frames: usize,
}

impl Strobe {
    pub(super) fn summary(&self) -> String {
        format!("the drawing at {} instants", self.frames)
    }

    /// Draws it from a height on; gives where it ends.
    pub(super) fn draw(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let top = top + 14.0;
        let instants = self.motion.instants(self.frames);
        let Some(stage) = Stage::new(&self.motion, &instants) else { return top };
        if sheet::is_wanted(&stage, &instants) {
            return sheet::draw(&stage, &instants, drawing, top);
        }
        let plane = plane(&stage, top);
        let is_flat = stage.view.axes().is_none();
        if is_flat {
            layout::axes(drawing, &plane, Some("x"), "y");
        }
        let place = |p: Seen| plane.place((p[0], p[1]));
        let mut items = Vec::new();
        let last = self.motion.rows.len().saturating_sub(1);
        for shape in &self.motion.scene.shapes {
            if let Shape::Trace { at } = shape {
                items.push(trace(&stage, at, last, &place));
            }
        }
        let scale = scale(&plane);
        for (k, &row) in instants.iter().enumerate() {
            let part =
                if instants.len() > 1 { k as f64 / (instants.len() - 1) as f64 } else { 1.0 };
            let strength = FAINTEST + (1.0 - FAINTEST) * part;
            let figures = self.motion.scene.shapes.iter().filter_map(|s| stage.figure(s, row));
            let figures: Vec<Item> =
                figures.flat_map(|f| stage.items(&f, &place, scale, strength)).collect();
            items.push(Item::Group { name: "instant", clip: None, items: figures });
        }
        drawing.items.push(Item::Group { name: "drawing", clip: None, items });
        if is_flat {
            layout::frame(drawing, &plane);
        } else {
            triad(drawing, &stage, (LEFT + 4.0, plane.bottom + 10.0));
        }
        let words = self.caption(&instants);
        let below = plane.bottom + if is_flat { 58.0 } else { 38.0 };
        let mut text = Text::new(
            (0.5 * (plane.left + plane.right), below),
            Anchor::Middle,
            Color::FAINT,
            &words,
        );
        text.size = 12.0;
        // A narrow plane has no room to both sides of its middle.
        if plane.right - plane.left < 300.0 {
            (text.at.0, text.anchor) = (plane.left, Anchor::Start);
        }
        drawing.items.push(Item::Text(text));
        below + 20.0
    }

    fn caption(&self, instants: &[usize]) -> String {
        let time = |at: Option<&usize>| at.map_or(f64::NAN, |&row| self.motion.t[row]);
        let (from, to) = (time(instants.first()), time(instants.last()));
        match instants.len() {
            0 | 1 => format!("t = {}", short(from)),
            n => format!("{n} instants from t = {} (faint) to t = {}", short(from), short(to)),
        }
    }
}

/// Pixels to a unit.
pub(super) fn scale(plane: &Plane) -> f64 {
    plane.across.place(1.0) - plane.across.place(0.0)
}

/// The plane that a stage is drawn in; to one scale also where there is nothing but a point.
pub(super) fn plane(stage: &Stage, top: f64) -> Plane {
    let (across, upward) = (stage.across, stage.upward);
    if let Some(plane) = equal_plane(across, upward, top) {
        return plane;
    }
    // A point, or a line that is much longer than high.
    let size = (across.1 - across.0).max(upward.1 - upward.0);
    let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
    let about = |(low, high): (f64, f64)| {
        let middle = 0.5 * low + 0.5 * high;
        let half = (0.5 * (high - low)).max(0.1 * size);
        (middle - half, middle + half)
    };
    let (across, upward) = (about(across), about(upward));
    equal_plane(across, upward, top).unwrap_or_else(|| {
        let unit = layout::not_empty((0.0, 1.0));
        let (x, y) = (super::axis::Axis::over(unit.0, unit.1, (LEFT, LEFT + 200.0), 60.0), unit);
        let upward = super::axis::Axis::over(y.0, y.1, (top + 200.0, top), 36.0);
        Plane { across: x, upward, left: LEFT, right: LEFT + 200.0, top, bottom: top + 200.0 }
    })
}

/// The path of a point up to an instant.
pub(super) fn trace(
    stage: &Stage,
    at: &[usize],
    until: usize,
    place: &dyn Fn(Seen) -> Point,
) -> Item {
    let path = stage.path(at, until);
    let runs = path.split(Option::is_none).map(|run| {
        let run: Vec<Point> = run.iter().copied().flatten().map(place).collect();
        simplify(&run, false)
    });
    let pieces = runs.filter(|run| !run.is_empty()).collect();
    Item::Path { pieces, pen: trace_pen(), is_closed: false, fill: None }
}

/// Which way the axes of space point, small and with their names.
pub(super) fn triad(drawing: &mut Drawing, stage: &Stage, at: Point) {
    let Some(axes) = stage.view.axes() else { return };
    let center = (at.0 + 16.0, at.1 + 4.0);
    for (axis, name) in axes.iter().zip(["x", "y", "z"]) {
        let end = |length: f64| (center.0 + length * axis[0], center.1 - length * axis[1]);
        drawing.line(&[center, end(22.0)], Pen::new(Color::AXIS, 1.2));
        let (x, y) = end(31.0);
        let mut text = Text::new((x, y + 4.0), Anchor::Middle, Color::FAINT, name);
        text.size = 11.0;
        drawing.items.push(Item::Text(text));
    }
}

/// A time in few digits.
pub(super) fn short(t: f64) -> String {
    let text = format!("{t:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match t != 0.0 && (t.abs() < 1e-2 || t.abs() >= 1e6) {
        true => format!("{t:.2e}"),
        false => text.replace('-', "−"),
    }
}
