//! A moving picture as GIF, for slides that play no SVG.
//!
//! Pictures have few colors and shades of them into white, where edges are smoothed: these are the
//! palette. Of each frame only the rectangle that changed is kept, and in it what stayed is left
//! transparent, which compresses to little.

use super::drawing::{Color, color};
use super::moving::Moving;
use super::pixels::{NoPicture, pixels};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Shades from each color to white.
const SHADES: usize = 28;
/// The entry of the palette that is no color.
const NONE: u8 = 0;

impl Moving {
    /// As a GIF that begins again at its end.
    pub fn to_gif(&self) -> Result<Vec<u8>, NoPicture> {
        let set = self.set().ok_or(NoPicture)?;
        let instants = self.instants();
        let (width, height) = (set.width as u16, set.height as u16);
        let palette = palette();
        let mut known = FxHashMap::default();
        let mut file = Vec::new();
        let flat: Vec<u8> = palette.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
        let mut encoder =
            ::gif::Encoder::new(&mut file, width, height, &flat).map_err(|_| NoPicture)?;
        encoder.set_repeat(::gif::Repeat::Infinite).map_err(|_| NoPicture)?;
        let mut before: Vec<u8> = Vec::new();
        // In hundredths of a second; what is below two, some programs take for ten.
        let delay = (100.0 * self.seconds() / instants.len() as f64).round().max(2.0) as u16;
        for (k, &row) in instants.iter().enumerate() {
            let part = k as f64 / (instants.len() - 1).max(1) as f64;
            let map = pixels(&set.frame(row, part), 1.0).ok_or(NoPicture)?;
            let entries: Vec<u8> = map
                .data()
                .chunks(4)
                .map(|p| {
                    let seen = Color(p[0], p[1], p[2]);
                    *known.entry(seen).or_insert_with(|| nearest(&palette, seen))
                })
                .collect();
            let mut frame = changed(&before, &entries, width, height);
            // The end is looked at a while.
            frame.delay = if k + 1 == instants.len() { delay.max(80) } else { delay };
            encoder.write_frame(&frame).map_err(|_| NoPicture)?;
            before = entries;
        }
        drop(encoder);
        Ok(file)
    }
}

/// No color, white, and the shades of all others.
fn palette() -> Vec<Color> {
    let full = [
        Color::INK,
        Color::FAINT,
        Color::AXIS,
        Color(0x00, 0x52, 0x85),
        color(1),
        color(2).faded(0.55),
    ];
    let mut list = vec![Color::WHITE, Color::WHITE];
    for shade in 1..=SHADES {
        list.extend(full.iter().map(|c| c.faded(shade as f64 / SHADES as f64)));
    }
    list
}

fn nearest(palette: &[Color], seen: Color) -> u8 {
    let off = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
    let distance = |c: &Color| off(c.0, seen.0) + off(c.1, seen.1) + off(c.2, seen.2);
    // The first entry is no color.
    let found = palette.iter().enumerate().skip(1).min_by_key(|(_, c)| distance(c));
    found.map_or(1, |(at, _)| at as u8)
}

/// The rectangle that differs from the frame before, what is the same in it left out.
fn changed(before: &[u8], now: &[u8], width: u16, height: u16) -> ::gif::Frame<'static> {
    let mut frame = ::gif::Frame::default();
    if before.is_empty() {
        (frame.width, frame.height) = (width, height);
        frame.buffer = Cow::Owned(now.to_vec());
        return frame;
    }
    let wide = usize::from(width);
    let differs = |at: &usize| before[*at] != now[*at];
    let (mut left, mut right, mut top, mut bottom) = (wide, 0, usize::from(height), 0);
    for at in (0..now.len()).filter(differs) {
        let (x, y) = (at % wide, at / wide);
        (left, right) = (left.min(x), right.max(x));
        (top, bottom) = (top.min(y), bottom.max(y));
    }
    if left > right {
        // Nothing moved: a single point that stays as it is.
        (left, right, top, bottom) = (0, 0, 0, 0);
    }
    let mut buffer = Vec::with_capacity((right - left + 1) * (bottom - top + 1));
    for y in top..=bottom {
        buffer.extend((left..=right).map(|x| {
            let at = y * wide + x;
            if before[at] == now[at] { NONE } else { now[at] }
        }));
    }
    (frame.left, frame.top) = (left as u16, top as u16);
    (frame.width, frame.height) = ((right - left + 1) as u16, (bottom - top + 1) as u16);
    frame.transparent = Some(NONE);
    frame.dispose = ::gif::DisposalMethod::Keep;
    frame.buffer = Cow::Owned(buffer);
    frame
}
