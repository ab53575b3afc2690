//! How long the value of a register is wanted, and places that registers can share.
//!
//! A tape writes each register once, which is what a backend that allocates machine
//! registers, or keeps a whole series in each, wants to read. A backend that keeps one number
//! for each needs far fewer places: a linear scan gives a place back after the last read.

use crate::tape::{Instruction, Register, Tape};

/// A register that is wanted to the end: of an output, or computed ahead of the calls and read
/// in them.
pub const KEPT: usize = usize::MAX;

impl Tape {
    /// For each register the last place in `order` that reads it, or [`KEPT`]; for one that
    /// nothing reads, the place that writes it (0 for an input). `order` lists instructions,
    /// each after what it reads, with those of the prologue first.
    pub fn last_reads(&self, order: &[usize]) -> Vec<usize> {
        let first = self.first_instruction();
        let mut last = vec![0; self.registers()];
        for (place, &at) in order.iter().enumerate() {
            last[first + at] = place;
            self.reads(&self.instructions[at], &mut |r| last[r as usize] = place);
        }
        for &at in &order[..self.prologue] {
            if last[first + at] >= self.prologue {
                last[first + at] = KEPT;
            }
        }
        // Numbers and constants are there before the first call and at every later one.
        last[..self.first_variable()].fill(KEPT);
        self.outputs.iter().for_each(|&r| last[r as usize] = KEPT);
        last
    }
}

/// A place for each register, such that no two that are wanted at once share one. Numbers,
/// constants and variables have the places of their own numbers.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The place of each register. A [`Instruction::Factor`] has none: `u32::MAX`.
    pub of: Vec<u32>,
    /// How many places there are.
    pub count: usize,
}

impl Slots {
    /// Places for a tape whose instructions run in `order`, each followed by its
    /// [`Instruction::Follow`]s. An instruction may write where it reads.
    pub fn new(tape: &Tape, order: &[usize]) -> Slots {
        let first = tape.first_instruction();
        let mut last = tape.last_reads(order);
        let mut of: Vec<u32> = (0..first as u32).collect();
        of.resize(tape.registers(), u32::MAX);
        let mut count = first;
        let mut free: Vec<u32> = Vec::new();
        // What was written and is never read; its place is free once the whole group has one.
        let mut unread: Vec<Register> = Vec::new();
        for (place, &at) in order.iter().enumerate() {
            let instruction = tape.instructions[at];
            if instruction != Instruction::Follow {
                free.extend(unread.drain(..).map(|r| of[r as usize]));
            }
            tape.reads(&instruction, &mut |r| {
                if last[r as usize] == place {
                    free.push(of[r as usize]);
                    // An instruction may read a register twice.
                    last[r as usize] = KEPT;
                }
            });
            if matches!(instruction, Instruction::Factor(_)) {
                continue;
            }
            of[first + at] = free.pop().unwrap_or_else(|| {
                count += 1;
                (count - 1) as u32
            });
            if last[first + at] == place {
                unread.push((first + at) as Register);
            }
        }
        Slots { of, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group;
    use dalembert_expr::Exprs;

    /// The first read that finds another register's value in its place.
    fn overwritten(tape: &Tape, order: &[usize], slots: &Slots) -> Option<Register> {
        let first = tape.first_instruction();
        let mut holds: Vec<Option<Register>> = vec![None; slots.count];
        let mut wrong = None;
        // Prologue, then two calls.
        let calls = [0..tape.prologue, tape.prologue..order.len(), tape.prologue..order.len()];
        for (number, part) in calls.into_iter().enumerate() {
            let inputs =
                if number == 0 { 0..tape.first_variable() } else { tape.first_variable()..first };
            inputs.for_each(|r| holds[slots.of[r] as usize] = Some(r as Register));
            let is_last = number > 0;
            for &at in &order[part] {
                tape.reads(&tape.instructions[at], &mut |r| {
                    if holds[slots.of[r as usize] as usize] != Some(r) {
                        wrong = wrong.or(Some(r));
                    }
                });
                if let Some(place) = holds.get_mut(slots.of[first + at] as usize) {
                    *place = Some((first + at) as Register);
                }
            }
            for &r in tape.outputs.iter().filter(|_| is_last) {
                if holds[slots.of[r as usize] as usize] != Some(r) {
                    wrong = wrong.or(Some(r));
                }
            }
        }
        wrong
    }

    fn tape() -> Tape {
        let exprs = Exprs::new();
        let (a, b) = (exprs.constant("a"), exprs.constant("b"));
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let k = [a.sin().id, (x * y).id, (x * y).id, (a.cos() * b).id];
        let solved = exprs.solve(&k, &[x.id, (a * b).id]);
        let mut roots = vec![solved[1], x.id, (a * b.sqrt()).id];
        let mut sum = x;
        for n in 1..20 {
            sum = sum * (x + exprs.integer(n) * y).sin() + (a * y).cos().powi(n);
            roots.push(if n % 5 == 0 { sum.id } else { x.id });
        }
        let symbols = |list: [dalembert_expr::Expr; 2]| list.map(|e| e.symbol().expect("a symbol"));
        Tape::lower(&exprs, &roots, &symbols([a, b]), &symbols([x, y]))
    }

    #[test]
    fn no_value_is_overwritten_while_it_is_wanted() {
        let tape = tape();
        for order in [(0..tape.instructions.len()).collect(), group::by_kind(&tape)] {
            let mut slots = Slots::new(&tape, &order);
            assert_eq!(overwritten(&tape, &order, &slots), None);
            assert!(slots.count < tape.registers(), "{} of {}", slots.count, tape.registers());
            // Two that are wanted at once in one place must be noticed.
            slots.of[tape.outputs[0] as usize] = slots.of[tape.outputs[2] as usize];
            assert!(overwritten(&tape, &order, &slots).is_some());
        }
    }

    #[test]
    fn instructions_of_one_kind_stand_together() {
        let tape = tape();
        let turns = |order: &[usize]| {
            let kinds: Vec<_> = order.iter().map(|&at| tape.instructions[at].kind()).collect();
            kinds.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        let straight: Vec<usize> = (0..tape.instructions.len()).collect();
        let grouped = group::by_kind(&tape);
        let mut sorted = grouped.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, straight);
        assert!(turns(&grouped) < turns(&straight), "{} {}", turns(&grouped), turns(&straight));
    }
}
