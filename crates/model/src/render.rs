//! Diagnostics as people read them, in the manner of rustc: code and message,
//! the place, the line with the text underlined, hints.
//!
//! Spans are not trusted: whatever they are, they are brought inside the text
//! and onto character boundaries, and an underline stays within one line and
//! one screen width, so that neither a panic nor a flood can come of one.

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::span::{Source, Sources};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use std::ops::Range;

/// How many diagnostics are shown at most.
const MAX_SHOWN: usize = 50;
/// The width of a terminal that is assumed.
const WIDTH: usize = 100;
/// The widest underline, in bytes: no line is shown further than this.
const MAX_UNDERLINE: usize = 80;
/// A line longer than this, in bytes, is cut before it is rendered.
const LONG_LINE: usize = 2000;

/// Renders diagnostics, sorted by place, with a blank line between them. If
/// there are very many, the most severe ones are shown and the others counted.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let mut shown: Vec<&Diagnostic> = diagnostics.iter().collect();
    shown.sort_by_key(|diagnostic| (std::cmp::Reverse(diagnostic.severity), place(diagnostic)));
    shown.truncate(MAX_SHOWN);
    shown.sort_by_key(|diagnostic| place(diagnostic));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(WIDTH);
    let mut rendered: Vec<String> = Vec::with_capacity(shown.len() + 1);
    for diagnostic in shown {
        rendered.push(renderer.render(&report(diagnostic, sources)));
    }
    match diagnostics.len().saturating_sub(MAX_SHOWN) {
        0 => {}
        more => rendered.push(format!("and {more} more")),
    }
    let mut text = rendered.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// What diagnostics are sorted by.
fn place(diagnostic: &Diagnostic) -> Option<(u32, u32)> {
    diagnostic.labels.first().map(|label| (label.span.source.0, label.span.start))
}

fn report<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Fault => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.clone().primary_title(diagnostic.message.as_str());
    let mut groups = Vec::new();
    let mut group = Group::with_title(title.id(diagnostic.code.name()));
    for excerpt in excerpts(diagnostic, sources) {
        // The library would count columns from where the window begins, so that
        // the place of a cut line is given apart from it.
        if let Some(origin) = excerpt.origin_of_window() {
            group = group.element(origin);
            groups.push(std::mem::replace(&mut group, Group::with_level(level.clone())));
        }
        group = group.element(excerpt.snippet());
    }
    let hints = diagnostic.hints.iter().map(|hint| {
        // Hints quote the user's text, which may hold anything.
        Level::HELP.with_name("hint").message(normalize_untrusted_str(hint))
    });
    groups.push(group.elements(hints));
    groups
}

/// A piece of one text with the labels on it.
struct Excerpt<'a> {
    source: &'a Source,
    /// From the first line shown to the last; or one line that is too long to
    /// be shown as a whole.
    lines: Range<usize>,
    is_long: bool,
    marks: Vec<(AnnotationKind, Range<usize>, &'a Label)>,
}

/// The labels of a diagnostic, those together that fit on one screen.
fn excerpts<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Excerpt<'a>> {
    let mut excerpts: Vec<Excerpt<'a>> = Vec::new();
    for (index, label) in diagnostic.labels.iter().enumerate() {
        let Some(source) = sources.find(label.span.source) else { continue };
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let span = safe_range(&source.text, label.span.range());
        let line = line_around(&source.text, span.start);
        let is_long = line.len() > LONG_LINE;
        let fitting = excerpts.iter_mut().find(|excerpt| {
            std::ptr::eq(excerpt.source, source)
                && (excerpt.lines == line || !(is_long || excerpt.is_long))
                && excerpt.fits(&span)
        });
        match fitting {
            Some(excerpt) => {
                let lines = &mut excerpt.lines;
                *lines = lines.start.min(line.start)..lines.end.max(line.end);
                excerpt.marks.push((kind, span, label));
            }
            None if is_long && index > 0 => {}
            None => {
                let marks = vec![(kind, span, label)];
                excerpts.push(Excerpt { source, lines: line, is_long, marks });
            }
        }
    }
    excerpts
}

impl<'a> Excerpt<'a> {
    /// Whether a mark is near the others across the page, which is what the
    /// window onto long lines is limited by.
    fn fits(&self, span: &Range<usize>) -> bool {
        let columns = |span: &Range<usize>| {
            let start = span.start - line_around(&self.source.text, span.start).start;
            start..start + span.len()
        };
        let new = columns(span);
        let all = self.marks.iter().map(|(_, span, _)| columns(span));
        let (left, right) = all.fold((new.start, new.end), |(left, right), mark| {
            (left.min(mark.start), right.max(mark.end))
        });
        right - left <= MAX_UNDERLINE
    }

    /// The part of the text that is handed on: the lines, or as much of a long
    /// line around its marks as a screen could show.
    fn window(&self) -> Range<usize> {
        if !self.is_long {
            return self.lines.clone();
        }
        let text = &self.source.text;
        let first = self.marks.iter().map(|(_, span, _)| span.start).min();
        let last = self.marks.iter().map(|(_, span, _)| span.end).max();
        let start = first.unwrap_or(0).saturating_sub(LONG_LINE / 4).max(self.lines.start);
        let end = last.unwrap_or(0).saturating_add(LONG_LINE / 4).min(self.lines.end);
        boundary(text, start)..boundary(text, end)
    }

    /// Where the first mark stands, if only a part of its line is handed on.
    fn origin_of_window(&self) -> Option<Origin<'a>> {
        let (_, span, _) = self.marks.first().filter(|_| self.is_long)?;
        let column = self.source.text[self.lines.start..span.start].chars().count() + 1;
        let origin = Origin::path(self.source.name.as_str());
        Some(origin.line(self.first_line()).char_column(column))
    }

    fn first_line(&self) -> usize {
        self.source.text[..self.lines.start].bytes().filter(|&b| b == b'\n').count() + 1
    }

    fn snippet(self) -> Snippet<'a, Annotation<'a>> {
        let window = self.window();
        let start = window.start;
        let path = (!self.is_long).then_some(self.source.name.as_str());
        Snippet::source(&self.source.text[window])
            .path(path)
            .line_start(self.first_line())
            .annotations(self.marks.into_iter().map(|(kind, span, label)| {
                let words = Some(label.text.as_str()).filter(|words| !words.is_empty());
                kind.span(span.start - start..span.end - start).label(words)
            }))
    }
}

/// A range brought inside the text, onto character boundaries, into the line it
/// begins on, and down to a length that can be shown.
fn safe_range(text: &str, range: Range<usize>) -> Range<usize> {
    let start = boundary(text, range.start.min(text.len()));
    let line = line_around(text, start);
    let end = range.end.min(line.end).min(start + MAX_UNDERLINE);
    start..boundary(text, end).max(start)
}

/// The nearest character boundary at or before a byte.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The line a byte stands on, without its end.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    let end = if text[start..end].ends_with('\r') { end - 1 } else { end };
    start..end.max(at)
}

#[cfg(test)]
mod tests;
