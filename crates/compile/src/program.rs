//! A tape made ready for an interpreter, and its one run over any kind of values.
//!
//! Instructions of one kind stand together and run in one loop; registers share places when
//! their values are no longer wanted.

use crate::group;
use crate::liveness::Slots;
use crate::tape::{Instruction, Matrix, Register, Restricted, Right, Tape};
use crate::values::Values;

/// A tape in the order in which it is run, on shared places.
#[derive(Clone, Debug)]
pub struct Program {
    numbers: Vec<f64>,
    constants: usize,
    variables: usize,
    slots: usize,
    rows: Vec<Row>,
    /// How many rows come before the variables are known.
    prologue: usize,
    /// Of each instruction the place it writes, then those it reads. [`Instruction::SinCos`]
    /// writes the last one too; of a factorization, a solution or restricted functions the second is
    /// its number.
    operands: Vec<[u32; 4]>,
    matrices: Vec<Matrix>,
    rights: Vec<Right>,
    /// The places of the solutions for each right side.
    solutions: Vec<Vec<u32>>,
    restricted: Vec<Restricted>,
    /// The places of the values of each of them.
    values: Vec<Vec<u32>>,
    outputs: Vec<u32>,
}

/// Instructions of one kind, one after the other.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// One of them.
    like: Instruction,
    start: u32,
    end: u32,
}

/// The registers and factored matrices of a run.
pub struct Room<V: Values> {
    registers: Vec<V::Value>,
    factors: Vec<V::Factors>,
}

impl<V: Values> Clone for Room<V> {
    fn clone(&self) -> Room<V> {
        Room { registers: self.registers.clone(), factors: self.factors.clone() }
    }
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What depends on numbers and constants only.
    Prologue,
    /// The rest.
    Body,
}

impl Program {
    /// Makes a tape ready.
    pub fn new(tape: &Tape) -> Program {
        let order = group::by_kind(tape);
        let Slots { of, count } = Slots::new(tape, &order);
        let place = |r: Register| of[r as usize];
        let first = tape.first_instruction();
        let mut solutions: Vec<Vec<u32>> = vec![Vec::new(); tape.rights.len()];
        let mut values: Vec<Vec<u32>> = vec![Vec::new(); tape.restricted.len()];
        let mut operands: Vec<[u32; 4]> = Vec::with_capacity(order.len());
        let mut rows: Vec<Row> = Vec::new();
        let mut prologue = 0;
        for part in [&order[..tape.prologue], &order[tape.prologue..]] {
            prologue = rows.len();
            for &at in part {
                let instruction = tape.instructions[at];
                let into = of[first + at];
                let ([a, b, c], _) = instruction.rename(&place).operands();
                operands.push(match instruction {
                    Instruction::Follow => continue,
                    Instruction::SinCos(_) => [into, a, of[first + at + 1], 0],
                    Instruction::Factor(matrix) => [into, matrix, 0, 0],
                    Instruction::Solve(right) => {
                        let size = tape.rights[right as usize].entries.len();
                        solutions[right as usize] = of[first + at..first + at + size].to_vec();
                        [into, right, 0, 0]
                    }
                    Instruction::Restricted(number) => {
                        let size = tape.restricted[number as usize].of.len();
                        values[number as usize] = of[first + at..first + at + size].to_vec();
                        [into, number, 0, 0]
                    }
                    _ => [into, a, b, c],
                });
                let end = operands.len() as u32;
                match rows[prologue..].last_mut() {
                    Some(row) if row.like.kind() == instruction.kind() => row.end = end,
                    _ => rows.push(Row { like: instruction, start: end - 1, end }),
                }
            }
        }
        let mut renamed = tape.clone();
        renamed.rename(&place);
        Program {
            numbers: renamed.numbers,
            constants: tape.constants,
            variables: tape.variables,
            slots: count,
            rows,
            prologue,
            operands,
            matrices: renamed.matrices,
            rights: renamed.rights,
            solutions,
            restricted: renamed.restricted,
            values,
            outputs: renamed.outputs,
        }
    }

    /// How many constants it takes.
    pub fn constants(&self) -> usize {
        self.constants
    }

    /// How many variables it takes.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// How many values it yields.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How many places its registers share.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether a room has as many registers and matrices as this program takes.
    pub(crate) fn fits<V: Values>(&self, room: &Room<V>) -> bool {
        room.registers.len() == self.slots && room.factors.len() == self.matrices.len()
    }

    /// Room for runs over values of a kind.
    pub fn room<V: Values>(&self, values: &V) -> Room<V> {
        let mut registers = vec![values.number(0.0); self.slots];
        for (place, &number) in registers.iter_mut().zip(&self.numbers) {
            *place = values.number(number);
        }
        let factors = self.matrices.iter().map(|m| values.factors(m.size)).collect();
        Room { registers, factors }
    }

