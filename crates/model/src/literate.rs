//! Models inside Markdown: which parts of the text are ```` ```dal ```` and
//! ```` ```check ```` blocks. Fences follow CommonMark: three or more backticks
//! or tildes, indented by at most three spaces, closed by a fence of the same
//! kind that is at least as long, or by the end of the text. What stands inside
//! another fence or an HTML comment is no block.

use std::ops::Range;

/// The blocks of a Markdown text, as byte ranges of what is inside the fences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// The ```` ```dal ```` blocks, which together are the model.
    pub model: Vec<Range<usize>>,
    /// The ```` ```check ```` blocks.
    pub checks: Vec<Range<usize>>,
}

/// Finds the blocks of a Markdown text.
pub fn blocks(text: &str) -> Blocks {
    let mut blocks = Blocks::default();
    let mut open: Option<(Fence<'_>, usize)> = None;
    let mut in_comment = false;
    for line in lines(text) {
        let written = &text[line.clone()];
        match open {
            Some((fence, start)) if fence.is_closed_by(written) => {
                blocks.add(fence.info, start..line.start);
                open = None;
            }
            Some(_) => {}
            None if in_comment => in_comment = !written.contains("-->"),
            None => match Fence::opened_by(written) {
                Some(fence) => open = Some((fence, line.end)),
                None => in_comment = opens_comment(written),
            },
        }
    }
    if let Some((fence, start)) = open {
        blocks.add(fence.info, start..text.len());
    }
    blocks
}

impl Blocks {
    fn add(&mut self, info: &str, range: Range<usize>) {
        match info.split_whitespace().next() {
            Some("dal") => self.model.push(range),
            Some("check") => self.checks.push(range),
            _ => {}
        }
    }
}

/// The lines of a text with their ends, which are `\n`, `\r\n` or `\r`.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = &text[start..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let end_length = match &rest.as_bytes()[length..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let line = start..start + length + end_length;
        start = line.end;
        (!line.is_empty()).then_some(line)
    })
}

/// The line that opens a fenced block.
#[derive(Clone, Copy)]
struct Fence<'a> {
    marker: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Fence<'a>> {
        let line = without_indent(line)?;
        let marker = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(marker);
        let length = line.len() - info.len();
        // A backtick behind a fence of backticks makes it a code span.
        let is_fence = length >= 3 && !(marker == '`' && info.contains('`'));
        is_fence.then_some(Fence { marker, length, info })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let Some(line) = without_indent(line) else { return false };
        let rest = line.trim_start_matches(self.marker);
        line.len() - rest.len() >= self.length && rest.trim().is_empty()
    }
}

/// The line without its indentation, if that is at most three spaces.
fn without_indent(line: &str) -> Option<&str> {
    // A byte-order mark at the beginning of the text is no indentation.
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}

fn opens_comment(line: &str) -> bool {
    without_indent(line)
        .and_then(|line| line.strip_prefix("<!--"))
        .is_some_and(|comment| !comment.contains("-->"))
}

#[cfg(test)]
mod tests {
    use super::blocks;

    fn found(text: &str) -> (Vec<&str>, Vec<&str>) {
        let blocks = blocks(text);
        let texts = |ranges: Vec<std::ops::Range<usize>>| {
            ranges.into_iter().map(|range| &text[range]).collect()
        };
        (texts(blocks.model), texts(blocks.checks))
    }

    #[test]
    fn blocks_are_found_by_their_first_word() {
        let text = "# T\n```dal\ncoord x\n```\ntext\n``` dal rest of info\nlet a = 1\n```\n\
                    ```check\nagree\n```\n```dalx\nno\n```\n```\nno\n```\n";
        assert_eq!(found(text), (vec!["coord x\n", "let a = 1\n"], vec!["agree\n"]));
    }

    #[test]
    fn tildes_indentation_and_longer_closing_fences() {
        assert_eq!(found("~~~dal\na\n```\nb\n~~~~~  \nc").0, ["a\n```\nb\n"]);
        assert_eq!(found("   ```dal\na\n   ```\n").0, ["a\n"]);
        assert_eq!(found("    ```dal\na\n    ```\n").0, [""; 0]);
        assert_eq!(found("````dal\na\n```\nb\n````\n").0, ["a\n```\nb\n"]);
        assert_eq!(found("```dal\na\n    ```\nb\n```\n").0, ["a\n    ```\nb\n"]);
        assert_eq!(found("```dal\na\n``` x\nb\n```\n").0, ["a\n``` x\nb\n"]);
        assert_eq!(found("```dal `x`\na\n").0, [""; 0]);
    }

    #[test]
    fn an_unclosed_fence_runs_to_the_end() {
        assert_eq!(found("```dal\na\nb").0, ["a\nb"]);
        assert_eq!(found("```dal").0, [""]);
    }

    #[test]
    fn fences_inside_fences_and_comments_do_not_count() {
        assert_eq!(found("````markdown\n```dal\na\n```\n````\n").0, [""; 0]);
        assert_eq!(found("<!--\n```dal\na\n```\n-->\n```dal\nb\n```\n").0, ["b\n"]);
        assert_eq!(found("<!-- one line -->\n```dal\nb\n```\n").0, ["b\n"]);
    }

    #[test]
    fn line_ends_of_all_systems() {
        assert_eq!(found("\u{feff}```dal\r\na\r\n```\r\nb").0, ["a\r\n"]);
        assert_eq!(found("```dal\ra\r```\rb").0, ["a\r"]);
    }
}
