//! How contacts and frictions are, in time: a strip for each, with a stretch for each of its modes.
//!
//! A mode is no amount: a curve through 0, 1 and 2 would show values that there are not. Stretches have
//! a color, which is told apart in gray too, and where there is room the word.

use super::axis::Axis;
use super::drawing::{Anchor, Color, Drawing, Item, Pen, Point, Text, color};
use super::font::width;
use super::layout::{self, LEFT, Plane, RIGHT, WIDTH};
use super::{Curve, Mark, Panel};
use crate::quantity::{Quantity, of_mode, touched};
use dalembert_expr::text_name;
use dalembert_model::system::{Model, Touched};
use dalembert_simulate::Observation;

/// A strip, and what is between two.
const HEIGHT: f64 = 17.0;
const GAP: f64 = 5.0;
/// More strips than these are no picture.
const MOST: usize = 16;

/// The modes of a run, row by row.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    of: Vec<(Touched, Quantity, String)>,
    t: Vec<f64>,
    values: Vec<Vec<f64>>,
}

impl Modes {
    /// Of a model; none where nothing touches or rubs.
    pub fn new(model: &Model) -> Option<Modes> {
        let system = &model.system;
        let list = touched(system).into_iter().take(MOST);
        let of: Vec<_> =
            list.map(|(of, name)| (of, of_mode(system, of), name.to_owned())).collect();
        let values = vec![Vec::new(); of.len()];
        (!of.is_empty()).then_some(Modes { of, t: Vec::new(), values })
    }

    /// Takes a row.
    pub fn record(&mut self, seen: &Observation) {
        self.t.push(seen.state.t);
        for ((of, ..), values) in self.of.iter().zip(&mut self.values) {
            values.push(seen.mode(*of).unwrap_or(f64::NAN));
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.t.clear();
        self.values.iter_mut().for_each(Vec::clear);
    }

    /// Whether a mark says what the strips say.
    pub fn tells(&self, mark: &str) -> bool {
        let words = ["closes", "opens", "sticks", "slips"];
        mark.rsplit_once(' ').is_some_and(|(name, word)| {
            words.contains(&word) && self.of.iter().any(|(.., own)| own == name)
        })
    }

    /// As a panel.
    pub fn panel(&self) -> Panel {
        let curve = |((_, kind, name), y): (&(Touched, Quantity, String), &Vec<f64>)| Curve {
            label: text_name(name, 0),
            kind: *kind,
            t: self.t.clone(),
            x: self.t.clone(),
            y: y.clone(),
            ..Curve::default()
        };
        Panel {
            x_label: "t".to_owned(),
            x_kind: Quantity::Time,
            curves: self.of.iter().zip(&self.values).map(curve).collect(),
        }
    }
}

/// A stretch of one mode.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    from: f64,
    to: f64,
    mode: f64,
}

/// The stretches of a curve. Where a mode changes between two rows, it does so at what happened there,
/// if there is a mark, and else in the middle.
fn stretches(curve: &Curve, marks: &[Mark]) -> Vec<Stretch> {
    let mut list: Vec<Stretch> = Vec::new();
    let rows = curve.x.iter().copied().zip(curve.y.iter().copied());
    let mut before: Option<(f64, f64)> = None;
    for (t, mode) in rows {
        match list.last_mut() {
            Some(last) if last.mode == mode && before.is_some_and(|b| b.1 == mode) => last.to = t,
            _ if !mode.is_finite() => {}
            _ => {
                let change = before.map_or(t, |(earlier, _)| change(earlier, t, marks));
                if let Some(last) =
                    list.last_mut().filter(|_| before.is_some_and(|b| b.1.is_finite()))
                {
                    last.to = change;
                }
                list.push(Stretch { from: change, to: t, mode });
            }
        }
        before = Some((t, mode));
    }
    list
}

/// When something changed between two rows.
fn change(a: f64, b: f64, marks: &[Mark]) -> f64 {
    let between = marks.iter().map(|m| m.t).find(|t| a.min(b) <= *t && *t <= a.max(b));
    between.unwrap_or(0.5 * a + 0.5 * b)
}

/// How a mode is drawn.
fn fill(kind: Quantity, mode: f64) -> Color {
    match kind.mode_word(mode) {
        "open" => Color::WHITE,
        "slips" => color(1).faded(0.45),
        _ => color(0).faded(0.8),
    }
}

impl Panel {
    /// Whether it shows modes, and nothing else.
    pub(super) fn is_strips(&self) -> bool {
        let mut kinds = self.curves.iter().map(|c| c.kind);
        self.is_against_time() && !self.curves.is_empty() && kinds.all(Quantity::is_mode)
    }

