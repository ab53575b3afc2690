//! The scene at several instants beside each other, where in one picture they would hide each other.
//!
//! Instants lie over each other where the boxes of what moves do: of two after each other, by most of
//! what both cover. A few strokes bear that, as of a pendulum; a platform on six legs does not.

use super::axis::Axis;
use super::drawing::{Anchor, Color, Drawing, Item, Text};
use super::layout::{self, LEFT, Plane, RIGHT, WIDTH};
use super::poses::{Figure, Stage};
use super::strobe::{scale, short, trace, triad};
use super::view::Seen;
use crate::scene::Shape;

/// Strokes that may lie over each other.
const FEW: usize = 6;
/// The part of two boxes that both cover.
const OVERLAP: f64 = 0.5;
/// All instants together are no larger than this many of the largest.
const FAR: f64 = 2.5;
/// Cells in a row, and what is between them.
const COLUMNS: usize = 4;
const BETWEEN: f64 = 10.0;
/// The highest cell.
const HIGHEST: f64 = 300.0;

/// Lowest and highest place, to the right and upward.
type Bounds = [(f64, f64); 2];

/// Whether instants would hide each other in one picture.
pub(super) fn is_wanted(stage: &Stage, instants: &[usize]) -> bool {
    let shapes = stage.motion.scene.shapes.iter();
    let moving: Vec<&Shape> = shapes.filter(|shape| moves(stage, shape, instants)).collect();
    let strokes = |shape: &&Shape| match shape {
        Shape::Line { points } => points.len().saturating_sub(1),
        Shape::Circle { axis, .. } => 2 + usize::from(axis.is_some()),
        Shape::Point { .. } | Shape::Trace { .. } => 0,
    };
    if instants.len() < 2 || moving.iter().map(strokes).sum::<usize>() < FEW {
        return false;
    }
    let boxes: Vec<Bounds> =
        instants.iter().filter_map(|&row| bounds(stage, &moving, row)).collect();
    // What goes far shows by where it is that it moved.
    let all = boxes
        .iter()
        .copied()
        .reduce(|a, b| [0, 1].map(|i| (a[i].0.min(b[i].0), a[i].1.max(b[i].1))));
    let widest = |list: &[Bounds]| {
        let sizes = list.iter().map(|b| (b[0].1 - b[0].0).max(b[1].1 - b[1].0));
        sizes.fold(0.0, f64::max)
    };
    if all.is_none_or(|all| widest(&[all]) > FAR * widest(&boxes)) {
        return false;
    }
    let parts: Vec<f64> = boxes.windows(2).map(|pair| overlap(&pair[0], &pair[1])).collect();
    !parts.is_empty() && parts.iter().sum::<f64>() / parts.len() as f64 > OVERLAP
}

fn moves(stage: &Stage, shape: &Shape, instants: &[usize]) -> bool {
    let rows = &stage.motion.rows;
    let first = |i: usize| rows[instants[0]][i];
    shape.indices().into_iter().any(|i| instants.iter().any(|&row| rows[row][i] != first(i)))
}

/// The box of shapes at an instant.
fn bounds(stage: &Stage, shapes: &[&Shape], row: usize) -> Option<Bounds> {
    let mut found: Bounds = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    let mut see = |p: &Seen, margin: f64| {
        for (bound, x) in found.iter_mut().zip(p) {
            *bound = (bound.0.min(x - margin), bound.1.max(x + margin));
        }
    };
    for shape in shapes {
        match stage.figure(shape, row) {
            Some(Figure::Line(points) | Figure::Ring(points)) => {
                points.iter().for_each(|p| see(p, 0.0));
            }
            Some(Figure::Circle(center, radius)) => see(&center, radius),
            Some(Figure::Dot(at) | Figure::Head(at)) => see(&at, 0.0),
            None => {}
        }
    }
    (found[0].0 <= found[0].1).then_some(found)
}

/// The part of what two boxes cover that both do; a box without width counts by its height.
fn overlap(a: &Bounds, b: &Bounds) -> f64 {
    let mut part = 1.0;
    for (a, b) in a.iter().zip(b) {
        let all = a.1.max(b.1) - a.0.min(b.0);
        if all > 0.0 {
            part *= ((a.1.min(b.1) - a.0.max(b.0)) / all).max(0.0);
        }
    }
    part
}

