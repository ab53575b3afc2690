//! The LaTeX documents of the gallery typeset without an error and with no line over
//! the margin, closed forms and parts included. Needs a LaTeX program in
//! `DALEMBERT_LATEX`, which `cargo xtask test` sets where it finds one; without it,
//! only the balance of braces is checked. HTML documents have all formulas as MathML.
//!
//! Every page is derived by its own formulation, a sample by all of them; with
//! `DALEMBERT_DOCUMENTS=all` every page is derived by every formulation that applies.

use dalembert::export::{Derivation, Extras};
use dalembert::formulations::ALL;
use dalembert::{Input, Options};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Pages that are derived by every formulation: with matrices too wide for a page,
/// constraints that leave no unknown, an ignorable coordinate, energies by H.
const SAMPLE: [&str; 5] = [
    "rolling-disk",
    "benchmarks/chaplygin-sleigh",
    "benchmarks/bricard",
    "spherical-pendulum",
    "heavy-top",
];

/// A document: the name of its page, and a formulation if not the page's own.
type Name = (&'static str, Option<&'static str>);

fn names() -> Vec<Name> {
    let all = std::env::var_os("DALEMBERT_DOCUMENTS").is_some_and(|which| which == "all");
    let mut names = Vec::new();
    for page in dalembert::gallery::pages() {
        names.push((page.name, None));
        if all || SAMPLE.contains(&page.name) {
            names.extend(ALL.iter().map(|formulation| (page.name, Some(formulation.name()))));
        }
    }
    names
}

/// A document, where its formulation applies.
fn derived(name: Name, write: impl Fn(&Derivation) -> String) -> Option<String> {
    let input = Input::open(&format!("gallery:{}", name.0)).expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = match (dalembert::derive(&model, name.1), name.1) {
        (Ok(equations), _) => equations,
        (Err(_), Some(_)) => return None,
        (Err(faults), None) => panic!("{}: {faults:?}", name.0),
    };
    let extras = Extras { solved: true, parts: true, exact: false };
    Some(write(&Derivation::with(&model, &equations, extras)))
}

/// Lines that stick out, as LaTeX tells them.
fn overfull(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.starts_with("Overfull \\hbox")).collect()
}

#[test]
fn lines_that_stick_out_are_found() {
    let log = "(./page.aux)\nOverfull \\hbox (34.3pt too wide) detected at line 135\n[]\n";
    assert_eq!(overfull(log).len(), 1);
}

#[test]
fn formulas_of_pages_are_mathml() {
    for name in names() {
        let Some(html) = derived(name, |derivation| derivation.to_html()) else { continue };
        // What cannot be converted stands there as LaTeX.
        assert!(!html.contains('\\'), "{name:?}");
        assert!(html.contains("<math"), "{name:?}");
    }
}

#[test]
fn braces_balance() {
    for page in dalembert::gallery::pages() {
        let name = (page.name, None);
        let text = derived(name, |derivation| derivation.to_latex()).expect("its own formulation");
        let mut depth = 0i32;
        let mut escaped = false;
        for c in text.chars() {
            match c {
                '\\' => escaped = !escaped,
                '{' if !escaped => depth += 1,
                '}' if !escaped => depth -= 1,
                _ => {}
            }
            escaped &= c == '\\';
            assert!(depth >= 0, "{name:?}: a brace closes nothing");
        }
        assert_eq!(depth, 0, "{name:?}");
    }
}

/// Matrices and right sides of systems that a document speaks of and does not explain, and
/// how many it speaks of.
fn unexplained(latex: &str) -> (Vec<String>, usize) {
    let (mut missing, mut count) = (Vec::new(), 0);
    for piece in latex.split("\\mathbf{K}_{").skip(1) {
        let words: Vec<&str> = piece.split(['{', '}']).take(7).collect();
        let &[k, "^", "-1", _, "r", _, r] = words.as_slice() else { continue };
        // The sentence that explains them has letters.
        if k.parse::<u32>().is_err() {
            continue;
        }
        count += 1;
        let has = |texts: [String; 2]| texts.iter().any(|text| latex.contains(text.as_str()));
        let matrix = [format!("\\mathbf{{K}}_{{{k}}} ="), format!("(\\mathbf{{K}}_{{{k}}})_{{")];
        let right = [format!("\\mathbf{{r}}_{{{r}}} ="), format!("(\\mathbf{{r}}_{{{r}}})_{{")];
        if !has(matrix) || !has(right) {
            missing.push(format!("K {k}, r {r}"));
        }
    }
    (missing, count)
}

#[test]
fn what_stands_behind_inverses_is_told() {
    let bare = "\\left(\\mathbf{K}_{1}^{-1} \\mathbf{r}_{12}\\right)_{2}";
    assert_eq!(unexplained(bare), (vec!["K 1, r 12".to_owned()], 1));
    let mut spoken_of = 0;
    for (page, formulation) in [
        ("benchmarks/n-four-bar", "bracket"),
        ("benchmarks/n-four-bar", "maggi"),
        ("benchmarks/closed-chain", "hamilton"),
        ("benchmarks/euler-top", "hamilton"),
    ] {
        let name = (page, Some(formulation));
        let latex = derived(name, |derivation| derivation.to_latex()).expect("applies");
        let (missing, count) = unexplained(&latex);
        assert!(missing.is_empty(), "{name:?}: {missing:?}");
        spoken_of += count;
    }
    assert!(spoken_of > 20, "{spoken_of}");
}

#[test]
fn documents_typeset() {
    let Some(program) = std::env::var_os("DALEMBERT_LATEX") else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("typeset");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut faults = Vec::new();
    for name in names() {
        let Some(text) = derived(name, |derivation| derivation.to_latex()) else { continue };
        std::fs::write(folder.join("page.tex"), text).expect("written");
        let output = Command::new(&program)
            .args(["-interaction=nonstopmode", "-halt-on-error", "page.tex"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("LaTeX starts");
        let log = String::from_utf8_lossy(&output.stdout);
        let first = log.lines().find(|line| line.starts_with('!'));
        match (output.status.success(), overfull(&log)) {
            (false, _) => faults.push(format!("{name:?}: {}", first.unwrap_or("no document"))),
            (true, wide) => faults.extend(wide.iter().map(|line| format!("{name:?}: {line}"))),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
