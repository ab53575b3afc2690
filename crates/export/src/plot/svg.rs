//! A figure as SVG: one file that needs nothing else.

use super::axis::Axis;
use super::simplify::simplify;
use super::{Curve, Figure, Panel};
use crate::text::width;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
/// Height of the plane of a panel.
const PLANE: f64 = 280.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const LEGEND_LINE: f64 = 20.0;
/// Below a plane: labels of the ticks and of the axis.
const BELOW: f64 = 52.0;
const LETTER: f64 = 7.2;

const INK: &str = "#222222";
const FAINT: &str = "#5a5a5a";
const GRID: &str = "#e8e8e8";
const AXIS: &str = "#9a9a9a";

/// Colors that people who see fewer of them tell apart, without the yellow, which is
/// too light for a line (Okabe & Ito 2008).
const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d"];
/// When the colors are used up, lines are dashed.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

impl Figure {
    /// The picture.
    pub fn to_svg(&self) -> String {
        let mut body = String::new();
        let mut y = 14.0;
        if !self.title.is_empty() {
            y += 18.0;
            let _ = writeln!(
                body,
                r#"<text x="{LEFT}" y="{y:.0}" font-size="16" font-weight="600">{}</text>"#,
                escape(&self.title)
            );
            y += 8.0;
        }
        for (at, panel) in self.panels.iter().enumerate() {
            y = panel.draw(&mut body, y, at);
        }
        let height = y + 6.0;
        let mut page = String::new();
        let _ = writeln!(
            page,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" fill=\"{INK}\" \
             font-family=\"'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
             font-size=\"13\">\n<title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            escape(&self.summary())
        );
        page + &body + "</svg>\n"
    }

    /// For those who cannot see it.
    fn summary(&self) -> String {
        let panel = |p: &Panel| {
            let labels: Vec<&str> = p.curves.iter().map(|c| c.label.as_str()).collect();
            format!("{} against {}", labels.join(", "), p.x_label)
        };
        let panels: Vec<String> = self.panels.iter().map(panel).collect();
        let panels = panels.join("; ");
        if self.title.is_empty() { panels } else { format!("{}: {panels}", self.title) }
    }
}

impl Panel {
    /// Draws it from a height on; gives where it ends.
    fn draw(&self, body: &mut String, top: f64, number: usize) -> f64 {
        let (legend, plane) = self.legend(top);
        let (left, right, bottom) = (LEFT, WIDTH - RIGHT, plane + PLANE);
        let seen = || self.curves.iter().flat_map(Curve::points).flatten();
        // Time begins and ends at the edges.
        let margin = if self.curves.iter().all(Curve::is_monotone) { 0.0 } else { 0.04 };
        let across = Axis::new(seen().map(|p| p.0), margin, (left, right), 80.0);
        let upward = Axis::new(seen().map(|p| p.1), 0.05, (bottom, plane), 36.0);
        for (value, label) in &across.ticks {
            let x = across.place(*value);
            let stroke = if *value == 0.0 { AXIS } else { GRID };
            let _ = writeln!(
                body,
                "<path d=\"M{x:.1} {plane:.1}V{bottom:.1}\" stroke=\"{stroke}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{FAINT}\">{label}</text>",
                bottom + 18.0
            );
        }
        for (value, label) in &upward.ticks {
            let y = upward.place(*value);
            let stroke = if *value == 0.0 { AXIS } else { GRID };
            let _ = writeln!(
                body,
                "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{stroke}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{FAINT}\">{label}</text>",
                left - 8.0,
                y + 4.5
            );
        }
        body.push_str(&legend);
        if !upward.note.is_empty() {
            let _ = writeln!(
                body,
                "<text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\" \
                 fill=\"{FAINT}\">values {}</text>",
                plane - 8.0,
                escape(&upward.note)
            );
        }
        let mut below = escape(&self.x_label);
        if !across.note.is_empty() {
            below = format!("{below} ({})", escape(&across.note));
        }
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{below}</text>",
            0.5 * (left + right),
            bottom + 38.0
        );
        let _ = writeln!(
            body,
            "<clipPath id=\"plane{number}\"><rect x=\"{left}\" y=\"{:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\"/></clipPath>\n<g clip-path=\"url(#plane{number})\" fill=\"none\" \
             stroke-width=\"1.6\" stroke-linejoin=\"round\" stroke-linecap=\"round\">",
            plane - 2.0,
            right - left + 2.0,
            PLANE + 4.0
        );
        for (at, curve) in self.curves.iter().enumerate() {
            let path = path(curve, &across, &upward);
            let _ = writeln!(body, "<path d=\"{path}\" {}/>", stroke(at));
        }
        body.push_str("</g>\n");
        let _ = writeln!(
            body,
            "<path d=\"M{left:.1} {plane:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"{AXIS}\"/>"
        );
        bottom + BELOW
    }

    /// A sample of each line and its label, above the plane where they hide nothing;
    /// and where the plane begins.
    fn legend(&self, top: f64) -> (String, f64) {
        let mut text = String::new();
        let (mut x, mut y) = (LEFT, top + 18.0);
        for (at, curve) in self.curves.iter().enumerate() {
            let label = shorten(&curve.label);
            let room = 32.0 + LETTER * width(&label) as f64 + 18.0;
            if x > LEFT && x + room > WIDTH - RIGHT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            let _ = writeln!(
                text,
                "<path d=\"M{x:.1} {:.1}h22\" fill=\"none\" stroke-width=\"2.4\" {}/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                y - 4.5,
                stroke(at),
                x + 29.0,
                escape(&label)
            );
            x += room;
        }
        (text, y + 16.0)
    }
}

