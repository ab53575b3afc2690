//! Instructions of x86-64 as bytes: those of AVX and FMA on doubles, in VEX encoding, and the few
//! on addresses that a function needs around them.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.1
//! (ModR/M), 2.3.5 (VEX prefix) and the pages of the instructions. A VEX instruction is
//!
//! ```text
//! C5  R̄vvvvLpp           opcode  ModR/M  [displacement]      registers below 8 in r/m, map 0F
//! C4  R̄X̄B̄mmmmm  WvvvvLpp  opcode  ModR/M  [displacement]      any
//! ```
//!
//! with the destination in ModR/M's reg, the first source in v (complemented) and the last one,
//! a register or memory, in r/m. On eight doubles it is in EVEX encoding (section 2.7),
//!
//! ```text
//! 62  R̄X̄B̄R̄'0mmm  Wvvvv1pp  zL'LbV̄'aaa  opcode  ModR/M  [displacement, in units of 64]
//! ```
//!
//! of which only the registers below 16 are used. Comparisons have their result in a mask of bits
//! there; it is made bits of a vector, and back, so that code is the same for every width.

/// How many doubles an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// One, in the low part of a register of 128 bits.
    One,
    /// Four, in a register of 256 bits.
    Four,
    /// Eight, in a register of 512 bits, where the processor has them.
    Eight,
}

impl Width {
    /// How many doubles.
    pub(crate) fn doubles(self) -> usize {
        match self {
            Width::One => 1,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The widest that goes into so many doubles a whole number of times and that the processor has.
    pub(crate) fn widest_of(doubles: usize) -> Width {
        match doubles {
            _ if doubles.is_multiple_of(8) && super::has_eight() => Width::Eight,
            _ if doubles.is_multiple_of(4) => Width::Four,
            _ => Width::One,
        }
    }
}

/// A vector register, 0 to 15.
pub(crate) type Vector = u8;

/// Registers for addresses, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Address {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R14 = 14,
    R15 = 15,
}

/// A place in memory. No base here is RSP or R12, which would need one byte more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) base: Address,
    pub(crate) displacement: i32,
}

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Register(Vector),
    Memory(Memory),
}

/// d = a ∘ b on doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add = 0x58,
    Mul = 0x59,
    Sub = 0x5c,
    Min = 0x5d,
    Div = 0x5e,
    Max = 0x5f,
}

/// d = a ∘ b on bits. An operand in memory has the width of the whole register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    And = 0x54,
    /// ¬a ∧ b
    AndNot = 0x55,
    Or = 0x56,
    Xor = 0x57,
}

/// On integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integers {
    Add = 0x01,
    Sub = 0x29,
}

/// When a jump is made, after a comparison or a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// It was equal, or zero.
    Zero = 0x84,
    NotZero = 0x85,
    NotGreater = 0x8e,
}

/// The order of the operands of a fused product and sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fused {
    /// d = d · b + a
    Times132 = 0x98,
    /// d = a · d + b
    Times213 = 0xa8,
    /// d = a · b + d
    Plus231 = 0xb8,
}

/// A comparison; the result has all bits set where it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal = 0x00,
    Less = 0x11,
    NotGreater = 0x12,
    /// One of them is not a number.
    Unordered = 0x03,
    /// Numbers, and not the same.
    Unequal = 0x0c,
    Greater = 0x1e,
}

// Opcode maps and prefixes of VEX.
const MAP_0F: u8 = 1;
const MAP_0F38: u8 = 2;
const MAP_0F3A: u8 = 3;
const PACKED: u8 = 1;
const MASKS: u8 = 2;
const SCALAR: u8 = 3;

/// The register of bits that comparisons and choices go through.
const MASK: u8 = 1;
/// Bytes of a register of eight doubles.
const WIDEST: i32 = 64;

/// Bytes of code, one instruction after the other.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    pub(crate) bytes: Vec<u8>,
    pub(crate) width: Width,
}

/// What a VEX prefix and its opcode say.
struct Vex {
    map: u8,
    prefix: u8,
    wide: bool,
    opcode: u8,
}

impl Encoder {
    /// No code yet.
    pub(crate) fn new(width: Width, capacity: usize) -> Encoder {
        Encoder { bytes: Vec::with_capacity(capacity), width }
    }

