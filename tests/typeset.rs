//! The LaTeX documents of the gallery typeset without an error. Needs a LaTeX
//! program in `DALEMBERT_LATEX`, which `cargo xtask test` sets where it finds
//! one; without it, only the balance of braces is checked.

use dalembert::{Input, Options};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn document(name: &str) -> String {
    let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = dalembert::derive(&model, None).expect("applies");
    dalembert::export::Derivation::new(&model, &equations).to_latex()
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
    }
}