fn stroke(at: usize) -> String {
    let color = COLORS[at % COLORS.len()];
    match DASHES[at / COLORS.len() % DASHES.len()] {
        "" => format!("stroke=\"{color}\""),
        dash => format!("stroke=\"{color}\" stroke-dasharray=\"{dash}\""),
    }
}

/// A curve as moves and lines, in hundredths of a pixel.
fn path(curve: &Curve, across: &Axis, upward: &Axis) -> String {
    let points: Vec<Option<(f64, f64)>> =
        curve.points().map(|p| p.map(|(x, y)| (across.place(x), upward.place(y)))).collect();
    let is_monotone = curve.is_monotone();
    let mut path = String::new();
    for run in points.split(Option::is_none) {
        let run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
        for (at, (x, y)) in simplify(&run, is_monotone).iter().enumerate() {
            let letter = match at {
                0 => "M",
                1 => "L",
                _ => " ",
            };
            let _ = write!(path, "{letter}{x:.2} {y:.2}");
        }
        // A single point between gaps is a dot.
        if run.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

fn shorten(label: &str) -> String {
    const LONGEST: usize = 60;
    if label.chars().count() <= LONGEST {
        return label.to_owned();
    }
    label.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Markup and characters that no XML may have are written otherwise.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(curves: &[(&str, &[f64])]) -> String {
        let curve = |(label, y): &(&str, &[f64])| {
            let x = (0..y.len()).map(|i| i as f64).collect();
            Curve { label: (*label).to_owned(), x, y: y.to_vec() }
        };
        let curves = curves.iter().map(curve).collect();
        let panel = Panel { x_label: "t".to_owned(), curves };
        Figure { title: "a < b & c".to_owned(), panels: vec![panel] }.to_svg()
    }

    #[test]
    fn gaps_constants_and_extremes_can_be_drawn() {
        let nan = f64::NAN;
        for values in [
            &[][..],
            &[nan, nan],
            &[1.0],
            &[3.0, 3.0, 3.0],
            &[f64::MAX, f64::MIN, 0.0],
            &[1e-310, 2e-310],
            &[f64::INFINITY, 1.0, 2.0],
            &[1.0, 1.0 + f64::EPSILON],
        ] {
            let svg = figure(&[("y", values)]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{values:?}: {svg}");
        }
        let svg = figure(&[("y", &[0.0, 1.0, nan, 1.0, nan, 0.0, 1.0])]);
        let path = svg.lines().find(|line| line.contains("#0072b2") && line.contains('L'));
        let path = path.expect("a curve");
        assert_eq!((path.matches('M').count(), path.matches("h0").count()), (3, 1), "{path}");
    }

    #[test]
    fn labels_are_text_and_many_curves_differ() {
        let names: Vec<String> = (0..20).map(|i| format!("x[{i}] <\u{7}")).collect();
        let curves: Vec<(&str, &[f64])> =
            names.iter().map(|n| (n.as_str(), &[0.0, 1.0][..])).collect();
        let svg = figure(&curves);
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("x[19] &lt; <"), "{svg}");
        let strokes: std::collections::BTreeSet<String> = (0..20).map(stroke).collect();
        assert_eq!(strokes.len(), 20);
    }
}
