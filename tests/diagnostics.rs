//! What is said about wrong models.
//!
//! Every file in `tests/diagnostics/` is a model with something wrong in it. A
//! line `# error[code]: message` (or `warning`, `note`) stands for each
//! diagnostic, in order, and the message as people read it is the snapshot of
//! the same name beside it. `# dal check --set m=2` sets something. In Markdown
//! these lines are comments, `<!-- … -->`. A new model is a new file: none is
//! listed here.

use dalembert::model::codes::{self, Code};
use dalembert::model::load::{Loaded, Syntax};
use dalembert::model::render::render;
use dalembert::{Input, Options, Severity, load};
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const FOLDER: &str = "tests/diagnostics";

/// Codes that no model text can yield, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("not-utf8", "a matter of the file, tested with the program"),
    ("not-applicable", "said when the equations are derived"),
    ("check-failed", "found by numbers, tested with the program"),
    ("contradictory-start", "found by numbers, tested with the program"),
    ("contradictory-constraints", "found by numbers, tested with the program"),
    ("rank-lost", "found by a run, tested with the program"),
    ("step-too-small", "found by a run, tested with the program"),
    ("not-a-number", "found by a run, tested with the program"),
    ("no-unique-motion", "found by a run, tested with the program"),
    ("run-stopped", "found by a run, tested with the program"),
    ("no-common-solution", "found by numbers, tested with the program"),
    ("nearly-dependent", "found by numbers, tested with the program"),
    ("undecided-rows", "found by numbers, tested with the program"),
    ("sticks", "found by a run, tested with the program"),
    ("linearize-edge", "found by numbers, tested with phases at a state"),
    ("start-penetrates", "found by a run, tested with phases"),
    ("penetrates", "found by a run, tested with phases"),
    ("impact-not-unique", "found by a run, tested with phases"),
    ("contact-not-unique", "found by a run, tested with phases"),
    ("contact-none", "found by a run, tested with phases"),
    ("contact-degenerate", "found by a run, tested with phases"),
    ("jump", "found by a run, tested with motions"),
    ("event-at-zero", "found by a run, tested with motions"),
    ("input-without-value", "found when numbers are asked for, tested with quantities"),
    ("table-range", "found by a run, tested with quantities"),
    ("servo-hidden", "found by numbers, tested with servo constraints"),
    ("joint-reversed", "found at a start, tested with machines"),
];

/// Pages without a model that shows the fault, and why.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("not-utf8", "a text cannot show it"),
    ("unreadable-file", "a text cannot show it"),
    ("not-applicable", "said when the equations are derived"),
    ("check-failed", "found by numbers, tested with the program"),
    ("contradictory-start", "found by numbers, tested with the program"),
    ("contradictory-constraints", "found by numbers, tested with the program"),
    ("rank-lost", "found by a run, tested with the program"),
    ("step-too-small", "found by a run, tested with the program"),
    ("not-a-number", "found by a run, tested with the program"),
    ("no-unique-motion", "found by a run, tested with the program"),
    ("run-stopped", "found by a run, tested with the program"),
    ("no-common-solution", "found by numbers, tested with the program"),
    ("nearly-dependent", "found by numbers, tested with the program"),
    ("undecided-rows", "found by numbers, tested with the program"),
    ("sticks", "found by a run, tested with the program"),
    ("linearize-edge", "found by numbers, tested with phases at a state"),
    ("start-penetrates", "found by a run, tested with phases"),
    ("penetrates", "found by a run, tested with phases"),
    ("impact-not-unique", "found by a run, tested with phases"),
    ("contact-not-unique", "found by a run, tested with phases"),
    ("contact-none", "found by a run, tested with phases"),
    ("contact-degenerate", "found by a run, tested with phases"),
    ("jump", "found by a run, tested with motions"),
    ("event-at-zero", "found by a run, tested with motions"),
    ("input-without-value", "found when numbers are asked for, tested with quantities"),
    ("table-range", "found by a run, tested with quantities"),
    ("servo-hidden", "found by numbers, tested with servo constraints"),
    ("joint-reversed", "found at a start, tested with machines"),
    ("too-deep", "two hundred brackets are no example"),
];

/// The repository; asked for at run time, as a test program built in one
/// checkout may be found fresh in another.
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests").into()
}

/// A model with something wrong in it.
struct Wrong {
    /// The file's name.
    file: String,
    text: String,
}

impl Wrong {
    fn stem(&self) -> &str {
        self.file.rsplit_once('.').map_or(&self.file, |(stem, _)| stem)
    }

