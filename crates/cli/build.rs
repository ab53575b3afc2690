//! Tells the program which commit it was built from, and how it is linked.

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
    link_at_fixed_addresses();
}

/// A program that may be loaded anywhere has each of its 18,000 pointers written when it starts, on
/// pages that are copied for it: a fifth of the time that a small model takes. The libraries, heap,
/// stacks and the code that is made at run time are still put anywhere.
fn link_at_fixed_addresses() {
    let of_target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}"));
    let is_known = ["linux", "gnu", "x86_64"];
    let target = ["OS", "ENV", "ARCH"].map(|name| of_target(name).unwrap_or_default());
    if target == is_known {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
