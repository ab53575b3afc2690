//! A tape to code, in one pass over its instructions; a pass from the end ahead of it says where
//! each value is read next.
//!
//! An operand that is in memory and read no more is read from there by the instruction itself. A
//! fused product and sum overwrites an operand that nobody reads again. Outputs are stored when
//! they are computed, and their place is the copy that a register given up leaves behind.

use super::encoder::{Address, Bits, Encoder, Memory, Operand, Operation, Vector, Width};
use super::layout::{Layout, Part};
use super::order::{self, Reads};
use super::outs::Out;
use super::registers::{Base, NEVER, Place, Registers};
use super::shims;
use crate::tape::{Instruction, Register, Restricted, Tape};
use dalembert_expr::Function;
use std::cell::Cell;

/// The frame's address points this many bytes into it, so that more of it is within reach of a
/// displacement of one byte.
const BIAS: i32 = 128;

/// How many places of each list code uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) frame: usize,
    pub(super) x: usize,
    pub(super) y: usize,
}

/// Appends the code of a part of a tape and its calls out; how far they reach. None if the part
/// reads what is not there: such a tape is for the interpreter.
pub(super) fn emit(
    tape: &Tape,
    layout: &Layout,
    part: Part,
    code: &mut Encoder,
    outs: &mut Vec<Out>,
) -> Option<Reach> {
    if part == Part::Prologue && tape.prologue == 0 {
        code.ret();
        return Some(Reach::default());
    }
    let order = order::hoisted(tape, &layout.reads, part.range(tape));
    let values = part.values(tape);
    let (uses, next) = next_reads(tape.first_instruction(), values, &layout.reads, &order)?;
    let mut emitter = Emitter {
        tape,
        layout,
        part,
        is_leaf: !tape.instructions[part.range(tape)].iter().any(order::is_call),
        registers: Registers::new(layout.homes(part, values), next, layout.fixed),
        uses,
        code,
        outs,
        is_sound: true,
        reach: Cell::default(),
    };
    emitter.enter();
    for &at in &order {
        emitter.instruction(at as usize);
    }
    emitter.leave();
    emitter.is_sound.then(|| emitter.reach.get())
}

/// For each read, and then for each write, of the instructions where the value is read next, from
/// the last to the first; and where each value is read first. None if one is read that is not
/// among the first `values`.
fn next_reads(
    first: usize,
    values: usize,
    reads: &Reads,
    order: &[u32],
) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut next = vec![NEVER; values];
    let mut uses = Vec::with_capacity(4 * order.len());
    for (place, &at) in order.iter().enumerate().rev() {
        uses.push(next[first + at as usize]);
        for &r in reads.of(at as usize).iter().rev() {
            uses.push(std::mem::replace(next.get_mut(r as usize)?, place as u32));
        }
    }
    Some((uses, next))
}

/// The code as it grows.
pub(super) struct Emitter<'a> {
    tape: &'a Tape,
    pub(super) layout: &'a Layout,
    pub(super) part: Part,
    /// Whether nothing is called.
    is_leaf: bool,
    pub(super) registers: Registers,
    /// Where values are read next, in the order of reads and writes, from the last.
    uses: Vec<u32>,
    pub(super) code: &'a mut Encoder,
    pub(super) outs: &'a mut Vec<Out>,
    /// Whether all that was read was there.
    pub(super) is_sound: bool,
    reach: Cell<Reach>,
}

