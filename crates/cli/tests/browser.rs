//! The viewer: that the built one is current, and that pages do in a browser what they should.
//!
//! `DALEMBERT_NPM` has npm, with the packages of `viewer/` installed (`npm ci --prefix viewer`),
//! `DALEMBERT_BROWSER` a Chromium; without them these tests do nothing. `cargo xtask test` sets
//! both where it finds them. `viewer/tests/` says what is looked at.

use std::path::PathBuf;
use std::process::Command;

fn viewer() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    PathBuf::from(manifest).join("../../viewer")
}

/// Runs a script of the viewer's `package.json`; what it printed is shown if it fails.
fn npm(npm: &std::ffi::OsStr, script: &str, variables: &[(&str, &std::ffi::OsStr)]) {
    let mut command = Command::new(npm);
    command.args(["run", "--silent", script]).current_dir(viewer());
    command.envs(variables.iter().copied());
    let output = command.output().expect("npm starts");
    assert!(
        output.status.success(),
        "npm run {script}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_committed_viewer_is_what_its_sources_give() {
    let Some(program) = std::env::var_os("DALEMBERT_NPM") else { return };
    npm(&program, "check", &[]);
}

#[test]
fn pages_do_in_a_browser_what_they_should() {
    let Some(program) = std::env::var_os("DALEMBERT_NPM") else { return };
    let Some(browser) = std::env::var_os("DALEMBERT_BROWSER") else { return };
    npm(&program, "test", &[("DAL", env!("CARGO_BIN_EXE_dal").as_ref()), ("BROWSER", &browser)]);
}
