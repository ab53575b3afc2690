//! Where everything of a figure goes: panels, axes, legends, curves and the marks of events.

use super::axis::{self, Axis};
use super::drawing::{Anchor, Color, Drawing, Item, Pen, Point, Text, line, pen};
use super::font::width;
use super::simplify::simplify;
use super::{Curve, Figure, Mark, Panel};
use crate::quantity::Quantity;

pub(super) const WIDTH: f64 = 760.0;
pub(super) const LEFT: f64 = 82.0;
pub(super) const RIGHT: f64 = 24.0;
const LEGEND_LINE: f64 = 20.0;
/// Below a plane: labels of the ticks, and of the axis.
const TICKS: f64 = 24.0;
const BELOW: f64 = 52.0;
/// Between panels that share their time.
const BETWEEN: f64 = 14.0;
/// The planes of panels to one scale are no higher.
const HIGHEST: f64 = 460.0;
/// And no lower or narrower.
const LEAST: f64 = 150.0;
/// Angles below this, all of a panel, are rounding.
const ANGLE_NOISE: f64 = 1e-12;
/// Beyond this, one scale for both axes would show a line.
const SLENDER: f64 = 30.0;
/// Events beyond so many in one panel are fainter.
const MANY: usize = 30;
/// Lines of events that would be nearer to each other than this are left out.
const CLOSEST: f64 = 3.5;

/// A rectangle with its two axes.
pub(super) struct Plane {
    pub across: Axis,
    pub upward: Axis,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Plane {
    pub fn place(&self, (x, y): (f64, f64)) -> Point {
        (self.across.place(x), self.upward.place(y))
    }

    fn clip(&self) -> [f64; 4] {
        [self.left, self.top - 2.0, self.right + 2.0, self.bottom + 2.0]
    }
}

impl Figure {
    /// As lines and words.
    pub(crate) fn drawing(&self) -> Drawing {
        let mut drawing = Drawing { width: WIDTH, words: self.summary(), ..Drawing::default() };
        let mut y = 14.0;
        if !self.title.is_empty() {
            y += 18.0;
            let mut title = Text::new((LEFT, y), Anchor::Start, Color::INK, &self.title);
            (title.size, title.is_bold) = (16.0, true);
            drawing.items.push(Item::Text(title));
            y += 8.0;
        }
        if let Some(strobe) = &self.strobe {
            y = strobe.draw(&mut drawing, y);
        }
        let height = match self.panels.len() {
            0 | 1 => 280.0,
            2 => 220.0,
            3 => 180.0,
            _ => 150.0,
        };
        for (at, panel) in self.panels.iter().enumerate() {
            let shares = |other: Option<&Panel>| {
                other.is_some_and(|o| o.is_against_time() && panel.is_against_time())
            };
            let is_last = !shares(self.panels.get(at + 1));
            let is_first = at == 0 || !shares(self.panels.get(at - 1));
            y = panel.draw(&mut drawing, y, height, &self.marks, is_first, is_last);
        }
        drawing.height = (y + 6.0).ceil();
        drawing
    }