    /// Sets the constants and computes what depends on them only. Comes before the first call.
    pub fn prepare<V: Values>(&self, values: &V, room: &mut Room<V>, constants: &[V::Value]) {
        let places = self.constants_in(room).iter_mut();
        places.zip(constants).for_each(|(place, value)| *place = value.clone());
        self.run(values, room, Part::Prologue);
    }

    /// Computes the outputs `y` of the variables `x`.
    pub fn call<V: Values>(
        &self,
        values: &V,
        room: &mut Room<V>,
        x: &[V::Value],
        y: &mut [V::Value],
    ) {
        let places = self.variables_in(room).iter_mut();
        places.zip(x).for_each(|(place, value)| *place = value.clone());
        self.run(values, room, Part::Body);
        y.iter_mut().zip(self.results(room)).for_each(|(place, value)| *place = value.clone());
    }

    /// Where the constants are.
    pub(crate) fn constants_in<'a, V: Values>(&self, room: &'a mut Room<V>) -> &'a mut [V::Value] {
        &mut room.registers[self.numbers.len()..][..self.constants]
    }

    /// Where the variables are.
    pub(crate) fn variables_in<'a, V: Values>(&self, room: &'a mut Room<V>) -> &'a mut [V::Value] {
        &mut room.registers[self.numbers.len() + self.constants..][..self.variables]
    }

    /// The outputs of the last call.
    #[inline(always)]
    pub(crate) fn results<'a, V: Values>(
        &'a self,
        room: &'a Room<V>,
    ) -> impl Iterator<Item = &'a V::Value> {
        self.outputs.iter().map(|&r| &room.registers[r as usize])
    }

    /// Runs a part. Inlined, so that a backend can have it made for a processor's instructions.
    #[inline(always)]
    pub(crate) fn run<V: Values>(&self, values: &V, room: &mut Room<V>, part: Part) {
        let (prologue, body) = self.rows.split_at(self.prologue);
        let Room { registers, factors } = room;
        for row in if part == Part::Prologue { prologue } else { body } {
            let operands = &self.operands[row.start as usize..row.end as usize];
            // Each arm is a loop of its own.
            macro_rules! each {
                (|$a:ident| $value:expr) => {
                    for &[into, a, ..] in operands {
                        let $a = &registers[a as usize];
                        registers[into as usize] = $value;
                    }
                };
                (|$a:ident, $b:ident| $value:expr) => {
                    for &[into, a, b, _] in operands {
                        let ($a, $b) = (&registers[a as usize], &registers[b as usize]);
                        registers[into as usize] = $value;
                    }
                };
                (|$a:ident, $b:ident, $c:ident| $value:expr) => {
                    for &[into, a, b, c] in operands {
                        let ($a, $b) = (&registers[a as usize], &registers[b as usize]);
                        let $c = &registers[c as usize];
                        registers[into as usize] = $value;
                    }
                };
            }
            match row.like {
                Instruction::Add(..) => each!(|a, b| values.add(a, b)),
                Instruction::Sub(..) => each!(|a, b| values.sub(a, b)),
                Instruction::Mul(..) => each!(|a, b| values.mul(a, b)),
                Instruction::Div(..) => each!(|a, b| values.div(a, b)),
                Instruction::Neg(_) => each!(|a| values.neg(a)),
                Instruction::Fma(..) => each!(|a, b, c| values.fma(a, b, c)),
                Instruction::Sqrt(_) => each!(|a| values.sqrt(a)),
                Instruction::Pow(..) => each!(|a, b| values.pow(a, b)),
                Instruction::SinCos(_) => {
                    for &[sin, a, cos, _] in operands {
                        let both = values.sin_cos(&registers[a as usize]);
                        registers[sin as usize] = both.0;
                        registers[cos as usize] = both.1;
                    }
                }
                Instruction::Call1(f, _) => each!(|a| values.call1(f, a)),
                Instruction::Call2(f, ..) => each!(|a, b| values.call2(f, a, b)),
                Instruction::Select(..) => each!(|c, a, b| values.select(c, a, b)),
                Instruction::Factor(_) => {
                    for &[_, matrix, ..] in operands {
                        let matrix = matrix as usize;
                        values.factor(&mut factors[matrix], &self.matrices[matrix], registers);
                    }
                }
                Instruction::Solve(_) => {
                    for &[_, right, ..] in operands {
                        let Right { matrix, entries } = &self.rights[right as usize];
                        let factors = &mut factors[*matrix as usize];
                        values.solve(factors, entries, registers);
                        for (i, &into) in self.solutions[right as usize].iter().enumerate() {
                            registers[into as usize] = values.component(factors, i);
                        }
                    }
                }
                Instruction::Restricted(_) => {
                    for &[_, number, ..] in operands {
                        let Restricted { of, entries } = &self.restricted[number as usize];
                        let found = values.restricted(of, entries, registers);
                        for (&into, value) in self.values[number as usize].iter().zip(found) {
                            registers[into as usize] = value;
                        }
                    }
                }
                Instruction::Follow => {}
            }
        }
    }
}
