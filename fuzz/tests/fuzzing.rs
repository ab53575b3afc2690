//! The fuzzers of models and of motions, for as many seconds as `DALEMBERT_FUZZ_SECONDS` says;
//! without it, nothing. Motions are counted, fifty to a second, so that the same ones are
//! tried everywhere.
//!
//! `cargo xtask test` starts them by this test: `cargo run --package dalembert-fuzz` would
//! choose other features of some packages than the tests do, and build most of the
//! workspace a second time.

use std::process::Command;
use std::sync::Mutex;

/// One fuzzer at a time: each uses all cores, and one of them watches the clock.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn no_input_crashes_or_hangs() {
    let Some(seconds) = std::env::var_os("DALEMBERT_FUZZ_SECONDS") else { return };
    let _turn = TURN.lock();
    let mut fuzzer = Command::new(env!("CARGO_BIN_EXE_dalembert-fuzz"));
    let status = fuzzer.arg("--seconds").arg(seconds).status().expect("the fuzzer starts");
    assert!(status.success(), "the input that failed is in fuzz/fuzz-failure-*.txt");
}

#[test]
fn a_motion_told_in_other_ways_is_the_same() {
    let seconds = std::env::var("DALEMBERT_FUZZ_SECONDS").ok().and_then(|s| s.parse::<u64>().ok());
    let Some(seconds) = seconds else { return };
    let _turn = TURN.lock();
    let mut fuzzer = Command::new(env!("CARGO_BIN_EXE_dalembert-motions"));
    let count = (50 * seconds).to_string();
    let status = fuzzer.arg("--motions").arg(count).status().expect("the fuzzer starts");
    assert!(status.success(), "the pair of models that differs is printed above");
}