/// Draws the instants from a height on; gives where they end.
pub(super) fn draw(stage: &Stage, instants: &[usize], drawing: &mut Drawing, top: f64) -> f64 {
    let columns = COLUMNS.min(instants.len());
    let across = stage.across.1 - stage.across.0;
    let upward = stage.upward.1 - stage.upward.0;
    let size = across.max(upward);
    let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
    let (across, upward) = (across.max(0.3 * size) * 1.1, upward.max(0.3 * size) * 1.1);
    let room = WIDTH - RIGHT - LEFT - BETWEEN * (columns as f64 - 1.0);
    let unit = (room / columns as f64 / across).min(HIGHEST / upward);
    let (wide, high) = (across * unit, upward * unit);
    let middle = |(low, high): (f64, f64)| 0.5 * low + 0.5 * high;
    let about = |middle: f64, size: f64| (middle - 0.5 * size, middle + 0.5 * size);
    let (xs, ys) = (about(middle(stage.across), across), about(middle(stage.upward), upward));
    let is_flat = stage.view.axes().is_none();
    let rows = instants.len().div_ceil(columns);
    let mut y = top;
    for (line, cells) in instants.chunks(columns).enumerate() {
        let (cell_top, cell_bottom) = (y + 18.0, y + 18.0 + high);
        for (column, &row) in cells.iter().enumerate() {
            let left = LEFT + column as f64 * (wide + BETWEEN);
            let mut plane = Plane {
                across: Axis::over(xs.0, xs.1, (left, left + wide), 60.0),
                upward: Axis::over(ys.0, ys.1, (cell_bottom, cell_top), 36.0),
                left,
                right: left + wide,
                top: cell_top,
                bottom: cell_bottom,
            };
            if is_flat {
                if column > 0 {
                    plane.upward.ticks.iter_mut().for_each(|tick| tick.1.clear());
                    plane.upward.note.clear();
                }
                let is_lowest = line + 1 == rows;
                let (x, y) = (is_lowest.then_some("x"), if column == 0 { "y" } else { "" });
                layout::axes(drawing, &plane, x, y);
            }
            cell(stage, row, &plane, drawing);
            if is_flat {
                layout::frame(drawing, &plane);
            }
            let words = format!("t = {}", short(stage.motion.t[row]));
            let at = (left + 0.5 * wide, cell_top - 6.0);
            let mut text = Text::new(at, Anchor::Middle, Color::FAINT, &words);
            text.size = 12.0;
            drawing.items.push(Item::Text(text));
        }
        y = cell_bottom + if line + 1 == rows { 0.0 } else { BETWEEN };
    }
    if is_flat {
        return y + 52.0;
    }
    triad(drawing, stage, (LEFT - 44.0, y + 14.0));
    y + 54.0
}

/// One instant, over the paths so far.
fn cell(stage: &Stage, row: usize, plane: &Plane, drawing: &mut Drawing) {
    let place = |p: Seen| plane.place((p[0], p[1]));
    let mut items = Vec::new();
    for shape in &stage.motion.scene.shapes {
        if let Shape::Trace { at } = shape {
            items.push(trace(stage, at, row, &place));
        }
    }
    let figures = stage.motion.scene.shapes.iter().filter_map(|s| stage.figure(s, row));
    items.extend(figures.flat_map(|f| stage.items(&f, &place, scale(plane), 1.0)));
    drawing.items.push(Item::Group { name: "instant", clip: None, items });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Motion;
    use crate::scene::Scene;

    /// A wheel of so many spokes that goes right by `step` from row to row.
    fn wheel(spokes: usize, step: f64) -> Motion {
        let mut scene = Scene { dimension: 2, ..Scene::default() };
        for k in 0..spokes {
            scene.shapes.push(Shape::Line { points: vec![vec![0, 1], vec![2 + 2 * k, 3 + 2 * k]] });
        }
        let row = |i: usize| {
            let x = step * i as f64;
            let end = |k: usize| {
                let turn = 0.3 * i as f64 + std::f64::consts::TAU * k as f64 / spokes as f64;
                [x + turn.cos(), turn.sin()]
            };
            [x, 0.0].into_iter().chain((0..spokes).flat_map(end)).collect()
        };
        Motion { scene, t: vec![0.0, 1.0, 2.0], rows: (0..3).map(row).collect(), up: None }
    }

    #[test]
    fn what_hides_itself_is_shown_beside_itself() {
        let is_wanted = |motion: &Motion| {
            let rows = [0, 1, 2];
            super::is_wanted(&Stage::new(motion, &rows).expect("it is somewhere"), &rows)
        };
        assert!(is_wanted(&wheel(8, 0.1)), "it turns in its place");
        assert!(!is_wanted(&wheel(8, 3.0)), "it rolls away");
        let mut late = wheel(8, 0.0);
        late.rows[2] = wheel(8, 10.0).rows[2].clone();
        late.rows.insert(1, late.rows[0].clone());
        late.rows.insert(1, late.rows[0].clone());
        late.t = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        let rows = [0, 1, 2, 3, 4];
        let stage = Stage::new(&late, &rows).expect("it is somewhere");
        assert!(!super::is_wanted(&stage, &rows), "it stays, and then goes far");
        assert!(!is_wanted(&wheel(2, 0.1)), "two strokes are told apart");
    }
}
