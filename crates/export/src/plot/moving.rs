//! The scene in motion: its frames, and an SVG that moves by itself.
//!
//! The SVG is animated by SMIL, which browsers play also where a page shows it as an image, without
//! a script: each shape goes from one instant to the next along straight lines.

use super::drawing::{Anchor, Color, Drawing, Item, Pen, Point, Text, line};
use super::layout::Plane;
use super::poses::{Figure, Motion, Stage, trace_pen};
use super::strobe::{plane, scale, short, trace, triad};
use super::svg;
use super::view::Seen;
use crate::scene::Shape;
use std::fmt::Write;

/// The width of a picture that moves.
const WIDTH: f64 = 560.0;
const MARGIN: f64 = 20.0;
/// It lasts as long as the motion, in seconds, but no shorter and no longer than this.
const SECONDS: (f64, f64) = (3.0, 10.0);

/// A motion that can be shown as a moving picture.
#[derive(Clone, Debug)]
pub struct Moving {
    /// Its title; may be empty.
    pub title: String,
    /// Its motion.
    pub motion: Motion,
    /// How many frames; by default 20 for each second that it lasts.
    pub frames: Option<usize>,
}

/// A stage and where it is on the page.
pub(super) struct Set<'a> {
    stage: Stage<'a>,
    plane: Plane,
    /// From the plane to the page.
    shift: (f64, f64, f64),
    pub width: f64,
    pub height: f64,
    title: &'a str,
}

impl Moving {
    /// How many seconds it lasts.
    pub(super) fn seconds(&self) -> f64 {
        let t = &self.motion.t;
        let length = match (t.first(), t.last()) {
            (Some(from), Some(to)) => (to - from).abs(),
            _ => 0.0,
        };
        if length.is_finite() { length.clamp(SECONDS.0, SECONDS.1) } else { SECONDS.0 }
    }

    /// The rows that are its frames.
    pub(super) fn instants(&self) -> Vec<usize> {
        let count = self.frames.unwrap_or((20.0 * self.seconds()) as usize);
        self.motion.instants(count.max(2))
    }

    pub(super) fn set(&self) -> Option<Set<'_>> {
        let stage = Stage::new(&self.motion, &self.instants())?;
        let plane = plane(&stage, 0.0);
        let top = if self.title.is_empty() { MARGIN } else { MARGIN + 24.0 };
        let factor = (WIDTH - 2.0 * MARGIN) / (plane.right - plane.left);
        // High scenes stay within the page.
        let factor = factor.min(480.0 / (plane.bottom - plane.top));
        let height = top + factor * (plane.bottom - plane.top) + 26.0;
        let inset = 0.5 * (WIDTH - factor * (plane.right - plane.left));
        let shift = (factor, inset - factor * plane.left, top - factor * plane.top);
        Some(Set { stage, plane, shift, width: WIDTH, height: height.ceil(), title: &self.title })
    }

    /// As an SVG that moves by itself; none where there is nothing to see.
    pub fn to_svg(&self) -> Option<String> {
        let set = self.set()?;
        let instants = self.instants();
        let mut drawing = set.background();
        drawing.words = format!("{}: moving picture", self.title);
        let mut page = svg::head(&drawing);
        let mut planes = 0;
        drawing.items.iter().for_each(|item| svg::write_item(&mut page, item, &mut planes));
        let time = format!("dur=\"{:.2}s\" repeatCount=\"indefinite\"", self.seconds());
        let shapes = &self.motion.scene.shapes;
        for shape in shapes {
            if let Shape::Trace { at } = shape {
                set.moving_trace(&mut page, at, &instants, &time);
            }
        }
        for shape in shapes {
            set.moving_shape(&mut page, shape, &instants, &time);
        }
        let (from, to) = set.bar(1.0);
        let _ = writeln!(
            page,
            "<path d=\"M{:.1} {:.1}H{:.1}\" {}><animate attributeName=\"d\" \
             values=\"M{:.1} {:.1}H{:.1};M{:.1} {:.1}H{:.1}\" {time}/></path>",
            from.0,
            from.1,
            to.0,
            svg::stroke(&Set::bar_pen()),
            from.0,
            from.1,
            from.0,
            from.0,
            from.1,
            to.0
        );
        Some(page + "</svg>\n")
    }
}

impl<'a> Set<'a> {
    fn place(&self, p: Seen) -> Point {
        let (x, y) = self.plane.place((p[0], p[1]));
        (self.shift.0 * x + self.shift.1, self.shift.0 * y + self.shift.2)
    }

    fn scale(&self) -> f64 {
        self.shift.0 * scale(&self.plane)
    }

    /// What does not move: the title, the triad, the bar of time.
    pub fn background(&self) -> Drawing {
        let mut drawing = Drawing { width: self.width, height: self.height, ..Drawing::default() };
        if !self.title.is_empty() {
            let mut title =
                Text::new((MARGIN, MARGIN + 8.0), Anchor::Start, Color::INK, self.title);
            (title.size, title.is_bold) = (15.0, true);
            drawing.items.push(Item::Text(title));
        }
        triad(&mut drawing, &self.stage, (MARGIN, self.height - 44.0));
        let (from, to) = self.bar(1.0);
        drawing.line(&[from, to], Pen::new(Color::GRID, 3.0));
        drawing
    }

    /// The bar of time up to a part of it.
    fn bar(&self, part: f64) -> (Point, Point) {
        let y = self.height - 9.0;
        let (from, to) = (MARGIN, self.width - MARGIN);
        ((from, y), (from + part * (to - from), y))
    }

    fn bar_pen() -> Pen {
        Pen::new(Color::AXIS, 3.0)
    }

