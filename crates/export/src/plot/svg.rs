//! A drawing as SVG: one file that needs nothing else.

use super::Figure;
use super::drawing::{Anchor, Color, Drawing, Item, Pen, Point, Text};
use std::fmt::Write;

/// What words are set in: what the reader's system has, or what other formats embed.
const FONTS: &str = "'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif";

impl Figure {
    /// The picture.
    pub fn to_svg(&self) -> String {
        svg(&self.drawing())
    }
}

/// A drawing as a file.
pub(crate) fn svg(drawing: &Drawing) -> String {
    let mut page = head(drawing);
    let mut planes = 0;
    for item in &drawing.items {
        write_item(&mut page, item, &mut planes);
    }
    page + "</svg>\n"
}

/// The beginning of the file, with the white page.
pub(super) fn head(drawing: &Drawing) -> String {
    let Drawing { width, height, .. } = drawing;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" fill=\"{}\" \
         font-family=\"{FONTS}\" font-size=\"13\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        Color::INK.hex(),
        escape(&drawing.words)
    )
}

pub(super) fn write_item(page: &mut String, item: &Item, planes: &mut usize) {
    match item {
        Item::Path { pieces, pen, is_closed, fill } => {
            let fill = fill.map_or("none".to_owned(), Color::hex);
            let path = path(pieces, *is_closed);
            let _ = writeln!(page, "<path d=\"{path}\" fill=\"{fill}\" {}/>", stroke(pen));
        }
        Item::Disk { center: (x, y), radius, fill, pen } => {
            let fill = fill.map_or("none".to_owned(), Color::hex);
            let stroke = pen.as_ref().map(stroke).unwrap_or_default();
            let _ = writeln!(
                page,
                "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{fill}\" {stroke}/>"
            );
        }
        Item::Text(text) => write_text(page, text),
        Item::Group { name, clip, items } => {
            let mut clipped = String::new();
            if let Some([left, top, right, bottom]) = clip {
                let _ = writeln!(
                    page,
                    "<clipPath id=\"plane{planes}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" \
                     width=\"{:.1}\" height=\"{:.1}\"/></clipPath>",
                    right - left,
                    bottom - top
                );
                clipped = format!(" clip-path=\"url(#plane{planes})\"");
                *planes += 1;
            }
            let _ = writeln!(page, "<g class=\"{name}\"{clipped}>");
            items.iter().for_each(|item| write_item(page, item, planes));
            page.push_str("</g>\n");
        }
    }
}

fn write_text(page: &mut String, text: &Text) {
    let (x, y) = text.at;
    let mut more = String::new();
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => more.push_str(" text-anchor=\"middle\""),
        Anchor::End => more.push_str(" text-anchor=\"end\""),
    }
    if text.size != 13.0 {
        let _ = write!(more, " font-size=\"{}\"", text.size);
    }
    if text.is_bold {
        more.push_str(" font-weight=\"600\"");
    }
    if text.color != Color::INK {
        let _ = write!(more, " fill=\"{}\"", text.color.hex());
    }
    if text.is_upright {
        let _ = write!(more, " transform=\"rotate(-90 {x:.1} {y:.1})\"");
    }
    let words = escape(&text.text);
    let _ = writeln!(page, "<text x=\"{x:.1}\" y=\"{y:.1}\"{more}>{words}</text>");
}

pub(super) fn stroke(pen: &Pen) -> String {
    let mut text = format!("stroke=\"{}\"", pen.color.hex());
    if pen.width != 1.0 {
        let _ = write!(text, " stroke-width=\"{}\"", pen.width);
    }
    if !pen.dash.is_empty() {
        let dash: Vec<String> = pen.dash.iter().map(f64::to_string).collect();
        let _ = write!(text, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    text + " stroke-linejoin=\"round\" stroke-linecap=\"round\""
}

/// Moves and lines, in hundredths of a pixel.
pub(super) fn path(pieces: &[Vec<Point>], is_closed: bool) -> String {
    let mut path = String::new();
    for piece in pieces {
        for (at, (x, y)) in piece.iter().enumerate() {
            let letter = match at {
                0 => "M",
                1 => "L",
                _ => " ",
            };
            let _ = write!(path, "{letter}{x:.2} {y:.2}");
        }
        // A single point between gaps is a dot.
        if piece.len() == 1 {
            path.push_str("h0");
        } else if is_closed {
            path.push('Z');
        }
    }
    path
}

/// Markup and characters that no XML may have are written otherwise.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::drawing::pen;
    use crate::plot::{Curve, Panel};
    use crate::quantity::Quantity;

    fn figure(curves: &[(&str, &[f64])]) -> String {
        let curve = |(style, (label, y)): (usize, &(&str, &[f64]))| {
            let x = (0..y.len()).map(|i| i as f64).collect();
            Curve { label: (*label).to_owned(), style, x, y: y.to_vec(), ..Curve::default() }
        };
        let curves = curves.iter().enumerate().map(curve).collect();
        let panel = Panel { x_label: "t".to_owned(), x_kind: Quantity::Time, curves };
        let title = "a < b & c".to_owned();
        Figure { title, panels: vec![panel], ..Figure::default() }.to_svg()
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
        let strokes: std::collections::BTreeSet<String> =
            (0..20).map(|at| stroke(&pen(at, 1.6))).collect();
        assert_eq!(strokes.len(), 20);
    }
}
