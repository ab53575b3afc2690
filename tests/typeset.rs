//! The LaTeX documents of the gallery typeset without an error and with no line over
//! the margin, closed forms and parts included. Needs a LaTeX program in
//! `DALEMBERT_LATEX`, which `cargo xtask test` sets where it finds one; without it,
//! only the balance of braces is checked. HTML documents have all formulas as MathML.

use dalembert::export::{Derivation, Extras};
use dalembert::{Input, Options};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn document(name: &str) -> String {
    derived(name, |derivation| derivation.to_latex())
}

fn derived(name: &str, write: impl Fn(&Derivation) -> String) -> String {
    let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = dalembert::derive(&model, None).expect("applies");
    let extras = Extras { solved: true, parts: true };
    write(&Derivation::with(&model, &equations, extras))
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
    for page in dalembert::gallery::pages() {
        let html = derived(page.name, |derivation| derivation.to_html());
        // What cannot be converted stands there as LaTeX.
        assert!(!html.contains('\\'), "{}", page.name);
        assert!(html.contains("<math"), "{}", page.name);
    }
}

#[test]
fn braces_balance() {
    for page in dalembert::gallery::pages() {
        let text = document(page.name);
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
            assert!(depth >= 0, "{}: a brace closes nothing", page.name);
        }
        assert_eq!(depth, 0, "{}", page.name);
    }
}

#[test]
fn documents_typeset() {
    let Some(program) = std::env::var_os("DALEMBERT_LATEX") else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("typeset");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for page in dalembert::gallery::pages() {
        std::fs::write(folder.join("page.tex"), document(page.name)).expect("written");
        let output = Command::new(&program)
            .args(["-interaction=nonstopmode", "-halt-on-error", "page.tex"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("LaTeX starts");
        let log = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}:\n{log}", page.name);
        let wide = overfull(&log);
        assert!(wide.is_empty(), "{}: {wide:?}", page.name);
    }
}