    fn vex(&mut self, what: Vex, reg: Vector, v: Vector, last: Operand, immediate: Option<u8>) {
        if self.width == Width::Eight {
            return self.evex(what, (reg, v, last), 0, immediate);
        }
        // Put together here and appended at once: this is most of the time of a compilation.
        let mut out = [0u8; 16];
        let long = u8::from(self.width == Width::Four) << 2;
        let far = match last {
            Operand::Register(r) => r >= 8,
            Operand::Memory(memory) => memory.base as u8 >= 8,
        };
        let head = (!v & 15) << 3 | long | what.prefix;
        let reg_bar = u8::from(reg < 8) << 7;
        let mut at = if what.map == MAP_0F && !what.wide && !far {
            out[..3].copy_from_slice(&[0xc5, reg_bar | head, what.opcode]);
            3
        } else {
            let second = reg_bar | 0x40 | u8::from(!far) << 5 | what.map;
            let third = u8::from(what.wide) << 7 | head;
            out[..4].copy_from_slice(&[0xc4, second, third, what.opcode]);
            4
        };
        match last {
            Operand::Register(r) => {
                out[at] = 0xc0 | (reg & 7) << 3 | (r & 7);
                at += 1;
            }
            Operand::Memory(memory) => at += mod_rm(&mut out[at..], reg, memory),
        }
        if let Some(immediate) = immediate {
            out[at] = immediate;
            at += 1;
        }
        // A copy of a length that is known is a single move.
        let end = self.bytes.len() + at;
        self.bytes.extend_from_slice(&out);
        self.bytes.truncate(end);
    }

    /// The same on eight doubles, in places that a mask chooses; 0 is none.
    fn evex(
        &mut self,
        what: Vex,
        (reg, v, last): (Vector, Vector, Operand),
        mask: u8,
        immediate: Option<u8>,
    ) {
        let mut out = [0u8; 16];
        let far = match last {
            Operand::Register(r) => r >= 8,
            Operand::Memory(memory) => memory.base as u8 >= 8,
        };
        let first = u8::from(reg < 8) << 7 | 0x40 | u8::from(!far) << 5 | 0x10 | what.map;
        let second = 0x84 | (!v & 15) << 3 | what.prefix;
        out[..5].copy_from_slice(&[0x62, first, second, 0x48 | mask, what.opcode]);
        let mut at = 5;
        match last {
            Operand::Register(r) => {
                out[at] = 0xc0 | (reg & 7) << 3 | (r & 7);
                at += 1;
            }
            Operand::Memory(memory) => {
                let whole = memory.displacement % WIDEST == 0;
                let near = i8::try_from(memory.displacement / WIDEST).ok().filter(|_| whole);
                at += mod_rm_by(&mut out[at..], reg, memory, near);
            }
        }
        if let Some(immediate) = immediate {
            out[at] = immediate;
            at += 1;
        }
        self.bytes.extend_from_slice(&out[..at]);
    }

    /// The prefix of arithmetic on this many doubles.
    fn arithmetic(&self) -> u8 {
        if self.width == Width::One { SCALAR } else { PACKED }
    }

    /// d = a ∘ b
    pub(crate) fn operation(&mut self, what: Operation, d: Vector, a: Vector, b: Operand) {
        let (mut a, mut b) = (a, b);
        // A register below 8 as the last operand makes the shorter prefix do.
        if let (Operation::Add | Operation::Mul, Operand::Register(last)) = (what, b)
            && last >= 8
            && a < 8
        {
            (a, b) = (last, Operand::Register(a));
        }
        let prefix = self.arithmetic();
        self.vex(Vex { map: MAP_0F, prefix, wide: false, opcode: what as u8 }, d, a, b, None);
    }

    /// d = √b
    pub(crate) fn sqrt(&mut self, d: Vector, b: Operand) {
        let prefix = self.arithmetic();
        // The upper part of a scalar result comes from v: from b itself, so that nothing else is
        // waited for. Packed it must be 0.
        let v = match (self.width, b) {
            (Width::One, Operand::Register(r)) => r,
            (Width::One, Operand::Memory(_)) => d,
            (Width::Four | Width::Eight, _) => 0,
        };
        self.vex(Vex { map: MAP_0F, prefix, wide: false, opcode: 0x51 }, d, v, b, None);
    }

