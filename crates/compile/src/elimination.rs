//! Linear equations with a symmetric matrix, solved by instructions of the tape that computes them.
//!
//! ```text
//! W = D U      W_ij = K_ij − Σ_{k<i} U_ki W_kj ,   U_ki = W_ki / W_kk
//! y = U⁻ᵀg ,   x_i = y_i / W_ii − Σ_{j>i} U_ij x_j
//! ```
//!
//! A small matrix is done with in fewer operations than it takes to hand it to somebody else: its
//! entries stay in registers, and what is 0 by structure is not computed with. Nothing is
//! exchanged; that the order serves is known from elsewhere, and watched: where a pivot is less
//! than a given part of its K_ii, the last output is no number.
//!
//! An entry takes its products one after the other, k by k, fused; x those of the largest j first.
//! Whoever does the same elsewhere has the same bits.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use std::ops::Range;

/// Equations K x = f + g, by the outputs of a tape.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    /// For each row, the columns of its entries from the diagonal on, and their outputs. Where
    /// there is none K is 0.
    pub rows: Vec<Vec<(usize, usize)>>,
    /// The outputs of f and of g.
    pub right: Vec<[usize; 2]>,
    /// Outputs that are kept, ahead of x.
    pub kept: Range<usize>,
    /// The output behind x, which is no number where a pivot has fallen.
    pub last: usize,
}

impl Tape {
    /// A tape with some of the outputs, the solution of equations between others, and one more that
    /// is no number where a pivot W_ii is below the part of |K_ii| that a constant says: one for
    /// each row, behind those that there are.
    pub fn solved(mut self, equations: &Symmetric) -> Tape {
        let size = equations.rows.len();
        let minus_one = self.number(-1.0);
        let first_part = self.first_variable() as Register;
        self.rename(&|r| if r >= first_part { r + size as Register } else { r });
        self.constants += size;
        let output = |tape: &Tape, at: usize| tape.outputs[at];
        let mut adding = Adding { next: self.registers() as Register, list: Vec::new() };
        let mut w: Vec<Vec<Option<Register>>> = vec![vec![None; size]; size];
        for (own, row) in w.iter_mut().zip(&equations.rows) {
            row.iter().for_each(|&(column, at)| own[column] = Some(output(&self, at)));
        }
        let mut y: Vec<Register> = Vec::with_capacity(size);
        for &[f, g] in &equations.right {
            y.push(adding.emit(Instruction::Add(output(&self, f), output(&self, g))));
        }
        // −U above the diagonal, and the inverses of D.
        let mut u: Vec<Vec<Option<Register>>> = vec![vec![None; size]; size];
        let (mut inverses, mut fallen) = (Vec::with_capacity(size), None);
        for i in 0..size {
            let whole = w[i][i];
            let (above, here) = w.split_at_mut(i);
            for (k, row) in above.iter().enumerate() {
                let Some(by) = u[k][i] else { continue };
                for j in i..size {
                    let Some(other) = row[j] else { continue };
                    here[0][j] = Some(match here[0][j] {
                        Some(own) => adding.emit(Instruction::Fma(by, other, own)),
                        None => adding.emit(Instruction::Mul(by, other)),
                    });
                }
                y[i] = adding.emit(Instruction::Fma(by, y[k], y[i]));
            }
            // A pivot that is 0 by structure is 0: −1 divided by nothing is no number either.
            let pivot =
                here[0][i].unwrap_or_else(|| adding.emit(Instruction::Sub(minus_one, minus_one)));
            let inverse = adding.emit(Instruction::Div(minus_one, pivot));
            for j in i + 1..size {
                u[i][j] = here[0][j].map(|own| adding.emit(Instruction::Mul(own, inverse)));
            }
            inverses.push(adding.emit(Instruction::Neg(inverse)));
            let part = first_part + i as Register;
            let margin = match whole {
                Some(whole) => {
                    let size = adding.emit(Instruction::Call1(Function::Abs, whole));
                    let least = adding.emit(Instruction::Mul(part, size));
                    adding.emit(Instruction::Sub(pivot, least))
                }
                None => pivot,
            };
            // |m| − m is 0 unless m is negative.
            let size = adding.emit(Instruction::Call1(Function::Abs, margin));
            let below = adding.emit(Instruction::Sub(size, margin));
            fallen = Some(match fallen {
                Some(sum) => adding.emit(Instruction::Add(sum, below)),
                None => below,
            });
        }
        let mut x = y;
        for i in (0..size).rev() {
            x[i] = adding.emit(Instruction::Mul(x[i], inverses[i]));
            for j in (i + 1..size).rev() {
                if let Some(by) = u[i][j] {
                    x[i] = adding.emit(Instruction::Fma(by, x[j], x[i]));
                }
            }
        }
        let mut last = output(&self, equations.last);
        if let Some(fallen) = fallen {
            let negative = adding.emit(Instruction::Neg(fallen));
            let nothing = adding.emit(Instruction::Sqrt(negative));
            last = adding.emit(Instruction::Add(last, nothing));
        }
        self.outputs = self.outputs[equations.kept.clone()].iter().copied().chain(x).collect();
        self.outputs.push(last);
        self.append(adding.list);
        self
    }

    /// The register of a number, which is added if need be.
    fn number(&mut self, value: f64) -> Register {
        let known = self.numbers.iter().position(|x| x.to_bits() == value.to_bits());
        let place = known.unwrap_or_else(|| {
            let place = self.numbers.len() as Register;
            self.rename(&|r| if r >= place { r + 1 } else { r });
            self.numbers.push(value);
            place as usize
        });
        place as Register
    }

    /// Adds instructions at the end; those without variables go to the end of the prologue.
    fn append(&mut self, list: Vec<Instruction>) {
        let (first, old, count) =
            (self.first_instruction(), self.instructions.len(), self.prologue);
        let variables = self.first_variable()..first;
        let mut moves: Vec<bool> = (0..old).map(|at| at >= count).collect();
        for instruction in &list {
            let (registers, operands) = instruction.operands();
            let is_moving = |&r: &Register| {
                let at = r as usize;
                variables.contains(&at) || (at >= first && moves[at - first])
            };
            let own = registers[..operands].iter().any(is_moving);
            moves.push(own);
        }
        let still: Vec<usize> = (old..moves.len()).filter(|&at| !moves[at]).collect();
        let moved = (old..moves.len()).filter(|&at| moves[at]);
        let order: Vec<usize> =
            (0..count).chain(still.iter().copied()).chain(count..old).chain(moved).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = (first + new) as Register);
        self.instructions.extend(list);
        self.instructions = order.iter().map(|&at| self.instructions[at]).collect();
        self.prologue += still.len();
        self.rename(&|r| if (r as usize) < first { r } else { place[r as usize - first] });
    }
}

/// Instructions that are being added.
struct Adding {
    next: Register,
    list: Vec<Instruction>,
}

impl Adding {
    fn emit(&mut self, instruction: Instruction) -> Register {
        self.list.push(instruction);
        self.next += 1;
        self.next - 1
    }
}
