//! A drawing: lines, disks and words at places, before it is a file of any kind.
//!
//! Lengths are in pixels of 1/96 inch, y downward, as in SVG. Colors are opaque: what is faint is
//! mixed with the white of the page, so that every format can show it. The writers ([`super::svg`],
//! [`super::pixels`], [`super::pdf`]) draw the items in their order and decide nothing.

/// A place in a drawing.
pub(crate) type Point = (f64, f64);

/// A picture in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawing {
    pub width: f64,
    pub height: f64,
    /// For those who cannot see it.
    pub words: String,
    pub items: Vec<Item>,
}

/// One thing in a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// Pieces of line, each of one point (a dot) or more.
    Path { pieces: Vec<Vec<Point>>, pen: Pen, is_closed: bool, fill: Option<Color> },
    /// A disk, or a ring where it has a pen.
    Disk { center: Point, radius: f64, fill: Option<Color>, pen: Option<Pen> },
    /// A line of text.
    Text(Text),
    /// What belongs together, such as the curves of a panel, with the rectangle that bounds it.
    Group { name: &'static str, clip: Option<[f64; 4]>, items: Vec<Item> },
}

/// Words in a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub at: Point,
    pub size: f64,
    pub anchor: Anchor,
    pub color: Color,
    pub is_bold: bool,
    /// Whether it runs upward.
    pub is_upright: bool,
    pub text: String,
}

/// Which part of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line is drawn; ends and corners are round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pen {
    pub color: Color,
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a full line.
    pub dash: &'static [f64],
}

impl Pen {
    pub fn new(color: Color, width: f64) -> Pen {
        Pen { color, width, dash: &[] }
    }
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Color(pub u8, pub u8, pub u8);

impl Color {
    pub const WHITE: Color = Color(255, 255, 255);
    pub const INK: Color = Color(0x22, 0x22, 0x22);
    pub const FAINT: Color = Color(0x5a, 0x5a, 0x5a);
    pub const GRID: Color = Color(0xe8, 0xe8, 0xe8);
    pub const AXIS: Color = Color(0x9a, 0x9a, 0x9a);

    /// Mixed with white: 1 is the color itself, 0 is white.
    pub fn faded(self, strength: f64) -> Color {
        let strength = strength.clamp(0.0, 1.0);
        let mix = |c: u8| (255.0 + strength * (f64::from(c) - 255.0)).round() as u8;
        Color(mix(self.0), mix(self.1), mix(self.2))
    }

    /// As `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Colors that people who see fewer of them tell apart, without the yellow, which is
/// too light for a line (Okabe & Ito 2008).
const COLORS: [Color; 7] = [
    Color(0x00, 0x72, 0xb2),
    Color(0xd5, 0x5e, 0x00),
    Color(0x00, 0x9e, 0x73),
    Color(0xcc, 0x79, 0xa7),
    Color(0xe6, 0x9f, 0x00),
    Color(0x56, 0xb4, 0xe9),
    Color(0x4d, 0x4d, 0x4d),
];
/// When the colors are used up, lines are dashed.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// The color of the curve of a number.
pub(crate) fn color(at: usize) -> Color {
    COLORS[at % COLORS.len()]
}

/// The pen of the curve of a number.
pub(crate) fn pen(at: usize, width: f64) -> Pen {
    Pen { color: color(at), width, dash: DASHES[at / COLORS.len() % DASHES.len()] }
}

impl Drawing {
    pub fn line(&mut self, points: &[Point], pen: Pen) {
        self.items.push(line(points, pen));
    }

    pub fn text(&mut self, at: Point, anchor: Anchor, color: Color, text: &str) {
        self.items.push(Item::Text(Text::new(at, anchor, color, text)));
    }
}

/// A piece of line.
pub(crate) fn line(points: &[Point], pen: Pen) -> Item {
    Item::Path { pieces: vec![points.to_vec()], pen, is_closed: false, fill: None }
}

impl Text {
    pub fn new(at: Point, anchor: Anchor, color: Color, text: &str) -> Text {
        let text = text.to_owned();
        Text { at, size: 13.0, anchor, color, is_bold: false, is_upright: false, text }
    }
}
