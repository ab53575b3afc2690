//! What instructions of a tape are in code.
//!
//! Each gives, to the bit, what [`crate::Lanes`] says; which NaN it is does not matter.

use super::emit::Emitter;
use super::encoder::{Bits, Compare, Fused, Operand, Operation};
use super::layout::Layout;
use crate::tape::Register;
use dalembert_expr::Function;

impl Emitter<'_> {
    /// a ∘ b
    pub(super) fn binary(&mut self, what: Operation, a: Register, b: Register, into: Register) {
        self.read(a);
        self.read(b);
        let commutes = matches!(what, Operation::Add | Operation::Mul);
        let is_turned = commutes && !self.is_fetched(a) && self.is_fetched(b);
        let (first, last) = if is_turned { (b, a) } else { (a, b) };
        let first = self.fetch(first);
        let last = self.operand(last);
        let d = self.result(&[a, b]);
        self.code.operation(what, d, first, last);
        self.define(&[a, b], into, d);
    }

    /// a · b + c with one rounding
    pub(super) fn fused(&mut self, a: Register, b: Register, c: Register, into: Register) {
        let all = [a, b, c];
        all.iter().for_each(|&value| self.read(value));
        for value in all {
            if !self.registers.is_dead(value) {
                self.operand(value);
            }
        }
        // At most one is left in memory; if none in a register can be overwritten, not even that
        // if it is read here for the last time.
        loop {
            let mut left = all.into_iter().filter(|&value| !self.is_fetched(value));
            let Some(one) = left.next() else { break };
            let other = left.next();
            let can_end = |value: Register| self.registers.is_dead(value);
            let is_free = all.into_iter().any(|v| can_end(v) && self.is_fetched(v));
            match other {
                Some(other) => {
                    let ends = [other, one].into_iter().find(|&v| can_end(v)).unwrap_or(one);
                    self.fetch(ends);
                }
                None if !is_free && can_end(one) => {
                    self.fetch(one);
                }
                None => break,
            }
        }
        let is_fetched = all.map(|value| self.is_fetched(value));
        let [ends_a, ends_b, ends_c] =
            all.map(|value| self.is_fetched(value) && self.registers.is_dead(value));
        let [x, y, z] = all.map(|value| self.as_is(value));
        // The order in which the factors are named does not matter.
        let (heir, what, first, last) = match is_fetched {
            _ if ends_c && is_fetched[0] => (Some(c), Fused::Plus231, x, y),
            _ if ends_c => (Some(c), Fused::Plus231, y, x),
            [_, true, _] if ends_a => (Some(a), Fused::Times213, y, z),
            _ if ends_a => (Some(a), Fused::Times132, z, y),
            [true, ..] if ends_b => (Some(b), Fused::Times213, x, z),
            _ if ends_b => (Some(b), Fused::Times132, z, x),
            [false, ..] => (None, Fused::Times213, y, z),
            [_, false, _] => (None, Fused::Times213, x, z),
            _ => (None, Fused::Plus231, x, y),
        };
        let d = match heir.and_then(|value| self.registers.register(value)) {
            Some(register) => register,
            None => {
                let copied = match is_fetched {
                    [false, ..] => x,
                    [_, false, _] => y,
                    _ => z,
                };
                let register = self.take();
                self.code.load(register, copied);
                register
            }
        };
        if let Operand::Register(first) = first {
            self.code.fused(what, d, first, last);
        }
        if let Some(value) = heir {
            self.registers.inherit(value);
        }
        self.define(&all, into, d);
    }

    /// b where the condition is 0, a where it is another number, else NaN.
    pub(super) fn select(&mut self, condition: Register, a: Register, b: Register, into: Register) {
        let reads = [condition, a, b];
        reads.iter().for_each(|&value| self.read(value));
        let [c, a, b] = reads.map(|value| self.fetch(value));
        let (d, mask) = (self.take(), self.take());
        self.code.compare(Compare::Equal, mask, c, self.known(Layout::ZERO));
        self.code.blend(d, a, b, mask);
        self.code.compare(Compare::Unordered, mask, c, Operand::Register(c));
        self.code.bits(Bits::Or, d, d, Operand::Register(mask));
        self.registers.give_back(mask);
        self.define(&reads, into, d);
    }

    /// 1 where a condition on a holds, else 0; of the sign, less 1 where it is negative. NaN
    /// where a is.
    pub(super) fn condition(&mut self, function: Function, a: Register, into: Register) {
        self.read(a);
        let x = self.fetch(a);
        let (d, mask) = (self.take(), self.take());
        let (zero, one) = (self.known(Layout::ZERO), self.known(Layout::ONE));
        let holds = match function {
            Function::Negative => Compare::Less,
            Function::NotPositive => Compare::NotGreater,
            _ => Compare::Greater,
        };
        self.code.compare(holds, d, x, zero);
        self.code.bits(Bits::And, d, d, one);
        if function == Function::Sign {
            self.code.compare(Compare::Less, mask, x, zero);
            self.code.bits(Bits::And, mask, mask, one);
            self.code.operation(Operation::Sub, d, d, Operand::Register(mask));
        }
        self.code.compare(Compare::Unordered, mask, x, Operand::Register(x));
        self.code.bits(Bits::Or, d, d, Operand::Register(mask));
        self.registers.give_back(mask);
        self.define(&[a], into, d);
    }

    /// The better of two: b if it is better than a, else a. The processor's instruction gives
    /// its last operand, here a, where one is no number, so that of b is added.
    pub(super) fn extreme(&mut self, what: Operation, a: Register, b: Register, into: Register) {
        let reads = [a, b];
        reads.iter().for_each(|&value| self.read(value));
        let [x, y] = reads.map(|value| self.fetch(value));
        let (d, mask) = (self.take(), self.take());
        self.code.operation(what, d, y, Operand::Register(x));
        self.code.compare(Compare::Unordered, mask, y, Operand::Register(y));
        self.code.bits(Bits::Or, d, d, Operand::Register(mask));
        self.registers.give_back(mask);
        self.define(&reads, into, d);
    }

    /// Both, or one, not 0; NaN only where no other argument decides.
    pub(super) fn logic(&mut self, function: Function, a: Register, b: Register, into: Register) {
        let reads = [a, b];
        reads.iter().for_each(|&value| self.read(value));
        let [x, y] = reads.map(|value| self.fetch(value));
        let (d, other, mask) = (self.take(), self.take(), self.take());
        let (zero, one) = (self.known(Layout::ZERO), self.known(Layout::ONE));
        let decides = if function == Function::And { Compare::Equal } else { Compare::Unequal };
        self.code.compare(decides, mask, x, zero);
        self.code.compare(decides, other, y, zero);
        self.code.bits(Bits::Or, mask, mask, Operand::Register(other));
        self.code.compare(Compare::Unordered, other, x, Operand::Register(y));
        if function == Function::And {
            // ¬decided ∧ (unordered ∨ 1)
            self.code.bits(Bits::Or, other, other, one);
            self.code.bits(Bits::AndNot, d, mask, Operand::Register(other));
        } else {
            // (¬decided ∧ unordered) ∨ (decided ∧ 1)
            self.code.bits(Bits::AndNot, d, mask, Operand::Register(other));
            self.code.bits(Bits::And, mask, mask, one);
            self.code.bits(Bits::Or, d, d, Operand::Register(mask));
        }
        self.registers.give_back(other);
        self.registers.give_back(mask);
        self.define(&reads, into, d);
    }
}
