//! The fuzzer, for as many seconds as `DALEMBERT_FUZZ_SECONDS` says; without it, nothing.
//!
//! `cargo xtask test` starts it by this test: `cargo run --package dalembert-fuzz` would
//! choose other features of some packages than the tests do, and build most of the
//! workspace a second time.

use std::process::Command;

#[test]
fn no_input_crashes_or_hangs() {
    let Some(seconds) = std::env::var_os("DALEMBERT_FUZZ_SECONDS") else { return };
    let mut fuzzer = Command::new(env!("CARGO_BIN_EXE_dalembert-fuzz"));
    let status = fuzzer.arg("--seconds").arg(seconds).status().expect("the fuzzer starts");
    assert!(status.success(), "the input that failed is in fuzz/fuzz-failure-*.txt");
}
