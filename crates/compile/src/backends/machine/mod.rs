//! Machine code: the tape as instructions of the processor, made in one pass by an assembler of
//! our own.
//!
//! ```text
//! tape ─order→ calls together ─registers→ values in registers and memory ─encoder→ bytes
//! ```
//!
//! A tape is code without jumps, so what a compiler spends its time on is not there to
//! be done, and what is (which value is in a register, which operand in memory) is known exactly.
//! The folder has a file for each: `order` puts calls of functions side by side, `registers`
//! keeps values in registers by Belady's rule, `layout` says what is where in memory, `emit` goes
//! over the tape, with `operations` for arithmetic and `calling` for calls, `encoder` writes the
//! bytes, `shims` and `outs` are what the code calls, `function` calls it. The unsafe part, memory that can be executed
//! and the call into it, is the crate `dalembert_machine`.
//!
//! Results are those of the interpreter, to the bit: the same operations in the same order, and the
//! same functions. Lanes are the same code on four doubles at once, or on eight where the processor
//! has registers for it, compiled when so many lanes are first asked for.
//!
//! It applies to x86-64 with AVX2 and FMA, on systems that let memory be executed after it was
//! written. Elsewhere, and for tapes that are not as the lowering makes them, it is the
//! interpreter.

pub(crate) mod aligned;
mod calling;
mod emit;
pub(crate) mod encoder;
mod function;
mod layout;
mod operations;
mod order;
mod outs;
mod registers;
mod shims;

use super::{Backend, Function, interpreter};
use crate::tape::Tape;
pub(crate) use function::{Assembled, Work};

pub use aligned::LaneList;
pub use function::LANES;

/// Machine code.
pub struct Machine;

/// The member of the list.
pub static BACKEND: Machine = Machine;

impl Backend for Machine {
    fn name(&self) -> &'static str {
        "machine"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        assemble(tape).unwrap_or_else(|tape| interpreter::BACKEND.compile(*tape))
    }
}

/// The machine code of a tape; the tape itself where there is none.
pub fn assemble(tape: Tape) -> Result<Box<dyn Function>, Box<Tape>> {
    assembled(tape).map(|function| Box::new(function) as Box<dyn Function>)
}

/// The same for those who call it by themselves.
pub(crate) fn assembled(tape: Tape) -> Result<Assembled, Box<Tape>> {
    if !is_available() || !layout::is_regular(&tape) {
        return Err(Box::new(tape));
    }
    Assembled::new(tape)
}

/// Whether the processor has the instructions.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether it has those on eight doubles.
pub(crate) fn has_eight() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_available()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(test)]
mod tests {
    use super::emit;
    use super::encoder::{Encoder, Width};
    use super::layout::{Layout, Part};
    use crate::tape::{Instruction, Register, Tape};

    /// Products of so many pairs, then their sum.
    fn products(count: Register) -> Tape {
        let mut instructions: Vec<_> = (0..count).map(|i| Instruction::Mul(i, i)).collect();
        instructions.extend((1..count).map(|i| {
            let sum = if i == 1 { count } else { 2 * count + i - 2 };
            Instruction::Add(sum, count + i)
        }));
        let last = count + instructions.len() as Register - 1;
        Tape { variables: count as usize, outputs: vec![last], instructions, ..Tape::default() }
    }

    /// How many values of a tape's body are put aside.
    fn spilled(tape: &Tape) -> Option<usize> {
        let layout = Layout::new(tape);
        let mut code = Encoder::new(Width::One, 0);
        let reach = emit::emit(tape, &layout, Part::Body, &mut code, &mut Vec::new());
        reach.map(|reach| reach.frame.saturating_sub(layout.fixed))
    }

    #[test]
    fn what_fits_into_registers_stays_there() {
        assert_eq!(spilled(&products(8)), Some(0));
        // As many as there are registers; with one more, one has to go.
        assert_eq!(spilled(&products(16)), Some(0));
        assert_eq!(spilled(&products(17)), Some(1));
        assert_eq!(spilled(&products(40)), Some(24));
    }

    #[test]
    fn places_are_used_again() {
        let mut tape = products(40);
        let first = tape.registers() as Register;
        for i in 0..40 {
            tape.instructions.push(Instruction::Add(i, i));
        }
        tape.instructions.extend((1..40).map(|i| {
            let sum = if i == 1 { first } else { first + 40 + i - 2 };
            Instruction::Add(sum, first + i)
        }));
        tape.outputs.push(tape.registers() as Register - 1);
        assert_eq!(spilled(&tape), Some(24));
    }

    #[test]
    fn what_reads_ahead_of_itself_has_no_code() {
        let mut tape = products(4);
        assert!(spilled(&tape).is_some());
        tape.instructions[0] = Instruction::Mul(5, 5);
        assert_eq!(spilled(&tape), None);
    }
}