    /// For those who cannot see it.
    fn summary(&self) -> String {
        let panel = |p: &Panel| {
            let labels: Vec<&str> = p.curves.iter().map(|c| c.label.as_str()).collect();
            format!("{} against {}", labels.join(", "), p.x_label)
        };
        let strobe = self.strobe.iter().map(|s| s.summary());
        let panels: Vec<String> = strobe.chain(self.panels.iter().map(panel)).collect();
        let mut words = panels.join("; ");
        let mut names: Vec<&str> = self.marks.iter().map(|m| m.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| !name.is_empty());
        if !names.is_empty() {
            words = format!("{words}; events: {}", names.join(", "));
        }
        if self.title.is_empty() { words } else { format!("{}: {words}", self.title) }
    }
}

impl Panel {
    /// Draws it from a height on; gives where it ends.
    fn draw(
        &self,
        drawing: &mut Drawing,
        top: f64,
        height: f64,
        marks: &[Mark],
        is_first: bool,
        is_last: bool,
    ) -> f64 {
        let is_marked = self.is_against_time() && is_first && !marks.is_empty();
        let x_label = self.x_label_words();
        if self.is_strips() {
            let bottom = self.strips(drawing, top, is_last.then_some(x_label.as_str()), marks);
            return bottom + if is_last { BELOW } else { BETWEEN };
        }
        let top = self.legend(drawing, top) + if is_marked { 12.0 } else { 0.0 };
        let plane = self.plane(top, height);
        let labels = if is_last { Some(x_label.as_str()) } else { None };
        axes(drawing, &plane, labels, &self.y_label());
        if self.is_against_time() {
            event_lines(drawing, &plane, marks, is_marked);
        }
        let mut items = Vec::new();
        for curve in &self.curves {
            items.push(Item::Path {
                pieces: pieces(curve, &plane),
                pen: pen(curve.style, 1.6),
                is_closed: false,
                fill: None,
            });
        }
        drawing.items.push(Item::Group { name: "curves", clip: Some(plane.clip()), items });
        if !self.is_against_time() {
            self.event_rings(drawing, &plane, marks);
        }
        if self.curves.iter().flat_map(Curve::points).flatten().next().is_none() {
            let at = (0.5 * (plane.left + plane.right), 0.5 * (plane.top + plane.bottom) - 8.0);
            drawing.text(at, Anchor::Middle, Color::FAINT, "nowhere a number");
        }
        frame(drawing, &plane);
        plane.bottom + if is_last { BELOW } else { BETWEEN }
    }

    fn x_label_words(&self) -> String {
        self.x_kind.label(&self.x_label)
    }

    /// The first and the last time.
    pub(super) fn times(&self) -> (f64, f64) {
        let times = self.curves.iter().flat_map(|curve| &curve.x).filter(|t| t.is_finite());
        times.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &t| (low.min(t), high.max(t)))
    }

    /// The plane and its axes; one scale for both where lengths are against lengths.
    fn plane(&self, top: f64, height: f64) -> Plane {
        let seen = || self.curves.iter().flat_map(Curve::points).flatten();
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let ys = range(&mut seen().map(|p| p.1));
        // Angles have a unit of their own: what is rounding beside a radian is 0.
        let is_angle = self.curves.iter().all(|c| c.kind == Quantity::Angle);
        let ys = if is_angle && ys.0.abs().max(ys.1.abs()) < ANGLE_NOISE { (0.0, 0.0) } else { ys };
        let xs = match self.is_against_time() {
            // Panels that share their time share all of it, whatever is a number then.
            true => self.times(),
            false => range(&mut seen().map(|p| p.0)),
        };
        if self.is_equal()
            && let Some(plane) = equal_plane(xs, ys, top)
        {
            return plane;
        }
        let (left, right, bottom) = (LEFT, WIDTH - RIGHT, top + height);
        // Time begins and ends at the edges.
        let margin = if self.curves.iter().all(Curve::is_monotone) { 0.0 } else { 0.04 };
        let across = Axis::new(xs, margin, (left, right), 80.0);
        let upward = Axis::new(ys, 0.06, (bottom, top), 32.0);
        Plane { across, upward, left, right, top, bottom }
    }

    /// A sample of each line and its label, above the plane where they hide nothing; gives where
    /// the plane begins. A single curve is named by its axis.
    fn legend(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let is_named = self.curves.len() == 1 && self.y_label().chars().count() <= 40;
        if is_named {
            return top + 14.0;
        }
        let (mut x, mut y) = (LEFT, top + 18.0);
        for curve in &self.curves {
            let label = shorten(&curve.label);
            let room = 29.0 + width(&label, 13.0) + 20.0;
            if x > LEFT && x + room > WIDTH - RIGHT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            drawing.line(&[(x, y - 4.5), (x + 22.0, y - 4.5)], pen(curve.style, 2.4));
            drawing.text((x + 29.0, y), Anchor::Start, Color::INK, &label);
            x += room;
        }
        y + 14.0
    }

