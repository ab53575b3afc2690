//! A drawing as pixels, and as PNG.
//!
//! A figure has three pixels to each of its own, about 290 to an inch: enough for print.

use super::Figure;
use super::drawing::{Anchor, Color, Drawing, Item, Pen, Text};
use super::font::{FONT, Font};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::OutlineBuilder;

/// Pixels of a picture to one of its drawing.
const DENSITY: f32 = 3.0;
/// Pictures larger than this in one direction are made with fewer pixels.
const LARGEST: f32 = 16_000.0;

/// Why there is no picture: it has no size, or there is no memory for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPicture;

impl Figure {
    /// The picture as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, NoPicture> {
        let drawing = self.drawing();
        let largest = drawing.width.max(drawing.height) as f32;
        let scale = DENSITY.min(LARGEST / largest.max(1.0));
        png(&pixels(&drawing, scale).ok_or(NoPicture)?, scale)
    }
}

/// Pixels as a PNG file, with how many there are to an inch.
fn png(pixels: &Pixmap, scale: f32) -> Result<Vec<u8>, NoPicture> {
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, pixels.width(), pixels.height());
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    let per_meter = (f64::from(scale) * 96.0 / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(::png::PixelDimensions {
        xppu: per_meter,
        yppu: per_meter,
        unit: ::png::Unit::Meter,
    }));
    // The page is white and everything on it opaque: the fourth byte says nothing.
    let rgb: Vec<u8> = pixels.data().chunks(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut writer = encoder.write_header().map_err(|_| NoPicture)?;
    writer.write_image_data(&rgb).map_err(|_| NoPicture)?;
    writer.finish().map_err(|_| NoPicture)?;
    Ok(file)
}

/// A drawing as pixels on white.
pub(super) fn pixels(drawing: &Drawing, scale: f32) -> Option<Pixmap> {
    let size = |length: f64| (length as f32 * scale).round() as u32;
    let mut map = Pixmap::new(size(drawing.width), size(drawing.height))?;
    map.fill(tiny_skia::Color::WHITE);
    let transform = Transform::from_scale(scale, scale);
    for item in &drawing.items {
        draw(&mut map, item, transform, None);
    }
    Some(map)
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.0, color.1, color.2, 255);
    paint.anti_alias = true;
    paint
}

fn draw(map: &mut Pixmap, item: &Item, transform: Transform, mask: Option<&Mask>) {
    match item {
        Item::Path { pieces, pen, is_closed, fill } => {
            let mut path = PathBuilder::new();
            for piece in pieces {
                let mut points = piece.iter().map(|p| (p.0 as f32, p.1 as f32));
                let Some((x, y)) = points.next() else { continue };
                path.move_to(x, y);
                if piece.len() == 1 {
                    // A dot: a line too short to be seen, with round ends.
                    path.line_to(x + 0.01, y);
                }
                points.for_each(|(x, y)| path.line_to(x, y));
                if *is_closed {
                    path.close();
                }
            }
            let Some(path) = path.finish() else { return };
            if let Some(color) = fill {
                map.fill_path(&path, &paint(*color), FillRule::Winding, transform, mask);
            }
            stroke(map, &path, pen, transform, mask);
        }
        Item::Disk { center, radius, fill, pen } => {
            let (x, y, r) = (center.0 as f32, center.1 as f32, *radius as f32);
            let Some(path) = PathBuilder::from_circle(x, y, r) else { return };
            if let Some(color) = fill {
                map.fill_path(&path, &paint(*color), FillRule::Winding, transform, mask);
            }
            if let Some(pen) = pen {
                stroke(map, &path, pen, transform, mask);
            }
        }
        Item::Text(text) => {
            if let Some(font) = &*FONT
                && let Some(path) = outline(font, text)
            {
                let paint = paint(text.color);
                map.fill_path(&path, &paint, FillRule::Winding, transform, mask);
                if text.is_bold {
                    let pen = Pen::new(text.color, 0.035 * text.size);
                    stroke(map, &path, &pen, transform, mask);
                }
            }
        }
        Item::Group { clip, items, .. } => {
            let own = clip.and_then(|c| clip_mask(map, c, transform));
            items.iter().for_each(|item| draw(map, item, transform, own.as_ref().or(mask)));
        }
    }
}

fn clip_mask(map: &Pixmap, [left, top, right, bottom]: [f64; 4], at: Transform) -> Option<Mask> {
    let rect = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32)?;
    let mut mask = Mask::new(map.width(), map.height())?;
    mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, true, at);
    Some(mask)
}

fn stroke(map: &mut Pixmap, path: &Path, pen: &Pen, transform: Transform, mask: Option<&Mask>) {
    let dash: Vec<f32> = pen.dash.iter().map(|&d| d as f32).collect();
    let stroke = Stroke {
        width: pen.width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: StrokeDash::new(dash, 0.0),
        ..Stroke::default()
    };
    map.stroke_path(path, &paint(pen.color), &stroke, transform, mask);
}

/// The outline of a text at its place.
fn outline(font: &Font, text: &Text) -> Option<Path> {
    let (glyphs, width) = font.place(&text.text);
    let back = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * width,
        Anchor::End => width,
    };
    let mut pen = Outline { path: PathBuilder::new(), text, scale: font.scale, at: (0.0, 0.0) };
    for glyph in glyphs {
        pen.at = (glyph.at.0 - back, glyph.at.1);
        font.face.outline_glyph(glyph.glyph, &mut pen);
    }
    pen.path.finish()
}

/// Takes the outline of a glyph to its place on the page.
struct Outline<'a> {
    path: PathBuilder,
    text: &'a Text,
    scale: f64,
    at: (f64, f64),
}

impl Outline<'_> {
    fn point(&self, x: f32, y: f32) -> (f32, f32) {
        let along = (f64::from(x) * self.scale + self.at.0) * self.text.size;
        let up = (f64::from(y) * self.scale + self.at.1) * self.text.size;
        let (x, y) = self.text.at;
        let (x, y) = match self.text.is_upright {
            true => (x - up, y - along),
            false => (x + along, y - up),
        };
        (x as f32, y as f32)
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.point(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.point(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.point(x1, y1), self.point(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.point(x1, y1), self.point(x2, y2));
        let (x, y) = self.point(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
