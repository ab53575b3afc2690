//! Letters: widths for the layout, outlines for pixels, and the file that a PDF embeds.
//!
//! A dot over a letter (`θ̇`, as a letter and a combining mark) is placed over the middle of the
//! letter, above its highest point; a character that the font does not have is drawn as its box.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId};

/// DejaVu Sans with fewer characters; its license is beside it.
pub(super) static FILE: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// The marks that stand over the letter before them.
const OVER: std::ops::RangeInclusive<char> = '\u{300}'..='\u{30c}';
const OVER_MORE: std::ops::RangeInclusive<char> = '\u{20d0}'..='\u{20dc}';

/// The embedded font.
pub(super) struct Font {
    pub face: Face<'static>,
    /// 1 over the units of an em.
    pub scale: f64,
}

/// A glyph at its place along a line of text, in parts of the font's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub glyph: GlyphId,
    pub c: char,
    /// To the right and upward.
    pub at: (f64, f64),
}

/// The font, if its file can be read; it is part of the program and was when it was tested.
pub(super) static FONT: LazyLock<Option<Font>> = LazyLock::new(|| {
    let face = Face::parse(FILE, 0).ok()?;
    let scale = 1.0 / f64::from(face.units_per_em());
    Some(Font { face, scale })
});

impl Font {
    pub fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * self.scale
    }

    /// The glyphs of a text, and how wide it is.
    pub fn place(&self, text: &str) -> (Vec<Placed>, f64) {
        let mut glyphs: Vec<Placed> = Vec::new();
        let mut x = 0.0;
        // Where the last letter begins, and how high marks over it reach.
        let mut letter: Option<(GlyphId, f64)> = None;
        let mut raised = 0.0;
        for c in text.chars() {
            let glyph = self.face.glyph_index(c).unwrap_or_default();
            if let (true, Some((base, from))) =
                (OVER.contains(&c) || OVER_MORE.contains(&c), letter)
            {
                let bounds = |g: GlyphId| self.face.glyph_bounding_box(g);
                if let (Some(below), Some(mark)) = (bounds(base), bounds(glyph)) {
                    let middle = f64::from(below.x_min + below.x_max) / 2.0;
                    let own = f64::from(mark.x_min + mark.x_max) / 2.0;
                    let gap = 0.08 / self.scale;
                    let lift = f64::from(below.y_max) + gap - f64::from(mark.y_min) + raised;
                    raised += f64::from(mark.y_max - mark.y_min) + gap;
                    let at = (from + (middle - own) * self.scale, lift * self.scale);
                    glyphs.push(Placed { glyph, c, at });
                    continue;
                }
            }
            glyphs.push(Placed { glyph, c, at: (x, 0.0) });
            (letter, raised) = (Some((glyph, x)), 0.0);
            x += self.advance(glyph);
        }
        (glyphs, x)
    }
}

/// How wide a text of a size is.
pub(super) fn width(text: &str, size: f64) -> f64 {
    match &*FONT {
        Some(font) => font.place(text).1 * size,
        None => text.chars().count() as f64 * 0.6 * size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_labels_are_made_of() {
        let font = FONT.as_ref().expect("the font is part of the program");
        for c in "xyzθφψωΩαβλμ₀₁₂₉⁻⁸−×·′…|()[]',=+*/^√∂≤≈\u{307}\u{308}".chars()
        {
            assert!(font.face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn dots_stand_over_their_letter_and_take_no_room() {
        let font = FONT.as_ref().expect("the font is part of the program");
        let (plain, width) = font.place("θ₁");
        let (dotted, same) = font.place("θ\u{307}₁");
        assert_eq!((plain.len(), dotted.len()), (2, 3));
        assert_eq!(width, same);
        // It begins within the letter's width and above it.
        let ink = font.face.glyph_bounding_box(dotted[1].glyph).expect("a dot");
        let left = dotted[1].at.0 + f64::from(ink.x_min) * font.scale;
        assert!(left > 0.0 && left < font.advance(dotted[0].glyph), "{left}");
        let low = dotted[1].at.1 + f64::from(ink.y_min) * font.scale;
        let top = font.face.glyph_bounding_box(dotted[0].glyph).expect("a letter").y_max;
        assert!(low > f64::from(top) * font.scale, "{low}");
    }
}
