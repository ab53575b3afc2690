//! The scene of a run at its instants, as lines and dots on the page.

use super::drawing::{Color, Item, Pen, Point, color, line};
use super::view::{Seen, View};
use crate::scene::{Scene, Shape};
use dalembert_simulate::{Observation, Setting};

/// Points around a circle that is seen from aside.
const AROUND: usize = 48;
/// Rows that are looked at for the size of a picture.
const LOOKED_AT: usize = 2000;

/// The numbers of a scene along a run.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// What is drawn.
    pub scene: Scene,
    /// When.
    pub t: Vec<f64>,
    /// The scene's numbers at each instant.
    pub rows: Vec<Vec<f64>>,
    /// Which direction of space is up; any length.
    pub up: Option<[f64; 3]>,
}

/// A shape at an instant, on the page.
#[derive(Clone, Debug)]
pub(super) enum Figure {
    Line(Vec<Seen>),
    /// A circle of a scene in space, as points around it.
    Ring(Vec<Seen>),
    Circle(Seen, f64),
    Dot(Seen),
    /// The head of a trace.
    Head(Seen),
}

/// A motion and the direction it is seen from.
pub(super) struct Stage<'a> {
    pub motion: &'a Motion,
    pub view: View,
    /// The lowest and highest places on the page.
    pub across: (f64, f64),
    pub upward: (f64, f64),
}

impl Motion {
    /// A scene before anything has moved.
    pub fn new(scene: Scene) -> Motion {
        Motion { scene, ..Motion::default() }
    }

    /// Takes the scene's numbers of a row. Up is what the first row says.
    pub fn record(&mut self, setting: &Setting, seen: &Observation) {
        let table = seen.table(&setting.model.system);
        if self.t.is_empty() {
            let down = self.scene.down.as_ref().map(|g| setting.numbers(g, &table));
            self.up = down.and_then(|g| <[f64; 3]>::try_from(g).ok()).map(|g| g.map(|x| -x));
        }
        self.t.push(seen.state.t);
        self.rows.push(setting.numbers(&self.scene.numbers, &table));
    }

    /// Forgets all rows: the run is made again.
    pub fn clear(&mut self) {
        self.t.clear();
        self.rows.clear();
    }

    /// The rows next to so many instants, from the start to the end.
    pub(super) fn instants(&self, count: usize) -> Vec<usize> {
        let (Some(&from), Some(&to)) = (self.t.first(), self.t.last()) else { return Vec::new() };
        let count = count.max(1);
        let at = |k: usize| match count {
            1 => 0,
            _ => {
                let t = from + (to - from) * k as f64 / (count - 1) as f64;
                self.nearest(t)
            }
        };
        (0..count).map(at).collect()
    }

    /// The row next to a time; runs may go backwards.
    fn nearest(&self, t: f64) -> usize {
        let forward = self.t.first() <= self.t.last();
        let after = self.t.partition_point(|&own| if forward { own < t } else { own > t });
        let after = after.min(self.t.len() - 1);
        match after.checked_sub(1) {
            Some(before) if (self.t[before] - t).abs() < (self.t[after] - t).abs() => before,
            _ => after,
        }
    }

    fn point(&self, at: &[usize], row: usize) -> Vec<f64> {
        at.iter().map(|&i| self.rows[row][i]).collect()
    }
}

impl<'a> Stage<'a> {
    /// Looks at these rows, and at all of what leaves a trace; none where nothing is at a finite
    /// place.
    pub fn new(motion: &'a Motion, rows: &[usize]) -> Option<Stage<'a>> {
        let every = motion.rows.len().div_ceil(LOOKED_AT).max(1);
        let mut points = Vec::new();
        for shape in &motion.scene.shapes {
            points.extend(rows.iter().flat_map(|&row| corners(motion, shape, row)));
            if let Shape::Trace { at } = shape {
                let all = (0..motion.rows.len()).step_by(every);
                points.extend(all.map(|row| motion.point(at, row)));
            }
        }
        points.retain(|p| p.iter().all(|x| x.is_finite()));
        let view = View::new(motion.scene.dimension, motion.up, &points);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut across, mut upward) = (ends, ends);
        for p in points.iter().map(|p| view.place(p)) {
            across = (across.0.min(p[0]), across.1.max(p[0]));
            upward = (upward.0.min(p[1]), upward.1.max(p[1]));
        }
        (across.0 <= across.1).then_some(Stage { motion, view, across, upward })
    }

