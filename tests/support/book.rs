//! The chapters of the book and what is in them, for the tests of the library and of
//! the program.
//!
//! A fenced block says by its marks what it is: `dal` a complete model, `dal,fragment`
//! statements that are added to the last complete model above them on the page,
//! `dal,parsed` statements of which only the syntax counts. Further marks:
//! `fault=CODE`, `warning=CODE`, `file=NAME`. A `check` block belongs to the model
//! before it. `console` has commands behind `$` with what they print, `sh` commands
//! alone; `exit=N` is their exit status if it is not 0.

// Each of the two test files uses a part.
#![allow(dead_code)]

use std::path::PathBuf;

/// A chapter.
pub struct Chapter {
    /// Its file's name in `docs/book`.
    pub file: String,
    pub text: String,
}

/// A fenced block of a chapter.
pub struct Block {
    /// `chapter.md:12`, for messages.
    pub place: String,
    pub language: String,
    /// What stands behind the language: `fragment`, `fault=CODE`.
    pub marks: Vec<String>,
    pub text: String,
}

impl Block {
    pub fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|m| m == mark)
    }

    /// The value of `key=value`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.marks.iter().find_map(|m| m.strip_prefix(key)?.strip_prefix('='))
    }
}

/// The folder of the book: the test programs of two packages ask for it.
pub fn folder() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let manifest = PathBuf::from(manifest);
    let root = manifest.ancestors().find(|folder| folder.join("docs/book").is_dir());
    root.expect("the book is in the repository").join("docs/book")
}

pub fn read(file: &str) -> String {
    let path = folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The chapters in the order of `SUMMARY.md`.
pub fn chapters() -> Vec<Chapter> {
    let summary = read("SUMMARY.md");
    let files: Vec<String> = links(&summary).into_iter().map(|(link, _)| link).collect();
    assert!(files.len() >= 20, "only {} chapters", files.len());
    files.into_iter().map(|file| Chapter { text: read(&file), file }).collect()
}

/// The lines of a text outside its fenced blocks, with their numbers.
pub fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// The targets of all links outside code, each with its line.
pub fn links(text: &str) -> Vec<(String, usize)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // What stands in backticks is no link.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            links.extend(rest.split_once(')').map(|(link, _)| (link.to_owned(), number)));
        }
    }
    links
}

/// The fenced blocks of a chapter.
pub fn blocks(chapter: &Chapter) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, line) in chapter.text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some("") if open => open = false,
            Some(info) if !open => {
                let mut marks = info.split(',').map(|mark| mark.trim().to_owned());
                let language = marks.next().unwrap_or_default();
                let place = format!("{}:{}", chapter.file, at + 2);
                let marks = marks.collect();
                blocks.push(Block { place, language, marks, text: String::new() });
                open = true;
            }
            _ if open => {
                if let Some(block) = blocks.last_mut() {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            _ => {}
        }
    }
    assert!(!open, "{}: a block is not closed", chapter.file);
    blocks
}

/// The models of a chapter as they are meant, in order, each with its block and the
/// `check` lines behind it: a fragment is added to the last complete model above it.
pub fn models(blocks: &[Block]) -> Vec<(&Block, String, String)> {
    let mut models: Vec<(&Block, String, String)> = Vec::new();
    let mut complete = String::new();
    for block in blocks {
        match block.language.as_str() {
            "dal" if block.has("parsed") => {}
            "dal" if block.has("fragment") => {
                assert!(!complete.is_empty(), "{}: no complete model above", block.place);
                models.push((block, format!("{complete}\n{}", block.text), String::new()));
            }
            "dal" => {
                if block.value("fault").is_none() {
                    complete = block.text.clone();
                }
                models.push((block, block.text.clone(), String::new()));
            }
            "check" => {
                let last = models.last_mut().unwrap_or_else(|| panic!("{}", block.place));
                last.2.push_str(&block.text);
            }
            _ => {}
        }
    }
    models
}

/// Everything in backticks outside the blocks, as words.
pub fn quoted_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (_, line) in prose(text) {
        for code in line.split('`').skip(1).step_by(2) {
            let part = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
            words.extend(code.split(part).map(str::to_owned));
        }
    }
    words
}

/// The name by which a heading is linked to, as GitHub makes it.
pub fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let keep = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    keep.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The anchors of a chapter; a second one of the same name gets `-1`.
pub fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        if line.starts_with('#') {
            let name = anchor(line);
            let same = anchors.iter().filter(|other| **other == name).count();
            anchors.push(if same == 0 { name } else { format!("{name}-{same}") });
        }
    }
    anchors
}