impl Emitter<'_> {
    /// The register that has the address of a list. A call keeps only some of them.
    fn base(&self, base: Base) -> Address {
        match (base, self.is_leaf) {
            (Base::Frame, true) => Address::Rsi,
            (Base::X, true) => Address::Rdx,
            (Base::Y, true) => Address::Rcx,
            (Base::Frame, false) => Address::Rbx,
            (Base::X, false) => Address::Rbp,
            (Base::Y, false) => Address::R14,
        }
    }

    /// A place as an operand. Every address in the code is made here, and counted: lists that are
    /// shorter than this reach are not given to it.
    pub(super) fn memory(&self, place: Place) -> Memory {
        let mut reach = self.reach.get();
        let count = match place.base() {
            Base::Frame => &mut reach.frame,
            Base::X => &mut reach.x,
            Base::Y => &mut reach.y,
        };
        *count = (*count).max(place.index() + 1);
        self.reach.set(reach);
        let bytes = 8 * self.code.width.doubles() * place.index();
        let bias = if place.base() == Base::Frame { BIAS } else { 0 };
        Memory { base: self.base(place.base()), displacement: bytes as i32 - bias }
    }

    /// A number that every frame has. With the one after it, for where bits are taken by two.
    pub(super) fn known(&self, index: usize) -> Operand {
        self.memory(Place::new(Base::Frame, index + 1));
        Operand::Memory(self.memory(Place::new(Base::Frame, index)))
    }

    fn enter(&mut self) {
        if !self.is_leaf {
            // An odd number of words, with the one that `leave` drops: the stack is aligned to
            // two words where something is called.
            let saved = [Address::Rax, Address::Rbx, Address::Rbp, Address::R14, Address::R15];
            saved.into_iter().for_each(|register| self.code.push(register));
            self.code.copy_address(Address::R15, Address::Rdi);
            for (base, from) in
                [(Base::X, Address::Rdx), (Base::Y, Address::Rcx), (Base::Frame, Address::Rsi)]
            {
                self.code.copy_address(self.base(base), from);
            }
        }
        let base = self.base(Base::Frame);
        self.code.address_of(base, Memory { base, displacement: BIAS });
    }

    fn leave(&mut self) {
        if self.part == Part::Body {
            self.pass_on();
        }
        if self.is_wide() {
            self.code.clear_upper();
        }
        if !self.is_leaf {
            let saved = [Address::R15, Address::R14, Address::Rbp, Address::Rbx, Address::Rax];
            saved.into_iter().for_each(|register| self.code.pop(register));
        }
        self.code.ret();
    }

    /// Outputs that are there before the part begins.
    fn pass_on(&mut self) {
        for (output, &value) in self.tape.outputs.iter().enumerate() {
            if self.layout.is_input(value) {
                let Some(home) = self.registers.home(value) else {
                    self.is_sound = false;
                    return;
                };
                self.code.load(0, Operand::Memory(self.memory(home)));
                self.code.store(self.memory(Place::new(Base::Y, output)), 0);
            }
        }
    }

    pub(super) fn next_use(&mut self) -> u32 {
        self.uses.pop().unwrap_or(NEVER)
    }

    /// Every instruction calls this for each of its operands, in their order, before anything
    /// else.
    pub(super) fn read(&mut self, value: Register) {
        let next = self.next_use();
        self.is_sound &= self.registers.read(value, next);
    }

    /// An empty register, which stays as it is until the instruction is done.
    pub(super) fn take(&mut self) -> Vector {
        let (register, spill) = self.registers.take();
        if let Some(spill) = spill {
            self.code.store(self.memory(spill.to), spill.from);
        }
        register
    }

    fn in_memory(&self, value: Register) -> Operand {
        // What is nowhere has been noticed when it was read.
        let home = self.registers.home(value);
        home.map_or_else(|| self.known(Layout::ZERO), |place| Operand::Memory(self.memory(place)))
    }

    /// A value where it is.
    pub(super) fn as_is(&self, value: Register) -> Operand {
        self.registers.register(value).map_or_else(|| self.in_memory(value), Operand::Register)
    }

    /// Whether a value is in a register.
    pub(super) fn is_fetched(&self, value: Register) -> bool {
        self.registers.register(value).is_some()
    }

    /// The place of a value that was stored.
    pub(super) fn place_of(&mut self, value: Register) -> Place {
        let home = self.registers.home(value);
        self.is_sound &= home.is_some();
        home.unwrap_or(Place::new(Base::Frame, Layout::ZERO))
    }

    /// A value in a register.
    pub(super) fn fetch(&mut self, value: Register) -> Vector {
        if let Some(register) = self.registers.register(value) {
            return register;
        }
        let from = self.in_memory(value);
        let register = self.take();
        self.code.load(register, from);
        self.registers.bind(value, register);
        register
    }

    /// A value as a last operand: in memory if it is there and not read soon.
    pub(super) fn operand(&mut self, value: Register) -> Operand {
        if let Some(register) = self.registers.register(value) {
            return Operand::Register(register);
        }
        if self.registers.is_dead(value) || !self.registers.is_worth(value) {
            return self.in_memory(value);
        }
        Operand::Register(self.fetch(value))
    }

    /// A register for the result of one instruction, which may be that of an operand.
    pub(super) fn result(&mut self, reads: &[Register]) -> Vector {
        reads.iter().for_each(|&value| self.registers.release(value));
        self.registers.unpin();
        self.take()
    }

    /// The instruction is done: what nobody reads again is given back, and the result is in a
    /// register.
    pub(super) fn define(&mut self, reads: &[Register], into: Register, register: Vector) {
        for &value in reads {
            self.registers.release(value);
            self.registers.vacate(value);
        }
        self.registers.unpin();
        let next = self.next_use();
        self.registers.write(into, next);
        self.registers.bind(into, register);
        let mut sink = self.layout.sink(self.part, into);
        while let Some(place) = sink {
            self.code.store(self.memory(place), register);
            self.registers.set_home(into, place);
            sink = self.layout.next_sink(place);
        }
        self.registers.release(into);
    }

    fn instruction(&mut self, at: usize) {
        let into = (self.tape.first_instruction() + at) as Register;
        match self.tape.instructions[at] {
            Instruction::Add(a, b) => self.binary(Operation::Add, a, b, into),
            Instruction::Sub(a, b) => self.binary(Operation::Sub, a, b, into),
            Instruction::Mul(a, b) => self.binary(Operation::Mul, a, b, into),
            Instruction::Div(a, b) => self.binary(Operation::Div, a, b, into),
            Instruction::Fma(a, b, c) => self.fused(a, b, c, into),
            Instruction::Neg(a) => {
                self.read(a);
                let from = self.fetch(a);
                let d = self.result(&[a]);
                self.code.bits(Bits::Xor, d, from, self.known(Layout::SIGN));
                self.define(&[a], into, d);
            }
            Instruction::Sqrt(a) => {
                self.read(a);
                let from = self.operand(a);
                let d = self.result(&[a]);
                self.code.sqrt(d, from);
                self.define(&[a], into, d);
            }
            Instruction::Select(c, a, b) => self.select(c, a, b, into),
            Instruction::Call1(f, a) => match f {
                Function::Abs => {
                    self.read(a);
                    let from = self.fetch(a);
                    let d = self.take();
                    self.code.load(d, self.known(Layout::SIGN));
                    self.code.bits(Bits::AndNot, d, d, Operand::Register(from));
                    self.define(&[a], into, d);
                }
                Function::Sign | Function::Negative | Function::NotPositive => {
                    self.condition(f, a, into);
                }
                _ => self.call(shims::one(f, self.code.width), &[a], &[into]),
            },
            Instruction::Call2(f, a, b) => match f {
                Function::Min => self.extreme(Operation::Min, a, b, into),
                Function::Max => self.extreme(Operation::Max, a, b, into),
                Function::And | Function::Or => self.logic(f, a, b, into),
                _ => self.call(shims::two(f, self.code.width), &[a, b], &[into]),
            },
            Instruction::Pow(a, b) => self.call(shims::power(self.code.width), &[a, b], &[into]),
            Instruction::SinCos(a) => match dalembert_machine::sin_cos() {
                Some(address) if !self.is_wide() => {
                    self.call_into(address, a, &[into, into + 1]);
                }
                _ => self.call(shims::sin_cos(self.code.width), &[a], &[into, into + 1]),
            },
            // Written with the instruction before.
            Instruction::Follow => {}
            Instruction::Factor(matrix) => {
                let mut entries = self.tape.matrices[matrix as usize].clone();
                let reads: Vec<Register> = entries.entries.iter().map(|e| e.register).collect();
                let (places, _) = self.call_out(&reads, &[]);
                // It has a register of the tape, which nothing reads.
                self.next_use();
                let both = entries.entries.iter_mut().zip(places);
                both.for_each(|(entry, place)| entry.register = place.to_register());
                self.outs.push(Out::Factor { matrix: matrix as usize, entries });
            }
            Instruction::Solve(right) => {
                let right = &self.tape.rights[right as usize];
                let results: Vec<Register> = (into..).take(right.entries.len()).collect();
                let matrix = right.matrix as usize;
                let (right, solution) = self.call_out(&right.entries, &results);
                self.outs.push(Out::Solve { matrix, right, solution });
            }
            Instruction::Restricted(number) => {
                let Restricted { of, entries } = &self.tape.restricted[number as usize];
                let results: Vec<Register> = (into..).take(of.len()).collect();
                let (arguments, values) = self.call_out(entries, &results);
                self.outs.push(Out::Restricted { of: of.clone(), arguments, values });
            }
        }
    }

    pub(super) fn is_wide(&self) -> bool {
        self.code.width != Width::One
    }
}