    /// Rings on curves that are not against time, where events happened.
    fn event_rings(&self, drawing: &mut Drawing, plane: &Plane, marks: &[Mark]) {
        let mut items = Vec::new();
        let mut named: Vec<&str> = Vec::new();
        for mark in marks {
            for curve in &self.curves {
                let Some(point) = instant(curve, mark.t) else { continue };
                let center = plane.place(point);
                let pen = Some(Pen::new(pen(curve.style, 1.2).color, 1.2));
                let fill = Some(Color::WHITE);
                items.push(Item::Disk { center, radius: 3.2, fill, pen });
                // Each name once, at its first ring.
                if !mark.name.is_empty() && !named.contains(&mark.name.as_str()) {
                    named.push(&mark.name);
                    items.push(Item::Text(event_name((center.0 + 6.0, center.1 - 5.0), mark)));
                }
            }
        }
        drawing.items.push(Item::Group { name: "events", clip: None, items });
    }
}

/// A plane in which a unit is as long upward as across; none where that would show nothing.
pub(super) fn equal_plane(xs: (f64, f64), ys: (f64, f64), top: f64) -> Option<Plane> {
    if !(xs.0 <= xs.1 && ys.0 <= ys.1) {
        return None;
    }
    let size = (xs.1 - xs.0).max(ys.1 - ys.0);
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    let room = 0.05 * size;
    let widen = |(low, high): (f64, f64)| (low - room, high + room);
    let (xs, ys) = (widen(xs), widen(ys));
    let (wide, high) = (xs.1 - xs.0, ys.1 - ys.0);
    if wide / high > SLENDER || high / wide > SLENDER {
        return None;
    }
    let full = WIDTH - RIGHT - LEFT;
    // Units per pixel.
    let scale = (wide / full).max(high / HIGHEST);
    let (across, upward) = ((wide / scale).max(LEAST), (high / scale).max(LEAST));
    let about = |(low, high): (f64, f64), pixels: f64| {
        let (middle, half) = (0.5 * (low + high), 0.5 * pixels * scale);
        (middle - half, middle + half)
    };
    let (xs, ys) = (about(xs, across), about(ys, upward));
    let left = LEFT;
    let (right, bottom) = (left + across, top + upward);
    let across = Axis::over(xs.0, xs.1, (left, right), 60.0);
    let upward = Axis::over(ys.0, ys.1, (bottom, top), 36.0);
    Some(Plane { across, upward, left, right, top, bottom })
}

/// Grid, ticks and the names of both axes; without the name of the one to the right, its ticks
/// have no numbers either.
pub(super) fn axes(drawing: &mut Drawing, plane: &Plane, x_label: Option<&str>, y_label: &str) {
    let Plane { across, upward, left, right, top, bottom } = plane;
    let shade = |value: f64| if value == 0.0 { Color::AXIS.faded(0.75) } else { Color::GRID };
    let mut grid = Vec::new();
    for (value, _) in &across.ticks {
        let x = across.place(*value);
        grid.push(line(&[(x, *top), (x, *bottom)], Pen::new(shade(*value), 1.0)));
    }
    for (value, _) in &upward.ticks {
        let y = upward.place(*value);
        grid.push(line(&[(*left, y), (*right, y)], Pen::new(shade(*value), 1.0)));
    }
    drawing.items.push(Item::Group { name: "grid", clip: None, items: grid });
    if let Some(label) = x_label {
        for (value, tick) in &across.ticks {
            let at = (across.place(*value), bottom + TICKS - 6.0);
            drawing.text(at, Anchor::Middle, Color::FAINT, tick);
        }
        let words = match across.note.as_str() {
            "" => label.to_owned(),
            note => format!("{label} ({note})"),
        };
        let at = (0.5 * (left + right), bottom + BELOW - 13.0);
        drawing.text(at, Anchor::Middle, Color::INK, &words);
    }
    for (value, tick) in &upward.ticks {
        drawing.text((left - 8.0, upward.place(*value) + 4.5), Anchor::End, Color::FAINT, tick);
    }
    if !upward.note.is_empty() {
        let words = format!("values {}", upward.note);
        let mut note = Text::new((*right, top - 6.0), Anchor::End, Color::FAINT, &words);
        note.size = 12.0;
        drawing.items.push(Item::Text(note));
    }
    if !y_label.is_empty() {
        let room = bottom - top + 20.0;
        let label = fit(y_label, room);
        let mut text = Text::new((20.0, 0.5 * (top + bottom)), Anchor::Middle, Color::INK, &label);
        text.is_upright = true;
        drawing.items.push(Item::Text(text));
    }
}

