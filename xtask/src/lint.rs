//! `cargo xtask lint` and `cargo xtask licenses`.

use crate::cargo;
use crate::licenses;
use crate::steps::{Report, run};

const CLIPPY: &[&str] = &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];

/// Formatting, clippy, documentation, licenses.
pub fn lint() -> Report {
    let mut report = Report::default();
    report.step("format", || run(cargo().args(["fmt", "--all", "--check"])));
    report.step("clippy", || run(cargo().args(CLIPPY)));
    report.step("documentation", || {
        run(cargo().env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--workspace", "--no-deps"]))
    });
    report.step("licenses", licenses::check);
    report
}

/// The licenses alone.
pub fn licenses() -> Report {
    let mut report = Report::default();
    report.step("licenses", licenses::check);
    report
}
