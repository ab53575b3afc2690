//! Expressions to a tape: an arithmetic whose numbers are registers.

use crate::fuse::{self, CONSTANT, NUMBER, PLACE, TEMPORARY, VARIABLE};
use crate::tape::{Entry, Instruction, Matrix, Register, Restricted, Right, Tape};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{ExprId, Exprs, Function, Number, Restriction, Symbol};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// The largest integer power that is written out as products. What rounding does to a
/// product of n equal factors grows with n, so larger ones are left to `pow`.
const WRITTEN_OUT: u64 = 64;

impl Tape {
    /// Lowers expressions to a tape. Symbols that are neither constants nor
    /// variables are NaN; π is known.
    pub fn lower(
        exprs: &Exprs,
        roots: &[ExprId],
        constants: &[Symbol],
        variables: &[Symbol],
    ) -> Tape {
        let mut places: FxHashMap<Symbol, Register> = FxHashMap::default();
        for (kind, list) in [(CONSTANT, constants), (VARIABLE, variables)] {
            for (at, &symbol) in list.iter().enumerate() {
                places.insert(symbol, kind | at as u32);
            }
        }
        let lowering = Lowering::default();
        let outputs = exprs.evaluate(&lowering, roots, |symbol| {
            places.get(&symbol).copied().unwrap_or_else(|| lowering.float(f64::NAN))
        });
        let draft = lowering.draft.into_inner();
        let tape = Tape {
            numbers: draft.numbers,
            constants: constants.len(),
            variables: variables.len(),
            instructions: draft.instructions,
            prologue: 0,
            matrices: draft.matrices,
            rights: draft.rights,
            restricted: draft.restricted,
            outputs,
        };
        fuse::finish(tape)
    }
}

#[derive(Default)]
struct Draft {
    numbers: Vec<f64>,
    by_bits: FxHashMap<u64, Register>,
    instructions: Vec<Instruction>,
    known: FxHashMap<Key, Register>,
    matrices: Vec<Matrix>,
    by_entries: FxHashMap<Vec<Register>, u32>,
    rights: Vec<Right>,
    restricted: Vec<Restricted>,
}

/// An instruction as a table key.
type Key = ((u8, u8), [Register; 3]);

#[derive(Default)]
struct Lowering {
    draft: RefCell<Draft>,
}

impl Lowering {
    fn float(&self, value: f64) -> Register {
        let draft = &mut *self.draft.borrow_mut();
        *draft.by_bits.entry(value.to_bits()).or_insert_with(|| {
            draft.numbers.push(value);
            NUMBER | (draft.numbers.len() - 1) as u32
        })
    }

    /// Emits an instruction, or finds the one that computes the same.
    fn emit(&self, instruction: Instruction) -> Register {
        let draft = &mut *self.draft.borrow_mut();
        let key = key(&instruction);
        if let Some(&register) = key.as_ref().and_then(|k| draft.known.get(k)) {
            return register;
        }
        let register = TEMPORARY | draft.instructions.len() as u32;
        draft.instructions.push(instruction);
        if let Some(key) = key {
            draft.known.insert(key, register);
        }
        register
    }

    /// Emits an instruction that leaves several values.
    fn emit_group(&self, instruction: Instruction, values: usize) -> Vec<Register> {
        let first = self.emit(instruction);
        let rest = (1..values).map(|_| self.emit(Instruction::Follow));
        std::iter::once(first).chain(rest).take(values).collect()
    }

    fn value(&self, register: Register) -> Option<f64> {
        let draft = self.draft.borrow();
        (register & !PLACE == NUMBER).then(|| draft.numbers[(register & PLACE) as usize])
    }

    /// xⁿ by repeated squares, the binary digits of n from the lowest up, and one
    /// reciprocal for a negative n. The order is fixed, so the bits are the same in every
    /// backend; it is the one in which compilers write out `powi`. Powers of one base
    /// share their squares.
    fn integer_power(&self, base: Register, n: i64) -> Register {
        let mut digits = n.unsigned_abs();
        let mut square = base;
        let mut product = None;
        while digits > 0 {
            if digits & 1 == 1 {
                product = Some(match product {
                    Some(product) => self.mul(&product, &square),
                    None => square,
                });
            }
            digits >>= 1;
            if digits > 0 {
                square = self.mul(&square, &square);
            }
        }
        let one = self.float(1.0);
        let product = product.unwrap_or(one);
        if n < 0 { self.emit(Instruction::Div(one, product)) } else { product }
    }

