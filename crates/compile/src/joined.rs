//! Two computations as one, the second on results of the first.
//!
//! What both compute from the same registers is computed once: instructions are equal if they do
//! the same to the same registers, in either order where that makes no difference. Results are
//! those of the two tapes one after the other, to the bit.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function as Elementary;
use rustc_hash::FxHashMap;

/// Where a variable of the tape that follows comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// A variable of the first tape.
    Variable(usize),
    /// An output of the first tape.
    Output(usize),
    /// It is always this.
    Number(f64),
}

impl Tape {
    /// This tape, then another whose variables are given: the outputs of both. `None` if the other
    /// has constants or linear solves.
    pub fn followed_by(mut self, next: &Tape, variables: &[Given]) -> Option<Tape> {
        let is_plain = next.constants == 0
            && next.variables == variables.len()
            && next.matrices.is_empty()
            && next.restricted.is_empty();
        if !is_plain {
            return None;
        }
        let mut of: Vec<Register> = next.numbers.iter().map(|&x| self.number(x)).collect();
        for &given in variables {
            if let Given::Number(value) = given {
                self.number(value);
            }
        }
        for &given in variables {
            of.push(match given {
                Given::Variable(at) => (self.first_variable() + at) as Register,
                Given::Output(at) => self.outputs[at],
                Given::Number(value) => self.number(value),
            });
        }
        let first = self.first_instruction() as Register;
        let known = self.instructions.iter().zip(first..);
        let mut known: FxHashMap<Key, Register> =
            known.map(|(instruction, register)| (key(instruction), register)).collect();
        let (mut list, mut free) = (Vec::new(), self.registers() as Register);
        for instruction in &next.instructions {
            // What follows is where it is left by what it follows.
            if *instruction == Instruction::Follow {
                let before = *of.last()?;
                if before + 1 == free {
                    list.push(Instruction::Follow);
                    free += 1;
                }
                of.push(before + 1);
                continue;
            }
            let own = instruction.rename(&|r| of[r as usize]);
            let register = *known.entry(key(&own)).or_insert(free);
            if register == free {
                list.push(own);
                free += 1;
            }
            of.push(register);
        }
        self.outputs.extend(next.outputs.iter().map(|&r| of[r as usize]));
        self.append(list);
        self.pair_sines();
        Some(self)
    }

    /// A sine and a cosine of the same register become one instruction, at the place of the one that
    /// came first.
    fn pair_sines(&mut self) {
        let mut of: FxHashMap<Register, [Option<usize>; 2]> = FxHashMap::default();
        for (at, instruction) in self.instructions.iter().enumerate() {
            match *instruction {
                Instruction::Call1(Elementary::Sin, a) => of.entry(a).or_default()[0] = Some(at),
                Instruction::Call1(Elementary::Cos, a) => of.entry(a).or_default()[1] = Some(at),
                _ => {}
            }
        }
        let pairs: FxHashMap<usize, usize> = of
            .into_values()
            .filter_map(|[sin, cos]| Some((sin?, cos?)))
            .flat_map(|(sin, cos)| [(sin, cos), (cos, sin)])
            .collect();
        if pairs.is_empty() {
            return;
        }
        let (first, prologue) = (self.first_instruction(), self.prologue);
        let mut place: Vec<Register> = Vec::with_capacity(self.instructions.len());
        let old = std::mem::take(&mut self.instructions);
        for (at, instruction) in old.into_iter().enumerate() {
            if at == prologue {
                self.prologue = self.instructions.len();
            }
            let next = (first + self.instructions.len()) as Register;
            let is_cosine = matches!(instruction, Instruction::Call1(Elementary::Cos, _));
            match (pairs.get(&at), instruction) {
                (Some(&other), _) if other < at => {
                    place.push(if is_cosine { place[other] + 1 } else { place[other] - 1 });
                }
                (Some(_), Instruction::Call1(_, a)) => {
                    self.instructions.extend([Instruction::SinCos(a), Instruction::Follow]);
                    place.push(if is_cosine { next + 1 } else { next });
                }
                _ => {
                    self.instructions.push(instruction);
                    place.push(next);
                }
            }
        }
        self.rename(&|r| if (r as usize) < first { r } else { place[r as usize - first] });
    }
}

