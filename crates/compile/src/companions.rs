//! Companions: what the series of a function needs beside the function itself, as registers.
//!
//! The Taylor coefficients of y = f(a) follow one after the other from an equation between y′,
//! a′ and, for most functions, one more series c:
//!
//! | y | equation | c |
//! |---|---|---|
//! | sin a, sinh a, cosh a | y′ = c a′ | cos a, cosh a, sinh a |
//! | cos a | y′ = −c a′ | sin a |
//! | tan a, tanh a | y′ = c a′ | 1 + y², 1 − y² |
//! | asin a, acos a | c y′ = a′, c y′ = −a′ | √(1 − a²) |
//! | atan a | c y′ = a′ | 1 + a² |
//! | atan2(b, a) | c y′ = a b′ − b a′ | a² + b² |
//! | a to the power b | y′ = y c′ | b log a |
//!
//! The others need none: exp has y′ = y a′, log a y′ = a′, √a 2 y y′ = a′, a power whose exponent
//! is known ahead of the calls a y′ = b y a′; [`Instruction::SinCos`] has both of its own; and
//! what chooses between branches is one of them. Coefficient k of y takes those of c below k
//! only, so that c may come after y.
//!
//! Source: A. Griewank and A. Walther, Evaluating Derivatives (2008), chapter 13.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use rustc_hash::FxHashMap;

/// A tape with the companions of its instructions.
#[derive(Clone, Debug)]
pub struct Companions {
    /// The tape; what was added is at its end, and the outputs are those that it had.
    pub tape: Tape,
    /// The companion of each instruction, if it has one.
    pub of: Vec<Option<Register>>,
}

impl Companions {
    /// Adds what is not there yet. What is computed ahead of the calls has a constant series and
    /// gets no companions.
    pub fn new(mut tape: Tape) -> Companions {
        let one = one(&mut tape);
        let first = tape.first_instruction();
        let known = tape.instructions.iter().enumerate().filter(|(_, i)| i.operands().1 > 0);
        let known = known.map(|(at, i)| (key(i), (first + at) as Register)).collect();
        let mut adding = Adding {
            variables: tape.first_variable()..first,
            body: first + tape.prologue,
            instructions: tape.instructions.clone(),
            first,
            known,
        };
        let mut of = vec![None; tape.prologue];
        // Companions have companions: the sine beside a cosine that is added for it.
        while let Some(&instruction) = adding.instructions.get(of.len()) {
            let y = (first + of.len()) as Register;
            of.push(adding.companion(instruction, y, one));
        }
        tape.instructions = adding.instructions;
        Companions { tape, of }
    }
}

/// The register of the number 1; it is added if need be.
fn one(tape: &mut Tape) -> Register {
    let known = tape.numbers.iter().position(|&x| x == 1.0);
    let place = known.unwrap_or_else(|| {
        let place = tape.numbers.len();
        tape.rename(&|r| if r as usize >= place { r + 1 } else { r });
        tape.numbers.push(1.0);
        place
    });
    place as Register
}

type Key = ((u8, u8), [Register; 3]);

fn key(instruction: &Instruction) -> Key {
    (instruction.kind(), instruction.operands().0)
}

struct Adding {
    variables: std::ops::Range<usize>,
    /// The first register that depends on variables and is none.
    body: usize,
    instructions: Vec<Instruction>,
    first: usize,
    known: FxHashMap<Key, Register>,
}

impl Adding {
    fn emit(&mut self, instruction: Instruction) -> Register {
        let next = (self.first + self.instructions.len()) as Register;
        let register = *self.known.entry(key(&instruction)).or_insert(next);
        if register == next {
            self.instructions.push(instruction);
        }
        register
    }

    fn moves(&self, register: Register) -> bool {
        let register = register as usize;
        self.variables.contains(&register) || register >= self.body
    }

    /// The companion of what is in register `y`.
    fn companion(
        &mut self,
        instruction: Instruction,
        y: Register,
        one: Register,
    ) -> Option<Register> {
        Some(match instruction {
            Instruction::Call1(Function::Sin, a) => self.emit(Instruction::Call1(Function::Cos, a)),
            Instruction::Call1(Function::Cos, a) => self.emit(Instruction::Call1(Function::Sin, a)),
            Instruction::Call1(Function::Sinh, a) => {
                self.emit(Instruction::Call1(Function::Cosh, a))
            }
            Instruction::Call1(Function::Cosh, a) => {
                self.emit(Instruction::Call1(Function::Sinh, a))
            }
            Instruction::Call1(Function::Tan, _) => self.emit(Instruction::Fma(y, y, one)),
            Instruction::Call1(Function::Tanh, _) => {
                let square = self.emit(Instruction::Mul(y, y));
                self.emit(Instruction::Sub(one, square))
            }
            Instruction::Call1(Function::Asin | Function::Acos, a) => {
                let square = self.emit(Instruction::Mul(a, a));
                let rest = self.emit(Instruction::Sub(one, square));
                self.emit(Instruction::Sqrt(rest))
            }
            Instruction::Call1(Function::Atan, a) => self.emit(Instruction::Fma(a, a, one)),
            Instruction::Call2(Function::Atan2, b, a) => {
                let square = self.emit(Instruction::Mul(a, a));
                self.emit(Instruction::Fma(b, b, square))
            }
            Instruction::Pow(a, b) if self.moves(b) => {
                let log = self.emit(Instruction::Call1(Function::Log, a));
                self.emit(Instruction::Mul(b, log))
            }
            _ => return None,
        })
    }
}
