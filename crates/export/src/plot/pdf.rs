//! A drawing as PDF: one page of its size, lines as lines and words as words, with the font inside.
//!
//! PDF 1.5 as ISO 32000-1 describes it, of which this uses little: paths, one embedded TrueType
//! font addressed by glyph (a composite font with Identity-H, §9.7), and a table from glyphs back
//! to characters (§9.10.3), so that words can be searched and copied.

use super::Figure;
use super::drawing::{Anchor, Color, Drawing, Item, Pen, Text};
use super::font::{self, FONT, Font};
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Points of 1/72 inch to a pixel.
const POINT: f64 = 0.75;
/// How far the handles of a quarter circle are from its ends, over its radius.
const QUARTER: f64 = 0.552_284_75;

impl Figure {
    /// The picture as a PDF file.
    pub fn to_pdf(&self) -> Vec<u8> {
        pdf(&self.drawing(), &self.title)
    }
}

/// A drawing as a file.
fn pdf(drawing: &Drawing, title: &str) -> Vec<u8> {
    let mut content = Content { text: String::new(), used: BTreeMap::new() };
    let height = drawing.height * POINT;
    // Pixels, y downward, from here on.
    let _ = writeln!(content.text, "{POINT} 0 0 -{POINT} 0 {height:.2} cm 1 j 1 J");
    drawing.items.iter().for_each(|item| content.item(item));
    let mut file = File { bytes: b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n".to_vec(), places: Vec::new() };
    file.object("<< /Type /Catalog /Pages 2 0 R >>");
    file.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    let width = drawing.width * POINT;
    file.object(&format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R \
         /Resources << /Font << /F 5 0 R >> >> >>"
    ));
    file.stream("", content.text.as_bytes());
    match &*FONT {
        Some(font) => font_objects(&mut file, font, &content.used),
        None => {
            file.object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
        }
    }
    let info = file.places.len() + 1;
    let title: String = title.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    file.object(&format!("<< /Title <FEFF{title}> /Producer (dalembert) >>"));
    file.finish(info)
}

/// The objects of the embedded font, from number 5 on.
fn font_objects(file: &mut File, font: &Font, used: &BTreeMap<u16, char>) {
    let unit = |value: f64| (value * font.scale * 1000.0).round();
    let face = &font.face;
    file.object(
        "<< /Type /Font /Subtype /Type0 /BaseFont /DejaVuSans /Encoding /Identity-H \
         /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>",
    );
    let widths: Vec<String> = used
        .keys()
        .map(|&glyph| {
            let advance = font.advance(ttf_parser::GlyphId(glyph));
            format!("{glyph} [{:.0}]", advance * 1000.0)
        })
        .collect();
    file.object(&format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /DejaVuSans /CIDToGIDMap /Identity \
         /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
         /FontDescriptor 7 0 R /DW 600 /W [{}] >>",
        widths.join(" ")
    ));
    let bounds = face.global_bounding_box();
    let [left, low, right, high] =
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|x| unit(f64::from(x)));
    file.object(&format!(
        "<< /Type /FontDescriptor /FontName /DejaVuSans /Flags 4 /ItalicAngle 0 /StemV 90 \
         /FontBBox [{left} {low} {right} {high}] /Ascent {} /Descent {} /CapHeight 729 \
         /FontFile2 8 0 R >>",
        unit(f64::from(face.ascender())),
        unit(f64::from(face.descender()))
    ));
    file.stream(&format!("/Length1 {} ", font::FILE.len()), font::FILE);
    file.stream("", to_unicode(used).as_bytes());
}

/// The table from glyphs to characters.
fn to_unicode(used: &BTreeMap<u16, char>) -> String {
    let mut text = String::from(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
         /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n\
         /CMapName /Adobe-Identity-UCS def /CMapType 2 def\n\
         1 begincodespacerange <0000> <FFFF> endcodespacerange\n",
    );
    let list: Vec<(&u16, &char)> = used.iter().collect();
    for part in list.chunks(100) {
        let _ = writeln!(text, "{} beginbfchar", part.len());
        for (glyph, c) in part {
            let mut units = [0; 2];
            let code: String =
                c.encode_utf16(&mut units).iter().map(|unit| format!("{unit:04X}")).collect();
            let _ = writeln!(text, "<{glyph:04X}> <{code}>");
        }
        text.push_str("endbfchar\n");
    }
    text + "endcmap CMapName currentdict /CMap defineresource pop end end\n"
}

/// Numbered objects, and where each begins.
struct File {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl File {
    fn object(&mut self, body: &str) {
        self.places.push(self.bytes.len());
        let number = self.places.len();
        self.bytes.extend(format!("{number} 0 obj\n{body}\nendobj\n").bytes());
    }

    fn stream(&mut self, entries: &str, data: &[u8]) {
        let data = compress_to_vec_zlib(data, 9);
        self.places.push(self.bytes.len());
        let number = self.places.len();
        let length = data.len();
        let head = format!(
            "{number} 0 obj\n<< {entries}/Filter /FlateDecode /Length {length} >>\nstream\n"
        );
        self.bytes.extend(head.bytes());
        self.bytes.extend(data);
        self.bytes.extend(b"\nendstream\nendobj\n");
    }

