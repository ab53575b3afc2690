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
        if !all.iter().all(|&value| self.is_fetched(value)) {
            self.gather(all);
        }
        let (has_a, has_b) = (self.is_fetched(a), self.is_fetched(b));
        let (x, y, z) = (self.as_is(a), self.as_is(b), self.as_is(c));
        // The order in which the factors are named does not matter.
        let (heir, copied, what, first, last) = if self.ends(c) {
            let (first, last) = if has_a { (x, y) } else { (y, x) };
            (Some(c), z, Fused::Plus231, first, last)
        } else if self.ends(a) {
            let (what, first, last) =
                if has_b { (Fused::Times213, y, z) } else { (Fused::Times132, z, y) };
            (Some(a), x, what, first, last)
        } else if self.ends(b) {
            let (what, first, last) =
                if has_a { (Fused::Times213, x, z) } else { (Fused::Times132, z, x) };
            (Some(b), y, what, first, last)
        } else if !has_a {
            (None, x, Fused::Times213, y, z)
        } else if !has_b {
            (None, y, Fused::Times213, x, z)
        } else {
            (None, z, Fused::Plus231, x, y)
        };
        let d = match heir.and_then(|value| self.registers.register(value)) {
            Some(register) => register,
            None => {
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

    /// Whether a value is in a register that the instruction at hand may overwrite.
    fn ends(&self, value: Register) -> bool {
        self.registers.is_dead(value) && self.is_fetched(value)
    }

    /// Fetches operands of a fused product and sum, until at most one of them is in memory; if
    /// none in a register may be overwritten, not even that, should it be read for the last time.
    fn gather(&mut self, all: [Register; 3]) {
        for value in all {
            if !self.registers.is_dead(value) {
                self.operand(value);
            }
        }
        loop {
            let mut left = all.into_iter().filter(|&value| !self.is_fetched(value));
            let Some(one) = left.next() else { return };
            let is_dead = |value: &Register| self.registers.is_dead(*value);
            let next = match left.next() {
                Some(other) => [other, one].into_iter().find(is_dead).unwrap_or(one),
                None if is_dead(&one) && !all.iter().any(|&value| self.ends(value)) => one,
                None => return,
            };
            self.fetch(next);
        }
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
