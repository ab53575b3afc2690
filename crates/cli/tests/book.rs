//! The book in `docs/book` is true of the program: every command in it runs, prints what
//! the page shows and ends with the status it says; every command and option is named.

#[path = "../../../tests/support/book.rs"]
mod book;

use book::{Block, blocks, chapters, models, quoted_words};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A command line: its words, what it reads, where its output goes.
#[derive(Debug, PartialEq)]
struct Line {
    words: Vec<String>,
    input: Option<String>,
    into: Option<String>,
}

/// Splits a line as a shell does, as far as the book needs it: quotes, comments,
/// `echo 'text' | dal …` and `> file`.
fn command_line(text: &str) -> Line {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    let (mut word, mut quote) = (None::<String>, None::<char>);
    let mut into = false;
    let mut target = None;
    let mut end = |word: &mut Option<String>, parts: &mut Vec<Vec<String>>, into: &mut bool| {
        if let Some(word) = word.take() {
            match std::mem::take(into) {
                true => target = Some(word),
                false => parts.last_mut().expect("one part").push(word),
            }
        }
    };
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '|') => {
                end(&mut word, &mut parts, &mut into);
                parts.push(Vec::new());
            }
            (None, '>') => {
                end(&mut word, &mut parts, &mut into);
                into = true;
            }
            (None, ' ') => end(&mut word, &mut parts, &mut into),
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    end(&mut word, &mut parts, &mut into);
    let words = parts.pop().expect("one part");
    let input = parts.pop().map(|echo| {
        assert_eq!(echo.first().map(String::as_str), Some("echo"), "{text}");
        echo[1..].join(" ") + "\n"
    });
    Line { words, input, into: target }
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("book").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

fn execute(line: &Line, folder: &Path) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .args(&line.words[1..])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    let input = line.input.as_deref().unwrap_or("");
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("dal ends");
    if let Some(file) = &line.into {
        std::fs::write(folder.join(file), &output.stdout).expect("a file");
    }
    output
}

/// The commands of a block with what each prints.
fn commands(block: &Block) -> Vec<(String, Vec<&str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    let mut continues = false;
    for line in block.text.lines() {
        let start = match block.language.as_str() {
            "console" => line.strip_prefix("$ "),
            _ => Some(line).filter(|_| !continues && !line.trim().is_empty()),
        };
        match (start, commands.last_mut()) {
            (Some(command), _) if !continues => commands.push((command.to_owned(), Vec::new())),
            (_, Some((command, _))) if continues => command.push_str(line.trim_start()),
            (_, Some((_, shown))) => shown.push(line),
            (_, None) => {}
        }
        let command = commands.last_mut().map(|(command, shown)| (command, shown.is_empty()));
        continues = match command {
            Some((command, true)) if command.ends_with('\\') => {
                command.pop();
                true
            }
            _ => false,
        };
    }
    commands
}

/// A piece of a line: a number, or text between numbers.
fn pieces(line: &str) -> Vec<(String, Option<f64>)> {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let bytes = line.as_bytes();
    let (mut pieces, mut at, mut from) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let inside_word =
            at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        if !bytes[at].is_ascii_digit() || inside_word {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < bytes.len() {
            let exponent = matches!(bytes[end], b'-' | b'+') && bytes[end - 1] == b'e';
            let e = bytes[end] == b'e'
                && bytes.get(end + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'-');
            let dot = bytes[end] == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !(bytes[end].is_ascii_digit() || exponent || e || dot) {
                break;
            }
            end += 1;
        }
        pieces.push((line[from..at].to_owned(), None));
        pieces.push((line[at..end].to_owned(), line[at..end].parse().ok()));
        (at, from) = (end, end);
    }
    pieces.push((line[from..].to_owned(), None));
    pieces
}

/// Whether a line is the one shown: numbers to six digits, those of rounding size as such.
fn same_line(shown: &str, line: &str) -> bool {
    if let Some((before, after)) = shown.split_once('…') {
        // The rest of the pattern may begin anywhere behind what stands before it.
        let (before, after) = (before.trim_end(), after.trim_start());
        return line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| {
            let starts = same_line(before, &line[..at]);
            starts
                && line[at..]
                    .char_indices()
                    .map(|(i, _)| at + i)
                    .chain([line.len()])
                    .any(|i| same_line(after, &line[i..]))
        });
    }
    let (shown, line) = (pieces(shown), pieces(line));
    shown.len() == line.len()
        && shown.iter().zip(&line).all(|((a, x), (b, y))| match (x, y) {
            (Some(x), Some(y)) => {
                let size = x.abs().max(y.abs());
                a == b || (x - y).abs() <= 1e-6 * size || (size < 1e-6 && a.contains('e'))
            }
            _ => a == b,
        })
}

/// Whether lines are those shown; a line `…` stands for any number of them.
fn same(shown: &[&str], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=lines.len()).any(|n| same(rest, &lines[n..])),
        (Some((first, rest)), Some((line, lines))) => same_line(first, line) && same(rest, lines),
        _ => false,
    }
}

