//! Where a system lets no memory be executed that was written, the interpreter takes over.
//!
//! A process of its own: what is refused here is refused to its end.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use dalembert_compile::backends::machine;
use dalembert_compile::{Backend, Instruction, Tape, backend_tests};

/// Linux's name for it: no memory becomes executable from now on. From version 6.3; false on an
/// older one.
fn refuse() -> bool {
    let (set_mdwe, refuse_exec_gain) = (65, 1u64);
    // SAFETY: the call takes numbers only and changes nothing but what later mappings may do.
    unsafe { libc::prctl(set_mdwe, refuse_exec_gain, 0u64, 0u64, 0u64) == 0 }
}

/// The backend, where its memory is refused.
struct Refused;

impl Backend for Refused {
    fn name(&self) -> &'static str {
        "refused"
    }

    fn compile(&self, tape: Tape) -> Box<dyn dalembert_compile::Function> {
        refuse();
        machine::BACKEND.compile(tape)
    }
}

backend_tests!(Refused);

#[test]
fn there_is_no_code() {
    let tape = Tape {
        variables: 2,
        instructions: vec![Instruction::Add(0, 1)],
        outputs: vec![2],
        ..Tape::default()
    };
    if refuse() {
        assert_eq!(machine::assemble(tape.clone()).err(), Some(Box::new(tape)));
    }
}
