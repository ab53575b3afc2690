//! The tape: instructions on registers, in the order of computation.

use dalembert_expr::{Function as Elementary, Restriction};
use std::sync::Arc;

/// A register, by number. Each is written once.
pub type Register = u32;

/// One step of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// a + b
    Add(Register, Register),
    /// a − b
    Sub(Register, Register),
    /// a · b
    Mul(Register, Register),
    /// a / b
    Div(Register, Register),
    /// −a
    Neg(Register),
    /// a · b + c with one rounding
    Fma(Register, Register, Register),
    /// √a
    Sqrt(Register),
    /// a to the power b
    Pow(Register, Register),
    /// sin a; the cosine follows in the next register
    SinCos(Register),
    /// What an instruction before left for this register.
    Follow,
    /// A function of one argument.
    Call1(Elementary, Register),
    /// A function of two arguments; longer ones are chains of these.
    Call2(Elementary, Register, Register),
    /// b where a is not 0, else c; NaN where a is NaN
    Select(Register, Register, Register),
    /// Factors a matrix: by its place in [`Tape::matrices`].
    Factor(u32),
    /// x₀ of K x = r for a factored matrix: by the place in [`Tape::rights`]; the
    /// other components follow.
    Solve(u32),
    /// The first of functions restricted to a surface: by the place in [`Tape::restricted`]; the
    /// others follow.
    Restricted(u32),
}

// A tape is read from front to back at every call: small instructions are fast ones.
const _: () = assert!(size_of::<Instruction>() <= 16);

impl Instruction {
    /// What it does, apart from the registers: instructions of one kind can run in one loop.
    pub fn kind(&self) -> (u8, u8) {
        match *self {
            Instruction::Add(..) => (0, 0),
            Instruction::Sub(..) => (1, 0),
            Instruction::Mul(..) => (2, 0),
            Instruction::Div(..) => (3, 0),
            Instruction::Neg(_) => (4, 0),
            Instruction::Fma(..) => (5, 0),
            Instruction::Sqrt(_) => (6, 0),
            Instruction::Pow(..) => (7, 0),
            Instruction::SinCos(_) => (8, 0),
            Instruction::Follow => (9, 0),
            Instruction::Call1(f, _) => (10, f as u8),
            Instruction::Call2(f, ..) => (11, f as u8),
            Instruction::Select(..) => (12, 0),
            Instruction::Factor(_) => (13, 0),
            Instruction::Solve(_) => (14, 0),
            Instruction::Restricted(_) => (15, 0),
        }
    }

    /// The registers it names itself, and how many; those of a matrix or of a right side are
    /// not among them.
    pub fn operands(&self) -> ([Register; 3], usize) {
        match *self {
            Instruction::Add(a, b)
            | Instruction::Sub(a, b)
            | Instruction::Mul(a, b)
            | Instruction::Div(a, b)
            | Instruction::Pow(a, b)
            | Instruction::Call2(_, a, b) => ([a, b, 0], 2),
            Instruction::Fma(a, b, c) | Instruction::Select(a, b, c) => ([a, b, c], 3),
            Instruction::Neg(a)
            | Instruction::Sqrt(a)
            | Instruction::SinCos(a)
            | Instruction::Call1(_, a) => ([a, 0, 0], 1),
            Instruction::Follow
            | Instruction::Factor(_)
            | Instruction::Solve(_)
            | Instruction::Restricted(_) => ([0; 3], 0),
        }
    }