    fn load(&self) -> Loaded {
        let syntax = Syntax::of_path(&self.file);
        let input =
            Input { name: self.file.clone(), text: self.text.clone(), syntax, folder: None };
        read(&input, &self.text)
    }
}

/// Everything that `dal check` says of a model without asking for a motion.
fn read(input: &Input, text: &str) -> Loaded {
    let mut loaded = load(input, &Options { set: settings(text), ..Options::default() });
    let findings = dalembert::lint(&loaded);
    loaded.diagnostics.extend(findings);
    loaded
}

/// All files of the folder that end so, in order.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(FOLDER)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let is_wanted = |path: &Path| {
        path.extension().is_some_and(|ending| endings.iter().any(|&wanted| ending == wanted))
    };
    let mut paths: Vec<PathBuf> = paths.filter(|path| is_wanted(path)).collect();
    paths.sort();
    paths
}

fn models() -> Vec<Wrong> {
    let read = |path: PathBuf| Wrong {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        text: fs::read_to_string(&path).expect("a readable model"),
    };
    files(&["dal", "md"]).into_iter().map(read).collect()
}

/// The words of a comment line, in a model or in Markdown.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let html = line.strip_prefix("<!--").and_then(|line| line.strip_suffix("-->"));
    html.or_else(|| line.strip_prefix('#')).map(str::trim)
}

/// What the comments of a model expect: `error[code]: message`.
fn expected(text: &str) -> Vec<String> {
    let is_diagnostic = |comment: &&str| {
        ["error[", "warning[", "note["].iter().any(|begin| comment.starts_with(begin))
    };
    text.lines().filter_map(comment).filter(is_diagnostic).map(str::to_owned).collect()
}

/// What the comments of a model set: `dal check --set m=2`.
fn settings(text: &str) -> Vec<String> {
    let commands = text.lines().filter_map(comment).filter(|c| c.starts_with("dal check "));
    let words: Vec<&str> = commands.flat_map(str::split_whitespace).collect();
    words.windows(2).filter(|pair| pair[0] == "--set").map(|pair| pair[1].to_owned()).collect()
}

/// What was said about a model, without places and hints.
fn found(loaded: &Loaded) -> Vec<String> {
    let line = |d: &dalembert::Diagnostic| {
        let severity = match d.severity {
            Severity::Fault => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        format!("{severity}[{}]: {}", d.code, d.message)
    };
    loaded.diagnostics.iter().map(line).collect()
}

/// Runs a check on each model and names all that fail.
fn for_each_model(check: impl Fn(&Wrong)) {
    let models = models();
    assert!(!models.is_empty(), "no models in {FOLDER}");
    let failed: Vec<&str> = models
        .iter()
        .filter(|model| catch_unwind(AssertUnwindSafe(|| check(model))).is_err())
        .map(|model| model.file.as_str())
        .collect();
    assert!(failed.is_empty(), "see above; in {FOLDER}: {failed:?}");
}

#[test]
fn each_model_yields_what_its_comments_say() {
    for_each_model(|model| {
        let (expected, found) = (expected(&model.text), found(&model.load()));
        assert!(!expected.is_empty(), "{}: nothing is expected", model.file);
        assert_eq!(expected, found, "{}", model.file);
    });
}

#[test]
fn messages_read_as_recorded() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join(FOLDER));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for_each_model(|model| {
            let loaded = model.load();
            let rendered = render(&loaded.diagnostics, &loaded.sources, false);
            insta::assert_snapshot!(model.stem(), rendered);
        });
    });
}

#[test]
fn every_snapshot_has_its_model() {
    let stems: BTreeSet<String> = models().iter().map(|model| model.stem().to_owned()).collect();
    for snapshot in files(&["snap"]) {
        let stem = snapshot.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(stems.contains(&stem), "{} has no model", snapshot.display());
    }
}

#[test]
fn models_are_named_after_a_code_they_yield() {
    for_each_model(|model| {
        let named = codes::ALL.iter().filter(|code| model.stem().starts_with(code.name()));
        // `constraint-trivial-rows` is named after `constraint-trivial`.
        let Some(code) = named.max_by_key(|code| code.name().len()) else { return };
        let codes: Vec<Code> = model.load().diagnostics.iter().map(|d| d.code).collect();
        assert!(codes.contains(code), "{} does not yield {code}", model.file);
    });
}

#[test]
fn every_code_has_a_model() {
    let yielded: BTreeSet<Code> =
        models().iter().flat_map(|m| m.load().diagnostics).map(|d| d.code).collect();
    for &code in codes::ALL {
        let elsewhere = ELSEWHERE.iter().any(|(name, _)| *name == code.name());
        assert_ne!(yielded.contains(&code), elsewhere, "{code}: a model, or a reason for none");
    }
}