    fn finish(mut self, info: usize) -> Vec<u8> {
        let (at, count) = (self.bytes.len(), self.places.len() + 1);
        let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for place in &self.places {
            let _ = writeln!(table, "{place:010} 00000 n ");
        }
        let _ = write!(
            table,
            "trailer\n<< /Size {count} /Root 1 0 R /Info {info} 0 R >>\nstartxref\n{at}\n%%EOF\n"
        );
        self.bytes.extend(table.bytes());
        self.bytes
    }
}

/// What the page is painted by, and the glyphs that were used.
struct Content {
    text: String,
    used: BTreeMap<u16, char>,
}

impl Content {
    fn put(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Path { pieces, pen, is_closed, fill } => {
                let mut path = String::new();
                for piece in pieces {
                    for (at, (x, y)) in piece.iter().enumerate() {
                        let word = if at == 0 { "m" } else { "l" };
                        let _ = write!(path, "{x:.2} {y:.2} {word} ");
                    }
                    // A dot: a line of no length, with round ends.
                    if let [(x, y)] = piece[..] {
                        let _ = write!(path, "{x:.2} {y:.2} l ");
                    }
                    if *is_closed {
                        path.push_str("h ");
                    }
                }
                self.paint(&path, Some(pen), *fill);
            }
            Item::Disk { center: (x, y), radius: r, fill, pen } => {
                let k = QUARTER * r;
                let path = format!(
                    "{:.2} {y:.2} m {:.2} {:.2} {:.2} {:.2} {x:.2} {:.2} c \
                     {:.2} {:.2} {:.2} {:.2} {:.2} {y:.2} c \
                     {:.2} {:.2} {:.2} {:.2} {x:.2} {:.2} c \
                     {:.2} {:.2} {:.2} {:.2} {:.2} {y:.2} c h ",
                    x + r,
                    x + r,
                    y + k,
                    x + k,
                    y + r,
                    y + r,
                    x - k,
                    y + r,
                    x - r,
                    y + k,
                    x - r,
                    x - r,
                    y - k,
                    x - k,
                    y - r,
                    y - r,
                    x + k,
                    y - r,
                    x + r,
                    y - k,
                    x + r,
                );
                self.paint(&path, pen.as_ref(), *fill);
            }
            Item::Text(text) => self.words(text),
            Item::Group { clip, items, .. } => {
                self.put("q");
                if let Some([left, top, right, bottom]) = clip {
                    let (wide, high) = (right - left, bottom - top);
                    self.put(&format!("{left:.2} {top:.2} {wide:.2} {high:.2} re W n"));
                }
                items.iter().for_each(|item| self.item(item));
                self.put("Q");
            }
        }
    }

    fn paint(&mut self, path: &str, pen: Option<&Pen>, fill: Option<Color>) {
        let mut words = String::new();
        if let Some(color) = fill {
            let _ = write!(words, "{} rg ", rgb(color));
        }
        if let Some(pen) = pen {
            let dash: Vec<String> = pen.dash.iter().map(f64::to_string).collect();
            let dash = dash.join(" ");
            let _ = write!(words, "{} RG {} w [{dash}] 0 d ", rgb(pen.color), pen.width);
        }
        let paint = match (pen, fill) {
            (Some(_), Some(_)) => "B",
            (Some(_), None) => "S",
            (None, Some(_)) => "f",
            (None, None) => "n",
        };
        self.put(&format!("{words}{path}{paint}"));
    }

    fn words(&mut self, text: &Text) {
        let Some(font) = &*FONT else { return };
        let (glyphs, width) = font.place(&text.text);
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * width,
            Anchor::End => width,
        };
        let mode = match text.is_bold {
            true => format!("2 Tr {} RG {:.2} w [] 0 d", rgb(text.color), 0.035 * text.size),
            false => "0 Tr".to_owned(),
        };
        let _ = writeln!(self.text, "BT /F {} Tf {} rg {mode}", text.size, rgb(text.color));
        // Marks over letters have places of their own; all else follows from widths.
        for run in glyphs.chunk_by(|a, b| a.at.1 == 0.0 && b.at.1 == 0.0) {
            let (along, up) = ((run[0].at.0 - back) * text.size, run[0].at.1 * text.size);
            let (x, y) = text.at;
            // The page's y is downward: letters are turned back.
            let matrix = match text.is_upright {
                true => format!("0 -1 -1 0 {:.2} {:.2}", x - up, y - along),
                false => format!("1 0 0 -1 {:.2} {:.2}", x + along, y - up),
            };
            let codes: String = run.iter().map(|g| format!("{:04X}", g.glyph.0)).collect();
            let _ = writeln!(self.text, "{matrix} Tm <{codes}> Tj");
            self.used.extend(run.iter().map(|g| (g.glyph.0, g.c)));
        }
        self.put("ET");
    }
}

fn rgb(color: Color) -> String {
    let part = |c: u8| f64::from(c) / 255.0;
    format!("{:.3} {:.3} {:.3}", part(color.0), part(color.1), part(color.2))
}