    /// The same on other registers.
    pub fn rename(self, of: &dyn Fn(Register) -> Register) -> Instruction {
        match self {
            Instruction::Add(a, b) => Instruction::Add(of(a), of(b)),
            Instruction::Sub(a, b) => Instruction::Sub(of(a), of(b)),
            Instruction::Mul(a, b) => Instruction::Mul(of(a), of(b)),
            Instruction::Div(a, b) => Instruction::Div(of(a), of(b)),
            Instruction::Neg(a) => Instruction::Neg(of(a)),
            Instruction::Fma(a, b, c) => Instruction::Fma(of(a), of(b), of(c)),
            Instruction::Sqrt(a) => Instruction::Sqrt(of(a)),
            Instruction::Pow(a, b) => Instruction::Pow(of(a), of(b)),
            Instruction::SinCos(a) => Instruction::SinCos(of(a)),
            Instruction::Call1(f, a) => Instruction::Call1(f, of(a)),
            Instruction::Call2(f, a, b) => Instruction::Call2(f, of(a), of(b)),
            Instruction::Select(a, b, c) => Instruction::Select(of(a), of(b), of(c)),
            other @ (Instruction::Follow
            | Instruction::Factor(_)
            | Instruction::Solve(_)
            | Instruction::Restricted(_)) => other,
        }
    }
}

/// A matrix of registers. Where it has no entry it is 0 whatever the inputs are, so that a
/// backend can leave out what such zeros make needless.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// How many rows and columns there are.
    pub size: usize,
    /// Its entries, row by row.
    pub entries: Vec<Entry>,
}

/// An entry of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
    /// Where its value is.
    pub register: Register,
}

/// A right side and the matrix it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Right {
    /// The matrix, by its place in [`Tape::matrices`].
    pub matrix: u32,
    /// The components.
    pub entries: Vec<Register>,
}

/// Functions restricted to a surface, and what they are functions of.
#[derive(Clone, Debug, PartialEq)]
pub struct Restricted {
    /// The functions.
    pub of: Arc<Restriction>,
    /// Their arguments.
    pub entries: Vec<Register>,
}

/// A computation, straight from inputs to outputs.
///
/// Registers in order: numbers, constants, variables, then one for each
/// instruction. The first instructions, up to [`Tape::prologue`], depend on numbers
/// and constants only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// Numbers.
    pub numbers: Vec<f64>,
    /// How many constants there are.
    pub constants: usize,
    /// How many variables there are.
    pub variables: usize,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// How many of them come before the variables are known.
    pub prologue: usize,
    /// Matrices of linear solves.
    pub matrices: Vec<Matrix>,
    /// Their right sides.
    pub rights: Vec<Right>,
    /// Functions restricted to surfaces.
    pub restricted: Vec<Restricted>,
    /// Registers of the outputs.
    pub outputs: Vec<Register>,
}

impl Tape {
    /// The register of the first constant.
    pub fn first_constant(&self) -> usize {
        self.numbers.len()
    }

    /// The register of the first variable.
    pub fn first_variable(&self) -> usize {
        self.numbers.len() + self.constants
    }

    /// The register of the first instruction.
    pub fn first_instruction(&self) -> usize {
        self.first_variable() + self.variables
    }

    /// How many registers there are.
    pub fn registers(&self) -> usize {
        self.first_instruction() + self.instructions.len()
    }

    /// Calls `visit` for each register an instruction reads.
    pub fn reads(&self, instruction: &Instruction, visit: &mut dyn FnMut(Register)) {
        match *instruction {
            Instruction::Factor(matrix) => {
                self.matrices[matrix as usize].entries.iter().for_each(|e| visit(e.register));
            }
            Instruction::Solve(right) => {
                self.rights[right as usize].entries.iter().for_each(|&r| visit(r));
            }
            Instruction::Restricted(at) => {
                self.restricted[at as usize].entries.iter().for_each(|&r| visit(r));
            }
            _ => {
                let (registers, count) = instruction.operands();
                registers[..count].iter().for_each(|&r| visit(r));
            }
        }
    }

    /// Puts other registers into everything.
    pub(crate) fn rename(&mut self, of: &dyn Fn(Register) -> Register) {
        for instruction in &mut self.instructions {
            *instruction = instruction.rename(of);
        }
        let entries = self.matrices.iter_mut().flat_map(|m| &mut m.entries);
        let rights = self.rights.iter_mut().flat_map(|r| &mut r.entries);
        let restricted = self.restricted.iter_mut().flat_map(|r| &mut r.entries);
        let entries = entries.map(|e| &mut e.register).chain(rights).chain(restricted);
        for register in entries.chain(&mut self.outputs) {
            *register = of(*register);
        }
    }
}