/// The fenced blocks of a page that hold models, with how they are read.
fn examples(page: &str) -> Vec<(Syntax, String)> {
    let mut examples = Vec::new();
    let mut open: Option<(&str, Syntax, String)> = None;
    for line in page.lines() {
        match (&mut open, line) {
            (Some((fence, ..)), _) if line == *fence => {
                let (_, syntax, text) = open.take().expect("it is open");
                examples.push((syntax, text));
            }
            (Some((_, _, text)), _) => text.extend([line, "\n"]),
            (None, "```dal") => open = Some(("```", Syntax::Plain, String::new())),
            (None, "````markdown") => open = Some(("````", Syntax::Markdown, String::new())),
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    examples
}

#[test]
fn examples_of_the_pages_are_what_they_seem() {
    for &code in codes::ALL {
        let examples = examples(code.explanation());
        let yields = |(syntax, text): &(Syntax, String)| {
            let input =
                Input { name: code.to_string(), text: text.clone(), syntax: *syntax, folder: None };
            read(&input, text)
        };
        let has_code = |loaded: &Loaded| loaded.diagnostics.iter().any(|d| d.code == code);
        let without = WITHOUT_EXAMPLE.iter().any(|(name, _)| *name == code.name());
        match examples.first().map(yields) {
            Some(first) => assert_ne!(has_code(&first), without, "{code}: {:#?}", found(&first)),
            None => assert!(without, "{code} has no example"),
        }
        if let Some(last) = examples.get(1..).and_then(<[_]>::last).map(yields) {
            assert_eq!(found(&last), [""; 0], "{code}: the mended example");
        }
    }
}

#[test]
fn pages_have_a_title_and_say_why() {
    for &code in codes::ALL {
        let page = code.explanation();
        assert!(page.starts_with("# ") && page.ends_with('\n'), "{code}");
        assert!(page.lines().count() >= 8, "{code}: its page is short");
        assert!(page.lines().all(|line| line.len() <= 110), "{code}: a long line");
    }
}

#[test]
fn floods_are_cut() {
    let lines = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    let floods = [
        lines(20_000, &|i| format!("potential unknown{i}\n")),
        lines(50_000, &|_| "let a = b\n".into()),
        lines(50_000, &|i| format!("word{i} x\n")),
        lines(20_000, &|i| format!("constraint c{i}: 1 = 2\n")),
        format!("potential {}", "y ".repeat(100_000)),
        format!("potential {}", "y*".repeat(100_000)),
        format!("potential {}", "3 kg + ".repeat(50_000)),
        format!("potential {}", "sin x + ".repeat(50_000)),
        format!("potential {}", "x^2' + ".repeat(50_000)),
        format!("potential {}", "\\theta + ".repeat(50_000)),
        format!("start {}", "x(0) = 1, ".repeat(50_000)),
        format!("potential {}", "name".repeat(250_000)),
        format!("observe {} = x", "name".repeat(250_000)),
        format!("potential {}", "x.y + ".repeat(50_000)),
        "for i in 1..20000 { potential y[i] + x[i] }".to_owned(),
    ];
    for flood in floods {
        let input = Input::text("flood", &format!("coord x\nkinetic x'^2/2\n{flood}"));
        let loaded = load(&input, &Options::default());
        let longest = |d: &dalembert::Diagnostic| {
            d.hints.iter().map(String::len).max().unwrap_or(0).max(d.message.len())
        };
        let begin: String = flood.chars().take(40).collect();
        assert!(loaded.diagnostics.len() <= 3000, "{begin}: {}", loaded.diagnostics.len());
        assert!(loaded.diagnostics.iter().all(|d| longest(d) <= 1000), "{begin}: a long message");
        let rendered = render(&loaded.diagnostics, &loaded.sources, false);
        assert!(rendered.len() <= 100_000, "{begin}: {} bytes", rendered.len());
    }
}

#[test]
fn the_checks_can_fail() {
    let text =
        "# a model\n# error[syntax]: one\n <!-- note[too-deep]: two -->\n# dal check --set m=2\n";
    assert_eq!(expected(text), ["error[syntax]: one", "note[too-deep]: two"]);
    assert_eq!(settings(text), ["m=2"]);
    let page = "# T\n```dal\na\n```\nb\n````markdown\n```dal\nc\n```\n````\n```\nd\n```\n";
    let found: Vec<String> = examples(page).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["a\n", "```dal\nc\n```\n"]);
}
