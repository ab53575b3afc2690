//! Where in the text something stands: byte ranges that ride along from the
//! lexer to the last run-time message.

use std::fmt;

/// Which source text a [`Span`] points into; an index into [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceId(pub u32);

/// A byte range of one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The text it points into.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        Span { source, start: start as u32, end: end as u32 }
    }

    /// The smallest span that holds both. Spans of different sources do not
    /// join; the first is returned then.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The empty span just behind this one, where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// Whether another span lies inside this one.
    pub fn contains(self, other: Span) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }

    /// The byte range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.source.0, self.start, self.end)
    }
}

/// One text and the name it is shown under.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path or description for messages (`pendulum.dal`, `<stdin>`).
    pub name: String,
    /// The whole text, Markdown included.
    pub text: String,
}

/// All texts a model was read from: the main file, its parts and the `--set`
/// overrides.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// No texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.list.iter()
    }

    /// Adds a text and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.list.push(Source { name: name.into(), text: text.into() });
        SourceId(self.list.len() as u32 - 1)
    }

    /// The text behind an id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.list[id.0 as usize]
    }

    /// The text behind an id, if there is one.
    pub fn find(&self, id: SourceId) -> Option<&Source> {
        self.list.get(id.0 as usize)
    }

    /// The piece of text a span covers; empty if the span is not inside it.
    pub fn snippet(&self, span: Span) -> &str {
        self.list.get(span.source.0 as usize).and_then(|s| s.text.get(span.range())).unwrap_or("")
    }

    /// Line and column (both from 1, column in characters) of a span's start.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let text = &self.get(span.source).text;
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}