/// What an instruction does, and to what.
type Key = ((u8, u8), [Register; 3], u32);

fn key(instruction: &Instruction) -> Key {
    let (mut of, count) = instruction.operands();
    of[count..].fill(Register::MAX);
    match *instruction {
        Instruction::Add(..) | Instruction::Mul(..) | Instruction::Fma(..) => {
            of[..2].sort_unstable()
        }
        _ => {}
    }
    // Solves are told apart by their places, which `rename` leaves.
    let place = match *instruction {
        Instruction::Factor(at) | Instruction::Solve(at) | Instruction::Restricted(at) => at,
        _ => 0,
    };
    (instruction.kind(), of, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::{Backend, interpreter};

    fn run(tape: &Tape, x: &[f64]) -> Vec<f64> {
        let function = interpreter::BACKEND.compile(tape.clone());
        let mut scratch = function.scratch();
        function.prepare(&mut scratch, &[]);
        let mut y = vec![0.0; tape.outputs.len()];
        function.call(&mut scratch, x, &mut y);
        y
    }

    #[test]
    fn what_both_compute_is_computed_once() {
        use Instruction::{Add, Call1, Fma, Follow, Mul, SinCos, Sqrt};
        // Registers: the numbers, then x0 and x1, then instructions.
        let first = Tape {
            numbers: vec![2.0],
            variables: 2,
            instructions: vec![SinCos(1), Follow, Mul(0, 3), Add(2, 5)],
            outputs: vec![6, 4],
            ..Tape::default()
        };
        // Of a = x0, b = the first output, c = 0.5: sin a and cos a again, √b, a · 2 + c, 2 + 2.
        let second = Tape {
            numbers: vec![3.0, 2.0],
            variables: 3,
            instructions: vec![SinCos(2), Follow, Sqrt(3), Fma(1, 2, 4), Mul(0, 6), Add(1, 1)],
            outputs: vec![5, 6, 7, 8, 9, 10],
            ..Tape::default()
        };
        let given = [Given::Variable(0), Given::Output(0), Given::Number(0.5)];
        let joined = first.clone().followed_by(&second, &given).expect("plain");
        for x in [[0.3, 4.0], [-2.0, 5.5]] {
            let mut expected = run(&first, &x);
            expected.extend(run(&second, &[x[0], expected[0], 0.5]));
            assert_eq!(run(&joined, &x), expected);
        }
        let sines = joined.instructions.iter().filter(|i| matches!(i, SinCos(_))).count();
        assert_eq!(sines, 1);
        // What has no variables is found before they are known.
        assert_eq!(joined.prologue, 1);
        // A cosine here and a sine there are one instruction too.
        let cosine = Tape {
            variables: 2,
            instructions: vec![Call1(Elementary::Cos, 1), Mul(2, 0)],
            outputs: vec![3],
            ..Tape::default()
        };
        let sine = Tape {
            variables: 2,
            instructions: vec![Call1(Elementary::Sin, 1), Mul(2, 0)],
            outputs: vec![2, 3],
            ..Tape::default()
        };
        let given = [Given::Output(0), Given::Variable(1)];
        let both = cosine.clone().followed_by(&sine, &given).expect("plain");
        assert_eq!(both.instructions.len(), 4);
        assert!(matches!(both.instructions[0], SinCos(1)));
        let x = [3.0, 0.7];
        let own = run(&cosine, &x);
        assert_eq!(run(&both, &x), [own.clone(), run(&sine, &[own[0], x[1]])].concat());
        let given = [Given::Variable(0), Given::Output(0), Given::Number(0.5)];
        let other = Tape { constants: 1, ..second };
        assert!(first.followed_by(&other, &given).is_none());
    }
}