/// The two edges that are axes.
pub(super) fn frame(drawing: &mut Drawing, plane: &Plane) {
    let Plane { left, right, top, bottom, .. } = *plane;
    drawing.line(&[(left, top), (left, bottom), (right, bottom)], Pen::new(Color::AXIS, 1.0));
}

/// Thin lines where events happened, with their names where there is room.
fn event_lines(drawing: &mut Drawing, plane: &Plane, marks: &[Mark], is_named: bool) {
    let color = if marks.len() > MANY { Color::AXIS.faded(0.5) } else { Color::AXIS };
    let pen = Pen { color, width: 0.9, dash: &[3.0, 3.0] };
    let (mut items, mut free) = (Vec::new(), f64::NEG_INFINITY);
    let mut last = f64::NEG_INFINITY;
    for mark in marks {
        let x = plane.across.place(mark.t);
        // Lines beside each other would be a surface.
        if !(plane.left - 0.5..=plane.right + 0.5).contains(&x) || (x - last).abs() < CLOSEST {
            continue;
        }
        last = x;
        items.push(line(&[(x, plane.top), (x, plane.bottom)], pen));
        let room = width(&mark.name, 11.0);
        // In the middle over its line, and not beyond the edges.
        let at = x.clamp(plane.left + 0.5 * room, (plane.right - 0.5 * room).max(plane.left));
        if is_named && !mark.name.is_empty() && at - 0.5 * room > free {
            free = at + 0.5 * room + 6.0;
            let mut name = event_name((at, plane.top - 5.0), mark);
            name.anchor = Anchor::Middle;
            items.push(Item::Text(name));
        }
    }
    drawing.items.push(Item::Group { name: "events", clip: None, items });
}

fn event_name(at: Point, mark: &Mark) -> Text {
    let mut text = Text::new(at, Anchor::Start, Color::FAINT, &mark.name);
    text.size = 11.0;
    text
}

/// Where a curve is at an instant, between the rows around it.
fn instant(curve: &Curve, t: f64) -> Option<(f64, f64)> {
    let forward = curve.t.first() <= curve.t.last();
    let is_past = |&own: &f64| if forward { own >= t } else { own <= t };
    let after = curve.t.iter().position(is_past)?;
    let point = |at: usize| (curve.x[at], curve.y[at]);
    let (b, tb) = (point(after), curve.t[after]);
    let found = match after.checked_sub(1) {
        Some(before) if tb != t => {
            let (a, ta) = (point(before), curve.t[before]);
            let part = (t - ta) / (tb - ta);
            (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1))
        }
        _ => b,
    };
    (found.0.is_finite() && found.1.is_finite()).then_some(found)
}

/// A curve as pieces of line, one between any two gaps.
fn pieces(curve: &Curve, plane: &Plane) -> Vec<Vec<Point>> {
    let points: Vec<Option<Point>> = curve.points().map(|p| p.map(|p| plane.place(p))).collect();
    let is_monotone = curve.is_monotone();
    let runs = points.split(Option::is_none).map(|run| {
        let run: Vec<Point> = run.iter().copied().flatten().collect();
        simplify(&run, is_monotone)
    });
    runs.filter(|run| !run.is_empty()).collect()
}

fn shorten(label: &str) -> String {
    const LONGEST: usize = 60;
    if label.chars().count() <= LONGEST {
        return label.to_owned();
    }
    label.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// As much of a label as there is room for.
pub(super) fn fit(label: &str, room: f64) -> String {
    let mut shown = shorten(label);
    // The unit goes first.
    if width(&shown, 13.0) > room
        && let Some((without, _)) = label.rsplit_once(" (")
    {
        shown = shorten(without);
    }
    while width(&shown, 13.0) > room && shown.chars().count() > 4 {
        let count = shown.chars().count();
        shown = shown.chars().take(count - 2).chain(['…']).collect();
    }
    shown
}

/// A range that is not empty, for what has no scale of its own.
pub(super) fn not_empty(range: (f64, f64)) -> (f64, f64) {
    axis::widen(range, 0.0)
}