    /// Draws the strips from a height on, with the name of time if they are the last that share it;
    /// gives where they end.
    pub(super) fn strips(
        &self,
        drawing: &mut Drawing,
        top: f64,
        x_label: Option<&str>,
        marks: &[Mark],
    ) -> f64 {
        let top = self.key(drawing, top);
        let (left, right) = (LEFT, WIDTH - RIGHT);
        let bottom = top + self.curves.len() as f64 * (HEIGHT + GAP) + GAP;
        let mut upward = Axis::over(0.0, 1.0, (bottom, top), 1e3);
        upward.ticks.clear();
        let across = Axis::new(self.times(), 0.0, (left, right), 80.0);
        let plane = Plane { across, upward, left, right, top, bottom };
        layout::axes(drawing, &plane, x_label, "");
        let mut items = Vec::new();
        let mut y = top + GAP;
        for curve in &self.curves {
            let name = curve.label.strip_suffix(".mode").unwrap_or(&curve.label);
            let mut label = Text::new((left - 8.0, y + 12.5), Anchor::End, Color::INK, "");
            label.size = 12.0;
            label.text = layout::fit(name, (LEFT - 12.0) * 13.0 / 12.0);
            drawing.items.push(Item::Text(label));
            for stretch in stretches(curve, marks) {
                let (a, b) = (plane.across.place(stretch.from), plane.across.place(stretch.to));
                let (a, b) = (a.min(b), a.max(b));
                items.push(block((a, y), (b, y + HEIGHT), fill(curve.kind, stretch.mode)));
                let word = curve.kind.mode_word(stretch.mode);
                if width(word, 11.0) + 8.0 < b - a {
                    let dark = word == "sticks" || word == "closed";
                    let ink = if dark { Color::WHITE } else { Color::INK };
                    let at = (0.5 * (a + b), y + 12.5);
                    let mut text = Text::new(at, Anchor::Middle, ink, word);
                    text.size = 11.0;
                    items.push(Item::Text(text));
                }
            }
            y += HEIGHT + GAP;
        }
        drawing.items.push(Item::Group { name: "modes", clip: None, items });
        bottom
    }

    /// What the colors mean; gives where the strips begin.
    fn key(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let mut x = LEFT;
        let y = top + 18.0;
        for (word, kind, mode) in [
            ("open", Quantity::Mode, 0.0),
            ("closed", Quantity::Closed, 1.0),
            ("slips", Quantity::Mode, 1.0),
            ("sticks", Quantity::Mode, 2.0),
        ] {
            let has = |c: &Curve| c.y.iter().any(|&m| m.is_finite() && c.kind.mode_word(m) == word);
            if self.curves.iter().any(has) {
                drawing.items.push(block((x, y - 10.0), (x + 16.0, y), fill(kind, mode)));
                drawing.text((x + 22.0, y), Anchor::Start, Color::INK, word);
                x += 22.0 + width(word, 13.0) + 20.0;
            }
        }
        y + 8.0
    }
}

fn block(from: Point, to: Point, fill: Color) -> Item {
    let corners = vec![from, (to.0, from.1), to, (from.0, to.1)];
    let pen = Pen::new(Color::AXIS, 0.8);
    Item::Path { pieces: vec![corners], pen, is_closed: true, fill: Some(fill) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_meet_where_the_mode_changes() {
        let curve = |x: &[f64], y: &[f64]| Curve {
            kind: Quantity::Mode,
            x: x.to_vec(),
            y: y.to_vec(),
            ..Curve::default()
        };
        let of = |x: &[f64], y: &[f64], marks: &[f64]| -> Vec<(f64, f64, f64)> {
            let marks: Vec<Mark> = marks.iter().map(|&t| Mark { t, name: String::new() }).collect();
            stretches(&curve(x, y), &marks).iter().map(|s| (s.from, s.to, s.mode)).collect()
        };
        // In the middle of rows, where nothing is known of it,
        assert_eq!(of(&[0., 1., 2.], &[2., 2., 1.], &[]), [(0., 1.5, 2.), (1.5, 2., 1.)]);
        // at what happened there, and where there are rows of both.
        assert_eq!(of(&[0., 1., 2.], &[2., 2., 1.], &[1.25]), [(0., 1.25, 2.), (1.25, 2., 1.)]);
        let rows = [0., 1., 1., 2.];
        assert_eq!(of(&rows, &[2., 2., 1., 1.], &[]), [(0., 1., 2.), (1., 2., 1.)]);
        // What is not known is not drawn, and neither is the gap joined.
        let gap = [2., f64::NAN, 2., 2.];
        assert_eq!(of(&[0., 1., 2., 3.], &gap, &[]), [(0., 0., 2.), (1.5, 3., 2.)]);
        // Runs may go backwards.
        assert_eq!(of(&[2., 1., 0.], &[0., 1., 1.], &[]), [(2., 1.5, 0.), (1.5, 0., 1.)]);
    }

    #[test]
    fn modes_are_words_and_not_amounts() {
        assert_eq!(Quantity::Closed.mode_word(1.0), "closed");
        assert_eq!(Quantity::Mode.mode_word(1.0), "slips");
        assert_eq!(Quantity::Mode.mode_word(2.0), "sticks");
        assert_eq!(Quantity::Mode.mode_word(0.0), "open");
    }
}
