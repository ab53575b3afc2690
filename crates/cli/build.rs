//! Tells the program which commit it was built from.

use std::process::Command;

fn main() {
    let commit = Command::new("git")
        .args(["rev-parse", "--short=10", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = match commit {
        Some(commit) => format!("{version} ({commit})"),
        None => format!("{version} (no commit known)"),
    };
    println!("cargo::rustc-env=DAL_VERSION={shown}");
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs");
    println!("cargo::rerun-if-changed=build.rs");
}