    fn chain(&self, function: Function, x: &[Register]) -> Register {
        let mut rest = x.iter().copied();
        let first = rest.next().unwrap_or_else(|| self.float(f64::NAN));
        rest.fold(first, |a, b| self.emit(Instruction::Call2(function, a, b)))
    }
}

/// None for what comes in groups and is never the same twice.
fn key(instruction: &Instruction) -> Option<Key> {
    let (mut registers, count) = instruction.operands();
    match instruction {
        Instruction::SinCos(_) => return None,
        // Registers of sums and products have no order.
        Instruction::Add(..) | Instruction::Mul(..) => registers[..2].sort_unstable(),
        _ if count == 0 => return None,
        _ => {}
    }
    Some((instruction.kind(), registers))
}

impl Arithmetic for Lowering {
    type Value = Register;

    fn number(&self, number: &Number) -> Register {
        self.float(number.to_f64())
    }

    fn pi(&self) -> Register {
        self.float(std::f64::consts::PI)
    }

    fn add(&self, a: &Register, b: &Register) -> Register {
        match (self.value(*a), self.value(*b)) {
            (Some(x), Some(y)) => self.float(x + y),
            (Some(0.0), _) => *b,
            (_, Some(0.0)) => *a,
            _ => self.emit(Instruction::Add(*a, *b)),
        }
    }

    fn mul(&self, a: &Register, b: &Register) -> Register {
        match (self.value(*a), self.value(*b)) {
            (Some(x), Some(y)) => self.float(x * y),
            (Some(1.0), _) => *b,
            (_, Some(1.0)) => *a,
            (Some(-1.0), _) => self.emit(Instruction::Neg(*b)),
            (_, Some(-1.0)) => self.emit(Instruction::Neg(*a)),
            _ => self.emit(Instruction::Mul(*a, *b)),
        }
    }

    fn power(&self, base: &Register, exponent: &Number) -> Register {
        match exponent.as_small() {
            Some((n, 1)) if n.unsigned_abs() <= WRITTEN_OUT => self.integer_power(*base, n),
            Some((n, 2)) if n.unsigned_abs() <= WRITTEN_OUT => {
                self.integer_power(self.emit(Instruction::Sqrt(*base)), n)
            }
            _ => self.emit(Instruction::Pow(*base, self.float(exponent.to_f64()))),
        }
    }

    fn pow(&self, base: &Register, exponent: &Register) -> Register {
        self.emit(Instruction::Pow(*base, *exponent))
    }

    fn call(&self, function: Function, x: &[Register]) -> Register {
        match (function, x) {
            (Function::If, [c, a, b]) => self.emit(Instruction::Select(*c, *a, *b)),
            (Function::Min | Function::Max | Function::And | Function::Or, _) => {
                self.chain(function, x)
            }
            (_, [a]) => self.emit(Instruction::Call1(function, *a)),
            (_, [a, b]) => self.emit(Instruction::Call2(function, *a, *b)),
            _ => self.float(f64::NAN),
        }
    }

    fn solve(&self, k: &[Register], r: &[Register]) -> Vec<Register> {
        let known = self.draft.borrow().by_entries.get(k).copied();
        let matrix = known.unwrap_or_else(|| {
            let size = r.len();
            let entries = k.iter().enumerate().filter(|(_, e)| self.value(**e) != Some(0.0));
            let entry = |(at, &register): (usize, &Register)| Entry {
                row: (at / size) as u32,
                column: (at % size) as u32,
                register,
            };
            let entries = entries.map(entry).collect();
            let draft = &mut *self.draft.borrow_mut();
            draft.matrices.push(Matrix { size, entries });
            let matrix = (draft.matrices.len() - 1) as u32;
            draft.by_entries.insert(k.to_vec(), matrix);
            matrix
        });
        if known.is_none() {
            self.emit(Instruction::Factor(matrix));
        }
        let right = {
            let draft = &mut *self.draft.borrow_mut();
            draft.rights.push(Right { matrix, entries: r.to_vec() });
            (draft.rights.len() - 1) as u32
        };
        self.emit_group(Instruction::Solve(right), r.len())
    }

    fn restricted(&self, of: &Arc<Restriction>, arguments: &[Register]) -> Vec<Register> {
        let at = {
            let draft = &mut *self.draft.borrow_mut();
            draft.restricted.push(Restricted { of: Arc::clone(of), entries: arguments.to_vec() });
            (draft.restricted.len() - 1) as u32
        };
        self.emit_group(Instruction::Restricted(at), of.len())
    }
}