    /// d = a ∘ b, bit by bit.
    pub(crate) fn bits(&mut self, what: Bits, d: Vector, a: Vector, b: Operand) {
        let vex = Vex { map: MAP_0F, prefix: PACKED, wide: false, opcode: what as u8 };
        self.vex(vex, d, a, b, None);
    }

    /// d = d, a and b in one of the orders.
    pub(crate) fn fused(&mut self, what: Fused, d: Vector, a: Vector, b: Operand) {
        let opcode = what as u8 + u8::from(self.width == Width::One);
        self.vex(Vex { map: MAP_0F38, prefix: PACKED, wide: true, opcode }, d, a, b, None);
    }

    /// All bits of d where a comparison of a and b holds, else none.
    pub(crate) fn compare(&mut self, what: Compare, d: Vector, a: Vector, b: Operand) {
        let vex = Vex { map: MAP_0F, prefix: self.arithmetic(), wide: false, opcode: 0xc2 };
        if self.width != Width::Eight {
            return self.vex(vex, d, a, b, Some(what as u8));
        }
        self.evex(vex, (MASK, a, b), 0, Some(what as u8));
        let spread = Vex { map: MAP_0F38, prefix: MASKS, wide: true, opcode: 0x38 };
        self.evex(spread, (d, 0, Operand::Register(MASK)), 0, None);
    }

    /// d = b where the mask's bits are set, else a.
    pub(crate) fn blend(&mut self, d: Vector, a: Vector, b: Vector, mask: Vector) {
        if self.width != Width::Eight {
            let vex = Vex { map: MAP_0F3A, prefix: PACKED, wide: false, opcode: 0x4b };
            return self.vex(vex, d, a, Operand::Register(b), Some(mask << 4));
        }
        let signs = Vex { map: MAP_0F38, prefix: MASKS, wide: true, opcode: 0x39 };
        self.evex(signs, (MASK, 0, Operand::Register(mask)), 0, None);
        let choose = Vex { map: MAP_0F38, prefix: PACKED, wide: true, opcode: 0x65 };
        self.evex(choose, (d, a, Operand::Register(b)), MASK, None);
    }

    /// d = b
    pub(crate) fn load(&mut self, d: Vector, b: Operand) {
        let vex = match b {
            Operand::Register(_) => Vex { map: MAP_0F, prefix: PACKED, wide: false, opcode: 0x28 },
            Operand::Memory(_) => {
                Vex { map: MAP_0F, prefix: self.arithmetic(), wide: false, opcode: 0x10 }
            }
        };
        self.vex(vex, d, 0, b, None);
    }

    /// memory = a
    pub(crate) fn store(&mut self, to: Memory, a: Vector) {
        let vex = Vex { map: MAP_0F, prefix: self.arithmetic(), wide: false, opcode: 0x11 };
        self.vex(vex, a, 0, Operand::Memory(to), None);
    }

    /// d = the first double of a, and the one in memory as the second
    pub(crate) fn load_second(&mut self, d: Vector, a: Vector, b: Memory) {
        let width = std::mem::replace(&mut self.width, Width::One);
        let vex = Vex { map: MAP_0F, prefix: PACKED, wide: false, opcode: 0x16 };
        self.vex(vex, d, a, Operand::Memory(b), None);
        self.width = width;
    }

    /// d = the first two of four doubles in a, then the first two in b
    pub(crate) fn join(&mut self, d: Vector, a: Vector, b: Vector) {
        let width = std::mem::replace(&mut self.width, Width::Four);
        let vex = Vex { map: MAP_0F3A, prefix: PACKED, wide: false, opcode: 0x18 };
        self.vex(vex, d, a, Operand::Register(b), Some(1));
        self.width = width;
    }

    /// d = the (first) double of b, in each of four places
    pub(crate) fn spread(&mut self, d: Vector, b: Operand) {
        let width = std::mem::replace(&mut self.width, Width::Four);
        let vex = Vex { map: MAP_0F38, prefix: PACKED, wide: false, opcode: 0x19 };
        self.vex(vex, d, 0, b, None);
        self.width = width;
    }

    /// Clears the upper halves of all vector registers: code in the older encoding, as a library
    /// may have it, is slow while they hold something.
    pub(crate) fn clear_upper(&mut self) {
        self.bytes.extend_from_slice(&[0xc5, 0xf8, 0x77]);
    }

