//! Equations with a diagonal matrix under sparse rows, by instructions of the tape that computes
//! their terms, up to a matrix over the rows that somebody else factors.
//!
//! ```text
//! G x = f + g + Aᵀλ ,   A x = b ,   G diagonal
//! u = G⁻¹(f + g) ,   W = A G⁻¹ ,   S = A Wᵀ ,   r = b − A u ,   S λ = r ,   x = u + Wᵀλ
//! ```
//!
//! S and r are the first outputs; λ are further variables, of which the others are functions. The
//! operations are written down such that whoever does the same elsewhere has the same bits: a sum
//! begins with its first product and takes the others one after the other, fused; x takes the rows in
//! their order. What is 0 by structure is not computed with.

use crate::tape::{Instruction, Register, Tape};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A problem by the outputs of a tape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseProblem {
    /// The diagonal of G.
    pub diagonal: Vec<usize>,
    /// f and g.
    pub right: Vec<[usize; 2]>,
    /// The entries of A, row by row: unknowns and outputs; and where the rows end.
    pub entries: Vec<(usize, usize)>,
    /// Where each row ends among them.
    pub ends: Vec<usize>,
    /// b.
    pub bias: Vec<usize>,
    /// The entries of S as sums of products: of an entry of A and an entry of W, by their places
    /// among the entries.
    pub products: Vec<(u32, u32)>,
    /// Where those of each entry of S begin, and their end.
    pub products_at: Vec<u32>,
    /// What λ of rows are multiplied by and added to the last output: rows and outputs, in the order
    /// in which these are summed up.
    pub weights: Vec<(usize, usize)>,
    /// Outputs that are kept, ahead of x.
    pub kept: Range<usize>,
    /// The output behind it.
    pub last: usize,
}

impl SparseProblem {
    /// How many outputs come before λ is known: S, then r.
    pub fn early(&self) -> usize {
        self.products_at.len().saturating_sub(1) + self.bias.len()
    }
}

impl Tape {
    /// A tape with S and r of a problem as its first outputs, and behind these, as functions of λ
    /// too, the outputs that are kept, x, and one more.
    pub fn reduced(mut self, problem: &SparseProblem) -> Tape {
        let rows = problem.bias.len();
        let [zero, one] = [0.0, 1.0].map(|value| self.number(value));
        let first = self.first_instruction() as Register;
        let added = rows as Register;
        self.rename(&|r| if r >= first { r + added } else { r });
        self.variables += rows;
        let mut writer = Writer {
            next: self.registers() as Register,
            list: Vec::new(),
            zero,
            one,
            inverses: FxHashMap::default(),
        };
        let output = |at: usize| self.outputs[at];
        let inverse: Vec<Register> = {
            let masses = problem.diagonal.iter().map(|&at| output(at));
            masses.map(|mass| writer.inverse(mass)).collect()
        };
        let u: Vec<Register> = problem
            .right
            .iter()
            .zip(&inverse)
            .map(|(&[f, g], &inverse)| {
                let force = writer.add(output(f), output(g));
                writer.multiply(force, inverse)
            })
            .collect();
        let a: Vec<Register> = problem.entries.iter().map(|&(_, at)| output(at)).collect();
        let w: Vec<Register> = problem
            .entries
            .iter()
            .zip(&a)
            .map(|(&(i, _), &a)| writer.multiply(a, inverse[i]))
            .collect();
        let mut outputs = Vec::with_capacity(problem.early() + u.len());
        for ends in problem.products_at.windows(2) {
            let products = &problem.products[ends[0] as usize..ends[1] as usize];
            outputs.push(writer.sum(products.iter().map(|&(x, y)| (a[x as usize], w[y as usize]))));
        }
        let mut start = 0;
        for (&end, &bias) in problem.ends.iter().zip(&problem.bias) {
            let own = (start..end).map(|at| (a[at], u[problem.entries[at].0]));
            let moved = writer.sum(own);
            outputs.push(writer.subtract(output(bias), moved));
            start = end;
        }
        let lambda = |row: usize| first + row as Register;
        let mut x = u;
        let mut start = 0;
        for (row, &end) in problem.ends.iter().enumerate() {
            for (&(i, _), &w) in problem.entries[start..end].iter().zip(&w[start..end]) {
                x[i] = writer.fused(w, lambda(row), x[i]);
            }
            start = end;
        }
        let mut work = zero;
        for &(row, at) in &problem.weights {
            let product = writer.multiply(output(at), lambda(row));
            work = writer.add(work, product);
        }
        let last = writer.add(output(problem.last), work);
        outputs.extend_from_slice(&self.outputs[problem.kept.clone()]);
        outputs.extend(x);
        outputs.push(last);
        self.outputs = outputs;
        self.append(writer.list);
        self.sweep();
        self
    }
}

/// Instructions that are being added.
struct Writer {
    next: Register,
    list: Vec<Instruction>,
    zero: Register,
    one: Register,
    inverses: FxHashMap<Register, Register>,
}

impl Writer {
    fn emit(&mut self, instruction: Instruction) -> Register {
        self.list.push(instruction);
        self.next += 1;
        self.next - 1
    }

    fn inverse(&mut self, mass: Register) -> Register {
        if mass == self.one {
            return mass;
        }
        if let Some(&known) = self.inverses.get(&mass) {
            return known;
        }
        let inverse = self.emit(Instruction::Div(self.one, mass));
        self.inverses.insert(mass, inverse);
        inverse
    }

    fn add(&mut self, a: Register, b: Register) -> Register {
        match (a == self.zero, b == self.zero) {
            (true, _) => b,
            (_, true) => a,
            _ => self.emit(Instruction::Add(a, b)),
        }
    }

    fn subtract(&mut self, a: Register, b: Register) -> Register {
        if b == self.zero { a } else { self.emit(Instruction::Sub(a, b)) }
    }

    fn multiply(&mut self, a: Register, b: Register) -> Register {
        match (a, b) {
            (a, b) if a == self.zero || b == self.zero => self.zero,
            (a, b) if b == self.one => a,
            (a, b) => self.emit(Instruction::Mul(a, b)),
        }
    }

    /// a · b + c with one rounding.
    fn fused(&mut self, a: Register, b: Register, c: Register) -> Register {
        match (a, b, c) {
            (a, b, c) if a == self.zero || b == self.zero => c,
            (a, b, c) if c == self.zero => self.multiply(a, b),
            (a, b, c) => self.emit(Instruction::Fma(a, b, c)),
        }
    }

    fn sum(&mut self, products: impl Iterator<Item = (Register, Register)>) -> Register {
        let mut sum = self.zero;
        for (a, b) in products {
            sum = self.fused(a, b, sum);
        }
        sum
    }
}