    /// A shape at an instant; none where it is not at a finite place.
    pub fn figure(&self, shape: &Shape, row: usize) -> Option<Figure> {
        let place = |at: &[usize]| self.view.place(&self.motion.point(at, row));
        let figure = match shape {
            Shape::Line { points } => Figure::Line(points.iter().map(|p| place(p)).collect()),
            Shape::Point { at } => Figure::Dot(place(at)),
            Shape::Trace { at } => Figure::Head(place(at)),
            Shape::Circle { center, radius, axis: None } => {
                Figure::Circle(place(center), self.motion.rows[row][*radius].abs())
            }
            Shape::Circle { .. } => {
                let around = corners(self.motion, shape, row);
                Figure::Ring(around.iter().map(|p| self.view.place(p)).collect())
            }
        };
        figure.is_finite().then_some(figure)
    }

    /// The path of a point up to an instant, gaps where it is nowhere.
    pub fn path(&self, at: &[usize], until: usize) -> Vec<Option<Seen>> {
        let rows = 0..(until + 1).min(self.motion.rows.len());
        rows.map(|row| {
            let seen = self.view.place(&self.motion.point(at, row));
            seen.iter().all(|x| x.is_finite()).then_some(seen)
        })
        .collect()
    }

    /// A figure as items: `place` puts it on the page, `scale` is a length of the page over one
    /// of the scene, `strength` fades it.
    pub fn items(
        &self,
        figure: &Figure,
        place: &dyn Fn(Seen) -> Point,
        scale: f64,
        strength: f64,
    ) -> Vec<Item> {
        let near = |depth: f64| 0.45 + 0.55 * self.view.nearness(depth);
        let pen = |base: Color, depth: f64| {
            Pen::new(base.faded(strength * near(depth)), 1.3 + 0.9 * self.view.nearness(depth))
        };
        let middle =
            |points: &[Seen]| points.iter().map(|p| p[2]).sum::<f64>() / points.len().max(1) as f64;
        match figure {
            Figure::Line(points) => {
                let on_page: Vec<Point> = points.iter().map(|&p| place(p)).collect();
                vec![line(&on_page, pen(LINES, middle(points)))]
            }
            Figure::Ring(points) => {
                let next = points.iter().cycle().skip(1);
                let pairs = points.iter().zip(next);
                pairs
                    .map(|(&a, &b)| line(&[place(a), place(b)], pen(LINES, middle(&[a, b]))))
                    .collect()
            }
            Figure::Circle(center, radius) => vec![Item::Disk {
                center: place(*center),
                radius: radius * scale,
                fill: None,
                pen: Some(pen(LINES, center[2])),
            }],
            Figure::Dot(at) | Figure::Head(at) => {
                let size = if matches!(figure, Figure::Dot(_)) { 4.5 } else { 3.4 };
                let radius = size * (0.75 + 0.25 * self.view.nearness(at[2]));
                let fill = Some(color(1).faded(strength * near(at[2])));
                vec![Item::Disk { center: place(*at), radius, fill, pen: None }]
            }
        }
    }
}

/// Lines and circles; dots have the second color, traces the third.
const LINES: Color = Color(0x00, 0x52, 0x85);

/// How traces are drawn.
pub(super) fn trace_pen() -> Pen {
    Pen::new(color(2).faded(0.55), 1.0)
}

impl Figure {
    fn is_finite(&self) -> bool {
        let finite = |p: &Seen| p.iter().all(|x| x.is_finite());
        match self {
            Figure::Line(points) | Figure::Ring(points) => points.iter().all(finite),
            Figure::Circle(center, radius) => finite(center) && radius.is_finite(),
            Figure::Dot(at) | Figure::Head(at) => finite(at),
        }
    }
}

/// Points that bound a shape; of a circle in space, those around it.
fn corners(motion: &Motion, shape: &Shape, row: usize) -> Vec<Vec<f64>> {
    let point = |at: &[usize]| motion.point(at, row);
    match shape {
        Shape::Line { points } => points.iter().map(|p| point(p)).collect(),
        Shape::Point { at } | Shape::Trace { at } => vec![point(at)],
        Shape::Circle { center, radius, axis: None } => {
            let (c, r) = (point(center), motion.rows[row][*radius]);
            vec![vec![c[0] - r, c[1] - r], vec![c[0] + r, c[1] + r]]
        }
        Shape::Circle { center, radius, axis: Some(axis) } => {
            let (c, r) = (point(center), motion.rows[row][*radius]);
            let (a, b) = across(&point(axis));
            let around = (0..AROUND).map(|k| {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / AROUND as f64).sin_cos();
                (0..3).map(|i| c[i] + r * (cos * a[i] + sin * b[i])).collect()
            });
            around.collect()
        }
    }
}

/// Two unit vectors across an axis and each other.
fn across(axis: &[f64]) -> ([f64; 3], [f64; 3]) {
    let norm = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let n = [axis[0] / norm, axis[1] / norm, axis[2] / norm];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    // The direction that the axis is farthest from.
    let least = (0..3).min_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap_or(0);
    let mut other = [0.0; 3];
    other[least] = 1.0;
    let a = cross(n, other);
    let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let a = a.map(|x| x / length);
    (a, cross(n, a))
}