    /// register = the address of memory
    pub(crate) fn address_of(&mut self, register: Address, memory: Memory) {
        let mut out = [0u8; 9];
        let (reg, base) = (register as u8, memory.base as u8);
        out[0] = 0x48 | (reg >> 3) << 2 | base >> 3;
        out[1] = 0x8d;
        let length = 2 + mod_rm(&mut out[2..], reg, memory);
        self.bytes.extend_from_slice(&out[..length]);
    }

    /// register = other
    pub(crate) fn copy_address(&mut self, register: Address, other: Address) {
        let (to, from) = (register as u8, other as u8);
        let rex = 0x48 | (from >> 3) << 2 | to >> 3;
        self.bytes.extend_from_slice(&[rex, 0x89, 0xc0 | (from & 7) << 3 | (to & 7)]);
    }

    /// register = a number of 32 bits
    pub(crate) fn number(&mut self, register: Address, number: u32) {
        debug_assert!((register as u8) < 8);
        self.bytes.push(0xb8 | register as u8);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// register = the integer in memory
    pub(crate) fn load_integer(&mut self, register: Address, memory: Memory) {
        let mut out = [0u8; 9];
        let (reg, base) = (register as u8, memory.base as u8);
        out[..2].copy_from_slice(&[0x48 | (reg >> 3) << 2 | base >> 3, 0x8b]);
        let length = 2 + mod_rm(&mut out[2..], reg, memory);
        self.bytes.extend_from_slice(&out[..length]);
    }

    /// register = register ∘ other
    pub(crate) fn integers(&mut self, what: Integers, register: Address, other: Address) {
        let (to, from) = (register as u8, other as u8);
        let rex = 0x48 | (from >> 3) << 2 | to >> 3;
        self.bytes.extend_from_slice(&[rex, what as u8, 0xc0 | (from & 7) << 3 | (to & 7)]);
    }

    /// register += a number
    pub(crate) fn add_number(&mut self, register: Address, number: i8) {
        self.with_number(0x83, 0, register);
        self.bytes.push(number as u8);
    }

    /// register ≪= a number of bits
    pub(crate) fn shift_left(&mut self, register: Address, bits: u8) {
        self.with_number(0xc1, 4, register);
        self.bytes.push(bits);
    }

    /// register ≫= a number of bits
    pub(crate) fn shift_right(&mut self, register: Address, bits: u8) {
        self.with_number(0xc1, 5, register);
        self.bytes.push(bits);
    }

    /// Compares a register with a number.
    pub(crate) fn compare_number(&mut self, register: Address, number: i32) {
        self.with_number(0x81, 7, register);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Compares the last bit of a register with 0.
    pub(crate) fn test_parity(&mut self, register: Address) {
        self.with_number(0xf7, 0, register);
        self.bytes.extend_from_slice(&1i32.to_le_bytes());
    }

    fn with_number(&mut self, opcode: u8, extension: u8, register: Address) {
        let to = register as u8;
        self.bytes.extend_from_slice(&[0x48 | to >> 3, opcode, 0xc0 | extension << 3 | (to & 7)]);
    }

    /// A jump on a condition to where [`land`](Encoder::land) is told of it.
    pub(crate) fn jump(&mut self, when: When) -> usize {
        self.bytes.extend_from_slice(&[0x0f, when as u8, 0, 0, 0, 0]);
        self.bytes.len()
    }

    /// Where a jump goes: here.
    pub(crate) fn land(&mut self, jump: usize) {
        let distance = (self.bytes.len() - jump) as i32;
        self.bytes[jump - 4..jump].copy_from_slice(&distance.to_le_bytes());
    }

    /// A jump on a condition back to a place.
    pub(crate) fn jump_back(&mut self, when: When, to: usize) {
        let jump = self.jump(when);
        let distance = to as i32 - jump as i32;
        self.bytes[jump - 4..jump].copy_from_slice(&distance.to_le_bytes());
    }

    /// Calls what is at an address. RAX is used.
    pub(crate) fn call(&mut self, address: usize) {
        self.bytes.extend_from_slice(&[0x48, 0xb8]);
        self.bytes.extend_from_slice(&(address as u64).to_le_bytes());
        self.bytes.extend_from_slice(&[0xff, 0xd0]);
    }

    /// Puts a register onto the stack.
    pub(crate) fn push(&mut self, register: Address) {
        self.one(0x50, register);
    }

    /// Takes a register from the stack.
    pub(crate) fn pop(&mut self, register: Address) {
        self.one(0x58, register);
    }

    fn one(&mut self, opcode: u8, register: Address) {
        let number = register as u8;
        if number >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(opcode | (number & 7));
    }

    /// Returns.
    pub(crate) fn ret(&mut self) {
        self.bytes.push(0xc3);
    }
}

/// Writes ModR/M and displacement; how many bytes they are.
fn mod_rm(out: &mut [u8], reg: u8, memory: Memory) -> usize {
    mod_rm_by(out, reg, memory, i8::try_from(memory.displacement).ok())
}

/// The same with what stands for the displacement in one byte, if that can be.
fn mod_rm_by(out: &mut [u8], reg: u8, memory: Memory, short: Option<i8>) -> usize {
    let low = (reg & 7) << 3 | (memory.base as u8 & 7);
    match short {
        Some(short) => {
            out[..2].copy_from_slice(&[0x40 | low, short as u8]);
            2
        }
        None => {
            out[0] = 0x80 | low;
            out[1..5].copy_from_slice(&memory.displacement.to_le_bytes());
            5
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Address::*;
    use Operand::Register;

    fn at(base: Address, displacement: i32) -> Operand {
        Operand::Memory(Memory { base, displacement })
    }

    /// Bytes as another assembler (GNU as) writes them.
    #[test]
    fn bytes_are_those_of_another_assembler() {
        let expect = |width: Width, bytes: &str, emit: fn(&mut Encoder)| {
            let mut encoder = Encoder::new(width, 0);
            emit(&mut encoder);
            let found: Vec<String> = encoder.bytes.iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(found.join(" "), bytes);
        };
        let one = |bytes: &str, emit: fn(&mut Encoder)| expect(Width::One, bytes, emit);
        let four = |bytes: &str, emit: fn(&mut Encoder)| expect(Width::Four, bytes, emit);
        let eight = |bytes: &str, emit: fn(&mut Encoder)| expect(Width::Eight, bytes, emit);
        eight("62 f1 ed 48 58 cb", |e| e.operation(Operation::Add, 1, 2, Register(3)));
        eight("62 51 ed 48 5c cb", |e| e.operation(Operation::Sub, 9, 2, Register(11)));
        eight("62 f1 9d 48 59 4b fe", |e| e.operation(Operation::Mul, 1, 12, at(Rbx, -128)));
        eight("62 51 8d 48 5e 7e 08", |e| e.operation(Operation::Div, 15, 14, at(R14, 512)));
        // What is not a whole number of registers away is told in four bytes.
        eight("62 f1 f5 48 5f 86 28 00 00 00", |e| e.operation(Operation::Max, 0, 1, at(Rsi, 40)));
        eight("62 f1 fd 48 51 5e 01", |e| e.sqrt(3, at(Rsi, 64)));
        eight("62 f1 dd 48 57 9e 00 20 00 00", |e| e.bits(Bits::Xor, 3, 4, at(Rsi, 8192)));
        eight("62 51 b5 48 55 c2", |e| e.bits(Bits::AndNot, 8, 9, Register(10)));
        eight("62 72 ed 48 a8 cb", |e| e.fused(Fused::Times213, 9, 2, Register(3)));
        eight("62 d2 ed 48 98 cb", |e| e.fused(Fused::Times132, 1, 2, Register(11)));
        eight("62 d2 ed 48 b8 49 01", |e| e.fused(Fused::Plus231, 1, 2, at(R9, 64)));
        eight("62 71 fd 48 28 c9", |e| e.load(9, Register(1)));
        eight("62 71 fd 48 10 4a 01", |e| e.load(9, at(Rdx, 64)));
        eight("62 f1 fd 48 11 59 40", |e| e.store(Memory { base: Rcx, displacement: 4096 }, 3));
        eight("62 d1 ad 48 c2 cb 03 62 72 fe 48 38 c9", |e| {
            e.compare(Compare::Unordered, 9, 10, Register(11));
        });
        eight("62 d2 fe 48 39 cc 62 f2 ed 49 65 cb", |e| e.blend(1, 2, 3, 12));
        one("c5 eb 58 cb", |e| e.operation(Operation::Add, 1, 2, Register(3)));
        one("c4 41 6b 5c cb", |e| e.operation(Operation::Sub, 9, 2, Register(11)));
        // Sums and products turn their operands for the shorter form.
        one("c5 23 58 ca", |e| e.operation(Operation::Add, 9, 2, Register(11)));
        one("c5 9b 59 4b 80", |e| e.operation(Operation::Mul, 1, 12, at(Rbx, -128)));
        four("c4 41 0d 5e be 00 02 00 00", |e| {
            e.operation(Operation::Div, 15, 14, at(R14, 512));
        });
        one("c5 f3 5d c2", |e| e.operation(Operation::Min, 0, 1, Register(2)));
        four("c5 f5 5f c2", |e| e.operation(Operation::Max, 0, 1, Register(2)));
        one("c5 db 51 dc", |e| e.sqrt(3, Register(4)));
        four("c5 fd 51 5e 20", |e| e.sqrt(3, at(Rsi, 32)));
        one("c5 d9 57 5e 80", |e| e.bits(Bits::Xor, 3, 4, at(Rsi, -128)));
        four("c4 41 35 55 c2", |e| e.bits(Bits::AndNot, 8, 9, Register(10)));
        one("c4 e2 e9 b9 4d 08", |e| e.fused(Fused::Plus231, 1, 2, at(Rbp, 8)));
        four("c4 62 ed a8 cb", |e| e.fused(Fused::Times213, 9, 2, Register(3)));
        one("c4 c2 e9 99 cb", |e| e.fused(Fused::Times132, 1, 2, Register(11)));
        one("c5 eb c2 cb 03", |e| e.compare(Compare::Unordered, 1, 2, Register(3)));
        one("c4 e3 69 4b cb c0", |e| e.blend(1, 2, 3, 12));
        one("c5 79 28 c9", |e| e.load(9, Register(1)));
        // Never without a displacement: one base in eight has no such form.
        one("c5 7b 10 4a 00", |e| e.load(9, at(Rdx, 0)));
        four("c5 fd 11 99 00 10 00 00", |e| {
            e.store(Memory { base: Rcx, displacement: 4096 }, 3);
        });
        one("c5 e9 16 4e 08", |e| {
            e.load_second(1, 2, Memory { base: Rsi, displacement: 8 });
        });
        one("c4 e3 6d 18 cb 01", |e| e.join(1, 2, 3));
        one("c4 e2 7d 19 cb", |e| e.spread(1, Register(3)));
        one("c4 42 7d 19 48 10", |e| e.spread(9, at(R8, 16)));
        one("4d 8b 51 08", |e| e.load_integer(R10, Memory { base: R9, displacement: 8 }));
        one("48 01 f0 49 29 c3", |e| {
            e.integers(Integers::Add, Rax, Rsi);
            e.integers(Integers::Sub, R11, Rax);
        });
        one("49 83 c0 20 48 83 c0 e0", |e| {
            e.add_number(R8, 32);
            e.add_number(Rax, -32);
        });
        one("49 c1 e3 05 48 c1 e8 01", |e| {
            e.shift_left(R11, 5);
            e.shift_right(Rax, 1);
        });
        one("49 81 fa 12 00 00 00 49 f7 c2 01 00 00 00", |e| {
            e.compare_number(R10, 18);
            e.test_parity(R10);
        });
        one("0f 84 03 00 00 00 48 01 f0 0f 85 f1 ff ff ff", |e| {
            let jump = e.jump(When::Zero);
            e.integers(Integers::Add, Rax, Rsi);
            e.land(jump);
            e.jump_back(When::NotZero, 0);
        });
        one("c5 f8 77", Encoder::clear_upper);
        one("49 8d be 00 02 00 00", |e| {
            e.address_of(Rdi, Memory { base: R14, displacement: 512 });
        });
        one("49 89 ff 4c 89 ff", |e| {
            e.copy_address(R15, Rdi);
            e.copy_address(Rdi, R15);
        });
        one("be 07 00 00 00", |e| e.number(Rsi, 7));
        one("48 b8 88 77 66 55 44 33 22 11 ff d0", |e| e.call(0x1122_3344_5566_7788));
        one("41 56 55 41 5f c3", |e| {
            e.push(R14);
            e.push(Rbp);
            e.pop(R15);
            e.ret();
        });
    }
}
