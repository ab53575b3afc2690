//! The tape: instructions on registers, in the order of computation.

use dalembert_expr::Function as Elementary;

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
}

/// A matrix of registers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Rows and columns.
    pub size: usize,
    /// Its entries.
    pub entries: Vec<Register>,
}

/// A right side and the matrix it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Right {
    /// The matrix, by its place in [`Tape::matrices`].
    pub matrix: u32,
    /// The components.
    pub entries: Vec<Register>,
}

/// A computation, straight from inputs to outputs.
///
/// Registers in order: numbers, constants, variables, then one for each
/// instruction. The first instructions, up to [`Tape::prologue`], depend on numbers
/// and constants only.
#[derive(Clone, Debug, Default)]
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
            Instruction::Add(a, b)
            | Instruction::Sub(a, b)
            | Instruction::Mul(a, b)
            | Instruction::Div(a, b)
            | Instruction::Pow(a, b)
            | Instruction::Call2(_, a, b) => {
                visit(a);
                visit(b);
            }
            Instruction::Fma(a, b, c) | Instruction::Select(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            Instruction::Neg(a)
            | Instruction::Sqrt(a)
            | Instruction::SinCos(a)
            | Instruction::Call1(_, a) => visit(a),
            Instruction::Follow => {}
            Instruction::Factor(matrix) => {
                self.matrices[matrix as usize].entries.iter().for_each(|&r| visit(r));
            }
            Instruction::Solve(right) => {
                self.rights[right as usize].entries.iter().for_each(|&r| visit(r));
            }
        }
    }
}