    /// The whole picture at an instant.
    pub fn frame(&self, row: usize, part: f64) -> Drawing {
        let mut drawing = self.background();
        let motion = self.stage.motion;
        let place = |p: Seen| self.place(p);
        for shape in &motion.scene.shapes {
            if let Shape::Trace { at } = shape {
                drawing.items.push(trace(&self.stage, at, row, &place));
            }
        }
        let figures = motion.scene.shapes.iter().filter_map(|s| self.stage.figure(s, row));
        let items: Vec<Item> =
            figures.flat_map(|f| self.stage.items(&f, &place, self.scale(), 1.0)).collect();
        drawing.items.extend(items);
        let (from, to) = self.bar(part);
        drawing.items.push(line(&[from, to], Set::bar_pen()));
        let words = format!("t = {}", short(motion.t[row]));
        let mut time =
            Text::new((self.width - MARGIN, self.height - 17.0), Anchor::End, Color::FAINT, &words);
        time.size = 12.0;
        drawing.items.push(Item::Text(time));
        drawing
    }

    /// A shape that goes from instant to instant. Where it is nowhere, it stays where it was.
    fn moving_shape(&self, page: &mut String, shape: &Shape, instants: &[usize], time: &str) {
        let mut figures: Vec<Option<Figure>> =
            instants.iter().map(|&row| self.stage.figure(shape, row)).collect();
        let Some(first) = figures.iter().flatten().next().cloned() else { return };
        let mut last = first.clone();
        for figure in &mut figures {
            match figure {
                Some(known) => last = known.clone(),
                None => *figure = Some(last.clone()),
            }
        }
        let figures: Vec<Figure> = figures.into_iter().flatten().collect();
        let place = |p: Seen| self.place(p);
        let Some(item) = self.stage.items(&first, &place, self.scale(), 1.0).into_iter().next()
        else {
            return;
        };
        let list =
            |of: &dyn Fn(&Figure) -> String| figures.iter().map(of).collect::<Vec<_>>().join(";");
        let center = |f: &Figure| match f {
            Figure::Circle(at, _) | Figure::Dot(at) | Figure::Head(at) => self.place(*at),
            _ => (0.0, 0.0),
        };
        match item {
            Item::Path { mut pen, .. } => {
                // Nearness changes on the way; what stays is its middle.
                pen.width = 2.0;
                let outline = |f: &Figure| {
                    let (points, is_closed) = match f {
                        Figure::Line(points) => (points, false),
                        Figure::Ring(points) => (points, true),
                        _ => return String::new(),
                    };
                    let points: Vec<Point> = points.iter().map(|&p| self.place(p)).collect();
                    coarse(&points, is_closed)
                };
                let _ = writeln!(
                    page,
                    "<path d=\"{}\" fill=\"none\" {}><animate attributeName=\"d\" \
                     values=\"{}\" {time}/></path>",
                    outline(&first),
                    svg::stroke(&pen),
                    list(&outline)
                );
            }
            Item::Disk { center: (x, y), radius, fill, pen } => {
                let size = |f: &Figure| match f {
                    Figure::Circle(_, r) => format!("{:.1}", r * self.scale()),
                    _ => String::new(),
                };
                let fill = fill.map_or("none".to_owned(), Color::hex);
                let stroke = pen.as_ref().map(svg::stroke).unwrap_or_default();
                let across = list(&|f| format!("{:.1}", center(f).0));
                let downward = list(&|f| format!("{:.1}", center(f).1));
                let mut grows = String::new();
                if let Figure::Circle(..) = first
                    && figures.iter().any(|f| size(f) != size(&first))
                {
                    grows =
                        format!("<animate attributeName=\"r\" values=\"{}\" {time}/>", list(&size));
                }
                let _ = writeln!(
                    page,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" {stroke}>\
                     <animate attributeName=\"cx\" values=\"{across}\" {time}/>\
                     <animate attributeName=\"cy\" values=\"{downward}\" {time}/>{grows}</circle>"
                );
            }
            _ => {}
        }
    }

    /// A path that is drawn as its point passes: a dash as long as the path, moved along it.
    fn moving_trace(&self, page: &mut String, at: &[usize], instants: &[usize], time: &str) {
        let last = self.stage.motion.rows.len().saturating_sub(1);
        let place = |p: Seen| self.place(p);
        let Item::Path { pieces, .. } = trace(&self.stage, at, last, &place) else { return };
        // How long the path is at each row, of what is drawn.
        let points: Vec<Option<Point>> =
            self.stage.path(at, last).into_iter().map(|p| p.map(place)).collect();
        let mut length = 0.0;
        let mut lengths = vec![0.0; points.len()];
        for row in 1..points.len() {
            if let (Some(a), Some(b)) = (points[row - 1], points[row]) {
                length += (b.0 - a.0).hypot(b.1 - a.1);
            }
            lengths[row] = length;
        }
        if length <= 0.0 {
            return;
        }
        let rest: Vec<String> =
            instants.iter().map(|&row| format!("{:.4}", 1.0 - lengths[row] / length)).collect();
        let pen = trace_pen();
        let d: Vec<String> = pieces.iter().map(|piece| coarse(piece, false)).collect();
        let _ = writeln!(
            page,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" pathLength=\"1\" \
             stroke-dasharray=\"1 1\"><animate attributeName=\"stroke-dashoffset\" \
             values=\"{}\" {time}/></path>",
            d.join(""),
            pen.color.hex(),
            pen.width,
            rest.join(";")
        );
    }
}

/// A path in tenths of a pixel, to keep the file small.
fn coarse(points: &[Point], is_closed: bool) -> String {
    let mut path = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let letter = match at {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        let _ = write!(path, "{letter}{x:.1} {y:.1}");
    }
    if is_closed {
        path.push('Z');
    }
    path
}