/// What is wrong with a command, in words.
fn wrong(text: &str, shown: &[&str], status: i32, folder: &Path) -> Option<String> {
    let line = command_line(text);
    if line.words.first().is_none_or(|word| word != "dal") {
        // The repository's own commands are not for here.
        let known = line.words.first().is_some_and(|word| word == "cargo");
        return (!known).then(|| format!("`{text}`: what command is this?"));
    }
    let output = execute(&line, folder);
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    if output.status.code() != Some(status) {
        return Some(format!("`{text}` ends with {:?}\n{out}{err}", output.status.code()));
    }
    let orders = [format!("{err}{out}"), format!("{out}{err}")];
    let is_shown = orders.iter().any(|all| {
        let lines: Vec<&str> = all.lines().map(str::trim_end).collect();
        same(shown, &lines)
    });
    let compared = !shown.is_empty();
    (compared && !is_shown).then(|| format!("`{text}` prints\n{err}{out}"))
}

/// Every command of the book.
#[test]
fn every_command_does_what_the_page_shows() {
    let (mut count, mut faults) = (0, Vec::new());
    for chapter in chapters() {
        let blocks = blocks(&chapter);
        let folder = folder(&chapter.file);
        for (block, model, _) in models(&blocks) {
            if let Some(file) = block.value("file") {
                std::fs::write(folder.join(file), model).expect("a file");
            }
        }
        for block in blocks.iter().filter(|b| matches!(b.language.as_str(), "sh" | "console")) {
            let status = block.value("exit").map_or(0, |n| n.parse().expect("a number"));
            for (command, mut shown) in commands(block) {
                count += 1;
                while shown.last().is_some_and(|line| line.is_empty()) {
                    shown.pop();
                }
                if let Some(why) = wrong(&command, &shown, status, &folder) {
                    faults.push(format!("{}: {why}", block.place));
                }
            }
        }
    }
    println!("{count} commands");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(count >= 40, "only {count} commands");
}

fn help(arguments: &[&str]) -> String {
    let line = Line {
        words: ["dal"].iter().chain(arguments).map(|w| w.to_string()).collect(),
        input: None,
        into: None,
    };
    String::from_utf8(execute(&line, Path::new(".")).stdout).expect("UTF-8")
}

/// The commands that `dal --help` lists.
fn command_names() -> Vec<String> {
    let text = help(&["--help"]);
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| line.starts_with("  "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_and_option_is_named() {
    let words = quoted_words(&book::read("commands.md"));
    let names = command_names();
    assert!(names.len() >= 11, "{names:?}");
    let mut missing = Vec::new();
    for name in names {
        let text = help(&[&name, "--help"]);
        let options: Vec<&str> = text
            .split_whitespace()
            .filter(|word| word.starts_with("--"))
            .map(|word| word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()))
            .collect();
        assert!(options.contains(&"--help"), "{name}: {text}");
        let wanted = options.into_iter().chain([name.as_str()]);
        missing.extend(wanted.filter(|w| !words.iter().any(|word| word == w)).map(str::to_owned));
    }
    assert!(missing.is_empty(), "commands.md does not name {missing:?}");
}

#[test]
fn help_has_the_language_and_the_commands() {
    let page = help(&["help", "language"]);
    assert!(page.starts_with("The language on a page\n") && page.contains("  coord "), "{page}");
    assert!(!page.contains("```") && !page.contains("]("), "{page}");
    assert_eq!(help(&["help"]), help(&["--help"]));
    assert_eq!(help(&["help", "run"]), help(&["run", "--help"]));
    let line = command_line("dal help no-such-thing");
    assert_eq!(execute(&line, Path::new(".")).status.code(), Some(2));
}

#[test]
fn explain_without_a_code_lists_them_all() {
    let text = help(&["explain"]);
    for code in dalembert::model::codes::ALL {
        let line = text.lines().find(|line| line.split(' ').next() == Some(code.name()));
        assert!(line.is_some_and(|line| line.ends_with(code.title())), "{code}");
    }
}

/// The comparison finds what is wrong, and nothing else.
#[test]
fn what_is_wrong_is_found() {
    assert!(same(&["a 1.0000001 b", "…", "z"], &["a 1.0 b", "x", "y", "z"]));
    assert!(same(&["drift 2.1e-10", "c … d"], &["drift   3.5e-11", "c 17 d"]));
    assert!(!same(&["a 1.1"], &["a 1.0"]));
    assert!(!same(&["a"], &["a", "b"]) && !same(&["a", "b"], &["a"]) && !same(&["x1"], &["x2"]));
    let line = command_line("echo 'coord x; y' | dal check - --set \"a = 1\" > out.txt # why");
    assert_eq!(line.words, ["dal", "check", "-", "--set", "a = 1"]);
    assert_eq!(
        (line.input.as_deref(), line.into.as_deref()),
        (Some("coord x; y\n"), Some("out.txt"))
    );
    let here = folder("wrong");
    assert!(wrong("dal check no-such-file.dal", &[], 1, &here).is_none());
    assert!(wrong("dal check no-such-file.dal", &[], 0, &here).is_some());
    assert!(wrong("dal explain syntax", &["no such text"], 0, &here).is_some());
    assert!(wrong("rm -r .", &[], 0, &here).is_some());
}
